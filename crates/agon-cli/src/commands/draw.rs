//! `agon draw`: draws positions and matches of any game.

use std::path::{Path, PathBuf};

use agon_board::animation::animated_svg;
use agon_board::gif::animated_gif;
use agon_board::png::{has_fonts, png};
use agon_board::stylesheet::{Stylesheet, StylesheetOptions};
use agon_board::svg::svg;
use agon_board::{Layout, Scene, SvgOptions, TextOptions, Theme};
use agon_ggp::Record;
use serde_json::json;

use crate::commands::why::play_moves;
use crate::failure::Failure;
use crate::open::{self, PlayOptions};
use crate::terminal::{put, remark, say};
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
  agon draw connect-four --match match.json --out match.svg   # an animation
  agon draw tic-tac-toe --stylesheet ticTacToe.xsl --out board.html
  agon draw cat-and-mouse --match match.json --out match.gif  # along the trajectories")]
pub(crate) struct Args {
    /// Name of a shipped game, path of a rulesheet, or - for standard input
    pub(super) game: String,
    /// Moves from the start to the position
    #[arg(long, value_name = "MOVES", default_value = "", conflicts_with = "record")]
    after: String,
    /// File to write: .svg, .png, or .gif of a match [default: text on the terminal]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Draw all positions of a recorded match, as one animated SVG or GIF
    #[arg(long = "match", value_name = "RECORD")]
    record: Option<PathBuf>,
    /// Draw by an XSLT 1.0 stylesheet of a public game repository, as a page in HTML
    #[arg(long, value_name = "FILE", conflicts_with_all = ["record", "json"])]
    stylesheet: Option<PathBuf>,
    /// Address below which the images of a stylesheet are: what &ROOT; stands for in it
    #[arg(long, value_name = "ADDRESS", requires = "stylesheet")]
    root: Option<String>,
    /// Seconds for each position of an animation
    #[arg(long, default_value_t = 0.8, value_name = "SECONDS")]
    seconds: f64,
    /// Colours
    #[arg(long, value_enum, default_value = "light")]
    theme: ThemeChoice,
    /// Size of a PNG or GIF, as a factor
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
    if let Some(fault) = game.fault_of_board_hints() {
        remark!("the hints for the board are ignored: {fault}");
    }
    let layout = game.layout();
    let theme = match args.theme {
        ThemeChoice::Light => Theme::Light,
        ThemeChoice::Dark => Theme::Dark,
    };
    let options = SvgOptions { theme, ..SvgOptions::default() };
    if let Some(record) = &args.record {
        return draw_match(args, &game, record, &options);
    }
    let shown = game.run(At { args })?;
    if let Some(stylesheet) = &args.stylesheet {
        return draw_by_stylesheet(args, stylesheet, &game, &shown.state);
    }
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
                remark_on_fonts();
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

/// Draws all positions of a recorded match. In a continuous game an animation also shows what
/// happens between them.
fn draw_match(args: &Args, game: &Game, path: &Path, options: &SvgOptions) -> Result<(), Failure> {
    let record = read_record(path)?;
    let Some(out) = &args.out else {
        record.states.iter().for_each(|state| show(&game.layout().scene(state)));
        return Ok(());
    };
    let moving = states_along(game, &record.moves);
    let seconds = if moving.is_some() { args.seconds / POINTS as f64 } else { args.seconds };
    let scenes = game.layout().scenes_along(moving.as_ref().unwrap_or(&record.states));
    match out.extension().and_then(|name| name.to_str()) {
        Some("svg") => write(out, animated_svg(&scenes, options, seconds).as_bytes()),
        Some("gif") => {
            remark_on_fonts();
            let picture = animated_gif(&scenes, options, seconds, args.scale);
            write(out, &picture.map_err(|error| Failure::wrong(error.to_string()))?)
        }
        _ => Err(Failure::unreadable(format!(
            "--out: {} ends neither with .svg nor with .gif, as the animation of a match must",
            out.display()
        ))),
    }
}

/// Says so if the machine has no fonts, as small images of containers do.
fn remark_on_fonts() {
    if !has_fonts() {
        remark!(
            "this machine has no fonts, so the picture has no words and numbers; install some \
             (on Debian fonts-dejavu-core), or write an .svg"
        );
    }
}

/// Draws a state by an old stylesheet.
fn draw_by_stylesheet(
    args: &Args,
    path: &Path,
    game: &Game,
    state: &[String],
) -> Result<(), Failure> {
    let fail =
        |error: &dyn std::fmt::Display| Failure::unreadable(format!("{}: {error}", path.display()));
    let text = agon::files::read_text(path).map_err(|error| fail(&error))?;
    // Sheets that are imported lie beside the sheet or below it.
    let load = |address: &str| {
        let is_below = !address.contains("..") && !address.starts_with('/');
        let beside = path.parent().unwrap_or(Path::new(".")).join(address);
        if !is_below || address.contains("://") {
            return Err("only files beside the stylesheet are imported".to_owned());
        }
        agon::files::read_text(&beside).map_err(|error| error.to_string())
    };
    let sheet = Stylesheet::new(text, &load).map_err(|error| fail(&error))?;
    let defaults = StylesheetOptions::default();
    let root = args.root.as_ref().unwrap_or(&defaults.root).clone();
    let options = StylesheetOptions { root, ..defaults };
    let drawing = sheet.draw(state, &options).map_err(|error| fail(&error))?;
    let page = drawing.page(game.name());
    match &args.out {
        None => {
            put!("{page}");
            Ok(())
        }
        Some(out) if out.extension().is_some_and(|name| name == "html") => {
            write(out, page.as_bytes())
        }
        Some(out) => Err(Failure::unreadable(format!(
            "--out: {} does not end with .html, as the drawing of a stylesheet must",
            out.display()
        ))),
    }
}

/// Number of pictures of a step of a continuous game.
const POINTS: usize = 12;

/// Plays moves and returns the states at several times of each step. Returns `None` if no time
/// passes in the game, or if the moves are not those of this game.
fn states_along(game: &Game, moves: &[Vec<String>]) -> Option<Vec<Vec<String>>> {
    let mut position = game.start();
    let mut states = vec![position.state()];
    let mut is_continuous = false;
    for joint in moves {
        let joint: Vec<&str> = joint.iter().map(String::as_str).collect();
        if let Some(passage) = position.passage(&joint, POINTS) {
            is_continuous = true;
            states.extend(passage.states(&position.state()).into_iter().skip(1));
        }
        position.play_joint(&joint).ok()?;
        states.push(position.state());
    }
    is_continuous.then_some(states)
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

fn read_record(path: &Path) -> Result<Record, Failure> {
    let fail =
        |error: &dyn std::fmt::Display| Failure::unreadable(format!("{}: {error}", path.display()));
    let value = crate::trace::read_json(path)?;
    let record = Record::from_json(&value).map_err(|error| fail(&error))?;
    if record.states.is_empty() {
        return Err(fail(&"the record has no states"));
    }
    Ok(record)
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    std::fs::write(path, bytes).map_err(|error| Failure::cannot_write(path, &error))
}
