//! Our own CSV: `time_h,domain,gpu,kind,duration_h`, by header name, in any order.
//!
//! An empty `gpu` is the whole domain, an empty `domain` the job as such, an empty `duration_h` is drawn from the scenario;
//! a duration of 0 means that a restart is enough. Three columns more are read where present: `gpus` (GPUs down from `gpu`
//! on), `cause`, and `separate`, which is 1 for a failure that is not merged with an outage of the same GPUs it overlaps. Other columns are left alone. Fields hold numbers and words only, so they are cut at commas.

use super::{Book, End, Line, MAX_HOURS, Outage, Place, WHOLE};
use crate::core::scenario::FailureKind;

/// Largest domain number.
const MAX_DOMAIN: u32 = 100_000_000;

#[derive(Clone, Copy, Debug, Default)]
pub struct CsvRows {
    time: usize,
    domain: usize,
    gpu: Option<usize>,
    kind: Option<usize>,
    duration: Option<usize>,
    gpus: Option<usize>,
    cause: Option<usize>,
    separate: Option<usize>,
}

impl CsvRows {
    /// Reads the header.
    pub fn header(line: &str) -> Result<Self, String> {
        let find = |name: &str| fields(line).position(|field| field.eq_ignore_ascii_case(name));
        let need = |name: &str| {
            find(name).ok_or_else(|| {
                format!("header: no column {name}, expected time_h,domain,gpu,kind,duration_h")
            })
        };
        Ok(Self {
            time: need("time_h")?,
            domain: need("domain")?,
            gpu: find("gpu"),
            kind: find("kind"),
            duration: find("duration_h"),
            gpus: find("gpus"),
            cause: find("cause"),
            separate: find("separate"),
        })
    }

    pub fn row(&self, line: &str, book: &mut Book) -> Result<Line, String> {
        let cells: Vec<&str> = fields(line).collect();
        let cell =
            |column: Option<usize>| column.and_then(|at| cells.get(at)).copied().unwrap_or("");
        let time_h = hours("time_h", cell(Some(self.time)))?;
        let place = match (cell(Some(self.domain)), cell(self.gpu)) {
            ("", "") => Place::Job,
            ("", gpu) => return Err(wrong("gpu", gpu, "empty where domain is empty")),
            (domain, gpu) => {
                let domain = number("domain", domain, MAX_DOMAIN)?;
                match gpu {
                    "" => Place::Domain {
                        domain,
                        first: 0,
                        gpus: WHOLE,
                    },
                    gpu => {
                        let first = number("gpu", gpu, 1023)?;
                        let gpus = match cell(self.gpus) {
                            "" => 1,
                            gpus => number("gpus", gpus, 1024 - first)?.max(1),
                        };
                        Place::Domain {
                            domain,
                            first: first as u16,
                            gpus: gpus as u16,
                        }
                    }
                }
            }
        };
        let kind = match cell(self.kind) {
            "" | "hardware" => FailureKind::Hardware,
            "software" => FailureKind::Software,
            "slow" => FailureKind::Slow,
            other => return Err(wrong("kind", other, "hardware, software or slow")),
        };
        let start = nanos(time_h);
        let end = match cell(self.duration) {
            _ if place == Place::Job => End::Restart,
            "" => End::Drawn,
            duration => match hours("duration_h", duration)? {
                0.0 => End::Restart,
                h => End::At(start.saturating_add(nanos(h))),
            },
        };
        let cause = match cell(self.cause) {
            "" if kind == FailureKind::Software => "software",
            "" => "hardware",
            cause => cause,
        };
        let cause = book.cause(cause);
        let separate = match cell(self.separate) {
            "" | "0" => false,
            "1" => true,
            other => return Err(wrong("separate", other, "0 or 1")),
        };
        book.seen(start);
        book.add(Outage {
            start,
            end,
            place,
            kind,
            cause,
            separate,
        });
        Ok(Line::Used)
    }
}

/// Cells of a line, without blank space and quotes.
fn fields(line: &str) -> impl Iterator<Item = &str> {
    line.split(',').map(|field| field.trim().trim_matches('"'))
}

fn wrong(field: &str, value: &str, allowed: &str) -> String {
    let shown: String = value.chars().take(40).collect();
    format!("{field}: {shown:?} is not allowed, expected {allowed}")
}

fn hours(field: &str, text: &str) -> Result<f64, String> {
    let value: f64 = text.parse().map_err(|_| wrong(field, text, "hours"))?;
    if (0.0..=MAX_HOURS).contains(&value) {
        Ok(value)
    } else {
        Err(wrong(field, text, &format!("0 to {MAX_HOURS} hours")))
    }
}

fn number(field: &str, text: &str, most: u32) -> Result<u32, String> {
    let value: u32 = text
        .parse()
        .map_err(|_| wrong(field, text, &format!("a whole number, 0 to {most}")))?;
    if value <= most {
        Ok(value)
    } else {
        Err(wrong(field, text, &format!("0 to {most}")))
    }
}

fn nanos(hours: f64) -> i64 {
    (hours * 3.6e12).round() as i64
}
