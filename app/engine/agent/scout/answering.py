"""Answers from what a page lists: a value of the thing asked about, yes or no, a difference; the rest is of many rows.

A wrong answer is worse than none: an answer is given only where the column or label is clear and every condition of the
question is met by rows or by the page.  Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from decimal import Decimal

from app.engine.agent.scout.answers import Answer, AnswerNeed, evidence
from app.engine.agent.scout.dates import period_in
from app.engine.agent.scout.likeness import fits, holds, meaning, plain, says, words
from app.engine.agent.scout.quantities import quantity_in
from app.engine.agent.scout.questions import Aggregate, Asked, Question, ValueKind
from app.engine.agent.scout.relations import PageRelations, Row
from app.engine.agent.scout.row_answers import open_row, over_rows
from app.engine.agent.scout.row_selection import LEAST, NOTHING, SURE, QuestionView, Selection, suits
from app.engine.agent.scout.task import Name, TaskPart

__all__ = ["Answer", "AnswerNeed", "answer_from", "difference"]

_ALONE = 0.82
"""Likeness from which a label answers on a page that is of no thing in particular."""
_LIKELY = 0.6
_UNITS = {ValueKind.AMOUNT: "$", ValueKind.DURATION: "s"}


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
    look = QuestionView(
        question=question,
        page=relations,
        names=tuple(one for one in known if not (on_page_of and _same(one.text, on_page_of))),
        place=(*((on_page_of,) if on_page_of else ()), *applied),
        on_page=bool(on_page_of),
        more=more,
        offered=offered,
        today=today,
    )
    match question.aggregate:
        case Aggregate.VALUE if question.limits and question.asked[0].kind is ValueKind.AMOUNT and not known:
            return over_rows(look, Aggregate.SUM)
        case Aggregate.VALUE:
            return _values(look)
        case Aggregate.YES_NO:
            return _yes_no(look)
        case Aggregate.DIFFERENCE:
            return _difference(look)
        case Aggregate.COUNT | Aggregate.SUM | Aggregate.AVERAGE if not question.limits:
            return _stated(look) or over_rows(look, question.aggregate)
        case _:
            return over_rows(look, question.aggregate)


def _same(name: str, other: str) -> bool:
    return plain(name) == plain(other) or holds(other, name) or holds(name, other)


# Values of one thing


def _values(look: QuestionView) -> Answer | None:
    """Each value asked for, joined; nothing where one of them is missing, or where limits would have to be met."""
    if look.question.limits:
        return None
    answers = [_value(look, one) for one in look.question.asked]
    found = [one for one in answers if one is not None]
    if len(found) < len(answers):
        return None
    return next((one for one in found if not one.text), None) or _joined(found, ", ")


def _joined(answers: Sequence[Answer], between: str) -> Answer:
    return Answer(
        text=between.join(dict.fromkeys(one.text for one in answers)),
        rows=tuple(row for one in answers for row in one.rows),
        certain=min(one.certain for one in answers),
    )


def _value(look: QuestionView, asked: Asked) -> Answer | None:
    found = _cell(look, asked) if look.names else None
    if found is None and (_all_placed(look) if look.names else look.on_page):
        found = (
            _labelled(look, asked, SURE if look.names else LEAST) or _only_one(look, asked) or _linked(look)
        )
    elif found is None and not look.names:
        found = _labelled(look, asked, _ALONE)
    return found


def _all_placed(look: QuestionView) -> bool:
    """Whether the page as a whole is about every name: its heading, its trail."""
    told = [*look.page.headings[:3], *look.page.trail[-1:], *look.place]
    told += [one.value for one in look.page.labelled if one.field is not None]
    return all(any(holds(one, name.text) for one in told) for name in look.names)


def _labelled(look: QuestionView, asked: Asked, least: float) -> Answer | None:
    """The value whose label says best what is asked for; neither label nor value is what the question itself names."""
    told = {plain(one.text) for one in look.question.names}
    best, found = 0.0, None
    for one in look.page.labelled:
        score = fits(asked.phrase, one.label)
        if score < least or not suits(asked.kind, one.value) or plain(one.value) in told:
            continue
        if any(holds(one.label, name) for name in told):  # ``Products matching "X"``
            continue
        score += 0.03 * any(says(look.question.text, word) for word in meaning(one.title))
        score -= 0.02 * (one.field is not None)
        if score > best + 1e-9:
            best, found = score, one
    return evidence(found.value, f"{found.label}: {found.value}", max(best, _LIKELY)) if found else None


def _only_one(look: QuestionView, asked: Asked) -> Answer | None:
    """The only value of its kind on the page of the thing: the one date, the one amount of money.

    Of several that whose label the question says: ``Follow-up date`` for the day of the follow-up.
    """
    unit = _UNITS.get(asked.kind)
    if unit is None and asked.kind is not ValueKind.DATE:
        return None
    alike = [one for one in look.page.labelled if suits(asked.kind, one.value)]
    if unit:
        numbers = [(one, quantity_in(one.value)) for one in alike if len(one.value) < 24]
        alike = [one for one, told in numbers if told is not None and told.unit == unit]
    shared = [sum(says(look.question.text, word) for word in words(one.label)) for one in alike]
    best = max(shared, default=0)
    said = best > max([1, *sorted(shared)[:-1]])
    if not said and len({one.value for one in alike}) != 1:
        return None
    one = alike[shared.index(best)]
    return evidence(one.value, f"{one.label}: {one.value}", SURE if said else _LIKELY)


def _linked(look: QuestionView) -> Answer | None:
    """The page of another thing that the question speaks of: ``the organisation of the person who created it``."""
    asked = {word for one in look.question.asked for word in words(one.phrase)}
    said = " ".join(word for word in look.question.words if word not in asked)
    named = {plain(one.text) for one in look.question.names}
    for one in look.page.labelled:
        label = meaning(one.label)
        if (
            one.link is not None
            and label
            and all(says(said, word) for word in label)
            and plain(one.value) not in named
        ):
            text = f"{one.label}: {one.value}"
            return Answer(
                needs=AnswerNeed.OPEN_ROW, control=one.link, row=one.value, rows=(text,), certain=0.7
            )
    return None


def _cell(look: QuestionView, asked: Asked) -> Answer | None:
    """The cell of the thing's row in the column asked for; the row to open where that column is not here."""
    waiting: Answer | None = None
    for selection in sorted(look.selections(), key=lambda one: one.relation.kind == "links"):
        rows = _rows_of(look, selection)
        column = selection.column(asked.phrase, asked.kind) if rows else ""
        values = list(dict.fromkeys(row[column] for row in rows)) if column else []
        if len(values) == 1 and values[0] and not any(_same(values[0], one.text) for one in look.names):
            return evidence(values[0], rows[0].text, max(_LIKELY, fits(asked.phrase, column)))
        if waiting is None and len(rows) == 1:
            waiting = open_row(look, rows[0])
    return waiting


def _rows_of(look: QuestionView, selection: Selection) -> list[Row]:
    """Rows that hold every name; those that hold one as a whole cell before those that hold it within a text."""

    def whole(cell: str, name: str) -> bool:
        return plain(cell).lstrip("#") == plain(name).lstrip("#")

    for alike in (whole, holds):
        rows = [(row, [text for _, text in row.cells if text]) for row in selection.relation.rows]
        held = [row for row, cells in rows if all(any(alike(c, n.text) for c in cells) for n in look.names)]
        if held:
            return held
    return []


# Counts and amounts that the page tells itself


def _stated(look: QuestionView) -> Answer | None:
    """A labelled number or ``6 customer reviews``: on the page of the thing, or in its row."""
    question, counted = look.question, look.question.aggregate is Aggregate.COUNT
    if question.negated or (question.modifiers and not look.on_page):
        return None
    asked = Asked(question.asked[0].phrase, ValueKind.NUMBER)
    found = _cell(look, asked) if look.names and not (counted and question.modifiers) else None
    if found and found.text:
        return found
    if look.on_page and not look.names:
        return _labelled(look, asked, SURE) or _counted(look, asked.phrase)
    return _labelled(look, asked, _ALONE) if not counted and (not look.names or _all_placed(look)) else None


def _counted(look: QuestionView, phrase: str) -> Answer | None:
    wanted = " ".join(meaning(phrase))
    for text in look.page.counts:
        told = words(text[:80])
        for at, word in enumerate(told[:-1]):
            if word.isdecimal() and says(" ".join(told[at + 1 : at + 1 + len(wanted.split())]), wanted):
                return evidence(word, text, 0.85)
    return None


# Yes or no, differences


def _yes_no(look: QuestionView) -> Answer | None:
    """Whether what is said of the thing holds, by a label with yes or no, or by a value that has alternatives."""
    pairs: list[tuple[str, str]] = []
    for rows in (_rows_of(look, one) for one in look.selections() if look.names):
        pairs += rows[0].cells if len(rows) == 1 else ()
    if (not pairs and _all_placed(look)) if look.names else look.on_page:
        pairs = [(one.label, one.value) for one in look.page.labelled]
    told = ((_verdict(look, label, value), label, value) for label, value in pairs if value)
    found = next(((verdict, f"{label}: {value}") for verdict, label, value in told if verdict), None)
    return evidence(*found, 0.8) if found else None


def _verdict(look: QuestionView, label: str, value: str) -> str:
    said = look.question.asked[0].phrase
    if fits(said, label) >= SURE:
        return "no" if plain(value) in NOTHING else "yes"
    if _is_value(value, said):
        return "no" if set(words(value)) & {"not", "un", "non", "no"} else "yes"
    others = [option for name, options in look.offered if fits(label, name) >= SURE for option in options]
    others += [row[label] for one in look.page.relations if label in one.columns for row in one.rows]
    return "no" if any(_is_value(one, said) for one in others) else ""


def _is_value(text: str, said: str) -> bool:
    """Whether a text says what is said, with one word more at most."""
    return says(text, said) and len(words(text)) <= len(words(said)) + 1


def _difference(look: QuestionView) -> Answer | None:
    """Between two values of one thing, or one value of two things; days between dates."""
    asked = list(look.question.asked)
    if len(asked) > 1:
        found = [_value(look, one) for one in asked[:2]]
    elif len(look.names) == 2:
        found = [_cell(replace(look, names=(name,)), Asked(asked[0].phrase)) for name in look.names]
    else:
        return None
    told = [one for one in found if one is not None and one.text]
    if len(told) < 2:
        return next((one for one in found if one is not None and not one.text), None)
    return difference(told)


def difference(told: Sequence[Answer]) -> Answer | None:
    """Return what lies between two values: days between dates, else an amount in the unit of both."""
    text = _apart(told[0].text, told[1].text)
    return replace(_joined(told, ""), text=text, certain=0.8) if text else None


def _apart(one: str, other: str) -> str:
    days, numbers = (period_in(one), period_in(other)), (quantity_in(one), quantity_in(other))
    if days[0] and days[1]:
        return str(abs((days[0][0] - days[1][0]).days))
    if numbers[0] is None or numbers[1] is None or numbers[0].unit != numbers[1].unit:
        return ""
    places = max(numbers[0].decimals, numbers[1].decimals)
    return str(abs(numbers[0].amount - numbers[1].amount).quantize(Decimal(1).scaleb(-places)))
