"""Writing a tip from a failed run: number of keys, checks while typing, drafts that are never lost."""

from __future__ import annotations

import asyncio
from dataclasses import replace

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
    desk.press(Key.Key_M, Qt.KeyboardModifier.AltModifier)  # shows every field
    composer.text.setFocus()
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


# ---------------------------------------------------------------- the loop
def test_save_and_next_stays_in_the_filter_and_the_keys_go_on_from_there(desk):
    desk.model.queue.set_filter("failed site:gitlab")
    desk.until(lambda: {row.site for row in desk.model.queue.model.rows} == {"gitlab"})
    rows = [row.id for row in desk.model.queue.model.rows]
    write(desk, "The form saves only after Title is filled")
    desk.press(Key.Key_Return, CONTROL)
    desk.until(lambda: desk.model.run != rows[0])
    assert desk.model.run in rows
    here = rows.index(desk.model.run)
    assert desk.view.queue.list.currentIndex().row() == here
    desk.press(Key.Key_J)
    assert desk.model.run == rows[here + 1]


def test_a_run_without_steps_has_no_composer_and_shows_nothing_of_the_last_tip(desk):
    write(desk, "The form saves only after Title is filled")
    desk.press(Key.Key_S, CONTROL)
    desk.until(lambda: not desk.view.drawer.is_open)
    run = desk.model.queue.model.at(3).id
    desk.engine.all_runs[run] = replace(desk.engine.all_runs[run], step_count=0)
    desk.model._runs.pop(run, None)
    desk.model.open_run(run)
    desk.until(lambda: desk.model.detail is not None)
    desk.press(Key.Key_T)
    assert not desk.view.drawer.is_open
    assert not desk.view.judgement.write.isEnabled()


def test_a_form_that_cannot_be_filled_is_empty_and_is_not_saved(desk, monkeypatch):
    async def broken(run, step):
        raise NotFound("the run has no such step")

    write(desk, "The form saves only after Title is filled")
    desk.press(Key.Key_S, CONTROL)
    desk.until(lambda: not desk.view.drawer.is_open)
    monkeypatch.setattr(desk.engine, "compose_tip", broken)
    desk.press(Key.Key_J)
    desk.press(Key.Key_T)
    composer = desk.view.composer
    desk.until(lambda: composer.error.text())
    assert composer.site.text() == composer.scope.text() == composer.text.toPlainText() == ""
    assert not composer.save.isEnabled()
    assert not composer.kept.isVisible()


def test_a_kept_draft_comes_back_with_the_cursor_at_its_end_and_nothing_selected(desk):
    write(desk, "half a thought")
    desk.press(Key.Key_Escape)
    write(desk, " more")
    assert desk.view.composer.text.toPlainText() == "half a thought more"
    assert not desk.view.composer.text.textCursor().hasSelection()


def test_typing_continues_the_offered_start_of_a_sentence(desk):
    real = desk.engine.compose_tip

    async def offering(run, step):
        form = await real(run, step)
        return replace(form, draft=replace(form.draft, text="Repeating the button changes nothing;"))

    desk.engine.compose_tip = offering
    write(desk, " sort instead")
    assert desk.model.composer.draft.text == "Repeating the button changes nothing; sort instead"


def test_discard_is_a_button_and_can_be_undone(desk):
    composer = desk.view.composer
    write(desk, "")
    assert not composer.discard.isEnabled()
    desk.type("nonsense")
    assert composer.discard.isEnabled()
    composer.discard.click()
    desk.until(lambda: desk.model.composer.is_ready and composer.text.toPlainText() == "")
    assert composer.discard.text() == "Undo discard"
    composer.discard.click()
    assert composer.text.toPlainText() == "nonsense"
    desk.until(lambda: desk.engine.drafts)
    assert composer.discard.text() == "Discard"


def test_fields_without_text_are_folded_until_they_are_wanted(desk):
    write(desk, "")
    composer = desk.view.composer
    assert composer.parts["when"].isVisible()  # filled from the step
    assert not any(composer.parts[name].isVisible() for name in ("do", "before", "why"))
    assert not composer.keywords.isVisible()
    assert composer.more.text() == "More fields  Alt+M"
    assert composer.more.accessibleName() == "Add do, before, why, words"
    desk.press(Key.Key_M, Qt.KeyboardModifier.AltModifier)
    assert all(field.isVisible() for field in (*composer.parts.values(), composer.keywords))
    assert QApplication.focusWidget() is composer.parts["do"]
    desk.type("fill Title first")
    desk.press(Key.Key_M, Qt.KeyboardModifier.AltModifier)
    assert [name for name, field in composer.parts.items() if field.isVisible()] == ["when", "do"]
    assert desk.model.composer.draft.do == "fill Title first"


def test_runs_that_passed_stand_first_where_the_tip_would_be_retrieved(desk):
    write(desk, "Fill the title first")
    examples = desk.model.composer.examples
    desk.until(lambda: examples.rowCount() > 1)
    failed = [one.failed for one in examples.rows]
    assert failed == sorted(failed, key=lambda one: (one is None, one is True))
