"""The panels beside an open run in their own window, operated by real key events."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QHBoxLayout, QVBoxLayout, QWidget

from app.models.live.model import LiveModel
from app.views.live.attention_panel import AttentionPanel
from app.views.live.hint_line import HintLine
from app.views.live.knowledge_panel import LiveKnowledgePane
from app.views.live.progress_panel import ProgressPanel
from tests.support import qt_loop
from tests.support.manual_clock import ManualClock


class LivePanels:
    """``keys`` counts key presses; ``notices`` are the model's messages."""

    def __init__(self, client, tasks, center, theme):
        self.engine, self.center = client.api, center
        self.clock = ManualClock()
        self.live = LiveModel(client, tasks, clock=self.clock)
        self.model = self.live.open_run
        self.notices: list[str] = []
        self.live.notice.connect(self.notices.append)
        self.keys = 0
        center.bind("live.tip", self.live.write_tip, lambda: self.live.can_write_tip)
        center.bind("live.take_over", self.live.take_over)
        self.facts = ProgressPanel(self.model, center, theme)
        self.needs = AttentionPanel(self.model, center, theme)
        self.card, self.flags = self.needs.card, self.needs.flags
        self.knowledge = LiveKnowledgePane(self.model, center, theme)
        self.hint = HintLine(self.model, center, theme)
        self.facts.setFixedWidth(256)
        self.window = QWidget()
        self.window.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        right = QVBoxLayout()
        for widget, stretch in ((self.needs, 1), (self.knowledge, 1), (self.hint, 0)):
            right.addWidget(widget, stretch)
        row = QHBoxLayout(self.window)
        row.addWidget(self.facts)
        row.addLayout(right)
        self.window.addActions(center.actions())
        self.window.resize(640, 720)
        center.set_place("live")

    def show(self):
        """Show the window and load the runs."""
        self.window.show()
        self.window.activateWindow()
        self.window.setFocus()
        self.until(self.window.isActiveWindow)
        self.live.start()
        self.until(lambda: self.live.is_loaded)

    def open(self, run):
        """Open a run and wait for its details."""
        self.live.open(run)
        self.until(lambda: self.live.detail is not None and self.live.detail.row.run == run)
        self.wait()

    def press(self, key, modifier=Qt.KeyboardModifier.NoModifier):
        """Send one real key event to the focus widget, a second after the previous input."""
        self.keys += 1
        self.clock.forward()
        QTest.keyClick(QApplication.focusWidget() or self.window, key, modifier)
        self.wait()

    def type(self, text):
        """Type a text."""
        QTest.keyClicks(QApplication.focusWidget(), text)
        self.wait()

    def asked(self, name):
        """Return the arguments of every engine call of this name."""
        return [given for called, given in self.engine.calls if called == name]

    def wait(self, seconds=0.05):
        """Run the event loop until every pending answer has arrived."""
        qt_loop.turn(seconds)
        qt_loop.until(lambda: not self.live.tasks._tasks)

    def until(self, condition):
        """Wait for a condition."""
        qt_loop.until(condition)
