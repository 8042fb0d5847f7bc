//! Values of parameters: as a part of a game's name, such as `hex(size=9)`, or beside it.

use std::path::Path;
use std::sync::Arc;

use agon_text::Source;
use agon_text::params::{Expanded, Notation, Param, Settings};

use super::{Language, OpenError, language};
use crate::shipped::Shipped;

/// Splits a name such as `hex(size=9)` into the name of the game and the values of parameters.
///
/// Anything else is a name without values: the parentheses must be the end of the name and hold
/// nothing but values.
///
/// ```
/// let (game, settings) = agon::open::split_settings("hex(size=9)");
/// assert_eq!((game, settings["size"]), ("hex", 9));
/// assert_eq!(agon::open::split_settings("draft (2)").0, "draft (2)");
/// ```
pub fn split_settings(name: &str) -> (&str, Settings) {
    let read = || {
        let (game, values) = name.strip_suffix(')')?.rsplit_once('(')?;
        let settings: Option<Settings> = values.split(',').map(setting).collect();
        Some((game.trim_end(), settings?)).filter(|(game, _)| !game.is_empty())
    };
    read().unwrap_or((name, Settings::new()))
}

/// Reads a value of a parameter, such as `size=9`.
pub fn setting(text: &str) -> Option<(String, i64)> {
    let (name, value) = text.split_once('=')?;
    let name = name.trim();
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    Some((name.to_owned(), value.trim().parse().ok()?)).filter(|_| is_name)
}

/// Adds values of parameters to the name of a game. Later values replace earlier ones.
#[must_use]
pub fn with_settings(name: &str, settings: &Settings) -> String {
    let (game, mut all) = split_settings(name);
    all.extend(settings.clone());
    let values: Vec<String> = all.iter().map(|(name, value)| format!("{name}={value}")).collect();
    if values.is_empty() { game.to_owned() } else { format!("{game}({})", values.join(",")) }
}

/// Returns the name by which a game that a file mentions is opened: a shipped game by its name,
/// every other one by its path relative to the folder of the file.
pub fn located(name: &str, folder: &Path) -> String {
    let (game, settings) = split_settings(name);
    let place = match Shipped::named(game) {
        Some(shipped) => shipped.name.to_owned(),
        None => folder.join(game).to_string_lossy().into_owned(),
    };
    with_settings(&place, &settings)
}

/// Returns rules without parameters, with the values given. Rules without parameters are returned
/// as they are.
///
/// # Errors
/// [`OpenError::Rules`] if an expression is wrong, or a value is not allowed.
pub fn expanded(source: Arc<Source>, settings: &Settings) -> Result<Arc<Source>, OpenError> {
    let expanded = match language(&source) {
        Language::Gdl => agon_gdl::params::expand(&source, settings),
        Language::Toss => agon_text::params::expand(&source, settings, Notation::Toss),
    };
    match expanded {
        Ok(Some(Expanded { source, .. })) => Ok(source),
        Ok(None) => Ok(source),
        Err(findings) => Err(OpenError::Rules { findings: findings.0, source }),
    }
}

/// Returns the parameters of a rulesheet with their values.
pub fn params(source: &Source) -> Vec<Param> {
    match language(source) {
        Language::Gdl => agon_gdl::params::declarations(source).0,
        Language::Toss => agon_text::params::declarations(source, Notation::Toss).0,
    }
}
