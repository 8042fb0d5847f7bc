//! `agon serve`: Agon in the browser.

use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;
use std::sync::Arc;

use agon_web::{Config, Limits, WebServer, new_token};

use crate::engine_calls::EngineCalls;
use crate::failure::Failure;
use crate::open::ModelOptions;
use crate::outside::Program;
use crate::terminal::{self, remark, say};

/// Play, watch, analyse and write any game in the browser
#[derive(clap::Args)]
#[command(after_help = "\
Matches are stored as they happen and continue when the server is started again. docs/web.md
describes the pages and the API under /api/v1.

Examples:
  agon serve
  agon serve --port 8080 --open
  agon serve --games my-games --store matches.db
  agon serve --listen 0.0.0.0              # for other machines; prints a link with a token")]
pub(crate) struct Args {
    /// Port to listen at; 0 for any free port
    #[arg(long, default_value_t = 8000)]
    port: u16,
    /// Open the page in a browser
    #[arg(long)]
    open: bool,
    /// Address to listen at, for other machines; requests then need a token
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<IpAddr>,
    /// Token that requests need [default with --listen: a new one]
    #[arg(long, value_name = "TOKEN")]
    token: Option<String>,
    /// Folder with rulesheets; may be given several times
    #[arg(long, value_name = "DIR")]
    games: Vec<PathBuf>,
    /// File in which matches are stored [default: agon/web.db in the folder for user data]
    #[arg(long, value_name = "FILE")]
    store: Option<PathBuf>,
    /// Let pages start programs as players (`cmd:`)
    #[arg(long)]
    allow_commands: bool,
    /// Number of processors for searches [default: all]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    cores: Option<u16>,
    #[command(flatten)]
    models: ModelOptions,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let server = WebServer::start(config(args)?).map_err(Failure::unreadable)?;
    server.remarks().iter().for_each(|text| remark!("{text}"));
    let link = server.link();
    say!("Agon is at {}", terminal::bold(&link));
    remark!("Ctrl-C ends the server; matches continue when it is started again.");
    if args.open {
        open_browser(&link);
    }
    loop {
        // The server works in threads of its own until the process is ended.
        std::thread::park();
    }
}

fn config(args: &Args) -> Result<Config, Failure> {
    for folder in &args.games {
        if !folder.is_dir() {
            return Err(Failure::unreadable(format!("{} is not a folder", folder.display())));
        }
    }
    let address = args.listen.unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST));
    let token = match &args.token {
        Some(token) if token.len() < 16 => {
            return Err(Failure::unreadable("a token needs at least 16 characters"));
        }
        Some(token) => Some(token.clone()),
        None if address.is_loopback() => None,
        None => Some(new_token().map_err(Failure::unreadable)?),
    };
    let mut limits = Limits::default();
    if let Some(cores) = args.cores {
        limits.cores = usize::from(cores);
    }
    let start_program: Option<Arc<agon_web::StartProgram>> = args.allow_commands.then(|| {
        let start: Arc<agon_web::StartProgram> = Arc::new(|words, invitation, view| {
            let calls = EngineCalls::of_rules(&invitation.rules);
            let program = Program::start(words, invitation, view, calls);
            let program = program.map_err(|error| error.to_string())?;
            Ok(Box::new(program) as Box<dyn agon_match::Player>)
        });
        start
    });
    Ok(Config {
        address,
        port: args.port,
        token,
        games: args.games.clone(),
        models: args.models.store(),
        store: Some(args.store.clone().unwrap_or_else(default_store)),
        worker: std::env::current_exe().ok(),
        start_program,
        limits,
    })
}

/// Returns the file in which matches are stored unless the user names another one.
fn default_store() -> PathBuf {
    let folder = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let data = folder("XDG_DATA_HOME")
        .or_else(|| folder("HOME").map(|home| home.join(".local/share")))
        .or_else(|| folder("LOCALAPPDATA"));
    data.map_or_else(|| PathBuf::from("agon-web.db"), |data| data.join("agon/web.db"))
}

/// Opens a link with the program of the system for it.
fn open_browser(link: &str) {
    let program = if cfg!(target_os = "macos") {
        "open"
    } else if cfg!(windows) {
        "explorer"
    } else {
        "xdg-open"
    };
    if let Err(error) = std::process::Command::new(program).arg(link).spawn() {
        remark!("cannot open a browser ({program}: {error}); open the link yourself");
    }
}
