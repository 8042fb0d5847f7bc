//! A player that any host of the GGP protocol can call.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use agon_game::{Role, Shape};
use agon_match::{Heard, Player, View, is_shouted};

use crate::http::Request;
use crate::listen::{Answer, Handler};
use crate::running::{Clock, Running};

/// Makes players of rules.
pub trait Recruit: Send + Sync {
    /// Understands rules, quickly.
    ///
    /// # Errors
    /// If they cannot be played, or the role is none of theirs: in words.
    fn open(&self, rules: &str, role: &str) -> Result<Box<dyn Opening>, String>;

    /// Rules that may be played soon: whatever takes long can be done until the time is up.
    fn preview(&self, rules: &str, until: Instant) {
        let _ = (rules, until);
    }
}

/// A game that was understood, before anything was made of it that takes time.
pub trait Opening: Send {
    /// What is known of the game.
    fn shape(&self) -> &Shape;
    /// Who we are.
    fn role(&self) -> Role;
    /// What the role knows: for having a legal move at any moment.
    fn view(&self) -> Box<dyn View>;
    /// The player. Takes its time, but not beyond this.
    fn player(self: Box<Self>, until: Instant) -> Box<dyn Player>;
}

/// How a player behaves.
#[derive(Clone, Debug)]
pub struct PlayerOptions {
    /// What it calls itself: no spaces, no parentheses.
    pub name: String,
    /// How much of each clock is left unused, for the way there and back and for a busy machine; otherwise an eighth, from 200 ms
    /// to 1.5 s.
    pub margin: Option<Duration>,
    /// A match of which nothing was heard for so long is forgotten.
    pub forget: Duration,
}

impl Default for PlayerOptions {
    fn default() -> PlayerOptions {
        PlayerOptions {
            name: "agon".to_owned(),
            margin: None,
            forget: Duration::from_secs(20 * 60),
        }
    }
}

impl PlayerOptions {
    fn clock(&self, seconds: f64) -> Clock {
        let whole = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
        let margin = self.margin.unwrap_or_else(|| {
            (whole / 8).clamp(Duration::from_millis(200), Duration::from_millis(1500))
        });
        // However short the clock is, half of it is for thinking.
        Clock { whole, margin: margin.min(whole / 2) }
    }
}

/// What happens to a player, for whoever wants to watch.
#[derive(Clone, Debug, PartialEq)]
pub struct Note {
    /// The match; empty if there is none.
    pub id: String,
    /// What was heard: its first word, or what was wrong with it.
    pub heard: String,
    /// What was said.
    pub said: String,
    /// How long it took.
    pub took: Duration,
    /// What was out of the ordinary, if anything.
    pub remark: Option<String>,
}

/// A player at a port. It plays one match at a time and is always there to say so.
pub struct PlayerServer {
    recruit: Arc<dyn Recruit>,
    options: PlayerOptions,
    watch: Box<dyn Fn(&Note) + Send + Sync>,
    running: Mutex<Option<Arc<Running>>>,
}

/// What a message comes to: what is said, and what is worth a remark.
struct Reply {
    said: String,
    remark: Option<String>,
}

fn plain(said: &str) -> Reply {
    Reply { said: said.to_owned(), remark: None }
}

fn remarked(said: &str, remark: String) -> Reply {
    Reply { said: said.to_owned(), remark: Some(remark) }
}

impl PlayerServer {
    /// A player without a match.
    pub fn new(
        recruit: Arc<dyn Recruit>,
        options: PlayerOptions,
        watch: Box<dyn Fn(&Note) + Send + Sync>,
    ) -> PlayerServer {
        PlayerServer { recruit, options, watch, running: Mutex::new(None) }
    }

    /// The match being played, unless it was forgotten.
    fn current(&self) -> Option<Arc<Running>> {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if running.as_ref().is_some_and(|match_| match_.silence() > self.options.forget) {
            *running = None;
        }
        running.clone()
    }

    fn named(&self, id: &str) -> Option<Arc<Running>> {
        self.current().filter(|running| running.id() == id)
    }

    fn clear(&self, id: &str) {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if running.as_ref().is_some_and(|running| running.id() == id) {
            *running = None;
        }
    }

    fn reply(&self, heard: &Heard, heard_at: Instant) -> Reply {
        match heard {
            Heard::Info => {
                let status = if self.current().is_some() { "busy" } else { "available" };
                plain(&format!(
                    "( ( name {} ) ( status {status} ) ( species alien ) )",
                    self.options.name
                ))
            }
            Heard::Preview { rules, clock } => {
                let recruit = Arc::clone(&self.recruit);
                let (rules, clock) = (rules.clone(), self.options.clock(*clock));
                let _ = std::thread::Builder::new()
                    .name("preview".to_owned())
                    .spawn(move || recruit.preview(&rules, heard_at + clock.whole));
                plain("ready")
            }
            Heard::Start { id, role, rules, start_clock, play_clock } => {
                let clocks = [*start_clock, *play_clock].map(|seconds| self.options.clock(seconds));
                self.start(id, role, rules, clocks, heard_at)
            }
            Heard::Play { id, told } => match self.named(id) {
                None => remarked("busy", format!("`{id}` is not being played")),
                Some(running) => {
                    let (said, remark) = running.play(told, heard_at);
                    Reply { said, remark }
                }
            },
            Heard::Stop { id, told } => match self.named(id) {
                None => remarked("busy", format!("`{id}` is not being played")),
                Some(running) => {
                    let remark = running.stop(Some(told));
                    self.clear(id);
                    Reply { said: running.in_its_voice("done"), remark }
                }
            },
            Heard::Abort { id } => match self.named(id) {
                None => remarked("busy", format!("`{id}` is not being played")),
                Some(running) => {
                    running.stop(None);
                    self.clear(id);
                    plain(&running.in_its_voice("aborted"))
                }
            },
        }
    }

    fn start(
        &self,
        id: &str,
        role: &str,
        rules: &str,
        clocks: [Clock; 2],
        heard_at: Instant,
    ) -> Reply {
        let running = {
            let mut place = self.running.lock().unwrap_or_else(PoisonError::into_inner);
            match place.as_ref() {
                // Said twice: the connection broke before the answer.
                Some(running) if running.id() == id => Arc::clone(running),
                Some(running) if running.silence() <= self.options.forget => {
                    return remarked("busy", format!("`{}` is being played", running.id()));
                }
                Some(_) | None => {
                    let opening = match self.recruit.open(rules, role) {
                        Ok(opening) => opening,
                        Err(why) => return remarked("busy", why),
                    };
                    let begun =
                        Running::begin(id, opening, clocks, heard_at, is_shouted(role, rules));
                    let running = match begun {
                        Ok(running) => Arc::new(running),
                        Err(error) => {
                            return remarked("busy", format!("no thread for the match: {error}"));
                        }
                    };
                    *place = Some(Arc::clone(&running));
                    running
                }
            }
        };
        let is_ready = running
            .wait_until_ready(heard_at + clocks[0].whole.saturating_sub(clocks[0].margin / 2));
        let remark = (!is_ready).then(|| "still getting ready".to_owned());
        Reply { said: running.in_its_voice("ready"), remark }
    }
}

impl Handler for PlayerServer {
    fn answer(&self, request: &Request, heard_at: Instant) -> Answer {
        if request.method != "POST" && request.method != "GET" {
            // Browsers ask first whether they may.
            return Answer { status: 200, body: String::new() };
        }
        let (id, heard, reply) = match Heard::read(&request.message) {
            Ok(heard) => {
                let (word, id) = match &heard {
                    Heard::Info => ("INFO", ""),
                    Heard::Preview { .. } => ("PREVIEW", ""),
                    Heard::Start { id, .. } => ("START", id.as_str()),
                    Heard::Play { id, .. } => ("PLAY", id.as_str()),
                    Heard::Stop { id, .. } => ("STOP", id.as_str()),
                    Heard::Abort { id } => ("ABORT", id.as_str()),
                };
                (id.to_owned(), word.to_owned(), self.reply(&heard, heard_at))
            }
            Err(misheard) => {
                (String::new(), "?".to_owned(), remarked("what", misheard.to_string()))
            }
        };
        let Reply { said, remark } = reply;
        (self.watch)(&Note { id, heard, said: said.clone(), took: heard_at.elapsed(), remark });
        Answer { status: 200, body: said }
    }
}
