//! Planning in puzzles that consist of independent sub-games.
//!
//! Each sub-game is explored alone, breadth-first from the current position by its own moves. Its
//! states fall into few classes that differ for the goals. A cheapest choice of one class for each
//! sub-game then gives a line of play: the moves that lead to the chosen states, one sub-game after
//! the other (Günther, Schiffel & Thielscher 2009).

use agon_game::{Position, Role};

use crate::Meter;
use crate::choices::Choices;
use crate::hash::Map;

/// The independent sub-games of a puzzle. A line that follows from them is played through before it
/// becomes a plan, so a mistake here costs time and nothing else.
pub trait SubGames<P: Position>: Send {
    /// Returns the number of sub-games.
    fn n_parts(&self) -> usize;

    /// Returns the sub-game that a move belongs to, if it belongs to one.
    fn part_of(&self, m: &P::Move) -> Option<usize>;

    /// Returns the facts of a sub-game that hold in a state. Equal answers mean equal states of the
    /// sub-game.
    fn local_state(&self, part: usize, state: &P::State) -> Vec<u64>;

    /// Returns what the goals read of a sub-game in this state of it.
    fn conditions(&self, part: usize, local_state: &[u64]) -> Vec<bool>;

    /// Returns one choice for each goal that may be reached, the best goals first: the number of a
    /// class for each sub-game. `classes` has the reachable classes of each sub-game: what the goals
    /// read, and the number of moves to get there.
    fn choices(&self, classes: &[Vec<(Vec<bool>, usize)>]) -> Vec<Vec<usize>>;
}

/// Maximum number of states of a sub-game that are explored.
const MAX_STATES: usize = 200_000;
/// Maximum number of lines that are played through.
const MAX_LINES: usize = 8;

/// A state of a sub-game that was reached.
struct Reached<P: Position> {
    state: P::State,
    /// The state before it, and the move from there. `None` at the start.
    from: Option<(usize, P::Move)>,
    n_moves: usize,
}

/// The states of one sub-game that were reached, and the first of each class.
struct Explored<P: Position> {
    reached: Vec<Reached<P>>,
    /// What the goals read, with the first state where they read that.
    classes: Vec<(Vec<bool>, usize)>,
}

/// Returns lines of moves of the player that may lead to high payoffs, the most promising first.
pub(super) fn lines<P: Position>(
    sub_games: &dyn SubGames<P>,
    position: &mut P,
    us: Role,
    max_steps: usize,
    meter: &mut Meter<'_>,
) -> Vec<Vec<P::Move>> {
    let home = position.state().clone();
    let mut explored = Vec::new();
    for part in 0..sub_games.n_parts() {
        explored.push(explore(sub_games, part, position, us, meter));
        position.go_to(&home);
        if meter.is_over(1) {
            return Vec::new();
        }
    }
    let classes: Vec<Vec<(Vec<bool>, usize)>> = explored
        .iter()
        .map(|part| {
            let with_cost =
                |(read, first): &(Vec<bool>, usize)| (read.clone(), part.reached[*first].n_moves);
            part.classes.iter().map(with_cost).collect()
        })
        .collect();
    let mut lines = Vec::new();
    for choice in sub_games.choices(&classes).into_iter().take(MAX_LINES) {
        let mut line = Vec::new();
        for (part, &class) in explored.iter().zip(&choice) {
            line.extend(part.line_to(part.classes[class].1));
        }
        complete(&mut line, position, us, max_steps, meter);
        position.go_to(&home);
        lines.push(line);
    }
    lines
}

fn explore<P: Position>(
    sub_games: &dyn SubGames<P>,
    part: usize,
    position: &mut P,
    us: Role,
    meter: &mut Meter<'_>,
) -> Explored<P> {
    let home = position.state().clone();
    let mut explored = Explored { reached: Vec::new(), classes: Vec::new() };
    let mut known: Map<Vec<u64>, ()> = Map::default();
    let mut class_of: Map<Vec<bool>, ()> = Map::default();
    let mut add = |explored: &mut Explored<P>, position: &P, from, n_moves| {
        let local = sub_games.local_state(part, position.state());
        if known.contains_key(&local) {
            return;
        }
        let read = sub_games.conditions(part, &local);
        known.insert(local, ());
        if class_of.insert(read.clone(), ()).is_none() {
            explored.classes.push((read, explored.reached.len()));
        }
        explored.reached.push(Reached { state: position.state().clone(), from, n_moves });
    };
    add(&mut explored, position, None, 0);
    let mut next = 0;
    while next < explored.reached.len() && explored.reached.len() < MAX_STATES && !meter.is_over(64)
    {
        let state = explored.reached[next].state.clone();
        let n_moves = explored.reached[next].n_moves + 1;
        position.go_to(&state);
        if !position.is_terminal() {
            let choices = Choices::at(position);
            let mut joint = choices.first_joint();
            for m in choices.of(us).iter().filter(|m| sub_games.part_of(m) == Some(part)) {
                joint[us.index()] = m.clone();
                position.go_to(&state);
                position.advance(&joint);
                meter.n_nodes += 1;
                add(&mut explored, position, Some((next, m.clone())), n_moves);
            }
        }
        next += 1;
    }
    position.go_to(&home);
    explored
}

impl<P: Position> Explored<P> {
    /// Returns the moves that lead to a state.
    fn line_to(&self, mut at: usize) -> Vec<P::Move> {
        let mut line = Vec::new();
        while let Some((before, m)) = &self.reached[at].from {
            line.push(m.clone());
            at = *before;
        }
        line.reverse();
        line
    }
}

/// Plays a line through and adds moves until play ends: those after which the payoff is highest, and
/// among them those that lead to states that were not met before.
fn complete<P: Position>(
    line: &mut Vec<P::Move>,
    position: &mut P,
    us: Role,
    max_steps: usize,
    meter: &mut Meter<'_>,
) {
    let mut n_made = 0;
    let mut seen: Map<u64, ()> = Map::default();
    while !position.is_terminal() && n_made < max_steps && !meter.is_over(64) {
        seen.insert(position.key(), ());
        let choices = Choices::at(position);
        let mut joint = choices.first_joint();
        if n_made == line.len() {
            let state = position.state().clone();
            let mut best: Option<(f64, bool, &P::Move)> = None;
            for m in choices.of(us) {
                joint[us.index()] = m.clone();
                position.go_to(&state);
                position.advance(&joint);
                meter.n_nodes += 1;
                let is_new = !seen.contains_key(&position.key());
                let value = (position.payoff(us), is_new);
                if best.is_none_or(|(payoff, is_new, _)| value > (payoff, is_new)) {
                    best = Some((value.0, value.1, m));
                }
            }
            position.go_to(&state);
            let Some((_, _, m)) = best else { return };
            line.push(m.clone());
        }
        let m = &line[n_made];
        if !position.is_legal(us, m) {
            line.truncate(n_made);
            return;
        }
        joint[us.index()] = m.clone();
        position.advance(&joint);
        n_made += 1;
    }
    line.truncate(n_made);
}
