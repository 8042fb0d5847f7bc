//! `mcts` and `uct`: Monte Carlo tree search.

use agon_analysis::regression::{EQUAL_BELOW, Goals, HeuristicRequest, Logic};
use agon_game::{Continuous, Hidden, PlayoutKind, Position};
use agon_match::Player;
use agon_search::hidden::HiddenOptions;
use agon_search::{
    Amaf, Bandit, Choice, FinalMove, FirstPlay, HeuristicUse, Leaves, MctsOptions, Others,
    PlayoutPolicy, PlayoutPreference, Simultaneous,
};

use super::{BuildContext, Kind, combined, goal_terms};
use crate::adaptive_mcts::{AdaptiveMcts, Threads};
use crate::combined::CombinedSearch;
use crate::heuristics::MoveHeuristic;
use crate::learnt::{LearnPlan, LearntSearch, Method};
use crate::option::Settings;
use crate::registry::Origin;
use crate::{
    BuiltIn, CombinedOptions, GoalTermOptions, OptionKind, PerceptPlayer, PlayerKind,
    RegressedGoalOptions,
};

pub(crate) static MCTS: PlayerKind = PlayerKind {
    name: "mcts",
    form: "mcts(OPTIONS)",
    summary: "Monte Carlo tree search with batches of leaves; hidden in games with hidden \
              information",
    options: &[&SELECTION_AND_PLAYOUTS, &goal_terms::OPTIONS, &combined::OPTIONS, &MCTS_TREE],
    origin: Origin::BuiltIn(Mcts::from_settings),
};

pub(crate) static UCT: PlayerKind = PlayerKind {
    name: "uct",
    form: "uct(OPTIONS)",
    summary: "plain UCT as a baseline: mcts with one playout per leaf and without enhancements",
    options: &[&SELECTION_AND_PLAYOUTS, &goal_terms::OPTIONS, &combined::OPTIONS, &UCT_TREE],
    origin: Origin::BuiltIn(Mcts::from_settings),
};

static SELECTION_AND_PLAYOUTS: [OptionKind; 35] = [
    OptionKind::real(
        "c",
        0.0..=100.0,
        0.4,
        "exploration constant in the tree, for payoffs from 0 to 1; the default with \
         bandit=tuned is 1; multiplied by sqrt(playouts / 32) above 32 playouts per leaf",
    ),
    OptionKind::word(
        "bandit",
        &["ucb1", "tuned"],
        "selection in the tree where one role moves alone: UCB1, UCB1-Tuned",
    ),
    OptionKind::word(
        "first-play",
        &["first", "below", "urgency"],
        "an untried move is selected first, or has the position's mean less first-play-part, or \
         has the fixed value first-play-part",
    ),
    OptionKind::real(
        "first-play-part",
        0.0..=1.0,
        0.1,
        "first-play: as a fraction of the range of payoffs",
    ),
    OptionKind::word(
        "final-move",
        &["visits", "bound"],
        "the move that is made: the most visited one, or the one with the highest lower confidence \
         bound",
    ),
    OptionKind::word(
        "amaf",
        &["off", "rave", "grave"],
        "all moves as first: moves made later in a playout count as if made at once",
    ),
    OptionKind::real(
        "rave-k",
        0.0..=1e9,
        1000.0,
        "rave: equivalence parameter, the visits at which both estimates have equal weight",
    ),
    OptionKind::integer(
        "grave-visits",
        0..=1_000_000,
        50,
        "grave: visits that a position needs to be a reference",
    ),
    OptionKind::real(
        "grave-bias",
        0.0..=1.0,
        1e-5,
        "grave: bias; a smaller value trusts all-moves-as-first statistics for longer",
    ),
    OptionKind::word(
        "leaf-evaluation",
        &["none", "learnt", "heuristics"],
        "learnt: leaves are valued by an evaluation that is learnt by self-play when the player \
         thinks for the first time; for two players, and rules that can be grounded. heuristics: \
         by all heuristics that can be derived from the rules, as eval=combined of alphabeta",
    ),
    OptionKind::real(
        "evaluation-part",
        0.0..=1.0,
        0.5,
        "leaf-evaluation: its part in the value of a leaf; the rest comes from playouts",
    ),
    OptionKind::integer(
        "learn",
        0..=100,
        60,
        "leaf-evaluation: part of the first budget that is for learning, in percent",
    ),
    OptionKind::word(
        "policy",
        &["uniform", "mast", "past", "nst"],
        "playout policy that learns from earlier playouts",
    ),
    OptionKind::word(
        "preference",
        &["off", "average", "advantage"],
        "playouts in batches prefer moves that pay well in the tree: by their mean payoff, or by \
         how much more they pay than the other moves of the same position",
    ),
    OptionKind::integer(
        "past-samples",
        1..=1_000_000,
        10,
        "past: minimum number of samples of a pair of move and fluent",
    ),
    OptionKind::integer("nst-length", 1..=3, 3, "nst: maximum length of a sequence of moves"),
    OptionKind::integer(
        "nst-samples",
        1..=1_000_000,
        7,
        "nst: minimum number of samples of a sequence",
    ),
    OptionKind::word(
        "choice",
        &["gibbs", "greedy"],
        "choice of a move by a policy: by exp(value / temperature), or epsilon-greedy",
    ),
    OptionKind::real(
        "temperature",
        0.01..=1e6,
        10.0,
        "gibbs: a higher temperature is more random; values are from 0 to 100",
    ),
    OptionKind::real("epsilon", 0.0..=1.0, 0.4, "greedy: probability of a random move"),
    OptionKind::word(
        "action-heuristic",
        &["none", "playout", "tree", "combined"],
        "goals regressed by a step guide the playouts, the tree, or both; needs rules that can \
         be grounded",
    ),
    OptionKind::word(
        "heuristic-goals",
        &["highest", "all"],
        "action-heuristic: goals that are regressed; all: weighted by their values",
    ),
    OptionKind::integer(
        "heuristic-steps",
        1..=2,
        1,
        "action-heuristic: number of steps of regression; 2 only if the size permits",
    ),
    OptionKind::word(
        "heuristic-norm",
        &["product", "yager"],
        "action-heuristic: product and probabilistic sum, or Yager's norms, which are slower",
    ),
    OptionKind::real(
        "heuristic-threshold",
        0.0..=1.0,
        EQUAL_BELOW,
        "action-heuristic: moves whose degrees of truth differ by less than this part of the \
         highest one are equal",
    ),
    OptionKind::word(
        "playout-goals",
        &["same", "highest", "all"],
        "action-heuristic: goals that are regressed for playouts, if not those for the tree",
    ),
    OptionKind::integer(
        "playout-regression-steps",
        0..=2,
        0,
        "action-heuristic: steps of regression for playouts; 0: as for the tree",
    ),
    OptionKind::word(
        "playout-norm",
        &["same", "product", "yager"],
        "action-heuristic: norm for playouts, if not that for the tree",
    ),
    OptionKind::real(
        "heuristic-temperature",
        0.01..=1e6,
        1.0,
        "playout: a higher temperature is more random",
    ),
    OptionKind::real(
        "heuristic-scale",
        0.0..=1000.0,
        50.0,
        "action-heuristic: weight of the most promising move; the least promising has 0",
    ),
    OptionKind::real(
        "heuristic-divisor",
        0.001..=1e6,
        20.0,
        "tree: a higher value makes results of the search outweigh the heuristic sooner",
    ),
    OptionKind::integer(
        "heuristic-abreast",
        1..=64,
        32,
        "action-heuristic: number of positions evaluated in one batch, both leaves with running \
         playouts and positions in the tree",
    ),
    OptionKind::word(
        "prior",
        &["none", "terms", "tnf", "descriptions", "rule-conditions"],
        "structure rewriting: prior of moves in the tree by progress towards the goals; methods \
         as in eval of alphabeta",
    ),
    OptionKind::word(
        "implicit-minimax",
        &["none", "terms", "tnf", "descriptions", "rule-conditions"],
        "structure rewriting: evaluations of positions, as by eval of alphabeta, are backed up \
         beside the playouts; replaces prior",
    ),
    OptionKind::real(
        "alpha",
        0.0..=1.0,
        0.4,
        "implicit-minimax: weight of the backed-up evaluation; playouts have the rest",
    ),
];

/// Defaults that differ between `mcts` and `uct`.
struct Defaults {
    has_enhancements: bool,
    n_leaves: u64,
    n_playouts: u64,
    n_siblings: u64,
    n_threads: u64,
}

static MCTS_TREE: [OptionKind; 17] = tree_options(&Defaults {
    has_enhancements: true,
    n_leaves: 64,
    n_playouts: 8,
    n_siblings: 3,
    n_threads: 0,
});

static UCT_TREE: [OptionKind; 17] = tree_options(&Defaults {
    has_enhancements: false,
    n_leaves: 1,
    n_playouts: 1,
    n_siblings: 0,
    n_threads: 1,
});

const fn tree_options(defaults: &Defaults) -> [OptionKind; 17] {
    [
        OptionKind::flag(
            "transpositions",
            true,
            "positions that are reached in several ways share their statistics",
        ),
        OptionKind::flag("solver", defaults.has_enhancements, "proven results are backed up"),
        OptionKind::flag(
            "look-ahead",
            defaults.has_enhancements,
            "all children of a new position are examined if the engine does so in one pass",
        ),
        OptionKind::word(
            "playout-moves",
            if defaults.has_enhancements {
                &["auto", "uniform", "decisive", "careful"]
            } else {
                &["uniform", "decisive", "careful", "auto"]
            },
            "moves of playouts without a policy: any; those that win at once where there are any; \
             also not those after which another player wins at once; auto: careful, if playouts \
             run in batches. Batches draw uniformly if the rest takes too much logic",
        ),
        OptionKind::word(
            "simultaneous",
            &["duct", "rm", "irm"],
            "simultaneous moves: decoupled UCT, regret matching, iterated regret minimisation",
        ),
        OptionKind::real("simultaneous-c", 0.0..=100.0, 1.0, "duct, irm: exploration constant"),
        OptionKind::real("exploration", 0.0..=1.0, 0.1, "rm: probability of a random move"),
        OptionKind::word(
            "others",
            &["selfish", "hostile", "learnt"],
            "what other players are assumed to want: the most for themselves, the least for us, or \
             what their moves have shown",
        ),
        OptionKind::flag("paranoid", false, "another word for others=hostile"),
        OptionKind::integer(
            "leaves",
            1..=4096,
            defaults.n_leaves,
            "number of leaves in flight, with an engine that runs batches",
        ),
        OptionKind::integer(
            "playouts",
            1..=4096,
            defaults.n_playouts,
            "playouts from each leaf of a batch; fewer if the number of iterations is small",
        ),
        OptionKind::integer(
            "siblings",
            0..=4096,
            defaults.n_siblings,
            "number of further untried moves that are added where a descent leaves the tree",
        ),
        OptionKind::real(
            "virtual-loss",
            0.0..=1.0,
            1.0,
            "a playout in flight counts as a visit (0) up to a visit that was lost (1)",
        ),
        OptionKind::integer(
            "threads",
            0..=256,
            defaults.n_threads,
            "number of threads; 0: two if there are two processors, roles take turns and time is \
             limited by a clock, else one",
        ),
        OptionKind::integer(
            "nodes",
            1000..=100_000_000,
            1_000_000,
            "number of positions kept; beyond that the least visited are removed",
        ),
        OptionKind::integer(
            "max-steps",
            1..=1_000_000,
            1000,
            "number of steps after which a playout is cut off",
        ),
        OptionKind::flag("keep", true, "the tree is kept from move to move"),
    ]
}

/// A player by Monte Carlo tree search.
#[derive(Clone, Debug, PartialEq)]
pub struct Mcts {
    /// With 0 threads, their number is adapted to the match.
    options: MctsOptions,
    /// The regressed goals for the tree and for playouts.
    action_heuristic: Option<(RegressedGoalOptions, RegressedGoalOptions)>,
    goal_terms: Option<GoalTermOptions>,
    /// How an evaluation of leaves is learnt, and its part in their value.
    learnt: Option<(LearnPlan, f64)>,
    /// How heuristics are combined to an evaluation of leaves, and its part in their value.
    combined: Option<(CombinedOptions, f64)>,
}

/// Number of games to learn from in a match without a clock.
const N_LEARNING_GAMES: u64 = 2000;

impl Mcts {
    fn from_settings(settings: &Settings) -> BuiltIn {
        let goals = |option: &str, same: Goals| match settings.word(option) {
            "all" => Goals::All,
            "highest" => Goals::Highest,
            _ => same,
        };
        let logic = |option: &str, same: Logic| match settings.word(option) {
            "yager" => Logic::YAGER,
            "product" => Logic::PRODUCT,
            _ => same,
        };
        let request = HeuristicRequest {
            goals: goals("heuristic-goals", Goals::Highest),
            n_steps: settings.integer_usize("heuristic-steps"),
        };
        let tree = RegressedGoalOptions {
            request,
            logic: logic("heuristic-norm", Logic::PRODUCT),
            threshold: settings.real("heuristic-threshold"),
        };
        let n_steps = match settings.integer_usize("playout-regression-steps") {
            0 => request.n_steps,
            n_steps => n_steps,
        };
        let playouts = RegressedGoalOptions {
            request: HeuristicRequest { goals: goals("playout-goals", request.goals), n_steps },
            logic: logic("playout-norm", tree.logic),
            ..tree
        };
        let is_used = settings.word("action-heuristic") != "none";
        BuiltIn::Mcts(Box::new(Mcts {
            options: search_options(settings),
            action_heuristic: is_used.then_some((tree, playouts)),
            goal_terms: goal_terms::selected_by(settings, "implicit-minimax")
                .or_else(|| goal_terms::selected_by(settings, "prior")),
            learnt: (settings.word("leaf-evaluation") == "learnt").then(|| {
                let percent = settings.integer_u32("learn");
                let plan = LearnPlan { percent, n_games: N_LEARNING_GAMES };
                (plan, settings.real("evaluation-part"))
            }),
            combined: (settings.word("leaf-evaluation") == "heuristics")
                .then(|| (combined::from_settings(settings), settings.real("evaluation-part"))),
        }))
    }
}

/// Reads the options of the search. Threads may be 0.
pub(super) fn search_options(settings: &Settings) -> MctsOptions {
    let first_play_part = settings.real("first-play-part");
    let c = settings.real("c");
    MctsOptions {
        bandit: match settings.word("bandit") {
            "tuned" if !settings.is_set("c") => Bandit::TUNED,
            "tuned" => Bandit::Ucb1Tuned { c },
            _ => Bandit::Ucb1 { c },
        },
        first_play: match settings.word("first-play") {
            "below" => FirstPlay::BelowMean(first_play_part),
            "urgency" => FirstPlay::Urgency(first_play_part),
            _ => FirstPlay::First,
        },
        final_move: match settings.word("final-move") {
            "bound" => FinalMove::LowerBound { c },
            _ => FinalMove::Visits,
        },
        amaf: match settings.word("amaf") {
            "rave" => Amaf::Rave { k: settings.real("rave-k") },
            "grave" => Amaf::Grave {
                reference: settings.integer_u32("grave-visits"),
                bias: settings.real("grave-bias"),
            },
            _ => Amaf::Off,
        },
        policy: match settings.word("policy") {
            "mast" => PlayoutPolicy::Mast,
            "past" => PlayoutPolicy::Past { min_samples: settings.integer_u32("past-samples") },
            "nst" => PlayoutPolicy::Nst {
                max_length: settings.integer_u32("nst-length"),
                min_samples: settings.integer_u32("nst-samples"),
            },
            _ => PlayoutPolicy::Uniform,
        },
        playout_kind: match settings.word("playout-moves") {
            "decisive" => Some(PlayoutKind::Decisive),
            "careful" => Some(PlayoutKind::Careful),
            "auto" => None,
            _ => Some(PlayoutKind::Uniform),
        },
        playout_preference: match settings.word("preference") {
            "average" => PlayoutPreference::Average,
            "advantage" => PlayoutPreference::Advantage,
            _ => PlayoutPreference::Off,
        },
        choice: match settings.word("choice") {
            "greedy" => Choice::EpsilonGreedy { epsilon: settings.real("epsilon") },
            _ => Choice::Gibbs { temperature: settings.real("temperature") },
        },
        transpositions: settings.flag("transpositions"),
        solver: settings.flag("solver"),
        look_ahead: settings.flag("look-ahead"),
        simultaneous: match settings.word("simultaneous") {
            "rm" => Simultaneous::RegretMatching { exploration: settings.real("exploration") },
            "irm" => Simultaneous::IteratedRegret { c: settings.real("simultaneous-c") },
            _ => Simultaneous::Decoupled { c: settings.real("simultaneous-c") },
        },
        others: match settings.word("others") {
            _ if settings.flag("paranoid") => Others::Paranoid,
            "hostile" => Others::Paranoid,
            "learnt" => Others::Learnt,
            _ => Others::MaxN,
        },
        heuristic: heuristic_use(settings),
        leaves: Leaves {
            at_once: settings.integer_u32("leaves"),
            playouts: settings.integer_u32("playouts"),
            siblings: settings.integer_u32("siblings"),
        },
        virtual_loss: settings.real("virtual-loss"),
        threads: settings.integer_usize("threads"),
        max_nodes: settings.integer_usize("nodes"),
        max_playout_steps: settings.integer("max-steps"),
        keep_tree: settings.flag("keep"),
    }
}

fn heuristic_use(settings: &Settings) -> HeuristicUse {
    let action_heuristic = settings.word("action-heuristic");
    HeuristicUse {
        playout: matches!(action_heuristic, "playout" | "combined"),
        tree: matches!(action_heuristic, "tree" | "combined")
            || goal_terms::selected_by(settings, "prior").is_some(),
        implicit: match goal_terms::selected_by(settings, "implicit-minimax") {
            Some(_) => settings.real("alpha"),
            None => 0.0,
        },
        temperature: settings.real("heuristic-temperature"),
        scale: settings.real("heuristic-scale"),
        divisor: settings.real("heuristic-divisor"),
        abreast: settings.integer_u32("heuristic-abreast"),
    }
}

/// Returns the options of `mcts` without settings.
pub(crate) fn default_options() -> MctsOptions {
    search_options(&Settings::new(&MCTS))
}

/// Returns the search of `mcts` without settings.
pub(super) fn default_search<P: Position>(seed: u64) -> AdaptiveMcts<P> {
    AdaptiveMcts::new(default_options(), seed)
}

impl Kind for Mcts {
    fn build<P: Hidden + Continuous + 'static>(&self, context: BuildContext<P>) -> Box<dyn Player> {
        // There are models of games with percepts only if these have no secrets.
        let has_model = self.learnt.is_some() && context.rules.model.is_some();
        if context.start.shape().hidden && !has_model {
            let max_steps = self.options.max_playout_steps.try_into().unwrap_or(usize::MAX);
            let options =
                HiddenOptions { seed: context.seed, max_steps, ..HiddenOptions::default() };
            return Box::new(PerceptPlayer::new(context.start, context.role, options));
        }
        if let Some((plan, part)) = &self.learnt {
            let method = Method::Mcts(self.options.clone(), *part);
            let model = context.rules.model.clone();
            let search = LearntSearch::new(plan.clone(), method, model, context.seed);
            return context.seat(search);
        }
        if let Some((combined, part)) = self.combined {
            let search = CombinedSearch::new(&context, combined, self.options.clone(), part);
            return context.seat(search);
        }
        let search = AdaptiveMcts::new(self.options.clone(), context.seed);
        let rules = &context.rules;
        let heuristic = match (&self.goal_terms, self.action_heuristic) {
            (Some(terms), _) => rules
                .rewriting
                .as_ref()
                .map(|game| MoveHeuristic::GoalTerms(game.clone(), terms.clone())),
            (None, Some((tree, playouts))) => rules
                .gdl
                .as_ref()
                .map(|game| MoveHeuristic::RegressedGoals(game.clone(), tree, playouts)),
            (None, None) => None,
        };
        match heuristic {
            Some(heuristic) => context.seat(search.with_heuristic(heuristic)),
            None => context.seat(search),
        }
    }

    fn goal_terms(&self) -> Option<&GoalTermOptions> {
        self.goal_terms.as_ref()
    }

    fn action_heuristic(&self) -> Option<HeuristicRequest> {
        self.action_heuristic.map(|(tree, _)| tree.request)
    }

    fn combined(&self) -> Option<&CombinedOptions> {
        self.combined.as_ref().map(|(options, _)| options)
    }

    fn threads(&self) -> Threads {
        Threads::of_option(self.options.threads)
    }
}
