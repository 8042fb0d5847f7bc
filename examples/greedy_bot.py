#!/usr/bin/env python3
"""A greedy player that looks ahead by calls to the referee, without a reasoner of its own.

    agon match tic-tac-toe --players "cmd:python3 examples/greedy_bot.py,random" --play-clock 2
"""
import json, sys


def ask(message):
    print(json.dumps(message), flush=True)
    return json.loads(sys.stdin.readline())


for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "start":
        role = message["role"]
        print('{"ready": true}', flush=True)
    elif message["type"] == "play":
        values = {}
        for move in message["legal"] if len(message["legal"]) > 1 else []:
            child = ask({"call": "next", "moves": move})["state"]
            values[move] = ask({"call": "playout", "state": child, "n": 64})["means"][role]
        print(json.dumps({"move": max(values or message["legal"], key=values.get)}), flush=True)
