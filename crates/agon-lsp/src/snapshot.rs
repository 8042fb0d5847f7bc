//! The fast path: everything that is known of a text without playing.

use std::cell::OnceCell;
use std::sync::Arc;

use agon_gdl::check::{ArgumentDomains, check, check_sheet};
use agon_gdl::params;
use agon_gdl::read::{LexemeKind, guess_syntax, lexemes, read_with};
use agon_gdl::syntax::{Rulesheet, Syntax};
use agon_text::{Diagnostic, Source, Span};
use agon_toss::syntax::GameSheet;

use crate::index::Index;

/// What could be read of a text.
pub(crate) enum Sheet {
    Gdl(Arc<Rulesheet>),
    Toss(Box<GameSheet>),
}

/// The kinds of words, for all languages.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum WordKind {
    /// `(`, `[` or `{`
    Open,
    /// `)`, `]` or `}`
    Close,
    /// A name or keyword.
    Name,
    Variable,
    Number,
    Comment,
    /// A board.
    Text,
    /// A keyword of a structure rewriting game.
    Keyword,
    Sign,
}

/// A word and its place.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Word {
    pub(crate) kind: WordKind,
    pub(crate) span: Span,
}

/// A text and what the fast path knows of it.
pub(crate) struct Snapshot {
    pub(crate) source: Arc<Source>,
    pub(crate) sheet: Sheet,
    pub(crate) findings: Vec<Diagnostic>,
    pub(crate) words: Vec<Word>,
    pub(crate) index: Index,
    domains: OnceCell<Option<ArgumentDomains>>,
}

impl Snapshot {
    /// Reads, checks and indexes a text.
    pub(crate) fn new(source: Arc<Source>) -> Snapshot {
        if agon_toss::read::is_game(&source) {
            Snapshot::toss(source)
        } else {
            Snapshot::gdl(source)
        }
    }

    fn gdl(source: Arc<Source>) -> Snapshot {
        let (sheet, findings) = read_with(Arc::clone(&source), &Default::default());
        let sheet = Arc::new(sheet);
        // With parameters, the rules are those of the expanded text.
        let findings = match params::declarations(&source).0.is_empty() {
            true => check_sheet(Arc::clone(&sheet), findings).findings.0,
            false => check(Arc::clone(&source)).findings.0,
        };
        let words = lexemes(source.text(), guess_syntax(source.text()))
            .into_iter()
            .map(|lexeme| {
                let text = source.slice(lexeme.span);
                let kind = match lexeme.kind {
                    LexemeKind::Open => WordKind::Open,
                    LexemeKind::Close => WordKind::Close,
                    LexemeKind::Name if text.parse::<i64>().is_ok() => WordKind::Number,
                    LexemeKind::Name => WordKind::Name,
                    LexemeKind::Variable => WordKind::Variable,
                    LexemeKind::Comment => WordKind::Comment,
                    LexemeKind::Sign => WordKind::Sign,
                };
                Word { kind, span: lexeme.span }
            })
            .collect();
        let index = Index::gdl(&sheet);
        let sheet = Sheet::Gdl(sheet);
        Snapshot { source, sheet, findings, words, index, domains: OnceCell::new() }
    }

    fn toss(source: Arc<Source>) -> Snapshot {
        use agon_toss::read::LexemeKind;
        let (sheet, _) = agon_toss::read::read(Arc::clone(&source));
        let findings = agon_toss::check::check(Arc::clone(&source)).findings.0;
        let words = agon_toss::read::lexemes(&source)
            .into_iter()
            .map(|lexeme| {
                let kind = match (lexeme.kind, source.slice(lexeme.span)) {
                    (LexemeKind::Sign, "(" | "[" | "{") => WordKind::Open,
                    (LexemeKind::Sign, ")" | "]" | "}") => WordKind::Close,
                    (LexemeKind::Sign, _) => WordKind::Sign,
                    (LexemeKind::Section | LexemeKind::Keyword, _) => WordKind::Keyword,
                    (LexemeKind::Name, _) => WordKind::Name,
                    (LexemeKind::Number, _) => WordKind::Number,
                    (LexemeKind::Board, _) => WordKind::Text,
                    (LexemeKind::Comment, _) => WordKind::Comment,
                };
                Word { kind, span: lexeme.span }
            })
            .collect();
        let index = Index::toss(&sheet);
        let sheet = Sheet::Toss(Box::new(sheet));
        Snapshot { source, sheet, findings, words, index, domains: OnceCell::new() }
    }

    /// Returns the rulesheet of a GDL game.
    pub(crate) fn rules(&self) -> Option<&Arc<Rulesheet>> {
        match &self.sheet {
            Sheet::Gdl(sheet) => Some(sheet),
            Sheet::Toss(_) => None,
        }
    }

    /// Returns the sheet of a structure rewriting game.
    pub(crate) fn game(&self) -> Option<&GameSheet> {
        match &self.sheet {
            Sheet::Gdl(_) => None,
            Sheet::Toss(sheet) => Some(sheet),
        }
    }

    pub(crate) fn is_infix(&self) -> bool {
        self.rules().is_some_and(|sheet| sheet.syntax == Syntax::Infix)
    }

    /// Returns the names that can occur at each argument, computed when first asked for.
    pub(crate) fn domains(&self) -> Option<&ArgumentDomains> {
        let sheet = self.rules()?;
        self.domains.get_or_init(|| ArgumentDomains::new(sheet)).as_ref()
    }

    /// Returns the places of all clauses or sections, readable or not, in order.
    pub(crate) fn clauses(&self) -> Vec<Span> {
        let mut spans: Vec<Span> = match &self.sheet {
            Sheet::Gdl(sheet) => {
                let partial = sheet.partial.iter().map(|clause| clause.span);
                sheet.clauses.iter().map(|clause| clause.span).chain(partial).collect()
            }
            Sheet::Toss(sheet) => sheet.sections.clone(),
        };
        spans.sort_unstable();
        spans
    }

    /// Returns the clause or section around a byte. A clause that is being written goes on to the
    /// byte, although what could be read of it ends before.
    pub(crate) fn clause_around(&self, byte: usize) -> Option<Span> {
        let clauses = self.clauses();
        let clause = *clauses[..clauses.partition_point(|span| span.start() <= byte)].last()?;
        (byte <= clause.end() || self.goes_on(clause, byte)).then_some(clause)
    }

    /// Returns whether a clause that ends before a byte has an open list there, or in infix a sign
    /// after which something must follow. In KIF the start of a line begins a new clause.
    fn goes_on(&self, clause: Span, byte: usize) -> bool {
        if !self.is_infix() && self.source.text()[..byte].ends_with(['\n', '\r']) {
            return false;
        }
        let first = self.words.partition_point(|word| word.span.start() < clause.start());
        let words = self.words[first..].iter().take_while(|word| word.span.end() <= byte);
        let (mut n_open, mut waits) = (0_i64, false);
        for word in words.filter(|word| word.kind != WordKind::Comment) {
            match word.kind {
                WordKind::Open => n_open += 1,
                WordKind::Close => n_open -= 1,
                _ => {}
            }
            waits = word.kind == WordKind::Sign && self.source.slice(word.span) != ".";
        }
        n_open > 0 || (self.is_infix() && waits)
    }

    /// Returns the word that contains a byte, or ends there.
    pub(crate) fn word_at(&self, byte: usize) -> Option<&Word> {
        let after = self.words.partition_point(|word| word.span.start() <= byte);
        let word = self.words[..after].last()?;
        (byte <= word.span.end()).then_some(word)
    }
}
