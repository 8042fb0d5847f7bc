//! Rules in KIF with the arrow after the head: `(p ?x) <= (q ?x)`.

use agon_text::{Diagnostic, Edit, Fix, Span};

use super::builder::Builder;
use super::kif::Tree;

/// Returns a rule that is written with its arrow after the head, and the number of trees that it
/// consists of. Reports the mistake, which is one, although each tree alone would be another.
///
/// The conditions are the trees that follow up to the next one at the start of a line.
pub(super) fn arrow_after_head<'a>(
    text: &str,
    trees: &[Tree<'a>],
    builder: &mut Builder,
) -> Option<(Tree<'a>, usize)> {
    let [head @ Tree::List(..), Tree::Word("<=" | ":-", arrow), rest @ ..] = trees else {
        return None;
    };
    let is_line_start = |at: usize| text[..at].ends_with(['\n', '\r']);
    if is_line_start(arrow.start()) {
        return None;
    }
    let is_condition =
        |tree: &&Tree<'_>| matches!(tree, Tree::List(..)) && !is_line_start(tree.span().start());
    let conditions: Vec<Tree<'a>> = rest.iter().take_while(is_condition).cloned().collect();
    let mut finding = Diagnostic::error(
        "misplaced-keyword",
        *arrow,
        format!("`{}` stands after the head of a rule", &text[arrow.start()..arrow.end()]),
    )
    .hint("write `(<= (head …) (condition …) …)`");
    let end = conditions.last().map_or(arrow.end(), |last| last.span().end());
    if let Some(first) = conditions.first() {
        let edit = |start, end, text: &str| Edit {
            span: Span::new(start, end),
            replacement: text.to_owned(),
        };
        finding = finding.suggest(Fix {
            title: "write the rule as `(<= head conditions)`".to_owned(),
            edits: vec![
                edit(head.span().start(), head.span().start(), "(<= "),
                edit(arrow.start(), first.span().start(), ""),
                edit(end, end, ")"),
            ],
        });
    }
    builder.report(finding);
    let n = 2 + conditions.len();
    let mut parts = vec![Tree::Word("<=", *arrow), head.clone()];
    parts.extend(conditions);
    Some((Tree::List(parts, Span::new(head.span().start(), end)), n))
}
