//! Compares the strength and the speed of searches on shipped games.
//!
//! ```text
//! cargo xtask strength match A B [--games a,b,c] [--matches 40]
//!     [--iterations 1000 | --ms 100] [--seed 1]
//! cargo xtask strength kinds [--games a,b,c] [--ms 1000]
//! cargo xtask strength speed A [--games a,b,c] [--ms 1000]
//! cargo xtask strength threads A [--games a,b,c] [--ms 1000] [--matches 40]
//! cargo xtask strength rates A B … [--games a,b,c] [--ms 1000] [--matches 40]
//! cargo xtask strength proofs A B … [--games a,b,c] [--plies 16] [--matches 40]
//! ```
//!
//! - `match`: plays A against B. Both play every role equally often.
//! - `kinds`: the cost of playouts that look ahead.
//! - `speed`: playouts per second of a search, and of the engine alone.
//! - `threads`: what a second thread adds.
//! - `rates`: iterations per second of several players.
//! - `proofs`: playouts that players need to prove positions; see [`proofs`].
//!
//! A player is a list of words separated by commas. It starts with `plain` or `default`, followed
//! by any of `tuned`, `c=0.3`, `rave`, `k=500`, `grave`, `bias=1e-5`, `mast`, `past`, `nst`,
//! `uniform`, `decisive`, `careful`, `average`, `advantage`, `greedy=0.4`, `temperature=10`,
//! `leaves=64x32`, `siblings=3`, `solver=no`, `look=no`, `graph=no`, `loss=0.5`, `first=0.1`,
//! `matching`, `regret`, `threads=2`, `nodes=1000000`, and `scale=2` (a factor on its iterations).

mod kinds;
mod player;
mod proofs;

use std::time::{Duration, Instant};

use agon_circuit::ScalarCircuit;
use agon_game::{PlayoutRequest, Position, Rng, Role};
use agon_search::{Budget, Leaves, Mcts, MctsOptions, Search};
use rand::SeedableRng;

use crate::clock::thread_seconds;
use crate::rulesheets::shipped;
use player::{number, player};

/// What to play: the games, how often, and with which budget.
struct Plan {
    games: Vec<String>,
    matches: u64,
    iterations: Option<u64>,
    ms: u64,
    plies: usize,
    seed: u64,
}

impl Plan {
    fn budget(&self, scale: f64) -> Budget {
        match self.iterations {
            Some(n) => Budget::iterations((n as f64 * scale) as u64),
            None => Budget::until(Instant::now() + Duration::from_millis(self.ms)),
        }
    }
}

/// Plays one match with the first player in `seat` and the second one in all other seats. Returns
/// the payoff of the first, the mean payoff of the others, and the number of steps.
fn play(
    start: &ScalarCircuit,
    seat: Role,
    players: &[(MctsOptions, f64); 2],
    plan: &Plan,
    seed: u64,
) -> [f64; 3] {
    let mut position = start.clone();
    let mut rng = Rng::seed_from_u64(seed);
    let roles: Vec<Role> = position.shape().players().collect();
    let mut searches: Vec<(Role, f64, Mcts<ScalarCircuit>)> = roles
        .iter()
        .map(|&role| {
            let (options, scale) = &players[usize::from(role != seat)];
            (role, *scale, Mcts::new(options.clone(), seed * 16 + role.index() as u64))
        })
        .collect();
    let mut joint = Vec::new();
    let mut n_steps = 0.0;
    while !position.is_terminal() && n_steps < 500.0 {
        position.draw(&mut rng, &mut joint);
        for (role, scale, search) in &mut searches {
            if position.legal_moves(*role).len() > 1 {
                let report = search.think(&mut position, *role, &plan.budget(*scale));
                joint[role.index()] = report.best;
            }
        }
        position.advance(&joint);
        n_steps += 1.0;
    }
    let others: Vec<f64> =
        roles.iter().filter(|&&role| role != seat).map(|&role| position.payoff(role)).collect();
    [position.payoff(seat), others.iter().sum::<f64>() / others.len() as f64, n_steps]
}

/// Plays matches of two players and prints the share of the points that the first one gets.
fn strength(players: &[(MctsOptions, f64); 2], plan: &Plan) {
    println!(
        "{:24} {:>8} {:>7} {:>7} {:>7} {:>7}",
        "game", "points %", "+-95 %", "A", "B", "steps"
    );
    let (mut sum, mut sum_variance) = (0.0, 0.0);
    for name in &plan.games {
        let start = shipped(name);
        let seats: Vec<Role> = start.shape().players().collect();
        if seats.len() < 2 {
            continue;
        }
        let range = start.shape().payoffs.end() - start.shape().payoffs.start();
        let mut results = Vec::new();
        for at in 0..plan.matches {
            let seat = seats[at as usize % seats.len()];
            results.push(play(&start, seat, players, plan, plan.seed + at / seats.len() as u64));
        }
        let n = results.len() as f64;
        let points: Vec<f64> =
            results.iter().map(|[ours, theirs, _]| 50.0 + 50.0 * (ours - theirs) / range).collect();
        let mean = points.iter().sum::<f64>() / n;
        let variance =
            points.iter().map(|p| (p - mean) * (p - mean)).sum::<f64>() / (n - 1.0).max(1.0);
        let average = |at: usize| results.iter().map(|result| result[at]).sum::<f64>() / n;
        println!(
            "{name:24} {mean:8.1} {:7.1} {:7.1} {:7.1} {:7.1}",
            1.96 * (variance / n).sqrt(),
            average(0),
            average(1),
            average(2)
        );
        sum += mean;
        sum_variance += variance / n;
    }
    let n = plan.games.len() as f64;
    println!("{:24} {:8.1} {:7.1}", "all", sum / n, 1.96 * sum_variance.sqrt() / n);
}

/// Prints playouts per second of processor time: of the search, of the engine alone on one large
/// request, and of the engine alone on requests of the size that the search makes.
fn speed(options: &MctsOptions, plan: &Plan) {
    println!(
        "{:24} {:>12} {:>12} {:>6} {:>12} {:>10} {:>6}",
        "game", "search/s", "bare/s", "part", "requests/s", "nodes", "depth"
    );
    for name in &plan.games {
        let mut start = shipped(name);
        let mut batch = start.batch(1).expect("circuits play in batches");
        let mut request =
            PlayoutRequest { state: start.state().clone(), n_playouts: 1024, expected_steps: 0 };
        let bare = loop {
            let began = thread_seconds();
            batch.play_out(std::slice::from_ref(&request), 1000);
            let seconds = thread_seconds() - began;
            if seconds * 2000.0 > plan.ms as f64 {
                break request.n_playouts as f64 / seconds;
            }
            request.n_playouts *= 2;
        };
        let Leaves { at_once, playouts, .. } = options.leaves;
        let small = PlayoutRequest {
            state: start.state().clone(),
            n_playouts: playouts.into(),
            expected_steps: 0,
        };
        let requests = vec![small; at_once as usize];
        let (began, mut n) = (thread_seconds(), 0);
        while thread_seconds() - began < plan.ms as f64 / 2000.0 {
            batch.play_out(&requests, 1000);
            n += u64::from(at_once * playouts);
        }
        let requests_rate = n as f64 / (thread_seconds() - began);
        let us = start.choosers().next().unwrap_or(Role::new(0));
        let mut search = Mcts::new(options.clone(), 1);
        // The first call generates the native code.
        search.think(&mut start, us, &Budget::iterations(1000));
        let began = thread_seconds();
        let report = search.think(&mut start, us, &plan.budget(1.0));
        let seconds = if options.threads > 1 { report.seconds } else { thread_seconds() - began };
        let rate = report.playouts as f64 / seconds;
        println!(
            "{name:24} {rate:12.0} {bare:12.0} {:6.2} {requests_rate:12.0} {:10} {:6}",
            rate / bare,
            search.n_nodes(),
            report.depth
        );
    }
}

/// Compares a search with one thread to the same search with two threads, by wall-clock time.
///
/// `plan.matches` times, measures one thread, two threads that make the same number of iterations,
/// two threads for the same time, and two independent searches at the same time. Prints the medians
/// and the speed-ups with 95 % confidence intervals.
///
/// The four are compared within a second or two, because the speed of the machine may change from
/// minute to minute. The independent searches show how much a second processor is worth on the
/// machine. In the same time, two threads build a larger tree, in which every iteration is slower,
/// so both speed-ups are printed.
fn threads(options: &MctsOptions, plan: &Plan) {
    println!(
        "{:24} {:>10} {:>10} {:>6}  {:13} {:>9}  {:13} {:>6}  95 %",
        "game", "one/s", "two/s", "times", "95 %", "same time", "95 %", "apart"
    );
    for name in &plan.games {
        let start = shipped(name);
        let mut rates = [const { Vec::new() }; 4];
        for repeat in 0..plan.matches {
            let seed = plan.seed + repeat;
            let one = rate(options, 1, &start, seed, &|| plan.budget(1.0));
            rates[0].push(one.0);
            // The order rotates, because the speed of the machine drifts.
            for at in 0..3 {
                let way = 1 + (at + repeat as usize) % 3;
                rates[way].push(match way {
                    1 => rate(options, 2, &start, seed, &|| Budget::iterations(one.1)).0,
                    2 => rate(options, 2, &start, seed, &|| plan.budget(1.0)).0,
                    _ => std::thread::scope(|scope| {
                        let second = start.clone();
                        let other = scope
                            .spawn(move || rate(options, 1, &second, seed, &|| plan.budget(1.0)));
                        rate(options, 1, &start, seed, &|| plan.budget(1.0)).0
                            + other.join().expect("searches end").0
                    }),
                });
            }
        }
        let times = |way: usize| {
            let (median, least, most) = times(&rates[0], &rates[way]);
            (median, format!("{least:.2} to {most:.2}"))
        };
        let ((same_work, a), (same_time, b), (apart, c)) = (times(1), times(2), times(3));
        let [one, two, ..] = rates.map(|mut rates| median(&mut rates));
        println!(
            "{name:24} {one:10.0} {two:10.0} {same_work:6.2}  {a:13} {same_time:9.2}  {b:13} \
             {apart:6.2}  {c}"
        );
    }
}

/// Returns the median of the ratios of second to first, pair by pair, and its confidence interval.
fn times(first: &[f64], second: &[f64]) -> (f64, f64, f64) {
    let mut times: Vec<f64> =
        first.iter().zip(second).map(|(first, second)| second / first).collect();
    let (least, most) = around_median(times.len());
    (median(&mut times), times[least], times[most])
}

/// Prints the iterations per second of several players, and the ratio to the first player with its
/// 95 % confidence interval. Players alternate, because the speed of the machine may change from
/// minute to minute.
fn rates(names: &[&str], plan: &Plan) {
    println!("{:24} {:40} {:>12} {:>6}  95 %", "game", "player", "iterations/s", "times");
    for game in &plan.games {
        let start = shipped(game);
        let mut rates = vec![Vec::new(); names.len()];
        for repeat in 0..plan.matches as usize {
            for at in 0..names.len() {
                // The order rotates, because the speed of the machine drifts.
                let at = (at + repeat) % names.len();
                let (options, _) = player(names[at]);
                let seed = plan.seed + repeat as u64;
                rates[at]
                    .push(rate(&options, options.threads, &start, seed, &|| plan.budget(1.0)).0);
            }
        }
        for (name, own) in names.iter().zip(&rates) {
            let (times, least, most) = times(&rates[0], own);
            let own = median(&mut own.clone());
            println!("{game:24} {name:40} {own:12.0} {times:6.2}  {least:.2} to {most:.2}");
        }
    }
}

/// Returns the iterations per second and the number of iterations of a search. The budget is asked
/// for when the native code has been generated.
fn rate(
    options: &MctsOptions,
    threads: usize,
    start: &ScalarCircuit,
    seed: u64,
    budget: &dyn Fn() -> Budget,
) -> (f64, u64) {
    let mut start = start.clone();
    let us = start.choosers().next().unwrap_or(Role::new(0));
    let mut search = Mcts::new(MctsOptions { threads, ..options.clone() }, seed);
    // The first call generates the native code.
    search.think(&mut start, us, &Budget::iterations(1000));
    let report = search.think(&mut start, us, &budget());
    (report.iterations as f64 / report.seconds, report.iterations)
}

/// Sorts the values and returns their median.
fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Returns the indices of the 95 % confidence interval of the median among `n` sorted values. It
/// holds for every distribution, because a value is above the median as often as below.
fn around_median(n: usize) -> (usize, usize) {
    let half_width = 0.98 * (n as f64).sqrt();
    let least = (n as f64 / 2.0 - half_width).floor().max(0.0) as usize;
    (least, n - 1 - least)
}

pub(crate) fn run(args: Vec<String>) {
    let mut plan = Plan {
        games: "connect-four,breakthrough,othello".split(',').map(str::to_owned).collect(),
        matches: 40,
        iterations: None,
        ms: 100,
        plies: 16,
        seed: 1,
    };
    let mut words = Vec::new();
    let mut left = args.iter();
    while let Some(argument) = left.next() {
        let mut value =
            || left.next().unwrap_or_else(|| panic!("`{argument}` needs a value")).as_str();
        match argument.as_str() {
            "--games" => plan.games = value().split(',').map(str::to_owned).collect(),
            "--matches" => plan.matches = number(value()) as u64,
            "--iterations" => plan.iterations = Some(number(value()) as u64),
            "--ms" => plan.ms = number(value()) as u64,
            "--plies" => plan.plies = number(value()) as usize,
            "--seed" => plan.seed = number(value()) as u64,
            word => words.push(word),
        }
    }
    match words[..] {
        ["match", a, b] => strength(&[player(a), player(b)], &plan),
        ["kinds"] => kinds::kinds(&plan),
        ["speed", a] => speed(&player(a).0, &plan),
        ["threads", a] => threads(&player(a).0, &plan),
        ["rates", ref names @ ..] if !names.is_empty() => rates(names, &plan),
        ["proofs", ref names @ ..] if !names.is_empty() => proofs::proofs(names, &plan),
        _ => panic!(
            "usage: match A B, kinds, speed A, threads A, rates A B …, or proofs A B …; \
             see xtask/src/strength.rs"
        ),
    }
}
