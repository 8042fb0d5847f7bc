//! Alpha-beta: depth-first search to a depth that grows, with a table of positions.
//!
//! With two players it looks after one role and takes the other to want that role to get little: right if payoffs add up to a
//! constant, a safe floor if they do not. Whether they do is taken from the shape, or guessed from random plays; if not,
//! or with more than two players, everybody is taken to go for the own best (max^n, [`max_n`]). With one player it is a
//! depth-first search for the highest payoff.
//!
//! Moves made at the same time are treated pessimistically: the others are taken to see our move before they make theirs. Nature's
//! moves are averaged (expectimax).
//!
//! A value is *proved* if it rests on positions where play has ended and on nothing else. Two bounds are kept track of: that
//! the truth is at least the value, and that it is at most the value, so a win is proved as soon as one winning line
//! against every defence is known, whatever has been only guessed about other moves.

mod contest;
mod max_n;
mod order;
mod table;
#[cfg(test)]
mod tests;

use agon_game::{Position, Rng, Role};
use rand::SeedableRng as _;

use crate::{Budget, Evaluate, GoalValues, Report, Search};

/// Alpha-beta search. Keeps its table from move to move.
pub struct AlphaBeta<P: Position, E = GoalValues> {
    options: AlphaBetaOptions,
    evaluator: E,
    contest: contest::Memory<P>,
    max_n: max_n::Memory<P>,
    /// Decided once per game.
    view: Option<View>,
}

/// How to search.
#[derive(Clone, Debug, PartialEq)]
pub struct AlphaBetaOptions {
    /// Not deeper than this.
    pub max_depth: u32,
    /// Entries of the table of positions.
    pub table_entries: usize,
    /// How the others are looked at.
    pub view: ViewChoice,
    /// Steps beyond the depth while the evaluation is unstable.
    pub max_extension: u32,
    /// The evaluation is unstable where a step changed it by at least this part of the range of payoffs.
    pub unstable: f64,
    /// Whether moves that come late in the order are looked at less deeply first.
    pub late_move_reductions: bool,
    /// For the random plays that decide the view.
    pub seed: u64,
}

impl Default for AlphaBetaOptions {
    fn default() -> AlphaBetaOptions {
        AlphaBetaOptions {
            max_depth: 100,
            table_entries: 1 << 20,
            view: ViewChoice::Auto,
            max_extension: 4,
            unstable: 0.1,
            late_move_reductions: true,
            seed: 0,
        }
    }
}

/// How the other players are looked at.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum ViewChoice {
    /// One against the others if there are two players whose payoffs add up to a constant, or one; else everybody for themselves.
    Auto,
    /// One against the others.
    Paranoid,
    /// Everybody for themselves.
    MaxN,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum View {
    Contest,
    MaxN,
}

impl<P: Position> AlphaBeta<P, GoalValues> {
    /// Judges positions by the goals that the rules give there.
    pub fn new(options: AlphaBetaOptions) -> AlphaBeta<P, GoalValues> {
        AlphaBeta::with_evaluator(options, GoalValues)
    }
}

impl<P: Position, E: Evaluate<P>> AlphaBeta<P, E> {
    /// Judges positions by an evaluator.
    pub fn with_evaluator(options: AlphaBetaOptions, evaluator: E) -> AlphaBeta<P, E> {
        AlphaBeta {
            contest: contest::Memory::new(options.table_entries),
            max_n: max_n::Memory::new(options.table_entries),
            options,
            evaluator,
            view: None,
        }
    }

    fn view(&mut self, position: &P) -> View {
        let choice = self.options.view;
        let seed = self.options.seed;
        *self.view.get_or_insert_with(|| match choice {
            ViewChoice::Paranoid => View::Contest,
            ViewChoice::MaxN => View::MaxN,
            ViewChoice::Auto => guess_view(position, seed),
        })
    }
}

/// Random plays that must all pay the same sum for a game to be taken for constant-sum.
const N_PLAYS: usize = 32;
const MAX_STEPS: usize = 300;

fn guess_view<P: Position>(position: &P, seed: u64) -> View {
    let players: Vec<Role> = position.shape().players().collect();
    match players.len() {
        1 => View::Contest,
        2 if position.shape().constant_sum.is_some() => View::Contest,
        2 => {
            let mut rng = Rng::seed_from_u64(seed);
            let mut sum = None;
            let mut runner = position.clone();
            let is_constant = (0..N_PLAYS).all(|_| {
                runner.go_to(position.state());
                runner.play_out(&mut rng, MAX_STEPS);
                let here: f64 = players.iter().map(|&player| runner.payoff(player)).sum();
                !runner.is_terminal() || *sum.get_or_insert(here) == here
            });
            if is_constant { View::Contest } else { View::MaxN }
        }
        _ => View::MaxN,
    }
}

impl<P: Position, E: Evaluate<P>> Search<P> for AlphaBeta<P, E> {
    fn think(&mut self, position: &mut P, us: Role, budget: &Budget) -> Report<P::Move> {
        let mut meter = budget.start();
        match self.view(position) {
            View::Contest => {
                self.contest.think(position, us, &self.options, &mut self.evaluator, &mut meter)
            }
            View::MaxN => {
                self.max_n.think(position, us, &self.options, &mut self.evaluator, &mut meter)
            }
        }
    }
}
