//! From the text of a tournament to a [`Tournament`]; what is wrong with it is said all at once, each thing with its place.

use agon_text::{Diagnostic, Diagnostics, Span};
use toml::de::{DeTable, DeValue};

use super::{Entrant, Sprt, Thinking, Tournament};
use crate::spec::closest;
use crate::{Spec, SpecKind, parse_spec};

/// The keys of a tournament, with an example of each.
const KEYS: [(&str, &str); 12] = [
    ("name", "name = \"my tournament\""),
    ("seed", "seed = 1"),
    ("repeats", "repeats = 10"),
    ("openings", "openings = 2"),
    ("iterations", "iterations = 1000"),
    ("start_clock", "start_clock = 5.0"),
    ("play_clock", "play_clock = 1.0"),
    ("margin", "margin = 0.1"),
    ("max_steps", "max_steps = 500"),
    ("games", "games = [\"tic-tac-toe\", \"connect-four\"]"),
    ("players", "players = [\"mcts\", \"random\"]"),
    ("sprt", "sprt = { elo0 = 0, elo1 = 20 }"),
];

const SPRT_KEYS: [(&str, &str); 4] = [
    ("elo0", "elo0 = 0"),
    ("elo1", "elo1 = 20"),
    ("alpha", "alpha = 0.05"),
    ("beta", "beta = 0.05"),
];

const PLAYER_KEYS: [(&str, &str); 2] =
    [("player", "player = \"mcts\""), ("threads", "threads = 1")];

/// A week, in seconds: no clock is longer.
const MAX_CLOCK: f64 = 7.0 * 24.0 * 3600.0;

type Value<'a, 'i> = &'a toml::Spanned<DeValue<'i>>;

/// Understands what a user wrote.
///
/// # Errors
/// Everything that is wrong with it; at least one finding.
pub fn read(text: &str) -> Result<Tournament, Diagnostics> {
    let table = DeTable::parse(text).map_err(|error| {
        let place = error.span().unwrap_or(0..0);
        // The parser may point behind the end, or between two bytes of a letter.
        let clip = |at: usize| {
            (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
        };
        let span = Span::new(clip(place.start), clip(place.end.max(place.start)));
        Diagnostics::from(
            finding(span, error.message()).hint("a tournament is written in TOML: key = value"),
        )
    })?;
    let mut reader = Reader { findings: Diagnostics::default() };
    let tournament = reader.tournament(table.get_ref(), Span::new(0, 0));
    match tournament.filter(|_| reader.findings.0.is_empty()) {
        Some(tournament) => Ok(tournament),
        None => {
            reader.findings.sort();
            Err(reader.findings)
        }
    }
}

struct Reader {
    findings: Diagnostics,
}

impl Reader {
    fn tournament(&mut self, table: &DeTable<'_>, start: Span) -> Option<Tournament> {
        self.know(table, &KEYS, "a tournament");
        let name =
            table.get("name").and_then(|value| self.text(value, "a name")).unwrap_or_default();
        let seed = self.whole(table, "seed", 0, u64::MAX).unwrap_or(1);
        let repeats = self.whole(table, "repeats", 1, 1_000_000).unwrap_or(1);
        let openings = self.whole(table, "openings", 0, 1000).unwrap_or(0);
        let max_steps = self.whole(table, "max_steps", 1, 1_000_000).unwrap_or(10_000);
        let games = self.games(table, start);
        let players = self.players(table, start);
        let thinking = self.thinking(table, &players, start);
        let sprt = table.get("sprt").and_then(|value| self.sprt(value, players.len()));
        Some(Tournament {
            name: if name.is_empty() { "tournament".to_owned() } else { name },
            seed,
            repeats,
            openings: usize::try_from(openings).ok()?,
            thinking: thinking?,
            max_steps: usize::try_from(max_steps).ok()?,
            games,
            players,
            sprt,
        })
    }

    fn games(&mut self, table: &DeTable<'_>, start: Span) -> Vec<String> {
        let Some(value) = table.get("games") else {
            self.miss(start, "no game is given", "games");
            return Vec::new();
        };
        let DeValue::Array(list) = value.get_ref() else {
            self.wrong(value, "a list of games", "games");
            return Vec::new();
        };
        if list.is_empty() {
            self.miss(span(value), "no game is given", "games");
        }
        let mut games: Vec<String> = Vec::new();
        for entry in list.iter() {
            let Some(game) = self.text(entry, "a shipped game's name, or a path from here") else {
                continue;
            };
            if game.is_empty() || game == "-" {
                let empty = finding(span(entry), "no game is called that");
                self.findings
                    .push(empty.hint("a shipped game's name, or a path from here to a rulesheet"));
            } else if games.contains(&game) {
                let twice = finding(span(entry), format!("the game `{game}` is there twice"));
                self.findings.push(twice.hint("remove one; `repeats` has it played more often"));
            } else {
                games.push(game);
            }
        }
        games
    }

    /// A list of players, or a table in which each has a name.
    fn players(&mut self, table: &DeTable<'_>, start: Span) -> Vec<Entrant> {
        let Some(value) = table.get("players") else {
            self.miss(start, "no player is given", "players");
            return Vec::new();
        };
        let mut entries: Vec<(Option<(String, Span)>, Value<'_, '_>)> = match value.get_ref() {
            DeValue::Array(list) => list.iter().map(|entry| (None, entry)).collect(),
            DeValue::Table(table) => {
                let named = table.iter().map(|(name, entry)| {
                    let place = Span::new(name.span().start, name.span().end);
                    (Some((name.get_ref().to_string(), place)), entry)
                });
                named.collect()
            }
            _ => {
                self.wrong(value, "a list of players", "players");
                return Vec::new();
            }
        };
        // Tables come in the order of the alphabet, and are meant in that of the page.
        entries.sort_by_key(|(_, entry)| entry.span().start);
        let mut players: Vec<Entrant> = Vec::new();
        for (name, entry) in &entries {
            let Some((spec, threads)) = self.player(entry) else { continue };
            let (name, place) = name.clone().unwrap_or_else(|| (spec.text.clone(), span(entry)));
            if players.iter().any(|other| other.name == name) {
                let twice = finding(place, format!("two players are called `{name}`"));
                self.findings.push(twice.hint(format!(
                    "give them names: [players] and below it first = \"{name}\" and second = \"{name}\""
                )));
            } else if name.trim().is_empty() {
                self.findings.push(
                    finding(place, "a player needs a name").hint("such as strong = \"mcts\""),
                );
            } else {
                players.push(Entrant { name, spec, threads });
            }
        }
        if entries.len() < 2 {
            let alone = finding(
                span(value),
                format!("a tournament takes two players, and here are {}", entries.len()),
            );
            self.findings.push(alone.hint("such as players = [\"mcts\", \"random\"]"));
        }
        players
    }

    /// A player's spec, or a table with that and more.
    fn player(&mut self, entry: Value<'_, '_>) -> Option<(Spec, Option<usize>)> {
        let (value, threads) = match entry.get_ref() {
            DeValue::Table(table) => {
                self.know(table, &PLAYER_KEYS, "a player");
                let Some(value) = table.get("player") else {
                    self.miss(span(entry), "it is not said who plays", "player");
                    return None;
                };
                (value, self.whole(table, "threads", 0, 4096))
            }
            _ => (entry, None),
        };
        let text = self.text(value, "a player such as \"mcts\"")?;
        match parse_spec(&text) {
            Ok(spec) if spec.kind == SpecKind::Human => {
                let person = finding(span(value), "a person cannot play a tournament");
                self.findings.push(person.hint("`agon play GAME` is for people"));
                None
            }
            Ok(spec) => Some((spec, threads.and_then(|n| usize::try_from(n).ok()))),
            Err(inner) => {
                // The finding's place is one within the text, which stands behind a quotation mark and as it is, if nothing is escaped.
                let outer = span(value);
                let is_plain = outer.end() - outer.start() == text.len() + 2;
                let place = if is_plain {
                    let from = outer.start() + 1;
                    Span::new(from + inner.span.start(), from + inner.span.end())
                } else {
                    outer
                };
                self.findings.push(Diagnostic { span: place, code: CODE, ..*inner });
                None
            }
        }
    }

    fn thinking(
        &mut self,
        table: &DeTable<'_>,
        players: &[Entrant],
        start: Span,
    ) -> Option<Thinking> {
        let iterations = self.whole(table, "iterations", 1, u64::MAX);
        let play_clock = self.real(table, "play_clock", 0.001, MAX_CLOCK);
        let start_clock = self.real(table, "start_clock", 0.0, MAX_CLOCK);
        let margin = self.real(table, "margin", 0.0, MAX_CLOCK);
        let has_outside =
            players.iter().any(|player| !matches!(player.spec.kind, SpecKind::BuiltIn(..)));
        match (table.get("iterations"), table.get("play_clock")) {
            (None, None) => {
                let missing = finding(start, "it is not said how long the players think");
                self.findings.push(
                    missing.hint("write `iterations = 1000`, which can be repeated exactly, or `play_clock = 1.0`, in seconds"),
                );
                return None;
            }
            (Some(counted), Some(timed)) if !has_outside => {
                let both = finding(
                    span(timed),
                    "the players think by the clock or by iterations, not both",
                );
                self.findings.push(
                    both.note(span(counted), "iterations are given here")
                        .hint("remove one of them"),
                );
            }
            (Some(_), None) if has_outside && play_clock.is_none() => {
                let missing = finding(start, "players outside of this program need a clock");
                self.findings.push(missing.hint(
                    "add `play_clock = 1.0`: our own players count iterations all the same, the others have so many seconds",
                ));
            }
            (Some(_), Some(_) | None) | (None, Some(_)) => {}
        }
        for key in ["start_clock", "margin"] {
            if let (Some(value), None) = (table.get(key), table.get("play_clock")) {
                let idle =
                    finding(span(value), format!("`{key}` means nothing without `play_clock`"));
                self.findings.push(idle.hint("remove it, or add `play_clock = 1.0`"));
            }
        }
        if let (Some(margin), Some(play_clock), Some(value)) =
            (margin, play_clock, table.get("margin"))
            && margin >= play_clock
        {
            let all = finding(span(value), "the margin leaves no time to think");
            self.findings.push(all.hint(format!("less than play_clock, which is {play_clock}")));
        }
        let play_clock = play_clock.unwrap_or(10.0);
        Some(Thinking {
            iterations,
            start_clock: start_clock.unwrap_or(play_clock),
            play_clock,
            margin,
        })
    }

    fn sprt(&mut self, value: Value<'_, '_>, n_players: usize) -> Option<Sprt> {
        let DeValue::Table(table) = value.get_ref() else {
            self.wrong(value, "a table", "sprt");
            return None;
        };
        self.know(table, &SPRT_KEYS, "sprt");
        let elo0 = self.real(table, "elo0", -1000.0, 1000.0);
        let elo1 = self.real(table, "elo1", -1000.0, 1000.0);
        let alpha = self.real(table, "alpha", 1e-6, 0.49).unwrap_or(0.05);
        let beta = self.real(table, "beta", 1e-6, 0.49).unwrap_or(0.05);
        for key in ["elo0", "elo1"] {
            if table.get(key).is_none() {
                self.miss(span(value), &format!("`{key}` is missing"), key);
            }
        }
        let (elo0, elo1) = (elo0?, elo1?);
        if elo0 >= elo1 {
            let order =
                finding(span(value), format!("elo0 is below elo1, and not {elo0} and {elo1}"));
            self.findings.push(
                order.hint("elo0 is the weaker claim: the first player is no better than this"),
            );
        }
        if n_players != 2 {
            let many = finding(
                span(value),
                format!("sprt decides between two players, and here are {n_players}"),
            );
            self.findings.push(many.hint("remove `sprt`, or leave two players"));
        }
        Some(Sprt { elo0, elo1, alpha, beta })
    }

    /// Refuses keys that mean nothing.
    fn know(&mut self, table: &DeTable<'_>, known: &[(&str, &str)], what: &str) {
        for (key, _) in table.iter() {
            let name: &str = key.get_ref();
            if known.iter().any(|(other, _)| *other == name) {
                continue;
            }
            let place = Span::new(key.span().start, key.span().end);
            let unknown = finding(place, format!("{what} has no `{name}`"));
            let names = known.iter().map(|(other, _)| *other);
            self.findings.push(match closest(name, names.clone()) {
                Some(other) => unknown.hint(format!("did you mean `{other}`?")),
                None => unknown.hint(format!("it has {}", names.collect::<Vec<_>>().join(", "))),
            });
        }
    }

    fn text(&mut self, value: Value<'_, '_>, what: &str) -> Option<String> {
        if let DeValue::String(text) = value.get_ref() {
            return Some(text.to_string());
        }
        let found = value.get_ref().type_str();
        let wrong =
            finding(span(value), format!("here is {} {found}, and not {what}", article(found)));
        self.findings.push(wrong.hint("put it in quotation marks"));
        None
    }

    fn whole(
        &mut self,
        table: &DeTable<'_>,
        key: &'static str,
        low: u64,
        high: u64,
    ) -> Option<u64> {
        let value = table.get(key)?;
        let number = match value.get_ref() {
            DeValue::Integer(number) => u64::from_str_radix(number.as_str(), number.radix()).ok(),
            _ => None,
        };
        let number = number.filter(|number| (low..=high).contains(number));
        if number.is_none() {
            let what = match high {
                u64::MAX => format!("a whole number from {low} on"),
                _ => format!("a whole number from {low} to {high}"),
            };
            self.wrong(value, &what, key);
        }
        number
    }

    fn real(&mut self, table: &DeTable<'_>, key: &'static str, low: f64, high: f64) -> Option<f64> {
        let value = table.get(key)?;
        let number = match value.get_ref() {
            DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix())
                .ok()
                .map(|number| number as f64),
            DeValue::Float(number) => number.as_str().parse::<f64>().ok(),
            _ => None,
        };
        let number = number.filter(|number| (low..=high).contains(number));
        if number.is_none() {
            self.wrong(value, &format!("a number from {low} to {high}"), key);
        }
        number
    }

    fn wrong(&mut self, value: Value<'_, '_>, what: &str, key: &str) {
        let wrong = finding(span(value), format!("`{key}` is {what}"));
        self.findings.push(wrong.hint(format!("such as {}", example(key))));
    }

    fn miss(&mut self, place: Span, message: &str, key: &str) {
        self.findings.push(finding(place, message).hint(format!("add {}", example(key))));
    }
}

const CODE: &str = "tournament";

fn finding(span: Span, message: impl Into<String>) -> Diagnostic {
    Diagnostic::error(CODE, span, message)
}

fn span(value: Value<'_, '_>) -> Span {
    Span::new(value.span().start, value.span().end)
}

fn article(noun: &str) -> &'static str {
    if noun.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" }
}

fn example(key: &str) -> &'static str {
    let all = KEYS.iter().chain(&SPRT_KEYS).chain(&PLAYER_KEYS);
    all.into_iter().find(|(name, _)| *name == key).map_or("", |(_, example)| example)
}
