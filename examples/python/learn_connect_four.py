"""Learn connect four by a policy gradient on the vector environment, with numpy alone.

    python examples/python/learn_connect_four.py --updates 150 --curve curve.svg

A network with one hidden layer plays red in 512 games at once, against yellow who moves at random
inside of the engine. After each 32 moves it is updated by an actor-critic step (Mnih et al. 2016,
without asynchrony). The curve shows the share of games that red wins.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from agon.gymnasium import VectorEnv

Floats = npt.NDArray[np.float32]


class Network:
    """A hidden layer with two heads: logits of actions and the value of the state."""

    def __init__(self, n_inputs: int, n_actions: int, n_hidden: int, seed: int) -> None:
        rng = np.random.default_rng(seed)

        def layer(n: int, m: int, scale: float) -> Floats:
            return np.array(rng.standard_normal((n, m)) * scale / np.sqrt(n), np.float32)

        self.parameters: dict[str, Floats] = {
            "w": layer(n_inputs, n_hidden, 1.4),
            "b": np.zeros(n_hidden, np.float32),
            "policy": layer(n_hidden, n_actions, 0.1),
            "value": layer(n_hidden, 1, 0.1),
        }
        self._moments = {
            k: (np.zeros_like(v), np.zeros_like(v)) for k, v in self.parameters.items()
        }
        self._n_steps = 0

    def forward(self, inputs: Floats, mask: npt.NDArray[Any]) -> tuple[Floats, Floats, Floats]:
        """Return the hidden layer, the probabilities of legal actions and the values."""
        p = self.parameters
        hidden = np.maximum(inputs @ p["w"] + p["b"], 0)
        logits = np.where(mask > 0, hidden @ p["policy"], -1e9)
        logits -= logits.max(axis=1, keepdims=True)
        odds = np.exp(logits)
        return hidden, odds / odds.sum(axis=1, keepdims=True), (hidden @ p["value"])[:, 0]

    def update(self, gradients: dict[str, Floats], rate: float) -> None:
        """Make a step of Adam (Kingma & Ba 2015)."""
        self._n_steps += 1
        for name, gradient in gradients.items():
            first, second = self._moments[name]
            first += 0.1 * (gradient - first)
            second += 0.001 * (gradient * gradient - second)
            corrected = first / (1 - 0.9**self._n_steps)
            scale = np.sqrt(second / (1 - 0.999**self._n_steps)) + 1e-8
            self.parameters[name] -= rate * corrected / scale


def learn(
    game: str = "connect-four",
    role: str = "red",
    *,
    n_games: int = 512,
    n_updates: int = 150,
    horizon: int = 32,
    seed: int = 1,
    verbose: bool = True,
) -> list[tuple[int, float]]:
    """Learn, and return the curve: steps so far and the share of games won since the last point."""
    env = VectorEnv(game, n_games, role=role, seed=seed)
    n_actions = len(env.game.actions)
    network = Network(len(env.game.fluents), n_actions, 128, seed)
    rng = np.random.default_rng(seed)
    inputs, info = env.reset(seed=seed)
    mask = info["action_mask"]
    curve: list[tuple[int, float]] = []
    began, n_ended, n_won = time.time(), 0, 0
    discount, entropy_weight = 0.97, 0.01
    for update in range(1, n_updates + 1):
        steps = []
        for _ in range(horizon):
            _, odds, values = network.forward(inputs, mask)
            draws = rng.random((n_games, 1), dtype=np.float32)
            actions = (odds.cumsum(axis=1) < draws).sum(axis=1).clip(0, n_actions - 1)
            # Rounding may leave a draw behind the last legal action.
            actions = np.where(mask[np.arange(n_games), actions] > 0, actions, odds.argmax(axis=1))
            following, rewards, ended, _, info = env.step(actions)
            steps.append((inputs, mask, actions, rewards.astype(np.float32), ended))
            inputs, mask = following, info["action_mask"]
            n_ended += int(ended.sum())
            n_won += int((rewards[ended] > 0).sum())
        future = network.forward(inputs, mask)[2]
        returns = []
        for _, _, _, rewards, ended in reversed(steps):
            future = rewards + discount * np.where(ended, 0, future)
            returns.append(future)
        x, m, a = (np.concatenate([step[at] for step in steps]) for at in range(3))
        target = np.concatenate(returns[::-1])
        hidden, odds, values = network.forward(x, m)
        n = len(x)
        advantage = target - values
        advantage_n = (advantage - advantage.mean()) / (advantage.std() + 1e-6)
        onehot = np.zeros_like(odds)
        onehot[np.arange(n), a] = 1
        logs = np.log(odds + 1e-9)
        entropy = -(odds * logs).sum(axis=1, keepdims=True)
        d_logits = (odds - onehot) * advantage_n[:, None] / n
        d_logits += entropy_weight * odds * (logs + entropy) / n
        d_value = (-0.5 * advantage / n)[:, None].astype(np.float32)
        d_logits = d_logits.astype(np.float32)
        p = network.parameters
        d_hidden = (d_logits @ p["policy"].T + d_value @ p["value"].T) * (hidden > 0)
        network.update(
            {
                "w": x.T @ d_hidden,
                "b": d_hidden.sum(axis=0),
                "policy": hidden.T @ d_logits,
                "value": hidden.T @ d_value,
            },
            rate=2e-3,
        )
        if update % 5 == 0 or update == n_updates:
            curve.append((update * horizon * n_games, n_won / max(1, n_ended)))
            if verbose:
                seconds = time.time() - began
                print(f"{curve[-1][0]:>9} steps  {curve[-1][1]:6.1%} won  {seconds:6.1f} s")
            n_ended = n_won = 0
    return curve


def draw(curve: list[tuple[int, float]], path: Path) -> None:
    """Write the curve as SVG."""
    last = curve[-1][0]
    points = " ".join(f"{60 + 520 * n / last:.1f},{250 - 220 * share:.1f}" for n, share in curve)
    lines = "".join(
        f'<line x1="60" y1="{250 - 220 * s}" x2="580" y2="{250 - 220 * s}" stroke="#ddd"/>'
        f'<text x="52" y="{254 - 220 * s}" text-anchor="end">{s:.0%}</text>'
        for s in (0.0, 0.25, 0.5, 0.75, 1.0)
    )
    path.write_text(
        '<svg xmlns="http://www.w3.org/2000/svg" width="600" height="290" font-size="12" '
        'font-family="sans-serif"><rect width="600" height="290" fill="white"/>'
        f'{lines}<polyline points="{points}" fill="none" stroke="#1a6fb0" stroke-width="2"/>'
        f'<text x="320" y="280" text-anchor="middle">moves of the learner (up to {last:,})</text>'
        '<text x="320" y="18" text-anchor="middle">connect four: games won against a random '
        "player</text></svg>\n"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--updates", type=int, default=150)
    parser.add_argument("--games", type=int, default=512)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--curve", type=Path)
    options = parser.parse_args()
    curve = learn(n_games=options.games, n_updates=options.updates, seed=options.seed)
    if options.curve is not None:
        draw(curve, options.curve)


if __name__ == "__main__":
    main()
