//! A player as a user names it: `random`, `mcts(rave,c=0.4)`, `human`, `http://host:9147`, `cmd:./my-bot`.

use agon_text::{Diagnostic, Span};

use crate::{KINDS, Kind, OptionKind, OptionType, Origin, Settings, Value};

/// A player as a user names it, understood.
#[derive(Clone, Debug, PartialEq)]
pub struct Spec {
    /// As it was written, without the space around it.
    pub text: String,
    /// What it means.
    pub kind: SpecKind,
}

/// What a player's name means.
#[derive(Clone, Debug)]
pub enum SpecKind {
    /// A player of our own, with what was set of its options.
    BuiltIn(&'static Kind, Settings),
    /// A person at the terminal.
    Human,
    /// A player elsewhere.
    Http(Address),
    /// A program and its arguments: at least one word.
    Command(Vec<String>),
}

impl PartialEq for SpecKind {
    fn eq(&self, other: &SpecKind) -> bool {
        match (self, other) {
            (SpecKind::BuiltIn(a, ours), SpecKind::BuiltIn(b, theirs)) => {
                a.name == b.name && ours == theirs
            }
            (SpecKind::Human, SpecKind::Human) => true,
            (SpecKind::Http(a), SpecKind::Http(b)) => a == b,
            (SpecKind::Command(a), SpecKind::Command(b)) => a == b,
            (
                SpecKind::BuiltIn(..) | SpecKind::Human | SpecKind::Http(_) | SpecKind::Command(_),
                _,
            ) => false,
        }
    }
}

/// Where a player listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// A name or a number; IPv6 without its brackets.
    pub host: String,
    /// The port.
    pub port: u16,
    /// What comes after it, `/` at least.
    pub path: String,
}

/// The port where players listen unless told otherwise.
const DEFAULT_PORT: u16 = 9147;

impl Spec {
    /// The player of our own of that name with all options as they are. The table must have it.
    pub fn built_in(name: &str) -> Spec {
        let kind = Kind::named(name).expect("the table of players has it");
        Spec { text: name.to_owned(), kind: SpecKind::BuiltIn(kind, Settings::new(kind)) }
    }
}

/// A list of players with commas between them. A comma within parentheses or quotes belongs to the player.
pub fn parse_list(text: &str) -> Result<Vec<Spec>, Box<Diagnostic>> {
    let mut specs = Vec::new();
    let mut start = 0;
    for end in commas(text)?.into_iter().chain([text.len()]) {
        specs.push(parse_at(text, start, end)?);
        start = end + 1;
    }
    Ok(specs)
}

/// A single player.
pub fn parse_spec(text: &str) -> Result<Spec, Box<Diagnostic>> {
    parse_at(text, 0, text.len())
}

/// The byte places of the commas that part players.
fn commas(text: &str) -> Result<Vec<usize>, Box<Diagnostic>> {
    let (mut found, mut open, mut quote) = (Vec::new(), Vec::new(), None::<(usize, char)>);
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (Some((_, mark)), _) if c == mark => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some((at, c)),
            (None, '(') => open.push(at),
            (None, ')') if open.pop().is_none() => {
                return Err(error(Span::new(at, at + 1), "nothing is open that this would close")
                    .hint("remove it, or write the `(` that belongs to it")
                    .into());
            }
            (None, ',') if open.is_empty() => found.push(at),
            (None, _) => {}
        }
    }
    let unclosed = quote.map(|(at, _)| at).or_else(|| open.pop());
    match unclosed {
        None => Ok(found),
        Some(at) => Err(error(Span::new(at, at + 1), "this is never closed")
            .hint("close it before the end")
            .into()),
    }
}

/// The player between two byte places of a text; errors name places of the whole text.
fn parse_at(whole: &str, start: usize, end: usize) -> Result<Spec, Box<Diagnostic>> {
    let start = start + (whole[start..end].len() - whole[start..end].trim_start().len());
    let text = whole[start..end].trim();
    let span = |from: usize, to: usize| Span::new(start + from, start + to);
    let all = span(0, text.len());
    let kind = if text.is_empty() {
        return Err(error(all, "a player's name is missing here")
            .hint(format!("one of {}", names()))
            .into());
    } else if let Some(rest) = text.strip_prefix("http://") {
        SpecKind::Http(address(rest).map_err(|what| {
            error(all, what).hint("write it as http://HOST:PORT, such as http://localhost:9147")
        })?)
    } else if text.starts_with("https://") {
        return Err(error(span(0, 5), "players are spoken to in plain http")
            .hint(format!("write http{}", &text[5..]))
            .into());
    } else if let Some(command) = text.strip_prefix("cmd:") {
        let words = words(command);
        if words.is_empty() {
            return Err(error(all, "the program is missing").hint("such as cmd:./my-bot").into());
        }
        SpecKind::Command(words)
    } else {
        named(text, &span)?
    };
    Ok(Spec { text: text.to_owned(), kind })
}

fn named(text: &str, span: &dyn Fn(usize, usize) -> Span) -> Result<SpecKind, Box<Diagnostic>> {
    let name_end = text.find('(').unwrap_or(text.len());
    let name = text[..name_end].trim_end();
    let Some(kind) = Kind::named(name) else {
        let unknown = error(span(0, name.len()), format!("no player is called `{name}`"));
        return Err(match closest(name, KINDS.iter().map(|kind| kind.name)) {
            Some(other) => {
                unknown.hint(format!("did you mean `{other}`? `agon players` lists them all"))
            }
            None => unknown.hint(format!("one of {}", names())),
        }
        .into());
    };
    let mut settings = Settings::new(kind);
    if name_end < text.len() {
        let Some(inside) = text[name_end + 1..].strip_suffix(')') else {
            let close = text.rfind(')').map_or(text.len(), |at| at + 1);
            return Err(error(span(close, text.len()), "nothing may follow the options").into());
        };
        read_settings(kind, inside, name_end + 1, "", span, &mut settings)?;
    }
    match (kind.origin, kind.name) {
        (Origin::BuiltIn, _) => Ok(SpecKind::BuiltIn(kind, settings)),
        (Origin::Outside, "human") => Ok(SpecKind::Human),
        (Origin::Outside, _) => {
            Err(error(span(0, text.len()), format!("`{name}` needs more than its name"))
                .hint(format!("write it as {}", kind.form))
                .into())
        }
    }
}

/// Options with commas between them, as they stand in a text from the byte `at` on. A word may have options of its own:
/// `eval=concepts(plays=100)` is `eval=concepts, concepts-plays=100`.
fn read_settings(
    kind: &'static Kind,
    inside: &str,
    mut at: usize,
    prefix: &str,
    span: &dyn Fn(usize, usize) -> Span,
    settings: &mut Settings,
) -> Result<(), Box<Diagnostic>> {
    for part in parts(inside) {
        let from = at + (part.len() - part.trim_start().len());
        at += part.len() + 1;
        let part = part.trim();
        if part.is_empty() {
            continue;
        }
        let place = |from_byte: usize, to_byte: usize| span(from + from_byte, from + to_byte);
        let (own, nested) = match part.find('(').filter(|_| part.ends_with(')')) {
            Some(open) => {
                (part[..open].trim_end(), Some((open + 1, &part[open + 1..part.len() - 1])))
            }
            None => (part, None),
        };
        let named = format!("{prefix}{own}");
        let is_of_prefix =
            kind.option(named.split('=').next().unwrap_or_default().trim_end()).is_some();
        let (option, value) = setting(kind, if is_of_prefix { &named } else { own }, &place)?;
        if settings.set(option, value) {
            return Err(error(
                place(0, part.len()),
                format!("`{}` is set a second time", option.name),
            )
            .into());
        }
        if let Some((open, nested)) = nested {
            let Value::Word(word) = value else {
                return Err(error(
                    place(open - 1, part.len()),
                    "only a word has options of its own",
                )
                .into());
            };
            if !prefix.is_empty() {
                return Err(error(place(open - 1, part.len()), "this is nested too deeply").into());
            }
            read_settings(kind, nested, from + open, &format!("{word}-"), span, settings)?;
        }
    }
    Ok(())
}

/// The parts between commas; a comma within parentheses parts nothing.
fn parts(text: &str) -> Vec<&str> {
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

/// An option with its value: `name` or `name=value`.
fn setting(
    kind: &'static Kind,
    part: &str,
    place: &dyn Fn(usize, usize) -> Span,
) -> Result<(&'static OptionKind, Value), Box<Diagnostic>> {
    let (name, value) = match part.split_once('=') {
        Some((name, value)) => (name.trim_end(), Some(value)),
        None => (part, None),
    };
    if value.is_none()
        && let Some(setting) = shorthand(kind, name)
    {
        return Ok(setting);
    }
    let Some(option) = kind.option(name) else {
        let unknown =
            error(place(0, name.len()), format!("`{}` has no option `{name}`", kind.name));
        let known: Vec<&str> = kind.options.iter().map(|option| option.name).collect();
        let unknown = match closest(name, known.iter().copied()) {
            Some(other) => unknown.hint(format!("did you mean `{other}`?")),
            None => unknown,
        };
        return Err(match known.as_slice() {
            [] => unknown.hint("it has none at all"),
            known => unknown.hint(format!("it has {}", known.join(", "))),
        }
        .into());
    };
    let Some(value) = value else {
        return match option.kind {
            OptionType::Flag => Ok((option, Value::Flag(true))),
            OptionType::Integer(..)
            | OptionType::Real(..)
            | OptionType::Word(_)
            | OptionType::Text => {
                Err(error(place(0, part.len()), format!("`{name}` needs a value: {}", option.kind))
                    .hint(format!("write {}={}", option.name, option.default))
                    .into())
            }
        };
    };
    let value_at = part.len() - value.trim_start().len();
    match option.kind.parse(value.trim()) {
        Ok(value) => Ok((option, value)),
        Err(wanted) => {
            let message = format!("`{}` cannot be `{}`", option.name, value.trim());
            Err(error(place(value_at, part.len()), message).hint(wanted).into())
        }
    }
}

/// A setting by its value alone: `rave` for `amaf=rave`, `no-solver` for `solver=off`. None if it is not that, or if two options
/// have such a value.
fn shorthand(kind: &'static Kind, text: &str) -> Option<(&'static OptionKind, Value)> {
    if kind.option(text).is_some() {
        return None;
    }
    let negated =
        text.get(..3).filter(|no| no.eq_ignore_ascii_case("no-")).and_then(|_| text.get(3..));
    if let Some(option) = negated.and_then(|name| kind.option(name)) {
        return (option.kind == OptionType::Flag).then_some((option, Value::Flag(false)));
    }
    let mut meant = kind.options.iter().filter_map(|option| match option.kind {
        OptionType::Word(_) => option.kind.parse(text).ok().map(|value| (option, value)),
        OptionType::Flag | OptionType::Integer(..) | OptionType::Real(..) | OptionType::Text => {
            None
        }
    });
    let first = meant.next();
    if meant.next().is_some() { None } else { first }
}

/// `HOST[:PORT][/PATH]`.
fn address(text: &str) -> Result<Address, String> {
    let (authority, path) = match text.find('/') {
        Some(at) => (&text[..at], &text[at..]),
        None => (text, "/"),
    };
    let is_proper = |c: char| c.is_ascii_graphic() && !matches!(c, '"' | '\\' | '<' | '>' | '@');
    if !text.chars().all(is_proper) {
        return Err("an address is made of letters, digits and few other signs".to_owned());
    }
    let (host, port) = match authority.strip_prefix('[') {
        Some(rest) => {
            let (host, after) = rest.split_once(']').ok_or("the `[` is never closed")?;
            (host, after.strip_prefix(':'))
        }
        None => match authority.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (authority, None),
        },
    };
    if host.is_empty() {
        return Err("the host is missing".to_owned());
    }
    let port = match port {
        None => DEFAULT_PORT,
        Some(port) => match port.parse::<u16>() {
            Ok(port) if port > 0 => port,
            _ => return Err(format!("`{port}` is not a port: a number from 1 to 65535")),
        },
    };
    Ok(Address { host: host.to_owned(), port, path: path.to_owned() })
}

/// The words of a command line; quotes of either kind keep spaces together, and nothing else is special.
fn words(text: &str) -> Vec<String> {
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

fn names() -> String {
    KINDS.iter().map(|kind| kind.form).collect::<Vec<_>>().join(", ")
}

pub(crate) fn closest<'a>(name: &str, among: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let name = name.to_lowercase();
    // Somebody who writes the beginning means the rest.
    let distance = |other: &&str| {
        let is_beginning = name.len() >= 2 && other.starts_with(&name);
        if is_beginning { 0 } else { strsim::damerau_levenshtein(other, &name) }
    };
    among.min_by_key(distance).filter(|best| distance(best) <= 1 + name.len() / 4)
}

fn error(span: Span, message: impl Into<String>) -> Diagnostic {
    Diagnostic::error("player-name", span, message)
}
