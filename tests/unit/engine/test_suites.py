"""The use cases of suites, the guard against answers in tips, and ``sitelore suite`` and ``eval split``."""

from __future__ import annotations

import json
from pathlib import Path

import orjson
import pytest

from app.cli import main
from app.engine.core.evaluation.suite import TaskFilter
from app.engine.core.events import KnowledgeChanged, SuitesChanged
from app.engine.core.sites import Site
from app.engine.engine import Engine
from app.engine.store.workspace import Workspace
from app.errors import Conflict, InputError, NotFound, UsageError
from kb.tip import Scope, Status, TipDraft
from tests.support.runs import make_run, make_step
from tests.support.suite_files import own_suite, webarena_task, write_json

GUARDED = "Open the reviews by the tab below, since Zora Quill stands there."


@pytest.fixture(autouse=True)
def no_log_files(monkeypatch):
    monkeypatch.setattr("app.log.setup", lambda level="": None)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A workspace with three runs: two of WebArena's task 1, scored, and one of another task."""
    folder = tmp_path / "w"
    with Workspace.open(folder) as workspace:
        for id, task, score, intent in (
            ("r1", "1", 0.5, "Who wrote the review?"),
            ("r2", "1", 1.0, "Who wrote the review?"),
            ("r3", "99", None, "Another"),
        ):
            run = make_run(
                id, suite="webarena", task_id=task, score=score, intent=intent, site="shopping", step_count=1
            )
            workspace.runs.add(run, [make_step(index=0)], {})
        workspace.rebuild_index()
    return folder


@pytest.fixture
async def engine(place):
    engine = await Engine.open(place, author="mina")
    yield engine
    await engine.aclose()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    tasks = [
        webarena_task(1), webarena_task(2, intent="Who wrote the next review?"),
        webarena_task(3, intent_template_id=13, eval={"eval_types": []}),
        webarena_task(4, intent_template_id=14, sites=["gitlab"], start_url="__GITLAB__/x"),
    ]  # fmt: skip
    return write_json(tmp_path / "test.raw.json", tasks)


async def test_a_suite_is_added_described_hidden_removed_and_each_is_undone(engine, file):
    heard = []
    engine.bus.subscribe(lambda event: heard.append(type(event)))
    row = await engine.add_suite(str(file))
    assert (row.name, row.form, row.dialect, row.tasks, row.templates) == (
        "webarena",
        "webarena",
        "webarena",
        4,
        3,
    )
    assert (row.sites, row.kinds) == ((("shopping", 3), ("gitlab", 1)), (("question", 3), ("", 1)))
    assert (row.without_oracle, row.unbound, row.blind) == (1, ("__GITLAB__", "__SHOPPING__"), False)
    assert file.read_bytes() == await engine._core.on_store(
        lambda: engine._core.workspace.suites.read("webarena")[1]
    )
    await engine.save_site(Site(name="git", bases={"__GITLAB__": "http://g.example/"}))
    assert (await engine.suites())[0].unbound == ("__SHOPPING__",)
    assert (await engine.set_suite_blind("webarena", True)).blind
    await engine.remove_suite("webarena")
    assert await engine.suites() == []
    assert (await engine.undo()).did == "remove suite 'webarena'"
    assert [row.blind for row in await engine.suites()] == [True]
    assert (await engine.undo()).did == "hide the answers of suite 'webarena'"
    assert [row.blind for row in await engine.suites()] == [False]
    assert heard.count(SuitesChanged) == 5
    assert heard.count(KnowledgeChanged) >= 5, "a tip may hold an answer by now"


async def test_the_same_file_is_added_once_and_another_of_its_name_is_refused(engine, file, tmp_path):
    first = await engine.add_suite(str(file))
    assert await engine.add_suite(str(file)) == first
    assert (await engine.add_suite(str(file), blind=True)).blind
    with pytest.raises(Conflict, match="here already, under the name 'webarena'"):
        await engine.add_suite(str(file), "copy")
    other = write_json(tmp_path / "o.json", [webarena_task(5)])
    with pytest.raises(Conflict, match="there is a suite 'webarena' already; give this one another name"):
        await engine.add_suite(str(other))
    assert (await engine.add_suite(str(other), "Variant")).name == "variant"
    with pytest.raises(UsageError, match="can't be a suite's name"):
        await engine.add_suite(str(other), "a/b")
    (tmp_path / "bad.json").write_text("{")
    with pytest.raises(InputError, match="not valid JSON"):
        await engine.add_suite(str(tmp_path / "bad.json"))
    with pytest.raises(NotFound, match="there is no suite 'nope'"):
        await engine.remove_suite("nope")


async def test_nobody_is_shown_an_answer_of_a_blind_suite(engine, file):
    await engine.add_suite(str(file))
    [task, *_] = await engine.suite_tasks("webarena", TaskFilter(ids=("1",)))
    assert task.expected == ("the answer is exactly “Zora Quill”",)
    assert (task.runs, task.evaluators) == (2, ("string_match",))
    outcome = await engine.expected_outcome("r1")
    assert (outcome.suite, outcome.task, outcome.template, outcome.recorded) == ("webarena", "1", "12", 0.5)
    assert outcome.expected == task.expected
    assert outcome.score.verdict == "fail"  # it said nothing
    await engine.set_suite_blind("webarena", True)
    hidden = await engine.expected_outcome("r1")
    assert hidden.hidden
    shown = [
        hidden,
        await engine.suite_tasks("webarena"),
        await engine.suite_tasks(str(file)),
        await engine.suites(),
    ]
    assert "Zora" not in repr(shown)
    assert await engine.expected_outcome("r3") is None
    with pytest.raises(NotFound, match="there is no run 'r9'"):
        await engine.expected_outcome("r9")


async def test_of_two_variants_a_run_is_of_the_one_that_words_its_task_so(engine, file, tmp_path):
    variant = write_json(
        tmp_path / "v.json",
        [
            webarena_task(
                1, intent="Who  wrote the review", eval={"reference_answers": {"exact_match": "Other"}}
            )
        ],
    )
    await engine.add_suite(str(variant), "a-variant")
    assert (await engine.expected_outcome("r1")).expected == ("the answer is exactly “Other”",)
    await engine.add_suite(str(file), "the-original")
    assert (await engine.expected_outcome("r1")).suite == "the-original"


async def test_a_split_counts_runs_and_tainted_tips_by_half(engine, file):
    await engine.add_suite(str(file), "mine")
    tip = TipDraft(site="shopping", text="Open the tab below.", taint=("webarena:2",))
    saved = (await engine.save_tip(tip)).id
    report = await engine.split_suite("mine")
    with_one, without = (report.a, report.b) if "1" in report.a else (report.b, report.a)
    assert {"1", "2"} <= set(with_one)
    assert not {"1", "2"} & set(without)
    runs = {report.a: report.runs_a, report.b: report.runs_b}
    tips = {report.a: report.tips_a, report.b: report.tips_b}
    assert (runs[with_one], runs[without]) == (2, 0)
    assert (tips[with_one], tips[without]) == ((saved,), ())
    assert report.templates_a + report.templates_b == 3


async def test_a_tip_that_holds_an_answer_of_any_task_of_its_site_is_withheld(engine, file):
    tip = TipDraft(site="shopping", scope=Scope(path="/p"), text=GUARDED)
    saved = (await engine.save_tip(tip)).id
    assert "answer-leak" not in {one.rule for one in await engine.lint_tip(saved)}
    await engine.set_status([saved], Status.ACTIVE)
    await engine.add_suite(str(file), blind=True)
    leak = next(one for one in await engine.lint_tip(saved) if one.rule == "answer-leak")
    assert leak.message == "'Zora Quill' is the reference answer of task webarena:1 and 1 more"
    assert GUARDED[leak.start : leak.end] == "Zora Quill"
    marks = await engine.lint_marks([saved])
    assert "error:answer-leak" in marks[saved]
    checked = await engine.check_tip(tip, preflight=False)
    assert "answer-leak" in {one.rule for one in checked.lint}
    other = await engine.check_tip(TipDraft(site="wiki", text=GUARDED), preflight=False)
    assert "answer-leak" not in {one.rule for one in other.lint}
    with pytest.raises(Exception, match="answer-leak"):
        await engine.edit_tip(saved, TipDraft(site="shopping", text=GUARDED + " Yes.", status=Status.ACTIVE))
    await engine.remove_suite("webarena")
    assert "answer-leak" not in {one.rule for one in await engine.lint_tip(saved)}


def _call(capsys, place, *arguments, code=0):
    assert main(["--workspace", str(place), *arguments]) == code
    return capsys.readouterr()


def test_the_command_line_adds_lists_shows_hides_and_removes(place, file, capsys):
    call = lambda *arguments, code=0: _call(capsys, place, "suite", *arguments, code=code)  # noqa: E731
    assert "no suites" in call("list").out
    document = json.loads(call("add", str(file), "--json").out)
    assert (document["name"], document["tasks"], document["unbound"]) == (
        "webarena",
        4,
        ["__GITLAB__", "__SHOPPING__"],
    )
    assert "sitelore sites edit SITE --base __GITLAB__=URL" in call("add", str(file)).out
    assert [row["name"] for row in json.loads(call("list", "--json").out)] == ["webarena"]
    assert "webarena" in call("list").out
    shown = json.loads(call("show", "webarena", "--site", "shopping", "--ids", "1-2,4", "--json").out)
    assert [task["id"] for task in shown["tasks"]] == ["1", "2"]
    assert shown["suite"]["templates"] == 3
    assert "1: the answer is exactly “Zora Quill”" in call("show", "webarena", "--kind", "question").out
    assert "no task is left" in call("show", "webarena", "--template", "14", "--site", "shopping").out
    assert "are hidden" in call("blind", "webarena").out
    assert "Zora" not in call("show", "webarena").out + call("show", "webarena", "--json").out
    assert "can be seen" in call("blind", "webarena", "--off").out
    halves = json.loads(_call(capsys, place, "eval", "split", "webarena", "--seed", "3", "--json").out)
    assert sorted(halves["a"] + halves["b"]) == ["1", "2", "3", "4"]
    words = _call(capsys, place, "eval", "split", str(file)).out
    assert "webarena, seed 7" in words
    assert "  a: " in words
    assert "is removed" in call("remove", "webarena").err
    _call(capsys, place, "review", "undo")
    assert "webarena" in call("list").out


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("suite", "add", "none.json"), 3, "No such file"),
        (("suite", "show", "nope"), 1, "there is no suite 'nope'; 'sitelore suite list' names them"),
        (("suite", "show", "nope.json"), 1, "there is no suite"),
        (("suite", "blind", "nope"), 1, "there is no suite 'nope'"),
        (("suite", "remove", "nope"), 1, "there is no suite 'nope'"),
        (("eval", "split", "nope"), 1, "there is no suite 'nope'"),
    ],
)
def test_the_command_line_refuses_in_one_sentence(place, arguments, code, words, capsys):
    told = _call(capsys, place, *arguments, code=code)
    assert words in told.err
    assert told.out == ""
    assert len(told.err.strip().splitlines()) == 1


def test_a_suite_of_ours_is_shown_from_its_file_without_being_added(place, tmp_path, capsys):
    file = tmp_path / "ours.json"
    file.write_bytes(orjson.dumps(own_suite({"id": "a", "intent": "Count", "oracle": {"accepted": [4]}})))
    shown = json.loads(_call(capsys, place, "suite", "show", str(file), "--json").out)
    assert shown["suite"] is None
    assert shown["tasks"][0]["expected"] == ["the answer (text) is “4”"]
