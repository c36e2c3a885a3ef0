"""The map of a site, read from ``sitelore graph export``: states by their words, and the cheapest path to one.

Read is networkx' node-link form (JSON): of a node ``id``, ``label``, ``url``, ``depth``, ``direct``; of an edge
``source``, ``target``, ``operation``, ``value``, ``role``, ``name``, ``css``, ``attempts``, ``successes``, ``seconds``,
``risk``; of ``pages``, where there are any, headings and controls.  Anything may be missing; a state without an id and
an edge between unknown states are left out.  All names are the website's own words: data.

The words of a state are its title (twice), headings, controls and address; their score is that of the keyword route.
A path costs the time it is expected to take: ``(seconds + 0.3) / p``, ``p = (successes + 1.6) / (attempts + 2)``,
30 seconds for a risk of 1, one more if it was never tried; a state whose address alone leads to it may be opened from
anywhere for 4 seconds more than a click, one that nobody tried to open for 12.
"""

from __future__ import annotations

import heapq
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from kb.errors import BadFile, KbError
from kb.invisible import visible
from kb.reading import read_bytes
from kb.tip import TipDraft

MOST_BYTES = 256 * 2**20
"""Size of a graph file that is read."""

_SETTLED, _PRIOR, _USUAL, _RISK, _UNTRIED, _OPEN, _UNSURE = 0.3, 0.8, 1.0, 30.0, 1.0, 4.0, 8.0
_LONGEST_NAME, _LONGEST_URL, _MOST_NAMES = 200, 2_000, 200
_IN_ADDRESS = re.compile(r"[^\W\d_]{2,}")


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundState:
    """A state that matches words; ``score`` in [0, 1), ``matched`` are its words that answered the question's."""

    site: str
    state: str
    title: str
    url: str
    score: float
    matched: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MapMove:
    """One step of a path: the operation (click, open, type, select, hover, press), and the state it leads to.

    ``element`` is role and name, ``css`` one way to find it; both empty for ``open``, whose address is ``value``.
    """

    operation: str
    element: str = ""
    value: str = ""
    css: str = ""
    state: str = ""
    title: str = ""
    url: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MapPath:
    """The cheapest path to a state; empty if it starts there.  ``seconds`` are expected, ``risk`` is in [0, 1]."""

    site: str
    state: str
    moves: tuple[MapMove, ...]
    seconds: float
    risk: float = 0.0


@dataclass(frozen=True, slots=True)
class _State:
    id: str
    title: str
    url: str
    depth: int
    direct: bool | None
    headings: tuple[str, ...]
    controls: tuple[str, ...]

    @property
    def draft(self) -> TipDraft:
        """The state's words, for the index of the keyword route."""
        path = " ".join(_IN_ADDRESS.findall(self.url.partition("://")[2].partition("/")[2]))
        return TipDraft(
            site="",
            text="\n".join((self.title, *self.headings, *self.controls, path)),
            keywords=(self.title,),
        )


@dataclass(frozen=True, slots=True)
class _Edge:
    target: str
    cost: float
    risk: float
    move: MapMove


@dataclass(slots=True)
class SiteMap:
    """The states and transitions of one site."""

    site: str
    home: str
    states: dict[str, _State]
    edges: dict[str, list[_Edge]] = field(default_factory=dict[str, list[_Edge]])
    _index: Any = None

    @classmethod
    def read(cls, path: Path | str) -> SiteMap:
        """Read an exported graph; raises ``BadFile`` in one sentence for anything else."""
        path = Path(path).expanduser()
        other = f"{path}: this is not a graph in node-link form; 'sitelore graph export SITE FILE' writes one"
        try:
            raw: object = json.loads(read_bytes(path, MOST_BYTES))
        except (ValueError, RecursionError) as error:
            raise BadFile(f"{other} ({error})") from error
        document = _mapping(raw)
        edges = document.get("edges", document.get("links"))
        if not isinstance(document.get("nodes"), list) or not isinstance(edges, list):
            raise BadFile(other)
        states = _states(document)
        if not states:
            raise BadFile(f"{path}: this graph has no states; explore the site first")
        about = _mapping(document.get("graph"))
        found = cls(_text(about.get("site")) or path.stem, _text(about.get("home")), states)
        found._connect(cast("list[object]", edges))
        return found

    def search(self, goal: str, k: int = 10) -> list[FoundState]:
        """The states whose words match, best first, then the nearest to the home page."""
        import numpy as np

        from kb.retrieval.keyword import KeywordIndex, keyword_scores, shared_words
        from kb.retrieval.terms import query_terms, tip_terms, warm_up

        listed = list(self.states.values())
        if self._index is None:
            drafts = [state.draft for state in listed]
            warm_up(draft.text for draft in drafts)
            terms = [tip_terms(draft) for draft in drafts]
            index = KeywordIndex()
            for row, one in enumerate(terms):
                index.add(row, one)
            self._index = index, terms
        index, terms = self._index
        query = query_terms(goal)
        scores = keyword_scores(index.raw_scores(query, len(listed)))
        depth = np.array([state.depth for state in listed])
        order: list[int] = np.lexsort((depth, -scores))[:k].tolist()
        return [
            FoundState(
                site=self.site,
                state=listed[row].id,
                title=listed[row].title,
                url=listed[row].url,
                score=float(scores[row]),
                matched=tuple(shared_words(query, terms[row], index.vocabulary)[0][:8]),
            )
            for row in order
            if scores[row] > 0
        ]

    def named(self, state: str) -> str | None:
        """The id of a state given by its id or the first digits of it (at least four); None if there is no such."""
        if state in self.states:
            return state
        found = [id for id in self.states if len(state) >= 4 and id.startswith(state)]
        return found[0] if len(found) == 1 else None

    def path(self, to: str, start: str = "") -> MapPath:
        """The cheapest path to a state, from another one or the home page; raises ``KbError`` if there is none."""
        start = start or self._home()
        best, came = {start: 0.0}, dict[str, tuple[str, _Edge]]()
        queue = [(0.0, start)]
        for opened in self._openable(to):
            if opened.cost < best.get(opened.target, float("inf")):
                best[opened.target] = opened.cost
                came[opened.target] = start, opened
                queue.append((opened.cost, opened.target))
        heapq.heapify(queue)
        done: set[str] = set()
        while queue:
            spent, state = heapq.heappop(queue)
            if state == to:
                return self._path(to, start, came, spent)
            if state in done:
                continue
            done.add(state)
            for edge in self.edges.get(state, ()):
                total = spent + edge.cost
                if total < best.get(edge.target, float("inf")):
                    best[edge.target] = total
                    came[edge.target] = state, edge
                    heapq.heappush(queue, (total, edge.target))
        raise KbError(f"no path leads to {to}: no known transition, and its address alone never led to it")

    def _path(self, to: str, start: str, came: Mapping[str, tuple[str, _Edge]], seconds: float) -> MapPath:
        edges: list[_Edge] = []
        at = to
        while at != start:
            at, edge = came[at]
            edges.append(edge)
        safe = 1.0
        for edge in edges:
            safe *= 1.0 - edge.risk
        moves = tuple(edge.move for edge in reversed(edges))
        return MapPath(
            site=self.site, state=to, moves=moves, seconds=round(seconds, 1), risk=round(1 - safe, 3)
        )

    def _home(self) -> str:
        """The state of the home page, or the one nearest to it."""
        exact = (id for id, state in self.states.items() if self.home and state.url == self.home)
        return next(exact, "") or min(self.states.values(), key=lambda state: (state.depth, state.id)).id

    def _openable(self, to: str) -> list[_Edge]:
        price = _OPEN + _USUAL + _SETTLED
        prices = {id: price for id, state in self.states.items() if state.direct}
        if self.states[to].direct is None and self.states[to].url:
            prices[to] = price + _UNSURE
        return [
            _Edge(id, cost, 0.0, self._arriving(id, operation="open", value=self.states[id].url))
            for id, cost in prices.items()
        ]

    def _arriving(self, id: str, **move: str) -> MapMove:
        state = self.states[id]
        return MapMove(**move, state=id, title=state.title, url=state.url)

    def _connect(self, edges: Sequence[object]) -> None:
        for raw in edges:
            edge = _mapping(raw)
            source, target = _text(edge.get("source")), _text(edge.get("target"))
            if source == target or source not in self.states or target not in self.states:
                continue
            risk = min(1.0, max(0.0, _number(edge.get("risk"))))
            move = self._arriving(
                target,
                operation=_text(edge.get("operation")) or "click",
                element=" ".join(filter(None, (_text(edge.get("role")), _quoted(_text(edge.get("name")))))),
                value=_text(edge.get("value"), _LONGEST_URL),
                css=_text(edge.get("css"), _LONGEST_URL),
            )
            self.edges.setdefault(source, []).append(_Edge(target, _cost(edge, risk), risk, move))


def _states(document: Mapping[str, object]) -> dict[str, _State]:
    pages = {_text(page.get("id")): page for page in map(_mapping, _list(document.get("pages")))}
    found: dict[str, _State] = {}
    for node in map(_mapping, _list(document.get("nodes"))):
        id = _text(node.get("id"))
        if not id or node.get("gone") is True:
            continue
        page = pages.get(id, {})
        found[id] = _State(
            id,
            _text(node.get("label")) or _text(node.get("title")) or _text(page.get("title")),
            _text(node.get("url"), _LONGEST_URL),
            int(_number(node.get("depth"))),
            {"yes": True, "no": False}.get(_text(node.get("direct"))),
            _names(page.get("headings")),
            _names(page.get("controls")),
        )
    return found


def _cost(edge: Mapping[str, object], risk: float) -> float:
    attempts, successes = _number(edge.get("attempts")), _number(edge.get("successes"))
    chance = (min(successes, attempts) + 2 * _PRIOR) / (attempts + 2)
    expected = ((_number(edge.get("seconds")) or _USUAL) + _SETTLED) / chance
    return expected + _RISK * risk + (0.0 if attempts else _UNTRIED)


def _mapping(given: object) -> Mapping[str, object]:
    return cast("Mapping[str, object]", given) if isinstance(given, dict) else {}


def _list(given: object) -> list[object]:
    return cast("list[object]", given) if isinstance(given, list) else []


def _names(given: object) -> tuple[str, ...]:
    return tuple(name for one in _list(given)[:_MOST_NAMES] if (name := _text(one)))


def _text(given: object, most: int = _LONGEST_NAME) -> str:
    if isinstance(given, int) and not isinstance(given, bool):
        return str(given)
    if not isinstance(given, str):
        return ""
    return " ".join(visible(given).split())[:most].encode("utf-8", "replace").decode()


def _quoted(name: str) -> str:
    return f"'{name}'" if name else ""


def _number(given: object) -> float:
    """A number that is no nonsense; 0 for anything else."""
    usable = isinstance(given, int | float) and not isinstance(given, bool)
    return float(min(given, 1e9)) if usable and given >= 0 else 0.0  # type: ignore[operator,arg-type]
