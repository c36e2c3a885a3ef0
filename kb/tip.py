"""A tip and the types around it.  Pure data.

A tip describes a site's operating logic, not one task's steps (ColorBrowserAgent, appendix C): when it applies, what
to do, what must come before, and why.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from kb.procedure import Procedure

BETWEEN = " · "
"""Between the names in the words of an anchor."""

CROSS = "cross"
"""The site of tips (and tasks) that span several sites."""


class Kind(StrEnum):
    """The topic of a tip."""

    NAVIGATION = "navigation"
    OPERATION = "operation"
    UI_QUIRK = "ui-quirk"
    DATA_FACT = "data-fact"
    ANSWER_FORMAT = "answer-format"
    POLICY = "policy"
    LEARNING = "learning"
    """Written by the program: which way works on a control, which page needs the larger vision model."""


class Status(StrEnum):
    """A tip's status; only ``active`` ones are frozen unless others are requested."""

    DRAFT = "draft"
    REVIEWED = "reviewed"
    ACTIVE = "active"
    SUSPECT = "suspect"
    RETIRED = "retired"


FOLLOWED_LEARNINGS = frozenset({Status.DRAFT, Status.REVIEWED, Status.ACTIVE})
"""Statuses of learnings that runs follow."""

RETRIEVABLE = frozenset({Status.REVIEWED, Status.ACTIVE, Status.SUSPECT})
"""Statuses whose tips are retrieved from a live knowledge base; drafts and retired tips are not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """The addresses a tip applies to.

    Attributes:
        host: glob over ``host:port`` (``*:8023``, ``*.example.com``); empty means "the hosts of the tip's site".
        path: glob over the path; ``*`` stays within a segment, ``**`` crosses ``/``; empty means every path.
        query: required query keys, sorted; ``key=value`` requires the value too.
    """

    host: str = ""
    path: str = ""
    query: tuple[str, ...] = ()

    def __str__(self) -> str:
        text = f"{self.host}{self.path}"
        return f"{text}?{'&'.join(self.query)}" if self.query else text

    @classmethod
    def parse(cls, text: str) -> Scope:
        """Parse ``host/path?key&key=value``; a leading ``/`` means the site's own hosts, a scheme is dropped."""
        text = text.strip()
        if "://" in text:
            text = text.split("://", 1)[1]
        text, _, query = text.partition("?")
        host, slash, path = text.partition("/")
        keys = tuple(sorted({key for key in query.split("&") if key}))
        return cls(host=host, path=slash + path if slash else "", query=keys)


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """The origin of a tip; every field may be empty.  ``screenshot`` is a content hash."""

    run: str = ""
    step: int | None = None
    screenshot: str = ""
    author: str = ""
    detector: str = ""
    verdict: str = ""
    source: str = ""
    """The file an imported tip came from: its name, never a path."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchor:
    """A region of a screenshot that a tip is about (ColorBrowserAgent, 3.2): found again on pages that look alike.

    Attributes:
        screenshot: content hash of the picture it was drawn on.
        box: left, top, width and height in CSS pixels of that picture.
        words: the names of the elements in the region, ``BETWEEN`` them; ``role`` the role of the main one.
        neighbours: the names of elements around it, nearest first.
        page: the template address of the page it was drawn on.
    """

    screenshot: str = ""
    box: tuple[int, int, int, int] = (0, 0, 0, 0)
    words: str = ""
    role: str = ""
    neighbours: tuple[str, ...] = ()
    page: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TipRecord:
    """Counts of how a tip has fared: the evidence that raises or lowers its rank.

    Attributes:
        applied: steps at which its condition held; ``done``: steps at which one of its steps was done.
        effect: of those, steps whose effect was seen; ``failed``: steps at which its step could not be done.
        up, down: votes of operators and annotators.
        tests, broke: tests in a browser that reached the tip's page, and those that broke.
    """

    applied: int = 0
    done: int = 0
    effect: int = 0
    failed: int = 0
    up: int = 0
    down: int = 0
    tests: int = 0
    broke: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class LastTest:
    """The newest test of a tip's content: its outcome, the number of the step that decided it, and when."""

    outcome: str
    step: int = 0
    at: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class TipDraft:
    """The content given by a person (or a file); all fields but the site and the text have defaults.

    ``when`` / ``do`` / ``before`` / ``why`` are the paper's scope, action, constraint and goal alignment.  ``taint``
    holds ids of the tasks its author saw.
    """

    site: str
    text: str
    scope: Scope = field(default_factory=Scope)
    kind: Kind = Kind.OPERATION
    when: str = ""
    do: str = ""
    before: str = ""
    why: str = ""
    keywords: tuple[str, ...] = ()
    status: Status = Status.DRAFT
    provenance: Provenance = field(default_factory=Provenance)
    taint: tuple[str, ...] = ()
    procedure: Procedure | None = None
    """The steps; None for a tip stored before there were any: ``kb.compiler.procedure_of`` compiles them."""
    anchor: Anchor | None = None
    tags: tuple[str, ...] = ()
    """Words by which people file it, such as ``confidential``; agents never see them, and they are never frozen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiver:
    """A person's decision that a tip may be active despite these lint errors.  ``at`` is Unix seconds."""

    rules: tuple[str, ...]
    reason: str
    author: str = ""
    at: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Tip(TipDraft):
    """A stored tip.  ``id`` never changes; ``revision`` counts from 1; times are Unix seconds.

    The ``waiver`` belongs to this revision's content; a changed text needs another one.  It is never frozen.
    """

    id: str
    revision: int = 1
    created_at: float = 0.0
    changed_at: float = 0.0
    waiver: Waiver | None = None
    record: TipRecord = field(default_factory=TipRecord)
    """How the tip has fared; in a frozen file as it was at the freeze."""
    last_test: LastTest | None = None
    """The newest test of what the tip says now; None for one that was not tested since.  Never frozen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """One version of a tip, its author and time, and the change that made it ("retire", "edit", "undo edit")."""

    tip: Tip
    deed: str
    author: str
    at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusChange:
    """The result of a change of status: the tips in their new state, and the rules that kept others from becoming
    active.
    """

    tips: tuple[Tip, ...]
    refused: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])


class Route(StrEnum):
    """The route by which a tip was found; the order is the cascade's."""

    URL = "url"
    KEYWORD = "keyword"
    EMBEDDING = "embedding"
    ANCHOR = "anchor"


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A query to the knowledge base at a step; every field may be empty.

    Attributes:
        url: the page's address; ``text`` the goal; ``site`` the site if known, ``sites`` all sites of the task.
        subgoal: the part of the goal in hand.
        title, headings, controls: the page in front; a control is its role and name ("button Save").
        element: role and name of the element about to be used.
        failure: the last failure in one sentence.
        looks: tips whose region the page's picture shows, with the likeness in (0, 1]
            (``kb.retrieval.anchors``).
    """

    url: str = ""
    text: str = ""
    site: str = ""
    sites: tuple[str, ...] = ()
    subgoal: str = ""
    title: str = ""
    headings: tuple[str, ...] = ()
    controls: tuple[str, ...] = ()
    element: str = ""
    failure: str = ""
    looks: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrieved:
    """One tip found: by which route, the probability that it is useful, and why in one line.

    ``routes`` are all routes that speak for it with their own scores; ``route`` is the one that adds most.
    """

    tip: Tip
    route: Route
    score: float
    why: str
    routes: dict[str, float] = field(default_factory=dict[str, float])
    tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Missed:
    """A near miss and the reason: below a threshold, over the budget, status."""

    tip: Tip
    reason: str
    routes: dict[str, float] = field(default_factory=dict[str, float])


PARTLY = "still being prepared"
"""Prefix of the reason of a route that covers only a part of the tips so far."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrieval:
    """The complete answer to a query.  ``routes_off`` gives the routes that were unavailable, or only partly
    available, and why.
    """

    results: tuple[Retrieved, ...]
    missed: tuple[Missed, ...] = ()
    tokens: int = 0
    budget: int = 0
    routes_off: dict[str, str] = field(default_factory=dict[str, str])
    note: str = ""
    """A remark on the query itself: an address on a host that belongs to no site."""


class LintSeverity(StrEnum):
    """An ``error`` withholds the tip from agents and frozen files; the others only inform."""

    ERROR = "error"
    WARNING = "warning"
    HINT = "hint"


@dataclass(frozen=True, slots=True, kw_only=True)
class LintFinding:
    """One lint finding; ``start``/``end`` are character offsets into the text, -1 if it concerns the whole tip."""

    rule: str
    severity: LintSeverity
    message: str
    start: int = -1
    end: int = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class Similar:
    """A stored tip that says nearly the same (``duplicate``), something alike, or the opposite (``contradiction``)."""

    tip: Tip
    score: float
    relation: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredStep:
    """A past step with the fields pre-flight needs."""

    run: str
    step: int
    url: str
    site: str
    text: str
    """The goal at that step: the agent's query."""
    failed: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PreflightExample:
    """A stored step in which the tip would have been retrieved."""

    run: str
    step: int
    url: str
    route: str
    score: float
    failed: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Preflight:
    """In how many stored steps and runs a tip would have been retrieved, with examples."""

    steps: int
    failed_runs: int
    passed_runs: int
    steps_in_failed: int = 0
    steps_in_passed: int = 0
    in_scope: int = 0
    """Stored steps whose address matches the scope, retrieved or not."""
    by_route: dict[str, int] = field(default_factory=dict[str, int])
    """Of the steps in which it would have been retrieved: how many each route carried."""
    examples: tuple[PreflightExample, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FreezeReport:
    """The result of a freeze."""

    path: str
    manifest: str
    sha256: str
    tips: int
    left_out: dict[str, int] = field(default_factory=dict[str, int])
    lint_errors: tuple[str, ...] = ()
    tainted_tasks: int = 0
    warnings: tuple[str, ...] = ()
    """Tips that were frozen although they mention what is left out as confidential."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyReport:
    """Whether a frozen file is what its manifest says; ``problems`` is empty when it is.

    ``tips`` counts those that can be read: none of a file whose tips are not the ones that were frozen.
    """

    path: str
    ok: bool
    sha256: str
    tips: int
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportReport:
    """The result of an import: ids added, number already present, errors."""

    added: tuple[str, ...]
    skipped: int = 0
    failed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class KbDiff:
    """The differences between two knowledge bases; ``changed`` holds pairs of the same id."""

    added: tuple[Tip, ...]
    removed: tuple[Tip, ...]
    changed: tuple[tuple[Tip, Tip], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class KbStats:
    """Counts for the status bar and ``kb stats``."""

    tips: int
    by_status: dict[str, int]
    by_site: dict[str, int]
    by_kind: dict[str, int]
    revisions: int
    vectors: int
    encoder: str
    frozen: bool
