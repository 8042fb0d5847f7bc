//! `agon bench --signature`: numbers that pin the behaviour of every search.
//!
//! Fixed games are played with fixed seeds and budgets of iterations by every kind of search. The
//! number of a kind is a hash of the moves made and of everything that the players report: values,
//! visits, lines, node counts. A commit that changes play changes a number. The recorded numbers
//! are in `tests/signature.txt`, and a test compares them.

use std::collections::BTreeMap;

use agon::Game;
use agon::match_setup::{MatchLimits, MatchSetup, NoOutsidePlayers};
use agon::open::{OpenOptions, Purpose};
use agon_match::Event;
use serde_json::json;

use super::Args;
use crate::failure::Failure;
use crate::terminal::say;

/// A search, and the games by which it is pinned.
struct Case {
    kind: &'static str,
    /// The player of every role.
    player: &'static str,
    games: &'static [&'static str],
    /// Iterations for each move.
    iterations: u64,
    /// Steps of each match.
    steps: usize,
}

const fn case(
    kind: &'static str,
    player: &'static str,
    games: &'static [&'static str],
    iterations: u64,
    steps: usize,
) -> Case {
    Case { kind, player, games, iterations, steps }
}

/// Each line: kind, player, games, iterations for each move, steps.
#[rustfmt::skip]
const CASES: &[Case] = &[
    case("mcts", "mcts",
        &["connect-four", "breakthrough", "nine-board-tic-tac-toe", "toss/gomoku",
            "three-way-tic-tac-toe", "amazons"], 20000, 3),
    case("mcts", "mcts(bandit=tuned,first-play=below)", &["hex", "dots-and-boxes"], 5000, 3),
    case("uct", "uct", &["connect-four", "knightthrough", "chinese-checkers"], 1000, 4),
    case("uct", "uct", &["toss/chess"], 20, 2),
    case("amaf", "uct(amaf=rave)", &["connect-four", "gomoku"], 1000, 3),
    case("amaf", "uct(amaf=grave)", &["connect-four", "hex"], 1000, 3),
    case("policy", "uct(policy=mast)", &["connect-four", "othello"], 500, 3),
    case("policy", "uct(policy=past)", &["tic-tac-toe", "pawn-whopping"], 500, 3),
    case("policy", "uct(policy=nst,choice=greedy)", &["connect-four", "pentago"], 300, 2),
    case("heuristic", "uct(action-heuristic=combined)",
        &["tic-tac-toe", "connect-three", "sheep-and-wolf"], 500, 3),
    case("heuristic", "mcts(action-heuristic=tree)", &["tic-tac-toe", "nim"], 2000, 3),
    case("goal-terms", "mcts(implicit-minimax=terms)",
        &["toss/connect-four", "toss/breakthrough"], 2000, 3),
    case("goal-terms", "mcts(prior=terms)", &["toss/gomoku", "toss/tic-tac-toe"], 2000, 3),
    case("simultaneous", "mcts",
        &["blocker", "bidding-tic-tac-toe", "four-way-tron",
            "toss/concurrent-tic-tac-toe"], 5000, 3),
    case("simultaneous", "mcts(simultaneous=rm)",
        &["blocker", "rock-paper-scissors", "pursuit"], 2000, 3),
    case("simultaneous", "uct(simultaneous=irm)",
        &["blocker", "matching-pennies", "prisoners-dilemma"], 1000, 3),
    case("alphabeta", "alphabeta", &["tic-tac-toe", "checkers", "toss/pawn-whopping"], 2000, 4),
    case("alphabeta", "alphabeta(eval=fuzzy)",
        &["connect-four", "breakthrough", "three-way-tic-tac-toe"], 1000, 3),
    case("alphabeta", "alphabeta(eval=concepts,concepts-plays=200)", &["connect-three"], 1000, 3),
    case("alphabeta", "alphabeta(eval=terms)",
        &["toss/connect-four", "toss/breakthrough", "toss/rewriting"], 500, 3),
    case("bestfirst", "bestfirst", &["connect-three", "skirmish"], 1000, 3),
    case("bestfirst", "bestfirst(eval=fuzzy)", &["connect-four"], 1000, 3),
    case("minimax", "minimax(games=500)", &["breakthrough", "othello", "connect-three"], 2000, 3),
    case("minimax", "minimax(learn=0)", &["toss/connect-four", "checkers"], 2000, 3),
    case("puzzle", "puzzle", &["eight-puzzle", "hanoi", "lights-out", "peg-solitaire"], 20000, 4),
    case("hidden", "hidden",
        &["kuhn-poker", "krieg-tic-tac-toe", "liars-dice", "mastermind", "dice-race"], 500, 3),
    case("solver", "solver",
        &["tic-tac-toe", "nim", "connect-three", "toss/stepping-stones"], 5000, 4),
    case("simple", "greedy", &["connect-four", "dice-race", "monty-hall"], 10, 4),
    case("simple", "random", &["checkers", "toss/entanglement"], 10, 10),
];

/// The seed of every match.
const SEED: u64 = 20_260;

/// Prints the number of each kind of search, and the signature of them all.
pub(super) fn run(args: &Args) -> Result<(), Failure> {
    let mut numbers: BTreeMap<&'static str, Checksum> = BTreeMap::new();
    for case in CASES {
        let number = numbers.entry(case.kind).or_default();
        for game in case.games {
            play(case, game, number)?;
        }
    }
    let mut total = Checksum::default();
    for number in numbers.values() {
        total.add(&number.short().to_string());
    }
    if args.json {
        let kinds: serde_json::Map<String, serde_json::Value> = numbers
            .iter()
            .map(|(kind, number)| ((*kind).to_owned(), json!(number.short())))
            .collect();
        say!("{}", json!({"kinds": kinds, "signature": total.short()}));
        return Ok(());
    }
    for (kind, number) in &numbers {
        say!("{kind:14} {:08}", number.short());
    }
    say!("signature: {:08}", total.short());
    Ok(())
}

fn play(case: &Case, name: &str, number: &mut Checksum) -> Result<(), Failure> {
    let options = OpenOptions { purpose: Purpose::ReproducibleSearch, ..OpenOptions::default() };
    let game = Game::open_with(name, &options)?;
    let spec = crate::hosted_match::spec("--signature", case.player)?;
    let n_players = game.shape().players().count();
    let limits = MatchLimits {
        iterations: Some(case.iterations),
        seed: SEED,
        max_steps: case.steps,
        ..MatchLimits::default()
    };
    let setup = MatchSetup::new(game, vec![spec; n_players], limits)?;
    let seated = setup.seat(&NoOutsidePlayers)?;
    number.add(&format!("{name} {}", case.player));
    let mut thoughts: BTreeMap<usize, String> = BTreeMap::new();
    setup.play(seated, Vec::new(), &|| 0, &mut |game, event| match event {
        Event::Chosen(role, Ok(choice), _) => {
            if let Some(thought) = &choice.thought {
                let name = &game.shape().role_names[role.index()];
                thoughts.insert(role.index(), format!("{name} {}", thought.to_json()));
            }
        }
        Event::Step(step) => {
            number.add(&step.joint.join(" "));
            std::mem::take(&mut thoughts).values().for_each(|thought| number.add(thought));
        }
        Event::Chosen(_, Err(_), _) | Event::Ready(..) | Event::Overdue(_) | Event::Over => {}
    });
    Ok(())
}

/// The FNV-1a hash of lines of text.
struct Checksum(u64);

impl Default for Checksum {
    fn default() -> Checksum {
        Checksum(0xcbf2_9ce4_8422_2325)
    }
}

impl Checksum {
    fn add(&mut self, line: &str) {
        for byte in line.bytes().chain([b'\n']) {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }

    /// Returns eight decimal digits, enough to notice a change.
    fn short(&self) -> u64 {
        self.0 % 100_000_000
    }
}
