//! Proofs of what holds.

use std::collections::BTreeSet;

use agon_datalog::{Symbol, TermId};

use super::facts::{Bindings, Facts};
use super::{Because, Proof, Support, Why, WhyError};
use crate::rules::{Condition, Rule, RuleAtom};
use crate::symbols::keyword;

/// How deep a proof is shown, and how many sentences one may hold.
const MAX_DEPTH: usize = 60;
const MAX_SENTENCES: usize = 2_000;

type Sentence = (Symbol, Vec<TermId>);

/// The state of one proof being made.
struct Making {
    /// What is being proved further up: a proof may not rest on its own conclusion.
    above: Vec<Sentence>,
    /// What has been shown.
    shown: BTreeSet<Sentence>,
}

impl Why {
    /// A proof of a sentence that holds.
    pub(super) fn prove(&mut self, relation: Symbol, row: &[TermId]) -> Result<Proof, WhyError> {
        let mut making = Making { above: Vec::new(), shown: BTreeSet::new() };
        let sentence = (relation, row.to_vec());
        let proof = self.facts.prove(&sentence, &mut making)?;
        let sentence = self.facts.sentence_text(&sentence);
        Ok(proof.unwrap_or(Proof { sentence, because: Because::TooDeep }))
    }
}

impl Facts {
    /// `None` if every proof rests on something further up.
    fn prove(
        &mut self,
        sentence: &Sentence,
        making: &mut Making,
    ) -> Result<Option<Proof>, WhyError> {
        let text = self.sentence_text(sentence);
        let given = match sentence.0 {
            keyword::TRUE => Some(Because::State),
            keyword::DOES => Some(Because::Move),
            _ if making.shown.contains(sentence) => Some(Because::ShownAbove),
            _ => None,
        };
        if let Some(because) = given {
            return Ok(Some(Proof { sentence: text, because }));
        }
        if making.above.contains(sentence) {
            return Ok(None);
        }
        if making.above.len() >= MAX_DEPTH || making.shown.len() >= MAX_SENTENCES {
            return Ok(Some(Proof { sentence: text, because: Because::TooDeep }));
        }
        making.above.push(sentence.clone());
        let mut proof = None;
        for index in self.rules_for(sentence.0, sentence.1.len()) {
            let rule = self.game.rules().rules()[index].clone();
            let mut bindings: Bindings = vec![None; rule.n_variables as usize];
            if !self.fits(&rule.head.arguments, &sentence.1, &mut bindings) {
                continue;
            }
            let conditions = Facts::in_order(&rule, &bindings);
            if let Some(supports) = self.support(&rule, &conditions, &mut bindings, making)? {
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
        making.above.pop();
        if let Some(Proof { because: Because::Rule(..), .. }) = &proof {
            making.shown.insert(sentence.clone());
        }
        Ok(proof)
    }

    /// Why all the conditions hold together, for the first filling of the variables that works.
    fn support(
        &mut self,
        rule: &Rule,
        conditions: &[Condition],
        bindings: &mut Bindings,
        making: &mut Making,
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
                let rest = self.support(rule, rest, bindings, making)?;
                Ok(rest.map(|rest| prepend(Support::Different(a, b), rest)))
            }
            Condition::Fails(atom) => {
                if self.holds(atom, bindings)? {
                    return Ok(None);
                }
                let text = self.atom_text(atom, bindings, Some(rule));
                let rest = self.support(rule, rest, bindings, making)?;
                Ok(rest.map(|rest| prepend(Support::DoesNotHold(text), rest)))
            }
            Condition::Holds(atom) => {
                let mut fillings: Vec<(Vec<TermId>, Bindings)> = Vec::new();
                self.each_match(atom, bindings, &mut |row, filled| {
                    fillings.push((row.to_vec(), filled.clone()));
                    true
                })?;
                for (row, mut filled) in fillings {
                    // First whether the rest can be met at all: it is cheaper than a proof.
                    if !self.can_meet(rest, &mut filled)? {
                        continue;
                    }
                    // A proof that leads nowhere is not shown, so nothing in it counts as shown.
                    let shown = making.shown.clone();
                    if let Some(proof) = self.prove(&(atom.relation, row), making)?
                        && let Some(supports) = self.support(rule, rest, &mut filled, making)?
                    {
                        return Ok(Some(prepend(Support::Holds(proof), supports)));
                    }
                    making.shown = shown;
                }
                Ok(None)
            }
        }
    }

    /// Whether an atom holds for some filling of the variables that have no value yet.
    pub(super) fn holds(&mut self, atom: &RuleAtom, bindings: &Bindings) -> Result<bool, WhyError> {
        let mut found = false;
        self.each_match(atom, &mut bindings.clone(), &mut |_, _| {
            found = true;
            false
        })?;
        Ok(found)
    }

    /// Whether all conditions can be met together.
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
                let mut fillings = Vec::new();
                self.each_match(atom, bindings, &mut |_, filled| {
                    fillings.push(filled.clone());
                    true
                })?;
                for mut filled in fillings {
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
