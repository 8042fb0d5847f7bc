//! Many threads, one tree: one of them keeps it, the others play out rounds for it.
//!
//! Where playouts take no time, half of all work is in the tree, and threads that take turns at it wait for each other, and for what the other
//! one has written last to come from its cache. So one thread alone goes down the tree and back up. Others find a round ready when they
//! come back with one. What time is left to the keeper it spends on a round of its own, a few steps at a time, so that nobody waits
//! for it.

use std::time::Instant;

use agon_game::Position;

use super::leisure::Leisure;
use super::options::MctsOptions;
use super::patience::Patience;
use super::relay::Relay;
use super::round::Round;
use super::run::{Pace, withdraw};
use super::worker::{Shared, Worker};

/// The keeper looks up from its own round after so many steps of its playouts: a sixth of what a round takes, or less.
const FEW_STEPS: u64 = 16;

/// What the keeper has in hand beside the tree.
struct Keeping<P: Position> {
    /// One ready for each of the others is enough: the more rounds are under way, the less is known where the next ones lead.
    n_helpers: usize,
    /// How far its own round has come.
    own: Own,
    leisure: Leisure,
    /// How long it took to gather the last round for others.
    gathered: f64,
    /// Rounds that are used up: for their memory.
    #[expect(
        clippy::vec_box,
        reason = "rounds change places with others all the time, and are large"
    )]
    spare: Vec<Box<Round<P>>>,
}

/// What is next for the keeper's own round. After each of these it sees what others need.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Own {
    /// There is none.
    None,
    Look,
    Start,
    Play,
    Settle,
}

impl<P: Position> Worker<P> {
    /// Plays out what the keeper of the tree has gathered, until it is over.
    pub(super) fn help(&mut self, relay: &Relay<P>, options: &MctsOptions) {
        let _presence = relay.presence();
        while let Some(mut round) = relay.next_ready() {
            std::mem::swap(&mut self.round, &mut round);
            let began = Instant::now();
            self.look_at_leaves(options);
            self.play_out_leaves(options);
            self.round.seconds = began.elapsed().as_secs_f64();
            std::mem::swap(&mut self.round, &mut round);
            relay.put_played(round);
        }
    }

    /// Keeps the tree until the budget is used up or all is proved.
    pub(super) fn keep(
        &mut self,
        shared: &mut Shared<'_, P>,
        relay: &Relay<P>,
        n_helpers: usize,
        options: &MctsOptions,
    ) {
        let _presence = relay.presence();
        let mut keeping = Keeping {
            n_helpers,
            own: Own::None,
            leisure: Leisure::default(),
            gathered: 0.0,
            spare: Vec::new(),
        };
        let mut pace = Pace::begin(shared);
        let mut patience = Patience::default();
        while !relay.is_broken() {
            pace.keep(shared);
            // What is under way when the last iteration has begun is waited for; when time is up or all is proved, it is not.
            let is_ending = shared.is_done();
            if is_ending && (shared.n_left() > 0 || shared.is_proven() || self.is_late()) {
                break;
            }
            let is_full = shared.tree.nodes.len() >= options.max_nodes;
            if shared.n_in_flight == 0
                && (is_ending || is_full && !self.makes_room(shared, options))
            {
                break;
            }
            let may_gather = !is_ending && shared.tree.nodes.len() < options.max_nodes;
            let has_time = keeping.leisure.is_left(n_helpers) || patience.is_gone();
            // Others have one in hand and one ready each.
            self.n_rounds = 2 * n_helpers as u32 + u32::from(has_time || keeping.own != Own::None);
            if may_gather && relay.is_waited_for() {
                self.supply(shared, relay, &mut keeping, options);
            }
            if let Some(played) = relay.take_played() {
                self.settle_played(shared, played, &mut keeping, options);
                patience = Patience::default();
                continue;
            }
            if may_gather {
                self.supply(shared, relay, &mut keeping, options);
            }
            if self.goes_on(shared, &mut keeping, options)
                || may_gather && has_time && self.gathers_own(shared, &mut keeping, options)
                || is_ending && self.takes_over(relay, &mut keeping)
            {
                patience = Patience::default();
            } else if shared.n_in_flight > 0 {
                patience.wait();
            }
        }
        self.end_keeping(shared, relay, &mut keeping, options);
    }

    /// Puts a round that another thread has played out into the tree.
    fn settle_played(
        &mut self,
        shared: &mut Shared<'_, P>,
        mut round: Box<Round<P>>,
        keeping: &mut Keeping<P>,
        options: &MctsOptions,
    ) {
        std::mem::swap(&mut self.round, &mut round);
        let began = Instant::now();
        self.settle(shared, options);
        keeping.leisure.note_served(began.elapsed().as_secs_f64() + keeping.gathered);
        keeping.leisure.note_played(self.round.seconds);
        self.suit_rounds(self.round.seconds, options);
        shared.n_in_flight -= 1;
        std::mem::swap(&mut self.round, &mut round);
        keeping.spare.push(round);
    }

    /// Gathers rounds for the others until they have enough.
    fn supply(
        &mut self,
        shared: &mut Shared<'_, P>,
        relay: &Relay<P>,
        keeping: &mut Keeping<P>,
        options: &MctsOptions,
    ) {
        while relay.n_ready() < keeping.n_helpers {
            let began = Instant::now();
            let mut round = keeping.spare.pop().unwrap_or_else(|| Box::new(Round::new()));
            std::mem::swap(&mut self.round, &mut round);
            self.gather(shared, options);
            std::mem::swap(&mut self.round, &mut round);
            if round.leaves.is_empty() {
                // All that is worth it is under way.
                keeping.spare.push(round);
                return;
            }
            shared.n_in_flight += 1;
            relay.put_ready(round);
            keeping.gathered = began.elapsed().as_secs_f64();
        }
    }

    /// Goes on with the keeper's own round, if it has one.
    fn goes_on(
        &mut self,
        shared: &mut Shared<'_, P>,
        keeping: &mut Keeping<P>,
        options: &MctsOptions,
    ) -> bool {
        keeping.own = match keeping.own {
            Own::None => return false,
            Own::Look => {
                self.look_at_leaves(options);
                Own::Start
            }
            Own::Start => {
                self.start_playouts(options);
                Own::Play
            }
            Own::Play if !self.play_on(FEW_STEPS) => Own::Play,
            Own::Play => {
                self.finish_playouts(options);
                Own::Settle
            }
            Own::Settle => {
                self.settle(shared, options);
                shared.n_in_flight -= 1;
                Own::None
            }
        };
        true
    }

    /// Gathers a round for the keeper itself, if there is anything to be gathered.
    fn gathers_own(
        &mut self,
        shared: &mut Shared<'_, P>,
        keeping: &mut Keeping<P>,
        options: &MctsOptions,
    ) -> bool {
        self.gather(shared, options);
        if self.round.leaves.is_empty() {
            return false;
        }
        shared.n_in_flight += 1;
        keeping.own = Own::Look;
        true
    }

    /// Goes on with a round that was meant for others.
    fn takes_over(&mut self, relay: &Relay<P>, keeping: &mut Keeping<P>) -> bool {
        let Some(mut ready) = relay.take_ready() else { return false };
        std::mem::swap(&mut self.round, &mut ready);
        keeping.spare.push(ready);
        keeping.own = Own::Look;
        true
    }

    /// Takes back what nobody will play out, and waits for what others have in hand.
    fn end_keeping(
        &mut self,
        shared: &mut Shared<'_, P>,
        relay: &Relay<P>,
        keeping: &mut Keeping<P>,
        options: &MctsOptions,
    ) {
        relay.end();
        match keeping.own {
            Own::None => {}
            Own::Look | Own::Start | Own::Play => withdraw(shared, &self.round),
            Own::Settle => {
                self.goes_on(shared, keeping, options);
            }
        }
        while let Some(ready) = relay.take_ready() {
            withdraw(shared, &ready);
        }
        let mut patience = Patience::default();
        while shared.n_in_flight > 0 && !relay.is_broken() {
            match relay.take_played() {
                Some(played) => self.settle_played(shared, played, keeping, options),
                None => patience.wait(),
            }
        }
    }
}
