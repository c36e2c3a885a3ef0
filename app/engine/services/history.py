"""One undo history over all user actions, and the window's session state."""

from __future__ import annotations

from typing import Any

from app.engine.api.engine_api import UndoResult
from app.engine.core.events import (
    GraphChanged,
    HistoryChanged,
    KnowledgeChanged,
    PolicyChanged,
    PromptsChanged,
    RunsChanged,
    ScheduleChanged,
    SitesChanged,
    SuitesChanged,
)
from app.engine.services.core import Core, on_store
from app.engine.services.review import ReviewService
from app.engine.store.schedule_store import SCHEDULE_EDIT
from app.engine.store.suite_edits import SUITE_EDIT
from app.engine.store.supervision.supervision_state import POLICY_EDIT
from app.engine.store.workspace import ACTION_SET_EDIT, GRAPH_EDIT, PROMPT_EDIT, SITE_EDIT
from kb.journal import JournalEntry


class HistoryService:
    """Undo and redo across the journals of the knowledge base and of the review state.

    Each file keeps its own journal, so that a knowledge base can be used alone; here the later action is undone
    first, and the action undone last is redone first.
    """

    def __init__(self, core: Core, judging: ReviewService) -> None:
        self._core, self._review = core, judging
        core.bus.subscribe(self._tell)

    async def undo(self, where: str = "") -> UndoResult:
        """Undo the latest action; ``where`` = ``knowledge`` or ``review`` looks at that part only.

        A workspace has one history, whoever acted. What it says of a run that the author is yet to judge blindly names
        no label of others.
        """
        return await self._turn(back=True, where=where)

    async def redo(self, where: str = "") -> UndoResult:
        """Redo the action that was undone last."""
        return await self._turn(back=False, where=where)

    @on_store
    def history(self, limit: int = 50) -> list[str]:
        """Return the labels of actions, latest first."""
        ours = [(entry, entry.label) for entry in self._core.kb.journal.entries(limit)]
        theirs = [(entry, self._label(entry)) for entry in self._core.workspace.review.journal.entries(limit)]
        both = sorted([*ours, *theirs], key=lambda one: one[0].at, reverse=True)
        return [label + (" (undone)" if entry.undone_at else "") for entry, label in both[:limit]]

    async def load_session(self) -> dict[str, Any]:
        """Return the stored state of the window."""
        return await self._core.on_store(self._core.workspace.review.load_session)

    async def save_session(self, session: dict[str, Any]) -> None:
        """Store the state of the window."""
        await self._core.on_store(self._core.workspace.review.save_session, session)

    async def _turn(self, back: bool, where: str) -> UndoResult:
        def turning() -> tuple[JournalEntry | None, bool, str]:
            kb, workspace = self._core.kb, self._core.workspace
            ours, theirs = kb.peek()[not back], workspace.review.peek()[not back]
            ours = ours if where != "review" else None
            theirs = theirs if where != "knowledge" else None
            in_kb = _is_ours_next(ours, theirs, back)
            if ours is None and theirs is None:
                return None, in_kb, ""
            if in_kb:
                moved = kb.undo() if back else kb.redo()
                return moved, True, moved.label if moved is not None else ""
            hosts = workspace.sites
            turned = workspace.undo() if back else workspace.redo()
            self._core.share_hosts(hosts)
            return turned, False, self._label(turned) if turned is not None else ""

        entry, in_kb, did = await self._core.on_store(turning)
        if entry is not None and in_kb:
            self._core.bus.publish(KnowledgeChanged())
        elif entry is not None and entry.kind == GRAPH_EDIT:
            for site in await self._core.on_store(self._core.workspace.graph_sites):
                self._core.bus.publish(GraphChanged(site=site))
        elif entry is not None and entry.kind == POLICY_EDIT:
            self._core.bus.publish(PolicyChanged())
        elif entry is not None and entry.kind == SITE_EDIT:
            self._core.bus.publish(SitesChanged())
            self._core.bus.publish(RunsChanged())
        elif entry is not None and entry.kind in (PROMPT_EDIT, ACTION_SET_EDIT):
            self._core.bus.publish(PromptsChanged())
        elif entry is not None and entry.kind == SCHEDULE_EDIT:
            self._core.bus.publish(ScheduleChanged(schedule=""))
        elif entry is not None and entry.kind == SUITE_EDIT:
            self._core.bus.publish(SuitesChanged())
            self._core.bus.publish(KnowledgeChanged())  # a tip may hold an answer of the suite
        elif entry is not None:
            await self._review.start_missing_detection()  # runs that came back from the trash
            await self._review.after_verdicts(())
        undo, redo = await self._core.on_store(self._next)
        return UndoResult(did=did, undo=undo, redo=redo)

    def _label(self, entry: JournalEntry) -> str:
        return self._core.workspace.annotators.shown_label(entry, self._core.author)

    def _next(self) -> tuple[str, str]:
        words: list[str] = []
        for at, back in ((0, True), (1, False)):
            ours, theirs = self._core.kb.peek()[at], self._core.workspace.review.peek()[at]
            chosen = ours if _is_ours_next(ours, theirs, back) else theirs
            words.append("" if chosen is None else chosen.label if chosen is ours else self._label(chosen))
        return words[0], words[1]

    def _tell(self, event: object) -> None:
        if isinstance(
            event,
            KnowledgeChanged
            | RunsChanged
            | GraphChanged
            | PolicyChanged
            | SitesChanged
            | PromptsChanged
            | ScheduleChanged
            | SuitesChanged,
        ):
            self._core.registry.hold(self._publish())

    async def _publish(self) -> None:
        undo, redo = await self._core.on_store(self._next)
        self._core.bus.publish(HistoryChanged(undo=undo, redo=redo))


def _is_ours_next(ours: JournalEntry | None, theirs: JournalEntry | None, back: bool) -> bool:
    if ours is None or theirs is None:
        return ours is not None
    if back:
        return ours.at >= theirs.at
    return (ours.undone_at or 0) >= (theirs.undone_at or 0)
