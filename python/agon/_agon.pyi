"""Types of the native module."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from ._records import (
    Assessment,
    Explanation,
    Finding,
    MatchResult,
    Playouts,
    Report,
    ShippedGame,
    Solution,
    Survey,
    View,
)

from .learn import Network

__version__: str

RoleLike: TypeAlias = str | int
MoveLike: TypeAlias = str | int | np.integer[Any]
Moves: TypeAlias = MoveLike | Sequence[MoveLike | None] | Mapping[RoleLike, MoveLike]

class AgonError(ValueError):
    """An error of agon. The message says what to do."""

class RulesError(AgonError):
    """Rules that cannot be played."""

    findings: list[dict[str, Any]]

class IllegalMoveError(AgonError):
    """A move that cannot be made here."""

class PlayerObject(Protocol):
    """An object that plays. `start(game, role)` and `stop(goals)` are called if it has them."""

    def play(self, view: View, /) -> str | int: ...

PlayerLike: TypeAlias = str | Player | Callable[[View], str | int] | PlayerObject

class Game:
    """A game that is ready to be played. Immutable; safe to share between threads."""

    @property
    def name(self) -> str: ...
    @property
    def title(self) -> str | None: ...
    @property
    def summary(self) -> str | None: ...
    @property
    def rules(self) -> str:
        """The text of the rules."""
    @property
    def language(self) -> Literal["GDL", "GDL-II", "Toss"]: ...
    @property
    def engine(self) -> Literal["circuit", "interpreter"]: ...
    @property
    def notes(self) -> list[str]: ...
    @property
    def roles(self) -> list[str]:
        """All roles in the order of the rules, including nature."""
    @property
    def players(self) -> list[str]:
        """The roles without nature."""
    @property
    def nature(self) -> str | None: ...
    @property
    def is_hidden(self) -> bool: ...
    @property
    def is_turn_taking(self) -> bool: ...
    @property
    def constant_sum(self) -> float | None: ...
    @property
    def payoff_range(self) -> tuple[float, float]: ...
    @property
    def has_numbers(self) -> bool:
        """Whether moves and fluents have fixed numbers. Otherwise a number is an index."""
    @property
    def actions(self) -> list[str]: ...
    @property
    def nature_moves(self) -> list[str]: ...
    @property
    def fluents(self) -> list[str]: ...
    def percepts_of(self, role: RoleLike) -> list[str]: ...
    def action(self, role: RoleLike, text: str) -> int: ...
    def action_text(self, role: RoleLike, action: int) -> str: ...
    def start(self, *, seed: int = 1) -> State: ...
    def player(self, spec: str = "auto", *, seed: int = 1) -> Player: ...
    def batch(self, n: int, *, seed: int = 1, auto_reset: bool = True) -> Batch: ...
    def playouts(
        self, states: Sequence[State], n: int, *, seed: int = 1, max_steps: int = 10_000
    ) -> Playouts: ...
    def properties(self, *, seconds: float = 10.0) -> dict[str, Any]: ...
    def explain(
        self, state: State | None = None, *, parts: int = 8, seconds: float = 30.0
    ) -> Explanation: ...
    def why(
        self, sentence: str, state: State | None = None, *, does: Sequence[str] | None = None
    ) -> dict[str, Any]: ...
    def solve(
        self,
        state: State | None = None,
        *,
        seconds: float = 60.0,
        nodes: int | None = None,
        megabytes: int = 1024,
        as_if_open: bool = False,
    ) -> Solution: ...
    def survey(self, *, max_states: int = 20_000) -> Survey | None:
        """Look at all states of a small game; None if there are more."""
    def translate(self, to: str, *, seconds: float = 120.0, horizon: int = 20) -> str: ...
    def assess(
        self,
        *,
        plays: int = 500,
        matches: int = 20,
        weak: int = 30,
        strong: int = 600,
        seconds: float = 20.0,
        max_steps: int = 1000,
        seed: int = 1,
    ) -> Assessment:
        """Tell an author how the game plays. `seconds` limits each part."""
    def learn(
        self,
        *,
        seconds: float | None = None,
        games: int | None = None,
        seed: int = 1,
        form: Literal["tables", "network"] = "tables",
        threads: int = 1,
    ) -> Learner:
        """Learn an evaluation by self-play. With one thread and `games`, the seed decides it."""
    @property
    def model(self) -> Model | None:
        """The model that players of this game use."""
    def with_model(self, model: Model | None) -> Game:
        """The same game with a model that its players use, or without one."""

class State:
    """A position. `play` changes it; `copy` and `child` do not."""

    @property
    def game(self) -> Game: ...
    @property
    def seed(self) -> int: ...
    @property
    def is_terminal(self) -> bool: ...
    @property
    def fault(self) -> str | None: ...
    @property
    def turn(self) -> str | None:
        """The role to move; None if several move at the same time or play has ended."""
    @property
    def turn_index(self) -> int:
        """Like `turn`, as an index into `Game.roles`; -2 for several, -4 at the end."""
    @property
    def choosers(self) -> list[str]: ...
    @property
    def n_steps(self) -> int: ...
    @property
    def history(self) -> list[list[str]]: ...
    @property
    def percepts(self) -> dict[str, list[str]]: ...
    @property
    def key(self) -> int: ...
    def observations(self, role: RoleLike) -> list[tuple[str, list[str]]]: ...
    def legal_moves(self, role: RoleLike | None = None) -> list[str]: ...
    def families(
        self, role: RoleLike | None = None
    ) -> list[tuple[str, list[tuple[str, float, float]]]]: ...
    def legal_actions(self, role: RoleLike | None = None) -> list[int]: ...
    def action_mask(self, role: RoleLike | None = None) -> npt.NDArray[np.int8]: ...
    def chances(self) -> list[tuple[int, float]]: ...
    def play(self, moves: Moves) -> None: ...
    def child(self, moves: Moves) -> State: ...
    def play_random(self, seed: int = 1) -> None: ...
    def playout(self, seed: int = 1, *, max_steps: int = 10_000) -> State: ...
    def goals(self) -> list[float]: ...
    def goal(self, role: RoleLike) -> float: ...
    def facts(self) -> list[str]: ...
    def bits(self) -> npt.NDArray[np.uint64]: ...
    def tensor(self) -> npt.NDArray[np.float32]: ...
    def copy(self) -> State: ...
    def scene(self) -> dict[str, Any]:
        """What a picture shows: boards, places, pieces, counters and hands."""
    def svg(self) -> str: ...
    def pixels(self, *, scale: float = 1.0) -> npt.NDArray[np.uint8]:
        """A picture as an array of height, width and colour."""
    def __copy__(self) -> State: ...
    def __deepcopy__(self, memo: Any) -> State: ...
    def _repr_svg_(self) -> str: ...
    def _repr_html_(self) -> str: ...

class Player:
    """A built-in player. It keeps what it has learnt from one position of a play to the next."""

    @property
    def game(self) -> Game: ...
    @property
    def spec(self) -> str: ...
    @property
    def seed(self) -> int: ...
    def think(
        self,
        state: State,
        *,
        seconds: float | None = None,
        iterations: int | None = None,
        nodes: int | None = None,
        role: RoleLike | None = None,
    ) -> Report: ...

class Learner:
    """An evaluation that is learnt by self-play. It is a player, too."""

    @property
    def game(self) -> Game: ...
    @property
    def n_games(self) -> int: ...
    @property
    def n_steps(self) -> int: ...
    @property
    def facts(self) -> dict[str, Any]:
        """What was found out about the game before learning began."""
    def learn(self, *, seconds: float | None = None, games: int | None = None) -> None:
        """Go on learning."""
    def model(self) -> Model:
        """What was learnt so far, for players, arrays and files."""
    def value(self, state: State) -> float:
        """The expected result of the first player, from 0 to 1."""
    def values(self, batch: Batch) -> npt.NDArray[np.float32]:
        """The values of all games of a batch."""
    def think(
        self,
        state: State,
        *,
        seconds: float | None = None,
        nodes: int | None = None,
        role: RoleLike | None = None,
    ) -> Report:
        """Search with the evaluation (principal variation search)."""
    def play(self, view: View, /) -> str: ...

class Model:
    """A learnt evaluation. Immutable. It is a player, too; `Model.player` makes others with it."""

    @property
    def game(self) -> Game: ...
    @property
    def form(self) -> Literal["tables", "network"]: ...
    @property
    def n_games(self) -> int:
        """The number of games of self-play that it was learnt from; 0 if it comes from elsewhere."""
    @property
    def n_values(self) -> int:
        """The number of values of a state: 1 for two players alone, otherwise one for each."""
    def value(self, state: State) -> list[float]:
        """The expected result of each player, from 0 to 1."""
    def values(self, states: Batch | npt.ArrayLike) -> npt.NDArray[np.float32]:
        """The values of a batch, or of an array of zeros and ones with a column for each fluent.

        float32 `[n, n_values]`, as searches see them: a network is rounded to 16 bits.
        """
    def player(self, spec: str = "minimax", *, seed: int = 1) -> Player:
        """A built-in player that uses the model: `minimax`, `auto`, `mcts(leaf-evaluation=learnt)`."""
    def learner(self, *, seed: int = 1, threads: int = 1) -> Learner:
        """A learner that goes on where the model ends."""
    def network(self) -> Network:
        """The weights as arrays. An error if the model has tables."""
    def export_onnx(self, path: str | os.PathLike[str]) -> Path:
        """Write the network as an ONNX file: input `facts`, output `value`."""
    def save(
        self, path: str | os.PathLike[str] | None = None, *, replace: bool = False
    ) -> Path:
        """Write a file, or into the store of models, where `agon match` and others find it."""
    def think(
        self,
        state: State,
        *,
        seconds: float | None = None,
        nodes: int | None = None,
        role: RoleLike | None = None,
    ) -> Report:
        """Search with the evaluation (principal variation search)."""
    def play(self, view: View, /) -> str: ...

class Batch:
    """Many games of the same rules that are stepped together. Its arrays are filled again."""

    @property
    def game(self) -> Game: ...
    @property
    def is_sequential(self) -> bool: ...
    @property
    def rewards(self) -> npt.NDArray[np.float32]: ...
    @property
    def done(self) -> npt.NDArray[np.bool_]: ...
    @property
    def to_move(self) -> npt.NDArray[np.int32]: ...
    @property
    def n_steps(self) -> npt.NDArray[np.uint32]: ...
    @property
    def legal(self) -> npt.NDArray[np.uint8]: ...
    @property
    def states(self) -> npt.NDArray[np.uint64]: ...
    @property
    def knows(self) -> bool:
        """Whether what roles know is kept: in games with hidden information, where possible."""
    def knowledge(self, role: RoleLike | None = None) -> npt.NDArray[np.float32]:
        """What a role, or the player to move, has perceived: a new array, a row for each game."""
    def final_knowledge(
        self, role: RoleLike | None = None, movers: npt.ArrayLike | None = None
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float32]]: ...
    def legal_of(self, role: RoleLike) -> npt.NDArray[np.uint8]: ...
    def observe(self, dtype: Literal["float32", "uint8"] = "float32") -> npt.NDArray[Any]: ...
    def step(
        self, actions: npt.ArrayLike
    ) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.bool_]]: ...
    def step_random(
        self, n: int = 1
    ) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.bool_]]: ...
    def step_as(
        self, role: RoleLike, actions: npt.ArrayLike
    ) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.bool_]]: ...
    def wait_for(self, role: RoleLike) -> None: ...
    def random_actions(self) -> npt.NDArray[np.int32]: ...
    def reset(
        self, mask: npt.NDArray[np.bool_] | None = None, *, seed: int | None = None
    ) -> None: ...
    def load(self, index: int, state: State) -> None: ...
    def final_observations(
        self,
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float32]]: ...
    def __len__(self) -> int: ...

class TournamentPlan:
    """A tournament that is ready to be played, match by match."""

    def __init__(self, text: str, *, name: str = "tournament", folder: str = ".") -> None: ...
    @property
    def text(self) -> str: ...
    @property
    def ids(self) -> list[str]: ...
    @property
    def games(self) -> list[tuple[str, str, list[str]]]: ...
    @property
    def fixtures(self) -> list[dict[str, Any]]: ...
    def additions(self, old: str, games: Sequence[tuple[str, str, list[str]]]) -> str:
        """What this adds to a tournament of which matches were played. Other changes are errors."""
    def cores(self, id: str) -> int:
        """The number of processors that a match needs."""
    def is_decided(self, played: Sequence[dict[str, Any]]) -> bool:
        """Whether a sequential test has decided, so that no more matches are needed."""
    def play(self, id: str) -> dict[str, Any]: ...
    def abort(self) -> None:
        """End matches that other threads are playing. They raise an exception there."""
    def standings(self, played: Sequence[dict[str, Any]]) -> dict[str, Any]: ...

class ExperimentPlan:
    """An experiment of a paper: a tournament for each column of its table."""

    def __init__(
        self,
        name: str,
        *,
        quick: bool = False,
        iterations: int | None = None,
        repeats: int | None = None,
        openings: int | None = None,
        games: str | None = None,
        only: str | None = None,
        column: str | None = None,
    ) -> None: ...
    @property
    def name(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def missing(self) -> list[str]: ...
    @property
    def columns(self) -> list[tuple[str, str, str, str]]:
        """By column: name, tournament as TOML, name and former name of its store."""
    def cells(
        self, column: int, plan: TournamentPlan, played: Sequence[dict[str, Any]]
    ) -> list[dict[str, Any]]: ...

def load(
    game: str | os.PathLike[str],
    *,
    engine: Literal["auto", "circuit", "interpreter"] = "auto",
    set: dict[str, int] | None = None,
) -> Game:
    """Open a game: a shipped name, the path of a rulesheet, or the text of the rules.

    `set` has values of the parameters of the rules.
    """

def games() -> list[ShippedGame]:
    """List the shipped games."""

def players() -> list[tuple[str, str]]:
    """List the built-in players with one line about each."""

def experiments() -> list[tuple[str, str]]:
    """List the experiments of papers with their titles."""

def check(
    game: str | os.PathLike[str] | Game,
    *,
    plays: int = 0,
    seed: int = 1,
    max_steps: int = 1000,
    notes: bool = False,
    strict: bool = False,
) -> list[Finding]:
    """Check rules and return everything that was found."""

def translate(
    game: str | os.PathLike[str] | Game, to: str, *, seconds: float = 120.0, horizon: int = 20
) -> str:
    """Translate rules to `toss`, `gdl`, `infix`, `dot` or `asp`."""

def match(
    game: Game,
    players: Sequence[PlayerLike],
    *,
    seconds: float | None = None,
    iterations: int | None = None,
    start_seconds: float | None = None,
    seed: int = 1,
    max_steps: int = 10_000,
    on_error: Literal["raise", "substitute"] = "raise",
) -> MatchResult:
    """Play a match. A player is a specification, a built-in player, or any Python object.

    `start_seconds` is the time to prepare: by default that of a move, or 30 if a player has a
    method `start`.
    """

def _reopen(
    source_name: str, text: str, name: str, engine: str, model: bytes | None = None
) -> Game: ...
def _model(game: Game, bytes: bytes) -> Model: ...
def _load_model(game: Game, path: Path | None = None) -> Model: ...
def _model_of_onnx(game: Game, bytes: bytes) -> Model: ...
def _model_of_network(
    game: Game,
    hidden_weights: npt.NDArray[np.float32],
    hidden_biases: npt.NDArray[np.float32],
    output_weights: npt.NDArray[np.float32],
    output_biases: npt.NDArray[np.float32],
    ceiling: float | None,
    exchange: tuple[int, list[int]] | None,
) -> Model: ...
def _positions(
    game: Game,
    n: int,
    seed: int,
    by: str | Player | Model,
    iterations: int,
    exploration: float,
    opening: int,
    max_steps: int,
    search: int | None,
    dtype: str,
) -> dict[str, npt.NDArray[Any]]: ...
def _relearn(game: Game, seed: int, saved: bytes) -> Learner: ...
def _replay(game: Game, seed: int, history: list[list[str]]) -> State: ...
