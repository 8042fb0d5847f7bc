//! Alpha-beta for one role against all others (the paranoid algorithm of Sturtevant & Korf 2000).

use agon_game::{Position, Role};

use super::line::line;
use super::order::Ordering;
use super::table::Table;
use super::ties::{TieBreaker, reach};
use super::{AlphaBetaOptions, TieBreak, Tools};
use crate::choices::{Choices, chances, decision_order};
use crate::report::MAX_LINES;
use crate::{Candidate, Evaluate, Line, Meter, Report};

/// An estimate of the value of a position for the searching role.
#[derive(Copy, Clone, Debug, PartialEq)]
pub(super) struct Estimate {
    value: f64,
    /// Whether it is proved that the value is at least this.
    at_least: bool,
    /// Whether it is proved that the value is at most this.
    at_most: bool,
    /// Number of steps to the end of the line that the estimate is based on.
    length: u32,
}

impl Estimate {
    fn is_proven(&self) -> bool {
        self.at_least && self.at_most
    }
}

/// How the result of a search with a window relates to the result without one.
#[derive(Copy, Clone, Debug, PartialEq)]
enum Bound {
    Exact,
    AtLeast,
    AtMost,
}

#[derive(Clone, Debug)]
struct Found<M> {
    estimate: Estimate,
    bound: Bound,
    /// The best move of the first role in the decision order.
    best: Option<M>,
}

/// What is kept from move to move.
pub(super) struct Memory<P: Position> {
    table: Table<Found<P::Move>>,
    ordering: Ordering<P::Move>,
    us: Option<Role>,
}

/// The budget was used up during the search.
struct Interrupted;

/// A move at the root and its estimate.
type RootMove<M> = (M, Estimate);

impl<P: Position> Memory<P> {
    pub(super) fn new(table_entries: usize) -> Memory<P> {
        Memory { table: Table::new(table_entries), ordering: Ordering::new(), us: None }
    }

    pub(super) fn think<E: Evaluate<P>>(
        &mut self,
        position: &mut P,
        us: Role,
        tools: Tools<'_, '_, E>,
    ) -> Report<P::Move> {
        let Tools { options, evaluator, meter, tie_breaker } = tools;
        // The table holds values of one role.
        if self.us != Some(us) {
            self.table.clear();
            self.ordering = Ordering::new();
            self.us = Some(us);
        }
        self.table.next_generation();
        self.ordering.next_root();
        let payoffs = &position.shape().payoffs;
        let range = (*payoffs.start(), *payoffs.end());
        let home = position.state().clone();
        let mut run = Run {
            memory: self,
            options,
            evaluator,
            meter,
            us,
            range,
            n_horizon: 0,
            root_depth: 0,
            root: Vec::new(),
        };
        let mut best: Vec<RootMove<P::Move>> = Vec::new();
        let mut depth_done = 0;
        let mut is_proven = false;
        for depth in 1..=options.max_depth.max(1) {
            run.root_depth = depth;
            let guess = best.first().map(|(_, estimate)| estimate.value).filter(|_| depth > 2);
            let done = run.deepen(position, depth, guess);
            is_proven |= done.as_ref().is_ok_and(Estimate::is_proven);
            let wins =
                |(_, estimate): &RootMove<P::Move>| estimate.at_least && estimate.value >= range.1;
            if done.is_err() {
                position.go_to(&home);
                // An unfinished depth counts if it has a proved win, or if there is no finished
                // depth.
                let has_won = run.root.iter().any(wins);
                is_proven |= has_won;
                if best.is_empty() || has_won {
                    best = std::mem::take(&mut run.root);
                    sort(&mut best, range);
                }
                break;
            }
            best = std::mem::take(&mut run.root);
            sort(&mut best, range);
            run.break_ties(position, &mut best, depth, tie_breaker);
            let index = best
                .first()
                .and_then(|(m, _)| position.legal_moves(us).iter().position(|o| o == m));
            if let Some(move_idx) = index {
                run.meter.suggest(move_idx);
            }
            depth_done = depth;
            if is_proven || run.n_horizon == 0 {
                break;
            }
        }
        let n_nodes = run.meter.n_nodes;
        let report = self.report(position, us, &best, depth_done, range);
        Report { is_proven, nodes: n_nodes, seconds: meter.seconds(), ..report }
    }

    fn report(
        &self,
        position: &mut P,
        us: Role,
        best: &[RootMove<P::Move>],
        depth: u32,
        range: (f64, f64),
    ) -> Report<P::Move> {
        let legal = position.legal_moves(us).to_vec();
        let chosen = best.first().map_or_else(|| legal[0].clone(), |(m, _)| m.clone());
        let value = best.first().map_or((range.0 + range.1) / 2.0, |(_, estimate)| estimate.value);
        let candidates = best
            .iter()
            .enumerate()
            .map(|(index, (m, estimate))| Candidate {
                m: m.clone(),
                visits: 1,
                value: estimate.value,
                probability: if index == 0 { 1.0 } else { 0.0 },
                is_proven: estimate.is_proven(),
            })
            .collect();
        let best_move = |key| self.table.get(key).and_then(|entry| entry.found.best.clone());
        let mut lines = vec![Line { joints: line(position, us, &chosen, depth, best_move), value }];
        for (m, estimate) in best.iter().take(MAX_LINES).skip(1) {
            let joints = line(position, us, m, depth, best_move);
            lines.push(Line { joints, value: estimate.value });
        }
        Report {
            best: chosen,
            us,
            candidates,
            value,
            is_proven: false,
            lines,
            iterations: depth.into(),
            nodes: 0,
            playouts: 0,
            depth,
            seconds: 0.0,
        }
    }
}

/// Sorts the best moves first: by value, then proved before unproved ones, then short wins and long
/// losses. The sort is stable.
fn sort<M>(moves: &mut [RootMove<M>], range: (f64, f64)) {
    moves.sort_by(|(_, a), (_, b)| compare(a, b, range));
}

/// Compares the estimates of two moves: the better one is less.
fn compare(a: &Estimate, b: &Estimate, (least, most): (f64, f64)) -> std::cmp::Ordering {
    let by_length = if a.value * 2.0 >= least + most {
        a.length.cmp(&b.length)
    } else {
        b.length.cmp(&a.length)
    };
    b.value
        .total_cmp(&a.value)
        .then(b.at_least.cmp(&a.at_least))
        .then(if a.is_proven() && b.is_proven() { by_length } else { std::cmp::Ordering::Equal })
}

/// The state of one search.
struct Run<'r, 'b, P: Position, E> {
    memory: &'r mut Memory<P>,
    options: &'r AlphaBetaOptions,
    evaluator: &'r mut E,
    meter: &'r mut Meter<'b>,
    us: Role,
    range: (f64, f64),
    /// Number of positions valued by the evaluator rather than by search.
    n_horizon: u64,
    root_depth: u32,
    root: Vec<RootMove<P::Move>>,
}

/// The parameters of the search of one position.
#[derive(Copy, Clone)]
struct Frame {
    depth: u32,
    ply: u32,
    /// Number of steps beyond the horizon so far.
    extension: u32,
    alpha: f64,
    beta: f64,
    /// The evaluation of the previous position, if that was close to the horizon.
    evaluated: Option<f64>,
}

/// A position whose moves are being searched.
struct Expansion<'n, P: Position> {
    state: &'n P::State,
    choices: &'n Choices<P::Move>,
    /// The parameters for the children.
    child: Frame,
    hash_move: Option<&'n P::Move>,
    chances: &'n [f64],
    is_alone: bool,
}

impl<P: Position, E: Evaluate<P>> Run<'_, '_, P, E> {
    /// Moves the chosen one of the best moves to the front of the sorted list.
    fn break_ties(
        &mut self,
        position: &mut P,
        best: &mut Vec<RootMove<P::Move>>,
        depth: u32,
        tie_breaker: &TieBreaker,
    ) {
        let Some((_, first)) = best.first() else { return };
        let is_tied = |(_, other): &&RootMove<P::Move>| compare(first, other, self.range).is_eq();
        let n_tied = best.iter().take_while(is_tied).count();
        if n_tied < 2 || self.options.ties == TieBreak::First {
            return;
        }
        let mut reached = None;
        // What is proved is not improved by help, and one step has no horizon beyond it.
        if self.options.ties == TieBreak::Reachable && depth > 1 && !first.is_proven() {
            let tied: Vec<P::Move> = best[..n_tied].iter().map(|(m, _)| m.clone()).collect();
            reached = reach(position, self.us, &tied, depth, self.evaluator, self.meter);
        }
        let legal = position.legal_moves(self.us).to_vec();
        tie_breaker.choose(best, n_tied, |(m, _)| m, reached.as_deref(), &legal);
    }

    /// Searches to a depth, first with a narrow window around the guess, then with a wider one
    /// (aspiration windows).
    fn deepen(
        &mut self,
        position: &mut P,
        depth: u32,
        guess: Option<f64>,
    ) -> Result<Estimate, Interrupted> {
        let all = (self.range.0 - 1.0, self.range.1 + 1.0);
        // The window reaches a tenth of the range to either side.
        let margin = (self.range.1 - self.range.0) * 0.1;
        let mut window = guess.map_or(all, |value| (value - margin, value + margin));
        loop {
            self.n_horizon = 0;
            self.root.clear();
            let (alpha, beta) = window;
            let frame = Frame { depth, ply: 0, extension: 0, alpha, beta, evaluated: None };
            let estimate = self.search(position, frame)?;
            if estimate.value <= alpha && alpha > all.0 {
                window.0 = all.0;
            } else if estimate.value >= beta
                && beta < all.1
                && !(estimate.at_least && estimate.value >= self.range.1)
            {
                window.1 = all.1;
            } else {
                if self.root.is_empty() {
                    let only = position.legal_moves(self.us)[0].clone();
                    self.root.push((only, estimate));
                }
                return Ok(estimate);
            }
        }
    }

    fn search(&mut self, position: &mut P, mut frame: Frame) -> Result<Estimate, Interrupted> {
        if position.is_terminal() {
            let value = position.payoff(self.us);
            return Ok(Estimate { value, at_least: true, at_most: true, length: 0 });
        }
        if self.meter.is_over(256) {
            return Err(Interrupted);
        }
        self.meter.n_nodes += 1;
        let key = position.key();
        let (known, hash_move) = self.look_up(key, &frame);
        if let Some(estimate) = known {
            return Ok(estimate);
        }
        if let Some(estimate) = self.evaluate_near_horizon(position, &mut frame) {
            return Ok(estimate);
        }
        let order = decision_order(position, self.us);
        // A step without a choice costs no depth, unless there are too many such steps.
        let is_free = order.is_empty() && frame.ply < 2 * self.root_depth + 16;
        let state = position.state().clone();
        let choices = Choices::at(position);
        let chances = chances(position);
        let child = Frame {
            depth: if is_free { frame.depth } else { frame.depth - 1 },
            ply: frame.ply + 1,
            ..frame
        };
        let here = Expansion {
            state: &state,
            choices: &choices,
            child,
            hash_move: hash_move.as_ref(),
            chances: &chances,
            is_alone: order.len() == 1,
        };
        let mut joint = choices.first_joint();
        let (mut estimate, best) =
            self.choose(position, &here, &order, &mut joint, (frame.alpha, frame.beta))?;
        let n_players = order.iter().filter(|&&role| Some(role) != position.shape().nature).count();
        if n_players > 1 && order[0] == self.us {
            // In fact the others do not see our move, so the value may be higher.
            estimate.at_most = false;
        }
        let estimate = self.with_limits(estimate);
        let bound = if estimate.value <= frame.alpha {
            Bound::AtMost
        } else if estimate.value >= frame.beta {
            Bound::AtLeast
        } else {
            Bound::Exact
        };
        self.memory.table.put(key, frame.depth, Found { estimate, bound, best });
        Ok(estimate)
    }

    /// Returns the estimate in the table if it is good enough for this frame, and the best move in
    /// the table.
    fn look_up(&mut self, key: u64, frame: &Frame) -> (Option<Estimate>, Option<P::Move>) {
        let Some(entry) = self.memory.table.get(key) else { return (None, None) };
        let Found { estimate, bound, best } = &entry.found;
        let is_deep = entry.depth >= frame.depth;
        let is_enough = estimate.is_proven()
            || (is_deep && *bound == Bound::Exact)
            || ((estimate.at_least || (is_deep && *bound == Bound::AtLeast))
                && estimate.value >= frame.beta)
            || ((estimate.at_most || (is_deep && *bound == Bound::AtMost))
                && estimate.value <= frame.alpha);
        if is_enough && frame.ply > 0 {
            self.n_horizon += u64::from(!estimate.is_proven());
            return (Some(*estimate), None);
        }
        (None, best.clone())
    }

    /// Evaluates a position on or just before the horizon. Returns the estimate if the search ends
    /// here. Where the evaluation is unstable, the search is extended by one step instead.
    fn evaluate_near_horizon(&mut self, position: &P, frame: &mut Frame) -> Option<Estimate> {
        if frame.depth > 1 {
            frame.evaluated = None;
            return None;
        }
        let value = self.evaluator.value(position, self.us);
        let limit = (self.range.1 - self.range.0) * self.options.unstable;
        let is_unstable = frame.evaluated.is_some_and(|before| (value - before).abs() >= limit);
        if frame.depth == 0 {
            if !is_unstable || frame.extension >= self.options.max_extension {
                self.n_horizon += 1;
                let estimate = Estimate { value, at_least: false, at_most: false, length: 0 };
                return Some(self.with_limits(estimate));
            }
            frame.depth = 1;
            frame.extension += 1;
        }
        frame.evaluated = Some(value);
        None
    }

    /// Marks the estimate as proved where it is at a limit of the payoffs.
    fn with_limits(&self, estimate: Estimate) -> Estimate {
        Estimate {
            at_least: estimate.at_least || estimate.value <= self.range.0,
            at_most: estimate.at_most || estimate.value >= self.range.1,
            ..estimate
        }
    }

    /// Searches the choices of the first role in the order, and recursively those of the others.
    /// Returns to the position.
    fn choose(
        &mut self,
        position: &mut P,
        here: &Expansion<'_, P>,
        order: &[Role],
        joint: &mut Vec<P::Move>,
        (mut alpha, mut beta): (f64, f64),
    ) -> Result<(Estimate, Option<P::Move>), Interrupted> {
        let Some((&role, rest)) = order.split_first() else {
            position.advance(joint);
            let estimate = self.search(position, Frame { alpha, beta, ..here.child })?;
            position.go_to(here.state);
            return Ok((Estimate { length: estimate.length + 1, ..estimate }, None));
        };
        let moves = here.choices.of(role);
        if Some(role) == position.shape().nature {
            return Ok((self.average(position, here, role, rest, joint)?, None));
        }
        let is_ours = role == self.us;
        let ply = here.child.ply as usize - 1;
        let sorted = self.memory.ordering.sorted(role, moves, here.hash_move, ply);
        let mut best: Option<(Estimate, usize)> = None;
        // Whether for no move the truth can be better than its estimate.
        let mut all_bounded = true;
        for (rank, &index) in sorted.iter().enumerate() {
            joint[role.index()] = moves[index].clone();
            // A move as good as the best so far must have its exact value, not an upper bound.
            let is_tie_wanted = ply == 0 && is_ours && self.options.ties != TieBreak::First;
            let alpha_below = if is_tie_wanted { alpha.next_down() } else { alpha };
            let is_late = rank >= 4 && here.is_alone && here.child.depth >= 2 && ply > 0;
            let estimate = if is_late && self.options.late_move_reductions {
                self.choose_reduced(position, here, order, joint, (alpha, beta))?
            } else {
                self.choose(position, here, rest, joint, (alpha_below, beta))?.0
            };
            if ply == 0 && is_ours {
                // Roles that move at the same time do not see the move, so its value may be higher.
                let is_seen = rest.iter().all(|&other| Some(other) == position.shape().nature);
                let at_most = estimate.at_most && is_seen;
                self.root.push((
                    moves[index].clone(),
                    self.with_limits(Estimate { at_most, ..estimate }),
                ));
            }
            let (sure, bounded) = if is_ours {
                (estimate.at_least, estimate.at_most)
            } else {
                (estimate.at_most, estimate.at_least)
            };
            all_bounded &= bounded;
            let is_better = best.is_none_or(|(before, _)| {
                let (gain, was_sure) = if is_ours {
                    (estimate.value - before.value, before.at_least)
                } else {
                    (before.value - estimate.value, before.at_most)
                };
                gain > 0.0 || (gain == 0.0 && sure && !was_sure)
            });
            if is_better {
                best = Some((estimate, index));
            }
            let cuts = if is_ours {
                alpha = alpha.max(estimate.value);
                alpha >= beta || (sure && estimate.value >= self.range.1)
            } else {
                beta = beta.min(estimate.value);
                alpha >= beta || (sure && estimate.value <= self.range.0)
            };
            if cuts {
                self.memory.ordering.reward(role, &moves[index], ply, here.child.depth);
                all_bounded &= rank + 1 == sorted.len();
                break;
            }
        }
        let (best, index) = best.expect("every role has a legal move");
        let estimate = if is_ours {
            Estimate { at_most: all_bounded, ..best }
        } else {
            Estimate { at_least: all_bounded, ..best }
        };
        Ok((self.with_limits(estimate), Some(moves[index].clone())))
    }

    /// Searches a late move one ply less deep, and again at full depth if it is better than the
    /// window for the first role of `order` (late move reductions).
    fn choose_reduced(
        &mut self,
        position: &mut P,
        here: &Expansion<'_, P>,
        order: &[Role],
        joint: &mut Vec<P::Move>,
        (alpha, beta): (f64, f64),
    ) -> Result<Estimate, Interrupted> {
        let (&role, rest) = order.split_first().expect("a role chooses");
        let child = Frame { depth: here.child.depth - 1, ..here.child };
        let shallow = Expansion { child, ..*here };
        let (estimate, _) = self.choose(position, &shallow, rest, joint, (alpha, beta))?;
        let is_ours = role == self.us;
        let is_better = if is_ours { estimate.value > alpha } else { estimate.value < beta };
        if is_better {
            Ok(self.choose(position, here, rest, joint, (alpha, beta))?.0)
        } else {
            Ok(estimate)
        }
    }

    /// Averages over the moves of nature (expectimax). The window cannot narrow the search here.
    fn average(
        &mut self,
        position: &mut P,
        here: &Expansion<'_, P>,
        nature: Role,
        rest: &[Role],
        joint: &mut Vec<P::Move>,
    ) -> Result<Estimate, Interrupted> {
        let whole = (self.range.0 - 1.0, self.range.1 + 1.0);
        let mut sum = Estimate { value: 0.0, at_least: true, at_most: true, length: 0 };
        for (m, chance) in here.choices.of(nature).iter().zip(here.chances) {
            joint[nature.index()] = m.clone();
            let (estimate, _) = self.choose(position, here, rest, joint, whole)?;
            sum.value += chance * estimate.value;
            sum.at_least &= estimate.at_least;
            sum.at_most &= estimate.at_most;
            sum.length = sum.length.max(estimate.length);
        }
        Ok(sum)
    }
}

impl<P: Position> Clone for Expansion<'_, P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<P: Position> Copy for Expansion<'_, P> {}
