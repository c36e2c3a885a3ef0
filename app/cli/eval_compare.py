"""``sitelore eval compare`` and ``eval power``: what an evaluation says, and what it could say before its first run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from app.cli.common import Json, print_note, print_result, table, with_engine
from app.engine.api.evaluation_api import (
    Comparison,
    ComparisonVerdict,
    DifferenceRow,
    RateRow,
    TipCreditRow,
)
from app.engine.api.tip_api import uplift_words

MAX_PAIRS = 40
"""Pairs that ended otherwise and are listed as text; ``--json`` has all pairs."""


def compare(
    folders: Annotated[
        list[Path], typer.Argument(metavar="DIR...", help="Folders of evaluations of one suite.")
    ],
    arm: Annotated[str, typer.Option(help="The arm that is looked at (default: every other one).")] = "",
    against: Annotated[
        str, typer.Option(help="The arm it is compared with (default: the one without knowledge).")
    ] = "",
    margin: Annotated[
        float, typer.Option(min=0.0, max=0.99, help="Difference below which arms are the same, as a share.")
    ] = 0.02,
    pairs: Annotated[bool, typer.Option("--pairs", help="Also list tasks that ended otherwise.")] = False,
    as_json: Json = False,
) -> None:
    """Compare arms over the tasks that they share: better, worse, the same, or not enough data."""
    where = [str(folder.expanduser().resolve()) for folder in folders]
    found: Comparison = with_engine(lambda engine: engine.compare_evaluations(where, arm, against, margin))
    print_result(found, as_json, lambda: comparison_text(found, pairs))
    if not as_json:
        for note in found.notes:
            print_note(note)


def power(
    templates: Annotated[int, typer.Option(min=1, help="Templates of the tasks.")] = 190,
    per_template: Annotated[float, typer.Option(min=1.0, help="Tasks of a template, on average.")] = 4.3,
    repeats: Annotated[int, typer.Option(min=1, help="Runs of each task in each arm.")] = 1,
    as_json: Json = False,
) -> None:
    """Show how large an effect so many templates could show, and how many an effect needs."""
    from app.engine.evaluation.statistics.planner import (  # late: it imports numpy
        PlanAssumptions,
        plan_power,
    )

    given = PlanAssumptions(per_template=per_template, repeats=repeats)
    plan = plan_power(templates, given)
    needed = dict(plan.templates_needed)
    body = {
        "templates": templates,
        "per_template": per_template,
        "repeats": repeats,
        "effects": [
            {"effect": effect, "power": round(chance, 4), "templates_for_80_percent": needed[effect]}
            for effect, chance in plan.power
        ],
        "assumed": {
            "correlation": given.correlation,
            "discordance": given.discordance,
            "run_share": given.run_share,
        },
    }
    rows = [
        (f"{100 * effect:.0f} points", f"{100 * chance:.0f} %", needed[effect])
        for effect, chance in plan.power
    ]
    heads = ("effect", f"chance to show it with {templates} templates", "templates for 80 %")
    print_result(body, as_json, lambda: table(rows, heads))
    if not as_json:
        print_note(
            f"Assumed: {100 * given.discordance:.0f} % of the tasks end otherwise in the other arm, tasks of a"
            f" template go together (correlation {given.correlation}), {100 * given.run_share:.0f} % of the"
            " difference of a task is chance of the single run."
        )


def comparison_text(found: Comparison, pairs: bool) -> str:
    """Describe a comparison: sentences first, then arms, groups and tips."""
    parts = [
        "\n".join(verdict_line(verdict) for verdict in found.verdicts),
        table([_rate_row(rate) for rate in found.arms], _RATE_HEADS),
        table([_difference_row(row) for row in found.differences], _DIFFERENCE_HEADS),
        table([_credit_row(row) for row in found.credits], _CREDIT_HEADS),
        *(f"{one.title}\n{table(one.rows, one.heads)}" for one in found.tables),
        _pairs_text(found) if pairs else "",
    ]
    return "\n\n".join(part for part in parts if part)


def verdict_line(verdict: ComparisonVerdict) -> str:
    """``akb against none: better by 9 points, ...``."""
    return f"{verdict.arm} against {verdict.against}: {verdict.sentence}"


_RATE_HEADS = (
    "arm",
    "tasks",
    "templates",
    "right",
    "95 % interval",
    "in all repeats",
    "in one at least",
    "by template",
    "undecided",
    "steps",
    "seconds",
)
_DIFFERENCE_HEADS = (
    "arm",
    "against",
    "group",
    "tasks",
    "templates",
    "difference",
    "95 % interval",
    "p",
    "p (Holm)",
    "p (McNemar, naive)",
    "won",
    "lost",
    "both",
    "neither",
)
_CREDIT_HEADS = ("tip", "uplift", "shown in", "followed in", "templates", "method", "verdict", "text")


def _rate_row(rate: RateRow) -> tuple[Any, ...]:
    return (
        rate.name,
        rate.tasks,
        rate.templates,
        _share(rate.mean),
        f"{_share(rate.low)} to {_share(rate.high)}",
        _share(rate.all_of),
        _share(rate.best_of),
        _share(rate.macro),
        rate.undecided,
        f"{rate.steps:.1f}",
        f"{rate.seconds:.1f}",
    )


def _difference_row(row: DifferenceRow) -> tuple[Any, ...]:
    return (
        row.arm,
        row.against,
        row.group,
        row.tasks,
        row.templates,
        f"{100 * row.difference:+.1f}",
        f"{100 * row.low:+.1f} to {100 * row.high:+.1f}",
        _chance(row.p),
        _chance(row.p_holm),
        _chance(row.mcnemar_p),
        row.won,
        row.lost,
        row.both,
        row.neither,
    )


def _credit_row(row: TipCreditRow) -> tuple[Any, ...]:
    return (
        row.tip,
        uplift_words(row),
        row.retrieved,
        row.followed,
        row.templates,
        row.method,
        row.verdict,
        row.text,
    )


def _pairs_text(found: Comparison) -> str:
    differing = [pair for pair in found.pairs if pair.result in ("won", "lost")]
    rows = [
        (pair.result, pair.task, pair.site, pair.kind, pair.intent, pair.why if pair.result == "lost" else "")
        for pair in differing[:MAX_PAIRS]
    ]
    more = f"\n{len(differing) - MAX_PAIRS} more: --json has them" if len(differing) > MAX_PAIRS else ""
    return table(rows, ("", "task", "site", "type", "intent", "why")) + more


def _share(value: float) -> str:
    return f"{100 * value:.1f} %"


def _chance(p: float) -> str:
    return f"{p:.3f}" if p >= 0.001 else "< 0.001"
