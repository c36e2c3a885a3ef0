"""The status bar: encoder, model endpoint, browser, saved; and the numbers of runs and tips."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QLocale, Qt
from PySide6.QtWidgets import QLabel, QPushButton, QWidget

from app.models.common.commands import CommandCenter
from app.views.frame.theme import Theme
from app.views.widgets.build import hbox, restyle, styled
from app.views.widgets.elided_label import ElidedLabel

if TYPE_CHECKING:
    from app.engine.api.engine_api import Check
    from app.models.common.workspace import WorkspaceModel


class StatusBar(QWidget):
    """Each part has a word; a problem is coloured too, and its tooltip has the remedy."""

    def __init__(self, center: CommandCenter, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("statusBar")
        self.center = center
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._theme = theme
        self.encoder, self.browser = ElidedLabel(), ElidedLabel()
        self.endpoint = styled(QPushButton(), "status")
        self.endpoint.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.endpoint.clicked.connect(lambda: center.trigger("app.model"))
        self.saved, self.counts = QLabel(self.tr("starting")), QLabel()
        layout = hbox(parent=self, margins=(12, 2, 12, 2), spacing=8)
        parts = (self.encoder, self.endpoint, self.browser, self.saved)
        self._late: list[QWidget] = [self.encoder, self.endpoint, self.browser]
        for number, part in enumerate(parts):
            if number:
                dot = QLabel("·")
                layout.addWidget(dot)
                self._late.append(dot)
            layout.addWidget(part)
        for part in self._late:
            part.hide()
        layout.addStretch(1)
        layout.addWidget(self.counts)
        self._restyle()
        theme.changed.connect(self._restyle)

    def bind(self, model: WorkspaceModel) -> None:
        """Follow the workspace."""
        self._model = model
        for part in self._late:
            part.show()
        model.info_changed.connect(self._show_info)
        model.checks_changed.connect(self._show_checks)
        self._show_info()
        self._show_checks()

    def show_saved(self, saved: bool) -> None:
        """Show whether the session is saved; all other data is stored as it is made."""
        self.saved.setText(self.tr("saved") if saved else self.tr("not saved: see the log"))
        self._mark(self.saved, "" if saved else "fail")

    def _show_info(self) -> None:
        model, number = self._model, QLocale().toString
        self.encoder.setText(model.encoder_words)
        self.encoder.setAccessibleName(self.tr("Encoder: {0}").format(model.encoder_words))
        if model.info is not None:
            self.counts.setText(
                self.tr("Runs {0} · tips {1}").format(number(model.info.runs), number(model.info.tips))
            )
            self.encoder.setToolTip(model.info.encoder)

    def _show_checks(self) -> None:
        self._show_check(self.endpoint, self._model.check("endpoint"), self.tr("no model endpoint"))
        self._show_check(self.browser, self._model.check("browser"), self.tr("no browser"))
        self._show_sandbox(self._model.check("sandbox"))

    def _show_check(self, label: ElidedLabel | QPushButton, check: Check | None, absent: str) -> None:
        name = absent.partition(" ")[2]
        if check is None:
            label.setText(self.tr("{0}: checking").format(name))
            return
        if check.slow:
            label.setText(self.tr("{0}: not answering yet").format(name))
        else:
            label.setText(self._in_short(check.found.partition(" (")[0]) if check.ok else absent)
        label.setToolTip("\n".join(part for part in (check.found, check.remedy) if part))
        label.setAccessibleName(f"{name}: {label.text()}")
        self._mark(label, "warn" if not check.ok and check.needed and not check.slow else "")

    def _show_sandbox(self, check: Check | None) -> None:
        """Mention a browser without its sandbox; one with it needs no word."""
        if check is None or check.ok:
            return
        self.browser.setText(self.tr("{0}, no sandbox").format(self.browser.text()))
        why = self.tr("The sandbox is off: {0}").format(check.found)
        self.browser.setToolTip("\n".join((self.browser.toolTip(), why, check.remedy)))
        self.browser.setAccessibleName(self.tr("browser: {0}").format(self.browser.text()))
        self._mark(self.browser, "warn")

    def _in_short(self, text: str) -> str:
        """Return a text cut in its middle to the width of a part."""
        return self.fontMetrics().elidedText(text, Qt.TextElideMode.ElideMiddle, self._theme.px(260))

    def _mark(self, label: QWidget, state: str) -> None:
        restyle(label, state=state)

    def _restyle(self) -> None:
        self.setFixedHeight(self._theme.px(24))
