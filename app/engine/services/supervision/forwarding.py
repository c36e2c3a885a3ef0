"""Commands of a run that another process has: methods that are sent there as rows."""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable
from typing import Any, Protocol


class Forwarding(Protocol):
    """An object whose methods may be asked for by other processes."""

    async def forward_if_remote(self, run: str, what: str, words: str = "") -> bool:
        """Send a command to the process that has the run; return whether there is one."""
        ...


Command = Callable[[Any, str], Awaitable[None]]
FORWARDED: dict[str, Command] = {}
"""Methods that another process may ask for, by the name of the command."""


def forwarded(name: str) -> Callable[[Command], Command]:
    """Decorate a method that is sent to the process that has the run, where that is not this one."""

    def decorate(method: Command) -> Command:
        async def forwarding(fleet: Forwarding, run: str) -> None:
            if not await fleet.forward_if_remote(run, name):
                await method(fleet, run)

        FORWARDED[name] = method
        return functools.wraps(method)(forwarding)

    return decorate
