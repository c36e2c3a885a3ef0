"""Texts of a run's pages for detectors, each distinct page read once.

A page's text is its recorded accessibility tree. Where nobody gives a loader every text is "", and the detectors that
need one stay silent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from app.engine.core.answer_terms import FoldedPage
from app.errors import SiteloreError

MAX_CHARACTERS = 64_000_000
"""Characters kept of one run; further pages count as not recorded."""

LoadBlob = Callable[[str], bytes]


class PageTexts:
    """Trees by their content hash; ``load`` reads one that is not known yet."""

    def __init__(self, load: LoadBlob | None = None) -> None:
        self._load = load
        self._texts: dict[str, str] = {}
        self._folded: dict[str, FoldedPage] = {}
        self._size = 0

    def add(self, blobs: Mapping[str, bytes], digest: str) -> None:
        """Keep a page that is not stored yet, where it is among these contents."""
        if digest and digest not in self._texts and digest in blobs:
            self._keep(digest, blobs[digest])

    def text(self, digest: str) -> str:
        """Return a page's text; "" for one that was not recorded."""
        if digest and digest not in self._texts and self._load is not None:
            try:
                self._keep(digest, self._load(digest))
            except SiteloreError:  # lost with its store: the run is judged without it
                self._texts[digest] = ""
        return self._texts.get(digest, "")

    def folded(self, digest: str) -> FoldedPage:
        """Return a page as terms are looked for on it."""
        if digest not in self._folded:
            self._folded[digest] = FoldedPage(self.text(digest))
        return self._folded[digest]

    def _keep(self, digest: str, content: bytes) -> None:
        self._size += len(content)
        self._texts[digest] = content.decode("utf-8", "replace") if self._size <= MAX_CHARACTERS else ""


def is_whole(tree: str) -> bool:
    """Whether a text is a page's whole tree: no list of its controls alone, and no words read in a picture."""
    return "RootWebArea" in tree


def is_words_alone(tree: str) -> bool:
    """Whether a page's text is words read in its picture: no element has an id or a place in a tree."""
    return bool(tree) and "[" not in tree and not is_whole(tree)
