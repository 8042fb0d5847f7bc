//! How the arguments of fluents change in the course of play, and the distances that follow.
//!
//! Where a rule says that a fluent comes of another one with the same name, and a static relation leads from an argument
//! of the one to the same argument of the other, that argument moves along the relation: a piece goes from square to
//! square, a counter from number to number. Often the relation does not stand in the rule for `next` but in that for
//! `legal`, or in a helper; so what a move needs to be legal and what helpers say is put in place of them first.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use agon_datalog::TermId;
use agon_gdl::rules::{Condition, Rule, RuleTerm};
use agon_gdl::symbols::keyword;

use crate::theory::{Bindings, RelationId, Theory, fluent_of, relation_of};

/// What distances are measured along.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum DomainKind {
    /// A line: the elements are natural numbers.
    Natural,
    /// Any other graph.
    Graph,
}

/// The values of an argument and how far it is from one to another.
#[derive(Clone, Debug)]
pub struct Domain {
    /// What it is like.
    pub kind: DomainKind,
    place: BTreeMap<TermId, usize>,
    /// By pair of places: steps from the first to the second.
    steps: Vec<Option<u32>>,
    /// What a distance is divided by: the number of elements of a line, the longest of the shortest paths of a graph.
    pub norm: f64,
}

/// A graph with more elements is not looked at.
const MAX_ELEMENTS: usize = 300;

impl Domain {
    /// The domain with these edges, if there are any between different elements.
    pub fn new(edges: &BTreeSet<(TermId, TermId)>) -> Option<Domain> {
        let edges: Vec<(TermId, TermId)> = edges.iter().copied().filter(|(a, b)| a != b).collect();
        let elements: BTreeSet<TermId> = edges.iter().flat_map(|&(a, b)| [a, b]).collect();
        if elements.is_empty() || elements.len() > MAX_ELEMENTS {
            return None;
        }
        let place: BTreeMap<TermId, usize> =
            elements.iter().enumerate().map(|(i, &e)| (e, i)).collect();
        let n = elements.len();
        let mut after: Vec<Vec<usize>> = vec![Vec::new(); n];
        let mut beside: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); n];
        for (a, b) in &edges {
            let (a, b) = (place[a], place[b]);
            after[a].push(b);
            beside[a].insert(b);
            beside[b].insert(a);
        }
        let mut steps = vec![None; n * n];
        let mut longest = 1;
        for start in 0..n {
            steps[start * n + start] = Some(0);
            let mut open = VecDeque::from([start]);
            while let Some(at) = open.pop_front() {
                let so_far = steps[start * n + at].expect("only reached elements are open");
                longest = longest.max(so_far);
                for &next in &after[at] {
                    if steps[start * n + next].is_none() {
                        steps[start * n + next] = Some(so_far + 1);
                        open.push_back(next);
                    }
                }
            }
        }
        // In a line there is one edge less than there are elements, and no element has three neighbours.
        let n_edges: usize = beside.iter().map(BTreeSet::len).sum::<usize>() / 2;
        let is_connected = (0..n).any(|start| {
            (0..n).all(|end| steps[start * n + end].is_some() || steps[end * n + start].is_some())
        });
        let is_line = n_edges == n - 1 && is_connected && beside.iter().all(|near| near.len() <= 2);
        let (kind, norm) = match is_line {
            true => (DomainKind::Natural, n as f64),
            false => (DomainKind::Graph, f64::from(longest)),
        };
        Some(Domain { kind, place, steps, norm })
    }

    /// How many steps it takes from one value to another; `None` if there is no way.
    pub fn steps(&self, from: TermId, to: TermId) -> Option<u32> {
        if from == to {
            return Some(0);
        }
        let (from, to) = (*self.place.get(&from)?, *self.place.get(&to)?);
        self.steps[from * self.place.len() + to]
    }
}

/// A rule by which a fluent moves.
#[derive(Clone, Debug)]
struct Movement {
    /// The arguments before and after.
    before: Vec<RuleTerm>,
    after: Vec<RuleTerm>,
    /// Which arguments change.
    changes: Vec<usize>,
    /// The static conditions of the rule.
    statics: Vec<Condition>,
    /// Index into the rules of the game.
    rule: usize,
}

/// How fluents move.
#[derive(Default)]
pub struct Evolution {
    movements: BTreeMap<RelationId, Vec<Movement>>,
    /// Forms of fluents that come about in other ways than by staying and moving.
    made: BTreeSet<RelationId>,
    domains: BTreeMap<DomainKey, Option<Arc<Domain>>>,
}

/// The form of a fluent, the values of its arguments that are known, and the argument that moves.
type DomainKey = (RelationId, Vec<Option<TermId>>, usize);

/// How often a condition is replaced by what it stands for, and how many variants of a rule are looked at.
const MAX_UNFOLDED: usize = 4;
const MAX_VARIANTS: usize = 200;
/// Conditions of a variant beyond which it is not unfolded any more.
const MAX_CONDITIONS: usize = 40;
/// Limits of the search for edges.
const MAX_EDGES: usize = 20_000;
const MAX_STEPS: usize = 200_000;

impl Evolution {
    /// Reads the rules for `next`.
    pub fn new(theory: &mut Theory) -> Evolution {
        let mut evolution = Evolution::default();
        for index in theory.rules_of((keyword::NEXT, 1)).to_vec() {
            let rule = theory.fresh(index);
            for variant in unfold(theory, rule) {
                evolution.read(theory, index, &variant);
            }
        }
        evolution
    }

    fn read(&mut self, theory: &Theory, index: usize, rule: &Rule) {
        let RuleTerm::Function(name, after) = &rule.head.arguments[0] else { return };
        let form = (*name, after.len());
        let is_static = |condition: &&Condition| match condition {
            Condition::Holds(atom) | Condition::Fails(atom) => {
                theory.is_static(relation_of(atom)) && theory.table(relation_of(atom)).is_some()
            }
            Condition::Differ(..) => true,
        };
        let mut is_explained = false;
        for condition in &rule.body {
            let Some(RuleTerm::Function(other, before)) = fluent_of(condition) else { continue };
            if (*other, before.len()) != form {
                continue;
            }
            let changes: Vec<usize> = (0..after.len()).filter(|&i| before[i] != after[i]).collect();
            let statics: Vec<Condition> = rule.body.iter().filter(is_static).cloned().collect();
            let is_linked = |&i: &usize| is_linked(&statics, &before[i], &after[i]);
            is_explained |= changes.is_empty();
            if changes.is_empty() || !changes.iter().all(is_linked) {
                continue;
            }
            is_explained = true;
            self.movements.entry(form).or_default().push(Movement {
                before: before.clone(),
                after: after.clone(),
                changes,
                statics,
                rule: index,
            });
        }
        if !is_explained {
            self.made.insert(form);
        }
    }

    /// Whether fluents of a form come about by staying and moving alone.
    pub fn is_only_moved(&self, form: RelationId) -> bool {
        !self.made.contains(&form)
    }

    /// The arguments of a fluent of this form that move, in ascending order.
    pub fn moving(&self, form: RelationId) -> Vec<usize> {
        let movements = self.movements.get(&form).into_iter().flatten();
        movements
            .flat_map(|movement| movement.changes.iter().copied())
            .collect::<BTreeSet<_>>()
            .into_iter()
            .collect()
    }

    /// The rules by which an argument moves, as indices into the rules of the game.
    pub fn rules(&self, form: RelationId, argument: usize) -> Vec<usize> {
        let movements = self.movements.get(&form).into_iter().flatten();
        let of_argument = movements.filter(|movement| movement.changes.contains(&argument));
        of_argument.map(|movement| movement.rule).collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// The graph along which an argument of a fluent moves, the values of other arguments being known or not.
    pub fn domain(
        &mut self,
        theory: &Theory,
        form: RelationId,
        fixed: &[Option<TermId>],
        argument: usize,
    ) -> Option<Arc<Domain>> {
        let key = (form, fixed.to_vec(), argument);
        if let Some(known) = self.domains.get(&key) {
            return known.clone();
        }
        let mut edges = BTreeSet::new();
        let mut is_too_large = false;
        let movements = self.movements.get(&form).into_iter().flatten();
        for movement in movements.filter(|movement| movement.changes.contains(&argument)) {
            let mut bindings = Bindings::default();
            let is_fitting = fixed.iter().enumerate().all(|(i, value)| match value {
                Some(value) if !movement.changes.contains(&i) => {
                    bindings.unify(&movement.after[i], &theory.term(*value))
                }
                Some(_) | None => true,
            });
            if !is_fitting {
                continue;
            }
            let ends = [&movement.before[argument], &movement.after[argument]]
                .map(|end| bindings.fill(end));
            let statics = bindings.fill_all(&movement.statics);
            let mut wanted: Vec<u32> = Vec::new();
            ends.iter().for_each(|end| end.each_variable(&mut |v| wanted.push(v)));
            match theory.possible(&statics, &wanted, MAX_EDGES, MAX_STEPS) {
                Ok(rows) => {
                    for row in rows {
                        let mut values = Bindings::default();
                        let fill = |(&variable, &value): (&u32, &TermId)| {
                            values.bind(variable, theory.term(value));
                        };
                        wanted.iter().zip(&row).for_each(fill);
                        let ground = ends.each_ref().map(|end| theory.ground(&values.fill(end)));
                        if let [Some(from), Some(to)] = ground {
                            edges.insert((from, to));
                        }
                    }
                }
                Err(_) => is_too_large = true,
            }
        }
        let domain = if is_too_large { None } else { Domain::new(&edges).map(Arc::new) };
        self.domains.insert(key, domain.clone());
        domain
    }
}

/// Whether static conditions lead from the one term to the other, through shared variables.
fn is_linked(statics: &[Condition], from: &RuleTerm, to: &RuleTerm) -> bool {
    let of_term = |term: &RuleTerm| {
        let mut found = BTreeSet::new();
        term.each_variable(&mut |v| {
            found.insert(v);
        });
        found
    };
    let of_condition = |condition: &Condition| {
        let mut found = BTreeSet::new();
        condition.each_variable(&mut |v| {
            found.insert(v);
        });
        found
    };
    let (mut reached, goal): (BTreeSet<u32>, BTreeSet<u32>) = (of_term(from), of_term(to));
    // A constant is linked to anything that a static condition could name; only variables can be followed.
    if reached.is_empty() || goal.is_empty() {
        return false;
    }
    let sets: Vec<BTreeSet<u32>> = statics
        .iter()
        .filter(|condition| matches!(condition, Condition::Holds(_)))
        .map(of_condition)
        .collect();
    loop {
        let n_before = reached.len();
        for set in &sets {
            if !set.is_disjoint(&reached) {
                reached.extend(set);
            }
        }
        if goal.is_subset(&reached) {
            return true;
        }
        if reached.len() == n_before {
            return false;
        }
    }
}

/// Variants of a rule in which moves are accompanied by what makes them legal, and helpers replaced by what they say.
fn unfold(theory: &mut Theory, rule: Rule) -> Vec<Rule> {
    let mut done = Vec::new();
    // A rule, how often it was unfolded, and the conditions before this one need no more unfolding.
    let mut open = vec![(rule, 0, 0)];
    while let Some((rule, n_unfolded, at)) = open.pop() {
        if done.len() + open.len() > MAX_VARIANTS {
            done.push(rule);
            continue;
        }
        let Some(condition) = rule.body.get(at).cloned() else {
            done.push(rule);
            continue;
        };
        let asked = match &condition {
            Condition::Holds(atom)
                if n_unfolded < MAX_UNFOLDED && rule.body.len() < MAX_CONDITIONS =>
            {
                match relation_of(atom) {
                    (keyword::DOES, 2) => Some(((keyword::LEGAL, 2), true)),
                    (keyword::TRUE, 1) => None,
                    relation if theory.is_static(relation) || theory.is_recursive(relation) => None,
                    relation => Some((relation, false)),
                }
            }
            Condition::Holds(_) | Condition::Fails(_) | Condition::Differ(..) => None,
        };
        let Some((relation, is_kept)) = asked else {
            open.push((rule, n_unfolded, at + 1));
            continue;
        };
        let atom = condition.atom().expect("what is unfolded is an atom").clone();
        let mut is_unfolded = false;
        for definition in theory.rules_of(relation).to_vec() {
            let definition = theory.fresh(definition);
            let mut bindings = Bindings::default();
            if !bindings.unify_all(&atom.arguments, &definition.head.arguments) {
                continue;
            }
            is_unfolded = true;
            let mut body = rule.body.clone();
            body.splice(at..at + usize::from(!is_kept), definition.body.clone());
            let body = bindings.fill_all(&body);
            let head = bindings.fill_atom(&rule.head);
            // What makes a move legal is looked into as well; the move itself goes to the front, out of the way.
            if is_kept {
                let mut reordered = body.clone();
                let moved = reordered.remove(at + definition.body.len());
                reordered.insert(0, moved);
                open.push((Rule { head, body: reordered, ..rule.clone() }, n_unfolded + 1, at + 1));
            } else {
                open.push((Rule { head, body, ..rule.clone() }, n_unfolded + 1, at));
            }
        }
        if !is_unfolded {
            open.push((rule, n_unfolded, at + 1));
        }
    }
    done
}
