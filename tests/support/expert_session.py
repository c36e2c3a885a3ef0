"""An expert's session in the window, by keyboard only, in a process of its own.

``python -m tests.support.expert_session WORKSPACE REPORT`` writes observations as JSON; with ``SITELORE_PICTURES`` set
to a folder it leaves screenshots of every stage there.  The story: a run fails, a tip is written beside it, tested,
found on another page, followed step by step by the next run; then the site changes and the tip turns suspect.
"""

from __future__ import annotations

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
from app.engine.core.supervision import RunState
from app.engine.services.graph_navigation import login_path
from app.views.frame.main_window import MainWindow
from app.views.review.review_view import ReviewView
from tests.support.changing_shop import ChangingShop
from tests.support.demo_site_thread import served
from tests.support.operator_window import CTRL, LARGE, OperatorDriver

Key = Qt.Key
ALT, SHIFT = Qt.KeyboardModifier.AltModifier, Qt.KeyboardModifier.ShiftModifier
SITE = "larkspur-admin"
TASK = "Which month had the most orders?"
TEXT = 'The Reports menu opens only under the pointer: hover over "Reports", then press "Orders by month".'
PARTS = (
    "a figure for each month is wanted",
    'hover over "Reports", then press "Orders by month", then read the "Orders" column',
    "",
    "the menu listens to the pointer and not to clicks",
    "month, orders, report",
)
"""What is typed into when, do, before, why and keywords."""


class ExpertSession:
    """One window, one story; ``told`` is the report."""

    def __init__(self, driver: OperatorDriver, shop: ChangingShop) -> None:
        self.driver, self.shop = driver, shop
        self.review, self.knowledge = driver.bench.review, driver.bench.knowledge
        view = driver.window.perspective("review")
        assert isinstance(view, ReviewView)
        self.review_view = view
        self.told: dict[str, Any] = {}
        self.tip = ""
        self.host = shop.admin_url.removeprefix("http://")
        shop.sign_in(login_path(SITE))

    async def the_site_is_named(self) -> None:
        """Give the site a name and its host in the sites panel."""
        driver, sites = self.driver, self.driver.bench.sites
        await driver.press(Key.Key_S, CTRL | ALT)
        panel = driver.bench._sites_panel
        assert panel is not None
        await driver.until(lambda: panel.isVisible() and sites.list.rows is not None, "the panel is open")
        name = panel.form.fields["name"]
        while not panel.new.hasFocus() and not name.hasFocus():
            await driver.press(Key.Key_Tab)
        if panel.new.hasFocus():
            await driver.press(Key.Key_Space)
        await driver.until(name.hasFocus, "a new site can be described")
        await driver.type(SITE)
        await driver.press(Key.Key_Tab)
        await driver.type(self.host)
        await driver.press(Key.Key_Tab)
        await driver.type(f"{self.shop.admin_url}/admin")
        await driver.shoot("0-sites", wait=0.6)
        await driver.press(Key.Key_Tab)
        await driver.press(Key.Key_Return)
        await driver.until(
            lambda: any(row.site.name == SITE for row in sites.list.rows), "the site is stored"
        )
        await driver.press(Key.Key_Escape)
        await driver.until(lambda: not panel.isVisible(), "the panel is closed")

    async def a_region_is_chosen(self) -> None:
        """Choose the menu's head on the screenshot, control by control."""
        driver, region = self.driver, self.review.composer.region
        await driver.press(Key.Key_R, ALT)
        await driver.until(
            lambda: region.page is not None and region.screenshot is not None, "the page is there"
        )
        for _ in range(len(region.placed)):
            await driver.press(Key.Key_Tab)
            if region.choice is not None and region.choice.words == "Reports":
                break
        driver.window.toast.hide()
        await driver.shoot("2-region", wait=0.8)
        await driver.press(Key.Key_Return)
        await driver.until(lambda: region.anchor is not None, "the region is taken")
        self.told["region"] = region.words

    async def a_run_fails(self) -> str:
        """Start the task in Live; return the run's id when it has ended."""
        driver = self.driver
        await driver.press(Key.Key_3, CTRL)
        await driver.until(lambda: driver.model.is_loaded, "Live is shown")
        await driver.press(Key.Key_N, CTRL)
        await driver.type(TASK)
        await driver.press(Key.Key_Tab)
        await driver.type(f"{self.shop.admin_url}/admin")
        await driver.press(Key.Key_Return)
        return await self.ended(set())

    async def ended(self, known: set[str]) -> str:
        """Wait until the run that is not ``known`` has ended; return its id."""
        driver, model = self.driver, self.driver.model
        await driver.until(lambda: {row.run for row in model.list.rows} - known, "the run is on the wall")
        (run,) = {row.run for row in model.list.rows} - known
        await driver.until(lambda: model.row_of(run).state is RunState.ENDED, "the run ends")
        return run

    async def in_review(self, run: str) -> None:
        """Open the ended run of Live in Review."""
        driver, review = self.driver, self.review
        await driver.press(Key.Key_Return, CTRL)
        await driver.until(lambda: driver.window.place == "review", "Review is shown")
        await driver.until(lambda: review.view is not None and review.run == run, "with the run")

    async def a_tip_is_written(self, run: str) -> None:
        """Write a tip beside the failed run, and save it."""
        driver, composer = self.driver, self.review.composer
        row = driver.model.row_of(run)
        self.told["without the tip"] = [row.outcome, row.why]
        await self.in_review(run)
        await driver.shoot("1-failed", wait=1.0)
        await driver.press(Key.Key_T)
        await driver.until(lambda: composer.is_open and composer.is_ready, "the draft is open")
        await driver.press(Key.Key_M, ALT)  # all fields
        while not self.review_view.composer.text.hasFocus():
            await driver.press(Key.Key_Backtab, SHIFT)
        await driver.press(Key.Key_A, CTRL)
        await driver.type(TEXT)
        for text in PARTS:
            await driver.press(Key.Key_Tab)
            await driver.press(Key.Key_A, CTRL)
            await driver.press(Key.Key_Delete)
            if text:
                await driver.type(text)
        scope = self.review_view.composer.scope
        while not scope.hasFocus():
            await driver.press(Key.Key_Tab)
        await driver.press(Key.Key_A, CTRL)
        await driver.type(f"{self.host}/admin*")
        await self.a_region_is_chosen()
        steps = composer.procedure
        await driver.until(lambda: len(steps.steps.rows) == 3, "the steps are read while the tip is typed")
        self.told["steps"] = [steps.steps.words(row) for row in steps.steps.rows]
        driver.window.toast.hide()
        await driver.shoot("2-composer", (LARGE,), wait=1.0)
        await driver.press(Key.Key_Return, CTRL)
        await driver.until(lambda: not composer.is_open, "the tip is saved")

    async def it_is_open(self) -> None:
        """Open the written tip in Knowledge."""
        driver, knowledge = self.driver, self.knowledge
        await driver.press(Key.Key_4, CTRL)
        await driver.until(lambda: knowledge.current, "the tip is there")
        self.tip = knowledge.current
        await driver.until(lambda: knowledge.tests.can_test, "it can be tested")

    async def it_is_tested(self, picture: str) -> list[Any]:
        """Test the open tip in Knowledge; return the test's text and the steps' results."""
        driver, knowledge = self.driver, self.knowledge
        before = knowledge.tests.standing.tested_at
        await driver.press(Key.Key_B)
        await driver.until(lambda: knowledge.tests.is_testing, "the test has begun")
        await driver.until(lambda: not knowledge.tests.is_testing, "the test has ended")
        await driver.until(
            lambda: knowledge.tests.standing.tested_at != before, "its result is kept with the tip"
        )
        await driver.shoot(picture, (LARGE,), wait=1.0)
        steps = knowledge.editor.procedure.steps.rows
        return [knowledge.tests.test_text.partition(" · ")[0], [row.result for row in steps]]

    async def it_is_active(self) -> None:
        """Put the tip in force."""
        driver, knowledge = self.driver, self.knowledge
        await driver.press(Key.Key_A)
        await driver.until(
            lambda: knowledge.table.tip(self.tip).status.value == "active", "the tip is active"
        )

    async def found_on_another_page(self) -> None:
        """Ask the retrieval test for a page the tip was not written on."""
        driver, trying = self.driver, self.knowledge.trying
        await driver.press(Key.Key_T)
        await driver.press(Key.Key_A, CTRL)
        await driver.type(f"{self.shop.admin_url}/admin/customers")
        await driver.press(Key.Key_Tab)
        await driver.press(Key.Key_A, CTRL)
        await driver.type("In which month were the fewest orders placed?")
        await driver.until(
            lambda: any(row.tip == self.tip and not row.missed for row in trying.model.rows),
            "the tip is found",
        )
        row = next(row for row in trying.model.rows if row.tip == self.tip)
        self.told["found by"], self.told["why"] = row.route, row.why
        await driver.shoot("4-found", wait=1.0)
        await driver.press(Key.Key_Escape)

    async def the_next_run_follows_it(self) -> None:
        """Run the task again; watch the tip's steps in Live, then in Review."""
        driver, model = self.driver, self.driver.model
        known = {row.run for row in model.list.rows}
        await driver.press(Key.Key_3, CTRL)
        await driver.press(Key.Key_W)
        await driver.until(lambda: model.form.is_again, "the task is there again")
        await driver.until(driver.live.form.fields["start_url"].hasFocus, "Enter sends it off")
        await driver.press(Key.Key_Return)
        run = await self.ended(known)
        await driver.press(Key.Key_N)
        row = model.row_of(run)
        self.told["with the tip"] = [row.outcome, row.why]
        model.open(run)
        await driver.until(lambda: model.run == run and model.detail is not None, "it is large")
        await driver.shoot("5-live", (LARGE,), wait=1.5)
        await self.in_review(run)
        review, credit = self.review, list[str]()
        for step in review.detail.steps:
            review.show_step(step.index)
            due = step.exposures[0].step if step.exposures else 0
            await driver.until(
                lambda due=due: f"step {due} of" in self.credit(), "its part in the step is told"
            )
            await driver.shoot(f"6-review-{step.index}", wait=0.8)
            self.told["routes"] = step.exposures[0].routes if step.exposures else ()
            credit.append(self.credit())
        self.told["credit"] = credit

    def credit(self) -> str:
        """The tip's part in the step that Review shows."""
        return next((row.role for row in self.review.tips.model.rows if row.tip == self.tip), "")

    async def the_site_changes(self) -> None:
        """Rename the report's link; test all tips of the site."""
        driver, knowledge = self.driver, self.knowledge
        self.shop.changes = {">Orders by month<": ">Sales calendar<"}
        await self.it_is_open()
        self.told["record"] = knowledge.tests.record_text
        self.told["after the change"] = await self.it_is_tested("7-broke")
        await driver.until(
            lambda: knowledge.table.tip(self.tip).status.value == "suspect", "the tip is suspect"
        )
        self.told["status"] = knowledge.table.tip(self.tip).status.value
        self.shop.changes = {}
        self.told["after it is mended"] = await self.it_is_tested("8-mended")
        self.told["offered"] = knowledge.tests.holds_again


async def play(window: MainWindow, report: Path) -> None:
    """Play the story; write the report in any case."""
    pictures = os.environ.get("SITELORE_PICTURES")
    with served(ChangingShop) as shop:
        session = ExpertSession(OperatorDriver(window, Path(pictures) if pictures else None), shop)
        began = time.monotonic()
        try:
            await session.the_site_is_named()
            run = await session.a_run_fails()
            await session.a_tip_is_written(run)
            await session.it_is_open()
            session.told["tested"] = await session.it_is_tested("3-holds")
            await session.it_is_active()
            await session.found_on_another_page()
            await session.the_next_run_follows_it()
            await session.the_site_changes()
        except Exception:  # noqa: BLE001 the boundary: the report says what came of it
            session.told["broke"] = traceback.format_exc()
            await session.driver.shoot("broke")
        session.told["seconds"] = round(time.monotonic() - began, 1)
        report.write_text(json.dumps(session.told, indent=1), encoding="utf-8")


def run() -> int:
    """Open the window and play the session."""
    workspace, report = Path(sys.argv[1]), Path(sys.argv[2])
    app = main._application()

    async def work() -> int:
        session = main._Session(app, workspace, None, None)
        return await session.work(safe=True, show=lambda window: play(window, report))

    return main._in_loop(app, work)


if __name__ == "__main__":
    sys.exit(run())
