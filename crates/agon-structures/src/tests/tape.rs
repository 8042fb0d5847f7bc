//! Random structures, formulas and terms, decoded from a tape of random bytes, so that shrinking
//! the tape shrinks them.

use std::sync::Arc;

use crate::formula::{
    Argument, Closure, Definitions, Extreme, Fix, Fold, Formula, Operator, Sign, Term, Variable,
};
use crate::rational::Rational;
use crate::structure::{Element, Structure, Vocabulary};

pub(crate) struct Tape {
    bytes: Vec<u8>,
    at: usize,
}

/// The constructs that may be used at a place in a formula.
#[derive(Clone)]
pub(crate) struct Use {
    variables: Vec<Variable>,
    reals: Vec<Variable>,
    relations: Vec<(String, usize)>,
    constants: bool,
    /// The set variables in scope, and whether set quantifiers are allowed.
    sets: Vec<Variable>,
    monadic: bool,
    /// Whether fixed points, closures, `let`s and terms are allowed, besides first-order logic.
    rich: bool,
    /// Maximum nesting of terms and formulas.
    depth: u32,
}

impl Use {
    pub(crate) fn everything(depth: u32) -> Use {
        let relations =
            [("N", 0), ("P", 1), ("Q", 1), ("R", 2), ("T", 3), ("D", 2), ("E", 1), ("F", 3)];
        Use {
            variables: free_variables(),
            reals: Vec::new(),
            relations: relations.map(|(name, arity)| (name.to_string(), arity)).to_vec(),
            constants: true,
            sets: Vec::new(),
            monadic: false,
            rich: true,
            depth,
        }
    }

    pub(crate) fn first_order(depth: u32) -> Use {
        let relations = [("N", 0), ("P", 1), ("Q", 1), ("R", 2)];
        Use {
            relations: relations.map(|(name, arity)| (name.to_string(), arity)).to_vec(),
            constants: false,
            rich: false,
            ..Use::everything(depth)
        }
    }

    /// Everything, and quantifiers over sets.
    pub(crate) fn monadic(depth: u32) -> Use {
        Use { monadic: true, ..Use::everything(depth) }
    }

    fn deeper(&self) -> Use {
        Use { depth: self.depth - 1, ..self.clone() }
    }

    fn binding(&self, variables: &[Variable]) -> Use {
        let mut inner = self.deeper();
        for variable in variables {
            if !inner.variables.contains(variable) {
                inner.variables.push(variable.clone());
            }
        }
        inner
    }
}

/// Returns the free variables of all random formulas.
pub(crate) fn free_variables() -> Vec<Variable> {
    ["x", "y"].map(Variable::new).to_vec()
}

pub(crate) fn vocabulary() -> Arc<Vocabulary> {
    let mut vocabulary = Vocabulary::new();
    for (name, arity) in [("N", 0), ("P", 1), ("Q", 1), ("R", 2), ("T", 3)] {
        vocabulary.add_relation(name, arity).unwrap();
    }
    vocabulary.add_function("f");
    vocabulary.add_constant("c");
    vocabulary.add_constant("d");
    Arc::new(vocabulary)
}

/// Returns a definition that can be computed by itself, one that uses it, and one with too many
/// tuples.
pub(crate) fn definitions() -> Definitions {
    let [x, y, z] = ["x", "y", "z"].map(Variable::new);
    let mut definitions = Definitions::new();
    let path = Formula::And(vec![Formula::atom("R", [&x, &z]), Formula::atom("R", [&z, &y])]);
    definitions.add("D", vec![x.clone(), y.clone()], Formula::exists([&z], path)).unwrap();
    let odd =
        Formula::And(vec![Formula::atom("D", [&x, &x]), Formula::not(Formula::atom("P", [&x]))]);
    definitions.add("E", vec![x.clone()], odd).unwrap();
    let apart = Formula::Or(vec![
        Formula::not(Formula::atom("D", [&x, &y])),
        Formula::exists([&x], Formula::atom("T", [&x, &y, &z])),
    ]);
    definitions.add("F", vec![x, y, z], apart).unwrap();
    definitions
}

impl Tape {
    pub(crate) fn new(bytes: Vec<u8>) -> Tape {
        Tape { bytes, at: 0 }
    }

    /// Reads a number below the bound; 0 at the end of the tape.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        let byte = self.bytes.get(self.at).copied().unwrap_or(0);
        self.at += 1;
        usize::from(byte) % bound.max(1)
    }

    pub(crate) fn structure(&mut self, max_elements: usize) -> Structure {
        let vocabulary = vocabulary();
        let mut structure = Structure::new(vocabulary.clone());
        let n_elements = self.below(max_elements + 1);
        for _ in 0..n_elements + 1 {
            structure.create(None).unwrap();
        }
        // Leave a gap among the ids.
        structure.delete(Element::new(self.below(n_elements + 1) as u32)).unwrap();
        let elements: Vec<Element> = structure.elements().collect();
        for relation in vocabulary.relations() {
            let arity = vocabulary.arity(relation);
            if elements.is_empty() && arity > 0 {
                continue;
            }
            for _ in 0..self.below(2 + 4 * arity) {
                let tuple: Vec<Element> =
                    (0..arity).map(|_| elements[self.below(elements.len())]).collect();
                structure.add(relation, &tuple).unwrap();
            }
        }
        let function = vocabulary.function("f").unwrap();
        for &element in &elements {
            let value = [None, Some(0), Some(1), Some(-2)][self.below(4)].map(Rational::whole);
            structure.set_value(function, element, value).unwrap();
        }
        if let Some(&element) = elements.first() {
            structure.set_constant(vocabulary.constant("c").unwrap(), Some(element)).unwrap();
        }
        structure
    }

    fn variable(&mut self, scope: &Use) -> Variable {
        scope.variables[self.below(scope.variables.len())].clone()
    }

    fn argument(&mut self, scope: &Use) -> Argument {
        match if scope.constants { self.below(12) } else { 0 } {
            10 => Argument::Constant("c".into()),
            11 => Argument::Constant("d".into()),
            _ => Argument::Variable(self.variable(scope)),
        }
    }

    fn bound(&mut self, at_most: usize) -> Vec<Variable> {
        let names = ["x", "y", "z", "u"];
        let n_variables = 1 + self.below(at_most);
        let start = self.below(4);
        (start..start + n_variables).map(|place| Variable::new(names[place % 4])).collect()
    }

    fn atom(&mut self, scope: &Use) -> Formula {
        if !scope.sets.is_empty() && self.below(2) == 0 {
            let set = &scope.sets[self.below(scope.sets.len())];
            return Formula::Member(self.argument(scope), set.clone());
        }
        let place = self.below(scope.relations.len() + 1);
        if place == scope.relations.len() {
            return Formula::Equal(self.argument(scope), self.argument(scope));
        }
        // The latest first, so that a relation that was just bound is used.
        let (name, arity) = scope.relations[scope.relations.len() - 1 - place].clone();
        let arguments: Vec<Argument> = (0..arity).map(|_| self.argument(scope)).collect();
        Formula::atom(&name, arguments)
    }

    pub(crate) fn formula(&mut self, scope: &Use) -> Formula {
        if scope.depth == 0 {
            return self.atom(scope);
        }
        let parts = |tape: &mut Tape| {
            let n_parts = [2, 2, 3, 1, 0][tape.below(5)];
            (0..n_parts).map(|_| tape.formula(&scope.deeper())).collect()
        };
        if scope.monadic && self.below(3) == 0 {
            return self.set_quantifier(scope);
        }
        match self.below(if scope.rich { 14 } else { 8 }) {
            0 | 1 => self.atom(scope),
            2 => Formula::not(self.formula(&scope.deeper())),
            3 => Formula::And(parts(self)),
            4 => Formula::Or(parts(self)),
            5 | 6 => {
                let variables = self.bound(2);
                Formula::exists(&variables, self.formula(&scope.binding(&variables)))
            }
            7 => {
                let variables = self.bound(2);
                Formula::all(&variables, self.formula(&scope.binding(&variables)))
            }
            8 | 9 => {
                let variables = self.bound(2);
                let name = ["S", "R"][self.below(2)];
                let arguments = variables.iter().map(|_| self.argument(scope)).collect();
                let mut inner = scope.binding(&variables);
                inner.relations.retain(|relation| relation.0 != name);
                inner.relations.push((name.to_string(), variables.len()));
                let extreme = [Extreme::Least, Extreme::Greatest][self.below(2)];
                let body = self.formula(&inner);
                Formula::Fix(Box::new(Fix {
                    extreme,
                    relation: name.into(),
                    variables,
                    body,
                    arguments,
                }))
            }
            10 => {
                let from = self.bound(1).remove(0);
                let to = self.bound(1).remove(0);
                let to = if from == to { Variable::new("v") } else { to };
                let arguments = [self.argument(scope), self.argument(scope)];
                let bound = [None, None, Some(0), Some(1)][self.below(4)];
                let body = self.formula(&scope.binding(&[from.clone(), to.clone()]));
                Formula::Closure(Box::new(Closure { bound, from, to, body, arguments }))
            }
            11 => {
                let variables = self.bound(2);
                let name = ["L", "P"][self.below(2)];
                let definition = self.formula(&scope.binding(&variables));
                let mut inner = scope.deeper();
                inner.relations.retain(|relation| relation.0 != name);
                inner.relations.push((name.to_string(), variables.len()));
                Formula::with(name, variables, definition, self.formula(&inner))
            }
            _ => {
                let signs = [
                    Sign::Less,
                    Sign::Equal,
                    Sign::Unequal,
                    Sign::AtMost,
                    Sign::Greater,
                    Sign::AtLeast,
                ];
                let sign = signs[self.below(6)];
                Formula::compare(self.term(&scope.deeper()), sign, self.term(&scope.deeper()))
            }
        }
    }

    /// Reads a quantifier over one or two sets and perhaps an element.
    fn set_quantifier(&mut self, scope: &Use) -> Formula {
        let mut variables: Vec<Variable> = [["X"].as_slice(), &["Y"], &["X", "Y"]][self.below(3)]
            .iter()
            .map(|name| Variable::new(name))
            .collect();
        let mut inner = scope.deeper();
        for set in &variables {
            inner.sets.retain(|other| other != set);
            inner.sets.push(set.clone());
        }
        if self.below(4) == 0 {
            let element = self.bound(1).remove(0);
            inner.variables.retain(|other| other != &element);
            inner.variables.push(element.clone());
            variables.insert(0, element);
        }
        let is_exists = self.below(2) == 0;
        let body = self.formula(&inner);
        if is_exists { Formula::exists(&variables, body) } else { Formula::all(&variables, body) }
    }

    pub(crate) fn term(&mut self, scope: &Use) -> Term {
        let leaf = |tape: &mut Tape| match tape.below(4) {
            0 => Term::whole(tape.below(4) as i64 - 1),
            1 => Term::ElementNumber(tape.argument(scope)),
            2 => Term::Function("f".into(), tape.argument(scope)),
            _ => match scope.reals.last() {
                Some(real) => Term::Variable(real.clone()),
                None => Term::Number(Rational::fraction(1, 3).unwrap()),
            },
        };
        if scope.depth == 0 {
            return leaf(self);
        }
        match self.below(8) {
            0 | 1 => leaf(self),
            2 => Term::characteristic(self.formula(&scope.deeper())),
            3 | 4 => {
                let operators = [
                    Operator::Plus,
                    Operator::Minus,
                    Operator::Times,
                    Operator::Divide,
                    Operator::Power,
                ];
                let operator = operators[self.below(5)];
                Term::Binary(
                    operator,
                    Box::new(self.term(&scope.deeper())),
                    Box::new(self.term(&scope.deeper())),
                )
            }
            5 | 6 => {
                let fold = [Fold::Sum, Fold::Min, Fold::Max, Fold::Product][self.below(4)];
                let variables = self.bound(2);
                let inner = scope.binding(&variables);
                let guard = self.formula(&inner);
                Term::aggregate(fold, variables, guard, self.term(&inner))
            }
            _ => {
                let variable = Variable::new([":a", ":b"][self.below(2)]);
                let value = self.term(&scope.deeper());
                let mut inner = scope.deeper();
                inner.reals.retain(|real| real != &variable);
                inner.reals.push(variable.clone());
                Term::Let(variable, Box::new(value), Box::new(self.term(&inner)))
            }
        }
    }
}
