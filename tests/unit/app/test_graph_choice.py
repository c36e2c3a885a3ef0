"""The state that words on the command line mean: an id, the best of five, the one chosen, or none."""

from __future__ import annotations

import io
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from app.cli import graph_choice
from app.cli.graph_choice import chosen_map, chosen_state
from app.engine.api.graph_api import HostMap, NodeHit, StateChoices
from app.errors import NotFound, UsageError

HITS = tuple(
    NodeHit(
        node=f"n{at}", title=f"Page {at}", url=f"http://a.test/{at}", score=1 - at / 10, matched=("orders",)
    )
    for at in range(1, 6)
)
FAR = NodeHit(node="f", title="Home", url="http://a.test/", score=0.4, missing=("dentist", "appointment"))


@dataclass
class Maps:
    """One map with the state ``cafe1234``."""

    choices: StateChoices = field(default_factory=lambda: StateChoices(like=True, hits=HITS))

    async def graph_node(self, site: str, node: str) -> Any:
        if not "cafe1234".startswith(node):
            raise NotFound(f"no state {node}")
        return SimpleNamespace(row=SimpleNamespace(id="cafe1234"))

    async def host_maps(self, url: str, site: str = "") -> list[HostMap]:
        return [HostMap(site="oscar", states=878), HostMap(site="old", states=3)] if "shop" in url else []

    async def graph_choices(self, site: str, query: str) -> StateChoices:
        return self.choices


async def chosen(
    words: str = "my orders", number: int = 0, ask: bool = False, maps: Any = None
) -> tuple[str, int]:
    node, hits = await chosen_state(maps or Maps(), "shop", words, number, ask)
    return node, len(hits)


@pytest.mark.parametrize(
    ("words", "number", "node"),
    [
        ("my orders", 0, "n1"),
        ("my orders", 1, "n1"),
        ("my orders", 4, "n4"),
        ("cafe", 0, "cafe1234"),
        ("cafe", 3, "cafe1234"),
    ],
)
async def test_a_description_takes_the_best_or_the_one_that_is_named_and_an_id_itself(words, number, node):
    assert await chosen(words, number) == (node, 0 if node == "cafe1234" else 5)


@pytest.mark.parametrize("words", ["beef", "added"])
async def test_letters_that_are_no_id_are_words(words):
    assert (await chosen(words))[0] == "n1"


@pytest.mark.parametrize("words", ["beef1", "abcdefab"])
async def test_an_id_that_is_not_there_is_no_description(words):
    with pytest.raises(NotFound):
        await chosen(words)


async def test_all_five_are_shown_with_why_and_how_to_take_another(capsys):
    await chosen()
    told = capsys.readouterr().err
    assert "found: Page 1 (http://a.test/1)" in told
    assert all(f"Page {at}" in told for at in range(1, 6))
    assert "--choose N" in told
    assert "orders" in told


async def test_where_nothing_is_like_it_the_nearest_and_what_to_do_are_told_and_nothing_is_taken():
    maps = Maps(StateChoices(like=False, hits=(FAR,)))
    with pytest.raises(NotFound) as refused:
        await chosen("a dentist's appointment", maps=maps)
    told = str(refused.value)
    assert told.startswith("nothing on the map of shop is like 'a dentist's appointment'; nearest:")
    assert all(
        part in told for part in ("Home", "0.40", "dentist appointment", "--choose N", "sitelore explore URL")
    )
    assert refused.value.exit_code == 1
    assert await chosen("a dentist's appointment", 1, maps=maps) == ("f", 1)


async def test_a_map_without_states_has_nothing_to_choose():
    maps = Maps(StateChoices(like=False))
    with pytest.raises(NotFound, match="is like 'x y'; try other words"):
        await chosen("x y", maps=maps)
    with pytest.raises(UsageError, match="there is no choice 2"):
        await chosen("x y", 2, maps=maps)


@pytest.mark.parametrize(("typed", "node"), [("\n", "n1"), ("3\n", "n3"), ("9\nwhat\n5\n", "n5"), ("", "n1")])
async def test_a_person_at_the_terminal_is_asked_until_the_answer_is_one_of_the_five(
    typed, node, monkeypatch
):
    monkeypatch.setattr(graph_choice.sys, "stdin", io.StringIO(typed))
    assert (await chosen(ask=True))[0] == node


@pytest.mark.parametrize(
    ("url", "site", "decided", "typed", "chosen"),
    [
        ("http://shop.test/", "shop-2", False, "\n", ("oscar", False)),
        ("http://shop.test/", "shop-2", False, "what\nS\n", ("shop-2", True)),
        ("http://shop.test/", "shop-2", True, "s\n", ("shop-2", False)),
        ("http://shop.test/", "old", False, "s\n", ("old", False)),
        ("http://shop.test/", "", False, "s\n", ("", False)),
        ("http://new.test/", "shop-2", False, "s\n", ("shop-2", False)),
    ],
)
async def test_a_person_decides_whether_a_host_gets_a_second_map(
    url, site, decided, typed, chosen, monkeypatch, capsys
):
    monkeypatch.setattr(graph_choice.sys, "stdin", io.StringIO(typed))
    maps: Any = Maps()
    assert await chosen_map(maps, url, site, decided) == chosen
    asked = "already mapped as oscar (878 states)" in capsys.readouterr().err
    assert asked is (site == "shop-2" and "shop.test" in url and not decided)
