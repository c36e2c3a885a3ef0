"""Tips at the open run's current step: route and score, text, cut or followed and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QRectF, QSignalBlocker, QSize, Qt
from PySide6.QtGui import QPainter, QPen
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QStyleOptionViewItem, QVBoxLayout

from app.models.common.object_list import OBJECT_ROLE
from app.models.live.knowledge import follow_words, vote_words
from app.views.knowledge.tip_rows import ROUTE_ROLE, ROUTE_SIGN
from app.views.live.row_delegates import Index, LiveRowDelegate, indented, side
from app.views.widgets import ElidedLabel
from app.views.widgets.flow_layout import FlowLayout
from app.views.widgets.panel import Panel
from app.views.widgets.rows import RowList
from app.views.widgets.signs import draw_tick, paint_ground

if TYPE_CHECKING:
    from app.models.common.commands import CommandCenter
    from app.models.live.knowledge import TipAtStep
    from app.models.live.open_run import OpenRunModel
    from app.views.frame.theme import Theme

COMMANDS = (
    "live.tip.mute",
    "live.tip.pin",
    "live.tip.up",
    "live.tip.down",
    "live.tip.open",
)


class LiveTipDelegate(LiveRowDelegate):
    """Route, score and id; the text; below it whether it was followed, muted, pinned, voted on or cut."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        tip: TipAtStep | None = index.data(OBJECT_ROLE)
        if tip is None:
            return QSize(100, 20)
        return QSize(100, self.high(tip.text, small=2 if self._said(tip) else 1))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        tip: TipAtStep | None = index.data(OBJECT_ROLE)
        if tip is None:
            return
        painter.save()
        paint_ground(painter, option, self._theme)
        box = self.inner(option)
        head = self._paint_head(painter, option, box, tip)
        low = box.adjusted(0, head, 0, 0)
        muted = bool(tip.cut) or tip.stance.value == "muted"
        taken = self.write(painter, option, low, tip.text, "muted" if muted else "text")
        self._paint_foot(painter, option, low.adjusted(0, taken, 0, 0), tip)
        painter.restore()

    def _paint_head(
        self, painter: QPainter, option: QStyleOptionViewItem, box: QRectF, tip: TipAtStep
    ) -> float:
        sign = ROUTE_SIGN.get(tip.route, "")
        role = "muted" if tip.cut else ROUTE_ROLE.get(tip.route, "live")
        route = f"{sign} {tip.route} {tip.score:.2f}".strip() if tip.route else self.tr("by hand")
        rest = self.write_small(painter, option, box, route, role, bold=True)
        others = [f"{name} {score:.2f}" for name, score in tip.routes.items() if name != tip.route]
        more = " · ".join(part for part in (tip.tip, tip.kind, *others) if part)
        self.write_small(painter, option, rest, more, "muted")
        return rest.height()

    def _paint_foot(
        self, painter: QPainter, option: QStyleOptionViewItem, box: QRectF, tip: TipAtStep
    ) -> None:
        theme, px = self._theme, self._theme.px
        rest = box
        for words, role in self._said(tip):
            if words == follow_words(tip):
                painter.setRenderHint(QPainter.RenderHint.Antialiasing)
                painter.setPen(QPen(theme.color(role), 1.8))
                sign = side(option, rest, QRectF(rest.left(), rest.top() + px(3), px(9), px(8)))
                if tip.follows:
                    draw_tick(painter, sign)
                else:
                    painter.drawLine(sign.topLeft(), sign.bottomRight())
                    painter.drawLine(sign.topRight(), sign.bottomLeft())
                rest = indented(option, rest, px(13))
            left = self.write_small(painter, option, rest, words, role, bold=True)
            rest = QRectF(left.left(), rest.top(), left.width(), rest.height())

    def _said(self, tip: TipAtStep) -> list[tuple[str, str]]:
        """Return words and their colour roles for the line below the text."""
        said: list[tuple[str, str]] = []
        if tip.cut:
            said.append((self.tr("not given: {0}").format(tip.cut), "warn"))
        if follow_words(tip):
            said.append((follow_words(tip), "ok" if tip.follows else "muted"))
        if tip.stance.value and tip.stance.value not in tip.cut:
            said.append((self.tr("{0} for this run").format(tip.stance.value), "live"))
        if vote_words(tip):
            said.append((vote_words(tip), "ok" if tip.vote > 0 else "fail"))
        return said


class LiveKnowledgePane(Panel):
    """Tips given and tips cut; keys mute, pin, vote on and open the selected one."""

    def __init__(self, model: OpenRunModel, center: CommandCenter, theme: Theme) -> None:
        super().__init__()
        self._model, self._center, self._theme = model.knowledge, center, theme
        self.setProperty("kind", "raised")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setAccessibleName(self.tr("What the agent knows here"))
        self.head, self.summary = QLabel(self.tr("Knowledge here")), ElidedLabel()
        self.summary.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.off, self.none = QLabel(), QLabel(self.tr("No tip bears on this page."))
        self.list = RowList(
            theme, LiveTipDelegate(theme), self.tr("Tips given to the agent, then those that were cut")
        )
        self.list.setModel(self._model.tips)
        self.buttons = {name: QPushButton() for name in COMMANDS}
        self._could = (False, False)
        self._lay_out()
        self._bind()
        self.list.selectionModel().currentChanged.connect(self._on_current)
        self.list.activated.connect(self._on_activated)
        self._model.changed.connect(self._show)
        center.keys_changed.connect(self._dress)
        center.refreshed.connect(self._enable)
        self._dress()
        self._show()

    def _lay_out(self) -> None:
        for label, kind in (
            (self.head, "section"), (self.summary, "secondary"), (self.off, "warn"), (self.none, "muted"),
        ):  # fmt: skip
            label.setProperty("kind", kind)
            label.setTextFormat(Qt.TextFormat.PlainText)
        for label in (self.off, self.none):
            label.setWordWrap(True)
            label.setContentsMargins(12, 2, 10, 6)
            label.setAlignment(Qt.AlignmentFlag.AlignLeading | Qt.AlignmentFlag.AlignTop)
        top = QHBoxLayout()
        top.setContentsMargins(12, 8, 10, 2)
        top.addWidget(self.head)
        top.addWidget(self.summary, 1)
        row = FlowLayout(gap=2)
        for name, button in self.buttons.items():
            button.setProperty("kind", "link")
            button.setProperty("small", "true")
            button.clicked.connect(lambda _checked=False, name=name: self._center.trigger(name))
            row.addWidget(button)
        foot = QVBoxLayout()
        foot.setContentsMargins(10, 2, 10, 4)
        foot.addLayout(row)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(top)
        layout.addWidget(self.off)
        layout.addWidget(self.none, 1)
        layout.addWidget(self.list, 1)
        layout.addLayout(foot)

    def _bind(self) -> None:
        model, bind = self._model, self._center.bind

        def some() -> bool:
            return bool(model.tips.rows)

        bind("live.tip.next", lambda: model.move(1), some)
        bind("live.tip.previous", lambda: model.move(-1), some)
        bind("live.tip.mute", model.mute, model.can_steer)
        bind("live.tip.pin", model.pin, model.can_steer)
        bind("live.tip.up", lambda: model.vote(1), model.can_steer)
        bind("live.tip.down", lambda: model.vote(-1), model.can_steer)
        bind("live.tip.open", model.open, model.can_steer)

    def _on_current(self, current: QModelIndex, _previous: QModelIndex) -> None:
        self._model.select(current.row())

    def _on_activated(self, _index: QModelIndex) -> None:
        self._center.trigger("live.tip.open")

    def _show(self) -> None:
        model = self._model
        count = len(model.tips.rows)
        self.summary.setText(model.summary if count else "")
        self.off.setText("\n".join(f"! {line}" for line in model.off))
        self.off.setVisible(bool(model.off))
        self.none.setVisible(not count)
        self.list.setVisible(count > 0)
        for button in self.buttons.values():
            button.setVisible(count > 0)
        row = model.tips.row_of(model.selected)
        if row != self.list.currentIndex().row():
            with QSignalBlocker(self.list.selectionModel()):
                self.list.setCurrentIndex(model.tips.index(row))
            self.list.viewport().update()
            self.list.scrollTo(model.tips.index(row))
        could = (count > 0, model.can_steer())
        if could != self._could:
            self._could = could
            self._center.refresh()
        self._dress()

    def _dress(self) -> None:
        tip = self._model.tip
        stance = tip.stance.value if tip is not None else ""
        words = {
            "live.tip.mute": self.tr("Unmute") if stance == "muted" else self.tr("Mute"),
            "live.tip.pin": self.tr("Unpin") if stance == "pinned" else self.tr("Pin"),
            "live.tip.up": self.tr("Useful"),
            "live.tip.down": self.tr("Not useful"),
            "live.tip.open": self.tr("Open"),
        }
        for name, button in self.buttons.items():
            button.setText(f"{words[name]}  {self._center.keys(name)}")
            button.setAccessibleName(self._center.title(name))
            button.setToolTip(self._center.action(name).toolTip())
        self._enable()

    def _enable(self) -> None:
        for name, button in self.buttons.items():
            button.setEnabled(self._center.action(name).isEnabled())
