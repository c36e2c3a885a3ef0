"""Exported graphs are read back equal, by networkx and by us; a damaged file is an error that says so."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from pathlib import Path

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.engine.core.identity import page_id
from app.engine.core.page_state import GraphEdit, GraphEditKind, Mode, PageKeys, PageState
from app.engine.core.transition import Locator, Operation, Transition
from app.engine.graph.export_reader import read_graph
from app.engine.graph.export_writer import export_graph, flat_graph
from app.engine.graph.graph import InteractionGraph
from app.errors import InputError, UsageError
from tests.support.laws import examples

HOME = "http://shop.example/"


def page(path: str, **more) -> PageState:
    keys = PageKeys(
        url=path, template=path, structure=path.encode().hex()[:16].ljust(16, "0"), skeleton="5" * 16
    )
    state = PageState(
        id=page_id(keys), keys=keys, url=f"http://shop.example{path}", title=path.strip("/") or "Home"
    )
    return replace(state, **more)


def way(number: int, source: PageState, target: PageState, **more) -> Transition:
    locator = Locator(role="link", name=f"Go {number}", css=f"a:nth-child({number})")
    return replace(
        Transition(id=f"{number:016x}", source=source.id, target=target.id, locator=locator, seconds=0.25),
        **more,
    )


def small_graph(decisions=(), mode=Mode.FULL) -> InteractionGraph:
    home, cups, cup = (
        page("/", depth=0, direct=True),
        page("/cups", depth=1),
        page("/cups/3", depth=2, gone_at=5.0),
    )
    ways = [
        way(1, home, cups),
        way(
            2,
            home,
            cups,
            operation=Operation.OPEN,
            value="http://shop.example/cups",
            locator=None,
            attempts=3,
        ),
        way(3, cups, cup),
        way(4, cups, home, last_divergence="moved\nto another place"),
        way(5, home, home, operation=Operation.TYPE, value="tea"),
    ]
    return InteractionGraph("shop", HOME, mode, [home, cups, cup], ways, decisions)


def same_graph(left: nx.MultiDiGraph, right: nx.MultiDiGraph) -> bool:
    """Nodes, edges with their keys, and all attributes of both."""
    return dict(left.nodes(data=True)) == dict(right.nodes(data=True)) and left.adj == right.adj


def test_graphml_is_read_back_equal(tmp_path: Path):
    graph = small_graph()
    assert export_graph(graph, tmp_path / "g.graphml", "graphml") == 3
    back = nx.read_graphml(tmp_path / "g.graphml", force_multigraph=True)
    assert same_graph(back, flat_graph(graph))
    assert (back.graph["site"], back.graph["mode"]) == ("shop", "full")


def test_gexf_is_read_back_equal(tmp_path: Path):
    graph = small_graph()
    export_graph(graph, tmp_path / "g.gexf", "gexf")
    back = nx.read_gexf(tmp_path / "g.gexf")
    assert isinstance(back, nx.MultiDiGraph)
    assert same_graph(back, flat_graph(graph))


def test_node_link_json_is_read_back_equal(tmp_path: Path):
    graph = small_graph()
    export_graph(graph, tmp_path / "g.json")
    back = nx.node_link_graph(json.loads((tmp_path / "g.json").read_bytes()), edges="edges")
    assert nx.utils.graphs_equal(back, flat_graph(graph))


ANY_TEXT = st.text(st.characters(codec=None, exclude_categories=()), max_size=30)


@settings(max_examples=examples(40), deadline=None)
@given(titles=st.lists(ANY_TEXT, min_size=2, max_size=5), names=st.lists(ANY_TEXT, min_size=1, max_size=5))
def test_every_form_survives_any_text(
    tmp_path_factory: pytest.TempPathFactory, titles: list[str], names: list[str]
):
    folder = tmp_path_factory.mktemp("graphs")
    pages = [page(f"/{number}", title=title) for number, title in enumerate(titles)]
    ways = [
        way(number, pages[number % len(pages)], pages[0], locator=Locator(role="link", name=name), value=name)
        for number, name in enumerate(names)
    ]
    # Side by side with another edge, as networkx makes a plain graph of a GEXF file without such a pair.
    graph = InteractionGraph("s", HOME, Mode.FULL, pages, [*ways, way(98, *pages[:2]), way(99, *pages[:2])])

    export_graph(graph, folder / "g.graphml", "graphml")
    export_graph(graph, folder / "g.gexf", "gexf")
    export_graph(graph, folder / "g.json", "json")

    assert same_graph(nx.read_graphml(folder / "g.graphml", force_multigraph=True), flat_graph(graph))
    assert same_graph(nx.read_gexf(folder / "g.gexf"), flat_graph(graph))
    data = json.loads((folder / "g.json").read_bytes())
    assert same_graph(nx.node_link_graph(data, edges="edges"), flat_graph(graph))
    assert set(read_graph(folder / "g.json").pages) == {one.id for one in pages}


def test_read_graph_restores_the_whole_graph(tmp_path: Path):
    first = small_graph()
    nodes = list(first.nodes)
    merge = GraphEdit(id="d1", kind=GraphEditKind.MERGE, members=(nodes[0], nodes[1]), author="me", at=1.0)
    graph = small_graph([merge])
    export_graph(graph, tmp_path / "g.json")

    back = read_graph(tmp_path / "g.json")

    assert (back.site, back.home, back.mode) == (graph.site, graph.home, graph.mode)
    assert back.pages == graph.pages
    assert back.transitions == graph.transitions
    assert back.nodes == graph.nodes
    assert len(back.nodes) == 2


def test_a_single_edge_keeps_its_id_in_gexf(tmp_path: Path):
    home, cups = page("/"), page("/cups")
    graph = InteractionGraph("shop", HOME, Mode.FULL, [home, cups], [way(7, home, cups)])
    export_graph(graph, tmp_path / "g.gexf", "gexf")
    assert nx.read_gexf(tmp_path / "g.gexf").edges[home.id, cups.id]["id"] == f"t{7:016x}"


def test_webnavigator_form_is_json_and_keeps_every_transition(tmp_path: Path):
    export_graph(small_graph(), tmp_path / "g.json", "webnavigator")
    data = json.loads((tmp_path / "g.json").read_bytes())
    assert len(data["edges"]) == 5
    assert len(data["actions"]) == 5
    opened = data["actions"][f"{2:016x}"][0]
    assert opened == {
        "action_type": "goto",
        "object": {"type": "WebMetadata", "identifier": "http://shop.example/cups"},
        "params": {"value": "http://shop.example/cups"},
    }
    assert {kind["action_type"] for (kind,) in data["actions"].values()} == {"click", "goto", "input"}
    assert sorted(node["can_arrival_directly"] for node in data["nodes"].values()) == [False, False, True]


def test_xml_forms_are_well_formed_without_control_characters(tmp_path: Path):
    odd = page("/", title="a\x00b\x0b\r\n<c>\ud800&")
    graph = InteractionGraph("shop", HOME, Mode.FULL, [odd], [])
    for form in ("graphml", "gexf"):
        export_graph(graph, tmp_path / form, form)
        assert ElementTree.parse(tmp_path / form).getroot() is not None
    assert nx.read_graphml(tmp_path / "graphml").nodes[odd.id]["label"] == "a\ufffdb\ufffd\ufffd\n<c>\ufffd&"


def test_an_unknown_export_format_is_an_error_with_the_known_ones(tmp_path: Path):
    with pytest.raises(UsageError, match="graphml, gexf, webnavigator"):
        export_graph(small_graph(), tmp_path / "g.dot", "dot")


def test_export_to_a_missing_folder_is_an_input_error_without_leftovers(tmp_path: Path):
    with pytest.raises(InputError, match="can't be written"):
        export_graph(small_graph(), tmp_path / "no" / "g.json")
    assert list(tmp_path.iterdir()) == []


def test_an_existing_file_is_replaced_atomically(tmp_path: Path):
    out = tmp_path / "g.json"
    out.write_text("old")
    export_graph(small_graph(), out)
    assert read_graph(out).site == "shop"
    assert list(tmp_path.iterdir()) == [out]


@pytest.mark.parametrize("part", [0.0, 0.1, 0.5, 0.9, 0.999])
def test_a_truncated_file_is_an_input_error(tmp_path: Path, part: float):
    out = tmp_path / "g.json"
    export_graph(small_graph(), out)
    whole = out.read_bytes()
    out.write_bytes(whole[: int(len(whole) * part)])
    with pytest.raises(InputError) as failure:
        read_graph(out)
    assert failure.value.exit_code == 3
    assert str(out) in str(failure.value)


def changed(out: Path, **fields) -> Path:
    export_graph(small_graph(), out)
    out.write_text(json.dumps(json.loads(out.read_bytes()) | fields))
    return out


def test_a_newer_version_is_an_error_with_a_remedy(tmp_path: Path):
    with pytest.raises(InputError, match=r"version 2.*reads up to 1.*update Sitelore"):
        read_graph(changed(tmp_path / "g.json", version=2))


@pytest.mark.parametrize("fields", [{"format": "other"}, {"format": None}, {"version": "1"}])
def test_another_json_file_is_an_input_error(tmp_path: Path, fields: dict):
    with pytest.raises(InputError, match=r"not a graph exported|not an exported graph"):
        read_graph(changed(tmp_path / "g.json", **fields))


def test_a_damaged_state_is_named_by_its_place(tmp_path: Path):
    out = tmp_path / "g.json"
    export_graph(small_graph(), out)
    data = json.loads(out.read_bytes())
    data["pages"][1]["keys"] = "none"
    out.write_text(json.dumps(data))
    with pytest.raises(InputError, match=r"damaged at pages\.1\.keys"):
        read_graph(out)


@pytest.mark.parametrize("text", ["", "[]", "null", "[" * 100_000, "\x80abc", '{"format": "sitelore-graph"}'])
def test_anything_else_is_an_input_error(tmp_path: Path, text: str):
    (tmp_path / "g.json").write_text(text, encoding="latin-1")
    with pytest.raises(InputError):
        read_graph(tmp_path / "g.json")


def test_a_missing_file_is_an_input_error(tmp_path: Path):
    with pytest.raises(InputError, match="can't be read"):
        read_graph(tmp_path / "none.json")


def test_transitions_to_states_that_are_not_there_are_left_out(tmp_path: Path):
    out = tmp_path / "g.json"
    export_graph(small_graph(), out)
    data = json.loads(out.read_bytes())
    data["transitions"][0]["target"] = "f" * 16
    out.write_text(json.dumps(data))
    assert sum(len(read_graph(out).outgoing(node)) for node in read_graph(out).nodes) == 4
