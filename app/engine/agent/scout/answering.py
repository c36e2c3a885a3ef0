"""Answers read from a page: a labelled value of the thing asked about, a cell of its row, yes or no, a difference."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal, InvalidOperation

from app.engine.agent.scout.aims import Aim, Goal, kind_of
from app.engine.agent.scout.grounding import plain, words
from app.engine.agent.scout.narrowing import filter_steps
from app.engine.agent.scout.place import Place
from app.engine.agent.scout.skill import CERTAIN, Proposal
from app.engine.agent.scout.tables import money_in
from app.engine.agent.scout.wording import alike, fits, meaning, overlap, says
from app.engine.core.actions.types import ReportInfeasible, Stop, TakeNote
from app.engine.core.ledger import Fact

LEAST, LEAST_ALONE = 0.5, 0.82
"""How well a label must say what is asked for, on the page of the thing and on a page of no thing in particular."""
SILENT = 0.68
"""Saying that the page of the thing is silent: behind parts of that page, before leaving it."""
_NO = re.compile(
    r"\b(?:not|no|never|none|false|out of|sold out|un\w+|in(?:active|valid)|disabled|without)\b",
    re.IGNORECASE,
)
_TEXT = re.compile(r"""['"](.*)['"]""")
_NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?")


def answers(place: Place) -> list[Proposal]:
    """What the page answers, if it does."""
    aim = place.aim
    if aim.goal is Goal.VALUE:
        return _value(place)
    if aim.goal is Goal.COUNT and f"filtered:{place.number}" in place.view.memory.marks and aim.things:
        found = _labelled(place, f"total {aim.things}", 0.95)
        return [_stop(place, found, f"total {aim.things}")] if found and _NUMBER.fullmatch(found) else []
    if aim.goal is Goal.COUNT and not aim.dates and not aim.bounds and not aim.scope[1]:
        found = _labelled(place, aim.field, 0.97)
        return [_stop(place, found, aim.field)] if found and _NUMBER.fullmatch(found) else []
    if aim.goal is Goal.YES_NO and place.about(aim.subject):
        return _yes_or_no(place)
    if aim.goal is Goal.DIFFERENCE:
        return _difference(place)
    if aim.goal is Goal.TOLD and place.about(aim.subject):
        return _told(place)
    return []


def value_of(place: Place, subject: str) -> str:
    """The value asked for, of a thing; "" where the page does not tell."""
    aim = place.aim
    if subject and place.about(subject):
        if aim.field == "name":
            return place.heads[0] if place.heads else ""
        return _labelled(place, aim.field, LEAST) or _counted(place) or _amount(place)
    if subject:
        return _cell(place, subject)
    if aim.dates and f"filtered:{place.number}" not in place.view.memory.marks:
        return ""
    return _labelled(place, aim.field, LEAST_ALONE) or _sentence(place)


def short(text: str, field: str) -> str:
    """The shortest form of an answer: an amount without its sign."""
    money = money_in(text)
    if money and len(text) <= len(money) + 12:
        return bare(money)
    found = re.fullmatch(
        rf"({_NUMBER.pattern})\s*(?:{re.escape(field.split(' ')[-1])}\w*)?", text.strip(), re.IGNORECASE
    )
    return found[1] if found else " ".join(text.split())


def bare(number: str) -> str:
    """A number without signs of currency and thousands."""
    found = _NUMBER.search(number)
    return found[0].replace(",", "") if found else ""


def number_of(text: str) -> Decimal | None:
    """The first number in a text, an amount of money before others."""
    try:
        return Decimal(bare(money_in(text) or text))
    except InvalidOperation:
        return None


def _stop(place: Place, value: str, what: str, why: str = "") -> Proposal:
    answer = short(value, place.aim.field)
    fact = Fact(
        key=(what or place.aim.things or "answer")[:60],
        value=answer,
        quote=value[:200],
        subgoal=place.aim.text[:80],
    )
    return Proposal(
        command=Stop(answer=answer),
        score=CERTAIN,
        reason=why or f"the page says {what or 'it'}: {value[:80]}",
        key=f"stop:{answer}",
        facts=(fact,),
    )


def _value(place: Place) -> list[Proposal]:
    aim = place.aim
    mark = f"filtered:{place.number}"
    if aim.dates and not aim.subject and mark not in place.view.memory.marks:
        return filter_steps(place, (), mark) if _labelled(place, aim.field, LEAST_ALONE) else []
    found = value_of(place, aim.subject)
    return [_stop(place, found, " ".join((aim.field, aim.subject)).strip())] if found else []


def _labelled(place: Place, field: str, least: float) -> str:
    """The value whose label says best what is asked for; what stands around it decides among equals."""
    around = frozenset(meaning(place.aim.text))
    best, score = "", least
    candidates = [(one.label, one.value, one.title) for one in place.facts.labelled]
    candidates += [(place.label_of(one), _held(one.value, one.type), "") for one in place.fields]
    for grid in place.facts.grids:
        if len(grid.rows) == 1 and not grid.cards:
            candidates += [(name, text, grid.title) for name, text in grid.rows[0].cells if name]
    for label, value, title in candidates:
        if not value or not label or value == label:
            continue
        found = fits(field, label)
        if found < least:
            continue
        found += 0.02 * overlap(around, title) + 0.01 * overlap(around, label)
        if found > score + 1e-9:
            best, score = value, found
    return best


def _held(value: str, kind: str) -> str:
    return "" if kind in ("checkbox", "radio", "password") else value


def _counted(place: Place) -> str:
    """``6 customer reviews`` answers how many customer reviews there are."""
    field = place.aim.field
    for text in (*place.facts.said, *(one.name for one in place.pressed)):
        found = re.match(r"\(?(\d[\d,]*)\)?\s+(.{3,60})$", text.strip())
        if found and fits(field, found[2]) >= 0.85:
            return found[1]
    return ""


def _amount(place: Place) -> str:
    """What a thing costs, where the page says it without a label."""
    if not any(alike(word, "price") for word in meaning(place.aim.field)):
        return ""
    return next((money_in(text) for text in place.facts.said if money_in(text)), "")


def _cell(place: Place, subject: str) -> str:
    """The cell of the thing's row in the column asked for."""
    if place.aim.conditions:
        return ""
    for _, row in place.rows_of(subject):
        scored = sorted(
            ((fits(place.aim.field, name), text) for name, text in row.cells if name and text), reverse=True
        )
        if scored and scored[0][0] >= LEAST:
            return scored[0][1]
        wanted = meaning(place.aim.field)
        uses = [
            text
            for name, text in row.cells
            if text and len(words(name)) == 1 and any(alike(word, name) == 1.0 for word in wanted)
        ]
        if len(uses) == 1 and not names_itself(uses[0], subject):
            return uses[0]
    return ""


def names_itself(text: str, subject: str) -> bool:
    """Whether a cell only repeats the thing."""
    return says(text, subject)


def _sentence(place: Place) -> str:
    """A number in a sentence that speaks of what is asked: ``within 30 days of delivery``."""
    aim = place.aim
    unit = meaning(aim.field)[-1:] if aim.field else ()
    around = frozenset(word for word in meaning(aim.text) if len(word) > 3)
    if not unit or not re.search(r"\bhow (?:many|long|much)\b", aim.text, re.IGNORECASE):
        return ""
    for line in place.view.page.text.splitlines():
        for sentence in re.split(r"(?<=[.!?])\s", line):
            found = re.search(
                rf"\b(\d[\d,.]*\d|\d)\s+(?:\w+\s+)?{re.escape(unit[0])}\b", sentence, re.IGNORECASE
            )
            if found and overlap(around, sentence) >= 3.5:
                return found[1]
    return ""


def _told(place: Place) -> list[Proposal]:
    """The sentences of the page of a thing that speak of what is asked; that there are none, where no part is left."""
    aim = place.aim
    wanted = meaning(aim.field)
    told: list[str] = [one.value for one in place.facts.labelled if fits(aim.field, one.label) >= LEAST]
    around = _around(place.view.page.tree)
    for line in () if told else place.view.page.text.splitlines():
        if plain(line) in around:
            continue
        for sentence in re.split(r"(?<=[.!?])\s+", line.strip()):
            said = meaning(sentence)
            if len(said) > len(wanted) and all(
                any(alike(one, word) == 1.0 for word in said) for one in wanted
            ):
                told.append(sentence)
    if told and wanted:
        found = " ".join(dict.fromkeys(told[:3]))
        return [replace(_stop(place, found, aim.field), command=Stop(answer=found))]
    why = f"the page of {aim.subject} says nothing about {aim.field}"
    return [Proposal(command=ReportInfeasible(reason=why), score=SILENT, reason=why, key="silent")]


def _around(tree: str) -> frozenset[str]:
    """Texts of the header, menus and foot, which every page of a site has and which tell nothing of this one."""
    found: set[str] = set()
    inside: int | None = None
    for line in tree.splitlines():
        bare_line = line.lstrip("\t")
        depth = len(line) - len(bare_line)
        if inside is not None and depth <= inside:
            inside = None
        if inside is None and bare_line.startswith(("contentinfo", "banner", "navigation")):
            inside = depth
        if inside is not None and (text := _TEXT.search(bare_line)):
            found.add(plain(text[1]))
    return frozenset(found)


def _yes_or_no(place: Place) -> list[Proposal]:
    aim = place.aim
    told: list[str] = [one.value for one in place.facts.labelled if fits(aim.field, one.label) >= LEAST]
    told += [
        text
        for text in place.facts.said[:12]
        if len(text) < 60 and overlap(frozenset(meaning(aim.field)), text)
    ]
    if not told:
        return []
    answer = "no" if _NO.search(told[0]) else "yes"
    return [_stop(place, answer, aim.field, f"the page says: {told[0][:80]}")]


def _difference(place: Place) -> list[Proposal]:
    """Each thing's value is noted where it is met; when both are known, one is taken from the other."""
    aim, memory = place.aim, place.view.memory
    known = [memory.values.get(f"value:{n}", "") for n in range(len(aim.subjects))]
    if len(known) >= 2 and all(known):
        first, second = number_of(known[0]), number_of(known[1])
        if first is not None and second is not None:
            return [_stop(place, str(abs(first - second)), "difference", f"{first} less {second}")]
    for number, name in enumerate(aim.subjects):
        if known[number] or not (found := value_of(place, name)):
            continue
        return [
            Proposal(
                command=TakeNote(f"{aim.field or 'value'} of {name}: {short(found, aim.field)}"),
                score=CERTAIN,
                reason=f"the page says {aim.field} of {name}",
                key=f"note:{name}",
                keeps=((f"value:{number}", found),),
                marks=(f"valued:{number}",),
                facts=(
                    Fact(key=f"{aim.field} of {name}"[:60], value=short(found, aim.field), quote=found[:200]),
                ),
            )
        ]
    return []


def sought(place: Place) -> str:
    """The thing that is to be found next."""
    aim = place.aim
    if aim.goal is Goal.DIFFERENCE:
        left = [name for n, name in enumerate(aim.subjects) if f"valued:{n}" not in place.view.memory.marks]
        return left[0] if left else ""
    return aim.subject


def kind_sought(aim: Aim, name: str) -> str:
    """What kind of thing it is, in the task's words."""
    kind = kind_of(aim, name)
    return kind if kind and kind not in _NO_KINDS else ""


_NO_KINDS: Sequence[str] = ("what", "which")
