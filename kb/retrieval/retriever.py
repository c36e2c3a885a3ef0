"""Retrieval over a set of tips, live or frozen: the same class, hence the same answers."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from kb.encoder import Encoder
from kb.retrieval.anchors import PageControls
from kb.retrieval.cascade import (
    LEAST_TOKENS,
    PartScores,
    RetrievalSettings,
    points_of,
    score_of,
    sums,
    take,
)
from kb.retrieval.destinations import PageNames
from kb.retrieval.embedding import Matrix, cached_vectors, encode_cached
from kb.retrieval.reasons import QueryScores, why_found, why_missed
from kb.retrieval.scopes import QueryLocation
from kb.retrieval.table import Rows, TipColumns
from kb.retrieval.terms import QueryTerms, page_summary, page_words, query_terms, task_texts, tip_text
from kb.retrieval.url import parse_address
from kb.tip import PARTLY, RETRIEVABLE, Missed, Query, Retrieval, Retrieved, Status, Tip
from kb.vectors import VectorCache

_REMEMBERED_QUERIES = 1_024
NO_ENCODER = "no encoder is loaded: searched by address and words only"


class Retriever:
    """Answers queries over tips by the rule in ``kb.retrieval.cascade``.

    Methods may be called from several threads; each holds a lock for as long as it works, except that encoding runs
    outside it.  Encoding blocks (1 ms a short text), so with an encoder construct and change it on a worker thread.

    Args:
        tips: all tips, whatever their status.
        hosts: host globs of each site (``{"gitlab": ["*:8023"]}``); the default if a scope names no host.
        encoder: enables the embedding route; without it two routes work and every answer says so.
        vectors: the cache of vectors.
        withheld: returns why a tip is withheld from agents, "" if it isn't; such a tip is only listed as missed.
        waits: whether tips that lack a vector are encoded before anything is answered.  Otherwise the embedding route
            finds those that have one, every answer says how many have none, and ``take_vectors`` loads vectors
            encoded meanwhile.

    Tips of other statuses than those delivered are never encoded; their cached vectors are used.
    """

    def __init__(
        self,
        tips: Iterable[Tip],
        hosts: Mapping[str, Sequence[str]] | None = None,
        encoder: Encoder | None = None,
        vectors: VectorCache | None = None,
        settings: RetrievalSettings | None = None,
        withheld: Callable[[Tip], str] | None = None,
        waits: bool = True,
    ) -> None:
        self._withheld, self._waits = withheld, waits
        self._kept_back: dict[int, str] = {}
        self._unencoded: set[int] = set()
        self.lock = threading.RLock()
        self._hosts = {site: tuple(globs) for site, globs in (hosts or {}).items()}
        self.settings = settings or RetrievalSettings()
        self.table = TipColumns(tips, self._hosts)
        self.encoder: Encoder | None = None
        self.vectors: VectorCache | None = None
        self._no_encoder = NO_ENCODER
        self._queries: OrderedDict[str, Matrix] = OrderedDict()
        self.version = 0
        if encoder is not None:
            self.set_encoder(encoder, vectors)

    def update(self, tips: Iterable[Tip]) -> None:
        """Add tips or replace those with the same id; the cost depends on their number, not on the base's size."""
        tips = list(tips)
        self._encode_tips(tips)  # outside the lock, into the cache
        with self.lock:
            first = len(self.table.tips)
            vectors, lacking = self._encode_tips(tips)
            self.table.put(tips, vectors)
            self._unencoded.update(first + row for row in lacking)
            self._changed()

    def take_vectors(self) -> None:
        """Load missing vectors from the cache."""
        with self.lock:
            rows = sorted(self._unencoded)
            if self.encoder is None or not rows:
                return
            texts = [tip_text(self.table.tips[row]) for row in rows]
            vectors, known = cached_vectors(self.encoder, texts, self.vectors)
            fresh = [row for row, is_known in zip(rows, known, strict=True) if is_known]
            self.table.replace_vectors(fresh, vectors[known])
            self._unencoded.difference_update(fresh)
            if fresh:
                self.version += 1

    def remove(self, ids: Iterable[str]) -> None:
        """Remove tips; unknown ids are ignored."""
        with self.lock:
            for tip in ids:
                self.table.drop(tip)
            self._changed()

    def set_hosts(self, hosts: Mapping[str, Sequence[str]]) -> None:
        """Replace the sites' host globs."""
        with self.lock:
            self._hosts = {site: tuple(globs) for site, globs in hosts.items()}
            self._rebuild()

    def set_encoder(
        self,
        encoder: Encoder | None,
        vectors: VectorCache | None = None,
        reason: str = NO_ENCODER,
        progress: Callable[[int, int], None] | None = None,
    ) -> None:
        """Enable the embedding route, or disable it with a ``reason`` for people.  Blocks while tips are encoded."""
        matrix, lacking = None, list[int]()
        with self.lock:
            version, tips = self.version, list(self.table.tips)
        if encoder is not None:
            matrix, lacking = self._vectors_of(encoder, vectors, tips, progress)
        with self.lock:
            self.encoder, self.vectors, self._no_encoder = encoder, vectors, reason
            self._queries.clear()
            if version != self.version:
                matrix, lacking = self._encode_tips(self.table.tips)
            self.table.set_vectors(matrix)
            self._unencoded = set(lacking)
            self.version += 1

    def encode_later(self, encoder: Encoder, vectors: VectorCache) -> None:
        """Enable the embedding route with the vectors that are cached; ``take_vectors`` loads those made later."""
        self._waits = False
        self.set_encoder(encoder, vectors)

    def _encode_tips(self, tips: Sequence[Tip]) -> tuple[Matrix | None, list[int]]:
        """Vectors of the tips, and the positions of those that should have one and have none yet."""
        if self.encoder is None:
            return None, []
        return self._vectors_of(self.encoder, self.vectors, tips)

    def _vectors_of(
        self,
        encoder: Encoder,
        cache: VectorCache | None,
        tips: Sequence[Tip],
        progress: Callable[[int, int], None] | None = None,
    ) -> tuple[Matrix, list[int]]:
        matrix, known = cached_vectors(encoder, [tip_text(tip) for tip in tips], cache)
        lacking = [row for row, tip in enumerate(tips) if not known[row] and tip.status in RETRIEVABLE]
        if lacking and self._waits:
            matrix[lacking] = encode_cached(
                encoder, [tip_text(tips[row]) for row in lacking], cache, progress
            )
            lacking = []
        return matrix, lacking

    def _changed(self) -> None:
        self.version += 1
        if self.table.is_mostly_dead:
            self._rebuild()

    def _rebuild(self) -> None:
        tips = [self.table.tips[row] for row in sorted(self.table.row_of.values())]
        self.table = TipColumns(tips, self._hosts)
        vectors, lacking = self._encode_tips(tips)
        self.table.set_vectors(vectors)
        self._kept_back, self._unencoded = {}, set(lacking)
        self.version += 1

    def _reason_to_withhold(self, row: int) -> str:
        """Why a row's tip is withheld; computed once a row, and only for tips that would be delivered."""
        if self._withheld is None:
            return ""
        if row not in self._kept_back:
            self._kept_back[row] = self._withheld(self.table.tips[row])
        return self._kept_back[row]

    def vector_of(self, text: str, keep: bool = True) -> Matrix | None:
        """A query's vector of shape (dim,), remembered for the last 1,024 texts; None without encoder or text.

        ``keep`` stores it with the tips' vectors too: for tasks, which come again, and not for pages.
        """
        encoder = self.encoder
        if encoder is None or not text.strip():
            return None
        with self.lock:
            if text in self._queries:
                self._queries.move_to_end(text)
                return self._queries[text]
        vector = encode_cached(encoder, [text], self.vectors if keep else None)[0]
        with self.lock:
            if encoder is self.encoder:
                self._queries[text] = vector
                if len(self._queries) > _REMEMBERED_QUERIES:
                    self._queries.popitem(last=False)
        return vector

    def retrieve(
        self,
        query: Query,
        k: int | None = None,
        vector: Matrix | None = None,
        statuses: Collection[Status] = RETRIEVABLE,
        budget: int | None = None,
    ) -> Retrieval:
        """Return the tips to deliver for a query within the token budget, with their reasons.

        Args:
            k: at most so many; None: as many as the budget allows.
            vector: the query text's vector if the caller has it; else it is looked up or encoded.
            statuses: which tips are delivered; others that would have been are listed as missed.
            budget: tokens, instead of the settings' budget.
        """
        if vector is None:
            vector = self.vector_of(query.text)
        budget = self.settings.token_budget if budget is None else budget
        with self.lock:
            found = self._find(query, vector)
            deliverable = self.table.has_status(found.rows, statuses)
            chosen, used = self._choose(found, deliverable, k, budget)
            while withheld := [at for at in chosen if self._reason_to_withhold(int(found.rows[at]))]:
                deliverable[withheld] = False
                chosen, used = self._choose(found, deliverable, k, budget)
            results = tuple(self._result(found, position) for position in chosen)
            missed = self._missed(found, deliverable, set(chosen), k, budget, used)
            routes_off = self._routes_off(found, query)
        return Retrieval(
            results=results,
            missed=missed,
            tokens=used,
            budget=budget,
            routes_off=routes_off,
            note=self._note(found.place),
        )

    def _note(self, place: QueryLocation) -> str:
        """Explain that an address is on a host of no site, and list known hosts: those of a site it names first."""
        if place.address is None or place.site or not any(self._hosts.values()):
            return ""
        host = place.address.host
        if self.table.sites.of(host):
            return ""
        named = [site for site in sorted(self._hosts) if self._hosts[site] and site.lower() in host.lower()]
        sites = named or [site for site in sorted(self._hosts) if self._hosts[site]][:3]
        known = "; ".join(f"known for {site}: {', '.join(self._hosts[site][:3])}" for site in sites)
        return f"{host} is not a known host; {known}"

    def _routes_off(self, found: QueryScores, query: Query) -> dict[str, str]:
        """Why the embedding route is off, or covers only a part of the tips."""
        if self.encoder is None:
            return {"embedding": self._no_encoder}
        if not self._unencoded or not query.text.strip():
            return {}
        lacking = len(self._unencoded.intersection(found.rows.tolist()))
        tips = int(np.count_nonzero(self.table.has_status(found.rows, RETRIEVABLE)))
        said = f"{PARTLY}: {lacking:,} of {tips:,} tips are not encoded yet"
        return {"embedding": f"{said}; those are searched by address and words"} if lacking else {}

    def _find(self, query: Query, vector: Matrix | None) -> QueryScores:
        """Score every considered row on all routes."""
        table = self.table
        place = QueryLocation(parse_address(query.url), query.site, query.sites)
        rows, url = table.considered(place)
        seen = PageControls.of(query)
        parts = self._parts(query, vector, place, rows, url, seen)
        terms = query_terms(" ".join(task_texts(query)))
        summed = sums(parts)
        page = PageNames.of(query, place.address)
        if page.names:
            near = points_of(self.settings.threshold - self.settings.near)
            reached = np.array([total >= near for total in summed.total.tolist()], dtype=bool)
            reached[reached] = [table.is_reached(row, page) for row in rows[reached].tolist()]
            parts = replace(parts, reached=reached)
            summed = sums(parts)
        rank = table.ranked(rows, summed.total, self.settings)
        return QueryScores(place, terms, rows, parts, summed, rank, table.vocabulary, seen)

    def _parts(
        self,
        query: Query,
        vector: Matrix | None,
        place: QueryLocation,
        rows: Rows,
        url: NDArray[np.float64],
        seen: PageControls,
    ) -> PartScores:
        table = self.table
        texts = task_texts(query)
        meaning = table.embedding_scores(rows, vector)
        if query.subgoal.strip():
            aim = table.embedding_scores(rows, self.vector_of(query.subgoal, keep=False))
            meaning = np.maximum(meaning, aim)
        summary = page_summary(query)
        none = np.zeros(1)
        return PartScores(
            url=url,
            words=self._best(table.keyword_scores, texts, rows),
            condition=self._best(table.condition_scores, (query.text, query.subgoal), rows),
            answer=table.answer_scores(query.text)[rows],
            meaning=meaning,
            page_words=self._best(table.keyword_scores, (page_words(query),), rows),
            page_meaning=table.embedding_scores(rows, self.vector_of(summary, keep=False))
            if summary
            else none,
            anchor=table.anchor_scores(seen, place, dict(query.looks))[rows]
            if seen.controls or query.looks
            else none,
            record=table.record_points(rows),
            beside=table.beside_topic(query.text)[rows],
            reached=np.zeros(1, dtype=bool),
        )

    def _best(
        self, scores: Callable[[QueryTerms], NDArray[np.float64]], texts: Sequence[str], rows: Rows
    ) -> NDArray[np.float64]:
        """The best score of several texts for some rows."""
        best = np.zeros(len(rows))
        for terms in map(query_terms, texts):
            if terms.weights:
                best = np.maximum(best, scores(terms)[rows])
        return best

    def part_scores(self, query: Query) -> tuple[list[str], PartScores]:
        """The ids and scores of the tips the gate admits: what the constants are fitted to."""
        vector = self.vector_of(query.text)
        with self.lock:
            found = self._find(query, vector)
            return [self.table.tips[row].id for row in found.rows.tolist()], found.parts

    def rankings(
        self, queries: Sequence[Query], depth: int, statuses: Collection[Status] = RETRIEVABLE
    ) -> Iterator[tuple[Rows, Rows]]:
        """For each query, before any cut: the ranks and rows of its ``depth`` first tips, best first.

        For many queries that share texts and addresses.  Hold ``lock`` while iterating.
        """
        table, settings = self.table, self.settings
        pages: dict[tuple[str, str], tuple[Rows, NDArray[np.float64]]] = {}
        every = np.arange(len(table.tips))
        text, nothing = None, np.zeros(len(every))
        keyword = condition = answer = embedding = nothing
        beside = nothing.astype(bool)
        for query in queries:
            if query.text != text:
                text, terms, vector = query.text, query_terms(query.text), self.vector_of(query.text)
                keyword = table.keyword_scores(terms) if terms.weights else nothing
                condition = table.condition_scores(terms)
                answer, beside = table.answer_scores(text), table.beside_topic(text)
                embedding = table.embedding_scores(every, vector)
            page = pages.get((query.url, query.site))
            if page is None:
                rows, url = table.considered(QueryLocation(parse_address(query.url), query.site))
                wanted = table.has_status(rows, statuses)
                page = pages[(query.url, query.site)] = (rows[wanted], url[wanted])
            rows, url = page
            record = table.record_points(rows)
            scores = (url, keyword[rows], embedding[rows], condition[rows])
            parts = PartScores.of(*scores, record=record, answer=answer[rows], beside=beside[rows])
            rank = table.ranked(rows, sums(parts).total, settings)
            top = _top(rank, depth)
            while withheld := [at for at in top.tolist() if self._reason_to_withhold(int(rows[at]))]:
                rank[withheld] = -1
                top = _top(rank, depth)
            yield rank[top], rows[top]

    def _choose(
        self, found: QueryScores, deliverable: NDArray[np.bool_], k: int | None, budget: int
    ) -> tuple[list[int], int]:
        """Positions (into the considered rows) to deliver; searches deeper if the budget skips many."""
        rank = np.where(deliverable, found.rank, -1)
        depth = max(64, 4 * (k or 0))
        while True:
            order = _top(rank, depth)
            tokens = [self.table.tokens[found.rows[position]] for position in order]
            taken, used = take(tokens, k, budget)
            enough = len(taken) == k or used + LEAST_TOKENS > budget
            if enough or len(order) < depth:
                return [int(order[position]) for position in taken], used
            depth *= 8

    def _result(self, found: QueryScores, position: int) -> Retrieved:
        table = self.table
        row = int(found.rows[position])
        added = found.sums.routes_at(position)
        tip = table.tips[row]
        score = score_of(int(found.rank[position]))
        routes = {route.value: found.score_of(route, position) for route in added}
        why = why_found(tip, table.terms[row], found, position, added, score)
        return Retrieved(
            tip=tip, route=next(iter(added)), score=score, why=why, routes=routes, tokens=table.tokens[row]
        )

    def _missed(
        self,
        found: QueryScores,
        deliverable: NDArray[np.bool_],
        chosen: set[int],
        k: int | None,
        budget: int,
        used: int,
    ) -> tuple[Missed, ...]:
        """Near misses, the nearest first."""
        settings = self.settings
        if not settings.missed:
            return ()
        eager = replace(settings, threshold=max(0.0001, settings.threshold - settings.near))
        rank = self.table.ranked(found.rows, found.sums.total, eager)
        missed: list[Missed] = []
        for position in _top(rank, settings.missed + len(chosen)):
            if int(position) in chosen or len(missed) == settings.missed:
                continue
            row = int(found.rows[position])
            tip = self.table.tips[row]
            would_be = tip.status in RETRIEVABLE and found.rank[position] >= 0
            reason = (self._reason_to_withhold(row) if would_be else "") or why_missed(
                tip,
                score_of(int(rank[position])),
                bool(deliverable[position]),
                settings,
                full=k is not None and len(chosen) >= k,
                tokens=self.table.tokens[row],
                left=budget - used,
            )
            missed.append(Missed(tip=tip, reason=reason, routes=found.all_scores(int(position))))
        return tuple(missed)


def _top(rank: Rows, count: int) -> Rows:
    """Positions of the highest ranks, highest first, without those of -1."""
    if len(rank) > count:
        best = np.argpartition(rank, len(rank) - count)[len(rank) - count :]
    else:
        best = np.arange(len(rank))
    best = best[rank[best] >= 0]
    return best[np.argsort(-rank[best], kind="stable")]
