"""The evidence of a run: all that its evaluation may look at, captured once at its end.  Pure data.

It is stored as one content of the run (``Run.evidence``), so that a run can be evaluated again by other rules at any
time, without its site.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from app.engine.core.trajectory import Tab

EVIDENCE_VERSION = 1


class EvidenceSource(StrEnum):
    """How the evidence came about."""

    LIVE = "live"  # captured in the browser of the run
    STORED_PAGE = "stored page"  # read from an imported run: its last page, without what was typed


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetEvidence:
    """The content at one target of ``program_html``.

    Attributes:
        target: number of the target in ``Oracle.html``, with that of its alternative behind a dot (``0``, ``2.1``).
        url: the address that was read, after the helper was asked; "" where it is not known.
        value: the text found there, HTML entities resolved; ``None`` where it could not be read.
        why: why there is none.
        has_field_values: whether what was typed into fields is in it.
        place: address and locator that the suite named (``place_of``), so that another suite's target of the same
            number is not taken for it; "" where it is not known.
    """

    target: str
    url: str = ""
    value: str | None = None
    why: str = ""
    has_field_values: bool = True
    place: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteState:
    """The output of a site's state command, which its workspace's table of sites names: JSON, by key.

    Keys that evaluators read: ``answer`` (right answers), ``page`` (a regular expression), ``checks`` (list of
    ``{"name", "expected", "found"}``), ``unasked`` (changes that the task does not allow, in words).
    """

    site: str
    output: dict[str, Any] = field(default_factory=dict[str, Any])
    why: str = ""
    """Why there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEvidence:
    """The end of a run.

    Attributes:
        answer: what the agent said last, ``None`` if it said nothing; ``infeasible`` whether it reported that the task
            can't be done.
        tabs: every open page; ``active`` is the number of the one in front, -1 where there is none.
        left_sites: a tab is on a host that the task does not allow.
        html: the page in front, with the values of its fields; ``None`` where there is no page.
        before, after: states of the task's sites before the run and after it.
        har: the requests of the run (HAR 1.2) without cookies, authorisation, bodies that were sent; ``None`` if none
            were recorded.
    """

    version: int = EVIDENCE_VERSION
    source: EvidenceSource = EvidenceSource.LIVE
    answer: str | None = None
    infeasible: bool = False
    tabs: tuple[Tab, ...] = ()
    active: int = -1
    left_sites: bool = False
    html: str | None = None
    has_field_values: bool = True
    targets: tuple[TargetEvidence, ...] = ()
    before: tuple[SiteState, ...] = ()
    after: tuple[SiteState, ...] = ()
    har: dict[str, Any] | None = None
    notes: tuple[str, ...] = ()

    @property
    def url(self) -> str | None:
        """The address of the page in front, ``None`` where there is none."""
        return self.tabs[self.active].url if 0 <= self.active < len(self.tabs) else None
