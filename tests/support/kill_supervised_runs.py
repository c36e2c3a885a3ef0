"""Supervised runs in a process of their own, killed over and over: ``python -m tests.support.kill_supervised_runs``.

What decides is a script that walks, notes and asks; a person in the same process answers and sends hints, and says over
a pipe what has been acknowledged.  After each kill all of that must be on the disk.
"""

from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from app.engine.core.supervision import RequestState, RunState
from app.engine.store.workspace import Workspace

STEPS = 400
"""More than a run gets to before the last kill."""
QUESTION = 5
"""Every so many steps the agent asks."""
AGAIN = 15.0
"""Seconds within which every run is gone on with."""


# ------------------------------------------------------------------------------------------------ the victim


def main(workspace: str, url: str, count: str) -> None:
    """Begin so many runs, or go on with those that are there; until killed."""
    from app.engine.core.actions.types import AskHuman, Click, TakeNote
    from app.engine.core.observation import AgentDecision, Observation
    from app.engine.services import agent_runs
    from app.engine.services.policy_factory import PolicyBundle

    class Walker:
        name = "walker"

        async def decide(self, sight: Observation) -> AgentDecision:
            await asyncio.sleep(0.05)
            if sight.step % QUESTION == QUESTION - 1:
                return AgentDecision(action=AskHuman(f"Shall I go on after step {sight.step}?"))
            links = [one.index for one in sight.page.elements if one.role == "link" and one.href]
            if sight.step % 3 == 2 or not links:
                return AgentDecision(action=TakeNote(f"step {sight.step}"))
            return AgentDecision(action=Click(links[sight.step % len(links)]))

        async def aclose(self) -> None:
            return None

    def make_head(*_: object) -> PolicyBundle:
        return PolicyBundle(Walker())

    agent_runs.make_policy_bundle = make_head  # type: ignore[assignment]
    asyncio.run(_going(Path(workspace), url, int(count)))


async def _going(workspace: Path, url: str, count: int) -> None:
    from app.engine.api.run_api import RunRequest
    from app.engine.engine import Engine

    began = time.monotonic()
    engine = await Engine.open(workspace, "ana")
    rows = await engine.recover(automatically=True)
    _tell("up", f"{len(rows)}")
    if not rows:
        request = RunRequest(intent="Walk", start_url=url, max_steps=STEPS, kb="none", domains=("*",))
        await engine.start_runs([request] * count, at_once=count)
    dice, back = random.Random(os.getpid()), set[str]()
    before = {row.run: row.step for row in rows}
    while True:
        for row in await engine.live_runs():
            going = row.state in (RunState.RUNNING, RunState.WAITING)
            if going and row.run not in back and (row.needs or row.step > before.get(row.run, 0)):
                back.add(row.run)
                _tell("back", f"{row.run} {time.monotonic() - began:.2f}")
            for need in row.needs:
                _tell("asked", need.id)
                await _answer(engine, need.id, dice)
            if dice.random() < 0.05 and going:
                hint = await engine.send_hint(row.run, f"hint {dice.random()}")
                _tell("hinted", hint.id)
        await asyncio.sleep(0.1)


async def _answer(engine: object, request: str, dice: random.Random) -> None:
    from app.engine.core.supervision import DecisionKind, OperatorDecision
    from app.errors import SiteloreError

    if dice.random() < 0.6:
        try:
            await engine.decide(request, OperatorDecision(kind=DecisionKind.ANSWER, text="yes"))  # type: ignore[attr-defined]
        except SiteloreError:
            return  # it was closed meanwhile
        _tell("decided", request)


def _tell(what: str, about: str) -> None:
    os.write(1, f"{what} {about}\n".encode())


# ------------------------------------------------------------------------------------------------ the murderer


@dataclass
class Killed:
    """Result: kills, acknowledged rows, seconds from each start until every run was resumed."""

    kills: int = 0
    told: dict[str, set[str]] = field(
        default_factory=lambda: {what: set[str]() for what in ("asked", "decided", "hinted")}
    )
    back: list[float] = field(default_factory=list[float])
    steps: dict[str, int] = field(default_factory=dict[str, int])
    faults: list[str] = field(default_factory=list[str])


def kill_over_and_over(workspace: Path, url: str, *, runs: int, kills: int, seed: int = 1) -> Killed:
    """Kill the process that has so many runs, each time at a random moment after all of them went on."""
    dice, found = random.Random(seed), Killed()
    while found.kills < kills:
        process = _start(workspace, url, runs)
        try:
            _live(process, runs, dice, found)
        finally:
            _kill(process)
        found.kills += 1
        _check(workspace, runs, found)
    return found


def _live(process: subprocess.Popen[bytes], runs: int, dice: random.Random, found: Killed) -> None:
    """Hear what is told until all runs are back, and a random while longer (or until early death)."""
    early = dice.random() < 0.25
    end = [time.monotonic() + (dice.uniform(0.5, 4.0) if early else 120.0)]
    back = 0
    for what, about in _lines(process, end):
        if what == "back":
            back += 1
            if back == runs and not early:
                found.back.append(float(about.split()[1]))
                end[0] = time.monotonic() + dice.uniform(0.2, 5.0)
        elif what in found.told:
            found.told[what].add(about)
    if not early and back < runs:
        found.faults.append(f"only {back} of {runs} runs went on")


def _lines(process: subprocess.Popen[bytes], end: list[float]) -> Iterator[tuple[str, str]]:
    """Return the output of the process until it ends, or until ``end``, which may be postponed meanwhile."""
    assert process.stdout is not None
    pipe = process.stdout.fileno()
    os.set_blocking(pipe, False)
    rest = b""
    while time.monotonic() < end[0]:
        try:
            piece = os.read(pipe, 65536)
        except BlockingIOError:
            time.sleep(0.01)
            continue
        if not piece:
            return
        *lines, rest = (rest + piece).split(b"\n")
        for line in lines:
            what, _, about = line.decode().partition(" ")
            yield what, about


def _check(workspace: Path, runs: int, found: Killed) -> None:
    """Everything that was acknowledged is there; no step is lost, doubled or left out."""
    with Workspace.open(workspace) as opened:
        desk = opened.supervision
        requests = {one.id: one for one in desk.requests(closed=True)}
        hints = {one.id for one in desk.hints()}
        for name in found.told["asked"] - set(requests):
            found.faults.append(f"request {name} is lost")
        for name in found.told["hinted"] - hints:
            found.faults.append(f"hint {name} is lost")
        for name in found.told["decided"] & set(requests):
            if requests[name].decision is None or requests[name].state is RequestState.OPEN:
                found.faults.append(f"the decision about {name} is lost")
        ids = opened.runs.ids()
        if len(ids) > runs:
            found.faults.append(f"{len(ids)} runs are there")
        for run in ids:
            _, steps = opened.runs.load(run)
            numbers = [step.index for step in steps]
            if numbers != list(range(len(numbers))):
                found.faults.append(f"{run}: steps {numbers}")
            if len(numbers) < found.steps.get(run, 0):
                found.faults.append(f"{run}: {found.steps[run]} steps were there, {len(numbers)} are")
            found.steps[run] = len(numbers)


def _start(workspace: Path, url: str, runs: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "tests.support.kill_supervised_runs", str(workspace), url, str(runs)]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True
    )


def _kill(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        process.send_signal(signal.SIGKILL)  # the engine alone: what it leaves behind has to end by itself
    process.wait()
    if process.stdout is not None:
        process.stdout.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
