"""Gymnasium environments: one role of a game, or many games at once.

`Env` plays one role, with the others played by given players. `VectorEnv` steps thousands of games
in one call on the batch engine.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, cast

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from gymnasium.vector import AutoresetMode
from gymnasium.vector import VectorEnv as GymnasiumVectorEnv

from ._agon import AgonError, Batch, Game, IllegalMoveError, State, load
from ._encoding import ILLEGAL, RENDER_MODES, Encoding, check_choice
from ._vector import LaneGames, StateGames
from ._records import View

#: Another player: a specification such as `random` or `mcts`, or a function of a view.
Opponent = str | Callable[[View], str | int]
Illegal = Literal["random", "terminate", "raise"]
Floats = npt.NDArray[np.float32]


def _game(game: str | Game) -> Game:
    return game if isinstance(game, Game) else load(game)


class Env(gymnasium.Env[Floats, np.int64]):
    """One role of a game as an environment.

    Observations are float32 vectors, actions numbers. The legal actions are ones in
    `info["action_mask"]` and in `action_masks()`. Rewards are 0 until the end, then the payoff,
    scaled to [-1, 1] unless `scaled` is false.

    `illegal` says what an illegal action does: `terminate` ends the episode with the lowest
    reward, `random` makes a random legal move, `raise` raises `IllegalMoveError`.
    """

    metadata: dict[str, Any] = {"render_modes": list(RENDER_MODES), "render_fps": 2}

    def __init__(
        self,
        game: str | Game,
        role: str | None = None,
        opponents: Opponent | Mapping[str, Opponent] = "random",
        *,
        iterations: int = 100,
        max_steps: int = 1000,
        illegal: Illegal = "terminate",
        scaled: bool = True,
        render_mode: str | None = None,
        max_actions: int | None = None,
    ) -> None:
        self.game = _game(game)
        self.encoding = Encoding(self.game, max_actions)
        self.role = role if role is not None else self.game.players[0]
        if self.role not in self.game.players:
            raise AgonError(f"`{self.role}` is not one of {', '.join(self.game.players)}")
        others = [other for other in self.game.players if other != self.role]
        self._opponents: dict[str, Opponent] = (
            {other: opponents.get(other, "random") for other in others}
            if isinstance(opponents, Mapping)
            else dict.fromkeys(others, opponents)
        )
        self._iterations, self._max_steps = iterations, max_steps
        self._illegal: Illegal = illegal
        self._scaled = scaled
        low, high = (-1.0, 1.0) if scaled else self.game.payoff_range
        self._lowest = low
        self.reward_range = (low, high)
        check_choice("render_mode", render_mode, RENDER_MODES)
        check_choice("illegal", illegal, ILLEGAL)
        self.render_mode = render_mode
        size = self.encoding.size(self.role)
        low_row, high_row = self.encoding.bounds(size)
        self.observation_space = spaces.Box(low_row, high_row, dtype=np.float32)
        self.action_space = spaces.Discrete(self.encoding.n_actions)
        self._players: dict[str, Any] = {}
        self._state: State = self.game.start()
        self._over = False

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Floats, dict[str, Any]]:
        super().reset(seed=seed)
        match_seed = int(self.np_random.integers(1 << 62))
        self._state = self.game.start(seed=match_seed)
        self._players = {
            other: self.game.player(spec, seed=match_seed)
            for other, spec in self._opponents.items()
            if isinstance(spec, str) and spec != "random"
        }
        self._over = False
        self._run_others()
        return self._observation(), self._info()

    def step(
        self, action: np.int64 | int
    ) -> tuple[Floats, float, bool, bool, dict[str, Any]]:
        if self._over or self._state.is_terminal:
            raise AgonError("the episode is over: call reset()")
        legal = self.encoding.legal(self._state, self.role)
        if int(action) not in legal:
            if self._illegal == "raise":
                raise IllegalMoveError(f"action {int(action)} is not legal: {legal}")
            if self._illegal == "terminate":
                self._over = True
                info = {**self._info(), "illegal_action": int(action)}
                return self._observation(), self._lowest, True, False, info
            action = legal[int(self.np_random.integers(len(legal)))]
        self._advance(int(action))
        self._run_others()
        ended = self._state.is_terminal
        reward = self.encoding.rewards(self._state, self._scaled)[self.role] if ended else 0.0
        truncated = not ended and self._state.n_steps >= self._max_steps
        self._over = ended or truncated
        return self._observation(), reward, ended, truncated, self._info()

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Return the legal actions, in the form that MaskablePPO wants."""
        return self._mask().astype(bool)

    @property
    def state(self) -> State:
        """The position of the game."""
        return self._state

    def render(self) -> Any:
        if self.render_mode == "ansi":
            return str(self._state)
        return self._state.pixels() if self.render_mode == "rgb_array" else None

    def close(self) -> None:
        """Close the environment, which holds nothing."""

    def _run_others(self) -> None:
        while not self._state.is_terminal and self._state.n_steps < self._max_steps:
            if self.role in self._state.choosers:
                return
            # Where nobody has a choice and it is this role's turn, the role makes its only move.
            if not self._state.choosers and self._state.turn == self.role:
                return
            self._advance(None)

    def _advance(self, action: int | None) -> None:
        state = self._state
        joint: dict[str | int, Any] = {}
        if action is not None:
            joint[self.role] = action
        for other, opponent in self._opponents.items():
            if len(state.legal_actions(other)) > 1:
                joint[other] = self._move_of(other, opponent)
        state.play(joint)

    def _move_of(self, other: str, opponent: Opponent) -> str | int:
        if opponent == "random":
            legal = self._state.legal_actions(other)
            return legal[int(self.np_random.integers(len(legal)))]
        if isinstance(opponent, str):
            think = self._players[other].think
            best = think(self._state, iterations=self._iterations, role=other).best_move
            return cast(str, best)
        hidden = self.game.is_hidden
        return opponent(
            View(
                game=self.game,
                role=other,
                state=None if hidden else self._state.copy(),
                legal_moves=self._state.legal_moves(other),
                observations=self._state.observations(other),
                seconds=None,
                seed=self._state.seed,
            )
        )

    def _observation(self) -> Floats:
        return self.encoding.observe(self._state, self.role)

    def _mask(self) -> npt.NDArray[np.int8]:
        if self._state.is_terminal:
            return np.zeros(self.encoding.n_actions, np.int8)
        return self.encoding.mask(self._state, self.role)

    def _info(self) -> dict[str, Any]:
        return {"action_mask": self._mask(), "steps": self._state.n_steps}


class VectorEnv(GymnasiumVectorEnv[Floats, npt.NDArray[np.int64], Any]):
    """Many games at once, on the batch engine where it plays the game.

    Without `role`, the actions are those of the player to move in each game (self-play), and the
    reward is that of the player who has just moved; `info["to_move"]` says whose turn it is. With
    `role`, the actions are those of this role, and all others move at random inside of the engine,
    before it, after it, or at the same time.

    Observations are those of `Env`: in games with hidden information what the role, or the player
    to move, may know. Rows of players with fewer percepts end in zeros.

    Games restart in the step in which they end; `info["final_obs"]` has their last observations.
    Games that the batch engine does not play are stepped one by one, which is slower.
    """

    metadata: dict[str, Any] = {"autoreset_mode": AutoresetMode.SAME_STEP, "render_modes": []}

    def __init__(
        self,
        game: str | Game,
        num_envs: int,
        role: str | None = None,
        *,
        seed: int = 1,
        scaled: bool = True,
        max_steps: int = 1000,
        max_actions: int | None = None,
    ) -> None:
        self.game = _game(game)
        if role is None and not self.game.is_turn_taking:
            raise AgonError(
                f"the players of {self.game.name} may move at the same time: give a role, "
                "or use Game.batch"
            )
        if role is not None and role not in self.game.players:
            raise AgonError(f"`{role}` is not one of {', '.join(self.game.players)}")
        if num_envs < 1:
            raise AgonError(f"num_envs is at least 1, not {num_envs}")
        self.num_envs = num_envs
        self.role = role
        self._scaled = scaled
        self._games: LaneGames | StateGames
        batch = self.game.batch(num_envs, seed=seed) if self.game.has_numbers else None
        if batch is not None and (batch.knows or not self.game.is_hidden):
            self._games = LaneGames(batch, role)
        else:
            self._games = StateGames(self.game, num_envs, role, seed, max_steps, max_actions)
        n_actions = self._games.n_actions
        low, high = self._games.bounds()
        self.single_observation_space = spaces.Box(low, high, dtype=np.float32)
        self.single_action_space = spaces.Discrete(n_actions)
        self.observation_space = spaces.Box(
            np.tile(low, (num_envs, 1)), np.tile(high, (num_envs, 1)), dtype=np.float32
        )
        self.action_space = spaces.MultiDiscrete(np.full(num_envs, n_actions))
        self.render_mode = None
        self._rows = np.arange(num_envs)

    @property
    def is_native(self) -> bool:
        """Whether the batch engine steps the games."""
        return isinstance(self._games, LaneGames)

    @property
    def batch(self) -> Batch:
        """The games, if the batch engine steps them."""
        if not isinstance(self._games, LaneGames):
            raise AgonError(f"{self.game.name} is not stepped by the batch engine")
        return self._games.batch

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Floats, dict[str, Any]]:
        first = seed if isinstance(seed, int) or seed is None else seed[0]
        super().reset(seed=first)
        self._games.reset(int(self.np_random.integers(1 << 62)))
        return self._games.observe(), self._info()

    def step(
        self, actions: npt.NDArray[np.int64]
    ) -> tuple[Floats, npt.NDArray[np.float64], Any, Any, dict[str, Any]]:
        games = self._games
        if self.role is None:
            movers = np.maximum(games.to_move(), 0)
        else:
            movers = np.full(self.num_envs, self.game.players.index(self.role), np.int32)
        rewards, done, cut = games.step(actions)
        own = rewards[self._rows, movers].astype(np.float64)
        if self._scaled:
            low, high = self.game.payoff_range
            own = np.where(done, 2.0 * (own - low) / ((high - low) or 1.0) - 1.0, 0.0)
        info = self._info()
        over = done | cut
        if over.any():
            ended, last = games.last(movers)
            final = np.empty(self.num_envs, dtype=object)
            for game, row in zip(ended, last, strict=True):
                final[game] = row
            info["final_obs"], info["_final_obs"] = final, over
        return games.observe(), own, done, cut, info

    def close_extras(self, **kwargs: Any) -> None:
        """Close the environment, which holds nothing."""

    def _info(self) -> dict[str, Any]:
        return {"action_mask": self._games.masks(), "to_move": self._games.to_move()}


def register(namespace: str = "agon") -> None:
    """Register `agon/Game-v0`, so that `gymnasium.make("agon/Game-v0", game=...)` works."""
    identifier = f"{namespace}/Game-v0"
    if identifier not in gymnasium.registry:
        gymnasium.register(id=identifier, entry_point="agon.gymnasium:Env")
