//! `agon player`: a player that hosts elsewhere can call.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use agon_match::SpecKind;
use agon_server::{Limits, Note, PlayerOptions, PlayerServer, Server, bind};
use serde_json::json;

use crate::contest;
use crate::failure::Failure;
use crate::open::RuleOptions;
use crate::recruiter::Recruiter;
use crate::terminal::{self, say};

/// Be a player for hosts that speak the GGP protocol.
#[derive(clap::Args)]
#[command(after_help = "\
One match at a time; while one is on, others are told `busy`. If the port is taken, the next free one of ten is used; the
address is the first line that is printed. To be reached from other machines, give --address 0.0.0.0.

Examples:
  agon player
  agon player --port 9148 --player \"mcts(rave)\" --name Rusty
  agon host tic-tac-toe --players http://localhost:9147,http://localhost:9148")]
pub(crate) struct Args {
    /// Where to listen
    #[arg(long, default_value_t = 9147)]
    port: u16,
    /// The address to listen at
    #[arg(long, default_value = "127.0.0.1", value_name = "ADDRESS")]
    address: IpAddr,
    /// Who plays: one of `agon players`
    #[arg(long, default_value = "auto", value_name = "PLAYER")]
    player: String,
    /// What it calls itself
    #[arg(long, default_value = "agon")]
    name: String,
    /// Seconds of each clock that are left unused, so as never to be late [default: an eighth of it, from 0.2 to 1.5]
    #[arg(long, value_name = "SECONDS")]
    margin: Option<f64>,
    /// Seconds of silence after which a match is forgotten
    #[arg(long, default_value_t = 1200.0, value_name = "SECONDS")]
    forget: f64,
    /// Connections at a time
    #[arg(long, default_value_t = 64, value_name = "N")]
    connections: usize,
    /// Megabytes that a message may have
    #[arg(long, default_value_t = 16, value_name = "N")]
    max_megabytes: usize,
    /// Seed of the random generator
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// One JSON object per message instead of a line
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    rules: RuleOptions,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let spec = contest::spec("--player", &args.player)?;
    if !matches!(spec.kind, SpecKind::BuiltIn(..)) {
        return Err(Failure::unreadable(format!(
            "--player: `{}` lives elsewhere itself; give one of our own, such as mcts (`agon players`)",
            spec.text
        )));
    }
    if args.name.is_empty()
        || args.name.contains(|c: char| c.is_whitespace() || "();\"".contains(c))
    {
        return Err(Failure::unreadable(format!("--name: `{}` is not a single word", args.name)));
    }
    let seconds = |name: &str, seconds: f64| {
        Duration::try_from_secs_f64(seconds).map_err(|_| {
            Failure::unreadable(format!("--{name}: not a number of seconds: {seconds}"))
        })
    };
    let options = PlayerOptions {
        name: args.name.clone(),
        margin: args.margin.map(|margin| seconds("margin", margin)).transpose()?,
        forget: seconds("forget", args.forget)?,
    };
    let mut limits = Limits { connections: args.connections.max(1), ..Limits::default() };
    limits.sizes.body = args.max_megabytes.clamp(1, 1024) << 20;

    let listener = bind(args.address, args.port).map_err(|error| {
        let hint = if args.port == 0 { "" } else { "; give another --port" };
        Failure::unreadable(format!(
            "cannot listen at {} from port {} on: {error}{hint}",
            args.address, args.port
        ))
    })?;
    let recruiter = Arc::new(Recruiter::new(spec, args.rules.clone(), args.seed));
    let is_json = args.json;
    let player = PlayerServer::new(recruiter, options, Box::new(move |note| show(note, is_json)));
    let server = Server::start(listener, limits, Arc::new(player))
        .map_err(|error| Failure::unreadable(format!("cannot listen: {error}")))?;
    let url = format!("http://{}", server.address());
    if args.json {
        say!(
            "{}",
            json!({"type": "listening", "url": url, "name": args.name, "player": args.player})
        );
    } else {
        let moved = if args.port != 0 && server.address().port() != args.port {
            format!(" (port {} is taken)", args.port)
        } else {
            String::new()
        };
        say!("{} listens at {url}{moved}", terminal::bold(&args.name));
    }
    server.wait();
    Ok(())
}

/// A message and its answer.
fn show(note: &Note, is_json: bool) {
    let Note { id, heard, said, took, remark } = note;
    let seconds = took.as_secs_f64();
    if is_json {
        say!(
            "{}",
            json!({"type": "message", "match": id, "heard": heard, "said": said, "seconds": seconds, "remark": remark})
        );
        return;
    }
    let remark = remark
        .as_ref()
        .map_or(String::new(), |remark| terminal::red(&format!("  {}", remark.trim_end())));
    say!(
        "{heard:7} {} {said} {}{remark}",
        terminal::dim(id),
        terminal::dim(&format!("{seconds:.2} s"))
    );
}
