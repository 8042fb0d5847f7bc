//! Formulas about a cell: contents, steps, and numbers of related cells.

use std::fmt;

use agon_structures::formula::{Fold, Formula, Sign, Term, Variable};

use super::board::{Board, Cells, Contents};

/// What is on a cell.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Class {
    /// A piece of the player.
    Own,
    /// A piece of the opponent.
    Other,
    /// No piece.
    Empty,
}

impl Class {
    pub(super) const ALL: [Class; 3] = [Class::Own, Class::Other, Class::Empty];

    fn name(self) -> &'static str {
        match self {
            Class::Own => "Own",
            Class::Other => "Other",
            Class::Empty => "Empty",
        }
    }
}

/// A step on a board: first coordinate, then second one.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Direction {
    Right,
    UpRight,
    Up,
    UpLeft,
    Left,
    DownLeft,
    Down,
    DownRight,
}

impl Direction {
    pub(super) const ALL: [Direction; 8] = [
        Direction::Right,
        Direction::UpRight,
        Direction::Up,
        Direction::UpLeft,
        Direction::Left,
        Direction::DownLeft,
        Direction::Down,
        Direction::DownRight,
    ];

    /// Returns the change of the first and of the second coordinate.
    pub(super) fn offset(self) -> (i64, i64) {
        match self {
            Direction::Right => (1, 0),
            Direction::UpRight => (1, 1),
            Direction::Up => (0, 1),
            Direction::UpLeft => (-1, 1),
            Direction::Left => (-1, 0),
            Direction::DownLeft => (-1, -1),
            Direction::Down => (0, -1),
            Direction::DownRight => (1, -1),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Direction::Right => "right",
            Direction::UpRight => "up-right",
            Direction::Up => "up",
            Direction::UpLeft => "up-left",
            Direction::Left => "left",
            Direction::DownLeft => "down-left",
            Direction::Down => "down",
            Direction::DownRight => "down-right",
        }
    }
}

/// A relation between a cell and several others.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Relation {
    Neighbour,
    Beside,
    Diagonal,
    Row,
    Column,
    Line,
}

impl Relation {
    pub(super) const ALL: [Relation; 6] = [
        Relation::Neighbour,
        Relation::Beside,
        Relation::Diagonal,
        Relation::Row,
        Relation::Column,
        Relation::Line,
    ];

    pub(super) fn directions(self) -> &'static [Direction] {
        use Direction::{Down, DownLeft, DownRight, Left, Right, Up, UpLeft, UpRight};
        match self {
            Relation::Neighbour | Relation::Line => &Direction::ALL,
            Relation::Beside => &[Right, Up, Left, Down],
            Relation::Diagonal => &[UpRight, UpLeft, DownLeft, DownRight],
            Relation::Row => &[Right, Left],
            Relation::Column => &[Up, Down],
        }
    }

    /// Returns whether cells are related over any distance.
    pub(super) fn goes_on(self) -> bool {
        match self {
            Relation::Neighbour | Relation::Beside | Relation::Diagonal => false,
            Relation::Row | Relation::Column | Relation::Line => true,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Relation::Neighbour => "neighbour",
            Relation::Beside => "beside",
            Relation::Diagonal => "diagonal",
            Relation::Row => "row",
            Relation::Column => "column",
            Relation::Line => "line",
        }
    }
}

/// A statement about a cell.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Literal {
    /// It has this content.
    Is(Class),
    /// It has no next cell in a direction.
    Edge(Direction),
    /// It has a next cell in a direction, of which this holds.
    Step(Direction, Local),
    /// It is related to at least so many cells of which this holds.
    AtLeast(u8, Relation, Local),
    /// It is related to no cell of which this holds.
    No(Relation, Local),
}

/// A conjunction of statements about a cell, sorted.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Local(pub(super) Vec<Literal>);

/// The largest number of cells that a formula asks for.
pub(super) const MAX_COUNT: u8 = 4;

impl Local {
    pub(super) fn is(class: Class) -> Local {
        Local(vec![Literal::Is(class)])
    }

    /// Returns the cells of which it holds.
    pub(super) fn cells(&self, board: &Board, contents: &Contents) -> Cells {
        let mut cells = board.all;
        for literal in &self.0 {
            cells = match literal {
                Literal::Is(class) => cells.and(contents.of(*class)),
                Literal::Edge(direction) => {
                    let mut left = cells;
                    let steps = &board.steps[*direction as usize];
                    cells.iter().filter(|&cell| steps[cell].is_some()).for_each(|cell| {
                        let mut one = Cells::default();
                        one.insert(cell);
                        left = left.without(&one);
                    });
                    left
                }
                Literal::Step(direction, inner) => {
                    let inner = inner.cells(board, contents);
                    let steps = &board.steps[*direction as usize];
                    let leads = |cell: &usize| {
                        steps[*cell].is_some_and(|next| inner.has(usize::from(next)))
                    };
                    collected(cells.iter().filter(leads))
                }
                Literal::AtLeast(n, relation, inner) => {
                    let inner = inner.cells(board, contents);
                    let related = &board.related[*relation as usize];
                    let enough = |cell: &usize| related[*cell].and(&inner).len() >= u32::from(*n);
                    collected(cells.iter().filter(enough))
                }
                Literal::No(relation, inner) => {
                    let inner = inner.cells(board, contents);
                    let related = &board.related[*relation as usize];
                    collected(cells.iter().filter(|&cell| related[cell].and(&inner).len() == 0))
                }
            };
        }
        cells
    }

    /// Returns the length of the description, in bits: the kind of each statement and its parts,
    /// and one bit after each that says whether another follows.
    pub(super) fn bits(&self) -> f64 {
        let of_literal = |literal: &Literal| match literal {
            Literal::Is(_) => libm::log2(Class::ALL.len() as f64),
            Literal::Edge(_) => libm::log2(Direction::ALL.len() as f64),
            Literal::Step(_, inner) => libm::log2(Direction::ALL.len() as f64) + inner.bits(),
            Literal::AtLeast(_, _, inner) => {
                let n_kinds = Relation::ALL.len() * usize::from(MAX_COUNT);
                libm::log2(n_kinds as f64) + inner.bits()
            }
            Literal::No(_, inner) => libm::log2(Relation::ALL.len() as f64) + inner.bits(),
        };
        let kind = libm::log2(5.0);
        1.0 + self.0.iter().map(|literal| 1.0 + kind + of_literal(literal)).sum::<f64>()
    }

    /// Returns the number of statements about contents.
    pub(super) fn n_facts(&self) -> usize {
        let of_literal = |literal: &Literal| match literal {
            Literal::Is(_) => 1,
            Literal::Edge(_) => 0,
            Literal::Step(_, inner) | Literal::No(_, inner) => inner.n_facts(),
            Literal::AtLeast(n, _, inner) => usize::from(*n) * inner.n_facts(),
        };
        self.0.iter().map(of_literal).sum()
    }

    /// Returns the formula with one free variable. Names of variables end with their depth.
    fn formula(&self, depth: usize) -> Formula {
        let variable = |depth: usize| Variable::new(&format!("x{depth}"));
        let (here, next) = (variable(depth), variable(depth + 1));
        let related = |name: &str, inner: &Local| {
            let link = Formula::atom(name, [&here, &next]);
            Formula::And(vec![link, inner.formula(depth + 1)])
        };
        let of_literal = |literal: &Literal| match literal {
            Literal::Is(class) => Formula::atom(class.name(), [&here]),
            Literal::Edge(direction) => {
                let link = Formula::atom(relation_name(direction.name()).as_str(), [&here, &next]);
                Formula::not(Formula::exists([&next], link))
            }
            Literal::Step(direction, inner) => {
                Formula::exists([&next], related(&relation_name(direction.name()), inner))
            }
            Literal::AtLeast(1, relation, inner) => {
                Formula::exists([&next], related(&relation_name(relation.name()), inner))
            }
            Literal::AtLeast(n, relation, inner) => {
                let guard = related(&relation_name(relation.name()), inner);
                let count = Term::aggregate(Fold::Sum, vec![next.clone()], guard, Term::whole(1));
                Formula::compare(count, Sign::AtLeast, Term::whole(i64::from(*n)))
            }
            Literal::No(relation, inner) => Formula::not(Formula::exists(
                [&next],
                related(&relation_name(relation.name()), inner),
            )),
        };
        match &self.0[..] {
            [one] => of_literal(one),
            several => Formula::And(several.iter().map(of_literal).collect()),
        }
    }
}

/// Returns the name of a relation in formulas, where a name is one word.
pub(super) fn relation_name(name: &str) -> String {
    name.replace('-', "_")
}

fn collected(cells: impl Iterator<Item = usize>) -> Cells {
    let mut collected = Cells::default();
    cells.for_each(|cell| collected.insert(cell));
    collected
}

/// A concept: the number of cells of which a formula holds.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Concept(pub(super) Local);

/// A text is not a concept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConceptError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong, and where in the line.
    pub problem: String,
}

impl fmt::Display for ConceptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "line {}: {}; a concept looks like (own (step right (empty)) (2 neighbour (own)))",
            self.line, self.problem
        )
    }
}

impl std::error::Error for ConceptError {}

impl Concept {
    /// Returns the number of facts that it relates.
    pub fn n_facts(&self) -> usize {
        self.0.n_facts()
    }

    /// Returns the formula in first-order logic with counting, with the free variable `x0`.
    pub fn formula(&self) -> Formula {
        self.0.formula(0)
    }

    /// Describes the cells that are counted, in words.
    pub fn sentence(&self) -> String {
        super::words::sentence(&self.0)
    }

    /// Reads concepts, one in each line. Lines that begin with `;` are comments.
    ///
    /// # Errors
    /// [`ConceptError`] if a line is not a concept.
    pub fn read_all(text: &str) -> Result<Vec<Concept>, ConceptError> {
        let lines = (1..).zip(text.lines().map(str::trim));
        let lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with(';'));
        lines
            .map(|(line, text)| {
                let mut words = Words { left: text };
                let found = words.local(0).and_then(|local| match words.next() {
                    None => Ok(Concept(local)),
                    Some(word) => Err(format!("`{word}` after the end of the concept")),
                });
                found.map_err(|problem| ConceptError { line, problem })
            })
            .collect()
    }
}

impl fmt::Display for Concept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl fmt::Display for Local {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(")?;
        for (at, literal) in self.0.iter().enumerate() {
            if at > 0 {
                f.write_str(" ")?;
            }
            match literal {
                Literal::Is(class) => f.write_str(&class.name().to_ascii_lowercase())?,
                Literal::Edge(direction) => write!(f, "(edge {})", direction.name())?,
                Literal::Step(direction, inner) => {
                    write!(f, "(step {} {inner})", direction.name())?;
                }
                Literal::AtLeast(n, relation, inner) => {
                    write!(f, "({n} {} {inner})", relation.name())?;
                }
                Literal::No(relation, inner) => write!(f, "(no {} {inner})", relation.name())?,
            }
        }
        f.write_str(")")
    }
}

/// The words of a concept's text.
struct Words<'t> {
    left: &'t str,
}

/// Maximum depth of a formula that is read.
const MAX_DEPTH: usize = 16;

impl<'t> Words<'t> {
    fn next(&mut self) -> Option<&'t str> {
        self.left = self.left.trim_start();
        let first = self.left.chars().next()?;
        let length = match first {
            '(' | ')' => 1,
            _ => self
                .left
                .find(|c: char| c == '(' || c == ')' || c.is_whitespace())
                .unwrap_or(self.left.len()),
        };
        let (word, left) = self.left.split_at(length);
        self.left = left;
        Some(word)
    }

    fn expect(&mut self, wanted: &str) -> Result<(), String> {
        match self.next() {
            Some(word) if word == wanted => Ok(()),
            Some(word) => Err(format!("`{word}` in place of `{wanted}`")),
            None => Err(format!("`{wanted}` is missing at the end")),
        }
    }

    fn one_of<T: Copy>(
        &mut self,
        all: &[T],
        name: impl Fn(T) -> &'static str,
    ) -> Result<T, String> {
        let word = self.next().ok_or("a word is missing at the end")?;
        let found = all.iter().copied().find(|one| name(*one).eq_ignore_ascii_case(word));
        found.ok_or_else(|| {
            let names: Vec<&str> = all.iter().map(|one| name(*one)).collect();
            format!("`{word}` is not one of {}", names.join(", "))
        })
    }

    fn local(&mut self, depth: usize) -> Result<Local, String> {
        if depth > MAX_DEPTH {
            return Err(format!("it is more than {MAX_DEPTH} parentheses deep"));
        }
        self.expect("(")?;
        let mut literals = Vec::new();
        loop {
            let word = self.next().ok_or("`)` is missing at the end")?;
            if word == ")" {
                break;
            }
            if word != "(" {
                let mut one = Words { left: word };
                literals.push(Literal::Is(one.one_of(&Class::ALL, Class::name)?));
                continue;
            }
            let kind = self.next().ok_or("a word is missing at the end")?;
            literals.push(match kind {
                "edge" => Literal::Edge(self.one_of(&Direction::ALL, Direction::name)?),
                "step" => {
                    let direction = self.one_of(&Direction::ALL, Direction::name)?;
                    Literal::Step(direction, self.local(depth + 1)?)
                }
                "no" => {
                    let relation = self.one_of(&Relation::ALL, Relation::name)?;
                    Literal::No(relation, self.local(depth + 1)?)
                }
                number => {
                    let n = number.parse().ok().filter(|n| (1..=MAX_COUNT).contains(n));
                    let n = n.ok_or_else(|| {
                        format!(
                            "`{number}` is not edge, step, no, or a number from 1 to {MAX_COUNT}"
                        )
                    })?;
                    let relation = self.one_of(&Relation::ALL, Relation::name)?;
                    Literal::AtLeast(n, relation, self.local(depth + 1)?)
                }
            });
            self.expect(")")?;
        }
        if literals.is_empty() {
            return Err("nothing is said between the parentheses".to_owned());
        }
        literals.sort_unstable();
        literals.dedup();
        Ok(Local(literals))
    }
}
