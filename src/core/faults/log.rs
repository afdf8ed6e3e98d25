//! Readers of real failure logs: our own CSV, the InfiniteHBD trace, kernel logs with Xid lines; gzip or not.
//!
//! A [`LogReader`] takes the log in chunks of any size and keeps only outages, so memory grows with failures, not with the
//! log. Broken lines are reported with their number; they end the reading unless the reader is lenient. [`FailureLog`] is
//! the result: outages on the log's own nodes, which [`FailureLog::map`] places on a cluster.

mod csv_rows;
mod infinitehbd;
mod kernel;
mod mapping;
mod split;
mod stamp;
mod writer;
pub mod xid;

pub use mapping::{MapReport, Mapped};

use crate::core::scenario::FailureKind;
use flate2::write::MultiGzDecoder;
use serde::{Deserialize, Serialize};
use split::{Piece, Splitter};
use std::collections::HashMap;
use std::io::Write;

/// Most outages of one log; beyond it the log ends early and the report says so.
pub const MAX_OUTAGES: usize = super::MAX_EVENTS;
/// Most distinct nodes of one log.
pub const MAX_NODES: usize = 1_000_000;
/// Most problems kept word for word; all are counted.
pub const MAX_PROBLEMS: usize = 100;
/// Latest time in a log, hours from its start (a century).
pub const MAX_HOURS: f64 = 876_600.0;

/// Format of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// `time_h,domain,gpu,kind,duration_h`.
    Csv,
    /// Start and end events per server, JSON.
    InfiniteHbd,
    /// Syslog or `dmesg -T` lines with `NVRM: Xid`.
    Kernel,
}

impl Format {
    /// Words for people.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Csv => "CSV",
            Self::InfiniteHbd => "InfiniteHBD events",
            Self::Kernel => "kernel log",
        }
    }
}

/// A line that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// Line number, from 1.
    pub line: u64,
    /// Field, value and what is allowed.
    pub message: String,
}

/// Why a log cannot be read: always one line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LogError {
    /// The first broken line, when not lenient.
    #[error("log line {line}: {message}")]
    Line {
        /// Line number, from 1.
        line: u64,
        /// Field, value and what is allowed.
        message: String,
    },
    /// The log as a whole.
    #[error("log: {0}")]
    Whole(String),
}

/// Where an outage is, in the log's own terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Place {
    /// The job as such.
    Job,
    /// A run of GPUs of a domain of the scenario.
    Domain { domain: u32, first: u16, gpus: u16 },
    /// A server, by order of appearance, whole or one of its GPUs.
    Node { node: u32, gpu: u16 },
}

/// GPU number that means the whole unit.
pub(crate) const WHOLE: u16 = u16::MAX;

/// How an outage ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// Known.
    At(i64),
    /// A restart is enough.
    Restart,
    /// Drawn from the scenario's repair times.
    Drawn,
    /// Not over when the log ends.
    Open,
}

/// One outage as logged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Outage {
    /// Nanoseconds on the log's clock, which may start anywhere.
    pub start: i64,
    pub end: End,
    pub place: Place,
    pub kind: FailureKind,
    /// Index into the log's cause names.
    pub cause: u16,
    /// A failure of its own even where it overlaps an outage of the same place.
    pub separate: bool,
}

/// What was read, line by line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReadReport {
    /// Format found.
    pub format: Format,
    /// Lines in all.
    pub lines: u64,
    /// Lines that gave an outage, or its end.
    pub used: u64,
    /// Broken lines left out (lenient only).
    pub skipped: u64,
    /// Lines about nothing of interest: other messages, application errors.
    pub ignored: u64,
    /// Lines whose code or event type is not known.
    pub unknown: u64,
    /// Lines earlier than one before; they are sorted in.
    pub out_of_order: u64,
    /// The first problems, word for word.
    pub problems: Vec<Problem>,
    /// Set when the log has more outages or nodes than the reader keeps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<String>,
}

/// A log that has been read.
#[derive(Clone, Debug, PartialEq)]
pub struct FailureLog {
    pub(crate) outages: Vec<Outage>,
    pub(crate) causes: Vec<String>,
    pub(crate) nodes: u32,
    /// First moment of the log, on its own clock.
    pub(crate) first: i64,
    /// Last moment the log knows of; where more outages came than are kept, the moment up to which all are.
    pub(crate) last: i64,
    /// What was read.
    pub report: ReadReport,
}

/// Reads a log chunk by chunk.
pub struct LogReader {
    input: Input,
}

enum Input {
    /// Fewer than two bytes so far.
    Start(Vec<u8>, bool),
    Plain(Box<Parser>),
    Gzip(Box<MultiGzDecoder<Sink>>),
    Done,
}

/// Lets the gzip decoder write into the parser; keeps the parser's error, which `io::Error` could only carry as text.
struct Sink {
    parser: Parser,
    error: Option<LogError>,
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if self.error.is_none() {
            self.error = self.parser.push(bytes).err();
        }
        Ok(bytes.len())
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl LogReader {
    /// `lenient`: leave broken lines out instead of ending at the first.
    pub fn new(lenient: bool) -> Self {
        Self {
            input: Input::Start(Vec::new(), lenient),
        }
    }

    /// Reads on. After an error, further chunks are ignored.
    ///
    /// # Errors
    /// The first broken line when not lenient; damaged gzip data.
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), LogError> {
        let result = self.push_inner(bytes);
        if result.is_err() {
            self.input = Input::Done;
        }
        result
    }

    fn push_inner(&mut self, bytes: &[u8]) -> Result<(), LogError> {
        match &mut self.input {
            Input::Start(head, lenient) => {
                head.extend_from_slice(bytes);
                if head.len() < 2 {
                    return Ok(());
                }
                let (head, parser) = (std::mem::take(head), Parser::new(*lenient));
                self.input = if head.starts_with(&[0x1f, 0x8b]) {
                    Input::Gzip(Box::new(MultiGzDecoder::new(Sink {
                        parser,
                        error: None,
                    })))
                } else {
                    Input::Plain(Box::new(parser))
                };
                self.push_inner(&head)
            }
            Input::Plain(parser) => parser.push(bytes),
            Input::Gzip(decoder) => {
                decoder
                    .write_all(bytes)
                    .map_err(|_| damaged(decoder.get_ref().parser.splitter.line()))?;
                decoder.get_mut().error.take().map_or(Ok(()), Err)
            }
            Input::Done => Ok(()),
        }
    }

    /// The log is over.
    ///
    /// # Errors
    /// As [`LogReader::push`]; also an empty log and one in no known format.
    pub fn finish(mut self) -> Result<FailureLog, LogError> {
        match std::mem::replace(&mut self.input, Input::Done) {
            Input::Start(head, lenient) => {
                let mut parser = Parser::new(lenient);
                parser.push(&head)?;
                parser.finish()
            }
            Input::Plain(parser) => parser.finish(),
            Input::Gzip(mut decoder) => {
                decoder
                    .try_finish()
                    .map_err(|_| damaged(decoder.get_ref().parser.splitter.line()))?;
                let sink = decoder.get_mut();
                sink.error.take().map_or(Ok(()), Err)?;
                std::mem::replace(&mut sink.parser, Parser::new(false)).finish()
            }
            Input::Done => Err(LogError::Whole("reading ended early".into())),
        }
    }
}

fn damaged(line: u64) -> LogError {
    LogError::Line {
        line,
        message: "the gzip data is damaged or cut off".into(),
    }
}

/// Reads a whole log from any buffered source.
///
/// # Errors
/// As [`LogReader`]; also errors of the source.
pub fn read(mut source: impl std::io::BufRead, lenient: bool) -> Result<FailureLog, LogError> {
    let mut reader = LogReader::new(lenient);
    loop {
        let chunk = source
            .fill_buf()
            .map_err(|error| LogError::Whole(error.to_string()))?;
        if chunk.is_empty() {
            return reader.finish();
        }
        reader.push(chunk)?;
        let length = chunk.len();
        source.consume(length);
    }
}

/// What one line meant.
enum Line {
    Used,
    Ignored,
    Unknown(String),
}

enum Rows {
    Unknown,
    Csv(csv_rows::CsvRows),
    InfiniteHbd(infinitehbd::Events),
    Kernel(kernel::KernelLines),
}

/// Everything after decompression.
struct Parser {
    splitter: Splitter,
    rows: Rows,
    book: Book,
    tally: Tally,
}

/// What the formats write into.
pub(crate) struct Book {
    outages: Vec<Outage>,
    causes: Vec<String>,
    cause_index: HashMap<String, u16>,
    nodes: HashMap<String, u32>,
    earliest: i64,
    latest: i64,
    out_of_order: u64,
    limit: Option<String>,
    /// When the first outage that is not kept began: nothing is known of what comes after.
    cut: Option<i64>,
}

impl Book {
    fn new() -> Self {
        Self {
            outages: Vec::new(),
            causes: Vec::new(),
            cause_index: HashMap::new(),
            nodes: HashMap::new(),
            earliest: i64::MAX,
            latest: i64::MIN,
            out_of_order: 0,
            limit: None,
            cut: None,
        }
    }
    /// Notes the time of a line.
    fn seen(&mut self, time: i64) {
        if time < self.latest {
            self.out_of_order += 1;
        }
        self.earliest = self.earliest.min(time);
        self.latest = self.latest.max(time);
    }
    fn add(&mut self, outage: Outage) {
        if self.outages.len() < MAX_OUTAGES {
            self.outages.push(outage);
            return;
        }
        let cut = self.cut.unwrap_or(outage.start);
        self.cut = Some(cut.min(outage.start));
        self.limit
            .get_or_insert_with(|| format!("{MAX_OUTAGES} outages"));
    }
    /// Number of a node name by order of appearance; none past the limit.
    fn node(&mut self, name: &str) -> Option<u32> {
        if let Some(node) = self.nodes.get(name) {
            return Some(*node);
        }
        if self.nodes.len() >= MAX_NODES {
            self.limit
                .get_or_insert_with(|| format!("{MAX_NODES} nodes"));
            return None;
        }
        let node = self.nodes.len() as u32;
        self.nodes.insert(name.to_owned(), node);
        Some(node)
    }
    fn cause(&mut self, name: &str) -> u16 {
        if let Some(cause) = self.cause_index.get(name) {
            return *cause;
        }
        // Names past any sensible number share one entry.
        let name = if self.causes.len() < 4096 {
            name
        } else {
            "other"
        };
        let index = self.causes.len() as u16;
        self.causes.push(name.chars().take(80).collect());
        self.cause_index.insert(name.to_owned(), index);
        index
    }
}

impl Parser {
    fn new(lenient: bool) -> Self {
        Self {
            splitter: Splitter::new(),
            rows: Rows::Unknown,
            book: Book::new(),
            tally: Tally {
                lenient,
                ..Tally::default()
            },
        }
    }

    fn push(&mut self, bytes: &[u8]) -> Result<(), LogError> {
        let Self {
            splitter,
            rows,
            book,
            tally,
        } = self;
        // The first byte of substance decides between JSON and lines; pieces come only after that.
        splitter.push(bytes, &mut |line, piece| {
            tally.note(line, one(rows, book, piece))
        })
    }

    fn finish(mut self) -> Result<FailureLog, LogError> {
        let Self {
            splitter,
            rows,
            book,
            tally,
        } = &mut self;
        splitter.finish(&mut |line, piece| tally.note(line, one(rows, book, piece)))?;
        let format = match self.rows {
            Rows::Csv(_) => Format::Csv,
            Rows::InfiniteHbd(_) => Format::InfiniteHbd,
            Rows::Kernel(_) => Format::Kernel,
            Rows::Unknown if self.splitter.is_json() => Format::InfiniteHbd,
            Rows::Unknown => {
                return Err(LogError::Whole(
                    "empty, expected one of the three formats".into(),
                ));
            }
        };
        let Self {
            splitter,
            book,
            tally,
            ..
        } = self;
        if format == Format::Kernel && book.latest == i64::MIN {
            let found = "no time_h,domain header, no [ of a JSON array and no line with NVRM: Xid";
            return Err(LogError::Whole(format!(
                "format: {found}, expected one of the three formats"
            )));
        }
        let ends = book.outages.iter().map(|outage| {
            if let End::At(end) = outage.end {
                end
            } else {
                outage.start
            }
        });
        let report = ReadReport {
            format,
            lines: splitter.lines(),
            used: tally.used,
            skipped: tally.skipped,
            ignored: tally.ignored,
            unknown: tally.unknown,
            out_of_order: book.out_of_order,
            problems: tally.problems,
            limit: book.limit,
        };
        let domains = book.outages.iter().filter_map(|outage| {
            if let Place::Domain { domain, .. } = outage.place {
                Some(domain)
            } else {
                None
            }
        });
        let nodes = if book.nodes.is_empty() {
            domains.collect::<std::collections::BTreeSet<_>>().len()
        } else {
            book.nodes.len()
        };
        let last = ends.max().unwrap_or(book.latest).max(book.latest);
        Ok(FailureLog {
            first: book.earliest,
            last: book.cut.map_or(last, |cut| cut.min(last)),
            nodes: nodes as u32,
            outages: book.outages,
            causes: book.causes,
            report,
        })
    }
}

/// Reads one line or object; the first decides the format.
fn one(rows: &mut Rows, book: &mut Book, piece: Piece<'_>) -> Result<Line, String> {
    let bytes = match piece {
        Piece::Text(bytes) => bytes,
        Piece::TooLong => {
            return Err(format!(
                "line: longer than {} KiB is not allowed",
                split::MAX_PIECE / 1024
            ));
        }
        Piece::Stray => {
            return Err("JSON: something that is no object, expected objects in one array".into());
        }
        Piece::CutOff => return Err("JSON: the log ends inside an object or the array".into()),
    };
    let text = std::str::from_utf8(bytes);
    if let Rows::Unknown = rows {
        let Ok(text) = text else {
            return Err("encoding: not UTF-8 is not allowed, expected UTF-8".into());
        };
        if text.starts_with('{') {
            *rows = Rows::InfiniteHbd(infinitehbd::Events::default());
        } else if text.split(',').any(|field| {
            field
                .trim()
                .trim_matches('"')
                .eq_ignore_ascii_case("time_h")
        }) {
            *rows = Rows::Csv(csv_rows::CsvRows::header(text)?);
            return Ok(Line::Used);
        } else {
            *rows = Rows::Kernel(kernel::KernelLines::new());
        }
    }
    if bytes.is_empty() {
        return Ok(Line::Ignored);
    }
    match (rows, text) {
        // Kernel messages of others may be in any encoding; only those with an Xid have to be readable.
        (Rows::Kernel(_), Err(_)) if !bytes.windows(10).any(|window| window == b"NVRM: Xid ") => {
            Ok(Line::Ignored)
        }
        (_, Err(error)) => Err(format!(
            "encoding: not UTF-8 at byte {} of the line, expected UTF-8",
            error.valid_up_to() + 1
        )),
        (Rows::Csv(rows), Ok(text)) => rows.row(text, book),
        (Rows::InfiniteHbd(rows), Ok(text)) => rows.object(text, book),
        (Rows::Kernel(rows), Ok(text)) => rows.line(text, book),
        (Rows::Unknown, Ok(_)) => Ok(Line::Ignored),
    }
}

/// Counts lines by what became of them.
#[derive(Default)]
struct Tally {
    lenient: bool,
    used: u64,
    skipped: u64,
    ignored: u64,
    unknown: u64,
    problems: Vec<Problem>,
}

impl Tally {
    fn note(&mut self, line: u64, found: Result<Line, String>) -> Result<(), LogError> {
        match found {
            Ok(Line::Used) => self.used += 1,
            Ok(Line::Ignored) => self.ignored += 1,
            Ok(Line::Unknown(what)) => {
                self.unknown += 1;
                self.keep(line, format!("{what} is not known"));
            }
            Err(message) if self.lenient => {
                self.skipped += 1;
                self.keep(line, message);
            }
            Err(message) => return Err(LogError::Line { line, message }),
        }
        Ok(())
    }
    fn keep(&mut self, line: u64, message: String) {
        if self.problems.len() < MAX_PROBLEMS {
            self.problems.push(Problem { line, message });
        }
    }
}

#[cfg(test)]
mod tests;
