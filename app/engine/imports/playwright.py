"""Importer of Playwright's traces (``trace.zip`` of versions 6 to 10 and later, or an unpacked trace folder).

A run is one trace: a test of ``@playwright/test`` or pytest-playwright, a session of its MCP server, a script. Its
steps are the calls that act on a page and the assertions; reads, waits and settings are summed up in a note.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from app.engine.core.sites import SiteTable
from app.engine.core.trajectory import Outcome, Run
from app.engine.imports import playwright_files
from app.engine.imports.page_contents import sites_of
from app.engine.imports.playwright_steps import ReadTrace, read_steps
from app.engine.imports.playwright_trace import MAX_LINES, NEWEST, PlaywrightTrace, read_trace
from app.engine.imports.run_format import FoundPart, RunFormat, SourceFolder
from app.engine.imports.source_files import ReadRun, read_bytes_start
from app.engine.store.run_files import make_run_id
from app.errors import InputError, PathError, printable

SOURCE = "playwright"

_TRACE_MARKS = (b'"context-options"', b'"callId"')
_ZIP_MARKS = (b".trace", b"screencast/", b"resources/")
_OTHER_FILES = re.compile(
    r"\.(?:png|jpe?g|webp|json|jsonl|html?|txt|csv|log|md|py|gz|pkl|mp4|webm)\Z", re.IGNORECASE
)
_TEST_FILE = re.compile(r"\S+\.[cm]?[jt]sx?:\d+\Z")
_SEPARATOR = " › "
_MAX_ERROR = 4000


@dataclass(slots=True)
class RawTrace:
    """A trace that is read when it is parsed: its place, and a hash of its content (of a zip its table of contents)."""

    path: Path
    part: str
    content_hash: str


def _find(folder: SourceFolder) -> Iterator[FoundPart]:
    traces = [
        name
        for name in folder.names
        if name.endswith(".trace") and any(mark in folder.head(name) for mark in _TRACE_MARKS)
    ]
    if traces and folder.path.joinpath(traces[0]).is_file():
        for part in playwright_files.folder_parts(traces):
            yield FoundPart(folder.path, part)
    alone = len(folder.names) == 1 and not folder.root.is_dir()
    for name in folder.names:
        if _OTHER_FILES.search(name) or not playwright_files.is_zip(read_bytes_start(folder.path / name, 4)):
            continue
        path = folder.path / name
        try:
            if playwright_files.trace_stems(path):
                yield FoundPart(path)
        except InputError as error:
            if alone or any(mark in folder.head(name) for mark in _ZIP_MARKS):
                folder.problems.append(PathError(path=error.path or str(path), error=str(error.what)))


def load(path: Path, root: Path, part: str) -> RawTrace:
    """Hash a trace's content.

    Raises:
        InputError: it is damaged, encrypted, or beyond the bounds.
    """
    return RawTrace(path=path, part=part, content_hash=playwright_files.content_hash(path, part))


def parse(raw: RawTrace, sites: SiteTable) -> ReadRun:
    """Read a trace's events and make a run of them.

    Raises:
        InputError: as ``load``, or nothing in it is an event of a trace.
    """
    with playwright_files.open_files(raw.path, raw.part) as files:
        trace = read_trace(files)
        if not trace.calls and not trace.version:
            raise InputError("no event of a trace could be read in it", path=str(raw.path))
        read = read_steps(trace, files)
    run = _run(raw, trace, read, sites)
    return ReadRun(run=run, steps=tuple(read.steps), blobs=read.blobs)


def _run(raw: RawTrace, trace: PlaywrightTrace, read: ReadTrace, sites: SiteTable) -> Run:
    title = read.secrets.without(" ".join(trace.title.split()))[:1000]
    file, _, test = title.partition(_SEPARATOR)
    intent = test if test and _TEST_FILE.match(file) else title
    task = re.sub(r"[^\w.-]+", "_", title or raw.part or raw.path.stem).strip("_")[:80] or "trace"
    urls = [step.url for step in (*read.steps, *((read.final,) if read.final else ())) if step.url]
    urls = [url for url in urls if not url.startswith("about:")]
    site, visited = sites_of(urls, sites)
    score = _score(trace)
    error = _run_error(trace, read)
    return Run(
        id=make_run_id(f"run-{task}", raw.content_hash[:8]),
        source=SOURCE,
        task_id=task,
        site=site,
        sites=visited,
        intent=intent,
        start_url=read.start_url or (urls[0] if urls else ""),
        score=score,
        outcome=_outcome(trace, read, score, error),
        error=error,
        step_count=len(read.steps),
        final=read.final,
        started_at=trace.started_at,
        source_path=printable(str(raw.path)),
        content_hash=raw.content_hash,
        notes=tuple(_notes(trace, read, score)),
    )


def _score(trace: PlaywrightTrace) -> float | None:
    """Return 1 for a test that passed and 0 for one that failed, by what the test runner recorded; else ``None``.

    A test that is expected to fail or is skipped has no score, nor has one whose end was not recorded.
    """
    if not trace.has_runner or trace.annotations & {"fail", "skip", "fixme"}:
        return None
    if trace.errors:
        return 0.0
    return 1.0 if trace.runner_ended else None


def _run_error(trace: PlaywrightTrace, read: ReadTrace) -> str:
    """Return the test's error; without a test runner that of the last step, if it failed."""
    if trace.errors:
        return read.secrets.without(read.plain(trace.errors[0]))[:_MAX_ERROR]
    return read.steps[-1].error[:_MAX_ERROR] if read.steps else ""


def _outcome(trace: PlaywrightTrace, read: ReadTrace, score: float | None, error: str) -> Outcome:
    if error:
        return Outcome.CRASHED
    if read.is_unfinished:
        return Outcome.INTERRUPTED
    return Outcome.ENDED_BY_ENVIRONMENT if score is not None else Outcome.UNKNOWN


def _notes(trace: PlaywrightTrace, read: ReadTrace, score: float | None) -> Iterator[str]:
    if trace.version > NEWEST:
        yield (
            f"written by version {trace.version} of the format; the newest known is {NEWEST}:"
            " what is new in it was left out"
        )
    if trace.damaged:
        lines = "1 line is" if trace.damaged == 1 else f"{trace.damaged:,} lines are"
        yield f"{lines} damaged or cut off and left out"
    if trace.has_more:
        yield f"its events after the first {MAX_LINES:,} are left out"
    if trace.beyond or read.steps_left_out:
        yield f"{trace.beyond + read.steps_left_out:,} calls are beyond the bounds and left out"
    if trace.has_runner and trace.annotations & {"fail", "skip", "fixme"}:
        yield "the test is marked as skipped or expected to fail: it has no score"
    elif trace.has_runner and score is None:
        yield "the test's end was not recorded: it has no score"
    yield from read.notes


RUN_FORMAT = RunFormat(
    name="playwright",
    title="Playwright (trace.zip, versions 6 to 10)",
    new_finder=lambda: _find,
    load=load,
    parse=parse,
)
