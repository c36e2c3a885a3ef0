"""Answers from many rows: counted, listed, summed, compared, counted by groups.  Exact and pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import ROUND_HALF_UP, Decimal

from app.engine.agent.scout.answers import Answer, AnswerNeed
from app.engine.agent.scout.likeness import fits, holds, meaning, plain, says, words
from app.engine.agent.scout.quantities import quantity_in
from app.engine.agent.scout.question_limits import ORDINALS
from app.engine.agent.scout.questions import Aggregate, Asked, Order, ValueKind
from app.engine.agent.scout.relations import Row, stated_total
from app.engine.agent.scout.row_selection import LEAST, NOTHING, SURE, QuestionView, Selection, is_id
from app.engine.core.text import word_set

_NAMING = word_set("name title names titles")
_EXACT = 0.95
"""Likeness of a label that says a phrase and nothing else."""
_ADDING = word_set("average mean total sum combined overall altogether")


def over_rows(look: QuestionView, aggregate: Aggregate) -> Answer | None:
    """The answer of the relation that fits best."""
    best, best_score = None, 0.0
    question, order = look.question, look.question.order
    if not set(ORDINALS).isdisjoint(question.words):  # ``the fifth book``: an order that is not read
        return None
    for selection in look.selections():
        fit = max(selection.about(one) for one in (question.things, order.attribute if order else ""))
        is_links = selection.relation.kind == "links" and fit < SURE
        found = None if is_links else _of_relation(look, aggregate, selection)
        met = len(selection.tests) + selection.placed
        if found is None or (fit < LEAST and not (met or look.on_page)):
            continue
        if fit < LEAST and not met and aggregate is Aggregate.COUNT and _left_over(look, selection):
            continue  # ``licences of the fifth book`` on the page of the series
        size = min(len(selection.relation.rows), 20) / 20
        score = 2 * fit + 0.5 * met - 1.5 * len(found.unmet) + 0.5 * size + bool(found.text)
        if best is None or score > best_score:
            sure = found.certain * (0.75 + 0.25 * fit) * (0.7 if question.noted else 1)
            best, best_score = replace(found, certain=round(sure, 3)), score
    return best


def _left_over(look: QuestionView, selection: Selection) -> list[str]:
    """Words of the question that neither the page, the list nor the words before a name account for."""
    question, page = look.question, look.page
    told = [*page.headings[:3], *page.trail, *selection.relation.columns, *look.place, *question.modifiers]
    told += [name.lead.split(" ")[-1] for name in question.names]
    told += [row.text for row in selection.relation.rows]
    return [word for word in question.words if not any(says(one, word) for one in told)]


def open_row(look: QuestionView, row: Row) -> Answer | None:
    """Ask for the page of a row's thing: by the link that a name stands in, else by the first."""
    links = [one for one in row.controls if one.role == "link" and one.name]
    named = [one for one in links if any(holds(one.name, name.text) for name in look.names)]
    for one in (named or links)[:1]:
        return Answer(
            needs=AnswerNeed.OPEN_ROW, control=one.index, row=one.name, rows=(row.text,), certain=0.7
        )
    return None


def _of_relation(look: QuestionView, aggregate: Aggregate, selection: Selection) -> Answer | None:
    rows, question = selection.select(), look.question
    if question.negated and not rows:  # the list may well be one of those that are refused
        selection.unmet += [f"not {one}" for one in question.negated]
    if selection.unmet:  # rows of further pages may meet it
        further = look.more and selection.about(question.things) >= SURE
        need = AnswerNeed.MORE_PAGES if further else AnswerNeed.NOTHING
        return Answer(unmet=tuple(dict.fromkeys(selection.unmet)), needs=need)
    total = stated_total(look.page)
    if question.top:
        ranked = selection.ranked(rows, question.order) if question.order else []
        rows = [row for _, row in ranked[: question.top]]
        if len(rows) < question.top:
            return Answer(needs=AnswerNeed.MORE_PAGES, certain=0.5)
    elif total is not None and aggregate is Aggregate.COUNT and not selection.tests:
        return Answer(text=str(total), rows=(f"{total} in all",), certain=0.85)
    if look.more or (total is not None and total > len(selection.relation.rows) > 1):
        return Answer(needs=AnswerNeed.MORE_PAGES, certain=0.5)
    counts = selection.column(question.things, ValueKind.NUMBER, 0.85)
    if aggregate is Aggregate.COUNT and counts and selection.kind(counts) == "number":
        aggregate = Aggregate.SUM  # the comments of all posts
    reader = _READERS.get(aggregate)
    return reader(look, selection, rows) if reader and (not question.group or reader is _groups) else None


def _texts(rows: Sequence[Row]) -> tuple[str, ...]:
    return tuple(row.text[:200] for row in rows[:50])


def _count(look: QuestionView, selection: Selection, rows: Sequence[Row]) -> Answer | None:
    return Answer(text=str(len(rows)), rows=_texts(rows), certain=0.9 if rows else 0.5)


def _list(look: QuestionView, selection: Selection, rows: Sequence[Row]) -> Answer | None:
    columns = [_asked_column(selection, one) for one in look.question.asked]
    return _joined_rows(rows, columns, 0.85) if all(columns) and rows else None


def _joined_rows(rows: Sequence[Row], columns: Sequence[str], certain: float) -> Answer:
    told = [", ".join(row[one] for one in columns if row[one]) for row in rows]
    return Answer(
        text=", ".join(dict.fromkeys(one for one in told if one)), rows=_texts(rows), certain=certain
    )


def _asked_column(selection: Selection, asked: Asked) -> str:
    """The column asked for: by its name, else the one that names the things where these are asked for."""
    number = next((one for one in selection.columns if is_id(one)), "")
    if asked.phrase == "number" or asked.phrase.startswith("numbers"):  # what the things are called by
        return number
    column = selection.column(asked.phrase, asked.kind) if asked.phrase else ""
    if fits(asked.phrase, column) < _EXACT and fits(asked.phrase, selection.question.things) >= SURE:
        column = ""  # ``book 3 of`` is not the book
    if column or is_id(asked.phrase):
        return column or number
    things = selection.question.things
    itself = not asked.phrase or set(meaning(asked.phrase)) <= _NAMING or fits(asked.phrase, things) >= SURE
    itself = itself and (selection.look.on_page or selection.about(things) >= LEAST)
    return selection.name_column() if itself and asked.kind in (ValueKind.ANY, ValueKind.PERSON) else ""


def _sum(look: QuestionView, selection: Selection, rows: Sequence[Row]) -> Answer | None:
    question, phrase = look.question, look.question.asked[0].phrase
    bare = " ".join(one for one in words(phrase) if one not in _ADDING)
    money = [one for one in selection.columns if selection.kind(one) == "money"]
    named = selection.column(phrase, ValueKind.NUMBER) or selection.column(bare, ValueKind.NUMBER)
    column = named or (money[0] if len(money) == 1 else "")
    told = [one for row in rows if (one := quantity_in(row[column])) is not None] if column else []
    if not told or len({one.unit for one in told}) > 1:
        return None
    total, places = sum((one.amount for one in told), Decimal(0)), max(one.decimals for one in told)
    if question.aggregate is Aggregate.AVERAGE:
        total, places = total / len(told), max(2, places)
    places = places if question.places is None else question.places
    text = str(total.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP))
    sure = 0.6 if question.aggregate is Aggregate.VALUE else 0.8
    return Answer(
        text=text, rows=tuple(f"{row.text[:160]}: {row[column]}" for row in rows[:50]), certain=sure
    )


def _extreme(look: QuestionView, selection: Selection, rows: Sequence[Row]) -> Answer | None:
    """The value asked for of the row at one end; of all rows that tie there, three at most."""
    order = look.question.order
    if order is None:
        return None
    column = selection.order_column(order)
    if not column:
        return _most_rows(look, selection, rows, order)
    ranked = selection.ranked(rows, order)
    if len(ranked) < order.place:
        return None
    ends = [row for rank, row in ranked if rank == ranked[order.place - 1][0]]
    ends = ends[:1] if order.place > 1 else ends
    asked = look.question.asked
    columns = [column if fits(one.phrase, column) >= SURE else _asked_column(selection, one) for one in asked]
    bare = next((row for row in ends if not all(one and row[one] for one in columns)), None)
    if len(ends) > 3 or bare is not None:
        return open_row(look, bare) if bare and len(ends) == 1 else None
    return _joined_rows(ends, columns, 0.85)


def _most_rows(look: QuestionView, selection: Selection, rows: Sequence[Row], order: Order) -> Answer | None:
    """``Who has the most issues``: rows are issues, counted by person."""
    asked, *others = look.question.asked
    if others or selection.about(order.attribute or look.question.things) < LEAST:
        return None
    column = selection.column(asked.phrase, asked.kind) or selection.column(look.question.things)
    counts = _counts(rows, column) if column else []
    counts.sort(key=lambda one: one[1], reverse=order.largest)
    best = [one for one, number in counts if number == counts[min(order.place, len(counts)) - 1][1]]
    told = tuple(f"{one}: {number}" for one, number in counts[:20])
    return Answer(text=", ".join(best), rows=told, certain=0.8) if 0 < len(best) <= 3 else None


def _counts(rows: Sequence[Row], column: str) -> list[tuple[str, int]]:
    values = (row[column].strip() for row in rows)
    return list(Counter(one for one in values if plain(one) not in NOTHING).items())


def _groups(look: QuestionView, selection: Selection, rows: Sequence[Row]) -> Answer | None:
    column = selection.column(look.question.group)
    told = [f"{value}: {number}" for value, number in _counts(rows, column)] if column else []
    return Answer(text=", ".join(told), rows=_texts(rows), certain=0.8) if told else None


_READERS: dict[Aggregate, Callable[[QuestionView, Selection, Sequence[Row]], Answer | None]] = {
    Aggregate.COUNT: _count,
    Aggregate.LIST: _list,
    Aggregate.SUM: _sum,
    Aggregate.AVERAGE: _sum,
    Aggregate.LARGEST: _extreme,
    Aggregate.SMALLEST: _extreme,
    Aggregate.GROUP_COUNT: _groups,
}
