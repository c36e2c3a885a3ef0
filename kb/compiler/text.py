"""A tip's text cut into clauses, with quoted names and addresses kept whole.

Quotes, addresses and menu paths hold characters that end a clause elsewhere, so each is replaced by a mark of two
private characters before the text is cut, and put back where a step is made of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum

_OPEN, _CLOSE = "\ue000", "\ue001"
MARK = re.compile(f"{_OPEN}([qa])(\\d+){_CLOSE}")
"""A mark; group 1 is ``q`` for a quoted name, ``a`` for an address."""

_ADDRESS = (
    r"(?:https?://|\{[A-Z][A-Z0-9_]*\}/?|www\.)[^\s\"'“”‘’`,;()\[\]]*"
    r"|(?<![\w.<>/}])/(?=[\w<{\[#?:$])(?:[^\s\"“”‘’`,;()]|;(?=[\w<{]))*"
    r"|(?<=\s)/(?=\s+(?:for|is|as|page)\b)"
)
_QUOTED = (
    r"\"([^\"\n]{1,120})\"|“([^”\n]{1,120})”|„([^“”\n]{1,120})[“”]|«\s*([^»\n]{1,120}?)\s*»"
    r"|(?<!\w)'([^'\n]{1,80})'(?!\w)|(?<!\w)‘([^’\n]{1,80})’(?!\w)|`([^`\n]{1,120})`|\*\*([^*\n]{1,80})\*\*"
)
_PROTECTED = re.compile(f"(?P<address>{_ADDRESS})|{_QUOTED}")
_TRAILING = ".,;:!?"
_LATIN = re.compile(r"\b(e\.\s?g\.|i\.\s?e\.|etc\.|vs\.|approx\.|incl\.|no\.(?=\s*\d))", re.IGNORECASE)
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[\"(\[A-Z\ue000])|\n+|;\s+|(?<=\w):\s*\n+|(?<=[.!?])(?=\ue000)")
_NUMBERING = re.compile(r"(?:^|(?<=[\s;,.]))\(?(?:step\s+)?\d{1,2}[.)]\s+(?=[A-Za-z\ue000])", re.IGNORECASE)
_TITLE = re.compile(
    r"^(?!(?i:there|either|use|try|one|example|note|eg|ie|warning|never|do not|don)\b)"
    r"[A-Z][^:,.\ue000\ue001>→]{2,60}:\s+(?=[a-z])(?!(?:the|it|its|this|that|a)\b)"
)
_STATES = re.compile(r"\s(?:is|are|appears?|stands?|sits?|has|have)\s")
"""A statement, which is no title."""

_BOLD_SENTENCE = re.compile(
    r"\*\*([^*\n]*?\b(?:do|don['’]t|not|never|always|click|press|use|only|when)\b[^*\n]*)\*\*", re.IGNORECASE
)
_BRACKETS = re.compile(r"\s*\(([^()]*)\)")


class ClauseKind(StrEnum):
    """How far a clause may be acted on."""

    ACTION = "action"
    WARNING = "warning"
    REASON = "reason"
    EXAMPLE = "example"


@dataclass(slots=True)
class MarkedText:
    """A text with marks in place of its quotes and addresses."""

    text: str
    quotes: list[str] = field(default_factory=list[str])
    addresses: list[str] = field(default_factory=list[str])

    def restore(self, text: str) -> str:
        """Put the marked things back, without their quotation marks."""
        return MARK.sub(self.get, text)

    def get(self, mark: re.Match[str]) -> str:
        """The thing a mark stands for."""
        return (self.quotes if mark[1] == "q" else self.addresses)[int(mark[2])]

    def named(self, text: str) -> Iterator[str]:
        """Every quoted name and address marked in a text, in order."""
        return (self.get(found) for found in MARK.finditer(text))


def marked(text: str) -> MarkedText:
    """Replace quotes and addresses by marks."""
    found = MarkedText("")
    text = _BOLD_SENTENCE.sub(r"\1", text)
    text = _LATIN.sub(
        lambda latin: latin[0].replace(".", "").replace(" ", ""),
        text.replace("\ue000", "").replace("\ue001", ""),
    )
    text = re.sub(r"\bgoto\((['\"])(.*?)\1\)", r"open \2 ", text)

    def replace(match: re.Match[str]) -> str:
        if (address := match["address"]) is not None:
            kept = address.rstrip(_TRAILING)
            found.addresses.append(kept)
            return f"{_OPEN}a{len(found.addresses) - 1}{_CLOSE}{address[len(kept) :]}"
        name = next(group for group in match.groups()[1:] if group is not None).strip()
        at_end = not (rest := text[match.end() :].lstrip()) or rest[0].isupper()
        stop = name[-1:] in (",", ";") or (name[-1:] == "." and name[-2:] != ".." and at_end)
        name, ending = (name[:-1], name[-1]) if stop else (name, "")
        if _looks_like_address(name):
            found.addresses.append(name)
            return f"{_OPEN}a{len(found.addresses) - 1}{_CLOSE}{ending}"
        found.quotes.append(name)
        return f"{_OPEN}q{len(found.quotes) - 1}{_CLOSE}{ending}"

    found.text = _PROTECTED.sub(replace, text)
    return found


def _looks_like_address(name: str) -> bool:
    return re.fullmatch(r"(?:https?://|/|\{[A-Z_]+\})\S+", name) is not None


def sentences(text: str) -> list[str]:
    """Sentences of a marked text, without list numbers."""
    text = _NUMBERING.sub("\n", text)
    return [_untitled(one.strip(" \t-*•")) for one in _SENTENCE.split(text) if one.strip(" \t-*•.")]


def _untitled(sentence: str) -> str:
    """A sentence without the title before its colon ("Write a review: press ..."), which is no instruction."""
    title = _TITLE.match(sentence)
    return sentence[title.end() :] if title is not None and not _STATES.search(title[0]) else sentence


def without_brackets(text: str) -> tuple[str, list[str]]:
    """A sentence without its remarks in brackets, and the remarks."""
    remarks = [found[1] for found in _BRACKETS.finditer(text)]
    return _BRACKETS.sub("", text), remarks
