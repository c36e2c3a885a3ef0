"""Rows of progress, tips that would help, queues, agreement and disagreements."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter, QPen

from app.models.common.translate import tr
from app.models.review.annotators_model import labels_words
from app.models.review.progress_model import coverage_words
from app.views.widgets.rows import RowContent, RowStyle, Span, Text, line, plain, small
from app.views.widgets.signs import Sign, tick_sign

if TYPE_CHECKING:
    from app.engine.api.review_api import AnnotatorQueue, TipOpportunity
    from app.models.review.annotators_model import AgreementLine, DisagreementLine
    from app.models.review.progress_model import ProgressLine
    from app.views.frame.theme import Theme

ENTRY = RowStyle(margins=(12, 4, 10, 6), ruled=True)
FIGURE = RowStyle(margins=(12, 4, 10, 5))


def progress_row(value: ProgressLine) -> RowContent:
    """Name and count; below, the share as a bar, and tips and seconds.  A heading stands alone."""
    if value.heading:
        return RowContent(lines=(line(small(value.name, "accent", bold=True)),))
    head = line(plain(value.name, bold=value.key == "total"), right=plain(value.count))
    if value.share is None:
        return RowContent(lines=(head,))
    bar = Span(sign=share_sign(value.share), size=(84, 6))
    return RowContent(lines=(head, line(bar, small(value.facts))))


def opportunity_row(value: TipOpportunity) -> RowContent:
    """Page and number of failures; below, site, tips and how many a tip reached."""
    return RowContent(
        lines=(
            line(
                plain(value.page or tr("any page"), middle=True),
                right=plain(str(len(value.runs)), "fail", bold=True),
            ),
            line(small(value.site, "text", share=0.4), small(coverage_words(value))),
        )
    )


def queue_row(value: AnnotatorQueue) -> RowContent:
    """Name and progress; below, a bar and the runs shared with another."""
    share = value.judged / value.assigned if value.assigned else 0.0
    return RowContent(
        lines=(
            line(plain(value.annotator), right=plain(tr("{0} of {1}").format(value.judged, value.assigned))),
            line(
                Span(sign=share_sign(share), size=(84, 6)),
                small(tr("{0} shared with another annotator").format(value.shared)),
            ),
        )
    )


def agreement_row(value: AgreementLine) -> RowContent:
    """Two names or a label, and kappa; below, what it rests on."""
    pair = value.label is None
    return RowContent(
        lines=(
            line(plain(value.title, bold=pair), right=plain(f"κ {value.kappa}", bold=pair)),
            line(small(value.facts)),
        )
    )


def disagreement_row(value: DisagreementLine) -> RowContent:
    """Site and settlement; who gave which label; the goal."""
    case = value.case
    settled = (
        small(case.settled.value, "accent", sign=tick_sign("accent"), size=(9, 8), share=0.6)
        if case.settled is not None
        else small(tr("open"), "warn", bold=True)
    )
    return RowContent(
        lines=(
            line(plain(case.site or case.run), right=settled),
            line(
                small(value.first, share=0.25),
                small(labels_words(case.first), "text", bold=True, share=0.4),
                small(value.second, share=0.25),
                small(labels_words(case.second), "text", bold=True),
            ),
            Text(case.intent),
        )
    )


def share_sign(share: float) -> Sign:
    """A bar filled to a share; the figure beside it says the same."""

    def draw(painter: QPainter, box: QRectF, theme: Theme) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.color("accent"))
        full = QRectF(box)
        full.setWidth(box.width() * max(0.0, min(share, 1.0)))
        painter.drawRoundedRect(full, 2, 2)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(theme.color("edge"), 1))
        painter.drawRoundedRect(box, 2, 2)

    return draw
