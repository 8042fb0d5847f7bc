//! The open connections, and which of them gives way if there are too many.

use std::collections::BTreeMap;
use std::net::{IpAddr, Shutdown, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::Limits;

/// Maximum number of threads for each connection that is allowed. Closed connections have threads
/// until these notice it, which takes a while on a busy machine.
const THREADS_PER_CONNECTION: usize = 8;

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
    /// Number of threads of connections, also of closed ones whose threads have not noticed yet.
    n_threads: usize,
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
        // A flood of connections closes them faster than their threads can end.
        let at_most = connections + if is_expected { reserved } else { 0 };
        if open.n_threads >= THREADS_PER_CONNECTION * at_most {
            return None;
        }
        let n_own = open.by_number.values().filter(|entry| entry.peer == peer).count();
        if !is_expected && n_own >= connections_per_peer && !open.close_oldest(Some(peer)) {
            return None;
        }
        if open.by_number.len() >= at_most && !open.close_oldest(None) {
            return None;
        }
        let number = open.next;
        open.next += 1;
        open.n_threads += 1;
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

    /// Notes that the response has been sent. The connection does not count any more, but its
    /// thread does, which reads what the peer still sends.
    pub(super) fn has_answered(&self) {
        lock(&self.open).by_number.remove(&self.number);
    }
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        let mut open = lock(&self.open);
        open.by_number.remove(&self.number);
        open.n_threads -= 1;
    }
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, TcpListener};

    use super::*;

    /// Closed connections count until their threads end, so that a flood cannot make any number of
    /// threads.
    #[test]
    fn the_number_of_threads_is_limited() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let address = listener.local_addr().expect("it has an address");
        let limits = Limits { connections: 4, reserved: 1, ..Limits::default() };
        let connections = Connections::new(limits);
        let stream = TcpStream::connect(address).expect("it listens");
        let peer = IpAddr::V4(Ipv4Addr::LOCALHOST);
        let admit = |is_expected| connections.admit(&stream, peer, is_expected);
        let mut threads: Vec<OpenConnection> = (0..100).filter_map(|_| admit(false)).collect();
        assert_eq!(threads.len(), 32);
        threads.extend((0..100).filter_map(|_| admit(true)));
        assert_eq!(threads.len(), 40);
        threads.clear();
        assert!(admit(false).is_some());
    }

    /// Connections that were answered keep no others out, even if their threads are slow to end.
    #[test]
    fn answered_connections_do_not_count() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let address = listener.local_addr().expect("it has an address");
        let limits = Limits { connections: 4, connections_per_peer: 2, ..Limits::default() };
        let connections = Connections::new(limits);
        let stream = TcpStream::connect(address).expect("it listens");
        let admit = || connections.admit(&stream, IpAddr::V4(Ipv4Addr::LOCALHOST), false);
        let first: Vec<OpenConnection> = (0..2).filter_map(|_| admit()).collect();
        first.iter().for_each(OpenConnection::has_read);
        assert!(admit().is_none(), "both are being answered");
        first[0].has_answered();
        assert!(admit().is_some());
    }
}
