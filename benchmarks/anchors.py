"""Is a tip's region found on other pages by its words?  On pages of real runs: ``python -m benchmarks.anchors``.

A region is a control that an agent acted on, its anchor made from the page's tree as the chooser makes it from a page
without places.  It is looked for on every other page of the site.  Whether it is there is told by what the graph knows
an element by, its role, name and the landmarks around it, none of which but role and name the rule sees.  Pages are of
one look if their addresses are of one section.  Rule and neighbours were chosen on the sites of "choose"; the
errors on "report" were looked at once before the last two changes (numbers in names, rows of lists).

Needs the run collection beside the checkout (or ``SITELORE_SHARED``).
"""

from __future__ import annotations

import json
import os
import re
import tarfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import zstandard

from app.engine.core.addresses import section, url_key, url_template
from app.engine.core.ax_tree import parse_tree
from app.engine.core.identity import normal_name
from app.engine.core.regions import chosen_anchor, region_elements
from app.engine.core.tree_elements import named_elements
from kb.retrieval.anchors import AnchorIndex, PageControls
from kb.retrieval.calibration import ANCHOR, BIAS, STEPS, THRESHOLD, points_table
from kb.retrieval.cascade import points_of
from kb.retrieval.url import Address, parse_address
from kb.tip import Anchor, Query

DATA = Path(os.environ.get("SITELORE_SHARED", Path(__file__).resolve().parents[2] / "shared")) / "data"
HALVES = {"choose": ("shopping", "reddit"), "report": ("gitlab", "shopping_admin", "map", "wikipedia")}
MOST_CONTROLS, MOST_HEADINGS = 120, 12
_PORTS = {
    "8023": "gitlab",
    "9999": "reddit",
    "7770": "shopping",
    "7780": "shopping_admin",
    "8888": "wikipedia",
    "3000": "map",
}
_ACTED = re.compile(r"(?:click|fill|hover|press|select_option|dblclick)\(\s*['\"]?(\w+)")

Identity = tuple[str, tuple[str, ...], str]


@dataclass(frozen=True, slots=True)
class _Page:
    key: str
    look: str
    address: Address | None
    seen: PageControls
    there: frozenset[Identity]
    named: frozenset[tuple[str, str]]
    """Roles and names, wherever they are on the page."""
    in_view: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Region:
    key: str
    look: str
    identity: Identity
    anchor: Anchor


def _records() -> Iterator[dict[str, Any]]:
    """The step records of all runs."""
    for path in sorted(DATA.glob("colorbrowseragent/trajectories/*/results/*/steps_info_*.json")):
        yield json.loads(path.read_bytes())
    with (DATA / "colorbrowseragent-more.tar.zst").open("rb") as file:
        stream = zstandard.ZstdDecompressor(max_window_size=2**27).stream_reader(file)
        with tarfile.open(fileobj=stream, mode="r|") as archive:
            for member in archive:
                if "steps_info_" in member.name and (content := archive.extractfile(member)) is not None:
                    yield json.loads(content.read())


def _site(url: str) -> str:
    found = re.match(r"https?://([^/:]+)(?::(\d+))?", url)
    if found is None:
        return ""
    return "map" if "openstreetmap" in found[1] else _PORTS.get(found[2] or "", "")


def _identities(tree: str) -> dict[str, Identity]:
    """The identity of each named control, by its id in the tree; of landmarks only a navigation's name counts."""
    return {
        bid: (
            element.role,
            tuple(
                mark if mark.startswith("navigation") else mark.partition(":")[0]
                for mark in element.landmarks
            ),
            normal_name(element.name),
        )
        for element, bid in named_elements(parse_tree(tree))
        if element.name
    }


def _page(url: str, tree: str, identities: dict[str, Identity]) -> _Page:
    elements = region_elements(tree)
    controls = [f"{one.role} {one.name}" for one in elements if one.role != "heading"]
    headings = [one.name for one in elements if one.role == "heading"]
    query = Query(
        controls=tuple(dict.fromkeys(controls))[:MOST_CONTROLS],
        headings=tuple(dict.fromkeys(headings))[:MOST_HEADINGS],
    )
    return _Page(
        key=url_key(url),
        look=section(url_template(url)),
        address=parse_address(url),
        seen=PageControls.of(query),
        there=frozenset(identities.values()),
        named=frozenset((role, _letters(name)) for role, _, name in identities.values()),
        in_view=frozenset(normal_name(one.partition(" ")[2]) for one in query.controls),
    )


def _letters(name: str) -> str:
    return " ".join(re.findall(r"[^\W\d_]+", name))


def _region(url: str, tree: str, bid: str, identity: Identity) -> _Region | None:
    elements = region_elements(tree)
    named = next(one for one, own in named_elements(parse_tree(tree)) if own == bid)
    name = " ".join(named.name.split())[:80]
    chosen = next((one for one in elements if one.name == name and one.role == named.role), None)
    if chosen is None:
        return None
    anchor = chosen_anchor(elements, chosen.number, page=url_template(url))
    return _Region(key=url_key(url), look=section(url_template(url)), identity=identity, anchor=anchor)


def _collect() -> tuple[dict[str, dict[str, _Page]], dict[str, dict[tuple[str, Identity], _Region]]]:
    """Pages of each site by address, and regions by look and identity; the first of each."""
    pages: dict[str, dict[str, _Page]] = {}
    regions: dict[str, dict[tuple[str, Identity], _Region]] = {}
    for record in _records():
        seen = record["obs"]
        active = (seen.get("active_page_index") or [0])[0]
        url, tree = (seen["open_pages_urls"][active : active + 1] or [""])[0], seen["axtree_txt"]
        site = _site(url)
        if not site:
            continue
        identities = _identities(tree)
        if url_key(url) not in pages.setdefault(site, {}):
            pages[site][url_key(url)] = _page(url, tree, identities)
        acted = _ACTED.search((record.get("action") or "").rpartition("<action>")[2])
        identity = identities.get(acted[1]) if acted is not None else None
        if acted is None or identity is None:
            continue
        key = (section(url_template(url)), identity)
        known = regions.setdefault(site, {})
        if key not in known and (region := _region(url, tree, acted[1], identity)) is not None:
            known[key] = region
    return pages, regions


def _least() -> float:
    """The lowest anchor score that reaches the threshold alone, beside a known meaning of no weight."""
    points = points_table(ANCHOR)
    return next(at for at in range(STEPS + 1) if points[at] + BIAS >= points_of(THRESHOLD)) / STEPS


def main() -> None:
    pages, regions = _collect()
    least = _least()
    for half, sites in HALVES.items():
        counts: Counter[tuple[bool, bool]] = Counter()
        found: Counter[tuple[bool, bool]] = Counter()
        elsewhere = 0
        own_pages = sum(len(pages.get(site, {})) for site in sites)
        own_regions = sum(len(regions.get(site, {})) for site in sites)
        for site in sites:
            for region in regions.get(site, {}).values():
                index = AnchorIndex()
                index.add(0, region.anchor)
                role, _, name = region.identity
                for page in pages[site].values():
                    is_there = region.identity in page.there
                    if page.key == region.key or (is_there and name not in page.in_view):
                        continue
                    kind = (page.look == region.look, is_there)
                    counts[kind] += 1
                    if index.scores(page.seen, page.address, 1)[0] >= least:
                        found[kind] += 1
                        elsewhere += kind == (False, False) and (role, _letters(name)) in page.named
        print(f"{half} ({', '.join(sites)}): {own_regions} regions, {own_pages} pages, from {least:.4f}")
        for same in (True, False):
            for is_there in (True, False):
                kind = (same, is_there)
                what = f"{'same look' if same else 'other pages'}, {'there' if is_there else 'not there'}"
                share = found[kind] / max(1, counts[kind])
                print(f"  {what:28} {counts[kind]:7,} pairs, found {found[kind]:6,} = {share:.3f}")
        print(f"  of the last, of that role and name elsewhere on the page: {elsewhere:,}")


if __name__ == "__main__":
    main()
