//! Where a table or page comes from: version, commit, machine, date and command.

use std::time::{SystemTime, UNIX_EPOCH};

/// Returns one line with version, commit, machine, date and command.
pub(crate) fn line() -> String {
    let commit = option_env!("AGON_COMMIT").filter(|commit| !commit.is_empty());
    let commit = commit.map_or(String::new(), |commit| format!(" ({commit})"));
    let arguments: Vec<String> = std::env::args().skip(1).map(|text| quoted(&text)).collect();
    format!(
        "agon {}{commit}, {}, {}, agon {}",
        env!("CARGO_PKG_VERSION"),
        machine(),
        date(),
        arguments.join(" ")
    )
}

fn quoted(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=,:".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// Describes the machine: processor and number of threads, system.
fn machine() -> String {
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let processor = std::fs::read_to_string("/proc/cpuinfo").ok().and_then(|text| {
        let line = text.lines().find(|line| line.starts_with("model name"))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    });
    let processor = processor.unwrap_or_else(|| std::env::consts::ARCH.to_owned());
    format!("{processor} with {threads} threads, {}", std::env::consts::OS)
}

/// Returns the date in Greenwich.
fn date() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
    let (year, month, day) = civil(seconds / 86_400);
    format!("{year}-{month:02}-{day:02}")
}

/// Returns year, month and day of a number of days since 1970 (Hinnant, "chrono-compatible
/// low-level date algorithms").
fn civil(days: u64) -> (u64, u64, u64) {
    let z = days + 719_468;
    let era = z / 146_097;
    let day_of_era = z % 146_097;
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    (year_of_era + era * 400 + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_right() {
        assert_eq!(civil(0), (1970, 1, 1));
        assert_eq!(civil(11_016), (2000, 2, 29));
        assert_eq!(civil(20_775), (2026, 11, 18));
    }

    #[test]
    fn the_line_names_version_and_command() {
        let line = line();
        assert!(line.starts_with(concat!("agon ", env!("CARGO_PKG_VERSION"))), "{line}");
        assert_eq!(quoted("a b"), "'a b'");
    }
}
