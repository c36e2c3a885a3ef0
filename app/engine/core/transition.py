"""A transition from one page state to another: the action, how its element is found again, and the result.  Pure
data.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Self

from app.engine.core.page_state import Source


class Operation(StrEnum):
    """Operation on an element, or on the address bar."""

    CLICK = "click"
    OPEN = "open"  # go to an address
    HOVER = "hover"
    SELECT = "select"
    TYPE = "type"
    PRESS = "press"


class Tier(StrEnum):
    """The property an element was found by; earlier ones are tried first."""

    TEST_ID = "test id"
    ATTRIBUTES = "attributes"
    ROLE_NAME = "role and name"
    LABEL = "label"
    TEXT = "text"
    CSS = "css"
    XPATH = "xpath"


@dataclass(frozen=True, slots=True, kw_only=True)
class Locator:
    """An element, described so that it can be found months later; empty parts are not used.

    Attributes:
        nth, of: its index among the elements of the same role, name, landmarks and frame, and their number.
        attributes: stable attributes that together were unique when it was recorded.
        frame: the chain of frames it is in, outermost first.
        href: key of the address a link leads to (``identity.url_key``), its own host left out.
        near: a name in the same row of a repeated list and in no other row ("" outside of lists).
    """

    role: str = ""
    name: str = ""
    nth: int = 0
    of: int = 1
    landmarks: tuple[str, ...] = ()
    test_id: str = ""
    attributes: tuple[tuple[str, str], ...] = ()
    label: str = ""
    text: str = ""
    href: str = ""
    css: str = ""
    xpath: str = ""
    frame: tuple[str, ...] = ()
    near: str = ""

    @property
    def words(self) -> str:
        """The element in words."""
        return f"{self.role or 'element'} '{self.name or self.text or self.label or self.css}'"


class ReplayVerdictKind(StrEnum):
    """The result of comparing the page reached with the page expected; a path never continues after the last
    three.
    """

    EXACT = "exact"
    SAME_TEMPLATE = "same template"
    DRIFTED = "drifted"
    WRONG = "wrong"
    BLOCKED = "blocked"
    ERROR = "error"

    @property
    def ok(self) -> bool:
        """Whether the page is usable as the expected one."""
        return self in (ReplayVerdictKind.EXACT, ReplayVerdictKind.SAME_TEMPLATE)

    @property
    def ends_path(self) -> bool:
        """Whether the path has to end here."""
        return self in (ReplayVerdictKind.WRONG, ReplayVerdictKind.BLOCKED, ReplayVerdictKind.ERROR)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayVerdict:
    """The verdict on a replayed step.

    ``expected`` and ``reached`` are page state ids ("" if unknown), ``similarity`` of their elements is in [0, 1],
    ``why`` says in plain words what differs.
    """

    kind: ReplayVerdictKind
    expected: str = ""
    reached: str = ""
    similarity: float = 0.0
    url: str = ""
    why: str = ""
    tier: Tier | None = None
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Transition:
    """An edge of the multigraph, with its evidence.

    Attributes:
        id: 16 hex digits over source, operation, value, locator and target: the same in any process.
        source, target: page state ids.
        value: address to open, option to select, text to type, key to press.
        attempts, successes: how often it was tried, and how often it led to ``target``.
        seconds: mean time of the successes until the page had settled.
        risk: in [0, 1], a rule's estimate of repeating it (0 for a plain link).
        last_divergence: in words, what differed when it last failed.
        found_by: how it is known; ``seen`` ones were never tried.
        gone_at: when maintenance removed it; 0 while it exists.
    """

    id: str
    source: str
    target: str
    operation: Operation = Operation.CLICK
    value: str = ""
    locator: Locator | None = None
    attempts: int = 0
    successes: int = 0
    seconds: float = 0.0
    risk: float = 0.0
    last_at: float = 0.0
    last_ok_at: float = 0.0
    last_arrival: str = ""
    last_divergence: str = ""
    last_tier: str = ""
    found_by: Source = Source.EXPLORED
    exploration: int = 0
    gone_at: float = 0.0

    @property
    def words(self) -> str:
        """The operation in words."""
        if self.operation is Operation.OPEN or self.locator is None:
            return f"open {self.value}"
        tail = f" = '{self.value}'" if self.value else ""
        return f"{self.operation.value} {self.locator.words}{tail}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One try of a transition: time, duration, result, and the locator tier that found the element."""

    transition: str
    at: float
    arrival: ReplayVerdictKind
    seconds: float
    tier: str = ""
    divergence: str = ""
    by: Source = Source.EXPLORED

    @classmethod
    def of_replay(
        cls,
        transition: str,
        at: float,
        arrival: ReplayVerdictKind,
        why: str,
        seconds: float,
        tier: Tier | None,
    ) -> Self:
        """Return the attempt of a replayed transition; ``why`` is its divergence unless the page is exact."""
        divergence = "" if arrival is ReplayVerdictKind.EXACT else why
        return cls(
            transition=transition, at=at, arrival=arrival, seconds=seconds,
            tier=tier.value if tier is not None else "", divergence=divergence, by=Source.TRAVELLED,
        )  # fmt: skip


class FrontierStatus(StrEnum):
    """The status of a page state's element in the exploration."""

    WAITING = "waiting"
    TRIED = "tried"
    SKIPPED = "skipped"  # never to be tried, for a reason
    FAILED = "failed"  # tried without success


class SkipReason(StrEnum):
    """Why an element was not tried."""

    INHERITED = "on the page before"
    KNOWN = "leads to a known page"
    REPEATED = "one of many alike"
    TEMPLATE = "its template is known"
    BLOCKED = "blocked by a rule"
    DANGER = "could destroy something"
    EXTERNAL = "leads to another host"
    FORM = "would send a form"
    DISABLED = "disabled"
    HIDDEN = "not visible"
    ADVERT = "advert"
    DOWNLOAD = "offers a file"
    SCHEME = "no page (mail, telephone, script)"
    ROBOTS = "robots.txt asks not to"
    DEPTH = "deeper than allowed"
    BUDGET = "the budget is used up"

    @property
    def words(self) -> str:
        """The reason for a person; the value itself is stored in maps."""
        return "already tried on the page it came from" if self is SkipReason.INHERITED else self.value


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontierItem:
    """One element of one page state: to be tried, tried, or skipped with a reason.

    ``element`` is its key (``identity.element_key``), ``detail`` says more (the rule's name, the known page's
    address).
    """

    page: str
    element: str
    operation: Operation
    value: str = ""
    locator: Locator | None = None
    depth: int = 0
    order: int = 0
    status: FrontierStatus = FrontierStatus.WAITING
    reason: SkipReason | None = None
    detail: str = ""
