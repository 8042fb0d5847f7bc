//! Infix: `next(cell(X,b)) :- true(cell(X,b)) & ~does(white,mark(X)).`
//!
//! The language follows Stanford's course material and Prolog:
//!
//! * **Clauses** are facts or `head :- body`, where `<=` may replace `:-`. A clause ends with `.`,
//!   which may be missing where the next clause clearly begins: anywhere after a fact, and after a
//!   body on a new line that starts no further right than the clause. (A condition on a line
//!   further right needs its `&`.)
//! * **Bodies** join conditions by `&`, `,` or `and`, and alternatives by `|`, `;` or `or`. `and`
//!   binds tighter, and parentheses group. `~` and `not` negate what follows: `~p(X)`, `not p(X)`,
//!   `not(p(X) & q)`. `and(…)` and `or(…)` with any number of conditions are conditions, and `or()`
//!   is false.
//! * `distinct(X,Y)` is also written `X != Y` or `X \= Y`.
//! * **Words** are letters, digits and `_`, with `-` inside and before digits, and `.` inside
//!   numbers. A word that starts with an upper-case letter or `_` is a variable, as is `?x`. Each
//!   bare `_` is a different variable. All other words are names: `cell`, `x-1`, `100`, `-3`,
//!   `2.5`. Any other name is quoted: `'White'`, `"a b"`. See [`words`](super::words) for the
//!   correspondence with KIF. `p()` is `p`.
//! * **Comments** are `% …` and `// …` up to the end of the line, `# …` and `;; …` if only blanks
//!   stand before them on their line, and `/* … */`.
//!
//! Parentheses around several conditions are kept as `and` and `or`, so that everything KIF can
//! express has its own form here. After a mistake, reading continues with the next clause.

mod parser;
pub(super) mod tokens;

use std::sync::Arc;

use agon_text::{Diagnostics, Source};

use super::builder::Builder;
use crate::symbols::Case;
use crate::syntax::{Rulesheet, Syntax};

pub(super) use tokens::unterminated_quote;

pub(super) fn read(source: Arc<Source>, case: Case) -> (Rulesheet, Diagnostics) {
    let mut builder = Builder::new(case);
    let tokens = tokens::tokens(source.text(), &mut builder);
    let (clauses, partial) = parser::clauses(source.text(), &tokens, &mut builder);
    drop(tokens);
    let mut findings = builder.findings;
    findings.sort();
    let symbols = builder.symbols;
    (Rulesheet { source, syntax: Syntax::Infix, clauses, partial, symbols }, findings)
}
