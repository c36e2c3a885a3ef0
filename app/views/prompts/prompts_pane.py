"""The prompts of a step: its exchanges above, the one that is read below."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QModelIndex, Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeyEvent, QKeySequence, QResizeEvent
from PySide6.QtWidgets import QStackedWidget, QWidget

from app.models.prompts.prompts_model import figures, remark
from app.views.prompts.ask_again_pane import AnswersPane
from app.views.prompts.prompt_reader import PromptReader, place_label
from app.views.widgets import ElidedLabel
from app.views.widgets.build import Panel, divider, ground, hbox, styled, text_label, vbox
from app.views.widgets.command_button import (
    SIGN,
    WHOLE,
    WORD,
    CommandButton,
    command_link,
    fill,
    show_command,
)
from app.views.widgets.rows import FittedList, RowContent, RowStyle, line, plain, small

if TYPE_CHECKING:
    from app.models.common.commands import CommandCenter
    from app.models.prompts.prompts_model import AskedAgain, Exchange, ExchangeRow, PromptsModel
    from app.views.frame.theme import Theme

ROWS = 6
EXCHANGE = RowStyle(margins=(12, 1, 12, 1), height=25)


def exchange_row(row: ExchangeRow) -> RowContent:
    """Role, model, tokens and seconds; what is wrong with it; the cost at the right."""
    wrong = remark(row)
    tokens, out, seconds, money = figures(row)
    return RowContent(
        lines=(
            line(
                plain(row.role or "?", "accent", bold=True, least="summarizer"),
                small(row.model, "text", middle=True, share=0.3),
                small(wrong, "fail" if row.error else "warn", share=0.5) if wrong else None,
                small(" · ".join((tokens, out, seconds))) if not row.error else None,
                right=small(money if not row.error else ""),
            ),
        )
    )


class PromptsPane(Panel):
    """Its commands are bound by the perspective that shows it, whose place they belong to.

    Args:
        prefix: of its commands: ``review`` or ``live``.
    """

    closed = Signal()

    def __init__(self, model: PromptsModel, center: CommandCenter, theme: Theme, prefix: str) -> None:
        super().__init__()
        self.model = self._model = model
        self._center, self._prefix = center, prefix
        ground(self)
        self.setAccessibleName(self.tr("Prompts of a step"))
        self.head, self.note = text_label(kind="heading"), styled(ElidedLabel(), "muted")
        self.close_button = command_link(center, f"{prefix}.prompts")
        self.totals, self.by_role = ElidedLabel(), ElidedLabel()
        self.changes = CommandButton(f"{prefix}.prompts.changes", center, theme, self.tr("Changes"))
        self.missing = text_label(kind="muted", wrap=True)
        self.missing.setContentsMargins(12, 8, 12, 8)
        self.list = FittedList(
            theme, exchange_row, self.tr("Requests to models at this step"), EXCHANGE, most=ROWS
        )
        self.list.setModel(model.rows)
        self.sent = place_label()
        self.reader = PromptReader(model, theme)
        self.answers = AnswersPane(theme)
        self.faces = QStackedWidget()
        self.buttons = [self.changes]
        if prefix == "review":  # a run that goes on is steered by hints
            self.buttons.append(CommandButton("review.prompts.ask", center, theme, self.tr("Ask again")))
        self._digest = ""
        self._lay_out()
        self._bind()
        self.list.selectionModel().currentChanged.connect(self._on_row)
        model.changed.connect(self._show)
        model.shown.connect(self._show_prompt)
        self.reader.outcome_wanted.connect(self._show_asked)
        self.answers.closed.connect(self.close_answers)
        center.keys_changed.connect(self._show)
        self._show()

    def take_focus(self) -> None:
        """Focus the list; its arrows choose the prompt that is read."""
        self.list.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def leave(self) -> bool:
        """Go back one level inside; False at the first."""
        if self.faces.currentWidget() is self.answers:
            self.close_answers()
            return True
        return self.reader.leave()

    def show_outcome(self, outcome: AskedAgain) -> None:
        """Show both answers side by side in the prompt's place."""
        self.answers.show_outcome(outcome)
        self.faces.setCurrentWidget(self.answers)

    def _show_asked(self, place: int) -> None:
        if place < len(self.model.asked):
            self.show_outcome(self.model.asked[place])

    def close_answers(self) -> None:
        self.faces.setCurrentWidget(self.reader)
        self.reader.text.setFocus(Qt.FocusReason.OtherFocusReason)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Give the buttons as much detail as there is room for."""
        super().resizeEvent(event)
        room = self.width() - self.head.sizeHint().width() - self.close_button.sizeHint().width() - 48
        fill(self.buttons, room, ((WHOLE, WHOLE), (WORD, WORD), (SIGN, SIGN)))

    def event(self, event: QEvent) -> bool:
        """Take Ctrl+F while the focus is inside: it searches the prompt."""
        if (
            event.type() is QEvent.Type.ShortcutOverride
            and isinstance(event, QKeyEvent)
            and event.matches(QKeySequence.StandardKey.Find)
        ):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Find):
            self.reader.begin_search()
        else:
            super().keyPressEvent(event)

    def _lay_out(self) -> None:
        head = hbox(
            self.head, (self.note, 1), 0, *self.buttons, self.close_button, margins=(12, 6, 8, 2), spacing=8
        )
        for label in (self.totals, self.by_role):
            styled(label, "secondary")
            label.setContentsMargins(12, 0, 12, 0)
        self.body = QWidget()
        self.faces.addWidget(self.reader)
        self.faces.addWidget(self.answers)
        vbox(self.list, self.sent, divider(), (self.faces, 1), parent=self.body, spacing=0)
        vbox(head, self.totals, self.by_role, self.missing, (self.body, 1), 0, parent=self, spacing=2)

    def _bind(self) -> None:
        model, prefix = self._model, self._prefix

        def bind(name: str, callback: object) -> None:
            self._center.bind(f"{prefix}.prompts.{name}", callback, self._can)  # pyright: ignore[reportArgumentType]

        bind("next", lambda: self._go(1))
        bind("previous", lambda: self._go(-1))
        bind("find", self.reader.begin_search)
        bind("changes", lambda: model.set_compares(not model.compares))
        bind("unfold", model.toggle_all)
        bind("copy", lambda: QGuiApplication.clipboard().setText(model.text))

    def _can(self) -> bool:
        return self._model.watched and self._model.exchange is not None

    def _go(self, offset: int) -> None:
        self._model.choose(self._model.neighbour(offset))

    def _on_row(self, index: QModelIndex) -> None:
        row = self._model.rows.at(index.row())
        if row is not None:
            self._model.choose(row.digest)

    def _show(self) -> None:
        model = self._model
        self.head.setText(
            self.tr("Step {0}: prompts").format(model.step) if model.step >= 0 else self.tr("Prompts")
        )
        self.note.setText(
            self.tr("newest; those of the next step appear when it is over")
            if model.newest and not model.missing
            else ""
        )
        self.note.setVisible(bool(self.note.text()))
        show_command(self.close_button, self._center, f"{self._prefix}.prompts", self.tr("Close"))
        whole, _, roles = model.totals.partition("\n")
        self.totals.setText(whole)
        self.by_role.setText("; ".join(roles.split("\n")))
        for label in (self.totals, self.by_role):
            label.setVisible(bool(label.text()))
        words = self.tr("Loading the prompts…") if model.loading else model.missing
        self.missing.setText(words)
        self.missing.setVisible(bool(words))
        self._select()  # before it is shown: a list that gets the focus chooses its first row
        self.body.setVisible(not words)
        self.list.fit()
        self.sent.setText(_sent_words(model.exchange))
        self.sent.setVisible(bool(self.sent.text()))
        self._center.refresh()

    def _select(self) -> None:
        row = self._model.rows.row_of(self._model.current)
        if row >= 0 and self.list.currentIndex().row() != row:
            self.list.setCurrentIndex(self._model.rows.index(row))

    def _show_prompt(self) -> None:
        model = self._model
        if model.current != self._digest:
            self._digest = model.current
            self.faces.setCurrentWidget(self.reader)
        if model.error:
            self.reader.text.show_text(model.error, (), ())
        else:
            self.reader.show_prompt()
        self.changes.call(model.compares)
        self._center.refresh()


def _sent_words(exchange: Exchange | None) -> str:
    """Return what was sent beside the messages, when, and what the record leaves out."""
    if exchange is None:
        return ""
    names = {"reasoning_effort": "effort", "reasoning.effort": "effort"}
    parts = [
        f"{names.get(name, name).replace('_', ' ')} {value}"
        for name, value in exchange.parameters.items()
        if name not in ("model", "api")
    ]
    api = exchange.parameters.get("api")
    dropped = ["the endpoint took no pictures: words were sent instead"] if exchange.pictures_dropped else []
    return " · ".join([*([f"{api} API"] if api else []), *parts, *dropped])
