"""Puts together who keeps a run's browser alive: lasting hands, and the watchdog with what it asks."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.engine.agent.lasting import LastingHands
from app.engine.agent.probing import RunProbe
from app.engine.agent.watchdog import Watchdog

if TYPE_CHECKING:
    from app.engine.agent.control import Control
    from app.engine.browser.executor import Executor
    from app.engine.browser.live import LiveBrowser
    from app.engine.cases.agency import GraphAtlas
    from app.engine.cases.heads import Head


@dataclass(frozen=True, slots=True)
class Tending:
    """``hands`` are given to the loop (``book`` is set once the ledger is open), ``dog.watch()`` is held beside it."""

    hands: LastingHands
    dog: Watchdog


def tending(
    control: Control,
    executor: Executor,
    browser: LiveBrowser,
    graphs: GraphAtlas,
    head: Head,
    disk: Callable[[], Awaitable[str]],
    *,
    home: str,
    noticed: Callable[[str], None] | None = None,
    mask: Callable[[str], str] = str,
) -> Tending:
    """Who keeps the browser of one run alive.

    Args:
        disk: why nothing can be written (``DiskProbe``; one for all runs of a workspace).
        home: the address that page states are named against, as in the run's ``Task``.
        noticed: is called with what is wrong, and with "" when it is not any more.
        mask: takes secrets out of what is told.
    """
    hands = LastingHands(executor, browser, control, home=home, back_to=graphs.back_to, mask=mask)
    probe = RunProbe(control, browser, hands, disk, head.pulse)
    return Tending(hands, Watchdog(control, probe, hands, noticed=noticed))
