"""Paints the map: links, then states as dots or cards, within a rectangle."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPen

from app.models.graph.map_graph import StateMark
from app.views.graph.batch_drawing import FRAGMENT, draw_lines, draw_sprites
from app.views.graph.camera import CELL
from app.views.graph.cards import CardLook, draw_card
from app.views.graph.labels import Labels, dot_radius
from app.views.graph.marks import SHADOW, SHOWN, DotSprites

if TYPE_CHECKING:
    from app.models.graph.map_graph import Floats, Ints, MapGraph, Mask
    from app.models.graph.thumbnails import Thumbnails
    from app.views.frame.theme import Theme
    from app.views.graph.camera import Camera

CARDS_FROM = 0.26
"""States are cards from this scale on, dots below."""
MAX_LINES = 12_000
"""Links drawn at a time when the whole map is visible."""
INK = 0.12
"""Pixels of links for each pixel of the map; more would be a grey field.  Untried links are thinned out first."""
FEW_LINES = 300
"""This many links are drawn however long they are."""
SMOOTH_LINES = 1_500
"""Up to this many links are antialiased, with untried ones dashed."""
SIDE = 170.0
"""Pixels that a state's card or label may extend beyond its middle."""


class MapPainter:
    """Draws a graph; the widget reports changes of graph, filter and theme."""

    def __init__(self, theme: Theme, thumbnails: Thumbnails) -> None:
        self._theme, self._thumbnails = theme, thumbnails
        self._graph: MapGraph | None = None
        self._shown = np.ones(0, bool)
        self._sheet: DotSprites | None = None
        self._look: CardLook | None = None
        self._look_scale = 0.0
        self.labels = Labels(theme)
        self.show_seen = True
        self.atlas = False
        """Dots without failures and tips stand back, the others say how many they have."""
        self.quick = False
        """Draw quickly instead of well: while the scale is changing."""
        self.missing = False
        """A picture was not there when its card was painted."""
        self.drawn_lines = self.drawn_states = 0
        """Amounts drawn by the last painting, for a benchmark."""

    # ------------------------------------------------------------ what is drawn
    def take(self, graph: MapGraph, shown: Mask) -> None:
        """Set the graph, with these states in full and the others as shadows."""
        self._graph, self._shown = graph, shown
        ends_shown = shown[graph.sources] & shown[graph.targets] & (graph.sources != graph.targets)
        keep = np.flatnonzero(ends_shown if self.show_seen else ends_shown & graph.tried)
        keep = keep[np.argsort(graph.order[keep])]
        self._from, self._to, self._on_tested = graph.sources[keep], graph.targets[keep], graph.tried[keep]
        one, other = graph.places[self._from], graph.places[self._to]
        self._low, self._high = np.minimum(one, other), np.maximum(one, other)
        self._ink = np.cumsum(np.hypot(*((other - one) * CELL).T)) if len(keep) else np.empty(0)
        told = graph.marks & int(StateMark.FAILED | StateMark.TIPS | StateMark.SUSPECT)
        full = shown & (told > 0) if self.atlas else shown
        self._sprites = np.where(full, graph.marks & int(SHOWN), SHADOW)
        self.labels.atlas = self.atlas
        self.labels.take(graph, shown)

    def restyle(self) -> None:
        """Take new colours or another text size."""
        self._sheet = self._look = None
        self.labels.forget()

    @staticmethod
    def radius(scale: float) -> float:
        return dot_radius(scale)

    def reach(self, scale: float) -> float:
        """Return how near to a dot's middle a click counts, in pixels."""
        return self.radius(scale) + 4

    # ------------------------------------------------------------ painting
    def paint(self, painter: QPainter, camera: Camera, part: QRectF) -> None:
        """Paint a part of the view and nothing outside it."""
        painter.save()
        painter.setClipRect(part)
        painter.fillRect(part, self._theme.color("surface"))
        graph = self._graph
        if graph is not None and len(graph):
            self._paint_links(painter, camera, part)
            left, top, right, bottom = camera.seen(part.adjusted(-SIDE, -SIDE, SIDE, SIDE))
            x, y = graph.places[:, 0], graph.places[:, 1]
            inside = np.flatnonzero((x >= left) & (x <= right) & (y >= top) & (y <= bottom))
            self.drawn_states = len(inside)
            if camera.scale >= CARDS_FROM:
                self._paint_cards(painter, camera, inside)
            else:
                if not self.quick:
                    self.labels.choose(camera)
                self.labels.paint(painter, camera, inside)
                self._paint_dots(painter, camera, inside)
        painter.restore()

    def card_box(self, camera: Camera, number: int) -> QRectF:
        """Return the rectangle of a state's picture at the present scale."""
        assert self._graph is not None
        x, y = self._graph.places[number]
        return self._card_look(camera.scale).box(camera.point(float(x), float(y)), camera.cell)

    # ------------------------------------------------------------ links
    def _paint_links(self, painter: QPainter, camera: Camera, part: QRectF) -> None:
        most = self._limit(camera)
        left, top, right, bottom = camera.seen(part)
        low, high = self._low[:most], self._high[:most]
        inside = np.flatnonzero(
            (high[:, 0] >= left) & (low[:, 0] <= right) & (high[:, 1] >= top) & (low[:, 1] <= bottom)
        )
        self.drawn_lines = len(inside)
        if not len(inside):
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, most <= SMOOTH_LINES)
        tried = self._on_tested[inside]
        few = Qt.PenStyle.DashLine if most <= SMOOTH_LINES else Qt.PenStyle.SolidLine
        for some, role, style in (
            (inside[~tried], "line", few),
            (inside[tried], "edge", Qt.PenStyle.SolidLine),
        ):
            painter.setPen(QPen(self._theme.color(role), 1, style))
            draw_lines(painter, self._lines(camera, some))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)

    def _lines(self, camera: Camera, edges: Ints) -> NDArray[np.int32]:
        assert self._graph is not None
        places = self._graph.places
        ends = np.empty((len(edges), 4), np.int32)
        ends[:, :2] = np.rint(camera.pixels(places[self._from[edges]]))
        ends[:, 2:] = np.rint(camera.pixels(places[self._to[edges]]))
        return ends

    def _limit(self, camera: Camera) -> int:
        """Return how many links may be drawn at this scale, the same everywhere, so that parts fit together."""
        count = len(self._from)
        assert self._graph is not None
        left, top, right, bottom = self._graph.bounds
        wide, high = camera.cell
        whole = (right - left + 1) * wide * (bottom - top + 1) * high
        share = min(1.0, camera.size.width() * camera.size.height() / max(whole, 1.0))
        most = MAX_LINES // 3 if self.quick else MAX_LINES
        zoom = self._theme.zoom
        inked = int(np.searchsorted(self._ink * zoom * camera.scale, INK * whole))
        return min(count, max(inked, FEW_LINES), int(most / max(share, 0.05)))

    # ------------------------------------------------------------ states
    def _paint_dots(self, painter: QPainter, camera: Camera, inside: Ints) -> None:
        assert self._graph is not None
        sheet = self._dots(camera.scale, painter.device().devicePixelRatio())
        inside = inside[np.argsort(self._sprites[inside] != SHADOW, kind="stable")]  # shadows below
        pieces = np.zeros((len(inside), FRAGMENT))
        pieces[:, :2] = camera.pixels(self._graph.places[inside])
        pieces[:, 2] = self._sprites[inside] * sheet.side
        pieces[:, 4:6] = sheet.side
        pieces[:, 6:8] = 1 / painter.device().devicePixelRatio()
        pieces[:, 9] = 1
        draw_sprites(painter, pieces, sheet.pixmap)

    def _dots(self, scale: float, ratio: float) -> DotSprites:
        radius = round(self.radius(scale) * 4) / 4
        if self._sheet is None or self._sheet.radius != radius or self._sheet.ratio != ratio:
            self._sheet = DotSprites(self._theme, radius, ratio)
        return self._sheet

    def _paint_cards(self, painter: QPainter, camera: Camera, inside: Ints) -> None:
        assert self._graph is not None
        graph, theme = self._graph, self._theme
        look = self._card_look(camera.scale)
        points: Floats = camera.pixels(graph.places[inside])
        ratio = painter.device().devicePixelRatio()
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, not self.quick)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        numbers = cast("list[int]", inside.tolist())
        for number, (x, y) in zip(numbers, points.tolist(), strict=True):
            row, at = graph.rows[number], QPointF(x, y)
            box = look.box(at, camera.cell)
            if not self._shown[number]:
                painter.setPen(QPen(theme.color("line"), 1, Qt.PenStyle.SolidLine))
                painter.setBrush(theme.color("surface"))
                painter.drawRect(box)
                continue
            image = self._thumbnails.get(row.thumbnail, box.width() * ratio) if row.thumbnail else None
            if image is None and row.thumbnail:
                self.missing = True
            draw_card(painter, theme, look, box, row, graph.titles[number], int(graph.marks[number]), image)

    def _card_look(self, scale: float) -> CardLook:
        if self._look is None or self._look_scale != scale:
            self._look, self._look_scale = CardLook.at(self._theme, scale), scale
        return self._look
