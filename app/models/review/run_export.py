"""Export of the open or the selected runs to files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QObject, Signal

if TYPE_CHECKING:
    from app.engine.api.export_api import RunExportReport
    from app.models.common.engine_client import EngineEvents
    from app.models.common.tasks import Tasks


@dataclass(frozen=True, slots=True)
class ExportChoice:
    """A format as the file dialog offers it; ``suffix`` is "" where a run becomes a folder."""

    format: str
    title: str
    suffix: str


class RunExportModel(QObject):
    """Writes runs in a chosen format.

    Signals:
        notice: a sentence for a passing message.
        written: a sentence, and the file or folder that can be shown.
    """

    notice = Signal(str)
    written = Signal(str, str)

    def __init__(self, client: EngineEvents, tasks: Tasks, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._client, self._tasks = client, tasks

    def choices(self) -> list[ExportChoice]:
        """Return the formats, that for people first."""
        from app.engine.exports import EXPORTS, NATIVE  # Pillow and the writers: not at the window's start

        found = [ExportChoice(name, form.title, form.suffix) for name, form in EXPORTS.items()]
        return [*found, ExportChoice(NATIVE, _tr("Sitelore run folder, to import elsewhere"), "")]

    def export(self, runs: Sequence[str], path: str, format: str) -> None:
        """Write the runs; the job reports its progress and can be cancelled."""
        if runs:
            self._tasks.start(
                self._client.api.export_runs(list(runs), path, format), partial(self._on_written, path)
            )

    def _on_written(self, path: str, report: RunExportReport) -> None:
        count = len(report.paths)
        where = report.paths[0] if count == 1 else path
        parts = [_tr("Run exported to {0}").format(where)]
        if count != 1:
            parts = [_tr("{0} runs exported to {1}").format(count, where)]
        if report.cancelled:
            parts.append(_tr("Cancelled before the end."))
        if report.failed:
            first = report.failed[0]
            words = _tr("{0} could not be exported (first: {1}: {2}).")
            parts.append(words.format(len(report.failed), first.path, first.error))
        said = ". ".join(parts) if len(parts) > 1 else parts[0]
        if count:
            self.written.emit(said, where)
        else:
            self.notice.emit(said)


def _tr(text: str) -> str:
    return QCoreApplication.translate("RunExport", text)
