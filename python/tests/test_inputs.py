"""Wrong input: an exception that says what is wrong, and nothing has changed."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import agon

np = pytest.importorskip("numpy")

GAME = agon.load("tic-tac-toe")
#: A game whose moves have real parameters.
TIMED = agon.load("cat-and-mouse")


def ended() -> agon.State:
    return GAME.start().playout()


def batch() -> agon.Batch:
    return GAME.batch(4)


#: What is tried, the exception, and a part of its message.
CASES: list[tuple[Callable[[], Any], type[Exception], str]] = [
    # Games.
    (lambda: agon.load("no-such-game"), FileNotFoundError, "no-such-game"),
    (lambda: agon.load(""), ValueError, "give the name"),
    (lambda: agon.load(Path("/no/such/file.kif")), FileNotFoundError, "/no/such/file.kif"),
    (lambda: agon.load(Path("/")), (OSError, agon.AgonError), ""),
    (lambda: agon.load("(role"), agon.RulesError, ""),
    (lambda: agon.load(3), TypeError, ""),
    (lambda: agon.load(None), TypeError, ""),
    (lambda: agon.load("tic-tac-toe", set={"size": 4}), agon.AgonError, "size"),
    (lambda: agon.load("tic-tac-toe", engine="no"), ValueError, "engine"),
    (lambda: agon.check("no-such-game"), FileNotFoundError, ""),
    (lambda: agon.translate("tic-tac-toe", "latin"), ValueError, "latin"),
    # Moves.
    (lambda: GAME.start().play("(mark 9 9)"), agon.IllegalMoveError, "legal here"),
    (lambda: GAME.start().play(""), agon.IllegalMoveError, ""),
    (lambda: GAME.start().play([]), agon.IllegalMoveError, "expected 2"),
    (lambda: GAME.start().play(["noop"] * 3), agon.IllegalMoveError, "expected 2"),
    (lambda: GAME.start().play({}), agon.IllegalMoveError, "missing"),
    (lambda: GAME.start().play({"nobody": "noop"}), agon.AgonError, "no role"),
    (lambda: GAME.start().play({7: "noop"}), agon.AgonError, "no role"),
    (lambda: GAME.start().play(-1), agon.IllegalMoveError, "-1"),
    (lambda: GAME.start().play(10**30), agon.IllegalMoveError, ""),
    (lambda: GAME.start().play([-1, None]), agon.IllegalMoveError, "-1"),
    (lambda: GAME.start().play(None), TypeError, "moves are"),
    (lambda: GAME.start().play([1.5, None]), TypeError, "a move is"),
    (lambda: ended().play("noop"), agon.IllegalMoveError, "ended"),
    (lambda: ended().child(0), agon.IllegalMoveError, "ended"),
    (lambda: ended().play(["noop", "noop"]), agon.IllegalMoveError, "ended"),
    (lambda: GAME.start().legal_moves(5), agon.AgonError, "no role 5"),
    (lambda: GAME.start().legal_moves(1.5), TypeError, "role"),
    (lambda: GAME.action("xplayer", "(mark 9 9)"), agon.AgonError, "not a move"),
    (lambda: GAME.action_text("xplayer", 10**6), agon.AgonError, "not the number"),
    # Numbers out of range.
    (lambda: GAME.start(seed=-1), OverflowError, "negative"),
    (lambda: GAME.batch(-1), OverflowError, "negative"),
    (lambda: GAME.batch(0), ValueError, "from 1 to"),
    (lambda: GAME.batch(10**9), ValueError, "from 1 to"),
    (lambda: GAME.batch(10**30), (ValueError, OverflowError), ""),
    (lambda: GAME.playouts([GAME.start()], -1), OverflowError, "negative"),
    (lambda: GAME.start().playout(max_steps=-1), OverflowError, "negative"),
    (lambda: GAME.start().pixels(scale=-1.0), agon.AgonError, ""),
    (lambda: GAME.start().pixels(scale=float("nan")), agon.AgonError, ""),
    # Players.
    (lambda: GAME.player("no-such-player"), agon.AgonError, "no-such-player"),
    (lambda: GAME.player(""), agon.AgonError, ""),
    (lambda: GAME.player("mcts(no-such=1)"), agon.AgonError, "no-such"),
    (lambda: GAME.player("mcts(threads=many)"), agon.AgonError, "threads"),
    (lambda: GAME.player("alphabeta(depth=-2)"), agon.AgonError, "depth"),
    (lambda: GAME.player("mcts("), agon.AgonError, ""),
    (lambda: GAME.player("mcts").think(GAME.start()), ValueError, "limit"),
    (lambda: GAME.player("mcts").think(GAME.start(), seconds=-1), ValueError, "seconds"),
    (lambda: GAME.player("mcts").think(GAME.start(), seconds=float("nan")), ValueError, "seconds"),
    (lambda: GAME.player("mcts").think(GAME.start(), seconds=float("inf")), ValueError, "seconds"),
    (lambda: GAME.player("mcts").think(TIMED.start(), iterations=1), agon.AgonError, "belongs to"),
    (lambda: GAME.player("mcts").think(ended(), iterations=9), agon.AgonError, "ended"),
    (lambda: GAME.player("mcts").think(GAME.start(), iterations=-1), OverflowError, "negative"),
    # Matches.
    (lambda: agon.match(GAME, ["random"]), ValueError, "give seconds or iterations"),
    (lambda: agon.match(GAME, ["mcts", "no-such"], iterations=1), agon.AgonError, "no-such"),
    (lambda: agon.match(GAME, [len, "random"], iterations=1), TypeError, ""),
    (lambda: agon.match(GAME, [lambda view: None, "random"], iterations=1), TypeError, "a move"),
    (lambda: agon.match(GAME, "mcts", iterations=1), TypeError, ""),
    (lambda: agon.match(GAME, ["random"], seconds=-1), ValueError, "seconds"),
    (lambda: agon.match(GAME, ["random"], seconds=float("nan")), ValueError, "seconds"),
    (lambda: agon.match(GAME, ["random"], seconds=1e300), ValueError, "seconds"),
    (lambda: agon.match(GAME, ["random"], iterations=1, on_error="no"), ValueError, "on_error"),
    # Playouts and questions.
    (lambda: GAME.playouts([TIMED.start()], 1), agon.AgonError, "belongs to"),
    (lambda: GAME.playouts(["x"], 1), TypeError, ""),
    (lambda: GAME.why("(legal"), agon.AgonError, ""),
    (lambda: GAME.why("(legal xplayer (mark 1 1))", does=["noop"]), agon.AgonError, ""),
    (lambda: GAME.explain(TIMED.start()), agon.AgonError, "belongs to"),
    (lambda: GAME.solve(seconds=-1), ValueError, "seconds"),
    (lambda: GAME.learn(), ValueError, "limit"),
    (lambda: TIMED.learn(games=1), agon.AgonError, "no fixed numbers"),
    # Batches.
    (lambda: batch().step(np.zeros(3, np.int32)), agon.IllegalMoveError, "4 actions"),
    (lambda: batch().step(np.zeros((4, 2), np.int32)), agon.IllegalMoveError, "4 actions"),
    (lambda: batch().step(np.full(4, 99)), agon.IllegalMoveError, "99"),
    (lambda: batch().step(np.full(4, 2**40)), (agon.AgonError, OverflowError), ""),
    (lambda: batch().step(np.zeros(4)), TypeError, "whole numbers"),
    (lambda: batch().step(np.full(4, 0.5)), TypeError, "whole numbers"),
    (lambda: batch().step(["x"] * 4), (TypeError, ValueError), ""),
    (lambda: batch().step(None), TypeError, ""),
    (lambda: batch().step_as("nobody", np.zeros(4, np.int32)), agon.AgonError, "no role"),
    (lambda: batch().step_as("xplayer", np.zeros(5, np.int32)), agon.IllegalMoveError, "4 actions"),
    (lambda: batch().reset(np.zeros(3, bool)), ValueError, "3 entries for 4"),
    (lambda: batch().reset(np.zeros(4, np.int32)), TypeError, ""),
    (lambda: batch().observe("float64"), ValueError, "float32"),
    (lambda: batch().load(4, GAME.start()), IndexError, "4 games"),
    (lambda: batch().load(0, TIMED.start()), agon.AgonError, "belongs to"),
    (lambda: batch().legal_of("random"), agon.AgonError, "no role"),
    (lambda: TIMED.batch(4), agon.AgonError, "step single states"),
    (lambda: TIMED.start().tensor(), agon.AgonError, "no fixed numbers"),
    (lambda: pickle.dumps(batch()), TypeError, "pickle"),
    # Tournaments.
    (lambda: agon.tournament({}), agon.AgonError, ""),
    (lambda: agon.tournament({"games": ["no-such"]}), agon.AgonError, ""),
    (lambda: agon.tournament("/no/such/file.toml"), FileNotFoundError, ""),
    (lambda: agon.tournament({"games": [GAME]}), TypeError, "cannot be part"),
    (lambda: agon.TournamentPlan("games = ["), agon.AgonError, ""),
]


@pytest.mark.parametrize("case", CASES, ids=range(len(CASES)))
def test_wrong_input_is_an_exception(
    case: tuple[Callable[[], Any], type[Exception], str],
) -> None:
    work, kind, part = case
    with pytest.raises(kind) as caught:
        work()
    text = str(caught.value)
    assert part in text and text, text
    assert "panicked" not in text, text


def test_extreme_but_meaningful_input() -> None:
    """It is taken as it is meant, and nothing overflows."""
    state = GAME.start(seed=2**64 - 1)
    assert GAME.playouts([], 10).means.shape == (0, 2)
    assert GAME.playouts([state], 0).n == 0
    assert GAME.playouts([ended()], 3).means.shape == (1, 2)
    assert state.playout(max_steps=0) == state
    assert GAME.player("mcts").think(state, iterations=0).best_move in state.legal_moves()
    assert GAME.player("mcts").think(state, seconds=0).best_move in state.legal_moves()
    assert "real parameters" in TIMED.solve(seconds=1).why
    over = ended()
    over.play_random()
    assert over.is_terminal and over.chances() == []
    small = batch()
    small.step_random(0)
    assert (small.n_steps == 0).all()
    stay = GAME.batch(2, auto_reset=False)
    stay.step_random(20)
    rewards, done = stay.step(stay.random_actions())
    assert not done.any() and (rewards == 0).all() and (stay.to_move == -1).all()
