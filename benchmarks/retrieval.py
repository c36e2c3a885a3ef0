"""Duration of retrieval at 1,000, 10,000 and 100,000 tips, beside a plain scan over all of them.

The query is not encoded (its vector is given): that is ``benchmarks.encoder``.  Tips are spread over 20 sites; a
second table puts all of them on one site, the worst case.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import fuzz

from kb.preflight import PreflightIndex
from kb.retrieval import Retriever, scope_holds
from kb.tip import Query, Scope, Status, StoredStep, Tip, TipDraft

SITES = 20
DIM = 384
_SYLLABLES = ("ba", "co", "di", "fu", "ga", "he", "li", "mo", "nu", "pe", "ra", "so", "ti", "va", "zu")
_UI_TEXT = (
    "click open select the page list menu button order report filter sort date status search field to in of"
)
_UI = _UI_TEXT.split()


class RandomEncoder:
    """Unit vectors without a model: only the search is measured, not the encoder."""

    id = "random"
    dim = DIM

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        vectors = np.random.default_rng(len(texts)).standard_normal((len(texts), DIM)).astype(np.float32)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def make_tips(count: int, sites: int, seed: int = 7) -> list[Tip]:
    """Tips of 10 to 40 words from a vocabulary of 4,000; a third site-wide, the others with a path."""
    rng = random.Random(seed)
    vocabulary = ["".join(rng.choices(_SYLLABLES, k=rng.randint(2, 4))) for _ in range(4_000)]
    paths = ("", "/{a}/**", "/{a}/{b}", "/{a}/*/{b}", "/{a}?{b}", "/**/{b}")
    tips: list[Tip] = []
    for number in range(count):
        words = rng.choices(vocabulary, k=rng.randint(5, 20)) + rng.choices(_UI, k=rng.randint(5, 20))
        rng.shuffle(words)
        path = rng.choice(paths if rng.random() < 0.67 else ("",)).format(
            a=f"s{rng.randrange(40)}", b=rng.choice(vocabulary)
        )
        tips.append(
            Tip(
                id=f"tip-{number:06}",
                site=f"site{number % sites}",
                text=" ".join(words),
                scope=Scope.parse(path),
                status=Status.ACTIVE,
            )
        )
    return tips


def make_queries(tips: Sequence[Tip], sites: int, count: int = 200) -> list[Query]:
    """Goals of 6 to 12 words on a page of some site; half of the words are from one of its tips."""
    rng = random.Random(11)
    queries: list[Query] = []
    for _ in range(count):
        tip = rng.choice(tips)
        words = rng.sample(tip.text.split(), 5) + rng.choices(_UI, k=rng.randint(1, 7))
        url = f"http://h:{8000 + int(tip.site[4:])}/s{rng.randrange(40)}/x/{rng.choice(words)}"
        queries.append(Query(url=url, text=" ".join(words)))
    return queries


def hosts(sites: int) -> dict[str, tuple[str, ...]]:
    return {f"site{number}": (f"*:{8000 + number}",) for number in range(sites)}


def timed(call: Callable[[Query], object], queries: Sequence[Query]) -> tuple[float, float]:
    """Median and 95th percentile, in milliseconds."""
    times: list[float] = []
    for query in queries:
        started = time.perf_counter()
        call(query)
        times.append((time.perf_counter() - started) * 1e3)
    return statistics.median(times), float(np.percentile(times, 95))


def scan(tips: Sequence[Tip], where: dict[str, tuple[str, ...]]) -> Callable[[Query], object]:
    """The alternative: match every scope, compare every text with rapidfuzz, sort."""

    def ask(query: Query) -> list[tuple[float, str]]:
        found: list[tuple[float, str]] = []
        for tip in tips:
            holds = scope_holds(tip.scope, query.url, where[tip.site])
            score = fuzz.token_set_ratio(query.text, tip.text) / 100
            if holds or score > 0.5:
                found.append((score + holds, tip.id))
        return sorted(found, reverse=True)[:8]

    return ask


def measure(count: int, sites: int) -> None:
    tips = make_tips(count, sites)
    where = hosts(sites)
    started = time.perf_counter()
    retriever = Retriever(tips, where, RandomEncoder())
    built = time.perf_counter() - started
    queries = make_queries(tips, sites)
    vector = RandomEncoder().encode(["x"])[0]
    timed(lambda query: retriever.retrieve(query, vector=vector), queries[:100])
    middle, slow = timed(lambda query: retriever.retrieve(query, vector=vector), queries[100:])
    started = time.perf_counter()
    retriever.update([tips[0]])
    updated = (time.perf_counter() - started) * 1e3
    scan_middle, _ = timed(scan(tips, where), queries[100 : 100 + max(2, 20_000 // count)])
    print(
        f"{count:>8,} {sites:>6} {built:>8.1f} s {middle:>9.2f} {slow:>9.2f} ms {updated:>9.2f} ms "
        f"{scan_middle:>10.1f} ms {scan_middle / middle:>8.0f}x"
    )


def measure_preflight() -> None:
    tips = make_tips(500, SITES)
    rng = random.Random(5)
    goals = [query.text for query in make_queries(tips, SITES, 800)]
    steps = [
        StoredStep(
            run=f"run{number // 15}",
            step=number % 15,
            url=f"http://h:{8000 + number % SITES}/s{rng.randrange(40)}/{rng.randrange(200)}",
            site=f"site{number % SITES}",
            text=goals[number // 15 % len(goals)],
            failed=number % 3 == 0,
        )
        for number in range(20_000)
    ]
    retriever = Retriever(tips, hosts(SITES), RandomEncoder())
    started = time.perf_counter()
    index = PreflightIndex(steps, hosts(SITES), RandomEncoder())
    print(f"\npre-flight over {len(steps):,} steps, 500 tips: index {time.perf_counter() - started:.2f} s")
    for name, scope in (("one page", "/s1/**"), ("whole site", "")):
        times: list[float] = []
        for text in ("click", "click the order", "click the order report of the page"):
            started = time.perf_counter()
            index.run(TipDraft(site="site1", text=text, scope=Scope.parse(scope)), retriever)
            times.append((time.perf_counter() - started) * 1e3)
        print(f"  {name:<11} first call {times[0]:6.1f} ms, then {times[1]:.1f} and {times[2]:.1f} ms")
    asked = steps[:500]
    started = time.perf_counter()
    for step in asked:
        retriever.retrieve(Query(url=step.url, text=step.text, site=step.site))
    brute = (time.perf_counter() - started) / len(asked) * len(steps)
    print(
        f"  asking the retriever at every step would take {brute:.1f} s: {brute * 1e3 / times[-1]:,.0f} times as long"
    )


def main() -> None:
    print("retrieval, all three routes, query vector given")
    print("    tips  sites      build    median       p95       update          scan    ratio")
    for count, sites in ((1_000, SITES), (10_000, SITES), (100_000, SITES), (10_000, 1), (100_000, 1)):
        measure(count, sites)
    measure_preflight()


if __name__ == "__main__":
    main()
