"""The process of one of the doctor's probes: ``NAME [ARGUMENT]``; its findings are one line of JSON."""

from __future__ import annotations

import asyncio
import json
import sys
from importlib import import_module
from typing import Any

from app.errors import SiteloreError


def _qt() -> object:
    core, gui, widgets = (import_module(f"PySide6.{name}") for name in ("QtCore", "QtGui", "QtWidgets"))
    app = widgets.QApplication([])
    return [core.qVersion(), app.platformName(), len(gui.QFontDatabase.families())]


def _sqlite() -> object:
    sqlite: Any = import_module("sqlite3")
    database = sqlite.connect(":memory:")
    database.execute("create virtual table plain using fts5(text)")
    database.execute("create virtual table near using fts5(text, tokenize='trigram')")
    return [sqlite.sqlite_version, sqlite.threadsafety]


def _browser() -> object:
    from app.engine.browser.launch import launcher, sandbox

    try:
        return asyncio.run(_start_browser(sys.argv[2]))
    except launcher.NoBrowser as error:
        return {"error": str(error), "slow": error.slow}
    except sandbox.NoSandbox as error:
        return {"error": str(error), "unsandboxed": error.why}


async def _start_browser(channel: str) -> object:
    from app.engine.browser.launch import launcher
    from app.engine.browser.launch.playwright_process import PlaywrightProcess

    found: dict[str, object] = {}
    launcher.on_browser_start(
        lambda start: found.update(
            version=start.version, candidate=start.candidate, unsandboxed=start.unsandboxed
        )
    )
    async with PlaywrightProcess() as playwright:
        browser, _ = await launcher.launch(playwright, channel, timeout=20000)
        page = await browser.new_page()
        await page.set_content("<title>it works</title>")
        await page.title()
        await browser.close()
    return found


PROBES = {"qt": _qt, "sqlite": _sqlite, "browser": _browser}

if __name__ == "__main__":
    try:
        print(json.dumps(PROBES[sys.argv[1]]()))  # noqa: T201
    except SiteloreError as error:
        sys.exit(str(error))
