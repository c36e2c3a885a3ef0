"""Kill a process with a batch of supervised runs, over and over: no task is lost, none is done twice."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from app.engine.core.batch import BatchState, TaskState
from app.engine.store.workspace import Workspace

STEPS = 6
"""Steps of each run before its answer."""


def main(workspace: str, url: str, count: str) -> None:
    """Start a batch, or go on with the one that is there; end with it, or be killed."""
    from app.engine.core.actions.types import Click, Stop
    from app.engine.core.observation import AgentDecision, Observation
    from app.engine.services import agent_runs
    from app.engine.services.policy_factory import PolicyBundle

    class Walker:
        name = "walker"

        async def decide(self, sight: Observation) -> AgentDecision:
            await asyncio.sleep(0.2)
            if sight.step >= STEPS:
                return AgentDecision(action=Stop("walked"))
            links = [one.index for one in sight.page.elements if one.role == "link" and one.href]
            return AgentDecision(action=Click(links[sight.step % len(links)]))

        async def aclose(self) -> None:
            return None

    agent_runs.make_policy_bundle = lambda *_: PolicyBundle(Walker())  # type: ignore[assignment]
    asyncio.run(_going(Path(workspace), url, int(count)))


async def _going(workspace: Path, url: str, count: int) -> None:
    from app.engine.api.batch_api import BatchRequest
    from app.engine.api.run_api import RunRequest
    from app.engine.engine import Engine

    engine = await Engine.open(workspace, "ana")
    await engine.recover(automatically=True)
    if not await engine.batches():
        request = RunRequest(intent="Walk", start_url=url, max_steps=STEPS + 4, kb="none", domains=("*",))
        await engine.start_batch(BatchRequest(name="Walks", tasks=(request,) * count, at_once=2))
    os.write(1, b"up\n")
    while (await engine.batch("Walks")).row.state is not BatchState.ENDED:
        await asyncio.sleep(0.1)
    await engine.aclose()


@dataclass
class KilledBatch:
    """Result: kills, how many tasks had ended at each, and what was wrong."""

    kills: int = 0
    ended: list[int] = field(default_factory=list[int])
    faults: list[str] = field(default_factory=list[str])


def kill_batch(workspace: Path, url: str, *, tasks: int, kills: int, seed: int = 1) -> KilledBatch:
    """Kill the process of a batch so many times at random moments, then let it end; check it after each."""
    dice, found, ended = random.Random(seed), KilledBatch(), dict[int, str]()
    while True:
        process = _start(workspace, url, tasks)
        try:
            assert process.stdout is not None
            process.stdout.readline()
            if found.kills == kills:
                process.wait(timeout=300)
                break
            time.sleep(dice.uniform(0.3, 6.0))
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)
            process.wait()
            if process.stdout is not None:
                process.stdout.close()
        found.kills += 1
        _check(workspace, tasks, ended, found)
        if len(ended) == tasks:
            break
    _check(workspace, tasks, ended, found)
    if len(ended) != tasks:
        found.faults.append(f"{len(ended)} of {tasks} tasks have ended")
    return found


def _check(workspace: Path, tasks: int, ended: dict[int, str], found: KilledBatch) -> None:
    with Workspace.open(workspace) as opened:
        (id,) = opened.batches.ids()
        batch = opened.batches.batch_of(id)
        if len(batch.tasks) != tasks:
            found.faults.append(f"{len(batch.tasks)} of {tasks} tasks are there")
        for number in batch.tasks:
            runs = [run for run in batch.runs if run.number == number and opened.runs.has(run.run)]
            if len(runs) > 1:
                found.faults.append(f"task {number} was begun {len(runs)} times")
            if number in ended and (not runs or runs[-1].run != ended[number]):
                found.faults.append(f"task {number} had ended and was started again")
            for run in runs:
                _, steps = opened.runs.load(run.run)
                numbers = [step.index for step in steps]
                if numbers != list(range(len(numbers))):
                    found.faults.append(f"{run.run}: steps {numbers}")
                if run.state is TaskState.ANSWERED:
                    ended[number] = run.run
        stray = opened.runs.ids() - {run.run for run in batch.runs}
        if stray:
            found.faults.append(f"runs of no task: {sorted(stray)}")
    found.ended.append(len(ended))


def _start(workspace: Path, url: str, tasks: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "tests.support.kill_batches", str(workspace), url, str(tasks)]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
