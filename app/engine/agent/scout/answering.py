"""Answers from what a page lists: a value of the thing asked about, rows counted, summed, compared, listed.  Pure.

A wrong answer is worse than none: an answer is given only where the column or label is clear and every condition of the
question is met by rows or by the page.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import ROUND_HALF_UP, Decimal
from enum import StrEnum

from app.engine.agent.scout.dates import period_in
from app.engine.agent.scout.likeness import fits, forms, holds, meaning, plain, says, words
from app.engine.agent.scout.quantities import quantity_in
from app.engine.agent.scout.questions import Aggregate, Asked, Question, ValueKind
from app.engine.agent.scout.relations import Labelled, PageRelations, Row, total_told
from app.engine.agent.scout.row_selection import LEAST, NOTHING, SURE, Selection, about, suits
from app.engine.agent.scout.task import Name, TaskPart
from app.engine.core.text import word_set

_ALONE = 0.82
"""Likeness from which a label answers on a page that is of no thing in particular."""
_NAMING = word_set("name title names titles")
_ADDING = word_set("average mean total sum combined overall altogether")
_YES, _NO = word_set("yes true on ✓ ✔"), word_set("no false off ✗ ✘")


class Need(StrEnum):
    """What is missing for an answer."""

    NOTHING = "nothing"
    MORE_PAGES = "more_pages"
    OPEN_ROW = "open_row"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An answer, or what is missing for one.

    Attributes:
        text: as it stands on the page; "" where something is missing.
        rows: the texts it rests on.
        certain: in [0, 1].
        needs: ``open_row`` where the thing is a row here and its own page has to be opened by ``control``.
        row: the name of that row.
        unmet: conditions that nothing on the page tells of; by a filter or on another page they may be met.
    """

    text: str = ""
    rows: tuple[str, ...] = ()
    certain: float = 0.0
    needs: Need = Need.NOTHING
    control: int | None = None
    row: str = ""
    unmet: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Look:
    question: Question
    page: PageRelations
    names: tuple[Name, ...]
    place: tuple[str, ...]
    on_page: bool
    more: bool
    offered: Sequence[tuple[str, tuple[str, ...]]]
    today: date | None

    def selections(self) -> list[Selection]:
        """Every relation as the question sees it."""
        return [
            Selection(self.question, one, self.page, self.names, self.place, self.offered, self.today)
            for one in self.page.relations
        ]


def answer_from(
    question: Question,
    part: TaskPart,
    relations: PageRelations,
    *,
    names: Sequence[Name] | None = None,
    on_page_of: str = "",
    more: bool = False,
    offered: Sequence[tuple[str, tuple[str, ...]]] = (),
    today: date | None = None,
    applied: Sequence[str] = (),
) -> Answer | None:
    """Return what a page answers.

    Args:
        names: names in play; by default those of the question, else those of the parts before it.
        on_page_of: the thing that the page is of, "" for none.
        more: there are further pages of the list.
        offered: (label, options) of fields that could narrow the list.
        applied: filters that brought the page.
        today: for ages (``older than 30 days``) where the page gives dates.

    Returns:
        ``None`` where the page has nothing to say; an answer without text where something is missing.
    """
    known = tuple(names if names is not None else question.names or part.context)
    here = tuple(one for one in known if on_page_of and _same(one.text, on_page_of))
    look = _Look(
        question=question,
        page=relations,
        names=tuple(one for one in known if one not in here),
        place=(*((on_page_of,) if on_page_of else ()), *applied),
        on_page=bool(on_page_of),
        more=more,
        offered=offered,
        today=today,
    )
    match question.aggregate:
        case Aggregate.VALUE if question.limits and question.asked[0].kind is ValueKind.AMOUNT and not known:
            return _over_rows(look, Aggregate.SUM)
        case Aggregate.VALUE:
            return _values(look)
        case Aggregate.YES_NO:
            return _yes_no(look)
        case Aggregate.DIFFERENCE:
            return _difference(look)
        case Aggregate.COUNT | Aggregate.SUM | Aggregate.AVERAGE if not question.limits:
            return _told(look) or _over_rows(look, question.aggregate)
        case _:
            return _over_rows(look, question.aggregate)


def _same(name: str, other: str) -> bool:
    return plain(name) == plain(other) or holds(other, name) or holds(name, other)


# Values of one thing


def _values(look: _Look) -> Answer | None:
    """Each value asked for, joined; nothing where one of them is missing."""
    found = [_value(look, one) for one in look.question.asked]
    if any(one is None for one in found):
        return None
    answers = [one for one in found if one is not None]
    missing = next((one for one in answers if not one.text), None)
    if missing is not None:
        return missing
    return Answer(
        text=", ".join(dict.fromkeys(one.text for one in answers)),
        rows=tuple(row for one in answers for row in one.rows),
        certain=min(one.certain for one in answers),
    )


def _value(look: _Look, asked: Asked) -> Answer | None:
    if look.on_page and not look.names:
        return _labelled(look, asked, LEAST) or _only_one(look, asked)
    if look.names:
        found = _cell(look, asked)
        if found is None and _all_placed(look):
            found = _labelled(look, asked, SURE) or _only_one(look, asked)
        return found
    return None if look.question.limits else _labelled(look, asked, _ALONE)


def _all_placed(look: _Look) -> bool:
    """Whether the page as a whole is about every name: its heading, its trail."""
    told = [*look.page.headings[:3], *look.page.trail[-1:], *look.place]
    told += [one.value for one in look.page.labelled if one.field is not None]
    return all(any(holds(one, name.text) for one in told) for name in look.names)


def _labelled(look: _Look, asked: Asked, least: float) -> Answer | None:
    """The value whose label says best what is asked for."""
    best: tuple[float, Labelled] | None = None
    rest = {form for word in look.question.words for form in forms(word)}
    for one in look.page.labelled:
        score = fits(asked.phrase, one.label) if asked.phrase else 0.0
        if score < least or not suits(asked.kind, one.value):
            continue
        score += 0.03 * any(forms(word) & rest for word in words(one.title)) - 0.04 * one.listed
        score -= 0.02 * (one.field is not None)
        if best is None or score > best[0] + 1e-9:
            best = score, one
    if best is None:
        return None
    return _evidence(best[1].value, f"{best[1].label}: {best[1].value}", max(best[0], 0.6))


def _only_one(look: _Look, asked: Asked) -> Answer | None:
    """The only value of its kind on the page of the thing: the one date, the one amount of money."""
    if asked.kind not in (ValueKind.DATE, ValueKind.AMOUNT, ValueKind.DURATION):
        return None
    alike = [
        one for one in look.page.labelled if suits(asked.kind, one.value) and _strict(asked.kind, one.value)
    ]
    if len({one.value for one in alike}) == 1:
        return _evidence(alike[0].value, f"{alike[0].label}: {alike[0].value}", 0.6)
    return None


def _strict(kind: ValueKind, value: str) -> bool:
    told = quantity_in(value)
    unit = "s" if kind is ValueKind.DURATION else "$"
    return kind is ValueKind.DATE or (told is not None and told.unit == unit and len(value) < 24)


def _cell(look: _Look, asked: Asked) -> Answer | None:
    """The cell of the thing's row in the column asked for; the row to open where that column is not here."""
    waiting: Answer | None = None
    for selection in sorted(look.selections(), key=lambda one: one.relation.kind == "links"):
        rows = _rows_of(look, selection)
        if not rows:
            continue
        column = selection.column(asked.phrase, asked.kind)
        values = list(dict.fromkeys(row[column] for row in rows)) if column else []
        if (
            column
            and len(values) == 1
            and values[0]
            and not any(_same(values[0], one.text) for one in look.names)
        ):
            return _evidence(
                values[0], rows[0].text, max(0.6, fits(asked.phrase, column) if asked.phrase else 0.6)
            )
        if waiting is None and len(rows) == 1:
            waiting = _open(look, rows[0])
    return waiting


def _rows_of(look: _Look, selection: Selection) -> list[Row]:
    """Rows that hold every name; those that hold one as a whole cell before those that hold it within a text."""
    whole, within = list[Row](), list[Row]()
    for row in selection.relation.rows:
        cells = [text for _, text in row.cells if text]
        if all(
            any(
                plain(cell) == plain(name.text).lstrip("#") or plain(cell).lstrip("#") == plain(name.text)
                for cell in cells
            )
            for name in look.names
        ):
            whole.append(row)
        elif all(any(holds(cell, name.text) for cell in cells) for name in look.names):
            within.append(row)
    return whole or within


def _open(look: _Look, row: Row) -> Answer | None:
    links = [one for one in row.controls if one.role == "link" and one.name]
    named = [one for one in links if any(holds(one.name, name.text) for name in look.names)]
    if not links:
        return None
    chosen = (named or links)[0]
    return Answer(needs=Need.OPEN_ROW, control=chosen.index, row=chosen.name, rows=(row.text,), certain=0.7)


def _evidence(value: str, row: str, certain: float) -> Answer:
    return Answer(text=" ".join(value.split()), rows=(row[:400],), certain=round(min(0.98, certain), 3))


# Counts and amounts that the page tells itself


def _told(look: _Look) -> Answer | None:
    """A labelled number or ``6 customer reviews``: on the page of the thing, or in its row."""
    question = look.question
    if question.negated or (question.modifiers and not look.on_page):
        return None
    asked = Asked(question.asked[0].phrase, ValueKind.NUMBER)
    if look.names:
        found = (
            _cell(look, asked)
            if question.aggregate is not Aggregate.COUNT or not question.modifiers
            else None
        )
        if found and found.text:
            return found
    elif look.on_page:
        return _labelled(look, asked, SURE) or _counted(look, asked.phrase)
    if question.aggregate is not Aggregate.COUNT and (not look.names or _all_placed(look)):
        return _labelled(look, asked, _ALONE)
    return None


def _counted(look: _Look, phrase: str) -> Answer | None:
    wanted = meaning(phrase)
    for text in look.page.counts:
        told = words(text[:80])
        for at, word in enumerate(told[:-1]):
            behind = told[at + 1 : at + 1 + len(wanted)]
            alike = all(forms(a) & forms(b) for a, b in zip(wanted, behind, strict=False))
            if word.isdecimal() and wanted and len(behind) == len(wanted) and alike:
                return _evidence(word, text, 0.85)
    return None


# Rows counted, summed, compared


def _over_rows(look: _Look, aggregate: Aggregate) -> Answer | None:
    """The answer of the relation that fits best."""
    best: tuple[float, Answer] | None = None
    for selection in look.selections():
        fit = about(selection, look.question.things)
        if selection.relation.kind == "links" and fit < SURE:
            continue
        found = _of_relation(look, aggregate, selection)
        if found is None:
            continue
        met = len(selection.tests) + selection.placed
        if fit < LEAST and not met:
            continue
        size = min(len(selection.relation.rows), 20) / 20
        score = 2 * fit + 0.5 * met - 1.5 * len(found.unmet) + 0.5 * size + (1.0 if found.text else 0.0)
        found = replace(found, certain=round(found.certain * (0.75 + 0.25 * fit), 3))
        if best is None or score > best[0]:
            best = score, found
    return best[1] if best else None


def _of_relation(look: _Look, aggregate: Aggregate, selection: Selection) -> Answer | None:
    rows, question = selection.select(), look.question
    if question.negated and not rows:  # the list may well be one of those that are refused
        selection.unmet += [f"not {one}" for one in question.negated]
    if selection.unmet:
        return Answer(unmet=tuple(dict.fromkeys(selection.unmet)))
    total = total_told(look.page)
    if question.top:
        rows = selection.top(rows) or []
        if len(rows) < question.top:
            return Answer(needs=Need.MORE_PAGES, certain=0.5)
    elif total is not None and aggregate is Aggregate.COUNT and not selection.tests:
        return Answer(text=str(total), rows=(f"{total} in all",), certain=0.85)
    if look.more or (total is not None and total > len(selection.relation.rows) > 1):
        return Answer(needs=Need.MORE_PAGES, certain=0.5)
    if aggregate is Aggregate.COUNT and selection.column(question.things, ValueKind.NUMBER, 0.85):
        aggregate = Aggregate.SUM  # the comments of all posts
    reader = _READERS.get(aggregate)
    return reader(look, selection, rows) if reader and (not question.group or reader is _groups) else None


def _texts(rows: Sequence[Row]) -> tuple[str, ...]:
    return tuple(row.text[:200] for row in rows[:50])


def _count(look: _Look, selection: Selection, rows: Sequence[Row]) -> Answer | None:
    return Answer(text=str(len(rows)), rows=_texts(rows), certain=0.9 if rows else 0.5)


def _list(look: _Look, selection: Selection, rows: Sequence[Row]) -> Answer | None:
    columns = [_asked_column(selection, one) for one in look.question.asked]
    if not all(columns) or not rows:
        return None
    told = [", ".join(row[one] for one in columns if row[one]) for row in rows]
    return Answer(text=", ".join(dict.fromkeys(one for one in told if one)), rows=_texts(rows), certain=0.85)


def _asked_column(selection: Selection, asked: Asked) -> str:
    """The column asked for: by its name, else the one that names the things where these are asked for."""
    column = selection.column(asked.phrase, asked.kind) if asked.phrase else ""
    if column:
        return column
    things = selection.question.things
    itself = not asked.phrase or set(meaning(asked.phrase)) <= _NAMING or fits(asked.phrase, things) >= SURE
    itself = itself and about(selection, things) >= LEAST
    return selection.name_column() if itself and asked.kind in (ValueKind.ANY, ValueKind.PERSON) else ""


def _amount_column(selection: Selection) -> str:
    asked = selection.question.asked[0]
    phrase = " ".join(one for one in words(asked.phrase) if one not in _ADDING)
    for told in (asked.phrase, phrase):
        column = selection.column(told, ValueKind.NUMBER) if told else ""
        if column:
            return column
    money = [one for one in selection.relation.columns if selection.kind(one) == "money"]
    return money[0] if len(money) == 1 else ""


def _sum(look: _Look, selection: Selection, rows: Sequence[Row]) -> Answer | None:
    column = _amount_column(selection)
    told = [one for row in rows if (one := quantity_in(row[column])) is not None] if column else []
    if not told or len({one.unit for one in told}) > 1:
        return None
    total = sum((one.amount for one in told), Decimal(0))
    places = max(one.decimals for one in told)
    if look.question.aggregate is Aggregate.AVERAGE:
        total, places = total / len(told), max(2, places)
    text = str(total.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP))
    sure = 0.6 if look.question.aggregate is Aggregate.VALUE else 0.8
    return Answer(
        text=text, rows=tuple(f"{row.text[:160]}: {row[column]}" for row in rows[:50]), certain=sure
    )


def _extreme(look: _Look, selection: Selection, rows: Sequence[Row]) -> Answer | None:
    """The value asked for of the row at one end; several columns to order by must agree on the row."""
    order = look.question.order
    if order is None:
        return None
    columns = selection.order_columns(order)
    picked: list[Row] = []
    for column in columns:
        ranked = sorted(
            (
                (rank, -at)
                for at, row in enumerate(rows)
                if (rank := selection.rank(column, row[column])) is not None
            ),
            reverse=order.largest,
        )
        if len(ranked) < max(order.place, (len(rows) + 1) // 2):
            continue
        rank = ranked[order.place - 1][0]
        ties = [rows[-at] for one, at in ranked if one == rank]
        if order.place == 1 and len(ties) > 1:
            return None if len(ties) > 3 else _of_rows(look, selection, ties, column)
        picked.append(ties[0])
    if not columns:
        return _most_rows(look, selection, rows)
    if not picked or any(one is not picked[0] for one in picked):
        return None
    return _of_rows(look, selection, picked[:1], columns[0])


def _of_rows(look: _Look, selection: Selection, rows: Sequence[Row], ordered: str) -> Answer | None:
    told: list[str] = []
    for row in rows:
        values: list[str] = []
        for asked in look.question.asked:
            column = (
                ordered
                if asked.phrase and fits(asked.phrase, ordered) >= SURE
                else _asked_column(selection, asked)
            )
            if not column or not row[column]:
                return _open(look, row)
            values.append(row[column])
        told.append(", ".join(values))
    return Answer(text=", ".join(dict.fromkeys(told)), rows=_texts(rows), certain=0.85)


def _most_rows(look: _Look, selection: Selection, rows: Sequence[Row]) -> Answer | None:
    """``Who has the most issues``: rows are issues, counted by person."""
    order = look.question.order
    if order is None or about(selection, order.attribute) < LEAST:
        return None
    column = next(
        (found for one in look.question.asked[:1] if (found := selection.column(one.phrase, one.kind))), ""
    )
    column = column or selection.column(look.question.things)
    counts = _counts(rows, column) if column else []
    if not counts:
        return None
    counts.sort(key=lambda one: one[1], reverse=order.largest)
    best = [one for one, number in counts if number == counts[min(order.place, len(counts)) - 1][1]]
    if len(best) > 3 or len(look.question.asked) > 1:
        return None
    return Answer(
        text=", ".join(best), rows=tuple(f"{one}: {number}" for one, number in counts[:20]), certain=0.8
    )


def _counts(rows: Sequence[Row], column: str) -> list[tuple[str, int]]:
    found: dict[str, int] = {}
    for row in rows:
        value = row[column].strip()
        if value and plain(value) not in NOTHING and value not in ("-", "–", "—"):
            found[value] = found.get(value, 0) + 1
    return list(found.items())


def _groups(look: _Look, selection: Selection, rows: Sequence[Row]) -> Answer | None:
    column = selection.column(look.question.group)
    if not column:
        return None
    told = [f"{value}: {number}" for value, number in _counts(rows, column)]
    return Answer(text=", ".join(told), rows=_texts(rows), certain=0.8) if told else None


_READERS: dict[Aggregate, Callable[[_Look, Selection, Sequence[Row]], Answer | None]] = {
    Aggregate.COUNT: _count,
    Aggregate.LIST: _list,
    Aggregate.SUM: _sum,
    Aggregate.AVERAGE: _sum,
    Aggregate.LARGEST: _extreme,
    Aggregate.SMALLEST: _extreme,
    Aggregate.GROUP_COUNT: _groups,
}

# Yes or no, differences


def _yes_no(look: _Look) -> Answer | None:
    """Whether what is said of the thing holds, by a label with yes or no, or by a value that has alternatives."""
    said = look.question.asked[0].phrase
    pairs: list[tuple[str, str]] = []
    if look.on_page and not look.names:
        pairs = [(one.label, one.value) for one in look.page.labelled]
    elif look.names:
        for selection in look.selections():
            rows = _rows_of(look, selection)
            pairs += [cell for row in rows for cell in row.cells] if len(rows) == 1 else []
        if not pairs and _all_placed(look):
            pairs = [(one.label, one.value) for one in look.page.labelled]
    for label, value in pairs:
        verdict = _verdict(look, said, label, value)
        if verdict:
            return _evidence(verdict, f"{label}: {value}", 0.8)
    return None


def _verdict(look: _Look, said: str, label: str, value: str) -> str:
    if not said or not value:
        return ""
    if fits(said, label) >= SURE:
        if plain(value) in _YES:
            return "yes"
        return "no" if plain(value) in _NO | NOTHING or not plain(value) else "yes"
    if says(value, said) and len(words(value)) <= len(words(said)) + 1:
        return "no" if set(words(value)) & {"not", "un", "non", "no"} else "yes"
    others = [option for name, options in look.offered if fits(label, name) >= SURE for option in options]
    others += [row[label] for one in look.page.relations if label in one.columns for row in one.rows]
    return "no" if any(says(one, said) and len(words(one)) <= len(words(said)) + 1 for one in others) else ""


def _difference(look: _Look) -> Answer | None:
    """Between two values of one thing, or one value of two things; days between dates."""
    asked = list(look.question.asked)
    if len(asked) > 1:
        found = [_value(look, one) for one in asked[:2]]
    elif len(look.names) == 2:
        found = [_cell(replace(look, names=(name,)), Asked(asked[0].phrase)) for name in look.names]
    else:
        return None
    told = [one for one in found if one is not None and one.text]
    if len(told) != 2:
        return next((one for one in found if one is not None and not one.text), None)
    text = _apart(told[0].text, told[1].text)
    return Answer(text=text, rows=(*told[0].rows, *told[1].rows), certain=0.8) if text else None


def _apart(one: str, other: str) -> str:
    days = period_in(one), period_in(other)
    if days[0] and days[1]:
        return str(abs((days[0][0] - days[1][0]).days))
    numbers = quantity_in(one), quantity_in(other)
    if numbers[0] is None or numbers[1] is None or numbers[0].unit != numbers[1].unit:
        return ""
    places = max(numbers[0].decimals, numbers[1].decimals)
    return str(abs(numbers[0].amount - numbers[1].amount).quantize(Decimal(1).scaleb(-places)))
