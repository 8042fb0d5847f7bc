//! Names, whatever their capitalisation.

use std::collections::BTreeMap;

use agon_logic::Symbol;

/// The names of a rulesheet. GDL is read without regard to case, as the Dresden and the ggp.org servers do, and
/// shown in the spelling that came first.
///
/// Invariant: the keywords stand first, in the order of [`keyword`], so their symbols are constants.
#[derive(Clone, Debug)]
pub struct Symbols {
    by_key: BTreeMap<String, Symbol>,
    spellings: Vec<String>,
}

macro_rules! keywords {
    ($($name:ident = $text:literal),* $(,)?) => {
        /// The words with a meaning of their own.
        #[allow(missing_docs, non_upper_case_globals, clippy::upper_case_acronyms)]
        pub mod keyword {
            use agon_logic::Symbol;
            #[allow(non_camel_case_types)]
            enum Order { $($name),* }
            $(pub const $name: Symbol = Symbol::new(Order::$name as u32);)*
            pub(crate) const TEXTS: &[&str] = &[$($text),*];
        }
    };
}

keywords! {
    ROLE = "role", INIT = "init", TRUE = "true", DOES = "does", NEXT = "next", LEGAL = "legal", GOAL = "goal",
    TERMINAL = "terminal", BASE = "base", INPUT = "input", SEES = "sees", PERCEPT = "percept",
    DISTINCT = "distinct", NOT = "not", OR = "or", AND = "and", IMPLIES = "<=", RANDOM = "random",
}

impl Default for Symbols {
    fn default() -> Symbols {
        let mut symbols = Symbols { by_key: BTreeMap::new(), spellings: Vec::new() };
        for text in keyword::TEXTS {
            symbols.intern(text);
        }
        symbols
    }
}

impl Symbols {
    /// The symbol of a name, made if it is new.
    pub fn intern(&mut self, name: &str) -> Symbol {
        let key = name.to_lowercase();
        if let Some(&symbol) = self.by_key.get(&key) {
            return symbol;
        }
        let symbol = Symbol::new(u32::try_from(self.spellings.len()).expect("fewer than 2^32 names"));
        self.spellings.push(name.to_owned());
        self.by_key.insert(key, symbol);
        symbol
    }

    /// The symbol of a name that is known already.
    pub fn find(&self, name: &str) -> Option<Symbol> {
        self.by_key.get(&name.to_lowercase()).copied()
    }

    /// The spelling that came first.
    pub fn name(&self, symbol: Symbol) -> &str {
        &self.spellings[symbol.index()]
    }

    /// How many there are, keywords included.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.spellings.len()
    }

    /// All of them in the order of their first appearance, keywords first.
    pub fn all(&self) -> impl Iterator<Item = (Symbol, &str)> {
        self.spellings.iter().enumerate().map(|(i, name)| {
            (Symbol::new(u32::try_from(i).expect("fewer than 2^32 names")), name.as_str())
        })
    }
}
