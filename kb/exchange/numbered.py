"""The papers' ``tips/<site>.txt``: a heading line, then numbered tips; further lines of a tip are indented.

The agent that reads such a file fills in placeholders like ``{WA_GITLAB}`` with Python's ``str.format``.  So those
stay as they are, and every other brace is doubled when written and halved when read. A file without any numbers
(``cross.txt``) holds one tip under each of its bold headings.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from kb.exchange.parsed import ParsedTip, Parser, lines
from kb.tip import TipDraft

HEADING = "Here are tips for using this website"
_INDENT = "    "
_SECTION = re.compile(re.escape(HEADING) + r" \(([a-z0-9][a-z0-9._-]*)\):\s*\Z")
_NUMBERED = re.compile(r"\d{1,6}[.)](?:[ \t]+|\Z)")
_BOLD_HEADING = re.compile(r"(?:\*\*.+\*\*:?|#{1,6}[ \t].+)\s*\Z")
_OUTGOING = re.compile(r"\{[A-Z][A-Z0-9_]*\}|[{}]")
_INCOMING = re.compile(r"\{\{|\}\}|\{[A-Z][A-Z0-9_]*\}")


def parse(text: str, site: str) -> Parser:
    """Parse a draft from each numbered item, or from each paragraph with a heading if nothing is numbered."""
    numbered = any(_NUMBERED.match(line) for _, line in lines(text))
    for line, named, body in _items(text) if numbered else _paragraphs(text):
        tip = _single_braces("\n".join(body)).strip()
        if not tip:
            yield ParsedTip(line, error="this number has no tip")
        elif not (named or site):
            yield ParsedTip(line, error="it names no site; give one for the whole file")
        else:
            yield ParsedTip(line, TipDraft(site=named or site, text=tip))


def serialise(tips: Iterable[TipDraft]) -> str:
    """Serialise the items, without repetitions; several sites each under a heading with the site's name."""
    by_site: dict[str, dict[str, None]] = {}
    for tip in tips:
        by_site.setdefault(tip.site, {})[tip.text] = None
    parts: list[str] = []
    for site in sorted(by_site):
        parts.append(f"{HEADING} ({site}):\n" if len(by_site) > 1 else f"{HEADING}:\n")
        parts.extend(_item(number, text) for number, text in enumerate(by_site[site], start=1))
    return "".join(parts) if parts else f"{HEADING}:\n"


def _item(number: int, text: str) -> str:
    first, *rest = _double_braces(text).split("\n")
    # An empty line stays empty; one of blanks keeps them after the indent.
    return f"{number}. {first}\n" + "".join(f"{_INDENT}{line}\n" if line else "\n" for line in rest)


def _items(text: str) -> Iterator[tuple[int, str, list[str]]]:
    """The first line's number, the section's site, and the lines of each numbered item."""
    site, start, body = "", 0, list[str]()
    for number, line in lines(text):
        section, item = _SECTION.match(line), _NUMBERED.match(line)
        if section or item:
            if start:
                yield start, site, body
            start, body = (number, [line[item.end() :]]) if item else (0, [])
            site = section[1] if section else site
        elif start:
            body.append(_unindented(line))
    if start:
        yield start, site, body


def _paragraphs(text: str) -> Iterator[tuple[int, str, list[str]]]:
    """The same for each paragraph with a heading; text before the first heading introduces them."""
    start, body = 0, list[str]()
    for number, line in lines(text):
        if _BOLD_HEADING.match(line):
            if start:
                yield start, "", body
            start, body = number, []
        if start:
            body.append(line)
    if start:
        yield start, "", body


def _unindented(line: str) -> str:
    if line.startswith("\t"):
        return line[1:]
    indent = min(len(_INDENT), len(line) - len(line.lstrip(" ")))
    return line[indent:]


def _double_braces(text: str) -> str:
    return _OUTGOING.sub(lambda found: found[0] * 2 if len(found[0]) == 1 else found[0], text)


def _single_braces(text: str) -> str:
    return _INCOMING.sub(lambda found: found[0][0] if found[0] in ("{{", "}}") else found[0], text)
