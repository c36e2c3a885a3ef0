"""The intervention policy with a preview of its effect on the stored runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QComboBox, QLabel, QPushButton, QWidget

from app.models.review.run_queue import detector_label
from app.views.live.policy_grid import PolicyGrid
from app.views.widgets.build import Panel, ground, hbox, styled, text_label, vbox
from app.views.widgets.flow_layout import FlowLayout

if TYPE_CHECKING:
    from app.models.common.commands import CommandCenter
    from app.models.live.intervention_policy import InterventionPolicyModel
    from app.views.frame.theme import Theme

CTRL_ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


class PolicyPane(Panel):
    """Fits a side column or the whole middle.  ``closed``: it should be hidden; an unsaved draft stays."""

    closed = Signal()
    wide = 860
    """Pixels at 100 % text size for about six sites; in less room it scrolls."""

    def __init__(self, model: InterventionPolicyModel, center: CommandCenter, theme: Theme) -> None:
        super().__init__()
        self._model, self._center, self._theme = model, center, theme
        ground(self)
        self.setAccessibleName(self.tr("Intervention policy"))
        self.grid = PolicyGrid(model, theme)
        self.detector = QComboBox()
        self.detector.setAccessibleName(self.tr("Add a row for a detector"))
        self.preview, self.error, self.hint = _line("live"), _line("fail"), _line("secondary")
        self.preview.setAccessibleName(self.tr("What this policy would have done to the stored runs"))
        self.save, self.back, self.close_button = QPushButton(), QPushButton(), styled(QPushButton(), "link")
        self._lay_out()
        self.detector.textActivated.connect(self._name_detector)
        self.save.clicked.connect(model.save)
        self.back.clicked.connect(model.discard)
        self.close_button.clicked.connect(self.closed)
        model.changed.connect(self._show)
        model.preview_changed.connect(self._show_preview)
        self._show()
        self._show_preview()

    def begin(self) -> None:
        self._model.load()
        self.grid.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def event(self, event: QEvent) -> bool:
        """Claim Ctrl+Enter (save) and Esc (close), whatever they do elsewhere."""
        if event.type() is QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent) and _is_own(event):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.closed.emit()
        elif _is_own(event):
            self._model.save()
        else:
            super().keyPressEvent(event)

    def _lay_out(self) -> None:
        title = text_label(self.tr("Intervention policy"), "heading", wrap=True)
        self.close_button.setText(self.tr("Close  Esc"))
        self.close_button.setAccessibleName(self.tr("Close the policy"))
        head = hbox((title, 1), (self.close_button, 0, Qt.AlignmentFlag.AlignTop))
        self.hint.setText(self.tr("Space: next value; 1-4: set; Enter: choose; Del: same as every site."))
        self.save.setText(self.tr("Save  Ctrl+Enter"))
        self.save.setProperty("kind", "primary")
        self.save.setAccessibleName(self.tr("Put this policy into force"))
        self.back.setText(self.tr("Discard changes"))
        foot = FlowLayout(self.save, self.back, self.detector, gap=8)
        vbox(
            head,
            self.hint,
            (self.grid, 1),
            self.preview,
            self.error,
            foot,
            parent=self,
            margins=(14, 8, 12, 10),
            spacing=8,
        )
        for one, other in ((self.grid, self.save), (self.save, self.back), (self.back, self.detector)):
            QWidget.setTabOrder(one, other)

    def _show(self) -> None:
        model = self._model
        self.save.setEnabled(model.is_changed and not model.is_saving)
        self.back.setEnabled(model.is_changed)
        self.error.setText(model.error)
        self.error.setVisible(bool(model.error))
        wanted = [self.tr("Add a detector…"), *map(detector_label, model.free_detectors)]
        if [self.detector.itemText(row) for row in range(self.detector.count())] != wanted:
            self.detector.clear()
            self.detector.addItems(wanted)
        self.detector.setVisible(len(wanted) > 1)

    def _show_preview(self) -> None:
        self.preview.setText(self._model.preview_words)
        self.preview.setToolTip(self._model.preview_by_site)

    def _name_detector(self, words: str) -> None:
        names = {detector_label(name): name for name in self._model.free_detectors}
        self.detector.setCurrentIndex(0)
        row = self._model.name_detector(names.get(words, ""))
        if row >= 0:
            self.grid.setCurrentIndex(self._model.table.index(row, 0))
            self.grid.setFocus(Qt.FocusReason.OtherFocusReason)


def _line(kind: str) -> QLabel:
    label = text_label(wrap=True)
    label.setProperty("kind", kind)
    return label


def _is_own(event: QKeyEvent) -> bool:
    control = event.modifiers() & Qt.KeyboardModifier.ControlModifier
    return event.key() == Qt.Key.Key_Escape or (event.key() in CTRL_ENTER and bool(control))
