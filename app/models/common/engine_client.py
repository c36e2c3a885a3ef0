"""The window's end of the channel: ``EngineApi`` over a socket, engine events as Qt signals.

The host is a child process; when it dies the window stays open, shows a banner and starts another host, which
recovers from disk.  ``LocalClient`` offers the same interface over an engine in this process, for tests and
screenshots.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import logging
import os
import re
import secrets
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from PySide6.QtCore import QObject, Signal

from app.engine.core.events import Event, HostLost, KnowledgeChanged, RunsChanged
from app.installation import child_command

if TYPE_CHECKING:
    from app.engine.api.engine_api import EngineApi
    from app.engine.core.events import EventBus

log = logging.getLogger(__name__)

RESTARTS = 3
"""How often a host that dies at once is restarted before the window reports the failure."""


def signal_name(event: type[Event]) -> str:
    """Return the name of the signal that carries events of this class."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", event.__name__).lower()


class EngineEvents(QObject):
    """Engine events as signals, each named after its event, which it carries: ``RunsChanged``, ``runs_changed``."""

    runs_changed = Signal(object)
    index_damaged = Signal(object)
    knowledge_changed = Signal(object)
    sites_changed = Signal(object)
    suites_changed = Signal(object)
    evaluation_advanced = Signal(object)
    prompts_changed = Signal(object)
    history_changed = Signal(object)
    job_changed = Signal(object)
    encoder_changed = Signal(object)
    browser_started = Signal(object)
    exploration_changed = Signal(object)
    graph_changed = Signal(object)
    run_advanced = Signal(object)
    live_run_changed = Signal(object)
    live_run_dismissed = Signal(object)
    batch_changed = Signal(object)
    login_shared = Signal(object)
    schedule_changed = Signal(object)
    action_planned = Signal(object)
    action_ended = Signal(object)
    tips_retrieved = Signal(object)
    ledger_changed = Signal(object)
    request_changed = Signal(object)
    hint_changed = Signal(object)
    intervention_made = Signal(object)
    policy_changed = Signal(object)
    page_frame = Signal(object)
    host_changed = Signal(str)

    api: EngineApi

    def deliver(self, event: Event) -> None:
        if isinstance(event, HostLost):
            self.host_changed.emit(event.message)
        elif (signal := getattr(self, signal_name(type(event)), None)) is not None:
            signal.emit(event)
        else:
            log.debug("no signal for %s", type(event).__name__)


class LocalClient(EngineEvents):
    """The client of an engine in this process."""

    def __init__(self, api: EngineApi, bus: EventBus | None = None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.api = api
        self._unsubscribe = bus.subscribe(self.deliver) if bus is not None else None

    async def aclose(self) -> None:
        if self._unsubscribe is not None:
            self._unsubscribe()


class _Remote:
    """Turns ``api.method(...)`` into a request; typed as ``EngineApi`` for its callers."""

    def __init__(
        self, call: Callable[[str, tuple[Any, ...], dict[str, Any]], Coroutine[Any, Any, Any]]
    ) -> None:
        self._call = call

    def __getattr__(self, name: str) -> Callable[..., Coroutine[Any, Any, Any]]:
        def request(*args: Any, **kwargs: Any) -> Coroutine[Any, Any, Any]:
            return self._call(name, args, kwargs)

        return request


class EngineClient(EngineEvents):
    """Starts the engine host, sends requests to it, and restarts it when it dies.

    ``host_changed`` carries "" when the host is connected, else a sentence with the reason.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.api = cast("EngineApi", _Remote(self._request))
        self._workspace = Path()
        self._ids = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[tuple[dict[str, Any], bytes]]] = {}
        self._process: asyncio.subprocess.Process | None = None
        self._writer: asyncio.StreamWriter | None = None
        self._reading: asyncio.Task[None] | None = None
        self._connected = asyncio.Event()
        self._warming: asyncio.Future[None] | None = None
        self._closing = False
        self._deaths = 0
        self._failure = ""

    async def spawn(self, workspace: Path) -> None:
        """Start the host on this workspace and connect; raises the host's own error when it can't open it."""
        from app.engine.channel import warm_up

        self._workspace = workspace
        await self._connect()
        self._warming = asyncio.get_running_loop().run_in_executor(None, warm_up)
        self._reading = asyncio.get_running_loop().create_task(self._read_for_ever())

    async def aclose(self) -> None:
        """Ask the host to stop, wait for it, and kill it if it hangs."""
        from app.engine.channel import pack

        self._closing = True
        if self._writer is not None and not self._writer.is_closing():
            self._writer.write(pack({"method": "stop"}))
        if self._process is not None:
            if self._process.stdin is not None:
                self._process.stdin.close()
            try:
                async with asyncio.timeout(10):
                    await self._process.wait()
            except TimeoutError:
                self._process.kill()
                await self._process.wait()
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.gather(self._reading, return_exceptions=True)
        if self._warming is not None:
            await self._warming
        if self._writer is not None:
            self._writer.close()

    @property
    def host_pid(self) -> int | None:
        """Process id of the host, for tests that kill it."""
        return self._process.pid if self._process is not None else None

    async def _connect(self, *, again: bool = False) -> None:
        from app.engine.channel import PROTOCOL, ChannelError, decode_error, pack, read_frame

        secret = secrets.token_hex(16)
        self._process = await asyncio.create_subprocess_exec(
            *child_command("app.engine.host", str(self._workspace)),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env={
                **os.environ,
                "SITELORE_HOST_SECRET": secret,
                # Resume the runs that were active when the previous host died.
                **({"SITELORE_HOST_AGAIN": "1"} if again else {}),
            },
        )
        assert self._process.stdout is not None
        line = await self._process.stdout.readline()
        first: dict[str, Any] = json.loads(line) if line else {}
        if "error" in first:
            raise decode_error(first["error"])
        address = first.get("address")
        if not address:
            raise ChannelError("the engine ended while starting; start again with --safe or see the log")
        if "path" in address:
            reader, writer = await asyncio.open_unix_connection(address["path"])
        else:
            reader, writer = await asyncio.open_connection("127.0.0.1", int(address["port"]))
        writer.write(pack({"secret": secret, "protocol": PROTOCOL}))
        frame = await read_frame(reader)
        if frame is None or "refused" in frame[0]:
            raise ChannelError(frame[0]["refused"] if frame else "the engine closed the connection")
        self._reader, self._writer = reader, writer
        self._connected.set()
        self.host_changed.emit("")

    async def _read_for_ever(self) -> None:
        from app.engine.channel import ChannelError, read_frame

        while not self._closing:
            try:
                frame = await read_frame(self._reader)
            except ChannelError as error:
                log.error("%s", error)
                frame = None
            if frame is None:
                if self._closing or not await self._revive():
                    return
                continue
            self._deaths = 0
            self._take(*frame)

    def _take(self, message: dict[str, Any], raw: bytes) -> None:
        from app.engine.channel import decode_event

        if "event" in message:
            self.deliver(decode_event(message, raw))
            return
        future = self._waiting.pop(int(message.get("id") or 0), None)
        if future is not None and not future.done():
            future.set_result((message, raw))

    async def _revive(self) -> bool:
        """Fail the pending requests, report the lost host and start another one."""
        self._connected.clear()
        self._deaths += 1
        lost = "The engine stopped unexpectedly and is restarting. Nothing saved is lost."
        for future in self._waiting.values():
            if not future.done():
                future.set_result(({"error": {"kind": "SiteloreError", "what": lost}}, b""))
        self._waiting.clear()
        if self._writer is not None:
            self._writer.close()
            self._writer = None
        self.host_changed.emit(lost)
        if self._process is not None:
            await self._process.wait()
        while self._deaths <= RESTARTS:
            await asyncio.sleep(0.2 * (self._deaths - 1))
            try:
                await self._connect(again=True)
            except Exception as error:
                log.exception("the engine host could not be restarted")
                self._failure = str(error)
                self._deaths += 1
                continue
            self.runs_changed.emit(RunsChanged())
            self.knowledge_changed.emit(KnowledgeChanged())
            return True
        self._failure = self._failure or "it keeps stopping"
        self.host_changed.emit(
            f"The engine can't be started ({self._failure}); save nothing, see the log, start again."
        )
        self._connected.set()  # let waiting requests fail instead of hanging
        return False

    async def _request(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        from app.engine.channel import ChannelError, decode, decode_error, encode, method, pack

        use_case = method(name)
        given = {**dict(zip(use_case.parameters, args, strict=False)), **kwargs}
        data = {key: encode(value, use_case.parameters[key]) for key, value in given.items()}
        await self._connected.wait()
        if self._writer is None:
            raise ChannelError(self._failure or "the engine is not running")
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
