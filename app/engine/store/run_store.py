"""The runs of a workspace: ``runs/<id>/`` with run.json and steps.jsonl, their pages in ``blobs.sqlite``.

A run appears whole or not at all: it is written under ``runs/.incoming-*`` and moved into place when it and its
contents are on the disk.  Deleting moves it to ``trash/``; nothing is ever removed.
"""

from __future__ import annotations

import shutil
import uuid
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from app.engine.core.trajectory import Outcome, Run, Step
from app.engine.store.asked_again_file import ASKED_AGAIN_FILE, read_asked_again
from app.engine.store.blob_store import BLOB_FILE, BlobStore, PackedBlob, pack_blobs
from app.engine.store.database import translated_errors
from app.engine.store.exchange_file import picture_digests
from app.engine.store.locks import FileLock
from app.engine.store.run_files import (
    INCOMING,
    LEDGER_FILES,
    RUN_FILE,
    RUNS,
    STEPS_FILE,
    TRASH,
    blob_digests,
    call_digests,
    decode_run,
    decode_steps,
    encode_run,
    encode_steps,
    sync_file,
    sync_folder,
    validate_run_id,
    write_file,
    write_run_folder,
)
from app.engine.store.run_locks import close_crashed, is_live
from app.errors import Conflict, InputError, NotFound, StoreError
from kb.private import make_folder, own_file

if TYPE_CHECKING:
    from concurrent.futures import Future

_CACHED_RUNS = 8


@dataclass(slots=True)
class RunDraft:
    """A run that is being added: its files are written, its contents packed."""

    run: Run
    steps: Sequence[Step]
    folder: Path
    packed: list[PackedBlob]
    on_disk: Future[None] | None = None
    """The pending sync of its files, if begun; ``commit`` waits for it, or syncs them."""


def write_draft(folder: Path, run: Run, steps: Sequence[Step]) -> None:
    """Write a run's two files into a new folder, whole or not at all; ``sync_draft`` waits for the disk.

    Raises:
        StoreError: the disk is full or can't be written.
    """
    with translated_errors(folder):
        try:
            make_folder(folder, exist_ok=False)
            own_file(folder / RUN_FILE).write_bytes(encode_run(run))
            own_file(folder / STEPS_FILE).write_bytes(encode_steps(steps))
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise


def sync_draft(folder: Path) -> None:
    """Wait until a draft's files are on the disk; the waits of several threads share the disk's work.

    Raises:
        StoreError: the disk is full or can't be written.
    """
    with translated_errors(folder):
        sync_file(folder / RUN_FILE)
        sync_file(folder / STEPS_FILE)
        sync_folder(folder)


class RunStore:
    """Runs by id."""

    def __init__(self, workspace: Path) -> None:
        self.path, self._trash = workspace / RUNS, workspace / TRASH
        with translated_errors(workspace):
            make_folder(self.path)
            make_folder(self._trash)
        self.blobs = BlobStore(workspace / BLOB_FILE)
        self.crashed = close_crashed(self.path)
        self._incoming: tuple[Path, FileLock] | None = None
        self._opened: OrderedDict[tuple[str | int, ...], tuple[Run, list[Step]]] = OrderedDict()
        self.sweep()

    def folder(self, run: str) -> Path:
        """Return a run's folder.  Raises ``InputError`` for an invalid id."""
        return self.path / validate_run_id(run)

    def is_live(self, run: str) -> bool:
        """Return whether a process works on the run."""
        return is_live(self.path, validate_run_id(run))

    def ids(self) -> set[str]:
        """Return the ids of all runs."""
        with translated_errors(self.path):
            return {path.name for path in self.path.iterdir() if not path.name.startswith(".")}

    def has(self, run: str) -> bool:
        """Return whether the run is here."""
        return (self.path / validate_run_id(run) / RUN_FILE).exists()

    def add(
        self,
        run: Run,
        steps: Sequence[Step],
        blobs: Mapping[str, bytes],
        beside: Mapping[str, bytes] | None = None,
    ) -> bool:
        """Store one run, with files ``beside`` its own; return False for a known id."""
        wanted = self.blobs.missing(blobs)
        draft = self.draft(run, steps, {digest: blobs[digest] for digest in wanted})
        for name, data in (beside or {}).items():
            with translated_errors(draft.folder):
                write_file(draft.folder / name, data)
        return self.commit([draft]) == [run.id]

    def draft(self, run: Run, steps: Sequence[Step], blobs: Mapping[str, bytes]) -> RunDraft:
        """Write a run's files to a draft folder and pack its contents; uses no connection, so any one thread may do
        it.

        Raises:
            StoreError: the disk is full or can't be written.
        """
        folder = self.incoming() / f"{validate_run_id(run.id)}.{uuid.uuid4().hex[:8]}"
        write_draft(folder, run, steps)
        return RunDraft(run=run, steps=steps, folder=folder, packed=pack_blobs(blobs))

    def adopt(self, folder: Path, packed: list[PackedBlob]) -> RunDraft:
        """Return the draft that another process wrote under ``incoming()``.

        Raises:
            InputError: its files are incomplete.
        """
        with translated_errors(folder):
            run = decode_run((folder / RUN_FILE).read_bytes(), folder / RUN_FILE)
            steps, _ = decode_steps((folder / STEPS_FILE).read_bytes(), folder / STEPS_FILE)
        return RunDraft(run=run, steps=steps, folder=folder, packed=packed)

    def incoming(self) -> Path:
        """Return the folder for this process's drafts; it is removed after the process is gone."""
        if self._incoming is None:
            folder = self.path / f"{INCOMING}{uuid.uuid4().hex[:12]}"
            lock = FileLock(self._lock_of(folder))
            with translated_errors(self.path):
                lock.take()  # before the folder is there for a sweep to find
                make_folder(folder, exist_ok=False)
            self._incoming = (folder, lock)
        return self._incoming[0]

    def commit(self, drafts: Sequence[RunDraft]) -> list[str]:
        """Move drafts into place once they are on the disk, contents first; return the ids of new ones."""
        for draft in drafts:
            if draft.on_disk is None:
                sync_draft(draft.folder)
            else:
                draft.on_disk.result()
        self.blobs.add([row for draft in drafts for row in draft.packed])
        new: list[str] = []
        with translated_errors(self.path):
            for draft in drafts:
                try:
                    draft.folder.rename(self.path / draft.run.id)
                    new.append(draft.run.id)
                except OSError:
                    if not self.has(draft.run.id):
                        raise
                    shutil.rmtree(draft.folder, ignore_errors=True)  # another process was first
            if new:
                sync_folder(self.path)
        return new

    def load(self, run: str) -> tuple[Run, list[Step]]:
        """Return a run and its steps, without the pages' contents.

        Raises:
            NotFound: no run has this id.  StoreError: its files are damaged.
        """
        try:
            folder = self.path / validate_run_id(run)
            head_file, steps_file = (folder / RUN_FILE).stat(), (folder / STEPS_FILE).stat()
        except (OSError, InputError) as error:
            raise NotFound(f"no run {run[:120]!r} in this workspace") from error
        key = (run, head_file.st_mtime_ns, head_file.st_size, steps_file.st_mtime_ns, steps_file.st_size)
        if key in self._opened:
            self._opened.move_to_end(key)
            return self._opened[key]
        try:
            head = decode_run((folder / RUN_FILE).read_bytes(), folder / RUN_FILE)
            steps, _ = decode_steps((folder / STEPS_FILE).read_bytes(), folder / STEPS_FILE)
            if head.outcome is Outcome.RUNNING:
                head = replace(head, step_count=len(steps))
        except InputError as error:
            raise StoreError(f"run {run} is damaged: {error}; import it again") from error
        except OSError as error:
            raise StoreError(f"run {run} can't be read: {error.strerror}") from error
        self._opened[key] = (head, steps)
        if len(self._opened) > _CACHED_RUNS:
            self._opened.popitem(last=False)
        return head, steps

    def load_head(self, run: str) -> Run:
        """Return a run without its steps.

        Raises:
            NotFound: no run has this id.  StoreError: its file is damaged.
        """
        try:
            place = self.path / validate_run_id(run) / RUN_FILE
            return decode_run(place.read_bytes(), place)
        except OSError as error:
            raise NotFound(f"no run {run[:120]!r} in this workspace") from error
        except InputError as error:
            raise StoreError(f"run {run} is damaged: {error}; import it again") from error

    def read_blob(self, digest: str) -> bytes:
        """Return a page's or picture's content; raises ``NotFound``."""
        return self.blobs.read(digest)

    def delete(self, runs: Iterable[str]) -> list[str]:
        """Move runs to the trash; return their ids.  An older run of the same id in the trash is kept.

        Raises:
            Conflict: one is still active; none was moved.
        """
        runs = list(runs)
        if live := [run for run in runs if self.has(run) and self.is_live(run)]:
            raise Conflict(f"run {live[0]} is still active; stop it first, nothing was deleted")
        moved: list[str] = []
        with translated_errors(self._trash):
            for run in runs:
                if not self.has(run):
                    continue
                place = self._trash / run
                if place.exists():
                    place.rename(self._trash / f"{run}~{uuid.uuid4().hex[:8]}")
                (self.path / run).rename(place)
                moved.append(run)
            sync_folder(self.path)
        self._opened.clear()
        return moved

    def restore(self, runs: Iterable[str]) -> list[str]:
        """Restore runs from the trash; return the ids of those restored."""
        back: list[str] = []
        with translated_errors(self._trash):
            for run in runs:
                place = self._trash / validate_run_id(run)
                if place.is_dir() and not self.has(run):
                    place.rename(self.path / run)
                    back.append(run)
            sync_folder(self.path)
        return back

    def export(self, run: str, out: Path) -> Path:
        """Write one run as a native run folder ``out/<id>``, with what came of asking its exchanges again."""
        head, steps = self.load(run)
        again = read_asked_again(self.folder(run))
        asked = [answer.digest for one in again for answer in one.answers if answer.digest]
        contents = self._present([*blob_digests(head, steps), *asked])
        calls = [contents[one] for one in {*call_digests(head, steps), *asked} if one in contents]
        pictures = self._present({name for data in calls for name in picture_digests(data)})
        if head.outcome is Outcome.RUNNING:  # what is carried elsewhere goes on for nobody there
            head = replace(head, outcome=Outcome.INTERRUPTED)
        with translated_errors(out):
            beside = {
                name: (self.folder(run) / name).read_bytes()
                for name in (*LEDGER_FILES, ASKED_AGAIN_FILE)
                if (self.folder(run) / name).exists()
            }
            return write_run_folder(
                out / run, head, steps, {**contents, **pictures}, beside, (*asked, *pictures)
            )

    def _present(self, digests: Iterable[str]) -> dict[str, bytes]:
        """Return those of the contents that are stored."""
        wanted = set(digests)
        return {digest: self.read_blob(digest) for digest in wanted - self.blobs.missing(wanted)}

    def sweep(self) -> None:
        """Remove incomplete imports of dead processes; those of living ones are locked and stay."""
        with translated_errors(self.path):
            for folder in self.path.glob(f"{INCOMING}*"):
                with FileLock(self._lock_of(folder)) as lock:
                    if lock.take():
                        with suppress(FileNotFoundError):  # another process swept it first
                            # Under another name the dead import's helper, if it still ends, can't add to it.
                            gone = folder.rename(self.path / f"{INCOMING}{uuid.uuid4().hex[:12]}")
                            shutil.rmtree(gone, ignore_errors=True)
                        lock.path.unlink(missing_ok=True)

    def close(self) -> None:
        """Close the file of contents and remove this process's folder for drafts."""
        if self._incoming is not None:
            folder, lock = self._incoming
            self._incoming = None
            shutil.rmtree(folder, ignore_errors=True)
            lock.release()
            lock.path.unlink(missing_ok=True)
        for dead in self.crashed:
            dead.lock.release()
        self.blobs.close()

    def _lock_of(self, folder: Path) -> Path:
        return self.path / folder.name.replace(INCOMING, ".lock-")
