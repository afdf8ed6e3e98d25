//! Reads values out of a data file; what is wrong is one line that names file, field and value.

use serde_json::Value;

/// What is wrong with a data file.
pub struct Wrong(pub String);

/// A data file.
pub struct File {
    name: String,
    value: Value,
}

/// Reads a file of `assets/data` and has the build repeated when it changes.
pub fn read(name: &str) -> Result<File, Wrong> {
    let name = format!("assets/data/{name}");
    println!("cargo::rerun-if-changed={name}");
    let text = std::fs::read_to_string(&name).map_err(|error| Wrong(format!("{name}: {error}")))?;
    let value = serde_json::from_str(&text)
        .map_err(|error| Wrong(format!("{name}: not valid JSON, {error}")))?;
    Ok(File { name, value })
}

impl File {
    /// The whole file.
    pub fn root(&self) -> Node<'_> {
        Node {
            file: &self.name,
            path: String::new(),
            value: &self.value,
        }
    }
}

/// A value in a file.
pub struct Node<'a> {
    file: &'a str,
    path: String,
    value: &'a Value,
}

impl<'a> Node<'a> {
    /// The error at this value or a field of it.
    fn error(&self, field: &str, what: &str) -> Wrong {
        let path = format!("{}{field}", self.path);
        Wrong(format!(
            "{}: {}: {what}",
            self.file,
            path.trim_start_matches('.')
        ))
    }

    /// The error of a value that is not allowed.
    pub fn wrong(&self, allowed: &str) -> Wrong {
        let value = match self.value {
            Value::Array(items) => format!("a list of {}", items.len()),
            Value::Object(_) => "an object".into(),
            other => other.to_string(),
        };
        self.error("", &format!("{value} is not allowed, expected {allowed}"))
    }

    /// A field that must be there.
    pub fn field(&self, name: &str) -> Result<Self, Wrong> {
        let found = self.optional(name);
        found.ok_or_else(|| self.error(&format!(".{name}"), "missing"))
    }

    /// A field that may be missing.
    pub fn optional(&self, name: &str) -> Option<Self> {
        let value = self.value.get(name)?;
        Some(Node {
            file: self.file,
            path: format!("{}.{name}", self.path),
            value,
        })
    }

    /// An object with no fields but these.
    pub fn only(&self, names: &[&str]) -> Result<(), Wrong> {
        let map = self
            .value
            .as_object()
            .ok_or_else(|| self.wrong("an object"))?;
        match map.keys().find(|key| !names.contains(&key.as_str())) {
            Some(key) => {
                let known = names.join(", ");
                let what = format!("unknown field, expected one of {known}");
                Err(self.error(&format!(".{key}"), &what))
            }
            None => Ok(()),
        }
    }

    /// The items of a list that is not empty.
    pub fn items(&self) -> Result<Vec<Self>, Wrong> {
        let items = self.value.as_array().filter(|items| !items.is_empty());
        let items = items.ok_or_else(|| self.wrong("a list"))?;
        let item = |(index, value)| Node {
            file: self.file,
            path: format!("{}[{index}]", self.path),
            value,
        };
        Ok(items.iter().enumerate().map(item).collect())
    }

    /// Text that is not empty.
    pub fn text(&self) -> Result<&'a str, Wrong> {
        let text = self.value.as_str().filter(|text| !text.is_empty());
        text.ok_or_else(|| self.wrong("text"))
    }

    /// A number from 0.
    pub fn real(&self) -> Result<f64, Wrong> {
        let number = self.value.as_f64().filter(|number| *number >= 0.0);
        number.ok_or_else(|| self.wrong("a number from 0"))
    }

    /// A whole number.
    pub fn whole(&self) -> Result<u32, Wrong> {
        let number = self
            .value
            .as_u64()
            .and_then(|number| u32::try_from(number).ok());
        number.ok_or_else(|| self.wrong("a whole number"))
    }

    /// True or false.
    pub fn flag(&self) -> Result<bool, Wrong> {
        self.value
            .as_bool()
            .ok_or_else(|| self.wrong("true or false"))
    }

    /// Position among the words allowed.
    pub fn word(&self, words: &[&str]) -> Result<usize, Wrong> {
        let found = words
            .iter()
            .position(|word| self.value.as_str() == Some(word));
        found.ok_or_else(|| self.wrong(&format!("one of {}", words.join(", "))))
    }

    /// Numbers as whole multiples of `1 / by`, which divided by it are the very same numbers: a table of small whole
    /// numbers is a fraction of its size in floats.
    pub fn multiples(&self, by: u32) -> Result<Vec<u32>, Wrong> {
        let multiple = |item: Node<'_>| {
            let number = item.real()?;
            let whole = (number * f64::from(by)).round() as u32;
            if f64::from(whole) / f64::from(by) == number {
                Ok(whole)
            } else {
                Err(item.wrong(&format!("a multiple of 1/{by}")))
            }
        };
        self.items()?.into_iter().map(multiple).collect()
    }
}
