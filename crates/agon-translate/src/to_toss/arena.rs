//! The translated game before it is printed, and its construction.

use std::collections::BTreeSet;

use agon_datalog::TermId;
use agon_gdl::symbols::keyword;

use super::cases::{TranslatedRule, translated_rules};
use super::domain::Domain;
use super::effects::{Class, Effects, Entry};
use super::formula::{FALSE, Form, Relation, Val, Var, and, not, or};
use super::lift::Lifter;
use super::overlaps::exclude_overlaps;
use super::places::PlaceMap;
use super::sample_evaluator::SampleEvaluator;
use super::sampling::Sample;
use super::turns::{Turns, turns};
use super::{Construct, ToTossError, ToTossOptions};

/// A structure rewriting game whose elements are terms.
pub(super) struct Arena<'d> {
    pub(super) lifter: Lifter<'d>,
    pub(super) turns: Turns,
    /// Rules with their source and target locations.
    pub(super) translated_rules: Vec<(usize, usize, TranslatedRule)>,
    /// Condition under which play ends.
    pub(super) terminal: Form,
    /// Payoffs by location and role.
    pub(super) payoffs: Vec<Vec<Payoff>>,
    /// The predicates that apply to places.
    pub(super) place_map: PlaceMap,
}

/// The payoff of a role, as a sum.
#[derive(Clone, Debug, Default)]
pub(super) struct Payoff {
    /// Constants, each added where its formula holds.
    pub(super) fixed: Vec<(i64, Form)>,
    /// Numbers that are read from a variable, each added where its formula holds.
    pub(super) read: Vec<(Var, Form)>,
}

/// A class of moves at a location, with its effects.
type ClassEffects = (usize, Class, Vec<Entry>);

/// Builds the game from the terms and samples.
pub(super) fn arena<'d>(
    domain: &'d Domain,
    options: &ToTossOptions,
) -> Result<Arena<'d>, ToTossError> {
    options.begin("effects")?;
    let mut lifter = Lifter::new(domain, options.conditions);
    let turns = turns(domain);
    let terminal = lifter.ask(keyword::TERMINAL, Vec::new(), None)?.form;
    let mut open: Vec<ClassEffects> = Vec::new();
    let mut payoffs = Vec::new();
    for (index, location) in turns.locations.iter().enumerate() {
        for &role in &location.active {
            let mut effects = Effects {
                lifter: &mut lifter,
                location,
                tokens: &turns.tokens,
                waiting: &turns.waiting,
            };
            for class in effects.classes(role)? {
                options.check_time()?;
                let entries = effects.entries(&class)?;
                open.push((index, class, entries));
            }
        }
        let mut of_location = Vec::new();
        for role in 0..domain.moves.len() {
            let effects = Effects {
                lifter: &mut lifter,
                location,
                tokens: &turns.tokens,
                waiting: &turns.waiting,
            };
            of_location.push(payoff(effects, role)?);
        }
        payoffs.push(of_location);
    }
    options.begin("cases")?;
    let evaluator = SampleEvaluator::new(&lifter)?;
    let mut made = Vec::new();
    for (location, class, entries) in open {
        options.check_time()?;
        let here: Vec<usize> = (0..domain.samples.len())
            .filter(|&sample| {
                is_at(domain, &domain.samples[sample], turns.locations[location].token)
            })
            .collect();
        let blame = entries
            .iter()
            .find(|e| e.holds && turns.tokens.contains(&e.predicate))
            .and_then(|e| e.rule);
        for translated_rule in translated_rules(&mut lifter, &evaluator, &class, entries, &here)? {
            let target = target(&turns, location, &translated_rule).ok_or_else(|| {
                let why = "after some move no role or several roles have the turn";
                match blame {
                    Some(rule) => lifter.error_at(rule, Construct::Turns, why),
                    None => {
                        ToTossError { construct: Construct::Turns, why: why.to_owned(), line: None }
                    }
                }
            })?;
            made.push((location, target, translated_rule));
        }
    }
    exclude_overlaps(&mut lifter, &mut payoffs);
    Ok(Arena {
        lifter,
        turns,
        translated_rules: made,
        terminal,
        payoffs,
        place_map: PlaceMap::default(),
    })
}

/// Returns the location that a rule leads to, or `None` if it is not unique.
fn target(turns: &Turns, location: usize, translated_rule: &TranslatedRule) -> Option<usize> {
    if turns.tokens.is_empty() {
        return Some(location);
    }
    let coming: BTreeSet<usize> = translated_rule
        .changes
        .iter()
        .filter(|change| change.holds && turns.tokens.contains(&change.predicate))
        .map(|change| change.predicate)
        .collect();
    if coming.is_empty() && turns.locations[location].active.first() != Some(&translated_rule.role)
    {
        // The other roles act at the same time as the first one, whose rule determines the
        // location.
        return Some(usize::MAX);
    }
    let mut coming = coming.into_iter();
    let (only, more) = (coming.next()?, coming.next());
    if more.is_some() {
        return None;
    }
    turns.locations.iter().position(|location| location.token == Some(only))
}

fn is_at(domain: &Domain, sample: &Sample, token: Option<usize>) -> bool {
    let Some(token) = token else { return true };
    sample
        .fluents
        .iter()
        .filter_map(|&term| domain.place(term))
        .any(|(predicate, _)| predicate == token)
}

/// Returns the payoff of a role where play ends at a location.
fn payoff(effects: Effects<'_, '_>, role: usize) -> Result<Payoff, ToTossError> {
    let role_term = effects.lifter.domain.game.role_terms()[role];
    let mut payoff = Payoff::default();
    for index in effects.lifter.rules_of(keyword::GOAL, 2) {
        let v = effects.lifter.fresh("value");
        for instance in effects.lifter.answers(index, &[Val::Term(role_term), Val::Var(v)], None)? {
            // Substituted explicitly, because the value must not be quantified away.
            let locals = instance.locals.clone();
            let form = effects.here(&and(instance.parts.iter().map(|part| part.form.clone())));
            if form.is_false() {
                continue;
            }
            let constant = form.clone().conjuncts().into_iter().find_map(|part| match part {
                Form::Same(Val::Var(a), Val::Term(term))
                | Form::Same(Val::Term(term), Val::Var(a))
                    if a == v =>
                {
                    Some(term)
                }
                _ => None,
            });
            match constant {
                Some(term) => {
                    let Some(value) = number(effects.lifter.domain, term) else { continue };
                    let by = std::collections::BTreeMap::from([(v, Val::Term(term))]);
                    let form = super::formula::ex(&locals, form.replace(&by));
                    match payoff.fixed.iter_mut().find(|(known, _)| *known == value) {
                        Some((_, known)) => *known = or([known.clone(), form]),
                        None => payoff.fixed.push((value, form)),
                    }
                }
                None => payoff.read.push((v, super::formula::ex(&locals, form))),
            }
        }
    }
    payoff.fixed.retain(|(value, form)| *value != 0 && !form.is_false());
    payoff.fixed.sort_by_key(|(value, _)| std::cmp::Reverse(*value));
    Ok(payoff)
}

/// Returns the number that a term spells.
pub(super) fn number(domain: &Domain, term: TermId) -> Option<i64> {
    if domain.bank.arity(term) != 0 {
        return None;
    }
    domain.game.text(term).parse().ok()
}

impl Arena<'_> {
    /// Calls `visit` on every formula of the game except the definitions.
    pub(super) fn each_form(&self, visit: &mut dyn FnMut(&Form)) {
        visit(&self.terminal);
        self.translated_rules
            .iter()
            .for_each(|(_, _, translated_rule)| visit(&translated_rule.condition));
        for payoff in self.payoffs.iter().flatten() {
            payoff.fixed.iter().for_each(|(_, form)| visit(form));
            payoff.read.iter().for_each(|(_, form)| visit(form));
        }
    }

    /// Returns the definitions that are used.
    pub(super) fn used_definitions(&self) -> BTreeSet<usize> {
        let mut used: BTreeSet<usize> = BTreeSet::new();
        let mut open: Vec<usize> = Vec::new();
        let mut note = |form: &Form, open: &mut Vec<usize>| {
            form.each_atom(&mut |relation, _| {
                if let Relation::Defined(index) = relation
                    && used.insert(index)
                {
                    open.push(index);
                }
            });
        };
        self.each_form(&mut |form| note(form, &mut open));
        while let Some(index) = open.pop() {
            note(&self.lifter.defined[index].body, &mut open);
        }
        used
    }

    /// Drops changes of predicates that no formula reads, such as a control fluent that the
    /// locations replace.
    pub(super) fn drop_unread_changes(&mut self) {
        loop {
            let mut read: BTreeSet<usize> = BTreeSet::new();
            let mut note = |form: &Form| {
                form.each_atom(&mut |relation, _| {
                    if let Relation::Fluent(index) = relation {
                        read.insert(index);
                    }
                });
            };
            self.each_form(&mut note);
            for index in self.used_definitions() {
                note(&self.lifter.defined[index].body);
            }
            let mut changed = false;
            for (_, _, translated_rule) in &mut self.translated_rules {
                let before = translated_rule.changes.len();
                translated_rule.changes.retain(|change| read.contains(&change.predicate));
                changed |= translated_rule.changes.len() < before;
            }
            if !changed {
                return;
            }
        }
    }

    /// Returns the elements that a predicate with these coordinates holds of.
    pub(super) fn row(&self, predicate: usize, coordinates: &[TermId]) -> Vec<TermId> {
        let place = self.place_map.functor_of.get(&predicate);
        place
            .and_then(|&functor| self.lifter.domain.bank.find(functor, coordinates))
            .map_or_else(|| coordinates.to_vec(), |place| vec![place])
    }

    /// Returns the condition of a rule together with the condition that play has not ended.
    pub(super) fn condition(&self, translated_rule: &TranslatedRule) -> Form {
        match &self.terminal {
            form if form.is_false() => translated_rule.condition.clone(),
            form if form.is_true() => FALSE,
            form => and([translated_rule.condition.clone(), not(form.clone())]),
        }
    }
}
