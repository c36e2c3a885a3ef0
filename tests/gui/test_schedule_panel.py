"""Scheduled work in the window: listed, checked while typed, done, undone; what changed is one key away."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest
from PySide6.QtCore import QObject, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton

from app.engine.core.schedule import ScheduledTask
from app.errors import SiteloreError
from app.models.common.notifications import NotificationModel
from app.models.common.schedule_form import ScheduleForm
from app.models.common.schedule_model import NEW, ScheduleModel
from app.models.common.schedule_notes import ScheduleNote, ScheduleNotes
from app.views.frame.schedule_panel import SchedulePanel


@pytest.fixture
def model(client, tasks, qtbot) -> ScheduleModel:
    made = ScheduleModel(client, tasks)
    made.notices, made.wanted = [], []
    made.notice.connect(made.notices.append)
    made.changes_wanted.connect(made.wanted.append)
    made.open()
    qtbot.waitUntil(lambda: made.is_loaded and bool(made.form.named))
    return made


@pytest.fixture
def form(qapp) -> ScheduleForm:
    made = ScheduleForm()
    made.mapped, made.named = {"shop"}, {"shop", "wiki"}
    return made


@pytest.mark.parametrize(
    ("typed", "field", "words"),
    [
        ({}, "site", "Name a site"),
        ({"site": "nope"}, "site", "There is no site of this name"),
        ({"site": "wiki"}, "site", "has no map yet"),
        ({"site": "shop", "every": "366"}, "every", "from 0 to 365"),
        ({"site": "shop", "every": "-1"}, "every", "from 0 to 365"),
        ({"site": "shop", "clock": "25:00"}, "clock", "such as 03:00"),
    ],
)
def test_each_problem_is_said_at_its_field(form, typed, field, words):
    for name, text in typed.items():
        form.set(name, text)
    [problem] = form.problems
    assert problem.field == field
    assert words in problem.message


def test_tips_are_tested_without_a_map(form):
    form.set("site", "wiki")
    form.set("task", ScheduledTask.TEST_TIPS.value)
    assert form.problems == []
    assert form.sites == ["shop", "wiki"]


def test_an_entry_is_added_changed_switched_done_and_removed(model, fake_engine, qtbot):
    model.show(NEW)
    model.form.set("site", "shop")
    model.form.set("every", "1")
    model.form.set("clock", "4:30")
    assert model.save()
    qtbot.waitUntil(lambda: model.row is not None)
    assert model.notices == ["Scheduled: explore again, shop, every day at 04:30"]
    model.toggle()
    qtbot.waitUntil(lambda: not model.row.schedule.is_on)
    assert fake_engine.calls[-1][1][0].at == 0
    model.toggle()
    qtbot.waitUntil(lambda: model.row.schedule.is_on)
    model.run_now()
    qtbot.waitUntil(lambda: model.newest is not None)
    qtbot.waitUntil(lambda: model.notices[-1] == "shop: nothing changed")
    model.remove()
    qtbot.waitUntil(lambda: model.row is None)
    assert model.notices[-1] == "Removed: explore again, shop"


def test_why_it_can_not_be_done_stands_in_the_form(model, fake_engine, qtbot):
    model.show("s3")
    model.run_now()
    qtbot.waitUntil(lambda: "try again when that has ended" in model.form.error)
    fake_engine.schedule_error = SiteloreError("the disk is full")
    model.remove()
    qtbot.waitUntil(lambda: model.form.error == "the disk is full")


def test_what_is_typed_stays_and_rows_stay_while_work_ends(model, fake_engine, qtbot):
    model.show("s1")
    before = [row.schedule.id for row in model.list.rows]
    model.form.set("clock", "05:")
    fake_engine.schedule_rows = dict(reversed(fake_engine.schedule_rows.items()))
    fake_engine.end_schedule("s1", changes=("1 new state: “A”",))
    qtbot.waitUntil(lambda: model.newest.changes == ("1 new state: “A”",))
    assert model.form.values["clock"] == "05:"
    assert [row.schedule.id for row in model.list.rows] == before


@pytest.fixture
def panel(model, theme, qtbot) -> SchedulePanel:
    from PySide6.QtWidgets import QWidget

    host = QWidget()
    host.resize(1280, 800)
    qtbot.addWidget(host)
    made = SchedulePanel(model, theme, host)
    host.show()
    made.present()
    qtbot.waitUntil(lambda: made.list.hasFocus())
    return made


def test_enter_in_the_list_opens_what_changed_and_delete_removes(panel, model, fake_engine, qtbot):
    row = [one.schedule.id for one in model.list.rows].index("s1")
    panel.list.setCurrentIndex(model.list.index(row, 0))
    QTest.keyClick(panel.list, Qt.Key.Key_Return)
    assert [one.schedule for one in model.wanted] == ["s1"]
    QTest.keyClick(panel.list, Qt.Key.Key_Delete)
    qtbot.waitUntil(lambda: "s1" not in fake_engine.schedule_rows)


def test_every_control_of_the_panel_has_a_name(panel):
    for button in panel.findChildren(QAbstractButton):
        assert button.accessibleName() or button.text(), button
    assert all(field.accessibleName() for field in panel.form.fields.values())


def test_the_panel_says_what_it_is_for_while_nothing_is_scheduled(model, panel, fake_engine, qtbot):
    fake_engine.schedule_rows.clear()
    model.load()
    qtbot.waitUntil(lambda: panel.none.isVisible())
    assert "Nothing is scheduled yet." in panel.none.text()
    assert panel.form.start.text().startswith("Add")


class Clock:
    def __init__(self) -> None:
        self.now = datetime(2026, 5, 5, 12, 0)

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def notes(client, tasks, qapp) -> Any:
    clock = Clock()
    calls = NotificationModel(client, tasks, now=clock)
    made = ScheduleNotes(client, calls)
    bench = QObject()
    bench.calls, bench.clock, bench.model, bench.heard = calls, clock, made, list[ScheduleNote]()
    made.wanted.connect(bench.heard.append)
    return bench


def test_a_change_is_told_and_nothing_changed_is_not(notes, fake_engine):
    fake_engine.end_schedule("s1")
    assert notes.heard == []
    fake_engine.end_schedule("s1", changes=("2 states vanished: “A”, “B”", "1 tip is suspect: “T”"))
    [note] = notes.heard
    assert (note.title, note.body) == (
        "shopping: explore again", "2 states vanished: “A”, “B”\n1 tip is suspect: “T”"
    )  # fmt: skip


def test_the_same_failure_is_told_once_and_a_cancelled_one_never(notes, fake_engine):
    for error in ("the site is down", "the site is down", "cancelled", "the site is down", "no browser"):
        fake_engine.end_schedule("s2", error=error)
    assert [note.body for note in notes.heard] == [
        "could not be done: the site is down",
        "could not be done: the site is down",
        "could not be done: no browser",
    ]
    assert all(note.is_failure for note in notes.heard)


def test_quiet_hours_hold_notes_back_and_end_with_one(notes, fake_engine):
    notes.calls.quiet.set_hours("22:00-07:00")
    notes.clock.now = datetime(2026, 5, 6, 3, 0)
    notes.calls.quiet.look()
    fake_engine.end_schedule("s1", changes=("1 new state: “A”",))
    fake_engine.end_schedule("s2", error="the site is down")
    assert notes.heard == []
    notes.clock.now = datetime(2026, 5, 6, 7, 1)
    notes.calls.quiet.look()
    [note] = notes.heard
    assert note.title == "Scheduled work: 2 results"
    assert note.body.splitlines() == [
        "shopping: 1 new state: “A”",
        "gitlab: could not be done: the site is down",
    ]


def test_the_key_of_the_next_alert_leads_to_what_changed(bench, fake_engine, qtbot):
    window = bench._window
    center = window.center
    fake_engine.end_schedule("s1", changes=("1 tip is suspect: “T”",), suspects=("tip-1",))
    qtbot.waitUntil(lambda: "1 tip is suspect" in window.toast.text)
    center.trigger("go.call")
    assert window.place == "knowledge"
    assert bench.knowledge.table.text == "site:shopping status:suspect"

    fake_engine.schedule_rows["s1"] = replace(
        fake_engine.schedule_rows["s1"],
        schedule=replace(fake_engine.schedule_rows["s1"].schedule, site="shop"),
    )
    for _ in range(2):  # the changes that are shown stay
        fake_engine.end_schedule("s1", changes=("1 new state: “A”",))
        center.trigger("go.call")
        assert (window.place, bench.map.map.site) == ("map", "shop")
        qtbot.waitUntil(lambda: ("graph_diff", ("shop",)) in fake_engine.calls)
        qtbot.waitUntil(lambda: window.isVisible())

    fake_engine.end_schedule("s2", error="the site is down")
    center.trigger("go.call")
    assert bench.schedule.panel.isVisible()
    assert bench.schedule.model.shown == "s2"


def test_map_and_knowledge_begin_an_entry_of_their_site(bench, qtbot):
    window = bench._window
    window.go("map")
    qtbot.waitUntil(lambda: bool(bench.map.map.site))
    window.center.trigger("map.schedule")
    form = bench.schedule.model.form
    assert (form.task, form.values["site"]) == (ScheduledTask.EXPLORE, bench.map.map.site)
    qtbot.waitUntil(lambda: bench.schedule.model.is_loaded)
    assert form.values["site"] == bench.map.map.site
    window.center.trigger("app.schedule")
    assert not bench.schedule.panel.isVisible()
    window.go("knowledge")
    qtbot.waitUntil(lambda: bool(bench.knowledge.open_site))
    window.center.trigger("knowledge.schedule")
    assert (form.task, form.values["site"]) == (ScheduledTask.TEST_TIPS, bench.knowledge.open_site)
