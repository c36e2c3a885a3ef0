"""The region of a page that a tip is about: as it stands in the draft, and while another one is chosen."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QRect, Signal
from PySide6.QtGui import QImage

from app.engine.core.regions import RegionElement, chosen_anchor, drawn_anchor
from app.models.common.object_list import ObjectList
from app.models.common.page import ScreenshotStore
from app.models.common.translate import tr
from kb.anchor_words import has_words, region_words
from kb.tip import Anchor, TipDraft

if TYPE_CHECKING:
    from app.engine.api.tip_api import PageElements
    from app.models.common.engine_client import EngineEvents
    from app.models.common.tasks import Tasks

Box = tuple[float, float, float, float]

PICTURES = 48 << 20
"""Bytes of decoded screenshots kept."""
LEAST_SIDE = 8.0
"""Shortest side of a drawn box, in pixels of the screenshot: less is a click."""


class RegionElementList(ObjectList[RegionElement]):
    """The controls and headings of a page, in document order."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(lambda element: element.number, parent)

    def words(self, value: RegionElement) -> str:
        return f"{value.name or tr('without a name')}, {value.role}"


class RegionModel(QObject):
    """The region of one draft, and the choice of another one on the page of its step.

    Signals:
        changed: the tip's region, its picture, or whether it can be changed.
        edited(anchor): a person chose another region; ``None`` for none.
        choosing: the choice began, so the page is to be shown.
        drawn: the page arrived, or the choice changed.
        chosen: the choice ended.
    """

    changed = Signal()
    edited = Signal(object)
    choosing = Signal()
    drawn = Signal()
    chosen = Signal()

    def __init__(self, client: EngineEvents, tasks: Tasks, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._client, self._tasks = client, tasks
        self.pictures = ScreenshotStore(client, tasks, self, keep=PICTURES)
        self.elements = RegionElementList(self)
        self.anchor: Anchor | None = None
        self.can_edit = False
        self.page: PageElements | None = None
        self.error = ""
        self.choice: Anchor | None = None
        self.number = -1
        """The chosen element, -1 for a drawn box or none."""
        self._run, self._step = "", 0
        self._earlier: list[Anchor | None] = []
        self._choices: list[tuple[Anchor | None, int]] = []
        self.pictures.ready.connect(self._on_picture)

    # ------------------------------------------------------------ the tip's region
    def show(self, draft: TipDraft, run: str, step: int | None, *, editable: bool) -> None:
        """Show a draft's region; it can be chosen where the step that the draft comes from is known."""
        if (run, step or 0) != (self._run, self._step) or not editable:
            self._earlier.clear()
        self.anchor, self.can_edit = draft.anchor, editable
        self._run, self._step = run, step or 0
        self.changed.emit()

    @property
    def can_choose(self) -> bool:
        return self.can_edit and bool(self._run)

    @property
    def can_clear(self) -> bool:
        return self.can_edit and self.anchor is not None

    @property
    def can_undo(self) -> bool:
        return self.can_edit and bool(self._earlier)

    def clear(self) -> None:
        """Take the region away."""
        if self.can_clear:
            self._take(None)

    def undo(self) -> None:
        """Put back the region before the last change."""
        if self.can_undo:
            self.anchor = self._earlier.pop()
            self.changed.emit()
            self.edited.emit(self.anchor)

    @property
    def picture(self) -> QImage | None:
        """The region cut out of its screenshot; ``None`` without one, and while it is loaded."""
        if self.anchor is None or not self.anchor.screenshot:
            return None
        image = self.pictures.get(self.anchor.screenshot)
        part = QRect(*self.anchor.box)
        if image is None or not image.rect().intersects(part):
            return None
        return image.copy(part.intersected(image.rect()))

    # ------------------------------------------------------------ the choice of one
    def begin(self) -> None:
        """Begin a choice on the page of the step."""
        if not self.can_choose:
            return
        self.page, self.error = None, ""
        self.choice, self.number = self.anchor, -1
        self._choices.clear()
        self.elements.replace([])
        self.choosing.emit()
        self.drawn.emit()

        def came(page: PageElements) -> None:
            self.page = page
            self.elements.replace(page.elements)
            if page.screenshot:
                self.pictures.want(page.screenshot)
            self.drawn.emit()

        def missed(error: BaseException) -> None:
            self.error = str(error)
            self.drawn.emit()

        self._tasks.start(
            self._client.api.page_elements(self._run, self._step), came, missed, key="tip-region"
        )

    @property
    def screenshot(self) -> QImage | None:
        """The page to choose on; ``None`` without one, and while it is loaded."""
        return self.pictures.get(self.page.screenshot) if self.page is not None else None

    @property
    def box(self) -> Box | None:
        """The chosen box in the screenshot's pixels."""
        choice = self.choice
        if choice is None or self.page is None or choice.screenshot != self.page.screenshot:
            return None
        return choice.box if choice.screenshot else None

    @property
    def placed(self) -> tuple[RegionElement, ...]:
        """The elements whose place on the screenshot is known."""
        return tuple(element for element in self.elements.rows if element.box is not None)

    def draw(self, box: Box) -> None:
        """Choose what is in a box.  Where no element's place is known, the chosen element keeps its words."""
        if self.page is None or min(box[2:]) < LEAST_SIDE:
            return
        found = drawn_anchor(self.elements.rows, box, self.page.screenshot, self.page.page)
        if not self.placed and self.choice is not None:
            found = replace(self.choice, screenshot=found.screenshot, box=found.box)
        self._choose(found, -1 if self.placed else self.number)

    def pick(self, number: int) -> None:
        """Choose one element."""
        if self.page is None or number == self.number or self.elements.at(number) is None:
            return
        found = chosen_anchor(self.elements.rows, number, self.page.screenshot, self.page.page)
        if not found.screenshot and (box := self.box) is not None and not self.placed:
            left, top, width, height = map(round, box)
            found = replace(found, screenshot=self.page.screenshot, box=(left, top, width, height))
        self._choose(found, number)

    def pick_at(self, x: float, y: float) -> None:
        """Choose the smallest element around a point of the screenshot."""
        around = [
            (element.box[2] * element.box[3], element.number)
            for element in self.placed
            if element.box is not None and QRect(*map(round, element.box)).contains(round(x), round(y))
        ]
        if around:
            self.pick(min(around)[1])

    def pick_next(self, by: int) -> bool:
        """Choose the next element on the screenshot; return whether there is one."""
        numbers = [element.number for element in self.placed]
        if not numbers:
            return False
        at = numbers.index(self.number) + by if self.number in numbers else 0 if by > 0 else len(numbers) - 1
        if not 0 <= at < len(numbers):
            return False
        self.pick(numbers[at])
        return True

    def shift(self, across: float, down: float, grow: bool = False) -> None:
        """Move the box, or its right and lower edge, within the screenshot."""
        image = self.screenshot
        if image is None:
            return
        left, top, width, height = self.box or self._middle(image)
        if grow:
            width = min(max(width + across, LEAST_SIDE), image.width() - left)
            height = min(max(height + down, LEAST_SIDE), image.height() - top)
        else:
            left = min(max(left + across, 0.0), max(image.width() - width, 0.0))
            top = min(max(top + down, 0.0), max(image.height() - height, 0.0))
        self.draw((left, top, width, height))

    @property
    def can_step_back(self) -> bool:
        return bool(self._choices)

    def step_back(self) -> None:
        """Undo the last change of the choice."""
        if self._choices:
            self.choice, self.number = self._choices.pop()
            self.drawn.emit()

    def accept(self) -> None:
        """Take the choice as the tip's region."""
        if self.choice is not None and self.choice != self.anchor and self.can_edit:
            self._take(self.choice)
        self.chosen.emit()

    # ------------------------------------------------------------ words
    @property
    def words(self) -> str:
        """The words that the tip's region is found by."""
        return found_by(self.anchor)

    @property
    def choice_words(self) -> str:
        """The words that the choice would be found by, or how to choose."""
        if self.choice is not None:
            return found_by(self.choice)
        if self.page is not None and not self.page.screenshot:
            return self.tr("Choose the control or heading that the tip is about.")
        return self.tr("Drag over the region that the tip is about, or choose a control.")

    # ------------------------------------------------------------ inside
    def _take(self, anchor: Anchor | None) -> None:
        self._earlier.append(self.anchor)
        self.anchor = anchor
        self.changed.emit()
        self.edited.emit(anchor)

    def _choose(self, anchor: Anchor, number: int) -> None:
        if (anchor, number) == (self.choice, self.number):
            return
        self._choices.append((self.choice, self.number))
        self.choice, self.number = anchor, number
        self.drawn.emit()

    def _middle(self, image: QImage) -> Box:
        wide, high = image.width() / 4, image.height() / 8
        return ((image.width() - wide) / 2, (image.height() - high) / 2, wide, high)

    def _on_picture(self, digest: str) -> None:
        if self.anchor is not None and digest == self.anchor.screenshot:
            self.changed.emit()
        if self.page is not None and digest == self.page.screenshot:
            self.error = self.error or self.pictures.failed.get(digest, "")
            self.drawn.emit()


def found_by(anchor: Anchor | None) -> str:
    """Return what a region is found by."""
    if anchor is None:
        return ""
    if has_words(anchor):
        return tr("Found by: {0}").format(region_words(anchor))
    if anchor.screenshot:
        return tr("Found by its picture only, with a picture encoder: there are no words here.")
    return tr("There is nothing here that it could be found by.")
