"""Shared by the end-to-end tests: an installed browser, and the bundled site."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator

import pytest

from app.demo.server import DemoServer
from app.engine.browser.launch.launcher import NoBrowser
from app.engine.browser.session import open_browser
from tests.support.demo_site_thread import demo_site


@pytest.fixture(scope="session")
def browser() -> None:
    """Any browser that starts; where set-up promises one, a missing one is a failure."""

    async def starting() -> None:
        async with open_browser():
            pass

    try:
        asyncio.run(starting())
    except NoBrowser as missing:
        if os.environ.get("CI"):
            raise
        pytest.skip(str(missing))


@pytest.fixture(scope="module")
def server() -> Iterator[DemoServer]:
    """The bundled site."""
    with demo_site() as running:
        yield running
