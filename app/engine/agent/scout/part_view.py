"""Everything a part of a task is decided by at one step: the part, the page, the memory, the ways on."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from app.engine.agent.scout.memory import Memory
from app.engine.agent.scout.navigation import Wayfinder
from app.engine.agent.scout.page_context import PageContext
from app.engine.agent.scout.task import TaskPart
from app.engine.agent.scout.terms import terms_of
from app.engine.core.observation import Observation


@dataclass
class PartView:
    """One look with one part of the task."""

    observation: Observation
    part: TaskPart
    context: PageContext
    memory: Memory
    later: tuple[TaskPart, ...] = ()
    """Parts that follow; one form may hold what several of them ask for."""

    @cached_property
    def finder(self) -> Wayfinder:
        """Ways on from this page."""
        return Wayfinder(terms_of(self.part), self.context, self.memory, self.observation)


@dataclass(frozen=True, slots=True)
class PartDone:
    """A part is done: its answer, and the evidence for it."""

    evidence: str
    answer: str = ""
    parts: int = 1
    """Parts that are done by it."""


@dataclass(frozen=True, slots=True)
class GiveUp:
    """A part can't be done: what was found and what is missing, in words an expert can turn into a tip."""

    needs: str
