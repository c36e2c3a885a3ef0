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
from app.engine.core.tree_reading import CONTROLS, ReadLine, TreeReading, read_folded, read_gist, read_plain
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
    """The accessibility tree of one page as it is read, a node a row; another page replaces all of it.

    Rows are those of ``all_lines``; lines are those of the page, as ``PageView.lines`` counts them.

    Signals:
        shown: another page.  Reading the same one in another way only resets the model.
    """

    shown = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.page: PageView | None = None
        self.all_lines: tuple[ReadLine, ...] = ()
        self.target = self.first_change = -1
        self.raw = self.is_another = self.whole = False
        self.marked, self.mark_word = -1, ""
        self.hits: tuple[int, ...] = ()
        self.hit_rows: frozenset[int] = frozenset()
        self.hit = -1
        self._needle: str = ""
        self._mark = -1
        self._shown_at: tuple[int, ...] = ()

    def show(self, page: PageView | None, *, another: bool = False) -> None:
        """Show this page, or nothing while it is loading; ``another``: in short, as nothing on it is compared."""
        self.page, self.is_another, self.whole = page, another, False
        self._mark, self.mark_word, self.hit = -1, "", -1
        self._read()
        self.shown.emit()

    @property
    def is_short(self) -> bool:
        """Whether only headings, forms and alerts are shown."""
        return self.is_another and not self.whole and not self.raw

    def set_raw(self, raw: bool) -> None:
        """Show every line as it was recorded, or fold wrappers and repeats away."""
        self.raw = raw
        self._read()

    def set_whole(self, whole: bool) -> None:
        """Show another page whole, or in short."""
        self.whole = whole
        self._read()

    def mark(self, line: int, word: str) -> None:
        """Mark a line of the page with a word at its end; -1 for none."""
        self._mark, self.mark_word = line, word
        self._read()

    def find(self, needle: str) -> None:
        """Find all rows with these words, in any case; "" ends the search."""
        needle = " ".join(needle.casefold().split())
        if needle != self._needle:
            self._needle, self.hit = needle, -1
            self._read()

    def go_to_hit(self, number: int) -> None:
        """Make a hit the current one; -1 for none."""
        self.hit = number if 0 <= number < len(self.hits) else -1
        self._repaint()

    @property
    def hit_row(self) -> int:
        """The row of the current hit, -1 for none."""
        return self.hits[self.hit] if 0 <= self.hit < len(self.hits) else -1

    @property
    def focus_row(self) -> int:
        """The row to scroll to: the target, else the first change, else the top."""
        return max(self.target if self.target >= 0 else self.first_change, 0)

    def row_of(self, line: int) -> int:
        """The row that shows a line of the page, or stands nearest to it."""
        return self._shown_at[line] if 0 <= line < len(self._shown_at) else -1

    def line(self, row: int) -> ReadLine | None:
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
            word = self.mark_word if index.row() == self.marked else ""
            return ", ".join(part for part in (line_words(line), word) if part)
        if role == Qt.ItemDataRole.ToolTipRole:
            return line_words(line) if len(line.name) + len(line.properties) > 40 else None
        return None

    def _read(self) -> None:
        """Make the rows: marked lines and hits are among them, whatever is folded."""
        self.beginResetModel()
        lines = self.page.lines if self.page is not None else ()
        needle = self._needle
        wanted = [self._mark] if 0 <= self._mark < len(lines) else []
        found = [row for row, line in enumerate(lines) if needle in _searched(line)] if needle else []
        reading = self._reading(lines, frozenset())
        kept = frozenset(row for row in found if needle not in _searched(reading.rows[reading.shown_at[row]]))
        kept |= {row for row in wanted if lines[row].name not in reading.rows[reading.shown_at[row]].name}
        if kept:
            reading = self._reading(lines, kept)
        self.all_lines, self._shown_at = reading.rows, reading.shown_at
        rows = self.all_lines
        self.target = next((row for row, line in enumerate(rows) if line.is_target), -1)
        self.first_change = next((row for row, line in enumerate(rows) if line.change != "same"), -1)
        self.marked = self.row_of(wanted[0]) if wanted else -1
        self.hits = tuple(row for row, line in enumerate(rows) if needle in _searched(line)) if needle else ()
        self.hit_rows = frozenset(self.hits)
        self.hit = min(self.hit, len(self.hits) - 1)
        self.endResetModel()

    def _reading(self, lines: tuple[AxTreeLine, ...], keep: frozenset[int]) -> TreeReading:
        if self.raw:
            return read_plain(lines)
        reading = read_folded(lines, keep) if keep else folded(lines)
        return read_gist(reading, keep) if self.is_short and lines else reading

    def _repaint(self) -> None:
        if self.all_lines:
            self.dataChanged.emit(self.index(0), self.index(len(self.all_lines) - 1))


KEEP_READ = 60
"""Pages whose folded rows are kept: those of the steps that are."""

_FOLDED: OrderedDict[int, tuple[tuple[AxTreeLine, ...], TreeReading]] = OrderedDict()


def folded(lines: tuple[AxTreeLine, ...]) -> TreeReading:
    """Return the lines as they are read; kept, so that a step that was fetched ahead shows at once."""
    known = _FOLDED.get(id(lines))
    if known is None or known[0] is not lines:
        known = _FOLDED[id(lines)] = (lines, read_folded(lines))
        while len(_FOLDED) > KEEP_READ:
            _FOLDED.popitem(last=False)
    return known[1]


def _searched(line: AxTreeLine | ReadLine) -> str:
    role = line.role if line.role in CONTROLS or line.role == "heading" else ""  # wrappers would all be hits
    return " ".join(f"{role} {line.name} {line.properties}".casefold().split())


def line_text(line: ReadLine) -> str:
    """Return what one sees of a line, to be copied: ``button Save focused``, and of a text the text alone."""
    role = "" if line.role == "StaticText" else line.role
    return " ".join(part for part in (role, line.name or line.near, line.properties) if part)


def line_selector(line: ReadLine) -> str:
    """Return a selector for the element of a line, as Playwright reads them.

    One without a name is selected by the id that BrowserGym gave it; "" where it has neither.
    """
    name = line.name.replace("\\", "\\\\").replace('"', '\\"')
    if not name:
        return f'[bid="{line.bid}"]' if line.bid else ""
    return f'text="{name}"' if line.role == "StaticText" else f'role={line.role}[name="{name}"]'


def line_words(line: AxTreeLine | ReadLine) -> str:
    """``added, button 'Save', focused, target``."""
    near = getattr(line, "near", "")
    called = f"'{line.name}'" if line.name else near
    parts = [f"{line.role} {called}" if called else line.role, line.properties]
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
