"""Experiments of published papers: the same matches, stores and tables as `agon experiment`."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ._agon import ExperimentPlan, TournamentPlan
from .tournaments import Progress, Run, TournamentResult, is_url, play_here


@dataclass(frozen=True)
class ExperimentResult:
    """The table of an experiment.

    `cells` has one entry for each column and game: `goals` of the opponent and of the player, the
    `points` of the player with their interval, results by role, and what the `paper` says.
    `columns` has the matches of each column. Games whose rules are not shipped are `missing`.
    """

    name: str
    title: str
    cells: list[dict[str, Any]]
    columns: dict[str, TournamentResult] = field(repr=False)
    missing: list[str]

    @property
    def is_complete(self) -> bool:
        return all(column.is_complete for column in self.columns.values())


@contextmanager
def prepared(
    plan: ExperimentPlan, store: str | os.PathLike[str] | None
) -> Generator[Sequence[Run], None, None]:
    """Open a run for each column, with a file in a folder or a schema in a database for each."""
    with ExitStack() as opened:
        runs: list[Run] = []
        for _, text, name, former in plan.columns:
            place, schema = store, None
            if store is not None and is_url(store):
                schema = name
            elif store is not None:
                folder = Path(store)
                folder.mkdir(parents=True, exist_ok=True)
                old = folder / f"{former}.db"
                place = old if old.exists() else folder / f"{name}.db"
            tournament = TournamentPlan(text, name="experiment")
            run = Run(tournament, str(Path.cwd()), place, schema=schema)
            runs.append(opened.enter_context(run))
        yield runs


def run_experiment(
    plan: ExperimentPlan,
    store: str | os.PathLike[str] | None,
    play_all: Callable[[Sequence[Run]], None],
) -> ExperimentResult:
    """Play all columns and compute the table."""
    with prepared(plan, store) as runs:
        play_all(runs)
        cells: list[dict[str, Any]] = []
        columns: dict[str, TournamentResult] = {}
        for at, (run, (name, *_)) in enumerate(zip(runs, plan.columns, strict=True)):
            columns[name] = run.result()
            cells += plan.cells(at, run.plan, columns[name].matches)
    return ExperimentResult(plan.name, plan.title, cells, columns, plan.missing)


def experiment(
    name: str,
    *,
    quick: bool = False,
    iterations: int | None = None,
    repeats: int | None = None,
    openings: int | None = None,
    games: str | os.PathLike[str] | None = None,
    only: str | None = None,
    column: str | None = None,
    store: str | os.PathLike[str] | None = None,
    workers: int = 1,
    progress: Progress | None = None,
) -> ExperimentResult:
    """Repeat an experiment of a paper in this process. `experiments()` lists them.

    The options are those of `agon experiment`. `store` is a folder, or a PostgreSQL URL. What was
    played there is not played again, and `agon experiment` can continue a folder.
    """
    plan = ExperimentPlan(
        name, quick=quick, iterations=iterations, repeats=repeats, openings=openings,
        games=None if games is None else os.fspath(games), only=only, column=column,
    )  # fmt: skip

    def play_all(runs: Sequence[Run]) -> None:
        for run in runs:
            play_here(run, workers, progress)

    return run_experiment(plan, store, play_all)
