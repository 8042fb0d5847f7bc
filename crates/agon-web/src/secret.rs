//! Secrets of links and tokens, and the time of day.

use crate::answer::ApiError;

/// Number of characters of a secret: 24 letters and digits hold 142 bits.
const LENGTH: usize = 24;

/// Returns a new secret: letters and digits from the random source of the system.
///
/// # Errors
/// [`ApiError`] if the system has no random source.
pub(crate) fn secret() -> Result<String, ApiError> {
    random_text(LENGTH)
}

/// Returns a short name that differs from all others.
///
/// # Errors
/// [`ApiError`] if the system has no random source.
pub(crate) fn short_id() -> Result<String, ApiError> {
    random_text(10)
}

fn random_text(length: usize) -> Result<String, ApiError> {
    // 32 characters, so that a byte gives each of them with the same chance.
    const LETTERS: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";
    let mut bytes = vec![0_u8; length];
    fill(&mut bytes)?;
    Ok(bytes.iter().map(|byte| char::from(LETTERS[usize::from(byte % 32)])).collect())
}

/// Returns a seed that cannot be guessed. It is a number that JSON carries exactly.
///
/// # Errors
/// [`ApiError`] if the system has no random source.
pub(crate) fn random_seed() -> Result<u64, ApiError> {
    let mut bytes = [0_u8; 8];
    fill(&mut bytes)?;
    // Numbers of JavaScript are exact up to 2^53.
    Ok(u64::from_le_bytes(bytes) >> 11)
}

fn fill(bytes: &mut [u8]) -> Result<(), ApiError> {
    getrandom::fill(bytes)
        .map_err(|error| ApiError::broken(format!("the system has no random source: {error}")))
}

/// Returns a new token for a server that listens beyond this machine.
///
/// # Errors
/// If the system has no random source, as a sentence.
pub fn new_token() -> Result<String, String> {
    secret().map_err(|error| error.message)
}

/// Compares two secrets in a time that does not depend on where they differ.
pub(crate) fn is_same(a: &str, b: &str) -> bool {
    let difference = a.bytes().zip(b.bytes()).fold(0, |all, (x, y)| all | (x ^ y));
    a.len() == b.len() && difference == 0
}

/// Returns the milliseconds since 1970.
#[allow(clippy::disallowed_types, reason = "a record says when it was made; no move depends on it")]
pub(crate) fn now() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}
