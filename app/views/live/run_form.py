"""The form that starts one run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt

from app.models.live.run_form import RunFormModel
from app.views.live.run_options import EXAMPLE, RunOptionsForm
from app.views.widgets.build import text_label
from app.views.widgets.form_panel import FormField

if TYPE_CHECKING:
    from app.views.frame.theme import Theme


class RunForm(RunOptionsForm[RunFormModel]):
    """One task.  ``closed``: it was closed, or the run was started."""

    def __init__(self, model: RunFormModel, theme: Theme) -> None:
        super().__init__(model, (
            FormField(name="intent", label=self.tr("Task"), is_long=True, meaning=self.tr(
                "in words; write a password as {secret:NAME} and set SITELORE_SECRET_NAME")),
            FormField(name="start_url", label=self.tr("Start address"), meaning=self.tr("where the task starts"),
                      placeholder=EXAMPLE),
            *self.option_fields(),
        ))  # fmt: skip
        self._theme = theme
        self.going = text_label(kind="secondary", wrap=True)
        self.add_fields("intent", "start_url")
        self.intent = self.texts["intent"]
        self.add_policy()
        self.add_graph()
        self.add_fields("kb", "max_steps", "storage_state")
        self.add_headed()
        self.begin_section(self.tr("More options"))
        self.add_run_budget()
        self.add_reach()
        self.end_section()
        self.frame(self.tr("Start a run"), self.going)
        self.start.setText(self.tr("Start   Enter"))
        self.start.setAccessibleName(self.tr("Start a run"))
        model.sent.connect(self.closed)
        model.filled.connect(self._on_filled)
        theme.changed.connect(self._fit)
        self._fit()
        self.refresh()

    def begin(self) -> None:
        """Focus the first field with a problem."""
        self.form.load()
        self.start_over()
        wanted = self.fields["start_url"] if self.form.values["intent"].strip() else self.intent
        wanted.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def run_action(self) -> bool:
        return self.form.start()

    def refresh(self) -> None:
        super().refresh()
        self.going.setText(self.form.note)
        self.going.setVisible(bool(self.form.note))

    def _on_filled(self) -> None:
        """Focus the next field: the task arrived after the form was opened."""
        if self.intent.hasFocus():
            self.begin()

    def _fit(self) -> None:
        self.intent.setFixedHeight(self._theme.px(84))
