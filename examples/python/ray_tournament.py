"""Play a tournament on a local Ray cluster and print matches per hour.

    python examples/python/ray_tournament.py --workers 2
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import ray

import agon.ray


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=12)
    parser.add_argument("--iterations", type=int, default=1000)
    options = parser.parse_args()
    spec: dict[str, Any] = {
        "games": ["connect-four"],
        "repeats": options.repeats,
        "openings": 2,
        "iterations": options.iterations,
        "players": {"mcts": "mcts", "uct": "uct"},
    }
    memory = 200 * 2**20
    ray.init(num_cpus=options.workers, include_dashboard=False, object_store_memory=memory)
    # The workers import the package and open the game first, which is not what is measured.
    agon.ray.tournament({**spec, "repeats": 2})
    began = time.perf_counter()
    result = agon.ray.tournament({**spec, "seed": 2})
    hours = (time.perf_counter() - began) / 3600
    print(f"{options.workers} workers: {len(result.matches) / hours:,.0f} matches per hour")
    print(result.points)


if __name__ == "__main__":
    main()
