"""Gymnasium and PettingZoo: their own test suites on every shipped game and 50 public ones."""

from __future__ import annotations

import pickle
import warnings
from typing import Any

import pytest
from conftest import SHARED, shared, shipped

import agon

np = pytest.importorskip("numpy")
gymnasium = pytest.importorskip("gymnasium")
pytest.importorskip("pettingzoo")

from gymnasium.utils.env_checker import check_env  # noqa: E402
from pettingzoo.test import (  # noqa: E402
    api_test,
    parallel_api_test,
    parallel_seed_test,
    render_test,
    seed_test,
)

from agon import gymnasium as agon_gymnasium  # noqa: E402
from agon import pettingzoo as agon_pettingzoo  # noqa: E402

pytestmark = [
    pytest.mark.full,
    pytest.mark.filterwarnings("ignore"),
]


_OPENED: dict[str, agon.Game] = {}


def opened(name: str) -> agon.Game:
    if name not in _OPENED:
        try:
            _OPENED[name] = agon.load(name)
        except agon.RulesError as error:
            pytest.skip(f"the rules have errors: {str(error).splitlines()[0]}")
    return _OPENED[name]


def run_official_suites(game: agon.Game) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_env(agon_gymnasium.Env(game, max_steps=40), skip_render_check=True)
        api_test(agon_pettingzoo.env(game, max_cycles=40), num_cycles=25)
        parallel_api_test(agon_pettingzoo.parallel_env(game, max_cycles=40), num_cycles=25)

        def env() -> Any:
            return agon_pettingzoo.env(game, max_cycles=20, illegal="random")

        def parallel_env() -> Any:
            return agon_pettingzoo.parallel_env(game, max_cycles=20, illegal="random")

        seed_test(env, num_cycles=10)
        parallel_seed_test(parallel_env, num_cycles=10)


@pytest.mark.parametrize("name", shipped())
def test_official_suites_pass(name: str) -> None:
    run_official_suites(opened(name))


@pytest.mark.heavy
def test_official_suites_pass_on_public_games() -> None:
    """Rulesheets with errors do not count; 50 others pass."""
    found = shared(90)
    if not found:
        pytest.skip(f"there are no public rulesheets in {SHARED}")
    n_passed = 0
    for path in found:
        try:
            game = agon.load(path)
        except agon.RulesError:
            continue
        run_official_suites(game)
        n_passed += 1
        if n_passed == 50:
            return
    pytest.fail(f"only {n_passed} public games could be opened")


def test_rendering() -> None:
    game = opened("tic-tac-toe")
    for mode in ("ansi", "rgb_array"):
        made = agon_pettingzoo.env(game, render_mode=mode)
        made.reset(seed=1)
        assert made.render() is not None
    render_test(
        lambda render_mode: agon_pettingzoo.env(game, render_mode=render_mode),
        {"ansi": lambda result: isinstance(result, str), "rgb_array": lambda r: r.ndim == 3},
    )
    check_env(agon_gymnasium.Env(game, render_mode="rgb_array"))


def test_an_episode_against_a_search() -> None:
    env = agon_gymnasium.Env("tic-tac-toe", role="oplayer", opponents="mcts", iterations=300)
    rng = np.random.default_rng(1)
    total = 0.0
    for seed in range(5):
        _, info = env.reset(seed=seed)
        ended = False
        while not ended:
            action = rng.choice(info["action_mask"].nonzero()[0])
            _, reward, ended, _, info = env.step(action)
            assert (env.action_masks() == info["action_mask"].astype(bool)).all()
        total += reward
    assert total < 0, "a random player loses against a search"


def test_illegal_actions_have_a_defined_effect() -> None:
    taken = opened("tic-tac-toe").action("xplayer", "noop")
    env = agon_gymnasium.Env("tic-tac-toe")
    env.reset(seed=1)
    _, reward, ended, _, info = env.step(taken)
    assert (reward, ended, info["illegal_action"]) == (-1.0, True, taken)
    env = agon_gymnasium.Env("tic-tac-toe", illegal="raise")
    env.reset(seed=1)
    with pytest.raises(agon.IllegalMoveError):
        env.step(taken)
    env = agon_gymnasium.Env("tic-tac-toe", illegal="random")
    env.reset(seed=1)
    assert not env.step(taken)[2]


def test_wrong_options_are_refused() -> None:
    for make in (agon_gymnasium.Env, agon_pettingzoo.env, agon_pettingzoo.parallel_env):
        with pytest.raises(agon.AgonError, match="render_mode: `no` is not one of ansi, rgb_array"):
            make("tic-tac-toe", render_mode="no")
        with pytest.raises(agon.AgonError, match="illegal: `no` is not one of random, terminate"):
            make("tic-tac-toe", illegal="no")
        with pytest.raises(FileNotFoundError):
            make("no-such-game")
    with pytest.raises(agon.AgonError, match="is not one of"):
        agon_gymnasium.Env("tic-tac-toe", role="nobody")
    with pytest.raises(agon.AgonError, match="at least 1"):
        agon_gymnasium.VectorEnv("tic-tac-toe", 0)


def test_an_environment_is_registered() -> None:
    agon_gymnasium.register()
    env = gymnasium.make("agon/Game-v0", game="hanoi", max_steps=50)
    observation, _ = env.reset(seed=1)
    assert observation in env.observation_space


def test_environments_are_pickled() -> None:
    made = pickle.loads(pickle.dumps(agon_pettingzoo.raw_env("tic-tac-toe")))
    made.reset(seed=1)
    assert made.agent_selection == "xplayer"


def test_the_winner_gets_the_reward() -> None:
    env = agon_pettingzoo.raw_env("tic-tac-toe")
    env.reset(seed=1)
    for move in ("(mark 1 1)", "(mark 2 1)", "(mark 2 2)", "(mark 3 1)", "(mark 3 3)"):
        assert not env.terminations[env.agent_selection]
        env.step(env.game.action(env.agent_selection, move))
    assert env.rewards == {"xplayer": 1.0, "oplayer": -1.0} and all(env.terminations.values())


@pytest.mark.parametrize("role", [None, "yellow"])
def test_the_vector_environment(role: str | None) -> None:
    env = agon_gymnasium.VectorEnv("connect-four", 64, role=role)
    observation, info = env.reset(seed=3)
    assert observation.shape == (64, len(env.game.fluents))
    again, _ = env.reset(seed=3)
    assert (observation == again).all()
    rng = np.random.default_rng(1)
    n_done, total = 0, 0.0
    for _ in range(80):
        noise = rng.random(info["action_mask"].shape)
        actions = (noise * info["action_mask"]).argmax(axis=1)
        observation, rewards, ended, cut, info = env.step(actions)
        assert observation in env.observation_space
        assert (rewards[~ended] == 0).all() and not cut.any()
        if ended.any():
            assert (info["_final_obs"] == ended).all()
            final = info["final_obs"][ended.nonzero()[0][0]]
            assert final.shape == (len(env.game.fluents),)
        n_done += int(ended.sum())
        total += float(rewards.sum())
    assert n_done > 64
    if role is None:
        assert total > 0, "the player who moves last has won or drawn"
    with pytest.raises(agon.AgonError, match="same time"):
        agon_gymnasium.VectorEnv("rock-paper-scissors", 4)
    with pytest.raises(agon.AgonError, match="is not one of"):
        agon_gymnasium.VectorEnv("tic-tac-toe", 4, role="nobody")


def test_the_vector_environment_with_moves_at_the_same_time() -> None:
    env = agon_gymnasium.VectorEnv("rock-paper-scissors", 256, role="left", scaled=False)
    _, info = env.reset(seed=1)
    assert info["action_mask"].shape == (256, 3) and (info["action_mask"] == 1).all()
    goals, n_ended = [], 0
    for _ in range(40):
        _, rewards, ended, _, info = env.step(np.ones(256, np.int64))
        goals.append(rewards[ended])
        n_ended += int(ended.sum())
        assert (info["action_mask"] == 1).all()
    assert n_ended > 256 and 40 < np.concatenate(goals).mean() < 60, "no hand beats a random one"


def run_vector(env: Any, n_steps: int, seed: int) -> int:
    """Play at random, check the shapes, and return the number of games that ended."""
    rng = np.random.default_rng(seed)
    observation, info = env.reset(seed=seed)
    n_ended = 0
    for _ in range(n_steps):
        assert observation in env.observation_space
        noise = rng.random(info["action_mask"].shape)
        actions = (noise * info["action_mask"]).argmax(axis=1)
        observation, rewards, ended, cut, info = env.step(actions)
        assert (np.abs(rewards) <= 1).all() and (rewards[~ended] == 0).all()
        for game in (ended | cut).nonzero()[0]:
            final = info["final_obs"][game]
            assert final.shape == env.single_observation_space.shape
        n_ended += int((ended | cut).sum())
    return n_ended


@pytest.mark.parametrize("name", ["kuhn-poker", "liars-dice", "krieg-tic-tac-toe", "mastermind"])
def test_the_vector_environment_shows_what_roles_may_know(name: str) -> None:
    game = opened(name)
    roles = [None, *game.players] if game.is_turn_taking else game.players
    for role in roles:
        env = agon_gymnasium.VectorEnv(game, 300, role=role)
        assert env.is_native
        assert run_vector(env, 40, seed=2) > 0
        if role is not None:
            assert env.single_observation_space == agon_gymnasium.Env(game, role).observation_space


def test_the_first_player_of_kuhn_poker_does_not_see_the_other_card() -> None:
    """Games whose own cards are equal look alike, whatever the other card is."""
    env = agon_gymnasium.VectorEnv("kuhn-poker", 512)
    observation, _ = env.reset(seed=1)
    while (env.batch.n_steps == 0).any() or len(env.batch.legal[0].nonzero()[0]) < 2:
        observation, *_ = env.step(env.batch.random_actions())
    states = {row.tobytes() for row in env.batch.states}
    known = {row.tobytes() for row in observation[env.batch.n_steps == env.batch.n_steps[0]]}
    assert len(states) == 6 and len(known) == 3, "six deals, of which one card is seen"


def test_games_without_batch_engine_have_a_vector_environment_too() -> None:
    game = agon.load("tic-tac-toe", engine="interpreter")
    slow = agon_gymnasium.VectorEnv(game, 6, role="xplayer")
    assert not slow.is_native
    assert run_vector(slow, 12, seed=1) >= 6
    with pytest.raises(agon.AgonError, match="batch engine"):
        _ = slow.batch
    with pytest.raises(agon.IllegalMoveError, match="game 0"):
        slow.step(np.full(6, slow.single_action_space.n - 1))
    assert run_vector(agon_gymnasium.VectorEnv("toss/tic-tac-toe", 3), 12, seed=1) > 0


def test_games_with_real_parameters_have_environments() -> None:
    """Actions are a sample of the moves, and observations have the real values of the state."""
    env = agon_gymnasium.Env("cat-and-mouse", max_steps=20)
    reals = env.encoding.reals
    assert {"(x c)", "(y c)", "(x m)", "(y m)", "(time)"} <= set(reals)
    assert not any("/" in name for name in reals) and "(Cat c)" not in reals
    _, info = env.reset(seed=1)
    moves = env.state.legal_moves("cat")
    assert info["action_mask"].sum() == len(moves) > 1
    assert env.state.families("cat")[0][1], "there are intervals, too"
    observation, *_ = env.step(moves.index("(Chase c (t 0.5) (px -1) (py 1))"))
    values = dict(zip(reals, observation[-len(reals) :], strict=True))
    assert (values["(x c)"], values["(y c)"], values["(time)"]) == (-0.5, 0.5, 0.5)
    assert observation in env.observation_space
    slow = agon_gymnasium.VectorEnv("cat-and-mouse", 3, role="cat", max_steps=20)
    assert not slow.is_native and slow.reset(seed=1)[0] in slow.observation_space


def test_slow_and_fast_vector_environments_agree() -> None:
    """Without chance, equal actions have equal results."""
    from agon._vector import StateGames

    fast = agon_gymnasium.VectorEnv("krieg-tic-tac-toe", 16)
    slow = agon_gymnasium.VectorEnv("krieg-tic-tac-toe", 16)
    slow._games = StateGames(slow.game, 16, None, 1, 1000, None)
    rng = np.random.default_rng(3)
    (one, info), (two, other) = fast.reset(seed=1), slow.reset(seed=1)
    for _ in range(40):
        assert (one == two).all() and (info["action_mask"] == other["action_mask"]).all()
        assert (info["to_move"] == other["to_move"]).all()
        actions = (rng.random(info["action_mask"].shape) * info["action_mask"]).argmax(axis=1)
        one, rewards, ended, _, info = fast.step(actions)
        two, payoffs, over, _, other = slow.step(actions)
        assert (rewards == payoffs).all() and (ended == over).all()
        for game in ended.nonzero()[0]:
            assert (info["final_obs"][game] == other["final_obs"][game]).all()
