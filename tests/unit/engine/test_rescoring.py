"""Stored runs are scored again from the workspace and from folders, with and without a judge."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from app.cli import main
from app.engine.agent.judging.answer_judge import ask_judge
from app.engine.core.evaluation.judge_question import JudgeAsks, JudgeQuestion
from app.engine.core.evaluation.run_evidence import RunEvidence
from app.engine.core.evaluation.suite import HtmlTarget, Oracle, SuiteTask
from app.engine.core.events import JobChanged
from app.engine.core.model_api import ModelError, ModelErrorKind, ModelReply
from app.engine.core.prompt_set import prompt_digest
from app.engine.core.sites import Site
from app.engine.core.trajectory import Outcome, Step, Tab, add_blob
from app.engine.engine import Engine
from app.engine.evaluation.agreement import score_agreement, undecided_reasons
from app.engine.evaluation.evidence_codec import encode_evidence
from app.engine.services.evaluation_judge import EvaluationJudge
from app.engine.services.rescoring import RescoringService
from app.engine.services.stored_evidence import bases_of, stored_evidence, with_stored_targets
from app.engine.services.suites import SuiteService
from app.errors import InputError, NotFound, UsageError
from tests.support.runs import make_run, make_step, record, summary, write_run
from tests.support.scripted_model import ScriptedModel
from tests.support.suite_files import own_suite, webarena_task, write_json


@pytest.fixture(autouse=True)
def no_log_files(monkeypatch):
    monkeypatch.setattr("app.log.setup", lambda level="": None)


@pytest.fixture
async def engine(tmp_path):
    opened = await Engine.open(tmp_path / "w", "mina")
    yield opened
    await opened.aclose()


def evaluated_by(id: int, *types: str, **more: Any) -> dict[str, Any]:
    task = webarena_task(id)
    task["eval"] = {**task["eval"], "eval_types": list(types), **more}
    return task


def answers(**reference: Any) -> dict[str, Any]:
    return {"reference_answers": reference}


TASKS = [
    evaluated_by(1, "string_match", **answers(must_include=["Zora", "Quill"])),
    evaluated_by(2, "url_match", reference_url="__SHOPPING__/page", url_note="GOLD in PRED"),
    evaluated_by(3, "string_match", **answers(fuzzy_match=["Zora Quill"])),
    evaluated_by(4, "string_match", **answers(fuzzy_match="N/A"), string_note="no such shop"),
    evaluated_by(
        5,
        "program_html",
        program_html=[{"url": "last", "locator": "", "required_contents": {"must_include": ["Save 1"]}}],
    ),
    evaluated_by(
        6,
        "program_html",
        program_html=[
            {
                "url": "func:reddit_get_post_url('__last_url__')",
                "locator": "",
                "required_contents": {"must_include": ["a"]},
            }
        ],
    ),
    evaluated_by(7, "visual_match"),
]


@pytest.fixture
def suite(tmp_path) -> str:
    return str(write_json(tmp_path / "test.raw.json", TASKS))


def said(role: str, text: str) -> list[dict[str, Any]]:
    return [*record(0)["obs"]["chat_messages"], {"role": role, "timestamp": 3.0, "message": text}]


def publish(
    root: Path, task: int, *, score: float = 0.0, obs: dict[str, Any] | None = None, **last: Any
) -> Path:
    """A published run of one step, whose last record is as given."""
    records = {0: record(0), 1: record(1, obs=obs or {}, **last)}
    about = summary(1, cum_reward=score)
    return write_run(root / "trajectories" / "webarena" / "results" / f"task_{task}", records, about)


async def rescored(
    engine: Engine, root: Path, suite: str, dialect: str = "webarena", **more: Any
) -> dict[str, Any]:
    rows = await engine.rescore_folder(str(root), suite, dialect, **more)
    return {row.task: row for row in rows}


async def test_a_folder_is_scored_by_its_last_records(engine, tmp_path, suite):
    root = tmp_path / "runs"
    publish(root, 1, score=0.5, obs={"chat_messages": said("assistant", "Zora")})
    publish(root, 2, score=1.0)
    publish(root, 4, score=1.0, obs={"chat_messages": said("infeasible", "it is not there")})
    publish(root, 5, score=1.0)
    publish(root, 6, score=1.0)
    publish(root, 7)
    publish(root, 8)
    found = await rescored(engine, root, suite)
    assert {task: (row.recorded, row.score, row.verdict) for task, row in found.items()} == {
        "1": (0.5, 0.0, "fail"),
        "2": (1.0, 1.0, "pass"),
        "4": (1.0, 1.0, "pass"),
        "5": (1.0, 1.0, "pass"),
        "6": (1.0, None, "undecided"),
        "7": (0.0, None, "undecided"),
        "8": (0.0, None, "undecided"),
    }
    assert "helper" in found["6"].why
    assert "visual_match" in found["7"].why
    assert "no task '8'" in found["8"].why
    assert found["1"].run == "trajectories/webarena/results/task_1"
    partial = (await rescored(engine, root, suite, "webchorearena"))["1"]
    assert (partial.score, partial.verdict) == (0.5, "fail")


async def test_a_run_of_another_suite_is_not_scored_by_this_one(engine, tmp_path, suite):
    write_run(tmp_path / "runs" / "webchorearena" / "results" / "task_10001")
    (row,) = await engine.rescore_folder(str(tmp_path / "runs"), suite)
    assert (row.verdict, row.why) == ("undecided", "the run is of the suite webchorearena, not of webarena")


async def test_without_its_last_record_a_page_is_unknown_and_an_answer_is_not(engine, tmp_path, suite):
    root = tmp_path / "runs"
    for task in (1, 2):
        folder = publish(root, task)
        sent = "<action>\n```send_msg_to_user('Zora Quill')```\n</action>"
        (folder / "steps_info_0.json").write_text(json.dumps(record(0, action=sent)))
        (folder / "steps_info_1.json").unlink()
    found = await rescored(engine, root, suite)
    assert (found["1"].score, found["2"].score) == (1.0, None)
    assert "was not recorded" in found["2"].why


@pytest.mark.parametrize(
    ("browsergym", "scores"), [(None, (1.0, 0.0)), (True, (1.0, 0.0)), (False, (None, 1.0))]
)
async def test_browsergyms_rules_hold_for_its_own_runs_unless_they_are_told_not_to(
    engine, tmp_path, suite, browsergym, scores
):
    root = tmp_path / "runs"
    publish(root, 4, obs={"chat_messages": said("infeasible", "it is not there")})
    publish(root, 2, task_info={"error": "Unauthorized url, terminating task"})
    found = await rescored(engine, root, suite, browsergym=browsergym)
    assert (found["4"].score, found["2"].score) == scores


async def test_a_damaged_run_is_one_row_and_the_rest_goes_on(engine, tmp_path, suite):
    root = tmp_path / "runs"
    publish(root, 1, obs={"chat_messages": said("assistant", "Zora Quill")})
    broken = publish(root, 2)
    for path in broken.glob("*.json"):
        path.write_text("{")
    rows = await engine.rescore_folder(str(root), suite)
    assert sorted(row.verdict for row in rows) == ["pass", "undecided"]
    assert any("no run" in row.why for row in rows)


async def test_wrong_requests_are_one_sentence(engine, tmp_path, suite):
    with pytest.raises(InputError, match="no such folder"):
        await engine.rescore_folder(str(tmp_path / "gone"), suite)
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="no run"):
        await engine.rescore_folder(str(tmp_path / "empty"), suite)
    with pytest.raises(UsageError, match="no dialect"):
        await engine.rescore_folder(str(tmp_path / "empty"), suite, "visual")
    with pytest.raises(NotFound):
        await engine.rescore(["nobody"], suite)


FORMS = [
    ("webarena", None, "sitelore", False),
    ("webarena", None, "webchorearena", True),
    ("own", {}, "webarena", False),
    ("own", {}, "webchorearena", False),
    ("own", {}, "strict", False),
    ("own", {}, "sitelore", True),
    ("own", {"dialect": "webarena"}, "sitelore", False),
    ("own", {"dialect": "webarena"}, "webchorearena", True),
]


@pytest.mark.parametrize(("form", "head", "dialect", "fits"), FORMS)
async def test_a_dialect_is_refused_for_suites_of_another_form(engine, tmp_path, form, head, dialect, fits):
    publish(tmp_path / "runs", 1)
    document = TASKS if head is None else own_suite(**head)
    path = str(write_json(tmp_path / "given.json", document))
    if fits:
        rows = await engine.rescore_folder(str(tmp_path / "runs"), path, dialect)
        assert {row.dialect for row in rows} == {dialect}
        return
    with pytest.raises(UsageError, match=f"the rules {dialect} can't read the reference answers"):
        await engine.rescore_folder(str(tmp_path / "runs"), path, dialect)


async def test_it_is_a_job_with_numbers(engine, tmp_path, suite):
    told: list[JobChanged] = []
    engine.bus.subscribe(lambda event: told.append(event) if isinstance(event, JobChanged) else None)
    publish(tmp_path / "runs", 1)
    await rescored(engine, tmp_path / "runs", suite)
    assert (told[-1].title, told[-1].state, told[-1].done, told[-1].total) == (
        "Score runs again",
        "done",
        1,
        1,
    )


# the workspace


def store(engine: Engine, id: str, task: str, evidence: bytes | None = None, **more: Any) -> None:
    blobs: dict[str, bytes] = {}
    digest = add_blob(blobs, evidence) if evidence is not None else ""
    run = make_run(id, suite="webarena", task_id=task, evidence=digest, step_count=1, **more)
    engine._core.workspace.runs.add(run, [make_step(0)], blobs)
    engine._core.workspace.index_run(id)


async def test_runs_of_the_workspace_are_scored_by_their_captured_evidence(engine, suite):
    add = engine._core.on_store
    await add(store, engine, "a", "1", encode_evidence(RunEvidence(answer="Zora Quill")), answer="nothing")
    await add(store, engine, "b", "1", answer="Zora Quill", score=1.0)
    await add(store, engine, "c", "1", b'{"form":"sitelore-evidence","version":99}')
    await add(store, engine, "d", "99")
    rows = {row.run: row for row in await engine.rescore([], suite)}
    assert {id: row.verdict for id, row in rows.items()} == {"a": "pass", "b": "pass", "c": "undecided"}
    assert "version 99" in rows["c"].why
    (one,) = await engine.rescore(["d"], suite)
    assert one.verdict == "undecided"


async def test_an_answer_that_a_person_gave_is_not_scored_as_the_agents(engine, suite):
    given = {"answer": "Zora Quill", "ended_by": "ana", "outcome": Outcome.ANSWERED}
    await engine._core.on_store(lambda: store(engine, "a", "1", **given))
    (row,) = await engine.rescore(["a"], suite)
    assert (row.verdict, row.why) == (
        "undecided", "ana ended the run by hand, so it says nothing about the agent",
    )  # fmt: skip


async def test_a_run_whose_file_is_damaged_or_gone_is_told_and_the_others_are_scored(engine, suite):
    for run in ("a", "b", "c"):
        await engine._core.on_store(store, engine, run, "1", answer="Zora Quill", score=1.0)
    runs = engine._core.workspace.runs.path
    (runs / "a" / "run.json").write_text("{")
    (runs / "b" / "run.json").unlink()
    rows = {row.run: row for row in await engine.rescore([], suite)}
    assert {id: row.verdict for id, row in rows.items()} == {"a": "undecided", "b": "undecided", "c": "pass"}
    assert "damaged" in rows["a"].why
    assert "no run 'b'" in rows["b"].why
    (row,) = await engine.rescore(["a"], suite)
    assert row.verdict == "undecided"
    with pytest.raises(NotFound, match="no run 'b'"):
        await engine.rescore(["b"], suite)


async def test_a_blind_suite_shows_verdicts_without_answers(engine, suite):
    await engine._core.on_store(store, engine, "b", "1", answer="Zora", score=1.0)
    await engine.add_suite(suite, blind=True)
    (row,) = await engine.rescore(["b"], suite)
    assert (row.verdict, row.checks, row.judge) == ("fail", (), ())
    assert "Quill" not in str(row)


# the judge


def judged(engine: Engine, *said: Any) -> tuple[RescoringService, ScriptedModel]:
    model = ScriptedModel(list(said))
    core = engine._core
    judge = EvaluationJudge(core, lambda shelf: model)
    return RescoringService(core, SuiteService(core), judge), model


REPLIES = [
    ('{"facts": "x", "verdict": "correct"}', 1.0),
    ('{"facts": "x", "verdict": "Incorrect."}', 0.0),
    ('{"facts": "not incorrect", "verdict": "partially correct"}', 0.0),
    ('{"facts": "x", "verdict": "same"}', None),
    ("it is not incorrect", None),
    ("", None),
]


@pytest.mark.parametrize(("reply", "score"), REPLIES)
async def test_a_judges_word_decides_and_nonsense_does_not(engine, tmp_path, suite, reply, score):
    publish(tmp_path / "runs", 3, obs={"chat_messages": said("assistant", "By Z. Quill")})
    service, model = judged(engine, reply)
    (row,) = await service.rescore_folder(str(tmp_path / "runs"), suite, judge=True)
    assert row.score == score
    (kept,) = row.judge
    assert kept.reply == reply
    assert len(kept.prompt_sha256) == 64
    assert "By Z. Quill".lower() in model.asked[0].text
    assert "Zora Quill" in model.asked[0].text


async def test_the_same_question_is_asked_once_and_only_where_it_matters(engine, tmp_path, suite):
    for place in ("x", "y"):
        publish(tmp_path / "runs" / place, 3, obs={"chat_messages": said("assistant", "By Z. Quill")})
    publish(tmp_path / "runs", 1)
    publish(tmp_path / "runs", 4)
    service, model = judged(engine, '{"verdict": "correct"}')
    rows = await service.rescore_folder(str(tmp_path / "runs"), suite, judge=True)
    assert len(model.asked) == 1
    assert sorted((row.task, row.score) for row in rows) == [("1", 0.0), ("3", 1.0), ("3", 1.0), ("4", 0.0)]


async def test_without_an_endpoint_or_unasked_the_verdict_says_so(engine, tmp_path, suite, monkeypatch):
    for name in ("SITELORE_MODEL_URL", "SITELORE_MODEL_KEY"):
        monkeypatch.delenv(name, raising=False)
    publish(tmp_path / "runs", 3, obs={"chat_messages": said("assistant", "By Z. Quill")})
    (unasked,) = await engine.rescore_folder(str(tmp_path / "runs"), suite)
    (missing,) = await engine.rescore_folder(str(tmp_path / "runs"), suite, judge=True)
    assert "no judge model was asked" in unasked.why
    assert "no judge model is set up" in missing.why


async def test_a_judge_that_is_gone_leaves_the_rest_undecided():
    questions = [
        JudgeQuestion(asks=JudgeAsks.SAME_REASON, intent="i", reference="r", answer=str(number))
        for number in range(3)
    ]
    gone = ModelError("it is gone", ModelErrorKind.UNREACHABLE)
    model = ScriptedModel(['{"verdict": "same"}', gone, gone, gone])
    found = await ask_judge(questions, model)
    assert [one.decided for one in found.replies.values()] == [True]
    assert "it is gone" in found.why


async def test_one_refused_question_does_not_stop_the_others():
    questions = [
        JudgeQuestion(asks=JudgeAsks.SAME_MEANING, intent="i", reference="r", answer=str(number))
        for number in range(2)
    ]
    refused = ModelError("no", ModelErrorKind.REFUSED)
    found = await ask_judge(questions, ScriptedModel([refused, '{"verdict": "correct"}']))
    assert len(found.replies) == 1
    assert found.why == "the judge model gave no answer to this question"


async def test_the_score_of_captured_evidence_names_its_suite(engine, suite):
    service, _ = judged(
        engine, ModelReply(text='{"verdict":"correct"}', data={"verdict": "correct"}, model="m")
    )
    read = await SuiteService(engine._core).suite(suite)
    score = await service.score(read, read.task("3"), RunEvidence(answer="By Z. Quill"))
    assert (score.score, score.suite_sha256, score.judge[0].model) == (1.0, read.sha256, "m")
    from app.engine.agent.llm.prompting import bundled_prompts

    assert score.judge[0].prompt_sha256 == prompt_digest(bundled_prompts().texts["judge_answer"])


# stored evidence


def final(url: str, html: str = "") -> Step:
    return replace(make_step(1), url=url, tabs=(Tab(url=url, title=""),), html=html)


MINE = {"x": Site(name="x", bases={"__SHOPPING__": "http://mine/shop", "__S__": "http://mine"})}


@pytest.mark.parametrize(
    ("url", "name", "base"),
    [
        ("http://10.0.0.1:7770/a", "__SHOPPING__", "http://10.0.0.1:7770"),
        ("http://10.0.0.1:7780/admin/x", "__SHOPPING_ADMIN__", "http://10.0.0.1:7780/admin"),
        ("http://10.0.0.1:7770/a", "__GITLAB__", "http://10.0.0.1:8023"),
        ("https://www.openstreetmap.org/x", "__MAP__", "https://www.openstreetmap.org"),
        ("about:blank", "__GITLAB__", "http://*:8023"),
        ("http://h/", "__S__", None),
    ],
)
@pytest.mark.parametrize("rows", [{}, MINE])
def test_names_of_sites_stand_for_the_hosts_of_a_foreign_run_whatever_the_table_says(url, name, base, rows):
    evidence = stored_evidence(make_run(final=final(url)), None)
    assert dict(bases_of(evidence, rows, foreign=True)).get(name) == base


@pytest.mark.parametrize(
    ("rows", "name", "base"),
    [
        (MINE, "__SHOPPING__", "http://mine/shop"),
        (MINE, "__S__", "http://mine"),
        ({}, "__SHOPPING__", "http://10.0.0.1:7770"),
    ],
)
def test_an_own_run_without_captured_evidence_goes_by_the_table_first(rows, name, base):
    evidence = stored_evidence(make_run(final=final("http://10.0.0.1:7770/a")), None)
    assert dict(bases_of(evidence, rows))[name] == base


BINDINGS = [
    {},
    {"shopping": Site(name="shopping", hosts=("*:7770",), bases={"__SHOPPING__": "http://mine/shop"})},
    {"other": Site(name="other", hosts=("127.0.0.1:7770",))},
]


@pytest.mark.parametrize("rows", BINDINGS)
async def test_a_published_run_has_the_same_verdict_whatever_sites_the_workspace_has(
    engine, tmp_path, suite, rows
):
    publish(tmp_path / "runs", 2, score=1.0)
    engine._core.workspace.site_store.rows.update(rows)
    (row,) = await engine.rescore_folder(str(tmp_path / "runs"), suite)
    assert (row.score, row.verdict) == (1.0, "pass")


def test_a_captured_run_goes_by_the_table_of_sites_alone():
    evidence = RunEvidence(tabs=(Tab(url="http://10.0.0.1:7770/", title=""),), active=0)
    rows = {"s": Site(name="s", bases={"__SHOPPING__": "http://mine"})}
    assert bases_of(evidence, rows) == (("__SHOPPING__", "http://mine"),)


@pytest.mark.parametrize(
    ("target", "value", "why"),
    [
        (HtmlTarget(), "<p>a & b</p>", ""),
        (HtmlTarget(url="http://h/other"), None, "another page"),
        (HtmlTarget(url="func:shopping_get_latest_order_url()"), None, "helper"),
        (HtmlTarget(url="func:open('x')"), None, "not one of the published"),
        (HtmlTarget(locator="func:gitlab_get_project_memeber_role(__page__, 'a')"), None, "helper"),
        (HtmlTarget(locator="document.title"), None, "no browser"),
        (HtmlTarget(locator="lambda: 1"), None, "no known kind"),
    ],
)
def test_a_stored_page_holds_itself_and_nothing_else(target, value, why):
    task = SuiteTask(id="1", intent="i", oracle=Oracle(html=(target,)))
    evidence = stored_evidence(make_run(final=final("http://h/")), "<p>a &amp; b</p>")
    (found,) = asyncio.run(with_stored_targets(evidence, task, None)).targets
    assert (found.value, why in found.why) == (value, True)


def test_a_run_that_left_or_gave_up_says_so_in_its_evidence():
    left = stored_evidence(make_run(outcome=Outcome.LEFT_ALLOWED_SITES), None)
    gave_up = stored_evidence(make_run(outcome=Outcome.INFEASIBLE, answer="why"), None)
    assert (left.left_sites, gave_up.infeasible, gave_up.answer, left.url) == (True, True, "why", None)


# the command


def test_the_command_prints_a_document_or_a_table(tmp_path, suite, capsys):
    root = tmp_path / "runs"
    publish(root, 1, score=1.0, obs={"chat_messages": said("assistant", "Zora")})
    publish(root, 3, obs={"chat_messages": said("assistant", "By Z. Quill")})
    arguments = ["--workspace", str(tmp_path / "w"), "eval", "rescore", str(root), "--suite", suite]
    assert main([*arguments, "--json", "--dialect", "webchorearena"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert list(rows[0]) == ["run", "task", "recorded", "score", "verdict", "why", "checks"]
    assert [(row["task"], row["score"], row["verdict"]) for row in rows] == [
        ("1", 0.5, "fail"),
        ("3", None, "undecided"),
    ]
    assert list(rows[0]["checks"][0]) == ["evaluator", "expected", "found", "score", "why"]
    assert main(arguments) == 0
    text = capsys.readouterr().out
    assert text.startswith("2 runs of the suite webarena, scored by the rules webarena\n")
    assert "agree: both are a pass" in text
    assert "same score: the numbers are equal" in text
    assert "false fail" in text
    assert "no judge model was asked" in text
    assert "recorded 1" in text
    assert main([*arguments[:4], "all", "--suite", suite]) == 0
    assert "no runs of this suite" in capsys.readouterr().out
    assert main([*arguments[:4], str(root), "b", "--suite", suite]) != 0


def test_agreement_counts_passes_and_scores_apart():
    from app.engine.api.evaluation_api import RescoredRun

    def row(recorded: float | None, score: float | None) -> RescoredRun:
        verdict = "undecided" if score is None else "pass" if score == 1 else "fail"
        return RescoredRun(
            run="r",
            task="1",
            recorded=recorded,
            score=score,
            verdict=verdict,
            why="w",
            evaluators=("e",),
            site="s",
        )

    (one,) = score_agreement([row(1, 1), row(0, 0.5), row(0.5, 1), row(1, 0), row(1, None), row(None, 1)])
    assert (one.runs, one.decided, one.agree, one.same, one.false_pass, one.false_fail) == (6, 4, 2, 1, 1, 1)
    assert undecided_reasons([row(1, None)]) == [("w", 1)]
