"""Approval requests, hints and the time line of supervised runs: rows, waiters and events kept in step.

Another process (the command line) may decide, hint or send a command at any time: ``listen`` polls the file.
"""

from __future__ import annotations

import asyncio
import logging
import time
import uuid
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import replace

from app.engine.agent.run_control import POLICY, WATCHDOG
from app.engine.api.run_rows import RunFilter
from app.engine.core.events import Event, HintChanged, InterventionMade, PolicyChanged, RequestChanged
from app.engine.core.hand_back import OperatorStatements
from app.engine.core.intervention_policy import (
    InterventionPolicy,
    PolicyAnswer,
    PolicyPreview,
    Reaction,
    RiskClass,
)
from app.engine.core.supervision import (
    ApprovalRequest,
    ApprovalScope,
    DecisionKind,
    FlagReaction,
    Hint,
    Intervention,
    Need,
    OperatorAction,
    OperatorDecision,
    RequestState,
)
from app.engine.core.verdicts import Flag
from app.engine.detectors.policy_preview import PreviewRun, preview
from app.engine.detectors.scorecard import reactions_of
from app.engine.services.core import Core
from app.engine.services.tip_drafting import draft_tip
from app.engine.store.supervision.supervision_state import RemoteCommand
from app.engine.store.supervision.supervision_store import check_decision
from app.errors import Conflict, NotFound, SiteloreError, StoreError
from kb.tip import TipDraft

log = logging.getLogger(__name__)

Learn = Callable[[Sequence[str]], Awaitable[None]]
"""Refits the ranking after reactions to flags of these runs."""

POLL_INTERVAL = 0.5
"""Seconds between two polls for writes of another process."""

AGENT = "agent"
"""Author of the questions a run asks by itself; it is no person, like ``POLICY`` and ``WATCHDOG``."""
ASKED_BY = {Need.WALL: AGENT, Need.QUESTION: AGENT, Need.TROUBLE: WATCHDOG}
"""Author of a request on the time line; the policy for other needs."""

_ACTIONS = {
    DecisionKind.APPROVE: OperatorAction.APPROVED,
    DecisionKind.DENY: OperatorAction.DENIED,
    DecisionKind.EDIT: OperatorAction.EDITED,
    DecisionKind.ANSWER: OperatorAction.ANSWERED,
    DecisionKind.RETRY: OperatorAction.RESUMED,
    DecisionKind.NO_WALL: OperatorAction.NO_WALL,
}


class ApprovalService:
    """Requests, hints, operator actions and the intervention policy of an open workspace.

    The agent's side of it is ``app.engine.agent.ports.Approvals``: a run's control asks and is answered here.
    """

    def __init__(self, core: Core, learn: Learn) -> None:
        self._core, self._learn = core, learn
        self._rows = core.workspace.supervision
        self._held: dict[str, ApprovalRequest] = {}
        """Requests that the disk did not take, until they are closed; every method answers for them as for a row."""
        self._decided: dict[str, asyncio.Event] = {}
        self._policy: InterventionPolicy | None = None
        self._version: int | None = None
        core.bus.subscribe(self._heard)

    # requests

    async def open(self, request: ApprovalRequest) -> ApprovalRequest:
        """Store a new request and announce it; one that the disk does not take is held in memory."""
        try:
            await self._core.on_store(self._rows.open_request, request)
        except StoreError as error:
            log.warning("request %s of run %s is held in memory: %s", request.id, request.run, error)
            self._held[request.id] = request
        self._core.bus.publish(RequestChanged(request=request))
        author = ASKED_BY.get(request.need, POLICY)
        await self.note(
            request.run, request.step, OperatorAction.ASKED, request.question, about=request.id, author=author
        )
        return request

    async def request(self, request: str) -> ApprovalRequest:
        """Return a request as it stands.  Raises ``NotFound``."""
        return self._held.get(request) or await self._core.on_store(self._rows.request, request)

    async def requests(self, run: str = "", closed: bool = False) -> list[ApprovalRequest]:
        """Return the requests of a run or of all, oldest first; closed ones only if asked for."""
        rows = await self._core.on_store(self._rows.requests, run, closed)
        return [*rows, *(held for held in self._held.values() if run in ("", held.run))]

    async def decision(self, request: str) -> OperatorDecision:
        """Wait until a request is decided; where it can't be read, until it can.

        Raises:
            NotFound: no such request.  Conflict: it was closed without a decision.
        """
        woken = self._decided.setdefault(request, asyncio.Event())
        try:
            while True:
                woken.clear()
                with suppress(StoreError):
                    found = await self.request(request)
                    if found.decision is not None:
                        return found.decision
                    if found.state is RequestState.CLOSED:
                        raise Conflict(f"request {request} is closed: {found.void}")
                await woken.wait()
        finally:
            self._decided.pop(request, None)

    async def decide(self, request: str, decision: OperatorDecision) -> ApprovalRequest:
        """Decide a request; a wider scope applies to all actions of its kind from now on.

        Raises:
            NotFound, Conflict, UsageError: as ``SupervisionStore.decide``.
        """
        decision = replace(
            decision, author=decision.author or self._core.author, at=decision.at or time.time()
        )
        held, for_site = self._held.get(request), decision.scope is ApprovalScope.SITE
        if held is not None:
            check_decision(held, decision)
            found = self._held[request] = replace(held, state=RequestState.DECIDED, decision=decision)
        else:
            doing = self._core.do_in_review if for_site else self._core.on_store
            found = await doing(self._rows.decide, request, decision)
            if for_site:
                self._core.bus.publish(PolicyChanged())  # it is a rule of the policy now
        self._announce(found)
        reach = f" ({decision.scope.value})" if decision.scope is not ApprovalScope.ONCE else ""
        words = f"{decision.text or decision.call or found.words or found.question}{reach}"
        await self.note(
            found.run, found.step, _ACTIONS[decision.kind], words, about=found.id, author=decision.author
        )
        return found

    async def void(self, request: str, why: str) -> None:
        """Close a request that nothing waits for any more."""
        held = self._held.pop(request, None)
        if held is not None:
            self._announce(replace(held, state=RequestState.CLOSED, closed_at=time.time(), void=why))
        else:
            self._announce(await self._core.on_store(self._rows.void_request, request, why))

    async def on_step_started(self, run: str) -> None:
        """Close the run's decided requests and mark its hints as given: the step that follows them has begun."""

        def closing() -> tuple[list[ApprovalRequest], list[Hint]]:
            now = time.time()
            decided = [one.id for one in self._rows.requests(run) if one.state is RequestState.DECIDED]
            closed = self._rows.close_requests(decided, now) if decided else []
            waiting = [hint for hint in self._rows.hints(run) if not hint.taken_at]
            return closed, self._rows.take_hints(run, now) if waiting else []

        closed, taken = await self._core.on_store(closing)
        for held in [one for one in self._held.values() if one.run == run and one.decision is not None]:
            closed.append(replace(self._held.pop(held.id), state=RequestState.CLOSED, closed_at=time.time()))
        for request in closed:
            self._core.bus.publish(RequestChanged(request=request))
        for hint in taken:
            self._core.bus.publish(HintChanged(hint=hint))

    async def statements(self, run: str) -> OperatorStatements:
        """Return the operator's statements about a run as a whole: dismissed walls, and its end."""
        return await self._core.on_store(self._rows.statements, run)

    # hints

    async def send_hint(
        self, run: str, step: int, text: str, author: str = "", flags: Sequence[Flag] = ()
    ) -> Hint:
        """Send a hint to a run.  Raises ``UsageError`` for an empty or too long text."""
        hint = Hint(
            id=f"hint-{uuid.uuid4().hex[:10]}", run=run, step=step, text=text.strip(),
            author=author or self._core.author, at=time.time(),
        )  # fmt: skip
        hint = await self._core.on_store(self._rows.add_hint, hint)
        self._core.bus.publish(HintChanged(hint=hint))
        await self.note(
            run, step, OperatorAction.HINTED, hint.text, about=hint.id, author=hint.author, flags=flags
        )
        return hint

    async def hints(self, run: str) -> list[Hint]:
        """Return a run's hints, oldest first."""
        return await self._core.on_store(self._rows.hints, run)

    async def hint(self, hint: str) -> Hint:
        """Return a hint by its id.  Raises ``NotFound``."""
        found = next((one for one in await self.hints("") if one.id == hint), None)
        if found is None:
            raise NotFound(f"no hint {hint[:80]!r} in this workspace")
        return found

    # operator actions and reactions

    async def note(
        self,
        run: str,
        step: int,
        action: OperatorAction,
        words: str = "",
        about: str = "",
        author: str = "",
        flags: Sequence[Flag] = (),
    ) -> list[FlagReaction]:
        """Add an action to the time line, with the reactions to flags that it implies.

        Where the disk takes no rows, the action is published and logged only.
        """
        author = author or self._core.author
        made = Intervention(
            run=run, step=step, action=action, words=words, author=author, about=about, at=time.time()
        )
        reactions = reactions_of(made, flags)

        def keeping() -> Intervention:
            for reaction in reactions:
                self._rows.add_reaction(reaction)
            return self._rows.add_action(made)

        try:
            made = await self._core.on_store(keeping)
        except StoreError as error:
            log.warning("%s of run %s is missing from its time line: %s", action.value, run, error)
        self._core.bus.publish(InterventionMade(intervention=made))
        if reactions:
            await self._learn((run,))
        return reactions

    async def interventions(self, run: str) -> list[Intervention]:
        """Return the time line of a run."""
        return await self._core.on_store(self._rows.interventions, run)

    # the policy

    async def intervention_policy(self) -> InterventionPolicy:
        """Return the policy in force."""
        if self._policy is None:
            self._policy = await self._core.on_store(self._rows.policy)
        return self._policy

    async def save_intervention_policy(self, policy: InterventionPolicy) -> InterventionPolicy:
        """Put a policy in force; undo restores the one before."""
        await self._core.do_in_review(self._rows.save_policy, policy, self._core.author)
        self._core.bus.publish(PolicyChanged())
        self._policy = policy
        return policy

    def forget_policy(self) -> None:
        """Drop the cached policy: undo or another process may have changed it."""
        self._policy = None

    async def answer(self, run: str, site: str, risk: RiskClass) -> PolicyAnswer:
        """Return the rule for a risk class: a decision for the run or the site, else the policy's."""
        standing = dict(await self._core.on_store(self._rows.standing, run))
        return standing.get(risk) or (await self.intervention_policy()).answer(site, risk)

    async def is_class_allowed(self, run: str, site: str, risk: RiskClass) -> bool:
        """Return whether an operator allowed a class outright: for this run, or by a rule for this very site.

        A rule for all sites says what is asked about; it does not widen the task of a run.
        """
        standing = dict(await self._core.on_store(self._rows.standing, run))
        if risk in standing:
            return standing[risk] is PolicyAnswer.ALLOW
        rules = (await self.intervention_policy()).risks
        return any(
            bool(rule.site) and rule.site == site and rule.risk is risk and rule.answer is PolicyAnswer.ALLOW
            for rule in rules
        )

    async def reaction(self, site: str, flag: Flag) -> Reaction:
        """Return the policy's reaction to a flag."""
        return (await self.intervention_policy()).reaction(site, flag.severity, flag.detector)

    async def draft_tip_from_hint(self, hint: str) -> TipDraft:
        """Draft a tip from a hint: its text, with the page it was sent at as scope."""
        said = await self.hint(hint)

        def drafting() -> TipDraft:
            workspace = self._core.workspace
            run, steps = workspace.runs.load(said.run)
            pages = [*steps, *([run.final] if run.final is not None else [])]
            if not pages:
                return TipDraft(site=run.site, text=said.text)
            page = pages[min(said.step, len(pages) - 1)]
            site = run.site or workspace.site_of(page.url)
            draft = draft_tip(run, page, workspace.index.flags(said.run), site, said.author, "")
            return replace(draft, text=said.text)

        return await self._core.on_store(drafting)

    async def preview_policy(self, policy: InterventionPolicy) -> PolicyPreview:
        """Apply a policy to the stored runs, and count the consequences."""

        def gathering() -> tuple[dict[str, list[Flag]], list[PreviewRun]]:
            index = self._core.workspace.index
            rows = index.rows(RunFilter())
            stored = [PreviewRun(id=row.id, site=row.site, steps=row.steps, score=row.score) for row in rows]
            return index.all_flags(), stored

        flags, runs = await self._core.on_store(gathering)
        return await self._core.on_worker(preview, policy, flags, runs)

    # other processes

    async def listen(
        self, ours: Callable[[], Sequence[str]], grant: Callable[[RemoteCommand], Awaitable[None]]
    ) -> None:
        """Poll for writes of other processes: wake waiters, and run commands sent to our runs."""
        while True:
            await asyncio.sleep(POLL_INTERVAL)
            try:
                version = await self._core.on_store(lambda: self._rows.data_version)
                if version == self._version:
                    continue
                self._version = version
                self.forget_policy()
                for woken in self._decided.values():
                    woken.set()
                for waiting in tuple(self._decided):
                    if (found := await self.request(waiting)).state is not RequestState.OPEN:
                        self._core.bus.publish(RequestChanged(request=found))
                runs = tuple(ours())
                commands = await self._core.on_store(self._rows.take_remote_commands, runs)
                for command in _unexpired(commands):
                    await grant(command)
            except SiteloreError as error:
                log.warning("the approval requests can't be read: %s", error)

    # inside

    def _heard(self, event: Event) -> None:
        if isinstance(event, PolicyChanged):
            self.forget_policy()  # undo and redo have brought another one

    def _announce(self, found: ApprovalRequest) -> None:
        """Tell everyone, and whoever waits for it, that a request was decided or closed."""
        self._core.bus.publish(RequestChanged(request=found))
        if found.id in self._decided:
            self._decided[found.id].set()


def _unexpired(commands: Sequence[RemoteCommand]) -> list[RemoteCommand]:
    """Return the commands that still count at this moment; the log names the others."""
    now = time.time()
    for command in commands:
        if command.is_expired(now):
            log.warning(
                "%s was asked of %s %.0f seconds ago and is not done any more",
                command.what,
                command.run,
                now - command.at,
            )
    return [command for command in commands if not command.is_expired(now)]
