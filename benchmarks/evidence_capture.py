"""The capture of a run's evidence beside an agent's look at the same page: duration, growth, size.

    python -m benchmarks.evidence_capture [--rounds 7]

It is done once a run.  Figures are medians of rounds in which the ways take turns; a target elsewhere includes opening
its page and waiting until the page is idle.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
import time
from collections.abc import Awaitable, Callable

from app.engine.browser.capture.snapshot import capture
from app.engine.browser.evidence_capture import EvidenceSurroundings, capture_evidence
from app.engine.browser.network.write_guard import WriteGuard
from app.engine.browser.session import BrowserSession, open_browser, open_session
from app.engine.core.evaluation.evidence_redaction import redact_evidence
from app.engine.core.evaluation.suite import HtmlTarget
from app.engine.evaluation.evidence_codec import encode_evidence
from benchmarks.snapshot import page

SIZES = (500, 2000)
ADDRESS = "http://things.example/things"
AROUND = EvidenceSurroundings(hosts=frozenset({"things.example"}))
HERE = HtmlTarget(locator="document.querySelector('h1').textContent")
ELSEWHERE = HtmlTarget(url=ADDRESS, locator="document.querySelector('h1').textContent")
LOOK, PAGE, STORED = "an agent's look", "tabs and page", "… and made ready to be stored"
LAST, OTHER = "… with a target in front", "… with a target elsewhere"


async def _stored(tab: BrowserSession, *targets: HtmlTarget) -> bytes:
    numbered = [(str(number), target) for number, target in enumerate(targets)]
    evidence = await capture_evidence(tab, numbered, AROUND)
    assert all(target.value == "Things" for target in evidence.targets), evidence.targets
    return encode_evidence(redact_evidence(evidence, lambda text: text))


async def measure(tab: BrowserSession, size: int, rounds: int) -> dict[str, float]:
    """Return the median seconds of each way on a page of about so many elements, and print them."""
    html = page(size)
    await tab.context.route("**/things", lambda route: route.fulfill(body=html, content_type="text/html"))
    await tab.page.goto(ADDRESS)
    ways: dict[str, Callable[[], Awaitable[object]]] = {
        LOOK: lambda: capture(tab, thorough=True),
        PAGE: lambda: capture_evidence(tab, (), AROUND),
        STORED: lambda: _stored(tab),
        LAST: lambda: _stored(tab, HERE),
        OTHER: lambda: _stored(tab, ELSEWHERE),
    }
    taken: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, do in ways.items():
            began = time.perf_counter()
            await do()
            taken[name].append(time.perf_counter() - began)
    length = len(await _stored(tab))
    await tab.context.unroute("**/things")
    medians = {name: statistics.median(times) for name, times in taken.items()}
    print(f"\n{size} elements, {len(html) // 1024} KiB of HTML, evidence {length // 1024} KiB")
    for name, seconds in medians.items():
        print(f"  {name:32} {seconds * 1000:7.1f} ms   {seconds / medians[LOOK]:5.2f} x look")
    return medians


async def _run(rounds: int) -> None:
    found: list[dict[str, float]] = []
    async with open_browser() as browser, open_session(browser, (1280, 800)) as tab:
        await WriteGuard(frozenset({"things.example"})).watch(tab)
        for size in SIZES:
            found.append(await measure(tab, size, rounds))
    print(f"\ngrowth from {SIZES[0]} to {SIZES[1]} elements ({SIZES[1] / SIZES[0]:.0f} x):")
    for name in found[0]:
        print(f"  {name:32} {found[1][name] / found[0][name]:5.2f} x")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=7)
    asyncio.run(_run(parser.parse_args().rounds))


if __name__ == "__main__":
    sys.exit(main())
