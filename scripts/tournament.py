#!/usr/bin/env python3
"""Plays one player against another over many games, roles swapped, by `agon match --json`.

    scripts/tournament.py A B --games connect-four,breakthrough --matches 20 --iterations 1000
    scripts/tournament.py mcts uct --games @paper --matches 4 --play-clock 0.3 --jobs 1
    scripts/tournament.py auto auto --games @load --matches 4 --play-clock 1 --max-steps 10 --jobs 4

A has each role in turn and B all others. The matches of a pair share a seed. Points are
50 + (goal of A - mean goal of the others) / 2, so 50 is even. The table has the mean, the
half-width of its 95 % interval, the mean goals, the steps, and the move errors: moves that were
late, illegal or missing. The script fails if there is a move error, crash or fault. Overdue moves
are counted apart and are not errors: the search did not return in time, and the clock took the
best move so far.

`agon tournament` can be resumed, takes any number of players, and computes Elo and SPRT.
"""

import argparse
import concurrent.futures
import json
import math
import subprocess
import sys
import time
from pathlib import Path

LISTS = {
    # The games of tables 5.2 and 5.3 of Trutman 2015 that ship, and four others.
    "@paper": "bidding-tic-tac-toe,blocker,breakthrough,checkers,chinese-checkers,connect-four,"
    "nine-board-tic-tac-toe,pentago,sheep-and-wolf,skirmish,othello,knightthrough,hex,amazons",
    # Games of every kind: turns, simultaneous moves, chance, hidden information, 1 to 4 players.
    "@load": "tic-tac-toe,connect-three,nim,rock-paper-scissors,bidding-tic-tac-toe,three-way-tic-tac-toe,four-way-tron,"
    "dots-and-boxes,hanoi,eight-puzzle,lights-out,kuhn-poker,blind-nim,krieg-tic-tac-toe,liars-dice,dice-race,mastermind,"
    "connect-four,breakthrough,checkers,chinese-checkers,othello,amazons,pentago,hex,gomoku,skirmish,pursuit",
}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("a")
    parser.add_argument("b")
    parser.add_argument("--games", default="@paper", help="names or paths, separated by commas; or @paper or @load")
    parser.add_argument("--matches", type=int, default=10, help="matches of each game")
    parser.add_argument("--iterations", type=int)
    parser.add_argument("--play-clock", type=float, default=1.0)
    parser.add_argument("--start-clock", type=float)
    parser.add_argument("--max-steps", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1, help="matches that run at the same time")
    parser.add_argument("--agon", default="agon", help="path of the agon program")
    parser.add_argument("--minutes", type=float, default=1e9, help="start no match after this many minutes")
    return parser.parse_args()


def lines(command):
    done = subprocess.run(command, capture_output=True, text=True)
    told = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return told, done


def n_players(args, game):
    """Returns the indices of the roles of players. The role of chance is not among them."""
    told, done = lines([args.agon, "match", game, "--iterations", "1", "--players", "random", "--max-steps", "1", "--json"])
    if not told:
        sys.exit(f"{game}: {done.stderr}")
    start = told[0]
    return [start["roles"].index(player["role"]) for player in start["players"]]


def play(args, game, seats, number):
    ours = number % len(seats)
    players = ",".join(args.a if at == ours else args.b for at in range(len(seats)))
    command = [args.agon, "match", game, "--players", players, "--json", "--seed", str(args.seed + number // len(seats))]
    command += ["--max-steps", str(args.max_steps)]
    if args.iterations:
        command += ["--iterations", str(args.iterations)]
    else:
        start = args.start_clock if args.start_clock is not None else 2 * args.play_clock
        command += ["--play-clock", str(args.play_clock), "--start-clock", str(start)]
    told, done = lines(command)
    result = told[-1] if told and told[-1].get("type") == "result" else None
    slips = [
        f"{game}, seed {args.seed + number // len(seats)}, step {line['step']}: {line['errors']}"
        for line in told
        if line.get("type") == "step" and line["errors"]
    ]
    slips += [f"{game}: {line['errors']}" for line in told if line.get("type") == "not_ready"]
    if result is None or result["ending"] == "fault" or done.returncode < 0:
        slips.append(f"{game}: crash or fault: {done.stderr.strip()[-300:]}")
        return None, slips, 0.0, 0
    thoughts = [thought for line in told if line.get("type") == "step" for thought in line["thoughts"].values()]
    n_overdue = sum(thought.get("overdue", False) for thought in thoughts)
    slowest = max((thought.get("seconds", 0.0) for thought in thoughts), default=0.0)
    if result["goals"] is None:
        return None, slips, slowest, n_overdue
    goals = [result["goals"][seat] for seat in seats]
    others = [goal for at, goal in enumerate(goals) if at != ours]
    theirs = sum(others) / len(others) if others else math.nan
    return (goals[ours], theirs, result["steps"]), slips, slowest, n_overdue


def main():
    args = arguments()
    began, all_slips, means, variances, n_matches, slowest = time.time(), [], [], [], 0, 0.0
    n_overdue = 0
    budget = f"{args.iterations} iterations" if args.iterations else f"{args.play_clock} s"
    print(f"`{args.a}` against `{args.b}`, {budget} a move, {args.jobs} at a time, {time.strftime('%Y-%m-%d')}\n")
    print("| game | matches | points % | +- | A | B | steps | overdue | errors |\n|---|---|---|---|---|---|---|---|---|")
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        waiting = []
        for game in LISTS.get(args.games, args.games).split(","):
            seats = n_players(args, game)
            begin = lambda number, game=game, seats=seats: (
                play(args, game, seats, number) if time.time() - began < args.minutes * 60 else None
            )
            waiting.append((game, [pool.submit(begin, number) for number in range(args.matches)]))
        for game, matches in waiting:
            played = [match.result() for match in matches if match.result() is not None]
            n_matches += len(played)
            slips = [slip for _, found, _, _ in played for slip in found]
            overdue = sum(overdue for _, _, _, overdue in played)
            n_overdue += overdue
            all_slips += slips
            slowest = max([slowest] + [seconds for _, _, seconds, _ in played])
            results = [result for result, _, _, _ in played if result is not None]
            name = Path(game).stem
            if not results or math.isnan(results[0][1]):
                goals = [ours for ours, _, _ in results]
                mean = f"{sum(goals) / len(goals):.1f}" if goals else "-"
                print(f"| {name} | {len(played)} | - | - | {mean} | - | - | {overdue} | {len(slips)} |", flush=True)
                continue
            n = len(results)
            points = [50 + (ours - theirs) / 2 for ours, theirs, _ in results]
            mean = sum(points) / n
            variance = sum((point - mean) ** 2 for point in points) / max(n - 1, 1)
            ours, theirs, steps = (sum(column) / n for column in zip(*results))
            print(
                f"| {name} | {n} | {mean:.1f} | {1.96 * math.sqrt(variance / n):.1f} | {ours:.1f} | {theirs:.1f} | {steps:.0f} "
                f"| {overdue} | {len(slips)} |",
                flush=True,
            )
            means.append(mean)
            variances.append(variance / n)
    if means:
        half = 1.96 * math.sqrt(sum(variances)) / len(means)
        print(f"| all | {n_matches} | {sum(means) / len(means):.1f} | {half:.1f} | | | | {n_overdue} | {len(all_slips)} |")
    print(
        f"\n{n_matches} matches in {time.time() - began:.0f} s, slowest answer {slowest:.3f} s, "
        f"{n_overdue} overdue, {len(all_slips)} move errors"
    )
    for slip in all_slips[:20]:
        print(slip)
    sys.exit(bool(all_slips))


if __name__ == "__main__":
    main()
