//! Built-in players for rules that arrive as text, such as over the GGP protocol.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use agon_game::{Role, Shape};
use agon_gdl::circuit::CircuitLimits;
use agon_gdl::interpreter as gdl;
use agon_match::{FactoryError, Player, PlayerFactory, PreparedGame, View, role_seed, view};
use agon_players::PlayerSpec;
use agon_text::Source;

use crate::concepts::load_concepts;
use crate::engine::{Engine, GamePosition, GameTask};
use crate::game::{Game, RulesNeeded};
use crate::open::{OpenOptions, open_gdl, with_proofs};
use crate::player::Build;

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

    /// Returns the checked rules, and the game with its engine if that was made before.
    fn game(&self, rules: &str) -> Result<(Arc<gdl::Game>, Option<Game>), FactoryError> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(seen) = last.as_ref().filter(|seen| seen.rules == rules) {
            return Ok((Arc::clone(&seen.game), seen.opened.clone()));
        }
        let source = Arc::new(Source::new("the rules of the match", rules));
        let game = open_gdl(source, &self.options)
            .map_err(|error| FactoryError::Rules(error.to_string()))?;
        let seen = Seen { rules: rules.to_owned(), game: Arc::clone(&game), opened: None };
        *last = Some(seen);
        Ok((game, None))
    }
}

/// Makes a circuit of a game if there is time, and remembers it.
fn with_engine(
    game: &Arc<gdl::Game>,
    until: Instant,
    last: &Mutex<Option<Seen>>,
    warn: &dyn Fn(&str),
) -> Game {
    let mut limits = CircuitLimits::default();
    limits.ground.deadline = Some(until);
    match game.compile(&limits) {
        Ok(compiled) => {
            let engine = Engine::GdlCircuit(Arc::clone(game), Arc::new(with_proofs(compiled)));
            let opened = Game::from_engine("the rules of the match", engine);
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
        let (game, opened) = self.game(rules)?;
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
        }))
    }

    fn preview(&self, rules: &str, until: Instant) {
        if let Ok((game, None)) = self.game(rules) {
            with_engine(&game, until, &self.last, self.warn.as_ref());
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
            None => with_engine(&self.game, half(until), &self.last, self.warn.as_ref()),
        };
        if let Ok(analysis) = opened.analysis()
            && let Err(why) = load_concepts(analysis, &self.spec)
        {
            (self.warn)(&why.to_string());
        }
        let (game, spec, role, seed) = (&opened, &self.spec, self.role, self.seed);
        game.run(Build { game, spec, role, seed, needs: RulesNeeded::Own })
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
