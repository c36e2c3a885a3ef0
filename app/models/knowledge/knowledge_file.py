"""A knowledge base from elsewhere, read to be looked at: its tips, and how many of them are missing here."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.models.common.object_list import ObjectList
from app.models.common.translate import tr
from kb.tip import Tip

if TYPE_CHECKING:
    from app.models.common.engine_client import EngineClient, LocalClient
    from app.models.common.tasks import Tasks
    from kb.tip import ImportReport


class KnowledgeFileTips(ObjectList[Tip]):
    """The file's tips by site."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(lambda tip: tip.id, parent)

    def words(self, value: Tip) -> str:
        """Return a tip in one line."""
        return tr("{0}, {1}: {2}").format(value.site, value.status.value, value.text)


class KnowledgeFileModel(QObject):
    """Signals:

    changed: a file is being read, was read, can't be read, or was merged.
    notice: a sentence about what was done.
    """

    changed = Signal()
    notice = Signal(str)

    def __init__(
        self, client: EngineClient | LocalClient, tasks: Tasks, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._client, self._tasks = client, tasks
        self.tips = KnowledgeFileTips(self)
        self.path, self.problem, self.is_busy = "", "", False

    @property
    def name(self) -> str:
        """The file's name."""
        return PurePath(self.path).name

    @property
    def summary(self) -> str:
        """One sentence about the file as it is."""
        if self.problem:
            return self.problem
        if self.is_busy:
            return tr("Reading…")
        sites = len({tip.site for tip in self.tips.rows})
        return tr("{0} tips of {1} sites. Nothing here has changed: the file is only shown.").format(
            len(self.tips.rows), sites
        )

    @property
    def can_merge(self) -> bool:
        """Whether it was read and has tips."""
        return not (self.is_busy or self.problem) and bool(self.tips.rows)

    def load(self, path: str) -> None:
        """Read a file; the last one asked for is shown."""
        self.path, self.problem, self.is_busy = path, "", True
        self.tips.merge([])
        self._tasks.start(
            self._client.api.kb_tips(path), self._on_read, self._on_failed, key="knowledge-file"
        )
        self.changed.emit()

    def merge(self) -> None:
        """Add the tips that are missing in the workspace, as drafts; undo removes them."""
        if self.can_merge:
            self.is_busy = True
            self._tasks.start(self._client.api.kb_merge(self.path), self._on_merged, self._on_failed)
            self.changed.emit()

    def _on_read(self, tips: list[Tip]) -> None:
        self.is_busy = False
        self.tips.merge(sorted(tips, key=lambda tip: (tip.site, tip.id)))
        self.changed.emit()

    def _on_merged(self, report: ImportReport) -> None:
        self.is_busy = False
        words = tr("{0}: {1} tips added as drafts, {2} already present")
        self.notice.emit(words.format(self.name, len(report.added), report.skipped))
        self.changed.emit()

    def _on_failed(self, error: Exception) -> None:
        self.is_busy, self.problem = False, str(error) or type(error).__name__
        self.changed.emit()
