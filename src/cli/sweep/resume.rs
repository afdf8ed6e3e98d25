//! Where the lines of a sweep go, and which of them are there already.

use super::super::{CliError, print_text};
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Seek, Write};
use std::ops::Range;
use std::path::Path;

/// Standard output, or a file that may hold the first points of the same shard.
pub struct Sink {
    file: Option<File>,
    next: usize,
}

/// 64-bit FNV-1a of everything that decides a sweep's numbers, as hexadecimal.
pub fn fingerprint(text: &str) -> String {
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{hash:016x}")
}

impl Sink {
    /// Opens the place for the points of a shard. A line that an earlier run left half-written is dropped.
    ///
    /// # Errors
    /// The file cannot be read or written, or holds points of another sweep or shard.
    pub fn open(path: Option<&Path>, sweep: &str, points: Range<usize>) -> Result<Self, CliError> {
        let Some(path) = path else {
            return Ok(Self {
                file: None,
                next: points.start,
            });
        };
        let failed = |error: std::io::Error| {
            CliError::Input(format!("out: {} cannot be used, {error}", path.display()))
        };
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
            .map_err(failed)?;
        let mut reader = BufReader::new(&file);
        let (mut kept, mut next, mut line) = (0u64, points.start, String::new());
        while reader.read_line(&mut line).map_err(failed)? > 0 && line.ends_with('\n') {
            if next >= points.end
                || !line.starts_with(&format!("{{\"index\":{next},\"sweep\":\"{sweep}\","))
            {
                let number = next - points.start + 1;
                let expected = format!(
                    "the points of this sweep and shard (line {number} is not), or a new file"
                );
                return Err(CliError::Input(format!(
                    "out: {} is not allowed, expected {expected}",
                    path.display()
                )));
            }
            kept += line.len() as u64;
            next += 1;
            line.clear();
        }
        let mut file = file;
        file.set_len(kept).map_err(failed)?;
        file.seek(std::io::SeekFrom::End(0)).map_err(failed)?;
        Ok(Self {
            file: Some(file),
            next,
        })
    }

    /// First point that is still to be run.
    pub fn next(&self) -> usize {
        self.next
    }

    /// Adds one line, written through at once.
    pub fn write(&mut self, line: &str) -> Result<(), CliError> {
        let line = format!("{line}\n");
        match &mut self.file {
            None => print_text(&line),
            Some(file) => file
                .write_all(line.as_bytes())
                .and_then(|()| file.flush())
                .map_err(|error| CliError::Failed(format!("out: {error}"))),
        }
    }
}
