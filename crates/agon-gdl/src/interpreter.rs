//! Playing by the rules: the slow, obvious way, and the judge of every faster one.
//!
//! The rules are asked as they stand: which fluents hold at first, whether play has ended, what is legal, what comes
//! next, what is seen. Answers come from [`agon_datalog`], which evaluates only what is needed for a question and
//! keeps what does not change with the state.

mod ask;
pub(crate) mod compile;
mod game;
mod notation;
mod position;

pub use agon_datalog::Level;
pub use ask::{Asker, Inquiry, Query};
pub use game::{Game, GoalPolicy, Options, RelationFacts, Rows};
pub use position::{Interpreter, Move, State};
