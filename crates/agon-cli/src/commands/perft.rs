//! `agon perft`: counts the sequences of joint moves of each length.

use std::time::{Duration, Instant};

use agon_game::{Continuous, Role};
use serde_json::json;

use crate::failure::{Failure, describe};
use crate::open::{self, PlayOptions};
use crate::terminal::{remark, say};
use agon::engine::{GamePosition, GameTask};

/// Count the sequences of joint moves of each length
#[derive(clap::Args)]
#[command(after_help = "\
For each depth, the line `perft DEPTH COUNT` gives the number of plays of exactly DEPTH steps. From
the depth at which plays end, the line `ended DEPTH COUNT` gives the number of plays that end within
DEPTH steps. Where moves have real parameters, only a sample of them is listed and counted.

Examples:
  agon perft tic-tac-toe --depth 9
  agon perft chess --depth 4 --seconds 60
  agon perft connect-four --depth 5 --json")]
pub(crate) struct Args {
    /// Name of a shipped game, path of a rulesheet, or - for standard input
    pub(super) game: String,
    /// Maximum number of steps
    #[arg(short, long, default_value_t = 3)]
    depth: usize,
    /// Time limit in seconds; depths that are not complete by then are not printed [default: none]
    #[arg(long)]
    seconds: Option<f64>,
    /// Print one JSON object per depth
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    pub(super) play: PlayOptions,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let Some(seconds) = args.seconds else {
        return open::open_engine(&args.game, &args.play)?.run(Perft { args, end: None });
    };
    let limit = Duration::try_from_secs_f64(seconds).map_err(|_| {
        Failure::unreadable(format!("--seconds: {seconds} is not a number of seconds"))
    })?;
    let end = Instant::now().checked_add(limit);
    open::open_engine(&args.game, &args.play.within(seconds))?.run(Perft { args, end })
}

/// The task of counting plays.
struct Perft<'a> {
    args: &'a Args,
    /// The time at which counting ends.
    end: Option<Instant>,
}

impl GameTask for Perft<'_> {
    type Output = Result<(), Failure>;

    fn run<P: GamePosition + 'static>(self, mut position: P) -> Result<(), Failure> {
        let Perft { args, end } = self;
        let mut is_noted = false;
        // Depth by depth: the first lines appear at once, and the user can stop at any time.
        for depth in 1..=args.depth {
            let mut count = Count { end, ..Count::default() };
            count.walk(&mut position, depth);
            if let Some(fault) = count.fault {
                return Err(Failure::wrong(format!("at depth {depth}: {fault}")));
            }
            if count.is_sampled && !is_noted {
                is_noted = true;
                remark!("note: moves have real parameters; only the listed samples are counted");
            }
            if args.json {
                say!(
                    "{}",
                    json!({"depth": depth, "perft": count.n_reached, "ended": count.n_ended})
                );
            } else {
                say!("perft {depth} {}", count.n_reached);
                if count.n_ended > 0 {
                    say!("ended {depth} {}", count.n_ended);
                }
            }
        }
        Ok(())
    }
}

/// Maximum number of joint moves of one position that are counted one by one.
const MAX_JOINTS: u64 = 1_000_000_000;

/// The number of plays up to a depth.
#[derive(Default)]
pub(crate) struct Count {
    /// Number of plays of exactly that depth.
    pub(crate) n_reached: u64,
    /// Number of plays that end within that depth.
    pub(crate) n_ended: u64,
    pub(crate) fault: Option<String>,
    /// Whether some moves have real parameters, so that only a sample of them is counted.
    pub(crate) is_sampled: bool,
    /// The time at which counting ends with a fault.
    pub(crate) end: Option<Instant>,
}

impl Count {
    pub(crate) fn walk<P: Continuous>(&mut self, position: &mut P, depth: usize) {
        if self.end.is_some_and(|end| Instant::now() >= end) {
            self.fault.get_or_insert_with(|| "the time is over".to_owned());
            return;
        }
        if position.is_terminal() {
            self.n_ended += 1;
            if let Some(fault) = position.fault() {
                self.fault.get_or_insert_with(|| describe(fault, position.shape()));
            }
        }
        if depth == 0 {
            self.n_reached += 1;
            return;
        }
        if position.is_terminal() {
            return;
        }
        let here = position.state().clone();
        let roles: Vec<Role> = position.shape().roles().collect();
        let legal: Vec<Vec<P::Move>> =
            roles.iter().map(|&role| position.legal_moves(role).to_vec()).collect();
        let families = roles.iter().flat_map(|&role| position.families(role));
        self.is_sampled |= families.into_iter().any(|family| !family.parameters.is_empty());
        let n_joints = legal.iter().fold(1, |n: u64, moves| n.saturating_mul(moves.len() as u64));
        if n_joints > MAX_JOINTS {
            self.fault.get_or_insert_with(|| {
                format!("a position has more than {MAX_JOINTS} joint moves, too many to be counted")
            });
            return;
        }
        let mut choice = vec![0; roles.len()];
        loop {
            let joint: Vec<P::Move> =
                choice.iter().zip(&legal).map(|(&i, moves)| moves[i].clone()).collect();
            position.advance(&joint);
            self.walk(position, depth - 1);
            position.go_to(&here);
            if self.fault.is_some() {
                return;
            }
            // The next joint move: a counter whose digits are the moves of the roles.
            let Some(role) = (0..roles.len()).rev().find(|&r| choice[r] + 1 < legal[r].len())
            else {
                return;
            };
            choice[role] += 1;
            choice[role + 1..].fill(0);
        }
    }
}
