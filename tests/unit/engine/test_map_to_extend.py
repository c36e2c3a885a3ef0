"""A map belongs to a host: which one an exploration extends, and what it says about it."""

from __future__ import annotations

import pytest

from app.engine.services.exploration import map_to_extend, needs_second_map

HOST = "127.0.0.1:8000"


@pytest.mark.parametrize(
    ("asked", "maps", "name", "said"),
    [
        ("", [], HOST, ""),
        ("", [HOST], HOST, ""),
        ("", ["shop"], "shop", "this host has the map 'shop', which is extended"),
        ("", ["admin", "shop"], HOST, ""),
        ("", ["shop", HOST], HOST, ""),
        ("shop", [], "shop", ""),
        ("shop", ["shop"], "shop", ""),
        ("store", ["shop"], "store", "this host has another map, too: 'shop'; --site extends it"),
    ],
)
def test_the_map_of_the_host_is_extended_and_a_second_one_is_told(
    asked: str, maps: list[str], name: str, said: str
):
    assert map_to_extend(asked, HOST, maps) == (name, said)


@pytest.mark.parametrize(
    ("asked", "maps", "needed"),
    [
        ("", [], False),
        ("", ["shop"], False),
        ("", ["shop", HOST], False),
        ("", ["admin", "shop"], True),
        ("shop", [], False),
        ("shop", ["admin", "shop"], False),
        ("store", ["shop"], True),
        (HOST, ["shop"], True),
    ],
)
def test_a_second_map_of_a_host_begins_where_the_name_is_none_of_its_maps(
    asked: str, maps: list[str], needed: bool
):
    assert needs_second_map(asked, HOST, maps) is needed
