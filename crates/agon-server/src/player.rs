//! A player that any host of the GGP protocol can call.

use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use agon_ggp::{Request, is_upper_case};
use agon_match::{PlayerFactory, WorkLimits};

use crate::hosted::{Hosted, LetterCase, MIN_OPENING, Phase, Start};
use crate::http::HttpRequest;
use crate::listen::{Handler, Response};
use crate::running::{AnsweredMove, Clock, Played, Pondering};

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
    /// Whether every peer may send messages for a match. Otherwise only the peer that started the
    /// match may.
    pub any_peer: bool,
    /// The origin of web pages that may send requests, such as `http://localhost:8080`, or `*` for
    /// all. By default requests of web pages are refused.
    pub allow_origin: Option<String>,
}

impl Default for PlayerOptions {
    fn default() -> PlayerOptions {
        PlayerOptions {
            name: "agon".to_owned(),
            margin: None,
            forget: Duration::from_secs(20 * 60),
            ponder: true,
            any_peer: false,
            allow_origin: None,
        }
    }
}

impl PlayerOptions {
    fn clock(&self, seconds: f64) -> Clock {
        // The number comes from outside. A longer clock could not be added to a moment.
        let whole = Duration::try_from_secs_f64(seconds).unwrap_or(MAX_CLOCK).min(MAX_CLOCK);
        let margin = self.margin.unwrap_or_else(|| {
            (whole / 8).clamp(Duration::from_millis(200), Duration::from_millis(1500))
        });
        // At least half of the clock is left for thinking.
        Clock { whole, margin: margin.min(whole / 2) }
    }
}

/// Maximum length of a clock.
const MAX_CLOCK: Duration = Duration::from_secs(100 * 24 * 60 * 60);

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
    hosted: Mutex<Option<Arc<Hosted>>>,
    /// Number of threads of matches, the one in progress and those that are ending.
    n_threads: Arc<AtomicUsize>,
    preview: Mutex<Option<Preview>>,
    n_previews: Arc<AtomicUsize>,
}

/// Maximum number of threads of matches. Threads of matches that were aborted end soon.
const MAX_MATCH_THREADS: usize = 8;

/// A preview in progress.
struct Preview {
    rules: String,
    stop: Arc<AtomicBool>,
}

/// The answer to a request, with a remark for the log.
struct Answer {
    text: String,
    remark: Option<String>,
    /// In a box, because it is larger than the rest.
    answered_move: Option<Box<AnsweredMove>>,
}

impl Answer {
    fn plain(text: impl Into<String>) -> Answer {
        Answer { text: text.into(), remark: None, answered_move: None }
    }

    fn remarked(text: &str, remark: impl Into<String>) -> Answer {
        Answer { text: text.to_owned(), remark: Some(remark.into()), answered_move: None }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl PlayerServer {
    /// Returns a player without a match. `log` receives each request with its response.
    pub fn new(
        factory: Arc<dyn PlayerFactory>,
        options: PlayerOptions,
        log: Box<dyn Fn(&Exchange) + Send + Sync>,
    ) -> PlayerServer {
        PlayerServer {
            factory,
            options,
            log,
            hosted: Mutex::new(None),
            n_threads: Arc::default(),
            preview: Mutex::new(None),
            n_previews: Arc::default(),
        }
    }

    /// Returns the match in progress, unless it is forgotten.
    fn current(&self) -> Option<Arc<Hosted>> {
        let mut place = lock(&self.hosted);
        if let Some(forgotten) = place.take_if(|hosted| hosted.silence() > self.options.forget) {
            forgotten.abort();
        }
        place.clone()
    }

    /// Returns whether a peer may send messages for a match.
    fn may_control(&self, hosted: &Hosted, peer: Option<IpAddr>) -> bool {
        self.options.any_peer || hosted.peer().is_none() || hosted.peer() == peer
    }

    /// Returns the match in progress if it has this id and the peer has started it.
    fn named(&self, id: &str, peer: Option<IpAddr>) -> Result<Arc<Hosted>, Answer> {
        let hosted = self.current().filter(|hosted| hosted.id() == id);
        let hosted = hosted
            .ok_or_else(|| Answer::remarked("busy", format!("`{id}` is not being played")))?;
        if !self.may_control(&hosted, peer) {
            let who = peer.map_or_else(|| "this peer".to_owned(), |peer| peer.to_string());
            let why = format!("{who} has not started `{id}`; `--any-peer` accepts it");
            return Err(Answer::remarked("busy", why));
        }
        hosted.note_message();
        Ok(hosted)
    }

    /// Forgets a match, unless another one has taken its place.
    fn clear(&self, ended: &Arc<Hosted>) {
        let mut place = lock(&self.hosted);
        if place.as_ref().is_some_and(|hosted| Arc::ptr_eq(hosted, ended)) {
            *place = None;
        }
    }

    fn answer(
        &self,
        request: &Request,
        received_at: Instant,
        peer: Option<IpAddr>,
    ) -> Result<Answer, Answer> {
        match request {
            Request::Info => {
                let status = if self.current().is_some() { "busy" } else { "available" };
                let name = &self.options.name;
                Ok(Answer::plain(format!(
                    "( ( name {name} ) ( status {status} ) ( species alien ) )"
                )))
            }
            Request::Preview { rules, clock } => {
                let until = received_at + self.options.clock(*clock).whole;
                Ok(self.preview(rules, until, peer))
            }
            Request::Start { id, role, rules, start_clock, play_clock } => {
                let [start_clock, play_clock] =
                    [*start_clock, *play_clock].map(|seconds| self.options.clock(seconds));
                let (id, role, rules) = (id.clone(), role.clone(), rules.clone());
                let pondering = if self.options.ponder { Pondering::On } else { Pondering::Off };
                let start = Start { id, role, rules, start_clock, play_clock, pondering };
                self.start(start, received_at, peer)
            }
            Request::Play { id, last_step } => {
                let Played { text, remark, answered } =
                    self.named(id, peer)?.play(last_step, received_at);
                Ok(Answer { text, remark, answered_move: answered.map(Box::new) })
            }
            Request::Stop { id, last_step } => {
                let hosted = self.named(id, peer)?;
                let remark = hosted.stop(last_step);
                self.clear(&hosted);
                Ok(Answer { text: hosted.in_host_case("done"), remark, answered_move: None })
            }
            Request::Abort { id } => {
                let hosted = self.named(id, peer)?;
                hosted.abort();
                self.clear(&hosted);
                Ok(Answer::plain(hosted.in_host_case("aborted")))
            }
        }
    }

    /// Prepares for rules in a thread of its own, if none is doing that. A preview saves time in
    /// the match; the player plays without it, too.
    fn preview(&self, rules: &str, until: Instant, peer: Option<IpAddr>) -> Answer {
        if self.current().is_some_and(|hosted| !self.may_control(&hosted, peer)) {
            return Answer::remarked("ready", "ignored, because a match is in progress");
        }
        let mut place = lock(&self.preview);
        if let Some(earlier) = place.take() {
            earlier.stop.store(true, Ordering::Relaxed);
        }
        if self.n_previews.load(Ordering::Relaxed) > 1 {
            return Answer::remarked("ready", "ignored, because earlier previews are ending");
        }
        self.n_previews.fetch_add(1, Ordering::Relaxed);
        let live = LivePreview(Arc::clone(&self.n_previews));
        let stop = Arc::new(AtomicBool::new(false));
        let limits = WorkLimits { deadline: until, stop: Arc::clone(&stop) };
        let (factory, text) = (Arc::clone(&self.factory), rules.to_owned());
        let spawned = std::thread::Builder::new().name("preview".to_owned()).spawn(move || {
            let _live = live;
            factory.preview_within(&text, &limits);
        });
        match spawned {
            Ok(_) => {
                *place = Some(Preview { rules: rules.to_owned(), stop });
                Answer::plain("ready")
            }
            Err(error) => Answer::remarked("ready", format!("no thread for it: {error}")),
        }
    }

    fn start(
        &self,
        start: Start,
        received_at: Instant,
        peer: Option<IpAddr>,
    ) -> Result<Answer, Answer> {
        let Clock { whole, margin } = start.start_clock;
        let until = received_at + whole.saturating_sub(margin / 2).max(MIN_OPENING);
        let hosted = self.hosted_match(start, received_at, peer)?;
        let why = match hosted.wait_until_opened(until) {
            Phase::Running(running) => {
                let is_ready = running.wait_until_ready(until);
                let remark = (!is_ready).then(|| "the player is still preparing".to_owned());
                let text = hosted.in_host_case("ready");
                return Ok(Answer { text, remark, answered_move: None });
            }
            Phase::Refused(why) => why,
            Phase::Opening => "the rules could not be opened within the start clock".to_owned(),
        };
        hosted.cancel();
        self.clear(&hosted);
        Err(Answer::remarked("busy", why))
    }

    /// Starts a match. Returns the match in progress if it has the same id, because a host repeats
    /// the request if the connection breaks before the answer.
    fn hosted_match(
        &self,
        start: Start,
        received_at: Instant,
        peer: Option<IpAddr>,
    ) -> Result<Arc<Hosted>, Answer> {
        if let Some(hosted) = self.current() {
            if hosted.id() == start.id && self.may_control(&hosted, peer) {
                hosted.note_message();
                return Ok(hosted);
            }
            let remark = format!("`{}` is being played", hosted.id());
            return Err(Answer::remarked("busy", remark));
        }
        if self.n_threads.load(Ordering::Relaxed) >= MAX_MATCH_THREADS {
            return Err(Answer::remarked("busy", "earlier matches are still ending"));
        }
        // A preview of the same rules goes on: what it finds is used by the match.
        if let Some(preview) = lock(&self.preview).take_if(|seen| seen.rules != start.rules) {
            preview.stop.store(true, Ordering::Relaxed);
        }
        let case = if is_upper_case(&start.role, &start.rules) {
            LetterCase::Upper
        } else {
            LetterCase::Lower
        };
        let mut place = lock(&self.hosted);
        if let Some(hosted) = place.as_ref() {
            // Another connection was quicker.
            if hosted.id() == start.id && self.may_control(hosted, peer) {
                return Ok(Arc::clone(hosted));
            }
            let remark = format!("`{}` is being played", hosted.id());
            return Err(Answer::remarked("busy", remark));
        }
        let factory = Arc::clone(&self.factory);
        let hosted = Hosted::begin(start, peer, case, factory, received_at, &self.n_threads)
            .map_err(|error| {
                Answer::remarked("busy", format!("no thread for the match: {error}"))
            })?;
        let hosted = Arc::new(hosted);
        *place = Some(Arc::clone(&hosted));
        Ok(hosted)
    }

    fn respond_to_peer(
        &self,
        request: &HttpRequest,
        received_at: Instant,
        peer: Option<IpAddr>,
    ) -> Response {
        if request.method != "POST" && request.method != "GET" {
            // Browsers send `OPTIONS` first to ask whether they may send a request.
            return Response { status: 200, body: String::new() };
        }
        let (match_id, word, answer) = match Request::parse(&request.message) {
            Ok(request) => {
                let (word, id) = word_and_id(&request);
                let answer =
                    self.answer(&request, received_at, peer).unwrap_or_else(|answer| answer);
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
            answered_move: answered_move.map(|answered| *answered),
        });
        Response { status: 200, body: text }
    }
}

/// Counts a preview until it is dropped, even by a panic.
struct LivePreview(Arc<AtomicUsize>);

impl Drop for LivePreview {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Drop for PlayerServer {
    fn drop(&mut self) {
        if let Some(hosted) = lock(&self.hosted).take() {
            hosted.abort();
        }
        if let Some(preview) = lock(&self.preview).take() {
            preview.stop.store(true, Ordering::Relaxed);
        }
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
        self.respond_to_peer(request, received_at, None)
    }

    fn respond_to(&self, request: &HttpRequest, received_at: Instant, peer: IpAddr) -> Response {
        self.respond_to_peer(request, received_at, Some(peer))
    }

    fn is_expected(&self, peer: IpAddr) -> bool {
        lock(&self.hosted).as_ref().is_some_and(|hosted| hosted.peer() == Some(peer))
    }

    fn allowed_origin(&self) -> Option<&str> {
        self.options.allow_origin.as_deref()
    }
}
