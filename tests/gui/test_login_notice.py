"""The passing message after a run is handed back: what came of a log-in that was made in it is the one that stays."""

from __future__ import annotations

import pytest

from app.engine.core.hand_back import HandBack
from app.engine.core.supervision import RunState, TakeoverSummary
from app.models.common.engine_client import LocalClient
from app.models.live.model import LiveModel
from tests.support.live_page_window import SteppedEngine


@pytest.mark.parametrize(
    ("shares", "last"), [(True, "Logged in to shop: "), (False, "clicked link 'Orders'")]
)
def test_the_sentence_on_a_shared_log_in_stays(qtbot, tasks, monkeypatch, shares: bool, last: str) -> None:
    engine = SteppedEngine()
    model = LiveModel(LocalClient(engine, engine.bus), tasks)
    said: list[str] = []
    model.notice.connect(said.append)
    release = engine.release

    async def released(run: str, back: HandBack) -> TakeoverSummary:
        if shares:
            engine.hand_on_login(run)
        return await release(run, back)

    monkeypatch.setattr(engine, "release", released)
    model.start()
    qtbot.waitUntil(lambda: model.is_loaded)
    run = next(row.run for row in model.list.rows if row.state is RunState.RUNNING)
    other = next(row.run for row in model.list.rows if row.run != run)
    model.open(run)
    qtbot.waitUntil(lambda: model.run == run)
    model.take_over()
    qtbot.waitUntil(lambda: engine.rows[run].state is RunState.TAKEN_OVER)
    model.release()
    model.open(other)
    qtbot.waitUntil(lambda: engine.rows[run].state is RunState.RUNNING)
    qtbot.wait(200)  # for a message that would come after
    assert said[-1].startswith(last)
