"""The differences of two knowledge bases for people: what was added, changed and retired, why, by whom and when.

A live knowledge base knows its history.  A frozen one does not: its manifest names each tip's author and last change;
what neither says is said to be unknown, never guessed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, cast

from kb.content import content_key
from kb.errors import NoSuchTip
from kb.freeze import diff
from kb.frozen import FrozenKnowledgeBase
from kb.manifest import read_manifest
from kb.store import KnowledgeBase
from kb.tip import KbDiff, Revision, Status, Tip
from kb.tip_changes import FIELDS, LIVE_ONLY, FieldChange, changes_between


class TipChangeKind(StrEnum):
    """The kind of a difference."""

    ADDED = "added"
    CHANGED = "changed"
    RETIRED = "retired"
    RESTORED = "restored"
    REMOVED = "removed"


@dataclass(frozen=True, slots=True, kw_only=True)
class TipDifference:
    """One tip that differs.

    Attributes:
        tip: as it is in the second knowledge base; of a removed one as it was in the first.
        fields: changed fields in the order of ``FIELDS``; none of an added or removed tip.
        by: who made the changes, the latest last; ``at`` is the latest (Unix seconds).  Empty where nobody says.
        why: reasons that people gave: for a status, for a waiver.
        unknown: what can't be said of it, one phrase; "" for nothing.
    """

    kind: TipChangeKind
    tip: Tip
    before: Tip | None = None
    fields: tuple[FieldChange, ...] = ()
    by: tuple[str, ...] = ()
    at: float = 0.0
    why: tuple[str, ...] = ()
    unknown: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class KbChanges:
    """All differences, by site and then by what happened; ``unknown`` says what the files don't tell."""

    tips: tuple[TipDifference, ...]
    plain: KbDiff
    unknown: tuple[str, ...] = field(default=())

    @property
    def sites(self) -> dict[str, list[TipDifference]]:
        """The differences of each site."""
        found: dict[str, list[TipDifference]] = {}
        for one in self.tips:
            found.setdefault(one.tip.site, []).append(one)
        return found


def explain(
    a: KnowledgeBase | FrozenKnowledgeBase,
    b: KnowledgeBase | FrozenKnowledgeBase,
    known: KnowledgeBase | None = None,
) -> KbChanges:
    """Return what became of the tips of ``a`` in ``b``; ``known`` is a live one that may know the history of both."""
    plain = diff(a, b)
    live = b if isinstance(b, KnowledgeBase) else known
    past = _Past(live, _noted(b), exact=isinstance(b, KnowledgeBase))
    rows = [past.row(TipChangeKind.ADDED, tip, None) for tip in plain.added]
    rows += [past.removed(tip) for tip in plain.removed]
    tags = not (a.frozen or b.frozen)
    rows += [past.row(_kind(old, new), new, old, tags=tags) for old, new in plain.changed]
    order = list(TipChangeKind)
    return KbChanges(
        tips=tuple(sorted(rows, key=lambda one: (one.tip.site, order.index(one.kind), one.tip.id))),
        plain=plain,
        unknown=tuple(_unknown(a, b, rows)),
    )


def _kind(old: Tip, new: Tip) -> TipChangeKind:
    if new.status is Status.RETIRED and old.status is not Status.RETIRED:
        return TipChangeKind.RETIRED
    if old.status is Status.RETIRED and new.status is not Status.RETIRED:
        return TipChangeKind.RESTORED
    return TipChangeKind.CHANGED


def _unknown(
    a: KnowledgeBase | FrozenKnowledgeBase,
    b: KnowledgeBase | FrozenKnowledgeBase,
    rows: Iterable[TipDifference],
) -> list[str]:
    said: list[str] = []
    if a.frozen or b.frozen:
        said.append("a frozen file holds no tags, no reasons and no steps in between")
    if any(one.kind is TipChangeKind.REMOVED and one.unknown for one in rows):
        said.append("a frozen file doesn't say why a tip is not in it")
    return said


def _noted(kb: KnowledgeBase | FrozenKnowledgeBase) -> Mapping[str, Any]:
    """The entries of a frozen file's manifest about its tips, by id."""
    if isinstance(kb, KnowledgeBase):
        return {}
    manifest = read_manifest(kb.path)
    tips: object = manifest.data.get("tips") if manifest.ok else None
    return cast("dict[str, Any]", tips) if isinstance(tips, dict) else {}


class _Past:
    """Who changed a tip, when and why, from a live history or a manifest."""

    def __init__(self, live: KnowledgeBase | None, noted: Mapping[str, Any], *, exact: bool) -> None:
        self._live, self._noted, self._exact = live, noted, exact
        self._reasons = live.reasons() if live is not None else {}

    def row(self, kind: TipChangeKind, tip: Tip, before: Tip | None, *, tags: bool = False) -> TipDifference:
        names = [name for name in FIELDS if tags or name not in LIVE_ONLY]
        changed = changes_between(before, tip, names) if before is not None else ()
        made = self._between(before, tip)
        if made:
            return TipDifference(
                kind=kind,
                tip=tip,
                before=before,
                fields=changed,
                by=tuple(dict.fromkeys(one.author for one in made if one.author)),
                at=made[-1].at,
                why=self._why(made),
            )
        by, at = self._in_manifest(tip.id)
        unknown = "" if by and at else "who changed it and when is unknown"
        return TipDifference(kind=kind, tip=tip, before=before, fields=changed, by=by, at=at, unknown=unknown)

    def removed(self, tip: Tip) -> TipDifference:
        """A tip that is only in the first; the live history may know that it was retired."""
        history = self._history(tip.id)
        now = history[-1] if history else None
        if now is None or self._exact:
            return TipDifference(kind=TipChangeKind.REMOVED, tip=tip, unknown="why is unknown")
        made = self._after(history, tip)
        status = now.tip.status.value
        return TipDifference(
            kind=TipChangeKind.RETIRED if now.tip.status is Status.RETIRED else TipChangeKind.REMOVED,
            tip=tip,
            before=tip,
            by=tuple(dict.fromkeys(one.author for one in made if one.author)),
            at=made[-1].at if made else 0.0,
            why=self._why(made) or ((f"it is {status} now",) if made else ()),
            unknown="" if made else "why it is left out is unknown",
        )

    def _between(self, before: Tip | None, after: Tip) -> list[Revision]:
        """Revisions after ``before`` up to ``after``, none where the history doesn't hold them."""
        history = self._history(after.id)
        if not history or (before is not None and not any(_same(one.tip, before) for one in history)):
            return []
        if self._exact:
            end = len(history)
        else:
            ends = [at for at, one in enumerate(history) if _same(one.tip, after)]
            if not ends:
                return []
            end = ends[-1] + 1
        return self._after(history[:end], before) if before is not None else history[:end]

    def _after(self, history: Sequence[Revision], before: Tip) -> list[Revision]:
        starts = [at for at, one in enumerate(history) if _same(one.tip, before)]
        return list(history[starts[-1] + 1 :]) if starts else []

    def _why(self, made: Sequence[Revision]) -> tuple[str, ...]:
        reasons = [self._reasons.get((one.tip.id, one.tip.revision), "") for one in made]
        waivers = [
            f"lint waived ({', '.join(one.tip.waiver.rules)}): {one.tip.waiver.reason}"
            for one in made
            if one.tip.waiver is not None
        ]
        return tuple(dict.fromkeys(said for said in (*reasons, *waivers) if said))

    def _in_manifest(self, id: str) -> tuple[tuple[str, ...], float]:
        noted: object = self._noted.get(id)
        known = cast("dict[str, Any]", noted) if isinstance(noted, dict) else {}
        author, at = known.get("author"), known.get("changed_at")
        by = (author,) if isinstance(author, str) and author else ()
        return by, float(at) if isinstance(at, int | float) else 0.0

    def _history(self, id: str) -> list[Revision]:
        try:
            return self._live.history(id) if self._live is not None else []
        except NoSuchTip:
            return []


def _same(one: Tip, other: Tip) -> bool:
    """Whether two versions say the same with the same status; a frozen one has no tags."""
    return content_key(one) == content_key(other) and one.status is other.status


__all__ = ["KbChanges", "TipChangeKind", "TipDifference", "explain"]
