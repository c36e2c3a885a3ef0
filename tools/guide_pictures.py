"""Take the user guide's pictures: ``python -m tools.guide_pictures WORKSPACE OUT``.

The workspace is one that ``sitelore demo --headless --out DIR`` left in ``DIR/workspace``.  The real window is opened
on it without a display, the demo shop is served, and runs of the scout are supervised for the pictures of Live.  Needs
ports 7801 to 7803 and a browser.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QPlainTextEdit, QTextEdit

from app import main
from app.demo.server import DemoServer
from app.engine.api.run_api import RunRequest
from app.engine.core.intervention_policy import PolicyAnswer, RiskClass, RiskRule
from app.engine.core.supervision import RunState
from app.models.review.run_comparison import ComparisonState

USAGE = "usage: python -m tools.guide_pictures WORKSPACE OUT"
TextField = QPlainTextEdit | QTextEdit
HARMLESS = (RiskClass.READS, RiskClass.EDITS)
SIZE = QSize(1280, 800)
PORT = 7801
PATIENCE = 120.0
TASKS = (
    "Put one Linen Apron into the basket.",
    "Order one large Enamel Mug for Iris Kemp in Leeds.",
    "How much does the Oak Tray cost?",
    "Order one Ash Stool for Iris Kemp in Leeds.",
    "What is the cheapest product in the Kitchen department?",
    "Order two Brass Lamps for Tom Hale in York.",
)
TIP = "When a note covers the list, press Got it first; until then nothing under it can be clicked."


async def until(condition: Callable[[], object]) -> bool:
    """Wait for a condition; return whether it came true in time."""
    loop = asyncio.get_running_loop()
    end = loop.time() + PATIENCE
    while not condition() and loop.time() < end:
        await asyncio.sleep(0.05)
    return bool(condition())


class GuidePictures:
    """A walk through the window that leaves one picture for each page of the guide."""

    def __init__(self, window: Any, out: Path, server: DemoServer) -> None:
        self._window, self._out, self._server = window, out, server

    async def take(self) -> None:
        """Take all of them."""
        window = self._window
        await until(lambda: window.workspace is not None and window.workspace.info is not None)
        window.theme.set_mode("light")
        window.resize(SIZE)
        await asyncio.sleep(2)
        await self._review()
        await self._map()
        await self._live()
        await self._knowledge()
        await self._evaluate()
        window.go("review")

    async def _shoot(self, name: str, wait: float = 1.5) -> None:
        await asyncio.sleep(wait)
        if not self._window.grab().save(str(self._out / f"{name}.png")):
            raise OSError(f"{self._out / name}.png can't be written")

    async def _review(self) -> None:
        window = self._window
        window.go("review")
        await until(lambda: window.perspective("review").model.view is not None)
        await self._shoot("review", 4)
        window.commands.palette.present()
        window.commands.palette.line.setText("tip")
        await self._shoot("palette")
        window.commands.palette.dismiss()
        window.center.trigger("tip.compose")
        await asyncio.sleep(1)
        field = window.focusWidget()
        if isinstance(field, TextField):
            field.setPlainText(TIP)
        await self._shoot("composer", 3)
        if isinstance(field, TextField):
            field.setPlainText("")
        window.center.trigger("composer.discard")
        window.center.trigger("composer.close")
        await self._clusters()
        await self._failures()

    async def _clusters(self) -> None:
        """Show the clusters of failures in place of the queue."""
        window, model = self._window, self._window.perspective("review").model
        window.center.trigger("review.clusters")
        await until(lambda: bool(model.clusters.clusters))
        await self._shoot("clusters", 2)
        window.center.trigger("review.clusters")

    async def _failures(self) -> None:
        """Show the first failure with an answer page, and the first that parts from a run that passed."""
        window, model = self._window, self._window.perspective("review").model
        comparison, missing = model.panels.comparison, {"answer-page", "side-by-side"}
        for run in [row.id for row in model.queue.model.rows]:
            model.open_run(run)
            await until(lambda run=run: model.detail is not None and model.detail.run.id == run)
            if "answer-page" in missing and model.detail.run.answer:
                model.show_step(model.detail.run.step_count - 1)
                await asyncio.sleep(1)
                if model.why.answer.is_shown:
                    await self._shoot("answer-page")
                    missing.discard("answer-page")
            if "side-by-side" in missing:
                window.center.trigger("review.compare")
                await until(lambda: comparison.state is not ComparisonState.LOADING)
                if comparison.parting >= 0:
                    await self._shoot("side-by-side", 2)
                    missing.discard("side-by-side")
                window.center.trigger("compare.close")
            if not missing:
                return

    async def _map(self) -> None:
        window, view = self._window, self._window.perspective("map")
        window.go("map")
        await until(lambda: view.model.table.rows)
        explored = [row.site for row in view.model.sites if row.state]
        if explored and view.model.site not in explored:
            view.model.choose_site(explored[-1])
            await asyncio.sleep(1.5)
        far = max(view.model.table.rows, key=lambda row: (row.depth, row.incoming, row.id)).id
        view.model.select(far)
        window.center.trigger("map.fit")
        window.center.trigger("map.path.home")
        await self._shoot("map", 2.5)
        window.center.trigger("map.velocity")
        await self._shoot("velocity", 2)
        window.center.trigger("map.back")

    async def _live(self) -> None:
        window, view = self._window, self._window.perspective("live")
        window.go("live")
        model, api = view.model, view.model.client.api
        usual = await api.intervention_policy()
        asking = tuple(
            RiskRule(risk=risk, answer=PolicyAnswer.ASK) for risk in RiskClass if risk not in HARMLESS
        )
        await api.save_intervention_policy(replace(usual, risks=asking))
        start = f"{self._server.shop_url}/"
        requests = [RunRequest(intent=task, start_url=start, supervised=True) for task in TASKS]
        await api.start_runs(requests, len(requests))
        rows = model.list
        await until(lambda: any(row.state is RunState.WAITING for row in rows.rows))
        await asyncio.sleep(2)
        window.toast.hide()
        await self._shoot("live", 0.1)
        model.open(next(row.run for row in rows.rows if row.state is RunState.WAITING))
        await self._shoot("live-run", 3)
        model.close()
        for row in rows.rows:
            if row.state is not RunState.ENDED:
                await api.end_run(row.run)
        await api.save_intervention_policy(usual)
        (tipped,) = await api.start_runs([requests[0]], 1)
        await until(lambda: any(row.run == tipped and row.state is RunState.ENDED for row in rows.rows))
        await self._agent_run(tipped)

    async def _agent_run(self, run: str) -> None:
        """Open a run that was given a tip at the step that followed it."""
        model = self._window.perspective("review").model
        self._window.go("review")
        model.open_run(run)
        await until(lambda: model.detail is not None and model.run == run)
        shown = next(
            (step.index for step in model.detail.steps if any(tip.followed for tip in step.exposures)), 0
        )
        model.open_run(run, shown)
        self._window.toast.hide()
        await self._shoot("agent-run", 3)

    async def _knowledge(self) -> None:
        window = self._window
        window.go("knowledge")
        await self._shoot("knowledge", 3)
        window.center.trigger("kb.freeze")
        await self._shoot("freeze", 2)
        window.center.trigger("knowledge.back")

    async def _evaluate(self) -> None:
        """The result of the newest evaluation that is over; a workspace without one gives no picture."""
        window, model = self._window, self._window.perspective("evaluate").model
        over = [row for row in model.list.rows if row.state == "done"]
        if not over:
            return
        window.go("evaluate")
        model.open_evaluation(over[0].folder)
        await until(lambda: model.result.state != "loading")
        window.toast.hide()
        await self._shoot("evaluate", 2)


def take(workspace: Path, out: Path) -> int:
    """Open the window on a workspace and take the pictures."""
    app = main._application()
    out.mkdir(parents=True, exist_ok=True)

    async def work() -> int:
        async with await DemoServer.start(port=PORT) as server:
            session = main._Session(app, workspace.resolve(), None, None)
            return await session.work(
                safe=True, show=lambda window: GuidePictures(window, out, server).take()
            )

    return main._in_loop(app, work)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(USAGE)
    sys.exit(take(Path(sys.argv[1]), Path(sys.argv[2])))
