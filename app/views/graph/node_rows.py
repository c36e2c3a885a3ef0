"""Rows of elements, transitions, runs, search hits and path steps, and the cells of the table of states."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QPointF, QRectF

from app.models.graph.map_graph import is_untipped, marks_of
from app.models.graph.node_lists import score_words
from app.models.graph.path import ROLES, SIGNS
from app.models.graph.state_titles import path_of
from app.views.graph.marks import SHOWN, draw_dot
from app.views.graph.status_marks import (
    STATUS_ROLE,
    TRANSITION_ROLE,
    VERDICT_ROLE,
    draw_status,
    draw_verdict,
)
from app.views.widgets.rows import RowContent, RowList, RowStyle, Span, SpanLine, line, plain, small
from app.views.widgets.signs import score_sign

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from PySide6.QtGui import QPainter

    from app.engine.api.graph_api import NodeHit, NodeRow
    from app.models.graph.block_list import BlockListRow
    from app.models.graph.node_lists import ElementRow, PassingRun, TransitionRow
    from app.models.graph.path import PathStep
    from app.views.frame.theme import Theme

TWO_LINES = RowStyle(margins=(10, 3, 8, 3), gutter=18, height=39)
HIT = RowStyle(margins=(12, 4, 10, 4), height=44)
PATH_STEP = RowStyle(margins=(10, 4, 10, 4), gutter=24)


class NodeRows(RowList):
    """A list with rows of equal height, so that thousands of them cost no more than the visible ones."""

    def __init__(self, theme: Theme, describe: Callable[[Any], RowContent], name: str) -> None:
        super().__init__(theme, describe, name, TWO_LINES)
        self.setUniformItemSizes(True)
        self.setMinimumHeight(theme.px(60))


def element_row(row: ElementRow) -> RowContent:
    """Status, role and name; below, the reason."""
    role = STATUS_ROLE[row.status]

    def sign(painter: QPainter, box: QRectF, theme: Theme) -> None:
        draw_status(painter, box, row.status, theme.color(role))

    return RowContent(
        sign=Span(sign=sign, size=(11, 11)),
        lines=(
            _named(row.element.role, row.name),
            line(small(row.why, "fail" if row.status == "failed" else "muted")),
        ),
    )


def transition_row(row: TransitionRow) -> RowContent:
    """Status, action and target; below, attempts, times and the last failure."""
    role = TRANSITION_ROLE[row.status]
    last = row.transition.last_divergence
    astray = bool(last) and row.status in ("warn", "fail")
    text = f"{row.numbers} · {last}" if astray else row.numbers
    arrow = "→" if row.outgoing else "←"
    return RowContent(
        sign=Span(sign=score_sign(row.status or "none", role), size=(11, 11)),
        lines=(
            _named(f"{row.transition.words}  {arrow}", row.title),
            line(small(text, role if astray else "muted")),
        ),
    )


def passing_run_row(row: PassingRun) -> RowContent:
    """Outcome, name and step; below, the task."""
    outcome = score_words(row)
    level = {"failed": "fail", "partly passed": "warn", "passed": "ok"}.get(outcome, "none")
    step = _tr("step {0}").format(row.step)
    sign = Span(sign=score_sign(level, level if level != "none" else "muted"), size=(11, 11))
    right = small(f"{outcome} · {step}" if row.scored else step)
    return RowContent(sign=sign, lines=(line(plain(row.run), right=right), line(small(row.intent))))


def block_list_row(row: BlockListRow) -> RowContent:
    """The rules' verdict, role and name; below, the rule and the reason."""
    role = VERDICT_ROLE[row.verdict]

    def sign(painter: QPainter, box: QRectF, theme: Theme) -> None:
        draw_verdict(painter, box, row.verdict, theme.color(role), theme.color("raised"))

    words = {"block": _tr("stopped"), "ask": _tr("asks"), "allow": "", "": ""}
    by = " · ".join(part for part in (row.rule, row.why) if part)
    return RowContent(
        sign=Span(sign=sign, size=(11, 11)),
        lines=(
            _named(row.element.role, row.name, words[row.verdict]),
            line(small(by or _tr("no matching rule"), role if row.rule else "muted")),
        ),
    )


def hit_row(hit: NodeHit) -> RowContent:
    """Title and score; below, address, the matched words and those that are not there."""
    words = ", ".join(hit.matched[:4])
    missing = _tr("not there: {0}").format(", ".join(hit.missing[:4])) if hit.missing else ""
    return RowContent(
        lines=(
            line(plain(hit.title or hit.url), right=small(f"{hit.score:.2f}")),
            line(
                small(path_of(hit.url), middle=True),
                right=small(" · ".join(part for part in (words, missing) if part), share=0.6),
            ),
        )
    )


def path_step_row(step: PathStep) -> RowContent:
    """Number, action and target; after navigation the verdict as sign and word, and what differed."""
    role = ROLES[step.verdict] if step.verdict else "muted"
    verdict = f"{SIGNS[step.verdict]} {step.verdict}" if step.verdict else ""
    lines = [
        line(plain(step.action), right=small(verdict, role, bold=True)),
        line(small(f"→ {step.to_title}"), right=small(f"{step.seconds:.1f} s")),
    ]
    if step.why:
        lines.append(line(small(step.why, role)))
    return RowContent(sign=small(str(step.number), "accent", bold=True), lines=tuple(lines))


def node_cell(row: NodeRow, column: str, text: str) -> Span:
    """A cell of the table of states; the title has the state's sign before it."""
    if column == "title":

        def sign(painter: QPainter, box: QRectF, theme: Theme) -> None:
            centre = QPointF(box.center().x(), box.center().y() + 1)
            radius = theme.px(2.5 if is_untipped(row) else 3.5)
            draw_dot(painter, theme, centre, radius, marks_of(row) & int(SHOWN))

        return plain(text, "muted" if row.gone else "text", sign=sign, size=(16, 12))
    role = "muted"
    if column == "failures" and row.failures:
        role = "fail"
    elif column == "tips" and row.tips:
        role = "warn" if row.suspect_tips else "accent"
    elif column == "tips" and row.failures:
        role = "fail"
    return small(text, role, middle=column == "url")


def _named(role: str, name: str, right: str = "") -> SpanLine:
    return line(small(role, share=0.5, gap=6), plain(name), right=small(right))


def _tr(text: str) -> str:
    return QCoreApplication.translate("map", text)
