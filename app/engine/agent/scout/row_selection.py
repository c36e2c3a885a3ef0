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
NOTHING = word_set("- – — none no n/a nobody unknown empty null false unassigned off ✗ ✘ n") | {""}
_TRUE = word_set("yes true on ✓ ✔ y")
_ID = re.compile(r"(?:^|[\W_])(?:ids?|no|nr|numbers?|key)\W*$|^#|#$|^id\b")
_MOST_SAMPLES, _LONGEST_VALUE = 40, 40

Test = Callable[[Row], bool]


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


def is_id(column: str) -> bool:
    """Whether a column or a phrase speaks of what numbers things."""
    return _ID.search(column) is not None


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

    def is_placed(self, text: str, *, within: bool) -> bool:
        """Whether the page as a whole is about a value: its heading, its trail, a chosen option, a ticked box.

        ``within`` takes the places above it as well: ``Project X > Issues`` lists issues of X, ``X > Y`` those of Y.
        """
        chosen = [one for one in self.page.labelled if one.field is not None]
        told = [*self.page.headings[:3], *self.page.trail[0 if within else -1 :], *self.place]
        told += [one.label for one in chosen if one.value == "yes"]
        return any(says(one, text) for one in told) or any(plain(one.value) == plain(text) for one in chosen)


class Selection:
    """A relation as a question sees it.

    Attributes:
        tests: conditions on its rows; ``unmet`` those that nothing on the page tells of.
        placed: number of conditions that the page as a whole meets: its heading, its trail, a chosen filter.
    """

    def __init__(self, look: QuestionView, relation: Relation) -> None:
        self.look, self.question, self.relation = look, look.question, relation
        self.columns = [one for one in relation.columns if one]
        self.tests: list[Test] = []
        self.unmet: list[str] = []
        self.placed = 0
        self._kinds: dict[str, str] = {}

    # Columns

    def values(self, column: str) -> list[str]:
        """The first values of a column that are not empty."""
        return [row[column] for row in self.relation.rows[:_MOST_SAMPLES] if row[column]]

    def kind(self, column: str) -> str:
        """Return the kind of most values of a column."""
        if column not in self._kinds:
            values = self.values(column)
            told = [value_kind(one) for one in values] or ["text"]
            best = max(dict.fromkeys(told), key=told.count)
            self._kinds[column] = best if told.count(best) * 5 >= len(told) * 3 else "text"
        return self._kinds[column]

    def column(self, phrase: str, kind: ValueKind = ValueKind.ANY, least: float = LEAST) -> str:
        """Return the column that a phrase means, "" for none."""
        suited = [
            one
            for one in self.columns
            if any(suits(kind, value) for value in self.values(one)[:5])
            and (kind is not ValueKind.NUMBER or not is_id(one))
        ]
        best = max(suited, key=lambda one: fits(phrase, one), default="")
        return best if fits(phrase, best) >= least else ""

    def name_column(self) -> str:
        """Return the column that names the things."""
        things, rows = self.question.things, self.relation.rows
        usual = [one for one in ("name", "title", "subject") if one in self.columns]
        called = [one for one in self.columns if fits(things, one) >= SURE]
        linked = [one.column for row in rows[:3] for one in row.controls if one.role == "link" and one.column]
        linked = [one for one in dict.fromkeys(linked) if len(set(self.values(one))) > 1 or len(rows) < 3]
        linked.sort(key=lambda one: self.kind(one) != "text")
        return (*usual, *called, *linked, *self.relation.columns)[0]

    def about(self, things: str) -> float:
        """Return in [0, 1] how well the relation is one of the things a question speaks of."""
        head, page, rows = " ".join(meaning(things)[-1:]), self.look.page, self.relation.rows[:20]
        told = [self.relation.title, *page.headings[:2], *page.trail[-1:]]
        found = max(fits(head, one) for one in (*told, "") if len(one) < 80)
        named = max((fits(head, one) for one in self.columns), default=0.0)
        called = sum(says(row.cells[0][1], head) for row in rows) * 2 > len(rows)
        return max(found, named * 0.9, 0.8 * called)

    # Conditions

    def select(self) -> list[Row]:
        """Return the rows that meet what is asked; conditions that nothing tells of are in ``unmet``."""
        for name in self.look.names:
            self._require(name.text, name.lead)
        said = self._say_values()
        for word in self.question.modifiers:
            if word not in said:
                self._require_state(word)
        for word in self.question.negated:
            self._refuse(word)
        offered = {plain(one) for _, options in self.look.offered for one in options}
        for word in self.question.words:  # an option that is there to be chosen and is not
            if word in offered and word not in said and not self._is_placed(word):
                self.unmet.append(word)
        for limit in self.question.limits:
            self._limit(limit)
        return [row for row in self.relation.rows if all(test(row) for test in self.tests)]

    def _require(self, name: str, lead: str) -> None:
        if any(holds(one, name) for one in self.look.place):  # all rows are in that place or met that filter
            self.placed += 1
        elif test := self._holding(name, lead):
            self.tests.append(test)
        elif not self._is_placed(name):
            self.unmet.append(name)

    def _holding(self, text: str, lead: str = "") -> Test | None:
        """A test for rows that hold a text, as a whole cell where one is it, within a cell else."""
        tests: tuple[Callable[[str], bool], ...] = (
            lambda cell: plain(cell) == plain(text),
            lambda cell: holds(cell, text),
        )
        for test in tests:
            found = [
                one for one in self.relation.columns if any(test(row[one]) for row in self.relation.rows)
            ]
            best = max(found, key=lambda one: fits(" ".join(lead.split()[-3:]), one), default="")
            if found:
                columns = [best] if fits(" ".join(lead.split()[-3:]), best) >= LEAST else found
                return lambda row: any(test(row[one]) for one in columns)
        return None

    def _say_values(self) -> frozenset[str]:
        """Make whole cells that the question says (``open``, ``in progress``) conditions; return their words."""
        free = {*self.question.modifiers, *self.question.words}
        columns_of: dict[str, tuple[str, ...]] = {}
        for column in self.columns:
            for value in {part for row in self.relation.rows for part in _parts(row[column])}:
                if len(value) < _LONGEST_VALUE and self._is_said(value, free):
                    columns_of[value] = (*columns_of.get(value, ()), column)
        for value, where in columns_of.items():
            self.tests.append(
                lambda row, value=value, where=where: any(value in _parts(row[c]) for c in where)
            )
        return frozenset(word for word in free if any(says(one, word) for one in columns_of))

    def _is_said(self, value: str, free: set[str]) -> bool:
        told = words(value)
        if len(told) == 1:
            return len(value) > 2 and any(says(value, word) for word in free if len(word) > 2)
        return 1 < len(told) <= 3 and says(self.question.text, value)

    def _require_state(self, word: str) -> None:
        """A state that is no value of a column: a column of yes and no called so, a place, a filter."""
        flags = [one for one in self.columns if fits(word, one) >= SURE]
        flag = next((one for one in flags if {plain(v) for v in self.values(one)} <= _TRUE | NOTHING), "")
        if any(holds(one, word) for one in self.look.place):
            self.placed += 1
        elif flag:
            self.tests.append(lambda row: plain(row[flag]) not in NOTHING)
        elif not self._is_placed(word):
            self.unmet.append(word)

    def _refuse(self, text: str) -> None:
        named = next((one for one in self.columns if fits(text, one) >= SURE), "")
        held = self._holding(text)
        if any(says(one, f"not {text}") for one in self.look.place):  # a filter that leaves them out
            self.placed += 1
        elif self._is_placed(text) or not (held or named):
            self.unmet.append(f"not {text}")
        else:
            self.tests.append(lambda row: not held(row) if held else plain(row[named]) in NOTHING)

    def _is_placed(self, text: str) -> bool:
        within = self.about(self.question.things) >= SURE
        found = says(self.relation.title, text) or self.look.is_placed(text, within=within)
        self.placed += found
        return found

    # Limits and orders

    def _limit(self, limit: Limit) -> None:
        dated = limit.period is not None or limit.age
        if limit.period is None and limit.low is None and limit.high is None:
            self.unmet.append(limit.attribute)
        elif self._is_filtered(limit):
            self.placed += 1
        elif column := self._limited_column(limit, dated=dated):
            self.tests.append(lambda row: self._within(column, row[column], limit))
        else:
            named = limit.attribute and fits(limit.attribute, self.question.things) < SURE
            self.unmet.append(limit.attribute if named else "date" if dated else "number")

    def _limited_column(self, limit: Limit, *, dated: bool) -> str:
        """The column that a limit speaks of, else the only one of its kind or unit."""
        wanted = ("date",) if dated else ("number", "money")
        found = [one for one in self.columns if self.kind(one) in wanted]
        if limit.unit and not dated:
            samples = {one: quantity_in(next(iter(self.values(one)), "")) for one in found}
            found = [one for one, told in samples.items() if told is not None and told.unit == limit.unit]
        best = max(found, key=lambda one: fits(limit.attribute, one), default="")
        alone = [one for one in found if not is_id(one) and (dated or limit.unit or not limit.attribute)]
        return best if fits(limit.attribute, best) >= LEAST else alone[0] if len(alone) == 1 else ""

    def _is_filtered(self, limit: Limit) -> bool:
        """Whether fields of the page hold the bounds already."""
        fields = [one.value for one in self.look.page.labelled if one.field is not None]
        days = {day for one in fields for _, _, period in periods_in(one) for day in period}
        bounds = {one for one in limit.period or () if one is not None}
        return bool(bounds) and bounds <= days

    def _day(self, column: str, value: str) -> Period | None:
        return period_in(value, day_first_in(self.values(column)))

    def _within(self, column: str, value: str, limit: Limit) -> bool:
        day = self._day(column, value)
        if limit.period is not None:
            start, end = limit.period
            return day is not None and (start is None or day[0] >= start) and (end is None or day[1] <= end)
        number = told.amount if not limit.age and (told := quantity_in(value)) else None
        if limit.age:
            number = age_in(value)
            if number is None and day and self.look.today:
                number = Decimal((self.look.today - day[0]).days * 86400)
        return number is not None and _between(number, limit)

    def rank(self, column: str, value: str) -> Decimal | None:
        """Return a value's place in the order of its column: later days and larger numbers are higher."""
        if self.kind(column) != "date":
            return told.amount if (told := quantity_in(value)) else None
        age, day = age_in(value), self._day(column, value)
        if age is None and day:
            return Decimal(day[0].toordinal() * 1440 + clock_in(value))
        return -age if age is not None else None

    def ranked(self, rows: Sequence[Row], order: Order) -> list[tuple[Decimal, Row]]:
        """Return the rows in the order asked for, with their ranks; empty where that order is not clear."""
        column = self.order_column(order)
        told = [
            (rank, row) for row in rows if column and (rank := self.rank(column, row[column])) is not None
        ]
        told.sort(key=lambda one: one[0], reverse=order.largest)
        return told if 2 * len(told) >= len(rows) else []

    def order_column(self, order: Order) -> str:
        """Return the column that an order goes by, "" where that is not clear."""
        columns = [one for one in self.columns if not is_id(one) and self.kind(one) != "text"]
        wanted = ("date",) if order.dated else ("money",) if order.priced else ("number", "money")
        found = [one for one in columns if self.kind(one) in wanted]
        best = max(columns, key=lambda one: fits(order.attribute, one), default="")
        if fits(order.attribute, best) >= LEAST and (order.owned or best in found or not order.dated):
            return best
        if order.owned and order.attribute:
            return ""
        told = [
            one for word in (*self.question.words, order.word) for one in found if fits(word, one) >= SURE
        ]
        return told[0] if told else found[0] if len(found) == 1 else ""


def _parts(cell: str) -> list[str]:
    return [plain(one) for one in cell.split("; ")]


def _between(number: Decimal, limit: Limit) -> bool:
    low, high = limit.low, limit.high
    if limit.strict:
        return (low is None or number > low) and (high is None or number < high)
    return (low is None or number >= low) and (high is None or number <= high)
