"""Which part of a site a task names, and which values rows must have.  Pure."""

from __future__ import annotations

import re

from app.engine.agent.scout.aim_words import SCOPE, SCOPE_BEFORE


def conditions_in(held: str, quotes: list[str]) -> tuple[tuple[str, str], tuple[tuple[str, str], ...]]:
    """A category is the part of the site to look in; every other kind with a value is a condition."""
    scope, conditions = ("", ""), list[tuple[str, str]]()
    for found in SCOPE.finditer(held):
        kind, value = found[1].casefold(), quotes[int(found[2])] if found[2] else found[3]
        if kind in ("category", "section", "department"):
            scope = (kind, value)
        else:
            conditions.append((kind, value))
    if found := SCOPE_BEFORE.search(held):
        scope = (found[3].casefold(), quotes[int(found[1])] if found[1] else found[2])
    low = held.casefold()
    if found := re.search(r"\b(?:search\b.*?\bfor|finds?\s+for)\s+\x02(\d+)\x02", held, re.IGNORECASE):
        scope = ("search", quotes[int(found[1])])
    for found in re.finditer(r"\b(?:all|the|of)\s+([A-Z][a-z]+)\s+([a-z]+s)\b", held):
        conditions.append(("", found[1]))  # "all Cancelled orders"
    if found := re.search(r"\b(?:that\s+)?(requires?|needs?|awaits?|await|require|need)\s+([a-z]+)\b", low):
        conditions.append(("", f"{found[1]} {found[2]}"))
    if found := re.search(
        r"\b(?:are|is)\s+(unavailable|available|out of stock|in stock|active|inactive|open|closed)\b", low
    ):
        conditions.append(("", found[1]))
    return scope, tuple(dict.fromkeys(conditions))
