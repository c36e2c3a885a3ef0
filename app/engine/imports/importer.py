"""Import runs: find, read, store and index them one by one, in memory that does not grow with their number.

Three things overlap: one thread reads and hashes the next run's files, this one parses the current run, another
compresses and writes the previous run. Parsing needs Python's lock; with many runs a worker process does part of it.
"""

from __future__ import annotations

import logging
import os
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from app.engine.api.engine_api import RunImportReport, RunNotes
from app.engine.core.site_rules import claimed_host
from app.engine.core.trajectory import Run, Step
from app.engine.imports import AUTO, chosen_formats
from app.engine.imports.picture_words import PictureWords, ReadingStopped
from app.engine.imports.run_format import FoundRun, RunFormat, find_runs
from app.engine.imports.source_files import ReadRun, natural_key
from app.engine.imports.unrecognised import why_no_run, without_claimed
from app.engine.imports.worker_process import MIN_RUNS, WorkerAnswer, WorkerProcess
from app.engine.store.run_files import make_run_id
from app.engine.store.run_store import RunDraft, sync_draft
from app.engine.store.workspace import Workspace
from app.errors import InputError, PathError, SiteloreError, StoreError, printable

log = logging.getLogger(__name__)

Progress = Callable[[int, int | None, str], bool]
"""Called with runs done, runs in all, and the current folder; False stops the import and keeps what was imported."""

OnRun = Callable[[Run, Sequence[Step]], None]

READ_AHEAD = 2
"""Runs whose bytes are held in advance; the longest real one has 35 MB."""

SYNCING = 4
"""Drafts that are synced at once: the disk serves simultaneous waits together."""

_ERROR_CHARACTERS = 300
"""Characters shown of an unexpected error."""

COMMIT_BYTES = 16 * 2**20
COMMIT_SECONDS = 0.5
"""Runs are committed when this much is gathered, packed, or after this long."""


@dataclass(slots=True)
class _ImportCounts:
    failed: list[PathError] = field(default_factory=list[PathError])
    new: list[str] = field(default_factory=list[str])
    notes: list[RunNotes] = field(default_factory=list[RunNotes])
    unrecognised: list[str] = field(default_factory=list[str])
    skipped: int = 0
    first_present: str = ""
    done: int = 0
    cancelled: bool = False

    def fail(self, place: FoundRun, error: Exception) -> None:
        """List a run as failed, with its path and a sentence about the error."""
        match error:
            case InputError():
                path, what = error.path, error.what
            case OSError():
                path = str(error.filename or "")
                what = f"can't be read: {error.strerror or error}"
            case _:
                log.error("%s could not be imported", printable(str(place.path)), exc_info=error)
                path, what = (
                    "",
                    f"can't be imported: {type(error).__name__}: {str(error)[:_ERROR_CHARACTERS]}",
                )
        self.failed.append(PathError(path=path or str(place.path), error=what))


def import_paths(
    workspace: Workspace,
    paths: Sequence[Path],
    format: str = "auto",
    progress: Progress | None = None,
    on_run: OnRun | None = None,
    words: bool = False,
) -> RunImportReport:
    """Import every run at or below the paths; known content is skipped.

    What can't be read is reported by path and does not stop the rest. ``on_run`` is called for each new run once it is
    stored. ``words``: of pages that a run has only pictures of, their words are read.

    Raises:
        InputError: there is no such format. StoreError: the workspace can't be written; stored runs stay.
    """
    counts = _ImportCounts()
    found = _find_runs(paths, chosen_formats(format), counts, searches_all=format == AUTO)
    with (
        ThreadPoolExecutor(1, thread_name_prefix="import-read") as reading,
        ThreadPoolExecutor(1, thread_name_prefix="import-write") as writing,
        ThreadPoolExecutor(SYNCING, thread_name_prefix="import-sync") as syncing,
    ):
        reader = PictureWords() if words else None
        importing = _ImportPipeline(workspace, counts, on_run, writing, syncing, reader)
        worker = importing.start_worker() if len(found) >= MIN_RUNS else None
        try:
            for folder in _import_all(found, importing, worker, reading):
                if reader is not None and progress is not None:
                    reader.progress = _words_progress(progress, counts, len(found), printable(folder.name))
                if progress is not None and not progress(counts.done, len(found), printable(folder.name)):
                    counts.cancelled = True
                    break
        finally:
            if worker is not None:
                worker.close()
            reading.shutdown(wait=True, cancel_futures=True)
            importing.finish()
    if progress is not None and not counts.cancelled:
        progress(counts.done, len(found), "")
    return RunImportReport(
        imported=len(counts.new),
        skipped=counts.skipped,
        failed=tuple(dict.fromkeys(counts.failed)),
        runs=tuple(sorted(counts.new, key=natural_key)),
        learned=tuple(importing.learn()),
        cancelled=counts.cancelled,
        notes=tuple(counts.notes),
        first_present=counts.first_present,
        unrecognised=tuple(dict.fromkeys(counts.unrecognised)),
    )


def _words_progress(
    progress: Progress, counts: _ImportCounts, total: int, name: str
) -> Callable[[int, int], bool]:
    return lambda read, pictures: progress(
        max(counts.done - 1, 0), total, f"{name}: words of picture {read + 1} of {pictures}"
    )


def _find_runs(
    paths: Sequence[Path], formats: Sequence[RunFormat], counts: _ImportCounts, *, searches_all: bool
) -> list[FoundRun]:
    found: dict[tuple[Path, str], FoundRun] = {}
    for path in paths:
        root = path.expanduser().absolute()
        if not os.path.exists(root):  # noqa: PTH110 False too for a name that the system can't take
            counts.failed.append(PathError(path=str(path), error="no such file or folder"))
            continue
        before, problems, others, claimed = len(found), list[PathError](), list[Path](), set[Path]()
        for one in find_runs(root, formats, problems, others):
            claimed.add(one.path)
            found.setdefault((one.path, one.part), one)
        counts.failed.extend(dict.fromkeys(problems))
        if root.is_dir() and searches_all:
            left = without_claimed(others, claimed | {Path(one.path) for one in problems})
            counts.unrecognised += [printable(one.relative_to(root).as_posix()) for one in left]
        if len(found) == before and not problems:
            what = "no run was found in this folder" if root.is_dir() else "no run was found in this file"
            why = "" if root.is_dir() else why_no_run(root)
            counts.failed.append(PathError(path=str(path), error=f"{what}: {why}" if why else what))
    return list(found.values())


def _import_all(
    found: Sequence[FoundRun],
    importing: _ImportPipeline,
    worker: WorkerProcess | None,
    reading: ThreadPoolExecutor,
) -> Iterator[Path]:
    """Import every run, here and in the worker; yield the current folder before each."""
    pending = deque(range(len(found)))
    ahead: deque[tuple[FoundRun, Future[Any]]] = deque()

    def read(place: FoundRun) -> None:
        ahead.append((place, reading.submit(place.format.load, place.path, place.root, place.part)))

    while pending or ahead or (worker is not None and worker.waiting):
        while worker is not None and worker.has_room and pending:
            number = pending.popleft()
            worker.give(number, found[number])
        while pending and len(ahead) <= READ_AHEAD:
            read(found[pending.popleft()])
        if ahead:
            yield ahead[0][0].path
            importing.take(*ahead.popleft())
        for answer in worker.answers(wait=not ahead and not pending) if worker is not None else ():
            place = found[answer.number]
            yield place.path
            if answer.lost:
                read(place)
            else:
                importing.adopt_answer(place, answer)


@dataclass(frozen=True, slots=True)
class _PendingDraft:
    """A run that is being written: its source, and the contents only it brings."""

    place: FoundRun
    run: Run
    wanted: set[str]
    draft: Future[RunDraft]


class _ImportPipeline:
    """Runs on their way from bytes to the store; at most one is written while the next is parsed."""

    def __init__(
        self,
        workspace: Workspace,
        counts: _ImportCounts,
        on_run: OnRun | None,
        writing: ThreadPoolExecutor,
        syncing: ThreadPoolExecutor,
        reader: PictureWords | None = None,
    ) -> None:
        self._reader = reader
        self._workspace, self._counts, self._on_run = workspace, counts, on_run
        self._writing, self._syncing = writing, syncing
        workspace.catch_up()
        self._known = set(workspace.index.hashes())
        self._ids = workspace.runs.ids()
        self._coming: set[str] = set()
        self._underway: _PendingDraft | None = None
        self._drafts: list[tuple[RunDraft, FoundRun]] = []
        self._gathered, self._since = 0, time.monotonic()
        self._broken = False
        self._claims: dict[str, list[str]] = {}

    def start_worker(self) -> WorkerProcess:
        """Start a worker process that knows which runs are here already."""
        return WorkerProcess(
            self._workspace.runs.incoming(),
            self._workspace.site_table,
            self._known,
            words=self._reader is not None,
        )

    def take(self, place: FoundRun, raw: Future[Any]) -> None:
        """Import one run, or skip it, or list its error."""
        self._counts.done += 1
        try:
            read = self._read(place, raw)
        except StoreError:
            raise
        except ReadingStopped:
            self._counts.done -= 1
            self._counts.cancelled = True
            return
        except Exception as error:  # noqa: BLE001 a folder, whatever is in it, must not stop the others
            self._counts.fail(place, error)
            return
        self._await_draft()  # before asking which contents are missing: it may have failed with its own
        if read is None:
            return
        self._counts.failed.extend(read.problems)
        run = replace(read.run, imported_at=time.time())
        self._known.add(run.content_hash)
        self._ids.add(run.id)
        wanted = self._workspace.runs.blobs.missing(
            digest for digest in read.blobs if digest not in self._coming
        )
        self._coming |= wanted
        blobs = {digest: read.blobs[digest] for digest in wanted}
        future = self._writing.submit(self._workspace.runs.draft, run, read.steps, blobs)
        self._underway = _PendingDraft(place, run, wanted, future)

    def adopt_answer(self, place: FoundRun, answer: WorkerAnswer) -> None:
        """Store a run that the worker prepared."""
        if answer.draft is None:
            self._counts.done += 1
            if answer.error is not None:
                self._counts.failed.append(answer.error)
            self._counts.skipped += answer.skipped
            return
        try:
            packed = answer.contents()
        except OSError as error:
            self._counts.done += 1
            self._counts.fail(place, error)
            return
        draft = None
        if answer.content_hash not in self._known and answer.run not in self._ids:
            with suppress(InputError):  # parsed here instead, it succeeds or fails with its own message
                draft = self._workspace.runs.adopt(answer.draft, packed)
        if draft is None:
            # Later runs may name these contents, and the worker does not send them again.
            self._workspace.runs.blobs.add(packed)
            self.take(place, self._writing.submit(place.format.load, place.path, place.root, place.part))
            return
        self._counts.done += 1
        self._known.add(answer.content_hash)
        self._ids.add(answer.run)
        self._counts.failed.extend(answer.problems)
        self._coming |= {digest.hex() for digest, _, _ in packed}
        self._gather(draft, place)

    def finish(self) -> None:
        """Wait for the run that is being written and commit everything gathered.

        After a failure nothing more is committed: a waiting run may name contents that were not stored.
        """
        if not self._broken:
            self._await_draft(last=True)

    def learn(self) -> list[str]:
        """Give the new runs' hosts to their sites where that is unambiguous; return a sentence for each."""
        try:
            return self._workspace.learn_hosts(self._claims)
        except SiteloreError as error:
            log.warning("the hosts of the new runs were not learned: %s", error)
            return []

    def _read(self, place: FoundRun, raw: Future[Any]) -> ReadRun | None:
        bytes_read = raw.result()
        if bytes_read.content_hash in self._known:
            self._counts.skipped += 1
            if not self._counts.first_present:
                self._counts.first_present = self._workspace.index.hashes().get(bytes_read.content_hash, "")
            return None
        sites = self._workspace.site_table
        if self._reader is None:
            return self._under_free_id(place.format.read(bytes_read, sites))
        return self._under_free_id(place.format.read(bytes_read, sites, self._reader.completed))

    def _under_free_id(self, read: ReadRun) -> ReadRun:
        """Rename a run whose id is taken by another run (an id has only part of the content's hash)."""
        run = read.run
        if run.id in self._ids:
            run = replace(run, id=make_run_id(run.id, run.content_hash[:12]))
        return replace(read, run=run) if run is not read.run else read

    def _await_draft(self, last: bool = False) -> None:
        if self._underway is not None:
            underway, self._underway = self._underway, None
            try:
                draft = underway.draft.result()
            except StoreError:
                self._broken = True
                raise
            except Exception as error:  # noqa: BLE001 as in ``take``
                self._counts.fail(underway.place, error)
                self._known.discard(underway.run.content_hash)
                self._ids.discard(underway.run.id)
                self._coming -= underway.wanted
            else:
                self._gather(draft, underway.place)
        if self._drafts and last:
            self._commit()

    def _gather(self, draft: RunDraft, place: FoundRun) -> None:
        draft.on_disk = self._syncing.submit(sync_draft, draft.folder)
        self._drafts.append((draft, place))
        self._gathered += sum(len(data) for _, _, data in draft.packed)
        if self._gathered > COMMIT_BYTES or time.monotonic() - self._since > COMMIT_SECONDS:
            self._commit()

    def _commit(self) -> None:
        drafts, self._drafts = self._drafts, []
        self._gathered, self._since = 0, time.monotonic()
        self._broken = True
        new = set(self._workspace.runs.commit([draft for draft, _ in drafts]))
        self._broken = False
        self._coming.clear()
        with self._workspace.index.batch():
            for draft, place in drafts:
                if draft.run.id in new and not self._indexed(draft, place):
                    new.discard(draft.run.id)
                elif draft.run.id not in new:
                    self._counts.skipped += 1
        for draft, _ in drafts:
            run = draft.run
            if run.id in new:
                self._counts.new.append(run.id)
                if host := claimed_host(run, draft.steps, self._workspace.site_table):
                    self._claims.setdefault(host, []).append(run.site)
                if run.notes:
                    self._counts.notes.append(RunNotes(run=run.id, path=run.source_path, notes=run.notes))
                if self._on_run is not None:
                    self._on_run(run, draft.steps)

    def _indexed(self, draft: RunDraft, place: FoundRun) -> bool:
        """Index a committed run; one that the index rejects is deleted and listed as failed."""
        try:
            self._workspace.index.put_run(draft.run, draft.steps, self._workspace.site_of)
        except StoreError:
            raise
        except Exception as error:  # noqa: BLE001 as in ``take``
            self._workspace.runs.delete([draft.run.id])
            self._counts.fail(place, error)
            return False
        return True
