//! Stores a tournament in a file: an SQLite database with the complete record of every match.
//!
//! Each match is written in one transaction when it ends, and the id of a match is the key of its
//! row. So a process that is killed at any time loses no finished match and counts none twice.
//! Matches in progress are played again from their start. The journal is a write-ahead log, so
//! other processes can read while matches are played.

use std::ffi::OsString;
use std::fs::{File, TryLockError};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use agon::tournament::{PlayedMatch, StoredGame};
use agon_match::tournament::Outcome;
use rusqlite::{Connection, OpenFlags, OptionalExtension as _, params};
use serde_json::{Value, json};

use crate::failure::Failure;

/// The SQLite application id of tournament files: `AGON`.
const APPLICATION: i64 = 0x4147_4f4e;

/// The version of the tables. A higher version was written by a newer program.
const FORMAT: i64 = 1;

/// How long to wait for a reader that holds a lock.
const BUSY_TIME: Duration = Duration::from_secs(30);

const TABLES: &str = "
CREATE TABLE tournament (
    key TEXT PRIMARY KEY, -- spec: the description of the tournament; agon: the version
    value TEXT NOT NULL
) STRICT;
CREATE TABLE game (
    name TEXT PRIMARY KEY, -- as the spec calls it
    rules TEXT NOT NULL,   -- the whole rulesheet
    roles TEXT NOT NULL    -- the roles with a player, a JSON list; the order of all lists
) STRICT;
CREATE TABLE match (
    id TEXT PRIMARY KEY,
    game TEXT NOT NULL REFERENCES game (name),
    repeat INTEGER NOT NULL, -- from 0
    players TEXT NOT NULL,   -- the player of each role, a JSON list of names
    seed TEXT NOT NULL,      -- a number of 64 bits without sign
    opening TEXT NOT NULL,   -- joint moves before the players were asked, JSON lists
    status TEXT NOT NULL,    -- finished, fault, too-long, stopped
    goals TEXT,              -- the payoff of each role, a JSON list; null unless finished
    slips TEXT NOT NULL,     -- late, illegal or missing moves of each role, a JSON list
    steps INTEGER NOT NULL,
    began INTEGER NOT NULL,  -- milliseconds since 1970
    seconds REAL NOT NULL,
    record TEXT NOT NULL     -- the match JSON of ggp.org: every state, move, time and error
) STRICT;
";

/// The file of a tournament.
pub(crate) struct Store {
    path: PathBuf,
    connection: Connection,
    /// Held while matches are played. The system releases it when the process ends in any way.
    _lock: Option<File>,
}

impl Store {
    /// Opens or creates a file for writing, and locks it against other writers.
    pub(crate) fn open(path: &Path) -> Result<Store, Failure> {
        let lock = lock(path)?;
        let store = Store::connect(path, OpenFlags::SQLITE_OPEN_CREATE, Some(lock))?;
        let cannot = |error| store.cannot("write", &error);
        // Full: a finished match is on disk even if the machine fails.
        store.connection.pragma_update(None, "journal_mode", "WAL").map_err(cannot)?;
        store.connection.pragma_update(None, "synchronous", "FULL").map_err(cannot)?;
        Ok(store)
    }

    /// Opens a file for reading, also while matches are played.
    pub(crate) fn open_to_read(path: &Path) -> Result<Store, Failure> {
        if !path.is_file() {
            let shown = path.display();
            return Err(Failure::unreadable(format!(
                "there is no tournament in {shown}; `agon tournament SPEC.toml` creates one"
            )));
        }
        let store = Store::connect(path, OpenFlags::empty(), None)?;
        if store.format()? == 0 {
            return Err(store.wrong("has no tournament"));
        }
        Ok(store)
    }

    fn connect(path: &Path, flags: OpenFlags, lock: Option<File>) -> Result<Store, Failure> {
        let flags = flags | OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags)
            .map_err(|error| cannot("open", path, &error))?;
        let store = Store { path: path.to_owned(), connection, _lock: lock };
        store.connection.busy_timeout(BUSY_TIME).map_err(|error| store.cannot("open", &error))?;
        store.format()?;
        Ok(store)
    }

    /// Returns the version of the tables: 0 for a new file, 1 for the current version.
    ///
    /// # Errors
    /// A failure if the file belongs to another program or to a newer version.
    fn format(&self) -> Result<i64, Failure> {
        let number = |sql: &str| self.connection.query_row(sql, [], |row| row.get::<_, i64>(0));
        let read = || -> rusqlite::Result<(i64, i64, i64)> {
            Ok((
                number("SELECT count(*) FROM sqlite_schema")?,
                number("PRAGMA application_id")?,
                number("PRAGMA user_version")?,
            ))
        };
        match read().map_err(|error| self.cannot("read", &error))? {
            (0, _, _) => Ok(0),
            (_, APPLICATION, FORMAT) => Ok(FORMAT),
            (_, APPLICATION, _) => Err(self.wrong("was written by a newer version of agon")),
            _ => Err(self.wrong("is a database of another program: choose another --store")),
        }
    }

    /// Returns the description of the tournament, or `None` in a new file.
    pub(crate) fn spec(&self) -> Result<Option<String>, Failure> {
        if self.format()? == 0 {
            return Ok(None);
        }
        let read = self
            .connection
            .query_row("SELECT value FROM tournament WHERE key = 'spec'", [], |row| row.get(0))
            .optional();
        read.map_err(|error| self.cannot("read", &error))
    }

    /// Writes the description and the games: of a new tournament, or of one with additions.
    pub(crate) fn begin(&mut self, spec: &str, games: &[StoredGame]) -> Result<(), Failure> {
        let is_new = self.format()? == 0;
        let write = |connection: &mut Connection| -> rusqlite::Result<()> {
            let transaction = connection.transaction()?;
            if is_new {
                transaction.execute_batch(TABLES)?;
                transaction.pragma_update(None, "application_id", APPLICATION)?;
                transaction.pragma_update(None, "user_version", FORMAT)?;
            }
            let put = "INSERT INTO tournament VALUES (?1, ?2) ON CONFLICT DO UPDATE SET value = ?2";
            transaction.execute(put, params!["spec", spec])?;
            transaction.execute(put, params!["agon", env!("CARGO_PKG_VERSION")])?;
            for game in games {
                let insert = "INSERT INTO game VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING";
                transaction.execute(
                    insert,
                    params![game.name, game.rules, json!(game.roles).to_string()],
                )?;
            }
            transaction.commit()
        };
        write(&mut self.connection).map_err(|error| self.cannot("write", &error))
    }

    /// Writes a match. It is stored for good when this returns.
    pub(crate) fn save(&mut self, played: &PlayedMatch) -> Result<(), Failure> {
        let PlayedMatch { outcome, .. } = played;
        let insert = self.connection.execute(
            "INSERT INTO match VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
            params![
                played.id,
                played.game,
                i64::try_from(played.repeat).unwrap_or(i64::MAX),
                json!(played.players).to_string(),
                played.seed.to_string(),
                json!(played.opening).to_string(),
                played.status,
                outcome.goals.as_ref().map(|goals| json!(goals).to_string()),
                json!(outcome.n_errors).to_string(),
                i64::try_from(outcome.n_steps).unwrap_or(i64::MAX),
                i64::try_from(played.began).unwrap_or(i64::MAX),
                outcome.seconds,
                played.record,
            ],
        );
        insert.map(|_| ()).map_err(|error| self.cannot("write", &error))
    }

    /// Returns the games.
    pub(crate) fn games(&self) -> Result<Vec<StoredGame>, Failure> {
        let rows = self.rows("SELECT name, rules, roles FROM game ORDER BY rowid", [], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get::<_, String>(2)?))
        })?;
        let games = rows.into_iter().map(|(name, rules, roles)| {
            Some(StoredGame {
                name,
                rules,
                roles: list(&roles, |role| role.as_str().map(str::to_owned))?,
            })
        });
        games.collect::<Option<_>>().ok_or_else(|| self.wrong("has a game that cannot be read"))
    }

    /// Returns all matches in the order in which they ended, without their records.
    pub(crate) fn matches(&self) -> Result<Vec<PlayedMatch>, Failure> {
        self.select("SELECT *, '' FROM match ORDER BY rowid", [], 13)
    }

    /// Returns the match whose id begins with the given text.
    pub(crate) fn find(&self, id: &str) -> Result<PlayedMatch, Failure> {
        let shown = self.path.display();
        let is_id = |c: char| c.is_ascii_hexdigit();
        if id.is_empty() || !id.chars().all(is_id) {
            return Err(Failure::unreadable(format!(
                "`{id}` is not the id of a match: an id has digits and letters a to f, see `show \
                 --matches`"
            )));
        }
        let pattern = format!("{}*", id.to_lowercase());
        let mut found = self.select(
            "SELECT * FROM match WHERE id GLOB ?1 ORDER BY rowid LIMIT 3",
            [pattern.as_str()],
            12,
        )?;
        match (found.pop(), found.is_empty()) {
            (None, _) => Err(Failure::unreadable(format!(
                "no match in {shown} has the id {id}; `agon tournament show --matches --store \
                 {shown}` lists them"
            ))),
            (Some(only), true) => Ok(only),
            (Some(_), false) => Err(Failure::unreadable(format!(
                "several matches have ids that begin with {id}: give more digits"
            ))),
        }
    }

    fn select(
        &self,
        sql: &str,
        given: impl rusqlite::Params,
        record: usize,
    ) -> Result<Vec<PlayedMatch>, Failure> {
        let rows = self.rows(sql, given, |row| {
            let texts: [String; 6] =
                [row.get(0)?, row.get(1)?, row.get(3)?, row.get(4)?, row.get(5)?, row.get(6)?];
            let numbers: [i64; 3] = [row.get(2)?, row.get(9)?, row.get(10)?];
            let lists: (Option<String>, String) = (row.get(7)?, row.get(8)?);
            Ok((texts, numbers, lists, row.get::<_, f64>(11)?, row.get::<_, String>(record)?))
        })?;
        let played = rows.into_iter().map(
            |(texts, [repeat, steps, began], (goals, slips), seconds, record)| {
                let [id, game, players, seed, opening, status] = texts;
                let text = |value: &Value| value.as_str().map(str::to_owned);
                let joint = |value: &Value| {
                    value.as_array()?.iter().map(text).collect::<Option<Vec<String>>>()
                };
                let goals = match goals {
                    None => None,
                    Some(goals) => Some(list(&goals, Value::as_f64)?),
                };
                let outcome = Outcome {
                    goals,
                    n_steps: usize::try_from(steps).ok()?,
                    n_errors: list(&slips, |n| usize::try_from(n.as_u64()?).ok())?,
                    seconds,
                };
                Some(PlayedMatch {
                    id,
                    game,
                    repeat: u64::try_from(repeat).ok()?,
                    players: list(&players, text)?,
                    seed: seed.parse().ok()?,
                    opening: list(&opening, joint)?,
                    status,
                    began: u64::try_from(began).ok()?,
                    outcome,
                    record,
                })
            },
        );
        played.collect::<Option<_>>().ok_or_else(|| self.wrong("has a match that cannot be read"))
    }

    fn rows<T>(
        &self,
        sql: &str,
        given: impl rusqlite::Params,
        read: impl FnMut(&rusqlite::Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, Failure> {
        let rows = || self.connection.prepare(sql)?.query_map(given, read)?.collect();
        let rows: rusqlite::Result<Vec<T>> = rows();
        rows.map_err(|error| self.cannot("read", &error))
    }

    fn cannot(&self, what: &str, error: &rusqlite::Error) -> Failure {
        cannot(what, &self.path, error)
    }

    fn wrong(&self, what: &str) -> Failure {
        Failure::unreadable(format!("{} {what}", self.path.display()))
    }
}

fn cannot(what: &str, path: &Path, error: &rusqlite::Error) -> Failure {
    let shown = path.display();
    match error.sqlite_error_code() {
        Some(rusqlite::ErrorCode::NotADatabase) => {
            Failure::unreadable(format!("{shown} is not a tournament file: choose another --store"))
        }
        _ => Failure::unreadable(format!("cannot {what} {shown}: {error}")),
    }
}

/// Locks a file by another file next to it, because SQLite uses locks on the database itself.
fn lock(path: &Path) -> Result<File, Failure> {
    // A link to a file is the same file.
    let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let mut name: OsString = real.into_os_string();
    name.push(".lock");
    let name = PathBuf::from(name);
    let cannot = |error: std::io::Error| {
        Failure::unreadable(format!("cannot write {}: {error}", name.display()))
    };
    let mut file = File::options()
        .create(true)
        .truncate(false)
        .read(true)
        .write(true)
        .open(&name)
        .map_err(cannot)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let mut holder = String::new();
            let _ = file.read_to_string(&mut holder);
            let holder = holder.trim();
            let who =
                if holder.is_empty() { String::new() } else { format!(" (process {holder})") };
            return Err(Failure::unreadable(format!(
                "another agon{who} is playing this tournament into {}: wait for it, stop it, or \
                 choose another --store",
                path.display()
            )));
        }
        Err(TryLockError::Error(error)) => return Err(cannot(error)),
    }
    // The process id is only for the message above.
    let _ = file.set_len(0).and_then(|()| writeln!(file, "{}", std::process::id()));
    Ok(file)
}

fn list<T>(text: &str, read: impl Fn(&Value) -> Option<T>) -> Option<Vec<T>> {
    serde_json::from_str::<Value>(text).ok()?.as_array()?.iter().map(read).collect()
}
