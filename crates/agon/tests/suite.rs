//! What must hold of the program as a whole and of the games that ship with it: one binary, a module for each matter.

mod suite {
    mod cli;
    mod facts;
    mod games;
    mod house;
    mod shared;
    mod shipped;
    mod toss;
}
