"""``sitelore review why``: the likely cause of a failure, and where the words of its answer stand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from app.cli.common import Json, counted, print_result, table, with_engine
from app.cli.run_ids import RunId
from app.engine.api.review_api import AnswerPage, AnswerTerm, CauseSource, LikelyCause

if TYPE_CHECKING:
    from app.engine.engine import Engine

MAX_ANSWER_LINES = 40


def add_why_command(app: typer.Typer) -> None:
    """Add the command."""
    app.command("why")(why)


def why(
    run: RunId,
    ask: Annotated[
        bool, typer.Option("--ask", help="Ask the configured model for a better sentence, and keep it.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Say why a run failed: the likely cause, its evidence, and where the answer stands on the visited pages."""

    async def telling(engine: Engine) -> tuple[LikelyCause, AnswerPage]:
        cause = await (engine.ask_cause(run) if ask else engine.likely_cause(run))
        return cause, await engine.answer_page(run)

    cause, page = with_engine(telling)
    print_result({"cause": cause, "answer_page": page}, as_json, lambda: why_text(cause, page))


def why_text(cause: LikelyCause, page: AnswerPage) -> str:
    """Return the cause and the answer page as text."""
    step = f" (step {cause.step})" if cause.step >= 0 else ""
    lines = [f"{cause.text or 'Nothing points at a cause.'}{step}"]
    if cause.source is CauseSource.MODEL:
        lines.append(f"  by the model {cause.model}")
    if cause.label is not None:
        lines.append(f"  suggested verdict: {cause.label.value}")
    lines += [f"  - {one}" for one in cause.evidence]
    lines += ["", f"task: {page.intent}", page.ended]
    if page.answer is not None:
        answer = page.answer.splitlines() or [""]
        lines += [f"answer at step {page.step}:", *(f"  {line}" for line in answer[:MAX_ANSWER_LINES])]
        if len(answer) > MAX_ANSWER_LINES:
            lines.append(f"  ({counted(len(answer) - MAX_ANSWER_LINES, 'more line')}; --json has all)")
    lines += _expected(page)
    if page.terms:
        rows = [(term.kind, term.text, _where(term, page)) for term in page.terms]
        searched = counted(page.pages, "page") + (f", {page.missing} not recorded" if page.missing else "")
        lines += ["", f"words of the answer on the visited pages ({searched}):"]
        lines.append(table(rows, ("kind", "words", "where"), widest=90))
    return "\n".join(lines)


def _expected(page: AnswerPage) -> list[str]:
    outcome = page.expected
    if outcome is None:
        return []
    if outcome.hidden:
        return [f"expected: hidden, as the suite {outcome.suite} is blind"]
    lines = ["expected:", *(f"  {line}" for line in outcome.expected)]
    for check in outcome.score.checks if outcome.score is not None else ():
        score = "undecided" if check.score is None else f"{check.score:g}"
        lines.append(f"  {check.evaluator} {score}{f': {check.why}' if check.why else ''}")
    return lines


def _where(term: AnswerTerm, page: AnswerPage) -> str:
    if not term.places:
        return "in the task alone" if term.in_task else "on no visited page"
    first = term.places[0]
    steps = sorted({place.step for place in term.places})
    told = f"step {', '.join(map(str, steps))}: {first.text}"
    return f"in the task, and {told}" if term.in_task else told
