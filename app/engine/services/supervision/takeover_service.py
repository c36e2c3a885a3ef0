"""Takeover of a run's page: take over, operate, hand back, and end a run by hand."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from urllib.parse import urlsplit

from app.engine.core.addresses import is_on_any_host
from app.engine.core.hand_back import ENDING_ACTIONS, HAND_BACK, HandBack, HandBackKind
from app.engine.core.page_input import NavigationKind, PageInput
from app.engine.core.supervision import (
    ApprovalRequest,
    DecisionKind,
    Need,
    OperatorAction,
    OperatorDecision,
    RunState,
    TakeoverSummary,
)
from app.engine.core.trajectory import Outcome
from app.engine.services.agent_runs import allowed_hosts
from app.engine.services.core import Core
from app.engine.services.run_reader import RunReader
from app.engine.services.supervision.approvals import ApprovalService
from app.engine.services.supervision.fleet import Fleet
from app.engine.services.supervision.supervised_run import SupervisedRun, ended_by_hand_text
from app.engine.store.supervision.json_rows import check_length, from_json, to_json
from app.errors import Conflict, SiteloreError, UsageError

log = logging.getLogger(__name__)

BROWSER_TIMEOUT = 60.0
"""Seconds that a takeover waits for the browser of a starting run."""

HAND_BACK_COMMAND = "hand back"
"""Name of the command by which another process asks for it."""


class TakeoverService:
    """Takeovers of live runs."""

    def __init__(self, core: Core, desk: ApprovalService, fleet: Fleet, reading: RunReader) -> None:
        self._core, self._desk, self._fleet, self._reading = core, desk, fleet, reading
        fleet.remote_handlers[HAND_BACK_COMMAND] = self._grant

    async def take_over(self, run: str) -> None:
        """Give the page to the operator."""
        found = self._fleet.going(run)
        with suppress(TimeoutError):  # the browser of a run that is starting comes in a moment
            await asyncio.wait_for(found.page.there.wait(), BROWSER_TIMEOUT)
        held = found.control.state.held
        await found.page.take_over(found)
        await self._fleet.did(found, OperatorAction.TOOK_OVER, reacting=held)

    async def send_input(self, run: str, inputs: Sequence[PageInput]) -> None:
        """Forward mouse and keyboard input to the page."""
        await self._fleet.known(run).page.input(inputs)

    async def move_page(self, run: str, move: NavigationKind, url: str = "") -> str:
        """Open an address (or the start page), go back, forward, or reload; needs a takeover.

        An operator may leave the run's sites: the returned sentence says so, and nothing prevents it.

        Returns:
            One sentence for the operator, "" for none.

        Raises:
            Conflict: the page is not taken over.  UsageError: not the address of a page.
        """
        found = self._fleet.known(run)
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
        found = self._fleet.known(run)
        state = found.snapshot().state
        if state is RunState.INTERRUPTED and back.ends:
            return await self._end_broken_off(found, back)
        if found.page.taken_over or state is RunState.TAKEN_OVER or back.how is HandBackKind.GO_ON:
            return await self._with_the_page(found, back)
        if not state.held:
            raise Conflict(f"the run is {state.value}: pause it or take it over first")
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

    # ------------------------------------------------------------ inside

    def _checked(self, back: HandBack) -> HandBack:
        answer = check_length(back.answer, "the answer").strip() if back.how is HandBackKind.ANSWER else ""
        if back.how is HandBackKind.ANSWER and not answer:
            raise UsageError("the answer is empty", remedy="say 'finished' for a task without an answer")
        return replace(back, answer=answer, author=back.author or self._core.author)

    async def _with_the_page(self, found: SupervisedRun, back: HandBack) -> TakeoverSummary:
        wall = self._wall(found) if back.how is HandBackKind.NO_WALL else None

        async def then(account: TakeoverSummary) -> None:
            step = account.first_step + account.steps
            if back.ends:
                await self._desk.note(
                    found.run, step, OperatorAction.RELEASED, account.words, author=back.author
                )
                await self._say_end(found, back, step)
                return
            if wall is not None:
                with suppress(Conflict):  # decided elsewhere meanwhile
                    await self._no_wall(found, wall, back.author)
            await found.control.release(account)
            await self._desk.note(found.run, step, OperatorAction.RELEASED, account.words, author=back.author)

        return await found.page.release(found, then)

    async def _say_end(self, found: SupervisedRun, back: HandBack, step: int) -> None:
        """End a run by hand; the row comes first, so that a crash after it still closes the run."""
        await self._desk.note(found.run, step, ENDING_ACTIONS[back.how], back.answer, author=back.author)
        found.control.finish_by_hand(back)

    def _wall(self, found: SupervisedRun) -> ApprovalRequest:
        wall = next((need for need in found.control.needs if need.need is Need.WALL), None)
        if wall is None:
            raise Conflict("the run is not blocked by a log-in or captcha")
        return wall

    async def _no_wall(self, found: SupervisedRun, wall: ApprovalRequest, author: str) -> None:
        await self._desk.decide(wall.id, OperatorDecision(verb=DecisionKind.NO_WALL, author=author))
        found.control.no_walls.add(wall.wall)

    async def _end_broken_off(self, found: SupervisedRun, back: HandBack) -> TakeoverSummary:
        await self._desk.note(
            found.run, found.row.step, ENDING_ACTIONS[back.how], back.answer, author=back.author
        )
        await self._reading.end_interrupted(found.run, back)
        answer = back.answer if back.how is HandBackKind.ANSWER else None
        outcome = Outcome.DONE_BY_HAND if answer is None else Outcome.ANSWERED
        why = ended_by_hand_text(back.author, answer)
        found.show(state=RunState.ENDED, outcome=outcome.value, needs=(), why=why)
        await self._fleet.void_requests(found.run, "the run was finished by hand")
        return _empty_summary(found.run, found.row.step, "")

    async def _grant(self, run: str, words: str) -> None:
        back = from_json(HandBack, words, "a wish to hand back")
        if back is not None:
            await self.release(run, back)


def _empty_summary(run: str, step: int, words: str) -> TakeoverSummary:
    return TakeoverSummary(run=run, first_step=step, steps=0, words=words)
