"""Actions and observations of a game as numbers, for environments."""

from __future__ import annotations

import zlib
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from ._agon import AgonError, Game, State

#: Number of entries of observations of games whose fluents have no numbers.
HASHED = 1024

Floats = npt.NDArray[np.float32]
Mask = npt.NDArray[np.int8]


#: What an illegal action may do.
ILLEGAL = ("random", "terminate", "raise")
#: How a position may be shown.
RENDER_MODES = ("ansi", "rgb_array")


def check_choice(name: str, value: str | None, choices: tuple[str, ...]) -> None:
    """Raise an exception unless a value is one of some texts, or None."""
    if value is not None and value not in choices:
        raise AgonError(f"{name}: `{value}` is not one of {', '.join(choices)}")


class Encoding:
    """Numbers the actions and observations of a game.

    In games of perfect information an observation has one entry for each fluent. In games with
    hidden information it has, for each thing that the role may perceive, whether it ever did and
    whether it did in the last step; then the role's last action, and the number of steps.

    Games whose moves have no fixed numbers, because no circuit plays them, use the index of a move
    among the legal ones as its action, and hashed fluents as observation. In games with real
    parameters the legal ones are a finite sample (`State.legal_moves`), and after the hashed
    fluents come the real values of the state, in the order of `reals`.
    """

    def __init__(self, game: Game, max_actions: int | None = None) -> None:
        self.game = game
        self.players = game.players
        self._percepts: dict[str, dict[str, int]] = {}
        self._actions: dict[str, int] = {}
        #: The names of real values of states, such as `(x ball)`. Empty in discrete games.
        self.reals: list[str] = []
        if game.has_numbers:
            self.n_actions = len(game.actions)
            self._n_fluents = len(game.fluents)
        else:
            width, self.reals = _sampled(game)
            self.n_actions = max_actions or width
            self._n_fluents = HASHED + len(self.reals)
        self._places = {name: HASHED + at for at, name in enumerate(self.reals)}
        if game.is_hidden:
            for role in self.players:
                names = game.percepts_of(role) if game.has_numbers else []
                self._percepts[role] = {name: at for at, name in enumerate(names)}
            if game.has_numbers:
                self._actions = {text: at for at, text in enumerate(game.actions)}

    def size(self, role: str) -> int:
        """Return the number of entries of an observation of a role."""
        if not self.game.is_hidden:
            return self._n_fluents
        n = len(self._percepts[role]) or HASHED
        return 2 * n + self.n_actions + 1

    def bounds(self, size: int) -> tuple[Floats, Floats]:
        """Return the least and the largest values of observations of this size."""
        low, high = np.zeros(size, np.float32), np.ones(size, np.float32)
        if self.reals and not self.game.is_hidden:
            low[HASHED:], high[HASHED:] = -np.inf, np.inf
        return low, high

    def observe(self, state: State, role: str) -> Floats:
        """Return what a role knows at a state."""
        if not self.game.is_hidden:
            return self.full(state)
        table = self._percepts[role]
        n = len(table) or HASHED
        row = np.zeros(self.size(role), np.float32)
        steps = state.observations(role)
        for at, (own, seen) in enumerate(steps):
            is_last = at + 1 == len(steps)
            for percept in seen:
                place = table.get(percept, _hash(percept, n))
                row[place] = 1.0
                if is_last:
                    row[n + place] = 1.0
            if is_last and own in self._actions:
                row[2 * n + self._actions[own]] = 1.0
        row[-1] = min(1.0, len(steps) / 100.0)
        return row

    def full(self, state: State) -> Floats:
        """Return the whole state, including what is hidden."""
        if self.game.has_numbers:
            return state.tensor()
        row = np.zeros(self._n_fluents, np.float32)
        for fact in state.facts():
            named = _real(fact) if self._places else None
            if named is not None and named[0] in self._places:
                row[self._places[named[0]]] = named[1]
            else:
                row[_hash(fact, HASHED)] = 1.0
        return row

    @property
    def full_size(self) -> int:
        return self._n_fluents

    def mask(self, state: State, role: str) -> Mask:
        """Return the legal actions of a role as ones."""
        if self.game.has_numbers:
            return state.action_mask(role)
        mask = np.zeros(self.n_actions, np.int8)
        n = len(state.legal_actions(role))
        if n > self.n_actions:
            raise AgonError(
                f"{role} has {n} legal moves, and max_actions is {self.n_actions}: "
                "give a larger one"
            )
        mask[:n] = 1
        return mask

    def legal(self, state: State, role: str) -> list[int]:
        """Return the legal actions of a role."""
        return state.legal_actions(role)

    def rewards(self, state: State, scaled: bool) -> dict[str, float]:
        """Return the payoffs of all players, from -1 to 1 or as the rules have them."""
        low, high = self.game.payoff_range
        goals = dict(zip(self.game.roles, state.goals(), strict=True))
        if not scaled:
            return {role: goals[role] for role in self.players}
        width = (high - low) or 1.0
        return {role: 2.0 * (goals[role] - low) / width - 1.0 for role in self.players}


def _hash(text: str, n: int) -> int:
    return zlib.crc32(text.encode()) % n


def _real(fact: str) -> tuple[str, float] | None:
    """Return `(x ball)` and 0.5 for a fact such as `(x ball 1/2)`, and None if it has no number."""
    name, _, last = fact.rstrip(")").rpartition(" ")
    try:
        return f"{name})", float(Fraction(last))
    except ValueError:
        return None


def _sampled(game: Game) -> tuple[int, list[str]]:
    """Look at some random play of a game without numbers.

    Return twice the largest number of legal moves, as a power of two, and the names of real values.
    """
    widest, is_continuous = 1, False
    names: set[str] = set()
    for seed in range(4):
        state = game.start(seed=seed)
        for step in range(60):
            named = [_real(fact) for fact in state.facts()]
            names.update(found[0] for found in named if found is not None)
            if state.is_terminal:
                break
            widest = max([widest, *(len(state.legal_actions(role)) for role in game.players)])
            is_continuous |= any(parameters for role in game.roles
                                 for _, parameters in state.families(role))
            state.play_random(seed * 1000 + step)
    return 1 << (2 * widest - 1).bit_length(), sorted(names) if is_continuous else []
