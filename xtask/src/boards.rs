//! Counts which rulesheets get a board, another picture, or a list, and draws a contact sheet.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use agon::Game;
use agon::open::{EngineChoice, OpenOptions, Purpose};
use agon::shipped::SHIPPED;
use agon_board::png::png;
use agon_board::svg::svg;
use agon_board::{LayoutKind, SvgOptions};
use agon_game::Rng;
use agon_testkit::files;
use rand::SeedableRng as _;

const HELP: &str = "cargo xtask boards [FOLDER] [--out FOLDER] [--only TEXT] [--each]

Infers the layout of every rulesheet below FOLDER (default: ../shared/games), or of the shipped
games if FOLDER is `shipped`, and writes contact sheets of positions after a few random moves.";

/// Games on a row of a contact sheet.
const COLUMNS: usize = 5;

/// Rows of a contact sheet.
const ROWS: usize = 4;

/// Pixels for a game on a contact sheet.
const SIDE: f64 = 300.0;

pub(crate) fn run(args: Vec<String>) {
    let mut folder = None;
    let mut out = PathBuf::from("target/boards");
    let mut only = String::new();
    let mut is_each = false;
    let mut args = args.into_iter();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--out" => out = args.next().map(PathBuf::from).unwrap_or(out),
            "--only" => only = args.next().unwrap_or_default(),
            "--each" => is_each = true,
            "--help" => return println!("{HELP}"),
            _ => folder = Some(arg),
        }
    }
    let default = files::repository().join("../shared/games").display().to_string();
    let folder = folder.unwrap_or(default);
    let games = if folder == "shipped" {
        SHIPPED.iter().map(|game| game.name.to_owned()).collect()
    } else if Path::new(&folder).is_dir() {
        rulesheets(Path::new(&folder))
    } else {
        return println!("skipped: there is no folder {folder}");
    };
    if let Err(error) = std::fs::create_dir_all(&out) {
        return println!("cannot make {}: {error}", out.display());
    }
    let mut counts: BTreeMap<LayoutKind, usize> = BTreeMap::new();
    let mut n_failed = 0;
    let mut drawings: Vec<(String, String)> = Vec::new();
    for name in games.iter().filter(|name| name.contains(&only)) {
        let began = Instant::now();
        let short = name.strip_prefix(&folder).unwrap_or(name).trim_matches('/').to_owned();
        let Some((kind, drawing)) = draw(name, &short) else {
            println!("{short}: cannot be opened");
            n_failed += 1;
            continue;
        };
        println!("{short}: {} {:.1} s", text(kind), began.elapsed().as_secs_f64());
        *counts.entry(kind).or_default() += 1;
        if is_each {
            let file = out.join(format!("{}.svg", short.replace('/', "-")));
            let _ = std::fs::write(file, &drawing);
        }
        drawings.push((format!("{short} ({})", text(kind)), drawing));
    }
    for (index, page) in drawings.chunks(COLUMNS * ROWS).enumerate() {
        let sheet = contact_sheet(page);
        let file = out.join(format!("sheet-{:02}", index + 1));
        let _ = std::fs::write(file.with_extension("svg"), &sheet);
        match png(&sheet, 1.0) {
            Ok(picture) => {
                let _ = std::fs::write(file.with_extension("png"), picture);
            }
            Err(error) => println!("{}: {error}", file.display()),
        }
    }
    let total: usize = counts.values().sum();
    let share = |kind: LayoutKind| {
        let n = counts.get(&kind).copied().unwrap_or(0);
        format!("{n} {} ({:.0} %)", text(kind), 100.0 * n as f64 / total.max(1) as f64)
    };
    println!(
        "{total} games: {}, {}, {}; {n_failed} could not be opened; sheets in {}",
        share(LayoutKind::Grid),
        share(LayoutKind::Picture),
        share(LayoutKind::List),
        out.display()
    );
}

fn text(kind: LayoutKind) -> &'static str {
    match kind {
        LayoutKind::Grid => "grid",
        LayoutKind::Picture => "picture",
        LayoutKind::List => "list",
    }
}

/// Returns the rulesheets below a folder, sorted.
fn rulesheets(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        for path in entries.flatten().map(|entry| entry.path()) {
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|e| e == "kif" || e == "toss") {
                found.push(path.display().to_string());
            }
        }
    }
    found.sort();
    found
}

/// Draws a game after a few random moves.
fn draw(name: &str, title: &str) -> Option<(LayoutKind, String)> {
    let engine = EngineChoice::Interpreter;
    let options = OpenOptions { purpose: Purpose::Single, engine, ..OpenOptions::default() };
    let game = Game::open_with(name, &options).ok()?;
    let layout = game.layout();
    let mut table = game.table();
    let mut rng = Rng::seed_from_u64(7);
    let mut state = table.state();
    for _ in 0..7 {
        let joint = table.draw(&mut rng);
        let joint: Vec<&str> = joint.iter().map(String::as_str).collect();
        if table.advance(&joint).is_err() || table.is_terminal() {
            break;
        }
        state = table.state();
    }
    let options = SvgOptions { title: title.to_owned(), ..SvgOptions::default() };
    Some((layout.kind(), svg(&layout.scene(&state), &options)))
}

/// Puts drawings into one drawing, in rows.
fn contact_sheet(page: &[(String, String)]) -> String {
    let (width, height) = (SIDE * COLUMNS as f64, SIDE * page.len().div_ceil(COLUMNS) as f64);
    let mut sheet = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\">\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n"
    );
    for (index, (_, drawing)) in page.iter().enumerate() {
        let (x, y) = (index % COLUMNS, index / COLUMNS);
        let (x, y) = (SIDE * x as f64 + 4.0, SIDE * y as f64 + 4.0);
        let side = SIDE - 8.0;
        // The document keeps its own view box, so it scales into its square.
        let rest = drawing.split_once("viewBox=").map_or(drawing.as_str(), |(_, rest)| rest);
        let (view, rest) = rest.split_once(" width=").unwrap_or((rest, ""));
        let (_, rest) = rest.split_once(" role=").unwrap_or(("", rest));
        sheet.push_str(&format!(
            "<svg x=\"{x}\" y=\"{y}\" width=\"{side}\" height=\"{side}\" viewBox={view} role={rest}"
        ));
    }
    sheet.push_str("</svg>\n");
    sheet
}
