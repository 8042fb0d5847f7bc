//! Retrograde analysis: the values of all positions, from the end backwards.

use agon_game::{Position, Role};

use super::graph::{Branching, Graph, Node, branching, list};
use super::matrix::matrix_game;
use super::{Method, Solution, UnsolvedReason};
use crate::choices::Choices;
use crate::{Line, Meter};

/// Values that differ by less are equal, because expectations and mixtures are rounded.
const TOLERANCE: f64 = 1e-9;

/// Maximum number of sweeps over all positions. Then values count as converged.
const MAX_SWEEPS: usize = 100_000;

/// All positions of a game with their values.
pub(super) struct ValuedGraph {
    graph: Graph,
    repeats: bool,
    values: Values,
}

/// The values of positions.
enum Values {
    /// One player against all others: lower bounds for the maximiser, upper bounds if positions
    /// repeat, and the constant sum of the payoffs of two players.
    Minimax { maximiser: Role, floor: Valued, ceiling: Option<Valued>, sum: Option<f64> },
    /// Every player maximises its own payoff: the values by position and role.
    MaxN(Vec<f64>),
}

/// Enumerates all positions and computes their values. `note` is told the state of each position in
/// the order of their numbers.
pub(super) fn value_all<P: Position>(
    start: &P,
    meter: &mut Meter<'_>,
    max_bytes: usize,
    bounds: &mut [(f64, f64)],
    note: &mut dyn FnMut(&P::State),
) -> Result<ValuedGraph, UnsolvedReason> {
    let graph = list(start, meter, max_bytes, note)?;
    let (order, repeats) = graph.bottom_up();
    let shape = start.shape();
    let players: Vec<Role> = shape.players().collect();
    let is_turn_taking = graph.branchings.iter().all(|branching| branching.choosers.len() <= 1);
    let values = match players[..] {
        [player] => {
            let minimax = Minimax { graph: &graph, maximiser: player, range: range(start) };
            // Endless play pays a single player nothing, so the lower bound is the value.
            let floor = minimax.values(&order, repeats, Side::Floor, meter)?;
            Values::Minimax { maximiser: player, floor, ceiling: None, sum: None }
        }
        [first, second] if let Some(sum) = constant_sum(&graph, first, second) => {
            let minimax = Minimax { graph: &graph, maximiser: first, range: range(start) };
            let floor = minimax.values(&order, repeats, Side::Floor, meter)?;
            let ceiling = if repeats {
                let ceiling = minimax.values(&order, repeats, Side::Ceiling, meter)?;
                let (low, high) = (floor.values[0], ceiling.values[0]);
                bounds[first.index()] = (low, high);
                bounds[second.index()] = (sum - high, sum - low);
                if high - low > 1e-6 {
                    return Err(UnsolvedReason::Endless);
                }
                Some(ceiling)
            } else {
                None
            };
            Values::Minimax { maximiser: first, floor, ceiling, sum: Some(sum) }
        }
        _ if !is_turn_taking => {
            // What each player can guarantee is a lower bound in any game.
            for &player in &players {
                if players.len() == 2 {
                    let minimax = Minimax { graph: &graph, maximiser: player, range: range(start) };
                    bounds[player.index()].0 =
                        minimax.values(&order, repeats, Side::Floor, meter)?.values[0];
                }
            }
            return Err(UnsolvedReason::Simultaneous);
        }
        _ if repeats => return Err(UnsolvedReason::Endless),
        _ => Values::MaxN(max_n_values(&graph, &order, shape.role_names.len())),
    };
    Ok(ValuedGraph { graph, repeats, values })
}

impl ValuedGraph {
    /// Visits all positions where play goes on with their payoffs by role, children before parents,
    /// until `visit` returns true. Returns false, and visits none, if positions repeat or it is not
    /// a game of two players whose payoffs add up to a constant.
    pub(super) fn visit(
        &self,
        n_roles: usize,
        players: &[Role],
        visit: &mut dyn FnMut(u32, Vec<f64>) -> bool,
    ) -> bool {
        let (Values::Minimax { maximiser, floor, sum: Some(sum), .. }, false) =
            (&self.values, self.repeats)
        else {
            return false;
        };
        let (order, _) = self.graph.bottom_up();
        for number in order {
            if matches!(self.graph.nodes[number as usize], Node::Ended(_)) {
                continue;
            }
            let value = rounded(floor.values[number as usize]);
            let mut payoffs = vec![0.0; n_roles];
            for &player in players {
                payoffs[player.index()] = if player == *maximiser { value } else { sum - value };
            }
            if visit(number, payoffs) {
                break;
            }
        }
        true
    }

    /// Returns the solution from a position on. Returns `None` if the position is not in the graph,
    /// or if endless play there makes its value undefined.
    pub(super) fn solution<P: Position>(
        &self,
        start: &P,
        meter: &Meter<'_>,
    ) -> Option<Solution<P::Move>> {
        let number = self.graph.numbering.find(start.key())?;
        let shape = start.shape();
        let n_roles = shape.role_names.len();
        let mut values = vec![0.0; n_roles];
        let policy = match &self.values {
            Values::Minimax { maximiser, floor, ceiling, sum } => {
                let value = floor.values[number as usize];
                if ceiling
                    .as_ref()
                    .is_some_and(|ceiling| ceiling.values[number as usize] - value > 1e-6)
                {
                    return None;
                }
                values[maximiser.index()] = value;
                if let (Some(sum), Some(other)) =
                    (sum, shape.players().find(|player| player != maximiser))
                {
                    values[other.index()] = sum - value;
                }
                let minimax =
                    Minimax { graph: &self.graph, maximiser: *maximiser, range: range(start) };
                Policy::Minimax(minimax, floor, ceiling.as_ref())
            }
            Values::MaxN(all) => {
                values.copy_from_slice(&all[number as usize * n_roles..][..n_roles]);
                Policy::MaxN(all)
            }
        };
        let values: Vec<f64> = values.into_iter().map(rounded).collect();
        let first = shape.players().next().expect("a game has a player");
        Some(Solution {
            line: line(start, &self.graph, number, &policy, values[first.index()]),
            strategies: strategies(start, &self.graph, number, &policy),
            values,
            method: Method::Retrograde,
            can_repeat: self.repeats,
            nodes: meter.n_nodes,
            seconds: meter.seconds(),
        })
    }
}

/// Removes rounding errors: 50, not 49.99999999999999.
fn rounded(value: f64) -> f64 {
    (value * 1e9).round() / 1e9
}

fn range<P: Position>(position: &P) -> (f64, f64) {
    let payoffs = &position.shape().payoffs;
    (*payoffs.start(), *payoffs.end())
}

/// Returns the sum of the payoffs of two players at terminal positions, if it is constant.
fn constant_sum(graph: &Graph, first: Role, second: Role) -> Option<f64> {
    let mut sums =
        graph.payoffs.iter().map(|payoffs| payoffs[first.index()] + payoffs[second.index()]);
    let sum = sums.next().unwrap_or(0.0);
    sums.all(|other| other == sum).then_some(sum)
}

/// One player against all others, which minimise its payoff.
struct Minimax<'g> {
    graph: &'g Graph,
    maximiser: Role,
    range: (f64, f64),
}

/// The assumed value of endless play while values are computed.
#[derive(Copy, Clone, PartialEq)]
enum Side {
    /// The least payoff, which gives what the maximiser can guarantee.
    Floor,
    /// The highest payoff, which gives what the others can limit the maximiser to.
    Ceiling,
}

/// The values of all positions for the maximiser.
struct Valued {
    values: Vec<f64>,
    /// The number of the last change of each value. Moves to smaller ranks make progress towards an
    /// end.
    ranks: Vec<u64>,
}

impl Minimax<'_> {
    fn values(
        &self,
        order: &[u32],
        repeats: bool,
        side: Side,
        meter: &mut Meter<'_>,
    ) -> Result<Valued, UnsolvedReason> {
        let unknown = if side == Side::Floor { self.range.0 } else { self.range.1 };
        let n_nodes = self.graph.nodes.len();
        let mut valued = Valued { values: vec![unknown; n_nodes], ranks: vec![0; n_nodes] };
        let mut n_changes = 0;
        for _ in 0..MAX_SWEEPS {
            let mut changed = 0.0_f64;
            for &number in order {
                let value = self.value(number, &valued.values);
                let change = (value - valued.values[number as usize]).abs();
                if change > 0.0 {
                    valued.values[number as usize] = value;
                    n_changes += 1;
                    valued.ranks[number as usize] = n_changes;
                    changed = changed.max(change);
                }
            }
            // Without repetition every child was valued before its parents.
            if !repeats || changed < 1e-12 {
                break;
            }
            if meter.is_over(1) {
                return Err(UnsolvedReason::Budget);
            }
        }
        Ok(valued)
    }

    /// Returns the value of a position from the values of its children.
    fn value(&self, number: u32, values: &[f64]) -> f64 {
        let Node::Open { branching, .. } = self.graph.nodes[number as usize] else {
            return self.payoff(number);
        };
        let branching = &self.graph.branchings[branching as usize];
        match self.cells(number, branching, values) {
            Cells::Rows(cells) => cells.into_iter().fold(f64::NEG_INFINITY, f64::max),
            Cells::Columns(cells) => cells.into_iter().fold(f64::INFINITY, f64::min),
            Cells::Both(cells, n_columns) => matrix_game(&cells, n_columns).value,
        }
    }

    fn payoff(&self, number: u32) -> f64 {
        match self.graph.nodes[number as usize] {
            Node::Ended(payoffs) => self.graph.payoffs[payoffs as usize][self.maximiser.index()],
            Node::Open { .. } => unreachable!("play has ended at this position"),
        }
    }

    /// Returns the values of the players' choices at an open position, averaged over nature.
    fn cells(&self, number: u32, branching: &Branching, values: &[f64]) -> Cells {
        let children = self.graph.children(number);
        let strides = branching.strides();
        let own = self.maximiser.index();
        let n_outcomes = branching.chances.len();
        let n_rows = branching.counts[own];
        // All other players together are one opponent.
        let n_columns = branching.n_joints() / n_rows / n_outcomes;
        let mut cells = vec![0.0; n_rows * n_columns];
        let nature = branching.nature();
        for (joint, &child) in children.iter().enumerate() {
            let row = joint / strides[own] % n_rows;
            let mut column = 0;
            for role in (0..strides.len()).filter(|&role| role != own && Some(role) != nature) {
                column = column * branching.counts[role]
                    + joint / strides[role] % branching.counts[role];
            }
            let chance = nature
                .map_or(1.0, |nature| branching.chances[joint / strides[nature] % n_outcomes]);
            cells[row * n_columns + column] += chance * values[child as usize];
        }
        match (n_rows, n_columns) {
            (_, 1) => Cells::Rows(cells),
            (1, _) => Cells::Columns(cells),
            _ => Cells::Both(cells, n_columns),
        }
    }
}

/// The values of the choices at a position.
enum Cells {
    /// Only the maximiser has a choice, or no role has.
    Rows(Vec<f64>),
    /// Only other players have a choice.
    Columns(Vec<f64>),
    /// Both sides have a choice. The second field is the number of columns.
    Both(Vec<f64>, usize),
}

impl Branching {
    /// Returns the index of nature, if it has more than one move here.
    fn nature(&self) -> Option<usize> {
        if self.chances.len() < 2 {
            return None;
        }
        // The only role with several moves that is not among the choosers.
        (0..self.counts.len()).find(|&role| {
            self.counts[role] > 1 && self.choosers.iter().all(|chooser| chooser.index() != role)
        })
    }
}

/// Returns the values by position and role if every role maximises its own payoff.
fn max_n_values(graph: &Graph, order: &[u32], n_roles: usize) -> Vec<f64> {
    let mut values = vec![0.0; graph.nodes.len() * n_roles];
    for &number in order {
        let here = number as usize * n_roles;
        match graph.nodes[number as usize] {
            Node::Ended(payoffs) => {
                values[here..here + n_roles].copy_from_slice(&graph.payoffs[payoffs as usize]);
            }
            Node::Open { branching, .. } => {
                let branching = &graph.branchings[branching as usize];
                let (_, best) = best_choice(graph, number, branching, &values, n_roles);
                values[here..here + n_roles].copy_from_slice(&best);
            }
        }
    }
    values
}

/// Returns the best choice for the chooser, the first of equal ones, and its values by role.
fn best_choice(
    graph: &Graph,
    number: u32,
    branching: &Branching,
    values: &[f64],
    n_roles: usize,
) -> (usize, Vec<f64>) {
    let children = graph.children(number);
    let strides = branching.strides();
    let chooser = branching.choosers.first().map(|role| role.index());
    let n_choices = chooser.map_or(1, |role| branching.counts[role]);
    let nature = branching.nature();
    let mut best: Option<(usize, Vec<f64>)> = None;
    for choice in 0..n_choices {
        let mut expected = vec![0.0; n_roles];
        for (outcome, chance) in branching.chances.iter().enumerate() {
            let joint = chooser.map_or(0, |role| choice * strides[role])
                + nature.map_or(0, |role| outcome * strides[role]);
            let child = children[joint] as usize * n_roles;
            for role in 0..n_roles {
                expected[role] += chance * values[child + role];
            }
        }
        let is_better = match (&best, chooser) {
            (Some((_, before)), Some(role)) => expected[role] > before[role] + TOLERANCE,
            (Some(_), None) => false,
            (None, _) => true,
        };
        if is_better {
            best = Some((choice, expected));
        }
    }
    best.expect("an open position has joint moves")
}

/// Optimal play derived from values.
enum Policy<'g> {
    /// One player against all others, with upper bounds if positions repeat.
    Minimax(Minimax<'g>, &'g Valued, Option<&'g Valued>),
    /// Every player maximises its own payoff: the values by position and role.
    MaxN(&'g [f64]),
}

impl Policy<'_> {
    /// Returns the probabilities of the moves by role, including nature.
    fn mixture(&self, graph: &Graph, number: u32) -> Vec<Vec<f64>> {
        let Node::Open { branching, .. } = graph.nodes[number as usize] else { return Vec::new() };
        let branching = &graph.branchings[branching as usize];
        let n_roles = branching.counts.len();
        let pure = |n: usize, chosen: usize| -> Vec<f64> {
            (0..n).map(|i| if i == chosen { 1.0 } else { 0.0 }).collect()
        };
        let mut mixture: Vec<Vec<f64>> = branching.counts.iter().map(|&n| pure(n, 0)).collect();
        if let Some(nature) = branching.nature() {
            mixture[nature].clone_from(&branching.chances);
        }
        match self {
            Policy::MaxN(values) => {
                if let Some(role) = branching.choosers.first().map(|role| role.index()) {
                    let (choice, _) = best_choice(graph, number, branching, values, n_roles);
                    mixture[role] = pure(branching.counts[role], choice);
                }
            }
            Policy::Minimax(minimax, floor, ceiling) => {
                let own = minimax.maximiser.index();
                let other =
                    branching.choosers.iter().map(|role| role.index()).find(|&role| role != own);
                match minimax.cells(number, branching, &floor.values) {
                    Cells::Rows(cells) => {
                        let progress =
                            minimax.progress(number, branching, own, floor, ceiling.is_some());
                        mixture[own] = pure(cells.len(), best_of(&cells, &progress, 1.0));
                    }
                    Cells::Columns(_) => {
                        let other = other.expect("another player has a choice");
                        let side = ceiling.unwrap_or(floor);
                        let progress =
                            minimax.progress(number, branching, other, side, ceiling.is_some());
                        let Cells::Columns(cells) = minimax.cells(number, branching, &side.values)
                        else {
                            unreachable!("the branching is the same")
                        };
                        mixture[other] = pure(cells.len(), best_of(&cells, &progress, -1.0));
                    }
                    Cells::Both(cells, n_columns) => {
                        let solution = matrix_game(&cells, n_columns);
                        mixture[own] = solution.rows;
                        mixture[other.expect("both sides have a choice")] = solution.columns;
                    }
                }
            }
        }
        mixture
    }
}

/// Returns the index of the highest cell times the sign, and among equal ones the one of lowest
/// rank.
fn best_of(cells: &[f64], ranks: &[u64], sign: f64) -> usize {
    let highest = cells.iter().map(|cell| sign * cell).fold(f64::NEG_INFINITY, f64::max);
    let good = (0..cells.len()).filter(|&i| sign * cells[i] >= highest - TOLERANCE);
    good.min_by_key(|&i| ranks.get(i).copied().unwrap_or(0)).expect("there is a cell")
}

impl Minimax<'_> {
    /// Returns the rank of the child of each choice of a role, if positions repeat and nature has
    /// no move. Otherwise returns an empty list.
    fn progress(
        &self,
        number: u32,
        branching: &Branching,
        role: usize,
        valued: &Valued,
        repeats: bool,
    ) -> Vec<u64> {
        if !repeats || branching.nature().is_some() {
            return Vec::new();
        }
        let (children, strides) = (self.graph.children(number), branching.strides());
        (0..branching.counts[role])
            .map(|choice| valued.ranks[children[choice * strides[role]] as usize])
            .collect()
    }
}

/// Returns the strategies of all roles at the start, which has this number.
fn strategies<P: Position>(
    start: &P,
    graph: &Graph,
    number: u32,
    policy: &Policy<'_>,
) -> Vec<Vec<(P::Move, f64)>> {
    let mixture = policy.mixture(graph, number);
    let roles = start.shape().roles();
    roles
        .map(|role| {
            let moves = start.legal_moves(role).iter().cloned();
            moves.zip(mixture.get(role.index()).into_iter().flatten().copied()).collect()
        })
        .collect()
}

/// Returns the most likely line from the start, which has this number.
fn line<P: Position>(
    start: &P,
    graph: &Graph,
    mut number: u32,
    policy: &Policy<'_>,
    value: f64,
) -> Line<P::Move> {
    let mut position = start.clone();
    let mut joints = Vec::new();
    // Ranks make lines end. In case of rounding errors the number of positions limits the length.
    while joints.len() < graph.nodes.len() {
        let mixture = policy.mixture(graph, number);
        if mixture.is_empty() {
            break;
        }
        let strides = branching(&position).strides();
        let choices = Choices::at(&position);
        let mut joint = Vec::with_capacity(mixture.len());
        let mut index = 0;
        for (role, weights) in mixture.iter().enumerate() {
            let most_likely =
                (0..weights.len()).rev().max_by(|&a, &b| weights[a].total_cmp(&weights[b]));
            let most_likely = most_likely.expect("every role has a legal move");
            joint.push(choices.of(Role::new(role))[most_likely].clone());
            index += most_likely * strides[role];
        }
        number = graph.children(number)[index];
        position.advance(&joint);
        joints.push(joint);
    }
    Line { joints, value }
}
