//! Positions of plays with values from searches.

use std::time::Instant;

use agon_game::{Budget, Notation, Rng, Role};
use agon_search::{Mcts, MctsOptions, Search as _};
use rand::{RngExt as _, SeedableRng as _};

use super::board::{Board, Contents};
use super::formula::Concept;
use super::{ConceptOptions, Example};
use crate::model::CannotLearn;
use crate::train::Players;

/// The probability of a random move. The others are those of the search.
const EXPLORATION: f64 = 0.5;
/// Number of random steps at the beginning of a play, at most.
const MAX_OPENING: u32 = 8;
/// Maximum number of steps of a play.
const MAX_STEPS: usize = 300;
/// Positions of a play are this many steps apart, because neighbours say the same.
const STRIDE: usize = 6;
/// Positions of one play are alike, so they count as this many independent ones at most.
const INDEPENDENT: usize = 3;
/// Number of nodes of the tree of a search.
const MAX_NODES: usize = 20_000;

/// Positions with their values for the first player, from 0 to 1.
#[derive(Default)]
pub(super) struct Labelled {
    /// By position: the number of the play.
    plays: Vec<usize>,
    words: Vec<Vec<u64>>,
    /// By position: the contents of the cells as the first and as the second player see them.
    contents: Vec<[Contents; 2]>,
    pub(super) values: Vec<f64>,
    /// Whether the deadline passed before there were enough positions.
    pub(super) is_late: bool,
}

impl Labelled {
    /// Plays until there are enough positions. Half of the moves are those of the search that gives
    /// positions their values.
    pub(super) fn play<P: Notation + 'static>(
        start: &P,
        board: &Board,
        options: &ConceptOptions,
        deadline: Option<Instant>,
    ) -> Result<Labelled, CannotLearn> {
        let players = Players::new(start.shape());
        let roles: Vec<Role> = start.shape().players().collect();
        let mut rng = Rng::seed_from_u64(options.seed);
        let mut all = Labelled::default();
        let mut joint = Vec::new();
        let mut play = 0;
        while all.values.len() < options.n_positions {
            let mut position = start.clone();
            let mut n_random = rng.random_range(0..=MAX_OPENING);
            let phase = rng.random_range(0..STRIDE);
            for step in 0..MAX_STEPS {
                let is_late = deadline.is_some_and(|end| Instant::now() >= end);
                let is_enough = all.values.len() >= options.n_positions;
                if position.is_terminal() || is_enough || is_late {
                    break;
                }
                position.draw(&mut rng, &mut joint);
                let chooser = roles.iter().copied().find(|&r| position.legal_moves(r).len() > 1);
                let plays_by_search = n_random == 0 && rng.random::<f64>() >= EXPLORATION;
                let is_labelled = n_random == 0 && step % STRIDE == phase;
                n_random = n_random.saturating_sub(1);
                if let Some(us) = chooser
                    && (is_labelled || plays_by_search)
                {
                    let search = MctsOptions { max_nodes: MAX_NODES, ..MctsOptions::default() };
                    let mut search = Mcts::new(search, rng.random());
                    let budget = Budget::iterations(options.iterations);
                    let report = search.think(&mut position, us, &budget);
                    if is_labelled {
                        let value = f64::from(players.part(report.value));
                        let value = if us == roles[0] { value } else { 1.0 - value };
                        all.add(board, P::state_words(position.state()), play, value)?;
                    }
                    if plays_by_search {
                        joint[us.index()] = report.best;
                    }
                }
                position.advance(&joint);
            }
            play += 1;
            // A game whose plays end at once gives no positions.
            let is_hopeless = play > 20 + 20 * options.n_positions;
            let is_enough = all.values.len() >= options.n_positions;
            all.is_late = !is_enough && deadline.is_some_and(|end| Instant::now() >= end);
            if all.is_late || is_hopeless {
                break;
            }
        }
        Ok(all)
    }

    fn add(
        &mut self,
        board: &Board,
        words: Option<&[u64]>,
        play: usize,
        value: f64,
    ) -> Result<(), CannotLearn> {
        let words = words.ok_or(CannotLearn::NoBits)?;
        self.contents.push([board.contents(words), board.other_contents(words)]);
        self.plays.push(play);
        self.words.push(words.to_vec());
        self.values.push(value);
        Ok(())
    }

    /// Returns the positions of one half of the plays, and of the other.
    pub(super) fn halves(self) -> [Labelled; 2] {
        let mut halves = [Labelled::default(), Labelled::default()];
        let rest = self.words.into_iter().zip(self.contents).zip(self.values);
        for (play, ((words, contents), value)) in self.plays.into_iter().zip(rest) {
            let half = &mut halves[play % 2];
            half.plays.push(play);
            half.words.push(words);
            half.contents.push(contents);
            half.values.push(value);
        }
        halves
    }

    /// Returns by position how many more instances of a concept the first player has.
    pub(super) fn column(&self, board: &Board, concept: &Concept) -> Vec<f64> {
        let count = |contents: &Contents| f64::from(concept.0.cells(board, contents).len());
        self.contents.iter().map(|[own, other]| count(own) - count(other)).collect()
    }

    /// Returns the number of positions that count as independent of each other.
    pub(super) fn n_independent(&self) -> usize {
        let plays = self.plays.chunk_by(|one, other| one == other);
        plays.map(|positions| positions.len().min(INDEPENDENT)).sum()
    }

    pub(super) fn mean(&self) -> f64 {
        self.values.iter().sum::<f64>() / self.values.len().max(1) as f64
    }

    /// Returns a position in which the first player has the fewest instances, but one.
    pub(super) fn example(
        &self,
        board: &Board,
        concept: &Concept,
        texts: &[String],
    ) -> Option<Example> {
        let cells = |at: usize| concept.0.cells(board, &self.contents[at][0]);
        let found = (0..self.values.len()).filter(|&at| cells(at).len() > 0);
        let at = found.min_by_key(|&at| (cells(at).len(), at))?;
        let holds = |fact: &usize| self.words[at][fact / 64] >> (fact % 64) & 1 == 1;
        let cell = cells(at).iter().next()?;
        Some(Example {
            facts: (0..texts.len()).filter(holds).map(|fact| texts[fact].clone()).collect(),
            place: board.places[cell].clone(),
        })
    }
}
