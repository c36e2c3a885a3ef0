"""The filter line of the map."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.models.graph.map_graph import is_untipped

if TYPE_CHECKING:
    from app.engine.api.graph_api import NodeRow

SWITCHES = ("failures", "tips", "suspect", "untipped", "gone", "waiting", "runs", "barred", "menus")
"""Words that ask for a property; all others are searched in title and address."""

_RANGE = re.compile(r"(\d+)?(-)?(\d+)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class MapFilter:
    """Conditions that must all hold; ``depths`` are inclusive ranges, one of which must match, likewise
    ``templates``.
    """

    depths: tuple[tuple[int, int], ...] = ()
    templates: tuple[str, ...] = ()
    switches: tuple[str, ...] = ()
    words: tuple[str, ...] = ()


def parse_map_filter(text: str) -> MapFilter:
    """Read ``depth:2 depth:1-3 template:/products failures tips words "two words"``; any text is valid.

    ``untipped`` are states with failures and no tip; ``menus`` those without an address of their own.
    """
    try:
        parts = shlex.split(text.lower())
    except ValueError:  # a quote that is still open while typing
        parts = text.lower().replace('"', " ").replace("'", " ").split()
    depths: list[tuple[int, int]] = []
    templates: list[str] = []
    switches: list[str] = []
    words: list[str] = []
    for part in parts:
        name, colon, value = part.partition(":")
        if name == "depth" and colon:
            depths += [span for one in value.split(",") if (span := _range(one)) is not None]
        elif name == "template" and colon:
            templates += [one for one in value.split(",") if one]
        elif part in SWITCHES:
            switches.append(part)
        else:
            words.append(part)
    return MapFilter(
        depths=tuple(depths), templates=tuple(templates), switches=tuple(switches), words=tuple(words)
    )


def matches(row: NodeRow, which: MapFilter) -> bool:
    if which.depths and not any(low <= row.depth <= high for low, high in which.depths):
        return False
    if which.templates and not any(one in row.template.lower() for one in which.templates):
        return False
    if not all(_has(row, name) for name in which.switches):
        return False
    if not which.words:
        return True
    hay = f"{row.title} {row.url} {row.template}".lower()
    return all(word in hay for word in which.words)


def toggled(text: str, switch: str) -> str:
    """Return the line with a switch added or removed."""
    parts = text.split()
    if switch in parts:
        return " ".join(part for part in parts if part != switch)
    return " ".join((*parts, switch))


def _has(row: NodeRow, switch: str) -> bool:
    match switch:
        case "failures":
            return row.failures > 0
        case "tips":
            return row.tips > 0
        case "suspect":
            return row.suspect_tips > 0
        case "untipped":
            return is_untipped(row)
        case "gone":
            return row.gone
        case "waiting":
            return row.waiting > 0
        case "runs":
            return row.runs > 0
        case "barred":
            return bool(row.challenge)
        case _:
            return row.direct is False


def _range(text: str) -> tuple[int, int] | None:
    found = _RANGE.fullmatch(text)
    if found is None or not (found[1] or found[3]):
        return None
    low = int(found[1] or 0)
    if not found[2]:
        return (low, low)
    return (low, int(found[3]) if found[3] else 1_000_000)
