//! Player specifications: `random`, `mcts(rave,c=0.4)`, `human`, `http://host:9147`,
//! `cmd:./my-bot`.

use agon_analysis::fuzzy::FuzzyOptions;
use agon_analysis::regression::HeuristicRequest;
use agon_game::{Continuous, Hidden, Shape};
use agon_ggp::Address;
use agon_match::Player;
use agon_text::{Diagnostic, Span, did_you_mean};

use crate::kinds::{Auto, BuildContext, Kind};
use crate::option::Settings;
use crate::registry::Origin;
use crate::{
    BuiltIn, CombinedOptions, GoalTermOptions, KINDS, OptionKind, OptionType, PlayerKind, Threads,
    Value,
};

/// A player as a user specifies it.
#[derive(Clone, Debug, PartialEq)]
pub struct PlayerSpec {
    /// The text of the specification, without surrounding space.
    pub text: String,
    /// The meaning of the text.
    pub kind: PlayerSource,
}

/// Where a player comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum PlayerSource {
    /// A built-in player.
    BuiltIn(BuiltIn),
    /// A person at the terminal.
    Human,
    /// A player that is reached by the GGP protocol.
    Http(Address),
    /// A program and its arguments: at least one word.
    Command(Vec<String>),
}

impl PlayerSpec {
    /// Returns the specification of a built-in player with its default options.
    ///
    /// # Panics
    /// If there is no built-in player of that name.
    pub fn built_in(name: &str) -> PlayerSpec {
        let kind = PlayerKind::named(name).expect("the player is registered");
        let Origin::BuiltIn(make) = kind.origin else { panic!("`{name}` is a built-in player") };
        let player = make(&Settings::new(kind));
        PlayerSpec { text: name.to_owned(), kind: PlayerSource::BuiltIn(player) }
    }

    /// Builds the player for a role of a match. Returns `None` if it is not a built-in player.
    pub fn build<P: Hidden + Continuous + 'static>(
        &self,
        context: BuildContext<P>,
    ) -> Option<Box<dyn Player>> {
        Some(self.player()?.build(context))
    }

    /// Returns the specification that `auto` chooses for a game, if the player is `auto`.
    pub fn chosen_for(&self, shape: &Shape) -> Option<PlayerSpec> {
        match self.player()? {
            BuiltIn::Auto(_) => Some(Auto::choose(shape)),
            BuiltIn::Random(_)
            | BuiltIn::FirstLegal(_)
            | BuiltIn::Greedy(_)
            | BuiltIn::Mcts(_)
            | BuiltIn::Minimax(_)
            | BuiltIn::AlphaBeta(_)
            | BuiltIn::BestFirst(_)
            | BuiltIn::Puzzle(_)
            | BuiltIn::Continuous(_)
            | BuiltIn::Hidden(_)
            | BuiltIn::Solver(_) => None,
        }
    }

    /// Returns the options of fuzzy evaluation, if the player evaluates positions by fuzzy logic.
    pub fn fuzzy_options(&self) -> Option<&FuzzyOptions> {
        self.needs()?.fuzzy_options()
    }

    /// Returns the terms made of the goals of a structure rewriting game by which the player
    /// evaluates positions or moves, if it does.
    pub fn goal_terms(&self) -> Option<&GoalTermOptions> {
        self.needs()?.goal_terms()
    }

    /// Returns how the player combines heuristics, if it does.
    pub fn combined(&self) -> Option<&CombinedOptions> {
        self.needs()?.combined()
    }

    /// Returns the paths of the evaluation games that the player uses.
    pub fn evaluation_files(&self) -> Option<Vec<&str>> {
        Some(self.needs()?.evaluation_files()?.split('+').collect())
    }

    /// Returns the path of the file from which the player takes its concepts, if it does.
    pub fn concepts_file(&self) -> Option<&str> {
        self.needs()?.concepts_file()
    }

    /// Returns which goals are regressed, if the player evaluates moves by regressed goals.
    pub fn action_heuristic(&self) -> Option<HeuristicRequest> {
        self.needs()?.action_heuristic()
    }

    /// Returns the number of threads of a built-in player.
    pub fn threads(&self) -> Option<Threads> {
        Some(self.needs()?.threads())
    }

    fn player(&self) -> Option<&BuiltIn> {
        match &self.kind {
            PlayerSource::BuiltIn(player) => Some(player),
            PlayerSource::Human | PlayerSource::Http(_) | PlayerSource::Command(_) => None,
        }
    }

    fn needs(&self) -> Option<&dyn Kind> {
        self.player().map(BuiltIn::as_kind)
    }
}

/// Parses a list of players that are separated by commas. A comma within parentheses or quotes
/// belongs to the player.
///
/// # Errors
/// A diagnostic whose spans are places in `text`.
pub fn parse_list(text: &str) -> Result<Vec<PlayerSpec>, Box<Diagnostic>> {
    let mut specs = Vec::new();
    let mut start = 0;
    for end in separators(text)?.into_iter().chain([text.len()]) {
        specs.push(parse_at(&text[start..end], start)?);
        start = end + 1;
    }
    Ok(specs)
}

/// Parses the specification of a player.
///
/// # Errors
/// A diagnostic whose spans are places in `text`.
pub fn parse_spec(text: &str) -> Result<PlayerSpec, Box<Diagnostic>> {
    parse_at(text, 0)
}

/// Returns the byte offsets of the commas that separate players.
fn separators(text: &str) -> Result<Vec<usize>, Box<Diagnostic>> {
    let (mut found, mut open, mut quote) = (Vec::new(), Vec::new(), None::<(usize, char)>);
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (Some((_, mark)), _) if c == mark => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some((at, c)),
            (None, '(') => open.push(at),
            (None, ')') if open.pop().is_none() => {
                return Err(error(at..at + 1, "this closes a parenthesis that is not open")
                    .hint("remove it, or add the missing `(`")
                    .into());
            }
            (None, ',') if open.is_empty() => found.push(at),
            (None, _) => {}
        }
    }
    let unclosed = quote.map(|(at, _)| at).or_else(|| open.pop());
    match unclosed {
        None => Ok(found),
        Some(at) => Err(error(at..at + 1, "this is never closed")
            .hint("add the closing character before the end")
            .into()),
    }
}

/// Parses a specification. `offset` is the byte offset of the text within the user's text, to which
/// errors refer.
fn parse_at(text: &str, offset: usize) -> Result<PlayerSpec, Box<Diagnostic>> {
    let offset = offset + (text.len() - text.trim_start().len());
    let text = text.trim();
    let whole = offset..offset + text.len();
    let kind = if text.is_empty() {
        return Err(error(whole, "a player is missing here")
            .hint(format!("one of {}", all_forms()))
            .into());
    } else if let Some(rest) = text.strip_prefix("http://") {
        PlayerSource::Http(Address::parse(rest).map_err(|what| {
            error(whole, what.to_string())
                .hint("write it as http://HOST:PORT, such as http://localhost:9147")
        })?)
    } else if text.starts_with("https://") {
        return Err(error(offset..offset + 5, "players are reached by plain http")
            .hint(format!("write http{}", &text[5..]))
            .into());
    } else if let Some(command) = text.strip_prefix("cmd:") {
        let words = command_words(command);
        if words.is_empty() {
            return Err(error(whole, "the program is missing").hint("such as cmd:./my-bot").into());
        }
        PlayerSource::Command(words)
    } else {
        parse_named(text, offset)?
    };
    Ok(PlayerSpec { text: text.to_owned(), kind })
}

/// Parses the name of a player, with options in parentheses.
fn parse_named(text: &str, offset: usize) -> Result<PlayerSource, Box<Diagnostic>> {
    let name_end = text.find('(').unwrap_or(text.len());
    let name = text[..name_end].trim_end();
    let Some(kind) = PlayerKind::named(name) else {
        let unknown = error(offset..offset + name.len(), format!("there is no player `{name}`"));
        return Err(match did_you_mean(name, KINDS.iter().map(|kind| kind.name)) {
            Some(other) => {
                unknown.hint(format!("did you mean `{other}`? `agon players` lists them all"))
            }
            None => unknown.hint(format!("one of {}", all_forms())),
        }
        .into());
    };
    let mut reader = OptionReader { kind, settings: Settings::new(kind) };
    if name_end < text.len() {
        let Some(inside) = text[name_end + 1..].strip_suffix(')') else {
            let close = text.rfind(')').map_or(text.len(), |at| at + 1);
            let rest = offset + close..offset + text.len();
            return Err(error(rest, "nothing may follow the options").into());
        };
        reader.read(inside, offset + name_end + 1, None)?;
    }
    match kind.origin {
        Origin::BuiltIn(make) => Ok(PlayerSource::BuiltIn(make(&reader.settings))),
        Origin::Terminal => Ok(PlayerSource::Human),
        Origin::Elsewhere => {
            let whole = offset..offset + text.len();
            Err(error(whole, format!("`{name}` needs more than its name"))
                .hint(format!("write it as {}", kind.form))
                .into())
        }
    }
}

/// Reads the options of a kind of player.
struct OptionReader {
    kind: &'static PlayerKind,
    settings: Settings,
}

impl OptionReader {
    /// Reads options that are separated by commas. The value of a word option may have options of
    /// its own: `eval=concepts(plays=100)` means `eval=concepts, concepts-plays=100`. Such options
    /// are read with `parent` set to the word.
    fn read(
        &mut self,
        text: &str,
        mut offset: usize,
        parent: Option<&'static str>,
    ) -> Result<(), Box<Diagnostic>> {
        for part in split_at_commas(text) {
            let start = offset + (part.len() - part.trim_start().len());
            offset += part.len() + 1;
            let part = part.trim();
            if part.is_empty() {
                continue;
            }
            let (own, nested) = match part.find('(').filter(|_| part.ends_with(')')) {
                Some(open) => (part[..open].trim_end(), Some(open)),
                None => (part, None),
            };
            let (option, value) = self.setting(own, start, parent)?;
            if self.settings.set(option, value.clone()) {
                let message = format!("`{}` is set a second time", option.name);
                return Err(error(start..start + part.len(), message).into());
            }
            if let Some(open) = nested {
                let parentheses = start + open..start + part.len();
                let inside = &part[open + 1..part.len() - 1];
                let Value::Word(word) = value else {
                    return Err(error(parentheses, "only a word has options of its own").into());
                };
                if parent.is_some() {
                    return Err(error(parentheses, "options are nested too deeply").into());
                }
                self.read(inside, start + open + 1, Some(word))?;
            }
        }
        Ok(())
    }

    /// Reads an option with its value: `name` or `name=value`.
    fn setting(
        &self,
        text: &str,
        offset: usize,
        parent: Option<&str>,
    ) -> Result<(&'static OptionKind, Value), Box<Diagnostic>> {
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name.trim_end(), Some(value)),
            None => (text, None),
        };
        let nested = parent.and_then(|word| self.kind.option(&format!("{word}-{name}")));
        if nested.is_none()
            && value.is_none()
            && let Some(setting) = self.shorthand(name)
        {
            return Ok(setting);
        }
        let Some(option) = nested.or_else(|| self.kind.option(name)) else {
            return Err(self.unknown_option(name, offset));
        };
        let Some(value) = value else {
            return match option.kind {
                OptionType::Flag => Ok((option, Value::Flag(true))),
                OptionType::Integer(..)
                | OptionType::Real(..)
                | OptionType::Word(_)
                | OptionType::Text => {
                    let message = format!("`{name}` needs a value: {}", option.kind);
                    Err(error(offset..offset + text.len(), message)
                        .hint(format!("write {}={}", option.name, option.default))
                        .into())
                }
            };
        };
        let value_at = offset + text.len() - value.trim_start().len();
        option.kind.parse(value.trim()).map(|value| (option, value)).map_err(|invalid| {
            let message = format!("`{}` cannot be `{}`", option.name, value.trim());
            error(value_at..offset + text.len(), message).hint(invalid.to_string()).into()
        })
    }

    fn unknown_option(&self, name: &str, offset: usize) -> Box<Diagnostic> {
        let message = format!("`{}` has no option `{name}`", self.kind.name);
        let unknown = error(offset..offset + name.len(), message);
        let known: Vec<&str> = self.kind.options().map(|option| option.name).collect();
        let unknown = match did_you_mean(name, known.iter().copied()) {
            Some(other) => unknown.hint(format!("did you mean `{other}`?")),
            None => unknown,
        };
        match known.as_slice() {
            [] => unknown.hint("it has no options"),
            known => unknown.hint(format!("it has {}", known.join(", "))),
        }
        .into()
    }

    /// Returns a setting that is written by its value alone: `rave` for `amaf=rave`, `no-solver`
    /// for `solver=off`. Returns `None` if the text has no such meaning or more than one.
    fn shorthand(&self, text: &str) -> Option<(&'static OptionKind, Value)> {
        if self.kind.option(text).is_some() {
            return None;
        }
        let negated =
            text.get(..3).filter(|no| no.eq_ignore_ascii_case("no-")).and_then(|_| text.get(3..));
        if let Some(option) = negated.and_then(|name| self.kind.option(name)) {
            return (option.kind == OptionType::Flag).then_some((option, Value::Flag(false)));
        }
        let mut meant = self.kind.options().filter_map(|option| match option.kind {
            OptionType::Word(_) => option.kind.parse(text).ok().map(|value| (option, value)),
            OptionType::Flag
            | OptionType::Integer(..)
            | OptionType::Real(..)
            | OptionType::Text => None,
        });
        let first = meant.next();
        if meant.next().is_some() { None } else { first }
    }
}

/// Splits a text at its commas, except those within parentheses.
fn split_at_commas(text: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0_usize, 0);
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

/// Splits a command line into words. Single and double quotes keep spaces together; no other
/// character is special.
fn command_words(text: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for c in text.chars() {
        match quote {
            Some(mark) if c == mark => quote = None,
            None if c == '"' || c == '\'' => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            None if c.is_whitespace() => words.extend(word.take()),
            Some(_) | None => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

fn all_forms() -> String {
    KINDS.iter().map(|kind| kind.form).collect::<Vec<_>>().join(", ")
}

fn error(range: std::ops::Range<usize>, message: impl Into<String>) -> Diagnostic {
    Diagnostic::error("player-name", Span::new(range.start, range.end), message)
}

#[cfg(test)]
mod tests;
