"""All tips in columns: the data the routes need of each, by row.

Rows are appended; a changed tip gets a new row and its old one becomes dead.  When dead rows outnumber live ones the
owner builds a new table.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from kb.errors import KbError
from kb.retrieval.anchors import AnchorIndex, PageControls
from kb.retrieval.answers import AnswerIndex
from kb.retrieval.cascade import (
    MOST_TIPS,
    RetrievalSettings,
    estimate_tokens,
    ranks,
    record_points,
    with_place,
)
from kb.retrieval.conditions import ConditionIndex, conditions
from kb.retrieval.destinations import Destinations, PageNames
from kb.retrieval.embedding import Matrix, VectorMatrix
from kb.retrieval.keyword import KeywordIndex, Vocabulary, keyword_scores
from kb.retrieval.scopes import QueryLocation, ScopeIndex, Sites
from kb.retrieval.terms import QueryTerms, TipTerms, tip_terms, tip_text, warm_up
from kb.tip import Status, Tip

Rows = NDArray[np.int64]
_STATUS_CODES = {status: code for code, status in enumerate(Status)}


class TipColumns:
    """Columns and indexes over tips."""

    def __init__(self, tips: Iterable[Tip], hosts: Mapping[str, Sequence[str]]) -> None:
        self.sites = Sites(hosts)
        self.tips: list[Tip] = []
        self.terms: list[TipTerms] = []
        self.tokens: list[int] = []
        self.row_of: dict[str, int] = {}
        self._alive: list[bool] = []
        self._status: list[int] = []
        self._record: list[int] = []
        self._destinations: dict[int, Destinations] = {}
        self._anchors = AnchorIndex()
        self._conditions = ConditionIndex()
        self._answers = AnswerIndex()
        self._scopes = ScopeIndex(self.sites)
        self._keywords = KeywordIndex()
        self._vectors: VectorMatrix | None = None
        self._columns: tuple[NDArray[np.bool_], Rows, Rows, Rows] | None = None
        self.put(tips)

    def __len__(self) -> int:
        return len(self.row_of)

    @property
    def vocabulary(self) -> Vocabulary:
        """All words of all tips."""
        return self._keywords.vocabulary

    @property
    def tips_with_anchors(self) -> list[Tip]:
        """Live tips that have an anchor."""
        rows = self._anchors.rows
        return [self.tips[row] for row in rows if self._alive[row]]

    @property
    def is_mostly_dead(self) -> bool:
        """Whether a new table would be less than half as long."""
        return len(self.tips) > 256 and len(self.tips) > 2 * len(self.row_of)

    def put(self, tips: Iterable[Tip], vectors: Matrix | None = None) -> None:
        """Add or replace tips; ``vectors`` (n, dim) are required once the table has vectors."""
        tips = list(tips)
        if len(self.row_of) + len(tips) > MOST_TIPS:
            raise KbError(f"a knowledge base holds at most {MOST_TIPS:,} tips; freeze and split it by site")
        warm_up(text for tip in tips for text in (tip_text(tip), *tip.keywords))
        for tip in tips:
            self.drop(tip.id)
            row = self.row_of[tip.id] = len(self.tips)
            terms = tip_terms(tip)
            self.tips.append(tip)
            self.terms.append(terms)
            self.tokens.append(estimate_tokens(tip.text))
            self._alive.append(True)
            self._status.append(_STATUS_CODES[tip.status])
            self._record.append(record_points(tip.record))
            self._anchors.add(row, tip.anchor)
            self._conditions.add(row, conditions(tip))
            self._answers.add(row, tip)
            self._scopes.append(tip.site, tip.scope)
            self._keywords.add(row, terms)
        if self._vectors is not None and vectors is not None:
            self._vectors.append(vectors)
        self._columns = None

    def drop(self, tip: str) -> None:
        """Mark a tip's row as dead; an unknown tip is no error."""
        row = self.row_of.pop(tip, None)
        if row is not None:
            self._alive[row] = False
            self._columns = None

    def set_vectors(self, vectors: Matrix | None) -> None:
        """Set the vectors of all rows, including dead ones, shape (rows, dim); None disables the route."""
        self._vectors = None
        if vectors is not None:
            self._vectors = VectorMatrix(vectors.shape[1])
            self._vectors.append(vectors)

    def replace_vectors(self, rows: Sequence[int], vectors: Matrix) -> None:
        """Set the vectors of some rows that were missing."""
        if self._vectors is not None and len(rows):
            self._vectors.replace(rows, vectors)

    def _arrays(self) -> tuple[NDArray[np.bool_], Rows, Rows, Rows]:
        """Columns alive, status, place in the order of ids, and points of the record."""
        if self._columns is None:
            place = np.zeros(len(self.tips), dtype=np.int64)
            for position, tip in enumerate(sorted(self.row_of)):
                place[self.row_of[tip]] = position
            self._columns = (
                np.array(self._alive, dtype=bool),
                np.array(self._status, dtype=np.int64),
                place,
                np.array(self._record, dtype=np.int64),
            )
        return self._columns

    def place_of(self, tip: str) -> int:
        """Number of live tips with a smaller id."""
        if tip in self.row_of:
            return int(self._arrays()[2][self.row_of[tip]])
        return sum(other < tip for other in self.row_of)

    def considered(self, place: QueryLocation) -> tuple[Rows, NDArray[np.float64]]:
        """Live rows the gate admits at a location, and their URL scores."""
        admitted, url = self._scopes.look_up(place)
        rows = np.flatnonzero(admitted & self._arrays()[0])
        return rows, url[rows]

    def has_status(self, rows: Rows, statuses: Collection[Status]) -> NDArray[np.bool_]:
        """Which of the rows have one of the statuses."""
        wanted = np.zeros(len(_STATUS_CODES), dtype=bool)
        wanted[[_STATUS_CODES[status] for status in statuses]] = True
        return wanted[self._arrays()[1][rows]]

    def keyword_scores(self, query: QueryTerms) -> NDArray[np.float64]:
        """Keyword scores of all rows."""
        return keyword_scores(self._keywords.raw_scores(query, len(self.tips)))

    def condition_scores(self, query: QueryTerms) -> NDArray[np.float64]:
        """Condition scores of all rows."""
        return self._conditions.scores(query, len(self.tips))

    def answer_scores(self, goal: str) -> NDArray[np.float64]:
        """Answer scores of all rows."""
        return self._answers.scores(goal, len(self.tips))

    def beside_topic(self, goal: str) -> NDArray[np.bool_]:
        """Which of all rows are for something else than what the task asks for."""
        return self._answers.beside(goal, len(self.tips))

    def is_reached(self, row: int, page: PageNames) -> bool:
        """Whether the page in front is where a row's tip leads; the destinations are read once a row."""
        if row not in self._destinations:
            self._destinations[row] = Destinations.of(self.tips[row])
        return page.is_reached(self._destinations[row])

    def anchor_scores(
        self, page: PageControls, place: QueryLocation, looks: Mapping[str, float]
    ) -> NDArray[np.float64]:
        """Anchor scores of all rows; ``looks`` are likenesses of pictures, by tip."""
        by_row = {self.row_of[tip]: look for tip, look in looks.items() if tip in self.row_of}
        return self._anchors.scores(page, place.address, len(self.tips), by_row)

    def record_points(self, rows: Rows) -> Rows:
        """The points of the records of some rows."""
        return self._arrays()[3][rows]

    def embedding_scores(self, rows: Rows, vector: Matrix | None) -> NDArray[np.float64]:
        """Cosines of some rows with a query's vector; zeros without one."""
        if vector is None or self._vectors is None:
            return np.zeros(len(rows))
        return self._vectors.scores(vector, rows)

    def ranked(self, rows: Rows, total: Rows, settings: RetrievalSettings) -> Rows:
        """The packed, unique ranks of rows (``kb.retrieval.cascade``); -1 below the threshold."""
        return with_place(ranks(total, settings), self._arrays()[2][rows])
