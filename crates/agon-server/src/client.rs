//! A player over the network that speaks the GGP protocol over HTTP.
//!
//! Plain sockets are used instead of a client library. The deadline must hold for the whole answer
//! even if it arrives byte by byte, the request must equal that of ggp-base byte for byte, and some
//! players send answers that libraries reject.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{TcpStream, ToSocketAddrs as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use agon_game::{Budget, Observation};
use agon_ggp::{ALL_MOVES_VISIBLE, Address, Dialect, Message, Scrambler};
use agon_match::{Choice, Invitation, Player, PlayerError};

use crate::http::AnswerReader;

/// Maximum time to connect to a player.
const CONNECT: Duration = Duration::from_secs(5);

/// Maximum time to tell a player that the match is over.
const FINISH: Duration = Duration::from_secs(2);

/// How often the stop flag is checked while an answer is awaited.
const STOP_CHECK: Duration = Duration::from_millis(100);

/// The stop flag of messages whose answers are always awaited.
static NEVER: AtomicBool = AtomicBool::new(false);

/// Maximum time for an answer where the budget has no deadline.
const MAX_WAIT: Duration = Duration::from_secs(24 * 3600);

/// A player over the network, as the referee calls it.
pub struct WebPlayer {
    address: Address,
    invitation: Invitation,
    dialect: Dialect,
    scrambler: Option<Arc<Scrambler>>,
    last: Option<Observation>,
    /// Time left in this match for connecting that does not count as the player's time.
    bonus: Duration,
}

impl WebPlayer {
    /// Returns the player at an address, with the [`Dialect`] that suits the game.
    pub fn new(address: Address, invitation: Invitation) -> WebPlayer {
        let dialect = if invitation.shape.hidden { Dialect::Turns } else { Dialect::Moves };
        WebPlayer {
            address,
            invitation,
            dialect,
            scrambler: None,
            last: None,
            bonus: Duration::ZERO,
        }
    }

    /// Sets the dialect. In a game of perfect information the percepts are the moves of all roles.
    /// [`Dialect::Moves`] is ignored in a game with hidden information.
    #[must_use]
    pub fn with_dialect(mut self, dialect: Dialect) -> WebPlayer {
        // Joint moves would reveal hidden information.
        if dialect != Dialect::Moves || !self.invitation.shape.hidden {
            self.dialect = dialect;
        }
        self
    }

    /// Scrambles the names in all messages.
    #[must_use]
    pub fn with_scrambler(mut self, scrambler: Arc<Scrambler>) -> WebPlayer {
        self.scrambler = Some(scrambler);
        self
    }

    /// Sets how much time for connecting does not count as the player's time, in the whole match.
    #[must_use]
    pub fn with_connect_bonus(mut self, bonus: Duration) -> WebPlayer {
        self.bonus = bonus;
        self
    }

    /// Returns a text in the words that the player knows.
    fn scramble(&self, text: &str) -> String {
        self.scrambler
            .as_ref()
            .map_or_else(|| text.to_owned(), |scrambler| scrambler.scramble(text))
    }

    /// Returns an observation in the dialect and the words of the player.
    fn translate(&self, observation: &Observation) -> Observation {
        let is_open = !self.invitation.shape.hidden;
        let seen: Vec<String> = match self.dialect {
            Dialect::Percepts | Dialect::Turns if is_open => {
                let names = self.invitation.shape.role_names.iter();
                names
                    .zip(&observation.seen)
                    .map(|(name, made)| format!("(did {name} {made})"))
                    .collect()
            }
            Dialect::Moves | Dialect::Percepts | Dialect::Turns => observation.seen.clone(),
        };
        Observation {
            step: observation.step,
            own: self.scramble(&observation.own),
            seen: seen.iter().map(|term| self.scramble(term)).collect(),
        }
    }

    /// Returns the rules in the dialect and the words of the player.
    fn rules(&self) -> String {
        let rules = &self.invitation.rules;
        if self.dialect != Dialect::Moves && !self.invitation.shape.hidden {
            self.scramble(&format!("{rules} {ALL_MOVES_VISIBLE}"))
        } else {
            self.scramble(rules)
        }
    }

    /// Asks for the name and the status of the player.
    ///
    /// # Errors
    /// [`PlayerError`] if the player does not answer.
    pub fn info(&self, deadline: Instant) -> Result<String, PlayerError> {
        self.post(&Message::Info, deadline, &NEVER).map(|(answer, _)| answer)
    }

    /// Sends a message and waits for the answer. Returns the answer and the time to connect.
    fn post(
        &self,
        message: &Message<'_>,
        deadline: Instant,
        stop: &AtomicBool,
    ) -> Result<(String, Duration), PlayerError> {
        let body = message.to_string();
        let Address { host, port, path } = &self.address;
        let request = format!(
            "POST {path} HTTP/1.0\r\nAccept: text/delim\r\nHost: {host}\r\n\
             Sender: GAMESERVER\r\nReceiver: {}\r\n\
             Content-Type: text/acl\r\nContent-Length: {}\r\n\r\n{body}",
            self.invitation.role_name(),
            body.len(),
        );
        let unreachable = |error: std::io::Error| match error.kind() {
            ErrorKind::TimedOut | ErrorKind::WouldBlock => PlayerError::Late,
            _ => PlayerError::Unreachable(format!("http://{host}:{port}{path}: {error}")),
        };
        let started = Instant::now();
        let mut stream = connect(host, *port, deadline + self.bonus).map_err(unreachable)?;
        let connecting = started.elapsed();
        let deadline = deadline + connecting.min(self.bonus);
        stream.set_write_timeout(Some(left(deadline)?)).map_err(unreachable)?;
        stream.write_all(request.as_bytes()).map_err(unreachable)?;
        let answer = read_answer(&mut stream, deadline, stop, unreachable)?;
        let body = answer.finish().map_err(|error| PlayerError::Broken(error.to_string()))?;
        Ok((body, connecting))
    }
}

/// Returns the time until a deadline. It is never zero, which would mean no time-out to a socket.
fn left(deadline: Instant) -> Result<Duration, PlayerError> {
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() { Err(PlayerError::Late) } else { Ok(left) }
}

fn connect(host: &str, port: u16, deadline: Instant) -> std::io::Result<TcpStream> {
    let mut last = std::io::Error::new(ErrorKind::NotFound, "the host has no address");
    for address in (host, port).to_socket_addrs()? {
        let left = deadline.saturating_duration_since(Instant::now()).min(CONNECT);
        if left.is_zero() {
            return Err(ErrorKind::TimedOut.into());
        }
        match TcpStream::connect_timeout(&address, left) {
            Ok(stream) => return Ok(stream),
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// Reads until the answer is complete or the connection ends.
fn read_answer(
    stream: &mut TcpStream,
    deadline: Instant,
    stop: &AtomicBool,
    unreachable: impl Fn(std::io::Error) -> PlayerError,
) -> Result<AnswerReader, PlayerError> {
    let mut answer = AnswerReader::default();
    let mut buffer = [0_u8; 4096];
    loop {
        if stop.load(Ordering::Relaxed) {
            return Err(PlayerError::Late);
        }
        stream.set_read_timeout(Some(left(deadline)?.min(STOP_CHECK))).map_err(&unreachable)?;
        match stream.read(&mut buffer) {
            Ok(0) => return Ok(answer),
            Ok(n) => {
                let fed = answer.feed(&buffer[..n]);
                if fed.map_err(|error| PlayerError::Broken(error.to_string()))? {
                    return Ok(answer);
                }
            }
            // The read timed out or was interrupted: the loop checks the stop flag and the
            // deadline.
            Err(error)
                if matches!(
                    error.kind(),
                    ErrorKind::Interrupted | ErrorKind::WouldBlock | ErrorKind::TimedOut
                ) => {}
            // Some players reset the connection after their answer.
            Err(error) if error.kind() == ErrorKind::ConnectionReset && answer.is_complete() => {
                return Ok(answer);
            }
            Err(error) => return Err(unreachable(error)),
        }
    }
}

fn deadline(budget: &Budget) -> Instant {
    budget.deadline.unwrap_or_else(|| Instant::now() + MAX_WAIT)
}

/// Returns a clock in whole seconds, as the protocol requires.
fn seconds(clock: f64) -> u64 {
    clock.ceil().max(1.0) as u64
}

impl Player for WebPlayer {
    fn prepare(&mut self, budget: &Budget) -> Result<(), PlayerError> {
        let invitation = &self.invitation;
        let message = Message::Start {
            id: &invitation.id,
            role: &self.scramble(invitation.role_name()),
            rules: &self.rules(),
            start_clock: seconds(invitation.start_clock),
            play_clock: seconds(invitation.play_clock),
        };
        self.post(&message, deadline(budget), &budget.stop).map(|_| ())
    }

    fn choose(&mut self, budget: &Budget) -> Result<Choice, PlayerError> {
        let observation = self.last.as_ref().map(|last| self.translate(last));
        let message = Message::Play {
            id: &self.invitation.id,
            observation: observation.as_ref(),
            dialect: self.dialect,
        };
        let (answer, connecting) = self.post(&message, deadline(budget), &budget.stop)?;
        self.bonus = self.bonus.saturating_sub(connecting);
        // An answer that is not a term is passed on, so that the referee reports it as illegal.
        let text = Message::answer(&answer).unwrap_or_else(|| "null".to_owned());
        let text =
            self.scrambler.as_ref().map_or(text.clone(), |scrambler| scrambler.unscramble(&text));
        Ok(Choice { text, thought: None })
    }

    fn learn(&mut self, observation: &Observation) -> Result<(), PlayerError> {
        self.last = Some(observation.clone());
        Ok(())
    }

    fn finish(&mut self, observation: Option<&Observation>, _: Option<&[f64]>) {
        let observation = observation.map(|observation| self.translate(observation));
        let message = Message::Stop {
            id: &self.invitation.id,
            observation: observation.as_ref(),
            dialect: self.dialect,
        };
        // The match is over, so a lost message does not matter.
        let _ = self.post(&message, Instant::now() + FINISH, &NEVER);
    }

    fn follows_by_being_asked(&self) -> bool {
        true
    }

    fn abort(&mut self) {
        let _ =
            self.post(&Message::Abort { id: &self.invitation.id }, Instant::now() + FINISH, &NEVER);
    }
}
