//! The explanation of each diagnostic code: its meaning, an example, and a fix.
//!
//! Codes are stable, because users look them up and write them into scripts. Each has a page in
//! `codes/`, written in Markdown. A page shows an example that causes the diagnostic, fenced as
//! `toss wrong`, and the corrected example, fenced as `toss right`. A test checks both.

use agon_text::{CodePage, find_page};

/// Returns all pages, in the order of the stages that report the codes: reading, checking, playing.
pub fn pages() -> &'static [CodePage] {
    PAGES
}

/// Returns the page of a code.
pub fn page(code: &str) -> Option<&'static CodePage> {
    find_page(PAGES, code)
}

const PAGES: &[CodePage] = agon_text::code_pages! {
    Error "toss-unknown-sign" "a character that does not belong to the language"
    Error "toss-open-board" "a board is never closed"
    Error "toss-unexpected" "a violation of the grammar"
    Error "toss-nested-too-deep" "formulas are nested too deeply"
    Error "toss-not-supported" "a construct that cannot be played yet"
    Error "toss-bad-board" "a board that cannot be parsed"
    Error "toss-ragged-board" "rows of different lengths"
    Error "toss-given-twice" "something is given a second time"

    Error "toss-missing-section" "players, locations or the start are missing"
    Error "toss-empty-start" "a start without elements"
    Error "toss-too-large" "something exceeds the limits of the language"
    Error "toss-unknown-relation" "a relation that does not exist"
    Error "toss-unknown-function" "a function that does not exist"
    Error "toss-unknown-element" "an element that does not exist"
    Error "toss-unknown-rule" "a rule that does not exist"
    Error "toss-unknown-location" "a location that does not exist"
    Error "toss-unknown-player" "a player that does not exist"
    Error "toss-arity-clash" "a relation with the wrong number of arguments"
    Error "toss-names-alike" "elements that differ only in capitalisation"

    Error "toss-free-variable" "a variable that is not bound"
    Error "toss-repeated-variable" "a variable that occurs twice in one list"
    Error "toss-upper-case-variable" "a variable that is written like a set"
    Error "toss-hidden-constant" "a variable with the name of a constant"
    Error "toss-circular-definition" "a definition that depends on itself"
    Error "toss-not-monotone" "a fixed point that may not exist"
    Error "toss-division-by-zero" "a division by zero"

    Error "toss-defined-on-right" "a rule sets a defined relation"
    Error "toss-defined-in-start" "the start sets a defined relation"
    Error "toss-defined-embedded" "a defined relation is embedded"
    Error "toss-optional-on-right" "an optional tuple outside a left side"
    Error "toss-embedding-by-formula" "`emb` in a rule by formula"

    Error "toss-deleted-constant" "elements are deleted in a game with constants"
    Error "toss-equation-order" "a derivative of the wrong order"
    Error "toss-discontinuous" "a differential equation whose right side jumps"

    Error "toss-missing-payoff" "a player without a payoff"
    Error "toss-probability" "invalid probabilities"
    Error "toss-concurrent-targets" "simultaneous moves lead to different locations"
    Error "toss-joint-edges" "edges for tuples of moves that do not fit the moves"
    Error "toss-missing-target" "a move that does not say where play continues"
    Error "toss-ambiguous-move" "two moves that cannot be told apart"
    Error "toss-bad-interval" "an empty interval or a negative duration"
    Error "toss-missing-parameter" "a move without an interval for a parameter"
    Error "toss-distribution" "a random number without a valid distribution"
    Warning "toss-unused-parameter" "an interval or a random number that is not used"
    Warning "toss-unbounded-payoff" "a payoff without derivable bounds"
    Warning "toss-duplicate-move" "the same move twice"
    Warning "toss-unreachable-location" "a location that no move leads to"
    Warning "toss-no-moves" "a game that is over before it begins"
    Warning "toss-unused-rule" "a rule that no move applies"
    Warning "toss-unused-relation" "a defined relation that is not used"
    Warning "toss-idle-option" "an optional tuple without effect"

    Error "toss-play-refused" "a random play that failed"
    Warning "toss-play-endless" "random plays that do not end"
};
