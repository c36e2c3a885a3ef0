"""Which link a passed run followed, by three orders of the page's links, each site left out in turn; no browser.

Shared words of goal and link, the scout's own score of a link (``Wayfinder``), and that score with the prior of
``app.engine.agent.scout.link_prior`` trained on the other sites.  Intervals of the gain by bootstrap over templates.
"""

from __future__ import annotations

import random
import time
from collections import defaultdict
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from app.engine.agent.scout.link_prior import LinkModel, bounded, link_priors
from benchmarks.write_gate import DATA
from tools.train_link_prior import Decision, decisions, fit

HITS = (1, 5, 10)
_SITES = {"7770": "shop", "7780": "shop's back office", "9999": "forum", "8023": "code", "8888": "wiki"}
_DRAWS = 2_000
_FEW = 10


def place(scores: NDArray[np.float64], followed: int) -> float:
    """Number of links before the followed one; of those with its score half."""
    mine = scores[followed]
    return float((scores > mine).sum() + ((scores == mine).sum() - 1) / 2)


def left_out(found: Sequence[Decision]) -> dict[int, LinkModel]:
    """For each decision the model that was trained on the other sites."""
    models: dict[str, LinkModel] = {}
    for site in sorted({one.site for one in found}):
        models[site] = fit([one for one in found if one.site != site])
    return {number: models[one.site] for number, one in enumerate(found)}


def line(name: str, places: Sequence[float]) -> None:
    shares = "  ".join(f"{np.mean([one < most for one in places]):.3f}" for most in HITS)
    print(f"  {name:28} {shares}")


def gain(found: Sequence[Decision], before: Sequence[float], after: Sequence[float], most: int) -> str:
    """Gain in hits with its 95 % interval."""
    by_template: dict[str, list[int]] = defaultdict(list)
    for one, old, new in zip(found, before, after, strict=True):
        by_template[one.template].append(int(new < most) - int(old < most))
    groups = [(sum(one), len(one)) for one in by_template.values()]
    draw = random.Random(14)
    drawn = [draw.choices(groups, k=len(groups)) for _ in range(_DRAWS)]
    shares = sorted(sum(a for a, _ in one) / sum(b for _, b in one) for one in drawn)
    whole = sum(a for a, _ in groups) / sum(b for _, b in groups)
    return f"{whole:+.3f} ({shares[_DRAWS // 40]:+.3f} to {shares[-_DRAWS // 40]:+.3f})"


def main() -> None:
    """Print hits at 1, 5 and 10 by site, and the cost."""
    if not DATA.is_dir():
        print("scout_prior: the run collection is not beside the checkout; nothing measured")
        return
    found = list(decisions())
    models = left_out(found)
    orders: dict[str, Callable[[int, Decision], NDArray[np.float64]]] = {
        "shared words": lambda _, one: one.shared,
        "scout": lambda _, one: one.own,
        "prior": lambda at, one: models[at].scores(one.features).astype(float),
        "scout with prior": lambda at, one: one.own + bounded(models[at].scores(one.features)),
    }
    places = {
        name: [place(order(at, one), one.followed) for at, one in enumerate(found)]
        for name, order in orders.items()
    }
    sites = sorted({one.site for one in found}, key=lambda site: -sum(one.site == site for one in found))
    for site in ("", *sites):
        at = [number for number, one in enumerate(found) if site in ("", one.site)]
        if len(at) < _FEW:
            continue
        links = np.median([len(found[number].features) for number in at])
        print(
            f"{_SITES.get(site, site) or 'all'}: {len(at)} decisions, {links:.0f} links (median); hits at 1, 5, 10"
        )
        for name, all_places in places.items():
            line(name, [all_places[number] for number in at])
    for most in HITS:
        print(f"gain at {most}: {gain(found, places['scout'], places['scout with prior'], most)}")
    big = np.resize(np.concatenate([one.features for one in found]), (500, found[0].features.shape[1]))
    link_priors(big)
    began = time.perf_counter()
    for _ in range(20):
        link_priors(big)
    print(f"cost: {(time.perf_counter() - began) * 50:.2f} ms for 500 links, features given")


if __name__ == "__main__":
    main()
