//! How the arguments of fluents change during play, and the distances that follow.
//!
//! A rule for `next` may derive a fluent from another fluent with the same name, where a static
//! relation links an argument of the one to the same argument of the other. Then this argument
//! moves along the relation: a piece from square to square, a counter from number to number. Often
//! the relation is not in the rule for `next`, but in the rule for `legal` or in an auxiliary rule.
//! Therefore moves are first extended by the conditions that make them legal, and auxiliary
//! relations are replaced by their rules.
//!
//! An argument is a coordinate only if the same piece moves along it. A rule with a capture mentions
//! two pieces: the one that arrives, and the one that was there before. Read as a movement, the
//! second would stay in its place and change its colour. Such a rule is ambiguous, and is read like
//! the rules that are not (see `Evolution::resolve`). A graph of two elements, such as the opponent
//! of each player, is not a graph along which anything moves.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use agon_datalog::TermId;
use agon_gdl::rules::{Condition, Rule, RuleTerm};
use agon_gdl::symbols::keyword;

use crate::properties::Mode;
use crate::theory::{Bindings, LimitReached, RelationId, Theory, fluent_of, relation_of};

/// The kind of graph along which distances are measured.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum DomainKind {
    /// A line: the elements are natural numbers.
    Natural,
    /// Any other graph.
    Graph,
}

/// The values of an argument and the distances between them.
#[derive(Clone, Debug)]
pub(crate) struct Domain {
    /// The kind of graph.
    pub(crate) kind: DomainKind,
    place: BTreeMap<TermId, usize>,
    /// By pair of places: the number of steps from the first to the second.
    steps: Vec<Option<u32>>,
    /// The divisor of distances: the number of elements of a line, the diameter of another graph.
    pub(crate) norm: f64,
}

/// Minimum number of elements of a graph along which an argument moves. Between two elements there
/// is no distance other than being at one or at the other.
const MIN_ELEMENTS: usize = 3;
/// Maximum number of elements of a graph.
const MAX_ELEMENTS: usize = 300;

impl Domain {
    /// Creates the domain with these edges. `None` if there are no edges between different
    /// elements, or too many elements.
    pub(crate) fn new(edges: &BTreeSet<(TermId, TermId)>) -> Option<Domain> {
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
        // A line is connected, has one edge less than elements, and at most two neighbours per
        // element.
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

    /// Divides distances by the extent of the part of the graph to which these values belong: the
    /// longest of the shortest paths between two of them. Elements outside of that part keep their
    /// distances. Nothing changes if no path leads from one of the values to another.
    fn divide_by_extent(&mut self, values: impl Iterator<Item = TermId>) {
        let values: Vec<TermId> = values.collect();
        let pairs = values.iter().flat_map(|&from| values.iter().map(move |&to| (from, to)));
        let longest = pairs.filter_map(|(from, to)| self.steps(from, to)).max().unwrap_or(0);
        if longest == 0 {
            return;
        }
        self.norm = match self.kind {
            DomainKind::Natural => f64::from(longest + 1),
            DomainKind::Graph => f64::from(longest),
        };
    }

    /// Returns the number of steps from one value to another. `None` if there is no path.
    pub(crate) fn steps(&self, from: TermId, to: TermId) -> Option<u32> {
        if from == to {
            return Some(0);
        }
        let (from, to) = (*self.place.get(&from)?, *self.place.get(&to)?);
        self.steps[from * self.place.len() + to]
    }
}

/// A rule that moves a fluent.
#[derive(Clone, Debug)]
struct Movement {
    /// The arguments before the step.
    before: Vec<RuleTerm>,
    /// The arguments after the step.
    after: Vec<RuleTerm>,
    /// The arguments that change.
    changes: Vec<usize>,
    /// The static conditions of the rule.
    statics: Vec<Condition>,
    /// The rule, as an index into the rules of the game.
    rule: usize,
}

impl Movement {
    /// Returns the pairs of values between which this movement takes an argument.
    fn edges(
        &self,
        theory: &Theory,
        fixed: &[Option<TermId>],
        argument: usize,
    ) -> Result<Vec<(TermId, TermId)>, LimitReached> {
        let mut bindings = Bindings::default();
        let is_matching = fixed.iter().enumerate().all(|(i, value)| match value {
            Some(value) if !self.changes.contains(&i) => {
                bindings.unify(&self.after[i], &theory.term(*value))
            }
            Some(_) | None => true,
        });
        if !is_matching {
            return Ok(Vec::new());
        }
        let ends = [&self.before[argument], &self.after[argument]].map(|end| bindings.fill(end));
        let statics = bindings.fill_all(&self.statics);
        let mut wanted: Vec<u32> = Vec::new();
        ends.iter().for_each(|end| end.each_variable(&mut |v| wanted.push(v)));
        let mut edges = Vec::new();
        for row in theory.possible_values(&statics, &wanted, MAX_EDGES, MAX_STEPS)? {
            let mut values = Bindings::default();
            for (&variable, &value) in wanted.iter().zip(&row) {
                values.bind(variable, theory.term(value));
            }
            let ground = ends.each_ref().map(|end| theory.ground(&values.fill(end)));
            if let [Some(from), Some(to)] = ground {
                edges.push((from, to));
            }
        }
        Ok(edges)
    }
}

/// The movements of fluents and the graphs along which they move.
#[derive(Default)]
pub(crate) struct Evolution {
    movements: BTreeMap<RelationId, Vec<Movement>>,
    /// The forms of fluents that also come about in other ways than by staying and moving.
    created: BTreeSet<RelationId>,
    domains: BTreeMap<DomainKey, Option<Arc<Domain>>>,
}

/// The form of a fluent, the values of its known arguments, and the argument that moves.
type DomainKey = (RelationId, Vec<Option<TermId>>, usize, Option<TermId>);

/// The movements that a variant of a rule can be read as. Exactly one of them is meant.
struct Readings {
    form: RelationId,
    movements: Vec<Movement>,
}

/// Maximum number of times that conditions of a variant are unfolded.
const MAX_UNFOLDED: usize = 4;
/// Maximum number of variants of a rule.
const MAX_VARIANTS: usize = 200;
/// Maximum number of conditions of a variant that is unfolded further.
const MAX_CONDITIONS: usize = 40;
/// Maximum number of edges of a graph.
const MAX_EDGES: usize = 20_000;
/// Maximum number of steps of the search for edges.
const MAX_STEPS: usize = 200_000;

impl Evolution {
    /// Reads the movements from the rules for `next`. `modes` are fluent modes of the game.
    pub(crate) fn new(theory: &mut Theory, modes: &[Mode]) -> Evolution {
        let mut evolution = Evolution::default();
        let mut readings = Vec::new();
        for index in theory.rules_of((keyword::NEXT, 1)).to_vec() {
            let rule = theory.fresh_rule(index);
            for variant in unfold(theory, rule) {
                readings.extend(evolution.read(theory, index, &variant));
            }
        }
        evolution.resolve(readings, modes);
        evolution.drop_pairs(theory);
        evolution
    }

    /// Reads a variant of the rule `index`. `None` if it does not move a fluent.
    fn read(&mut self, theory: &Theory, index: usize, rule: &Rule) -> Option<Readings> {
        let RuleTerm::Function(name, after) = &rule.head.arguments[0] else { return None };
        let form = (*name, after.len());
        let is_static = |condition: &&Condition| match condition {
            Condition::Holds(atom) | Condition::Fails(atom) => {
                theory.is_static(relation_of(atom)) && theory.table(relation_of(atom)).is_some()
            }
            Condition::Differ(..) => true,
        };
        let statics: Vec<Condition> = rule.body.iter().filter(is_static).cloned().collect();
        let foreign = of_moves_only(rule);
        let mut movements = Vec::new();
        for condition in &rule.body {
            let Some(RuleTerm::Function(other, before)) = fluent_of(condition) else { continue };
            if (*other, before.len()) != form {
                continue;
            }
            let changes: Vec<usize> = (0..after.len()).filter(|&i| before[i] != after[i]).collect();
            if changes.is_empty() {
                // The fluent stays, so no other fluent becomes it.
                return None;
            }
            if changes.iter().all(|&i| is_linked(&statics, &before[i], &after[i], &foreign)) {
                movements.push(Movement {
                    before: before.clone(),
                    after: after.clone(),
                    changes,
                    statics: statics.clone(),
                    rule: index,
                });
            }
        }
        if movements.is_empty() {
            self.created.insert(form);
            return None;
        }
        Some(Readings { form, movements })
    }

    /// Adds the movement that is meant by each variant of a rule.
    ///
    /// Of several readings, those along arguments that move in a variant with a single reading are
    /// meant. If this does not decide, a piece that changes its place is meant rather than a place
    /// that changes its content: the reading in which the most inputs of a mode change.
    fn resolve(&mut self, readings: Vec<Readings>, modes: &[Mode]) {
        let mut certain: BTreeMap<RelationId, BTreeSet<usize>> = BTreeMap::new();
        for Readings { form, movements } in &readings {
            if let [only] = movements.as_slice() {
                certain.entry(*form).or_default().extend(&only.changes);
            }
        }
        for Readings { form, movements } in readings {
            let certain = certain.get(&form);
            let n_certain = |movement: &Movement| {
                let is_certain = |i: &&usize| certain.is_some_and(|certain| certain.contains(i));
                movement.changes.iter().filter(is_certain).count()
            };
            let n_inputs = |movement: &Movement| {
                let of_form = modes.iter().filter(|m| (m.name, m.inputs.len()) == form);
                let n = |mode: &Mode| movement.changes.iter().filter(|&&i| mode.inputs[i]).count();
                of_form.map(n).max().unwrap_or(0)
            };
            let rank = |movement: &Movement| {
                (n_certain(movement) > 0, n_inputs(movement), movement.changes.len())
            };
            let best = movements.iter().map(rank).max();
            let meant = movements.into_iter().filter(|movement| Some(rank(movement)) == best);
            self.movements.entry(form).or_default().extend(meant);
        }
    }

    /// Removes the movements along arguments that have only two values in all. The fluents at their
    /// ends count as created.
    fn drop_pairs(&mut self, theory: &Theory) {
        let Evolution { movements, created, .. } = self;
        for (&form, of_form) in movements.iter_mut() {
            let mut is_pair = vec![false; form.1];
            let free = vec![None; form.1];
            for (argument, is_pair) in is_pair.iter_mut().enumerate() {
                let mut elements = BTreeSet::new();
                let mut is_known = true;
                for movement in of_form.iter().filter(|m| m.changes.contains(&argument)) {
                    match movement.edges(theory, &free, argument) {
                        Ok(edges) => elements.extend(edges.into_iter().flat_map(|(a, b)| [a, b])),
                        Err(LimitReached) => is_known = false,
                    }
                }
                *is_pair = is_known && elements.len() < MIN_ELEMENTS;
            }
            let n_before = of_form.len();
            of_form.retain(|movement| movement.changes.iter().all(|&i| !is_pair[i]));
            if of_form.len() < n_before {
                created.insert(form);
            }
        }
    }

    /// Returns whether fluents of a form come about only by staying and moving.
    pub(crate) fn is_only_moved(&self, form: RelationId) -> bool {
        !self.created.contains(&form)
    }

    /// Returns the arguments that move in fluents of a form, in ascending order.
    pub(crate) fn moving(&self, form: RelationId) -> Vec<usize> {
        let movements = self.movements.get(&form).into_iter().flatten();
        movements
            .flat_map(|movement| movement.changes.iter().copied())
            .collect::<BTreeSet<_>>()
            .into_iter()
            .collect()
    }

    /// Returns the rules that move an argument, as indices into the rules of the game.
    pub(crate) fn rules(&self, form: RelationId, argument: usize) -> Vec<usize> {
        let movements = self.movements.get(&form).into_iter().flatten();
        let of_argument = movements.filter(|movement| movement.changes.contains(&argument));
        of_argument.map(|movement| movement.rule).collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// Returns the graph along which an argument of a fluent moves. `fixed` holds the values of the
    /// known arguments, and `target` is a value that is part of the graph in any case.
    pub(crate) fn domain(
        &mut self,
        theory: &Theory,
        form: RelationId,
        fixed: &[Option<TermId>],
        argument: usize,
        target: Option<TermId>,
    ) -> Option<Arc<Domain>> {
        let key = (form, fixed.to_vec(), argument, target);
        if let Some(known) = self.domains.get(&key) {
            return known.clone();
        }
        let mut edges = BTreeSet::new();
        let mut is_too_large = false;
        let movements = self.movements.get(&form).into_iter().flatten();
        for movement in movements.filter(|movement| movement.changes.contains(&argument)) {
            match movement.edges(theory, fixed, argument) {
                Ok(found) => edges.extend(found),
                Err(LimitReached) => is_too_large = true,
            }
        }
        // Often one relation serves several purposes: numbers that count to a hundred steps are
        // also the coordinates of a small board.
        if theory.is_complete {
            let own: BTreeSet<TermId> =
                theory.fluents_of_form(form).map(|(_, values)| values[argument]).collect();
            edges.retain(|(a, b)| own.contains(a) && own.contains(b));
        }
        let mut domain = if is_too_large { None } else { Domain::new(&edges) };
        // Grounding knows no walls, so it often leads beyond the edge of a board. The distances
        // between the places that were seen in play tell how large the board is.
        if let Some(domain) = &mut domain {
            let seen = theory
                .fluents_of_form(form)
                .filter(|&(fluent, _)| theory.seen.contains(&theory.fluents()[fluent]));
            let seen: BTreeSet<TermId> = seen.map(|(_, values)| values[argument]).collect();
            domain.divide_by_extent(seen.into_iter().chain(target));
        }
        let domain = domain.map(Arc::new);
        self.domains.insert(key, domain.clone());
        domain
    }
}

/// Returns the variables of the moves of a rule that occur in no fluent, such as the direction of a
/// step. Two places that have only the direction in common are not neighbours.
fn of_moves_only(rule: &Rule) -> BTreeSet<u32> {
    let mut of_moves = BTreeSet::new();
    let mut of_fluents = BTreeSet::new();
    for condition in &rule.body {
        match condition.atom() {
            Some(atom) if atom.relation == keyword::DOES => {
                condition.each_variable(&mut |v| {
                    of_moves.insert(v);
                });
            }
            Some(atom) if atom.relation == keyword::TRUE => {
                condition.each_variable(&mut |v| {
                    of_fluents.insert(v);
                });
            }
            Some(_) | None => {}
        }
    }
    for argument in &rule.head.arguments {
        argument.each_variable(&mut |v| {
            of_fluents.insert(v);
        });
    }
    of_moves.difference(&of_fluents).copied().collect()
}

/// Returns whether static conditions link two terms through shared variables, without those in
/// `foreign`.
fn is_linked(
    statics: &[Condition],
    from: &RuleTerm,
    to: &RuleTerm,
    foreign: &BTreeSet<u32>,
) -> bool {
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
        found.retain(|v| !foreign.contains(v));
        found
    };
    let (mut reached, goal): (BTreeSet<u32>, BTreeSet<u32>) = (of_term(from), of_term(to));
    // Only variables can be followed: any static condition could mention a constant.
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

/// Returns variants of a rule in which moves are extended by the conditions that make them legal,
/// and auxiliary relations are replaced by their rules.
fn unfold(theory: &mut Theory, rule: Rule) -> Vec<Rule> {
    let mut done = Vec::new();
    // A rule, the number of times it was unfolded, and the next condition to look at.
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
        let atom = condition.atom().expect("only atoms are unfolded").clone();
        let mut is_unfolded = false;
        for definition in theory.rules_of(relation).to_vec() {
            let definition = theory.fresh_rule(definition);
            let mut bindings = Bindings::default();
            if !bindings.unify_all(&atom.arguments, &definition.head.arguments) {
                continue;
            }
            is_unfolded = true;
            let mut body = rule.body.clone();
            body.splice(at..at + usize::from(!is_kept), definition.body.clone());
            let body = bindings.fill_all(&body);
            let head = bindings.fill_atom(&rule.head);
            // The conditions that make a move legal are unfolded as well. The move itself goes to
            // the front, because it has been handled.
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
