//! Tests of the whole program, of the shipped games and of the workspace.

mod suite {
    mod book;
    mod cli;
    mod facts;
    mod games;
    mod shared;
    mod shipped;
    mod toss;
    mod workspace;
}
