"""Kill writers of the supervision store at random moments.

``python -m tests.support.kill_supervision_writers FOLDER KILLS``

A writer says over a pipe which rows have been acknowledged; after each kill every one of them must be there.
"""

from __future__ import annotations

import itertools
import json
import os
import random
import signal
import sys
import time
from pathlib import Path

from app.engine.core.intervention_policy import PolicyAnswer, RiskClass
from app.engine.core.supervision import (
    ApprovalRequest,
    ApprovalScope,
    DecisionKind,
    FlagReaction,
    Hint,
    Intervention,
    Need,
    OperatorAction,
    OperatorDecision,
    RequestState,
)
from app.engine.store.workspace import Workspace
from app.errors import Conflict

LONGEST = 0.12
"""Seconds after which a writer is killed at the latest."""

RACES = 20


def ask(name: str, run: str = "run") -> ApprovalRequest:
    """An action that needs an approval."""
    return ApprovalRequest(
        id=name, run=run, need=Need.APPROVAL, step=1, question="May it be bought?", site=name,
        risk=RiskClass.BUYS.value,
    )  # fmt: skip


def write(folder: Path, life: int, pipe: int) -> None:
    """Ask, decide, hint and note until killed; what has returned is told."""
    with Workspace.open(folder) as workspace:
        desk = workspace.supervision
        for number in itertools.count():
            name = f"{life}-{number}"

            def tell(what: str, name: str = name) -> None:
                os.write(pipe, f"{what} {name}\n".encode())

            desk.open_request(ask(name))
            tell("asked")
            desk.decide(name, OperatorDecision(kind=DecisionKind.APPROVE, scope=ApprovalScope.SITE))
            tell("decided")
            desk.add_hint(Hint(id=name, run="run", step=1, text=name))
            tell("hinted")
            desk.add_action(Intervention(run="run", step=1, action=OperatorAction.PAUSED, about=name))
            tell("noted")
            desk.add_reaction(FlagReaction(run=name, step=1, detector="d", right=True))
            tell("reacted")
            desk.close_requests([name], 5.0)
            tell("closed")
            desk.take_hints("run", 5.0)
            tell("taken")


def killed_once(folder: Path, life: int, after: float) -> list[tuple[str, str]]:
    """Let a writer begin, work for so many seconds and die; what it had told."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        try:
            write(folder, life, writing)
        finally:
            os._exit(0)
    os.close(writing)
    first = os.read(reading, 1)
    time.sleep(after)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    with os.fdopen(reading, "rb") as pipe:
        lines = (first + pipe.read()).decode().split("\n")
    return [(line.partition(" ")[0], line.partition(" ")[2]) for line in lines[:-1]]


def faults_of(folder: Path, told: list[tuple[str, str]]) -> list[str]:
    """Acknowledged rows that are not there, and decisions whose reach was lost."""
    with Workspace.open(folder) as workspace:
        desk = workspace.supervision
        requests = {one.id: one for one in desk.requests(closed=True)}
        hints = {one.id: one for one in desk.hints()}
        there = {
            "asked": set(requests),
            "decided": {id for id, one in requests.items() if one.decision is not None},
            "closed": {id for id, one in requests.items() if one.state is RequestState.CLOSED},
            "hinted": set(hints),
            "taken": {id for id, one in hints.items() if one.taken_at},
            "noted": {one.about for one in desk.interventions("run")},
            "reacted": {one.run for one in desk.reactions()},
        }
        faults = [f"{what} {name}" for what, name in told if name not in there[what]]
        policy = desk.policy()
        faults += [
            f"rule of {id}"
            for id in there["decided"]
            if policy.answer(id, RiskClass.BUYS) is not PolicyAnswer.ALLOW
        ]
    return faults


def race(folder: Path) -> list[str]:
    """Two processes decide the same requests; who said that it was the one, by request: it must be one of them."""
    with Workspace.open(folder) as workspace:
        for number in range(RACES):
            workspace.supervision.open_request(ask(f"race-{number}"))
    reading, writing = os.pipe()
    children = [_racer(folder, author, writing) for author in ("ana", "ben")]
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        won = [line.split(" ") for line in pipe.read().decode().splitlines()]
    for child in children:
        os.waitpid(child, 0)
    with Workspace.open(folder) as workspace:
        stored = [workspace.supervision.request(f"race-{number}") for number in range(RACES)]
    kept = {(one.id, one.decision.author) for one in stored if one.decision is not None}
    said = [(name, author) for author, name in won]
    return [] if sorted(said) == sorted(kept) and len(said) == RACES else [f"{said} but {kept}"]


def _racer(folder: Path, author: str, pipe: int) -> int:
    child = os.fork()
    if child:
        return child
    try:
        with Workspace.open(folder) as workspace:
            for number in range(RACES):
                try:
                    workspace.supervision.decide(
                        f"race-{number}", OperatorDecision(kind=DecisionKind.APPROVE, author=author)
                    )
                except Conflict:
                    continue
                os.write(pipe, f"{author} race-{number}\n".encode())
    finally:
        os._exit(0)


def main(folder: str, kills: str) -> None:
    """Kill so many writers and print what was found, as JSON."""
    dice, place = random.Random(11), Path(folder)
    told: list[tuple[str, str]] = []
    faults: list[str] = []
    with Workspace.open(place):
        pass  # made, and what is imported once, so that writers are at it sooner
    for life in range(int(kills)):
        told += killed_once(place, life, dice.uniform(0.0, LONGEST))
        faults += faults_of(place, told)
    faults += race(place)
    sys.stdout.write(json.dumps({"faults": faults, "acknowledged": len(told)}))


if __name__ == "__main__":
    main(*sys.argv[1:])
