"""``sitelore eval``."""

from __future__ import annotations

from typing import Annotated

import typer

from app.cli import eval_compare, eval_report, eval_rescore, eval_run, eval_strict
from app.cli.common import Json, print_result, with_engine
from app.cli.suite import suite_given
from app.engine.api.evaluation_api import SplitReport
from app.engine.evaluation.suites.choose import SPLIT_SEED

app = typer.Typer(help="Evaluations: run, rescore, compare, report.", no_args_is_help=True)
app.command("run")(eval_run.run)
app.command("list")(eval_run.list_evaluations)
app.command("resume")(eval_run.resume)
app.command("stop")(eval_run.stop)
app.command("rescore")(eval_rescore.rescore)
app.command("compare")(eval_compare.compare)
app.command("report")(eval_report.report)
app.command("power")(eval_compare.power)
app.command("strict-setup")(eval_strict.strict_setup)


@app.command()
def split(
    suite: Annotated[str, typer.Argument(metavar="SUITE", help="The suite's name, or a task file.")],
    seed: Annotated[int, typer.Option(help="Another seed makes other halves.")] = SPLIT_SEED,
    as_json: Json = False,
) -> None:
    """Split a suite into halves by template: write tips from runs of one, evaluate on the other.

    Only tips without taint in a half may be evaluated on it.
    """
    report = with_engine(lambda engine: engine.split_suite(suite_given(suite), seed))
    print_result(report, as_json, lambda: split_text(report))


def split_text(report: SplitReport) -> str:
    """Describe the halves in lines."""
    lines = [f"{report.suite}, seed {report.seed}"]
    for half, tasks, templates, runs, tips in (
        ("a", report.a, report.templates_a, report.runs_a, report.tips_a),
        ("b", report.b, report.templates_b, report.runs_b, report.tips_b),
    ):
        size = f"{len(tasks):,} tasks of {templates:,} templates"
        lines.append(f"  {half}: {size}, {runs:,} runs, {len(tips):,} tips tainted for it")
    both = sorted(set(report.tips_a) & set(report.tips_b))
    if both:
        lines.append(f"  tainted for both: {', '.join(both[:10])}{', …' if len(both) > 10 else ''}")
    half = "a" if report.seed == SPLIT_SEED else f"a@{report.seed}"
    lines.append(f"  tasks of a half: sitelore suite show {report.suite} --subset {half}")
    return "\n".join(lines)
