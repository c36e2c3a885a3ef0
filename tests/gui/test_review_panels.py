"""Progress, annotators, guideline, and the tips that would help most, beside the run in Review."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt

from app.engine.api.review_api import TipOpportunity, VerdictImport
from app.engine.core.verdicts import Label
from app.errors import SiteloreError
from app.models.review.annotators_model import AssignmentFormModel
from app.models.review.guideline_model import newest_first, reading_parts
from app.models.review.progress_model import import_words, opportunity_words, seconds_words

Key = Qt.Key
ALT, CTRL = Qt.KeyboardModifier.AltModifier, Qt.KeyboardModifier.ControlModifier


def opened(desk):
    """The pane in place of the verdicts."""
    return desk.view.side.currentWidget()


# ---------------------------------------------------------------- progress
def test_progress_counts_the_runs_of_the_queue_or_all(desk):
    desk.press(Key.Key_P, ALT)
    progress, pane = desk.model.panels.progress, desk.view.panels.progress
    assert opened(desk) is pane
    desk.until(lambda: progress.progress is not None)
    assert pane.over.text() == "Runs that match: failed"
    failed = progress.progress.total.runs
    pane.whole.click()
    desk.until(lambda: progress.progress.total.runs > failed)
    assert pane.over.text() == "All runs"


def test_progress_follows_a_verdict(desk):
    desk.press(Key.Key_P, ALT)
    progress = desk.model.panels.progress
    desk.until(lambda: progress.progress is not None)
    desk.press(Key.Key_5)
    desk.until(lambda: progress.progress.total.judged == 1)
    assert progress.lines.rows[0].count.startswith("1 of ")


def test_a_page_that_fails_is_opened_and_gets_its_tip_by_key(desk):
    desk.press(Key.Key_P, ALT)
    progress, pane = desk.model.panels.progress, desk.view.panels.progress
    desk.until(lambda: progress.uncovered.rows and pane.uncovered.hasFocus())
    first = progress.uncovered.rows[0]
    desk.press(Key.Key_Return)
    desk.until(lambda: desk.model.run == first.runs[0] and desk.model.view is not None)
    assert desk.model.index == first.step
    desk.press(Key.Key_Return)
    desk.until(lambda: desk.model.run == first.runs[1])
    desk.press(Key.Key_T)
    assert desk.model.composer.is_open
    desk.until(lambda: desk.model.run == first.runs[0])


def test_the_progress_is_saved_as_a_page(desk, tmp_path, monkeypatch):
    shown: list[str] = []
    monkeypatch.setattr(
        "app.views.review.review_panels.QDesktopServices.openUrl", lambda url: shown.append(url.toLocalFile())
    )
    desk.center.trigger("review.progress.save")
    dialog = desk.view.panels._dialog
    assert dialog.isVisible()
    path = str(tmp_path / "progress.html")
    dialog.fileSelected.emit(path)
    dialog.close()
    desk.until(lambda: f"Progress saved: {path}" in desk.said)
    assert shown == [path]


def test_an_error_of_the_progress_has_words(desk, monkeypatch):
    async def refuse(_which):
        raise SiteloreError("the index is damaged")

    monkeypatch.setattr(desk.engine, "review_progress", refuse)
    desk.press(Key.Key_P, ALT)
    desk.until(lambda: desk.model.panels.progress.error)
    assert desk.view.panels.progress.error.text() == "The progress can't be loaded: the index is damaged"


# ---------------------------------------------------------------- which tip would help most
def test_opportunities_open_the_failure_and_the_composer(desk):
    desk.press(Key.Key_W)
    model, pane = desk.model.panels.progress, desk.view.panels.opportunities
    desk.until(lambda: model.opportunities.rows and pane.rows.hasFocus())
    first = model.opportunities.rows[0]
    desk.press(Key.Key_T)
    assert desk.model.composer.is_open
    desk.until(lambda: desk.model.run == first.runs[0] and desk.model.view is not None)
    assert desk.model.index == first.step


def test_without_failures_the_opportunities_say_so(desk, monkeypatch):
    async def nothing(_site=""):
        return []

    monkeypatch.setattr(desk.engine, "tip_opportunities", nothing)
    desk.press(Key.Key_W)
    desk.until(lambda: desk.model.panels.progress.knows_opportunities)
    assert desk.view.panels.opportunities.says.text() == "No failed run has a page to write a tip for."


def test_f_shows_the_failures_of_a_page_in_the_queue(desk):
    desk.press(Key.Key_W)
    model, pane = desk.model.panels.progress, desk.view.panels.opportunities
    desk.until(lambda: model.opportunities.rows and pane.rows.hasFocus())
    first = model.opportunities.rows[0]
    desk.press(Key.Key_F)
    assert desk.model.queue.text == f"failed page:{first.site}{first.page}"


# ---------------------------------------------------------------- annotators
def test_runs_are_assigned_by_keyboard(desk):
    desk.press(Key.Key_W, ALT)
    pane, model = desk.view.panels.people, desk.model.panels.annotators
    desk.until(lambda: model.is_loaded and pane.form.names.hasFocus())
    desk.type("ana, ben")
    desk.press(Key.Key_Return)
    desk.until(lambda: len(model.queues.rows) == 2)
    request = next(given[0] for name, given in desk.engine.calls if name == "assign_runs")
    assert request.annotators == ("ana", "ben")
    assert request.overlap == 0.2
    assert request.which.failed
    assert desk.said[-1].startswith("Runs assigned: ")


def test_a_form_with_a_problem_says_it_and_calls_nothing(desk):
    desk.press(Key.Key_W, ALT)
    pane, model = desk.view.panels.people, desk.model.panels.annotators
    desk.until(lambda: model.is_loaded and pane.form.names.hasFocus())
    desk.press(Key.Key_Return)
    assert pane.form.says.text() == "! Enter one or more names, separated by commas"
    assert not [name for name, _ in desk.engine.calls if name == "assign_runs"]


def test_enter_on_a_queue_shows_its_runs(desk):
    desk.engine.queues = {"ana b": tuple(desk.engine.all_runs)[:3]}
    desk.press(Key.Key_W, ALT)
    pane = desk.view.panels.people
    desk.until(lambda: pane.queues.hasFocus())
    desk.press(Key.Key_Return)
    assert desk.model.queue.text == 'assigned:"ana b"'


def test_a_disagreement_is_opened_and_settled_by_the_key_of_a_label(desk):
    desk.engine.disagree()
    desk.press(Key.Key_W, ALT)
    pane, model = desk.view.panels.people, desk.model.panels.annotators
    desk.until(lambda: pane.disagreements.hasFocus())
    case = model.disagreements.rows[0].case
    desk.press(Key.Key_Return)
    desk.until(lambda: desk.model.run == case.run)
    assert pane.disagreements.hasFocus()
    desk.press(Key.Key_5)
    desk.until(lambda: "Settled: loop" in desk.said)
    desk.press(Key.Key_0)
    desk.press(Key.Key_2)
    desk.until(lambda: "Settled: calculation" in desk.said)
    settled = [given[:2] for name, given in desk.engine.calls if name == "adjudicate"]
    assert settled == [(case.run, Label.LOOP), (case.run, Label.CALCULATION)]
    assert not [name for name, _ in desk.engine.calls if name == "give_verdict"]


def test_agreement_is_said_with_kappa_interval_and_labels(desk):
    desk.engine.disagree()
    desk.press(Key.Key_W, ALT)
    model = desk.model.panels.annotators
    desk.until(lambda: model.agreement.rows)
    pair, label = model.agreement.rows
    assert model.agreement.words(pair) == (
        "ana and ben: kappa 0.71, 95 % interval 0.40 to 0.95, agreed on 8 of 10 runs"
    )
    assert model.agreement.words(label) == "loop: kappa 0.80, both 4 · only ana 1 · only ben 0"


# ---------------------------------------------------------------- guideline
def test_the_guideline_is_read_beside_the_labels_and_edited_as_a_new_version(desk):
    desk.press(Key.Key_G, ALT)
    pane, model = desk.view.panels.guideline, desk.model.panels.guideline
    desk.until(lambda: model.in_force is not None)
    assert pane.text.toPlainText() == "Give the label that names the first mistake."
    assert pane.labels.isVisible()
    pane.edit_button.click()
    desk.type(" Only one.")
    desk.press(Key.Key_Return, CTRL)
    desk.until(lambda: model.in_force.version == "2")
    assert model.in_force.text.endswith("first mistake. Only one.")
    pane.changes.click()
    assert [part.text for part in model.changes if part.change == "added"] == [" Only one."]
    model.show_version(1)
    assert pane.text.toPlainText() == "Give the label that names the first mistake."


def test_an_edit_that_is_left_comes_back_as_a_draft(desk):
    desk.press(Key.Key_G, ALT)
    pane, model = desk.view.panels.guideline, desk.model.panels.guideline
    desk.until(lambda: model.in_force is not None)
    pane.edit_button.click()
    desk.type(" More.")
    desk.press(Key.Key_Escape)
    assert opened(desk) is pane
    assert not model.is_editing
    desk.press(Key.Key_Escape)
    assert opened(desk) is desk.view.judgement
    desk.press(Key.Key_G, ALT)
    pane.edit_button.click()
    assert pane.editor.toPlainText().endswith(" More.")
    pane.discard_button.click()
    assert model.draft is None


def test_a_digit_judges_while_the_guideline_is_read(desk):
    desk.press(Key.Key_G, ALT)
    desk.until(lambda: desk.model.panels.guideline.in_force is not None)
    run = desk.model.run
    desk.press(Key.Key_5)
    desk.until(lambda: desk.engine.verdicts.get(run))


# ---------------------------------------------------------------- files of verdicts
def test_verdicts_are_exported_in_the_chosen_format(desk, tmp_path):
    desk.center.trigger("review.verdicts.export")
    dialog = desk.view.panels._dialog
    dialog.selectNameFilter("AgentRewardBench's annotations (*.csv)")
    path = str(tmp_path / "verdicts.csv")
    dialog.fileSelected.emit(path)
    dialog.close()
    desk.until(lambda: any(name == "export_verdicts" for name, _ in desk.engine.calls))
    assert ("export_verdicts", (path, "agentrewardbench")) in desk.engine.calls


def test_an_import_of_verdicts_says_its_result_in_one_sentence(desk, tmp_path):
    desk.center.trigger("review.verdicts.import")
    dialog = desk.view.panels._dialog
    dialog.fileSelected.emit(str(tmp_path / "verdicts.jsonl"))
    dialog.close()
    wanted = "3 verdicts imported, 1 known already, 1 of runs that are not here (webarena 9999)"
    desk.until(lambda: wanted in desk.said)


# ---------------------------------------------------------------- panes
@pytest.mark.parametrize(
    ("key", "modifier"),
    [(Key.Key_P, ALT), (Key.Key_W, ALT), (Key.Key_G, ALT), (Key.Key_W, Qt.KeyboardModifier.NoModifier)],
)
def test_a_panes_key_opens_and_closes_it_and_escape_too(desk, key, modifier):
    desk.press(key, modifier)
    assert opened(desk) is not desk.view.judgement
    desk.press(Key.Key_Escape)
    assert opened(desk) is desk.view.judgement
    desk.press(key, modifier)
    pane = opened(desk)
    assert pane is not desk.view.judgement
    pane.close_button.click()
    assert opened(desk) is desk.view.judgement


@pytest.mark.parametrize(
    ("names", "found"),
    [
        ("ana, ben", ("ana", "ben")),
        ("ana; ana ,ben,", ("ana", "ben")),
        ("ana\nben", ("ana", "ben")),
        (" , ", ()),
    ],
)
def test_names_are_separated_by_commas_and_counted_once(names, found):
    form = AssignmentFormModel()
    form.set("names", names)
    assert form.names == found


@pytest.mark.parametrize(
    ("field", "text", "fine"),
    [("overlap", "0", True), ("overlap", "100", True), ("overlap", "101", False), ("overlap", "x", False),
     ("limit", "", True), ("limit", "20", True), ("limit", "0", False)],
)  # fmt: skip
def test_the_numbers_of_the_form_have_limits(field, text, fine):
    form = AssignmentFormModel()
    form.set("names", "ana")
    form.set(field, text)
    assert (not form.problems) is fine


@pytest.mark.parametrize(
    ("runs", "tips", "covered", "words"),
    [
        (1, 0, 0, "1 failure, none reached by a tip, no tip there"),
        (7, 1, 2, "7 failures, 5 without a tip, 1 tip there"),
        (3, 2, 3, "3 failures, all reached by a tip, 2 tips there"),
    ],
)
def test_an_opportunity_in_words(runs, tips, covered, words):
    one = TipOpportunity(
        site="a",
        page="/",
        runs=tuple(map(str, range(runs))),
        tips=tuple(map(str, range(tips))),
        covered=covered,
    )
    assert opportunity_words(one) == words


@pytest.mark.parametrize(
    ("seconds", "words"), [(None, ""), (21.4, "21 s"), (120, "2 min"), (125, "2 min 5 s")]
)
def test_seconds_in_words(seconds, words):
    assert seconds_words(seconds) == words


def test_an_import_names_what_could_not_be_read():
    report = VerdictImport(added=1, known=0, failed=("line 3: no label",))
    assert import_words(report) == "1 verdict imported, 1 can't be read (line 3: no label)"


def test_versions_stand_newest_first_whatever_order_they_come_in(fake_engine, run):
    fake_engine.guideline_texts = [str(number) for number in range(11)]
    found = run(fake_engine.guidelines())
    assert [one.version for one in newest_first(found[::-1])] == [one.version for one in newest_first(found)]
    assert newest_first(found)[0].version == "11"


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("One line.", [("One line.", False)]),
        ("broken\nby hand", [("broken by hand", False)]),
        ("# Title\nText", [("Title", True), ("\n", False), ("Text", False)]),
        ("**loop** (5): again", [("loop", True), (" (5): again", False)]),
        ("2 ** 3", [("2 ** 3", False)]),
        ("*Example:* it clicks", [("Example: it clicks", False)]),
        ("2 * 3 * 4", [("2 * 3 * 4", False)]),
        ("- one\n- two", [("- one", False), ("\n", False), ("- two", False)]),
    ],
)
def test_a_guideline_is_read_without_its_marks(text, parts):
    assert reading_parts(text) == parts
