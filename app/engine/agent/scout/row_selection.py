"""Columns of a relation by meaning and by kind of value, and which of its rows a question is about.  Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from app.engine.agent.scout.dates import (
    Period,
    age_in,
    clock_in,
    day_first_in,
    is_date,
    period_in,
    periods_in,
)
from app.engine.agent.scout.likeness import fits, holds, meaning, plain, says, words
from app.engine.agent.scout.quantities import is_quantity, money_in, quantity_in
from app.engine.agent.scout.questions import Limit, Order, Question, ValueKind
from app.engine.agent.scout.relations import PageRelations, Relation, Row
from app.engine.agent.scout.task import Name
from app.engine.core.text import word_set

LEAST = 0.5
"""Likeness of a phrase and a label from which the label may be meant."""
SURE = 0.75
NOTHING = word_set("- – — none no n/a nobody unknown empty null false unassigned")
TRUE = word_set("yes true on ✓ ✔ y")
FALSE = word_set("no false off ✗ ✘ n none")
_ID = re.compile(r"(?:^|[\W_])(?:ids?|no|nr|numbers?|key)\W*$|^#|#$|^id\b")
_MOST_SAMPLES, _MOST_VALUES = 40, 12


def value_kind(text: str) -> str:
    """Return ``date``, ``money``, ``number`` or ``text``."""
    if is_date(text):
        return "date"
    return ("money" if money_in(text) else "number") if is_quantity(text) else "text"


def suits(kind: ValueKind, value: str) -> bool:
    """Whether a value may answer a question of this kind."""
    told = value_kind(value)
    match kind:
        case ValueKind.DATE:
            return told == "date" or period_in(value) is not None or age_in(value) is not None
        case ValueKind.AMOUNT | ValueKind.NUMBER | ValueKind.DURATION:
            return told in ("number", "money")
        case ValueKind.PERSON | ValueKind.PLACE:
            return told == "text" and any(letter.isalpha() for letter in value)
        case _:
            return True


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionView:
    """A question at a page: names still to be found, what the page as a whole is about, whether there is more."""

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
        return [Selection(self, one) for one in self.page.relations]

    def is_placed(self, text: str) -> bool:
        """Whether the page as a whole is about a value: its heading, its trail, a chosen option, a ticked box."""
        chosen = [one for one in self.page.labelled if one.field is not None]
        told = [*self.page.headings[:3], *self.page.trail, *self.place]
        told += [one.label for one in chosen if one.value == "yes"]
        return any(says(one, text) for one in told) or any(plain(one.value) == plain(text) for one in chosen)


class Selection:
    """A relation as a question sees it.

    Attributes:
        tests: conditions on its rows; ``unmet`` those that nothing on the page tells of.
        placed: number of conditions that the page as a whole meets: its heading, its trail, a chosen filter.
    """

    def __init__(self, look: QuestionView, relation: Relation) -> None:
        self.look, self.question, self.relation, self.columns = (
            look,
            look.question,
            relation,
            relation.columns,
        )
        self.tests: list[Callable[[Row], bool]] = []
        self.unmet: list[str] = []
        self.placed = 0
        self._kinds: dict[str, str] = {}

    def values(self, column: str) -> list[str]:
        """The first values of a column that are not empty."""
        return [row[column] for row in self.relation.rows[:_MOST_SAMPLES] if row[column]]

    def kind(self, column: str) -> str:
        """Return the kind of most values of a column."""
        if column not in self._kinds:
            values = self.values(column)
            told = [value_kind(one) for one in values] or ["text"]
            dated = all(len(one) < 60 and (age_in(one) is not None or period_in(one)) for one in values)
            if values and dated and not all(is_quantity(one) for one in values):
                told = ["date"]  # in longer texts
            best = max(dict.fromkeys(told), key=told.count)
            self._kinds[column] = best if told.count(best) * 5 >= len(told) * 3 else "text"
        return self._kinds[column]

    def column(self, phrase: str, kind: ValueKind = ValueKind.ANY, least: float = LEAST) -> str:
        """Return the column that a phrase means, else the only one of the kind asked for, else ""."""
        told = [
            (fits(phrase, name) if phrase else 0.0, -at, name)
            for at, name in enumerate(self.columns)
            if name
            and any(suits(kind, one) for one in self.values(name)[:5])
            and (kind is not ValueKind.NUMBER or not is_id(name))
        ]
        score, _, name = max(told, default=(0.0, 0, ""))
        if score >= least:
            return name
        alone = {ValueKind.DATE: ("date",), ValueKind.AMOUNT: ("money",)}.get(kind, ())
        found = [one for one in self.columns if one and self.kind(one) in alone]
        found = [one for one in found if fits(kind.value, one) >= LEAST]  # ``date``; not ``last activity``
        if kind is ValueKind.PERSON and not found:
            found = [one for one in self.columns if words(one)[-1:] == ("by",)]
        return found[0] if len(found) == 1 else ""

    def select(self) -> list[Row]:
        """Return the rows that meet what is asked; conditions that nothing tells of are in ``unmet``."""
        for name in self.look.names:
            self._require(name.text, name.lead, exact=False)
        said = self._said_values()
        for word in self.question.modifiers:
            if word not in said:
                self._require(word, "", exact=True)
        for word in self.question.negated:
            self._refuse(word)
        for word in self.question.words:
            self._prefer(word)
        for limit in self.question.limits:
            self._limit(limit)
        return [row for row in self.relation.rows if all(test(row) for test in self.tests)]

    def _said_values(self) -> frozenset[str]:
        """Values of several words that the question says (``in progress``) are conditions; return their words."""
        said: set[str] = set()
        for column in self.columns:
            values = {one for one in self.values(column) if 1 < len(words(one)) <= 3}
            for value in values if len(values) <= _MOST_VALUES else ():
                if holds(self.question.text, value):
                    said |= set(words(value))
                    self.tests.append(lambda row, name=column, value=value: plain(row[name]) == plain(value))
        return frozenset(said)

    def _holding(self, text: str, lead: str, *, exact: bool) -> tuple[list[str], Callable[[str], bool]]:
        """Columns in which a value stands, as a whole cell or within one."""

        def equal(cell: str) -> bool:
            return any(
                plain(one) == plain(text) or (exact and _same_word(one, text)) for one in cell.split("; ")
            )

        def within(cell: str) -> bool:
            return holds(cell, text)

        lead = " ".join(lead.split()[-3:])
        for test in (equal,) if exact else (equal, within):
            found = [one for one in self.columns if any(test(row[one]) for row in self.relation.rows)]
            if found:
                best = max(found, key=lambda one: fits(one, lead))
                return ([best] if fits(best, lead) >= LEAST else found), test
        return [], equal

    def _require(self, text: str, lead: str, *, exact: bool) -> None:
        if any(holds(one, text) for one in self.look.place):  # all rows are in that place or met that filter
            self.placed += 1
            return
        columns, test = self._holding(text, lead, exact=exact)
        if columns:
            self.tests.append(lambda row: any(test(row[one]) for one in columns))
        elif not self._is_true(text) and not self._is_placed(text):
            self.unmet.append(text)

    def _is_true(self, word: str) -> bool:
        """Whether a column of yes and no is called like the word: then yes is a condition."""
        for column in self.columns:
            told = {plain(one) for one in self.values(column)}
            if told and told <= TRUE | FALSE and fits(word, column) >= SURE:
                self.tests.append(lambda row, name=column: plain(row[name]) in TRUE)
                return True
        return False

    def _is_placed(self, text: str) -> bool:
        found = says(self.relation.title, text) or self.look.is_placed(text)
        self.placed += found
        return found

    def _refuse(self, text: str) -> None:
        if any(says(one, f"not {text}") for one in self.look.place):  # a filter that leaves them out
            self.placed += 1
            return
        columns, test = self._holding(text, "", exact=False)
        named = next((one for one in self.columns if one and fits(text, one) >= SURE), "")
        if self._is_placed(text) or not (columns or named):
            self.unmet.append(f"not {text}")
        elif columns:
            self.tests.append(lambda row: not any(test(row[one]) for one in columns))
        else:
            self.tests.append(lambda row: plain(row[named]) in NOTHING | FALSE | {""})

    def _prefer(self, word: str) -> None:
        """A word that is a whole cell somewhere is a condition; one that is an option not chosen is an unmet one."""
        columns, test = self._holding(word, "", exact=True)
        offered = any(_same_word(option, word) for _, options in self.look.offered for option in options)
        if columns:
            self.tests.append(lambda row: any(test(row[one]) for one in columns))
        elif offered and not self._is_placed(word):
            self.unmet.append(word)

    def _limit(self, limit: Limit) -> None:
        if limit.period is None and limit.low is None and limit.high is None:
            self.unmet.append(limit.attribute)
            return
        if self._is_filtered(limit):
            self.placed += 1
            return
        dated = limit.period is not None or limit.age
        wanted = ("date",) if dated else ("number", "money")
        found = [one for one in self.columns if one and self.kind(one) in wanted]
        if limit.unit and not dated:
            found = [one for one in found if self._unit(one) == limit.unit]
        best = max(found, key=lambda one: fits(limit.attribute, one), default="")
        if fits(limit.attribute, best) < LEAST:
            alone = [one for one in found if not is_id(one)]
            best = alone[0] if len(alone) == 1 else ""
        if best:
            self.tests.append(lambda row: self._within(best, row[best], limit))
        else:
            named = limit.attribute and fits(limit.attribute, self.question.things) < SURE
            self.unmet.append(limit.attribute if named else "date" if dated else "number")

    def _unit(self, column: str) -> str:
        told = quantity_in(next(iter(self.values(column)), ""))
        return told.unit if told else ""

    def _is_filtered(self, limit: Limit) -> bool:
        """Whether fields of the page hold the bounds already."""
        fields = [one.value for one in self.look.page.labelled if one.field is not None]
        days = {day for one in fields for _, _, period in periods_in(one) for day in period}
        bounds = {one for one in limit.period or () if one is not None}
        return bool(bounds) and bounds <= days

    def _day(self, column: str, value: str) -> Period | None:
        return period_in(value, day_first_in(self.values(column)))

    def _within(self, column: str, value: str, limit: Limit) -> bool:
        if limit.period is not None:
            day, (start, end) = self._day(column, value), limit.period
            return day is not None and (start is None or day[0] >= start) and (end is None or day[1] <= end)
        if limit.age:
            number, day = age_in(value), self._day(column, value)
            if number is None and day and self.look.today:
                number = Decimal((self.look.today - day[0]).days * 86400)
        else:
            number = told.amount if (told := quantity_in(value)) else None
        return number is not None and _between(number, limit)

    def rank(self, column: str, value: str) -> Decimal | None:
        """Return a value's place in the order of its column: later days and larger numbers are higher."""
        if self.kind(column) != "date":
            return told.amount if (told := quantity_in(value)) else None
        age, day = age_in(value), self._day(column, value)
        if age is None and day:
            return Decimal(day[0].toordinal() * 1440 + clock_in(value))
        return -age if age is not None else None

    def top(self, rows: Sequence[Row]) -> list[Row] | None:
        """Return the rows that come first in the order asked for; ``None`` where that order is not clear."""
        order = self.question.order
        columns = self.order_columns(order) if order else []
        if order is None or len(columns) != 1:
            return None
        ranked = [(rank, row) for row in rows if (rank := self.rank(columns[0], row[columns[0]])) is not None]
        ranked.sort(key=lambda one: one[0], reverse=order.largest)
        return [row for _, row in ranked[: self.question.top]]

    def order_columns(self, order: Order) -> list[str]:
        """Return the columns that an order may go by, the one that is meant first; several where it is not clear."""
        columns = [one for one in self.columns if one and not is_id(one)]
        wanted = ("date",) if order.dated else ("money",) if order.priced else ("number", "money")
        found = [one for one in columns if self.kind(one) in wanted]
        every = [one for one in columns if self.kind(one) != "text"]
        best = max(every, key=lambda one: fits(order.attribute, one), default="")
        if fits(order.attribute, best) >= LEAST and (order.owned or best in found or not order.dated):
            return [best]
        if order.owned and order.attribute:
            return []
        told = [one for word in self.question.words for one in found if fits(word, one) >= SURE]
        return told[:1] or [one for one in found if says(one, order.word)][:1] or found

    def name_column(self) -> str:
        """Return the column that names the things."""
        things, rows = self.question.things, self.relation.rows
        best = max(self.columns, key=lambda one: fits(things, one), default="")
        if fits(things, best) >= SURE:
            return best
        linked = [one.column for row in rows[:3] for one in row.controls if one.role == "link" and one.column]
        linked = [one for one in dict.fromkeys(linked) if len(set(self.values(one))) > 1 or len(rows) < 3]
        usual = [one for one in ("name", "title", "subject") if one in self.columns]
        return (*usual, *(one for one in linked if self.kind(one) == "text"), *linked, *self.columns)[0]

    def about(self, things: str) -> float:
        """Return in [0, 1] how well the relation is one of the things a question speaks of."""
        head, page, rows = " ".join(meaning(things)[-1:]), self.look.page, self.relation.rows[:20]
        told = [self.relation.title, *page.headings[:2], *page.trail[-1:]]
        found = max(fits(head, one) for one in (*told, "") if len(one) < 80)
        named = max((fits(head, one) for one in self.columns if one), default=0.0)
        called = sum(says(row.cells[0][1], head) for row in rows) * 2 > len(rows)
        return max(found, named * 0.9, 0.8 * called)


def _between(number: Decimal, limit: Limit) -> bool:
    low, high = limit.low, limit.high
    if limit.strict:
        return (low is None or number > low) and (high is None or number < high)
    return (low is None or number >= low) and (high is None or number <= high)


def _same_word(cell: str, word: str) -> bool:
    """Whether a cell is one word in another form (``Closed``, ``close``)."""
    return len(word) > 2 and len(words(cell)) == 1 and says(cell, word)


def is_id(column: str) -> bool:
    """Whether a column or a phrase speaks of what numbers things."""
    return _ID.search(column) is not None
