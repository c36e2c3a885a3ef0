"""The threshold of navigating: questions a map can answer that find "nothing like it", and the other way round.

``python -m benchmarks.navigate [WORKSPACE SITE QUESTIONS]...`` measures the bundled site, and each given site's stored
map with its questions.  The weights and the threshold of ``likeness.py`` were chosen on the bundled site and on a map
of GitLab from recorded runs; the shop was held out.  Shares have 95 % intervals (Wilson).
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from app.engine.core import identity
from app.engine.core.page_state import Mode, PageState
from app.engine.graph.search import StateSearch, state_text
from app.engine.graph.search.compare import LabelledQuery
from app.engine.store.workspace import Workspace
from benchmarks.graph_search import MemoryVectors, demo_pages
from benchmarks.lint_orders import wilson
from kb.encoder import Encoder, EncoderUnavailable, load_encoder

HERE = Path(__file__).resolve().parent / "data"


@dataclass(frozen=True)
class Question:
    """A question, and the pages that answer it; none where the site has nothing like it."""

    asked: LabelledQuery
    kind: str


def questions_of(path: Path) -> list[Question]:
    """Read the questions of a site."""
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    return [
        Question(LabelledQuery(query=row["query"], expect=tuple(row["expect"])), row.get("kind", ""))
        for row in rows
    ]


def stored_pages(workspace: Path, site: str) -> list[PageState]:
    """The existing page states of a site's map, with their texts."""
    with Workspace.open(workspace) as opened:
        pages = [page for page in opened.graph(site).pages() if not page.gone_at]
        return [
            replace(
                page, text=opened.runs.read_blob(page.text).decode("utf-8", "replace") if page.text else ""
            )
            for page in pages
        ]


def measure(
    name: str, encoder: Encoder | None, pages: Sequence[PageState], questions: Sequence[Question]
) -> None:
    """Print what the threshold does on one map; questions about pages that it does not have are left out."""
    nodes: dict[str, list[PageState]] = {}
    for page in pages:
        nodes.setdefault(identity.node_id(page.keys, Mode.FULL), []).append(page)
    search = StateSearch(encoder, MemoryVectors())
    search.update(state_text(node, found, [page.text for page in found[:3]]) for node, found in nodes.items())
    places = {
        node: {part for page in found for part in (page.keys.template, page.keys.url)}
        for node, found in nodes.items()
    }
    there = {part for found in places.values() for part in found}
    can = [one for one in questions if one.asked.expect and one.asked.answered_by(there)]
    cannot = [one for one in questions if not one.asked.expect]
    refused, first, among = 0, 0, 0
    for question in can:
        found = search.likely(question.asked.query)
        right = [question.asked.answered_by(places[hit.node]) for hit, _ in found.hits]
        refused += not found.like
        first += found.like and right[0]
        among += found.like and any(right)
    wrong = [one for one in cannot if search.likely(one.asked.query).like]
    print(f"\n{name}: {len(nodes)} states, by {search.methods[0]}")
    print(f"  of {len(can)} questions that it can answer, nothing like it: {_share(refused, len(can))}")
    print(
        f"    the right state first: {_share(first, len(can))}, among the first five: {_share(among, len(can))}"
    )
    print(f"  of {len(cannot)} that it can't, something found: {_share(len(wrong), len(cannot))}")
    for one in wrong:
        print(f"    {one.kind}: {one.asked.query}")


def _share(hits: int, of: int) -> str:
    low, high = wilson(hits, of)
    return f"{hits} ({hits / max(1, of):.2f} [{low:.2f}, {high:.2f}])"


def main() -> None:
    """Measure with the encoder and without."""
    cache = Path(os.environ.get("SITELORE_CACHE", Path(tempfile.gettempdir()) / "sitelore-benchmark"))
    encoders: list[Encoder | None] = [None]
    try:
        encoders.insert(0, load_encoder(cache))
    except EncoderUnavailable as error:
        print(f"no encoder: {error}")
    given = sys.argv[1:]
    maps = [("demo site", asyncio.run(demo_pages()), questions_of(HERE / "navigate_demo.jsonl"))]
    for workspace, site, file in zip(given[::3], given[1::3], given[2::3], strict=True):
        maps.append((site, stored_pages(Path(workspace), site), questions_of(Path(file))))
    for encoder in encoders:
        for name, pages, questions in maps:
            measure(name, encoder, pages, questions)


if __name__ == "__main__":
    main()
