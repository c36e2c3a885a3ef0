"""Search over the states of a graph, kept in step with it, and the comparison of search methods."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from app import settings
from app.engine.api.graph_api import NodeHit, SearchComparison, StateChoices
from app.engine.graph.search import LATE, StateSearch, state_text
from app.engine.graph.search.page_text import MAX_PAGE_TEXT
from app.engine.jobs import Job
from app.engine.services.core import Core
from app.engine.services.graph_cache import GraphCache, LoadedGraph, representative_page
from app.engine.services.retrieval import RetrievalService
from app.engine.store.graph.graph_store import GraphStore
from app.errors import InputError, NotFound, UsageError

if TYPE_CHECKING:
    from app.engine.graph.search.pictures import PictureModel, PictureSearch

PICTURE = "picture"
"""Method that compares words with screenshots, by a model that the user chose."""

TEXTS_OF_A_STATE = 3
"""Page states of a merged state whose texts are indexed; the first represent it."""


class WorkerVectorCache:
    """A vector cache for a worker; its new vectors are stored in the graph's file afterwards.

    The worker may not touch the file, and the store thread should not wait for the encoder.
    """

    def __init__(self, known: Mapping[str, bytes]) -> None:
        self._known = dict(known)
        self.gained: dict[str, dict[str, bytes]] = {}

    def get_many(self, encoder_id: str, keys: Iterable[str]) -> dict[str, bytes]:
        return {key: self._known[key] for key in keys if key in self._known}

    def put_many(self, encoder_id: str, vectors: Mapping[str, bytes]) -> None:
        self._known.update(vectors)
        self.gained.setdefault(encoder_id, {}).update(vectors)


@dataclass(slots=True)
class _SiteSearch:
    search: StateSearch
    cache: WorkerVectorCache
    encoder: str
    version: int = -1
    texts: dict[str, str] = field(default_factory=dict[str, str])
    """Visible texts by digest: they are read once."""


class GraphSearchService:
    """State search, with one index a site."""

    def __init__(self, core: Core, graph_cache: GraphCache, retrieval: RetrievalService) -> None:
        self._core, self._graph_cache, self._retrieval = core, graph_cache, retrieval
        self._kept: dict[str, _SiteSearch] = {}
        self._picture_model: PictureModel | None = None
        self._pictures: dict[str, tuple[PictureSearch, WorkerVectorCache]] = {}
        self._one_at_a_time = asyncio.Lock()

    async def graph_search(self, site: str, query: str, method: str = LATE, k: int = 10) -> list[NodeHit]:
        """Return the states that match words, best first.

        Without an encoder, ``late`` and ``dense`` fall back to the best method available.
        """
        if not query.strip():
            raise UsageError("nothing to search for", remedy="say in words what the page is for")
        loaded = await self._graph_cache.load(site)
        if method == PICTURE:
            return await self._by_picture(loaded, query, k)
        async with self._one_at_a_time:
            kept = await self._ready(loaded)
            usable = kept.search.resolve_method(method) if method in ("late", "dense") else method
            hits = await self._core.on_worker(kept.search.search, query, usable, max(1, k))
        return [
            _node_hit(loaded, hit.node, hit.score, hit.matched)
            for hit in hits
            if hit.node in loaded.graph.nodes
        ]

    async def graph_choices(self, site: str, query: str, most: int = 0) -> StateChoices:
        """Return the first states for a description, the best first, and whether the map has anything like it.

        ``most`` is how many; 0 for as many as a person is shown.
        """
        if not query.strip():
            raise UsageError("nothing to search for", remedy="say in words what the page is for")
        loaded = await self._graph_cache.load(site)
        async with self._one_at_a_time:
            kept = await self._ready(loaded)
            found = await self._core.on_worker(kept.search.likely, query, *([most] if most else []))
        hits = [
            _node_hit(loaded, hit.node, hit.score, hit.matched, like.missing)
            for hit, like in found.hits
            if hit.node in loaded.graph.nodes
        ]
        return StateChoices(like=found.like and bool(hits), hits=tuple(hits))

    async def prepare_map(self, site: str) -> None:
        """Read a site's map and encode its states, so that the first search takes no longer than the next."""
        loaded = await self._graph_cache.load(site)
        async with self._one_at_a_time:
            await self._ready(loaded)

    async def graph_compare_search(self, site: str, queries: str) -> SearchComparison:
        """Compare all methods on the labelled queries of a JSON lines file."""
        from app.engine.graph.search.compare import compare, read_queries

        path = Path(queries).expanduser()
        loaded = await self._graph_cache.load(site)

        def reading() -> str:
            try:
                return path.read_text("utf-8")
            except (OSError, UnicodeError) as error:
                raise InputError(f"the queries can't be read: {error}", path=str(path)) from error

        labelled = read_queries(await self._core.on_worker(reading), str(path))
        places = {
            node: {
                part for page in loaded.graph.pages_of(node) for part in (page.keys.template, page.keys.url)
            }
            for node in _present_nodes(loaded)
        }
        async with self._one_at_a_time:
            kept = await self._ready(loaded)
            return await self._core.on_worker(compare, site, kept.search, places, labelled)

    async def _ready(self, loaded: LoadedGraph) -> _SiteSearch:
        """Return the up-to-date search index of a graph; encodes new states as a job."""
        site, encoder = loaded.graph.site, self._retrieval.encoder
        name = encoder.id if encoder is not None else ""
        kept = self._kept.get(site)
        if kept is None or kept.encoder != name:
            known = (
                await self._graph_cache.with_store(site, lambda store: store.vectors(name)) if name else {}
            )
            cache = WorkerVectorCache(known)
            kept = self._kept[site] = _SiteSearch(StateSearch(encoder, cache), cache, name)
        if kept.version == loaded.version[0]:
            return kept
        pages = {node: loaded.graph.pages_of(node) for node in _present_nodes(loaded)}
        digests = {
            node: [page.text for page in found if page.text and not page.gone_at][:TEXTS_OF_A_STATE]
            for node, found in pages.items()
        }
        new = {digest for found in digests.values() for digest in found} - kept.texts.keys()
        kept.texts.update(await self._core.on_store(self._texts, sorted(new)))
        states = [
            state_text(node, found, [kept.texts[digest] for digest in digests[node]])
            for node, found in pages.items()
        ]
        search = kept.search

        async def work(job: Job) -> None:
            await self._core.on_worker(
                search.update, states, _progress_of(job, "reading the states of the map")
            )

        _, task = self._core.registry.start(f"Search index of {site}", work)
        await task
        await self._flush(site, kept.cache)
        kept.version = loaded.version[0]
        return kept

    def _texts(self, digests: Iterable[str]) -> dict[str, str]:
        """Read the beginnings of visible texts; one that is missing is empty."""
        found: dict[str, str] = {}
        for digest in digests:
            try:
                found[digest] = self._core.workspace.runs.read_blob(digest).decode("utf-8", "replace")
            except NotFound:
                found[digest] = ""
            found[digest] = found[digest][:MAX_PAGE_TEXT]
        return found

    async def _by_picture(self, loaded: LoadedGraph, query: str, k: int) -> list[NodeHit]:
        folder = settings.load().picture_encoder
        if not folder:
            raise UsageError(
                "no picture model is set",
                remedy="name the folder of a multimodal sentence-transformers model in the settings",
            )
        digests = {
            node: representative_page(loaded.graph.pages_of(node)).picture for node in _present_nodes(loaded)
        }
        wanted = {node: digest for node, digest in digests.items() if digest}
        if not wanted:
            raise NotFound(f"the graph of {loaded.graph.site} has no pictures")
        async with self._one_at_a_time:
            search, cache = await self._picture_search(loaded.graph.site, folder)
            blob = self._core.workspace.runs.read_blob
            pictures = {node: await self._core.on_store(blob, digest) for node, digest in wanted.items()}

            async def work(job: Job) -> None:
                progress = _progress_of(job, "looking at the pictures of the map")
                await self._core.on_worker(search.update, pictures, progress)

            _, task = self._core.registry.start(f"Picture index of {loaded.graph.site}", work)
            await task
            await self._flush(loaded.graph.site, cache)
            found = await self._core.on_worker(search.search, query, k)
        return [_node_hit(loaded, node, score, ()) for node, score in found]

    async def _picture_search(self, site: str, folder: str) -> tuple[PictureSearch, WorkerVectorCache]:
        from app.engine.graph.search.pictures import PictureSearch

        model = await self._retrieval.picture_models.load(folder)
        if model is not self._picture_model:
            self._picture_model = model
            self._pictures.clear()
        if site not in self._pictures:
            cache = WorkerVectorCache(
                await self._graph_cache.with_store(site, lambda store: store.vectors(model.id))
            )
            self._pictures[site] = (PictureSearch(model, cache), cache)
        return self._pictures[site]

    async def _flush(self, site: str, cache: WorkerVectorCache) -> None:
        gained, cache.gained = cache.gained, {}
        for encoder, vectors in gained.items():
            await self._graph_cache.with_store(site, functools.partial(_put_vectors, encoder, vectors))


def _put_vectors(encoder: str, vectors: Mapping[str, bytes], store: GraphStore) -> None:
    store.put_vectors(encoder, vectors)


def _progress_of(job: Job, words: str) -> Callable[[int, int], None]:
    loop = asyncio.get_running_loop()

    def progress(done: int, total: int) -> None:
        loop.call_soon_threadsafe(job.advance, done, total, words)

    return progress


def _present_nodes(loaded: LoadedGraph) -> list[str]:
    graph = loaded.graph
    return [node for node in graph.nodes if not all(page.gone_at for page in graph.pages_of(node))]


def _node_hit(
    loaded: LoadedGraph, node: str, score: float, matched: tuple[str, ...], missing: tuple[str, ...] = ()
) -> NodeHit:
    page = representative_page(loaded.graph.pages_of(node))
    small = page.thumbnail or page.picture
    return NodeHit(
        node=node,
        title=page.title,
        url=page.url,
        score=score,
        matched=matched,
        missing=missing,
        thumbnail=small,
    )
