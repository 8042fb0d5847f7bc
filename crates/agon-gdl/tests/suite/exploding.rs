//! Games that are too large when grounded (`tests/exploding`). Grounding them stops at the limits
//! and names the rule that exceeds them.
//!
//! No limit depends on time, so these tests give the same result on every machine.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use agon_datalog::{GroundLimits, Limits, RefusalKind, StopFlag};
use agon_game::{Notation as _, Position as _, Rng, Role, laws};
use agon_gdl::check::check;
use agon_gdl::circuit::{CircuitLimits, NoCircuit};
use agon_gdl::interpreter::{Game, Interpreter, Options};
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

/// After two steps the legal moves of `r` are all rows of a relation with 10^12 rows, directly or
/// by way of another relation. The moves of `q` are few.
fn exploding_in_play(legal: &str) -> Arc<Game> {
    let variables: Vec<String> = (0..12).map(|i| format!("?x{i}")).collect();
    let row = variables.join(" ");
    let body: String = variables.iter().map(|v| format!("(d {v})")).collect();
    let digits: String = (0..10).map(|i| format!("(d {i})")).collect();
    let legal = legal.replace("ROW", &row).replace("BODY", &body);
    let text = format!(
        "(role r) (role q) (init (step 0)) (succ 0 1) (succ 1 2) (succ 2 3) (succ 3 4) {digits} \
         (<= (legal r wait) (true (step ?n)) (distinct ?n 2)) {legal} \
         (legal q (say 1)) (legal q (say 2)) \
         (<= (next (step ?m)) (true (step ?n)) (succ ?n ?m)) \
         (<= terminal (true (step 4))) (goal r 50) (goal q 50)"
    );
    let rules = check(Arc::new(Source::new("sheet", text))).rules.expect("there are no errors");
    // Limits that do not depend on time: the same on every machine.
    let limits = agon_datalog::Limits { facts: 100_000, ..agon_datalog::Limits::default() };
    let options = Options { limits, ..Options::default() };
    Game::open(rules, options).unwrap_or_else(|finding| panic!("{}", finding.message))
}

#[test]
fn a_legal_move_is_found_where_not_all_can_be_listed() {
    for legal in [
        "(<= (legal r (m ROW)) (true (step 2)) BODY)",
        "(<= (big ROW) BODY) (<= (legal r (m ROW)) (true (step 2)) (big ROW))",
    ] {
        let game = exploding_in_play(legal);
        let mut position = game.start();
        let until = std::time::Instant::now() + std::time::Duration::from_secs(1000);
        for step in 0..4 {
            position.list_legal_moves_until(Role::new(0), until);
            assert_eq!(position.fault(), None, "step {step}: {legal}");
            assert!(!position.is_terminal());
            let own = *position.legal_moves(Role::new(0)).first().expect("there is a move");
            assert!(position.is_legal(Role::new(0), &own));
            // Moves that are not listed can be read, and others are refused.
            let other = position.parse_move(Role::new(1), "(say 2)").expect("it is legal");
            assert_eq!(position.parse_move(Role::new(1), "(say 3)"), None);
            if step == 2 {
                let rare = "(m 9 8 7 6 5 4 3 2 1 0 9 8)";
                let rare = position.parse_move(Role::new(0), rare).expect("it is legal");
                assert!(position.is_legal(Role::new(0), &rare));
                assert_eq!(position.parse_move(Role::new(0), "(m 9)"), None);
                assert_eq!(position.parse_move(Role::new(0), "wait"), None);
            }
            position.advance(&[own, other]);
        }
        assert!(position.is_terminal() && position.fault().is_none());
        assert_eq!(position.payoff(Role::new(0)), 50.0);

        // Without that, the state is a fault, as for a referee.
        let mut referee = game.start();
        for _ in 0..2 {
            let joint = [Role::new(0), Role::new(1)].map(|role| referee.legal_moves(role)[0]);
            referee.advance(&joint);
        }
        assert!(referee.fault().is_some());
    }
}

/// Opens rules with many legal moves in every state: all pairs of `n` words.
fn all_pairs(n: usize, limits: Limits) -> Interpreter {
    let words: String = (0..n).map(|i| format!("(d {i})")).collect();
    let text = format!(
        "(role r)(role q){words}(init (s 0))(<= (legal ?r (m ?x ?y)) (role ?r) (d ?x) (d ?y))\
         (<= (next (s 1)) (true (s 0)))(<= (next (s 0)) (true (s 1)))\
         (<= terminal (true (s 2)))(<= (goal ?r 50) (role ?r))"
    );
    let rules = check(Arc::new(Source::new("pairs", text))).rules.expect("no errors");
    Game::open(rules, Options { limits, ..Options::default() }).expect("it opens").start()
}

/// Whether play has ended is known without listing, sorting and copying all legal moves.
#[test]
fn the_end_of_play_is_known_without_listing_all_moves() {
    let mut position = all_pairs(300, Limits::default());
    let joint = vec![position.legal_moves(Role::new(0))[7]; 2];
    let lists = |position: &mut Interpreter, n: usize, asks_all: bool| {
        let began = Instant::now();
        for _ in 0..n {
            position.advance(&joint);
            assert!(!position.is_terminal());
            assert!(position.fault().is_none());
            if asks_all {
                assert_eq!(position.legal_moves(Role::new(1)).len(), 90_000);
            }
        }
        began.elapsed() / u32::try_from(n).expect("few")
    };
    // The best of several runs, because other work of the machine disturbs single ones.
    let mut best = |asks_all| (0..5).map(|_| lists(&mut position, 3, asks_all)).min();
    let (listed, known) = (best(true).expect("five runs"), best(false).expect("five runs"));
    assert!(3 * known < listed, "{known:?} without the list, {listed:?} with it");
}

/// A position that is not terminal has legal moves, also if its time ends before they are listed.
#[test]
fn a_deadline_between_two_questions_leaves_legal_moves() {
    let end = Instant::now() + Duration::from_secs(20);
    let mut position = all_pairs(150, Limits { deadline: Some(end), ..Limits::default() });
    let moves = position.legal_moves(Role::new(0)).to_vec();
    assert_eq!(moves.len(), 22_500);
    position.advance(&[moves[0], moves[1]]);
    assert!(!position.is_terminal());
    std::thread::sleep(end.saturating_duration_since(Instant::now()) + Duration::from_millis(10));
    for role in position.shape().roles().collect::<Vec<_>>() {
        let few = position.legal_moves(role).to_vec();
        assert!(!few.is_empty() && few.len() < moves.len(), "{} moves", few.len());
        assert!(few.iter().all(|m| moves.contains(m)));
    }
    // Searches copy positions and go back to states. They have to find moves there, too.
    let mut copy = position.clone();
    let state = position.state().clone();
    copy.advance(&[moves[0], moves[1]]);
    copy.go_to(&state);
    for position in [position, copy] {
        assert!(!position.is_terminal() && position.fault().is_none());
        position.draw(&mut Rng::seed_from_u64(1), &mut Vec::new());
    }
}
