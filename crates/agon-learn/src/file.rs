//! The bytes of a model.
//!
//! A file starts with a magic number and the version of the format, and ends with a checksum of
//! all that comes before it. Numbers are in little-endian order. Counts are written with seven bits
//! in a byte, the lowest first. Runs of weights that are zero, which were never selected in a game,
//! take a few bytes. Nothing in a file is trusted: sizes are bounded, and indices are checked.

use crate::form::{Form, ModelKind};
use crate::model::LearnerFacts;
use crate::network::{Entry, Network, Perspective};
use crate::neural::{MAX_HIDDEN, MAX_ROWS, MAX_WEIGHT, Neural};
use crate::stored::{EloEstimate, Model, ModelHistory, Progress};

/// The first bytes of every model.
const MAGIC: &[u8; 8] = b"AGONMDL\n";
/// The version of the format. Version 1 has no networks and is still read.
const VERSION: u32 = 2;
/// Maximum number of facts, of patterns, and of entries of a perspective.
const MAX_ITEMS: u64 = 1 << 24;
/// Maximum number of weights.
const MAX_WEIGHTS: u64 = 1 << 26;
/// Maximum number of symmetries.
const MAX_SYMMETRIES: u64 = 64;
/// Maximum number of bytes of a text.
const MAX_TEXT: u64 = 1 << 16;

/// Why bytes are not a model that can be used.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum ModelError {
    /// The file does not start like a model.
    NotAModel,
    /// The model has another version of the format.
    Version(u32),
    /// The file ends too early.
    Truncated,
    /// The checksum is wrong: the file was damaged.
    Checksum,
    /// A part of the file is impossible. The text names it.
    Invalid(&'static str),
    /// The model is one of another game.
    OtherGame,
}

impl std::fmt::Display for ModelError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ModelError::NotAModel => f.write_str("it is not a model"),
            ModelError::Version(version) => {
                write!(f, "it has version {version} of the format; this agon reads 1 to {VERSION}")
            }
            ModelError::Truncated => f.write_str("it ends too early"),
            ModelError::Checksum => f.write_str("it is damaged: its checksum is wrong"),
            ModelError::Invalid(part) => write!(f, "its {part} cannot be right"),
            ModelError::OtherGame => f.write_str("it is a model of another game"),
        }
    }
}

impl std::error::Error for ModelError {}

impl Model {
    /// The version of the format that [`Model::to_bytes`] writes.
    pub const FORMAT: u32 = VERSION;

    /// Returns the model as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.to_bytes_of(VERSION)
    }

    /// Returns the model in an older version of the format, which must be one that knows its form.
    pub(crate) fn to_bytes_of(&self, version: u32) -> Vec<u8> {
        let mut out = Writer(MAGIC.to_vec(), version);
        out.0.extend(version.to_le_bytes());
        out.history(&self.history);
        out.facts(&self.facts);
        out.count(self.n_players);
        out.count(self.start.len());
        let bytes = self.start.chunks(8).map(|bits| {
            bits.iter().enumerate().fold(0, |byte, (at, &bit)| byte | u8::from(bit) << at)
        });
        out.0.extend(bytes);
        out.form(&self.form);
        out.count(self.weights.len());
        out.sparse(&self.weights);
        out.count(usize::from(self.has_training_state()));
        if self.has_training_state() {
            for place in 0..2 {
                out.sparse(&self.errors.iter().map(|errors| errors[place]).collect::<Vec<_>>());
            }
        }
        with_checksum(out.0)
    }

    /// Reads a model from bytes.
    ///
    /// # Errors
    /// [`ModelError`] if they are not a model, or a damaged one.
    pub fn from_bytes(bytes: &[u8]) -> Result<Model, ModelError> {
        let Some(rest) = bytes.strip_prefix(MAGIC) else {
            let is_start = MAGIC.starts_with(bytes) && !bytes.is_empty();
            return Err(if is_start { ModelError::Truncated } else { ModelError::NotAModel });
        };
        let (version, rest) = rest.split_first_chunk().ok_or(ModelError::Truncated)?;
        let version = u32::from_le_bytes(*version);
        if version == 0 || version > VERSION {
            return Err(ModelError::Version(version));
        }
        let (body, sum) = rest.split_last_chunk().ok_or(ModelError::Truncated)?;
        if u64::from_le_bytes(*sum) != checksum(&bytes[..bytes.len() - sum.len()]) {
            return Err(ModelError::Checksum);
        }
        let mut reader = Reader(body, version);
        let model = reader.model()?;
        if !reader.0.is_empty() {
            return Err(ModelError::Invalid("length"));
        }
        Ok(model)
    }
}

/// Appends the checksum of bytes.
pub(crate) fn with_checksum(mut bytes: Vec<u8>) -> Vec<u8> {
    let sum = checksum(&bytes);
    bytes.extend(sum.to_le_bytes());
    bytes
}

/// Returns a checksum of bytes.
fn checksum(bytes: &[u8]) -> u64 {
    let mut sum = bytes.len() as u64 ^ 0x6a09_e667_f3bc_c908;
    for chunk in bytes.chunks(8) {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        sum = (sum ^ u64::from_le_bytes(word)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        sum ^= sum >> 32;
    }
    sum
}

/// The bytes so far, and the version of the format.
struct Writer(Vec<u8>, u32);

impl Writer {
    fn count(&mut self, count: usize) {
        self.number(count as u64);
    }

    fn number(&mut self, mut number: u64) {
        while number >= 128 {
            self.0.push(number as u8 | 128);
            number >>= 7;
        }
        self.0.push(number as u8);
    }

    fn real(&mut self, real: f64) {
        self.0.extend(real.to_le_bytes());
    }

    fn text(&mut self, text: &str) {
        // A longer text is cut at a character.
        let end = (0..=text.len().min(MAX_TEXT as usize)).rev().find(|&n| text.is_char_boundary(n));
        let text = &text[..end.unwrap_or(0)];
        self.count(text.len());
        self.0.extend(text.as_bytes());
    }

    fn elo(&mut self, elo: &EloEstimate) {
        [elo.elo, elo.low, elo.high].into_iter().for_each(|real| self.real(real));
        self.number(elo.n_matches.into());
    }

    fn history(&mut self, history: &ModelHistory) {
        self.text(&history.game);
        self.0.extend(history.key.to_le_bytes());
        self.text(&history.version);
        self.number(history.written);
        self.real(history.seconds);
        self.number(history.n_games);
        self.number(history.n_steps);
        self.count(usize::from(history.elo.is_some()));
        history.elo.iter().for_each(|elo| self.elo(elo));
        self.count(history.progress.len());
        for progress in &history.progress {
            self.real(progress.seconds);
            self.number(progress.n_games);
            self.elo(&progress.step);
            self.count(usize::from(progress.is_kept));
            self.kind(progress.kind);
        }
    }

    fn facts(&mut self, facts: &LearnerFacts) {
        let flags = [facts.exchanges_players, facts.has_turn_fact].map(usize::from);
        for count in [facts.n_units, facts.n_cells, facts.n_symmetries].into_iter().chain(flags) {
            self.count(count);
        }
        self.real(facts.mean_length);
    }

    fn kind(&mut self, kind: ModelKind) {
        if self.1 == 1 {
            return;
        }
        self.0.push(match kind {
            ModelKind::Tables => 0,
            ModelKind::Network => 1,
        });
    }

    fn form(&mut self, form: &Form) {
        self.kind(form.kind());
        match form {
            Form::Tables(network) => self.network(network),
            Form::Neural(net) => self.neural(net),
        }
    }

    fn neural(&mut self, net: &Neural) {
        self.count(net.n_hidden);
        self.count(net.n_rows);
        self.0.extend(net.ceiling.to_le_bytes());
        self.count(usize::from(net.turn.is_some()));
        net.turn.iter().for_each(|&turn| self.number(turn.into()));
        for (rows, sign) in net.rows.iter().zip(&net.signs) {
            self.0.push(u8::from(*sign < 0.0));
            rows.iter().for_each(|&row| self.number(row.into()));
        }
        self.count(net.symmetries.len());
        for image in net.symmetries.iter().flatten() {
            self.number((*image).into());
        }
    }

    fn network(&mut self, network: &Network) {
        self.count(network.n_weights);
        self.count(network.turns.len());
        network.turns.iter().for_each(|&fact| self.number(fact.into()));
        self.count(network.n_patterns());
        for perspective in &network.perspectives {
            self.0.push(u8::from(perspective.sign < 0.0));
            perspective.starts.iter().for_each(|&start| self.number(start.into()));
            let mut before = 0;
            for &end in &perspective.ends {
                self.number((end - before).into());
                before = end;
            }
            for entry in &perspective.entries {
                self.number(entry.pattern.into());
                self.number(entry.amount.into());
            }
        }
    }

    /// Writes runs: a number of zeros, a number of others, the others.
    fn sparse(&mut self, numbers: &[f32]) {
        let mut rest = numbers;
        while !rest.is_empty() {
            let n_zeros = rest.iter().take_while(|number| number.to_bits() == 0).count();
            let (_, others) = rest.split_at(n_zeros);
            // A single zero among others is cheaper as a number.
            let is_run = |at: usize| others[at..].iter().take(4).all(|n| n.to_bits() == 0);
            let n_others = (0..others.len()).find(|&at| is_run(at)).unwrap_or(others.len());
            self.count(n_zeros);
            self.count(n_others);
            others[..n_others].iter().for_each(|number| self.0.extend(number.to_le_bytes()));
            rest = &others[n_others..];
        }
    }
}

/// The bytes that are left, and the version of the format.
struct Reader<'b>(&'b [u8], u32);

impl Reader<'_> {
    fn byte(&mut self) -> Result<u8, ModelError> {
        let (&byte, rest) = self.0.split_first().ok_or(ModelError::Truncated)?;
        self.0 = rest;
        Ok(byte)
    }

    fn chunk<const N: usize>(&mut self) -> Result<[u8; N], ModelError> {
        let (chunk, rest) = self.0.split_first_chunk().ok_or(ModelError::Truncated)?;
        self.0 = rest;
        Ok(*chunk)
    }

    fn number(&mut self) -> Result<u64, ModelError> {
        let mut number = 0;
        for place in 0..10 {
            let byte = self.byte()?;
            let bits = u64::from(byte & 127);
            if bits << (7 * place) >> (7 * place) != bits {
                return Err(ModelError::Invalid("numbers"));
            }
            number |= bits << (7 * place);
            if byte < 128 {
                return Ok(number);
            }
        }
        Err(ModelError::Invalid("numbers"))
    }

    /// Reads a number of at most `max`. `part` names it.
    fn count(&mut self, max: u64, part: &'static str) -> Result<usize, ModelError> {
        let count = self.number()?;
        if count > max {
            return Err(ModelError::Invalid(part));
        }
        usize::try_from(count).map_err(|_| ModelError::Invalid(part))
    }

    fn flag(&mut self, part: &'static str) -> Result<bool, ModelError> {
        Ok(self.count(1, part)? == 1)
    }

    fn real(&mut self) -> Result<f64, ModelError> {
        Ok(f64::from_le_bytes(self.chunk()?))
    }

    fn text(&mut self) -> Result<String, ModelError> {
        let length = self.count(MAX_TEXT, "texts")?;
        let (text, rest) = self.0.split_at_checked(length).ok_or(ModelError::Truncated)?;
        self.0 = rest;
        String::from_utf8(text.to_vec()).map_err(|_| ModelError::Invalid("texts"))
    }

    fn model(&mut self) -> Result<Model, ModelError> {
        let history = self.history()?;
        let mut facts = self.facts()?;
        let n_players = self.count(MAX_ITEMS, "number of players")?;
        let n_facts = self.count(MAX_ITEMS, "number of facts")?;
        let mut start = Vec::new();
        while start.len() < n_facts {
            let byte = self.byte()?;
            start.extend((0..8.min(n_facts - start.len())).map(|at| byte >> at & 1 == 1));
        }
        let form = self.form(n_facts)?;
        let n_weights = self.count(MAX_WEIGHTS, "number of weights")?;
        let n_each = form.n_weights();
        if n_each == 0 || !n_weights.is_multiple_of(n_each) || n_weights == 0 {
            return Err(ModelError::Invalid("number of weights"));
        }
        (facts.n_patterns, facts.n_weights) = (form.n_patterns(), n_weights);
        let weights = self.sparse(n_weights)?;
        // Integers that stand for larger weights would not be exact.
        let is_large = |weight: &f32| weight.abs() > MAX_WEIGHT;
        if form.kind() == ModelKind::Network && weights.iter().any(is_large) {
            return Err(ModelError::Invalid("weights"));
        }
        let errors = if self.flag("training state")? {
            let (sums, sizes) = (self.sparse(n_weights)?, self.sparse(n_weights)?);
            sums.into_iter().zip(sizes).map(|(sum, size)| [sum, size]).collect()
        } else {
            Vec::new()
        };
        Ok(Model { history, facts, n_players, start, form, weights, errors })
    }

    fn elo(&mut self) -> Result<EloEstimate, ModelError> {
        let [elo, low, high] = [self.real()?, self.real()?, self.real()?];
        let n_matches = self.count(u32::MAX.into(), "number of matches")? as u32;
        Ok(EloEstimate { elo, low, high, n_matches })
    }

    fn history(&mut self) -> Result<ModelHistory, ModelError> {
        let game = self.text()?;
        let key = u128::from_le_bytes(self.chunk()?);
        let (version, written) = (self.text()?, self.number()?);
        let (seconds, n_games, n_steps) = (self.real()?, self.number()?, self.number()?);
        let elo = if self.flag("strength")? { Some(self.elo()?) } else { None };
        let n_progress = self.count(MAX_ITEMS, "checkpoints")?;
        let mut progress = Vec::new();
        for _ in 0..n_progress {
            let (seconds, n_games, step) = (self.real()?, self.number()?, self.elo()?);
            let (is_kept, kind) = (self.flag("checkpoints")?, self.kind()?);
            progress.push(Progress { seconds, n_games, step, is_kept, kind });
        }
        Ok(ModelHistory { game, key, version, written, seconds, n_games, n_steps, elo, progress })
    }

    fn facts(&mut self) -> Result<LearnerFacts, ModelError> {
        let mut counts = [0; 3];
        for count in &mut counts {
            *count = self.count(MAX_ITEMS, "facts")?;
        }
        let [n_units, n_cells, n_symmetries] = counts;
        let (exchanges_players, has_turn_fact) = (self.flag("facts")?, self.flag("facts")?);
        Ok(LearnerFacts {
            n_units,
            n_cells,
            n_patterns: 0,
            n_weights: 0,
            n_symmetries,
            exchanges_players,
            has_turn_fact,
            mean_length: self.real()?,
        })
    }

    /// Reads the form of an evaluation. Version 1 has tables alone.
    fn kind(&mut self) -> Result<ModelKind, ModelError> {
        if self.1 == 1 {
            return Ok(ModelKind::Tables);
        }
        match self.byte()? {
            0 => Ok(ModelKind::Tables),
            1 => Ok(ModelKind::Network),
            _ => Err(ModelError::Invalid("form")),
        }
    }

    fn form(&mut self, n_facts: usize) -> Result<Form, ModelError> {
        Ok(match self.kind()? {
            ModelKind::Tables => Form::Tables(self.network(n_facts)?),
            ModelKind::Network => Form::Neural(self.neural(n_facts)?),
        })
    }

    fn neural(&mut self, n_facts: usize) -> Result<Neural, ModelError> {
        const WRONG: ModelError = ModelError::Invalid("network");
        let n_hidden = self.count(MAX_HIDDEN as u64, "network")?;
        let n_rows = self.count(MAX_ROWS as u64, "network")?;
        let ceiling = f32::from_le_bytes(self.chunk()?);
        if n_hidden == 0 || n_rows == 0 || n_facts == 0 || !(ceiling > 0.0 && ceiling < 1e6) {
            return Err(WRONG);
        }
        let turn = match self.flag("network")? {
            true => Some(self.count(n_facts as u64 - 1, "network")? as u32),
            false => None,
        };
        let list = |reader: &mut Self, n: usize| -> Result<Vec<u32>, ModelError> {
            let mut list = Vec::new();
            for _ in 0..n {
                list.push(reader.count(n_rows as u64 - 1, "network")? as u32);
            }
            Ok(list)
        };
        let (mut rows, mut signs) = (Vec::new(), Vec::new());
        for _ in 0..=usize::from(turn.is_some()) {
            signs.push(if self.byte()? == 1 { -1.0 } else { 1.0 });
            rows.push(list(self, n_facts)?);
        }
        // The second perspective has the players exchanged.
        if signs.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(WRONG);
        }
        let mut symmetries = Vec::new();
        for _ in 0..self.count(MAX_SYMMETRIES, "network")? {
            symmetries.push(list(self, n_rows)?);
        }
        Ok(Neural { n_hidden, n_rows, ceiling, rows, signs, turn, symmetries })
    }

    fn network(&mut self, n_facts: usize) -> Result<Network, ModelError> {
        const WRONG: ModelError = ModelError::Invalid("patterns");
        let n_weights = self.count(MAX_WEIGHTS, "number of weights")?;
        let n_turns = self.count(MAX_ITEMS, "facts of turns")?;
        let mut turns = Vec::new();
        for _ in 0..n_turns {
            turns.push(self.count(n_facts.saturating_sub(1) as u64, "facts of turns")? as u32);
        }
        let n_patterns = self.count(MAX_ITEMS, "patterns")?;
        if n_facts == 0 {
            return Err(WRONG);
        }
        let mut perspectives = Vec::new();
        for _ in 0..=n_turns {
            let sign = if self.byte()? == 1 { -1.0 } else { 1.0 };
            let mut starts = Vec::new();
            for _ in 0..n_patterns {
                starts.push(self.count(n_weights.saturating_sub(1) as u64, "patterns")? as u32);
            }
            let (mut ends, mut n_entries) = (Vec::new(), 0_u64);
            for _ in 0..n_facts {
                n_entries += self.number()?.min(MAX_ITEMS + 1);
                if n_entries > MAX_ITEMS {
                    return Err(WRONG);
                }
                ends.push(n_entries as u32);
            }
            let mut entries = Vec::new();
            for _ in 0..n_entries {
                let pattern = self.count(MAX_ITEMS, "patterns")?;
                let amount = self.count(MAX_WEIGHTS, "patterns")? as u32;
                if pattern >= n_patterns {
                    return Err(WRONG);
                }
                entries.push(Entry { pattern: pattern as u32, amount });
            }
            perspectives.push(Perspective { ends, entries, starts, sign });
        }
        Ok(Network { perspectives, turns, n_weights })
    }

    fn sparse(&mut self, n: usize) -> Result<Vec<f32>, ModelError> {
        const WRONG: ModelError = ModelError::Invalid("weights");
        let mut numbers: Vec<f32> = Vec::new();
        while numbers.len() < n {
            let left = n - numbers.len();
            let (n_zeros, n_others) = (self.number()?, self.number()?);
            let n_zeros = usize::try_from(n_zeros).ok().filter(|&n| n <= left).ok_or(WRONG)?;
            let n_others = usize::try_from(n_others).ok();
            let n_others = n_others.filter(|&n| n <= left - n_zeros).ok_or(WRONG)?;
            if n_zeros + n_others == 0 {
                return Err(WRONG);
            }
            numbers.resize(numbers.len() + n_zeros, 0.0);
            for _ in 0..n_others {
                let number = f32::from_le_bytes(self.chunk()?);
                if !number.is_finite() {
                    return Err(WRONG);
                }
                numbers.push(number);
            }
        }
        Ok(numbers)
    }
}
