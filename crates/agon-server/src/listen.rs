//! Sockets that are listened at: a thread for each connection, and not too many.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::http::{self, Progress, Reader, Refusal, Request, Sizes};

/// What peers may cost.
#[derive(Copy, Clone, Debug)]
pub struct Limits {
    /// How large a request may be.
    pub sizes: Sizes,
    /// How many connections there are at most; others are told to come again.
    pub connections: usize,
    /// How long a request may take to come in, all of it.
    pub reading: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { sizes: Sizes::default(), connections: 64, reading: Duration::from_secs(30) }
    }
}

/// What is sent back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// 200 if all is well.
    pub status: u16,
    /// The text.
    pub body: String,
}

/// Whoever answers requests.
pub trait Handler: Send + Sync + 'static {
    /// Answers a request whose first byte came at `heard_at`. May take its time: each request has a thread of its own.
    fn answer(&self, request: &Request, heard_at: Instant) -> Answer;
}

/// Listens at a port, or at the next one that is free, of ten.
///
/// # Errors
/// If none is free, or the address is not ours.
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

/// A server that runs until it is dropped.
pub struct Server {
    address: SocketAddr,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Starts to answer.
    ///
    /// # Errors
    /// If there is no thread for it.
    pub fn start(
        listener: TcpListener,
        limits: Limits,
        handler: Arc<dyn Handler>,
    ) -> std::io::Result<Server> {
        let address = listener.local_addr()?;
        let is_over = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&is_over);
        let thread = std::thread::Builder::new()
            .name("listener".to_owned())
            .spawn(move || listen(&listener, limits, &handler, &told))?;
        Ok(Server { address, is_over, thread: Some(thread) })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Waits until it ends, which is never unless something goes very wrong.
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
        // Wakes the listener, which looks whether it is over when somebody comes.
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

/// Gives back a connection's place when it ends, even by a panic.
struct Place(Arc<AtomicUsize>);

impl Drop for Place {
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
            // Out of file handles, perhaps: others may close some.
            std::thread::sleep(Duration::from_millis(10));
            continue;
        };
        let is_full = n_open.fetch_add(1, Ordering::Relaxed) >= limits.connections;
        let place = Place(Arc::clone(&n_open));
        if is_full {
            refuse(stream);
            continue;
        }
        let handler = Arc::clone(handler);
        // Without a thread the connection is dropped, which says enough.
        let _ = std::thread::Builder::new().name("connection".to_owned()).spawn(move || {
            let _place = place;
            converse(stream, &limits, handler.as_ref());
        });
    }
}

/// Says in a moment that there is no place, and never waits for the peer to hear it.
fn refuse(mut stream: TcpStream) {
    let _ = stream.set_nonblocking(true);
    let _ = stream.write(&http::answer(503, "busy"));
}

fn converse(mut stream: TcpStream, limits: &Limits, handler: &dyn Handler) {
    let _ = stream.set_nodelay(true);
    let answer = match read(&mut stream, limits) {
        Ok((request, heard_at)) => handler.answer(&request, heard_at),
        Err(Refusal::Silence) => return,
        Err(refusal) => Answer { status: refusal.status(), body: "what".to_owned() },
    };
    let _ = stream.set_write_timeout(Some(Duration::from_secs(10)));
    if stream.write_all(&http::answer(answer.status, &answer.body)).is_err() {
        return;
    }
    let _ = stream.shutdown(Shutdown::Write);
    // What the peer still sends is read a while: a connection closed over unread bytes is reset, and the answer lost.
    let _ = stream.set_read_timeout(Some(Duration::from_millis(200)));
    let until = Instant::now() + Duration::from_secs(1);
    let mut rest = [0; 4096];
    while Instant::now() < until && matches!(stream.read(&mut rest), Ok(n) if n > 0) {}
}

/// How long is waited for a few more bytes where a request may be whole.
const A_MOMENT: Duration = Duration::from_millis(50);

fn read(stream: &mut TcpStream, limits: &Limits) -> Result<(Request, Instant), Refusal> {
    let until = Instant::now() + limits.reading;
    let mut reader = Reader::new(limits.sizes);
    let mut heard_at = None;
    let mut buffer = vec![0; 64 << 10];
    let mut perhaps: Option<Request> = None;
    loop {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(Refusal::Slow);
        }
        let patience = if perhaps.is_some() { A_MOMENT.min(left) } else { left };
        stream.set_read_timeout(Some(patience)).map_err(|_| Refusal::Silence)?;
        let is_ended = match stream.read(&mut buffer) {
            Ok(0) => true,
            Ok(n) => {
                heard_at.get_or_insert_with(Instant::now);
                reader.feed(&buffer[..n])?;
                false
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                match perhaps.take() {
                    Some(request) => return Ok((request, heard_at.unwrap_or_else(Instant::now))),
                    None => return Err(Refusal::Slow),
                }
            }
            Err(_) => return Err(Refusal::Silence),
        };
        perhaps = None;
        match reader.progress(is_ended)? {
            Progress::More => {}
            Progress::Continue => {
                let _ = stream.set_write_timeout(Some(A_MOMENT));
                let _ = stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n");
            }
            Progress::Perhaps(request) => perhaps = Some(request),
            Progress::Whole(request) => {
                return Ok((request, heard_at.unwrap_or_else(Instant::now)));
            }
        }
    }
}
