"""Review's item models keep Qt's rules while they change, and their texts are complete."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PySide6.QtCore import QItemSelectionModel, QPersistentModelIndex
from PySide6.QtTest import QAbstractItemModelTester

from app.engine.api.engine_api import PageView
from app.engine.api.run_filter_words import parse_filter
from app.engine.api.run_rows import RunRow
from app.engine.core.ax_tree import AxTreeLine
from app.engine.core.verdicts import Flag, Label, Score, Severity, Verdict
from app.models.common.lint_list import LintListModel
from app.models.common.page import PageModel, aligned_rows, line_words
from app.models.common.step_list import StepListModel, step_marks
from app.models.knowledge.similar_list import ExampleListModel, SimilarListModel, preflight_text
from app.models.review.flags import FlagListModel, ScorecardModel, VerdictListModel
from app.models.review.run_queue import RunQueueModel, score_level, score_text
from kb.tip import LintFinding, LintSeverity, Preflight, PreflightExample, Similar
from tests.support.laws import examples
from tests.support.made_up import make_flags, make_run, make_step, make_tips, tree


def row(name: str, risk: float = 0.5, **more: object) -> RunRow:
    return RunRow(
        **{
            "id": name, "source": "s", "suite": "w", "task_id": name, "site": "gitlab", "intent": "do it",
            "score": 0.0, "outcome": "answered", "steps": 3, "risk": risk, "suspect_step": 1, "flags": ("loop",),
            **more,
        }
    )  # fmt: skip


def watched(model):
    model.tester = QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    return model


# ---------------------------------------------------------------- the filter line
def test_filter_words_become_a_filter():
    which = parse_filter('site:gitlab failed unjudged detector:loop task:415 label:"gave up" buy a milestone')
    assert (which.site, which.failed, which.unjudged, which.detector, which.label, which.search) == (
        "gitlab", True, True, "loop", "gave up", "buy a milestone",
    )  # fmt: skip
    assert (which.order, which.task) == ("risk", "415")


def test_a_bare_site_name_filters_by_site_and_other_words_search():
    which = parse_filter("failed gitlab milestone", sites={"gitlab", "map"})
    assert (which.site, which.search) == ("gitlab", "milestone")


@pytest.mark.parametrize(
    ("text", "needs", "search"),
    [("needs", True, ""), ("needs invoice", True, "invoice"), ("invoice", False, "invoice"), ("", False, "")],
)
def test_the_word_needs_keeps_runs_that_said_what_they_would_need(text, needs, search):
    which = parse_filter(text)
    assert (which.needs, which.search) == (needs, search)


@given(st.text(max_size=40))
@settings(max_examples=examples(60), deadline=None)
def test_nothing_typed_is_an_error(text):
    parse_filter(text)


def test_scores_keep_partial_credit_in_words():
    assert [score_text(score) for score in (0.0, 0.571, 1.0, None)] == [
        "failed 0.0", "partial 0.57", "passed", "not scored",
    ]  # fmt: skip
    assert [score_level(score) for score in (0.0, 0.571, 1.0, None)] == ["fail", "warn", "ok", "muted"]


# ---------------------------------------------------------------- the queue's rows
@given(
    st.lists(st.sampled_from("abcdefgh"), unique=True),
    st.lists(st.sampled_from("abcdefgh"), unique=True),
    st.booleans(),
)
@settings(max_examples=examples(80), deadline=None)
def test_merging_gives_the_wanted_rows_and_moves_none_that_stay(qapp, before, after, keep):
    model = watched(RunQueueModel())
    model.replace([row(name) for name in before])
    model.merge([row(name, risk=0.9) for name in after], keep_places=keep)
    shown = [one.id for one in model.rows]
    assert sorted(shown) == sorted(after)
    assert all(one.risk == 0.9 for one in model.rows)
    assert [model.row_of(name) for name in shown] == list(range(len(shown)))
    stayed = [name for name in before if name in after]
    if keep:
        assert [name for name in shown if name in stayed] == stayed
    else:
        assert shown == after


def test_a_selected_row_stays_selected_while_rows_come_and_go(qapp):
    model = watched(RunQueueModel())
    model.replace([row(name) for name in "bdf"])
    kept = QPersistentModelIndex(model.index(1))
    selection = QItemSelectionModel(model)
    selection.select(model.index(1), QItemSelectionModel.SelectionFlag.Select)
    model.merge([row(name) for name in "abcdeg"], keep_places=True)
    assert model.at(kept.row()).id == "d"
    assert [index.row() for index in selection.selectedIndexes()] == [kept.row()]


def test_ten_thousand_rows_merge_row_by_row(qapp):
    model = RunQueueModel()
    resets: list[int] = []
    model.replace([row(f"r{number}") for number in range(10_000)])
    model.modelReset.connect(lambda: resets.append(1))
    model.merge([row(f"r{number}", risk=0.7) for number in range(0, 10_500, 1)], keep_places=True)
    assert model.rowCount() == 10_500
    assert not resets


def test_a_row_reads_aloud_all_that_it_shows(qapp):
    words = RunQueueModel().words(row("415", risk=0.91, label="loop", flags=("no-effect",)))
    assert words == "failed 0.0, gitlab, 415, risk 0.91, loop, do it"
    words = RunQueueModel().words(row("415", risk=0.91, flags=("no-effect",)))
    assert words == "failed 0.0, gitlab, 415, risk 0.91, no effect, do it"
    assert "2 verdicts" in RunQueueModel().words(row("415", label="loop", verdicts=2))


# ---------------------------------------------------------------- steps, flags, verdicts
def test_steps_carry_their_worst_flag_error_and_the_suspect(qapp):
    run = make_run(2)
    steps = [make_step(run, index) for index in range(12)]
    model = watched(StepListModel())
    model.merge(step_marks(steps, make_flags(run, 2), suspect=4))
    mark = model.at(4)
    assert (mark.severity, mark.suspect, mark.trouble) == ("error", True, "")
    assert [model.at(index).trouble for index in (5, 6, 8)] == ["hard", "soft", "harness"]
    assert "the action was done" in model.words(model.at(6))
    assert model.next_marked(4, 1) == 5
    assert model.next_marked(4, -1) is None
    model.merge(step_marks(steps, (), suspect=0))
    assert model.at(4).severity == ""


def test_flags_stand_worst_first_and_once(qapp):
    def flag(severity, confidence, step):
        return Flag(
            run="r", detector=f"d{step}", step=step, severity=severity, confidence=confidence, message="m"
        )

    model = watched(FlagListModel())
    worst, same = flag(Severity.ERROR, 0.4, 3), flag(Severity.ERROR, 0.9, 2)
    model.show([flag(Severity.HINT, 1.0, 1), worst, same, worst])
    assert [(one.severity, one.step) for one in model.rows] == [
        (Severity.ERROR, 2), (Severity.ERROR, 3), (Severity.HINT, 1),
    ]  # fmt: skip
    model.show([worst])
    model.show([])
    assert model.rowCount() == 0


def test_every_label_has_a_key_and_given_ones_are_marked(qapp):
    model = watched(VerdictListModel())
    assert [choice.keys for choice in model.rows][:10] == [*"123456789", "0 1"]
    assert len(model.rows) == len(Label)
    model.show([Verdict(id="v1", run="r", label=Label.LOOP, step=4, note="twice")])
    assert model.words(model.at(4)) == "5 loop, given at step 4, twice"
    model.show([])
    assert model.at(4).given == ""


def test_the_scorecard_shows_a_dash_where_nothing_was_judged(qapp):
    model = watched(ScorecardModel())
    model.show(
        [
            Score(
                detector="no-effect",
                site="",
                version=1,
                fired=3,
                judged=0,
                right=0,
                precision=None,
                recall=0.5,
            )
        ]
    )
    cells = [model.index(0, column).data() for column in range(model.columnCount())]
    assert cells == ["no effect", "all sites", "3", "0", "–", "0.50", "–"]


# ---------------------------------------------------------------- pages
def test_a_page_knows_its_target_and_first_change(qapp):
    model = watched(PageModel())
    model.show(PageView(url="u", title="t", lines=tree(4, after=False)))
    assert model.focus_row == model.target == 5
    assert model.first_change == 12
    assert line_words(model.line(5)) == "textbox 'Start Date', target"
    model.show(None)
    assert model.rowCount() == 0
    assert model.focus_row == 0


def test_both_sides_of_a_step_line_up_by_element(qapp):
    def lines(*bids):
        return tuple(AxTreeLine(depth=0, role="link", name=bid, bid=bid, properties="") for bid in bids)

    one, other = PageModel(), PageModel()
    one.show(PageView(url="", title="", lines=lines("1", "2", "3", "4")))
    other.show(PageView(url="", title="", lines=lines("1", "x", "y", "3", "4", "5")))
    assert aligned_rows(one, other) == [0, 1, 3, 4]
    assert aligned_rows(other, one) == [0, 1, 2, 2, 3, 3]
    other.show(None)
    assert aligned_rows(one, other) == [0, 0, 0, 0]


# ---------------------------------------------------------------- under the composer
def test_findings_stand_worst_first_and_give_their_underlines(qapp):
    model = watched(LintListModel())
    error = LintFinding(rule="value", severity=LintSeverity.ERROR, message="m", start=2, end=5)
    hint = LintFinding(rule="why", severity=LintSeverity.HINT, message="say why")
    model.show([hint, error, error])
    assert [finding.rule for finding in model.rows] == ["value", "why"]
    assert model.errors == 1
    assert [(span.start, span.end, span.severity) for span in model.underlines] == [(2, 5, "error")]
    model.show([hint])
    assert model.underlines == []


def test_contradictions_come_before_duplicates_and_likes(qapp):
    tips = make_tips()
    model = watched(SimilarListModel())
    relations = ("similar", "duplicate", "contradiction")
    model.show(
        [Similar(tip=tip, score=0.9, relation=what) for tip, what in zip(tips, relations, strict=False)]
    )
    assert [one.relation for one in model.rows] == ["contradiction", "duplicate", "similar"]
    model.show([])


def test_preflight_speaks_in_whole_sentences(qapp):
    found = Preflight(steps=61, failed_runs=5, passed_runs=3, steps_in_failed=38, steps_in_passed=23)
    assert preflight_text(found) == "61 stored steps (38 in failed runs, 23 in passed)"
    assert preflight_text(Preflight(steps=9, failed_runs=0, passed_runs=0)) == (
        "9 stored steps (0 in failed, 0 in passed, 9 in unscored runs)"
    )
    assert preflight_text(Preflight(steps=0, failed_runs=0, passed_runs=0, in_scope=9)) == (
        "no stored step would retrieve it, though 9 lie in its scope"
    )
    model = watched(ExampleListModel())
    example = PreflightExample(run="r", step=1, url="u", route="url", score=1.0, failed=True)
    model.show([example, example, replace(example, step=2)])
    assert model.rowCount() == 2
    model.show([replace(example, step=2)])


@pytest.mark.parametrize("words", ["failed", "failed passed"])
def test_switches_are_not_searched_for(words):
    assert parse_filter(words).search == ""


def test_a_new_ranking_of_every_row_is_told_at_once_and_moves_nothing() -> None:
    model = watched(RunQueueModel())
    model.replace([row(f"r{number}", 0.5) for number in range(1357)])
    selection = QItemSelectionModel(model)
    selection.setCurrentIndex(model.index(700), QItemSelectionModel.SelectionFlag.ClearAndSelect)
    told: list[tuple[int, int]] = []
    resets: list[int] = []
    model.dataChanged.connect(lambda top, bottom: told.append((top.row(), bottom.row())))
    model.modelReset.connect(lambda: resets.append(1))
    again = [row(f"r{number}", number / 1357 if number != 40 else 0.5) for number in range(1357)]
    model.merge(sorted(again, key=lambda one: -one.risk), keep_places=True)
    assert told == [(0, 39), (41, 1356)]
    assert not resets
    assert selection.currentIndex().row() == 700
    assert [one.id for one in model.rows] == [f"r{number}" for number in range(1357)]
