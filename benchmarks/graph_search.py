"""Search over the states of a graph: time, memory, and recall beside the other methods.

    python -m benchmarks.graph_search                                 generated states for time, the demo site for
        recall
    python -m benchmarks.graph_search GRAPH.sqlite QUERIES.jsonl ...  recall on earlier graphs as well

Time: 838 states (the size of WebNavigator's GitLab graph) with the embedded encoder, query included; then growth with
generated vectors.  Wall time suffers from other load; processor time (of all threads) does not.  The alternative
measured beside it is equation 4 in its usual layout: every state's own token vectors in float32, none shared.

Recall: labelled queries of ``benchmarks/data``, written from a person's questions, without looking at titles; the
weights in ``late_interaction.Weighting`` were tuned on the shop's, so the demo's are unseen.
"""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from app.demo.server import DemoServer
from app.engine.api.graph_api import SearchComparison
from app.engine.browser.capture.snapshot import capture
from app.engine.browser.session import BrowserSession, open_browser, open_session
from app.engine.core import identity
from app.engine.core.page_state import Mode, PageState
from app.engine.graph.captured_states import state_of
from app.engine.graph.search import METHODS, StateSearch, StateText, state_text
from app.engine.graph.search.compare import LabelledQuery, compare, read_queries
from app.engine.graph.search.late_interaction import PLAIN, LateIndex, Weighting
from app.engine.graph.search.state_text import fields
from app.engine.graph.search.tokens import informative_tokens, packed_tokens
from app.engine.store.graph.graph_store import GraphStore
from kb.encoder import EncoderUnavailable, TokenEncoder, TokenVectors, load_encoder
from kb.vectors import MemoryVectors

HERE = Path(__file__).resolve().parent / "data"
STATES = 838
AIM_MS = 60
DIM = 384

_THINGS = """
    order customer product voucher review report address message partner category stock price invoice shipment
    refund offer page user note label project issue branch merge pipeline release token group milestone wiki
""".split()  # noqa: SIM905
_DEEDS = "list edit create search filter sort export approve archive compare print assign share watch".split()  # noqa: SIM905
_NAMES = """
    Northwind Harbor Juno Cobalt Lyra Basis Quartz Ember Dune Fjord Aria Krait Halo Grove Isle Nova Wren Larkspur Maple
    Cedar Onyx Willow Saffron Tundra Meadow Pine Slate Amber Coral Indigo Velvet Copper
""".split()  # noqa: SIM905


class RandomTokens:
    """Unit vectors without a model, the same for the same word: only the search is measured."""

    id, dim = "random tokens", DIM

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.concatenate([self._vectors([text]) for text in texts])

    def encode_tokens(self, texts: Sequence[str]) -> list[TokenVectors]:
        found: list[TokenVectors] = []
        for text in texts:
            words, at = text.split(), 0
            spans = [(at := text.index(word, at), at + len(word)) for word in words]
            found.append(TokenVectors(self._vectors(words), tuple(spans)))
        return found

    def _vectors(self, words: Sequence[str]) -> NDArray[np.float32]:
        rng = np.random.default_rng(abs(hash(tuple(words))) % 2**32)
        vectors = rng.standard_normal((len(words), DIM)).astype(np.float32)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


class Unmarked:
    """The same encoder without its own marks."""

    def __init__(self, encoder: TokenEncoder) -> None:
        self._encoder, self.id, self.dim = encoder, f"{encoder.id} without marks", encoder.dim

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self._encoder.encode(texts)

    def encode_tokens(self, texts: Sequence[str]) -> list[TokenVectors]:
        return [
            TokenVectors(found.vectors[1:-1], found.spans[1:-1])
            for found in self._encoder.encode_tokens(texts)
        ]


class Punctuated:
    """The same encoder with punctuation counted as words."""

    def __init__(self, encoder: TokenEncoder) -> None:
        self._encoder, self.id, self.dim = encoder, f"{encoder.id} with punctuation", encoder.dim

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self._encoder.encode(texts)

    def encode_tokens(self, texts: Sequence[str]) -> list[TokenVectors]:
        return [
            TokenVectors(found.vectors, tuple((0, len(text)) if end else (0, 0) for _, end in found.spans))
            for text, found in zip(texts, self._encoder.encode_tokens(texts), strict=True)
        ]


def made_up(count: int, seed: int = 7) -> list[StateText]:
    """A generated site of 90 templates: a menu of 30 links everywhere, 14 controls a template, 34 names of data a
    state.

    It has about as many distinct texts a state as a real shop and its back office.
    """
    rng = random.Random(seed)
    kinds = [f"{deed} {thing}" for thing in _THINGS for deed in _DEEDS]
    rng.shuffle(kinds)
    menu = tuple(f"link {kind}" for kind in kinds[:30])
    states: list[StateText] = []
    for number in range(count):
        template = number % 90
        own = kinds[30 + template]
        name = f"{' '.join(rng.sample(_NAMES, 3))} {number}"
        states.append(
            StateText(
                node=f"{number:016x}",
                template=f"/{own.replace(' ', '/')}/{{n}}",
                title=f"{name} | {own} | Workshop",
                headings=(name, own, *(f"{own} {rng.choice(_NAMES)}" for _ in range(3))),
                controls=(
                    *menu,
                    *(f"button {own} {word}" for word in _THINGS[:14]),
                    *(f"link {' '.join(rng.sample(_NAMES, 2))} {rng.randrange(2)}" for _ in range(34)),
                ),
                address=f"{own} {number}",
            )
        )
    return states


def asked(count: int = 100) -> list[str]:
    """Questions of 5 to 12 words about the generated site."""
    rng = random.Random(11)
    forms = (
        "where do I {d} a {t}",
        "page to {d} the {t} of {n}",
        "{t} and {u} of a customer",
        "how can I {d} every {t} that {n} has made since the first {u}",
    )
    return [
        rng.choice(forms).format(
            d=rng.choice(_DEEDS), t=rng.choice(_THINGS), u=rng.choice(_THINGS), n=rng.choice(_NAMES)
        )
        for _ in range(count)
    ]


@dataclass(frozen=True)
class Times:
    """Milliseconds a query: of the wall clock, and of the processor."""

    median: float
    p95: float
    busy: float
    busy_p95: float

    def __str__(self) -> str:
        wall = f"median {self.median:7.2f} ms   p95 {self.p95:7.2f} ms"
        return f"{wall}   processor {self.busy:6.2f} and {self.busy_p95:6.2f} ms"


def timed(call: Callable[[str], object], queries: Sequence[str]) -> Times:
    """Run every query once, after a tenth of them to warm up."""
    for query in queries[: len(queries) // 10]:
        call(query)
    wall: list[float] = []
    busy: list[float] = []
    for query in queries[::-1]:
        started, worked = time.perf_counter(), time.process_time()
        call(query)
        wall.append((time.perf_counter() - started) * 1e3)
        busy.append((time.process_time() - worked) * 1e3)
    return Times(
        float(np.median(wall)),
        float(np.percentile(wall, 95)),
        float(np.median(busy)),
        float(np.percentile(busy, 95)),
    )


class Unshared:
    """Equation 4 over each state's own tokens in float32, the usual layout of token vectors."""

    def __init__(self, encoder: TokenEncoder, states: Sequence[StateText], cache: MemoryVectors) -> None:
        self._encoder = encoder
        self.nodes = [state.node for state in states]
        rows: list[NDArray[np.float32]] = []
        self._starts: list[int] = []
        size = 0
        for state in states:
            packed = packed_tokens(encoder, [field.text for field in fields(state).fields], cache)
            vectors = np.concatenate([one.values * one.scales[:, None] for one in packed])
            self._starts.append(size)
            size += len(vectors)
            rows.append(vectors.astype(np.float32))
        self.tokens = np.concatenate(rows)

    def search(self, query: str) -> list[str]:
        found = self._encoder.encode_tokens([query])[0]
        vectors = found.vectors[informative_tokens(query, found)]
        best = np.maximum.reduceat(self.tokens @ vectors.T, self._starts, axis=0).mean(axis=1)
        return [self.nodes[at] for at in np.argsort(-best, kind="stable")[:10]]


def measure_time(encoder: TokenEncoder) -> None:
    states, queries = made_up(STATES), asked()
    cache = MemoryVectors()
    search = StateSearch(encoder, cache)
    started, worked = time.perf_counter(), time.process_time()
    search.update(states)
    seconds, busy = time.perf_counter() - started, time.process_time() - worked
    late = LateIndex(encoder, cache, PLAIN)
    late.update({state.node: fields(state) for state in states})
    print(
        f"{STATES} made-up states: first taken in after {seconds:.1f} s ({busy:.1f} s of processor time),"
        f" {late.tokens:,} different token vectors"
    )
    spent: dict[str, Times] = {}
    for method in METHODS:
        spent[method] = timed(lambda query, method=method: search.search(query, method, 10), queries)
        print(f"  {method:<9} {spent[method]}   vectors {search.megabytes(method):6.1f} MB")
    print(f"  late at its 95th percentile takes {spent['late'].p95 / AIM_MS:.2f} of the {AIM_MS} ms aimed at")
    alternative = Unshared(encoder, states, cache)
    plain = timed(alternative.search, queries)
    memory = alternative.tokens.nbytes / 2**20
    print(f"  unshared  {plain}   vectors {memory:6.1f} MB")
    same = sum(_first(late, query) == alternative.search(query)[0] for query in queries)
    print(
        f"  shared texts, one byte a component: {plain.busy / spent['late'].busy:.1f}x less processor time,"
        f" {memory / search.megabytes('late'):.0f}x less memory, the same first state for {same} of {len(queries)}"
        " queries by the plain equation"
    )


def _first(index: LateIndex, query: str) -> str:
    nodes, scores = index.scores(query)
    return nodes[int(scores.argmax())]


def measure_growth() -> None:
    print("\ngrowth, made-up vectors (no encoder in it)")
    for count in (STATES, 2 * STATES, 4 * STATES, 8 * STATES):
        search = StateSearch(RandomTokens())
        search.update(made_up(count))
        spent = timed(lambda query, search=search: search.search(query, "late", 10), asked(40))
        print(
            f"  {count:>6,} states   {spent}   {search.megabytes('late'):6.1f} MB"
            f"   {spent.busy / count * 1e3:6.1f} us a state"
        )


async def demo_pages() -> list[PageState]:
    """The linked pages of the bundled site, shop and back office as one."""
    async with (
        await DemoServer.start() as server,
        open_browser() as browser,
        open_session(browser, size=(1280, 800)) as tab,
    ):
        await tab.page.goto(f"{server.admin_url}/admin/sign-in")
        pages = [await _state(tab)]
        await tab.page.fill("[name=user]", "demo")
        await tab.page.fill("[name=password]", "larkspur")
        await tab.page.click("main button, form button")
        homes = (server.shop_url, server.admin_url)
        waiting = [f"{home}/" for home in homes] + [f"{server.admin_url}/admin"]
        known = set(waiting)
        while waiting:
            await tab.page.goto(waiting.pop(0))
            pages.append(await _state(tab))
            hrefs: list[str] = await tab.page.eval_on_selector_all("a[href]", "all => all.map(a => a.href)")
            new = [url for url in dict.fromkeys(hrefs) if url.startswith(homes) and url not in known]
            known.update(new)
            waiting += new
    return list({page.url: page for page in pages}.values())


async def _state(tab: BrowserSession) -> PageState:
    page = await capture(tab, picture=False)
    keys = identity.keys_of(page, "")
    state = state_of(page, keys, home="", depth=0, exploration=1, at=0.0, direct=None)
    return replace(state, text=page.text)  # the text itself; a stored state has its digest


def stored_pages(path: Path) -> list[PageState]:
    """The existing page states of a graph's file, without texts; a copy is read, so that nothing is changed."""
    with tempfile.TemporaryDirectory() as folder:
        for part in path.parent.glob(f"{path.name}*"):
            shutil.copy(part, folder)
        store = GraphStore(Path(folder) / path.name, path.stem)
        try:
            return [replace(page, text="") for page in store.pages() if not page.gone_at]
        finally:
            store.close()


def measure_recall(
    name: str, encoder: TokenEncoder, pages: Sequence[PageState], queries: Sequence[LabelledQuery]
) -> None:
    cache = MemoryVectors()
    for mode in (Mode.SKELETON, Mode.FULL):
        nodes: dict[str, list[PageState]] = {}
        for page in pages:
            nodes.setdefault(identity.node_id(page.keys, mode), []).append(page)
        states = [state_text(node, found, [page.text for page in found[:3]]) for node, found in nodes.items()]
        places = {
            node: {part for page in found for part in (page.keys.template, page.keys.url)}
            for node, found in nodes.items()
        }
        search = StateSearch(encoder, cache)
        search.update(states)
        result = compare(name, search, places, queries)
        print(f"\n{name}, {mode.value}: {result.states} states, {result.queries} labelled queries", end="")
        print(f" ({len(result.absent)} ask for what is not there)" if result.absent else "")
        _show(result)
        _variants(encoder, cache, states, places, queries)
        if result.missed:
            print(f"  not among the first ten by any method: {'; '.join(result.missed)}")


def _show(result: SearchComparison) -> None:
    for score in result.methods:
        print(
            f"  {score.method:<24} recall@1 {score.recall_at_1:.2f}   recall@10 {score.recall_at_10:.2f}"
            f"   MRR {score.mrr:.2f}   median {score.p50_ms:6.1f} ms   p95 {score.p95_ms:6.1f} ms"
            f"   {score.megabytes:6.1f} MB"
        )


def _variants(
    encoder: TokenEncoder,
    cache: MemoryVectors,
    states: Sequence[StateText],
    places: Mapping[str, set[str]],
    queries: Sequence[LabelledQuery],
) -> None:
    """Late interaction with one thing changed: the effect of each choice."""
    variants: dict[str, tuple[TokenEncoder, Weighting]] = {
        "late, plain equation 4": (encoder, PLAIN),
        "late, controls in full": (encoder, Weighting(control=1.0)),
        "late, shared in full": (encoder, Weighting(shared=0.0)),
        "late, no marks": (Unmarked(encoder), Weighting()),
        "late, with punctuation": (Punctuated(encoder), Weighting()),
    }
    for name, (reader, weighting) in variants.items():
        search = StateSearch(reader, cache, weighting)
        search.update(states)
        (score, *_) = compare("", search, places, queries, methods=("late",)).methods
        print(
            f"  {name:<24} recall@1 {score.recall_at_1:.2f}   recall@10 {score.recall_at_10:.2f}"
            f"   MRR {score.mrr:.2f}"
        )


def main() -> None:
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    cache = Path(os.environ.get("SITELORE_CACHE", Path(tempfile.gettempdir()) / "sitelore-benchmark"))
    try:
        encoder = load_encoder(cache)
    except EncoderUnavailable as error:
        print(f"no encoder: {error}")
        return
    if not isinstance(encoder, TokenEncoder):
        print("this encoder gives no token vectors: nothing to measure")
        return
    measure_time(encoder)
    measure_growth()
    queries = read_queries((HERE / "queries_demo.jsonl").read_text("utf-8"), "queries_demo.jsonl")
    measure_recall("demo site", encoder, asyncio.run(demo_pages()), queries)
    given = sys.argv[1:]
    for graph, labelled in zip(given[::2], given[1::2], strict=True):
        queries = read_queries(Path(labelled).read_text("utf-8"), labelled)
        measure_recall(Path(graph).stem, encoder, stored_pages(Path(graph)), queries)


if __name__ == "__main__":
    main()
