//! Proofs of sentences that hold.

use std::collections::BTreeSet;

use agon_datalog::{Symbol, TermId};

use super::facts::{Bindings, Facts};
use super::{Because, Proof, Support, Why, WhyError};
use crate::rules::{Condition, Rule, RuleAtom};
use crate::symbols::keyword;

/// Maximum depth of a proof, and maximum number of sentences in it.
const MAX_DEPTH: usize = 60;
const MAX_SENTENCES: usize = 2_000;

type Sentence = (Symbol, Vec<TermId>);

/// The state of a proof under construction.
struct ProofState {
    /// The sentences being proved further up. A proof may not rest on its own conclusion.
    open: Vec<Sentence>,
    /// The sentences that have been proved.
    shown: BTreeSet<Sentence>,
}

impl Why {
    /// Proves a sentence that holds.
    pub(super) fn prove(&mut self, relation: Symbol, row: &[TermId]) -> Result<Proof, WhyError> {
        let mut state = ProofState { open: Vec::new(), shown: BTreeSet::new() };
        let sentence = (relation, row.to_vec());
        let proof = self.facts.prove(&sentence, &mut state)?;
        let sentence = self.facts.sentence_text(&sentence);
        Ok(proof.unwrap_or(Proof { sentence, because: Because::TooDeep }))
    }
}

impl Facts {
    /// Proves a sentence. `None` if every proof rests on a sentence further up.
    fn prove(
        &mut self,
        sentence: &Sentence,
        state: &mut ProofState,
    ) -> Result<Option<Proof>, WhyError> {
        let text = self.sentence_text(sentence);
        let given = match sentence.0 {
            keyword::TRUE => Some(Because::State),
            keyword::DOES => Some(Because::Move),
            _ if state.shown.contains(sentence) => Some(Because::ShownAbove),
            _ => None,
        };
        if let Some(because) = given {
            return Ok(Some(Proof { sentence: text, because }));
        }
        if state.open.contains(sentence) {
            return Ok(None);
        }
        if state.open.len() >= MAX_DEPTH || state.shown.len() >= MAX_SENTENCES {
            return Ok(Some(Proof { sentence: text, because: Because::TooDeep }));
        }
        state.open.push(sentence.clone());
        let mut proof = None;
        for index in self.rules_for(sentence.0, sentence.1.len()) {
            let rule = self.game.rules().rules()[index].clone();
            let mut bindings: Bindings = vec![None; rule.n_variables as usize];
            if !self.matches_all(&rule.head.arguments, &sentence.1, &mut bindings) {
                continue;
            }
            let conditions = Facts::evaluation_order(&rule, &bindings);
            if let Some(supports) = self.support(&rule, &conditions, &mut bindings, state)? {
                let span = self.game.rules().sheet().clauses[rule.clause].span;
                let because = if rule.body.is_empty() {
                    Because::Fact(span)
                } else {
                    Because::Rule(span, supports)
                };
                proof = Some(Proof { sentence: text, because });
                break;
            }
        }
        state.open.pop();
        if let Some(Proof { because: Because::Rule(..), .. }) = &proof {
            state.shown.insert(sentence.clone());
        }
        Ok(proof)
    }

    /// Proves all the conditions together, for the first binding of the variables that works.
    fn support(
        &mut self,
        rule: &Rule,
        conditions: &[Condition],
        bindings: &mut Bindings,
        state: &mut ProofState,
    ) -> Result<Option<Vec<Support>>, WhyError> {
        let Some((condition, rest)) = conditions.split_first() else { return Ok(Some(Vec::new())) };
        match condition {
            Condition::Differ(a, b, _) => {
                let (a, b) = (
                    self.term_text(a, bindings, Some(rule)),
                    self.term_text(b, bindings, Some(rule)),
                );
                if a == b {
                    return Ok(None);
                }
                let rest = self.support(rule, rest, bindings, state)?;
                Ok(rest.map(|rest| prepend(Support::Different(a, b), rest)))
            }
            Condition::Fails(atom) => {
                if self.holds(atom, bindings)? {
                    return Ok(None);
                }
                let text = self.atom_text(atom, bindings, Some(rule));
                let rest = self.support(rule, rest, bindings, state)?;
                Ok(rest.map(|rest| prepend(Support::DoesNotHold(text), rest)))
            }
            Condition::Holds(atom) => {
                let mut solutions: Vec<(Vec<TermId>, Bindings)> = Vec::new();
                self.each_match(atom, bindings, &mut |row, filled| {
                    solutions.push((row.to_vec(), filled.clone()));
                    true
                })?;
                for (row, mut filled) in solutions {
                    // Test first whether the rest can be met at all, because that is cheaper than a
                    // proof.
                    if !self.can_meet(rest, &mut filled)? {
                        continue;
                    }
                    // An abandoned proof is not shown, so its sentences do not count as shown.
                    let shown = state.shown.clone();
                    if let Some(proof) = self.prove(&(atom.relation, row), state)?
                        && let Some(supports) = self.support(rule, rest, &mut filled, state)?
                    {
                        return Ok(Some(prepend(Support::Holds(proof), supports)));
                    }
                    state.shown = shown;
                }
                Ok(None)
            }
        }
    }

    /// Returns whether an atom holds for some values of the unbound variables.
    pub(super) fn holds(&mut self, atom: &RuleAtom, bindings: &Bindings) -> Result<bool, WhyError> {
        let mut found = false;
        self.each_match(atom, &mut bindings.clone(), &mut |_, _| {
            found = true;
            false
        })?;
        Ok(found)
    }

    /// Returns whether all conditions can be met together.
    pub(super) fn can_meet(
        &mut self,
        conditions: &[Condition],
        bindings: &mut Bindings,
    ) -> Result<bool, WhyError> {
        let Some((condition, rest)) = conditions.split_first() else { return Ok(true) };
        match condition {
            Condition::Differ(a, b, _) => {
                let differ = self.ground(a, bindings) != self.ground(b, bindings)
                    || self.term_text(a, bindings, None) != self.term_text(b, bindings, None);
                Ok(differ && self.can_meet(rest, bindings)?)
            }
            Condition::Fails(atom) => {
                Ok(!self.holds(atom, bindings)? && self.can_meet(rest, bindings)?)
            }
            Condition::Holds(atom) => {
                let mut solutions = Vec::new();
                self.each_match(atom, bindings, &mut |_, filled| {
                    solutions.push(filled.clone());
                    true
                })?;
                for mut filled in solutions {
                    if self.can_meet(rest, &mut filled)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
        }
    }

    fn sentence_text(&self, (relation, row): &Sentence) -> String {
        let name = self.game.rules().sheet().symbols.name(*relation);
        if row.is_empty() {
            return name.to_owned();
        }
        let arguments: Vec<String> = row.iter().map(|&term| self.game.text(term)).collect();
        format!("({name} {})", arguments.join(" "))
    }
}

fn prepend(first: Support, mut rest: Vec<Support>) -> Vec<Support> {
    rest.insert(0, first);
    rest
}
