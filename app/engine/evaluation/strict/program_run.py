"""Runs a program without a shell, with a time limit, and ends what it started."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from app.errors import SiteloreError

MAX_OUTPUT = 4 * 2**20
"""Bytes of output that are kept; the rest is read and dropped."""
_PASSED_ON = (
    "PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "SYSTEMROOT", "TEMP", "TMP", "USERPROFILE",
    "PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS", "PIP_CONFIG_FILE", "PIP_CERT", "PIP_NO_INDEX",
    "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy", "SSL_CERT_FILE",
)  # fmt: skip
"""Variables that the program gets; keys and secrets of the user are not among them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramResult:
    """A program that has ended: its exit code and what it printed, errors included."""

    code: int
    output: str

    @property
    def last_line(self) -> str:
        """The last line that is not blank, shortened."""
        return next((line.strip()[:300] for line in reversed(self.output.splitlines()) if line.strip()), "")


async def run_program(words: list[str], folder: Path, seconds: float) -> ProgramResult:
    """Run a program in a folder until it ends.

    Raises:
        SiteloreError: it can't be started, or took too long and was ended.
    """
    name = Path(words[0]).name
    try:
        process = await asyncio.create_subprocess_exec(
            *words,
            cwd=folder,
            env={key: os.environ[key] for key in _PASSED_ON if key in os.environ}
            | {"PYTHONIOENCODING": "utf-8"},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        raise SiteloreError(f"{name} can't be started: {error}") from error
    try:
        async with asyncio.timeout(seconds):
            output = await _read(process.stdout)
            code = await process.wait()
    except TimeoutError as error:
        raise SiteloreError(f"{name} took longer than {seconds:.0f} s and was ended") from error
    finally:
        await _end(process)
    return ProgramResult(code=code, output=output.decode("utf-8", "replace"))


async def _read(stream: asyncio.StreamReader | None) -> bytes:
    kept = bytearray()
    while stream is not None and (part := await stream.read(2**16)):
        kept += part[: max(0, MAX_OUTPUT - len(kept))]
    return bytes(kept)


async def _end(process: asyncio.subprocess.Process) -> None:
    if process.returncode is None:
        with suppress(ProcessLookupError, PermissionError):
            if sys.platform == "win32":
                process.kill()
            else:
                os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
