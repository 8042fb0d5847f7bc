//! A player that any host of the GGP protocol can call.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use agon_ggp::{Request, is_upper_case};
use agon_match::PlayerFactory;

use crate::http::HttpRequest;
use crate::listen::{Handler, Response};
use crate::running::{AnsweredMove, Clock, LetterCase, Played, Pondering, Running};

/// Options of a player over the network.
#[derive(Clone, Debug)]
pub struct PlayerOptions {
    /// The name that the player reports; without spaces and parentheses.
    pub name: String,
    /// Time of each clock that is left unused, for the network and for a busy machine. The default
    /// is an eighth of the clock, at least 200 ms and at most 1.5 s.
    pub margin: Option<Duration>,
    /// A match without messages for this long is forgotten.
    pub forget: Duration,
    /// Whether the player thinks while it waits for the next message of its match. Default: yes.
    pub ponder: bool,
}

impl Default for PlayerOptions {
    fn default() -> PlayerOptions {
        PlayerOptions {
            name: "agon".to_owned(),
            margin: None,
            forget: Duration::from_secs(20 * 60),
            ponder: true,
        }
    }
}

impl PlayerOptions {
    fn clock(&self, seconds: f64) -> Clock {
        let whole = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
        let margin = self.margin.unwrap_or_else(|| {
            (whole / 8).clamp(Duration::from_millis(200), Duration::from_millis(1500))
        });
        // At least half of the clock is left for thinking.
        Clock { whole, margin: margin.min(whole / 2) }
    }
}

/// A request and its response, for a log.
#[derive(Clone, Debug, PartialEq)]
pub struct Exchange {
    /// The id of the match; empty if the request has none.
    pub match_id: String,
    /// The first word of the request, or `?` if it could not be parsed.
    pub request: String,
    /// The response.
    pub response: String,
    /// The time from the first byte of the request to the response.
    pub took: Duration,
    /// A remark if something was unusual.
    pub remark: Option<String>,
    /// How the player came to the move, if the response is a new move.
    pub answered_move: Option<AnsweredMove>,
}

/// A player that answers GGP requests. It plays one match at a time and answers other requests
/// while it thinks.
pub struct PlayerServer {
    factory: Arc<dyn PlayerFactory>,
    options: PlayerOptions,
    log: Box<dyn Fn(&Exchange) + Send + Sync>,
    running: Mutex<Option<Arc<Running>>>,
}

/// The answer to a request, with a remark for the log.
struct Answer {
    text: String,
    remark: Option<String>,
    answered_move: Option<AnsweredMove>,
}

impl Answer {
    fn plain(text: impl Into<String>) -> Answer {
        Answer { text: text.into(), remark: None, answered_move: None }
    }

    fn remarked(text: &str, remark: String) -> Answer {
        Answer { text: text.to_owned(), remark: Some(remark), answered_move: None }
    }
}

/// A `START` request.
struct Start<'a> {
    id: &'a str,
    role: &'a str,
    rules: &'a str,
    start_clock: Clock,
    play_clock: Clock,
}

impl PlayerServer {
    /// Returns a player without a match. `log` receives each request with its response.
    pub fn new(
        factory: Arc<dyn PlayerFactory>,
        options: PlayerOptions,
        log: Box<dyn Fn(&Exchange) + Send + Sync>,
    ) -> PlayerServer {
        PlayerServer { factory, options, log, running: Mutex::new(None) }
    }

    fn lock_running(&self) -> MutexGuard<'_, Option<Arc<Running>>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the match in progress, unless it is forgotten.
    fn current(&self) -> Option<Arc<Running>> {
        let mut running = self.lock_running();
        if running.as_ref().is_some_and(|running| running.silence() > self.options.forget) {
            *running = None;
        }
        running.clone()
    }

    /// Returns the match in progress if it has this id.
    fn named(&self, id: &str) -> Result<Arc<Running>, Answer> {
        self.current()
            .filter(|running| running.id() == id)
            .ok_or_else(|| Answer::remarked("busy", format!("`{id}` is not being played")))
    }

    fn clear(&self, id: &str) {
        let mut running = self.lock_running();
        if running.as_ref().is_some_and(|running| running.id() == id) {
            *running = None;
        }
    }

    fn answer(&self, request: &Request, received_at: Instant) -> Result<Answer, Answer> {
        match request {
            Request::Info => {
                let status = if self.current().is_some() { "busy" } else { "available" };
                let name = &self.options.name;
                Ok(Answer::plain(format!(
                    "( ( name {name} ) ( status {status} ) ( species alien ) )"
                )))
            }
            Request::Preview { rules, clock } => {
                let factory = Arc::clone(&self.factory);
                let (rules, clock) = (rules.clone(), self.options.clock(*clock));
                // A preview saves time in the match. The player plays without it, too.
                let _ = std::thread::Builder::new()
                    .name("preview".to_owned())
                    .spawn(move || factory.preview(&rules, received_at + clock.whole));
                Ok(Answer::plain("ready"))
            }
            Request::Start { id, role, rules, start_clock, play_clock } => {
                let [start_clock, play_clock] =
                    [*start_clock, *play_clock].map(|seconds| self.options.clock(seconds));
                self.start(&Start { id, role, rules, start_clock, play_clock }, received_at)
            }
            Request::Play { id, last_step } => {
                let Played { text, remark, answered } =
                    self.named(id)?.play(last_step, received_at);
                Ok(Answer { text, remark, answered_move: answered })
            }
            Request::Stop { id, last_step } => {
                let running = self.named(id)?;
                let remark = running.stop(Some(last_step));
                self.clear(id);
                let text = running.in_host_case("done");
                Ok(Answer { text, remark, answered_move: None })
            }
            Request::Abort { id } => {
                let running = self.named(id)?;
                running.stop(None);
                self.clear(id);
                Ok(Answer::plain(running.in_host_case("aborted")))
            }
        }
    }

    fn start(&self, start: &Start<'_>, received_at: Instant) -> Result<Answer, Answer> {
        let running = self.running_match(start, received_at)?;
        let Clock { whole, margin } = start.start_clock;
        let is_ready = running.wait_until_ready(received_at + whole.saturating_sub(margin / 2));
        let remark = (!is_ready).then(|| "the player is still preparing".to_owned());
        Ok(Answer { text: running.in_host_case("ready"), remark, answered_move: None })
    }

    /// Starts a match. Returns the match in progress if it has the same id, because a host repeats
    /// the request if the connection breaks before the answer.
    fn running_match(
        &self,
        start: &Start<'_>,
        received_at: Instant,
    ) -> Result<Arc<Running>, Answer> {
        let mut place = self.lock_running();
        match place.as_ref() {
            Some(running) if running.id() == start.id => return Ok(Arc::clone(running)),
            Some(running) if running.silence() <= self.options.forget => {
                let remark = format!("`{}` is being played", running.id());
                return Err(Answer::remarked("busy", remark));
            }
            Some(_) | None => {}
        }
        let game = self
            .factory
            .open(start.rules, start.role)
            .map_err(|error| Answer::remarked("busy", error.to_string()))?;
        let clocks = [start.start_clock, start.play_clock];
        let case = if is_upper_case(start.role, start.rules) {
            LetterCase::Upper
        } else {
            LetterCase::Lower
        };
        let pondering = if self.options.ponder { Pondering::On } else { Pondering::Off };
        let running = Running::begin(start.id, game, clocks, received_at, (case, pondering))
            .map_err(|error| {
                Answer::remarked("busy", format!("no thread for the match: {error}"))
            })?;
        let running = Arc::new(running);
        *place = Some(Arc::clone(&running));
        Ok(running)
    }
}

/// Returns the first word of a request and the id of its match.
fn word_and_id(request: &Request) -> (&'static str, &str) {
    match request {
        Request::Info => ("INFO", ""),
        Request::Preview { .. } => ("PREVIEW", ""),
        Request::Start { id, .. } => ("START", id.as_str()),
        Request::Play { id, .. } => ("PLAY", id.as_str()),
        Request::Stop { id, .. } => ("STOP", id.as_str()),
        Request::Abort { id } => ("ABORT", id.as_str()),
    }
}

impl Handler for PlayerServer {
    fn respond(&self, request: &HttpRequest, received_at: Instant) -> Response {
        if request.method != "POST" && request.method != "GET" {
            // Browsers send `OPTIONS` first to ask whether they may send a request.
            return Response { status: 200, body: String::new() };
        }
        let (match_id, word, answer) = match Request::parse(&request.message) {
            Ok(request) => {
                let (word, id) = word_and_id(&request);
                let answer = self.answer(&request, received_at).unwrap_or_else(|answer| answer);
                (id.to_owned(), word, answer)
            }
            Err(error) => (String::new(), "?", Answer::remarked("what", error.to_string())),
        };
        let Answer { text, remark, answered_move } = answer;
        (self.log)(&Exchange {
            match_id,
            request: word.to_owned(),
            response: text.clone(),
            took: received_at.elapsed(),
            remark,
            answered_move,
        });
        Response { status: 200, body: text }
    }
}
