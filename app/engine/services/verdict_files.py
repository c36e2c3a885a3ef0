"""Files of verdicts: JSONL, CSV and the annotations of AgentRewardBench, in and out."""

from __future__ import annotations

import hashlib
import json
import stat
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from app.engine.api.review_api import VERDICT_FORMATS, VerdictImport
from app.engine.api.run_rows import RunFilter, RunRow
from app.engine.core.person_names import ME, check_name
from app.engine.core.verdict_rows import (
    COLUMNS,
    JSONL,
    MAX_NAME,
    REWARD_BENCH,
    REWARD_BENCH_COLUMNS,
    VerdictRow,
    csv_bytes,
    jsonl_bytes,
    own_rows,
    read_rows,
    reward_bench_rows,
)
from app.engine.core.verdicts import Verdict
from app.engine.imports import agent_reward_bench
from app.engine.services.core import Core
from app.engine.services.review import ReviewService
from app.engine.store.export_file import write_export
from app.errors import InputError, UsageError, printable

MAX_FILE = 64 * 2**20
MOST_NAMED = 100
"""Rows left out that an import names one by one; the last sentence counts the rest."""
_ALIASES = {"agent-reward-bench": REWARD_BENCH, "agent_reward_bench": REWARD_BENCH, "json": JSONL}


class VerdictFileService:
    """Files of verdicts: JSONL, CSV and the annotations of AgentRewardBench, in and out."""

    def __init__(self, core: Core, review: ReviewService) -> None:
        self._core, self._review = core, review

    async def export_verdicts(self, out: str, format: str = "jsonl") -> int:
        """Write all verdicts in force to a file, whoever gave them; return how many rows it has.

        Nothing is withheld from the file: it is for the one who settles disagreements, and for analyses. Annotators
        whose second look is to be blind should not read it.

        Raises:
            UsageError: there is no such format.  InputError: the file can't be written.
        """
        chosen = _format(format) or JSONL

        def gathering() -> tuple[list[Verdict], list[RunRow]]:
            workspace = self._core.workspace
            return workspace.review.verdicts(), workspace.index.rows(RunFilter())

        verdicts, runs = await self._core.on_store(gathering)

        def writing() -> int:
            places = {row.id: (row.suite, row.task_id, row.site) for row in runs}
            if chosen == REWARD_BENCH:
                rows = reward_bench_rows(verdicts, places, {row.id: row.source for row in runs})
            else:
                rows = own_rows(verdicts, places)
            columns = REWARD_BENCH_COLUMNS if chosen == REWARD_BENCH else COLUMNS
            write_export(out, jsonl_bytes(rows) if chosen == JSONL else csv_bytes(rows, columns))
            return len(rows)

        return await self._core.on_worker(writing)

    async def import_verdicts(self, path: str, format: str = "", author: str = "") -> VerdictImport:
        """Read a file of verdicts, all in one transaction that one undo takes back.

        A run is found by its id; where the file names none, by suite and task if only one run is of it. ``author`` is
        the author of rows that name none, "" for the one of this workspace. A verdict that was withdrawn here comes
        back into force. One that settles a run needs two people who judged it, here or in the file.

        Raises:
            UsageError: there is no such format, or the author is no name.
            InputError: the file can't be read; nothing was changed.
        """
        chosen = _format(format)
        rows, failed = await self._core.on_worker(_read, path, chosen)

        def adding() -> _Sorted:
            workspace = self._core.workspace
            fallback = self._core.author if author.strip() in ("", ME) else check_name(author)
            found = _Sorted(failed=list(failed))
            found.sort(
                rows,
                workspace.index.rows(RunFilter()),
                workspace.review.all_verdicts(),
                fallback,
                _file_name(path),
            )
            count = len(found.new) + len(found.again)
            label = f"import {count} verdict{'' if count == 1 else 's'} from {_file_name(path)}"
            workspace.review.add_verdicts(found.new, label, found.again, self._core.author)
            return found

        found = await self._core.do_in_review(adding)
        added = len(found.new) + len(found.again)
        if added:
            await self._review.after_verdicts(())
        return VerdictImport(
            added=added,
            known=found.known,
            unmatched=_named(found.unmatched, "rows name no run of this workspace"),
            failed=_named(found.failed, "rows can't be read"),
        )


@dataclass(slots=True)
class _Sorted:
    """The rows of a file, sorted into new, withdrawn before, known, without a run, and unreadable."""

    new: list[Verdict] = field(default_factory=list[Verdict])
    again: list[str] = field(default_factory=list[str])
    known: int = 0
    unmatched: list[str] = field(default_factory=list[str])
    failed: list[str] = field(default_factory=list[str])

    def sort(
        self,
        rows: Sequence[VerdictRow],
        runs: Sequence[RunRow],
        stored: Sequence[tuple[Verdict, bool]],
        author: str,
        origin: str,
    ) -> None:
        """Sort rows against the runs of the workspace and all its verdicts, with whether they stand."""
        by_id = {run.id: run for run in runs}
        by_task: dict[tuple[str, str], list[RunRow]] = defaultdict(list)
        for run in runs:
            if run.task_id:
                by_task[run.suite, run.task_id].append(run)
                by_task["", run.task_id].append(run)
        agents: dict[tuple[str, str], set[str]] = defaultdict(set)
        for row in rows:
            agents[row.suite, row.task].add(row.agent)
        ids = {verdict.id: (verdict, stands) for verdict, stands in stored}
        newest: dict[
            tuple[object, ...], Verdict
        ] = {}  # a verdict that the same person replaced is no longer said
        for verdict, stands in stored:
            if stands:
                newest[_subject(verdict)] = verdict
        now = time.time()
        matched: list[tuple[VerdictRow, RunRow]] = []
        for row in rows:
            run = by_id.get(row.run)
            if run is None:
                run = self._run_of(row, by_task, agents)
            if run is None:
                continue
            if row.step is not None and row.step > run.steps:
                self.failed.append(
                    f"line {row.line}: run {run.id} has no step {row.step}; it has {run.steps}"
                )
                continue
            matched.append((row, run))
        judges: dict[str, set[str]] = defaultdict(set)
        for verdict, stands in stored:
            if stands and not verdict.settles and not verdict.detector:
                judges[verdict.run].add(verdict.author)
        for row, run in matched:
            if not row.settles and not row.detector:
                judges[run.id].add(row.author or author)
        for row, run in matched:
            verdict = _verdict(row, run.id, author, origin, now)
            old, stands = ids.get(verdict.id, (None, False))
            if old is not None and _content(old) != _content(verdict):  # an id that another verdict has here
                verdict = _verdict(row, run.id, author, origin, now, own_id=False)
                old, stands = ids.get(verdict.id, (None, False))
            last = newest.get(_subject(verdict))
            if stands or (row.at is None and last is not None and _content(verdict) == _content(last)):
                self.known += 1
                continue
            if row.settles and len(judges[run.id]) < 2:
                self.failed.append(
                    f"line {row.line}: it settles run {run.id}, which two people have yet to judge"
                )
                continue
            if old is not None:
                self.again.append(old.id)
            else:
                self.new.append(verdict)
            ids[verdict.id] = (verdict, True)
            if last is None or verdict.at >= last.at:
                newest[_subject(verdict)] = verdict

    def _run_of(
        self,
        row: VerdictRow,
        by_task: dict[tuple[str, str], list[RunRow]],
        agents: dict[tuple[str, str], set[str]],
    ) -> RunRow | None:
        """Return the one run of a row's suite and task; else say why there is none."""
        if row.run and not row.agent:  # it means one run: another one of the same task is not it
            self.unmatched.append(f"line {row.line}: no run {row.run!r}")
            return None
        where = f"task {row.task!r}" + (f" of {row.suite}" if row.suite else "")
        found = by_task.get((row.suite, row.task), [])
        if row.agent and any(run.source == agent_reward_bench.SOURCE for run in found):
            return self._run_by_agent(row, found, where)
        many = len(agents[row.suite, row.task])
        if len(found) == 1 and many <= 1:
            return found[0]
        if not found:
            why = f"no run of {where}"
        elif len(found) > 1:
            why = f"{len(found)} runs of {where}: it must name the run's id"
        else:
            why = (
                f"the file judges {many} runs of {where}, and one of them is here: it must name the run's id"
            )
        self.unmatched.append(f"line {row.line}: {why}")
        return None

    def _run_by_agent(self, row: VerdictRow, found: Sequence[RunRow], where: str) -> RunRow | None:
        """Return the imported trajectory of the agent that a row judges; its id begins with the agent's name."""
        agent = row.agent.removesuffix(row.run).strip()
        start = agent_reward_bench.id_start(agent, found[0].suite, row.task)
        of_agent = [run for run in found if run.id.startswith(start)]
        if len(of_agent) == 1:
            return of_agent[0]
        many = f"{len(of_agent)} runs" if of_agent else "no run"
        self.unmatched.append(f"line {row.line}: {many} of {where} by {agent or 'an agent without a name'}")
        return None


def _read(path: str, format: str) -> tuple[list[VerdictRow], list[str]]:
    file = Path(path).expanduser()
    try:
        facts = file.stat()
        if not stat.S_ISREG(facts.st_mode):
            raise InputError("this is no file", path=path, remedy="name a file of verdicts")
        if facts.st_size > MAX_FILE:
            raise InputError(
                f"it is larger than {MAX_FILE // 2**20} MB", path=path, remedy="split it into several files"
            )
        data = file.read_bytes()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise InputError(f"it can't be read: {reason}", path=path, remedy="check the path") from error
    return read_rows(data, format, path)


def _verdict(
    row: VerdictRow, run: str, author: str, origin: str, now: float, *, own_id: bool = True
) -> Verdict:
    verdict = Verdict(
        id=row.id,
        run=run,
        label=row.label,
        step=row.step,
        detector=row.detector,
        note=row.note,
        author=row.author or author,
        at=now if row.at is None else row.at,
        guideline=row.guideline,
        lead_seconds=row.lead_seconds,
        origin=origin,
        settles=row.settles,
    )
    if row.id and own_id:
        return verdict
    # Named by its content, so that the same row is the same verdict when the file is read again.
    content = json.dumps([*_content(verdict), row.at, row.id])
    return replace(verdict, id=f"v-{hashlib.sha256(content.encode()).hexdigest()[:16]}")


def _content(verdict: Verdict) -> tuple[object, ...]:
    """Return what a verdict says, whoever stored it when."""
    return (
        verdict.run, verdict.label.value, verdict.step, verdict.detector, verdict.note, verdict.author,
        verdict.settles,
    )  # fmt: skip


def _subject(verdict: Verdict) -> tuple[object, ...]:
    """Return whose verdict it is on what: of equal ones the newest counts."""
    return verdict.run, verdict.author, verdict.detector, verdict.settles


def _format(name: str) -> str:
    known = _ALIASES.get(name.lower(), name.lower())
    if known and known not in VERDICT_FORMATS:
        raise UsageError(
            f"there is no format {name!r} for verdicts", remedy=f"one of {', '.join(VERDICT_FORMATS)}"
        )
    return known


def _file_name(path: str) -> str:
    return printable(Path(path).name)[:MAX_NAME]


def _named(rows: Sequence[str], rest: str) -> tuple[str, ...]:
    """Return the first sentences, and one that counts the others."""
    more = len(rows) - MOST_NAMED
    return (*rows[:MOST_NAMED], f"{more} more {rest}") if more > 0 else tuple(rows)
