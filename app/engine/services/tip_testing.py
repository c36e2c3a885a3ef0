"""Tests of tips in a live browser that lets only reading through, and how each tip stands.

A test begins at the page that was given, else at the scope's address if it is one, at the page the tip comes from, at
the site's home in the map, or at the site's host.  The last three are guesses: if no test of this content has got
further, a first step that can't be done there is no fault of the tip.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from app import settings
from app.engine.agent.procedures.procedure_test import ProcedureTest, ProcedureTestResult, Tell, filled_values
from app.engine.api.tip_api import TipStanding, TipTest, TipTests
from app.engine.core.events import KnowledgeChanged
from app.engine.core.redaction import MARK
from app.engine.jobs import Job
from app.engine.services.core import Core
from app.engine.services.graph_cache import GraphCache, checked_address
from app.engine.services.site_logins import saved_login
from app.errors import NotFound, SiteloreError, UsageError
from kb.compiler import procedure_of
from kb.content import content_key
from kb.evidence import DOWN, UP, Evidence, EvidenceKind, TestOutcome
from kb.tip import Scope, Status, Tip

if TYPE_CHECKING:
    from app.engine.browser.reading_browser import ReadingBrowser

log = logging.getLogger(__name__)

TESTED = (Status.REVIEWED, Status.ACTIVE, Status.SUSPECT)
"""Statuses whose tips ``test_tips`` tests."""

_TRUSTED = frozenset({Status.REVIEWED, Status.ACTIVE})
_WORKED = frozenset({TestOutcome.HOLDS, TestOutcome.STOPPED})


@dataclass(frozen=True, slots=True, kw_only=True)
class StartPage:
    """Where a test begins; ``sure`` if it is the tip's own page, and no guess."""

    url: str
    sure: bool


class TipTestService:
    """Tests of tips, each in a browser of its own."""

    def __init__(self, core: Core, graph_cache: GraphCache) -> None:
        self._core, self._graph_cache = core, graph_cache

    async def test_tip(
        self, tip: str, start_url: str = "", values: Mapping[str, str] | None = None, headed: bool = False
    ) -> TipTest:
        """Do a tip's steps in a live browser, as far as they only read, and keep the result with the tip.

        Raises:
            NotFound: no such tip.  UsageError: it has no steps or no such placeholder, or it is not known where it
            begins.  NoBrowser: none can be started.
        """
        stored, start = await self._core.on_store(self._prepared, tip, start_url)
        given = filled_values(values or {})
        known = procedure_of(stored).placeholders
        if unknown := [name for name in given if name not in known]:
            has = f"it has {', '.join(known)}" if known else "its steps have none"
            raise UsageError(f"tip {tip} has no placeholder {unknown[0]!r}", remedy=has)

        async def work(job: Job) -> TipTest:
            job.advance(0, len(procedure_of(stored).steps), "starting the browser")
            async with self._browser(stored.site, headed) as browser:
                return await self._tested(job, browser, stored, start, given, job.advance)

        _, task = self._core.registry.start(f"Test the tip {tip}", work)
        return await task

    async def test_tips(self, site: str, drafts: bool = False) -> TipTests:
        """Test the reviewed, active and suspect tips of a site, and ``drafts``; cancelling keeps what is done.

        Raises:
            NotFound: the site has no such tips.  NoBrowser: none can be started.
        """
        statuses = (*TESTED, Status.DRAFT) if drafts else TESTED
        tips = await self._core.on_store(self._core.kb.tips, site=site, statuses=statuses)
        if not tips:
            raise NotFound(f"{site} has no tips to test")
        chosen = [tip for tip in tips if procedure_of(tip)]
        without = tuple(tip.id for tip in tips if not procedure_of(tip))

        async def work(job: Job) -> TipTests:
            tests: list[TipTest] = []
            async with self._browser(site) as browser:
                for number, tip in enumerate(chosen):
                    if job.cancel_requested:
                        break
                    job.advance(number, len(chosen), tip.text[:60])
                    done = await self._one_of_many(job, browser, tip)
                    if done.outcome or not job.cancel_requested:
                        tests.append(done)
            job.advance(len(tests), len(chosen), "")
            cancelled = job.cancel_requested and len(tests) < len(chosen)
            return TipTests(site=site, tests=tuple(tests), without_steps=without, cancelled=cancelled)

        _, task = self._core.registry.start(f"Test the tips of {site}", work)
        return await task

    async def tip_standing(self, tip: str, run: str = "") -> TipStanding:
        """Return a tip's steps, its last test and its record; the own vote is that in ``run``, or outside of runs."""

        def reading() -> TipStanding:
            stored, pieces = self._core.kb.get(tip), self._core.kb.evidence(tip)
            procedure, tests = procedure_of(stored), self._tests(stored)
            test = tests[-1] if tests else None
            given = [one for one in pieces if one.kind is EvidenceKind.VOTE]
            votes = {one.by: one.outcome for one in given}
            own = [one.outcome for one in given if one.by == self._core.kb.author and one.run == run]
            return TipStanding(
                tip=tip,
                steps=procedure.lines,
                never=procedure.never,
                unread=procedure.unread,
                outcome=test.outcome if test is not None else "",
                step=test.step if test is not None else 0,
                message=test.message if test is not None else "",
                tested_by=test.by if test is not None else "",
                tested_at=test.at if test is not None else 0.0,
                record=stored.record,
                votes={by: vote for by, vote in votes.items() if vote in (UP, DOWN)},
                own_vote=own[-1] if own else "",
            )

        return await self._core.on_store(reading)

    # inside

    def _prepared(self, tip: str, start_url: str) -> tuple[Tip, StartPage]:
        """Return a tip with its start page; store thread only."""
        stored = self._core.kb.get(tip)
        if not procedure_of(stored):
            raise UsageError(
                f"the tip {tip} has no steps", remedy="say in its 'do' what to press, fill or open"
            )
        if start_url:
            return stored, StartPage(url=checked_address(start_url), sure=True)
        step_url, home = self._known_pages(stored)
        hosts = [
            *self._core.kb.hosts().get(stored.site, ()),
            *self._core.workspace.sites.get(stored.site, ()),
        ]
        start = start_of(stored.scope, step_url, home, hosts)
        if start is None:
            raise UsageError("it is not known where the tip begins", remedy="give its page with --url")
        if not start.sure and self._has_worked(stored):
            start = StartPage(url=start.url, sure=True)
        return stored, start

    def _known_pages(self, tip: Tip) -> tuple[str, str]:
        """Return the address of the step the tip comes from, and the home of its site's map; "" for none."""
        workspace, source = self._core.workspace, tip.provenance
        step_url = home = ""
        if source.run and source.step is not None and workspace.runs.has(source.run):
            try:
                steps = workspace.runs.load(source.run)[1]
                step_url = steps[source.step].url if 0 <= source.step < len(steps) else ""
            except SiteloreError as error:
                log.warning("run %s can't be read for a test: %s", source.run, error)
        if tip.site in workspace.graph_sites():
            home = self._graph_cache.load_on_store(tip.site).graph.home
        row = workspace.site_store.rows.get(tip.site)
        return step_url, home or next(iter(row.starts if row is not None else ()), "")

    def _has_worked(self, tip: Tip) -> bool:
        """Whether a test of this content has done the first step."""
        return any(
            one.outcome in _WORKED or (one.outcome == TestOutcome.BROKE and one.step > 1)
            for one in self._tests(tip)
        )

    def _tests(self, tip: Tip) -> list[Evidence]:
        """Return the tests of the tip as it is now, whatever its status was, the oldest first."""
        key, kb = content_key(tip), self._core.kb
        same = {one.tip.revision for one in kb.history(tip.id) if content_key(one.tip) == key}
        return [one for one in kb.evidence(tip.id) if one.kind is EvidenceKind.TEST and one.revision in same]

    def _browser(self, site: str, headed: bool = False) -> ReadingBrowser:
        from app.engine.browser.reading_browser import ReadingBrowser

        return ReadingBrowser(settings.load().browser, headed=headed, storage_state=saved_login(site))

    async def _one_of_many(self, job: Job, browser: ReadingBrowser, tip: Tip) -> TipTest:
        try:
            stored, start = await self._core.on_store(self._prepared, tip.id, "")
        except (UsageError, NotFound) as error:
            return TipTest(tip=tip.id, revision=tip.revision, message=str(error))
        return await self._tested(job, browser, stored, start, {}, lambda number, total, line: None)

    async def _tested(
        self,
        job: Job,
        browser: ReadingBrowser,
        tip: Tip,
        start: StartPage,
        values: dict[str, str],
        tell: Tell,
    ) -> TipTest:
        """Do one test and keep its result."""
        async with browser.visit() as executor:
            test = ProcedureTest(
                executor=executor,
                procedure=procedure_of(tip),
                values=values,
                sure=start.sure,
                tell=tell,
                stop=lambda: job.cancel_requested,
            )
            result = await test.run(start.url)
        if result is None:
            return TipTest(tip=tip.id, revision=tip.revision, message="the test was cancelled", url=start.url)
        return await self._keep(tip, start, result)

    async def _keep(self, tip: Tip, start: StartPage, result: ProcedureTestResult) -> TipTest:
        """Store a result as evidence; a tip that people trust and that broke becomes suspect."""
        kb = self._core.kb

        def suspecting() -> bool:
            if kb.get(tip.id).revision != tip.revision:
                return False  # somebody changed it meanwhile
            kb.set_status([tip.id], Status.SUSPECT, why=result.message)
            return True

        await self._core.on_store(kb.add_evidence, [evidence_of(tip, result)])
        broke = result.outcome is TestOutcome.BROKE
        became_suspect = broke and tip.status in _TRUSTED and await self._core.do_in_kb(suspecting)
        self._core.bus.publish(KnowledgeChanged(tips=(tip.id,)))
        again = tip.status is Status.SUSPECT and result.outcome in _WORKED
        return TipTest(
            tip=tip.id,
            revision=tip.revision,
            outcome=result.outcome.value,
            step=result.step,
            message=result.message,
            url=start.url,
            seconds=result.seconds,
            steps=result.steps,
            became_suspect=became_suspect,
            offer="it holds again and is still suspect: make it active if that is right" if again else "",
        )


def evidence_of(tip: Tip, result: ProcedureTestResult) -> Evidence:
    """Return the evidence of a test."""
    return Evidence(
        tip=tip.id,
        revision=tip.revision,
        kind=EvidenceKind.TEST,
        outcome=result.outcome.value,
        step=result.step,
        message=f"{result.message} ({result.seconds:.1f} s)",
    )


def start_of(scope: Scope, step_url: str, home: str, hosts: Sequence[str]) -> StartPage | None:
    """Return the page to begin at, the first of: the scope's address, the tip's source, the map's home, the host."""
    known = [url for url in (home, step_url if _is_page(step_url) else "", *map(_of_host, hosts)) if url]
    path = scope.path
    if path and not any("*" in part for part in (path, scope.host, *scope.query)):
        query = "&".join(scope.query)
        host = scope.host or next((urlsplit(url).netloc for url in known), "")
        if host and all("=" in one for one in scope.query):
            scheme = next((urlsplit(url).scheme for url in known if urlsplit(url).netloc == host), "http")
            return StartPage(url=f"{scheme}://{host}{path}{f'?{query}' if query else ''}", sure=True)
    if _is_page(step_url):
        return StartPage(url=step_url, sure=False)
    if scope.host and "*" not in scope.host:
        known.append(f"http://{scope.host}/")
    start = home or next((url for url in known), "")
    return StartPage(url=start, sure=False) if start else None


def _is_page(url: str) -> bool:
    return url.startswith(("http://", "https://")) and MARK not in url


def _of_host(host: str) -> str:
    return "" if "*" in host else f"http://{host}/"
