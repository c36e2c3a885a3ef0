"""The Review perspective by keyboard: keys, stability, and no wrong data on screen."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from PySide6.QtCore import QBuffer, QPoint, Qt
from PySide6.QtGui import QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QApplication,
    QComboBox,
    QLineEdit,
    QPlainTextEdit,
)

from app.engine.api.run_rows import RunFilter
from app.engine.core.events import RunsChanged
from app.engine.core.trajectory import Outcome
from app.errors import NotFound
from app.models.review.run_queue import QueueState, detector_label
from app.views.review.rows import run_row

Key = Qt.Key


# ---------------------------------------------------------------- the queue
def test_the_first_run_opens_at_its_suspect_step(desk):
    first = desk.model.queue.model.at(0)
    assert desk.model.run == first.id
    assert desk.model.index == first.suspect_step == 4
    assert desk.view.queue.list.currentIndex().row() == 0
    assert desk.view.queue.count.text() == "26 / 40"


def test_j_and_k_follow_the_filter_and_its_order(desk):
    shown = [row.id for row in desk.model.queue.model.rows]
    assert all(row.score is None or row.score < 1 for row in desk.model.queue.model.rows)
    for expected in shown[1:4]:
        desk.press(Key.Key_J)
        assert desk.model.run == expected
    desk.press(Key.Key_K)
    assert desk.model.run == shown[2]


def test_the_ends_of_the_queue_hold(desk):
    first = desk.model.run
    desk.press(Key.Key_K)
    assert desk.model.run == first


def test_clearing_the_filter_keeps_the_open_run_selected(desk):
    desk.press(Key.Key_J)
    desk.press(Key.Key_J)
    run, step = desk.model.run, desk.model.index
    desk.press(Key.Key_Slash)
    assert QApplication.focusWidget() is desk.view.queue.filter
    desk.type("reddit")
    desk.until(lambda: desk.model.queue.state is QueueState.READY and desk.model.queue.shown < 26)
    assert desk.model.run == run
    desk.press(Key.Key_Escape)
    desk.until(lambda: desk.model.queue.shown == 40)
    assert (desk.model.run, desk.model.index) == (run, step)
    selected = desk.view.queue.list.currentIndex()
    assert desk.model.queue.model.at(selected.row()).id == run


def test_a_judged_run_stays_under_the_hand_until_another_is_opened(desk):
    desk.press(Key.Key_Slash)
    desk.type("failed unjudged")
    desk.until(lambda: desk.model.queue.text == "failed unjudged" and desk.model.queue.shown)
    desk.press(Key.Key_Return)
    run, rows = desk.model.run, desk.model.queue.model.rowCount()
    desk.press(Key.Key_2)
    desk.until(lambda: desk.model.queue.shown == rows - 1)
    assert desk.model.queue.model.row_of(run) == 0
    desk.press(Key.Key_J)
    assert desk.model.queue.model.row_of(run) == -1
    assert desk.model.run == desk.model.queue.model.at(0).id


def test_new_runs_are_inserted_without_moving_the_selection(desk):
    desk.press(Key.Key_J)
    run, resets = desk.model.run, []
    desk.model.queue.model.modelReset.connect(lambda: resets.append(1))
    some = desk.engine.all_runs[run]
    added = replace(some, id="new-run", task_id="101", intent="a new one")
    desk.engine.all_runs["new-run"], desk.engine.flags["new-run"] = added, ()
    desk.engine.bus.publish(RunsChanged(runs=("new-run",)))
    desk.until(lambda: desk.model.queue.model.row_of("new-run") >= 0)
    assert not resets
    assert desk.model.queue.model.at(desk.view.queue.list.currentIndex().row()).id == run


NEEDS = 'found the invoice "F-12", no control for splitting it in view'


def gave_up(desk):
    """Let a run that was not loaded yet end with a reason, filter for it, and open it."""
    run = desk.model.queue.model.at(9).id
    ended = replace(desk.engine.all_runs[run], outcome=Outcome.INFEASIBLE, answer=NEEDS)
    desk.engine.all_runs[run] = ended
    desk.press(Key.Key_Slash)
    desk.type(" needs splitting")
    desk.until(lambda: desk.model.queue.shown == 1)
    desk.press(Key.Key_Return)
    desk.model.open_run(run)
    desk.until(lambda: desk.model.view is not None and desk.model.run == run)
    return desk.model.queue.model.at(desk.model.queue.model.row_of(run))


def test_a_run_that_gave_up_says_in_its_row_what_it_would_need_and_is_found_by_it(desk):
    row = gave_up(desk)
    assert row.needs == NEEDS
    _head, goal, needs = run_row(row).lines
    assert goal.spans[0].text == row.intent
    assert needs.spans[0].text == f"gave up: {NEEDS}"
    model = desk.model.queue.model
    assert f"gave up: {NEEDS}" in model.words(row)
    desk.until(lambda: desk.view.step.header.needs.isVisible())
    assert desk.view.step.header.needs.text() == f"gave up: {NEEDS}"
    assert f"gave up: {NEEDS}" in model.tip(row)


def test_a_run_that_said_nothing_has_its_detector_and_goal_in_its_row(desk):
    row = desk.model.queue.model.at(0)
    head, goal = run_row(row).lines
    assert [span.text for span in head.spans[1:]] == [
        f"{row.site} · {row.task_id}", f"{row.risk:.2f}", detector_label(row.flags[0]),
    ]  # fmt: skip
    assert goal.text == row.intent


def test_a_tip_for_a_run_that_gave_up_begins_with_what_it_would_need(desk):
    gave_up(desk)
    desk.press(Key.Key_T)
    composer = desk.view.composer
    desk.until(lambda: desk.model.composer.is_ready)
    assert composer.parts["when"].text() == "found the invoice …, no control for splitting it in view"
    composer.parts["when"].setFocus()
    desk.press(Key.Key_End)
    desk.type(" of the ward")
    assert desk.model.composer.draft.when.endswith("of the ward")
    desk.press(Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert composer.parts["when"].text() == "found the invoice …, no control for splitting it in view"


def test_an_empty_workspace_says_what_to_do(qtbot, make_desk, fake_engine):
    fake_engine.all_runs.clear()
    desk = make_desk(start=False)
    desk.model.start()
    desk.until(lambda: desk.model.queue.state is QueueState.NO_RUNS)
    assert desk.view.queue.count.text() == "0 / 0"
    assert desk.model.run == ""


def test_a_queue_that_cannot_be_read_says_why(make_desk, fake_engine, monkeypatch):
    async def broken(_which: RunFilter):
        raise NotFound("the index is gone; rebuild it")

    monkeypatch.setattr(fake_engine, "list_runs", broken)
    desk = make_desk(start=False)
    desk.model.start()
    desk.until(lambda: desk.model.queue.state is QueueState.ERROR)
    assert "the index is gone" in desk.view.queue.error.hint.text()


def test_ten_thousand_runs_scroll_and_step_without_a_wait(make_desk, fake_engine):
    some = next(iter(fake_engine.all_runs.values()))
    for number in range(10_000):
        run = replace(some, id=f"x{number}", task_id="139", score=0.0)
        fake_engine.all_runs[run.id], fake_engine.flags[run.id] = run, ()
    desk = make_desk()
    assert desk.model.queue.model.rowCount() > 10_000
    rows = [desk.model.queue.model.at(n).id for n in (1, 2, 3)]
    for expected in rows:
        desk.press(Key.Key_J)
        assert desk.model.run == expected
    desk.view.queue.list.scrollToBottom()
    assert not desk.view.queue.grab().isNull()


# ---------------------------------------------------------------- steps
def test_h_and_l_step_and_shift_goes_to_flags(desk):
    desk.press(Key.Key_L)
    assert desk.model.index == 5
    desk.press(Key.Key_H)
    desk.press(Key.Key_H)
    assert desk.model.index == 3
    desk.press(Key.Key_L, Qt.KeyboardModifier.ShiftModifier)
    assert desk.model.index == 4
    desk.press(Key.Key_L, Qt.KeyboardModifier.ShiftModifier)
    assert desk.model.index == 5
    desk.press(Key.Key_S)
    assert desk.model.index == 4
    assert desk.view.step.number.text() == "step 4 of 0–11"


def test_why_did_error_and_address_stand_under_the_pages(desk):
    desk.press(Key.Key_L)
    facts = desk.view.step.facts
    assert facts.why.toPlainText().startswith("The form needs")
    assert facts.did.accessibleName() == "type 'Exporting Tweets' into textbox 'Due Date'"
    assert facts.error_head.text() == "error: the action was not done"
    assert "intercepts pointer events" in facts.error.toPlainText()
    assert facts.at.text() == desk.model.step.url
    desk.press(Key.Key_L)
    assert "but the action was done" in facts.error_head.text()


def test_before_and_after_scroll_together(desk):
    before, after = desk.view.step.before.lines, desk.view.step.after.lines
    before.verticalScrollBar().setValue(60)
    assert after.verticalScrollBar().value() == 60
    after.verticalScrollBar().setValue(10)
    assert before.verticalScrollBar().value() == 10


def test_a_late_answer_never_shows_the_wrong_step(desk, monkeypatch):
    engine, model = desk.engine, desk.model
    desk.until(lambda: all(model.views.get(model.run, index) for index in (2, 3, 5, 6, 7)))
    desk.wait(0.2)
    model.views.forget(model.run)
    real, gates = engine.view_step, {}

    async def slow(run, index):
        gates[index] = asyncio.get_running_loop().create_future()
        await gates[index]
        return await real(run, index)

    monkeypatch.setattr(engine, "view_step", slow)
    model.show_step(7)
    model.show_step(9)
    desk.wait()
    assert model.before.rowCount() == 0
    gates[7].set_result(None)
    desk.wait()
    assert model.view is None
    assert model.before.rowCount() == 0
    gates[9].set_result(None)
    desk.until(lambda: model.view is not None)
    assert model.view.index == model.index == 9
    for gate in gates.values():
        if not gate.done():
            gate.set_result(None)
    desk.wait()
    assert model.view.index == 9


def test_a_late_run_never_replaces_a_newer_one(desk, monkeypatch):
    engine, model = desk.engine, desk.model
    rows = [row.id for row in model.queue.model.rows]
    real, gate = engine.open_run, asyncio.get_running_loop().create_future()

    async def slow(run):
        if run == rows[10]:
            await gate
        return await real(run)

    monkeypatch.setattr(engine, "open_run", slow)
    model.open_run(rows[10])
    model.open_run(rows[11])
    desk.until(lambda: model.detail is not None)
    gate.set_result(None)
    desk.wait()
    assert model.run == model.detail.run.id == rows[11]


def test_the_neighbours_are_fetched_ahead(desk):
    desk.until(lambda: all(desk.model.views.get(desk.model.run, index) for index in (2, 3, 5, 6)))
    desk.model.go(1)
    assert desk.model.view is not None
    assert desk.model.view.index == 5


def test_a_step_whose_page_cannot_be_read_says_so(desk, monkeypatch):
    async def broken(run, index):
        raise NotFound("the page of this step was lost")

    monkeypatch.setattr(desk.engine, "view_step", broken)
    desk.model.views.forget(desk.model.run)
    desk.model.show_step(10)
    desk.until(lambda: desk.model.page_error)
    assert desk.view.step.before.message.text() == "the page of this step was lost"


def test_a_flag_jumps_to_its_step(desk):
    desk.model.open_run("cba-shopping_admin-102")
    desk.until(lambda: desk.model.detail is not None and desk.model.flags.rowCount() == 3)
    last = desk.model.flags.index(2)
    desk.view.judgement.flags.setCurrentIndex(last)
    desk.view.judgement.flags.setFocus()
    desk.press(Key.Key_Return)
    assert desk.model.index == desk.model.flags.at(2).step == 10


def test_space_gives_one_page_all_the_room_and_escape_both_back(desk):
    desk.press(Key.Key_Space)
    assert desk.view.step.before.isVisible()
    assert not desk.view.step.after.isVisible()
    desk.press(Key.Key_Space)
    assert desk.view.step.after.isVisible()
    assert not desk.view.step.before.isVisible()
    desk.press(Key.Key_Escape)
    assert desk.view.step.before.isVisible()
    assert desk.view.step.after.isVisible()


# ---------------------------------------------------------------- verdicts
def test_a_digit_gives_a_verdict_and_the_same_digit_takes_it_back(desk):
    desk.press(Key.Key_2)
    desk.until(lambda: desk.model.verdicts.at(1).given)
    assert desk.engine.verdicts[desk.model.run][0].step == 4
    assert desk.said[-1] == "Verdict: wrong page"
    desk.press(Key.Key_2)
    desk.until(lambda: not desk.model.verdicts.at(1).given)
    assert desk.engine.verdicts[desk.model.run] == []


def test_the_labels_behind_zero_are_two_keys_away(desk):
    desk.press(Key.Key_0)
    desk.press(Key.Key_1)
    desk.until(lambda: desk.model.verdicts.at(9).given)
    assert desk.engine.verdicts[desk.model.run][0].label.value == "counting"


def test_a_digit_in_a_text_field_types_a_digit(desk):
    desk.press(Key.Key_Slash)
    desk.type("j2")
    assert desk.view.queue.filter.text() == "j2"
    assert not desk.engine.verdicts.get(desk.model.run)


def test_a_note_goes_with_the_verdict(desk):
    desk.press(Key.Key_M)
    desk.type("4 rows were hidden")
    desk.view.queue.list.setFocus()
    desk.press(Key.Key_1)
    desk.until(lambda: desk.model.verdicts.at(0).given)
    assert desk.model.verdicts.at(0).note == "4 rows were hidden"
    desk.press(Key.Key_M)
    desk.type("better words")
    desk.press(Key.Key_Return)
    desk.until(lambda: desk.model.verdicts.at(0).note == "better words")
    assert len(desk.engine.verdicts[desk.model.run]) == 1


def test_p_votes_on_a_tip_of_the_step_and_the_same_key_takes_it_back(desk):
    tips, shift = desk.model.tips.model, Qt.KeyboardModifier.ShiftModifier
    desk.until(tips.rowCount)
    tip, run = tips.at(0).tip, desk.model.run

    def votes():
        return [given for name, given in desk.engine.calls if name == "vote_tip"]

    for key, modifier, vote, words in (
        (Qt.Key.Key_P, Qt.KeyboardModifier.NoModifier, 1, "you: useful"),
        (Qt.Key.Key_P, shift, -1, "you: not useful"),
        (Qt.Key.Key_P, shift, 0, ""),
    ):
        before = len(votes())
        desk.press(key, modifier)
        desk.until(lambda before=before: len(votes()) > before)
        assert votes()[-1] == (run, tip, vote)
        desk.until(lambda words=words: (words or "you:") in tips.at(0).more or not words)
    desk.until(lambda: "you:" not in tips.at(0).more)
    assert f"no vote on {tip}" in desk.said
    assert desk.view.judgement.votes["up"].isVisible()


def test_runs_without_a_score_are_counted_where_the_usual_filter_hides_them(desk):
    pane, queue = desk.view.queue, desk.model.queue
    queue.set_filter("failed")
    for run in [queue.model.at(0).id, queue.model.at(1).id]:
        desk.engine.all_runs[run] = replace(desk.engine.all_runs[run], score=None)
    unscored = sum(run.score is None for run in desk.engine.all_runs.values())
    queue.load()
    desk.until(lambda: pane.hidden.text() == f"{unscored} unscored hidden · show all")
    assert pane.hidden.isVisible()
    pane.hidden.click()
    desk.until(lambda: queue.shown == queue.total)
    assert not pane.hidden.isVisible()
    assert pane.filter.text() == ""


def test_a_tip_is_from_this_run_only_where_its_provenance_says_so(desk):
    first, second = (desk.model.queue.model.at(row).id for row in (8, 9))
    ours = next(iter(desk.engine.tips))
    for id, tip in list(desk.engine.tips.items()):
        run = first if id == ours else ""
        desk.engine.tips[id] = replace(tip, provenance=replace(tip.provenance, run=run))

    tips = desk.model.tips

    def own() -> list[str]:
        return [one.tip for one in tips.model.rows if one.role == "from this run"]

    desk.until(tips.model.rowCount)  # the run that opens first has been listed
    tips.forget()
    tips.show_written(first, (ours,))
    desk.until(lambda: own() == [ours])
    tips.forget()  # as after any change of the knowledge base
    tips.show_written(second, ())
    assert own() == []
    tips.show_written(first, (ours,))
    tips.show_written(second, (ours,))
    desk.wait(0.3)
    assert own() == []


def test_the_record_of_the_detectors_is_a_key_away(desk):
    desk.press(Key.Key_D)
    desk.until(lambda: desk.model.judging.scores.rowCount() > 0)
    assert desk.view.judgement.card.isVisible()
    desk.view.judgement.card.close()


# ---------------------------------------------------------------- the whole
def test_the_session_brings_back_run_step_filter_and_widths(make_desk):
    one = make_desk()
    one.model.open_run("cba-reddit-108", 6)
    one.until(lambda: one.model.view is not None)
    one.view.columns.setSizes([300, 584, 340])
    saved = one.view.save_layout()
    two = make_desk(start=False)
    two.view.restore_layout(saved)
    two.model.start()
    two.until(lambda: two.model.view is not None)
    assert (two.model.run, two.model.index) == ("cba-reddit-108", 6)
    assert two.view.columns.sizes() == saved["columns"]["sizes"]
    assert two.view.queue.filter.text() == "failed"
    assert two.view.queue.list.currentIndex().row() == two.model.queue.model.row_of("cba-reddit-108")


def test_a_session_whose_run_is_gone_begins_at_the_head_of_the_queue(make_desk):
    desk = make_desk(start=False)
    desk.view.restore_layout({"run": "deleted-since", "step": 3, "filter": "failed"})
    desk.model.start()
    desk.until(lambda: desk.model.view is not None)
    assert desk.model.run == desk.model.queue.model.at(0).id


def test_a_picture_stands_over_the_lines_with_its_target_and_is_decoded_elsewhere(desk, monkeypatch):
    image = QImage(1280, 800, QImage.Format.Format_RGB32)
    image.fill(0x3366AA)
    buffer = QBuffer()
    buffer.open(QBuffer.OpenModeFlag.WriteOnly)
    image.save(buffer, "PNG")
    data = bytes(buffer.data().data())
    real = desk.engine.view_step

    async def pictured(run, index):
        view = await real(run, index)
        before = replace(view.before, screenshot="a" * 64, target_box=(100.0, 100.0, 80.0, 30.0))
        return replace(view, before=before, after=replace(view.after, screenshot="b" * 64))

    async def blob(digest):
        if digest == "b" * 64:
            return b"no picture"
        return data

    monkeypatch.setattr(desk.engine, "view_step", pictured)
    monkeypatch.setattr(desk.engine, "blob", blob)
    desk.model.views.forget(desk.model.run)
    desk.model.show_step(9)
    side = desk.view.step.before
    desk.until(lambda: side.picture.isVisible())
    assert side.lines.isVisible()
    assert abs(side.picture.height() / side.picture.width() - 800 / 1280) < 0.01
    assert not side.grab().isNull()
    desk.until(lambda: desk.view.step.after.message.text())
    assert "can't be read" in desk.view.step.after.message.text()
    desk.press(Key.Key_V)
    assert not side.picture.isVisible()
    assert desk.view.step.after.lines.isVisible()


def test_every_control_has_a_name_and_can_be_reached_by_tab(desk):
    controls = (QAbstractButton, QAbstractItemView, QComboBox, QLineEdit, QPlainTextEdit)
    for kind in controls:
        for control in desk.view.findChildren(kind):
            if control.isVisible() and control.focusPolicy() != Qt.FocusPolicy.NoFocus:
                assert control.accessibleName() or getattr(control, "text", str)(), control
    seen = set()
    for _ in range(60):
        QTest.keyClick(QApplication.focusWidget(), Key.Key_Tab)
        seen.add(QApplication.focusWidget())
    review = desk.view
    for wanted in (
        review.queue.filter, review.queue.list, review.step.strip, review.step.before.lines,
        review.step.after.lines, review.judgement.flags, review.judgement.verdicts, review.judgement.note,
        review.judgement.write,
    ):  # fmt: skip
        assert wanted in seen, wanted.accessibleName()


@pytest.mark.parametrize("name", ["cba-shopping_admin-107", "cba-shopping-111"])
def test_long_and_right_to_left_goals_leave_the_layout_alone(desk, name):
    height = desk.view.step.header.height()
    desk.model.open_run(name)
    desk.until(lambda: desk.model.detail is not None)
    desk.wait()
    assert desk.view.step.header.height() == height
    assert desk.view.minimumSizeHint().width() <= 1224
    assert desk.view.step.header.intent.accessibleName() == desk.engine.all_runs[name].intent.strip()


def test_the_smallest_window_needs_no_scrolling_of_the_whole(desk):
    assert desk.view.minimumSizeHint().width() <= 1280 - 56
    assert desk.view.minimumSizeHint().height() <= 800 - 90


@pytest.mark.parametrize("width", [420, 616, 1400])
def test_site_and_task_stand_whole_while_the_note_gives_way(desk, theme, width):
    header = desk.view.step.header
    facts = replace(desk.model.facts, title="shopping_admin · 10290", note="made by a script " * 8)
    header.show_facts(facts)
    header.setFixedWidth(width)
    desk.wait()
    assert header.title.shown() == "shopping_admin · 10290"
    ends = [header.title.geometry().right(), header.sign.geometry().left()]
    assert ends[0] < ends[1]


@pytest.mark.parametrize("zoom", [1.0, 1.5, 2.0])
def test_verdicts_and_note_never_overlap(desk, theme, zoom):
    theme.set_zoom(zoom)
    desk.wait()
    pane = desk.view.judgement
    assert not pane.verdicts.geometry().intersects(pane.note.geometry())
    below = pane.write.mapTo(pane, QPoint(0, 0)).y()
    assert pane.pinned.geometry().bottom() < below
    theme.set_zoom(1.0)
