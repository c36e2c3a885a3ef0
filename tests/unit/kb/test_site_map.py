"""Exported maps: states by their words, the cheapest path, and files that are none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kb.errors import BadFile, KbError
from kb.site_map import SiteMap
from tests.support.frozen_files import exported_map


@pytest.fixture
def site_map(tmp_path: Path) -> SiteMap:
    return SiteMap.read(exported_map(tmp_path))


def test_states_are_found_by_title_headings_controls_and_address(site_map: SiteMap) -> None:
    for words, state in (
        ("your basket", "bbbb2222"),
        ("delivery address", "cccc3333"),
        ("enter a coupon", "cccc3333"),
        ("help", "dddd4444"),
    ):
        assert site_map.search(words)[0].state == state, words
    assert site_map.search("weather forecast") == []


@pytest.mark.parametrize(
    ("to", "start", "moves"),
    [
        ("bbbb2222", "", ["click link 'Basket'"]),
        ("cccc3333", "", ["click link 'Basket'", "click button 'Check out'"]),
        ("cccc3333", "bbbb2222", ["click button 'Check out'"]),
        ("dddd4444", "", ["open https://www.shop.example/help"]),
        ("aaaa1111", "cccc3333", ["open https://www.shop.example/"]),
        ("aaaa1111", "", []),
    ],
)
def test_a_path_is_the_cheapest_by_clicks_or_by_address(
    site_map: SiteMap, to: str, start: str, moves: list[str]
) -> None:
    found = site_map.path(to, start)
    assert [f"{move.operation} {move.element or move.value}" for move in found.moves] == moves
    assert found.moves == () or found.moves[-1].state == to


def test_a_click_that_mostly_fails_costs_more_than_opening_the_address(tmp_path: Path) -> None:
    path = exported_map(tmp_path)
    document = json.loads(path.read_text())
    document["edges"][0] |= {"attempts": 40, "successes": 1}
    document["nodes"][1]["direct"] = "yes"
    path.write_text(json.dumps(document))
    assert [move.operation for move in SiteMap.read(path).path("bbbb2222").moves] == ["open"]


def test_a_state_no_path_leads_to_is_an_error(tmp_path: Path) -> None:
    path = exported_map(tmp_path)
    document = json.loads(path.read_text())
    document["edges"] = []
    path.write_text(json.dumps(document))
    with pytest.raises(KbError, match="no path leads to cccc3333"):
        SiteMap.read(path).path("cccc3333")


def test_a_state_may_be_named_by_the_first_digits_of_its_id(site_map: SiteMap) -> None:
    assert (site_map.named("cccc"), site_map.named("ccc"), site_map.named("zzzz")) == ("cccc3333", None, None)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no",
        "[]",
        "{}",
        '{"nodes": []}',
        '{"nodes": [], "edges": []}',
        '{"nodes": {}, "links": 3}',
        "[" * 9_999,
    ],
)
def test_any_other_file_is_refused_in_one_sentence(tmp_path: Path, text: str) -> None:
    path = tmp_path / "map.json"
    path.write_text(text)
    with pytest.raises(BadFile) as refused:
        SiteMap.read(path)
    assert "\n" not in str(refused.value)


_VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=6), st.just([]), st.just({})
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_every_field_may_be_missing_or_of_another_type(tmp_path: Path, data: Any) -> None:
    path = exported_map(tmp_path)
    document = json.loads(path.read_text())
    for part in data.draw(
        st.lists(st.sampled_from(["nodes", "edges", "pages", "graph"]), min_size=1, max_size=4)
    ):
        place = document[part]
        one = data.draw(st.sampled_from(place)) if isinstance(place, list) and place else place
        if isinstance(one, dict) and one:
            key = data.draw(st.sampled_from(sorted(one)))
            one[key] = data.draw(_VALUES)
    path.write_text(json.dumps(document))
    try:
        found = SiteMap.read(path)
        hits = found.search("basket checkout help coupon")
        assert all(hit.state in found.states for hit in hits)
        for state in found.states:
            found.path(state)
    except KbError as error:
        assert "\n" not in str(error)  # noqa: PT017 - most mutations are read
