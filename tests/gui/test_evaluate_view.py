"""The Evaluate perspective in the whole window: keys, states, long texts, pairs, forms, progress."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QAccessible, QDesktopServices, QDragEnterEvent, QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QAbstractItemView, QApplication, QComboBox, QLineEdit

from app.errors import InputError, SiteloreError
from app.models.evaluate.evaluate_model import EvaluatePage
from app.models.evaluate.evaluation_result import ResultState
from app.models.evaluate.figures import ALL
from app.views.widgets import EmptyState
from tests.support.fake_engine import FakeEngine
from tests.support.fake_evaluation import JUNE, NIGHT, TORN
from tests.support.made_up import make_run
from tests.support.made_up_evaluation import long_texts
from tests.support.qt_loop import turn, until

K = Qt.Key
NONE, SHIFT, CTRL = (
    Qt.KeyboardModifier.NoModifier,
    Qt.KeyboardModifier.ShiftModifier,
    Qt.KeyboardModifier.ControlModifier,
)


class EvaluateBench:
    """The window at Evaluate, with its keyboard."""

    def __init__(self, bench):
        self.bench, self.window, self.model = bench, bench._window, bench.evaluate
        self.engine = bench._client.api
        self.view = self.window.perspective("evaluate")
        self.said: list[str] = []
        self.model.notice.connect(self.said.append)
        self.window.go("evaluate")
        until(lambda: self.window.isActiveWindow() and self.model.is_loaded and self.model.suites.is_loaded)
        turn(0.05)

    def press(self, key, modifier=NONE):
        QTest.keyClick(QApplication.focusWidget() or self.window, key, modifier)
        turn()

    def type(self, text):
        QTest.keyClicks(QApplication.focusWidget(), text)
        turn()

    @property
    def face(self):
        return self.view.result._stack.currentWidget()

    def is_enabled(self, command):
        self.window.center.refresh()
        return self.window.center.action(command).isEnabled()


@pytest.fixture
def at(bench):
    made = EvaluateBench(bench)
    until(lambda: made.model.result.state is ResultState.READY)
    turn(0.05)
    return made


@pytest.fixture
def fake_engine(loop, request):
    """The engine; ``parametrize`` with ``indirect`` makes an empty one."""
    return FakeEngine(empty=getattr(request, "param", False))


# ---------------------------------------------------------------- keys


def test_ctrl_5_and_g_e_lead_there_with_the_keys_in_the_list(at):
    at.window.go("review")
    at.press(K.Key_5, CTRL)
    assert at.window.place == "evaluate"
    at.window.go("review")
    at.press(K.Key_G)
    at.press(K.Key_E)
    assert at.window.place == "evaluate"
    assert at.view.lists.evaluations.hasFocus()


def test_j_and_k_go_through_the_evaluations(at):
    at.press(K.Key_J)
    assert at.model.current == NIGHT
    at.press(K.Key_K)
    assert at.model.current == JUNE


def test_j_and_k_go_on_in_the_list_with_the_focus(at):
    at.press(K.Key_S)
    assert at.view.lists.suites.hasFocus()
    assert at.model.page is EvaluatePage.SUITE
    assert at.model.suites.current == "webarena"
    at.press(K.Key_J)
    assert at.model.suites.current == "shop-tasks"
    at.press(K.Key_E)
    at.press(K.Key_J)
    assert at.model.page is EvaluatePage.RESULT
    until(lambda: at.model.result.state is ResultState.READY)
    at.press(K.Key_P)
    at.press(K.Key_J)
    assert at.model.result.task == "1"
    assert at.view.result.pairs.hasFocus()


@pytest.mark.parametrize(
    ("key", "result"),
    [(K.Key_1, "won"), (K.Key_2, "lost"), (K.Key_3, "both"), (K.Key_4, "neither"), (K.Key_5, "undecided")],
)
def test_a_digit_shows_one_result_and_0_all(at, key, result):
    counts = at.model.result.pairs.counts
    at.press(key)
    assert at.model.result.pairs.rowCount() == counts[result]
    assert at.view.result.chips.buttons[result].isChecked()
    assert str(counts[result]) in at.view.result.chips.buttons[result].text()
    at.press(K.Key_0)
    assert at.model.result.pairs.rowCount() == counts[""] == 90


def test_the_filter_takes_plain_keys_and_esc_goes_back_level_by_level(at):
    at.press(K.Key_Slash)
    assert at.view.result.filter.hasFocus()
    at.type("site:gitlab x1")
    assert at.model.result.pairs.text == "site:gitlab x1"
    assert at.model.result.pairs.result == ""
    at.press(K.Key_Escape)
    assert at.model.result.pairs.text == ""
    at.press(K.Key_Escape)
    assert at.view.result.pairs.hasFocus()
    at.press(K.Key_Escape)
    assert at.view.lists.evaluations.hasFocus()


def test_the_plot_is_walked_by_keys_and_enter_shows_the_tasks_of_a_group(at):
    at.press(K.Key_D)
    plot = at.view.result.forest
    assert plot.hasFocus()
    assert plot.group == ALL
    at.press(K.Key_Down)
    at.press(K.Key_J)
    group = at.model.result.differences.rows[2].group
    assert plot.group == group
    assert plot.accessibleDescription().startswith(group)
    at.press(K.Key_Return)
    assert at.model.result.pairs.text == group.replace(" ", ":")
    rows = at.model.result.pairs.rows
    assert rows
    assert {f"site {row.site}" for row in rows} == {group}


def test_the_plot_has_a_table_with_the_same_rows(at):
    at.press(K.Key_D)
    at.press(K.Key_V)
    table = at.view.result.numbers
    assert table.hasFocus()
    assert table.isVisible()
    assert table.model().rowCount() == len(at.view.result.forest._rows)
    at.press(K.Key_V)
    assert at.view.result.forest.hasFocus()


def test_the_plot_says_everything_to_a_screen_reader(at):
    interface = QAccessible.queryAccessibleInterface(at.view.result.forest)
    text = interface.text(QAccessible.Text.Description)
    for row in at.model.result.differences.rows:
        assert (row.group if row.group != ALL else "All tasks") in text
    assert "95 % interval" in text


def test_enter_opens_both_runs_side_by_side_and_one_key_the_other(at):
    row = at.model.result.pairs.values["1"]
    for number, name in enumerate((row.runs[0], row.runs_against[0])):
        at.engine.all_runs[name], at.engine.flags[name] = replace(make_run(number), id=name), ()
    at.press(K.Key_P)
    at.press(K.Key_J)
    at.press(K.Key_Return)
    assert at.window.place == "review"
    until(lambda: at.bench.review.run == row.runs[0])
    assert "Task 1: akb at the left, none at the right, repeat 1 of 2. Shift+Y opens that of none" in at.said
    comparison = at.bench.review.panels.comparison
    until(lambda: comparison.current is not None)
    assert comparison.runs == (row.runs[0], row.runs_against[0])
    at.press(K.Key_Y, SHIFT)
    until(lambda: at.bench.review.run == row.runs_against[0])
    at.press(K.Key_Y, SHIFT)
    until(lambda: at.bench.review.run == row.runs[1])


def test_without_an_open_pair_there_is_no_other_run(at):
    assert not at.is_enabled("pair.other")


def test_a_tip_opens_in_knowledge(at):
    at.press(K.Key_T)
    assert at.view.result.credits.hasFocus()
    at.press(K.Key_J)
    tip = at.view.result.credits.key
    at.press(K.Key_Return)
    assert at.window.place == "knowledge"
    assert at.bench.knowledge.current == tip


def test_sorting_by_key_keeps_the_task(at):
    at.press(K.Key_P)
    for _ in range(3):
        at.press(K.Key_J)
    task = at.model.result.task
    at.press(K.Key_O)
    at.press(K.Key_O, SHIFT)
    assert at.model.result.pairs.sorted_by == "result"
    assert at.model.result.pairs.descending
    assert at.model.result.task == task
    assert at.view.result.pairs.currentIndex().row() == at.model.result.pairs.row_of(task)


def test_tab_walks_through_the_columns_and_comes_back(at):
    seen = []
    for _ in range(60):
        QTest.keyClick(QApplication.focusWidget(), K.Key_Tab)
        seen.append(QApplication.focusWidget())
    view = at.view
    for widget in (view.lists.suites, view.lists.evaluations, view.result.forest, view.result.filter,
                   view.result.pairs, view.facts.report, view.facts.arms):  # fmt: skip
        assert widget in seen, widget.accessibleName()


def test_every_control_has_a_name_and_every_command_is_bound(at):
    kinds = (QAbstractButton, QLineEdit, QComboBox, QAbstractItemView)
    at.model.new_evaluation()
    until(lambda: at.model.form.plan is not None)
    for kind in kinds:
        for widget in at.view.findChildren(kind):
            own = widget.metaObject().className()
            helper = widget.objectName().startswith("qt_") or own.startswith(("QHeader", "QTableCorner"))
            blank = widget.isHidden() and isinstance(widget.parent(), EmptyState)
            if helper or blank or own in ("QComboBoxListView", "QLineEditIconButton"):
                continue
            named = widget.accessibleName() or (isinstance(widget, QAbstractButton) and widget.text())
            assert named, (own, widget.parent())
    center = at.window.center
    unbound = [
        command.id
        for command in center.commands
        if command.place == "evaluate" and not center.is_bound(command.id)
    ]
    assert unbound == []
    assert center.is_bound("pair.other")


# ---------------------------------------------------------------- states


@pytest.mark.parametrize("fake_engine", [True], indirect=True)
def test_an_empty_workspace_says_what_to_do_with_its_key(bench):
    at = EvaluateBench(bench)
    face = at.face
    assert isinstance(face, EmptyState)
    assert "Add a suite of tasks first" in face.hint.text()
    assert face.button.text().endswith("A")
    assert not at.is_enabled("evaluate.pairs")
    at.engine.suite_rows.update(FakeEngine().suite_rows)
    at.model.suites.load()
    until(lambda: at.model.suites.list.rows)
    assert "with a frozen file and without it" in at.face.hint.text()
    assert at.face.button.text().endswith("N")


def test_a_running_evaluation_says_what_counts(at):
    at.press(K.Key_J)
    until(lambda: at.model.result.state is ResultState.READY and at.model.result.is_early)
    turn()
    assert "only the always-valid interval counts" in at.view.result.remark.text()
    assert not at.view.result.verdict.property("verdict")
    assert at.view.facts.state.text == "running"
    assert at.view.facts.cost.texts()["Money"] == "cost unknown"


def test_an_unreadable_journal_says_why_and_can_be_taken_off_the_list(at):
    at.model.open_evaluation(TORN)
    until(lambda: at.model.result.state is ResultState.ERROR)
    turn()
    assert at.face is at.view.result.unreadable
    assert "line 14 is no record" in at.face.hint.text()
    assert at.face.button.text().startswith("Take 'torn' off the list")
    at.face.button.click()
    until(lambda: TORN not in [row.folder for row in at.model.list.rows])


def test_a_comparison_that_fails_shows_its_sentence(at):
    at.engine.evaluation_error = SiteloreError('scipy is missing (pip install "sitelore[evaluate]")')
    at.model.open_evaluation(NIGHT)
    until(lambda: at.model.result.state is ResultState.ERROR)
    turn()
    assert at.face is at.view.result.error
    assert 'pip install "sitelore[evaluate]"' in at.face.hint.text()


def test_an_engine_that_cant_list_says_so(at, monkeypatch):
    async def fail():
        raise InputError("the index of evaluations is damaged")

    monkeypatch.setattr(at.engine, "evaluations", fail)
    at.model.load()
    until(lambda: at.model.error)
    assert "the index of evaluations is damaged" in at.face.hint.text()


def test_errors_stand_with_their_sentence_and_number(at):
    until(lambda: at.model.result.errors.rows)
    line = at.model.result.errors.rows[0]
    assert line.sentence == "the browser closed in the middle of the run"
    assert at.view.facts.errors.isVisible()
    assert at.view.facts.protocol.texts()["Suite"].startswith("webarena · ")


def test_long_and_right_to_left_texts_widen_nothing(at):
    comparison = at.engine.comparisons[JUNE]
    long = long_texts(comparison)
    verdict = replace(long.verdicts[0], sentence="word " * 80)
    at.engine.comparisons[JUNE] = replace(long, verdicts=(verdict,), notes=("x" * 3000,))
    row = replace(at.engine.evaluation_rows[JUNE], name="n" * 300)
    at.engine.evaluation_rows[JUNE] = row
    widths = at.view.columns.sizes()
    at.engine.advance(JUNE, 360, "running")
    at.engine.advance(JUNE, 360, "done")
    until(lambda: len(at.model.result.pairs.values["0"].intent) > 5000)
    turn(0.05)
    assert at.view.columns.sizes() == widths
    assert at.window.width() == 1280
    at.window.grab()


def test_it_is_painted_in_high_contrast_and_large(at):
    at.window.theme.set_mode("contrast")
    at.window.theme.set_zoom(1.5)
    turn(0.05)
    at.window.grab()
    assert at.view.middle.width() >= at.view.lists.width(), "the sides leave the middle its room"


def test_ten_thousand_pairs_move_as_quickly_as_ten(at):
    comparison = at.engine.comparisons[JUNE]
    pairs = tuple(replace(comparison.pairs[n % 90], task=str(n)) for n in range(10_000))
    at.engine.comparisons[JUNE] = replace(comparison, pairs=pairs)
    at.engine.advance(JUNE, 360, "stopped")
    until(lambda: at.model.result.pairs.total == 10_000)
    at.press(K.Key_P)
    at.press(K.Key_End, CTRL)
    for _ in range(5):
        at.press(K.Key_K)
    assert at.model.result.task == "9994"
    top = at.view.result.pairs.verticalScrollBar().value()
    start = time.perf_counter()
    at.press(K.Key_1)
    at.press(K.Key_0)
    at.view.grab()
    assert time.perf_counter() - start < 5
    assert at.model.result.task == "9994"
    assert at.view.result.pairs.verticalScrollBar().value() == pytest.approx(top, abs=200)


def test_progress_moves_nothing_under_the_hand(at):
    at.press(K.Key_J)
    until(lambda: at.model.result.state is ResultState.READY and at.model.result.pairs.total)
    at.press(K.Key_P)
    for _ in range(40):
        at.press(K.Key_J)
    table, task = at.view.result.pairs, at.model.result.task
    top = table.verticalScrollBar().value()
    assert top > 0
    at.engine.advance(NIGHT, 200, words="task 4 in none: fail")
    until(lambda: at.view.facts.bar.value() == 200)
    assert "200 of 360 episodes" in at.view.facts.progress.text()
    assert at.view.facts.last.text() == "task 4 in none: fail"
    at.engine.advance(NIGHT, 360, "done")
    until(lambda: at.view.facts.state.text == "done")
    turn(0.1)
    assert (table.verticalScrollBar().value(), at.model.result.task) == (top, task)
    assert table.hasFocus()


# ---------------------------------------------------------------- what can be done


def test_x_stops_and_shift_x_resumes(at):
    assert not at.is_enabled("evaluate.stop")
    at.press(K.Key_J)
    at.press(K.Key_X)
    until(lambda: at.model.row.state == "stopped")
    assert at.view.facts.control.command == "evaluate.resume"
    at.press(K.Key_X, SHIFT)
    until(lambda: at.model.row.state == "running")
    assert [name for name, _ in at.engine.calls if name.endswith("_evaluation")] == [
        "stop_evaluation",
        "resume_evaluation",
    ]


def test_r_writes_the_report_and_opens_it(at, monkeypatch):
    opened = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: opened.append(url.toLocalFile()))
    at.press(K.Key_R)
    until(lambda: opened)
    assert opened[0].endswith("evaluations/june/report/report.html")
    assert "CSV, LaTeX and JSON beside it" in at.said[-1]


def test_a_report_that_fails_says_why_and_can_be_asked_for_again(at):
    at.engine.evaluation_error = SiteloreError("jinja2 is missing")
    at.press(K.Key_R)
    until(lambda: at.window.toast.text == "jinja2 is missing")
    assert at.is_enabled("evaluate.report")


def test_ctrl_enter_starts_what_the_form_says_and_enter_does_not(at):
    at.press(K.Key_N)
    form = at.view.form
    assert form.suite.hasFocus()
    until(lambda: at.model.form.plan is not None)
    assert at.view.plan.facts.texts()["Episodes"] == "1624"
    form.fields["repeats"].setFocus()
    form.fields["repeats"].selectAll()
    at.type("2")
    at.press(K.Key_Return)
    assert form.fields["workers"].hasFocus(), "Enter goes on"
    assert "run_evaluation" not in [name for name, _ in at.engine.calls]
    until(lambda: at.view.plan.facts.texts()["Episodes"] == "3248")
    at.press(K.Key_Return, CTRL)
    until(lambda: at.model.page is EvaluatePage.RESULT and at.model.row.name == "webarena-4")
    assert at.face is at.view.result._empty
    assert "Nothing to compare yet" in at.face.title.text()


def test_the_form_keeps_what_was_typed_and_esc_leaves_it(at):
    at.press(K.Key_N)
    at.view.form.fields["kb"].setFocus()
    at.view.form.fields["kb"].selectAll()
    at.type("june.akb")
    at.press(K.Key_Escape)
    assert at.model.page is EvaluatePage.RESULT
    at.press(K.Key_N)
    assert at.view.form.fields["kb"].text() == "june.akb"


def test_plain_keys_are_text_or_choices_in_the_form(at):
    at.press(K.Key_N)
    at.view.form.groups["maps"]["no"].setFocus()
    at.press(K.Key_X)
    at.press(K.Key_1)
    assert at.model.result.pairs.result == ""
    assert at.model.page is EvaluatePage.FORM


def test_problems_of_the_plan_stand_in_words(at):
    at.engine.plan_problems = ("the site 'gitlab' has no reset command",)
    at.press(K.Key_N)
    until(lambda: at.view.plan.problems.isVisible())
    assert at.view.plan.problems.text() == "! the site 'gitlab' has no reset command"
    assert "12 tasks need a judge model" in at.view.plan.warnings.text()
    assert at.view.plan.power_words.text().startswith("An effect of 10 points")
    at.press(K.Key_Return, CTRL)
    assert at.view.form.error.text() == "the site 'gitlab' has no reset command"


def test_a_frozen_file_of_this_workspace_is_offered(at):
    at.bench.knowledge.freezing.set_path("/nowhere/else.akb")
    assert at.model.form.last_freeze == ""
    at.bench.knowledge.open_files()
    at.bench.knowledge.freezing.freeze()
    until(lambda: at.model.form.last_freeze == "/nowhere/else.akb")
    at.window.go("evaluate")
    at.press(K.Key_N)
    assert "else.akb" in at.view.form.last_freeze.text()
    at.view.form.last_freeze.click()
    assert at.view.form.fields["kb"].text() == "/nowhere/else.akb"


def test_the_sites_of_the_suite_are_check_boxes(at):
    at.press(K.Key_N)
    boxes = at.view.form.sites.boxes
    assert list(boxes)[:3] == ["shopping", "shopping_admin", "gitlab"]
    boxes["gitlab"].click()
    assert at.model.form.sites == {"gitlab"}
    at.model.form.choose("suite", "shop-tasks")
    assert list(at.view.form.sites.boxes) == ["shopping"]
    assert at.model.form.sites == set()


def test_rescoring_by_keys_shows_counts_and_opens_a_run(at):
    at.press(K.Key_R, SHIFT)
    assert at.view.rescore.suite.hasFocus()
    at.press(K.Key_Return, CTRL)
    until(lambda: at.model.rescoring.is_done)
    turn()
    assert "false passes: 1" in at.view.rescore.summary.text()
    assert at.view.rescore.chips.buttons["false pass"].text() == "False pass 1"
    assert at.view.checks.title.text() == "Task 7: pass"
    at.view.rescore.take_focus()
    run = at.view.rescore.table.key
    at.press(K.Key_Return)
    assert at.window.place == "review"
    until(lambda: at.bench.review.run == run)


def test_a_suite_is_shown_hidden_and_removed_by_keys(at):
    at.press(K.Key_S)
    at.press(K.Key_J)
    until(lambda: at.model.suites.tasks.total)
    assert at.view.suite.table.model().rowCount() == 24
    assert "Unknown evaluators: screenshot_match" in at.view.suite_facts.problems.text()
    at.press(K.Key_B)
    until(lambda: not at.model.suites.row.blind)
    assert at.said[-1] == "Answers of 'shop-tasks' shown"
    until(lambda: at.model.suites.tasks.rows[0].expected)
    at.press(K.Key_Delete)
    until(lambda: "shop-tasks" not in at.engine.suite_rows)
    until(lambda: at.window.toast.action_text == "Undo")


def drop_of(view, *paths):
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(path) for path in paths])
    given = (Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton, NONE)
    enter = QDragEnterEvent(QPoint(9, 9), *given)
    QApplication.sendEvent(view, enter)
    if enter.isAccepted():
        QApplication.sendEvent(view, QDropEvent(QPointF(9, 9), *given))
    return enter.isAccepted(), data


def test_a_dropped_suite_is_added_and_runs_are_the_windows(at):
    assert drop_of(at.view, "/x/mine.json")[0]
    until(lambda: "mine" in at.engine.suite_rows)
    assert drop_of(at.view, "/x/runs")[0], "the window takes them"
    added = [args[0] for name, args in at.engine.calls if name == "add_suite"]
    assert added == ["/x/mine.json"]


def test_the_layout_and_the_open_evaluation_are_remembered(at):
    at.press(K.Key_J)
    at.view.columns.setSizes([300, 600, 300])
    at.view.columns.splitterMoved.emit(300, 1)
    layout = at.view.save_layout()
    assert layout["evaluation"] == NIGHT
    at.view.restore_layout({})
    at.view.restore_layout(layout)
    assert abs(at.view.columns.sizes()[0] - 300) < 40


def test_side_columns_fold_by_key(at):
    at.press(K.Key_BracketLeft)
    assert at.view.lists.isHidden()
    at.press(K.Key_BracketLeft)
    assert not at.view.lists.isHidden()


def test_the_sheet_of_keys_and_the_palette_have_its_commands(at):
    at.window.center.trigger("app.cheat_sheet")
    turn(0.05)
    assert at.window.commands.sheet.isVisible()
    at.window.close_overlays()
    at.window.commands.palette.present()
    at.window.commands.palette.line.setText("rescore")
    turn(0.05)
    model = at.window.commands.palette.model
    assert "evaluate.rescore" in [model.command(row) for row in range(model.rowCount())]
    at.window.close_overlays()
