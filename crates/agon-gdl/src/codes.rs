//! The code of each finding, explained: what it means, an example, why it matters and the cure.
//!
//! Codes are stable: users look them up and write them into their scripts. Each has a page in `codes/`, written in
//! Markdown. A page shows an example that gives the finding, fenced as `kif wrong` or `infix wrong`, and the same
//! mended, fenced as `kif right`; a test checks both.

use agon_text::Severity;

/// The explanation of one code.
#[derive(Copy, Clone, Debug)]
pub struct CodePage {
    /// The code, such as `unsafe-variable`.
    pub code: &'static str,
    /// How bad it is; at worst, if it depends.
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
    Error "unmatched-parenthesis" "a parenthesis has no partner"
    Error "nested-too-deep" "lists nest deeper than any sensible rule needs"
    Error "empty-rule" "a rule without a head"
    Error "empty-list" "`()` where a sentence or term should be"
    Error "list-as-name" "a list where a name should be"
    Error "variable-as-sentence" "a variable where a sentence should be"
    Error "variable-as-name" "a variable as the name of a function"
    Error "misplaced-keyword" "`not`, `or`, `distinct` or `<=` where it has no meaning"
    Error "unexpected-token" "something cannot be read in infix syntax"
    Error "unterminated-comment" "a comment is never closed"
    Error "unterminated-quote" "a quotation mark is not closed on its line"
    Error "too-many-alternatives" "the `or`s of a rule multiply out to too many rules"

    Error "missing-role" "nobody plays"
    Error "missing-legal" "nobody can move"
    Error "missing-goal" "nobody can win"
    Error "missing-terminal" "the game never ends"
    Warning "missing-init" "nothing is true at the start"
    Warning "missing-next" "nothing is true after a move"
    Error "keyword-arity" "a keyword with the wrong number of arguments"
    Error "keyword-in-head" "a rule says what is `true` or what somebody `does`"
    Warning "keyword-in-body" "`init`, `next`, `sees` or a declaration as a condition"
    Warning "keyword-as-function" "a keyword as the name of a function"
    Warning "keyword-as-constant" "a keyword as the name of a thing"

    Error "role-not-fact" "roles given by rules"
    Error "role-not-constant" "a role whose name is several words"
    Warning "unknown-role" "somebody who is not a role acts"
    Note "random-goal" "a goal value for nature"

    Warning "mixed-capitalisation" "one name in several spellings"
    Warning "arity-clash" "one name with several numbers of arguments"
    Note "relation-and-function" "one name for a relation and a function"
    Note "unusual-characters" "a name that other systems may not read"
    Warning "undefined-relation" "a condition that nothing defines"
    Warning "unused-relation" "a relation that no condition asks for"
    Warning "dead-fluent" "a fluent that is never true"
    Warning "dead-move" "a move that is never legal"
    Warning "dead-constant" "a name that never comes where it is asked for"
    Note "unreachable-rule" "a rule that can never apply"

    Error "unsafe-variable" "a variable that nothing gives a value"
    Error "variable-in-fact" "a fact with a variable"
    Error "depends-on-does" "what must be known before the moves depends on them"
    Error "depends-on-state" "what must be known before the game depends on its state"
    Error "unstratified" "something depends on its own negation"
    Note "stratified-by-arguments" "a circle of negation by names, but not with these arguments"
    Error "recursion-restriction" "recursion that may never end"

    Warning "duplicate-rule" "the same rule or fact twice"
    Warning "subsumed-rule" "a special case of another rule"
    Error "goal-not-number" "a goal value that is not a whole number"
    Warning "goal-out-of-range" "a goal value that is not between 0 and 100"
    Warning "empty-body" "a fact written as a rule"
    Warning "zero-arity-parentheses" "parentheses around a name without arguments"
    Note "superfluous-and" "`and` where conditions are joined anyway"
    Warning "empty-or" "an `or` without alternatives"
    Note "nested-or" "an `or` inside an `or`"
    Note "singleton-variable" "a variable that occurs only once"
    Warning "constant-condition" "a condition that always, or never, holds"

    Error "play-no-legal-move" "a role without a legal move before the end"
    Warning "play-no-goal" "a role without a goal value at the end"
    Warning "play-several-goals" "a role with several goal values at the end"
    Warning "play-endless" "a game that does not end within the bound"
    Warning "play-move-not-input" "a legal move that `input` does not declare"
    Warning "play-fluent-not-base" "a fluent that `base` does not declare"
    Warning "play-unknown-own-moves" "a player that cannot know its own legal moves"
    Error "play-refused" "the rules derive more than the budget allows"
}
