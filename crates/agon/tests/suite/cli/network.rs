//! Matches over the network: the program as a player, spoken to byte for byte as each host speaks, and as a host, with players that
//! do what they should not.

mod hosting;
mod peers;
mod playing;
