//! Two games played with the same moves, step by step: the judge of translations.
//!
//! At every state both must agree on whether play has ended and, by way of the translated moves, on what each role may do; at the
//! end on what each role gets. Where the first game has a fault, the play is left. Moves are compared as lists, so a move that one side has twice is a difference.

use std::fmt;
use std::time::Instant;

use agon_game::{Notation, Rng, Role};
use rand::{RngExt as _, SeedableRng as _};

/// How much is played.
#[derive(Clone, Debug)]
pub struct Extent {
    /// So many plays.
    pub plays: usize,
    /// So many steps of one play at most; then it is left.
    pub steps: usize,
    /// The seed of the random moves.
    pub seed: u64,
}

/// What was played without a difference.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Agreement {
    /// Plays.
    pub plays: usize,
    /// States compared.
    pub states: usize,
    /// Plays that came to an end.
    pub ended: usize,
}

/// Where two games differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// In which play, from 0.
    pub play: usize,
    /// The joint moves of the first game up to there.
    pub moves: Vec<Vec<String>>,
    /// What is different.
    pub what: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (play {}, after {} steps)", self.what, self.play + 1, self.moves.len())
    }
}

impl std::error::Error for Difference {}

/// Plays both games with random moves. `translate` gives the move of the first game that a role's move of the second stands for.
///
/// # Errors
/// The first difference.
pub fn play_jointly<A: Notation, B: Notation>(
    first: &A,
    second: &B,
    translate: &dyn Fn(usize, &str) -> Option<String>,
    extent: &Extent,
) -> Result<Agreement, Difference> {
    play_jointly_until(first, second, translate, extent, None)
}

/// The same, stopped at a moment with what was played by then.
///
/// # Errors
/// The first difference.
pub fn play_jointly_until<A: Notation, B: Notation>(
    first: &A,
    second: &B,
    translate: &dyn Fn(usize, &str) -> Option<String>,
    extent: &Extent,
    deadline: Option<Instant>,
) -> Result<Agreement, Difference> {
    let mut agreement = Agreement::default();
    let mut rng = Rng::seed_from_u64(extent.seed);
    for play in 0..extent.plays {
        let (mut a, mut b) = (first.clone(), second.clone());
        let mut moves: Vec<Vec<String>> = Vec::new();
        let differ = |moves: &[Vec<String>], what: String| Difference { play, moves: moves.to_vec(), what };
        loop {
            if deadline.is_some_and(|deadline| Instant::now() > deadline) {
                return Ok(agreement);
            }
            agreement.states += 1;
            if a.fault().is_some() {
                // Rules that do not say how play goes on are none to compare with.
                break;
            }
            if let Some(fault) = b.fault() {
                return Err(differ(&moves, format!("a fault of the second game: {fault}")));
            }
            if a.is_terminal() != b.is_terminal() {
                let who = if a.is_terminal() { "first" } else { "second" };
                return Err(differ(&moves, format!("play has ended in the {who} game alone")));
            }
            if a.is_terminal() {
                agreement.ended += 1;
                compare_payoffs(&a, &b).map_err(|what| differ(&moves, what))?;
                break;
            }
            if moves.len() >= extent.steps {
                break;
            }
            let (mut joint_a, mut joint_b, mut texts) = (Vec::new(), Vec::new(), Vec::new());
            for role in a.shape().roles() {
                let pairs = pair_moves(&a, &b, role, translate).map_err(|what| differ(&moves, what))?;
                let (text, x, y) = &pairs[rng.random_range(0..pairs.len())];
                texts.push(text.clone());
                joint_a.push(x.clone());
                joint_b.push(y.clone());
            }
            a.advance(&joint_a);
            b.advance(&joint_b);
            moves.push(texts);
        }
        agreement.plays += 1;
    }
    Ok(agreement)
}

/// The legal moves of a role in both games, by their text in the first; in the order of that text.
#[allow(clippy::type_complexity)]
fn pair_moves<A: Notation, B: Notation>(
    a: &A,
    b: &B,
    role: Role,
    translate: &dyn Fn(usize, &str) -> Option<String>,
) -> Result<Vec<(String, A::Move, B::Move)>, String> {
    let name = &a.shape().role_names[role.index()];
    let mut left: Vec<(String, A::Move)> =
        a.legal_moves(role).iter().map(|m| (a.move_text(m), m.clone())).collect();
    let mut right: Vec<(String, B::Move)> = Vec::new();
    for m in b.legal_moves(role) {
        let text = b.move_text(m);
        let Some(translated) = translate(role.index(), &text) else {
            return Err(format!("the move {text} of {name} stands for nothing"));
        };
        right.push((translated, m.clone()));
    }
    left.sort_by(|x, y| x.0.cmp(&y.0));
    right.sort_by(|x, y| x.0.cmp(&y.0));
    for at in 0..left.len().max(right.len()) {
        match (left.get(at), right.get(at)) {
            (Some(x), Some(y)) if x.0 == y.0 => {}
            (Some(x), Some(y)) if x.0 < y.0 => {
                return Err(format!("{name} may do {} in the first game alone", x.0));
            }
            (Some(x), None) => return Err(format!("{name} may do {} in the first game alone", x.0)),
            (_, Some(y)) => return Err(format!("{name} may do {} in the second game alone, or twice", y.0)),
            (None, None) => {}
        }
    }
    Ok(left.into_iter().zip(right).map(|(x, y)| (x.0, x.1, y.1)).collect())
}

fn compare_payoffs<A: Notation, B: Notation>(a: &A, b: &B) -> Result<(), String> {
    let nature = a.shape().nature;
    for role in a.shape().roles().filter(|&role| Some(role) != nature) {
        let (x, y) = (a.payoff(role), b.payoff(role));
        if x != y {
            let name = &a.shape().role_names[role.index()];
            return Err(format!("{name} gets {x} in the first game and {y} in the second"));
        }
    }
    Ok(())
}
