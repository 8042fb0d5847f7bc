//! Random plays, written down: what refutes a property, and what it is observed in.

use std::sync::Arc;
use std::time::Instant;

use agon_datalog::TermId;
use agon_game::{Position, Rng, Role};
use agon_gdl::engine::Compiled;
use agon_gdl::interpreter::Game;
use rand::SeedableRng as _;

/// What random plays may cost.
#[derive(Clone, Debug)]
pub struct PlayLimits {
    /// How many plays.
    pub plays: u64,
    /// How many states in all.
    pub states: usize,
    /// Fluents in all states together: a measure of memory.
    pub fluents: usize,
    /// Where the random numbers come from.
    pub seed: u64,
    /// A moment after which no more are played.
    pub deadline: Option<Instant>,
}

impl Default for PlayLimits {
    fn default() -> PlayLimits {
        PlayLimits { plays: 50, states: 5_000, fluents: 2_000_000, seed: 1, deadline: None }
    }
}

/// A state of a play.
#[derive(Clone, Debug)]
pub struct Seen {
    /// What holds, in ascending order.
    pub fluents: Vec<u32>,
    /// By role: its legal moves, in ascending order. Empty at the end.
    pub legal: Vec<Vec<u32>>,
    /// By role: the move that was made then. Empty where nothing came after.
    pub joint: Vec<u32>,
    /// By role: what the rules would pay here.
    pub payoffs: Vec<f64>,
    /// Whether play has ended here.
    pub is_terminal: bool,
}

/// Random plays.
#[derive(Clone, Debug, Default)]
pub struct Plays {
    /// The plays, each as its states. A play may be cut off.
    pub plays: Vec<Vec<Seen>>,
    /// Without a circuit: the fluents that were seen, by the number they have in `plays`. In the order in which the game
    /// lists them.
    pub terms: Vec<TermId>,
    /// By role: the texts of its moves, by the number they have in `plays`.
    pub moves: Vec<Vec<String>>,
}

/// A state with more legal moves than this keeps none of them: what is asked of them is asked of small games.
const MAX_MOVES_KEPT: usize = 100_000;

impl Plays {
    /// Plays as often as the limits allow, by the circuit if there is one.
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
        // Numbers in the order of arrival first; put in the game's order in the end.
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
                let mut seen = Seen { fluents, legal, joint: Vec::new(), payoffs, is_terminal };
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

    /// How many plays there were.
    pub fn n_plays(&self) -> u64 {
        self.plays.len() as u64
    }

    /// All states.
    pub fn states(&self) -> impl Iterator<Item = &Seen> {
        self.plays.iter().flatten()
    }

    /// All steps: a state and the one after it.
    pub fn steps(&self) -> impl Iterator<Item = (&Seen, &Seen)> {
        self.plays.iter().flat_map(|play| play.windows(2).map(|pair| (&pair[0], &pair[1])))
    }
}

/// The keys in the order in which the game lists them, and by value the place of its key there.
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
