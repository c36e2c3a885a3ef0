"""The worker process behind ``helper``: reads runs and writes their drafts, one JSON line in, one out.

    in   {"sites": {...}, "known": [hash, ...], "words": bool},
         then {"number", "folder", "root", "part", "format"} for each run
    out  {"number", "skipped": true} | {"number", "error": [path, what]} | {"number", "lost": true} |
         {"number", "hash", "id", "draft", "problems": [[path, what], ...], "packed": [[digest, codec, size], ...]}

The packed contents are concatenated in ``<draft>.blobs``. It ends when its input does, so it can't outlive the process
that started it.
"""

from __future__ import annotations

import json
import signal
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from app.engine.core.sites import SiteTable
from app.engine.imports import run_format_named
from app.engine.imports.picture_words import PictureWords
from app.engine.store.blob_store import pack_blobs
from app.engine.store.run_store import write_draft
from app.errors import InputError
from kb.private import own_file


def main() -> None:
    """Work until the input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the importing process handles Ctrl-C
    incoming, lines = Path(sys.argv[1]), sys.stdin.buffer
    first = json.loads(lines.readline())
    worker = Worker(incoming, SiteTable(first["sites"]), set(first["known"]), words=first["words"])
    for line in lines:
        sys.stdout.buffer.write(json.dumps(worker.prepare(json.loads(line))).encode() + b"\n")
        sys.stdout.buffer.flush()


class Worker:
    """Prepares runs; remembers what it has packed, so that a repeated page is not packed again."""

    def __init__(self, incoming: Path, sites: SiteTable, known: set[str], *, words: bool = False) -> None:
        self._reader = PictureWords() if words else None
        self._incoming, self._sites, self._known = incoming, sites, known
        self._packed: set[str] = set()

    def prepare(self, task: dict[str, Any]) -> dict[str, Any]:
        """Read one run, write its draft, and return the result as JSON."""
        folder = Path(task["folder"])
        try:
            return self._prepared(task["number"], folder, Path(task["root"]), task["part"], task["format"])
        except InputError as error:
            return {"number": task["number"], "error": [error.path or str(folder), error.what]}
        except OSError as error:
            what = f"can't be read: {error.strerror or error}"
            return {"number": task["number"], "error": [str(error.filename or folder), what]}
        except Exception:  # noqa: BLE001 the importing process meets the same error and reports it
            return {"number": task["number"], "lost": True}

    def _prepared(self, number: int, path: Path, root: Path, part: str, name: str) -> dict[str, Any]:
        form = run_format_named(name)
        raw = form.load(path, root, part)
        if raw.content_hash in self._known:
            return {"number": number, "skipped": True}
        if self._reader is None:
            read = form.read(raw, self._sites)
        else:
            read = form.read(raw, self._sites, self._reader.completed)
        draft = self._incoming / f"helper-{number}"
        packed = pack_blobs(
            {digest: data for digest, data in read.blobs.items() if digest not in self._packed}
        )
        own_file(draft.with_suffix(".blobs")).write_bytes(b"".join(data for _, _, data in packed))
        write_draft(draft, replace(read.run, imported_at=time.time()), read.steps)
        self._packed |= read.blobs.keys()
        self._known.add(read.run.content_hash)
        return {
            "number": number,
            "hash": read.run.content_hash,
            "id": read.run.id,
            "draft": str(draft),
            "problems": [[problem.path, problem.error] for problem in read.problems],
            "packed": [[digest.hex(), codec, len(data)] for digest, codec, data in packed],
        }


if __name__ == "__main__":
    main()
