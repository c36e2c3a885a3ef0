"""Lists: their order, their rows gathered over all pages, counted, summed, compared."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

from app.engine.agent.scout.aims import Goal
from app.engine.agent.scout.answering import number_of, short
from app.engine.agent.scout.grounding import plain
from app.engine.agent.scout.narrowing import filter_steps, is_filter, press, wishes
from app.engine.agent.scout.phrases import dates_in
from app.engine.agent.scout.place import Place, meets
from app.engine.agent.scout.skill import CERTAIN, LIKELY, Proposal
from app.engine.agent.scout.tables import NAME, PRICE, Grid, Row, count_in, money_in
from app.engine.agent.scout.wording import alike, fits, meaning, names, overlap
from app.engine.core.actions.types import Click, Select, Stop
from app.engine.core.ledger import Fact

MOST_PAGES = 25
_HIGH_FIRST = re.compile(r"high\w* (?:to|first)|desc|most|z to a|newest|latest|largest", re.IGNORECASE)
_SURE = re.compile(r"\b(?:title|name)\b.*\b(?:a|asc\w*)\b|\b(?:title|name)\s*$", re.IGNORECASE)
_REVERSE = re.compile(r"\b(?:title|name)\b.*\b(?:z|desc\w*)\b", re.IGNORECASE)
_VAGUE = re.compile(
    r"\b(?:relevan\w+|default|featured|position|best match|recommended|rating)\b", re.IGNORECASE
)
_LOW_FIRST = re.compile(r"low\w* (?:to|first)|asc|least|a to z|oldest|smallest|cheapest", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Kept:
    """What is kept of a row: what it is called, what is compared or summed, what is asked for."""

    name: str
    value: str
    want: str


def collects(place: Place) -> list[Proposal]:
    """The next deed towards an answer about many rows; nothing where the page is not the list."""
    grid = list_of(place) if place.aim.listed else None
    if grid is None:
        return []
    made = narrowed(place, grid)
    if made:
        return made
    marked = f"filtered:{place.number}" in place.view.memory.marks
    if place.aim.goal is Goal.COUNT and _settled(place, filtered=marked):
        told = count_in(place.facts.said)
        if told is not None:
            return [_answer(place, str(told), f"the page speaks of {told} results")]
    made = _ordered(place, grid) if place.aim.goal is Goal.EXTREME else _steadied(place)
    return made or _gathered(place, grid)


def list_of(place: Place) -> Grid | None:
    """The rows that the aim is about, where this page has them."""
    if not _in_scope(place):
        return None
    best, score = None, 0.0
    for grid in place.facts.grids:
        found = 0.5 * min(3, len(grid.rows)) + (2 if len(grid.columns) > 2 else 0)
        found += 3 * fits(place.aim.things, grid.title) if place.aim.things else 0
        found += sum(1.5 for name in grid.columns if place.aim.field and fits(place.aim.field, name) >= 0.7)
        if place.aim.want:
            found += sum(1.5 for name in grid.columns if fits(place.aim.want, name) >= 0.5)
        if re.search(r"recommended|related|recently|also", grid.title, re.IGNORECASE):
            found -= 4
        if found > score:
            best, score = grid, found
    return best


def _in_scope(place: Place) -> bool:
    """Whether this page lists what is asked about."""
    aim = place.aim
    kind, name = aim.scope
    if kind == "search":
        return any(names(text, name) for text in (*place.facts.headings, *place.facts.trail)) or _asked_for(
            place, name
        )
    if name:
        return any(plain(head) == plain(name) for head in place.heads)
    if aim.goal is Goal.ITEMS and aim.subject and not is_filter(place, aim.subject):
        return place.about(aim.subject)
    if not aim.things:
        return False
    # rows of these things, and a page that says so
    heads = [*place.heads, *(grid.title for grid in place.facts.grids)]
    return any(fits(aim.things, head) >= 0.7 and len(meaning(head)) <= 4 for head in heads) and bool(
        place.facts.grids
    )


def _asked_for(place: Place, name: str) -> bool:
    return any(one.value and plain(one.value) == plain(name) for one in place.fields) and bool(
        place.facts.grids
    )


def narrowed(place: Place, grid: Grid) -> list[Proposal]:
    """Fill in and send the filter of a list, where there is one and the task asks for less than all rows."""
    memory, mark = place.view.memory, f"filtered:{place.number}"
    wanted = wishes(place)
    if (not wanted and not place.aim.dates) or mark in memory.marks:
        return []
    if _one_page(place) and grid_tells(place, grid):
        return []
    return filter_steps(place, wanted, mark)


# reading rows


def _one_page(place: Place) -> bool:
    return place.next_page() is None


def grid_tells(place: Place, grid: Grid) -> bool:
    """Whether the rows themselves say if they meet the conditions."""
    for kind, value in wishes(place):
        if not any(meets(row, kind, value) for row in grid.rows) and not any(
            kind and fits(kind, name) >= 0.7 for name in grid.columns
        ):
            return False
    return not place.aim.dates or bool(_column(grid, "date"))


def _settled(place: Place, *, filtered: bool) -> bool:
    """Whether every row counts, so that the number of results is the answer."""
    if place.aim.bounds:
        return False
    if place.aim.dates and not filtered:
        return False
    return not wishes(place) or filtered


def counts(place: Place, grid: Grid, row: Row) -> bool:
    """Whether a row is one of those asked for."""
    filtered = f"filtered:{place.number}" in place.view.memory.marks
    for kind, value in wishes(place):
        known = any(kind and fits(kind, name) >= 0.7 for name in grid.columns)
        if (known or not filtered) and not meets(row, kind, value):
            return False
    if place.aim.dates and (column := _column(grid, "date")):
        day = day_in(row[column])
        if day and not place.aim.dates[0] <= day <= place.aim.dates[-1]:
            return False
    for bound in place.aim.bounds:
        column = _column(grid, bound.of) or _column(grid, "price")
        number = number_of(row[column]) if column else None
        if number is None or not bound.holds(float(number)):
            return False
    return True


def day_in(text: str) -> str:
    """The day a text names, as ``2026-06-14``; "" for none."""
    found = dates_in(re.sub(r"\b([A-Z][a-z]{2,4})\.", r"\1", text.replace("Sept.", "Sep")))
    return "{:04}-{:02}-{:02}".format(*found[0]) if found else ""


def _column(grid: Grid, wanted: str) -> str:
    """The column that says what is wanted; for a price or a total the first with amounts of money."""
    best, score = "", 0.35
    for name in grid.columns:
        found = fits(wanted, name) if wanted else 0.0
        if wanted == "date" and any(day_in(row[name]) for row in grid.rows[:2]):
            found = max(found, 0.6)
        if found > score:
            best, score = name, found
    if not best and any(alike(word, "price") for word in meaning(wanted)):
        best = next((name for name in grid.columns if any(money_in(row[name]) for row in grid.rows)), "")
    return best


def _kept(place: Place, grid: Grid, row: Row) -> _Kept:
    aim = place.aim
    compared = _column(grid, aim.field) or (PRICE if grid.cards else "")
    value = row[compared] if compared else ""
    name = name_of(place, grid, row)
    wanted = _column(grid, aim.want) if aim.want and aim.want not in ("name", "title") else ""
    if aim.want in ("number", "numbers", "id") and aim.things:
        wanted = _column(grid, f"{aim.things} number") or wanted
    return _Kept(name, value, row[wanted] if wanted else name)


def name_of(place: Place, grid: Grid, row: Row) -> str:
    """What a row's thing is called."""
    if grid.cards:
        return row[NAME]
    column = next(
        (name for name in grid.columns if place.aim.want in ("name", "") and name in ("name", "title")), ""
    )
    column = column or _column(grid, place.aim.want or place.aim.things) or _column(grid, place.aim.things)
    if column and row[column]:
        return row[column]
    return next((one.name for one in row.controls if one.role == "link" and one.name), row.cells[0][1])


def _gathered(place: Place, grid: Grid) -> list[Proposal]:
    """Keep this page's rows and go on; at the last page the answer."""
    memory = place.view.memory
    prefix = f"rows:{place.number}:"
    here = [(_kept(place, grid, row), counts(place, grid, row)) for row in grid.rows]
    page = f"{prefix}{place.view.page.url}"
    kept = ((page, json.dumps([[one.name, one.value, one.want, fits_in] for one, fits_in in here])),)
    onward = place.next_page()
    seen = [name for name in memory.values if name.startswith(prefix)]
    if onward is not None and len(seen) < MOST_PAGES and page not in seen:
        some = sum(fits_in for _, fits_in in here)
        return [
            Proposal(
                command=Click(onward.index, label=onward.name),
                score=LIKELY,
                reason=f"{some} of {len(grid.rows)} rows here count; there are more pages",
                key=f"next:{place.view.page.url}",
                keeps=kept,
            )
        ]
    rows = [
        (_Kept(*one[:3]), one[3]) for name in seen if name != page for one in json.loads(memory.values[name])
    ] + here
    if grid.cards:
        # a thing is listed once; that it stands on two pages says that the list is not in order
        rows = list({one.name: (one, fits_in) for one, fits_in in rows}.values())
        told = count_in(place.facts.said)
        if told is not None and len(rows) < told and (other := _another_order(place, kept, len(rows), told)):
            return other
    return _answered(place, [one for one, fits_in in rows if fits_in])


def _another_order(place: Place, kept: tuple[tuple[str, str], ...], met: int, told: int) -> list[Proposal]:
    """The same list in an order not used yet, for the things that its pages left out."""
    for field in place.fields:
        if not _VAGUE.search(" ".join(field.options[:3])):
            continue
        unused = [
            option
            for option in field.options
            if option != field.value and not place.view.memory.done.get(f"order:{option}")
        ]
        unused.sort(key=lambda option: not (_SURE.search(option) or _REVERSE.search(option)))
        for option in unused[:1]:
            return [
                Proposal(
                    command=Select(field.index, (option,)),
                    score=LIKELY,
                    reason=f"the pages show {met} things of {told}: another order may show the others",
                    key=f"order:{option}",
                    keeps=kept,
                )
            ]
    return []


def _answered(place: Place, rows: Sequence[_Kept]) -> list[Proposal]:
    aim = place.aim
    numbers = [number for number in (number_of(row.value) for row in rows) if number is not None]
    match aim.goal:
        case Goal.COUNT:
            return [_answer(place, str(len(rows)), f"{len(rows)} rows count")]
        case Goal.TOTAL if numbers:
            return [_answer(place, str(sum(numbers, Decimal(0))), f"the sum of {len(numbers)} rows")]
        case Goal.AVERAGE if numbers:
            places = Decimal(1).scaleb(-(aim.places if aim.places >= 0 else 2))
            mean = (sum(numbers, Decimal(0)) / len(numbers)).quantize(places, ROUND_HALF_UP)
            return [_answer(place, str(mean), f"the average of {len(numbers)} rows")]
        case Goal.EXTREME if rows:
            return _extreme(place, rows)
        case Goal.ITEMS if rows:
            return [
                _answer(
                    place, ", ".join(dict.fromkeys(row.want for row in rows if row.want)), f"{len(rows)} rows"
                )
            ]
        case _:
            return []


def _extreme(place: Place, rows: Sequence[_Kept]) -> list[Proposal]:
    key = [(_rank(row.value), row) for row in rows]
    key = [(rank, row) for rank, row in key if rank is not None]
    if not key:
        return []
    best = max(key, key=lambda one: one[0]) if place.aim.most else min(key, key=lambda one: one[0])
    return [_answer(place, best[1].want, f"{best[1].name} has {best[1].value}")]


def _rank(value: str) -> Decimal | None:
    """Days rank by date, everything else by its number."""
    day = day_in(value)
    return Decimal(day.replace("-", "")) if day else number_of(value)


def _answer(place: Place, value: str, why: str) -> Proposal:
    answer = (
        day_in(value) or short(value, place.aim.want or place.aim.field)
        if place.aim.want == "date"
        else short(value, place.aim.want)
    )
    return Proposal(
        command=Stop(answer=answer),
        score=CERTAIN,
        reason=why,
        key=f"stop:{answer}",
        facts=(Fact(key=f"{place.aim.goal} {place.aim.things}".strip(), value=answer, quote=why),),
    )


# ordering


def _ordered(place: Place, grid: Grid) -> list[Proposal]:
    """Where there are more pages than one, have the list ordered and take the first row."""
    if _one_page(place):
        return []
    memory, mark = place.view.memory, f"ordered:{place.number}"
    column = _column(grid, place.aim.field) or (PRICE if grid.cards else "")
    if not column:
        return []
    ranks = [_rank(row[column]) for row in grid.rows]
    known = [rank for rank in ranks if rank is not None]
    inorder = known == sorted(known, reverse=place.aim.most) and len(set(known)) > 1
    if mark in memory.marks and inorder:
        return _extreme(place, [_kept(place, grid, row) for row in grid.rows])
    for field in place.fields:
        chosen = next(
            (
                option
                for option in field.options
                if _orders(option, place.aim.field or column, place.aim.most)
            ),
            "",
        )
        if chosen and chosen != field.value and memory.done.get(f"order:{chosen}", 0) < 2:
            return [
                Proposal(
                    command=Select(field.index, (chosen,)),
                    score=LIKELY,
                    reason="the list in this order begins with what is asked for",
                    key=f"order:{chosen}",
                    marks=(mark,),
                )
            ]
    for head in grid.heads:
        if (
            head.role == "link"
            and plain(head.name) == plain(column)
            and memory.done.get(f"sort:{column}", 0) < 2
        ):
            element = place.view.page.elements[head.index]
            return [press(element, f"orders the list by {column}", LIKELY, (mark,), f"sort:{column}")]
    return []


def _steadied(place: Place) -> list[Proposal]:
    """Before rows of several pages are gathered: an order that stays the same from one page to the next.

    Lists without one (by relevance, by nothing) may show a row on two pages and another on none.
    """
    mark = f"steadied:{place.number}"
    if _one_page(place) or mark in place.view.memory.marks:
        return []
    if any(name.startswith(f"rows:{place.number}:") for name in place.view.memory.values):
        return []
    for field in place.fields:
        sure = next((option for option in field.options if _SURE.search(option)), "")
        if sure and not _SURE.search(field.value) and _VAGUE.search(" ".join(field.options[:3])):
            return [
                Proposal(
                    command=Select(field.index, (sure,)),
                    score=LIKELY,
                    reason="the rows of several pages are counted: their order must not change between them",
                    key=f"order:{sure}",
                    marks=(mark,),
                )
            ]
    return []


def _orders(option: str, field: str, most: bool) -> bool:
    way = _HIGH_FIRST if most else _LOW_FIRST
    return way.search(option) is not None and overlap(frozenset(meaning(field)), option) > 0
