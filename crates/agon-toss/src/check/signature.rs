//! Collects the relations, functions and constants of a game, with the arities of relations.

use std::collections::BTreeMap;

use agon_text::{Diagnostic, Diagnostics, Span};

use super::suggest::did_you_mean;
use crate::syntax::{Cell, Change, GameSheet, Name, Structure};

/// Maximum arity of a relation, because the elements of tuples are stored one by one.
const MAX_ARITY: usize = 8;

/// Maximum arity with which checking goes on after a relation is reported as too wide.
const MAX_KEPT_ARITY: usize = 1000;

/// The names of the relations that a board introduces: next in the row, next in the column.
pub(super) const ROW: &str = "R";
pub(super) const COLUMN: &str = "C";

/// Maximum order of a differential equation.
pub(super) const MAX_ORDER: u32 = 4;

/// Returns the name of the function that holds a derivative: `y''` for the second one of `y`.
pub(super) fn derivative_name(function: &str, order: u32) -> String {
    format!("{function}{}", "'".repeat(order as usize))
}

/// A relation of the signature.
#[derive(Clone, Debug)]
pub(super) struct DeclaredRelation {
    pub(super) arity: usize,
    /// The place where its arity was first seen.
    pub(super) span: Span,
    /// Whether it is defined by a formula.
    pub(super) is_defined: bool,
}

/// The relations, functions and constants of a game.
#[derive(Default)]
pub(super) struct Signature {
    pub(super) relations: BTreeMap<String, DeclaredRelation>,
    /// The relations of structures in order of appearance.
    pub(super) order: Vec<String>,
    pub(super) functions: Vec<String>,
    /// The constants of the start, without repetitions.
    pub(super) constants: Vec<Name>,
}

impl Signature {
    /// Collects defined relations, relations of the start, and relations that rules introduce.
    pub(super) fn gather(sheet: &GameSheet, findings: &mut Diagnostics) -> Signature {
        let mut signature = Signature::default();
        for definition in &sheet.relations {
            signature.define(&definition.name, definition.parameters.len(), findings);
        }
        if let Some(model) = &sheet.model {
            signature.model(model, findings);
        }
        for rule in &sheet.rules {
            for equation in &rule.dynamics {
                // The derivatives below the one that the equation gives are part of the state.
                signature.function(&equation.function.text, equation.order.saturating_sub(1));
            }
            for equation in &rule.updates {
                signature.function(&equation.function.text, equation.order);
            }
            match &rule.change {
                Change::Rewrite { right, .. } => {
                    for function in &right.functions {
                        signature.function(&function.name.text, function.order);
                    }
                    for relation in &right.relations {
                        let arity = relation.tuples.first().map(|tuple| tuple.elements.len());
                        if let Some(arity) = arity.or(relation.arity.map(|(arity, _)| arity))
                            && !signature.relations.contains_key(&relation.name.text)
                        {
                            signature.base(&relation.name, arity, findings);
                        }
                    }
                }
                Change::Formula { effects, .. } => {
                    for effect in effects.iter().filter(|effect| effect.holds) {
                        if !signature.relations.contains_key(&effect.relation.text) {
                            signature.base(&effect.relation, effect.arguments.len(), findings);
                        }
                    }
                }
            }
        }
        signature
    }

    fn define(&mut self, name: &Name, arity: usize, findings: &mut Diagnostics) {
        if let Some(known) = self.relations.get(&name.text) {
            let what = format!("the relation `{}` is defined a second time", name.text);
            findings.push(
                Diagnostic::error("toss-given-twice", name.span, what)
                    .note(known.span, "first defined here"),
            );
            return;
        }
        too_wide(name, arity, findings);
        self.relations.insert(
            name.text.clone(),
            DeclaredRelation {
                arity: arity.min(MAX_KEPT_ARITY),
                span: name.span,
                is_defined: true,
            },
        );
    }

    /// Adds a relation of structures.
    fn base(&mut self, name: &Name, arity: usize, findings: &mut Diagnostics) {
        too_wide(name, arity, findings);
        self.relations.insert(
            name.text.clone(),
            DeclaredRelation {
                arity: arity.min(MAX_KEPT_ARITY),
                span: name.span,
                is_defined: false,
            },
        );
        self.order.push(name.text.clone());
    }

    fn model(&mut self, model: &Structure, findings: &mut Diagnostics) {
        if let Some(board) = &model.board {
            for name in [ROW, COLUMN] {
                if !self.relations.contains_key(name) {
                    self.base(&Name { text: name.to_owned(), span: board.span }, 2, findings);
                }
            }
            let letters = board.rows.iter().flatten().flat_map(|cell| match cell {
                Cell::Hole => &[][..],
                Cell::Element(names) => names,
            });
            for letter in letters {
                if !self.relations.contains_key(&letter.text) {
                    self.base(letter, 1, findings);
                }
            }
        }
        for relation in &model.relations {
            let arity = relation.arity.map(|(arity, _)| arity);
            let arity = arity.or(relation.tuples.first().map(|tuple| tuple.elements.len()));
            if !self.relations.contains_key(&relation.name.text) {
                // `P {}` without an arity is probably a predicate.
                self.base(&relation.name, arity.unwrap_or(1), findings);
            }
        }
        for function in &model.functions {
            self.function(&function.name.text, function.order);
        }
        for (name, _) in &model.constants {
            if let Some(earlier) = self.constant(&name.text) {
                let what = format!("the constant `{}` is given a second time", name.text);
                let finding = Diagnostic::error("toss-given-twice", name.span, what)
                    .note(earlier.span, "first given here");
                findings.push(finding);
                continue;
            }
            if name.text.starts_with(|c: char| c.is_ascii_uppercase()) {
                let what = format!("the constant `{}` is written like a set", name.text);
                findings.push(
                    Diagnostic::error("toss-upper-case-variable", name.span, what)
                        .hint("constants begin with a lower-case letter, like variables"),
                );
            }
            self.constants.push(name.clone());
        }
    }

    /// Adds a function with its derivatives up to an order.
    fn function(&mut self, name: &str, order: u32) {
        for order in 0..=order.min(MAX_ORDER) {
            let name = derivative_name(name, order);
            if !self.functions.contains(&name) {
                self.functions.push(name);
            }
        }
    }

    /// Returns the constant with this name, with its place.
    pub(super) fn constant(&self, name: &str) -> Option<&Name> {
        self.constants.iter().find(|constant| constant.text == name)
    }

    /// Returns the relation if it exists and has this arity; reports an error otherwise.
    pub(super) fn check_use(
        &self,
        name: &Name,
        n_arguments: usize,
        span: Span,
        findings: &mut Diagnostics,
    ) -> Option<&DeclaredRelation> {
        let Some(known) = self.relations.get(&name.text) else {
            let what = format!("there is no relation `{}`", name.text);
            let mut finding = Diagnostic::error("toss-unknown-relation", name.span, what);
            let known = self.relations.keys().map(String::as_str);
            if let Some(meant) = did_you_mean(&name.text, known) {
                finding = finding.did_you_mean(name.span, meant);
            } else {
                finding = finding.hint(format!(
                    "define it, `REL {}(…) = …`, or declare it in the start, `{}:{n_arguments} {{}}`",
                    name.text, name.text
                ));
            }
            findings.push(finding);
            return None;
        };
        if known.arity != n_arguments {
            let (name, arity) = (&name.text, known.arity);
            let what = format!("`{name}` takes {}, not {n_arguments}", elements(arity));
            findings.push(
                Diagnostic::error("toss-arity-clash", span, what)
                    .note(known.span, format!("`{name}` has {} here", elements(arity))),
            );
            return None;
        }
        Some(known)
    }

    /// Returns whether a relation that a structure or rule sets is a relation of structures;
    /// reports an error otherwise.
    pub(super) fn check_set(
        &self,
        name: &Name,
        n_arguments: usize,
        span: Span,
        place: &str,
        findings: &mut Diagnostics,
    ) -> bool {
        let Some(known) = self.check_use(name, n_arguments, span, findings) else { return false };
        if known.is_defined {
            let what = format!("`{}` is defined by a formula and cannot be set {place}", name.text);
            let code = if place.contains("start") {
                "toss-defined-in-start"
            } else {
                "toss-defined-on-right"
            };
            findings.push(
                Diagnostic::error(code, span, what)
                    .note(known.span, "defined here")
                    .hint("set the relations that the formula uses"),
            );
        }
        !known.is_defined
    }
}

fn too_wide(name: &Name, arity: usize, findings: &mut Diagnostics) {
    if arity > MAX_ARITY {
        let what = format!("`{}` takes {arity} elements, more than {MAX_ARITY}", name.text);
        findings.push(Diagnostic::error("toss-too-large", name.span, what));
    }
}

fn elements(n: usize) -> String {
    if n == 1 { "1 element".to_owned() } else { format!("{n} elements") }
}
