"""Evaluations on an engine without processes: order, locks, resets, deaths, resuming, bad input."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest

from app import settings
from app.engine.api.evaluation_api import EvaluationRequest
from app.engine.api.run_rows import RunFilter
from app.engine.core.evaluation.suite import SuiteTask, TaskFilter
from app.engine.core.events import EvaluationAdvanced
from app.engine.core.sites import Site
from app.engine.engine import Engine
from app.engine.evaluation.packing import unpack_files
from app.engine.evaluation.scale.engine_port import EpisodeWorkerDied, EpisodeWorkerLost
from app.engine.services import evaluation
from app.engine.services.site_locks import SiteLocks
from app.engine.services.site_logins import login_path
from app.engine.store.evaluation_files import EvaluationFolder
from app.errors import Conflict, InputError, NotFound, UsageError
from kb.freeze import freeze
from kb.store import KnowledgeBase
from kb.tip import Kind, Scope, Status, TipDraft
from tests.support.demo_suite import demo_row, demo_tasks, write_suite
from tests.support.fake_episodes import FakeEpisodeEngine

SHOP = "http://127.0.0.1:9801"


class Bench:
    """A workspace with the demo shop in its table, a suite, and the engine that an evaluation is given."""

    def __init__(self, engine: Engine, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.engine, self.folder = engine, folder
        self.fake = FakeEpisodeEngine()
        monkeypatch.setattr(evaluation, "_engine", lambda _request, _folder: self.fake)
        self.told: list[EvaluationAdvanced] = []
        engine.bus.subscribe(
            lambda event: self.told.append(event) if type(event) is EvaluationAdvanced else None
        )

    def request(self, suite_tasks: list[dict[str, Any]] | None = None, **values: Any) -> EvaluationRequest:
        suite = write_suite(self.folder / "shop.json", suite_tasks or demo_tasks())
        return EvaluationRequest(suite=str(suite), out=str(self.folder / "out"), **values)

    async def change_site(self, **values: Any) -> None:
        rows = {row.site.name: row.site for row in await self.engine.sites()}
        before = rows.get("demo")
        await self.engine.save_site(replace(before or demo_row(SHOP), **values), before)

    async def records(self) -> dict[str, Any]:
        found = await self.engine.episode_records(str(self.folder / "out"))
        return {record.key.task: record for record in found}


@pytest.fixture
async def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    cache, logins = tmp_path / "cache", tmp_path / "logins"
    cache.mkdir()
    monkeypatch.setattr(settings, "cache_dir", lambda: cache)
    monkeypatch.setenv("SITELORE_LOGINS", str(logins))
    engine = await Engine.open(tmp_path / "workspace", author="mina")
    await engine.save_site(demo_row(SHOP), None)
    yield Bench(engine, tmp_path, monkeypatch)
    await engine.aclose()


def _command(tmp_path: Path, text: str) -> str:
    script = tmp_path / f"command-{abs(hash(text))}.py"
    script.write_text(text)
    return f"{sys.executable} {script}"


def _writers(*names: str) -> list[dict[str, Any]]:
    return [{**task, "writes": task["id"] in names} for task in demo_tasks()]


async def test_every_task_is_run_in_every_arm_and_its_run_can_be_reviewed(bench: Bench):
    row = await bench.engine.run_evaluation(bench.request(repeats=2, maps="no"))
    assert (row.state, row.done, row.episodes, row.errors) == ("done", 8, 8, 0)
    assert Counter(request.task for _, request in bench.fake.asked) == dict.fromkeys(
        ("pots", "basket", "kitchen", "moon"), 2
    )
    runs = await bench.engine.list_runs(RunFilter())
    assert {(run.task_id, run.score) for run in runs} == {
        (task, 1.0) for task in ("pots", "basket", "kitchen", "moon")
    }
    assert len(runs) == 8
    assert [known.folder for known in await bench.engine.evaluations()] == [row.folder]
    assert bench.told[-1].state == "done"
    assert bench.fake.closed


async def test_a_worker_is_given_the_table_the_suite_and_the_log_ins_and_no_more(
    bench: Bench, tmp_path: Path
):
    login_path("demo").write_text('{"cookies": [], "origins": []}')
    login_path("other").write_text('{"cookies": [], "origins": []}')
    await bench.engine.run_evaluation(bench.request())
    unpack_files(bench.fake.bundle, tmp_path / "bundle")
    files = {path.relative_to(tmp_path / "bundle").as_posix() for path in (tmp_path / "bundle").rglob("*.*")}
    assert files == {"sites.json", "suite.json", f"logins/{login_path('demo').name}"}


async def test_who_writes_is_alone_on_its_site_and_the_site_is_put_back_before_the_next(
    bench: Bench, tmp_path
):
    log = tmp_path / "resets"
    await bench.change_site(reset=_command(tmp_path, f"open({str(log)!r}, 'a').write('reset\\n')"))
    bench.fake = FakeEpisodeEngine(workers=4)
    row = await bench.engine.run_evaluation(bench.request(_writers("basket"), workers=4, repeats=2))
    assert (row.done, row.errors) == (8, 0)
    for task, together in bench.fake.together:
        assert "basket" not in together
        assert task != "basket" or not together
    assert any(together for _, together in bench.fake.together)
    assert log.read_text().count("reset") == 1 + 2  # at the beginning, and after each writer
    renewed = [request.renew for _, request in bench.fake.asked]
    assert renewed[0] == ("demo",)


async def test_a_site_that_a_reading_task_changed_is_put_back_before_anything_starts_on_it(
    bench: Bench, tmp_path
):
    log = tmp_path / "resets"
    await bench.change_site(reset=_command(tmp_path, f"open({str(log)!r}, 'a').write('reset\\n')"))
    bench.fake = FakeEpisodeEngine(workers=2)
    bench.fake.unasked = {"pots": 2}
    row = await bench.engine.run_evaluation(bench.request(_writers(), workers=2))
    assert (row.done, row.errors) == (4, 0)
    assert (
        log.read_text().count("reset") == 1 + 1
    )  # at the beginning, and after the one that changed something
    after = [request for _, request in bench.fake.asked if request.renew]
    assert len(after) >= 2  # whoever comes first behind a reset logs in anew


async def test_a_plan_tells_of_tasks_that_change_a_site_which_nothing_puts_back(bench: Bench, tmp_path):
    plan = await bench.engine.plan_evaluation(bench.request(_writers("basket")))
    assert plan.problems == ()
    assert [words for words in plan.warnings if "no reset command" in words] == [
        "1 task changes the site 'demo', which has no reset command, so what one run changes stays for the next; set"
        " one with: sitelore sites edit demo --reset CMD"
    ]
    await bench.change_site(reset=_command(tmp_path, "pass"))
    plan = await bench.engine.plan_evaluation(bench.request(_writers("basket")))
    assert [words for words in plan.warnings if "no reset command" in words] == []


async def test_a_site_that_can_not_be_put_back_costs_its_own_episodes_alone(bench: Bench, tmp_path):
    await bench.engine.save_site(
        Site(name="second", bases={"__SECOND__": "http://127.0.0.1:7899"}, starts=("http://127.0.0.1:7899",)),
        None,
    )
    await bench.change_site(reset=_command(tmp_path, "import sys; sys.exit('no space left')"))
    tasks = demo_tasks()
    tasks[0] |= {"site": "second", "start_url": "__SECOND__"}
    row = await bench.engine.run_evaluation(bench.request(tasks))
    assert (row.done, row.errors) == (4, 3)
    records = await bench.records()
    assert records["pots"].score == 1.0
    assert records["basket"].error == (
        "the site 'demo' could not be put back: the reset command of 'demo' ended with code 1: no space left"
    )


async def test_an_episode_whose_worker_died_is_tried_once_more(bench: Bench):
    def script(request, call):
        dies = request.task == "pots" or (request.task == "moon" and call == 1)
        return EpisodeWorkerDied("the worker ended in the middle of the episode") if dies else 1.0

    bench.fake = FakeEpisodeEngine(script=script)
    row = await bench.engine.run_evaluation(bench.request())
    assert (row.done, row.errors) == (4, 1)
    records = await bench.records()
    assert (records["moon"].attempt, records["moon"].score) == (2, 1.0)
    assert (records["basket"].attempt, records["basket"].score) == (1, 1.0)
    assert records["pots"].score is None
    assert records["pots"].error.endswith("twice")
    assert Counter(request.task for _, request in bench.fake.asked)["pots"] == 2


async def test_a_worker_that_is_lost_leaves_its_episodes_to_the_others(bench: Bench):
    bench.fake = FakeEpisodeEngine(workers=2)
    plain = bench.fake.run

    async def run(worker, request):
        if worker == 0:
            raise EpisodeWorkerLost("its node is gone")
        return await plain(worker, request)

    bench.fake.run = run
    row = await bench.engine.run_evaluation(bench.request(workers=2))
    assert (row.done, row.errors) == (4, 0)


async def test_without_a_worker_it_ends_with_a_sentence_and_goes_on_later(bench: Bench):
    bench.fake = FakeEpisodeEngine(script=lambda _request, _call: EpisodeWorkerLost("its node is gone"))
    with pytest.raises(EpisodeWorkerLost, match=r"no worker is left.*eval resume"):
        await bench.engine.run_evaluation(bench.request())
    bench.fake = FakeEpisodeEngine()
    row = await bench.engine.resume_evaluation(str(bench.folder / "out"))
    assert (row.state, row.done, row.errors) == ("done", 4, 0)


async def test_it_stops_after_the_episodes_in_flight_and_goes_on_from_there(bench: Bench):
    bench.fake = FakeEpisodeEngine(workers=2)
    bench.fake.gate.clear()
    running = asyncio.create_task(bench.engine.run_evaluation(bench.request(workers=2, repeats=2)))
    while len(bench.fake.asked) < 2:
        await asyncio.sleep(0.01)
    await bench.engine.stop_evaluation(str(bench.folder / "out"))
    await asyncio.sleep(0.6)
    bench.fake.gate.set()
    row = await running
    assert (row.state, row.done) == ("stopped", 2)
    first = {(request.task, request.repeat) for _, request in bench.fake.asked}
    bench.fake = FakeEpisodeEngine(workers=2)
    row = await bench.engine.resume_evaluation(str(bench.folder / "out"))
    second = {(request.task, request.repeat) for _, request in bench.fake.asked}
    assert (row.state, row.done) == ("done", 8)
    assert not first & second
    assert len(await bench.engine.list_runs(RunFilter())) == 8


async def test_runs_that_failed_for_outside_reasons_are_tried_again_when_it_goes_on(bench: Bench):
    await bench.engine.save_site(demo_row(SHOP), await _row(bench))
    bench.fake = FakeEpisodeEngine(
        script=lambda request, _: InputError("odd") if request.task == "moon" else 0.0
    )
    row = await bench.engine.run_evaluation(bench.request())
    assert (row.state, row.done, row.errors) == ("done", 4, 1)
    bench.fake = FakeEpisodeEngine()
    row = await bench.engine.run_evaluation(bench.request())
    assert [request.task for _, request in bench.fake.asked] == ["moon"]
    assert (row.done, row.errors) == (4, 0)


async def _row(bench: Bench) -> Site:
    return next(row.site for row in await bench.engine.sites() if row.site.name == "demo")


async def test_what_a_killed_coordinator_left_is_finished_with_nothing_lost_or_doubled(bench: Bench):
    await bench.engine.run_evaluation(bench.request(repeats=2))
    out = bench.folder / "out"
    lines = (out / "journal.jsonl").read_bytes().splitlines(keepends=True)
    # Killed between a run and its record, in the middle of the record before: two runs have no record.
    (out / "journal.jsonl").write_bytes(b"".join(lines[:6]) + lines[6][:30])
    bench.fake = FakeEpisodeEngine()
    row = await bench.engine.resume_evaluation(str(out))
    assert (row.state, row.done) == ("done", 8)
    assert len(bench.fake.asked) == 2
    records = await bench.engine.episode_records(str(out))
    assert len({record.key for record in records}) == 8
    assert {path.name for path in (out / "runs").iterdir()} == {record.run for record in records}


async def test_another_evaluation_in_the_folder_is_refused_with_what_differs(bench: Bench):
    await bench.engine.run_evaluation(bench.request())
    for values, what in (
        ({"max_steps": 9}, "max steps"),
        ({"seed": 8}, "seed"),
        ({"tasks": TaskFilter(ids=("pots",))}, "tasks"),
        ({"repeats": 3}, "repeats"),
        ({"max_seconds": 9.0}, "budgets"),
        ({"max_money": 0.5}, "budgets"),
        ({"off_site_is_zero": True}, "rules of scoring"),
    ):
        with pytest.raises(Conflict, match=f"begun with other {what}"):
            await bench.engine.run_evaluation(bench.request(**values))
    with pytest.raises(Conflict, match="contents of its suite"):
        await bench.engine.run_evaluation(bench.request([{**one, "level": "2"} for one in demo_tasks()]))


async def test_of_a_blind_suite_neither_records_nor_progress_nor_a_comparison_tell_why(
    bench: Bench, tmp_path: Path
):
    bench.fake = FakeEpisodeEngine(script=lambda _request, _call: 0.0, why="the answer is 'Zanzibar'")
    request = bench.request(kb=str(_frozen(tmp_path)))
    await bench.engine.add_suite(request.suite, blind=True)
    await bench.engine.run_evaluation(request)
    folder = str(bench.folder / "out")
    compared = await bench.engine.compare_evaluations([folder])
    told = [compared, await bench.engine.episode_records(folder), bench.told]
    assert "Zanzibar" not in repr(told)
    assert "the suite is blind: its answers are hidden" in repr(compared.pairs)
    await bench.engine.write_report([folder])
    written = (bench.folder / "out" / "report").rglob("*.*")
    assert not [path for path in written if path.is_file() and b"Zanzibar" in path.read_bytes()]
    await bench.engine.set_suite_blind("shop", False)
    assert "Zanzibar" in repr(await bench.engine.episode_records(folder))


async def test_two_evaluations_on_one_site_are_told_so(bench: Bench):
    locks = SiteLocks()
    task = SuiteTask(id="x", intent="x", sites=("store",))
    locks.take([task], {"store": replace(demo_row(f"{SHOP}/"), name="store")})
    with pytest.raises(
        Conflict, match="the site 'demo' is in use by another evaluation; wait for it or leave the site out"
    ):
        await bench.engine.run_evaluation(bench.request())
    locks.release()
    assert (await bench.engine.run_evaluation(bench.request())).state == "done"


async def test_two_processes_on_one_folder_are_told_so(bench: Bench):
    other = EvaluationFolder(bench.folder / "out")
    other.take()
    with pytest.raises(Conflict, match="another process is running the evaluation"):
        await bench.engine.run_evaluation(bench.request())
    other.release()


BAD_TASKS = [
    (
        {"oracle": {"evaluators": ["telepathy"]}},
        "task pots: the evaluator 'telepathy' is unknown to this program",
    ),
    ({"oracle": {}}, "task pots: no reference answer"),
    (
        {"site": "nowhere", "start_url": "http://x.example/"},
        "task pots: the site 'nowhere' is not in the table of",
    ),
    ({"start_url": "__MALL__"}, "task pots: the site 'mall' is not in the table of sites"),
    ({"login": "clerk"}, "task pots: no log-in of the site 'demo' is saved for the role 'clerk'"),
    ({"login": "--config=x"}, "task pots: its log-in is no role: '--config=x' can't be a role"),
]


@pytest.mark.parametrize(("change", "why"), BAD_TASKS, ids=lambda value: str(value)[:30])
async def test_a_task_that_can_not_be_run_or_scored_is_left_undecided_and_the_rest_goes_on(
    bench, change, why
):
    tasks = demo_tasks()
    tasks[0] = {**tasks[0], **change}
    plan = await bench.engine.plan_evaluation(bench.request(tasks))
    assert plan.problems == ()
    assert plan.warnings[0].startswith(why)
    row = await bench.engine.run_evaluation(bench.request(tasks))
    assert (row.done, row.errors) == (4, 1)
    record = (await bench.records())["pots"]
    assert (record.score, record.run) == (None, "")
    assert f"task pots: {record.error}".startswith(why)


@pytest.mark.parametrize(("change", "why"), BAD_TASKS, ids=lambda value: str(value)[:30])
async def test_an_evaluation_of_such_tasks_alone_does_not_begin(bench: Bench, change, why):
    request = bench.request([{**demo_tasks()[0], **change}])
    plan = await bench.engine.plan_evaluation(request)
    assert plan.problems[0].startswith(why)
    with pytest.raises(InputError, match="the evaluation can't begin: task pots"):
        await bench.engine.run_evaluation(request)
    assert not (bench.folder / "out" / "evaluation.json").exists()


async def test_a_name_that_stands_for_no_address_is_told_with_its_remedy(bench: Bench):
    await bench.change_site(bases={}, starts=())
    plan = await bench.engine.plan_evaluation(bench.request())
    assert len(plan.problems) == 1
    assert plan.problems[0].startswith("4 tasks (")
    assert "__DEMO__ stands for no address; bind it with: sitelore sites edit" in plan.problems[0]
    assert plan.episodes == 4
    assert plan.hours > 0


@pytest.mark.parametrize("role", ["clerk", ""])
@pytest.mark.parametrize(("ends", "is_expired"), [(-3600, True), (3600, False), (None, False)])
async def test_an_expired_log_in_is_told_before_the_first_run(bench: Bench, ends, is_expired, role):
    tasks = [{**task, "login": role} for task in demo_tasks()]
    expires = -1 if ends is None else time.time() + ends
    path = login_path("demo", role)
    path.write_text(json.dumps({"cookies": [{"name": "s", "expires": expires}], "origins": []}))
    plan = await bench.engine.plan_evaluation(bench.request(tasks))
    assert any("has expired" in problem for problem in plan.problems) == is_expired


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ({"policy": "llm"}, "no endpoint is set"),
        ({"policy": "oracle"}, "there is no policy 'oracle'"),
        ({"repeats": 0}, "repeats must be at least 1"),
        ({"workers": 0}, "workers must be at least 1"),
        ({"kb": "/nowhere/june.akb"}, "june.akb"),
        ({"maps": "yes"}, "none of the sites has a map"),
    ],
)
async def test_what_speaks_against_an_evaluation_stands_in_its_plan(bench: Bench, monkeypatch, values, why):
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    plan = await bench.engine.plan_evaluation(bench.request(**values))
    assert any(why in problem for problem in plan.problems), plan.problems


async def test_an_unknown_suite_and_an_unknown_task_are_not_found(bench: Bench):
    with pytest.raises(NotFound):
        await bench.engine.plan_evaluation(EvaluationRequest(suite="nowhere"))
    with pytest.raises(NotFound, match="no task 'sun'"):
        await bench.engine.plan_evaluation(bench.request(tasks=TaskFilter(ids=("sun",))))


def _frozen(folder: Path, taint: tuple[str, ...] = ()) -> Path:
    with KnowledgeBase.open(folder / "live.akb", author="mina") as kb:
        tip = kb.add(
            TipDraft(
                site="demo",
                scope=Scope(host="127.0.0.1:*", path="/**"),
                kind=Kind.NAVIGATION,
                text="The basket is at the top.",
                status=Status.ACTIVE,
                taint=taint,
            )
        )
        assert tip
        freeze(kb, folder / "june.akb")
    return folder / "june.akb"


async def test_an_arm_can_leave_one_tip_out_and_goes_on_with_the_same_file(bench: Bench, tmp_path: Path):
    kb = _frozen(tmp_path)
    plan = await bench.engine.plan_evaluation(bench.request(kb=str(kb), leave_out=("each",)))
    assert [arm.tips for arm in plan.head.arms] == [0, 1, 0]
    assert plan.head.arms[2].name.startswith("without ")
    assert plan.problems == ()
    row = await bench.engine.run_evaluation(bench.request(kb=str(kb), leave_out=("each",), name="one out"))
    assert (row.state, row.episodes) == ("done", 12)
    again = await bench.engine.resume_evaluation(row.folder)
    assert [arm.name for arm in again.arms] == [arm.name for arm in plan.head.arms]


async def test_a_tip_that_is_not_in_the_file_can_not_be_left_out(bench: Bench, tmp_path: Path):
    with pytest.raises(NotFound, match="nobody"):
        await bench.engine.plan_evaluation(bench.request(kb=str(_frozen(tmp_path)), leave_out=("nobody",)))
    with pytest.raises(UsageError, match="no knowledge base to leave a tip out of"):
        await bench.engine.plan_evaluation(bench.request(leave_out=("each",)))


async def test_a_changed_frozen_file_is_no_arm(bench: Bench, tmp_path: Path):
    kb = _frozen(tmp_path)
    plan = await bench.engine.plan_evaluation(bench.request(kb=str(kb), maps="no"))
    assert [(arm.name, arm.tips) for arm in plan.head.arms] == [("none", 0), ("akb", 1)]
    assert plan.problems == ()
    kb.chmod(0o600)
    kb.write_bytes(kb.read_bytes() + b"x")
    plan = await bench.engine.plan_evaluation(bench.request(kb=str(kb)))
    assert any("june.akb" in problem for problem in plan.problems)


@pytest.mark.parametrize(
    ("tainted", "problems", "left", "marked"),
    [("refuse", 1, 4, 1), ("leave out", 0, 3, 0), ("mark", 0, 4, 1)],
)
async def test_tainted_tasks_are_refused_left_out_or_marked(bench, tmp_path, tainted, problems, left, marked):
    request = bench.request(tainted=tainted)
    kb = _frozen(tmp_path, ("shop:pots",))
    plan = await bench.engine.plan_evaluation(replace(request, kb=str(kb)))
    assert (len(plan.problems), len(plan.head.tasks), len(plan.head.tainted)) == (problems, left, marked)


async def test_a_plan_says_what_waits_for_which_site(bench: Bench):
    plan = await bench.engine.plan_evaluation(bench.request(_writers("basket", "moon"), repeats=3, workers=2))
    assert (plan.episodes, plan.done, plan.templates) == (12, 0, 4)
    wait = plan.sites[0]
    assert (wait.site, wait.episodes, wait.alone) == ("demo", 12, 6)
    # 6 one after the other, 6 two at a time
    assert plan.hours == pytest.approx(9 * plan.seconds_per_run / 3600, abs=0.006)
    assert "assumed" in plan.based_on
    assert plan.memory_gb > 1
    await bench.engine.run_evaluation(bench.request(_writers("basket", "moon"), repeats=3))
    plan = await bench.engine.plan_evaluation(bench.request(_writers("basket", "moon"), repeats=3))
    assert plan.done == 12
    assert "12 episodes" in plan.based_on


async def test_a_journal_of_another_version_stays_as_it_is(bench: Bench):
    await bench.engine.run_evaluation(bench.request())
    file = bench.folder / "out" / "journal.jsonl"
    lines = file.read_bytes().splitlines()
    lines[1] = orjson.dumps({**orjson.loads(lines[1]), "version": 2})
    file.write_bytes(b"\n".join(lines) + b"\n")
    before = file.read_bytes()
    with pytest.raises(InputError, match="line 2 is of version 2"):
        await bench.engine.resume_evaluation(str(bench.folder / "out"))
    assert file.read_bytes() == before
    rows = await bench.engine.evaluations()
    assert [row.state for row in rows] == ["unreadable"]
    await bench.engine.forget_evaluation(str(bench.folder / "out"))
    assert await bench.engine.evaluations() == []
