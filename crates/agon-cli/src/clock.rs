//! The time of day, for records only, and names that are hard to guess.

/// Returns the milliseconds since 1970.
#[allow(clippy::disallowed_types, reason = "a record says when it was made; no move depends on it")]
pub(crate) fn now() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

/// Returns random letters and digits, for names that must differ from all others.
pub(crate) fn token(length: usize) -> String {
    use std::hash::{BuildHasher as _, Hasher as _};
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    let mut token = String::new();
    while token.len() < length {
        // The keys of the standard library's hash tables come from the random source of the system.
        let keys = std::hash::RandomState::new();
        for number in 0..8_u64 {
            let mut hasher = keys.build_hasher();
            hasher.write_u64(number);
            let letter =
                LETTERS[usize::try_from(hasher.finish() % LETTERS.len() as u64).unwrap_or(0)];
            token.push(char::from(letter));
        }
    }
    token.truncate(length);
    token
}
