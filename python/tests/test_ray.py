"""Ray: the same results as on one machine, also if a worker is killed."""

from __future__ import annotations

import os
import signal
import sqlite3
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import agon

ray = pytest.importorskip("ray")

from agon import ray as agon_ray  # noqa: E402

pytestmark = [pytest.mark.full, pytest.mark.heavy, pytest.mark.filterwarnings("ignore")]

SPEC: dict[str, Any] = {
    "games": ["tic-tac-toe", "connect-three"], "repeats": 3, "openings": 2, "iterations": 200,
    "players": {"a": "mcts", "b": "uct"},
}  # fmt: skip
#: Matches of a second or so, in which a worker can be killed.
LONG: dict[str, Any] = {**SPEC, "games": ["connect-four"], "repeats": 4, "iterations": 2000}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    from ray.cluster_utils import Cluster

    os.environ["RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO"] = "0"
    memory = {"object_store_memory": 100 * 2**20}
    made = Cluster(
        initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False, **memory}
    )
    made.add_node(num_cpus=1, resources={"second": 8}, **memory)
    ray.init(address=made.address, log_to_driver=False)
    yield made
    ray.shutdown()
    made.shutdown()


@pytest.fixture
def database() -> Iterator[str]:
    """Start a PostgreSQL server and return its URL.

    Not in `tmp_path`: if the tests run as root, the server runs as a user who may not go there.
    """
    pgserver = pytest.importorskip("pgserver")
    pytest.importorskip("psycopg")
    with tempfile.TemporaryDirectory(prefix="agon-") as folder:
        server = pgserver.get_server(Path(folder) / "pg")
        try:
            yield server.get_uri()
        finally:
            server.cleanup()


def moves(result: agon.TournamentResult) -> dict[str, Any]:
    return {match["id"]: (match["moves"], match["goals"]) for match in result.matches}


def test_a_tournament_on_two_nodes_is_the_local_one(cluster: Any, tmp_path: Path) -> None:
    local = agon.tournament(SPEC)
    seen: list[int] = []
    store = tmp_path / "ray.db"
    spread = agon_ray.tournament(SPEC, store=store, progress=lambda n, *_: seen.append(n))
    assert moves(local) == moves(spread) and spread.is_complete
    assert local.standings == spread.standings
    assert seen == list(range(1, len(local.matches) + 1))
    rows = sqlite3.connect(store).execute("SELECT count(*), count(DISTINCT id) FROM match")
    assert rows.fetchone() == (12, 12)


def test_a_killed_node_loses_nothing(cluster: Any, tmp_path: Path) -> None:
    # Tasks are pinned to a node that is killed while they run; another takes them over.
    victim = cluster.add_node(num_cpus=1, resources={"doomed": 1}, object_store_memory=100 * 2**20)
    rescue: list[Any] = []
    killed: list[float] = []

    def progress(done: int, total: int, match: Any) -> None:
        if done == 2:
            killed.append(time.time())
            cluster.remove_node(victim, allow_graceful=False)
            rescue.append(
                cluster.add_node(
                    num_cpus=1, resources={"doomed": 1}, object_store_memory=100 * 2**20
                )
            )

    store = tmp_path / "killed.db"
    spread = agon_ray.tournament(
        LONG, store=store, progress=progress, options={"resources": {"doomed": 0.5}}
    )
    assert killed, "the node was killed in the middle"
    assert moves(spread) == moves(agon.tournament(LONG))
    n = len(spread.matches)
    assert n == 8
    rows = sqlite3.connect(store).execute("SELECT count(*), count(DISTINCT id) FROM match")
    assert rows.fetchone() == (n, n)
    cluster.remove_node(rescue[0])


class Killer:
    """Kills processes of the cluster that are playing a match, after every second match."""

    def __init__(self, cluster: Any, n_victims: int) -> None:
        self._cluster, self._left = cluster, n_victims
        self.killed: list[int] = []

    def __call__(self, done: int, total: int, match: Any) -> None:
        if done % 2 == 0 and self._left > 0 and done < total:
            self._left -= 1
            self.killed.append(self._kill())

    def _kill(self) -> int:
        for _ in range(400):
            for worker in self._playing():
                os.kill(worker, signal.SIGKILL)
                return worker
            time.sleep(0.05)
        pytest.fail("no worker plays")

    def _playing(self) -> Iterator[int]:
        """Find the workers of this cluster, which name themselves after what they do."""
        nodes = self._cluster.list_all_nodes()
        started = [node.all_processes.get("raylet", []) for node in nodes]
        raylets = {str(info.process.pid) for infos in started for info in infos}
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                title = (folder / "cmdline").read_text()
                parent = (folder / "stat").read_text().rsplit(")", 1)[1].split()[1]
            except OSError:
                continue  # It has ended.
            if title.startswith("ray::_play") and parent in raylets:
                yield int(folder.name)


linux_only = pytest.mark.skipif(not Path("/proc/self").exists(), reason="looks into /proc")


@linux_only
def test_killed_workers_of_a_tournament_are_replaced(cluster: Any, tmp_path: Path) -> None:
    store, killer = tmp_path / "killed.db", Killer(cluster, 2)
    spread = agon_ray.tournament(LONG, store=store, progress=killer)
    assert len(killer.killed) == 2
    assert moves(spread) == moves(agon.tournament(LONG)) and spread.is_complete
    rows = sqlite3.connect(store).execute("SELECT count(*), count(DISTINCT id) FROM match")
    assert rows.fetchone() == (8, 8)


@linux_only
def test_killed_workers_that_write_to_postgresql_are_replaced(cluster: Any, database: str) -> None:
    killer = Killer(cluster, 2)
    spread = agon_ray.tournament(LONG, store=database, progress=killer)
    assert len(killer.killed) == 2
    assert moves(spread) == moves(agon.tournament(LONG)) and spread.is_complete
    with agon.Store(database) as store:
        stored = store.matches()
    assert {match["id"]: match["began"] for match in stored} == {
        match["id"]: match["began"] for match in spread.matches
    }, "what is returned is what is stored"


def test_a_match_in_a_shared_store_is_not_played_again(database: str) -> None:
    """A worker may die after it has stored a match and before it has sent it."""
    plan = agon_ray.read_plan(SPEC)
    with agon.Store(database) as store:
        store.begin(plan)
        assert store.find(plan.ids[0]) is None
    first, second = (agon_ray._play(plan.text, ".", plan.ids[0], (database, None)) for _ in "12")
    assert first["began"] == second["began"] and first["moves"] == second["moves"]


def test_workers_write_to_one_postgresql_store(cluster: Any, database: str) -> None:
    spread = agon_ray.tournament(SPEC, store=database)
    assert moves(spread).keys() == moves(agon.tournament(SPEC)).keys()
    with agon.Store(database) as store:
        assert len(store.matches()) == len(spread.matches) == 12
    again = agon_ray.tournament(SPEC, store=database, progress=lambda *_: pytest.fail("again"))
    assert again.standings == spread.standings


def test_a_match_needs_no_more_processors_than_a_node_has(cluster: Any) -> None:
    """Both players of a simultaneous game think at once, and the nodes have one processor each."""
    spec = {**SPEC, "games": ["rock-paper-scissors"], "repeats": 1, "iterations": 5}
    plan = agon_ray.read_plan(spec)
    assert {plan.cores(id) for id in plan.ids} == {2}
    assert moves(agon_ray.tournament(spec)) == moves(agon.tournament(spec))
    with pytest.raises(agon.AgonError, match="the largest node has 1 processors"):
        agon_ray.tournament(spec, cpus_per_match=2)


def test_self_play_has_the_matches_of_one_machine(cluster: Any) -> None:
    spread = agon_ray.self_play(
        "tic-tac-toe", ["mcts", "random"], 10, seed=4, iterations=50, matches_per_task=3
    )
    game = agon.load("tic-tac-toe")
    local = [
        agon.match(game, ["mcts", "random"], seed=4 + at, iterations=50) for at in range(10)
    ]
    assert [match.moves for match in spread] == [match.moves for match in local]
    assert [match.as_row().keys() for match in spread] == [match.as_row().keys() for match in local]
    assert {match.game for match in spread} == {"tic-tac-toe"}


#: A part of an experiment with matches long enough to be interrupted.
PART: dict[str, Any] = {"iterations": 300, "repeats": 2, "only": "Connect 4", "column": "tree"}


def experiment_moves(result: agon.ExperimentResult) -> dict[str, Any]:
    return {
        name: {m["id"]: (m["seed"], m["moves"], m["goals"]) for m in each.matches}
        for name, each in result.columns.items()
    }


def test_an_experiment_is_the_local_one_though_a_node_is_killed(
    cluster: Any, tmp_path: Path
) -> None:
    victim = cluster.add_node(num_cpus=1, resources={"brittle": 1}, object_store_memory=100 * 2**20)
    rescue: list[Any] = []

    def progress(done: int, total: int, match: Any) -> None:
        if done == 2:
            cluster.remove_node(victim, allow_graceful=False)
            rescue.append(
                cluster.add_node(
                    num_cpus=1, resources={"brittle": 1}, object_store_memory=100 * 2**20
                )
            )

    name = "trutman-table-5.2"
    options = {"resources": {"brittle": 0.5}}
    spread = agon_ray.experiment(name, store=tmp_path, progress=progress, options=options, **PART)
    assert rescue, "the node was killed in the middle"
    local = agon.experiment(name, **PART)
    assert experiment_moves(spread) == experiment_moves(local) and spread.is_complete
    assert spread.cells == local.cells and spread.missing == local.missing
    for file in tmp_path.glob("*.db"):
        rows = sqlite3.connect(file).execute("SELECT count(*), count(DISTINCT id) FROM match")
        n, n_distinct = rows.fetchone()
        assert n == n_distinct > 0
    again = agon_ray.experiment(
        name, store=tmp_path, progress=lambda *_: pytest.fail("again"), **PART
    )
    assert again.cells == spread.cells
    cluster.remove_node(rescue[0])


@linux_only
def test_an_experiment_is_the_local_one_though_workers_are_killed(
    cluster: Any, tmp_path: Path
) -> None:
    killer = Killer(cluster, 2)
    name, part = "trutman-table-5.2", {**PART, "repeats": 3}
    spread = agon_ray.experiment(name, store=tmp_path, progress=killer, **part)
    assert len(killer.killed) == 2
    local = agon.experiment(name, **part)
    assert experiment_moves(spread) == experiment_moves(local) and spread.is_complete
    assert spread.cells == local.cells
    for file in tmp_path.glob("*.db"):
        rows = sqlite3.connect(file).execute("SELECT count(*), count(DISTINCT id) FROM match")
        n, n_distinct = rows.fetchone()
        assert n == n_distinct > 0


def test_columns_of_an_experiment_share_a_postgresql_database(
    cluster: Any, database: str
) -> None:
    small: dict[str, Any] = {"iterations": 5, "repeats": 1, "only": "Bidding"}
    spread = agon_ray.experiment("trutman-table-5.2", store=database, **small)
    assert spread.cells == agon.experiment("trutman-table-5.2", **small).cells
    assert len(spread.columns) > 1
    again = agon_ray.experiment(
        "trutman-table-5.2", store=database, progress=lambda *_: pytest.fail("again"), **small
    )
    assert again.cells == spread.cells
