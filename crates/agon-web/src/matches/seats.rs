//! Makes the players of a match that do not run in this process.

use std::collections::BTreeMap;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use agon::PlayerSpec;
use agon::match_setup::{OutsidePlayers, OutsideSeat, SeatError};
use agon_match::{Player, Timing};
use agon_players::PlayerSource;
use agon_server::WebPlayer;

use super::person::{Person, Word};
use super::{Host, Hosted};
use crate::lock;

/// Time beyond the clock for which the server waits for an answer from the network.
const GRACE: Duration = Duration::from_secs(1);

/// Makes people, programs and players over HTTP for one run of a match.
pub(crate) struct Seats<'a> {
    hosted: Weak<Hosted>,
    host: &'a Host,
    epoch: u64,
    people: Mutex<BTreeMap<usize, Sender<Word>>>,
}

impl Seats<'_> {
    pub(crate) fn new(hosted: Weak<Hosted>, host: &Host, epoch: u64) -> Seats<'_> {
        Seats { hosted, host, epoch, people: Mutex::new(BTreeMap::new()) }
    }

    /// Returns the ways to send people's moves, by role.
    pub(crate) fn into_people(self) -> BTreeMap<usize, Sender<Word>> {
        self.people.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OutsidePlayers for Seats<'_> {
    fn seat(&self, seat: OutsideSeat<'_>) -> Result<Box<dyn Player>, SeatError> {
        match &seat.spec.kind {
            PlayerSource::Human => {
                let (sender, inbox) = channel();
                let role = seat.invitation.role.index();
                lock(&self.people).insert(role, sender);
                let (hosted, epoch, view) = (Weak::clone(&self.hosted), self.epoch, seat.view);
                Ok(Box::new(Person { hosted, epoch, role, view, inbox }))
            }
            PlayerSource::Http(address) => {
                Ok(Box::new(WebPlayer::new(address.clone(), seat.invitation)))
            }
            PlayerSource::Command(words) => {
                let refused = "the server was started without --allow-commands";
                let start: &Arc<_> = self
                    .host
                    .start_program
                    .as_ref()
                    .ok_or_else(|| SeatError(refused.to_owned()))?;
                start(words, seat.invitation, seat.view).map_err(SeatError)
            }
            PlayerSource::BuiltIn(..) => {
                Err(SeatError("a built-in player is made by the library".to_owned()))
            }
        }
    }

    fn timing(&self, spec: &PlayerSpec) -> Timing {
        match &spec.kind {
            PlayerSource::Http(_) => Timing::Grace(GRACE),
            PlayerSource::Human | PlayerSource::Command(_) | PlayerSource::BuiltIn(..) => {
                Timing::Grace(Duration::ZERO)
            }
        }
    }
}
