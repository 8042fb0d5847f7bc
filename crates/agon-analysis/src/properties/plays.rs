//! Records of random plays. They refute candidate properties, and the others are observed in them.

use std::sync::Arc;
use std::time::Instant;

use agon_datalog::TermId;
use agon_game::{Position, Rng, Role};
use agon_gdl::circuit::Compiled;
use agon_gdl::interpreter::Game;
use rand::SeedableRng as _;

/// Limits on the cost of random plays.
#[derive(Clone, Debug)]
pub struct PlayLimits {
    /// Maximum number of plays.
    pub plays: u64,
    /// Maximum number of states in all plays together.
    pub states: usize,
    /// Maximum number of fluents and legal moves in all states together: a measure of memory.
    pub fluents: usize,
    /// The seed of the random numbers.
    pub seed: u64,
    /// The deadline after which no further step is played.
    pub deadline: Option<Instant>,
}

impl Default for PlayLimits {
    fn default() -> PlayLimits {
        PlayLimits { plays: 50, states: 5_000, fluents: 2_000_000, seed: 1, deadline: None }
    }
}

/// A recorded state of a play.
#[derive(Clone, Debug)]
pub struct ObservedState {
    /// The fluents that hold, in ascending order.
    pub fluents: Vec<u32>,
    /// By role: its legal moves, in ascending order. Empty in terminal states.
    pub legal: Vec<Vec<u32>>,
    /// By role: the move that was made. Empty in the last state of a play.
    pub joint: Vec<u32>,
    /// By role: the goal value in this state.
    pub payoffs: Vec<f64>,
    /// Whether the state is terminal.
    pub is_terminal: bool,
}

/// Records of random plays.
#[derive(Clone, Debug, Default)]
pub struct Plays {
    /// The plays, each as a list of states. A play may be cut short by a limit.
    pub plays: Vec<Vec<ObservedState>>,
    /// Without a circuit: the fluents that occurred, in the order in which the game lists terms.
    /// Indices in `plays` refer to this list.
    pub terms: Vec<TermId>,
    /// By role: the texts of its moves. Indices in `plays` refer to these lists.
    pub moves: Vec<Vec<String>>,
}

/// Maximum number of legal moves that are recorded for a role in a state. Properties of moves
/// matter in small games only.
const MAX_MOVES_KEPT: usize = 100_000;

/// Minimum number of plays, or of states in fewer but longer plays, for observations to count.
const MIN_PLAYS: usize = 3;
const MIN_STATES: usize = 300;

impl Plays {
    /// Plays randomly within the limits, by the circuit if there is one.
    pub fn play(game: &Arc<Game>, compiled: Option<&Compiled>, limits: &PlayLimits) -> Plays {
        match compiled {
            Some(compiled) => {
                let start = compiled.start();
                let circuit = Arc::clone(start.circuit());
                let mut plays = Plays {
                    moves: circuit.roles.iter().map(|role| role.moves.clone()).collect(),
                    ..Plays::default()
                };
                plays.fill(start, limits, Position::features, |position, role, m| {
                    let (of, index) = position.role_and_index(*m);
                    debug_assert_eq!(of, role, "a legal move is the role's own");
                    index as u32
                });
                plays
            }
            None => Plays::by_rules(game, limits),
        }
    }

    fn by_rules(game: &Arc<Game>, limits: &PlayLimits) -> Plays {
        let mut plays = Plays::default();
        // Terms are numbered in the order of their first occurrence; they are renumbered in the
        // game's order at the end.
        let mut fluents: std::collections::BTreeMap<TermId, u32> =
            std::collections::BTreeMap::new();
        let n_roles = game.shape().role_names.len();
        let mut moves: Vec<std::collections::BTreeMap<TermId, u32>> =
            vec![Default::default(); n_roles];
        plays.fill(
            game.start(),
            limits,
            |position, seen| {
                seen.clear();
                for &term in position.state().fluents() {
                    let n_known = fluents.len() as u32;
                    seen.push(*fluents.entry(term).or_insert(n_known));
                }
            },
            |_, role, m| {
                let known = &mut moves[role.index()];
                let n_known = known.len() as u32;
                *known.entry(m.term()).or_insert(n_known)
            },
        );
        let (terms, fluent_of) = in_order(game, &fluents);
        plays.terms = terms;
        let mut move_of = Vec::new();
        for known in &moves {
            let (terms, of) = in_order(game, known);
            plays.moves.push(terms.into_iter().map(|term| game.text(term)).collect());
            move_of.push(of);
        }
        for seen in plays.plays.iter_mut().flatten() {
            seen.fluents.iter_mut().for_each(|fluent| *fluent = fluent_of[*fluent as usize]);
            seen.fluents.sort_unstable();
            for (role, legal) in seen.legal.iter_mut().enumerate() {
                legal.iter_mut().for_each(|m| *m = move_of[role][*m as usize]);
                legal.sort_unstable();
            }
            for (m, of) in seen.joint.iter_mut().zip(&move_of) {
                *m = of[*m as usize];
            }
        }
        plays
    }

    fn fill<P: Position>(
        &mut self,
        start: P,
        limits: &PlayLimits,
        mut look: impl FnMut(&P, &mut Vec<u32>),
        mut number: impl FnMut(&P, Role, &P::Move) -> u32,
    ) {
        let mut rng = Rng::seed_from_u64(limits.seed);
        let mut position = start.clone();
        let roles: Vec<Role> = position.shape().roles().collect();
        let (mut n_states, mut n_fluents) = (0, 0);
        let mut joint = Vec::new();
        let is_late = || limits.deadline.is_some_and(|deadline| Instant::now() > deadline);
        for _ in 0..limits.plays {
            position.go_to(start.state());
            let mut play = Vec::new();
            loop {
                let mut fluents = Vec::new();
                look(&position, &mut fluents);
                fluents.sort_unstable();
                n_states += 1;
                n_fluents += fluents.len();
                let is_terminal = position.is_terminal();
                let legal = roles.iter().map(|&role| {
                    let moves = position.legal_moves(role).iter().take(MAX_MOVES_KEPT);
                    let mut moves: Vec<u32> = moves.map(|m| number(&position, role, m)).collect();
                    moves.sort_unstable();
                    moves
                });
                let legal: Vec<Vec<u32>> = legal.collect();
                n_fluents += legal.iter().map(Vec::len).sum::<usize>();
                let payoffs = roles.iter().map(|&role| position.payoff(role)).collect();
                let mut seen =
                    ObservedState { fluents, legal, joint: Vec::new(), payoffs, is_terminal };
                let is_enough =
                    n_states >= limits.states || n_fluents >= limits.fluents || is_late();
                if !is_terminal && !is_enough {
                    position.draw(&mut rng, &mut joint);
                    seen.joint = roles
                        .iter()
                        .zip(&joint)
                        .map(|(&role, m)| number(&position, role, m))
                        .collect();
                    position.advance(&joint);
                }
                play.push(seen);
                if is_terminal || is_enough {
                    break;
                }
            }
            self.plays.push(play);
            if n_states >= limits.states || n_fluents >= limits.fluents || is_late() {
                break;
            }
        }
    }

    /// Returns whether the plays were cut so short that what was observed in them means nothing:
    /// almost anything holds in the first states of one play.
    pub(super) fn are_too_few(&self) -> bool {
        self.plays.len() < MIN_PLAYS && self.states().count() < MIN_STATES
    }

    /// Returns the number of plays.
    pub fn n_plays(&self) -> u64 {
        self.plays.len() as u64
    }

    /// Returns an iterator over all recorded states.
    pub fn states(&self) -> impl Iterator<Item = &ObservedState> {
        self.plays.iter().flatten()
    }

    /// Returns an iterator over all recorded steps, each as a state and its successor.
    pub fn steps(&self) -> impl Iterator<Item = (&ObservedState, &ObservedState)> {
        self.plays.iter().flat_map(|play| play.windows(2).map(|pair| (&pair[0], &pair[1])))
    }
}

/// Returns the keys in the order in which the game lists terms and, by value, the position of its
/// key in that order.
fn in_order(
    game: &Game,
    known: &std::collections::BTreeMap<TermId, u32>,
) -> (Vec<TermId>, Vec<u32>) {
    let mut terms: Vec<TermId> = known.keys().copied().collect();
    terms.sort_by(|&a, &b| game.compare(a, b));
    let mut place = vec![0; terms.len()];
    for (at, term) in (0..).zip(&terms) {
        place[known[term] as usize] = at;
    }
    (terms, place)
}
