//! `agon player`: a player that a game manager can reach over HTTP.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use agon::OpenOptions;
use agon::factory::SpecPlayerFactory;
use agon_match::Thought;
use agon_players::PlayerSource;
use agon_server::{AnsweredMove, Exchange, Limits, PlayerOptions, PlayerServer, Server, bind};
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::hosted_match;
use crate::open::{ModelOptions, RuleOptions};
use crate::terminal::{self, remark, say};

/// Serve a player to game managers, over HTTP in the GGP protocol
#[derive(clap::Args)]
#[command(after_help = "\
The player plays one match at a time; other START messages are answered by `busy`. If the port is in
use, the next free one of ten is taken. The first line of the output is the address. To be reached
from other machines, give --address 0.0.0.0.

Examples:
  agon player
  agon player --port 9148 --player \"mcts(rave)\" --name Rusty
  agon host tic-tac-toe --players http://localhost:9147,http://localhost:9148")]
pub(crate) struct Args {
    /// Port to listen on
    #[arg(long, default_value_t = 9147)]
    port: u16,
    /// Address to listen on
    #[arg(long, default_value = "127.0.0.1", value_name = "ADDRESS")]
    address: IpAddr,
    /// Player, one of `agon players`
    #[arg(long, default_value = "auto", value_name = "PLAYER")]
    player: String,
    /// Name of the player in answers to INFO
    #[arg(long, default_value = "agon")]
    name: String,
    /// Seconds of each clock left unused, so that no answer is late [default: an eighth of it, from
    /// 0.2 to 1.5]
    #[arg(long, value_name = "SECONDS")]
    margin: Option<f64>,
    /// Seconds without a message after which a match is abandoned
    #[arg(long, default_value_t = 1200.0, value_name = "SECONDS")]
    forget: f64,
    /// Accept messages for a match from every peer, not only from the one that started it
    #[arg(long)]
    any_peer: bool,
    /// Origin of web pages that may send messages, such as http://localhost:8080, or * for all
    /// [default: none]
    #[arg(long, value_name = "ORIGIN")]
    allow_origin: Option<String>,
    /// Maximum number of connections at the same time
    #[arg(long, default_value_t = 64, value_name = "N")]
    connections: usize,
    /// Maximum size of a message in megabytes
    #[arg(long, default_value_t = 16, value_name = "N")]
    max_megabytes: usize,
    /// Wait while other players choose, instead of thinking on
    #[arg(long)]
    no_ponder: bool,
    /// Seed of the random number generator
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Print one JSON object per message, and one per move with the report of the search
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    models: ModelOptions,
    #[command(flatten)]
    rules: RuleOptions,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    args.rules.params.refuse("the rules come from the host, with their parameters set")?;
    let spec = hosted_match::spec("--player", &args.player)?;
    if !matches!(spec.kind, PlayerSource::BuiltIn(..)) {
        return Err(Failure::unreadable(format!(
            "--player: `{}` is not a built-in player; give one such as mcts (see `agon players`)",
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
            Failure::unreadable(format!("--{name}: {seconds} is not a number of seconds"))
        })
    };
    let options = PlayerOptions {
        name: args.name.clone(),
        margin: args.margin.map(|margin| seconds("margin", margin)).transpose()?,
        forget: seconds("forget", args.forget)?,
        ponder: !args.no_ponder,
        any_peer: args.any_peer,
        allow_origin: args.allow_origin.clone(),
    };
    let mut limits = Limits { connections: args.connections.max(1), ..Limits::default() };
    limits.sizes.body = args.max_megabytes.clamp(1, 1024) << 20;

    let listener = bind(args.address, args.port).map_err(|error| {
        let hint = if args.port == 0 { "" } else { "; give another --port" };
        Failure::unreadable(format!(
            "cannot listen on {}, port {} and above: {error}{hint}",
            args.address, args.port
        ))
    })?;
    let warn = Arc::new(|warning: &str| remark!("{warning}"));
    let rules = OpenOptions { models: args.models.store(), ..args.rules.options() };
    let factory = Arc::new(SpecPlayerFactory::new(spec, rules, args.seed, warn));
    let show = if args.json { show_json } else { show_text };
    let player = PlayerServer::new(factory, options, Box::new(show));
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
            format!(" (port {} is in use)", args.port)
        } else {
            String::new()
        };
        say!("{} listens at {url}{moved}", terminal::bold(&args.name));
    }
    server.wait();
    Ok(())
}

/// Prints a message and its answer as JSON.
fn show_json(exchange: &Exchange) {
    let Exchange { match_id, request, response, took, remark, answered_move } = exchange;
    let seconds = took.as_secs_f64();
    let line = json!({
        "type": "message", "match": match_id, "heard": request, "said": response,
        "seconds": seconds, "remark": remark,
    });
    say!("{line}");
    if let Some(AnsweredMove { step, n_legal, thought }) = answered_move {
        let mut line = json!({
            "type": "move", "match": match_id, "step": step, "choice": response,
            "legal": n_legal, "seconds": seconds, "value": null, "depth": 0, "nodes": 0,
        });
        if let (Some(line), Some(Value::Object(report))) =
            (line.as_object_mut(), thought.as_ref().map(Thought::to_json))
        {
            line.extend(report);
        }
        say!("{line}");
    }
}

/// Prints a message and its answer as text.
fn show_text(exchange: &Exchange) {
    let Exchange { match_id, request, response, took, remark, answered_move: _ } = exchange;
    let seconds = took.as_secs_f64();
    let remark = remark
        .as_ref()
        .map_or(String::new(), |remark| terminal::red(&format!("  {}", remark.trim_end())));
    say!(
        "{request:7} {} {response} {}{remark}",
        terminal::dim(match_id),
        terminal::dim(&format!("{seconds:.2} s"))
    );
}
