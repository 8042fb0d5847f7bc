//! Rules in normal form.
//!
//! Each body is a list of conditions: an atom that holds, an atom that fails, or two terms that
//! differ. The checks reason about this form, and the interpreter evaluates it.

use agon_datalog::Symbol;
use agon_text::Span;

/// A fact or a rule in normal form. A clause with `or` becomes several rules.
#[derive(Clone, Debug)]
pub struct Rule {
    /// The atom that the rule derives.
    pub head: RuleAtom,
    /// The conditions; empty for facts.
    pub body: Vec<Condition>,
    /// Number of variables. They are `0..n_variables`, numbered as in the clause.
    pub n_variables: u32,
    /// The clause it comes from, as an index into `Rulesheet::clauses`.
    pub clause: usize,
}

/// A relation applied to terms, with its place in the text.
#[derive(Clone, Debug)]
pub struct RuleAtom {
    /// The relation.
    pub relation: Symbol,
    /// The arguments of the relation.
    pub arguments: Vec<RuleTerm>,
    /// The place in the text.
    pub span: Span,
}

/// A term. A constant is a function without arguments.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RuleTerm {
    /// A variable of the rule.
    Variable(u32),
    /// A constant or a function term.
    Function(Symbol, Vec<RuleTerm>),
}

/// One condition of a body.
#[derive(Clone, Debug)]
pub enum Condition {
    /// The atom holds.
    Holds(RuleAtom),
    /// The atom does not hold.
    Fails(RuleAtom),
    /// The terms are not the same.
    Differ(RuleTerm, RuleTerm, Span),
}

impl RuleTerm {
    /// Creates a constant.
    pub fn constant(symbol: Symbol) -> RuleTerm {
        RuleTerm::Function(symbol, Vec::new())
    }

    /// Returns the symbol of a constant; `None` for other terms.
    pub fn as_constant(&self) -> Option<Symbol> {
        match self {
            RuleTerm::Function(symbol, arguments) if arguments.is_empty() => Some(*symbol),
            RuleTerm::Function(..) | RuleTerm::Variable(_) => None,
        }
    }

    /// Calls `visit` on each variable from left to right.
    pub fn each_variable(&self, visit: &mut dyn FnMut(u32)) {
        match self {
            RuleTerm::Variable(v) => visit(*v),
            RuleTerm::Function(_, arguments) => {
                arguments.iter().for_each(|a| a.each_variable(visit));
            }
        }
    }

    /// Returns whether `variable` occurs in the term.
    pub fn mentions(&self, variable: u32) -> bool {
        let mut found = false;
        self.each_variable(&mut |v| found |= v == variable);
        found
    }

    /// Returns the term with `variable` replaced by another term.
    #[must_use]
    pub fn replace(&self, variable: u32, by: &RuleTerm) -> RuleTerm {
        match self {
            RuleTerm::Variable(v) if *v == variable => by.clone(),
            RuleTerm::Variable(v) => RuleTerm::Variable(*v),
            RuleTerm::Function(symbol, arguments) => RuleTerm::Function(
                *symbol,
                arguments.iter().map(|a| a.replace(variable, by)).collect(),
            ),
        }
    }
}

impl RuleAtom {
    /// Calls `visit` on each variable from left to right.
    pub fn each_variable(&self, visit: &mut dyn FnMut(u32)) {
        self.arguments.iter().for_each(|a| a.each_variable(visit));
    }

    /// Returns whether no variable occurs in the atom.
    pub fn is_ground(&self) -> bool {
        let mut ground = true;
        self.each_variable(&mut |_| ground = false);
        ground
    }

    fn replace(&mut self, variable: u32, by: &RuleTerm) {
        for argument in &mut self.arguments {
            *argument = argument.replace(variable, by);
        }
    }
}

impl Condition {
    /// Calls `visit` on each variable from left to right.
    pub fn each_variable(&self, visit: &mut dyn FnMut(u32)) {
        match self {
            Condition::Holds(atom) | Condition::Fails(atom) => atom.each_variable(visit),
            Condition::Differ(a, b, _) => {
                a.each_variable(visit);
                b.each_variable(visit);
            }
        }
    }

    /// Returns the atom of the condition; `None` for comparisons.
    pub fn atom(&self) -> Option<&RuleAtom> {
        match self {
            Condition::Holds(atom) | Condition::Fails(atom) => Some(atom),
            Condition::Differ(..) => None,
        }
    }

    /// Returns the place in the text.
    pub fn span(&self) -> Span {
        match self {
            Condition::Holds(atom) | Condition::Fails(atom) => atom.span,
            Condition::Differ(_, _, span) => *span,
        }
    }
}

impl Rule {
    /// Replaces `variable` throughout the rule.
    pub(crate) fn replace(&mut self, variable: u32, by: &RuleTerm) {
        self.head.replace(variable, by);
        for condition in &mut self.body {
            match condition {
                Condition::Holds(atom) | Condition::Fails(atom) => atom.replace(variable, by),
                Condition::Differ(a, b, _) => {
                    *a = a.replace(variable, by);
                    *b = b.replace(variable, by);
                }
            }
        }
    }

    /// Returns for each variable whether some positive condition binds it.
    pub fn bound_variables(&self) -> Vec<bool> {
        let mut bound = vec![false; self.n_variables as usize];
        for condition in &self.body {
            if let Condition::Holds(atom) = condition {
                atom.each_variable(&mut |v| bound[v as usize] = true);
            }
        }
        bound
    }
}
