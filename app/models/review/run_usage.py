"""Tokens, model time and cost of the open run, in all and by role."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.models.common.tasks import ignore
from app.models.common.usage_words import usage_line

if TYPE_CHECKING:
    from app.engine.api.engine_api import RunDetail
    from app.engine.api.exchange_api import ExchangeRow
    from app.models.common.engine_client import EngineEvents
    from app.models.common.tasks import Tasks


class RunUsage(QObject):
    """Signals:

    changed: the figures of another run.
    """

    changed = Signal()

    def __init__(self, client: EngineEvents, tasks: Tasks, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._client, self._tasks = client, tasks
        self._run = ""
        self.line = ""
        """One line, "" where no model was asked."""

    def show(self, detail: RunDetail | None) -> None:
        """Show a run; only one that asked a model is read."""
        run = detail.run if detail is not None else None
        if run is not None and run.id == self._run:
            return
        self._run = run.id if run is not None else ""
        self._set(())
        if run is None or run.cost is None:
            return

        def came(rows: tuple[ExchangeRow, ...]) -> None:
            if run.id == self._run:
                self._set(rows)

        self._tasks.start(self._client.api.exchanges(run.id), came, ignore, key="review-usage")

    def _set(self, rows: tuple[ExchangeRow, ...]) -> None:
        self.line = usage_line(rows)
        self.changed.emit()
