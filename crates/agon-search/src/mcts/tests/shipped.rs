//! Searches on the shipped games.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use agon_game::{Notation, Position, Rng, Role};
use agon_gdl::check::check;
use agon_gdl::interpreter::{Game, Options};
use agon_text::Source;
use rand::SeedableRng;

use super::{check_report, think};
pub(super) use crate::sample::shipped as circuit;
use crate::{
    Amaf, Budget, Choice, Leaves, Mcts, MctsOptions, Others, PlayoutPolicy, Search, Simultaneous,
};

fn games() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../games")
}

fn open(path: &Path) -> Arc<Game> {
    let text = std::fs::read_to_string(path).expect("shipped games can be read");
    let checked = check(Arc::new(Source::new(path.to_string_lossy(), text)));
    Game::open(checked.rules.expect("shipped games have no errors"), Options::default())
        .unwrap_or_else(|finding| panic!("{}: {}", path.display(), finding.message))
}

/// Plays a few steps of a game in which all roles search.
fn play<P: Notation>(start: &P, options: &MctsOptions, n: u64, n_steps: usize) {
    let mut position = start.clone();
    let mut rng = Rng::seed_from_u64(1);
    let mut joint = Vec::new();
    let roles: Vec<Role> = position.shape().players().collect();
    let mut searches: Vec<_> = roles.iter().map(|_| Mcts::new(options.clone(), 3)).collect();
    for _ in 0..n_steps {
        if position.is_terminal() {
            break;
        }
        position.draw(&mut rng, &mut joint);
        let key = position.key();
        for (role, search) in roles.iter().zip(&mut searches) {
            let report = search.think(&mut position, *role, &Budget::iterations(n));
            check_report(&position, &report);
            assert!(report.iterations <= n && report.playouts <= report.iterations);
            joint[role.index()] = report.best;
        }
        assert_eq!(position.key(), key, "a search leaves the position where it was");
        position.advance(&joint);
    }
}

/// Returns options that together use every part of the search.
fn ways() -> [MctsOptions; 5] {
    let default = MctsOptions { max_playout_steps: 200, ..MctsOptions::default() };
    [
        default.clone(),
        MctsOptions {
            policy: PlayoutPolicy::Mast,
            amaf: Amaf::RAVE,
            simultaneous: Simultaneous::REGRET_MATCHING,
            ..default.clone()
        },
        MctsOptions {
            policy: PlayoutPolicy::NST,
            amaf: Amaf::GRAVE,
            choice: Choice::EPSILON_GREEDY,
            others: Others::Paranoid,
            ..default.clone()
        },
        MctsOptions { simultaneous: Simultaneous::ITERATED_REGRET, threads: 2, ..default.clone() },
        MctsOptions {
            policy: PlayoutPolicy::PAST,
            look_ahead: false,
            leaves: Leaves::ONE,
            ..default
        },
    ]
}

#[test]
fn games_of_every_kind_are_played() {
    // Turn-taking, simultaneous moves, chance, hidden information (which the search sees), and one,
    // three and four players.
    for name in [
        "tic-tac-toe",
        "connect-three",
        "nim",
        "rock-paper-scissors",
        "bidding-tic-tac-toe",
        "dice-race",
        "kuhn-poker",
        "hanoi",
        "three-way-tic-tac-toe",
        "four-way-tron",
        "pursuit",
    ] {
        let start = circuit(name);
        for options in ways() {
            play(&start, &options, 40, 3);
        }
    }
}

#[test]
fn the_interpreter_is_searched_too() {
    for (family, name) in
        [("gdl", "tic-tac-toe"), ("gdl2", "dice-race"), ("gdl", "rock-paper-scissors")]
    {
        let game = open(&games().join(family).join(format!("{name}.kif")));
        for options in ways() {
            play(&game.start(), &options, 15, 2);
        }
    }
}

#[test]
fn tic_tac_toe_is_a_draw() {
    for options in [
        MctsOptions::default(),
        MctsOptions {
            leaves: Leaves { at_once: 8, playouts: 4, siblings: 3 },
            ..MctsOptions::default()
        },
    ] {
        let mut position = circuit("tic-tac-toe");
        let report = think(&mut position, 0, &options, 1, 3_000_000);
        assert!(report.is_proven, "after {} iterations", report.iterations);
        assert_eq!(report.value, 50.0);
    }
}

#[test]
fn the_same_seed_gives_the_same_report_on_shipped_games() {
    for name in ["connect-four", "breakthrough", "bidding-tic-tac-toe", "dice-race"] {
        let mut start = circuit(name);
        for options in ways().into_iter().filter(|options| options.threads == 1) {
            let mut one = think(&mut start, 0, &options, 5, 600);
            let mut other = think(&mut start, 0, &options, 5, 600);
            (one.seconds, other.seconds) = (0.0, 0.0);
            assert_eq!(one, other, "{name}");
        }
    }
}

#[test]
fn memory_is_bounded() {
    for name in ["connect-four", "bidding-tic-tac-toe"] {
        let mut start = circuit(name);
        for options in ways() {
            let mut search = Mcts::new(MctsOptions { max_nodes: 1000, ..options }, 1);
            let mut sizes = Vec::new();
            for _ in 0..8 {
                let report = search.think(&mut start, Role::new(0), &Budget::iterations(700));
                check_report(&start, &report);
                sizes.push(search.n_nodes());
            }
            // A batch may add its leaves and their terminal children.
            assert!(sizes.iter().all(|&n| n < 1000 + 64 * 10), "{name}: {sizes:?}");
        }
        let mut search = Mcts::new(MctsOptions { max_nodes: 1000, ..MctsOptions::plain() }, 1);
        let report = search.think(&mut start, Role::new(0), &Budget::iterations(8000));
        check_report(&start, &report);
        // Recycling keeps half of the nodes, less those with as few visits as the most visited node
        // that is removed.
        assert!((250..=1000).contains(&search.n_nodes()), "{name}: {}", search.n_nodes());
        let visits: u64 = report.candidates.iter().map(|candidate| candidate.visits).sum();
        assert_eq!(visits, 8000, "the statistics of moves are kept");
    }
}

/// Against random moves, we get at least what was proved.
#[test]
fn proved_payoffs_are_reached() {
    for name in ["tic-tac-toe", "connect-three", "nim", "three-way-tic-tac-toe"] {
        let start = circuit(name);
        let us = Role::new(0);
        for seed in 0..6 {
            let mut position = start.clone();
            let mut rng = Rng::seed_from_u64(seed);
            let mut search = Mcts::new(MctsOptions::default(), seed);
            let mut joint = Vec::new();
            let mut proved = f64::NEG_INFINITY;
            while !position.is_terminal() {
                position.draw(&mut rng, &mut joint);
                let report = search.think(&mut position, us, &Budget::iterations(2000));
                check_report(&position, &report);
                if report.is_proven {
                    assert!(report.value >= proved, "{name}: {} after {proved}", report.value);
                    proved = report.value;
                }
                joint[us.index()] = report.best;
                position.advance(&joint);
            }
            assert!(
                position.payoff(us) >= proved,
                "{name}: {} after {proved}",
                position.payoff(us)
            );
        }
    }
}

/// Where the role to move wins at once, the tree stores only that; lines go to the end all the
/// same.
#[test]
fn lines_of_won_games_go_to_the_end() {
    let mut n_won = 0;
    for seed in 0..40 {
        let mut position = circuit("connect-four");
        let mut rng = Rng::seed_from_u64(seed);
        let mut joint = Vec::new();
        for _ in 0..20 {
            position.draw(&mut rng, &mut joint);
            position.advance(&joint);
            if position.is_terminal() {
                break;
            }
        }
        let Some(us) = position.choosers().next().filter(|_| !position.is_terminal()) else {
            continue;
        };
        let report = think(&mut position, us.index(), &MctsOptions::default(), seed, 20_000);
        if !report.is_proven || report.value < 100.0 {
            continue;
        }
        n_won += 1;
        let mut along = position.clone();
        report.lines[0].joints.iter().for_each(|joint| along.advance(joint));
        assert!(
            along.is_terminal() && along.payoff(us) == 100.0,
            "seed {seed}: {:?}",
            report.lines[0]
        );
    }
    assert!(n_won > 10, "{n_won} of them were won");
}
