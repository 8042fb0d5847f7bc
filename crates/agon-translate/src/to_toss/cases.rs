//! Rules of the translation: a class of moves with what it changes, case by case.
//!
//! A rule by formula changes a fixed list of tuples. Where what a move changes depends on the state, there is a rule for each case that
//! sampled plays came to: each condition holds or not, each set of tuples that go or come has so many members. The
//! cases exclude each other, so a move is never to be had twice.

use std::collections::{BTreeMap, BTreeSet};

use agon_datalog::TermId;

use super::domain::Functor;
use super::effects::{Class, Entry};
use super::formula::{Form, Val, Var, and, ex, not, or, same, without_implied};
use super::judge::Judge;
use super::lift::Lifter;
use super::{Construct, Untranslatable};

/// In so many states a class of moves is looked at.
const MAX_SAMPLES: usize = 150;

/// So many cases a class of moves may have.
const MAX_CASES: usize = 128;

/// So many cases are made of conditions whose values were seen apart.
const MAX_PRODUCT: usize = 32;

/// So many tuples may come or go by one entry.
const MAX_COUNT: usize = 8;

/// From so many tuples on, each is said to be the next after the one before. Otherwise any few of them in order would be tried before the
/// last says which they are: six of twelve are 924.
const MANY: usize = 6;

/// So often something must have been looked at before "never" and "always" are believed.
const ENOUGH: usize = 200;

/// So many cases a class of moves may have with those of conditions that were never seen to hold.
const MAX_UNSEEN: usize = 16;

/// A rule of the translation.
#[derive(Clone, Debug)]
pub(super) struct Ruling {
    pub(super) role: usize,
    pub(super) functor: Functor,
    /// The arguments of the move.
    pub(super) arguments: Vec<Val>,
    /// The variables of a match: those of the move, then others.
    pub(super) elements: Vec<Var>,
    pub(super) condition: Form,
    pub(super) changes: Vec<Change>,
    /// Variables of the move that are coordinates of a place of the match.
    pub(super) coordinates: BTreeMap<Var, (Var, usize)>,
}

/// A tuple that comes or goes; `None` is any element.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Change {
    pub(super) holds: bool,
    pub(super) predicate: usize,
    pub(super) tuple: Vec<Option<Val>>,
}

/// Conditions that entries have in common.
struct Group {
    extra: Vec<Var>,
    form: Form,
}

/// When an entry counts: always, as often as a group is satisfied, or where it is not.
#[derive(Copy, Clone)]
enum When {
    Always,
    With(usize),
    Without(usize),
}

/// The rules for a class of moves.
pub(super) fn rulings(
    lifter: &mut Lifter<'_>,
    judge: &Judge,
    class: &Class,
    entries: Vec<Entry>,
    location_samples: &[usize],
) -> Result<Vec<Ruling>, Untranslatable> {
    let (groups, when) = group(&entries);
    let vectors = observed(lifter, judge, class, &entries, &groups, &when, location_samples)?;
    let mut rulings = Vec::new();
    let mut largest = vec![0; groups.len()];
    for vector in &vectors {
        largest.iter_mut().zip(vector).for_each(|(most, count)| *most = (*most).max(*count));
    }
    for vector in &vectors {
        let mut elements = class.variables();
        let mut parts = vec![class.legal.clone()];
        let mut changes: Vec<Change> = Vec::new();
        let mut copies: Vec<Vec<BTreeMap<Var, Val>>> = Vec::new();
        for (index, group) in groups.iter().enumerate() {
            let n = vector[index];
            let mut own: Vec<BTreeMap<Var, Val>> = Vec::new();
            if group.extra.is_empty() {
                if n > 0 {
                    parts.push(lifter.renamed(&group.form));
                } else if largest[index] > 0 {
                    parts.push(not(lifter.renamed(&group.form)));
                }
                copies.push(own);
                continue;
            }
            for _ in 0..n {
                let copy = copy(lifter, &group.extra);
                parts.push(lifter.renamed(&group.form).replace(&copy));
                if let Some(before) = own.last() {
                    parts.push(in_order(&group.extra, before, &copy));
                }
                if n >= MANY {
                    parts.push(none_between(lifter, group, own.last(), Some(&copy)));
                }
                elements.extend(group.extra.iter().filter_map(|v| match copy[v] {
                    Val::Var(v) => Some(v),
                    Val::Term(_) => None,
                }));
                own.push(copy);
            }
            if n >= MANY {
                parts.push(none_between(lifter, group, own.last(), None));
            } else if largest[index] > n {
                // No further ones.
                let other = copy(lifter, &group.extra);
                let variables: Vec<Var> = other.values().filter_map(variable).collect();
                let further = lifter.renamed(&group.form).replace(&other);
                let different = own
                    .iter()
                    .map(|known| not(and(group.extra.iter().map(|v| same(known[v], other[v])))));
                let form =
                    ex(&variables, and([further].into_iter().chain(different.collect::<Vec<_>>())));
                parts.push(not(form));
            }
            copies.push(own);
        }
        for (entry, when) in entries.iter().zip(&when) {
            let change = |copy: &BTreeMap<Var, Val>| Change {
                holds: entry.holds,
                predicate: entry.predicate,
                tuple: entry
                    .tuple
                    .iter()
                    .map(|cell| {
                        cell.map(|value| {
                            variable(&value).and_then(|v| copy.get(&v).copied()).unwrap_or(value)
                        })
                    })
                    .collect(),
            };
            match *when {
                When::Always => changes.push(change(&BTreeMap::new())),
                When::Without(index) if vector[index] == 0 => {
                    changes.push(change(&BTreeMap::new()))
                }
                When::Without(_) => {}
                When::With(index) if groups[index].extra.is_empty() => {
                    if vector[index] > 0 {
                        changes.push(change(&BTreeMap::new()));
                    }
                }
                When::With(index) => {
                    // The entry's own variables are those of the group, by place.
                    changes.extend(copies[index].iter().map(|copy| {
                        let own: BTreeMap<Var, Val> = entry
                            .extra
                            .iter()
                            .zip(&groups[index].extra)
                            .map(|(mine, theirs)| (*mine, copy[theirs]))
                            .collect();
                        change(&own)
                    }));
                }
            }
        }
        changes.sort();
        changes.dedup();
        // What comes anyway need not go first.
        let coming: BTreeSet<(usize, Vec<Option<Val>>)> =
            changes.iter().filter(|c| c.holds).map(|c| (c.predicate, c.tuple.clone())).collect();
        changes.retain(|c| c.holds || !coming.contains(&(c.predicate, c.tuple.clone())));
        let condition = and(without_implied(parts));
        if condition.is_false() {
            continue;
        }
        rulings.push(Ruling {
            role: class.role,
            functor: class.functor,
            arguments: class.arguments.clone(),
            elements,
            condition,
            changes,
            coordinates: BTreeMap::new(),
        });
    }
    Ok(rulings)
}

fn variable(value: &Val) -> Option<Var> {
    match value {
        Val::Var(v) => Some(*v),
        Val::Term(_) => None,
    }
}

fn copy(lifter: &mut Lifter<'_>, extra: &[Var]) -> BTreeMap<Var, Val> {
    let mut copy = BTreeMap::new();
    for &v in extra {
        let name = lifter.names[v as usize].clone();
        copy.insert(v, Val::Var(lifter.fresh(&name)));
    }
    copy
}

/// The first tuple comes before the second.
fn in_order(extra: &[Var], first: &BTreeMap<Var, Val>, second: &BTreeMap<Var, Val>) -> Form {
    let ways = (0..extra.len()).map(|place| {
        let equal = extra[..place].iter().map(|v| same(first[v], second[v]));
        let last = extra[place];
        and(equal.chain([Form::Before(first[&last], second[&last])]).collect::<Vec<_>>())
    });
    or(ways.collect::<Vec<_>>())
}

/// Nothing that satisfies the group comes after the one tuple and before the other, where they are given. The tuples are asked of too, so
/// that this can be worked out on its own.
fn none_between(
    lifter: &mut Lifter<'_>,
    group: &Group,
    after: Option<&BTreeMap<Var, Val>>,
    before: Option<&BTreeMap<Var, Val>>,
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

/// Conditions that entries share.
fn group(entries: &[Entry]) -> (Vec<Group>, Vec<When>) {
    let mut groups: Vec<Group> = Vec::new();
    let mut when = Vec::new();
    for entry in entries {
        if entry.extra.is_empty() && entry.condition.is_true() {
            when.push(When::Always);
            continue;
        }
        // The same condition with other variables is the same.
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

/// The same but for the names of bound variables.
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

/// The cases that sampled plays came to: for each group how often it is satisfied.
fn observed(
    lifter: &Lifter<'_>,
    judge: &Judge,
    class: &Class,
    entries: &[Entry],
    groups: &[Group],
    when: &[When],
    location_samples: &[usize],
) -> Result<BTreeSet<Vec<usize>>, Untranslatable> {
    let blame = |index: usize, construct: Construct, why: String| {
        let of = |w: &When| matches!(w, When::With(g) | When::Without(g) if *g == index);
        let rule = entries.iter().zip(when).find(|(_, w)| of(w)).and_then(|(entry, _)| entry.rule);
        match rule {
            Some(rule) => lifter.refuse_at(rule, construct, why),
            None => Untranslatable { construct, why, line: None },
        }
    };
    if groups.is_empty() {
        return Ok(BTreeSet::from([Vec::new()]));
    }
    let domain = lifter.domain;
    let given = class.variables();
    let mut rows: Vec<(usize, Vec<Vec<TermId>>)> = Vec::new();
    for &sample in location_samples {
        let mut own = Vec::new();
        for &term in &domain.samples[sample].legal[class.role] {
            if (domain.bank.symbol(term), domain.bank.arity(term)) != class.functor {
                continue;
            }
            let mut row = Vec::new();
            let mut fits = true;
            for (value, cell) in class.arguments.iter().zip(domain.bank.arguments(term)) {
                match value {
                    Val::Var(_) => row.push(cell),
                    Val::Term(term) => fits &= *term == cell,
                }
            }
            if fits {
                own.push(row);
            }
        }
        own.sort();
        own.dedup();
        if !own.is_empty() {
            rows.push((sample, own));
        }
    }
    // A part of them will do, but for what was learnt.
    let stride = rows.len().div_ceil(MAX_SAMPLES).max(1);
    let mut at = 0;
    rows.retain(|(sample, _)| {
        at += 1;
        at % stride == 0 || *sample >= domain.n_first
    });
    let n_seen: usize = rows.iter().map(|(_, rows)| rows.len()).sum();
    let mut counts: Vec<Vec<Vec<usize>>> = Vec::new();
    for (index, group) in groups.iter().enumerate() {
        let found = judge.counts(&group.form, &given, &group.extra, &rows);
        counts.push(found.map_err(|why| {
            blame(
                index,
                Construct::Size,
                format!("what a move changes is too costly to work out: {why}"),
            )
        })?);
    }
    let mut vectors: BTreeSet<Vec<usize>> = BTreeSet::new();
    for (at, (_, rows)) in rows.iter().enumerate() {
        for row in 0..rows.len() {
            let vector: Vec<usize> = counts.iter().map(|counts| counts[at][row]).collect();
            if let Some(index) = vector.iter().position(|&count| count > MAX_COUNT) {
                let of = |w: &When| matches!(w, When::With(g) | When::Without(g) if *g == index);
                let entry = entries.iter().zip(when).find(|(_, w)| of(w)).map(|(entry, _)| entry);
                let relation = entry.map_or("", |entry| {
                    lifter.symbol_name(domain.predicates[entry.predicate].functor.0)
                });
                let name = lifter.symbol_name(class.functor.0);
                let n = vector[index];
                let why = format!("one move `{name}` changes {n} tuples of `{relation}` at once");
                return Err(blame(index, Construct::ManyEffects, why));
            }
            vectors.insert(vector);
        }
    }
    // What was seldom looked at may well be otherwise.
    if n_seen < ENOUGH {
        for index in 0..groups.len() {
            let seen: BTreeSet<usize> = vectors.iter().map(|vector| vector[index]).collect();
            let missing: Vec<usize> =
                [0, 1].into_iter().filter(|count| !seen.contains(count)).collect();
            if vectors.is_empty() {
                break;
            }
            if seen.len() == 1 && vectors.len() * 2 <= 16 {
                let more: Vec<Vec<usize>> = vectors
                    .iter()
                    .flat_map(|vector| {
                        missing.iter().map(|&count| {
                            let mut other = vector.clone();
                            other[index] = count;
                            other
                        })
                    })
                    .collect();
                vectors.extend(more);
            }
        }
        if vectors.is_empty() {
            // Nobody ever did it: each condition may hold or not.
            if groups.len() > 4 {
                return Ok(BTreeSet::from([vec![1; groups.len()], vec![0; groups.len()]]));
            }
            for bits in 0..1_usize << groups.len() {
                vectors.insert((0..groups.len()).map(|index| bits >> index & 1).collect());
            }
        }
    }
    // Where the sample missed something before, what was seen apart may come together.
    if domain.n_learnt > 1 {
        let counts: Vec<BTreeSet<usize>> = (0..groups.len())
            .map(|index| vectors.iter().map(|vector| vector[index]).collect())
            .collect();
        let n_ways = counts.iter().try_fold(1_usize, |n, counts| n.checked_mul(counts.len()));
        if n_ways.is_some_and(|n| n <= MAX_PRODUCT) {
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
    }
    vectors.extend(unseen(groups, &vectors));
    if vectors.len() > MAX_CASES {
        let varied =
            |index: &usize| vectors.iter().map(|v| v[*index]).collect::<BTreeSet<_>>().len() > 1;
        let index = (0..groups.len()).find(varied).unwrap_or(0);
        let why = format!("what a move changes depends on the state in {} ways", vectors.len());
        return Err(blame(index, Construct::ManyCases, why));
    }
    Ok(vectors)
}

/// Cases with a condition that never held in the sample: a rule that does not ask for it would miss what it brings, and nobody would
/// notice but at the end of a rare play. Two such conditions at once are left to joint play, which finds a move that is missing.
fn unseen(groups: &[Group], vectors: &BTreeSet<Vec<usize>>) -> Vec<Vec<usize>> {
    let never = |index: &usize| {
        groups[*index].extra.is_empty() && vectors.iter().all(|vector| vector[*index] == 0)
    };
    let never: Vec<usize> = (0..groups.len()).filter(never).collect();
    if vectors.len() * (1 + never.len()) > MAX_UNSEEN {
        return Vec::new();
    }
    let with = |vector: &Vec<usize>, index: usize| {
        let mut other = vector.clone();
        other[index] = 1;
        other
    };
    vectors.iter().flat_map(|vector| never.iter().map(move |&index| with(vector, index))).collect()
}
