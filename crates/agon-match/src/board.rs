//! A state as a picture, where its fluents form a board.
//!
//! Nothing is known of names: a board is a relation such as `(cell ?x ?y ?what)` with two arguments that run along ordered
//! axes, no two fluents of it at one place. Where rules use `piece`, `disc`, `at` or words for numbers, it is found alike.

mod axis;

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use agon_game::{Rng, Table};
use rand::SeedableRng as _;

use crate::kif::tokens;
use axis::Axis;

/// How states of a game are drawn.
#[derive(Clone, Debug)]
pub struct Board {
    columns: Axis,
    rows: Axis,
    /// Drawn in this order, later ones over earlier ones.
    layers: Vec<Layer>,
    /// What each word is drawn as; the empty text if it is not drawn.
    labels: BTreeMap<String, String>,
    /// Columns and rows of places that have one name, such as `a1`; what holds of one of them is drawn there.
    named: BTreeMap<String, (usize, usize)>,
}

/// A relation that is drawn.
#[derive(Clone, Debug)]
struct Layer {
    relation: String,
    arity: usize,
    column_at: usize,
    row_at: usize,
    /// What is drawn where the relation has nothing but the place.
    mark: String,
}

/// A picture of a state: text in a grid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// What stands below the columns, from left to right.
    pub columns: Vec<String>,
    /// The rows from top to bottom: what stands before it, and its cells; an empty cell is the empty text.
    pub rows: Vec<(String, Vec<String>)>,
    /// The fluents that are not in the picture.
    pub rest: Vec<String>,
}

/// Boards with longer sides are listed, not drawn.
const MAX_SIDE: usize = 40;

/// A fluent with its arguments, if none of them is a term within.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Flat<'a> {
    relation: &'a str,
    arguments: Vec<&'a str>,
}

impl Flat<'_> {
    fn new(fluent: &str) -> Option<Flat<'_>> {
        let mut tokens: Vec<&str> = tokens(fluent).collect();
        if tokens.first() == Some(&"(") && tokens.last() == Some(&")") {
            tokens = tokens[1..tokens.len() - 1].to_vec();
        }
        let is_flat = !tokens.iter().any(|token| matches!(*token, "(" | ")"));
        let (relation, arguments) = tokens.split_first()?;
        is_flat.then(|| Flat { relation, arguments: arguments.to_vec() })
    }
}

/// States of random play, the start first: what a board is learnt from. Takes at most a second or two.
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
    /// Finds the board in states of a game. `chains` are names in an order that the rules give them, such as by `succ`.
    pub fn learn(samples: &[Vec<String>], chains: &[Vec<String>]) -> Option<Board> {
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
        // The board is what fills most places; the others are drawn on it if they lie within.
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
            // Without a value, a relation of which there is one fluent for each column counts something, such as heights.
            let says_something = other.has_values || other.is_spread || other.is_single;
            if other.relation != main.relation && is_within && says_something {
                let mark = other.relation.chars().next().unwrap_or('#').to_uppercase().to_string();
                layers.push(other.layer(mark));
            }
        }
        layers.dedup_by(|a, b| a.relation == b.relation && a.arity == b.arity);
        let labels = labels(&states, &layers);
        let is_turned = second.is_letters() && !first.is_letters();
        let (columns, rows) = if is_turned { (second, first) } else { (first, second) };
        if is_turned {
            layers
                .iter_mut()
                .for_each(|layer| std::mem::swap(&mut layer.column_at, &mut layer.row_at));
        }
        Some(Board { columns, rows, layers, labels, named: BTreeMap::new() })
    }

    /// A board whose places are called by a letter and a number, as on a chess board. Fluents with one such argument are drawn by the
    /// names of their relations.
    pub fn of_named_places<'a>(names: impl IntoIterator<Item = &'a str>) -> Option<Board> {
        let split = |name: &'a str| -> Option<(&'a str, &'a str)> {
            let at = name.find(|c: char| c.is_ascii_digit())?;
            let (letters, number) = name.split_at(at);
            let is_place = !letters.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
            is_place.then_some((letters, number))
        };
        let places: Vec<(&str, (&str, &str))> =
            names.into_iter().map(|name| Some((name, split(name)?))).collect::<Option<_>>()?;
        let letters: BTreeSet<String> =
            places.iter().map(|(_, (letters, _))| (*letters).to_owned()).collect();
        let numbers: BTreeSet<String> =
            places.iter().map(|(_, (_, number))| (*number).to_owned()).collect();
        let (columns, rows) = (Axis::new(&letters, &[])?, Axis::new(&numbers, &[])?);
        if columns.len() > MAX_SIDE || rows.len() > MAX_SIDE {
            return None;
        }
        let named = places
            .into_iter()
            .map(|(name, (letters, number))| {
                Some((name.to_owned(), (columns.index(letters)?, rows.index(number)?)))
            })
            .collect::<Option<_>>()?;
        Some(Board { columns, rows, layers: Vec::new(), labels: BTreeMap::new(), named })
    }

    /// Draws a state.
    pub fn picture(&self, state: &[String]) -> Picture {
        let mut cells = vec![vec![String::new(); self.columns.len()]; self.rows.len()];
        let mut rest = Vec::new();
        let mut drawn = vec![false; state.len()];
        for layer in &self.layers {
            for (fluent, drawn) in state.iter().zip(&mut drawn) {
                let Some(flat) = Flat::new(fluent).filter(|flat| layer.holds(flat)) else {
                    continue;
                };
                let column = self.columns.index(flat.arguments[layer.column_at]);
                let row = self.rows.index(flat.arguments[layer.row_at]);
                let (Some(column), Some(row)) = (column, row) else { continue };
                *drawn = true;
                let text = layer.text(&flat, &self.labels);
                if !text.is_empty() {
                    cells[row][column] = text;
                }
            }
        }
        for (fluent, drawn) in state.iter().zip(&mut drawn) {
            let Some(flat) = Flat::new(fluent).filter(|flat| flat.arguments.len() == 1) else {
                continue;
            };
            let Some(&(column, row)) = self.named.get(flat.arguments[0]) else { continue };
            *drawn = true;
            let cell = &mut cells[row][column];
            if !cell.is_empty() {
                cell.push('+');
            }
            cell.push_str(flat.relation);
        }
        rest.extend(state.iter().zip(&drawn).filter(|(_, drawn)| !**drawn).map(|(f, _)| f.clone()));
        let named = self.rows.values().iter().cloned().zip(cells);
        let mut rows: Vec<(String, Vec<String>)> = named.collect();
        rows.reverse();
        Picture { columns: self.columns.values().to_vec(), rows, rest }
    }

    /// What the labels in the pictures stand for, where they are not the words themselves: label and word.
    pub fn legend(&self) -> Vec<(String, String)> {
        let shortened =
            self.labels.iter().filter(|(word, label)| word != label && !label.is_empty());
        let marks = self.layers.iter().filter(|layer| layer.arity == 2);
        let words = shortened.map(|(word, label)| (label.clone(), word.clone()));
        words.chain(marks.map(|layer| (layer.mark.clone(), layer.relation.clone()))).collect()
    }
}

impl Layer {
    fn holds(&self, flat: &Flat<'_>) -> bool {
        flat.relation == self.relation && flat.arguments.len() == self.arity
    }

    /// The arguments that are no coordinates.
    fn values<'a>(&self, flat: &Flat<'a>) -> Vec<&'a str> {
        let at = flat.arguments.iter().enumerate();
        at.filter(|(i, _)| *i != self.column_at && *i != self.row_at)
            .map(|(_, value)| *value)
            .collect()
    }

    fn text(&self, flat: &Flat<'_>, labels: &BTreeMap<String, String>) -> String {
        if self.arity == 2 {
            return self.mark.clone();
        }
        let label = |word: &str| labels.get(word).cloned().unwrap_or_else(|| word.to_owned());
        self.values(flat).into_iter().map(label).collect()
    }
}

/// A relation with two arguments that may be coordinates.
#[derive(Clone, Debug)]
struct Candidate {
    relation: String,
    arity: usize,
    /// Which arguments they are.
    places: (usize, usize),
    /// What occurs in the one and in the other.
    firsts: BTreeSet<String>,
    seconds: BTreeSet<String>,
    n_places: usize,
    has_values: bool,
    /// In some state it has several fluents in one column, and in one row: it is no function of either.
    is_spread: bool,
    /// In no state are there two fluents of it.
    is_single: bool,
}

impl Candidate {
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

/// A label for each word that occurs as a value: short, and another for each.
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
        // One letter may stand for a colour as well, unless most of the board is it.
        "b" | "e" => most_common == Some(word) && words.len() > 2,
        _ => false,
    };
    let blanks: BTreeSet<&str> = words.iter().copied().filter(|word| is_blank(word)).collect();
    words.retain(|word| !blanks.contains(word));
    let shortest = |word: &str| {
        let lengths = word.char_indices().map(|(at, c)| at + c.len_utf8());
        let mut prefixes = lengths.map(|end| &word[..end]);
        let is_own =
            |prefix: &&str| !words.iter().any(|other| *other != word && other.starts_with(*prefix));
        let is_number = word.parse::<i64>().is_ok();
        (if is_number { word } else { prefixes.find(is_own).unwrap_or(word) }).to_owned()
    };
    let labelled = words.iter().map(|word| ((*word).to_owned(), shortest(word)));
    labelled.chain(blanks.iter().map(|word| ((*word).to_owned(), String::new()))).collect()
}
