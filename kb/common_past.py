"""The last version of a tip that two knowledge bases had in common, found in their histories.

A copy of a file shares its oldest revisions with the original.  What came later is in common where a merge noted the
other side's version, or where both sides came to the same content, status and tags.  Revisions that were undone are no
past.  Without shared revisions (a frozen file, a tip that came in an exchange file) there is a past only where the tip
here says, or said, what the other says now.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

from kb.content import content_key
from kb.errors import NoSuchTip
from kb.frozen import FrozenKnowledgeBase
from kb.record import to_json
from kb.store import KnowledgeBase
from kb.three_way import CommonPast
from kb.tip import Revision, Tip, TipDraft

MERGED = "merged"
"""Key of a journal entry's data: the versions of the other side that a merge has settled, by the tip's id there."""


def state_key(tip: TipDraft) -> str:
    """A key of what a tip says, its status and its tags; who wrote it and where it came from do not count."""
    said = to_json([content_key(tip), tip.status.value, list(tip.tags)])
    return hashlib.sha256(said.encode()).hexdigest()


def _dict(value: object) -> dict[str, Any]:
    """The value, or nothing where it is no dict: the file may be a stranger's."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


@dataclass(frozen=True, slots=True)
class _Settled:
    """A version of the other side that a merge has settled; ``revision`` is the tip's here then, 0 for none."""

    revision: int
    state: str


@dataclass(frozen=True, slots=True)
class TipPast:
    """The histories of one side: its revisions, and what its merges have settled."""

    kb: KnowledgeBase | FrozenKnowledgeBase
    settled: Mapping[str, Sequence[_Settled]] = field(default_factory=dict[str, Sequence[_Settled]])

    @classmethod
    def of(cls, kb: KnowledgeBase | FrozenKnowledgeBase) -> TipPast:
        """Read what the merges of a live knowledge base have settled; a frozen one has no history."""
        if isinstance(kb, FrozenKnowledgeBase):
            return cls(kb)
        settled: dict[str, list[_Settled]] = {}
        for known in kb.merges():
            marks, noted = _dict(known.get("tips")), _dict(known.get(MERGED))
            for id, state in noted.items():
                mark = marks.get(id)
                settled.setdefault(id, []).append(_Settled(mark if isinstance(mark, int) else 0, str(state)))
        return cls(kb, settled)

    def history(self, id: str) -> list[Revision]:
        """The revisions of a tip, the oldest first; one for a frozen tip, none for a missing one."""
        try:
            if isinstance(self.kb, FrozenKnowledgeBase):
                return [Revision(tip=self.kb.get(id), deed="", author="", at=0.0)]
            return self.kb.history(id)
        except NoSuchTip:
            return []

    def declined(self, id: str, state: str) -> bool:
        """Whether a merge has settled exactly this version of a tip that is not here."""
        return any(one.state == state for one in self.settled.get(id, ()))


def is_copy(mine: TipPast, theirs: TipPast, ids: Iterable[str]) -> bool:
    """Whether one of two knowledge bases began as a copy of the other, or both of a third."""
    return any(_shared(mine.history(id), theirs.history(id)) for id in ids)


def common_past(id: str, mine: TipPast, theirs: TipPast, *, copied: bool) -> CommonPast | None:
    """Return the newest version of a tip that both sides had, None if there is none.

    What their merges noted is believed only of a copy (``is_copy``): anybody could write it into a file.
    """
    here, there = mine.history(id), theirs.history(id)
    shared = _shared(here, there)
    pairs = [(shared - 1, shared - 1)] if shared else []
    pairs += _noted(mine.settled.get(id, ()), here, there)
    by_them = set[tuple[int, int]]()
    if copied:
        by_them = {(a, b) for b, a in _noted(theirs.settled.get(id, ()), there, here)}
        pairs += [*by_them, *_met(here, there, shared)]
    if not pairs:
        pairs = _same_content(here, there)
    if not pairs:
        return None
    newest = max(pairs, key=lambda pair: (pair[1], pair[0]))
    return _past(here[newest[0]].tip, there[newest[1]].tip, settled_there=newest in by_them)


def _past(mine: Tip, theirs: Tip, *, settled_there: bool) -> CommonPast:
    """The past that a merge left: the version it settled, whatever it made of it, with each side's own status."""
    if settled_there:
        return CommonPast(mine, replace(mine, status=theirs.status))
    return CommonPast(replace(theirs, status=mine.status), theirs)


def _shared(here: Sequence[Revision], there: Sequence[Revision]) -> int:
    """The number of oldest revisions that are the same rows: a copied file."""
    number = 0
    for a, b in zip(here, there, strict=False):
        if (a.at, a.author, a.deed, state_key(a.tip)) != (b.at, b.author, b.deed, state_key(b.tip)):
            break
        number += 1
    return number


def _noted(
    settled: Sequence[_Settled], own: Sequence[Revision], other: Sequence[Revision]
) -> list[tuple[int, int]]:
    """Places of the versions that merges of one side have settled."""
    states = {state_key(one.tip): at for at, one in enumerate(other)}
    places = {one.tip.revision: at for at, one in enumerate(own)}
    return [
        (places[one.revision], states[one.state])
        for one in settled
        if one.revision in places and one.state in states
    ]


def _met(here: Sequence[Revision], there: Sequence[Revision], shared: int) -> list[tuple[int, int]]:
    """The newest place after the shared ones at which both sides came to the same."""
    mine = {state_key(here[at].tip): at for at in _standing(here, shared)}
    for at in reversed(_standing(there, shared)):
        if (found := mine.get(state_key(there[at].tip))) is not None:
            return [(found, at)]
    return []


def _standing(history: Sequence[Revision], shared: int) -> list[int]:
    """Places of the revisions after the shared ones that were not undone."""
    kept: list[int] = []
    for at in range(shared, len(history)):
        if history[at].deed.startswith("undo "):
            state = state_key(history[at].tip)
            while kept and state_key(history[kept[-1]].tip) != state:
                kept.pop()
        else:
            kept.append(at)
    return kept


def _same_content(here: Sequence[Revision], there: Sequence[Revision]) -> list[tuple[int, int]]:
    """The place of mine that says what theirs says now.

    Older content of theirs is not asked: without shared revisions anybody's file could change a tip here that way.
    """
    if not there:
        return []
    key = content_key(there[-1].tip)
    return [(at, len(there) - 1) for at, one in enumerate(here) if content_key(one.tip) == key][:1]


def past_of(base: KnowledgeBase | FrozenKnowledgeBase, id: str) -> Tip | None:
    """The tip of a named common past, None if it is not in it."""
    try:
        return base.get(id)
    except NoSuchTip:
        return None
