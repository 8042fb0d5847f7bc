//! A game as it was written: names are text, and everything knows its place.
//!
//! Nothing here is checked but that it could be read. Both eras of the syntax come to the same tree, so printing it gives
//! the one canonical form.

use std::sync::Arc;

use agon_text::{Source, Span};

/// A name and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// As it was spelt.
    pub text: String,
    /// Where.
    pub span: Span,
}

/// A whole game.
#[derive(Clone, Debug)]
pub struct GameSheet {
    /// The text it was read from.
    pub source: Arc<Source>,
    /// The players in their order.
    pub players: Vec<Name>,
    /// Defined relations.
    pub relations: Vec<RelationDefinition>,
    /// Rewriting rules.
    pub rules: Vec<Rule>,
    /// Payoffs of locations that give none of their own.
    pub payoffs: Vec<Payoff>,
    /// The places of the game graph.
    pub locations: Vec<Location>,
    /// The structure that play starts from.
    pub model: Option<Structure>,
    /// The location that play starts in; the first one if it is not said.
    pub start: Option<Name>,
    /// Keys and values of no meaning to play.
    pub data: Vec<(Name, String)>,
}

/// `REL Name(x, y) = formula`.
#[derive(Clone, Debug)]
pub struct RelationDefinition {
    /// The relation that is defined.
    pub name: Name,
    /// Its variables.
    pub parameters: Vec<Name>,
    /// What it means.
    pub body: Formula,
    /// The whole of it.
    pub span: Span,
}

/// A rewriting rule.
#[derive(Clone, Debug)]
pub struct Rule {
    /// What it is called.
    pub name: Name,
    /// What it does.
    pub change: Change,
    /// The relations that are embedded exactly.
    pub embedded: Vec<Name>,
    /// What must hold before it is applied.
    pub pre: Option<Formula>,
    /// What must hold afterwards.
    pub post: Option<Formula>,
    /// Rules that must have been applied earlier in the play, or, if `false`, must not.
    pub history: Vec<(Name, bool)>,
    /// The whole of it.
    pub span: Span,
}

/// What a rule does: two ways to write it.
#[derive(Clone, Debug)]
pub enum Change {
    /// `L -> R`, by structures.
    Rewrite {
        /// What is looked for.
        left: Structure,
        /// What takes its place.
        right: Structure,
        /// Which element of the right side replaces which of the left; `None` if equal names correspond.
        map: Option<Vec<(Name, Name)>>,
    },
    /// `ELEMS .. MATCH .. RELS ..`, by a formula.
    Formula {
        /// The variables, in the order in which a move names them.
        elements: Vec<Name>,
        /// What must hold of them.
        condition: Formula,
        /// Tuples that hold afterwards, or, if `false`, no longer.
        effects: Vec<Effect>,
    },
}

/// A tuple that a rule by formula adds or deletes.
#[derive(Clone, Debug)]
pub struct Effect {
    /// Whether the tuple holds afterwards.
    pub holds: bool,
    /// The relation.
    pub relation: Name,
    /// Its elements; `_`, in deletions alone, is any element.
    pub arguments: Vec<Name>,
    /// The whole of it.
    pub span: Span,
}

/// A finite structure.
#[derive(Clone, Debug)]
pub struct Structure {
    /// Elements listed before the first bar.
    pub elements: Vec<Name>,
    /// Relations and their tuples.
    pub relations: Vec<RelationTuples>,
    /// Functions and their values.
    pub functions: Vec<FunctionValues>,
    /// Constants, each with the element that it names.
    pub constants: Vec<(Name, Name)>,
    /// Cells with elements, rows and columns.
    pub board: Option<Board>,
    /// The whole of it.
    pub span: Span,
}

/// Tuples of one relation in a structure.
#[derive(Clone, Debug)]
pub struct RelationTuples {
    /// The relation; `_opt_` has been taken off.
    pub name: Name,
    /// Whether it was marked `_opt_`: the tuples may be there or not.
    pub is_optional: bool,
    /// The arity, if it was said: `P:1 {}`.
    pub arity: Option<(usize, Span)>,
    /// The tuples.
    pub tuples: Vec<Tuple>,
}

/// Elements in a relation.
#[derive(Clone, Debug)]
pub struct Tuple {
    /// The elements.
    pub elements: Vec<Name>,
    /// The whole of it.
    pub span: Span,
}

/// Values of one function in a structure.
#[derive(Clone, Debug)]
pub struct FunctionValues {
    /// The function.
    pub name: Name,
    /// Element and value.
    pub values: Vec<(Name, Number)>,
}

/// A number as it was written, with a sign perhaps.
#[derive(Clone, Debug)]
pub struct Number {
    /// Digits, with a point perhaps.
    pub text: String,
    /// Where.
    pub span: Span,
}

/// A board: rows of cells. The first row is the one shown on top.
#[derive(Clone, Debug)]
pub struct Board {
    /// Rows of equal length.
    pub rows: Vec<Vec<Cell>>,
    /// From quotation mark to quotation mark.
    pub span: Span,
}

/// A cell of a board.
#[derive(Clone, Debug)]
pub enum Cell {
    /// There is no element here.
    Hole,
    /// An element with these predicates.
    Element(Vec<Name>),
}

/// A place of the game graph.
#[derive(Clone, Debug)]
pub struct Location {
    /// A number or a name.
    pub name: Name,
    /// What the players get if play ends here.
    pub payoffs: Vec<Payoff>,
    /// What the players may do here.
    pub moves: Vec<PlayerMoves>,
    /// The whole of it.
    pub span: Span,
}

/// What one player gets.
#[derive(Clone, Debug)]
pub struct Payoff {
    /// Who.
    pub player: Name,
    /// How much.
    pub value: Term,
}

/// What one player may do at a location.
#[derive(Clone, Debug)]
pub struct PlayerMoves {
    /// Who.
    pub player: Name,
    /// The edges out of the location.
    pub edges: Vec<Edge>,
}

/// `[Rule -> location]` or `[Rule -> location : probability]`.
#[derive(Clone, Debug)]
pub struct Edge {
    /// The rule that is applied.
    pub rule: Name,
    /// Where play goes on.
    pub target: Name,
    /// How likely, if nature decides.
    pub probability: Option<Term>,
    /// The whole of it.
    pub span: Span,
}

/// A formula and where it stands.
#[derive(Clone, Debug)]
pub struct Formula {
    /// What it is.
    pub kind: FormulaKind,
    /// Where.
    pub span: Span,
}

/// The kinds of formulas.
#[derive(Clone, Debug)]
pub enum FormulaKind {
    /// `true`.
    True,
    /// `false`.
    False,
    /// `R(x, y)`.
    Atom(Name, Vec<Name>),
    /// `x = y`.
    Same(Name, Name),
    /// `x != y`.
    Differ(Name, Name),
    /// `t < u`.
    Compare(Box<Term>, Comparison, Box<Term>),
    /// `not f`.
    Not(Box<Formula>),
    /// `f and g`, two or more.
    And(Vec<Formula>),
    /// `f or g`, two or more.
    Or(Vec<Formula>),
    /// `ex x, y f`.
    Exists(Vec<Name>, Box<Formula>),
    /// `all x, y f`.
    All(Vec<Name>, Box<Formula>),
    /// `lfp R(x) = f`, or `gfp`.
    Fixpoint {
        /// Least, not greatest.
        is_least: bool,
        /// The relation.
        relation: Name,
        /// Its variables; they are free in the whole unless it is asked of others.
        parameters: Vec<Name>,
        /// One step.
        body: Box<Formula>,
        /// What it is asked of, where that is said: `(lfp R(x) = f)(y)`.
        arguments: Option<Vec<Name>>,
    },
    /// `tc x, y f` and `tc 4 x, y f`: reflexive transitive closure.
    Closure {
        /// At most so many steps.
        bound: Option<(u32, Span)>,
        /// Where a path starts.
        from: Name,
        /// Where it ends.
        to: Name,
        /// One step.
        body: Box<Formula>,
        /// What it is asked of, where that is said: `(tc x, y f)(u, v)`.
        arguments: Option<Vec<Name>>,
    },
    /// `let R(x) = f in g`.
    Let {
        /// The relation.
        relation: Name,
        /// Its variables.
        parameters: Vec<Name>,
        /// What it means.
        definition: Box<Formula>,
        /// Where it means that.
        body: Box<Formula>,
    },
}

/// How two numbers are compared.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// `<`.
    Less,
    /// `<=`.
    AtMost,
    /// `=`.
    Equal,
    /// `!=`.
    Unequal,
    /// `>=`.
    AtLeast,
    /// `>`.
    Greater,
}

/// A term that stands for a number, and where it stands.
#[derive(Clone, Debug)]
pub struct Term {
    /// What it is.
    pub kind: TermKind,
    /// Where.
    pub span: Span,
}

/// The kinds of terms.
#[derive(Clone, Debug)]
pub enum TermKind {
    /// `3`, `0.25`.
    Number(Number),
    /// `:f(x)`.
    Value(Name, Name),
    /// `:a`, bound by a `let`.
    Variable(Name),
    /// `&x`: the number of an element.
    Index(Name),
    /// `:(f)`: 1 or 0.
    Indicator(Box<Formula>),
    /// `-t`.
    Negative(Box<Term>),
    /// `t + u - v`.
    Sum(Box<Term>, Vec<(SumSign, Term)>),
    /// `t * u / v`.
    Product(Box<Term>, Vec<(ProductSign, Term)>),
    /// `t ^ u`.
    Power(Box<Term>, Box<Term>),
    /// `Sum (x, y | f : t)` and the like.
    Aggregate {
        /// Which.
        aggregate: Aggregate,
        /// The variables that run.
        variables: Vec<Name>,
        /// Through what.
        guard: Box<Formula>,
        /// The value at each.
        value: Box<Term>,
    },
    /// `let :a = t in u`.
    Let(Name, Box<Term>, Box<Term>),
}

/// `+` or `-`.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum SumSign {
    /// `+`.
    Plus,
    /// `-`.
    Minus,
}

/// `*` or `/`.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum ProductSign {
    /// `*`.
    Times,
    /// `/`.
    Over,
}

/// What is made of many values.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Aggregate {
    /// Their sum; 0 of none.
    Sum,
    /// Their product; 1 of none.
    Prod,
    /// The least; no value if there is none.
    Min,
    /// The greatest; no value if there is none.
    Max,
}
