"""Rows and cells of the Evaluate perspective.  Nothing is coloured good or bad before an interval says so."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF

from app.models.common.translate import tr
from app.models.evaluate.evaluation_list import RUNNING, UNREADABLE, error_count, progress_words
from app.models.evaluate.figures import count_words
from app.models.evaluate.rescoring_model import agreement_of
from app.models.evaluate.suites_model import suite_problems
from app.views.widgets.rows import RowContent, RowStyle, Span, Text, line, plain, small
from app.views.widgets.signs import Sign, draw_tick, icon_sign

if TYPE_CHECKING:
    from app.engine.api.evaluation_api import (
        DifferenceRow,
        EvaluationRow,
        PairRow,
        RescoredRun,
        SuiteRow,
        SuiteTaskRow,
        TipCreditRow,
    )
    from app.engine.core.evaluation.task_score import SubCheck
    from app.models.evaluate.evaluation_result import ArmLine, ErrorLine
    from app.views.frame.theme import Theme

LIST = RowStyle(margins=(12, 5, 8, 5), height=44)
ARM = RowStyle(margins=(0, 4, 0, 4))
ERROR = RowStyle(margins=(0, 3, 0, 3))
CHECK = RowStyle(margins=(0, 4, 0, 6), ruled=True)

STATE_ROLE = {RUNNING: "live", "stopped": "warn", "done": "muted", UNREADABLE: "fail"}
CREDIT_ROLE = {"helps": "ok", "hurts": "fail"}
AGREEMENT_ROLE = {"false pass": "fail", "false fail": "warn"}


def suite_row(row: SuiteRow) -> RowContent:
    """Name, with a sign where answers are hidden; below its size, dialect and number of problems."""
    problems = len(suite_problems(row))
    words = tr("1 problem") if problems == 1 else tr("{0} problems").format(problems)
    blind = (
        small(tr("blind"), sign=icon_sign("eye-off-outline", "muted"), size=(12, 12)) if row.blind else None
    )
    size = tr("{0} tasks · {1} templates · {2}").format(
        count_words(row.tasks), count_words(row.templates), row.dialect
    )
    return RowContent(
        lines=(
            line(plain(row.name), right=blind),
            line(small(size), right=small(f"! {words}", "warn") if problems else None),
        )
    )


def evaluation_row(row: EvaluationRow) -> RowContent:
    """Name and state; below how far it is, and its errors."""
    state = small(tr(row.state), STATE_ROLE.get(row.state, "muted"), sign=_state_sign(row.state))
    facts = progress_words(row) if row.episodes else row.note
    return RowContent(
        lines=(
            line(plain(row.name), right=state),
            line(
                small(f"{facts} · {row.suite}" if row.episodes else facts),
                right=small(f"! {error_count(row.errors)}", "warn") if row.errors else None,
            ),
        )
    )


def arm_row(row: ArmLine) -> RowContent:
    """Name and rate, what it may use, what a run of it costs."""
    return RowContent(
        lines=(
            line(plain(row.name, bold=True), right=plain(row.rate) if row.rate else None),
            line(small(row.facts, middle=True), right=small(row.interval) if row.interval else None),
            line(small(row.cost)),
        )
    )


def error_row(row: ErrorLine) -> RowContent:
    times = tr("once, in {1}") if row.count == 1 else tr("{0} times, first in {1}")
    return RowContent(lines=(Text(row.sentence), line(small(times.format(row.count, row.example)))))


def check_row(value: tuple[int, SubCheck]) -> RowContent:
    """The kind of the comparison and how it came out; what was expected, what was found, why."""
    check = value[1]
    score = tr("undecided") if check.score is None else f"{check.score:.2g}"
    lines = [
        line(small(check.evaluator, bold=True), right=small(score)),
        Text(tr("expected {0}").format(check.expected)),
        Text(tr("found {0}").format(check.found or tr("nothing")), "muted"),
    ]
    if check.why:
        lines.append(Text(check.why))
    return RowContent(lines=tuple(lines))


def pair_cell(row: PairRow, column: str, text: str) -> Span:
    if column == "result":
        return plain(text, sign=result_sign(row.result), size=(11, 11))
    if column == "tainted":
        return small(text, "warn")
    return plain(text) if column in ("intent", "score", "against", "task") else small(text)


def difference_cell(row: DifferenceRow, column: str, text: str) -> Span:
    return plain(text, bold=row.group == "all" and column == "group")


def credit_cell(row: TipCreditRow, column: str, text: str) -> Span:
    if column == "verdict":
        role = CREDIT_ROLE.get(row.verdict, "muted")
        return small(text, role, sign=credit_sign(row.verdict), size=(10, 10))
    return plain(text) if column in ("text", "difference") else small(text, middle=column == "tip")


def rescored_cell(row: RescoredRun, column: str, text: str) -> Span:
    if column == "agreement":
        agreement = agreement_of(row)
        sign = {"agrees": "both", "false pass": "won", "false fail": "lost"}.get(agreement, "undecided")
        return plain(text, AGREEMENT_ROLE.get(agreement, "text"), sign=result_sign(sign), size=(11, 11))
    return plain(text) if column in ("task", "recorded", "score") else small(text, middle=column == "run")


def task_cell(row: SuiteTaskRow, column: str, text: str) -> Span:
    return plain(text) if column in ("id", "intent", "expected") else small(text)


def result_sign(result: str) -> Sign:
    """Two halves, the arm at the left and the other at the right, full where solved; a ring for undecided ones."""

    def draw(painter: QPainter, box: QRectF, theme: Theme) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(theme.color("muted"), 1.2))
        inner = box.adjusted(1, 1, -1, -1)
        if result not in ("won", "lost", "both", "neither"):
            painter.setPen(QPen(theme.color("muted"), 1.2, Qt.PenStyle.DotLine))
            painter.drawEllipse(inner)
            return
        for begins, full in ((0.0, result in ("won", "both")), (0.5, result in ("lost", "both"))):
            half = QRectF(
                inner.left() + begins * inner.width(), inner.top(), inner.width() / 2, inner.height()
            )
            if full:
                painter.fillRect(half, theme.color("muted"))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(inner)

    return draw


def credit_sign(verdict: str) -> Sign:
    """A triangle up for a tip that helps, down for one that hurts, a line or a dotted ring for the others."""

    def draw(painter: QPainter, box: QRectF, theme: Theme) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        color = theme.color(CREDIT_ROLE.get(verdict, "muted"))
        if verdict in CREDIT_ROLE:
            draw_triangle(painter, box.adjusted(1, 1, -1, -1), color, up=verdict == "helps")
            return
        dotted = verdict == "not enough data"
        painter.setPen(QPen(color, 1.4, Qt.PenStyle.DotLine if dotted else Qt.PenStyle.SolidLine))
        if dotted:
            painter.drawEllipse(box.adjusted(1, 1, -1, -1))
        else:
            middle = box.center()
            painter.drawLine(QPointF(box.left() + 1, middle.y()), QPointF(box.right() - 1, middle.y()))

    return draw


def draw_triangle(painter: QPainter, box: QRectF, color: QColor, *, up: bool) -> None:
    tip = QPointF(box.center().x(), box.top() if up else box.bottom())
    base = box.bottom() if up else box.top()
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(color)
    painter.drawPolygon(QPolygonF([tip, QPointF(box.right(), base), QPointF(box.left(), base)]))


def _state_sign(state: str) -> Sign:
    """A full disc for running, a square for stopped, a tick for done, a cross for unreadable."""

    def draw(painter: QPainter, box: QRectF, theme: Theme) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        color = theme.color(STATE_ROLE.get(state, "muted"))
        inner = box.adjusted(1.5, 1.5, -1.5, -1.5)
        painter.setPen(QPen(color, 1.6))
        if state == RUNNING:
            painter.setBrush(color)
            painter.drawEllipse(inner)
        elif state == "stopped":
            painter.setBrush(color)
            painter.drawRect(inner)
        elif state == "done":
            draw_tick(painter, inner)
        else:
            painter.drawLine(inner.topLeft(), inner.bottomRight())
            painter.drawLine(inner.topRight(), inner.bottomLeft())

    return draw
