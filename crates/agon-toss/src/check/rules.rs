//! Builds rules with conditions and effects from the syntax tree.

use agon_structures::formula::{Formula, Variable};
use agon_structures::structure::Vocabulary;
use agon_text::{Diagnostic, Diagnostics};

use super::equations::Equations;
use super::flat::{FlatStructure, FlatTuple};
use super::formulas::{Scope, check_variables};
use super::signature::Signature;
use super::suggest::did_you_mean;
use crate::arena::{
    AddedTuple, ArenaRule, DeletePattern, Effect, Part, Post, Reason, Rewrite, RuleId,
};
use crate::syntax::{self, Change, GameSheet, Name, Structure};

/// Maximum number of tuples of an embedded relation over the elements of a left side.
const MAX_EMBEDDED: usize = 4096;

/// The parts of a game that rules refer to.
pub(super) struct Rules<'a> {
    pub(super) sheet: &'a GameSheet,
    pub(super) signature: &'a Signature,
    pub(super) vocabulary: &'a Vocabulary,
}

impl Rules<'_> {
    /// Checks all rules and reports errors.
    pub(super) fn lower(&self, findings: &mut Diagnostics) -> Vec<ArenaRule> {
        for (place, rule) in self.sheet.rules.iter().enumerate() {
            let earlier = self.sheet.rules[..place]
                .iter()
                .find(|r| r.name.text.eq_ignore_ascii_case(&rule.name.text));
            if let Some(earlier) = earlier {
                let what = format!("a rule `{}` is given a second time", rule.name.text);
                findings.push(
                    Diagnostic::error("toss-given-twice", rule.name.span, what)
                        .note(earlier.name.span, "first given here")
                        .hint("moves are named after rules, and capitalisation is ignored"),
                );
            }
        }
        self.sheet.rules.iter().filter_map(|rule| self.rule(rule, findings)).collect()
    }

    fn rule(&self, rule: &syntax::Rule, findings: &mut Diagnostics) -> Option<ArenaRule> {
        let n_before = findings.0.len();
        let history = self.history(rule, findings);
        let lowered = match &rule.change {
            Change::Rewrite { left, right, map } => {
                self.by_structures(rule, left, right, map.as_deref(), findings)
            }
            Change::Formula { elements, condition, effects } => {
                self.by_formula(rule, elements, condition, effects, findings)
            }
        };
        let mut lowered = lowered?;
        lowered.history = history;
        let has_errors =
            findings.0[n_before..].iter().any(|f| f.severity == agon_text::Severity::Error);
        (!has_errors).then_some(lowered)
    }

    fn history(&self, rule: &syntax::Rule, findings: &mut Diagnostics) -> Vec<(RuleId, bool)> {
        let mut history = Vec::new();
        for (name, holds) in &rule.history {
            match self.sheet.rules.iter().position(|other| other.name.text == name.text) {
                Some(index) => history.push((RuleId::new(index), *holds)),
                None => unknown_rule(name, self.sheet, findings),
            }
        }
        history
    }

    fn by_structures(
        &self,
        rule: &syntax::Rule,
        left: &Structure,
        right: &Structure,
        map: Option<&[(Name, Name)]>,
        findings: &mut Diagnostics,
    ) -> Option<ArenaRule> {
        let (left_side, right_side) = (left, right);
        for side in [left, right] {
            if let Some((name, _)) = side.constants.first() {
                let what = "a constant on a side of a rule cannot be played yet";
                findings.push(
                    Diagnostic::error("toss-not-supported", name.span, what)
                        .hint(format!("use a condition instead: `pre x = {}`", name.text)),
                );
            }
        }
        let (left, right) =
            (FlatStructure::new(left, findings), FlatStructure::new(right, findings));
        check_variables(&left.elements, self.signature, findings);
        check_variables(&right.elements, self.signature, findings);
        let embedded = self.embedded(rule, findings);
        let mut parts = self.left_parts(&left, &rule.name, findings);
        self.embedded_parts(rule, &left, &embedded, &mut parts, findings)?;
        self.pre(rule, &left.elements, "the elements of the left side", &mut parts, findings);
        let map = self.map(&left, &right, map, findings);
        self.check_deleted(rule, &left, &map, findings);
        let tuples = self.right_tuples(&right, findings)?;
        let equations = Equations::new(self.sheet, self.signature, self.vocabulary, rule);
        let post = rule.post.as_ref().map(|post| {
            let mut scope = equations.scope(&right.elements, "the elements of the right side");
            (scope.formula(post, findings), post.span)
        });
        let embedded: Vec<_> =
            embedded.iter().filter_map(|name| self.vocabulary.relation(name)).collect();

        let keeps_universe = map.len() == left.elements.len()
            && (0..left.elements.len()).all(|l| map.iter().filter(|&&s| s == Some(l)).count() == 1);
        // Updates name elements of the right side.
        let mut places: Vec<(Name, usize)> =
            right.elements.iter().enumerate().map(|(r, name)| (name.clone(), r)).collect();
        let (effect, post_variables) = if keeps_universe {
            let back: Vec<usize> =
                map.iter().map(|l| l.expect("every element replaces one")).collect();
            places.iter_mut().for_each(|(_, place)| *place = back[*place]);
            let add = tuples.into_iter().map(|tuple| AddedTuple {
                arguments: tuple.arguments.iter().map(|&r| back[r]).collect(),
                ..tuple
            });
            let effect = self.tuples_effect(&left, &embedded, add.collect());
            // The post-condition uses the names of the right side for the elements of the
            // embedding.
            let name = |l: usize| {
                &right.elements[back.iter().position(|&b| b == l).expect("one replaces each")]
            };
            (effect, (0..left.elements.len()).map(|l| Variable::new(&name(l).text)).collect())
        } else {
            let variables: Vec<Variable> =
                right.elements.iter().map(|name| Variable::new(&name.text)).collect();
            let keeps = kept_identities(&left, &right, &map);
            (
                Effect::Rewrite(Rewrite { right: variables.clone(), map, keeps, tuples, embedded }),
                variables,
            )
        };
        let post = post.map(|(formula, span)| Post { variables: post_variables, formula, span });
        let mut updates = Vec::new();
        equations.add_sides(left_side, right_side, &places, &mut parts, &mut updates, findings);
        let mut lowered = arena_rule(rule, &left.elements, parts, effect, post);
        lowered.updates = updates;
        equations.add(&left.elements, &places, &mut lowered, findings);
        Some(lowered)
    }

    /// Returns the relations that are embedded exactly.
    fn embedded(&self, rule: &syntax::Rule, findings: &mut Diagnostics) -> Vec<String> {
        let mut embedded: Vec<String> = Vec::new();
        for name in &rule.embedded {
            match self.signature.relations.get(&name.text) {
                None => {
                    self.signature.check_use(name, 1, name.span, findings);
                }
                Some(known) if known.is_defined => {
                    let what =
                        format!("`{}` is defined by a formula and cannot be embedded", name.text);
                    findings.push(
                        Diagnostic::error("toss-defined-embedded", name.span, what)
                            .note(known.span, "defined here")
                            .hint("embed the relations that the formula uses, or use `pre`"),
                    );
                }
                Some(_) => embedded.push(name.text.clone()),
            }
        }
        embedded.sort();
        embedded.dedup();
        embedded
    }

    /// Returns the conditions of the left side: its tuples, and that its elements are different.
    fn left_parts(
        &self,
        left: &FlatStructure,
        name: &Name,
        findings: &mut Diagnostics,
    ) -> Vec<Part> {
        let mut parts = Vec::new();
        for tuple in &left.tuples {
            self.signature.check_use(&tuple.relation, tuple.elements.len(), tuple.span, findings);
            if !tuple.is_optional {
                parts.push(Part { formula: atom(tuple), reason: Reason::Tuple, span: tuple.span });
            }
        }
        for (place, element) in left.elements.iter().enumerate() {
            for other in &left.elements[place + 1..] {
                let same = Formula::equal(Variable::new(&element.text), Variable::new(&other.text));
                let formula = Formula::not(same);
                parts.push(Part { formula, reason: Reason::Different, span: name.span });
            }
        }
        parts
    }

    /// Adds the conditions of exact embedding: no tuple of the relation other than those on the
    /// left side.
    fn embedded_parts(
        &self,
        rule: &syntax::Rule,
        left: &FlatStructure,
        embedded: &[String],
        parts: &mut Vec<Part>,
        findings: &mut Diagnostics,
    ) -> Option<()> {
        for relation in embedded {
            let arity = self.signature.relations[relation].arity;
            let span = rule
                .embedded
                .iter()
                .find(|name| name.text == *relation)
                .map_or(rule.span, |name| name.span);
            let n_tuples =
                u32::try_from(arity).ok().and_then(|arity| left.elements.len().checked_pow(arity));
            if n_tuples.is_none_or(|n| n > MAX_EMBEDDED) {
                let what = format!("the left side is too large to embed `{relation}` exactly");
                findings.push(Diagnostic::error("toss-too-large", span, what));
                return None;
            }
            for tuple in tuples_over(left.elements.len(), arity) {
                let names: Vec<&Name> = tuple.iter().map(|&index| &left.elements[index]).collect();
                let stands = left.tuples.iter().any(|t| {
                    t.relation.text == *relation
                        && t.elements.iter().map(|e| &e.text).eq(names.iter().map(|n| &n.text))
                });
                if !stands {
                    let variables: Vec<Variable> =
                        names.iter().map(|name| Variable::new(&name.text)).collect();
                    let formula = Formula::not(Formula::atom(relation, variables));
                    parts.push(Part { formula, reason: Reason::Embedded, span });
                }
            }
        }
        Some(())
    }

    fn pre(
        &self,
        rule: &syntax::Rule,
        elements: &[Name],
        free: &'static str,
        parts: &mut Vec<Part>,
        findings: &mut Diagnostics,
    ) {
        let Some(pre) = &rule.pre else { return };
        let mut scope = Scope::new(self.signature, elements, free);
        for conjunct in conjuncts(pre) {
            let formula = scope.formula(conjunct, findings);
            parts.push(Part { formula, reason: Reason::Pre, span: conjunct.span });
        }
    }

    /// Returns for each element of the right side the element of the left side that it replaces.
    fn map(
        &self,
        left: &FlatStructure,
        right: &FlatStructure,
        given: Option<&[(Name, Name)]>,
        findings: &mut Diagnostics,
    ) -> Vec<Option<usize>> {
        let Some(given) = given else {
            return right.elements.iter().map(|element| left.index(&element.text)).collect();
        };
        let mut map = vec![None; right.elements.len()];
        for (r, l) in given {
            let (at_right, at_left) = (right.index(&r.text), left.index(&l.text));
            for (name, found, side) in [(r, at_right, "right"), (l, at_left, "left")] {
                if found.is_none() {
                    let what = format!("there is no element `{}` on the {side} side", name.text);
                    findings.push(Diagnostic::error("toss-unknown-element", name.span, what).hint(
                        "write `with [r <- l]`: an element of the right side, then one of the left",
                    ));
                }
            }
            let (Some(at_right), Some(at_left)) = (at_right, at_left) else { continue };
            if map[at_right].is_some() {
                let what = format!("`{}` replaces two elements", r.text);
                findings.push(Diagnostic::error("toss-given-twice", r.span, what));
            }
            map[at_right] = Some(at_left);
        }
        map
    }

    /// Reports a rule that deletes elements although constants name elements.
    fn check_deleted(
        &self,
        rule: &syntax::Rule,
        left: &FlatStructure,
        map: &[Option<usize>],
        findings: &mut Diagnostics,
    ) {
        let deleted = (0..left.elements.len()).find(|&l| !map.contains(&Some(l)));
        if let (Some(constant), Some(l)) = (self.signature.constants.first(), deleted) {
            let name = &left.elements[l].text;
            let what =
                format!("the rule deletes `{name}`, which may be an element that a constant names");
            findings.push(
                Diagnostic::error("toss-deleted-constant", rule.name.span, what)
                    .note(constant.span, "a constant is given here")
                    .hint("mark elements with a predicate instead of deleting them"),
            );
        }
    }

    fn right_tuples(
        &self,
        right: &FlatStructure,
        findings: &mut Diagnostics,
    ) -> Option<Vec<AddedTuple>> {
        let mut tuples = Vec::new();
        let mut is_fine = true;
        for tuple in &right.tuples {
            if tuple.is_optional {
                let what =
                    format!("`{}` cannot be optional on the right side", tuple.relation.text);
                findings.push(
                    Diagnostic::error("toss-optional-on-right", tuple.span, what)
                        .hint("only tuples on the left side may be optional"),
                );
                is_fine = false;
            }
            let n = tuple.elements.len();
            let is_set =
                self.signature.check_set(&tuple.relation, n, tuple.span, "by a rule", findings);
            let arguments: Option<Vec<usize>> =
                tuple.elements.iter().map(|e| right.index(&e.text)).collect();
            match (is_set, self.vocabulary.relation(&tuple.relation.text), arguments) {
                (true, Some(relation), Some(arguments)) => {
                    tuples.push(AddedTuple { relation, arguments });
                }
                _ => is_fine = false,
            }
        }
        tuples.sort();
        tuples.dedup();
        is_fine.then_some(tuples)
    }

    /// Builds the effect of a rule that keeps the universe, by Definition 2 of Kaiser & Stafiniak
    /// 2011. Of embedded relations the tuples of the left side are deleted, all other tuples stay,
    /// and the tuples of the right side are added.
    fn tuples_effect(
        &self,
        left: &FlatStructure,
        embedded: &[agon_structures::structure::RelationId],
        mut add: Vec<AddedTuple>,
    ) -> Effect {
        let mut delete = Vec::new();
        for tuple in &left.tuples {
            let Some(relation) = self.vocabulary.relation(&tuple.relation.text) else { continue };
            let arguments: Option<Vec<usize>> =
                tuple.elements.iter().map(|e| left.index(&e.text)).collect();
            let Some(arguments) = arguments else { continue };
            let added = add.iter().position(|a| a.relation == relation && a.arguments == arguments);
            match added {
                // The tuple is present already and stays.
                Some(place) if !tuple.is_optional => {
                    add.remove(place);
                }
                Some(_) => {}
                None if embedded.contains(&relation) => {
                    delete.push(DeletePattern {
                        relation,
                        arguments: arguments.into_iter().map(Some).collect(),
                    });
                }
                None => {}
            }
        }
        delete.sort();
        delete.dedup();
        Effect::Tuples { delete, add }
    }

    fn by_formula(
        &self,
        rule: &syntax::Rule,
        elements: &[Name],
        condition: &syntax::Formula,
        effects: &[syntax::Effect],
        findings: &mut Diagnostics,
    ) -> Option<ArenaRule> {
        const FREE: &str = "the elements of the rule";
        check_variables(elements, self.signature, findings);
        if let Some(name) = rule.embedded.first() {
            let what = "`emb` has no meaning in a rule by formula";
            findings.push(
                Diagnostic::error("toss-embedding-by-formula", name.span, what)
                    .hint("write negated conditions in the formula, and deleted tuples in `RELS`"),
            );
        }
        let mut scope = Scope::new(self.signature, elements, FREE);
        let mut parts: Vec<Part> = conjuncts(condition)
            .into_iter()
            .map(|conjunct| Part {
                formula: scope.formula(conjunct, findings),
                reason: Reason::Match,
                span: conjunct.span,
            })
            .collect();
        self.pre(rule, elements, FREE, &mut parts, findings);
        let (mut delete, mut add) = (Vec::new(), Vec::new());
        for effect in effects {
            self.effect(effect, elements, &mut delete, &mut add, findings);
        }
        delete.sort();
        delete.dedup();
        add.sort();
        add.dedup();
        let equations = Equations::new(self.sheet, self.signature, self.vocabulary, rule);
        let post = rule.post.as_ref().map(|post| {
            let mut scope = equations.scope(elements, FREE);
            let variables = elements.iter().map(|name| Variable::new(&name.text)).collect();
            Post { variables, formula: scope.formula(post, findings), span: post.span }
        });
        let places: Vec<(Name, usize)> =
            elements.iter().enumerate().map(|(place, name)| (name.clone(), place)).collect();
        let mut lowered = arena_rule(rule, elements, parts, Effect::Tuples { delete, add }, post);
        equations.add(elements, &places, &mut lowered, findings);
        Some(lowered)
    }

    fn effect(
        &self,
        effect: &syntax::Effect,
        elements: &[Name],
        delete: &mut Vec<DeletePattern>,
        add: &mut Vec<AddedTuple>,
        findings: &mut Diagnostics,
    ) {
        let n = effect.arguments.len();
        if !self.signature.check_set(&effect.relation, n, effect.span, "by a rule", findings) {
            return;
        }
        let Some(relation) = self.vocabulary.relation(&effect.relation.text) else { return };
        let mut arguments = Vec::new();
        for name in &effect.arguments {
            let index = elements.iter().position(|element| element.text == name.text);
            if name.text == "_" && !effect.holds {
                arguments.push(None);
            } else if index.is_some() {
                arguments.push(index);
            } else {
                let what = match name.text.as_str() {
                    "_" => "`_` means any element, which is allowed only in deletions".to_owned(),
                    other => format!("`{other}` is not an element of the rule"),
                };
                let mut finding = Diagnostic::error("toss-unknown-element", name.span, what);
                let known = elements.iter().map(|element| element.text.as_str());
                if self.signature.constant(&name.text).is_some() {
                    finding = finding.hint(format!(
                        "it is a constant: add an element `x` with `x = {}` in `MATCH`",
                        name.text
                    ));
                } else if let Some(meant) = did_you_mean(&name.text, known) {
                    finding = finding.did_you_mean(name.span, meant);
                }
                findings.push(finding);
                return;
            }
        }
        if effect.holds {
            add.push(AddedTuple { relation, arguments: arguments.into_iter().flatten().collect() });
        } else {
            delete.push(DeletePattern { relation, arguments });
        }
    }
}

/// Decides which elements of the right side keep the id and name of the element that they replace.
fn kept_identities(
    left: &FlatStructure,
    right: &FlatStructure,
    map: &[Option<usize>],
) -> Vec<bool> {
    let keeping = |l: usize| {
        let replacing: Vec<usize> = (0..map.len()).filter(|&r| map[r] == Some(l)).collect();
        let same = replacing.iter().find(|&&r| right.elements[r].text == left.elements[l].text);
        same.or(replacing.first()).copied()
    };
    (0..map.len()).map(|r| map[r].is_some_and(|l| keeping(l) == Some(r))).collect()
}

/// Reports a reference to an unknown rule.
pub(super) fn unknown_rule(name: &Name, sheet: &GameSheet, findings: &mut Diagnostics) {
    let what = format!("there is no rule `{}`", name.text);
    let mut finding = Diagnostic::error("toss-unknown-rule", name.span, what);
    let known = sheet.rules.iter().map(|rule| rule.name.text.as_str());
    if let Some(meant) = did_you_mean(&name.text, known) {
        finding = finding.did_you_mean(name.span, meant);
    }
    findings.push(finding);
}

fn arena_rule(
    rule: &syntax::Rule,
    elements: &[Name],
    parts: Vec<Part>,
    effect: Effect,
    post: Option<Post>,
) -> ArenaRule {
    ArenaRule {
        name: rule.name.text.clone(),
        elements: elements.iter().map(|name| Variable::new(&name.text)).collect(),
        condition: Formula::And(parts.iter().map(|part| part.formula.clone()).collect()),
        parts,
        effect,
        post,
        invariant: None,
        dynamics: Vec::new(),
        updates: Vec::new(),
        parameters: Vec::new(),
        history: Vec::new(),
        span: rule.name.span,
    }
}

fn atom(tuple: &FlatTuple) -> Formula {
    let variables: Vec<Variable> =
        tuple.elements.iter().map(|name| Variable::new(&name.text)).collect();
    Formula::atom(&tuple.relation.text, variables)
}

/// Returns the conjuncts of a conjunction, or the formula itself.
fn conjuncts(formula: &syntax::Formula) -> Vec<&syntax::Formula> {
    match &formula.kind {
        syntax::FormulaKind::And(parts) => parts.iter().flat_map(conjuncts).collect(),
        _ => vec![formula],
    }
}

/// Returns all tuples of a length over the first `n_elements` indices.
fn tuples_over(n_elements: usize, length: usize) -> Vec<Vec<usize>> {
    (0..length).fold(vec![Vec::new()], |tuples, _| {
        tuples
            .into_iter()
            .flat_map(|tuple| {
                (0..n_elements).map(move |next| {
                    let mut longer = tuple.clone();
                    longer.push(next);
                    longer
                })
            })
            .collect()
    })
}
