"""Measure steps per second beside OpenSpiel's C++ games, from Python, in one run.

    python examples/python/throughput.py --seconds 2

A step of OpenSpiel is: list the legal actions, choose one at random, apply it, start again at the
end. A step of agon is the same for each game of the batch. `arrays` also reads masks and
observations as numpy arrays and chooses in numpy, as a learner does. All numbers are for one core.
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

#: The games of agon, and those of OpenSpiel with the same rules or of the same size.
GAMES = {
    "tic-tac-toe": "tic_tac_toe",
    "connect-four": "connect_four",
    "breakthrough": "breakthrough(rows=8,columns=8)",
    "othello": "othello",
}


def rate(step: Callable[[], int], seconds: float) -> float:
    """Return how many steps per second repeated calls make."""
    step()
    n, began = 0, time.perf_counter()
    while time.perf_counter() - began < seconds:
        n += step()
    return n / (time.perf_counter() - began)


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


def measure(seconds: float) -> list[dict[str, Any]]:
    """Measure all games and return one row for each."""
    rows = []
    for ours, theirs in GAMES.items():
        game = agon.load(ours)
        try:
            base = {n: openspiel(theirs, n, seconds) for n in (1, 256, 4096)}
        except ImportError:
            base = {}
        row: dict[str, Any] = {
            "game": ours,
            "openspiel": base,
            "agon": {1: single(game, seconds)}
            | {n: batched(game, n, seconds) for n in (256, 4096)},
            "arrays": {4096: arrays(game, 4096, seconds)},
            "inside": {4096: inside(game, 4096, seconds)},
            "playouts": playouts(game, seconds),
        }
        if base:
            row["ratio"] = {n: row["agon"][n] / base[n] for n in base}
            row["ratio_inside"] = row["inside"][4096] / base[4096]
            row["ratio_playouts"] = row["playouts"] / base[4096]
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
    print("| game | batch | OpenSpiel | agon | ratio |\n|---|---|---|---|---|")
    for row in rows:
        for n in (1, 256, 4096):
            base = row["openspiel"].get(n)
            ratio = "" if base is None else f"{row['agon'][n] / base:.1f}"
            shown = "" if base is None else f"{base:,.0f}"
            print(f"| {row['game']} | {n} | {shown} | {row['agon'][n]:,.0f} | {ratio} |")
        base = row["openspiel"].get(4096)
        for name, value in [
            ("4096, arrays", row["arrays"][4096]),
            ("4096, moves drawn inside", row["inside"][4096]),
            ("playouts", row["playouts"]),
        ]:
            ratio = "" if base is None else f"{value / base:.1f}"
            print(f"| {row['game']} | {name} | | {value:,.0f} | {ratio} |")


if __name__ == "__main__":
    main()
