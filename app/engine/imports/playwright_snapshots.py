"""DOM snapshots of a Playwright trace: a frame's document at a moment, written as differences from earlier ones.

A node is a text, ``[name, attributes, *children]``, or ``[[n, m]]``: node m, counted children first, of the frame's
snapshot n before this one. Snapshots are kept packed until a page is asked for.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import orjson
import zstandard

from app.engine.core.html_nodes import HtmlNode
from app.engine.core.redaction import MARK
from app.engine.core.secret_inputs import is_secret_input

MAX_PACKED = 192 * 2**20
"""Bytes of packed snapshots kept of one run."""
MAX_CACHED = 6 * 2**20
"""Bytes of JSON of the snapshots that are kept unpacked."""
MAX_NODES = 100_000
MAX_CHARS = 8 * 2**20
"""Nodes and characters of one page."""
_CHARS_PER_NODE = 64
MAX_RUN_NODES = 3_000_000
"""Nodes of all pages of one run that are put together; a page counts each time that something in it has changed."""
MAX_DEPTH = 300

TARGET = "__playwright_target__"

_OWN = "__playwright_"
_VALUE = f"{_OWN}value_"
_STATES = ((f"{_OWN}checked_", "checked"), (f"{_OWN}selected_", "selected"))
_FRAMES = ("iframe", "frame")
_LEFT_OUT = frozenset({"script", "style", "link", "noscript"})


@dataclass(frozen=True, slots=True, kw_only=True)
class DomSnapshot:
    """A frame's document at a moment; ``index`` counts the frame's snapshots. Times are as in its trace."""

    frame: str
    index: int
    page: str
    call: str
    phase: str
    url: str
    is_main: bool
    time: float
    wall: float
    viewport: tuple[float, float]


@dataclass(slots=True)
class PageDocument:
    """A page put together from its frames' snapshots. ``target`` is the element that the call acted on."""

    html: HtmlNode
    target: HtmlNode | None = None
    cut: bool = False


@dataclass(slots=True)
class SnapshotStore:
    """All snapshots of one trace, by frame; ``dropped`` counts those beyond the bounds.

    ``nodes_left`` are those that its pages may still be made of; then there are no more pages.
    """

    dropped: int = 0
    nodes_left: int = field(default_factory=lambda: MAX_RUN_NODES)
    _packed: dict[str, list[bytes]] = field(default_factory=dict[str, list[bytes]])
    _size: int = 0
    _cache: OrderedDict[tuple[str, int], tuple[list[Any], int]] = field(
        default_factory=OrderedDict[tuple[str, int], tuple[list[Any], int]]
    )
    _cached: int = 0
    _compressor: zstandard.ZstdCompressor = field(default_factory=lambda: zstandard.ZstdCompressor(level=1))

    def add(self, frame: str, html: object) -> int:
        """Keep a snapshot and return its index among those of its frame."""
        packed = self._packed.setdefault(frame, [])
        data = b""
        if self._size < MAX_PACKED:
            data = self._compressor.compress(orjson.dumps(html))
            self._size += len(data)
        else:
            self.dropped += 1
        packed.append(data)
        return len(packed) - 1

    def root(self, snapshot: DomSnapshot) -> tuple[int, int]:
        """Return where a snapshot's document was written: equal places are equal documents."""
        index, at = snapshot.index, -1
        for _ in range(1000):
            nodes = self.nodes(snapshot.frame, index)
            found = _reference(nodes[at]) if -1 <= at < len(nodes) and nodes else None
            if found is None or found[0] < 0:
                break
            index, at = index - found[0], found[1]
        return index, at

    def document(self, main: DomSnapshot, frames: Mapping[str, DomSnapshot]) -> PageDocument | None:
        """Return a page with the documents of its frames in place; ``None`` where nothing of it is left."""
        if self.nodes_left <= 0:
            return None
        reader = _DocumentReader(self, frames)
        html = reader.read(main)
        self.nodes_left -= reader.spent
        if html is None:
            return None
        return PageDocument(html=html, target=reader.target, cut=reader.cut)

    def nodes(self, frame: str, index: int) -> list[Any]:
        """Return a snapshot's nodes, children first; the last is its document."""
        key = (frame, index)
        if key in self._cache:
            self._cache.move_to_end(key)
            return self._cache[key][0]
        packed = self._packed.get(frame, [])
        if not 0 <= index < len(packed) or not packed[index]:
            return []
        data = zstandard.ZstdDecompressor().decompress(packed[index])
        nodes = _postorder(orjson.loads(data))
        self._cache[key] = (nodes, len(data))
        self._cached += len(data)
        while self._cached > MAX_CACHED and len(self._cache) > 1:
            _, (_, size) = self._cache.popitem(last=False)
            self._cached -= size
        return nodes


def _postorder(root: object) -> list[Any]:
    """Return all nodes but references, children before their parent."""
    nodes: list[Any] = []
    waiting: list[tuple[Any, bool]] = [(root, False)]
    while waiting:
        node, done = waiting.pop()
        if done or isinstance(node, str):
            nodes.append(node)
        elif _is_element(node):
            waiting.append((node, True))
            waiting.extend([(child, False) for child in reversed(cast("list[object]", node)[2:])])
    if _reference(root) is not None:
        nodes.append(root)  # never counted by the writer, and nothing refers to it: the document's place
    return nodes


def _is_element(node: object) -> bool:
    return isinstance(node, list) and isinstance(cast("list[object]", node or [None])[0], str)


def _reference(node: object) -> tuple[int, int] | None:
    if not isinstance(node, list) or len(cast("list[object]", node)) != 1:
        return None
    pair = cast("list[object]", node)[0]
    if not isinstance(pair, list) or len(cast("list[object]", pair)) != 2:
        return None
    back, at = cast("list[object]", pair)
    if type(back) is int and type(at) is int:
        return back, at
    return None


class _DocumentReader:
    """Reads one page; ``target`` is the element marked as acted on, ``cut`` whether a bound was met."""

    def __init__(self, store: SnapshotStore, frames: Mapping[str, DomSnapshot]) -> None:
        self._store, self._frames = store, frames
        self._nodes, self._chars = MAX_NODES, MAX_CHARS
        self._inside: list[str] = []
        self._referred: set[tuple[str, int, int]] = set()
        self.target: HtmlNode | None = None
        self.cut = False

    @property
    def spent(self) -> int:
        """The number of nodes that were read, or what their text is worth in nodes."""
        return max(MAX_NODES - self._nodes, (MAX_CHARS - self._chars) // _CHARS_PER_NODE)

    def read(self, snapshot: DomSnapshot) -> HtmlNode | None:
        nodes = self._store.nodes(snapshot.frame, snapshot.index)
        if not nodes or snapshot.frame in self._inside or len(self._inside) > 10:
            return None
        self._inside.append(snapshot.frame)
        holder = HtmlNode("")
        self._children([nodes[-1]], snapshot, holder)
        self._inside.pop()
        return next((child for child in holder.children if isinstance(child, HtmlNode)), None)

    def _children(self, children: list[Any], snapshot: DomSnapshot, into: HtmlNode) -> None:
        """Read children into an element, with a stack of its own: pages are deeper than Python's."""
        waiting: list[tuple[Any, int, HtmlNode, int]] = [
            (child, snapshot.index, into, 0) for child in reversed(children)
        ]
        while waiting:
            node, index, parent, depth = waiting.pop()
            self._nodes -= 1
            if self._nodes < 0 or self._chars < 0 or depth > MAX_DEPTH:
                self.cut = True
                continue
            if isinstance(node, str):
                self._chars -= len(node)
                parent.children.append(node)
            elif (found := _reference(node)) is not None:
                back, at = found
                nodes = self._store.nodes(snapshot.frame, index - back) if back >= 0 else []
                place = (snapshot.frame, index - back, at)
                if (
                    place in self._referred
                ):  # a browser's node is in its document once, a shared style sheet is not
                    self.cut |= not (_is_element(nodes[at]) and str(nodes[at][0]).lower() == "template")
                elif 0 <= at < len(nodes):
                    self._referred.add(place)
                    waiting.append((nodes[at], index - back, parent, depth + 1))
            elif _is_element(node):
                self._element(node, index, parent, depth, snapshot, waiting)

    def _element(
        self,
        node: list[Any],
        index: int,
        parent: HtmlNode,
        depth: int,
        snapshot: DomSnapshot,
        waiting: list[tuple[Any, int, HtmlNode, int]],
    ) -> None:
        tag = str(node[0]).lower()
        written: object = node[1] if len(node) > 1 else None
        raw = cast("dict[str, object]", written) if isinstance(written, dict) else {}
        if tag in _LEFT_OUT:
            return
        if tag == "template":
            if (
                f"{_OWN}shadow_root_" in raw
            ):  # what it shadows are slots: they stand beside, where they are shown
                waiting.extend((child, index, parent, depth + 1) for child in reversed(node[2:]))
            return
        element = HtmlNode(tag, _attributes(tag, raw))
        if element.attributes:
            self._chars -= sum(map(len, element.attributes.values()))
        parent.children.append(element)
        if TARGET in raw and raw[TARGET] in ("", snapshot.call):
            self.target = element
        if tag in _FRAMES:
            self._frame(raw, element)
            return
        waiting.extend([(child, index, element, depth + 1) for child in reversed(node[2:])])

    def _frame(self, raw: dict[str, object], element: HtmlNode) -> None:
        name = str(raw.get("src") or "").rpartition("/snapshot/")[2]
        inner = self._frames.get(name)
        if inner is None:
            return
        element.attributes["src"] = inner.url
        target = self.target
        document = self.read(inner)
        self.target = target or self.target
        if document is not None:
            element.children.append(document)


def _is_hidden_token(held: dict[str, str]) -> bool:
    """Whether a hidden field is a form's token against forgery."""
    name = f"{held.get('name', '')} {held.get('id', '')}".lower()
    return held.get("type", "").lower() == "hidden" and any(
        word in name for word in ("csrf", "xsrf", "token", "nonce", "viewstate", "form_key")
    )


def _attributes(tag: str, raw: dict[str, object]) -> dict[str, str]:
    """Return an element's attributes; what the page's scripts and its user set stands in the plain ones."""
    if not raw:
        return {}
    held = {
        name.lower(): value
        for name, value in raw.items()
        if isinstance(value, str) and not name.startswith(_OWN) and not name.lower().startswith("on")
    }
    value = raw.get(_VALUE)
    if isinstance(value, str) and held.get("type", "").lower() not in ("checkbox", "radio"):
        held["value"] = value
    if tag == "input" and held.get("value") and (is_secret_input(held) or _is_hidden_token(held)):
        held["value"] = MARK
    for own, name in _STATES if tag in ("input", "option") else ():
        if (state := raw.get(own)) in ("true", "false"):
            held.pop(name, None)
            if state == "true":
                held[name] = ""
    if tag == "dialog" and f"{_OWN}dialog_open_" in raw:
        held["open"] = ""
    if tag in _FRAMES:
        held.pop("srcdoc", None)
        held["src"] = "" if held.get("src", "").startswith("/snapshot/") else held.get("src", "")
    if held.get("src", "").startswith("data:"):
        held["src"] = "data:"
    return held
