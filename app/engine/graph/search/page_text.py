"""Words of the pages' texts, for what no title, heading or control says ("page with the return policy").

A page's text is long, and most of its words name nothing that the page is for.  So it has no vectors: it only adds to a
state's score, by the share of the query's words that it holds; a word that few pages hold counts more.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

from app.engine.graph.search.likeness import rarity
from kb.retrieval.terms import query_terms, stems_of, warm_up, words_of

MAX_PAGE_TEXT = 8_000
"""Maximum characters of a page's text that are indexed."""


class PageTextIndex:
    """The words of the texts of one graph's states."""

    def __init__(self) -> None:
        self._words: dict[str, dict[str, str]] = {}
        self._holders: defaultdict[str, set[str]] = defaultdict(set)

    def update(self, texts: Mapping[str, str], gone: Sequence[str] = ()) -> None:
        """Add the texts of new and changed nodes by id, remove nodes that are gone."""
        warm_up(texts.values())
        for node in (*gone, *texts):
            for stem in self._words.pop(node, ()):
                self._holders[stem].discard(node)
        for node, text in texts.items():
            short = text[:MAX_PAGE_TEXT]
            words: dict[str, str] = {}
            for word, stem in zip(words_of(short), stems_of(short), strict=True):
                words.setdefault(stem, word)
            if words:
                self._words[node] = words
            for stem in words:
                self._holders[stem].add(node)

    def shares(self, query: str, apart: Callable[[str], bool] = bool) -> dict[str, float]:
        """Return the share of the query's words, 0 to 1, that each node's text holds; no nodes that hold none.

        Words whose stems ``apart`` takes alone can be held, the others only count in the whole.
        """
        wanted = {stem: weight * self._rarity(stem) for stem, weight in query_terms(query).weights.items()}
        total = sum(wanted.values())
        found: defaultdict[str, float] = defaultdict(float)
        for stem, worth in wanted.items():
            if not apart(stem):
                continue
            for node in self._holders.get(stem, ()):
                found[node] += worth / total
        return dict(found)

    def matches(self, query: str, node: str) -> tuple[str, ...]:
        """The words of a node's text that the query asks for, the rarest first."""
        words = self._words.get(node, {})
        held = [stem for stem in query_terms(query).weights if stem in words]
        return tuple(words[stem] for stem in sorted(held, key=lambda stem: (-self._rarity(stem), stem)))

    def stems(self, node: str) -> set[str]:
        """The stems of a node's text."""
        return set(self._words.get(node, ()))

    def holders(self, stem: str) -> set[str]:
        """The nodes whose text has a word."""
        return self._holders.get(stem, set())

    def _rarity(self, stem: str) -> float:
        return rarity(len(self.holders(stem)), len(self._words))
