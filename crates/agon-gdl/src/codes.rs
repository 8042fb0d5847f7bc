//! Explanations of the diagnostic codes of GDL: the meaning, an example, the reason and the fix.
//!
//! Codes are stable: users look them up and write them into their scripts. Each has a page in
//! `codes/`, written in Markdown. A page has an example with the fault, fenced as `kif wrong` or
//! `infix wrong`, and the corrected example, fenced as `kif right` or `infix right`. A test checks
//! both.

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
    Error "unmatched-parenthesis" "a parenthesis has no partner"
    Error "nested-too-deep" "lists are nested too deep"
    Error "too-many-arguments" "a sentence or term with more than 1000 arguments"
    Error "empty-rule" "a rule without a head"
    Error "empty-list" "`()` where a sentence or term is expected"
    Error "list-as-name" "a list where a name is expected"
    Error "variable-as-sentence" "a variable where a sentence is expected"
    Error "variable-as-name" "a variable as the name of a function"
    Error "misplaced-keyword" "`not`, `or`, `distinct` or `<=` where it has no meaning"
    Error "unexpected-token" "a text that is not correct infix syntax"
    Error "unterminated-comment" "a comment is never closed"
    Error "unterminated-quote" "a quotation mark is not closed on its line"
    Error "too-many-alternatives" "the `or`s of a rule multiply out to too many rules"

    Error "param-declaration" "a declaration of a parameter that cannot be read"
    Error "param-expression" "an expression between braces that has no value"
    Error "param-value" "a value that the rules do not allow"

    Error "empty-rulesheet" "a text without rules"
    Error "missing-role" "no roles"
    Error "missing-legal" "no legal moves"
    Error "missing-goal" "no goal values"
    Error "missing-terminal" "the game never ends"
    Warning "missing-init" "nothing is true at the start"
    Warning "missing-next" "nothing is true after a move"
    Error "missing-base" "the fluents are not declared (with --strict)"
    Error "missing-input" "the moves are not declared (with --strict)"
    Error "keyword-arity" "a keyword with the wrong number of arguments"
    Error "keyword-in-head" "a rule that defines `true` or `does`"
    Warning "keyword-in-body" "`init`, `next`, `sees` or a declaration as a condition"
    Warning "keyword-as-function" "a keyword as the name of a function"
    Warning "keyword-as-constant" "a keyword as a constant"

    Error "role-not-fact" "roles defined by rules"
    Error "role-not-constant" "a role whose name is several words"
    Warning "unknown-role" "a name that is not a role where a role is expected"
    Note "random-goal" "a goal value for nature"

    Warning "mixed-capitalisation" "one name in several spellings"
    Warning "arity-clash" "one name with several numbers of arguments"
    Note "relation-and-function" "one name for a relation and a function"
    Note "unusual-characters" "a name that other systems may not read"
    Error "no-arithmetic" "an attempt to calculate or to compare numbers"
    Warning "undefined-relation" "a condition on a relation that is not defined"
    Warning "unused-relation" "a relation that no condition asks for"
    Warning "dead-fluent" "a fluent that is never true"
    Warning "dead-move" "a move that is never legal"
    Warning "dead-constant" "a name that never occurs where a condition asks for it"
    Note "unreachable-rule" "a rule that can never apply"

    Error "unsafe-variable" "a variable without values"
    Error "variable-in-fact" "a fact with a variable"
    Error "depends-on-does" "a relation that must not depend on moves does"
    Error "depends-on-state" "a relation that must not depend on the state does"
    Error "unstratified" "a relation that depends on its own negation"
    Note "stratified-by-arguments" "a cycle of negation by names, but not by arguments"
    Error "recursion-restriction" "recursion that may never end"

    Error "negated-formula" "a negation of more than one sentence (with --strict)"

    Warning "duplicate-rule" "the same rule or fact twice"
    Warning "subsumed-rule" "a special case of another rule"
    Error "goal-not-number" "a goal value that is not a whole number"
    Warning "goal-out-of-range" "a goal value that is not between 0 and 100"
    Warning "empty-body" "a fact written as a rule"
    Warning "zero-arity-parentheses" "parentheses around a name without arguments"
    Note "superfluous-and" "`and` that has no effect"
    Warning "empty-or" "an `or` without alternatives"
    Note "nested-or" "an `or` inside an `or`"
    Note "singleton-variable" "a variable that occurs only once"
    Warning "constant-condition" "a condition that always, or never, holds"

    Error "play-no-legal-move" "a role without a legal move at a position that is not terminal"
    Warning "play-no-goal" "a role without a goal value at the end"
    Warning "play-several-goals" "a role with several goal values at the end"
    Error "play-goal-not-unique" "not exactly one goal value before the end (with --strict)"
    Error "play-goal-decreases" "a goal value that becomes smaller (with --strict)"
    Warning "play-endless" "a game that does not end within the maximum number of steps"
    Warning "play-move-not-input" "a legal move that `input` does not declare"
    Warning "play-fluent-not-base" "a fluent that `base` does not declare"
    Warning "play-unknown-own-moves" "a player that cannot know its legal moves"
    Error "play-refused" "rules that derive more than the limits allow"
};
