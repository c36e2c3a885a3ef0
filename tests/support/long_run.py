"""A run of many steps in a process of its own, to be killed and gone on with: ``python -m tests.support.long_run``.

What decides is a script that clicks the first link it sees, over and over; everything else is the real thing.
"""

from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import orjson

STEPS = 30


def main(workspace: str, url: str, run: str = "") -> None:
    """Begin the run, or go on with it; prints its id as soon as it is known."""
    from app.engine.api.run_api import RunRequest
    from app.engine.core.actions.types import Click, Stop, TakeNote
    from app.engine.core.observation import AgentDecision, Observation
    from app.engine.engine import Engine
    from app.engine.services import agent_runs
    from app.engine.services.policy_factory import PolicyBundle

    class Walker:
        name = "walker"

        async def decide(self, sight: Observation) -> AgentDecision:
            if sight.step + 1 >= STEPS:
                return AgentDecision(action=Stop(f"{sight.ledger.steps} steps remembered"))
            links = [
                element.index for element in sight.page.elements if element.role == "link" and element.href
            ]
            if sight.step % 3 == 2 or not links:
                return AgentDecision(action=TakeNote(f"step {sight.step}"))
            return AgentDecision(action=Click(links[sight.step % len(links)]))

        async def aclose(self) -> None:
            return None

    def make_head(*_: object) -> PolicyBundle:
        return PolicyBundle(Walker())

    agent_runs.make_policy_bundle = make_head  # type: ignore[assignment]

    async def going() -> None:
        engine = await Engine.open(Path(workspace))
        try:
            if run:
                await engine.resume_run(run)
            else:
                request = RunRequest(intent="Walk", start_url=url, max_steps=STEPS, kb="none", domains=("*",))
                await engine.run_task(request)
        finally:
            await engine.aclose()

    asyncio.run(going())


@dataclass
class Kills:
    """Result of a run that was killed repeatedly: kills, those that hit it running, and problems."""

    kills: int = 0
    running: int = 0
    faults: list[str] | None = None
    steps: int = 0
    outcome: str = ""
    answer: str = ""


def survive(workspace: Path, url: str, kills: int, seed: int = 1, longest: float = 6.0) -> Kills:
    """Kill a run that many times, each after a random while, looking at its files after each; then let it end.

    ``longest`` is the longest while in seconds; runs that end meanwhile are followed by new ones.
    """
    dice = random.Random(seed)
    found = Kills(faults=[])
    run, known = "", 0
    while found.kills < kills:
        process = _start(workspace, url, run)
        deadline = time.monotonic() + dice.uniform(0.3, longest)
        while time.monotonic() < deadline and process.poll() is None:
            time.sleep(0.01)
        if process.poll() is None:
            _kill(process)
            found.kills += 1
        run = run or _newest(workspace)
        steps = _check(workspace, run, known, found)
        found.running += steps > known
        known = steps
        if _outcome(workspace, run) == "answered":
            run, known = "", 0
    last = _start(workspace, url, run)
    last.wait(240)
    run = run or _newest(workspace)
    found.steps = _check(workspace, run, known, found)
    head = orjson.loads((workspace / "runs" / run / "run.json").read_bytes())
    found.outcome, found.answer = head["outcome"], head["answer"]
    return found


def _start(workspace: Path, url: str, run: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "tests.support.long_run", str(workspace), url, *([run] if run else [])]
    return subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )


def _kill(process: subprocess.Popen[bytes]) -> None:
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _newest(workspace: Path) -> str:
    runs = sorted(path.name for path in (workspace / "runs").glob("[!.]*") if path.is_dir())
    unfinished = [run for run in runs if _outcome(workspace, run) != "answered"]
    return unfinished[-1] if unfinished else (runs[-1] if runs else "")


def _outcome(workspace: Path, run: str) -> str:
    path = workspace / "runs" / run / "run.json"
    return orjson.loads(path.read_bytes())["outcome"] if run and path.exists() else ""


def _check(workspace: Path, run: str, known: int, found: Kills) -> int:
    """Steps on the disk: numbered without gap or double, none that was there is missing, each with its contents."""
    assert found.faults is not None
    path = workspace / "runs" / run / "steps.jsonl"
    if not run or not path.exists():
        return known
    whole = path.read_bytes().rpartition(b"\n")[0]
    numbers = [orjson.loads(line)["index"] for line in whole.splitlines()]
    if numbers != list(range(len(numbers))):
        found.faults.append(f"{run}: steps {numbers}")
    if len(numbers) < known:
        found.faults.append(f"{run}: {known} steps were there, {len(numbers)} are")
    return len(numbers)


if __name__ == "__main__":
    main(*sys.argv[1:])
