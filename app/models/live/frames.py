"""Page frames of live runs, decoded and scaled on worker threads; only the newest of each run is kept.

A frame that arrives while an older one of its run is being decoded waits; a later one replaces it.  So a window that
falls behind shows fewer frames, never older ones, and its memory does not grow.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QObject, QRunnable, QSize, Qt, QThreadPool, Signal
from PySide6.QtGui import QImage, QImageReader

if TYPE_CHECKING:
    from app.engine.core.events import LiveRunDismissed, PageFrame
    from app.models.common.engine_client import EngineEvents

SIZE_TOLERANCE = 2
"""Pixels by which a frame may miss its size and still be drawn unscaled."""
MAX_SIDE = 8192
"""Largest side in pixels; a larger image is not one of our frames."""
BEGIN, END = b"\xff\xd8", b"\xff\xd9"
"""First and last bytes of a complete JPEG."""
WORKERS = 2


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


class _DecodeSignals(QObject):
    """Carries an image from a worker back to the Qt thread."""

    done = Signal(object, QImage)


class _FrameDecoder(QRunnable):
    def __init__(self, frame: PageFrame, place: DisplayArea | None, done: Callable[[QImage], None]) -> None:
        super().__init__()
        self._frame, self._place, self._done = frame, place, done

    def run(self) -> None:
        frame = self._frame
        page = QSize(frame.page_width, frame.page_height)
        fit = drawn_size(page, self._place) if self._place is not None else None
        self._done(decoded(frame.jpeg, fit))


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
    """The newest frame of each run.

    Signals:
        arrived(run): ``get`` returns a newer frame.
    """

    arrived = Signal(str)

    def __init__(self, client: EngineEvents, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._lanes: dict[str, _RunFrames] = {}
        self._large = ("", DisplayArea(QSize()))
        self.counts = FrameCounts()
        self._pool = QThreadPool(self)
        self._pool.setMaxThreadCount(WORKERS)
        self._carrier = _DecodeSignals()
        self._carrier.done.connect(self._decoded, Qt.ConnectionType.QueuedConnection)
        client.page_frame.connect(self.take)
        client.live_run_dismissed.connect(self._gone)

    def get(self, run: str) -> PageImage | None:
        """Return the newest frame, ``None`` before the first."""
        lane = self._lanes.get(run)
        return lane.picture if lane is not None else None

    def fit(self, run: str, size: QSize | None) -> None:
        """Have frames of this run scaled to this size (device pixels)."""
        self._lanes.setdefault(run, _RunFrames()).tile = DisplayArea(size) if size is not None else None

    def enlarge(self, run: str, room: QSize, ratio: float = 1.0) -> None:
        """Show this run large, in this area, decoded before the others; "" for none."""
        self._large = (run, DisplayArea(room, ratio))

    @property
    def held(self) -> int:
        """Bytes of decoded and waiting frames."""
        return sum(
            (lane.picture.image.sizeInBytes() if lane.picture is not None else 0)
            + (len(lane.waiting.jpeg) if lane.waiting is not None else 0)
            for lane in self._lanes.values()
        )

    def take(self, frame: PageFrame) -> None:
        """Take a frame from the engine."""
        lane = self._lanes.setdefault(frame.run, _RunFrames())
        if lane.busy:
            self.counts.dropped += lane.waiting is not None
            lane.waiting = frame
            return
        self._start(lane, frame)

    def forget(self, run: str) -> None:
        """Drop the frames of a run nobody looks at any more."""
        self._lanes.pop(run, None)

    def close(self) -> None:
        """Wait for frames being decoded."""
        self._lanes.clear()
        self._pool.clear()
        self._pool.waitForDone()

    def _gone(self, event: LiveRunDismissed) -> None:
        self.forget(event.run)

    def _start(self, lane: _RunFrames, frame: PageFrame) -> None:
        lane.busy = True
        done = self._carrier.done
        run, place = self._large
        is_large = frame.run == run
        decode = _FrameDecoder(
            frame, place if is_large else lane.tile, lambda image: done.emit((lane, frame), image)
        )
        self._pool.start(decode, int(is_large))

    def _decoded(self, decoding: tuple[_RunFrames, PageFrame], image: QImage) -> None:
        lane, frame = decoding
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
