//! Moves in the tree judged before they are well known: not as soon as that is of use, but many positions at once.

use agon_game::Position;

use super::heuristic::{Judge, Judgements};
use super::lockstep::Lockstep;
use super::node::{Kind, NO_ARMS, NodeId, Prospect, UNJUDGED, UNKNOWN};
use super::options::MctsOptions;
use super::tree::Tree;

impl<P: Position> Tree<P> {
    /// Puts a position down if its moves are to be judged. Whether it is time to judge all that were put down: there are many, or
    /// this one comes up again, so that it will be of use.
    pub(super) fn note_due(&mut self, id: NodeId, options: &MctsOptions) -> bool {
        if !self.is_due(id) {
            return false;
        }
        if self.due.contains(&id) {
            return true;
        }
        self.due.push(id);
        self.due.len() >= options.heuristic.abreast as usize
    }

    /// Whether the moves at a position are to be judged: once all of them have been tried (003, 4.4.2), and never again.
    fn is_due(&self, id: NodeId) -> bool {
        let node = self.node(id);
        if node.first_arm == NO_ARMS
            || node.kind == Kind::Ended
            || node.visits < u64::from(node.n_arms)
        {
            return false;
        }
        let arms = self.arms_of(id);
        self.priors[arms.start] == UNJUDGED
            && self.states[id.index()].is_some()
            && self.arms[arms].iter().all(|arm| arm.visits > 0 || arm.prospect != Prospect::Open)
    }

    /// Has the moves judged at all positions that were put down.
    pub(super) fn judge_due(
        &mut self,
        lockstep: &mut Lockstep<P>,
        like: &P,
        judge: &mut Judge<P>,
        options: &MctsOptions,
    ) {
        let due = std::mem::take(&mut self.due);
        for (seat, id) in due.iter().enumerate() {
            let arms = self.arms_of(*id);
            self.priors[arms].fill(UNKNOWN);
            if let Some(state) = &self.states[id.index()] {
                lockstep.seat(seat, like).go_to(state);
            }
        }
        let mut said = Judgements::default();
        let (mut seats, mut groups) = (Vec::new(), Vec::new());
        for &role in &self.facts.players.clone() {
            seats.clear();
            groups.clear();
            for (seat, &id) in due.iter().enumerate() {
                let own = self.groups_of(id).map(|at| self.groups[at]);
                for group in own.filter(|group| group.role == role && group.n > 1) {
                    let moves = &self.moves_of(id)[group.first as usize..][..group.n as usize];
                    debug_assert_eq!(
                        moves,
                        lockstep.positions()[seat].legal_moves(role),
                        "moves have an order"
                    );
                    seats.push(seat);
                    groups.push((id, group));
                }
            }
            if seats.is_empty() {
                continue;
            }
            judge.values_of_many(lockstep.positions(), &seats, role, &mut said);
            let part = options.heuristic.scale / 100.0 * self.facts.range();
            for (at, (id, group)) in groups.iter().enumerate() {
                let first = self.arms_of(*id).start + group.first as usize;
                let priors = &mut self.priors[first..first + group.n as usize];
                for (prior, value) in priors.iter_mut().zip(said.of(at)) {
                    *prior = (self.facts.min + part * value) as f32;
                }
            }
        }
        self.due = due;
        self.due.clear();
    }
}
