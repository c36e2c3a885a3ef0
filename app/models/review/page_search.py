"""Finding words on the pages of a step: the hits of both pages as one row, the page before first."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QObject, Signal

from app.models.common.page import PageModel


class PageSearch(QObject):
    """A search over two pages; it stays while other steps are shown.

    Signals:
        changed: other hits, or another one is current.
        moved: the current hit is on the page before (0) or after (1) the step.
    """

    changed = Signal()
    moved = Signal(int)

    def __init__(self, before: PageModel, after: PageModel, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._pages = (before, after)
        self.text = ""
        for page in self._pages:
            page.shown.connect(self.changed)

    @property
    def count(self) -> int:
        return sum(len(page.hits) for page in self._pages)

    @property
    def at(self) -> int:
        """The number of the current hit from 0, -1 for none."""
        before, after = self._pages
        if before.hit >= 0:
            return before.hit
        return len(before.hits) + after.hit if after.hit >= 0 else -1

    @property
    def words(self) -> str:
        """``3 of 17``."""
        if not self.text:
            return ""
        if not self.count:
            return _tr("no match")
        if self.at < 0:
            return _tr("1 match") if self.count == 1 else _tr("{0} matches").format(self.count)
        return _tr("{0} of {1}").format(self.at + 1, self.count)

    def find(self, text: str) -> None:
        """Search both pages and go to the first hit."""
        self.text = text.strip()
        for page in self._pages:
            page.find(self.text)
            page.go_to_hit(-1)
        if self.text and self.count:
            self._go_to(0)
        self.changed.emit()

    def go(self, offset: int) -> None:
        """Go to the next hit (1) or the previous one (-1), round the ends."""
        if self.count:
            at = self.at
            self._go_to((at + offset) % self.count if at >= 0 else 0 if offset > 0 else self.count - 1)

    def _go_to(self, number: int) -> None:
        before, after = self._pages
        side = int(number >= len(before.hits))
        before.go_to_hit(-1 if side else number)
        after.go_to_hit(number - len(before.hits) if side else -1)
        self.changed.emit()
        self.moved.emit(side)


def _tr(text: str) -> str:
    return QCoreApplication.translate("Review", text)
