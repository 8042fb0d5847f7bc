//! Finds the board of a game in sampled states.
//!
//! Names have no meaning here. A board is a relation such as `(cell ?x ?y ?what)` with two
//! arguments that are coordinates on ordered axes, and with at most one fluent at each place. So
//! boards are found whether rules use `cell`, `piece`, `disc` or `at`, and whether coordinates are
//! numbers or words.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use agon_game::{Rng, Table};
use rand::SeedableRng as _;

use crate::axis::Axis;
use crate::board::{Board, Layer, MAX_SIDE};
use crate::fluent::Flat;

/// Returns states of random play from the position of a table, beginning with that position. Takes
/// at most about a second.
pub fn sample(table: &dyn Table) -> Vec<Vec<String>> {
    const PLAYS: u64 = 12;
    const STEPS: usize = 120;
    let until = Instant::now() + Duration::from_secs(1);
    let mut states = vec![table.state()];
    for seed in 0..PLAYS {
        let mut rng = Rng::seed_from_u64(seed);
        let mut play = table.fork();
        for _ in 0..STEPS {
            let joint = play.draw(&mut rng);
            let joint: Vec<&str> = joint.iter().map(String::as_str).collect();
            if play.advance(&joint).is_err() || Instant::now() > until {
                break;
            }
            states.push(play.state());
        }
    }
    states
}

impl Board {
    /// Finds a board in states of a game. `chains` are names in an order that the rules define,
    /// such as by `succ`. Returns `None` if there is no board.
    pub fn infer(samples: &[Vec<String>], chains: &[Vec<String>]) -> Option<Board> {
        let states: Vec<Vec<Flat<'_>>> = samples
            .iter()
            .map(|state| state.iter().filter_map(|f| Flat::new(f)).collect())
            .collect();
        let relations: BTreeSet<(&str, usize)> =
            states.iter().flatten().map(|flat| (flat.relation, flat.arguments.len())).collect();
        let mut found: Vec<Candidate> = Vec::new();
        for (relation, arity) in relations {
            for first in 0..arity {
                for second in first + 1..arity {
                    found.extend(Candidate::new(&states, relation, arity, (first, second)));
                }
            }
        }
        // The relation with the most places is the board. Other relations are drawn on it if all of
        // their places are on it.
        let is_board = |candidate: &&Candidate| candidate.is_spread && candidate.n_places >= 4;
        let boards = found.iter().filter(is_board).filter_map(|candidate| {
            let sides =
                (Axis::new(&candidate.firsts, chains)?, Axis::new(&candidate.seconds, chains)?);
            (sides.0.len() <= MAX_SIDE && sides.1.len() <= MAX_SIDE).then_some((candidate, sides))
        });
        let (main, (first, second)) =
            boards.max_by_key(|(c, _)| (c.n_places, std::cmp::Reverse(c.places)))?;
        let mut layers = vec![main.layer("#".to_owned())];
        for other in &found {
            let is_within = other.firsts.iter().all(|name| first.index(name).is_some())
                && other.seconds.iter().all(|name| second.index(name).is_some());
            // A relation without values that has one fluent for each column is a counter, such as
            // the heights of columns. It is not drawn.
            let is_drawn = other.has_values || other.is_spread || other.is_single;
            if other.relation != main.relation && is_within && is_drawn {
                let mark = other.relation.chars().next().unwrap_or('#').to_uppercase().to_string();
                layers.push(other.layer(mark));
            }
        }
        layers.dedup_by(|a, b| a.relation == b.relation && a.arity == b.arity);
        let labels = labels(&states, &layers);
        let is_transposed = second.is_letters() && !first.is_letters();
        let (columns, rows) = if is_transposed { (second, first) } else { (first, second) };
        if is_transposed {
            layers
                .iter_mut()
                .for_each(|layer| std::mem::swap(&mut layer.column_at, &mut layer.row_at));
        }
        Some(Board { columns, rows, layers, labels, named: BTreeMap::new() })
    }
}

/// A relation with two arguments that may be coordinates, over all sampled states.
#[derive(Clone, Debug)]
struct Candidate {
    relation: String,
    arity: usize,
    /// Indices of the two arguments.
    places: (usize, usize),
    /// The values of the first argument.
    firsts: BTreeSet<String>,
    /// The values of the second argument.
    seconds: BTreeSet<String>,
    /// Number of different places.
    n_places: usize,
    /// Whether the relation has arguments besides the coordinates.
    has_values: bool,
    /// Whether some state has several fluents in one column, and some state several in one row:
    /// then neither coordinate is a function of the other.
    is_spread: bool,
    /// Whether no state has two fluents of the relation.
    is_single: bool,
}

impl Candidate {
    /// Returns the candidate, or `None` if some state has two fluents at one place.
    fn new(
        states: &[Vec<Flat<'_>>],
        relation: &str,
        arity: usize,
        places: (usize, usize),
    ) -> Option<Candidate> {
        let own = |flat: &&Flat<'_>| flat.relation == relation && flat.arguments.len() == arity;
        let place = |flat: &Flat<'_>| {
            (flat.arguments[places.0].to_owned(), flat.arguments[places.1].to_owned())
        };
        let mut all: BTreeSet<(String, String)> = BTreeSet::new();
        let (mut spread_first, mut spread_second, mut is_single) = (false, false, true);
        for state in states {
            let here: Vec<(String, String)> = state.iter().filter(own).map(place).collect();
            let set: BTreeSet<&(String, String)> = here.iter().collect();
            if set.len() < here.len() {
                return None;
            }
            let firsts: BTreeSet<&String> = set.iter().map(|(first, _)| first).collect();
            let seconds: BTreeSet<&String> = set.iter().map(|(_, second)| second).collect();
            spread_first |= firsts.len() < set.len();
            spread_second |= seconds.len() < set.len();
            is_single &= here.len() <= 1;
            all.extend(here);
        }
        Some(Candidate {
            relation: relation.to_owned(),
            arity,
            places,
            n_places: all.len(),
            firsts: all.iter().map(|(first, _)| first.clone()).collect(),
            seconds: all.iter().map(|(_, second)| second.clone()).collect(),
            has_values: arity > 2,
            is_spread: spread_first && spread_second,
            is_single,
        })
    }

    fn layer(&self, mark: String) -> Layer {
        Layer {
            relation: self.relation.clone(),
            arity: self.arity,
            column_at: self.places.0,
            row_at: self.places.1,
            mark,
        }
    }
}

/// Returns a short, unique label for each word that occurs as a value.
fn labels(states: &[Vec<Flat<'_>>], layers: &[Layer]) -> BTreeMap<String, String> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for flat in states.first().into_iter().flatten() {
        for layer in layers.iter().filter(|layer| layer.holds(flat)) {
            layer.values(flat).into_iter().for_each(|value| *counts.entry(value).or_default() += 1);
        }
    }
    let most_common = counts.iter().max_by_key(|(_, n)| **n).map(|(word, _)| *word);
    let mut words: BTreeSet<&str> = BTreeSet::new();
    for flat in states.iter().flatten() {
        for layer in layers.iter().filter(|layer| layer.holds(flat)) {
            words.extend(layer.values(flat));
        }
    }
    let is_blank = |word: &str| match word.to_ascii_lowercase().as_str() {
        "blank" | "empty" | "none" | "nil" | "clear" | "vacant" | "nothing" => true,
        // A single letter may also stand for a colour, unless it is the most common word at the
        // start.
        "b" | "e" => most_common == Some(word) && words.len() > 2,
        _ => false,
    };
    let blanks: BTreeSet<&str> = words.iter().copied().filter(|word| is_blank(word)).collect();
    words.retain(|word| !blanks.contains(word));
    let shortest = |word: &str| {
        let lengths = word.char_indices().map(|(at, c)| at + c.len_utf8());
        let mut prefixes = lengths.map(|end| &word[..end]);
        let is_unique =
            |prefix: &&str| !words.iter().any(|other| *other != word && other.starts_with(*prefix));
        let is_number = word.parse::<i64>().is_ok();
        (if is_number { word } else { prefixes.find(is_unique).unwrap_or(word) }).to_owned()
    };
    let labelled = words.iter().map(|word| ((*word).to_owned(), shortest(word)));
    labelled.chain(blanks.iter().map(|word| ((*word).to_owned(), String::new()))).collect()
}
