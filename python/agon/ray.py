"""Ray: tournaments and self-play as tasks on a laptop or a cluster.

There is no cluster code here: Ray places the tasks, counts processors and repeats tasks whose
worker has died. Matches have the same ids, seeds and, with a budget of iterations, the same moves
as on one machine.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import ray

from ._agon import Game, TournamentPlan, load, match
from ._records import MatchResult
from .tournaments import Spec, Store, TournamentResult, finish, folder_of, plan_of, read_plan

Progress = Callable[[int, int, dict[str, Any]], None]


@lru_cache(maxsize=8)
def _plan(text: str, folder: str) -> TournamentPlan:
    return TournamentPlan(text, folder=folder)


@lru_cache(maxsize=8)
def _game(text: str) -> Game:
    return load(text)

__all__ = ["read_plan", "self_play", "tournament"]


def _play(text: str, folder: str, id: str, shared_store: str | None) -> dict[str, Any]:
    """Play one match in a worker. A shared store gets it before the result is sent."""
    played = _plan(text, folder).play(id)
    if shared_store is not None:
        with Store(shared_store) as store:
            store.save(played)
    return played


def _play_many(
    rules: str, name: str, players: Sequence[str], seeds: Sequence[int], limits: dict[str, Any]
) -> list[MatchResult]:
    game = _game(rules if "\n" in rules else name)
    return [match(game, players, seed=seed, **limits) for seed in seeds]


def tournament(
    spec: Spec | None = None,
    *,
    store: str | os.PathLike[str] | None = None,
    cpus_per_match: float = 1,
    max_retries: int = 5,
    options: dict[str, Any] | None = None,
    progress: Progress | None = None,
) -> TournamentResult:
    """Play a tournament with each match as a Ray task. `ray.init` is called if nobody has.

    An SQLite store is written by this process. A PostgreSQL store is written by the workers, so
    that many of them do not wait for one. Either way a match is stored once, and the next call
    with the same store goes on from there. Without `spec` the tournament in the store is continued,
    such as a column of `agon experiment`. `options` are passed to the tasks (`resources`, ...).
    """
    if not ray.is_initialized():
        ray.init(include_dashboard=False)
    folder = folder_of(spec)
    place = None if store is None else os.fspath(store)
    is_shared = place is not None and place.startswith(("postgres://", "postgresql://"))
    kept = Store(place) if place is not None else None
    try:
        plan = plan_of(spec, kept)
        played: dict[str, dict[str, Any]] = {}
        if kept is not None:
            kept.begin(plan)
            played = {each["id"]: each for each in kept.matches()}
        remote = ray.remote(_play).options(
            num_cpus=cpus_per_match, max_retries=max_retries, **(options or {})
        )
        shared = place if is_shared else None
        running = [
            remote.remote(plan.text, folder, id, shared) for id in plan.ids if id not in played
        ]
        while running:
            ended, running = ray.wait(running, num_returns=1)
            for each in ray.get(ended):
                if kept is not None and not is_shared:
                    kept.save(each)
                played[each["id"]] = each
                if progress is not None:
                    progress(len(played), len(plan.ids), each)
        return finish(plan, played.values())
    finally:
        if kept is not None:
            kept.close()


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
) -> list[MatchResult]:
    """Play `n` matches of built-in players. Match `i` has the seed `seed + i`, as `agon.match`."""
    if not ray.is_initialized():
        ray.init(include_dashboard=False)
    opened = game if isinstance(game, Game) else load(game)
    limits = {"iterations": iterations, "seconds": seconds}
    remote = ray.remote(_play_many).options(
        num_cpus=cpus_per_task, max_retries=max_retries, **(options or {})
    )
    tasks = []
    for first in range(0, n, matches_per_task):
        seeds = [seed + at for at in range(first, min(n, first + matches_per_task))]
        tasks.append(remote.remote(opened.rules, opened.name, list(players), seeds, limits))
    results: list[MatchResult] = []
    for each in ray.get(tasks):
        results += each
    return results
