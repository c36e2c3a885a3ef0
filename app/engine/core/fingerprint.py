"""Typed fingerprints of a page: compare two captures, one kind at a time.  Pure.

SuperBrowser keeps several hashes as plain strings and compares two of different kinds, so that every page looks
changed.  Here each kind is a type of its own, and comparing two kinds is an error.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import Self

from app.engine.core.addresses import url_key
from app.engine.core.identity import normal_name
from app.engine.core.page_state import Element, PageCapture

DIGITS = 16
"""Hexadecimal digits of a fingerprint."""
GRAIN = 8
"""Pixels that an element may move before it counts as moved."""


@dataclass(frozen=True, slots=True, eq=False)
class Fingerprint:
    """One fingerprint.  Equal only to one of its own kind; comparing it with anything else raises ``TypeError``."""

    digest: str

    @classmethod
    def over(cls, parts: Iterable[str]) -> Self:
        """The fingerprint of these parts in this order; the boundaries between parts count."""
        digest = hashlib.blake2b(digest_size=DIGITS // 2)
        for part in parts:
            data = part.encode("utf-8", "replace")
            digest.update(len(data).to_bytes(4, "little"))
            digest.update(data)
        return cls(digest.hexdigest())

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            raise TypeError(f"a {type(self).__name__} is compared with a {type(other).__name__}")
        return self.digest == other.digest  # type: ignore[attr-defined]

    def __hash__(self) -> int:
        return hash((type(self).__name__, self.digest))


class ElementsFingerprint(Fingerprint):
    """Interactive elements: roles, names, states and visibility, in document order; no values, no positions."""

    __slots__ = ()


class TextFingerprint(Fingerprint):
    """The visible text; digits count, so that a counter's step is a change."""

    __slots__ = ()


class ShapeFingerprint(Fingerprint):
    """The text without numbers and dates: stays the same while a clock ticks."""

    __slots__ = ()


class ValuesFingerprint(Fingerprint):
    """Filled in, selected and checked values."""

    __slots__ = ()


class FrameFingerprint(Fingerprint):
    """The page's frames, and those that could not be read."""

    __slots__ = ()


class ScrollFingerprint(Fingerprint):
    """Positions of elements within the viewport, so that scrolling shows."""

    __slots__ = ()


class AddressFingerprint(Fingerprint):
    """The address without its volatile parts (``app.engine.core.addresses.url_key``)."""

    __slots__ = ()


class FingerprintKind(Enum):
    """The kinds, to name those that differ."""

    ELEMENTS = "elements"
    TEXT = "text"
    SHAPE = "shape"
    VALUES = "values"
    FRAMES = "frames"
    SCROLL = "scroll"
    ADDRESS = "address"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fingerprints:
    """All fingerprints of one capture."""

    elements: ElementsFingerprint
    text: TextFingerprint
    shape: ShapeFingerprint
    values: ValuesFingerprint
    frames: FrameFingerprint
    scroll: ScrollFingerprint
    address: AddressFingerprint

    def changed(self, before: Fingerprints) -> frozenset[FingerprintKind]:
        """The kinds in which this capture differs from the one before."""
        differing = {
            FingerprintKind.ELEMENTS: self.elements != before.elements,
            FingerprintKind.TEXT: self.text != before.text,
            FingerprintKind.SHAPE: self.shape != before.shape,
            FingerprintKind.VALUES: self.values != before.values,
            FingerprintKind.FRAMES: self.frames != before.frames,
            FingerprintKind.SCROLL: self.scroll != before.scroll,
            FingerprintKind.ADDRESS: self.address != before.address,
        }
        return frozenset(kind for kind, differs in differing.items() if differs)


def fingerprints_of(page: PageCapture) -> Fingerprints:
    """The fingerprints of a capture."""
    return Fingerprints(
        elements=elements_fingerprint(page),
        text=text_fingerprint(page),
        shape=ShapeFingerprint.over((_shape(page.text),)),
        values=ValuesFingerprint.over(_value(element) for element in page.elements if _holds(element)),
        frames=FrameFingerprint.over((str(page.frames), *page.opaque, *_frames(page))),
        scroll=ScrollFingerprint.over(_place(element) for element in page.elements if element.visible),
        address=AddressFingerprint.over((url_key(page.url), _route(page.url))),
    )


def elements_fingerprint(page: PageCapture) -> ElementsFingerprint:
    """Fingerprint of the interactive elements; the focus does not count."""
    return ElementsFingerprint.over(
        "\t".join((element.role, element.name, *_states(element), "seen" if element.visible else ""))
        for element in page.elements
    )


def text_fingerprint(page: PageCapture) -> TextFingerprint:
    """Fingerprint of the visible text and the title."""
    return TextFingerprint.over((page.title, page.text))


@lru_cache(maxsize=64)
def _shape(text: str) -> str:
    return "\n".join(normal_name(line) for line in text.split("\n"))


_TOLD_BY_VALUES = frozenset({"checked", "selected", "pressed", "focused"})


def _states(element: Element) -> tuple[str, ...]:
    return tuple([state for state in element.states if state not in _TOLD_BY_VALUES])


def _holds(element: Element) -> bool:
    return bool(element.value) or any(
        state in _TOLD_BY_VALUES for state in element.states if state != "focused"
    )


def _value(element: Element) -> str:
    ticked = [state for state in element.states if state in _TOLD_BY_VALUES and state != "focused"]
    return "\t".join((str(element.index), element.value, *ticked))


def _frames(page: PageCapture) -> tuple[str, ...]:
    return tuple(dict.fromkeys("/".join(element.frame) for element in page.elements if element.frame))


def _place(element: Element) -> str:
    if element.rect is None:
        return "-"
    left, top, width, height = element.rect
    return f"{left // GRAIN:.0f} {top // GRAIN:.0f} {width // GRAIN:.0f} {height // GRAIN:.0f}"


def _route(url: str) -> str:
    """A fragment that is a client-side route."""
    fragment = url.partition("#")[2]
    return fragment if fragment.startswith(("/", "!")) else ""
