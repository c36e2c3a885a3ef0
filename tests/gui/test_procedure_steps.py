"""A tip's steps in the composer: compiled while typing, corrected by keys, kept with the tip."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.engine.api.graph_api import ScopeCoverage
from app.models.knowledge.procedure_model import ProcedureModel, marked_parts, step_words
from app.models.knowledge.tip_fields import coverage_text
from app.views.knowledge.procedure_pane import step_row
from kb.procedure import Choice, Procedure, ProcedureOrigin, ProcedureStep, StepKind
from kb.tip import TipDraft
from tests.support.review_window import ReviewWindow

Key = Qt.Key
ALT = Qt.KeyboardModifier.AltModifier
CONTROL = Qt.KeyboardModifier.ControlModifier
DO = 'Press "Orders", then fill "Search" with the order number, then press "Go".'


def step(target: str, kind: StepKind = StepKind.PRESS, **more: str) -> ProcedureStep:
    return ProcedureStep(kind=kind, target=target, **more)


def by_person(*entries: ProcedureStep | Choice) -> Procedure:
    return Procedure(entries=entries, origin=ProcedureOrigin.PERSON)


def targets(model: ProcedureModel) -> list[str]:
    return [row.step.target for row in model.steps.rows]


@pytest.fixture
def edited(qapp):
    """A model that can be edited, and the procedures it announced."""
    model = ProcedureModel()
    model.set_editable(True)
    heard: list[Procedure | None] = []
    model.edited.connect(heard.append)
    return model, heard


@pytest.fixture
def desk(make_desk) -> ReviewWindow:
    return make_desk()


# ---------------------------------------------------------------- the model
def test_a_text_is_shown_as_its_compiled_steps(edited):
    model, heard = edited
    model.show(TipDraft(site="shop", text="t", do=DO))
    assert [row.step.kind for row in model.steps.rows] == [StepKind.PRESS, StepKind.FILL, StepKind.PRESS]
    assert targets(model) == ["Orders", "Search", "Go"]
    assert [row.number for row in model.steps.rows] == [1, 2, 3]
    assert not model.is_corrected
    assert heard == []


def test_the_things_of_a_warning_and_what_could_not_be_read_are_named(edited):
    model, _ = edited
    model.show(TipDraft(site="shop", text="t", do='Press "Save". Never press "Delete".'))
    assert "Delete" in model.never
    assert "Delete" not in targets(model)


def test_a_step_is_changed_added_moved_and_removed(edited):
    model, heard = edited
    model.show(TipDraft(site="shop", text="t", do=DO))
    model.select(0)
    model.set_field("target", "All orders")
    assert heard[-1] == by_person(*(row.step for row in model.steps.rows))
    assert model.is_corrected
    model.move(1)
    assert targets(model) == ["Search", "All orders", "Go"]
    assert model.current == 2
    assert not model.can_move(2)
    model.remove()
    assert targets(model) == ["Search", "Go"]
    model.add()
    model.set_field("kind", "hover")
    model.set_field("target", "Menu")
    assert [str(one) for one in heard[-1].steps][-1] == 'hover "Menu"'


def test_an_empty_step_is_never_stored_and_stays_while_it_is_written(edited):
    """A step without a target could not be read again."""
    model, heard = edited
    draft = TipDraft(site="shop", text="t", procedure=by_person(step("Orders")))
    model.show(draft)
    model.select(0)
    model.add()
    assert heard[-1] == by_person(step("Orders"))
    model.show(TipDraft(site="shop", text="t", procedure=heard[-1]))  # the check after the typing
    assert targets(model) == ["Orders", ""]


def test_a_step_of_a_choice_stays_in_its_way_and_a_way_that_is_empty_is_no_choice(edited):
    model, heard = edited
    choice = Choice(ways=((step("A"), step("B")), (step("C"),)))
    model.show(TipDraft(site="shop", text="t", procedure=by_person(step("S"), choice)))
    assert [(row.number, row.way) for row in model.steps.rows] == [(1, ""), (2, "either"), (3, ""), (4, "or")]
    model.select(2)
    assert not model.can_move(1)
    model.move(-1)
    assert heard[-1].entries[1] == Choice(ways=((step("B"), step("A")), (step("C"),)))
    model.select(3)
    model.remove()
    assert heard[-1].entries == (step("S"), step("B"), step("A"))
    model.select(0)
    model.move(1)
    assert heard[-1].entries == (step("B"), step("S"), step("A"))


def test_a_step_passes_a_choice_as_a_whole(edited):
    model, heard = edited
    choice = Choice(ways=((step("A"), step("B")), (step("C"),)))
    model.show(TipDraft(site="shop", text="t", procedure=by_person(step("S"), choice)))
    model.select(0)
    model.move(1)
    assert heard[-1].entries == (choice, step("S"))
    assert model.current == 4


def test_another_target_forgets_the_recorded_control(edited):
    model, heard = edited
    recorded = by_person(step("Orders", locator="{}"))
    model.show(TipDraft(site="shop", text="t", procedure=recorded))
    model.select(0)
    model.set_field("when", "the menu is closed")
    assert heard[-1].steps[0].locator == "{}"
    model.set_field("target", "Sales")
    assert heard[-1].steps[0].locator == ""


def test_nothing_is_changed_while_a_tip_is_only_read(edited):
    model, heard = edited
    model.show(TipDraft(site="shop", text="t", do=DO))
    model.set_editable(False)
    model.select(0)
    for change in (model.add, model.remove, lambda: model.move(1), lambda: model.set_field("target", "x")):
        change()
    assert heard == []


def test_placeholders_and_landmarks_stand_out_in_a_row(edited):
    assert marked_parts("order {order} of {user}") == [
        ("order ", False), ("{order}", True), (" of ", False), ("{user}", True),
    ]  # fmt: skip
    model, _ = edited
    row = by_person(step("Search", StepKind.FILL, value="{order_number}", near="Orders", when="it is shown"))
    model.show(TipDraft(site="shop", text="t", procedure=row))
    head, below = step_row(model.steps.rows[0]).lines
    assert [span.text for span in head.spans if span.bold] == ["fill", "{order_number}"]
    assert "Orders" in below.spans[0].text
    assert (
        step_words(model.steps.rows[0].step) == "fill Search beside “Orders” = {order_number} if it is shown"
    )


@pytest.mark.parametrize(
    ("coverage", "said"),
    [
        (None, ""),
        (ScopeCoverage(holds=0, pages=0), ""),
        (ScopeCoverage(holds=0, pages=120), "holds on none of the 120 pages of the map"),
        (ScopeCoverage(holds=12, pages=120), "holds on 12 of the 120 pages of the map"),
    ],
)
def test_a_scope_says_on_how_many_pages_of_the_map_it_holds(coverage, said):
    assert coverage_text(coverage) == said


# ---------------------------------------------------------------- in the composer
def test_the_steps_follow_the_typing_and_the_scope_says_where_it_holds(desk):
    desk.press(Key.Key_T)
    composer = desk.view.composer
    desk.until(lambda: desk.model.composer.is_ready)
    desk.type("Orders are found by their number")
    composer.parts["do"].setFocus()
    desk.type(DO)
    desk.until(lambda: targets(desk.model.composer.procedure) == ["Orders", "Search", "Go"])
    assert composer.steps.head.text() == "Steps (3)"
    assert composer.steps.origin.text() == "read from the text"
    assert composer.steps.list.isVisible()
    desk.until(lambda: composer.coverage.text() == "holds on 12 of the 120 pages of the map")


def test_steps_are_corrected_by_keys_saved_and_compiled_again(desk):
    desk.press(Key.Key_T)
    composer, model = desk.view.composer, desk.model.composer
    desk.until(lambda: model.is_ready)
    desk.type("Orders are found by their number")
    composer.parts["do"].setFocus()
    desk.type(DO)
    desk.until(lambda: len(model.procedure.steps.rows) == 3)
    desk.press(Key.Key_N, ALT)
    assert QApplication.focusWidget() is composer.steps.fields["target"]
    QTest.keyClicks(QApplication.focusWidget(), "Export")
    desk.press(Key.Key_Up, ALT)
    assert targets(model.procedure) == ["Orders", "Search", "Export", "Go"]
    assert composer.steps.origin.text() == "corrected by a person"
    composer.steps.list.setFocus()
    desk.press(Key.Key_Down)
    assert model.procedure.current == 4
    desk.press(Key.Key_Delete, ALT)
    assert targets(model.procedure) == ["Orders", "Search", "Export"]
    corrected = model.draft.procedure
    assert corrected is not None
    assert corrected.origin is ProcedureOrigin.PERSON
    desk.press(Key.Key_C, ALT)
    assert model.draft.procedure is None
    assert targets(model.procedure) == ["Orders", "Search", "Go"]
    desk.press(Key.Key_Down, ALT)  # nothing below the last step
    desk.press(Key.Key_Up, ALT)
    desk.press(Key.Key_Return, CONTROL)
    desk.until(lambda: any(name == "save_tip" for name, _ in desk.engine.calls))
    saved = next(args[0] for name, args in desk.engine.calls if name == "save_tip")
    assert saved.procedure.origin is ProcedureOrigin.PERSON
    assert [one.target for one in saved.procedure.steps] == ["Orders", "Go", "Search"]


def test_the_steps_of_a_takeover_are_shown_and_saved_with_the_tip(desk):
    recorded = Procedure(entries=(step("Buy", locator="{}"),), origin=ProcedureOrigin.TAKEOVER)
    draft = TipDraft(site="gitlab", text="A recorded way", procedure=recorded)
    desk.model.composer.open(desk.model.run, 4, draft)
    desk.model.composing_changed.emit(True)
    desk.until(lambda: desk.model.composer.is_ready)
    assert desk.view.composer.steps.origin.text() == "recorded in a takeover"
    desk.view.composer.text.setFocus()
    desk.view.composer.text.moveCursor(desk.view.composer.text.textCursor().MoveOperation.End)
    desk.type(" that works")
    desk.press(Key.Key_Return, CONTROL)
    desk.until(lambda: any(name == "save_tip" for name, _ in desk.engine.calls))
    saved = next(args[0] for name, args in desk.engine.calls if name == "save_tip")
    assert saved.text == "A recorded way that works"
    assert saved.procedure == recorded
