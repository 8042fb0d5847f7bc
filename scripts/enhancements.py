#!/usr/bin/env python3
r"""Plays MAST, RAVE and both against plain UCT at equal iterations, on the games of Trutman 2015.

    scripts/enhancements.py --out enhancements.jsonl --matches 40 --iterations 1000 --jobs 2
    scripts/enhancements.py --out enhancements.jsonl --games connect-four,blocker \
        --variants mast,rave --minutes 60

Each match is a line of the output file. Matches that are in the file already are not played again,
so the script may be stopped at any time and continues where it stopped. It prints the table at the
end; with `--matches 0` it prints only the table. Matches are played in rounds, one of each game and
variant, with roles swapped, so that an interrupted run has equally many of each.

Trutman 2015 played the same players against heuristics of its own, not against UCT (tables 5.2 and
5.3). The number in brackets is the score of MAST minus that of UCT, both against the playout
heuristic; for RAVE against the tree heuristic; for both against the combination. UCT had 10 000
simulations there and the others equal time, so only signs and sizes can be compared.
"""

import argparse
import concurrent.futures
import json
import math
import time
from pathlib import Path

import tournament

VARIANTS = {"mast": "uct(mast)", "rave": "uct(rave)", "both": "uct(mast,rave)"}

# By game: its folder in --shared, or None if it ships; then for each variant the scores of UCT and
# of the variant against the heuristics of Trutman 2015.
PAPER = {
    "battle": ("battle", [(85.0, 94.7), (88.5, 85.7), (90.9, 90.0)]),
    "bidding-tic-tac-toe": (None, [(42.8, 29.2), (40.8, 30.0), (39.3, 22.0)]),
    "blocker": (None, [(55.3, 52.0), (52.7, 52.0), (49.0, 54.7)]),
    "breakthrough": (None, [(47.3, 67.7), (51.7, 48.0), (52.3, 72.3)]),
    "checkers-small": ("checkersSmall", [(77.3, 84.3), (50.2, 48.5), (79.0, 83.0)]),
    "chinese-checkers": (None, [(67.2, 84.0), (74.5, 75.8), (69.3, 81.2)]),
    "chinook": ("chinook", [(50.7, 64.3), (51.7, 55.0), (51.0, 69.3)]),
    "connect-four": (None, [(65.2, 62.8), (50.7, 54.8), (62.0, 67.3)]),
    "criss-cross": ("crisscross", [(61.3, 62.5), (63.0, 62.5), (62.0, 62.5)]),
    "ghost-maze": ("ghostMaze2p", [(20.0, 25.2), (19.3, 27.8), (24.8, 30.8)]),
    "nine-board-tic-tac-toe": (None, [(19.7, 35.0), (33.7, 33.3), (18.7, 25.0)]),
    "pentago": (None, [(43.3, 37.3), (28.8, 28.2), (20.8, 24.0)]),
    "sheep-and-wolf": (None, [(58.7, 67.3), (59.7, 53.0), (65.0, 70.7)]),
    "skirmish": (None, [(78.1, 84.8), (79.3, 79.5), (80.8, 87.4)]),
}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="file with a line for each match; continued if it exists")
    parser.add_argument("--games", default=",".join(PAPER))
    parser.add_argument("--variants", default=",".join(VARIANTS))
    parser.add_argument("--matches", type=int, default=40, help="matches for each game and variant")
    parser.add_argument("--iterations", type=int, default=1000)
    parser.add_argument("--max-steps", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1, help="matches that run at the same time")
    parser.add_argument("--agon", default="agon", help="path of the agon program")
    parser.add_argument("--shared", type=Path, default=Path(__file__).parent / "../../shared/games")
    parser.add_argument("--minutes", type=float, default=1e9, help="start no match after this many minutes")
    return parser.parse_args()


def place(args, game):
    folder = PAPER[game][0]
    found = sorted((args.shared / folder).glob("*.kif")) if folder else [game]
    return str(found[0]) if found else None


def main():
    args = arguments()
    began = time.time()
    lines = [json.loads(line) for line in args.out.read_text().splitlines()] if args.out.exists() else []
    done = {(line["game"], line["variant"], line["number"]) for line in lines if line["iterations"] == args.iterations}
    games = [game for game in args.games.split(",") if place(args, game)]
    seats = {}

    def play(game, variant, number):
        if time.time() - began > args.minutes * 60:
            return None
        match = argparse.Namespace(a=VARIANTS[variant], b="uct", **vars(args))
        result, slips, _, _ = tournament.play(match, place(args, game), seats[game], number)
        points = 50 + (result[0] - result[1]) / 2 if result else None
        return {
            "game": game, "variant": variant, "number": number, "iterations": args.iterations,
            "points": points, "steps": result and result[2], "slips": slips,
        }  # fmt: skip

    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool, args.out.open("a") as out:
        for game in games if args.matches else []:
            seats[game] = tournament.n_players(args, place(args, game))
        waiting = [
            pool.submit(play, game, variant, number)
            for number in range(args.matches)
            for game in games
            for variant in args.variants.split(",")
            if (game, variant, number) not in done
        ]
        for match in concurrent.futures.as_completed(waiting):
            if line := match.result():
                lines.append(line)
                print(json.dumps(line), file=out, flush=True)
    show(args, [line for line in lines if line["iterations"] == args.iterations])


def show(args, lines):
    print(f"Points % against `uct`, {args.iterations} iterations a move; in brackets the difference in Trutman 2015\n")
    print("| game | " + " | ".join(VARIANTS) + " |\n|---|" + "---|" * len(VARIANTS))
    for game, (_, scores) in PAPER.items():
        cells = []
        for variant, (before, after) in zip(VARIANTS, scores):
            points = [line["points"] for line in lines if (line["game"], line["variant"]) == (game, variant)]
            points = [point for point in points if point is not None]
            n = len(points)
            if n < 2:
                cells.append(f"- ({after - before:+.1f})")
                continue
            mean = sum(points) / n
            half = 1.96 * math.sqrt(sum((point - mean) ** 2 for point in points) / (n - 1) / n)
            cells.append(f"{mean:.1f} +-{half:.1f}, {n} matches ({after - before:+.1f})")
        if any(not cell.startswith("-") for cell in cells):
            print(f"| {game} | " + " | ".join(cells) + " |")
    print(f"\n{len(lines)} matches, {sum(len(line['slips']) for line in lines)} move errors")


if __name__ == "__main__":
    main()
