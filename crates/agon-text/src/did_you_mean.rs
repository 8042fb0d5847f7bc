//! Suggestions for misspelt names.

/// Returns the candidate most similar to a misspelt name, or `None` if no candidate is similar.
///
/// Upper and lower case do not matter. A candidate that starts with the name is the best match.
/// Otherwise the edit distance counts: it may be 1, and one more for every four letters.
///
/// ```
/// use agon_text::did_you_mean;
/// assert_eq!(did_you_mean("simluate", ["simulate", "solve"]), Some("simulate"));
/// assert_eq!(did_you_mean("sim", ["solve", "simulate"]), Some("simulate"));
/// assert_eq!(did_you_mean("tournament", ["simulate", "solve"]), None);
/// ```
pub fn did_you_mean<'a>(
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let lower = name.to_lowercase();
    let distance = |candidate: &str| {
        let candidate = candidate.to_lowercase();
        let is_beginning = lower.len() >= 2 && candidate.starts_with(&lower);
        if is_beginning { 0 } else { edit_distance(&candidate, &lower) }
    };
    closest(name, candidates, distance, 1 + lower.len() / 4)
}

/// Returns the candidate with the smallest edit distance to a name, ignoring upper and lower case,
/// or `None` if all candidates are more than `max_distance` away. Of equally similar candidates the
/// first one is returned.
///
/// ```
/// use agon_text::closest_name;
/// assert_eq!(closest_name("Contorl", ["cell", "control"], 2), Some("control"));
/// assert_eq!(closest_name("step", ["cell", "control"], 2), None);
/// ```
pub fn closest_name<'a>(
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
    max_distance: usize,
) -> Option<&'a str> {
    let lower = name.to_lowercase();
    let distance = |candidate: &str| edit_distance(&candidate.to_lowercase(), &lower);
    closest(name, candidates, distance, max_distance)
}

/// Maximum length of a name in bytes. Nobody misspells a longer one by a few letters, and comparing
/// two of a megabyte would take hours.
const MAX_BYTES: usize = 200;

/// Returns the candidate with the smallest distance to a name. A candidate that shares no letter
/// with the name is not similar, however short both are.
fn closest<'a>(
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
    distance: impl Fn(&str) -> usize,
    max_distance: usize,
) -> Option<&'a str> {
    if name.len() > MAX_BYTES {
        return None;
    }
    let n_letters = name.chars().count();
    let candidates = candidates.into_iter().filter(|candidate| candidate.len() <= MAX_BYTES);
    let measured = candidates.map(|candidate| (distance(candidate), candidate));
    let (_, candidate) = measured
        .filter(|&(distance, candidate)| {
            distance <= max_distance && distance < n_letters.max(candidate.chars().count())
        })
        .min_by_key(|&(distance, _)| distance)?;
    Some(candidate)
}

/// Returns the number of letters inserted, deleted, replaced or swapped with their neighbour.
fn edit_distance(a: &str, b: &str) -> usize {
    strsim::osa_distance(a, b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_any_length_are_answered_at_once() {
        let long = "a".repeat(1 << 20);
        let longer = format!("{long}b");
        let began = std::time::Instant::now();
        assert_eq!(did_you_mean(&long, [longer.as_str(), "b"]), None);
        assert_eq!(did_you_mean("simluate", [longer.as_str(), "simulate"]), Some("simulate"));
        assert_eq!(closest_name(&long, [longer.as_str()], 2), None);
        assert!(began.elapsed() < std::time::Duration::from_secs(10), "{:?}", began.elapsed());
    }
}
