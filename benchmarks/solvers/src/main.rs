//! Measures the solver of differential equations beside an independent one, in one run:
//! `cargo run --release --manifest-path benchmarks/solvers/Cargo.toml`.
//!
//! The other solver is the crate `ode_solvers`: Dormand-Prince 5(4) and 8(5,3) over right-hand sides
//! that the compiler has seen. Here they are byte code, because rules are read at run time. For
//! each problem and tolerance the table has the steps of one solution, the error at the end, the
//! microseconds of one solution and steps per second, and both relative to `ode_solvers` 5(4). The
//! last rows of a problem have 64 solutions from different starts, side by side in lanes.
//!
//! Both have an absolute and a relative tolerance. Agon keeps the estimated error of a step below a
//! hundredth of its tolerance, so its tolerance is 100 times that of the other solver.

use std::hint::black_box;
use std::time::Instant;

use agon_reals::evolve::{EvolveOptions, Method, Problem, System, evolve_many};
use agon_reals::expression::{Expr, Pool, PoolFull};
use agon_reals::real::Real;
use ode_solvers::dop_shared::OutputType;
use ode_solvers::{Dop853, Dopri5, Vector2, Vector4};

/// Seconds that a measurement takes at least.
const MEASURED_SECONDS: f64 = 0.3;

/// Number of solutions side by side.
const N_TOGETHER: usize = 64;

/// The figures of one solver.
struct Figures {
    n_steps: f64,
    error: f64,
    seconds: f64,
}

/// Two bodies: position and velocity of one, with the other in the origin.
#[derive(Copy, Clone)]
struct Orbit;

impl ode_solvers::System<f64, Vector4<f64>> for Orbit {
    fn system(&self, _: f64, y: &Vector4<f64>, dy: &mut Vector4<f64>) {
        let square = y[0] * y[0] + y[1] * y[1];
        let cube = square * square.sqrt();
        *dy = Vector4::new(y[2], y[3], -y[0] / cube, -y[1] / cube);
    }
}

/// A pendulum: angle and angular velocity.
#[derive(Copy, Clone)]
struct Pendulum;

impl ode_solvers::System<f64, Vector2<f64>> for Pendulum {
    fn system(&self, _: f64, y: &Vector2<f64>, dy: &mut Vector2<f64>) {
        *dy = Vector2::new(y[1], -libm::sin(y[0]));
    }
}

fn orbit(pool: &mut Pool) -> Result<System, PoolFull> {
    let v: Vec<Expr> = (0..4).map(|index| pool.variable(index)).collect::<Result<_, _>>()?;
    let (x, y) = (pool.power_integer(v[0], 2)?, pool.power_integer(v[1], 2)?);
    let square = pool.add(x, y)?;
    let distance = pool.sqrt(square)?;
    let cube = pool.multiply(square, distance)?;
    let mut derivatives = vec![v[2], v[3]];
    for place in [v[0], v[1]] {
        let force = pool.divide(place, cube)?;
        derivatives.push(pool.negate(force)?);
    }
    Ok(System { derivatives })
}

fn pendulum(pool: &mut Pool) -> Result<System, PoolFull> {
    let (angle, speed) = (pool.variable(0)?, pool.variable(1)?);
    let sine = pool.sin(angle)?;
    let pull = pool.negate(sine)?;
    Ok(System { derivatives: vec![speed, pull] })
}

fn main() -> Result<(), PoolFull> {
    println!(
        "{:<10} {:>6} {:<22} {:>7} {:>9} {:>9} {:>10} {:>7} {:>7}",
        "problem", "tol", "solver", "steps", "error", "us", "steps/s", "time", "speed"
    );
    let mut pool = Pool::new();
    let (orbit, pendulum) = (orbit(&mut pool)?, pendulum(&mut pool)?);
    let turns = 10.0 * std::f64::consts::TAU;
    let near = [0.5, 0.0, 0.0, libm::sqrt(3.0)];
    // The pendulum at time 10 from the angle 1 at rest, by `ode_solvers` and `agon-reals` with
    // tolerances of 1e-14, which agree to 1e-12.
    let swing = precise_swing();
    for tolerance in [1e-8, 1e-10] {
        let dopri = |order8: bool| {
            other(|| {
                let start = Vector4::from(near);
                if order8 {
                    let mut solver =
                        Dop853::new(Orbit, 0.0, turns, turns, start, tolerance, tolerance);
                    solver.set_output(OutputType::Sparse);
                    let stats = solver.integrate().expect("it can be solved");
                    let end = *solver.y_out().last().expect("an end");
                    (stats.accepted_steps + stats.rejected_steps, distance(end.as_slice(), &near))
                } else {
                    let mut solver =
                        Dopri5::new(Orbit, 0.0, turns, turns, start, tolerance, tolerance);
                    solver.set_output(OutputType::Sparse);
                    let stats = solver.integrate().expect("it can be solved");
                    let end = *solver.y_out().last().expect("an end");
                    (stats.accepted_steps + stats.rejected_steps, distance(end.as_slice(), &near))
                }
            })
        };
        table("orbit", tolerance, dopri(false), dopri(true), &|n| {
            own(&pool, &orbit, &near, turns, tolerance, &near, n)
        });
        let dopri = |order8: bool| {
            other(|| {
                let start = Vector2::new(1.0, 0.0);
                if order8 {
                    let mut solver =
                        Dop853::new(Pendulum, 0.0, 10.0, 10.0, start, tolerance, tolerance);
                    solver.set_output(OutputType::Sparse);
                    let stats = solver.integrate().expect("it can be solved");
                    let end = *solver.y_out().last().expect("an end");
                    (stats.accepted_steps + stats.rejected_steps, distance(end.as_slice(), &swing))
                } else {
                    let mut solver =
                        Dopri5::new(Pendulum, 0.0, 10.0, 10.0, start, tolerance, tolerance);
                    solver.set_output(OutputType::Sparse);
                    let stats = solver.integrate().expect("it can be solved");
                    let end = *solver.y_out().last().expect("an end");
                    (stats.accepted_steps + stats.rejected_steps, distance(end.as_slice(), &swing))
                }
            })
        };
        table("pendulum", tolerance, dopri(false), dopri(true), &|n| {
            own(&pool, &pendulum, &[1.0, 0.0], 10.0, tolerance, &swing, n)
        });
    }
    Ok(())
}

fn precise_swing() -> [f64; 2] {
    let start = Vector2::new(1.0, 0.0);
    let mut solver = Dop853::new(Pendulum, 0.0, 10.0, 10.0, start, 1e-14, 1e-14);
    solver.set_output(OutputType::Sparse);
    solver.integrate().expect("it can be solved");
    let end = solver.y_out().last().expect("an end");
    [end[0], end[1]]
}

fn table(
    problem: &str,
    tolerance: f64,
    order5: Figures,
    order8: Figures,
    own: &dyn Fn(usize) -> Figures,
) {
    let rows = [
        ("ode_solvers 5(4)", &order5),
        ("ode_solvers 8(5,3)", &order8),
        ("agon", &own(1)),
        ("agon, in lanes", &own(N_TOGETHER)),
    ];
    let speed = |figures: &Figures| figures.n_steps / figures.seconds;
    for (name, figures) in rows {
        println!(
            "{problem:<10} {tolerance:>6.0e} {name:<22} {:>7} {:>9.1e} {:>9.1} {:>10.2e} {:>7.2} {:>7.2}",
            figures.n_steps,
            figures.error,
            1e6 * figures.seconds,
            speed(figures),
            figures.seconds / order5.seconds,
            speed(figures) / speed(&order5),
        );
    }
}

/// Measures the other solver.
fn other(solve: impl Fn() -> (u32, f64)) -> Figures {
    let (n_steps, error) = solve();
    let seconds = seconds_of(|| {
        black_box(solve());
    });
    Figures { n_steps: f64::from(n_steps), error, seconds }
}

/// Measures `n` solutions from starts that differ a little. The figures are those of one.
fn own(
    pool: &Pool,
    system: &System,
    start: &[f64],
    duration: f64,
    tolerance: f64,
    end: &[f64],
    n: usize,
) -> Figures {
    let options = EvolveOptions {
        method: Method::DormandPrince,
        tolerance: 100.0 * tolerance,
        keep_trajectory: false,
        ..EvolveOptions::default()
    };
    let starts: Vec<Vec<Real>> = (0..n)
        .map(|i| {
            let shift = if i == 0 { 1.0 } else { 1.0 + i as f64 / 1000.0 };
            start.iter().map(|value| Real::from_f64(value * shift)).collect()
        })
        .collect();
    let problems: Vec<Problem<'_>> = starts
        .iter()
        .map(|start| Problem {
            pool,
            system,
            start,
            duration: Real::from_f64(duration),
            guards: &[],
            options: &options,
        })
        .collect();
    let solve = || evolve_many(&problems);
    let results: Vec<_> = solve().into_iter().map(|r| r.expect("it can be solved")).collect();
    let found: Vec<f64> = results[0].state.iter().map(Real::midpoint).collect();
    let n_steps: usize = results.iter().map(|result| result.n_steps).sum();
    let seconds = seconds_of(|| drop(black_box(solve()))) / n as f64;
    Figures { n_steps: (n_steps / n) as f64, error: distance(&found, end), seconds }
}

fn distance(found: &[f64], truth: &[f64]) -> f64 {
    found.iter().zip(truth).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

/// Returns the time of one call: the least of five measurements, because other programs may run.
fn seconds_of(mut call: impl FnMut()) -> f64 {
    let mut n_calls = 1u32;
    let mut once = |n_calls: u32| {
        let start = Instant::now();
        for _ in 0..n_calls {
            call();
        }
        start.elapsed().as_secs_f64()
    };
    while once(n_calls) < MEASURED_SECONDS / 5.0 {
        n_calls *= 2;
    }
    (0..5).map(|_| once(n_calls)).fold(f64::INFINITY, f64::min) / f64::from(n_calls)
}
