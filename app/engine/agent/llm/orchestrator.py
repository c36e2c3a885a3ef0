"""The orchestrator: once a task it decides of which kind it is, and afterwards keeps a look-up from changing anything.

SuperBrowser hands look-ups to a worker without a browser (section 4.2).  Here they are done in the browser too, and
what the paper's split guards against, doing the wrong kind of deed, is checked where it would happen: at the action.
"""

from __future__ import annotations

from app.engine.agent.risk import assess
from app.engine.agent.routing import Delegations, Family, Route, TaskKind, route
from app.engine.agent.sight import Sight
from app.engine.command import Command, Navigate
from app.engine.effect import Effect

SURE = 0.6
"""From this confidence on a task counts as a look-up."""


class Orchestrator:
    """Decides deterministically and costs no tokens."""

    def __init__(self) -> None:
        self._route: Route | None = None
        self._objected = set[str]()

    def route(self, sight: Sight) -> Route:
        """The kind of the task; decided once."""
        if self._route is None:
            brands = frozenset(domain.name for domain in sight.domains)
            self._route = route(sight.intent, sight.start_url, brands=brands)
        return self._route

    def asks(self, sight: Sight) -> bool:
        """Whether the task is to end with an answer in words."""
        families = self.route(sight).families
        return bool(families & {Family.FACTUAL, Family.AGGREGATION}) and Family.ACTION not in families

    def objection(self, command: Command, sight: Sight) -> str:
        """What speaks against a deed in a task that only asks, or against being taken somewhere again; said once."""
        if isinstance(command, Navigate):
            return self._again(command, sight)
        found = self.route(sight)
        only_asks = found.kind is TaskKind.SEARCH and found.confidence >= SURE
        if not only_asks or Family.ACTION in found.families:
            return ""
        deed = assess(command, sight.page)
        if not deed.risk.changes or deed.risk.value in self._objected:
            return ""
        self._objected.add(deed.risk.value)
        return (
            f"The task asks for something to be found out, and this action {deed.risk.value} ({deed.why})."
            " Find it out without changing anything. If there is no other way, give the same action again and say why."
        )

    def _again(self, command: Navigate, sight: Sight) -> str:
        """The circuit breaker over what was handed to the navigator; a page that was left may be asked for again."""
        known = Delegations()
        for place, turn in enumerate(sight.turns):
            if isinstance(turn.command, Navigate):
                left = any(later.result.effect is Effect.NAVIGATED for later in sight.turns[place + 1 :])
                if not (turn.result.success and left):
                    known.record(turn.command.domain, turn.command.query, substantive=turn.result.success)
        refusal = known.refusal(command.domain, command.query)
        key = f"navigate {command.domain} {command.query}"
        if not refusal or key in self._objected:
            return ""
        self._objected.add(key)
        return f"About this navigate: {refusal}."
