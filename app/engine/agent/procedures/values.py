"""Values of a task for the placeholders of a tip's steps.  Pure.

A value is a thing in quotes, a number, a date, an address or a name in the task.  It fills the placeholder
whose words
stand next to it ("issue 123" for ``issue_number``, "repository openapi-generator" for ``repository_name``); a
kind of value
that its name asks for (number, date, e-mail) comes before others.  A single placeholder takes a single value, one
for a code the only value of letters and digits.  Nothing is
guessed: what no value fits stays open.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from app.engine.core.text import word_set

_QUOTE = r"\"([^\"]{1,200})\"|“([^”]{1,200})”|(?<!\w)'([^'\n]{1,120})'(?!\w)|‘([^’]{1,120})’|`([^`]{1,120})`"
_VALUE = re.compile(
    rf"(?P<quote>{_QUOTE})"
    r"|(?P<email>[\w.+-]+@[\w-]+\.[\w.]+)"
    r"|(?P<date>\d{4}-\d\d-\d\d|\d{1,2}[./]\d{1,2}[./]\d{2,4}"
    r"|(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\.? \d{1,2}(?:st|nd|rd|th)?,? ?(?:\d{4})?)"
    r"|(?P<code>(?<![\w-])(?=[\dA-Z-]{0,20}[A-Z])(?=[A-Z-]{0,20}\d|[A-Z]{5})[\dA-Z]{1,12}(?:-[\dA-Z]{1,12}){0,4}(?![\w-]))"
    r"|(?P<number>#?\d[\d,.]*\d|#?\d)"
    r"|(?P<path>[\w.-]+/[\w./-]+)"
    r"|(?P<name>(?:[A-Z][\w&'’.-]*|[a-z]+[-_][\w-]+)(?:\s+(?:of\s+|the\s+)?[A-Z][\w&'’.-]*)*)"
)
_NUMBERS = word_set("number no id nr code order issue ticket count quantity amount price zip")
_FILLERS = word_set(
    "the a an of to in on for name title value text new with my your this that and or is be by at"
)


@dataclass(frozen=True, slots=True)
class TaskValue:
    """A value in a task, its kind, and the words before and after it, nearest first."""

    text: str
    kind: str
    before: tuple[str, ...]
    after: tuple[str, ...]
    first: bool


def values_in(task: str) -> tuple[TaskValue, ...]:
    """Every value a task names, in order."""
    found: list[TaskValue] = []
    for match in _VALUE.finditer(task[:8_000]):
        kind = match.lastgroup or "name"
        kind = next(
            name for name in ("quote", "email", "date", "code", "number", "path", "name") if match[name]
        )
        text = next((one for one in match.groups()[1:6] if one), match[0]) if kind == "quote" else match[0]
        text = text.strip().rstrip(".,;:?!").lstrip("#") if kind != "quote" else text.strip()
        start = re.search(r"(?:^|[.!?]\s)$", task[: match.start()]) is not None
        if kind == "name" and start and " " not in text and text[:1].isupper():
            continue  # the first word of a sentence
        if not text or text in ("I", "I'm", "I've", "I'd", "I'll"):
            continue
        before = tuple(reversed(re.findall(r"[a-z]+", task[: match.start()].lower())[-5:]))
        after = tuple(re.findall(r"[a-z]+", task[match.end() :].lower())[:3])
        found.append(TaskValue(text, kind, before, after, not found))
    return tuple(found)


def fill_placeholders(names: Sequence[str], task: str) -> dict[str, str]:
    """Return the values of the placeholders that the task gives, by name."""
    values = values_in(task)
    given: dict[str, str] = {}
    left = list(range(len(values)))
    pairs = sorted(
        ((_fit(name, values[at]), -order, -at, name, at) for order, name in enumerate(names) for at in left),
        reverse=True,
    )
    for fit, _, _, name, at in pairs:
        if fit >= 0.5 and name not in given and at in left:
            given[name] = values[at].text
            left.remove(at)
    for name in names:
        alone = (
            [at for at in left if values[at].kind == "code"] if _asks_for(name.split("_")) == "code" else []
        )
        if name not in given and len(alone) == 1:
            given[name] = values[alone[0]].text
            left.remove(alone[0])
    open_names = [name for name in names if name not in given]
    if len(open_names) == 1:
        quoted = [at for at in left if values[at].kind == "quote"] or left
        allowed = [at for at in quoted if _kind_allows(open_names[0], values[at])]
        if len(allowed) == 1:
            given[open_names[0]] = values[allowed[0]].text
    return given


def _fit(name: str, value: TaskValue) -> float:
    """How well a value fits a placeholder's name, in [0, 1]."""
    words = [word for word in name.split("_") if word]
    if not _kind_allows(name, value):
        return 0.0
    telling = [word for word in words if word not in _FILLERS and word not in ("number", "id")] or words
    near = 0.0
    for word in telling:
        if any(_alike(word, other) for other in value.before[:1]):
            near += 1.0
        elif any(_alike(word, other) for other in value.before[1:3]):
            near += 0.7
        elif any(_alike(word, other) for other in (*value.before[3:], *value.after)):
            near += 0.4
    kind = 0.35 if _asks_for(words) == value.kind else 0.0
    return min(1.0, near / len(telling) + kind)


def _asks_for(words: Sequence[str]) -> str:
    if words and (words[-1] in ("number", "id", "no", "nr") or words == ["quantity"]):
        return "number"
    if set(words) & {"email", "mail"}:
        return "email"
    if words[-1:] == ["code"]:
        return "code"
    return "date" if words and words[-1] in ("date", "day") else ""


def _kind_allows(name: str, value: TaskValue) -> bool:
    asked = _asks_for(name.split("_"))
    if asked == "number":
        return value.kind in (asked, "quote", "code") and any(char.isdigit() for char in value.text)
    return not asked or value.kind in (asked, "quote") or (asked == "code" and value.kind == "number")


def _alike(one: str, other: str) -> bool:
    return one == other or (
        min(len(one), len(other)) >= 4 and (one.startswith(other[:5]) or other.startswith(one[:5]))
    )
