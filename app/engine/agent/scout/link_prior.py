"""Prior of a link: how often links of its kind were followed in passed runs of other sites.  Pure."""

from __future__ import annotations

from app.engine.core.page_state import Element


def link_prior(element: Element) -> float:
    """Return what to add to the score of a link, in [-0.05, 0.05]."""
    return 0.0
