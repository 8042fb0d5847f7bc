//! Replays recorded matches in the JSON format of ggp.org.

use std::path::Path;

use agon_ggp::{Record, Signature, rules_hash};
use serde_json::Value;

use crate::failure::Failure;
use crate::open::{self, PlayOptions};
use crate::terminal::say;
use crate::trace;
use agon::shipped::Shipped;

/// Maximum number of differences shown.
const MAX_SHOWN: usize = 5;

/// The result of comparing a recorded match with the rules.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Verdict {
    /// Everything agrees, and the signature is good or absent.
    Agrees,
    /// There are differences, or the signature is bad.
    Differs,
}

/// Replays the match in a file and prints the result. Returns `None` if the file does not hold a
/// match. With one argument, that is the file, and the record must name a shipped game.
pub(crate) fn replay(
    rules: Option<&str>,
    file: Option<&Path>,
    play: &PlayOptions,
) -> Result<Option<Verdict>, Failure> {
    let (rules, path) = match (rules, file) {
        (Some(rules), Some(file)) => (Some(rules), file),
        (Some(game), None) if Shipped::named(game).is_some() && !Path::new(game).exists() => {
            return Err(Failure::unreadable(format!(
                "a recording of {game} is missing: agon replay {game} TRACE; see --help"
            )));
        }
        (Some(file), None) => (None, Path::new(file)),
        (None, _) => return Ok(None),
    };
    let value = trace::read_json(path)?;
    if !Record::is_like(&value) {
        if rules.is_none() {
            let shown = path.display();
            return Err(Failure::unreadable(format!(
                "{shown} is not a recorded match; a trace needs its rules: agon replay RULES \
                 {shown}"
            )));
        }
        return Ok(None);
    }
    verify(rules, path, &value, play).map(Some)
}

fn verify(
    rules: Option<&str>,
    path: &Path,
    value: &Value,
    play: &PlayOptions,
) -> Result<Verdict, Failure> {
    let shown = path.display();
    let record = Record::from_json(value).map_err(|what| {
        Failure::unreadable(format!("cannot read {shown}: not a valid match record: {what}"))
    })?;
    let key = record.game_key().and_then(Shipped::named).map(|game| game.name);
    let rules = rules.or(key).ok_or_else(|| {
        let url = &record.game_meta_url;
        let what = if url.is_empty() {
            "does not name its game".to_owned()
        } else {
            format!("is of {url}")
        };
        Failure::unreadable(format!(
            "{shown} {what}, which is not a shipped game; give its rules: agon replay RULES {shown}"
        ))
    })?;
    let opened = open::open_engine(rules, play)?;
    let hash = rules_hash(&opened.rules_text());
    if let Some(recorded) = record.rules_hash.as_ref().filter(|recorded| **recorded != hash) {
        return Err(Failure::wrong(format!(
            "{shown} was recorded with other rules than {rules}: the hash of its rules is \
             {recorded}, that of {rules} is {hash}; give the rules of the match: agon replay RULES \
             {shown}"
        )));
    }
    let verdict = record.verify(opened.table().as_mut());
    let n_mismatches = verdict.differences.len();
    verdict.differences.iter().take(MAX_SHOWN).for_each(|difference| say!("  {difference}"));
    say!("replayed 1 plays, {} states, {n_mismatches} mismatches", verdict.n_states);
    let signature = Record::signature(value);
    match &signature {
        Signature::Absent => {}
        Signature::Good => say!("the signature is good"),
        Signature::Bad(why) => say!("the signature is bad: {why}"),
    }
    Ok(if n_mismatches > 0 || matches!(signature, Signature::Bad(_)) {
        Verdict::Differs
    } else {
        Verdict::Agrees
    })
}
