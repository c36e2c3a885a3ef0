"""Asks for the reason to activate tips despite lint errors; shown only after such an attempt."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QLineEdit, QPushButton

from app.views.widgets.build import hbox, styled, text_label, vbox

if TYPE_CHECKING:
    from app.models.knowledge.knowledge_model import KnowledgeModel

MAX_NAMED = 3
"""Refused tips that are named; beyond that, only their number."""


class WaiverLine(QFrame):
    """The refused tips and their rules, a field for the reason, and two buttons."""

    def __init__(self, model: KnowledgeModel) -> None:
        super().__init__()
        self._model = model
        self.setProperty("kind", "raised")
        self.setAccessibleName(self.tr("Tips that lint refuses to activate"))
        self.why = text_label(kind="warn", wrap=True)
        self.reason = QLineEdit()
        self.reason.setPlaceholderText(self.tr("why they may be active anyway"))
        self.reason.setAccessibleName(self.tr("Reason to waive the lint errors"))
        self.waive, self.leave = (
            styled(QPushButton(self.tr("Waive   Enter")), "primary"),
            styled(QPushButton(self.tr("Leave as they are   Esc")), "link"),
        )
        self.waive.setAccessibleName(self.tr("Waive the lint errors for this reason"))
        self.leave.setAccessibleName(self.tr("Leave the tips as they are"))
        row = hbox((self.reason, 1), self.waive, self.leave, spacing=6)
        vbox(self.why, row, parent=self, margins=(14, 6, 12, 4), spacing=4)
        self.reason.textChanged.connect(self._on_typed)
        self.reason.returnPressed.connect(self._do)
        self.waive.clicked.connect(self._do)
        self.leave.clicked.connect(model.dismiss_waiver)
        model.waiver_changed.connect(self._show)
        self._show()

    def _on_typed(self, text: str) -> None:
        self.waive.setEnabled(bool(text.strip()))

    def _do(self) -> None:
        self._model.waive(self.reason.text())

    def _show(self) -> None:
        refused = self._model.refused
        self.setVisible(bool(refused))
        if not refused:
            return
        named = [f"{tip} ({', '.join(rules)})" for tip, rules in list(refused.items())[:MAX_NAMED]]
        if len(refused) > MAX_NAMED:
            named.append(self.tr("and {0} more").format(len(refused) - MAX_NAMED))
        self.why.setText(self.tr("Not activated because of lint errors: {0}").format(", ".join(named)))
        self.reason.clear()
        self.waive.setEnabled(False)
        self.reason.setFocus(Qt.FocusReason.OtherFocusReason)
