"""Evaluations with real workers and a real browser on the demo shop: kills, resuming, a cluster."""

from __future__ import annotations

import importlib.util
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import orjson
import pytest

from app.engine.store.evaluation_files import EvaluationFolder
from tests.support.demo_site_thread import demo_site
from tests.support.demo_suite import demo_tasks, demo_workspace, write_suite
from tests.support.program import CHECKOUT, Sitelore
from tests.support.ray_nodes import ray_nodes

pytestmark = pytest.mark.browser

VERDICTS = {"basket": "pass", "pots": "pass", "kitchen": "pass", "moon": "fail"}
PATIENCE = 300.0


class Shop:
    """The demo shop, a workspace that knows it, and a suite."""

    def __init__(self, folder: Path, url: str) -> None:
        self.url = url
        self.workspace = demo_workspace(folder / "workspace", url)
        self.suite = write_suite(folder / "shop.json", demo_tasks())
        self.out = folder / "out"
        self.program = Sitelore(self.workspace)

    def begin(self, *options: str, **environment: str) -> subprocess.Popen[bytes]:
        """Begin the evaluation in another process."""
        command = ["eval", "run", str(self.suite), "--out", str(self.out), *options]
        return subprocess.Popen(
            [sys.executable, "-m", "app", "--workspace", str(self.workspace), *command],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=CHECKOUT,
            env={**os.environ, **environment},
        )

    def records(self) -> list[dict]:
        file = self.out / "journal.jsonl"
        lines = file.read_bytes().split(b"\n")[:-1] if file.exists() else []
        return [orjson.loads(line) for line in lines]

    def verdicts(self) -> dict[str, str]:
        return {
            record.key.task: record.verdict.value for record in EvaluationFolder(self.out).journal().records
        }

    def wait_for(self, count: int, process: subprocess.Popen[bytes]) -> None:
        """Wait until so many records are written, or the process is over."""
        until = time.monotonic() + PATIENCE
        while len(self.records()) < count and process.poll() is None:
            assert time.monotonic() < until, "no record came"
            time.sleep(0.05)


@pytest.fixture
def shop(tmp_path: Path):
    with demo_site() as site:
        yield Shop(tmp_path, site.shop_url)


def _processes(*words: str) -> list[int]:
    """Return the ids of processes whose command line holds all these words."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                line = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
            except OSError:
                continue
            if all(word in line for word in words):
                found.append(int(folder.name))
    return found


def test_an_evaluation_killed_in_the_middle_is_finished_with_nothing_lost_or_doubled(shop: Shop):
    process = shop.begin("--workers", "2")
    shop.wait_for(1, process)
    process.kill()
    process.wait()
    kept = shop.records()
    assert kept
    row = shop.program("eval", "resume", str(shop.out))
    assert (row["state"], row["done"], row["episodes"], row["errors"]) == ("done", 4, 4, 0)
    assert shop.records()[: len(kept)] == kept
    keys = [
        (record["key"]["task"], record["key"]["arm"], record["key"]["repeat"]) for record in shop.records()
    ]
    assert len(keys) == len(set(keys)) == 4
    assert shop.verdicts() == VERDICTS
    assert {path.name for path in (shop.out / "runs").iterdir()} == {one["run"] for one in shop.records()}
    runs = shop.program("runs", "list")
    assert {run["task_id"]: run["score"] for run in runs} == {
        task: 1.0 if verdict == "pass" else 0.0 for task, verdict in VERDICTS.items()
    }
    assert not (shop.out / "workers").exists()
    assert not _processes("app.engine.host", str(shop.out))


@pytest.mark.skipif(sys.platform != "linux", reason="finds the worker in /proc")
def test_a_worker_killed_in_the_middle_costs_its_episode_one_more_attempt(shop: Shop):
    process = shop.begin("--workers", "1")
    shop.wait_for(1, process)
    until = time.monotonic() + PATIENCE
    while not (pids := _processes("app.engine.host", str(shop.out))):
        assert time.monotonic() < until
        time.sleep(0.02)
    time.sleep(1.0)  # into the next episode
    os.kill(pids[0], signal.SIGKILL)
    assert process.wait(PATIENCE) == 0
    assert shop.verdicts() == VERDICTS
    assert sorted(record["attempt"] for record in shop.records()) == [1, 1, 1, 2]


def test_a_site_that_goes_down_leaves_the_rest_undecided_until_it_is_back(tmp_path: Path):
    with demo_site() as site:
        shop = Shop(tmp_path, site.shop_url)
        port = int(site.shop_url.rpartition(":")[2])
        process = shop.begin("--workers", "1")
        shop.wait_for(1, process)
    assert process.wait(PATIENCE) == 1  # runs are missing
    records = EvaluationFolder(shop.out).journal().records
    down = [record for record in records if record.error]
    assert len(records) == 4
    assert down
    assert all(record.score is None for record in down)
    from app.demo.server import DemoServer
    from tests.support.demo_site_thread import served

    class SamePlace(DemoServer):
        @classmethod
        async def start(cls, _port: int = 0):
            return await super().start(port)

    with served(SamePlace):
        row = shop.program("eval", "resume", str(shop.out))
    assert (row["done"], row["errors"]) == (4, 0)
    assert shop.verdicts() == VERDICTS


@pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="Ray is an extra")
@pytest.mark.skipif(sys.platform != "linux", reason="a cluster on loopback, and the worker is found in /proc")
def test_two_nodes_of_a_cluster_come_to_the_same_verdicts_though_a_worker_is_killed(shop: Shop):
    with ray_nodes() as nodes:
        options = ("--workers", "2", "--engine", "ray", "--address", nodes.address)
        process = shop.begin(*options, **nodes.environment)
        shop.wait_for(1, process)
        actors = [pid for pid in _processes("ray::EpisodeActor") if _descends(pid, nodes.nodes)]
        assert len(actors) == 2
        os.kill(actors[0], signal.SIGKILL)
        assert process.wait(PATIENCE) == 0
        assert shop.verdicts() == VERDICTS
        assert max(record["attempt"] for record in shop.records()) == 2
        assert {record["worker"] for record in shop.records()} == {"ray 0", "ray 1"}
        assert not _processes("app.engine.host", "sitelore-worker-")


def _descends(pid: int, from_processes: list[subprocess.Popen[bytes]]) -> bool:
    """Whether a process was started by one of these, through any number of others."""
    wanted = {process.pid for process in from_processes}
    while pid > 1:
        if pid in wanted:
            return True
        pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    return False
