//! Games that are too large when grounded (`tests/exploding`). Grounding them stops at the limits
//! and names the rule that exceeds them.
//!
//! No limit depends on time, so these tests give the same result on every machine.

use std::path::PathBuf;
use std::sync::Arc;

use agon_datalog::{GroundLimits, RefusalKind, StopFlag};
use agon_game::{Rng, laws};
use agon_gdl::check::check;
use agon_gdl::circuit::{CircuitLimits, NoCircuit};
use agon_gdl::interpreter::{Game, Options};
use agon_testkit::files;
use agon_text::{Severity, Source};
use rand::SeedableRng as _;

/// Ten times the limits used below. The games exceed these too.
const PLENTY: GroundLimits = GroundLimits {
    atoms: 200_000,
    rules: 400_000,
    bytes: 40 << 20,
    steps: 20_000_000,
    deadline: None,
    stop: StopFlag::NEVER,
};

/// A rulesheet of `tests/exploding`.
struct Sheet {
    path: PathBuf,
    text: String,
    game: Arc<Game>,
}

fn sheets() -> Vec<Sheet> {
    let folder = files::repository().join("tests/exploding");
    let paths = files::with_extension(&folder, &["kif"]);
    assert!(paths.len() >= 2, "at least two games");
    paths.into_iter().map(Sheet::open).collect()
}

impl Sheet {
    fn open(path: PathBuf) -> Sheet {
        let text = std::fs::read_to_string(&path).expect("it can be read");
        let checked = check(Arc::new(Source::new("sheet", text.as_str())));
        let complaints =
            checked.findings.0.iter().filter(|finding| finding.severity > Severity::Note);
        assert_eq!(complaints.count(), 0, "{}: no warnings", path.display());
        let rules = checked.rules.expect("there are no errors");
        let game = Game::open(rules, Options::default());
        let game = game.unwrap_or_else(|finding| panic!("{}: {}", path.display(), finding.message));
        Sheet { path, text, game }
    }

    /// Returns the lines of the rules that stand below a comment `; explodes`.
    fn blamed_lines(&self) -> Vec<usize> {
        let lines = self.text.lines().enumerate();
        lines.filter(|(_, line)| line.trim() == "; explodes").map(|(index, _)| index + 2).collect()
    }

    /// Compiles within limits that the game exceeds. Returns which limit was exceeded.
    fn refused(&self, ground: GroundLimits) -> RefusalKind {
        let shown = self.path.display();
        let made = self.game.compile(&CircuitLimits { ground, ..CircuitLimits::default() });
        let Err(why) = made else { panic!("{shown}: compiled to a circuit") };
        let NoCircuit::Refused { refusal, text } = &why else { panic!("{shown}: {why}") };
        let lines = self.blamed_lines();
        assert!(
            lines.iter().any(|line| text.ends_with(&format!(" (sheet:{line})"))),
            "{shown}: lines {lines:?} are to blame, not {text}"
        );
        assert!(refusal.origin.is_some(), "{shown}: the refusal has the rule as data");
        assert_eq!(why.to_string(), *text);
        refusal.kind
    }
}

#[test]
fn each_limit_alone_stops_grounding_and_names_the_rule() {
    for sheet in sheets() {
        assert_eq!(sheet.refused(GroundLimits { atoms: 20_000, ..PLENTY }), RefusalKind::Facts);
        assert_eq!(sheet.refused(GroundLimits { rules: 20_000, ..PLENTY }), RefusalKind::Bytes);
        assert_eq!(sheet.refused(GroundLimits { bytes: 1 << 20, ..PLENTY }), RefusalKind::Bytes);
        assert_eq!(sheet.refused(GroundLimits { steps: 100_000, ..PLENTY }), RefusalKind::Steps);
    }
}

#[test]
fn larger_limits_do_not_help() {
    for sheet in sheets() {
        sheet.refused(PLENTY);
    }
}

#[test]
fn the_interpreter_plays_these_games() {
    for sheet in sheets() {
        let start = sheet.game.start();
        let plan = laws::Plan { plays: 20, max_steps: 200, ..laws::Plan::default() };
        let summary = laws::check(&start, &plan);
        let summary =
            summary.unwrap_or_else(|violation| panic!("{}: {violation}", sheet.path.display()));
        assert_eq!(summary.faults, 0, "{}: no fault in play", sheet.path.display());
        // Every payoff occurs in random play, so these are real games.
        let mut rng = Rng::seed_from_u64(1);
        let mut position = start.clone();
        let mut payoffs: Vec<f64> = Vec::new();
        for _ in 0..300 {
            use agon_game::Position as _;
            position.go_to(start.state());
            position.play_out(&mut rng, 200);
            assert!(position.is_terminal(), "{}: plays end", sheet.path.display());
            payoffs.extend(start.shape().players().map(|role| position.payoff(role)));
        }
        for wanted in [0.0, 50.0, 100.0] {
            assert!(
                payoffs.contains(&wanted),
                "{}: payoff {wanted} never occurs",
                sheet.path.display()
            );
        }
    }
}
