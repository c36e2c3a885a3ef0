"""Exports of runs: native folders, and formats that other programs and people read."""

from __future__ import annotations

import asyncio
import os
import shutil
import uuid
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from app.engine.api.export_api import RunExportReport
from app.engine.exports import NATIVE, run_export_named
from app.engine.exports.redacted_source import redacted
from app.engine.exports.run_export import ExportSource, RunExport
from app.engine.jobs import Job
from app.engine.services.core import Core, on_store
from app.engine.store.workspace import Workspace
from app.errors import Conflict, InputError, NotFound, PathError
from kb.confidential import CONFIDENTIAL

JOB_TITLE = "Export runs"
FILE_ENDINGS = frozenset({".json", ".jsonl", ".zip", ".html", ".gif"})
"""Endings that nobody gives to a folder."""


class RunExportService:
    """Use cases of exporting runs."""

    def __init__(self, core: Core) -> None:
        self._core = core

    async def export_runs(self, runs: Sequence[str], out: str, format: str = NATIVE) -> RunExportReport:
        """Write runs in a format, each whole or not at all; nothing that is there is replaced.

        Native runs, and several of any other format, become files or folders in the folder ``out``; a single run of
        another format becomes ``out`` itself, or is put into it where that is a folder.

        Raises:
            InputError: there is no such format, a single run can't be held by it, or ``out`` names a file where it
                becomes a folder. NotFound: there is no such run.
            Conflict: something is there already.
        """
        chosen = list(dict.fromkeys(runs))
        folder = Path(out).expanduser().absolute()
        if not chosen:
            raise InputError("no run was named", remedy="name at least one")
        if format == NATIVE:
            targets = [folder / run for run in chosen]
        else:
            form = run_export_named(format)
            inside = len(chosen) > 1 or folder.is_dir()
            if not form.suffix and not inside and folder.suffix.lower() in FILE_ENDINGS:
                raise InputError(
                    f"a run in the format {format} is a folder, not a file",
                    path=str(out),
                    remedy="name a folder, without this ending",
                )
            targets = [folder / f"{run}{form.suffix}" if inside else folder for run in chosen]
        heads = await self._check(chosen)
        for target in targets:
            _refuse_existing(target)
        sources = [] if format == NATIVE else heads

        async def work(job: Job) -> RunExportReport:
            loop = asyncio.get_running_loop()

            def tell(done: int, detail: str) -> bool:
                loop.call_soon_threadsafe(job.advance, done, len(chosen), detail)
                return not job.cancel_requested

            def writing() -> RunExportReport:
                with Workspace.open(self._core.workspace.path) as own:
                    if format == NATIVE:
                        return _write_native(own, chosen, folder, tell)
                    whole = [replace(source, read_blob=own.runs.read_blob) for source in sources]
                    return _write_all(run_export_named(format), whole, targets, tell)

            return await self._core.on_worker(writing)

        _, task = self._core.registry.start(JOB_TITLE, work)
        return await task

    @on_store
    def _check(self, runs: Sequence[str]) -> list[ExportSource]:
        return [self._source(run) for run in runs]

    def _source(self, run: str) -> ExportSource:
        """Return a run as its author may show it: of one that is judged blind no verdicts and no tips of others.

        Confidential tips stay behind.
        """
        workspace, kb, author = self._core.workspace, self._core.kb, self._core.author
        head, steps = workspace.runs.load(run)
        blind = workspace.annotators.is_blind(run, author)
        shown = {tip for step in steps for tip in step.tips}
        shown |= {exposure.tip for step in steps for exposure in step.exposures}
        tips = {
            tip.id: tip
            for tip in kb.tips()
            if CONFIDENTIAL not in tip.tags
            if tip.id in shown
            or (tip.provenance.run == run and (not blind or tip.provenance.author == author))
        }
        return ExportSource(
            run=head,
            steps=tuple(steps),
            read_blob=_unread,
            flags=tuple(workspace.index.flags(run)),
            verdicts=() if blind else tuple(workspace.review.verdicts(run)),
            tips=tips,
        )


def _unread(_digest: str) -> bytes:
    raise NotFound("contents are read by the export itself")


def _refuse_existing(target: Path) -> None:
    if os.path.lexists(target):
        raise Conflict(f"{target} is there already; choose another name, or delete it first")


def _write_native(
    workspace: Workspace, runs: Sequence[str], out: Path, tell: Callable[[int, str], bool]
) -> RunExportReport:
    paths: list[str] = []
    for done, run in enumerate(runs):
        if not tell(done, run):
            return RunExportReport(paths=tuple(paths), cancelled=True)
        workspace.export_runs([run], out)
        paths.append(str(out / run))
    tell(len(runs), "")
    return RunExportReport(paths=tuple(paths))


def _write_all(
    form: RunExport,
    sources: Sequence[ExportSource],
    targets: Sequence[Path],
    tell: Callable[[int, str], bool],
) -> RunExportReport:
    paths: list[str] = []
    left_out: dict[str, None] = {}
    failed: list[PathError] = []
    for done, (source, target) in enumerate(zip(sources, targets, strict=True)):
        if not tell(done, source.run.id):
            return RunExportReport(
                paths=tuple(paths), left_out=tuple(left_out), failed=tuple(failed), cancelled=True
            )
        try:
            left_out |= dict.fromkeys(write_whole(form, source, target))
        except InputError as error:
            if len(sources) == 1:
                raise
            failed.append(PathError(path=source.run.id, error=error.what))
        else:
            paths.append(str(target))
    tell(len(sources), "")
    return RunExportReport(paths=tuple(paths), left_out=tuple(left_out), failed=tuple(failed))


def write_whole(form: RunExport, source: ExportSource, target: Path) -> list[str]:
    """Write a run without its secrets beside its place and move it there when it is whole.

    Raises:
        Conflict: something is there. InputError: the format can't hold the run, or the folder can't be written.
    """
    _refuse_existing(target)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"can't be made: {error.strerror}", path=str(target.parent)) from error
    part = target.with_name(f".{target.name[:80]}.{uuid.uuid4().hex[:8]}.part")
    try:
        said = form.write(redacted(source), part)
        _refuse_existing(target)
        part.rename(target)
    except OSError as error:
        raise InputError(f"can't be written: {error.strerror or error}", path=str(target)) from error
    finally:
        if part.is_dir():
            shutil.rmtree(part, ignore_errors=True)
        else:
            part.unlink(missing_ok=True)
    return said
