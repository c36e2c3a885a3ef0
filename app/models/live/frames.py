"""Page frames of live runs, decoded and scaled on worker threads; only the newest of each run is kept.

A frame that arrives while an older one of its run is being decoded waits; a later one replaces it.  So a window that
falls behind shows fewer frames, never older ones, and its memory does not grow.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from time import monotonic
from typing import TYPE_CHECKING

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QObject, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QImage, QImageReader

from app.engine.core.events import PageFrame
from app.models.common.decoder import Decoder
from app.models.common.tasks import ignore

if TYPE_CHECKING:
    from app.engine.core.events import LiveRunChanged, LiveRunDismissed
    from app.engine.core.supervision import LiveRow
    from app.models.common.engine_client import EngineEvents
    from app.models.common.tasks import Tasks


SIZE_TOLERANCE = 2
"""Pixels by which a frame may miss its size and still be drawn unscaled."""
MAX_SIDE = 8192
"""Largest side in pixels; a larger image is not one of our frames."""
MAX_UNSEEN = 8
"""Pictures of ended runs that are kept out of sight, for scrolling back; all others are given back."""
BEGIN, END = b"\xff\xd8", b"\xff\xd9"
"""First and last bytes of a complete JPEG."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageImage:
    """A page as it is now.

    Attributes:
        image: in the size requested by ``FrameStore.fit``, else in its own.
        page: the viewport's size in CSS pixels, width and height.
        pointer: in CSS pixels of the viewport.
        input_at: the sender's clock at the newest input applied before, 0 for none.
        at: when it was decoded, ``time.monotonic``.
    """

    run: str
    number: int
    image: QImage
    page: tuple[int, int]
    url: str = ""
    pointer: tuple[float, float] | None = None
    input_at: float = 0.0
    at: float = 0.0


@dataclass(frozen=True, slots=True)
class DisplayArea:
    """Where a frame is drawn: available device pixels, and device pixels per window pixel."""

    room: QSize
    ratio: float = 1.0


def drawn_size(page: QSize, place: DisplayArea) -> QSize:
    """Return the device pixels at which a page of this size (CSS pixels) is drawn: as large as fits, at most its
    own size.
    """
    own = QSize(round(page.width() * place.ratio), round(page.height() * place.ratio))
    fitted = own.scaled(place.room, Qt.AspectRatioMode.KeepAspectRatio)
    return own if fitted.width() > own.width() else fitted


def is_near(one: QSize, other: QSize) -> bool:
    """Whether two sizes are so close that scaling would only blur."""
    return max(abs(one.width() - other.width()), abs(one.height() - other.height())) <= SIZE_TOLERANCE


def decoded(data: bytes, fit: QSize | None = None) -> QImage:
    """Decode a JPEG, in the size ``fit`` (pixels) where given; return a null image when it is unreadable or
    truncated.
    """
    if not (data.startswith(BEGIN) and data.endswith(END)):
        return QImage()
    buffer = QBuffer()
    buffer.setData(QByteArray(data))
    buffer.open(QIODevice.OpenModeFlag.ReadOnly)
    reader = QImageReader(buffer)
    size = reader.size()
    if not size.isValid() or max(size.width(), size.height()) > MAX_SIDE:
        return QImage()
    if fit is not None and not fit.isEmpty() and not is_near(fit, size):
        reader.setScaledSize(fit)  # decoding at this size skips discarded pixels
    image = reader.read()
    if not image.isNull() and image.format() is not QImage.Format.Format_RGB32:
        image = image.convertToFormat(QImage.Format.Format_RGB32)
    return image


@dataclass(slots=True)
class _RunFrames:
    """Frames of one run: shown, waiting, and whether a worker is busy with one."""

    picture: PageImage | None = None
    waiting: PageFrame | None = None
    tile: DisplayArea | None = None
    busy: bool = False


@dataclass(slots=True, kw_only=True)
class FrameCounts:
    """Numbers of frames: decoded, dropped for a newer one, unreadable."""

    decoded: int = 0
    dropped: int = 0
    broken: int = 0


class FrameStore(QObject):
    """The newest frame of each run; of ended runs only those in sight, and a few more.

    Signals:
        arrived(run): ``get`` returns a newer frame.
        released(run): the picture of an ended run was given back; it can be loaded again.
    """

    arrived = Signal(str)
    released = Signal(str)

    def __init__(self, client: EngineEvents, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._lanes: dict[str, _RunFrames] = {}
        self._large = ("", DisplayArea(QSize()))
        self._in_sight: frozenset[str] = frozenset()
        self._ended: dict[str, None] = {}
        """Ended runs, those in sight last behind."""
        self.counts = FrameCounts()
        self._decoder = Decoder(self)
        client.page_frame.connect(self.take)
        client.live_run_dismissed.connect(self._gone)
        client.live_run_changed.connect(self._on_row)

    def get(self, run: str) -> PageImage | None:
        lane = self._lanes.get(run)
        return lane.picture if lane is not None else None

    def fit(self, run: str, size: QSize | None) -> None:
        """Have frames of this run scaled to this size (device pixels)."""
        self._lanes.setdefault(run, _RunFrames()).tile = DisplayArea(size) if size is not None else None

    def enlarge(self, run: str, room: QSize, ratio: float = 1.0) -> None:
        """Show this run large, in this area, decoded before the others; "" for none."""
        before, self._large = self._large[0], (run, DisplayArea(room, ratio))
        if before != run:
            self._give_back()

    def set_ended(self, run: str, ended: bool) -> None:
        """Note whether a run has ended: no frame will replace its picture."""
        if not ended:
            self._ended.pop(run, None)
        elif run not in self._ended:
            self._ended[run] = None
            self._give_back()

    def set_in_sight(self, runs: Iterable[str]) -> None:
        """Set the runs whose pictures are on the screen."""
        self._in_sight = frozenset(runs)
        for run in self._in_sight & self._ended.keys():
            self._ended[run] = self._ended.pop(run)
        self._give_back()

    @property
    def held(self) -> int:
        """Bytes of decoded and waiting frames."""
        return sum(
            (lane.picture.image.sizeInBytes() if lane.picture is not None else 0)
            + (len(lane.waiting.jpeg) if lane.waiting is not None else 0)
            for lane in self._lanes.values()
        )

    def take(self, frame: PageFrame) -> None:
        lane = self._lanes.setdefault(frame.run, _RunFrames())
        if lane.busy:
            self.counts.dropped += lane.waiting is not None
            lane.waiting = frame
            return
        self._start(lane, frame)

    def forget(self, run: str) -> None:
        self._lanes.pop(run, None)
        self._ended.pop(run, None)

    def close(self) -> None:
        self._lanes.clear()
        self._decoder.close()

    def _gone(self, event: LiveRunDismissed) -> None:
        self.forget(event.run)

    def _on_row(self, event: LiveRunChanged) -> None:
        self.set_ended(event.row.run, not event.row.state.alive)

    def _give_back(self) -> None:
        """Drop pictures of ended runs that nobody sees; keep the others no larger than they are drawn."""
        held = [run for run in self._ended if run != self._large[0] and self.get(run) is not None]
        unseen = [run for run in held if run not in self._in_sight]
        for run in unseen[: max(len(unseen) - MAX_UNSEEN, 0)]:
            self._lanes.pop(run)
            self.released.emit(run)
        for run in held:
            if (lane := self._lanes.get(run)) is not None:
                self._shrink(lane)

    def _shrink(self, lane: _RunFrames) -> None:
        """Scale a picture that was large down to its tile, on a worker."""
        picture, area = lane.picture, lane.tile
        if picture is None or area is None or area.room.isEmpty():
            return
        size = picture.image.size().scaled(area.room, Qt.AspectRatioMode.KeepAspectRatio)
        if picture.image.width() <= size.width() + SIZE_TOLERANCE:
            return

        def scaled(image: QImage) -> None:
            if lane.picture is picture:
                lane.picture = replace(picture, image=image)

        self._decoder.start(
            lambda: picture.image.scaled(
                size, Qt.AspectRatioMode.KeepAspectRatio, Qt.TransformationMode.SmoothTransformation
            ),
            scaled,
        )

    def _start(self, lane: _RunFrames, frame: PageFrame) -> None:
        lane.busy = True
        is_large = frame.run == self._large[0]
        area = self._large[1] if is_large else lane.tile
        size = drawn_size(QSize(frame.page_width, frame.page_height), area) if area is not None else None
        self._decoder.start(
            lambda: decoded(frame.jpeg, size),
            lambda image: self._decoded(lane, frame, image),
            priority=int(is_large),
        )

    def _decoded(self, lane: _RunFrames, frame: PageFrame, image: QImage) -> None:
        if self._lanes.get(frame.run) is not lane:
            return  # forgotten meanwhile
        lane.busy = False
        if lane.waiting is not None:
            waiting, lane.waiting = lane.waiting, None
            self._start(lane, waiting)
        if image.isNull():
            self.counts.broken += 1
            return
        self.counts.decoded += 1
        lane.picture = PageImage(
            run=frame.run,
            number=frame.number,
            image=image,
            page=(max(frame.page_width, 1), max(frame.page_height, 1)),
            url=frame.url,
            pointer=frame.pointer,
            input_at=frame.input_at,
            at=monotonic(),
        )
        self.arrived.emit(frame.run)
        if frame.run in self._ended:
            self._give_back()


FULL_RATE, TILE_RATE = 25.0, 1.0
"""Frames a second."""
COALESCE_MS = 60
"""Delay after scrolling or resizing before the engine is asked."""

FrameRequest = tuple[int, int, float]
"""Width and height in pixels, and frames a second."""


class FrameSubscriptions(QObject):
    """The frames in demand, sent to the engine as differences."""

    def __init__(self, client: EngineEvents, tasks: Tasks, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._client, self._tasks = client, tasks
        self._shown = False
        self._run, self._page = "", (0, 0)
        self._tiles: dict[str, tuple[int, int]] = {}
        self._alive: set[str] = set()
        self._sent_requests: dict[str, FrameRequest] = {}
        self._soon = QTimer(self, singleShot=True, interval=COALESCE_MS)
        self._soon.timeout.connect(self._tell)

    def set_shown(self, shown: bool) -> None:
        """Set whether Live is visible: not minimised, not behind another perspective."""
        if shown != self._shown:
            self._shown = shown
            self._soon.start()

    def set_page(self, run: str, width: int, height: int) -> None:
        """Set the open run and its picture size in device pixels; "" for none."""
        if (run, (width, height)) != (self._run, self._page):
            self._run, self._page = run, (width, height)
            self._soon.start()

    def set_tiles(self, runs: Iterable[str], width: int, height: int) -> None:
        """Set the tiles in sight and their picture size in device pixels."""
        tiles = dict.fromkeys(runs, (width, height))
        if tiles != self._tiles:
            self._tiles = tiles
            self._soon.start()

    def set_alive(self, runs: Iterable[str]) -> None:
        alive = set(runs)
        if alive != self._alive:
            self._alive = alive
            self._soon.start()

    def set_one_alive(self, run: str, alive: bool) -> None:
        if alive != (run in self._alive):
            (self._alive.add if alive else self._alive.discard)(run)
            self._soon.start()

    def forget(self) -> None:
        """Send everything again, to a new engine."""
        self._sent_requests.clear()
        self._soon.start()

    @property
    def requested(self) -> dict[str, FrameRequest]:
        """The frames in demand, by run."""
        if not self._shown:
            return {}
        found: dict[str, FrameRequest] = {
            run: (*size, TILE_RATE) for run, size in self._tiles.items() if all(size)
        }
        if self._run and all(self._page):
            found[self._run] = (*self._page, FULL_RATE)
        return {run: wish for run, wish in found.items() if run in self._alive}

    def _tell(self) -> None:
        wishes = self.requested
        for run in self._sent_requests.keys() - wishes.keys():
            del self._sent_requests[run]
            if run in self._alive:
                self._ask(run, (0, 0, 0.0))
        for run, wish in wishes.items():
            if self._sent_requests.get(run) != wish:
                self._sent_requests[run] = wish
                self._ask(run, wish)

    def _ask(self, run: str, wish: FrameRequest) -> None:
        def failed(_error: Exception) -> None:
            # the run ended meanwhile, or the engine is gone; either way its row says so
            self._sent_requests.pop(run, None)

        self._tasks.start(self._client.api.watch_page(run, *wish), failed=failed, key=f"live-watch-{run}")


VIEWPORT = (1280, 800)
"""Size assumed for a stored screenshot; nothing is drawn on it by coordinates."""


class RunThumbnails(QObject):
    """Ask once for each run, and pass what comes to ``frames``."""

    def __init__(
        self, client: EngineEvents, tasks: Tasks, frames: FrameStore, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._client, self._tasks, self._frames = client, tasks, frames
        self._asked: set[str] = set()
        client.live_run_dismissed.connect(self._on_gone)
        frames.released.connect(self._asked.discard)

    def want(self, rows: Iterable[LiveRow]) -> None:
        """Load the screenshots of runs in sight that have stored steps and no page."""
        for row in rows:
            if (
                row.state.alive
                or not row.step
                or row.run in self._asked
                or self._frames.get(row.run) is not None
            ):
                continue
            self._asked.add(row.run)
            self._frames.set_ended(row.run, True)
            self._tasks.start(self._fetch(row.run), self._on_loaded, ignore)

    async def _fetch(self, run: str) -> PageFrame | None:
        detail = await self._client.api.live_run(run)
        step = next((step for step in reversed(detail.steps) if step.screenshot), None)
        if step is None:
            return None
        data = await self._client.api.blob(step.screenshot)
        width, height = VIEWPORT
        return PageFrame(
            run=run, number=0, width=width, height=height, page_width=width, page_height=height, jpeg=data, url=step.url
        )  # fmt: skip

    def _on_loaded(self, frame: PageFrame | None) -> None:
        if frame is not None and self._frames.get(frame.run) is None:
            self._frames.take(frame)

    def _on_gone(self, event: LiveRunDismissed) -> None:
        self._asked.discard(event.run)
