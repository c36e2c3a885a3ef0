"""``sitelore live batch`` in real processes: interrupted by Ctrl+C, commanded from a second one, out of money."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from app.demo.server import DemoServer
from app.engine.core.batch import BatchRow, BatchState, TaskState
from app.engine.core.supervision import OperatorAction
from app.engine.store.supervision.batch_store import StoredBatch
from app.engine.store.workspace import Workspace
from app.models.common.engine_client import EngineClient
from tests.support.demo_site_thread import demo_site
from tests.support.operator_driver import KITCHEN, WAIT
from tests.support.program import CHECKOUT, Sitelore
from tests.support.protocol_server import ProtocolServer
from tests.support.shop_brain import count_the_kitchen

pytestmark = [
    pytest.mark.usefixtures("chromium"),
    pytest.mark.skipif(sys.platform == "win32", reason="process groups of POSIX"),
]


@pytest.fixture(scope="module")
def shop() -> Iterator[DemoServer]:
    with demo_site() as server:
        yield server


class Terminal:
    """``sitelore live batch …`` in a process group of its own, as a terminal has it."""

    def __init__(self, workspace: Path, *arguments: str, **environment: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "app", "--workspace", str(workspace), "live", "batch", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=CHECKOUT,
            env={**os.environ, "PYTHONUNBUFFERED": "1", **environment},
            start_new_session=True,
        )
        self.said = ""
        self._reading = threading.Thread(target=self._read)
        self._reading.start()

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
        self.ended()

    def press_ctrl_c(self) -> None:
        """The terminal sends it to every process in front."""
        os.killpg(self._process.pid, signal.SIGINT)

    def ended(self) -> int:
        """Its exit code, once it has ended."""
        code = self._process.wait(timeout=WAIT)
        self._reading.join()
        if self._process.stdout is not None:
            self._process.stdout.close()
        return code

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self.said += line


def until(condition: Callable[[], bool], terminal: Terminal) -> None:
    deadline = time.monotonic() + WAIT
    while not condition():
        assert time.monotonic() < deadline, terminal.said
        time.sleep(0.05)


def stored(workspace: Path) -> StoredBatch | None:
    """The only batch, ``None`` before it is there."""
    if not (workspace / "workspace.json").exists() and not workspace.is_dir():
        return None
    with Workspace.open(workspace) as opened:
        ids = opened.batches.ids()
        return opened.batches.batch_of(ids[0]) if ids else None


def is_so(workspace: Path, so: Callable[[StoredBatch], bool]) -> Callable[[], bool]:
    def there() -> bool:
        found = stored(workspace)
        return found is not None and so(found)

    return there


def task_file(folder: Path, shop: DemoServer, count: int, **more: object) -> str:
    file = folder / "kitchens.jsonl"
    task = {"intent": KITCHEN, "start_url": shop.shop_url, **more}
    file.write_text("\n".join(json.dumps({**task, "task_id": f"k{number}"}) for number in range(count)))
    return str(file)


def faults(workspace: Path, tasks: int) -> list[str]:
    """Tasks and steps that are lost or doubled."""
    found: list[str] = []
    with Workspace.open(workspace) as opened:
        batch = opened.batches.batch_of(opened.batches.ids()[0])
        for number in range(1, tasks + 1):
            runs = [run for run in batch.runs if run.number == number and not run.lost]
            if [run.state for run in runs] != [TaskState.ANSWERED]:
                found.append(f"task {number} has {runs}")
            for run in runs:
                _, steps = opened.runs.load(run.run)
                if [step.index for step in steps] != list(range(len(steps))):
                    found.append(f"{run.run} has the steps {[step.index for step in steps]}")
        if stray := opened.runs.ids() - {run.run for run in batch.runs}:
            found.append(f"runs of no task: {stray}")
    return found


def test_ctrl_c_pauses_the_batch_and_another_process_goes_on_with_it(tmp_path: Path, shop: DemoServer):
    place, tasks = tmp_path / "workspace", task_file(tmp_path, shop, 4)
    options = ("--at-once", "2", "--kb", "none", "--policy", "scout")
    with Terminal(place, "start", tasks, *options) as terminal:
        until(is_so(place, lambda batch: any(run.steps for run in batch.runs)), terminal)
        terminal.press_ctrl_c()
        code = terminal.ended()
    assert code == 1, terminal.said
    assert "pausing (Ctrl+C again: at once)" in terminal.said
    assert "paused by" in terminal.said
    assert "go on: sitelore live batch resume batch-" in terminal.said
    assert "Traceback" not in terminal.said
    batch = stored(place)
    assert batch is not None
    assert batch.status.state is BatchState.PAUSED
    with Workspace.open(place) as opened:
        done = [one.action for run in batch.runs for one in opened.supervision.interventions(run.run)]
    assert OperatorAction.MENDED not in done, "Ctrl+C took no browser from a run"
    assert len(batch.runs) < 4 or any(run.state is TaskState.ACTIVE for run in batch.runs)

    with Terminal(place, "resume", "kitchens") as terminal:
        assert terminal.ended() == 0, terminal.said
    assert "4 of 4, 100 % answered" in terminal.said
    assert faults(place, 4) == []


def test_a_second_ctrl_c_ends_it_at_once_and_nothing_is_lost(tmp_path: Path, shop: DemoServer):
    place, tasks = tmp_path / "workspace", task_file(tmp_path, shop, 2)
    with Terminal(place, "start", tasks, "--at-once", "2", "--kb", "none", "--policy", "scout") as terminal:
        until(is_so(place, lambda batch: len(batch.runs) == 2), terminal)
        terminal.press_ctrl_c()
        until(lambda: "pausing" in terminal.said, terminal)
        terminal.press_ctrl_c()
        # It may have paused everything meanwhile: then the signal meets an interpreter that is already gone.
        assert terminal.ended() in (1, -signal.SIGINT), terminal.said
    assert "Traceback" not in terminal.said, terminal.said
    with Terminal(place, "resume", "kitchens") as terminal:
        assert terminal.ended() == 0, terminal.said
    assert faults(place, 2) == []


def test_a_second_terminal_commands_the_batch_of_the_first(tmp_path: Path, shop: DemoServer):
    place, tasks = tmp_path / "workspace", task_file(tmp_path, shop, 40)
    second = Sitelore(place)

    def row() -> dict[str, object]:
        (found,) = second("live", "batch", "list")
        return found

    with Terminal(place, "start", tasks, "--at-once", "1", "--kb", "none", "--policy", "scout") as first:
        until(is_so(place, lambda batch: bool(batch.runs)), first)
        assert _plain(place, "pause", "kitchens") == (0, "")
        assert row()["state"] == "paused"
        assert _plain(place, "dismiss", "kitchens") == (1, "sitelore: the batch is paused; stop it first\n")
        assert second("live", "batch", "limits", "kitchens", "--at-once", "2", code=1)["at_once"] == 2
        assert second("live", "batch", "resume", "kitchens")["state"] == "active"
        assert _plain(place, "stop", "kitchens") == (0, "")
        assert first.ended() == 1, first.said
    assert "(paused)" in first.said
    assert "(stopped)" in first.said
    assert _plain(place, "pause", "kitchens") == (1, "sitelore: the batch is stopped; it starts nothing\n")
    found = row()
    assert (found["state"], found["active"]) == ("stopped", 0)
    assert found["waiting"], "none of them was started after it"
    with Terminal(place, "retry", "kitchens") as here:
        here.ended()
    again = row()
    assert (again["state"], again["stopped"], again["waiting"]) == ("stopped", 0, found["waiting"])


def _plain(place: Path, *arguments: str) -> tuple[int, str]:
    """Exit code and standard error of ``live batch`` in a process of its own."""
    command = [sys.executable, "-m", "app", "--workspace", str(place), "live", "batch", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=WAIT, check=False, cwd=CHECKOUT)
    return done.returncode, done.stderr


def test_a_budget_of_money_runs_out_is_refused_to_a_second_terminal_and_raised_there(
    tmp_path: Path, shop: DemoServer
):
    place, tasks = tmp_path / "workspace", task_file(tmp_path, shop, 3)
    with ProtocolServer(brain=count_the_kitchen) as endpoint:
        model = {
            "SITELORE_MODEL_URL": endpoint.url,
            "SITELORE_MODEL_NAME": "scripted",
            "SITELORE_MODEL_PRICE": "10/10",
            "OPENAI_API_KEY": "sk-test",
        }
        options = ("--policy", "llm", "--judge", "off", "--kb", "none", "--at-once", "1")
        with Terminal(place, "start", tasks, *options, "--max-money", "0.15", **model) as first:
            spent = is_so(place, lambda batch: batch.status.state is BatchState.OUT_OF_BUDGET)
            until(spent, first)
            asked = len(endpoint.asked)
            refused = subprocess.run(
                [sys.executable, "-m", "app", "--workspace", str(place), "live", "batch", "resume", "kitchens"],
                capture_output=True, text=True, timeout=WAIT, check=False, cwd=CHECKOUT, env={**os.environ, **model},
            )  # fmt: skip
            assert (refused.returncode, asked) == (1, len(endpoint.asked)), refused.stderr
            assert "raise the budget" in refused.stderr
            raised = Sitelore(place, **model)("live", "batch", "limits", "kitchens", "--max-money", "20")
            assert (raised["max_money"], raised["state"]) == (20.0, "active")
            assert first.ended() == 0, first.said
    assert "(out of budget)" in first.said
    assert "sitelore live batch limits batch-" in first.said
    assert "$" in first.said
    assert faults(place, 3) == []


async def test_an_open_window_follows_and_pauses_the_batch_of_a_terminal(tmp_path: Path, shop: DemoServer):
    place, tasks = tmp_path / "workspace", task_file(tmp_path, shop, 3)
    client, rows = EngineClient(), list[BatchRow]()
    client.batch_changed.connect(lambda event: rows.append(event.row))

    async def told(state: BatchState) -> BatchRow:
        async with asyncio.timeout(WAIT):
            while not rows or rows[-1].state is not state:
                await asyncio.sleep(0.05)
        return rows[-1]

    await client.spawn(place)
    try:
        with Terminal(place, "start", tasks, "--at-once", "1", "--kb", "none", "--policy", "scout") as first:
            active = await told(BatchState.ACTIVE)
            assert (active.name, active.total) == ("kitchens", 3)
            await client.api.pause_batch(active.id)
            await told(BatchState.PAUSED)
            assert [row.state for row in await client.api.batches()] == [BatchState.PAUSED]
            await client.api.resume_batch(active.id)
            assert (await told(BatchState.ENDED)).answered == 3
            assert await asyncio.to_thread(first.ended) == 0, first.said
    finally:
        await client.aclose()
