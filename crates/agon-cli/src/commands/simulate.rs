//! `agon simulate`: plays random games and prints statistics.

use std::time::{Duration, Instant};

use agon_game::{Rng, Role};
use rand::SeedableRng as _;
use serde_json::json;

use crate::failure::{Failure, describe};
use crate::open::{self, PlayOptions};
use crate::terminal;
use crate::terminal::say;
use agon::engine::{GamePosition, GameTask};

/// Play random games and show statistics: lengths and mean payoffs
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  agon simulate tic-tac-toe
  agon simulate connect-four -n 1000 --seed 7 --json")]
pub(crate) struct Args {
    /// Name of a shipped game, path of a rulesheet, or - for standard input
    pub(super) game: String,
    /// Number of plays
    #[arg(short, long, default_value_t = 100)]
    n: u64,
    /// Seed of the random number generator: the same seed gives the same plays
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Maximum number of steps of a play
    #[arg(long, default_value_t = 1000)]
    max_steps: usize,
    /// Time limit in seconds; a play that it cuts off is not counted
    #[arg(long)]
    seconds: Option<f64>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    pub(super) play: PlayOptions,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let limit = args.seconds.map(Duration::try_from_secs_f64).transpose();
    let limit = limit.map_err(|error| Failure::unreadable(format!("--seconds: {error}")))?;
    let opened = open::open_engine(&args.game, &args.play)?;
    opened.run(Simulate { args, limit, engine: opened.engine().name() })
}

/// The task of playing random games.
struct Simulate<'a> {
    args: &'a Args,
    limit: Option<Duration>,
    /// The name of the engine.
    engine: &'static str,
}

impl GameTask for Simulate<'_> {
    type Output = Result<(), Failure>;

    fn run<P: GamePosition + 'static>(self, start: P) -> Result<(), Failure> {
        let args = self.args;
        let shape = start.shape().clone();
        let mut rng = Rng::seed_from_u64(args.seed);
        let bar = terminal::progress(args.n, "playing");
        let began = Instant::now();
        let mut outcomes = Outcomes::new(shape.role_names.len());
        let mut position = start.clone();
        for _ in 0..args.n {
            if self.limit.is_some_and(|limit| began.elapsed() > limit) {
                break;
            }
            position.go_to(start.state());
            let is_over = || self.limit.is_some_and(|limit| began.elapsed() > limit);
            // A play that the time limit cuts off is not counted: its length would say nothing.
            let Some(n_steps) = play_out(&mut position, &mut rng, args.max_steps, &is_over) else {
                break;
            };
            if let Some(fault) = position.fault() {
                outcomes.faults.push(describe(fault, &shape));
            }
            outcomes.add(
                n_steps,
                position.is_terminal(),
                shape.roles().map(|role| position.payoff(role)),
            );
            bar.inc(1);
        }
        bar.finish_and_clear();
        let seconds = began.elapsed().as_secs_f64();
        if args.json {
            outcomes.print_json(args, &shape, self.engine, seconds);
        } else {
            outcomes.print(args, &shape, self.engine, seconds);
        }
        match outcomes.faults.first() {
            None => Ok(()),
            Some(fault) => {
                let plays = plays(outcomes.faults.len() as u64);
                Err(Failure::wrong(format!("{plays} could not continue; the first: {fault}")))
            }
        }
    }
}

/// Plays random moves until play ends, at most `max_steps` of them. Returns the number of steps, or
/// `None` if the time is over before that.
///
/// All engines list moves in the same order, and [`agon_game::Position::draw`] uses one random
/// number for each role. So a seed gives the same plays on every engine. The playouts of the
/// engines themselves are faster and draw in their own ways.
fn play_out<P: GamePosition>(
    position: &mut P,
    rng: &mut Rng,
    max_steps: usize,
    is_over: &dyn Fn() -> bool,
) -> Option<usize> {
    let mut joint = Vec::new();
    for step in 0..max_steps {
        if position.is_terminal() {
            return Some(step);
        }
        if is_over() {
            return None;
        }
        position.draw(rng, &mut joint);
        position.advance(&joint);
    }
    Some(max_steps)
}

/// Returns a number of plays in words.
fn plays(n: u64) -> String {
    if n == 1 { "1 play".to_owned() } else { format!("{n} plays") }
}

/// Statistics of the plays.
struct Outcomes {
    n_plays: u64,
    n_ended: u64,
    n_states: u64,
    shortest: usize,
    longest: usize,
    /// By role: the sum of payoffs.
    sums: Vec<f64>,
    /// By role: the sum of squared payoffs.
    squares: Vec<f64>,
    faults: Vec<String>,
}

impl Outcomes {
    fn new(n_roles: usize) -> Outcomes {
        Outcomes {
            n_plays: 0,
            n_ended: 0,
            n_states: 0,
            shortest: usize::MAX,
            longest: 0,
            sums: vec![0.0; n_roles],
            squares: vec![0.0; n_roles],
            faults: Vec::new(),
        }
    }

    fn add(&mut self, n_steps: usize, ended: bool, payoffs: impl Iterator<Item = f64>) {
        self.n_plays += 1;
        self.n_ended += u64::from(ended);
        self.n_states += n_steps as u64;
        self.shortest = self.shortest.min(n_steps);
        self.longest = self.longest.max(n_steps);
        for ((sum, square), payoff) in self.sums.iter_mut().zip(&mut self.squares).zip(payoffs) {
            *sum += payoff;
            *square += payoff * payoff;
        }
    }

    fn mean(&self, role: Role) -> f64 {
        self.sums[role.index()] / self.n_plays.max(1) as f64
    }

    /// Returns half the width of the 95 % confidence interval of the mean.
    fn half_width(&self, role: Role) -> f64 {
        let (n, mean) = (self.n_plays.max(1) as f64, self.mean(role));
        let variance = (self.squares[role.index()] / n - mean * mean).max(0.0);
        1.96 * (variance / n).sqrt()
    }

    fn mean_length(&self) -> f64 {
        self.n_states as f64 / self.n_plays.max(1) as f64
    }

    fn print(&self, args: &Args, shape: &agon_game::Shape, engine: &str, seconds: f64) {
        say!(
            "{}: {} at random, seed {}",
            terminal::bold(&args.game),
            plays(self.n_plays),
            args.seed
        );
        if self.n_plays > 0 {
            let (shortest, longest) = (self.shortest, self.longest);
            say!("  length  {:.2} on average, {shortest} to {longest}", self.mean_length());
        }
        if self.n_ended < self.n_plays {
            say!("  {} were cut off after {} steps", self.n_plays - self.n_ended, args.max_steps);
        }
        let width = shape.role_names.iter().map(String::len).max().unwrap_or(0);
        for role in shape.players() {
            let (name, mean) = (&shape.role_names[role.index()], self.mean(role));
            say!("  {name:width$}  {mean:6.2} ± {:.2} points", self.half_width(role));
        }
        let rate = self.n_states as f64 / seconds.max(1e-9);
        say!("{}", terminal::dim(&format!("  {seconds:.2} s, {rate:.0} states/s, {engine}")));
    }

    fn print_json(&self, args: &Args, shape: &agon_game::Shape, engine: &str, seconds: f64) {
        let players: Vec<_> = shape
            .players()
            .map(|role| {
                let name = &shape.role_names[role.index()];
                json!({"role": name, "mean": self.mean(role),
                    "half_width_95": self.half_width(role)})
            })
            .collect();
        let object = json!({
            "game": args.game, "seed": args.seed, "engine": engine, "plays": self.n_plays, "ended": self.n_ended,
            "states": self.n_states, "mean_length": self.mean_length(),
            "shortest": if self.n_plays > 0 { self.shortest } else { 0 }, "longest": self.longest,
            "players": players, "faults": self.faults.len(), "seconds": seconds,
            "states_per_s": self.n_states as f64 / seconds.max(1e-9),
        });
        say!("{object}");
    }
}
