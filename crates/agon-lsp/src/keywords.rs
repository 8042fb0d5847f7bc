//! Help for the words of the languages.

/// A word of a language and what it means.
pub(crate) struct Help {
    pub(crate) word: &'static str,
    /// How it is written, in KIF or in the language of structure rewriting games.
    pub(crate) form: &'static str,
    pub(crate) text: &'static str,
}

/// The keywords of GDL and GDL-II.
pub(crate) const GDL: &[Help] = &[
    Help {
        word: "role",
        form: "(role ROLE)",
        text: "A role of the game. Roles are facts, and their order is the order of joint moves.",
    },
    Help { word: "init", form: "(init FLUENT)", text: "The fluent holds in the initial state." },
    Help {
        word: "true",
        form: "(true FLUENT)",
        text: "The fluent holds in the current state. Only in conditions.",
    },
    Help {
        word: "does",
        form: "(does ROLE MOVE)",
        text: "The role makes the move. Only in conditions of `next` and `sees`, or of relations \
            that these use.",
    },
    Help {
        word: "next",
        form: "(next FLUENT)",
        text: "The fluent holds in the next state. A fluent that no rule derives is gone, so \
            what stays needs a rule too (a frame axiom).",
    },
    Help {
        word: "legal",
        form: "(legal ROLE MOVE)",
        text: "The role may make the move. Each role needs a legal move in each state that is not \
            terminal.",
    },
    Help {
        word: "goal",
        form: "(goal ROLE NUMBER)",
        text: "The payoff of the role, from 0 to 100. In terminal states each role needs exactly \
            one.",
    },
    Help { word: "terminal", form: "terminal", text: "The game is over in the current state." },
    Help {
        word: "base",
        form: "(base FLUENT)",
        text: "Declares a fluent that may hold in some state. It must not depend on the state.",
    },
    Help {
        word: "input",
        form: "(input ROLE MOVE)",
        text: "Declares a move that may be legal in some state. It must not depend on the state.",
    },
    Help {
        word: "sees",
        form: "(sees ROLE PERCEPT)",
        text: "GDL-II: the role observes the percept after the joint move. A role sees nothing \
            else of the state.",
    },
    Help {
        word: "percept",
        form: "(percept ROLE PERCEPT)",
        text: "GDL-II: declares a percept that the role may see.",
    },
    Help {
        word: "random",
        form: "(role random)",
        text: "GDL-II: the role of nature, which chooses its legal moves with equal probability.",
    },
    Help {
        word: "distinct",
        form: "(distinct TERM TERM)",
        text: "The terms differ. Both need values from other conditions.",
    },
    Help {
        word: "not",
        form: "(not CONDITION)",
        text: "The condition does not hold. Its variables need values from other conditions, and \
            no relation may depend on its own negation.",
    },
    Help { word: "or", form: "(or CONDITION …)", text: "At least one of the conditions holds." },
    Help {
        word: "and",
        form: "(and CONDITION …)",
        text: "All conditions hold. The conditions of a rule need no `and`.",
    },
    Help {
        word: "<=",
        form: "(<= HEAD CONDITION …)",
        text: "A rule: the head holds if all conditions hold.",
    },
    Help {
        word: ":-",
        form: "HEAD :- CONDITION & CONDITION.",
        text: "A rule: the head holds if all conditions hold.",
    },
];

/// The keywords of structure rewriting games.
pub(crate) const TOSS: &[Help] = &[
    Help { word: "PLAYERS", form: "PLAYERS a, b", text: "The players. `random` is nature." },
    Help {
        word: "REL",
        form: "REL Name(x, y) = FORMULA",
        text: "Defines a relation by a formula over the current structure.",
    },
    Help {
        word: "RULE",
        form: "RULE Name: [L] -> [R] emb … pre … post …",
        text: "A rewriting rule: an embedding of the left side is replaced by the right side.",
    },
    Help {
        word: "LOC",
        form: "LOC name { PLAYER p MOVES [Rule -> name] }",
        text: "A location of the game graph: who moves, by which rules, and where play continues.",
    },
    Help {
        word: "PAYOFF",
        form: "PAYOFF { p: TERM; q: TERM }",
        text: "The payoffs when play ends, for all locations or for one.",
    },
    Help {
        word: "START",
        form: "START [ elements | relations | functions ] \"board\"",
        text: "The structure in which play starts. `MODEL` is the older word.",
    },
    Help { word: "MODEL", form: "MODEL [ … ] \"board\"", text: "An older word for `START`." },
    Help {
        word: "STATE",
        form: "STATE LOC name",
        text: "The location in which play starts, if it is not the first one.",
    },
    Help {
        word: "DATA",
        form: "DATA key: value, key: value",
        text: "Keys and values without meaning for play.",
    },
    Help { word: "PLAYER", form: "PLAYER p MOVES […]", text: "The player who moves here." },
    Help {
        word: "MOVES",
        form: "MOVES [Rule -> loc]; [Rule, t: 0 -- 1 -> loc]",
        text: "The moves: a rule, the intervals of its parameters, and the next location.",
    },
    Help {
        word: "EDGES",
        form: "EDGES [A, B -> loc]",
        text: "Where play continues after simultaneous moves.",
    },
    Help {
        word: "ELEMS",
        form: "ELEMS a, b MATCH FORMULA RELS …",
        text: "The elements that a move of a rule by formula names.",
    },
    Help {
        word: "MATCH",
        form: "MATCH FORMULA",
        text: "The condition on the elements of a rule by formula.",
    },
    Help {
        word: "RELS",
        form: "RELS P(a); not Q(b)",
        text: "The tuples that a rule by formula adds and deletes.",
    },
    Help {
        word: "emb",
        form: "emb P, Q",
        text: "Relations that are embedded exactly: where the left side has no tuple, the \
            structure must have none.",
    },
    Help { word: "pre", form: "pre FORMULA", text: "The move needs this to hold before." },
    Help { word: "post", form: "post FORMULA", text: "The move needs this to hold after." },
    Help { word: "inv", form: "inv FORMULA", text: "This must hold while time passes." },
    Help {
        word: "dynamics",
        form: "dynamics :f(a)' = TERM",
        text: "Differential equations of functions while time passes.",
    },
    Help {
        word: "update",
        form: "update :f(a) = TERM",
        text: "New values of functions after the move.",
    },
    Help {
        word: "before",
        form: "before Rule, not Rule",
        text: "Rules that must, or must not, have been applied earlier.",
    },
    Help { word: "with", form: "with [r <- l]", text: "Which element replaces which." },
    Help { word: "ex", form: "ex x, y FORMULA", text: "Some elements satisfy the formula." },
    Help { word: "all", form: "all x, y FORMULA", text: "All elements satisfy the formula." },
    Help { word: "and", form: "F and G", text: "Both hold. Binds more tightly than `or`." },
    Help { word: "or", form: "F or G", text: "At least one holds." },
    Help { word: "not", form: "not F", text: "The formula does not hold." },
    Help {
        word: "tc",
        form: "tc x, y FORMULA",
        text: "Reflexive transitive closure: a path of steps, each of which satisfies the formula.",
    },
    Help { word: "lfp", form: "lfp R(x) = FORMULA", text: "The least fixed point." },
    Help { word: "gfp", form: "gfp R(x) = FORMULA", text: "The greatest fixed point." },
    Help { word: "let", form: "let R(x) = F in G", text: "A definition inside of a formula." },
    Help { word: "in", form: "x in X", text: "The element belongs to the set." },
    Help { word: "Sum", form: "Sum (x | FORMULA : TERM)", text: "The sum over all elements." },
    Help { word: "Prod", form: "Prod (x | FORMULA : TERM)", text: "The product." },
    Help { word: "Min", form: "Min (x | FORMULA : TERM)", text: "The least value." },
    Help { word: "Max", form: "Max (x | FORMULA : TERM)", text: "The greatest value." },
    Help { word: "true", form: "true", text: "Always holds." },
    Help { word: "false", form: "false", text: "Never holds." },
    Help { word: "inf", form: "[Rule inf -> loc]", text: "The rule is applied to all embeddings." },
    Help { word: "as", form: "[Rule as label]", text: "The name of the move in `EDGES`." },
];

/// Returns the help for a word. Case matters in structure rewriting games only.
pub(crate) fn help(word: &str, is_toss: bool) -> Option<&'static Help> {
    if is_toss {
        TOSS.iter().find(|help| help.word == word)
    } else {
        GDL.iter().find(|help| help.word.eq_ignore_ascii_case(word))
    }
}
