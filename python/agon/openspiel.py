"""OpenSpiel: any game of agon as `pyspiel.load_game("agon(game=...)")`, and bots as players.

Importing this module registers the game. Parameters:

- `game`: the name of a shipped game, or the path of a rulesheet. `load_game` also takes an opened
  game, whose rules it packs into this parameter;
- `unit`: returns are `(goal - centre) / unit`, where the centre is an equal share of the proved sum
  of all goals, or else the middle of their range. Default: half of the range, so that returns lie
  between -1 and 1;
- `max_game_length`: play is cut off after so many moves. Default: the longest play of a small game,
  whose states are all looked at, or else twice the longest of 256 random plays.

Games in which players provably take turns are sequential, all others simultaneous. Moves of nature
are explicit chance nodes. In games with hidden information the information state of a player is
the sequence of its own moves and percepts.
"""

from __future__ import annotations

import base64
import random
import zlib
from collections.abc import Callable
from itertools import product
from functools import lru_cache
from typing import Any

import numpy as np
import pyspiel

from ._agon import AgonError, Game, IllegalMoveError, State, games, load
from ._encoding import Encoding
from ._records import View

_PARAMETERS = {"game": "tic-tac-toe", "unit": 0.0, "max_game_length": 0}


def _game_type(
    *, sequential: bool, chance: bool, hidden: bool, zero_sum: bool, n_players: int
) -> Any:
    kind = pyspiel.GameType
    return kind(
        short_name="agon",
        long_name="Agon: a game by its rules",
        dynamics=kind.Dynamics.SEQUENTIAL if sequential else kind.Dynamics.SIMULTANEOUS,
        chance_mode=(
            kind.ChanceMode.EXPLICIT_STOCHASTIC if chance else kind.ChanceMode.DETERMINISTIC
        ),
        information=(
            kind.Information.IMPERFECT_INFORMATION
            if hidden
            else kind.Information.PERFECT_INFORMATION
        ),
        utility=kind.Utility.ZERO_SUM if zero_sum else kind.Utility.GENERAL_SUM,
        reward_model=kind.RewardModel.TERMINAL,
        max_num_players=n_players,
        min_num_players=n_players,
        provides_information_state_string=True,
        provides_information_state_tensor=hidden,
        provides_observation_string=True,
        provides_observation_tensor=True,
        parameter_specification=_PARAMETERS,
    )


class _Tables:
    """What all states of a game share. A deep copy is the same object."""

    def __init__(self, game: Game, unit: float, max_game_length: int) -> None:
        self.game = game
        self.encoding = Encoding(game)
        self.players = game.players
        self.roles = game.roles
        self.index = [self.roles.index(player) for player in self.players]
        self.nature = None if game.nature is None else self.roles.index(game.nature)
        low, high = game.payoff_range
        n_players = len(self.players)
        known = game.survey() if game.has_numbers else None
        total = game.constant_sum
        if total is None and known is not None:
            total = known.constant_sum
        self.is_zero_sum = total is not None and n_players > 1
        self.centre = (
            total / n_players if total is not None and n_players > 1 else (low + high) / 2
        )
        self.unit = unit or max(high - self.centre, self.centre - low) or 1.0
        self.low, self.high = (low - self.centre) / self.unit, (high - self.centre) / self.unit
        longest = None if known is None else known.longest
        self.max_game_length = max_game_length or longest or _longest(game)
        self.is_sequential = _takes_turns(game, None if known is None else known.is_turn_taking)
        self.n_outcomes = _n_outcomes(game)

    def __deepcopy__(self, memo: Any) -> _Tables:
        return self

    def __copy__(self) -> _Tables:
        return self


def _longest(game: Game) -> int:
    longest = 1
    if game.has_numbers:
        batch = game.batch(256, seed=1, auto_reset=False)
        batch.step_random(500)
        longest = int(batch.n_steps.max())
    else:
        for seed in range(8):
            longest = max(longest, game.start().playout(seed, max_steps=500).n_steps)
    return 2 * longest + 2


def _takes_turns(game: Game, known: bool | None) -> bool:
    if game.is_turn_taking or known is not None:
        return game.is_turn_taking or bool(known)
    # A larger proof than the one that is made whenever a game is opened.
    found = game.properties(seconds=5).get("properties", {}).get("turn_taking")
    return found is not None and found["how"] == "proved"


def _n_outcomes(game: Game) -> int:
    if game.nature is None:
        return 0
    if game.has_numbers:
        return len(game.nature_moves)
    # A number is an index among the legal moves, and no list of all moves is known.
    return 1 << 16


@lru_cache(maxsize=32)
def _tables(game: str, unit: float, max_game_length: int) -> _Tables:
    opened = load(_unpacked(game)) if game.startswith(_PACKED) else load(game)
    return _Tables(opened, unit, max_game_length)


#: Marks a parameter that has the rules themselves, because names and paths are not known elsewhere.
_PACKED = "rules:"


def _packed(rules: str) -> str:
    packed = base64.urlsafe_b64encode(zlib.compress(rules.encode(), 9))
    return _PACKED + packed.decode().rstrip("=")


def _unpacked(text: str) -> str:
    packed = text[len(_PACKED) :]
    packed += "=" * (-len(packed) % 4)
    # A rulesheet of one line would be taken for a path.
    return zlib.decompress(base64.urlsafe_b64decode(packed)).decode() + "\n"


def load_game(game: str | Game, *, unit: float = 0.0, max_game_length: int = 0) -> Any:
    """Load a game for OpenSpiel: by name, by path, or as it was opened by `agon.load`."""
    is_shipped = isinstance(game, str) or game.name in {shipped.name for shipped in games()}
    name = game if isinstance(game, str) else game.name
    if isinstance(game, Game) and not (is_shipped and load(name) == game):
        name = _packed(game.rules)
    parameters = {"game": name, "unit": unit, "max_game_length": max_game_length}
    return pyspiel.load_game("agon", parameters)


class AgonGame(pyspiel.Game):  # type: ignore[misc]
    """A game of agon as OpenSpiel sees it."""

    def __init__(self, params: dict[str, Any] | None = None) -> None:
        params = {**_PARAMETERS, **(params or {})}
        tables = _tables(
            str(params["game"]), float(params["unit"]), int(params["max_game_length"])
        )
        self.tables = tables
        game = tables.game
        kind = _game_type(
            sequential=tables.is_sequential,
            chance=tables.nature is not None,
            hidden=game.is_hidden,
            zero_sum=tables.is_zero_sum,
            n_players=len(tables.players),
        )
        info = pyspiel.GameInfo(
            num_distinct_actions=tables.encoding.n_actions,
            max_chance_outcomes=tables.n_outcomes,
            num_players=len(tables.players),
            min_utility=tables.low,
            max_utility=tables.high,
            utility_sum=0.0 if tables.is_zero_sum else None,
            max_game_length=tables.max_game_length,
        )
        super().__init__(kind, info, params)

    def new_initial_state(self) -> AgonState:
        return AgonState(self)

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> _Observer:
        if params:
            raise ValueError(f"observers take no parameters: {params}")
        kind = iig_obs_type or pyspiel.IIGObservationType(perfect_recall=False)
        return _Observer(self.tables, bool(kind.perfect_recall))


class AgonState(pyspiel.State):  # type: ignore[misc]
    """A position as OpenSpiel sees it.

    Where nature moves at the same time as players, its move comes first as a chance node. Players
    do not see it before they have moved.
    """

    def __init__(self, game: AgonGame) -> None:
        super().__init__(game)
        self._tables: _Tables = game.tables
        self._position: State = game.tables.game.start()
        self._nature: int | None = None
        self._n_moves = 0

    @property
    def position(self) -> State:
        """The position of agon."""
        return self._position

    def current_player(self) -> int:
        if self.is_terminal():
            return int(pyspiel.PlayerId.TERMINAL)
        tables = self._tables
        if self._is_chance():
            return int(pyspiel.PlayerId.CHANCE)
        if not tables.is_sequential:
            return int(pyspiel.PlayerId.SIMULTANEOUS)
        return tables.index.index(self._position.turn_index)

    def _is_chance(self) -> bool:
        nature = self._tables.nature
        return (
            nature is not None
            and self._nature is None
            and len(self._position.legal_actions(nature)) > 1
        )

    def _legal_actions(self, player: int) -> list[int]:
        if self.is_terminal():
            return []
        return self._position.legal_actions(self._tables.index[player])

    def chance_outcomes(self) -> list[tuple[int, float]]:
        return self._position.chances()

    def _apply_action(self, action: int) -> None:
        if self._is_chance():
            self._nature = action
            has_choice = any(
                len(self._position.legal_actions(role)) > 1 for role in self._tables.index
            )
            if not has_choice:
                self._play({})
            return
        self._n_moves += 1
        self._play({self._position.turn_index: action})

    def _apply_actions(self, actions: list[int]) -> None:
        self._n_moves += 1
        self._play(dict(zip(self._tables.index, actions, strict=True)))

    def _play(self, joint: dict[str | int, Any]) -> None:
        if self._nature is not None and self._tables.nature is not None:
            joint[self._tables.nature] = self._nature
        self._position.play(joint)
        self._nature = None

    def _action_to_string(self, player: int, action: int) -> str:
        tables = self._tables
        role = tables.nature if player == pyspiel.PlayerId.CHANCE else tables.index[player]
        if role is None:
            return str(action)
        if tables.game.has_numbers:
            return tables.game.action_text(role, action)
        legal = self._position.legal_moves(role)
        return legal[action] if action < len(legal) else str(action)

    def is_terminal(self) -> bool:
        return self._position.is_terminal or self._n_moves >= self._tables.max_game_length

    def returns(self) -> list[float]:
        tables = self._tables
        if not self.is_terminal():
            return [0.0] * len(tables.players)
        if not self._position.is_terminal and tables.is_zero_sum:
            # The sum of goals is proved at the end of play only.
            return [0.0] * len(tables.players)
        goals = self._position.goals()
        return [(goals[role] - tables.centre) / tables.unit for role in tables.index]

    def __str__(self) -> str:
        text = str(self._position)
        return text if self._nature is None else f"{text}\nchance: {self._nature}"


class _Observer:
    """Observations, and information states with perfect recall."""

    def __init__(self, tables: _Tables, perfect_recall: bool) -> None:
        self._tables = tables
        self._recall = perfect_recall
        game = tables.game
        self._percepts: list[dict[str, int]] = []
        if perfect_recall and game.is_hidden:
            names = [game.percepts_of(player) for player in tables.players]
            self._percepts = [{name: at for at, name in enumerate(own)} for own in names]
            self._row = tables.encoding.n_actions + max(len(own) for own in names)
            # Steps of nature come on top of the moves of players.
            shape = (len(tables.players) + (2 * tables.max_game_length + 2) * self._row,)
        elif perfect_recall:
            shape = (0,)
        else:
            sizes = [tables.encoding.size(player) for player in tables.players]
            shape = (len(tables.players) + max(sizes),)
        self.tensor = np.zeros(shape, np.float32)
        self.dict = {"observation": self.tensor}

    def set_from(self, state: AgonState, player: int) -> None:
        tables = self._tables
        self.tensor.fill(0)
        if not self.tensor.size:
            return
        n = len(tables.players)
        self.tensor[player] = 1
        if not self._recall:
            row = tables.encoding.observe(state.position, tables.players[player])
            self.tensor[n : n + len(row)] = row
            return
        actions = {text: at for at, text in enumerate(tables.game.actions)}
        for step, (own, seen) in enumerate(state.position.observations(tables.players[player])):
            first = n + step * self._row
            if first + self._row > self.tensor.size:
                break
            self.tensor[first + actions[own]] = 1
            for percept in seen:
                self.tensor[first + tables.encoding.n_actions + self._percepts[player][percept]] = 1

    def string_from(self, state: AgonState, player: int) -> str:
        tables = self._tables
        role = tables.players[player]
        position = state.position
        if self._recall:
            steps = position.observations(role)
            return f"{role}; " + "; ".join(f"{own} | {' '.join(seen)}" for own, seen in steps)
        if tables.game.is_hidden:
            steps = position.observations(role)[-1:]
            return f"{role}; " + "; ".join(f"{own} | {' '.join(seen)}" for own, seen in steps)
        return " ".join(position.facts())


def register() -> None:
    """Register the game `agon`, unless it is registered."""
    if "agon" not in pyspiel.registered_names():
        kind = _game_type(sequential=True, chance=False, hidden=False, zero_sum=True, n_players=2)
        pyspiel.register_game(kind, AgonGame)


class BotPlayer:
    """An OpenSpiel bot as a player of agon.

    `make_bot(game, player)` makes the bot of a player. The bot's state follows the match. In a game
    with hidden information it is a state that agrees with everything that the player has observed;
    a bot that looks at information states only does not notice the difference.
    """

    def __init__(
        self,
        make_bot: Callable[[Any, int], Any],
        *,
        unit: float = 0.0,
        name: str = "openspiel",
        seed: int = 1,
    ) -> None:
        self._make_bot, self._unit = make_bot, unit
        self.name = name
        self._bot: Any = None
        self._player = 0
        self._random = random.Random(seed)

    def start(self, game: Game, role: str) -> None:
        self._spiel = load_game(game, unit=self._unit)
        self._player = game.players.index(role)
        self._bot = self._make_bot(self._spiel, self._player)

    def play(self, view: View) -> str | int:
        if len(view.legal_moves) == 1:
            return view.legal_moves[0]
        state = view.state
        if state is None:
            state = consistent_state(view.game, view.role, view.observations, self._random)
        return int(self._bot.step(self._follow(state.history)))

    def _follow(self, history: list[list[str]]) -> Any:
        """Return the state of OpenSpiel after these joint moves."""
        state = self._spiel.new_initial_state()
        tables = state._tables
        for joint in history:
            n_steps = state.position.n_steps
            numbers = [
                _number(state.position, role, text)
                for role, text in zip(tables.roles, joint, strict=True)
            ]
            if state.is_chance_node():
                state.apply_action(numbers[tables.nature])
                if state.position.n_steps > n_steps:
                    continue
            if state.is_simultaneous_node():
                state.apply_actions([numbers[role] for role in tables.index])
            else:
                state.apply_action(numbers[state.position.turn_index])
        return state


def _number(position: State, role: str, text: str) -> int:
    if position.game.has_numbers:
        return position.game.action(role, text)
    return position.legal_moves(role).index(text)


#: Maximum number of steps that the search for a consistent state makes.
_MAX_STEPS = 100_000


def consistent_state(
    game: Game, role: str, observations: list[tuple[str, list[str]]], rng: random.Random
) -> State:
    """Return a state after which a role has made exactly these observations, by depth-first search.

    Moves of others are tried in random order, so that all such states are possible. They are not
    equally likely.
    """
    n_left = _MAX_STEPS

    def search(state: State, at: int) -> State | None:
        nonlocal n_left
        if at == len(observations):
            return state
        own, seen = observations[at]
        moves = [[own] if other == role else state.legal_moves(other) for other in game.roles]
        joints = list(product(*moves))
        rng.shuffle(joints)
        for joint in joints:
            n_left -= 1
            if n_left < 0:
                raise AgonError("no state that agrees with all observations was found in time")
            try:
                child = state.child(list(joint))
            except IllegalMoveError:
                continue
            if child.observations(role)[-1] == (own, seen):
                found = search(child, at + 1)
                if found is not None:
                    return found
        return None

    found = search(game.start(), 0)
    if found is None:
        raise AgonError("no state agrees with all observations")
    return found


register()
