"""The policy of a run and what goes with it: the scout, or a model behind an endpoint with its roles."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from typing import TYPE_CHECKING, Any

from app.engine.agent.navigator import Candidate
from app.engine.cases.core import Core
from app.engine.errors import UsageError
from app.engine.run_api import RoleUsage, RunRequest

if TYPE_CHECKING:
    from app.engine.agent.memory.book import LedgerBook
    from app.engine.agent.ports import Hands, Marks
    from app.engine.agent.sight import Policy

Spawn = Callable[[Coroutine[Any, Any, Any]], object]


class Head:
    """What decides in a run; ``scout`` has no model, no marks and uses nothing."""

    marks: Marks | None = None

    def __init__(self, policy: Policy) -> None:
        self.policy = policy

    def attach(self, book: LedgerBook, hands: Hands, spawn: Spawn) -> None:
        """Be given the run's memory and hands before the first step."""

    async def choose(self, query: str, intent: str, candidates: Sequence[Candidate]) -> int | None:
        """The best of the states found, by the words they have in common with the query."""
        from app.engine.agent.choosing import choose

        return choose(query, intent, candidates)

    def usage(self) -> tuple[RoleUsage, ...]:
        """What each role used."""
        return ()

    async def aclose(self) -> None:
        """Close what is open."""
        await self.policy.aclose()


async def make_head(core: Core, request: RunRequest, run: str) -> Head:
    """The head that a request asks for.

    Raises:
        UsageError: there is no such policy.  ModelError: it needs a model and none is set.
    """
    if request.policy == "scout":
        from app.engine.agent.scout.policy import ScoutPolicy

        return Head(ScoutPolicy())
    raise UsageError(f"there is no policy {request.policy!r}", remedy="use scout or llm")
