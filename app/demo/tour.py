"""The whole workflow once on the bundled runs, without a window and without a model: ``sitelore demo``.

Import, detect, rank, judge, write a tip (a first try that lint rejects, then a better one), see where it would have
been retrieved, retrieve it by each route, undo and redo it, freeze, verify, and detect one changed bit; then the map:
from the runs alone, and by exploring the live site if a browser can be started.
"""

from __future__ import annotations

import asyncio
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from app.assets import resource
from app.demo.map_tour import PRICE, MapReport, explore_the_shop, map_from_runs
from app.engine.api.engine_api import EngineApi, RunDetail, TipForm, WorkspaceInfo
from app.engine.api.run_rows import RunFilter
from app.engine.core.verdicts import Label
from app.errors import Conflict
from kb.tip import Kind, LintFinding, LintSeverity, Query, Route, Scope, Status, TipDraft

OnLine = Callable[[str], object]
"""Prints one line for the user."""

JUDGED_RUN = "demo-shop-1-a"
"""The run whose failure the tip is about: a button that does nothing until a size is chosen."""

FIRST_TRY = "For the Linen Apron choose One size, then press Add to basket."
"""A typical first version: right for this task, useless for any other."""

TIP = TipDraft(
    site="demo-shop",
    scope=Scope(path="/product/*"),
    kind=Kind.OPERATION,
    text="On a product page choose a size before pressing Add to basket; without one the button does nothing "
    "and says nothing.",
    when="a product page shows sizes, be it only one",
    do="choose the size, then press Add to basket",
    before="the size is chosen",
    why="the form is not sent without a size, and no message matches",
    keywords=("add to basket", "size"),
)

OTHERS = (
    TipDraft(
        site="demo-admin",
        scope=Scope(path="/admin/**"),
        kind=Kind.UI_QUIRK,
        text="The Reports menu opens only when the pointer rests on it; a click shuts it again.",
        when="a report is needed",
        do="hover over Reports, then choose the report",
        before="the menu is not clicked",
        why="the menu listens to the pointer, not to clicks",
        keywords=("reports", "hover"),
    ),
    TipDraft(
        site="demo-admin",
        scope=Scope(path="/admin/orders"),
        kind=Kind.DATA_FACT,
        text="In the order list parked means waiting for payment, and processing means out for delivery.",
        when="orders are chosen or counted by their status",
        do="filter by the shop's own word for the status",
        before="the word is looked up under Help",
        why="the status words have a meaning of their own here",
        keywords=("parked", "processing", "status"),
    ),
)
"""Tips about other quirks of the site, so that there is something not to retrieve."""

QUERIES = {
    Route.URL: Query(url="http://127.0.0.1:7801/product/wool-throw", text="Buy a throw for the sofa."),
    Route.KEYWORD: Query(
        url="http://127.0.0.1:7801/", text="Add to basket has no effect, is a size missing?"
    ),
    Route.EMBEDDING: Query(
        url="http://127.0.0.1:7801/",
        text="Nothing happens when I try to buy an item because I did not select which dimensions I want.",
    ),
}
"""One question for each route: by address; by words of the tip; by meaning, in other words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteCheck:
    """One route's result for the tip; ``why_not`` if it was not found."""

    route: str
    url: str
    query: str
    score: float = 0.0
    why: str = ""
    why_not: str = ""


@dataclass(slots=True, kw_only=True)
class DemoReport:
    """The demo's figures; ``problems`` lists unexpected results."""

    workspace: str
    out: str
    runs: int = 0
    failed_runs: int = 0
    steps: int = 0
    flags: int = 0
    suspect_step: int = 0
    refused_by: tuple[str, ...] = ()
    tip: str = ""
    tips: int = 0
    preflight_failed_runs: int = 0
    retrieved: tuple[RouteCheck, ...] = ()
    frozen: str = ""
    same_bytes_twice: bool = False
    changed_bit_found: bool = False
    map: MapReport = field(default_factory=MapReport)
    tokens: int = 0
    seconds: float = 0.0
    problems: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether there were no problems."""
        return not self.problems


def as_dict(report: DemoReport) -> dict[str, Any]:
    """The figures for ``--json``."""
    return {**asdict(report), "ok": report.ok}


def bundled_runs() -> Path:
    """The folder of the recorded runs."""
    return resource("demo_runs")


def run_headless(out: Path | None, say: OnLine, *, live: bool = False) -> DemoReport:
    """Run the demo in a fresh workspace under ``out`` (``None``: a temporary folder), with the encoder if there is
    one.

    ``live`` also explores the bundled site with a browser, if one can be started.

    Raises a ``SiteloreError`` if the program itself fails; unexpected results are in the report.
    """
    from app.engine.engine import Engine

    place = out or Path(tempfile.mkdtemp(prefix="sitelore-demo-"))
    place.mkdir(parents=True, exist_ok=True)

    async def running() -> DemoReport:
        engine = await Engine.open(_fresh(place.resolve() / "workspace"), author="demo")
        try:
            await engine.load_encoder()
            return await run_demo(engine, place.resolve(), say, live=live)
        finally:
            await engine.aclose()

    return asyncio.run(running())


def prepare_workspace() -> Path:
    """Return the workspace the window shows as a demo: created with the bundled runs once, then left unchanged."""
    from app import settings
    from app.engine.engine import Engine

    place = settings.default_workspace().parent / "demo"

    async def preparing() -> None:
        engine = await Engine.open(place)
        try:
            if (await engine.info()).runs == 0:
                await engine.import_runs([str(bundled_runs())])
            if not await engine.graphs():
                await map_from_runs(engine, lambda _: None)
        finally:
            await engine.aclose()

    try:
        asyncio.run(preparing())
    except Conflict:
        pass  # a window already has it open, and will be raised
    return place


async def run_demo(engine: EngineApi, out: Path | None, say: OnLine, *, live: bool = False) -> DemoReport:
    """Run the workflow in an open, empty workspace; exported files go to ``out``."""
    place = out or Path(tempfile.mkdtemp(prefix="sitelore-demo-"))
    return await _Demo(engine, place, say, await engine.info()).run(live=live)


class _Demo:
    """One pass through the workflow; every stage prints its result and adds its figures to the report."""

    def __init__(self, engine: EngineApi, out: Path, say: OnLine, info: WorkspaceInfo) -> None:
        self.engine, self.out, self._say = engine, out, say
        self.report = DemoReport(workspace=info.path, out=str(out))
        self._encoder_ready = info.encoder_ready
        self._problems: list[str] = []

    async def run(self, *, live: bool) -> DemoReport:
        began = time.monotonic()
        await self._import_and_detect()
        await self._rank()
        opened = await self._judge()
        form = await self.engine.compose_tip(JUDGED_RUN, opened.risk.suspect_step)
        await self._refused(form)
        await self._saved(form)
        await self._retrieve()
        await self._undo_and_redo()
        await self._freeze()
        await self._map(live)
        self.report.seconds = round(time.monotonic() - began, 2)
        self.report.problems = tuple(self._problems)
        self._say(f"done      {self.report.seconds:.1f} s, {self.report.tokens} tokens, no model asked")
        for problem in self._problems:
            self._say(f"PROBLEM   {problem}")
        return self.report

    def _expect(self, holds: bool, problem: str) -> None:
        if not holds:
            self._problems.append(problem)

    async def _map(self, live: bool) -> None:
        found = await map_from_runs(self.engine, self._say)
        if live:
            found = await explore_the_shop(self.engine, found, self._say)
            self._expect(
                found.arrived or not found.explored, f"the live browser did not reach the state: {found.why}"
            )
            self._expect(PRICE in found.answer or not found.explored, found.why)
        self.report.map = found

    async def _import_and_detect(self) -> None:
        began = time.monotonic()
        brought = await self.engine.import_runs([str(bundled_runs())])
        rows = await self.engine.list_runs(RunFilter(order="risk"))
        report = self.report
        report.runs, report.steps = len(rows), sum(row.steps for row in rows)
        report.failed_runs = sum(row.score is not None and row.score < 1 for row in rows)
        self._say(
            f"import    {brought.imported} runs, {report.steps} steps from the demo shop in "
            f"{time.monotonic() - began:.1f} s; {report.failed_runs} of them failed"
        )
        self._say("          (scripts played in a real Chromium: nobody's agent)")
        for failure in brought.failed:
            self._problems.append(f"{failure.path}: {failure.error}")
        flags = await self.engine.detect()
        report.flags = len(flags)
        by_detector = Counter(flag.detector for flag in flags).most_common()
        listed = ", ".join(f"{name} {count}" for name, count in by_detector)
        self._say(f"detect    {len(flags)} flags in {len({flag.run for flag in flags})} runs: {listed}")
        self._expect(bool(flags), "no detector fired")

    async def _rank(self) -> None:
        rows = await self.engine.list_runs(RunFilter(order="risk"))
        top = rows[: self.report.failed_runs]
        failed = sum(row.score is not None and row.score < 1 for row in top)
        self._say(
            f"queue     of the {len(top)} riskiest runs {failed} did fail (the ranking never sees the score)"
        )
        unseen = sum(not row.flags and row.score is not None and row.score < 1 for row in rows)
        self._say(f"          {unseen} failed runs are invisible to rules: only their result is wrong")
        for row in rows[:5]:
            flags = ", ".join(row.flags[:2]) or "no flag"
            self._say(f"          {row.risk:.2f}  {row.id:<15} step {row.suspect_step:<2} {flags}")

    async def _judge(self) -> RunDetail:
        opened = await self.engine.open_run(JUDGED_RUN)
        at = opened.risk.suspect_step
        step = opened.steps[min(at, len(opened.steps) - 1)]
        verdict = await self.engine.give_verdict(
            JUDGED_RUN, Label.MISSED_CONSTRAINT, at, "no size was chosen", lead_seconds=1.0
        )
        self.report.suspect_step = at
        self._say(f"review    “{opened.run.intent}” opens at step {at}: {step.words}")
        said = next((flag.message for flag in opened.flags if flag.step == at), "")
        if said:
            self._say(f"          {said}")
        self._say(f"verdict   {verdict.label.value}: {verdict.note}")
        return opened

    async def _refused(self, form: TipForm) -> None:
        """Save a tip with a value of the task at hand: lint has to reject it."""
        draft = replace(form.draft, text=FIRST_TRY)
        check = await self.engine.check_tip(draft, form.intent)
        errors = [finding for finding in check.lint if finding.severity is LintSeverity.ERROR]
        self.report.refused_by = tuple(sorted({finding.rule for finding in errors}))
        self._say(f"composer  scope {form.draft.scope}, values of the task: {', '.join(form.task_values)}")
        self._say(f"first try “{FIRST_TRY}”")
        for finding in check.lint:
            self._say(f"          {_finding_line(finding)}")
        self._expect(bool(errors), "lint accepted a tip with a value of the task")

    async def _saved(self, form: TipForm) -> None:
        """Save the same tip as site logic, with the provenance of the step; then pre-flight and activate it."""
        report = self.report
        draft = replace(TIP, provenance=form.draft.provenance, taint=form.draft.taint)
        check = await self.engine.check_tip(draft, form.intent)
        self._say(f"corrected “{draft.text}” for {draft.site}{draft.scope}")
        for finding in check.lint:
            self._say(f"          {_finding_line(finding)}")
        self._expect(
            all(finding.severity is not LintSeverity.ERROR for finding in check.lint),
            "lint rejects the corrected tip",
        )
        flight = check.preflight or await self.engine.preflight(draft)
        report.preflight_failed_runs = flight.failed_runs
        self._say(
            f"preflight would have been retrieved in {flight.steps} stored steps "
            f"({flight.failed_runs} failed runs, {flight.passed_runs} passed)"
        )
        self._expect(flight.failed_runs > 0, "the tip would not have been retrieved in a single failed run")
        saved = await self.engine.save_tip(draft, form.intent)
        others = [(await self.engine.save_tip(other)).id for other in OTHERS]
        await self.engine.set_status([saved.id, *others], Status.ACTIVE)
        stats = await self.engine.kb_stats()
        report.tip, report.tips = saved.id, stats.tips
        self._say(f"saved     {saved.id} and {len(others)} more, all active")

    async def _retrieve(self) -> None:
        shown: list[RouteCheck] = []
        for route, query in QUERIES.items():
            found = await self._by(route, query)
            shown.append(found)
            head = f"{'retrieve' if route is Route.URL else '':<9} by {route.value}"
            if found.why_not:
                self._say(f"{head}: not found; {found.why_not}")
            else:
                self._say(f"{head}, {found.score:.2f}: {found.why}")
            self._say(f"          asked “{query.text}” on {query.url.partition('://')[2]}")
            off = route is Route.EMBEDDING and not self._encoder_ready
            self._expect(not found.why_not or off, f"not retrieved by {route.value}: {found.why_not}")
        self.report.retrieved = tuple(shown)

    async def _by(self, route: Route, query: Query, kb: str = "") -> RouteCheck:
        answer = await self.engine.retrieve(query, kb=kb)
        asked = RouteCheck(route=route.value, url=query.url, query=query.text)
        off = answer.routes_off.get(route.value, "")
        if off:
            return replace(asked, why_not=f"this route is off: {off}")
        for result in answer.results:
            # Every route that finds a tip adds to its score; which of them adds most is no matter here.
            if result.tip.id == self.report.tip and result.routes.get(route.value, 0.0) > 0:
                return replace(asked, score=result.score, why=result.why)
        missed = next((miss.reason for miss in answer.missed if miss.tip.id == self.report.tip), "")
        by = ", ".join(r.route.value for r in answer.results if r.tip.id == self.report.tip)
        return replace(asked, why_not=missed or (f"found by {by} instead" if by else "nothing near"))

    async def _undo_and_redo(self) -> None:
        """Retire the tip, undo, redo, and undo again."""
        await self.engine.set_status([self.report.tip], Status.RETIRED)
        undone = await self.engine.undo()
        back = (await self.engine.tip(self.report.tip)).status
        await self.engine.redo()
        again = (await self.engine.tip(self.report.tip)).status
        await self.engine.undo()
        versions = len(await self.engine.tip_history(self.report.tip))
        self._say(
            f"undo      {undone.did}: {back.value}; redo: {again.value}; undo again. {versions} revisions are kept"
        )
        self._expect((back, again) == (Status.ACTIVE, Status.RETIRED), "undo and redo do not match")

    async def _freeze(self) -> None:
        """Freeze twice, verify, and change one bit in a copy."""
        report = self.report
        frozen = _fresh(self.out / "larkspur.akb")
        first = await self.engine.freeze(str(frozen))
        report.frozen = first.path
        with tempfile.TemporaryDirectory(prefix="sitelore-demo-") as folder:
            second = await self.engine.freeze(str(Path(folder) / frozen.name))
            report.same_bytes_twice = Path(first.path).read_bytes() == Path(second.path).read_bytes()
            verified = await self.engine.verify(first.path)
            damaged = _one_bit_changed(Path(first.path), Path(first.manifest), Path(folder) / "copy")
            found = await self.engine.verify(str(damaged))
        report.changed_bit_found = not found.ok
        self._say(f"freeze    {first.tips} tips in {Path(first.path).name}, sha256 {first.sha256[:16]}…")
        same = "the same bytes" if report.same_bytes_twice else "OTHER BYTES"
        self._say(f"          frozen a second time: {same}")
        self._say(f"verify    {'intact' if verified.ok else 'NOT INTACT'}; {_bit_flip_line(found.problems)}")
        self._expect(verified.ok, f"the frozen file does not verify: {'; '.join(verified.problems)}")
        self._expect(report.same_bytes_twice, "two freezes of the same tips differ")
        self._expect(report.changed_bit_found, "verify did not detect a changed bit")
        again = await self._by(Route.URL, QUERIES[Route.URL], kb=first.path)
        self._expect(not again.why_not, f"the frozen file does not return the tip: {again.why_not}")


def _one_bit_changed(frozen: Path, manifest: Path, folder: Path) -> Path:
    """Copy a frozen file and its manifest with one bit in the middle flipped."""
    folder.mkdir()
    copy = folder / frozen.name
    data = bytearray(frozen.read_bytes())
    data[len(data) // 2] ^= 1
    copy.write_bytes(bytes(data))
    shutil.copyfile(manifest, folder / manifest.name)
    return copy


def _bit_flip_line(problems: tuple[str, ...]) -> str:
    line = (
        f"one bit changed in a copy: {problems[0]}" if problems else "one bit changed in a copy: NOT DETECTED"
    )
    return line if len(line) <= 160 else line[:159] + "…"


def _finding_line(finding: LintFinding) -> str:
    return f"{finding.severity.value}: {finding.message} ({finding.rule})"


def _fresh(path: Path) -> Path:
    """Return this path, or one with a number appended if it exists already."""
    number, candidate = 1, path
    while candidate.exists() or candidate.is_symlink():
        number += 1
        candidate = path.with_name(f"{path.stem}-{number}{path.suffix}")
    return candidate
