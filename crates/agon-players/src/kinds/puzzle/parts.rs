//! The independent sub-games of a puzzle, for the search.

use std::collections::BTreeMap;

use agon_analysis::Analysis;
use agon_analysis::sub_games::{StateClass, SubGames};
use agon_game::{Notation, Position};
use agon_search::Budget;

use crate::budget::analysis_time;

/// The independent sub-games that were proved, in the terms of a position.
pub(super) struct PuzzleParts<P: Position> {
    sub_games: SubGames,
    /// By sub-game: the numbers that the position gives to its facts.
    facts: Vec<Vec<usize>>,
    /// Names moves.
    start: P,
    part_of_text: BTreeMap<String, usize>,
}

impl<P: Notation> PuzzleParts<P> {
    /// Looks for independent sub-games. `None` if there are none, or if the position does not keep
    /// its state as bits.
    pub(super) fn find(rules: &Analysis, position: &P, budget: &Budget) -> Option<PuzzleParts<P>> {
        let compiled = rules.compiled()?;
        P::state_words(position.state())?;
        let properties = rules.properties(analysis_time(budget));
        let sub_games = SubGames::new(compiled, &properties)?;
        let texts = position.feature_texts();
        let numbers: BTreeMap<&str, usize> =
            texts.iter().enumerate().map(|(number, text)| (text.as_str(), number)).collect();
        let parts = 0..sub_games.n_parts();
        let facts = parts
            .clone()
            .map(|part| sub_games.facts(part).map(|text| numbers.get(text).copied()).collect())
            .collect::<Option<Vec<Vec<usize>>>>()?;
        let part_of_text = parts
            .flat_map(|part| sub_games.moves(part).map(move |text| (text.to_owned(), part)))
            .collect();
        Some(PuzzleParts { sub_games, facts, start: position.clone(), part_of_text })
    }
}

fn bit(words: &[u64], number: usize) -> bool {
    words.get(number / 64).is_some_and(|word| word >> (number % 64) & 1 == 1)
}

impl<P: Notation> agon_search::SubGames<P> for PuzzleParts<P> {
    fn n_parts(&self) -> usize {
        self.facts.len()
    }

    fn part_of(&self, m: &P::Move) -> Option<usize> {
        self.part_of_text.get(&self.start.move_text(m)).copied()
    }

    fn local_state(&self, part: usize, state: &P::State) -> Vec<u64> {
        let words = P::state_words(state).expect("states are packed bits, as at the start");
        let facts = &self.facts[part];
        let mut local = vec![0; facts.len().div_ceil(64)];
        for (at, &number) in facts.iter().enumerate() {
            local[at / 64] |= u64::from(bit(words, number)) << (at % 64);
        }
        local
    }

    fn conditions(&self, part: usize, local_state: &[u64]) -> Vec<bool> {
        let holds: Vec<bool> = (0..self.facts[part].len()).map(|at| bit(local_state, at)).collect();
        self.sub_games.conditions(part, &holds)
    }

    fn choices(&self, classes: &[Vec<(Vec<bool>, usize)>]) -> Vec<Vec<usize>> {
        let class = |(conditions, cost): &(Vec<bool>, usize)| StateClass {
            conditions: conditions.clone(),
            cost: *cost,
        };
        let classes: Vec<Vec<StateClass>> =
            classes.iter().map(|part| part.iter().map(class).collect()).collect();
        let goals = 0..self.sub_games.payoffs().count();
        goals.filter_map(|goal| self.sub_games.choose(goal, &classes)).collect()
    }
}
