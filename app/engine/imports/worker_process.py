"""A worker process for large imports: parsing is bound by Python's lock, so one thread is not enough.

If it can't be started or dies, the import does its work; nothing depends on it.
"""

from __future__ import annotations

import json
import logging
import os
import queue
import subprocess
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.engine.core.sites import SiteTable
from app.engine.imports.run_format import FoundRun
from app.engine.store.blob_store import PackedBlob
from app.errors import PathError
from app.installation import child_command

log = logging.getLogger(__name__)

MAX_PENDING = 3
"""Runs sent to the worker before it has answered."""

MIN_RUNS = 16
"""With fewer runs a worker is not worth its start."""


@dataclass(frozen=True, slots=True)
class WorkerAnswer:
    """The worker's result for a run: skipped, an error, or a draft; ``lost`` when it died over it."""

    number: int
    lost: bool = False
    skipped: bool = False
    error: PathError | None = None
    content_hash: str = ""
    run: str = ""
    draft: Path | None = None
    problems: tuple[PathError, ...] = ()
    packed: tuple[tuple[str, int, int], ...] = ()

    def contents(self) -> list[PackedBlob]:
        """Return the contents it packed."""
        rows: list[PackedBlob] = []
        if self.draft is not None:
            file = self.draft.with_suffix(".blobs")
            data, at = file.read_bytes(), 0
            file.unlink()
            for digest, codec, size in self.packed:
                rows.append((bytes.fromhex(digest), codec, data[at : at + size]))
                at += size
        return rows


class WorkerProcess:
    """The worker process, its pending runs, and its answers."""

    def __init__(
        self, incoming: Path, sites: SiteTable, known: Iterable[str], *, words: bool = False
    ) -> None:
        self._given: set[int] = set()
        self._answers: queue.Queue[WorkerAnswer | None] = queue.Queue()
        self._process = _start(incoming)
        if self._process is not None:
            threading.Thread(
                target=self._listen, args=(self._process,), daemon=True, name="import-helper"
            ).start()
            self._send({"sites": sites.globs, "known": list(known), "words": words})

    @property
    def waiting(self) -> int:
        """Number of runs that are not answered yet."""
        return len(self._given)

    @property
    def has_room(self) -> bool:
        """Whether it is alive and can take another run."""
        return self._process is not None and len(self._given) < MAX_PENDING

    def give(self, number: int, place: FoundRun) -> None:
        """Send it a run; when it has just died the run comes back as lost."""
        self._given.add(number)
        self._send(
            {
                "number": number,
                "folder": str(place.path),
                "root": str(place.root),
                "part": place.part,
                "format": place.format.name,
            }
        )

    def answers(self, *, wait: bool) -> list[WorkerAnswer]:
        """Return its new answers; with ``wait`` at least one, if any is pending."""
        found: list[WorkerAnswer] = []
        while self._given:
            try:
                answer = self._answers.get(block=wait and not found)
            except queue.Empty:
                break
            if answer is None:
                log.warning("the import's worker process ended; going on without it")
                self.close()
                found += [WorkerAnswer(number, lost=True) for number in sorted(self._given)]
                self._given.clear()
            else:
                self._given.discard(answer.number)
                found.append(answer)
        return found

    def close(self) -> None:
        """Kill it."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    _close(pipe)

    def _send(self, message: dict[str, Any]) -> None:
        if self._process is None or self._process.stdin is None:
            return
        try:
            # Not orjson: a folder's name may hold bytes that are no UTF-8.
            self._process.stdin.write(json.dumps(message).encode() + b"\n")
            self._process.stdin.flush()
        except OSError:
            pass  # it died: the listener notices, and its pending runs come back as lost

    def _listen(self, process: subprocess.Popen[bytes]) -> None:
        try:
            for line in process.stdout or ():
                self._answers.put(_answer(json.loads(line)))
        except (OSError, ValueError, KeyError) as error:
            log.debug("the import's worker process: %s", error)
        finally:
            self._answers.put(None)


def _start(incoming: Path) -> subprocess.Popen[bytes] | None:
    if (os.cpu_count() or 1) < 2:
        return None
    root = str(Path(__file__).resolve().parents[3])
    path = os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH", ""))))
    try:
        return subprocess.Popen(
            child_command("app.engine.imports.worker", str(incoming)),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": path},
        )
    except OSError as error:
        log.warning("the import's worker process could not be started: %s", error)
        return None


def _answer(message: dict[str, Any]) -> WorkerAnswer:
    if "error" in message:
        path, what = message["error"]
        return WorkerAnswer(message["number"], error=PathError(path=path, error=what))
    if "lost" in message:
        return WorkerAnswer(message["number"], lost=True)
    if "skipped" in message:
        return WorkerAnswer(message["number"], skipped=True)
    return WorkerAnswer(
        message["number"],
        content_hash=message["hash"],
        run=message["id"],
        draft=Path(message["draft"]),
        problems=tuple(PathError(path=path, error=what) for path, what in message["problems"]),
        packed=tuple((digest, codec, size) for digest, codec, size in message["packed"]),
    )


def _close(pipe: Any) -> None:
    try:
        pipe.close()
    except OSError:
        pass
