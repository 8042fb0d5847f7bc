//! Laws of tournaments, on random inputs where there is anything to vary.

mod laws;
mod spelling;
