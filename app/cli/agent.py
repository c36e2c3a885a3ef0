"""``sitelore run``: run the embedded agent on a task, and show the memory of a run."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli.common import (
    ACTIONS,
    JUDGE,
    JUDGE_CALLS,
    JUDGE_EVERY,
    LOCALE,
    PICTURES,
    TIME_ZONE,
    Graphs,
    Headed,
    Json,
    JudgeAsked,
    MarksWanted,
    ModelName,
    PictureDetail,
    PicturesSent,
    PolicyName,
    SiteName,
    StorageState,
    TipBudget,
    counted,
    full_path,
    knowledge_base,
    print_note,
    print_result,
    table,
    terminal_safe,
    with_engine,
)
from app.cli.live import print_requests
from app.cli.run_ids import RunId
from app.engine.api.run_api import LIVE_KNOWLEDGE, LlmRunOptions, RunMemory, RunRequest, RunSummary
from app.engine.core.actions.action_sets import DEFAULT_SET
from app.engine.core.cost import amount
from app.engine.core.events import Event, RunAdvanced
from app.engine.core.labels import outcome_label
from app.engine.core.trajectory import Outcome
from app.errors import UsageError

if TYPE_CHECKING:
    from app.engine.engine import Engine


def run(
    context: typer.Context,
    intent: Annotated[
        str, typer.Argument(help="The task. A password is written as {secret:NAME}.", show_default=False)
    ] = "",
    start_url: Annotated[str, typer.Option(help="The start address (default: the site's start page).")] = "",
    policy: Annotated[
        PolicyName, typer.Option(help="What decides the actions: scout (no model, no tokens) or llm.")
    ] = "scout",
    model: ModelName = "",
    kb: Annotated[
        str,
        typer.Option(help="A frozen knowledge base; 'live' for the workspace's tips, 'none' for no tips."),
    ] = LIVE_KNOWLEDGE,
    graph: Graphs = None,
    site: SiteName = "",
    max_steps: Annotated[int, typer.Option(min=1, max=1000, help="Maximum number of steps.")] = 30,
    storage_state: StorageState = None,
    domain: Annotated[
        list[str] | None,
        typer.Option(help="Another host the agent may visit ('*' for any); may be repeated."),
    ] = None,
    vision: Annotated[
        bool, typer.Option("--vision", help="Also ask a vision model to locate elements.")
    ] = False,
    marks: Annotated[
        MarksWanted,
        typer.Option(
            help="When --vision asks for marks: auto (where element numbers do not reach, or the agent asks), always."
        ),
    ] = "auto",
    max_seconds: Annotated[
        float, typer.Option(min=0, help="Model time limit in seconds (0: no limit).")
    ] = 0.0,
    max_tokens: Annotated[int, typer.Option(min=0, help="Model token limit (0: no limit).")] = 0,
    max_money: Annotated[
        float, typer.Option(min=0, help="Model cost limit in US dollars (0: no limit).")
    ] = 0.0,
    tip_budget: TipBudget = 0,
    judge: Annotated[JudgeAsked, JUDGE] = "auto",
    judge_every: Annotated[int, JUDGE_EVERY] = 5,
    judge_calls: Annotated[int, JUDGE_CALLS] = 12,
    headed: Headed = False,
    allow: Annotated[
        list[str] | None,
        typer.Option(
            help="Actions allowed although the task does not ask for them: sends, uploads, buys, pays, deletes,"
            " signs-in, signs-out; separated by commas. Otherwise a run does only what the task asks for."
        ),
    ] = None,
    supervised: Annotated[
        bool,
        typer.Option(
            "--supervised",
            help="Ask for approval of such actions; decide with `sitelore live decide` in another terminal.",
        ),
    ] = False,
    actions: Annotated[str, ACTIONS] = DEFAULT_SET,
    timezone: Annotated[str, TIME_ZONE] = "",
    locale: Annotated[str, LOCALE] = "",
    pictures: Annotated[PicturesSent, PICTURES] = "auto",
    picture_side: Annotated[
        int, typer.Option(min=0, max=4096, help="Longest side of these pictures in pixels (0: as taken).")
    ] = 1280,
    picture_detail: Annotated[
        PictureDetail, typer.Option(help="How closely the endpoint is asked to read them: auto, low, high.")
    ] = "auto",
    resume: Annotated[str, typer.Option(help="Resume this interrupted run.")] = "",
    as_json: Json = False,
) -> None:
    """Run the agent on a task; the run is stored like an imported one. Exit code 0: it was answered."""
    if bool(resume) == bool(intent):
        raise UsageError("give a task, or --resume and the id of a run")
    if intent and not start_url and not site:
        raise UsageError("the start address is not known", remedy="give --start-url, or --site")
    if resume:
        _only_run(context)
    request = RunRequest(
        intent=intent,
        start_url=start_url,
        policy=policy,
        model=model,
        kb=knowledge_base(kb),
        graph=tuple(graph or ()),
        site=site,
        max_steps=max_steps,
        headed=headed,
        storage_state=full_path(storage_state),
        domains=tuple(domain or ()),
        vision=vision,
        max_seconds=max_seconds,
        max_tokens=max_tokens,
        max_money=max_money,
        tip_budget=tip_budget,
        supervised=supervised,
        allow=tuple(part for given in allow or () for part in given.split(",") if part.strip()),
        llm=LlmRunOptions(
            actions=actions,
            judge=judge,
            judge_every=judge_every,
            judge_calls=judge_calls,
            timezone=timezone,
            locale=locale,
            pictures=pictures,
            marks=marks,
            picture_side=picture_side,
            picture_detail=picture_detail,
        ),
    )

    async def running(engine: Engine) -> RunSummary:
        if not as_json:
            engine.bus.subscribe(_print_steps)
        if supervised:
            engine.bus.subscribe(print_requests)
        return await (engine.resume_run(resume) if resume else engine.run_task(request))

    summary = with_engine(running, encoder="cached")
    print_result(summary, as_json, lambda: summary_text(summary))
    if summary.outcome not in (Outcome.ANSWERED, Outcome.DONE_BY_HAND):
        raise typer.Exit(1)


def memory(
    run: RunId,
    step: Annotated[int | None, typer.Option(min=0, help="The memory after this step.")] = None,
    as_json: Json = False,
) -> None:
    """Show the memory of one of our own runs: goal, plan, facts, notes, dead ends, checkpoints."""
    found = with_engine(lambda engine: engine.run_memory(run, step))
    print_result(found, as_json, lambda: memory_text(found))


def summary_text(summary: RunSummary) -> str:
    """Summarize a run in a few lines."""
    lines = [
        f"{summary.run}: {outcome_label(summary.outcome)} after {counted(summary.steps, 'step')},"
        f" {summary.seconds:.1f} s"
    ]
    if summary.answer is not None:
        name = "reason" if summary.outcome == Outcome.INFEASIBLE else "answer"
        lines.append(f"{name}: {summary.answer}")
    if summary.error:
        lines.append(f"why: {summary.error}")
    if summary.flags:
        lines.append(f"flags: {', '.join(summary.flags)}")
    for use in summary.tips:
        lines.append(f"tip {use.tip}: {use.words}")
    if summary.usage:
        rows = [
            (
                use.role,
                use.calls,
                use.tokens_in,
                use.tokens_out,
                use.cached,
                use.retries,
                f"{use.seconds:.1f}",
                amount(use.money),
            )
            for use in summary.usage
        ]
        lines.append(
            table(rows, ("role", "calls", "tokens in", "out", "cached", "retries", "seconds", "US dollars"))
        )
        if summary.cost is not None:
            lines.append(f"cost: {summary.cost.words.removeprefix('cost ')}")
    else:
        lines.append("no model was used: 0 tokens")
    return "\n".join(lines)


def memory_text(found: RunMemory) -> str:
    """Return a ledger as text."""
    ledger = found.ledger
    if not found.events:
        return "this run has no memory: it was not run here"
    parts = [f"goal: {ledger.goal}", f"subgoal: {ledger.subgoal or '-'}"]
    parts += [f"plan [{node.state}]: {node.intent}" for node in ledger.plan]
    parts += [f"constraint ({one.kind}, met: {one.met}): {one.text}" for one in ledger.constraints]
    parts += [
        f"fact (step {fact.step}): {fact.key} = {fact.value}" for fact in ledger.facts if not fact.retracted
    ]
    parts += [
        f"dead end (step {end.step}, {end.cause}): {end.target or 'this page'}: {end.words}"
        for end in ledger.dead_ends
    ]
    parts += [f"checkpoint (step {mark.step}): {mark.words}" for mark in ledger.checkpoints]
    parts += [f"note {note.number} (step {note.step}): {note.text}" for note in ledger.notes]
    parts += [f"episode: {told}" for told in ledger.episodic]
    return "\n".join(parts)


def _only_run(context: typer.Context) -> None:
    """Refuse other options with --resume: a resumed run keeps its settings, and they would be ignored silently."""
    for name in context.params:
        source = context.get_parameter_source(name)
        if name not in ("resume", "as_json") and source is not None and source.name == "COMMANDLINE":
            option = f"--{name.replace('_', '-')}"
            raise UsageError(f"a resumed run keeps its settings; leave out {option}")


def _print_steps(event: Event) -> None:
    """Print one line a step on standard error."""
    if isinstance(event, RunAdvanced) and event.words:
        flags = f"  [{', '.join(event.flags)}]" if event.flags else ""
        why = f": {event.why}" if event.why else ""
        print_note(f"{event.step + 1:3} {event.words} -> {event.effect}{why}{flags}")
    elif isinstance(event, RunAdvanced) and event.state == "running":
        sys.stderr.write(terminal_safe(f"run {event.run}\n"))
