"""Answers from what a page lists: a value of the thing asked about, rows counted, summed, compared, listed.  Pure.

A wrong answer is worse than none: an answer is given only where the column or label is clear and every condition of the
question is met by rows or by the page.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from decimal import Decimal

from app.engine.agent.scout.answers import Answer, Look, Need, evidence, open_row
from app.engine.agent.scout.dates import period_in
from app.engine.agent.scout.likeness import fits, forms, holds, meaning, plain, says, words
from app.engine.agent.scout.quantities import quantity_in
from app.engine.agent.scout.questions import Aggregate, Asked, Question, ValueKind
from app.engine.agent.scout.relations import Labelled, PageRelations, Row
from app.engine.agent.scout.row_answers import over_rows
from app.engine.agent.scout.row_selection import LEAST, NOTHING, SURE, Selection, suits
from app.engine.agent.scout.task import Name, TaskPart
from app.engine.core.text import word_set

__all__ = ["Answer", "Need", "answer_from"]

_ALONE = 0.82
"""Likeness from which a label answers on a page that is of no thing in particular."""
_YES, _NO = word_set("yes true on ✓ ✔"), word_set("no false off ✗ ✘")


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
    look = Look(
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
            return over_rows(look, Aggregate.SUM)
        case Aggregate.VALUE:
            return _values(look)
        case Aggregate.YES_NO:
            return _yes_no(look)
        case Aggregate.DIFFERENCE:
            return _difference(look)
        case Aggregate.COUNT | Aggregate.SUM | Aggregate.AVERAGE if not question.limits:
            return _told(look) or over_rows(look, question.aggregate)
        case _:
            return over_rows(look, question.aggregate)


def _same(name: str, other: str) -> bool:
    return plain(name) == plain(other) or holds(other, name) or holds(name, other)


# Values of one thing


def _values(look: Look) -> Answer | None:
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


def _value(look: Look, asked: Asked) -> Answer | None:
    if look.on_page and not look.names:
        return _labelled(look, asked, LEAST) or _only_one(look, asked)
    if look.names:
        found = _cell(look, asked)
        if found is None and _all_placed(look):
            found = _labelled(look, asked, SURE) or _only_one(look, asked)
        return found
    return None if look.question.limits else _labelled(look, asked, _ALONE)


def _all_placed(look: Look) -> bool:
    """Whether the page as a whole is about every name: its heading, its trail."""
    told = [*look.page.headings[:3], *look.page.trail[-1:], *look.place]
    told += [one.value for one in look.page.labelled if one.field is not None]
    return all(any(holds(one, name.text) for one in told) for name in look.names)


def _labelled(look: Look, asked: Asked, least: float) -> Answer | None:
    """The value whose label says best what is asked for."""
    best: tuple[float, Labelled] | None = None
    rest = {form for word in look.question.words for form in forms(word)}
    for one in look.page.labelled:
        score = fits(asked.phrase, one.label) if asked.phrase else 0.0
        if score < least or not suits(asked.kind, one.value) or _is_told(look, one.value):
            continue
        score += 0.03 * any(forms(word) & rest for word in words(one.title)) - 0.04 * one.listed
        score -= 0.02 * (one.field is not None)
        if best is None or score > best[0] + 1e-9:
            best = score, one
    if best is None:
        return None
    return evidence(best[1].value, f"{best[1].label}: {best[1].value}", max(best[0], 0.6))


def _is_told(look: Look, value: str) -> bool:
    """Whether a value is a name that the question itself tells."""
    return any(plain(value) == plain(one.text) for one in look.question.names)


def _only_one(look: Look, asked: Asked) -> Answer | None:
    """The only value of its kind on the page of the thing: the one date, the one amount of money."""
    if asked.kind not in (ValueKind.DATE, ValueKind.AMOUNT, ValueKind.DURATION):
        return None
    alike = [
        one for one in look.page.labelled if suits(asked.kind, one.value) and _strict(asked.kind, one.value)
    ]
    if len({one.value for one in alike}) == 1:
        return evidence(alike[0].value, f"{alike[0].label}: {alike[0].value}", 0.6)
    said = {form for word in words(look.question.text) for form in forms(word)}
    told = [
        (sum(bool(forms(word) & said) for word in words(one.label)), -at, one) for at, one in enumerate(alike)
    ]
    ranked = sorted(
        told, reverse=True
    )  # ``Follow-up date`` before ``Order date`` for the day of the follow-up
    if len(ranked) > 1 and ranked[0][0] > max(1, ranked[1][0]):
        best = ranked[0][2]
        return evidence(best.value, f"{best.label}: {best.value}", SURE)
    return None


def _strict(kind: ValueKind, value: str) -> bool:
    told = quantity_in(value)
    unit = "s" if kind is ValueKind.DURATION else "$"
    return kind is ValueKind.DATE or (told is not None and told.unit == unit and len(value) < 24)


def _cell(look: Look, asked: Asked) -> Answer | None:
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
            return evidence(
                values[0], rows[0].text, max(0.6, fits(asked.phrase, column) if asked.phrase else 0.6)
            )
        if waiting is None and len(rows) == 1:
            waiting = open_row(look, rows[0])
    return waiting


def _rows_of(look: Look, selection: Selection) -> list[Row]:
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


# Counts and amounts that the page tells itself


def _told(look: Look) -> Answer | None:
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


def _counted(look: Look, phrase: str) -> Answer | None:
    wanted = meaning(phrase)
    for text in look.page.counts:
        told = words(text[:80])
        for at, word in enumerate(told[:-1]):
            behind = told[at + 1 : at + 1 + len(wanted)]
            alike = all(forms(a) & forms(b) for a, b in zip(wanted, behind, strict=False))
            if word.isdecimal() and wanted and len(behind) == len(wanted) and alike:
                return evidence(word, text, 0.85)
    return None


# Yes or no, differences


def _yes_no(look: Look) -> Answer | None:
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
            return evidence(verdict, f"{label}: {value}", 0.8)
    return None


def _verdict(look: Look, said: str, label: str, value: str) -> str:
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


def _difference(look: Look) -> Answer | None:
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
