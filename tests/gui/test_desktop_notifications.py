"""Desktop notifications over a private bus: shown, replaced, withdrawn, clicked; and desktops without a service."""

from __future__ import annotations

import shutil

import pytest

from app.models.common.desktop_notifications import DesktopNotification, DesktopNotifications
from tests.support import qt_loop
from tests.support.notification_service import NotificationService, private_bus

pytestmark = pytest.mark.skipif(shutil.which("dbus-daemon") is None, reason="dbus-daemon is not installed")


@pytest.fixture
def bus(tmp_path, monkeypatch):
    with private_bus(tmp_path) as address:
        monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", address)
        monkeypatch.delenv("XDG_ACTIVATION_TOKEN", raising=False)
        yield address


@pytest.fixture
def until(settle):
    return qt_loop.until


def note(key="run-1", **more):
    return DesktopNotification(**{"key": key, "title": "Needs you", "body": "a captcha", **more})


def test_a_note_reaches_the_desktop_and_a_click_on_it_names_its_run(bus, tasks, until, monkeypatch):
    notes, followed = DesktopNotifications(tasks), []
    notes.followed.connect(followed.append)
    with NotificationService(bus).running() as service:
        notes.show(note())
        until(lambda: service.shown)
        until(lambda: notes._ids)
        service.click(1)
        until(lambda: followed)
        import os

        assert os.environ["XDG_ACTIVATION_TOKEN"] == "token-1"
        monkeypatch.delenv("XDG_ACTIVATION_TOKEN")
    assert followed == ["run-1"]
    name, replaces, icon, title, body, actions, hints, expires = service.shown[0]
    assert (name, replaces, title, body, expires) == ("Sitelore", 0, "Needs you", "a captcha", -1)
    assert icon.startswith("file:///")
    assert actions[0] == "default"
    assert hints["urgency"] == ("y", 1)


def test_a_newer_note_of_a_run_takes_the_place_of_the_older(bus, tasks, until):
    notes = DesktopNotifications(tasks)
    with NotificationService(bus).running() as service:
        notes.show(note())
        until(lambda: notes._ids)
        notes.show(note(title="Failed"))
        notes.show(note("run-2"))
        until(lambda: len(service.shown) == 3)
    assert [shown[1] for shown in service.shown] == [0, 1, 0]


def test_a_note_that_needs_nobody_any_more_is_withdrawn(bus, tasks, until):
    notes = DesktopNotifications(tasks)
    with NotificationService(bus).running() as service:
        notes.show(note())
        until(lambda: notes._ids)
        notes.withdraw("run-1")
        notes.withdraw("run-9")
        until(lambda: service.closed)
    assert service.closed == [1]


@pytest.mark.parametrize(
    ("abilities", "shown"),
    [(("body-markup",), "&lt;b&gt;5 &lt; 6&lt;/b&gt;\nnext"), ((), "<b>5 < 6</b>\nnext")],
)
def test_words_of_a_page_are_never_markup(bus, tasks, until, abilities, shown):
    notes = DesktopNotifications(tasks)
    with NotificationService(bus, abilities).running() as service:
        notes.show(note(title="one\x00\x1btwo", body="<b>5 < 6</b>\nnext"))
        until(lambda: service.shown)
    assert service.shown[0][4] == shown
    assert service.shown[0][3] == "one  two"
    assert service.shown[0][5] == []


def test_a_megabyte_of_words_is_cut_for_the_screen(bus, tasks, until):
    notes = DesktopNotifications(tasks)
    with NotificationService(bus).running() as service:
        notes.show(note(title="x" * 1_000_000, body="y" * 1_000_000))
        until(lambda: service.shown)
    assert len(service.shown[0][3]) < 200
    assert len(service.shown[0][4]) < 1000


def test_without_a_service_on_the_bus_the_note_comes_back(bus, tasks, until):
    notes, lost = DesktopNotifications(tasks), []
    notes.lost.connect(lost.append)
    notes.show(note())
    until(lambda: lost)
    assert lost == [note()]


def test_without_a_bus_the_note_comes_back(tasks, until, monkeypatch):
    notes, lost = DesktopNotifications(tasks), []
    notes.lost.connect(lost.append)
    for address in (None, "unix:path=/nowhere/at/all", "tcp:host=localhost,port=1", "nonsense"):
        if address is None:
            monkeypatch.delenv("DBUS_SESSION_BUS_ADDRESS", raising=False)
        else:
            monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", address)
        lost.clear()
        notes.show(note())
        until(lambda: lost)
        assert lost == [note()]


def test_a_service_that_hangs_costs_a_second_and_the_note_comes_back(bus, tasks, until):
    notes, lost = DesktopNotifications(tasks), []
    notes.lost.connect(lost.append)
    with NotificationService(bus, answers=False).running() as service:
        notes.show(note())
        until(lambda: lost)
        assert service.heard


def test_a_bus_that_ends_and_comes_back_is_found_again(tmp_path, tasks, until, monkeypatch):
    notes, lost = DesktopNotifications(tasks), []
    notes.lost.connect(lost.append)
    with private_bus(tmp_path) as address, NotificationService(address).running() as service:
        monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", address)
        notes.show(note())
        until(lambda: service.shown)
    notes.show(note())
    until(lambda: lost)
    (tmp_path / "bus").unlink(missing_ok=True)
    with private_bus(tmp_path) as address, NotificationService(address).running() as service:
        notes.show(note("run-2"))
        until(lambda: service.shown)
    assert len(lost) == 1
