"""OpenSpiel: its own tests and algorithms run on our games."""

from __future__ import annotations

import pickle

import pytest
from conftest import shared, shipped

import agon

pytest.importorskip("pyspiel")
np = pytest.importorskip("numpy")

import pyspiel  # noqa: E402
from open_spiel.python import rl_environment  # noqa: E402
from open_spiel.python.algorithms import cfr, expected_game_score  # noqa: E402
from open_spiel.python.algorithms import exploitability, mcts  # noqa: E402

from agon import openspiel  # noqa: E402

pytestmark = pytest.mark.full

#: Cut off early, because the random simulation of OpenSpiel looks at every tensor of every state.
SHORT = 30
LARGE = {"toss/chess", "toss/gomoku-19x19", "toss/rewriting", "toss/entanglement"}


@pytest.mark.parametrize("name", [name for name in shipped() if name not in LARGE] + shared(5))
def test_the_random_simulation_of_openspiel_passes(name: str) -> None:
    if not agon.load(name).has_numbers:
        pytest.skip("the moves of this game have no fixed numbers")
    game = pyspiel.load_game("agon", {"game": name, "max_game_length": SHORT})
    pyspiel.random_sim_test(game, num_sims=1, serialize=False, verbose=False)


@pytest.mark.parametrize("name", ["tic-tac-toe", "kuhn-poker", "rock-paper-scissors"])
def test_games_and_states_are_serialised(name: str) -> None:
    game = pyspiel.load_game(f"agon(game={name})")
    assert str(pickle.loads(pickle.dumps(game))) == str(game)
    pyspiel.random_sim_test(game, num_sims=2, serialize=True, verbose=False)


def test_kinds_of_games() -> None:
    kind = pyspiel.GameType
    tic = pyspiel.load_game("agon(game=tic-tac-toe)").get_type()
    assert (tic.dynamics, tic.utility) == (kind.Dynamics.SEQUENTIAL, kind.Utility.ZERO_SUM)
    rps = pyspiel.load_game("agon(game=rock-paper-scissors)").get_type()
    assert rps.dynamics == kind.Dynamics.SIMULTANEOUS
    kuhn = pyspiel.load_game("agon(game=kuhn-poker)").get_type()
    assert kuhn.chance_mode == kind.ChanceMode.EXPLICIT_STOCHASTIC
    assert kuhn.information == kind.Information.IMPERFECT_INFORMATION
    state = pyspiel.load_game("agon(game=tic-tac-toe)").new_initial_state()
    assert state.action_to_string(0, state.legal_actions()[0]) == "(mark 1 1)"
    clone = state.clone()
    clone.apply_action(clone.legal_actions()[0])
    assert (len(state.history()), len(clone.history())) == (0, 1)


def test_counterfactual_regret_finds_the_value_of_kuhn_poker() -> None:
    game = pyspiel.load_game("agon(game=kuhn-poker,unit=25.0)")
    solver = cfr.CFRPlusSolver(game)
    for _ in range(300):
        solver.evaluate_and_update_policy()
    policy = solver.average_policy()
    value = expected_game_score.policy_value(game.new_initial_state(), [policy, policy])
    assert value[0] == pytest.approx(-1 / 18, abs=2e-3)
    assert exploitability.nash_conv(game, policy) < 0.01


def test_search_of_openspiel_plays_our_games() -> None:
    game = pyspiel.load_game("agon(game=tic-tac-toe)")
    rng = np.random.RandomState(1)
    bot = mcts.MCTSBot(game, 1.4, 60, mcts.RandomRolloutEvaluator(1, rng), random_state=rng)
    state = game.new_initial_state()
    for text in ("(mark 1 1)", "(mark 2 1)", "(mark 2 2)", "(mark 3 1)"):
        state.apply_action(state.string_to_action(text))
    assert state.action_to_string(0, bot.step(state)) == "(mark 3 3)"


def test_a_bot_of_openspiel_is_a_player() -> None:
    def make(game: object, player: int) -> object:
        return pyspiel.make_uniform_random_bot(player, 7)

    result = agon.match(
        agon.load("tic-tac-toe"), ["mcts", openspiel.BotPlayer(make)], iterations=200
    )
    assert result.status == "finished" and result.players[1] == "openspiel"
    assert result.goals is not None and result.goals[0] == 100.0 and result.errors == []


def test_the_environment_of_openspiel() -> None:
    env = rl_environment.Environment(pyspiel.load_game("agon(game=tic-tac-toe)"))
    step = env.reset()
    while not step.last():
        player = step.observations["current_player"]
        step = env.step([step.observations["legal_actions"][player][0]])
    assert sum(step.rewards) == 0.0
