"""The demo site served from a thread, for tests that call the program as another process."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

from app.demo.server import DemoServer

Site = TypeVar("Site", bound=DemoServer)


@contextmanager
def demo_site() -> Iterator[DemoServer]:
    """A running demo site; its loop lives in a thread of its own."""
    with served(DemoServer) as server:
        yield server


@contextmanager
def served(kind: type[Site]) -> Iterator[Site]:
    """A running demo site of this kind; its loop lives in a thread of its own."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="demo site")
    thread.start()

    def do(work):
        return asyncio.run_coroutine_threadsafe(work, loop).result(timeout=120)

    server = do(kind.start())
    try:
        yield server
    finally:
        do(server.stop())
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
