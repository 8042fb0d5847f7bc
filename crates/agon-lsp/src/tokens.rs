//! Semantic tokens: what each word of a text stands for.

use agon_text::Span;
use agon_toss::syntax::NameKind;
use serde_json::{Value, json};

use crate::index::Class;
use crate::snapshot::{Snapshot, WordKind};
use crate::text::Places;

/// The types of tokens, as the client is told.
pub(crate) const TYPES: &[&str] = &[
    "keyword",
    "function",
    "method",
    "variable",
    "enumMember",
    "number",
    "comment",
    "string",
    "operator",
    "type",
    "parameter",
    "property",
];

/// The modifiers of tokens.
pub(crate) const MODIFIERS: &[&str] = &["definition", "defaultLibrary"];

/// Returns the number of a type.
fn number(name: &str) -> usize {
    TYPES.iter().position(|known| *known == name).unwrap_or(0)
}

/// Returns the tokens of a text, encoded as the protocol demands.
pub(crate) fn tokens(snapshot: &Snapshot, places: Places<'_>) -> Value {
    let mut tokens: Vec<(Span, usize, usize)> = Vec::new();
    let mut mentions = snapshot.index.mentions.iter().peekable();
    for word in &snapshot.words {
        while mentions.next_if(|mention| mention.span.start() < word.span.start()).is_some() {}
        let shown = snapshot.source.slice(word.span);
        let kind = match word.kind {
            WordKind::Open | WordKind::Close => continue,
            WordKind::Comment => "comment",
            WordKind::Text => "string",
            WordKind::Keyword => "keyword",
            WordKind::Variable => "variable",
            WordKind::Number => "number",
            WordKind::Sign => "operator",
            WordKind::Name => {
                let help = crate::keywords::help(shown, snapshot.rules().is_none());
                let mention =
                    mentions.peek().filter(|mention| mention.span.start() < word.span.end());
                match mention {
                    Some(mention) => {
                        let modifiers = usize::from(mention.is_definition)
                            | usize::from(mention.key.class == Class::Keyword) << 1;
                        let kind = kind(mention.key.class, mention.arity);
                        tokens.push((word.span, number(kind), modifiers));
                        continue;
                    }
                    None if help.is_some() => "keyword",
                    None => "enumMember",
                }
            }
        };
        tokens.push((word.span, number(kind), 0));
    }
    encode(&tokens, places)
}

fn kind(class: Class, arity: usize) -> &'static str {
    match class {
        Class::Keyword => "keyword",
        Class::Relation => "function",
        Class::Term if arity > 0 => "method",
        Class::Term => "enumMember",
        Class::Variable => "variable",
        Class::Toss(kind) => match kind {
            NameKind::Player | NameKind::Location | NameKind::Constant => "enumMember",
            NameKind::Relation => "function",
            NameKind::Rule | NameKind::Label => "type",
            NameKind::Function | NameKind::BuiltIn => "method",
            NameKind::Variable | NameKind::Number => "variable",
            NameKind::Parameter => "parameter",
            NameKind::Key => "property",
        },
    }
}

/// Encodes tokens as differences. A token over several lines becomes one for each line.
fn encode(tokens: &[(Span, usize, usize)], places: Places<'_>) -> Value {
    let mut numbers: Vec<usize> = Vec::new();
    let (mut last_line, mut last_start) = (0, 0);
    let text = places.source.text();
    for &(span, kind, modifiers) in tokens {
        let mut start = span.start();
        while start < span.end() {
            let rest = &text[start..span.end()];
            let length = rest.find(['\n', '\r']).unwrap_or(rest.len());
            if length > 0 {
                let (line, character) = places.line_and_character(start);
                let end = places.line_and_character(start + length).1;
                let delta = if line == last_line { character - last_start } else { character };
                numbers.extend([line - last_line, delta, end - character, kind, modifiers]);
                (last_line, last_start) = (line, character);
            }
            start += length.max(1);
        }
    }
    json!({"data": numbers})
}
