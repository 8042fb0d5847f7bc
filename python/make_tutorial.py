"""Write docs/tutorial.ipynb from the cells below, with the outputs of a run if asked to.

    python python/make_tutorial.py --run
"""

from __future__ import annotations

import sys
from pathlib import Path

import nbformat

CELLS = [
    """# Agon from Python

Any game, given its rules: play it, search it, explain it, and step thousands of copies at once.
This notebook is executed by the tests. `docs/python.md` is the reference.""",
    """import agon

game = agon.load("connect-four")
game""",
    "A state shows its board. Moves are texts or numbers, and every move is checked.",
    """state = game.start()
for move in ["(drop 4)", "(drop 4)", "(drop 3)", "(drop 5)"]:
    state.play(move)
state""",
    """print(state.turn, state.legal_moves())
try:
    state.play("(drop 99)")
except agon.IllegalMoveError as error:
    print(error)""",
    "## Search\n\nBuilt-in players think about any state. The report is an object.",
    """report = game.player("mcts").think(state, iterations=2000)
print(report.best_move, round(report.value, 1))
for move in report.considered[:3]:
    print(f"  {move.move}: {move.visits} visits, {move.value:.1f}")""",
    "## Matches\n\nA player is a specification, or any Python function of what its role knows.",
    """def edge(view):
    return view.legal_moves[0]

result = agon.match(game, [edge, "mcts"], iterations=300)
dict(zip(result.roles, result.goals))""",
    "## Rules\n\nProofs instead of guesses, in the words of the rules.",
    """tic = agon.load("tic-tac-toe")
print(tic.solve().values)
after = tic.start()
after.play("(mark 1 1)")
tic.why("(legal oplayer (mark 1 1))", after)["why_not"]["rules"][0]""",
    """print(agon.check("(role robot)\\n(init (at 1))\\n(legal robot go)\\n(next (at ?x))")[0])""",
    "## Thousands of games at once\n\nStates, masks and rewards are numpy arrays of the engine.",
    """import time

batch = game.batch(4096)
began = time.perf_counter()
for _ in range(100):
    rewards, done = batch.step(batch.random_actions())
seconds = time.perf_counter() - began
print(batch.observe("uint8").shape, batch.legal.shape, rewards.shape)
print("more than a million steps per second:", 100 * 4096 / seconds > 1e6)""",
    """game.playouts([game.start(), state], 10_000).means.round(1)""",
    "## Hidden information\n\nA player of a GDL-II game gets its percepts, and nothing else.",
    """poker = agon.load("kuhn-poker")
dealt = poker.start(seed=3)
dealt.play({})            # nature deals
print(dealt.observations("opener"))
print(dealt.observations("dealer"))""",
    "## Learning\n\nA value of every position, learnt by self-play from the rules alone.",
    """learner = tic.learn(games=5000, seed=1)
for move in ["(mark 2 2)", "(mark 1 2)"]:
    after = tic.start()
    after.play(move)
    after.play("(mark 1 1)")
    print(move, round(learner.value(after), 2))
learner.think(after, nodes=5000).best_move""",
    """## Networks of your own

Positions and outcomes come out as arrays; weights go in and players use them.""",
    """import numpy as np
import agon.learn

three = agon.load("connect-three")
train, test = agon.learn.positions(three, 40_000, seed=1).by_play(0.2)
rng = np.random.default_rng(1)
w1, b1 = rng.normal(0, 0.3, (len(three.fluents), 32)), np.full(32, 0.2)
w2, b2 = rng.normal(0, 0.3, (32, 1)), np.zeros(1)
for rows in np.array_split(rng.permutation(len(train)), 1000):
    x = train.facts[rows].astype(float)
    hidden = np.maximum(x @ w1 + b1, 0)
    error = (1 / (1 + np.exp(-(hidden @ w2 + b2))) - train.targets[rows]) / len(rows)
    back = (error @ w2.T) * (hidden > 0)
    w2, b2 = w2 - 0.1 * hidden.T @ error, b2 - 0.1 * error.sum(0)
    w1, b1 = w1 - 0.1 * x.T @ back, b1 - 0.1 * back.sum(0)

network = agon.learn.Network(w1, b1, w2, b2)
model = agon.learn.model(three, network)
same = np.abs(model.values(test.facts) - network(test.facts)).max() < 0.01
print(len(train) > len(test), test.facts.shape[1], "facts; searches see the same:", same)
agon.match(three.with_model(model), ["minimax", "random"], iterations=300).goals""",
    "## A tournament",
    """result = agon.tournament({
    "games": ["tic-tac-toe"], "repeats": 4, "iterations": 50,
    "players": {"tree search": "mcts", "random": "random"},
}, workers=2)
result.points""",
]


def main() -> None:
    notebook = nbformat.v4.new_notebook()
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3"}
    for at, text in enumerate(CELLS):
        is_text = text.startswith(("#", "A ", "Built", "Proofs"))
        make = nbformat.v4.new_markdown_cell if is_text else nbformat.v4.new_code_cell
        cell = make(text)
        cell["id"] = f"cell-{at}"
        notebook.cells.append(cell)
    if "--run" in sys.argv:
        from nbclient import NotebookClient

        NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
        for cell in notebook.cells:
            cell.get("metadata", {}).pop("execution", None)
    path = Path(__file__).resolve().parents[1] / "docs/tutorial.ipynb"
    nbformat.write(notebook, path)


if __name__ == "__main__":
    main()
