//! `continuous`: search in games with real parameters and concurrent moves.

use std::any::Any;

use agon_game::{Continuous, Hidden, Rng};
use agon_learn::evaluation_games::DecisionEvaluator;
use agon_match::Player;
use agon_search::continuous::{
    ContinuousOptions, ContinuousSearch, CurrentPayoffs, GeneralSum, Method, MoveEvaluator,
    NoEvaluationGame, RandomPlays, TerminalPayoffs, ZeroOutcome,
};

use agon_toss::evaluation::EvaluationGames;
use agon_toss::interpreter::{Interpreter, Move};

use super::{BuildContext, Kind, Rules};
use crate::option::Settings;
use crate::registry::Origin;
use crate::{BuiltIn, OptionKind, PlayerKind};

pub(crate) static KIND: PlayerKind = PlayerKind {
    name: "continuous",
    form: "continuous(OPTIONS)",
    summary: "evaluation games, regret minimisation and UCT, for moves with real parameters and \
              players that move at the same time",
    options: &[&[
        OptionKind::word(
            "method",
            &["auto", "uct", "margins", "basic"],
            "auto: double oracle where several players choose, plans for a single player, or uct; \
             uct: generalised UCT; margins: payoffs predicted from the margins of conditions, one \
             step ahead; basic: the evaluation game one step ahead",
        ),
        OptionKind::word(
            "evaluation",
            &["none", "payoffs", "playouts", "terminal", "zero", "game"],
            "evaluation game of a move: none, the payoffs after it, a random play, the payoffs if \
             play ends, always 0, or the structure rewriting games of game-file",
        ),
        OptionKind::text(
            "game-file",
            "files of evaluation games with `+` between them, as in evaluation=game(file=a.toss)",
        ),
        OptionKind::real("c", 0.0..=100.0, 1.0, "exploration constant C of the confidence bounds"),
        OptionKind::integer(
            "iterations",
            0..=1_000_000_000,
            0,
            "number K of iterations for a move, besides the budget; 0 is no limit",
        ),
        OptionKind::integer(
            "assessments",
            1..=10_000,
            1,
            "number E of plays of the evaluation game for each new child",
        ),
        OptionKind::integer(
            "assessment-weight",
            1..=10_000,
            1,
            "number E' of plays that they count as; more than E is E",
        ),
        OptionKind::word(
            "general",
            &["regret", "matching"],
            "choices at the same time whose payoffs do not add up to a constant: iterated regret \
             minimisation or regret matching",
        ),
        OptionKind::integer(
            "candidates",
            3..=10_000,
            32,
            "number of values by family among which best responses are searched",
        ),
        OptionKind::integer(
            "refinements",
            0..=10_000,
            12,
            "number of values by parameter that refine a best response",
        ),
        OptionKind::real(
            "widening",
            0.1..=100.0,
            2.0,
            "a node gets this factor times n^0.4 values in n plays where one player chooses",
        ),
        OptionKind::integer(
            "inner",
            1..=1000,
            5,
            "number of values by family where several players choose inside the tree",
        ),
        OptionKind::integer(
            "max-steps",
            1..=1_000_000,
            500,
            "number of steps after which a play is cut off",
        ),
        OptionKind::integer("nodes", 16..=100_000_000, 200_000, "number of nodes kept"),
    ]],
    origin: Origin::BuiltIn(|settings| {
        BuiltIn::Continuous(ContinuousGames::from_settings(settings))
    }),
};

/// A player of games with real parameters and concurrent moves.
#[derive(Clone, Debug, PartialEq)]
pub struct ContinuousGames {
    options: ContinuousOptions,
    evaluation: Evaluation,
    game_file: String,
}

/// The evaluation game of the player.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Evaluation {
    None,
    Payoffs,
    Playouts,
    Terminal,
    Zero,
    Game,
}

impl ContinuousGames {
    fn from_settings(settings: &Settings) -> ContinuousGames {
        ContinuousGames {
            options: search_options(settings),
            evaluation: match settings.word("evaluation") {
                "payoffs" => Evaluation::Payoffs,
                "playouts" => Evaluation::Playouts,
                "terminal" => Evaluation::Terminal,
                "zero" => Evaluation::Zero,
                "game" => Evaluation::Game,
                _ => Evaluation::None,
            },
            game_file: settings.text("game-file").to_owned(),
        }
    }

    fn evaluator<P: Continuous + 'static>(
        &self,
        rules: &Rules,
        start: &P,
    ) -> Box<dyn MoveEvaluator<P>> {
        match self.evaluation {
            Evaluation::Game => match &rules.evaluation {
                Some(games) => move_evaluator(games, start),
                None => Box::new(NoEvaluationGame),
            },
            Evaluation::None => Box::new(NoEvaluationGame),
            Evaluation::Payoffs => Box::new(CurrentPayoffs),
            Evaluation::Playouts => Box::new(RandomPlays::new(self.options.max_steps)),
            Evaluation::Terminal => Box::new(TerminalPayoffs),
            Evaluation::Zero => Box::new(ZeroOutcome),
        }
    }
}

pub(super) fn search_options(settings: &Settings) -> ContinuousOptions {
    ContinuousOptions {
        method: match settings.word("method") {
            "uct" => Method::Uct,
            "margins" => Method::Margins,
            "basic" => Method::Basic,
            _ => Method::Auto,
        },
        exploration: settings.real("c"),
        max_iterations: Some(settings.integer("iterations")).filter(|&n| n > 0),
        assessments: settings.integer_u32("assessments"),
        assessment_weight: settings.integer_u32("assessment-weight"),
        general_sum: match settings.word("general") {
            "matching" => GeneralSum::Matching,
            _ => GeneralSum::Regret,
        },
        candidates: settings.integer_usize("candidates"),
        refinements: settings.integer_usize("refinements"),
        widening: settings.real("widening"),
        inner_points: settings.integer_usize("inner"),
        max_steps: settings.integer_usize("max-steps"),
        max_nodes: settings.integer_usize("nodes"),
        ..ContinuousOptions::default()
    }
}

impl Kind for ContinuousGames {
    fn build<P: Hidden + Continuous + 'static>(&self, context: BuildContext<P>) -> Box<dyn Player> {
        let (seed, evaluator) = (context.seed, self.evaluator(&context.rules, &context.start));
        context.seat(ContinuousSearch::new(self.options.clone(), evaluator, seed))
    }

    fn evaluation_files(&self) -> Option<&str> {
        (self.evaluation == Evaluation::Game).then_some(self.game_file.as_str())
    }
}

/// Returns an evaluator that assesses moves by evaluation games. Games that only decide by
/// conditions are evaluated on the bits of states if the engine has them; others are played.
pub fn move_evaluator<P: Continuous + 'static>(
    games: &EvaluationGames,
    start: &P,
) -> Box<dyn MoveEvaluator<P>> {
    let facts = start.feature_texts();
    match DecisionEvaluator::new(games, games.evaluated(), start.shape(), &facts) {
        Some(evaluator) => Box::new(evaluator),
        None => Box::new(RewritingEvaluation(games.clone())),
    }
}

/// Structure rewriting games that are played to assess moves.
struct RewritingEvaluation(EvaluationGames);

impl<P: Continuous + 'static> MoveEvaluator<P> for RewritingEvaluation {
    fn assess(
        &mut self,
        before: &P,
        joint: &[P::Move],
        _after: &P,
        rng: &mut Rng,
    ) -> Option<Vec<f64>> {
        let same = (before as &dyn Any).downcast_ref::<Interpreter>();
        let moves: Option<Vec<Move>> =
            joint.iter().map(|m| (m as &dyn Any).downcast_ref::<Move>().cloned()).collect();
        if let (Some(before), Some(joint)) = (same, moves) {
            return self.0.assess(before, &joint, rng);
        }
        // A circuit plays the game. Its texts are those of the interpreter.
        let texts: Vec<String> = joint.iter().map(|m| before.move_text(m)).collect();
        self.0.assess_texts(&before.state_text(), &texts, rng)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use agon_game::{Budget, Family, Notation, Parameter, Position, Role, Shape};

    use super::*;
    use crate::kinds::Auto;
    use crate::{Rules, parse_spec};

    /// Both players pick a number from 0 to 1, twice. The first gets 100 times the mean distance,
    /// the second the rest.
    #[derive(Clone)]
    struct Pick {
        shape: Arc<Shape>,
        families: Vec<Family>,
        state: Arc<Vec<f64>>,
    }

    /// The bits of a number.
    type Bits = u64;

    const LISTED: [Bits; 3] = [0, 0x3fe0_0000_0000_0000, 0x3ff0_0000_0000_0000];

    impl Pick {
        fn start() -> Pick {
            let names = ["first", "second"].map(str::to_owned).to_vec();
            let shape = Shape { continuous: true, ..Shape::new(names, None) };
            let shape = Shape { constant_sum: Some(100.0), ..shape };
            let parameter = Parameter { name: "x".to_owned(), low: 0.0, high: 1.0 };
            let families = vec![Family { text: "pick".to_owned(), parameters: vec![parameter] }];
            Pick { shape: Arc::new(shape), families, state: Arc::default() }
        }
    }

    impl Position for Pick {
        type Move = Bits;
        type State = Arc<Vec<f64>>;

        fn shape(&self) -> &Shape {
            &self.shape
        }
        fn is_terminal(&self) -> bool {
            self.state.len() == 2
        }
        fn legal_moves(&self, _: Role) -> &[Bits] {
            if self.is_terminal() { &[] } else { &LISTED }
        }
        fn is_legal(&self, role: Role, m: &Bits) -> bool {
            self.member(role, 0, &[f64::from_bits(*m)]).is_some()
        }
        fn payoff(&self, player: Role) -> f64 {
            let first = 50.0 * self.state.iter().sum::<f64>();
            if player.index() == 0 { first } else { 100.0 - first }
        }
        fn advance(&mut self, joint: &[Bits]) {
            let distance = (f64::from_bits(joint[0]) - f64::from_bits(joint[1])).abs();
            Arc::make_mut(&mut self.state).push(distance);
        }
        fn state(&self) -> &Arc<Vec<f64>> {
            &self.state
        }
        fn go_to(&mut self, state: &Arc<Vec<f64>>) {
            self.state = Arc::clone(state);
        }
        fn key(&self) -> u64 {
            self.state.iter().fold(1, |key, x| (key ^ x.to_bits()).wrapping_mul(0x9e37_79b9))
        }
    }

    impl Notation for Pick {
        fn move_text(&self, m: &Bits) -> String {
            format!("{}", f64::from_bits(*m))
        }
        fn parse_move(&self, role: Role, text: &str) -> Option<Bits> {
            self.member(role, 0, &[text.trim().parse().ok()?])
        }
        fn state_text(&self) -> Vec<String> {
            vec![format!("{:?}", self.state)]
        }
    }

    impl Hidden for Pick {
        fn percepts(&self, _: &[Bits], _: Role) -> Vec<String> {
            Vec::new()
        }
    }

    impl Continuous for Pick {
        fn families(&self, _: Role) -> &[Family] {
            if self.is_terminal() { &[] } else { &self.families }
        }
        fn member(&self, _: Role, family: usize, parameters: &[f64]) -> Option<Bits> {
            let [x] = parameters else { return None };
            (family == 0 && !self.is_terminal() && (0.0..=1.0).contains(x)).then(|| x.to_bits())
        }
        fn coordinates(&self, _: Role, m: &Bits) -> Option<(usize, Vec<f64>)> {
            Some((0, vec![f64::from_bits(*m)]))
        }
    }

    #[test]
    fn every_kind_plays_legal_moves() {
        for text in [
            "auto",
            "random",
            "legal",
            "greedy",
            "mcts(threads=1)",
            "alphabeta",
            "bestfirst",
            "puzzle",
            "solver",
            "continuous",
            "continuous(method=uct,evaluation=playouts,assessments=3,assessment-weight=2)",
            "continuous(method=basic,evaluation=payoffs)",
            "continuous(evaluation=zero,general=matching,iterations=50)",
        ] {
            let spec = parse_spec(text).expect(text);
            for role in [0, 1].map(Role::new) {
                let start = Pick::start();
                let context =
                    BuildContext { start: start.clone(), role, seed: 1, rules: Rules::default() };
                let mut player = spec.build(context).expect("a built-in player");
                let choice = player.choose(&Budget::iterations(200)).expect(text);
                assert!(start.parse_move(role, &choice.text).is_some(), "{text}: {}", choice.text);
            }
        }
    }

    #[test]
    fn auto_and_greedy_use_the_whole_interval() {
        assert_eq!(Auto::choose(Pick::start().shape()).text, "continuous");
        // One step ahead, the second player picks the middle, and the first one an end.
        let spec = parse_spec("greedy").expect("a kind");
        for (role, wanted) in [(0, [0.0, 1.0]), (1, [0.5, 0.5])] {
            let role = Role::new(role);
            let context =
                BuildContext { start: Pick::start(), role, seed: 1, rules: Rules::default() };
            let mut player = spec.build(context).expect("a built-in player");
            let choice = player.choose(&Budget::iterations(5000)).expect("a move");
            let x: f64 = choice.text.parse().expect("a number");
            // The objective is flat near the middle, and its values are noisy.
            assert!(wanted.iter().any(|w| (x - w).abs() < 0.05), "{x}");
        }
    }
}
