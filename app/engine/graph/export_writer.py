"""Writes an interaction graph for other programs.

``json``         networkx' node-link form with all Sitelore attributes: ``export_reader`` restores the graph from it
``graphml``      for ``networkx.read_graphml(path, force_multigraph=True)``, yEd, igraph
``gexf``         for Gephi and ``networkx.read_gexf`` (which makes a plain DiGraph if no two edges are parallel)
``webnavigator`` nodes, actions and edges with WebNavigator's names, as JSON and never as a pickle

In all of them a node is a node of the map and an edge is a transition; its key and ``id`` are ``t`` and the
transition's id, because networkx turns a key of digits into a number.  Attributes are texts, numbers and booleans, so
that all of them are read back equal; characters that XML can't hold become U+FFFD.
"""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Callable, Mapping
from dataclasses import asdict
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from app.engine.core.page_state import PageState
from app.engine.core.transition import Operation, Transition
from app.engine.graph.graph import InteractionGraph
from app.errors import InputError, UsageError

if TYPE_CHECKING:
    import networkx

FORMAT, VERSION = "sitelore-graph", 1
_NO_XML = re.compile("[^\t\n\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_DIRECT = {True: "yes", False: "no", None: "unknown"}
_WEBNAVIGATOR_VERBS = {Operation.OPEN: "goto", Operation.TYPE: "input", Operation.SELECT: "select"}


def export_graph(graph: InteractionGraph, out: Path, form: str = "json") -> int:
    """Write a graph atomically; return the number of its nodes.

    Raises:
        UsageError: there is no such form.
        InputError: the file can't be written.
    """
    if form not in _FORMS:
        raise UsageError(f"there is no form {form!r} for graphs", remedy=f"one of {', '.join(_FORMS)}")
    data = _FORMS[form](graph)
    draft = out.with_name(f".{out.name}.{uuid.uuid4().hex[:8]}")
    try:
        draft.write_bytes(data)
        draft.replace(out)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise InputError(
            f"the graph can't be written: {error.strerror or error}",
            path=str(out),
            remedy="check folder and space",
        ) from error
    return len(graph.nodes)


def flat_graph(graph: InteractionGraph) -> networkx.MultiDiGraph[str]:
    """Return the graph with plain attributes only, as every form holds them."""
    import networkx

    flat: networkx.MultiDiGraph[str] = networkx.MultiDiGraph(
        format=FORMAT, version=VERSION, site=_text(graph.site), home=_text(graph.home), mode=graph.mode.value
    )
    flat.add_nodes_from((node, _node(graph.pages_of(node))) for node in graph.nodes)
    for node in graph.nodes:
        flat.add_edges_from(
            (node, graph.node_of(found.target), f"t{found.id}", _edge(found))  # pyright: ignore[reportArgumentType] its stub knows no keys
            for found in graph.outgoing(node)
        )
    return flat


def _node(pages: tuple[PageState, ...]) -> dict[str, Any]:
    first = next((page for page in pages if not page.gone_at), pages[0])
    return {
        "label": _text(first.title or first.keys.url),
        "url": _text(first.url),
        "template": _text(first.keys.template),
        "depth": min(page.depth for page in pages),
        "pages": len(pages),
        "elements": len(first.element_keys),
        "direct": _DIRECT[first.direct],
        "challenge": first.challenge.value,
        "status": first.status,
        "found_by": first.source.value,
        "first_seen": float(min(page.first_seen for page in pages)),
        "last_seen": float(max(page.last_seen for page in pages)),
        "gone": all(page.gone_at for page in pages),
    }


def _edge(found: Transition) -> dict[str, Any]:
    locator = found.locator
    return {
        "id": f"t{found.id}",
        "operation": found.operation.value,
        "value": _text(found.value),
        "role": _text(locator.role) if locator else "",
        "name": _text(locator.name) if locator else "",
        "css": _text(locator.css) if locator else "",
        "xpath": _text(locator.xpath) if locator else "",
        "attempts": found.attempts,
        "successes": found.successes,
        "seconds": float(found.seconds),
        "risk": float(found.risk),
        "found_by": found.found_by.value,
        "last_arrival": _text(found.last_arrival),
        "last_divergence": _text(found.last_divergence),
    }


def _json(graph: InteractionGraph) -> bytes:
    import networkx

    document: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        **networkx.node_link_data(flat_graph(graph), edges="edges"),
        "pages": list(graph.pages.values()),
        "transitions": list(graph.transitions.values()),
        "decisions": list(graph.decisions),
    }
    return _encoded(document)


def _graphml(graph: InteractionGraph) -> bytes:
    import networkx

    out = BytesIO()
    networkx.write_graphml_xml(flat_graph(graph), out)
    return out.getvalue()


def _gexf(graph: InteractionGraph) -> bytes:
    import networkx

    out = BytesIO()
    networkx.write_gexf(flat_graph(graph), out)
    return out.getvalue()


def _webnavigator(graph: InteractionGraph) -> bytes:
    edges = [(node, found) for node in graph.nodes for found in graph.outgoing(node)]
    return _encoded(
        {
            "format": "webnavigator-graph",
            "version": VERSION,
            "domain": graph.home,
            "nodes": {node: _webnavigator_node(graph.pages_of(node)) for node in graph.nodes},
            "actions": {found.id: [_webnavigator_action(found)] for _, found in edges},
            "edges": [[node, graph.node_of(found.target), found.id] for node, found in edges],
        }
    )


def _webnavigator_node(pages: tuple[PageState, ...]) -> dict[str, Any]:
    first = next((page for page in pages if not page.gone_at), pages[0])
    return {
        "url": first.url,
        "title": first.title,
        "can_arrival_directly": first.direct is True,
        "screen_path": first.picture,
    }


def _webnavigator_action(found: Transition) -> dict[str, Any]:
    kind = _WEBNAVIGATOR_VERBS.get(found.operation, found.operation.value)
    xpath = found.locator.xpath if found.locator else ""
    where = {"type": "WebMetadata", "identifier": found.value}
    if found.operation is not Operation.OPEN:
        where = {"type": "StatefulTreeNode", "identifier": f"xpath:{xpath}"}
    return {"action_type": kind, "object": where, "params": {"value": found.value} if found.value else {}}


_FORMS: Mapping[str, Callable[[InteractionGraph], bytes]] = {
    "json": _json,
    "graphml": _graphml,
    "gexf": _gexf,
    "webnavigator": _webnavigator,
}


def _text(text: str) -> str:
    return _NO_XML.sub("\ufffd", text)


def _encoded(document: Mapping[str, Any]) -> bytes:
    try:
        return orjson.dumps(document, option=orjson.OPT_INDENT_2)
    except TypeError:  # a lone surrogate in a page's text
        text = json.dumps(document, default=asdict, ensure_ascii=False)
        return text.encode("utf-8", "replace")
