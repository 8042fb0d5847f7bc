//! Matches over the network: `agon player` with the exact bytes of several game managers, and
//! `agon host` with good and faulty players.

mod hosting;
mod peers;
mod playing;
