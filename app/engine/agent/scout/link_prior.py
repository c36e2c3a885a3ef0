"""Prior of a page's links: how likely each is the one to follow, learnt from passed runs on other sites.  Pure.

A boosted ranker of small trees over what a link's words show of the task and over its place on the page
(``tools/train_link_prior.py`` makes the table, ``benchmarks/scout_prior.py`` measures it on sites left out).  It
orders ways that fit the task about as well; it is no measure of fit, so a page that fits is not left for it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import takewhile

import numpy as np
from numpy.typing import NDArray

from app.assets import resource
from app.engine.agent.scout.likeness import meaning
from app.engine.agent.scout.page_context import PageContext, segments_of
from app.engine.agent.scout.terms import Evidence, Terms
from app.engine.core.addresses import split_address

Matrix = NDArray[np.float32]
MOST = 0.05
"""Bound of a prior, either way."""
_SPREAD = 2.0
"""Standard deviations among the links of a page at which the bound is reached."""
_LANDMARKS = ("navigation", "banner", "main", "contentinfo")
FEATURES = (
    *("name", "path", "name_open", "path_open", "best_name", "named", "page_fit"),
    *("words", "characters", "segments", "query", "current", *(f"in_{one}" for one in _LANDMARKS)),
    *("place", "after", "same_name", "same_path", "in_row", "shared_segments", "below"),
)


@dataclass(frozen=True, slots=True)
class LinkModel:
    """Trees of one depth over ``FEATURES``: shapes (trees, 2^depth - 1) and (trees, 2^depth).

    Attributes:
        feature: tested at each inner node, in the order of breadth; -1 goes left.
        threshold: from which on a value goes right.
        leaf: what a leaf adds to the score.
    """

    feature: NDArray[np.int64]
    threshold: Matrix
    leaf: Matrix

    def scores(self, features: Matrix) -> Matrix:
        """Return one score a row; higher is likelier, comparable within one page."""
        trees = np.arange(len(self.feature))
        node = np.zeros((len(features), len(trees)), dtype=np.int64)
        rows = np.arange(len(features))[:, None]
        for _ in range(self.leaf.shape[1].bit_length() - 1):
            tested = self.feature[trees, node]
            right = (tested >= 0) & (features[rows, tested] >= self.threshold[trees, node])
            node = 2 * node + 1 + right
        return self.leaf[trees, node - self.feature.shape[1]].sum(axis=1)


def link_priors(features: Matrix) -> Matrix:
    """Return what to add to the score of each link of one page, in [-``MOST``, ``MOST``]."""
    if len(features) < 2:
        return np.zeros(len(features), dtype=np.float32)
    return bounded(_model().scores(features))


def bounded(scores: Matrix) -> Matrix:
    """Return scores of one page's links as priors: deviations from their mean, cut at the bound."""
    deviations = (scores - scores.mean()) / (scores.std() + 1e-6)
    return MOST * np.clip(deviations / _SPREAD, -1.0, 1.0)


def link_features(
    context: PageContext, terms: Terms, here: Evidence, likeness: Sequence[tuple[Evidence, Evidence]]
) -> Matrix:
    """Return the features of a page's links, shape (links, ``FEATURES``).

    Args:
        here: what the page in front shows of each term.
        likeness: what name and path of each link show of each term.
    """
    links = context.links
    if not links:
        return np.zeros((0, len(FEATURES)), dtype=np.float32)
    weights = np.array([term.weight for term in terms], dtype=np.float32)
    shown = np.array(here, dtype=np.float32)
    said = np.array(likeness, dtype=np.float32).reshape(len(links), 2, len(terms))
    is_name = np.array([term.is_name for term in terms], dtype=np.float32)
    columns = [
        said
        @ scale
        / max(float(scale.sum()), 1e-6)  # for the whole task, for what the page does not show yet
        for scale in (weights, weights * (1 - shown))
    ]
    best = said[:, 0].max(axis=1, initial=0.0)
    named = (said[:, 0] * is_name).max(axis=1, initial=0.0)
    fit = np.full(len(links), float(weights @ shown) / max(float(weights.sum()), 1e-6))
    return np.column_stack([*columns, best, named, fit, _places(context)]).astype(np.float32)


def _places(context: PageContext) -> Matrix:
    """Return the features that no task has a part in."""
    links, ours = context.links, segments_of(context.address.path)
    told = [_described(one.name, one.href, one.landmarks, one.states) for one in links]
    called, leading = Counter(one.name for one in links), Counter(one.path for one in told)
    rows: list[tuple[float, ...]] = []
    for at, (one, link) in enumerate(zip(told, links, strict=True)):
        shared = sum(takewhile(bool, (a == b for a, b in zip(ours, one.segments, strict=False))))
        below = shared == len(ours) < len(one.segments)
        rows.append((at, called[link.name], leading[one.path], bool(context.row_text(link)), shared, below))
    seen = np.array(rows, dtype=np.float32)
    own = np.array([one.own for one in told], dtype=np.float32)
    return np.column_stack((own, seen[:, :1] / len(links), np.minimum(seen, _CAPS))).astype(np.float32)


_CAPS = np.array((300, 20, 20, 1, 8, 1), dtype=np.float32)


@dataclass(frozen=True, slots=True)
class _Link:
    """A link by itself: ``own`` are its features that no other link has a part in."""

    path: str
    segments: tuple[str, ...]
    own: tuple[float, ...]


@lru_cache(maxsize=8192)
def _described(name: str, href: str, landmarks: tuple[str, ...], states: tuple[str, ...]) -> _Link:
    address = split_address(href)
    segments = segments_of(address.path)
    marks = {mark.partition(":")[0] for mark in landmarks}
    current = "current" in states or "selected" in states
    counted = (min(len(meaning(name)), 12), min(len(name), 80), min(len(segments), 8))
    return _Link(
        address.path,
        segments,
        (*counted, bool(address.query), current, *(mark in marks for mark in _LANDMARKS)),
    )


@lru_cache(maxsize=1)
def _model() -> LinkModel:
    with np.load(resource("models", "link_prior.npz")) as table:
        return LinkModel(table["feature"].astype(np.int64), table["threshold"], table["leaf"])
