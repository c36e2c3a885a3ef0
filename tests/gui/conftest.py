"""One qasync loop for the session, pumped by ``run(coro)``; Qt draws offscreen unless a platform is named."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Coroutine, Iterator
from functools import partial
from pathlib import Path
from typing import Any

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import PySide6  # noqa: F401  before qasync, which else looks for another binding
import pytest
from PySide6.QtCore import QEventLoop, QTimer
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.models.common.commands import CommandCenter
from app.models.common.engine_client import LocalClient
from app.models.common.tasks import Tasks
from app.models.review.review_model import ReviewModel
from app.views.frame.theme import Theme
from app.views.review.review_view import ReviewView
from tests.support.fake_engine import FakeEngine
from tests.support.qt_loop import PATIENCE, CountingLoop, turn
from tests.support.review_window import ReviewWindow


def pytest_configure(config: pytest.Config) -> None:
    """Silence the offscreen platform's list of missing features."""
    config.addinivalue_line("qt_log_ignore", "This plugin does not support")
    config.addinivalue_line("qt_log_ignore", "propagateSizeHints")


@pytest.fixture(autouse=True)
def _own_settings(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Isolate the tests from the user's own window, settings and desktop."""
    monkeypatch.delenv("DBUS_SESSION_BUS_ADDRESS", raising=False)
    home = tmp_path_factory.mktemp("home")
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(name, str(home))


@pytest.fixture(scope="session")
def loop(qapp: QApplication) -> Iterator[asyncio.AbstractEventLoop]:
    """The window's loop, running already: Qt drives it whenever a test processes events."""
    qapp.setQuitOnLastWindowClosed(False)
    made = CountingLoop(qapp, already_running=True)
    yield made
    asyncio.events._set_running_loop(None)
    made.stop()
    made.close()


@pytest.fixture(scope="session")
def run(loop: asyncio.AbstractEventLoop) -> Callable[..., Any]:
    """``run(coro)``: run the loop until the coroutine ends and return its result."""

    def turn(coro: Coroutine[Any, Any, Any], timeout: float = PATIENCE) -> Any:
        task = asyncio.ensure_future(asyncio.wait_for(coro, timeout), loop=loop)
        if not task.done():
            inner = QEventLoop()
            task.add_done_callback(lambda _task: inner.quit())
            QTimer.singleShot(int(timeout * 1000) + 2000, inner.quit)
            inner.exec()
        if not task.done():
            task.cancel()
            raise TimeoutError("the coroutine did not end")
        return task.result()

    return turn


@pytest.fixture
def settle(loop: asyncio.AbstractEventLoop) -> Callable[..., None]:
    """``settle(seconds)``: run the loop for some time, for timers to fire, then until nothing is left to do."""
    return turn


@pytest.fixture
def qtbot(qtbot: QtBot) -> QtBot:
    """pytest-qt's, with patience: a busy machine is slow, and only a failing test waits that long."""
    for name in ("waitUntil", "waitSignal", "waitSignals", "waitExposed", "waitActive"):
        setattr(qtbot, name, partial(getattr(qtbot, name), timeout=int(PATIENCE * 1000)))
    return qtbot


@pytest.fixture
def theme(qapp: QApplication) -> Iterator[Theme]:
    """An applied theme, light unless the test asks for another."""
    made = Theme()
    made.set_mode("light")
    made.apply(qapp)
    made.load_icons()
    yield made
    made.deleteLater()


@pytest.fixture
def center(qapp: QApplication) -> CommandCenter:
    """A command center of its own for the test."""
    return CommandCenter()


@pytest.fixture
def fake_engine(loop: asyncio.AbstractEventLoop) -> FakeEngine:
    """40 generated runs and 14 tips; ``fake_engine.bus`` carries its events."""
    return FakeEngine()


@pytest.fixture
def client(fake_engine: FakeEngine, run: Callable[..., Any]) -> Iterator[LocalClient]:
    """The fake engine behind the window's client."""
    made = LocalClient(fake_engine, fake_engine.bus)
    yield made
    run(made.aclose())


@pytest.fixture
def tasks(loop: asyncio.AbstractEventLoop, run: Callable[..., Any]) -> Iterator[Tasks]:
    """Starts the view-models' coroutines; remaining ones are cancelled at the end."""
    made = Tasks()
    yield made
    run(made.aclose())


@pytest.fixture
def pictures() -> Path | None:
    """Folder for screenshots of views under test (``SITELORE_PICTURES``); ``None`` keeps none."""
    folder = os.environ.get("SITELORE_PICTURES")
    return Path(folder) if folder else None


@pytest.fixture
def make_desk(qtbot, client, tasks, center, theme):
    """Create Review in windows of its own."""
    desks: list[ReviewWindow] = []

    def make(start=True):
        theme.set_reduced_motion(True)
        model = ReviewModel(client, tasks)
        view = ReviewView(model, center, theme)
        qtbot.addWidget(view)
        view.addActions(center.actions())
        center.set_place("review")
        view.resize(1224, 720)
        view.show()
        view.activateWindow()
        view.focus_first()
        desk = ReviewWindow(view, model, client.api, center)
        desks.append(desk)
        desk.until(lambda: view.isActiveWindow() and QApplication.focusWidget() is not None)
        if start:
            model.start()
            desk.until(lambda: model.view is not None)
        return desk

    yield make
    for desk in desks:
        desk.view.hide()
        desk.model.pictures.close()


@pytest.fixture
def desk(make_desk) -> ReviewWindow:
    return make_desk()


@pytest.fixture
def bench(run, settle, theme, fake_engine):
    """The whole window, over the fake engine."""
    from app.models.common.commands import CommandCenter
    from app.models.common.engine_client import LocalClient
    from app.views.frame.main_window import MainWindow
    from app.workbench import Workbench

    window = MainWindow(CommandCenter(), theme)
    window.resize(1280, 800)
    window.show()
    window.activateWindow()
    made = Workbench(window, LocalClient(fake_engine, fake_engine.bus))
    run(made.build())
    run(made.start(restore=True))
    settle(0.1)
    yield made
    run(made.stop(save=False))
    window.finish_closing()
    window.deleteLater()
    settle()
