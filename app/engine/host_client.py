"""One engine host and the channel to it, without Qt: starts the process, sends requests, takes events, ends it.

The window's client (``app.models.common.engine_client``) adds signals and a new host for one that died; an evaluation
has one of these a worker.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import secrets
import signal
import sys
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from app.errors import SiteloreError
from app.installation import child_command

if TYPE_CHECKING:
    from app.engine.api.engine_api import EngineApi
    from app.engine.core.events import Event

# ``app.engine.channel`` is imported where it is used: the window shows its first picture before.

STOP_SECONDS = 10.0


class HostGone(SiteloreError):
    """The engine host ended before it answered."""


class RemoteApi:
    """Turns ``api.method(...)`` into a request; typed as ``EngineApi`` for its callers."""

    def __init__(
        self, call: Callable[[str, tuple[Any, ...], dict[str, Any]], Coroutine[Any, Any, Any]]
    ) -> None:
        self._call = call

    def __getattr__(self, name: str) -> Callable[..., Coroutine[Any, Any, Any]]:
        def request(*args: Any, **kwargs: Any) -> Coroutine[Any, Any, Any]:
            return self._call(name, args, kwargs)

        return request


class HostClient:
    """One engine host from its start to its end; it is never started again.

    Args:
        environment: variables besides those of this process.
        on_event: takes each event; events are not decoded without it.
        own_group: make it the head of a process group, so that a key such as Ctrl+C does not reach it, and so that
            ``kill`` ends what it started.
    """

    def __init__(
        self,
        workspace: Path,
        *,
        environment: Mapping[str, str] | None = None,
        on_event: Callable[[Event], None] | None = None,
        own_group: bool = False,
    ) -> None:
        self.api = cast("EngineApi", RemoteApi(self.request))
        self._workspace, self._environment = workspace, dict(environment or {})
        self._on_event, self._own_group = on_event, own_group
        self._ids = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[tuple[dict[str, Any], bytes]]] = {}
        self._process: asyncio.subprocess.Process | None = None
        self._writer: asyncio.StreamWriter | None = None
        self._reading: asyncio.Task[None] | None = None

    @property
    def pid(self) -> int | None:
        """Process id of the host."""
        return self._process.pid if self._process is not None else None

    @property
    def is_alive(self) -> bool:
        """Whether it answers."""
        return self._reading is not None and not self._reading.done()

    async def start(self) -> None:
        """Start the host and connect; raises the host's own error when it can't open its workspace."""
        from app.engine.channel import PROTOCOL, ChannelError, decode_error, pack, read_frame

        secret = secrets.token_hex(16)
        self._process = await asyncio.create_subprocess_exec(
            *child_command("app.engine.host", str(self._workspace)),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env={**os.environ, **self._environment, "SITELORE_HOST_SECRET": secret},
            start_new_session=self._own_group,
        )
        assert self._process.stdout is not None
        line = await self._process.stdout.readline()
        first: dict[str, Any] = json.loads(line) if line else {}
        if "error" in first:
            raise decode_error(first["error"])
        address = first.get("address")
        if not address:
            raise ChannelError("the engine ended while starting; see the log")
        if "path" in address:
            reader, self._writer = await asyncio.open_unix_connection(address["path"])
        else:
            reader, self._writer = await asyncio.open_connection("127.0.0.1", int(address["port"]))
        self._writer.write(pack({"secret": secret, "protocol": PROTOCOL}))
        frame = await read_frame(reader)
        if frame is None or "refused" in frame[0]:
            raise ChannelError(frame[0]["refused"] if frame else "the engine closed the connection")
        self._reading = asyncio.get_running_loop().create_task(self._read(reader))

    async def request(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Send one request and return its decoded answer.

        Raises:
            HostGone: the host ended first.  SiteloreError: the error that the engine answered with.
        """
        from app.engine.channel import decode, decode_error, encode, method, pack

        use_case = method(name)
        given = {**dict(zip(use_case.parameters, args, strict=False)), **kwargs}
        data = {key: encode(value, use_case.parameters[key]) for key, value in given.items()}
        if self._writer is None or not self.is_alive:
            raise HostGone("the engine is not running")
        number = next(self._ids)
        future: asyncio.Future[tuple[dict[str, Any], bytes]] = asyncio.get_running_loop().create_future()
        self._waiting[number] = future
        try:
            self._writer.write(pack({"id": number, "method": name, "args": data}))
            message, raw = await future
        finally:
            self._waiting.pop(number, None)
        if "error" in message:
            raise decode_error(message["error"])
        return raw if use_case.raw else decode(message.get("result"), use_case.result)

    async def stop(self, seconds: float = STOP_SECONDS) -> None:
        """Ask the host to stop, wait for it, and kill it if it hangs; may be called at any time."""
        from app.engine.channel import pack

        if self._writer is not None and not self._writer.is_closing():
            with suppress(OSError):
                self._writer.write(pack({"method": "stop"}))
        if self._process is not None:
            if self._process.stdin is not None:
                self._process.stdin.close()
            try:
                async with asyncio.timeout(seconds):
                    await self._process.wait()
            except TimeoutError:
                await self.kill()
        await self._closed()

    async def kill(self) -> None:
        """End the host at once, with all that it started."""
        if self._process is not None and self._process.returncode is None:
            with suppress(ProcessLookupError):
                if self._own_group and sys.platform != "win32":
                    os.killpg(self._process.pid, signal.SIGKILL)
                else:
                    self._process.kill()
            await self._process.wait()
        await self._closed()

    async def _closed(self) -> None:
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.gather(self._reading, return_exceptions=True)
        if self._writer is not None:
            self._writer.close()

    async def _read(self, reader: asyncio.StreamReader) -> None:
        from app.engine.channel import ChannelError, decode_event, read_frame

        try:
            while (frame := await read_frame(reader)) is not None:
                message, raw = frame
                if "event" in message:
                    if self._on_event is not None:
                        self._on_event(decode_event(message, raw))
                    continue
                future = self._waiting.pop(int(message.get("id") or 0), None)
                if future is not None and not future.done():
                    future.set_result((message, raw))
        except ChannelError:
            pass  # what does not speak the protocol is as good as gone
        finally:
            for future in self._waiting.values():
                if not future.done():
                    future.set_exception(HostGone("the engine stopped unexpectedly"))
