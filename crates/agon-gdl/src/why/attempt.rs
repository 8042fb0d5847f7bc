//! Why a sentence does not hold: how far each rule gets.

use agon_datalog::TermId;
use agon_text::closest_name;

use super::facts::{Bindings, Facts, Sentence};
use super::{Attempt, Failure, Unmet, Why, WhyError};
use crate::rules::{Condition, Rule, RuleAtom, RuleTerm};
use crate::symbols::keyword;

/// Maximum number of levels of "because that does not hold either".
const MAX_DEPTH: usize = 3;

/// Maximum number of rules shown for one sentence.
const MAX_RULES: usize = 12;

impl Why {
    /// Explains why a sentence does not hold.
    pub(super) fn fail(&mut self, sentence: &Sentence, depth: usize) -> Result<Failure, WhyError> {
        let text = sentence.text.clone().unwrap_or_else(|| {
            self.facts.atom_text(&sentence.atom, &vec![None; sentence.n_variables], None)
        });
        let mut failure = Failure { sentence: text, attempts: Vec::new(), remark: None };
        let atom = &sentence.atom;
        if atom.relation == keyword::TRUE || atom.relation == keyword::DOES {
            let what = if atom.relation == keyword::TRUE { "the state" } else { "the moves made" };
            let instead = self.near_misses(atom)?;
            failure.remark = Some(if instead.is_empty() {
                format!("it is not part of {what}")
            } else {
                format!("it is not part of {what}; there is {}", instead.join(" "))
            });
            return Ok(failure);
        }
        let candidates = self.facts.rules_for(atom.relation, atom.arguments.len());
        if candidates.is_empty() {
            failure.remark = Some(self.no_rule(sentence));
            return Ok(failure);
        }
        for index in candidates {
            let rule = self.facts.game.rules().rules()[index].clone();
            let mut bindings: Bindings = vec![None; rule.n_variables as usize];
            if !self.could_derive(&rule, atom, &mut bindings) || rule.body.is_empty() {
                continue;
            }
            if failure.attempts.len() == MAX_RULES {
                failure.remark = Some("further rules are not shown".to_owned());
                break;
            }
            failure.attempts.extend(self.attempt(&rule, bindings, depth)?);
        }
        if failure.attempts.is_empty() && failure.remark.is_none() {
            failure.remark = Some(match sentence.unknown_names.first() {
                Some(name) => self.unknown_name(name),
                None => "no rule or fact derives a sentence of this form".to_owned(),
            });
        }
        Ok(failure)
    }

    /// Returns parts of the state, or moves, that differ from the sentence in one argument only.
    fn near_misses(&mut self, atom: &RuleAtom) -> Result<Vec<String>, WhyError> {
        let Some(RuleTerm::Function(wanted, parts)) = atom.arguments.last().cloned() else {
            return Ok(Vec::new());
        };
        let anything = (0..).map(RuleTerm::Variable).take(atom.arguments.len()).collect();
        let any = RuleAtom { relation: atom.relation, arguments: anything, span: atom.span };
        let mut rows: Vec<TermId> = Vec::new();
        self.facts.each_match(&any, &mut vec![None; any.arguments.len()], &mut |row, _| {
            rows.extend(row.last());
            true
        })?;
        let game = &self.facts.game;
        rows.retain(|&row| parts.len() > 1 && game.bank.has_form(row, wanted, parts.len()));
        let differs_at = |row: TermId| -> Vec<usize> {
            let pairs = game.bank.arguments(row).zip(&parts).enumerate();
            let differs = |have: TermId, part: &RuleTerm| {
                !has_variables(part) && self.facts.ground(part, &Vec::new()) != Some(have)
            };
            pairs.filter(|(_, (have, part))| differs(*have, part)).map(|(i, _)| i).collect()
        };
        // The last argument is usually the content of a place. Another content at the same place
        // explains more than the same content at another place.
        let (content, place): (Vec<TermId>, Vec<TermId>) = rows
            .into_iter()
            .filter(|&row| differs_at(row).len() == 1)
            .partition(|&row| differs_at(row) == [parts.len() - 1]);
        let near = if content.is_empty() { place } else { content };
        Ok(near.into_iter().take(3).map(|row| game.text(row)).collect())
    }

    /// Returns whether a rule's head unifies with a sentence. Binds the variables of the rule that
    /// the sentence determines.
    fn could_derive(&self, rule: &Rule, atom: &RuleAtom, bindings: &mut Bindings) -> bool {
        rule.head
            .arguments
            .iter()
            .zip(&atom.arguments)
            .all(|(pattern, asked)| self.could_be(pattern, asked, bindings))
    }

    fn could_be(&self, pattern: &RuleTerm, asked: &RuleTerm, bindings: &mut Bindings) -> bool {
        match (pattern, asked) {
            (_, RuleTerm::Variable(_)) => true,
            (RuleTerm::Variable(v), asked) => {
                // A term that has never occurred in this game matches nothing.
                let value = self.facts.ground(asked, &Vec::new());
                match (bindings[*v as usize], value) {
                    (Some(bound), Some(value)) => bound == value,
                    (None, Some(value)) => {
                        bindings[*v as usize] = Some(value);
                        true
                    }
                    (_, None) => has_variables(asked),
                }
            }
            (RuleTerm::Function(f, left), RuleTerm::Function(g, right)) => {
                f == g
                    && left.len() == right.len()
                    && left.iter().zip(right).all(|(l, r)| self.could_be(l, r, bindings))
            }
        }
    }

    /// Finds the first condition of a rule that cannot be met. `None` if all can, so that the
    /// reason is elsewhere.
    fn attempt(
        &mut self,
        rule: &Rule,
        bindings: Bindings,
        depth: usize,
    ) -> Result<Option<Attempt>, WhyError> {
        let conditions = Facts::evaluation_order(rule, &bindings);
        let mut n_met = 0;
        while n_met < conditions.len()
            && self.facts.can_meet(&conditions[..=n_met], &mut bindings.clone())?
        {
            n_met += 1;
        }
        let Some(unmet) = conditions.get(n_met) else { return Ok(None) };
        let filled = self.facts.fill(&conditions[..n_met], bindings)?;
        let text = |why: &Why, condition: &Condition| match condition {
            Condition::Holds(atom) => why.facts.atom_text(atom, &filled, Some(rule)),
            Condition::Fails(atom) => {
                format!("(not {})", why.facts.atom_text(atom, &filled, Some(rule)))
            }
            Condition::Differ(a, b, _) => format!(
                "(distinct {} {})",
                why.facts.term_text(a, &filled, Some(rule)),
                why.facts.term_text(b, &filled, Some(rule))
            ),
        };
        let met = conditions[..n_met].iter().map(|condition| text(self, condition)).collect();
        let unmet_text = text(self, unmet);
        let because = match unmet {
            Condition::Differ(..) => Unmet::Same,
            Condition::Holds(atom) if depth + 1 < MAX_DEPTH => {
                let sentence = self.sentence(atom, &filled, rule);
                Unmet::Fails(Some(Box::new(self.fail(&sentence, depth + 1)?)))
            }
            Condition::Holds(_) => Unmet::Fails(None),
            Condition::Fails(atom) => {
                let mut found: Option<Vec<TermId>> = None;
                self.facts.each_match(atom, &mut filled.clone(), &mut |row, _| {
                    found = Some(row.to_vec());
                    false
                })?;
                let row = found.expect("the condition fails because the atom holds");
                Unmet::Holds(Box::new(self.prove(atom.relation, &row)?))
            }
        };
        let span = self.facts.game.rules().sheet().clauses[rule.clause].span;
        Ok(Some(Attempt { rule: span, met, unmet: unmet_text, unmet_span: unmet.span(), because }))
    }

    /// Turns a condition into a sentence, with the known variables replaced.
    fn sentence(&self, atom: &RuleAtom, bindings: &Bindings, rule: &Rule) -> Sentence {
        let arguments = atom.arguments.iter().map(|term| self.fill_in(term, bindings)).collect();
        Sentence {
            atom: RuleAtom { relation: atom.relation, arguments, span: atom.span },
            n_variables: rule.n_variables as usize,
            text: None,
            unknown_names: Vec::new(),
        }
    }

    fn fill_in(&self, term: &RuleTerm, bindings: &Bindings) -> RuleTerm {
        match term {
            RuleTerm::Variable(v) => match bindings[*v as usize] {
                Some(value) => self.facts.as_rule_term(value),
                None => term.clone(),
            },
            RuleTerm::Function(symbol, arguments) => RuleTerm::Function(
                *symbol,
                arguments.iter().map(|a| self.fill_in(a, bindings)).collect(),
            ),
        }
    }

    fn unknown_name(&self, name: &str) -> String {
        let symbols = &self.facts.game.rules().sheet().symbols;
        let known = symbols.all().map(|(_, known)| known);
        match closest_name(name, known, (name.len() / 3).max(1)) {
            Some(known) => format!("the rulesheet has no name `{name}`; did you mean `{known}`?"),
            None => format!("the rulesheet has no name `{name}`"),
        }
    }

    fn no_rule(&self, sentence: &Sentence) -> String {
        let atom = &sentence.atom;
        let sheet = self.facts.game.rules().sheet();
        if let Some(name) = sentence.unknown_names.first() {
            return self.unknown_name(name);
        }
        let name = sheet.symbols.name(atom.relation);
        let heads = self
            .facts
            .game
            .rules()
            .rules()
            .iter()
            .filter(|rule| rule.head.relation == atom.relation);
        match heads.map(|rule| rule.head.arguments.len()).next() {
            Some(arity) => {
                format!(
                    "`{name}` has {arity} arguments in the rulesheet but {} here",
                    atom.arguments.len()
                )
            }
            None => format!("no rule or fact defines `{name}`"),
        }
    }
}

impl Facts {
    /// Returns the first binding of the variables that meets all conditions.
    fn fill(&mut self, conditions: &[Condition], bindings: Bindings) -> Result<Bindings, WhyError> {
        let Some((condition, rest)) = conditions.split_first() else { return Ok(bindings) };
        let Condition::Holds(atom) = condition else { return self.fill(rest, bindings) };
        let mut solutions = Vec::new();
        self.each_match(atom, &mut bindings.clone(), &mut |_, filled| {
            solutions.push(filled.clone());
            true
        })?;
        for filled in solutions {
            if self.can_meet(rest, &mut filled.clone())? {
                return self.fill(rest, filled);
            }
        }
        Ok(bindings)
    }

    fn as_rule_term(&self, term: TermId) -> RuleTerm {
        let bank = &self.game.bank;
        RuleTerm::Function(
            bank.symbol(term),
            bank.arguments(term).map(|a| self.as_rule_term(a)).collect(),
        )
    }
}

fn has_variables(term: &RuleTerm) -> bool {
    let mut found = false;
    term.each_variable(&mut |_| found = true);
    found
}
