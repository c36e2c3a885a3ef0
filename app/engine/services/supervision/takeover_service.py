"""Takeover of a run's page: take over, operate, hand back, and end a run by hand."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from urllib.parse import urlsplit

from app.engine.core.addresses import is_on_any_host
from app.engine.core.hand_back import ENDING_ACTIONS, HAND_BACK, HandBack, HandBackKind
from app.engine.core.labels import state_label
from app.engine.core.page_input import NavigationKind, PageInput
from app.engine.core.request_groups import is_login_wall
from app.engine.core.supervision import (
    ApprovalRequest,
    DecisionKind,
    Need,
    OperatorAction,
    OperatorDecision,
    RunState,
    TakeoverSummary,
)
from app.engine.core.trajectory import BY_PERSON, Outcome, Step
from app.engine.graph.explore.exploration_store import ExplorationStore
from app.engine.jobs import Job
from app.engine.services.core import Core
from app.engine.services.exploration import ExplorationService
from app.engine.services.graph_recording import StoredGraphRecorder
from app.engine.services.run_reader import RunReader
from app.engine.services.run_requests import allowed_hosts
from app.engine.services.supervision.approvals import ApprovalService
from app.engine.services.supervision.fleet import Fleet
from app.engine.services.supervision.login_sharing import LoginSharing
from app.engine.services.supervision.supervised_run import SupervisedRun, ended_by_hand_text
from app.engine.services.tip_drafting import draft_tip
from app.engine.store.supervision.json_rows import check_length, from_json, to_json
from app.errors import Conflict, NotFound, SiteloreError, UsageError
from kb.tip import TipDraft

log = logging.getLogger(__name__)

BROWSER_TIMEOUT = 60.0
"""Seconds that a takeover waits for the browser of a starting run."""

HAND_BACK_COMMAND = "hand back"
"""Name of the command by which another process asks for it."""


class TakeoverService:
    """Takeovers of live runs.

    Attributes:
        logins: shares the log-ins that are made in them.
    """

    def __init__(
        self,
        core: Core,
        approvals: ApprovalService,
        fleet: Fleet,
        run_reader: RunReader,
        exploration: ExplorationService,
    ) -> None:
        self._core, self._approvals, self._fleet = core, approvals, fleet
        self._run_reader, self._exploration = run_reader, exploration
        self.logins = LoginSharing(core, approvals, fleet)
        fleet.remote_handlers[HAND_BACK_COMMAND] = self._grant

    async def take_over(self, run: str) -> None:
        """Give the page to the operator."""
        found = self._fleet.get_active(run)
        with suppress(TimeoutError):  # the browser of a run that is starting comes in a moment
            await asyncio.wait_for(found.page.available.wait(), BROWSER_TIMEOUT)
        held = found.row.state.held
        await found.page.take_over(found.control)
        await self._fleet.record(found, OperatorAction.TOOK_OVER, reacting=held)

    async def send_input(self, run: str, inputs: Sequence[PageInput]) -> None:
        """Forward mouse and keyboard input to the page."""
        await self._fleet.get(run).page.input(inputs)

    async def move_page(self, run: str, move: NavigationKind, url: str = "") -> str:
        """Open an address (or the start page), go back, forward, or reload; needs a takeover.

        An operator may leave the run's sites: the returned sentence says so, and nothing prevents it.

        Returns:
            One sentence for the operator, "" for none.

        Raises:
            Conflict: the page is not taken over.  UsageError: not the address of a page.
        """
        found = self._fleet.get(run)
        said, now = await found.page.move(
            move, found.request.start_url if move is NavigationKind.START else url
        )
        sites = allowed_hosts(found.request)
        if said or not sites or not now.startswith(("http://", "https://")) or is_on_any_host(now, sites):
            return said
        host, theirs = urlsplit(now).netloc.rpartition("@")[2], ", ".join(sorted(sites))
        return f"{host} is not one of this run's sites ({theirs}); handed back, the agent goes back to them"

    async def release(self, run: str, back: HandBack = HAND_BACK) -> TakeoverSummary:
        """Hand a run back to the agent, or end it as finished by hand or with the operator's answer.

        To continue, the page has to be taken over.  To end a run, or to dismiss its wall, it is enough that the run
        is held: paused, waiting or taken over; an interrupted run can be ended too.  The statement is stored before
        it counts.

        Raises:
            UsageError: the answer is empty or too long.
            Conflict: the run is not held; it waits at no wall; it is over.
        """
        back = self._checked(back)
        if await self._fleet.forward_if_remote(run, HAND_BACK_COMMAND, to_json(back)):
            return _empty_summary(run, 0, "the process that works on the run was asked")
        found = self._fleet.get(run)
        state = found.row.state
        if state is RunState.INTERRUPTED and back.ends:
            return await self._end_broken_off(found, back)
        if found.page.taken_over or state is RunState.TAKEN_OVER or back.how is HandBackKind.GO_ON:
            return await self._with_the_page(found, back)
        if state is RunState.QUEUED:
            raise Conflict("the run has not started, so there is nothing to hand back; end or dismiss it")
        if not state.held:
            label = state_label(found.snapshot())
            raise Conflict(f"nobody holds the run ({label}): pause it or take it over first")
        if back.how is HandBackKind.NO_WALL:
            await self._no_wall(found, self._wall(found), back.author)
        else:
            await self._say_end(found, back, found.row.step)
        return _empty_summary(run, found.row.step, "")

    async def on_clients_gone(self) -> None:
        """Hand back all pages and pause their runs: the last client is gone."""
        for found in self._fleet.all:
            await found.page.watch(0, 0, 0.0)
            if found.page.taken_over:
                try:
                    await self.release(found.run)
                    found.control.pause("the window was closed during a takeover", author="watchdog")
                except SiteloreError as error:
                    log.warning("run %s could not be handed back: %s", found.run, error)

    async def draft_tip_from_takeover(self, run: str, step: int) -> TipDraft:
        """Draft a tip with steps from what the operator did from ``step`` on, in the names of controls, never in
        the page's words.

        Raises:
            NotFound: nothing was done by hand at this step.
        """
        from app.engine.agent.takeover.procedure_draft import draft_procedure
        from app.engine.agent.takeover.summary import tip_text

        def drafting() -> TipDraft:
            workspace = self._core.workspace
            loaded, steps = workspace.runs.load(run)
            by_hand = _leading_operator_steps(steps[step:])
            if not by_hand:
                raise NotFound(f"nothing was done by hand at step {step} of run {run}")
            site = loaded.site or workspace.site_of(by_hand[0].url)
            draft = draft_tip(loaded, by_hand[0], (), site, self._core.author, "")
            steps_of_tip = draft_procedure(by_hand, loaded.intent)
            return replace(draft, text=tip_text(by_hand) or draft.text, procedure=steps_of_tip)

        return await self._core.on_store(drafting)

    async def takeover_to_graph(self, run: str, step: int) -> int:
        """Add the run's last takeover to its site's graph; return the number of transitions.

        Raises:
            Conflict: its pages are no longer in memory, or the run's site has no name.
        """
        from app.engine.agent.takeover.graph_path import add_to_graph

        found = self._fleet.find(run)
        path = found.page.path if found is not None else None
        if found is None or path is None or not path.steps:
            raise Conflict(
                "the pages of this takeover are no longer in memory; build the map from the run instead"
            )
        site = found.request.site
        if not site:
            raise Conflict("the site has no name; explore it once, or give the run a site")
        home = found.page.home

        async def work(job: Job) -> int:
            job.advance(0, len(path.steps), "the takeover")
            recorder = StoredGraphRecorder(self._core, site)
            await _ensure_home(recorder, home)
            return await add_to_graph(path, recorder, home)

        return await self._exploration.alone(site, f"Put a takeover into the map of {site}", work)

    # ------------------------------------------------------------ inside

    def _checked(self, back: HandBack) -> HandBack:
        answer = check_length(back.answer, "the answer").strip() if back.how is HandBackKind.ANSWER else ""
        if back.how is HandBackKind.ANSWER and not answer:
            raise UsageError("the answer is empty", remedy="say 'finished' for a task without an answer")
        return replace(back, answer=answer, author=back.author or self._core.author)

    async def _with_the_page(self, found: SupervisedRun, back: HandBack) -> TakeoverSummary:
        wall = self._wall(found) if back.how is HandBackKind.NO_WALL else None
        blocked = next(filter(is_login_wall, found.control.needs), None) if wall is None else None

        async def then(account: TakeoverSummary) -> None:
            step = account.first_step + account.steps
            made = await self.logins.made_at(found, blocked)
            if made is not None:
                self._core.registry.hold(self.logins.share(made))
            if back.ends:
                await self._approvals.note(
                    found.run, step, OperatorAction.RELEASED, account.words, author=back.author
                )
                await self._say_end(found, back, step)
                return
            if wall is not None:
                with suppress(Conflict):  # decided elsewhere meanwhile
                    await self._no_wall(found, wall, back.author)
            await found.control.release(account)
            await self._approvals.note(
                found.run, step, OperatorAction.RELEASED, account.words, author=back.author
            )

        return await found.page.release(found.control, then)

    async def _say_end(self, found: SupervisedRun, back: HandBack, step: int) -> None:
        """End a run by hand; the row comes first, so that a crash after it still closes the run."""
        await self._approvals.note(found.run, step, ENDING_ACTIONS[back.how], back.answer, author=back.author)
        found.control.finish_by_hand(back)

    def _wall(self, found: SupervisedRun) -> ApprovalRequest:
        wall = next((need for need in found.row.needs if need.need is Need.WALL), None)
        if wall is None:
            raise Conflict("the run is not blocked by a log-in or captcha")
        return wall

    async def _no_wall(self, found: SupervisedRun, wall: ApprovalRequest, author: str) -> None:
        await self._approvals.decide(wall.id, OperatorDecision(kind=DecisionKind.NO_WALL, author=author))
        found.control.no_walls.add(wall.wall)

    async def _end_broken_off(self, found: SupervisedRun, back: HandBack) -> TakeoverSummary:
        await self._approvals.note(
            found.run, found.row.step, ENDING_ACTIONS[back.how], back.answer, author=back.author
        )
        await self._run_reader.end_interrupted(found.run, back)
        answer = back.answer if back.how is HandBackKind.ANSWER else None
        outcome = Outcome.DONE_BY_HAND if answer is None else Outcome.ANSWERED
        why = ended_by_hand_text(back.author, answer)
        found.update(state=RunState.ENDED, outcome=outcome.value, needs=(), why=why, ended_by=back.author)
        await self._fleet.void_requests(found.run, "the run was finished by hand")
        return _empty_summary(found.run, found.row.step, "")

    async def _grant(self, run: str, words: str) -> None:
        back = from_json(HandBack, words, "a wish to hand back")
        if back is not None:
            await self.release(run, back)


def _empty_summary(run: str, step: int, words: str) -> TakeoverSummary:
    return TakeoverSummary(run=run, first_step=step, steps=0, words=words)


async def _ensure_home(recorder: ExplorationStore, home: str) -> None:
    """Give a graph without a home page one."""
    if not (await recorder.memory()).home:
        now = time.time()
        number = await recorder.begin(home, {"by": "takeover"}, now)
        await recorder.end(number, "done", now, ())


def _leading_operator_steps(steps: list[Step] | tuple[Step, ...]) -> list[Step]:
    """Return the leading steps that a person did."""
    found: list[Step] = []
    for step in steps:
        if step.by != BY_PERSON:
            break
        found.append(step)
    return found
