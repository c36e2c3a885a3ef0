"""Decisions on equal requests of several runs: their card, and one decision for all of them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from app.engine.core.request_groups import RequestGroup, shared_decision_problem
from app.engine.core.supervision import ApprovalRequest, DecisionKind, Need, OperatorDecision
from app.errors import Conflict
from app.models.common.translate import tr
from app.models.live.requests import ENDS_RUN_IF_DENIED

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterable, Sequence
    from typing import Any

    from app.engine.api.live_api import DecisionResult
    from app.models.common.engine_client import EngineEvents
    from app.models.live.cards import Card, DecisionOption
    from app.models.live.open_run import OpenRunModel
    from app.models.live.run_list import RunList

MAX_NAMES = 6
"""Runs of a group named in a message or on its card; the others are counted."""
_WORDS = {
    ("live.approve", Need.APPROVAL): "Approve for {0} runs",
    ("live.approve", Need.WALL): "I've handled it for {0} runs",
    ("live.approve", Need.TROUBLE): "Try again for {0} runs",
    ("live.approve", Need.FLAG): "Resume {0} runs",
    ("live.answer", Need.QUESTION): "Answer for {0} runs",
    ("live.deny", Need.APPROVAL): "Deny for {0} runs",
    ("live.deny", Need.QUESTION): "No answer for {0} runs",
    ("live.no_wall", Need.WALL): "Not blocked ({0} runs)",
}
"""Labels of the decisions that are made for all runs of a group."""
_KINDS = {
    "live.approve": DecisionKind.APPROVE,
    "live.answer": DecisionKind.ANSWER,
    "live.deny": DecisionKind.DENY,
    "live.no_wall": DecisionKind.NO_WALL,
}


class _Made(NamedTuple):
    """A decision on a group: the runs it reached, the number it was meant for, and what failed."""

    runs: tuple[str, ...]
    asked: int
    failures: tuple[str, ...]


class GroupDecisions:
    """Lets the card of the open run's requests stand for equal requests of other runs, too.

    A decision reaches exactly the requests that the card lists.  What ends a run, an edited action and a takeover
    concern the open run alone: runs are ended one by one, and a number of an element holds for one page.

    Args:
        tell: shows a message.
    """

    def __init__(
        self, client: EngineEvents, open_run: OpenRunModel, runs: RunList, tell: Callable[[str], None]
    ) -> None:
        self._client, self._requests, self._runs, self._tell = client, open_run.requests, runs, tell
        self._asked: tuple[ApprovalRequest, ...] = ()
        self._made: dict[str, _Made] = {}
        open_run.requests.decide, open_run.requests.dress = self.decide, self.card
        open_run.name_of = self.name_of

    def reach(self, command: str) -> int:
        """Return the number of runs that a decision on the card would reach."""
        card, kind = self._requests.card, _KINDS.get(command)
        own = next((one for one in self._asked if card is not None and one.id == card.id), None)
        alone = own is None or kind is None or not self._is_asked(own.id) or _is_for_one(own, kind)
        return 1 if alone else len(self._asked_runs)

    def show(self, asked: Sequence[ApprovalRequest]) -> None:
        """Set the equal requests that the card stands for; one that joins them can't be decided at once."""
        known = {one.id for one in self._asked}
        came = {one.id for one in asked} - known
        card = self._requests.card
        if came and card is not None and card.id in known:
            self._requests.mark_shown()
        self._asked = tuple(asked)
        self._requests.update_card()

    def card(self, card: Card) -> Card:
        """Return the card with the runs that it stands for, and what each decision would do."""
        if not (self._is_asked(card.id) and card.offers):
            return card
        runs = self._asked_runs
        lines = [self._runs.name_of(run) for run in runs[:MAX_NAMES]]
        if len(runs) > MAX_NAMES:
            lines.append(tr("and {0} more").format(len(runs) - MAX_NAMES))
        own = next(one for one in self._asked if one.id == card.id)
        return replace(
            card,
            equal="\n".join([tr("{0} runs ask this:").format(len(runs)), *(f"· {line}" for line in lines)]),
            requests=tuple(sorted(one.id for one in self._asked)),
            offers=tuple(self._option(offer, own) for offer in card.offers),
        )

    def decide(
        self, request: ApprovalRequest, decision: OperatorDecision
    ) -> Coroutine[Any, Any, ApprovalRequest]:
        """Decide a request of the open run, and those that are equal where the card stands for them."""
        if not self._is_asked(request.id) or _is_for_one(request, decision.kind):
            return self._client.api.decide(request.id, decision)
        return self._decide_all(request, self._asked, decision)

    async def _decide_all(
        self, request: ApprovalRequest, asked: Sequence[ApprovalRequest], decision: OperatorDecision
    ) -> ApprovalRequest:
        results = await self._client.api.decide_all([one.id for one in asked], decision)
        runs = {one.id: one.run for one in asked}
        made = _Made(
            runs=tuple(dict.fromkeys(runs[one.request] for one in results if one.decided is not None)),
            asked=len(set(runs.values())),
            failures=tuple(self._failure(one, runs) for one in results if one.decided is None),
        )
        self._made[request.id] = made
        own = next((one for one in results if one.request == request.id), None)
        if own is None or own.decided is None:
            if made.runs:
                self._tell(tr("Decided: {0}").format(self.name_of(request)))
            raise Conflict(own.error if own is not None else tr("Nothing was decided."))
        return own.decided

    def name_of(self, request: ApprovalRequest) -> str:
        """Return the runs that a decision reached: ``4 runs (run 1, run 2, …)``, the task of a single one."""
        made = self._made.pop(request.id, None)
        if made is None:
            return self._runs.name_of(request.run)
        names = self._numbers(made.runs)
        few = len(made.runs) < made.asked
        count = (
            tr("{0} of {1} runs").format(len(made.runs), made.asked)
            if few
            else tr("{0} runs").format(made.asked)
        )
        return "; ".join([f"{count} ({names})", *made.failures[:MAX_NAMES]])

    # ------------------------------------------------------------ inside
    @property
    def _asked_runs(self) -> tuple[str, ...]:
        return RequestGroup(key="", requests=self._asked).runs

    def _is_asked(self, request: str) -> bool:
        """Whether this request is one of several equal ones."""
        return len(self._asked) > 1 and any(one.id == request for one in self._asked)

    def _option(self, offer: DecisionOption, own: ApprovalRequest) -> DecisionOption:
        words, kind = _WORDS.get((offer.command, own.need), ""), _KINDS.get(offer.command)
        if words and kind is not None and not _is_for_one(own, kind):
            return replace(offer, word=tr(words).format(len(self._asked_runs)))
        alone = {
            "live.deny": tr("End {0}"),
            "live.take_over": tr("Take over {0}"),
            "live.edit": tr("Edit for {0}"),
            "live.approve": tr("I've handled it for {0}"),
        }.get(offer.command, "")
        return replace(offer, word=alone.format(self._runs.number_words(own.run))) if alone else offer

    def _failure(self, result: DecisionResult, runs: dict[str, str]) -> str:
        return f"{self._runs.number_words(runs.get(result.request, result.run))}: {result.error}"

    def _numbers(self, runs: Iterable[str]) -> str:
        names = [self._runs.number_words(run) or run for run in runs]
        more = len(names) - MAX_NAMES
        return ", ".join(names[:MAX_NAMES]) + (tr(" and {0} more").format(more) if more > 0 else "")


def _is_for_one(request: ApprovalRequest, kind: DecisionKind) -> bool:
    """Whether a decision concerns one run, however many ask the same: it ends the run, or can't answer for others."""
    ends = kind is DecisionKind.DENY and request.need in ENDS_RUN_IF_DENIED
    return ends or bool(shared_decision_problem(request, kind))
