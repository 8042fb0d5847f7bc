//! The open connections, and which of them gives way if there are too many.

use std::collections::BTreeMap;
use std::net::{IpAddr, Shutdown, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::Limits;

/// The open connections of a server.
pub(super) struct Connections {
    limits: Limits,
    open: Arc<Mutex<Open>>,
}

/// The open connections by number. Numbers rise, so the oldest connection comes first.
#[derive(Default)]
struct Open {
    next: u64,
    by_number: BTreeMap<u64, Entry>,
}

struct Entry {
    peer: IpAddr,
    /// The connection while its request is being read. Closing it ends the wait for the request.
    reading: Option<TcpStream>,
}

/// An open connection. It counts until it is dropped, even by a panic.
pub(super) struct OpenConnection {
    open: Arc<Mutex<Open>>,
    number: u64,
}

fn lock(open: &Mutex<Open>) -> MutexGuard<'_, Open> {
    open.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Connections {
    pub(super) fn new(limits: Limits) -> Connections {
        Connections { limits, open: Arc::default() }
    }

    /// Admits a connection, if need be in place of one that has not sent its request yet. An
    /// expected peer has no limit of its own and may use the reserved connections.
    pub(super) fn admit(
        &self,
        stream: &TcpStream,
        peer: IpAddr,
        is_expected: bool,
    ) -> Option<OpenConnection> {
        let Limits { connections, connections_per_peer, reserved, .. } = self.limits;
        let mut open = lock(&self.open);
        let n_own = open.by_number.values().filter(|entry| entry.peer == peer).count();
        if !is_expected && n_own >= connections_per_peer && !open.close_oldest(Some(peer)) {
            return None;
        }
        let at_most = connections + if is_expected { reserved } else { 0 };
        if open.by_number.len() >= at_most && !open.close_oldest(None) {
            return None;
        }
        let number = open.next;
        open.next += 1;
        // A connection that cannot be cloned cannot be closed early; it ends by its time limits.
        let reading = stream.try_clone().ok();
        open.by_number.insert(number, Entry { peer, reading });
        Some(OpenConnection { open: Arc::clone(&self.open), number })
    }
}

impl Open {
    /// Closes the oldest connection whose request is being read, of a peer or of all. Returns
    /// whether there was one.
    fn close_oldest(&mut self, of: Option<IpAddr>) -> bool {
        let is_idle =
            |entry: &Entry| entry.reading.is_some() && of.is_none_or(|peer| peer == entry.peer);
        let oldest = self.by_number.iter().find(|(_, entry)| is_idle(entry));
        let Some(number) = oldest.map(|(&number, _)| number) else { return false };
        if let Some(Entry { reading: Some(stream), .. }) = self.by_number.remove(&number) {
            let _ = stream.shutdown(Shutdown::Both);
        }
        true
    }
}

impl OpenConnection {
    /// Notes that the request has been read: from now on the connection is not closed in favour of
    /// another one.
    pub(super) fn has_read(&self) {
        if let Some(entry) = lock(&self.open).by_number.get_mut(&self.number) {
            entry.reading = None;
        }
    }
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        lock(&self.open).by_number.remove(&self.number);
    }
}
