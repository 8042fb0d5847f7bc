"""PettingZoo environments of any game: `env` (one agent at a time) and `parallel_env`."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from pettingzoo import AECEnv, ParallelEnv
from pettingzoo.utils import wrappers

from ._agon import AgonError, Game, IllegalMoveError, State, load
from ._encoding import ILLEGAL, RENDER_MODES, Encoding, check_choice

Illegal = Literal["random", "terminate", "raise"]


#: Maximum number of times that a game is dealt again which ends before anyone has a choice.
MAX_DEALS = 100


class _Base:
    """What both kinds of environments share."""

    def _setup(
        self,
        game: str | Game,
        max_cycles: int,
        illegal: Illegal,
        scaled: bool,
        render_mode: str | None,
        max_actions: int | None,
    ) -> None:
        # PettingZoo's own tests ask every environment for `human`, which prints the text.
        check_choice("render_mode", render_mode, (*RENDER_MODES, "human"))
        check_choice("illegal", illegal, ILLEGAL)
        self.game = game if isinstance(game, Game) else load(game)
        self.encoding = Encoding(self.game, max_actions)
        self.max_cycles = max_cycles
        self.illegal: Illegal = illegal
        self.scaled = scaled
        self.render_mode = render_mode
        self._arguments = (game, max_cycles, illegal, scaled, render_mode, max_actions)
        self.metadata: dict[str, Any] = {
            "name": f"agon_{self.game.name.replace('/', '_').replace('-', '_')}_v0",
            "render_modes": list(RENDER_MODES),
            "is_parallelizable": True,
            "render_fps": 2,
        }
        self.possible_agents = self.game.players
        n_actions = self.encoding.n_actions
        self._observation_spaces = {
            agent: spaces.Dict(
                {
                    "observation": self._box(self.encoding.size(agent)),
                    "action_mask": spaces.Box(0, 1, (n_actions,), np.int8),
                }
            )
            for agent in self.possible_agents
        }
        self._action_spaces = {agent: spaces.Discrete(n_actions) for agent in self.possible_agents}
        self.state_space = self._box(self.encoding.full_size)
        self._rng = np.random.default_rng()
        self._state: State = self.game.start()
        self._lowest = -1.0 if scaled else self.game.payoff_range[0]

    def _box(self, size: int) -> spaces.Box:
        low, high = self.encoding.bounds(size)
        return spaces.Box(low, high, dtype=np.float32)

    def __reduce__(self) -> Any:
        return (type(self), self._arguments)

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        return self._observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        return self._action_spaces[agent]

    def state(self) -> npt.NDArray[np.float32]:
        """Return the whole state of the game, including what is hidden from agents."""
        return self.encoding.full(self._state)

    @property
    def position(self) -> State:
        """The position of the game."""
        return self._state

    def render(self) -> Any:
        if self.render_mode == "ansi":
            return str(self._state)
        if self.render_mode == "human":
            print(self._state)
        return self._state.pixels() if self.render_mode == "rgb_array" else None

    def close(self) -> None:
        """Close the environment, which holds nothing."""

    def _begin(self, seed: int | None) -> None:
        if seed is not None:
            self._rng = np.random.default_rng(seed)
        self._state = self.game.start(seed=int(self._rng.integers(1 << 62)))

    def _view(self, agent: str, is_asked: bool) -> dict[str, Any]:
        mask = (
            self.encoding.mask(self._state, agent)
            if is_asked and not self._state.is_terminal
            else np.zeros(self.encoding.n_actions, np.int8)
        )
        return {"observation": self.encoding.observe(self._state, agent), "action_mask": mask}

    def _checked(self, agent: str, action: Any) -> int | None:
        """Return a legal action, or None if an illegal one ends the episode."""
        legal = self.encoding.legal(self._state, agent)
        if int(action) in legal:
            return int(action)
        if self.illegal == "raise":
            raise IllegalMoveError(f"action {int(action)} of {agent} is not legal: {legal}")
        if self.illegal == "random":
            return legal[int(self._rng.integers(len(legal)))]
        return None


class AgonAEC(_Base, AECEnv):  # type: ignore[misc]
    """A game in which agents are asked one at a time.

    Only agents with a choice are asked; where several move at the same time, they are asked one
    after the other and do not see each other's moves.
    """

    def __init__(
        self,
        game: str | Game,
        max_cycles: int = 1000,
        illegal: Illegal = "terminate",
        scaled: bool = True,
        render_mode: str | None = None,
        max_actions: int | None = None,
    ) -> None:
        AECEnv.__init__(self)
        self._setup(game, max_cycles, illegal, scaled, render_mode, max_actions)
        self._pending: dict[str | int, int] = {}
        self._asked: list[str] = []
        self.agent_selection: str = self.possible_agents[0]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        self._reset(seed)
        # Chance may end a game before anyone has a choice, as a hand that wins when it is dealt.
        # PettingZoo wants a choice after a reset, so such a game is dealt again.
        for _ in range(MAX_DEALS):
            if not any(self.terminations.values()):
                break
            self._reset(None)

    def _reset(self, seed: int | None) -> None:
        self._begin(seed)
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self._ask()

    def observe(self, agent: str) -> dict[str, Any]:
        return self._view(agent, agent == self.agent_selection)

    def step(self, action: Any) -> None:
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        self._cumulative_rewards[agent] = 0.0
        self.rewards = dict.fromkeys(self.agents, 0.0)
        chosen = self._checked(agent, action)
        if chosen is None:
            self.rewards[agent] = self._lowest
            self.terminations = dict.fromkeys(self.agents, True)
            self.infos = {other: {} for other in self.agents}
            self.infos[agent]["illegal_action"] = int(action)
            self._accumulate_rewards()
            return
        self._pending[agent] = chosen
        self._asked.pop(0)
        if self._asked:
            self.agent_selection = self._asked[0]
        else:
            self._state.play(dict(self._pending))
            self._ask()
        self._accumulate_rewards()

    def _ask(self) -> None:
        """Go on to the next step in which an agent has a choice."""
        self._pending = {}
        state = self._state
        while not state.is_terminal and state.n_steps < self.max_cycles:
            asked = [agent for agent in self.possible_agents if agent in state.choosers]
            if not asked and state.turn is not None and self.game.is_turn_taking:
                asked = [state.turn]
            if asked:
                self._asked = asked
                self.agent_selection = asked[0]
                return
            state.play({})
        self.infos = {agent: {} for agent in self.agents}
        if state.is_terminal:
            self.rewards = self.encoding.rewards(state, self.scaled)
            self.terminations = dict.fromkeys(self.agents, True)
        else:
            self.truncations = dict.fromkeys(self.agents, True)
        self._asked = []
        self.agent_selection = self.agents[0]


class AgonParallel(_Base, ParallelEnv):  # type: ignore[misc]
    """A game in which all agents act in each step, those who wait by their only move."""

    def __init__(
        self,
        game: str | Game,
        max_cycles: int = 1000,
        illegal: Illegal = "terminate",
        scaled: bool = True,
        render_mode: str | None = None,
        max_actions: int | None = None,
    ) -> None:
        self._setup(game, max_cycles, illegal, scaled, render_mode, max_actions)
        self.agents: list[str] = []

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        self._begin(seed)
        self.agents = list(self.possible_agents)
        return self._observations(), {agent: {} for agent in self.agents}

    def step(
        self, actions: dict[str, Any]
    ) -> tuple[
        dict[str, Any],
        dict[str, float],
        dict[str, bool],
        dict[str, bool],
        dict[str, dict[str, Any]],
    ]:
        agents = list(self.agents)
        infos: dict[str, dict[str, Any]] = {agent: {} for agent in agents}
        rewards = dict.fromkeys(agents, 0.0)
        joint: dict[str | int, Any] = {}
        offender = None
        for agent in agents:
            if agent not in actions:
                raise AgonError(f"an action of {agent} is missing")
            if len(self.encoding.legal(self._state, agent)) == 1:
                continue
            chosen = self._checked(agent, actions[agent])
            if chosen is None:
                offender = agent
                infos[agent]["illegal_action"] = int(actions[agent])
                break
            joint[agent] = chosen
        if offender is None:
            self._state.play(joint)
        ended = self._state.is_terminal or offender is not None
        if self._state.is_terminal:
            rewards = self.encoding.rewards(self._state, self.scaled)
        elif offender is not None:
            rewards[offender] = self._lowest
        truncated = not ended and self._state.n_steps >= self.max_cycles
        observations = self._observations()
        if ended or truncated:
            self.agents = []
        terminations = dict.fromkeys(agents, ended)
        return observations, rewards, terminations, dict.fromkeys(agents, truncated), infos

    def _observations(self) -> dict[str, Any]:
        return {agent: self._view(agent, True) for agent in self.agents}


def raw_env(game: str | Game, **options: Any) -> AgonAEC:
    """Return an environment without wrappers."""
    return AgonAEC(game, **options)


def env(game: str | Game, **options: Any) -> Any:
    """Return an environment that asks one agent at a time, with the usual wrappers."""
    made: Any = raw_env(game, **options)
    made = wrappers.AssertOutOfBoundsWrapper(made)
    return wrappers.OrderEnforcingWrapper(made)


def parallel_env(game: str | Game, **options: Any) -> AgonParallel:
    """Return an environment in which all agents act in each step."""
    return AgonParallel(game, **options)
