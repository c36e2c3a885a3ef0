"""Stores an exploration step by step: contents as blobs first, then one transaction for the step."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

import orjson

from app.engine.api.graph_api import DepthRow
from app.engine.core.page_state import Element, PageState
from app.engine.core.trajectory import add_blob
from app.engine.graph.explore.exploration_store import GraphTransaction, PageContents, StoredExploration
from app.engine.services.core import Core, on_store
from app.engine.store.blob_store import PackedBlob, pack_blobs
from app.engine.store.graph.graph_store import GraphStore
from app.engine.store.run_files import type_adapter


class StoredGraphRecorder:
    """The recorder of one site's graph (``app.engine.graph.explore.exploration_store.ExplorationStore``)."""

    def __init__(self, core: Core, site: str) -> None:
        self._core, self._site = core, site

    async def memory(self) -> StoredExploration:
        """Return everything stored."""
        return await self._core.on_store(lambda: _stored_graph(self._store()))

    @on_store
    def begin(self, home: str, options: dict[str, object], at: float) -> int:
        """Start an exploration; the previous frontier is dropped."""
        store = self._store()
        with store.batch():
            store.clear_frontier()
            return store.begin_exploration(home, options, at)

    async def resume(self, exploration: int) -> None:
        """Resume an exploration."""
        await self._core.on_store(lambda: self._store().reopen_exploration(exploration))

    async def end(self, exploration: int, ended: str, at: float, depths: Sequence[DepthRow]) -> None:
        """Store how an exploration ended."""
        await self._core.on_store(lambda: self._store().end_exploration(exploration, ended, at, depths))

    async def begin_update(self, home: str, options: dict[str, object], at: float) -> int:
        """Start an exploration that continues from the stored graph and keeps its frontier."""
        return await self._core.on_store(lambda: self._store().begin_exploration(home, options, at))

    async def mark_gone(self, pages: Collection[str], transitions: Collection[str], at: float) -> None:
        """Mark states and transitions that are no longer there."""
        await self._core.on_store(lambda: self._store().mark_gone(pages, transitions, at))

    async def elements(self, page: str) -> tuple[Element, ...]:
        """Return the elements of a stored state; none for an unknown one."""

        def reading() -> bytes:
            found = self._store().page(page)
            return self._core.workspace.runs.read_blob(found.elements) if found and found.elements else b"[]"

        return read_elements(await self._core.on_store(reading))

    async def save(self, entry: GraphTransaction) -> None:
        """Store one step whole."""
        states, packed = await self._core.on_worker(_prepare, entry)
        await self._core.on_store(self._write, entry, states, packed)

    def _write(self, entry: GraphTransaction, states: list[PageState], packed: list[PackedBlob]) -> None:
        store = self._store()
        if packed:
            # A blob without its state costs room and nothing else; a state without its blob would be a hole.
            self._core.workspace.runs.blobs.add(packed)
        with store.batch():
            for state in states:
                store.put_page(state)
            for page in entry.seen:
                store.touch(page, entry.at)
            for transition, attempt in entry.transitions:
                store.record(transition, attempt)
            store.put_frontier(entry.items)

    def _store(self) -> GraphStore:
        return self._core.workspace.graph(self._site)


def read_elements(data: bytes) -> tuple[Element, ...]:
    """Decode the stored elements of a page."""
    return type_adapter(tuple[Element, ...]).validate_python(orjson.loads(data)) if data else ()


def _stored_graph(store: GraphStore) -> StoredExploration:
    explorations = store.explorations()
    last = explorations[-1] if explorations else None
    return StoredExploration(
        states=tuple(store.pages()),
        transitions=tuple(store.transitions()),
        items=tuple(store.frontier()),
        exploration=last.number if last is not None else 0,
        home=last.home if last is not None else "",
        ended=last.ended if last is not None else "",
        options=last.options if last is not None else None,
        depths=last.depth_rows if last is not None else (),
    )


def _prepare(entry: GraphTransaction) -> tuple[list[PageState], list[PackedBlob]]:
    """Return states that name their contents, and the compressed contents."""
    blobs: dict[str, bytes] = {}

    def keep(content: bytes) -> str:
        return add_blob(blobs, content) if content else ""

    def named(state: PageState, contents: PageContents | None) -> PageState:
        if contents is None:
            return state
        return replace(
            state,
            elements=keep(orjson.dumps(list(contents.elements))),
            text=keep(contents.text.encode("utf-8", "replace")),
            picture=keep(contents.picture),
            thumbnail=keep(contents.thumbnail),
        )

    states = [named(state, contents) for state, contents in entry.states]
    return states, pack_blobs(blobs)
