//! Endgame tables: the payoffs of perfect play at many positions, to be kept on disk.
//!
//! A position is found by a fingerprint of the facts that hold there. Facts and roles have places
//! in an order that the caller gives, which does not depend on how the rules spell their names. So
//! a table fits the same game with other names.
//!
//! # The file
//! A magic number, the version of the format, the key of the rules, the numbers of facts, roles,
//! different payoffs and positions, the payoffs, then for each position its fingerprint and the
//! index of its payoffs, sorted, and a checksum of all that comes before it. Numbers are in
//! little-endian order. Nothing in a file is trusted.

use agon_game::Position;

use crate::hash::{Map, fold};

/// The first bytes of every table.
const MAGIC: &[u8; 8] = b"AGONEND\n";
/// The version of the format.
const VERSION: u32 = 1;
/// Bytes of a position in a file.
const ENTRY_BYTES: usize = 10;
/// Bytes before the payoffs.
const HEADER_BYTES: usize = 8 + 4 + 16 + 8 + 4 * 4;
/// Separates the numbers of facts from other uses of the hash function.
const STREAM: u64 = 0x00e4_d9a3_e7ab_1e00;

/// The payoffs of perfect play at many positions of one game.
#[derive(Clone, Debug, PartialEq)]
pub struct Endgames {
    numbering: FactPlaces,
    /// The different payoffs, by role of the game.
    payoffs: Vec<Vec<f64>>,
    /// By fingerprint of a position: the index of its payoffs.
    entries: Map<u64, u16>,
}

/// The places of facts and roles of a game in an order that does not depend on names.
#[derive(Clone, Debug, PartialEq)]
pub struct FactPlaces {
    /// By number of a fact in the game: its part of a fingerprint.
    words: Vec<u64>,
    /// By role: its place.
    roles: Vec<usize>,
    /// The fingerprint of the first position, by which a table of another game is recognised.
    start: u64,
}

impl FactPlaces {
    /// Makes the numbering of a game that starts at a position. `facts` has the place of each fact
    /// of [`Position::state_words`], `roles` the place of each role. Returns `None` if the engine
    /// does not keep states as bits, or the places do not fit the game.
    pub fn new<P: Position>(start: &P, facts: &[u32], roles: &[u32]) -> Option<FactPlaces> {
        let n_roles = start.shape().role_names.len();
        let mut sorted: Vec<usize> = roles.iter().map(|&place| place as usize).collect();
        let roles = sorted.clone();
        sorted.sort_unstable();
        if !sorted.into_iter().eq(0..n_roles) {
            return None;
        }
        let words = facts.iter().map(|&place| fold(fold(STREAM, place.into()), place.into()));
        let mut places = FactPlaces { words: words.collect(), roles, start: 0 };
        places.start = places.fingerprint::<P>(start.state())?;
        Some(places)
    }

    /// Returns the fingerprint of a state.
    fn fingerprint<P: Position>(&self, state: &P::State) -> Option<u64> {
        let mut fingerprint = 0;
        for (idx, &word) in P::state_words(state)?.iter().enumerate() {
            let mut word = word;
            while word != 0 {
                let fact = 64 * idx + word.trailing_zeros() as usize;
                fingerprint ^= self.words.get(fact)?;
                word &= word - 1;
            }
        }
        Some(fingerprint)
    }
}

/// Why bytes are not an endgame table that can be used.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum EndgamesError {
    /// The bytes do not start like a table.
    NotATable,
    /// The table has another version of the format.
    Version(u32),
    /// The bytes end too early, or there are too many.
    Size,
    /// The checksum is wrong.
    Checksum,
    /// A payoff or an index is impossible.
    Invalid,
    /// The table is one of another game.
    OtherGame,
}

impl std::fmt::Display for EndgamesError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            EndgamesError::NotATable => f.write_str("it is not an endgame table"),
            EndgamesError::Version(version) => {
                write!(f, "it has version {version} of the format; this agon reads {VERSION}")
            }
            EndgamesError::Size => f.write_str("its size is wrong: it was cut off or damaged"),
            EndgamesError::Checksum => f.write_str("it is damaged: its checksum is wrong"),
            EndgamesError::Invalid => f.write_str("its payoffs cannot be right"),
            EndgamesError::OtherGame => f.write_str("it is an endgame table of another game"),
        }
    }
}

impl std::error::Error for EndgamesError {}

impl Endgames {
    /// Maximum number of positions in a table, so that files stay small: 20 MB.
    pub const MAX_POSITIONS: usize = 2_000_000;

    /// Returns a table without positions.
    pub fn new(numbering: FactPlaces) -> Endgames {
        Endgames { numbering, payoffs: Vec::new(), entries: Map::default() }
    }

    /// Returns the number of positions.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns whether the table has no positions.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the payoffs of perfect play at a state by role, if the table has it.
    pub fn payoffs<P: Position>(&self, state: &P::State) -> Option<&[f64]> {
        let fingerprint = self.numbering.fingerprint::<P>(state)?;
        let &index = self.entries.get(&fingerprint)?;
        Some(&self.payoffs[usize::from(index)])
    }

    /// Returns the fingerprint of a state, or 0 if the engine does not keep states as bits.
    pub(super) fn fingerprint<P: Position>(&self, state: &P::State) -> u64 {
        self.numbering.fingerprint::<P>(state).unwrap_or(0)
    }

    /// Adds a position. Returns whether the table is full.
    pub(super) fn insert(&mut self, fingerprint: u64, payoffs: Vec<f64>) -> bool {
        if self.entries.len() >= Endgames::MAX_POSITIONS {
            return true;
        }
        let index = self.payoffs.iter().position(|known| *known == payoffs);
        let index = index.unwrap_or_else(|| {
            self.payoffs.push(payoffs);
            self.payoffs.len() - 1
        });
        let Ok(index) = u16::try_from(index) else {
            self.payoffs.pop();
            return true;
        };
        self.entries.insert(fingerprint, index);
        false
    }

    /// Adds the positions of another table of the same game, as many as there is space for.
    pub fn merge(&mut self, other: &Endgames) {
        for (fingerprint, index) in other.sorted() {
            if self.insert(fingerprint, other.payoffs[usize::from(index)].clone()) {
                break;
            }
        }
    }

    /// Returns the positions in the order of their fingerprints.
    fn sorted(&self) -> Vec<(u64, u16)> {
        let mut entries: Vec<(u64, u16)> =
            self.entries.iter().map(|(&fingerprint, &index)| (fingerprint, index)).collect();
        entries.sort_unstable();
        entries
    }

    /// Returns the table as the bytes of a file. `key` is the key of the rules.
    pub fn to_bytes(&self, key: u128) -> Vec<u8> {
        let FactPlaces { words, roles, start } = &self.numbering;
        let mut out = MAGIC.to_vec();
        out.extend(VERSION.to_le_bytes());
        out.extend(key.to_le_bytes());
        out.extend(start.to_le_bytes());
        for count in [words.len(), roles.len(), self.payoffs.len(), self.entries.len()] {
            out.extend(u32::try_from(count).unwrap_or(u32::MAX).to_le_bytes());
        }
        for payoffs in &self.payoffs {
            let mut placed = vec![0.0; roles.len()];
            payoffs.iter().zip(roles).for_each(|(&payoff, &place)| placed[place] = payoff);
            placed.iter().for_each(|payoff: &f64| out.extend(payoff.to_le_bytes()));
        }
        for (fingerprint, index) in self.sorted() {
            out.extend(fingerprint.to_le_bytes());
            out.extend(index.to_le_bytes());
        }
        let checksum = checksum(&out);
        out.extend(checksum.to_le_bytes());
        out
    }

    /// Reads a table from the bytes of a file.
    ///
    /// # Errors
    /// [`EndgamesError`] if the bytes are not a table of the game with this key.
    pub fn from_bytes(
        bytes: &[u8],
        key: u128,
        numbering: FactPlaces,
    ) -> Result<Endgames, EndgamesError> {
        let rest = bytes.strip_prefix(MAGIC).ok_or(EndgamesError::NotATable)?;
        let mut reader = Reader(rest);
        let version = u32::from_le_bytes(reader.take()?);
        if version != VERSION {
            return Err(EndgamesError::Version(version));
        }
        let (found, start) =
            (u128::from_le_bytes(reader.take()?), u64::from_le_bytes(reader.take()?));
        let mut count = || reader.take().map(|bytes| u32::from_le_bytes(bytes) as usize);
        let [n_facts, n_roles, n_payoffs, n_entries] = [count()?, count()?, count()?, count()?];
        let n_bytes = n_payoffs
            .checked_mul(n_roles)
            .and_then(|n| n.checked_mul(8))
            .zip(n_entries.checked_mul(ENTRY_BYTES))
            .and_then(|(payoffs, entries)| payoffs.checked_add(entries)?.checked_add(8));
        if n_bytes != Some(bytes.len() - HEADER_BYTES) || n_entries > Endgames::MAX_POSITIONS {
            return Err(EndgamesError::Size);
        }
        let (content, sum) = bytes.split_at(bytes.len() - 8);
        if checksum(content).to_le_bytes() != sum {
            return Err(EndgamesError::Checksum);
        }
        let fits = n_facts == numbering.words.len() && n_roles == numbering.roles.len();
        if !fits || found != key || start != numbering.start {
            return Err(EndgamesError::OtherGame);
        }
        let mut table = Endgames::new(numbering);
        for _ in 0..n_payoffs {
            let mut placed = Vec::with_capacity(n_roles);
            for _ in 0..n_roles {
                placed.push(f64::from_le_bytes(reader.take()?));
            }
            if placed.iter().any(|payoff| !payoff.is_finite()) {
                return Err(EndgamesError::Invalid);
            }
            table.payoffs.push(table.numbering.roles.iter().map(|&place| placed[place]).collect());
        }
        for _ in 0..n_entries {
            let fingerprint = u64::from_le_bytes(reader.take()?);
            let index = u16::from_le_bytes(reader.take()?);
            if usize::from(index) >= n_payoffs {
                return Err(EndgamesError::Invalid);
            }
            table.entries.insert(fingerprint, index);
        }
        Ok(table)
    }
}

/// The bytes that are not read yet.
struct Reader<'b>(&'b [u8]);

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], EndgamesError> {
        let (taken, rest) = self.0.split_first_chunk().ok_or(EndgamesError::Size)?;
        self.0 = rest;
        Ok(*taken)
    }
}

fn checksum(bytes: &[u8]) -> u64 {
    bytes.chunks(8).fold(bytes.len() as u64, |sum, chunk| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        fold(sum, u64::from_le_bytes(word))
    })
}
