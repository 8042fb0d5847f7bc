//! Rules as a graph whose vertices have colours.

use agon_datalog::Symbol;

use crate::check::CheckedRules;
use crate::symbols::keyword;
use crate::syntax::{Atom, Clause, Literal, LiteralKind, Term, TermKind};

/// A hash of all that is known of a part of the rules.
pub(super) type Colour = u128;

/// The clauses of rules, as trees over names and variables.
pub(super) struct Graph {
    /// The names that occur, in the order of their symbols.
    pub(super) names: Vec<String>,
    /// By vertex: its colour before refinement. Vertices are the names, then the variables of all
    /// clauses.
    first: Vec<Colour>,
    /// The parts of all clauses. The children of a part come before it.
    parts: Vec<Part>,
    children: Vec<u32>,
    /// By name: its number, if it is one.
    numbers: Vec<Option<u64>>,
}

/// An atom, a term, a condition or a clause.
struct Part {
    kind: Kind,
    /// The name or variable of the part.
    vertex: Option<u32>,
    /// The end of its children in the list of all children. They start where those of the part
    /// before it end.
    end: u32,
}

#[derive(Copy, Clone, PartialEq, Eq)]
enum Kind {
    Leaf,
    Apply,
    Not,
    And,
    Or,
    Distinct,
    Body,
    Clause,
}

impl Kind {
    fn is_ordered(self) -> bool {
        match self {
            Kind::Leaf | Kind::Apply | Kind::Not | Kind::Clause => true,
            Kind::And | Kind::Or | Kind::Distinct | Kind::Body => false,
        }
    }
}

/// Mixes a value into a hash.
pub(super) fn mix(hash: u128, value: u128) -> u128 {
    const FACTORS: [u128; 2] =
        [0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835, 0xc2b2_ae3d_27d4_eb4f_1656_67b1_9e37_79f9];
    let mut mixed = hash.wrapping_mul(FACTORS[0]).wrapping_add(value) ^ FACTORS[1];
    for factor in FACTORS {
        mixed ^= mixed >> 67;
        mixed = mixed.wrapping_mul(factor);
    }
    mixed ^ mixed >> 61
}

fn hash_of_text(tag: u128, text: &str) -> Colour {
    text.bytes().fold(tag, |hash, byte| mix(hash, byte.into()))
}

impl Graph {
    pub(super) fn new(rules: &CheckedRules) -> Graph {
        let sheet = rules.sheet();
        let mut builder = Builder {
            vertices: vec![None; sheet.symbols.len()],
            symbols: Vec::new(),
            variables: 0,
            parts: Vec::new(),
            children: Vec::new(),
        };
        for clause in &sheet.clauses {
            builder.clause(clause);
        }
        let fixed_numbers = FixedNumbers::of(&sheet.clauses);
        let Builder { symbols, variables, mut parts, children, .. } = builder;
        // Variables were numbered on their own while the number of names was not known.
        let n_names = symbols.len() as u32;
        for part in &mut parts {
            if let Some(vertex) = &mut part.vertex
                && *vertex >= VARIABLES
            {
                *vertex = *vertex - VARIABLES + n_names;
            }
        }
        let name = |symbol: &Symbol| sheet.symbols.name(*symbol).to_owned();
        let names: Vec<String> = symbols.iter().map(name).collect();
        let numbers = names.iter().map(|name| name.parse().ok()).collect();
        let first = symbols.iter().zip(&names).map(|(symbol, name)| {
            if symbol.index() < keyword::TEXTS.len() {
                hash_of_text(1, &name.to_lowercase())
            } else if fixed_numbers.contains(*symbol, name) {
                hash_of_text(2, name)
            } else {
                3
            }
        });
        let first = first.chain((0..variables).map(|_| 4)).collect();
        Graph { names, first, parts, children, numbers }
    }

    pub(super) fn n_names(&self) -> usize {
        self.names.len()
    }

    /// Returns a hash of all clauses, given the colours of names and variables.
    pub(super) fn key(&self, colours: &[Colour]) -> u128 {
        let ups = self.ups(colours);
        let clauses = self.parts.iter().zip(&ups).filter(|(part, _)| part.kind == Kind::Clause);
        clauses.fold(0, |sum: u128, (_, up)| sum.wrapping_add(mix(5, *up)))
    }

    /// Returns colours in which every name has one of its own. Returns `None` when no steps are
    /// left.
    pub(super) fn distinct_colours(&self, left: &mut u64) -> Option<Vec<Colour>> {
        let mut colours = self.first.clone();
        self.refine(&mut colours, left)?;
        while let Some(same) = self.smallest_class(&colours) {
            let mut best: Option<(u128, Vec<Colour>)> = None;
            for name in same {
                let mut refined = colours.clone();
                refined[name] = mix(6, refined[name]);
                self.refine(&mut refined, left)?;
                let sum = refined.iter().fold(0, |sum: u128, &c| sum.wrapping_add(mix(7, c)));
                if best.as_ref().is_none_or(|(least, _)| sum < *least) {
                    best = Some((sum, refined));
                }
            }
            colours = best.expect("a class has members").1;
        }
        Some(colours)
    }

    /// Returns the names of the smallest class of several names with the same colour. Numbers come
    /// first, in their order, so that symmetric rules with the same numbers get the same labels.
    fn smallest_class(&self, colours: &[Colour]) -> Option<Vec<usize>> {
        let mut order: Vec<usize> = (0..self.n_names()).collect();
        order.sort_unstable_by_key(|&name| colours[name]);
        let classes = order.chunk_by(|&a, &b| colours[a] == colours[b]);
        let several = classes.filter(|class| class.len() > 1);
        let mut class = several.min_by_key(|class| class.len())?.to_vec();
        class.sort_by_key(|&name| (self.numbers[name].is_none(), self.numbers[name]));
        Some(class)
    }

    /// Refines colours until no more vertices are told apart.
    fn refine(&self, colours: &mut Vec<Colour>, left: &mut u64) -> Option<()> {
        let mut n_classes = count_classes(colours);
        loop {
            *left = left.checked_sub(self.parts.len() as u64 + self.first.len() as u64)?;
            let next = self.next_colours(colours);
            let n_next = count_classes(&next);
            *colours = next;
            if n_next == n_classes {
                return Some(());
            }
            n_classes = n_next;
        }
    }

    /// Mixes into the colour of each vertex the places at which it occurs.
    fn next_colours(&self, colours: &[Colour]) -> Vec<Colour> {
        let ups = self.ups(colours);
        let mut downs = vec![0; self.parts.len()];
        let mut sums = vec![0_u128; colours.len()];
        for (at, part) in self.parts.iter().enumerate().rev() {
            if let Some(vertex) = part.vertex {
                let place = mix(downs[at], ups[at]);
                let sum = &mut sums[vertex as usize];
                *sum = sum.wrapping_add(mix(part.kind as u128, place));
            }
            let below = mix(downs[at], ups[at]);
            for (place, &child) in (1..).zip(self.children_of(at)) {
                let place = if part.kind.is_ordered() { place } else { 0 };
                downs[child as usize] = mix(below, place);
            }
        }
        colours.iter().zip(sums).map(|(&colour, sum)| mix(colour, sum)).collect()
    }

    /// Returns a hash of each part with all below it.
    fn ups(&self, colours: &[Colour]) -> Vec<u128> {
        let mut ups: Vec<u128> = Vec::with_capacity(self.parts.len());
        for (at, part) in self.parts.iter().enumerate() {
            let own = part.vertex.map_or(0, |vertex| colours[vertex as usize]);
            let children = self.children_of(at).iter().map(|&child| ups[child as usize]);
            let below = if part.kind.is_ordered() {
                children.fold(0, mix)
            } else {
                children.fold(0, |sum: u128, child| sum.wrapping_add(mix(8, child)))
            };
            ups.push(mix(mix(part.kind as u128 + 9, own), below));
        }
        ups
    }

    fn children_of(&self, part: usize) -> &[u32] {
        let start = part.checked_sub(1).map_or(0, |before| self.parts[before].end);
        &self.children[start as usize..self.parts[part].end as usize]
    }
}

fn count_classes(colours: &[Colour]) -> usize {
    let mut sorted = colours.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    sorted.len()
}

/// The numbers that are goal values: they mean something.
enum FixedNumbers {
    /// A goal value is computed, so every number may be one.
    All,
    These(Vec<Symbol>),
}

impl FixedNumbers {
    fn of(clauses: &[Clause]) -> FixedNumbers {
        let mut these = Vec::new();
        for clause in clauses.iter().filter(|clause| clause.head.relation == keyword::GOAL) {
            match clause.head.arguments.get(1).map(|value| &value.kind) {
                Some(TermKind::Constant(symbol)) => these.push(*symbol),
                Some(TermKind::Variable(_) | TermKind::Function(..)) | None => {
                    return FixedNumbers::All;
                }
            }
        }
        FixedNumbers::These(these)
    }

    fn contains(&self, symbol: Symbol, name: &str) -> bool {
        match self {
            FixedNumbers::All => name.parse::<i64>().is_ok(),
            FixedNumbers::These(these) => these.contains(&symbol),
        }
    }
}

/// Vertices from here on are variables while the graph is built.
const VARIABLES: u32 = 1 << 31;

struct Builder {
    /// By symbol: its vertex, if it occurs.
    vertices: Vec<Option<u32>>,
    /// By vertex of a name: its symbol.
    symbols: Vec<Symbol>,
    /// Number of variables of the clauses so far.
    variables: u32,
    parts: Vec<Part>,
    children: Vec<u32>,
}

impl Builder {
    fn clause(&mut self, clause: &Clause) {
        let head = self.atom(&clause.head);
        let body = self.literals(Kind::Body, &clause.body);
        self.part(Kind::Clause, None, &[head, body]);
        self.variables += clause.variables.len() as u32;
    }

    fn literals(&mut self, kind: Kind, literals: &[Literal]) -> u32 {
        let children: Vec<u32> = literals.iter().map(|literal| self.literal(literal)).collect();
        self.part(kind, None, &children)
    }

    fn literal(&mut self, literal: &Literal) -> u32 {
        match &literal.kind {
            LiteralKind::Atom(atom) => self.atom(atom),
            LiteralKind::Not(inner) => {
                let inner = self.literal(inner);
                self.part(Kind::Not, None, &[inner])
            }
            LiteralKind::And(all) => self.literals(Kind::And, all),
            LiteralKind::Or(any) => self.literals(Kind::Or, any),
            LiteralKind::Distinct(terms) => {
                let children: Vec<u32> = terms.iter().map(|term| self.term(term)).collect();
                self.part(Kind::Distinct, None, &children)
            }
        }
    }

    fn atom(&mut self, atom: &Atom) -> u32 {
        self.apply(atom.relation, &atom.arguments)
    }

    fn term(&mut self, term: &Term) -> u32 {
        match &term.kind {
            TermKind::Variable(variable) => {
                let vertex = VARIABLES + self.variables + variable.0;
                self.part(Kind::Leaf, Some(vertex), &[])
            }
            TermKind::Constant(symbol) => self.apply(*symbol, &[]),
            TermKind::Function(symbol, arguments) => self.apply(*symbol, arguments),
        }
    }

    fn apply(&mut self, symbol: Symbol, arguments: &[Term]) -> u32 {
        let children: Vec<u32> = arguments.iter().map(|term| self.term(term)).collect();
        let vertex = *self.vertices[symbol.index()].get_or_insert_with(|| {
            self.symbols.push(symbol);
            self.symbols.len() as u32 - 1
        });
        self.part(Kind::Apply, Some(vertex), &children)
    }

    fn part(&mut self, kind: Kind, vertex: Option<u32>, children: &[u32]) -> u32 {
        self.children.extend_from_slice(children);
        self.parts.push(Part { kind, vertex, end: self.children.len() as u32 });
        self.parts.len() as u32 - 1
    }
}
