"""The index: queue rows, full-text search that no text can break, flags and risk."""

from __future__ import annotations

from contextlib import closing

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.engine.api.run_rows import RunFilter
from app.engine.core.actions.recorded import ActionTarget, RecordedAction
from app.engine.core.trajectory import Outcome
from app.engine.core.verdicts import Flag, Risk, Severity
from app.engine.imports.importer import import_paths
from app.engine.store.database import open_database
from app.engine.store.review_schema import MIGRATIONS as REVIEW_MIGRATIONS
from app.engine.store.run_index import MIGRATIONS, RunIndex
from app.engine.store.run_search_text import fts_query
from app.engine.store.workspace import Workspace
from tests.support.laws import examples
from tests.support.runs import COLLECTION, make_run, make_step, needs_collection


@pytest.fixture
def workspace(tmp_path):
    with Workspace.open(tmp_path / "workspace") as opened:
        yield opened


def _add(workspace: Workspace, run: str, steps=(), **fields) -> None:
    workspace.index.put_run(make_run(run, step_count=len(steps), **fields), list(steps), workspace.site_of)


def _ids(workspace: Workspace, **which) -> list[str]:
    return [row.id for row in workspace.index.rows(RunFilter(**which))]


def test_every_part_of_a_step_can_be_searched(workspace):
    step = make_step(
        0,
        reason="Perhaps the quince is here",
        action=RecordedAction(kind="fill", args={"bid": "1", "value": "loquat"}),
        target=ActionTarget(role="textbox", name="Medlar"),
        url="http://h:7770/papaya/list?sort=x",
        title="Tamarind shop",
        error="TimeoutError: durian",
    )
    _add(workspace, "a", [step], intent="Find a mangosteen", answer="Three rambutans", error="salak crash")
    for word in ("quince", "loquat", "medlar", "papaya", "tamarind", "durian"):
        assert [(hit.kind, hit.id, hit.step) for hit in workspace.index.search(word, 9)] == [
            ("step", "a", 0)
        ], word
    for word in ("mangosteen", "rambutans", "salak"):
        assert [(hit.kind, hit.id, hit.step) for hit in workspace.index.search(word, 9)] == [
            ("run", "a", None)
        ], word


def test_all_words_must_be_found_and_the_last_one_may_be_a_beginning(workspace):
    _add(workspace, "a", [make_step(reason="sort the reviews by rating")])
    assert len(workspace.index.search("reviews rat", 9)) == 1
    assert workspace.index.search("rev rating", 9) == []
    assert workspace.index.search("reviews banana", 9) == []
    assert len(workspace.index.search('"the reviews"', 9)) == 1
    assert workspace.index.search('"reviews the"', 9) == []
    assert len(workspace.index.search("REVIEWS", 9)) == 1


def test_a_find_is_marked_in_its_snippet(workspace):
    _add(workspace, "a", [make_step(reason="first word then the kumquat and more")])
    (hit,) = workspace.index.search("kumqu", 9)
    assert "[kumquat]" in hit.snippet
    assert hit.score > 0


@settings(
    max_examples=examples(300), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.text(alphabet=st.sampled_from("ab\"'*()-+^:;{}[]\\/%_.,~ \n\0") | st.characters(), max_size=25))
def test_no_text_is_an_error(workspace, text):
    workspace.index.search(text, 5)
    workspace.index.rows(RunFilter(search=text, site=text, detector=text, order=text))


@pytest.mark.parametrize(
    "text",
    [
        "AND",
        "OR NOT",
        "NEAR(a b)",
        "a*",
        "reason:x",
        "a AND",
        "'; DROP TABLE run; --",
        '"',
        '""',
        '"a',
        "a-b",
        "^a",
        "* *",
    ],
)
def test_operators_are_words(workspace, text):
    _add(workspace, "a", [make_step(reason=f"what about {text} here")])
    for hit in workspace.index.search(text, 5):
        assert hit.id == "a"
    assert workspace.index.count() == 1


def test_every_word_of_a_question_is_quoted():
    assert fts_query('a AND "b c" d') == '"a" "AND" "b c" "d"'
    assert fts_query("don't stop") == '"don" "t" "stop"*'
    assert fts_query('-- "') == ""


def test_runs_are_filtered(workspace):
    _add(workspace, "a", [make_step()], site="map", score=0.5, suite="s1")
    _add(workspace, "b", [make_step(), make_step(1)], site="map", score=1.0, suite="s2")
    _add(workspace, "c", [], site="gitlab", score=None, intent="Find the kiwano")
    workspace.index.put_judgement(
        "a", [_flag("a", "loop", 0)], Risk(run="a", value=0.9, suspect_step=0), "sig"
    )
    assert _ids(workspace) == ["a", "b", "c"]
    assert _ids(workspace, site="map") == ["a", "b"]
    assert _ids(workspace, suite="s2") == ["b"]
    assert _ids(workspace, failed=True) == ["a"]
    assert _ids(workspace, passed=True) == ["b"]
    assert _ids(workspace, detector="loop") == ["a"]
    assert _ids(workspace, search="kiwano") == ["c"]
    assert _ids(workspace, search="??") == []
    assert _ids(workspace, site="map", failed=True, search="save") == ["a"]


def test_runs_are_ordered(workspace):
    _add(workspace, "a", [make_step()], site="z", started_at=1.0)
    _add(workspace, "b", [make_step(), make_step(1)], site="y", started_at=3.0)
    _add(workspace, "c", [], site="x", started_at=2.0)
    for run, value in (("a", 0.2), ("b", 0.1), ("c", 0.9)):
        workspace.index.put_judgement(run, [], Risk(run=run, value=value, suspect_step=0), "")
    assert _ids(workspace, order="risk") == ["c", "a", "b"]
    assert _ids(workspace, order="date") == ["b", "c", "a"]
    assert _ids(workspace, order="site") == ["c", "b", "a"]
    assert _ids(workspace, order="steps") == ["b", "a", "c"]


def _flag(run: str, detector: str, step: int) -> Flag:
    return Flag(
        run=run,
        detector=detector,
        step=step,
        severity=Severity.WARNING,
        confidence=0.5,
        message="looks odd",
        evidence={"times": 3},
        version=2,
    )


def test_flags_and_risk_come_back_as_they_were_put(workspace):
    _add(workspace, "a", [make_step()])
    flags = [_flag("a", "second", 4), _flag("a", "first", 1), _flag("a", "second", 5)]
    risk = Risk(run="a", value=0.7, suspect_step=4, reasons=("one", "two"))
    workspace.index.put_judgement("a", flags, risk, "map|second")
    assert workspace.index.flags("a") == flags
    assert workspace.index.risk("a") == risk
    row = workspace.index.row("a")
    assert row is not None
    assert (row.flags, row.risk, row.suspect_step, row.signature) == (
        ("second", "first"),
        0.7,
        4,
        "map|second",
    )
    workspace.index.put_judgement("a", [], Risk(run="a", value=0.1, suspect_step=0), "")
    assert workspace.index.flags("a") == []
    assert workspace.index.risk("gone") == Risk(run="gone", value=0.0, suspect_step=0)


def test_a_run_that_is_put_again_replaces_itself(workspace):
    _add(workspace, "a", [make_step(reason="old cherimoya")])
    _add(workspace, "a", [make_step(reason="new feijoa")])
    assert workspace.index.search("cherimoya", 5) == []
    assert len(workspace.index.search("feijoa", 5)) == 1
    assert workspace.index.count() == 1
    workspace.index.remove(["a"])
    assert (workspace.index.count(), workspace.index.search("feijoa", 5), workspace.index.stored_steps()) == (
        0,
        [],
        [],
    )


def test_a_batch_that_fails_changes_nothing(workspace):
    def failing() -> None:
        with workspace.index.batch():
            _add(workspace, "a", [make_step()])
            raise RuntimeError

    with pytest.raises(RuntimeError):
        failing()
    assert workspace.index.count() == 0


def test_the_data_version_moves_with_runs_and_not_with_judgements(workspace):
    start = workspace.index.data_version
    _add(workspace, "a", [make_step()])
    with_run = workspace.index.data_version
    assert with_run != start
    workspace.index.put_judgement("a", [], Risk(run="a", value=0.1, suspect_step=0), "")
    assert workspace.index.data_version == with_run


def test_site_lengths_are_medians(workspace):
    for at, (site, steps) in enumerate(
        [("map", 1), ("map", 4), ("map", 9), ("git", 2), ("git", 5), ("map", 0)]
    ):
        _add(workspace, f"r{at}", [make_step(i) for i in range(steps)], site=site)
    assert workspace.index.site_lengths() == {"map": 4.0, "git": 3.5}


@needs_collection
@pytest.mark.shared_data
def test_the_collection_is_indexed_whole(workspace):
    report = import_paths(workspace, [COLLECTION])
    assert (report.imported, report.failed) == (59, ())
    rows = workspace.index.rows(RunFilter())
    assert sum(row.score is not None and row.score < 1 for row in rows) == 40
    steps = workspace.index.stored_steps()
    assert len(steps) == 418
    assert {step.site for step in steps} >= {
        "gitlab",
        "map",
        "reddit",
        "shopping",
        "shopping_admin",
        "wikipedia",
    }
    assert "cross" not in {step.site for step in steps}
    assert all(step.text for step in steps)
    (hit, *_) = workspace.index.search("olivia zip dissat", 10)
    assert hit.id.startswith("webarena-113-")
    assert hit.id in [row.id for row in workspace.index.rows(RunFilter(search="olivia zip"))]


NEEDS = 'found the invoice "F-12",\n no control for splitting it in view'


def test_a_run_that_gave_up_has_its_reason_in_its_row_and_is_found_by_it(workspace):
    _add(workspace, "gave-up", outcome=Outcome.INFEASIBLE, answer=NEEDS)
    _add(workspace, "answered", answer=NEEDS)
    _add(workspace, "silent", outcome=Outcome.INFEASIBLE, answer=None)
    needs = {row.id: row.needs for row in workspace.index.rows(RunFilter())}
    assert needs == {"gave-up": " ".join(NEEDS.split()), "answered": "", "silent": ""}
    assert _ids(workspace, needs=True) == ["gave-up"]
    assert _ids(workspace, needs=True, search="splitting") == ["gave-up"]
    assert _ids(workspace, needs=True, search="merging") == []


def test_a_reason_stored_by_an_older_program_is_in_the_row_without_reading_the_run_again(tmp_path):
    place, review = tmp_path / "index.sqlite", tmp_path / "review.sqlite"
    open_database(review, REVIEW_MIGRATIONS).close()
    with closing(open_database(place, MIGRATIONS[:3], checkpointed=False)) as old:
        for run, outcome in (("a", "infeasible"), ("b", "answered")):
            old.execute(
                "INSERT INTO run (id, source, suite, task_id, site, intent, outcome, steps, started_at, content_hash)"
                " VALUES (?, '', '', '', '', '', ?, 0, 0, '')",
                (run, outcome),
            )
            row = old.execute("INSERT INTO page (run, url, site) VALUES (?, '', '')", (run,)).lastrowid
            old.execute("INSERT INTO words (rowid, answer) VALUES (?, ?)", (row, NEEDS))
        old.commit()
    with closing(RunIndex(place, review)) as index:
        assert {row.id: row.needs for row in index.rows(RunFilter())} == {
            "a": " ".join(NEEDS.split()),
            "b": "",
        }
