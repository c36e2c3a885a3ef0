"""Commands that open the batches and work in the forms that start runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QStackedWidget
from shiboken6 import isValid

from app.models.live.batch_list import wall_filter
from app.views.live.run_options import RunOptionsForm

if TYPE_CHECKING:
    from typing import Any

    from app.engine.core.batch import BatchRow
    from app.models.common.commands import CommandCenter
    from app.models.live.model import LiveModel
    from app.views.live.batch_form import BatchForm
    from app.views.live.batch_panel import BatchPanel
    from app.views.live.run_form import RunForm


class FormHost(Protocol):
    """The view that shows forms and batches beside the runs."""

    model: LiveModel
    form: RunForm
    tasks: BatchForm
    batches: BatchPanel
    side: QStackedWidget

    def open_form(self, form: BatchPanel) -> None: ...
    def close_form(self) -> None: ...


class BatchCommands(QObject):
    """Also opens the batches once one was started, and closes them for a run that is opened from there."""

    def __init__(self, view: FormHost, center: CommandCenter) -> None:
        super().__init__()
        self._view, self._center = view, center
        self._batches = view.model.batches
        form = self._batches.form
        center.bind("live.batches", self.toggle)
        center.bind("live.form.more", self._toggle_sections, lambda: self._form is not None)
        center.bind(
            "live.form.leave_out",
            form.leave_out_unready,
            lambda: self._form is view.tasks and bool(form.unready),
        )
        self._batches.panel_wanted.connect(self._open)
        self._batches.run_wanted.connect(view.close_form)
        self._batches.wall_wanted.connect(self._show_on_wall)
        form.changed.connect(center.refresh)
        center.keys_changed.connect(self._show_keys)
        self._show_keys()

    def toggle(self) -> None:
        """Show the batches beside the grid, or hide them."""
        view = self._view
        if not view.side.isHidden() and view.side.currentWidget() is view.batches:
            view.close_form()
        else:
            view.open_form(view.batches)

    def _open(self) -> None:
        self._view.open_form(self._view.batches)

    def _show_on_wall(self, row: BatchRow) -> None:
        """Filter the wall to the runs of a batch; the panel stays beside it."""
        model = self._view.model
        model.close()
        model.inbox.close()
        model.wall.set_filter(wall_filter(model.wall.batch_name(row.id)))

    @property
    def _form(self) -> RunOptionsForm[Any] | None:
        """The form that starts runs, while it is open."""
        view = self._view
        if not isValid(view.side):  # the window is closing, and commands are still refreshed
            return None
        shown = None if view.side.isHidden() else view.side.currentWidget()
        return shown if isinstance(shown, RunOptionsForm) else None  # pyright: ignore[reportUnknownVariableType]

    def _toggle_sections(self) -> None:
        if self._form is not None:
            self._form.toggle_sections()

    def _show_keys(self) -> None:
        more = self._center.keys("live.form.more")
        self._view.form.show_section_keys(more)
        self._view.tasks.show_section_keys(more)
        self._view.tasks.show_leave_out_keys(self._center.keys("live.form.leave_out"))
