"""Memory of one run: pages seen and how well they fit, ways tried, values entered, what failed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from app.engine.agent.scout.answers import Answer
from app.engine.agent.scout.relations import PageRelations, Relation, Row
from app.engine.agent.scout.value_matching import FormPlan
from app.engine.core.action_result import Cause
from app.engine.core.actions.types import Action
from app.engine.core.observation import HistoryEntry
from app.engine.core.page_state import PageCapture

WRITING = ("send:", "press:", "confirm:")
"""Beginnings of the keys of steps that write."""
_MOST_LINKS = 3_000
_ABOUT = 0.85
"""Evidence of a name from which on a page is about it."""
MOST_FAILURES = 2
"""Failures after which an attempt is not made again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoutStep:
    """An action the scout would take.

    Attributes:
        score: how likely it helps, in [0, 1]; comparable among steps of one page.
        key: identifies the attempt, however its element is numbered by now.
        leads_to: key of the page a link leads to, "" where that is not known.
        tip: the tip it follows.
        marks: words that hold once the action is done.
    """

    action: Action
    reason: str
    key: str
    score: float = 1.0
    leads_to: str = ""
    tip: str = ""
    marks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Known:
    """A link seen somewhere: its address, how well its page may fit, and its name."""

    url: str
    score: float
    name: str


@dataclass(frozen=True, slots=True)
class Sent:
    """A form that was sent, or a control that was pressed: its plan, the page it was on, the parts it does."""

    plan: FormPlan
    page: PageCapture
    parts: int


@dataclass(slots=True)
class RowPages:
    """A list whose rows' own pages are read one after the other.

    Attributes:
        ask: asks the question of relations; ``page`` is what the page of the list says.
        links: addresses of the rows' pages.
        opened: number of the row whose page is in front, -1 before the first.
        rows: those read, with what their pages say.
    """

    ask: Callable[[PageRelations], Answer | None]
    page: PageRelations
    relation: Relation
    links: list[str]
    opened: int = -1
    rows: list[Row] = field(default_factory=list[Row])


@dataclass(slots=True)
class Memory:
    """State of one part of the task; ``part`` is its number.

    Attributes:
        fits: fit of each page that was in front, by its key; ``urls`` their addresses.
        known: pages that links led to and nobody opened yet, by key.
        tried: how often each attempt was made with success, ``failed`` how often without.
        marks: words that hold since a step was done.
        containers: what pages call themselves, as evidence of terms by path; what lies below belongs to them.
        collected: what was read of each page of a list, by key.
        searched: words that were searched for.
        shown: best evidence of each term in any page or link so far.
        applied: filters that brought a page, by its key.
        answers: less certain answers, for when nothing promises a better one; ``values`` those by thing.
        shown_on: paths of the pages that showed a label with its value.
        row_pages: the list whose rows are read page by page.
        links: pages that each link was seen on, by its address; ``dead`` names of links that led nowhere.
        sent: the form that was sent last.
        opened: names of the thing whose row was opened, by the path of its page.
    """

    part: int = 0
    fits: dict[str, float] = field(default_factory=dict[str, float])
    urls: dict[str, str] = field(default_factory=dict[str, str])
    known: dict[str, Known] = field(default_factory=dict[str, Known])
    tried: dict[str, int] = field(default_factory=dict[str, int])
    failed: dict[str, float] = field(default_factory=dict[str, float])
    marks: set[str] = field(default_factory=set[str])
    containers: dict[str, dict[str, float]] = field(default_factory=dict[str, "dict[str, float]"])
    collected: dict[str, PageRelations] = field(default_factory=dict[str, PageRelations])
    searched: set[str] = field(default_factory=set[str])
    shown: dict[str, float] = field(default_factory=dict[str, float])
    applied: dict[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    answers: list[Answer] = field(default_factory=list["Answer"])
    values: dict[str, Answer] = field(default_factory=dict[str, Answer])
    shown_on: dict[tuple[str, str], set[str]] = field(default_factory=dict[tuple[str, str], "set[str]"])
    row_pages: RowPages | None = None
    links: dict[str, set[str]] = field(default_factory=dict[str, "set[str]"])
    dead: set[str] = field(default_factory=set[str])
    opened: dict[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    errors: list[str] = field(default_factory=list[str])
    sent: Sent | None = None
    pending: ScoutStep | None = None

    def learn(self, entry: HistoryEntry | None) -> None:
        """Take in what came of the step before; ``None`` where it was not done."""
        step, self.pending = self.pending, None
        if step is None or entry is None:
            return
        result = entry.result
        if result.success or step.key.startswith(WRITING):
            self.tried[step.key] = self.tried.get(step.key, 0) + 1
        if result.success and not result.blocked_writes:
            self.marks.update(step.marks)
            return
        if result.blocked_writes:
            self.errors.append(
                f"no permit to write by {step.reason.partition(' is ')[0][:60]}: {result.blocked_writes[0]}"
            )
        if step.key.startswith(WRITING):
            self.sent = None  # it was refused, or not answered: nothing can have been saved by it
        cost = 0.7 if result.cause is Cause.COVERED else 1.0  # what lies over a control may go away
        self.failed[step.key] = self.failed.get(step.key, 0.0) + cost
        self.errors += [result.why] if result.why else []

    def _marked(self, kind: str) -> set[str]:
        return {mark.removeprefix(kind) for mark in self.marks if mark.startswith(kind)}

    def note_page(self, key: str, links: Iterable[str]) -> None:
        """Take in the page in front: what was searched for, which filters brought it, the addresses it links to."""
        for address in dict.fromkeys(links):
            if len(self.links) < _MOST_LINKS or address in self.links:
                self.links.setdefault(address, set()).add(key)
        self.searched |= self._marked("searched:")
        if "applied" in self.marks:
            self.applied[key] = self.applied.get(key, frozenset()) | self._marked("filter:")
            self.marks -= {"applied", *(f"half:{one}" for one in self._marked("half:"))}

    @property
    def frame(self) -> frozenset[str]:
        """Addresses that nearly every page links to: the frame of the site."""
        pages = len({page for seen in self.links.values() for page in seen})
        return frozenset(at for at, seen in self.links.items() if len(seen) > 1 and len(seen) >= 0.75 * pages)

    def places(self, path: str) -> frozenset[str]:
        """Return what a page at a path belongs to: what was opened there or above, what pages above are about."""
        opened = [names for at, names in self.opened.items() if f"{path}/".startswith(f"{at}/")]
        above = [shown for at, shown in self.containers.items() if path.startswith(f"{at}/")]
        about = {name for shown in above for name, one in shown.items() if one >= _ABOUT}
        return frozenset(about.union(*opened))

    def next_part(self, parts: int = 1) -> Memory:
        """Return the memory of the part behind ``parts`` that are done: what is known of the site stays."""
        return Memory(
            part=self.part + parts,
            links=self.links,
            dead=self.dead,
            containers=self.containers,
            opened=self.opened,
            marks={mark for mark in self.marks if mark.startswith("tip:")},
        )

    def worn_out(self, step: ScoutStep, most: int = 1) -> bool:
        """Whether an attempt was made often enough."""
        return self.tried.get(step.key, 0) >= most or self.failed.get(step.key, 0.0) >= MOST_FAILURES

    def forget_worst(self, most: int) -> None:
        """Keep the links that promise most, at most so many."""
        if len(self.known) > most:
            self.known = dict(sorted(self.known.items(), key=lambda entry: -entry[1].score)[:most])

    @property
    def idle_pages(self) -> int:
        """Pages seen since the one that fitted best."""
        seen = list(self.fits.values())
        return len(seen) - 1 - seen.index(max(seen)) if seen else 0

    def best_page(self) -> str:
        """Return the address of the page that fitted best, "" before the first look."""
        return self.urls[max(self.fits, key=lambda key: self.fits[key])] if self.fits else ""
