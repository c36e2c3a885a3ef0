"""Tips whose region the picture of a page shows: likenesses by an image-text model that the user chose.

A tip's region is cut out of its screenshot and compared with windows of its size on the page in front: at its own
place, and around the controls of its role nearest to that.  How alike is alike is told by the tip's own page: with
``c`` the best cosine on the page in front and ``b`` the best one of windows elsewhere on the region's own screenshot,
the likeness is ``(c - b) / (1 - b)``; one that is not above 0 is none.  So no number depends on the model.

Vectors of tips' windows are cached in the knowledge base by the content of picture and box; those of pages in memory.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from app import settings
from app.engine.core.page_state import PageCapture, Rect
from app.engine.core.rectangles import overlap, overlap_ratio
from app.engine.services.core import Core
from app.errors import SiteloreError
from kb.tip import CROSS, Anchor, Query, Tip

if TYPE_CHECKING:
    from app.engine.graph.search.pictures import PictureModel

log = logging.getLogger(__name__)

Vector = NDArray[np.float32]

MOST_REGIONS = 24
"""Regions compared at a step; beyond them tips are found by words."""
MOST_WINDOWS = 8
"""Windows of a new page that are encoded at a step: with a model of CLIP's size each takes a tenth of a second or more
on a processor, and the step waits for it.  A fixed number, so that an answer does not depend on the machine."""
WINDOWS_OF_REGION = 4
_OWN_ROWS = 3
"""Windows across and down a region's own page, for the background."""
_SAME, _ASIDE = 0.8, 0.1
_LEAST_ROOM = 0.001
_REMEMBERED = 1_024


class PictureModels:
    """The user's image-text model, loaded once for all that compare pictures."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._loaded: tuple[str, PictureModel] | None = None
        self._one_at_a_time = asyncio.Lock()

    async def load(self, folder: str) -> PictureModel:
        """Return the model of a folder; takes seconds the first time.  Raises as ``PictureModel`` does."""
        from app.engine.graph.search.pictures import PictureModel

        async with self._one_at_a_time:
            if self._loaded is None or self._loaded[0] != folder:
                model = await self._core.on_worker(PictureModel, Path(folder).expanduser())
                self._loaded = (folder, model)
            return self._loaded[1]


@dataclass(frozen=True, slots=True)
class PicturesCompared:
    """Tips whose region the page shows, with their likeness in (0, 1]; and why no pictures were compared."""

    looks: tuple[tuple[str, float], ...] = ()
    off: str = ""


@dataclass(frozen=True, slots=True)
class _Region:
    tip: str
    anchor: Anchor
    box: Rect


class RegionLooks:
    """Compares tips' regions with pages in front; by words alone where there is no model."""

    def __init__(self, core: Core, models: PictureModels) -> None:
        self._core, self._models = core, models
        self._pages: OrderedDict[str, Vector] = OrderedDict()
        self._refused: tuple[str, str] = ("", "")

    async def on(self, query: Query, page: PageCapture, tips: Sequence[Tip]) -> PicturesCompared:
        """Compare the regions of tips with a page; nothing is said where no model is set."""
        folder = settings.load().picture_encoder
        regions = regions_for(query, tips)
        if not folder or not regions or not page.picture:
            return PicturesCompared()
        if self._refused[0] == folder:
            return PicturesCompared(off=self._refused[1])
        try:
            model = await self._models.load(folder)
        except SiteloreError as error:
            self._refused = (folder, f"regions are found by their words only: {error}")
            log.warning("%s", self._refused[1])
            return PicturesCompared(off=self._refused[1])
        found: list[tuple[str, float]] = []
        windows = windows_for(regions, page)
        seen = await self._of_page(model, page.picture, windows)
        for region in regions:
            look = await self._look(model, region, [seen[box] for box in windows[region.tip] if box in seen])
            if look > 0:
                found.append((region.tip, look))
        return PicturesCompared(looks=tuple(found))

    async def _look(self, model: PictureModel, region: _Region, seen: Sequence[Vector]) -> float:
        own = await self._of_tip(model, region) if seen else None
        return likeness(own[:-1], seen, float(own[-1])) if own is not None else 0.0

    async def _of_tip(self, model: PictureModel, region: _Region) -> Vector | None:
        """Return the region's vector, and after it its background; None without its picture."""
        key = f"region:{region.anchor.screenshot}:{_named(region.box)}"

        def reading() -> tuple[bytes, bytes]:
            known = self._core.kb.vectors.get_many(model.id, [key]).get(key, b"")
            return known, known or self._core.workspace.runs.read_blob(region.anchor.screenshot)

        try:
            known, picture = await self._core.on_store(reading)
        except SiteloreError as error:
            log.info("the screenshot of the region of %s is missing: %s", region.tip, error)
            return None
        if known:
            return np.frombuffer(known, "<f4")
        boxes = [region.box, *aside(region.box, picture_size(picture))]
        vectors = await self._core.on_worker(model.of_parts, picture, boxes)
        if not vectors:
            return None
        known = np.append(vectors[0], background_of(vectors[0], vectors[1:])).astype("<f4").tobytes()
        await self._core.on_store(lambda: self._core.kb.vectors.put_many(model.id, {key: known}))
        return np.frombuffer(known, "<f4")

    async def _of_page(
        self, model: PictureModel, picture: bytes, windows: Mapping[str, Sequence[Rect]]
    ) -> dict[Rect, Vector]:
        """Return the vectors of a page's windows, the first of each region first, up to ``MOST_WINDOWS``."""
        digest = hashlib.sha256(picture).hexdigest()
        turns = (
            own[turn] for turn in range(WINDOWS_OF_REGION) for own in windows.values() if turn < len(own)
        )
        wanted = list(dict.fromkeys(turns))[:MOST_WINDOWS]
        keys = {box: f"{model.id}:{digest}:{_named(box)}" for box in wanted}
        lacking = [box for box in wanted if keys[box] not in self._pages]
        if lacking:
            fresh = await self._core.on_worker(model.of_parts, picture, lacking)
            self._pages.update({keys[box]: vector for box, vector in zip(lacking, fresh, strict=False)})
        found = {box: self._pages[key] for box, key in keys.items() if key in self._pages}
        while len(self._pages) > _REMEMBERED:
            self._pages.popitem(last=False)
        return found


def regions_for(query: Query, tips: Sequence[Tip]) -> list[_Region]:
    """Return the regions with a picture of the tips of the query's sites; of all sites where it names none."""
    sites = {query.site, *query.sites, CROSS} - {""}
    of_site = [tip for tip in tips if len(sites) == 1 or tip.site in sites]
    regions = [
        _Region(tip.id, tip.anchor, tuple(map(float, tip.anchor.box)))  # type: ignore[arg-type]
        for tip in of_site
        if tip.anchor is not None and tip.anchor.screenshot and min(tip.anchor.box[2:]) > 0
    ]
    return sorted(regions, key=lambda one: one.tip)[:MOST_REGIONS]


def windows_for(regions: Sequence[_Region], page: PageCapture) -> dict[str, list[Rect]]:
    """Return the windows in which each region is looked for, by tip: its own place, then around controls."""
    return {region.tip: _windows(region, page) for region in regions}


def _windows(region: _Region, page: PageCapture) -> list[Rect]:
    left, top, width, height = region.box
    view = (0.0, 0.0, float(page.viewport[0]), float(page.viewport[1]))
    middle = (left + width / 2, top + height / 2)

    def around(rect: Rect) -> Rect:
        return (rect[0] + (rect[2] - width) / 2, rect[1] + (rect[3] - height) / 2, width, height)

    centred = [
        around(element.rect)
        for element in page.elements
        if element.visible
        and element.rect is not None
        and (not region.anchor.role or element.role == region.anchor.role)
    ]
    centred.sort(
        key=lambda box: (box[0] + width / 2 - middle[0]) ** 2 + (box[1] + height / 2 - middle[1]) ** 2
    )
    kept: list[Rect] = []
    for box in (region.box, *centred):
        part = overlap(_rounded(box), view)
        if part is None or 2 * part[2] * part[3] < width * height:
            continue  # less than half of it is in view
        if all(overlap_ratio(part, other) < _SAME for other in kept):
            kept.append(part)
        if len(kept) == WINDOWS_OF_REGION:
            break
    return kept


def aside(box: Rect, size: tuple[int, int]) -> list[Rect]:
    """Return windows of a box's size elsewhere on its picture."""
    width, height = min(box[2], size[0]), min(box[3], size[1])
    found: list[Rect] = []
    for row in range(_OWN_ROWS):
        for column in range(_OWN_ROWS):
            left = (size[0] - width) * column / (_OWN_ROWS - 1)
            top = (size[1] - height) * row / (_OWN_ROWS - 1)
            one = _rounded((left, top, width, height))
            if overlap_ratio(one, box) < _ASIDE:
                found.append(one)
    return found


def background_of(region: Vector, elsewhere: Sequence[Vector]) -> float:
    """Return how much windows elsewhere on its own page are like the region; 0 where there are none."""
    return max((float(region @ one) for one in elsewhere), default=0.0)


def likeness(region: Vector, seen: Sequence[Vector], background: float) -> float:
    """Return how alike the likest of the seen windows is, between 0 and 1.

    A region that its own page shows elsewhere too tells no place.
    """
    background = max(background, 0.0)
    if 1 - background < _LEAST_ROOM:
        return 0.0
    best = max(float(region @ one) for one in seen)
    return round(min(max((best - background) / (1 - background), 0.0), 1.0), 4)


def picture_size(picture: bytes) -> tuple[int, int]:
    """Return width and height of a picture; (0, 0) for bytes that are none."""
    from app.engine.graph.search.pictures import size_of

    return size_of(picture)


def _rounded(box: Rect) -> Rect:
    return (float(round(box[0])), float(round(box[1])), float(round(box[2])), float(round(box[3])))


def _named(box: Rect) -> str:
    return ",".join(str(round(value)) for value in box)
