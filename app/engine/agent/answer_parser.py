"""Parsing of a model's answer into typed actions, or into a message that helps the model to fix it.

The action is between ``<action>`` and ``</action>`` (a missing closing tag is forgiven, a missing opening tag too
where the answer is nothing but a call, a code block or JSON).  Beyond that parsing is strict: nothing is guessed, no
name of an element is taken for its number, and an ambiguous answer is none.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from app.engine.core.actions.action_sets import all_calls
from app.engine.core.actions.binding import NotANumber, build_action
from app.engine.core.actions.specs import FORMS, ActionSyntaxError, CallForm
from app.engine.core.actions.syntax import (
    MAX_ACTION_LENGTH,
    NAME_PATTERN,
    WrittenCall,
    normalised_name,
    read_calls,
    read_json,
)
from app.engine.core.actions.types import Action, elements_of
from app.engine.core.page_state import Element, PageCapture

_TAG = re.compile(r"<(think|thinking|action|expect|fact)\b([^<>]{0,200})>", re.IGNORECASE)
_CUT_TAG = re.compile(r"<(?:/[a-z]{0,8}|/?)\s*\Z", re.IGNORECASE)
_FENCE = re.compile(r"```[ \t]*(?:[A-Za-z]{1,12}[ \t]*(?=\r?\n))?")
_KEY = re.compile(r"key\s*=\s*[\"']([^\"']{1,80})[\"']")
_LEAD = re.compile(
    r"(?:[-*>•]\s+|\d{1,2}[.)]\s+)?(?:\**\s*(?:next\s+)?actions?\s*:?\s*\**\s*:?\s*)?`*", re.IGNORECASE
)
_JSON_START = re.compile(r"^[ \t]*[\[{]", re.MULTILINE)
_WINDOW = 40_000
_ENDS = 250_000
"""Characters at either end of an answer that are read; the middle of a longer one holds no useful action."""
_JSON_TRIES = 5
_MOST_FACTS = 8
_CLOSE_NAMES = 3
_SHOWN_ELEMENTS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedAnswer:
    """Content of an answer.

    Attributes:
        actions: the actions in order; empty where none could be read.
        why: the fault of the answer, for the model to fix it; "" where there is none.
        reason: its thinking.  expect: the expected effect of the action.
        facts: pairs of key and value to remember.
        call: the action as written.
        dropped: number of actions beyond the limit.
    """

    actions: tuple[Action, ...] = ()
    why: str = ""
    reason: str = ""
    expect: str = ""
    facts: tuple[tuple[str, str], ...] = ()
    call: str = ""
    dropped: int = 0

    @property
    def action(self) -> Action | None:
        """The first action."""
        return self.actions[0] if self.actions else None


@dataclass(slots=True)
class _AnswerParts:
    """An answer split by its tags."""

    thinking: str = ""
    expect: str = ""
    actions: tuple[str, ...] = ()
    facts: tuple[tuple[str, str], ...] = ()
    rest: str = ""


def parse_answer(
    text: str, offered: Collection[str], page: PageCapture | None = None, *, most: int = 1
) -> ParsedAnswer:
    """Parse an answer; never raises, and takes milliseconds however long the answer is.

    Args:
        offered: names of the calls that may be used (``action_sets``).
        page: the page whose elements may be named; without one their numbers are not checked.
        most: how many actions one answer may hold; further ones are dropped.
    """
    if len(text) > _ENDS * 2:
        text = f"{text[:_ENDS]}\n{text[-_ENDS:]}"
    pieces = _split_tags(text)
    parsed = ParsedAnswer(
        reason=pieces.thinking,
        expect=pieces.expect,
        facts=pieces.facts,
        call="\n".join(pieces.actions)[:400],
    )
    try:
        calls, thought = _calls(text, pieces, offered)
        call = "\n".join(one.text for one in calls[:most])
        parsed = replace(parsed, reason=parsed.reason or thought, call=call or parsed.call)
        actions = tuple(_action_of_call(one, offered, page) for one in calls[:most])
    except ActionSyntaxError as error:
        return replace(parsed, why=f"{error}.")
    return replace(parsed, actions=actions, call=call, dropped=max(len(calls) - most, 0))


def closest_elements(wanted: str, elements: Sequence[Element], most: int = _SHOWN_ELEMENTS) -> list[Element]:
    """Return the elements whose names are closest to some words, closest first."""
    from rapidfuzz import fuzz, process

    if not wanted.strip():
        return []
    names = {at: element.name or element.label or element.text for at, element in enumerate(elements)}
    found = process.extract(
        wanted[:200].casefold(),
        {at: name[:200].casefold() for at, name in names.items() if name},
        scorer=fuzz.WRatio,
        limit=most,
        score_cutoff=60,
    )
    return [elements[at] for _, _, at in found]


def element_words(element: Element) -> str:
    """Name an element for a message: ``12 button 'Save'``."""
    name = " ".join((element.name or element.label or element.text).split())
    return f"{element.index} {element.role}" + (f" {name[:60]!r}" if name else "")


def _split_tags(text: str) -> _AnswerParts:
    """Split the answer by its tags in one pass; thinking holds no action, unless it is never closed."""
    pieces = _AnswerParts()
    actions: list[str] = []
    thoughts: list[str] = []
    facts: list[tuple[str, str]] = []
    rest: list[str] = []
    closings = _ClosingTags(text)
    done = 0
    for tag in _TAG.finditer(text):
        if tag.start() < done:
            continue
        rest.append(text[done : tag.start()])
        name = tag[1].lower()
        end, done, closed = closings.after(name, tag.end())
        inside = text[tag.end() : end]
        if name == "action":
            actions.append(inside if closed else _CUT_TAG.sub("", inside))
        elif name == "expect":
            pieces.expect = " ".join(inside.split())[:400]
        elif name == "fact":
            key = _KEY.search(tag[2])
            facts.append((key[1] if key else "", " ".join(inside.split())[:1000]))
        else:
            thoughts.append(inside.strip())
    rest.append(text[done:])
    pieces.rest = "".join(rest).strip() if not actions else ""
    before = "" if thoughts or not actions else text[: text.lower().find("<action")].strip()
    pieces.thinking = ("\n".join(thoughts) or before)[:_WINDOW]
    pieces.actions = tuple(actions)
    pieces.facts = tuple(fact for fact in facts if fact[0] and fact[1])[:_MOST_FACTS]
    return pieces


class _ClosingTags:
    """Finds where a tag's content ends; a missing closing tag is searched for once."""

    def __init__(self, text: str) -> None:
        self._text, self._missing = text, set[str]()

    def after(self, name: str, start: int) -> tuple[int, int, bool]:
        """Return where the content ends, where the text continues, and whether the closing tag was there."""
        if name not in self._missing:
            closing = re.compile(rf"</{name}\s*>", re.IGNORECASE).search(self._text, start)
            if closing is not None:
                return closing.start(), closing.end(), True
            self._missing.add(name)
        if name == "action":
            return len(self._text), len(self._text), False
        following = _TAG.search(self._text, start)
        end = following.start() if following is not None else len(self._text)
        return end, end, False


def _calls(text: str, pieces: _AnswerParts, offered: Collection[str]) -> tuple[list[WrittenCall], str]:
    """Return the calls of an answer, and the thinking of a JSON answer."""
    if pieces.actions:
        calls: list[WrittenCall] = []
        thought = ""
        for block in pieces.actions:
            found, thought = _calls_in_block(block)
            calls += found
        return (calls, thought) if calls else _no_action_found(text, offered)
    body = pieces.rest
    fenced = _last_fenced(body)
    if fenced:
        calls, thought = _calls_in_block(fenced)
        if calls:
            return calls, thought
    found = _json_in(body)
    if found is not None:
        return found
    calls = _lines(body)
    return (calls, "") if calls else _no_action_found(text, offered)


def _no_action_found(text: str, offered: Collection[str]) -> tuple[list[WrittenCall], str]:
    if not text.strip():
        raise ActionSyntaxError("the answer is empty; give one action between <action> and </action>")
    example = next(form.usage for form in (*_forms(offered), *FORMS.values()))
    raise ActionSyntaxError(
        f"the answer has no readable action; write it between the tags: <action>{example}</action>"
    )


def _calls_in_block(block: str) -> tuple[list[WrittenCall], str]:
    """Return the calls of a text that is meant to be an action and nothing else."""
    inner = block.strip()
    if len(inner) > MAX_ACTION_LENGTH:
        raise ActionSyntaxError(
            f"the action is {len(inner):,} characters long; an action may have {MAX_ACTION_LENGTH:,}"
        )
    if "```" in inner:
        inner = _last_fenced(inner) or inner
    inner = inner.strip("` \t\r\n")
    if inner.startswith(("{", "[")):
        answer = read_json(inner)
        if answer is None:
            raise ActionSyntaxError(
                "the action begins like JSON and can't be read as JSON: it may have been cut off"
            )
        return list(answer.calls), answer.thinking
    return read_calls(inner), ""


def _last_fenced(text: str) -> str:
    """Return the last code block; one that is never closed counts."""
    if "```" not in text:
        return ""
    parts = _FENCE.split(text[-_WINDOW:] if len(text) > _WINDOW else text)
    inside = [part.strip() for part in parts[1::2] if part.strip()]
    return inside[-1] if inside else ""


def _json_in(text: str) -> tuple[list[WrittenCall], str] | None:
    for start in list(_JSON_START.finditer(text[:_WINDOW]))[:_JSON_TRIES]:
        answer = read_json(text[start.start() :].strip()) if len(text) <= _WINDOW else None
        if answer is not None:
            return list(answer.calls), answer.thinking
    return None


def _lines(text: str) -> list[WrittenCall]:
    """Return calls on lines of their own, at the end of the answer or as its only ones."""
    lines = [line.strip() for line in text[-_WINDOW:].splitlines() if line.strip()]
    found: list[tuple[int, WrittenCall]] = []
    for at, line in enumerate(lines):
        call = _line(line)
        if call is not None:
            found.append((at, call))
    if not found:
        return []
    last = [call for back, (at, call) in enumerate(reversed(found)) if at == len(lines) - 1 - back]
    if last:
        return last[::-1]
    if len({call.text for _, call in found}) == 1:
        return [found[0][1]]
    raise ActionSyntaxError(
        "the answer names several actions; put the intended one between <action> and </action>"
    )


def _line(line: str) -> WrittenCall | None:
    lead = _LEAD.match(line)
    plain = line[lead.end() :] if lead is not None else line
    plain = plain.rstrip("`* .")
    name = NAME_PATTERN.match(plain)
    form = FORMS.get(normalised_name(name[0])) if name is not None else None
    if form is None or len(plain) > MAX_ACTION_LENGTH:
        return None
    try:
        calls = read_calls(plain)
    except ActionSyntaxError:
        return None
    bare = not calls or calls[0].text[-1:] not in (")", "]")
    return calls[0] if len(calls) == 1 and (not bare or not form.parameters) else None


def _action_of_call(call: WrittenCall, offered: Collection[str], page: PageCapture | None) -> Action:
    form = FORMS.get(call.name)
    if form is None:
        raise ActionSyntaxError(_unknown_action(call.name, offered))
    if form.shown not in offered:
        raise ActionSyntaxError(
            f"{call.name} is not available in this run; available are {', '.join(_names(offered))}"
        )
    try:
        action = build_action(form, call)
    except NotANumber as error:
        raise ActionSyntaxError(f"{error}{_similar_names(error.text, page)}") from error
    if page is not None:
        known = {element.index for element in page.elements}
        for number in elements_of(action):
            if number not in known:
                raise ActionSyntaxError(_missing_element(number, call, form, page))
    return action


def _unknown_action(name: str, offered: Collection[str]) -> str:
    from rapidfuzz import process

    names = {alias: form for form in _forms(offered) for alias in form.names}
    close = [
        names[found].usage for found, score, _ in process.extract(name, list(names), limit=9) if score >= 60
    ]
    first = list(dict.fromkeys(close))[:_CLOSE_NAMES]
    closest = f"closest: {', '.join(first)}; " if first else ""
    return f"there is no action {name[:40]!r}; {closest}available are {', '.join(_names(offered))}"


def _names(offered: Collection[str]) -> list[str]:
    return [form.shown for form in _forms(offered)]


def _forms(offered: Collection[str]) -> list[CallForm]:
    return [form for form in all_calls() if form.shown in offered]


def _missing_element(number: int, call: WrittenCall, form: CallForm, page: PageCapture) -> str:
    numbers = sorted(element.index for element in page.elements)
    if not numbers:
        return f"there is no element {number}: this page has no actionable elements"
    label = call.named.get("label")
    close = closest_elements(label, page.elements) if isinstance(label, str) else []
    if not close:
        close = sorted(page.elements, key=lambda element: abs(element.index - number))[:_SHOWN_ELEMENTS]
    listed = "; ".join(element_words(element) for element in sorted(close, key=lambda element: element.index))
    return (
        f"there is no element {number} on this page (they are numbered {numbers[0]} to {numbers[-1]}, again at every"
        f" look); {'with such a name' if isinstance(label, str) and label else 'near that number'}: {listed}"
    )


def _similar_names(text: str, page: PageCapture | None) -> str:
    close = closest_elements(text, page.elements) if page is not None else []
    return f"; elements with such a name: {'; '.join(map(element_words, close))}" if close else ""
