"""Notifications of Windows and macOS over a library that is made up here: shown, replaced, clicked, lost."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from app.models.common import desktop_notifications
from app.models.common.desktop_notifications import LONGEST_TITLE, DesktopNotification, DesktopNotifications


class FakeNotifier:
    """Keeps what it is given; ``takes`` is whether the system would show it."""

    made: list[FakeNotifier] = []
    takes = True
    abilities = frozenset({"title"})

    def __init__(self, **about: Any) -> None:
        self.about, self.sent, self.cleared = about, [], []
        FakeNotifier.made.append(self)

    async def get_capabilities(self) -> frozenset[str]:
        return self.abilities

    async def send(self, **note: Any) -> str:
        self.sent.append(note)
        if self.takes:
            note["on_dispatched"]()
        return f"id-{len(self.sent)}"

    async def clear(self, identifier: str) -> None:
        self.cleared.append(identifier)
        if identifier == "id-2":
            raise OSError("gone")


@pytest.fixture
def notes(tasks, monkeypatch: pytest.MonkeyPatch) -> DesktopNotifications:
    library = ModuleType("desktop_notifier")
    library.DesktopNotifier = FakeNotifier  # type: ignore[attr-defined]
    library.Icon = lambda path: path  # type: ignore[attr-defined]
    library.Urgency = SimpleNamespace(Low="low", Normal="normal", Critical="critical")  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "desktop_notifier", library)
    monkeypatch.setattr(FakeNotifier, "made", [])
    monkeypatch.setattr(desktop_notifications, "has_system_notifications", lambda: True)
    made = DesktopNotifications(tasks)
    made.seen, made.gone = [], []
    made.followed.connect(made.seen.append)
    made.lost.connect(made.gone.append)
    return made


def note(key: str = "run-1", **more: Any) -> DesktopNotification:
    return DesktopNotification(**{"key": key, "title": "Needs you", "body": "a captcha", **more})


def test_a_note_is_shown_and_a_click_on_it_names_its_run(notes, qtbot) -> None:
    assert FakeNotifier.made == []  # not before the first note
    notes.show(note(title="T" * 500 + "\x07", urgency=2))
    qtbot.waitUntil(lambda: bool(FakeNotifier.made and FakeNotifier.made[0].sent))
    (sent,) = FakeNotifier.made[0].sent
    assert (len(sent["title"]), sent["message"], sent["urgency"]) == (LONGEST_TITLE, "a captcha", "critical")
    assert FakeNotifier.made[0].about["app_icon"].is_file()
    sent["on_clicked"]()
    assert notes.seen == ["run-1"]
    assert notes.gone == []


def test_a_newer_note_replaces_the_older_and_one_is_withdrawn(notes, qtbot) -> None:
    for body in ("one", "two", "three"):
        notes.show(note(body=body))
        qtbot.waitUntil(
            lambda body=body: [n["message"] for one in FakeNotifier.made for n in one.sent][-1:] == [body]
        )
    assert FakeNotifier.made[0].cleared == ["id-1", "id-2"]  # the second fails, which stops nothing
    notes.withdraw("run-1")
    notes.withdraw("never shown")
    qtbot.waitUntil(lambda: FakeNotifier.made[0].cleared == ["id-1", "id-2", "id-3"])
    assert notes.gone == []


@pytest.mark.parametrize("why", ["missing", "no bundle", "not taken"])
def test_a_note_that_is_not_shown_is_lost_and_said_in_another_way(
    notes, qtbot, monkeypatch, why: str
) -> None:
    if why == "missing":
        monkeypatch.setitem(sys.modules, "desktop_notifier", None)
    elif why == "no bundle":
        monkeypatch.setattr(FakeNotifier, "abilities", frozenset())
    else:
        monkeypatch.setattr(FakeNotifier, "takes", False)
    notes.show(note())
    qtbot.waitUntil(lambda: [one.key for one in notes.gone] == ["run-1"])
    notes.withdraw("run-1")
