"""Frames a second of the map while all of it is dragged, drawn offscreen by the processor, as it grows.

Beside it the same frames without the cached background, and an empty window of the same size (a frame's minimum
cost).
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QPointF
from PySide6.QtWidgets import QApplication, QWidget

from app.models.common.engine_client import LocalClient
from app.models.common.tasks import Tasks
from app.models.graph.map_graph import MapGraph
from app.models.graph.model import MapModel, MapState
from app.views.frame.theme import Theme
from app.views.graph.canvas import MapCanvas
from tests.support.fake_engine import FakeEngine
from tests.support.generated_site import large_site, make_picture

SIZE = (1200, 800)
FRAMES = 120


def frames(widget: QWidget, move: Callable[[int], None]) -> tuple[float, float]:
    """Frames for each second of processor time (independent of other load), and the slowest in milliseconds."""
    slowest, began = 0.0, time.process_time()
    for number in range(FRAMES):
        started = time.process_time()
        move(number)
        widget.repaint()
        slowest = max(slowest, time.process_time() - started)
    return FRAMES / max(time.process_time() - began, 1e-9), slowest * 1000


def show(model: MapModel, graph: MapGraph) -> None:
    model.site, model.state = graph.site, MapState.READY
    model._show(graph)


def main() -> None:
    app = QApplication.instance() or QApplication([])
    assert isinstance(app, QApplication)
    theme = Theme()
    theme.set_mode("light")
    theme.set_reduced_motion(True)
    theme.apply(app)
    engine = FakeEngine(empty=True)
    blank = QWidget()
    blank.resize(*SIZE)
    blank.show()
    app.processEvents()
    floor, _ = frames(blank, lambda _number: None)
    print(f"an empty window of {SIZE[0]}x{SIZE[1]}: {floor:.0f} frames a second")
    for count in (1_000, 10_000, 50_000):
        model = MapModel(LocalClient(engine, engine.bus), Tasks())
        canvas = MapCanvas(model, theme)
        canvas.resize(*SIZE)
        canvas.show()
        app.processEvents()
        rows, edges = large_site(count)
        started = time.perf_counter()
        graph = MapGraph.of(make_picture(rows, edges))
        made = time.perf_counter() - started
        started = time.perf_counter()
        show(model, graph)
        taken = time.perf_counter() - started
        canvas.repaint()

        def drag(number: int, canvas: MapCanvas = canvas) -> None:
            turn = number / FRAMES * 4 * math.pi
            canvas.camera.pan(round(14 * math.cos(turn)), round(9 * math.sin(turn)))

        def anew(number: int, canvas: MapCanvas = canvas) -> None:
            canvas.ground.forget()
            drag(number, canvas)

        def nearer(number: int, canvas: MapCanvas = canvas) -> None:
            factor = 1.03 if number < FRAMES // 2 else 1 / 1.03
            canvas.camera.zoom_at(factor, QPointF(SIZE[0] / 2, SIZE[1] / 2))

        kept, slow = frames(canvas, drag)
        again, slow_again = frames(canvas, anew)
        zoomed, slow_zoomed = frames(canvas, nearer)
        drawn = canvas.painter.drawn_states, canvas.painter.drawn_lines
        print(
            f"{count} states, {len(edges)} links: dragged {kept:.0f} frames a second (slowest {slow:.0f} ms), "
            f"drawn anew each time {again:.0f} (slowest {slow_again:.0f} ms), ratio {kept / again:.1f}; "
            f"zoomed {zoomed:.0f} (slowest {slow_zoomed:.0f} ms); "
            f"{drawn[0]} states and {drawn[1]} links in a frame; layout and arrays {made:.2f} s, "
            f"shown {taken * 1000:.0f} ms"
        )
        canvas.hide()


if __name__ == "__main__":
    main()
