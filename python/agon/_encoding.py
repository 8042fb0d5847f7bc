"""Actions and observations of a game as numbers, for environments."""

from __future__ import annotations

import zlib
import numpy as np
import numpy.typing as npt

from ._agon import AgonError, Game, State

#: Number of entries of observations of games whose fluents have no numbers.
HASHED = 1024

Floats = npt.NDArray[np.float32]
Mask = npt.NDArray[np.int8]


class Encoding:
    """Numbers the actions and observations of a game.

    In games of perfect information an observation has one entry for each fluent. In games with
    hidden information it has, for each thing that the role may perceive, whether it ever did and
    whether it did in the last step; then the role's last action, and the number of steps.

    Games whose moves have no fixed numbers, because no circuit plays them, use the index of a move
    among the legal ones as its action, and hashed fluents as observation.
    """

    def __init__(self, game: Game, max_actions: int | None = None) -> None:
        self.game = game
        self.players = game.players
        self._percepts: dict[str, dict[str, int]] = {}
        self._actions: dict[str, int] = {}
        if game.has_numbers:
            self.n_actions = len(game.actions)
            self._n_fluents = len(game.fluents)
        else:
            self.n_actions = max_actions or _sampled_width(game)
            self._n_fluents = HASHED
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
        row = np.zeros(HASHED, np.float32)
        for fact in state.facts():
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


def _sampled_width(game: Game) -> int:
    """Return twice the largest number of legal moves in some random play, as a power of two."""
    widest = 1
    for seed in range(4):
        state = game.start(seed=seed)
        for step in range(60):
            if state.is_terminal:
                break
            widest = max([widest, *(len(state.legal_actions(role)) for role in game.players)])
            state.play_random(seed * 1000 + step)
    return 1 << (2 * widest - 1).bit_length()
