"""A part that asks: read the page in front, go on to where the answer would stand, answer with what it rests on.

Pages of one list are read together.  Where a list lacks what is asked for, the pages of its rows are read.  On the
page of the thing only its own parts are looked into.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from urllib.parse import urlsplit

from app.engine.agent.scout.answering import Answer, AnswerNeed, answer_from, difference
from app.engine.agent.scout.filters import filter_steps, is_half_filled
from app.engine.agent.scout.form_fields import fields_of, is_search
from app.engine.agent.scout.likeness import holds, plain, says, words
from app.engine.agent.scout.memory import RowPages, ScoutStep
from app.engine.agent.scout.navigation import link_to, turn_page
from app.engine.agent.scout.page_context import page_key
from app.engine.agent.scout.part_view import GiveUp, PartDone, PartView
from app.engine.agent.scout.questions import Aggregate, Question, read_question
from app.engine.agent.scout.relations import PageRelations, merge_relations, stated_total
from app.engine.agent.scout.task import Name
from app.engine.agent.scout.terms import located_names, uncovered
from app.engine.core.actions.types import Click, Goto, TypeText
from app.engine.core.text import word_set

SURE = 0.75
"""Certainty from which on an answer is given at once."""
LIKELY = 0.5
"""Certainty from which on an answer is given once nothing promises a better page."""
_LEAST_PROMISE = 0.12
_MOST_PAGES, _MOST_ROW_PAGES = 30, 20
_FRAME = 0.75
"""Share of the pages seen from which on what they show alike belongs to the site's frame."""
_MOST_WITHOUT_GAIN = 9
"""Pages looked at since the one that fitted best, after which further ones are not hoped for."""
_TURNED, _ORDERING = "turned", word_set("sort sorted order ordering group grouping by per display")
_LISTED = frozenset(Aggregate) - {Aggregate.VALUE, Aggregate.YES_NO, Aggregate.DIFFERENCE}


def question_step(view: PartView) -> ScoutStep | PartDone | GiveUp:
    """Return the next step towards the answer, or the answer."""
    question = read_question(view.part)
    for one in view.context.relations.labelled:
        view.memory.shown_on.setdefault((one.label, one.value), set()).add(view.context.path)
    about, listed = _on_page_of(view), question.aggregate in _LISTED
    filtered = (filter_steps(view) if not about or listed else [])[:1]
    first = filtered if listed or is_half_filled(view) else []
    found = (
        _from_row_pages(view) or next(iter(first), None) or (_own_page(view, question) if listed else None)
    )
    if found is not None:
        return found
    answer = _answer(view, question)
    found = _from_row_pages(view) or _from_answer(view, answer) or next(iter(filtered), None)
    if found is not None:
        return found
    return _onward(view, answer, about) or _ended(view, about)


def _onward(view: PartView, answer: Answer | None, about: str) -> ScoutStep | None:
    """Return the step to another page; a list whose further rows may meet what is asked is gone through."""
    if view.memory.idle_pages > _MOST_WITHOUT_GAIN:
        return None
    floor = max(_LEAST_PROMISE, view.finder.fit) if view.memory.answers else _LEAST_PROMISE
    step = view.finder.best(floor, within=bool(about) and view.finder.names_shown)
    goes_on = answer is not None and answer.needs is AnswerNeed.MORE_PAGES and answer.unmet
    searches = step is not None and isinstance(step.action, TypeText)
    return (_turn(view) or step) if goes_on and not searches else step


def _ended(view: PartView, about: str) -> PartDone | GiveUp:
    """Return the likeliest answer so far, or what is missing."""
    best = max(view.memory.answers, key=lambda one: one.certain, default=None)
    return _done(best) if best is not None else GiveUp(needs=_missing(view, about))


def _done(answer: Answer) -> PartDone:
    return PartDone(evidence=_rests_on(answer), answer=answer.text)


# What the page says


def _answer(view: PartView, question: Question) -> Answer | None:
    """Return what the page says, together with the pages of the list before it."""
    relations, listed = _collected(view), question.aggregate in _LISTED
    ask = partial(
        answer_from,
        question,
        view.part,
        names=_names_left(view, question),
        on_page_of=_on_page_of(view),
        applied=_places(view),
        offered=[(one.label, one.options) for one in fields_of(view.context.page) if one.options],
    )
    more = _has_more(view, relations)
    answer = ask(relations, more=more) or _between_pages(view, question)
    if listed and not more and (answer is None or not answer.text):
        view.memory.row_pages = _rows_to_read(view, partial(ask, more=False), relations)
    return None if listed and _is_narrowed(view) else answer


def _from_answer(view: PartView, answer: Answer | None) -> ScoutStep | PartDone | None:
    """Return what an answer asks for: to be given, to turn the page, to open a row."""
    if answer is None or answer.unmet:
        return None
    if answer.needs is AnswerNeed.MORE_PAGES:
        return _turn(view)
    if answer.needs is AnswerNeed.OPEN_ROW:
        return _open_row(view, answer)
    if answer.certain >= SURE:
        return _done(answer)
    if answer.certain >= LIKELY:
        view.memory.answers.append(answer)
    return None


def _turn(view: PartView) -> ScoutStep | None:
    """Return the step to the next page of the list, which keeps the one in front."""
    step = turn_page(view.context) if _goes_on(view) else None
    if step is None or view.memory.worn_out(step) or len(view.memory.collected) >= _MOST_PAGES:
        return None
    view.memory.collected[view.context.key] = _own_relations(view)
    return replace(step, marks=(_TURNED,))


def _collected(view: PartView) -> PageRelations:
    """Return what the page lists, together with the pages of the same list before it."""
    memory, context, relations = view.memory, view.context, _own_relations(view)
    if _TURNED not in memory.marks and context.key not in memory.collected:
        memory.collected.clear()  # another list
    memory.marks.discard(_TURNED)
    if not memory.collected:
        return relations
    memory.collected[context.key] = relations
    return merge_relations(list(memory.collected.values()))


def _own_relations(view: PartView) -> PageRelations:
    """Return what the page itself lists: not what nearly every page shows, nor the words that were searched for."""
    relations, frame = view.context.relations, _framing(view)
    said = [name.text for name in located_names(view.part) if view.context.echoes(name.text)]

    plainly = [plain(one) for one in said]

    def echoes(text: str) -> bool:
        return any(holds(text, one) and plain(text) != plain(one) for one in said)

    return replace(
        relations,
        headings=tuple(one for one in relations.headings if not echoes(one)),
        trail=tuple(one for one in relations.trail if not any(holds(one, name) for name in said)),
        labelled=tuple(
            one
            for one in relations.labelled
            if (one.label, one.value) not in frame and not (echoes(one.label) or plain(one.value) in plainly)
        ),
        relations=tuple(
            replace(one, title="" if echoes(one.title) else one.title) for one in relations.relations
        ),
    )


def _framing(view: PartView) -> set[tuple[str, str]]:
    """Return labels with values that nearly every page shows: the frame of the site, ``Cart total: $0.00``."""
    shown = view.memory.shown_on
    pages = len({path for paths in shown.values() for path in paths})
    return {value for value, paths in shown.items() if len(paths) > 2 and len(paths) >= _FRAME * pages}


def _open_row(view: PartView, answer: Answer) -> ScoutStep | None:
    element = next((one for one in view.context.page.elements if one.index == answer.control), None)
    if element is None:
        return None
    step = ScoutStep(
        action=Click(element.index, label=element.name),
        reason=f'"{answer.row}" is what the question is about',
        key=f"row:{answer.row}:{element.href or element.name}",
    )
    if view.memory.worn_out(step):
        return None
    names = frozenset(name.text for name in located_names(view.part))
    view.memory.opened[urlsplit(element.href).path.rstrip("/")] = names
    return step


def _between_pages(view: PartView, question: Question) -> Answer | None:
    """Return the difference of two things whose values stand on a page each."""
    about, told = _on_page_of(view), view.memory.values
    if question.aggregate is not Aggregate.DIFFERENCE or len(question.names) != 2 or not about:
        return None
    value = answer_from(
        replace(question, aggregate=Aggregate.VALUE),
        view.part,
        view.context.relations,
        names=(),
        on_page_of=about,
    )
    if value is not None and value.text and value.certain >= LIKELY:
        told.setdefault(about, value)
    return difference(list(told.values())[:2]) if len(told) > 1 else None


# Pages of rows


def _own_page(view: PartView, question: Question) -> ScoutStep | None:
    """Return the step to the page of a named thing, whose own list goes before rows that only mention it."""
    for name in _names_left(view, question):
        one = link_to(view.context, name.text)
        if (
            one is not None
            and plain(one.name) == plain(name.text)
            and page_key(one.href) not in view.memory.fits
        ):
            step = ScoutStep(
                action=Click(one.index, label=one.name),
                reason=f'"{one.name}" leads on',
                key=f"own:{page_key(one.href)}",
            )
            if not view.memory.worn_out(step):
                return step
    return None


def _rows_to_read(view: PartView, ask: partial[Answer | None], relations: PageRelations) -> RowPages | None:
    """Return the list of the thing that the page is of, where each of its rows has a page of its own."""
    hrefs = {one.index: one.href for one in view.context.links}
    wide = max(relations.relations, key=lambda one: len(one.rows), default=None)
    key = f"rows:{view.context.key}"
    if wide is None or not (2 <= len(wide.rows) <= _MOST_ROW_PAGES) or key in view.memory.marks:
        return None
    if not (_places(view) or _on_page_of(view)) or not view.finder.names_shown:
        return None
    links = [next((hrefs[c.index] for c in row.controls if c.index in hrefs), "") for row in wide.rows]
    view.memory.marks.add(key)
    return (
        RowPages(ask, replace(relations, labelled=()), wide, links)
        if all(links) and len(set(links)) == len(links)
        else None
    )


def _from_row_pages(view: PartView) -> ScoutStep | PartDone | None:
    """Read the page of a row and return the step to the next one; after the last the answer, ``None`` without one."""
    listing = view.memory.row_pages
    if listing is None:
        return None
    if listing.opened >= 0:
        told = tuple((one.label.casefold(), one.value) for one in view.context.relations.labelled)
        row = listing.relation.rows[listing.opened]
        listing.rows.append(replace(row, cells=(*row.cells, *(one for one in told if not row[one[0]]))))
    listing.opened += 1
    if listing.opened < len(listing.links):
        url = listing.links[listing.opened]
        return ScoutStep(
            action=Goto(url), reason="the page of a row may tell what its list does not", key=f"row:{url}"
        )
    view.memory.row_pages = None
    columns = dict.fromkeys(
        (*listing.relation.columns, *(name for row in listing.rows for name, _ in row.cells))
    )
    full = replace(listing.relation, rows=tuple(listing.rows), columns=tuple(columns))
    answer = listing.ask(replace(listing.page, relations=(full,)))
    return _done(answer) if answer is not None and answer.text and answer.certain >= LIKELY else None


# What the page is


def _places(view: PartView) -> tuple[str, ...]:
    """Return what the page as a whole is about: filters that brought it, things whose pages stand above it."""
    memory = view.memory
    listed = {view.context.key, *memory.collected}
    filters = [one for key in listed for one in sorted(memory.applied.get(key, ()))]
    return tuple(dict.fromkeys((*filters, *sorted(memory.places(view.context.path)))))


def _has_more(view: PartView, relations: PageRelations) -> bool:
    told = stated_total(relations)
    most = max((len(one.rows) for one in relations.relations), default=0)
    return _goes_on(view) and (told is None or most < told)


def _goes_on(view: PartView) -> bool:
    """Whether there is a next page; a number in a row of a list leads to none."""
    one = view.context.next_page
    return one is not None and not (one.name.isdecimal() and view.context.row_text(one))


def _is_narrowed(view: PartView) -> bool:
    """Whether a filter that the task does not say leaves out rows of the list."""
    said = (view.part.text, *_places(view))
    heads = {plain(name) for one in view.context.relations.relations for name in one.columns if name}
    return any(
        value != one.options[0] and not value.isdecimal() and not any(says(text, value) for text in said)
        for one in fields_of(view.context.page)
        if is_search(one) and len(one.options) > 1 and not _ORDERING & set(words(one.label))
        and len(heads & {plain(option) for option in one.options}) < 2  # columns: it sorts or groups
        for value in one.held
    )  # fmt: skip


def _on_page_of(view: PartView) -> str:
    """Return the name of the thing that the page is about, "" for none."""
    context, opened = view.context, view.memory.opened.get(view.context.path.rstrip("/"), frozenset[str]())
    parents = context.relations.trail[:-1]
    own = [text for text in context.subject if text not in parents]
    names = [name.text for name in located_names(view.part) if context.is_about(name.text)]
    if read_question(view.part).aggregate in _LISTED:  # ``X > Y`` lists what is of Y
        names = [one for one in names if not any(holds(text, one) for text in parents)
            or any(holds(text, one) for text in own)]  # fmt: skip
    return max((*names, *opened), key=len, default="")


def _names_left(view: PartView, question: Question) -> tuple[Name, ...]:
    """Return the names that do not hold of the whole page already; all of them on a page of nothing in particular."""
    above = view.memory.places(view.context.path)
    names = question.names or view.part.context
    left = tuple(name for name in names if name.text not in above)
    return left if left or _on_page_of(view) else names


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
