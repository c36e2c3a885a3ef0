"""The paths of two runs on the map."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.models.graph.map_graph import MapGraph
from app.models.graph.run_paths import RunPathsModel, StateFinder
from tests.support.made_up import make_run, make_step
from tests.support.qt_loop import until


@pytest.fixture
def mapped(bench):
    """The whole window with the map of a site, and a run that walks over its first states."""
    model = bench.map.map
    until(lambda: len(model.graph) > 4)
    return bench


def walk(bench, run, rows):
    """A run's detail whose steps stand on these states."""
    steps = tuple(
        replace(make_step(run, number), url=row.url, page_state=row.id) for number, row in enumerate(rows)
    )
    from app.engine.api.engine_api import RunDetail
    from app.engine.core.verdicts import Risk

    site = bench.map.map.site
    return RunDetail(
        run=replace(run, site=site), steps=steps, flags=(), risk=Risk(run=run.id, value=0.5, suspect_step=0),
        verdicts=(), tips=(),
    )  # fmt: skip


def test_both_paths_and_the_parting_are_drawn_on_the_sites_map(mapped):
    model = mapped.map.map
    rows = model.graph.rows
    left, right = walk(mapped, make_run(1), rows[:3]), walk(mapped, make_run(2), (rows[0], rows[1], rows[4]))
    mapped._show_paths(left, right, rows[1].url)
    assert mapped._window.place == "map"
    paths = model.run_paths
    assert paths.paths == (tuple(r.id for r in rows[:3]), (rows[0].id, rows[1].id, rows[4].id))
    assert paths.parting == StateFinder(model.graph).state_at(rows[1].url)
    assert len(paths.words) == 3
    mapped._window.grab()
    mapped._window.center.trigger("map.back")
    assert not paths.is_shown


def test_a_site_without_a_map_says_so(mapped):
    left = walk(mapped, make_run(1), mapped.map.map.graph.rows[:2])
    left = replace(left, run=replace(left.run, site="nowhere"))
    before = mapped._window.place
    mapped._show_paths(left, left, "")
    assert mapped._window.place == before
    assert mapped._window.toast.text.startswith("nowhere has no map yet.")


def test_steps_off_the_map_are_left_out_and_the_parting_says_so(mapped):
    graph = mapped.map.map.graph
    left = walk(mapped, make_run(1), graph.rows[:2])
    strange = replace(left.steps[1], url="http://elsewhere.example/none/of/it", page_state="")
    paths = RunPathsModel()
    paths.show(left, replace(left, steps=(left.steps[0], strange)), strange.url, graph)
    assert paths.paths[1] == (graph.rows[0].id,)
    assert paths.words[-1] == "the page at which they part is not on the map"


@pytest.mark.parametrize(
    ("url", "found"),
    [
        ("http://other.host:7770{path}?{query}", True),
        ("http://other.host{path}/?{query}", True),
        ("http://other.host/not/on/the/map", False),
        ("http://[broken", False),
    ],
)
def test_an_address_is_found_without_its_host(mapped, url, found):
    from urllib.parse import urlsplit

    graph: MapGraph = mapped.map.map.graph
    row = min(graph.rows, key=lambda row: row.depth)
    parts = urlsplit(row.url)
    address = url.replace("{path}", parts.path.rstrip("/")).replace("{query}", parts.query)
    assert bool(StateFinder(graph).state_at(address)) is found
