"""Edit by pointing, by real key and mouse events: numbers on the picture, the choice of a target, and its call."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import QRectF, QSizeF, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.engine.api.live_api import PointTarget
from app.engine.core.events import ActionPlanned
from app.engine.core.supervision import DecisionKind, OperatorDecision, RunState
from app.models.common.engine_client import LocalClient
from app.models.live.model import LiveModel
from app.models.live.pointing_model import call_label, reading_order
from app.views.live.point_overlay import place_numbers
from app.views.live.view import LiveView
from tests.support.fake_pointing import FEW, many
from tests.support.live_page_window import PageWindow, SteppedEngine
from tests.support.manual_clock import ManualClock

K, M = Qt.Key, Qt.KeyboardModifier
SHIFT, ALT = M.ShiftModifier, M.AltModifier


class PointingDesk(PageWindow):
    """Live with a run that waits for approval of ``click('12')``, and one that is paused."""

    @property
    def card(self):
        return self.view.needs.card

    @property
    def pointing(self):
        return self.model.open_run.pointing

    def edit(self, run: str = "live-3") -> None:
        """Open a run and press ``E``; wait for the elements."""
        self.open(run)
        self.wait()
        self.press(K.Key_E)
        self.until(lambda: bool(self.pointing.targets))

    def type(self, text: str) -> None:
        """Type into the field that has the keyboard."""
        QTest.keyClicks(QApplication.focusWidget(), text)
        self.wait()

    @property
    def sent(self) -> list[OperatorDecision]:
        return [given[1] for name, given in self.engine.calls if name == "decide"]

    @property
    def edited(self) -> list[tuple[object, ...]]:
        return [given[1:] for name, given in self.engine.calls if name == "edit_planned"]


@pytest.fixture
def desk(qtbot, tasks, center, theme, run):
    theme.set_reduced_motion(True)
    engine = SteppedEngine()
    client = LocalClient(engine, engine.bus)
    clock = ManualClock()
    model = LiveModel(client, tasks, clock=clock)
    view = LiveView(model, center, theme)
    qtbot.addWidget(view)
    view.addActions(center.actions())
    center.set_place("live")
    view.resize(1280, 800)
    view.show()
    view.activateWindow()
    made = PointingDesk(view, model, engine, center, clock)
    made.until(view.isActiveWindow)
    model.start()
    made.until(lambda: model.is_loaded)
    view.focus_first()
    yield made
    view.hide()
    made.page.close_pictures()
    model.frames.close()
    run(client.aclose())


# choosing


def test_a_click_on_an_element_chooses_it_and_enter_sends_that_very_call(desk):
    desk.edit()
    assert desk.card.line.hasFocus()
    assert desk.pointing.chosen == 12, "it begins with the agent's own target"
    desk.click(130.0, 20.0)
    assert desk.card.line.text == "click('4')"
    assert "link 'Stock'" in desk.card.choice.what.text()
    assert desk.canvas.target is not None
    assert desk.canvas.target.box == FEW[1].box
    assert desk.card.line.hasFocus(), "the keyboard stays in the field"
    assert desk.sent == [], "a click only chooses"
    desk.press(K.Key_Return)
    desk.until(lambda: bool(desk.sent))
    assert [(one.kind, one.call) for one in desk.sent] == [(DecisionKind.EDIT, "click('4')")]
    assert not desk.pointing.is_editing


def test_digits_choose_a_number_and_only_the_second_enter_sends(desk):
    desk.edit()
    desk.type("4")
    assert desk.pointing.chosen == 4
    assert desk.card.choice.call.text() == "click('4')"
    desk.press(K.Key_Return)
    assert desk.sent == [], "it is chosen, and stands in the field"
    assert desk.card.line.text == "click('4')"
    desk.press(K.Key_Return)
    desk.until(lambda: bool(desk.sent))
    assert desk.sent[0].call == "click('4')"


def test_a_number_that_no_element_has_is_said_and_not_sent(desk):
    desk.edit()
    desk.type("77")
    desk.press(K.Key_Return)
    assert desk.sent == []
    assert "No element fits" in desk.card.choice.error.text()


def test_typed_words_filter_the_elements_and_the_arrows_walk_those_that_fit(desk):
    desk.edit()
    desk.type("stock")
    assert desk.pointing.matches == {4, 6}
    assert desk.pointing.chosen == 4
    desk.press(K.Key_Down)
    assert desk.pointing.chosen == 6
    assert "Stocking fillers" in desk.card.choice.what.text()
    desk.press(K.Key_Return)
    assert desk.card.line.text == "click('6')"
    desk.press(K.Key_Return)
    desk.until(lambda: bool(desk.sent))
    assert desk.sent[0].call == "click('6')"


@pytest.mark.parametrize(
    ("key", "order"), [(K.Key_Down, [14, 3, 4]), (K.Key_Tab, [14, 3, 4]), (K.Key_Up, [10, 9, 6])]
)
def test_arrows_and_tab_walk_the_elements_in_reading_order(desk, key, order):
    desk.edit()
    walked = []
    for _ in order:
        desk.press(key)
        walked.append(desk.pointing.chosen)
    assert walked == order
    assert desk.card.line.hasFocus()
    assert desk.card.line.text.endswith(f"('{order[-1]}')")


def test_a_field_asks_for_its_text_and_quotes_in_it_reach_the_page(desk):
    desk.edit()
    desk.click(100.0, 520.0)
    assert desk.pointing.asks_text
    assert desk.card.line.text == ""
    assert "Text for textbox 'Coupon'" in desk.card.line.placeholderText()
    desk.type('it\'s "12"')
    assert desk.card.choice.call.text() == "fill('10', 'it\\'s \"12\"')"
    desk.press(K.Key_Return)
    desk.until(lambda: bool(desk.sent))
    assert desk.sent[0].call == "fill('10', 'it\\'s \"12\"')"


def test_esc_goes_from_the_text_to_the_choice_and_then_leaves_with_nothing_sent(desk):
    desk.edit()
    desk.click(100.0, 520.0)
    desk.press(K.Key_Escape)
    assert not desk.pointing.asks_text
    assert desk.pointing.is_editing
    desk.press(K.Key_Escape)
    assert not desk.pointing.is_editing
    assert desk.card.line.isHidden()
    assert desk.canvas.overlay is not None
    assert desk.canvas.target is not None
    assert desk.canvas.target.words == "click button 'Place order'", "the agent's own target is shown again"
    assert desk.sent == []
    assert desk.model.run == "live-3", "the run stays open"


def test_keys_and_buttons_choose_among_the_calls_that_fit(desk):
    desk.edit()
    desk.click(100.0, 320.0)
    shown = [one.text() for one in desk.card.choice.calls if one.isVisible()]
    assert shown[:3] == ["Choose 'Small'", "Choose 'Large'", "Click"]
    desk.press(K.Key_Down, ALT)
    assert desk.card.line.text == "select_option('9', 'Large')"
    button = next(one for one in desk.card.choice.calls if one.text() == "Hover")
    assert button.accessibleName() == "hover('9')"
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    desk.wait()
    assert desk.card.line.text == "hover('9')"
    assert desk.card.line.hasFocus()
    desk.press(K.Key_Up, ALT)
    desk.press(K.Key_Return)
    desk.until(lambda: bool(desk.sent))
    assert desk.sent[0].call == "click('9')"


def test_nothing_is_approved_by_button_or_key_while_another_action_is_chosen(desk):
    """The approve button would do the agent's own action, not the one in the field."""
    desk.edit()
    desk.click(130.0, 20.0)
    for command in ("live.approve", "live.approve.run", "live.approve.site"):
        assert not desk.center.action(command).isEnabled()
        assert not desk.card.buttons[command].isVisible()
    QTest.mouseClick(desk.card.choice.send, Qt.MouseButton.LeftButton)
    desk.until(lambda: bool(desk.sent))
    assert [(one.kind, one.call) for one in desk.sent] == [(DecisionKind.EDIT, "click('4')")]


def test_the_cancel_button_leaves_and_the_decisions_are_there_again(desk):
    desk.edit()
    QTest.mouseClick(desk.card.choice.cancel, Qt.MouseButton.LeftButton)
    desk.wait()
    assert not desk.pointing.is_editing
    assert desk.center.action("live.approve").isEnabled()
    assert desk.card.buttons["live.approve"].isVisible()


def test_a_whole_call_is_typed_as_before(desk):
    desk.edit()
    desk.type("goto('http://shop.example/orders')")
    assert desk.pointing.chosen is None
    desk.press(K.Key_Return)
    desk.until(lambda: bool(desk.sent))
    assert desk.sent[0].call == "goto('http://shop.example/orders')"


def test_a_page_that_can_not_be_pointed_at_is_edited_by_typing_and_says_why(desk):
    desk.engine.point_error = "the browser is busy; try again in a moment"
    desk.open("live-3")
    desk.wait()
    desk.press(K.Key_E)
    desk.until(lambda: bool(desk.pointing.error))
    assert "the browser is busy" in desk.card.choice.error.text()
    desk.type("click('3')")
    desk.press(K.Key_Return)
    desk.until(lambda: bool(desk.sent))
    assert desk.sent[0].call == "click('3')"


def test_a_request_that_came_a_moment_ago_is_not_edited(desk):
    desk.open("live-1")
    desk.model.open("live-3")
    desk.model.open_run.requests.mark_shown()
    QTest.keyClick(QApplication.focusWidget(), K.Key_E)
    desk.wait()
    assert not desk.pointing.is_editing


def test_what_is_typed_for_one_run_is_there_again_and_another_runs_page_is_not_pointed_at(desk):
    desk.edit()
    desk.click(100.0, 520.0)
    desk.type("SAVE10")
    desk.model.open("live-1")
    desk.wait()
    assert not desk.pointing.is_editing
    assert desk.pointing.targets == ()
    desk.model.open("live-3")
    desk.wait()
    assert desk.card.line.text == "fill('10', 'SAVE10')"


def test_a_request_decided_elsewhere_ends_the_choice_and_sends_nothing(desk):
    desk.edit()
    desk.type("4")
    row = desk.engine.rows["live-3"]
    desk.engine.put(replace(row, needs=(), state=RunState.RUNNING, step=row.step + 1))
    desk.wait()
    assert desk.pointing.targets == (), "other numbers are in force"
    desk.press(K.Key_Return)
    desk.press(K.Key_Return)
    assert desk.sent == []


# a paused run


def test_the_planned_action_of_a_paused_run_is_edited_and_it_stays_paused(desk):
    desk.open("live-4")
    desk.engine.plan("live-4")
    desk.wait()
    before = desk.model.next
    assert desk.view.needs.next.edit.isVisible()
    assert desk.card.isHidden()
    desk.press(K.Key_E)
    desk.until(lambda: bool(desk.pointing.targets))
    assert desk.card.title.text() == "Edit the next action"
    desk.click(130.0, 20.0)
    desk.press(K.Key_Return)
    desk.until(lambda: bool(desk.edited))
    ((call, reason, step, instead_of),) = desk.edited
    assert (call, reason) == ("click('4')", "")
    assert (step, instead_of) == (before.step, before.call), "the action that is shown"
    desk.until(lambda: not desk.card.isVisible())
    assert desk.said[-1] == "Next action: click link 'Stock'"
    assert desk.engine.rows["live-4"].state is RunState.PAUSED
    assert desk.model.next.call == "click('4')"
    assert not desk.pointing.is_editing


def test_an_action_chosen_for_another_one_is_not_sent(desk):
    desk.open("live-4")
    desk.engine.plan("live-4")
    desk.wait()
    desk.press(K.Key_E)
    desk.until(lambda: bool(desk.pointing.targets))
    desk.click(130.0, 20.0)
    other = replace(desk.model.next, call="click('6')", words="click link 'Stocking fillers'")
    desk.engine.bus.publish(ActionPlanned(next=other))  # somebody stepped the run, and it is paused again
    desk.until(lambda: desk.model.next.call == "click('6')")
    desk.press(K.Key_Return)
    assert desk.edited == []
    desk.press(K.Key_Escape)
    desk.press(K.Key_E)
    assert desk.card.isVisible()
    assert desk.model.open_run.requests.planned.call == "click('6')"


def test_esc_leaves_the_planned_action_as_it_is(desk):
    desk.open("live-4")
    desk.engine.plan("live-4")
    desk.wait()
    desk.press(K.Key_E)
    desk.until(lambda: bool(desk.pointing.targets))
    desk.press(K.Key_Escape)
    assert desk.card.isHidden()
    assert desk.edited == []
    desk.press(K.Key_E)
    assert desk.card.isVisible()


def test_what_the_engine_refuses_stays_in_the_field_with_the_reason(desk):
    desk.open("live-4")
    desk.engine.plan("live-4")
    desk.wait()
    desk.press(K.Key_E)
    desk.until(lambda: bool(desk.pointing.targets))
    desk.type("click('99')")
    desk.press(K.Key_Return)
    desk.until(lambda: "no element 99" in desk.card.error.text())
    assert desk.card.line.text == "click('99')"
    assert desk.card.line.hasFocus()


def test_a_run_that_works_is_not_edited(desk):
    desk.open("live-1")
    desk.engine.plan("live-1")
    desk.wait()
    assert not desk.center.action("live.edit").isEnabled()
    assert not desk.center.action("live.numbers").isEnabled()


# numbers


def test_a_key_shows_the_numbers_without_editing_and_hides_them_again(desk):
    desk.open("live-3")
    desk.wait()
    desk.press(K.Key_E, SHIFT)
    desk.until(lambda: bool(desk.pointing.targets))
    desk.canvas.grab()
    assert set(desk.page.points.placed) == {3, 4, 6, 9, 10, 12}, "what is out of sight has no place"
    assert not desk.pointing.is_editing
    desk.press(K.Key_E, SHIFT)
    desk.canvas.grab()
    assert desk.page.points.placed == {}
    assert desk.pointing.targets == ()


def test_the_element_under_the_pointer_is_framed_and_named(desk):
    desk.open("live-3")
    desk.wait()
    desk.press(K.Key_E, SHIFT)
    desk.until(lambda: bool(desk.pointing.targets))
    QTest.mouseMove(desk.canvas, desk.place(130.0, 20.0))
    desk.wait()
    assert desk.pointing.hovered == 4
    assert desk.canvas.target.words == "4  link 'Stock'"
    QTest.mouseMove(desk.canvas, desk.place(700.0, 400.0))
    desk.wait()
    assert desk.pointing.hovered is None


def test_numbers_follow_the_page_and_those_of_the_next_action_replace_them(desk):
    desk.open("live-3")
    desk.wait()
    desk.press(K.Key_E, SHIFT)
    desk.until(lambda: bool(desk.pointing.targets))
    desk.engine.move_targets(90.0)
    desk.pointing._again.setInterval(0)
    desk.picture("live-3")
    desk.until(lambda: desk.pointing.at(4).box[1] == 100.0)
    asked = sum(name == "point_targets" for name, _ in desk.engine.calls)
    row = desk.engine.rows["live-3"]
    need = replace(row.needs[0], id="req-9", step=row.step + 1)
    desk.engine.put(replace(row, step=row.step + 1, needs=(need,)))
    desk.until(lambda: sum(name == "point_targets" for name, _ in desk.engine.calls) > asked)


def test_a_taken_over_or_ended_run_has_no_numbers_and_a_refusal_is_said(desk):
    desk.open("live-3")
    desk.wait()
    desk.engine.point_error = "the run has moved on; look again"
    desk.press(K.Key_E, SHIFT)
    desk.until(lambda: bool(desk.said))
    assert desk.said[-1] == "the run has moved on; look again"
    assert not desk.pointing.shows_numbers
    desk.engine.point_error = ""
    desk.press(K.Key_E, SHIFT)
    desk.until(lambda: bool(desk.pointing.targets))
    row = desk.engine.rows["live-3"]
    desk.engine.put(replace(row, state=RunState.ENDED, needs=()))
    desk.wait()
    assert desk.pointing.targets == ()


def test_the_past_has_no_numbers_and_the_key_brings_the_live_page_back(desk):
    desk.open("live-3")
    desk.wait()
    desk.press(K.Key_E, SHIFT)
    desk.until(lambda: bool(desk.pointing.targets))
    desk.press(K.Key_Comma)
    assert desk.page.replay.index is not None
    assert desk.canvas.overlay is None
    desk.press(K.Key_E)
    assert desk.page.replay.index is None
    assert desk.canvas.overlay is not None


# pure rules


def test_of_300_numbers_none_lies_on_another_and_those_near_the_pointer_come_first():
    targets = many(300)
    room = QRectF(0, 0, 640, 400)
    size = QSizeF(24, 14)
    shown = [
        (one.number, QRectF(one.box[0] / 2, one.box[1] / 2, one.box[2] / 2, one.box[3] / 2), size)
        for one in targets
    ]
    crowded = [
        (one.number, QRectF(300 + one.number % 3, 200 + one.number % 5, 8, 8), size) for one in targets
    ]
    for given, least in ((shown, 90), (crowded, 2)):
        placed = place_numbers(given, room, [299, 298])
        places = list(placed.values())
        assert len(places) >= least
        assert {299, 298} <= set(placed)
        assert all(room.contains(one) for one in places)
        assert not any(one.intersects(other) for at, one in enumerate(places) for other in places[at + 1 :])


def box(number: int, x: float, y: float, height: float = 20.0) -> PointTarget:
    return PointTarget(number=number, role="link", name=str(number), box=(x, y, 40.0, height))


@pytest.mark.parametrize(
    ("boxes", "order"),
    [
        ([box(1, 100, 10), box(2, 10, 14), box(3, 10, 60)], [2, 1, 3]),
        ([box(1, 10, 60), box(2, 10, 10), box(3, 60, 12)], [2, 3, 1]),
        ([box(1, 10, 0), box(2, 10, 18), box(3, 10, 36), box(4, 10, 54)], [1, 2, 3, 4]),
        ([], []),
    ],
    ids=["one line from the left", "lines from the top", "lines that touch stay lines", "nothing"],
)
def test_reading_order_goes_line_by_line(boxes, order):
    assert [one.number for one in reading_order(boxes)] == order


@pytest.mark.parametrize(
    ("call", "label"),
    [
        ("click('4')", "Click"),
        ("fill('4', '{text}')", "Type"),
        ("fill('4', '{text}', True)", "Type, then Enter"),
        ("select_option('4', 'Large, blue')", "Choose 'Large, blue'"),
        ("select_option('4', '{text}')", "Choose by name"),
        ("press('4', 'Enter')", "Press Enter"),
    ],
)
def test_a_call_has_a_word_or_two(call, label):
    assert call_label(call) == label


def test_a_point_of_the_picture_is_in_the_smallest_element_there(desk):
    desk.edit()
    outer = replace(FEW[0], number=50, box=(0.0, 0.0, 600.0, 200.0))
    desk.pointing.targets = (outer, *FEW)
    assert desk.pointing.under(130.0, 20.0).number == 4
    assert desk.pointing.under(400.0, 100.0).number == 50
    assert desk.pointing.under(900.0, 700.0) is None
