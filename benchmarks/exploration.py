"""An exploration beside a plain link crawler, beside naive breadth-first search, and beside itself in another
process.

``python -m benchmarks.exploration [URL] [--depth N] [--login FILE] [--workers N] [--naive-seconds S] [--once]``;
without an address the bundled shop is served and explored.  Printed are: templates of addresses that both find,
states only interaction reaches, attempts for each state found beside naive search, the time of a state by part, and
how far the ids of two processes agree.  With ``SITELORE_SHOP_DATABASE`` the shop's rows are compared, too.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from app.engine.core.page_state import Element
from app.engine.graph.rules.block_list import BlockList
from tests.support.demo_site_thread import demo_site
from tests.support.exploration_process import start
from tests.support.link_crawler import Crawl, crawl
from tests.support.shop import difference, rows_of

COVERED = 0.98
ATTEMPTS = 0.5
AGREED = 0.99
SPARED = ("on the page before", "leads to a known page", "one of many alike", "its template is known")
RULES = BlockList.builtin("en")


def leave(href: str, text: str, page: str) -> str:
    """Why the crawler must not request an address: the rules an exploration obeys."""
    link = Element(index=0, role="link", name=text, tag="a", href=href)
    ruling = RULES.verdict(link, page, "en")
    return "" if ruling.verdict == "allow" else ruling.why


def explored(url: str, workspace: Path, **options: Any) -> dict[str, Any]:
    """An exploration in a process of its own."""
    process = start(url, workspace, **options)
    out, _ = process.communicate()
    if process.returncode:
        sys.exit(f"the exploration ended with {process.returncode}")
    return json.loads(out.strip().splitlines()[-1])


def show_coverage(found: dict[str, Any], links: Crawl) -> None:
    """Templates found by both, and by only one of them."""
    templates = set(found["templates"])
    both = len(templates & links.templates.keys())
    share = both / max(1, len(links.templates))
    print(
        f"link crawler: {len(links.addresses)} pages, {len(links.templates)} templates, {links.loads} loads"
    )
    print(
        f"exploration: {len(templates)} templates, {both} of them the crawler's: {share:.1%} (at least {COVERED:.0%})"
    )
    print(f"states without an address of their own: {found['report']['interaction_only']}")
    for template in sorted(links.templates.keys() - templates)[:10]:
        print(f"  only the crawler: {template} ({links.templates[template]})")
    for template, why in sorted(links.left.items())[:10]:
        print(f"  left alone by both: {template}: {why}")


def show_course(found: dict[str, Any], wall: float, workers: int) -> None:
    """States, attempts, discovery velocity, and time by part."""
    report = found["report"]
    tried = max(1, report["tried"])
    counts = f"{report['states']} states, {report['transitions']} transitions, {report['tried']} attempts"
    print(f"{counts}, {wall:.0f} s, {report['ended']}")
    for row in report["depths"]:
        pace = f"{row['velocity']:.0f} new a minute ({row['seconds']:.0f} s)"
        print(f"  depth {row['depth']}: {row['states']} states, {pace}")
    load, look = found["seconds"]
    rest = workers * wall - load - look
    print(
        f"a state takes {1000 * load / tried:.0f} ms of load and settle, {1000 * look / tried:.0f} of looking"
        f" (structure, text, picture), {1000 * rest / tried:.0f} of identity, planning, storing and starting"
    )


def main() -> None:
    """Explore and compare."""
    parser = argparse.ArgumentParser()
    parser.add_argument("url", nargs="?", default="")
    parser.add_argument("--depth", type=int, default=3)
    parser.add_argument("--login", default="")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--max-states", type=int, default=5000)
    parser.add_argument("--naive-seconds", type=float, default=0.0, help="0 for as long as ours took")
    parser.add_argument("--once", action="store_true", help="leave the second process out")
    asked = parser.parse_args()
    if asked.url:
        compare(asked.url, asked)
        return
    with demo_site() as site:
        compare(f"{site.shop_url}/", asked)


def compare(url: str, asked: argparse.Namespace) -> None:
    """Everything that is measured, on one site."""
    database = os.environ.get("SITELORE_SHOP_DATABASE", "")
    before = rows_of(Path(database)) if database else {}
    options = {
        "depth": asked.depth,
        "workers": asked.workers,
        "storage_state": asked.login,
        "max_states": asked.max_states,
        "max_seconds": 36000.0,
    }
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        began = time.monotonic()
        found = explored(url, home / "first", **options)
        show_course(found, time.monotonic() - began, asked.workers)
        show_coverage(found, crawl(url, asked.depth, storage_state=asked.login, leave=leave))
        show_naive(
            found,
            explored(url, home / "naive", **options | {"naive": True, "max_seconds": asked.naive_seconds}),
        )
        if not asked.once:
            show_agreement(found, explored(url, home / "second", **options))
    if database:
        changed = difference(before, rows_of(Path(database)))
        print(f"rows of the shop that changed, sessions and statistics of visits aside: {len(changed)}")
        for row in changed[:10]:
            print(f"  {row[:200]}")


def show_naive(found: dict[str, Any], naive: dict[str, Any]) -> None:
    """Attempts for each state found, beside trying every element of every page."""
    ours = found["report"]["tried"] / max(1, found["report"]["states"])
    theirs = naive["report"]["tried"] / max(1, naive["report"]["states"])
    if not theirs:
        print(f"naive search found nothing: {naive['report']['ended']}, {naive['report']['notes']}")
        return
    course = f"{naive['report']['states']} states in {naive['report']['tried']} attempts"
    skipped = found["report"]["skipped"]
    spared = sum(skipped.get(reason, 0) for reason in SPARED)
    print(f"elements naive search would try on the states expanded: {spared + found['report']['tried']}")
    print(
        f"attempts for each state found: {ours:.2f}; naive search {theirs:.2f} ({course}):"
        f" {ours / theirs:.2f} of it (at most {ATTEMPTS})"
    )


def show_agreement(first: dict[str, Any], second: dict[str, Any]) -> None:
    """How far two processes found the same states."""
    one, other = set(first["ids"]), set(second["ids"])
    share = len(one & other) / max(1, len(one | other))
    print(f"ids of two processes: {len(one)} and {len(other)}, {share:.2%} in common (at least {AGREED:.0%})")


if __name__ == "__main__":
    main()
