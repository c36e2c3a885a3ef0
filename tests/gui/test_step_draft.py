"""A model's steps beside the compiler's, in the tip editor and the composer."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.engine.api.tip_api import DraftedSteps
from app.engine.core.events import JobChanged
from app.errors import SiteloreError
from app.models.knowledge.knowledge_model import KnowledgeModel
from app.models.knowledge.step_draft import JOB, StepDraftState
from app.views.knowledge.knowledge_view import KnowledgeView
from kb.procedure import Procedure, ProcedureOrigin, ProcedureStep, StepKind
from tests.support import qt_loop

Key = Qt.Key
ALT = Qt.KeyboardModifier.AltModifier
TIP = "gitlab-001"
DRAFTED = DraftedSteps(
    procedure=Procedure(
        entries=(
            ProcedureStep(kind=StepKind.OPEN, target="/orders"),
            ProcedureStep(kind=StepKind.PRESS, target="Go", near="Filters"),
        ),
        origin=ProcedureOrigin.MODEL,
    ),
    left_out=('press "Delete all": the tip warns of it',),
    marked=('press "Go" beside "Filters": the tip does not name it',),
    model="test-model",
    seconds=1.25,
)


class DraftWindow:
    """Knowledge with one tip being edited."""

    def __init__(self, qtbot, client, tasks, center, theme, *, missing=""):
        self.engine, self.center = client.api, center
        self.engine.no_model, self.engine.model_steps = missing, DRAFTED
        self.engine.tips[TIP] = replace(self.engine.tips[TIP], do='Press "Orders", then press "Go".')
        self.model = KnowledgeModel(client, tasks)
        self.view = KnowledgeView(self.model, center, theme)
        qtbot.addWidget(self.view)
        self.view.addActions(center.actions())
        center.set_place("knowledge")
        self.view.resize(1224, 1000)
        self.view.show()
        self.view.activateWindow()
        self.model.start()
        qt_loop.until(lambda: self.model.table.total)
        self.model.open_tip(TIP)
        self.model.editor.edit()
        self.drafted, self.pane = self.model.editor.drafted, self.view.detail.drafted
        qt_loop.until(lambda: self.drafted.missing == missing)

    def press(self, key, modifier=ALT):
        QTest.keyClick(QApplication.focusWidget() or self.view, key, modifier)
        qt_loop.turn(0.02)

    @property
    def lines(self):
        return self.model.editor.draft.procedure.lines if self.model.editor.draft.procedure else ()


@pytest.fixture
def window(qtbot, client, tasks, center, theme):
    return DraftWindow(qtbot, client, tasks, center, theme)


def test_steps_are_drafted_accepted_and_taken_back_by_keys(window):
    before = window.lines
    window.press(Key.Key_D)
    qt_loop.until(lambda: window.drafted.state is StepDraftState.THERE)
    assert [one.step.target for one in window.drafted.shown.steps.rows] == ["/orders", "Go"]
    assert [one.step.target for one in window.model.editor.procedure.steps.rows] == ["Orders", "Go"]
    assert "Delete all" in window.pane.notes.text()
    assert "does not name it" in window.pane.notes.text()
    assert "test-model answered in 1.2 s" in window.pane.said.text()
    window.press(Key.Key_Y)
    assert window.lines == DRAFTED.procedure.lines
    assert window.model.editor.procedure.origin_text == "drafted by the model"
    assert window.pane.buttons["reject"].text().startswith("Take back")
    window.press(Key.Key_X)
    assert window.lines == before
    window.press(Key.Key_X)
    assert window.drafted.state is StepDraftState.NONE
    assert window.pane.notes.text() == ""
    assert not window.pane.list.isVisible()


def test_accepted_steps_are_saved_with_their_origin_and_a_correction_is_a_persons(window):
    window.press(Key.Key_D)
    qt_loop.until(lambda: window.drafted.can_accept)
    window.press(Key.Key_Y)
    window.model.editor.procedure.select(0)
    window.press(Key.Key_Delete)
    assert window.lines == DRAFTED.procedure.lines[1:]
    assert window.model.editor.draft.procedure.origin is ProcedureOrigin.PERSON
    assert window.drafted.state is StepDraftState.NONE, "taking back would lose the correction"


def test_asking_can_be_stopped_and_an_answer_that_comes_late_is_dropped(window):
    window.engine.model_waits = asyncio.Event()
    window.press(Key.Key_D)
    assert window.drafted.can_stop
    assert "being asked" in window.pane.said.text()
    window.engine.tell_job(
        JobChanged(id="job-7", title=JOB, state="running", done=0, total=1, detail="", error="")
    )
    qt_loop.until(lambda: window.drafted._job is not None)
    window.center.trigger("tip.model.stop")
    window.engine.model_waits.set()
    qt_loop.until(lambda: ("cancel_job", ("job-7",)) in window.engine.calls)
    assert window.drafted.state is StepDraftState.NONE
    assert window.drafted.found is None


def test_leaving_the_edit_stops_asking(window):
    window.engine.model_waits = asyncio.Event()
    window.press(Key.Key_D)
    window.model.editor.discard()
    assert window.drafted.state is StepDraftState.NONE
    assert not window.pane.isVisible()


def test_an_endpoint_that_fails_says_why(window):
    window.engine.model_steps = SiteloreError("the endpoint does not answer (set another one)")
    window.press(Key.Key_D)
    qt_loop.until(lambda: window.drafted.error)
    assert "does not answer" in window.pane.said.text()
    assert window.drafted.can_ask


def test_without_an_endpoint_the_button_says_how_to_set_one(qtbot, client, tasks, center, theme):
    window = DraftWindow(
        qtbot, client, tasks, center, theme, missing="No model endpoint is set. Set its address."
    )
    button = window.pane.buttons["draft"]
    assert not button.isEnabled()
    assert "Set its address" in button.toolTip()
    assert "Set its address" in button.accessibleDescription()
    window.press(Key.Key_D)
    assert not [one for one in window.engine.calls if one[0] == "draft_steps"]
