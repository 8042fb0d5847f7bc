//! The layout of a rulesheet of any language.

use std::sync::Arc;

use agon_text::{Diagnostic, Source};

use crate::open::{Language, language};

/// Returns a rulesheet in its usual layout: the same rules and comments, with blanks and line ends
/// in their usual places. Formatting twice gives the same text as formatting once.
///
/// ```
/// use std::sync::Arc;
/// let source = Arc::new(agon_text::Source::new("x.kif", "(role  a)\n(<= (p ?x)\n(q ?x))"));
/// let text = agon::format::format(&source).expect("the text can be read");
/// assert_eq!(text, "(role a)\n(<= (p ?x)\n    (q ?x))\n");
/// ```
///
/// # Errors
/// The mistakes because of which the layout is unknown, such as unmatched parentheses.
pub fn format(source: &Arc<Source>) -> Result<String, Vec<Diagnostic>> {
    let formatted = match language(source) {
        Language::Gdl => agon_gdl::format::format(source, &Default::default()),
        Language::Toss => agon_toss::format::format(source),
    };
    formatted.map_err(|findings| findings.0)
}
