//! The Python module `agon._agon`. The package around it is in `python/agon`.
//!
//! Everything here converts between Python and the library `agon`. Work that takes time runs
//! without the interpreter lock, and Ctrl-C stops it (`interrupt`). Bad input becomes a Python
//! exception, never an abort.
//!
//! # Modules, in reading order
//!
//! - `error`: the exceptions.
//! - `convert`: JSON, roles and records to Python.
//! - `interrupt`: work without the lock that Ctrl-C stops.
//! - `rules`: questions about rules that need not be opened.
//! - `game`: opened games, and questions about them.
//! - `inner`: positions by the engine that plays the game.
//! - `state`: positions as Python sees them.
//! - `drawing`: positions as text, SVG and pixels.
//! - `player`: built-in players that think about positions.
//! - `learn`: evaluations that are learnt by self-play.
//! - `model`: models that players use, networks and positions as arrays.
//! - `play`: matches, with players written in Python.
//! - `batch`: thousands of games at once, in numpy arrays.
//! - `playouts`: random playouts of many states.
//! - `tournament`: tournaments and experiments, match by match.

mod batch;
mod convert;
mod drawing;
mod error;
mod game;
mod inner;
mod interrupt;
mod learn;
mod model;
mod play;
mod player;
mod playouts;
mod rules;
mod state;
mod tournament;

use pyo3::prelude::*;

/// The native part of the package `agon`.
#[pymodule]
fn _agon(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("AgonError", py.get_type::<error::AgonError>())?;
    module.add("RulesError", py.get_type::<error::RulesError>())?;
    module.add("IllegalMoveError", py.get_type::<error::IllegalMoveError>())?;
    module.add_class::<game::PyGame>()?;
    module.add_class::<state::PyState>()?;
    module.add_class::<player::PyPlayer>()?;
    module.add_class::<batch::PyBatch>()?;
    module.add_class::<learn::PyLearner>()?;
    module.add_class::<model::PyModel>()?;
    module.add_class::<tournament::PyTournamentPlan>()?;
    module.add_class::<tournament::PyExperimentPlan>()?;
    module.add_function(wrap_pyfunction!(game::load, module)?)?;
    module.add_function(wrap_pyfunction!(rules::games, module)?)?;
    module.add_function(wrap_pyfunction!(rules::check, module)?)?;
    module.add_function(wrap_pyfunction!(rules::translate, module)?)?;
    module.add_function(wrap_pyfunction!(game::_reopen, module)?)?;
    module.add_function(wrap_pyfunction!(state::_replay, module)?)?;
    module.add_function(wrap_pyfunction!(learn::_relearn, module)?)?;
    module.add_function(wrap_pyfunction!(model::_model, module)?)?;
    module.add_function(wrap_pyfunction!(model::_load_model, module)?)?;
    module.add_function(wrap_pyfunction!(model::_model_of_onnx, module)?)?;
    module.add_function(wrap_pyfunction!(model::_model_of_network, module)?)?;
    module.add_function(wrap_pyfunction!(model::_positions, module)?)?;
    module.add_function(wrap_pyfunction!(play::play_match, module)?)?;
    module.add_function(wrap_pyfunction!(player::players, module)?)?;
    module.add_function(wrap_pyfunction!(tournament::experiments, module)?)?;
    Ok(())
}
