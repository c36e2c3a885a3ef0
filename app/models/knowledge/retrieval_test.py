"""Retrieval test: the tips that an address and a goal would retrieve, by which route, and why others were not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from app.models.common.object_list import ObjectList
from kb.tip import PARTLY, Query, Retrieval

if TYPE_CHECKING:
    from app.models.common.engine_client import EngineEvents
    from app.models.common.tasks import Tasks

TYPING_PAUSE_MS = 180
"""Pause in typing before the knowledge base is asked."""

SHOWN = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievalRow:
    """One tip of the result; ``missed`` is why it was not delivered, "" when it was."""

    tip: str
    site: str
    text: str
    status: str
    route: str = ""
    score: float = 0.0
    why: str = ""
    tokens: int = 0
    missed: str = ""
    routes: tuple[tuple[str, float], ...] = ()


class RetrievalListModel(ObjectList[RetrievalRow]):
    """Found tips in delivery order, then the near misses."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(lambda answer: answer.tip, parent)

    def words(self, value: RetrievalRow) -> str:
        """``url 0.95: gitlab-003, the text (why)``."""
        if value.missed:
            return f"cut: {value.tip}, {value.text} ({value.missed})"
        return f"{value.route} {value.score:.2f}: {value.tip}, {value.text} ({value.why})"

    def tip(self, value: RetrievalRow) -> str:
        """The whole text, the reason, and the score of every route."""
        routes = ", ".join(f"{route} {score:.2f}" for route, score in value.routes)
        return "\n".join(part for part in (value.text, value.missed or value.why, routes) if part)


def retrieval_rows(retrieval: Retrieval) -> list[RetrievalRow]:
    found = [
        RetrievalRow(
            tip=one.tip.id,
            site=one.tip.site,
            text=one.tip.text or one.tip.do,
            status=one.tip.status.value,
            route=one.route.value,
            score=one.score,
            why=one.why,
            tokens=one.tokens,
            routes=tuple(one.routes.items()),
        )
        for one in retrieval.results
    ]
    missed = [
        RetrievalRow(
            tip=one.tip.id,
            site=one.tip.site,
            text=one.tip.text or one.tip.do,
            status=one.tip.status.value,
            missed=one.reason,
            routes=tuple(one.routes.items()),
        )
        for one in retrieval.missed
    ]
    return [*found, *missed]


class RetrievalTestModel(QObject):
    """An address, a goal, and the tips they retrieve; asked again when either or the tips change."""

    changed = Signal()
    filled = Signal()
    """The fields were filled by the program, not by typing."""

    def __init__(self, client: EngineEvents, tasks: Tasks, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._client, self._tasks = client, tasks
        self.model = RetrievalListModel(self)
        self.url: str = ""
        self.goal: str = ""
        self.site: str = ""
        self.filled_from = ""
        self.summary = self.error = ""
        self.off: tuple[str, ...] = ()
        self.note = ""
        self.is_asking = False
        self.is_touched = False
        self._timer = QTimer(self, singleShot=True, interval=TYPING_PAUSE_MS)
        self._timer.timeout.connect(self._ask)
        client.knowledge_changed.connect(self._again)
        client.encoder_changed.connect(self._again)

    @property
    def is_blank(self) -> bool:
        return not (self.url.strip() or self.goal.strip())

    def set_url(self, url: str) -> None:
        if url != self.url:
            self.url, self.is_touched, self.filled_from, self.site = url, True, "", ""
            self._timer.start()

    def set_goal(self, goal: str) -> None:
        if goal != self.goal:
            self.goal, self.is_touched = goal, True
            self._timer.start()

    def fill(self, url: str, goal: str, site: str, source: str) -> None:
        """Take a page and a goal from a stored step."""
        self.url, self.goal, self.site, self.filled_from = url, goal, site, source
        self.is_touched = False
        self.filled.emit()
        self._timer.start(0)

    def clear(self) -> None:
        self.fill("", "", "", "")

    def _again(self, _event: object) -> None:
        if not self.is_blank:
            self._timer.start()

    def _ask(self) -> None:
        if self.is_blank:
            self._tasks.cancel("knowledge-try")
            self.model.merge([])
            self.summary, self.error, self.off, self.is_asking = "", "", (), False
            self.changed.emit()
            return
        self.is_asking = True
        self.changed.emit()
        query = Query(url=self.url.strip(), text=self.goal.strip(), site=self.site)
        self._tasks.start(
            self._client.api.retrieve(query, k=SHOWN), self._came, self._failed, key="knowledge-try"
        )

    def _came(self, retrieval: Retrieval) -> None:
        rows = retrieval_rows(retrieval)
        self.model.merge(_once(rows))
        found = len(retrieval.results)
        self.summary = self.tr("{0} matched, {1} cut by the token budget · {2} of {3} tokens").format(
            found, len(rows) - found, retrieval.tokens, retrieval.budget
        )
        self.off = tuple(
            (
                self.tr("route {0} is {1}") if why.startswith(PARTLY) else self.tr("route {0} is off: {1}")
            ).format(route, why)
            for route, why in retrieval.routes_off.items()
        )
        self.note = retrieval.note
        self.error, self.is_asking = "", False
        self.changed.emit()

    def _failed(self, error: BaseException) -> None:
        self.model.merge([])
        self.error, self.summary, self.is_asking = str(error), "", False
        self.changed.emit()


def _once(rows: Sequence[RetrievalRow]) -> list[RetrievalRow]:
    return list({row.tip: row for row in reversed(rows)}.values())[::-1]
