"""Markdown notes about a site, one tip for each section with a heading; read only.

The heading is prepended to the section's text.  A heading within a code block is none, front matter is ignored.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from kb.exchange.parsed import ParsedTip, Parser, lines
from kb.tip import TipDraft

_HEADING = re.compile(r" {0,3}#{1,6}[ \t]+(.*?)[ \t]*#*\s*\Z")
_FENCE = re.compile(r" {0,3}(```+|~~~+)")


def parse(text: str, site: str) -> Parser:
    """Parse a draft from each section with content."""
    for line, heading, body in _sections(text):
        said = "\n".join(body).strip()
        if said:
            tip = f"{heading}\n{said}" if heading else said
            yield (
                ParsedTip(line, TipDraft(site=site, text=tip))
                if site
                else ParsedTip(line, error="it names no site; give one for the whole file")
            )


def _sections(text: str) -> Iterator[tuple[int, str, list[str]]]:
    line, heading, body = 1, "", list[str]()
    fence = ""
    for number, content in _without_front_matter(text):
        mark = _FENCE.match(content)
        if mark and (not fence or mark[1].startswith(fence)):
            fence = "" if fence else mark[1]
        title = None if fence or mark else _HEADING.match(content)
        if title:
            yield line, heading, body
            line, heading, body = number, title[1], []
        else:
            body.append(content)
    yield line, heading, body


def _without_front_matter(text: str) -> Iterator[tuple[int, str]]:
    every = list(lines(text))
    if every and every[0][1] == "---":
        for at, (_, line) in enumerate(every[1:], start=1):
            if line in ("---", "..."):
                return iter(every[at + 1 :])
    return iter(every)
