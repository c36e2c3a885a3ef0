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

MOST_SIDE = 8192
"""Pixels of a side; a larger picture is no page of ours."""
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
    def __init__(self, frame: PageFrame, fit: QSize | None, done: Callable[[QImage], None]) -> None:
        super().__init__()
        self._frame, self._fit, self._done = frame, fit, done

    def run(self) -> None:
        self._done(decoded(self._frame.jpeg, self._fit))


def decoded(data: bytes, fit: QSize | None = None) -> QImage:
    """The picture, shrunk into ``fit`` (pixels) where it is larger; a null image when it can't be read."""
    buffer = QBuffer()
    buffer.setData(QByteArray(data))
    buffer.open(QIODevice.OpenModeFlag.ReadOnly)
    reader = QImageReader(buffer)
    size = reader.size()
    if not size.isValid() or max(size.width(), size.height()) > MOST_SIDE:
        return QImage()
    if fit is not None and not fit.isEmpty():
        shrunk = size.scaled(fit, Qt.AspectRatioMode.KeepAspectRatio)
        if shrunk.width() < size.width():
            reader.setScaledSize(shrunk)  # the decoder leaves out what would be thrown away
    image = reader.read()
    if not image.isNull() and image.format() is not QImage.Format.Format_RGB32:
        image = image.convertToFormat(QImage.Format.Format_RGB32)
    return image


@dataclass(slots=True)
class _Lane:
    """One run's: what is shown, what waits, whether a worker is at it."""

    picture: Picture | None = None
    waiting: PageFrame | None = None
    fit: QSize | None = None
    busy: bool = False
    first: bool = False


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

    def fit(self, run: str, size: QSize | None, *, first: bool = False) -> None:
        """Pictures of this run are shown in this size (device pixels): larger ones are shrunk by a worker.

        ``first``: before those of other runs.
        """
        lane = self._lanes.setdefault(run, _Lane())
        lane.fit, lane.first = size, first

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
        self._pool.start(
            _Decode(frame, lane.fit, lambda image: done.emit((lane, frame), image)), int(lane.first)
        )

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
