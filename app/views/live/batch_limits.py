"""The small form that changes budget and parallel runs of a batch."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QApplication, QLabel, QLineEdit, QPushButton, QWidget

from app.views.widgets.build import ground, hbox, styled, text_label, vbox

if TYPE_CHECKING:
    from app.models.live.batch_limits import BatchLimits


class BatchLimitsForm(QWidget):
    """Hidden until the model is shown a batch; Enter saves.  ``let_go``: it is closed while it has the focus."""

    let_go = Signal()

    def __init__(self, model: BatchLimits) -> None:
        super().__init__()
        self._model = model
        ground(self, "surface")
        self.fields: dict[str, QLineEdit] = {}
        rows = hbox(spacing=12)
        for name, label in (
            ("money", self.tr("Budget, $")),
            ("tokens", self.tr("Budget, tokens")),
            ("at_once", self.tr("Parallel runs")),
        ):
            field = self.fields[name] = QLineEdit()
            field.setPlaceholderText(self.tr("no limit") if name != "at_once" else self.tr("as in settings"))
            field.setAccessibleName(label)
            field.textEdited.connect(partial(model.set, name))
            field.returnPressed.connect(model.save)
            words, pair = QLabel(label), QWidget()
            words.setBuddy(field)
            vbox(words, field, parent=pair, spacing=2)
            rows.addWidget(pair, 1)
        self.error = text_label(kind="fail", wrap=True)
        self.save = styled(QPushButton(self.tr("Apply   Enter")), "primary")
        self.save.setAccessibleName(self.tr("Apply budget and parallel runs"))
        self.cancel = styled(QPushButton(self.tr("Cancel  Esc")), "link")
        self.save.clicked.connect(model.save)
        self.cancel.clicked.connect(model.close)
        vbox(
            rows, self.error, hbox(self.save, self.cancel, 1, spacing=8),
            parent=self, margins=(10, 8, 10, 8), spacing=6,
        )  # fmt: skip
        model.changed.connect(self.refresh)
        self.refresh()

    def begin(self) -> None:
        """Focus the budget that is used up."""
        self.refresh()
        first = self.fields[self._model.used_up]
        first.setFocus(Qt.FocusReason.ShortcutFocusReason)
        first.selectAll()

    def refresh(self) -> None:
        model = self._model
        if (
            not model.batch
            and self.isVisible()
            and self.isAncestorOf(QApplication.focusWidget() or self.window())
        ):
            self.let_go.emit()
        self.setVisible(bool(model.batch))
        for name, field in self.fields.items():
            if field.text() != model.values[name]:
                with QSignalBlocker(field):
                    field.setText(model.values[name])
        problems = [one.message for one in model.problems]
        text = problems[0] if problems else model.error
        self.error.setText(text)
        self.error.setVisible(bool(text))
        self.save.setEnabled(not problems and not model.is_sending)
