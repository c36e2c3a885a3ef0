"""Importer of Sitelore's own run folders, exported or in a workspace.

An exported folder has its pages' contents in ``blobs/``; a workspace keeps those of all runs in one file.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from app.engine.core.ax_tree import content_key
from app.engine.core.redaction import (
    MARK,
    redact_html,
    redact_text,
    redact_tree,
    redact_url,
    typed_secret,
    without_typed,
)
from app.engine.core.sites import SiteTable
from app.engine.core.trajectory import Outcome, Run, Step, Tab
from app.engine.imports import run_format
from app.engine.imports.run_format import FoundPart, RunFormat, SourceFolder
from app.engine.imports.source_files import MAX_IMAGE_BYTES, MAX_JSON_BYTES, ReadRun, read_bytes
from app.engine.store import blob_store
from app.engine.store.exchange_file import picture_digests
from app.engine.store.run_files import (
    BLOB_FOLDER,
    FORMAT,
    INCOMING,
    RUN_FILE,
    RUNS,
    STEPS_FILE,
    TRASH,
    WORKSPACE_FILE,
    blob_digests,
    call_digests,
    decode_blob_file,
    decode_run,
    decode_steps,
)
from app.errors import InputError, PathError, printable

_IN_USE = (
    "this Sitelore workspace is open, or was not closed: close it (or open and close it once) and import it again,"
    " or export its runs with 'sitelore runs export'"
)
_NO_PAGES = (
    "its pages are missing: choose the folder of the whole workspace, or export the run with"
    " 'sitelore runs export'"
)
_BLOB = re.compile(r"[0-9a-f]{64}\.(?:txt\.zst|png|jpg|webp)")


@dataclass(slots=True)
class NativeRun:
    """A run folder with its head parsed. ``content_hash`` is the run's own, else that of its two files.

    ``store`` is the file with the pages of the workspace around it, if there is one.
    """

    folder: Path
    run: Run
    steps: bytes
    content_hash: str
    store: Path | None = None
    problems: list[PathError] = field(default_factory=list[PathError])


class _Finder:
    """Finds native run folders; of a workspace those that were not deleted.

    An open workspace is a problem: the newest pages of its runs could not be read.
    """

    def __init__(self) -> None:
        self._left_out: list[Path] = []

    def __call__(self, folder: SourceFolder) -> Iterator[FoundPart]:
        path, names = folder.path, folder.names
        if WORKSPACE_FILE in names and blob_store.BLOB_FILE in names:
            self._left_out.append(path / TRASH)
            if blob_store.is_in_use(path / blob_store.BLOB_FILE):
                self._left_out.append(path / RUNS)
                folder.problems.append(PathError(path=str(path), error=_IN_USE))
        if RUN_FILE not in names or path.parent.name.startswith(INCOMING):
            return
        if any(path.is_relative_to(place) for place in self._left_out):
            return
        if is_native(path / RUN_FILE):
            yield FoundPart(path)


def find_runs(root: Path, problems: list[PathError] | None = None) -> Iterator[Path]:
    """Yield every native run folder at or below ``root``."""
    for found in run_format.find_runs(root, [RUN_FORMAT], problems if problems is not None else []):
        yield found.path


def is_native(path: Path) -> bool:
    """Whether a ``run.json`` is of this format; a newer version counts, so that it is refused by name."""
    try:
        head = read_bytes(path, MAX_JSON_BYTES)[:200]
    except InputError:
        return False
    return FORMAT.encode() in head


def load(folder: Path, root: Path) -> NativeRun:
    """Read the run's head and the bytes of its steps.

    Raises:
        InputError: ``run.json`` or ``steps.jsonl`` is missing, damaged, or of a newer version.
    """
    head = read_bytes(folder / RUN_FILE, MAX_JSON_BYTES)
    run = decode_run(head, folder / RUN_FILE)
    steps = read_bytes(folder / STEPS_FILE, MAX_JSON_BYTES)
    own = hashlib.sha256(len(head).to_bytes(8, "big") + head + steps).hexdigest()
    return NativeRun(
        folder=folder,
        run=run,
        steps=steps,
        content_hash=run.content_hash or own,
        store=_store_of(folder, root),
    )


def load_end(folder: Path, root: Path, *, page: bool) -> NativeRun:
    """Read what the end of the run is made of, as ``load`` does, but none of its steps.

    Args:
        page: with the page's HTML.

    Raises:
        InputError: as ``load``.
    """
    raw = load(folder, root)
    final = raw.run.final
    if final is not None:
        final = replace(final, tree="", screenshot="", boxes="", calls=(), html=final.html if page else "")
    raw.run, raw.steps = replace(raw.run, final=final, calls=(), prompts=(), actions=None), b""
    return raw


def parse(raw: NativeRun, sites: SiteTable) -> ReadRun:
    """Make a run of it; a missing or damaged content is a problem, not a failure."""
    steps, notes = decode_steps(raw.steps, raw.folder / STEPS_FILE)
    for position, step in enumerate(steps):
        if step.index != position:
            what = f"line {position + 1} holds step {step.index}, step {position} was expected"
            raise InputError(what, path=str(raw.folder / STEPS_FILE))
    run = raw.run
    if raw.store is not None and run.outcome is Outcome.RUNNING:  # nobody continues it here
        run = replace(run, outcome=Outcome.INTERRUPTED)
    contents = _contents(raw, blob_digests(run, steps))
    calls = [contents[digest] for digest in call_digests(run, steps) if digest in contents]
    pictures = {name for data in calls for name in picture_digests(data)} - contents.keys()
    contents |= _contents(raw, sorted(pictures), optional=True)
    if not run.site and run.start_url:
        run = replace(run, site=sites.site_of(run.start_url))
    run = replace(
        run,
        content_hash=raw.content_hash,
        source_path=printable(str(raw.folder)),
        step_count=len(steps),
        notes=tuple(dict.fromkeys((*run.notes, *notes))),
    )
    run, clean, kept = redact_run(run, steps, contents)
    return ReadRun(run=run, steps=clean, blobs=kept, problems=tuple(raw.problems))


def _contents(raw: NativeRun, wanted: Sequence[str], *, optional: bool = False) -> dict[str, bytes]:
    """Return the run's pages by digest; damaged ones are added to its problems, missing ones together.

    ``optional`` contents may be missing: a run stores no more pictures of its exchanges than fit a bound.
    """
    files = raw.folder / BLOB_FOLDER
    present: dict[str, Path] = {}
    if files.is_dir() and not files.is_symlink():
        present = {
            path.name.partition(".")[0]: path for path in files.iterdir() if _BLOB.fullmatch(path.name)
        }
    found: dict[str, bytes] = {}
    missing: list[str] = []
    for digest in wanted:
        if digest not in present:
            missing.append(digest)
            continue
        try:
            path = present[digest]
            named, content = decode_blob_file(path.name, read_bytes(path, MAX_IMAGE_BYTES), path)
            found[named] = content
        except InputError as error:
            raw.problems.append(PathError(path=error.path, error=error.what))
    if missing and raw.store is None and not files.exists() and raw.folder.parent.name == RUNS:
        raise InputError(_NO_PAGES, path=str(raw.folder))  # stored without its pages it would count as known
    if missing and raw.store is not None:
        try:
            found |= blob_store.read_foreign(raw.store, missing, MAX_IMAGE_BYTES)
        except (InputError, OSError) as error:
            raw.problems.append(PathError(path=str(raw.store), error=str(error)))
        missing = [digest for digest in missing if digest not in found]
    if optional:
        return found
    if len(missing) == 1:
        raw.problems.append(PathError(path=str(files / missing[0]), error="the page's content is missing"))
    elif missing:
        raw.problems.append(
            PathError(path=str(raw.folder), error=f"the contents of {len(missing)} pages are missing")
        )
    return found


def _store_of(folder: Path, root: Path) -> Path | None:
    """Return the file with the pages of the workspace around a run; nothing outside of ``root`` is read."""
    place = folder.parent.parent
    if folder.parent.name != RUNS or not place.is_relative_to(root):
        return None
    return (
        place / blob_store.BLOB_FILE
        if (place / WORKSPACE_FILE).is_file() and (place / blob_store.BLOB_FILE).exists()
        else None
    )


def redact_run(
    run: Run, steps: Sequence[Step], blobs: Mapping[str, bytes]
) -> tuple[Run, tuple[Step, ...], dict[str, bytes]]:
    """Return the run, its steps and its page contents without secrets; a changed content gets a new hash.

    It may have been made by hand or by another program.  Sitelore's own exports pass unchanged.
    """
    pages = [*steps, *([run.final] if run.final is not None else [])]
    kept = dict(blobs)
    moved: dict[str, str] = {}
    for digest in {step.tree for step in pages} & kept.keys():
        _keep(kept, moved, digest, redact_tree(kept[digest].decode("utf-8", "replace")))
    for digest in {step.html for step in pages} & kept.keys():
        _keep(kept, moved, digest, redact_html(kept[digest].decode("utf-8", "replace")))
    for digest in {*run.calls, *(call for step in pages for call in step.calls)} & kept.keys():
        _keep(kept, moved, digest, redact_text(kept[digest].decode("utf-8", "replace")).encode())
    clean = tuple(_step(step, moved, kept) for step in steps)
    return (
        replace(
            run,
            intent=redact_text(run.intent),
            start_url=redact_url(run.start_url),
            error=redact_text(run.error),
            answer=redact_text(run.answer) if run.answer is not None else None,
            final=_step(run.final, moved, kept) if run.final is not None else None,
            calls=tuple(moved.get(call, call) for call in run.calls),
        ),
        clean,
        kept,
    )


def _keep(kept: dict[str, bytes], moved: dict[str, str], digest: str, data: bytes) -> None:
    if data != kept[digest]:
        moved[digest] = hashlib.sha256(data).hexdigest()
        kept[moved[digest]] = data
        del kept[digest]


def _step(step: Step, moved: Mapping[str, str], kept: Mapping[str, bytes]) -> Step:
    tree = moved.get(step.tree, step.tree)
    secret = typed_secret(step.action, step.target)
    action = without_typed(step.action, secret) if step.action is not None and secret else step.action

    def said(text: str) -> str:
        clean = redact_text(text)
        return clean.replace(secret, MARK) if secret else clean

    return replace(
        step,
        url=redact_url(step.url),
        title=redact_text(step.title),
        tabs=tuple(Tab(url=redact_url(tab.url), title=redact_text(tab.title)) for tab in step.tabs),
        reason=said(step.reason),
        raw_output=said(step.raw_output),
        action=action,
        error=said(step.error),
        notices=tuple(redact_text(notice) for notice in step.notices),
        summary=redact_text(step.summary),
        tree=tree,
        html=moved.get(step.html, step.html),
        output=said(step.output),
        calls=tuple(moved.get(call, call) for call in step.calls),
        state=content_key(kept[tree].decode()) if tree != step.tree else step.state,
    )


def _load(path: Path, root: Path, part: str) -> Any:
    return load(path, root)


def _load_end(path: Path, root: Path, part: str, *, page: bool) -> Any:
    return load_end(path, root, page=page)


RUN_FORMAT = RunFormat(
    name="native",
    title="Sitelore (exported runs, workspaces)",
    new_finder=_Finder,
    load=_load,
    parse=parse,
    load_end=_load_end,
    notes_absences=False,
)
