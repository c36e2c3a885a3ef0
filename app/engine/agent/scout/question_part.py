"""A part that asks: read the page in front, go on to where the answer would stand, answer with what it rests on.

Pages of one list are read together.  On the page of the thing only its own parts are looked into.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from app.engine.agent.scout.answering import Answer, AnswerNeed, answer_from
from app.engine.agent.scout.filters import filter_steps, is_half_filled
from app.engine.agent.scout.form_fields import fields_of
from app.engine.agent.scout.memory import ScoutStep
from app.engine.agent.scout.navigation import turn_page
from app.engine.agent.scout.part_view import GiveUp, PartDone, PartView
from app.engine.agent.scout.questions import Aggregate, Question, read_question
from app.engine.agent.scout.relations import PageRelations, merge_relations, stated_total
from app.engine.agent.scout.task import Name
from app.engine.agent.scout.terms import located_names, uncovered
from app.engine.core.actions.types import Click

SURE = 0.75
"""Certainty from which on an answer is given at once."""
LIKELY = 0.5
"""Certainty from which on an answer is given once nothing promises a better page."""
_LEAST_PROMISE = 0.12
_MOST_PAGES = 30
_MOST_WITHOUT_GAIN = 9
"""Pages looked at since the one that fitted best, after which further ones are not hoped for."""
_LISTED = frozenset(Aggregate) - {Aggregate.VALUE, Aggregate.YES_NO}


def question_step(view: PartView) -> ScoutStep | PartDone | GiveUp:
    """Return the next step towards the answer, or the answer."""
    question = read_question(view.part)
    about = _on_page_of(view)
    filtered = filter_steps(view) if not about or question.aggregate in _LISTED else []
    if filtered and (question.aggregate in _LISTED or is_half_filled(view)):
        return filtered[0]
    answer = _read(view, question)
    step = _from_answer(view, question, answer)
    if step is not None:
        return step
    if filtered:
        return filtered[0]
    if view.memory.idle_pages > _MOST_WITHOUT_GAIN:
        return _ended(view, about)
    floor = _LEAST_PROMISE if not _is_candidate(view) else max(_LEAST_PROMISE, view.finder.fit)
    step = view.finder.best(floor, within=bool(about) and view.finder.names_shown)
    if step is not None:
        return step
    return _ended(view, about)


def _ended(view: PartView, about: str) -> PartDone | GiveUp:
    """Return the likeliest answer so far, or what is missing."""
    best = max(view.memory.answers, key=lambda one: one.certain, default=None)
    if best is not None:
        return PartDone(evidence=_rests_on(best), answer=best.text)
    return GiveUp(needs=_missing(view, about))


def _read(view: PartView, question: Question) -> Answer | None:
    """Return what the page says, read together with the pages of the list before it."""
    memory, context = view.memory, view.context
    relations = context.relations
    if memory.collected:
        memory.collected[context.key] = relations
        relations = merge_relations(list(memory.collected.values()))
    return answer_from(
        question,
        view.part,
        relations,
        names=_names_left(view, question),
        on_page_of=_on_page_of(view),
        more=_has_more(view, relations),
        applied=_places(view),
        offered=[(one.label, one.options) for one in fields_of(context.page) if one.options],
    )


def _places(view: PartView) -> tuple[str, ...]:
    """Return what the page as a whole is about: filters that brought it, things whose pages stand above it."""
    memory = view.memory
    listed = {view.context.key, *memory.collected}
    filters = [one for key in listed for one in sorted(memory.applied.get(key, ()))]
    return tuple(dict.fromkeys((*filters, *sorted(memory.places(view.context.path)))))


def _has_more(view: PartView, relations: PageRelations) -> bool:
    told = stated_total(relations)
    most = max((len(one.rows) for one in relations.relations), default=0)
    return view.context.next_page is not None and (told is None or most < told)


def _on_page_of(view: PartView) -> str:
    """Return the name of the thing that the page is about, "" for none."""
    context, memory = view.context, view.memory
    opened = memory.opened.get(context.path.rstrip("/"), frozenset[str]())
    names = [
        name.text for name in located_names(view.part) if context.is_about(name.text) or name.text in opened
    ]
    return max(names, key=len, default="")


def _names_left(view: PartView, question: Question) -> tuple[Name, ...]:
    """Return the names that do not hold of the whole page already; all of them on a page of nothing in particular."""
    above = view.memory.places(view.context.path)
    names = question.names or view.part.context
    left = tuple(name for name in names if name.text not in above)
    return left if left or _on_page_of(view) else names


def _from_answer(view: PartView, question: Question, answer: Answer | None) -> ScoutStep | PartDone | None:
    """Return what an answer asks for: to be given, to turn the page, to open a row."""
    if answer is None:
        return None
    memory = view.memory
    if answer.needs is AnswerNeed.MORE_PAGES and len(memory.collected) < _MOST_PAGES:
        memory.collected[view.context.key] = view.context.relations
        step = turn_page(view.context)
        if step is not None and not memory.worn_out(step):
            return step
    if answer.needs is AnswerNeed.OPEN_ROW and answer.control is not None:
        element = next((one for one in view.context.page.elements if one.index == answer.control), None)
        if element is not None:
            step = ScoutStep(
                action=Click(element.index, label=element.name),
                reason=f'"{answer.row}" is what the question is about',
                key=f"row:{answer.row}:{element.href or element.name}",
            )
            if not memory.worn_out(step):
                path = urlsplit(element.href).path.rstrip("/")
                memory.opened[path] = frozenset(name.text for name in located_names(view.part))
                return step
    if (
        not answer.text
        or answer.unmet
        or (answer.needs is AnswerNeed.MORE_PAGES and _has_more(view, view.context.relations))
    ):
        return None
    if answer.certain >= SURE:
        return PartDone(evidence=_rests_on(answer), answer=answer.text)
    if answer.certain >= LIKELY:
        memory.answers.append(answer)
    return None


def _is_candidate(view: PartView) -> bool:
    return bool(view.memory.answers)


def _rests_on(answer: Answer) -> str:
    rows = "; ".join(row[:120] for row in answer.rows[:5])
    more = f" and {len(answer.rows) - 5} more" if len(answer.rows) > 5 else ""
    return f"it rests on: {rows}{more}" if rows else "it stands on this page"


def _missing(view: PartView, about: str) -> str:
    """Return what was looked for and where the search ended."""
    title = next((text for text in view.context.subject if text), view.context.path)
    if about:
        return f'found the page of "{about}", nothing on it or its parts answers: {view.part.text}'
    missing = ", ".join(f'"{term.text}"' for term in uncovered(view.finder.terms, view.finder.here, 0.6))
    looked = f'{len(view.memory.fits)} pages were looked at, the last is "{title}"'
    return f"found no page with {missing or 'a list'} that answers: {view.part.text}; {looked}"
