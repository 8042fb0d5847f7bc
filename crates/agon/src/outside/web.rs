//! A player elsewhere that speaks the GGP protocol over HTTP.
//!
//! Plain sockets, not a client library: the deadline must hold for the whole answer however it trickles, the request is to be
//! byte for byte what ggp-base sends, and answers come in forms that libraries refuse.

use std::io::{Read as _, Write as _};
use std::net::{TcpStream, ToSocketAddrs as _};
use std::time::{Duration, Instant};

use agon_match::{Address, Choice, Lapse, Message, News, Player};
use agon_search::Budget;

use super::Invitation;

/// Longer answers are not read to their end: no move is as long.
const MAX_ANSWER: usize = 1 << 20;

/// How long is tried to reach a player, and to tell it that the match is over.
const CONNECT: Duration = Duration::from_secs(5);
const GOODBYE: Duration = Duration::from_secs(2);

/// Where the user has set no limit there is one all the same.
const LONGEST: Duration = Duration::from_secs(24 * 3600);

/// A player elsewhere.
pub(crate) struct WebPlayer {
    address: Address,
    invitation: Invitation,
    last: Option<News>,
}

impl WebPlayer {
    pub(crate) fn new(address: Address, invitation: Invitation) -> WebPlayer {
        WebPlayer { address, invitation, last: None }
    }

    /// Sends a message and waits for the answer.
    fn post(&self, message: &Message<'_>, deadline: Instant) -> Result<String, Lapse> {
        let body = message.to_string();
        let Address { host, port, path } = &self.address;
        let request = format!(
            "POST {path} HTTP/1.0\r\nAccept: text/delim\r\nHost: {host}\r\nSender: GAMESERVER\r\nReceiver: {}\r\n\
             Content-Type: text/acl\r\nContent-Length: {}\r\n\r\n{body}",
            self.invitation.role_name(),
            body.len(),
        );
        let unreachable = |error: std::io::Error| match error.kind() {
            std::io::ErrorKind::TimedOut | std::io::ErrorKind::WouldBlock => Lapse::Late,
            _ => Lapse::Unreachable(format!("http://{host}:{port}{path}: {error}")),
        };
        let mut stream = connect(host, *port, deadline).map_err(unreachable)?;
        stream.set_write_timeout(Some(left(deadline)?)).map_err(unreachable)?;
        stream.write_all(request.as_bytes()).map_err(unreachable)?;
        let answer = read_answer(&mut stream, deadline, unreachable)?;
        body_of(&answer).map_err(Lapse::Broken)
    }
}

/// What is left until a deadline; never zero, which would mean for ever to a socket.
fn left(deadline: Instant) -> Result<Duration, Lapse> {
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() { Err(Lapse::Late) } else { Ok(left) }
}

fn connect(host: &str, port: u16, deadline: Instant) -> std::io::Result<TcpStream> {
    let mut last = std::io::Error::new(std::io::ErrorKind::NotFound, "the host has no address");
    for address in (host, port).to_socket_addrs()? {
        let left = deadline.saturating_duration_since(Instant::now()).min(CONNECT);
        if left.is_zero() {
            return Err(std::io::ErrorKind::TimedOut.into());
        }
        match TcpStream::connect_timeout(&address, left) {
            Ok(stream) => return Ok(stream),
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// Reads until the answer is whole or the connection ends.
fn read_answer(
    stream: &mut TcpStream,
    deadline: Instant,
    unreachable: impl Fn(std::io::Error) -> Lapse,
) -> Result<Vec<u8>, Lapse> {
    let mut answer = Vec::new();
    let mut buffer = [0_u8; 4096];
    loop {
        stream.set_read_timeout(Some(left(deadline)?)).map_err(&unreachable)?;
        match stream.read(&mut buffer) {
            Ok(0) => return Ok(answer),
            Ok(n) => answer.extend_from_slice(&buffer[..n]),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            // Some players reset the connection once they have answered.
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset && is_whole(&answer) => {
                return Ok(answer);
            }
            Err(error) => return Err(unreachable(error)),
        }
        if is_whole(&answer) {
            return Ok(answer);
        }
        if answer.len() > MAX_ANSWER {
            return Err(Lapse::Broken(format!("the answer has more than {MAX_ANSWER} bytes")));
        }
    }
}

/// Where the head ends, and how long the body is said to be.
fn head(answer: &[u8]) -> Option<(usize, Option<usize>)> {
    let blank = |mark: &[u8]| answer.windows(mark.len()).position(|w| w == mark).map(|at| at + mark.len());
    let end = blank(b"\r\n\r\n").into_iter().chain(blank(b"\n\n")).min()?;
    let head = String::from_utf8_lossy(&answer[..end]).to_ascii_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse().ok());
    Some((end, length))
}

fn is_whole(answer: &[u8]) -> bool {
    matches!(head(answer), Some((end, Some(length))) if answer.len() - end >= length)
}

/// The body of an answer that says all is well.
fn body_of(answer: &[u8]) -> Result<String, String> {
    let Some((end, length)) = head(answer) else { return Err("the answer is not HTTP".to_owned()) };
    let status = String::from_utf8_lossy(&answer[..end]).lines().next().unwrap_or_default().to_owned();
    let code = status.split_whitespace().nth(1).unwrap_or_default();
    if !status.starts_with("HTTP/") || !code.starts_with('2') {
        let shown: String = status.chars().take(80).collect();
        return Err(format!("it answers `{shown}`"));
    }
    let end_of_body = length.map_or(answer.len(), |length| end.saturating_add(length).min(answer.len()));
    Ok(String::from_utf8_lossy(&answer[end..end_of_body]).into_owned())
}

fn deadline(budget: &Budget) -> Instant {
    budget.deadline.unwrap_or_else(|| Instant::now() + LONGEST)
}

/// The protocol knows whole seconds.
fn seconds(clock: f64) -> u64 {
    clock.ceil().max(1.0) as u64
}

impl Player for WebPlayer {
    fn prepare(&mut self, budget: &Budget) -> Result<(), Lapse> {
        let invitation = &self.invitation;
        let message = Message::Start {
            id: &invitation.id,
            role: invitation.role_name(),
            rules: &invitation.rules,
            start_clock: seconds(invitation.start_clock),
            play_clock: seconds(invitation.play_clock),
        };
        self.post(&message, deadline(budget)).map(|_| ())
    }

    fn choose(&mut self, budget: &Budget) -> Result<Choice, Lapse> {
        let hidden = self.invitation.shape.hidden;
        let message = Message::Play { id: &self.invitation.id, news: self.last.as_ref(), hidden };
        let answer = self.post(&message, deadline(budget))?;
        // What is no term at all is passed on, so that the referee finds it illegal and says so.
        Ok(Choice { text: Message::answer(&answer).unwrap_or_else(|| "null".to_owned()), thought: None })
    }

    fn learn(&mut self, news: &News) -> Result<(), Lapse> {
        self.last = Some(news.clone());
        Ok(())
    }

    fn finish(&mut self, news: Option<&News>) {
        let hidden = self.invitation.shape.hidden;
        let message = Message::Stop { id: &self.invitation.id, news, hidden };
        // Whether it hears that does not matter any more.
        let _ = self.post(&message, Instant::now() + GOODBYE);
    }
}
