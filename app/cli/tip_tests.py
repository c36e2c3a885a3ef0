"""``sitelore tip test`` and ``vote``, and the text of tests and records."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated, Any

import typer

from app.cli.common import Headed, Json, counted, json_data, print_note, print_result, table, with_engine
from app.engine.api.tip_api import DraftedSteps, TipStanding, TipTest, TipTests, tested_words
from app.errors import UsageError
from kb.compiler import compiled
from kb.tip import LastTest, Tip, TipRecord

BROKE, NOT_REACHED, STOPPED = "broke", "not reached", "stopped before a write"


class VoteName(StrEnum):
    """A vote on a tip."""

    UP = "up"
    DOWN = "down"
    NONE = "none"


_VOTES = {VoteName.UP: 1, VoteName.DOWN: -1, VoteName.NONE: 0}


def try_tip(
    tip: str,
    url: Annotated[
        str, typer.Option(help="The page to begin at (default: the tip's own, or its site's).")
    ] = "",
    value: Annotated[
        list[str] | None,
        typer.Option(help="NAME=TEXT: the value of a placeholder; may be repeated."),
    ] = None,
    headed: Headed = False,
    as_json: Json = False,
) -> None:
    """Do a tip's steps in a live browser, as far as they only read. Exit code 0: it holds, 1: it broke."""
    values = dict(map(_pair, value or ()))
    done = with_engine(lambda engine: engine.test_tip(tip, url, values, headed))
    print_result(test_body(done) if as_json else done, as_json, lambda: outcome_text(done))
    _exit([done])


def vote(
    tip: str,
    vote: Annotated[
        VoteName, typer.Argument(help="up: it is useful, down: it is not, none: take a vote back.")
    ],
    run: Annotated[str, typer.Option(help="The run in which it was (not) useful.")] = "",
) -> None:
    """Vote on a tip; your last vote counts."""
    with_engine(lambda engine: engine.vote_tip(run, tip, _VOTES[vote]))
    print_note(f"{tip}: {'vote taken back' if vote is VoteName.NONE else f'voted {vote.value}'}")


def draft(
    tip: str,
    accept: Annotated[
        bool, typer.Option("--accept", help="Store the steps as a new version of the tip.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Draft a tip's steps with the language model; prints them beside the compiled ones."""

    async def drafting(engine: Any) -> tuple[DraftedSteps, Tip]:
        stored = await engine.tip(tip)
        found = await engine.draft_steps(stored)
        if accept and found.procedure:
            await engine.edit_tip(tip, dataclasses.replace(stored, procedure=found.procedure), "")
        return found, stored

    found, stored = with_engine(drafting)
    accepted, own = accept and bool(found.procedure), compiled(stored).lines
    body = {"tip": tip, "accepted": accepted, "compiled": own, **json_data(found)}
    print_result(body, as_json, lambda: draft_text(found, own))
    if accepted and not as_json:
        print_note(f"{tip}: the model's steps are stored (`sitelore tip undo` takes that back)")


def draft_text(found: DraftedSteps, own: Sequence[str]) -> str:
    """Return a model's steps and the compiler's as text, and what was left out."""
    lines = [f"model {number}: {line}" for number, line in enumerate(found.procedure.lines, start=1)]
    lines = lines or ["model: no step that can be used"]
    lines += [f"compiled {number}: {line}" for number, line in enumerate(own, start=1)] or [
        "compiled: no step"
    ]
    lines += [f"left out: {line}" for line in found.left_out]
    return "\n".join([*lines, *(f"look at it: {line}" for line in found.marked)])


def try_site(
    site: Annotated[str, typer.Option(help="The site's name.")],
    drafts: Annotated[bool, typer.Option("--all", help="Test drafts, too.")] = False,
    as_json: Json = False,
) -> None:
    """Test every tip of a site in a live browser. Exit code 0: all hold, 1: one broke."""
    done = with_engine(lambda engine: engine.test_tips(site, drafts))
    body = {**json_data(done), "tests": [test_body(one) for one in done.tests]} if as_json else done
    print_result(body, as_json, lambda: outcomes_text(done))
    _exit(done.tests)


def test_body(test: TipTest) -> dict[str, Any]:
    """Return a test as JSON: ``result`` is holds, broken, not reached, or "" for a test that was not made.

    A tip that was stopped before a write holds as far as it was tested; ``stopped_before_write`` says so.
    """
    body = {name: value for name, value in json_data(test).items() if name not in ("outcome", "message")}
    result = {BROKE: "broken", STOPPED: "holds"}.get(test.outcome, test.outcome)
    stopped = test.outcome == STOPPED
    return {**body, "result": result, "why": test.message, "stopped_before_write": stopped}


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not (equals and name.strip()):
        raise UsageError(f"{text!r} is no value", remedy="write --value NAME=TEXT")
    return name, value


def _exit(tests: Sequence[TipTest]) -> None:
    outcomes = {one.outcome for one in tests}
    if BROKE in outcomes:
        raise typer.Exit(1)
    if outcomes & {NOT_REACHED, ""}:
        raise typer.Exit(3)


def outcome_text(done: TipTest) -> str:
    """Return a test as text: a line for each step, then the result."""
    lines = [f"from {done.url}"] if done.url else []
    for step in done.steps:
        note = f": {step.note}" if step.note else ""
        lines.append(f"{step.number:3d}  {step.line}  [{step.outcome}{note}]")
    lines.append(f"{done.message} ({done.seconds:.1f} s)")
    if done.became_suspect:
        lines.append("the tip is suspect now (`sitelore tip undo` takes that back)")
    if done.offer:
        lines.append(done.offer)
    return "\n".join(lines)


def outcomes_text(done: TipTests) -> str:
    """Return the tests of a site as a table."""
    rows = [
        (one.tip, one.outcome or "not tested", one.step or "-", f"{one.seconds:.1f}", _remark(one))
        for one in done.tests
    ]
    counts = ", ".join(f"{number} {outcome}" for outcome, number in done.counts.items())
    lines = [table(rows, ("tip", "result", "step", "seconds", "why"), widest=100), counts]
    if done.without_steps:
        lines.append(f"{len(done.without_steps)} tips have no steps: {', '.join(done.without_steps)}")
    if done.cancelled:
        lines.append("cancelled: the others were not tested")
    return "\n".join(line for line in lines if line)


def _remark(one: TipTest) -> str:
    more = "; suspect now" if one.became_suspect else f"; {one.offer}" if one.offer else ""
    return f"{one.message}{more}"


def tested_cell(test: LastTest | None) -> str:
    """Return ``broke at step 3, 2026-05-02`` for a table; empty for a tip that was not tested."""
    if test is None:
        return ""
    return f"{tested_words(test)}, {time.strftime('%Y-%m-%d', time.localtime(test.at))}"


def standing_lines(standing: TipStanding) -> list[str]:
    """Return a tip's steps, last test and record, one fact a line."""
    lines = [f"step {number}: {line}" for number, line in enumerate(standing.steps, start=1)]
    if standing.never:
        lines.append("never: " + ", ".join(f'"{name}"' for name in standing.never))
    lines += [f"not read: {clause}" for clause in standing.unread]
    if standing.outcome:
        at = time.strftime("%Y-%m-%d %H:%M", time.localtime(standing.tested_at))
        lines.append(f"last test: {standing.outcome}, {at} by {standing.tested_by}: {standing.message}")
    elif standing.steps:
        lines.append("last test: none")
    return [*lines, f"record: {record_words(standing.record)}"]


def record_words(record: TipRecord) -> str:
    """Return how a tip has fared, in words."""
    parts = [
        f"applied at {counted(record.applied, 'step')}, done at {record.done}, effect seen at {record.effect}"
        if record.applied
        else "",
        f"failed at {record.failed}" if record.failed else "",
        f"{counted(record.up, 'vote')} up, {record.down} down" if record.up or record.down else "",
        f"{counted(record.tests, 'test')}, {record.broke} broke" if record.tests else "",
    ]
    return ", ".join(part for part in parts if part) or "nothing yet"
