//! The time of day, for records. Nothing is decided by it.

/// Milliseconds since 1970.
#[allow(clippy::disallowed_types, reason = "a record says when it was made; no move depends on it")]
pub(crate) fn now() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

/// Characters that nobody can guess: for names of matches that must differ from all others.
pub(crate) fn token(length: usize) -> String {
    use std::hash::{BuildHasher as _, Hasher as _};
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    let mut token = String::new();
    while token.len() < length {
        // The keys of the standard library's hash tables come from the system's own source of randomness; one key gives a
        // whole token, a number at a time.
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
