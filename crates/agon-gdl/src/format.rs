//! The layout of a rulesheet: the same text with blanks and line ends in their usual places.
//!
//! Names, comments and their order stay. Only blanks and line ends change, and in infix full stops
//! are added where they are missing. So the rules stay the same, and formatting twice gives the
//! same text as formatting once.
//!
//! The author decides where it matters: a rule that is written over several lines gets a line for
//! each condition, a rule on one line stays there if it fits, facts on one line stay together, and
//! single blank lines stay. What stands between the braces of [`params`] stays as it is.

mod infix;
mod kif;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use agon_text::{Diagnostics, Severity, Source};

use crate::params;
use crate::read::{ReadOptions, read_with};
use crate::syntax::Syntax;

/// Maximum width of a line, if there is a place to break it.
pub(crate) const WIDTH: usize = 100;

/// Errors after which the layout of KIF is unknown. Where a keyword is misplaced, such as the arrow
/// of a rule after its head, the ends of lines show what belongs together.
const KIF_OBSTACLES: [&str; 4] =
    ["unmatched-parenthesis", "unterminated-quote", "nested-too-deep", "misplaced-keyword"];

/// Returns a rulesheet in its usual layout.
///
/// ```
/// use std::sync::Arc;
/// let source = agon_text::Source::new("x.kif", "( role  white ) ; moves first\n\n\n(init(p))");
/// let text = agon_gdl::format::format(&Arc::new(source), &Default::default())?;
/// assert_eq!(text, "(role white) ; moves first\n\n(init (p))\n");
/// # Ok::<(), agon_text::Diagnostics>(())
/// ```
///
/// # Errors
/// The mistakes because of which the layout is unknown, such as unmatched parentheses.
pub fn format(source: &Arc<Source>, options: &ReadOptions) -> Result<String, Diagnostics> {
    let (sheet, mut findings) = read_with(Arc::clone(source), options);
    findings.0.retain(|finding| {
        finding.severity == Severity::Error
            && (sheet.syntax == Syntax::Infix || KIF_OBSTACLES.contains(&finding.code))
    });
    if !findings.0.is_empty() {
        return Err(findings);
    }
    Ok(match sheet.syntax {
        Syntax::Kif if params::declarations(source).0.is_empty() => {
            kif::format(source.text(), kif::Braces::Letters)
        }
        Syntax::Kif => kif::format(source.text(), kif::Braces::Expressions),
        Syntax::Infix => infix::format(source.text(), &sheet),
    })
}
