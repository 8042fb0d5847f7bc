//! Max^n (Luckhardt & Irani 1986): each role with a choice takes what is best for itself. The other
//! roles are assumed to take the first listed of equal moves.

use agon_game::{Position, Role};

use super::line::line;
use super::table::Table;
use super::ties::{TieBreaker, reach};
use super::{TieBreak, Tools};
use crate::choices::{Choices, chances, decision_order};
use crate::report::MAX_LINES;
use crate::{Candidate, Evaluate, Line, Meter, Report};

#[derive(Clone, Debug)]
struct Found<M> {
    /// By role.
    values: Vec<f64>,
    /// Whether the values are based on terminal positions alone.
    is_proven: bool,
    best: Option<M>,
}

/// What is kept from move to move.
pub(super) struct Memory<P: Position> {
    table: Table<Found<P::Move>>,
    us: Option<Role>,
}

/// The budget was used up during the search.
struct Interrupted;

/// A move at the root, the values by role, and whether they are proved.
type RootMove<M> = (M, Vec<f64>, bool);

impl<P: Position> Memory<P> {
    pub(super) fn new(table_entries: usize) -> Memory<P> {
        Memory { table: Table::new(table_entries), us: None }
    }

    pub(super) fn think<E: Evaluate<P>>(
        &mut self,
        position: &mut P,
        us: Role,
        tools: Tools<'_, '_, E>,
    ) -> Report<P::Move> {
        let Tools { options, evaluator, meter, tie_breaker } = tools;
        // With simultaneous moves, the decision order depends on the searching role.
        if self.us != Some(us) {
            self.table.clear();
            self.us = Some(us);
        }
        self.table.next_generation();
        let home = position.state().clone();
        let legal = position.legal_moves(us).to_vec();
        let most = *position.shape().payoffs.end();
        let mut run =
            Run { memory: self, evaluator, meter, us, most, n_horizon: 0, root: Vec::new() };
        let mut best: Vec<RootMove<P::Move>> = Vec::new();
        let mut depth_done = 0;
        for depth in 1..=options.max_depth.max(1) {
            run.n_horizon = 0;
            run.root.clear();
            let found = run.search(position, depth, 0);
            let Ok(found) = found else {
                position.go_to(&home);
                if best.is_empty() {
                    best = std::mem::take(&mut run.root);
                    best.sort_by(|a, b| b.1[us.index()].total_cmp(&a.1[us.index()]));
                }
                break;
            };
            best = std::mem::take(&mut run.root);
            if best.is_empty() {
                best.push((legal[0].clone(), found.values, found.is_proven));
            }
            best.sort_by(|a, b| b.1[us.index()].total_cmp(&a.1[us.index()]));
            run.break_ties(position, &mut best, depth, (options.ties, tie_breaker));
            if let Some(move_idx) =
                best.first().and_then(|(m, ..)| legal.iter().position(|other| other == m))
            {
                run.meter.suggest(move_idx);
            }
            depth_done = depth;
            if run.n_horizon == 0 {
                break;
            }
        }
        let nodes = run.meter.n_nodes;
        let report = self.report(position, us, best, depth_done);
        Report { nodes, seconds: meter.seconds(), ..report }
    }

    fn report(
        &self,
        position: &mut P,
        us: Role,
        best: Vec<RootMove<P::Move>>,
        depth: u32,
    ) -> Report<P::Move> {
        let legal = position.legal_moves(us).to_vec();
        let most = *position.shape().payoffs.end();
        let (chosen, value, is_proven) =
            best.first().map_or((legal[0].clone(), most / 2.0, false), |(m, values, is_proven)| {
                let is_all =
                    best.len() == legal.len() && best.iter().all(|(_, _, is_proven)| *is_proven);
                let value = values[us.index()];
                (m.clone(), value, *is_proven && (is_all || value >= most))
            });
        let candidates = best
            .iter()
            .enumerate()
            .map(|(index, (m, values, is_proven))| Candidate {
                m: m.clone(),
                visits: 1,
                value: values[us.index()],
                probability: if index == 0 { 1.0 } else { 0.0 },
                is_proven: *is_proven,
            })
            .collect();
        let best_move = |key| self.table.get(key).and_then(|entry| entry.found.best.clone());
        let mut lines = vec![Line { joints: line(position, us, &chosen, depth, best_move), value }];
        for (m, values, _) in best.iter().take(MAX_LINES).skip(1) {
            let joints = line(position, us, m, depth, best_move);
            lines.push(Line { joints, value: values[us.index()] });
        }
        Report {
            best: chosen,
            us,
            candidates,
            value,
            is_proven,
            lines,
            iterations: depth.into(),
            nodes: 0,
            playouts: 0,
            depth,
            seconds: 0.0,
        }
    }
}

struct Run<'r, 'b, P: Position, E> {
    memory: &'r mut Memory<P>,
    evaluator: &'r mut E,
    meter: &'r mut Meter<'b>,
    us: Role,
    most: f64,
    n_horizon: u64,
    root: Vec<RootMove<P::Move>>,
}

/// A position whose moves are being searched.
struct Expansion<'n, P: Position> {
    state: &'n P::State,
    choices: &'n Choices<P::Move>,
    chances: &'n [f64],
    child_depth: u32,
    ply: u32,
}

impl<P: Position, E: Evaluate<P>> Run<'_, '_, P, E> {
    /// Moves the chosen one of the best moves to the front of the sorted list.
    fn break_ties(
        &mut self,
        position: &mut P,
        best: &mut Vec<RootMove<P::Move>>,
        depth: u32,
        (ties, tie_breaker): (TieBreak, &TieBreaker),
    ) {
        let Some((_, first, is_proven)) = best.first() else { return };
        let us = self.us.index();
        let is_tied = |(_, values, proven): &&RootMove<P::Move>| {
            values[us] == first[us] && proven == is_proven
        };
        let n_tied = best.iter().take_while(is_tied).count();
        if n_tied < 2 || ties == TieBreak::First {
            return;
        }
        let mut reached = None;
        if ties == TieBreak::Reachable && depth > 1 && !is_proven {
            let tied: Vec<P::Move> = best[..n_tied].iter().map(|(m, ..)| m.clone()).collect();
            reached = reach(position, self.us, &tied, depth, self.evaluator, self.meter);
        }
        let legal = position.legal_moves(self.us).to_vec();
        tie_breaker.choose(best, n_tied, |(m, ..)| m, reached.as_deref(), &legal);
    }

    fn search(
        &mut self,
        position: &mut P,
        depth: u32,
        ply: u32,
    ) -> Result<Found<P::Move>, Interrupted> {
        let nature = position.shape().nature;
        let n_roles = position.shape().role_names.len();
        if position.is_terminal() {
            let values = position
                .shape()
                .roles()
                .map(|role| if Some(role) == nature { 0.0 } else { position.payoff(role) });
            return Ok(Found { values: values.collect(), is_proven: true, best: None });
        }
        if self.meter.is_over(256) {
            return Err(Interrupted);
        }
        self.meter.n_nodes += 1;
        let key = position.key();
        if ply > 0
            && let Some(entry) = self.memory.table.get(key)
            && (entry.found.is_proven || entry.depth >= depth)
        {
            self.n_horizon += u64::from(!entry.found.is_proven);
            return Ok(entry.found.clone());
        }
        if depth == 0 {
            self.n_horizon += 1;
            let mut values = vec![0.0; n_roles];
            for role in position.shape().players() {
                values[role.index()] = self.evaluator.value(position, role);
            }
            return Ok(Found { values, is_proven: false, best: None });
        }
        let order = decision_order(position, self.us);
        let state = position.state().clone();
        let choices = Choices::at(position);
        let chances = chances(position);
        let here = Expansion {
            state: &state,
            choices: &choices,
            chances: &chances,
            child_depth: depth - 1,
            ply,
        };
        let mut joint = choices.first_joint();
        let mut found = self.choose(position, &here, &order, &mut joint)?;
        let n_players = order.iter().filter(|&&role| Some(role) != nature).count();
        // Roles that move at the same time do not see each other's moves.
        found.is_proven &= n_players < 2;
        self.memory.table.put(key, depth, found.clone());
        Ok(found)
    }

    fn choose(
        &mut self,
        position: &mut P,
        here: &Expansion<'_, P>,
        order: &[Role],
        joint: &mut Vec<P::Move>,
    ) -> Result<Found<P::Move>, Interrupted> {
        let Some((&role, rest)) = order.split_first() else {
            position.advance(joint);
            let found = self.search(position, here.child_depth, here.ply + 1)?;
            position.go_to(here.state);
            return Ok(Found { best: None, ..found });
        };
        let moves = here.choices.of(role);
        if Some(role) == position.shape().nature {
            let mut sum = Found { values: vec![0.0; joint.len()], is_proven: true, best: None };
            for (m, chance) in moves.iter().zip(here.chances) {
                joint[role.index()] = m.clone();
                let found = self.choose(position, here, rest, joint)?;
                for (sum, value) in sum.values.iter_mut().zip(&found.values) {
                    *sum += chance * value;
                }
                sum.is_proven &= found.is_proven;
            }
            return Ok(sum);
        }
        let mut best: Option<Found<P::Move>> = None;
        let mut all_proven = true;
        for m in moves {
            joint[role.index()] = m.clone();
            let found = self.choose(position, here, rest, joint)?;
            if here.ply == 0 && role == self.us {
                self.root.push((m.clone(), found.values.clone(), found.is_proven));
            }
            all_proven &= found.is_proven;
            let value = found.values[role.index()];
            let is_best = found.is_proven && value >= self.most;
            if best.as_ref().is_none_or(|before| value > before.values[role.index()]) {
                best = Some(Found { best: Some(m.clone()), ..found });
            }
            // No move is better, and the first of equals counts, so the rest need not be searched.
            // The moves before must be proved to be worse.
            if is_best && all_proven {
                break;
            }
        }
        let best = best.expect("every role has a legal move");
        Ok(Found { is_proven: all_proven, ..best })
    }
}
