"""The page of a live run in its own window, over a fake engine that has a picture of most steps."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton, QVBoxLayout, QWidget

from app.engine.api.engine_api import PageView, StepView
from app.errors import NotFound
from app.models.common.commands import CommandCenter
from app.models.live.model import LiveModel
from app.views.frame.theme import Theme
from app.views.live.run_page import RunPage
from app.views.live.view import LiveView
from tests.support.fake_engine import FakeEngine
from tests.support.fake_live import SHOP, page_jpeg
from tests.support.made_up import tree
from tests.support.manual_clock import ManualClock
from tests.support.review_window import ReviewWindow

NO_PICTURE, LINES_ONLY, LOST = 1, 2, 3
"""Steps stored with a sentence only, with the tree only, and not at all."""


class SteppedEngine(FakeEngine):
    """A fake engine whose live runs have stored steps."""

    async def view_step(self, run, index):
        if not run.startswith("live-"):
            return await super().view_step(run, index)
        self.calls.append(("view_step", (run, index)))
        if index == LOST:
            raise NotFound(f"step {index} of {run} is not there")
        before = PageView(
            url=f"{SHOP}/catalogue/{index}", title="Catalogue", screenshot=f"shot{index}",
            target_box=(64.0, 200.0, 300.0, 60.0),
        )  # fmt: skip
        if index == NO_PICTURE:
            before = replace(before, screenshot="", missing="No picture of this step was kept.")
        if index == LINES_ONLY:
            before = replace(before, screenshot="", lines=tree(index, after=False))
        return StepView(run=run, index=index, before=before, after=PageView(url="", title=""), changed=0)

    async def blob(self, digest):
        if digest.startswith("shot"):
            return page_jpeg(1280, 800, int(digest[4:]))
        return await super().blob(digest)

    async def live_run(self, run):
        detail = await super().live_run(run)
        by_hand = self.by_hand.get(run, 99)
        steps = tuple(replace(step, by="person") if step.index >= by_hand else step for step in detail.steps)
        return replace(detail, steps=steps)

    @property
    def by_hand(self) -> dict[str, int]:
        """The first step done by hand, by run."""
        return self.__dict__.setdefault("_by_hand", {})


class PageOnly(QWidget):
    """The page beside another focusable widget (``list``), with the commands that Live binds."""

    def __init__(self, model: LiveModel, center: CommandCenter, theme: Theme) -> None:
        super().__init__()
        self.model, self.list = model, QPushButton("elsewhere")
        self.page = RunPage(model, center, theme)
        layout = QVBoxLayout(self)
        layout.addWidget(self.list)
        layout.addWidget(self.page, 1)
        center.bind("live.take_over", self._take_over)
        center.bind("live.release", model.release)
        center.bind("live.tip", model.write_tip, lambda: model.can_write_tip)
        center.bind("live.to_map", model.add_to_map, lambda: bool(model.takeover and model.takeover.steps))
        center.bind("live.back", self.page.leave)
        model.subscriptions.set_shown(True)

    def focus_first(self) -> None:
        """Focus the widget beside the page."""
        self.list.setFocus()

    def _take_over(self) -> None:
        self.page.take_focus() if self.page.has_control else self.model.take_over()


class PageWindow(ReviewWindow):
    """Live, or its page alone, in its own window with the program's keys."""

    def __init__(
        self, view: LiveView | PageOnly, model: LiveModel, engine, center, clock: ManualClock
    ) -> None:
        super().__init__(view, model, engine, center)
        self.clock = clock
        self.page, self.canvas = view.page, view.page.canvas

    def press(self, key, modifier=Qt.KeyboardModifier.NoModifier):
        """Press a key a second after the previous input."""
        self.clock.forward()
        super().press(key, modifier)

    def open(self, run: str) -> None:
        """Open a run and wait for its first picture."""
        self.model.open(run)
        self.until(lambda: self.model.detail is not None)
        if run in self.model.subscriptions.requested:
            self.picture(run)

    def picture(self, run: str, **more: object) -> None:
        """Send a picture and wait until it is shown."""
        self.until(lambda: run in self.engine.watched)
        before = self.model.frames.counts.decoded
        self.engine.frame(run, **more)
        self.until(lambda: self.model.frames.counts.decoded > before)

    def take_over(self, run: str = "live-1") -> None:
        """Open a run and take over its page by key."""
        self.open(run)
        self.press(Qt.Key.Key_O)
        self.until(lambda: self.canvas.is_capturing)

    def place(self, x: float, y: float) -> QPoint:
        """Convert a point of the page to the window."""
        return self.canvas.page_geometry.place(x, y).toPoint()

    def click(self, x: float, y: float, button=Qt.MouseButton.LeftButton) -> None:
        """Click on a point of the page."""
        QTest.mouseClick(self.canvas, button, Qt.KeyboardModifier.NoModifier, self.place(x, y))
        self.wait()

    @property
    def inputs(self):
        """Return the input sent to the engine."""
        return self.engine.inputs
