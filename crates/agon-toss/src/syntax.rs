//! The syntax tree of a game. Names are texts, and every part has its place in the source.
//!
//! Nothing here is checked beyond that it could be read. Both eras of the syntax give the same
//! tree, so printing it gives one canonical form.

use std::sync::Arc;

use agon_text::{Source, Span};

/// A name with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// The name as it is spelt.
    pub text: String,
    /// The place in the text.
    pub span: Span,
}

/// A whole game.
#[derive(Clone, Debug)]
pub struct GameSheet {
    /// The text that the game was read from.
    pub source: Arc<Source>,
    /// The players in order.
    pub players: Vec<Name>,
    /// Defined relations.
    pub relations: Vec<RelationDefinition>,
    /// Rewriting rules.
    pub rules: Vec<Rule>,
    /// Payoffs of locations that have none of their own.
    pub payoffs: Vec<Payoff>,
    /// The locations of the game graph.
    pub locations: Vec<Location>,
    /// The structure in which play starts.
    pub model: Option<Structure>,
    /// The location in which play starts; the first one if absent.
    pub start: Option<Name>,
    /// Keys and values without meaning for play.
    pub data: Vec<(Name, String)>,
    /// The places of all sections, readable or not, in order.
    pub sections: Vec<Span>,
    /// Every name that was read, in order, also in sections with mistakes. Editors find names here
    /// while a section is being written.
    pub mentions: Vec<Mention>,
}

/// A name where it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mention {
    /// The name.
    pub name: Name,
    /// What it stands for.
    pub kind: NameKind,
    /// Whether it is introduced here.
    pub is_definition: bool,
    /// The section, as an index into [`GameSheet::sections`].
    pub section: usize,
}

/// What a name stands for where it is written.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NameKind {
    /// A player.
    Player,
    /// A relation, defined or of the start.
    Relation,
    /// A rewriting rule.
    Rule,
    /// A location of the game graph.
    Location,
    /// A function from elements to numbers.
    Function,
    /// A function of numbers, or a distribution.
    BuiltIn,
    /// An element or a variable of elements or sets.
    Variable,
    /// A variable of numbers.
    Number,
    /// A label of an edge, or the rule whose name it is.
    Label,
    /// A parameter of a rule, or the random end of its interval.
    Parameter,
    /// A constant.
    Constant,
    /// A key of `DATA`.
    Key,
}

/// `REL Name(x, y) = formula`.
#[derive(Clone, Debug)]
pub struct RelationDefinition {
    /// The name of the defined relation.
    pub name: Name,
    /// The variables.
    pub parameters: Vec<Name>,
    /// The formula that defines it.
    pub body: Formula,
    /// The place of the whole definition.
    pub span: Span,
}

/// A rewriting rule.
#[derive(Clone, Debug)]
pub struct Rule {
    /// The name of the rule.
    pub name: Name,
    /// The change that the rule makes.
    pub change: Change,
    /// The relations that are embedded exactly.
    pub embedded: Vec<Name>,
    /// The precondition.
    pub pre: Option<Formula>,
    /// The post-condition.
    pub post: Option<Formula>,
    /// The invariant, which must hold while time passes.
    pub inv: Option<Formula>,
    /// The differential equations of the functions while time passes.
    pub dynamics: Vec<Equation>,
    /// The new values of functions when the rule is applied.
    pub updates: Vec<Equation>,
    /// Rules that must have been applied earlier in the play or, if `false`, must not have been.
    pub history: Vec<(Name, bool)>,
    /// The place of the whole rule.
    pub span: Span,
}

/// The change that a rule makes. There are two ways to write it.
#[derive(Clone, Debug)]
pub enum Change {
    /// `L -> R`, by two structures.
    Rewrite {
        /// The structure to embed.
        left: Structure,
        /// The structure that replaces it.
        right: Structure,
        /// Pairs of an element of the right side and the element of the left side that it replaces;
        /// `None` if equal names correspond.
        map: Option<Vec<(Name, Name)>>,
    },
    /// `ELEMS .. MATCH .. RELS ..`, by a formula.
    Formula {
        /// The variables, in the order in which a move names them.
        elements: Vec<Name>,
        /// The condition on the variables.
        condition: Formula,
        /// The tuples to add and to delete.
        effects: Vec<Effect>,
    },
}

/// `:f(a)' = term`, an equation for a function at an element of a rule: a differential equation, or
/// the new value.
#[derive(Clone, Debug)]
pub struct Equation {
    /// The function, without the derivative's strokes.
    pub function: Name,
    /// The order of the derivative on the left: 0 in updates of values.
    pub order: u32,
    /// The element.
    pub element: Name,
    /// The right side of the equation.
    pub term: Term,
    /// The place of the whole equation.
    pub span: Span,
}

/// A tuple that a rule by formula adds or deletes.
#[derive(Clone, Debug)]
pub struct Effect {
    /// Whether the tuple is added; otherwise it is deleted.
    pub holds: bool,
    /// The relation.
    pub relation: Name,
    /// The arguments. `_`, in deletions only, denotes any element.
    pub arguments: Vec<Name>,
    /// The place of the whole effect.
    pub span: Span,
}

/// A finite structure.
#[derive(Clone, Debug)]
pub struct Structure {
    /// The elements listed before the first bar.
    pub elements: Vec<Name>,
    /// The relations with their tuples.
    pub relations: Vec<RelationTuples>,
    /// The functions with their values.
    pub functions: Vec<FunctionValues>,
    /// The constants, each with the element that it names.
    pub constants: Vec<(Name, Name)>,
    /// The board, if there is one.
    pub board: Option<Board>,
    /// The place of the whole structure.
    pub span: Span,
}

/// The tuples of one relation in a structure.
#[derive(Clone, Debug)]
pub struct RelationTuples {
    /// The relation, without the prefix `_opt_`.
    pub name: Name,
    /// Whether it was marked `_opt_`: the tuples may be present or not.
    pub is_optional: bool,
    /// The arity, if it was written: `P:1 {}`.
    pub arity: Option<(usize, Span)>,
    /// The tuples.
    pub tuples: Vec<Tuple>,
}

/// A tuple of elements.
#[derive(Clone, Debug)]
pub struct Tuple {
    /// The elements.
    pub elements: Vec<Name>,
    /// The place of the whole tuple.
    pub span: Span,
}

/// The values of one function in a structure.
#[derive(Clone, Debug)]
pub struct FunctionValues {
    /// The function.
    pub name: Name,
    /// The order of the derivative whose values these are; 0 for the function itself.
    pub order: u32,
    /// Pairs of element and value.
    pub values: Vec<(Name, Number)>,
}

/// A number as it was written, possibly with a sign.
#[derive(Clone, Debug)]
pub struct Number {
    /// The digits, possibly with a sign, a decimal point, or as a fraction `1/3`.
    pub text: String,
    /// The place in the text.
    pub span: Span,
}

/// A board: rows of cells. The first row is the top row.
#[derive(Clone, Debug)]
pub struct Board {
    /// The rows, all of the same length.
    pub rows: Vec<Vec<Cell>>,
    /// The place in the text, quotation marks included.
    pub span: Span,
}

/// A cell of a board.
#[derive(Clone, Debug)]
pub enum Cell {
    /// A cell without an element.
    Hole,
    /// A cell with an element that has these predicates.
    Element(Vec<Name>),
}

/// A location of the game graph.
#[derive(Clone, Debug)]
pub struct Location {
    /// The number or name of the location.
    pub name: Name,
    /// The payoffs if play ends here.
    pub payoffs: Vec<Payoff>,
    /// The moves of the players.
    pub moves: Vec<PlayerMoves>,
    /// The edges for tuples of moves, where several players act at once.
    pub joint: Vec<JointEdge>,
    /// The place of the whole location.
    pub span: Span,
}

/// The payoff of one player.
#[derive(Clone, Debug)]
pub struct Payoff {
    /// The player.
    pub player: Name,
    /// The term that computes the payoff.
    pub value: Term,
}

/// The moves of one player at a location.
#[derive(Clone, Debug)]
pub struct PlayerMoves {
    /// The player.
    pub player: Name,
    /// The edges out of the location.
    pub edges: Vec<Edge>,
}

/// `[Rule -> location]`, `[Rule -> location : probability]` or, in general,
/// `[Rule * as label, t: 0 -- 1, p: -1 -- x, x ~ N(0, 1) -> location : probability]`.
#[derive(Clone, Debug)]
pub struct Edge {
    /// The rule that is applied.
    pub rule: Name,
    /// The name of the move in the edges for tuples, if it is not that of the rule.
    pub label: Option<Name>,
    /// How many embeddings the rule is applied to.
    pub multiplicity: Multiplicity,
    /// The intervals of the duration `t` and of the rule's parameters.
    pub intervals: Vec<Interval>,
    /// The distributions of the interval ends that are random.
    pub draws: Vec<Draw>,
    /// The location where play continues, unless the location has edges for tuples.
    pub target: Option<Name>,
    /// The probability, if nature chooses.
    pub probability: Option<Term>,
    /// The place of the whole edge.
    pub span: Span,
}

/// The number of embeddings that a rule is applied to in one move.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Multiplicity {
    /// One embedding, which the player chooses.
    One,
    /// `*`: any set of embeddings without common elements, which the player chooses.
    Some,
    /// `inf`: all embeddings.
    All,
}

/// `p: lo -- hi`, the interval of a parameter.
#[derive(Clone, Debug)]
pub struct Interval {
    /// The parameter; `t` is the duration.
    pub parameter: Name,
    /// The lower end.
    pub low: Term,
    /// The upper end.
    pub high: Term,
}

/// `x ~ N(mu, sigma)`, the distribution of a random interval end.
#[derive(Clone, Debug)]
pub struct Draw {
    /// The name that intervals use.
    pub name: Name,
    /// The distribution: `N` with mean and deviation, `U` with both ends, `E` with its rate.
    pub distribution: Name,
    /// The arguments of the distribution.
    pub arguments: Vec<Term>,
    /// The place of the whole draw.
    pub span: Span,
}

/// `[A, B, x ~ E(2) -> location : probability]`, an edge for a tuple of moves.
#[derive(Clone, Debug)]
pub struct JointEdge {
    /// The labels or rules of the acting players in order; `_` stands for any.
    pub labels: Vec<Name>,
    /// The random numbers that intervals of these moves use.
    pub draws: Vec<Draw>,
    /// The location where play continues.
    pub target: Name,
    /// The probability, if nature chooses between several edges for the same tuple.
    pub probability: Option<Term>,
    /// The place of the whole edge.
    pub span: Span,
}

/// A formula with its place.
#[derive(Clone, Debug)]
pub struct Formula {
    /// The kind of formula, with its parts.
    pub kind: FormulaKind,
    /// The place in the text.
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
    /// `x in X`.
    Member(Name, Name),
    /// `t < u`.
    Compare(Box<Term>, Comparison, Box<Term>),
    /// `not f`.
    Not(Box<Formula>),
    /// `f and g`, two or more.
    And(Vec<Formula>),
    /// `f or g`, two or more.
    Or(Vec<Formula>),
    /// `ex x, y f`. Names that begin with `:` are numbers, with a capital letter sets.
    Exists(Vec<Name>, Box<Formula>),
    /// `all x, y f`.
    All(Vec<Name>, Box<Formula>),
    /// `lfp R(x) = f`, or `gfp`.
    Fixpoint {
        /// Whether it is the least fixed point; otherwise the greatest.
        is_least: bool,
        /// The relation.
        relation: Name,
        /// The variables. They are free in the whole formula unless `arguments` are given.
        parameters: Vec<Name>,
        /// The formula of one step.
        body: Box<Formula>,
        /// The arguments, if they are written: `(lfp R(x) = f)(y)`.
        arguments: Option<Vec<Name>>,
    },
    /// `tc x, y f` and `tc 4 x, y f`: reflexive transitive closure.
    Closure {
        /// Maximum number of steps is 2 to the power of this number.
        bound: Option<(u32, Span)>,
        /// The variable for the start of a path.
        from: Name,
        /// The variable for its end.
        to: Name,
        /// The formula of one step.
        body: Box<Formula>,
        /// The arguments, if they are written: `(tc x, y f)(u, v)`.
        arguments: Option<Vec<Name>>,
    },
    /// `let R(x) = f in g`.
    Let {
        /// The relation.
        relation: Name,
        /// The variables.
        parameters: Vec<Name>,
        /// The formula that defines the relation.
        definition: Box<Formula>,
        /// The formula in which the relation is visible.
        body: Box<Formula>,
    },
}

/// A comparison of two numbers.
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

/// A term, which denotes a number, with its place.
#[derive(Clone, Debug)]
pub struct Term {
    /// The kind of term, with its parts.
    pub kind: TermKind,
    /// The place in the text.
    pub span: Span,
}

/// The kinds of terms.
#[derive(Clone, Debug)]
pub enum TermKind {
    /// `3`, `0.25`.
    Number(Number),
    /// `:f(x)`, or `:f'(x)` with the order of the derivative.
    Value(Name, u32, Name),
    /// `sqrt(t)`, `min(s, t)`.
    Apply(Name, Vec<Term>),
    /// `min :a (f)`: the least number that satisfies the formula.
    Least(Name, Box<Formula>),
    /// `:a`, bound by a `let` or a quantifier, or a parameter of a rule.
    Variable(Name),
    /// `&x`: the number of an element.
    Index(Name),
    /// `:(f)`: 1 if the formula holds, otherwise 0.
    Indicator(Box<Formula>),
    /// `-t`.
    Negative(Box<Term>),
    /// `t + u - v`.
    Sum(Box<Term>, Vec<(SumSign, Term)>),
    /// `t * u / v`.
    Product(Box<Term>, Vec<(ProductSign, Term)>),
    /// `t ^ u`.
    Power(Box<Term>, Box<Term>),
    /// `Sum (x, y | f : t)`, and likewise for other aggregates.
    Aggregate {
        /// The kind of aggregate.
        aggregate: Aggregate,
        /// The bound variables.
        variables: Vec<Name>,
        /// The formula that restricts the variables.
        guard: Box<Formula>,
        /// The term for the value of each assignment.
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

/// A way to combine many values.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Aggregate {
    /// Their sum; 0 if there are none.
    Sum,
    /// Their product; 1 if there are none.
    Prod,
    /// The least; undefined if there are none.
    Min,
    /// The greatest; undefined if there are none.
    Max,
}
