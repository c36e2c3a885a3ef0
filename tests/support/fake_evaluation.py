"""Suites and evaluations of an engine without disk: two suites, three evaluations with made-up results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import PurePath
from typing import Any

from app.engine.api.evaluation_api import (
    Comparison,
    EpisodeRequest,
    EvaluationPlan,
    EvaluationRequest,
    EvaluationRow,
    ExpectedOutcome,
    ReportFiles,
    RescoredRun,
    SiteWait,
    SplitReport,
    SuiteRow,
    SuiteTaskRow,
    TipCreditRow,
)
from app.engine.core.evaluation.episode import EpisodeRecord, EvaluationHead, EvaluationJournal
from app.engine.core.evaluation.suite import TaskFilter
from app.engine.core.evaluation.task_score import SubCheck
from app.engine.core.events import EvaluationAdvanced, EventBus, SuitesChanged
from app.errors import InputError, NotFound, SiteloreError
from tests.support.made_up_evaluation import FOUR_ARMS, made_up_comparison, made_up_journal

JUNE, NIGHT, TORN = "evaluations/june", "evaluations/night", "evaluations/torn"
"""Folders of the evaluations: one that is done, one that is running, one whose journal can't be read."""
TORN_NOTE = (
    "evaluations/torn/journal.jsonl: line 14 is no record (restore the file from a copy, or forget it)"
)
TWO_ARMS = FOUR_ARMS[:2]


def make_suites() -> dict[str, SuiteRow]:
    """Return a large suite and a blind one with problems."""
    rows = (
        SuiteRow(
            name="webarena",
            title="WebArena",
            form="webarena",
            dialect="webarena",
            sha256="5fa1" * 16,
            tasks=812,
            templates=190,
            sites=(
                ("shopping", 187),
                ("shopping_admin", 182),
                ("gitlab", 180),
                ("reddit", 106),
                ("map", 109),
            ),
            kinds=(("question", 335), ("way", 141), ("change", 336)),
            subsets=("small",),
        ),
        SuiteRow(
            name="shop-tasks",
            title="Tasks of our own shop, written for the workshop in June",
            form="sitelore",
            dialect="sitelore",
            sha256="77be" * 16,
            tasks=24,
            templates=12,
            sites=(("shopping", 24),),
            kinds=(("question", 12), ("change", 12)),
            without_oracle=2,
            unknown=("screenshot_match",),
            unbound=("__WIKI__",),
            blind=True,
        ),
    )
    return {row.name: row for row in rows}


@cache
def made_up_result(tasks: int, done: float, arms: int = 2) -> tuple[EvaluationJournal, Comparison]:
    """Return a journal with its comparison; drawn once for all tests."""
    journal = made_up_journal(
        tasks=tasks, templates=max(tasks // 3, 2), arms=FOUR_ARMS[:arms], repeats=2, done=done
    )
    return journal, made_up_comparison(journal, draws=200)


class FakeEvaluation:
    """Keeps suites in ``suite_rows``, evaluations in ``evaluation_rows`` and their results in ``comparisons``.

    Attributes:
        evaluation_error: raised by the next call that adds, compares, plans, starts or rescores.
        plan_problems: problems of every plan.
    """

    bus: EventBus
    all_runs: dict[str, Any]
    suite_rows: dict[str, SuiteRow]
    evaluation_rows: dict[str, EvaluationRow]
    comparisons: dict[str, Comparison]
    records: dict[str, tuple[EpisodeRecord, ...]]
    expected: dict[str, ExpectedOutcome]
    evaluation_error: Exception | None = None
    plan_problems: tuple[str, ...] = ()

    def start_evaluations(self, *, empty: bool) -> None:
        self.suite_rows = {} if empty else make_suites()
        self.evaluation_rows, self.comparisons, self.records = {}, {}, {}
        self.expected = {}
        if empty:
            return
        self.put_evaluation(JUNE, "june", "done", 1.0)
        self.put_evaluation(NIGHT, "night", "running", 0.4)
        self.evaluation_rows[TORN] = EvaluationRow(
            name="torn", folder=TORN, suite="webarena", state="unreadable", episodes=0, done=0, note=TORN_NOTE
        )

    def put_evaluation(self, folder: str, name: str, state: str, done: float, tasks: int = 90) -> None:
        """Add an evaluation of two arms and two repeats with made-up results; its runs can be opened."""
        journal, comparison = made_up_result(tasks, done)
        self.records[folder] = journal.records
        self.comparisons[folder] = self._with_known_runs(
            replace(comparison, heads=tuple(replace(head, name=name) for head in comparison.heads))
        )
        self.evaluation_rows[folder] = EvaluationRow(
            name=name,
            folder=folder,
            suite="webarena",
            state=state,
            episodes=len(journal.head.tasks) * len(TWO_ARMS) * 2,
            done=len(journal.records),
            errors=sum(bool(record.error) for record in journal.records),
            arms=TWO_ARMS,
            repeats=2,
            begun_at=1_790_000_000.0,
            tokens=1_840_000 if state == "done" else 120_500,
            money=None if state == "running" else 4.27,
            seconds=sum(record.seconds for record in journal.records),
        )

    def advance(self, folder: str, done: int, state: str = "running", words: str = "") -> None:
        """Let an evaluation get further, and publish it."""
        row = replace(self.evaluation_rows[folder], done=done, state=state)
        self.evaluation_rows[folder] = row
        self.bus.publish(
            EvaluationAdvanced(folder=folder, state=state, done=done, episodes=row.episodes, words=words)
        )

    # ------------------------------------------------------------ suites
    async def suites(self) -> list[SuiteRow]:
        return list(self.suite_rows.values())

    async def add_suite(self, path: str, name: str = "", blind: bool = False) -> SuiteRow:
        self._call("add_suite", path, name, blind)
        self._raise_once()
        if not path.endswith(".json"):
            raise InputError("it holds no tasks", path=path, remedy="add a suite in one of the known forms")
        stem = name or PurePath(path).stem
        self.suite_rows[stem] = replace(make_suites()["webarena"], name=stem, title=stem, blind=blind)
        self._did(f"add suite '{stem}'")
        self.bus.publish(SuitesChanged())
        return self.suite_rows[stem]

    async def remove_suite(self, name: str) -> None:
        self._call("remove_suite", name)
        self._suite(name)
        del self.suite_rows[name]
        self._did(f"remove suite '{name}'")
        self.bus.publish(SuitesChanged())

    async def set_suite_blind(self, name: str, blind: bool) -> SuiteRow:
        self._call("set_suite_blind", name, blind)
        self.suite_rows[name] = replace(self._suite(name), blind=blind)
        self.bus.publish(SuitesChanged())
        return self.suite_rows[name]

    async def suite_tasks(self, name: str, tasks: TaskFilter | None = None) -> list[SuiteTaskRow]:
        suite = self._suite(name)
        journal, comparison = made_up_result(90, 1.0)
        rows = zip(journal.head.tasks, comparison.pairs, strict=False)
        return [
            SuiteTaskRow(
                id=task,
                intent=pair.intent,
                sites=(pair.site,),
                template=pair.cluster.partition(":")[2],
                kind=pair.kind,
                required_obs="any",
                writes=pair.kind == "change",
                evaluators=("string_match",),
                expected=() if suite.blind else ("the answer is '19' (exact_match)",),
                runs=2,
            )
            for task, pair in list(rows)[: suite.tasks]
        ]

    async def split_suite(self, name: str, seed: int = 7) -> SplitReport:
        ids = tuple(row.id for row in await self.suite_tasks(name))
        half = len(ids) // 2
        return SplitReport(
            suite=name, seed=seed, a=ids[:half], b=ids[half:], templates_a=half, templates_b=len(ids) - half
        )

    async def expected_outcome(self, run: str) -> ExpectedOutcome | None:
        return self.expected.get(run)

    # ------------------------------------------------------------ rescoring
    async def rescore(
        self, runs: Sequence[str], suite: str, dialect: str = "", judge: bool = False
    ) -> list[RescoredRun]:
        self._call("rescore", tuple(runs), suite, dialect, judge)
        self._raise_once()
        self._suite(suite)
        return [self._rescored(number, run) for number, run in enumerate(runs or self.all_runs)]

    async def rescore_folder(
        self, path: str, suite: str, dialect: str = "", judge: bool = False
    ) -> list[RescoredRun]:
        self._call("rescore_folder", path, suite, dialect, judge)
        self._raise_once()
        return [self._rescored(number, f"{path}/{number}") for number in range(12)]

    # ------------------------------------------------------------ evaluations
    async def evaluations(self) -> list[EvaluationRow]:
        return list(self.evaluation_rows.values())

    async def plan_evaluation(self, request: EvaluationRequest) -> EvaluationPlan:
        self._call("plan_evaluation", request)
        self._raise_once()
        suite = self._suite(request.suite)
        arms = 2 * (2 if request.maps == "both" else 1)
        chosen = [count for site, count in suite.sites if site in request.tasks.sites]
        tasks = sum(chosen) if request.tasks.sites else suite.tasks
        episodes = tasks * arms * request.repeats
        templates = max(tasks // 4, 1)
        return EvaluationPlan(
            head=EvaluationHead(
                name=request.name or "new",
                suite=suite.name,
                suite_sha256=suite.sha256,
                dialect=request.dialect or suite.dialect,
                policy=request.policy,
                arms=FOUR_ARMS[:arms],
                tasks=tuple(map(str, range(tasks))),
                repeats=request.repeats,
            ),
            episodes=episodes,
            done=0,
            templates=templates,
            problems=self.plan_problems,
            warnings=("12 tasks need a judge model; without one they are undecided",),
            hours=episodes * 14.0 / 3600 / request.workers,
            seconds_per_run=14.0,
            based_on="412 runs of this workspace",
            memory_gb=0.9 * request.workers,
            sites=(SiteWait(site="gitlab", episodes=episodes // 4, alone=episodes // 9, hours=1.4),),
            power=((0.05, min(0.95, templates / 400)), (0.1, min(0.99, templates / 150)), (0.15, 0.99)),
            templates_needed=((0.05, 310), (0.1, 80), (0.15, 36)),
        )

    async def run_evaluation(self, request: EvaluationRequest) -> EvaluationRow:
        self._call("run_evaluation", request)
        self._raise_once()
        plan = await self.plan_evaluation(request)
        name = request.name or f"{request.suite}-{len(self.evaluation_rows) + 1}"
        folder = request.out or f"evaluations/{name}"
        row = EvaluationRow(
            name=name,
            folder=folder,
            suite=request.suite,
            state="running",
            episodes=plan.episodes,
            done=0,
            arms=TWO_ARMS,
            repeats=request.repeats,
            begun_at=1_790_000_000.0,
        )
        self.evaluation_rows = {folder: row, **self.evaluation_rows}
        self.advance(folder, 0)
        return row

    async def resume_evaluation(self, folder: str, workers: int = 0) -> EvaluationRow:
        self._call("resume_evaluation", folder, workers)
        self._raise_once()
        self.advance(folder, self._row_at(folder).done)
        return self.evaluation_rows[folder]

    async def stop_evaluation(self, folder: str) -> None:
        self._call("stop_evaluation", folder)
        self.advance(folder, self._row_at(folder).done, "stopped")

    async def forget_evaluation(self, folder: str) -> None:
        self._call("forget_evaluation", folder)
        self._row_at(folder)
        del self.evaluation_rows[folder]

    async def run_episode(self, request: EpisodeRequest) -> EpisodeRecord:
        raise SiteloreError("the fake engine runs no episodes")

    async def packed_run(self, run: str) -> bytes:
        return b""

    async def episode_records(self, folder: str) -> list[EpisodeRecord]:
        self._row_at(folder)
        return list(self.records.get(folder, ()))

    # ------------------------------------------------------------ comparison
    async def compare_evaluations(
        self, folders: Sequence[str], arm: str = "", against: str = "", margin: float = 0.02
    ) -> Comparison:
        self._raise_once()
        folder = folders[0]
        if self._row_at(folder).state == "unreadable":
            raise InputError("line 14 is no record", path=f"{folder}/journal.jsonl")
        if folder not in self.comparisons:
            return Comparison(heads=(), arms=())
        return self.comparisons[folder]

    async def write_report(self, folders: Sequence[str], out: str = "", margin: float = 0.02) -> ReportFiles:
        self._call("write_report", tuple(folders))
        self._raise_once()
        at = f"{folders[0]}/report"
        return ReportFiles(
            html=f"{at}/report.html",
            csv=(f"{at}/arms.csv", f"{at}/pairs.csv"),
            latex=f"{at}/tables.tex",
            json=f"{at}/report.json",
        )

    async def tip_credits(self) -> list[TipCreditRow]:
        return [credit for comparison in self.comparisons.values() for credit in comparison.credits]

    # ------------------------------------------------------------ inside
    def _with_known_runs(self, comparison: Comparison) -> Comparison:
        """Return the comparison with runs that this engine can open."""
        known = list(self.all_runs)
        if not known:
            return comparison
        pairs = tuple(
            replace(
                pair,
                runs=tuple(known[(number * 4 + n) % len(known)] for n in range(len(pair.runs))),
                runs_against=tuple(
                    known[(number * 4 + 2 + n) % len(known)] for n in range(len(pair.runs_against))
                ),
            )
            for number, pair in enumerate(comparison.pairs)
        )
        tips = list(getattr(self, "tips", ()))
        credits = tuple(
            replace(credit, tip=tips[number % len(tips)] if number < len(tips) else credit.tip)
            for number, credit in enumerate(comparison.credits)
        )
        return replace(comparison, pairs=pairs, credits=credits)

    def _rescored(self, number: int, run: str) -> RescoredRun:
        recorded = (1.0, 0.0, 0.0, 1.0, None)[number % 5]
        score = (1.0, 0.0, 0.0, None, 1.0)[number % 5] if number != 7 else 1.0
        verdict = "undecided" if score is None else "pass" if score == 1 else "fail"
        why = {"undecided": "no judge model is set", "pass": ""}.get(verdict, "the answer '17' is not '19'")
        return RescoredRun(
            run=run,
            task=str(number),
            recorded=recorded,
            score=score,
            verdict=verdict,
            why=why,
            checks=(SubCheck(evaluator="string_match", expected="'19'", found="17", score=score, why=why),),
            evaluators=("string_match",),
            site="gitlab",
        )

    def _suite(self, name: str) -> SuiteRow:
        if name not in self.suite_rows:
            raise NotFound(f"there is no suite '{name}'")
        return self.suite_rows[name]

    def _row_at(self, folder: str) -> EvaluationRow:
        if folder not in self.evaluation_rows:
            raise NotFound(f"there is no evaluation in {folder}")
        return self.evaluation_rows[folder]

    def _raise_once(self) -> None:
        error, self.evaluation_error = self.evaluation_error, None
        if error is not None:
            raise error

    def _call(self, name: str, *args: Any) -> None:
        raise NotImplementedError

    def _did(self, label: str) -> None:
        raise NotImplementedError
