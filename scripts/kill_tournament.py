#!/usr/bin/env python3
"""Kills a tournament at random moments, restarts it, and compares it with an undisturbed one.

    scripts/kill_tournament.py --agon target/release/agon --kills 20
    scripts/kill_tournament.py --spec examples/tournament.toml --seed 7

The signal is SIGKILL. The tournament must count iterations, so that every match has one result.
After each kill the database must be intact and must hold every earlier match unchanged. At the end
both databases must hold the same matches: players, seed, opening, result, every move. The script
fails if anything differs, or if the tournament ends before the last kill.
"""

import argparse
import json
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SPEC = """\
name = "to be killed"
games = ["tic-tac-toe", "connect-three", "rock-paper-scissors", "kuhn-poker", "three-way-tic-tac-toe", "hanoi"]
repeats = 12
openings = 1
iterations = 300
seed = 5
[players]
mcts = "mcts"
uct = "uct"
random = "random"
"""


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--agon", default="target/release/agon")
    parser.add_argument("--spec", help="specification of a tournament, instead of the built-in one")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1, help="seed of the moments")
    parser.add_argument("--jobs", default="2")
    return parser.parse_args()


def matches(store):
    """Returns, by id, the parts of every match that must not depend on the time of play."""
    if not store.exists():
        return {}
    with sqlite3.connect(store) as base:
        (verdict,) = base.execute("PRAGMA integrity_check").fetchone()
        if verdict != "ok":
            sys.exit(f"the database is damaged: {verdict}")
        if not base.execute("SELECT 1 FROM sqlite_schema WHERE name = 'match'").fetchone():
            return {}
        rows = base.execute(
            "SELECT id, game, repeat, players, seed, opening, status, goals, slips, steps, record FROM match"
        ).fetchall()
    found = {}
    for row in rows:
        if row[0] in found:
            sys.exit(f"match {row[0]} is stored twice")
        record = json.loads(row[-1])
        found[row[0]] = row[1:-1] + (json.dumps([record["moves"], record["states"], record["errors"]]),)
    return found


def main():
    args = arguments()
    rng = random.Random(args.seed)
    folder = Path(tempfile.mkdtemp(prefix="agon-kill-"))
    text = Path(args.spec).read_text() if args.spec else SPEC
    whole, killed = folder / "whole.toml", folder / "killed.toml"
    for path in (whole, killed):
        path.write_text(text)
    command = lambda path: [args.agon, "tournament", str(path), "--quiet", "--jobs", args.jobs]

    began = time.time()
    subprocess.run(command(whole), check=True, stdout=subprocess.DEVNULL)
    took = time.time() - began
    expected = matches(whole.with_suffix(".db"))
    print(f"undisturbed: {len(expected)} matches in {took:.1f} s")

    store, seen = killed.with_suffix(".db"), {}
    for number in range(1, args.kills + 1):
        # All waits together are shorter than the tournament, so every kill meets a running one.
        wait = rng.uniform(0, took / args.kills)
        process = subprocess.Popen(command(killed), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        time.sleep(wait)
        process.send_signal(signal.SIGKILL)
        code = process.wait()
        if code != -signal.SIGKILL:
            sys.exit(f"kill {number}: the tournament had already ended with code {code}: {process.stderr.read().decode()}")
        now = matches(store)
        lost = [id for id, one in seen.items() if now.get(id) != one]
        if lost:
            sys.exit(f"kill {number}: lost or changed: {lost}")
        print(f"kill {number:2} after {wait:.2f} s: {len(now):3} matches, {len(now) - len(seen)} new, none lost")
        seen = now
    subprocess.run(command(killed), check=True, stdout=subprocess.DEVNULL)
    final = matches(store)
    differing = [id for id in expected.keys() | final.keys() if expected.get(id) != final.get(id)]
    if differing:
        sys.exit(f"{len(differing)} matches differ from the undisturbed tournament: {differing[:5]}")
    print(f"{args.kills} kills: {len(final)} matches, each stored once and equal to the undisturbed one move by move")
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
