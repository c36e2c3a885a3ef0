"""The workspace's prompts and sets of actions: saved, kept, undone, and recorded in runs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import orjson
import pytest

from app.engine.agent.llm.prompting import bundled_prompts
from app.engine.api.run_api import LlmRunOptions, RunRequest
from app.engine.core.prompt_set import prompt_digest
from app.engine.core.trajectory import Run
from app.engine.engine import Engine
from app.engine.services.prompts import prompts_in_force, run_prompts
from app.engine.store.prompt_store import PromptStore
from app.engine.store.run_files import decode_run, encode_run
from app.errors import InputError, NotFound, StoreError, UsageError

SELECTOR = bundled_prompts().texts["selector"]
MINE = f"{SELECTOR}\nBe quick."
REQUEST = RunRequest(intent="Look", start_url="http://shop.test/", policy="llm", kb="none")


@pytest.fixture
async def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SITELORE_MODEL_URL", "http://127.0.0.1:9/v1")
    opened = await Engine.open(tmp_path / "workspace", "ana")
    yield opened
    await opened.aclose()


async def test_a_saved_prompt_is_in_force_and_the_others_stay_bundled(engine: Engine):
    saved = await engine.save_prompt("selector", MINE)

    assert saved.text == MINE
    assert saved.row.own
    assert [row.name for row in await engine.list_prompts() if row.own] == ["selector"]


async def test_saving_is_undone_and_redone_and_every_version_is_kept(engine: Engine):
    await engine.save_prompt("selector", MINE)
    await engine.save_prompt("selector", f"{MINE} Really.")

    await engine.undo()
    assert (await engine.open_prompt("selector")).text == MINE
    await engine.undo()
    assert (await engine.open_prompt("selector")).text == SELECTOR
    await engine.redo()
    assert (await engine.open_prompt("selector")).text == MINE
    history = (await engine.open_prompt("selector")).history
    assert [one.digest for one in history] == [
        prompt_digest(MINE), "", prompt_digest(MINE), prompt_digest(f"{MINE} Really."), prompt_digest(MINE),
    ]  # fmt: skip
    assert history[-1].author == "ana"


async def test_a_version_is_found_by_the_beginning_of_its_hash(engine: Engine):
    await engine.save_prompt("selector", MINE)
    await engine.reset_prompt("selector")

    assert (await engine.open_prompt("selector", prompt_digest(MINE)[:8])).text == MINE
    with pytest.raises(NotFound):
        await engine.open_prompt("selector", "0" * 8)


async def test_the_bundled_text_saved_again_is_the_bundled_prompt(engine: Engine):
    await engine.save_prompt("selector", MINE)
    assert not (await engine.save_prompt("selector", f"{SELECTOR}\n")).row.own


async def test_a_text_that_breaks_a_rule_changes_nothing(engine: Engine):
    with pytest.raises(UsageError, match="marker"):
        await engine.save_prompt("selector", "Pick one.")
    with pytest.raises(NotFound, match="there is no prompt"):
        await engine.save_prompt("jester", "Joke.")
    assert (await engine.open_prompt("selector")).history == ()


async def test_a_file_that_an_editor_broke_is_named_before_a_run_begins(engine: Engine):
    await engine.save_prompt("selector", MINE)
    file = engine._core.workspace.prompts.folder / "selector.md"
    file.write_text("no marker")

    with pytest.raises(InputError, match=r"selector\.md.*marker.*prompts reset"):
        await engine._agent_runs.prepare(REQUEST)
    await engine.reset_prompt("selector")
    await engine._agent_runs.prepare(REQUEST)


async def test_what_an_editor_wrote_is_kept_before_it_is_replaced(engine: Engine):
    await engine.save_prompt("selector", MINE)
    file = engine._core.workspace.prompts.folder / "selector.md"
    file.write_text(f"{MINE}\nBy hand.")
    await engine.save_prompt("selector", f"{MINE}\nAgain.")

    await engine.undo()
    assert (await engine.open_prompt("selector")).text == f"{MINE}\nBy hand."


async def test_a_line_of_the_history_that_a_crash_cut_off_costs_that_line_only(engine: Engine):
    await engine.save_prompt("selector", MINE)
    with (engine._core.workspace.prompts.folder / "history.jsonl").open("ab") as file:
        file.write(b'{"name":"selector","dig')
    await engine.reset_prompt("selector")

    assert [one.digest for one in (await engine.open_prompt("selector")).history] == ["", prompt_digest(MINE)]


@pytest.mark.parametrize("file", ["history.jsonl", "action-sets.json"])
async def test_a_newer_file_is_refused(engine: Engine, file: str):
    await engine.save_prompt("selector", MINE)
    await engine.save_action_set("reader", ["stop"])
    path = engine._core.workspace.prompts.folder / file
    path.write_bytes(
        path.read_bytes().replace(b'"version":1', b'"version":2').replace(b'"version": 1', b'"version": 2')
    )

    with pytest.raises(StoreError, match="version 2"):
        await (engine.open_prompt("selector") if file == "history.jsonl" else engine.action_sets())


async def test_a_set_of_actions_is_saved_undone_and_removed(engine: Engine):
    made = await engine.save_action_set("reader", ["stop", "click"])
    assert [(row.name, row.calls) for row in made.sets if row.own] == [("reader", ("click", "stop"))]
    await engine.save_action_set("reader", ["stop"])

    await engine.undo()
    assert [row.calls for row in (await engine.action_sets()).sets if row.own] == [("click", "stop")]
    await engine.remove_action_set("reader")
    with pytest.raises(NotFound):
        await engine.remove_action_set("reader")
    await engine.undo()
    assert [row.name for row in (await engine.action_sets()).sets] == ["compact", "standard", "all", "reader"]


async def test_a_smaller_set_costs_fewer_tokens(engine: Engine):
    tokens = {row.name: row.tokens for row in (await engine.action_sets()).sets}
    assert tokens["compact"] < tokens["standard"] < tokens["all"]


async def test_a_run_with_an_unknown_set_of_actions_is_refused_before_anything_is_stored(engine: Engine):
    with pytest.raises(UsageError, match=r"no set of actions 'jester' \(use compact, standard, all\)"):
        await engine._agent_runs.validated(replace(REQUEST, llm=LlmRunOptions(actions="jester")))
    assert await engine._core.on_store(engine._core.workspace.runs.ids) == set()


async def _begun(engine: Engine, request: RunRequest = REQUEST) -> Run:
    prepared = await engine._agent_runs.prepare(request)
    live = await engine._core.on_store(prepared.take)
    await engine._core.on_store(live.close)
    await prepared.bundle.aclose()
    return live.run


async def test_a_run_records_its_prompts_and_actions_and_keeps_their_texts(engine: Engine):
    await engine.save_prompt("selector", MINE)
    await engine.save_action_set("reader", ["stop", "click"])
    run = await _begun(engine, replace(REQUEST, llm=LlmRunOptions(actions="reader")))

    versions = {one.name: one for one in run.prompts}
    assert set(versions) == set(bundled_prompts().texts)
    assert (versions["selector"].digest, versions["selector"].bundled) == (prompt_digest(MINE), "")
    assert versions["planner"].bundled == bundled_prompts().version
    assert run.actions is not None
    assert (run.actions.name, run.actions.calls) == ("reader", ("click", "stop"))
    read = engine._core.workspace.runs.read_blob
    texts = await engine._core.on_store(lambda: {one.name: read(one.digest).decode() for one in run.prompts})
    assert texts["selector"] == MINE
    assert texts["planner"] == bundled_prompts().texts["planner"]


async def test_a_resumed_run_keeps_the_prompts_and_actions_it_began_with(engine: Engine):
    await engine.save_prompt("selector", MINE)
    await engine.save_action_set("reader", ["stop", "click"])
    request = replace(REQUEST, llm=LlmRunOptions(actions="reader"))
    run = await _begun(engine, request)
    await engine.save_prompt("selector", f"{MINE} Changed.")
    await engine.remove_action_set("reader")

    def given():
        return run_prompts(engine._core.workspace, request, run.id)

    kept = await engine._core.on_store(given)
    assert kept is not None
    assert kept.prompts.texts["selector"] == MINE
    assert kept.actions.calls == ("click", "stop")
    assert kept.prompts.versions() == run.prompts


async def test_another_machine_reads_the_prompts_of_an_exported_run(engine: Engine, tmp_path: Path):
    await engine.save_prompt("selector", MINE)
    run = await _begun(engine)
    await engine.export_runs([run.id], str(tmp_path / "out"))
    other = await Engine.open(tmp_path / "other", "ben")
    try:
        assert (await other.import_runs([str(tmp_path / "out")])).imported == 1
        detail = await other.open_run(run.id)
        assert detail.run.prompts == run.prompts
        assert (await other.open_prompt("selector", prompt_digest(MINE))).text == MINE
    finally:
        await other.aclose()


async def test_a_run_of_the_scout_records_none(engine: Engine):
    run = await _begun(engine, RunRequest(intent="Look", start_url="http://shop.test/", kb="none"))
    assert run.prompts == ()
    assert run.actions is None


def test_a_run_of_an_older_version_loads_without_them(tmp_path: Path):
    document = orjson.loads(encode_run(Run(id="old", source="sitelore")))
    del document["prompts"], document["actions"]
    run = decode_run(orjson.dumps(document), tmp_path)
    assert (run.prompts, run.actions) == ((), None)


async def test_the_prompts_of_a_workspace_are_its_own_alone(engine: Engine, tmp_path: Path):
    await engine.save_prompt("selector", MINE)
    other = await Engine.open(tmp_path / "other", "ben")
    try:
        found = await other._core.on_store(prompts_in_force, other._core.workspace)
        assert found.texts["selector"] == SELECTOR
    finally:
        await other.aclose()


def test_a_prompt_that_is_no_text_is_refused_with_its_file(tmp_path: Path):
    (tmp_path / "selector.md").write_bytes(b"\xff\xfe{{marker}}")
    with pytest.raises(InputError, match=r"selector\.md.*not UTF-8"):
        PromptStore(tmp_path, blobs=None).texts(["selector"])  # type: ignore[arg-type]
