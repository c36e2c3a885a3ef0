"""Writing a tip from a failed run: number of keys, checks while typing, drafts that are never lost."""

from __future__ import annotations

import asyncio

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.errors import NotFound
from kb.tip import Status
from tests.support.review_window import ReviewWindow

Key = Qt.Key
CONTROL = Qt.KeyboardModifier.ControlModifier


@pytest.fixture
def desk(make_desk) -> ReviewWindow:
    return make_desk()


def write(desk: ReviewWindow, text: str) -> None:
    desk.press(Key.Key_T)
    desk.until(lambda: desk.model.composer.is_ready)
    desk.type(text)


def test_from_an_open_failed_run_to_a_saved_tip_takes_three_keys_and_no_mouse(desk):
    """Verdict, composer, save; the goal is at most eight.  Every key is sent to the focus widget."""
    failed, kind = desk.model.run, desk.model.queue.model.at(0).signature
    desk.keys = 0
    desk.press(Key.Key_1)
    desk.press(Key.Key_T)
    desk.until(lambda: desk.model.composer.is_ready)
    QTest.keyClicks(QApplication.focusWidget(), "The form saves only after Title is filled")
    desk.press(Key.Key_Return, CONTROL)
    desk.until(lambda: desk.model.run != failed)
    assert desk.keys == 3
    assert desk.keys <= 8
    saved = [args[0] for name, args in desk.engine.calls if name == "save_tip"]
    assert [draft.text for draft in saved] == ["The form saves only after Title is filled"]
    assert (saved[0].provenance.run, saved[0].provenance.step) == (failed, 4)
    assert saved[0].status is Status.REVIEWED
    assert desk.engine.verdicts[failed][0].label.value == "wrong element"
    row = desk.model.queue.model.at(desk.model.queue.model.row_of(desk.model.run))
    assert row.signature != kind
    assert not desk.view.drawer.is_open
    desk.press(Key.Key_J)  # and the keys are back with the queue
    assert desk.model.run != row.id


def test_the_composer_is_filled_and_the_run_stays_in_sight(desk):
    before = desk.view.step.geometry()
    write(desk, "")
    composer = desk.view.composer
    assert composer.site.text() == "gitlab"
    assert composer.scope.text() == "*:8023/*/-/milestones/**"
    assert composer.parts["when"].text().startswith("the page is")
    desk.until(lambda: composer.pages.text())
    assert composer.pages.text() == "74 stored pages match this scope"
    assert desk.view.step.geometry() == before
    assert composer.source.text() == "step 4"


def test_lint_similar_and_preflight_follow_the_typing(desk):
    write(desk, "Fill the Title of Exporting Tweets first")
    model = desk.model.composer
    desk.until(lambda: model.lint.errors == 1)
    spans = desk.view.composer.text.extraSelections()
    assert [span.cursor.selectedText() for span in spans] == ["Exporting Tweets"]
    assert desk.view.composer.preflight.text() == "61 stored steps (38 in failed runs, 23 in passed)"
    assert [one.relation for one in model.similar.rows] == ["duplicate", "similar"]
    desk.view.composer.text.selectAll()
    desk.type("Fill the title first")
    desk.until(lambda: model.lint.errors == 0)
    assert desk.view.composer.text.extraSelections() == []


def test_typing_asks_once_when_the_hand_rests(desk):
    asked = []
    real = desk.engine.check_tip

    async def counting(*args, **more):
        asked.append(args)
        return await real(*args, **more)

    desk.engine.check_tip = counting
    write(desk, "a sentence of many letters that is typed in one go")
    desk.wait(0.6)
    assert len(asked) <= 2


def test_a_tip_with_a_lint_error_is_saved_as_a_draft_and_says_so(desk):
    write(desk, "Only for Exporting Tweets")
    desk.press(Key.Key_Return, CONTROL)
    desk.until(lambda: any(name == "save_tip" for name, _ in desk.engine.calls))
    saved = next(args[0] for name, args in desk.engine.calls if name == "save_tip")
    assert saved.status is Status.DRAFT
    desk.until(lambda: any("as a draft: lint finds 1 error" in said for said in desk.said))


def test_an_empty_tip_is_not_saved_and_says_what_is_missing(desk):
    write(desk, "")
    desk.press(Key.Key_Return, CONTROL)
    desk.until(lambda: "The text is empty" in desk.view.composer.error.text())
    assert not [name for name, _ in desk.engine.calls if name == "save_tip"]
    assert desk.view.drawer.is_open


def test_escape_keeps_the_draft_and_it_is_there_again(desk):
    write(desk, "half a thought")
    desk.press(Key.Key_Escape)
    assert not desk.view.drawer.is_open
    assert [draft.text for draft in desk.engine.drafts.values()] == ["half a thought"]
    assert QApplication.focusWidget() is desk.view.queue.list
    desk.press(Key.Key_T)
    desk.until(lambda: desk.model.composer.is_ready)
    assert desk.view.composer.text.toPlainText() == "half a thought"
    assert desk.view.composer.kept.isVisible()


def test_typing_is_kept_before_anything_is_closed(desk):
    """After a crash the draft is in the engine's store while the composer is still open."""
    write(desk, "not saved yet")
    desk.until(lambda: desk.engine.drafts)
    assert next(iter(desk.engine.drafts.values())).text == "not saved yet"


def test_what_is_typed_before_the_form_arrives_stays(desk):
    real = desk.engine.compose_tip

    async def slow(run, step):
        await asyncio.sleep(0.2)
        return await real(run, step)

    desk.engine.compose_tip = slow
    desk.press(Key.Key_T)
    desk.type("quick hand")
    desk.until(lambda: desk.model.composer.is_ready)
    assert desk.view.composer.text.toPlainText() == desk.model.composer.draft.text == "quick hand"


def test_an_untouched_form_leaves_no_draft(desk):
    write(desk, "")
    desk.press(Key.Key_Escape)
    desk.wait(0.5)
    assert desk.engine.drafts == {}


def test_throwing_the_draft_away_brings_the_proposal_back(desk):
    write(desk, "nonsense")
    desk.center.trigger("composer.discard")
    desk.until(lambda: desk.view.composer.text.toPlainText() == "")
    desk.wait(0.5)
    assert desk.engine.drafts == {}
    assert desk.view.drawer.is_open


def test_a_failing_save_keeps_the_text_and_says_why(desk, monkeypatch):
    async def broken(draft, intent=""):
        raise NotFound("the disk is full; nothing was written")

    monkeypatch.setattr(desk.engine, "save_tip", broken)
    write(desk, "worth keeping")
    desk.press(Key.Key_Return, CONTROL)
    desk.until(lambda: desk.view.composer.error.text())
    assert "disk is full" in desk.view.composer.error.text()
    assert desk.view.composer.text.toPlainText() == "worth keeping"
    assert desk.view.drawer.is_open


def test_digits_and_letters_typed_into_the_text_stay_text(desk):
    write(desk, "1 j k t u / ?")
    assert desk.view.composer.text.toPlainText() == "1 j k t u / ?"
    assert not desk.engine.verdicts.get(desk.model.run)


def test_an_example_can_be_looked_at_while_the_composer_stays_open(desk):
    write(desk, "Fill the title first")
    desk.until(lambda: desk.model.composer.examples.rowCount() > 1)
    home = desk.model.run
    desk.view.composer.run_wanted.emit(desk.model.composer.examples.at(1).run, 4)
    desk.until(lambda: desk.model.run != home and desk.model.view is not None)
    assert desk.view.drawer.is_open
    assert desk.view.composer.text.toPlainText() == "Fill the title first"
    desk.view.composer.source.click()
    desk.until(lambda: desk.model.run == home)


def test_saving_without_going_on_stays_on_the_run(desk):
    home = desk.model.run
    write(desk, "Fill the title first")
    desk.press(Key.Key_S, CONTROL)
    desk.until(lambda: not desk.view.drawer.is_open)
    desk.wait()
    assert desk.model.run == home


def test_the_composers_fields_are_walked_in_the_order_of_writing(desk):
    write(desk, "x")
    composer = desk.view.composer
    walked = []
    for _ in range(6):
        walked.append(QApplication.focusWidget())
        QTest.keyClick(QApplication.focusWidget(), Key.Key_Tab)
    assert walked == [composer.text, *composer.parts.values(), composer.keywords]


def test_it_slides_only_where_motion_is_wanted(desk, theme):
    theme.set_reduced_motion(True)
    desk.press(Key.Key_T)
    assert desk.view.composer.pos().x() == 0
    desk.press(Key.Key_Escape)
    assert not desk.view.composer.isVisible()


def test_a_draft_thrown_away_is_gone_even_when_the_composer_closes_at_once(desk):
    write(desk, "A sentence nobody wants")
    desk.press(Key.Key_Escape)
    desk.until(lambda: not desk.model.composer.is_open)
    write(desk, "")
    desk.until(lambda: desk.model.composer.kept)

    desk.center.trigger("composer.discard")
    desk.center.trigger("composer.close")
    desk.until(lambda: not desk.model.composer.is_open)

    write(desk, "")
    assert not desk.model.composer.kept
