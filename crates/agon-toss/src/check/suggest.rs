//! What somebody may have meant who misspelt a name.

/// A hint that names the known name most like this one, if any is.
pub(super) fn did_you_mean<'a>(
    name: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> Option<String> {
    let lower = name.to_lowercase();
    let best =
        known.into_iter().map(|other| (distance(&lower, &other.to_lowercase()), other)).min()?;
    (best.0 <= 1 + name.len() / 4 && best.1 != name).then(|| format!("did you mean `{}`?", best.1))
}

/// How many letters have to be put in, left out or changed.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let changed = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(row[j + 1] + 1);
        }
    }
    row[b.len()]
}
