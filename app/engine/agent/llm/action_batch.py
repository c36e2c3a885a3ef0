"""A batch: several actions of one answer, done one a step until the page changes (SuperBrowser, 4.1)."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from app.engine.core.action_result import Effect
from app.engine.core.actions.specs import Action, spec_of
from app.engine.core.element_identity import renumber_action
from app.engine.core.observation import Observation
from app.engine.core.page_state import PageCapture


@dataclass(slots=True)
class ActionBatch:
    """The remaining actions of an answer, with the element numbers of the page it was given for."""

    waiting: deque[Action] = field(default_factory=deque[Action])
    page: PageCapture | None = None
    said: tuple[str, ...] = ()

    def begin(self, actions: Sequence[Action], observation: Observation) -> None:
        """Keep the actions after the first, up to the first that needs a look at the page."""
        self.waiting.clear()
        self.page, self.said = observation.page, _hints_of(observation)
        if actions and not spec_of(actions[0]).ends_batch:
            for action in actions[1:]:
                if spec_of(action).ends_batch:
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
            if not isinstance(action, int):
                return action
        self.waiting.clear()
        return None


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
