//! Measures the evolution of differential equations: `cargo xtask evolve`.
//!
//! The first table has steps per second of processor time, and the error against the closed form.
//! The second has the impacts of a bouncing ball, whose times are known. The third has evaluations
//! of the right-hand side of an orbit by byte code, one point at a time and in 16 lanes.

use std::hint::black_box;

use agon_reals::evolve::{Evolution, EvolveOptions, Method, System, evolve};
use agon_reals::expression::{Condition, Expr, Pool, PoolFull};
use agon_reals::program::Program;
use agon_reals::rational::Rational;
use agon_reals::real::Real;

use crate::clock::thread_seconds;

/// Seconds of processor time that a measurement takes at least.
const MEASURED_SECONDS: f64 = 0.3;

/// Number of impacts of the ball.
const N_IMPACTS: usize = 30;

pub(crate) fn run(_: Vec<String>) {
    let (pool, problems) = problems().expect("the terms fit into a pool");
    println!(
        "{:<24} {:<16} {:>10} {:>10} {:>12} {:>10}",
        "problem", "method", "tolerance", "steps", "steps/s", "error"
    );
    for problem in &problems {
        for (name, method, tolerance) in [
            ("dormand-prince", Method::DormandPrince, 1e-9),
            ("dormand-prince", Method::DormandPrince, 1e-12),
            ("cash-karp", Method::CashKarp, 1e-9),
            ("runge-kutta 4", Method::RungeKutta4 { step: 1e-3 }, 1e-9),
            ("enclosure", Method::Enclosure, 1e-9),
        ] {
            if method == Method::Enclosure && problem.name.contains("e = 0.5") {
                continue;
            }
            steps(&pool, problem, name, method, tolerance);
        }
    }
    println!();
    println!(
        "{:<24} {:>12} {:>12} {:>12}",
        "ball, 30 impacts", "us/impact", "worst error", "radius"
    );
    for (name, method) in [
        ("polynomial", Method::Polynomial),
        ("dormand-prince", Method::DormandPrince),
        ("cash-karp", Method::CashKarp),
    ] {
        impacts(&pool, problems.last().expect("the ball is last"), name, method);
    }
    println!();
    lanes(&pool, &problems[2]);
}

struct Problem {
    name: &'static str,
    system: System,
    start: Vec<f64>,
    duration: f64,
    /// The state at the end.
    end: Vec<f64>,
    guards: Vec<Condition>,
}

fn problems() -> Result<(Pool, Vec<Problem>), PoolFull> {
    let mut pool = Pool::new();
    let v: Vec<Expr> = (0..4).map(|index| pool.variable(index)).collect::<Result<_, _>>()?;
    let opposite = pool.negate(v[0])?;
    let oscillator = System { derivatives: vec![v[1], opposite] };
    let far = pool.whole(-2)?;
    let never = pool.less(far, v[0])?;
    let (x, y) = (pool.power_integer(v[0], 2)?, pool.power_integer(v[1], 2)?);
    let square = pool.add(x, y)?;
    let distance = pool.sqrt(square)?;
    let cube = pool.power_integer(distance, 3)?;
    let mut forces = Vec::new();
    for place in [v[0], v[1]] {
        let force = pool.divide(place, cube)?;
        forces.push(pool.negate(force)?);
    }
    let orbit = System { derivatives: vec![v[2], v[3], forces[0], forces[1]] };
    let (gravity, zero) = (pool.whole(-10)?, pool.whole(0)?);
    let ball = System { derivatives: vec![v[1], gravity] };
    let above = pool.at_most(zero, v[0])?;
    let turn = std::f64::consts::TAU;
    let waves = vec![libm::cos(10.0), -libm::sin(10.0)];
    let near = vec![0.5, 0.0, 0.0, libm::sqrt(3.0)];
    let problem = |name, system: &System, start: Vec<f64>, duration, end, guards| Problem {
        name,
        system: system.clone(),
        start,
        duration,
        end,
        guards,
    };
    let problems = vec![
        problem("oscillator", &oscillator, vec![1.0, 0.0], 10.0, waves.clone(), vec![]),
        problem("oscillator, guarded", &oscillator, vec![1.0, 0.0], 10.0, waves, vec![never]),
        problem("orbit, e = 0.5", &orbit, near.clone(), turn, near, vec![]),
        problem("ball", &ball, vec![10.0, 0.0], 1.0, vec![5.0, -10.0], vec![above]),
    ];
    Ok((pool, problems))
}

fn steps(pool: &Pool, problem: &Problem, name: &str, method: Method, tolerance: f64) {
    let options =
        EvolveOptions { method, tolerance, keep_trajectory: false, ..EvolveOptions::default() };
    let start: Vec<Real> = problem.start.iter().map(|value| Real::from_f64(*value)).collect();
    let duration = Real::from_f64(problem.duration);
    let once = || {
        evolve(pool, &problem.system, &start, duration, &problem.guards, &options)
            .expect("the problems can be solved")
    };
    let result = once();
    let seconds = seconds_of(|| drop(black_box(once())));
    let error = result
        .state
        .iter()
        .zip(&problem.end)
        .map(|(found, truth)| (found.midpoint() - truth).abs())
        .fold(0.0, f64::max);
    println!(
        "{:<24} {:<16} {:>10.0e} {:>10} {:>12.0} {:>10.1e}",
        problem.name,
        name,
        tolerance,
        result.n_steps,
        result.n_steps as f64 / seconds,
        error
    );
}

fn impacts(pool: &Pool, ball: &Problem, name: &str, method: Method) {
    let options = EvolveOptions { method, keep_trajectory: false, ..EvolveOptions::default() };
    let restitution = Real::Exact(Rational::fraction(-4, 5).expect("it fits"));
    let follow = || {
        let mut state = vec![Real::whole(10), Real::ZERO];
        let (mut elapsed, mut times, mut radius) = (Real::ZERO, Vec::new(), 0.0);
        for _ in 0..N_IMPACTS {
            let Evolution { time, state: end, .. } =
                evolve(pool, &ball.system, &state, Real::whole(100), &ball.guards, &options)
                    .expect("the ball falls");
            elapsed = elapsed + time;
            times.push(elapsed.midpoint());
            radius = end[0].radius();
            state = vec![end[0].shrunk(), (end[1] * restitution).shrunk()];
        }
        (times, radius)
    };
    let (times, radius) = follow();
    let seconds = seconds_of(|| drop(black_box(follow())));
    let (mut truth, mut flight, mut worst) = (libm::sqrt(2.0), 2.0 * libm::sqrt(2.0), 0.0f64);
    for time in times {
        worst = worst.max((time - truth).abs());
        flight *= 0.8;
        truth += flight;
    }
    println!(
        "{name:<24} {:>12.2} {worst:>12.1e} {radius:>12.1e}",
        1e6 * seconds / N_IMPACTS as f64
    );
}

fn lanes(pool: &Pool, orbit: &Problem) {
    let program = Program::new(pool, &orbit.system.derivatives, &[]);
    let variables: Vec<[f64; 16]> = orbit
        .start
        .iter()
        .map(|value| std::array::from_fn(|lane| value + lane as f64 / 100.0))
        .collect();
    let (mut wide, mut wide_registers) = (vec![[0.0; 16]; 4], Vec::new());
    let together = seconds_of(|| {
        program.run_lanes(black_box(&variables), [0.0; 16], &mut wide, &mut wide_registers);
    });
    let (mut narrow, mut registers) = (vec![0.0; 4], Vec::new());
    let alone = seconds_of(|| {
        program.run_f64(black_box(&orbit.start), 0.0, &mut narrow, &mut registers);
    });
    assert!((0..4).all(|index| wide[index][0] == narrow[index]), "lane 0 is the single point");
    println!("{:<24} {:>12}", "right-hand side of orbit", "ns/point");
    println!("{:<24} {:>12.1}", "one point", 1e9 * alone);
    println!("{:<24} {:>12.1}", "16 lanes", 1e9 * together / 16.0);
}

/// Returns the processor time of one call.
fn seconds_of(mut call: impl FnMut()) -> f64 {
    let mut n_calls = 1u32;
    loop {
        let start = thread_seconds();
        for _ in 0..n_calls {
            call();
        }
        let seconds = thread_seconds() - start;
        if seconds >= MEASURED_SECONDS {
            return seconds / f64::from(n_calls);
        }
        n_calls = n_calls.saturating_mul(2);
    }
}
