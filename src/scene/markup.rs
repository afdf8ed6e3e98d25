//! Text that goes into HTML or SVG.

/// The text with what markup would take for its own replaced.
pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    #[test]
    fn markup_becomes_text() {
        let text = super::escaped("<b title=\"x\">1 & 2</b>");
        assert_eq!(text, "&lt;b title=&quot;x&quot;&gt;1 &amp; 2&lt;/b&gt;");
    }
}
