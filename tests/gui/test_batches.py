"""Batches in the window: the form that starts one, and the panel that watches and steers them."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest
from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QPushButton

from app.engine.api.batch_api import FileTask
from app.engine.api.run_api import LlmRunOptions, RunRequest
from app.engine.core.batch import BatchRow, BatchState, TaskState
from app.engine.core.cost import Cost
from app.errors import SiteloreError
from app.models.live.batch_list import batch_parts, options_words, part_words, time_left_words
from app.models.live.model import LiveModel
from app.views.live.view import LiveView
from tests.support.fake_batches import SHOP, make_batch, out_of_budget
from tests.support.live_window import LiveWindow
from tests.support.manual_clock import ManualClock

CTRL, SHIFT, ALT = (
    Qt.KeyboardModifier.ControlModifier,
    Qt.KeyboardModifier.ShiftModifier,
    Qt.KeyboardModifier.AltModifier,
)
S = TaskState
SOME = [S.ANSWERED] * 3 + [S.FAILED] * 2 + [S.NEEDS_PERSON] + [S.ACTIVE] * 2 + [S.WAITING] * 4


@pytest.fixture
def live(qtbot, client, tasks, center, theme):
    theme.set_reduced_motion(True)
    clock = ManualClock()
    model = LiveModel(client, tasks, clock=clock)
    view = LiveView(model, center, theme)
    qtbot.addWidget(view)
    view.addActions(center.actions())
    center.set_place("live")
    view.resize(QSize(1200, 690))
    view.show()
    view.activateWindow()
    view.focus_first()
    desk = LiveWindow(view, model, client.api, center, clock)
    desk.until(view.isActiveWindow)
    model.start()
    desk.until(lambda: model.is_loaded and model.batches.is_loaded)
    yield desk
    view.hide()
    model.frames.close()


@pytest.fixture
def form(live: LiveWindow):
    """The form with a file of three tasks."""
    live.press(Qt.Key.Key_N, CTRL | SHIFT)
    live.type("/lists/tasks.txt")
    live.until(lambda: len(live.model.batches.form.list.rows) == 3)
    return live.view.tasks


def unresolved(number: int, name: str = "__GITLAB__") -> FileTask:
    return FileTask(
        number=number,
        intent=f"Task {number}",
        names=(name,),
        problem=f"its start address ({name}) is unknown",
    )


def resolved(number: int, given: tuple[str, ...] = (), **more: object) -> FileTask:
    request = RunRequest(intent=f"Task {number}", start_url=SHOP, **more)  # pyright: ignore[reportArgumentType]
    return FileTask(number=number, intent=request.intent, request=request, given=given)


def read(live: LiveWindow, *tasks: FileTask) -> None:
    """Let the form read a file of these tasks."""
    live.engine.file_tasks = list(tasks)
    live.press(Qt.Key.Key_N, CTRL | SHIFT)
    live.model.batches.form.set("path", "/lists/some.json")
    live.until(lambda: len(live.model.batches.form.list.rows) == len(tasks))


def started(live: LiveWindow):
    """Return the one batch that was started."""
    ((request,),) = live.did("start_batch")
    return request


def shown(live: LiveWindow, *batches) -> None:
    """Open the panel over these batches."""
    for batch in batches:
        live.engine.all_batches[batch.row.id] = batch
    live.press(Qt.Key.Key_B, SHIFT)
    live.until(lambda: len(live.model.batches.list.rows) == len(batches))
    live.until(lambda: live.model.batches.table.total == live.model.batches.row.total)


# ------------------------------------------------------------ the form
def test_a_task_file_is_looked_into_and_some_of_it_started(live: LiveWindow, form) -> None:
    assert form.start.accessibleName() == "Start 3 runs"
    form.fields["at_once"].setFocus()
    live.type("2")
    form.tasks.setFocus()
    live.press(Qt.Key.Key_Down)
    live.press(Qt.Key.Key_Down, SHIFT)
    assert form.start.accessibleName() == "Start 2 runs"
    live.press(Qt.Key.Key_Return)
    request = started(live)
    assert [one.intent for one in request.tasks] == [
        "Task 2 of /lists/tasks.txt", "Task 3 of /lists/tasks.txt",
    ], "Down goes through the tasks, not through the runs beside the form"  # fmt: skip
    assert (request.name, request.source, request.at_once) == ("tasks", "/lists/tasks.txt", 2)
    assert all(one.supervised for one in request.tasks)


def test_once_started_the_panel_shows_the_new_batch_with_its_tasks(live: LiveWindow, form) -> None:
    form.start.click()
    live.until(lambda: live.view.side.currentWidget() is live.view.batches)
    assert live.model.batches.row.name == "tasks"
    live.until(lambda: live.model.batches.table.total == 3)


def test_the_name_is_the_files_and_no_second_batch_gets_the_same(live: LiveWindow, form) -> None:
    form.start.click()
    live.until(lambda: bool(live.did("start_batch")))
    live.until(lambda: not live.model.batches.form.values["path"])  # a second Enter does not start it again
    live.model.batches.form.set("path", "/lists/tasks.txt")
    assert live.model.batches.form.values["name"] == "tasks 2"
    live.model.batches.form.set("name", "of my own")
    live.model.batches.form.set("path", "/lists/others.txt")
    assert live.model.batches.form.values["name"] == "of my own"


def test_every_option_reaches_every_run_of_the_batch(live: LiveWindow, form) -> None:
    model = live.model.batches.form
    model.choose("policy", "llm")
    for name, text in {
        "model": "gpt-x", "max_steps": "12", "kb": "/frozen.akb", "storage_state": "/login.json",
        "max_tokens": "90,000",
        "max_money": "$0.50", "max_seconds": "600", "domains": "a.example, b.example", "batch_money": "5",
        "batch_tokens": "1,000,000",
    }.items():  # fmt: skip
        model.set(name, text)
    model.choose_risk("buys", True)
    model.choose_option(judge="off", actions="compact")
    model.choose("vision", True)
    form.start.click()
    live.until(lambda: bool(live.did("start_batch")))
    request = started(live)
    assert (request.max_money, request.max_tokens) == (5.0, 1_000_000)
    assert {(one.model, one.max_steps, one.kb, one.storage_state) for one in request.tasks} == {
        ("gpt-x", 12, "/frozen.akb", "/login.json")
    }
    assert {(one.max_tokens, one.max_money, one.max_seconds) for one in request.tasks} == {
        (90_000, 0.5, 600.0)
    }
    assert {(one.domains, one.allow, one.vision) for one in request.tasks} == {
        (("a.example", "b.example"), ("buys",), True)
    }
    assert {one.llm for one in request.tasks} == {LlmRunOptions(judge="off", actions="compact")}


def test_what_a_task_sets_itself_stays_and_the_form_says_so(live: LiveWindow) -> None:
    read(live, resolved(1, ("policy",), policy="llm"), resolved(2), resolved(3, storage_state="/of-its-site"))
    form = live.view.tasks
    assert form.own.text() == "1 of 3 tasks name their own policy, which is kept."
    live.press(Qt.Key.Key_Return)
    tasks = started(live).tasks
    assert [one.policy for one in tasks] == ["llm", "scout", "scout"]
    assert tasks[2].storage_state == "/of-its-site"


def test_before_it_starts_a_line_says_what_it_will_do(live: LiveWindow) -> None:
    other = RunRequest(intent="Task 3", start_url="http://git.example:8443/", storage_state="/saved")
    read(live, resolved(1), resolved(2), FileTask(number=3, intent="Task 3", request=other))
    model = live.model.batches.form
    for name, text in {"at_once": "2", "batch_money": "5", "model": "gpt-x"}.items():
        model.set(name, text)
    model.choose("policy", "llm")
    live.until(lambda: "2 sites" in live.view.tasks.summary.text())
    assert live.view.tasks.summary.text() == (
        "3 runs, 2 parallel, llm with gpt-x, at most $5.00; 2 sites; logged in"
    )
    model.set("batch_money", "")
    assert "no budget" in model.summary
    model.choose("policy", "scout")
    assert "budget" not in model.summary


def test_unknown_sites_of_a_benchmark_are_filled_in_once_and_then_it_starts(live: LiveWindow) -> None:
    read(live, resolved(1), unresolved(2), unresolved(3))
    form = live.view.tasks
    assert "2 tasks can't be run yet" in form.obstacle.text()
    live.press(Qt.Key.Key_Return)
    assert not live.did("start_batch"), "nothing starts while something is unknown"
    field = form.addresses.fields["__GITLAB__"]
    field.setFocus()
    live.type("git.example:8443")
    live.engine.file_tasks = [resolved(1), resolved(2), resolved(3)]
    live.press(Qt.Key.Key_Return)
    live.until(lambda: not form.addresses.isVisible())
    row = live.engine.site_rows["gitlab"].site
    assert row.bases == {"__GITLAB__": "https://git.example:8443"}
    assert row.hosts == ("*:8023", "git.example:8443"), "the site keeps what it had"
    form.start.click()
    live.until(lambda: bool(live.did("start_batch")))
    assert len(started(live).tasks) == 3


def test_a_site_that_is_not_in_the_table_is_added(live: LiveWindow) -> None:
    read(live, unresolved(1, "__REDDIT__"))
    live.model.batches.form.addresses.set("__REDDIT__", "localhost:9999")
    live.view.tasks.addresses.save.click()
    live.until(lambda: "reddit" in live.engine.site_rows)
    assert live.engine.site_rows["reddit"].site.bases == {"__REDDIT__": "http://localhost:9999"}


def test_an_address_that_belongs_to_nobody_or_is_none_is_said_beside_its_field(live: LiveWindow) -> None:
    read(live, unresolved(1))
    model = live.model.batches.form.addresses
    model.set("__GITLAB__", "not an address")
    live.view.setFocus()
    live.view.tasks.refresh()
    assert "such as http" in live.view.tasks.addresses._says["__GITLAB__"].text()
    assert not live.view.tasks.addresses.save.isEnabled()
    model.set("__GITLAB__", "git.example")
    live.engine.site_error = SiteloreError("the table can't be written: disk full")
    live.view.tasks.addresses.save.click()
    live.until(lambda: "disk full" in live.view.tasks.addresses.error.text())
    assert model.typed["__GITLAB__"] == "git.example"


def test_one_key_leaves_out_what_cannot_be_run(live: LiveWindow) -> None:
    read(live, resolved(1), unresolved(2))
    live.press(Qt.Key.Key_O, ALT)
    assert live.view.tasks.start.accessibleName() == "Start 1 run"
    assert "left out" in live.model.batches.form.list.words(live.model.batches.form.list.rows[1])
    live.press(Qt.Key.Key_O, ALT)
    assert not live.model.batches.form.can_start
    live.press(Qt.Key.Key_O, ALT)
    live.press(Qt.Key.Key_Return)
    assert [one.intent for one in started(live).tasks] == ["Task 1"]


def test_a_file_that_cannot_be_read_is_said_in_the_form(live: LiveWindow, monkeypatch) -> None:
    async def refuse(path, start_url=""):
        raise SiteloreError(f"there is no task in {path}")

    monkeypatch.setattr(live.engine, "read_task_file", refuse)
    live.press(Qt.Key.Key_N, CTRL | SHIFT)
    live.type("/empty.txt")
    live.until(lambda: bool(live.view.tasks.error.text()))
    assert "there is no task" in live.view.tasks.error.text()
    live.press(Qt.Key.Key_Return)
    assert not live.did("start_batch")


def test_a_batch_that_cannot_begin_is_said_in_the_form_which_stays(live: LiveWindow, form) -> None:
    live.engine.batch_error = "no browser is installed"
    form.start.click()
    live.until(lambda: "no browser" in form.error.text())
    assert form.isVisible()


@pytest.mark.parametrize(
    ("field", "wrong"),
    [
        ("at_once", "0"), ("at_once", "33"), ("at_once", "two"), ("batch_money", "much"), ("batch_money", "-1"),
        ("batch_money", "nan"), ("batch_tokens", "1.5"), ("max_tokens", "x"), ("max_seconds", "-3"),
        ("max_money", "inf"), ("max_steps", "0"),
    ],
)  # fmt: skip
def test_a_wrong_number_is_said_beside_its_field_which_is_unfolded(
    live: LiveWindow, form, field: str, wrong: str
) -> None:
    live.model.batches.form.set(field, wrong)
    form.fields["path"].setFocus()
    live.press(Qt.Key.Key_Return)
    assert form.says[field].text().startswith("! Enter")
    assert form.fields[field].isVisible()
    assert not live.did("start_batch")


def test_the_form_is_short_until_a_key_shows_more(live: LiveWindow, form) -> None:
    assert not form.fields["kb"].isVisible()
    assert not form.fields["max_seconds"].isVisible()
    live.press(Qt.Key.Key_M, ALT)
    assert form.fields["kb"].isVisible()
    live.press(Qt.Key.Key_M, ALT)
    assert not form.fields["kb"].isVisible()
    assert form.fields["batch_money"].isVisible()


def test_the_next_session_begins_with_the_last_batchs_choices(live: LiveWindow, form) -> None:
    model = live.model.batches.form
    model.choose("policy", "llm")
    model.set("batch_money", "7")
    model.choose_risk("sends", True)
    model.choose_option(actions="compact")
    saved = live.view.save_layout()
    model.choose("policy", "scout")
    model.set("batch_money", "")
    model.restore({"values": {"batch_money": 3}, "llm": {"judge_every": "x"}, "allow": "x"})
    assert model.values["batch_money"] == "", "what does not fit is left out"
    live.model.restore(saved)
    assert (model.policy, model.values["batch_money"], model.allow) == ("llm", "7", frozenset({"sends"}))
    assert model.llm.actions == "compact"
    assert "path" not in saved["batch"]["values"]


def test_the_form_of_one_run_takes_model_budget_hosts_and_permissions(live: LiveWindow) -> None:
    live.press(Qt.Key.Key_N, CTRL)
    model = live.model.form
    for name, text in {
        "intent": "Buy a pear", "start_url": SHOP, "model": "gpt-x", "max_money": "0.5", "max_tokens": "5000",
        "max_seconds": "60", "domains": "pay.example",
    }.items():  # fmt: skip
        model.set(name, text)
    model.choose("policy", "llm")
    live.press(Qt.Key.Key_M, ALT)
    live.view.form.risks["buys"].click()
    live.view.form.start.click()
    live.until(lambda: bool(live.did("start_runs")))
    ((one,), _) = live.did("start_runs")[0]
    assert (one.model, one.max_money, one.max_tokens, one.max_seconds) == ("gpt-x", 0.5, 5000, 60.0)
    assert (one.domains, one.allow) == (("pay.example",), ("buys",))


# ------------------------------------------------------------ the panel
def test_without_a_batch_the_panel_says_what_to_do(live: LiveWindow) -> None:
    live.press(Qt.Key.Key_B, SHIFT)
    live.until(lambda: live.view.batches.empty.isVisible())
    live.click(live.view.batches.empty.button)
    assert live.view.side.currentWidget() is live.view.tasks


def test_a_batch_shows_its_progress_in_words_with_its_tasks(live: LiveWindow) -> None:
    shown(live, make_batch(1, SOME, max_money=50.0, cost=Cost(known=12.4), seconds_left=600.0))
    one = live.view.batches.shown
    assert one.words.text() == "5 of 12, 1 needs you, 60 % answered, $12.40 of $50.00"
    assert one.left.text() == "about 10 min left"
    words = [button.text() for button in one.filters.values() if button.isVisible()]
    assert words == ["All 12", "4 not started", "2 active", "1 needs you", "3 answered", "2 failed"]
    one.filters[S.FAILED].click()
    assert [task.number for task in live.model.batches.table.rows] == [4, 5]


def test_the_outcome_of_a_task_is_told_after_its_run_has_left_the_wall(live: LiveWindow) -> None:
    batch = make_batch(1, [S.ANSWERED, S.ANSWERED, S.FAILED, S.WAITING])
    ends = (("answered", "$14.00"), ("answered by hand", "$15.00"), ("step_limit", ""), ("", ""))
    tasks = tuple(
        replace(task, outcome=outcome, why=why)
        for task, (outcome, why) in zip(batch.tasks, ends, strict=True)
    )
    shown(live, replace(batch, tasks=tasks))
    model = live.model.batches
    assert [model.outcome_words(task) for task in model.table.rows] == [
        "answered: $14.00",
        "answered by hand: $15.00",
        "out of steps",
        "",
    ]


def test_enter_opens_the_run_of_a_task_in_live_or_in_review(live: LiveWindow) -> None:
    batch = make_batch(1, [S.ACTIVE, S.ANSWERED, S.WAITING])
    tasks = list(batch.tasks)
    tasks[0] = replace(tasks[0], runs=("live-1",))
    shown(live, replace(batch, tasks=tuple(tasks)))
    reviewed: list[str] = []
    live.model.review_wanted.connect(lambda run, _step: reviewed.append(run))
    said: list[str] = []
    live.model.notice.connect(said.append)
    table = live.view.batches.shown.tasks
    table.setFocus()
    table.selectRow(2)
    live.press(Qt.Key.Key_Return)
    assert said == ["Task 3 has not started yet"]
    table.selectRow(1)
    live.press(Qt.Key.Key_Return)
    assert reviewed == ["batch-1-run-2"]
    table.selectRow(0)
    live.press(Qt.Key.Key_Return)
    assert live.model.run == "live-1"
    assert not live.view.side.isVisible(), "the run's requests are not hidden by the panel"


def test_a_batch_is_paused_and_resumed_by_one_key(live: LiveWindow) -> None:
    shown(live, make_batch(1, SOME))
    live.press(Qt.Key.Key_P, ALT)
    assert live.model.batches.row.state is BatchState.PAUSED
    assert live.view.batches.shown.buttons["live.batch.pause"].accessibleName() == "Resume"
    live.press(Qt.Key.Key_P, ALT)
    assert live.model.batches.row.state is BatchState.ACTIVE


def test_stopping_a_batch_can_be_undone_and_starts_nothing_meanwhile(live: LiveWindow) -> None:
    shown(live, make_batch(1, SOME))
    offered: list[str] = []
    live.model.undo_offered.connect(offered.append)
    live.press(Qt.Key.Key_K, ALT)
    assert "batch prices 1" in offered[0]
    assert live.did("batch paused") == [("batch-1",)]
    assert not live.did("batch stopped")
    assert live.model.delayed_stops.held.take_back() == "stop of batch prices 1"
    live.until(lambda: bool(live.did("batch active")))
    live.press(Qt.Key.Key_K, ALT)
    live.rest()
    live.until(lambda: live.did("batch stopped") == [("batch-1",)])
    assert live.model.batches.row.state is BatchState.STOPPED


def test_the_failed_tasks_are_started_again(live: LiveWindow) -> None:
    shown(live, make_batch(1, SOME))
    said: list[str] = []
    live.model.notice.connect(said.append)
    live.press(Qt.Key.Key_R, ALT)
    live.until(lambda: said == ["2 tasks start again"])
    assert live.model.batches.row.failed == 0
    assert not live.center.action("live.batch.retry").isEnabled()


def test_a_batch_out_of_budget_says_so_and_goes_on_once_the_budget_is_raised(live: LiveWindow) -> None:
    shown(live, out_of_budget())
    one = live.view.batches.shown
    assert "12 of 20 tasks have ended" in one.why.text()
    assert one.raise_budget.isVisible()
    live.click(one.raise_budget)
    assert live.holds(one.limits.fields["money"])
    assert one.limits.fields["money"].text() == "5"
    live.type("20")
    live.press(Qt.Key.Key_Return)
    live.until(lambda: live.did("set_batch_limits") == [("batch-1", 4, 20.0, 0)])
    assert live.model.batches.row.state is BatchState.ACTIVE
    assert not one.raise_budget.isVisible()


def test_escape_closes_the_limits_first_then_the_panel(live: LiveWindow) -> None:
    shown(live, make_batch(1, SOME))
    live.press(Qt.Key.Key_L, ALT)
    live.type("nothing")
    live.press(Qt.Key.Key_Return)
    assert "amount" in live.view.batches.shown.limits.error.text()
    assert not live.did("set_batch_limits")
    live.press(Qt.Key.Key_Escape)
    assert not live.view.batches.shown.limits.isVisible()
    assert live.view.side.isVisible()
    live.press(Qt.Key.Key_Escape)
    assert not live.view.side.isVisible()


def test_a_batch_is_exported_into_a_new_folder_of_its_name(live: LiveWindow) -> None:
    shown(live, make_batch(1, SOME, name="../my prices"))
    model = live.model.batches
    said: list[str] = []
    live.model.notice.connect(said.append)
    model.export("/out")
    assert live.view.batches.shown.export.text() == "Exporting…"
    assert not model.can_export
    live.until(lambda: bool(said))
    assert live.did("export_batch") == [("batch-1", "/out/my-prices")]
    assert said == ["5 runs of batch ../my prices exported to /out/my-prices"]
    assert live.view.batches.shown.export.text() == ""


def test_only_an_ended_batch_is_dismissed_and_the_next_is_shown(live: LiveWindow) -> None:
    shown(live, make_batch(2, [S.ANSWERED], state=BatchState.ENDED), make_batch(1, SOME))
    assert [row.id for row in live.model.batches.list.rows] == ["batch-2", "batch-1"]
    live.press(Qt.Key.Key_Delete, ALT)
    live.until(lambda: live.model.batches.current == "batch-1")
    assert live.did("dismiss_batch") == [("batch-2",)]
    assert not live.center.action("live.batch.dismiss").isEnabled()


def test_plain_keys_in_the_panel_do_nothing_to_the_runs(live: LiveWindow) -> None:
    shown(live, make_batch(1, SOME))
    before = dict(live.engine.rows)
    for key in (Qt.Key.Key_K, Qt.Key.Key_A, Qt.Key.Key_D, Qt.Key.Key_Space):
        live.press(key)
    assert live.engine.rows == before
    assert live.model.run == ""


def test_every_button_of_the_panel_has_a_name(live: LiveWindow) -> None:
    shown(live, out_of_budget())
    buttons = [one for one in live.view.batches.findChildren(QPushButton) if one.isVisible()]
    assert all(one.accessibleName() for one in buttons)
    assert live.view.batches.shown.bar.accessibleName().startswith("Progress: 12 of 20")


def test_812_tasks_do_not_hold_the_window(live: LiveWindow) -> None:
    states = [S.ANSWERED] * 300 + [S.ACTIVE] * 4 + [S.WAITING] * 508
    batch = make_batch(1, states)
    shown(live, batch)
    table = live.model.batches.table
    times: list[float] = []
    for number in range(20):
        states[300 + number] = S.ANSWERED
        batch = make_batch(1, states)
        began = time.perf_counter()
        live.model.batches.take(batch.row)
        table.load(batch.tasks)
        times.append((time.perf_counter() - began) * 1000)
        live.wait(0)
    assert sorted(times)[10] < 100


# ------------------------------------------------------------ in the whole window
def test_a_batch_that_runs_out_of_budget_is_told_and_the_note_leads_to_it(
    bench, fake_engine, settle, qtbot
) -> None:
    window = bench._window
    out = out_of_budget()
    fake_engine.put_batch(replace(out, row=replace(out.row, state=BatchState.ACTIVE)))
    settle(0.1)
    fake_engine.put_batch(out)
    qtbot.waitUntil(lambda: "is out of budget" in window.toast.text)
    assert "12 of 20 done; $5.02 of $5.00" in window.toast.text
    window.center.trigger("go.call")
    qtbot.waitUntil(lambda: window.place == "live" and window.perspective("live").batches.isVisible())
    assert bench.live.batches.current == out.row.id


def test_the_wall_counts_the_batches_and_shows_the_runs_of_one(live: LiveWindow) -> None:
    shown(live, make_batch(1, SOME, name="my prices"), make_batch(2, [S.ANSWERED], state=BatchState.ENDED))
    button = live.view.wall.buttons["live.batches"]
    assert button.accessibleName() == "Batches 1"
    live.put(replace(live.engine.rows["live-1"], batch="batch-1"))
    live.model.batches.select("batch-1")
    live.engine.put_batch(live.engine.all_batches["batch-1"])
    live.wait()
    live.press(Qt.Key.Key_W, ALT)
    assert live.model.wall.text == 'batch:"my prices"'
    assert [one.run for one in live.model.wall.shown] == ["live-1"]
    assert live.view.batches.isVisible()


# ------------------------------------------------------------ words
def row(**more: object) -> BatchRow:
    return BatchRow(id="b", name="b", **more)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (None, ""), (5.0, "about a minute left"), (600.0, "about 10 min left"), (7200.0, "about 2 h left"),
        (9000.0, "about 2.5 h left"),
    ],
)  # fmt: skip
def test_the_time_left_in_words(seconds: float | None, words: str) -> None:
    assert time_left_words(row(seconds_left=seconds)) == words
    assert time_left_words(row(seconds_left=seconds, state=BatchState.PAUSED)) == ""


def test_parts_and_options_in_words() -> None:
    parts = batch_parts(row(total=7, answered=3, needy=2, waiting=2))
    assert [part_words(part) for part in parts] == ["3 answered", "2 need you", "2 not started"]
    assert options_words(row(policy="llm", model="gpt-x", kb="live", at_once=4, sites="shop")) == (
        "llm with gpt-x · 4 parallel · on shop · current tips"
    )
