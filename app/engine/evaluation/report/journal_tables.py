"""Tables of the journals: what was compared, what was done, why runs are undecided, every episode."""

from __future__ import annotations

import shlex
import time
from collections import Counter, defaultdict
from collections.abc import Sequence

from app.engine.core.evaluation.episode import EpisodeRecord, EvaluationHead, EvaluationJournal
from app.engine.core.evaluation.task_score import ScoreVerdict
from app.engine.evaluation.report.cells import CellValue, ReportTable
from app.engine.evaluation.report.cells import ReportColumn as Col

_BUDGETS = ("max_seconds", "max_tokens", "max_money")
_FLAGS = ("infeasible_is_na", "off_site_is_zero")
_EXAMPLES = 5


def arms_table(heads: Sequence[EvaluationHead]) -> ReportTable:
    """Return the arms of all evaluations."""
    return ReportTable(
        name="arms",
        title="Arms",
        columns=(
            Col("evaluation", "Evaluation"),
            Col("arm", "Arm"),
            Col("kb", "Knowledge base"),
            Col("kb_sha256", "SHA-256", "hash"),
            Col("tips", "Tips", "count"),
            Col("maps", "Interaction graphs"),
        ),
        rows=tuple(
            (head.name, arm.name, arm.kb, arm.kb_sha256, arm.tips, "with" if arm.maps else "without")
            for head in heads
            for arm in head.arms
        ),
    )


def settings_table(heads: Sequence[EvaluationHead]) -> ReportTable:
    """Return all settings, one row each and one column an evaluation."""
    facts = [_facts(head) for head in heads]
    names = list(dict.fromkeys(name for fact in facts for name in fact))
    return ReportTable(
        name="settings",
        title="Settings",
        columns=(
            Col("setting", "Setting"),
            *(Col(f"evaluation_{at}", head.name, "foreign") for at, head in enumerate(heads, 1)),
        ),
        rows=tuple((name, *(fact.get(name, "") for fact in facts)) for name in names),
    )


def _facts(head: EvaluationHead) -> dict[str, str]:
    return {
        "Suite": head.suite,
        "Suite SHA-256": head.suite_sha256,
        "Dialect": head.dialect,
        "Tasks": f"{len(head.tasks):,}",
        "Tainted tasks": f"{len(head.tainted):,}",
        "Repeats": str(head.repeats),
        "Policy": head.policy,
        "Model": head.model or "none",
        "Prompts SHA-256": head.prompts_sha256 or "none",
        "Steps at most": str(head.max_steps),
        "Seed of the order": str(head.seed),
        "Begun": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(head.begun_at)) if head.begun_at > 0 else "",
        **{f"Option {name}": value for name, value in head.options if _unless_none(value)},
        **{f"Version of {name}": value for name, value in head.versions},
        **{f"Machine: {name}": value for name, value in head.machine},
    }


def command_line(head: EvaluationHead) -> str:
    """Return the command that does an evaluation again; a shell may be given it as it is."""
    stored = dict(head.options)
    kbs = [arm.kb for arm in head.arms] or ["none"]
    maps = {arm.maps for arm in head.arms}
    filters = {
        "--tasks": stored.get("ids", ""),
        "--site": stored.get("sites", ""),
        "--kind": stored.get("kinds", ""),
        "--template": stored.get("templates", ""),
    }
    options = [
        *((name, part) for name, parts in filters.items() for part in parts.split(", ")),
        ("--subset", stored.get("subset", "")),
        ("--policy", head.policy),
        ("--kb", next((kb for kb in kbs if kb != kbs[0]), kbs[0])),
        ("--against", kbs[0]),
        ("--maps", "both" if len(maps) > 1 else "yes" if True in maps else ""),
        ("--repeats", str(head.repeats)),
        ("--dialect", head.dialect),
        ("--max-steps", str(head.max_steps)),
        *((f"--{name.replace('_', '-')}", _unless_none(stored.get(name, ""))) for name in _BUDGETS),
        *(("--without", tip) for tip in stored.get("leave_out", "").split(", ")),
        ("--tainted", "mark" if head.tainted else ""),
        ("--seed", str(head.seed)),
        ("--name", head.name),
    ]
    flags = [f"--{name.replace('_', '-')}" for name in _FLAGS if stored.get(name) == "yes"]
    words = [word for name, value in options if value for word in (name, value)]
    return shlex.join(["sitelore", "eval", "run", stored.get("suite_file") or head.suite, *words, *flags])


def _unless_none(value: str) -> str:
    return "" if value in ("", "0", "0.0", "no") else value


def progress_table(journals: Sequence[EvaluationJournal]) -> ReportTable:
    """Return what was done of what was planned, and what it took."""
    return ReportTable(
        name="episodes-by-arm",
        title="Episodes planned and done",
        columns=(
            Col("evaluation", "Evaluation"),
            Col("arm", "Arm"),
            Col("planned", "Planned", "count"),
            Col("done", "Done", "count"),
            Col("undecided", "Undecided", "count"),
            Col("errors", "Errors", "count"),
            Col("tried_twice", "Tried twice", "count"),
            Col("hours", "Hours of runs", "number"),
            Col("overhead", "Evaluating (% on top)", "share"),
            Col("tokens", "Tokens", "count"),
            Col("money_usd", "US dollars", "money"),
        ),
        rows=tuple(row for journal in journals for row in _progress(journal)),
        remark="An episode is one task in one arm, once. Undecided ones count neither as solved nor as failed.",
    )


def _progress(journal: EvaluationJournal) -> list[tuple[CellValue, ...]]:
    by_arm = defaultdict[str, list[EpisodeRecord]](list)
    for record in journal.records:
        by_arm[record.key.arm].append(record)
    planned = len(journal.head.tasks) * journal.head.repeats
    rows = list[tuple[CellValue, ...]]()
    for arm in journal.head.arms:
        records = by_arm[arm.name]
        seconds = sum(record.seconds for record in records)
        costs = [record.money for record in records]
        known = [cost for cost in costs if cost is not None]
        rows.append(
            (
                journal.head.name, arm.name, planned, len(records),
                sum(_state(record) == "undecided" for record in records),
                sum(_state(record) == "error" for record in records),
                sum(record.attempt > 1 for record in records),
                seconds / 3600,
                sum(record.overhead for record in records) / seconds if seconds else None,
                sum(record.tokens_in + record.tokens_out for record in records),
                sum(known) if len(known) == len(costs) else None,
            )
        )  # fmt: skip
    return rows


def _state(record: EpisodeRecord) -> str:
    if record.error:
        return "error"
    return "undecided" if record.verdict is ScoreVerdict.UNDECIDED else ""


def reasons_table(journals: Sequence[EvaluationJournal]) -> ReportTable:
    """Return why episodes are undecided or ended with an error, the most frequent first."""
    reasons = defaultdict[tuple[str, str], list[str]](list)
    for journal in journals:
        for record in journal.records:
            if state := _state(record):
                reasons[state, record.error or record.why or "no reason was recorded"].append(record.key.task)
    rows = sorted(reasons.items(), key=lambda item: (-len(item[1]), item[0]))
    return ReportTable(
        name="undecided",
        title="Undecided episodes and errors, by reason",
        columns=(
            Col("state", "State"),
            Col("reason", "Reason", "foreign"),
            Col("episodes", "Episodes", "count"),
            Col("tasks", "Tasks", "count"),
            Col("examples", "For example task"),
        ),
        rows=tuple(
            (state, reason, len(tasks), len(set(tasks)), ", ".join(list(dict.fromkeys(tasks))[:_EXAMPLES]))
            for (state, reason), tasks in rows
        ),
    )


def tainted_tasks(heads: Sequence[EvaluationHead]) -> list[str]:
    """Return the ids of tainted tasks, each once."""
    return list(dict.fromkeys(task for head in heads for task in head.tainted))


def outcomes_table(journals: Sequence[EvaluationJournal]) -> ReportTable:
    """Return the outcomes of runs by verdict, and by arm."""
    counts = Counter(
        (record.key.arm, record.outcome or "no run", record.verdict.value)
        for journal in journals
        for record in journal.records
    )
    arms = list(dict.fromkeys(arm for arm, _, _ in counts))
    return ReportTable(
        name="outcomes",
        title="How runs ended",
        columns=(
            Col("outcome", "The run ended"),
            Col("verdict", "Verdict"),
            *(Col(arm, arm, "count") for arm in arms),
        ),
        rows=tuple(
            (outcome, verdict, *(counts[arm, outcome, verdict] for arm in arms))
            for outcome, verdict in sorted({(outcome, verdict) for _, outcome, verdict in counts})
        ),
    )


def episodes_table(journals: Sequence[EvaluationJournal]) -> ReportTable:
    """Return every episode, for programs."""
    columns = tuple(
        Col(key, key)
        for key in (
            "evaluation", "task", "arm", "repeat", "template", "sites", "type", "required_obs", "run", "verdict",
            "score", "outcome", "claimed", "unasked", "steps", "seconds", "overhead", "tokens_in", "tokens_out",
            "money_usd", "tips_shown", "tips_followed", "flags", "browser", "worker", "attempt", "finished_at", "why",
            "error",
        )
    )  # fmt: skip
    return ReportTable(
        name="episodes",
        title="Every episode",
        columns=columns,
        rows=tuple(_episode(journal.head.name, record) for journal in journals for record in journal.records),
        printed=False,
    )


def _episode(name: str, record: EpisodeRecord) -> tuple[CellValue, ...]:
    return (
        name, record.key.task, record.key.arm, record.key.repeat, record.cluster, " ".join(record.sites),
        record.kind, record.required_obs, record.run, record.verdict.value, record.score, record.outcome,
        "yes" if record.claimed else "no", record.unasked, record.steps, record.seconds, record.overhead,
        record.tokens_in, record.tokens_out, record.money, " ".join(use.tip for use in record.tips),
        " ".join(use.tip for use in record.tips if use.followed), " ".join(record.flags), record.browser, record.worker,
        record.attempt, record.finished_at, record.why, record.error,
    )  # fmt: skip
