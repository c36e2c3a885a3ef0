"""``sitelore live``: supervise runs from a terminal.

``start`` runs the tasks in this process; every other command works from another terminal meanwhile.
"""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import orjson
import typer

from app.cli.common import (
    Json,
    json_data,
    print_note,
    print_result,
    table,
    terminal_safe,
    with_engine,
)
from app.cli.run_ids import RunId, completed
from app.cli.run_options import RunOptions, takes_run_options
from app.engine.api.live_filter_words import live_vocabulary, parse_live_filter
from app.engine.core.decision_rules import allowed_decisions
from app.engine.core.events import Event, LiveRunChanged, RequestChanged
from app.engine.core.hand_back import HAND_BACK, HandBack, HandBackKind
from app.engine.core.intervention_policy import InterventionPolicy, PolicyPreview
from app.engine.core.labels import state_label
from app.engine.core.supervision import (
    ApprovalRequest,
    ApprovalScope,
    DecisionKind,
    FlagReaction,
    Hint,
    Intervention,
    LiveRow,
    OperatorDecision,
    RequestState,
    RunState,
    TakeoverSummary,
    sort_live_rows,
)
from app.engine.core.trajectory import Outcome
from app.errors import InputError, UsageError

if TYPE_CHECKING:
    from app.engine.engine import Engine

app = typer.Typer(
    help="Supervise runs: start several, decide requests, send hints, pause.", no_args_is_help=True
)


FlagVerdict = Literal["right", "wrong"]


@app.command("list")
def list_(
    words: Annotated[
        str,
        typer.Option(
            "--filter",
            help="Runs by the words of the wall's filter line, such as 'failed site:shop cost:>0.1'.",
        ),
    ] = "",
    as_json: Json = False,
) -> None:
    """List the supervised runs of every process on this workspace, with interrupted ones."""
    if unknown := live_vocabulary().unknown_words(words):
        raise UsageError("; ".join(map(str, unknown)))
    wanted = parse_live_filter(words)

    async def listing(engine: Engine) -> list[LiveRow]:
        return sort_live_rows([*await engine.live_runs(), *await engine.left_runs()])

    rows = [row for row in with_engine(listing) if wanted.fits(row)]
    nothing = "no matching runs" if words else "no supervised runs"
    print_result(rows, as_json, lambda: _run_table(rows) or nothing)


@app.command()
@takes_run_options
def start(
    tasks: Annotated[str, typer.Argument(help="A task file (.txt, .jsonl, .json), or one task in words.")],
    concurrency: Annotated[
        int, typer.Option(min=0, max=32, help="Parallel runs (0: 4); runs that wait for you don't count.")
    ] = 0,
    at_once: Annotated[int, typer.Option(min=0, max=32, hidden=True)] = 0,
    as_json: Json = False,
    *,
    options: RunOptions,
) -> None:
    """Start supervised runs and wait until all have ended; requests are printed as they come.

    Exit code 0: every run was answered or finished by hand.
    """

    async def running(engine: Engine) -> list[LiveRow]:
        engine.bus.subscribe(print_requests)
        ids = set(await engine.start_runs(await options.requests(engine, tasks), concurrency or at_once))
        while True:
            rows = [row for row in await engine.live_runs() if row.run in ids]
            if not any(row.state.alive for row in rows):
                return rows
            await asyncio.sleep(0.2)

    rows = with_engine(running, encoder="cached")
    print_result(rows, as_json, lambda: _run_table(rows))
    if any(row.outcome not in (Outcome.ANSWERED, Outcome.DONE_BY_HAND) for row in rows):
        raise typer.Exit(1)


@app.command()
def pause(run: RunId) -> None:
    """Pause a run before its next action; its clock stops, its page stays open."""
    with_engine(lambda engine: engine.pause_run(run))


@app.command("continue")
def continue_(run: RunId) -> None:
    """Resume a run paused in another process; for an interrupted one use `sitelore run --resume`."""
    with_engine(lambda engine: _continue_elsewhere(engine, run, "continue"))


@app.command()
def step(run: RunId) -> None:
    """Let a paused run do one step."""
    with_engine(lambda engine: engine.step_run(run))


@app.command()
def stop(run: RunId) -> None:
    """End a run after the current action; an interrupted one is closed for good."""

    async def stopping(engine: Engine) -> None:
        await engine.recover_run(run)
        await engine.end_run(run)

    with_engine(stopping)


@app.command("hand-back")
def hand_back(
    run: RunId,
    finished: Annotated[
        bool, typer.Option("--finished", help="The task was finished by hand; the run ends.")
    ] = False,
    answer: Annotated[str | None, typer.Option(help="The task's answer; the run ends with it.")] = None,
    no_wall: Annotated[
        bool, typer.Option("--no-wall", help="Nothing blocks the page; the run resumes and won't ask again.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Hand a taken-over or waiting run back: to resume (no option), finished, with its answer, or not blocked."""
    chosen = [
        back
        for given, back in (
            (finished, HandBack(how=HandBackKind.FINISHED)),
            (answer is not None, HandBack(how=HandBackKind.ANSWER, answer=answer or "")),
            (no_wall, HandBack(how=HandBackKind.NO_WALL)),
        )
        if given
    ]
    if len(chosen) > 1:
        raise UsageError("--finished, --answer and --no-wall can't be combined", remedy="give one of them")
    back = chosen[0] if chosen else HAND_BACK

    async def handing(engine: Engine) -> TakeoverSummary:
        await engine.recover_run(run)
        return await engine.release(run, back)

    account = with_engine(handing)
    print_result(
        account, as_json, lambda: f"{run}: {back.how.value}{': ' + account.words if account.words else ''}"
    )


async def _continue_elsewhere(engine: Engine, run: str, what: str) -> None:
    rows = {row.run: row for row in await engine.live_runs()}
    if run not in rows:
        raise UsageError(
            f"no process has run {run[:120]!r}", remedy=f"use 'sitelore run --resume {run[:120]}'"
        )
    await engine.continue_run(run)


@app.command()
def requests(
    run: Annotated[str, typer.Argument(help="Only this run's requests.", callback=completed)] = "",
    closed: Annotated[bool, typer.Option("--closed", help="Include settled requests.")] = False,
    as_json: Json = False,
) -> None:
    """List the requests that wait for a decision."""
    found = with_engine(lambda engine: engine.requests(run, closed))
    print_result(found, as_json, lambda: "\n".join(map(_request_text, found)) or "no open requests")


@app.command()
def decide(
    request: str,
    verb: DecisionKind,
    text: Annotated[str, typer.Option(help="The answer, or a reason for the agent.")] = "",
    command: Annotated[str, typer.Option(help='With edit: the new action, such as click("12").')] = "",
    reach: Annotated[
        ApprovalScope, typer.Option(help="How long the decision holds: once, for the run, or on the site.")
    ] = ApprovalScope.ONCE,
    equal: Annotated[
        bool, typer.Option("--equal", help="Decide all requests equal to this one (see `live inbox`).")
    ] = False,
    as_json: Json = False,
) -> None:
    """Decide a request, effective at once: only the window can undo an end. A second decision fails (exit code 1)."""
    decision = OperatorDecision(kind=verb, text=text, call=command, scope=reach)
    if equal:
        from app.cli.equal_decisions import decide_equal

        decide_equal(request, decision, as_json)
        return
    found: ApprovalRequest = with_engine(lambda engine: engine.decide(request, decision))
    print_result(found, as_json, lambda: f"{found.id}: {found.state.value}, {verb.value}")


@app.command()
def hint(run: RunId, text: str, as_json: Json = False) -> None:
    """Send a hint to a run; the agent gets it with its next step."""
    sent: Hint = with_engine(lambda engine: engine.send_hint(run, text))
    print_result(sent, as_json, lambda: f"{sent.id}: sent")


@app.command("timeline")
@app.command("time-line", hidden=True)
def timeline(run: RunId, as_json: Json = False) -> None:
    """List what people, the policy and the watchdog did during a run."""
    deeds: list[Intervention] = with_engine(lambda engine: engine.interventions(run))
    print_result(deeds, as_json, lambda: "\n".join(map(_intervention_text, deeds)) or "no interventions")


@app.command()
def react(run: RunId, step: int, detector: str, word: FlagVerdict, as_json: Json = False) -> None:
    """Judge a detector's flag right or wrong; the detector's score follows."""

    async def reacting(engine: Engine) -> FlagReaction:
        return await engine.judge_flag(run, step, detector, word == "right")

    made = with_engine(reacting)
    print_result(made, as_json, lambda: f"{made.detector} at step {made.step}: {word}")


@app.command("policy")
def policy_(
    set_: Annotated[
        Path | None, typer.Option("--set", help="Put the policy in this JSON file into force.")
    ] = None,
    preview: Annotated[
        bool, typer.Option("--preview", help="Only show what it would have done to the stored runs.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Show or set the intervention policy, with its effect on the stored runs."""
    from pydantic import TypeAdapter, ValidationError

    async def doing(engine: Engine) -> tuple[InterventionPolicy, PolicyPreview]:
        chosen = await engine.intervention_policy()
        if set_ is not None:
            try:
                chosen = TypeAdapter(InterventionPolicy).validate_json(set_.read_bytes())
            except OSError as error:
                raise InputError(error.strerror or str(error), path=str(set_)) from error
            except ValidationError as error:
                first = error.errors()[0]
                where = ".".join(str(part) for part in first["loc"]) or "the file"
                raise InputError(f"not a policy: {where}: {first['msg']}", path=str(set_)) from error
            if not preview:
                chosen = await engine.save_intervention_policy(chosen)
        return chosen, await engine.preview_policy(chosen)

    chosen, counted = with_engine(doing)
    if as_json:
        sys.stdout.write(
            orjson.dumps(
                {"policy": json_data(chosen), "preview": json_data(counted)}, option=orjson.OPT_INDENT_2
            ).decode()
            + "\n"
        )
    else:
        sys.stdout.write(terminal_safe(_policy_text(chosen, counted)) + "\n")


def _run_table(rows: list[LiveRow]) -> str:
    spends = any(row.tokens or row.cost is not None for row in rows)
    cells = [
        (
            row.run,
            state_label(row),
            f"{row.step}/{row.max_steps}",
            f"{row.risk:.2f}",
            *((f"{row.tokens:,}", row.cost.short if row.cost is not None else "") if spends else ()),
            row.needs[0].question if row.needs else (row.why or row.words),
            row.intent,
        )
        for row in rows
    ]
    spent = ("tokens", "cost") if spends else ()
    return table(cells, ("run", "state", "step", "risk", *spent, "detail", "task"), 44)


def _request_text(one: ApprovalRequest) -> str:
    state = "" if one.state is RequestState.OPEN else f" ({one.state.value})"
    lines = [f"{one.id}{state} · {one.need.value} · run {one.run}, step {one.step}: {one.question}"]
    if one.words:
        lines.append(f"    action: {one.words}   {one.call}")
    if one.why:
        lines.append(f"    why: {one.why}")
    return "\n".join(lines)


def _intervention_text(deed: Intervention) -> str:
    when = time.strftime("%H:%M:%S", time.localtime(deed.at))
    return f"{when} step {deed.step:3} {deed.author}: {deed.action.value}{': ' + deed.words if deed.words else ''}"


def _policy_text(chosen: InterventionPolicy, counted: PolicyPreview) -> str:
    flags = [
        (rule.site or "every site", rule.detector or rule.severity.value, rule.reaction.value)
        for rule in chosen.flags
    ]
    risks = [(rule.site or "every site", rule.risk.value, rule.answer.value) for rule in chosen.risks]
    whole = counted.whole
    return "\n".join(
        [
            table(flags, ("site", "flag", "reaction")),
            "",
            table(risks, ("site", "action that", "answer")),
            "",
            f"This would have paused {whole.paused} of {whole.runs} stored runs, {whole.failed_paused} of them failed"
            f" ({whole.failed} of {whole.judged} scored ones failed), asked in {whole.asked},"
            f" notified about {whole.notified}.",
        ]
    )


def print_requests(event: Event) -> None:
    """Print requests and ended runs on standard error."""
    if isinstance(event, RequestChanged) and event.request.state is RequestState.OPEN:
        print_note(_request_text(event.request))
        verbs = "|".join(allowed_decisions(event.request.need))
        print_note(f"    decide with: sitelore live decide {event.request.id} {verbs}")
    elif isinstance(event, LiveRunChanged) and event.row.state in (RunState.ENDED, RunState.INTERRUPTED):
        row = event.row
        steps = "1 step" if row.step == 1 else f"{row.step} steps"
        print_note(f"{row.run}: {state_label(row)} after {steps}{': ' + row.why if row.why else ''}")
