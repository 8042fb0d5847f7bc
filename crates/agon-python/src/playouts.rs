//! Random playouts of many states.

use agon::engine::{GamePosition, GameTask};
use agon_game::{Batch, PlayoutRequest, PlayoutStats, Rng, Role, SequentialBatch};
use numpy::{PyArray1, PyArray2, PyArrayMethods as _};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rand::SeedableRng as _;

use crate::convert::{need_numpy, record};
use crate::error::wrong;
use crate::game::PyGame;
use crate::state::PyState;

/// Plays out states and returns means, by state and role.
pub(crate) fn playouts<'py>(
    py: Python<'py>,
    game: &PyGame,
    states: &[PyRef<'py, PyState>],
    n: u64,
    seed: u64,
    max_steps: u64,
) -> PyResult<Bound<'py, PyAny>> {
    need_numpy(py)?;
    for state in states {
        game.check_own(state)?;
    }
    let histories: Vec<Vec<Vec<String>>> = states
        .iter()
        .map(|state| state.position().history().map(<[String]>::to_vec).collect())
        .collect();
    let running = py.detach(|| game.0.game.run(Start { histories, n, seed, max_steps }));
    let mut running = running.map_err(|why| wrong(&why))?;
    loop {
        let is_done = py.detach(|| running.step(STRETCH));
        py.check_signals()?;
        if is_done {
            break;
        }
    }
    let stats = running.finish();
    let n_roles = game.0.game.shape().role_names.len();
    let (means, deviations) = (
        PyArray2::<f64>::zeros(py, [stats.len(), n_roles], false),
        PyArray2::<f64>::zeros(py, [stats.len(), n_roles], false),
    );
    for (row, stats) in stats.iter().enumerate() {
        for role in (0..n_roles).map(Role::new) {
            let mean = stats.mean_payoff(role);
            let square = stats.square_sums[role.index()] / stats.n_playouts.max(1) as f64;
            means.readwrite().as_array_mut()[[row, role.index()]] = mean;
            deviations.readwrite().as_array_mut()[[row, role.index()]] =
                (square - mean * mean).max(0.0).sqrt();
        }
    }
    let fields = PyDict::new(py);
    fields.set_item("means", means)?;
    fields.set_item("deviations", deviations)?;
    let lengths = stats.iter().map(PlayoutStats::mean_length).collect();
    fields.set_item("lengths", PyArray1::from_vec(py, lengths))?;
    let cut = stats.iter().map(|stats| stats.n_cut).collect();
    fields.set_item("cut", PyArray1::from_vec(py, cut))?;
    fields.set_item("n", n)?;
    record(py, "Playouts", &fields)
}

/// Number of steps of playouts between two checks for Ctrl-C.
const STRETCH: u64 = 20_000;

/// Playouts in progress, of any engine.
trait Running: Send {
    fn step(&mut self, n_steps: u64) -> bool;
    fn finish(&mut self) -> Vec<PlayoutStats>;
}

struct RunningBatch<S, M>(Box<dyn Batch<State = S, Move = M>>);

impl<S, M> Running for RunningBatch<S, M> {
    fn step(&mut self, n_steps: u64) -> bool {
        self.0.step(n_steps)
    }

    fn finish(&mut self) -> Vec<PlayoutStats> {
        let mut stats = Vec::new();
        self.0.finish(&mut stats);
        stats
    }
}

/// Begins playouts.
struct Start {
    histories: Vec<Vec<Vec<String>>>,
    n: u64,
    seed: u64,
    max_steps: u64,
}

impl GameTask for Start {
    type Output = Result<Box<dyn Running>, String>;

    fn run<P: GamePosition + 'static>(self, start: P) -> Self::Output {
        let mut requests = Vec::new();
        for history in &self.histories {
            let mut position = start.clone();
            for joint in history {
                let roles = position.shape().roles();
                let moves: Option<Vec<P::Move>> =
                    roles.zip(joint).map(|(role, text)| position.parse_move(role, text)).collect();
                position.advance(&moves.ok_or("a state cannot be reached again")?);
            }
            let (state, n_playouts) = (position.state().clone(), self.n);
            requests.push(PlayoutRequest { state, n_playouts, expected_steps: 0 });
        }
        let mut engine = start.batch(self.seed).unwrap_or_else(|| {
            Box::new(SequentialBatch::new(start.clone(), Rng::seed_from_u64(self.seed)))
        });
        engine.begin(&requests, self.max_steps);
        Ok(Box::new(RunningBatch(engine)))
    }
}
