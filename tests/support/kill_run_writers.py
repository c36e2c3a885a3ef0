"""Kill writers of a live run at random moments.

``python -m tests.support.kill_run_writers FOLDER KILLS SEED``

One process that starts once and forks the writers, so that fifty kills take seconds.  A writer says over a pipe what
has returned; after each kill the files must hold all of that and at most what was in flight, once.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import signal
import sys
import time
from dataclasses import replace
from pathlib import Path

from app.engine.agent.memory import entries
from app.engine.agent.memory.ledger_files import LEDGER_FILE
from app.engine.agent.memory.ledger_store import LedgerStore
from app.engine.core.action_result import ActionResult, Effect
from app.engine.core.ledger import Ledger
from app.engine.core.trajectory import Outcome
from app.engine.store.run_files import blob_digests
from app.engine.store.run_writer import RunWriter
from app.engine.store.workspace import Workspace
from app.errors import Conflict
from tests.support.runs import make_run, make_step

STEPS = 60
"""Steps of one run; then it is finished and another begins."""

LONGEST = 0.08
"""Seconds after which a writer is killed at the latest."""

WORKING = 0.7
"""Share of the writers that are killed while they write; the others may still be opening or taking the run."""


def page_of(number: int) -> tuple[str, bytes]:
    """A page's name and content, another one for each step."""
    content = f"RootWebArea 'Page {number}'\n".encode() * (1 + 97 * (number % 7))
    return hashlib.sha256(content).hexdigest(), content


def write(folder: Path, run: str, pipe: int) -> None:
    """Begin the run or go on with it, and write steps until killed; every return is told."""

    def tell(what: str, number: int) -> None:
        os.write(pipe, f"{what} {number}\n".encode())

    with Workspace.open(folder) as workspace:
        live = _taken(workspace, run)
        with LedgerStore.open(live.folder) as book:
            tell("begun", 0)
            for number in range(len(live.steps), STEPS):
                done = ActionResult(success=True, effect=Effect.CHANGED)
                book.write(
                    entries.fact(f"fact {number}", "x" * (number % 50)),
                    entries.outcome(number, f"click {number}", done, url=f"http://shop.example/{number}"),
                )
                tell("remembered", number)
                digest, content = page_of(number)
                live.append(make_step(number, tree=digest), {digest: content})
                tell("recorded", number)
            digest, content = page_of(STEPS)
            final = make_step(STEPS, tree=digest, executed=False)
            live.finish(replace(live.run, outcome=Outcome.ANSWERED, final=final), {digest: content})
            tell("finished", STEPS)


def _taken(workspace: Workspace, run: str) -> RunWriter:
    if not workspace.runs.has(run):
        return RunWriter.begin(workspace, make_run(run))
    return RunWriter.resume(workspace, run)


def killed_once(folder: Path, run: str, after: float, *, from_begun: bool) -> dict[str, int]:
    """Let a writer work for so many seconds, kill it, and give the last number of each thing it told of.

    ``from_begun`` counts from when it has the run, else from its birth.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        try:
            write(folder, run, writing)
        finally:
            os._exit(0)
    os.close(writing)
    first = os.read(reading, 8) if from_begun else b""
    time.sleep(after)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    with os.fdopen(reading, "rb") as pipe:
        lines = (first + pipe.read()).decode().split("\n")
    return {what: int(number) for what, _, number in (line.partition(" ") for line in lines[:-1])}


def faults_of(folder: Path, run: str, told: dict[str, int]) -> list[str]:
    """Return the problems of the files after a kill."""
    faults: list[str] = []
    with Workspace.open(folder) as workspace:
        if not workspace.runs.has(run):
            return [f"{run} is gone"] if told else []
        head, steps = workspace.runs.load(run)
        wanted = told.get("recorded", -1) + 1
        if [step.index for step in steps] != list(range(len(steps))):
            faults.append(f"steps {[step.index for step in steps]}")
        if "recorded" in told and not wanted <= len(steps) <= wanted + 1:
            faults.append(f"{wanted} steps returned, {len(steps)} are there")
        allowed = (Outcome.ANSWERED,) if "finished" in told else (Outcome.ANSWERED, Outcome.INTERRUPTED)
        if head.outcome not in allowed or head.step_count != len(steps):
            faults.append(f"{head.outcome}, {head.step_count} steps of {len(steps)}")
        for digest in blob_digests(head, steps):
            if hashlib.sha256(workspace.runs.read_blob(digest)).hexdigest() != digest:
                faults.append(f"content {digest}")
        row = workspace.index.row(run)
        if row is None or (row.steps, row.outcome) != (len(steps), head.outcome.value):
            faults.append(f"the index has {row}, the run {head.outcome}, {len(steps)} steps")
        faults += _ledger_faults(workspace.runs.folder(run), told, len(steps))
    return faults


def _ledger_faults(folder: Path, told: dict[str, int], steps: int) -> list[str]:
    kept = json.loads((folder / LEDGER_FILE).read_bytes()) if (folder / LEDGER_FILE).exists() else {}
    with LedgerStore.open(folder) as book:
        ledger: Ledger = book.ledger
        numbers = [event.step for event in book.events if event.kind == "outcome"]
    faults = [] if ledger.steps in (steps, steps + 1) else [f"the ledger has {ledger.steps} of {steps} steps"]
    if ledger.steps <= told.get("remembered", -1):
        faults.append(f"the ledger has {ledger.steps} steps, {told['remembered'] + 1} returned")
    if sorted(set(numbers)) != list(range(ledger.steps)):
        faults.append(f"outcomes {numbers}")
    if kept and kept["steps"] > ledger.steps:
        faults.append("ledger.json is ahead of its events")
    return faults


def main(folder: str, kills: str, seed: str) -> None:
    """Kill so many writers and print what was found, as JSON."""
    dice = random.Random(int(seed))
    place, faults = Path(folder), list[str]()
    with Workspace.open(place) as workspace, RunWriter.begin(workspace, make_run("first")) as live:
        workspace.runs.load(live.run.id)  # what is imported or made once, so that writers are at it sooner
    number, moments = 0, dict[str, int]()
    for _ in range(int(kills)):
        run = f"live-{number}"
        told = killed_once(place, run, dice.uniform(0.0, LONGEST), from_begun=dice.random() < WORKING)
        last = max(
            told, key=lambda what: (told[what], what == "recorded", what == "finished"), default="opening"
        )
        moments[last] = moments.get(last, 0) + 1
        faults += [f"{run}: {fault}" for fault in faults_of(place, run, told)]
        with Workspace.open(place) as workspace:
            ended = workspace.runs.has(run) and workspace.runs.load(run)[0].outcome is Outcome.ANSWERED
        number += ended
    sys.stdout.write(json.dumps({"faults": faults, "runs": number + 1, "after": moments}))


def refuses_a_second_writer(folder: Path) -> bool:
    """Whether a run that is going on can't be taken twice."""
    with Workspace.open(folder) as workspace:
        live = RunWriter.begin(workspace, make_run("taken"))
        try:
            RunWriter.resume(workspace, "taken")
        except Conflict:
            return True
        finally:
            live.close()
    return False


if __name__ == "__main__":
    main(*sys.argv[1:])
