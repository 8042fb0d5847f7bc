"""The examples run and do what they promise."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT

import agon

pytestmark = pytest.mark.full


def example(name: str) -> Any:
    path = ROOT / "examples/python" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_greedy_player_wins() -> None:
    pytest.importorskip("numpy")
    greedy = example("greedy").greedy
    result = agon.match(agon.load("connect-four"), [greedy, "random"], iterations=10)
    assert result.goals == [100.0, 0.0] and result.errors == []


def test_the_learner_learns(tmp_path: Path) -> None:
    pytest.importorskip("gymnasium")
    module = example("learn_connect_four")
    curve = module.learn(n_games=128, n_updates=40, horizon=24, verbose=False)
    assert curve[-1][1] > curve[0][1] + 0.1, curve
    module.draw(curve, tmp_path / "curve.svg")
    assert (tmp_path / "curve.svg").read_text().startswith("<svg")


def test_the_throughput_is_measured() -> None:
    pytest.importorskip("numpy")
    script = str(ROOT / "examples/python/throughput.py")
    run = [sys.executable, script, "--seconds", "0.02", "--json"]
    rows = json.loads(subprocess.run(run, capture_output=True, text=True, check=True).stdout)
    assert len(rows) == 12 and {row["batch"] for row in rows} == {1, 256, 4096}
    assert all(row["agon"] > 0 for row in rows)


def test_the_listings_of_the_documents_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Runs the Python listings of each document in order, in one namespace."""
    pytest.importorskip("numpy")
    monkeypatch.chdir(tmp_path)
    rules = ";; param size = 3 in 2..20: fields\n(role a)\n(cell {1..size})\n"
    rules += "(init (at 1))\n(<= (legal a (go ?x)) (cell ?x))\n(<= (next (at ?x)) (does a (go ?x)))\n"
    rules += "(<= terminal (true (at {size})))\n(<= (goal a 100) (true (at {size})))\n"
    rules += "(<= (goal a 0) (not (true (at {size}))))\n"
    (tmp_path / "my-game.kif").write_text(rules)
    n_run = 0
    for document in ["README.md", "docs/python.md", "docs/rules.md"]:
        namespace: dict[str, Any] = {"agon": agon}
        blocks = (ROOT / document).read_text().split("```python\n")[1:]
        for block in (rest.split("```")[0] for rest in blocks):
            # A cluster is tested elsewhere.
            if "agon.ray" not in block:
                exec(compile(block, document, "exec"), namespace)
                n_run += 1
    assert n_run >= 5


def test_the_notebook_runs() -> None:
    nbformat = pytest.importorskip("nbformat")
    client = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    notebook = nbformat.read(ROOT / "docs/tutorial.ipynb", as_version=4)
    client.NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
