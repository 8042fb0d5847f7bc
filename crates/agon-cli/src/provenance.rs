//! Where and when results were obtained: a table without this cannot be compared with another.

use serde_json::{Value, json};
use std::fmt;

/// Version, commit, date, machine and command of a run.
pub(crate) struct Provenance {
    date: String,
    machine: String,
    version: String,
    command: String,
}

impl Provenance {
    /// Returns the provenance of the running command.
    pub(crate) fn now() -> Provenance {
        let mut command = vec!["agon".to_owned()];
        command.extend(std::env::args().skip(1).map(|argument| quoted(&argument)));
        Provenance {
            date: date(crate::clock::now() / 86_400_000),
            machine: machine(),
            version: version(),
            command: command.join(" "),
        }
    }

    /// Returns the provenance as a JSON object.
    pub(crate) fn json(&self) -> Value {
        json!({
            "date": self.date, "machine": self.machine, "version": self.version,
            "command": self.command,
        })
    }
}

impl fmt::Display for Provenance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Provenance { date, machine, version, command } = self;
        write!(f, "agon {version}, {machine}, {date}, {command}")
    }
}

/// Returns one line with version, commit, machine, date and command.
pub(crate) fn line() -> String {
    Provenance::now().to_string()
}

/// Returns the version, with the commit where the build knows it.
fn version() -> String {
    let commit = option_env!("AGON_COMMIT").filter(|commit| !commit.is_empty());
    let commit = commit.map_or(String::new(), |commit| format!(" ({commit})"));
    format!("{}{commit}", env!("CARGO_PKG_VERSION"))
}

/// Quotes an argument that a shell would take apart.
pub(crate) fn quoted(argument: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,".contains(c);
    match !argument.is_empty() && argument.chars().all(is_plain) {
        true => argument.to_owned(),
        false => format!("'{}'", argument.replace('\'', "'\\''")),
    }
}

/// Returns the processor and the number of threads that the machine runs at once.
fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = text.lines().find_map(|line| line.strip_prefix("model name")?.split(": ").nth(1));
    let model = model.unwrap_or(std::env::consts::ARCH);
    format!("{model} with {cores} threads, {}", std::env::consts::OS)
}

/// Returns the date of a day after 1 January 1970, in the Gregorian calendar. Years of this
/// computation start in March, so that leap days come last.
pub(crate) fn date(day: u64) -> String {
    let day = day + 719_468;
    let (era, of_era) = (day / 146_097, day % 146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let of_month = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year + era * 400 + u64::from(month <= 2);
    format!("{year}-{month:02}-{of_month:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        assert_eq!(date(0), "1970-01-01");
        assert_eq!(date(11_016), "2000-02-29");
        assert_eq!(date(11_017), "2000-03-01");
        assert_eq!(date(20_453), "2025-12-31");
    }

    #[test]
    fn arguments_are_quoted_for_a_shell() {
        assert_eq!(quoted("--only=x"), "--only=x");
        assert_eq!(quoted("it's"), "'it'\\''s'");
    }
}
