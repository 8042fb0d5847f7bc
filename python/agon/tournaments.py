"""Tournaments: the same matches, ids and stores as `agon tournament`."""

from __future__ import annotations

import json
import os
import sqlite3
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, cast

from ._agon import AgonError, TournamentPlan, __version__

#: A tournament: a path of a TOML file, TOML text, or the same as a dictionary.
Spec = str | os.PathLike[str] | Mapping[str, Any]

#: Is called after each match with the number of matches played, that of all, and the match.
Progress = Callable[[int, int, dict[str, Any]], None]

_APPLICATION = 0x41474F4E
_FORMAT = 1
_COLUMNS = (
    "id", "game", "repeat", "players", "seed", "opening", "status", "goals", "slips", "steps",
    "began", "seconds", "record",
)  # fmt: skip
_JSON = ("players", "opening", "goals", "slips")


@dataclass(frozen=True)
class TournamentResult:
    """The matches of a tournament and what they mean."""

    matches: list[dict[str, Any]] = field(repr=False)
    standings: dict[str, Any] = field(repr=False)

    @property
    def is_complete(self) -> bool:
        return bool(self.standings["is_complete"])

    @property
    def records(self) -> list[dict[str, Any]]:
        """One flat row for each player of each match, ready for a DataFrame."""
        rows = []
        for played in self.matches:
            for at, player in enumerate(played["players"]):
                goal = None if played["goals"] is None else played["goals"][at]
                row = {key: played[key] for key in ("id", "game", "repeat", "status", "steps")}
                slips = played["slips"][at]
                rows.append({**row, "seat": at, "player": player, "goal": goal, "slips": slips})
        return rows

    @property
    def points(self) -> dict[str, float]:
        """The mean points of each player over all games, from 0 to 1."""
        rows = self.standings["overall"]["players"]
        return {row["player"]: row["points"]["mean"] for row in rows if row["points"]}


def read_plan(spec: Spec) -> TournamentPlan:
    """Read a tournament from a file, a text or a dictionary."""
    if isinstance(spec, Mapping):
        return TournamentPlan(_to_toml(spec), name="tournament")
    path = _path_of(spec)
    if path is None:
        return TournamentPlan(str(spec), name="tournament")
    text = path.read_text(encoding="utf-8")
    return TournamentPlan(text, name=str(path), folder=str(path.parent))


def folder_of(spec: Spec | None) -> str:
    """Return the folder to which paths in a description are relative."""
    path = None if spec is None or isinstance(spec, Mapping) else _path_of(spec)
    return str(Path.cwd() if path is None else path.resolve().parent)


def _path_of(spec: str | os.PathLike[str]) -> Path | None:
    """Return the path of a description, or None if it is the description itself."""
    is_text = isinstance(spec, str) and ("\n" in spec or "=" in spec)
    return None if is_text else Path(spec)


def _to_toml(spec: Mapping[str, Any]) -> str:
    lines, tables = [], []
    for key, value in spec.items():
        if isinstance(value, Mapping):
            tables.append(f"[{key}]")
            tables += [f"{json.dumps(name)} = {_toml_value(item)}" for name, item in value.items()]
        else:
            lines.append(f"{key} = {_toml_value(value)}")
    return "\n".join(lines + tables) + "\n"


def _toml_value(value: Any) -> str:
    if isinstance(value, Mapping):
        inside = ", ".join(f"{json.dumps(k)} = {_toml_value(v)}" for k, v in value.items())
        return "{ " + inside + " }"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_toml_value, value)) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    raise TypeError(f"{value!r} cannot be part of a tournament")


def is_url(place: str | os.PathLike[str] | None) -> bool:
    """Tell whether a store is a PostgreSQL database, which many processes may write to."""
    return place is not None and os.fspath(place).startswith(("postgres://", "postgresql://"))


class Store:
    """The matches of a tournament in an SQLite file, or in PostgreSQL by its URL.

    The tables are those of `agon tournament --store`, which can show and continue such a file.
    Each match is one transaction with its id as the key, so none is lost or counted twice. While
    an SQLite store is open, no other process can play into it. A PostgreSQL database can have
    several tournaments, each in a `schema` of its own.
    """

    def __init__(self, place: str | os.PathLike[str], *, schema: str | None = None) -> None:
        text = os.fspath(place)
        self._lock = threading.Lock()
        self._is_postgres = is_url(text)
        self._file: IO[str] | None = None
        self._connection: Any
        if self._is_postgres:
            try:
                import psycopg
            except ImportError as error:
                raise ImportError(
                    "a PostgreSQL store needs psycopg: pip install 'psycopg[binary]'"
                ) from error
            self._connection = psycopg.connect(text, autocommit=True)
            if schema is not None:
                name = '"' + schema.replace('"', '""') + '"'
                try:
                    self._connection.execute(f"CREATE SCHEMA IF NOT EXISTS {name}")
                except psycopg.errors.UniqueViolation:
                    pass  # Another process has made it at the same time.
                self._connection.execute(f"SET search_path TO {name}")
        else:
            self._file = _lock_file(text)
            self._connection = sqlite3.connect(
                text, timeout=30, isolation_level=None, check_same_thread=False
            )
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.execute("PRAGMA synchronous = FULL")
        self._place = text

    def begin(self, plan: TournamentPlan) -> None:
        """Write the description and the games, or compare them with those in the store.

        Players, games and repeats may have been added; any other change is an error.
        """
        with self._lock:
            run = self._connection.execute
            old = self._old_spec()
            if old is not None:
                try:
                    plan.additions(old, self._games())
                except AgonError as error:
                    raise AgonError(f"{self._place}: {error}") from None
            run("BEGIN")
            try:
                if old is None:
                    for table in _TABLES:
                        if not self._is_postgres:
                            table = table.replace("BIGINT", "INTEGER") + " STRICT"
                            table = table.replace("DOUBLE PRECISION", "REAL")
                        run(table)
                put = "INSERT INTO tournament VALUES (?, ?) "
                put += "ON CONFLICT (key) DO UPDATE SET value = ?"
                run(self._sql(put), ("spec", plan.text, plan.text))
                run(self._sql(put), ("agon", __version__, __version__))
                for name, rules, roles in plan.games:
                    run(
                        self._sql("INSERT INTO game VALUES (?, ?, ?) ON CONFLICT DO NOTHING"),
                        (name, rules, json.dumps(roles)),
                    )
                if not self._is_postgres:
                    run(f"PRAGMA application_id = {_APPLICATION}")
                    run(f"PRAGMA user_version = {_FORMAT}")
            except BaseException:
                run("ROLLBACK")
                raise
            run("COMMIT")

    def save(self, played: Mapping[str, Any]) -> bool:
        """Write a match. Return whether it is new; a match that is there stays as it is."""
        values = [
            json.dumps(played[key]) if key in _JSON and played[key] is not None
            else str(played[key]) if key == "seed" else played[key]
            for key in _COLUMNS
        ]  # fmt: skip
        places = ", ".join("?" for _ in _COLUMNS)
        with self._lock:
            written = self._connection.execute(
                self._sql(f"INSERT INTO match VALUES ({places}) ON CONFLICT DO NOTHING"), values
            )
            return bool(written.rowcount)

    def spec(self) -> str:
        """Return the description of the tournament in the store, as TOML."""
        with self._lock:
            spec = self._old_spec()
        if spec is None:
            raise AgonError(f"{self._place} has no tournament yet: give its description")
        return spec

    def matches(self) -> list[dict[str, Any]]:
        """Return all matches, without the order in which they ended."""
        return self._read("ORDER BY id")

    def find(self, id: str) -> dict[str, Any] | None:
        """Return the match of an id, if it was played."""
        return next(iter(self._read("WHERE id = ?", id)), None)

    def _read(self, which: str, *values: Any) -> list[dict[str, Any]]:
        columns = ", ".join(f'"{column}"' for column in _COLUMNS)
        text = self._sql(f"SELECT {columns} FROM match {which}")
        with self._lock:
            rows = self._connection.execute(text, values).fetchall()
        found = []
        for row in rows:
            played: dict[str, Any] = dict(zip(_COLUMNS, row, strict=True))
            for key in _JSON:
                played[key] = None if played[key] is None else json.loads(played[key])
            played["seed"] = int(played["seed"])
            # The format of records has spaces inside of parentheses.
            joints = json.loads(played["record"])["moves"]
            played["moves"] = [
                [move.replace("( ", "(").replace(" )", ")") for move in joint] for joint in joints
            ]
            found.append(played)
        return found

    def close(self) -> None:
        self._connection.close()
        if self._file is not None:
            self._file.close()
            self._file = None

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _old_spec(self) -> str | None:
        exists = (
            "SELECT 1 FROM information_schema.tables WHERE table_name = 'tournament' "
            "AND table_schema = current_schema()"
            if self._is_postgres
            else "SELECT 1 FROM sqlite_schema WHERE name = 'tournament'"
        )
        if self._connection.execute(exists).fetchone() is None:
            return None
        row = self._connection.execute(
            "SELECT value FROM tournament WHERE key = 'spec'"
        ).fetchone()
        return None if row is None else cast(str, row[0])

    def _games(self) -> list[tuple[str, str, list[str]]]:
        rows = self._connection.execute("SELECT name, rules, roles FROM game").fetchall()
        return [(name, rules, json.loads(roles)) for name, rules, roles in rows]

    def _sql(self, text: str) -> str:
        return text.replace("?", "%s") if self._is_postgres else text


def _lock_file(store: str) -> IO[str] | None:
    """Lock a store against other processes, as `agon tournament` does."""
    try:
        import fcntl
    except ImportError:  # Windows has no such locks; there the database alone keeps order.
        return None
    file = open(os.path.realpath(store) + ".lock", "a+", encoding="utf-8")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        raise AgonError(
            f"another process is playing into {store}: wait for it, stop it, or give another store"
        ) from None
    file.truncate(0)
    file.write(f"{os.getpid()}\n")
    file.flush()
    return file


_TABLES = (
    "CREATE TABLE tournament (key TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "CREATE TABLE game (name TEXT PRIMARY KEY, rules TEXT NOT NULL, roles TEXT NOT NULL)",
    "CREATE TABLE match (id TEXT PRIMARY KEY, game TEXT NOT NULL REFERENCES game (name), "
    "repeat INTEGER NOT NULL, players TEXT NOT NULL, seed TEXT NOT NULL, opening TEXT NOT NULL, "
    "status TEXT NOT NULL, goals TEXT, slips TEXT NOT NULL, steps INTEGER NOT NULL, "
    "began BIGINT NOT NULL, seconds DOUBLE PRECISION NOT NULL, record TEXT NOT NULL)",
)


class Run:
    """The matches of a tournament that are left to play, and those that were played."""

    def __init__(
        self,
        plan: TournamentPlan,
        folder: str,
        store: str | os.PathLike[str] | None = None,
        *,
        schema: str | None = None,
    ) -> None:
        self.plan = plan
        self.folder = folder
        #: URL and schema of a store to which the processes that play matches write themselves.
        self.shared: tuple[str, str | None] | None = None
        if store is not None and is_url(store):
            self.shared = (os.fspath(store), schema)
        self.played: dict[str, dict[str, Any]] = {}
        self._kept = None if store is None else Store(store, schema=schema)
        try:
            if self._kept is not None:
                self._kept.begin(plan)
                self.played = {match["id"]: match for match in self._kept.matches()}
        except BaseException:
            self.close()
            raise

    @property
    def waiting(self) -> list[str]:
        """The matches that are left: none once a sequential test has decided."""
        if self.plan.is_decided(list(self.played.values())):
            return []
        return [id for id in self.plan.ids if id not in self.played]

    def add(self, match: dict[str, Any], *, is_stored: bool = False) -> None:
        """Keep a match that has ended."""
        if self._kept is not None and not is_stored:
            self._kept.save(match)
        self.played[match["id"]] = match

    def result(self) -> TournamentResult:
        """Compute the standings of the matches played so far."""
        order = {id: at for at, id in enumerate(self.plan.ids)}
        known = (match for match in self.played.values() if match["id"] in order)
        matches = sorted(known, key=lambda match: order[match["id"]])
        return TournamentResult(matches, self.plan.standings(matches))

    def close(self) -> None:
        if self._kept is not None:
            self._kept.close()

    def __enter__(self) -> Run:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def run_of(spec: Spec | None, store: str | os.PathLike[str] | None) -> Run:
    """Return the run of a description, or else of the tournament in a store."""
    if spec is not None:
        return Run(read_plan(spec), folder_of(spec), store)
    if store is None:
        raise AgonError("give a tournament, or a store that has one")
    with Store(store) as kept:
        text = kept.spec()
    return Run(TournamentPlan(text), folder_of(None), store)


def play_here(run: Run, workers: int, progress: Progress | None) -> None:
    """Play all matches of a run in this process."""
    n_matches = len(run.plan.ids)
    with ThreadPoolExecutor(max_workers=max(1, workers)) as pool:
        todo = run.waiting
        running: set[Future[dict[str, Any]]] = set()
        try:
            while todo or running:
                while todo and len(running) < max(1, workers):
                    running.add(pool.submit(run.plan.play, todo.pop(0)))
                ended, running = wait(running, timeout=0.2, return_when=FIRST_COMPLETED)
                for future in ended:
                    match = future.result()
                    run.add(match)
                    if progress is not None:
                        progress(len(run.played), n_matches, match)
                if ended and run.plan.is_decided(list(run.played.values())):
                    todo = []
        except BaseException:
            # Matches in progress end at once, and are not kept.
            pool.shutdown(wait=False, cancel_futures=True)
            run.plan.abort()
            raise


def tournament(
    spec: Spec | None = None,
    *,
    store: str | os.PathLike[str] | None = None,
    workers: int = 1,
    progress: Progress | None = None,
) -> TournamentResult:
    """Play a tournament with built-in players in this process.

    `store` keeps every match as it ends, and the next call with the same store goes on from there.
    Without `spec` the tournament in the store is continued, such as a column of `agon experiment`.
    `workers` matches are played at the same time. `progress` is called after each match with the
    number of matches played, the number of all matches, and the match. A sequential test (`sprt`)
    ends the tournament when it has decided.
    """
    with run_of(spec, store) as run:
        play_here(run, workers, progress)
        return run.result()
