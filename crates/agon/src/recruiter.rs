//! Players of rules that come over the network.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use agon_analysis::Subject;
use agon_game::{Role, Shape};
use agon_gdl::circuit::CircuitLimits;
use agon_gdl::engine::{GdlPosition, GdlTask, Opened};
use agon_gdl::interpreter::Game;
use agon_match::{Player, Rules, Spec, View, build_with_insight, role_seed, view};
use agon_server::{Opening, Recruit};
use agon_text::Source;

use crate::open::{self, RuleOptions};
use crate::subjects::{bring_concepts, subject_of};
use crate::terminal::remark;

/// Makes players as the user named them, of whatever rules come in.
pub(crate) struct Recruiter {
    spec: Spec,
    rules: RuleOptions,
    seed: u64,
    /// What was made of the rules seen last: those of a preview are those of the next match.
    last: Arc<Mutex<Option<Seen>>>,
}

struct Seen {
    rules: String,
    game: Arc<Game>,
    /// Once it is made.
    opened: Option<Opened>,
}

impl Recruiter {
    pub(crate) fn new(spec: Spec, rules: RuleOptions, seed: u64) -> Recruiter {
        Recruiter { spec, rules, seed, last: Arc::default() }
    }

    /// The rules understood, and the engine if it is at hand.
    fn game(&self, rules: &str) -> Result<(Arc<Game>, Option<Opened>), String> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(seen) = last.as_ref().filter(|seen| seen.rules == rules) {
            return Ok((Arc::clone(&seen.game), seen.opened.clone()));
        }
        let source = Arc::new(Source::new("the rules of the match", rules));
        let game = open::open_source(source, &self.rules).map_err(|failure| failure.message)?;
        *last = Some(Seen { rules: rules.to_owned(), game: Arc::clone(&game), opened: None });
        Ok((game, None))
    }
}

/// Makes a circuit of a game if there is time, and remembers it.
fn engine(game: &Arc<Game>, until: Instant, last: &Mutex<Option<Seen>>) -> Opened {
    let mut limits = CircuitLimits::default();
    limits.ground.deadline = Some(until);
    match game.compile(&limits) {
        Ok(compiled) => {
            let opened = Opened::Circuit(Arc::clone(game), Arc::new(open::with_proofs(compiled)));
            let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(seen) = last.as_mut().filter(|seen| Arc::ptr_eq(&seen.game, game)) {
                seen.opened = Some(opened.clone());
            }
            opened
        }
        Err(why) => {
            remark!("played by the interpreter, because no circuit was made: {why}");
            Opened::Interpreter(Arc::clone(game))
        }
    }
}

/// How much of the time before the first move is for making the circuit.
fn half(until: Instant) -> Instant {
    let now = Instant::now();
    now + until.saturating_duration_since(now).max(Duration::from_millis(1)) / 2
}

impl Recruit for Recruiter {
    fn open(&self, rules: &str, role: &str) -> Result<Box<dyn Opening>, String> {
        let (game, opened) = self.game(rules)?;
        let shape = Opened::Interpreter(Arc::clone(&game)).run(Shaped);
        let found = shape.role_named(role).filter(|role| Some(*role) != shape.nature);
        let role = found.or_else(|| {
            shape.players().find(|r| shape.role_names[r.index()].eq_ignore_ascii_case(role))
        });
        let role = role.ok_or_else(|| {
            format!("the rules have no role for us in {}", shape.role_names.join(" "))
        })?;
        let (spec, seed, last) =
            (self.spec.clone(), role_seed(self.seed, role), Arc::clone(&self.last));
        Ok(Box::new(Recruited { game, opened, shape, role, spec, seed, last }))
    }

    fn preview(&self, rules: &str, until: Instant) {
        if let Ok((game, None)) = self.game(rules) {
            engine(&game, until, &self.last);
        }
    }
}

struct Recruited {
    game: Arc<Game>,
    opened: Option<Opened>,
    shape: Shape,
    role: Role,
    spec: Spec,
    seed: u64,
    last: Arc<Mutex<Option<Seen>>>,
}

impl Opening for Recruited {
    fn shape(&self) -> &Shape {
        &self.shape
    }

    fn role(&self) -> Role {
        self.role
    }

    fn view(&self) -> Box<dyn View> {
        Opened::Interpreter(Arc::clone(&self.game)).run(Viewed { role: self.role, seed: self.seed })
    }

    fn player(self: Box<Self>, until: Instant) -> Box<dyn Player> {
        let opened = match &self.opened {
            Some(opened) => opened.clone(),
            None => engine(&self.game, half(until), &self.last),
        };
        let subject = subject_of(&opened);
        if let Err(failure) = bring_concepts(&subject, &self.spec) {
            remark!("{}", failure.message);
        }
        opened.run(Hired { spec: &self.spec, role: self.role, seed: self.seed, subject })
    }
}

struct Shaped;

impl GdlTask for Shaped {
    type Output = Shape;

    fn run<P: GdlPosition + 'static>(self, start: P) -> Shape {
        start.shape().clone()
    }
}

/// The role's own view.
struct Viewed {
    role: Role,
    seed: u64,
}

impl GdlTask for Viewed {
    type Output = Box<dyn View>;

    fn run<P: GdlPosition + 'static>(self, start: P) -> Box<dyn View> {
        view(start, self.role, self.seed)
    }
}

struct Hired<'a> {
    spec: &'a Spec,
    role: Role,
    seed: u64,
    subject: Subject,
}

impl GdlTask for Hired<'_> {
    type Output = Box<dyn Player>;

    fn run<P: GdlPosition + 'static>(self, start: P) -> Box<dyn Player> {
        build_with_insight(self.spec, start, self.role, self.seed, Rules::Gdl(&self.subject))
            .expect("only players of our own are let in")
    }
}
