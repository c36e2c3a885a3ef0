"""Compares the search methods on the same labelled queries over the same states.

A file of labelled queries is JSON lines, one query each::

    {"query": "where do I see a customer's orders", "expect": ["/dashboard/users/{n}", "/dashboard/orders"]}

``expect`` names the states that answer it, any one of which suffices: by template (``/dashboard/users/{n}``) or by
address without the host (``/about/*``); ``*`` matches within a segment, ``**`` anything.

Recall at k is the share of queries with one of these states among the first k; MRR is the mean over the queries of
one over the rank of the first such state, 0 beyond ``MOST``.  Queries without any such state in the graph are
excluded and named.
"""

from __future__ import annotations

import re
import statistics
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from pydantic import TypeAdapter, ValidationError

from app.engine.api.graph_api import MethodScore, SearchComparison
from app.engine.graph.search.state_search import StateSearch
from app.errors import InputError

MOST = 100
"""Results considered for each query."""

AT = 10

_FORM = 'a line is {"query": "...", "expect": ["/path", ...]}'


@dataclass(frozen=True, slots=True)
class LabelledQuery:
    """A query, and patterns of the states that answer it."""

    query: str
    expect: tuple[str, ...]

    def answered_by(self, places: Collection[str]) -> bool:
        """Whether a state with these templates and addresses is among the expected ones."""
        return any(_pattern(glob).fullmatch(place) for glob in self.expect for place in places)


_LINE = TypeAdapter(LabelledQuery)


def read_queries(text: str, name: str = "queries") -> tuple[LabelledQuery, ...]:
    """Parse labelled queries from a JSON lines text.

    Raises:
        InputError: a line is no labelled query, or there is none; it holds ``name`` and the line's number.
    """
    found = tuple(
        _read_line(line, f"{name}, line {number}")
        for number, line in enumerate(text.splitlines(), start=1)
        if line.strip()
    )
    if not found:
        raise InputError("there is no query in it", path=name, remedy=_FORM)
    return found


def compare(
    site: str,
    search: StateSearch,
    places: Mapping[str, Collection[str]],
    queries: Sequence[LabelledQuery],
    progress: Callable[[int, int], Any] | None = None,
    methods: Sequence[str] = (),
) -> SearchComparison:
    """Run each query with each available method.

    Args:
        places: templates and addresses (``PageKeys.template``, ``PageKeys.url``) of each node that ``search`` holds.
        methods: those to compare; empty for all available.
    """
    asked = [query for query in queries if any(query.answered_by(found) for found in places.values())]
    ranks: dict[str, list[int]] = {}
    scores: list[MethodScore] = []
    methods = methods or search.methods
    for number, method in enumerate(methods):
        search.search("warm up", method, 1)
        taken: list[float] = []
        ranks[method] = []
        for at, query in enumerate(asked):
            started = time.perf_counter()
            search.search(query.query, method, AT)
            taken.append((time.perf_counter() - started) * 1e3)
            found = [node for node, _ in search.ranking(query.query, method, MOST)]
            ranks[method].append(_rank(found, query, places))
            if progress is not None:
                progress(number * len(asked) + at + 1, len(asked) * len(methods))
        scores.append(_score(method, ranks[method], taken, search.megabytes(method)))
    missed = [
        query.query
        for at, query in enumerate(asked)
        if not any(0 < found[at] <= AT for found in ranks.values())
    ]
    absent = tuple(query.query for query in queries if query not in asked)
    return SearchComparison(
        site=site,
        states=len(places),
        queries=len(asked),
        methods=tuple(scores),
        missed=tuple(missed),
        absent=absent,
    )


def _rank(found: Sequence[str], query: LabelledQuery, places: Mapping[str, Collection[str]]) -> int:
    """Rank of the first expected state among the nodes found, from 1; 0 if it is missing."""
    return next((at for at, node in enumerate(found, start=1) if query.answered_by(places[node])), 0)


def _score(method: str, ranks: Sequence[int], taken: Sequence[float], megabytes: float) -> MethodScore:
    def recall(k: int) -> float:
        return sum(0 < rank <= k for rank in ranks) / max(len(ranks), 1)

    return MethodScore(
        method=method,
        recall_at_1=round(recall(1), 4),
        recall_at_10=round(recall(AT), 4),
        mrr=round(sum(1 / rank for rank in ranks if rank) / max(len(ranks), 1), 4),
        p50_ms=round(statistics.median(taken), 2) if taken else 0.0,
        p95_ms=round(float(np.percentile(taken, 95)), 2) if taken else 0.0,
        megabytes=round(megabytes, 3),
    )


def _read_line(line: str, where: str) -> LabelledQuery:
    try:
        read = _LINE.validate_json(line)
    except ValidationError as error:
        raise InputError(
            f"not a labelled query ({error.errors()[0]['msg']})", path=where, remedy=_FORM
        ) from error
    if not read.query.strip() or not read.expect or not all(read.expect):
        raise InputError("'query' or 'expect' is empty", path=where, remedy=_FORM)
    return read


@lru_cache(maxsize=4_096)
def _pattern(glob: str) -> re.Pattern[str]:
    parts = re.split(r"(\*\*|\*)", glob.rstrip("/") if len(glob) > 1 else glob)
    wild = {"**": ".*", "*": "[^/]*"}
    return re.compile("".join(wild.get(part) or re.escape(part) for part in parts) + "/?", re.DOTALL)
