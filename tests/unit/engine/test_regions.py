"""The region of a page that a tip is about: what a drawn box or a chosen element says, and where it is stored."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from app.engine.agent.secrets import Secrets
from app.engine.agent.step_record import observed_step
from app.engine.core.page_state import Element, PageCapture
from app.engine.core.regions import (
    RegionElement,
    chosen_anchor,
    drawn_anchor,
    read_boxes,
    region_elements,
    stored_boxes,
)
from app.engine.engine import Engine
from app.engine.store.workspace import Workspace
from app.errors import NotFound
from kb.anchor_words import has_words, region_words
from kb.tip import Anchor
from tests.support.runs import make_run, make_step

TREE = """RootWebArea 'Milestones'
\theading 'Milestones'
\t[1] button 'Filters'
\t[2] link 'Clear all'
\t[3] combobox 'Sort by', expanded=False
\t[4] button ''
\tStaticText 'a text that nobody can press'
\tlist ''
\t\tlistitem ''
\t\t\t[5] link 'Release'
\t\tlistitem ''
\t\t\t[6] link 'Beta'
\t\tlistitem ''
\t\t\t[7] link '3 open issues'"""
BOXES = {
    "1": (40.0, 70.0, 80.0, 28.0),
    "2": (130.0, 70.0, 70.0, 28.0),
    "3": (600.0, 70.0, 120.0, 28.0),
    "4": (730.0, 70.0, 28.0, 28.0),
    "5": (40.0, 102.0, 300.0, 24.0),
    "6": (40.0, 130.0, 300.0, 24.0),
    "7": (40.0, 158.0, 300.0, 24.0),
}
PLACED = region_elements(TREE, BOXES)


def test_controls_and_headings_may_be_chosen_and_what_has_no_name_only_where_it_is_seen():
    names = [(one.role, one.name) for one in region_elements(TREE)]
    assert names == [
        ("heading", "Milestones"),
        ("button", "Filters"),
        ("link", "Clear all"),
        ("combobox", "Sort by"),
        ("link", "Release"),
        ("link", "Beta"),
        ("link", "3 open issues"),
    ]
    assert [one.number for one in PLACED] == list(range(8))
    assert PLACED[4] == RegionElement(number=4, role="button", name="", box=BOXES["4"])
    assert [one.in_row for one in PLACED] == [False] * 5 + [True] * 3


@pytest.mark.parametrize(
    ("clause", "box", "words", "role"),
    [
        ("an element that lies in it", (35, 62, 90, 40), "Filters", "button"),
        ("half of an element is enough", (40, 70, 40, 28), "Filters", "button"),
        ("less than half is not", (81, 70, 123, 28), "Clear all", "link"),
        ("in reading order", (35, 62, 320, 70), "Filters · Clear all · Release", "link"),
        ("within one element it is that one", (610, 80, 8, 8), "Sort by", "combobox"),
        ("an icon has no words", (725, 65, 40, 40), "", "button"),
        ("nothing is there", (900, 400, 50, 50), "", ""),
    ],
    ids=lambda value: value.replace(" ", "-") if isinstance(value, str) else "",
)
def test_the_elements_under_a_box_give_words_and_role(clause, box, words, role):
    found = drawn_anchor(PLACED, tuple(map(float, box)), "f" * 64, "/m")
    assert (found.words, found.role) == (words, role), clause
    assert (found.box, found.screenshot, found.page) == (box, "f" * 64, "/m")


def test_neighbours_are_the_nearest_others_and_rows_of_lists_come_last():
    assert drawn_anchor(PLACED, BOXES["1"]).neighbours == ("Clear all", "Sort by", "Release", "Beta")
    assert chosen_anchor(region_elements(TREE), 1).neighbours == (
        "Milestones",
        "Clear all",
        "Sort by",
        "Release",
    )


@pytest.mark.parametrize(
    ("clause", "name"),
    [
        ("a name with a number is another one on the next page", "12 issues"),
        ("a long name is a text", "x" * 41),
        ("what is there three times tells no place", "Edit"),
        ("the region's own words say nothing more", "FILTERS"),
    ],
)
def test_what_tells_nothing_is_no_neighbour(clause, name):
    more = f"\n\t[8] button '{name}'" + f"\n\t[9] button '{name}'\n\t[10] button '{name}'" * (name == "Edit")
    assert name not in chosen_anchor(region_elements(TREE + more), 1).neighbours, clause


@pytest.mark.parametrize(
    ("anchor", "words", "found"),
    [
        (
            Anchor(words="Filters", role="button", neighbours=("Clear all",)),
            '"Filters" button beside "Clear all"',
            True,
        ),
        (Anchor(words="Filters · Sort by", role="button"), '"Filters", "Sort by" (button)', True),
        (Anchor(words="a · b · c · d · e"), '"a", "b", "c" and 2 more', True),
        (Anchor(role="button", neighbours=("Sort", "Top")), 'button beside "Sort"', True),
        (Anchor(role="button", neighbours=("Sort",)), 'button beside "Sort"', False),
        (Anchor(), "", False),
    ],
)
def test_a_region_is_said_in_words(anchor, words, found):
    assert region_words(anchor) == words
    assert has_words(anchor) is found


def test_the_neighbour_named_is_one_that_the_page_has():
    anchor = Anchor(words="Filters", role="button", neighbours=("Clear all", "Sort by"))
    assert region_words(anchor, lambda name: name == "Sort by") == '"Filters" button beside "Sort by"'
    assert region_words(anchor, lambda name: False) == '"Filters" button'


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[1]",
        b'{"1": 3, "2": [1, 2, 3], "3": [1, 2, 3, "4"], "4": [1, 2, 0, 5]}',
        b'{"1": [true, 1, 2]}',
        b"\xff",
    ],
)
def test_boxes_of_an_imported_run_may_be_anything(data):
    assert read_boxes(data) == {}


def test_a_step_of_an_own_run_keeps_the_places_of_what_is_in_view():
    elements = (
        Element(index=0, role="button", name="Save", rect=(10, 20, 80, 30)),
        Element(index=1, role="link", name="Half out", rect=(10, 90, 40, 40)),
        Element(index=2, role="link", name="Below", rect=(10, 500, 40, 20)),
        Element(index=3, role="link", name="Hidden", rect=(1, 1, 5, 5), visible=False),
        Element(index=4, role="link", name="Nowhere"),
    )
    page = PageCapture(
        url="http://shop.test/a", elements=elements, viewport=(200, 100), picture=b"\xff\xd8\xff"
    )
    step, blobs = observed_step(0, page, (), 0, Secrets(), 1.0)
    assert read_boxes(blobs[step.boxes]) == {"0": (10, 20, 80, 30), "1": (10, 90, 40, 10)}
    bare, _ = observed_step(
        0, PageCapture(url="http://shop.test/a", elements=elements), (), 0, Secrets(), 1.0
    )
    assert bare.boxes == ""


@pytest.fixture
async def engine(tmp_path: Path):
    tree, boxes = TREE.encode(), stored_boxes(BOXES)
    digests = [hashlib.sha256(data).hexdigest() for data in (tree, boxes)]
    pictured = make_step(
        index=0,
        url="http://10.0.0.1:8023/a/b/-/milestones/7",
        tree=digests[0],
        boxes=digests[1],
        screenshot="c" * 64,
    )
    steps = [pictured, make_step(index=1, tree=digests[0]), make_step(index=2)]
    with Workspace.open(tmp_path / "workspace") as workspace:
        run = make_run("run-1", site="gitlab", step_count=3)
        workspace.runs.add(run, steps, dict(zip(digests, (tree, boxes), strict=True)))
        workspace.rebuild_index()
    opened = await Engine.open(tmp_path / "workspace", author="mina")
    yield opened
    await opened.aclose()


async def test_the_page_of_a_stored_step_is_offered_with_its_elements(engine: Engine):
    page = await engine.page_elements("run-1", 0)
    assert page.elements == PLACED
    assert (page.screenshot, page.page) == ("c" * 64, "/{project}/-/milestones/{n}")
    bare = await engine.page_elements("run-1", 1)
    assert [one.name for one in bare.elements if one.box is None] == [one.name for one in bare.elements]
    assert bare.screenshot == ""
    assert (await engine.page_elements("run-1", 2)).missing == "No page was recorded at this step."
    with pytest.raises(NotFound):
        await engine.page_elements("run-1", 9)


async def test_an_exported_run_takes_the_places_along(engine: Engine, tmp_path: Path):
    await engine.export_runs(["run-1"], str(tmp_path / "out"))
    with Workspace.open(tmp_path / "other"):
        pass
    other = await Engine.open(tmp_path / "other", author="mina")
    try:
        await other.import_runs([str(tmp_path / "out")])
        assert (await other.page_elements("run-1", 0)).elements == PLACED
    finally:
        await other.aclose()


def test_boxes_are_stored_as_plain_json():
    assert json.loads(stored_boxes({"1": (1.0, 2.5, 3.0, 4.0)})) == {"1": [1.0, 2.5, 3.0, 4.0]}
