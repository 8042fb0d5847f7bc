//! Everybody for themselves: each role with a choice takes what is best for itself, the first listed of equals.

use agon_game::{Position, Role};

use super::AlphaBetaOptions;
use super::table::Table;
use crate::choices::{Choices, asking_order, chances};
use crate::{Candidate, Evaluate, Line, Meter, Report};

#[derive(Clone, Debug)]
struct Found<M> {
    /// By role.
    values: Vec<f64>,
    /// They rest on ends of play alone.
    is_proven: bool,
    best: Option<M>,
}

/// What stays from move to move.
pub(super) struct Memory<P: Position> {
    table: Table<Found<P::Move>>,
    us: Option<Role>,
}

struct Interrupted;

impl<P: Position> Memory<P> {
    pub(super) fn new(table_entries: usize) -> Memory<P> {
        Memory { table: Table::new(table_entries), us: None }
    }

    pub(super) fn think<E: Evaluate<P>>(
        &mut self,
        position: &mut P,
        us: Role,
        options: &AlphaBetaOptions,
        evaluator: &mut E,
        meter: &mut Meter<'_>,
    ) -> Report<P::Move> {
        // Where players move at once, the order of asking depends on whom we look after.
        if self.us != Some(us) {
            self.table.clear();
            self.us = Some(us);
        }
        self.table.grow_older();
        let home = position.state().clone();
        let legal = position.legal_moves(us).to_vec();
        let most = *position.shape().payoffs.end();
        let mut run =
            Run { memory: self, evaluator, meter, us, most, n_horizon: 0, root: Vec::new() };
        let mut best: Vec<(P::Move, Vec<f64>, bool)> = Vec::new();
        let mut depth_done = 0;
        for depth in 1..=options.max_depth.max(1) {
            run.n_horizon = 0;
            run.root.clear();
            let found = run.search(position, depth, 0);
            let Ok(found) = found else {
                position.go_to(&home);
                if best.is_empty() {
                    best = std::mem::take(&mut run.root);
                }
                break;
            };
            best = std::mem::take(&mut run.root);
            if best.is_empty() {
                best.push((legal[0].clone(), found.values, found.is_proven));
            }
            // `max_by` gives the last of equals.
            let so_far =
                best.iter().rev().max_by(|a, b| a.1[us.index()].total_cmp(&b.1[us.index()]));
            if let Some(move_idx) =
                so_far.and_then(|(m, ..)| legal.iter().position(|other| other == m))
            {
                run.meter.tell(move_idx);
            }
            depth_done = depth;
            if run.n_horizon == 0 {
                break;
            }
        }
        best.sort_by(|a, b| b.1[us.index()].total_cmp(&a.1[us.index()]));
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
        let nodes = run.meter.n_nodes;
        let joints = self.line(position, us, &chosen, depth_done);
        Report {
            best: chosen,
            us,
            candidates,
            value,
            is_proven,
            lines: vec![Line { joints, value }],
            iterations: depth_done.into(),
            nodes,
            playouts: 0,
            depth: depth_done,
            seconds: meter.seconds(),
        }
    }

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

struct Run<'r, 'b, P: Position, E> {
    memory: &'r mut Memory<P>,
    evaluator: &'r mut E,
    meter: &'r mut Meter<'b>,
    us: Role,
    most: f64,
    n_horizon: u64,
    root: Vec<(P::Move, Vec<f64>, bool)>,
}

/// A position whose moves are being gone through.
struct Here<'n, P: Position> {
    state: &'n P::State,
    choices: &'n Choices<P::Move>,
    chances: &'n [f64],
    child_depth: u32,
    ply: u32,
}

impl<P: Position, E: Evaluate<P>> Run<'_, '_, P, E> {
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
        let order = asking_order(position, self.us);
        let state = position.state().clone();
        let choices = Choices::at(position);
        let chances = chances(position);
        let here = Here {
            state: &state,
            choices: &choices,
            chances: &chances,
            child_depth: depth - 1,
            ply,
        };
        let mut joint = choices.first_joint();
        let mut found = self.choose(position, &here, &order, &mut joint)?;
        let n_players = order.iter().filter(|&&role| Some(role) != nature).count();
        // Who moves at once does not really see the others' moves.
        found.is_proven &= n_players < 2;
        self.memory.table.put(key, depth, found.clone());
        Ok(found)
    }

    fn choose(
        &mut self,
        position: &mut P,
        here: &Here<'_, P>,
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
            // Nothing is better, and of equals the first counts, so the rest is of no matter; but only if what came before
            // is known for sure to be worse.
            if is_best && all_proven {
                break;
            }
        }
        let best = best.expect("everybody has a move");
        Ok(Found { is_proven: all_proven, ..best })
    }
}
