"""What is to be typed: quoted, told in other words, copied from the page, reckoned, read off a label.  Pure."""

from __future__ import annotations

import re
from fractions import Fraction

from app.engine.agent.scout.grounding import plain, words
from app.engine.agent.scout.intent import Clause, Verb
from app.engine.agent.scout.outline import Outline
from app.engine.agent.scout.skill import View
from app.engine.core.page_state import Element

_UPPER = re.compile(r"\b(?:all\s+)?(?:upper[\s-]?case|capital)", re.IGNORECASE)
_LOWER = re.compile(r"\b(?:all\s+)?(?:lower[\s-]?case|small letters)", re.IGNORECASE)
_SUM = re.compile(
    r"([-−]?\d+(?:\.\d+)?|x)\s*([+\-−*×x/÷])\s*([-−]?\d+(?:\.\d+)?|x)\s*=\s*([-−]?\d+(?:\.\d+)?)?"
)
_VALUE_OF = re.compile(
    r"\b(?:value|content|text)\s+(?:of|for|next to|beside)\s+(?:the\s+)?(.+?)\s+(?:into|in)\b", re.IGNORECASE
)
_PLAIN_NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?")
_REFERS = frozenset(
    {"it", "that", "this", "them", "your answer", "the answer", "answer", "result", "solution"}
)


def text_for(view: View, clause: Clause, field: Element) -> str:
    """The text that a clause wants in a field; "" where it can't be told."""
    if clause.quoted:
        return _in_case(clause.quoted[0], clause.text)
    source = _source(view, clause)
    if source:
        return source
    found = _VALUE_OF.search(clause.text)
    if found:
        return value_beside(view.outline, found[1])
    if any(word in _REFERS for word in map(plain, clause.targets)) or not clause.targets:
        return reckoned(view.outline.text)
    if "below" in words(clause.text) or "above" in words(clause.text):
        return _before(view.outline, field)
    if clause.pairs:
        return clause.pairs[0][1]
    return clause.targets[0] if clause.targets and len(clause.targets[0].split()) <= 3 else ""


def _in_case(text: str, told: str) -> str:
    if _UPPER.search(told):
        return text.upper()
    return text.lower() if _LOWER.search(told) else text


def _source(view: View, clause: Clause) -> str:
    """What a clause before it found or copied."""
    for before in reversed(view.behind(clause)):
        if before.verb is Verb.COPY or (before.verb is Verb.FIND and before.ordinal):
            return taken(view, before)
    return ""


def taken(view: View, clause: Clause) -> str:
    """The text that ``copy the text in ...`` or ``find the 2nd word in ...`` is about."""
    areas = [e for e in view.page.elements if e.visible and e.role == "textbox" and e.value]
    of_kind = [e for e in areas if e.tag == "textarea"] or areas
    by_word = re.search(r"\b(word|letter|number|line|sentence)\b", clause.text)
    if by_word and clause.ordinal:
        text = of_kind[0].value if of_kind else _paragraph(view.outline)
        parts = text.split()
        place = clause.ordinal - 1 if clause.ordinal > 0 else len(parts) + clause.ordinal
        return parts[place].strip(",.;:!?") if 0 <= place < len(parts) else ""
    every = [
        e for e in view.page.elements if e.visible and e.role == "textbox" and e.tag == "textarea"
    ] or areas
    place = max(clause.ordinal - 1, 0) if clause.ordinal >= 0 else len(every) - 1
    return every[place].value if place < len(every) else ""


def _paragraph(outline: Outline) -> str:
    texts = [
        line.words for line in outline.lines if line.element < 0 and line.role in ("StaticText", "paragraph")
    ]
    return max(texts, key=len, default="")


def value_beside(outline: Outline, label: str) -> str:
    """What stands behind a label in a table or list of terms; "" where there is no such label."""
    at = outline.find(label)
    if at < 0:
        return ""
    for line in outline.lines[at + 1 : at + 6]:
        if line.words and plain(line.words) != plain(label):
            return line.words
    return ""


def _before(outline: Outline, field: Element) -> str:
    """All plain words before a field: single letters run together."""
    number = outline.place.get(field.index, len(outline.lines))
    texts = [line.words for line in outline.lines[:number] if line.words and line.element < 0]
    if texts and all(len(text) <= 2 for text in texts):
        return "".join(texts)
    return texts[-1] if texts else ""


def reckoned(text: str) -> str:
    """The result of the sum that stands in a text, or the ``x`` in it; "" where there is none."""
    found = _SUM.search(" ".join(text.split()))
    if found is None:
        return ""
    left, sign, right, result = found.groups()
    try:
        if "x" in (left, right):
            return _shown(_solve(left, sign, right, _fraction(result))) if result else ""
        return _shown(_apply(_fraction(left), sign, _fraction(right)))
    except ZeroDivisionError:
        return ""


def _fraction(text: str) -> Fraction:
    return Fraction(text.replace("−", "-"))


def _apply(left: Fraction, sign: str, right: Fraction) -> Fraction:
    if sign == "+":
        return left + right
    if sign in "-−":
        return left - right
    return left * right if sign in "*×x" else left / right


def _solve(left: str, sign: str, right: str, result: Fraction) -> Fraction:
    if left == "x":
        known = _fraction(right)
        if sign == "+":
            return result - known
        if sign in "-−":
            return result + known
        return result / known if sign in "*×x" else result * known
    known = _fraction(left)
    if sign == "+":
        return result - known
    if sign in "-−":
        return known - result
    return result / known if sign in "*×x" else known / result


def _shown(value: Fraction) -> str:
    return str(value.numerator) if value.denominator == 1 else f"{float(value):g}"


def number_in(text: str) -> float | None:
    """The first number in a text, with durations (``2h 16m``) in minutes."""
    duration = re.search(r"\b(?:(\d+)\s*d(?:ays?)?\s*)?(\d+)\s*h(?:ours?)?(?:\s*(\d+)\s*m(?:in)?)?", text)
    if duration:
        return float(int(duration[1] or 0) * 1440 + int(duration[2]) * 60 + int(duration[3] or 0))
    found = _PLAIN_NUMBER.search(text.replace("−", "-"))
    return float(found[0].replace(",", "")) if found else None
