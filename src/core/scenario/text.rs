//! JSON values as the text that links hold. Reads what the parser of scenario files reads and writes what its printer writes,
//! tests say so; those two, with their tables for floats, are several times the size and the racks need neither.

use serde_json::{Map, Number, Value};
use std::fmt::Write as _;

/// Deepest nesting that is read.
const MOST_NESTED: u32 = 127;

/// The value that a text holds; none where it is no JSON.
pub(super) fn read(text: &str) -> Option<Value> {
    let mut reader = Reader { text, at: 0 };
    let value = reader.value(MOST_NESTED)?;
    (reader.next().is_none()).then_some(value)
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Steps over a byte if it comes next.
    fn skip(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    /// What comes after any blanks.
    fn next(&mut self) -> Option<u8> {
        while matches!(self.peek(), Some(b' ' | b'\n' | b'\r' | b'\t')) {
            self.at += 1;
        }
        self.peek()
    }

    fn word(&mut self, word: &str, value: Value) -> Option<Value> {
        self.text.get(self.at..)?.strip_prefix(word)?;
        self.at += word.len();
        Some(value)
    }

    fn value(&mut self, deep: u32) -> Option<Value> {
        match self.next()? {
            b'n' => self.word("null", Value::Null),
            b't' => self.word("true", Value::Bool(true)),
            b'f' => self.word("false", Value::Bool(false)),
            b'"' => self.string().map(Value::String),
            b'[' => {
                let mut items = Vec::new();
                self.list(deep, b']', |reader, deep| {
                    items.push(reader.value(deep)?);
                    Some(())
                })?;
                Some(Value::Array(items))
            }
            b'{' => {
                let mut fields = Map::new();
                self.list(deep, b'}', |reader, deep| {
                    let name = reader.string()?;
                    reader.next();
                    if !reader.skip(b':') {
                        return None;
                    }
                    fields.insert(name, reader.value(deep)?);
                    Some(())
                })?;
                Some(Value::Object(fields))
            }
            _ => self.number(),
        }
    }

    /// Items with commas between, from the bracket that opens them to the one that ends them.
    fn list(
        &mut self,
        deep: u32,
        end: u8,
        mut item: impl FnMut(&mut Self, u32) -> Option<()>,
    ) -> Option<()> {
        let deep = deep.checked_sub(1)?;
        self.at += 1;
        if self.next()? == end {
            self.at += 1;
            return Some(());
        }
        loop {
            self.next();
            item(self, deep)?;
            self.next();
            if self.skip(end) {
                return Some(());
            }
            if !self.skip(b',') {
                return None;
            }
        }
    }

    fn string(&mut self) -> Option<String> {
        if !self.skip(b'"') {
            return None;
        }
        let mut out = String::new();
        loop {
            let rest = self.text.get(self.at..)?;
            let plain = rest.find(|c| c == '"' || c == '\\' || c < ' ')?;
            out.push_str(rest.get(..plain)?);
            self.at += plain;
            if self.skip(b'"') {
                return Some(out);
            }
            if !self.skip(b'\\') {
                return None;
            }
            let escaped = self.peek()?;
            self.at += 1;
            out.push(match escaped {
                b'"' | b'\\' | b'/' => escaped.into(),
                b'b' => '\x08',
                b'f' => '\x0c',
                b'n' => '\n',
                b'r' => '\r',
                b't' => '\t',
                b'u' => self.escaped()?,
                _ => return None,
            });
        }
    }

    /// A character by its code, or by two that make one.
    fn escaped(&mut self) -> Option<char> {
        let first = self.code()?;
        if !(0xd800..0xdc00).contains(&first) {
            return char::from_u32(first);
        }
        if !(self.skip(b'\\') && self.skip(b'u')) {
            return None;
        }
        let second = self
            .code()?
            .checked_sub(0xdc00)
            .filter(|low| *low < 0x400)?;
        char::from_u32(0x10000 + ((first - 0xd800) << 10) + second)
    }

    fn code(&mut self) -> Option<u32> {
        let digits = self.text.get(self.at..self.at + 4)?;
        self.at += 4;
        // `from_str_radix` alone would take a sign.
        let hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        u32::from_str_radix(digits, 16).ok().filter(|_| hex)
    }

    fn digits(&mut self) -> Option<()> {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        (self.at > start).then_some(())
    }

    /// Whole numbers stay whole as far as 64 bits hold them.
    fn number(&mut self) -> Option<Value> {
        let start = self.at;
        self.skip(b'-');
        if !self.skip(b'0') {
            self.digits()?;
        }
        let mut whole = true;
        if self.skip(b'.') {
            self.digits()?;
            whole = false;
        }
        if self.skip(b'e') || self.skip(b'E') {
            let _sign = self.skip(b'+') || self.skip(b'-');
            self.digits()?;
            whole = false;
        }
        let text = self.text.get(start..self.at)?;
        if whole {
            if let Ok(number) = text.parse::<u64>() {
                return Some(number.into());
            }
            // Minus zero is a float: no whole number has its sign.
            if let Some(number) = text.parse::<i64>().ok().filter(|number| *number < 0) {
                return Some(number.into());
            }
        }
        Number::from_f64(text.parse().ok()?).map(Value::Number)
    }
}

/// A value as compact text.
pub(super) fn written(value: &Value) -> String {
    let mut out = String::new();
    write(value, &mut out);
    out
}

fn write(value: &Value, out: &mut String) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(true) => out.push_str("true"),
        Value::Bool(false) => out.push_str("false"),
        Value::Number(number) => write_number(number, out),
        Value::String(text) => write_string(text, out),
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write(item, out);
            }
            out.push(']');
        }
        Value::Object(fields) => {
            out.push('{');
            for (index, (name, value)) in fields.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_string(name, out);
                out.push(':');
                write(value, out);
            }
            out.push('}');
        }
    }
}

fn write_number(number: &Number, out: &mut String) {
    // Writing to a String cannot fail.
    let _ = if let Some(whole) = number.as_u64() {
        write!(out, "{whole}")
    } else if let Some(whole) = number.as_i64() {
        write!(out, "{whole}")
    } else {
        let real = number.as_f64().unwrap_or_default();
        // `{:?}` has a point or an exponent, so that it is read as a float again. Files have exponents from one digit later
        // on, and their sign.
        if (1e-5..1e-4).contains(&real.abs()) {
            write!(out, "{real}")
        } else if real.abs() < 1.0 {
            write!(out, "{real:?}")
        } else {
            write!(out, "{}", format!("{real:?}").replace('e', "e+"))
        }
    };
}

fn write_string(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\x08' => out.push_str("\\b"),
            '\x0c' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c < ' ' => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests;
