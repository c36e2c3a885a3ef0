"""Which browser to start: the person's choice, playwright's own, an installed Chrome or Edge, a name on PATH.

A candidate that is not there costs some 10 ms, so they are tried in turn; what playwright says about its own
executable's place is not asked, as it names a full Chrome even where only the headless shell is installed.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from app.engine.errors import SiteloreError

if TYPE_CHECKING:
    from playwright.async_api import Browser, Playwright

VARIABLE = "SITELORE_BROWSER"
CHANNELS = ("chromium", "chrome", "msedge")
NAMES = (
    "google-chrome-stable",
    "google-chrome",
    "chromium",
    "chromium-browser",
    "microsoft-edge-stable",
    "microsoft-edge",
)

_NOT_INSTALLED = (
    "Executable doesn't exist",
    "is not found at",
    "Failed to launch chromium because executable",
)


class NoBrowser(SiteloreError):
    """No candidate could be started; says which were tried and the command that brings one."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One way to get a browser; both empty means the one that playwright itself installed."""

    executable: str = ""
    channel: str = ""

    def __str__(self) -> str:
        return self.executable or (f"channel {self.channel}" if self.channel else "playwright's own Chromium")

    def launch_options(self) -> dict[str, str]:
        """What ``chromium.launch`` takes."""
        if self.executable:
            return {"executable_path": self.executable}
        return {"channel": self.channel} if self.channel else {}


def candidates(setting: str = "", environ: Mapping[str, str] | None = None) -> Iterator[Candidate]:
    """Candidates, best first.  A choice (``setting``, else ``SITELORE_BROWSER``) is the only one.

    A choice is the path of a program, a name on PATH, or a channel that playwright knows.
    """
    environ = os.environ if environ is None else environ
    choice = setting or environ.get(VARIABLE, "")
    if choice:
        yield _chosen(choice)
        return
    yield Candidate()
    yield from (Candidate(channel=channel) for channel in CHANNELS)
    yield from (Candidate(executable=found) for name in NAMES if (found := shutil.which(name)))


async def launch(playwright: Playwright, setting: str = "", **options: Any) -> tuple[Browser, Candidate]:
    """Start the first candidate that starts; ``options`` go to ``chromium.launch`` (headless, args, timeout).

    Raises ``NoBrowser``.
    """
    from playwright.async_api import Error

    tried: list[str] = []
    broken: list[str] = []
    for candidate in candidates(setting):
        try:
            return await playwright.chromium.launch(**candidate.launch_options(), **options), candidate
        except Error as error:
            reason = _first_line(str(error))
            tried.append(str(candidate))
            if not any(phrase in reason for phrase in _NOT_INSTALLED):
                broken.append(f"{candidate}: {reason}")
    raise NoBrowser(_nothing_started(tried, broken))


def install_command() -> str:
    """What a person types to get a browser here."""
    if sys.platform.startswith("linux") and shutil.which("apt-get"):
        return "sudo apt-get update && sudo apt-get install -y --no-install-recommends chromium"
    return f"{sys.executable} -m playwright install chromium"


def _chosen(choice: str) -> Candidate:
    """A bare word that is on PATH is that program; another bare word is a channel."""
    if os.sep in choice or "/" in choice or choice.lower().endswith(".exe"):
        return Candidate(executable=os.path.expanduser(choice))  # noqa: PTH111 - stays as it was typed
    if choice in {*CHANNELS, "chrome-beta", "chrome-dev", "msedge-beta", "msedge-dev"}:
        on_path = shutil.which(choice) if choice == "chromium" else None
        return Candidate(executable=on_path) if on_path else Candidate(channel=choice)
    found = shutil.which(choice)
    return Candidate(executable=found) if found else Candidate(channel=choice)


def _first_line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "no reason given")


def _nothing_started(tried: list[str], broken: list[str]) -> str:
    why = "; ".join(broken) if broken else f"none is installed (tried {', '.join(tried)})"
    return f"no browser could be started: {why}. Install one with `{install_command()}` or name one in {VARIABLE}"
