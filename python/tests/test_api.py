"""Games, states, players, matches: the parts that need no other package."""

from __future__ import annotations

import copy
import json
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from conftest import ROOT, shipped

import agon

#: The command, if it was built here.
COMMAND = next(
    (p for p in (ROOT / "target/release/agon", ROOT / "target/debug/agon") if p.exists()), None
)


def test_shipped_games_are_listed() -> None:
    names = shipped()
    assert "connect-four" in names and "toss/chess" in names and "kuhn-poker" in names
    listed = {game.name: game for game in agon.games()}
    assert listed["kuhn-poker"].language == "GDL-II"
    assert listed["connect-four"].title


def test_games_are_loaded_by_name_path_and_text(tmp_path: Path) -> None:
    by_name = agon.load("tic-tac-toe")
    path = tmp_path / "mine.kif"
    path.write_text(by_name.rules)
    for game in (agon.load(str(path)), agon.load(path), agon.load(by_name.rules)):
        assert game.roles == ["xplayer", "oplayer"]
        assert game == by_name
    assert agon.load("tic-tac-toe", engine="interpreter").engine == "interpreter"


def test_errors_are_exceptions_that_help() -> None:
    with pytest.raises(FileNotFoundError, match="did you mean the shipped game `tic-tac-toe`"):
        agon.load("tic-tac-to")
    with pytest.raises(agon.RulesError) as caught:
        agon.load(
            "(role robot)\n(init (at 1))\n(legal robot go)\n(<= (next (at ?m)) (does robot go))"
        )
    assert caught.value.findings[0]["code"] == "unsafe-variable"
    assert caught.value.findings[0]["line"] == 4
    with pytest.raises(agon.AgonError, match="not a text file"):
        agon.load(ROOT / "tests/hostile/broken.kif")
    with pytest.raises(ValueError, match="engine"):
        agon.load("tic-tac-toe", engine="diesel")  # type: ignore[arg-type]


def test_a_game_is_played(tic_tac_toe: agon.Game) -> None:
    state = tic_tac_toe.start()
    assert state.turn == "xplayer" and len(state.legal_moves()) == 9
    assert state.legal_moves("oplayer") == ["noop"]
    state.play("(mark 2 2)")
    state.play(["noop", "(mark 1 1)"])
    state.play({"xplayer": "( MARK 3 1 )"})
    state.play([None, tic_tac_toe.action("oplayer", "(mark 1 2)")])
    assert not state.is_terminal and len(state.goals()) == 2
    state.play("(mark 1 3)")
    assert state.is_terminal and state.goals() == [100.0, 0.0] and state.goal("oplayer") == 0.0
    assert state.turn is None and state.legal_moves("xplayer") == []
    assert state.history[0] == ["(mark 2 2)", "noop"] and state.n_steps == 5
    assert state.percepts["oplayer"] == ["(mark 1 3)", "noop"]
    assert "(cell 2 2 x)" in state.facts()
    with pytest.raises(agon.IllegalMoveError, match="ended"):
        state.play("noop")


def test_moves_with_real_parameters() -> None:
    game = agon.load("cat-and-mouse")
    state = game.start()
    family, parameters = state.families("cat")[0]
    assert family == "(Chase c)"
    assert parameters == [("t", 0.5, 1.0), ("px", -1.0, 1.0), ("py", -1.0, 1.0)]
    state.play(["(Chase c (t 0.75) (px 0.5) (py 0))", "(Run m (t 1) (px 0) (py 0.25))"])
    assert "(x c 0.375)" in state.facts() and "(time 0.75)" in state.facts()
    with pytest.raises(agon.IllegalMoveError):
        state.play(["(Chase c (t 0.75) (px 1.5) (py 0))", "(Run m (t 1) (px 0) (py 0))"])
    assert agon.load("tic-tac-toe").start().families() == []


def test_illegal_moves_leave_the_state_alone(tic_tac_toe: agon.Game) -> None:
    state = tic_tac_toe.start()
    for wrong in ("(mark 9 9)", ["noop", "noop"], ["(mark 1 1)"], [9999, None], {"xplayer": 9999}):
        with pytest.raises(agon.IllegalMoveError):
            state.play(wrong)
    with pytest.raises(TypeError):
        state.play(3.5)  # type: ignore[arg-type]
    with pytest.raises(agon.AgonError, match="no role `nobody`"):
        state.legal_moves("nobody")
    assert state.n_steps == 0


def test_copies_are_independent(tic_tac_toe: agon.Game) -> None:
    state = tic_tac_toe.start()
    others = [state.copy(), copy.copy(state), copy.deepcopy(state), state.child("(mark 1 1)")]
    assert all(other.n_steps == 0 for other in others[:3]) and others[3].n_steps == 1
    state.play("(mark 2 2)")
    assert others[0] != state and others[0] == others[1]
    assert others[0].key == tic_tac_toe.start().key


@pytest.mark.parametrize("name", ["tic-tac-toe", "kuhn-poker", "toss/connect-four", "pursuit"])
def test_everything_is_pickled(name: str) -> None:
    game = agon.load(name)
    state = game.start(seed=5)
    for step in range(3):
        if not state.is_terminal:
            state.play_random(step)
    again = pickle.loads(pickle.dumps(state))
    assert again == state and again.history == state.history and again.game == game
    assert again.legal_moves(game.players[0]) == state.legal_moves(game.players[0])
    player = pickle.loads(pickle.dumps(game.player("mcts", seed=3)))
    assert (player.spec, player.seed) == ("mcts", 3)


def test_chance_depends_on_the_seed_alone() -> None:
    game = agon.load("kuhn-poker")

    def dealt(seed: int) -> list[str]:
        state = game.start(seed=seed)
        state.play({})
        return state.history[0]

    assert dealt(1) == dealt(1)
    assert len({tuple(dealt(seed)) for seed in range(40)}) == 6, "all deals occur"
    state = game.start()
    assert sum(chance for _, chance in state.chances()) == pytest.approx(1.0)
    state.play({})
    assert state.observations("opener")[0][1] != state.observations("dealer")[0][1]


@pytest.mark.parametrize("name", shipped())
def test_every_shipped_game_is_played_to_the_end_or_cut(name: str) -> None:
    game = agon.load(name)
    state = game.start().playout(7, max_steps=60)
    assert state.n_steps <= 60
    assert len(state.goals()) == len(game.roles)
    assert str(state) and state.svg().startswith("<svg") and state._repr_html_()
    if game.has_numbers:
        assert len(state.tensor()) == len(game.fluents)
        for role in game.players:
            mask = state.action_mask(role)
            assert [game.action(role, m) for m in state.legal_moves(role)] == sorted(
                state.legal_actions(role)
            ) or mask.sum() == len(state.legal_moves(role))


def test_a_player_thinks(tic_tac_toe: agon.Game) -> None:
    state = tic_tac_toe.start()
    for move in ("(mark 1 1)", "(mark 2 1)", "(mark 2 2)", "(mark 3 1)"):
        state.play(move)
    report = tic_tac_toe.player("mcts").think(state, iterations=1000)
    assert (report.best_move, report.is_proven, report.role) == ("(mark 3 3)", True, "xplayer")
    assert report.considered[0].move == "(mark 3 3)" and report.value == 100.0
    assert report == pickle.loads(pickle.dumps(report))
    timed = tic_tac_toe.player("alphabeta(depth=2)").think(state, seconds=0.2, role="xplayer")
    assert timed.best_move == "(mark 3 3)"
    with pytest.raises(agon.AgonError):
        tic_tac_toe.player("no-such-player")
    with pytest.raises(ValueError, match="limit"):
        tic_tac_toe.player("mcts").think(state)
    other = agon.load("connect-four").start()
    with pytest.raises(agon.AgonError, match="belongs to the game"):
        tic_tac_toe.player("mcts").think(other, iterations=1)


def test_thinking_releases_the_lock(tic_tac_toe: agon.Game) -> None:
    game = agon.load("othello")
    n_ticks = 0
    thread = threading.Thread(
        target=lambda: game.player("mcts(no-solver)").think(game.start(), seconds=0.6)
    )
    thread.start()
    while thread.is_alive():
        n_ticks += 1
        time.sleep(0.01)
    assert n_ticks > 10


@pytest.mark.skipif(os.name != "posix", reason="sends a signal")
@pytest.mark.parametrize(
    "work",
    [
        "game.player('mcts(no-solver)').think(game.start(), seconds=60)",
        "agon.match(game, ['mcts', 'mcts'], seconds=60)",
        "game.solve(seconds=60)",
        "game.playouts([game.start()], 10**9)",
        "game.batch(4096).step_random(10**9)",
        "game.start().playout(max_steps=10**9) and [game.start().playout() for _ in range(10**9)]",
        "game.learn(seconds=60)",
        "game.assess(matches=10**6, strong=10**6)",
        "agon.tournament({'games': ['othello'], 'repeats': 9, 'play_clock': 60, 'openings': 0,"
        " 'players': {'a': 'mcts', 'b': 'uct'}}, workers=2)",
        "agon.match(game, [lambda view: [0 for _ in iter(int, 1)], 'random'], iterations=1)",
        f"agon.load({str(ROOT / 'tests/exploding/tower.kif')!r}).properties(seconds=60)",
    ],
)
def test_ctrl_c_stops_work(work: str) -> None:
    program = f"import agon; game = agon.load('othello'); print('ready', flush=True); {work}"
    # A shell may have started the tests in the background, where Ctrl-C is ignored.
    process = subprocess.Popen(
        [sys.executable, "-c", program],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    try:
        _, errors = process.communicate(timeout=20)
    finally:
        process.kill()
    assert "KeyboardInterrupt" in errors and process.returncode != 0


def greedy(view: agon.View) -> str:
    """Choose the move with the best goal one step ahead."""
    assert view.state is not None
    state = view.state
    if len(view.legal_moves) == 1:
        return view.legal_moves[0]
    return max(
        view.legal_moves,
        key=lambda move: state.child({view.role: move}).goal(view.role),
    )


class First:
    """Plays the first legal move and notes what happens."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.goals: list[float] | None = None

    def start(self, game: agon.Game, role: str) -> None:
        self.calls.append(f"start {game.name} {role}")

    def play(self, view: agon.View) -> str:
        self.calls.append("play")
        return view.legal_moves[0]

    def stop(self, goals: list[float] | None) -> None:
        self.goals = goals


def test_matches_with_python_players(tic_tac_toe: agon.Game) -> None:
    first = First()
    result = agon.match(tic_tac_toe, [greedy, first], iterations=50)
    assert result.status == "finished" and result.goals is not None
    assert result.players == ["greedy", "First"] and result.errors == []
    assert first.calls[0] == "start tic-tac-toe oplayer" and "play" in first.calls
    assert first.goals == result.goals
    assert result.record["isCompleted"] is True
    assert result.as_row()["goal_xplayer"] == result.goals[0]
    again = agon.match(tic_tac_toe, ["mcts", "random"], iterations=50, seed=3)
    assert again.moves == agon.match(tic_tac_toe, ["mcts", "random"], iterations=50, seed=3).moves
    timed = agon.match(tic_tac_toe, ["mcts", greedy], seconds=0.3)
    assert timed.status == "finished"
    assert agon.match(tic_tac_toe, [first, "random"], iterations=1, max_steps=1).goals is None
    assert first.goals is None, "a match that was cut off has no goals"
    hidden = First()
    result = agon.match(agon.load("kuhn-poker"), [hidden, "random"], iterations=1)
    assert hidden.goals == result.goals is not None


def test_hidden_games_show_python_players_only_their_percepts() -> None:
    seen = []

    def player(view: agon.View) -> str:
        seen.append((view.state, view.observations))
        return view.legal_moves[0]

    game = agon.load("kuhn-poker")
    assert agon.match(game, [player, "random"], iterations=1).status == "finished"
    assert all(state is None for state, _ in seen)
    assert any("holds opener" in percept for _, steps in seen for _, p in steps for percept in p)
    assert not any("holds dealer" in p for _, steps in seen for _, ps in steps[:1] for p in ps)


def test_errors_of_python_players(tic_tac_toe: agon.Game) -> None:
    def broken(view: agon.View) -> str:
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        agon.match(tic_tac_toe, [broken, "random"], iterations=1)
    result = agon.match(tic_tac_toe, [broken, "random"], iterations=1, on_error="substitute")
    assert result.status == "finished" and "mine" in result.errors[0][2]
    with pytest.raises(TypeError, match="is not a player"):
        agon.match(tic_tac_toe, [3, "random"], iterations=1)  # type: ignore[list-item]
    with pytest.raises(ValueError, match="3 players"):
        agon.match(tic_tac_toe, ["random"] * 3, iterations=1)
    with pytest.raises(ValueError, match="iterations"):
        agon.match(tic_tac_toe, ["random"])


def test_questions_about_rules(tic_tac_toe: agon.Game) -> None:
    assert agon.check("tic-tac-toe") == []
    found = agon.check("(role robot)\n(init (at 1))\n(legal robot go)\n(next (at ?x))\nterminal")
    assert any(f.severity == "error" and f.line == 4 for f in found) and "rules:4" in str(found[0])
    state = tic_tac_toe.start()
    assert tic_tac_toe.why("(legal xplayer (mark 1 1))")["holds"] is True
    state.play("(mark 1 1)")
    assert tic_tac_toe.why("(legal oplayer (mark 1 1))", state)["holds"] is False
    does = ["noop", "(mark 2 2)"]
    assert tic_tac_toe.why("(next (cell 2 2 o))", state, does=does)["holds"] is True
    assert tic_tac_toe.solve().values == {"xplayer": 50.0, "oplayer": 50.0}
    unsolved = agon.load("othello").solve(nodes=100)
    assert not unsolved.solved and unsolved.why
    facts = tic_tac_toe.properties(seconds=5)
    assert facts["proved"] == {"turn_taking": True, "constant_sum": 100.0}
    assert tic_tac_toe.constant_sum == 100.0 and tic_tac_toe.is_turn_taking
    explanation = tic_tac_toe.explain(state, seconds=10)
    assert explanation.sections and "properties" in explanation.data
    assert "role(xplayer)" in tic_tac_toe.translate("infix")
    toss = agon.translate("toss/tic-tac-toe", "gdl")
    assert agon.load(toss).start().legal_moves()
    with pytest.raises(ValueError, match="latin"):
        tic_tac_toe.translate("latin")


def test_a_game_is_assessed(tic_tac_toe: agon.Game) -> None:
    found = tic_tac_toe.assess(plays=50, matches=2, weak=5, strong=20, seconds=5)
    assert found.data["termination"] == {"known": "proved", "max_steps": 9}
    assert found.data["solution"]["values"] == {"xplayer": 50.0, "oplayer": 50.0}
    assert "oplayer" in str(found)


def test_all_states_of_a_small_game_are_surveyed(tic_tac_toe: agon.Game) -> None:
    found = tic_tac_toe.survey()
    assert found is not None
    assert (found.n_states, found.longest, found.constant_sum) == (5478, 9, 100.0)
    assert agon.load("othello").survey(max_states=1000) is None


def test_turns_are_proved() -> None:
    names = ("tic-tac-toe", "kuhn-poker", "blocker")
    assert [agon.load(name).is_turn_taking for name in names] == [True, True, False]


def test_an_evaluation_is_learnt(tic_tac_toe: agon.Game) -> None:
    np = pytest.importorskip("numpy")
    learner = tic_tac_toe.learn(games=3000, seed=1)
    assert learner.n_games >= 3000 and learner.facts["cells"] == 9
    state = tic_tac_toe.start()
    for move in ("(mark 2 2)", "(mark 2 1)", "(mark 1 1)", "(mark 1 2)"):
        state.play(move)
    report = learner.think(state, nodes=2000)
    assert (report.best_move, report.value) == ("(mark 3 3)", 100.0)
    assert learner.value(state) > 0.5
    state.play("(mark 3 3)")
    assert learner.value(state) == 1.0
    batch = tic_tac_toe.batch(4)
    values = learner.values(batch)
    assert values.shape == (4,) and np.allclose(values, learner.value(tic_tac_toe.start()))
    copied = pickle.loads(pickle.dumps(learner))
    assert (copied.n_games, copied.n_steps) == (learner.n_games, learner.n_steps)
    assert copied.value(tic_tac_toe.start()) == learner.value(tic_tac_toe.start())
    copied.learn(games=100)
    assert copied.n_games > learner.n_games
    with pytest.raises(agon.AgonError, match="not a model"):
        agon._agon._relearn(tic_tac_toe, 1, b"something else")
    before = learner.n_games
    learner.learn(games=100)
    assert learner.n_games > before
    result = agon.match(tic_tac_toe, [learner, "random"], iterations=1)
    assert result.status == "finished" and result.players[0] == "Learner" and not result.errors
    with pytest.raises(agon.AgonError, match="cannot be learnt"):
        agon.load("kuhn-poker").learn(games=1)
    with pytest.raises(ValueError, match="limit"):
        tic_tac_toe.learn()


def test_pictures(tic_tac_toe: agon.Game) -> None:
    pytest.importorskip("numpy")
    state = tic_tac_toe.start()
    empty = state.pixels()
    state.play("(mark 2 2)")
    drawn = state.pixels()
    assert drawn.shape == empty.shape and drawn.shape[2] == 3 and (drawn != empty).any()
    assert state.pixels(scale=0.5).shape[0] < drawn.shape[0]
    places = state.scene()["boards"][0]["places"]
    assert sum(len(place["pieces"]) for place in places) >= 1
    with pytest.raises(agon.AgonError, match="pixels"):
        state.pixels(scale=1e6)


def test_the_package_imports_nothing_heavy() -> None:
    heavy = "{'numpy', 'gymnasium', 'ray', 'pyspiel'}"
    program = f"import agon, sys; print(sorted({heavy} & set(sys.modules)))"
    run = [sys.executable, "-c", program]
    out = subprocess.run(run, capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


def test_tournaments(tmp_path: Path) -> None:
    spec = {
        "games": ["tic-tac-toe"], "repeats": 2, "openings": 2, "iterations": 20,
        "players": {"a": "mcts", "b": "random"},
    }  # fmt: skip
    seen = []
    store = tmp_path / "t.db"
    result = agon.tournament(spec, store=store, workers=2, progress=lambda *p: seen.append(p[:2]))
    assert result.is_complete and seen[-1] == (4, 4) and len(result.records) == 8
    assert result.points["a"] > result.points["b"]
    again = agon.tournament(spec, store=store, progress=lambda *p: pytest.fail("all is played"))
    assert [m["id"] for m in again.matches] == [m["id"] for m in result.matches]
    resumed = agon.tournament(store=store, progress=lambda *p: pytest.fail("all is played"))
    assert resumed.standings == result.standings
    assert [m["moves"] for m in resumed.matches] == [m["moves"] for m in result.matches]
    with pytest.raises(agon.AgonError, match="give a tournament"):
        agon.tournament()
    with pytest.raises(agon.AgonError, match="no tournament yet"):
        agon.tournament(store=tmp_path / "empty.db")
    alone = agon.tournament(spec)
    assert [m["moves"] for m in alone.matches] == [
        next(r["moves"] for r in result.matches if r["id"] == m["id"]) for m in alone.matches
    ]
    with pytest.raises(agon.AgonError, match="not the tournament in the store"):
        agon.tournament({**spec, "iterations": 30}, store=store)
    grown = agon.tournament({**spec, "repeats": 3}, store=store)
    assert len(grown.matches) == 6 and grown.is_complete
    with agon.Store(store) as kept:
        assert len(kept.matches()) == 6
        if sys.platform != "win32":
            with pytest.raises(agon.AgonError, match="another process"):
                agon.Store(store)
    with pytest.raises(agon.AgonError):
        agon.tournament("games = 1\n")


def test_a_sequential_test_ends_a_tournament() -> None:
    result = agon.tournament({
        "games": ["tic-tac-toe"], "repeats": 200, "openings": 1, "iterations": 30,
        "players": {"strong": "mcts", "weak": "random"}, "sprt": {"elo0": 0, "elo1": 200},
    })  # fmt: skip
    assert not result.is_complete and result.standings["sprt"]["decision"] == "elo1"
    assert len(result.matches) < 400


def test_processors_are_counted() -> None:
    text = 'games = ["tic-tac-toe"]\nrepeats = 1\nplay_clock = 1\n[players]\n'
    plan = agon.TournamentPlan(text + 'a = "mcts(threads=3)"\nb = "random"\n')
    assert [plan.cores(id) for id in plan.ids] == [3, 3]


#: A small part of an experiment: one game, one column.
SMALL = {"iterations": 5, "repeats": 1, "only": "Bidding"}


def test_experiments(tmp_path: Path) -> None:
    names = [name for name, _ in agon.experiments()]
    assert "trutman-table-5.2" in names
    seen = []
    first = agon.experiment(
        "trutman-table-5.2", store=tmp_path, progress=lambda *p: seen.append(p[:2]), **SMALL
    )
    assert first.is_complete and seen and len(first.cells) == len(first.columns)
    assert all(cell["game"] == "Bidding Tic Tac Toe" for cell in first.cells), first.cells
    again = agon.experiment(
        "003-table-5.2", store=tmp_path, progress=lambda *_: pytest.fail("again"), **SMALL
    )
    assert again.cells == first.cells and again.name == first.name
    for name, part in [
        ("no-such", "there is no experiment"),
        ("trutman-table-5.5", "times"),
        ("kaiser-stafiniak-2010-table-1", "learns"),
    ]:
        with pytest.raises(agon.AgonError, match=part):
            agon.experiment(name)
    with pytest.raises(agon.AgonError, match="no column"):
        agon.experiment("trutman-table-5.2", column="no such column")
    with pytest.raises(agon.AgonError, match="at least 1"):
        agon.experiment("trutman-table-5.2", repeats=0)


def test_the_command_runs_the_same_experiment(tmp_path: Path) -> None:
    if COMMAND is None:
        pytest.skip("the command is not built here")
    run = [str(COMMAND), "experiment", "trutman-table-5.2", "--json", "--quiet"]
    run += ["--iterations", "5", "--repeats", "1", "--only", "Bidding", "--store"]
    printed = subprocess.run([*run, tmp_path / "a"], check=True, capture_output=True).stdout
    theirs = json.loads(printed)
    ours = agon.experiment("trutman-table-5.2", store=tmp_path / "b", **SMALL)
    assert ours.cells == theirs["cells"] and ours.missing == theirs["missing"]
    # Each goes on where the other has stopped.
    agon.experiment(
        "trutman-table-5.2", store=tmp_path / "a", progress=lambda *_: pytest.fail("again"), **SMALL
    )
    again = json.loads(
        subprocess.run([*run, tmp_path / "b"], check=True, capture_output=True).stdout
    )
    # The line of provenance has the command, and so the folder of the store.
    assert again.pop("provenance") != theirs.pop("provenance")
    assert again == theirs


def test_the_command_reads_the_store_of_python(tmp_path: Path) -> None:
    if COMMAND is None:
        pytest.skip("the command is not built here")
    text = 'games = ["tic-tac-toe"]\nrepeats = 1\niterations = 20\n'
    text += '[players]\na = "mcts"\nb = "random"\n'
    spec, store = tmp_path / "s.toml", tmp_path / "s.db"
    spec.write_text(text)
    ours = agon.tournament(spec, store=store)
    run = [str(COMMAND), "tournament", "show", "--store", str(store), "--json"]
    shown = subprocess.run(run, capture_output=True, text=True)
    assert shown.returncode == 0, shown.stderr
    assert json.loads(shown.stdout)["overall"]["players"] == ours.standings["overall"]["players"]
    for match in ours.matches:
        run = [str(COMMAND), "tournament", "rerun", match["id"], "--store", str(store)]
        assert subprocess.run(run, capture_output=True).returncode == 0


def test_everything_public_has_a_docstring() -> None:
    """So that `help` answers."""
    for name in agon.__all__:
        member = getattr(agon, name)
        assert name == "__version__" or member.__doc__, name
        if isinstance(member, type) and member.__module__ == "agon":
            for part, value in vars(member).items():
                assert part.startswith("_") or value.__doc__, f"{name}.{part}"
