//! The logic of one step of a random playout, in every lane: rules, sampler and restart in one graph.

use agon_game::Shape;

use crate::graph::Graph;
use crate::optimise::forget_unread;
use crate::phases::Phases;
use crate::program::{Program, lower};
use crate::sampler::{Tree, draw, n_random};
use crate::{Circuit, Signal};

/// Where a lane goes on when its playout has ended.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Restart {
    /// At the initial state, which is part of the logic.
    Initial,
    /// At the lane's own start state, which is a leaf per kept bit.
    Planes,
}

/// Which step of a playout it is.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) restart: Restart,
    /// Whether lanes that have ended may start again after this step: only before a phase in which some of them start.
    pub(crate) is_gate: bool,
}

/// One step of a playout as a program.
///
/// Leaves: the kept base bits; whether the lane waits; then, with [`Restart::Planes`], as many start bits as kept ones; then
/// whether the lane may restart; then the random bits.
///
/// Outputs: the kept base bits after the step (at a gate those of the start where the lane has ended or waited and may restart);
/// whether the lane waits, which those do that have ended and not restarted; then whether the playout has ended just here; then
/// the distinct goal signals; then, where steps may be rejected, whether this one was, and whether the lane is *late*.
///
/// Where a step is rejected the state stays as it is. If the circuit is cut up the lane has then missed its phase, for all others are in
/// the next: it is late, and waits as it is until the phase in which its own token stands comes round again.
pub(crate) struct PlayoutStep {
    pub(crate) program: Program,
    pub(crate) n_random: usize,
    /// By role: payoffs from the highest on, each with the output that says that it is the one.
    pub(crate) payoffs: Vec<Vec<(f64, usize)>>,
    pub(crate) n_goals: usize,
}

/// What playouts need of a circuit.
pub(crate) struct Playable {
    pub(crate) phases: Phases,
    /// The base bits that play depends on: the others are neither loaded nor computed.
    pub(crate) kept: Vec<usize>,
    /// Whether a step of some phase may be rejected.
    pub(crate) may_reject: bool,
}

impl Playable {
    pub(crate) fn new(circuit: &Circuit) -> Playable {
        Playable::of(Phases::new(&forget_unread(circuit)))
    }

    /// What is needed of a circuit that has been cut up, or not.
    pub(crate) fn of(phases: Phases) -> Playable {
        let cones: Vec<Vec<bool>> =
            phases.circuits.iter().map(|circuit| circuit.cone(circuit.outputs.signals())).collect();
        let may_reject = phases.circuits.iter().any(|circuit| !circuit.is_exact());
        // Lanes that are late know it by their token.
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

impl PlayoutStep {
    /// The step of one phase. Turns are for the whole of a circuit that is not cut up.
    pub(crate) fn new(
        playable: &Playable,
        phase: usize,
        shape: &Shape,
        turns: Option<&Turns>,
        Place { restart, is_gate }: Place,
    ) -> PlayoutStep {
        let Playable { phases, kept, may_reject } = playable;
        let circuit = &phases.circuits[phase];
        let n_random = random_bits(circuit, shape, turns);
        let n_state = kept.len() + 1;
        let n_start = if restart == Restart::Planes { kept.len() } else { 0 };
        let mut graph = Graph::new(n_state + n_start + 1 + n_random.iter().sum::<usize>());

        // The state first, then moves that depend on it, then what depends on the moves.
        let mut map = vec![Signal::FALSE; circuit.n_gates()];
        for (leaf, &bit) in kept.iter().enumerate() {
            map[1 + bit] = graph.leaf(leaf);
        }
        let reads_input = circuit.reads_input();
        graph.embed(circuit, &mut map, |gate| !reads_input[gate]);
        let to =
            |map: &[Signal], signal: Signal| map[signal.gate()].inverted_if(signal.is_inverted());
        let legal: Vec<Vec<Signal>> = circuit
            .outputs
            .legal
            .iter()
            .map(|of_role| of_role.iter().map(|&signal| to(&map, signal)).collect())
            .collect();
        let mut random = n_state + n_start + 1;
        let mut random_of = |role: usize, graph: &Graph| -> Vec<Signal> {
            random += n_random[role];
            (random - n_random[role]..random).map(|leaf| graph.leaf(leaf)).collect()
        };
        let (inputs, can_move) =
            choose_moves(&mut graph, circuit, shape, turns, &legal, &mut random_of);
        for (gate, &input) in (circuit.first_input()..).zip(inputs.iter().flatten()) {
            map[gate] = input;
        }
        graph.embed(circuit, &mut map, |gate| reads_input[gate]);

        let terminal = to(&map, circuit.outputs.terminal);
        let waits = graph.leaf(kept.len());
        // Without a token, or where nobody can be late, all lanes are in this phase.
        let token = phases.token(phase).and_then(|bit| kept.binary_search(&bit).ok());
        let in_phase = token.filter(|_| *may_reject).map_or(Signal::TRUE, |leaf| graph.leaf(leaf));
        let over = graph.or(terminal, !can_move);
        let over = graph.and(over, in_phase);
        let ended = graph.and(over, !waits);
        let idle = graph.or(over, waits);
        let plays = graph.and(in_phase, !idle);
        let refused = to(&map, circuit.outputs.rejected);
        let rejected = graph.and(refused, plays);
        let stays = graph.or(rejected, !in_phase);
        let may = graph.leaf(n_state + n_start);
        let restarts = if is_gate { graph.and(idle, may) } else { Signal::FALSE };
        let mut roots = Vec::new();
        for (leaf, &bit) in kept.iter().enumerate() {
            let next = to(&map, circuit.outputs.next[bit]);
            let next = graph.choose(stays, map[1 + bit], next);
            let start = match restart {
                Restart::Initial => Signal::constant(circuit.initial[bit]),
                Restart::Planes => graph.leaf(n_state + leaf),
            };
            roots.push(graph.choose(restarts, start, next));
        }
        roots.push(graph.and(idle, !restarts));
        roots.push(ended);
        let first_goal = roots.len();
        let payoffs = highest_goals(&mut graph, circuit, |signal| to(&map, signal), &mut roots);
        let n_goals = roots.len() - first_goal;
        if *may_reject {
            let late = graph.and(!in_phase, !waits);
            roots.extend([rejected, late]);
        }
        let program = lower(graph.first_and() - 1, graph.ands(), &roots);
        let n_random = n_random.iter().sum();
        PlayoutStep { program, n_random, payoffs, n_goals }
    }
}

/// Who waits while another role moves: proved facts that let all players share one sampler.
///
/// At every reachable state that is not terminal: at most one player has a legal move that is no waiting move, and a player
/// with a legal waiting move has no other legal move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turns {
    /// By role and move: it is a waiting move. Nature's entry is not looked at.
    pub waits: Vec<Vec<bool>>,
}

/// By role, the number of random bits its draw takes. Players who share a draw have theirs under the first of them.
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

/// The chosen moves by role and move, and whether every role has one.
fn choose_moves(
    graph: &mut Graph,
    circuit: &Circuit,
    shape: &Shape,
    turns: Option<&Turns>,
    legal: &[Vec<Signal>],
    random_of: &mut dyn FnMut(usize, &Graph) -> Vec<Signal>,
) -> (Vec<Vec<Signal>>, Signal) {
    let n_roles = circuit.roles.len();
    let players: Vec<usize> = (0..n_roles).filter(|&role| !circuit.roles[role].is_nature).collect();
    let mut chosen: Vec<Vec<Signal>> = vec![Vec::new(); n_roles];
    let mut can_move = Vec::new();
    let random: Vec<Vec<Signal>> = (0..n_roles).map(|role| random_of(role, graph)).collect();
    let mut own: Vec<usize> = (0..n_roles).collect();
    if let Some(turns) = turns {
        can_move.push(share_tree(graph, turns, legal, &players, &random, &mut chosen));
        own.retain(|role| !players.contains(role));
    } else if shape.turn_taking {
        can_move.extend(share_draw(graph, legal, &players, &random, &mut chosen));
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

/// One draw for all players, of whom at most one has a choice; a tree for each.
fn share_draw(
    graph: &mut Graph,
    legal: &[Vec<Signal>],
    players: &[usize],
    random: &[Vec<Signal>],
    chosen: &mut [Vec<Signal>],
) -> Vec<Signal> {
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

/// One tree and one draw for all players, of whom at most one does not wait.
fn share_tree(
    graph: &mut Graph,
    turns: &Turns,
    legal: &[Vec<Signal>],
    players: &[usize],
    random: &[Vec<Signal>],
    chosen: &mut [Vec<Signal>],
) -> Signal {
    // The moves of each player that are real ones; the first of all players share a leaf, then the second, and so on.
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
        // Waiting moves are made where they are legal; a waiting player has nothing else.
        chosen[player] = (0..legal[player].len())
            .map(|m| if turns.waits[player][m] { legal[player][m] } else { Signal::FALSE })
            .collect();
        waits.push(graph.or_all(&chosen[player]));
        for (&m, &at) in moves.iter().zip(&picked) {
            chosen[player][m] = graph.and(at, legal[player][m]);
        }
    }
    // All but one wait, and that one waits too or owns the legal moves that there are.
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
fn highest_goals(
    graph: &mut Graph,
    circuit: &Circuit,
    to: impl Fn(Signal) -> Signal,
    roots: &mut Vec<Signal>,
) -> Vec<Vec<(f64, usize)>> {
    let first_goal = roots.len();
    let mut payoffs = Vec::with_capacity(circuit.roles.len());
    for goals in &circuit.outputs.goals {
        let mut higher = Signal::FALSE;
        let mut of_role = Vec::new();
        for &(value, signal) in goals.iter().rev() {
            let is_highest = graph.and(to(signal), !higher);
            higher = graph.or(higher, to(signal));
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
