//! What stands around the cursor, found in the words of the text, which may be incomplete.

use agon_text::Span;

use crate::snapshot::{Snapshot, WordKind};

/// An open list or call around the cursor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Open {
    /// The name of the list or call, in lower case; `None` for groups, and before the name.
    pub(crate) name: Option<String>,
    /// The argument that the cursor is in, from 0.
    pub(crate) argument: usize,
}

/// The surroundings of the cursor in a GDL text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Context {
    /// The open lists, the outermost first. Groups of infix are left out.
    pub(crate) open: Vec<Open>,
    /// The word that is being written. Empty at the cursor if there is none.
    pub(crate) word: Span,
    /// Whether the cursor is in a comment.
    pub(crate) is_comment: bool,
    /// In infix, whether `:-` stands before in the clause.
    pub(crate) is_body: bool,
}

impl Context {
    /// Returns the surroundings of a byte.
    pub(crate) fn at(snapshot: &Snapshot, byte: usize) -> Context {
        let text = snapshot.source.text();
        let start = snapshot.clause_around(byte).map_or_else(
            // Between two clauses, only what stands after the last one counts.
            || {
                let clauses = snapshot.clauses();
                let before = clauses[..clauses.partition_point(|span| span.start() <= byte)].last();
                before.map_or(0, |span| span.end())
            },
            Span::start,
        );
        let is_infix = snapshot.is_infix();
        let mut context = Context {
            open: Vec::new(),
            word: Span::new(byte, byte),
            is_comment: false,
            is_body: false,
        };
        let mut stack: Vec<Level> = Vec::new();
        let mut before: Option<(WordKind, &str)> = None;
        let first = snapshot.words.partition_point(|word| word.span.start() < start);
        for word in &snapshot.words[first..] {
            let (span, kind) = (word.span, word.kind);
            if span.start() >= byte {
                break;
            }
            let shown = &text[span.start()..span.end()];
            if span.end() >= byte
                && matches!(kind, WordKind::Name | WordKind::Variable | WordKind::Number)
            {
                context.word = Span::new(span.start(), byte);
                break;
            }
            match kind {
                WordKind::Comment => {
                    let is_block = shown.starts_with("/*");
                    if span.end() > byte || (span.end() == byte && !is_block) {
                        context.is_comment = true;
                    }
                    continue;
                }
                WordKind::Open => {
                    let name = match before {
                        Some((WordKind::Name, name)) if is_infix => Some(name.to_lowercase()),
                        _ => None,
                    };
                    stack.push(Level { name, n_parts: 0 });
                }
                WordKind::Close => {
                    stack.pop();
                    if let Some(level) = stack.last_mut()
                        && !is_infix
                    {
                        level.n_parts += 1;
                    }
                }
                WordKind::Sign if is_infix => match shown {
                    "," => {
                        if let Some(level) = stack.last_mut() {
                            level.n_parts += 1;
                        }
                    }
                    ":-" | "<=" => context.is_body = true,
                    "." => {
                        stack.clear();
                        context.is_body = false;
                    }
                    _ => {}
                },
                _ => {
                    if let Some(level) = stack.last_mut()
                        && !is_infix
                    {
                        if level.n_parts == 0 && level.name.is_none() {
                            level.name = Some(shown.to_lowercase());
                        }
                        level.n_parts += 1;
                    }
                }
            }
            before = Some((kind, shown));
        }
        context.open = stack
            .into_iter()
            .filter(|level| !is_infix || level.name.is_some())
            .map(|level| Open {
                argument: level.n_parts.saturating_sub(usize::from(!is_infix)),
                name: level.name,
            })
            .collect();
        context
    }

    /// Returns whether a list among [`Context::open`] is a sentence, not a term.
    pub(crate) fn is_sentence(&self, level: usize) -> bool {
        self.open[..level]
            .iter()
            .all(|open| matches!(open.name.as_deref(), Some("<=" | "not" | "and" | "or") | None))
    }
}

struct Level {
    name: Option<String>,
    n_parts: usize,
}
