"""Pages that one can read: folded, searched, copied as seen, brought into sight by a rule; the cause at the top."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QContextMenuEvent, QGuiApplication
from PySide6.QtWidgets import QApplication, QMenu

from app.engine.api.engine_api import PageView, StepView
from app.engine.api.review_api import CauseSource, LikelyCause, Suspect
from app.engine.core.actions.recorded import ActionTarget
from app.engine.core.ax_tree import AxTreeLine
from app.models.common.page import PageModel, line_selector, line_text, line_words
from app.models.review.page_pair import first_sight, scroll_together
from app.models.review.reasons import decision
from app.models.review.review_facts import facts_of_step

Key = Qt.Key
RUN = "cba-shopping-101"


def node(
    depth: int, role: str, name: str = "", bid: str = "", change: str = "same", target: bool = False
) -> AxTreeLine:
    return AxTreeLine(
        depth=depth, role=role, name=name, bid=bid, properties="", change=change, is_target=target  # type: ignore[arg-type]
    )  # fmt: skip


CHIP = (
    node(0, "RootWebArea", "Merge requests", "1"),
    node(1, "list", "", "2"),
    node(2, "listitem", "", "3"),
    node(3, "button", "Reviewer = Byte Blaze", "4"),
    node(4, "StaticText", "Reviewer"),
    node(4, "button", "", "5", target=True),
    node(2, "listitem", "", "6"),
    node(3, "link", "Open 8", "7"),
    node(4, "StaticText", "Open"),
    node(4, "StaticText", "8"),
)


def shown(model: PageModel) -> list[str]:
    return [line_text(line) for line in model.all_lines]


def model_of(*lines: AxTreeLine, **how) -> PageModel:
    model = PageModel()
    model.show(PageView(url="http://shop.example/", title="Shop", lines=tuple(lines)), **how)
    return model


@pytest.fixture
def pages(desk, monkeypatch):
    """Show these pages at the open step."""

    def show(before, after=None, step=3, **fields):
        async def view_step(run, index):
            sides = [
                PageView(url=f"http://shop.example/{n}", title="Shop", lines=tuple(one))
                for n, one in enumerate((before, after if after is not None else before))
            ]
            return StepView(run=run, index=index, before=sides[0], after=sides[1], **{"changed": 0, **fields})

        monkeypatch.setattr(desk.engine, "view_step", view_step)
        desk.model.open_run(RUN, step)
        desk.until(lambda: desk.model.run == RUN and desk.model.detail is not None)
        desk.model.views.forget(RUN)
        desk.model.show_step(step + 1)
        desk.until(lambda: desk.model.view is not None and desk.model.view.index == step + 1)
        desk.wait()
        return desk.view.step

    return show


# ---------------------------------------------------------------- the model
def test_a_page_is_folded_until_the_raw_tree_is_asked_for():
    model = model_of(*CHIP)
    assert shown(model) == [
        "RootWebArea Merge requests", "button Reviewer = Byte Blaze", "button of 'Reviewer = Byte Blaze'",
        "link Open 8",
    ]  # fmt: skip
    assert model.target == 2
    model.set_raw(True)
    assert len(shown(model)) == len(CHIP)
    assert model.target == 5
    model.set_raw(False)
    assert [model.row_of(line) for line in (0, 3, 4, 5, 9)] == [0, 1, 1, 2, 3]


def test_a_hit_of_a_search_is_shown_whatever_is_folded():
    model = model_of(
        node(0, "main"), node(1, "StaticText", "Period"), node(1, "combobox", "Period"), node(1, "image")
    )
    assert shown(model) == ["main", "combobox Period"]
    model.find("PERIOD")
    assert [model.all_lines[row].role for row in model.hits] == ["combobox"]
    folded = model_of(*CHIP)
    folded.find("open")
    assert [line_text(folded.all_lines[row]) for row in folded.hits] == ["link Open 8"]
    folded.find("nowhere")
    assert folded.hits == ()


def test_a_control_is_found_by_its_role_too_and_a_wrapper_is_not():
    model = model_of(
        node(0, "main"), node(1, "list"), node(2, "listitem"), node(3, "button", "Save"), node(1, "textbox")
    )
    model.find("textbox")
    assert [model.all_lines[row].role for row in model.hits] == ["textbox"]
    model.find("button save")
    assert [model.all_lines[row].role for row in model.hits] == ["button"]
    model.find("list")
    assert model.hits == ()


def test_a_marked_line_is_shown_by_its_row_and_says_its_word():
    model = model_of(*CHIP)
    model.mark(9, "in the answer")
    assert line_text(model.line(model.marked)) == "link Open 8"
    assert model.index(model.marked, 0).data() == "link 'Open 8', in the answer"
    model.mark(-1, "")
    assert model.marked == -1


def test_another_page_is_shown_in_short_until_the_whole_is_asked_for():
    many = [node(1, "heading", f"h{n}") for n in range(9)]
    model = model_of(node(0, "RootWebArea", "Shop"), node(1, "link", "Home"), *many, another=True)
    assert "link Home" not in shown(model)
    model.set_whole(True)
    assert "link Home" in shown(model)
    model.set_whole(False)
    model.find("home")
    assert "link Home" in shown(model)


def test_words_are_for_readers_text_is_for_copying_and_selectors_are_playwrights():
    model = model_of(
        node(0, "StaticText", "Earth", change="removed"),
        node(0, "button", 'Say "hi"', "3", change="added"),
        node(0, "button", "", "9", change="added"),
    )
    earth, button, nameless = model.all_lines
    assert line_words(earth) == "removed, StaticText 'Earth'"
    assert line_text(earth) == "Earth"
    assert [line_selector(line) for line in (earth, button, nameless)] == [
        'text="Earth"', 'role=button[name="Say \\"hi\\""]', '[bid="9"]',
    ]  # fmt: skip


# ---------------------------------------------------------------- which lines come into sight
def _page(size: int, *, target: int = -1, changed: dict[int, str] | None = None) -> PageModel:
    changes = changed or {}
    return model_of(
        *(node(0, "link", f"l{n}", str(n), changes.get(n, "same"), n == target) for n in range(size))
    )


@pytest.mark.parametrize(
    ("before", "after", "alike", "another", "rows"),
    [
        (_page(99, target=40), _page(99), 0.1, True, (40, 0)),
        (_page(99, target=40), _page(99, changed={45: "added"}), 0.9, False, (40, 40)),
        (_page(99, target=40), _page(99, changed={80: "added"}), 0.9, False, (40, 80)),
        (_page(99, target=40), _page(99, changed={45: "added"}), 0.6, False, (40, 45)),
        (_page(99), _page(99, changed={70: "added"}), 0.9, False, (70, 70)),
        (_page(99, target=40, changed={44: "removed"}), _page(99), 0.9, False, (40, 40)),
        (_page(99, target=40, changed={90: "removed"}), _page(99), 0.9, False, (90, 90)),
        (_page(99, target=40), _page(99), 1.0, False, (40, 40)),
        (_page(99), _page(99), 1.0, False, (0, 0)),
    ],
    ids=[
        "1 another page", "2 one sight", "2 far away", "2 they differ", "2 no target", "3 gone in sight",
        "3 gone far away", "4 no change", "4 no target either",
    ],
)  # fmt: skip
def test_the_rule_of_what_comes_into_sight(before, after, alike, another, rows):
    empty = PageView(url="", title="")
    view = StepView(run="r", index=0, before=empty, after=empty, changed=1, alike=alike, another=another)
    assert first_sight(view, before, after, height=20) == rows
    assert scroll_together(view) == (alike >= 0.8 and not another)


@pytest.mark.parametrize(
    ("reason", "decides"),
    [
        ("The user wants X. The page shows Y. I will click 'Go'.", "I will click 'Go'."),
        ("The user wants X. The next step is to open Orders. It lists them.", "The next step is to open Orders."),
        ("I will type the name. After that, I will click the button.", "I will type the name."),
        ("The title is set. I need to save the form. The button is above.", "I need to save the form."),
        ("The price is $4.20. Nothing else is on the page.", "Nothing else is on the page."),
        ("I click it.", ""),
        ("", ""),
    ],
    ids=["will", "next step", "not what comes later", "needs", "the last sentence", "one sentence", "none"],
)  # fmt: skip
def test_the_decision_of_a_reason_by_its_rule(reason, decides):
    assert decision(reason) == decides


# ---------------------------------------------------------------- in the window
def test_did_calls_a_nameless_target_as_the_page_does(pages, desk):
    step = pages(CHIP)
    line = step.before.model.all_lines[step.before.model.target]
    assert line.near == "of 'Reviewer = Byte Blaze'"
    nameless = replace(desk.model.step, target=ActionTarget(role="button", name="", bid="5"))
    assert "button of 'Reviewer = Byte Blaze'" in facts_of_step(nameless, 11, desk.model.view).did


def test_a_target_that_is_not_in_the_tree_is_named_by_its_id(pages, desk):
    step = pages(CHIP[:5])
    bid = desk.model.step.action.bid
    assert step.before.remark.text() == f"✗ element {bid} is not in the page tree"
    assert f"element {bid} is not in the page tree" in step.facts.did.accessibleName()


def test_r_shows_the_raw_tree_and_what_is_at_the_top_stays(pages, desk):
    lines = [
        node(0, "main"),
        *(one for n in range(80) for one in (node(1, "listitem"), node(2, "link", f"l{n}"))),
    ]
    step = pages(lines)
    step.before.lines.verticalScrollBar().setValue(30)
    top = step.before.model.line(30).name
    desk.press(Key.Key_R)
    assert step.before.model.raw
    assert step.after.model.raw
    assert step.before.model.line(step.before.lines.verticalScrollBar().value()).name == top
    desk.press(Key.Key_R)
    assert not step.before.model.raw


def test_f_finds_on_both_pages_and_counts(pages, desk):
    step = pages(
        [node(0, "main"), node(1, "link", "Mug"), node(1, "link", "Bowl")],
        [node(0, "main"), node(1, "link", "Mug"), node(1, "link", "Mug rack")],
    )
    desk.press(Key.Key_F)
    desk.type("mug")
    search = step.search
    assert search.count.text() == "1 of 3"
    desk.press(Key.Key_Return)
    assert search.count.text() == "2 of 3"
    assert step.after.model.hit_row == 1
    desk.press(Key.Key_F3)
    assert search.count.text() == "3 of 3"
    desk.press(Key.Key_F3)
    assert search.count.text() == "1 of 3"
    desk.press(Key.Key_F3, Qt.KeyboardModifier.ShiftModifier)
    assert search.count.text() == "3 of 3"
    desk.type("x")
    assert search.count.text() == "no match"
    desk.press(Key.Key_Escape)
    assert not search.isVisible()
    assert step.after.model.hits == ()


def test_another_page_says_so_and_a_key_shows_all_of_it(pages, desk):
    after = [
        node(0, "RootWebArea", "Order"),
        node(1, "link", "Home"),
        *(node(1, "heading", f"h{n}") for n in range(9)),
    ]
    step = pages([node(0, "RootWebArea", "Shop")], after, changed=11, alike=0.0, another=True)
    assert step.after.remark.text() == "another page"
    assert step.after.model.rowCount() == 9
    assert step.whole.isVisible()
    desk.press(Key.Key_R, Qt.KeyboardModifier.ShiftModifier)
    assert step.after.model.rowCount() == 11
    assert not any(line.change != "same" for line in step.after.model.all_lines)


def test_the_menu_of_a_line_copies_what_one_sees_its_selector_and_the_address(pages, desk):
    step = pages(CHIP)
    lines = step.before.lines
    lines.setFocus()
    lines.setCurrentIndex(lines.model().index(3, 0))
    desk.press(Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text() == "link Open 8"
    copied = {}
    for number in range(3):
        point = lines.visualRect(lines.currentIndex()).center()
        QApplication.sendEvent(
            lines.viewport(),
            QContextMenuEvent(QContextMenuEvent.Reason.Keyboard, point, lines.mapToGlobal(point)),
        )
        menu = next(menu for menu in lines.findChildren(QMenu) if menu.isVisible())
        action = menu.actions()[number]
        action.trigger()
        copied[action.text()] = QGuiApplication.clipboard().text()
        menu.close()
        desk.wait()
    assert copied == {
        "Copy text": "link Open 8",
        "Copy as selector": 'role=link[name="Open 8"]',
        "Copy the page's address": "http://shop.example/0",
    }


def test_the_reason_begins_with_its_decision_and_has_the_width_without_an_error(desk):
    desk.model.open_run(RUN, 3)
    desk.until(lambda: desk.model.run == RUN and desk.model.view is not None and desk.model.view.run == RUN)
    facts = desk.view.step.facts
    shown = replace(
        desk.model.step_facts, why="The user wants X. I will click 'Go'.", decision="I will click 'Go'."
    )
    facts.show_facts(replace(shown, error="", trouble_words="", trouble=""))
    desk.wait()
    assert facts.why.toPlainText() == "I will click 'Go'.\nThe user wants X. I will click 'Go'."
    wide = facts.why.width()
    facts.show_facts(replace(shown, error="Timeout", trouble_words="error", trouble="hard"))
    desk.wait()
    assert facts.why.width() < wide
    assert wide > facts.width() * 0.8


# ---------------------------------------------------------------- the cause
def test_the_top_says_the_likely_cause_and_why_the_run_opened_at_its_step(desk, monkeypatch):
    real = desk.engine.open_run

    async def suspected(run):
        because = "The same click did nothing six times from here on"
        return replace(
            await real(run), suspect=Suspect(step=4, because=because, detector="no-effect", flag_step=7)
        )

    monkeypatch.setattr(desk.engine, "open_run", suspected)
    desk.engine.causes[RUN] = LikelyCause(
        run=RUN, text="It pressed 'Save' six times.", step=4, evidence=("6 times",)
    )
    desk.model.open_run(RUN)
    line, cause = desk.view.step.cause, desk.model.why.cause
    desk.until(lambda: cause.is_known)
    assert line.cause.accessibleName() == "It pressed 'Save' six times."
    assert "6 times" in line.cause.toolTip()
    assert line.because.text() == "Opened at step 4: The same click did nothing six times from here on"
    assert not line.source.isVisible()


def test_a_model_is_asked_by_a_key_and_its_cause_is_marked(desk):
    cause = desk.model.why.cause
    desk.until(lambda: cause.cause is not None)
    height = desk.view.step.cause.height()
    desk.press(Key.Key_Q, Qt.KeyboardModifier.ShiftModifier)
    desk.until(lambda: desk.said and "No model endpoint" in desk.said[-1])
    desk.engine.no_cause_model = ""
    desk.press(Key.Key_Q, Qt.KeyboardModifier.ShiftModifier)
    desk.until(lambda: cause.cause.source is CauseSource.MODEL)
    desk.wait()
    line = desk.view.step.cause
    assert (line.cause.accessibleName(), line.source.text()) == (
        "It pressed the wrong button.",
        "by the model m",
    )
    assert line.height() == height


def test_a_run_that_passed_and_one_without_a_cause_say_so_in_the_same_room(desk):
    for name, words in (
        ("cba-shopping-101", "The run passed."),
        ("cba-reddit-103", "Nothing recorded points at a cause."),
    ):
        height = desk.view.step.cause.height()
        desk.engine.causes[name] = LikelyCause(run=name)
        desk.model.open_run(name)
        desk.until(lambda name=name: desk.model.run == name and desk.model.why.cause.cause is not None)
        desk.wait()
        assert desk.view.step.cause.cause.accessibleName() == words
        assert desk.view.step.cause.height() == height


def test_the_legend_names_every_sign(desk):
    desk.center.trigger("review.legend")
    desk.wait()
    legend = desk.view.step.legend
    assert legend.isVisible()
    assert len(legend.rows) == 9
    assert all(words for _, words in legend.rows)
    legend.close()
