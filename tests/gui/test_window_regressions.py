"""Regressions of the window: no other run's tip, a text while importing, a way out of every panel."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QSize, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton, QWidget

from app.engine.api.run_rows import RunFilter
from app.engine.core.events import IMPORT_JOB_TITLE, JobChanged
from app.engine.core.labels import outcome_label
from app.errors import SiteloreError
from app.models.common.workspace import WorkspaceModel
from app.models.knowledge.similar_list import ExampleListModel
from app.models.review.composer import ComposerModel
from app.models.review.review_facts import row_facts
from app.views.frame.doctor_panel import DoctorPanel, TextPanel
from kb.tip import PreflightExample, TipDraft
from tests.support.fake_engine import FakeEngine
from tests.support.review_window import ReviewWindow

Key = Qt.Key


def test_a_composer_that_cannot_be_filled_holds_nothing_of_the_tip_before(desk: ReviewWindow) -> None:
    desk.press(Key.Key_T)
    desk.until(lambda: desk.model.composer.is_ready)
    assert desk.view.composer.site.text()
    desk.model.close_composer()

    async def refuses(run: str, step: int) -> None:
        raise SiteloreError(f"run {run} has no step {step}; it has 0")

    desk.engine.compose_tip = refuses
    desk.press(Key.Key_J)
    desk.until(lambda: desk.model.detail is not None)
    desk.press(Key.Key_T)
    desk.until(lambda: desk.model.composer.error)

    composer = desk.view.composer
    assert (composer.site.text(), composer.scope.text(), composer.text.toPlainText()) == ("", "", "")
    assert not composer.kept.isVisible()
    assert not composer.save.isEnabled()
    desk.model.composer.save()
    assert not [name for name, _ in desk.engine.calls if name == "save_tip"]


def test_the_form_is_empty_while_the_next_one_is_awaited(client, tasks, fake_engine, qtbot) -> None:
    model = ComposerModel(client, tasks)
    first, second, *_ = fake_engine.all_runs.values()
    model.open(first.id, 0)
    qtbot.waitUntil(lambda: model.is_ready)
    model.close()

    model.open(second.id, 0)

    assert model.draft == TipDraft(site="", text="")
    assert (model.intent, model.kept) == ("", False)


def test_a_run_without_steps_offers_no_tip(desk: ReviewWindow) -> None:
    desk.until(lambda: bool(desk.model.steps.rows))
    assert desk.center.action("tip.compose").isEnabled()

    desk.model.steps.replace([])
    desk.center.refresh()

    assert not desk.center.action("tip.compose").isEnabled()
    desk.press(Key.Key_T)
    assert not desk.model.composer.is_open


@pytest.fixture
def empty_desk(fake_engine: FakeEngine, make_desk) -> ReviewWindow:
    fake_engine.all_runs.clear()
    desk = make_desk(start=False)
    desk.model.start()
    desk.until(lambda: desk.view.queue.empty.isVisible())
    return desk


def job(state: str) -> JobChanged:
    return JobChanged(id="job-1", title=IMPORT_JOB_TITLE, state=state)


@pytest.mark.parametrize("end", ["done", "failed", "cancelled"])
def test_an_import_under_way_is_said_where_the_runs_will_be(
    empty_desk: ReviewWindow, fake_engine, end: str
) -> None:
    face = empty_desk.view.queue.empty
    assert face.title.text() == "No runs yet"
    assert face.button.isVisible()

    fake_engine.bus.publish(job("running"))
    assert face.title.text() == "Importing runs…"
    assert not face.button.isVisible()

    fake_engine.bus.publish(job(end))
    assert face.title.text() == "No runs yet"
    assert face.button.isVisible()


def test_an_import_that_ended_with_its_engine_is_not_said_to_go_on(
    empty_desk: ReviewWindow, client, fake_engine
) -> None:
    fake_engine.bus.publish(job("running"))
    client.host_changed.emit("The engine stopped unexpectedly.")
    assert empty_desk.view.queue.empty.title.text() == "No runs yet"


def test_a_run_of_an_unknown_site_says_so(fake_engine, run) -> None:
    row = run(fake_engine.list_runs(RunFilter()))[0]
    assert row_facts(replace(row, site="", task_id="565")).title == "unknown site · 565"


@pytest.mark.parametrize(
    ("outcome", "label"),
    [("step_limit", "out of steps"), ("infeasible", "gave up"), ("answered", "answered")],
)
def test_the_header_names_an_outcome_as_live_and_the_terminal_do(
    fake_engine, run, outcome: str, label: str
) -> None:
    row = run(fake_engine.list_runs(RunFilter()))[0]
    assert row_facts(replace(row, outcome=outcome)).ended == label == outcome_label(outcome)


@pytest.mark.parametrize("kind", ["text", "doctor"])
def test_every_panel_of_words_has_a_button_that_closes_it(
    kind: str, client, tasks, theme, qtbot, settle
) -> None:
    host = QWidget()
    qtbot.addWidget(host)
    host.resize(1000, 700)
    host.show()
    if kind == "text":
        panel: TextPanel | DoctorPanel = TextPanel(theme, host, QSize(720, 420))
        panel.tell("The last crash", "Fatal Python error")
    else:
        panel = DoctorPanel(WorkspaceModel(client, tasks), theme, host)
        panel.present()
    closing = next(one for one in panel.findChildren(QPushButton) if one.accessibleName() == "Close")
    assert panel.isVisible()

    QTest.mouseClick(closing, Qt.MouseButton.LeftButton)

    assert not panel.isVisible()


def test_steps_of_passed_runs_are_seen_before_those_of_failed_ones(qapp) -> None:
    examples = [
        PreflightExample(run=f"run-{number}", step=1, url="http://a/", failed=failed, route="url", score=0.5)
        for number, failed in enumerate([True] * 5 + [False] * 3)
    ]
    model = ExampleListModel()
    model.show(examples)

    assert [example.failed for example in model.rows] == [False] * 3 + [True] * 5
    assert len(model.rows) == 8


FIRST = """
import sys
from pathlib import Path
from PySide6.QtCore import QCoreApplication
from app import settings
from app.models.common.single_instance import SingleInstance
app = QCoreApplication([])
first = SingleInstance(Path(sys.argv[1]).resolve(), settings.runtime_dir())
assert first.claim()
first.called.connect(lambda paths: (print("called", flush=True), app.quit()))
print("open", flush=True)
app.exec()
first.release()
"""


def test_a_second_start_says_that_it_is_open_already_and_calls_the_window(tmp_path: Path) -> None:
    first = subprocess.Popen([sys.executable, "-c", FIRST, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert first.stdout is not None
    try:
        assert first.stdout.readline() == "open\n"
        command = [sys.executable, "-m", "app", "--workspace", str(tmp_path)]
        second = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert first.stdout.readline() == "called\n"
    finally:
        first.kill()
        first.communicate()

    assert second.returncode == 0
    assert f"{tmp_path.resolve()} is already open" in second.stderr


def test_the_window_s_class_is_the_program_s_name() -> None:
    code = "from app.main import _application; print(_application().arguments())"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.strip() == "['sitelore']"
