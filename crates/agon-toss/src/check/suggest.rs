//! Suggests known names for misspelt ones.

/// Returns the most similar known name, if one is similar enough.
pub(super) fn did_you_mean<'a>(
    name: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let mut known: Vec<&str> = known.into_iter().collect();
    known.sort_unstable();
    let found = agon_text::closest_name(name, known, 1 + name.len() / 4)?;
    (found != name).then_some(found)
}
