"""Learnings of a run about a site: the way of clicking that works on a control, the pages that need the
larger vision model (SuperBrowser, section 6.3 and algorithm 5).  Pure data and the rule.

Rule.  Of the agent's own steps, in order:

- a click that only the browser's own click brought to the control, and that had an effect: ``own click`` works there;
- a click on a control that did nothing, and Enter on the same control within the next two steps, on the same page,
  that did something: ``enter key`` works there;
- a click that was made in a learned way at once: that way worked if it had an effect, else it failed.

Steps of a person, controls without a name or with one that is longer than 80 characters, and fields that take text
teach nothing.  A control is known by site, page template, role and name without counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from app.engine.core.action_result import Effect
from app.engine.core.addresses import url_template
from app.engine.core.identity import normal_name
from app.engine.core.trajectory import BY_PERSON, Step

MAX_NAME = 80
NEAR = 2
"""Steps after a click that did nothing within which Enter on the same control is compared with it."""

POINTER, OWN_CLICK, ENTER = "cdp", "playwright", "enter"
"""Methods of a click as ``ActionResult.tried`` names them."""

_SEEN = frozenset({Effect.CHANGED.value, Effect.NAVIGATED.value})
_NOTHING = frozenset({Effect.NOTHING.value, Effect.UNRELATED.value})
_TEXT_ROLES = frozenset({"textbox", "searchbox", "spinbutton", "combobox", "slider"})


class LearnedWay(StrEnum):
    """A way that works where the usual one does not."""

    OWN_CLICK = "own click"
    ENTER = "enter key"
    LARGER_VISION = "larger vision model"


_METHOD = {OWN_CLICK: LearnedWay.OWN_CLICK, ENTER: LearnedWay.ENTER}


@dataclass(frozen=True, slots=True, kw_only=True)
class Learning:
    """A way for a control, or for a page where ``role`` and ``name`` are empty.

    ``page`` is the address without its host, data in it replaced: ``/orders/{n}?tab=items``.
    """

    way: LearnedWay
    site: str
    page: str
    role: str = ""
    name: str = ""

    @property
    def key(self) -> tuple[str, ...]:
        """The parts that make two learnings the same: all but counts and times in the name."""
        return (self.way.value, self.site, self.page, self.role, normal_name(self.name))


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenLearning:
    """A learning at one step of a run: whether the way worked there.

    ``is_new`` if the step taught it; else a learning that was known was tried.  ``url`` is the step's page.
    """

    learning: Learning
    step: int
    url: str
    worked: bool
    is_new: bool = False


def page_of(url: str) -> str:
    """Return the page of an address as learnings name it."""
    return url_template(url, url)


def page_learning(url: str, number: int, site_of: Callable[[str], str]) -> SeenLearning:
    """Return that a page was read whole by the larger vision model; ``number`` tells the passes of a run apart."""
    learning = Learning(way=LearnedWay.LARGER_VISION, site=site_of(url), page=page_of(url))
    return SeenLearning(learning=learning, step=number, url=url, worked=True, is_new=True)


def learnings_of(steps: Sequence[Step], site_of: Callable[[str], str]) -> list[SeenLearning]:
    """Return the learnings of a run's steps, by the rule of this module."""
    found: list[SeenLearning] = []
    for at, step in enumerate(steps):
        if (target := _control(step)) is None or _kind(step) != "click":
            continue
        if step.tried == (POINTER, OWN_CLICK) and step.effect in _SEEN:
            found.append(_seen(LearnedWay.OWN_CLICK, step, target, site_of, worked=True, is_new=True))
        elif (way := _METHOD.get(step.tried[0] if step.tried else "")) is not None and step.executed:
            found.append(_seen(way, step, target, site_of, worked=step.effect in _SEEN))
        elif (
            step.effect in _NOTHING
            and (other := _enter_after(steps[at + 1 : at + 1 + NEAR], step)) is not None
        ):
            found.append(_seen(LearnedWay.ENTER, other, target, site_of, worked=True, is_new=True))
    return found


def _seen(
    way: LearnedWay,
    step: Step,
    target: tuple[str, str],
    site_of: Callable[[str], str],
    *,
    worked: bool,
    is_new: bool = False,
) -> SeenLearning:
    role, name = target
    learning = Learning(way=way, site=site_of(step.url), page=page_of(step.url), role=role, name=name)
    return SeenLearning(learning=learning, step=step.index, url=step.url, worked=worked, is_new=is_new)


def _enter_after(steps: Iterable[Step], click: Step) -> Step | None:
    """Return the step that did with Enter what a click on the same control did not."""
    for step in steps:
        keys = step.action.args.get("key_comb") if step.action is not None else None
        same = step.url == click.url and _control(step) == _control(click)
        if _kind(step) == "press" and keys == "Enter" and same and step.effect in _SEEN:
            return step
    return None


def _kind(step: Step) -> str:
    return step.action.kind if step.action is not None else ""


def _control(step: Step) -> tuple[str, str] | None:
    """Return role and name of the control that the agent acted on, if it can be known again."""
    target = step.target
    if target is None or step.by == BY_PERSON or target.role in _TEXT_ROLES:
        return None
    name = " ".join(target.name.split())
    return (target.role, name) if 0 < len(name) <= MAX_NAME else None


@dataclass(slots=True)
class LearnedWays:
    """The learnings that hold, for a run's executor.

    Args:
        site_of: the site of an address.
    """

    site_of: Callable[[str], str] = lambda url: ""
    known: frozenset[tuple[str, ...]] = frozenset()
    _failed: set[tuple[str, ...]] = field(default_factory=set[tuple[str, ...]])

    @classmethod
    def of(cls, learnings: Iterable[Learning], site_of: Callable[[str], str]) -> LearnedWays:
        """Return the ways of some learnings."""
        return cls(site_of, frozenset(one.key for one in learnings))

    def click(self, url: str, role: str, name: str) -> LearnedWay | None:
        """Return the way to click a control of a page; ``None`` for the usual one."""
        if not self.known:
            return None
        return next((one.way for one in self._ways(url, role, name) if self._holds(one)), None)

    def needs_larger_vision(self, url: str) -> bool:
        """Whether a page needs the larger vision model."""
        if not self.known:
            return False
        one = Learning(way=LearnedWay.LARGER_VISION, site=self.site_of(url), page=page_of(url))
        return self._holds(one)

    def drop(self, url: str, role: str, name: str) -> None:
        """Click a control in the usual way for the rest of the run: the learned one did nothing."""
        self._failed.update(one.key for one in self._ways(url, role, name))

    def _ways(self, url: str, role: str, name: str) -> Iterator[Learning]:
        site, page = self.site_of(url), page_of(url)
        for way in (LearnedWay.OWN_CLICK, LearnedWay.ENTER):
            yield Learning(way=way, site=site, page=page, role=role, name=name)

    def _holds(self, one: Learning) -> bool:
        return one.key in self.known and one.key not in self._failed
