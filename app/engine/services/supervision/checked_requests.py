"""The check of several requests before any is started."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from app.engine.api.run_api import RunRequest
from app.engine.services.agent_runs import AgentRunService
from app.errors import SiteloreError, UsageError


async def checked_requests(agent_runs: AgentRunService, requests: Sequence[RunRequest]) -> list[RunRequest]:
    """Return requests as they will be run, supervised.

    Raises:
        UsageError, NotFound, InputError, ModelError: there is none, or one is invalid; the message says which.
    """
    if not requests:
        raise UsageError("there is no run to start")
    checked: list[RunRequest] = []
    for number, request in enumerate(requests, 1):
        try:
            checked.append(replace(await agent_runs.validated(request), supervised=True))
        except SiteloreError as error:
            if len(requests) == 1:
                raise
            raise type(error)(f"task {number} of {len(requests)}: {error}") from error
    return checked
