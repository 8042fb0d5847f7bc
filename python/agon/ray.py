"""Ray: matches, tournaments, experiments and self-play as tasks on a laptop or a cluster.

There is no cluster code here: Ray places the tasks, counts processors and repeats tasks whose
worker has died. Matches have the same ids, seeds and, with a budget of iterations, the same moves
as on one machine.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import ray

from ._agon import AgonError, ExperimentPlan, Game, TournamentPlan, load, match
from ._records import MatchResult
from ._experiments import ExperimentResult, run_experiment
from .tournaments import Progress, Run, Spec, Store, TournamentResult, read_plan, run_of

__all__ = ["experiment", "read_plan", "self_play", "tournament"]


@lru_cache(maxsize=8)
def _plan(text: str, folder: str) -> TournamentPlan:
    return TournamentPlan(text, folder=folder)


@lru_cache(maxsize=8)
def _game(saved: bytes) -> Game:
    """Open a game again from its pickle, once in each worker."""
    game: Game = pickle.loads(saved)
    return game


def _play(
    text: str, folder: str, id: str, shared_store: tuple[str, str | None] | None
) -> dict[str, Any]:
    """Play one match in a worker. A shared store gets it before the result is sent.

    A worker may die after it has stored the match. Then Ray repeats the task, and the match that is
    in the store counts.
    """
    if shared_store is None:
        return _plan(text, folder).play(id)
    place, schema = shared_store
    with Store(place, schema=schema) as store:
        stored = store.find(id)
        if stored is not None:
            return stored
        played = _plan(text, folder).play(id)
        return played if store.save(played) else store.find(id) or played


def _play_many(
    saved: bytes,
    players: Sequence[str],
    seeds: Sequence[int],
    limits: dict[str, Any],
) -> list[MatchResult]:
    game = _game(saved)
    return [match(game, players, seed=seed, **limits) for seed in seeds]


def _start() -> None:
    if not ray.is_initialized():
        ray.init(include_dashboard=False)


def _largest_node() -> float:
    """Return the processors of the largest node. Tasks that want more would wait forever."""
    alive = [node for node in ray.nodes() if node["Alive"]]
    return max((float(node["Resources"].get("CPU", 0)) for node in alive), default=0)


def _play_all(
    runs: Sequence[Run],
    cpus_per_match: float | None,
    max_retries: int,
    options: dict[str, Any] | None,
    progress: Progress | None,
) -> None:
    """Play the matches of all runs as tasks, each with as many processors as its players use."""
    _start()
    largest = _largest_node()
    if cpus_per_match is not None and largest < cpus_per_match:
        raise AgonError(
            f"cpus_per_match is {cpus_per_match}, and the largest node has {largest:g} processors"
        )
    running: dict[Any, Run] = {}
    play = ray.remote(_play)
    for run in runs:
        for id in run.waiting:
            cpus = cpus_per_match
            if cpus is None:
                # Players share the processors of the largest node if they want more.
                cpus = max(1, run.plan.cores(id))
                cpus = min(cpus, largest) if largest >= 1 else cpus
            task = play.options(num_cpus=cpus, max_retries=max_retries, **(options or {}))
            running[task.remote(run.plan.text, run.folder, id, run.shared)] = run
    n_matches = sum(len(run.plan.ids) for run in runs)
    try:
        while running:
            ended, _ = ray.wait(list(running), num_returns=1)
            for task in ended:
                run = running.pop(task)
                played = ray.get(task)
                run.add(played, is_stored=run.shared is not None)
                if progress is not None:
                    progress(sum(len(run.played) for run in runs), n_matches, played)
                if not run.waiting:
                    # A sequential test has decided: the rest of the run is not needed.
                    for other in [task for task, owner in running.items() if owner is run]:
                        ray.cancel(other)
                        del running[other]
    finally:
        # After Ctrl-C the cluster does not go on with what is left.
        for task in running:
            ray.cancel(task)


def tournament(
    spec: Spec | None = None,
    *,
    store: str | os.PathLike[str] | None = None,
    cpus_per_match: float | None = None,
    max_retries: int = 5,
    options: dict[str, Any] | None = None,
    progress: Progress | None = None,
) -> TournamentResult:
    """Play a tournament with each match as a Ray task. `ray.init` is called if nobody has.

    An SQLite store is written by this process. A PostgreSQL store is written by the workers, so
    that many of them do not wait for one. Either way a match is stored once, and the next call
    with the same store goes on from there. Without `spec` the tournament in the store is continued.
    A task takes as many processors as its players have threads, but no more than the largest node
    has, unless `cpus_per_match` is given.
    `options` are passed to the tasks (`resources`, ...).
    """
    with run_of(spec, store) as run:
        _play_all([run], cpus_per_match, max_retries, options, progress)
        return run.result()


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
    cpus_per_match: float | None = None,
    max_retries: int = 5,
    options: dict[str, Any] | None = None,
    progress: Progress | None = None,
) -> ExperimentResult:
    """Repeat an experiment of a paper with each match as a Ray task, all columns at once.

    Ids, seeds, stores and results are those of `agon.experiment` and `agon experiment`. `store` is
    a folder, which this process writes, or a PostgreSQL URL, which the workers write.
    """
    plan = ExperimentPlan(
        name, quick=quick, iterations=iterations, repeats=repeats, openings=openings,
        games=None if games is None else os.fspath(games), only=only, column=column,
    )  # fmt: skip
    return run_experiment(
        plan, store, lambda runs: _play_all(runs, cpus_per_match, max_retries, options, progress)
    )


def self_play(
    game: str | Game,
    players: Sequence[str],
    n: int,
    *,
    seed: int = 1,
    iterations: int | None = None,
    seconds: float | None = None,
    matches_per_task: int = 8,
    cpus_per_task: float = 1,
    max_retries: int = 5,
    options: dict[str, Any] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> list[MatchResult]:
    """Play `n` matches of built-in players. Match `i` has the seed `seed + i`, as `agon.match`.

    `progress` is called with the number of matches played and of all, after each task.
    """
    _start()
    opened = game if isinstance(game, Game) else load(game)
    limits = {"iterations": iterations, "seconds": seconds}
    remote = ray.remote(_play_many).options(
        num_cpus=cpus_per_task, max_retries=max_retries, **(options or {})
    )
    tasks = []
    saved = pickle.dumps(opened)
    for first in range(0, n, matches_per_task):
        seeds = [seed + at for at in range(first, min(n, first + matches_per_task))]
        tasks.append(remote.remote(saved, list(players), seeds, limits))
    running, n_played = list(tasks), 0
    try:
        while running:
            ended, running = ray.wait(running, num_returns=1)
            for task in ended:
                n_played += len(ray.get(task))
                if progress is not None:
                    progress(n_played, n)
    finally:
        for task in running:
            ray.cancel(task)
    results: list[MatchResult] = []
    for each in ray.get(tasks):
        results += each
    return results
