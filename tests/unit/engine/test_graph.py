"""The graph in memory: pages become nodes, transitions edges, and decisions of people change what is seen only."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

import networkx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.engine.core.identity import node_id, page_id
from app.engine.core.page_state import GraphEdit, GraphEditKind, Mode, PageKeys, PageState
from app.engine.core.transition import Operation, ReplayVerdictKind, Transition
from app.engine.graph.graph import InteractionGraph
from app.engine.graph.paths import (
    OPEN,
    PRIOR,
    RECENT_FAILURE,
    RISK,
    STEP,
    SWITCH,
    UNSURE,
    UNTRIED,
    USUAL_SECONDS,
    cost,
)
from app.errors import NotFound

HOME = "http://shop.example/"


def page(
    url: str, *, template: str = "", skeleton: str = "", direct: bool | None = None, **fields: object
) -> PageState:
    """A page state at an address of the shop."""
    keys = PageKeys(url=url, template=template or url, structure="s", skeleton=skeleton or url)
    return PageState(
        id=page_id(keys),
        keys=keys,
        url=f"http://shop.example{url}",
        title=url,
        direct=direct,
        **fields,  # pyright: ignore[reportArgumentType]
    )


def step(source: PageState, target: PageState, name: str = "", **fields: object) -> Transition:
    """A transition that was tried twice and led there in a second."""
    given: dict[str, object] = {"attempts": 2, "successes": 2, "seconds": 1.0, **fields}
    return Transition(
        id=name or f"{source.title}>{target.title}",
        source=source.id,
        target=target.id,
        **given,  # pyright: ignore[reportArgumentType]
    )


def build(
    pages: Sequence[PageState],
    transitions: Sequence[Transition] = (),
    decisions: Sequence[GraphEdit] = (),
    mode: Mode = Mode.FULL,
) -> InteractionGraph:
    return InteractionGraph("shop", HOME, mode, pages, transitions, decisions)


def merge(*members: str) -> GraphEdit:
    return GraphEdit(id="m", kind=GraphEditKind.MERGE, members=members)


def split(member: str) -> GraphEdit:
    return GraphEdit(id="s", kind=GraphEditKind.SPLIT, members=(member,))


ROOT, LIST, BASKET = page("/", direct=True), page("/list"), page("/basket")
APRON, TEAPOT, MUG = (
    page(f"/product/{name}", template="/product/{id}", skeleton="product")
    for name in ("apron", "teapot", "mug")
)
TRIED = (1.0 + STEP) / ((2 + 2 * PRIOR) / 4)


# nodes


def test_in_full_mode_every_page_state_is_a_node_in_the_order_it_was_found():
    graph = build([ROOT, TEAPOT, APRON])
    assert list(graph.nodes) == [ROOT.id, TEAPOT.id, APRON.id]
    assert graph.pages_of(APRON.id) == (APRON,)
    assert graph.node_of(APRON.id) == APRON.id


def test_in_skeleton_mode_one_product_stands_for_all():
    graph = build([ROOT, TEAPOT, APRON], mode=Mode.SKELETON)
    product = node_id(APRON.keys, Mode.SKELETON)
    assert list(graph.nodes) == [node_id(ROOT.keys, Mode.SKELETON), product]
    assert graph.pages_of(product) == (TEAPOT, APRON)


def test_every_transition_is_an_edge_of_its_own_between_nodes():
    ways = [step(ROOT, APRON, "menu"), step(ROOT, APRON, "picture"), step(ROOT, TEAPOT, "list")]
    graph = build([ROOT, APRON, TEAPOT], ways, mode=Mode.SKELETON)
    root, product = graph.nodes
    assert list(graph.outgoing(root)) == list(graph.incoming(product)) == ways
    assert graph.nodes[product] == (APRON.id, TEAPOT.id)


def test_a_removed_state_stays_a_node_without_edges():
    graph = build([ROOT, page("/old", gone_at=3.0)], [step(ROOT, page("/old"), gone_at=3.0)])
    assert len(graph.nodes) == 2
    assert not any(graph.outgoing(node) for node in graph.nodes)


def test_a_transition_from_or_to_an_unknown_page_is_no_edge():
    graph = build([ROOT], [step(ROOT, LIST), step(LIST, ROOT)])
    assert not any(graph.outgoing(node) for node in graph.nodes)


def test_unknown_states_are_named_in_the_error():
    graph = build([ROOT])
    for asking in (graph.node_of, graph.pages_of, lambda name: graph.route("", name)):
        with pytest.raises(NotFound, match=r"graph of shop .*'nothing'"):
            asking("nothing")


# decisions


def test_merged_nodes_are_one_with_the_first_ones_id_and_keep_their_edges():
    graph = build([ROOT, LIST, BASKET], [step(ROOT, LIST), step(LIST, BASKET)], [merge(BASKET.id, LIST.id)])
    assert graph.nodes == {ROOT.id: (ROOT.id,), BASKET.id: (LIST.id, BASKET.id)}
    edges = [(node, graph.node_of(found.target)) for node in graph.nodes for found in graph.outgoing(node)]
    assert sorted(edges) == sorted([(ROOT.id, BASKET.id), (BASKET.id, BASKET.id)])


def test_splitting_undoes_a_merge_and_then_splits_a_template():
    pages = [ROOT, LIST, APRON, TEAPOT]
    product, listing = node_id(APRON.keys, Mode.SKELETON), node_id(LIST.keys, Mode.SKELETON)
    once = [merge(product, listing)]
    assert len(build(pages, (), once, Mode.SKELETON).nodes) == 2
    assert set(build(pages, (), [*once, split(product)], Mode.SKELETON).nodes) >= {product, listing}
    apart = build(pages, (), [*once, split(product), split(product)], Mode.SKELETON)
    assert set(apart.nodes) >= {APRON.id, TEAPOT.id, listing}
    again = build(
        pages, (), [*once, split(product), split(product), merge(APRON.id, TEAPOT.id)], Mode.SKELETON
    )
    assert again.pages_of(APRON.id) == (APRON, TEAPOT)


def test_edits_apply_to_pages_observed_later():
    listing, product = node_id(LIST.keys, Mode.SKELETON), node_id(APRON.keys, Mode.SKELETON)
    merged = build([ROOT, LIST, APRON, MUG], (), [merge(listing, product)], Mode.SKELETON)
    assert merged.pages_of(listing) == (LIST, APRON, MUG)
    apart = build([ROOT, APRON, TEAPOT, MUG], (), [split(product)], Mode.SKELETON)
    assert MUG.id in apart.nodes


def test_merging_merged_nodes_joins_them_all():
    graph = build(
        [ROOT, LIST, BASKET, APRON], (), [merge(ROOT.id, LIST.id), merge(APRON.id, LIST.id, BASKET.id)]
    )
    assert graph.nodes == {APRON.id: (ROOT.id, LIST.id, BASKET.id, APRON.id)}


NAMES = st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=4, unique=True)
DECISIONS = st.lists(
    st.one_of(
        NAMES.map(lambda names: ("merge", names)), st.sampled_from("abcdefgh").map(lambda n: ("split", [n]))
    ),
    max_size=8,
)


@given(DECISIONS, st.integers(0, 99))
def test_with_any_edits_every_page_is_on_one_node_whatever_the_order_of_pages(deeds, seed):
    pages = [page(f"/{name}", skeleton="ab" if name in "ab" else name, template="/x") for name in "abcdefgh"]
    names = {name: node_id(p.keys, Mode.SKELETON) for name, p in zip("abcdefgh", pages, strict=True)}
    decided = [
        GraphEdit(id="d", kind=GraphEditKind(kind), members=tuple(names[name] for name in members))
        for kind, members in deeds
    ]
    mixed = pages[:]
    random.Random(seed).shuffle(mixed)

    one, other = (build(order, (), decided, Mode.SKELETON) for order in (pages, mixed))

    assert sorted(state for states in one.nodes.values() for state in states) == sorted(p.id for p in pages)
    assert all(node == one.node_of(state) for node, states in one.nodes.items() for state in states)
    assert {node: set(states) for node, states in one.nodes.items()} == {
        node: set(states) for node, states in other.nodes.items()
    }


# ways


def test_the_cost_is_the_time_expected_with_failures_and_risk():
    base = step(ROOT, LIST, attempts=6, successes=3, seconds=2.0, last_arrival=ReplayVerdictKind.EXACT.value)
    assert cost(base) == pytest.approx((2.0 + STEP) / ((3 + 2 * PRIOR) / 8))
    late = step(
        ROOT, LIST, attempts=6, successes=3, seconds=2.0, last_arrival=ReplayVerdictKind.WRONG.value, risk=0.5
    )
    assert cost(late) == pytest.approx(RECENT_FAILURE * cost(base) + RISK * 0.5)
    seen = step(ROOT, LIST, attempts=0, successes=0, seconds=0.0)
    assert cost(seen) == pytest.approx((USUAL_SECONDS + STEP) / PRIOR + UNTRIED)


def test_the_path_is_the_cheapest_and_not_the_one_with_the_fewest_clicks():
    flaky = step(ROOT, BASKET, "flaky", attempts=20, successes=1, last_arrival="wrong")
    graph = build([ROOT, LIST, BASKET], [flaky, step(ROOT, LIST), step(LIST, BASKET)])
    assert [found.id for found in graph.route("", BASKET.id).transitions] == ["/>/list", "/list>/basket"]


def test_the_path_begins_at_the_current_state_and_not_at_the_root():
    graph = build([ROOT, LIST, BASKET], [step(ROOT, LIST), step(LIST, BASKET), step(ROOT, BASKET, "direct")])
    assert [found.id for found in graph.route(LIST.id, BASKET.id).transitions] == ["/list>/basket"]
    assert graph.route(BASKET.id, BASKET.id).transitions == []


def test_of_two_transitions_between_the_same_states_the_safer_is_taken():
    risky, safe = step(ROOT, LIST, "risky", risk=0.9), step(ROOT, LIST, "safe", seconds=3.0)
    assert [found.id for found in build([ROOT, LIST], [risky, safe]).route("", LIST.id).transitions] == [
        "safe"
    ]


def test_an_address_known_to_lead_there_may_be_opened_at_a_cost():
    far = page("/far", direct=True)
    menu = page("/far", skeleton="menu open", direct=False, depth=1)
    menu = PageState(id="menu", keys=menu.keys, url=menu.url, title="menu", direct=False)
    graph = build([ROOT, LIST, far, menu], [step(far, menu)])
    way = graph.route(LIST.id, "menu")
    assert [(found.operation, found.value) for found in way.transitions] == [
        (Operation.OPEN, "http://shop.example/far"),
        (Operation.CLICK, ""),
    ]
    assert way.transitions[0].source == LIST.id
    assert way.cost == pytest.approx(OPEN + 1.0 + STEP + TRIED)
    with pytest.raises(NotFound, match="no path leads there"):
        graph.route(LIST.id, "menu", opening=False)


def test_an_address_nobody_tried_is_opened_only_to_get_to_it_itself():
    graph = build([ROOT, LIST, BASKET], [step(LIST, BASKET)])
    assert graph.route("", LIST.id).cost == pytest.approx(OPEN + UNSURE + 1.0 + STEP)
    assert [found.operation for found in graph.route("", BASKET.id).transitions] == [Operation.OPEN]


def test_a_state_without_an_address_and_without_transitions_is_not_reached():
    lost = page("/lost", direct=False)
    with pytest.raises(NotFound, match=r"shop: from the home page to \w+ no path leads there"):
        build([ROOT, lost]).route("", lost.id)


def test_a_path_never_includes_removed_states():
    gone = page("/gone", gone_at=1.0, direct=True)
    graph = build([ROOT, gone, BASKET], [step(ROOT, gone), step(gone, BASKET)])
    assert [found.operation for found in graph.route("", BASKET.id).transitions] == [Operation.OPEN]
    with pytest.raises(NotFound, match="gone from the site"):
        graph.route("", gone.id)


def test_a_path_may_continue_from_another_page_of_the_same_node():
    ways = [step(ROOT, APRON), step(TEAPOT, BASKET)]
    graph = build([ROOT, APRON, TEAPOT, page("/basket", direct=False)], ways, mode=Mode.SKELETON)
    way = graph.route("", graph.node_of(page("/basket").id))
    assert [found.id for found in way.transitions] == ["/>/product/apron", "/product/teapot>/basket"]
    assert way.cost == pytest.approx(2 * TRIED + SWITCH)


def test_a_path_plan_lists_nodes_titles_and_risk():
    graph = build([ROOT, LIST, BASKET], [step(ROOT, LIST, risk=0.1), step(LIST, BASKET, risk=0.2)])
    plan = graph.plan("", BASKET.id)
    assert plan.nodes == (ROOT.id, LIST.id, BASKET.id)
    assert plan.titles == ("/", "/list", "/basket")
    assert plan.risk == pytest.approx(1 - 0.9 * 0.8)
    assert graph.plan(LIST.id, LIST.id).nodes == (LIST.id,)


def test_home_is_the_page_at_the_home_address_else_the_nearest_one():
    assert build([LIST, ROOT]).home_pages == (ROOT.id,)
    away = InteractionGraph(
        "shop", "http://shop.example/start", Mode.FULL, [page("/list", depth=1), BASKET], []
    )
    assert away.home_pages == (BASKET.id,)


@given(
    st.integers(2, 12),
    st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11), st.integers(0, 3)), max_size=40),
)
def test_path_costs_equal_networkx_shortest_paths(count, links):
    pages = [page(f"/{number}", direct=False) for number in range(count)]
    ways = [
        step(pages[a % count], pages[b % count], f"{number}", seconds=w + 0.5, attempts=w + 1, successes=1)
        for number, (a, b, w) in enumerate(links)
    ]
    graph = build(pages, ways)
    plain: networkx.DiGraph[str] = networkx.DiGraph()
    plain.add_nodes_from(graph.nodes)
    usual = sum(found.seconds for found in ways) / len(ways) if ways else 1.0
    for found in ways:
        known = plain.get_edge_data(found.source, found.target, {"weight": math.inf})["weight"]
        plain.add_edge(found.source, found.target, weight=min(known, cost(found, usual)))
    best = networkx.single_source_dijkstra_path_length(plain, pages[0].id)

    for target in pages:
        if target.id in best:
            assert graph.route(pages[0].id, target.id).cost == pytest.approx(best[target.id])
        else:
            with pytest.raises(NotFound):
                graph.route(pages[0].id, target.id)
