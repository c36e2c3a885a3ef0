"""One decision for all requests equal to one, from a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from app.cli.common import print_result, with_engine
from app.engine.api.live_api import DecisionResult
from app.engine.core.request_groups import request_key
from app.engine.core.supervision import OperatorDecision, RequestState

if TYPE_CHECKING:
    from app.engine.engine import Engine


def decide_equal(request: str, decision: OperatorDecision, as_json: bool) -> None:
    """Decide a request and all open ones equal to it; exit code 1 where one could not be decided."""

    async def deciding(engine: Engine) -> list[DecisionResult]:
        waiting = {
            one.id: request_key(one) for one in await engine.requests() if one.state is RequestState.OPEN
        }
        key = waiting.get(request)
        equal = [id for id, other in waiting.items() if other == key and id != request]
        return await engine.decide_all([request, *equal], decision)

    results = with_engine(deciding)
    print_result(results, as_json, lambda: "\n".join(_result_text(one, decision) for one in results))
    if any(one.error for one in results):
        raise typer.Exit(1)


def _result_text(one: DecisionResult, decision: OperatorDecision) -> str:
    return f"{one.request}: {one.error or f'{decision.kind.value} for run {one.run}'}"
