"""Several annotators of one workspace: queues, blind second looks, agreement, adjudication, the guideline."""

from __future__ import annotations

from contextlib import asynccontextmanager

import pytest

from app.engine.api.review_api import AssignmentRequest
from app.engine.api.run_rows import RunFilter
from app.engine.core.verdicts import Label
from app.engine.engine import Engine
from app.engine.store.workspace import Workspace
from app.errors import Conflict, NotFound, UsageError
from kb.tip import Provenance, TipDraft
from tests.support.runs import make_run, make_step

SITES = ("gitlab", "map", "shop")


@pytest.fixture
def place(tmp_path):
    """A workspace of twelve runs on three sites, nine of which failed."""
    with Workspace.open(tmp_path / "workspace") as workspace:
        for number in range(12):
            run = make_run(
                f"run-{number:02}", site=SITES[number % 3], score=float(number >= 9), step_count=2, suite="wa"
            )
            workspace.runs.add(run, [make_step(index=at) for at in range(2)], {})
        workspace.rebuild_index()
    return tmp_path / "workspace"


@pytest.fixture
def acting_as(place):
    @asynccontextmanager
    async def opened(author):
        engine = await Engine.open(place, author=author)
        try:
            yield engine
        finally:
            await engine.aclose()

    return opened


def request(*people: str, overlap: float = 0.0, **more) -> AssignmentRequest:
    return AssignmentRequest(annotators=people, which=RunFilter(**more), overlap=overlap)


async def ids(engine, **which) -> list[str]:
    return [row.id for row in await engine.list_runs(RunFilter(**which))]


async def test_runs_are_assigned_again_and_undone_while_verdicts_stay(acting_as):
    async with acting_as("ann") as engine:
        queues = await engine.assign_runs(request("ann", "bob", overlap=0.5, failed=True))
        assert [(queue.annotator, queue.shared) for queue in queues] == [("ann", 4), ("bob", 4)]
        assert sorted(queue.assigned for queue in queues) == [6, 7]
        first = await ids(engine, assigned="me")
        assert first == await ids(engine, assigned="ann")
        assert set(first) | set(await ids(engine, assigned="bob")) == set(await ids(engine, failed=True))
        await engine.give_verdict(first[0], Label.LOOP)
        assert (await engine.annotator_queues())[0].judged == 1
        assert first[0] not in await ids(engine, assigned="me", unjudged=True)

        await engine.assign_runs(request("ann", "eve", passed=True))
        assert set(await ids(engine, assigned="ann")) | set(await ids(engine, assigned="eve")) == {
            "run-09", "run-10", "run-11",
        }  # fmt: skip
        assert len(await ids(engine, assigned="bob")) > 3
        assert (await engine.open_run(first[0])).verdicts
        await engine.undo()
        assert await ids(engine, assigned="ann") == first
        assert await ids(engine, assigned="eve") == []
        await engine.redo()
        assert await ids(engine, assigned="ann") != first


@pytest.mark.parametrize(
    "bad",
    [
        request(),
        request("ann", " "),
        request("ann", "b" * 81),
        request("ann", "b\n"+"ob"),
        request("ann", "bob", overlap=1.5),
        request("ann", search="no run says this"),
    ],
)  # fmt: skip
async def test_a_division_that_makes_no_sense_changes_nothing(acting_as, bad):
    async with acting_as("ann") as engine:
        await engine.assign_runs(request("ann"))
        with pytest.raises(UsageError):
            await engine.assign_runs(bad)
        assert len(await ids(engine, assigned="ann")) == 12


async def test_one_annotator_gets_every_run_once(acting_as):
    async with acting_as("ann") as engine:
        [queue] = await engine.assign_runs(request("me", "ann", overlap=0.5))
        assert (queue.annotator, queue.assigned, queue.shared) == ("ann", 12, 0)


async def test_a_second_look_sees_no_verdict_of_the_other_before_its_own(acting_as):
    async with acting_as("ann") as engine:
        await engine.assign_runs(request("ann", "bob", overlap=1.0))
        await engine.give_verdict("run-00", Label.LOOP)
        await engine.give_verdict("run-01", Label.LOOP)
    async with acting_as("bob") as engine:
        detail = await engine.open_run("run-00")
        assert (detail.verdicts, detail.hidden_verdicts) == ((), 1)
        [row] = [row for row in await engine.list_runs(RunFilter()) if row.id == "run-00"]
        assert (row.label, row.verdicts, row.judged_by) == ("", 0, ())
        assert await ids(engine, label="loop") == await ids(engine, judged_by="ann") == []
        assert (await engine.compose_tip("run-00", 0)).draft.provenance.verdict == ""
        assert len(await ids(engine, unjudged=True)) == 12
        given = await engine.give_verdict("run-00", Label.GAVE_UP)
        assert (await engine.compose_tip("run-00", 0)).draft.provenance.verdict == "gave up"
        detail = await engine.open_run("run-00")
        assert ([verdict.author for verdict in detail.verdicts], detail.hidden_verdicts) == (
            ["ann", "bob"],
            0,
        )
        [row] = [row for row in await engine.list_runs(RunFilter()) if row.id == "run-00"]
        assert (row.label, row.verdicts, row.judged_by) == ("gave up", 2, ("ann", "bob"))
        await engine.withdraw_verdict(given.id)
        assert (await engine.open_run("run-00")).hidden_verdicts == 1
    async with acting_as("eve") as engine:  # has no queue, so she is not influenced
        assert len((await engine.open_run("run-00")).verdicts) == 1


async def test_a_second_look_learns_the_other_label_from_no_count_history_or_tip(acting_as):
    async with acting_as("ann") as engine:
        await engine.assign_runs(request("ann", "bob", overlap=1.0))
        await engine.give_verdict("run-00", Label.LOOP)
        tip = TipDraft(site="gitlab", text="Stop here.", provenance=Provenance(run="run-00", author="ann"))
        await engine.save_tip(tip)
        assert (await engine.history())[1] == "verdict 'loop' on run-00"
    async with acting_as("bob") as engine:
        assert (await engine.history())[1] == "a verdict on run-00"
        assert (await engine.open_run("run-00")).tips == ()
        assert {row.tips for row in await engine.list_runs(RunFilter())} == {0}
        progress = await engine.review_progress(RunFilter())
        assert (progress.labels, progress.total.judged) == ({}, 0)
        assert {one.judged for one in (await engine.risk_report()).scores} == {0}
        assert (await engine.undo(where="review")).did == "a verdict on run-00"
        await engine.redo()
        await engine.give_verdict("run-00", Label.LOOP)
        assert (await engine.review_progress(RunFilter())).labels == {"loop": 2}
        assert len((await engine.open_run("run-00")).tips) == 1
        assert "verdict 'loop' on run-00" in (await engine.history())[-2:]  # ann's, which bob may see now


async def test_a_single_annotator_gets_no_run_of_another_unless_asked_for_a_second_look(acting_as):
    async with acting_as("ann") as engine:
        await engine.assign_runs(request("bob", failed=True))
        await engine.assign_runs(request("ann", overlap=0.2))
        assert set(await ids(engine, assigned="ann")) == set(await ids(engine, passed=True))
        with pytest.raises(UsageError, match="in the queue of somebody else"):
            await engine.assign_runs(request("ann", failed=True))
        await engine.assign_runs(request("ann", failed=True, overlap=1.0))
        assert await ids(engine, assigned="ann") == await ids(engine, assigned="bob")


async def test_runs_of_one_annotator_hide_nothing(acting_as):
    async with acting_as("ann") as engine:
        await engine.give_verdict("run-00", Label.LOOP)
        await engine.assign_runs(request("bob"))
    async with acting_as("bob") as engine:
        assert (await engine.open_run("run-00")).verdicts
        assert await ids(engine, assigned="me", label="loop") == ["run-00"]
        assert "run-00" in await ids(engine, assigned="me", unjudged=True)
        row = await engine.next_to_review(which=RunFilter(assigned="me"))
        assert row is not None
        assert row.id == "run-00"  # unjudged by bob


async def test_agreement_counts_the_newest_label_of_each_and_an_adjudication_settles(acting_as):
    async with acting_as("ann") as engine:
        for number, label in enumerate(
            [Label.LOOP, Label.LOOP, Label.GAVE_UP, Label.GAVE_UP, Label.COUNTING]
        ):
            await engine.give_verdict(f"run-0{number}", label)
        await engine.give_verdict("run-03", Label.LOOP)
        with pytest.raises(Conflict, match="only ann has judged run run-00"):
            await engine.adjudicate("run-00", Label.LOOP)
        with pytest.raises(Conflict, match="nobody has judged run run-11"):
            await engine.adjudicate("run-11", Label.LOOP)
        with pytest.raises(NotFound):
            await engine.adjudicate("run-99", Label.LOOP)
        assert await engine.agreement() == []
    async with acting_as("bob") as engine:
        for number, label in enumerate([Label.LOOP, Label.GAVE_UP, Label.GAVE_UP, Label.LOOP]):
            await engine.give_verdict(f"run-0{number}", label)
        [pair] = await engine.agreement()
        # Both on four runs, one apart: observed 3/4; by chance 3/4 * 2/4 + 1/4 * 2/4 = 1/2; kappa 1/2.
        assert (pair.first, pair.second, pair.runs, pair.agreed, pair.kappa) == ("ann", "bob", 4, 3, 0.5)
        assert [(one.label, one.both, one.only_first, one.only_second) for one in pair.labels] == [
            (Label.LOOP, 2, 1, 0), (Label.GAVE_UP, 1, 0, 1),
        ]  # fmt: skip
        [apart] = pair.disagreements
        assert (apart.run, apart.first, apart.second, apart.settled) == (
            "run-01", (Label.LOOP,), (Label.GAVE_UP,), None,
        )  # fmt: skip
        assert await ids(engine, disputed=True) == ["run-01"]
    async with acting_as("eve") as engine:
        settled = await engine.adjudicate("run-01", Label.PREMATURE_STOP, "saved nothing")
        assert settled.settles
        [pair] = await engine.agreement()
        assert pair.disagreements[0].settled is Label.PREMATURE_STOP
        assert pair.runs == 4
        assert await ids(engine, disputed=True) == []
        assert await ids(engine, label="premature stop") == ["run-01"]
        await engine.give_verdict("run-01", Label.LOOP)  # later, and still counts after the adjudication
        assert (await engine.open_run("run-01")).verdicts[-1].settles
        assert await ids(engine, label="premature stop") == ["run-01"]
        await engine.undo()
        await engine.undo()
        assert await ids(engine, disputed=True) == ["run-01"]


async def test_an_annotator_who_has_yet_to_judge_neither_settles_nor_sees_the_disagreement(acting_as):
    for person, label in (("bob", Label.LOOP), ("eve", Label.GAVE_UP)):
        async with acting_as(person) as engine:
            await engine.give_verdict("run-00", label)
    async with acting_as("ann") as engine:
        await engine.assign_runs(request("ann", "bob", overlap=1.0))
        assert await ids(engine, disputed=True) == []
        assert await engine.agreement() == []  # a count would tell it as well
        with pytest.raises(Conflict, match="give your own verdict first"):
            await engine.adjudicate("run-00", Label.LOOP)
        await engine.give_verdict("run-00", Label.COUNTING)
        assert await ids(engine, disputed=True) == ["run-00"]
        assert (await engine.adjudicate("run-00", Label.LOOP)).settles


async def test_verdicts_name_the_version_of_the_guideline_in_force(acting_as):
    async with acting_as("ann") as engine:
        bundled = await engine.guideline()
        assert bundled.version == "1"
        assert all(f"**{label.value}**" in bundled.text for label in Label)
        assert (await engine.give_verdict("run-00", Label.LOOP)).guideline == "1"
        saved = await engine.save_guideline(bundled.text + "\nAsk when in doubt.\n")
        assert (saved.version, saved.author) == ("2", "ann")
        assert await engine.save_guideline(saved.text) == saved
        assert (await engine.give_verdict("run-01", Label.LOOP)).guideline == "2"
        assert [one.version for one in await engine.guidelines()] == ["1", "2"]
        for bad in ("  \n", "x" * 100_001, "a\0b"):
            with pytest.raises(UsageError):
                await engine.save_guideline(bad)
        assert await engine.guideline() == saved
