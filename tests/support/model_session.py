"""A model set up in the window by keyboard only, tested, saved and used by the next run, in a process of its own.

``python -m tests.support.model_session WORKSPACE REPORT`` writes what the endpoint was sent and the counts as JSON.
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
from PySide6.QtWidgets import QApplication

from app import main, settings
from app.views.frame.main_window import MainWindow
from tests.support.demo_site_thread import demo_site
from tests.support.operator_window import CTRL, OperatorDriver
from tests.support.protocol_server import Answer, ProtocolServer, Request, text_of
from tests.support.shop_brain import count_the_kitchen

Key = Qt.Key
KITCHEN = "How many things are in the Kitchen department?"
KEY, MODEL = "sk-typed-into-the-window", "scripted-large"


def brain(request: Request) -> str | Answer:
    """Answer the test of the model, and work on the shop."""
    words = text_of(request)
    if request.get("tools"):
        return Answer(calls=(("add", {"a": 17, "b": 25}),), finish="tool_calls")
    if "17 + 25" in words:
        return '{"sum": 42}'
    if "Count from 1 to 20" in words or "single word: ready" in words or "upper half" in words:
        return "ready"
    return count_the_kitchen(request)


class ModelSession:
    """One window; ``told`` is the report."""

    def __init__(self, hands: OperatorDriver, endpoint: ProtocolServer, shop_url: str) -> None:
        self.hands, self.endpoint, self.shop_url = hands, endpoint, shop_url
        self.told: dict[str, Any] = {}

    async def set_up(self) -> None:
        """From the palette to a saved model, with a test between."""
        hands, began, before = self.hands, time.monotonic(), self.hands.pressed
        letters = ["set up a model", self.endpoint.url, KEY, MODEL]
        await hands.press(Key.Key_K, CTRL)
        await hands.type(letters[0])
        await hands.press(Key.Key_Return)
        panel = hands.window.commands.settings
        await hands.until(lambda: panel._form.is_ready, "the settings are read")
        await hands.type(letters[1])
        await hands.press(Key.Key_Tab)
        await hands.type(letters[2])
        await hands.press(Key.Key_Tab)
        await hands.type(letters[3])
        await hands.keys(Key.Key_Tab, Key.Key_Tab, Key.Key_Tab)
        assert QApplication.focusWidget() is panel.model.test, QApplication.focusWidget()
        await hands.press(Key.Key_Space)
        await hands.until(lambda: panel._setup.report is not None, "the model is tested")
        await hands.shoot("model")
        self.told["usable"] = panel._setup.report.is_usable
        self.told["asked by the test"] = len(self.endpoint.asked)
        panel.fields["model_name"].setFocus()
        await hands.press(Key.Key_Return)
        await hands.until(lambda: panel.said.text().startswith("Saved"), "the settings are saved")
        await hands.until(lambda: panel._setup.key_place == "keyring", "the key is kept")
        await hands.press(Key.Key_Escape)
        self.told["keys"] = hands.pressed - before
        self.told["letters"] = sum(map(len, letters))
        self.told["seconds to the saved model"] = round(time.monotonic() - began, 1)
        self.told["file"] = settings.settings_path().read_text("utf-8")

    async def run(self) -> None:
        """Start a run with the llm policy, without a restart."""
        hands, model = self.hands, self.hands.model
        before, began = hands.pressed, time.monotonic()
        await hands.press(Key.Key_3, CTRL)
        await hands.until(lambda: model.is_loaded, "Live is shown")
        await hands.press(Key.Key_N, CTRL)
        await hands.type(KITCHEN)
        await hands.press(Key.Key_Tab)
        await hands.type(self.shop_url)
        await hands.press(Key.Key_Tab)
        await hands.press(Key.Key_Down)
        assert model.form.policy == "llm"
        await hands.until(lambda: model.form.has_model, "the form knows of the model")
        await hands.press(Key.Key_Return)
        await hands.until(lambda: len(model.list.rows) == 1, "the run is on the wall")
        first = self.told["asked by the test"]
        await hands.until(lambda: len(self.endpoint.asked) > first, "the endpoint is asked")
        self.told["keys of the run"] = hands.pressed - before
        self.told["seconds to the run's first request"] = round(time.monotonic() - began, 1)
        asked = self.endpoint.asked[first]
        self.told["key sent"] = asked.headers.get("authorization")
        self.told["model sent"] = asked.body.get("model")
        await hands.until(lambda: model.list.rows[0].outcome, "the run ends")
        self.told["outcome"] = model.list.rows[0].outcome


async def played(window: MainWindow, report: Path) -> None:
    """Play it; write the report in any case."""
    pictures = os.environ.get("SITELORE_PICTURES")
    hands = OperatorDriver(window, Path(pictures) if pictures else None)
    with demo_site() as shop, ProtocolServer(brain, key=KEY, models=(MODEL, "scripted-small")) as endpoint:
        day = ModelSession(hands, endpoint, shop.shop_url)
        try:
            await day.set_up()
            await day.run()
        except Exception:  # noqa: BLE001 the boundary: the report says what came of it
            day.told["broke"] = traceback.format_exc()
        report.write_text(json.dumps(day.told, indent=1), encoding="utf-8")


def run() -> int:
    """Open the window and play the session."""
    workspace, report = Path(sys.argv[1]), Path(sys.argv[2])
    app = main._application()

    async def work() -> int:
        session = main._Session(app, workspace, None, None)
        return await session.work(safe=True, show=lambda window: played(window, report))

    return main._in_loop(app, work)


if __name__ == "__main__":
    sys.exit(run())
