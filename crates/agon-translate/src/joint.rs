//! Two games played with the same moves, step by step: the judge of translations.
//!
//! At every state both must agree on whether play has ended and, by way of the translated moves, on what each role may do; at the
//! end on what each role gets. Where the first game has a fault, the play is left. Moves are compared as lists, so a move that one side has twice is a difference.
//!
//! Where there are thousands of moves, most of the work would be their texts: each move is translated once, so what a move is
//! called must not depend on the state.

use std::fmt;
use std::hash::{BuildHasherDefault, DefaultHasher, Hash};
use std::time::Instant;

use agon_game::{Notation, Rng, Role};
use rand::{RngExt as _, SeedableRng as _};

/// A map whose order is never looked at.
type Map<K, V> = hashbrown::HashMap<K, V, BuildHasherDefault<DefaultHasher>>;

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
    /// Whether the second game could not be worked out, so that nobody knows whether it is different.
    pub is_fault: bool,
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
    let played = differences(first, second, translate, extent, deadline, 1);
    match played.differences.into_iter().next() {
        Some(difference) => Err(difference),
        None => Ok(played.agreement),
    }
}

/// What came of plays in which differences were looked for.
#[derive(Clone, Debug, Default)]
pub struct Played {
    /// What was played without a difference.
    pub agreement: Agreement,
    /// Where the games differ: one of each play that is not among the above.
    pub differences: Vec<Difference>,
}

/// Plays both games with random moves until a deadline or until so many plays had a difference. A play is left at its difference.
pub fn differences<A: Notation, B: Notation>(
    first: &A,
    second: &B,
    translate: &dyn Fn(usize, &str) -> Option<String>,
    extent: &Extent,
    deadline: Option<Instant>,
    most: usize,
) -> Played {
    let is_late = || deadline.is_some_and(|deadline| Instant::now() > deadline);
    differences_until(first, second, translate, extent, &is_late, most)
}

/// The same until something says that it is enough.
pub(crate) fn differences_until<A: Notation, B: Notation>(
    first: &A,
    second: &B,
    translate: &dyn Fn(usize, &str) -> Option<String>,
    extent: &Extent,
    is_enough: &dyn Fn() -> bool,
    most: usize,
) -> Played {
    // Copies know what their original knows: what never changes is worked out once, and not once a play.
    let _ = (first.is_terminal(), second.is_terminal());
    let mut played = Played::default();
    let mut rng = Rng::seed_from_u64(extent.seed);
    let mut dictionary = Dictionary::new(first.shape().role_names.len(), translate);
    for play in 0..extent.plays {
        if played.differences.len() >= most {
            break;
        }
        let mut moves: Vec<Vec<String>> = Vec::new();
        let sides = (first.clone(), second.clone());
        match one_play(sides, &mut moves, &mut dictionary, &mut rng, extent.steps, is_enough) {
            Ok(None) => break,
            Ok(Some(has_ended)) => {
                played.agreement.plays += 1;
                // The state at which play began is one more than the steps.
                played.agreement.states += moves.len() + 1;
                played.agreement.ended += usize::from(has_ended);
            }
            Err(what) => {
                let is_fault = matches!(what, Unlike::Fault(_));
                let (Unlike::Fault(what) | Unlike::What(what)) = what;
                played.differences.push(Difference { play, moves, what, is_fault });
            }
        }
    }
    played
}

/// What is wrong with a play.
enum Unlike {
    /// The second game could not be worked out.
    Fault(String),
    /// The games differ.
    What(String),
}

impl From<String> for Unlike {
    fn from(what: String) -> Unlike {
        Unlike::What(what)
    }
}

/// Whether the play has ended, or nothing if there was no time for it; or else what is different after these moves.
fn one_play<A: Notation, B: Notation>(
    (mut a, mut b): (A, B),
    moves: &mut Vec<Vec<String>>,
    dictionary: &mut Dictionary<'_, A::Move, B::Move>,
    rng: &mut Rng,
    steps: usize,
    is_enough: &dyn Fn() -> bool,
) -> Result<Option<bool>, Unlike> {
    loop {
        if is_enough() {
            return Ok(None);
        }
        if a.fault().is_some() {
            // Rules that do not say how play goes on are none to compare with.
            return Ok(Some(false));
        }
        if let Some(fault) = b.fault() {
            return Err(Unlike::Fault(format!("a fault of the second game: {fault}")));
        }
        if a.is_terminal() != b.is_terminal() {
            let who = if a.is_terminal() { "first" } else { "second" };
            return Err(format!("play has ended in the {who} game alone").into());
        }
        if a.is_terminal() {
            compare_payoffs(&a, &b)?;
            return Ok(Some(true));
        }
        if moves.len() >= steps {
            return Ok(Some(false));
        }
        let (mut joint_a, mut joint_b, mut texts) = (Vec::new(), Vec::new(), Vec::new());
        for role in a.shape().roles() {
            dictionary.pair(&a, &b, role)?;
            let drawn = rng.random_range(0..dictionary.partners.len());
            let x = &a.legal_moves(role)[drawn];
            texts.push(a.move_text(x));
            joint_a.push(x.clone());
            joint_b.push(b.legal_moves(role)[dictionary.partners[drawn]].clone());
        }
        a.advance(&joint_a);
        b.advance(&joint_b);
        moves.push(texts);
    }
}

/// Which move of one game is which of the other.
struct Dictionary<'t, A, B> {
    translate: &'t dyn Fn(usize, &str) -> Option<String>,
    /// What moves are called in the first game.
    words: Map<String, usize>,
    /// By role: the words of moves met before.
    first: Vec<Map<A, usize>>,
    second: Vec<Map<B, usize>>,
    /// By word: when it was last met in the first game, and at which place of the list.
    met: Vec<(usize, usize)>,
    now: usize,
    /// By place in the list of the first game: the place in that of the second.
    partners: Vec<usize>,
}

/// No place of any list.
const NOWHERE: usize = usize::MAX;

impl<'t, A: Clone + Eq + Hash, B: Clone + Eq + Hash> Dictionary<'t, A, B> {
    fn new(
        n_roles: usize,
        translate: &'t dyn Fn(usize, &str) -> Option<String>,
    ) -> Dictionary<'t, A, B> {
        Dictionary {
            translate,
            words: Map::default(),
            first: vec![Map::default(); n_roles],
            second: vec![Map::default(); n_roles],
            met: Vec::new(),
            now: 0,
            partners: Vec::new(),
        }
    }

    fn word(&mut self, text: String) -> usize {
        let next = self.met.len();
        let word = *self.words.entry(text).or_insert(next);
        if word == next {
            self.met.push((0, NOWHERE));
        }
        word
    }

    /// Finds the partner of each legal move of the role, or says which move has none.
    fn pair<P, Q>(&mut self, a: &P, b: &Q, role: Role) -> Result<(), String>
    where
        P: Notation<Move = A>,
        Q: Notation<Move = B>,
    {
        let name = &a.shape().role_names[role.index()];
        self.now += 1;
        self.partners.clear();
        for (place, m) in a.legal_moves(role).iter().enumerate() {
            let word = match self.first[role.index()].get(m) {
                Some(&word) => word,
                None => {
                    let word = self.word(a.move_text(m));
                    self.first[role.index()].insert(m.clone(), word);
                    word
                }
            };
            self.met[word] = (self.now, place);
            self.partners.push(NOWHERE);
        }
        for (place, m) in b.legal_moves(role).iter().enumerate() {
            let word = match self.second[role.index()].get(m) {
                Some(&word) => word,
                None => {
                    let text = b.move_text(m);
                    let Some(translated) = (self.translate)(role.index(), &text) else {
                        return Err(format!("the move {text} of {name} stands for nothing"));
                    };
                    let word = self.word(translated);
                    self.second[role.index()].insert(m.clone(), word);
                    word
                }
            };
            let (met, partner) = self.met[word];
            if met != self.now || std::mem::replace(&mut self.partners[partner], place) != NOWHERE {
                let text = b.move_text(m);
                let text = (self.translate)(role.index(), &text).unwrap_or(text);
                return Err(format!("{name} may do {text} in the second game alone, or twice"));
            }
        }
        match self.partners.iter().position(|&partner| partner == NOWHERE) {
            Some(place) => {
                let text = a.move_text(&a.legal_moves(role)[place]);
                Err(format!("{name} may do {text} in the first game alone"))
            }
            None => Ok(()),
        }
    }
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
