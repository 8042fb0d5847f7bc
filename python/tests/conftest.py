"""What all tests share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import agon

ROOT = Path(__file__).resolve().parents[2]
#: Public rulesheets that are used by tests only, if they are there.
SHARED = Path(os.environ.get("AGON_SHARED", ROOT.parent / "shared")) / "games"


def shipped() -> list[str]:
    """Return the names of all shipped games."""
    return [game.name for game in agon.games()]


def shared(n: int) -> list[str]:
    """Return paths of `n` public rulesheets spread over the collection, small ones only."""
    found = sorted(p for p in SHARED.rglob("*.kif") if p.stat().st_size < 12_000)
    step = max(1, len(found) // n) if found else 1
    return [str(path) for path in found[::step][:n]]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip heavy tests unless they are asked for."""
    if os.environ.get("AGON_HEAVY"):
        return
    reason = "takes minutes: set AGON_HEAVY=1"
    for item in items:
        if "heavy" in item.keywords:
            item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(scope="session")
def tic_tac_toe() -> agon.Game:
    return agon.load("tic-tac-toe")
