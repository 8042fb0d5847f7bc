//! Built-in players for rules that arrive as text, such as over the GGP protocol.

mod guarded;
#[cfg(test)]
mod tests;

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use agon_game::{Role, Shape};
use agon_gdl::circuit::CircuitLimits;
use agon_gdl::interpreter as gdl;
use agon_match::{
    FactoryError, Player, PlayerFactory, PreparedGame, View, WorkLimits, role_seed, view,
};
use agon_players::PlayerSpec;
use agon_text::Source;

use crate::concepts::load_concepts;
use crate::engine::{Engine, GamePosition, GameTask};
use crate::game::{Game, RulesNeeded};
use crate::models::ModelStore;
use crate::open::{OpenLimits, OpenOptions, open_gdl, with_proofs};
use crate::player::Build;
use guarded::Guarded;

/// Maximum number of bytes for the evaluation of one state and for grounding the rules, where a
/// stranger has sent the rules. The most demanding public rulesheet needs less than a tenth.
const MAX_BYTES: usize = 1 << 30;
/// Maximum number of evaluation steps for one state, where a stranger has sent the rules. It takes
/// about a minute, so that a state that explodes does not occupy a thread for ever.
const MAX_STEPS: u64 = 2_000_000_000;
/// Maximum number of gates of a circuit made of rules that a stranger has sent.
const MAX_GATES: usize = 12_000_000;

/// The player that goes on where another one has panicked.
const SPARE: &str = "uct";

/// Makes built-in players of one specification for whatever GDL rules arrive.
pub struct SpecPlayerFactory {
    spec: PlayerSpec,
    options: OpenOptions,
    seed: u64,
    warn: Arc<dyn Fn(&str) + Send + Sync>,
    /// The rules seen last: those of a preview are those of the next match.
    last: Arc<Mutex<Option<Seen>>>,
}

struct Seen {
    rules: String,
    game: Arc<gdl::Game>,
    /// The game with its engine, once it is made.
    opened: Option<Game>,
    /// Cancels the game. A cancelled game cannot be played again.
    stop: Option<Arc<AtomicBool>>,
}

impl SpecPlayerFactory {
    /// Makes a factory of built-in players. `warn` is told what the user should know.
    pub fn new(
        spec: PlayerSpec,
        options: OpenOptions,
        seed: u64,
        warn: Arc<dyn Fn(&str) + Send + Sync>,
    ) -> SpecPlayerFactory {
        SpecPlayerFactory { spec, options, seed, warn, last: Arc::default() }
    }

    fn lock_last(&self) -> MutexGuard<'_, Option<Seen>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the checked rules, and the game with its engine if that was made before.
    fn game(
        &self,
        rules: &str,
        limits: &OpenLimits,
    ) -> Result<(Arc<gdl::Game>, Option<Game>), FactoryError> {
        let compiled = match self.lock_last().as_ref().filter(|seen| seen.rules == rules) {
            Some(seen) if !is_set(seen.stop.as_ref()) => {
                return Ok((Arc::clone(&seen.game), seen.opened.clone()));
            }
            // The flag of an earlier match is set for ever. Its circuit is good for this match.
            Some(seen) => seen.opened.as_ref().and_then(|game| game.engine().compiled().cloned()),
            None => None,
        };
        // The lock is not held meanwhile, because opening may take as long as the limits allow.
        let source = Arc::new(Source::new("the rules of the match", rules));
        let options = OpenOptions { limits: limits.clone(), ..self.options.clone() };
        let game =
            open_gdl(source, &options).map_err(|error| FactoryError::Rules(error.to_string()))?;
        let compiled = compiled.filter(|compiled| game.enter_terms_of(&compiled.circuit));
        let opened = compiled.map(|compiled| {
            let engine = Engine::GdlCircuit(Arc::clone(&game), compiled);
            Game::from_engine("the rules of the match", engine)
                .with_models(self.options.models.as_ref())
        });
        let (rules, stop) = (rules.to_owned(), limits.stop.clone());
        let seen = Seen { rules, game: Arc::clone(&game), opened: opened.clone(), stop };
        *self.lock_last() = Some(seen);
        Ok((game, opened))
    }

    fn prepare(
        &self,
        rules: &str,
        role: &str,
        limits: &OpenLimits,
    ) -> Result<Box<dyn PreparedGame>, FactoryError> {
        let (game, opened) = self.game(rules, limits)?;
        let shape = Engine::GdlInterpreter(Arc::clone(&game)).run(ShapeOf);
        let found = shape.role_named(role).filter(|role| Some(*role) != shape.nature);
        let found = found.or_else(|| {
            shape.players().find(|r| shape.role_names[r.index()].eq_ignore_ascii_case(role))
        });
        let role = found.ok_or_else(|| FactoryError::Role {
            asked: role.to_owned(),
            roles: shape.role_names.clone(),
        })?;
        Ok(Box::new(Prepared {
            game,
            opened,
            shape,
            role,
            spec: self.spec.clone(),
            seed: self.seed,
            warn: Arc::clone(&self.warn),
            last: Arc::clone(&self.last),
            limits: limits.clone(),
            models: self.options.models.clone(),
        }))
    }
}

fn is_set(stop: Option<&Arc<AtomicBool>>) -> bool {
    stop.is_some_and(|stop| stop.load(std::sync::atomic::Ordering::Relaxed))
}

/// Returns the limits for rules that a stranger has sent.
fn strict(limits: &WorkLimits) -> OpenLimits {
    OpenLimits {
        deadline: Some(limits.deadline),
        until: None,
        stop: Some(Arc::clone(&limits.stop)),
        bytes: Some(MAX_BYTES),
        steps: Some(MAX_STEPS),
    }
}

/// Makes a circuit of a game if there is time, and remembers it.
fn with_engine(
    game: &Arc<gdl::Game>,
    until: Instant,
    open_limits: &OpenLimits,
    models: Option<&ModelStore>,
    last: &Mutex<Option<Seen>>,
    warn: &dyn Fn(&str),
) -> Game {
    let mut limits = CircuitLimits { gates: MAX_GATES, ..CircuitLimits::default() };
    limits.ground.deadline = Some(until);
    limits.ground.stop = open_limits.stop_flag();
    limits.ground.bytes = open_limits.bytes.unwrap_or(limits.ground.bytes);
    match game.compile(&limits) {
        Ok(compiled) => {
            let engine = Engine::GdlCircuit(Arc::clone(game), Arc::new(with_proofs(compiled)));
            let opened = Game::from_engine("the rules of the match", engine).with_models(models);
            opened.notes().iter().for_each(|note| warn(note));
            let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(seen) = last.as_mut().filter(|seen| Arc::ptr_eq(&seen.game, game)) {
                seen.opened = Some(opened.clone());
            }
            opened
        }
        Err(why) => {
            warn(&format!("played by the interpreter, because no circuit was made: {why}"));
            let engine = Engine::GdlInterpreter(Arc::clone(game));
            Game::from_engine("the rules of the match", engine)
        }
    }
}

/// Returns the moment at which half of the time is over: that much is for making the circuit.
fn half(until: Instant) -> Instant {
    let now = Instant::now();
    now + until.saturating_duration_since(now).max(Duration::from_millis(1)) / 2
}

impl PlayerFactory for SpecPlayerFactory {
    fn open(&self, rules: &str, role: &str) -> Result<Box<dyn PreparedGame>, FactoryError> {
        self.prepare(rules, role, &OpenLimits::default())
    }

    fn open_within(
        &self,
        rules: &str,
        role: &str,
        limits: &WorkLimits,
    ) -> Result<Box<dyn PreparedGame>, FactoryError> {
        self.prepare(rules, role, &strict(limits))
    }

    fn preview(&self, rules: &str, until: Instant) {
        self.preview_within(rules, &WorkLimits { deadline: until, stop: Arc::default() });
    }

    fn preview_within(&self, rules: &str, limits: &WorkLimits) {
        let open_limits = strict(limits);
        if let Ok((game, None)) = self.game(rules, &open_limits) {
            let warn = self.warn.as_ref();
            let models = self.options.models.as_ref();
            with_engine(&game, limits.deadline, &open_limits, models, &self.last, warn);
        }
    }
}

struct Prepared {
    game: Arc<gdl::Game>,
    opened: Option<Game>,
    shape: Shape,
    role: Role,
    spec: PlayerSpec,
    seed: u64,
    warn: Arc<dyn Fn(&str) + Send + Sync>,
    last: Arc<Mutex<Option<Seen>>>,
    limits: OpenLimits,
    models: Option<ModelStore>,
}

impl PreparedGame for Prepared {
    fn shape(&self) -> &Shape {
        &self.shape
    }

    fn role(&self) -> Role {
        self.role
    }

    fn view(&self) -> Box<dyn View> {
        let seed = role_seed(self.seed, self.role);
        Engine::GdlInterpreter(Arc::clone(&self.game)).run(ViewOf { role: self.role, seed })
    }

    fn player(self: Box<Self>, until: Instant) -> Box<dyn Player> {
        let opened = match &self.opened {
            Some(opened) => opened.clone(),
            None => {
                let warn = self.warn.as_ref();
                let models = self.models.as_ref();
                with_engine(&self.game, half(until), &self.limits, models, &self.last, warn)
            }
        };
        if let Ok(analysis) = opened.analysis()
            && let Err(why) = load_concepts(analysis, &self.spec)
        {
            (self.warn)(&why.to_string());
        }
        let (role, seed) = (self.role, self.seed);
        let needs = RulesNeeded::Own;
        // Rules that arrive as text are GDL, which has no evaluation games.
        let build = move |game: &Game, spec: &PlayerSpec| {
            game.run(Build { game, spec, role, seed, needs, evaluation: None })
        };
        let spare_spec = PlayerSpec::built_in(SPARE);
        let (game, warn) = (opened.clone(), self.warn);
        Box::new(Guarded::new(
            || build(&opened, &self.spec),
            Box::new(move || build(&game, &spare_spec)),
            Box::new(move |text| warn(text)),
        ))
    }
}

struct ShapeOf;

impl GameTask for ShapeOf {
    type Output = Shape;

    fn run<P: GamePosition + 'static>(self, start: P) -> Shape {
        start.shape().clone()
    }
}

/// The view that a role has of the match.
struct ViewOf {
    role: Role,
    seed: u64,
}

impl GameTask for ViewOf {
    type Output = Box<dyn View>;

    fn run<P: GamePosition + 'static>(self, start: P) -> Box<dyn View> {
        view(start, self.role, self.seed)
    }
}
