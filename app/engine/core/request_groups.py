"""Equal requests of several runs: the inbox shows them as one, and one decision answers all.  Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from app.engine.core.intervention_policy import RiskClass
from app.engine.core.supervision import ApprovalRequest, LiveRow, Need, RequestState

_SPACE = re.compile(r"\s+")

MAX_SHARED_RISK = 1
"""Highest level of a risk class whose equal requests are answered together: what sends, buys, pays, deletes or uploads
is approved run by run."""


class InboxOrder(StrEnum):
    """Order of the inbox."""

    RISK = "risk"
    AGE = "age"


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestGroup:
    """Equal open requests, the oldest first; most groups have one.

    Attributes:
        key: the same for equal requests; the request's id where it is answered alone.
        risk: highest risk of failure of its runs, in [0, 1].
    """

    key: str
    requests: tuple[ApprovalRequest, ...]
    risk: float = 0.0

    @property
    def first(self) -> ApprovalRequest:
        """The oldest request, which stands for all."""
        return self.requests[0]

    @property
    def runs(self) -> tuple[str, ...]:
        """Ids of the runs that wait, in order of their requests."""
        return tuple(dict.fromkeys(one.run for one in self.requests))


def request_key(request: ApprovalRequest) -> str:
    """Return the key that equal requests share, and the request's id where it is answered alone.

    Walls are equal by site and wall, questions and problems by site and wording, flags by site, detectors and
    wording, actions by site, class, call and page; actions above ``MAX_SHARED_RISK`` are never equal.
    """
    parts: tuple[str, ...]
    match request.need:
        case Need.WALL:
            if not request.wall:
                return request.id
            parts = (request.site, request.wall)
        case Need.QUESTION | Need.TROUBLE:
            parts = (request.site, _plain(request.question))
        case Need.FLAG:
            parts = (request.site, ",".join(sorted(request.detectors)), _plain(request.question))
        case Need.APPROVAL:
            if _level(request.risk) > MAX_SHARED_RISK:
                return request.id
            parts = (request.site, request.risk, request.call, request.element, request.url)
    return "\x1f".join((request.need.value, *parts))


def inbox_groups(rows: Iterable[LiveRow], order: InboxOrder = InboxOrder.RISK) -> list[RequestGroup]:
    """Return the open requests of these runs, equal ones together.

    By risk: the most urgent need first, then the highest class of action, then the run most likely to fail, then the
    oldest. By age: the oldest first.
    """
    found: dict[str, list[tuple[ApprovalRequest, float]]] = {}
    for row in rows:
        for request in row.needs:
            if request.state is RequestState.OPEN:
                found.setdefault(request_key(request), []).append((request, row.risk))
    groups = [
        RequestGroup(
            key=key,
            requests=tuple(sorted((one for one, _ in asked), key=lambda one: (one.opened_at, one.id))),
            risk=max(risk for _, risk in asked),
        )
        for key, asked in found.items()
    ]
    return sorted(groups, key=_by_age if order is InboxOrder.AGE else _by_risk)


def _by_age(group: RequestGroup) -> tuple[object, ...]:
    return (group.first.opened_at, group.first.id)


def _by_risk(group: RequestGroup) -> tuple[object, ...]:
    first = group.first
    return (-first.need.urgency, -_level(first.risk), -group.risk, first.opened_at, first.id)


def _level(risk: str) -> int:
    try:
        return RiskClass(risk).level
    except ValueError:
        return 0


def _plain(text: str) -> str:
    return _SPACE.sub(" ", text).strip().casefold()
