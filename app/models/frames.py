"""Pictures of the pages of running runs: decoded and fitted on worker threads, the newest of each run alone is kept.

A picture that comes while an older one of its run is still being decoded waits; one that comes after that takes its
place.  So a window that falls behind shows fewer pictures, never older ones, and its memory does not grow.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QObject, QRunnable, QSize, Qt, QThreadPool, Signal
from PySide6.QtGui import QImage, QImageReader

if TYPE_CHECKING:
    from app.engine.events import LiveGone, PageFrame
    from app.models.engine_client import EngineEvents

SAME = 2
"""Pixels by which a picture may miss its place and still be drawn as it is."""
MOST_SIDE = 8192
"""Pixels of a side; a larger picture is no page of ours."""
BEGIN, END = b"\xff\xd8", b"\xff\xd9"
"""The first and the last bytes of a whole JPEG."""
WORKERS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A page as it is now.

    Attributes:
        image: in the size its place asked for (``FrameStore.fit``), else in its own.
        page: the viewport's size in CSS pixels, width and height.
        pointer: in CSS pixels of the viewport.
        input_at: the sender's clock of the newest input that was done before, 0 for none.
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


class _Carrier(QObject):
    """Carries a picture from a worker back to the Qt thread."""

    done = Signal(object, QImage)


class _Decode(QRunnable):
    def __init__(self, frame: PageFrame, place: Place | None, done: Callable[[QImage], None]) -> None:
        super().__init__()
        self._frame, self._place, self._done = frame, place, done

    def run(self) -> None:
        frame = self._frame
        page = QSize(frame.page_width, frame.page_height)
        fit = drawn_size(page, self._place) if self._place is not None else None
        self._done(decoded(frame.jpeg, fit))


@dataclass(frozen=True, slots=True)
class Place:
    """Where a picture is drawn: device pixels of the room for it, and device pixels to a pixel of the window."""

    room: QSize
    ratio: float = 1.0


def drawn_size(page: QSize, place: Place) -> QSize:
    """Device pixels at which a page of this size (CSS pixels) is drawn: as large as it fits, at most its own size."""
    own = QSize(round(page.width() * place.ratio), round(page.height() * place.ratio))
    fitted = own.scaled(place.room, Qt.AspectRatioMode.KeepAspectRatio)
    return own if fitted.width() > own.width() else fitted


def is_near(one: QSize, other: QSize) -> bool:
    """So close that scaling would only blur a picture."""
    return max(abs(one.width() - other.width()), abs(one.height() - other.height())) <= SAME


def decoded(data: bytes, fit: QSize | None = None) -> QImage:
    """The JPEG in the size ``fit`` (pixels), else in its own; a null image when it can't be read or is cut off."""
    if not (data.startswith(BEGIN) and data.endswith(END)):
        return QImage()
    buffer = QBuffer()
    buffer.setData(QByteArray(data))
    buffer.open(QIODevice.OpenModeFlag.ReadOnly)
    reader = QImageReader(buffer)
    size = reader.size()
    if not size.isValid() or max(size.width(), size.height()) > MOST_SIDE:
        return QImage()
    if fit is not None and not fit.isEmpty() and not is_near(fit, size):
        reader.setScaledSize(fit)  # the decoder leaves out what would be thrown away
    image = reader.read()
    if not image.isNull() and image.format() is not QImage.Format.Format_RGB32:
        image = image.convertToFormat(QImage.Format.Format_RGB32)
    return image


@dataclass(slots=True)
class _Lane:
    """One run's: what is shown, what waits, whether a worker is at it."""

    picture: Picture | None = None
    waiting: PageFrame | None = None
    tile: Place | None = None
    busy: bool = False


@dataclass(slots=True, kw_only=True)
class FrameCounts:
    """What became of pictures: decoded, dropped because a newer one came, unreadable."""

    decoded: int = 0
    dropped: int = 0
    broken: int = 0


class FrameStore(QObject):
    """The newest picture of each run.

    Signals:
        arrived(run): a newer picture can be had with ``get``.
    """

    arrived = Signal(str)

    def __init__(self, client: EngineEvents, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._lanes: dict[str, _Lane] = {}
        self._large = ("", Place(QSize()))
        self.counts = FrameCounts()
        self._pool = QThreadPool(self)
        self._pool.setMaxThreadCount(WORKERS)
        self._carrier = _Carrier()
        self._carrier.done.connect(self._decoded, Qt.ConnectionType.QueuedConnection)
        client.page_frame.connect(self.take)
        client.live_gone.connect(self._gone)

    def get(self, run: str) -> Picture | None:
        """The newest picture, ``None`` before the first."""
        lane = self._lanes.get(run)
        return lane.picture if lane is not None else None

    def fit(self, run: str, size: QSize | None) -> None:
        """Pictures of this run are shown in this room (device pixels): a worker makes them fit."""
        self._lanes.setdefault(run, _Lane()).tile = Place(size) if size is not None else None

    def enlarge(self, run: str, room: QSize, ratio: float = 1.0) -> None:
        """This run is shown large, in this room, and comes before the others; "" for none."""
        self._large = (run, Place(room, ratio))

    @property
    def held(self) -> int:
        """Bytes of decoded pictures and of those that wait."""
        return sum(
            (lane.picture.image.sizeInBytes() if lane.picture is not None else 0)
            + (len(lane.waiting.jpeg) if lane.waiting is not None else 0)
            for lane in self._lanes.values()
        )

    def take(self, frame: PageFrame) -> None:
        """A picture has come from the engine."""
        lane = self._lanes.setdefault(frame.run, _Lane())
        if lane.busy:
            self.counts.dropped += lane.waiting is not None
            lane.waiting = frame
            return
        self._start(lane, frame)

    def forget(self, run: str) -> None:
        """Nobody looks at this run any more."""
        self._lanes.pop(run, None)

    def close(self) -> None:
        """Wait for pictures being decoded."""
        self._lanes.clear()
        self._pool.clear()
        self._pool.waitForDone()

    def _gone(self, event: LiveGone) -> None:
        self.forget(event.run)

    def _start(self, lane: _Lane, frame: PageFrame) -> None:
        lane.busy = True
        done = self._carrier.done
        run, place = self._large
        is_large = frame.run == run
        decode = _Decode(
            frame, place if is_large else lane.tile, lambda image: done.emit((lane, frame), image)
        )
        self._pool.start(decode, int(is_large))

    def _decoded(self, decoding: tuple[_Lane, PageFrame], image: QImage) -> None:
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
        lane.picture = Picture(
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
