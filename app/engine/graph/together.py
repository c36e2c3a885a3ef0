"""Several pages worked on at once, with an error that comes out as itself."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable
from typing import Any

from app.engine.errors import SiteloreError


async def together(works: Iterable[Coroutine[Any, Any, None]]) -> None:
    """Run coroutines at once until all have ended; the first expected error ends the others and is raised.

    Not with ``except*``: what is raised within it is wrapped in a group again by some versions of Python.
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
