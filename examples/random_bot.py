#!/usr/bin/env python3
"""A player that moves at random: the smallest program that speaks the protocol of docs/players.md.

    agon match tic-tac-toe --players "auto,cmd:python3 examples/random_bot.py"
"""

import json
import random
import sys


def main():
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "start":
            # Seeded by the role, so that matches can be repeated.
            random.seed(message["role"])
            answer = {"ready": True}
        elif message["type"] == "play":
            answer = {"move": random.choice(message["legal"])}
        else:  # stop
            break
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
