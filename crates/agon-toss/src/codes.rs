//! The code of each finding, explained: what it means, an example, and the cure.
//!
//! Codes are stable: users look them up and write them into their scripts. Each has a page in `codes/`, written in
//! Markdown. A page shows an example that gives the finding, fenced as `toss wrong`, and the same mended, fenced as `toss right`; a
//! test checks both.

use agon_text::Severity;

/// The explanation of one code.
#[derive(Copy, Clone, Debug)]
pub struct CodePage {
    /// The code, such as `toss-free-variable`.
    pub code: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// What it means, in a few words.
    pub summary: &'static str,
    /// The whole story, in Markdown.
    pub page: &'static str,
}

/// All pages, in the order of the stages that give the findings: reading, checking, playing.
pub fn pages() -> &'static [CodePage] {
    PAGES
}

/// The page of a code.
pub fn page(code: &str) -> Option<&'static CodePage> {
    PAGES.iter().find(|page| page.code == code)
}

macro_rules! table {
    ($($severity:ident $code:literal $summary:literal)*) => {
        const PAGES: &[CodePage] = &[$(CodePage {
            code: $code,
            severity: Severity::$severity,
            summary: $summary,
            page: include_str!(concat!("../codes/", $code, ".md")),
        }),*];
    };
}

table! {
    Error "toss-unknown-sign" "a sign that means nothing"
    Error "toss-open-board" "a board is never closed"
    Error "toss-unexpected" "something else should stand here"
    Error "toss-nested-too-deep" "formulas nest deeper than any sensible one"
    Error "toss-not-supported" "something that is understood and cannot be played yet"
    Error "toss-bad-board" "a board that cannot be read"
    Error "toss-ragged-board" "rows of different lengths"
    Error "toss-given-twice" "something is given a second time"

    Error "toss-missing-section" "players, locations or the start are missing"
    Error "toss-empty-start" "a start without elements"
    Error "toss-too-large" "more than can be played"
    Error "toss-unknown-relation" "a relation that is nowhere given"
    Error "toss-unknown-function" "a function that is nowhere given"
    Error "toss-unknown-element" "an element that is not there"
    Error "toss-unknown-rule" "a rule that is not there"
    Error "toss-unknown-location" "a location that is not there"
    Error "toss-unknown-player" "a player that is not there"
    Error "toss-arity-clash" "a relation with the wrong number of elements"
    Error "toss-names-alike" "elements that differ in capitalisation alone"

    Error "toss-free-variable" "a variable that nothing binds"
    Error "toss-repeated-variable" "a variable twice in one list"
    Error "toss-upper-case-variable" "a variable that is written like a set"
    Error "toss-hidden-constant" "a variable with the name of a constant"
    Error "toss-circular-definition" "a relation that is defined by itself"
    Error "toss-not-monotone" "a fixed point that need not exist"
    Error "toss-division-by-zero" "a division by zero"

    Error "toss-defined-on-right" "a rule sets a defined relation"
    Error "toss-defined-in-start" "the start sets a defined relation"
    Error "toss-defined-embedded" "a defined relation is embedded"
    Error "toss-optional-on-right" "an optional tuple where nothing is looked for"
    Error "toss-embedding-by-formula" "`emb` in a rule by formula"

    Error "toss-deleted-constant" "elements are deleted where constants name some"

    Error "toss-missing-payoff" "a player without a payoff"
    Error "toss-probability" "probabilities that are none"
    Error "toss-concurrent-targets" "moves made at once lead to different locations"
    Warning "toss-duplicate-move" "the same move twice"
    Warning "toss-unreachable-location" "a location that no move leads to"
    Warning "toss-no-moves" "a game that is over before it begins"
    Warning "toss-unused-rule" "a rule that is nobody's move"
    Warning "toss-unused-relation" "a defined relation that nothing uses"
    Warning "toss-idle-option" "an optional tuple that makes no difference"

    Error "toss-play-refused" "a play that could not go on"
    Warning "toss-play-endless" "plays that do not end"
}
