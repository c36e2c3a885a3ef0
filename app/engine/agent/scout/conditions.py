"""Does what depends on what the page shows: the cheapest of a list, again until a number fits, when a price falls."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from app.engine.agent.scout.grounding import likeness, plain, stems, words
from app.engine.agent.scout.intent import Clause, Extreme, Verb
from app.engine.agent.scout.rows import alike, controls_called, row_text
from app.engine.agent.scout.skill import CERTAIN, LIKELY, Proposal, View, key_of
from app.engine.agent.scout.typing_in import fields_of
from app.engine.agent.scout.values import number_in
from app.engine.core.actions.types import Click, TypeText, Wait
from app.engine.core.page_state import Element

_RANGE = re.compile(r"\bbetween\s+(-?\d+)\s*(?:-|and|to)\s*(-?\d+)")
_LOWER, _HIGHER = (
    re.compile(r"\b(?:lower|less|smaller|too high)\b"),
    re.compile(r"\b(?:higher|greater|larger|too low)\b"),
)
_MONEY = re.compile(r"[$€£]\s?\d[\d,]*(?:\.\d+)?")
_DURATION = re.compile(r"\d+\s*h(?:ours?)?(?:\s*\d+\s*m)?|\d+\s*min")
_OF_MONEY = frozenset(["cheapest", "dearest", "priciest", "lowest", "highest"])
_OF_TIME = frozenset(["shortest", "longest", "fastest", "quickest"])
_ACTING = frozenset({Verb.BUY, Verb.CLICK, Verb.SELECT, Verb.ADD, Verb.OPEN})
PREDICATES: dict[str, Callable[[int], bool]] = {
    "odd": lambda number: number % 2 == 1,
    "even": lambda number: number % 2 == 0,
    "positive": lambda number: number > 0,
    "negative": lambda number: number < 0,
}
"""What a number may be called, and when it is that."""


class Extremes:
    """Press the button of the row that has the least or the most of something."""

    name = "extreme"

    def propose(self, view: View) -> Sequence[Proposal]:
        """Only where several rows are alike and each has the number that is asked about."""
        clause = view.clause
        if clause is None or not clause.extremes or clause.verb not in _ACTING or clause.quoted:
            return ()
        extreme = clause.extremes[0]
        for group in _groups(view):
            numbered = [(value, e) for e in group if (value := _measure(view, e, group, extreme)) is not None]
            if len(numbered) == len(group) > 1:
                pick = max if extreme.most else min
                value, element = pick(numbered, key=lambda one: one[0])
                return [
                    Proposal(
                        command=Click(element.index, label=element.name),
                        score=LIKELY,
                        reason=f"it has the {extreme.word} ({value:g})",
                        marks=(view.closes(), "did:extreme"),
                    )
                ]
        return ()


class Until:
    """Do it again until the number on the page is as asked; wait until it is."""

    name = "until"

    def propose(self, view: View) -> Sequence[Proposal]:
        """Press the button named by the clause, or wait for the number."""
        clause = view.clause
        if (
            clause is None
            or fields_of(view)
            or clause.verb not in (Verb.OTHER, Verb.BUY, Verb.ADD, Verb.CLICK)
        ):
            return ()
        named = [PREDICATES[word] for word in words(clause.text) if word in PREDICATES]
        if not clause.bounds and len(named) != 1:
            return ()
        now = _number_about(view, clause.bounds[0].of if clause.bounds else "")
        button = _button_of(view, clause)
        if button is None:
            return ()
        waits = bool(re.search(r"\b(?:when|once|as soon as|if)\b", clause.text))
        fits = all(bound.holds(now or 0.0) for bound in clause.bounds) and all(
            is_so(int(now or 0)) for is_so in named
        )
        holds = now is not None and fits
        if waits and not holds:
            wait = Wait(0.3)
            return [
                Proposal(
                    command=wait,
                    score=LIKELY,
                    reason=f"it is {now} now",
                    key="wait",
                    again=True,
                    marks=("waited",),
                )
            ]
        if not waits and holds:
            return [Proposal(score=LIKELY, reason=f"{now} is as asked", marks=(view.closes(), "did:until"))]
        return [
            Proposal(
                command=Click(button.index, label=button.name),
                score=CERTAIN if waits else LIKELY,
                reason=f"it is {now} now",
                marks=(view.closes(),) if waits else ("tried",),
                again=True,
            )
        ]


class Guess:
    """Halve a range of numbers by what the page says of each guess."""

    name = "guess"

    def propose(self, view: View) -> Sequence[Proposal]:
        """A number into the field, then the button; what the page answers narrows the range."""
        clause = next(
            (c for c in view.task.clauses if c.word == "" and c.text.lower().startswith("guess")), None
        )
        found = _RANGE.search(view.task.text)
        fields = fields_of(view)
        if clause is None or found is None or len(fields) != 1:
            return ()
        low, high = _narrowed(view, int(found[1]), int(found[2]))
        middle = (low + high) // 2
        key = f"guess:{low}:{high}"
        if f"typed:{key}" not in view.memory.marks:
            command = TypeText(fields[0].index, str(middle))
            keeps = (("range", f"{low} {high}"), ("guess", str(middle)))
            reason = f"it is from {low} to {high}"
            return [
                Proposal(
                    command=command,
                    score=CERTAIN,
                    reason=reason,
                    key=key,
                    marks=(f"typed:{key}",),
                    keeps=keeps,
                )
            ]
        return [
            Proposal(
                command=Click(button.index, label=button.name),
                score=CERTAIN,
                reason="the page will tell whether it is",
                key=f"send:{key}",
                marks=(f"guessed:{middle}",),
            )
            for button in controls_called(view, ("submit", "guess", "ok", "check"))[:1]
        ]


class Classify:
    """Press, in each row, the button named like what the row's number is: odd or even, positive or negative."""

    name = "classify"

    def propose(self, view: View) -> Sequence[Proposal]:
        """The next row."""
        clause = view.clause
        named = [name for name in PREDICATES if clause is not None and name in words(clause.text)]
        if clause is None or len(named) < 2:
            return ()
        left = [e for e in _fitting(view, named) if f"did:{key_of(e)}" not in view.memory.marks]
        for element in left[:1]:
            last = (view.closes(),) if len(left) == 1 else ()
            return [
                Proposal(
                    command=Click(element.index, label=element.name),
                    score=CERTAIN,
                    reason=f"the number of its row is {plain(element.name)}",
                    marks=(f"did:{key_of(element)}", *last),
                )
            ]
        return ()


class Pause:
    """Wait as long as the task says."""

    name = "wait"

    def propose(self, view: View) -> Sequence[Proposal]:
        """One wait."""
        clause = view.clause
        if clause is None or clause.verb is not Verb.WAIT:
            return ()
        seconds = min(10.0, float(clause.numbers[0]) if clause.numbers else 1.0)
        return [
            Proposal(
                command=Wait(seconds), score=CERTAIN, reason="the task says to wait", marks=(view.closes(),)
            )
        ]


def _groups(view: View) -> list[list[Element]]:
    """Controls that are alike and stand in several rows, the most first."""
    groups: list[list[Element]] = []
    taken: set[int] = set()
    for element in view.shown:
        if element.index in taken or element.role not in ("button", "link", "generic", "radio"):
            continue
        group = alike(view.shown, element)
        taken.update(e.index for e in group)
        if len(group) > 1:
            groups.append(group)
    groups.sort(key=lambda group: (group[0].role != "button", -len(group)))
    return groups


def _measure(view: View, element: Element, group: Sequence[Element], extreme: Extreme) -> float | None:
    text = f"{row_text(view, element, group)}\n{element.name}"
    for line_text in _with_label(text, extreme.of):
        return number_in(line_text)
    by_money = extreme.word in _OF_MONEY or {"cost", "price"} & set(words(extreme.of))
    pattern = _MONEY if by_money else _DURATION if extreme.word in _OF_TIME else None
    if pattern is None:
        return number_in(element.name)
    found = [*pattern.finditer(text)]
    return number_in(found[-1][0].lstrip("$€£ ")) if found else None


def _with_label(text: str, label: str) -> Iterator[str]:
    """The text behind a line that has the label."""
    wanted = stems(label)
    lines = text.split("\n")
    for place, line in enumerate(lines):
        if wanted and stems(line) and stems(line) <= wanted and place + 1 < len(lines):
            yield lines[place + 1]


def _number_about(view: View, of: str) -> float | None:
    """The number on the page that some words are about; the only one there is, without words."""
    lines = [line for line in view.outline.lines if line.words and line.role != "button"]
    wanted = stems(of) - {"i"}
    for place, line in enumerate(lines):
        if wanted & stems(line.words) and number_in(line.words) is None and place + 1 < len(lines):
            value = number_in(lines[place + 1].words.lstrip("$€£ "))
            if value is not None:
                return value
    values = [
        value
        for line in lines
        if re.fullmatch(r"[$€£]?\s?-?\d[\d.,]*", line.words) and (value := number_in(line.words)) is not None
    ]
    return values[-1] if values else None


def _button_of(view: View, clause: Clause) -> Element | None:
    """The button named like the clause's own verb: ``Generate``, ``Buy``."""
    verb = clause.word or (words(clause.text) or ("",))[0]
    buttons = [e for e in view.shown if e.role == "button" and likeness(verb, e.name) >= 0.6]
    return buttons[0] if buttons else None


def _narrowed(view: View, low: int, high: int) -> tuple[int, int]:
    held = view.memory.values.get("range", "")
    if held:
        low, high = (int(part) for part in held.split())
    guess = view.memory.values.get("guess", "")
    if guess and f"guessed:{guess}" in view.memory.marks:
        said = view.outline.text.lower()
        if _LOWER.search(said):
            high = min(high, int(guess) - 1)
        elif _HIGHER.search(said):
            low = max(low, int(guess) + 1)
    return low, max(low, high)


def _fitting(view: View, named: Sequence[str]) -> list[Element]:
    buttons = [e for e in view.shown if plain(e.name) in named]
    fitting: list[Element] = []
    for button in buttons:
        number = _number_beside(view, button)
        if number is not None and PREDICATES[plain(button.name)](int(number)):
            fitting.append(button)
    return fitting


def _number_beside(view: View, button: Element) -> float | None:
    """The number in the button's row: behind it, else before it."""
    near = [*view.outline.after(button.index)[:1], *view.outline.before(button.index)[:1]]
    return next((value for text in near if (value := number_in(text)) is not None), None)
