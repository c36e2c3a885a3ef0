"""``sitelore review compare``: a run beside another one, aligned on the pages both were on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from app.cli.common import Json, counted, print_result, table, with_engine
from app.cli.run_ids import RunId, completed
from app.engine.api.engine_api import RunDetail
from app.engine.api.review_api import RunAlignment, SimilarRun

if TYPE_CHECKING:
    from app.engine.engine import Engine


def add_compare_command(app: typer.Typer) -> None:
    """Add the command."""
    app.command("compare")(compare)


def compare(
    run: RunId,
    other: Annotated[
        str,
        typer.Argument(
            help="Id of the run to put beside it (default: the most similar one that passed).",
            callback=completed,
        ),
    ] = "",
    failed: Annotated[
        bool, typer.Option("--failed", help="Without a second run: list similar runs that failed, too.")
    ] = False,
    limit: Annotated[int, typer.Option(min=1, help="Similar runs to list.")] = 8,
    as_json: Json = False,
) -> None:
    """Put two runs side by side, and say where they part; without a second run, list those most like it first."""

    async def comparing(
        engine: Engine,
    ) -> tuple[list[SimilarRun], RunAlignment | None, list[RunDetail]]:
        similar = [] if other else await engine.similar_runs(run, not failed, limit)
        beside = other or (similar[0].id if similar else "")
        if not beside:
            return similar, None, []
        aligned = await engine.align_runs(run, beside)
        return similar, aligned, [await engine.open_run(run), await engine.open_run(beside)]

    similar, aligned, runs = with_engine(comparing)
    body = {"similar": similar, "alignment": aligned}
    print_result(body, as_json, lambda: compare_text(similar, aligned, runs))


def compare_text(similar: list[SimilarRun], aligned: RunAlignment | None, runs: list[RunDetail]) -> str:
    """Return similar runs and the rows of an alignment as text; ``>`` marks the row at which the runs part."""
    lines: list[str] = []
    if similar:
        rows = [
            (
                one.id,
                one.relation,
                f"{one.likeness:.2f}",
                _score(one.score),
                one.steps,
                one.knowledge,
                one.intent,
            )
            for one in similar
        ]
        heads = ("run", "same", "likeness", "score", "steps", "knowledge", "task")
        lines += [table(rows, heads), ""]
    if aligned is None or len(runs) != 2:
        return "no run of this workspace is similar to it; --failed looks at failed ones, too"
    lines += [f"left:  {_head(runs[0])}", f"right: {_head(runs[1])}"]
    if aligned.why:
        lines.append(aligned.why)
    for side, tips in (("left", aligned.tips_left), ("right", aligned.tips_right)):
        if tips:
            lines.append(f"shown to the {side} one alone: {', '.join(tips)}")
    body = [
        (
            ">" if number == aligned.parting else "=" if row.same_action else "",
            _step(runs[0], row.left),
            _step(runs[1], row.right),
            _page(runs, row.left, row.right),
        )
        for number, row in enumerate(aligned.rows)
    ]
    lines += ["", table(body, ("", "left", "right", "page"), widest=56)]
    return "\n".join(lines)


def _head(detail: RunDetail) -> str:
    run = detail.run
    knowledge = f", knowledge {run.knowledge}" if run.knowledge else ""
    return f"{run.id}, {_score(run.score)}, {counted(len(detail.steps), 'step')}{knowledge}"


def _score(score: float | None) -> str:
    return "not scored" if score is None else f"score {score:g}"


def _step(detail: RunDetail, at: int) -> str:
    return f"{at} {detail.steps[at].words}" if 0 <= at < len(detail.steps) else ""


def _page(runs: list[RunDetail], left: int, right: int) -> str:
    step = runs[0].steps[left] if left >= 0 else runs[1].steps[right]
    return step.title or step.url
