"""The rule of a three-way merge, tip by tip: pure functions over versions of one tip.

``mine`` is the tip here, ``theirs`` the tip in the other file; their common past is a version of each (mostly one and
the same).  "Changed" compares each side with its own past.

| clause | mine | theirs | outcome |
| --- | --- | --- | --- |
| 1 | unchanged | unchanged | same |
| 2 | changed | unchanged | kept |
| 3 | unchanged | changed | taken: their fields |
| 4 | changed | changed to the same | same |
| 5 | changed | changed in other fields | combined: both |
| 6 | changed | changed in the same field, otherwise | conflict: edited twice |
| 7 | retired | changed in anything but to retired | conflict: retired and edited |
| 8 | changed in anything but to retired | retired | conflict: retired and edited |
| 9 | none | one | added, as a draft |
| 10 | one | none | kept: a merge removes nothing |
| 11 | none; declined in an earlier merge | unchanged since | declined |
| 12 | one | one, no common past, other content | added beside, as a draft (declined: as clause 11) |
| 13 | one | one, no common past, the same content | same |

A tip of theirs that is added, taken or combined, and that says the opposite of a tip changed or new here, or nearly
the same, is a conflict as well (``kb.merge_plan``).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from kb.content import content_key
from kb.tip import Status, Tip, TipDraft
from kb.tip_changes import FIELDS, LIVE_ONLY, same_field, with_field_of


class MergeOutcome(StrEnum):
    """The outcome of a merge for one tip."""

    SAME = "same"
    KEPT = "kept"
    TAKEN = "taken"
    COMBINED = "combined"
    ADDED = "added"
    DECLINED = "declined"
    CONFLICT = "conflict"


class MergeConflict(StrEnum):
    """Why a person has to decide."""

    NONE = ""
    EDITED_TWICE = "edited twice"
    RETIRED_AND_EDITED = "retired and edited"
    CONTRADICTION = "contradiction"
    DUPLICATE = "duplicate"


@dataclass(frozen=True, slots=True)
class CommonPast:
    """The last version that both sides had: as it was here, and as it was there."""

    mine: Tip
    theirs: Tip


@dataclass(frozen=True, slots=True)
class TipMerge:
    """The outcome for one tip.

    Attributes:
        fields: fields taken from theirs; of a conflict those that both sides changed differently.
        taken: fields taken from theirs beside a conflict.
        beside: theirs is added as a tip of its own.
    """

    outcome: MergeOutcome
    conflict: MergeConflict = MergeConflict.NONE
    fields: tuple[str, ...] = ()
    taken: tuple[str, ...] = ()
    beside: bool = False


def merge_tip(
    mine: Tip | None,
    theirs: Tip | None,
    past: CommonPast | None,
    *,
    declined: bool = False,
    with_tags: bool = True,
) -> TipMerge:
    """Return the outcome for one tip.

    ``declined``: an earlier merge asked about theirs as it is, and it was not taken.  ``with_tags``: theirs comes from
    a file that holds tags.
    """
    if theirs is None:
        return TipMerge(MergeOutcome.KEPT)
    if mine is None:
        return TipMerge(MergeOutcome.DECLINED if declined else MergeOutcome.ADDED)
    if past is None:
        if content_key(mine) == content_key(theirs):
            return TipMerge(MergeOutcome.SAME)
        return TipMerge(MergeOutcome.DECLINED if declined else MergeOutcome.ADDED, beside=True)
    fields = [field for field in FIELDS if with_tags or field not in LIVE_ONLY]
    here = [field for field in fields if not same_field(past.mine, mine, field)]
    there = [field for field in fields if not same_field(past.theirs, theirs, field)]
    new = tuple(field for field in there if not same_field(mine, theirs, field))
    if not new:
        return TipMerge(MergeOutcome.KEPT if here and not there else MergeOutcome.SAME)
    if not here:
        return TipMerge(MergeOutcome.TAKEN, fields=new)
    twice = tuple(field for field in new if field in here)
    taken = tuple(field for field in new if field not in here)
    if _retired_by_one(mine, theirs, here, there):
        return TipMerge(MergeOutcome.CONFLICT, MergeConflict.RETIRED_AND_EDITED, new)
    if twice:
        return TipMerge(MergeOutcome.CONFLICT, MergeConflict.EDITED_TWICE, twice, taken)
    return TipMerge(MergeOutcome.COMBINED, fields=taken)


def _retired_by_one(mine: Tip, theirs: Tip, here: list[str], there: list[str]) -> bool:
    """Whether one side retired the tip and the other, which did not, changed it."""
    by_me = "status" in here and mine.status is Status.RETIRED
    by_them = "status" in there and theirs.status is Status.RETIRED
    return by_me != by_them


def combined(mine: Tip, theirs: Tip, fields: tuple[str, ...]) -> TipDraft:
    """Return mine with these fields of theirs; who saw which tasks is known of both."""
    draft: TipDraft = mine
    for field in fields:
        draft = with_field_of(draft, theirs, field)
    return replace(draft, taint=tuple(sorted({*mine.taint, *theirs.taint})))
