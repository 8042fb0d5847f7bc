//! Rules of the translation: one rule for each case of a class of moves.
//!
//! A rewriting rule changes a fixed list of tuples. Where the effect of a move depends on the
//! state, there is one rule for each case that occurred in sampled plays. A case says of each
//! condition whether it holds, and of each set of affected tuples how many members it has. The
//! cases exclude each other, so no move is offered twice.

use std::collections::{BTreeMap, BTreeSet};

use agon_datalog::TermId;

use super::domain::{Domain, Functor};
use super::effects::{Class, Entry};
use super::formula::{Form, Val, Var, and, ex, not, or, same, without_implied};
use super::lift::Lifter;
use super::sample_evaluator::SampleEvaluator;
use super::{Construct, ToTossError};

/// Maximum number of sampled states in which a class of moves is evaluated.
const MAX_SAMPLES: usize = 150;

/// Maximum number of cases of a class of moves.
const MAX_CASES: usize = 128;

/// Maximum number of cases that are built by combining separately observed values.
const MAX_PRODUCT: usize = 32;

/// Maximum number of tuples that one entry may add or delete.
const MAX_COUNT: usize = 8;

/// From this number of tuples on, each tuple is required to be the direct successor of the one
/// before. Otherwise all ordered selections would be tried before the last condition rejects them:
/// there are 924 selections of six out of twelve.
const MIN_CHAINED: usize = 6;

/// Number of observations after which "never" and "always" are trusted.
const MIN_OBSERVATIONS: usize = 200;

/// Maximum number of cases up to which opposites of observed values are added.
const MAX_WITH_OPPOSITES: usize = 16;

/// Maximum number of cases of a class of moves, including cases with conditions that never held in
/// the sample.
const MAX_WITH_UNSEEN: usize = 16;

/// A rewriting rule of the translation.
#[derive(Clone, Debug)]
pub(super) struct TranslatedRule {
    pub(super) role: usize,
    pub(super) functor: Functor,
    /// Arguments of the move.
    pub(super) arguments: Vec<Val>,
    /// Variables of the embedding: those of the move first.
    pub(super) elements: Vec<Var>,
    pub(super) condition: Form,
    pub(super) changes: Vec<Change>,
    /// Variables of the move that are coordinates of a place in the embedding.
    pub(super) coordinates: BTreeMap<Var, (Var, usize)>,
}

/// A tuple that is added or deleted. `None` matches any element.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Change {
    pub(super) holds: bool,
    pub(super) predicate: usize,
    pub(super) tuple: Vec<Option<Val>>,
}

/// A condition that several entries share.
struct Group {
    extra: Vec<Var>,
    form: Form,
}

/// When an entry takes effect: always, once for each solution of a group, or where a group has no
/// solution.
#[derive(Copy, Clone)]
enum When {
    Always,
    With(usize),
    Without(usize),
}

/// Returns the rules for a class of moves.
pub(super) fn translated_rules(
    lifter: &mut Lifter<'_>,
    evaluator: &SampleEvaluator,
    class: &Class,
    entries: Vec<Entry>,
    location_samples: &[usize],
) -> Result<Vec<TranslatedRule>, ToTossError> {
    let (groups, when) = group(&entries);
    let cases = Cases { class, entries, groups, when };
    let vectors = cases.observed(lifter, evaluator, location_samples)?;
    let mut largest = vec![0; cases.groups.len()];
    for vector in &vectors {
        largest.iter_mut().zip(vector).for_each(|(most, count)| *most = (*most).max(*count));
    }
    Ok(vectors.iter().filter_map(|vector| cases.rule(lifter, vector, &largest)).collect())
}

/// The effects of a class of moves, grouped by their conditions.
///
/// A case is a vector with the number of solutions of each group.
struct Cases<'c> {
    class: &'c Class,
    entries: Vec<Entry>,
    groups: Vec<Group>,
    /// For each entry: when it takes effect.
    when: Vec<When>,
}

/// A substitution of new variables for those of a group.
type Renaming = BTreeMap<Var, Val>;

/// The left side of a rule under construction.
struct Embedding {
    elements: Vec<Var>,
    parts: Vec<Form>,
}

impl Cases<'_> {
    /// Returns the rule of a case, or `None` if its condition is contradictory. `largest` has the
    /// largest number of solutions of each group in any case.
    fn rule(
        &self,
        lifter: &mut Lifter<'_>,
        vector: &[usize],
        largest: &[usize],
    ) -> Option<TranslatedRule> {
        let class = self.class;
        let mut embedding =
            Embedding { elements: class.variables(), parts: vec![class.legal.clone()] };
        let mut copies: Vec<Vec<Renaming>> = Vec::new();
        for ((group, &n), &most) in self.groups.iter().zip(vector).zip(largest) {
            copies.push(group.require(lifter, n, most, &mut embedding));
        }
        let changes = self.changes(vector, &copies);
        let condition = and(without_implied(embedding.parts));
        (!condition.is_false()).then(|| TranslatedRule {
            role: class.role,
            functor: class.functor,
            arguments: class.arguments.clone(),
            elements: embedding.elements,
            condition,
            changes,
            coordinates: BTreeMap::new(),
        })
    }

    /// Returns the changes of a case, given the solutions of each group.
    fn changes(&self, vector: &[usize], copies: &[Vec<Renaming>]) -> Vec<Change> {
        let mut changes: Vec<Change> = Vec::new();
        for (entry, when) in self.entries.iter().zip(&self.when) {
            match *when {
                When::Always => changes.push(change(entry, &Renaming::new())),
                When::Without(index) => {
                    if vector[index] == 0 {
                        changes.push(change(entry, &Renaming::new()));
                    }
                }
                When::With(index) if self.groups[index].extra.is_empty() => {
                    if vector[index] > 0 {
                        changes.push(change(entry, &Renaming::new()));
                    }
                }
                When::With(index) => {
                    // Maps the entry's own variables to those of the group, by position.
                    changes.extend(copies[index].iter().map(|copy| {
                        let variables = entry.extra.iter().zip(&self.groups[index].extra);
                        let own = variables.map(|(mine, theirs)| (*mine, copy[theirs])).collect();
                        change(entry, &own)
                    }));
                }
            }
        }
        changes.sort();
        changes.dedup();
        // A tuple that is added need not be deleted first.
        let added: BTreeSet<(usize, Vec<Option<Val>>)> =
            changes.iter().filter(|c| c.holds).map(|c| (c.predicate, c.tuple.clone())).collect();
        changes.retain(|c| c.holds || !added.contains(&(c.predicate, c.tuple.clone())));
        changes
    }

    /// Returns the observed cases and those that are likely to occur.
    fn observed(
        &self,
        lifter: &Lifter<'_>,
        evaluator: &SampleEvaluator,
        location_samples: &[usize],
    ) -> Result<BTreeSet<Vec<usize>>, ToTossError> {
        let n_groups = self.groups.len();
        if n_groups == 0 {
            return Ok(BTreeSet::from([Vec::new()]));
        }
        let rows = self.sampled_moves(lifter.domain, location_samples);
        let mut vectors = self.counted(lifter, evaluator, &rows)?;
        if vectors.is_empty() {
            // The move was never legal in the sample: each condition may hold or not.
            if n_groups > 4 {
                return Ok(BTreeSet::from([vec![1; n_groups], vec![0; n_groups]]));
            }
            for bits in 0..1_usize << n_groups {
                vectors.insert((0..n_groups).map(|index| bits >> index & 1).collect());
            }
        } else if rows.iter().map(|(_, rows)| rows.len()).sum::<usize>() < MIN_OBSERVATIONS {
            add_opposites(n_groups, &mut vectors);
        }
        // If the sample missed cases before, combinations of separately observed values may occur.
        if lifter.domain.n_revisions > 1 {
            add_combinations(n_groups, &mut vectors);
        }
        vectors.extend(unseen(&self.groups, &vectors));
        if vectors.len() > MAX_CASES {
            let varied = |index: &usize| {
                vectors.iter().map(|v| v[*index]).collect::<BTreeSet<_>>().len() > 1
            };
            let index = (0..n_groups).find(varied).unwrap_or(0);
            let why =
                format!("the effect of a move depends on the state in {} ways", vectors.len());
            return Err(self.error(lifter, index, Construct::ManyCases, why));
        }
        Ok(vectors)
    }

    /// Returns the arguments of the moves of this class that are legal in the sampled states.
    fn sampled_moves(
        &self,
        domain: &Domain,
        location_samples: &[usize],
    ) -> Vec<(usize, Vec<Vec<TermId>>)> {
        let mut rows: Vec<(usize, Vec<Vec<TermId>>)> = Vec::new();
        for &sample in location_samples {
            let legal = domain.samples[sample].legal[self.class.role].iter();
            let mut own: Vec<Vec<TermId>> =
                legal.filter_map(|&term| self.move_arguments(domain, term)).collect();
            own.sort();
            own.dedup();
            if !own.is_empty() {
                rows.push((sample, own));
            }
        }
        // A selection is sufficient, except that states added after a difference are always used.
        let stride = rows.len().div_ceil(MAX_SAMPLES).max(1);
        let mut at = 0;
        rows.retain(|(sample, _)| {
            at += 1;
            at % stride == 0 || *sample >= domain.n_first
        });
        rows
    }

    /// Returns the variable arguments of a move, or `None` if it is not of this class.
    fn move_arguments(&self, domain: &Domain, term: TermId) -> Option<Vec<TermId>> {
        if (domain.bank.symbol(term), domain.bank.arity(term)) != self.class.functor {
            return None;
        }
        let mut row = Vec::new();
        for (value, cell) in self.class.arguments.iter().zip(domain.bank.arguments(term)) {
            match value {
                Val::Var(_) => row.push(cell),
                Val::Term(term) if *term != cell => return None,
                Val::Term(_) => {}
            }
        }
        Some(row)
    }

    /// Returns the cases that occur in the sampled states.
    fn counted(
        &self,
        lifter: &Lifter<'_>,
        evaluator: &SampleEvaluator,
        rows: &[(usize, Vec<Vec<TermId>>)],
    ) -> Result<BTreeSet<Vec<usize>>, ToTossError> {
        let given = self.class.variables();
        let mut counts: Vec<Vec<Vec<usize>>> = Vec::new();
        for (index, group) in self.groups.iter().enumerate() {
            let found = evaluator.counts(&group.form, &given, &group.extra, rows);
            counts.push(found.map_err(|error| {
                let why = format!("the effect of a move is too expensive to evaluate: {error}");
                self.error(lifter, index, Construct::Size, why)
            })?);
        }
        let mut vectors: BTreeSet<Vec<usize>> = BTreeSet::new();
        for (at, (_, rows)) in rows.iter().enumerate() {
            for row in 0..rows.len() {
                let vector: Vec<usize> = counts.iter().map(|counts| counts[at][row]).collect();
                if let Some(index) = vector.iter().position(|&count| count > MAX_COUNT) {
                    let relation = self.entry_of(index).map_or("", |entry| {
                        lifter.symbol_name(lifter.domain.predicates[entry.predicate].functor.0)
                    });
                    let name = lifter.symbol_name(self.class.functor.0);
                    let n = vector[index];
                    let why =
                        format!("one move `{name}` changes {n} tuples of `{relation}` at once");
                    return Err(self.error(lifter, index, Construct::ManyEffects, why));
                }
                vectors.insert(vector);
            }
        }
        Ok(vectors)
    }

    /// Returns the first entry whose effect depends on a group.
    fn entry_of(&self, group: usize) -> Option<&Entry> {
        let depends = |when: &When| match when {
            When::Always => false,
            When::With(index) | When::Without(index) => *index == group,
        };
        self.entries.iter().zip(&self.when).find(|(_, when)| depends(when)).map(|(entry, _)| entry)
    }

    /// Returns an error at the rule that is responsible for a group.
    fn error(
        &self,
        lifter: &Lifter<'_>,
        group: usize,
        construct: Construct,
        why: String,
    ) -> ToTossError {
        match self.entry_of(group).and_then(|entry| entry.rule) {
            Some(rule) => lifter.error_at(rule, construct, why),
            None => ToTossError { construct, why, line: None },
        }
    }
}

impl Group {
    /// Adds the condition that the group has exactly `n` solutions, where `most` is the largest
    /// number in any case. Returns the solutions, which become elements of the embedding.
    fn require(
        &self,
        lifter: &mut Lifter<'_>,
        n: usize,
        most: usize,
        embedding: &mut Embedding,
    ) -> Vec<Renaming> {
        let parts = &mut embedding.parts;
        let mut own: Vec<Renaming> = Vec::new();
        if self.extra.is_empty() {
            if n > 0 {
                parts.push(lifter.renamed(&self.form));
            } else if most > 0 {
                parts.push(not(lifter.renamed(&self.form)));
            }
            return own;
        }
        for _ in 0..n {
            let copy = copy(lifter, &self.extra);
            parts.push(lifter.renamed(&self.form).replace(&copy));
            if let Some(before) = own.last() {
                parts.push(in_order(&self.extra, before, &copy));
            }
            if n >= MIN_CHAINED {
                parts.push(none_between(lifter, self, own.last(), Some(&copy)));
            }
            embedding.elements.extend(self.extra.iter().filter_map(|v| variable(&copy[v])));
            own.push(copy);
        }
        if n >= MIN_CHAINED {
            parts.push(none_between(lifter, self, own.last(), None));
        } else if most > n {
            // There are no further solutions.
            let other = copy(lifter, &self.extra);
            let variables: Vec<Var> = other.values().filter_map(variable).collect();
            let further = lifter.renamed(&self.form).replace(&other);
            let different = own
                .iter()
                .map(|known| not(and(self.extra.iter().map(|v| same(known[v], other[v])))));
            let form = ex(&variables, and([further].into_iter().chain(different)));
            parts.push(not(form));
        }
        own
    }
}

/// Returns the change of an entry with its variables replaced.
fn change(entry: &Entry, copy: &Renaming) -> Change {
    let replaced = |value: Val| variable(&value).and_then(|v| copy.get(&v).copied());
    let tuple = entry.tuple.iter().map(|cell| cell.map(|value| replaced(value).unwrap_or(value)));
    Change { holds: entry.holds, predicate: entry.predicate, tuple: tuple.collect() }
}

fn variable(value: &Val) -> Option<Var> {
    match value {
        Val::Var(v) => Some(*v),
        Val::Term(_) => None,
    }
}

/// Returns new variables for those of a group.
fn copy(lifter: &mut Lifter<'_>, extra: &[Var]) -> Renaming {
    let mut copy = BTreeMap::new();
    for &v in extra {
        let name = lifter.names[v as usize].clone();
        copy.insert(v, Val::Var(lifter.fresh(&name)));
    }
    copy
}

/// Returns the formula that the first tuple comes before the second.
fn in_order(extra: &[Var], first: &Renaming, second: &Renaming) -> Form {
    let ways = (0..extra.len()).map(|place| {
        let equal = extra[..place].iter().map(|v| same(first[v], second[v]));
        let last = extra[place];
        and(equal.chain([Form::Before(first[&last], second[&last])]).collect::<Vec<_>>())
    });
    or(ways.collect::<Vec<_>>())
}

/// Returns the formula that no solution of the group lies between the two tuples, where they are
/// given. The formula repeats the condition on the tuples themselves, so that it can be evaluated
/// on its own.
fn none_between(
    lifter: &mut Lifter<'_>,
    group: &Group,
    after: Option<&Renaming>,
    before: Option<&Renaming>,
) -> Form {
    let between = copy(lifter, &group.extra);
    let variables: Vec<Var> = between.values().filter_map(variable).collect();
    let mut parts = vec![lifter.renamed(&group.form).replace(&between)];
    for end in after.into_iter().chain(before) {
        parts.push(lifter.renamed(&group.form).replace(end));
    }
    parts.extend(after.map(|after| in_order(&group.extra, after, &between)));
    parts.extend(before.map(|before| in_order(&group.extra, &between, before)));
    not(ex(&variables, and(parts)))
}

/// Groups the entries by their conditions.
fn group(entries: &[Entry]) -> (Vec<Group>, Vec<When>) {
    let mut groups: Vec<Group> = Vec::new();
    let mut when = Vec::new();
    for entry in entries {
        if entry.extra.is_empty() && entry.condition.is_true() {
            when.push(When::Always);
            continue;
        }
        // Conditions that differ only in the names of variables are equal.
        let same = |group: &Group| {
            group.extra.len() == entry.extra.len() && {
                let by: BTreeMap<Var, Val> = entry
                    .extra
                    .iter()
                    .zip(&group.extra)
                    .map(|(mine, theirs)| (*mine, Val::Var(*theirs)))
                    .collect();
                alike(&entry.condition.replace(&by), &group.form)
            }
        };
        let opposite = |group: &Group| {
            entry.extra.is_empty()
                && group.extra.is_empty()
                && alike(&not(entry.condition.clone()), &group.form)
        };
        if let Some(known) = groups.iter().position(same) {
            when.push(When::With(known));
        } else if let Some(known) = groups.iter().position(opposite) {
            when.push(When::Without(known));
        } else {
            when.push(When::With(groups.len()));
            groups.push(Group { extra: entry.extra.clone(), form: entry.condition.clone() });
        }
    }
    (groups, when)
}

/// Returns whether formulas are equal up to the names of bound variables.
fn alike(a: &Form, b: &Form) -> bool {
    fn numbered(form: &Form) -> Form {
        let mut next = u32::MAX / 2;
        form.renamed(&mut |_| {
            next += 1;
            next
        })
    }
    numbered(a) == numbered(b)
}

/// Adds cases with the opposite of conditions that always had the same value. With few
/// observations, the opposite may well occur.
fn add_opposites(n_groups: usize, vectors: &mut BTreeSet<Vec<usize>>) {
    for index in 0..n_groups {
        let seen: BTreeSet<usize> = vectors.iter().map(|vector| vector[index]).collect();
        if seen.len() != 1 || vectors.len() * 2 > MAX_WITH_OPPOSITES {
            continue;
        }
        let missing: Vec<usize> = [0, 1].into_iter().filter(|n| !seen.contains(n)).collect();
        let with = |vector: &Vec<usize>, count: usize| {
            let mut other = vector.clone();
            other[index] = count;
            other
        };
        let more: Vec<Vec<usize>> = vectors
            .iter()
            .flat_map(|vector| missing.iter().map(move |&count| with(vector, count)))
            .collect();
        vectors.extend(more);
    }
}

/// Adds all combinations of the observed values of each group, unless there are too many.
fn add_combinations(n_groups: usize, vectors: &mut BTreeSet<Vec<usize>>) {
    let counts: Vec<BTreeSet<usize>> =
        (0..n_groups).map(|index| vectors.iter().map(|vector| vector[index]).collect()).collect();
    let n_ways = counts.iter().try_fold(1_usize, |n, counts| n.checked_mul(counts.len()));
    if n_ways.is_none_or(|n| n > MAX_PRODUCT) {
        return;
    }
    let mut all: Vec<Vec<usize>> = vec![Vec::new()];
    for counts in &counts {
        all = all
            .iter()
            .flat_map(|vector| {
                counts.iter().map(move |&count| [vector.as_slice(), &[count]].concat())
            })
            .collect();
    }
    vectors.extend(all);
}

/// Returns cases with a condition that never held in the sample. Without them, a rule would miss an
/// effect, which might show only at the end of a rare play. Two such conditions at once are left to
/// lockstep play, which finds a missing move.
fn unseen(groups: &[Group], vectors: &BTreeSet<Vec<usize>>) -> Vec<Vec<usize>> {
    let never = |index: &usize| {
        groups[*index].extra.is_empty() && vectors.iter().all(|vector| vector[*index] == 0)
    };
    let never: Vec<usize> = (0..groups.len()).filter(never).collect();
    if vectors.len() * (1 + never.len()) > MAX_WITH_UNSEEN {
        return Vec::new();
    }
    let with = |vector: &Vec<usize>, index: usize| {
        let mut other = vector.clone();
        other[index] = 1;
        other
    };
    vectors.iter().flat_map(|vector| never.iter().map(move |&index| with(vector, index))).collect()
}
