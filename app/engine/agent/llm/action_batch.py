"""A batch: several actions of one answer, done one a step until the page changes (SuperBrowser, 4.1)."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from app.engine.core.action_result import Effect
from app.engine.core.actions.types import (
    Action,
    AskHuman,
    ClickMark,
    CloseTab,
    Drag,
    GoBack,
    GoForward,
    Goto,
    Navigate,
    NewTab,
    ReportInfeasible,
    Stop,
    SwitchTab,
    TypeMark,
    elements_of,
)
from app.engine.core.observation import Observation
from app.engine.core.page_state import Element, PageCapture

_ENDS_BATCH = (
    Stop,
    ReportInfeasible,
    AskHuman,
    Navigate,
    Goto,
    GoBack,
    GoForward,
    NewTab,
    SwitchTab,
    CloseTab,
    ClickMark,
    TypeMark,
)
"""Actions that need a look at the page first: they end a batch, or are left out of it."""


@dataclass(slots=True)
class ActionBatch:
    """The remaining actions of an answer, with the element numbers of the page it was given for."""

    waiting: deque[Action] = field(default_factory=deque[Action])
    page: PageCapture | None = None
    said: tuple[str, ...] = ()

    def begin(self, commands: Sequence[Action], observation: Observation) -> None:
        """Keep the actions after the first, up to the first that needs a look at the page."""
        self.waiting.clear()
        self.page, self.said = observation.page, _hints_of(observation)
        if commands and not isinstance(commands[0], _ENDS_BATCH):
            for action in commands[1:]:
                if isinstance(action, _ENDS_BATCH):
                    break
                self.waiting.append(action)

    def next(self, observation: Observation) -> Action | None:
        """Return the next action, numbered for the current page; ``None`` when there is none or the page changed.

        The rest is dropped in that case.
        """
        if not self.waiting or self.page is None:
            return None
        if _is_page_unchanged(observation, self.page) and _hints_of(observation) == self.said:
            action = renumber_action(self.waiting.popleft(), self.page, observation.page)
            if action is not None:
                return action
        self.waiting.clear()
        return None


def renumber_action(action: Action, before: PageCapture, now: PageCapture) -> Action | None:
    """Return an action with its elements' numbers on another look; ``None`` where one is not certain."""
    numbers = elements_of(action)
    if not numbers:
        return action
    changed = {number: _current_number(number, before, now) for number in numbers}
    found = {number: new for number, new in changed.items() if new is not None}
    if len(found) < len(changed):
        return None
    if all(number == new for number, new in found.items()):
        return action
    if isinstance(action, Drag):
        source = found.get(action.source, action.source) if isinstance(action.source, int) else action.source
        target = found.get(action.target, action.target) if isinstance(action.target, int) else action.target
        return replace(action, source=source, target=target)
    return replace(action, element=found[numbers[0]])


def _is_page_unchanged(observation: Observation, page: PageCapture) -> bool:
    last = observation.last
    return (
        last is not None
        and last.result.success
        and last.result.effect is not Effect.NAVIGATED
        and observation.page.url == page.url
        and observation.page.title == page.title
        and not observation.page.alerts
        and not observation.guidance
        and not observation.news
    )


def _hints_of(observation: Observation) -> tuple[str, ...]:
    """Ids of the supervisor's hints in force: a new hint ends the batch."""
    return tuple(tip.tip for tip in observation.tips if tip.kind == "person")


def _current_number(number: int, before: PageCapture, now: PageCapture) -> int | None:
    old = next((element for element in before.elements if element.index == number), None)
    if old is None:
        return None
    key = _element_key(old)
    alike = [element.index for element in now.elements if _element_key(element) == key]
    if number in alike:
        return number
    return alike[0] if len(alike) == 1 else None


def _element_key(element: Element) -> tuple[object, ...]:
    return (element.role, element.name, element.css, element.frame, element.repeat_index)
