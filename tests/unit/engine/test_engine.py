"""Use cases over one open workspace: the history across its parts, the queue, errors in words."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from app.engine.api.run_rows import RunFilter
from app.engine.core.events import HistoryChanged, KnowledgeChanged, RunsChanged
from app.engine.core.intervention_policy import DEFAULT_POLICY, UNATTENDED
from app.engine.core.supervision import Intervention, OperatorAction
from app.engine.core.verdicts import Label
from app.engine.detectors.cross_validation import CrossValidation
from app.engine.detectors.risk import RiskModel
from app.engine.detectors.scorecard import reactions_of
from app.engine.engine import Engine
from app.engine.store.workspace import Workspace
from app.errors import NotFound, UsageError
from kb.tip import Kind, Query, Scope, Status, TipDraft
from tests.support.runs import make_run, make_step


@pytest.fixture
async def engine(tmp_path):
    with Workspace.open(tmp_path / "workspace") as workspace:
        for number, score in enumerate([0.0, 0.0, 1.0, None]):
            steps = [
                make_step(index=at, url=f"http://10.0.0.1:8023/p{number}/{at}") for at in range(3 + number)
            ]
            run = make_run(f"run-{number}", site="gitlab", score=score, step_count=len(steps))
            workspace.runs.add(run, steps, {})
        workspace.rebuild_index()
    engine = await Engine.open(tmp_path / "workspace", author="mina")
    yield engine
    await engine.aclose()


async def test_undo_takes_back_changes_of_all_parts_in_the_order_they_were_done(engine):
    tip = (await engine.save_tip(TipDraft(site="gitlab", text="The menu opens on hover only."))).id
    await engine.give_verdict("run-0", Label.LOOP)
    await engine.set_status([tip], Status.ACTIVE)
    await engine.delete_runs(["run-1"])

    await engine.undo()
    assert [row.id for row in await engine.list_runs(RunFilter())] == ["run-0", "run-1", "run-2", "run-3"]
    await engine.undo()
    assert (await engine.tip(tip)).status is Status.DRAFT
    assert (await engine.open_run("run-0")).verdicts
    await engine.undo()
    assert (await engine.open_run("run-0")).verdicts == ()
    await engine.redo()
    assert (await engine.open_run("run-0")).verdicts
    await engine.redo()
    assert (await engine.tip(tip)).status is Status.ACTIVE


async def test_a_new_change_in_one_part_puts_what_was_undone_in_the_other_out_of_reach(engine):
    await engine.give_verdict("run-0", Label.LOOP)
    await engine.undo()
    await engine.save_tip(TipDraft(site="gitlab", text="The menu opens on hover only."))
    done = await engine.redo()
    assert done.did == ""
    assert (await engine.open_run("run-0")).verdicts == ()


async def test_the_next_run_to_review_is_failed_unjudged_and_not_the_one_just_seen(engine):
    await engine.detect()
    first = await engine.next_to_review()
    await engine.give_verdict(first.id, Label.WRONG_PAGE)
    second = await engine.next_to_review(first.id)
    assert {first.id, second.id} == {"run-0", "run-1"}
    await engine.give_verdict(second.id, Label.WRONG_PAGE)
    assert await engine.next_to_review(second.id) is None


async def test_changes_are_told_with_what_undo_would_do(engine):
    heard = []
    engine.bus.subscribe(heard.append)
    await engine.save_tip(TipDraft(site="gitlab", text="The menu opens on hover only."))
    await engine.give_verdict("run-0", Label.LOOP)
    await engine.list_runs(RunFilter())  # the history is told behind the deed, on the same store thread
    assert any(isinstance(event, KnowledgeChanged) for event in heard)
    assert any(isinstance(event, RunsChanged) and event.runs == ("run-0",) for event in heard)
    told = [event for event in heard if isinstance(event, HistoryChanged)]
    assert told[0].undo


async def test_a_tip_is_found_by_its_address_as_soon_as_it_is_saved_and_active(engine):
    draft = TipDraft(site="gitlab", text="Sort with the arrow.", scope=Scope(path="/p0/**"))
    tip = (await engine.save_tip(draft)).id
    query = Query(url="http://10.9.9.9:8023/p0/list", text="newest first")
    assert (await engine.retrieve(query)).results == ()
    await engine.set_status([tip], Status.ACTIVE)
    assert [found.tip.id for found in (await engine.retrieve(query)).results] == [tip]
    assert (await engine.preflight(draft, tip)).steps == 3
    assert await engine.matching_pages("gitlab", draft.scope) == 3


async def test_what_is_not_there_and_what_is_empty_is_said_in_words(engine):
    with pytest.raises(NotFound, match="run-9"):
        await engine.open_run("run-9")
    with pytest.raises(NotFound, match="it has 3"):
        await engine.give_verdict("run-0", Label.LOOP, step=12)
    with pytest.raises(UsageError, match="needs a text"):
        await engine.save_tip(TipDraft(site="gitlab", text="  "))
    with pytest.raises(UsageError, match="needs a site"):
        await engine.save_tip(TipDraft(site="", text="Sort with the arrow."))
    with pytest.raises(UsageError, match="nothing to retrieve by"):
        await engine.retrieve(Query())


async def test_a_lost_index_comes_back_with_flags_and_risks(engine, tmp_path):
    await engine.detect()
    before = await engine.list_runs(RunFilter(order="risk"))
    await engine.aclose()
    for file in (tmp_path / "workspace").glob("index.sqlite*"):
        file.unlink()
    again = await Engine.open(tmp_path / "workspace", author="mina")
    try:
        assert await again.list_runs(RunFilter(order="risk")) == before
    finally:
        await again.aclose()


async def test_a_tip_with_lint_errors_is_left_out_of_a_freeze_unless_somebody_says_why_not(engine, tmp_path):
    draft = TipDraft(site="gitlab", text="The benchmark's grader wants the exact URL.", kind=Kind.POLICY)
    tip = (await engine.save_tip(draft)).id
    await engine.set_status([tip], Status.ACTIVE, "a word of the site's own")
    assert (await engine.freeze(str(tmp_path / "a.akb"))).tips == 0
    assert (await engine.freeze(str(tmp_path / "b.akb"), waive={tip: "kept for comparison"})).tips == 1
    assert "kept for comparison" in (tmp_path / "b.akb.manifest.json").read_text()


async def test_a_verdict_teaches_the_ranking_before_the_engine_closes(engine, tmp_path):
    await engine.give_verdict("run-0", Label.LOOP)
    await engine.aclose()
    again = await Engine.open(tmp_path / "workspace", author="mina")
    try:
        report = await again.risk_report()
        assert (report.judged_failed, report.judged_passed) == (1, 0)
        assert (report.in_use, report.fitted_on) == ("built-in", 0)  # one verdict is no reason to go by a fit
    finally:
        await again.aclose()


async def test_runs_know_the_tips_written_from_them(engine):
    form = await engine.compose_tip("run-2", 1)
    saved = await engine.save_tip(replace(form.draft, text="Sort with the arrow in the head of the list."))
    assert (await engine.open_run("run-2")).tips == (saved.id,)
    rows = await engine.list_runs(RunFilter())
    assert {row.id: row.tips for row in rows} == {"run-0": 0, "run-1": 0, "run-2": 1, "run-3": 0}


async def test_what_an_operator_made_of_a_flag_reaches_the_scorecard_and_the_ranking(engine, monkeypatch):
    better = CrossValidation(
        failed=1, passed=0, cold=0.5, fitted=0.9
    )  # where a fit is worth it, reactions are in it
    monkeypatch.setattr("app.engine.detectors.ranking.cross_validate", lambda *_: better)
    await engine.detect(())
    called = (await engine.open_run("run-0")).flags[0]
    workspace = engine._core.workspace
    before = workspace.index.risk("run-0").value
    deed = Intervention(run="run-0", step=called.step, action=OperatorAction.TOOK_OVER, author="mina", at=9.0)
    for reaction in reactions_of(deed, [called]):
        workspace.supervision.add_reaction(reaction)

    await engine._review.after_verdicts(("run-0",))
    await engine._review.settle()

    report = await engine.risk_report()
    [score] = [one for one in report.scores if (one.detector, one.site) == (called.detector, "")]
    assert (score.judged, score.right, score.reacted, score.reacted_right) == (1, 1, 1, 1)
    assert (report.in_use, report.fitted_on) == ("fitted", 1)
    assert report.weights[called.detector] > RiskModel().weights[called.detector]
    assert workspace.index.risk("run-0").value > before


async def test_a_run_opens_with_what_was_done_in_it_while_it_was_going_on(engine):
    desk = engine._core.workspace.supervision
    deeds = [
        desk.add_action(Intervention(run="run-0", step=at, action=OperatorAction.PAUSED, author="mina"))
        for at in (1, 2)
    ]
    desk.add_action(Intervention(run="run-1", step=0, action=OperatorAction.STOPPED, author="mina"))
    assert (await engine.open_run("run-0")).interventions == tuple(deeds)


async def test_undoing_an_edit_of_the_policy_is_told(engine):
    told: list[HistoryChanged] = []
    engine.bus.subscribe(lambda event: told.append(event) if isinstance(event, HistoryChanged) else None)
    desk = engine._core.workspace.supervision
    desk.save_policy(UNATTENDED, "mina")
    assert (await engine.undo()).did == "edit the intervention policy"
    assert desk.policy() == DEFAULT_POLICY
    await _until(lambda: told and told[-1].redo == "edit the intervention policy")
    await engine.redo()
    assert desk.policy() == UNATTENDED
    await _until(lambda: told[-1].undo == "edit the intervention policy")


async def _until(so) -> None:
    async with asyncio.timeout(20):
        while not so():
            await asyncio.sleep(0.01)
