"""``sitelore eval run``, ``list``, ``resume``, ``stop``: evaluations from the command line."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from app.cli.common import (
    Json,
    PolicyName,
    full_path,
    knowledge_base,
    print_note,
    print_result,
    table,
    with_engine,
)
from app.engine.api.evaluation_api import (
    EngineKind,
    EvaluationPlan,
    EvaluationRequest,
    EvaluationRow,
    OnTaint,
    WithMaps,
)
from app.engine.core.evaluation.suite import TaskFilter
from app.engine.core.events import EvaluationAdvanced, Event
from app.errors import UsageError

if TYPE_CHECKING:
    from app.engine.engine import Engine

DialectName = Literal["webarena", "webchorearena", "strict", "sitelore"]
Folder = Annotated[Path, typer.Argument(metavar="DIR", help="Folder of the evaluation.")]
_SHOWN_SITES = _SHOWN_PROBLEMS = 12


def run(
    suite: Annotated[str, typer.Argument(metavar="SUITE", help="A suite of the workspace, or a file.")],
    tasks: Annotated[
        list[str] | None, typer.Option(help="Ids and ranges, with commas: 12,40-59. May be repeated.")
    ] = None,
    site: Annotated[list[str] | None, typer.Option(help="Only tasks on this site. May be repeated.")] = None,
    kind: Annotated[list[str] | None, typer.Option(help="Only tasks of this type. May be repeated.")] = None,
    template: Annotated[
        list[str] | None, typer.Option(help="Only tasks of this template. May be repeated.")
    ] = None,
    subset: Annotated[
        str,
        typer.Option(help="A named subset of the suite, or a half by template: a, b, by another seed a@9."),
    ] = "",
    policy: Annotated[PolicyName, typer.Option(help="scout needs no model.")] = "scout",
    kb: Annotated[str, typer.Option(help="A frozen knowledge base, or none.")] = "none",
    against: Annotated[str, typer.Option(help="What it is compared with: none, or a frozen file.")] = "none",
    maps: Annotated[
        WithMaps,
        typer.Option(help="Whether the maps of the sites may be used; both: each arm without and with."),
    ] = "no",
    repeats: Annotated[int, typer.Option(min=1, max=100, help="Runs of each task in each arm.")] = 1,
    workers: Annotated[int, typer.Option(min=1, max=256, help="Runs at the same time.")] = 1,
    engine: Annotated[
        EngineKind, typer.Option(help="local: processes of this machine; ray: a cluster (extra scale).")
    ] = "local",
    address: Annotated[
        str, typer.Option(help="Address of a running cluster, host:port (default: one of its own).")
    ] = "",
    out: Annotated[
        Path | None, typer.Option(help="Folder (default: in the workspace, named after the suite).")
    ] = None,
    dialect: Annotated[
        DialectName | None, typer.Option(help="Rules of scoring (default: the suite's).")
    ] = None,
    infeasible_is_na: Annotated[
        bool,
        typer.Option("--infeasible-is-na", help='Reporting "can\'t be done" counts as the answer "N/A".'),
    ] = False,
    off_site_is_zero: Annotated[
        bool, typer.Option("--off-site-is-zero", help="An open page outside of the sites scores 0.")
    ] = False,
    max_steps: Annotated[int, typer.Option(min=1, help="Steps of a run at most.")] = 30,
    max_seconds: Annotated[float, typer.Option(min=0, help="Seconds of a run at most (0: no limit).")] = 0.0,
    max_tokens: Annotated[int, typer.Option(min=0, help="Tokens of a run at most (0: no limit).")] = 0,
    max_money: Annotated[float, typer.Option(min=0, help="US dollars of a run at most (0: no limit).")] = 0.0,
    tainted: Annotated[
        OnTaint,
        typer.Option(help="Tasks whose template an author of a tip had seen: refuse, leave out or mark."),
    ] = "refuse",
    without: Annotated[
        list[str] | None,
        typer.Option(
            help="Also an arm with --kb without this tip; each: one for every tip. May be repeated."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the order of tasks.")] = 7,
    name: Annotated[str, typer.Option(help="Name of the evaluation (default: the suite's).")] = "",
    plan: Annotated[
        bool, typer.Option("--plan", help="Only say what it would do, take and be able to show.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Run every task in every arm, paired, and keep each result in a journal.

    Ctrl+C stops after the runs in flight; `sitelore eval resume DIR` goes on, also after a crash. Exit code 0: all runs
    are done and scored or undecided; 1: some are missing, or a fault of site or browser ended them.
    """
    request = EvaluationRequest(
        suite=_suite(suite),
        tasks=TaskFilter(
            ids=tuple(part.strip() for text in tasks or () for part in text.split(",") if part.strip()),
            sites=tuple(site or ()),
            kinds=tuple(kind or ()),
            templates=tuple(template or ()),
            subset=subset,
        ),
        kb=_frozen(kb),
        against=_frozen(against),
        maps=maps,
        policy=policy,
        repeats=repeats,
        workers=workers,
        engine=engine,
        address=address,
        out=full_path(out),
        max_steps=max_steps,
        max_seconds=max_seconds,
        max_tokens=max_tokens,
        max_money=max_money,
        dialect=dialect or "",
        infeasible_is_na=infeasible_is_na,
        off_site_is_zero=off_site_is_zero,
        tainted=tainted,
        seed=seed,
        name=name,
        leave_out=tuple(without or ()),
    )
    if plan:
        found = with_engine(lambda engine: engine.plan_evaluation(request))
        print_result(found, as_json, lambda: plan_text(found, workers))
        if found.problems:
            raise typer.Exit(1)
        return

    async def running(engine: Engine) -> EvaluationRow:
        return await _until_done(engine, lambda: engine.run_evaluation(request))

    _print_row(with_engine(running), as_json)


def resume(
    folder: Folder,
    workers: Annotated[int, typer.Option(min=0, max=256, help="Runs at the same time (0: as before).")] = 0,
    as_json: Json = False,
) -> None:
    """Go on with an evaluation that was stopped or killed; runs that failed for outside reasons are tried again."""

    async def running(engine: Engine) -> EvaluationRow:
        return await _until_done(engine, lambda: engine.resume_evaluation(full_path(folder), workers))

    _print_row(with_engine(running), as_json)


def stop(folder: Folder) -> None:
    """Stop an evaluation that another process runs, after the runs in flight."""
    with_engine(lambda engine: engine.stop_evaluation(full_path(folder)))
    print_note("it stops after the runs in flight")


def list_evaluations(as_json: Json = False) -> None:
    """List the evaluations that the workspace knows, the newest first."""
    rows = with_engine(lambda engine: engine.evaluations())

    def text() -> str:
        cells = [
            (row.name, row.suite, row.state, f"{row.done}/{row.episodes}", row.errors,
             " ".join(arm.name for arm in row.arms), row.note or row.folder)
            for row in rows
        ]  # fmt: skip
        heads = ("name", "suite", "state", "done", "errors", "arms", "folder")
        return table(cells, heads, 90) or "no evaluation yet; begin one with: sitelore eval run SUITE"

    print_result(rows, as_json, text)


def plan_text(plan: EvaluationPlan, workers: int) -> str:
    """Describe a plan in lines."""
    arms = ", ".join(f"{arm.name} ({arm.tips} tips)" if arm.tips else arm.name for arm in plan.head.arms)
    lines = [
        *_remarks(plan.problems, "it can't begin"),
        f"{_count(len(plan.head.tasks), 'task')} of {_count(plan.templates, 'template')}"
        f" x {_count(len(plan.head.arms), 'arm')} ({arms})"
        f" x {_count(plan.head.repeats, 'repeat')} = {_count(plan.episodes, 'run')}"
        + (f", {plan.done} done" if plan.done else ""),
        f"time: {plan.hours:g} hours at least on {_count(workers, 'worker')}, with {plan.seconds_per_run:g} s a run"
        f" ({plan.based_on})",
        f"memory: {plan.memory_gb:g} GB for the workers",
    ]
    if plan.sites:
        rows = [
            (wait.site, wait.episodes, wait.alone, f"{wait.hours:g}") for wait in plan.sites[:_SHOWN_SITES]
        ]
        lines += ["", table(rows, ("site", "runs", "alone on it", "hours at least"))]
    if plan.power and len(plan.head.arms) > 1:
        needed = dict(plan.templates_needed)
        lines += [
            "",
            "chance to show a difference between two arms:",
            *(
                f"  {effect:.0%}: {chance:.0%} with these templates"
                + (f"; 80% takes {needed[effect]} templates" if effect in needed else "")
                for effect, chance in plan.power
            ),
        ]
    return "\n".join([*lines, *_remarks(plan.warnings, "note")])


def _remarks(sentences: Sequence[str], mark: str) -> list[str]:
    more = len(sentences) - _SHOWN_PROBLEMS
    shown = [f"{mark}: {sentence}" for sentence in sentences[:_SHOWN_PROBLEMS]]
    return [*shown, f"{mark}: {more} more (--json has all)"] if more > 0 else shown


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


async def _until_done(engine: Engine, begin: Callable[[], Awaitable[EvaluationRow]]) -> EvaluationRow:
    """Run an evaluation; the first Ctrl+C asks it to stop, the second one ends it at once."""
    folders: list[str] = []

    def on_event(event: Event) -> None:
        if isinstance(event, EvaluationAdvanced):
            if not folders:
                folders.append(event.folder)
            if event.words and not sys.stderr.isatty():
                print_note(f"{event.done}/{event.episodes} {event.words}")

    loop = asyncio.get_running_loop()

    def on_interrupt() -> None:
        loop.remove_signal_handler(signal.SIGINT)
        print_note("\nstopping after the runs in flight (Ctrl+C again: at once)")
        if folders:
            engine.registry.hold(engine.stop_evaluation(folders[0]))
        else:
            signal.raise_signal(signal.SIGINT)

    unsubscribe = engine.bus.subscribe(on_event)
    with suppress(NotImplementedError):  # Windows: Ctrl+C ends it at once
        loop.add_signal_handler(signal.SIGINT, on_interrupt)
    try:
        return await begin()
    finally:
        unsubscribe()
        with suppress(NotImplementedError):
            loop.remove_signal_handler(signal.SIGINT)


def _print_row(row: EvaluationRow, as_json: bool) -> None:
    def text() -> str:
        words = f"{row.done} of {row.episodes} runs are done, {row.errors} could not be run or scored"
        if row.state == "done":
            return f"{words}\ncompare: sitelore eval compare {row.folder}"
        return f"{words}\ngo on: sitelore eval resume {row.folder}"

    print_result(row, as_json, text)
    if row.state != "done" or row.errors:
        raise typer.Exit(1)


def _suite(name: str) -> str:
    path = Path(name).expanduser()
    return str(path.resolve()) if path.is_file() else name


def _frozen(name: str) -> str:
    if name == "live":
        raise UsageError(
            "the live knowledge base changes while it is evaluated",
            remedy="freeze it first: sitelore kb freeze",
        )
    return knowledge_base(name)
