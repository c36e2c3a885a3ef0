"""Reader of pickles: asks the process that can do nothing else (``worker``).

One process serves all runs of an import and ends by itself when nothing is asked for a while. One that dies over a
pickle, or does not answer in time, costs this pickle alone.
"""

from __future__ import annotations

import atexit
import json
import logging
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, cast

import orjson

from app.engine.pickles.recorded import MAX_PICKLE_BYTES
from app.engine.pickles.worker import ANSWER, KINDS, LONGEST_SECONDS, MAX_ANSWER_BYTES, REQUEST
from app.errors import InputError
from app.installation import child_command, is_bundle

log = logging.getLogger(__name__)

MAX_SECONDS = LONGEST_SECONDS - 1
"""Seconds in which a pickle must be read; real ones take some milliseconds."""
MAX_TIMEOUTS = 3
"""Pickles of one import that may take too long; then none is read any more."""
MAX_PICTURE_BYTES = 160 * 2**20
_KEPT_NAMES = ("SYSTEMROOT", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
"""Variables of the environment that a Python may need to start at all."""


_MODULE = "app.engine.pickles.worker"
_RUN = f"import sys; sys.path.append(sys.argv[1]); from {_MODULE} import main; main()"
"""Nothing but the standard library comes before our own folder."""


class TookTooLong(InputError):
    """The pickle was not read in time: there is no use in trying others of its run."""


class TooManyTimeouts(InputError):
    """So many pickles took too long that no other one of this import is read."""


class _Died(Exception):
    """The process ended, or was ended, before it answered."""


class PickleReader:
    """A process that reads pickles; started when it is first needed, and again where it ended. Of any thread."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()
        self._answered = 0
        self._timed_out = False
        self._timeouts = 0
        self.confined = ""
        """Confinement of the process: ``filter``, ``limits`` or ``process`` (see ``confinement.confine``)."""

    def begin_import(self) -> None:
        """Forget the pickles that took too long: another import begins."""
        self._timeouts = 0

    def read(self, data: bytes, kind: str, path: Path, *, picture: bool = False) -> tuple[Any, bytes]:
        """Return what a pickle holds, and the screenshot in it as PNG where it is wanted.

        Args:
            data: of the file, packed by gzip or not.
            kind: one of ``worker.KINDS``.
            path: of the file, for errors.
            picture: the screenshot is wanted.

        Raises:
            TookTooLong: it takes longer than ``MAX_SECONDS``.  TooManyTimeouts: ``MAX_TIMEOUTS`` others did before.
            InputError: it is damaged, too large, or the process can't be started.
        """
        if self._timeouts >= MAX_TIMEOUTS:
            what = f"not read, as {self._timeouts} pickles before it took too long"
            raise TooManyTimeouts(what, path=str(path), remedy="import it without those")
        if len(data) > MAX_PICKLE_BYTES:
            raise InputError(f"longer than {MAX_PICKLE_BYTES // 2**20} MB", path=str(path))
        with self._lock:
            try:
                try:
                    text, image = self._ask(data, kind, picture=picture)
                except _Died:
                    if not self._answered or self._timed_out:
                        raise
                    text, image = self._ask(data, kind, picture=picture)  # it ended by itself meanwhile
            except _Died:
                if self._timed_out:
                    self._timeouts += 1
                    what = "the pickle took too long; no other one of its run is read"
                    raise TookTooLong(what, path=str(path)) from None
                what = "the pickle could not be read, or needs too much memory"
                raise InputError(what, path=str(path)) from None
            except OSError as error:
                what = f"pickles can't be read: their process does not start ({error.strerror or error})"
                raise InputError(what, path=str(path)) from error
        value = _parsed(text)
        if "error" in value:
            raise InputError(f"the pickle can't be read: {value['error']}", path=str(path))
        return value.get("value"), image

    def close(self) -> None:
        """End the process."""
        with self._lock:
            self._end()

    def _ask(self, data: bytes, kind: str, *, picture: bool) -> tuple[bytes, bytes]:
        self._timed_out = False
        process = self._process
        if process is None or process.poll() is not None:
            self._end()
            process = self._process = _start()
            self._answered = 0
            self.confined = self._within_time(process, b"")[0].decode("ascii", "replace")
            log.debug("pickles are read by a process of its own, confined by: %s", self.confined)
        head = REQUEST.pack(len(data), KINDS.index(kind), picture)
        answer = self._within_time(process, head + data)
        self._answered += 1
        return answer

    def _within_time(self, process: subprocess.Popen[bytes], request: bytes) -> tuple[bytes, bytes]:
        def stop() -> None:
            self._timed_out = True
            process.kill()

        timer = threading.Timer(MAX_SECONDS, stop)
        timer.daemon = True
        timer.start()
        try:
            return _exchange(process, request)
        except (OSError, ValueError) as error:
            self._end()
            raise _Died from error
        finally:
            timer.cancel()

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                try:
                    pipe.close()
                except OSError:
                    continue  # it holds bytes that nobody takes any more


def _exchange(process: subprocess.Popen[bytes], request: bytes) -> tuple[bytes, bytes]:
    if process.stdin is None or process.stdout is None:
        raise OSError("no pipes")
    if request:
        process.stdin.write(request)
        process.stdin.flush()
    head = process.stdout.read(ANSWER.size)
    if len(head) < ANSWER.size:
        raise OSError("it ended")
    sizes = ANSWER.unpack(head)
    if sizes[0] > MAX_ANSWER_BYTES or sizes[1] > MAX_PICTURE_BYTES:
        raise OSError("an answer without end")
    parts = [process.stdout.read(size) for size in sizes]
    if any(len(part) < size for part, size in zip(parts, sizes, strict=True)):
        raise OSError("it ended")
    return parts[0], parts[1]


def _start() -> subprocess.Popen[bytes]:
    command = [sys.executable, "-I", "-S", "-c", _RUN, str(Path(__file__).resolve().parents[3])]
    environment = {name: os.environ[name] for name in _KEPT_NAMES if name in os.environ}
    if is_bundle():
        command, environment = child_command(_MODULE), dict(os.environ)
    return subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment,
        close_fds=True,
        start_new_session=sys.platform != "win32",
    )


def _parsed(text: bytes) -> dict[str, Any]:
    try:
        value: object = orjson.loads(text)
    except orjson.JSONDecodeError:  # NaN, or half of a pair of surrogates
        value = orjson.loads(json.dumps(json.loads(text, parse_constant=lambda _: None), ensure_ascii=False)
                             .encode("utf-8", "replace"))  # fmt: skip
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {"error": "no object"}


reader = PickleReader()
"""The process of this program."""
atexit.register(reader.close)
