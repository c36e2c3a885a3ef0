"""A program that starts one browser, prints what it is, and waits to be killed or inspected from
outside.

Called as ``python -m tests.support.browser_start TEMP [USER]``; with a user's number it becomes that
user first.
"""

from __future__ import annotations

import asyncio
import concurrent.futures.thread  # noqa: F401 after the change of user nothing more can be imported
import json
import os
import sys
import tempfile
from pathlib import Path

import playwright.async_api  # noqa: F401

from app import settings
from app.engine.browser.launch import launcher
from app.engine.browser.session import open_browser, open_session
from app.engine.browser.session_state import browser_process_id


async def main() -> None:
    told: list[launcher.StartedBrowser] = []
    launcher.on_browser_start(told.append)
    async with open_browser() as browser, open_session(browser) as tab:
        await tab.page.set_content("<title>it works</title>")
        await tab.page.title()
        answer = {"browser": await browser_process_id(browser), "unsandboxed": told[-1].unsandboxed}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


def become(user: int) -> None:
    """Continue as an ordinary user, for good."""
    home = Path(tempfile.gettempdir()) / "home"
    home.mkdir(exist_ok=True)
    os.chown(home, user, user)
    os.environ.update(HOME=str(home), XDG_CONFIG_HOME=str(home), XDG_CACHE_HOME=str(home))
    os.chdir(home)
    os.setgroups([])
    os.setgid(user)
    os.setuid(user)


if __name__ == "__main__":
    tempfile.tempdir = sys.argv[1]
    settings.load()  # what it imports lazily is read while it can be
    if sys.argv[2:]:
        become(int(sys.argv[2]))
    asyncio.run(main())
