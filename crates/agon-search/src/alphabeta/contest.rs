//! One role against the others.

use agon_game::{Position, Role};

use super::AlphaBetaOptions;
use super::order::Ordering;
use super::table::Table;
use crate::choices::{Choices, asking_order, chances};
use crate::{Candidate, Evaluate, Line, Meter, Report};

/// What is thought of a position.
#[derive(Copy, Clone, Debug, PartialEq)]
pub(super) struct Verdict {
    value: f64,
    /// It is proved that the truth is no less.
    at_least: bool,
    /// It is proved that the truth is no more.
    at_most: bool,
    /// Steps to the end of the line that it rests on.
    length: u32,
}

impl Verdict {
    fn is_proven(&self) -> bool {
        self.at_least && self.at_most
    }
}

/// What the value of a search with bounds says of the value without.
#[derive(Copy, Clone, Debug, PartialEq)]
enum Bound {
    Exact,
    AtLeast,
    AtMost,
}

#[derive(Clone, Debug)]
struct Found<M> {
    verdict: Verdict,
    bound: Bound,
    /// The move of the first role that was asked.
    best: Option<M>,
}

/// What stays from move to move.
pub(super) struct Memory<P: Position> {
    table: Table<Found<P::Move>>,
    ordering: Ordering<P::Move>,
    us: Option<Role>,
}

/// The budget ended in the middle.
struct Interrupted;

/// A move at the root, and what is thought of it.
type RootMove<M> = (M, Verdict);

impl<P: Position> Memory<P> {
    pub(super) fn new(table_entries: usize) -> Memory<P> {
        Memory { table: Table::new(table_entries), ordering: Ordering::new(), us: None }
    }

    pub(super) fn think<E: Evaluate<P>>(
        &mut self,
        position: &mut P,
        us: Role,
        options: &AlphaBetaOptions,
        evaluator: &mut E,
        meter: &mut Meter<'_>,
    ) -> Report<P::Move> {
        // Values are those of one role.
        if self.us != Some(us) {
            self.table.clear();
            self.ordering = Ordering::new();
            self.us = Some(us);
        }
        self.table.grow_older();
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
            let guess = best.first().map(|(_, verdict)| verdict.value).filter(|_| depth > 2);
            let done = run.deepen(position, depth, guess);
            is_proven |= done.as_ref().is_ok_and(Verdict::is_proven);
            let wins =
                |(_, verdict): &RootMove<P::Move>| verdict.at_least && verdict.value >= range.1;
            if done.is_err() {
                position.go_to(&home);
                // What was only half looked at counts if it is a win for sure, or if there is nothing else.
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
            let place = best
                .first()
                .and_then(|(m, _)| position.legal_moves(us).iter().position(|o| o == m));
            if let Some(move_idx) = place {
                run.meter.tell(move_idx);
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
        let value = best.first().map_or((range.0 + range.1) / 2.0, |(_, verdict)| verdict.value);
        let candidates = best
            .iter()
            .enumerate()
            .map(|(index, (m, verdict))| Candidate {
                m: m.clone(),
                visits: 1,
                value: verdict.value,
                probability: if index == 0 { 1.0 } else { 0.0 },
                is_proven: verdict.is_proven(),
            })
            .collect();
        let lines = vec![Line { joints: self.line(position, us, &chosen, depth), value }];
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

    /// The line that the table remembers, as far as players take turns.
    fn line(&self, position: &mut P, us: Role, chosen: &P::Move, depth: u32) -> Vec<Vec<P::Move>> {
        let home = position.state().clone();
        let mut joints = Vec::new();
        while !position.is_terminal() && joints.len() <= depth as usize {
            let order = asking_order(position, us);
            let mut joint = Choices::at(position).first_joint();
            if joints.is_empty() {
                joint[us.index()] = chosen.clone();
            }
            match order[..] {
                [] => {}
                [role] if joints.is_empty() && role == us => {}
                [role] => {
                    let found =
                        self.table.get(position.key()).and_then(|entry| entry.found.best.clone());
                    let Some(m) = found.filter(|m| position.is_legal(role, m)) else { break };
                    joint[role.index()] = m;
                }
                _ => break,
            }
            position.advance(&joint);
            joints.push(joint);
        }
        position.go_to(&home);
        joints
    }
}

/// The best first: the highest value, what is proved before what is not, short wins and long losses; else as listed.
fn sort<M>(moves: &mut [RootMove<M>], (least, most): (f64, f64)) {
    moves.sort_by(|(_, a), (_, b)| {
        let proved = |verdict: &Verdict| verdict.at_least;
        let by_length = if a.value * 2.0 >= least + most {
            a.length.cmp(&b.length)
        } else {
            b.length.cmp(&a.length)
        };
        b.value.total_cmp(&a.value).then(proved(b).cmp(&proved(a))).then(
            if a.is_proven() && b.is_proven() { by_length } else { std::cmp::Ordering::Equal },
        )
    });
}

/// One think.
struct Run<'r, 'b, P: Position, E> {
    memory: &'r mut Memory<P>,
    options: &'r AlphaBetaOptions,
    evaluator: &'r mut E,
    meter: &'r mut Meter<'b>,
    us: Role,
    range: (f64, f64),
    /// Positions judged without having been looked at to the end.
    n_horizon: u64,
    root_depth: u32,
    root: Vec<RootMove<P::Move>>,
}

/// Where a search of one position stands.
#[derive(Copy, Clone)]
struct Place {
    depth: u32,
    ply: u32,
    /// Steps beyond the horizon so far.
    extension: u32,
    alpha: f64,
    beta: f64,
    /// What the position before was judged to be worth, if it was close to the horizon.
    judged: Option<f64>,
}

/// A position whose moves are being gone through.
struct Here<'n, P: Position> {
    state: &'n P::State,
    choices: &'n Choices<P::Move>,
    /// For the children.
    child: Place,
    hash_move: Option<&'n P::Move>,
    chances: &'n [f64],
    is_alone: bool,
}

impl<P: Position, E: Evaluate<P>> Run<'_, '_, P, E> {
    /// One more depth, first close to where the value was, then wider.
    fn deepen(
        &mut self,
        position: &mut P,
        depth: u32,
        guess: Option<f64>,
    ) -> Result<Verdict, Interrupted> {
        let all = (self.range.0 - 1.0, self.range.1 + 1.0);
        // A tenth of the range to either side.
        let margin = (self.range.1 - self.range.0) * 0.1;
        let mut window = guess.map_or(all, |value| (value - margin, value + margin));
        loop {
            self.n_horizon = 0;
            self.root.clear();
            let (alpha, beta) = window;
            let place = Place { depth, ply: 0, extension: 0, alpha, beta, judged: None };
            let verdict = self.search(position, place)?;
            if verdict.value <= alpha && alpha > all.0 {
                window.0 = all.0;
            } else if verdict.value >= beta
                && beta < all.1
                && !(verdict.at_least && verdict.value >= self.range.1)
            {
                window.1 = all.1;
            } else {
                if self.root.is_empty() {
                    let only = position.legal_moves(self.us)[0].clone();
                    self.root.push((only, verdict));
                }
                return Ok(verdict);
            }
        }
    }

    fn search(&mut self, position: &mut P, mut place: Place) -> Result<Verdict, Interrupted> {
        if position.is_terminal() {
            let value = position.payoff(self.us);
            return Ok(Verdict { value, at_least: true, at_most: true, length: 0 });
        }
        if self.meter.is_over(256) {
            return Err(Interrupted);
        }
        self.meter.n_nodes += 1;
        let key = position.key();
        let mut hash_move = None;
        if let Some(entry) = self.memory.table.get(key) {
            let Found { verdict, bound, best } = &entry.found;
            let is_deep = entry.depth >= place.depth;
            let enough = verdict.is_proven()
                || (is_deep && *bound == Bound::Exact)
                || ((verdict.at_least || (is_deep && *bound == Bound::AtLeast))
                    && verdict.value >= place.beta)
                || ((verdict.at_most || (is_deep && *bound == Bound::AtMost))
                    && verdict.value <= place.alpha);
            if enough && place.ply > 0 {
                self.n_horizon += u64::from(!verdict.is_proven());
                return Ok(*verdict);
            }
            hash_move = best.clone();
        }
        if place.depth <= 1 {
            let value = self.evaluator.value(position, self.us);
            let limit = (self.range.1 - self.range.0) * self.options.unstable;
            let is_unstable = place.judged.is_some_and(|before| (value - before).abs() >= limit);
            if place.depth == 0 {
                if !is_unstable || place.extension >= self.options.max_extension {
                    self.n_horizon += 1;
                    return Ok(self.with_limits(Verdict {
                        value,
                        at_least: false,
                        at_most: false,
                        length: 0,
                    }));
                }
                place.depth = 1;
                place.extension += 1;
            }
            place.judged = Some(value);
        } else {
            place.judged = None;
        }
        let order = asking_order(position, self.us);
        // A step without a choice costs no depth, unless there is no end to such steps.
        let is_free = order.is_empty() && place.ply < 2 * self.root_depth + 16;
        let state = position.state().clone();
        let choices = Choices::at(position);
        let chances = chances(position);
        let child = Place {
            depth: if is_free { place.depth } else { place.depth - 1 },
            ply: place.ply + 1,
            ..place
        };
        let here = Here {
            state: &state,
            choices: &choices,
            child,
            hash_move: hash_move.as_ref(),
            chances: &chances,
            is_alone: order.len() == 1,
        };
        let mut joint = choices.first_joint();
        let (mut verdict, best) =
            self.choose(position, &here, &order, &mut joint, (place.alpha, place.beta))?;
        let n_players = order.iter().filter(|&&role| Some(role) != position.shape().nature).count();
        if n_players > 1 && order[0] == self.us {
            // The others do not really see our move: it may be worth more.
            verdict.at_most = false;
        }
        let verdict = self.with_limits(verdict);
        let bound = if verdict.value <= place.alpha {
            Bound::AtMost
        } else if verdict.value >= place.beta {
            Bound::AtLeast
        } else {
            Bound::Exact
        };
        self.memory.table.put(key, place.depth, Found { verdict, bound, best });
        Ok(verdict)
    }

    /// Nothing is more than the most or less than the least.
    fn with_limits(&self, verdict: Verdict) -> Verdict {
        Verdict {
            at_least: verdict.at_least || verdict.value <= self.range.0,
            at_most: verdict.at_most || verdict.value >= self.range.1,
            ..verdict
        }
    }

    /// The choice of the first role in the order, then those of the others. Stands at the position again afterwards.
    fn choose(
        &mut self,
        position: &mut P,
        here: &Here<'_, P>,
        order: &[Role],
        joint: &mut Vec<P::Move>,
        (mut alpha, mut beta): (f64, f64),
    ) -> Result<(Verdict, Option<P::Move>), Interrupted> {
        let Some((&role, rest)) = order.split_first() else {
            position.advance(joint);
            let verdict = self.search(position, Place { alpha, beta, ..here.child })?;
            position.go_to(here.state);
            return Ok((Verdict { length: verdict.length + 1, ..verdict }, None));
        };
        let moves = here.choices.of(role);
        if Some(role) == position.shape().nature {
            let whole = (self.range.0 - 1.0, self.range.1 + 1.0);
            let mut sum = Verdict { value: 0.0, at_least: true, at_most: true, length: 0 };
            for (m, chance) in moves.iter().zip(here.chances) {
                joint[role.index()] = m.clone();
                let (verdict, _) = self.choose(position, here, rest, joint, whole)?;
                sum.value += chance * verdict.value;
                sum.at_least &= verdict.at_least;
                sum.at_most &= verdict.at_most;
                sum.length = sum.length.max(verdict.length);
            }
            return Ok((sum, None));
        }
        let is_ours = role == self.us;
        let ply = here.child.ply as usize - 1;
        let sorted = self.memory.ordering.sorted(role, moves, here.hash_move, ply);
        let mut best: Option<(Verdict, usize)> = None;
        // Whether no move can be better than it looks.
        let mut all_bounded = true;
        for (rank, &index) in sorted.iter().enumerate() {
            joint[role.index()] = moves[index].clone();
            let is_late = rank >= 4 && here.is_alone && here.child.depth >= 2 && ply > 0;
            let mut verdict = None;
            if is_late && self.options.late_move_reductions {
                let shallow =
                    Here { child: Place { depth: here.child.depth - 1, ..here.child }, ..*here };
                let (reduced, _) = self.choose(position, &shallow, rest, joint, (alpha, beta))?;
                let is_better = if is_ours { reduced.value > alpha } else { reduced.value < beta };
                verdict = (!is_better).then_some(reduced);
            }
            let verdict = match verdict {
                Some(verdict) => verdict,
                None => self.choose(position, here, rest, joint, (alpha, beta))?.0,
            };
            if ply == 0 && is_ours {
                // Those who move at once do not really see the move, so it may be worth more.
                let is_seen = rest.iter().all(|&other| Some(other) == position.shape().nature);
                let at_most = verdict.at_most && is_seen;
                self.root
                    .push((moves[index].clone(), self.with_limits(Verdict { at_most, ..verdict })));
            }
            let (sure, bounded) = if is_ours {
                (verdict.at_least, verdict.at_most)
            } else {
                (verdict.at_most, verdict.at_least)
            };
            all_bounded &= bounded;
            let is_better = best.is_none_or(|(before, _)| {
                let (gain, was_sure) = if is_ours {
                    (verdict.value - before.value, before.at_least)
                } else {
                    (before.value - verdict.value, before.at_most)
                };
                gain > 0.0 || (gain == 0.0 && sure && !was_sure)
            });
            if is_better {
                best = Some((verdict, index));
            }
            let cuts = if is_ours {
                alpha = alpha.max(verdict.value);
                alpha >= beta || (sure && verdict.value >= self.range.1)
            } else {
                beta = beta.min(verdict.value);
                alpha >= beta || (sure && verdict.value <= self.range.0)
            };
            if cuts {
                self.memory.ordering.reward(role, &moves[index], ply, here.child.depth);
                all_bounded &= rank + 1 == sorted.len();
                break;
            }
        }
        let (best, index) = best.expect("everybody has a move");
        let verdict = if is_ours {
            Verdict { at_most: all_bounded, ..best }
        } else {
            Verdict { at_least: all_bounded, ..best }
        };
        Ok((self.with_limits(verdict), Some(moves[index].clone())))
    }
}

impl<P: Position> Clone for Here<'_, P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<P: Position> Copy for Here<'_, P> {}
