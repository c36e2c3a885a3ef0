"""The bar below the map: progress of the exploration, current action, skipped elements, controls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QLocale, QRectF, QSize, Qt, QTimer
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QFrame,
    QLabel,
    QListView,
    QProgressBar,
    QPushButton,
    QSizePolicy,
    QWidget,
)

from app.models.graph.exploration import ExplorationStage, LogInStage
from app.models.graph.velocity_plot import rate_words
from app.views.graph.status_marks import STAGE_ROLE, draw_stage
from app.views.widgets import ElidedLabel
from app.views.widgets.build import hbox, styled, text_label, vbox
from app.views.widgets.command_button import show_command

if TYPE_CHECKING:
    from app.models.common.commands import CommandCenter
    from app.models.graph.exploration import ExplorationModel
    from app.views.frame.theme import Theme

SHOWN_REASONS = 3
"""Reasons shown in the bar; the card shows all."""


class ExplorationBar(QFrame):
    """Of constant height, so that the map never jumps, except for a line with a question or a message."""

    def __init__(self, model: ExplorationModel, center: CommandCenter, theme: Theme) -> None:
        super().__init__()
        self._model, self._center, self._theme = model, center, theme
        self.setProperty("kind", "raised")
        self.setAccessibleName(self.tr("Exploration of the site"))
        self.stage = StageSign(theme)
        self.figures = {name: Figure() for name in ("states", "frontier", "velocity", "depth")}
        self.progress, self.trying = styled(ElidedLabel(), "secondary"), styled(ElidedLabel(), "secondary")
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName(self.tr("Share of known elements tried"))
        self.skipped = styled(QPushButton(), "link")
        self.explore, self.pause, self.stop = (QPushButton() for _ in range(3))
        self.log_in, self.logged_in, self.give_up = (QPushButton() for _ in range(3))
        self.velocity = styled(QPushButton(), "link")
        self.ask, self.error = text_label(wrap=True), text_label(kind="fail", wrap=True)
        self.card = SkipCard(model, theme, self)
        self._lay_out()
        self._bind()
        model.changed.connect(self._show)
        model.form.changed.connect(self._show)
        center.keys_changed.connect(self._update_texts)
        theme.changed.connect(
            lambda: QTimer.singleShot(0, self, self._refit)
        )  # once the widgets have the new font
        self._update_texts()
        self._show()

    # ------------------------------------------------------------ layout
    def _lay_out(self) -> None:
        first = hbox(
            self.stage,
            *self.figures.values(),
            (self.progress, 1),
            self.explore,
            self.pause,
            self.stop,
            margins=(12, 6, 10, 2),
            spacing=8,
        )
        second = hbox(
            (self.trying, 1), self.skipped, self.velocity, self.log_in, margins=(12, 0, 10, 6), spacing=8
        )
        self.log_in.setProperty("kind", "link")
        for button in (self.skipped, self.velocity, self.log_in):
            button.setProperty("small", True)
        card = styled(QFrame(), "card")
        self._question = QWidget()
        vbox(card, parent=self._question, margins=(12, 0, 10, 6))
        hbox((self.ask, 1), self.logged_in, self.give_up, parent=card, margins=(10, 4, 6, 4), spacing=8)
        self.logged_in.setProperty("kind", "primary")
        self.error.setContentsMargins(12, 0, 10, 6)
        self.error.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        vbox(self.bar, first, second, self._question, self.error, parent=self, spacing=0)

    def _bind(self) -> None:
        model, center = self._model, self._center
        for button, command in (
            (self.explore, "map.explore"),
            (self.pause, "map.pause"),
            (self.stop, "map.stop"),
            (self.log_in, "map.log_in"),
            (self.logged_in, "map.logged_in"),
            (self.skipped, "map.skipped"),
            (self.velocity, "map.velocity"),
        ):
            button.clicked.connect(lambda _checked=False, command=command: center.trigger(command))
        center.bind("map.pause", model.pause_or_resume, lambda: model.can_pause or model.can_resume)
        center.bind("map.stop", model.stop, lambda: model.can_stop)
        center.bind("map.log_in", model.log_in, lambda: model.log_in_stage is LogInStage.NONE)
        center.bind("map.logged_in", model.logged_in, lambda: model.log_in_stage is LogInStage.OPEN)
        center.bind("map.skipped", self.show_skipped, lambda: model.skipped.rowCount() > 0)
        self.give_up.clicked.connect(model.cancel_log_in)

    def show_skipped(self) -> None:
        self.card.open_at(self.skipped)

    # ------------------------------------------------------------ what is shown
    def _show(self) -> None:
        model = self._model
        running = model.stage in (
            ExplorationStage.STARTING,
            ExplorationStage.RUNNING,
            ExplorationStage.PAUSED,
        )
        self.stage.show_stage(model.stage.value, model.headline)
        known = model.stage is not ExplorationStage.NONE or model.states > 0
        number = QLocale().toString
        for name, value in (
            ("states", number(model.states)),
            ("frontier", number(model.frontier)),
            ("velocity", rate_words(model.velocity)),
            ("depth", number(model.depth)),
        ):
            self.figures[name].show_value(value)
            self.figures[name].setVisible(known)
        self.progress.setText(model.progress if known else "")
        self._show_bar(running)
        self._show_second(running)
        self.ask.setText(model.log_in_words)
        self._question.setVisible(model.log_in_stage is not LogInStage.NONE)
        self.logged_in.setEnabled(model.log_in_stage is LogInStage.OPEN)
        self.error.setText(model.error)
        self.error.setVisible(bool(model.error))
        self._dress_pause()
        self.pause.setEnabled(model.can_pause or model.can_resume)
        self.stop.setEnabled(model.can_stop)
        self.explore.setEnabled(model.can_explore and not running)
        self.log_in.setEnabled(model.log_in_stage is LogInStage.NONE)
        self.velocity.setVisible(known)
        self._center.refresh()

    def _show_bar(self, running: bool) -> None:
        share = self._model.share
        if running and share is None:
            self.bar.setRange(0, 0)
            return
        self.bar.setRange(0, 1000)
        self.bar.setValue(round((share or 0.0) * 1000))

    def _show_second(self, running: bool) -> None:
        model = self._model
        if model.trying:
            text = self.tr("trying: {0}").format(model.trying)
        elif model.stage is ExplorationStage.NONE:
            text = model.note or self.tr(
                "Enter a home page: links, menus, tabs and dialogs are explored, without tokens."
            )
        else:
            text = model.note
        if running and model.note and model.trying:
            text = f"{text} · {model.note}"
        self.trying.setText(text)
        rows = sorted(model.skipped.rows, key=lambda row: -row.count)
        total = sum(row.count for row in rows)
        self.skipped.setVisible(bool(rows))
        most = " · ".join(f"{QLocale().toString(row.count)} {row.reason}" for row in rows[:SHOWN_REASONS])
        rest = len(rows) - SHOWN_REASONS
        more = self.tr(" and {0} more").format(rest) if rest > 0 else ""
        text = self.tr("skipped {0}: {1}{2}").format(QLocale().toString(total), most, more)
        metrics = QFontMetrics(self.skipped.font())
        room = max(round(self.width() * 0.5), self._theme.px(160))
        self.skipped.setText(metrics.elidedText(text, Qt.TextElideMode.ElideRight, room))
        self.skipped.setAccessibleName(text)

    def resizeEvent(self, event: object) -> None:
        """Give the reasons at most half of the width."""
        super().resizeEvent(event)  # type: ignore[arg-type]
        self._show_second(
            self._model.stage
            in (ExplorationStage.STARTING, ExplorationStage.RUNNING, ExplorationStage.PAUSED)
        )

    def _update_texts(self) -> None:
        words = {
            "states": self.tr("states"),
            "frontier": self.tr("waiting"),
            "velocity": self.tr("per minute"),
            "depth": self.tr("depth"),
        }
        helps = {
            "states": self.tr("Page states found"),
            "frontier": self.tr("Elements waiting to be tried (the frontier)"),
            "velocity": self.tr("States found per minute"),
            "depth": self.tr("Transitions from the home page"),
        }
        for name, figure in self.figures.items():
            figure.name(words[name], helps[name])
        for button, word, command in (
            (self.explore, self.tr("Explore…"), "map.explore"),
            (self.stop, self.tr("Stop"), "map.stop"),
            (self.log_in, self.tr("Log in by hand…"), "map.log_in"),
            (self.logged_in, self.tr("I am logged in"), "map.logged_in"),
            (self.velocity, self.tr("Velocity"), "map.velocity"),
        ):
            show_command(button, self._center, command, word)
        self._dress_pause()
        self.give_up.setText(self.tr("Cancel"))
        self.give_up.setAccessibleName(self.tr("Close the browser window without saving a log-in"))
        self.give_up.setToolTip(self.give_up.accessibleName())
        self.skipped.setToolTip(self._center.action("map.skipped").toolTip())

    def _refit(self) -> None:
        for figure in self.figures.values():
            figure.fit()
        self._dress_pause()

    def _dress_pause(self) -> None:
        """One button for pause and resume, labelled by its effect."""
        resumes = self._model.can_resume
        keys = self._center.keys("map.pause")
        texts = [f"{word}  {keys}" if keys else word for word in (self.tr("Pause"), self.tr("Resume"))]
        self.pause.setMinimumWidth(0)
        widths: list[int] = []
        for text in (texts[not resumes], texts[resumes]):  # neighbours don't move when the label changes
            self.pause.setText(text)
            widths.append(self.pause.sizeHint().width())
        self.pause.setMinimumWidth(max(widths))
        self.pause.setAccessibleName(
            self.tr("Resume the exploration") if resumes else self.tr("Pause the exploration")
        )
        self.pause.setToolTip(
            f"{self.pause.accessibleName()} ({keys})" if keys else self.pause.accessibleName()
        )


class StageSign(QWidget):
    """Sign and label of an exploration's state."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._stage = self._words = ""
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.updateGeometry)

    def show_stage(self, stage: str, words: str) -> None:
        if (stage, words) != (self._stage, self._words):
            self._stage, self._words = stage, words
            self.setAccessibleName(words)
            self.setToolTip(words)
            self.updateGeometry()
            self.update()

    def sizeHint(self) -> QSize:
        metrics = QFontMetrics(self._theme.font(bold=True))
        return QSize(metrics.horizontalAdvance(self._words) + self._theme.px(22), metrics.height() + 6)

    def minimumSizeHint(self) -> QSize:
        return QSize(self._theme.px(80), self.sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        theme, px = self._theme, self._theme.px
        color = theme.color(STAGE_ROLE.get(self._stage, "muted"))
        painter = QPainter(self)
        mirrored = self.layoutDirection() is Qt.LayoutDirection.RightToLeft
        left = self.width() - px(12) if mirrored else 0
        draw_stage(painter, QRectF(left, self.height() / 2 - px(6), px(12), px(12)), self._stage, color)
        painter.setFont(theme.font(bold=True))
        painter.setPen(color if self._stage else theme.color("text"))
        room = self.rect().adjusted(0, 0, -px(18), 0) if mirrored else self.rect().adjusted(px(18), 0, 0, 0)
        align = Qt.AlignmentFlag.AlignRight if mirrored else Qt.AlignmentFlag.AlignLeft
        text = painter.fontMetrics().elidedText(self._words, Qt.TextElideMode.ElideRight, room.width())
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter | align, text)
        painter.end()


class Figure(QWidget):
    """A number and its label, as wide as the widest number so far, so that its neighbours don't move."""

    def __init__(self) -> None:
        super().__init__()
        self.value, self.word = text_label(kind="heading"), text_label(kind="secondary")
        self.value.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self._help = self._longest = ""
        hbox(self.value, self.word, parent=self, spacing=4)

    def name(self, word: str, help_: str) -> None:
        """Set the label and its full form."""
        self.word.setText(word)
        self._help = help_
        self.setToolTip(help_)
        self.show_value(self.value.text())

    def show_value(self, text: str) -> None:
        self.value.setText(text)
        self._longest = max(self._longest, text, key=len)
        self.fit()
        self.setAccessibleName(f"{self._help}: {text}")

    def fit(self) -> None:
        metrics = self.value.fontMetrics()
        wide = max(metrics.horizontalAdvance(text) for text in (self._longest, self.value.text()))
        self.value.setMinimumWidth(wide + 1)


class SkipCard(QFrame):
    """All reasons why elements were skipped, with counts; closes by itself."""

    def __init__(self, model: ExplorationModel, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setProperty("kind", "overlay")
        self.setAccessibleName(self.tr("Why elements were skipped"))
        self._theme = theme
        title = text_label(self.tr("Skipped elements"), "heading")
        self.list = QListView()
        self.list.setModel(model.skipped)
        self.list.setAccessibleName(self.accessibleName())
        self.list.setUniformItemSizes(True)
        self.list.setSelectionMode(QListView.SelectionMode.SingleSelection)
        hint = QLabel(
            self.tr("A state's panel shows it for each element; test the rules in the block-list editor.")
        )
        hint.setProperty("kind", "secondary")
        hint.setWordWrap(True)
        vbox(title, (self.list, 1), hint, parent=self, margins=(12, 10, 12, 10), spacing=6)

    def open_at(self, anchor: QWidget) -> None:
        """Open above this widget, at its right edge."""
        px = self._theme.px
        self.resize(px(340), px(280))
        corner = anchor.mapToGlobal(anchor.rect().topRight())
        self.move(corner.x() - self.width(), corner.y() - self.height() - 4)
        self.show()
        self.list.setFocus()
