//! `agon draw`: draws positions and matches of any game.

use std::path::{Path, PathBuf};

use agon_board::animation::animated_svg;
use agon_board::png::png;
use agon_board::svg::svg;
use agon_board::{Layout, Scene, SvgOptions, TextOptions, Theme};
use agon_ggp::Record;
use serde_json::json;

use crate::commands::why::play_moves;
use crate::failure::Failure;
use crate::open::{self, PlayOptions};
use crate::terminal::{put, say};
use agon::Game;
use agon::engine::{GamePosition, GameTask};

/// Draw a position or a match: SVG, PNG, text, or an animation
#[derive(clap::Args)]
#[command(after_help = "\
The board is inferred from the rules. A rulesheet may say more about it in its header, as in
`;; board: hex rows=y` and `;; piece wP: ♙ white`, or in a file NAME.board.toml beside it.

Examples:
  agon draw chess --out chess.svg
  agon draw tic-tac-toe --after \"(mark 2 2) (mark 1 1)\"
  agon draw hex --theme dark --out hex.png
  agon draw connect-four --match match.json --out match.svg   # an animation")]
pub(crate) struct Args {
    /// Name of a shipped game, path of a rulesheet, or - for standard input
    pub(super) game: String,
    /// Moves from the start to the position
    #[arg(long, value_name = "MOVES", default_value = "", conflicts_with = "record")]
    after: String,
    /// File to write, .svg or .png [default: text on the terminal]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Draw all positions of a recorded match, as one animated SVG
    #[arg(long = "match", value_name = "RECORD")]
    record: Option<PathBuf>,
    /// Seconds for each position of an animation
    #[arg(long, default_value_t = 0.8, value_name = "SECONDS")]
    seconds: f64,
    /// Colours
    #[arg(long, value_enum, default_value = "light")]
    theme: ThemeChoice,
    /// Size of a PNG, as a factor
    #[arg(long, default_value_t = 1.0, value_name = "FACTOR")]
    scale: f32,
    /// Print the picture as one JSON object, with the places of the legal moves
    #[arg(long, conflicts_with_all = ["out", "record"])]
    json: bool,
    #[command(flatten)]
    pub(super) play: PlayOptions,
}

/// The colours of a drawing.
#[derive(Copy, Clone, PartialEq, Eq, Debug, clap::ValueEnum)]
enum ThemeChoice {
    /// Dark lines on a light ground.
    Light,
    /// Light lines on a dark ground.
    Dark,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let scale_is_sane = args.scale.is_finite() && args.scale > 0.0;
    if !(scale_is_sane && args.seconds.is_finite() && args.seconds > 0.0) {
        return Err(Failure::unreadable("--scale and --seconds must be positive numbers"));
    }
    let game = open::open_engine(&args.game, &args.play.within(args.seconds))?;
    let layout = game.layout();
    let theme = match args.theme {
        ThemeChoice::Light => Theme::Light,
        ThemeChoice::Dark => Theme::Dark,
    };
    let options = SvgOptions { theme, ..SvgOptions::default() };
    if let Some(record) = &args.record {
        let states = recorded_states(record)?;
        let scenes: Vec<Scene> = states.iter().map(|state| layout.scene(state)).collect();
        return match &args.out {
            Some(out) => write(out, animated_svg(&scenes, &options, args.seconds).as_bytes()),
            None => {
                scenes.iter().for_each(show);
                Ok(())
            }
        };
    }
    let shown = game.run(At { args })?;
    let scene = layout.scene(&shown.state);
    if args.json {
        say!("{}", as_json(layout, &scene, &shown, &game));
        return Ok(());
    }
    match &args.out {
        None => {
            show(&scene);
            Ok(())
        }
        Some(out) => match out.extension().and_then(|name| name.to_str()) {
            Some("svg") => write(out, svg(&scene, &options).as_bytes()),
            Some("png") => {
                let picture = png(&svg(&scene, &options), args.scale);
                let picture = picture.map_err(|error| Failure::wrong(error.to_string()))?;
                write(out, &picture)
            }
            _ => Err(Failure::unreadable(format!(
                "--out: {} ends neither with .svg nor with .png",
                out.display()
            ))),
        },
    }
}

/// A position as text.
struct Shown {
    state: Vec<String>,
    /// By role: the legal moves.
    legal: Vec<Vec<String>>,
}

/// The task of going to a position.
struct At<'a> {
    args: &'a Args,
}

impl GameTask for At<'_> {
    type Output = Result<Shown, Failure>;

    fn run<P: GamePosition + 'static>(self, mut position: P) -> Result<Shown, Failure> {
        play_moves(&mut position, &self.args.after)?;
        let roles = position.shape().roles();
        let legal = roles
            .map(|role| position.legal_moves(role).iter().map(|m| position.move_text(m)).collect());
        Ok(Shown { legal: legal.collect(), state: position.state_text() })
    }
}

fn as_json(layout: &Layout, scene: &Scene, shown: &Shown, game: &Game) -> serde_json::Value {
    let moves: serde_json::Map<String, serde_json::Value> = game
        .shape()
        .role_names
        .iter()
        .zip(&shown.legal)
        .map(|(role, legal)| (role.clone(), json!(layout.targets(legal))))
        .collect();
    json!({"game": game.name(), "kind": layout.kind(), "scene": scene, "moves": moves})
}

fn show(scene: &Scene) {
    put!("{}", agon_board::text::text(scene, &TextOptions::default()));
}

fn recorded_states(path: &Path) -> Result<Vec<Vec<String>>, Failure> {
    let fail =
        |error: &dyn std::fmt::Display| Failure::unreadable(format!("{}: {error}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|error| fail(&error))?;
    let value = serde_json::from_str(&text).map_err(|error| fail(&error))?;
    let record = Record::from_json(&value).map_err(|error| fail(&error))?;
    if record.states.is_empty() {
        return Err(fail(&"the record has no states"));
    }
    Ok(record.states)
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    std::fs::write(path, bytes).map_err(|error| Failure::cannot_write(path, &error))
}
