"""Values that a page itself shows plainly for the placeholders of a step.  Pure.

Of a list of choices the first option that is not chosen and is no prompt; of a control whose name is known but for the
placeholder ("Edit {product}") the name of the first such control; of an address ("/orders/{number}") the first link of
that form.  Nothing is ever invented, and a text field gets no sample.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from urllib.parse import urljoin, urlsplit

from app.engine.agent.procedures.controls import find_control
from app.engine.agent.procedures.names import plain
from app.engine.core.page_state import PageCapture
from kb.procedure import PLACEHOLDER, ProcedureStep, StepKind

LEAST_KNOWN = 3
"""Letters of a control's name that must be known."""

_PROMPT = re.compile(r"^(?:$|-|\W*(?:please |pls )?(?:select|choose|pick|all|any|none)\b)", re.IGNORECASE)


def open_names(step: ProcedureStep, values: Mapping[str, str]) -> tuple[str, ...]:
    """Return the placeholders of a step that have no value."""
    return tuple(name for name in step.placeholders if name not in values)


def sample_values(step: ProcedureStep, page: PageCapture, values: Mapping[str, str]) -> dict[str, str]:
    """Return values for a step's open placeholders as the page shows them; empty where none is plain."""
    step = step.filled(values)
    match step.kind:
        case StepKind.CHOOSE:
            return _option(step, page)
        case StepKind.PRESS | StepKind.HOVER if not PLACEHOLDER.search(step.near):
            return _from_names(step.target, [one.name for one in page.elements if one.visible])
        case StepKind.OPEN:
            return _from_links(step.target, page)
        case _:
            return {}


def _option(step: ProcedureStep, page: PageCapture) -> dict[str, str]:
    whole = PLACEHOLDER.fullmatch(step.value)
    if whole is None or PLACEHOLDER.search(f"{step.target} {step.near}"):
        return {}
    element = find_control(replace(step, value=""), page).element
    if element is None:
        return {}
    for option in element.options:
        if not _PROMPT.match(option.strip()) and plain(option) != plain(element.value):
            return {whole[1]: option}
    return {}


def _from_names(target: str, names: list[str]) -> dict[str, str]:
    known = sum(char.isalpha() for char in PLACEHOLDER.sub("", target))
    if known < LEAST_KNOWN or len(PLACEHOLDER.findall(target)) != 1:
        return {}
    return _first(target, names, r"\S.{0,119}")


def _from_links(target: str, page: PageCapture) -> dict[str, str]:
    wanted = urljoin(page.url, target)
    links = [one.href for one in page.elements if one.href and one.visible]
    same = [link for link in links if urlsplit(link).netloc == urlsplit(wanted).netloc]
    return _first(wanted, same, r"[^/?#&]{1,120}")


def _first(target: str, texts: list[str], value: str) -> dict[str, str]:
    parts = PLACEHOLDER.split(target)
    names = parts[1::2]
    if not names or len(set(names)) != len(names):
        return {}
    pattern = "".join(re.escape(part) if at % 2 == 0 else f"({value})" for at, part in enumerate(parts))
    for text in texts:
        if found := re.fullmatch(pattern, " ".join(text.split()), re.IGNORECASE):
            return dict(zip(names, found.groups(), strict=True))
    return {}
