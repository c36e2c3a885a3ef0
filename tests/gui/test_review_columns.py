"""The side columns of Review: the filter's words, where verdicts stand, and flags by detector."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.engine.api.review_api import Suspect
from app.engine.core.verdicts import Flag, Label, Severity, Verdict
from app.models.review.filter_completion import help_of, unknown_text
from app.models.review.flags import FlagListModel, group_text
from app.models.review.run_queue import QueueState
from app.views.review.rows import LEAST_WORD, run_row

Key = Qt.Key
ALT = Qt.KeyboardModifier.AltModifier


def flags(run, count, detectors=("no-effect", "loop", "covered")):
    """So many flags by turns of these detectors, one a step."""
    return tuple(
        Flag(
            run=run, detector=detectors[number % len(detectors)], step=number % 12, severity=Severity.WARNING,
            confidence=0.5, message=f"finding {number}",
        )
        for number in range(count)
    )  # fmt: skip


def opened(desk, run):
    desk.model.open_run(run)
    desk.until(lambda: desk.model.run == run and desk.model.detail is not None)


# ---------------------------------------------------------------- the filter line
def test_a_word_of_the_filter_is_completed_by_tab(desk):
    line = desk.view.queue.filter
    desk.press(Key.Key_Slash)
    desk.type("failed la")
    assert line.popup.isVisible()
    QTest.keyClick(line, Key.Key_Tab)
    assert line.text() == "failed label:"
    assert QApplication.focusWidget() is line
    desk.type('"gave')
    QTest.keyClick(line, Key.Key_Tab)
    assert line.text() == 'failed label:"gave up" '
    desk.until(lambda: desk.model.queue.filter.label == "gave up")


def test_down_opens_the_completions_and_enter_takes_the_chosen_one(desk):
    line = desk.view.queue.filter
    desk.press(Key.Key_Slash)
    desk.press(Key.Key_Delete)
    desk.press(Key.Key_Down)
    assert line.popup.isVisible()
    words = [desk.model.queue.completion.at(row).word for row in range(line.popup.model().rowCount())]
    assert {"failed", "unjudged", "disputed", "label:", "site:", "detector:", "order:", "assigned:", "by:",
            "cluster:"} <= set(words)  # fmt: skip
    while words[line.popup.currentIndex().row()] != "unjudged":
        desk.press(Key.Key_Down)
    desk.press(Key.Key_Return)
    assert line.text() == "unjudged "
    assert not line.popup.isVisible()


def test_values_seen_in_the_workspace_complete_and_orders_too(desk):
    line = desk.view.queue.filter
    desk.press(Key.Key_Slash)
    desk.type("site:git")
    assert [one.word for one in desk.model.queue.completion.rows] == ["site:gitlab"]
    line.clear()
    desk.type("order:te")
    assert [one.word for one in desk.model.queue.completion.rows] == ["order:teach"]


def test_escape_closes_the_completions_before_it_clears_the_line(desk):
    desk.press(Key.Key_Slash)
    desk.type("failed un")
    desk.press(Key.Key_Escape)
    assert not desk.view.queue.filter.popup.isVisible()
    assert desk.view.queue.filter.text() == "failed un"
    desk.press(Key.Key_Escape)
    assert desk.view.queue.filter.text() == ""


def test_a_wrong_word_is_named_under_the_line_with_the_nearest_right_one(desk):
    queue = desk.view.queue
    desk.press(Key.Key_Slash)
    desk.type("failed detetor:loop ")
    desk.until(lambda: queue.unknown.isVisible())
    assert queue.unknown.text() == 'Unknown filter word "detetor:"; did you mean detector:?'
    desk.until(lambda: desk.model.queue.state is QueueState.NO_MATCH)
    desk.until(lambda: desk.model.queue.why_empty)
    assert queue.no_match.hint.text() == "Without detetor:loop: 26 runs."
    desk.press(Key.Key_Escape)
    desk.until(lambda: not queue.unknown.isVisible())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("failed site:gitlab words", ""),
        ("http://shop.example:7770/x", ""),
        ('"nonsense: is quoted"', ""),
        ("order:foo", 'Unknown filter word "order:foo".'),
        ("nonsense:foo", 'Unknown filter word "nonsense:".'),
    ],
)
def test_only_words_that_look_like_filters_are_named(text, said):
    assert unknown_text(text) == said


@pytest.mark.parametrize("word", ["failed", "disputed", "label:", "order:teach", "cluster:", "assigned:"])
def test_every_word_says_what_it_does(word):
    assert help_of(word)


def test_what_teaches_most_is_asked_by_one_key_and_the_filter_comes_back(desk):
    queue = desk.model.queue
    desk.press(Key.Key_T, ALT)
    desk.until(lambda: queue.model.rowCount() and queue.model.at(0).teaches)
    assert queue.text == "unjudged order:teach"
    _head, _goal, asked = run_row(queue.model.at(0)).lines
    assert asked.spans[0].text == queue.model.at(0).teaches == "stands for 12 similar runs"
    assert "stands for 12 similar runs" in queue.model.words(queue.model.at(0))
    desk.press(Key.Key_T, ALT)
    desk.until(lambda: queue.text == "failed")


def test_a_narrow_queue_leaves_out_the_detector_before_the_task(desk):
    head = run_row(desk.model.queue.model.at(0)).lines[0]
    name, risk, detector = head.spans[1:]
    assert name.text.startswith("gitlab")
    assert risk.needs == detector.needs == LEAST_WORD > name.needs


# ---------------------------------------------------------------- where verdicts stand
def test_verdicts_stand_at_the_same_place_whatever_flags_and_verdicts_a_run_has(desk):
    grid, window = desk.view.judgement.verdicts, desk.view
    runs = [row.id for row in desk.model.queue.model.rows[1:6]]
    for run, count in zip(runs, (0, 1, 27, 3, 3), strict=True):
        desk.engine.flags[run] = flags(run, count)
    desk.engine.hidden_verdicts[runs[3]] = 2
    given = [Verdict(id=f"v{n}", run=runs[4], label=label, step=n) for n, label in enumerate(Label)]
    desk.engine.verdicts[runs[4]] = given[:5]
    places = set()
    for run in runs:
        desk.model._runs.pop(run, None)
        opened(desk, run)
        desk.wait()
        places.add(grid.mapTo(window, QPoint(0, 0)).y())
    assert len(places) == 1


@pytest.mark.parametrize("zoom", [1.0, 1.5, 2.0])
def test_every_label_stands_whole_at_1280_by_800(desk, theme, zoom):
    theme.set_zoom(zoom)
    desk.wait()
    grid = desk.view.judgement.verdicts
    assert grid._needed(is_small=grid._is_small) <= grid.gridSize().width()
    assert not grid.verticalScrollBar().isVisible()
    if zoom < 2:  # at 200 % the block scrolls
        assert desk.view.judgement.pinned.verticalScrollBar().maximum() == 0
    theme.set_zoom(1.0)


def test_two_verdicts_are_two_with_step_and_author_in_the_column_and_in_the_queue(desk):
    run = desk.model.run
    desk.press(Key.Key_1)
    desk.press(Key.Key_L)
    desk.press(Key.Key_4)
    given = desk.model.judging.given
    desk.until(lambda: given.rowCount() == 2)
    assert sorted(map(given.words, given.rows)) == [
        "wrong answer, step 5 · ana",
        "wrong element, step 4 · ana",
    ]
    assert desk.view.judgement.verdict.given.isVisible()
    desk.until(lambda: desk.model.queue.model.at(0).verdicts == 2)
    assert "2 verdicts" in [span.text for span in run_row(desk.model.queue.model.at(0)).lines[-1].spans]
    listing = desk.view.judgement.verdict.given
    listing.setFocus()
    listing.setCurrentIndex(given.index(0))
    gone = given.at(0).id
    desk.press(Key.Key_Delete)
    desk.until(lambda: gone not in {one.id for one in desk.engine.verdicts[run]})


def test_a_label_that_another_annotator_gave_can_be_given_too(desk):
    run = desk.model.queue.model.at(1).id
    desk.engine.verdicts[run] = [Verdict(id="v-ben", run=run, label=Label.LOOP, author="ben")]
    desk.model._runs.pop(run, None)
    opened(desk, run)
    assert not desk.model.verdicts.at(4).given
    assert desk.model.judging.given.words(desk.model.judging.given.at(0)) == "loop, whole run · ben"
    desk.press(Key.Key_5)
    desk.until(lambda: [one.author for one in desk.engine.verdicts[run]] == ["ben", "ana"])


def test_verdicts_withheld_from_a_second_annotator_are_counted(desk):
    run = desk.model.queue.model.at(1).id
    hint = desk.view.judgement.verdict.hint
    assert not hint.isVisible()
    desk.engine.hidden_verdicts[run] = 1
    desk.model._runs.pop(run, None)
    opened(desk, run)
    assert hint.isVisible()
    assert hint.text() == "1 verdict of another annotator is hidden until you have judged this run."


def test_nothing_stays_lit_on_the_next_run(desk):
    grid, listing = desk.view.judgement.verdicts, desk.view.judgement.flags
    place = grid.visualRect(desk.model.verdicts.index(1)).center()
    QTest.mouseClick(grid.viewport(), Qt.MouseButton.LeftButton, pos=place)
    desk.until(lambda: desk.model.verdicts.at(1).given)
    assert QApplication.focusWidget() is desk.view.queue.list
    listing.setCurrentIndex(desk.model.flags.index(0))
    desk.press(Key.Key_J)
    desk.until(lambda: desk.model.detail is not None)
    assert not grid.currentIndex().isValid()
    assert not listing.selectionModel().hasSelection()
    assert not any(choice.given for choice in desk.model.verdicts.rows)


def test_a_note_that_was_typed_and_not_used_waits_for_its_run(desk):
    first, note = desk.model.run, desk.view.judgement.note
    desk.press(Key.Key_M)
    desk.type("see step 4")
    desk.view.queue.take_focus()
    desk.press(Key.Key_J)
    desk.until(lambda: desk.model.run != first)
    assert note.text() == ""
    desk.press(Key.Key_K)
    desk.until(lambda: desk.model.run == first)
    assert note.text() == "see step 4"


# ---------------------------------------------------------------- flags
def test_flags_of_one_detector_are_a_row_that_unfolds(qapp):
    model = FlagListModel()
    steps = (8, 9, 9, 12, 20, 22)
    made = flags("r", 6, ("repeated-action",))
    found = [replace(flag, step=step) for flag, step in zip(made, steps, strict=True)]
    model.show([*found, *flags("r", 1, ("gave-up",))])
    assert [len(line.group) for line in model.rows] == [0, 6]
    group = model.at(1)
    assert group_text(group) == "repeated action, 6 times, steps 8-22"
    assert model.words(group) == "warning, repeated action, 6 times, steps 8-22, finding 0, folded"
    assert model.unfold(1) == 1
    assert [line.step for line in model.rows[2:]] == [8, 9, 9, 12, 20, 22]
    assert model.unfold(4, False) == 1
    assert model.rowCount() == 2
    assert model.count == 7


def test_enter_and_right_unfold_a_group_and_its_flags_lead_to_their_steps(desk):
    run = desk.model.queue.model.at(1).id
    desk.engine.flags[run] = flags(run, 6)
    desk.model._runs.pop(run, None)
    opened(desk, run)
    model, listing = desk.model.flags, desk.view.judgement.flags
    assert model.rowCount() == 3
    assert desk.view.judgement.flag_head.text() == "Flags (6)"
    listing.setFocus()
    listing.setCurrentIndex(model.index(1))
    desk.press(Key.Key_Return)
    assert model.rowCount() == 5
    desk.press(Key.Key_Left)
    assert model.rowCount() == 3
    desk.press(Key.Key_Right)
    desk.press(Key.Key_Down)
    desk.press(Key.Key_Down)
    desk.press(Key.Key_Return)
    assert desk.model.index == model.at(listing.currentIndex().row()).step == 4


def test_the_flag_a_run_opens_for_is_selected_unfolded_and_takes_no_focus(desk):
    run = desk.model.queue.model.at(1).id
    desk.engine.flags[run] = flags(run, 12)
    desk.engine.suspects[run] = Suspect(step=6, because="it began here", detector="no-effect", flag_step=9)
    desk.model._runs.pop(run, None)
    desk.press(Key.Key_J)
    desk.until(lambda: desk.model.run == run and desk.model.detail is not None)
    chosen = desk.model.flags.at(desk.view.judgement.flags.currentIndex().row())
    assert (chosen.detector, chosen.step, chosen.is_member) == ("no-effect", 9, True)
    assert desk.model.index == 6
    assert QApplication.focusWidget() is desk.view.queue.list
