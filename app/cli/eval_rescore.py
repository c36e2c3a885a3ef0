"""``sitelore eval rescore``: stored runs scored again by a named dialect."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from app.cli.common import Json, counted, full_path, print_result, table, with_engine
from app.cli.run_ids import whole_run_ids
from app.cli.suite import suite_given
from app.engine.api.evaluation_api import RescoredRun
from app.engine.evaluation.agreement import score_agreement, undecided_reasons
from app.errors import UsageError

if TYPE_CHECKING:
    from app.engine.engine import Engine

DialectGiven = Literal["", "webarena", "webchorearena", "strict", "sitelore"]
ALL = "all"
_HEADS = ("site", "evaluators", "runs", "decided", "agree", "same score", "false pass", "false fail")
_WORDS = (
    "decided: with a verdict and a recorded score; agree: both are a pass (a score of 1) or neither is;"
    " same score: the numbers are equal too"
)
_MAX_REASONS = 12
_MAX_DIFFERENCES = 20


def rescore(
    runs: Annotated[
        list[str],
        typer.Argument(
            metavar="RUNS...",
            help="A folder of runs, which are not imported; or ids of runs in the workspace; or all.",
        ),
    ],
    suite: Annotated[str, typer.Option(help="A suite of the workspace, or a task file.")],
    dialect: Annotated[DialectGiven, typer.Option(help="Rules to score by (default: the suite's).")] = "",
    judge: Annotated[
        bool, typer.Option("--judge", help="Ask a judge model where the verdict depends on one.")
    ] = False,
    browsergym: Annotated[
        bool | None,
        typer.Option(
            "--browsergym/--no-browsergym",
            help='BrowserGym\'s rules: infeasible is "N/A", a tab off the sites is 0 (default: for its own runs).',
            show_default=False,
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Score stored runs again, and compare with the scores that were recorded.

    Only a score of 1 is a pass. A verdict is undecided where the run did not store what it depends on.
    """

    async def scoring(engine: Engine) -> list[RescoredRun]:
        given = suite_given(suite)
        folder = _folder(runs)
        if folder:
            return await engine.rescore_folder(folder, given, dialect, judge, browsergym)
        ids = [] if runs == [ALL] else whole_run_ids(runs)
        return await engine.rescore(ids, given, dialect, judge, browsergym)

    found = with_engine(scoring)
    print_result([_document(row) for row in found], as_json, lambda: rescored_text(found))


def rescored_text(rows: Sequence[RescoredRun]) -> str:
    """Describe how the verdicts agree with the recorded scores."""
    if not rows:
        return "no runs of this suite"
    lines = [
        f"{counted(len(rows), 'run')} of the suite {rows[0].suite}, scored by the rules {rows[0].dialect}",
        "",
        table(
            [
                (one.site, one.evaluators, one.runs, one.decided, one.agree, one.same, one.false_pass,
                 one.false_fail)
                for one in score_agreement(rows)
            ],
            _HEADS,
        ),
        _WORDS,
    ]  # fmt: skip
    if reasons := undecided_reasons(rows):
        lines += ["", "undecided:", *(f"  {count:4d}  {why}" for why, count in reasons[:_MAX_REASONS])]
    differing = [row for row in rows if _differs(row)]
    if differing:
        lines += ["", "another verdict than recorded:"]
        lines += [
            f"  {row.run}: {row.verdict} ({row.score:.3g}), recorded {row.recorded:.3g}: {row.why}"
            for row in differing[:_MAX_DIFFERENCES]
        ]
        if len(differing) > _MAX_DIFFERENCES:
            lines.append(f"  and {len(differing) - _MAX_DIFFERENCES} more; --json has all")
    return "\n".join(lines)


def _differs(row: RescoredRun) -> bool:
    return row.score is not None and row.recorded is not None and (row.score >= 1) != (row.recorded >= 1)


def _folder(runs: Sequence[str]) -> str:
    """Return the folder that was given, "" for ids.  Raises ``UsageError`` for several folders."""
    folders = [run for run in runs if run != ALL and (Path(run).is_dir() or len(Path(run).parts) > 1)]
    if folders and len(runs) > 1:
        raise UsageError("give one folder of runs, or ids of runs in the workspace")
    if ALL in runs and len(runs) > 1:
        raise UsageError(f"give '{ALL}' alone")
    return full_path(Path(folders[0])) if folders else ""


def _document(row: RescoredRun) -> dict[str, Any]:
    document: dict[str, Any] = {
        "run": row.run,
        "task": row.task,
        "recorded": row.recorded,
        "score": row.score,
        "verdict": row.verdict,
        "why": row.why,
        "checks": row.checks,
    }
    return {**document, "judge": row.judge} if row.judge else document
