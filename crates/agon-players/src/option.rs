//! Options of players: their types, defaults, and the values that a user has set.

use std::fmt;
use std::ops::RangeInclusive;

use serde_json::json;

use crate::PlayerKind;

/// An option of a player.
#[derive(Debug, PartialEq)]
pub struct OptionKind {
    /// The name, as it is written in a specification.
    pub name: &'static str,
    /// The values that the option can have.
    pub kind: OptionType,
    /// The value of an option that is not set.
    pub default: Value,
    /// What the option does.
    pub meaning: &'static str,
}

/// The values that an option can have.
#[derive(Copy, Clone, PartialEq, Debug)]
pub enum OptionType {
    /// On or off. The name alone means on.
    Flag,
    /// A whole number between two bounds, both included.
    Integer(u64, u64),
    /// A number between two bounds, both included.
    Real(f64, f64),
    /// One of a list of words.
    Word(&'static [&'static str]),
    /// Any text without commas and parentheses, such as a path.
    Text,
}

/// The value of an option.
#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    /// On or off.
    Flag(bool),
    /// A whole number.
    Integer(u64),
    /// A number.
    Real(f64),
    /// One of the words of the option's type.
    Word(&'static str),
    /// A text.
    Text(String),
}

/// The error of a text that is not a value of an option.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct InvalidValue {
    /// The type of the option.
    pub expected: OptionType,
}

impl fmt::Display for InvalidValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected {}", self.expected)
    }
}

impl std::error::Error for InvalidValue {}

impl OptionKind {
    /// Returns the option as JSON, with the keys of `agon players --json`.
    pub(crate) fn to_json(&self) -> serde_json::Value {
        let (word, range) = match self.kind {
            OptionType::Flag => ("flag", json!(null)),
            OptionType::Integer(low, high) => ("integer", json!([low, high])),
            OptionType::Real(low, high) => ("real", json!([low, high])),
            OptionType::Word(words) => ("word", json!(words)),
            OptionType::Text => ("text", json!(null)),
        };
        let default = match &self.default {
            Value::Flag(flag) => json!(flag),
            Value::Integer(n) => json!(n),
            Value::Real(x) => json!(x),
            Value::Word(word) => json!(word),
            Value::Text(text) => json!(text),
        };
        json!({"name": self.name, "type": word, "range": range, "default": default,
            "meaning": self.meaning})
    }

    pub(crate) const fn flag(
        name: &'static str,
        default: bool,
        meaning: &'static str,
    ) -> OptionKind {
        OptionKind { name, kind: OptionType::Flag, default: Value::Flag(default), meaning }
    }

    pub(crate) const fn integer(
        name: &'static str,
        range: RangeInclusive<u64>,
        default: u64,
        meaning: &'static str,
    ) -> OptionKind {
        let kind = OptionType::Integer(*range.start(), *range.end());
        OptionKind { name, kind, default: Value::Integer(default), meaning }
    }

    pub(crate) const fn real(
        name: &'static str,
        range: RangeInclusive<f64>,
        default: f64,
        meaning: &'static str,
    ) -> OptionKind {
        let kind = OptionType::Real(*range.start(), *range.end());
        OptionKind { name, kind, default: Value::Real(default), meaning }
    }

    /// Returns an option whose default is the first of its words.
    pub(crate) const fn word(
        name: &'static str,
        words: &'static [&'static str],
        meaning: &'static str,
    ) -> OptionKind {
        OptionKind { name, kind: OptionType::Word(words), default: Value::Word(words[0]), meaning }
    }

    /// Returns an option whose default is the empty text.
    pub(crate) const fn text(name: &'static str, meaning: &'static str) -> OptionKind {
        OptionKind { name, kind: OptionType::Text, default: Value::Text(String::new()), meaning }
    }
}

impl OptionType {
    /// Reads a value. Words and `on` or `off` are read without regard to case.
    ///
    /// # Errors
    /// [`InvalidValue`] if the text is not a value of this type.
    pub fn parse(&self, text: &str) -> Result<Value, InvalidValue> {
        let value = match *self {
            OptionType::Flag => match text.to_ascii_lowercase().as_str() {
                "true" | "on" | "yes" | "1" => Some(Value::Flag(true)),
                "false" | "off" | "no" | "0" => Some(Value::Flag(false)),
                _ => None,
            },
            OptionType::Integer(low, high) => text
                .replace('_', "")
                .parse::<u64>()
                .ok()
                .filter(|n| (low..=high).contains(n))
                .map(Value::Integer),
            OptionType::Real(low, high) => {
                text.parse::<f64>().ok().filter(|x| (low..=high).contains(x)).map(Value::Real)
            }
            OptionType::Word(words) => words
                .iter()
                .find(|word| word.eq_ignore_ascii_case(text))
                .map(|word| Value::Word(word)),
            OptionType::Text => Some(Value::Text(text.to_owned())),
        };
        value.ok_or(InvalidValue { expected: *self })
    }
}

impl fmt::Display for OptionType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OptionType::Flag => f.write_str("on or off"),
            OptionType::Integer(low, high) => write!(f, "a whole number from {low} to {high}"),
            OptionType::Real(low, high) => write!(f, "a number from {low} to {high}"),
            OptionType::Word(words) => write!(f, "one of {}", words.join(", ")),
            OptionType::Text => f.write_str("a path"),
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Flag(true) => f.write_str("on"),
            Value::Flag(false) => f.write_str("off"),
            Value::Integer(n) => write!(f, "{n}"),
            Value::Real(x) => write!(f, "{x}"),
            Value::Word(word) => f.write_str(word),
            Value::Text(text) => f.write_str(text),
        }
    }
}

/// The options of a player that a user has set; the others have their defaults.
///
/// The methods that return values panic if the kind of player has no option of that name and type,
/// because the names come from the code that reads the settings, not from the user.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    kind: &'static PlayerKind,
    set: Vec<(&'static str, Value)>,
}

impl Settings {
    /// Returns the settings of a kind of player with all defaults.
    pub(crate) fn new(kind: &'static PlayerKind) -> Settings {
        Settings { kind, set: Vec::new() }
    }

    /// Sets an option, and returns whether it was set before.
    pub(crate) fn set(&mut self, option: &'static OptionKind, value: Value) -> bool {
        let was_set = self.is_set(option.name);
        self.set.push((option.name, value));
        was_set
    }

    /// Returns whether the user has set an option.
    pub(crate) fn is_set(&self, name: &str) -> bool {
        self.set.iter().any(|(set, _)| *set == name)
    }

    fn value(&self, name: &str) -> &Value {
        let set = self.set.iter().rev().find(|(set, _)| *set == name).map(|(_, value)| value);
        set.or_else(|| self.kind.option(name).map(|option| &option.default))
            .unwrap_or_else(|| panic!("`{}` has an option `{name}`", self.kind.name))
    }

    /// Returns whether a flag is on.
    pub(crate) fn flag(&self, name: &str) -> bool {
        let Value::Flag(flag) = self.value(name) else { panic!("`{name}` is a flag") };
        *flag
    }

    /// Returns the value of an integer option.
    pub(crate) fn integer(&self, name: &str) -> u64 {
        let Value::Integer(n) = self.value(name) else { panic!("`{name}` is an integer") };
        *n
    }

    /// Returns the value of an integer option as a `u32`, or the largest `u32` below it.
    pub(crate) fn integer_u32(&self, name: &str) -> u32 {
        self.integer(name).try_into().unwrap_or(u32::MAX)
    }

    /// Returns the value of an integer option as a `usize`, or the largest `usize` below it.
    pub(crate) fn integer_usize(&self, name: &str) -> usize {
        self.integer(name).try_into().unwrap_or(usize::MAX)
    }

    /// Returns the value of a real-valued option.
    pub(crate) fn real(&self, name: &str) -> f64 {
        let Value::Real(x) = self.value(name) else { panic!("`{name}` is a number") };
        *x
    }

    /// Returns the value of a text option.
    pub(crate) fn text(&self, name: &str) -> &str {
        let Value::Text(text) = self.value(name) else { panic!("`{name}` is a text") };
        text
    }

    /// Returns the value of an option that is one of a list of words.
    pub(crate) fn word(&self, name: &str) -> &'static str {
        let Value::Word(word) = self.value(name) else { panic!("`{name}` is a word") };
        word
    }
}
