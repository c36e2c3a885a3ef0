"""Annotations of a map's states: runs, failures, tips; and which tips a change of the site makes suspect."""

from __future__ import annotations

from dataclasses import replace

from app.engine.core.page_state import PageKeys, PageState
from app.engine.graph.annotations import NodeFinder, annotate, suspect_tips, tips_by_page
from kb.tip import Scope, Status, StoredStep, Tip

HOSTS = ("shop.example",)


def page(path: str, *controls: str, depth: int = 1, page_id: str = "") -> PageState:
    keys = PageKeys(url=path, template=path, structure="s", skeleton="k")
    return PageState(
        id=page_id or path, keys=keys, url=f"http://shop.example{path}", depth=depth, controls=controls
    )


def tip(tip_id: str, path: str, text: str, status: Status = Status.ACTIVE) -> Tip:
    return Tip(id=tip_id, site="shop", text=text, scope=Scope(path=path), status=status)


def step(run: str, at: int, path: str, host: str = "other.example:8080") -> StoredStep:
    return StoredStep(run=run, step=at, url=f"http://{host}{path}", site="shop", text="buy it", failed=True)


BASKET = page("/basket", "button Update", "link Go to checkout")
PRODUCT = page("/product/{id}", "button Add to basket", "combobox Size")
NODES = {"b": (BASKET,), "p": (PRODUCT,)}


def test_a_run_from_another_host_is_counted_where_its_pages_are_on_the_map():
    facts = annotate(
        NODES, "shop", [step("r1", 3, "/basket"), step("r1", 4, "/nowhere")], {}, {"r1": 3}, [], HOSTS
    )
    assert facts["b"].runs == [("r1", 3)]
    assert (facts["b"].failures, facts["p"].failures) == (1, 0)


def test_a_run_whose_page_state_is_known_is_counted_there_and_not_by_its_address():
    facts = annotate(NODES, "shop", [step("r1", 3, "/basket")], {PRODUCT.id: [("r1", 3)]}, {}, [], HOSTS)
    assert facts["p"].runs == [("r1", 3)]
    assert facts["b"].runs == []


def test_an_address_means_the_page_itself_and_not_its_open_menu():
    menu = page("/basket", "menuitem Help", depth=2, page_id="menu")
    assert NodeFinder({"m": (menu,), "b": (BASKET,)}).node_at("http://shop.example/basket") == "b"


def test_tips_for_pages_are_counted_and_those_for_the_whole_site_are_kept_apart():
    tips = [tip("t1", "/basket", "x"), tip("t2", "", "y"), tip("t3", "/basket", "z", Status.DRAFT)]
    facts = annotate(NODES, "shop", [], {}, {}, tips, HOSTS)
    assert facts["b"].tips == ["t1"]
    assert facts["b"].site_tips == facts["p"].site_tips == ["t2"]
    assert facts["p"].tips == []


def test_tips_by_page_answers_for_every_address_even_for_none():
    assert tips_by_page(
        ["http://shop.example/basket", "about:blank"], "shop", [tip("t", "/basket", "x")], HOSTS
    ) == [
        [0],
        [],
    ]


def test_a_tip_whose_pages_are_all_removed_becomes_suspect():
    tips = [tip("gone", "/basket", "the basket keeps its rows"), tip("stays", "/product/*", "choose a size")]
    product = replace(PRODUCT, url="http://shop.example/product/mug")
    assert suspect_tips([BASKET, product], [product], "shop", tips, HOSTS) == ("gone",)


def test_a_tip_that_names_a_removed_control_becomes_suspect():
    after = page("/basket", "button Recalculate", "link Go to checkout")
    names = tip("names", "/basket", "Press Update after a change of the number.")
    other = tip("other", "/basket", "Press Go to checkout; the updated sum stands above.")
    assert suspect_tips([BASKET], [after], "shop", [names, other], HOSTS) == ("names",)


def test_a_tip_that_never_had_a_page_on_the_map_and_a_draft_are_left_alone():
    tips = [tip("far", "/never/seen", "x"), tip("draft", "/basket", "x", Status.DRAFT)]
    assert suspect_tips([BASKET], [], "shop", tips, HOSTS) == ()
