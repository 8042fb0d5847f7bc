//! Infix: `next(cell(X,b)) :- true(cell(X,b)) & ~does(white,mark(X)).`
//!
//! The language, as Stanford's course material and Prolog write it:
//!
//! * **Clauses** are facts or `head :- body`, where `<=` may stand for `:-`. A clause ends with `.`, which may be
//!   missing where the next one clearly begins: anywhere after a fact, and after a body on a new line that starts
//!   no further right than the clause. (A condition on a line further right needs its `&`.)
//! * **Bodies** join conditions by `&`, `,` or `and`, alternatives by `|`, `;` or `or`; `and` binds tighter, and
//!   parentheses group. `~` and `not` negate what follows: `~p(X)`, `not p(X)`, `not(p(X) & q)`.
//!   `and(…)` and `or(…)` with any number of conditions are accepted where a condition is, `or()` being false.
//! * `distinct(X,Y)` is also written `X != Y` or `X \= Y`.
//! * **Words** are letters, digits and `_`, with `-` inside and before digits, and `.` inside numbers. A word that
//!   starts with an upper-case letter or `_` is a variable, as is `?x`; each bare `_` is a variable of its own.
//!   All other words are names: `cell`, `x-1`, `100`, `-3`, `2.5`. Any other name is quoted: `'White'`, `"a b"`;
//!   see [`words`](super::words) for how these relate to KIF. `p()` is `p`.
//! * **Comments** are `% …` and `// …` up to the end of the line, `# …` and `;; …` as well if nothing but blanks
//!   stands before them, and `/* … */`.
//!
//! Parentheses around conditions are kept as `and` and `or` where they hold more than one, so whatever KIF says
//! has its own form here. After a mistake reading goes on with the next clause.

mod parser;
mod tokens;

use std::sync::Arc;

use agon_text::{Diagnostics, Source};

use super::builder::Builder;
use crate::symbols::Case;
use crate::syntax::{Rulesheet, Syntax};

pub(super) use tokens::unterminated_quote;

pub(super) fn read(source: Arc<Source>, case: Case) -> (Rulesheet, Diagnostics) {
    let mut builder = Builder::new(case);
    let tokens = tokens::tokens(source.text(), &mut builder);
    let clauses = parser::clauses(source.text(), &tokens, &mut builder);
    drop(tokens);
    let mut findings = builder.findings;
    findings.sort();
    (Rulesheet { source, syntax: Syntax::Infix, clauses, symbols: builder.symbols }, findings)
}
