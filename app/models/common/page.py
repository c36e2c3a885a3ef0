"""One side of a step: the page as lines of its accessibility tree, and its screenshot decoded off the Qt thread."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

from PySide6.QtCore import (
    QAbstractListModel,
    QByteArray,
    QModelIndex,
    QObject,
    Qt,
    Signal,
)
from PySide6.QtGui import QImage

from app.engine.api.engine_api import PageView
from app.models.common.decoder import Decoder
from app.models.common.object_list import OBJECT_ROLE, Index

if TYPE_CHECKING:
    from app.engine.core.ax_tree import AxTreeLine
    from app.models.common.engine_client import EngineEvents
    from app.models.common.tasks import Tasks

SIGNS = {"added": "+", "removed": "−", "changed": "~", "same": ""}
"""The sign beside a line's colour."""

_CHANGE_WORDS = {"added": "added", "removed": "removed", "changed": "changed", "same": ""}
_ROOT = QModelIndex()


class PageModel(QAbstractListModel):
    """The accessibility tree of one page, a node a row; another page replaces all of it."""

    shown = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.page: PageView | None = None
        self.all_lines: tuple[AxTreeLine, ...] = ()
        self.target = self.first_change = -1

    def show(self, page: PageView | None) -> None:
        """Show this page, or nothing while it is loading."""
        self.beginResetModel()
        self.page = page
        self.all_lines = page.lines if page is not None else ()
        self.target = next((row for row, line in enumerate(self.all_lines) if line.is_target), -1)
        self.first_change = next(
            (row for row, line in enumerate(self.all_lines) if line.change != "same"), -1
        )
        self.endResetModel()
        self.shown.emit()

    @property
    def focus_row(self) -> int:
        """The row to scroll to: the target, else the first change, else the top."""
        return max(self.target if self.target >= 0 else self.first_change, 0)

    def line(self, row: int) -> AxTreeLine | None:
        return self.all_lines[row] if 0 <= row < len(self.all_lines) else None

    def rowCount(self, parent: Index = _ROOT) -> int:
        return 0 if parent.isValid() else len(self.all_lines)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """The node, or its text in one line."""
        line = self.line(index.row()) if index.isValid() else None
        if line is None:
            return None
        if role == OBJECT_ROLE:
            return line
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return line_words(line)
        if role == Qt.ItemDataRole.ToolTipRole:
            return line_words(line) if len(line.name) + len(line.properties) > 40 else None
        return None


def readable_lines(lines: tuple[AxTreeLine, ...]) -> tuple[AxTreeLine, ...]:
    """Return the lines without texts that only repeat their parent, and without empty ones.

    A tree names a link and then its text again; a text that differs, that changed alone, or that is the target stays.
    """
    shown: list[AxTreeLine] = []
    parents: list[AxTreeLine] = []
    for line in lines:
        while parents and parents[-1].depth >= line.depth:
            parents.pop()
        if line.role == "StaticText" and not line.is_target:
            over = parents[-1] if parents else None
            if not line.name.strip():
                continue
            if over is not None and over.name.strip() == line.name.strip() and over.change == line.change:
                continue
        parents.append(line)
        shown.append(line)
    return tuple(shown)


def line_words(line: AxTreeLine) -> str:
    """``+ button 'Save', focused, target``."""
    parts = [f"{line.role} '{line.name}'" if line.name else line.role, line.properties]
    if line.is_target:
        parts.append("target")
    if line.change != "same":
        parts.insert(0, _CHANGE_WORDS[line.change])
    return ", ".join(part for part in parts if part)


def decoded_screenshot(data: bytes) -> QImage:
    """Return a screenshot without transparency; a null image for a damaged file."""
    image = QImage.fromData(QByteArray(data))
    return image if image.isNull() else image.convertToFormat(QImage.Format.Format_RGB32)


class ScreenshotStore(QObject):
    """Screenshots by content hash: fetched from the engine, decoded on worker threads, the newest kept.

    Args:
        keep: bytes of decoded pictures to hold.
    """

    ready = Signal(str)

    def __init__(
        self, client: EngineEvents, tasks: Tasks, parent: QObject | None = None, keep: int = 160 << 20
    ) -> None:
        super().__init__(parent)
        self._client, self._tasks, self._keep = client, tasks, keep
        self._images: OrderedDict[str, QImage] = OrderedDict()
        self._asked: set[str] = set()
        self.failed: dict[str, str] = {}
        self._decoder = Decoder(self)

    def get(self, digest: str) -> QImage | None:
        """Return the picture, or ``None`` while it is fetched; ``ready`` reports when it is there."""
        image = self._images.get(digest)
        if image is not None:
            self._images.move_to_end(digest)
            return image
        self.want(digest)
        return None

    def want(self, digest: str) -> None:
        """Fetch a picture that will be shown soon."""
        if not digest or digest in self._images or digest in self._asked or digest in self.failed:
            return
        self._asked.add(digest)

        def failed(error: BaseException) -> None:
            self._asked.discard(digest)
            self.failed[digest] = str(error)
            self.ready.emit(digest)

        def arrived(data: bytes) -> None:
            self._decoder.start(lambda: decoded_screenshot(data), lambda image: self._decoded(digest, image))

        self._tasks.start(self._client.api.blob(digest), arrived, failed)

    def close(self) -> None:
        self._decoder.close()

    def _decoded(self, digest: str, image: QImage) -> None:
        self._asked.discard(digest)
        if image.isNull():
            self.failed[digest] = self.tr("The screenshot can't be read: the file is damaged.")
        else:
            self._images[digest] = image
            size = sum(kept.sizeInBytes() for kept in self._images.values())
            while size > self._keep and len(self._images) > 2:
                size -= self._images.popitem(last=False)[1].sizeInBytes()
        self.ready.emit(digest)


def aligned_rows(one: PageModel, other: PageModel) -> list[int]:
    """Return for each row of ``one`` the row of ``other`` at the same position in the page, never going back.

    Lines with the same element id are anchors; rows between anchors keep their distance to the one above.
    """
    place = {line.bid: row for row, line in enumerate(other.all_lines) if line.bid}
    rows: list[int] = []
    anchor = here = -1
    last = max(len(other.all_lines) - 1, 0)
    for row, line in enumerate(one.all_lines):
        found = place.get(line.bid, -1) if line.bid else -1
        if found > anchor:
            anchor, here = found, row
        rows.append(min(max(anchor, 0) + row - max(here, 0), last) if anchor >= 0 else min(row, last))
    return rows
