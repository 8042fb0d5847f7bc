"""Batches and playouts."""

from __future__ import annotations

import pytest

import agon

np = pytest.importorskip("numpy")


@pytest.mark.parametrize("name", ["connect-four", "breakthrough", "othello", "toss/tic-tac-toe"])
def test_batches_agree_with_single_states(name: str) -> None:
    game = agon.load(name)
    batch = game.batch(8, seed=3, auto_reset=False)
    states = [game.start() for _ in range(8)]
    for _ in range(30):
        actions = batch.random_actions()
        legal = batch.legal
        for at, state in enumerate(states):
            if state.is_terminal:
                assert not legal[at].any()
                continue
            assert legal[at].nonzero()[0].tolist() == state.legal_actions()
            assert game.roles.index(state.turn) == batch.to_move[at]
            state.play(int(actions[at]))
        rewards, done = batch.step(actions)
        assert rewards is batch.rewards and done is batch.done
        bits, rows = batch.states, batch.observe("uint8")
        for at, state in enumerate(states):
            assert (bits[at] == state.bits()).all()
            assert (rows[at] == state.tensor()).all()
            if done[at]:
                assert rewards[at].tolist() == state.goals()


def test_arrays_are_filled_in_place() -> None:
    batch = agon.load("connect-four").batch(64)
    rewards, observation = batch.rewards, batch.observe()
    pointer = observation.__array_interface__["data"][0]
    batch.step_random(5)
    assert batch.rewards is rewards
    assert batch.observe().__array_interface__["data"][0] == pointer
    assert batch.observe().dtype == np.float32 and batch.observe("uint8").dtype == np.uint8


def test_equal_seeds_give_equal_batches() -> None:
    game = agon.load("dice-race")
    first, second = game.batch(100, seed=5), game.batch(100, seed=5)
    first.step_random(20)
    second.step_random(20)
    assert (first.states == second.states).all()
    second.reset(seed=5)
    second.step_random(20)
    assert (first.states == second.states).all()


def test_simultaneous_games_take_an_action_for_each_player() -> None:
    game = agon.load("rock-paper-scissors")
    batch = game.batch(32)
    assert not batch.is_sequential
    actions = batch.random_actions()
    assert actions.shape == (32, 2) and batch.legal.shape == (32, 2, len(game.actions))
    batch.step(actions)


def test_one_role_against_random_others() -> None:
    game = agon.load("connect-four")
    batch = game.batch(256, seed=1)
    batch.wait_for("yellow")
    n_done = 0
    for _ in range(60):
        assert (batch.to_move == 1).all()
        _, done = batch.step_as("yellow", batch.random_actions())
        games, last = batch.final_observations()
        assert sorted(games.tolist()) == done.nonzero()[0].tolist()
        assert last.shape == (len(games), len(game.fluents))
        n_done += int(done.sum())
    assert n_done > 256


def test_bad_input_is_refused_and_nothing_moves() -> None:
    game = agon.load("tic-tac-toe")
    batch = game.batch(4)
    before = batch.states.copy()
    for wrong in ([0, 0, 0], [0, 0, 0, 99], [[0, 0]] * 4, np.full(4, -7)):
        with pytest.raises(agon.IllegalMoveError):
            batch.step(wrong)
    assert (batch.states == before).all()
    with pytest.raises(ValueError):
        game.batch(0)
    with pytest.raises(agon.AgonError, match="no fixed numbers"):
        agon.load("tic-tac-toe", engine="interpreter").batch(4)
    with pytest.raises(IndexError):
        batch.load(4, game.start())


def test_arrays_of_the_batch_may_be_actions() -> None:
    """They are read before they are filled again."""
    batch = agon.load("matching-pennies").batch(1)
    batch.step(np.zeros((1, 2), np.int32))
    batch = agon.load("connect-four").batch(64)
    for _ in range(12):
        batch.step(batch.to_move)
    frozen = batch.done
    frozen.flags.writeable = False
    with pytest.raises(agon.AgonError, match="cannot be written"):
        batch.step(batch.random_actions())


def test_states_go_into_batches() -> None:
    game = agon.load("tic-tac-toe")
    state = game.start()
    state.play("(mark 2 2)")
    batch = game.batch(3)
    batch.load(1, state)
    assert batch.to_move.tolist() == [0, 1, 0] and (batch.states[1] == state.bits()).all()
    batch.reset(np.array([False, True, False]))
    assert batch.to_move.tolist() == [0, 0, 0]


@pytest.mark.parametrize("engine", ["circuit", "interpreter"])
def test_playouts_find_who_is_ahead(engine: str) -> None:
    game = agon.load("tic-tac-toe", engine=engine)
    good, lost = game.start(), game.start()
    for move in ("(mark 1 1)", "(mark 2 1)", "(mark 2 2)", "(mark 3 2)"):
        good.play(move)
    for move in ("(mark 1 1)", "(mark 2 2)", "(mark 3 3)", "(mark 1 3)"):
        lost.play(move)
    found = game.playouts([good, lost, game.start()], 400, seed=2)
    assert found.means.shape == (3, 2)
    assert found.means[0, 0] > found.means[2, 0] > found.means[1, 0] or found.means[0, 0] > 80
    assert np.allclose(found.means.sum(axis=1), 100.0)
    again = game.playouts([good, lost, game.start()], 400, seed=2)
    assert (found.means == again.means).all() and found.cut.sum() == 0
