//! Positions of the protocol and bytes of a text.

use agon_text::{Source, Span};
use serde_json::{Value, json};

/// The unit in which the client counts the characters of a line.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Encoding {
    Utf8,
    Utf16,
}

impl Encoding {
    /// Chooses the encoding from the capabilities of the client. UTF-16 is always supported.
    pub(crate) fn choose(params: &Value) -> Encoding {
        let offered = params.pointer("/capabilities/general/positionEncodings");
        let offers = offered.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        if offers.iter().any(|name| name == "utf-8") { Encoding::Utf8 } else { Encoding::Utf16 }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Encoding::Utf8 => "utf-8",
            Encoding::Utf16 => "utf-16",
        }
    }

    fn units(self, text: &str) -> usize {
        match self {
            Encoding::Utf8 => text.len(),
            Encoding::Utf16 if text.is_ascii() => text.len(),
            Encoding::Utf16 => text.encode_utf16().count(),
        }
    }
}

/// Converts between bytes of a source and positions of the protocol.
#[derive(Copy, Clone)]
pub(crate) struct Places<'a> {
    pub(crate) source: &'a Source,
    pub(crate) encoding: Encoding,
}

impl Places<'_> {
    /// Returns the line, from 0, and the character of a byte.
    pub(crate) fn line_and_character(&self, byte: usize) -> (usize, usize) {
        let text = self.source.text();
        let mut byte = byte.min(text.len());
        while !text.is_char_boundary(byte) {
            byte -= 1;
        }
        let line = self.source.line_of(byte);
        let start = self.source.line_range(line).map_or(0, |range| range.start);
        (line - 1, self.encoding.units(&text[start..byte]))
    }

    pub(crate) fn position(&self, byte: usize) -> Value {
        let (line, character) = self.line_and_character(byte);
        json!({"line": line, "character": character})
    }

    pub(crate) fn range(&self, span: Span) -> Value {
        json!({"start": self.position(span.start()), "end": self.position(span.end())})
    }

    /// Returns the range of the whole text.
    pub(crate) fn whole(&self) -> Value {
        self.range(Span::new(0, self.source.text().len()))
    }

    /// Returns the byte of a position. A character beyond the end of its line is the end of the
    /// line, and a line beyond the last one the end of the text.
    pub(crate) fn byte(&self, position: &Value) -> usize {
        let number =
            |key: &str| usize::try_from(position[key].as_u64().unwrap_or(0)).unwrap_or(usize::MAX);
        let text = self.source.text();
        let Some(range) = self.source.line_range(number("line").saturating_add(1)) else {
            return text.len();
        };
        let line = text[range.clone()].trim_end_matches(['\n', '\r']);
        let wanted = number("character");
        let mut units = 0;
        for (at, c) in line.char_indices() {
            if units >= wanted {
                return range.start + at;
            }
            units += match self.encoding {
                Encoding::Utf8 => c.len_utf8(),
                Encoding::Utf16 => c.len_utf16(),
            };
        }
        range.start + line.len()
    }

    /// Returns the span of a range. A range that ends before it starts is empty.
    pub(crate) fn span(&self, range: &Value) -> Span {
        let start = self.byte(&range["start"]);
        Span::new(start, self.byte(&range["end"]).max(start))
    }

    /// Returns the edits that turn the text into another one: one replacement between the common
    /// beginning and the common end, or none.
    pub(crate) fn edits_to(&self, new: &str) -> Vec<Value> {
        let old = self.source.text();
        if old == new {
            return Vec::new();
        }
        let same = |pair: &((usize, char), char)| pair.0.1 == pair.1;
        let start = old
            .char_indices()
            .zip(new.chars())
            .take_while(same)
            .last()
            .map_or(0, |((at, c), _)| at + c.len_utf8());
        let n_after: usize = old[start..]
            .chars()
            .rev()
            .zip(new[start..].chars().rev())
            .take_while(|(a, b)| a == b)
            .map(|(c, _)| c.len_utf8())
            .sum();
        // A replacement must not start or end between the two characters of a line end.
        let splits =
            |text: &str, at: usize| text[..at].ends_with('\r') && text[at..].starts_with('\n');
        let (old_end, new_end) = (old.len() - n_after, new.len() - n_after);
        if splits(old, start) || splits(old, old_end) {
            return vec![json!({"range": self.whole(), "newText": new})];
        }
        let range = self.range(Span::new(start, old_end));
        vec![json!({"range": range, "newText": &new[start..new_end]})]
    }
}

/// Returns the text after a list of content changes of the protocol, each of which refers to the
/// text after the ones before.
pub(crate) fn changed(name: &str, text: &str, changes: &Value, encoding: Encoding) -> String {
    let mut text = text.to_owned();
    for change in changes.as_array().map_or(&[][..], Vec::as_slice) {
        let new = change["text"].as_str().unwrap_or_default();
        if change["range"].is_object() {
            let source = Source::new(name, text.as_str());
            let span = Places { source: &source, encoding }.span(&change["range"]);
            text.replace_range(span.start()..span.end(), new);
        } else {
            new.clone_into(&mut text);
        }
    }
    text
}

/// Returns the path of a `file:` address; other addresses as they are.
pub(crate) fn path_of(uri: &str) -> String {
    let Some(path) = uri.strip_prefix("file://") else { return uri.to_owned() };
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let decoded = match (first, after) {
            (b'%', [high, low, ..]) => std::str::from_utf8(&[*high, *low])
                .ok()
                .and_then(|digits| u8::from_str_radix(digits, 16).ok()),
            _ => None,
        };
        bytes.push(decoded.unwrap_or(first));
        rest = if decoded.is_some() { &after[2..] } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Returns the `file:` address of a path.
pub(crate) fn address_of(path: &str) -> String {
    let mut uri = String::from("file://");
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            uri.push_str(&format!("%{byte:02X}"));
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_in_the_units_of_the_client() {
        let source = Source::new("x", "a\u{e4}\u{1f600}b\r\nc");
        for (encoding, character) in [(Encoding::Utf8, 7), (Encoding::Utf16, 4)] {
            let places = Places { source: &source, encoding };
            assert_eq!(places.position(7), json!({"line": 0, "character": character}));
            assert_eq!(places.byte(&json!({"line": 0, "character": character})), 7);
            assert_eq!(places.byte(&json!({"line": 0, "character": 99})), 8);
            assert_eq!(places.byte(&json!({"line": 1, "character": 1})), 11);
            assert_eq!(places.byte(&json!({"line": 9, "character": 0})), 11);
        }
    }

    #[test]
    fn addresses_and_paths_correspond() {
        for path in ["/a b/c%d.kif", "/\u{e4}/x.toss", "/plain"] {
            assert_eq!(path_of(&address_of(path)), path);
        }
        assert_eq!(path_of("untitled:1"), "untitled:1");
    }

    #[test]
    fn edits_lead_to_the_new_text() {
        for (old, new) in [("abc", "axc"), ("", "x"), ("a\r\nb", "a\nb"), ("aa", "a"), ("x", "x")] {
            let source = Source::new("x", old);
            let edits = Places { source: &source, encoding: Encoding::Utf16 }.edits_to(new);
            let changes: Vec<Value> = edits
                .iter()
                .map(|edit| json!({"range": edit["range"], "text": edit["newText"]}))
                .collect();
            assert_eq!(changed("x", old, &json!(changes), Encoding::Utf16), new);
        }
    }
}
