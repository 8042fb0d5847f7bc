//! Games that are too large when grounded (`tests/exploding`): refused within the limits, with the rule to blame.
//!
//! Every limit counts something other than time, so these tests say the same on every machine.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use agon_datalog::{GroundLimits, RefusalKind};
use agon_game::{Rng, laws};
use agon_gdl::check::check;
use agon_gdl::circuit::CircuitLimits;
use agon_gdl::engine::NoCircuit;
use agon_gdl::interpreter::{Game, Options};
use agon_text::{Severity, Source};
use rand::SeedableRng as _;

/// Ten times what the limits below allow; the games are too large for this as well.
const PLENTY: GroundLimits = GroundLimits {
    atoms: 200_000,
    rules: 400_000,
    bytes: 40 << 20,
    steps: 20_000_000,
    deadline: None,
};

/// A rulesheet of `tests/exploding`.
struct Sheet {
    path: PathBuf,
    text: String,
    game: Arc<Game>,
}

fn sheets() -> Vec<Sheet> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/exploding");
    let listing = std::fs::read_dir(folder).expect("tests/exploding is part of the project");
    let mut paths: Vec<PathBuf> =
        listing.map(|entry| entry.expect("the folder can be listed").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "kif"));
    paths.sort();
    assert!(paths.len() >= 2, "the games are there");
    paths.into_iter().map(Sheet::open).collect()
}

impl Sheet {
    fn open(path: PathBuf) -> Sheet {
        let text = std::fs::read_to_string(&path).expect("it can be read");
        let checked = check(Arc::new(Source::new("sheet", text.as_str())));
        let complaints =
            checked.findings.0.iter().filter(|finding| finding.severity > Severity::Note);
        assert_eq!(complaints.count(), 0, "{}: as clean as a shipped game", path.display());
        let rules = checked.rules.expect("there are no errors");
        let game = Game::open(rules, Options::default());
        let game = game.unwrap_or_else(|finding| panic!("{}: {}", path.display(), finding.message));
        Sheet { path, text, game }
    }

    /// The lines of the rules below a comment `; explodes`.
    fn blamed_lines(&self) -> Vec<usize> {
        let lines = self.text.lines().enumerate();
        lines.filter(|(_, line)| line.trim() == "; explodes").map(|(index, _)| index + 2).collect()
    }

    /// Compiles within limits that the game cannot keep; gives what was exceeded.
    fn refused(&self, ground: GroundLimits) -> RefusalKind {
        let shown = self.path.display();
        let made = self.game.compile(&CircuitLimits { ground, ..CircuitLimits::default() });
        let Err(why) = made else { panic!("{shown}: made into a circuit") };
        let NoCircuit::Refused { refusal, text } = &why else { panic!("{shown}: {why}") };
        let lines = self.blamed_lines();
        assert!(
            lines.iter().any(|line| text.ends_with(&format!(" (sheet:{line})"))),
            "{shown}: lines {lines:?} are to blame, not {text}"
        );
        assert!(refusal.origin.is_some(), "{shown}: the refusal names the rule to programs too");
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
fn the_interpreter_plays_them() {
    for sheet in sheets() {
        let start = sheet.game.start();
        let plan = laws::Plan { plays: 20, max_steps: 200, ..laws::Plan::default() };
        let summary = laws::check(&start, &plan);
        let summary =
            summary.unwrap_or_else(|violation| panic!("{}: {violation}", sheet.path.display()));
        assert_eq!(summary.faults, 0, "{}: no fault in play", sheet.path.display());
        // Every outcome that the rules know occurs in random play: these are games, not decoys.
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
                "{}: nobody ever gets {wanted}",
                sheet.path.display()
            );
        }
    }
}
