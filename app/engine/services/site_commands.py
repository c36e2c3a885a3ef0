"""Commands of the table of sites: reset, state, log-in.  Only what the user wrote in the table is ever run.

They are run without a shell, with a time limit, in a process group that is ended with them.
"""

from __future__ import annotations

import asyncio
import os
import shlex
import signal
import sys
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, Literal, cast

import orjson

from app.engine.core.evaluation.run_evidence import SiteState
from app.engine.core.redaction import redact_text
from app.engine.core.sites import Site
from app.errors import SiteloreError, UsageError

RESET_SECONDS, STATE_SECONDS, LOGIN_SECONDS = 1800.0, 120.0, 300.0
MAX_OUTPUT = 16 * 2**20
_SHOWN = 200
_READ = 64 * 1024
_PAUSE = 0.02
"""Seconds between two looks at a command."""


class SiteCommandFailed(SiteloreError):
    """A command of the table of sites did not do its work."""


async def reset_site(site: Site, seconds: float = RESET_SECONDS) -> None:
    """Put a site back as it was; nothing where it has no command.  Raises ``SiteCommandFailed``, ``UsageError``."""
    if site.reset:
        await _run(site.name, "reset", site.reset, (), seconds)


async def read_state(
    site: Site, moment: Literal["before", "after"], task: str, seconds: float = STATE_SECONDS
) -> SiteState:
    """Return a site's state before or after a task; a failure is told in it."""
    try:
        printed = await _run(site.name, "state", site.state, (moment, task), seconds)
        value: Any = orjson.loads(printed)
    except orjson.JSONDecodeError:
        return SiteState(site=site.name, why=f"the state command of '{site.name}' printed no JSON")
    except SiteloreError as error:
        return SiteState(site=site.name, why=str(error))
    if not isinstance(value, dict):
        return SiteState(site=site.name, why=f"the state command of '{site.name}' printed no JSON object")
    return SiteState(site=site.name, output=cast("dict[str, Any]", value))


async def log_in(site: Site, role: str, file: Path, seconds: float = LOGIN_SECONDS) -> None:
    """Log in by the site's command, which writes a storage state.  Raises ``SiteCommandFailed``, ``UsageError``."""
    await _run(site.name, "login", site.login, (role, str(file)), seconds)
    if not file.exists():
        raise SiteCommandFailed(f"the login command of '{site.name}' wrote no storage state")
    file.chmod(0o600)


async def _run(site: str, name: str, command: str, more: tuple[str, ...], seconds: float) -> bytes:
    try:
        words = [*shlex.split(command), *more]
    except ValueError as error:
        raise UsageError(
            f"the {name} command of '{site}' can't be read: {error}",
            remedy=f"write it anew with: sitelore sites edit {site}",
        ) from error
    if not command.strip():
        raise UsageError(
            f"the site '{site}' has no {name} command", remedy=f"give it one with: sitelore sites edit {site}"
        )
    what = f"the {name} command of '{site}'"
    # Into files and not pipes: a server that a reset starts may keep them open for ever, and nobody waits for that.
    with TemporaryFile() as printed, TemporaryFile() as said:
        try:
            process = await asyncio.create_subprocess_exec(
                *words, stdin=asyncio.subprocess.DEVNULL, stdout=printed, stderr=said, start_new_session=True
            )
        except (OSError, ValueError) as error:
            raise SiteCommandFailed(f"{what} can't be started: {error}") from error
        try:
            async with asyncio.timeout(seconds):
                code = await _ended(process, printed, said)
        except TimeoutError as error:
            raise SiteCommandFailed(f"{what} took longer than {seconds:.0f} s and was ended") from error
        finally:
            await _end(process)
        if code is None:
            raise SiteCommandFailed(f"{what} printed more than {MAX_OUTPUT >> 20} MB and was ended")
        if code:
            lines = redact_text(_text_of(said)[-_READ:].decode("utf-8", "replace")).strip().splitlines()
            why = f": {lines[-1][:_SHOWN]}" if lines else ""
            raise SiteCommandFailed(f"{what} ended with code {code}{why}")
        return _text_of(printed)


async def _ended(process: asyncio.subprocess.Process, *outputs: IO[bytes]) -> int | None:
    """Wait until a command is over and return its exit code; ``None`` once it has printed too much."""
    while True:
        over = process.returncode
        if any(os.fstat(output.fileno()).st_size > MAX_OUTPUT for output in outputs):
            return None
        if over is not None:
            return over
        await asyncio.sleep(_PAUSE)


def _text_of(output: IO[bytes]) -> bytes:
    output.seek(0)
    return output.read(MAX_OUTPUT + 1)


async def _end(process: asyncio.subprocess.Process) -> None:
    """End a command that is not over, with what it started."""
    if process.returncode is None:
        with suppress(ProcessLookupError, PermissionError):
            if sys.platform == "win32":
                process.kill()
            else:
                os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
