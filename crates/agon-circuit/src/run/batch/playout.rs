//! The logic of one step of a random playout: rules, sampler and restart in one graph.

use agon_game::Shape;

use super::foresight::Ahead;
use super::preference::{LevelLeaves, N_GREEDY_BITS, n_level_planes};
use super::sampler::{Tree, draw, n_random};
use crate::form::graph::Graph;
use crate::optimise::forget_unread;
use crate::run::phases::Phases;
use crate::run::program::{Program, lower};
use crate::{Circuit, Signal, Turns};

/// The state at which a lane continues when its playout has ended.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Restart {
    /// The initial state, which is part of the logic.
    Initial,
    /// The lane's own start state, which is a leaf per kept bit.
    Planes,
}

/// The place of a step in a round.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) restart: Restart,
    /// Whether lanes whose playout has ended may restart after this step: only before a phase in
    /// which some of them start.
    pub(crate) is_gate: bool,
}

/// One step of a playout as a program.
///
/// Leaves, in order:
///
/// - the kept base bits;
/// - whether the lane waits;
/// - with [`Restart::Planes`], as many start bits as kept bits;
/// - whether the lane may restart;
/// - if moves are preferred, the planes of their levels;
/// - the random bits.
///
/// Outputs, in order:
///
/// - the kept base bits after the step, or those of the start if the lane restarts: it does so at a
///   gate if it has ended or waited and may restart;
/// - whether the lane waits: if it has ended and not restarted;
/// - whether the playout has ended in this step;
/// - the distinct goal signals;
/// - where steps may be rejected: whether this one was, and whether the lane is *late*.
///
/// Where a step is rejected the state does not change. If the circuit is cut into phases, the lane
/// has then missed its phase, because all other lanes are in the next one. It is late, and keeps
/// its state until the phase of its own token comes again.
pub(crate) struct PlayoutStep {
    pub(crate) program: Program,
    /// Number of planes of the levels of moves: 0 if none is preferred.
    pub(crate) n_levels: usize,
    pub(crate) n_random: usize,
    /// By role: payoffs in descending order, each with the goal output that says that it is the
    /// payoff.
    pub(crate) payoffs: Vec<Vec<(f64, usize)>>,
    pub(crate) n_goals: usize,
}

/// A circuit prepared for playouts.
pub(crate) struct Playable {
    pub(crate) phases: Phases,
    /// The base bits that play depends on. The others are neither loaded nor computed.
    pub(crate) kept: Vec<usize>,
    /// Whether a step of some phase may be rejected.
    pub(crate) may_reject: bool,
}

impl Playable {
    pub(crate) fn new(circuit: &Circuit) -> Playable {
        Playable::of(Phases::new(&forget_unread(circuit)))
    }

    /// Prepares a circuit of one or more phases.
    pub(crate) fn of(phases: Phases) -> Playable {
        let cones: Vec<Vec<bool>> =
            phases.circuits.iter().map(|circuit| circuit.cone(circuit.outputs.signals())).collect();
        let may_reject = phases.circuits.iter().any(|circuit| !circuit.is_exact());
        // A late lane is recognised by its token.
        let is_token = |bit: usize| {
            may_reject && (0..phases.circuits.len()).any(|phase| phases.token(phase) == Some(bit))
        };
        let is_kept = |&bit: &usize| is_token(bit) || cones.iter().any(|cone| cone[1 + bit]);
        Playable {
            kept: (0..phases.circuits[0].base.len()).filter(is_kept).collect(),
            may_reject,
            phases,
        }
    }
}

/// The rules of a phase with randomly chosen moves, as part of a graph.
struct Rules<'c> {
    circuit: &'c Circuit,
    /// By gate of the circuit: its signal in the graph.
    map: Vec<Signal>,
    /// Every role has a move.
    can_move: Signal,
}

impl<'c> Rules<'c> {
    /// Adds the rules to a graph: first the gates of the state, then the moves, which depend on
    /// them, then the gates that depend on moves.
    ///
    /// The first leaves are the kept bits. Returns `None` if looking ahead takes too much logic.
    fn embed(
        graph: &mut Graph,
        circuit: &'c Circuit,
        kept: &[usize],
        sampler: &Sampler<'_>,
        Draw { ahead, levels }: Draw<'_>,
    ) -> Option<Rules<'c>> {
        let mut map = vec![Signal::FALSE; circuit.n_gates()];
        for (leaf, &bit) in kept.iter().enumerate() {
            map[1 + bit] = graph.leaf(leaf);
        }
        let reads_input = circuit.reads_input();
        graph.embed(circuit, &mut map, |gate| !reads_input[gate]);
        let of = |&signal: &Signal| map[signal.gate()].inverted_if(signal.is_inverted());
        let legal: Vec<Vec<Signal>> =
            circuit.outputs.legal.iter().map(|of_role| of_role.iter().map(of).collect()).collect();
        // Some of the moves are left where there are any, so the end of play is not affected.
        let legal = match ahead {
            Some(ahead) => ahead.restrict(graph, &map, &legal)?,
            None => legal,
        };
        let legal = match levels {
            Some(levels) => levels.restrict(graph, circuit, sampler.turns, &legal),
            None => legal,
        };
        let (inputs, can_move) = sampler.choose_moves(graph, circuit, &legal);
        for (gate, &input) in (circuit.first_input()..).zip(inputs.iter().flatten()) {
            map[gate] = input;
        }
        graph.embed(circuit, &mut map, |gate| reads_input[gate]);
        Some(Rules { circuit, map, can_move })
    }

    /// Returns the signal in the graph.
    fn of(&self, signal: Signal) -> Signal {
        self.map[signal.gate()].inverted_if(signal.is_inverted())
    }
}

impl PlayoutStep {
    /// Builds the step of one phase, with uniformly drawn moves. `turns` are used only if the
    /// circuit is not cut into phases.
    #[cfg(test)]
    pub(crate) fn new(
        playable: &Playable,
        phase: usize,
        shape: &Shape,
        turns: Option<&Turns>,
        place: Place,
    ) -> PlayoutStep {
        PlayoutStep::with_choice(playable, phase, (shape, turns), place, (None, false))
            .expect("only looking ahead may take too much logic")
    }

    /// Builds the step of one phase, with moves that may look ahead and may be preferred. Returns
    /// `None` if looking ahead takes too much logic.
    pub(crate) fn with_choice(
        playable: &Playable,
        phase: usize,
        (shape, turns): (&Shape, Option<&Turns>),
        place: Place,
        (ahead, has_levels): (Option<&Ahead<'_>>, bool),
    ) -> Option<PlayoutStep> {
        let kept = &playable.kept;
        let circuit = &playable.phases.circuits[phase];
        let n_state = kept.len() + 1;
        let n_start = if place.restart == Restart::Planes { kept.len() } else { 0 };
        let first_level = n_state + n_start + 1;
        let n_levels = if has_levels { n_level_planes(circuit) } else { 0 };
        let first_greedy = first_level + n_levels;
        let n_greedy = if has_levels { N_GREEDY_BITS } else { 0 };
        let sampler = Sampler {
            shape,
            turns,
            n_random: random_bits(circuit, shape, turns),
            first_random: first_greedy + n_greedy,
        };
        let n_random = n_greedy + sampler.n_random.iter().sum::<usize>();
        let mut graph = Graph::new(first_greedy + n_random);
        let levels = has_levels.then_some(LevelLeaves { first_level, first_greedy });
        let draw = Draw { ahead, levels: levels.as_ref() };
        let rules = Rules::embed(&mut graph, circuit, kept, &sampler, draw)?;
        let step = PlayoutStep::of_rules(graph, &rules, playable, phase, place);
        Some(PlayoutStep { n_levels, n_random, ..step })
    }

    /// Adds the control of the lane to the rules, and lowers all of it.
    fn of_rules(
        mut graph: Graph,
        rules: &Rules<'_>,
        playable: &Playable,
        phase: usize,
        Place { restart, is_gate }: Place,
    ) -> PlayoutStep {
        let Playable { phases, kept, may_reject } = playable;
        let circuit = rules.circuit;
        let n_state = kept.len() + 1;
        let n_start = if restart == Restart::Planes { kept.len() } else { 0 };
        let terminal = rules.of(circuit.outputs.terminal);
        let waits = graph.leaf(kept.len());
        // Without a token, or where no lane can be late, all lanes are in this phase.
        let token = phases.token(phase).and_then(|bit| kept.binary_search(&bit).ok());
        let in_phase = token.filter(|_| *may_reject).map_or(Signal::TRUE, |leaf| graph.leaf(leaf));
        let over = graph.or(terminal, !rules.can_move);
        let over = graph.and(over, in_phase);
        let ended = graph.and(over, !waits);
        let idle = graph.or(over, waits);
        let plays = graph.and(in_phase, !idle);
        let rejected = graph.and(rules.of(circuit.outputs.rejected), plays);
        let stays = graph.or(rejected, !in_phase);
        let may = graph.leaf(n_state + n_start);
        let restarts = if is_gate { graph.and(idle, may) } else { Signal::FALSE };
        let mut roots = Vec::new();
        for (leaf, &bit) in kept.iter().enumerate() {
            let next = rules.of(circuit.outputs.next[bit]);
            let next = graph.choose(stays, rules.map[1 + bit], next);
            let start = match restart {
                Restart::Initial => Signal::constant(circuit.initial[bit]),
                Restart::Planes => graph.leaf(n_state + leaf),
            };
            roots.push(graph.choose(restarts, start, next));
        }
        roots.push(graph.and(idle, !restarts));
        roots.push(ended);
        let first_goal = roots.len();
        let payoffs = highest_goals(&mut graph, rules, &mut roots);
        let n_goals = roots.len() - first_goal;
        if *may_reject {
            let late = graph.and(!in_phase, !waits);
            roots.extend([rejected, late]);
        }
        let program = lower(graph.first_and() - 1, graph.ands(), &roots);
        PlayoutStep { program, n_levels: 0, n_random: 0, payoffs, n_goals }
    }
}

/// What restricts the moves that are drawn.
#[derive(Copy, Clone)]
struct Draw<'d> {
    ahead: Option<&'d Ahead<'d>>,
    levels: Option<&'d LevelLeaves>,
}

/// How moves are drawn.
struct Sampler<'s> {
    shape: &'s Shape,
    turns: Option<&'s Turns>,
    /// By role: the number of random bits.
    n_random: Vec<usize>,
    /// The leaf of the first random bit.
    first_random: usize,
}

/// Returns, by role, the number of random bits of its draw. Players that share a draw have theirs
/// under the first of them.
fn random_bits(circuit: &Circuit, shape: &Shape, turns: Option<&Turns>) -> Vec<usize> {
    let n_possible = |role: usize| {
        circuit.outputs.legal[role].iter().filter(|&&legal| legal != Signal::FALSE).count()
    };
    let mut bits: Vec<usize> =
        (0..circuit.roles.len()).map(|role| n_random(n_possible(role))).collect();
    if shape.turn_taking || turns.is_some() {
        let players: Vec<usize> =
            (0..bits.len()).filter(|&role| !circuit.roles[role].is_nature).collect();
        let most = players.iter().map(|&role| bits[role]).max().unwrap_or(0);
        for (idx, &player) in players.iter().enumerate() {
            bits[player] = if idx == 0 { most } else { 0 };
        }
    }
    bits
}

/// The roles of a step that draw moves.
struct Roles<'r> {
    /// By role and move: the legal signal.
    legal: &'r [Vec<Signal>],
    /// The roles that are not nature.
    players: &'r [usize],
    /// By role: its random bits.
    random: &'r [Vec<Signal>],
}

impl Sampler<'_> {
    /// Adds the random choice of moves. Returns the chosen moves by role and move, and the signal
    /// that every role has one.
    fn choose_moves(
        &self,
        graph: &mut Graph,
        circuit: &Circuit,
        legal: &[Vec<Signal>],
    ) -> (Vec<Vec<Signal>>, Signal) {
        let n_roles = circuit.roles.len();
        let players: Vec<usize> =
            (0..n_roles).filter(|&role| !circuit.roles[role].is_nature).collect();
        let mut chosen: Vec<Vec<Signal>> = vec![Vec::new(); n_roles];
        let mut can_move = Vec::new();
        let random = self.random_leaves(graph);
        let roles = Roles { legal, players: &players, random: &random };
        let mut own: Vec<usize> = (0..n_roles).collect();
        if let Some(turns) = self.turns {
            can_move.push(share_tree(graph, turns, &roles, &mut chosen));
            own.retain(|role| !players.contains(role));
        } else if self.shape.turn_taking {
            can_move.extend(share_draw(graph, &roles, &mut chosen));
            own.retain(|role| !players.contains(role));
        }
        for role in own {
            let tree = Tree::new(graph, &legal[role]);
            can_move.push(graph.or_all(tree.count()));
            let number = draw(graph, tree.count(), &random[role]);
            chosen[role] = tree.descend(graph, &number);
        }
        (chosen, graph.and_all(&can_move))
    }

    /// Returns the random bits by role.
    fn random_leaves(&self, graph: &Graph) -> Vec<Vec<Signal>> {
        let mut first = self.first_random;
        let of_role = |&n: &usize| {
            first += n;
            (first - n..first).map(|leaf| graph.leaf(leaf)).collect()
        };
        self.n_random.iter().map(of_role).collect()
    }
}

/// Adds one draw for all players, of which at most one has a choice, with a tree for each. Returns,
/// by player, the signal that it has a move.
fn share_draw(graph: &mut Graph, roles: &Roles<'_>, chosen: &mut [Vec<Signal>]) -> Vec<Signal> {
    let Roles { legal, players, random } = *roles;
    let trees: Vec<Tree> = players.iter().map(|&player| Tree::new(graph, &legal[player])).collect();
    let has_choice: Vec<Signal> =
        trees.iter().map(|tree| graph.or_all(tree.count().get(1..).unwrap_or(&[]))).collect();
    let width = trees.iter().map(|tree| tree.count().len()).max().unwrap_or(0);
    let mut count = Vec::with_capacity(width);
    for bit in 0..width {
        let bits: Vec<Signal> = trees
            .iter()
            .zip(&has_choice)
            .filter_map(|(tree, &choice)| Some(graph.and(choice, *tree.count().get(bit)?)))
            .collect();
        count.push(graph.or_all(&bits));
    }
    let number = draw(graph, &count, &random[players[0]]);
    for ((&player, tree), &choice) in players.iter().zip(&trees).zip(&has_choice) {
        let own: Vec<Signal> =
            number[..tree.count().len()].iter().map(|&bit| graph.and(bit, choice)).collect();
        chosen[player] = tree.descend(graph, &own);
    }
    trees.iter().map(|tree| graph.or_all(tree.count())).collect()
}

/// Adds one tree and one draw for all players, of which at most one does not wait. Returns the
/// signal that all players have a move.
fn share_tree(
    graph: &mut Graph,
    turns: &Turns,
    roles: &Roles<'_>,
    chosen: &mut [Vec<Signal>],
) -> Signal {
    let Roles { legal, players, random } = *roles;
    // The moves of each player that are not waiting moves. The first ones of all players share a
    // leaf, then the second ones, and so on.
    let real = |player: usize| -> Vec<usize> {
        (0..legal[player].len())
            .filter(|&m| !turns.waits[player][m] && legal[player][m] != Signal::FALSE)
            .collect()
    };
    let real: Vec<Vec<usize>> = players.iter().map(|&player| real(player)).collect();
    let n_leaves = real.iter().map(Vec::len).max().unwrap_or(0);
    let leaves: Vec<Signal> = (0..n_leaves)
        .map(|leaf| {
            let wires: Vec<Signal> = players
                .iter()
                .zip(&real)
                .filter_map(|(&player, moves)| Some(legal[player][*moves.get(leaf)?]))
                .collect();
            graph.or_all(&wires)
        })
        .collect();
    let tree = Tree::new(graph, &leaves);
    let number = draw(graph, tree.count(), &random[players[0]][..tree.n_random()]);
    let picked = tree.descend(graph, &number);
    let mut waits = Vec::new();
    for (&player, moves) in players.iter().zip(&real) {
        // Waiting moves are made where they are legal: a waiting player has no other move.
        chosen[player] = (0..legal[player].len())
            .map(|m| if turns.waits[player][m] { legal[player][m] } else { Signal::FALSE })
            .collect();
        waits.push(graph.or_all(&chosen[player]));
        for (&m, &at) in moves.iter().zip(&picked) {
            chosen[player][m] = graph.and(at, legal[player][m]);
        }
    }
    // All players but one wait, and that one waits too or owns the legal moves.
    let any = graph.or_all(tree.count());
    let cases: Vec<Signal> = (0..players.len())
        .map(|mover| {
            let moves = graph.or(waits[mover], any);
            let others =
                waits.iter().enumerate().filter(|&(idx, _)| idx != mover).map(|(_, &wait)| wait);
            let all: Vec<Signal> = others.chain([moves]).collect();
            graph.and_all(&all)
        })
        .collect();
    graph.or_all(&cases)
}

/// Adds a root for each distinct signal that says that a value is the highest goal value of a role.
/// Returns the payoffs of [`PlayoutStep`].
fn highest_goals(
    graph: &mut Graph,
    rules: &Rules<'_>,
    roots: &mut Vec<Signal>,
) -> Vec<Vec<(f64, usize)>> {
    let first_goal = roots.len();
    let mut payoffs = Vec::with_capacity(rules.circuit.roles.len());
    for goals in &rules.circuit.outputs.goals {
        let mut higher = Signal::FALSE;
        let mut of_role = Vec::new();
        for &(value, signal) in goals.iter().rev() {
            let is_highest = graph.and(rules.of(signal), !higher);
            higher = graph.or(higher, rules.of(signal));
            if value == 0 || is_highest == Signal::FALSE {
                continue;
            }
            let known = roots[first_goal..].iter().position(|&root| root == is_highest);
            let root = known.unwrap_or_else(|| {
                roots.push(is_highest);
                roots.len() - 1 - first_goal
            });
            of_role.push((value as f64, root));
        }
        payoffs.push(of_role);
    }
    payoffs
}
