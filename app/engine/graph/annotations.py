"""Facts known about a graph's states: runs that visited them, failures, tips that apply."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from app.engine.core import identity
from app.engine.core.page_state import PageState
from kb.retrieval.scopes import QueryLocation, ScopeIndex, Sites
from kb.retrieval.url import is_site_wide, parse_address
from kb.tip import RETRIEVABLE, Status, StoredStep, Tip


@dataclass(slots=True)
class NodeFacts:
    """Facts about one node.

    ``runs`` are (run, step) that visited it, ``failures`` failed runs whose suspect step was here, ``tips`` ids of
    the tips written for pages like this one, ``site_tips`` of those that hold anywhere on the site, ``suspect`` of
    ``tips``.
    """

    runs: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])
    failures: int = 0
    tips: list[str] = field(default_factory=list[str])
    site_tips: list[str] = field(default_factory=list[str])
    suspect: int = 0


class NodeFinder:
    """Finds the node of an address: by its url key, else by its template if only one state has it."""

    def __init__(self, nodes: Mapping[str, Sequence[PageState]]) -> None:
        self._by_url: dict[str, tuple[int, str]] = {}
        self._by_template: dict[str, set[str]] = {}
        for node, pages in nodes.items():
            for page in pages:
                # Several states share an address (an open menu, a selected tab); the one found first is the page.
                known = self._by_url.get(page.keys.url)
                if known is None or page.depth < known[0]:
                    self._by_url[page.keys.url] = (page.depth, node)
                self._by_template.setdefault(page.keys.template, set()).add(node)

    def node_at(self, url: str) -> str:
        """The node of an address, "" if unknown.  The host is ignored, because runs come from many hosts."""
        found = self._by_url.get(identity.url_key(url, url))
        if found is not None:
            return found[1]
        alike = self._by_template.get(identity.url_template(url, url), ())
        return next(iter(alike)) if len(alike) == 1 else ""


def annotate(
    nodes: Mapping[str, Sequence[PageState]],
    site: str,
    steps: Iterable[StoredStep],
    passes: Mapping[str, Sequence[tuple[str, int]]],
    suspects: Mapping[str, int],
    tips: Sequence[Tip],
    hosts: Sequence[str],
) -> dict[str, NodeFacts]:
    """Return the facts of every node.

    Args:
        nodes: page states by node.
        steps: stored steps on this site.
        passes: (run, step) by page state, where already known.
        suspects: the suspect step of each failed run.
        hosts: host globs of the site, including the graph's home.
    """
    facts = {node: NodeFacts() for node in nodes}
    places = NodeFinder(nodes)
    node_of = {page.id: node for node, pages in nodes.items() for page in pages}
    was_at = {moment: node_of.get(page, "") for page, moments in passes.items() for moment in moments}
    failed: dict[str, set[str]] = {}
    known: set[str] = set()
    for step in steps:
        known.add(step.run)
        node = was_at.pop((step.run, step.step), "") or places.node_at(step.url)
        if not node:
            continue
        facts[node].runs.append((step.run, step.step))
        if suspects.get(step.run) == step.step:
            failed.setdefault(node, set()).add(step.run)
    for (run, at), node in sorted(was_at.items()):
        if node and run in known:  # where a run ended, without a further step
            facts[node].runs.append((run, at))
    for node, runs in failed.items():
        facts[node].failures = len(runs)
    _count_tips(facts, nodes, site, [tip for tip in tips if tip.status in RETRIEVABLE], hosts)
    return facts


def tips_by_page(
    urls: Sequence[str], site: str, tips: Sequence[Tip], hosts: Sequence[str]
) -> list[list[int]]:
    """For each address of a site, the rows of the tips whose scope holds there."""
    index = ScopeIndex(Sites({site: hosts}))
    for tip in tips:
        index.append(tip.site, tip.scope)
    addresses = [parse_address(url) for url in urls]
    return [
        index.look_up(QueryLocation(address, site))[1].nonzero()[0].tolist()
        if tips and address is not None
        else []
        for address in addresses
    ]


def _count_tips(
    facts: Mapping[str, NodeFacts],
    nodes: Mapping[str, Sequence[PageState]],
    site: str,
    tips: Sequence[Tip],
    hosts: Sequence[str],
) -> None:
    wide = [is_site_wide(tip.scope) for tip in tips]
    owners = [(node, page.url) for node, pages in nodes.items() for page in pages]
    here: dict[str, dict[int, None]] = {}
    for (node, _), rows in zip(
        owners, tips_by_page([url for _, url in owners], site, tips, hosts), strict=True
    ):
        here.setdefault(node, {}).update(dict.fromkeys(rows))
    for node, rows in here.items():
        for row in rows:
            (facts[node].site_tips if wide[row] else facts[node].tips).append(tips[row].id)
            if not wide[row] and tips[row].status is Status.SUSPECT:
                facts[node].suspect += 1


CHECKED_STATUSES = frozenset({Status.ACTIVE, Status.REVIEWED})
"""Statuses of tips that may become suspect; drafts and retired tips are not in use."""

SHORTEST = 3
"""Minimum length of a control's name for its mention in a tip to be no coincidence."""


def suspect_tips(
    before: Collection[PageState],
    after: Collection[PageState],
    site: str,
    tips: Sequence[Tip],
    hosts: Sequence[str],
) -> tuple[str, ...]:
    """Ids of tips all of whose pages are gone, or that mention a control that none of their pages has any more.

    Args:
        before, after: page states in force before and after.
        tips: of this site.
        hosts: its host globs, including the graph's home.
    """
    judged = [tip for tip in tips if tip.status in CHECKED_STATUSES]
    was = _pages_of_tips(before, site, judged, hosts)
    now = _pages_of_tips(after, site, judged, hosts)
    return tuple(
        tip.id
        for row, tip in enumerate(judged)
        if row in was and (row not in now or _lost_controls(tip, was[row], now[row]))
    )


def _pages_of_tips(
    pages: Collection[PageState], site: str, tips: Sequence[Tip], hosts: Sequence[str]
) -> Mapping[int, list[PageState]]:
    found: dict[int, list[PageState]] = {}
    for page, rows in zip(pages, tips_by_page([page.url for page in pages], site, tips, hosts), strict=True):
        for row in rows:
            found.setdefault(row, []).append(page)
    return found


def _lost_controls(tip: Tip, before: Iterable[PageState], after: Iterable[PageState]) -> set[str]:
    """Names of controls that the tip mentions, that its pages had, and that none of them has now."""
    gone = _names(before) - _names(after)
    text = " ".join(part for part in (tip.text, tip.when, tip.do, tip.before) if part).casefold()
    return {name for name in gone if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text)}


def _names(pages: Iterable[PageState]) -> set[str]:
    names = (control.partition(" ")[2].casefold().strip() for page in pages for control in page.controls)
    return {name for name in names if len(name) >= SHORTEST}
