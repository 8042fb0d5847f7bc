//! An HTTP server with a thread for each connection and limits on their number.
//!
//! A peer that opens connections without sending requests cannot keep others out. Such connections
//! end after a few seconds, each peer has a limited number of connections, and if there are too
//! many in all, the oldest one that has not sent a whole request gives way to a new one.

mod connections;

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use connections::{Connections, OpenConnection};

use crate::http::{self, HttpRequest, Progress, ReadError, Reader, Sender, Sizes};

/// Limits on the resources that peers may use.
#[derive(Copy, Clone, Debug)]
pub struct Limits {
    /// Maximum size of a request.
    pub sizes: Sizes,
    /// Maximum number of connections. Others get the status 503.
    pub connections: usize,
    /// Maximum number of connections of one peer, except of the peer of the running match.
    pub connections_per_peer: usize,
    /// Number of further connections that only the peer of the running match may use.
    pub reserved: usize,
    /// Maximum time without a byte of a request.
    pub idle: Duration,
    /// Maximum time in which the head of a request must arrive.
    pub head: Duration,
    /// Maximum time in which a whole request must arrive.
    pub reading: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            sizes: Sizes::default(),
            connections: 64,
            connections_per_peer: 32,
            reserved: 4,
            idle: Duration::from_secs(3),
            head: Duration::from_secs(5),
            reading: Duration::from_secs(30),
        }
    }
}

/// A response to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response {
    /// The HTTP status; 200 for success.
    pub status: u16,
    /// The body.
    pub body: String,
}

/// Answers requests.
pub trait Handler: Send + Sync + 'static {
    /// Answers a request whose first byte arrived at `received_at`. It may block, because each
    /// connection has its own thread.
    fn respond(&self, request: &HttpRequest, received_at: Instant) -> Response;

    /// Answers a request of a peer. Override it if the answer depends on the peer.
    fn respond_to(&self, request: &HttpRequest, received_at: Instant, peer: IpAddr) -> Response {
        let _ = peer;
        self.respond(request, received_at)
    }

    /// Returns whether requests of this peer are expected, so that it may use the reserved
    /// connections. Must not block.
    fn is_expected(&self, peer: IpAddr) -> bool {
        let _ = peer;
        false
    }

    /// Returns the origin of web pages that may send requests; `*` means all. By default, requests
    /// of web pages are refused, because a browser sends them for any page that a user visits.
    fn allowed_origin(&self) -> Option<&str> {
        None
    }
}

/// Listens at a port, or at the first free one of the nine ports that follow.
///
/// # Errors
/// If none of them is free, or the address is not one of this machine.
pub fn bind(address: IpAddr, port: u16) -> std::io::Result<TcpListener> {
    let mut last = None;
    for next in (port..=port.saturating_add(9)).take(if port == 0 { 1 } else { 10 }) {
        match TcpListener::bind(SocketAddr::new(address, next)) {
            Ok(listener) => return Ok(listener),
            Err(error) if error.kind() == ErrorKind::AddrInUse => last = Some(error),
            Err(error) => return Err(error),
        }
    }
    Err(last.unwrap_or_else(|| ErrorKind::AddrInUse.into()))
}

/// An HTTP server that runs until it is dropped.
pub struct Server {
    address: SocketAddr,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Starts to answer requests.
    ///
    /// # Errors
    /// If the system cannot start a thread.
    pub fn start(
        listener: TcpListener,
        limits: Limits,
        handler: Arc<dyn Handler>,
    ) -> std::io::Result<Server> {
        let address = listener.local_addr()?;
        let is_over = Arc::new(AtomicBool::new(false));
        let listener_is_over = Arc::clone(&is_over);
        let thread = std::thread::Builder::new()
            .name("listener".to_owned())
            .spawn(move || listen(&listener, limits, &handler, &listener_is_over))?;
        Ok(Server { address, is_over, thread: Some(thread) })
    }

    /// Returns the address at which the server listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Waits until the server ends. It ends only if its thread panics.
    pub fn wait(mut self) {
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let Some(thread) = self.thread.take() else { return };
        self.is_over.store(true, Ordering::Relaxed);
        // The connection wakes the listener, which then sees that the server is over.
        let mut address = self.address;
        if address.ip().is_unspecified() {
            address.set_ip(if address.is_ipv4() {
                [127, 0, 0, 1].into()
            } else {
                IpAddr::V6(std::net::Ipv6Addr::LOCALHOST)
            });
        }
        if TcpStream::connect_timeout(&address, Duration::from_secs(1)).is_ok() {
            let _ = thread.join();
        }
    }
}

fn listen(
    listener: &TcpListener,
    limits: Limits,
    handler: &Arc<dyn Handler>,
    is_over: &AtomicBool,
) {
    let connections = Connections::new(limits);
    for stream in listener.incoming() {
        if is_over.load(Ordering::Relaxed) {
            return;
        }
        let Ok(stream) = stream else {
            // The process may be out of file handles until other connections close.
            std::thread::sleep(Duration::from_millis(10));
            continue;
        };
        let Ok(peer) = stream.peer_addr() else { continue };
        let peer = peer.ip().to_canonical();
        let Some(connection) = connections.admit(&stream, peer, handler.is_expected(peer)) else {
            reject(stream);
            continue;
        };
        let handler = Arc::clone(handler);
        // If no thread can be started, the connection is dropped.
        let _ = std::thread::Builder::new().name("connection".to_owned()).spawn(move || {
            serve(stream, &limits, handler.as_ref(), peer, &connection);
        });
    }
}

/// Sends the status 503 without waiting for the peer.
fn reject(mut stream: TcpStream) {
    let _ = stream.set_nonblocking(true);
    let _ = stream.write(&http::response(503, "busy"));
    // Bytes that are left unread would reset the connection, and the peer might lose the answer.
    let _ = stream.shutdown(std::net::Shutdown::Write);
    let mut unread = [0; 1 << 14];
    while matches!(std::io::Read::read(&mut stream, &mut unread), Ok(1..)) {}
}

/// Reads one request and sends the response.
fn serve(
    mut stream: TcpStream,
    limits: &Limits,
    handler: &dyn Handler,
    peer: IpAddr,
    connection: &OpenConnection,
) {
    let _ = stream.set_nodelay(true);
    let allowed = handler.allowed_origin();
    let response = match read(&mut stream, limits, peer) {
        Ok((_, _, sender)) if !is_allowed(&sender, allowed) => {
            Response { status: 403, body: "requests of web pages are not accepted".to_owned() }
        }
        Ok((request, received_at, _)) => {
            connection.has_read();
            handler.respond_to(&request, received_at, peer)
        }
        Err(ReadError::Empty) => return,
        Err(error) => Response { status: error.status(), body: "what".to_owned() },
    };
    connection.has_read();
    let _ = stream.set_write_timeout(Some(Duration::from_secs(10)));
    let bytes = http::response_for_origin(response.status, &response.body, allowed);
    if stream.write_all(&bytes).is_err() {
        return;
    }
    let _ = stream.shutdown(Shutdown::Write);
    connection.has_answered();
    // Read the rest for a while: a connection that is closed with unread bytes is reset, and the
    // response is lost.
    let _ = stream.set_read_timeout(Some(Duration::from_millis(200)));
    let until = Instant::now() + Duration::from_secs(1);
    let mut rest = [0; 4096];
    while Instant::now() < until && matches!(stream.read(&mut rest), Ok(n) if n > 0) {}
}

/// Returns whether a request of this sender may be answered.
fn is_allowed(sender: &Sender, allowed: Option<&str>) -> bool {
    match sender {
        Sender::Program => true,
        Sender::Page(origin) => allowed.is_some_and(|allowed| allowed == "*" || allowed == origin),
        Sender::UnnamedPage => allowed == Some("*"),
    }
}

/// How long to wait for more bytes of a request that may be complete.
const LAST_BYTES: Duration = Duration::from_millis(50);

/// A request, the time of its first byte, and what has sent it.
type ReadRequest = (HttpRequest, Instant, Sender);

/// Reads a request.
fn read(stream: &mut TcpStream, limits: &Limits, peer: IpAddr) -> Result<ReadRequest, ReadError> {
    let began = Instant::now();
    let mut reader = Reader::new(limits.sizes);
    let mut received_at = None;
    let mut buffer = vec![0; 64 << 10];
    let mut perhaps_complete: Option<HttpRequest> = None;
    let found = |reader: &Reader, request: HttpRequest, received_at: Option<Instant>| {
        let sender = reader.sender(peer.is_loopback());
        (request, received_at.unwrap_or_else(Instant::now), sender)
    };
    loop {
        let until = began + if reader.has_head() { limits.reading } else { limits.head };
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(ReadError::Timeout);
        }
        let patience = if perhaps_complete.is_some() { LAST_BYTES } else { limits.idle };
        let timeout = patience.min(left);
        stream.set_read_timeout(Some(timeout)).map_err(|_| ReadError::Empty)?;
        match stream.read(&mut buffer) {
            Ok(0) => return Ok(found(&reader, reader.finish()?, received_at)),
            Ok(n) => {
                received_at.get_or_insert_with(Instant::now);
                reader.feed(&buffer[..n])?;
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                let request = perhaps_complete.take().ok_or(ReadError::Timeout)?;
                return Ok(found(&reader, request, received_at));
            }
            Err(_) => return Err(ReadError::Empty),
        }
        perhaps_complete = None;
        match reader.progress() {
            Progress::Incomplete => {}
            Progress::Continue => {
                let _ = stream.set_write_timeout(Some(LAST_BYTES));
                let _ = stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n");
            }
            Progress::PerhapsComplete(request) => perhaps_complete = Some(request),
            Progress::Complete(request) => {
                return Ok(found(&reader, request, received_at));
            }
        }
    }
}
