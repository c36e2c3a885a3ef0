"""Lists of a state: elements with their status, transitions out and in, runs that visited it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from app.engine.api.graph_api import TRIED_ROLES, NodeDetail
from app.engine.core.transition import (
    FrontierItem,
    FrontierStatus,
    Locator,
    Operation,
    SkipReason,
    Transition,
)
from app.models.common.object_list import ObjectList

if TYPE_CHECKING:
    from app.engine.api.run_rows import RunRow
    from app.engine.core.page_state import Element

ELEMENT_STATUSES = ("tried", "waiting", "failed", "skipped", "")
"""Statuses of an element, in the order of the filter; "" is unknown."""

_BEST_FIRST = (FrontierStatus.TRIED, FrontierStatus.FAILED, FrontierStatus.WAITING, FrontierStatus.SKIPPED)
_DETAIL_SAYS_IT = frozenset({SkipReason.BLOCKED, SkipReason.DANGER})


@dataclass(frozen=True, slots=True, kw_only=True)
class ElementRow:
    """An element and its status: ``status`` is one of ``ELEMENT_STATUSES``, ``why`` explains it.

    ``target`` is the state it leads to, where known; ``number`` is its position among the page's elements.
    """

    number: int
    element: Element
    status: str
    why: str
    target: str = ""
    target_title: str = ""

    @property
    def name(self) -> str:
        """The element's name, or else what tells it from the others."""
        element = self.element
        return element.name or element.label or element.text or element.test_id or element.href or "no name"


@dataclass(frozen=True, slots=True, kw_only=True)
class TransitionRow:
    """A transition of the open state: ``other`` is the state at its other end."""

    transition: Transition
    other: str
    title: str
    outgoing: bool

    @property
    def status(self) -> str:
        """``ok`` (the last attempt arrived), ``warn`` (it failed), ``fail`` (none ever arrived), or "" (not
        tried).
        """
        one = self.transition
        if one.gone_at:
            return "fail"
        if not one.attempts:
            return ""
        if not one.successes:
            return "fail"
        return "warn" if one.successes < one.attempts and one.last_ok_at < one.last_at else "ok"

    @property
    def numbers(self) -> str:
        """``3 of 4 · 0.42 s · by role and name``."""
        one = self.transition
        if one.gone_at:
            return "no longer on the page"
        if not one.attempts:
            return "not tried"
        parts = [f"{one.successes} of {one.attempts} arrived"]
        if one.successes:
            parts.append(seconds_words(one.seconds))
        if one.risk:
            parts.append(f"risk {one.risk:.1f}")
        if one.last_tier:
            parts.append(f"by {one.last_tier}")
        return " · ".join(parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class PassingRun:
    """A run that visited this state at a step; ``score`` is ``None`` without one."""

    run: str
    step: int
    intent: str = ""
    score: float | None = None
    scored: bool = False


class ElementListModel(ObjectList[ElementRow]):
    """Elements in document order."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(lambda row: row.number, parent)

    def words(self, value: ElementRow) -> str:
        return element_words(value)

    def tip(self, value: ElementRow) -> str:
        """Description, landmarks, states, and a link's address."""
        element = value.element
        parts = [self.words(value), " › ".join((*element.frame, *element.landmarks))]
        parts += [", ".join(element.states), element.href]
        return "\n".join(part for part in parts if part)


class TransitionListModel(ObjectList[TransitionRow]):
    """Transitions of one direction: those followed first, then those only seen."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(lambda row: row.transition.id, parent)

    def words(self, value: TransitionRow) -> str:
        """``click link 'Cart', to Basket, 3 of 4 arrived · 0.42 s``."""
        way = "to" if value.outgoing else "from"
        last = value.transition.last_divergence
        return f"{value.transition.words}, {way} {value.title}, {value.numbers}{f', last: {last}' if last else ''}"


class PassingRunListModel(ObjectList[PassingRun]):
    """Runs in the order of their visits."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(lambda row: (row.run, row.step), parent)

    def words(self, value: PassingRun) -> str:
        """``gitlab.12, step 4, failed: Create a milestone``."""
        said = f", {score_words(value)}" if value.scored else ""
        return f"{value.run}, step {value.step}{said}{f': {value.intent}' if value.intent else ''}"


def element_words(row: ElementRow) -> str:
    """``button 'Delete', skipped: could destroy something``."""
    return f"{row.element.role} '{row.name}', {row.why}"


def element_rows(detail: NodeDetail) -> list[ElementRow]:
    """Return every element with its status from the frontier and the transitions."""
    items: dict[str, list[FrontierItem]] = {}
    for item in detail.frontier:
        items.setdefault(item.element, []).append(item)
    leads = _Destinations(detail.outgoing)
    rows: list[ElementRow] = []
    for number, element in enumerate(detail.elements):
        key = detail.element_keys[number] if number < len(detail.element_keys) else ""
        found = items.get(key, [])
        target = leads.of(element, found)
        status, why = status_of(element, found)
        title = detail.titles.get(target, target)
        if status == FrontierStatus.TRIED and target:
            why = "tried: the page stays as it is" if target == detail.row.id else f"tried: leads to {title}"
        rows.append(
            ElementRow(
                number=number,
                element=element,
                status=status,
                why=why,
                target=target,
                target_title=title,
            )
        )
    return rows


class _Destinations:
    """Target states of elements, from the transitions that leave their page."""

    def __init__(self, outgoing: Iterable[Transition]) -> None:
        self._on_tested: dict[tuple[Operation, str, Locator | None], str] = {}
        self._alike: dict[tuple[str, str, tuple[str, ...], tuple[str, ...]], set[str]] = {}
        for one in outgoing:
            if one.locator is not None:
                self._on_tested[_action_words(one)] = one.target
                look = (one.locator.role, one.locator.name, one.locator.landmarks, one.locator.frame)
                self._alike.setdefault(look, set()).add(one.target)

    def of(self, element: Element, items: Iterable[FrontierItem]) -> str:
        """Return the state an element leads to: by the actions on it, else by its looks where they are unique."""
        target = next(
            (self._on_tested[_action_words(one)] for one in items if _action_words(one) in self._on_tested),
            "",
        )
        alike = self._alike.get((element.role, element.name, element.landmarks, element.frame), set())
        return target or (next(iter(alike)) if len(alike) == 1 else "")


def _action_words(one: FrontierItem | Transition) -> tuple[Operation, str, Locator | None]:
    """Return operation, value and locator; a link's address is no part of a click."""
    return one.operation, "" if one.operation is Operation.CLICK else one.value, one.locator


def status_of(element: Element, items: Sequence[FrontierItem]) -> tuple[str, str]:
    """Return an element's status and the reason; the options of a list count one by one."""
    if not items:
        return "", _refusal(element)
    by_value: dict[tuple[Operation, str], FrontierItem] = {}
    for item in sorted(items, key=lambda item: _BEST_FIRST.index(item.status), reverse=True):
        by_value[_action_words(item)[:2]] = item
    chosen = min(by_value.values(), key=lambda item: _BEST_FIRST.index(item.status))
    if len(by_value) == 1:
        return chosen.status.value, item_words(chosen)
    counts = {status: sum(item.status is status for item in by_value.values()) for status in FrontierStatus}
    words = [f"{count} {_word(status)}" for status, count in counts.items() if count]
    if counts[FrontierStatus.WAITING]:
        return FrontierStatus.WAITING.value, f"{len(by_value)} options: {', '.join(words)}"
    return chosen.status.value, f"{len(by_value)} options: {', '.join(words)}"


def item_words(item: FrontierItem) -> str:
    """Return ``waiting to be tried``, ``skipped: leads to another host (cdn.example.com)``."""
    match item.status:
        case FrontierStatus.WAITING:
            return "waiting to be tried"
        case FrontierStatus.TRIED:
            return f"tried: {item.detail}" if item.detail else "tried"
        case FrontierStatus.FAILED:
            return f"failed: {item.detail}" if item.detail else "failed"
        case FrontierStatus.SKIPPED:
            reason = item.reason.words if item.reason is not None else "no reason recorded"
            rule = "rule " if item.reason in _DETAIL_SAYS_IT else ""
            return f"skipped: {reason} ({rule}{item.detail})" if item.detail else f"skipped: {reason}"


def transition_rows(
    transitions: Iterable[Transition], titles: Mapping[str, str], *, outgoing: bool
) -> list[TransitionRow]:
    """Return failed transitions first, then working ones, then those only seen; by the other state's title."""
    rows = [
        TransitionRow(transition=one, other=other, title=titles.get(other) or other, outgoing=outgoing)
        for one in transitions
        for other in (one.target if outgoing else one.source,)
    ]
    rank = {"fail": 0, "warn": 1, "ok": 2, "": 3}
    return sorted(rows, key=lambda row: (rank[row.status], row.title.lower(), row.transition.words))


def passing_runs(passed: Iterable[tuple[str, int]], known: Mapping[str, RunRow]) -> list[PassingRun]:
    """Return the runs with their scores; several visits at one step count once."""
    rows: list[PassingRun] = []
    for run, step in dict.fromkeys(passed):
        row = known.get(run)
        rows.append(
            PassingRun(run=run, step=step)
            if row is None
            else PassingRun(
                run=run, step=step, intent=row.intent, score=row.score, scored=row.score is not None
            )
        )
    return rows


def score_words(run: PassingRun) -> str:
    """``passed``, ``failed``, ``partly passed``, ``not scored``."""
    if run.score is None:
        return "not scored"
    if run.score >= 1:
        return "passed"
    return "partly passed" if run.score > 0 else "failed"


def seconds_words(seconds: float) -> str:
    """``40 ms``, ``1.2 s``, ``2 min 05 s``, ``1 h 02 min``."""
    if seconds < 0.1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 59.5:
        return f"{seconds:.2g} s" if seconds < 10 else f"{seconds:.0f} s"
    whole = round(seconds)
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02} min"


def _word(status: FrontierStatus) -> str:
    return {
        FrontierStatus.WAITING: "waiting",
        FrontierStatus.TRIED: "tried",
        FrontierStatus.FAILED: "failed",
        FrontierStatus.SKIPPED: "skipped",
    }[status]


def _refusal(element: Element) -> str:
    if not element.visible:
        return f"skipped: {SkipReason.HIDDEN.words}"
    if "disabled" in element.states:
        return f"skipped: {SkipReason.DISABLED.words}"
    if element.role not in TRIED_ROLES:
        return f"skipped: elements with role {element.role} are not tried"
    return "unknown"
