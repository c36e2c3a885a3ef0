"""Runs of the embedded agent: checked, prepared, started, resumed, stopped."""

from __future__ import annotations

import os
import statistics
import time
import uuid
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from app import settings
from app.engine.agent.loop import AgentDependencies, AgentLoop
from app.engine.agent.memory.ledger_store import LedgerStore
from app.engine.agent.memory.rendering import facts_and_notes
from app.engine.agent.model.recording_model import is_exchange
from app.engine.agent.navigator import GlobalNavigator
from app.engine.agent.ports import ActionExecutor, AgentTask, StepReport
from app.engine.agent.secrets import Secrets, resolve_secrets
from app.engine.api.run_api import RunRequest, RunSummary
from app.engine.core.events import RunAdvanced, RunsChanged
from app.engine.core.trajectory import Outcome, Run, Step
from app.engine.detectors.runner import RuleRunner, context_of
from app.engine.jobs import Job
from app.engine.services.core import Core
from app.engine.services.graph_cache import GraphCache
from app.engine.services.graph_search import GraphSearchService
from app.engine.services.learnings import keep_learnings, load_ways
from app.engine.services.live_judging import open_live_judge
from app.engine.services.policy_factory import PolicyBundle, make_policy_bundle
from app.engine.services.prompts import run_prompts
from app.engine.services.retrieval import RetrievalService
from app.engine.services.review import ReviewService
from app.engine.services.run_evidence import RunEvidenceCapturer, TaskLookup
from app.engine.services.run_knowledge import RunGraphs, RunKnowledge
from app.engine.services.run_reader import RunReader
from app.engine.services.run_requests import (
    ANY_HOST,
    allowed_classes,
    allowed_hosts,
    kb_name,
    run_locale,
    run_timezone,
    visible_intent,
    with_checked_llm,
)
from app.engine.services.site_logins import saved_login
from app.engine.services.site_starts import learn_host, start_address
from app.engine.services.tip_evidence import keep_uses
from app.engine.store.run_writer import RunWriter, request_file
from app.errors import NotFound, SiteloreError

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.engine.browser.live_browser import LiveBrowser
    from app.engine.services.supervision.supervised_run import SupervisedRun

VIEWPORT = (1280, 800)


class StoredRunRecorder:
    """Writes a run and its exchanges with a model on the store thread (``app.engine.agent.ports.RunRecorder``)."""

    def __init__(self, core: Core, live: RunWriter, bundle: PolicyBundle) -> None:
        self._core, self._live, self._head = core, live, bundle
        self._exchanges: dict[str, bytes] = {}

    async def append(self, step: Step, blobs: Mapping[str, bytes]) -> None:
        """Store one step with its contents; it is on the disk when this returns."""
        kept = self._taken()
        step = replace(step, calls=tuple(dict.fromkeys((*step.calls, *_calls(kept)))))
        await self._core.on_store(self._live.append, step, {**blobs, **kept})
        self._exchanges.clear()

    async def finish(self, run: Run, blobs: Mapping[str, bytes]) -> None:
        """Store the end of the run."""
        kept = self._taken()
        run = replace(run, calls=tuple(dict.fromkeys((*run.calls, *_calls(kept)))))
        await self._core.on_store(self._live.finish, run, {**blobs, **kept})
        self._exchanges.clear()

    def _taken(self) -> dict[str, bytes]:
        """Return the exchanges that are not stored yet; those of an attempt that failed stay among them."""
        self._exchanges |= self._head.exchanges()
        return dict(self._exchanges)


def _calls(blobs: Mapping[str, bytes]) -> list[str]:
    """Return the exchanges among these, also those that no decision names: failed ones, the selector's."""
    return [digest for digest, data in blobs.items() if is_exchange(data)]


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedRun:
    """A run that is ready to start: ``take`` creates its folder, or reopens it."""

    run: str
    request: RunRequest
    secrets: Secrets
    bundle: PolicyBundle
    take: Callable[[], RunWriter]


class AgentRunService:
    """Starts runs, each as a job with a browser of its own."""

    def __init__(
        self,
        core: Core,
        graph_cache: GraphCache,
        finding: GraphSearchService,
        retrieval: RetrievalService,
        review: ReviewService,
        run_reader: RunReader,
        task_of: TaskLookup | None = None,
    ) -> None:
        self._core, self._graph_cache, self._finding = core, graph_cache, finding
        self._retrieval, self._review, self._run_reader = retrieval, review, run_reader
        self._task_of = task_of
        self._loops: dict[str, AgentLoop] = {}
        self._lifted: dict[str, Secrets] = {}

    async def run_task(self, request: RunRequest) -> RunSummary:
        """Do a task; return the summary when it is over.

        Raises:
            UsageError: an address, a host, a policy or a secret is invalid.
            NotFound: no such graph.  InputError: an unusable knowledge base or log-in.
            ModelError: the model's endpoint is not set.  NoBrowser: none can be started.
        """
        return await self.execute(await self.prepare(await self.validated(request)))

    async def resume_run(self, run: str) -> RunSummary:
        """Resume an interrupted run from its ledger and its last page."""
        return await self.execute(await self.prepare_resume(run))

    def _sites(self, request: RunRequest) -> tuple[str, ...]:
        """Return all sites of a task: that of its start, those of its other hosts and of its graphs."""
        site_of = self._core.workspace.site_of
        hosts = [f"http://{domain.removeprefix('*.')}/" for domain in request.domains if domain != ANY_HOST]
        sites = [request.site, *map(site_of, hosts), *request.graph]
        known = self._core.workspace.sites
        return tuple(dict.fromkeys(site for site in sites if site in known or site == request.site))

    async def validated(self, request: RunRequest) -> RunRequest:
        """Normalise and check a request, and everything it names; raises as ``run_task``.

        A mistake is found here, before a run is stored.
        """
        from app.engine.browser.live_browser import checked_login
        from app.engine.browser.page_setups import setup_script

        address = await start_address(self._core, request.start_url, request.site)
        site = request.site or self._core.workspace.site_of(address)
        request = replace(request, intent=visible_intent(request.intent), start_url=address, site=site)
        request = with_checked_llm(request)
        allowed_classes(request)
        resolve_secrets(request.intent, os.environ)
        allowed_hosts(request)
        setup_script(request.setup)
        for name in request.graph:
            await self._graph_cache.load(name)
        await RunKnowledge.open(self._retrieval, request.kb, request.site)
        await self._core.on_worker(checked_login, request.storage_state)
        await self._core.on_store(run_prompts, self._core.workspace, request)
        return request

    def remove_passwords(self, run: str, request: RunRequest) -> RunRequest:
        """Return the request without the passwords in its task: they stay in this process's memory.

        Call it before anything of a waiting run is stored.
        """
        intent, self._lifted[run] = resolve_secrets(request.intent, os.environ)
        return replace(request, intent=intent)

    def copy_passwords(self, of: str, run: str) -> None:
        """Give a run the passwords that were removed under another name."""
        if of in self._lifted:
            self._lifted[run] = self._lifted[of]

    async def prepare(self, request: RunRequest, run: str = "") -> PreparedRun:
        """Prepare a ``checked`` request; nothing is stored yet."""
        intent, secrets = resolve_secrets(request.intent, os.environ, self._lifted.get(run))
        request = replace(request, intent=intent)
        # Before anything is stored: there may be no model.  The key may come from a slow keyring.
        given = await self._core.on_store(run_prompts, self._core.workspace, request)
        bundle = await self._core.on_worker(make_policy_bundle, self._core, request, secrets, given)
        begun = Run(
            id=run or new_run_id(),
            source="sitelore",
            suite=request.suite,
            task_id=request.task_id,
            site=request.site,
            sites=(request.site,) if request.site else (),
            intent=intent,
            start_url=request.start_url,
            step_limit=request.max_steps,
            started_at=time.time(),
            policy=request.policy,
            model=bundle.model_name,
            knowledge=kb_name(request.kb),
            graph=", ".join(request.graph),
            prompts=given.prompts.versions() if given is not None else (),
            actions=given.actions_version if given is not None else None,
        )
        texts = given.prompts.blobs() if given is not None else {}

        def take() -> RunWriter:
            return RunWriter.begin(self._core.workspace, begun, request_file(request), texts)

        return PreparedRun(run=begun.id, request=request, secrets=secrets, bundle=bundle, take=take)

    async def prepare_resume(self, run: str) -> PreparedRun:
        """Prepare an interrupted run.

        Raises:
            NotFound: there is none, or it was not made here.  StoreError: its files are damaged.
        """
        request = await self._run_reader.request_of(run)
        intent, secrets = resolve_secrets(request.intent, os.environ, self._lifted.get(run))
        request = replace(request, intent=intent)
        given = await self._core.on_store(run_prompts, self._core.workspace, request, run)
        bundle = await self._core.on_worker(make_policy_bundle, self._core, request, secrets, given)

        def take() -> RunWriter:
            return RunWriter.resume(self._core.workspace, run)

        return PreparedRun(run=run, request=request, secrets=secrets, bundle=bundle, take=take)

    async def stop_run(self, run: str) -> None:
        """End a run after the step in flight."""
        loop = self._loops.get(run)
        if loop is None:
            raise NotFound(f"run {run} is not active in this process")
        loop.stop()

    # inside

    async def execute(self, prepared: PreparedRun, supervisor: SupervisedRun | None = None) -> RunSummary:
        """Do a prepared run as a job, supervised or not."""

        async def work(job: Job) -> RunSummary:
            live = await self._core.on_store(prepared.take)
            why = ""
            try:
                if supervisor is not None:
                    supervisor.on_started(live)
                return await self._go(prepared, live, job, supervisor)
            except SiteloreError as error:
                why = prepared.secrets.mask(str(error))
                raise
            finally:
                self._loops.pop(live.run.id, None)
                await self._core.on_store(live.close, why)
                self._core.bus.publish(RunsChanged(runs=(live.run.id,)))

        _, task = self._core.registry.start(f"Run: {prepared.request.intent[:60]}", work, cooperative=False)
        return await task

    async def _go(
        self, prepared: PreparedRun, live: RunWriter, job: Job, supervisor: SupervisedRun | None
    ) -> RunSummary:
        began = time.monotonic()
        request, bundle = prepared.request, prepared.bundle
        async with AsyncExitStack() as stack:
            stack.push_async_callback(bundle.aclose)
            job.advance(len(live.steps), request.max_steps, "starting the browser")
            browser = await stack.enter_async_context(await self._browser(request))
            book = stack.enter_context(LedgerStore.open(live.folder))
            evidence = await self._evidence(prepared, live, browser)
            stack.callback(evidence.close)
            loop = await self._loop(prepared, live, browser, book, job, supervisor, evidence)
            self._loops[live.run.id] = loop
            self._publish(live.run, Outcome.RUNNING.value)
            try:
                run = await loop.run()
            finally:
                if supervisor is not None:
                    await supervisor.on_loop_ended()
            facts = facts_and_notes(book.ledger)
            usage = bundle.usage()
        await keep_uses(self._core, run.id, live.steps)
        if live.steps:
            await learn_host(self._core, request.site, request.start_url)
        await keep_learnings(self._core, run, live.steps, request.kb, bundle.learned())
        flags = await self._review.detect([run.id])
        self._publish(run, run.outcome.value)
        return RunSummary(
            run=run.id,
            outcome=run.outcome.value,
            answer=run.answer,
            error=run.error,
            steps=run.step_count,
            seconds=round(time.monotonic() - began, 2),
            own_ms=round(statistics.median(loop.timing.own or [0.0]) * 1000, 2),
            policy=request.policy,
            url=run.final.url if run.final is not None else "",
            flags=tuple(dict.fromkeys(flag.detector for flag in flags)),
            tips=tuple(await self._run_reader.tip_uses(live.steps)),
            usage=usage,
            facts=facts,
            ended_by=run.ended_by,
            cost=run.cost,
            tokens=loop.tokens,
        )

    async def _browser(self, request: RunRequest) -> LiveBrowser:
        from app.engine.browser.live_browser import LiveBrowser

        login = request.storage_state or (saved_login(request.site) if request.site else "")
        return await LiveBrowser.open(
            settings.load().browser,
            headed=request.headed,
            storage_state=login,
            size=VIEWPORT,
            timezone=run_timezone(request),
            locale=run_locale(request),
            keep_tabs=True,
        )

    async def _evidence(
        self, prepared: PreparedRun, live: RunWriter, browser: LiveBrowser
    ) -> RunEvidenceCapturer:
        from app.engine.browser.page_setups import apply_setup

        await apply_setup(browser.session, prepared.request.setup)
        return await RunEvidenceCapturer.open(
            self._core,
            browser.session,
            prepared.request,
            prepared.secrets,
            self._task_of,
            resumed=bool(live.steps),
        )

    async def _loop(
        self,
        prepared: PreparedRun,
        live: RunWriter,
        browser: LiveBrowser,
        book: LedgerStore,
        job: Job,
        supervisor: SupervisedRun | None,
        evidence: RunEvidenceCapturer,
    ) -> AgentLoop:
        from app.engine.agent.action_dispatcher import ActionDispatcher
        from app.engine.agent.calculator import calculate
        from app.engine.browser.executor import Executor
        from app.engine.browser.network.write_guard import WriteGuard

        request, bundle, secrets = prepared.request, prepared.bundle, prepared.secrets
        secrets.hosts = domains = allowed_hosts(request)
        knowledge = await RunKnowledge.open(
            self._retrieval, request.kb, request.site, self._sites(request), request.tip_budget
        )
        graphs = await RunGraphs.open(
            self._graph_cache, self._finding, browser.session, request.graph, bundle.candidates
        )
        navigator = GlobalNavigator(graphs, bundle.choose) if request.graph else None
        guard = WriteGuard(hosts=domains)
        await guard.watch(browser.session)  # before the first page: sockets of pages that stand are not seen
        ways = await load_ways(self._core, request.kb)
        bundle.take_ways(ways)
        executor = Executor(
            browser.session, domains=domains, files=live.folder / "files", guard=guard, ways=ways
        )
        hands: ActionExecutor = executor
        if supervisor is not None:
            hands = supervisor.make_executor(executor, browser, graphs, bundle, book, secrets)
        task = AgentTask(
            run=live.run.id,
            intent=request.intent,
            start_url=request.start_url,
            home=graphs.domains()[0].home if request.graph else "",
            site=request.site,
            domains=domains,
            max_steps=request.max_steps,
            timezone=run_timezone(request),
            locale=run_locale(request),
        )

        def tell(told: StepReport) -> None:
            job.advance(told.step + 1, request.max_steps, told.words)
            self._publish(live.run, Outcome.RUNNING.value, told)
            if supervisor is not None:
                supervisor.on_step(told)

        bundle.attach(browser.session, self._core.registry.hold)
        parts = AgentDependencies(
            executor=hands,
            policy=bundle.policy,
            ledger_store=book,
            recorder=StoredRunRecorder(self._core, live, bundle),
            dispatcher=ActionDispatcher(
                executor=hands,
                ledger_store=book,
                evaluate=calculate,
                navigator=navigator,
                marks=bundle.marks,
                secrets=secrets,
            ),
            knowledge=knowledge,
            navigator=navigator,
            detectors=await self._watch(live, request, domains),
            judge=await open_live_judge(self._core, live, request, bundle, secrets),
            secrets=secrets,
            on_step=tell,
            allow=allowed_classes(request),
            on_flags=supervisor.on_flags if supervisor is not None else None,
            cost=bundle.cost,
            tokens=bundle.tokens,
            evidence=evidence,
            more_budget=supervisor.on_out_of_budget if supervisor is not None else None,
            **({"control": supervisor.control} if supervisor is not None else {}),
        )
        loop = AgentLoop(task, parts, live.run, live.steps)
        if supervisor is not None:
            supervisor.on_loop_ready(loop, book, knowledge)
        return loop

    async def _watch(self, live: RunWriter, request: RunRequest, domains: frozenset[str]) -> RuleRunner:
        lengths = await self._core.on_store(self._core.workspace.index.site_lengths)
        # A resumed run is among them itself, as short as it was when it was interrupted.
        usual = lengths.get(request.site) if not live.steps else None
        return RuleRunner(context_of(live.run, usual, domains or None))

    def _publish(self, run: Run, state: str, told: StepReport | None = None) -> None:
        event = RunAdvanced(run=run.id, intent=run.intent, state=state, step=run.step_count, why=run.error)
        if told is not None:
            event = replace(
                event,
                step=told.step,
                words=told.words,
                effect=told.effect,
                why=told.why,
                url=told.url,
                plan=told.plan,
                flags=tuple(flag.detector for flag in told.flags),
            )
        self._core.bus.publish(event)


def new_run_id() -> str:
    """Return a new id; ids sort by time."""
    return f"{time.strftime('%Y%m%d-%H%M%S', time.gmtime())}-{uuid.uuid4().hex[:6]}"
