//! Sentences as data: runs of text, some of them bold, some a number that answers "why?".

/// One run of a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// What it says.
    pub text: String,
    /// Whether it stands out.
    pub bold: bool,
}

/// A sentence.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sentence(pub Vec<Run>);

impl Sentence {
    /// Nothing yet.
    pub const fn new() -> Self {
        Self(Vec::new())
    }
    /// Appends plain text.
    pub fn plain(mut self, text: impl Into<String>) -> Self {
        self.0.push(Run {
            text: text.into(),
            bold: false,
        });
        self
    }
    /// Appends bold text.
    pub fn bold(mut self, text: impl Into<String>) -> Self {
        self.0.push(Run {
            text: text.into(),
            bold: true,
        });
        self
    }
    /// All runs as one string, for screen readers and tests.
    pub fn words(&self) -> String {
        self.0.iter().map(|run| run.text.as_str()).collect()
    }
}

/// Width of text in the page's sans face at `size` px, estimated: digits and lower case near 0.55 em, narrow letters and
/// punctuation 0.3, capitals 0.68. Within 8 % on the labels used here, enough to keep them apart without measuring.
pub fn width(text: &str, size: f64, bold: bool) -> f64 {
    let em: f64 = text
        .chars()
        .map(|letter| match letter {
            'i' | 'j' | 'l' | 'I' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' => 0.27,
            ' ' | 'f' | 't' | 'r' | '(' | ')' | '/' | '-' => 0.32,
            'm' | 'w' | 'M' | 'W' | '%' => 0.86,
            'A'..='Z' => 0.69,
            _ => 0.56,
        })
        .sum();
    em * size * if bold { 1.06 } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_reads_whole() {
        let sentence = Sentence::new().plain("wastes ").bold("144 GPUs").plain(".");
        assert_eq!(sentence.words(), "wastes 144 GPUs.");
        assert!(sentence.0.get(1).is_some_and(|run| run.bold));
    }

    #[test]
    fn longer_and_bolder_is_wider() {
        assert!(width("failed 0.26", 10.5, false) < width("failed 0.26 %", 10.5, false));
        assert!(width("failed", 10.5, false) < width("failed", 10.5, true));
        // Measured in Liberation Sans at 10.5 px: 52.0.
        assert!((width("failed 0.26", 10.5, false) - 52.0).abs() < 5.0);
    }
}
