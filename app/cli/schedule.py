"""``sitelore schedule``: explorations and tests of tips that are done again."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli.common import Json, print_note, print_result, table, with_engine
from app.engine.api.schedule_api import ScheduleRow
from app.engine.core.schedule import Schedule, ScheduledTask, ScheduleResult
from app.engine.core.schedule_words import last_words, plan_words, result_words, task_words, time_words
from app.errors import Conflict, NotFound, SiteloreError, UsageError

if TYPE_CHECKING:
    from app.engine.engine import Engine

app = typer.Typer(
    help="Scheduled work: explore again, verify a map, test tips. It is done while the workbench is open,"
    " or by one line in crontab:  */15 * * * * sitelore --workspace FOLDER schedule run",
    no_args_is_help=True,
)

Entry = Annotated[str, typer.Argument(help="Its id, as 'schedule list' shows it, or the first digits.")]


@app.command()
def add(
    task: Annotated[
        ScheduledTask,
        typer.Argument(
            help="explore: update the site's map; verify: only mark what is gone; test-tips: test its tips."
        ),
    ],
    site: Annotated[str, typer.Argument(help="Site, as 'graph list' or 'sites list' names it.")],
    every: Annotated[int, typer.Option(min=0, max=365, help="Days between two times; 0 for once.")] = 0,
    at: Annotated[str, typer.Option(help="Local time of day, as 03:00.")] = "03:00",
    as_json: Json = False,
) -> None:
    """Schedule work on a site. Nothing is sent, bought or deleted; rate limits and robots.txt hold."""
    wanted = Schedule(id="", task=task, site=site, every_days=every, clock=at)
    row = with_engine(lambda engine: engine.save_schedule(wanted))
    entry = row.schedule
    print_result(
        row,
        as_json,
        lambda: (
            f"{entry.id}: {task_words(entry.task)}, {entry.site}, {plan_words(entry)}; next {_when(entry.at)}"
        ),
    )


@app.command("list")
def list_(as_json: Json = False) -> None:
    """List scheduled work with its next time and its last result."""
    rows = with_engine(lambda engine: engine.schedules())
    heads = ("id", "work", "site", "plan", "next", "last result")
    print_result(
        rows,
        as_json,
        lambda: table(_cells(rows), heads, widest=80) or "nothing is scheduled: sitelore schedule add",
    )


@app.command()
def show(entry: Entry, as_json: Json = False) -> None:
    """Show an entry with its newest results."""
    row = with_engine(lambda engine: _row(engine, entry))

    def text() -> str:
        one = row.schedule
        head = f"{one.id}  {task_words(one.task)}, {one.site}, {plan_words(one)}, by {one.author}"
        state = ["being done now"] if row.is_active else [f"next: {time_words(one, time.time())}"]
        lines = [line for result in row.results for line in _result_lines(result)]
        return "\n".join([head, *state, *(lines or ["not done yet"])])

    print_result(row, as_json, text)


@app.command()
def run(
    entry: Annotated[str, typer.Argument(help="Do this one now, due or not.", show_default=False)] = "",
    all_: Annotated[bool, typer.Option("--all", help="Do all that are on now, due or not.")] = False,
    as_json: Json = False,
) -> None:
    """Do all work that is due, one after the other: the one command for cron.

    Exit code 0: nothing changed (or nothing was due), 1: something changed, 3: something could not be done.
    In crontab:  */15 * * * * sitelore --workspace FOLDER schedule run
    """
    if entry and all_:
        raise UsageError("an entry and --all exclude each other")

    async def doing(engine: Engine) -> list[ScheduleResult]:
        if entry:
            return [await engine.run_schedule((await _row(engine, entry)).schedule.id)]
        if not all_:
            return await engine.run_due_schedules()
        rows = [row for row in await engine.schedules() if row.schedule.is_on]
        return [await _done_now(engine, row.schedule) for row in rows]

    results = with_engine(doing)
    print_result(
        results,
        as_json,
        lambda: "\n".join(line for one in results for line in _result_lines(one)) or "nothing is due",
    )
    raise typer.Exit(exit_code(results))


@app.command()
def remove(entry: Entry) -> None:
    """Remove an entry; its results stay (undo with 'sitelore review undo')."""

    async def removing(engine: Engine) -> Schedule:
        row = await _row(engine, entry)
        await engine.remove_schedule(row.schedule.id)
        return row.schedule

    gone = with_engine(removing)
    print_note(f"removed: {task_words(gone.task)}, {gone.site}")


@app.command()
def on(entry: Entry) -> None:
    """Switch an entry on; its next time is the next such time of day."""
    _switch(entry, is_on=True)


@app.command()
def off(entry: Entry) -> None:
    """Switch an entry off; it stays in the list."""
    _switch(entry, is_on=False)


def exit_code(results: Sequence[ScheduleResult]) -> int:
    """Return 3 where something could not be done, 1 where something changed, else 0."""
    if any(one.error for one in results):
        return 3
    return int(any(one.changes or one.suspects for one in results))


def _switch(entry: str, *, is_on: bool) -> None:
    async def switching(engine: Engine) -> ScheduleRow:
        row = await _row(engine, entry)
        return await engine.save_schedule(replace(row.schedule, is_on=is_on, at=0.0))

    row = with_engine(switching)
    print_note(f"{row.schedule.id}: {'next ' + _when(row.schedule.at) if is_on else 'off'}")


async def _done_now(engine: Engine, entry: Schedule) -> ScheduleResult:
    """Do one of several; what keeps it from beginning is its result, so that the others are done."""
    try:
        return await engine.run_schedule(entry.id)
    except SiteloreError as error:
        now = time.time()
        return ScheduleResult(
            schedule=entry.id,
            task=entry.task,
            site=entry.site,
            started_at=now,
            ended_at=now,
            error=str(error),
        )


async def _row(engine: Engine, entry: str) -> ScheduleRow:
    """Return the entry that an id or its first digits name.  Raises ``NotFound`` or ``Conflict``."""
    found = [row for row in await engine.schedules() if row.schedule.id.startswith(entry)]
    if len(found) > 1:
        raise Conflict(f"{len(found)} entries begin with {entry!r}; give more digits")
    if not found or not entry:
        raise NotFound(f"no scheduled work {entry!r}; 'sitelore schedule list' shows all")
    return found[0]


def _cells(rows: Sequence[ScheduleRow]) -> list[tuple[str, ...]]:
    now = time.time()
    return [
        (
            row.schedule.id,
            task_words(row.schedule.task),
            row.schedule.site,
            plan_words(row.schedule),
            "now" if row.is_active else time_words(row.schedule, now),
            last_words(row.results[0]) if row.results else "",
        )
        for row in rows
    ]


def _result_lines(result: ScheduleResult) -> list[str]:
    head = f"{_when(result.started_at)}  {task_words(result.task)}, {result.site}"
    return [head, *(f"  {line}" for line in result_words(result))]


def _when(at: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(at)) if at else "-"
