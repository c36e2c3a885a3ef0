"""Find tips about removed parts of a site: after a verification they become suspect, for a person to review."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence

from app.engine.core.page_state import PageState
from app.engine.graph.annotations import tips_by_page
from kb.tip import Status, Tip

CHECKED_STATUSES = frozenset({Status.ACTIVE, Status.REVIEWED})
"""Statuses of tips that may become suspect; drafts and retired tips are not in use."""

SHORTEST = 3
"""Minimum length of a control's name for its mention in a tip to be no coincidence."""


def suspect_tips(
    before: Collection[PageState],
    after: Collection[PageState],
    site: str,
    tips: Sequence[Tip],
    hosts: Sequence[str],
) -> tuple[str, ...]:
    """Ids of tips all of whose pages are gone, or that mention a control that none of their pages has any more.

    Args:
        before, after: page states in force before and after.
        tips: of this site.
        hosts: its host globs, including the graph's home.
    """
    judged = [tip for tip in tips if tip.status in CHECKED_STATUSES]
    was = _pages_of_tips(before, site, judged, hosts)
    now = _pages_of_tips(after, site, judged, hosts)
    return tuple(
        tip.id
        for row, tip in enumerate(judged)
        if row in was and (row not in now or _lost_controls(tip, was[row], now[row]))
    )


def _pages_of_tips(
    pages: Collection[PageState], site: str, tips: Sequence[Tip], hosts: Sequence[str]
) -> Mapping[int, list[PageState]]:
    found: dict[int, list[PageState]] = {}
    for page, rows in zip(pages, tips_by_page([page.url for page in pages], site, tips, hosts), strict=True):
        for row in rows:
            found.setdefault(row, []).append(page)
    return found


def _lost_controls(tip: Tip, before: Iterable[PageState], after: Iterable[PageState]) -> set[str]:
    """Names of controls that the tip mentions, that its pages had, and that none of them has now."""
    gone = _names(before) - _names(after)
    text = " ".join(part for part in (tip.text, tip.when, tip.do, tip.before) if part).casefold()
    return {name for name in gone if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text)}


def _names(pages: Iterable[PageState]) -> set[str]:
    names = (control.partition(" ")[2].casefold().strip() for page in pages for control in page.controls)
    return {name for name in names if len(name) >= SHORTEST}
