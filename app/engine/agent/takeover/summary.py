"""Summary of a takeover for the agent and for supervisors, and the tip it may become.

Text of a page is quoted, shortened to a name or a line, and never an instruction; a tip is made of control names alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from urllib.parse import urlsplit

from app.engine.agent.secret_masking import mask_secrets
from app.engine.agent.secrets import Secrets
from app.engine.agent.takeover.procedure_draft import POINTED
from app.engine.agent.takeover.recorded_steps import TrackedPage
from app.engine.core.actions.recorded import ActionTarget
from app.engine.core.page_state import PageCapture
from app.engine.core.redaction import MARK, redact_text, redact_url
from app.engine.core.supervision import TakeoverSummary
from app.engine.core.text import one_line
from app.engine.core.trajectory import Step
from app.engine.imports.notices import notices

MAX_CHANGES = 24
MAX_NEW_TEXTS = 5
"""Headings and messages that are named, each."""
MAX_NAME = 60
MAX_QUOTE = 160
MAX_TIP_STEPS = 8
"""Steps in a tip; a longer sequence is no advice any more."""
_STEPS_IN_WORDS = 12
"""Steps that are described in words."""


def summarize_takeover(
    run: str,
    steps: Sequence[Step],
    looks: tuple[TrackedPage | None, TrackedPage | None],
    happened: Iterable[str],
    secrets: Secrets,
    masked: int,
) -> TakeoverSummary:
    """Summarise a takeover; ``looks`` are of its beginning and its end, ``happened`` are lines in words."""
    first, last = (mask_secrets(look.page, secrets) if look is not None else None for look in looks)
    before = redact_url(first.url) if first is not None else ""
    after = redact_url(last.url) if last is not None else ""
    changes = [
        *_addresses(steps, before, after),
        *_filled(steps),
        *_tabs(looks),
        *_new_on_page(first, last),
        *(one_line(line, MAX_QUOTE * 2) for line in happened),
    ]
    return TakeoverSummary(
        run=run,
        first_step=steps[0].index if steps else 0,
        steps=len(steps),
        words=_words(steps),
        url_before=before,
        url_after=after,
        changes=tuple(list(dict.fromkeys(changes))[:MAX_CHANGES]),
        tip_text=tip_text(steps),
        masked=masked,
    )


def tip_text(steps: Sequence[Step]) -> str:
    """Return a tip that says how the person proceeded, by the controls' names; "" where that says nothing."""
    told: list[str] = []
    for step in steps:
        phrase = _phrase(step)
        if phrase and (not told or told[-1] != phrase):
            told.append(phrase)
    if not told or len(told) > MAX_TIP_STEPS:
        return ""
    where = urlsplit(steps[0].url).path or "/"
    ending = urlsplit(steps[-1].url).path or "/"
    there = f"On {where}" if where == ending else f"From {where}"
    return f"{there}: {', then '.join(told)}."


def _phrase(step: Step) -> str:
    """Describe a step without typed values; "" for what is no advice."""
    action, target = step.action, step.target
    if action is None:
        return ""
    thing = _target_text(target) if target is not None else ""
    match action.kind:
        case "click" | "dblclick" if thing:
            return f"{'double-' if action.kind == 'dblclick' else ''}click the {thing}"
        case "fill" if thing:
            return f"fill in the {thing}"
        case "select_option" if thing:
            chosen = action.args.get("options")
            names = [str(one) for one in chosen] if isinstance(chosen, list) else []
            return f"choose {', '.join(repr(one_line(name, MAX_NAME)) for name in names)} in the {thing}"
        case "press" | "keyboard_press":
            return f"press {action.args.get('key_comb', action.args.get('key', ''))}"
        case "go_back":
            return "go back"
        case _:
            return ""


def _target_text(target: ActionTarget) -> str:
    name = one_line(target.name, MAX_NAME)
    return f"{target.role} {name!r}" if name and MARK not in name else ""


def _words(steps: Sequence[Step]) -> str:
    if not steps:
        return "a person viewed the page and changed nothing"
    count = f"{len(steps)} action{'s' if len(steps) > 1 else ''}"
    groups = [(words, len(list(same))) for words, same in groupby(map(_step_words, steps))]
    said = "; ".join(
        words if times == 1 else f"{words} ({times} times)" for words, times in groups[:_STEPS_IN_WORDS]
    )
    return f"a person took {count}: {said}{'; and more' if len(groups) > _STEPS_IN_WORDS else ''}"


def _step_words(step: Step) -> str:
    """Describe a step; a click beside every control without coordinates, which say nothing to anybody."""
    kind = step.action.kind if step.action is not None else ""
    return POINTED[kind] if kind in POINTED and step.target is None else step.words


def _addresses(steps: Sequence[Step], before: str, after: str) -> list[str]:
    passed = [before, *(step.url for step in steps), after]
    way: list[str] = []
    for url in passed:
        if url and (not way or way[-1] != url):
            way.append(url)
    return [f"the address is {url} now" if url == way[-1] else f"visited {url}" for url in way[1:]]


def _filled(steps: Sequence[Step]) -> list[str]:
    lines: list[str] = []
    for step in steps:
        action, target = step.action, step.target
        if action is None or action.kind not in ("fill", "select_option"):
            continue
        value = action.args.get("value", action.args.get("options", ""))
        shown = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        name = one_line(target.name, MAX_NAME) if target is not None else "a field"
        said = "(kept secret)" if shown == MARK else repr(one_line(shown, MAX_QUOTE))
        lines.append(f"filled in '{name}': {said}")
    return lines


def _tabs(looks: tuple[TrackedPage | None, TrackedPage | None]) -> list[str]:
    first, last = looks
    if first is None or last is None or len(first.tabs) == len(last.tabs):
        return []
    return [f"{len(last.tabs)} tabs are open now, {len(first.tabs)} were before"]


def _new_on_page(first: PageCapture | None, last: PageCapture | None) -> list[str]:
    """Return headings and messages that are new on the page."""
    if last is None:
        return []
    headings = set(first.headings) if first is not None else set[str]()
    said = set(notices(first.tree)) if first is not None else set[str]()
    new = [heading for heading in dict.fromkeys(last.headings) if heading not in headings]
    messages = [text for text in notices(last.tree) if text not in said]
    return [
        *(
            f"there is a heading now: {one_line(redact_text(text), MAX_QUOTE)!r}"
            for text in new[:MAX_NEW_TEXTS]
        ),
        *(f"the page says: {one_line(redact_text(text), MAX_QUOTE)!r}" for text in messages[:MAX_NEW_TEXTS]),
    ]
