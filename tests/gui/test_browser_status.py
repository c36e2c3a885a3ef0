"""The browser's status in the window: slow is not missing, an open one works, a missing sandbox is mentioned once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from app.engine.api.engine_api import Check
from app.engine.core.events import BrowserStarted
from app.models.common import workspace
from app.models.common.commands import CommandCenter
from app.models.common.workspace import WorkspaceModel
from app.views.frame.status_bar import StatusBar

SLOW = Check(
    name="browser", ok=False, slow=True, found="not answering yet (no answer within 30 s)", remedy="ask again"
)
MISSING = Check(name="browser", ok=False, found="none is installed", remedy="sudo apt-get install chromium")
WORKS = Check(name="browser", ok=True, found="Chromium 156.0 (/usr/bin/chromium)")
BARE = Check(
    name="sandbox", ok=False, found="the browser runs without it", remedy="be ordinary", needed=False
)
PYTHON = Check(name="Python", ok=True, found="3.11.7")

STARTED = BrowserStarted(found="Chromium 156.0 (/usr/bin/chromium)")
UNSANDBOXED = BrowserStarted(
    found="Chromium 156.0 (/usr/bin/chromium)", unsandboxed="Chromium does not allow it for root",
    remedy="start Sitelore as an ordinary user", warning="the browser runs without its sandbox: beware",
)  # fmt: skip


class Doctor:
    """Returns the browser's checks one after the other, then repeats the last; ``asked`` records the questions."""

    def __init__(self, *answers: Check | Exception) -> None:
        self.answers = list(answers)
        self.asked: list[bool] = []

    async def __call__(self, browser_only: bool = False) -> list[Check]:
        self.asked.append(browser_only)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return [answer] if browser_only else [PYTHON, answer]


@pytest.fixture
def watched(
    client, tasks, fake_engine, theme, qtbot, monkeypatch
) -> Callable[..., tuple[WorkspaceModel, StatusBar]]:
    """Create a status bar over a workspace whose doctor gives these answers."""
    monkeypatch.setattr(workspace, "ASK_AGAIN", (0.01, 0.02))

    def make(*answers: Any) -> tuple[WorkspaceModel, StatusBar]:
        fake_engine.doctor = Doctor(*answers)
        model, bar = WorkspaceModel(client, tasks), StatusBar(CommandCenter(), theme)
        qtbot.addWidget(bar)
        bar.bind(model)
        bar.show()
        model.examine()
        return model, bar

    return make


def test_a_browser_that_is_slow_is_not_answering_yet_and_asked_for_again(watched, fake_engine, qtbot) -> None:
    _, bar = watched(SLOW, SLOW, WORKS)
    words: list[str] = [bar.browser.text()]
    bar._model.checks_changed.connect(lambda: words.append(bar.browser.text()))

    qtbot.waitUntil(lambda: bar.browser.text() == "Chromium 156.0")

    assert words == [
        "browser: checking",
        "browser: not answering yet",
        "browser: not answering yet",
        "Chromium 156.0",
    ]
    assert fake_engine.doctor.asked == [False, True, True]


def test_a_browser_that_is_missing_is_asked_for_again_as_it_may_be_installed_meanwhile(
    watched, qtbot
) -> None:
    _, bar = watched(MISSING, MISSING, WORKS)
    qtbot.waitUntil(lambda: bar.browser.text() == "no browser")
    assert bar.browser.property("state") == "warn"

    qtbot.waitUntil(lambda: bar.browser.text() == "Chromium 156.0")
    assert bar.browser.property("state") == ""


def test_a_question_that_failed_is_asked_again(watched, qtbot) -> None:
    _, bar = watched(OSError("the engine is gone"), OSError("still gone"), WORKS)

    qtbot.waitUntil(lambda: bar.browser.text() == "Chromium 156.0")


def test_nobody_asks_on_once_a_browser_was_found(watched, fake_engine, qtbot, settle) -> None:
    watched(WORKS)
    settle(0.15)

    assert fake_engine.doctor.asked == [False]


@pytest.mark.parametrize("before", [SLOW, MISSING])
def test_a_browser_that_a_run_has_opened_is_there_at_once(
    watched, fake_engine, qtbot, monkeypatch, before
) -> None:
    monkeypatch.setattr(workspace, "ASK_AGAIN", (60.0,))
    model, bar = watched(before)
    qtbot.waitUntil(lambda: bool(model.checks))

    fake_engine.bus.publish(STARTED)

    assert bar.browser.text() == "Chromium 156.0"
    assert bar.browser.property("state") == ""
    assert [check.name for check in model.checks] == ["Python", "browser", "sandbox"]


@pytest.mark.parametrize("late", [SLOW, MISSING])
@pytest.mark.parametrize("whole", [True, False])
def test_an_answer_that_comes_late_takes_no_open_browser_away(
    watched, fake_engine, qtbot, monkeypatch, late, whole
):
    monkeypatch.setattr(workspace, "ASK_AGAIN", (60.0,))
    model, bar = watched(SLOW)
    qtbot.waitUntil(lambda: bool(model.checks))
    fake_engine.bus.publish(STARTED)

    model._on_checks([PYTHON, late]) if whole else model._on_browser_checks([late])

    assert bar.browser.text() == "Chromium 156.0"
    assert [check.name for check in model.checks] == ["Python", "browser", "sandbox"]


def test_questions_wait_longer_and_longer() -> None:
    assert list(workspace.ASK_AGAIN) == sorted(set(workspace.ASK_AGAIN))
    assert workspace.ASK_AGAIN[0] >= 5


def test_a_browser_without_its_sandbox_is_marked_and_mentioned_once(watched, fake_engine, qtbot) -> None:
    model, bar = watched(WORKS)
    said: list[str] = []
    model.said.connect(lambda text, _kind: said.append(text))
    qtbot.waitUntil(lambda: bar.browser.text() == "Chromium 156.0")

    for _ in range(3):
        fake_engine.bus.publish(UNSANDBOXED)

    assert said == ["The browser runs without its sandbox: Chromium does not allow it for root"]
    assert bar.browser.text() == "Chromium 156.0, no sandbox"
    assert bar.browser.property("state") == "warn"
    assert bar.browser.accessibleName() == "browser: Chromium 156.0, no sandbox"
    assert "start Sitelore as an ordinary user" in bar.browser.toolTip()


def test_the_sandbox_that_the_doctor_missed_is_shown_without_a_message(watched, fake_engine, qtbot) -> None:
    model, bar = watched(WORKS)
    said: list[str] = []
    model.said.connect(lambda text, _kind: said.append(text))
    qtbot.waitUntil(lambda: bool(model.checks))
    model._on_checks([PYTHON, WORKS, BARE])

    assert bar.browser.text() == "Chromium 156.0, no sandbox"
    assert said == []


def test_a_missing_model_endpoint_is_a_button_that_leads_to_its_setup(watched):
    none = Check(name="model endpoint", ok=False, found="none set", remedy="set up a model", needed=False)
    model, bar = watched(WORKS)
    opened: list[str] = []
    bar.center.bind("app.model", lambda: opened.append("model"))
    model.checks = [none]
    model.checks_changed.emit()
    assert bar.endpoint.text() == "no model endpoint"
    bar.endpoint.click()
    assert opened == ["model"]
