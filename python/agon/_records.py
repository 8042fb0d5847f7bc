"""The records that the module returns: plain, typed, picklable."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ._agon import Game, Player, State, TournamentPlan


@dataclass(frozen=True)
class ShippedGame:
    """A game that is part of the package."""

    name: str
    title: str
    summary: str
    language: str


@dataclass(frozen=True)
class Finding:
    """Something that is wrong with rules, with its place."""

    severity: str
    code: str
    message: str
    line: int
    column: int
    end_line: int
    end_column: int
    notes: list[dict[str, Any]]
    hints: list[str]
    fix: str | None
    text: str = field(repr=False)

    def __str__(self) -> str:
        return self.text.rstrip()


@dataclass(frozen=True)
class Considered:
    """A move that a player has considered."""

    move: str
    visits: int
    value: float
    probability: float
    is_proven: bool


@dataclass(frozen=True)
class Report:
    """What a player thinks of a position. Values are expected payoffs of `role`."""

    best_move: str
    role: str
    value: float
    is_proven: bool
    considered: list[Considered]
    line: list[list[str]]
    iterations: int
    nodes: int
    playouts: int
    error: str | None


@dataclass(frozen=True)
class Explanation:
    """What the rules say about a game and a position."""

    text: str = field(repr=False)
    sections: list[tuple[str, list[tuple[str, str]]]]
    data: dict[str, Any] = field(repr=False)

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Assessment:
    """How a game plays: fairness, length, endings, unused rules, value. `data` has the figures."""

    text: str = field(repr=False)
    data: dict[str, Any] = field(repr=False)

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Survey:
    """What holds in every state of a small game, by a look at all of them.

    `longest` is the number of steps of the longest play, or None if a play can go on for ever.
    """

    n_states: int
    n_steps: int
    is_turn_taking: bool
    constant_sum: float | None
    longest: int | None


@dataclass(frozen=True)
class Solution:
    """The value of perfect play, or the bounds found so far if `solved` is false."""

    solved: bool
    nodes: int
    seconds: float
    values: dict[str, float] = field(default_factory=dict)
    strategies: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    line: list[list[str]] = field(default_factory=list)
    method: str = ""
    can_repeat: bool = False
    why: str = ""
    bounds: dict[str, tuple[float, float]] = field(default_factory=dict)


@dataclass(frozen=True)
class Playouts:
    """Means over random playouts: one row for each state, one column for each role."""

    means: npt.NDArray[np.float64]
    deviations: npt.NDArray[np.float64]
    lengths: npt.NDArray[np.float64]
    cut: npt.NDArray[np.uint64]
    n: int


@dataclass(frozen=True)
class View:
    """What a player written in Python is told when it has to move.

    `state` is None in games with hidden information; then `observations` has everything that the
    role knows: for each step its own move and what it perceived.
    """

    game: Game
    role: str
    state: State | None
    legal_moves: list[str]
    observations: list[tuple[str, list[str]]]
    seconds: float | None
    seed: int


@dataclass(frozen=True)
class MatchResult:
    """A match that was played. `goals` is None unless `status` is `finished`."""

    game: str
    roles: list[str]
    players: list[str]
    status: str
    goals: list[float] | None
    moves: list[list[str]]
    errors: list[tuple[int, str, str]]
    seconds: float
    seed: int
    record: dict[str, Any] = field(repr=False)

    def as_row(self) -> dict[str, Any]:
        """Return the match as one flat row, for a DataFrame."""
        row: dict[str, Any] = {
            "game": self.game,
            "status": self.status,
            "steps": len(self.moves),
            "seconds": self.seconds,
            "seed": self.seed,
            "errors": len(self.errors),
        }
        for at, role in enumerate(self.roles):
            row[f"player_{role}"] = self.players[at]
            row[f"goal_{role}"] = None if self.goals is None else self.goals[at]
        return row


def make_player(game: Game, spec: str, seed: int) -> Player:
    return game.player(spec, seed=seed)


def make_plan(text: str, name: str, folder: str) -> TournamentPlan:
    from ._agon import TournamentPlan

    return TournamentPlan(text, name=name, folder=folder)
