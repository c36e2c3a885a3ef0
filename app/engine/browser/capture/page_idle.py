"""Wait until a page is idle: nothing relevant is being loaded, and the document does not change.

A fixed wait is too long for most pages and too short for some. Endless activity is not waited for:
tickers, animations, polling, streams, and single requests that take longer than ``SLOW_REQUEST`` seconds.
"""

from __future__ import annotations

import asyncio
import time
from functools import cache
from typing import Any, cast

from playwright.async_api import Error

from app.assets import resource
from app.engine.browser.capture.frames import main_world
from app.engine.browser.session import BrowserSession

QUIET_TIME = 0.15
"""Seconds without a change that count as idle."""
MIN_WAIT = 0.05
"""Seconds a page is watched in any case."""
IDLE_TIMEOUT = 5.0
LOAD_TIMEOUT = 10.0
"""Seconds a page may take to load."""


async def wait_until_idle(
    session: BrowserSession, *, quiet: float = QUIET_TIME, most: float = IDLE_TIMEOUT, acted: bool = False
) -> bool:
    """Wait until the tab in front is idle; True if it is, False when ``most`` seconds were not enough.

    A page that loaded a while ago and does not change takes ``MIN_WAIT`` seconds. With ``acted`` (an action
    was just done) idleness is counted from now on, so that it takes ``quiet``. A pending navigation is
    waited for ``LOAD_TIMEOUT`` seconds first. Never raises: a page that crashed or was closed is not idle.
    """
    traffic = session.network
    deadline = time.monotonic() + most
    on_the_way = time.monotonic() + LOAD_TIMEOUT
    while not traffic.gone:
        if traffic.navigating:
            if not await traffic.calm(on_the_way):
                return False
            deadline = max(deadline, time.monotonic() + most / 2)
        left = deadline - time.monotonic()
        if left <= 0 or not await traffic.calm(deadline):
            return False
        try:
            async with asyncio.timeout(left + 0.5):
                still = await _still(session, quiet, left, acted=acted)
        except Error:  # the document was replaced meanwhile
            await asyncio.sleep(0.02)
            continue
        except TimeoutError:  # a script blocks the page
            return False
        if not still:
            return False
        if not traffic.busy:
            return not traffic.gone
        acted = False
    return False


async def _still(session: BrowserSession, quiet: float, most: float, *, acted: bool) -> bool:
    """Whether the document becomes idle within ``most`` seconds. Raises ``Error`` when it is replaced."""
    world = await main_world(session)
    told = f"{{quiet: {quiet * 1000}, most: {most * 1000}, least: {MIN_WAIT * 1000}, acted: {str(acted).lower()}}}"
    question = {
        "expression": f"({_script()})({told})",
        "contextId": world.context,
        "awaitPromise": True,
        "returnByValue": True,
    }
    answer = cast("dict[str, Any]", await world.wire.send("Runtime.evaluate", question))
    return answer["result"].get("value") is True


@cache
def _script() -> str:
    text = resource("js", "settle.js").read_text("utf-8")
    return text[text.index("({ quiet") :].rstrip().rstrip(";")
