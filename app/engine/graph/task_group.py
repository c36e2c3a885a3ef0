"""Run coroutines concurrently and raise an expected error unwrapped."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable
from typing import Any

from app.errors import SiteloreError


async def run_all(works: Iterable[Coroutine[Any, Any, None]]) -> None:
    """Run coroutines concurrently until all have ended; the first expected error cancels the others and is raised.

    Not with ``except*``: some versions of Python wrap an exception raised within it in a group again.
    """
    try:
        async with asyncio.TaskGroup() as group:
            for work in works:
                group.create_task(work)
    except ExceptionGroup as errors:
        known, strange = errors.split(SiteloreError)
        if known is None or strange is not None:
            raise
        raise _first(known) from None


def _first(errors: ExceptionGroup[SiteloreError]) -> SiteloreError:
    first = errors.exceptions[0]
    return _first(first) if isinstance(first, ExceptionGroup) else first
