"""Selects and counts tips, the same way for a live and a frozen knowledge base."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Sequence

from kb.tip import FOLLOWED_LEARNINGS, KbStats, Kind, Status, Tip


def select(
    tips: Iterable[Tip], site: str = "", statuses: Collection[Status] | None = None, search: str = ""
) -> list[Tip]:
    """Tips of the site and statuses that contain every word of ``search``, ignoring case; order is kept."""
    words = unicodedata.normalize("NFC", search).casefold().split()
    return [
        tip
        for tip in tips
        if (not site or tip.site == site)
        and (statuses is None or tip.status in statuses)
        and (not words or _holds(tip, words))
    ]


def to_freeze(tip: Tip, include: Sequence[Status], with_learnings: bool) -> bool:
    """Whether a tip goes into a frozen file, unless lint refuses it."""
    if tip.kind is Kind.LEARNING:
        return with_learnings and is_followed(tip)
    return tip.status in {Status.ACTIVE, *include}


def is_followed(tip: Tip) -> bool:
    """Whether runs follow a learning: a draft only if a run here wrote it, an imported one once it is reviewed."""
    quarantined = tip.status is Status.DRAFT and bool(tip.provenance.source)
    return tip.kind is Kind.LEARNING and tip.status in FOLLOWED_LEARNINGS and not quarantined


def tally(tips: Collection[Tip], *, revisions: int, vectors: int, encoder: str, frozen: bool) -> KbStats:
    """Counts by status, site and kind, each in order of name."""
    return KbStats(
        tips=len(tips),
        by_status=_counts(tip.status.value for tip in tips),
        by_site=_counts(tip.site for tip in tips),
        by_kind=_counts(tip.kind.value for tip in tips),
        revisions=revisions,
        vectors=vectors,
        encoder=encoder,
        frozen=frozen,
    )


def _counts(values: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(values).items()))


def _holds(tip: Tip, words: list[str]) -> bool:
    parts = (tip.id, tip.text, tip.when, tip.do, tip.before, tip.why, str(tip.scope), tip.kind.value)
    content = "\n".join((*parts, *tip.keywords, *tip.tags)).casefold()
    return all(word in content for word in words)
