"""``sitelore live inbox``, ``decide --equal`` and ``share-login`` on a small made-up engine."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Sequence
from dataclasses import replace

import pytest

from app.cli import main
from app.engine.api.live_api import DecisionResult
from app.engine.core.events import LoginShared
from app.engine.core.supervision import (
    ApprovalRequest,
    LiveRow,
    Need,
    OperatorDecision,
    RequestState,
    RunState,
)

WALL = ApprovalRequest(
    id="req-1", run="r1", need=Need.WALL, step=0, question="A log-in blocks the page.", site="shop",
    wall="log-in shop.test/login", opened_at=time.time() - 7_300,
)  # fmt: skip
BUYS = replace(
    WALL, id="req-3", run="r3", need=Need.APPROVAL, question="Let it buy?", words="click button 'Buy now'", risk="buys",
    opened_at=time.time() - 9_000,
)  # fmt: skip


class FakeEngine:
    """Three runs that wait, two of them at the same log-in."""

    def __init__(self) -> None:
        self.asked = [WALL, replace(WALL, id="req-2", run="r2", opened_at=time.time() - 90), BUYS]
        self.decided: list[str] = []

    async def left_runs(self) -> list[LiveRow]:
        return []

    async def requests(self) -> list[ApprovalRequest]:
        return self.asked

    async def live_runs(self) -> list[LiveRow]:
        stale = replace(WALL, id="req-0", run="r1")  # decided since its row was stored
        return [LiveRow(run=f"r{n}", intent="", state=RunState.WAITING, needs=(stale,)) for n in (1, 2, 3)]

    async def decide_all(self, requests: Sequence[str], decision: OperatorDecision) -> list[DecisionResult]:
        self.decided = list(requests)
        known = {one.id: one for one in self.asked}
        return [
            DecisionResult(request=id, run=known[id].run)
            if id in known
            else DecisionResult(request=id, error=f"no request {id!r} in this workspace")
            for id in requests
        ]

    async def share_login(self, run: str) -> LoginShared:
        return LoginShared(site="shop", source=run, runs=("r2",), words="Logged in to shop: 1 run goes on.")


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> FakeEngine:
    made = FakeEngine()
    monkeypatch.setattr("app.log.setup", lambda level="": None)
    for module in ("live_inbox", "equal_decisions"):
        monkeypatch.setattr(f"app.cli.{module}.with_engine", lambda use: asyncio.run(use(made)))
    return made


def test_the_inbox_names_equal_requests_once_with_their_runs_site_and_age(
    engine: FakeEngine, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["live", "inbox"]) == 0
    head, *lines = capsys.readouterr().out.splitlines()
    assert head.split() == ["request", "runs", "need", "site", "age", "question"]
    assert [line.split()[:6] for line in lines] == [
        ["req-1", "2", "wall", "shop", "2", "h"],
        ["req-3", "1", "approval", "shop", "2", "h"],
    ]
    assert "click button 'Buy now'" in lines[1]
    assert main(["live", "inbox", "--order", "age", "--json"]) == 0
    first, second = json.loads(capsys.readouterr().out)
    assert (first["requests"], second["requests"]) == (["req-3"], ["req-1", "req-2"])
    assert (second["runs"], second["need"], second["site"]) == (["r1", "r2"], "wall", "shop")
    assert second["age"] > 7_000
    assert second["first"]["question"] == WALL.question


def test_one_decision_reaches_all_equal_requests_and_no_other(
    engine: FakeEngine, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["live", "decide", "req-2", "deny", "--equal"]) == 0
    assert engine.decided == ["req-2", "req-1"]
    assert capsys.readouterr().out == "req-2: deny for run r2\nreq-1: deny for run r1\n"
    assert main(["live", "decide", "req-3", "approve", "--equal"]) == 0
    assert engine.decided == ["req-3"]
    engine.asked[1] = replace(engine.asked[1], state=RequestState.DECIDED)
    assert main(["live", "decide", "req-1", "deny", "--equal"]) == 0
    assert engine.decided == ["req-1"]
    assert main(["live", "decide", "req-9", "deny", "--equal"]) == 1
    assert "no request 'req-9'" in capsys.readouterr().out


def test_a_shared_log_in_is_said_in_a_sentence(
    engine: FakeEngine, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["live", "share-login", "r1"]) == 0
    assert capsys.readouterr().out == "Logged in to shop: 1 run goes on.\n"
    assert main(["live", "share-login", "r1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["runs"] == ["r2"]
