//! Facts of positions, split into name and arguments.

use std::collections::BTreeMap;

use super::concept::number;

/// The order of symbols other than numbers: the rank of each. Letters count as coordinates where
/// the rules say which one follows which.
pub type Orders = BTreeMap<String, i64>;

/// A fact that may hold at a position: a fluent with its arguments as text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Fact {
    /// The name of the fluent.
    pub(super) name: String,
    /// Its arguments as text. An argument may be a compound term.
    pub(super) arguments: Vec<String>,
    /// By argument: its number, or its rank in a known order.
    pub(super) ranks: Vec<Option<i64>>,
}

impl Fact {
    /// Reads a fluent in the syntax of the rules: `(cell 1 1 x)`, or a name alone.
    pub(super) fn parse(text: &str) -> Fact {
        let inside = text.trim().strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
        let Some(inside) = inside else {
            let name = text.trim().to_owned();
            return Fact { name, arguments: Vec::new(), ranks: Vec::new() };
        };
        let mut parts = parts(inside).into_iter();
        let name = parts.next().unwrap_or_default();
        let arguments: Vec<String> = parts.collect();
        let ranks = arguments.iter().map(|argument| number(argument)).collect();
        Fact { name, arguments, ranks }
    }

    /// Reads a fluent like [`Fact::parse`]. Arguments that are not numbers have their ranks.
    pub(super) fn parse_ordered(text: &str, orders: &Orders) -> Fact {
        let mut fact = Fact::parse(text);
        for (argument, rank) in fact.arguments.iter().zip(&mut fact.ranks) {
            *rank = rank.or_else(|| orders.get(argument).copied());
        }
        fact
    }
}

impl std::fmt::Display for Fact {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.arguments.is_empty() {
            return f.write_str(&self.name);
        }
        write!(f, "({} {})", self.name, self.arguments.join(" "))
    }
}

/// Splits a list of terms. A term in parentheses stays together.
pub(super) fn parts(text: &str) -> Vec<String> {
    let mut parts = Vec::new();
    let (mut depth, mut part) = (0_usize, String::new());
    for c in text.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if c.is_whitespace() && depth == 0 {
            if !part.is_empty() {
                parts.push(std::mem::take(&mut part));
            }
        } else {
            part.push(c);
        }
    }
    if !part.is_empty() {
        parts.push(part);
    }
    parts
}

/// A dense numbering of facts.
#[derive(Clone, Debug, Default)]
pub(super) struct Facts {
    list: Vec<Fact>,
    numbers: BTreeMap<String, u32>,
    orders: Orders,
}

impl Facts {
    /// Returns an empty numbering of facts whose arguments have these orders.
    pub(super) fn with_orders(orders: Orders) -> Facts {
        Facts { orders, ..Facts::default() }
    }

    /// Returns the order of symbols other than numbers.
    pub(super) fn orders(&self) -> &Orders {
        &self.orders
    }

    /// Returns the number of a fact by its text, and adds the fact if it is new.
    pub(super) fn number(&mut self, text: &str) -> u32 {
        if let Some(&known) = self.numbers.get(text) {
            return known;
        }
        let number = self.list.len() as u32;
        self.list.push(Fact::parse_ordered(text, &self.orders));
        self.numbers.insert(text.to_owned(), number);
        number
    }

    /// Returns the number of a known fact by its text.
    pub(super) fn find(&self, text: &str) -> Option<u32> {
        self.numbers.get(text).copied()
    }

    /// Returns a fact by its number.
    pub(super) fn fact(&self, number: u32) -> &Fact {
        &self.list[number as usize]
    }

    /// Returns the number of facts.
    pub(super) fn len(&self) -> usize {
        self.list.len()
    }
}
