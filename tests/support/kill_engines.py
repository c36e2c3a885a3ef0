"""A workbench's engine with many supervised runs, killed again and again: ``kills`` does it and counts what is missing.

The child (``python -m tests.support.kill_engines FOLDER SHOP RUNS``) keeps so many runs going on a shop, asks for an
approval before each basket is filled, decides, and says things to runs; it tells over its output what has returned.
It is killed with its browsers, at a random moment, and started again; it takes up what it left.
"""

from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from app.engine.api.run_api import RunRequest
from app.engine.core.events import Event, HintChanged, RequestChanged, RunAdvanced
from app.engine.core.intervention_policy import RiskClass
from app.engine.core.supervision import DecisionKind, OperatorDecision, RequestState, RunState
from app.engine.engine import Engine
from app.engine.store.workspace import Workspace
from app.errors import SiteloreError
from tests.support.operator_driver import asking

TASK = "Put the Oak Tray into the basket"
CHECKOUT = Path(__file__).parents[2]
ASKS = asking(RiskClass.SENDS)


def tell(*words: object) -> None:
    """One line of what has returned."""
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


def on_event(event: Event) -> None:
    """Rows that the engine has acknowledged."""
    match event:
        case RequestChanged(request=request) if request.state is RequestState.OPEN:
            tell("asked", request.id)
        case HintChanged(hint=hint) if not hint.taken_at:
            tell("hint", hint.id)
        case RunAdvanced(run=run, step=step, words=words) if words:
            tell("step", run, step)
        case _:
            pass


async def child(folder: Path, shop: str, runs: int) -> None:
    """Keep the wall full until killed."""
    engine = await Engine.open(folder)
    engine.bus.subscribe(on_event)
    await engine.save_intervention_policy(ASKS)
    left = await engine.recover(automatically=True)
    tell("up", len(left))
    chance = random.Random()
    while True:
        rows = await engine.live_runs()
        missing = runs - sum(row.state is not RunState.ENDED for row in rows)
        if missing > 0:
            task = RunRequest(intent=TASK, start_url=shop, kb="none", max_steps=8)
            await engine.start_runs([task] * missing, at_once=runs)
        for row in rows:
            with suppress(SiteloreError):  # the run may be over by now
                await _decide(engine, row, chance)
        await asyncio.sleep(0.1)


async def _decide(engine: Engine, row, chance: random.Random) -> None:
    for need in row.needs:
        if chance.random() < 0.2:
            verb = DecisionKind.APPROVE if chance.random() < 0.7 else DecisionKind.DENY
            await engine.decide(need.id, OperatorDecision(kind=verb))
            tell("decided", need.id, verb.value)
    if row.state.alive and chance.random() < 0.05:
        await engine.send_hint(row.run, f"There is one size only. {chance.random()}")
    if row.state is RunState.INTERRUPTED and not row.needs and chance.random() < 0.3:
        await engine.continue_run(row.run)


@dataclass
class Tally:
    """Acknowledged rows of all engines, and those missing or doubled at the end."""

    told: dict[str, dict[str, str]] = field(default_factory=lambda: {"asked": {}, "hint": {}, "decided": {}})
    steps: dict[str, int] = field(default_factory=dict[str, int])
    lives: list[float] = field(default_factory=list[float])
    """Seconds until each life had found what the one before had left."""
    left: list[int] = field(default_factory=list[int])
    faults: list[str] = field(default_factory=list[str])

    @property
    def counts(self) -> dict[str, int]:
        """How many of each."""
        return {**{what: len(known) for what, known in self.told.items()}, "step": sum(self.steps.values())}

    def hear(self, line: str) -> None:
        """One line of a child."""
        what, *rest = line.split()
        if what == "step":
            run, step = rest
            self.steps[run] = max(self.steps.get(run, 0), int(step) + 1)
        elif what in self.told:
            self.told[what][rest[0]] = rest[-1]


def kills(
    folder: Path, shop: str, *, runs: int, times: int, seconds: tuple[float, float], seed: int
) -> Tally:
    """Let the wall live for a random while, kill it, and so on; then see what is there."""
    tally, chance = Tally(), random.Random(seed)
    for _ in range(times):
        _one_life(folder, shop, runs, chance.uniform(*seconds), tally)
    _compare(folder, tally)
    return tally


def _one_life(folder: Path, shop: str, runs: int, seconds: float, tally: Tally) -> None:
    began = time.monotonic()
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.support.kill_engines", str(folder), shop, str(runs)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=CHECKOUT,
        start_new_session=True,
    )
    assert process.stdout is not None
    first = process.stdout.readline()
    if not first.startswith("up"):
        process.kill()
        raise AssertionError(f"the wall did not come up: {first}")
    tally.lives.append(time.monotonic() - began)
    tally.left.append(int(first.split()[1]))
    killer = _ProcessKiller(process, seconds)
    killer.start()
    for line in process.stdout:
        if line.endswith("\n"):  # the last one may have been cut off
            tally.hear(line)
    process.wait()


class _ProcessKiller:
    """Kills a process with everything it started, after a while."""

    def __init__(self, process: subprocess.Popen[str], seconds: float) -> None:
        self._process, self._seconds = process, seconds

    def start(self) -> None:
        """In the background."""
        import threading

        threading.Timer(self._seconds, self._kill).start()

    def _kill(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)


def _compare(folder: Path, tally: Tally) -> None:
    """Everything that was told has to be there, once, and whole."""
    with Workspace.open(folder) as workspace:
        requests = {one.id: one for one in workspace.supervision.requests(closed=True)}
        hints = {one.id for one in workspace.supervision.hints()}
        for request in tally.told["asked"]:
            if request not in requests:
                tally.faults.append(f"request {request} is missing")
        for request, verb in tally.told["decided"].items():
            found = requests.get(request)
            if found is None or found.decision is None or found.decision.kind.value != verb:
                tally.faults.append(f"the decision on {request} is missing")
        tally.faults += [f"hint {hint} is missing" for hint in tally.told["hint"] if hint not in hints]
        for run, steps in tally.steps.items():
            _, stored = workspace.runs.load(run)
            if [step.index for step in stored] != list(range(len(stored))):
                tally.faults.append(f"run {run}: steps {[step.index for step in stored]}")
            if len(stored) < steps:
                tally.faults.append(f"run {run}: {steps} steps were told, {len(stored)} are there")
        asked = Counter((one.run, one.step, one.need, one.call) for one in requests.values() if not one.void)
        for what, times in asked.items():
            if times > 1:
                tally.faults.append(f"asked {times} times: {what}")


if __name__ == "__main__":
    asyncio.run(child(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])))
