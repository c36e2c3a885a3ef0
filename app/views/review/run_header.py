"""The header over a run: site, task, score, risk, and its goal."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import (
    QContextMenuEvent,
    QFontMetrics,
    QGuiApplication,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QTextLayout,
    QTextOption,
)
from PySide6.QtWidgets import QLabel, QMenu, QSizePolicy, QWidget

from app.views.widgets import ElidedLabel
from app.views.widgets.build import hbox, restyle, styled, vbox
from app.views.widgets.signs import draw_score

if TYPE_CHECKING:
    from app.models.review.review_facts import RunFacts
    from app.views.frame.theme import Theme


class ClampedLabel(QWidget):
    """A paragraph of at most so many lines, elided at the end, whole in the tooltip; its height never changes."""

    def __init__(self, theme: Theme, lines: int) -> None:
        super().__init__()
        self._theme, self._lines, self._text, self._role = theme, lines, "", "text"
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.updateGeometry)

    def set_text(self, text: str) -> None:
        self._text = " ".join(text.split())
        self.setAccessibleName(self._text)
        self.setToolTip(self._text)
        self.update()

    def set_role(self, role: str) -> None:
        """Set the colour of the text."""
        self._role = role
        self.update()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Offer to copy the whole text."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction(self.tr("Copy"), lambda: QGuiApplication.clipboard().setText(self._text))
        menu.popup(event.globalPos())

    def sizeHint(self) -> QSize:
        """The height of all lines, whether used or not."""
        return QSize(100, QFontMetrics(self._theme.font()).lineSpacing() * self._lines)

    def minimumSizeHint(self) -> QSize:
        """The same height, any width."""
        return QSize(40, self.sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        """Wrap the text; the last line is elided."""
        painter, font = QPainter(self), self._theme.font()
        metrics = QFontMetrics(font)
        option = QTextOption()
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        right = _is_right_to_left(self._text)
        option.setTextDirection(Qt.LayoutDirection.RightToLeft if right else Qt.LayoutDirection.LeftToRight)
        option.setAlignment(Qt.AlignmentFlag.AlignRight if right else Qt.AlignmentFlag.AlignLeft)
        painter.setPen(self._theme.color(self._role))
        painter.setFont(font)
        layout = QTextLayout(self._text, font)
        layout.setTextOption(option)
        layout.beginLayout()
        for number in range(self._lines):
            line = layout.createLine()
            if not line.isValid():
                break
            line.setLineWidth(self.width())
            top = metrics.lineSpacing() * number
            rest = self._text[line.textStart() :]
            if number == self._lines - 1 and line.textLength() < len(rest):
                cut = metrics.elidedText(rest, Qt.TextElideMode.ElideRight, self.width())
                box = QRectF(0, top, self.width(), metrics.lineSpacing())
                painter.drawText(box, cut, option)
            else:
                line.draw(painter, QPointF(0, top))
        layout.endLayout()
        painter.end()


class ScoreIcon(QWidget):
    """The shape of a score, beside its text."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme, self._level = theme, "muted"
        theme.changed.connect(self._fit)
        self._fit()

    def _fit(self) -> None:
        self.setFixedSize(self._theme.px(14), self._theme.px(14))

    def set_level(self, level: str) -> None:
        self._level = level
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter, px = QPainter(self), self._theme.px
        draw_score(painter, QRectF(px(1), px(1), px(12), px(12)), self._level, self._theme.color(self._level))
        painter.end()


class RunHeader(QWidget):
    """Facts in a line, two lines of goal; a line each for the reason of a run that gave up, what was not recorded, and
    the use of a model, where there is one.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.title = styled(ElidedLabel(Qt.TextElideMode.ElideRight), "title")
        self.note = styled(ElidedLabel(Qt.TextElideMode.ElideRight), "muted")
        self.note.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.sign = ScoreIcon(theme)
        self.score = QLabel()
        self.rest = styled(ElidedLabel(Qt.TextElideMode.ElideRight), "muted")
        self.intent = ClampedLabel(theme, 2)
        self.needs = styled(ElidedLabel(Qt.TextElideMode.ElideRight), "muted")
        self.needs.hide()
        self.missing = styled(ElidedLabel(Qt.TextElideMode.ElideRight), "muted")
        self.missing.hide()
        self.usage = styled(ElidedLabel(Qt.TextElideMode.ElideRight), "secondary")
        self.usage.hide()
        top = hbox(self.title, (self.note, 100), 1, self.sign, self.score, self.rest, spacing=6)
        self._top = top
        lines = (top, self.intent, self.needs, self.missing, self.usage)
        vbox(*lines, parent=self, margins=(12, 8, 12, 6), spacing=4)

    def show_facts(self, facts: RunFacts) -> None:
        self.title.setText(facts.title)
        self.intent.set_text(facts.intent)
        self.needs.setText(facts.needs)
        self.needs.setVisible(bool(facts.needs))
        self.missing.setText(facts.missing)
        self.missing.setVisible(bool(facts.missing))
        self.note.setText(facts.note)
        self.note.setVisible(bool(facts.note))
        known = bool(facts.score)
        self.sign.setVisible(known)
        self.sign.set_level(facts.score_level)
        self.score.setText(facts.score)
        restyle(self.score, kind=facts.score_level)
        self.rest.setText(
            self.tr("· risk {0:.2f} · ended: {1}").format(facts.risk, facts.ended) if known else ""
        )
        self._share_out()

    def show_usage(self, line: str) -> None:
        """Show tokens, model time and cost, in all and by role."""
        self.usage.setText(line)
        self.usage.setAccessibleName(self.tr("Use of the model: {0}").format(line))
        self.usage.setVisible(bool(line))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._share_out()

    def _share_out(self) -> None:
        """Keep site and task whole where possible; the note gives way first, then the outcome."""
        px, hint = self._theme.px, self.title.sizeHint().width()
        left = self.width() - 24 - 5 * self._top.spacing()
        if self.score.text():
            left -= self.score.sizeHint().width() + self.sign.width()
        title = max(min(hint, left), 24)
        rest = max(min(self.rest.sizeHint().width(), left - title), 0)
        self.title.setFixedWidth(title)
        self.rest.setFixedWidth(rest if rest >= px(40) else 0)
        self.note.setVisible(bool(self.note.text()) and left - title - rest > px(40))


def _is_right_to_left(text: str) -> bool:
    """Whether the first letter with a direction is right-to-left (Unicode's rule P2)."""
    strong = (unicodedata.bidirectional(char) for char in text)
    return next((kind for kind in strong if kind in ("L", "R", "AL")), "L") != "L"
