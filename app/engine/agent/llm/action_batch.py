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

    def begin(self, commands: Sequence[Action], sight: Observation) -> None:
        """Keep the actions after the first, up to the first that needs a look at the page."""
        self.waiting.clear()
        self.page, self.said = sight.page, _hints_of(sight)
        if commands and not isinstance(commands[0], _ENDS_BATCH):
            for command in commands[1:]:
                if isinstance(command, _ENDS_BATCH):
                    break
                self.waiting.append(command)

    def next(self, sight: Observation) -> Action | None:
        """Return the next action, numbered for the current page; ``None`` when there is none or the page changed.

        The rest is dropped in that case.
        """
        if not self.waiting or self.page is None:
            return None
        if _is_page_unchanged(sight, self.page) and _hints_of(sight) == self.said:
            command = renumber_action(self.waiting.popleft(), self.page, sight.page)
            if command is not None:
                return command
        self.waiting.clear()
        return None


def renumber_action(command: Action, before: PageCapture, now: PageCapture) -> Action | None:
    """Return an action with its elements' numbers on another look; ``None`` where one is not certain."""
    numbers = elements_of(command)
    if not numbers:
        return command
    changed = {number: _current_number(number, before, now) for number in numbers}
    found = {number: new for number, new in changed.items() if new is not None}
    if len(found) < len(changed):
        return None
    if all(number == new for number, new in found.items()):
        return command
    if isinstance(command, Drag):
        source = (
            found.get(command.source, command.source) if isinstance(command.source, int) else command.source
        )
        target = (
            found.get(command.target, command.target) if isinstance(command.target, int) else command.target
        )
        return replace(command, source=source, target=target)
    return replace(command, element=found[numbers[0]])


def _is_page_unchanged(sight: Observation, page: PageCapture) -> bool:
    last = sight.last
    return (
        last is not None
        and last.result.success
        and last.result.effect is not Effect.NAVIGATED
        and sight.page.url == page.url
        and sight.page.title == page.title
        and not sight.page.alerts
        and not sight.guidance
        and not sight.news
    )


def _hints_of(sight: Observation) -> tuple[str, ...]:
    """Ids of the supervisor's hints in force: a new hint ends the batch."""
    return tuple(tip.tip for tip in sight.tips if tip.kind == "person")


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
