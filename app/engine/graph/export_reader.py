"""Reads an exported graph (``export_writer``, form ``json``) from an untrusted file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import orjson

from app.engine.core.page_state import GraphEdit, Mode, PageState
from app.engine.core.transition import Transition
from app.engine.graph.export_writer import FORMAT, VERSION
from app.engine.graph.graph import InteractionGraph
from app.engine.store.run_files import type_adapter
from app.errors import InputError

MAX_BYTES = 2**31


@dataclass(frozen=True, slots=True, kw_only=True)
class _About:
    site: str
    home: str
    mode: Mode


@dataclass(frozen=True, slots=True, kw_only=True)
class _Document:
    graph: _About
    pages: tuple[PageState, ...]
    transitions: tuple[Transition, ...]
    decisions: tuple[GraphEdit, ...] = ()


def read_graph(path: Path) -> InteractionGraph:
    """Read the graph in a file.

    Raises:
        InputError: it can't be read, is damaged or truncated, is no such graph, or of a newer version.
    """
    from pydantic import ValidationError

    raw = _parsed(path)
    version = raw.get("version")
    if raw.get("format") != FORMAT or not isinstance(version, int):
        raise InputError(
            "this is not a graph exported by Sitelore",
            path=str(path),
            remedy="sitelore graph export writes one",
        )
    if version > VERSION:
        raise InputError(
            f"this graph has version {version}; this program reads up to {VERSION}",
            path=str(path),
            remedy="update Sitelore, or export the graph again with this version",
        )
    try:
        document = type_adapter(_Document).validate_python(raw)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise InputError(
            f"the graph is damaged at {place}: {first['msg']}", path=str(path), remedy="export it again"
        ) from error
    about = document.graph
    return InteractionGraph(
        about.site, about.home, about.mode, document.pages, document.transitions, document.decisions
    )


def _parsed(path: Path) -> Mapping[str, object]:
    try:
        if path.stat().st_size > MAX_BYTES:
            raise InputError("this file is too large for a graph", path=str(path), remedy="at most 2 GB")
        data = path.read_bytes()
    except OSError as error:
        raise InputError(
            f"the graph can't be read: {error.strerror or error}", path=str(path), remedy="check the path"
        ) from error
    try:
        raw: object = orjson.loads(data)
    except ValueError as error:
        what = (
            "this file is damaged or truncated"
            if data.lstrip()[:1] == b"{"
            else "this is not an exported graph"
        )
        raise InputError(
            f"{what}: {error}", path=str(path), remedy="export the graph again as json"
        ) from error
    return cast("Mapping[str, object]", raw if isinstance(raw, dict) else {})
