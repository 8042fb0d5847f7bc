//! Matches on shipped games: every kind of game, players of every kind of fault.

mod play {
    mod driven;
    mod games;
    mod hidden;
    mod insight;
    mod openings;
    mod refereed;
    mod shipped;
    mod strong;
}
