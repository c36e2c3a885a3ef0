"""The ledger of a run in progress: events are written first, the ledger is their fold."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Self, cast

from app.engine.agent.memory.entries import KINDS, LedgerEntry, branch, prune
from app.engine.agent.memory.ledger_files import (
    LedgerFiles,
    read_events,
    rebuild_derived,
    replace_ledger,
    truncate_partial_line,
)
from app.engine.agent.memory.reducer import fold
from app.engine.core.ledger import Ledger, LedgerEvent, PlanNode, PlanNodeState
from app.engine.core.redaction import redact_text
from app.errors import Conflict, NotFound, StoreError

log = logging.getLogger(__name__)

LONGEST_TEXT, LONGEST_NOTE, LONGEST_GOAL = 2_000, 4_000, 20_000
"""Characters of one text of an event; text of a page or a model can be of any length."""

_LONGEST_LIST = 200
_WORD_BITS = 64


class LedgerStore:
    """A ledger and its events, on disk where it has a folder, else in memory only.

    Not thread-safe. Secrets are removed before anything is kept. Close it, or use it in a ``with``.
    """

    def __init__(self, folder: Path | None = None, *, clock: Callable[[], float] = time.time) -> None:
        """Begin an empty ledger, with its files where a folder is given. Use ``open`` where there may be some."""
        self._clock = clock
        self._files = LedgerFiles(folder) if folder is not None else None
        self._events: list[LedgerEvent] = []
        self._ledger = Ledger()
        self._mask: Callable[[str], str] | None = None
        self._stale = self._behind = False

    @classmethod
    def open(cls, folder: Path, *, clock: Callable[[], float] = time.time) -> LedgerStore:
        """Open the ledger in a run's folder, rebuilt from its events alone; empty where there are none.

        A last line cut off by a kill is dropped, and the derived files are rebuilt.

        Raises:
            StoreError: another line is damaged, or the folder can't be written.
        """
        events = read_events(folder)
        truncate_partial_line(folder)
        if events:
            rebuild_derived(folder, events, fold(events))
        book = cls(folder, clock=clock)
        book._events = events
        book._ledger = fold(events)
        return book

    @property
    def ledger(self) -> Ledger:
        """The fold of the events so far."""
        return self._ledger

    @property
    def events(self) -> tuple[LedgerEvent, ...]:
        """All events, oldest first."""
        return tuple(self._events)

    def set_mask(self, mask: Callable[[str], str]) -> None:
        """Set the function that removes the run's secrets, in all their spellings, from every text before it is
        written.
        """
        self._mask = mask

    def write(self, *entries: LedgerEntry | None) -> tuple[LedgerEvent, ...]:
        """Write events with one wait for the disk; ``None`` is skipped.

        Raises:
            ValueError: there is no such kind, or the data is no plain JSON. StoreError: it can't be written.
        """
        given = [entry for entry in entries if entry is not None]
        if not given:
            return ()
        at, first = self._clock(), len(self._events) + 1
        events = tuple(self._event(entry, first + place, at) for place, entry in enumerate(given))
        ledger = fold(events, self._ledger)
        if self._files is not None:
            self._files.append(events)
        self._events += events
        self._ledger = ledger
        if self._files is not None:
            self._follow(self._files, events)
        return events

    def _follow(self, files: LedgerFiles, events: Sequence[LedgerEvent]) -> None:
        """Update the derived files. The events are on disk: raising now would have them written twice."""
        try:
            files.follow(events)
            self._stale = not any(event.kind == "outcome" for event in events)
            if not self._stale:
                replace_ledger(files.folder, self._ledger)
        except StoreError as error:
            log.warning("the ledger's files lag behind its events: %s", error)
            self._stale = self._behind = True

    def branch(self, parent: str, intent: str, step: int = 0) -> PlanNode:
        """Add a subgoal under one of the plan's ("" for the top).

        Raises:
            NotFound: the plan has no such parent; the message lists those it has.
        """
        if parent:
            self._standing(parent)
        self.write(branch(parent, intent, step))
        return self._ledger.plan[-1]

    def prune(self, node: str, reason: str, step: int = 0, remains: tuple[str, ...] = ()) -> None:
        """Give up a subgoal and everything open below it.

        Raises:
            NotFound: the plan has no such subgoal. Conflict: it is done or given up already.
        """
        found = self._standing(node)
        if found.state in (PlanNodeState.DONE, PlanNodeState.PRUNED):
            raise Conflict(f"subgoal {node} is {found.state.value} already")
        self.write(prune(node, reason, step, remains))

    def close(self) -> None:
        """Close the files with ``ledger.json`` up to date; may be called twice."""
        if self._files is None:
            return
        stale, self._stale = self._stale, False
        try:
            if self._behind:
                rebuild_derived(self._files.folder, self._events, self._ledger)
            elif stale:
                replace_ledger(self._files.folder, self._ledger)
        finally:
            self._files.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def _standing(self, name: str) -> PlanNode:
        for node in self._ledger.plan:
            if node.id == name:
                return node
        known = ", ".join(node.id for node in self._ledger.plan) or "none yet"
        raise NotFound(f"the plan has no subgoal {name[:40]!r}; it has: {known}")

    def _event(self, entry: LedgerEntry, seq: int, at: float) -> LedgerEvent:
        if entry.kind not in KINDS:
            raise ValueError(f"the ledger has no events of kind {entry.kind!r}")
        longest = {"goal": LONGEST_GOAL, "agent_note": LONGEST_NOTE}.get(entry.kind, LONGEST_TEXT)
        data = {key: self._clean(value, longest) for key, value in entry.data.items()}
        return LedgerEvent(seq=seq, at=at, step=entry.step, kind=entry.kind, data=data)

    def _clean(self, value: object, longest: int) -> object:
        if isinstance(value, str):
            return self._clean_text(value, longest)
        if isinstance(value, list | tuple):
            items = cast("list[object]", list(value))[:_LONGEST_LIST]  # pyright: ignore[reportUnknownArgumentType]
            return [self._clean(item, longest) for item in items]
        if isinstance(value, dict):
            items = cast("dict[object, object]", value).items()
            return {str(key): self._clean(item, longest) for key, item in items}
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, int):
            return value if value.bit_length() < _WORD_BITS else str(value)
        if isinstance(value, float):
            return (
                value if math.isfinite(value) else None
            )  # a value that can't be written must not be folded either
        raise ValueError(f"no plain JSON: {type(value).__name__}")

    def _clean_text(self, text: str, longest: int) -> str:
        if self._mask is not None:
            text = self._mask(text)
        # Redacted before it is shortened: half a secret is not recognised.
        text = redact_text(text.encode("utf-8", "replace").decode())
        return text if len(text) <= longest else text[: longest - 1] + "…"
