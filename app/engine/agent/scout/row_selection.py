"""Columns of a relation by meaning and by kind of value, and which of its rows a question is about.  Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal

from app.engine.agent.scout.dates import age_in, clock_in, day_first_in, is_date, period_in, periods_in
from app.engine.agent.scout.likeness import fits, forms, holds, meaning, plain, says, words
from app.engine.agent.scout.quantities import is_quantity, money_in, quantity_in
from app.engine.agent.scout.questions import Limit, Order, Question, ValueKind
from app.engine.agent.scout.relations import PageRelations, Relation, Row
from app.engine.agent.scout.task import Name
from app.engine.core.text import word_set

LEAST = 0.5
"""Likeness of a phrase and a label from which the label may be meant."""
SURE = 0.75
NOTHING = word_set("- – — none no n/a nobody unknown empty null false unassigned")
_TRUTHS = word_set("yes true on ✓ ✔ y")
_LIES = word_set("no false off ✗ ✘ n none")
_ID = re.compile(r"(?:^|[\W_])(?:ids?|no|nr|numbers?|key)\W*$|^#|#$|^id\b")
_MOST_SAMPLES, _MOST_VALUES = 40, 12

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


@dataclass(slots=True)
class Selection:
    """A relation as a question sees it.

    Attributes:
        tests: conditions on its rows; ``unmet`` those that nothing on the page tells of.
        placed: number of conditions that the page as a whole meets: its heading, its trail, a chosen filter.
    """

    question: Question
    relation: Relation
    page: PageRelations
    names: Sequence[Name] = ()
    place: Sequence[str] = ()
    offered: Sequence[tuple[str, tuple[str, ...]]] = ()
    today: date | None = None
    tests: list[Test] = field(default_factory=list[Test])
    unmet: list[str] = field(default_factory=list[str])
    placed: int = 0
    kinds: dict[str, str] = field(default_factory=dict[str, str])

    def values(self, column: str) -> list[str]:
        """The first values of a column that are not empty."""
        return [row[column] for row in self.relation.rows[:_MOST_SAMPLES] if row[column]]

    def kind(self, column: str) -> str:
        """Return the kind of most values of a column."""
        if column not in self.kinds:
            told = [value_kind(one) for one in self.values(column)] or ["text"]
            if self.ages(column):
                told = ["date"]
            best = max(dict.fromkeys(told), key=told.count)
            self.kinds[column] = best if told.count(best) * 5 >= len(told) * 3 else "text"
        return self.kinds[column]

    def ages(self, column: str) -> bool:
        """Whether a column holds dates in longer texts, or ages."""
        values = self.values(column)
        dated = sum(
            len(one) < 60 and (age_in(one) is not None or period_in(one) is not None) for one in values
        )
        return bool(values) and dated == len(values) and not all(is_quantity(one) for one in values)

    def column(self, phrase: str, kind: ValueKind = ValueKind.ANY, least: float = LEAST) -> str:
        """Return the column that a phrase means, else the only one of the kind asked for, else ""."""
        told = [
            (fits(phrase, name) if phrase else 0.0, -at, name)
            for at, name in enumerate(self.relation.columns)
            if name
            and any(suits(kind, one) for one in self.values(name)[:5])
            and (kind is not ValueKind.NUMBER or not is_id(name))
        ]
        score, _, name = max(told, default=(0.0, 0, ""))
        if score >= least:
            return name
        alone = {ValueKind.DATE: ("date",), ValueKind.AMOUNT: ("money",)}.get(kind, ())
        found = [one for one in self.relation.columns if one and self.kind(one) in alone]
        found = [one for one in found if fits(kind.value, one) >= LEAST]  # ``date``; not ``last activity``
        if kind is ValueKind.PERSON and not found:
            found = [one for one in self.relation.columns if words(one)[-1:] == ("by",)]
        return found[0] if len(found) == 1 else ""

    def select(self) -> list[Row]:
        """Return the rows that meet what is asked; conditions that nothing tells of are in ``unmet``."""
        for name in self.names:
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
        for column in self.relation.columns:
            values = {one for one in self.values(column) if 1 < len(words(one)) <= 3}
            for value in values if len(values) <= _MOST_VALUES else ():
                if holds(self.question.text, value):
                    said |= set(words(value))
                    self.tests.append(
                        lambda row, column=column, value=value: plain(row[column]) == plain(value)
                    )
        return frozenset(said)

    def _holding(self, text: str, lead: str, *, exact: bool) -> tuple[list[str], Callable[[str], bool]]:
        """Columns in which a value stands, as a whole cell or within one."""
        wanted = plain(text)

        def equal(cell: str) -> bool:
            return any(plain(one) == wanted or (exact and _same_word(one, text)) for one in cell.split("; "))

        def within(cell: str) -> bool:
            return holds(cell, text)

        for test in (equal,) if exact else (equal, within):
            found = [
                one for one in self.relation.columns if any(test(row[one]) for row in self.relation.rows)
            ]
            if found:
                best = max(
                    found, key=lambda one: fits(one, " ".join(lead.split()[-3:])) if one and lead else 0.0
                )
                sure = lead and fits(best, " ".join(lead.split()[-3:])) >= LEAST
                return ([best] if sure else found), test
        return [], equal

    def _require(self, text: str, lead: str, *, exact: bool) -> None:
        if any(holds(one, text) for one in self.place):  # all rows are in that place or met that filter
            self.placed += 1
            return
        columns, test = self._holding(text, lead, exact=exact)
        if columns:
            self.tests.append(lambda row: any(test(row[one]) for one in columns))
        elif self._truth(text) or self._in_place(text):
            return
        else:
            self.unmet.append(text)

    def _truth(self, word: str) -> bool:
        """A column of yes and no that is called like the word."""
        for column in self.relation.columns:
            told = {plain(one) for one in self.values(column)}
            if told and told <= _TRUTHS | _LIES and fits(word, column) >= SURE:
                self.tests.append(lambda row, column=column: plain(row[column]) in _TRUTHS)
                return True
        return False

    def _in_place(self, text: str) -> bool:
        """Whether the page as a whole is about a value: its headings, its trail, a chosen option."""
        chosen = [one.value for one in self.page.labelled if one.field is not None]
        told = [*self.page.headings[:3], *self.page.trail, self.relation.title, *self.place]
        told += [one.label for one in self.page.labelled if one.field is not None and one.value == "yes"]
        found = any(_says_word(one, text) for one in told) or any(plain(one) == plain(text) for one in chosen)
        self.placed += found
        return found

    def _refuse(self, text: str) -> None:
        columns, test = self._holding(text, "", exact=False)
        named = next((one for one in self.relation.columns if one and fits(text, one) >= SURE), "")
        if any(says(one, f"not {text}") for one in self.place):  # a filter that leaves them out
            self.placed += 1
        elif self._in_place(text):
            self.unmet.append(f"not {text}")
        elif columns:
            self.tests.append(lambda row: not any(test(row[one]) for one in columns))
        elif named:
            self.tests.append(lambda row: not row[named].strip() or plain(row[named]) in NOTHING | _LIES)
        else:
            self.unmet.append(f"not {text}")

    def _prefer(self, word: str) -> None:
        """A word that is a whole cell somewhere is a condition; one that is an option not chosen is an unmet one."""
        columns, test = self._holding(word, "", exact=True)
        if columns:
            self.tests.append(lambda row: any(test(row[one]) for one in columns))
        elif self._is_offered(word) and not self._in_place(word):
            self.unmet.append(word)

    def _is_offered(self, word: str) -> bool:
        return any(_same_word(option, word) for _, options in self.offered for option in options)

    def _limit(self, limit: Limit) -> None:
        if limit.period is None and limit.low is None and limit.high is None:
            self.unmet.append(limit.attribute)
            return
        dated = limit.period is not None or limit.age
        wanted = ("date",) if dated else ("number", "money")
        found = [
            one
            for one in self.relation.columns
            if one and self.kind(one) in wanted and (dated or not limit.unit or self._unit(one) == limit.unit)
        ]
        best = max(found, key=lambda one: fits(limit.attribute, one), default="")
        sure = bool(best) and fits(limit.attribute, best) >= LEAST
        if not sure:
            found = [one for one in found if not is_id(one)]
        if self._filtered(limit):
            self.placed += 1
            return
        if not best or (not sure and len(found) != 1):
            named = limit.attribute and fits(limit.attribute, self.question.things) < SURE
            self.unmet.append(limit.attribute if named else "date" if dated else "number")
            return
        column = best if sure else found[0]
        first = day_first_in(self.values(column))
        self.tests.append(lambda row: self._within(row[column], limit, first))

    def _unit(self, column: str) -> str:
        told = quantity_in(next(iter(self.values(column)), ""))
        return told.unit if told else ""

    def _filtered(self, limit: Limit) -> bool:
        """Whether fields of the page hold the bounds already."""
        fields = [one.value for one in self.page.labelled if one.field is not None]
        days = {day for one in fields for _, _, period in periods_in(one) for day in period}
        bounds = [one for one in limit.period or () if one is not None]
        return bool(bounds) and all(one in days for one in bounds)

    def _within(self, value: str, limit: Limit, day_first: bool) -> bool:
        if limit.period is not None:
            found = period_in(value, day_first)
            start, end = limit.period
            return (
                found is not None
                and (start is None or found[0] >= start)
                and (end is None or found[1] <= end)
            )
        if limit.age:
            seconds = self._age(value, day_first)
            return seconds is not None and _between(seconds, limit)
        told = quantity_in(value)
        return told is not None and _between(told.amount, limit)

    def _age(self, value: str, day_first: bool) -> Decimal | None:
        found = period_in(value, day_first)
        if (age := age_in(value)) is not None or not found or not self.today:
            return age
        return Decimal((self.today - found[0]).days * 86400)

    def rank(self, column: str, value: str) -> Decimal | None:
        """Return a value's place in the order of its column: later days, larger numbers, longer texts are higher."""
        if self.kind(column) == "date":
            age = age_in(value)
            if age is not None:
                return -age
            found = period_in(value, day_first_in(self.values(column)))
            return Decimal(found[0].toordinal() * 1440 + clock_in(value)) if found else None
        told = quantity_in(value)
        return told.amount if told else None

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
        columns = [one for one in self.relation.columns if one and not is_id(one)]
        wanted = ("date",) if order.dated else ("money",) if order.priced else ("number", "money")
        found = [one for one in columns if self.kind(one) in wanted]
        if order.attribute:
            every = [one for one in columns if self.kind(one) != "text"]
            best = max(every, key=lambda one: fits(order.attribute, one), default="")
            if (
                best
                and fits(order.attribute, best) >= LEAST
                and (order.owned or best in found or not order.dated)
            ):
                return [best]
        if order.owned and order.attribute:
            return []
        told = [one for word in self.question.words for one in found if fits(word, one) >= SURE]
        own = [
            one for one in found if forms(order.word) & {form for word in words(one) for form in forms(word)}
        ]
        return told[:1] or own[:1] or found

    def name_column(self) -> str:
        """Return the column that names the things."""
        things = self.question.things
        best = max(
            self.relation.columns, key=lambda one: fits(things, one) if one and things else 0.0, default=""
        )
        if best and things and fits(things, best) >= SURE:
            return best
        for wanted in ("name", "title", "subject"):
            if wanted in self.relation.columns:
                return wanted
        linked = [
            c.column for row in self.relation.rows[:3] for c in row.controls if c.role == "link" and c.column
        ]
        linked = [
            one
            for one in dict.fromkeys(linked)
            if len(set(self.values(one))) > 1 or len(self.relation.rows) < 3
        ]
        told = [one for one in linked if self.kind(one) == "text"]
        return (told or linked or [self.relation.columns[0]])[0]


def about(selection: Selection, things: str) -> float:
    """Return in [0, 1] how well a relation is one of the things a question speaks of."""
    head = " ".join(meaning(things)[-1:])
    if not head:
        return 0.0
    page, relation = selection.page, selection.relation
    told = [relation.title, *page.headings[:2], *page.trail[-1:]]
    found = max((fits(head, one) for one in told if len(one) < 80), default=0.0)
    named = max((fits(head, one) for one in relation.columns if one), default=0.0)
    rows = relation.rows[:20]
    called = sum(_says_word(row.cells[0][1], head) for row in rows) if rows else 0
    return max(found, named * 0.9, 0.8 if called * 2 > len(rows) else 0.0)


def _between(number: Decimal, limit: Limit) -> bool:
    low, high = limit.low, limit.high
    if limit.strict:
        return (low is None or number > low) and (high is None or number < high)
    return (low is None or number >= low) and (high is None or number <= high)


def _same_word(cell: str, word: str) -> bool:
    """Whether a cell is one word in another form (``Closed``, ``close``)."""
    told = words(cell)
    return len(told) == 1 and len(word) > 2 and bool(forms(told[0]) & forms(word.casefold()))


def _says_word(text: str, word: str) -> bool:
    wanted = words(word)
    if len(wanted) != 1:
        return holds(text, word)
    return any(forms(one) & forms(wanted[0]) for one in words(text[:200]))


def is_id(column: str) -> bool:
    """Whether a column or a phrase speaks of what numbers things."""
    return _ID.search(column) is not None
