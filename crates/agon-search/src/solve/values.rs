//! From the end backwards: what every listed position is worth.

use agon_game::{Position, Role};

use super::graph::{Branching, Graph, Node, branching, list};
use super::matrix::matrix_game;
use super::{Method, Solution, Why};
use crate::choices::Choices;
use crate::{Line, Meter};

/// Values that differ by less are the same: what is left by rounding in expectations and mixtures.
const SAME: f64 = 1e-9;

/// Sweeps over all positions before values that still move are taken as they are.
const MAX_SWEEPS: usize = 100_000;

/// All positions of a game, valued.
pub(super) struct Listed {
    graph: Graph,
    repeats: bool,
    worth: Worth,
}

/// What positions are worth.
enum Worth {
    /// One against the others: what the maximiser gets, at most too where positions repeat, and what two get together.
    Contest { maximiser: Role, floor: Valued, ceiling: Option<Valued>, sum: Option<f64> },
    /// Everybody for themselves: by position and role.
    Everybody(Vec<f64>),
}

/// Lists all positions and values them.
pub(super) fn list_all<P: Position>(
    start: &P,
    meter: &mut Meter<'_>,
    max_bytes: usize,
    bounds: &mut [(f64, f64)],
) -> Result<Listed, Why> {
    let graph = list(start, meter, max_bytes)?;
    let (order, repeats) = graph.bottom_up();
    let shape = start.shape();
    let players: Vec<Role> = shape.players().collect();
    let is_turn_taking = graph.branchings.iter().all(|branching| branching.choosers.len() <= 1);
    let worth = match players[..] {
        [player] => {
            let contest = Contest { graph: &graph, maximiser: player, range: range(start) };
            // Endless play pays a lone player nothing, so what can be reached is all there is.
            let floor = contest.values(&order, repeats, Side::Floor, meter)?;
            Worth::Contest { maximiser: player, floor, ceiling: None, sum: None }
        }
        [first, second] if let Some(sum) = constant_sum(&graph, first, second) => {
            let contest = Contest { graph: &graph, maximiser: first, range: range(start) };
            let floor = contest.values(&order, repeats, Side::Floor, meter)?;
            let ceiling = if repeats {
                let ceiling = contest.values(&order, repeats, Side::Ceiling, meter)?;
                let (low, high) = (floor.values[0], ceiling.values[0]);
                bounds[first.index()] = (low, high);
                bounds[second.index()] = (sum - high, sum - low);
                if high - low > 1e-6 {
                    return Err(Why::Endless);
                }
                Some(ceiling)
            } else {
                None
            };
            Worth::Contest { maximiser: first, floor, ceiling, sum: Some(sum) }
        }
        _ if !is_turn_taking => {
            // What each can make sure of alone is a lower bound in any game.
            for &player in &players {
                if players.len() == 2 {
                    let contest = Contest { graph: &graph, maximiser: player, range: range(start) };
                    bounds[player.index()].0 =
                        contest.values(&order, repeats, Side::Floor, meter)?.values[0];
                }
            }
            return Err(Why::Simultaneous);
        }
        _ if repeats => return Err(Why::Endless),
        _ => Worth::Everybody(everybodys_best(&graph, &order, shape.role_names.len())),
    };
    Ok(Listed { graph, repeats, worth })
}

impl Listed {
    /// The solution from one of the positions on. None if it is not among them, or if play there may go on for ever and that
    /// matters.
    pub(super) fn solution<P: Position>(
        &self,
        start: &P,
        meter: &Meter<'_>,
    ) -> Option<Solution<P::Move>> {
        let number = self.graph.numbering.find(start.key())?;
        let shape = start.shape();
        let n_roles = shape.role_names.len();
        let mut values = vec![0.0; n_roles];
        let policy = match &self.worth {
            Worth::Contest { maximiser, floor, ceiling, sum } => {
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
                let contest =
                    Contest { graph: &self.graph, maximiser: *maximiser, range: range(start) };
                Policy::Contest(contest, floor, ceiling.as_ref())
            }
            Worth::Everybody(all) => {
                values.copy_from_slice(&all[number as usize * n_roles..][..n_roles]);
                Policy::Everybody(all)
            }
        };
        // What rounding left is not shown: 50, not 49.99999999999999.
        let values: Vec<f64> =
            values.into_iter().map(|value: f64| (value * 1e9).round() / 1e9).collect();
        let first = shape.players().next().expect("somebody plays");
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

fn range<P: Position>(position: &P) -> (f64, f64) {
    let payoffs = &position.shape().payoffs;
    (*payoffs.start(), *payoffs.end())
}

/// What the payoffs of two players add up to wherever play ends, if it is the same everywhere.
fn constant_sum(graph: &Graph, first: Role, second: Role) -> Option<f64> {
    let mut sums =
        graph.payoffs.iter().map(|payoffs| payoffs[first.index()] + payoffs[second.index()]);
    let sum = sums.next().unwrap_or(0.0);
    sums.all(|other| other == sum).then_some(sum)
}

/// One player against all others, who want it to get little.
struct Contest<'g> {
    graph: &'g Graph,
    maximiser: Role,
    range: (f64, f64),
}

/// What endless play is taken to be worth while values are worked out.
#[derive(Copy, Clone, PartialEq)]
enum Side {
    /// The least payoff: what the maximiser can make sure of.
    Floor,
    /// The highest payoff: what the others can keep it down to.
    Ceiling,
}

/// Values of all positions for the maximiser.
struct Valued {
    values: Vec<f64>,
    /// When the value was last changed, counted in changes: who follows falling ranks makes progress.
    ranks: Vec<u64>,
}

impl Contest<'_> {
    fn values(
        &self,
        order: &[u32],
        repeats: bool,
        side: Side,
        meter: &mut Meter<'_>,
    ) -> Result<Valued, Why> {
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
            // Without repetition every child was ready before its parents.
            if !repeats || changed < 1e-12 {
                break;
            }
            if meter.is_over(1) {
                return Err(Why::Budget);
            }
        }
        Ok(valued)
    }

    /// One step back from the values of the children.
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
            Node::Open { .. } => unreachable!("asked only where play has ended"),
        }
    }

    /// What the players' choices are worth at an open position, nature's averaged out.
    fn cells(&self, number: u32, branching: &Branching, values: &[f64]) -> Cells {
        let children = self.graph.children(number);
        let strides = branching.strides();
        let own = self.maximiser.index();
        let n_outcomes = branching.chances.len();
        let n_rows = branching.counts[own];
        // Everybody else, nature aside, is one opponent.
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

/// What choices are worth.
enum Cells {
    /// Only the maximiser chooses, or nobody.
    Rows(Vec<f64>),
    /// Only others choose.
    Columns(Vec<f64>),
    /// Both do, at once; and how many columns there are.
    Both(Vec<f64>, usize),
}

impl Branching {
    /// The role whose moves are chances, if it has more than one here.
    fn nature(&self) -> Option<usize> {
        if self.chances.len() < 2 {
            return None;
        }
        // The one role with choices that is no chooser.
        (0..self.counts.len()).find(|&role| {
            self.counts[role] > 1 && self.choosers.iter().all(|chooser| chooser.index() != role)
        })
    }
}

/// By position and role: its value if everybody goes for the own best.
fn everybodys_best(graph: &Graph, order: &[u32], n_roles: usize) -> Vec<f64> {
    let mut values = vec![0.0; graph.nodes.len() * n_roles];
    for &number in order {
        let here = number as usize * n_roles;
        match graph.nodes[number as usize] {
            Node::Ended(payoffs) => {
                values[here..here + n_roles].copy_from_slice(&graph.payoffs[payoffs as usize]);
            }
            Node::Open { branching, .. } => {
                let branching = &graph.branchings[branching as usize];
                let (_, best) = own_best(graph, number, branching, &values, n_roles);
                values[here..here + n_roles].copy_from_slice(&best);
            }
        }
    }
    values
}

/// The choice that is best for whoever chooses, the first of several, and what it is worth to everybody.
fn own_best(
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
            (Some((_, before)), Some(role)) => expected[role] > before[role] + SAME,
            (Some(_), None) => false,
            (None, _) => true,
        };
        if is_better {
            best = Some((choice, expected));
        }
    }
    best.expect("an open position has joint moves")
}

/// How values are turned back into moves.
enum Policy<'g> {
    /// One against the others; the ceiling where positions repeat.
    Contest(Contest<'g>, &'g Valued, Option<&'g Valued>),
    /// Everybody for themselves: the values by position and role.
    Everybody(&'g [f64]),
}

impl Policy<'_> {
    /// By role: how likely each of its moves is. Nature's chances for nature.
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
            Policy::Everybody(values) => {
                if let Some(role) = branching.choosers.first().map(|role| role.index()) {
                    let (choice, _) = own_best(graph, number, branching, values, n_roles);
                    mixture[role] = pure(branching.counts[role], choice);
                }
            }
            Policy::Contest(contest, floor, ceiling) => {
                let own = contest.maximiser.index();
                let other =
                    branching.choosers.iter().map(|role| role.index()).find(|&role| role != own);
                match contest.cells(number, branching, &floor.values) {
                    Cells::Rows(cells) => {
                        let progress =
                            contest.progress(number, branching, own, floor, ceiling.is_some());
                        mixture[own] = pure(cells.len(), best_of(&cells, &progress, 1.0));
                    }
                    Cells::Columns(cells) => {
                        let other = other.expect("somebody chooses");
                        let side = ceiling.unwrap_or(floor);
                        let progress =
                            contest.progress(number, branching, other, side, ceiling.is_some());
                        let _ = cells;
                        let Cells::Columns(cells) = contest.cells(number, branching, &side.values)
                        else {
                            unreachable!("the branching is the same")
                        };
                        mixture[other] = pure(cells.len(), best_of(&cells, &progress, -1.0));
                    }
                    Cells::Both(cells, n_columns) => {
                        let solution = matrix_game(&cells, n_columns);
                        mixture[own] = solution.rows;
                        mixture[other.expect("both choose")] = solution.columns;
                    }
                }
            }
        }
        mixture
    }
}

/// The index of the highest of the cells, times the sign; of those the one with the lowest rank.
fn best_of(cells: &[f64], ranks: &[u64], sign: f64) -> usize {
    let highest = cells.iter().map(|cell| sign * cell).fold(f64::NEG_INFINITY, f64::max);
    let good = (0..cells.len()).filter(|&i| sign * cells[i] >= highest - SAME);
    good.min_by_key(|&i| ranks.get(i).copied().unwrap_or(0)).expect("there is a highest")
}

impl Contest<'_> {
    /// By choice of a role: the rank of what it leads to, where positions repeat and nature has no say; else nothing.
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

/// How everybody plays at the start, which has this number.
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

/// The likeliest play from the start, which has this number.
fn line<P: Position>(
    start: &P,
    graph: &Graph,
    mut number: u32,
    policy: &Policy<'_>,
    value: f64,
) -> Line<P::Move> {
    let mut position = start.clone();
    let mut joints = Vec::new();
    // Ranks see to it that lines end; should rounding get in the way, a line is no longer than there are positions.
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
            let likeliest =
                (0..weights.len()).rev().max_by(|&a, &b| weights[a].total_cmp(&weights[b]));
            let likeliest = likeliest.expect("everybody has a move");
            joint.push(choices.of(Role::new(role))[likeliest].clone());
            index += likeliest * strides[role];
        }
        number = graph.children(number)[index];
        position.advance(&joint);
        joints.push(joint);
    }
    Line { joints, value }
}
