//! Resolves formulas and terms of the syntax tree into those of `agon_structures`.

use agon_structures::formula as logic;
use agon_structures::formula::{Argument, Extreme, Fold, Operator, RealFunction, Sign, Variable};
use agon_structures::rational::Rational;
use agon_text::{Diagnostic, Diagnostics, Span};

use super::signature::{Signature, derivative_name};
use super::suggest::did_you_mean;
use crate::syntax::{
    Aggregate, Comparison, Formula, FormulaKind, Name, Number, ProductSign, SumSign, Term, TermKind,
};

/// The meaning of names at a place in a formula.
pub(super) struct Scope<'a> {
    signature: &'a Signature,
    variables: Vec<String>,
    reals: Vec<String>,
    locals: Vec<Local>,
    /// Whether the place is under an odd number of negations.
    is_negated: bool,
    /// The number of enclosing terms.
    n_terms: usize,
    /// A description of the free variables for hints: "the elements of the left side".
    free: &'static str,
    /// Whether the term is an end of an interval.
    is_interval: bool,
}

/// A relation bound by `let`, `lfp` or `gfp`.
struct Local {
    name: String,
    arity: usize,
    /// For fixed points: `is_negated` and `n_terms` at the binder. Uses must have the same values.
    fixpoint: Option<(bool, usize)>,
}

impl Local {
    fn new(relation: &Name, parameters: &[Name], fixpoint: Option<(bool, usize)>) -> Local {
        Local { name: relation.text.clone(), arity: parameters.len(), fixpoint }
    }
}

impl<'a> Scope<'a> {
    /// Creates a scope with these variables.
    pub(super) fn new(
        signature: &'a Signature,
        variables: &[Name],
        free: &'static str,
    ) -> Scope<'a> {
        let variables = variables.iter().map(|name| name.text.clone()).collect();
        Scope {
            signature,
            variables,
            reals: Vec::new(),
            locals: Vec::new(),
            is_negated: false,
            n_terms: 0,
            free,
            is_interval: false,
        }
    }

    /// Says that the term is an end of an interval.
    pub(super) fn at_interval(mut self) -> Scope<'a> {
        self.is_interval = true;
        self
    }

    /// Makes numbers visible: parameters, each with its `:`.
    pub(super) fn with_reals(mut self, reals: Vec<String>) -> Scope<'a> {
        self.reals = reals;
        self
    }

    /// Resolves a formula. Errors are reported, and the faulty part becomes true.
    pub(super) fn formula(
        &mut self,
        formula: &Formula,
        findings: &mut Diagnostics,
    ) -> logic::Formula {
        match &formula.kind {
            FormulaKind::True => logic::Formula::truth(),
            FormulaKind::False => logic::Formula::falsity(),
            FormulaKind::Atom(relation, arguments) => {
                self.atom(relation, arguments, formula.span, findings)
            }
            FormulaKind::Same(left, right) => {
                logic::Formula::equal(self.variable(left, findings), self.variable(right, findings))
            }
            FormulaKind::Differ(left, right) => {
                let same = logic::Formula::equal(
                    self.variable(left, findings),
                    self.variable(right, findings),
                );
                logic::Formula::not(same)
            }
            FormulaKind::Member(element, set) => {
                let element = self.variable(element, findings);
                if !self.variables.contains(&set.text) {
                    let what = format!("the set `{}` is not bound", set.text);
                    findings.push(
                        Diagnostic::error("toss-free-variable", set.span, what)
                            .hint(format!("bind it: `ex {} (…)`", set.text)),
                    );
                } else if !is_set(&set.text) {
                    let what = format!("`{}` denotes an element, not a set", set.text);
                    findings.push(
                        Diagnostic::error("toss-free-variable", set.span, what)
                            .hint("sets begin with a capital letter"),
                    );
                }
                logic::Formula::Member(element, Variable::new(&set.text))
            }
            FormulaKind::Compare(left, comparison, right) => {
                self.n_terms += 1;
                let (left, right) = (self.term(left, findings), self.term(right, findings));
                self.n_terms -= 1;
                logic::Formula::compare(left, sign(*comparison), right)
            }
            FormulaKind::Not(inner) => {
                self.is_negated = !self.is_negated;
                let inner = self.formula(inner, findings);
                self.is_negated = !self.is_negated;
                logic::Formula::not(inner)
            }
            FormulaKind::And(parts) => {
                logic::Formula::And(parts.iter().map(|part| self.formula(part, findings)).collect())
            }
            FormulaKind::Or(parts) => {
                logic::Formula::Or(parts.iter().map(|part| self.formula(part, findings)).collect())
            }
            FormulaKind::Exists(variables, body) => {
                let (variables, body) =
                    self.under_any(variables, findings, |scope, f| scope.formula(body, f));
                logic::Formula::exists(variables, body)
            }
            FormulaKind::All(variables, body) => {
                let (variables, body) =
                    self.under_any(variables, findings, |scope, f| scope.formula(body, f));
                logic::Formula::all(variables, body)
            }
            FormulaKind::Fixpoint { is_least, relation, parameters, body, arguments } => {
                // The arguments must be bound outside the fixed point.
                let asked =
                    self.arguments(arguments.as_deref(), parameters, formula.span, findings);
                let fixpoint = Some((self.is_negated, self.n_terms));
                self.locals.push(Local::new(relation, parameters, fixpoint));
                let (variables, body) =
                    self.under(parameters, findings, |scope, f| scope.formula(body, f));
                self.locals.pop();
                let extreme = if *is_least { Extreme::Least } else { Extreme::Greatest };
                let mut fix = logic::Formula::fix(extreme, &relation.text, variables, body);
                if let logic::Formula::Fix(fix) = &mut fix {
                    fix.arguments = asked;
                }
                fix
            }
            FormulaKind::Closure { bound, from, to, body, arguments } => {
                let ends = [from.clone(), to.clone()];
                let asked = self.arguments(arguments.as_deref(), &ends, formula.span, findings);
                let (ends, body) = self.under(&ends, findings, |scope, f| scope.formula(body, f));
                let [from, to] = ends.try_into().expect("two variables were bound");
                let mut closure =
                    logic::Formula::closure(bound.map(|(bound, _)| bound), from, to, body);
                if let (logic::Formula::Closure(closure), Ok(asked)) =
                    (&mut closure, asked.try_into())
                {
                    closure.arguments = asked;
                }
                closure
            }
            FormulaKind::Let { relation, parameters, definition, body } => {
                let (variables, definition) =
                    self.under(parameters, findings, |scope, f| scope.formula(definition, f));
                self.locals.push(Local::new(relation, parameters, None));
                let body = self.formula(body, findings);
                self.locals.pop();
                logic::Formula::with(&relation.text, variables, definition, body)
            }
        }
    }

    /// Resolves the arguments of a fixed point or closure: its own variables unless others are
    /// written.
    fn arguments(
        &self,
        arguments: Option<&[Name]>,
        own: &[Name],
        span: Span,
        findings: &mut Diagnostics,
    ) -> Vec<Argument> {
        let said = arguments.unwrap_or(own);
        let asked: Vec<Argument> = said.iter().map(|name| self.variable(name, findings)).collect();
        if asked.len() == own.len() {
            return asked;
        }
        let what = format!("this takes {} elements, not {}", own.len(), asked.len());
        findings.push(Diagnostic::error("toss-arity-clash", span, what));
        own.iter().map(|name| Argument::Variable(Variable::new(&name.text))).collect()
    }

    fn atom(
        &mut self,
        relation: &Name,
        arguments: &[Name],
        span: Span,
        findings: &mut Diagnostics,
    ) -> logic::Formula {
        let variables: Vec<Argument> =
            arguments.iter().map(|name| self.variable(name, findings)).collect();
        let local = self.locals.iter().rev().find(|local| local.name == relation.text);
        match local {
            Some(local) => {
                if local.arity != arguments.len() {
                    let (arity, n) = (local.arity, arguments.len());
                    let what = format!("`{}` takes {arity} elements here, not {n}", relation.text);
                    findings.push(Diagnostic::error("toss-arity-clash", span, what));
                }
                if local.fixpoint.is_some_and(|bound| bound != (self.is_negated, self.n_terms)) {
                    let what = format!(
                        "`{}` is negated or occurs in a term inside its own fixed point",
                        relation.text
                    );
                    findings.push(
                        Diagnostic::error("toss-not-monotone", span, what)
                            .hint("the formula of a fixed point must be monotone in its relation"),
                    );
                }
            }
            None => {
                self.signature.check_use(relation, arguments.len(), span, findings);
            }
        }
        logic::Formula::Relation(relation.text.as_str().into(), variables)
    }

    /// Resolves a variable or constant that denotes an element. Reports unbound variables.
    fn variable(&self, name: &Name, findings: &mut Diagnostics) -> Argument {
        if is_set(&name.text) && self.variables.contains(&name.text) {
            let what = format!("`{}` is a set, and an element is needed here", name.text);
            findings.push(Diagnostic::error("toss-upper-case-variable", name.span, what));
        } else if !self.variables.contains(&name.text) {
            if self.signature.constant(&name.text).is_some() {
                return Argument::Constant(name.text.as_str().into());
            }
            let what = format!("the variable `{}` is not bound", name.text);
            let mut finding = Diagnostic::error("toss-free-variable", name.span, what);
            let constants = self.signature.constants.iter().map(|constant| constant.text.as_str());
            let known: Vec<&str> =
                self.variables.iter().map(String::as_str).chain(constants).collect();
            finding = match did_you_mean(&name.text, known) {
                Some(meant) => finding.did_you_mean(name.span, meant),
                None if self.free.is_empty() => {
                    finding.hint(format!("bind it: `ex {} (…)`", name.text))
                }
                None => {
                    finding.hint(format!("bind it, `ex {} (…)`, or use {}", name.text, self.free))
                }
            };
            findings.push(finding);
        }
        Argument::Variable(Variable::new(&name.text))
    }

    /// Binds variables of any sort while `part` runs: elements, sets, and numbers with a `:`.
    fn under_any<T>(
        &mut self,
        variables: &[Name],
        findings: &mut Diagnostics,
        part: impl FnOnce(&mut Self, &mut Diagnostics) -> T,
    ) -> (Vec<Variable>, T) {
        check_sorts(variables, self.signature, findings);
        let (n_before, n_reals) = (self.variables.len(), self.reals.len());
        for name in variables {
            let names =
                if name.text.starts_with(':') { &mut self.reals } else { &mut self.variables };
            names.push(name.text.clone());
        }
        let made = part(self, findings);
        self.variables.truncate(n_before);
        self.reals.truncate(n_reals);
        (variables.iter().map(|name| Variable::new(&name.text)).collect(), made)
    }

    /// Binds variables while `part` runs.
    fn under<T>(
        &mut self,
        variables: &[Name],
        findings: &mut Diagnostics,
        part: impl FnOnce(&mut Self, &mut Diagnostics) -> T,
    ) -> (Vec<Variable>, T) {
        check_variables(variables, self.signature, findings);
        let n_before = self.variables.len();
        self.variables.extend(variables.iter().map(|name| name.text.clone()));
        let made = part(self, findings);
        self.variables.truncate(n_before);
        (variables.iter().map(|name| Variable::new(&name.text)).collect(), made)
    }

    /// Resolves a term. Errors are reported, and the faulty part becomes 0.
    pub(super) fn term(&mut self, term: &Term, findings: &mut Diagnostics) -> logic::Term {
        match &term.kind {
            TermKind::Number(written) => logic::Term::Number(number(written, findings)),
            TermKind::Value(function, order, argument) => {
                self.function_value(function, *order, argument, findings)
            }
            TermKind::Apply(function, arguments) => self.apply(function, arguments, findings),
            TermKind::Least(name, body) => {
                let name = format!(":{}", name.text);
                self.n_terms += 1;
                self.reals.push(name.clone());
                let body = self.formula(body, findings);
                self.reals.pop();
                self.n_terms -= 1;
                logic::Term::Least(Variable::new(&name), Box::new(body))
            }
            TermKind::Variable(name) => {
                let name_with_sign = format!(":{}", name.text);
                if !self.reals.contains(&name_with_sign) {
                    let what = format!("`:{}` has no value", name.text);
                    let hint = if self.is_interval {
                        format!(
                            "the ends of an interval are finite numbers; a random one is drawn by \
                             the move: `[Rule, t: 0 -- {0}, {0} ~ U(1, 2) -> …]`",
                            name.text
                        )
                    } else {
                        format!(
                            "write `let :{0} = … in …`; a parameter of a rule is given by its \
                             moves: `[Rule, {0}: 0 -- 1 -> …]`",
                            name.text
                        )
                    };
                    findings
                        .push(Diagnostic::error("toss-free-variable", name.span, what).hint(hint));
                }
                logic::Term::Variable(Variable::new(&name_with_sign))
            }
            TermKind::Index(name) => logic::Term::ElementNumber(self.variable(name, findings)),
            TermKind::Indicator(formula) => {
                self.n_terms += 1;
                let formula = self.formula(formula, findings);
                self.n_terms -= 1;
                logic::Term::characteristic(formula)
            }
            TermKind::Negative(inner) => logic::Term::negated(self.term(inner, findings)),
            TermKind::Sum(first, rest) => {
                let first = self.term(first, findings);
                rest.iter().fold(first, |sum, (sign, part)| {
                    let operator = match sign {
                        SumSign::Plus => Operator::Plus,
                        SumSign::Minus => Operator::Minus,
                    };
                    logic::Term::binary(operator, sum, self.term(part, findings))
                })
            }
            TermKind::Product(first, rest) => {
                let first = self.term(first, findings);
                rest.iter().fold(first, |product, (sign, part)| {
                    let factor = self.term(part, findings);
                    let operator = match sign {
                        ProductSign::Times => Operator::Times,
                        ProductSign::Over => Operator::Divide,
                    };
                    let is_zero = matches!(&factor, logic::Term::Number(n) if n.signum() == 0);
                    if operator == Operator::Divide && is_zero {
                        let what = "a division by zero has no value";
                        findings.push(Diagnostic::error("toss-division-by-zero", part.span, what));
                    }
                    logic::Term::binary(operator, product, factor)
                })
            }
            TermKind::Power(base, exponent) => logic::Term::binary(
                Operator::Power,
                self.term(base, findings),
                self.term(exponent, findings),
            ),
            TermKind::Aggregate { aggregate, variables, guard, value } => {
                self.n_terms += 1;
                let (variables, (guard, value)) = self.under(variables, findings, |scope, f| {
                    (scope.formula(guard, f), scope.term(value, f))
                });
                self.n_terms -= 1;
                logic::Term::aggregate(fold(*aggregate), variables, guard, value)
            }
            TermKind::Let(name, value, body) => {
                let value = self.term(value, findings);
                let name = format!(":{}", name.text);
                self.reals.push(name.clone());
                let body = self.term(body, findings);
                self.reals.pop();
                logic::Term::Let(Variable::new(&name), Box::new(value), Box::new(body))
            }
        }
    }

    /// Resolves a function of real numbers. Reports a wrong number of arguments.
    fn apply(
        &mut self,
        function: &Name,
        arguments: &[Term],
        findings: &mut Diagnostics,
    ) -> logic::Term {
        let mut terms: Vec<logic::Term> =
            arguments.iter().map(|argument| self.term(argument, findings)).collect();
        let wrong = |wanted: &str| {
            let (name, n) = (&function.text, arguments.len());
            let what = format!("`{name}` takes {wanted}, not {n}");
            Diagnostic::error("toss-arity-clash", function.span, what)
        };
        let one = |kind: RealFunction| (kind, 1..=1, "one argument");
        let (kind, n_wanted, wanted) = match function.text.as_str() {
            "sqrt" => one(RealFunction::Root(2)),
            "sin" => one(RealFunction::Sin),
            "cos" => one(RealFunction::Cos),
            "exp" => one(RealFunction::Exp),
            "log" => one(RealFunction::Log),
            "abs" => one(RealFunction::Abs),
            "min" => (RealFunction::Min, 2..=usize::MAX, "at least two arguments"),
            "max" => (RealFunction::Max, 2..=usize::MAX, "at least two arguments"),
            _ => (RealFunction::Root(2), 2..=2, "two arguments: the degree and a number"),
        };
        if !n_wanted.contains(&terms.len()) {
            findings.push(wrong(wanted));
            return logic::Term::whole(0);
        }
        if function.text != "root" {
            return logic::Term::Apply(kind, terms);
        }
        let degree = match &terms[0] {
            logic::Term::Number(degree) if degree.is_whole() => {
                u32::try_from(degree.numerator()).ok().filter(|degree| *degree >= 2)
            }
            _ => None,
        };
        let Some(degree) = degree else {
            let what = "the degree of a root is an integer greater than 1";
            findings.push(Diagnostic::error("toss-arity-clash", arguments[0].span, what));
            return logic::Term::whole(0);
        };
        terms.remove(0);
        logic::Term::Apply(RealFunction::Root(degree), terms)
    }

    /// Resolves the value of a function. Reports an unknown function.
    fn function_value(
        &self,
        function: &Name,
        order: u32,
        argument: &Name,
        findings: &mut Diagnostics,
    ) -> logic::Term {
        let n_before = findings.0.len();
        let written = argument;
        let argument = self.variable(argument, findings);
        let known = derivative_name(&function.text, order);
        if self.free.is_empty()
            && self.n_terms == 0
            && findings.0.len() > n_before
            && let Some(finding) = findings.0.last_mut()
        {
            // No formula is around the term, so `ex` cannot bind the variable.
            finding.hints = vec![format!(
                "bind it: `Sum ({0} | condition : :{1}({0}))`, or with `Min` or `Max`",
                written.text, function.text
            )];
        }
        if !self.signature.functions.contains(&known) && order > 0 {
            let what = format!("the derivative `{known}` is not part of the state");
            findings
                .push(Diagnostic::error("toss-unknown-function", function.span, what).hint(format!(
                "give it by an equation of higher order, or in the start: `{known} {{ a -> 0 }}`"
            )));
        } else if !self.signature.functions.contains(&known) {
            let what = format!("there is no function `{}`", function.text);
            let finding = Diagnostic::error("toss-unknown-function", function.span, what);
            let known = self.signature.functions.iter().map(String::as_str);
            findings.push(match did_you_mean(&function.text, known) {
                Some(meant) => finding.did_you_mean(function.span, meant),
                None => finding.hint(format!(
                    "give it values in the start: `[ | … | {} {{ a -> 1 }} ]`",
                    function.text
                )),
            });
        }
        logic::Term::Function(known.as_str().into(), argument)
    }
}

/// Returns the sign of a comparison in the logic.
fn sign(comparison: Comparison) -> Sign {
    match comparison {
        Comparison::Less => Sign::Less,
        Comparison::AtMost => Sign::AtMost,
        Comparison::Equal => Sign::Equal,
        Comparison::Unequal => Sign::Unequal,
        Comparison::AtLeast => Sign::AtLeast,
        Comparison::Greater => Sign::Greater,
    }
}

/// Returns the fold of an aggregate in the logic.
fn fold(aggregate: Aggregate) -> Fold {
    match aggregate {
        Aggregate::Sum => Fold::Sum,
        Aggregate::Prod => Fold::Product,
        Aggregate::Min => Fold::Min,
        Aggregate::Max => Fold::Max,
    }
}

/// Returns whether a name is written like a set.
fn is_set(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_uppercase())
}

/// Reports variables of a quantifier that are repeated or shadow a constant.
fn check_sorts(variables: &[Name], signature: &Signature, findings: &mut Diagnostics) {
    let is_element = |name: &Name| !is_set(&name.text) && !name.text.starts_with(':');
    let elements: Vec<Name> = variables.iter().filter(|name| is_element(name)).cloned().collect();
    check_variables(&elements, signature, findings);
    let others: Vec<&Name> = variables.iter().filter(|name| !is_element(name)).collect();
    for (place, name) in others.iter().enumerate() {
        if others[..place].iter().any(|earlier| earlier.text == name.text) {
            let what = format!("`{}` occurs twice in one list of variables", name.text);
            findings.push(Diagnostic::error("toss-repeated-variable", name.span, what));
        }
    }
}

/// Reports variables that are repeated, are written like sets, or shadow a constant.
pub(super) fn check_variables(
    variables: &[Name],
    signature: &Signature,
    findings: &mut Diagnostics,
) {
    for (place, name) in variables.iter().enumerate() {
        if variables[..place].iter().any(|earlier| earlier.text == name.text) {
            let what = format!("`{}` occurs twice in one list of variables", name.text);
            findings.push(Diagnostic::error("toss-repeated-variable", name.span, what));
        }
        if name.text.starts_with(|c: char| c.is_ascii_uppercase()) {
            let what = format!("`{}` is written like a set but denotes an element here", name.text);
            findings.push(
                Diagnostic::error("toss-upper-case-variable", name.span, what)
                    .hint("variables and elements of rules begin with a lower-case letter"),
            );
        }
        if let Some(constant) = signature.constant(&name.text) {
            let what = format!("the variable `{}` hides the constant of the same name", name.text);
            findings.push(
                Diagnostic::error("toss-hidden-constant", name.span, what)
                    .note(constant.span, "the constant is given here")
                    .hint(format!(
                        "rename the variable; `x = {}` compares with the constant",
                        name.text
                    )),
            );
        }
    }
}

/// Converts a number exactly. Reports a number that is too large.
pub(super) fn number(written: &Number, findings: &mut Diagnostics) -> Rational {
    exact(&written.text).unwrap_or_else(|| {
        let is_zero = |text: &str| !text.contains(|c: char| ('1'..='9').contains(&c));
        let finding = if written.text.split_once('/').is_some_and(|(_, below)| is_zero(below)) {
            let what = "a division by zero has no value";
            Diagnostic::error("toss-division-by-zero", written.span, what)
        } else {
            let what = format!("the number `{}` is too large", written.text);
            Diagnostic::error("toss-too-large", written.span, what)
        };
        findings.push(finding);
        // Not zero: a division by the number must not be reported as a division by zero.
        Rational::whole(1)
    })
}

fn exact(text: &str) -> Option<Rational> {
    if let Some((above, below)) = text.split_once('/') {
        return exact(above)?.divided_by(exact(below)?).ok().flatten();
    }
    let (minus, digits) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    let (whole, decimals) = digits.split_once('.').unwrap_or((digits, ""));
    let numerator: i64 = format!("{whole}{decimals}").parse().ok()?;
    let denominator = 10i128.checked_pow(u32::try_from(decimals.len()).ok()?)?;
    let number = Rational::fraction(i128::from(numerator), denominator)?;
    Some(if minus { number.negated() } else { number })
}
