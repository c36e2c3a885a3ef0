"""Reads runs of the embedded agent: request, steps, ledger and tips."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace

from app.engine.agent.memory.ledger_files import read_events
from app.engine.agent.memory.reducer import fold
from app.engine.api.run_api import RunMemory, RunRequest, TipUse
from app.engine.core.hand_back import HandBack, HandBackKind
from app.engine.core.trajectory import Outcome, Step
from app.engine.services.core import Core, on_store
from app.engine.services.tip_evidence import keep_uses, use_outcome
from app.engine.store.run_writer import RunWriter, read_request
from app.engine.store.workspace import Workspace
from kb.evidence import UseOutcome

_DONE = (UseOutcome.DONE, UseOutcome.EFFECT)


class RunReader:
    """Reads run folders, and closes an interrupted run that nobody will resume."""

    def __init__(self, core: Core) -> None:
        self._core = core

    async def request_of(self, run: str) -> RunRequest:
        """Return the request of a run.  Raises ``NotFound`` for a run that was not made here."""
        return await self._core.on_store(lambda: read_request(self._core.workspace.runs.folder(run)))

    async def steps_of(self, run: str) -> Sequence[Step]:
        """Return the stored steps of a run; none for one that is not stored yet."""
        runs = self._core.workspace.runs
        return await self._core.on_store(lambda: runs.load(run)[1] if runs.has(run) else ())

    @on_store
    def run_memory(self, run: str, step: int | None = None) -> RunMemory:
        """Return the ledger of a run after a step (``None``: after the last one)."""
        events = read_events(self._core.workspace.runs.folder(run))
        known = [event for event in events if step is None or event.step <= step]
        return RunMemory(ledger=fold(known), events=tuple(known))

    async def end_interrupted(self, run: str, end: HandBack | None = None) -> None:
        """Close an interrupted run as stopped, or as a person ended it by hand.

        Raises:
            NotFound: there is none.  Conflict: it is over, or another process works on it.
        """
        await self._core.on_store(close_interrupted, self._core.workspace, run, end)
        await keep_uses(self._core, run, await self.steps_of(run))

    @on_store
    def tip_uses(self, steps: Sequence[Step]) -> list[TipUse]:
        """Return the tips shown at these steps, most shown first."""
        return uses_at(self._core, steps)


def close_interrupted(workspace: Workspace, run: str, end: HandBack | None = None) -> None:
    """Close an interrupted run; store thread only."""
    live = RunWriter.resume(workspace, run)
    head = replace(live.run, outcome=Outcome.STOPPED, error="", step_count=len(live.steps))
    if end is not None:
        answer = end.answer if end.how is HandBackKind.ANSWER else None
        outcome = Outcome.DONE_BY_HAND if answer is None else Outcome.ANSWERED
        head = replace(head, outcome=outcome, answer=answer, ended_by=end.author)
    live.finish(head)


def uses_at(core: Core, steps: Sequence[Step]) -> list[TipUse]:
    """Return the uses of tips at these steps; store thread only."""
    shown, followed, ignored = Counter[str](), Counter[str](), Counter[str]()
    uses = defaultdict[str, Counter[UseOutcome]](Counter)
    done = defaultdict[str, set[int]](set)
    routes: dict[str, dict[str, None]] = {}
    for step in steps:
        for exposure in step.exposures:
            shown[exposure.tip] += 1
            followed[exposure.tip] += exposure.followed is True
            ignored[exposure.tip] += exposure.followed is False
            routes.setdefault(exposure.tip, {}).update(dict.fromkeys(exposure.routes))
            outcome = use_outcome(exposure, step)
            if outcome is not None:
                uses[exposure.tip][outcome] += 1
            if outcome in _DONE:
                done[exposure.tip].add(exposure.step)
    texts = {tip.id: tip.text for tip in core.kb.tips()} if shown else {}
    hints = {hint.id: hint.text for hint in core.workspace.supervision.hints()} if shown else {}
    return [
        TipUse(
            tip=tip,
            text=texts.get(tip) or hints.get(tip.removeprefix("hint:"), ""),
            shown=count,
            routes=tuple(routes[tip]),
            followed=followed[tip],
            ignored=ignored[tip],
            applied=uses[tip].total(),
            done=sum(uses[tip][one] for one in _DONE),
            effect=uses[tip][UseOutcome.EFFECT],
            failed=uses[tip][UseOutcome.FAILED],
            steps=tuple(sorted(done[tip])),
        )
        for tip, count in shown.most_common()
    ]
