//! Training sets: moves of search trees with the payoffs of the plays through them.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::{Value, json};

/// Moves with payoff statistics, from which evaluation games are learnt. States are sets of facts.
///
/// The text form is one JSON value per line, the first of which describes the set, so that a file
/// can be extended and read after an interrupted run.
#[derive(Clone, Debug, PartialEq)]
pub struct TrainingSet {
    /// The name of the game.
    pub game: String,
    /// The players, without nature.
    pub players: Vec<String>,
    facts: Vec<String>,
    numbers: BTreeMap<String, u32>,
    pub(super) samples: Vec<Sample>,
}

/// A move of a tree.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Sample {
    /// The numbers of the facts before and after the move, sorted.
    pub(super) before: Vec<u32>,
    pub(super) after: Vec<u32>,
    /// The payoffs by player, without nature, and the number of plays that gave them.
    pub(super) payoffs: Vec<(Vec<f64>, u64)>,
}

impl Sample {
    pub(super) fn n_plays(&self) -> u64 {
        self.payoffs.iter().map(|(_, n)| n).sum()
    }

    /// Returns the mean payoff of a player.
    pub(super) fn mean(&self, player: usize) -> f64 {
        let sum: f64 = self.payoffs.iter().map(|(payoffs, n)| payoffs[player] * *n as f64).sum();
        sum / self.n_plays().max(1) as f64
    }
}

/// Why a text is not a training set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotTraining {
    /// The line, counted from 1.
    pub line: usize,
    /// What is wrong there.
    pub reason: &'static str,
}

impl fmt::Display for NotTraining {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.reason)
    }
}

impl std::error::Error for NotTraining {}

const FORMAT: &str = "agon-training-1";

impl TrainingSet {
    /// Returns an empty set. `facts` are facts that are known in advance; others get numbers when
    /// they are met.
    pub fn new(game: &str, players: Vec<String>, facts: &[String]) -> TrainingSet {
        let mut set = TrainingSet {
            game: game.to_owned(),
            players,
            facts: Vec::new(),
            numbers: BTreeMap::new(),
            samples: Vec::new(),
        };
        for fact in facts {
            set.number(fact);
        }
        set
    }

    /// Returns the number of moves.
    pub fn len(&self) -> usize {
        self.samples.len()
    }

    /// Returns whether there are no moves.
    pub fn is_empty(&self) -> bool {
        self.samples.is_empty()
    }

    /// Returns the number of plays of all moves.
    pub fn n_plays(&self) -> u64 {
        self.samples.iter().map(Sample::n_plays).sum()
    }

    /// Returns the texts of facts, in the order of their numbers.
    pub fn facts(&self) -> &[String] {
        &self.facts
    }

    fn number(&mut self, fact: &str) -> u32 {
        if let Some(&number) = self.numbers.get(fact) {
            return number;
        }
        let number = self.facts.len() as u32;
        self.facts.push(fact.to_owned());
        self.numbers.insert(fact.to_owned(), number);
        number
    }

    /// Adds a move. States are given by the texts of their facts, payoffs by player without nature.
    pub fn add(&mut self, before: &[String], after: &[String], payoffs: Vec<(Vec<f64>, u64)>) {
        let [before, after] = [before, after].map(|state| {
            let mut numbers: Vec<u32> = state.iter().map(|fact| self.number(fact)).collect();
            numbers.sort_unstable();
            numbers
        });
        self.samples.push(Sample { before, after, payoffs });
    }

    /// Returns the set as text. Lines after the first stand for the moves from the given one on.
    pub fn to_text(&self, from: usize) -> String {
        let mut text = String::new();
        if from == 0 {
            let header = json!({"format": FORMAT, "game": self.game, "players": self.players});
            text.push_str(&format!("{header}\n"));
        }
        let names = |numbers: &[u32]| -> Vec<&str> {
            let names = numbers.iter().map(|&number| self.facts[number as usize].as_str());
            let mut names: Vec<&str> = names.collect();
            names.sort_unstable();
            names
        };
        for sample in &self.samples[from.min(self.samples.len())..] {
            // What changes is short, and it is what a person looks for.
            let lost: Vec<u32> = difference(&sample.before, &sample.after);
            let gained: Vec<u32> = difference(&sample.after, &sample.before);
            let line = json!([
                names(&sample.before),
                names(&lost),
                names(&gained),
                sample.payoffs.iter().map(|(p, n)| json!([p, n])).collect::<Vec<Value>>()
            ]);
            text.push_str(&format!("{line}\n"));
        }
        text
    }

    /// Reads a set. A last line without an end, as an interrupted run leaves it, is ignored.
    ///
    /// # Errors
    /// [`NotTraining`] if another line is not as [`TrainingSet::to_text`] writes it.
    pub fn from_text(text: &str) -> Result<TrainingSet, NotTraining> {
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        let mut lines = (1..).zip(whole.lines());
        let fail = |line: usize, reason: &'static str| NotTraining { line, reason };
        let (_, header) = lines.next().ok_or(fail(1, "there is no header"))?;
        let header: Value =
            serde_json::from_str(header).map_err(|_| fail(1, "the header is not JSON"))?;
        if header["format"] != FORMAT {
            return Err(fail(1, "this is not a training set of this version"));
        }
        let game = header["game"].as_str().ok_or(fail(1, "the game has no name"))?;
        let players = strings(&header["players"]).ok_or(fail(1, "there are no players"))?;
        let n_players = players.len();
        let mut set = TrainingSet::new(game, players, &[]);
        for (number, line) in lines {
            let value: Value =
                serde_json::from_str(line).map_err(|_| fail(number, "the line is not JSON"))?;
            let wrong = || fail(number, "the line does not describe a move");
            let before = strings(&value[0]).ok_or_else(wrong)?;
            let lost = strings(&value[1]).ok_or_else(wrong)?;
            let gained = strings(&value[2]).ok_or_else(wrong)?;
            let mut payoffs = Vec::new();
            for entry in value[3].as_array().ok_or_else(wrong)? {
                let numbers = entry[0].as_array().ok_or_else(wrong)?;
                let numbers: Option<Vec<f64>> = numbers.iter().map(Value::as_f64).collect();
                let numbers = numbers.filter(|all| all.len() == n_players).ok_or_else(wrong)?;
                payoffs.push((numbers, entry[1].as_u64().ok_or_else(wrong)?));
            }
            let kept = before.iter().filter(|fact| !lost.contains(fact)).cloned();
            let after: Vec<String> = kept.chain(gained).collect();
            set.add(&before, &after, payoffs);
        }
        Ok(set)
    }
}

fn difference(from: &[u32], without: &[u32]) -> Vec<u32> {
    from.iter().filter(|number| without.binary_search(number).is_err()).copied().collect()
}

fn strings(value: &Value) -> Option<Vec<String>> {
    value.as_array()?.iter().map(|text| text.as_str().map(str::to_owned)).collect()
}
