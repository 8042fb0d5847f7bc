//! What is known of a game before its layout is inferred.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use agon_game::{Rng, Table};
use rand::SeedableRng as _;

use crate::hints::Hints;

/// What is known of a game: sampled play, and whatever is known of its rules. Only `roles` and
/// `plays` are required; empty fields mean that nothing is known.
#[derive(Clone, Debug, Default)]
pub struct Evidence {
    /// The names of the roles.
    pub roles: Vec<String>,
    /// Plays from the initial state.
    pub plays: Vec<Play>,
    /// Facts of the rules that never change, such as `(succ 1 2)`.
    pub facts: Vec<String>,
    /// All fluents that can hold.
    pub fluents: Vec<String>,
    /// All moves that can be legal.
    pub moves: Vec<String>,
    /// The rules in prefix KIF. The names of variables tell rows from columns.
    pub rules: String,
    /// A drawing of the places that is part of the rules: rows from top to bottom, with `None` for
    /// holes.
    pub drawing: Vec<Vec<Option<String>>>,
    /// Positions of places that are part of the rules.
    pub positions: BTreeMap<String, (f64, f64)>,
    /// The roles that move when a fluent holds.
    pub movers: BTreeMap<String, Vec<usize>>,
    /// The functions of a continuous game whose values change: `(x c 0.5)` is a value of `x`.
    pub functions: BTreeSet<String>,
    /// What the author of the rules wants.
    pub hints: Hints,
}

/// States of a play and the joint moves between them.
#[derive(Clone, Debug, Default)]
pub struct Play {
    /// The states as fluents.
    pub states: Vec<Vec<String>>,
    /// The joint moves; the move at index `i` leads from state `i` to state `i + 1`.
    pub joints: Vec<Vec<String>>,
}

/// Maximum number of plays that are sampled.
const PLAYS: u64 = 12;

/// Maximum number of steps of a sampled play.
const STEPS: usize = 80;

/// Maximum number of fluents in all sampled states together. It bounds the time of inference.
const MAX_FLUENTS: usize = 40_000;

impl Evidence {
    /// Samples random play from the position of a table. The seeds are fixed. Sampling ends when
    /// `time` has passed; one state is always there.
    pub fn from_play(table: &dyn Table, time: Duration) -> Evidence {
        let until = Instant::now() + time;
        let roles = table.shape().role_names.clone();
        let start = table.state();
        let mut n_fluents = start.len();
        let mut plays = Vec::new();
        for seed in 0..PLAYS {
            let mut rng = Rng::seed_from_u64(seed);
            let mut at = table.fork();
            let mut play = Play { states: vec![start.clone()], joints: Vec::new() };
            for _ in 0..STEPS {
                if Instant::now() > until || n_fluents > MAX_FLUENTS {
                    break;
                }
                let joint = at.draw(&mut rng);
                let texts: Vec<&str> = joint.iter().map(String::as_str).collect();
                if at.advance(&texts).is_err() {
                    break;
                }
                let state = at.state();
                n_fluents += state.len();
                play.joints.push(joint);
                play.states.push(state);
            }
            plays.push(play);
            if Instant::now() > until || n_fluents > MAX_FLUENTS {
                break;
            }
        }
        Evidence { roles, plays, ..Evidence::default() }
    }
}
