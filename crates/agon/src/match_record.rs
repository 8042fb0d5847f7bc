//! Recorded matches in ggp.org's format, replayed.

use std::path::Path;

use agon_match::{Record, Signature};
use serde_json::Value;

use crate::contest::Laid;
use crate::failure::Failure;
use crate::open::{self, PlayOptions};
use crate::shipped::Shipped;
use crate::terminal::say;
use crate::trace;

/// How many differences are shown.
const MAX_SHOWN: usize = 5;

/// Replays a match and says what came of it, if the file holds one; `None` if it holds something else. With one argument that is the
/// file, and the record has to name a shipped game.
pub(crate) fn replay(
    rules: Option<&str>,
    file: Option<&Path>,
    play: &PlayOptions,
) -> Result<Option<Result<(), Failure>>, Failure> {
    let (rules, path) = match (rules, file) {
        (Some(rules), Some(file)) => (Some(rules), file),
        (Some(game), None) if Shipped::named(game).is_some() && !Path::new(game).exists() => {
            return Err(Failure::unreadable(format!(
                "a recording of {game} is missing: agon replay {game} TRACE; try --help"
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
                "{shown} is not a match; a trace needs its rules: RULES TRACE"
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
) -> Result<Result<(), Failure>, Failure> {
    let shown = path.display();
    let record = Record::from_json(value).map_err(|what| {
        Failure::unreadable(format!("cannot read {shown}: not a proper match: {what}"))
    })?;
    let key = record.game_key().and_then(Shipped::named).map(|game| game.name);
    let rules = rules.or(key).ok_or_else(|| {
        let url = &record.game_meta_url;
        let what = if url.is_empty() {
            "does not say which game it is".to_owned()
        } else {
            format!("is of {url}")
        };
        Failure::unreadable(format!(
            "{shown} {what}, which does not ship; give its rules: agon replay RULES {shown}"
        ))
    })?;
    let opened = open::open_engine(open::source(rules)?, play)?;
    let verdict = record.verify(opened.run(Laid).as_mut());
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
        Err(Failure { code: 1, message: String::new() })
    } else {
        Ok(())
    })
}
