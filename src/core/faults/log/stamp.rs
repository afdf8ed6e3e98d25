//! Time stamps of kernel logs: ISO 8601, syslog without a year, `dmesg -T`.

const DAY_NS: i64 = 86_400_000_000_000;
const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];

/// Reads the stamps of one log; keeps the year that syslog leaves out.
#[derive(Clone, Copy, Debug)]
pub struct Stamps {
    /// Year of the next syslog line; it starts at one that is no leap year, and grows when December turns into January.
    year: i64,
    month: u32,
}

/// A time stamp and what follows it on the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp<'a> {
    /// Nanoseconds since 1970 (syslog: since an unknown year).
    pub nanos: i64,
    /// Rest of the line.
    pub rest: &'a str,
    /// Whether a host name follows.
    pub host_follows: bool,
}

impl Stamps {
    pub fn new() -> Self {
        Self {
            year: 2001,
            month: 0,
        }
    }

    /// The stamp at the start of a line, if there is one.
    pub fn read<'a>(&mut self, line: &'a str) -> Option<Stamp<'a>> {
        if let Some(inner) = line.strip_prefix('[') {
            let (stamp, rest) = inner.split_once(']')?;
            return Some(Stamp {
                nanos: dmesg(stamp)?,
                rest,
                host_follows: false,
            });
        }
        if line.as_bytes().first()?.is_ascii_digit() {
            let (stamp, rest) = line.split_once(' ')?;
            return Some(Stamp {
                nanos: iso(stamp)?,
                rest,
                host_follows: true,
            });
        }
        // "Nov  3 12:34:56 host": fixed columns.
        let (month, rest) = (month(line.get(..3)?)?, line.get(3..)?.trim_start());
        let (day, rest) = rest.split_once(' ')?;
        let (clock, rest) = rest.trim_start().split_once(' ')?;
        if self.month > month + 6 {
            self.year += 1;
        } else if month > self.month + 6 && self.month > 0 {
            // A December line late among January ones belongs to the year before.
            return Some(Stamp {
                nanos: civil(self.year - 1, month, day.parse().ok()?)? + time_of_day(clock)?,
                rest,
                host_follows: true,
            });
        }
        self.month = month;
        Some(Stamp {
            nanos: civil(self.year, month, day.parse().ok()?)? + time_of_day(clock)?,
            rest,
            host_follows: true,
        })
    }
}

/// `Fri Aug 30 11:43:09 2024`.
fn dmesg(stamp: &str) -> Option<i64> {
    let mut words = stamp.split_ascii_whitespace().skip(1);
    let (month, day, clock, year) = (
        month(words.next()?)?,
        words.next()?,
        words.next()?,
        words.next()?,
    );
    Some(civil(year.parse().ok()?, month, day.parse().ok()?)? + time_of_day(clock)?)
}

/// `2026-03-01T12:34:56.789+01:00`.
fn iso(stamp: &str) -> Option<i64> {
    let (date, time) = stamp.split_once(['T', 't'])?;
    let mut parts = date.splitn(3, '-');
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    let (clock, offset) = match time.find(['Z', 'z', '+', '-']) {
        Some(at) => time.split_at(at),
        None => (time, ""),
    };
    let offset = match offset.get(..1) {
        Some(sign @ ("+" | "-")) => {
            let digits: String = offset.chars().filter(char::is_ascii_digit).collect();
            let hours: i64 = digits.get(..2)?.parse().ok()?;
            let minutes: i64 = digits.get(2..4).unwrap_or("0").parse().ok()?;
            (hours * 60 + minutes) * if sign == "+" { 1 } else { -1 }
        }
        _ => 0,
    };
    Some(
        civil(year.parse().ok()?, month.parse().ok()?, day.parse().ok()?)? + time_of_day(clock)?
            - offset * 60_000_000_000,
    )
}

fn month(name: &str) -> Option<u32> {
    MONTHS
        .iter()
        .position(|month| *month == name)
        .map(|index| index as u32 + 1)
}

/// Nanoseconds of `hh:mm:ss` with any fraction.
fn time_of_day(clock: &str) -> Option<i64> {
    let mut parts = clock.splitn(3, ':');
    let (hour, minute): (i64, i64) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    let seconds = parts.next()?;
    let (whole, fraction) = seconds.split_once(['.', ',']).unwrap_or((seconds, ""));
    let second: i64 = whole.parse().ok()?;
    if !(0..24).contains(&hour) || !(0..60).contains(&minute) || !(0..=60).contains(&second) {
        return None;
    }
    let digits: String = fraction.chars().take(9).collect();
    let nanos: i64 = if digits.is_empty() {
        0
    } else {
        format!("{digits:0<9}").parse().ok()?
    };
    Some((hour * 3600 + minute * 60 + second) * 1_000_000_000 + nanos)
}

/// Nanoseconds from 1970 to the start of a day of the Gregorian calendar (Howard Hinnant's days_from_civil).
fn civil(year: i64, month: u32, day: u32) -> Option<i64> {
    if !(1900..2200).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let y = year - i64::from(month <= 2);
    let era = y.div_euclid(400);
    let year_of_era = y.rem_euclid(400);
    let shifted = i64::from((month + 9) % 12);
    let day_of_year = (153 * shifted + 2) / 5 + i64::from(day) - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    Some((era * 146_097 + day_of_era - 719_468) * DAY_NS)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: i64 = 1_000_000_000;

    #[test]
    fn the_three_kinds_of_stamp() {
        let mut stamps = Stamps::new();
        let iso = stamps
            .read("2024-08-30T11:43:09.5+02:00 node1 kernel: x")
            .unwrap();
        assert_eq!(iso.nanos, (1_725_018_189 - 7200) * SECOND + SECOND / 2);
        assert_eq!((iso.rest, iso.host_follows), ("node1 kernel: x", true));
        let dmesg = stamps.read("[Fri Aug 30 11:43:09 2024] NVRM: x").unwrap();
        assert_eq!(
            (dmesg.nanos, dmesg.host_follows),
            (1_725_018_189 * SECOND, false)
        );
        let syslog = stamps.read("Jan  2 00:00:01 node1 kernel: x").unwrap();
        assert_eq!(
            (syslog.nanos, syslog.rest),
            (978_393_601 * SECOND, "node1 kernel: x")
        );
    }

    #[test]
    fn syslog_turns_the_year_and_takes_late_lines_back() {
        let mut stamps = Stamps::new();
        let december = stamps.read("Dec 31 23:59:59 a b").unwrap().nanos;
        assert_eq!(
            stamps.read("Jan  1 00:00:00 a b").unwrap().nanos - december,
            SECOND
        );
        assert_eq!(
            stamps.read("Dec 31 23:59:58 a b").unwrap().nanos - december,
            -SECOND
        );
        assert_eq!(
            stamps.read("Jan  1 00:00:01 a b").unwrap().nanos - december,
            2 * SECOND
        );
    }

    #[test]
    fn nonsense_is_no_stamp() {
        for line in [
            "",
            "hello",
            "Foo  3 12:34:56 a",
            "2024-13-01T00:00:00Z a",
            "2024-01-01T25:00:00Z a",
            "Jan 1",
            "[x] y",
            "2024-01-01T00:00:00+xx a",
            "é",
        ] {
            assert_eq!(Stamps::new().read(line), None, "{line}");
        }
    }
}
