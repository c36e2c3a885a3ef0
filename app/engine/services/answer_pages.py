"""The pages of a run searched for the terms of its answer, and the facts from which its cause is told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from threading import Lock

from app.engine.api.evaluation_api import ExpectedOutcome
from app.engine.api.page_diff import MAX_LINES, page_rows
from app.engine.api.review_api import AnswerPage, AnswerPlace, AnswerTerm
from app.engine.core.answer_places import SearchedPage, TermPlace, find_places
from app.engine.core.answer_terms import answer_terms
from app.engine.core.list_pages import list_share
from app.engine.core.text import one_line
from app.engine.core.trajectory import Outcome, Run, Step
from app.engine.core.verdicts import Flag
from app.engine.detectors.cause_endings import refusals
from app.engine.detectors.cause_material import CauseMaterial
from app.engine.detectors.page_texts import is_whole
from app.engine.detectors.suspect import answer_step, find_suspect
from app.engine.store.workspace import Workspace
from app.errors import SiteloreError

LAST_PAGES = 3
"""Pages before the end on which words of a refusing site are looked for."""


@dataclass(frozen=True, slots=True)
class VisitedPages:
    """A run with the pages it visited, one for each step; ``missing`` addresses have steps whose page was not recorded,
    some of them ``lost`` with their store.
    """

    run: Run
    steps: list[Step]
    pages: list[SearchedPage]
    missing: int
    lost: bool = False


class SearchedPages:
    """The pages of one run, searched once for its answer page and its cause; threads may share it.

    Nothing of a suite is kept here: what was expected is given with each call, so that a blind suite shows nothing.
    """

    def __init__(self, visited: VisitedPages) -> None:
        self.visited = visited
        self._lock = Lock()
        self._page: AnswerPage | None = None
        self._material: CauseMaterial | None = None

    def answer_page(self, expected: ExpectedOutcome | None) -> AnswerPage:
        """Return the answer page of the run."""
        with self._lock:
            if self._page is None:
                self._page = _answer_page(self.visited)
        return replace(self._page, expected=expected)

    def cause_material(self, expected: ExpectedOutcome | None, flags: Sequence[Flag]) -> CauseMaterial:
        """Return the facts from which the cause of a failure is told."""
        terms = self.answer_page(None).terms
        with self._lock:
            if self._material is None:
                self._material = _cause_material(self.visited, terms)
        suspect = find_suspect(self.visited.run, self.visited.steps, flags)
        return replace(self._material, expected=expected, flags=flags, suspect=suspect)


def visited_pages(workspace: Workspace, run: str) -> VisitedPages:
    """Read a run with the trees of its pages; store thread only.

    Raises:
        NotFound: there is no such run.
    """
    runs = workspace.runs
    loaded, steps = runs.load(run)
    pages: list[SearchedPage] = []
    missing, lost = set[str](), False
    trees: dict[str, str] = {}
    visits: list[Step] = [*steps, loaded.final] if loaded.final is not None else steps
    for at, step in enumerate(visits):
        if step.tree and step.tree not in trees:
            try:
                trees[step.tree] = runs.read_blob(step.tree).decode("utf-8", "replace")
            except SiteloreError:
                trees[step.tree], lost = "", True
        tree = trees.get(step.tree, "")
        if tree:
            pages.append(SearchedPage(step=at, url=step.url, title=step.title, tree=tree))
        else:
            missing.add(step.url or str(at))
    return VisitedPages(loaded, steps, pages, len(missing), lost)


def _answer_page(visited: VisitedPages) -> AnswerPage:
    run, steps = visited.run, visited.steps
    terms = answer_terms(run.answer or "", run.intent)
    places = find_places(terms, visited.pages, page_rows)
    # What stands on no page that can be read whole may stand on one that nobody recorded.
    readable = bool(visited.pages) and all(is_whole(page.tree) for page in visited.pages)
    answered = answer_step(run, steps)
    return AnswerPage(
        run=run.id,
        step=answered if answered is not None else max(0, len(steps) - 1),
        intent=run.intent,
        answer=run.answer,
        ended=ended_words(run),
        terms=tuple(
            AnswerTerm(text=term.text, kind=term.kind, in_task=term.in_task, places=_shown(found))
            for term, found in zip(terms, places, strict=True)
            if found or readable
        ),
        pages=len({page.url for page in visited.pages}),
        missing=visited.missing,
        unknown=0
        if readable
        else sum(not one.in_task and not found for one, found in zip(terms, places, strict=True)),
    )


def _cause_material(visited: VisitedPages, terms: Sequence[AnswerTerm]) -> CauseMaterial:
    run, steps = visited.run, visited.steps
    by_step = {page.step: page for page in visited.pages}
    shares = {tree: list_share(tree) for tree in {page.tree for page in visited.pages}}
    last = [by_step[at] for at in range(len(steps) - LAST_PAGES + 1, len(steps) + 1) if at in by_step]
    return CauseMaterial(
        run=run,
        steps=steps,
        terms=terms,
        shares=[shares[by_step[at].tree] if at in by_step else None for at in range(len(steps) + 1)],
        last_lines=[(page.step, line) for page in last for line in refusals(page.tree)],
    )


def _shown(places: Sequence[TermPlace]) -> tuple[AnswerPlace, ...]:
    return tuple(
        AnswerPlace(
            step=place.step,
            line=place.row if place.row < MAX_LINES else -1,
            url=place.url,
            title=place.title,
            text=place.text,
        )
        for place in places
    )


def ended_words(run: Run) -> str:
    """Return how a run ended, in words; whole is the error of one that crashed."""
    steps = f"{run.step_count} step{'' if run.step_count == 1 else 's'}"
    match run.outcome:
        case Outcome.ANSWERED:
            return f"It answered after {steps}."
        case Outcome.INFEASIBLE:
            return f"It reported the task as infeasible after {steps}."
        case Outcome.ENDED_BY_ENVIRONMENT:
            return f"The environment scored and stopped it after {steps}."
        case Outcome.STEP_LIMIT:
            return f"It used all {steps} without an answer."
        case Outcome.LEFT_ALLOWED_SITES:
            return f"It left the allowed sites after {steps}."
        case Outcome.CRASHED:
            return (
                f"It crashed after {steps}: {run.error}"
                if run.step_count
                else f"It crashed before its first step: {run.error}"
            )
        case Outcome.RUNNING:
            return "It is still going on."
        case Outcome.INTERRUPTED:
            return f"The program ended during the run, after {steps}."
        case Outcome.NEEDS_PERSON:
            return f"It needed a person after {steps}: {one_line(run.error or 'nobody was there', 300)}"
        case Outcome.OUT_OF_BUDGET:
            return f"Its budget was used up after {steps}."
        case Outcome.STOPPED:
            return f"A person stopped it after {steps}."
        case Outcome.DONE_BY_HAND:
            return f"An operator did the task and marked it finished, after {steps}."
        case Outcome.UNKNOWN:
            return f"The records of its end are missing; {steps} are there."
