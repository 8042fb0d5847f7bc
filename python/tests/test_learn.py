"""Positions out as arrays, networks in, ONNX both ways."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path

import numpy as np
import pytest

import agon
import agon.learn

#: How far `Model.values` may be from the network in numpy: weights are rounded to 16 bits.
PRECISION = 0.01


@pytest.fixture(scope="module")
def game() -> agon.Game:
    return agon.load("connect-three")


def trained(data: agon.learn.Positions, n_hidden: int = 32, epochs: int = 6) -> agon.learn.Network:
    """Train a network by plain gradient descent on the cross entropy, in a few seconds."""
    rng = np.random.default_rng(1)
    facts, targets = data.facts.astype(np.float32), data.targets
    w1 = rng.normal(0, 0.3, (facts.shape[1], n_hidden)).astype(np.float32)
    b1, w2 = np.full(n_hidden, 0.2, np.float32), rng.normal(0, 0.3, (n_hidden, targets.shape[1]))
    w2, b2 = w2.astype(np.float32), np.zeros(targets.shape[1], np.float32)
    for _ in range(epochs):
        for rows in np.array_split(rng.permutation(len(facts)), max(1, len(facts) // 64)):
            x = facts[rows]
            hidden = np.maximum(x @ w1 + b1, 0.0)
            error = (1 / (1 + np.exp(-(hidden @ w2 + b2))) - targets[rows]) / len(rows)
            back = (error @ w2.T) * (hidden > 0)
            w2 -= 0.1 * hidden.T @ error
            b2 -= 0.1 * error.sum(0)
            w1 -= 0.1 * x.T @ back
            b1 -= 0.1 * back.sum(0)
    return agon.learn.Network(w1, b1, w2, b2)


def cross_entropy(network: agon.learn.Network, data: agon.learn.Positions) -> float:
    values = np.clip(network(data.facts), 1e-4, 1 - 1e-4)
    t = data.targets
    return float(-(t * np.log2(values) + (1 - t) * np.log2(1 - values)).mean())


def test_positions_are_those_of_plays(game: agon.Game) -> None:
    data = agon.learn.positions(game, 500, seed=3)
    n_facts = len(game.fluents)
    assert data.facts.shape == (500, n_facts) and data.facts.dtype == np.uint8
    assert data.outcomes.shape == (500, 2) and data.outcomes.dtype == np.float32
    assert data.names == game.fluents and len(data) == 500 and data.search is None
    assert data.targets.shape == (500, 1)
    assert np.allclose(data.targets[:, 0], data.outcomes[:, 0])
    assert (data.outcomes.sum(1) == 1).all() and set(np.unique(data.facts)) == {0, 1}
    # A play begins at the start, and its steps follow each other.
    first = data.step == 0
    assert (data.facts[first] == game.start().tensor()).all()
    assert (np.diff(data.step)[~first[1:]] == 1).all() and (np.diff(data.play) >= 0).all()
    turns = [game.fluents.index(f"(control {player})") for player in game.players]
    # A player with a single move has no choice.
    chooses = data.turn >= 0
    assert chooses.mean() > 0.9
    assert (data.facts[chooses, np.array(turns)[data.turn[chooses]]] == 1).all()
    again = agon.learn.positions(game, 500, seed=3, dtype="float32")
    assert again.facts.dtype == np.float32 and (again.facts == data.facts).all()
    assert (agon.learn.positions(game, 500, seed=4).facts != data.facts).any()
    train, test = data.by_play(0.25, seed=1)
    assert len(train) + len(test) == 500 and not set(train.play) & set(test.play)
    assert len(data[10:20]) == 10 and len(data[data.turn == 0]) == (data.turn == 0).sum()
    assert "500 of" in repr(data)


def test_positions_by_players_and_searches(game: agon.Game) -> None:
    data = agon.learn.positions(game, 60, by="mcts", iterations=30, search=50)
    assert data.search is not None and data.search.shape == (60, 2)
    assert np.allclose(data.search.sum(1), 1) and data.search_targets.shape == (60, 1)
    player = game.player("mcts")
    same = agon.learn.positions(game, 60, by=player, iterations=30, search=50)
    assert (same.facts == data.facts).all() and (same.search == data.search).all()
    model = game.learn(games=500).model()
    by_model = agon.learn.positions(game, 400, by=model, exploration=0.2)
    assert len(by_model) == 400
    # One player alone, three players, players who move together, and chance.
    for name, n_outputs in [
        ("eight-puzzle", 1),
        ("three-way-tic-tac-toe", 3),
        ("rock-paper-scissors", 1),
        ("dice-race", 2),
    ]:
        other = agon.load(name)
        data = agon.learn.positions(other, 50)
        assert data.targets.shape == (50, n_outputs), name
        assert ((data.targets >= 0) & (data.targets <= 1)).all(), name
    assert (agon.learn.positions(agon.load("rock-paper-scissors"), 5).turn == -1).all()


def test_a_network_plays(game: agon.Game) -> None:
    train, test = agon.learn.positions(game, 40_000, seed=1).by_play(seed=1)
    network = trained(train)
    # Random play is hard to foresee; a network that knows nothing says 0.984.
    assert cross_entropy(network, test) < 0.96, "it has learnt something about other plays"
    model = agon.learn.model(game, network)
    assert (model.form, model.n_values, model.n_games) == ("network", 1, 0)
    assert "network, 32 hidden units" in repr(model)
    # What searches see is what numpy says.
    values = model.values(test.facts)
    assert values.shape == (len(test), 1) and values.dtype == np.float32
    assert np.abs(values - network(test.facts)).max() < PRECISION
    batch = game.batch(16)
    batch.step_random(3)
    assert np.abs(model.values(batch) - network(batch.observe("float32"))).max() < PRECISION
    first, second = model.value(game.start())
    assert first + second == pytest.approx(1)
    assert first == pytest.approx(model.values(game.start().tensor()[None])[0, 0])
    ended = game.start().playout(seed=2)
    assert ended.is_terminal and model.value(ended) == [goal / 100 for goal in ended.goals()]
    # It is stronger than random play: as a player, and in players of a game that has it.
    knowing = game.with_model(model)
    assert knowing == game and game.model is None and knowing.model is not None
    wins = 0.0
    for seed in range(10):
        players = ["minimax", "random"] if seed % 2 else ["random", "minimax"]
        result = agon.match(knowing, players, iterations=200, seed=seed)
        assert result.goals is not None
        wins += result.goals[0 if seed % 2 else 1] / 100
    assert wins >= 8.5, wins
    against = agon.match(game, [model, "random"], iterations=1)
    assert against.status == "finished" and against.players[0] == "Model"
    # One step ahead it does what the network says.
    children = {m: game.start().child(m) for m in game.start().legal_moves()}
    best = max(children, key=lambda m: model.value(children[m])[0])
    played = agon.learn.positions(game, 2, by=model, exploration=0.0, opening=0)
    assert (played.facts[1] == children[best].tensor()).all()
    player = model.player("minimax")
    assert player.think(game.start(), iterations=100).best_move in children
    assert model.think(game.start(), nodes=100).best_move in children
    # A player with a model of its own cannot play a match of the game without it unnoticed.
    with pytest.raises(agon.AgonError, match="with_model"):
        agon.match(game, [player, "random"], iterations=1)
    assert agon.match(knowing, [player, "random"], iterations=50).status == "finished"


def test_weights_come_back(game: agon.Game) -> None:
    data = agon.learn.positions(game, 300)
    network = trained(data, n_hidden=8, epochs=1)
    model = agon.learn.model(game, network)
    back = model.network()
    for name in ("hidden_weights", "hidden_biases", "output_weights", "output_biases"):
        assert (getattr(back, name) == getattr(network, name)).all(), name
    assert (back.ceiling, back.output, back.exchange) == (None, "sigmoid", None)
    # A tangent for results from -1 to 1 says the same on another scale.
    fields = (network.hidden_weights, network.hidden_biases)
    tangent = agon.learn.Network(
        *fields, network.output_weights / 2, network.output_biases / 2, output="tanh"
    )
    assert np.allclose((tangent(data.facts) + 1) / 2, network(data.facts), atol=1e-5)
    assert np.allclose(
        agon.learn.model(game, tangent).values(data.facts), model.values(data.facts), atol=1e-4
    )
    # What Agon has learnt comes out, with the exchange of players, and goes in again.
    learner = game.learn(games=300, form="network")
    learnt = learner.model()
    assert learnt.n_games == learner.n_games > 0
    own = learnt.network()
    assert own.ceiling == 1.0 and own.exchange is not None and own.n_hidden == 64
    assert np.abs(own(data.facts) - learnt.values(data.facts)).max() < PRECISION
    again = agon.learn.model(game, own)
    assert np.abs(again.values(data.facts) - learnt.values(data.facts)).max() < 1e-5
    # Learning goes on from either.
    for model in (again, learnt, agon.learn.model(game, network)):
        learner = model.learner(seed=2)
        before = learner.n_games
        assert before == model.n_games
        learner.learn(games=64)
        assert learner.n_games >= before + 64
        changed = learner.model().network()
        assert (changed.hidden_weights != model.network().hidden_weights).any()
        assert (learner.model().values(data.facts) != model.values(data.facts)).any()
    with pytest.raises(agon.AgonError, match="tables"):
        game.learn(games=64).model().network()
    # Three players have an output each. One hidden layer for all of them comes back as one.
    three = agon.load("three-way-tic-tac-toe")
    data = agon.learn.positions(three, 300)
    network = trained(data, n_hidden=8, epochs=1)
    model = agon.learn.model(three, network)
    assert model.n_values == 3 and model.network().n_hidden == 8
    assert np.abs(model.values(data.facts) - network(data.facts)).max() < PRECISION
    assert len(model.value(three.start())) == 3
    learnt = three.learn(games=64, form="network").model()
    assert learnt.network().n_hidden == 3 * 64
    again = agon.learn.model(three, learnt.network())
    assert np.abs(again.values(data.facts) - learnt.values(data.facts)).max() < PRECISION
    assert again.network().n_hidden == 3 * 64


def test_models_are_stored(game: agon.Game, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGON_MODELS", str(tmp_path / "models"))
    data = agon.learn.positions(game, 200)
    model = agon.learn.model(game, trained(data, n_hidden=8, epochs=1))
    with pytest.raises(agon.AgonError, match="no model"):
        agon.learn.load(game)
    path = model.save()
    assert isinstance(path, Path) and path.parent == tmp_path / "models" and path.exists()
    with pytest.raises(FileExistsError, match="replace"):
        model.save()
    assert model.save(replace=True) == path
    # The same game with other names finds it.
    rules = agon.load("connect-three").rules.replace("red", "first").replace("disc", "thing")
    assert rules != game.rules
    renamed = agon.load(rules)
    stored, other = agon.learn.load(game), agon.learn.load(renamed)
    assert (stored.values(data.facts) == model.values(data.facts)).all()
    place = {name: at for at, name in enumerate(game.fluents)}
    names = [n.replace("first", "red").replace("thing", "disc") for n in renamed.fluents]
    order = [place[name] for name in names]
    assert np.abs(other.values(data.facts[:, order]) - model.values(data.facts)).max() < 1e-6
    file = model.save(tmp_path / "own.agon-model")
    assert (agon.learn.load(game, file).values(data.facts) == model.values(data.facts)).all()
    with pytest.raises(agon.AgonError, match="another game"):
        agon.learn.load(agon.load("tic-tac-toe"), file)
    file.write_bytes(file.read_bytes()[:-20])
    with pytest.raises(agon.AgonError, match="ignored"):
        agon.learn.load(game, file)
    with pytest.raises(FileNotFoundError):
        agon.learn.load(game, tmp_path / "none")
    # Pickles keep models, also those of games and players.
    for kept in (
        pickle.loads(pickle.dumps(model)),
        copy.copy(model),
        pickle.loads(pickle.dumps(game.with_model(model))).model,
        pickle.loads(pickle.dumps(model.player())).game.model,
    ):
        assert kept is not None
        assert (kept.values(data.facts) == model.values(data.facts)).all()
    assert pickle.loads(pickle.dumps(game)).model is None
    assert game.with_model(model).with_model(None).model is None
    learner = pickle.loads(pickle.dumps(model.learner()))
    assert (learner.model().values(data.facts) == model.values(data.facts)).all()


def test_wrong_networks_are_refused(game: agon.Game) -> None:
    n = len(game.fluents)
    w1, b1 = np.zeros((n, 4)), np.zeros(4)
    w2, b2 = np.zeros((4, 1)), np.zeros(1)
    make = agon.learn.Network
    with pytest.raises(agon.AgonError, match="not finite"):
        make(np.full((n, 4), np.nan), b1, w2, b2)
    with pytest.raises(agon.AgonError, match="2 dimensions, and it should have 1"):
        make(w1, w1, w2, b2)
    with pytest.raises(agon.AgonError, match="transpose"):
        make(w1.T, b1, w2.T, b2)
    with pytest.raises(ValueError, match="relu"):
        make(w1, b1, w2, b2, output="relu")  # type: ignore[arg-type]
    with pytest.raises(agon.AgonError, match="3 rows, and .* fluents"):
        agon.learn.model(game, make(np.zeros((3, 4)), b1, w2, b2))
    with pytest.raises(agon.AgonError, match="looks transposed"):
        agon.learn.model(game, make(w1.T, np.zeros(n), np.zeros((n, 1)), b2))
    with pytest.raises(agon.AgonError, match="2 outputs, and it should have 1"):
        agon.learn.model(game, make(w1, b1, np.zeros((4, 2)), np.zeros(2)))
    with pytest.raises(agon.AgonError, match="a weight is 100"):
        agon.learn.model(game, make(w1 + 100, b1, w2, b2))
    with pytest.raises(agon.AgonError, match="ceiling"):
        agon.learn.model(game, make(w1, b1, w2, b2, ceiling=-1.0))
    with pytest.raises(agon.AgonError, match="exchange"):
        exchange = agon.learn.Exchange(0, np.zeros(n, np.int64))
        agon.learn.model(game, make(w1, b1, w2, b2, exchange=exchange))
    model = agon.learn.model(game, make(w1, b1, w2, b2))
    assert (model.values(np.zeros((3, n))) == 0.5).all()
    with pytest.raises(agon.AgonError, match="should be"):
        model.values(np.zeros((3, n + 1)))
    with pytest.raises(agon.AgonError, match="should be"):
        model.values(np.zeros(n))
    with pytest.raises(agon.AgonError, match="zeros and ones"):
        model.values(np.full((3, n), 0.5))
    with pytest.raises(agon.AgonError, match="one of connect-three"):
        model.values(agon.load("tic-tac-toe").batch(2))
    with pytest.raises(agon.AgonError, match="one of connect-three"):
        agon.load("tic-tac-toe").with_model(model)
    with pytest.raises(agon.AgonError, match="belongs to"):
        model.value(agon.load("tic-tac-toe").start())
    with pytest.raises(ValueError, match="form"):
        game.learn(games=1, form="forest")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="threads"):
        game.learn(games=1, threads=0)


def test_wrong_requests_for_positions_are_refused(game: agon.Game) -> None:
    with pytest.raises(ValueError, match="above 0"):
        agon.learn.positions(game, 0)
    with pytest.raises(ValueError, match="exploration"):
        agon.learn.positions(game, 5, exploration=2.0)
    with pytest.raises(ValueError, match="dtype"):
        agon.learn.positions(game, 5, dtype="float64")  # type: ignore[arg-type]
    with pytest.raises(agon.AgonError, match="no-such"):
        agon.learn.positions(game, 5, by="no-such")
    with pytest.raises(TypeError, match="by"):
        agon.learn.positions(game, 5, by=3)  # type: ignore[arg-type]
    with pytest.raises(agon.AgonError, match="within 2 steps"):
        agon.learn.positions(game, 5, max_steps=2)
    with pytest.raises(agon.AgonError, match="no fixed numbers"):
        agon.learn.positions(agon.load("toss/race"), 5)
    with pytest.raises(agon.AgonError, match="search"):
        agon.learn.positions(game, 5).search_targets  # noqa: B018
    with pytest.raises(ValueError, match="share"):
        agon.learn.positions(game, 5).by_play(2.0)


def test_onnx_goes_both_ways(game: agon.Game, tmp_path: Path) -> None:
    """Agon reads what it writes, without any package."""
    learnt = game.learn(games=200, form="network").model()
    path = learnt.export_onnx(tmp_path / "net.onnx")
    assert path == tmp_path / "net.onnx"
    data = agon.learn.positions(game, 300)
    again = agon.learn.import_onnx(game, path)
    assert np.abs(again.values(data.facts) - learnt.values(data.facts)).max() < 1e-5
    with pytest.raises(agon.AgonError, match="tables"):
        game.learn(games=64).model().export_onnx(tmp_path / "tables.onnx")
    with pytest.raises(agon.AgonError, match="does not fit the game"):
        agon.learn.import_onnx(agon.load("tic-tac-toe"), path)
    (tmp_path / "text.onnx").write_text("not a network")
    with pytest.raises(agon.AgonError, match="ONNX"):
        agon.learn.import_onnx(game, tmp_path / "text.onnx")
    with pytest.raises(FileNotFoundError):
        agon.learn.import_onnx(game, tmp_path / "none.onnx")
    # Three players: the round trip does not make the network larger.
    three = agon.load("three-way-tic-tac-toe")
    learnt = three.learn(games=64, form="network").model()
    again = agon.learn.import_onnx(three, learnt.export_onnx(tmp_path / "three.onnx"))
    assert again.network().n_hidden == learnt.network().n_hidden
    facts = agon.learn.positions(three, 200).facts
    assert np.abs(again.values(facts) - learnt.values(facts)).max() < PRECISION


def test_other_programs_read_and_write_onnx(game: agon.Game, tmp_path: Path) -> None:
    """onnxruntime says what Agon says, and a network made with the package onnx comes in."""
    reason = "ONNX files are not compared with other programs, because {} is not installed"
    onnx = pytest.importorskip("onnx", reason=reason.format("onnx"))
    runtime = pytest.importorskip("onnxruntime", reason=reason.format("onnxruntime"))
    data = agon.learn.positions(game, 400)
    facts = data.facts.astype(np.float32)

    def run(path: Path) -> np.ndarray:  # type: ignore[type-arg]
        session = runtime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
        return np.asarray(session.run(["value"], {"facts": facts})[0])

    learnt = game.learn(games=300, form="network").model()
    path = learnt.export_onnx(tmp_path / "own.onnx")
    onnx.checker.check_model(str(path))
    said = run(path)
    assert np.abs(said - learnt.network()(facts)).max() < 1e-5
    assert np.abs(said - learnt.values(facts)).max() < PRECISION
    # As PyTorch writes it: weights of Linear are transposed.
    network = trained(data, n_hidden=16, epochs=2)
    tensors = {
        "w1": network.hidden_weights.T,
        "b1": network.hidden_biases,
        "w2": network.output_weights.T,
        "b2": network.output_biases,
    }
    helper, numbers = onnx.helper, onnx.TensorProto.FLOAT
    graph = helper.make_graph(
        [
            helper.make_node("Gemm", ["facts", "w1", "b1"], ["h"], transB=1),
            helper.make_node("Relu", ["h"], ["a"]),
            helper.make_node("Gemm", ["a", "w2", "b2"], ["o"], transB=1),
            helper.make_node("Sigmoid", ["o"], ["value"]),
        ],
        "foreign",
        [helper.make_tensor_value_info("facts", numbers, [None, facts.shape[1]])],
        [helper.make_tensor_value_info("value", numbers, [None, 1])],
        [onnx.numpy_helper.from_array(np.ascontiguousarray(t), n) for n, t in tensors.items()],
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    foreign = tmp_path / "foreign.onnx"
    onnx.save(made, str(foreign))
    model = agon.learn.import_onnx(game, foreign)
    assert np.abs(model.values(facts) - run(foreign)).max() < PRECISION
    assert (model.network().hidden_weights == network.hidden_weights).all()
