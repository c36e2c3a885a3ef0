"""``sitelore run``: run the embedded agent on a task, and show the memory of a run."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli.common import Json, harmless, say, show, table, with_engine
from app.engine.errors import UsageError
from app.engine.events import Event, RunAdvanced
from app.engine.run_api import LIVE, NO_KNOWLEDGE, RunMemory, RunRequest, RunSummary
from app.engine.trajectory import Outcome

if TYPE_CHECKING:
    from app.engine.engine import Engine


class PolicyName(StrEnum):
    """The policy that decides."""

    SCOUT = "scout"
    LLM = "llm"


def run(
    context: typer.Context,
    intent: Annotated[
        str, typer.Argument(help="The task. A password is written as {secret:NAME}.", show_default=False)
    ] = "",
    start_url: Annotated[str, typer.Option(help="Where to begin.")] = "",
    policy: Annotated[PolicyName, typer.Option(help="scout: no model, no tokens.")] = PolicyName.SCOUT,
    kb: Annotated[
        str,
        typer.Option(help="A frozen knowledge base; 'live' for the workspace's tips, 'none' for no tips."),
    ] = LIVE,
    graph: Annotated[
        list[str] | None,
        typer.Option(help="Site whose interaction graph may be used; may be given several times."),
    ] = None,
    site: Annotated[str, typer.Option(help="Name of the site (default: told by its address).")] = "",
    max_steps: Annotated[int, typer.Option(min=1, max=1000, help="Steps at most.")] = 30,
    storage_state: Annotated[
        Path | None, typer.Option(help="A recorded log-in (Playwright's storage state); read, never copied.")
    ] = None,
    domain: Annotated[
        list[str] | None,
        typer.Option(help="Another host the agent may be on ('*' for any); may be given several times."),
    ] = None,
    vision: Annotated[bool, typer.Option("--vision", help="Ask a vision model for boxes, too.")] = False,
    max_seconds: Annotated[
        float, typer.Option(min=0, help="Seconds of a model at most (0: no limit).")
    ] = 0.0,
    max_tokens: Annotated[int, typer.Option(min=0, help="Tokens of a model at most (0: no limit).")] = 0,
    max_money: Annotated[float, typer.Option(min=0, help="US dollars at most (0: no limit).")] = 0.0,
    headed: Annotated[bool, typer.Option("--headed", help="Show the browser.")] = False,
    allow: Annotated[
        list[str] | None,
        typer.Option(
            help="Actions it may take although the task does not ask for them: sends, uploads, buys, pays, deletes,"
            " signs-in, signs-out; several with commas. Without it a run does only what the task asks for."
        ),
    ] = None,
    supervised: Annotated[
        bool,
        typer.Option(
            "--supervised",
            help="Ask before such actions instead; decide with `sitelore live decide` in another terminal.",
        ),
    ] = False,
    resume: Annotated[str, typer.Option(help="Go on with this run, which was interrupted.")] = "",
    as_json: Json = False,
) -> None:
    """Do a task on a website; the run is stored like an imported one. Exit code 0: it was answered."""
    if bool(resume) == bool(intent):
        raise UsageError("give a task, or --resume and the id of a run")
    if intent and not start_url:
        raise UsageError("where to begin is not known", remedy="give --start-url")
    if resume:
        _nothing_else(context)
    request = RunRequest(
        intent=intent,
        start_url=start_url,
        policy=policy.value,
        kb=kb if kb in (LIVE, NO_KNOWLEDGE) else str(Path(kb).expanduser().resolve()),
        graph=tuple(graph or ()),
        site=site,
        max_steps=max_steps,
        headed=headed,
        storage_state=str(storage_state.expanduser().resolve()) if storage_state else "",
        domains=tuple(domain or ()),
        vision=vision,
        max_seconds=max_seconds,
        max_tokens=max_tokens,
        max_money=max_money,
        supervised=supervised,
        allow=tuple(part for given in allow or () for part in given.split(",") if part.strip()),
    )

    async def running(engine: Engine) -> RunSummary:
        if not as_json:
            engine.bus.subscribe(_step_by_step)
        if supervised:
            from app.cli.live import print_requests

            engine.bus.subscribe(print_requests)
        return await (engine.resume_run(resume) if resume else engine.run_task(request))

    summary = with_engine(running, encoder="cached")
    show(summary, as_json, lambda: told(summary))
    if summary.outcome not in (Outcome.ANSWERED, Outcome.DONE_BY_HAND):
        raise typer.Exit(1)


def memory(
    run: str,
    step: Annotated[int | None, typer.Option(min=0, help="As it was after this step.")] = None,
    as_json: Json = False,
) -> None:
    """What a run of our own remembered: goal, plan, facts, dead ends, landmarks, notes."""
    found = with_engine(lambda engine: engine.run_memory(run, step))
    show(found, as_json, lambda: remembered(found))


def told(summary: RunSummary) -> str:
    """Summarize a run in a few lines."""
    lines = [f"{summary.run}: {summary.outcome} after {summary.steps} steps, {summary.seconds:.1f} s"]
    if summary.answer is not None:
        lines.append(f"answer: {summary.answer}")
    if summary.error:
        lines.append(f"why: {summary.error}")
    if summary.flags:
        lines.append(f"flags: {', '.join(summary.flags)}")
    for use in summary.tips:
        lines.append(
            f"tip {use.tip}: shown at {use.shown} steps by {', '.join(use.routes)}, followed {use.followed} times"
        )
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
            )
            for use in summary.usage
        ]
        lines.append(table(rows, ("role", "calls", "tokens in", "out", "cached", "retries", "seconds")))
    else:
        lines.append("no model was asked: 0 tokens")
    return "\n".join(lines)


def remembered(found: RunMemory) -> str:
    """Return a ledger as text."""
    ledger = found.ledger
    if not found.events:
        return "this run has no ledger: it was not made here"
    parts = [f"goal: {ledger.goal}", f"subgoal: {ledger.subgoal or '-'}"]
    parts += [f"plan [{node.state}]: {node.intent}" for node in ledger.plan]
    parts += [
        f"fact (step {fact.step}): {fact.key} = {fact.value}" for fact in ledger.facts if not fact.retracted
    ]
    parts += [
        f"dead end (step {end.step}, {end.cause}): {end.target or 'this page'}: {end.words}"
        for end in ledger.dead_ends
    ]
    parts += [f"landmark (step {mark.step}): {mark.words}" for mark in ledger.checkpoints]
    parts += [f"note: {note}" for note in ledger.episodic]
    return "\n".join(parts)


def _nothing_else(context: typer.Context) -> None:
    """Refuse other options with --resume: a resumed run keeps its settings, and they would be ignored silently."""
    for name in context.params:
        source = context.get_parameter_source(name)
        if name not in ("resume", "as_json") and source is not None and source.name == "COMMANDLINE":
            option = f"--{name.replace('_', '-')}"
            raise UsageError(f"with --resume a run goes on as it was begun; leave out {option}")


def _step_by_step(event: Event) -> None:
    """Print one line a step on standard error."""
    if isinstance(event, RunAdvanced) and event.words:
        flags = f"  [{', '.join(event.flags)}]" if event.flags else ""
        why = f": {event.why}" if event.why else ""
        say(f"{event.step + 1:3} {event.words} -> {event.effect}{why}{flags}")
    elif isinstance(event, RunAdvanced) and event.state == "running":
        sys.stderr.write(harmless(f"run {event.run}\n"))
