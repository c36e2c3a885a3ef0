"""Make ``resources/models/link_prior.npz``: a boosted ranker of links, from the passed runs in ``../shared/data``.

``python -m tools.train_link_prior``.  A decision is a click of a passed run on a link of the page, its candidates the
page's links.  Features and model are those of ``app.engine.agent.scout.link_prior``; the loss is the cross entropy of
the link that was followed among the page's links.  Nothing is drawn at random but the features that a tree may test,
with a fixed seed: run again on the same runs it writes the same table.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from app.engine.agent.scout.likeness import meaning
from app.engine.agent.scout.link_prior import LinkModel
from app.engine.agent.scout.memory import Memory
from app.engine.agent.scout.navigation import Wayfinder
from app.engine.agent.scout.page_context import PageContext
from app.engine.agent.scout.task import read_task
from app.engine.agent.scout.terms import terms_of
from app.engine.core.actions.types import Click
from app.engine.core.observation import Observation
from app.engine.core.sites import load_sites
from app.engine.imports.colorbrowseragent import find_runs
from benchmarks.write_gate import TASKS, command_of, folders, shown
from tests.support.runs import read_run

OUT = Path(__file__).parents[1] / "resources" / "models" / "link_prior.npz"
ROUNDS, DEPTH, RATE, PENALTY, LEAST_WEIGHT, SHARE, BINS = 60, 2, 0.15, 5.0, 1.0, 0.6, 32
_DONE = "performing click action"
"""In an error of the recorder: the click was done, the page was slow."""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Decision:
    """One click on a link: features and the scout's own score of each link of the page, and which was followed."""

    site: str
    template: str
    features: NDArray[np.float32]
    own: Floats
    shared: Floats
    followed: int


def decisions() -> Iterator[Decision]:
    """Decisions of the passed runs."""
    templates = {
        (suite, str(raw["task_id"])): f"{suite}{raw.get('intent_template_id', raw['intent_template'])}"
        for suite, path in TASKS.items()
        for raw in json.loads(path.read_text("utf-8"))
    }
    sites = load_sites()
    with folders() as roots:
        for root in roots:
            for folder in find_runs(root):
                run = read_run(folder, root, sites)
                template = templates.get((run.run.suite, run.run.task_id))
                if template is None or (run.run.score or 0) < 1:
                    continue
                task = read_task(run.run.intent)
                terms = tuple(dict.fromkeys(term for part in task.parts for term in terms_of(part)))
                goal = set(meaning(run.run.intent))
                for step in run.steps:
                    if not step.executed or not step.tree or (step.error and _DONE not in step.error):
                        continue
                    page, elements = shown(step, run.blobs)
                    command = command_of(step.action, elements)
                    if not isinstance(command, Click):
                        continue
                    context = PageContext(page)
                    at = [n for n, one in enumerate(context.links) if one.index == command.element]
                    if not at:
                        continue
                    sight = Observation(
                        step=step.index, steps_left=9, intent=run.run.intent, start_url="", page=page
                    )
                    finder = Wayfinder(terms, context, Memory(), sight)
                    own = [
                        finder._promise(link, like)
                        for link, like in zip(context.links, finder._likeness, strict=True)
                    ]
                    yield Decision(
                        urlsplit(page.url).netloc.rpartition(":")[2],
                        template,
                        finder.link_features(),
                        np.array(own),
                        np.array([float(len(goal & set(meaning(one.name)))) for one in context.links]),
                        at[0],
                    )


def fit(found: list[Decision]) -> LinkModel:
    """Boost trees on the decisions."""
    draw = np.random.default_rng(14)
    table = np.concatenate([one.features for one in found])
    starts = np.cumsum([0, *(len(one.features) for one in found)])[:-1]
    page = np.repeat(np.arange(len(found)), [len(one.features) for one in found])
    wanted = np.zeros(len(table))
    wanted[starts + np.array([one.followed for one in found])] = 1.0
    edges = [_edges(column) for column in table.T]
    bins = np.column_stack([np.searchsorted(e, c, side="right") for e, c in zip(edges, table.T, strict=True)])
    scores = np.zeros(len(table))
    trees: list[tuple[NDArray[np.int64], NDArray[np.float32], Floats]] = []
    for _ in range(ROUNDS):
        raised = np.exp(scores - np.maximum.reduceat(scores, starts)[page])
        chance = raised / np.add.reduceat(raised, starts)[page]
        columns = draw.choice(table.shape[1], max(1, int(table.shape[1] * SHARE)), replace=False)
        feature, cut, leaf, place = _tree(
            bins, chance - wanted, np.maximum(chance * (1 - chance), 1e-6), columns
        )
        scores += RATE * leaf[place]
        threshold = [edges[f][b] if f >= 0 else 0.0 for f, b in zip(feature, cut, strict=True)]
        trees.append((feature, np.array(threshold, dtype=np.float32), RATE * leaf))
    return LinkModel(
        np.stack([one[0] for one in trees]),
        np.stack([one[1] for one in trees]),
        np.stack([one[2] for one in trees]).astype(np.float32),
    )


def _edges(column: NDArray[np.float32]) -> NDArray[np.float32]:
    values = np.unique(column)
    if len(values) <= BINS:
        return ((values[:-1] + values[1:]) / 2).astype(np.float32)
    return np.unique(np.quantile(column, np.linspace(0, 1, BINS + 1)[1:-1])).astype(np.float32)


def _tree(
    bins: NDArray[np.int64], slope: Floats, curve: Floats, columns: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], Floats, NDArray[np.int64]]:
    """Grow one tree level by level; the features, the bins they are cut at, the leaves, and the leaf of each row."""
    width = BINS + 1
    feature = np.full(2**DEPTH - 1, -1)
    cut = np.zeros(2**DEPTH - 1, dtype=np.int64)
    place = np.zeros(len(bins), dtype=np.int64)
    for level in range(DEPTH):
        nodes = 2**level
        whole, mass = np.bincount(place, slope, nodes)[:, None], np.bincount(place, curve, nodes)[:, None]
        best = np.full(nodes, 1e-6)
        for column in columns:
            key = place * width + bins[:, column]
            left = np.bincount(key, slope, nodes * width).reshape(nodes, width).cumsum(axis=1)
            weight = np.bincount(key, curve, nodes * width).reshape(nodes, width).cumsum(axis=1)
            gain = (
                left**2 / (weight + PENALTY)
                + (whole - left) ** 2 / (mass - weight + PENALTY)
                - whole**2 / (mass + PENALTY)
            )
            gain[(weight < LEAST_WEIGHT) | (mass - weight < LEAST_WEIGHT)] = -1.0
            better = gain.max(axis=1) > best
            here = np.flatnonzero(better) + nodes - 1
            best[better] = gain.max(axis=1)[better]
            feature[here], cut[here] = column, gain.argmax(axis=1)[better]
        tested = feature[place + nodes - 1]
        right = (tested >= 0) & (bins[np.arange(len(bins)), tested] > cut[place + nodes - 1])
        place = 2 * place + right
    leaves = 2**DEPTH
    leaf = -np.bincount(place, slope, leaves) / (np.bincount(place, curve, leaves) + PENALTY)
    return feature, cut, leaf, place


def main() -> None:
    """Train on all sites and write the table."""
    found = list(decisions())
    model = fit(found)
    np.savez_compressed(
        OUT, feature=model.feature.astype(np.int8), threshold=model.threshold, leaf=model.leaf
    )
    print(f"{len(found)} decisions, {len(model.feature)} trees, {OUT.stat().st_size / 1e3:.1f} kB in {OUT}")


if __name__ == "__main__":
    main()
