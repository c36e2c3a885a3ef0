"""Rows of the review queue, and the filter that chooses them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFilter:
    """A filter and order of runs.  Empty fields do not filter.

    ``order``: ``risk`` (highest first), ``teach`` (what teaches the ranking most first), ``date`` (newest first),
    ``site``, ``steps`` (most first), ``id``.
    ``task`` is a task's id.  ``search`` is full text over intent, reason, action, target, address, error and answer.
    ``needs`` keeps the runs that gave up and said why. ``judged_by`` keeps the runs that this person judged,
    ``assigned`` those in this person's queue (``unjudged`` then means by that person), ``disputed`` those whose
    annotators disagree and nobody has settled. ``cluster`` keeps the runs
    of one failure cluster, ``page`` those whose suspect step is on a page of this template: ``/cart`` on any site,
    ``shop/cart`` on the site ``shop``.
    """

    site: str = ""
    suite: str = ""
    task: str = ""
    failed: bool = False
    passed: bool = False
    unjudged: bool = False
    needs: bool = False
    detector: str = ""
    label: str = ""
    search: str = ""
    judged_by: str = ""
    assigned: str = ""
    disputed: bool = False
    cluster: str = ""
    page: str = ""
    order: str = "id"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRow:
    """One row of the review queue."""

    id: str
    source: str
    suite: str
    task_id: str
    site: str
    intent: str
    score: float | None
    outcome: str
    steps: int
    risk: float
    suspect_step: int
    flags: tuple[str, ...]
    """Detector names, the most telling first."""
    label: str = ""
    tips: int = 0
    """Tips written from this run."""
    started_at: float = 0.0
    signature: str = ""
    """Names the kind of failure: runs with the same one failed alike (site, first detector, page template)."""
    looked_at: bool = True
    """Whether detectors have run; before that it has neither flags nor a risk."""
    needs: str = ""
    """The reason of a run that gave up (``Run.needs``)."""
    verdicts: int = 0
    """Verdicts in force that the reader may see; ``label`` is the newest of them."""
    judged_by: tuple[str, ...] = ()
    """Authors of these verdicts."""
    teaches: str = ""
    """Why this run teaches the ranking much, in words; "" where it is not asked for that."""
