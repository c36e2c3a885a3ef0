"""``sitelore live batch``: runs that are started together, share a budget, and are watched as one.

``start`` runs the tasks in this process, and so do ``resume``, ``retry`` and ``limits`` where no other process has the
batch; everything else works from another terminal meanwhile.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli.common import (
    Json,
    counted,
    full_path,
    print_note,
    print_result,
    table,
    with_engine,
)
from app.cli.live import print_requests
from app.cli.run_options import RunOptions, takes_run_options
from app.engine.api.batch_api import BatchDetail, BatchRequest
from app.engine.core.batch import BatchRow, BatchState
from app.engine.core.events import BatchChanged, Event

if TYPE_CHECKING:
    from app.engine.engine import Engine

app = typer.Typer(help="Batches: start a file of tasks as one, with a budget for all.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(metavar="BATCH", help="Its id, or its name where only one has it.")]
AtOnce = Annotated[
    int, typer.Option(min=0, max=32, help="Parallel runs of the batch (0: as the workspace allows).")
]
MaxMoney = Annotated[
    float, typer.Option(min=0, help="Model cost limit of all runs in US dollars (0: no limit).")
]
MaxTokens = Annotated[int, typer.Option(min=0, help="Model token limit of all runs (0: no limit).")]


@app.command()
@takes_run_options
def start(
    tasks: Annotated[str, typer.Argument(help="A task file (.txt, .jsonl, .json), or one task in words.")],
    name: Annotated[str, typer.Option(help="Name of the batch (default: the file's).")] = "",
    at_once: AtOnce = 0,
    max_money: MaxMoney = 0.0,
    max_tokens: MaxTokens = 0,
    as_json: Json = False,
    *,
    options: RunOptions,
) -> None:
    """Start a batch and wait until it has ended; progress and requests are printed as they come. Ctrl+C pauses it.

    Exit code 0: every task was answered.
    """

    async def starting(engine: Engine) -> str:
        path = Path(tasks) if len(tasks) < 200 else None
        row = await engine.start_batch(
            BatchRequest(
                name=name,
                tasks=tuple(await options.requests(engine, tasks)),
                at_once=at_once,
                max_money=max_money,
                max_tokens=max_tokens,
                source=full_path(path) if path is not None and path.is_file() else "",
            )
        )
        print_note(f"{row.id}: {counted(row.total, 'task')}")
        return row.id

    _run(starting, as_json)


@app.command("list")
def list_(as_json: Json = False) -> None:
    """List the batches of every process on this workspace."""
    rows: list[BatchRow] = with_engine(lambda engine: engine.batches())
    cells = [(row.id, row.name, row.state.value, row.words, row.why) for row in rows]
    print_result(
        rows, as_json, lambda: table(cells, ("batch", "name", "state", "progress", "why")) or "no batches"
    )


@app.command()
def show(batch: Name, as_json: Json = False) -> None:
    """Show a batch with its tasks."""
    found: BatchDetail = with_engine(lambda engine: engine.batch(batch))
    print_result(found, as_json, lambda: _detail_text(found))


@app.command()
def pause(batch: Name) -> None:
    """Start no more of its tasks, and pause its active runs."""
    with_engine(lambda engine: engine.pause_batch(batch))


@app.command()
def stop(batch: Name) -> None:
    """End its active runs and start no more; tasks that were not started can still be (`resume`)."""
    with_engine(lambda engine: engine.stop_batch(batch))


@app.command()
def resume(batch: Name, as_json: Json = False) -> None:
    """Go on with a paused or stopped batch; if no process has it, this one runs it until it has ended."""

    async def resuming(engine: Engine) -> str:
        await engine.resume_batch(batch)
        return batch

    _run(resuming, as_json)


@app.command()
def retry(batch: Name, as_json: Json = False) -> None:
    """Start its failed and stopped tasks again; if no process has it, this one runs it until it has ended."""

    async def retrying(engine: Engine) -> str:
        print_note(f"started again: {counted(await engine.retry_batch(batch), 'task')}")
        return batch

    _run(retrying, as_json)


@app.command()
def limits(
    batch: Name,
    at_once: Annotated[int | None, typer.Option(min=0, max=32, help="Parallel runs (0: no limit).")] = None,
    max_money: Annotated[float | None, typer.Option(min=0, help="US dollars (0: no limit).")] = None,
    max_tokens: Annotated[int | None, typer.Option(min=0, help="Tokens (0: no limit).")] = None,
    as_json: Json = False,
) -> None:
    """Change parallel runs and budget; what is not given stays. A batch that was out of budget goes on."""

    async def changing(engine: Engine) -> str:
        row = (await engine.batch(batch)).row
        await engine.set_batch_limits(
            row.id,
            row.at_once if at_once is None else at_once,
            row.max_money if max_money is None else max_money,
            row.max_tokens if max_tokens is None else max_tokens,
        )
        return row.id

    _run(changing, as_json)


@app.command()
def export(
    batch: Name,
    out: Annotated[Path, typer.Argument(help="Folder of the run folders and tasks.csv.")],
    as_json: Json = False,
) -> None:
    """Write its ended runs, and tasks.csv with a line a task."""
    count = with_engine(lambda engine: engine.export_batch(batch, full_path(out)))
    print_result(
        {"runs": count, "out": full_path(out)}, as_json, lambda: f"{counted(count, 'run')} written to {out}"
    )


@app.command()
def dismiss(batch: Name) -> None:
    """Remove an ended or stopped batch from the list; its runs stay."""
    with_engine(lambda engine: engine.dismiss_batch(batch))


def _run(begin: Callable[[Engine], Awaitable[str]], as_json: bool) -> None:
    """Do a command that may make this process run the batch; then wait until it has ended."""

    async def running(engine: Engine) -> BatchRow:
        engine.bus.subscribe(print_requests)
        engine.bus.subscribe(_BatchProgress())
        id = await begin(engine)
        row = (await engine.batch(id)).row
        return await _until_over(engine, id) if row.state is BatchState.ACTIVE else row

    row = with_engine(running, encoder="cached")
    print_result(row, as_json, lambda: _row_text(row))
    if row.state in (BatchState.ENDED, BatchState.STOPPED, BatchState.PAUSED) and row.answered < row.total:
        raise typer.Exit(1)


async def _until_over(engine: Engine, batch: str) -> BatchRow:
    """Wait for the end of a batch of this process; the first Ctrl+C pauses it, a second one ends the program."""
    paused = asyncio.Event()
    loop = asyncio.get_running_loop()

    async def pause_now() -> None:
        with suppress(Exception):
            await engine.pause_batch(batch)
        paused.set()

    def on_second_interrupt(*_: object) -> None:
        # An orderly end may wait for a browser or a model. Everything needed to go on is on disk, as after a kill,
        # and browsers end with the pipe to their driver.
        print_note(f"ended at once; go on: sitelore live batch resume {batch}")
        os._exit(1)

    def on_interrupt() -> None:
        loop.remove_signal_handler(signal.SIGINT)
        signal.signal(signal.SIGINT, on_second_interrupt)
        print_note("\npausing (Ctrl+C again: at once)")
        engine.registry.hold(pause_now())

    with suppress(NotImplementedError):  # Windows: Ctrl+C ends it at once, and its runs can be resumed
        loop.add_signal_handler(signal.SIGINT, on_interrupt)
    try:
        while True:
            row = (await engine.batch(batch)).row
            over = row.state in (BatchState.ENDED, BatchState.STOPPED) and not row.active + row.needy
            if over or paused.is_set() or not engine.owns_batch(row.id):
                return row
            with suppress(TimeoutError):
                await asyncio.wait_for(paused.wait(), 0.2)
    finally:
        with suppress(NotImplementedError):
            loop.remove_signal_handler(signal.SIGINT)  # not the second one's: the engine is closing meanwhile


class _BatchProgress:
    """Prints where a batch stands, once a change."""

    def __init__(self) -> None:
        self._said = ""

    def __call__(self, event: Event) -> None:
        if not isinstance(event, BatchChanged) or not event.row.total:
            return
        row = event.row
        text = f"{row.words}{'' if row.state is BatchState.ACTIVE else f' ({row.state.value})'}"
        if text == self._said:
            return
        self._said = text
        print_note(f"{text}{': ' + row.why if row.why else ''}")
        if row.state is BatchState.OUT_OF_BUDGET:
            print_note(f"    raise it with: sitelore live batch limits {row.id} --max-money N --max-tokens N")


def _row_text(row: BatchRow) -> str:
    lines = [f"{row.id} {row.name}: {row.state.value}{', ' + row.why if row.why else ''}", row.words]
    if row.seconds_left is not None:
        lines.append(f"about {row.seconds_left / 60:.0f} minutes left")
    if row.state in (BatchState.PAUSED, BatchState.STOPPED) and row.answered < row.total:
        lines.append(f"go on: sitelore live batch resume {row.id}")
    elif row.state is BatchState.ENDED and row.failed + row.stopped:
        lines.append(f"again: sitelore live batch retry {row.id}")
    return "\n".join(lines)


def _detail_text(found: BatchDetail) -> str:
    row = found.row
    about = [
        ("tasks from", row.source),
        ("policy", row.policy),
        ("model", row.model),
        ("knowledge base", row.kb),
        ("graph", row.graph),
        ("sites", row.sites),
        ("parallel runs", str(row.at_once or "")),
        ("started by", row.author),
    ]
    cells = [
        (
            task.number,
            task.task_id,
            task.state.value,
            task.runs[-1] if task.runs else "",
            task.intent,
            task.why,
        )
        for task in found.tasks
    ]
    return "\n".join(
        [
            _row_text(row),
            *(f"{name}: {value}" for name, value in about if value),
            "",
            table(cells, ("task", "id", "state", "newest run", "intent", "answer or reason"), 70),
        ]
    )
