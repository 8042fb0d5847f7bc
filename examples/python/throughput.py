"""Measure steps per second beside OpenSpiel's C++ games and Pgx, from Python, in one run.

    python examples/python/throughput.py --seconds 2

A step of OpenSpiel is: list the legal actions, choose one at random, apply it, start again at the
end. A step of agon and of Pgx is the same for each game of the batch: `batch.random_actions()`,
then `batch.step(actions)`. `arrays` also reads masks and observations as numpy arrays and chooses
in numpy, as a learner does; `inside` draws the moves in the engine. Seconds are those of a
processor, so JAX has no advantage from the second core. OpenSpiel and Pgx are left out where they
are not installed.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import agon

#: The games of agon, and the same games of OpenSpiel and of Pgx.
GAMES = {
    "tic-tac-toe": ("tic_tac_toe", "tic_tac_toe"),
    "connect-four": ("connect_four", "connect_four"),
    "breakthrough": ("breakthrough(rows=8,columns=8)", None),
    "othello": ("othello", "othello"),
}
BATCHES = (1, 256, 4096)


def rate(step: Callable[[], int], seconds: float) -> float:
    """Return how many steps repeated calls make in a second of processor time.

    The best of 20 stretches and not the mean, because other programs only ever make one longer.
    """
    step()
    best = 0.0
    for _ in range(20):
        n, began = 0, time.process_time()
        while time.process_time() - began < seconds / 20:
            n += step()
        best = max(best, n / (time.process_time() - began))
    return best


def openspiel(name: str, batch: int, seconds: float) -> float:
    import pyspiel

    game = pyspiel.load_game(name)
    states = [game.new_initial_state() for _ in range(batch)]
    choose = random.Random(1).choice

    def step() -> int:
        for at, state in enumerate(states):
            state.apply_action(choose(state.legal_actions()))
            if state.is_terminal():
                states[at] = game.new_initial_state()
        return batch

    return rate(step, seconds)


def pgx_rate(name: str, batch: int, seconds: float) -> float:
    """Return the steps per second of Pgx (Koyamada et al. 2023), compiled by JAX."""
    from importlib import import_module

    # Neither has complete types.
    jax: Any = import_module("jax")
    pgx: Any = import_module("pgx")
    auto_reset: Any = import_module("pgx.experimental").auto_reset
    env = pgx.make(name)
    start = jax.vmap(env.init)(jax.random.split(jax.random.PRNGKey(0), batch))
    step_all = jax.vmap(auto_reset(env.step, env.init))

    def advance(state: Any, key: Any) -> tuple[Any, Any]:
        key, choose, chance = jax.random.split(key, 3)
        odds = jax.numpy.log(state.legal_action_mask.astype(jax.numpy.float32))
        actions = jax.random.categorical(choose, odds, axis=1)
        return step_all(state, actions, jax.random.split(chance, batch)), key

    compiled = jax.jit(advance)
    now: list[Any] = [start, jax.random.PRNGKey(1)]

    def step() -> int:
        now[0], now[1] = compiled(now[0], now[1])
        jax.block_until_ready(now[0].rewards)
        return batch

    return rate(step, seconds)


def single(game: agon.Game, seconds: float) -> float:
    states = [game.start()]
    choose = random.Random(1).choice

    def step() -> int:
        state = states[0]
        state.play(choose(state.legal_actions()))
        if state.is_terminal:
            states[0] = game.start()
        return 1

    return rate(step, seconds)


def batched(game: agon.Game, n: int, seconds: float) -> float:
    batch = game.batch(n)

    def step() -> int:
        batch.step(batch.random_actions())
        return n

    return rate(step, seconds)


def arrays(game: agon.Game, n: int, seconds: float) -> float:
    batch = game.batch(n)
    rng = np.random.default_rng(1)

    def step() -> int:
        batch.observe("uint8")
        legal = batch.legal
        noise = rng.integers(1, 255, legal.shape, np.uint8)
        batch.step((noise * legal).argmax(axis=1))
        return n

    return rate(step, seconds)


def inside(game: agon.Game, n: int, seconds: float) -> float:
    batch = game.batch(n)

    def step() -> int:
        batch.step_random(8)
        return 8 * n

    return rate(step, seconds)


def playouts(game: agon.Game, seconds: float) -> float:
    start = [game.start()]

    def step() -> int:
        found = game.playouts(start, 4096)
        return int(found.lengths[0] * 4096)

    return rate(step, seconds)


def beside(
    measured: Callable[[str, int, float], float], name: str | None, n: int, seconds: float
) -> float | None:
    """Return what another library does, or None if it is not installed or has no such game."""
    try:
        return None if name is None else measured(name, n, seconds)
    except ImportError:
        return None


def measure(seconds: float) -> list[dict[str, Any]]:
    """Measure all games and return one row for each game and batch size."""
    rows: list[dict[str, Any]] = []
    for ours, (spiel, other) in GAMES.items():
        game = agon.load(ours)
        for n in BATCHES:
            base = beside(openspiel, spiel, n, seconds)
            row: dict[str, Any] = {
                "game": ours,
                "batch": n,
                "openspiel": base,
                "pgx": beside(pgx_rate, other, n, seconds),
                "agon": single(game, seconds) if n == 1 else batched(game, n, seconds),
            }
            if n > 1:
                row["arrays"] = arrays(game, n, seconds)
                row["inside"] = inside(game, n, seconds)
            if n == max(BATCHES):
                row["playouts"] = playouts(game, seconds)
            if base is not None:
                row["ratio"] = row["agon"] / base
            rows.append(row)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rows = measure(options.seconds)
    if options.json:
        print(json.dumps(rows))
        return
    columns = ("openspiel", "pgx", "agon", "arrays", "inside", "playouts")
    print("| game | batch | " + " | ".join(columns) + " | agon / OpenSpiel |")
    print("|---" * (len(columns) + 3) + "|")
    for row in rows:
        cells = [f"{row[c]:,.0f}" if row.get(c) is not None else "" for c in columns]
        ratio = f"{row['ratio']:.1f}" if "ratio" in row else ""
        print(f"| {row['game']} | {row['batch']} | " + " | ".join(cells) + f" | {ratio} |")


if __name__ == "__main__":
    main()
