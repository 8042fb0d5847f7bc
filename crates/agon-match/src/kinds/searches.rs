//! What can be set about the searches. The defaults are those of `agon-search`; a test compares.

use super::{OptionKind, OptionType, Value};

const fn flag(name: &'static str, default: bool, meaning: &'static str) -> OptionKind {
    OptionKind { name, kind: OptionType::Flag, default: Value::Flag(default), meaning }
}

const fn integer(
    name: &'static str,
    low: u64,
    high: u64,
    default: u64,
    meaning: &'static str,
) -> OptionKind {
    OptionKind {
        name,
        kind: OptionType::Integer(low, high),
        default: Value::Integer(default),
        meaning,
    }
}

const fn real(
    name: &'static str,
    low: f64,
    high: f64,
    default: f64,
    meaning: &'static str,
) -> OptionKind {
    OptionKind { name, kind: OptionType::Real(low, high), default: Value::Real(default), meaning }
}

/// The first of the words is the default.
const fn word(
    name: &'static str,
    words: &'static [&'static str],
    meaning: &'static str,
) -> OptionKind {
    OptionKind { name, kind: OptionType::Word(words), default: Value::Word(words[0]), meaning }
}

pub(super) const MCTS: [OptionKind; 45] = mcts(false);
pub(super) const UCT: [OptionKind; 45] = mcts(true);

/// The options of Monte Carlo tree search; plain UCT has other defaults.
const fn mcts(is_plain: bool) -> [OptionKind; 45] {
    [
        real(
            "c",
            0.0,
            100.0,
            0.4,
            "exploration in the tree, for payoffs from 0 to 1; tuned: 1; times the root of playouts / 32 beyond 32",
        ),
        word("bandit", &["ucb1", "tuned"], "how a role that moves alone picks a move in the tree"),
        word(
            "first-play",
            &["first", "below", "urgency"],
            "a move never tried: goes first; counts the position's mean less a part; counts a fixed part",
        ),
        real("first-play-part", 0.0, 1.0, 0.1, "that part, of the range of payoffs"),
        word(
            "amaf",
            &["off", "rave", "grave"],
            "moves made later in a playout count as if made now",
        ),
        real("rave-k", 0.0, 1e9, 1000.0, "rave: visits that make own experience as good"),
        integer(
            "grave-visits",
            0,
            1_000_000,
            50,
            "grave: visits that a position needs to be referred to",
        ),
        real(
            "grave-bias",
            0.0,
            1.0,
            1e-5,
            "grave: the smaller, the longer moves as first are believed",
        ),
        word("policy", &["uniform", "mast", "past", "nst"], "what playouts learn from one another"),
        integer(
            "past-samples",
            1,
            1_000_000,
            10,
            "past: move and fluent met less often do not count",
        ),
        integer("nst-length", 1, 3, 3, "nst: the longest sequence of moves"),
        integer("nst-samples", 1, 1_000_000, 7, "nst: sequences met less often do not count"),
        word(
            "choice",
            &["gibbs", "greedy"],
            "how a policy chooses: by exp(value / temperature); the best mostly",
        ),
        real(
            "temperature",
            0.01,
            1e6,
            10.0,
            "gibbs: the higher, the more random; values are from 0 to 100",
        ),
        real("epsilon", 0.0, 1.0, 0.4, "greedy: how often at random"),
        word(
            "action-heuristic",
            &["none", "playout", "tree", "combined"],
            "goals regressed by a step guide the playouts, the tree, or both; not where rules cannot be grounded",
        ),
        word(
            "heuristic-goals",
            &["highest", "all"],
            "which goals are regressed; all: weighted by their values",
        ),
        integer(
            "heuristic-steps",
            1,
            2,
            1,
            "through how many steps goals are regressed; 2 only where the size allows",
        ),
        real("heuristic-temperature", 0.01, 1e6, 1.0, "playout: the higher, the more random"),
        real(
            "heuristic-scale",
            0.0,
            1000.0,
            50.0,
            "the most promising move counts so much, the least 0",
        ),
        real(
            "heuristic-divisor",
            0.001,
            1e6,
            20.0,
            "tree: the higher, the sooner own experience counts more",
        ),
        integer(
            "heuristic-abreast",
            1,
            64,
            32,
            "positions that are judged at once: leaves whose playouts go on side by side, and positions in the tree",
        ),
        word(
            "prior",
            &["none", "terms", "tnf", "descriptions", "rule-conditions"],
            "structure rewriting: moves in the tree begin with what steps towards the goals they make, as eval of alphabeta",
        ),
        word(
            "implicit-minimax",
            &["none", "terms", "tnf", "descriptions", "rule-conditions"],
            "structure rewriting: positions are judged as by eval of alphabeta, and that is backed up beside the playouts; instead \
             of prior",
        ),
        real(
            "alpha",
            0.0,
            1.0,
            0.4,
            "implicit-minimax: what is backed up counts so much, playouts the rest",
        ),
        TNF_ALPHA,
        TNF_WEIGHTS,
        DESCRIPTIONS_ALPHA,
        RULE_CONDITIONS_M,
        TERMS_CHOICE,
        flag("transpositions", true, "positions reached in several ways share what is known"),
        flag("solver", !is_plain, "proven results are backed up"),
        flag(
            "look-ahead",
            !is_plain,
            "all children of a new position are looked at where that is done in one pass",
        ),
        word(
            "simultaneous",
            &["duct", "rm", "irm"],
            "moves at the same time: decoupled UCT, regret matching, iterated regret minimisation",
        ),
        real("simultaneous-c", 0.0, 100.0, 1.0, "duct, irm: exploration"),
        real("exploration", 0.0, 1.0, 0.1, "rm: how often a move is tried at random"),
        flag(
            "paranoid",
            false,
            "the others are thought to want the worst for us, not the best for themselves",
        ),
        integer(
            "leaves",
            1,
            4096,
            if is_plain { 1 } else { 64 },
            "leaves under way at a time, with an engine that takes many",
        ),
        integer(
            "playouts",
            1,
            4096,
            if is_plain { 1 } else { 64 },
            "playouts from each leaf of a batch; fewer where iterations are few",
        ),
        integer(
            "siblings",
            0,
            4096,
            if is_plain { 0 } else { 3 },
            "further untried moves taken along from where a descent leaves the tree",
        ),
        real(
            "virtual-loss",
            0.0,
            1.0,
            1.0,
            "a playout under way counts as a visit (0) that was lost (1)",
        ),
        integer(
            "threads",
            0,
            256,
            if is_plain { 1 } else { 0 },
            "threads; 0: two if there are two processors, players take turns and the clock counts, else one",
        ),
        integer(
            "nodes",
            1000,
            100_000_000,
            1_000_000,
            "positions kept; beyond that the least visited go",
        ),
        integer("max-steps", 1, 1_000_000, 1000, "a playout is cut off after so many steps"),
        flag("keep", true, "what was learnt is kept from move to move"),
    ]
}

/// Those who can judge positions by fuzzy logic have these besides their own.
const fn with_fuzzy<const OWN: usize, const ALL: usize>(
    own: [OptionKind; OWN],
) -> [OptionKind; ALL] {
    const NOTHING: OptionKind = flag("", false, "");
    let mut all = [NOTHING; ALL];
    let mut at = 0;
    while at < OWN {
        all[at] = copy(&own[at]);
        at += 1;
    }
    while at < ALL {
        all[at] = copy(&FUZZY[at - OWN]);
        at += 1;
    }
    all
}

const fn copy(of: &OptionKind) -> OptionKind {
    OptionKind { name: of.name, kind: of.kind, default: of.default, meaning: of.meaning }
}

const TNF_ALPHA: OptionKind =
    real("tnf-alpha", 0.0, 1.0, 0.25, "tnf: a step counts so much of the step after it");
const TNF_WEIGHTS: OptionKind = word(
    "tnf-weights",
    &["powers", "example"],
    "tnf, descriptions: powers of alpha, or 1, 1/4, 1/8, ... as the paper's example",
);
const DESCRIPTIONS_ALPHA: OptionKind = real(
    "descriptions-alpha",
    0.0,
    1.0,
    0.25,
    "descriptions: a step counts so much of the step after it",
);
const RULE_CONDITIONS_M: OptionKind = integer(
    "rule-conditions-m",
    1,
    16,
    4,
    "rule-conditions: the power to which what is there is raised",
);

const TERMS_CHOICE: OptionKind = word(
    "terms-choice",
    &["rule", "trial"],
    "terms: rule-conditions where moves only add and are many, else descriptions; or what wins short matches against that",
);

const FUZZY: [OptionKind; 24] = [
    word(
        "eval",
        &["goals", "fuzzy", "concepts", "terms", "tnf", "descriptions", "rule-conditions"],
        "positions are judged by the goals as they stand; GDL: by fuzzy logic over them, or by what random plays taught; \
         structure rewriting: by terms made of them, chosen for the game, or steps towards them, the same with what only \
         forbids described, or open ways",
    ),
    TNF_ALPHA,
    TNF_WEIGHTS,
    DESCRIPTIONS_ALPHA,
    RULE_CONDITIONS_M,
    TERMS_CHOICE,
    word("fuzzy-norm", &["product", "yager"], "fuzzy: product and probabilistic sum, or Yager's"),
    real("fuzzy-q", 1.0, 100.0, 15.0, "fuzzy: Yager's parameter"),
    real("fuzzy-truth", 0.5, 1.0, 0.9, "fuzzy: what a fluent that holds is worth; yager: 0.775"),
    word(
        "fuzzy-count",
        &["graded", "disjunction", "share"],
        "fuzzy: solutions grade what is true, make a disjunction to the letter, or count in proportion",
    ),
    flag("fuzzy-cardinality", true, "fuzzy: solutions are counted"),
    flag("fuzzy-order", true, "fuzzy: comparisons have degrees"),
    flag("fuzzy-between", true, "fuzzy: distances between fluents"),
    flag("fuzzy-natural", true, "fuzzy: distances to a fluent along a line of numbers"),
    flag("fuzzy-graph", true, "fuzzy: distances to a fluent along any other graph"),
    flag("fuzzy-persistence", true, "fuzzy: what never changes again is wholly true or false"),
    word(
        "fuzzy-several",
        &["nearest", "mean"],
        "fuzzy: of several distances the shortest, or their mean",
    ),
    integer("fuzzy-depth", 1, 64, 8, "fuzzy: depth of the tree of a goal"),
    integer("fuzzy-size", 1, 1_000_000, 500, "fuzzy: nodes in the tree of a goal"),
    word(
        "concepts-kind",
        &["pairs", "triples", "sets"],
        "concepts: instances of concepts of two or of three facts, or frequent sets of facts as they are",
    ),
    integer("concepts-size", 1, 3, 2, "concepts: the most facts to a frequent set"),
    integer(
        "concepts-plays",
        1,
        1_000_000,
        1000,
        "concepts: random plays that each player is to win",
    ),
    word(
        "concepts-from",
        &["own", "tic-tac-toe"],
        "concepts: learnt from the game itself, or from tic-tac-toe",
    ),
    OptionKind {
        name: "concepts-file",
        kind: OptionType::Text,
        default: Value::Text(""),
        meaning: "concepts: from a file as `agon explain GAME --concepts FILE` writes it, if there is one",
    },
];

pub(super) const ALPHABETA: &[OptionKind] = &with_fuzzy::<7, 31>([
    integer("depth", 1, 10_000, 100, "not deeper than this"),
    integer(
        "playouts",
        0,
        100_000,
        0,
        "positions are judged by so many random plays; 0: by the goals given there",
    ),
    integer("table", 1, 100_000_000, 1 << 20, "positions remembered"),
    word(
        "view",
        &["auto", "paranoid", "maxn"],
        "the others: as the game is, all against us, everybody for themselves",
    ),
    integer("extension", 0, 100, 4, "steps beyond the depth while the judgement is unstable"),
    real(
        "unstable",
        0.0,
        1.0,
        0.1,
        "unstable: a step changes it by this part of the range of payoffs",
    ),
    flag("reductions", true, "late moves are looked at less deeply first"),
]);

pub(super) const BEST_FIRST: &[OptionKind] = &with_fuzzy::<2, 26>([
    integer(
        "playouts",
        0,
        100_000,
        0,
        "positions are judged by so many random plays; 0: by the goals given there",
    ),
    integer("nodes", 16, 100_000_000, 1 << 20, "positions remembered"),
]);

pub(super) const PUZZLE: &[OptionKind] = &[
    integer("nodes", 16, 1_000_000_000, 4_000_000, "positions remembered"),
    integer("max-steps", 1, 1_000_000, 1000, "a playout is cut off after so many steps"),
    flag("mcts", true, "as long as there is no full plan, a quarter of the time is for mcts"),
];

pub(super) const HIDDEN: &[OptionKind] = &[
    integer(
        "particles",
        1,
        10_000_000,
        1000,
        "states believed possible; up to this the belief is exact",
    ),
    integer("proposals", 1, 100_000_000, 20_000, "joint moves tried for one step of the belief"),
    integer(
        "repair",
        0,
        1_000_000_000,
        50_000,
        "positions looked at to find a history that fits when none is left",
    ),
    word("bandit", &["smooth", "ucb"], "how moves are tried: smooth UCT, UCB1"),
    real("exploration", 0.0, 100.0, 0.7, "how much is tried, for payoffs from 0 to 1"),
    word(
        "choice",
        &["most", "mixed"],
        "the move tried most often; drawn by how often they were tried",
    ),
    integer("max-steps", 1, 1_000_000, 500, "a playout is cut off after so many steps"),
    integer("nodes", 16, 100_000_000, 200_000, "information sets remembered"),
];

pub(super) const SOLVER: &[OptionKind] = &[
    integer("megabytes", 1, 1_000_000, 64, "memory for the tables of the solver"),
    integer("percent", 1, 99, 10, "so much of the time is for solving, the rest for mcts"),
    word(
        "insight",
        &["off", "trial"],
        "trial: half of the start clock is for short matches that tell whether mcts does better with goals regressed \
         by a step, or alphabeta by fuzzy logic or concepts instead (structure rewriting: with terms made of goals); with a clock",
    ),
];
