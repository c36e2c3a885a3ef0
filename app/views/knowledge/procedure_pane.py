"""The steps of a tip: a numbered list, the selected step's fields, and what is never acted on."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QModelIndex, QSignalBlocker, Qt
from PySide6.QtWidgets import QComboBox, QGridLayout, QLineEdit, QWidget

from app.models.knowledge.procedure_model import (
    STEP_FIELDS,
    STEP_KINDS,
    kind_words,
    landmark_words,
    marked_parts,
    result_words,
)
from app.views.widgets.build import hbox, styled, text_label, vbox
from app.views.widgets.command_button import command_link, show_command
from app.views.widgets.flow_layout import FlowLayout
from app.views.widgets.rows import FittedList, RowContent, RowStyle, Span, line, plain, small

if TYPE_CHECKING:
    from app.models.common.commands import CommandCenter
    from app.models.knowledge.procedure_model import ProcedureModel, ProcedureRow
    from app.views.frame.theme import Theme

STEP = RowStyle(margins=(4, 2, 4, 2), gutter=22)
RESULT_ROLE = {"done": "ok", "not done": "fail", "would write": "warn"}
RESULT_SIGN = {"done": "✓", "not done": "✕", "would write": "!"}
_FORM = ("target", "value", "when", "where", "near")
"""The fields after the kind, in two columns."""

COMMANDS = ("add", "remove", "up", "down", "compile")


def step_row(row: ProcedureRow) -> RowContent:
    """Number, action, control and value; below, landmark and condition. Placeholders are in the accent's colour."""
    step = row.step
    target = _text_spans(step.target) or [plain("…", "muted")]
    value = [small("←"), *_text_spans(step.value)] if step.value else []
    done = small(
        f"{RESULT_SIGN.get(row.result, '–')} {result_words(row.result)}" if row.result else "",
        RESULT_ROLE.get(row.result, "muted"),
        bold=True,
    )
    head = line(
        small(row.way, "live", bold=True),
        small(kind_words(step.kind), "accent", bold=True),
        *target,
        small(step.role),
        *value,
        right=done,
    )
    below = line(
        *_text_spans(landmark_words(step), muted=True),
        small(_condition(step.when)),
        small(_recorded(step.locator)),
    )
    number = small(str(row.number), "muted", bold=True)
    return RowContent(lines=(head, below) if below.spans else (head,), sign=number)


def _text_spans(text: str, *, muted: bool = False) -> list[Span]:
    role = "muted" if muted else "text"
    parts = marked_parts(text)
    return [
        Span(
            text=part,
            role="accent" if is_placeholder else role,
            bold=is_placeholder,
            plain=not muted,
            gap=0 if number < len(parts) else 8,
        )
        for number, (part, is_placeholder) in enumerate(parts, start=1)
    ]


def _condition(when: str) -> str:
    return _tr("if {0}").format(when) if when else ""


def _recorded(locator: str) -> str:
    return _tr("recorded control") if locator else ""


def _tr(text: str) -> str:
    return QCoreApplication.translate("Procedure", text)


class ProcedurePane(QWidget):
    """Steps in order; while they can be edited, the selected step's fields and the commands ``PREFIX.step.*``."""

    def __init__(self, model: ProcedureModel, center: CommandCenter, theme: Theme, prefix: str) -> None:
        super().__init__()
        self._model, self._center, self._prefix = model, center, prefix
        self.setAccessibleName(self.tr("Steps of the tip"))
        self.head, self.origin = text_label(kind="section"), text_label(kind="secondary")
        self.list = FittedList(theme, step_row, self.tr("Steps of the tip"), STEP, most=12)
        self.list.setModel(model.steps)
        self.none, self.never = (text_label(kind="secondary", wrap=True) for _ in range(2))
        self.unread = text_label(kind="warn", wrap=True)
        self.kind = QComboBox()
        self.kind.addItems(list(STEP_KINDS))
        self.fields = {name: styled(QLineEdit(), "quiet") for name in STEP_FIELDS}
        self.buttons = {name: command_link(center, f"{prefix}.step.{name}") for name in COMMANDS}
        self._shown: tuple[object, ...] = ()
        self._name_all()
        self._lay_out()
        self._connect()
        self._bind()
        self._dress()
        self._show()

    def _name_all(self) -> None:
        names = {
            "target": (self.tr("its name"), self.tr("Name of the control, or the address to open")),
            "value": (
                self.tr("value, {name} for the task's own"),
                self.tr("Text to fill in, or option to choose"),
            ),
            "near": (self.tr("beside which thing"), self.tr("Landmark beside which the control is")),
            "where": (
                self.tr("right of, below, in"),
                self.tr("Where the control is, seen from the landmark"),
            ),
            "when": (self.tr("only if …"), self.tr("Condition under which the step is needed")),
        }
        for name, (quiet, said) in names.items():
            field = self.fields[name]
            field.setPlaceholderText(quiet)
            field.setAccessibleName(said)
            field.setToolTip(said)
        self.kind.setAccessibleName(self.tr("Kind of the step"))
        self.kind.setToolTip(self.kind.accessibleName())

    def _lay_out(self) -> None:
        grid = QGridLayout()
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setSpacing(4)
        fields = self.fields
        for place, field in enumerate((self.kind, *(fields[name] for name in _FORM))):
            grid.addWidget(field, place // 2, place % 2)
        grid.setColumnStretch(0, 1)
        grid.setColumnStretch(1, 1)
        self.form = QWidget()
        self.form.setLayout(grid)
        self.links = QWidget()
        self.links.setLayout(FlowLayout(*self.buttons.values(), gap=2))
        head = hbox(self.head, (self.origin, 1), spacing=8)
        vbox(
            head,
            self.none,
            self.list,
            self.form,
            self.links,
            self.never,
            self.unread,
            parent=self,
            spacing=4,
        )

    @property
    def tab_order(self) -> list[QWidget]:
        """Widgets in the order of the Tab key."""
        return [self.list, self.kind, *(self.fields[name] for name in _FORM), *self.buttons.values()]

    def _connect(self) -> None:
        model = self._model
        self.list.selectionModel().currentChanged.connect(self._on_current)
        self.kind.textActivated.connect(partial(model.set_field, "kind"))
        for name, field in self.fields.items():
            field.textEdited.connect(partial(model.set_field, name))
        model.changed.connect(self._show)
        model.step_added.connect(self._on_added)
        self._center.keys_changed.connect(self._dress)
        self._center.refreshed.connect(self._enable)

    def _bind(self) -> None:
        model, bind, prefix = self._model, self._center.bind, self._prefix
        bind(f"{prefix}.step.add", model.add, lambda: model.can_edit)
        bind(f"{prefix}.step.remove", model.remove, lambda: model.can_edit and model.step is not None)
        bind(f"{prefix}.step.up", lambda: model.move(-1), lambda: model.can_move(-1))
        bind(f"{prefix}.step.down", lambda: model.move(1), lambda: model.can_move(1))
        bind(f"{prefix}.step.compile", model.compile_again, lambda: model.can_edit and model.is_corrected)

    def _on_current(self, current: QModelIndex, _previous: QModelIndex) -> None:
        self._model.select(current.row())

    def _on_added(self) -> None:
        self.fields["target"].setFocus(Qt.FocusReason.ShortcutFocusReason)

    def _show(self) -> None:
        model = self._model
        count = model.steps.rowCount()
        self.head.setText(self.tr("Steps ({0})").format(count) if count else self.tr("Steps"))
        self.origin.setText(model.origin_text if count or model.is_corrected else "")
        self.none.setText(self.tr("No step yet. Say in “do” what to press, fill, choose or open."))
        self.none.setVisible(not count)
        self.never.setText(
            self.tr("Never acted on: {0}").format(", ".join(f"“{one}”" for one in model.never))
        )
        self.never.setVisible(bool(model.never))
        self.unread.setText(
            "\n".join(self.tr("! Not read as a step: {0}").format(one) for one in model.unread)
        )
        self.unread.setVisible(bool(model.unread))
        self.list.fit()
        row = model.current - 1
        if row != self.list.currentIndex().row():
            with QSignalBlocker(self.list.selectionModel()):
                self.list.setCurrentIndex(model.steps.index(row) if row >= 0 else QModelIndex())
            self.list.viewport().update()
        step = model.step
        self.form.setVisible(model.can_edit and step is not None)
        self.links.setVisible(model.can_edit)
        self.kind.setCurrentText(model.field("kind"))
        for name, field in self.fields.items():
            if field.text() != model.field(name):
                field.setText(model.field(name))
        self.fields["value"].setEnabled(model.takes_value)
        shown = (model.can_edit, model.current, count, model.origin)
        if shown != self._shown:
            self._shown = shown
            self._center.refresh()

    def _enable(self) -> None:
        for name, button in self.buttons.items():
            button.setEnabled(self._center.action(f"{self._prefix}.step.{name}").isEnabled())

    def _dress(self) -> None:
        words = {
            "add": self.tr("Add"),
            "remove": self.tr("Remove"),
            "up": self.tr("Up"),
            "down": self.tr("Down"),
            "compile": self.tr("Read again"),
        }
        for name, button in self.buttons.items():
            show_command(button, self._center, f"{self._prefix}.step.{name}", words[name])
        self._enable()
