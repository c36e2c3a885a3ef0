"""Seconds for the map's layered layout as a site grows, beside one pass over its links in Python and networkx's
own layered layout; and for adding a tenth of the states to existing ones.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import networkx as nx
import numpy as np

from app.engine.graph.layout import layout
from tests.support.generated_site import is_free_of_overlaps, large_site


def seconds(work: Callable[[], object], times: int = 3) -> float:
    best = float("inf")
    for _ in range(times):
        began = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - began)
    return best


def measure(count: int) -> str:
    rows, edges = large_site(count)
    depths = np.array([row.depth for row in rows])
    sources, targets = np.array([edge[0] for edge in edges]), np.array([edge[1] for edge in edges])
    whole = seconds(lambda: layout(depths, sources, targets))
    places = layout(depths, sources, targets)
    assert is_free_of_overlaps(places)
    before = places.copy()
    before[np.random.default_rng(0).random(count) < 0.1] = np.nan
    joined = seconds(lambda: layout(depths, sources, targets, before))
    degree = [0] * count

    def one_pass() -> None:
        for source, target, _ in edges:
            degree[source] += 1
            degree[target] += 1

    floor = seconds(one_pass)
    graph = nx.DiGraph([(source, target) for source, target, _ in edges])
    for number, depth in enumerate(depths.tolist()):
        graph.add_node(number, subset=depth)
    plain = seconds(lambda: nx.multipartite_layout(graph), 1)
    return (
        f"{count} states, {len(edges)} links: {whole:.3f} s with 8 sweeps; one pass over the links in Python "
        f"{floor:.3f} s, ratio {whole / floor:.1f}; networkx without sweeps {plain:.3f} s, "
        f"ratio {whole / plain:.1f}; a tenth joining {joined:.3f} s"
    )


def main() -> None:
    for count in (1_000, 10_000, 50_000):
        print(measure(count))


if __name__ == "__main__":
    main()
