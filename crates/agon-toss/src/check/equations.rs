//! Checks the continuous parts of rules: differential equations, updates, invariants.

use agon_structures::formula::{Formula, Sign, Sort, Term, Variable};
use agon_structures::structure::{FunctionId, Vocabulary};
use agon_text::{Diagnostic, Diagnostics};

use super::formulas::{Scope, number};
use super::signature::{MAX_ORDER, Signature, derivative_name};
use super::suggest::did_you_mean;
use crate::arena::{ArenaRule, Equation, Invariant, Part, Reason};
use crate::syntax::{self, GameSheet, Name, Structure};

/// The name of the time since a rule was chosen, and of the duration among the parameters.
pub(super) const TIME: &str = "t";

/// Checks the continuous parts of one rule.
pub(super) struct Equations<'a> {
    pub(super) signature: &'a Signature,
    pub(super) vocabulary: &'a Vocabulary,
    pub(super) rule: &'a syntax::Rule,
    /// The parameters that moves with this rule have, with `:`.
    reals: Vec<String>,
}

impl<'a> Equations<'a> {
    pub(super) fn new(
        sheet: &GameSheet,
        signature: &'a Signature,
        vocabulary: &'a Vocabulary,
        rule: &'a syntax::Rule,
    ) -> Equations<'a> {
        let edges = sheet
            .locations
            .iter()
            .flat_map(|location| &location.moves)
            .flat_map(|moves| &moves.edges)
            .filter(|edge| edge.rule.text == rule.name.text);
        let mut reals = vec![format!(":{TIME}")];
        for interval in edges.flat_map(|edge| &edge.intervals) {
            let name = format!(":{}", interval.parameter.text);
            if !reals.contains(&name) {
                reals.push(name);
            }
        }
        Equations { signature, vocabulary, rule, reals }
    }

    /// Creates a scope in which the elements and the parameters of the rule are visible.
    pub(super) fn scope(&self, elements: &[Name], free: &'static str) -> Scope<'a> {
        Scope::new(self.signature, elements, free).with_reals(self.reals.clone())
    }

    /// Adds the differential equations, the updates and the invariant to a rule. `left` are its
    /// elements before it is applied. `right` are the elements that updates may name, each with its
    /// index in the arena.
    pub(super) fn add(
        &self,
        left: &[Name],
        right: &[(Name, usize)],
        lowered: &mut ArenaRule,
        findings: &mut Diagnostics,
    ) {
        const FREE: &str = "the elements of the left side";
        if let Some(inv) = &self.rule.inv {
            let formula = self.scope(left, FREE).formula(inv, findings);
            lowered.invariant = Some(Invariant { formula, span: inv.span });
        }
        let left_places: Vec<(Name, usize)> =
            left.iter().enumerate().map(|(place, name)| (name.clone(), place)).collect();
        for equation in &self.rule.dynamics {
            if equation.order == 0 || equation.order > MAX_ORDER {
                let what = if equation.order == 0 {
                    "a differential equation gives a derivative, not a value".to_owned()
                } else {
                    format!("derivatives beyond order {MAX_ORDER} are not possible")
                };
                let (f, a) = (&equation.function.text, &equation.element.text);
                findings.push(
                    Diagnostic::error("toss-equation-order", equation.span, what)
                        .hint(format!("write `:{f}({a})' = …`; values are set by `update`")),
                );
                continue;
            }
            let made = self.equation(equation, equation.order - 1, left, &left_places, findings);
            self.note_discontinuity(&made, equation, findings);
            note_repetition(&made, equation, &lowered.dynamics, "derivative is given", findings);
            lowered.dynamics.extend(made);
        }
        for equation in &self.rule.updates {
            let made = self.equation(equation, equation.order, left, right, findings);
            note_repetition(&made, equation, &lowered.updates, "value is set", findings);
            lowered.updates.extend(made);
        }
        lowered.parameters = self.used_parameters(lowered);
    }

    fn equation(
        &self,
        equation: &syntax::Equation,
        order: u32,
        left: &[Name],
        places: &[(Name, usize)],
        findings: &mut Diagnostics,
    ) -> Option<Equation> {
        const FREE: &str = "the elements of the left side";
        let term = self.scope(left, FREE).term(&equation.term, findings);
        let found = places.iter().find(|(name, _)| name.text == equation.element.text);
        if found.is_none() {
            let what = format!("`{}` is not an element of the rule", equation.element.text);
            let mut finding =
                Diagnostic::error("toss-unknown-element", equation.element.span, what);
            let known = places.iter().map(|(name, _)| name.text.as_str());
            if let Some(meant) = did_you_mean(&equation.element.text, known) {
                finding = finding.did_you_mean(equation.element.span, meant);
            }
            findings.push(finding);
        }
        let function = self.function(&equation.function, order)?;
        let element = found?.1;
        Some(Equation { function, element, term, span: equation.span })
    }

    fn function(&self, name: &Name, order: u32) -> Option<FunctionId> {
        self.vocabulary.function(&derivative_name(&name.text, order))
    }

    /// Reports a right side that jumps when values change: solvers need continuous ones.
    fn note_discontinuity(
        &self,
        made: &Option<Equation>,
        equation: &syntax::Equation,
        findings: &mut Diagnostics,
    ) {
        if made.as_ref().is_some_and(|made| is_discontinuous(&made.term)) {
            let what = "the right side of a differential equation may not compare values";
            findings.push(
                Diagnostic::error("toss-discontinuous", equation.span, what)
                    .hint("use `min`, `max` or `abs`, or two rules with invariants"),
            );
        }
    }

    /// Returns the parameters that the rule uses, in the order of the moves' intervals.
    fn used_parameters(&self, rule: &ArenaRule) -> Vec<Variable> {
        let mut used = std::collections::BTreeSet::new();
        rule.invariant.iter().for_each(|inv| used.extend(inv.formula.free_variables()));
        rule.post.iter().for_each(|post| used.extend(post.formula.free_variables()));
        for equation in rule.dynamics.iter().chain(&rule.updates) {
            used.extend(equation.term.free_variables());
        }
        let parameters = self.reals.iter().skip(1).map(|name| Variable::new(name));
        parameters.filter(|name| used.contains(name)).collect()
    }

    /// Adds the function values that the sides of a rule give: conditions on the left, updates on
    /// the right.
    pub(super) fn add_sides(
        &self,
        left: &Structure,
        right: &Structure,
        places: &[(Name, usize)],
        parts: &mut Vec<Part>,
        updates: &mut Vec<Equation>,
        findings: &mut Diagnostics,
    ) {
        for function in &left.functions {
            for (element, value) in &function.values {
                let known = derivative_name(&function.name.text, function.order);
                let argument = Variable::new(&element.text);
                let term = Term::Function(known.as_str().into(), argument.into());
                let formula =
                    Formula::compare(term, Sign::Equal, Term::Number(number(value, findings)));
                parts.push(Part { formula, reason: Reason::Tuple, span: value.span });
                if self.function(&function.name, function.order).is_none() {
                    let what = format!("there is no function `{known}`");
                    findings.push(Diagnostic::error(
                        "toss-unknown-function",
                        function.name.span,
                        what,
                    ));
                }
            }
        }
        for function in &right.functions {
            for (element, value) in &function.values {
                let place = places.iter().find(|(name, _)| name.text == element.text);
                if let (Some(&(_, element)), Some(function)) =
                    (place, self.function(&function.name, function.order))
                {
                    let term = Term::Number(number(value, findings));
                    updates.push(Equation { function, element, term, span: value.span });
                }
            }
        }
    }
}

/// Reports an equation for the same value as an earlier equation of the rule.
fn note_repetition(
    made: &Option<Equation>,
    equation: &syntax::Equation,
    earlier: &[Equation],
    what: &str,
    findings: &mut Diagnostics,
) {
    let Some(made) = made else { return };
    let is_same =
        |other: &&Equation| other.function == made.function && other.element == made.element;
    if let Some(earlier) = earlier.iter().find(is_same) {
        let text = format!("this {what} a second time");
        findings.push(
            Diagnostic::error("toss-given-twice", equation.span, text)
                .note(earlier.span, "first here"),
        );
    }
}

/// Returns whether the value of a term may jump when the values of functions change.
fn is_discontinuous(term: &Term) -> bool {
    match term {
        Term::Characteristic(formula) => mentions_numbers(formula),
        Term::Aggregate(aggregate) => {
            mentions_numbers(&aggregate.guard) || is_discontinuous(&aggregate.term)
        }
        Term::Binary(_, left, right) | Term::Let(_, left, right) => {
            is_discontinuous(left) || is_discontinuous(right)
        }
        Term::Apply(_, arguments) => arguments.iter().any(is_discontinuous),
        Term::Least(..) => true,
        Term::Number(_) | Term::Variable(_) | Term::ElementNumber(_) | Term::Function(..) => false,
    }
}

/// Returns whether a formula compares numbers that may change, or quantifies over numbers.
/// Definitions are not looked into: the engine refuses those when it meets them.
fn mentions_numbers(formula: &Formula) -> bool {
    let is_real = |variable: &Variable| variable.sort() == Sort::Real;
    match formula {
        Formula::Compare(left, _, right) => is_changing(left) || is_changing(right),
        Formula::Relation(..) | Formula::Equal(..) | Formula::Member(..) => false,
        Formula::Not(inner) => mentions_numbers(inner),
        Formula::And(parts) | Formula::Or(parts) => parts.iter().any(mentions_numbers),
        Formula::Exists(variables, body) | Formula::All(variables, body) => {
            variables.iter().any(is_real) || mentions_numbers(body)
        }
        Formula::Fix(fix) => mentions_numbers(&fix.body),
        Formula::Closure(closure) => mentions_numbers(&closure.body),
        Formula::Let(bound) => mentions_numbers(&bound.definition) || mentions_numbers(&bound.body),
    }
}

fn is_changing(term: &Term) -> bool {
    match term {
        Term::Number(_) | Term::ElementNumber(_) => false,
        Term::Function(..) | Term::Variable(_) | Term::Least(..) => true,
        Term::Characteristic(formula) => mentions_numbers(formula),
        Term::Binary(_, left, right) | Term::Let(_, left, right) => {
            is_changing(left) || is_changing(right)
        }
        Term::Apply(_, arguments) => arguments.iter().any(is_changing),
        Term::Aggregate(aggregate) => {
            mentions_numbers(&aggregate.guard) || is_changing(&aggregate.term)
        }
    }
}
