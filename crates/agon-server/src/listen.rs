//! An HTTP server with a thread for each connection and a limit on their number.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::http::{self, HttpRequest, Progress, ReadError, Reader, Sizes};

/// Limits on the resources that peers may use.
#[derive(Copy, Clone, Debug)]
pub struct Limits {
    /// Maximum size of a request.
    pub sizes: Sizes,
    /// Maximum number of connections. Others get the status 503.
    pub connections: usize,
    /// Maximum time in which a whole request must arrive.
    pub reading: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { sizes: Sizes::default(), connections: 64, reading: Duration::from_secs(30) }
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

/// Counts an open connection until it is dropped, even by a panic.
struct OpenConnection(Arc<AtomicUsize>);

impl Drop for OpenConnection {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

fn listen(
    listener: &TcpListener,
    limits: Limits,
    handler: &Arc<dyn Handler>,
    is_over: &AtomicBool,
) {
    let n_open = Arc::new(AtomicUsize::new(0));
    for stream in listener.incoming() {
        if is_over.load(Ordering::Relaxed) {
            return;
        }
        let Ok(stream) = stream else {
            // The process may be out of file handles until other connections close.
            std::thread::sleep(Duration::from_millis(10));
            continue;
        };
        let is_full = n_open.fetch_add(1, Ordering::Relaxed) >= limits.connections;
        let connection = OpenConnection(Arc::clone(&n_open));
        if is_full {
            reject(stream);
            continue;
        }
        let handler = Arc::clone(handler);
        // If no thread can be started, the connection is dropped.
        let _ = std::thread::Builder::new().name("connection".to_owned()).spawn(move || {
            let _connection = connection;
            serve(stream, &limits, handler.as_ref());
        });
    }
}

/// Sends the status 503 without waiting for the peer.
fn reject(mut stream: TcpStream) {
    let _ = stream.set_nonblocking(true);
    let _ = stream.write(&http::response(503, "busy"));
}

/// Reads one request and sends the response.
fn serve(mut stream: TcpStream, limits: &Limits, handler: &dyn Handler) {
    let _ = stream.set_nodelay(true);
    let response = match read(&mut stream, limits) {
        Ok((request, received_at)) => handler.respond(&request, received_at),
        Err(ReadError::Empty) => return,
        Err(error) => Response { status: error.status(), body: "what".to_owned() },
    };
    let _ = stream.set_write_timeout(Some(Duration::from_secs(10)));
    if stream.write_all(&http::response(response.status, &response.body)).is_err() {
        return;
    }
    let _ = stream.shutdown(Shutdown::Write);
    // Read the rest for a while: a connection that is closed with unread bytes is reset, and the
    // response is lost.
    let _ = stream.set_read_timeout(Some(Duration::from_millis(200)));
    let until = Instant::now() + Duration::from_secs(1);
    let mut rest = [0; 4096];
    while Instant::now() < until && matches!(stream.read(&mut rest), Ok(n) if n > 0) {}
}

/// How long to wait for more bytes of a request that may be complete.
const LAST_BYTES: Duration = Duration::from_millis(50);

/// Reads a request. Returns it with the time of its first byte.
fn read(stream: &mut TcpStream, limits: &Limits) -> Result<(HttpRequest, Instant), ReadError> {
    let until = Instant::now() + limits.reading;
    let mut reader = Reader::new(limits.sizes);
    let mut received_at = None;
    let mut buffer = vec![0; 64 << 10];
    let mut perhaps_complete: Option<HttpRequest> = None;
    loop {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(ReadError::Timeout);
        }
        let timeout = if perhaps_complete.is_some() { LAST_BYTES.min(left) } else { left };
        stream.set_read_timeout(Some(timeout)).map_err(|_| ReadError::Empty)?;
        match stream.read(&mut buffer) {
            Ok(0) => return Ok((reader.finish()?, received_at.unwrap_or_else(Instant::now))),
            Ok(n) => {
                received_at.get_or_insert_with(Instant::now);
                reader.feed(&buffer[..n])?;
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                let request = perhaps_complete.take().ok_or(ReadError::Timeout)?;
                return Ok((request, received_at.unwrap_or_else(Instant::now)));
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
                return Ok((request, received_at.unwrap_or_else(Instant::now)));
            }
        }
    }
}
