//! Players that this crate does not build: `human`, `http://…` and `cmd:…`. The caller makes them,
//! because they need input and output.

use crate::PlayerKind;
use crate::registry::Origin;

pub(crate) static HUMAN: PlayerKind = PlayerKind {
    name: "human",
    form: "human",
    summary: "a person at this terminal",
    options: &[],
    origin: Origin::Terminal,
};

pub(crate) static HTTP: PlayerKind = PlayerKind {
    name: "http",
    form: "http://HOST:PORT",
    summary: "a player that is reached by the GGP protocol; the default port is 9147",
    options: &[],
    origin: Origin::Elsewhere,
};

pub(crate) static COMMAND: PlayerKind = PlayerKind {
    name: "cmd",
    form: "cmd:PROGRAM ARGUMENTS",
    summary: "a program that reads and writes JSON lines, see docs/players.md",
    options: &[],
    origin: Origin::Elsewhere,
};
