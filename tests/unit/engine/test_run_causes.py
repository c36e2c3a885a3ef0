"""Answer page, likely cause and similar runs of a workspace, with their commands."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from app.cli import main
from app.engine.agent.model.recording_model import BlobBuffer
from app.engine.api.review_api import CauseSource
from app.engine.core.actions.recorded import RecordedAction
from app.engine.core.model_api import ModelError, ModelErrorKind, ModelReply
from app.engine.core.trajectory import Exposure, add_blob
from app.engine.core.verdicts import Label
from app.engine.engine import Engine
from app.engine.services.core import Core
from app.engine.services.review import ReviewService
from app.engine.services.run_causes import RunCauseService
from app.engine.store.workspace import Workspace
from app.errors import InputError, NotFound
from tests.support.runs import make_run, make_step
from tests.support.scripted_model import Said, ScriptedModel
from tests.support.suite_files import webarena_task, write_json

SHOP = "http://shop.example:7770"
TREE = "RootWebArea 'Reviews'\n\t[4] row 'Ada Finch, 17 votes'\n\t[5] link 'Next page'"


@pytest.fixture(autouse=True)
def no_log_files(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("app.log.setup", lambda level="": None)
    monkeypatch.delenv("SITELORE_MODEL_URL", raising=False)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A workspace with a failed run, passed ones of its task, its template and its site, and one of another site."""
    folder = tmp_path / "workspace"
    with Workspace.open(folder) as workspace:

        def add(id: str, answer: str, score: float | None, **fields: Any) -> None:
            tips = fields.pop("tips", ())
            blobs: dict[str, bytes] = {}
            tree = add_blob(blobs, TREE.encode())
            said = RecordedAction(kind="send_msg_to_user", args={"text": answer})
            first = make_step(0, url=f"{SHOP}/reviews", title="Reviews", tree=tree, tips=tips)
            last = make_step(
                1, url=f"{SHOP}/reviews", title="Reviews", action=said, target=None, tree="0" * 64
            )
            given = {"suite": "webarena", "task_id": "1", "intent": "Who wrote the review?", "answer": answer}
            run = make_run(id, score=score, step_count=2, **{**given, **fields})
            workspace.runs.add(run, [first, last], blobs)

        add("wrong", "Ada Finch with 23 votes", 0.0)
        add("right", "Zora Quill", 1.0, knowledge="reviews 1f2e", tips=("t-1",))
        add("template", "Zora Quill", 1.0, task_id="2", intent="Who wrote the complaint?")
        add("goal", "Zora", 1.0, task_id="9", intent="Who wrote the review of the mug?")
        add("elsewhere", "Zora", 1.0, task_id="8", intent="Who wrote the review?", site="gitlab")
        add("unscored", "Ada Finch", None, task_id="7", intent="Buy a mug")
        workspace.rebuild_index()
    return folder


@pytest.fixture
def suite(tmp_path: Path) -> str:
    second = webarena_task(2, intent="Who wrote the complaint?")
    return str(write_json(tmp_path / "test.raw.json", [webarena_task(1), second]))


@pytest.fixture
async def engine(place: Path):
    opened = await Engine.open(place, author="mina")
    yield opened
    await opened.aclose()


# the answer page


async def test_the_answer_page_has_the_answer_what_was_expected_and_where_its_words_stand(engine, suite):
    await engine.add_suite(suite)
    page = await engine.answer_page("wrong")
    assert (page.step, page.answer, page.intent) == (1, "Ada Finch with 23 votes", "Who wrote the review?")
    assert page.ended == "It answered after 2 steps."
    assert page.expected is not None
    assert "Zora Quill" in page.expected.expected[0]
    assert (page.pages, page.missing) == (1, 1)
    found = {term.text: [(place.step, place.line) for place in term.places] for term in page.terms}
    assert found == {"23": [], "Ada Finch": [(0, 1)], "votes": [(0, 1)]}
    view = await engine.view_step("wrong", 0)
    assert view.before.lines[1].name == page.terms[1].places[0].text


async def test_a_blind_suite_leaks_nothing_of_the_reference(engine, suite):
    await engine.add_suite(suite, blind=True)
    page, cause = await engine.answer_page("wrong"), await engine.likely_cause("wrong")
    assert page.expected is not None
    assert page.expected.hidden
    assert "Zora" not in repr((page, cause))


async def test_the_pages_that_are_kept_keep_nothing_of_a_suite_that_turns_blind_or_goes(engine, suite):
    added = await engine.add_suite(suite)
    assert "Zora" in repr((await engine.likely_cause("wrong"), await engine.answer_page("wrong")))
    await engine.set_suite_blind(added.name, True)
    page, cause = await engine.answer_page("wrong"), await engine.likely_cause("wrong")
    assert page.expected is not None
    assert page.expected.hidden
    assert "Zora" not in repr((page, cause))
    await engine.set_suite_blind(added.name, False)
    assert "Zora" in repr(await engine.likely_cause("wrong"))


async def test_pages_are_read_once_for_cause_and_answer_and_again_when_the_run_changes(tmp_path):
    core = await Core.open(tmp_path / "own", "mina")
    try:
        blobs: dict[str, bytes] = {}
        tree = add_blob(blobs, TREE.encode())
        run = make_run("one", score=0.0, step_count=1, answer="Ada Finch")
        runs = core.workspace.runs
        await core.on_store(runs.add, run, [make_step(0, url=SHOP, tree=tree)], blobs)
        causes = RunCauseService(core, ReviewService(core))
        first = await core.on_store(causes._search_of, "one")
        assert await core.on_store(causes._search_of, "one") is first
        head = runs.folder("one") / "run.json"
        head.write_bytes(head.read_bytes().replace(b"Ada Finch", b"Zora Quill"))
        again = await core.on_store(causes._search_of, "one")
        assert again.answer_page(None).answer == "Zora Quill"
    finally:
        await core.aclose()


async def test_a_run_that_is_not_here_is_named(engine):
    for call in (engine.answer_page, engine.likely_cause, engine.ask_cause, engine.similar_runs):
        with pytest.raises(NotFound, match="nope"):
            await call("nope")
    with pytest.raises(NotFound, match="nope"):
        await engine.align_runs("wrong", "nope")


# the cause


async def test_the_rules_tell_a_cause_with_a_label_and_findings(engine, suite):
    await engine.add_suite(suite)
    cause = await engine.likely_cause("wrong")
    assert cause.text.startswith(
        "The answer says 'Ada Finch with 23 votes' where 'Zora Quill' was expected; 23 stands"
    )
    assert (cause.label, cause.step, cause.source) == (Label.WRONG_ANSWER, 1, CauseSource.RULES)
    assert (
        await engine.likely_cause("right")
    ).text == "It passed after 2 steps with the answer 'Zora Quill'."


async def test_without_an_endpoint_asking_says_how_to_set_one(engine):
    with pytest.raises(ModelError, match="no language model is set") as error:
        await engine.ask_cause("wrong")
    assert error.value.kind is ModelErrorKind.NO_MODEL


async def ask(place: Path, said: Said, run: str = "wrong", blind: str = "") -> tuple[Any, Any, ScriptedModel]:
    """Ask a scripted model; returns its cause, what a program started later shows, and the model."""
    model = ScriptedModel([said])

    def opener(_: BlobBuffer) -> ScriptedModel:
        return model

    core = await Core.open(place, "mina")
    try:
        told = await RunCauseService(core, ReviewService(core), opener=opener).ask_cause(run)
    finally:
        await core.aclose()
    later = await Engine.open(place, author="ben")
    try:
        if blind:
            await later.set_suite_blind(blind, True)
        return told, await later.likely_cause(run), model
    finally:
        await later.aclose()


def reply(**fields: Any) -> ModelReply:
    given = {
        "evidence": "row 'Ada Finch'",
        "cause": "It read the first row. It stopped.",
        "step": 0,
        "label": "wrong answer",
    }
    return ModelReply(text="", data={**given, **fields}, model="judge-7")


async def test_a_models_cause_is_one_sentence_marked_and_there_next_time(place):
    told, later, model = await ask(place, reply())
    assert (told.text, told.step, told.label) == ("It read the first row.", 0, Label.WRONG_ANSWER)
    assert (told.source, told.model) == (CauseSource.MODEL, "judge-7")
    assert told.evidence[0] == "row 'Ada Finch'"
    assert told.evidence[1].startswith("By rules: 23 of its answer stands on no page")
    assert later == told
    (question,) = model.asked
    assert "<<the agent's answer" in question.text
    assert "Who wrote the review?" in question.text


@pytest.mark.parametrize(
    ("fields", "step", "label"),
    [
        ({"step": 99}, -1, Label.WRONG_ANSWER),
        ({"step": True}, -1, Label.WRONG_ANSWER),
        ({"label": "stupid"}, 0, None),
    ],
)
async def test_what_a_model_says_beside_the_sentence_is_checked(place, fields, step, label):
    told, _, _ = await ask(place, reply(**fields))
    assert (told.step, told.label) == (step, label)


@pytest.mark.parametrize(
    "said", [reply(cause=""), reply(cause="no"), ModelReply(text="I can't say", data=None)]
)
async def test_an_answer_without_a_sentence_is_an_error_and_nothing_is_kept(place, said):
    with pytest.raises(ModelError, match="no cause that can be read"):
        await ask(place, said)
    with Workspace.open(place) as workspace:
        assert workspace.review.load_state("cause:wrong") == {}


async def test_earlier_answers_stay_and_the_newest_counts(place):
    await ask(place, reply())
    _, later, _ = await ask(place, reply(cause="It skipped the second page."))
    assert later.text == "It skipped the second page."
    with Workspace.open(place) as workspace:
        assert len(workspace.review.load_state("cause:wrong")["causes"]) == 2


async def test_a_sentence_that_knew_the_reference_is_hidden_while_its_suite_is_blind(place, suite):
    engine = await Engine.open(place)
    name = (await engine.add_suite(suite)).name
    await engine.aclose()
    told, later, model = await ask(place, reply(cause="It missed Zora Quill here."), blind=name)
    assert "Zora Quill" in model.asked[0].text
    assert told.source is CauseSource.MODEL
    assert later.source is CauseSource.RULES
    assert "Zora" not in repr(later)


async def test_a_run_that_passed_has_no_failure_to_explain(place):
    with pytest.raises(InputError, match="the run passed"):
        await ask(place, reply(), run="right")


# side by side


async def test_runs_of_the_task_come_first_then_of_the_template_then_alike_ones_of_the_site(engine, suite):
    await engine.add_suite(suite)
    found = await engine.similar_runs("wrong")
    assert [(run.id, run.relation) for run in found] == [
        ("right", "task"), ("template", "template"), ("goal", "goal"),
    ]  # fmt: skip
    assert found[0].knowledge == "reviews 1f2e"
    assert [run.id for run in await engine.similar_runs("wrong", limit=1)] == ["right"]


async def test_where_nothing_else_is_alike_runs_that_visited_the_page_are_shown(engine):
    assert {run.relation for run in await engine.similar_runs("unscored")} == {"page"}
    assert "elsewhere" not in {run.id for run in await engine.similar_runs("unscored")}


async def test_failed_runs_are_shown_when_asked_for(engine):
    assert "wrong" not in {run.id for run in await engine.similar_runs("goal")}
    assert "wrong" in {run.id for run in await engine.similar_runs("goal", passed=False)}


async def test_an_alignment_names_the_tips_that_only_one_run_was_shown(engine):
    aligned = await engine.align_runs("wrong", "right")
    assert (aligned.tips_left, aligned.tips_right) == ((), ("t-1",))
    assert [(row.left, row.right, row.same_action) for row in aligned.rows] == [(0, 0, True), (1, 1, False)]
    assert aligned.parting == 1
    assert aligned.why == (
        "Both were on 'Reviews'; the passed run answered 'Zora Quill', this one answered 'Ada Finch with 23 votes'."
    )


def test_tips_by_exposure_count_too(place):
    from app.engine.services.run_comparison import align

    step = make_step(0, exposures=(Exposure(tip="t-2"),))
    assert align((make_run("a"), [step]), (make_run("b"), [make_step(0)])).tips_left == ("t-2",)


# commands


def test_why_prints_cause_and_answer_page(place, suite, capsys):
    assert main(["--workspace", str(place), "suite", "add", suite]) == 0
    capsys.readouterr()
    assert main(["--workspace", str(place), "review", "why", "wrong"]) == 0
    out = capsys.readouterr().out
    assert "where 'Zora Quill' was expected" in out
    assert "suggested verdict: wrong answer" in out
    assert "on no visited page" in out
    assert main(["--workspace", str(place), "review", "why", "wrong", "--json"]) == 0
    body = json.loads(capsys.readouterr().out)
    assert body["cause"]["label"] == "wrong answer"
    assert body["answer_page"]["terms"][1]["places"][0]["line"] == 1


def test_compare_lists_similar_runs_and_aligns_the_first(place, suite, capsys):
    assert main(["--workspace", str(place), "review", "compare", "wrong"]) == 0
    out = capsys.readouterr().out
    assert "Both were on 'Reviews'" in out
    assert "shown to the right one alone: t-1" in out
    assert main(["--workspace", str(place), "review", "compare", "wrong", "goal", "--json"]) == 0
    body = json.loads(capsys.readouterr().out)
    assert body["similar"] == []
    assert body["alignment"]["right"] == "goal"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["why", "nope"], 1),
        (["compare", "nope"], 1),
        (["compare", "wrong", "nope"], 1),
        (["why", "right", "--ask"], 3),
    ],
)
def test_a_command_that_can_not_answer_says_why(place, capsys, arguments, code):
    assert main(["--workspace", str(place), "review", *arguments]) == code
    assert capsys.readouterr().err.startswith("sitelore: ")
