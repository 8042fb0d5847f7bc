//! Every shipped game has a description, keeps the laws of play, has the recorded counts, and
//! survives printing.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use agon_game::{Position, laws};
use agon_testkit::files;
use agon_text::params::{self, Notation};
use agon_text::{Source, render};
use agon_toss::check::check;
use agon_toss::interpreter::{Game, Interpreter, Options};
use agon_toss::print::print_sheet;
use agon_toss::read::read;

use super::positions::{KNOWN, start};

/// Larger counts are checked only with `SLOW=1`.
const MAX_NODES: u64 = 2500;

fn shipped() -> Vec<PathBuf> {
    let games = files::games("toss");
    assert!(games.len() >= 12, "only {} games", games.len());
    games
}

/// Reads a game. Parameters have their declared values.
fn text(path: &Path) -> String {
    let source = files::source(path);
    let expanded = params::expand(&source, &Default::default(), Notation::Toss);
    let expanded = expanded.unwrap_or_else(|found| panic!("{}: {found:?}", path.display()));
    expanded.map_or(source, |expanded| expanded.source).text().to_owned()
}

/// Opens a game without findings.
pub(super) fn open(name: &str, text: &str) -> Interpreter {
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
            assert!(
                path.with_extension(ending).is_file(),
                "{}: no .{ending} beside it",
                path.display()
            );
        }
    }
}

#[test]
fn keep_the_laws_of_play() {
    for path in shipped() {
        let plan = laws::Plan { seed: 1, plays: 2, max_steps: 12 };
        let summary = laws::check_continuous(&open_file(&path), &plan);
        let summary = summary.unwrap_or_else(|violation| panic!("{}: {violation}", path.display()));
        assert_eq!(summary.faults, 0, "{}", path.display());
    }
}

#[test]
fn have_the_recorded_counts() {
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
        let too_deep = lines
            .iter()
            .filter(|line| line.2 > limit)
            .map(|line| line.1)
            .min()
            .unwrap_or(usize::MAX);
        let wanted: Vec<_> = lines.iter().filter(|line| line.1 < too_deep).collect();
        let depth = wanted.iter().map(|line| line.1).max().unwrap_or(0);
        assert!(depth > 0, "{}: nothing to count", path.display());
        let mut counts = Counts { reached: vec![0; depth + 1], ended: vec![0; depth + 1] };
        counts.walk(&mut open_file(&path), 0);
        for (what, depth, count) in wanted {
            let found =
                if *what == "perft" { counts.reached[*depth] } else { counts.ended[*depth] };
            assert_eq!(found, *count, "{}: {what} {depth}", path.display());
        }
    }
}

/// Numbers of plays by length.
struct Counts {
    reached: Vec<u64>,
    /// Plays that ended within this number of steps.
    ended: Vec<u64>,
}

impl Counts {
    fn walk(&mut self, position: &mut Interpreter, depth: usize) {
        self.reached[depth] += 1;
        let is_last = depth + 1 == self.reached.len();
        // Finding out whether play has ended costs as much as finding all moves.
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

/// Standard perft positions of chess programs.
#[test]
fn chess_perft_of_standard_positions() {
    let game = text(
        &shipped().into_iter().find(|path| path.ends_with("chess.toss")).expect("chess ships"),
    );
    let rules = &game[..game.find("\nSTART").expect("it has a start") + 1];
    let is_slow = std::env::var_os("SLOW").is_some();
    for (fen, counts) in KNOWN {
        let mut position = open(fen, &format!("{rules}{}", start(fen)));
        let depth = if is_slow { 2 } else { 1 };
        let mut found = Counts { reached: vec![0; depth + 1], ended: vec![0; depth + 1] };
        found.walk(&mut position, 0);
        assert_eq!(found.reached[1..], counts[..depth], "{fen}");
    }
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
        // The printed game has the same moves and the same end.
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
