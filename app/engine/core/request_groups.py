"""Equal requests of several runs: the inbox shows them as one, and one decision answers all.  Pure."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from app.engine.core.intervention_policy import RiskClass
from app.engine.core.supervision import ApprovalRequest, DecisionKind, LiveRow, Need, RequestState

_SPACE = re.compile(r"\s+")

MAX_SHARED_RISK = 1
"""Highest level of a risk class whose equal requests are answered together: what sends, buys, pays, deletes or uploads
is approved run by run."""
UNKNOWN_RISK = 3
"""Level of a risk class that is not known."""
MODEL_DETECTORS = frozenset({"run-outcome", "impossible-task", "step-consistency"})
"""Detectors that ask a model about one run: what one says of a run is said of no other."""
LOGIN_WALL = "log-in "
"""How the key of a log-in wall begins; other walls are captchas."""


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

    Two requests are equal where a person who has seen the one has seen all that the other's answer depends on:

    - Walls: by site, wall and the log-in that the runs asked for.  A run of another role waits for another log-in.
    - Questions: by site, task and wording.  Runs with different tasks may ask in the same words ("Which order is it?")
      and need different answers, as an answer may be of the task's own data.
    - Problems: by site, wording and reason, whatever the task: they are about a host, the disk or the model.
    - Flags: by site, task, detectors, wording, reason and page.  What a model says of a run is never equal.
    - Actions: by site, task, class, words, call, element and page.  The same call on another page is another action;
      one that names no element, and one of a class above ``MAX_SHARED_RISK`` or of an unknown class, is never equal.

    What a request lacks (a wall, the site, the task) makes it equal to none.
    """
    site, task = request.site, request.task
    parts: tuple[str, ...]
    match request.need:
        case Need.WALL:
            needed = (request.wall,)
            parts = (site, request.wall, request.login)
        case Need.QUESTION:
            needed = (site, task)
            parts = (site, task, _plain(request.question))
        case Need.TROUBLE:
            needed = (site,)
            parts = (site, _plain(request.question), _plain(request.why))
        case Need.FLAG:
            needed = (site, task, "" if MODEL_DETECTORS.intersection(request.detectors) else "rules")
            named = ",".join(sorted(request.detectors))
            parts = (site, task, named, _plain(request.question), _plain(request.why), request.url)
        case Need.APPROVAL:
            shared = request.risk and _level(request.risk) <= MAX_SHARED_RISK
            needed = (site, task, request.call, request.element, request.url, "shared" if shared else "")
            parts = (site, task, request.risk, request.words, request.call, request.element, request.url)
    return repr((request.need.value, *parts)) if all(needed) else request.id


def task_key(intent: str) -> str:
    """Return the key of a task, the same for runs that are to do the same."""
    return hashlib.sha256(_plain(intent).encode("utf-8", "replace")).hexdigest()[:16]


def is_login_wall(request: ApprovalRequest) -> bool:
    """Whether a request is about a log-in, and not about a captcha."""
    return request.need is Need.WALL and request.wall.startswith(LOGIN_WALL)


def shared_decision_problem(request: ApprovalRequest, kind: DecisionKind) -> str:
    """Return why a decision can't answer several requests equal to this one; "" where it can."""
    if kind is DecisionKind.EDIT:
        return "an edited action names an element by its number, which is another one in another run"
    passed = kind not in (DecisionKind.DENY, DecisionKind.NO_WALL)
    if request.need is Need.WALL and not is_login_wall(request) and passed:
        return "a captcha is passed in each run's own browser"
    return ""


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
        return RiskClass(risk).level if risk else 0
    except ValueError:
        return UNKNOWN_RISK


def _plain(text: str) -> str:
    return _SPACE.sub(" ", text).strip()
