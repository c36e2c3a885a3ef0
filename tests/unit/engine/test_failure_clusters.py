"""Clusters, bulk verdicts and pages that want a tip, over a workspace and on the command line."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from app.cli import main
from app.engine.api.run_rows import RunFilter
from app.engine.core.events import RunsChanged
from app.engine.core.trajectory import Outcome
from app.engine.core.verdicts import Flag, Label, Risk, Severity
from app.engine.engine import Engine
from app.engine.store.workspace import Workspace
from app.errors import InputError, NotFound
from kb.tip import Scope, Status, TipDraft
from tests.support.runs import make_run, make_step

CONFIG = (
    "Exception uncaught by agent or environment in task t.\nValueError:\n"
    "Could not find any task config with task_id=None."
)
SAVES = ("save-1", "save-2", "save-3")


def fill(folder: Path) -> None:
    """Three runs whose click on Save changed nothing, two crashes before the first step, wrong answers, others."""
    with Workspace.open(folder) as workspace:

        def put(run: str, site: str, path: str, flags: tuple[str, ...] = (), **fields: Any) -> None:
            count = fields.pop("steps", 4)
            steps = [make_step(at, url=f"http://10.0.0.1:8023{path}?page={at}") for at in range(count)]
            head = make_run(run, site=site, step_count=count, **fields)
            workspace.runs.add(head, steps, {})
            workspace.index.put_run(head, steps, workspace.site_of)
            found = [
                Flag(run=run, detector=name, step=1, severity=Severity.WARNING, confidence=0.6, message="odd")
                for name in flags
            ]
            workspace.index.put_judgement(
                run, found, Risk(run=run, value=0.5, suspect_step=1), "kind", "basis"
            )

        for run in SAVES:
            put(run, "gitlab", "/project/issues", ("no-effect",))
        for number, site in ((1, "gitlab"), (2, "reddit")):
            head = {"outcome": Outcome.CRASHED, "error": CONFIG, "steps": 0}
            put(f"crash-{number}", site, "/", ("crash",), **head)
        for number in (1, 2):
            put(f"wrong-{number}", "gitlab", "/search", answer=f"It is the {number}th")
        put("passed", "gitlab", "/project/issues", ("no-effect",), score=1.0)
        put("flagged", "gitlab", "/project/issues", ("no-effect",), score=None)
        put("unflagged", "gitlab", "/project/issues", score=None)
        put("going-on", "gitlab", "/project/issues", ("no-effect",), score=None, outcome=Outcome.RUNNING)


@pytest.fixture
async def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Engine]:
    async def nothing(*_: object) -> None:
        return None

    monkeypatch.setattr("app.engine.services.review.ReviewService.start_missing_detection", nothing)
    fill(tmp_path / "workspace")
    opened = await Engine.open(tmp_path / "workspace", author="mina")
    yield opened
    await opened.aclose()


async def titles(engine: Engine, **which: Any) -> dict[str, tuple[str, ...]]:
    return {one.title: one.runs for one in await engine.clusters(RunFilter(**which))}


async def test_failures_and_unscored_runs_with_a_warning_are_clustered_and_no_others(engine: Engine):
    found = await titles(engine)
    assert {run for runs in found.values() for run in runs} == {
        *SAVES, "crash-1", "crash-2", "wrong-1", "wrong-2", "flagged",
    }  # fmt: skip
    assert set(found["the click on 'Save' changed nothing"]) == {*SAVES, "flagged"}
    assert set(found["no task config was found"]) == {"crash-1", "crash-2"}
    assert set(found["gave a wrong answer on /search"]) == {"wrong-1", "wrong-2"}


async def test_a_cluster_says_what_its_runs_share(engine: Engine):
    largest, *_ = await engine.clusters(RunFilter(failed=True))
    assert (largest.detector, largest.sites, largest.page, largest.control) == (
        "no-effect", ("gitlab",), "/project/issues", "button 'Save'",
    )  # fmt: skip
    crash = next(one for one in await engine.clusters(RunFilter()) if one.detector == "crash")
    assert (crash.sites, crash.page, crash.label) == (("gitlab", "reddit"), "", Label.HARNESS_FAULT)


async def test_keys_stay_when_verdicts_come_in_and_whatever_the_filter_shows(engine: Engine):
    before = {one.title: one.key for one in await engine.clusters(RunFilter(failed=True))}
    await engine.give_verdicts(SAVES[:2], Label.WRONG_ELEMENT)
    after = {one.title: one.key for one in await engine.clusters(RunFilter(failed=True))}
    assert after == before
    (rest,) = [
        one for one in await engine.clusters(RunFilter(unjudged=True, failed=True)) if "Save" in one.title
    ]
    assert (rest.key, rest.runs) == (before[rest.title], ("save-3",))


async def test_the_cluster_of_a_filter_keeps_its_runs_alone(engine: Engine):
    key = next(one.key for one in await engine.clusters(RunFilter()) if one.detector == "crash")
    assert {row.id for row in await engine.list_runs(RunFilter(cluster=key))} == {"crash-1", "crash-2"}
    assert [row.id for row in await engine.list_runs(RunFilter(cluster=key, site="reddit"))] == ["crash-2"]
    assert [one.key for one in await engine.clusters(RunFilter(cluster=key))] == [key]
    assert await engine.list_runs(RunFilter(cluster="nothing-00000000")) == []
    following = await engine.next_to_review("crash-1", which=RunFilter(cluster=key))
    assert following is not None
    assert following.id == "crash-2"


@pytest.mark.parametrize(
    ("page", "runs"),
    [
        ("/search", {"wrong-1", "wrong-2"}),
        ("gitlab/search", {"wrong-1", "wrong-2"}),
        ("reddit/search", set[str]()),
        ("/nowhere", set[str]()),
        ("gitlab/project/issues", {*SAVES}),
    ],
)
async def test_the_page_of_a_filter_is_that_of_the_suspect_step(engine: Engine, page: str, runs: set[str]):
    assert {row.id for row in await engine.list_runs(RunFilter(page=page, failed=True))} == runs
    assert {
        run for one in await engine.clusters(RunFilter(page=page, failed=True)) for run in one.runs
    } == runs


async def test_clusters_without_unjudged_runs_come_last(engine: Engine):
    first, *_ = await engine.clusters(RunFilter())
    await engine.give_verdicts(first.runs, Label.WRONG_ELEMENT)
    *_, last = await engine.clusters(RunFilter())
    assert (last.key, last.judged) == (first.key, len(first.runs))


async def test_verdicts_on_many_runs_are_one_change_that_undo_takes_back_whole(engine: Engine):
    changes: list[RunsChanged] = []
    engine.bus.subscribe(lambda event: changes.append(event) if isinstance(event, RunsChanged) else None)
    given = await engine.give_verdicts(SAVES, Label.WRONG_ELEMENT, "an icon beside it", lead_seconds=9.0)
    assert (given.runs, given.skipped) == (SAVES, ())
    (verdict,) = (await engine.open_run("save-2")).verdicts
    assert (verdict.label, verdict.note, verdict.author) == (Label.WRONG_ELEMENT, "an icon beside it", "mina")
    assert verdict.lead_seconds == pytest.approx(3.0)
    assert verdict.id in given.verdicts
    assert sum(event.runs == SAVES for event in changes) == 1

    undone = await engine.undo()
    assert undone.did == "verdict 'wrong element' on 3 runs"
    assert [row.label for row in await engine.list_runs(RunFilter())].count("wrong element") == 0
    await engine.redo()
    assert [row.label for row in await engine.list_runs(RunFilter())].count("wrong element") == 3


async def test_runs_that_have_this_verdict_of_this_person_are_skipped(engine: Engine):
    await engine.give_verdict("save-1", Label.LOOP)
    await engine.give_verdict("save-2", Label.BLOCKED)
    given = await engine.give_verdicts([*SAVES, "save-3"], Label.LOOP, lead_seconds=8.0)
    assert (given.runs, given.skipped) == (("save-2", "save-3"), ("save-1",))
    assert (await engine.open_run("save-3")).verdicts[-1].lead_seconds == pytest.approx(4.0)
    again = await engine.give_verdicts(SAVES, Label.LOOP)
    assert (again.runs, again.verdicts, again.skipped) == ((), (), SAVES)
    await engine.give_verdict("save-1", Label.BLOCKED)  # a change of mind: the older label no longer counts
    assert (await engine.give_verdicts(SAVES, Label.LOOP)).runs == ("save-1",)


@pytest.mark.parametrize(
    ("runs", "error"),
    [((), InputError), (("save-1", "unknown"), NotFound)],
)
async def test_with_no_run_or_an_unknown_one_no_verdict_is_given(
    engine: Engine, runs: tuple[str, ...], error: type[Exception]
):
    with pytest.raises(error):
        await engine.give_verdicts(runs, Label.LOOP)
    assert (await engine.open_run("save-1")).verdicts == ()


# ---------------------------------------------------------------- which tip would help most
DRAFT = TipDraft(
    site="gitlab", text="Scroll down first: Save is under the list.", scope=Scope(path="/project/issues")
)


async def opportunity(engine: Engine, page: str = "/project/issues"):
    return next(one for one in await engine.tip_opportunities("gitlab") if one.page == page)


async def test_pages_with_most_failures_and_no_tip_come_first(engine: Engine):
    found = await engine.tip_opportunities()
    assert [(one.page, len(one.runs), one.uncovered) for one in found] == [
        ("/project/issues", 4, 4),
        ("/search", 2, 2),
    ]
    assert (found[0].site, found[0].step, found[0].site_tips) == ("gitlab", 1, 0)
    keys = {one.key for one in await engine.clusters(RunFilter()) if "Save" in one.title}
    assert set(found[0].clusters) == keys
    assert await engine.tip_opportunities("reddit") == []


@pytest.mark.parametrize(
    ("status", "scope", "tips", "covered"),
    [
        (Status.DRAFT, Scope(path="/project/issues"), 1, 0),  # a draft is there, but no run is given it
        (Status.REVIEWED, Scope(path="/project/issues"), 1, 4),
        (Status.ACTIVE, Scope(path="/project/issues"), 1, 4),
        (Status.RETIRED, Scope(path="/project/issues"), 0, 0),
        (Status.ACTIVE, Scope(path="/project/*"), 1, 4),
        (Status.ACTIVE, Scope(path="/elsewhere"), 0, 0),
        (Status.ACTIVE, Scope(), 0, 0),  # a tip for the whole site is not about this page
    ],
)
async def test_a_tip_covers_the_failures_that_would_be_given_it(
    engine: Engine, status: Status, scope: Scope, tips: int, covered: int
):
    tip = await engine.save_tip(replace(DRAFT, scope=scope))
    if status is not Status.DRAFT:
        await engine.set_status([tip.id], status)
    found = await opportunity(engine)
    assert (len(found.tips), found.covered) == (tips, covered)
    assert found.statuses == (status.value,) * tips
    assert found.site_tips == (scope == Scope())


@pytest.mark.parametrize("label", [Label.NOT_A_FAILURE, Label.EVALUATOR_WRONG, Label.HARNESS_FAULT])
async def test_failures_that_no_tip_could_help_are_not_counted(engine: Engine, label: Label):
    await engine.give_verdict("save-1", label)
    assert "save-1" not in (await opportunity(engine)).runs


# ---------------------------------------------------------------- the command line
@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    async def nothing(*_: object) -> None:
        return None

    monkeypatch.setattr("app.log.setup", lambda level="": None)
    monkeypatch.setattr("app.engine.services.review.ReviewService.start_missing_detection", nothing)
    fill(tmp_path / "cli")
    return str(tmp_path / "cli")


def told(workspace: str, capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    assert main(["--workspace", workspace, "review", *words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_a_cluster_is_judged_and_undone_with_one_command_each(
    workspace: str, capsys: pytest.CaptureFixture[str]
):
    found = told(workspace, capsys, "clusters", "--filter", "failed unjudged")
    crash = next(one for one in found if one["detector"] == "crash")
    given = told(workspace, capsys, "judge", "harness fault", "--cluster", crash["key"])
    assert sorted(given["runs"]) == ["crash-1", "crash-2"]
    assert crash["key"] not in {
        one["key"] for one in told(workspace, capsys, "clusters", "--filter", "unjudged")
    }
    assert main(["--workspace", workspace, "review", "undo"]) == 0
    assert "on 2 runs" in capsys.readouterr().out


def test_runs_by_name_or_by_filter_are_judged(workspace: str, capsys: pytest.CaptureFixture[str]):
    assert told(workspace, capsys, "judge", "loop", "save-1", "save-2")["runs"] == ["save-1", "save-2"]
    given = told(workspace, capsys, "judge", "loop", "--filter", "failed detector:no-effect")
    assert (given["runs"], sorted(given["skipped"])) == (["save-3"], ["save-1", "save-2"])


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("judge", "loop"), 2, "name either runs"),
        (("judge", "loop", "save-1", "--cluster", "x"), 2, "name either runs"),
        (("judge", "loop", "--cluster", "crash-00000000"), 1, "no cluster 'crash-00000000'"),
        (("judge", "loop", "--filter", "site:nowhere"), 2, 'unknown filter word "site:nowhere"'),
        (("judge", "loop", "--filter", "reddit passed"), 1, "no run passes the filter"),
        (("judge", "loop", "unknown"), 1, "no run 'unknown'"),
        (("judge", "bogus", "save-1"), 2, "bogus"),
        (("clusters", "--filter", "nonsense:foo"), 2, 'unknown filter word "nonsense:"'),
    ],
)
def test_a_wrong_call_is_answered_in_words(
    workspace: str, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], code: int, said: str
):
    assert main(["--workspace", workspace, "review", *words]) == code
    assert said in capsys.readouterr().err


def test_opportunities_are_listed_with_their_first_run(workspace: str, capsys: pytest.CaptureFixture[str]):
    assert main(["--workspace", workspace, "review", "opportunities", "--site", "gitlab"]) == 0
    first = capsys.readouterr().out.splitlines()[1].split()
    assert first[:4] == ["4", "4", "gitlab", "/project/issues"]
