"""Learning with programs of your own: positions out as arrays, networks in.

    import agon
    import agon.learn

    game = agon.load("connect-three")
    played = agon.learn.positions(game, 40_000, seed=1)    # arrays of facts and of outcomes
    network = agon.learn.Network(w1, b1, w2, b2)            # trained by any program
    model = agon.learn.model(game, network)                 # what players use
    agon.match(game.with_model(model), ["minimax", "mcts"], iterations=1000)

`docs/python.md` has a whole example. The columns of all arrays of facts are `Game.fluents`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from . import _agon
from ._agon import AgonError, Model

if TYPE_CHECKING:
    import os

    from ._agon import Game, Player

__all__ = [
    "Exchange",
    "Model",
    "Network",
    "Positions",
    "import_onnx",
    "load",
    "model",
    "positions",
]

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Positions:
    """Positions of plays, a row for each. `by_play` splits them without a leak."""

    game: Game
    #: Zeros and ones, uint8 or float32 `[n, fluents]`: the facts that hold.
    facts: npt.NDArray[Any]
    #: What came of the play: float32 `[n, players]`, goals scaled to 0..1.
    outcomes: Floats
    #: The player who has a choice, int32 `[n]`, as an index into `Game.players`; -1 if it is not one.
    turn: npt.NDArray[np.int32]
    #: The number of the play, int64 `[n]`. Positions of one play are alike.
    play: npt.NDArray[np.int64]
    #: The number of steps before the position, int64 `[n]`.
    step: npt.NDArray[np.int64]
    #: Values by search, float32 `[n, players]`, scaled like `outcomes`; NaN where nothing was
    #: searched for a player. None without a search.
    search: Floats | None = None

    def __len__(self) -> int:
        return len(self.play)

    def __repr__(self) -> str:
        n_plays = len(np.unique(self.play))
        return f"<agon.learn.Positions of {self.game.name}: {len(self)} of {n_plays} plays>"

    def __getitem__(self, index: Any) -> Positions:
        """Rows by a slice, a mask or numbers."""
        if isinstance(index, (int, np.integer)):
            index = [index]
        search = None if self.search is None else self.search[index]
        return Positions(
            self.game,
            self.facts[index],
            self.outcomes[index],
            self.turn[index],
            self.play[index],
            self.step[index],
            search,
        )

    @property
    def names(self) -> list[str]:
        """The facts in the order of the columns."""
        return self.game.fluents

    @property
    def targets(self) -> Floats:
        """What a network is to say of the outcomes: float32 `[n, outputs]`."""
        return _as_outputs(self.game, self.outcomes)

    @property
    def search_targets(self) -> Floats:
        """What a network is to say of the values by search; NaN where they are unknown."""
        if self.search is None:
            raise AgonError("there are no values by search: positions(..., search=200) makes them")
        return _as_outputs(self.game, self.search)

    def by_play(self, share: float = 0.2, *, seed: int = 1) -> tuple[Positions, Positions]:
        """Split into training and test: a share of the plays, with all their positions, is kept."""
        if not 0.0 <= share <= 1.0:
            raise ValueError(f"share: {share} is not from 0 to 1")
        plays = np.unique(self.play)
        drawn = np.random.default_rng(seed).permutation(plays)[: round(share * len(plays))]
        is_test = np.isin(self.play, drawn)
        return self[~is_test], self[is_test]


def _as_outputs(game: Game, values: Floats) -> Floats:
    if n_outputs(game) == 1 and values.shape[1] == 2:
        # What one of two players gains, the other loses.
        return 0.5 + 0.5 * (values[:, :1] - values[:, 1:])
    return values


def n_outputs(game: Game) -> int:
    """The number of outputs of a network: 1 for two players alone, otherwise one for each."""
    n_players = len(game.players)
    return 1 if n_players == 2 and game.nature is None else n_players


def positions(
    game: Game,
    n: int,
    *,
    seed: int = 1,
    by: str | Player | Model = "random",
    iterations: int = 200,
    exploration: float = 0.1,
    opening: int = 4,
    max_steps: int = 1000,
    search: int | None = None,
    dtype: Literal["uint8", "float32"] = "uint8",
) -> Positions:
    """Play until there are `n` positions, and return them with what came of the plays.

    `by` makes the moves: `random`; a `Model`, which looks one step ahead and is fast; or a built-in
    player, such as `mcts`, with `iterations` for each move. Up to `opening` steps at the beginning
    of a play are random, and later ones with the probability `exploration`. `search` values each
    position by a tree search of so many iterations. Plays of more than `max_steps` are left out.
    Equal seeds give equal arrays.
    """
    fields = _agon._positions(
        game, n, seed, by, iterations, exploration, opening, max_steps, search, dtype
    )
    return Positions(game, **fields)


@dataclass(frozen=True)
class Exchange:
    """How a network sees states in which the second player is to move: with the players exchanged,
    and with an output of the opposite sign. Networks that Agon has learnt do so if they can."""

    #: The number of the fact that holds in these states.
    turn: int
    #: By fact: the number of the fact as which it is seen.
    images: npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Network:
    """A network with one hidden layer over the facts of a game, as arrays.

    Called with facts `[n, fluents]`, it returns the expected results by numpy, float32
    `[n, outputs]`: of the first player where two play alone, otherwise of each player.
    """

    #: float32 `[fluents, hidden]`. The weight of a PyTorch `Linear` is its transpose.
    hidden_weights: Floats
    #: float32 `[hidden]`.
    hidden_biases: Floats
    #: float32 `[hidden, outputs]`.
    output_weights: Floats
    #: float32 `[outputs]`.
    output_biases: Floats
    #: A hidden unit is its sum, but at least 0 and at most this. None: it has no upper end (ReLU).
    ceiling: float | None = None
    #: The last activation. `tanh` is for results from -1 to 1.
    output: Literal["sigmoid", "tanh"] = "sigmoid"
    exchange: Exchange | None = None

    def __post_init__(self) -> None:
        ranks = {"hidden_weights": 2, "hidden_biases": 1, "output_weights": 2, "output_biases": 1}
        for name, rank in ranks.items():
            array = np.array(getattr(self, name), dtype=np.float32, order="C")
            if array.ndim != rank:
                raise AgonError(f"{name} has {array.ndim} dimensions, and it should have {rank}")
            if not np.isfinite(array).all():
                raise AgonError(f"{name} has entries that are not finite")
            object.__setattr__(self, name, array)
        n_hidden = self.hidden_weights.shape[1]
        for name, wanted in [
            ("hidden_biases", (n_hidden,)),
            ("output_weights", (n_hidden, len(self.output_biases))),
        ]:
            shape = getattr(self, name).shape
            if shape != wanted:
                raise AgonError(
                    f"{name} has the shape {shape}, and it should be {wanted}: hidden_weights is "
                    "[fluents, hidden], output_weights [hidden, outputs] (a PyTorch Linear has the "
                    "transpose)"
                )
        if self.output not in ("sigmoid", "tanh"):
            raise ValueError(f"output: `{self.output}` is not `sigmoid` or `tanh`")

    @property
    def n_hidden(self) -> int:
        """The number of hidden units."""
        return len(self.hidden_biases)

    def __call__(self, facts: npt.ArrayLike) -> Floats:
        seen = np.asarray(facts, dtype=np.float32)
        sign = np.ones((len(seen), 1), dtype=np.float32)
        if self.exchange is not None:
            is_second = seen[:, self.exchange.turn] > 0
            exchanged = np.empty_like(seen)
            exchanged[:, self.exchange.images] = seen
            seen = np.where(is_second[:, None], exchanged, seen)
            sign[is_second] = -1.0
        hidden = seen @ self.hidden_weights + self.hidden_biases
        hidden = np.clip(hidden, 0.0, np.inf if self.ceiling is None else self.ceiling)
        sums = sign * (hidden @ self.output_weights + self.output_biases)
        values = np.tanh(sums) if self.output == "tanh" else 1.0 / (1.0 + np.exp(-sums))
        return np.asarray(values, dtype=np.float32)

    def __repr__(self) -> str:
        n_facts, n_hidden = self.hidden_weights.shape
        return f"<agon.learn.Network {n_facts} -> {n_hidden} -> {len(self.output_biases)}>"


def model(game: Game, network: Network) -> Model:
    """Make a model of a network, which players and searches use.

    Searches round weights to 16 bits. `Model.values` says what they see. It differs from
    `network(facts)` by less than 0.01, usually by less than 0.001.
    """
    n_facts, wanted = network.hidden_weights.shape[0], len(game.fluents)
    if n_facts != wanted:
        hint = "; it looks transposed" if network.n_hidden == wanted else ""
        raise AgonError(
            f"hidden_weights has {n_facts} rows, and {game.name} has {wanted} fluents{hint}"
        )
    found, wanted = len(network.output_biases), n_outputs(game)
    if found != wanted:
        what = "the result of the first player" if wanted == 1 else "the result of each player"
        raise AgonError(f"the network has {found} outputs, and it should have {wanted}: {what}")
    # (1 + tanh(x)) / 2 is the logistic function of 2 x.
    factor = np.float32(2.0 if network.output == "tanh" else 1.0)
    exchange = network.exchange
    return _agon._model_of_network(
        game,
        network.hidden_weights.ravel(),
        network.hidden_biases,
        (factor * network.output_weights).ravel(),
        factor * network.output_biases,
        network.ceiling,
        None if exchange is None else (exchange.turn, [int(fact) for fact in exchange.images]),
    )


def load(game: Game, path: str | os.PathLike[str] | None = None) -> Model:
    """Read the model of a game from a file, or from the store in which `agon learn` puts models."""
    return _agon._load_model(game, None if path is None else Path(path))


def import_onnx(game: Game, path: str | os.PathLike[str]) -> Model:
    """Read a network from an ONNX file: two layers with ReLU or Clip between, Sigmoid or Tanh last.

    Its input has a column for each of `Game.fluents`, its output those of `Network`.
    """
    return _agon._model_of_onnx(game, Path(path).read_bytes())
