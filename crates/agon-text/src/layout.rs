//! The blanks between the words of a text, for formatters of rule languages.

/// Returns the number of line ends in a text: `\n`, `\r\n`, or a single `\r`.
///
/// ```
/// assert_eq!(agon_text::n_line_ends(" \n\r\n \r "), 3);
/// ```
pub fn n_line_ends(gap: &str) -> usize {
    let bytes = gap.as_bytes();
    let ends_line = |at: &usize| match bytes[*at] {
        b'\n' => true,
        b'\r' => bytes.get(at + 1) != Some(&b'\n'),
        _ => false,
    };
    (0..bytes.len()).filter(ends_line).count()
}

/// Returns the blanks that a formatter writes between the end of a line and the comment beside it,
/// given the text that was there. Comments in a column stay there if the text before them does not
/// change.
///
/// ```
/// assert_eq!(agon_text::gap_before_comment("   "), "   ");
/// assert_eq!(agon_text::gap_before_comment("\t"), " ");
/// ```
pub fn gap_before_comment(gap: &str) -> &str {
    if !gap.is_empty() && gap.bytes().all(|byte| byte == b' ') { gap } else { " " }
}
