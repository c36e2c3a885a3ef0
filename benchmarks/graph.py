"""The graph in memory and identity: building and shortest paths beside plain networkx, at 1,000 to 50,000 states.

Plain networkx is the code one would write without this package: a MultiDiGraph with a weight on each edge, and its
own Dijkstra.  Both take the same states and transitions (three a state).  Paths are requested between the home page
and random states, without opening by address, so that both search the same edges.  Times are of the processor.
"""

from __future__ import annotations

import random
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import networkx

from app.engine.core.identity import element_key, keys_of, page_id
from app.engine.core.page_state import Element, Mode, PageCapture, PageKeys, PageState
from app.engine.core.transition import Locator, Transition
from app.engine.graph.graph import InteractionGraph
from app.engine.graph.paths import cost, usual_seconds
from app.engine.store.graph.graph_store import GraphStore
from app.errors import NotFound

HOME = "http://shop.example/"
QUESTIONS = 30


def made_up(states: int) -> tuple[list[PageState], list[Transition]]:
    """A generated site of that many states; every one can be reached, and two more transitions leave it."""
    chance = random.Random(states)
    pages: list[PageState] = []
    for number in range(states):
        path = f"/section-{number % 40}/{number}" if number else "/"
        keys = PageKeys(
            url=path,
            template=f"/section-{number % 40}/{{n}}",
            structure=f"{number:016x}",
            skeleton=f"{number % 60:016x}",
        )
        pages.append(
            PageState(id=page_id(keys), keys=keys, url=HOME + path[1:], title=path, depth=number // 1000)
        )
    transitions: list[Transition] = []
    for number in range(3 * states):
        source = chance.randrange(max(1, min(number, states)))
        target = number if 0 < number < states else chance.randrange(states)
        tried = chance.randrange(4)
        transitions.append(
            Transition(
                id=f"{number:016x}",
                source=pages[source].id,
                target=pages[target].id,
                locator=Locator(
                    role="link",
                    name=f"Item {number}",
                    landmarks=("main",),
                    css=f"ul > li:nth-child({number})",
                ),
                attempts=tried,
                successes=tried,
                seconds=chance.uniform(0.2, 2.0) if tried else 0.0,
            )
        )
    return pages, transitions


def best_of(times: int, work: Callable[[], object]) -> float:
    """Seconds of the fastest of some tries."""
    taken: list[float] = []
    for _ in range(times):
        start = time.process_time()
        work()
        taken.append(time.process_time() - start)
    return min(taken)


def plain(pages: list[PageState], transitions: list[Transition]) -> networkx.MultiDiGraph[str]:
    """The same graph without this package."""
    graph: networkx.MultiDiGraph[str] = networkx.MultiDiGraph()
    graph.add_nodes_from((page.id, {"page": page}) for page in pages)
    usual = usual_seconds(transitions)
    for found in transitions:
        graph.add_edge(found.source, found.target, key=found.id, transition=found, weight=cost(found, usual))
    return graph


def compare(states: int) -> None:
    """One line: building and searching, both ways."""
    pages, transitions = made_up(states)
    times = 5 if states <= 10_000 else 3

    def ours() -> InteractionGraph:
        return InteractionGraph("shop", HOME, Mode.FULL, pages, transitions)

    built = best_of(times, ours)
    skeleton = best_of(times, lambda: InteractionGraph("shop", HOME, Mode.SKELETON, pages, transitions))
    built_plain = best_of(times, lambda: plain(pages, transitions))
    graph, theirs = ours(), plain(pages, transitions)
    routed = best_of(1, lambda: graph.router)
    chance = random.Random(7)
    asked: list[float] = []
    asked_plain: list[float] = []
    for target in chance.sample(pages[1:], QUESTIONS):
        start = time.process_time()
        try:
            mine = graph.route("", target.id, opening=False).cost
        except NotFound:
            mine = float("inf")
        asked.append(time.process_time() - start)
        start = time.process_time()
        try:
            best = networkx.dijkstra_path_length(theirs, pages[0].id, target.id)
        except networkx.NetworkXNoPath:
            best = float("inf")
        asked_plain.append(time.process_time() - start)
        assert mine == best or abs(mine - best) < 1e-6, (mine, best)
    way, way_plain = statistics.median(asked), statistics.median(asked_plain)
    print(
        f"{states:>7,} states  build {built * 1e3:7.1f} ms (skeleton {skeleton * 1e3:7.1f}),"
        f" networkx {built_plain * 1e3:7.1f} = {built_plain / built:4.1f}x   first way +{routed * 1e3:6.1f} ms,"
        f" then {way * 1e3:6.2f} ms, networkx {way_plain * 1e3:6.2f} = {way_plain / way:4.1f}x"
        f"   ({QUESTIONS} ways of equal cost)"
    )


def stored(states: int) -> None:
    """One line: the graph file."""
    pages, transitions = made_up(states)
    with tempfile.TemporaryDirectory() as folder:
        store = GraphStore(Path(folder) / "shop.sqlite", "shop")
        start = time.process_time()
        with store.batch():
            for page in pages:
                store.put_page(page)
            for found in transitions:
                store.record(found)
        written = time.process_time() - start
        store.close()
        store = GraphStore(store.path, "shop")
        read = best_of(1, lambda: InteractionGraph.load(store))
        steps = 50
        start = time.process_time()
        for page in pages[:steps]:
            with store.batch():
                store.put_page(page)
            store.pages()
        step = (time.process_time() - start) / steps
        again = best_of(3, lambda: InteractionGraph.load(store))
        store.close()
        size = store.path.stat().st_size
    print(
        f"{states:>7,} states  written in {written:5.2f} s, {size / states / 1024:4.1f} KB each;"
        f" read and built in {read * 1e3:6.0f} ms, after a change in {again * 1e3:6.0f} ms;"
        f" a step written and read again {step * 1e3:5.2f} ms"
    )


def identity(elements: int) -> None:
    """One line: keys of one page and of all its elements."""
    page = PageCapture(
        url=f"{HOME}catalogue/?page=2&utm_source=mail",
        headings=("All products",),
        text="\n".join(f"Line {number} of the text" for number in range(elements)),
        elements=tuple(
            Element(
                index=number,
                role="link" if number % 2 else "button",
                name=f"Thing {number} of many",
                href=f"{HOME}catalogue/thing-{number}_{number}/" if number % 2 else "",
                landmarks=("main",) if number % 5 else ("banner", "navigation:Main"),
                repeat="ol>li" if number % 3 else "",
            )
            for number in range(elements)
        ),
    )
    once = best_of(1, lambda: keys_of(page, HOME))
    keys = best_of(5, lambda: keys_of(page, HOME))
    every = best_of(5, lambda: [element_key(element, HOME) for element in page.elements])
    print(
        f"{elements:>7,} elements  first look {once * 1e3:6.2f} ms, again {keys * 1e3:6.2f} ms"
        f" ({keys / elements * 1e6:4.2f} us an element); keys of all elements {every * 1e3:6.2f} ms"
    )


def main() -> None:
    print("Identity of a page")
    for elements in (500, 2_000, 5_000):
        identity(elements)
    print("Interaction graph, three transitions a state")
    for states in (1_000, 10_000, 50_000):
        compare(states)
    print("Graph file")
    for states in (1_000, 10_000):
        stored(states)


if __name__ == "__main__":
    main()
