"""Named set-ups of a run's first page: a suite names one of these and never brings a script of its own."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from app.assets import resource
from app.engine.browser.session import BrowserSession
from app.errors import UsageError

EPISODE_SECONDS = 3600
"""Seconds that an episode of MiniWoB++ may take; the run's own limits end it before."""
MAX_SEED = 2**31 - 1


def setup_script(setup: str) -> str:
    """Return the script that is run before those of every page; "" for no set-up.

    Raises:
        UsageError: there is no such set-up.
    """
    if not setup:
        return ""
    name, _, given = setup.partition(":")
    if name not in SETUPS:
        raise UsageError(
            f"there is no set-up {setup[:80]!r} of a page",
            remedy=f"known are {', '.join(SETUPS)}, as in miniwob:3",
        )
    return SETUPS[name](given)


async def apply_setup(session: BrowserSession, setup: str) -> None:
    """Set up the pages that a session opens from now on, also in another browser.

    Raises:
        UsageError: there is no such set-up.  playwright.async_api.Error: the browser is gone.
    """
    session.init_script = setup_script(setup)
    if session.init_script:
        await session.context.add_init_script(session.init_script)


def _miniwob(seed: str) -> str:
    if not (seed.isascii() and seed.isdigit() and int(seed) <= MAX_SEED):
        raise UsageError(
            f"{seed[:20]!r} is not the seed of a page of MiniWoB++", remedy="write it as in miniwob:3"
        )
    return f"{_own_script('miniwob_setup.js')}({int(seed)}, {EPISODE_SECONDS * 1000});"


SETUPS: dict[str, Callable[[str], str]] = {"miniwob": _miniwob}
"""By name; each makes its script of what stands behind the colon."""


@cache
def _own_script(name: str) -> str:
    text = resource("js", name).read_text("utf-8")
    return text[text.index("(function") :].strip()
