"""Records the requests of a session as an HTTP archive (HAR 1.2), without the contents of answers."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from pathlib import Path
from typing import Any, Self

import orjson
from playwright.async_api import Error

from app.engine.browser.session import BrowserSession
from app.errors import SiteloreError

STOP_TIMEOUT = 15.0
"""Seconds the browser may take to write the archive."""
MAX_RAW_BYTES = 200 * 2**20
"""Longest archive that is read at all."""


class HarRecorder:
    """The recording of one session, from ``start`` to ``stop``; the file lies in a folder of its own meanwhile."""

    def __init__(self, session: BrowserSession) -> None:
        self._session, self._context = session, session.context
        self._switches = session.browser_switches
        self._folder = Path(tempfile.mkdtemp(prefix="sitelore-har-"))

    @classmethod
    async def start(cls, session: BrowserSession) -> Self:
        """Start before the first page is opened.  Raises ``SiteloreError`` where nothing can be recorded."""
        recorder = cls(session)
        try:
            await recorder._context.tracing.start_har(recorder._file, content="omit", mode="full")
        except Error as error:
            recorder.discard()
            raise SiteloreError(f"the requests can't be recorded: {error}".splitlines()[0]) from error
        return recorder

    async def stop(self) -> tuple[dict[str, Any] | None, str]:
        """Return the archive as the browser wrote it, secrets included; or ``None`` and why there is none."""
        if self._session.browser_switches != self._switches:
            return None, "the browser was replaced during the run, so not all requests were recorded"
        try:
            async with asyncio.timeout(STOP_TIMEOUT):
                await self._context.tracing.stop_har()
            return await asyncio.to_thread(self._read)
        except (Error, TimeoutError, OSError, ValueError) as error:
            return None, f"the requests could not be recorded: {error}".splitlines()[0]

    def discard(self) -> None:
        """Delete what was recorded; harmless when there is nothing any more."""
        shutil.rmtree(self._folder, ignore_errors=True)

    @property
    def _file(self) -> Path:
        return self._folder / "network.har"

    def _read(self) -> tuple[dict[str, Any] | None, str]:
        if self._file.stat().st_size > MAX_RAW_BYTES:
            return None, f"the requests take more than {MAX_RAW_BYTES // 2**20} MB"
        archive: Any = orjson.loads(self._file.read_bytes())
        return archive, ""
