"""Pages of a Playwright trace at the moments of its steps: document, tree, picture, tabs."""

from __future__ import annotations

import io
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from urllib.parse import quote, quote_plus

from app.engine.core.html_nodes import html_of
from app.engine.core.html_tree import page_title, tree_of
from app.engine.core.redaction import MARK, redact_html, redact_text, redact_url
from app.engine.core.trajectory import Step, Tab
from app.engine.imports.page_contents import ForeignContents
from app.engine.imports.playwright_files import TraceFiles
from app.engine.imports.playwright_snapshots import DomSnapshot, PageDocument
from app.engine.imports.playwright_trace import PlaywrightTrace, ScreencastPicture, TracedCall
from app.engine.imports.source_files import MAX_IMAGE_BYTES

MAX_HTML_TOTAL = 128 * 2**20
"""Bytes of HTML kept of one run."""
POINT_SIZE = 24
"""Side of the box shown around a click whose element's box was not recorded, in CSS pixels."""

_MIN_SECRET = 4
_CACHED_PAGES = 4
_NEXT_PICTURE = 0.5
"""Seconds within which the next picture stands in for one that still shows the page before."""


@dataclass(slots=True)
class TypedSecrets:
    """Passwords typed so far, which later texts, addresses and pages repeat."""

    _texts: dict[str, None] = field(default_factory=dict[str, None])

    def add(self, secret: str) -> None:
        """Remember a password; a short one occurs in other words, too."""
        if len(secret) >= _MIN_SECRET and secret != MARK:
            for form in (secret, quote(secret, safe=""), quote_plus(secret), repr(secret)[1:-1]):
                self._texts[form] = None

    def without(self, said: str) -> str:
        """Return a text without them, and without what is a secret by its form."""
        return redact_text(self.typed_out(said))

    def typed_out(self, said: str) -> str:
        """Return a text without the typed ones alone."""
        for secret in self._texts:
            if secret in said:
                said = said.replace(secret, MARK)
        return said


@dataclass(slots=True)
class RenderedPage:
    """A page's document with its tree and HTML as stored; ``url`` and ``title`` are without secrets."""

    document: PageDocument
    url: str
    title: str
    tree: str
    html: str


@dataclass(slots=True)
class ScaledPicture:
    """A stored picture and the number of its pixels to one CSS pixel, in both directions."""

    digest: str = ""
    scale: tuple[float, float] = (1.0, 1.0)
    size: tuple[int, int] = (0, 0)


class PageReader:
    """Reads the pages of one run; their contents gather in ``contents``. ``missing`` counts pictures not there."""

    def __init__(
        self, trace: PlaywrightTrace, files: TraceFiles, contents: ForeignContents, secrets: TypedSecrets
    ) -> None:
        self._trace, self._files = trace, files
        self._contents, self._secrets = contents, secrets
        self._rendered: OrderedDict[object, RenderedPage] = OrderedDict()
        self._titles: dict[str, tuple[str, str]] = {}
        self._pictures: dict[str, ScaledPicture] = {}
        self._html_bytes = 0
        self._left_out: set[object] = set()
        self.missing = 0
        self.cut = 0
        self.html_left_out = 0
        self.trees = 0

    @property
    def left_out(self) -> int:
        """Pages that are not put together, as those before them have so many nodes."""
        return len(self._left_out)

    def snapshot_before(self, call: TracedCall, page: str) -> DomSnapshot | None:
        """Return the page's last snapshot before a call acts: at the action, before it, else of an earlier call."""
        for phase in ("action", "before"):
            found = _main(call.snapshots.get(phase, {}))
            if found is not None:
                return found
        return self.latest(page, call.start)

    def latest(self, page: str, time: float) -> DomSnapshot | None:
        """Return a page's last snapshot up to a moment."""
        documents = self._trace.documents.get(page, [])
        at = bisect_right(documents, time, key=lambda document: document.time)
        return documents[at - 1] if at else None

    def render(self, main: DomSnapshot, frames: Mapping[str, DomSnapshot]) -> RenderedPage | None:
        """Return a page with its stored contents; ``None`` where its snapshot is beyond the bounds."""
        key = tuple(sorted((one.frame, *self._trace.store.root(one)) for one in (main, *frames.values())))
        if key in self._rendered:
            self._rendered.move_to_end(key)
            return self._rendered[key]
        document = self._trace.store.document(main, frames)
        if document is None:
            if self._trace.store.nodes_left <= 0:
                self._left_out.add(key)
            return None
        self.cut += document.cut
        said = self._secrets.typed_out
        title = self._secrets.without(page_title(document.html))
        tree = said(tree_of(document.html, title, main.url))
        page = RenderedPage(document, redact_url(said(main.url)), title, tree, "")
        if main.url.startswith("about:") and "\n" not in tree:
            page.tree = ""
        else:
            page.html = self._html(said(html_of(document.html, _clean_html)))
        self._titles[main.page] = (page.url, title)
        self._rendered[key] = page
        if len(self._rendered) > _CACHED_PAGES:
            self._rendered.popitem(last=False)
        return page

    def on_page(self, step: Step, page: RenderedPage) -> Step:
        """Return the step with the page's contents."""
        self.trees += bool(page.tree)
        step = replace(step, url=page.url, title=page.title, html=page.html)
        return self._contents.with_tree(step, page.tree)

    def tabs(self, page: str, url: str, title: str, time: float) -> tuple[tuple[Tab, ...], int]:
        """Return the open tabs at a moment and the index of this page's; the others as last seen."""
        closed = self._trace.closed
        pages = [
            one
            for one, opened in self._trace.opened.items()
            if one and (one == page or (opened <= time and closed.get(one, time + 1) > time))
        ]
        found: list[Tab] = []
        for one in pages:
            seen = (url, title) if one == page else self._titles.get(one)
            if seen is None:
                latest = self.latest(one, time)
                seen = (redact_url(self._secrets.typed_out(latest.url)) if latest else "", "")
            found.append(Tab(url=seen[0], title=seen[1]))
        return tuple(found), pages.index(page) if page in pages else 0

    def picture(
        self, page: str, time: float, call: TracedCall | None = None, phases: Sequence[str] = ()
    ) -> ScaledPicture:
        """Return the picture of a page at a moment: the call's own screenshot, else the frame at or before it."""
        for phase in phases if call is not None else ():
            file = call.pictures.get(phase, "") if call is not None else ""
            if file:
                view = next(iter(self._trace.documents.get(page, [])), None)
                found = self._picture(file, view.viewport if view is not None else (0.0, 0.0))
                if found.digest:
                    return found
        frame = self._frame(page, time)
        return (
            self._picture(frame.file, (frame.width, frame.height)) if frame is not None else ScaledPicture()
        )

    def _frame(self, page: str, time: float) -> ScreencastPicture | None:
        frames = self._trace.frames.get(page, [])
        at = bisect_right(frames, time, key=lambda frame: frame.time)
        found = frames[at - 1] if at else None
        then = self._address(page, found.time) if found is not None else ""
        if not then or then == self._address(page, time):
            return found
        following = frames[at] if at < len(frames) else None
        return following if following is not None and following.time - time <= _NEXT_PICTURE else None

    def _address(self, page: str, time: float) -> str:
        arrivals = self._trace.arrivals.get(page, [])
        at = bisect_right(arrivals, time, key=lambda arrival: arrival[0])
        return arrivals[at - 1][1] if at else ""

    def _picture(self, file: str, view: tuple[float, float]) -> ScaledPicture:
        if file not in self._pictures:
            data = self._files.read(file, MAX_IMAGE_BYTES)
            self.missing += not data
            digest, size = self._contents.picture(data), _size(data)
            if not digest or not size:
                self._pictures[file] = ScaledPicture()
            else:
                wide, high = (
                    pixels / css if css > 0 else 1.0 for pixels, css in zip(size, view, strict=True)
                )
                self._pictures[file] = ScaledPicture(digest, (wide, high), size)
        return self._pictures[file]

    def _html(self, html: str) -> str:
        if self._html_bytes > MAX_HTML_TOTAL:
            self.html_left_out += 1
            return ""
        before = len(self._contents.blobs)
        digest = self._contents.html(html)
        self._html_bytes += len(html) if len(self._contents.blobs) > before else 0
        return digest


def target_box(call: TracedCall, picture: ScaledPicture) -> tuple[float, float, float, float] | None:
    """Return a call's element, or a box around its point, in a picture's pixels; ``None`` for one outside of it."""
    box = call.box
    if box is None and call.point is not None:
        x, y = call.point
        box = (x - POINT_SIZE / 2, y - POINT_SIZE / 2, float(POINT_SIZE), float(POINT_SIZE))
    if box is None or not picture.digest:
        return None
    (wide, high), (width, height) = picture.scale, picture.size
    left, top = max(box[0] * wide, 0.0), max(box[1] * high, 0.0)
    right, bottom = min((box[0] + box[2]) * wide, width), min((box[1] + box[3]) * high, height)
    if right <= left or bottom <= top:
        return None
    return (round(left, 1), round(top, 1), round(right - left, 1), round(bottom - top, 1))


def _main(frames: Mapping[str, DomSnapshot]) -> DomSnapshot | None:
    return next((one for one in frames.values() if one.is_main), None)


def _clean_html(html: str) -> str:
    return redact_html(html).decode()


def _size(data: bytes) -> tuple[int, int] | None:
    """Return a picture's width and height from its first bytes; it is not decoded."""
    if not data:
        return None
    from PIL import Image

    try:
        with Image.open(io.BytesIO(data), formats=("PNG", "JPEG", "WEBP")) as picture:
            return picture.size
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return None
