"""Pre-flight: in how many stored steps would a tip have been retrieved if it were active?

The answer equals that of ``Retriever.retrieve`` with the tip added, asked at every step with its address and task
(stored steps are not asked about what their pages show), including cuts by count and budget; it is exact, because
every score depends on the query and one tip alone and adding a tip never changes the order of the others
(``kb.retrieval.cascade``).  So the draft is scored against each distinct address and each distinct goal once, and put
into the ranking of the others only if a route finds it.  Those rankings are computed on first use and cached until
the knowledge base changes.  A new draft counts as the youngest tip: on a full tie the others come first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kb.encoder import Encoder
from kb.retrieval.answers import asks_for_an_answer, is_beside, tells_how_to_answer, topics
from kb.retrieval.cascade import (
    MOST_TIPS,
    PartScores,
    estimate_tokens,
    ranks,
    score_of,
    sums,
    take,
    with_place,
)
from kb.retrieval.conditions import GoalConditions
from kb.retrieval.embedding import Matrix, cosines, encode_cached, whole_numbers
from kb.retrieval.keyword import GoalIndex, keyword_scores
from kb.retrieval.retriever import Retriever
from kb.retrieval.scopes import QueryLocation, Sites
from kb.retrieval.terms import query_terms, tip_terms, tip_text
from kb.retrieval.url import compile_page_pattern, parse_address
from kb.tip import Preflight, PreflightExample, Query, Route, Scope, StoredStep, TipDraft
from kb.vectors import VectorCache

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

_DEPTH = 64
"""Ranked tips kept for each situation; if the cut needs more, the retriever is asked again."""


_FAILED_FIRST = {True: 0, None: 1, False: 2}


@dataclass(frozen=True, slots=True)
class _Draft:
    """A draft scored: per situation its unique rank (-1 if no route finds it), and whether its scope matches."""

    rank: Ints
    in_scope: NDArray[np.bool_]
    tokens: int
    routes: list[Route]


class PreflightIndex:
    """Stored steps, indexed for pre-flight of drafts.

    A *situation* is a distinct (address, site, goal); steps share them.  Not thread-safe: one caller at a time.

    Args:
        steps: past steps, in any order.
        hosts: host globs of each site, as the retriever has them.
        encoder, vectors: those of the retriever, to encode the goals ahead; ``run`` follows the retriever's anyway.
    """

    def __init__(
        self,
        steps: Sequence[StoredStep],
        hosts: Mapping[str, Sequence[str]] | None = None,
        encoder: Encoder | None = None,
        vectors: VectorCache | None = None,
    ) -> None:
        self._steps = list(steps)
        self._sites = Sites(hosts or {})
        pages: dict[tuple[str, str], int] = {}
        goals: dict[str, int] = {}
        situations: dict[tuple[int, int], int] = {}
        of_step: list[int] = []
        for step in self._steps:
            page = pages.setdefault((step.url, step.site), len(pages))
            goal = goals.setdefault(step.text, len(goals))
            of_step.append(situations.setdefault((page, goal), len(situations)))
        self._pages = [QueryLocation(parse_address(url), site) for url, site in pages]
        self._page_urls = list(pages)
        self._goals = list(goals)
        self._page_of = np.array([page for page, _ in situations], dtype=np.int64)
        self._goal_of = np.array([goal for _, goal in situations], dtype=np.int64)
        self._situation_of = np.array(of_step, dtype=np.int64)
        terms = [query_terms(goal) for goal in self._goals]
        self._goal_index, self._goal_conditions = GoalIndex(terms), GoalConditions(terms)
        self._asked = np.array([asks_for_an_answer(goal) for goal in self._goals], dtype=np.float64)
        self._standings = _Standings(len(situations))
        self._encoder: Encoder | None = None
        self._goal_vectors: Matrix | None = None
        self.set_encoder(encoder, vectors)

    def __len__(self) -> int:
        return len(self._steps)

    def set_encoder(self, encoder: Encoder | None, vectors: VectorCache | None = None) -> None:
        """Use the retriever's encoder, or none.  Blocks while goals are encoded."""
        self._encoder = encoder
        self._goal_vectors = None
        if encoder is not None:
            self._goal_vectors = whole_numbers(encode_cached(encoder, self._goals, vectors))
            self._goal_vectors[[not goal.strip() for goal in self._goals]] = 0

    def matching(self, site: str, scope: Scope) -> int:
        """Number of stored steps whose address a scope of a site matches."""
        _, url = self._by_page(site, scope)
        return int(np.count_nonzero((url > 0)[self._page_of][self._situation_of])) if self._steps else 0

    def run(
        self,
        draft: TipDraft,
        retriever: Retriever,
        tip_id: str = "",
        k: int | None = None,
        examples: int = 12,
    ) -> Preflight:
        """Return where a draft would have been retrieved; ``tip_id`` names the stored tip it would replace."""
        if not self._steps:
            return Preflight(steps=0, failed_runs=0, passed_runs=0)
        if retriever.encoder is not self._encoder:
            self.set_encoder(retriever.encoder, retriever.vectors)
        with retriever.lock:
            scored = self._score(draft, retriever, tip_id)
            candidates = np.flatnonzero(scored.rank >= 0)
            delivered = np.zeros(len(self._page_of), dtype=bool)
            delivered[candidates] = self._survives_cut(candidates, scored, retriever, tip_id, k)
        return self._report(scored, delivered, examples)

    def _by_page(self, site: str, scope: Scope) -> tuple[NDArray[np.bool_], Floats]:
        """Gate and URL score of a scope for every distinct page."""
        pattern = compile_page_pattern(scope.path, scope.query)
        admitted = np.zeros(len(self._pages), dtype=bool)
        url = np.zeros(len(self._pages))
        known: dict[tuple[str | None, str], tuple[bool, bool]] = {}
        for number, place in enumerate(self._pages):
            key = (place.address.host if place.address else None, place.site)
            gate = known.get(key)
            if gate is None:
                gate = known[key] = self._sites.admits(scope.host, site, place)
            admitted[number] = gate[0]
            if gate[1] and place.address is not None and pattern.matches(place.address):
                url[number] = pattern.score
        return admitted, url

    def _score(self, draft: TipDraft, retriever: Retriever, tip_id: str) -> _Draft:
        admitted, by_page = self._by_page(draft.site, draft.scope)
        url = by_page[self._page_of]
        keyword = keyword_scores(self._goal_index.raw_scores(tip_terms(draft)))[self._goal_of]
        condition = self._goal_conditions.scores(draft)[self._goal_of]
        answer = self._asked[self._goal_of] * tells_how_to_answer(draft)
        wanted = topics(draft)
        beside = np.array([is_beside(wanted, goal) for goal in self._goals], dtype=bool)[self._goal_of]
        embedding = np.zeros(1)
        if self._encoder is not None and self._goal_vectors is not None:
            vector = whole_numbers(encode_cached(self._encoder, [tip_text(draft)])[0])
            embedding = cosines(self._goal_vectors @ vector)[self._goal_of]
        table = retriever.table
        row = table.row_of.get(tip_id)
        record = table.record_points(np.array([row])) if row is not None else np.zeros(1, dtype=np.int64)
        parts = PartScores.of(url, keyword, embedding, condition, record=record, answer=answer, beside=beside)
        summed = sums(parts)
        rank = ranks(summed.total, retriever.settings)
        place = table.place_of(tip_id) if tip_id else min(len(table), MOST_TIPS - 1)
        unique = with_place(np.where(admitted[self._page_of], rank, -1), np.array(place))
        return _Draft(unique, url > 0, estimate_tokens(draft.text), summed.leading())

    def _survives_cut(
        self, situations: Ints, scored: _Draft, retriever: Retriever, tip_id: str, k: int | None
    ) -> NDArray[np.bool_]:
        """For situations in which a route finds the draft: whether it is among the ``k`` and within the budget."""
        budget = retriever.settings.token_budget
        most = len(retriever.table.tips) + 1 if k is None else k
        if scored.tokens > budget:
            return np.zeros(len(situations), dtype=bool)
        standings = self._standings
        standings.fill(
            situations[np.argsort(self._goal_of[situations], kind="stable")], self._query, retriever
        )
        row = retriever.table.row_of.get(tip_id, -1)
        own = scored.rank[situations]
        taken = np.zeros(len(situations), dtype=np.int64)
        used = np.zeros(len(situations), dtype=np.int64)
        for column in range(_DEPTH):
            ranked = standings.ranks[situations, column]
            if not (ranked > own).any():
                break
            before = (ranked > own) & (standings.rows[situations, column] != row)
            tokens = standings.tokens[situations, column]
            chosen = before & (taken < most) & (used + tokens <= budget)
            taken += chosen
            used += np.where(chosen, tokens, 0)
        survives = (taken < most) & (used + scored.tokens <= budget)
        for position in np.flatnonzero(survives & (standings.ranks[situations, -1] > own)):
            query = self._query(int(situations[position]))
            survives[position] = _survives_deep(
                query, retriever, row, int(own[position]), scored.tokens, most
            )
        return survives

    def _query(self, situation: int) -> Query:
        url, site = self._page_urls[int(self._page_of[situation])]
        return Query(url=url, text=self._goals[int(self._goal_of[situation])], site=site)

    def _report(self, scored: _Draft, delivered: NDArray[np.bool_], examples: int) -> Preflight:
        hit = np.flatnonzero(delivered[self._situation_of])
        steps = [self._steps[int(position)] for position in hit]
        failed_runs = {step.run for step in steps if step.failed is True}
        passed_runs = {step.run for step in steps if step.failed is False}
        return Preflight(
            steps=len(steps),
            failed_runs=len(failed_runs),
            passed_runs=len(passed_runs),
            steps_in_failed=sum(step.failed is True for step in steps),
            steps_in_passed=sum(step.failed is False for step in steps),
            in_scope=int(np.count_nonzero(scored.in_scope[self._situation_of])),
            by_route=self._by_route(hit, scored),
            examples=tuple(
                self._example(int(position), scored) for position in self._order(hit, scored)[:examples]
            ),
        )

    def _by_route(self, hit: Ints, scored: _Draft) -> dict[str, int]:
        """For each route the steps in which it adds most."""
        situations: list[int] = self._situation_of[hit].tolist()
        steps = Counter(scored.routes[situation].value for situation in situations)
        return {route.value: steps[route.value] for route in Route if route.value in steps}

    def _order(self, hit: Ints, scored: _Draft) -> list[int]:
        """Most useful steps first: of failed runs, then the first of every run, then the best ranked."""
        positions: list[int] = hit.tolist()
        ranks_of: list[int] = scored.rank[self._situation_of[hit]].tolist()
        by_rank = [at for _, at in sorted(zip((-rank for rank in ranks_of), positions, strict=True))]
        seen: dict[str, int] = {}
        order: list[tuple[int, int, int]] = []
        for at in by_rank:
            step = self._steps[at]
            nth = seen[step.run] = seen.get(step.run, 0) + 1
            order.append((_FAILED_FIRST[step.failed], nth, at))
        return [at for *_, at in sorted(order, key=lambda entry: entry[:2])]

    def _example(self, at: int, scored: _Draft) -> PreflightExample:
        step = self._steps[at]
        situation = int(self._situation_of[at])
        return PreflightExample(
            run=step.run,
            step=step.step,
            url=step.url,
            route=scored.routes[situation].value,
            score=score_of(int(scored.rank[situation])),
            failed=step.failed,
        )


class _Standings:
    """The other tips' ranking in every situation asked about so far; dropped when the knowledge base changes."""

    def __init__(self, situations: int) -> None:
        self._of: tuple[Retriever, int] | None = None
        self._filled = np.zeros(situations, dtype=bool)
        self.ranks = np.full((situations, _DEPTH), -1, dtype=np.int64)
        self.rows = np.full((situations, _DEPTH), -1, dtype=np.int64)
        self.tokens = np.zeros((situations, _DEPTH), dtype=np.int64)

    def fill(self, situations: Ints, query_of: Callable[[int], Query], retriever: Retriever) -> None:
        """Compute the rankings of some situations, ideally with equal goals adjacent."""
        if self._of is None or self._of[0] is not retriever or self._of[1] != retriever.version:
            self._of = (retriever, retriever.version)
            self._filled[:] = False
            self.ranks[:] = -1
        missing = situations[~self._filled[situations]]
        tokens = np.array(retriever.table.tokens, dtype=np.int64)
        queries = [query_of(int(situation)) for situation in missing]
        for situation, (ranked, rows) in zip(missing, retriever.rankings(queries, _DEPTH), strict=True):
            self.ranks[situation, : len(ranked)] = ranked
            self.rows[situation, : len(rows)] = rows
            self.tokens[situation, : len(rows)] = tokens[rows]
        self._filled[missing] = True


def _survives_deep(query: Query, retriever: Retriever, row: int, own: int, cost: int, k: int) -> bool:
    """The cut over the whole ranking: needed if so many tips are skipped that ``_DEPTH`` does not suffice."""
    table = retriever.table
    ranked, rows = next(iter(retriever.rankings([query], len(table.tips))))
    before: list[int] = rows[(ranked > own) & (rows != row)].tolist()
    tokens = [table.tokens[other] for other in before]
    taken, used = take(tokens, k, retriever.settings.token_budget)
    return len(taken) < k and used + cost <= retriever.settings.token_budget
