"""A new operator's session in the window, by keyboard only, in a process of its own.

``python -m tests.support.operator_session WORKSPACE REPORT`` writes observations and counts as JSON.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
import traceback
from pathlib import Path
from typing import Any

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import Qt

from app import main
from app.engine.core.supervision import Need, RunState
from app.views.frame.main_window import MainWindow
from tests.support.blocking_proxy import BlockingProxy, Door
from tests.support.demo_site_thread import demo_site
from tests.support.operator_window import CTRL, LARGE, SHIFT, WAIT, OperatorDriver

Key = Qt.Key
KITCHEN = "How many things are in the Kitchen department?"
GARDEN = "How many things are in the Garden department?"
TRAY = "Put the Oak Tray into the basket"


class OperatorSession:
    """One window, two stories; ``told`` is the report."""

    def __init__(self, hands: OperatorDriver, shop: Any, door: BlockingProxy, file: Path) -> None:
        self.hands, self.shop, self.door, self.file = hands, shop, door, file
        self.told: dict[str, Any] = {}

    # ------------------------------------------------------------ the first story

    async def three_runs(self) -> str:
        """Start three runs, one of them blocked by a captcha; return that one's id."""
        hands, model = self.hands, self.hands.model
        await hands.press(Key.Key_3, CTRL)
        await hands.until(lambda: model.is_loaded, "Live is shown")
        await hands.shoot("empty")
        await hands.press(Key.Key_N, CTRL)
        await hands.type(KITCHEN)
        await hands.press(Key.Key_Tab)
        await hands.type(self.door.address)
        await hands.shoot("form")
        await hands.press(Key.Key_Return)
        await hands.until(lambda: len(model.list.rows) == 1, "the first run is on the wall")
        walled = model.list.rows[0].run
        await hands.press(Key.Key_N, CTRL | SHIFT)
        self.file.write_text(f"{KITCHEN}\n{GARDEN}\n", encoding="utf-8")
        await hands.type(str(self.file))
        form = hands.live.tasks
        form.fields["start_url"].setFocus()
        await hands.type(self.shop.shop_url)
        await hands.until(lambda: form.form.can_start and len(form.form.list.rows) == 2, "the file is read")
        await hands.shoot("tasks")
        await hands.press(Key.Key_Return)
        await hands.until(lambda: len(model.list.rows) == 3, "three runs are on the wall")
        return walled

    async def called(self, run: str) -> None:
        """Wait for the blocked run's notification; reach its request with two keys."""
        hands, model = self.hands, self.hands.model
        await hands.until(lambda: hands.announced(run), "the walled run is announced")
        call, at = hands.announced(run)
        row = model.row_of(run)
        self.told["need"] = row.needs[0].need.value
        self.told["seconds to the call"] = round(at - row.needs[0].opened_at, 2)
        self.told["title"] = hands.window.windowTitle()
        self.told["call"] = ": ".join(hands.bench.calls.calls.words_of(call))
        await hands.shoot("wall", (LARGE,), 1.5)
        before = hands.pressed
        await hands.press(Key.Key_Period, CTRL)
        await hands.until(lambda: model.run == run and model.detail is not None, "the call leads to its run")
        await hands.shoot("request", (LARGE,), 1.5)
        await hands.press(Key.Key_O)
        await hands.until(lambda: hands.live.page.canvas.is_capturing, "the page is in the person's hands")
        self.told["keys from call to decision"] = hands.pressed - before

    async def by_hand(self, run: str) -> None:
        """Press the captcha's button by keyboard, hand back, draft a tip with one key."""
        hands, model, page = self.hands, self.hands.model, self.hands.live.page
        await hands.until(lambda: page.canvas.has_picture, "the page is seen")
        await hands.shoot("taken", wait=1.0)
        await hands.keys(Key.Key_Tab, Key.Key_Tab, Key.Key_Return)  # the captcha's frame, its button
        await hands.until(lambda: self.door.passed, "the captcha is passed")
        await hands.press(Key.Key_Escape, SHIFT)
        await hands.until(lambda: model.takeover is not None, "what was done by hand is told")
        self.told["account"] = model.takeover.words
        await hands.shoot("released")
        before = hands.pressed
        await hands.press(Key.Key_T)
        composer = hands.bench.review.composer
        await hands.until(lambda: composer.is_open and composer.is_ready, "the draft is open", 20)
        self.told["keys from release to draft"] = hands.pressed - before
        self.told["draft"], self.told["draft is new"] = composer.draft.text, not composer.kept
        await hands.shoot("composer", wait=1.0)
        await hands.press(Key.Key_Return, CTRL)
        await hands.until(lambda: not composer.is_open, "the tip is saved")

    async def reviewed(self, run: str) -> None:
        """Open the ended run in Review with the operator's steps."""
        hands, model, review = self.hands, self.hands.model, self.hands.bench.review
        await hands.until(lambda: hands.window.place == "live", "back in Live")
        await hands.until(lambda: model.row_of(run).state is RunState.ENDED, "the run ends")
        self.told["outcome"], self.told["answer"] = model.row_of(run).outcome, model.row_of(run).why
        await hands.shoot("ended", wait=1.0)
        await hands.press(Key.Key_Return, CTRL)
        await hands.until(lambda: hands.window.place == "review", "Review is shown")
        await hands.until(
            lambda: review.view is not None and review.run == run and review.interventions.rows,
            "with the time line",
        )
        self.told["deeds"] = [row.role for row in review.interventions.rows]
        await hands.shoot("review", wait=1.0)

    async def again(self, run: str) -> None:
        """Activate the tip and run the same task again."""
        hands, model, knowledge = self.hands, self.hands.model, self.hands.bench.knowledge
        await hands.press(Key.Key_4, CTRL)
        await hands.until(lambda: knowledge.current, "the tip is there")
        tip = knowledge.current
        await hands.press(Key.Key_A)
        await hands.until(lambda: knowledge.table.tip(tip).status.value == "active", "the tip is active")
        await hands.press(Key.Key_3, CTRL)
        await hands.press(Key.Key_W)
        await hands.until(lambda: model.form.is_again, "the task is there again")
        await hands.shoot("again")
        known = {row.run for row in model.list.rows}
        await hands.until(hands.live.form.fields["start_url"].hasFocus, "Enter sends it off")
        await hands.press(Key.Key_Return)
        await hands.until(lambda: {row.run for row in model.list.rows} - known, "the next run is on the wall")
        (other,) = {row.run for row in model.list.rows} - known
        await hands.until(lambda: model.row_of(other).needs, "it comes to the wall too")
        await hands.press(Key.Key_N)
        await hands.until(lambda: model.run == other and model.detail is not None, "it is large")
        tips = model.open_run.knowledge.tips
        await hands.until(lambda: tips.rows, "its knowledge is seen")
        self.told["tip is given"] = [row.tip for row in tips.rows] == [tip] and not tips.rows[0].cut
        self.told["route"] = tips.rows[0].route
        await hands.shoot("knowledge", wait=1.0)
        await self.seen()
        await hands.press(Key.Key_D)
        await hands.until(lambda: model.row_of(other).state is RunState.ENDED, "it is ended by a decision")

    # ------------------------------------------------------------ the second story

    async def approvals(self) -> None:
        """Require approval before sending; deny one request with a reason, approve a later one."""
        hands, model = self.hands, self.hands.model
        await hands.press(Key.Key_Escape)
        await self.ask_before_sending()
        await hands.press(Key.Key_N, CTRL)
        await hands.type(TRAY)
        await hands.press(Key.Key_Tab)
        await hands.press(Key.Key_A, CTRL)
        await hands.type(self.shop.shop_url)
        known = {row.run for row in model.list.rows}
        await hands.press(Key.Key_Return)
        await hands.until(lambda: {row.run for row in model.list.rows} - known, "the run is on the wall")
        (run,) = {row.run for row in model.list.rows} - known
        await hands.until(lambda: model.row_of(run).needs, "it asks")
        request = model.row_of(run).needs[0]
        self.told["asked"] = [request.need.value, request.risk]
        self.told["in the basket before"] = [str(line) for line in self.shop.state.in_baskets()]
        await hands.press(Key.Key_N)
        card = model.open_run.requests
        await hands.until(lambda: model.run == run and card.card is not None, "the card is there")
        await hands.shoot("approval", (LARGE,), 1.5)
        await self.deny("not this one")
        await hands.until(lambda: model.row_of(run).step > request.step, "the denied step is recorded")
        step = (await model.api.live_run(run)).steps[request.step]
        self.told["denied"] = [step.cause, step.error]
        self.told["in the basket after"] = [str(line) for line in self.shop.state.in_baskets()]
        row = lambda: model.row_of(run)  # noqa: E731
        await hands.until(lambda: row().needs or not row().state.alive, "it asks again, or gives up")
        self.told["asked again"] = bool(row().needs)
        end = time.monotonic() + WAIT
        while row().state.alive:
            assert time.monotonic() < end, "the approved run does not end"
            if row().needs and row().needs[0].need is Need.APPROVAL and card.card and card.card.offers:
                await hands.press(Key.Key_A)
            await asyncio.sleep(0.1)
        self.told["in the basket at last"] = [str(line) for line in self.shop.state.in_baskets()]
        self.told["end"] = [row().outcome, row().why]
        await hands.shoot("approved", wait=1.0)

    async def ask_before_sending(self) -> None:
        """Set the policy by keyboard: risk class "sends" to "ask me", then save."""
        hands = self.hands
        policy = hands.bench.calls.policy
        await hands.press(Key.Key_F)
        await hands.until(lambda: policy.is_ready and policy.table.rows, "the policy is there")
        wanted = next(
            place for place, line in enumerate(policy.table.rows) if line.risk and line.risk.value == "sends"
        )
        await hands.press(Key.Key_Home, CTRL)
        await hands.keys(*[Key.Key_Down] * wanted)
        await hands.press(Key.Key_2)
        await hands.until(lambda: policy.preview is not None, "what it would have done is said")
        self.told["preview"] = policy.preview_words
        await hands.shoot("policy", wait=1.0)
        await hands.press(Key.Key_Return, CTRL)
        await hands.until(lambda: not policy.is_changed, "the policy is in force")
        await hands.press(Key.Key_Escape)

    async def seen(self) -> None:
        """Wait out the grace period in which a decision is refused."""
        requests = self.hands.model.open_run.requests
        await self.hands.until(lambda: not requests.is_too_recent, "it was before the eyes long enough")

    async def deny(self, why: str) -> None:
        """Type a reason and deny."""
        hands, reason = self.hands, self.hands.live.needs.card.reason
        await self.seen()
        await hands.press(Key.Key_R)
        await hands.until(reason.hasFocus, "the reason can be typed")
        await hands.type(why)
        await hands.keys(Key.Key_Return, Key.Key_D)


async def played(window: MainWindow, workspace: Path, report: Path) -> None:
    """Play both stories; write the report in any case."""
    pictures = os.environ.get("SITELORE_PICTURES")
    with demo_site() as shop:
        port = int(shop.shop_url.rpartition(":")[2])
        door = BlockingProxy("127.0.0.1", port, Door(captcha="^/"))
        hands = OperatorDriver(window, Path(pictures) if pictures else None)
        day = OperatorSession(hands, shop, door, workspace.with_name("tasks.txt"))
        began = time.monotonic()
        try:
            with door:
                run = await day.three_runs()
                await day.called(run)
                await day.by_hand(run)
                await day.reviewed(run)
                await day.again(run)
                await day.approvals()
        except Exception:  # noqa: BLE001 the boundary: the report says what came of it
            day.told["broke"] = traceback.format_exc()
            await hands.shoot("broke")
        day.told["seconds"] = round(time.monotonic() - began, 1)
        report.write_text(json.dumps(day.told, indent=1), encoding="utf-8")


def run() -> int:
    """Open the window and play the session."""
    workspace, report = Path(sys.argv[1]), Path(sys.argv[2])
    app = main._application()

    async def work() -> int:
        session = main._Session(app, workspace, None, None)
        return await session.work(safe=True, show=lambda window: played(window, workspace, report))

    return main._in_loop(app, work)


if __name__ == "__main__":
    sys.exit(run())
