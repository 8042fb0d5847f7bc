//! Structure rewriting games (the Toss formalism): states are finite structures, moves are rewriting rules guarded by formulas.
#![forbid(unsafe_code)]
