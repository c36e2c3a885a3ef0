"""The frame's item models keep Qt's rules; jobs, search, palette and session report the truth."""

from __future__ import annotations

import asyncio

import pytest
from PySide6.QtTest import QAbstractItemModelTester

from app.engine.api.engine_api import SearchHit
from app.engine.core.events import Event, HistoryChanged, HostLost, JobChanged, RunsChanged
from app.models.common.commands import CommandCenter
from app.models.common.engine_client import EngineEvents, signal_name
from app.models.common.jobs import KEEP_ENDED, JobList, progress_text
from app.models.common.key_table import KeyTable
from app.models.common.palette import PaletteModel, match_score
from app.models.common.search import SearchModel, marked_pieces
from app.models.common.session import SessionKeeper
from app.models.common.workspace import WorkspaceModel
from app.views.frame.search import hit_row
from app.views.widgets.rows import SpanDelegate, SpanLine

FATAL = QAbstractItemModelTester.FailureReportingMode.Fatal


def job(number: int, state: str = "running", **fields) -> JobChanged:
    return JobChanged(id=f"job-{number}", title=f"Import {number}", state=state, **fields)


def test_jobs_come_advance_end_and_are_forgotten(client, tasks, fake_engine) -> None:
    jobs = JobList(client, tasks)
    tester = QAbstractItemModelTester(jobs, FATAL)
    counts: list[int] = []
    ended: list[str] = []
    jobs.running_changed.connect(counts.append)
    jobs.ended.connect(lambda one: ended.append(one.id))
    for number in range(KEEP_ENDED + 5):
        fake_engine.bus.publish(job(number))
        fake_engine.bus.publish(job(number, done=number, total=40))
        fake_engine.bus.publish(job(number, "done", done=40, total=40))
    fake_engine.bus.publish(job(99))
    assert jobs.rowCount() == KEEP_ENDED + 1
    assert jobs.rows[0].id == "job-99"
    assert counts[-1] == 1
    assert len(ended) == KEEP_ENDED + 5
    del tester


def test_a_job_is_cancelled_by_its_id(client, tasks, fake_engine, settle) -> None:
    jobs = JobList(client, tasks)
    fake_engine.tell_job(job(1))
    fake_engine.tell_job(job(2))
    jobs.cancel_all()
    settle()
    assert {call[1] for call in fake_engine.calls if call[0] == "cancel_job"} == {("job-1",), ("job-2",)}
    assert jobs.running == []


def test_jobs_end_when_the_engine_is_lost(client, tasks) -> None:
    jobs = JobList(client, tasks)
    jobs.take(job(1))
    client.host_changed.emit("The engine stopped unexpectedly.")
    assert jobs.rows[0].state == "failed"
    assert "engine stopped" in jobs.rows[0].error


def test_jobs_that_began_earlier_are_asked_for(client, tasks, fake_engine, settle) -> None:
    fake_engine.running["job-7"] = job(7)
    jobs = JobList(client, tasks)
    jobs.load()
    settle()
    assert [one.id for one in jobs.rows] == ["job-7"]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (job(1), "starting"),
        (job(1, done=3), "3 so far"),
        (job(1, done=34, total=59, detail="task 12"), "34 of 59 · 57 % · task 12"),
        (job(1, done=0, total=0), "starting"),
        (job(1, "done", done=59, total=59), "done · 59"),
        (job(1, "failed", error="the disk is full"), "failed: the disk is full"),
        (job(1, "cancelled", done=3), "cancelled · 3"),
    ],
)
def test_progress_is_told_in_numbers(given: JobChanged, words: str) -> None:
    assert progress_text(given) == words


def test_search_groups_runs_steps_and_tips(client, tasks, settle) -> None:
    model = SearchModel(client, tasks)
    tester = QAbstractItemModelTester(model, FATAL)
    model.ask("milestone")
    assert model.state == "asking"
    settle(0.3)
    kinds = [model.at(row).kind for row in range(model.rowCount())]
    assert kinds == sorted(kinds, key=["run", "step", "tip"].index)
    assert set(kinds) == {"run", "step", "tip"}
    assert sum(bool(model.begins_group(row)) for row in range(model.rowCount())) == 3
    model.ask("")
    assert (model.state, model.rowCount()) == ("empty", 0)
    del tester


def test_only_the_last_question_is_answered(client, tasks, fake_engine, settle) -> None:
    model = SearchModel(client, tasks)
    for text in ("m", "mi", "mil", "milestone"):
        model.ask(text)
    settle(0.3)
    assert model.text == "milestone"
    assert model.state == "answered"


def test_a_failed_search_says_why(client, tasks, fake_engine, settle, monkeypatch) -> None:
    async def broken(_text: str, _limit: int) -> list:
        raise ValueError("the index is being rebuilt")

    monkeypatch.setattr(fake_engine, "search", broken)
    model = SearchModel(client, tasks)
    model.ask("x")
    settle(0.3)
    assert (model.state, model.error) == ("failed", "the index is being rebuilt")


def test_snippets_mark_what_was_found_and_survive_stray_brackets() -> None:
    assert marked_pieces("click [Save] now") == [("click ", False), ("Save", True), (" now", False)]
    assert marked_pieces("a [broken") == [("a [broken", False)]
    assert marked_pieces("[]") == []
    assert marked_pieces("") == []


def test_the_palette_finds_by_beginnings_insides_and_letters_in_order(center: CommandCenter) -> None:
    model = PaletteModel(center)
    tester = QAbstractItemModelTester(model, FATAL)

    def first(text: str) -> str:
        model.ask(text)
        return model.command(0)

    assert first("write tip") == "tip.compose"
    assert first("wrtp") == "tip.compose"
    assert first("freeze") == "kb.freeze"
    assert first("dark") == "view.theme.dark"
    assert first("loop") == "review.verdict.5"
    model.ask("qqqq")
    assert model.rowCount() == 0
    assert match_score("xyz", "Write a tip", "Write a tip") is None
    del tester


def test_what_was_used_lately_stands_first(center: CommandCenter) -> None:
    model = PaletteModel(center)
    model.used("kb.verify")
    model.used("app.about")
    center.bind("app.about", lambda: None)
    model.ask("")
    assert model.command(0) == "app.about"


def test_the_key_table_filters_and_follows_changes(center: CommandCenter) -> None:
    table = KeyTable(center)
    tester = QAbstractItemModelTester(table, FATAL)
    whole = table.rowCount()
    table.filter("verdict loop")
    assert table.rowCount() == 1
    table.filter("")
    assert table.rowCount() == whole
    center.remap("app.quit", ["Ctrl+W"])
    row = table.row_of("app.quit")
    assert table.data(table.index(row, 1)) == "Ctrl+W"
    del tester


def test_the_workspace_tells_counts_undo_and_fresh_changes(client, tasks, fake_engine, settle) -> None:
    model = WorkspaceModel(client, tasks)
    model.start()
    settle()
    assert (model.info.name, model.info.runs, model.is_empty) == ("webarena", 40, False)
    fake_engine.bus.publish(HistoryChanged(undo="retire tip gitlab-013"))
    assert model.undo_label == "retire tip gitlab-013"
    assert model.can_offer_undo
    said: list[tuple[str, str]] = []
    model.said.connect(lambda text, kind: said.append((text, kind)))
    fake_engine.done.append("retire tip gitlab-013")
    model.undo()
    settle()
    assert said == [("Undone: retire tip gitlab-013", "ok")]
    assert not model.can_offer_undo
    fake_engine.bus.publish(RunsChanged())


def test_an_import_says_what_came_and_what_could_not_be_read(
    client, tasks, fake_engine, settle, monkeypatch
) -> None:
    from app.engine.api.engine_api import PathError, RunImportReport

    async def some(paths, format="auto"):
        return RunImportReport(
            imported=3, skipped=2, failed=(PathError(path="a/run.json", error="it ends in the middle"),)
        )

    monkeypatch.setattr(fake_engine, "import_runs", some)
    model = WorkspaceModel(client, tasks)
    said: list[tuple[str, str]] = []
    model.said.connect(lambda text, kind: said.append((text, kind)))
    model.import_runs(["/x/trajectories"])
    settle()
    assert said[0] == ("Importing 'trajectories'", "")
    assert said[1] == (
        "3 runs imported, 2 already present, 1 could not be read (first: a/run.json: it ends in the middle)",
        "fail",
    )


def test_a_session_is_saved_when_it_changed_and_restored(client, tasks, fake_engine, run, settle) -> None:
    state = {"perspective": "review"}
    keeper = SessionKeeper(client, tasks, lambda: dict(state))
    assert run(keeper.load()) == {}
    saved: list[bool] = []
    keeper.saved_changed.connect(saved.append)
    keeper.save()
    settle()
    keeper.save()  # nothing changed: not written again
    settle()
    assert saved == [True]
    assert fake_engine.session == {"version": 1, "perspective": "review"}
    state["perspective"] = "knowledge"
    run(keeper.finish())
    assert fake_engine.session["perspective"] == "knowledge"


def test_a_session_of_a_newer_version_is_not_read(client, tasks, fake_engine, run) -> None:
    fake_engine.session = {"version": 2, "perspective": "map"}
    keeper = SessionKeeper(client, tasks, dict)
    assert run(keeper.load()) == {}


def test_a_failed_save_is_shown(client, tasks, fake_engine, settle, monkeypatch) -> None:
    async def full(_session: dict) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(fake_engine, "save_session", full)
    keeper = SessionKeeper(client, tasks, lambda: {"a": 1})
    saved: list[bool] = []
    keeper.saved_changed.connect(saved.append)
    keeper.save()
    settle()
    assert saved == [False]


def test_a_late_answer_after_the_end_is_dropped(client, tasks, run) -> None:
    model = SearchModel(client, tasks)
    model.ask("milestone")
    run(tasks.aclose())
    run(asyncio.sleep(0.2))
    assert model.state == "asking"


def test_every_event_of_the_engine_has_a_signal():
    without = {
        event.__name__ for event in Event.__subclasses__() if not hasattr(EngineEvents, signal_name(event))
    }
    assert without == {HostLost.__name__}


def test_a_marked_word_keeps_its_distance_from_the_words_around_it(theme) -> None:
    def width(snippet: str) -> float:
        row = hit_row(SearchHit(kind="run", id="r", step=None, title="t", snippet=snippet, score=1.0))
        assert isinstance(row.lines[1], SpanLine)
        return sum(SpanDelegate(theme).width_of(span) for span in row.lines[1].spans)

    assert width("many [orders] came") > width("many[orders]came") + 4
