//! Laws of the search, on games with known answers.

mod games;
mod regret;
mod search;
mod surface;
