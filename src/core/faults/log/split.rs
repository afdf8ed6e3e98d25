//! Cuts a stream of bytes into lines, or into the objects of a JSON array, with line numbers and bounded memory.

use super::LogError;

/// Longest line or object, bytes.
pub const MAX_PIECE: usize = 64 * 1024;

/// One line or object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    /// Its bytes, without the line end.
    Text(&'a [u8]),
    /// Longer than [`MAX_PIECE`].
    TooLong,
    /// Something between two JSON objects that does not belong there.
    Stray,
    /// A JSON object that the end of the log cuts off.
    CutOff,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// No byte of substance so far.
    Start,
    Lines,
    Objects,
}

/// The cutter.
#[derive(Debug)]
pub struct Splitter {
    mode: Mode,
    held: Vec<u8>,
    too_long: bool,
    /// Line of the next byte, from 1.
    line: u64,
    piece_line: u64,
    any_byte: bool,
    depth: u32,
    in_string: bool,
    escaped: bool,
    stray: bool,
}

impl Splitter {
    pub fn new() -> Self {
        Self {
            mode: Mode::Start,
            held: Vec::new(),
            too_long: false,
            line: 1,
            piece_line: 1,
            any_byte: false,
            depth: 0,
            in_string: false,
            escaped: false,
            stray: false,
        }
    }
    /// Line reached.
    pub fn line(&self) -> u64 {
        self.line
    }
    /// Lines in all, once everything is in.
    pub fn lines(&self) -> u64 {
        if self.any_byte {
            self.line
        } else {
            self.line - 1
        }
    }
    /// Whether the log is a JSON array.
    pub fn is_json(&self) -> bool {
        self.mode == Mode::Objects
    }

    /// Takes bytes; calls `each` with the line number of every piece that is complete.
    pub fn push(
        &mut self,
        bytes: &[u8],
        each: &mut impl FnMut(u64, Piece<'_>) -> Result<(), LogError>,
    ) -> Result<(), LogError> {
        let mut rest = bytes;
        if self.mode == Mode::Start {
            rest = self.start(rest)?;
        }
        match self.mode {
            Mode::Start => Ok(()),
            Mode::Lines => self.push_lines(rest, each),
            Mode::Objects => self.push_objects(rest, each),
        }
    }

    /// Skips a byte-order mark and blank space, finds out which kind of text this is.
    fn start<'a>(&mut self, bytes: &'a [u8]) -> Result<&'a [u8], LogError> {
        for (at, byte) in bytes.iter().enumerate() {
            match byte {
                0xef | 0xbb | 0xbf if self.held.len() < 3 => self.held.push(*byte),
                0xff | 0xfe | 0 if self.line == 1 => {
                    return Err(LogError::Line {
                        line: 1,
                        message: "encoding: UTF-16 or binary is not allowed, expected UTF-8".into(),
                    });
                }
                b'\n' => self.line += 1,
                b' ' | b'\t' | b'\r' => {}
                _ => {
                    self.held.clear();
                    self.mode = if *byte == b'[' {
                        Mode::Objects
                    } else {
                        Mode::Lines
                    };
                    self.piece_line = self.line;
                    self.any_byte = true;
                    return Ok(bytes.get(at..).unwrap_or_default());
                }
            }
        }
        Ok(&[])
    }

    fn hold(&mut self, bytes: &[u8]) {
        if self.held.len() + bytes.len() > MAX_PIECE {
            self.too_long = true;
        } else {
            self.held.extend_from_slice(bytes);
        }
    }

    fn push_lines(
        &mut self,
        mut bytes: &[u8],
        each: &mut impl FnMut(u64, Piece<'_>) -> Result<(), LogError>,
    ) -> Result<(), LogError> {
        while let Some(end) = bytes.iter().position(|byte| *byte == b'\n') {
            let (line, rest) = bytes.split_at(end);
            bytes = rest.get(1..).unwrap_or_default();
            let number = self.line;
            self.line += 1;
            if self.too_long || self.held.len() + line.len() > MAX_PIECE {
                each(number, Piece::TooLong)?;
            } else if self.held.is_empty() {
                each(number, Piece::Text(trim(line)))?;
            } else {
                self.held.extend_from_slice(line);
                each(number, Piece::Text(trim(&self.held)))?;
            }
            self.held.clear();
            self.too_long = false;
        }
        self.any_byte = !bytes.is_empty() || !self.held.is_empty();
        self.hold(bytes);
        Ok(())
    }

    fn push_objects(
        &mut self,
        bytes: &[u8],
        each: &mut impl FnMut(u64, Piece<'_>) -> Result<(), LogError>,
    ) -> Result<(), LogError> {
        for byte in bytes {
            self.any_byte = *byte != b'\n';
            if self.depth >= 2 {
                self.hold(std::slice::from_ref(byte));
            }
            if self.in_string {
                let escaped = std::mem::take(&mut self.escaped);
                match byte {
                    b'\\' if !escaped => self.escaped = true,
                    b'"' if !escaped => self.in_string = false,
                    _ => {}
                }
            } else {
                match byte {
                    b'"' if self.depth >= 2 => self.in_string = true,
                    b'[' if self.depth == 0 => self.depth = 1,
                    b'{' | b'[' if self.depth >= 1 => {
                        if self.depth == 1 {
                            self.piece_line = self.line;
                            self.hold(std::slice::from_ref(byte));
                        }
                        self.depth = self.depth.saturating_add(1);
                    }
                    b'}' | b']' if self.depth >= 1 => {
                        self.depth -= 1;
                        if self.depth == 1 {
                            let piece = if self.too_long {
                                Piece::TooLong
                            } else {
                                Piece::Text(&self.held)
                            };
                            each(self.piece_line, piece)?;
                            self.held.clear();
                            self.too_long = false;
                            self.stray = false;
                        }
                    }
                    b' ' | b'\t' | b'\r' | b'\n' | b',' => {}
                    _ if self.depth < 2 && !self.stray => {
                        self.stray = true;
                        each(self.line, Piece::Stray)?;
                    }
                    _ => {}
                }
            }
            if *byte == b'\n' {
                self.line += 1;
            }
        }
        Ok(())
    }

    /// Everything is in: gives the last piece.
    pub fn finish(
        &mut self,
        each: &mut impl FnMut(u64, Piece<'_>) -> Result<(), LogError>,
    ) -> Result<(), LogError> {
        match self.mode {
            Mode::Lines if self.too_long => each(self.line, Piece::TooLong),
            Mode::Lines if self.held.is_empty() => Ok(()),
            Mode::Lines => each(self.line, Piece::Text(trim(&self.held))),
            Mode::Objects if self.depth >= 2 => each(self.piece_line, Piece::CutOff),
            Mode::Objects if self.depth == 1 => each(self.line, Piece::CutOff),
            Mode::Start | Mode::Objects => Ok(()),
        }
    }
}

/// Without blank space at either end.
fn trim(line: &[u8]) -> &[u8] {
    line.trim_ascii()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn pieces(text: &[u8], chunk: usize) -> (Vec<(u64, String)>, u64) {
        let mut splitter = Splitter::new();
        let mut found = Vec::new();
        let mut each = |line: u64, piece: Piece<'_>| {
            let text = match piece {
                Piece::Text(text) => String::from_utf8_lossy(text).into_owned(),
                other => format!("{other:?}"),
            };
            found.push((line, text));
            Ok(())
        };
        for bytes in text.chunks(chunk) {
            splitter.push(bytes, &mut each).unwrap();
        }
        splitter.finish(&mut each).unwrap();
        (found, splitter.lines())
    }

    #[test]
    fn lines_have_numbers_and_lose_their_ends() {
        let (found, lines) = pieces(b"\xef\xbb\xbf\n a,b \r\nc\n\nd", 2);
        assert_eq!(
            found,
            [
                (2, "a,b".into()),
                (3, "c".into()),
                (4, String::new()),
                (5, "d".into())
            ]
        );
        assert_eq!(lines, 5);
    }

    #[test]
    fn objects_of_an_array_are_found_whatever_they_hold() {
        let (found, _) = pieces(b" [\n{\"a\": \"}]\\\"{\"},\n\n{\"b\":\n[{}]}\n] ", 3);
        assert_eq!(
            found,
            [
                (2, "{\"a\": \"}]\\\"{\"}".into()),
                (4, "{\"b\":\n[{}]}".into())
            ]
        );
        assert_eq!(
            pieces(b"[{}, x, {\"a\"", 1).0,
            [(1, "{}".into()), (1, "Stray".into()), (1, "CutOff".into())]
        );
    }

    #[test]
    fn long_lines_do_not_fill_memory() {
        let mut text = vec![b'x'; 3 * MAX_PIECE];
        text.extend_from_slice(b"\nshort\n");
        assert_eq!(
            pieces(&text, 1000).0,
            [(1, "TooLong".into()), (2, "short".into())]
        );
    }

    #[test]
    fn other_encodings_are_named() {
        let mut splitter = Splitter::new();
        let error = splitter
            .push(b"\xff\xfet\0i\0", &mut |_, _| Ok(()))
            .unwrap_err();
        assert_eq!(
            error.to_string(),
            "log line 1: encoding: UTF-16 or binary is not allowed, expected UTF-8"
        );
    }

    proptest! {
        #[test]
        fn chunks_never_matter(text in "[\\[\\]{}\",\\\\ab\n ]{0,80}", chunk in 1usize..20) {
            prop_assert_eq!(pieces(text.as_bytes(), chunk), pieces(text.as_bytes(), 1000));
        }
    }
}
