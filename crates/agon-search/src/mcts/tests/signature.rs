//! Recorded hashes of complete reports for many option sets: they prove that a refactoring changes
//! nothing.
//!
//! The searches run on one thread with fixed seeds and numbers of iterations, so that every bit of
//! a report is determined. A change that is meant to alter the search updates the table below, and
//! its commit message says why.

use std::hash::{Hash, Hasher};

use agon_game::{Position, Rng, Role, Shape};
use rand::{RngExt, SeedableRng};

use super::super::hashing::{Mixer, mix};
use super::bounds;
use super::shipped::circuit;
use super::table_game::{At, Like, Place, Table, random_table};
use crate::{
    ActionHeuristic, Amaf, Bandit, Budget, Choice, FirstPlay, HeuristicUse, Leaves, Mcts,
    MctsOptions, Others, PlayoutPolicy, Report, Search, Simultaneous,
};

/// The recorded hashes by option set: on games given by tables, and on shipped games.
const RECORDED: &[(&str, u64, u64)] = &[
    ("default", 0x4f80005837cef9ba, 0xdbc9296b0353a6c8),
    ("plain", 0xb290980be3f763d5, 0xb8605bfd09ceb5b8),
    ("small batches", 0x081b4ca4cc9fb7cc, 0xed32dee4f08c16ce),
    ("tuned", 0x4df79d52337c1369, 0x2fcc5ecf3713a8d9),
    ("below mean", 0xa28c9cd4ee8e1b2b, 0xeb7f81c69c6aa9b4),
    ("urgency", 0x5be01f298115ae35, 0x1d014454b5093548),
    ("unsolved", 0x3590f9b39407743b, 0x8564b2c1ce5dd55e),
    ("paranoid", 0xc00639bf79d119b2, 0xdbc9296b0353a6c8),
    ("rave", 0x689ce193ce749934, 0xf0707edb39246a9d),
    ("grave", 0xd1386e17398d271d, 0xbbcbcf7767a0e4ae),
    ("mast", 0x3bbd07c77d59b1c1, 0x10ca6b17b23aa456),
    ("mast greedy", 0xdde7bc740ef6ca36, 0xdf47732a8c234e8e),
    ("past", 0xfe1eff1904b421a5, 0x2b585e92801d5800),
    ("nst", 0x616b7540aaef2662, 0xc6087490d1cc95fe),
    ("nst grave", 0xa0905cdafd9d5e35, 0xc18884c9d2a8a84d),
    ("regret matching", 0x285dcb30bc135fe4, 0x3dcb0f2eb54e04aa),
    ("iterated regret", 0x47ea6150485f2d86, 0x7afb002f7a11469d),
    ("heuristic tree", 0x96bf94f860c1a35b, 0xadea298cf1f20bdd),
    ("heuristic playout", 0x2a84fd678457982a, 0xc47528b44e4740d8),
    ("heuristic both", 0x760f9674a15a813a, 0x9bfaad1cc9fdb2be),
    ("implicit", 0xaea17d7d608770ed, 0x8c9b7749ef824e08),
];

/// Gives values that depend on nothing but the position, the role and the move; in some positions
/// none.
#[derive(Clone)]
struct HashedValues;

fn hashed_word<P: Position>(position: &P, role: Role, m: &P::Move) -> u64 {
    let mut hasher = Mixer::new(position.key() ^ role.index() as u64);
    m.hash(&mut hasher);
    hasher.finish()
}

impl<P: Position> ActionHeuristic<P> for HashedValues {
    fn values(
        &mut self,
        position: &P,
        role: Role,
        moves: &[P::Move],
        values: &mut Vec<f64>,
    ) -> bool {
        values.clear();
        values.extend(moves.iter().map(|m| (hashed_word(position, role, m) % 64) as f64 / 63.0));
        !position.key().is_multiple_of(5)
    }

    fn worth(&mut self, position: &P, role: Role) -> Option<f64> {
        let word = mix(position.key());
        let ours = (word % 101) as f64;
        (!word.is_multiple_of(7)).then_some(if role == Role::new(0) { ours } else { 100.0 - ours })
    }

    fn batch_size(&self) -> usize {
        4
    }

    fn fork(&self) -> Box<dyn ActionHeuristic<P>> {
        Box::new(self.clone())
    }
}

/// Returns option sets that together use every part of the search.
fn option_sets() -> Vec<(&'static str, MctsOptions)> {
    let default = || MctsOptions { max_playout_steps: 200, ..MctsOptions::default() };
    let by = |heuristic: HeuristicUse| MctsOptions { heuristic, ..default() };
    let off = HeuristicUse::OFF;
    vec![
        ("default", default()),
        ("plain", MctsOptions { max_playout_steps: 200, ..MctsOptions::plain() }),
        (
            "small batches",
            MctsOptions {
                leaves: Leaves { at_once: 5, playouts: 2, siblings: 2 },
                virtual_loss: 0.5,
                ..default()
            },
        ),
        ("tuned", MctsOptions { bandit: Bandit::TUNED, transpositions: false, ..default() }),
        ("below mean", MctsOptions { first_play: FirstPlay::BelowMean(0.1), ..default() }),
        (
            "urgency",
            MctsOptions { first_play: FirstPlay::Urgency(0.7), keep_tree: false, ..default() },
        ),
        ("unsolved", MctsOptions { solver: false, ..default() }),
        ("paranoid", MctsOptions { others: Others::Paranoid, ..default() }),
        ("rave", MctsOptions { amaf: Amaf::RAVE, ..default() }),
        ("grave", MctsOptions { amaf: Amaf::Grave { reference: 10, bias: 1e-5 }, ..default() }),
        ("mast", MctsOptions { policy: PlayoutPolicy::Mast, ..default() }),
        (
            "mast greedy",
            MctsOptions {
                policy: PlayoutPolicy::Mast,
                choice: Choice::EPSILON_GREEDY,
                ..default()
            },
        ),
        ("past", MctsOptions { policy: PlayoutPolicy::PAST, ..default() }),
        ("nst", MctsOptions { policy: PlayoutPolicy::NST, others: Others::Paranoid, ..default() }),
        ("nst grave", MctsOptions { policy: PlayoutPolicy::NST, amaf: Amaf::GRAVE, ..default() }),
        (
            "regret matching",
            MctsOptions { simultaneous: Simultaneous::REGRET_MATCHING, ..default() },
        ),
        (
            "iterated regret",
            MctsOptions { simultaneous: Simultaneous::ITERATED_REGRET, ..default() },
        ),
        ("heuristic tree", by(HeuristicUse { tree: true, ..off })),
        ("heuristic playout", by(HeuristicUse { playout: true, ..off })),
        ("heuristic both", by(HeuristicUse { playout: true, tree: true, abreast: 1, ..off })),
        ("implicit", by(HeuristicUse { implicit: 0.4, ..off })),
    ]
}

/// Returns a game in which two roles have too many joint moves for a table.
fn sparse_table() -> Table {
    const N_MOVES: usize = 66;
    let mut rng = Rng::seed_from_u64(9);
    let mut place = |first: usize, n_next: usize| Place {
        n_moves: vec![N_MOVES, N_MOVES],
        next: (0..N_MOVES * N_MOVES).map(|_| first + rng.random_range(0..n_next)).collect(),
        payoffs: vec![0.0; 2],
        chances: Vec::new(),
    };
    let mut places = vec![place(1, 3), place(4, 5), place(4, 5), place(4, 5)];
    places
        .extend((0..5).map(|at| Place::end(&[f64::from(at) * 25.0, 100.0 - f64::from(at) * 25.0])));
    Table { shape: Shape::new(vec!["row".into(), "column".into()], None), places, has_batch: true }
}

fn hash_report<M: Hash>(report: &Report<M>, hasher: &mut Mixer) {
    report.best.hash(hasher);
    for candidate in &report.candidates {
        candidate.m.hash(hasher);
        hasher.write_u64(candidate.visits);
        hasher.write_u64(candidate.value.to_bits());
        hasher.write_u64(candidate.probability.to_bits());
        candidate.is_proven.hash(hasher);
    }
    for line in &report.lines {
        line.joints.hash(hasher);
        hasher.write_u64(line.value.to_bits());
    }
    report.value.to_bits().hash(hasher);
    report.is_proven.hash(hasher);
    (report.iterations, report.nodes, report.playouts, report.depth).hash(hasher);
}

/// Plays a few steps of a game in which each role has its own search, and hashes all reports.
fn hash_match<P: Position>(start: P, options: &MctsOptions, n: u64, hasher: &mut Mixer) {
    let mut position = start;
    let mut rng = Rng::seed_from_u64(1);
    let mut joint = Vec::new();
    let roles: Vec<Role> = position.shape().players().collect();
    let search = |_: &Role| Mcts::with_heuristic(options.clone(), 3, Box::new(HashedValues));
    let mut searches: Vec<_> = roles.iter().map(search).collect();
    for _ in 0..3 {
        if position.is_terminal() {
            break;
        }
        position.draw(&mut rng, &mut joint);
        for (role, search) in roles.iter().zip(&mut searches) {
            let report = search.think(&mut position, *role, &Budget::iterations(n));
            hash_report(&report, hasher);
            hasher.write_u64(search.n_nodes() as u64);
            joint[role.index()] = report.best;
        }
        position.advance(&joint);
    }
}

fn hash_tables(options: &MctsOptions) -> u64 {
    let mut hasher = Mixer::new(1);
    let mut on = |start: At, options: &MctsOptions, n: u64| {
        hash_match(start, options, n, &mut hasher);
    };
    for like in [Like::Duel, Like::DuelWithChance, Like::Trio, Like::Puzzle] {
        for seed in 0..6 {
            on(random_table(like, 120, seed).start(), options, 700);
        }
    }
    // With few nodes, so that nodes are recycled.
    let small = MctsOptions { max_nodes: 1000, ..options.clone() };
    for (like, seed) in [(Like::Duel, 0), (Like::DuelWithChance, 2), (Like::Trio, 1)] {
        on(random_table(like, 9000, seed).start(), &small, 5000);
    }
    for seed in 0..6 {
        let table = Table { has_batch: seed % 2 == 0, ..bounds::random_table(seed) };
        on(table.start(), options, 700);
    }
    on(sparse_table().start(), options, 3000);
    hasher.finish()
}

fn hash_shipped(options: &MctsOptions) -> u64 {
    let mut hasher = Mixer::new(2);
    for name in ["tic-tac-toe", "connect-four", "bidding-tic-tac-toe", "dice-race", "blocker"] {
        hash_match(circuit(name), options, 1500, &mut hasher);
    }
    let small = MctsOptions { max_nodes: 1000, ..options.clone() };
    hash_match(circuit("bidding-tic-tac-toe"), &small, 6000, &mut hasher);
    hash_match(circuit("breakthrough"), &small, 3000, &mut hasher);
    hasher.finish()
}

/// Compares the hashes of all option sets with the recorded ones.
fn check_hashes(hash: fn(&MctsOptions) -> u64, recorded: impl Iterator<Item = u64>) {
    let found: Vec<(&str, u64)> =
        option_sets().iter().map(|(name, options)| (*name, hash(options))).collect();
    let names = RECORDED.iter().map(|(name, ..)| *name);
    let recorded: Vec<(&str, u64)> = names.zip(recorded).collect();
    let shown: String =
        found.iter().map(|(name, hash)| format!("    (\"{name}\", {hash:#018x}),\n")).collect();
    assert!(found == recorded, "found these hashes:\n{shown}");
}

#[test]
fn reports_on_table_games_have_the_recorded_hashes() {
    check_hashes(hash_tables, RECORDED.iter().map(|&(_, tables, _)| tables));
}

#[test]
fn reports_on_shipped_games_have_the_recorded_hashes() {
    check_hashes(hash_shipped, RECORDED.iter().map(|&(_, _, shipped)| shipped));
}
