"""``sitelore tip test`` and ``vote``, and the text of tests and records."""

from __future__ import annotations

import time
from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated

import typer

from app.cli.common import Headed, Json, print_note, print_result, table, with_engine
from app.engine.api.tip_api import TipStanding, TipTest, TipTests
from app.errors import UsageError
from kb.tip import TipRecord

BROKE, NOT_REACHED = "broke", "not reached"


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
    print_result(done, as_json, lambda: trial_text(done))
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


def try_site(
    site: Annotated[str, typer.Option(help="The site's name.")],
    drafts: Annotated[bool, typer.Option("--all", help="Test drafts, too.")] = False,
    as_json: Json = False,
) -> None:
    """Test every tip of a site in a live browser. Exit code 0: all hold, 1: one broke."""
    done = with_engine(lambda engine: engine.test_tips(site, drafts))
    print_result(done, as_json, lambda: trials_text(done))
    _exit(done.tests)


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


def trial_text(done: TipTest) -> str:
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


def trials_text(done: TipTests) -> str:
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


def standing_lines(standing: TipStanding) -> list[str]:
    """Return a tip's steps, last test and record, one fact a line."""
    lines = [f"step {number}: {line}" for number, line in enumerate(standing.steps, start=1)]
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
        f"applied at {record.applied} steps, done at {record.done}, effect seen at {record.effect}"
        if record.applied
        else "",
        f"failed at {record.failed}" if record.failed else "",
        f"{record.up} votes up, {record.down} down" if record.up or record.down else "",
        f"{record.tests} tests, {record.broke} broke" if record.tests else "",
    ]
    return ", ".join(part for part in parts if part) or "nothing yet"
