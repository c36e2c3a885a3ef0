"""Importing runs: found, read, stored and indexed one by one, in memory that does not grow with their number.

Three things go on at once: the next run's files are read and hashed on one thread, this run is made sense of here,
the run before is compressed and written on another thread.  What of it has no need of Python's lock overlaps.
Making sense of a run has; with many runs a helper process does part of them (``helper``).
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from app.engine.api import RunImportReport
from app.engine.errors import InputError, PathError, SiteloreError
from app.engine.imports import Format, chosen_formats
from app.engine.imports.helper import MIN_RUNS, Answer, Helper
from app.engine.imports.reading import ReadRun, natural
from app.engine.store.runs import Draft, sync_draft
from app.engine.store.workspace import Workspace
from app.engine.trajectory import Run, Step

Progress = Callable[[int, int | None, str], bool]
"""Called with runs done, runs in all, and the folder at hand; False stops the import, what was imported stays."""

OnRun = Callable[[Run, Sequence[Step]], None]

READ_AHEAD = 2
"""Runs whose bytes are held before their turn; the longest real one has 35 MB."""

SYNCING = 4
"""Drafts whose files are waited for at once: the disk serves waits that come together together."""

COMMIT_BYTES = 16 * 2**20
COMMIT_SECONDS = 0.5
"""Runs are put into place when this much has gathered, packed, or after this long."""


@dataclass(frozen=True, slots=True)
class _Found:
    folder: Path
    root: Path
    format: Format


@dataclass(slots=True)
class _Tally:
    failed: list[PathError] = field(default_factory=list[PathError])
    new: list[str] = field(default_factory=list[str])
    skipped: int = 0
    done: int = 0
    cancelled: bool = False


def import_paths(
    workspace: Workspace,
    paths: Sequence[Path],
    format: str = "auto",
    progress: Progress | None = None,
    on_run: OnRun | None = None,
) -> RunImportReport:
    """Import every run at or below the paths; one that is here already, by its content, is skipped.

    What can't be read is reported by path and keeps nothing else from being imported.  ``on_run`` is told of each new
    run once it is stored.

    Raises:
        InputError: there is no such format.  StoreError: the workspace can't be written; what was stored stays.
    """
    tally = _Tally()
    found = _find(paths, chosen_formats(format), tally)
    with (
        ThreadPoolExecutor(1, thread_name_prefix="import-read") as reading,
        ThreadPoolExecutor(1, thread_name_prefix="import-write") as writing,
        ThreadPoolExecutor(SYNCING, thread_name_prefix="import-sync") as syncing,
    ):
        importing = _Importing(workspace, tally, on_run, writing, syncing)
        helper = importing.start_helper() if len(found) >= MIN_RUNS else None
        try:
            for folder in _take_all(found, importing, helper, reading):
                if progress is not None and not progress(tally.done, len(found), folder.name):
                    tally.cancelled = True
                    break
        finally:
            if helper is not None:
                helper.close()
            reading.shutdown(wait=True, cancel_futures=True)
            importing.finish()
    if progress is not None and not tally.cancelled:
        progress(tally.done, len(found), "")
    return RunImportReport(
        imported=len(tally.new),
        skipped=tally.skipped,
        failed=tuple(dict.fromkeys(tally.failed)),
        runs=tuple(sorted(tally.new, key=natural)),
        cancelled=tally.cancelled,
    )


def _find(paths: Sequence[Path], formats: Sequence[Format], tally: _Tally) -> list[_Found]:
    found: dict[Path, _Found] = {}
    for path in paths:
        root = path.expanduser().absolute()
        if not root.is_dir():
            what = (
                "a file, not a folder; choose the folder that holds the run"
                if root.exists()
                else "no such folder"
            )
            tally.failed.append(PathError(path=str(path), error=what))
            continue
        before, problems = len(found), list[PathError]()
        for form in formats:
            for folder in form.find_runs(root, problems):
                found.setdefault(folder, _Found(folder, root, form))
        tally.failed.extend(dict.fromkeys(problems))
        if len(found) == before and not problems:
            tally.failed.append(PathError(path=str(path), error="no run was found in this folder"))
    return list(found.values())


def _take_all(
    found: Sequence[_Found], importing: _Importing, helper: Helper | None, reading: ThreadPoolExecutor
) -> Iterator[Path]:
    """Import run after run, here and in the helper; the folder at hand, before each."""
    pending = deque(range(len(found)))
    ahead: deque[tuple[_Found, Future[Any]]] = deque()

    def read(place: _Found) -> None:
        ahead.append((place, reading.submit(place.format.load, place.folder, place.root)))

    while pending or ahead or (helper is not None and helper.waiting):
        while helper is not None and helper.has_room and pending:
            number = pending.popleft()
            helper.give(number, found[number].folder, found[number].root, found[number].format.name)
        while pending and len(ahead) <= READ_AHEAD:
            read(found[pending.popleft()])
        if ahead:
            yield ahead[0][0].folder
            importing.take(*ahead.popleft())
        for answer in helper.answers(wait=not ahead and not pending) if helper is not None else ():
            place = found[answer.number]
            yield place.folder
            if answer.lost:
                read(place)
            else:
                importing.take_answer(place, answer)


class _Importing:
    """Runs on their way from bytes to the store; at most one is being written while the next is made sense of."""

    def __init__(
        self,
        workspace: Workspace,
        tally: _Tally,
        on_run: OnRun | None,
        writing: ThreadPoolExecutor,
        syncing: ThreadPoolExecutor,
    ) -> None:
        self._workspace, self._tally, self._on_run = workspace, tally, on_run
        self._writing, self._syncing = writing, syncing
        workspace.catch_up()
        self._known = set(workspace.index.hashes())
        self._ids = workspace.runs.ids()
        self._coming: set[str] = set()
        self._underway: Future[Draft] | None = None
        self._drafts: list[Draft] = []
        self._gathered, self._since = 0, time.monotonic()
        self._broken = False

    def start_helper(self) -> Helper:
        """A helper process that knows what is here already."""
        return Helper(self._workspace.runs.incoming(), self._workspace.site_table, self._known)

    def take(self, place: _Found, raw: Future[Any]) -> None:
        """Import one run, or skip it, or say what is wrong with it."""
        try:
            read = self._read(place, raw)
        except InputError as error:
            self._tally.failed.append(PathError(path=error.path or str(place.folder), error=error.what))
            read = None
        except OSError as error:
            self._tally.failed.append(
                PathError(
                    path=str(error.filename or place.folder),
                    error=f"can't be read: {error.strerror or error}",
                )
            )
            read = None
        self._tally.done += 1
        if read is None:
            return
        self._tally.failed.extend(read.problems)
        run = replace(read.run, imported_at=time.time())
        wanted = self._workspace.runs.blobs.missing(
            digest for digest in read.blobs if digest not in self._coming
        )
        self._coming |= wanted
        blobs = {digest: read.blobs[digest] for digest in wanted}
        self._await_draft()
        self._underway = self._writing.submit(self._workspace.runs.draft, run, read.steps, blobs)

    def take_answer(self, place: _Found, answer: Answer) -> None:
        """Take over what the helper made of a run."""
        self._tally.done += 1
        if answer.error is not None:
            self._tally.failed.append(answer.error)
        if answer.draft is None:
            self._tally.skipped += answer.skipped
            return
        packed = answer.contents()
        if answer.content_hash in self._known or answer.run in self._ids:
            # Later runs may name these contents, and the helper does not send them again.
            self._workspace.runs.blobs.add(packed)
            self._tally.done -= 1
            self.take(place, self._writing.submit(place.format.load, place.folder, place.root))
            return
        self._known.add(answer.content_hash)
        self._ids.add(answer.run)
        self._tally.failed.extend(answer.problems)
        self._coming |= {digest.hex() for digest, _, _ in packed}
        self._gather(self._workspace.runs.adopt(answer.draft, packed))

    def finish(self) -> None:
        """Wait for the run that is being written and put all that has gathered into place.

        After a failure nothing more is put into place: a run that waits may name contents that were not stored.
        """
        if not self._broken:
            self._await_draft(last=True)

    def _read(self, place: _Found, raw: Future[Any]) -> ReadRun | None:
        bytes_read = raw.result()
        if bytes_read.content_hash in self._known:
            self._tally.skipped += 1
            return None
        read = place.format.parse(bytes_read, self._workspace.site_table)
        read = self._under_free_id(read)
        self._known.add(read.run.content_hash)
        self._ids.add(read.run.id)
        return read

    def _under_free_id(self, read: ReadRun) -> ReadRun:
        """Two different runs of one id (an id is only part of the content's hash) both find a place."""
        run = read.run
        if run.id in self._ids:
            run = replace(run, id=f"{run.id}-{run.content_hash[:12]}")
        return replace(read, run=run) if run is not read.run else read

    def _await_draft(self, last: bool = False) -> None:
        if self._underway is not None:
            underway, self._underway = self._underway, None
            try:
                self._gather(underway.result())
            except SiteloreError:
                self._broken = True
                raise
        if self._drafts and last:
            self._commit()

    def _gather(self, draft: Draft) -> None:
        draft.on_disk = self._syncing.submit(sync_draft, draft.folder)
        self._drafts.append(draft)
        self._gathered += sum(len(data) for _, _, data in draft.packed)
        if self._gathered > COMMIT_BYTES or time.monotonic() - self._since > COMMIT_SECONDS:
            self._commit()

    def _commit(self) -> None:
        drafts, self._drafts = self._drafts, []
        self._gathered, self._since = 0, time.monotonic()
        self._broken = True
        new = set(self._workspace.runs.commit(drafts))
        self._broken = False
        self._coming.clear()
        with self._workspace.index.batch():
            for draft in drafts:
                if draft.run.id in new:
                    self._workspace.index.put_run(draft.run, draft.steps, self._workspace.site_of)
        for draft in drafts:
            if draft.run.id not in new:
                self._tally.skipped += 1
                continue
            self._tally.new.append(draft.run.id)
            if self._on_run is not None:
                self._on_run(draft.run, draft.steps)
