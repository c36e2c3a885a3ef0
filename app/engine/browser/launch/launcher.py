"""Choose and start a browser: the user's choice, Playwright's own, an installed Chrome or Edge, a name on PATH.

A candidate that is not installed costs some 10 ms, so they are tried in turn. Playwright's own executable path is not
used: it names a full Chrome even where only the headless shell is installed. Every browser is started in its sandbox;
see ``app.engine.browser.launch.sandbox`` for where that is impossible.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from app import settings
from app.engine.browser.launch import sandbox
from app.engine.core.text import first_line
from app.errors import SiteloreError

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
    """No candidate could be started; the message lists those tried and the command that installs one.

    Attributes:
        slow: one is installed and did not answer in time.
    """

    slow = False


@dataclass(frozen=True, slots=True, kw_only=True)
class StartedBrowser:
    """A browser that was started; ``unsandboxed`` says why it has no sandbox, "" if it has one."""

    version: str
    candidate: str
    unsandboxed: str = ""

    @property
    def words(self) -> str:
        """The browser as the status bar names it."""
        return f"Chromium {self.version} ({self.candidate})"


_listeners: list[Callable[[StartedBrowser], None]] = []


def on_browser_start(listener: Callable[[StartedBrowser], None]) -> Callable[[], None]:
    """Call ``listener`` with every browser that this process starts; return a function that stops that."""
    _listeners.append(listener)

    def unlisten() -> None:
        if listener in _listeners:
            _listeners.remove(listener)

    return unlisten


@dataclass(frozen=True, slots=True)
class BrowserCandidate:
    """One way to get a browser; both empty means the one that Playwright itself installed."""

    executable: str = ""
    channel: str = ""

    def __str__(self) -> str:
        return self.executable or (f"channel {self.channel}" if self.channel else "playwright's own Chromium")

    def launch_options(self) -> dict[str, str]:
        """Return keyword arguments of ``chromium.launch``."""
        if self.executable:
            return {"executable_path": self.executable}
        return {"channel": self.channel} if self.channel else {}


def candidates(setting: str = "", environ: Mapping[str, str] | None = None) -> Iterator[BrowserCandidate]:
    """Yield candidates, best first. A choice (``setting``, else ``SITELORE_BROWSER``) is the only one.

    A choice is the path of a program, a name on PATH, or a channel that Playwright knows.
    """
    environ = os.environ if environ is None else environ
    choice = setting or environ.get(VARIABLE, "")
    if choice:
        yield _chosen(choice)
        return
    yield BrowserCandidate()
    yield from (BrowserCandidate(channel=channel) for channel in CHANNELS)
    yield from (BrowserCandidate(executable=found) for name in NAMES if (found := shutil.which(name)))


async def launch(
    playwright: Playwright, setting: str = "", **options: Any
) -> tuple[Browser, BrowserCandidate]:
    """Start the first candidate that starts; ``options`` go to ``chromium.launch`` (headless, args, timeout).

    Raises:
        NoBrowser: none starts. NoSandbox: one would, but only without its sandbox, and the settings forbid that.
    """
    from playwright.async_api import Error, TimeoutError

    required = settings.load().sandbox == "required"
    tried: list[str] = []
    broken: list[str] = []
    slow = False
    for candidate in candidates(setting):
        try:
            browser, why = await _start(playwright, candidate, required=required, options=options)
        except Error as error:
            reason = first_line(str(error), "no reason given")
            tried.append(str(candidate))
            if not any(phrase in reason for phrase in _NOT_INSTALLED):
                broken.append(f"{candidate}: {reason}")
                slow = slow or isinstance(error, TimeoutError)
            continue
        started = StartedBrowser(version=browser.version, candidate=str(candidate), unsandboxed=why)
        for listener in list(_listeners):
            listener(started)
        return browser, candidate
    none = NoBrowser(_nothing_started(tried, broken))
    none.slow = slow
    raise none


async def _start(
    playwright: Playwright, candidate: BrowserCandidate, *, required: bool, options: Mapping[str, Any]
) -> tuple[Browser, str]:
    """Start a candidate in its sandbox, else without; return the browser and why it has no sandbox.

    Raises:
        playwright.async_api.Error: it does not start either way. NoSandbox: see ``launch``.
    """
    from playwright.async_api import Error

    # Ctrl+C in a terminal reaches the driver too, which would close the browsers under runs that are being paused.
    chosen: dict[str, Any] = {"handle_sigint": False, **candidate.launch_options(), **options}
    why = sandbox.known_refusal(str(candidate))
    if not why:
        try:
            return await playwright.chromium.launch(**chosen, chromium_sandbox=True), ""
        except Error as error:
            why = sandbox.refusal_reason(str(error))
            if not why:
                raise
    if required:
        raise sandbox.sandbox_required(why)
    browser = await playwright.chromium.launch(**chosen, chromium_sandbox=False)
    sandbox.remember_refusal(str(candidate), why)
    return browser, why


def install_command() -> str:
    """Return the command that installs a browser here."""
    if sys.platform.startswith("linux") and shutil.which("apt-get"):
        return "sudo apt-get update && sudo apt-get install -y --no-install-recommends chromium"
    return f"{sys.executable} -m playwright install chromium"


def has_display(environ: Mapping[str, str] = os.environ) -> bool:
    """Whether a window can be shown."""
    if not sys.platform.startswith("linux"):
        return True
    return bool(environ.get("DISPLAY") or environ.get("WAYLAND_DISPLAY"))


def _chosen(choice: str) -> BrowserCandidate:
    """Return the candidate for a choice: a bare word on PATH is that program, another bare word a channel."""
    if os.sep in choice or "/" in choice or choice.lower().endswith(".exe"):
        return BrowserCandidate(executable=os.path.expanduser(choice))  # noqa: PTH111 - stays as it was typed
    if choice in {*CHANNELS, "chrome-beta", "chrome-dev", "msedge-beta", "msedge-dev"}:
        on_path = shutil.which(choice) if choice == "chromium" else None
        return BrowserCandidate(executable=on_path) if on_path else BrowserCandidate(channel=choice)
    found = shutil.which(choice)
    return BrowserCandidate(executable=found) if found else BrowserCandidate(channel=choice)


def _nothing_started(tried: list[str], broken: list[str]) -> str:
    why = "; ".join(broken) if broken else f"none is installed (tried {', '.join(tried)})"
    return f"no browser could be started: {why}. Install one with `{install_command()}` or name one in {VARIABLE}"
