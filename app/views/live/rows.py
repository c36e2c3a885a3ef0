"""Rows of ledger, timeline, flags, tips and runs in Live."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication

from app.models.live.knowledge import due_words, follow_words, vote_words
from app.models.live.run_list import clock_words, flag_words, is_queued, need_words, state_words
from app.models.live.wall_figures import is_near_limit, money_words, run_token_words
from app.models.live.wall_list import GroupHeading
from app.views.knowledge.tip_rows import ROUTE_ROLE, ROUTE_SIGN
from app.views.live.state_marks import state_role, state_sign
from app.views.widgets.rows import RowContent, RowStyle, Span, SpanLine, Text, line, plain, small
from app.views.widgets.signs import (
    SEVERITY_ROLE,
    TROUBLE_ROLE,
    diamond_sign,
    icon_sign,
    severity_sign,
    tick_sign,
    trouble_sign,
)

if TYPE_CHECKING:
    from app.engine.core.supervision import LiveRow
    from app.models.live.flags import LiveFlag
    from app.models.live.knowledge import TipAtStep
    from app.models.live.run_list import RunList
    from app.models.live.timeline import TimelineEntry
    from app.models.live.wall_list import WallRow
    from app.models.review.run_memory import MemoryLine

PLAN_SIGNS = {
    "goal": ("◎", "accent"),
    "subgoal": ("▸", "accent"),
    "active": ("▸", "accent"),
    "open": ("○", "text"),
    "done": ("✓", "ok"),
    "pruned": ("✕", "muted"),
}
"""Sign and colour role of a plan line by its state or kind."""

MEMORY = TIP = RowStyle(margins=(12, 4, 10, 4))
PLAN = RowStyle(margins=(10, 2, 10, 2), gutter=18)
TIMELINE = RowStyle(margins=(8, 4, 8, 4), gutter=24)
FLAG = RowStyle(margins=(12, 4, 10, 4), gutter=18)
RUN = RowStyle(margins=(10, 4, 10, 4), gutter=24, height=44, ruled=True)


def memory_row(entry: MemoryLine) -> RowContent:
    """An entry of the ledger; those of the last step are marked as new."""
    new = small(_tr("new"), "ok", bold=True) if entry.new else None
    head = line(small(entry.role, "accent", bold=True), new, small(entry.more))
    return RowContent(lines=(head, Text(entry.text)), bar="ok" if entry.new else "")


def plan_row(entry: MemoryLine) -> RowContent:
    """A subgoal with the sign of its state."""
    sign, role = PLAN_SIGNS.get(entry.more or entry.role, ("○", "muted"))
    text = Text(entry.text, "muted" if role == "muted" else "text")
    return RowContent(lines=(text,), sign=plain(sign, role, bold=True), bar="ok" if entry.new else "")


def timeline_row(entry: TimelineEntry) -> RowContent:
    """A step with number, action, effect, reason and flag; or an intervention before it."""
    if entry.action:
        head = line(small(entry.author, "live", bold=True), small(entry.action))
        return RowContent(
            lines=(head, Text(entry.words)) if entry.words else (head,), sign=Span(sign=diamond_sign("live"))
        )
    lines: list[SpanLine | Text] = [Text(entry.words)]
    if entry.effect:
        role = TROUBLE_ROLE.get(entry.trouble, "muted")
        sign = trouble_sign(entry.trouble) if entry.trouble else None
        lines.append(line(small(entry.effect, role, sign=sign, size=(9, 9))))
    if entry.why:
        lines.append(line(small(entry.why)))
    if entry.flag:
        role = SEVERITY_ROLE[entry.severity]
        lines.append(line(small(entry.flag, role, sign=severity_sign(entry.severity), size=(9, 9))))
    return RowContent(
        lines=tuple(lines), sign=small(str(entry.step), "live" if entry.by_hand else "muted", bold=True)
    )


def flag_row(flag: LiveFlag) -> RowContent:
    """Severity, message, origin, and the operator's verdict."""
    verdict = None
    if flag.right is not None:
        role = "ok" if flag.right else "fail"
        sign = tick_sign(role, crossed=not flag.right)
        verdict = small(flag.verdict, role, bold=True, sign=sign, size=(9, 8))
    message = Text(flag.message, "muted" if flag.right is False else "text")
    return RowContent(
        sign=Span(sign=severity_sign(flag.severity)), lines=(message, line(small(flag.origin), verdict))
    )


def tip_row(tip: TipAtStep) -> RowContent:
    """Route, score and id; the text; its next step; whether it was followed, muted, pinned, voted on or cut."""
    score = f"{ROUTE_SIGN.get(tip.route, '')} {tip.route} {tip.score:.2f}".strip()
    others = [f"{name} {value:.2f}" for name, value in tip.routes.items() if name != tip.route]
    head = line(
        small(
            score if tip.route else _tr("by hand"),
            "muted" if tip.cut else ROUTE_ROLE.get(tip.route, "live"),
            bold=True,
        ),
        small(" · ".join(part for part in (tip.tip, tip.kind, *others) if part)),
    )
    foot = line(*(small(words, role, bold=True) for words, role in _remarks(tip)), _followed(tip))
    text = Text(tip.text, "muted" if tip.cut or tip.stance.value == "muted" else "text")
    due = line(_due(tip))
    return RowContent(lines=(head, text, *(below for below in (due, foot) if below.spans)))


def run_row(run: LiveRow, runs: RunList) -> RowContent:
    """State and task with the run's number; below, state, need and time."""
    clock = "" if is_queued(run) else clock_words(runs.elapsed(run))
    spent = money_words(run) or run_token_words(run)
    near = is_near_limit(run)
    clock = " · ".join(part for part in (spent, clock) if part)
    need = need_words(run) or flag_words(run) or run.words or run.why
    return RowContent(
        sign=Span(sign=state_sign(run), size=(16, 16)),
        lines=(
            line(plain(run.intent), right=small(str(runs.numbers.of(run.run)))),
            line(
                small(state_words(run), state_role(run), gap=6),
                small(need),
                right=small(clock, "warn", sign=severity_sign("warning"), size=(9, 9))
                if near
                else small(clock),
            ),
        ),
    )


def wall_row(row: WallRow, runs: RunList) -> RowContent:
    """A run, or the heading of a group."""
    if not isinstance(row, GroupHeading):
        return run_row(row, runs)
    sign = icon_sign("chevron-right" if row.folded else "chevron-down", "muted")
    return RowContent(
        sign=Span(sign=sign, size=(16, 16)),
        lines=(line(plain(row.title, bold=True)), line(small(row.counts), right=small(row.spent))),
        tint="hover",
    )


def _remarks(tip: TipAtStep) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    if tip.cut:
        found.append((_tr("cut: {0}").format(tip.cut), "warn"))
    if tip.stance.value and tip.stance.value not in tip.cut:
        found.append((_tr("{0} for this run").format(tip.stance.value), "live"))
    if vote_words(tip):
        found.append((vote_words(tip), "ok" if tip.vote > 0 else "fail"))
    return found


def _due(tip: TipAtStep) -> Span:
    waits = tip.due is None or bool(tip.due.why) or not tip.due.applies
    return small(due_words(tip), "muted" if waits else "accent")


def _followed(tip: TipAtStep) -> Span | None:
    words, role = follow_words(tip), "ok" if tip.follows else "muted"
    sign = tick_sign(role, crossed=not tip.follows)
    return small(words, role, bold=True, sign=sign, size=(9, 8)) if words else None


def _tr(text: str) -> str:
    return QCoreApplication.translate("live", text)
