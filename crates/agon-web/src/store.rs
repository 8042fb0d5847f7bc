//! Keeps matches and rulesheets in an SQLite file, as they happen.
//!
//! A step is written in one transaction before anybody hears of it. So a server that is killed at
//! any moment loses nothing that a player has seen, and continues its matches when it starts again.

use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension as _, params};
use serde_json::{Value, json};

use crate::answer::texts;
use crate::lock;

/// The SQLite application id of these files: `AGWB`.
const APPLICATION: i64 = 0x4147_5742;
/// The version of the tables.
const FORMAT: i64 = 1;
/// How long to wait for another process that holds a lock.
const BUSY_TIME: Duration = Duration::from_secs(10);

const TABLES: &str = "
CREATE TABLE upload (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    rules TEXT NOT NULL,
    created INTEGER NOT NULL
) STRICT;
CREATE TABLE match (
    id TEXT PRIMARY KEY,
    setup TEXT NOT NULL,   -- game, rules, players, clocks, seed and secrets, a JSON object
    status TEXT NOT NULL,  -- running, or the ending as a JSON object
    created INTEGER NOT NULL
) STRICT;
CREATE TABLE step (
    match TEXT NOT NULL REFERENCES match (id),
    number INTEGER NOT NULL, -- from 0
    joint TEXT NOT NULL,     -- the move of each role, a JSON list
    errors TEXT NOT NULL,    -- the error code of each role, a JSON list
    decided TEXT NOT NULL,   -- the roles of people that had a choice, a JSON list of numbers
    thoughts TEXT NOT NULL,  -- what players thought, a JSON object by role
    time INTEGER NOT NULL,   -- milliseconds since 1970
    PRIMARY KEY (match, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE picture (
    key TEXT PRIMARY KEY, -- version, theme and hash of the rules
    svg TEXT NOT NULL
) STRICT;
";

/// Maximum number of pictures that are kept.
const MAX_PICTURES: i64 = 4000;

/// A step of a match as it is kept.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct StoredStep {
    /// By role: the move made.
    pub(crate) joint: Vec<String>,
    /// By role: the code of the error in the player's answer; empty if there was none.
    pub(crate) errors: Vec<String>,
    /// The numbers of the roles played by people that had a choice.
    pub(crate) decided: Vec<usize>,
    /// What players thought, by the number of the role.
    pub(crate) thoughts: Value,
    /// When the step was made, in milliseconds since 1970.
    pub(crate) time: u64,
}

/// A match as it is kept.
pub(crate) struct StoredMatch {
    pub(crate) id: String,
    pub(crate) setup: Value,
    /// `None` while the match is being played.
    pub(crate) ending: Option<Value>,
    pub(crate) created: u64,
    pub(crate) steps: Vec<StoredStep>,
}

/// The file of the server.
pub(crate) struct Store(Mutex<Connection>);

impl Store {
    /// Opens or creates a file; without a path, a database in memory.
    ///
    /// # Errors
    /// A sentence that says what is wrong with the file.
    pub(crate) fn open(path: Option<&Path>) -> Result<Store, String> {
        let shown =
            path.map_or_else(|| "the database".to_owned(), |path| path.display().to_string());
        let fail = |error: rusqlite::Error| format!("cannot open {shown}: {error}");
        let connection = match path {
            Some(path) => {
                if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty())
                {
                    std::fs::create_dir_all(folder)
                        .map_err(|error| format!("cannot create {}: {error}", folder.display()))?;
                }
                Connection::open(path)
            }
            None => Connection::open_in_memory(),
        };
        let connection = connection.map_err(fail)?;
        connection.busy_timeout(BUSY_TIME).map_err(fail)?;
        // One transaction: a server that is killed now leaves no tables, and no other makes them.
        let begin = rusqlite::TransactionBehavior::Immediate;
        let transaction = rusqlite::Transaction::new_unchecked(&connection, begin).map_err(fail)?;
        let number = |sql: &str| transaction.query_row(sql, [], |row| row.get::<_, i64>(0));
        let found = (
            number("SELECT count(*) FROM sqlite_schema").map_err(fail)?,
            number("PRAGMA application_id").map_err(fail)?,
            number("PRAGMA user_version").map_err(fail)?,
        );
        match found {
            (0, _, _) => {
                transaction.execute_batch(TABLES).map_err(fail)?;
                transaction.pragma_update(None, "application_id", APPLICATION).map_err(fail)?;
                transaction.pragma_update(None, "user_version", FORMAT).map_err(fail)?;
            }
            (_, APPLICATION, FORMAT) => {}
            (_, APPLICATION, _) => {
                return Err(format!("{shown} was written by a newer version of agon"));
            }
            _ => {
                return Err(format!(
                    "{shown} is a database of another program: choose another --store"
                ));
            }
        }
        transaction.commit().map_err(fail)?;
        // Full: a step is on disk before a player hears of it, even if the machine fails. These
        // come last, so that a database of another program is refused and not changed.
        connection.pragma_update(None, "journal_mode", "WAL").map_err(fail)?;
        connection.pragma_update(None, "synchronous", "FULL").map_err(fail)?;
        Ok(Store(Mutex::new(connection)))
    }

    /// Keeps a rulesheet.
    pub(crate) fn save_upload(&self, id: &str, name: &str, rules: &str, now: u64) -> Saved {
        let sql = "INSERT INTO upload VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING";
        self.execute(sql, params![id, name, rules, number(now)])
    }

    /// Returns all rulesheets: id, name and text.
    pub(crate) fn uploads(&self) -> Result<Vec<(String, String, String)>, String> {
        self.rows("SELECT id, name, rules FROM upload ORDER BY created", [], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })
    }

    /// Returns a picture that was kept.
    pub(crate) fn picture(&self, key: &str) -> Option<String> {
        let sql = "SELECT svg FROM picture WHERE key = ?1";
        lock(&self.0).query_row(sql, [key], |row| row.get(0)).optional().ok().flatten()
    }

    /// Keeps a picture. All are forgotten when there are too many.
    pub(crate) fn save_picture(&self, key: &str, svg: &str) -> Saved {
        let many = "DELETE FROM picture WHERE (SELECT count(*) FROM picture) > ?1";
        self.execute(many, [MAX_PICTURES])?;
        let sql = "INSERT INTO picture VALUES (?1, ?2) ON CONFLICT DO UPDATE SET svg = ?2";
        self.execute(sql, params![key, svg])
    }

    /// Keeps a new match.
    pub(crate) fn save_match(&self, stored: &StoredMatch) -> Saved {
        let status = stored.ending.as_ref().map_or("running".to_owned(), Value::to_string);
        let mut connection = lock(&self.0);
        let write = |connection: &mut Connection| -> rusqlite::Result<()> {
            let transaction = connection.transaction()?;
            transaction.execute(
                "INSERT INTO match VALUES (?1, ?2, ?3, ?4)",
                params![stored.id, stored.setup.to_string(), status, number(stored.created)],
            )?;
            for (at, step) in stored.steps.iter().enumerate() {
                insert_step(&transaction, &stored.id, at, step)?;
            }
            transaction.commit()
        };
        write(&mut connection).map_err(|error| error.to_string())
    }

    /// Keeps a step of a match.
    pub(crate) fn save_step(&self, id: &str, at: usize, step: &StoredStep) -> Saved {
        insert_step(&lock(&self.0), id, at, step).map_err(|error| error.to_string())
    }

    /// Forgets the steps of a match from a number on, and that the match has ended.
    pub(crate) fn take_back(&self, id: &str, from: usize) -> Saved {
        let mut connection = lock(&self.0);
        let write = |connection: &mut Connection| -> rusqlite::Result<()> {
            let transaction = connection.transaction()?;
            let delete = "DELETE FROM step WHERE match = ?1 AND number >= ?2";
            transaction.execute(delete, params![id, number(from as u64)])?;
            transaction.execute("UPDATE match SET status = 'running' WHERE id = ?1", [id])?;
            transaction.commit()
        };
        write(&mut connection).map_err(|error| error.to_string())
    }

    /// Keeps how a match has ended.
    pub(crate) fn save_ending(&self, id: &str, ending: &Value) -> Saved {
        let sql = "UPDATE match SET status = ?2 WHERE id = ?1";
        self.execute(sql, params![id, ending.to_string()])
    }

    /// Replaces the setup of a match.
    pub(crate) fn save_setup(&self, id: &str, setup: &Value) -> Saved {
        self.execute("UPDATE match SET setup = ?2 WHERE id = ?1", params![id, setup.to_string()])
    }

    /// Forgets a match.
    pub(crate) fn delete_match(&self, id: &str) -> Saved {
        self.execute("DELETE FROM step WHERE match = ?1", [id])?;
        self.execute("DELETE FROM match WHERE id = ?1", [id])
    }

    /// Returns all matches, the oldest first.
    pub(crate) fn matches(&self) -> Result<Vec<StoredMatch>, String> {
        let rows = self.rows(
            "SELECT id, setup, status, created FROM match ORDER BY created, id",
            [],
            |row| {
                let texts: [String; 3] = [row.get(0)?, row.get(1)?, row.get(2)?];
                Ok((texts, row.get::<_, i64>(3)?))
            },
        )?;
        let read = |([id, setup, status], created): ([String; 3], i64)| {
            let broken = |what: &str| format!("the {what} of match {id} cannot be read");
            let setup = serde_json::from_str(&setup).map_err(|_| broken("setup"))?;
            let ending = match status.as_str() {
                "running" => None,
                ending => Some(serde_json::from_str(ending).map_err(|_| broken("ending"))?),
            };
            let created = u64::try_from(created).unwrap_or(0);
            let steps = self.steps(&id)?;
            Ok(StoredMatch { id, setup, ending, created, steps })
        };
        rows.into_iter().map(read).collect()
    }

    fn steps(&self, id: &str) -> Result<Vec<StoredStep>, String> {
        let sql = "SELECT joint, errors, decided, thoughts, time FROM step WHERE match = ?1 \
                   ORDER BY number";
        let rows = self.rows(sql, [id], |row| {
            let lists: [String; 4] = [row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?];
            Ok((lists, row.get::<_, i64>(4)?))
        })?;
        let read = |([joint, errors, decided, thoughts], time): ([String; 4], i64)| {
            let value = |text: &str| serde_json::from_str::<Value>(text).ok();
            let decided = joint_numbers(&value(&decided)?)?;
            Some(StoredStep {
                joint: texts(&value(&joint)?)?,
                errors: texts(&value(&errors)?)?,
                decided,
                thoughts: value(&thoughts)?,
                time: u64::try_from(time).unwrap_or(0),
            })
        };
        let steps: Option<Vec<StoredStep>> = rows.into_iter().map(read).collect();
        steps.ok_or_else(|| format!("a step of match {id} cannot be read"))
    }

    fn execute(&self, sql: &str, given: impl rusqlite::Params) -> Saved {
        lock(&self.0).execute(sql, given).map(|_| ()).map_err(|error| error.to_string())
    }

    fn rows<T>(
        &self,
        sql: &str,
        given: impl rusqlite::Params,
        read: impl FnMut(&rusqlite::Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, String> {
        let connection = lock(&self.0);
        let rows = || connection.prepare(sql)?.query_map(given, read)?.collect();
        let rows: rusqlite::Result<Vec<T>> = rows();
        rows.map_err(|error| format!("cannot read the store: {error}"))
    }
}

/// Whether something was kept; if not, why.
pub(crate) type Saved = Result<(), String>;

fn insert_step(
    connection: &Connection,
    id: &str,
    at: usize,
    step: &StoredStep,
) -> rusqlite::Result<()> {
    let insert = "INSERT INTO step VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    let row = params![
        id,
        number(at as u64),
        json!(step.joint).to_string(),
        json!(step.errors).to_string(),
        json!(step.decided).to_string(),
        step.thoughts.to_string(),
        number(step.time),
    ];
    connection.execute(insert, row).map(|_| ())
}

fn number(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

fn joint_numbers(value: &Value) -> Option<Vec<usize>> {
    let number = |item: &Value| usize::try_from(item.as_u64()?).ok();
    value.as_array()?.iter().map(number).collect()
}

/// Reads the record of a match of a tournament, and the rules of its game.
///
/// # Errors
/// A sentence if the file cannot be read.
pub(crate) fn tournament_match(
    path: &Path,
    id: &str,
) -> Result<Option<(String, String, String)>, String> {
    let fail = |error: rusqlite::Error| format!("cannot read {}: {error}", path.display());
    let flags = rusqlite::OpenFlags::SQLITE_OPEN_READ_WRITE;
    let connection = Connection::open_with_flags(path, flags).map_err(fail)?;
    connection.busy_timeout(BUSY_TIME).map_err(fail)?;
    let sql = "SELECT match.record, game.rules, game.name FROM match JOIN game \
               ON match.game = game.name WHERE match.id = ?1";
    let row = connection
        .query_row(sql, [id], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .optional();
    row.map_err(fail)
}

/// Returns the matches of a tournament without their records, the newest first.
///
/// # Errors
/// A sentence if the file cannot be read.
pub(crate) fn tournament_matches(path: &Path) -> Result<Vec<Value>, String> {
    let fail = |error: rusqlite::Error| format!("cannot read {}: {error}", path.display());
    let flags = rusqlite::OpenFlags::SQLITE_OPEN_READ_WRITE;
    let connection = Connection::open_with_flags(path, flags).map_err(fail)?;
    connection.busy_timeout(BUSY_TIME).map_err(fail)?;
    let sql = "SELECT id, game, players, status, goals, steps, seconds FROM match \
               ORDER BY rowid DESC LIMIT 500";
    let mut statement = connection.prepare(sql).map_err(fail)?;
    let rows = statement.query_map([], |row| {
        let texts: [String; 4] = [row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?];
        Ok((texts, row.get::<_, Option<String>>(4)?, row.get::<_, i64>(5)?, row.get::<_, f64>(6)?))
    });
    let list = |text: &str| serde_json::from_str::<Value>(text).unwrap_or(Value::Null);
    let rows = rows.map_err(fail)?.map(|row| {
        let ([id, game, players, status], goals, steps, seconds) = row.map_err(fail)?;
        Ok(json!({
            "id": id, "game": game, "players": list(&players), "status": status,
            "goals": goals.map(|goals| list(&goals)), "steps": steps, "seconds": seconds,
        }))
    });
    rows.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str) -> std::path::PathBuf {
        let folder = std::env::temp_dir().join(format!("agon-store-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder can be made");
        folder
    }

    /// The tables are made as a whole: nobody sees half of them, not even after a crash.
    #[test]
    fn several_servers_may_create_the_store_at_once() {
        let folder = folder("race");
        for round in 0..10 {
            let path = folder.join(format!("{round}.db"));
            let opened: Vec<Result<Store, String>> = std::thread::scope(|scope| {
                let threads: Vec<_> =
                    (0..4).map(|_| scope.spawn(|| Store::open(Some(&path)))).collect();
                threads.into_iter().map(|t| t.join().expect("no panic")).collect()
            });
            for store in opened {
                assert_eq!(store.err(), None);
            }
        }
        std::fs::remove_dir_all(folder).expect("it is ours");
    }

    #[test]
    fn a_database_of_another_program_is_not_changed() {
        let folder = folder("foreign");
        let path = folder.join("other.db");
        let other = Connection::open(&path).expect("it can be made");
        other.execute_batch("CREATE TABLE t (a INTEGER); INSERT INTO t VALUES (1)").expect("valid");
        drop(other);
        let before = std::fs::read(&path).expect("it is there");
        let why = Store::open(Some(&path)).err().expect("it is refused");
        assert!(why.contains("another program"), "{why}");
        assert_eq!(std::fs::read(&path).expect("it is there"), before);
        std::fs::remove_dir_all(folder).expect("it is ours");
    }
}
