"""A greedy player in 15 lines: the move after which random play ends best."""

from __future__ import annotations

import agon


def greedy(view: agon.View) -> str:
    if view.state is None or len(view.legal_moves) == 1:
        return view.legal_moves[0]
    children = [view.state.child({view.role: move}) for move in view.legal_moves]
    means = view.game.playouts(children, 100, seed=view.seed).means
    own = means[:, view.game.roles.index(view.role)]
    return view.legal_moves[int(own.argmax())]


if __name__ == "__main__":
    result = agon.match(agon.load("connect-four"), [greedy, "random"], iterations=100)
    print(dict(zip(result.roles, result.goals or [], strict=False)))
