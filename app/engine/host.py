"""The engine host: the engine in a process of its own, on a local, owner-only socket.

    python -m app.engine.host WORKSPACE

prints one JSON line with the address and serves until its standard input closes (the window is gone) or a client
asks it to stop.  On Windows, where there are no Unix sockets in asyncio, it listens on the loopback address; there,
as everywhere, a client must first show the secret that came to the host through its environment.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import json
import logging
import os
import secrets
import sys
from pathlib import Path
from typing import Any, cast

from app.engine import channel
from app.engine.channel import PROTOCOL, ChannelError, encode, encode_error, encode_event, pack, read_frame
from app.engine.core.events import Event, PageFrame
from app.engine.engine import Engine
from app.engine.store.temp_folder import TempFolder
from app.errors import SiteloreError

log = logging.getLogger(__name__)

SECRET_VARIABLE = "SITELORE_HOST_SECRET"
RESTART_VARIABLE = "SITELORE_HOST_AGAIN"
"""Set where the host restarts under a living window: runs that were active are resumed."""
HELLO_TIMEOUT = 10.0
MAX_HELLO_BYTES = 4096
"""Most bytes read from a client that has not shown the secret yet."""
NICENESS = 10
"""The window comes before the engine and its browsers: a key must not wait for eight of them on two processors."""
SWITCH_INTERVAL = 0.001
"""Seconds a worker thread may keep the loop waiting for the interpreter: a click passes it several times."""
MAX_UNSENT_BYTES = 512 * 1024
"""Unsent bytes up to which a client is still sent pictures."""


class Host:
    """Serves one ``Engine`` to any number of clients."""

    def __init__(self, engine: Engine, secret: str) -> None:
        self._engine, self._secret = engine, secret
        self._writers: set[asyncio.StreamWriter] = set()
        self.stopped = asyncio.Event()
        engine.bus.subscribe(self._broadcast)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one client: hello with the secret, then requests, each answered as soon as it is done."""
        known = False
        try:
            known = await self._greet(reader, writer)
            if not known:
                return
            self._writers.add(writer)
            while (frame := await read_frame(reader)) is not None:
                message, raw = frame
                if message.get("method") == "stop":
                    self.stopped.set()
                    break
                self._engine.registry.hold(self._answer(writer, message, raw))
        except (ChannelError, ConnectionError, TimeoutError) as error:
            log.warning("a client was dropped: %s", error or "it did not say hello")
        finally:
            self._writers.discard(writer)
            writer.close()
            # A refused client was never watching: nothing is abandoned by that.
            if known and not self._writers and not self.stopped.is_set():
                self._engine.registry.hold(self._engine.on_clients_gone())

    async def _greet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        async with asyncio.timeout(HELLO_TIMEOUT):
            frame = await read_frame(reader, MAX_HELLO_BYTES)
        hello = frame[0] if frame else {}
        shown = str(hello.get("secret", "")).encode("utf-8", "replace")
        known = hmac.compare_digest(shown, self._secret.encode())
        if not known or hello.get("protocol") != PROTOCOL:
            writer.write(pack({"refused": f"this host speaks protocol {PROTOCOL} and needs its secret"}))
            await writer.drain()
            return False
        writer.write(pack({"protocol": PROTOCOL, "pid": os.getpid()}))
        await writer.drain()
        return True

    async def _answer(self, writer: asyncio.StreamWriter, message: dict[str, Any], raw: bytes) -> None:
        answer: dict[str, Any] = {"id": message.get("id")}
        extra = b""
        try:
            use_case = channel.method(str(message.get("method")))
            given = cast("dict[str, Any]", message.get("args") or {})
            args = {name: channel.decode(value, use_case.parameters[name]) for name, value in given.items()}
            result = await getattr(self._engine, use_case.name)(**args)
            if use_case.raw:
                extra = result
            else:
                answer["result"] = encode(result, use_case.result)
        except SiteloreError as error:
            answer["error"] = encode_error(error)
        except KeyError as error:
            answer["error"] = {"kind": "SiteloreError", "what": f"unknown argument {error}"}
        except Exception as error:
            log.exception("%s failed", message.get("method"))
            answer["error"] = {"kind": "SiteloreError", "what": f"{type(error).__name__}: {error}"}
        with contextlib.suppress(ConnectionError):
            writer.write(pack(answer, extra))
            await writer.drain()

    def _broadcast(self, event: Event) -> None:
        if not self._writers:
            return
        frame = pack(*encode_event(event))
        late = isinstance(event, PageFrame)
        for writer in list(self._writers):
            if writer.is_closing():
                continue
            if late and writer.transport.get_write_buffer_size() > MAX_UNSENT_BYTES:
                continue  # a window that is behind wants the next picture, not every one
            writer.write(frame)


async def _listen(host: Host, folder: Path) -> tuple[asyncio.Server, dict[str, Any]]:
    if sys.platform == "win32":
        server = await asyncio.start_server(host.serve, "127.0.0.1", 0)
        return server, {"port": server.sockets[0].getsockname()[1]}
    path = folder / "engine.sock"
    server = await asyncio.start_unix_server(host.serve, path)
    path.chmod(0o600)
    return server, {"path": str(path)}


async def _until_orphaned(stopped: asyncio.Event) -> None:
    """Set ``stopped`` when standard input closes: the window that started this host is gone."""
    loop = asyncio.get_running_loop()
    await loop.run_in_executor(None, sys.stdin.buffer.read)
    stopped.set()


async def run(workspace: Path) -> None:
    """Open the workspace, print the address, serve until told to stop, close in order."""
    secret = os.environ.pop(SECRET_VARIABLE, "") or secrets.token_hex(16)
    scratch = TempFolder.make()
    try:
        engine = await Engine.open(workspace)
    except BaseException:
        scratch.remove()
        raise
    host = Host(engine, secret)
    server, address = await _listen(host, scratch.path)
    try:
        sys.stdout.write(json.dumps({"address": address, "protocol": PROTOCOL}) + "\n")
        sys.stdout.flush()
        await engine.recover(automatically=bool(os.environ.pop(RESTART_VARIABLE, "")))
        engine.warm_up()
        engine.watch_schedule()
        engine.watch_others()
        orphaned = engine.registry.hold(_until_orphaned(host.stopped))
        await host.stopped.wait()
        orphaned.cancel()
    finally:
        server.close()
        await engine.aclose()
        scratch.remove()


def main() -> None:
    """Run the child process."""
    from app import log as logs

    logs.setup(role="host")
    sys.setswitchinterval(SWITCH_INTERVAL)
    if hasattr(os, "nice"):
        os.nice(NICENESS)
    try:
        asyncio.run(run(Path(sys.argv[1])))
    except SiteloreError as error:
        sys.stdout.write(json.dumps({"error": encode_error(error)}) + "\n")
        sys.stdout.flush()
        os._exit(error.exit_code)
    # The thread that reads standard input can't be interrupted; everything is closed by now.
    os._exit(0)


if __name__ == "__main__":
    main()
