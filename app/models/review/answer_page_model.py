"""The answer page: the run's answer, and where its words and numbers stand on the pages that were visited."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from PySide6.QtCore import QCoreApplication, QObject, Signal

from app.engine.core.labels import outcome_label
from app.engine.core.trajectory import Outcome
from app.models.common.object_list import ObjectList

if TYPE_CHECKING:
    from app.engine.api.engine_api import RunDetail, StepView
    from app.engine.api.review_api import AnswerPage, AnswerPlace, AnswerTerm
    from app.engine.core.events import RunsChanged
    from app.models.common.engine_client import EngineEvents
    from app.models.common.page import PageModel
    from app.models.common.tasks import Tasks
    from app.models.review.expected import ExpectedModel

FEW_PLACES = 3
"""Places of a term that are shown before one asks for all."""


class OpenRun(Protocol):
    """The part of Review's model that knows the open run and step."""

    run: str
    detail: RunDetail | None
    index: int
    view: StepView | None
    page_error: str
    before: PageModel
    after: PageModel

    @property
    def run_changed(self) -> Any:
        """The signal that another run is open."""

    @property
    def step_changed(self) -> Any:
        """The signal that another step is current."""

    @property
    def page_changed(self) -> Any:
        """The signal that the pages of the step changed."""

    def show_step(self, index: int) -> None:
        """Make a step current."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerRow:
    """A row of the list: a term, one of its places, or the places that are not shown (``hidden``)."""

    term: AnswerTerm
    place: AnswerPlace | None = None
    number: int = 0
    hidden: int = 0

    @property
    def is_head(self) -> bool:
        return self.place is None and not self.hidden

    @property
    def is_missing(self) -> bool:
        """Whether the term stands on no visited page."""
        return self.is_head and not self.term.places


class AnswerRowList(ObjectList[AnswerRow]):
    """Terms, those on no page first, each over its places."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(lambda row: (row.term.text, row.number), parent)

    def words(self, value: AnswerRow) -> str:
        """``'17': on no visited page``, ``step 4, Orders: 17 reviews``."""
        if value.hidden:
            return _tr("{0} more places of '{1}'").format(value.hidden, value.term.text)
        if value.place is not None:
            return f"{place_words(value.place)}: {value.place.text}"
        return f"'{value.term.text}': {term_words(value.term)}"


class AnswerPageModel(QObject):
    """Follows the open run and step; ``is_shown`` says whether the answer page stands in place of the two pages.

    Signals:
        changed: another answer, or it is shown or left.
        place_shown: a place of the answer is marked on the page before (0) or after (1) the step.
    """

    changed = Signal()
    place_shown = Signal(int)

    def __init__(
        self, client: EngineEvents, tasks: Tasks, review: OpenRun, expected: ExpectedModel, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._client, self._tasks, self._review = client, tasks, review
        self.expected = expected
        self.rows = AnswerRowList(self)
        self.page: AnswerPage | None = None
        self.error = ""
        self._run: str = ""
        self._unfolded: set[str] = set()
        self._chosen: tuple[int, bool] | None = None
        self._wanted: tuple[int, AnswerPlace] | None = None
        review.run_changed.connect(self._follow)
        review.step_changed.connect(self._on_step)
        review.page_changed.connect(self._mark)
        client.runs_changed.connect(self._on_runs_changed)
        client.suites_changed.connect(self._ask)

    # ------------------------------------------------------------ what it says
    @property
    def is_shown(self) -> bool:
        """At the step that answers and for a run without steps, unless the user chose otherwise at this step."""
        detail = self._review.detail
        if detail is None:
            return False
        if not detail.steps:
            return True
        if self._chosen is not None and self._chosen[0] == self._review.index:
            return self._chosen[1]
        return self._review.index == self._answering_step(detail)

    @property
    def intent(self) -> str:
        """The task in full."""
        return self._review.detail.run.intent if self._review.detail is not None else ""

    @property
    def answer(self) -> str | None:
        """The whole answer; ``None`` for a run that gave none."""
        return self._review.detail.run.answer if self._review.detail is not None else None

    @property
    def reason(self) -> str:
        """The agent's reason for its answer."""
        detail = self._review.detail
        step = self._answering_step(detail) if detail is not None else -1
        return detail.steps[step].reason if detail is not None and 0 <= step < len(detail.steps) else ""

    @property
    def ending(self) -> str:
        """How the run ended, with its whole error."""
        detail = self._review.detail
        if detail is None:
            return ""
        run = detail.run
        parts = [_tr("The run ended: {0}.").format(_tr(outcome_label(run.outcome.value)))]
        if not detail.steps:
            parts.append(_tr("It has no recorded steps."))
        return "\n\n".join(part for part in (" ".join(parts), run.error, *run.notes) if part)

    @property
    def is_unusual(self) -> bool:
        """Whether the ending must be told: there is no answer, no step, or an error."""
        detail = self._review.detail
        if detail is None:
            return False
        ordinary = (Outcome.ANSWERED, Outcome.ENDED_BY_ENVIRONMENT)
        return detail.run.answer is None or bool(detail.run.error) or detail.run.outcome not in ordinary

    @property
    def summary(self) -> str:
        """How many of the answer's terms stand on the pages, in one sentence."""
        page = self.page
        if self.error:
            return _tr("The pages could not be searched: {0}").format(self.error)
        if page is None:
            return _tr("Searching the visited pages…")
        if not page.pages:
            return _tr("No page was recorded.")
        proving = [term for term in page.terms if not term.in_task]
        lost = _tr("; {0} not recorded").format(page.missing) if page.missing else ""
        pages = _tr("the page") if page.pages == 1 else _tr("the {0} pages").format(page.pages)
        if not proving and page.unknown:
            return _tr("The answer's words are not on what was recorded of {0}{1}.").format(pages, lost)
        if not proving:
            return _tr("The answer has no number or name to look for on {0}{1}.").format(pages, lost)
        found = sum(bool(term.places) for term in proving)
        visited = (
            _tr("the visited page") if page.pages == 1 else _tr("the {0} visited pages").format(page.pages)
        )
        return _tr("{0} of {1} stand on {2}{3}.").format(found, len(proving), visited, lost)

    # ------------------------------------------------------------ what one can do
    def toggle(self) -> None:
        """Show the answer page in place of the two pages, or the pages again; for this step only."""
        detail = self._review.detail
        if detail is not None and detail.steps:
            self._chosen = (self._review.index, not self.is_shown)
            self.changed.emit()

    def activate(self, row: int) -> None:
        """Open the place of a row, the first one of a term, or unfold the places that are not shown."""
        chosen = self.rows.at(row)
        if chosen is None:
            return
        if chosen.hidden:
            self._unfolded.add(chosen.term.text)
            self._show_rows()
        elif place := chosen.place or next(iter(chosen.term.places), None):
            self.open_place(place)

    def open_place(self, place: AnswerPlace) -> None:
        """Open the step whose page it is, with its line marked; the final page is that after the last step."""
        detail = self._review.detail
        if detail is None or not detail.steps:
            return
        step = max(0, min(place.step, len(detail.steps) - 1))
        self._chosen, self._wanted = (step, False), (step, place)
        self._review.show_step(step)
        self.changed.emit()
        self._mark()

    # ------------------------------------------------------------ following
    def _answering_step(self, detail: RunDetail) -> int:
        if self.page is not None and self.page.answer is not None:
            return self.page.step
        has_answer = detail.run.answer is not None and bool(detail.steps)
        return detail.steps[-1].index if has_answer else -1

    def _follow(self) -> None:
        run = self._review.run if self._review.detail is not None else ""
        if run != self._run:
            self._run, self.page, self.error = run, None, ""
            self._chosen = self._wanted = None
            self._unfolded.clear()
            self.rows.replace([])
            self._ask()
        self.changed.emit()

    def _on_step(self) -> None:
        if self._chosen is not None and self._chosen[0] != self._review.index:
            self._chosen = None
        self.changed.emit()

    def _on_runs_changed(self, event: RunsChanged) -> None:
        if self._run and (not event.runs or self._run in event.runs):
            self._ask()

    def _ask(self, _event: object = None) -> None:
        run = self._run
        if not run:
            self._tasks.cancel("review-answer")
            return

        def came(page: AnswerPage) -> None:
            if run == self._run and (page != self.page or self.error):
                self.page, self.error = page, ""
                self._show_rows()
                self.changed.emit()

        def failed(error: BaseException) -> None:
            if run == self._run:
                self.error = str(error)
                self.changed.emit()

        self._tasks.start(self._client.api.answer_page(run), came, failed, key="review-answer")

    def _show_rows(self) -> None:
        terms = self.page.terms if self.page is not None else ()
        self.rows.merge(list(answer_rows(terms, self._unfolded)))

    def _mark(self) -> None:
        """Mark the place that was asked for, once its step's pages are there."""
        view = self._review.view
        if self._wanted is None or view is None or view.index != self._wanted[0]:
            return
        step, place = self._wanted
        self._wanted = None
        on_final = place.step > step
        page = self._review.after if on_final else self._review.before
        page.mark(place.line, _tr("in the answer"))
        self.place_shown.emit(int(on_final))


def answer_rows(terms: tuple[AnswerTerm, ...], unfolded: set[str]) -> Iterator[AnswerRow]:
    """Return the rows; ``unfolded`` terms have all their places.

    Numbers and names come before wordings, of each those on no page first; what the task says itself comes last.
    """
    ordered = sorted(terms, key=lambda term: (term.in_task, term.kind == "words", bool(term.places)))
    for term in ordered:
        yield AnswerRow(term=term)
        few = len(term.places) if term.text in unfolded else FEW_PLACES
        for number, place in enumerate(term.places[:few], 1):
            yield AnswerRow(term=term, place=place, number=number)
        hidden = len(term.places) - few
        if hidden > 0:
            yield AnswerRow(term=term, number=-1, hidden=hidden)


def term_words(term: AnswerTerm) -> str:
    """Where a term stands, in words."""
    places = len(term.places)
    if term.in_task:
        return _tr("the task says it, too")
    if not places:
        return _tr("on no visited page")
    return _tr("on 1 page") if places == 1 else _tr("at {0} places").format(places)


def place_words(place: AnswerPlace) -> str:
    """``step 4 · Orders``."""
    return _tr("step {0} · {1}").format(place.step, place.title or place.url)


def _tr(text: str) -> str:
    return QCoreApplication.translate("Review", text)
