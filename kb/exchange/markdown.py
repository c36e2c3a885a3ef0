"""Markdown notes about a site, one tip for each section with a heading: the form that several agents keep skills in.

The heading is prepended to the section's text. A heading within a code block is none, front matter is ignored.
What is written here has headings that say nothing (``# Tips for SITE``, ``## Tip 1``), and the tip's other parts as a
list at the section's end (``- **When:** …``); both are read back. Steps, anchor, taint and origin are not written.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from kb.errors import BadTip
from kb.exchange.parsed import ParsedTip, Parser, lines
from kb.tip import Kind, Scope, TipDraft

_HEADING = re.compile(r" {0,3}#{1,6}[ \t]+(.*?)[ \t]*#*\s*\Z")
_FENCE = re.compile(r" {0,3}(```+|~~~+)")
_SITE = re.compile(r"Tips for ([a-z0-9][a-z0-9._-]*)\Z")
_NUMBER = re.compile(r"Tip \d{1,6}\Z")
_PART = re.compile(r"- \*\*(When|Do|Before|Why|Where|Keywords|Kind):\*\* (.*)\Z", re.DOTALL)
_MARKED = re.compile(
    r"^(\\*)(?= {0,3}(?:#{1,6}[ \t]|```|~~~|- \*\*(?:When|Do|Before|Why|Where|Keywords|Kind):))"
)
_ESCAPED = re.compile(
    r"^\\(?=\\* {0,3}(?:#{1,6}[ \t]|```|~~~|- \*\*(?:When|Do|Before|Why|Where|Keywords|Kind):))"
)


def parse(text: str, site: str) -> Parser:
    """Parse a draft from each section with content."""
    for line, heading, body in _sections(text):
        if named := _SITE.match(heading):
            site = named[1]
        written = bool(_NUMBER.match(heading))
        said = "\n".join(body).strip()
        if not said:
            continue
        if not site:
            yield ParsedTip(line, error="it names no site; give one for the whole file")
        elif written:
            yield _written(line, site, body)
        else:
            yield ParsedTip(line, TipDraft(site=site, text=f"{heading}\n{said}" if heading else said))


def serialise(tips: Iterable[TipDraft]) -> str:
    """Serialise the tips, without repetitions, a heading for each site."""
    by_site: dict[str, dict[str, None]] = {}
    for tip in tips:
        by_site.setdefault(tip.site, {})[_section(tip)] = None
    return "\n".join(
        f"# Tips for {site}\n\n"
        + "\n".join(f"## Tip {number}\n\n{said}" for number, said in enumerate(by_site[site], start=1))
        for site in sorted(by_site)
    )


def _section(tip: TipDraft) -> str:
    parts = {
        "When": tip.when,
        "Do": tip.do,
        "Before": tip.before,
        "Why": tip.why,
        "Where": str(tip.scope),
        "Keywords": ", ".join(" ".join(word.split(",")) for word in tip.keywords),
        "Kind": tip.kind.value if tip.kind is not Kind.OPERATION else "",
    }
    text = "\n".join(_MARKED.sub(r"\1\\", line) for line in tip.text.split("\n"))
    listed = "".join(
        f"- **{name}:** {' '.join(value.split())}\n" for name, value in parts.items() if value.strip()
    )
    return f"{text}\n\n{listed}" if listed else f"{text}\n"


def _written(line: int, site: str, body: list[str]) -> ParsedTip:
    """Read a section that ``serialise`` wrote."""
    body = [*body]
    while body and not body[-1].strip():
        body.pop()
    found: dict[str, str] = {}
    while body and (part := _PART.match(body[-1])):
        found[part[1]] = part[2].strip()
        body.pop()
    text = "\n".join(_ESCAPED.sub("", one) for one in body).strip()
    try:
        draft = TipDraft(
            site=site,
            text=text,
            when=found.get("When", ""),
            do=found.get("Do", ""),
            before=found.get("Before", ""),
            why=found.get("Why", ""),
            scope=Scope.parse(found.get("Where", "")),
            keywords=tuple(word.strip() for word in found.get("Keywords", "").split(",") if word.strip()),
        )
        kind = found.get("Kind", "")
        return ParsedTip(line, replace(draft, kind=Kind(kind)) if kind else draft)
    except (ValueError, BadTip):
        return ParsedTip(
            line, error=f"unknown kind {found.get('Kind', '')[:40]!r}; use one of {', '.join(Kind)}"
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
