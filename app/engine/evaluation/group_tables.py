"""Tables by group, one column an arm: site, type, required observation, actions used, reasons, number of tips."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from statistics import fmean

from app.engine.api.evaluation_api import GroupTable, RateRow
from app.engine.evaluation.pooling import PooledEpisodes, TaskTraits, is_decided

NO_VERDICT = "no verdict yet"
MAX_ACTIONS = 30
"""Kinds of actions that the table of tool use names, those used most first."""


def group_tables(
    pooled: PooledEpisodes, rates: Sequence[RateRow], labels: Mapping[str, Sequence[str]]
) -> tuple[GroupTable, ...]:
    """Return the tables that say something: without groups, or without verdicts of people, there is none.

    ``labels`` are people's verdicts by run.
    """
    tables = (
        _by_trait(pooled, "Success by site (%)", "site", lambda traits: traits.site),
        _by_trait(pooled, "Success by type of task (%)", "type", lambda traits: traits.kind or "unknown"),
        _by_trait(
            pooled, "Success by required observation (%)", "observation", lambda traits: traits.modality
        ),
        _tool_use(pooled),
        _reasons(pooled, labels),
        _learning_curve(pooled, rates),
    )
    return tuple(table for table in tables if table.rows)


def _by_trait(
    pooled: PooledEpisodes, title: str, head: str, group_of: Callable[[TaskTraits], str]
) -> GroupTable:
    groups: dict[str, list[str]] = {}
    for task, traits in pooled.traits.items():
        if group := group_of(traits):
            groups.setdefault(group, []).append(task)
    names = _arm_names(pooled)
    return GroupTable(
        title=title,
        heads=(head, "tasks", *names),
        rows=tuple(
            (group, str(len(tasks)), *(_success(pooled, name, tasks) for name in names))
            for group, tasks in sorted(groups.items())
        ),
    )


def _success(pooled: PooledEpisodes, arm: str, tasks: Sequence[str]) -> str:
    outcomes = pooled.outcomes[arm]
    rates = [rate for task in tasks if task in outcomes and (rate := outcomes[task].rate) is not None]
    return f"{100 * fmean(rates):.1f}" if rates else ""


def _tool_use(pooled: PooledEpisodes) -> GroupTable:
    """Return the share of episodes that did an action at least once, and how many of these were right."""
    episodes: Counter[str] = Counter()
    used: Counter[tuple[str, str]] = Counter()
    right: Counter[tuple[str, str]] = Counter()
    decided: Counter[tuple[str, str]] = Counter()
    for arm, tasks in pooled.outcomes.items():
        for record in (record for task in tasks.values() for record in task.records if not record.error):
            episodes[arm] += 1
            for action in set(record.actions):
                used[arm, action] += 1
                decided[arm, action] += is_decided(record)
                right[arm, action] += record.verdict == "pass"
    total: Counter[str] = Counter()
    for (_, action), count in used.items():
        total[action] += count

    def cell(arm: str, action: str) -> str:
        share = f"{100 * used[arm, action] / episodes[arm]:.0f}" if episodes[arm] else "0"
        if not decided[arm, action]:
            return share
        return f"{share} (right: {100 * right[arm, action] / decided[arm, action]:.0f})"

    names = _arm_names(pooled)
    return GroupTable(
        title="Share of runs that used an action, and of these the share that was right (%)",
        heads=("action", *names),
        rows=tuple(
            (action, *(cell(name, action) for name in names)) for action, _ in total.most_common(MAX_ACTIONS)
        ),
    )


def _reasons(pooled: PooledEpisodes, labels: Mapping[str, Sequence[str]]) -> GroupTable:
    """Return how many failed runs people gave each verdict; empty where nobody has judged one."""
    counts: dict[str, Counter[str]] = {}
    for arm, tasks in pooled.outcomes.items():
        for record in (record for task in tasks.values() for record in task.records):
            if record.verdict == "fail" and is_decided(record):
                for label in set(labels.get(record.run, ())) or {NO_VERDICT}:
                    counts.setdefault(label, Counter())[arm] += 1
    names = _arm_names(pooled)
    ordered = sorted(counts, key=lambda label: (label == NO_VERDICT, -counts[label].total(), label))
    return GroupTable(
        title="Reasons of failed runs, by people's verdicts",
        heads=("reason", *names),
        rows=tuple((label, *(str(counts[label][name]) for name in names)) for label in ordered)
        if set(counts) - {NO_VERDICT}
        else (),
    )


def _learning_curve(pooled: PooledEpisodes, rates: Sequence[RateRow]) -> GroupTable:
    """Return success over the number of tips, where there are three numbers of them or more."""
    by_name = {rate.name: rate for rate in rates}
    rows: list[tuple[str, ...]] = []
    for maps in (False, True):
        arms = sorted(
            (arm for arm in pooled.arms if arm.maps is maps and by_name[arm.name].tasks),
            key=lambda arm: (arm.tips, arm.name),
        )
        if len({arm.tips for arm in arms}) < 3:
            continue
        for arm in arms:
            rate = by_name[arm.name]
            interval = f"{100 * rate.low:.1f} to {100 * rate.high:.1f}"
            rows.append((str(arm.tips), arm.name, f"{100 * rate.mean:.1f}", interval))
    return GroupTable(
        title="Learning curve: success over the number of tips (%)",
        heads=("tips", "arm", "success", "95 % interval"),
        rows=tuple(rows),
    )


def _arm_names(pooled: PooledEpisodes) -> list[str]:
    return [arm.name for arm in pooled.arms]
