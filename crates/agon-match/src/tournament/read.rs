//! Parses the TOML text of a tournament. All errors are reported at once, each with its place.

use agon_text::{Diagnostic, Diagnostics, Span};
use toml::de::{DeTable, DeValue};

use super::{Entrant, EntrantKind, ParseEntrant, Sprt, Thinking, Tournament};

/// The keys of a tournament, each with an example.
const KEYS: [(&str, &str); 13] = [
    ("name", "name = \"my tournament\""),
    ("seed", "seed = 1"),
    ("repeats", "repeats = 10"),
    ("openings", "openings = 2"),
    ("iterations", "iterations = 1000"),
    ("start_clock", "start_clock = 5.0"),
    ("play_clock", "play_clock = 1.0"),
    ("margin", "margin = 0.1"),
    ("ponder", "ponder = true"),
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

/// Maximum length of a clock in seconds: one week.
const MAX_CLOCK: f64 = 7.0 * 24.0 * 3600.0;

type Value<'a, 'i> = &'a toml::Spanned<DeValue<'i>>;

/// Parses the specification of a tournament. `parse_player` parses the specification of a player.
///
/// # Errors
/// All errors in the text; at least one diagnostic.
pub fn read(text: &str, parse_player: ParseEntrant<'_>) -> Result<Tournament, Diagnostics> {
    let table = DeTable::parse(text).map_err(|toml_error| {
        let place = toml_error.span().unwrap_or(0..0);
        // The parser may point behind the end, or between two bytes of a character.
        let clip = |at: usize| {
            (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
        };
        let span = Span::new(clip(place.start), clip(place.end.max(place.start)));
        Diagnostics::from(
            error(span, toml_error.message()).hint("a tournament is written in TOML: key = value"),
        )
    })?;
    let mut reader = Reader { diagnostics: Diagnostics::default(), parse_player };
    let tournament = reader.tournament(table.get_ref(), Span::new(0, 0));
    match tournament.filter(|_| reader.diagnostics.0.is_empty()) {
        Some(tournament) => Ok(tournament),
        None => {
            reader.diagnostics.sort();
            Err(reader.diagnostics)
        }
    }
}

struct Reader<'p> {
    diagnostics: Diagnostics,
    parse_player: ParseEntrant<'p>,
}

impl Reader<'_> {
    fn tournament(&mut self, table: &DeTable<'_>, start: Span) -> Option<Tournament> {
        self.check_keys(table, &KEYS, "a tournament");
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
            self.report_missing(start, "no game is given", "games");
            return Vec::new();
        };
        let DeValue::Array(list) = value.get_ref() else {
            self.report_type(value, "a list of games", "games");
            return Vec::new();
        };
        if list.is_empty() {
            self.report_missing(span(value), "no game is given", "games");
        }
        let mut games: Vec<String> = Vec::new();
        for entry in list.iter() {
            let Some(game) = self.text(entry, "the name of a shipped game or a path from here")
            else {
                continue;
            };
            if game.is_empty() || game == "-" {
                let empty = error(span(entry), "this is not the name of a game");
                self.diagnostics.push(
                    empty.hint(
                        "write the name of a shipped game, or a path to a rulesheet from here",
                    ),
                );
            } else if games.contains(&game) {
                let twice = error(span(entry), format!("the game `{game}` is listed twice"));
                self.diagnostics
                    .push(twice.hint("remove one; `repeats` plays each game more often"));
            } else {
                games.push(game);
            }
        }
        games
    }

    /// Reads a list of players, or a table in which each player has a name.
    fn players(&mut self, table: &DeTable<'_>, start: Span) -> Vec<Entrant> {
        let Some(value) = table.get("players") else {
            self.report_missing(start, "no player is given", "players");
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
                self.report_type(value, "a list of players", "players");
                return Vec::new();
            }
        };
        // The parser sorts tables by name. Players are listed in the order of the text.
        entries.sort_by_key(|(_, entry)| entry.span().start);
        let mut players: Vec<Entrant> = Vec::new();
        for (name, entry) in &entries {
            let Some(entrant) = self.player(entry) else { continue };
            let (name, place) =
                name.clone().unwrap_or_else(|| (entrant.player.clone(), span(entry)));
            if players.iter().any(|other| other.name == name) {
                let twice = error(place, format!("two players are called `{name}`"));
                self.diagnostics.push(twice.hint(format!(
                    "give them names: write [players] and below it first = \"{name}\" and \
                     second = \"{name}\""
                )));
            } else if name.trim().is_empty() {
                self.diagnostics.push(
                    error(place, "a player needs a name")
                        .hint("write, for instance, strong = \"mcts\""),
                );
            } else {
                players.push(Entrant { name, ..entrant });
            }
        }
        if entries.len() < 2 {
            let alone = error(
                span(value),
                format!("a tournament needs at least two players, but there are {}", entries.len()),
            );
            self.diagnostics
                .push(alone.hint("write, for instance, players = [\"mcts\", \"random\"]"));
        }
        players
    }

    /// Reads the specification of a player, or a table that contains one.
    fn player(&mut self, entry: Value<'_, '_>) -> Option<Entrant> {
        let (value, threads) = match entry.get_ref() {
            DeValue::Table(table) => {
                self.check_keys(table, &PLAYER_KEYS, "a player");
                let Some(value) = table.get("player") else {
                    self.report_missing(span(entry), "the key `player` is missing", "player");
                    return None;
                };
                (value, self.whole(table, "threads", 0, 4096))
            }
            _ => (entry, None),
        };
        let text = self.text(value, "a player such as \"mcts\"")?;
        match (self.parse_player)(&text) {
            Ok(EntrantKind::Person) => {
                let person = error(span(value), "a person cannot take part in a tournament");
                self.diagnostics.push(person.hint("`agon play GAME` is for people"));
                None
            }
            Ok(kind @ (EntrantKind::InProcess | EntrantKind::Outside)) => Some(Entrant {
                name: String::new(),
                player: text.trim().to_owned(),
                is_outside: kind == EntrantKind::Outside,
                threads: threads.and_then(|n| usize::try_from(n).ok()),
            }),
            Err(inner) => {
                // The span is relative to the string. In the file the string follows a quotation
                // mark, and it has the same bytes if nothing is escaped.
                let outer = span(value);
                let is_plain = outer.end() - outer.start() == text.len() + 2;
                let place = if is_plain {
                    let from = outer.start() + 1;
                    Span::new(from + inner.span.start(), from + inner.span.end())
                } else {
                    outer
                };
                self.diagnostics.push(Diagnostic { span: place, code: CODE, ..*inner });
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
        let ponder = self.truth(table, "ponder");
        let has_outside = players.iter().any(|player| player.is_outside);
        match (table.get("iterations"), table.get("play_clock")) {
            (None, None) => {
                let missing = error(start, "the thinking time is missing");
                self.diagnostics.push(missing.hint(
                    "write `iterations = 1000`, which gives the same matches every time, or \
                     `play_clock = 1.0`, in seconds",
                ));
                return None;
            }
            (Some(counted), Some(timed)) if !has_outside => {
                let both =
                    error(span(timed), "players think by the clock or by iterations, not both");
                self.diagnostics.push(
                    both.note(span(counted), "iterations are given here")
                        .hint("remove one of them"),
                );
            }
            (Some(_), None) if has_outside && play_clock.is_none() => {
                let missing = error(start, "players outside of this process need a clock");
                self.diagnostics.push(missing.hint(
                    "add `play_clock = 1.0`: it limits the players outside; built-in players still \
                     count iterations",
                ));
            }
            (Some(_), Some(_) | None) | (None, Some(_)) => {}
        }
        self.check_clocks(table, margin, play_clock);
        let play_clock = play_clock.unwrap_or(10.0);
        Some(Thinking {
            iterations,
            start_clock: start_clock.unwrap_or(play_clock),
            play_clock,
            margin,
            ponder: ponder.unwrap_or(false),
        })
    }

    /// Reports settings that have no effect, and a margin that uses up the clock.
    fn check_clocks(&mut self, table: &DeTable<'_>, margin: Option<f64>, play_clock: Option<f64>) {
        for key in ["start_clock", "margin", "ponder"] {
            if let (Some(value), None) = (table.get(key), table.get("play_clock")) {
                let idle =
                    error(span(value), format!("`{key}` has no effect without `play_clock`"));
                self.diagnostics.push(idle.hint("remove it, or add `play_clock = 1.0`"));
            }
        }
        if let (Some(margin), Some(play_clock), Some(value)) =
            (margin, play_clock, table.get("margin"))
            && margin >= play_clock
        {
            let all = error(span(value), "the margin leaves no time to think");
            self.diagnostics
                .push(all.hint(format!("it must be less than play_clock, which is {play_clock}")));
        }
    }

    fn sprt(&mut self, value: Value<'_, '_>, n_players: usize) -> Option<Sprt> {
        let DeValue::Table(table) = value.get_ref() else {
            self.report_type(value, "a table", "sprt");
            return None;
        };
        self.check_keys(table, &SPRT_KEYS, "sprt");
        let elo0 = self.real(table, "elo0", -1000.0, 1000.0);
        let elo1 = self.real(table, "elo1", -1000.0, 1000.0);
        let alpha = self.real(table, "alpha", 1e-6, 0.49).unwrap_or(0.05);
        let beta = self.real(table, "beta", 1e-6, 0.49).unwrap_or(0.05);
        for key in ["elo0", "elo1"] {
            if table.get(key).is_none() {
                self.report_missing(span(value), &format!("`{key}` is missing"), key);
            }
        }
        let (elo0, elo1) = (elo0?, elo1?);
        if elo0 >= elo1 {
            let order = error(
                span(value),
                format!("elo0 must be less than elo1, but they are {elo0} and {elo1}"),
            );
            self.diagnostics.push(
                order.hint(
                    "elo0 is the weaker hypothesis: the first player is not stronger than this",
                ),
            );
        }
        if n_players != 2 {
            let many = error(
                span(value),
                format!("sprt needs exactly two players, but there are {n_players}"),
            );
            self.diagnostics.push(many.hint("remove `sprt`, or keep two players"));
        }
        Some(Sprt { elo0, elo1, alpha, beta })
    }

    /// Reports keys that are not known.
    fn check_keys(&mut self, table: &DeTable<'_>, known: &[(&str, &str)], what: &str) {
        for (key, _) in table.iter() {
            let name: &str = key.get_ref();
            if known.iter().any(|(other, _)| *other == name) {
                continue;
            }
            let place = Span::new(key.span().start, key.span().end);
            let unknown = error(place, format!("{what} has no key `{name}`"));
            let names = known.iter().map(|(other, _)| *other);
            self.diagnostics.push(match agon_text::did_you_mean(name, names.clone()) {
                Some(other) => unknown.hint(format!("did you mean `{other}`?")),
                None => {
                    unknown.hint(format!("the keys are {}", names.collect::<Vec<_>>().join(", ")))
                }
            });
        }
    }

    fn text(&mut self, value: Value<'_, '_>, what: &str) -> Option<String> {
        if let DeValue::String(text) = value.get_ref() {
            return Some(text.to_string());
        }
        let found = value.get_ref().type_str();
        let wrong =
            error(span(value), format!("expected {what}, found {} {found}", article(found)));
        self.diagnostics.push(wrong.hint("write it in quotation marks"));
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
                u64::MAX => format!("a whole number of at least {low}"),
                _ => format!("a whole number from {low} to {high}"),
            };
            self.report_type(value, &what, key);
        }
        number
    }

    fn truth(&mut self, table: &DeTable<'_>, key: &'static str) -> Option<bool> {
        let value = table.get(key)?;
        let DeValue::Boolean(truth) = value.get_ref() else {
            self.report_type(value, "`true` or `false`", key);
            return None;
        };
        Some(*truth)
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
            self.report_type(value, &format!("a number from {low} to {high}"), key);
        }
        number
    }

    /// Reports that the value of a key does not have the right form.
    fn report_type(&mut self, value: Value<'_, '_>, what: &str, key: &str) {
        let wrong = error(span(value), format!("`{key}` must be {what}"));
        self.diagnostics.push(wrong.hint(format!("write, for instance, {}", example(key))));
    }

    /// Reports that a key is missing.
    fn report_missing(&mut self, place: Span, message: &str, key: &str) {
        self.diagnostics.push(error(place, message).hint(format!("add {}", example(key))));
    }
}

const CODE: &str = "tournament";

/// Makes a diagnostic of this module.
fn error(span: Span, message: impl Into<String>) -> Diagnostic {
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
