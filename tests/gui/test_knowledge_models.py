"""Models of the Knowledge perspective: rows, stable selection, and drafts that are never lost."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QItemSelectionModel, QPersistentModelIndex, Qt
from PySide6.QtTest import QAbstractItemModelTester

from app.engine.api.evaluation_api import TipCreditRow
from app.models.knowledge.freeze_form import FreezeModel, format_of
from app.models.knowledge.knowledge_model import KnowledgeModel, KnowledgeState
from app.models.knowledge.retrieval_test import RetrievalTestModel, retrieval_rows
from app.models.knowledge.tip_editor import TipEditor
from app.models.knowledge.tip_fields import draft_of, field_of, with_field
from app.models.knowledge.tip_filter import parse_tip_filter
from app.models.knowledge.tip_history import RevisionListModel, revision_rows
from app.models.knowledge.tip_table import COLUMNS, TipTableModel, ago
from kb.tip import (
    Kind,
    LastTest,
    LintFinding,
    LintSeverity,
    Missed,
    Query,
    Retrieval,
    Revision,
    Scope,
    Status,
    Tip,
    TipRecord,
)
from kb.tip_changes import changes_between, diff_words

FATAL = QAbstractItemModelTester.FailureReportingMode.Fatal


def make(number: int, **fields) -> Tip:
    given = {"site": "gitlab", "text": f"text {number}", "changed_at": float(number)} | fields
    return Tip(id=f"tip-{number:05d}", **given)


@pytest.fixture
def table(qapp):
    model = TipTableModel()
    tester = QAbstractItemModelTester(model, FATAL)
    yield model
    tester.deleteLater()


def ids(model: TipTableModel) -> list[str]:
    return [tip.id for tip in model.rows]


# ---------------------------------------------------------------- the table
def test_filter_words_name_site_status_kind_and_text():
    which = parse_tip_filter('site:git,map status:draft kind:policy Title "sort by"')
    assert which.sites == ("git", "map")
    assert which.statuses == ("draft",)
    assert which.kinds == ("policy",)
    assert which.words == ("title", "sort by")


@given(st.text())
def test_no_filter_a_person_types_is_an_error(text):
    parse_tip_filter(text)


def test_filter_shows_the_tips_it_names(table):
    table.load([make(1), make(2, site="map"), make(3, status=Status.ACTIVE, text="sort by price")])
    table.set_filter("site:git status:active price")
    assert ids(table) == ["tip-00003"]
    assert (table.rowCount(), table.total) == (1, 3)
    table.set_filter("")
    assert table.rowCount() == 3


HELD = {
    "last_test": LastTest(outcome="holds", at=9.0),
    "record": TipRecord(tests=1, up=2, applied=7, effect=3),
}
BROKE = {
    "last_test": LastTest(outcome="broke", step=3, at=9.0),
    "record": TipRecord(tests=1, broke=1, down=1),
}
STOPPED = {
    "last_test": LastTest(outcome="stopped before a write", step=2, at=9.0),
    "record": TipRecord(tests=1, up=1, down=1, applied=2),
}
UNREACHED = {"last_test": LastTest(outcome="not reached", at=9.0), "record": TipRecord(tests=1)}
EVIDENCE = [
    ("tested:holds", [1, 3]),
    ("tested:stopped", [3]),
    ("tested:broke", [2]),
    ("tested:br", [2]),
    ("tested:unreached", [4]),
    ("tested:none", [5]),
    ("tested:broke,none", [2, 5]),
    ("tested:", [1, 2, 3, 4, 5]),
    ("votes:>0", [1]),
    ("votes:>=0", [1, 3, 4, 5]),
    ("votes:<0", [2]),
    ("votes:-1", [2]),
    ("votes:=2", [1]),
    ("votes:0", [3, 4, 5]),
    ("votes:none", [4, 5]),
    ("votes:<=-1,>1", [1, 2]),
    ("votes:>", [1, 2, 3, 4, 5]),
    ("followed:>2", [1]),
    ("followed:0", [2, 3, 4, 5]),
    ("followed:none", [2, 4, 5]),
    ("tested:holds votes:>0", [1]),
]


@pytest.mark.parametrize(("text", "shown"), EVIDENCE)
def test_filter_words_of_evidence_show_the_tips_they_name(table, text, shown):
    kept = [make(1, **HELD), make(2, **BROKE), make(3, **STOPPED), make(4, **UNREACHED), make(5)]
    table.load(kept)
    table.set_filter(text)
    assert sorted(ids(table)) == [f"tip-{number:05d}" for number in shown]


def test_columns_of_evidence_say_and_sort_how_the_tips_fare(table):
    table.load([make(1, **HELD), make(2, **BROKE), make(3, **STOPPED), make(4, **UNREACHED), make(5)])
    texts = {name: [table.columns[COLUMNS.index(name)].cell(tip) for tip in table.rows] for name in COLUMNS}
    assert texts["followed"] == ["", "", "0 of 2", "", "3 of 7"]
    assert texts["votes"] == ["", "", "+1 -1", "-1", "+2"]
    assert [text.partition(" · ")[0] for text in texts["tested"]] == [
        "",
        "not reached",
        "stopped at step 2",
        "broke at step 3",
        "holds",
    ]
    for name, first in (("tested", "tip-00002"), ("votes", "tip-00002")):
        table.sort(COLUMNS.index(name), Qt.SortOrder.AscendingOrder)
        assert ids(table)[0] == first
        table.sort(COLUMNS.index(name), Qt.SortOrder.DescendingOrder)
        assert ids(table)[0] == "tip-00001"


def credit(number, difference=0.12, **changes):
    given = {
        "tip": f"tip-{number:05d}", "text": "", "retrieved": 20, "followed": 8, "templates": 9,
        "difference": difference, "low": difference - 0.1, "high": difference + 0.13, "method": "pairs",
        "verdict": "helps",
    }  # fmt: skip
    return TipCreditRow(**(given | changes))


def test_the_uplift_column_says_what_evaluations_say_and_sorts_tips_that_hurt_first(table):
    table.load([make(1), make(2), make(3), make(4)])
    few = credit(3, 0.9, templates=3, verdict="not enough data")
    table.give_credits([credit(1), credit(2, -0.3, verdict="hurts"), few, credit(1, 0.5, templates=8)])
    cell = table.columns[COLUMNS.index("uplift")].cell
    texts = {tip.id: cell(tip) for tip in table.rows}
    assert texts["tip-00001"] == "+0.12 (0.02 to 0.25)"
    assert texts["tip-00002"] == "-0.30 (-0.40 to -0.17)"
    assert texts["tip-00003"] == "3 of 8 templates"
    assert texts["tip-00004"] == ""
    table.sort(COLUMNS.index("uplift"), Qt.SortOrder.AscendingOrder)
    assert (ids(table)[0], ids(table)[-1]) == ("tip-00002", "tip-00001")
    hover = table.data(table.index(3, COLUMNS.index("uplift")), Qt.ItemDataRole.ToolTipRole)
    assert hover == (
        "helps, +12 points, 95 % interval 2 to 25, in 20 tasks of 9 templates (followed in 8),"
        " with and without the whole base"
    )
    assert table.credit_text("tip-00003").startswith("not enough data, in 20 tasks of 3 templates")
    table.give_credits([])
    assert cell(table.tip("tip-00001")) == ""


def test_changes_update_insert_and_remove_rows_without_a_reset(table):
    table.load([make(n) for n in range(10)])
    resets = []
    table.modelReset.connect(lambda: resets.append(1))
    held = QPersistentModelIndex(table.index(table.row_of("tip-00004"), 0))
    table.put([make(4, text="changed"), make(20)])
    table.load([*(make(n) for n in range(3, 12)), make(20)])
    assert not resets
    assert held.isValid()
    assert table.at(held.row()).id == "tip-00004"
    assert ids(table)[0] == "tip-00020", "the newest stands first"
    assert table.row_of("tip-00001") == -1


def test_a_changed_tip_stays_where_it_is(table):
    table.load([make(n) for n in range(5)])
    before = ids(table)
    table.put([make(2, changed_at=99.0)])
    assert ids(table) == before


def test_a_tip_that_no_longer_fits_stays_while_it_is_held(table):
    table.load([make(n) for n in range(3)])
    table.set_filter("status:draft")
    table.hold(["tip-00001"])
    table.put([make(1, status=Status.ACTIVE)])
    assert "tip-00001" in ids(table)
    table.hold(["tip-00002"])
    assert ids(table) == ["tip-00002", "tip-00000"]


@pytest.mark.parametrize("column", range(len(COLUMNS)))
def test_sorting_by_any_column_takes_the_selection_along(table, column):
    statuses = list(Status)
    table.load([make(n, site=f"s{n % 3}", status=statuses[n % 5], text=f"{9 - n}") for n in range(10)])
    chosen = QItemSelectionModel(table)
    row = table.row_of("tip-00007")
    chosen.select(
        table.index(row, 0),
        QItemSelectionModel.SelectionFlag.ClearAndSelect | QItemSelectionModel.SelectionFlag.Rows,
    )
    for order in (Qt.SortOrder.AscendingOrder, Qt.SortOrder.DescendingOrder):
        table.sort(column, order)
        assert [table.at(index.row()).id for index in chosen.selectedRows()] == ["tip-00007"]
    assert len(ids(table)) == 10


@given(st.lists(st.tuples(st.integers(0, 12), st.sampled_from(list(Status))), max_size=30))
def test_any_changes_leave_the_rows_the_filter_names(changes):
    model = TipTableModel()
    QAbstractItemModelTester(model, FATAL, model)
    model.set_filter("status:draft,active")
    known: dict[str, Tip] = {}
    for number, status in changes:
        tip = make(number, status=status)
        known[tip.id] = tip
        model.put([tip])
    shown = {tip for tip, one in known.items() if one.status in (Status.DRAFT, Status.ACTIVE)}
    assert set(ids(model)) == shown
    assert [model.row_of(tip) for tip in ids(model)] == list(range(len(shown)))


def test_ten_thousand_tips_are_shown_and_filtered(table):
    table.load([make(n, site=f"site{n % 7}") for n in range(10_000)])
    table.set_filter("site:site3 99")
    assert 0 < table.rowCount() < 1500
    table.put([make(10_001, site="site3", text="99 more")])
    assert ids(table)[0] == "tip-10001"


def test_times_are_relative_and_exact_on_hover(table):
    assert ago(1000, now=1030) == "just now"
    assert ago(1000, now=1000 + 7200) == "2 h ago"
    table.load([make(1, changed_at=1_790_000_000.0)])
    hover = table.data(table.index(0, COLUMNS.index("changed")), Qt.ItemDataRole.ToolTipRole)
    assert hover.startswith("2026-")
    assert hover.count(":") == 2


# ---------------------------------------------------------------- history
words = st.lists(st.sampled_from(["fill", "Title", "first", ",", " ", "then", "שלום"]), max_size=12).map(
    " ".join
)


@given(words, words)
def test_a_diff_holds_the_new_text_and_the_old(old, new):
    parts = diff_words(old, new)
    assert "".join(part.text for part in parts if part.change != "removed") == new
    assert "".join(part.text for part in parts if part.change != "added") == old


def test_a_version_says_which_fields_changed():
    old, new = make(1), make(1, text="text 1 more", status=Status.ACTIVE)
    assert [change.field for change in changes_between(old, new)] == ["text", "status"]


def test_versions_stand_newest_first_and_stay_when_one_is_added(qapp):
    model = RevisionListModel()
    QAbstractItemModelTester(model, FATAL, model)
    versions = [
        Revision(tip=make(1, revision=n, text=f"try {n}"), deed="edit", author="ana", at=float(n))
        for n in range(1, 4)
    ]
    model.merge(revision_rows(versions[:2]))
    model.merge(revision_rows(versions))
    assert [row.revision for row in model.rows] == [3, 2, 1]
    assert model.rows[0].is_newest
    assert not model.rows[1].is_newest
    assert model.rows[2].changes == ()


# ---------------------------------------------------------------- fields
@pytest.mark.parametrize("name", ["site", "scope", "kind", "text", "when", "keywords"])
def test_a_field_shown_and_taken_back_is_the_same(name):
    draft = draft_of(make(1, scope=Scope.parse("*:8023/a/**?x"), keywords=("a", "b"), when="w"))
    assert with_field(draft, name, field_of(draft, name)) == draft


# ---------------------------------------------------------------- try it
def test_an_answer_shows_what_was_found_and_why_the_rest_was_not(client, tasks, settle):
    model = RetrievalTestModel(client, tasks)
    QAbstractItemModelTester(model.model, FATAL, model)
    model.set_url("http://gitlab.example:8023/x")
    model.set_goal("Create a milestone")
    settle(0.3)
    asked = [args for name, args in client.api.calls if name == "retrieve"]
    assert asked == [(Query(url="http://gitlab.example:8023/x", text="Create a milestone"),)], "one question"
    assert model.model.rows[0].route == "url"
    assert model.model.rows[0].tokens == 32
    model.set_url("")
    model.set_goal("")
    settle(0.3)
    assert model.model.rowCount() == 0
    assert model.is_blank


def test_a_route_that_is_off_says_why(client, tasks, settle, monkeypatch):
    tip = make(1)

    async def retrieve(query, k=8, kb=""):
        return Retrieval(
            results=(),
            missed=(Missed(tip=tip, reason="its status is draft"),),
            routes_off={"embedding": "the encoder is starting"},
        )

    monkeypatch.setattr(client.api, "retrieve", retrieve)
    model = RetrievalTestModel(client, tasks)
    model.set_goal("x")
    settle(0.3)
    assert model.off == ("route embedding is off: the encoder is starting",)
    assert model.model.rows[0].missed == "its status is draft"
    assert len(retrieval_rows(Retrieval(results=()))) == 0


# ---------------------------------------------------------------- the open tip
@pytest.fixture
def editor(client, tasks, settle):
    made = TipEditor(client, tasks)
    for model in (made.lint, made.similar, made.examples, made.history):
        QAbstractItemModelTester(model, FATAL, made)
    made.show(client.api.tips["gitlab-001"])
    settle(0.2)
    return made


def test_an_open_tip_shows_pages_lint_neighbours_preflight_and_versions(editor):
    assert editor.pages == 74
    assert editor.preflight.startswith("61 stored steps")
    assert editor.similar.rowCount() == 2
    assert editor.examples.rowCount() > 0
    assert editor.history.rowCount() == 1


def test_saving_makes_a_new_revision(editor, client, settle):
    editor.edit()
    editor.set_field("text", "Fill Title first.")
    editor.save()
    settle(0.2)
    assert client.api.tips["gitlab-001"].text == "Fill Title first."
    assert editor.tip.revision == 2
    assert not editor.is_editing
    assert client.api.drafts == {}


def test_leaving_keeps_the_old_text_and_the_edit(editor, client, settle):
    old = editor.tip.text
    editor.edit()
    editor.set_field("text", "half a sent")
    editor.leave()
    settle(0.1)
    assert client.api.tips["gitlab-001"].text == old
    assert editor.field("text") == old
    editor.edit()
    settle(0.1)
    assert editor.kept
    assert editor.field("text") == "half a sent"
    editor.discard()
    settle(0.1)
    assert client.api.drafts == {}
    assert editor.field("text") == old


def test_another_tip_takes_nothing_of_the_edit(editor, client, settle):
    editor.edit()
    editor.set_field("text", "half a sent")
    editor.show(client.api.tips["reddit-004"])
    settle(0.2)
    assert not editor.is_editing
    assert editor.field("text") == client.api.tips["reddit-004"].text
    assert client.api.drafts["edit:gitlab-001"].text == "half a sent"


def test_an_empty_tip_is_not_saved(editor, client, settle):
    editor.edit()
    editor.set_field("text", " ")
    editor.set_field("do", "")
    editor.save()
    settle(0.1)
    assert editor.is_editing
    assert "text is empty" in editor.error
    assert not [name for name, _ in client.api.calls if name == "edit_tip"]


# ---------------------------------------------------------------- the perspective
@pytest.fixture
def model(client, tasks, settle):
    made = KnowledgeModel(client, tasks)
    QAbstractItemModelTester(made.table, FATAL, made)
    made.start()
    settle(0.1)
    return made


def test_many_tips_get_a_status_in_one_change(model, client, settle):
    model.select(["gitlab-001", "reddit-004", "shopping-002"], "gitlab-001")
    model.set_status("reviewed")
    settle(0.2)
    assert [args for name, args in client.api.calls if name == "set_status"] == [
        (("gitlab-001", "reddit-004"), Status.REVIEWED)
    ], "the one that has it stays as it is"
    assert model.table.tip("reddit-004").status is Status.REVIEWED
    assert client.api.done, "it can be undone"


def test_what_others_change_arrives_by_rows(model, client, run, settle):
    resets = []
    model.table.modelReset.connect(lambda: resets.append(1))
    run(client.api.set_status(["map-005"], Status.ACTIVE))
    settle(0.2)
    assert model.table.tip("map-005").status is Status.ACTIVE
    assert not resets


def test_a_tip_opened_from_elsewhere_is_shown_through_any_filter(model):
    model.set_filter("site:map")
    model.open_tip("gitlab-001")
    assert model.current == "gitlab-001"
    assert model.table.row_of("gitlab-001") >= 0


def test_no_tips_and_no_match_are_told_apart(model, client, settle):
    model.set_filter("nothing like this")
    assert model.state is KnowledgeState.NO_MATCH
    client.api.tips.clear()
    model.start()
    settle(0.1)
    assert model.state is KnowledgeState.NO_TIPS


def test_the_session_brings_back_filter_tip_and_query(model, client, tasks, settle):
    model.set_filter("site:map")
    model.open_tip("map-005")
    model.trying.set_url("http://map.example/")
    again = KnowledgeModel(client, tasks)
    again.restore(model.session())
    again.start()
    settle(0.3)
    assert (again.current, again.table.text) == ("map-005", "site:map")
    assert again.trying.url == "http://map.example/"
    again.restore({"try": [1, 2], "filter": 3, "tip": None})


# ---------------------------------------------------------------- freeze
def test_learnings_are_counted_apart_and_frozen_only_if_chosen(client, tasks, settle):
    for number, status in enumerate(Status):
        learned = make(number, kind=Kind.LEARNING, status=status)
        client.api.tips[learned.id] = learned
    model = FreezeModel(client, tasks)
    model.open()
    settle(0.2)
    assert (model.counts["learnings"], model.counts["active"], model.chosen, model.to_check) == (3, 3, 3, 3)
    model.set_path("/tmp/akb.akb")
    model.set_include("learnings", included=True)
    settle(0.2)
    assert (model.chosen, model.to_check) == (6, 6)
    model.freeze()
    settle(0.2)
    assert client.api.calls[-1] == ("freeze", ("/tmp/akb.akb", (), "learnings"))


def test_the_pane_counts_and_names_what_lint_keeps_out(client, tasks, settle, monkeypatch):
    async def lint_tip(tip):
        wrong = LintFinding(
            rule="task-value", severity=LintSeverity.ERROR, message="'CSV' belongs to this task"
        )
        return [wrong] if tip == "gitlab-001" else []

    monkeypatch.setattr(client.api, "lint_tip", lint_tip)
    model = FreezeModel(client, tasks)
    QAbstractItemModelTester(model.left_out, FATAL, model)
    model.open()
    settle(0.2)
    known = {"draft": 3, "reviewed": 3, "active": 3, "suspect": 3, "retired": 2}
    assert model.counts == {**known, "learnings": 0}
    assert [(one.tip, one.rules) for one in model.left_out.rows] == [("gitlab-001", ("task-value",))]
    model.set_include("draft", included=True)
    settle(0.2)
    assert model.chosen == 6
    assert model.to_check == 6


def test_freezing_gives_a_report_and_its_hash(client, tasks, settle, tmp_path):
    model, copied = FreezeModel(client, tasks), []
    model.copy_wanted.connect(copied.append)
    model.freeze()
    assert "choose a path" in model.error
    model.set_path(str(tmp_path / "kb"))
    model.set_include("reviewed", included=True)
    model.freeze()
    settle(0.1)
    assert model.report.path.endswith("kb.akb")
    assert model.report.tips == 6
    assert ("freeze", (f"{tmp_path}/kb.akb", (Status.REVIEWED,))) in client.api.calls
    model.copy_hash()
    assert copied == ["ab12" * 16]


def test_an_export_takes_its_format_from_the_ending(client, tasks, settle):
    model, said = FreezeModel(client, tasks), []
    model.notice.connect(said.append)
    model.export_tips("/x/tips.csv", "jsonl")
    settle(0.05)
    model.export_tips("/x/tips", "txt")
    settle(0.05)
    assert [args for name, args in client.api.calls if name == "kb_export"] == [
        ("/x/tips.csv", "csv", ""),
        ("/x/tips.txt", "txt", ""),
    ]
    assert "14 tips" in said[0]
    assert format_of("a.JSONL") == "jsonl"
    assert format_of("a.xml") == ""


def test_a_retired_tip_can_come_back(model, client, settle):
    model.select(["map-005"], "map-005")
    assert model.can_become("draft")
    assert not model.can_become("retired")
    model.set_status("draft")
    settle(0.1)
    assert replace(client.api.tips["map-005"]).status is Status.DRAFT


def test_when_the_open_tip_goes_away_the_next_one_is_opened(model, client, settle):
    marked = []
    model.current_changed.connect(marked.append)
    del client.api.tips["gitlab-001"]
    model.start()
    settle(0.1)
    assert model.current == "shopping-002"
    assert marked == ["shopping-002"]
