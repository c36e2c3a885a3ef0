"""Tables of the comparison: rates, differences, pairs, credit of tips, cost, learning curve, those of the paper."""

from __future__ import annotations

import re
from collections import Counter

from app.engine.api.evaluation_api import Comparison, GroupTable, PairRow
from app.engine.evaluation.report.cells import ReportColumn as Col
from app.engine.evaluation.report.cells import ReportTable
from app.engine.evaluation.report.readings import arm_of, early_pairs, reading_of

RESULTS = ("won", "lost", "both", "neither", "undecided")
_FIGURE = re.compile(r"[-+\u2212]?[\d.,]+( ?%)?( \(.*\))?$|[-\u2013]?$")
"""A cell that holds a number, or none."""
_ARMS = (Col("arm", "Arm"), Col("against", "Against"))


def rates_table(comparison: Comparison) -> ReportTable:
    """Return the table of single rates."""
    return ReportTable(
        name="rates",
        title="Success rate of each arm",
        columns=(
            Col("arm", "Arm"),
            Col("tasks", "Tasks", "count"),
            Col("templates", "Templates", "count"),
            Col("mean", "Mean pass@1 (%)", "share"),
            Col("interval", "95 % interval by template", "shares"),
            Col("wilson", "Wilson interval", "shares"),
            Col("macro", "Mean of templates (%)", "share"),
            Col("all_of", "All repeats (%)", "share"),
            Col("best_of", "Best repeat (%)", "share"),
            Col("undecided", "Undecided", "count"),
        ),
        rows=tuple(
            (
                rate.name, rate.tasks, rate.templates, rate.mean, (rate.low, rate.high),
                (rate.wilson_low, rate.wilson_high), rate.macro, rate.all_of, rate.best_of, rate.undecided,
            )
            for rate in comparison.arms
        ),
        remark="The figure is the mean over repeats (pass@1). Best repeat counts a task as solved if any repeat"
        " solved it: it grows with the number of tries and is never the figure to report. The Wilson interval takes"
        " tasks of one template for independent, so it is too narrow; the interval by template is the one to trust.",
    )  # fmt: skip


def differences_table(comparison: Comparison) -> ReportTable:
    """Return the table of differences between arms."""
    early = early_pairs(comparison)
    return ReportTable(
        name="differences",
        title="Differences over the same tasks",
        columns=(
            *_ARMS,
            Col("group", "Tasks of"),
            Col("tasks", "Tasks", "count"),
            Col("templates", "Templates", "count"),
            Col("difference", "Difference (points)", "points"),
            Col("interval", "95 % interval", "ranges"),
            Col("reading", "Reading"),
            Col("p_sign_flip", "p (sign-flip)", "p"),
            Col("p_holm", "p (Holm)", "p"),
            Col("p_mcnemar_naive", "p (McNemar, naive)", "p"),
            Col("won", "Won", "count"),
            Col("lost", "Lost", "count"),
            Col("both", "Both", "count"),
            Col("neither", "Neither", "count"),
            Col("undecided", "Undecided", "count"),
        ),
        rows=tuple(
            (
                row.arm, row.against, row.group, row.tasks, row.templates, row.difference, (row.low, row.high),
                reading_of(row.low, row.high, row.templates, early=(row.arm, row.against) in early), row.p, row.p_holm,
                row.mcnemar_p, row.won, row.lost, row.both, row.neither, row.undecided,
            )
            for row in comparison.differences
        ),
        remark="Intervals and the sign-flip test treat the tasks of one template as one draw. Holm corrects p for"
        " looking at several sites and types. McNemar's test is shown for comparison with other work only: it ignores"
        " templates and is naive.",
        split_by=2,
    )  # fmt: skip


def pairs_table(comparison: Comparison) -> ReportTable:
    """Return the table of tasks in two arms."""
    return ReportTable(
        name="pairs",
        title="Every task in two arms",
        columns=(
            *_ARMS,
            Col("result", "Result"),
            Col("task", "Task"),
            Col("site", "Site"),
            Col("type", "Type"),
            Col("template", "Template"),
            Col("score", "Score", "number"),
            Col("score_against", "Score against", "number"),
            Col("tainted", "Tainted"),
            Col("intent", "Intent", "foreign"),
            Col("why", "Why", "foreign"),
            Col("why_against", "Why against", "foreign"),
            Col("runs", "Runs"),
            Col("runs_against", "Runs against"),
        ),
        rows=tuple(
            (
                pair.arm, pair.against, pair.result, pair.task, pair.site, pair.kind, pair.cluster, pair.score,
                pair.score_against, "yes" if pair.tainted else "no", pair.intent, pair.why, pair.why_against,
                " ".join(pair.runs), " ".join(pair.runs_against),
            )
            for pair in sorted_pairs(comparison)
        ),
        split_by=2,
        printed=False,
    )  # fmt: skip


def sorted_pairs(comparison: Comparison) -> list[PairRow]:
    """Return the pairs by arms, then by result; within, in their order."""
    arms = list(dict.fromkeys((pair.arm, pair.against) for pair in comparison.pairs))
    place = {result: at for at, result in enumerate(RESULTS)}
    return sorted(
        comparison.pairs,
        key=lambda pair: (arms.index((pair.arm, pair.against)), place.get(pair.result, len(RESULTS))),
    )


def pair_counts_table(comparison: Comparison) -> ReportTable:
    """Return how many tasks were won and lost."""
    counts = Counter((pair.arm, pair.against, pair.result) for pair in comparison.pairs)
    arms = dict.fromkeys((pair.arm, pair.against) for pair in comparison.pairs)
    return ReportTable(
        name="pair-counts",
        title="Tasks won and lost",
        columns=(*_ARMS, *(Col(result, result.capitalize(), "count") for result in RESULTS)),
        rows=tuple((*pair, *(counts[*pair, result] for result in RESULTS)) for pair in arms),
        remark="Won: solved by the first arm only; lost: by the other only.",
    )


def credits_table(comparison: Comparison) -> ReportTable:
    """Return the table of tips, those that hurt first, then by how much they help."""
    order = {"hurts": 0, "helps": 1, "no difference seen": 2}
    rows = sorted(
        comparison.credits,
        key=lambda row: (
            order.get(row.verdict, 3),
            row.difference if row.verdict == "hurts" else -row.difference,
            row.tip,
        ),
    )
    return ReportTable(
        name="tips",
        title="Credit of each tip",
        columns=(
            Col("tip", "Tip"),
            Col("text", "Text", "foreign"),
            Col("verdict", "Reading"),
            Col("difference", "Difference (points)", "points"),
            Col("interval", "95 % interval", "ranges"),
            Col("retrieved", "Tasks shown in", "count"),
            Col("followed", "Followed in", "count"),
            Col("templates", "Templates", "count"),
            Col("method", "Method"),
        ),
        rows=tuple(
            (
                row.tip, row.text, row.verdict, row.difference, (row.low, row.high), row.retrieved, row.followed,
                row.templates, row.method,
            )
            for row in rows
        ),
        remark="Tips that hurt stand first. The difference is that of the tasks in which the tip was shown, with it"
        " and without it; several tips shown together share what they did.",
    )  # fmt: skip


def cost_table(comparison: Comparison) -> ReportTable:
    """Return what a run of each arm costs."""
    return ReportTable(
        name="cost",
        title="Cost of a run, by arm",
        columns=(
            Col("arm", "Arm"),
            Col("steps", "Steps", "number"),
            Col("seconds", "Seconds", "seconds"),
            Col("tokens", "Tokens", "number"),
            Col("money_usd", "US dollars", "money"),
            Col("false_done", "Said done, but failed", "count"),
            Col("unasked", "Changes nobody asked for", "count"),
        ),
        rows=tuple(
            (rate.name, rate.steps, rate.seconds, rate.tokens, rate.money, rate.false_done, rate.unasked)
            for rate in comparison.arms
        ),
        remark="Means of a run; the last two columns count runs and changes.",
    )


def cost_differences_table(comparison: Comparison) -> ReportTable:
    """Return how much more a run of one arm costs than one of another."""
    return ReportTable(
        name="cost-differences",
        title="Difference in cost, over the same tasks",
        columns=(
            *_ARMS,
            Col("steps", "Steps", "number"),
            Col("seconds", "Seconds", "seconds"),
            Col("tokens", "Tokens", "number"),
            Col("money_usd", "US dollars", "money"),
        ),
        rows=tuple(
            (row.arm, row.against, row.steps, row.seconds, row.tokens, row.money)
            for row in comparison.differences
            if row.group == "all"
        ),
        remark="Mean differences of a run; below zero means that the first arm needs less.",
    )


def learning_table(comparison: Comparison) -> ReportTable:
    """Return success over the number of tips."""
    rated = [(rate, arm) for rate in comparison.arms if rate.tasks and (arm := arm_of(comparison, rate))]
    return ReportTable(
        name="learning-curve",
        title="Success over the number of tips",
        columns=(
            Col("maps", "Interaction graphs"),
            Col("tips", "Tips", "count"),
            Col("arm", "Arm"),
            Col("tasks", "Tasks", "count"),
            Col("mean", "Mean pass@1 (%)", "share"),
            Col("interval", "95 % interval by template", "shares"),
        ),
        rows=tuple(
            (
                "with" if arm.maps else "without",
                arm.tips,
                rate.name,
                rate.tasks,
                rate.mean,
                (rate.low, rate.high),
            )
            for rate, arm in sorted(rated, key=lambda pair: (pair[1].maps, pair[1].tips))
        ),
    )


def group_tables(comparison: Comparison) -> list[ReportTable]:
    """Return the tables that come with the comparison as texts: site, type, modality, tool use, errors."""
    used = set[str]()
    return [_group_table(table, used) for table in comparison.tables]


def _group_table(table: GroupTable, used: set[str]) -> ReportTable:
    words = re.sub("[^a-z0-9]+", "-", table.title.lower()).strip("-")[:48].strip("-") or "untitled"
    name = next(
        name for n in range(len(used) + 1) if (name := f"table-{words}{f'-{n}' * (n > 0)}") not in used
    )
    used.add(name)
    width = len(table.heads)
    rows = tuple((*row, *[""] * width)[:width] for row in table.rows)
    return ReportTable(
        name=name,
        title=table.title,
        columns=tuple(
            Col(
                head,
                head[:1].upper() + head[1:] if at == 0 else head,
                "number" if at and all(_FIGURE.match(row[at]) for row in rows) else "text",
            )
            for at, head in enumerate(table.heads)
        ),
        rows=rows,
    )
