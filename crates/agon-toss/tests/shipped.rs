//! The games that ship: each is described, checked, played, counted, and survives printing.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use agon_game::{Position, laws};
use agon_text::{Source, render};
use agon_toss::check::check;
use agon_toss::interpreter::{Game, Interpreter, Options};
use agon_toss::print::print_sheet;
use agon_toss::read::read;

/// Lines of more plays than this are counted with `SLOW=1` only.
const MAX_NODES: u64 = 2500;

fn shipped() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../games/toss");
    let files =
        std::fs::read_dir(folder).expect("games/toss exists").map(|entry| entry.expect("readable").path());
    let mut games: Vec<PathBuf> =
        files.filter(|path| path.extension().is_some_and(|e| e == "toss")).collect();
    games.sort();
    assert!(games.len() >= 12, "only {} games", games.len());
    games
}

fn text(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn open(name: &str, text: &str) -> Interpreter {
    let source = Arc::new(Source::new(name, text));
    let checked = check(Arc::clone(&source));
    assert!(checked.findings.0.is_empty(), "{}", render(&checked.findings.0, &source, false));
    let arena = checked.arena.expect("there are no findings");
    Game::open(arena, Options::default())
        .unwrap_or_else(|finding| panic!("{name}: {}", finding.message))
        .start()
}

fn open_file(path: &Path) -> Interpreter {
    open(&path.file_name().unwrap_or_default().to_string_lossy(), &text(path))
}

#[test]
fn have_header_perft_and_trace() {
    for path in shipped() {
        let text = text(&path);
        for key in ["title", "summary", "interest", "facts"] {
            assert!(text.contains(&format!("// {key}: ")), "{}: no `// {key}:`", path.display());
        }
        for ending in ["perft", "trace.json"] {
            assert!(path.with_extension(ending).is_file(), "{}: no .{ending} beside it", path.display());
        }
    }
}

#[test]
fn keep_the_laws_of_play() {
    for path in shipped() {
        let plan = laws::Plan { seed: 1, plays: 2, max_steps: 12 };
        let summary = laws::check(&open_file(&path), &plan);
        let summary = summary.unwrap_or_else(|violation| panic!("{}: {violation}", path.display()));
        assert_eq!(summary.faults, 0, "{}", path.display());
    }
}

#[test]
fn have_the_numbers_of_plays_written_down() {
    let limit = if std::env::var_os("SLOW").is_some() { 300_000 } else { MAX_NODES };
    for path in shipped() {
        let counts = text(&path.with_extension("perft"));
        let lines: Vec<(&str, usize, u64)> = counts
            .lines()
            .map(|line| {
                let words: Vec<&str> = line.split(' ').collect();
                (words[0], words[1].parse().expect("a depth"), words[2].parse().expect("a count"))
            })
            .collect();
        let too_deep =
            lines.iter().filter(|line| line.2 > limit).map(|line| line.1).min().unwrap_or(usize::MAX);
        let wanted: Vec<_> = lines.iter().filter(|line| line.1 < too_deep).collect();
        let depth = wanted.iter().map(|line| line.1).max().unwrap_or(0);
        assert!(depth > 0, "{}: nothing to count", path.display());
        let mut counts = Counts { reached: vec![0; depth + 1], ended: vec![0; depth + 1] };
        counts.walk(&mut open_file(&path), 0);
        for (what, depth, count) in wanted {
            let found = if *what == "perft" { counts.reached[*depth] } else { counts.ended[*depth] };
            assert_eq!(found, *count, "{}: {what} {depth}", path.display());
        }
    }
}

/// Plays by their length.
struct Counts {
    reached: Vec<u64>,
    /// Within so many steps.
    ended: Vec<u64>,
}

impl Counts {
    fn walk(&mut self, position: &mut Interpreter, depth: usize) {
        self.reached[depth] += 1;
        let is_last = depth + 1 == self.reached.len();
        // Whether play has ended at the last step is as costly to find out as all of its moves.
        if position.is_terminal() {
            self.ended[depth..].iter_mut().for_each(|n| *n += 1);
            return;
        }
        if is_last {
            return;
        }
        let here = position.state().clone();
        for joint in agon_game::joint_moves(position) {
            position.advance(&joint);
            self.walk(position, depth + 1);
            position.go_to(&here);
        }
    }
}

/// Positions whose counts are known to everybody who writes a chess program.
#[test]
fn chess_has_the_moves_of_known_positions() {
    let game = text(&shipped().into_iter().find(|path| path.ends_with("chess.toss")).expect("chess ships"));
    let rules = &game[..game.find("\nSTART").expect("it has a start") + 1];
    // Castling through and out of check, taking in passing with discovered checks, promotion with and without taking.
    let known = [
        ("r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq -", [48, 2039]),
        ("8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - -", [14, 191]),
        ("r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq -", [6, 264]),
        ("rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ -", [44, 1486]),
    ];
    let is_slow = std::env::var_os("SLOW").is_some();
    for (fen, counts) in known {
        let mut position = open(fen, &format!("{rules}{}", start(fen)));
        let depth = if is_slow { 2 } else { 1 };
        let mut found = Counts { reached: vec![0; depth + 1], ended: vec![0; depth + 1] };
        found.walk(&mut position, 0);
        assert_eq!(found.reached[1..], counts[..depth], "{fen}");
    }
}

/// The start of a position in Forsyth-Edwards notation.
fn start(fen: &str) -> String {
    let fields: Vec<&str> = fen.split(' ').collect();
    let mut board = String::new();
    for row in fields[0].split('/') {
        for c in row.chars() {
            match c.to_digit(10) {
                Some(n) => (0..n).for_each(|_| board.push_str(" .")),
                None => {
                    let colour = if c.is_uppercase() { 'w' } else { 'b' };
                    board.push_str(&format!(" {colour}{}", c.to_uppercase()));
                }
            }
        }
        board.push('\n');
    }
    let mut homes: Vec<&str> = Vec::new();
    for right in fields[2].chars() {
        homes.extend(match right {
            'K' => &["e1", "h1"][..],
            'Q' => &["e1", "a1"],
            'k' => &["e8", "h8"],
            'q' => &["e8", "a8"],
            _ => &[],
        });
    }
    homes.sort_unstable();
    homes.dedup();
    let kinds = "PNBRQK".chars().flat_map(|kind| ["w", "b"].map(|colour| format!("; {colour}{kind}:1 {{}}")));
    let kinds: String = kinds.collect();
    format!("START [ | Cas:1 {{{}}}; Ep:1 {{}}{kinds} | ] \"\n{board}\"\n", homes.join("; "))
}

#[test]
fn survive_printing() {
    for path in shipped() {
        let (sheet, findings) = read(Arc::new(Source::new("original", text(&path))));
        assert!(findings.0.is_empty(), "{}", path.display());
        let printed = print_sheet(&sheet);
        let (again, findings) = read(Arc::new(Source::new("printed", printed.as_str())));
        assert!(findings.0.is_empty(), "{}:\n{printed}", path.display());
        assert_eq!(print_sheet(&again), printed, "{}", path.display());
        // The same game: the same moves, and the same end.
        let (mut one, mut other) = (open_file(&path), open("printed", &printed));
        use rand::SeedableRng as _;
        let mut rng = agon_game::Rng::seed_from_u64(3);
        for _ in 0..12 {
            assert_eq!(one.is_terminal(), other.is_terminal());
            if one.is_terminal() {
                break;
            }
            let mut joint = Vec::new();
            one.draw(&mut rng, &mut joint);
            for role in one.shape().roles() {
                assert_eq!(one.legal_moves(role), other.legal_moves(role), "{}", path.display());
            }
            one.advance(&joint);
            other.advance(&joint);
            assert_eq!(one.key(), other.key());
        }
    }
}
