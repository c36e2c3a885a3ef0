"""The plan of a merge: what would become of each tip of another knowledge base, and what a person has to decide."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from kb.common_past import TipPast, common_past, is_copy, past_of, state_key
from kb.content import content_key
from kb.frozen import FrozenKnowledgeBase
from kb.record import to_json
from kb.similar import CONTRADICTION, DUPLICATE, find_similar
from kb.store import KnowledgeBase
from kb.three_way import CommonPast, MergeConflict, MergeOutcome, TipMerge, merge_tip
from kb.tip import Status, Tip

COMING = frozenset({MergeOutcome.ADDED, MergeOutcome.TAKEN, MergeOutcome.COMBINED})
"""Outcomes that bring something of theirs."""


class MergeSide(StrEnum):
    """A person's decision of a conflict.

    ``both``: of a tip edited twice theirs becomes a tip of its own; of a retired one the edit is kept and it stays
    retired; of two that contradict each other both stay.
    """

    MINE = "mine"
    THEIRS = "theirs"
    BOTH = "both"


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeRow:
    """The planned outcome for one tip of the other file.

    Attributes:
        tip: its id there; ``mine`` is the tip of that id here, ``base`` their common past, None if there is none.
        fields: fields that would be taken from theirs; of a conflict those that differ.
        taken: fields that would be taken beside a conflict.
        rival: of a contradiction or duplicate the tip here that it is about.
        beside: theirs would be added as a tip of its own.
        by, at: who made their version, and when (Unix seconds); "" and 0 where the file does not say.
    """

    tip: str
    outcome: MergeOutcome
    theirs: Tip
    mine: Tip | None = None
    base: Tip | None = None
    conflict: MergeConflict = MergeConflict.NONE
    fields: tuple[str, ...] = ()
    taken: tuple[str, ...] = ()
    rival: Tip | None = None
    beside: bool = False
    by: str = ""
    at: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class MergePlan:
    """A plan; nothing has been changed.

    Attributes:
        rows: the tips of the other file, conflicts first, then what would come, then the rest.
        shared: tips with a common past; 0 means that the two knowledge bases have none.
        key: another plan of the same versions has the same key.
        kept: tips here that the other file does not have, or that only changed here.
    """

    path: str
    rows: tuple[MergeRow, ...]
    shared: int
    key: str
    kept: int = 0
    hosts: dict[str, tuple[str, ...]]

    @property
    def conflicts(self) -> tuple[MergeRow, ...]:
        """Rows that a person has to decide."""
        return tuple(row for row in self.rows if row.conflict)

    def of(self, *outcomes: MergeOutcome) -> tuple[MergeRow, ...]:
        """Rows with one of these outcomes."""
        return tuple(row for row in self.rows if row.outcome in outcomes)


def plan_merge(
    into: KnowledgeBase,
    other: KnowledgeBase | FrozenKnowledgeBase,
    base: KnowledgeBase | FrozenKnowledgeBase | None = None,
) -> MergePlan:
    """Plan the merge of another knowledge base; ``base`` is a copy of the common past where the histories have none."""
    here, there = TipPast.of(into), TipPast.of(other)
    tips, mine = other.tips(), {tip.id: tip for tip in into.tips()}
    seen = {content_key(tip) for tip in mine.values()}
    copied = base is not None or is_copy(here, there, (tip.id for tip in tips if tip.id in mine))
    pasts = {tip.id: _past(tip.id, here, there, base, copied) for tip in tips}
    with_tags = not other.frozen and not (base is not None and base.frozen)
    shared = sum(past is not None for past in pasts.values())
    found = [_row(tip, mine.get(tip.id), pasts[tip.id], here, there, into, seen, with_tags) for tip in tips]
    rows = _with_rivals(found, mine, pasts, {tip.id for tip in tips}) if shared else found
    kept = len(mine.keys() - {tip.id for tip in tips}) + sum(r.outcome is MergeOutcome.KEPT for r in rows)
    return MergePlan(
        path=str(other.path),
        rows=tuple(sorted(rows, key=_order)),
        shared=shared,
        key=_key(rows),
        kept=kept,
        hosts={site: globs for site, globs in other.hosts().items() if site not in into.hosts()},
    )


def _past(
    id: str, here: TipPast, there: TipPast, base: KnowledgeBase | FrozenKnowledgeBase | None, copied: bool
) -> CommonPast | None:
    if base is not None and (was := past_of(base, id)) is not None:
        return CommonPast(was, was)
    return common_past(id, here, there, copied=copied)


def _row(
    theirs: Tip,
    mine: Tip | None,
    past: CommonPast | None,
    here: TipPast,
    there: TipPast,
    into: KnowledgeBase,
    seen: set[str],
    with_tags: bool,
) -> MergeRow:
    declined = here.declined(theirs.id, state_key(theirs))
    made = merge_tip(mine, theirs, past, declined=declined, with_tags=with_tags)
    if made.outcome is MergeOutcome.ADDED and (content_key(theirs) in seen or into.knew(theirs)):
        made = TipMerge(MergeOutcome.SAME)
    history = there.history(theirs.id)
    last = next((one for one in reversed(history) if one.author), None)
    return MergeRow(
        tip=theirs.id,
        outcome=made.outcome,
        theirs=theirs,
        mine=mine,
        base=past.mine if past is not None else None,
        conflict=made.conflict,
        fields=made.fields,
        taken=made.taken,
        beside=made.beside,
        by=(history[-1].author if history else "") or (last.author if last else theirs.provenance.author),
        at=theirs.changed_at,
    )


def _with_rivals(
    rows: Sequence[MergeRow], mine: dict[str, Tip], pasts: dict[str, CommonPast | None], there: set[str]
) -> list[MergeRow]:
    """Make a conflict of what would come and contradicts, or repeats, a tip that is new or changed here."""
    new_here = [
        tip
        for id, tip in mine.items()
        if id not in there or ((past := pasts[id]) is not None and content_key(past.mine) != content_key(tip))
    ]
    by_site: dict[str, list[Tip]] = {}
    for tip in new_here:
        by_site.setdefault(tip.site, []).append(tip)
    return [_against(row, by_site.get(row.theirs.site, [])) for row in rows]


def _against(row: MergeRow, others: Sequence[Tip]) -> MergeRow:
    says_more = row.outcome is MergeOutcome.ADDED or bool({*row.fields} - {"status", "tags"})
    if row.outcome not in COMING or not says_more or row.theirs.status is Status.RETIRED:
        return row
    for near in find_similar(row.theirs, others, exclude=row.tip):
        if near.relation in (CONTRADICTION, DUPLICATE):
            kind = MergeConflict.CONTRADICTION if near.relation == CONTRADICTION else MergeConflict.DUPLICATE
            return replace(row, outcome=MergeOutcome.CONFLICT, conflict=kind, rival=near.tip)
    return row


def _order(row: MergeRow) -> tuple[int, str, str]:
    ranks = (MergeOutcome.CONFLICT, MergeOutcome.ADDED, MergeOutcome.TAKEN, MergeOutcome.COMBINED)
    rank = ranks.index(row.outcome) if row.outcome in ranks else len(ranks)
    return rank, row.theirs.site, row.tip


def _key(rows: Iterable[MergeRow]) -> str:
    states = [
        [row.tip, row.outcome, state_key(row.theirs), state_key(row.mine) if row.mine else ""]
        + ([state_key(row.rival)] if row.rival else [])
        for row in rows
    ]
    return hashlib.sha256(to_json(sorted(states)).encode()).hexdigest()[:16]
