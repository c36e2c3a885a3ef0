"""Frozen files and exported maps for tests."""

from __future__ import annotations

import json
from pathlib import Path

from kb import image
from kb.freeze import freeze
from kb.store import KnowledgeBase
from kb.tip import Status, Tip, TipDraft
from tests.support.tips import tip

SHOP = (
    TipDraft(
        site="shop",
        text="Choose a size before you press Add to basket; the button does nothing without one.",
        why="the page shows no message",
    ),
    TipDraft(site="shop", text="Coupons are entered on the second page of the checkout, below the address."),
    TipDraft(site="forum", text="Sort the posts by Top before counting comments."),
)
HOSTS = {"shop": ("*.shop.example",), "forum": ("forum.example",)}


def frozen_shop(folder: Path) -> Path:
    """A frozen file with a manifest: two tips of a shop, one of a forum."""
    out = folder / "shop.akb"
    with KnowledgeBase.open(folder / "live.akb", author="ada") as kb:
        for site, hosts in HOSTS.items():
            kb.set_hosts(site, hosts)
        kb.set_status([kb.add(draft).id for draft in SHOP], Status.ACTIVE)
        freeze(kb, out)
    return out


def frozen_by_somebody(folder: Path, *tips: Tip) -> Path:
    """A frozen file as another program could have written it: never linted, without a manifest."""
    out = folder / "theirs.akb"
    out.write_bytes(image.build(image.Content.of(tips, {"gitlab": ("*:8023",)})))
    return out


def sample_tip(id: str, text: str) -> Tip:
    """An active tip of GitLab."""
    return tip(id, text)


def exported_map(folder: Path) -> Path:
    """The map of the shop: home, basket (one click), checkout (a click further), help (by its address alone)."""
    nodes = [
        {"id": "aaaa1111", "label": "Clay shop", "url": "https://www.shop.example/", "depth": 0, "direct": "yes"},
        {"id": "bbbb2222", "label": "Your basket", "url": "https://www.shop.example/basket", "depth": 1},
        {"id": "cccc3333", "label": "Checkout", "url": "https://www.shop.example/checkout", "depth": 2, "direct": "no"},
        {"id": "dddd4444", "label": "Help", "url": "https://www.shop.example/help", "depth": 1, "direct": "yes"},
    ]  # fmt: skip
    edges = [
        {"source": "aaaa1111", "target": "bbbb2222", "operation": "click", "role": "link", "name": "Basket",
         "attempts": 3, "successes": 3, "seconds": 0.4, "css": "a.basket"},
        {"source": "bbbb2222", "target": "cccc3333", "operation": "click", "role": "button", "name": "Check out",
         "attempts": 2, "successes": 2, "seconds": 0.5},
    ]  # fmt: skip
    pages = [{"id": "cccc3333", "headings": ["Delivery address"], "controls": ["textbox Coupon code"]}]
    about = {"format": "sitelore-graph", "version": 1, "graph": {"site": "shop", "home": nodes[0]["url"]}}
    out = folder / "shop.json"
    out.write_text(json.dumps({**about, "nodes": nodes, "edges": edges, "pages": pages}))
    return out
