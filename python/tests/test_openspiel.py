"""OpenSpiel: its own tests and algorithms run on our games."""

from __future__ import annotations

import pickle
from typing import Any

import pytest
from conftest import SHARED, shared, shipped

import agon

pytest.importorskip("pyspiel")
np = pytest.importorskip("numpy")

import pyspiel  # noqa: E402
from open_spiel.python import rl_environment  # noqa: E402
from open_spiel.python.algorithms import cfr, expected_game_score  # noqa: E402
from open_spiel.python.algorithms import exploitability, mcts  # noqa: E402
from open_spiel.python.bots import policy as policy_bot  # noqa: E402

from agon import openspiel  # noqa: E402

pytestmark = pytest.mark.full

#: Cut off early, because the random simulation of OpenSpiel looks at every tensor of every state.
SHORT = 30


def simulate(name: str) -> None:
    game = pyspiel.load_game("agon", {"game": name, "max_game_length": SHORT})
    pyspiel.random_sim_test(game, num_sims=1, serialize=False, verbose=False)


@pytest.mark.parametrize("name", shipped())
def test_the_random_simulation_of_openspiel_passes(name: str) -> None:
    simulate(name)


def test_the_random_simulation_of_openspiel_passes_on_public_games() -> None:
    found = shared(5)
    if not found:
        pytest.skip(f"there are no public rulesheets in {SHARED}")
    for path in found:
        simulate(path)


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
    checkers = pyspiel.load_game("agon(game=checkers)").get_type()
    assert checkers.dynamics == kind.Dynamics.SEQUENTIAL
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
    assert exploitability.exploitability(game, policy) < 0.005
    assert game.get_type().utility == pyspiel.GameType.Utility.ZERO_SUM
    assert game.max_game_length() == 4, "a deal and three moves"


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


def test_a_policy_of_openspiel_plays_a_game_with_hidden_information() -> None:
    """The policy found by CFR beats random play at Kuhn poker, from its percepts alone."""
    solver = cfr.CFRPlusSolver(pyspiel.load_game("agon(game=kuhn-poker,unit=25.0)"))
    for _ in range(100):
        solver.evaluate_and_update_policy()
    policy = solver.average_policy()

    draws = np.random.RandomState(3)

    def make(game: Any, player: int) -> Any:
        return policy_bot.PolicyBot(player, draws, policy)

    def opener(view: agon.View) -> str:
        return str(draws.choice(view.legal_moves))

    game = agon.load("kuhn-poker")
    dealer = openspiel.BotPlayer(make, unit=25.0)
    results = [agon.match(game, [opener, dealer], iterations=1, seed=n) for n in range(400)]
    assert all(result.status == "finished" and not result.errors for result in results)
    goals = [result.goals[1] for result in results if result.goals is not None]
    # The expectation is 54.2, because the policy gains 1/6 of a unit of 25 from random play.
    assert sum(goals) / len(goals) > 51.0


def test_games_of_no_file_are_loaded_and_pickled() -> None:
    rules = agon.load("tic-tac-toe").rules.replace("xplayer", "crosses")
    game = openspiel.load_game(agon.load(rules))
    again = pickle.loads(pickle.dumps(game.new_initial_state()))
    assert again.position.turn == "crosses" and str(again) == str(game.new_initial_state())
    pyspiel.random_sim_test(game, num_sims=1, serialize=True, verbose=False)


def test_the_environment_of_openspiel() -> None:
    env = rl_environment.Environment(pyspiel.load_game("agon(game=tic-tac-toe)"))
    step = env.reset()
    while not step.last():
        player = step.observations["current_player"]
        step = env.step([step.observations["legal_actions"][player][0]])
    assert sum(step.rewards) == 0.0
