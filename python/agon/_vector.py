"""The games of a vector environment: in lanes of the batch engine, or one by one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ._agon import Batch, Game, IllegalMoveError, State
from ._encoding import Encoding

Floats = npt.NDArray[np.float32]
Bools = npt.NDArray[np.bool_]
Numbers = npt.NDArray[np.int32]


class LaneGames:
    """Games in the lanes of the batch engine."""

    def __init__(self, batch: Batch, role: str | None) -> None:
        self.batch = batch
        self._role = role
        self.n_actions = len(batch.game.actions)
        knows = batch.knows
        self.size = batch.knowledge(role).shape[1] if knows else len(batch.game.fluents)

    def reset(self, seed: int) -> None:
        self.batch.reset(seed=seed)
        if self._role is not None:
            self.batch.wait_for(self._role)

    def step(self, actions: npt.ArrayLike) -> tuple[Floats, Bools, Bools]:
        if self._role is None:
            rewards, done = self.batch.step(actions)
        else:
            rewards, done = self.batch.step_as(self._role, actions)
        return rewards, done.copy(), np.zeros(len(self.batch), bool)

    def to_move(self) -> Numbers:
        return np.array(self.batch.to_move, np.int32)

    def masks(self) -> npt.NDArray[np.uint8]:
        # Where players move at the same time, `legal` has a row for each of them.
        legal = self.batch.legal if self._role is None else self.batch.legal_of(self._role)
        return np.array(legal, np.uint8)

    def observe(self) -> Floats:
        if self.batch.knows:
            return self.batch.knowledge(self._role)
        return np.array(self.batch.observe("float32"), np.float32)

    def bounds(self) -> tuple[Floats, Floats]:
        """Return the least and the largest values of observations."""
        return np.zeros(self.size, np.float32), np.ones(self.size, np.float32)

    def last(self, movers: Numbers) -> tuple[Sequence[int], Floats]:
        """Return the games that have ended, with the last observations of these players."""
        if self.batch.knows:
            games, rows = self.batch.final_knowledge(self._role, movers)
        else:
            games, rows = self.batch.final_observations()
        return games.tolist(), rows


class StateGames:
    """Games that are stepped one by one, because the batch engine does not play them."""

    def __init__(
        self,
        game: Game,
        n: int,
        role: str | None,
        seed: int,
        max_steps: int,
        max_actions: int | None,
    ) -> None:
        self.game = game
        self._role = role
        self._encoding = Encoding(game, max_actions)
        self.n_actions = self._encoding.n_actions
        roles = game.players if role is None else [role]
        self.size = max(self._encoding.size(each) for each in roles)
        self._max_steps = max_steps
        self._rng = np.random.default_rng(seed)
        self._states: list[State] = [game.start(seed=seed + at) for at in range(n)]
        self._last: dict[int, State] = {}

    def reset(self, seed: int) -> None:
        self._rng = np.random.default_rng(seed)
        self._last.clear()
        for at in range(len(self._states)):
            self._restart(at)

    def step(self, actions: npt.ArrayLike) -> tuple[Floats, Bools, Bools]:
        n = len(self._states)
        chosen = np.asarray(actions, np.int64)
        # All actions are looked at before any game moves.
        for at, state in enumerate(self._states):
            legal = state.legal_actions(self._mover(state))
            if int(chosen[at]) not in legal:
                raise IllegalMoveError(
                    f"game {at} of the batch: action {int(chosen[at])} is not legal for "
                    f"{self._mover(state)}"
                )
        rewards = np.zeros((n, len(self.game.players)), np.float32)
        done, cut = np.zeros(n, bool), np.zeros(n, bool)
        self._last.clear()
        for at, state in enumerate(self._states):
            self._advance(state, int(chosen[at]))
            self._wait(state)
            done[at] = state.is_terminal
            cut[at] = not done[at] and state.n_steps >= self._max_steps
            if done[at]:
                goals = dict(zip(self.game.roles, state.goals(), strict=True))
                rewards[at] = [goals[player] for player in self.game.players]
            if done[at] or cut[at]:
                self._last[at] = state
                self._restart(at)
        return rewards, done, cut

    def to_move(self) -> Numbers:
        return np.array([self._place(state) for state in self._states], np.int32)

    def masks(self) -> npt.NDArray[np.uint8]:
        rows = [self._encoding.mask(state, self._mover(state)) for state in self._states]
        return np.stack(rows).astype(np.uint8)

    def observe(self) -> Floats:
        return np.stack([self._row(state, self._mover(state)) for state in self._states])

    def bounds(self) -> tuple[Floats, Floats]:
        """Return the least and the largest values of observations."""
        return self._encoding.bounds(self.size)

    def last(self, movers: Numbers) -> tuple[Sequence[int], Floats]:
        """Return the games that have ended, with the last observations of these players."""
        roles = {at: self._role or self.game.players[int(movers[at])] for at in self._last}
        rows = [self._row(state, roles[at]) for at, state in self._last.items()]
        return list(self._last), np.stack(rows)

    def _row(self, state: State, role: str) -> Floats:
        row = np.zeros(self.size, np.float32)
        known = self._encoding.observe(state, role)
        row[: len(known)] = known
        return row

    def _mover(self, state: State) -> str:
        return self._role or self.game.players[max(0, self._place(state))]

    def _place(self, state: State) -> int:
        """Return the index of the player to move, as a batch has it."""
        if state.is_terminal:
            return -1
        turn = state.turn
        choosers = [role for role in state.choosers if role in self.game.players]
        mover = turn if turn is not None else (choosers or self.game.players)[0]
        return self.game.players.index(mover)

    def _restart(self, at: int) -> None:
        state = self.game.start(seed=int(self._rng.integers(1 << 62)))
        self._wait(state)
        self._states[at] = state

    def _wait(self, state: State) -> None:
        """Let the others move until it is the turn of the role."""
        if self._role is None or not self.game.is_turn_taking:
            return
        while not state.is_terminal and state.n_steps < self._max_steps:
            if self._mover_is_asked(state):
                return
            self._advance(state, None)

    def _mover_is_asked(self, state: State) -> bool:
        return self.game.players[self._place(state)] == self._role

    def _advance(self, state: State, action: int | None) -> None:
        own = self._mover(state) if action is not None else None
        joint: dict[str | int, Any] = {} if own is None else {own: action}
        for role in self.game.players:
            legal = state.legal_actions(role)
            if role != own and len(legal) > 1:
                joint[role] = legal[int(self._rng.integers(len(legal)))]
        state.play(joint)
