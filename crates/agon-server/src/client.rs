//! A player elsewhere that speaks the GGP protocol over HTTP.
//!
//! Plain sockets, not a client library: the deadline must hold for the whole answer however it trickles, the request is to be
//! byte for byte what ggp-base sends, and answers come in forms that libraries refuse.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{TcpStream, ToSocketAddrs as _};
use std::time::{Duration, Instant};

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use agon_game::{Role, Shape};
use agon_match::{ALL_IS_SEEN, Address, Choice, Dialect, Lapse, Message, News, Player, Scrambler};
use agon_search::Budget;

/// What a player outside is told when a match begins.
#[derive(Clone)]
pub struct Invitation {
    /// The match.
    pub id: String,
    /// The player's role.
    pub role: Role,
    /// What is known of the game.
    pub shape: Shape,
    /// The rules in KIF.
    pub rules: String,
    /// In seconds, as the user gave them.
    pub start_clock: f64,
    /// In seconds, as the user gave them.
    pub play_clock: f64,
}

impl Invitation {
    /// The role's name.
    pub fn role_name(&self) -> &str {
        &self.shape.role_names[self.role.index()]
    }
}

/// Longer answers are not read to their end: no move is as long.
const MAX_ANSWER: usize = 1 << 20;

/// How long is tried to reach a player, and to tell it that the match is over.
const CONNECT: Duration = Duration::from_secs(5);
const GOODBYE: Duration = Duration::from_secs(2);

/// How often is looked whether nobody waits for the answer any more: then the player can be told so.
const GLANCE: Duration = Duration::from_millis(100);

/// For messages whose answers are waited for in any case.
static NEVER: AtomicBool = AtomicBool::new(false);

/// Where the user has set no limit there is one all the same.
const LONGEST: Duration = Duration::from_secs(24 * 3600);

/// A player elsewhere.
pub struct WebPlayer {
    address: Address,
    invitation: Invitation,
    dialect: Dialect,
    scrambler: Option<Arc<Scrambler>>,
    last: Option<News>,
    /// How much more time there is for reaching it, all in all, that does not count as its own.
    bonus: Duration,
}

impl WebPlayer {
    /// A player at an address, spoken to as the game has it.
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

    /// Spoken to in another form. In a game where everybody sees every move, percepts are what was done.
    #[must_use]
    pub fn in_dialect(mut self, dialect: Dialect) -> WebPlayer {
        // Joint moves would tell what is hidden.
        if dialect != Dialect::Moves || !self.invitation.shape.hidden {
            self.dialect = dialect;
        }
        self
    }

    /// Spoken to in other words.
    #[must_use]
    pub fn scrambled(mut self, scrambler: Arc<Scrambler>) -> WebPlayer {
        self.scrambler = Some(scrambler);
        self
    }

    /// The time that it takes to reach the player does not count, up to so much in a match.
    #[must_use]
    pub fn with_bonus(mut self, bonus: Duration) -> WebPlayer {
        self.bonus = bonus;
        self
    }

    /// Rules or terms in the words that the player knows.
    fn there(&self, text: &str) -> String {
        self.scrambler
            .as_ref()
            .map_or_else(|| text.to_owned(), |scrambler| scrambler.scramble(text))
    }

    /// The news as the player is told them.
    fn told(&self, news: &News) -> News {
        let is_open = !self.invitation.shape.hidden;
        let seen: Vec<String> = match self.dialect {
            Dialect::Percepts | Dialect::Turns if is_open => {
                let names = self.invitation.shape.role_names.iter();
                names.zip(&news.seen).map(|(name, made)| format!("(did {name} {made})")).collect()
            }
            Dialect::Moves | Dialect::Percepts | Dialect::Turns => news.seen.clone(),
        };
        News {
            step: news.step,
            own: self.there(&news.own),
            seen: seen.iter().map(|term| self.there(term)).collect(),
        }
    }

    /// The rules as the player is told them.
    fn rules(&self) -> String {
        let rules = &self.invitation.rules;
        if self.dialect != Dialect::Moves && !self.invitation.shape.hidden {
            self.there(&format!("{rules} {ALL_IS_SEEN}"))
        } else {
            self.there(rules)
        }
    }

    /// Who it says it is: a name and a status.
    ///
    /// # Errors
    /// If it says nothing.
    pub fn info(&self, deadline: Instant) -> Result<String, Lapse> {
        self.post(&Message::Info, deadline, &NEVER).map(|(answer, _)| answer)
    }

    /// Sends a message and waits for the answer. Says how long it took to be connected.
    fn post(
        &self,
        message: &Message<'_>,
        deadline: Instant,
        stop: &AtomicBool,
    ) -> Result<(String, Duration), Lapse> {
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
        let began = Instant::now();
        let mut stream = connect(host, *port, deadline + self.bonus).map_err(unreachable)?;
        let connecting = began.elapsed();
        let deadline = deadline + connecting.min(self.bonus);
        stream.set_write_timeout(Some(left(deadline)?)).map_err(unreachable)?;
        stream.write_all(request.as_bytes()).map_err(unreachable)?;
        let answer = read_answer(&mut stream, deadline, stop, unreachable)?;
        body_of(&answer).map(|body| (body, connecting)).map_err(Lapse::Broken)
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
    stop: &AtomicBool,
    unreachable: impl Fn(std::io::Error) -> Lapse,
) -> Result<Vec<u8>, Lapse> {
    let mut answer = Vec::new();
    let mut buffer = [0_u8; 4096];
    loop {
        if stop.load(Ordering::Relaxed) {
            return Err(Lapse::Late);
        }
        stream.set_read_timeout(Some(left(deadline)?.min(GLANCE))).map_err(&unreachable)?;
        match stream.read(&mut buffer) {
            Ok(0) => return Ok(answer),
            Ok(n) => answer.extend_from_slice(&buffer[..n]),
            // A glance is over, or a signal came: whether there is still time is looked at above.
            Err(error)
                if matches!(
                    error.kind(),
                    ErrorKind::Interrupted | ErrorKind::WouldBlock | ErrorKind::TimedOut
                ) => {}
            // Some players reset the connection once they have answered.
            Err(error)
                if error.kind() == std::io::ErrorKind::ConnectionReset && is_whole(&answer) =>
            {
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
    let blank =
        |mark: &[u8]| answer.windows(mark.len()).position(|w| w == mark).map(|at| at + mark.len());
    let end = blank(b"\r\n\r\n").into_iter().chain(blank(b"\n\n")).min()?;
    let head = String::from_utf8_lossy(&answer[..end]).to_ascii_lowercase();
    let length =
        head.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse().ok());
    Some((end, length))
}

fn is_whole(answer: &[u8]) -> bool {
    matches!(head(answer), Some((end, Some(length))) if answer.len() - end >= length)
}

/// The body of an answer that says all is well.
fn body_of(answer: &[u8]) -> Result<String, String> {
    let Some((end, length)) = head(answer) else { return Err("the answer is not HTTP".to_owned()) };
    let status =
        String::from_utf8_lossy(&answer[..end]).lines().next().unwrap_or_default().to_owned();
    let code = status.split_whitespace().nth(1).unwrap_or_default();
    if !status.starts_with("HTTP/") || !code.starts_with('2') {
        let shown: String = status.chars().take(80).collect();
        return Err(format!("it answers `{shown}`"));
    }
    let end_of_body =
        length.map_or(answer.len(), |length| end.saturating_add(length).min(answer.len()));
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
            role: &self.there(invitation.role_name()),
            rules: &self.rules(),
            start_clock: seconds(invitation.start_clock),
            play_clock: seconds(invitation.play_clock),
        };
        self.post(&message, deadline(budget), &budget.stop).map(|_| ())
    }

    fn choose(&mut self, budget: &Budget) -> Result<Choice, Lapse> {
        let news = self.last.as_ref().map(|news| self.told(news));
        let message =
            Message::Play { id: &self.invitation.id, news: news.as_ref(), dialect: self.dialect };
        let (answer, connecting) = self.post(&message, deadline(budget), &budget.stop)?;
        self.bonus = self.bonus.saturating_sub(connecting);
        // What is no term at all is passed on, so that the referee finds it illegal and says so.
        let text = Message::answer(&answer).unwrap_or_else(|| "null".to_owned());
        let text =
            self.scrambler.as_ref().map_or(text.clone(), |scrambler| scrambler.unscramble(&text));
        Ok(Choice { text, thought: None })
    }

    fn learn(&mut self, news: &News) -> Result<(), Lapse> {
        self.last = Some(news.clone());
        Ok(())
    }

    fn finish(&mut self, news: Option<&News>) {
        let news = news.map(|news| self.told(news));
        let message =
            Message::Stop { id: &self.invitation.id, news: news.as_ref(), dialect: self.dialect };
        // Whether it hears that does not matter any more.
        let _ = self.post(&message, Instant::now() + GOODBYE, &NEVER);
    }

    fn follows_by_being_asked(&self) -> bool {
        true
    }

    fn abort(&mut self) {
        let _ = self.post(
            &Message::Abort { id: &self.invitation.id },
            Instant::now() + GOODBYE,
            &NEVER,
        );
    }
}
