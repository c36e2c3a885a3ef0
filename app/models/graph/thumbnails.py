"""Thumbnails of states for the map: loaded a few at a time, decoded and scaled on worker threads."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from typing import TYPE_CHECKING

from PySide6.QtCore import QByteArray, QObject, QSize, Qt, Signal
from PySide6.QtGui import QImage

from app.models.common.decoder import Decoder

if TYPE_CHECKING:
    from app.models.common.engine_client import EngineEvents
    from app.models.common.tasks import Tasks

SIZE = QSize(264, 165)
"""Decoded pictures are cropped to this shape: the upper part of a page identifies it."""
MAX_CONCURRENT = 8
"""Pictures loaded at a time."""
CACHE_SIZE = 96 << 20


def levels(data: bytes) -> tuple[QImage, ...]:
    """Return a picture at full, half and quarter size, cropped to the map's shape, without transparency.

    A damaged file gives none.
    """
    image = QImage.fromData(QByteArray(data))
    if image.isNull():
        return ()
    fill, smooth = Qt.AspectRatioMode.KeepAspectRatioByExpanding, Qt.TransformationMode.SmoothTransformation
    whole = image.scaled(SIZE, fill, smooth).copy(0, 0, SIZE.width(), SIZE.height())
    whole = whole.convertToFormat(QImage.Format.Format_RGB32)
    half = whole.scaled(SIZE / 2, Qt.AspectRatioMode.IgnoreAspectRatio, smooth)
    quarter = whole.scaled(SIZE / 4, Qt.AspectRatioMode.IgnoreAspectRatio, smooth)
    return (whole, half, quarter)


class Thumbnails(QObject):
    """A cache of thumbnails by content hash, least recently used first out.

    Signals:
        ready(digest): ``get`` returns a picture now.
    """

    ready = Signal(str)

    def __init__(
        self, client: EngineEvents, tasks: Tasks, parent: QObject | None = None, keep: int = CACHE_SIZE
    ) -> None:
        super().__init__(parent)
        self._client, self._tasks, self._keep = client, tasks, keep
        self._images: OrderedDict[str, tuple[QImage, ...]] = OrderedDict()
        self.held = 0
        """Bytes of decoded pictures."""
        self._asked: set[str] = set()
        self._waiting: list[str] = []
        self._failed: set[str] = set()
        self._decoder = Decoder(self)

    def get(self, digest: str, width: float) -> QImage | None:
        """Return the smallest size that is at least ``width`` pixels wide; ``None`` before it is loaded."""
        found = self._images.get(digest)
        if found is None:
            return None
        self._images.move_to_end(digest)
        return next((one for one in reversed(found) if one.width() >= width), found[0])

    def want(self, digests: Iterable[str]) -> None:
        """Load the pictures in sight, the most important first; earlier requests not among them are dropped."""
        known = self._images.keys() | self._asked | self._failed
        self._waiting = [digest for digest in dict.fromkeys(digests) if digest and digest not in known][::-1]
        self._ask()

    @property
    def is_idle(self) -> bool:
        return not self._asked and not self._waiting

    def close(self) -> None:
        self._waiting.clear()
        self._decoder.close()

    def _ask(self) -> None:
        while self._waiting and len(self._asked) < MAX_CONCURRENT:
            self._fetch(self._waiting.pop())

    def _fetch(self, digest: str) -> None:
        self._asked.add(digest)

        def arrived(data: bytes) -> None:
            self._decoder.start(lambda: levels(data), lambda images: self._shrunk(digest, images))

        def failed(_error: Exception) -> None:
            self._shrunk(digest, ())

        self._tasks.start(self._client.api.blob(digest), arrived, failed)

    def _shrunk(self, digest: str, images: tuple[QImage, ...]) -> None:
        self._asked.discard(digest)
        if images:
            self._images[digest] = images
            self.held += sum(image.sizeInBytes() for image in images)
            while self.held > self._keep and len(self._images) > 1:
                _, gone = self._images.popitem(last=False)
                self.held -= sum(image.sizeInBytes() for image in gone)
        else:
            self._failed.add(digest)
        self.ready.emit(digest)
        self._ask()
