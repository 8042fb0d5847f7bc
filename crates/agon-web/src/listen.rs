//! A listener that accepts a limited number of connections at a time, and closes those that do not
//! send a request.

use std::future::Future as _;
use std::io;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::serve::Listener;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Sleep;

/// How long to wait after the system has refused a connection, for instance for lack of files.
const PAUSE: Duration = Duration::from_millis(200);

/// How long a new connection may take to send the header of its first request. Connections that
/// send nothing would otherwise use up the limit.
const FIRST_HEADER: Duration = Duration::from_secs(30);

/// The end of the header of a request.
const HEADER_END: &[u8] = b"\r\n\r\n";

/// Returns the address by which other machines reach this one, if `listening` stands for all
/// addresses and the system has a route to others. Nothing is sent.
pub(crate) fn reachable(listening: IpAddr) -> Option<IpAddr> {
    // Addresses that belong to nobody (RFC 5737, RFC 3849).
    let far: SocketAddr = match listening {
        IpAddr::V4(address) if address.is_unspecified() => ([198, 51, 100, 1], 9).into(),
        IpAddr::V6(address) if address.is_unspecified() => {
            ([0x2001, 0xdb8, 0, 0, 0, 0, 0, 1], 9).into()
        }
        IpAddr::V4(_) | IpAddr::V6(_) => return None,
    };
    let socket = UdpSocket::bind((listening, 0)).ok()?;
    socket.connect(far).ok()?;
    let own = socket.local_addr().ok()?.ip();
    (!own.is_unspecified()).then_some(own)
}

/// A listener that waits while too many connections are open.
pub(crate) struct LimitedListener {
    inner: TcpListener,
    permits: Arc<Semaphore>,
}

impl LimitedListener {
    pub(crate) fn new(inner: TcpListener, max_connections: usize) -> LimitedListener {
        LimitedListener { inner, permits: Arc::new(Semaphore::new(max_connections)) }
    }
}

impl Listener for LimitedListener {
    type Io = LimitedStream;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (LimitedStream, SocketAddr) {
        loop {
            let permit = Arc::clone(&self.permits).acquire_owned().await;
            let permit = permit.expect("the semaphore is never closed");
            match self.inner.accept().await {
                Ok((stream, address)) => {
                    // Events are small and must not wait for more.
                    let _ = stream.set_nodelay(true);
                    return (LimitedStream::new(stream, permit, FIRST_HEADER), address);
                }
                Err(_) => tokio::time::sleep(PAUSE).await,
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.inner.local_addr()
    }
}

/// A connection that counts against the limit while it is open.
pub(crate) struct LimitedStream {
    stream: TcpStream,
    /// The deadline of the first header; `None` once it is there.
    deadline: Option<Pin<Box<Sleep>>>,
    /// How many bytes of [`HEADER_END`] were the last ones to be read.
    n_matched: usize,
    _permit: OwnedSemaphorePermit,
}

impl LimitedStream {
    fn new(stream: TcpStream, permit: OwnedSemaphorePermit, patience: Duration) -> LimitedStream {
        let deadline = Some(Box::pin(tokio::time::sleep(patience)));
        LimitedStream { stream, deadline, n_matched: 0, _permit: permit }
    }

    /// Looks for the end of the first header.
    fn watch(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            if byte == HEADER_END[self.n_matched] {
                self.n_matched += 1;
            } else {
                self.n_matched = usize::from(byte == HEADER_END[0]);
            }
            if self.n_matched == HEADER_END.len() {
                self.deadline = None;
                return;
            }
        }
    }
}

impl AsyncRead for LimitedStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let n_before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        if self.deadline.is_some() && read.is_ready() {
            self.watch(&buffer.filled()[n_before..]);
        }
        match &mut self.deadline {
            Some(deadline) if read.is_pending() => {
                deadline.as_mut().poll(context).map(|()| Err(io::ErrorKind::TimedOut.into()))
            }
            Some(_) | None => read,
        }
    }
}

impl AsyncWrite for LimitedStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    /// Returns both ends of a connection whose first header is due soon.
    async fn connection() -> (LimitedStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
        let address = listener.local_addr().expect("it listens");
        let client = TcpStream::connect(address).await.expect("it accepts");
        let (stream, _) = listener.accept().await.expect("a client connects");
        let permits = Arc::new(Semaphore::new(1));
        let permit = permits.acquire_owned().await.expect("a permit is free");
        (LimitedStream::new(stream, permit, Duration::from_millis(80)), client)
    }

    #[tokio::test]
    async fn a_connection_without_a_header_is_closed() {
        let (mut server, mut client) = connection().await;
        client.write_all(b"GET / HTTP/1.1\r\nhost: x\r\n\rx").await.expect("it writes");
        let mut bytes = Vec::new();
        let error = server.read_to_end(&mut bytes).await.expect_err("the header never ends");
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }

    #[tokio::test]
    async fn a_connection_with_a_header_may_wait() {
        let (mut server, mut client) = connection().await;
        client.write_all(b"GET / HTTP/1.1\r\n").await.expect("it writes");
        client.write_all(b"\r\n").await.expect("it writes");
        let mut bytes = vec![0; 18];
        server.read_exact(&mut bytes).await.expect("the header is there");
        tokio::time::sleep(Duration::from_millis(160)).await;
        client.write_all(b"more").await.expect("it writes");
        let mut more = [0; 4];
        server.read_exact(&mut more).await.expect("the connection is open");
    }
}
