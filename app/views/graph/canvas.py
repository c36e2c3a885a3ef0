"""The map: one widget that draws the visible part, caches it, and handles mouse and keyboard."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, cast

import numpy as np
from PySide6.QtCore import QEvent, QPoint, QPointF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QAccessible,
    QAccessibleEvent,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QToolTip, QWidget

from app.models.graph.map_graph import node_words
from app.views.graph.background import Background
from app.views.graph.camera import Camera
from app.views.graph.overlay import MapOverlay
from app.views.graph.painter import CARDS_FROM, MapPainter

if TYPE_CHECKING:
    from app.models.graph.model import MapModel
    from app.models.graph.path import PathPlan
    from app.views.frame.theme import Theme

ARRIVE_MS = 400
"""How long a new state is highlighted."""
MAX_ARRIVING = 400
IDLE_MS = 90
"""Time after the last change of scale until the map is drawn in full quality."""
NOTCH = 1.25
"""Zoom factor of one wheel notch."""
ARROWS = {
    Qt.Key.Key_Right: (1, 0),
    Qt.Key.Key_Left: (-1, 0),
    Qt.Key.Key_Down: (0, 1),
    Qt.Key.Key_Up: (0, -1),
}


class MapCanvas(QWidget):
    """Signals:

    node_opened(node): a double click or Enter on a state.
    """

    node_opened = Signal(str)

    def __init__(self, model: MapModel, theme: Theme) -> None:
        super().__init__()
        self._model, self._theme = model, theme
        self.camera = Camera(theme, self)
        self.painter = MapPainter(theme, model.thumbnails)
        self.overlay = MapOverlay(model, self.painter, theme)
        self.ground = Background()
        self._plan: PathPlan | None = None
        self._fitted = ""
        """The site whose map was shown whole at first."""
        self._arriving: dict[str, float] = {}
        self._pressed: QPoint | None = None
        self._dragged = False
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setMinimumSize(200, 140)
        self.setAccessibleName(self.tr("Map of the site's states"))
        self._arrivals = QTimer(self, interval=16)
        self._arrivals.timeout.connect(self._on_arrivals)
        self._pictures = QTimer(self, singleShot=True, interval=30)
        self._pictures.timeout.connect(self._request_pictures)
        self.camera.moved.connect(self.update)
        self._rest = QTimer(self, singleShot=True, interval=IDLE_MS)
        self._rest.timeout.connect(self._on_rested)
        self.camera.scaled.connect(self._on_scaled)
        theme.changed.connect(self._on_theme)
        model.graph_changed.connect(self._on_graph)
        model.filter_changed.connect(self._on_filter)
        model.node_changed.connect(self._on_node)
        model.selection_changed.connect(self.update)
        model.center_wanted.connect(self.show_node)
        model.path.changed.connect(self._on_path)
        model.run_paths.changed.connect(self._on_run_paths)
        model.thumbnails.ready.connect(self._on_picture)
        self._known: set[str] = set()
        self._on_graph()

    # ------------------------------------------------------------ what the view asks
    def fit(self, *, gently: bool = True) -> None:
        """Show the whole map, or all states that match the filter."""
        graph, shown = self._model.graph, self._model.shown
        places = graph.places[shown] if bool(shown.any()) else graph.places
        if len(places):
            (left, top), (right, bottom) = places.min(axis=0), places.max(axis=0)
            self.camera.fit((float(left), float(top), float(right), float(bottom)), gently=gently)

    def reserve_left(self, inset: int) -> None:
        """Reserve pixels at the left edge for something over the map."""
        if inset != self.camera.inset:
            self.camera.inset = inset
            if self.camera.is_fitted:
                self.fit(gently=False)

    def show_node(self, node: str) -> None:
        """Move a state into the middle, large enough to be read."""
        number = self._model.graph.number.get(node)
        if number is not None:
            x, y = self._model.graph.places[number]
            self.camera.center_on(float(x), float(y), scale=0.6)

    def reveal(self, node: str) -> None:
        """Scroll a state into view with the smallest move."""
        number = self._model.graph.number.get(node)
        if number is not None:
            x, y = self._model.graph.places[number]
            if not self.camera.sees(float(x), float(y)):
                self.camera.reveal(float(x), float(y))

    def show_untried(self, shown: bool) -> None:
        self.painter.show_seen = shown
        self._on_filter()

    def show_failures_only(self, shown: bool) -> None:
        self.painter.atlas = shown
        self._on_filter()

    def node_at(self, point: QPointF) -> str:
        number = self._number_at(point)
        return self._model.graph.rows[number].id if number >= 0 else ""

    # ------------------------------------------------------------ painting
    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the cached background, shifted, and the overlay."""
        picture = self.ground.refresh(self.camera, self.painter, self.size(), self.devicePixelRatioF())
        if self.painter.missing:
            self.painter.missing = False
            self._pictures.start()
        painter = QPainter(self)
        painter.drawPixmap(0, 0, picture)
        self.overlay.paint(painter, self.camera)
        now = time.monotonic()
        for node, since in self._arriving.items():
            number = self._model.graph.number.get(node)
            if number is not None:
                share = min((now - since) * 1000 / ARRIVE_MS, 1.0)
                self.overlay.paint_new_state(painter, self.camera, number, share)
        if self.hasFocus():
            painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(self._theme.color("accent"))
            painter.drawRect(self.rect().adjusted(0, 0, -1, -1))
        painter.end()

    def _request_pictures(self) -> None:
        """Request the pictures of visible states, from the middle outwards."""
        graph, sight = self._model.graph, np.array(self._in_sight(), np.int64)
        if self.camera.scale >= CARDS_FROM and len(sight):
            away = np.abs(graph.places[sight] - np.array(self.camera.middle)).sum(axis=1)
            nearest = cast("list[int]", sight[np.argsort(away)].tolist())
            self._model.thumbnails.want(graph.rows[number].thumbnail for number in nearest)

    # ------------------------------------------------------------ changes of the model
    def _on_graph(self) -> None:
        graph = self._model.graph
        ids = set(graph.number)
        fresh = ids - self._known if self._known and self._fitted == graph.site else set[str]()
        self._known = ids
        if fresh and len(fresh) <= MAX_ARRIVING and self._theme.motion and self.isVisible():
            now = time.monotonic()
            self._arriving = dict.fromkeys(fresh, now)
            self._arrivals.start()
        self._on_filter()
        if len(graph) and self._fitted != graph.site and self.camera.size.width() > 50:
            self._fitted = graph.site
            self.fit(gently=False)
        elif fresh and self.camera.is_fitted and not self._sees_all():
            self.fit()

    def _sees_all(self) -> bool:
        """Whether every state that matches the filter is in sight."""
        places = self._model.graph.places[self._model.shown]
        left, top, right, bottom = self.camera.seen()
        low, high = np.array((left, top)) + 0.5, np.array((right, bottom)) - 0.5
        return bool(((places >= low) & (places <= high)).all())

    def _on_filter(self) -> None:
        self.painter.take(self._model.graph, self._model.shown)
        self.invalidate()
        self._describe()

    def _on_node(self, node: str) -> None:
        if self.hasFocus():
            self.reveal(node)
        self._describe()
        self.update()

    def _on_path(self) -> None:
        """Zoom to a new path."""
        plan, number = self._model.path.plan, self._model.graph.number
        if plan is not self._plan:
            self._plan = plan
            on_map = [number[node] for node in plan.nodes if node in number] if plan is not None else []
            places = self._model.graph.places[on_map]
            if len(places) and not all(self.camera.sees(x, y) for x, y in places.tolist()):
                (left, top), (right, bottom) = places.min(axis=0), places.max(axis=0)
                self.camera.fit((float(left), float(top), float(right), float(bottom)))
                self.camera.is_fitted = False
        self.update()

    def _on_run_paths(self) -> None:
        """Zoom to the paths of two runs."""
        number = self._model.graph.number
        states = {node for path in self._model.run_paths.paths for node in path}
        places = self._model.graph.places[[number[node] for node in states if node in number]]
        if len(places):
            (left, top), (right, bottom) = places.min(axis=0), places.max(axis=0)
            self.camera.fit((float(left), float(top), float(right), float(bottom)))
            self.camera.is_fitted = False
        self.invalidate()

    def _on_theme(self) -> None:
        self.painter.restyle()
        self.invalidate()

    def _on_picture(self, digest: str) -> None:
        if self.camera.scale < CARDS_FROM:
            return
        graph = self._model.graph
        for number in self._in_sight():
            if graph.rows[number].thumbnail == digest:
                box = self.painter.card_box(self.camera, number).toAlignedRect().adjusted(-1, -1, 1, 1)
                self.ground.invalidate_part(box.translated(-self.camera.left, -self.camera.top))
                self.update(box)

    def _on_arrivals(self) -> None:
        now = time.monotonic()
        self._arriving = {node: at for node, at in self._arriving.items() if (now - at) * 1000 < ARRIVE_MS}
        if not self._arriving:
            self._arrivals.stop()
        self.update()

    def _on_scaled(self) -> None:
        self.painter.quick = True
        self._rest.start()

    def _on_rested(self) -> None:
        """Draw in full quality once the scale has stopped changing."""
        self.painter.quick = False
        self.invalidate()

    def invalidate(self) -> None:
        self.ground.forget()
        self.update()

    def _describe(self) -> None:
        """Name the open state for a screen reader."""
        row = self._model.current
        if row is None:
            shown, count = int(self._model.shown.sum()), len(self._model.graph)
            text = self.tr("{0} of {1} states shown, none is open").format(shown, count)
        else:
            text = node_words(row)
        if text != self.accessibleDescription():
            self.setAccessibleDescription(text)
            QAccessible.updateAccessibility(QAccessibleEvent(self, QAccessible.Event.DescriptionChanged))

    # ------------------------------------------------------------ what lies where
    def _in_sight(self) -> list[int]:
        left, top, right, bottom = self.camera.seen()
        x, y = self._model.graph.places[:, 0], self._model.graph.places[:, 1]
        return np.flatnonzero(
            (x >= left - 0.5) & (x <= right + 0.5) & (y >= top - 0.5) & (y <= bottom + 0.5)
        ).tolist()

    def _number_at(self, point: QPointF) -> int:
        graph, shown = self._model.graph, self._model.shown
        if not len(graph):
            return -1
        if self.camera.scale >= CARDS_FROM:
            x, y = self.camera.place(point)
            near = np.flatnonzero(
                (np.abs(graph.places[:, 0] - x) <= 0.75) & (np.abs(graph.places[:, 1] - y) <= 0.75) & shown
            )
            for number in near.tolist():
                if self.painter.card_box(self.camera, number).adjusted(-4, -4, 4, 24).contains(point):
                    return number
            return -1
        away = self.camera.pixels(graph.places) - np.array((point.x(), point.y()))
        far = np.where(shown, (away**2).sum(axis=1), np.inf)
        nearest = int(np.argmin(far))
        return nearest if far[nearest] <= self.painter.reach(self.camera.scale) ** 2 else -1

    # ------------------------------------------------------------ hand
    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() in (Qt.MouseButton.LeftButton, Qt.MouseButton.MiddleButton):
            self._pressed, self._dragged = event.position().toPoint(), False

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Drag the map, or highlight the state under the pointer."""
        here = event.position().toPoint()
        if self._pressed is not None and event.buttons() != Qt.MouseButton.NoButton:
            step = here - self._pressed
            if self._dragged or step.manhattanLength() > 4:
                self._dragged, self._pressed = True, here
                self.setCursor(Qt.CursorShape.ClosedHandCursor)
                self.camera.pan(step.x(), step.y())
            return
        number = self._number_at(event.position())
        if number != self.overlay.hovered:
            self.overlay.hovered = number
            self.setCursor(Qt.CursorShape.PointingHandCursor if number >= 0 else Qt.CursorShape.ArrowCursor)
            self.update()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Select on a click; with Ctrl add to the selection, with Shift show the path."""
        pressed, self._pressed = self._pressed, None
        self.setCursor(Qt.CursorShape.ArrowCursor)
        if pressed is None or self._dragged or event.button() is not Qt.MouseButton.LeftButton:
            return
        node, model = self.node_at(event.position()), self._model
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier and node:
            model.toggle(node)
        elif event.modifiers() & Qt.KeyboardModifier.ShiftModifier and node and model.node:
            if not model.path.is_shown:
                model.path_from(model.node)
            model.path_to(node)
        else:
            model.select(node)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        node = self.node_at(event.position())
        if node:
            self._model.select(node)
            self.node_opened.emit(node)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Zoom with the wheel; two fingers pan unless Ctrl is held."""
        pixels, notches = event.pixelDelta(), event.angleDelta().y() / 120
        if not pixels.isNull() and not event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.camera.pan(pixels.x(), pixels.y())
        elif notches:
            self.camera.zoom_at(NOTCH**notches, event.position())
        event.accept()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Select neighbours with the arrows; pan with Shift and the arrows."""
        step = ARROWS.get(Qt.Key(event.key()))
        if step is None:
            super().keyPressEvent(event)
            return
        if event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            self.camera.pan(-step[0] * 80, -step[1] * 80)
            return
        graph, shown = self._model.graph, self._model.shown
        here = graph.number.get(self._model.node, -1)
        if here < 0:
            self._select_middle()
        elif bool(shown.any()):
            self._model.select(graph.rows[graph.toward(here, *step, shown)].id)

    def _select_middle(self) -> None:
        """Select the state nearest to the middle of the view."""
        graph, shown = self._model.graph, self._model.shown
        if bool(shown.any()):
            away = np.abs(graph.places - np.array(self.camera.middle)).sum(axis=1)
            self._model.select(graph.rows[int(np.argmin(np.where(shown, away, np.inf)))].id)

    # ------------------------------------------------------------ Qt
    def event(self, event: QEvent) -> bool:
        """Describe a state in a tooltip."""
        if event.type() is QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            number = self._number_at(QPointF(event.pos()))
            if number >= 0:
                QToolTip.showText(
                    event.globalPos(), node_words(self._model.graph.rows[number], lines=True), self
                )
            else:
                QToolTip.hideText()
            return True
        return super().event(event)

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self.overlay.hovered = -1
        self.update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the middle in place; the first time show the whole map."""
        super().resizeEvent(event)
        fitted = self.camera.is_fitted
        self.camera.resize(event.size())
        graph = self._model.graph
        if len(graph) and (fitted or self._fitted != graph.site):
            self._fitted = graph.site
            self.fit(gently=False)

    def sizeHint(self) -> QSize:
        return QSize(800, 560)
