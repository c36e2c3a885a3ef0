"""A batch and the runs in the workspace's files: its export, and runs that its process left.  Store thread only."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from pathlib import Path

from app.engine.agent.run_recording import cost_of_steps, tokens_of_steps
from app.engine.core.batch import TaskState
from app.engine.core.trajectory import Outcome
from app.engine.evaluation.report.csv_tables import csv_text
from app.engine.services.supervision.batch_rules import FINAL, ended_state, outcome_words
from app.engine.services.supervision.live_batch import LiveBatch
from app.engine.store.database import translated_errors
from app.engine.store.supervision.batch_store import BatchRun
from app.engine.store.workspace import Workspace
from app.errors import Conflict, SiteloreError

TASKS_FILE = "tasks.csv"
COLUMNS = ("number", "task", "intent", "state", "run", "outcome", "answer", "steps", "tokens", "cost", "runs")


def export_batch(workspace: Workspace, batch: LiveBatch, out: Path) -> int:
    """Write the ended runs of a batch as native run folders, and ``tasks.csv``: a line a task, of its newest run.

    Its last column names all runs of the task.  A cost is in US dollars, and empty where it is not known.

    Raises:
        Conflict: a file or folder of this name exists.  StoreError: the disk is full or can't be written.
    """
    table = out / TASKS_FILE
    if table.exists():
        raise Conflict(f"{table} exists already; choose another folder")
    runs = [run for run in batch.runs.values() if run.state in FINAL and workspace.runs.has(run.run)]
    with translated_errors(out):
        out.mkdir(parents=True, exist_ok=True)
    count = workspace.export_runs([run.run for run in runs], out)
    answers = {run.run: workspace.runs.load_head(run.run).answer or "" for run in runs}
    with translated_errors(table):
        table.write_text(_table(batch, answers), encoding="utf-8", newline="")
    return count


def _table(batch: LiveBatch, answers: dict[str, str]) -> str:
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    for task in batch.batch_tasks():
        run = batch.newest_run(task.number)
        known = run or BatchRun(run="", number=task.number, lost=True)
        cost = known.cost.total if known.cost is not None else None
        spent = (
            ("", "", "")
            if run is None
            else (known.steps, known.tokens, "" if cost is None else f"{cost:.6f}")
        )
        writer.writerow(
            [
                task.number,
                csv_text(task.task_id),
                csv_text(task.intent),
                task.state.value,
                known.run,
                outcome_words(known),
                csv_text(answers.get(known.run, "")),
                *spent,
                " ".join(task.runs),
            ]
        )
    return out.getvalue()


def left_run(workspace: Workspace, run: BatchRun) -> BatchRun:
    """Return how a run fared that is not among the live runs, although it had not ended when its process died."""
    if not workspace.runs.has(run.run):
        return replace(run, lost=True)
    try:
        head, steps = workspace.runs.load(run.run)
    except SiteloreError as error:
        return replace(run, state=TaskState.FAILED, why=str(error))
    spent = replace(
        run,
        steps=len(steps),
        tokens=max(run.tokens, tokens_of_steps(head, steps)),
        cost=cost_of_steps(head, steps) or run.cost,
    )
    if head.outcome in (Outcome.RUNNING, Outcome.INTERRUPTED):
        return replace(spent, state=TaskState.FAILED, why=head.error or "it is no longer among the live runs")
    return replace(
        spent,
        state=ended_state(head.outcome.value),
        outcome=head.outcome.value,
        ended_by=head.ended_by,
        why=head.answer if head.answer is not None else head.error,
    )
