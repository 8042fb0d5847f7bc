//! Names and keywords.

use std::collections::BTreeMap;

use agon_datalog::Symbol;

/// The names of a rulesheet. GDL is read without regard to case, as the Dresden and the ggp.org
/// servers do, and shown in the first spelling.
///
/// Invariant: the keywords come first, in the order of [`keyword`], so their symbols are constants.
#[derive(Clone, Debug)]
pub struct Symbols {
    by_key: BTreeMap<String, Symbol>,
    spellings: Vec<String>,
    case: Case,
}

/// Whether names that differ only in capitalisation are equal. Variables never differ by
/// capitalisation.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub enum Case {
    /// They are equal, as on the Dresden and the ggp.org servers. The default.
    #[default]
    Ignored,
    /// They are different, except keywords, as in ggp-base's players. A few public rulesheets mix
    /// capitalisations and mean something else to these players.
    Respected,
}

macro_rules! keywords {
    ($($name:ident = $text:literal),* $(,)?) => {
        /// The keywords of GDL.
        #[allow(missing_docs, non_upper_case_globals, clippy::upper_case_acronyms)]
        pub mod keyword {
            use agon_datalog::Symbol;
            #[allow(non_camel_case_types)]
            enum Order { $($name),* }
            $(pub const $name: Symbol = Symbol::new(Order::$name as u32);)*
            pub(crate) const TEXTS: &[&str] = &[$($text),*];
        }
    };
}

keywords! {
    ROLE = "role", INIT = "init", TRUE = "true", DOES = "does", NEXT = "next", LEGAL = "legal",
    GOAL = "goal", TERMINAL = "terminal", BASE = "base", INPUT = "input", SEES = "sees",
    PERCEPT = "percept", DISTINCT = "distinct", NOT = "not", OR = "or", AND = "and",
    IMPLIES = "<=", RANDOM = "random",
}

impl Default for Symbols {
    fn default() -> Symbols {
        Symbols::new(Case::Ignored)
    }
}

impl Symbols {
    /// Creates a table with the keywords alone.
    pub fn new(case: Case) -> Symbols {
        let mut symbols = Symbols { by_key: BTreeMap::new(), spellings: Vec::new(), case };
        for text in keyword::TEXTS {
            symbols.intern(text);
        }
        symbols
    }

    /// Returns whether capitalisation matters.
    pub fn case(&self) -> Case {
        self.case
    }

    /// Returns the key of a name. Names with the same key are equal.
    fn key(&self, name: &str) -> String {
        let lower = name.to_lowercase();
        let is_keyword = || keyword::TEXTS.contains(&lower.as_str());
        if self.case == Case::Ignored || is_keyword() { lower } else { name.to_owned() }
    }

    /// Returns the symbol of a name. Creates it if the name is new.
    pub fn intern(&mut self, name: &str) -> Symbol {
        let key = self.key(name);
        if let Some(&symbol) = self.by_key.get(&key) {
            return symbol;
        }
        let symbol =
            Symbol::new(u32::try_from(self.spellings.len()).expect("fewer than 2^32 names"));
        self.spellings.push(name.to_owned());
        self.by_key.insert(key, symbol);
        symbol
    }

    /// Returns the symbol of a known name.
    pub fn find(&self, name: &str) -> Option<Symbol> {
        self.by_key.get(&self.key(name)).copied()
    }

    /// Returns the first spelling of a name.
    pub fn name(&self, symbol: Symbol) -> &str {
        &self.spellings[symbol.index()]
    }

    /// Returns the number of symbols, keywords included.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.spellings.len()
    }

    /// Returns all symbols in the order of their first appearance, keywords first.
    pub fn all(&self) -> impl Iterator<Item = (Symbol, &str)> {
        self.spellings.iter().enumerate().map(|(i, name)| {
            (Symbol::new(u32::try_from(i).expect("fewer than 2^32 names")), name.as_str())
        })
    }
}
