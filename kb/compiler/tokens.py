"""A tip's text cut into tokens and sentences.

Quoted names, addresses, placeholders and numbers are one token each, whatever characters they hold; a remark in
brackets is one token with its own tokens inside.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum

from kb.compiler.lexicon import words


class Sort(StrEnum):
    """The sort of a token."""

    WORD = "word"
    NAME = "name"
    """A quoted text."""
    ADDRESS = "address"
    SLOT = "slot"
    """A placeholder."""
    ARROW = "arrow"
    MARK = "mark"
    """A punctuation mark."""
    LETTER = "letter"
    """The letter of a way: ``(a)``."""
    REMARK = "remark"


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of a text; ``text`` is without its quotation marks, ``low`` is its text in small letters."""

    sort: Sort
    text: str
    low: str = ""
    first: bool = False
    inner: tuple[Token, ...] = ()

    @property
    def is_word(self) -> bool:
        return self.sort is Sort.WORD

    @property
    def is_capital(self) -> bool:
        """A word that begins with a capital letter or a digit."""
        return self.sort is Sort.WORD and (self.text[0].isupper() or self.text[0].isdigit())

    @property
    def is_named(self) -> bool:
        """A name by itself: quoted, an address, or a capital that does not begin a sentence."""
        return self.sort in (Sort.NAME, Sort.ADDRESS) or (self.is_capital and not self.first)


Tokens = list[Token]


@dataclass(slots=True)
class Sentence:
    """Tokens up to a full stop or a semicolon; ``end`` is that mark."""

    tokens: Tokens = field(default_factory=list[Token])
    end: str = "."


_ADDRESS = (
    r"(?:https?://|\{[A-Z][A-Z0-9_]*\}/|www\.)(?:<[^<>\n]{1,40}>|[^\s\"“”‘’`,;()\[\]])*"
    r"|(?<![\w.<>/}])/(?=[\w<{\[#?:$])(?:<[^<>\n]{1,40}>|[^\s\"“”‘’`,;()]|;(?=[\w<{$])|,(?=[<{$\d-]))*"
    r"|(?<![\w/])\?(?=\w+=)[^\s\"“”‘’`,;()]*"
    r"|(?<=\s)/(?=\s+(?:for|is|as|page)\b)"
)
_QUOTED = (
    r"\"([^\"\n]{1,120})\"|“([^”\n]{1,120})”|„([^“”\n]{1,120})[“”]|«\s*([^»\n]{1,120}?)\s*»|»([^«»\n]{1,120})«"
    r"|(?<!\w)'([^'\n]{1,80}|[^'\n]{1,40}'[a-z][^'\n]{1,40})'(?!\w)|(?<!\w)‘([^’\n]{1,80})’(?!\w)|`([^`\n]{1,120})`|\*\*([^*\n]{1,80})\*\*"
    r"|(?<![\w*])\*([^*\s][^*\n]{0,80})\*(?![\w*])"
)
_TOKEN = re.compile(
    rf"(?P<address>{_ADDRESS})|(?P<quoted>{_QUOTED})"
    r"|(?P<slot><[\w][^<>\n]{0,60}>|\{[\w][^{}\n]{0,60}\}|\[[A-Za-z][^\[\]\n]{0,60}\]|\$[A-Za-z]\w*|(?<![\w:]):[a-z]\w*)"
    r"|(?P<arrow>--?>|=>|[>→»›⇒]|(?<=\s)/(?=\s))"
    r"|(?P<letter>\([a-d]\)|(?<![\w(])[a-d]\)(?=\s))"
    r"|(?P<word>\w+(?:[&@#%+*_]+\w*|['’.:/-]\w+|['’](?=\s)(?<=s.))*(?:\.\.\.|…)?)"
    r"|(?P<mark>\.\.\.|\n|\s[–—-]+\s|\S)"
)
_TRAILING = ".,;:!?"
_LATIN = re.compile(r"\b(e\.\s?g\.|i\.\s?e\.|etc\.|vs\.|approx\.|incl\.|no\.(?=\s*\d))", re.IGNORECASE)
_NUMBERING = re.compile(
    r"(?:^|(?<=[\s;,.:])(?<!eg ))\(?(?:step\s+)?\d{1,2}[.)]\s+(?=[A-Za-z\"“'])", re.IGNORECASE
)
_BULLET = re.compile(r"^[ \t]{0,8}[*•·–—-][ \t]+", re.MULTILINE)
_FIRST = re.compile(r"(?:^|[\s;,.:])\(?(?:step\s+)?1[.)]\s+(?=[A-Za-z\"“'])", re.IGNORECASE)
_BOLD_SENTENCE = re.compile(
    r"\*\*(?=\S)([^*\n]{0,200}?\b(?:do|don['’]t|not|never|always|click|press|use|only|when)\b[^*\n]{0,200})\*\*",
    re.IGNORECASE,
)
_GOTO = re.compile(r"\bgoto\((['\"])([^'\"\n]{0,200})\1\)")
_ENDS = frozenset(".!?;\n")


def sentences(text: str) -> list[Sentence]:
    """Sentences of a text, without list numbers."""
    text = _BOLD_SENTENCE.sub(r"\1", text)
    text = _BULLET.sub("", text)
    text = _LATIN.sub(lambda latin: latin[0].replace(".", "").replace(" ", ""), text)
    text = _GOTO.sub(r"open \2 ", text)
    text = _NUMBERING.sub("\n", text) if _FIRST.search(text) else text
    found: list[Sentence] = []
    now = Sentence()
    for token, ends in _tokens(text):
        if ends:
            now.end = token.text
            if now.tokens:
                found.append(now)
            now = Sentence()
        else:
            now.tokens.append(replace(token, first=True) if not now.tokens else token)
    if now.tokens:
        found.append(now)
    for one in found:
        one.tokens = _remarks(_joined(one))
    return [one for one in found if one.tokens]


_FUNCTION = words("the and for via under from into with that are you use")
_AFTER_COLON = frozenset(["and", "or", "with", "to", "in", "into", "as", ","])


def _joined(sentence: Sentence) -> Tokens:
    """The tokens, with the colon or exclamation mark that belongs to a name put to it (``From:``, ``Go!``)."""
    tokens = _with_menu_name(_avoided(sentence.tokens))
    made: Tokens = []
    for place in range(len(tokens) - 2):
        if [one.low for one in tokens[place : place + 3]] == ["as", "well", "as"]:
            tokens[place : place + 3] = [Token(Sort.WORD, "and", "and")]
    for place, token in enumerate(tokens):
        following = tokens[place + 1].low if place + 1 < len(tokens) else ""
        named = bool(made) and made[-1].is_capital and not made[-1].first
        if token.text == ":" and named and following in _AFTER_COLON:
            made[-1] = replace(made[-1], text=f"{made[-1].text}:")
        else:
            made.append(token)
    if sentence.end == "!" and len(made) > 1 and made[-1].is_capital:
        made[-1] = replace(made[-1], text=f"{made[-1].text}!")
    return made


_MODAL = words("must should shall has have is are ought had best better to be always needs")


def _avoided(tokens: Tokens) -> Tokens:
    """The tokens, with "X ... must be avoided" as "avoid X"."""
    end = next((place for place, one in enumerate(tokens) if one.low == "avoided"), 0)
    if not end or tokens[end - 1].low not in _MODAL:
        return tokens
    names = [
        place
        for place, one in enumerate(tokens[:end])
        if one.sort in (Sort.NAME, Sort.ADDRESS) or (one.is_capital and one.low not in _ACTS | _FUNCTION)
    ]
    if not names:
        return tokens
    begins = names[0] <= 2 and tokens[0].low not in _ACTS
    subject = names[0] if begins else names[-1]
    length = 1
    while subject + length in names and tokens[subject].is_word:
        length += 1
    avoid = [Token(Sort.WORD, "avoid", "avoid", first=not subject), *tokens[subject : subject + length]]
    before = [] if begins else tokens[:subject]
    return [*before, *([Token(Sort.MARK, ",", ",")] if before else []), *avoid, *tokens[end + 1 :]]


_ACTS = words(
    "open press click tap hit select choose pick follow use hover visit expand go navigate head find take see try then "
    "now first next finally look check"
)
"""Words before a path that are no part of its first name."""


def _with_menu_name(tokens: Tokens) -> Tokens:
    """The tokens, with the name of several words that begins a path as one ("Browse store > Offers")."""
    arrow = next((place for place, one in enumerate(tokens[:5]) if one.sort is Sort.ARROW), 0)
    head = tokens[:arrow]
    if (
        len(head) < 2
        or not all(one.is_word and one.text[0].isalpha() for one in head)
        or not head[0].is_capital
        or any(one.is_capital for one in head[1:])
        or any(one.low in _ACTS or len(one.low) < 3 or one.low in _FUNCTION for one in head)
    ):
        return tokens
    name = " ".join(one.text for one in head)
    return [Token(Sort.NAME, name, name.lower(), first=True), *tokens[arrow:]]


def _tokens(text: str) -> Iterator[tuple[Token, bool]]:
    """Tokens, and whether each ends a sentence."""
    for found in _TOKEN.finditer(text):
        sort = found.lastgroup or ""
        whole = found[0]
        if found["quoted"] is not None:
            yield from _quoted(found, text)
        elif sort == "address":
            kept = whole.rstrip(_TRAILING)
            yield Token(Sort.ADDRESS, kept), False
            yield from (
                (Token(Sort.MARK, one), _ends(one, text, found.end())) for one in whole[len(kept) :][:1]
            )
        elif sort == "mark" and ord(whole[0]) > 0x2190 and whole not in "…–—。、，":
            yield Token(Sort.NAME, whole), False
        elif sort == "mark":
            bare = whole.strip(" \t\r") or "\n"
            yield Token(Sort.MARK, "-" if bare[0] in "–—-" else bare, bare), _ends(bare, text, found.end())
        else:
            yield Token(Sort(sort), whole, whole.lower().replace("’", "'")), False


def _quoted(found: re.Match[str], text: str) -> Iterator[tuple[Token, bool]]:
    name = next((one for one in found.groups()[2:] if one is not None), "").strip()
    at_end = not (rest := text[found.end() : found.end() + 3].lstrip()) or rest[0].isupper()
    stop = name[-1:] in (",", ";") or (name[-1:] == "." and name[-2:] != ".." and at_end)
    name, ending = (name[:-1], name[-1]) if stop else (name, "")
    if name:
        is_address = re.fullmatch(r"(?:https?://|/|\{[A-Z_]+\})\S+", name) is not None
        yield Token(Sort.ADDRESS if is_address else Sort.NAME, name), False
    if ending:
        yield Token(Sort.MARK, ending, ending), ending in ".;"
    elif name[-1:] in "!?." and at_end and rest[:1].isupper():
        yield Token(Sort.MARK, ".", "."), True


def _ends(mark: str, text: str, at: int) -> bool:
    """Whether a mark ends a sentence there: a full stop does if a space and no small letter follow."""
    if mark in ("\n", ";"):
        return True
    if mark not in _ENDS:
        return False
    following = text[at : at + 3]
    return (
        not following.strip()
        or (following[0].isspace() and not following.lstrip()[0].islower())
        or (mark == "." and following[0] in "\"“'")
    )


def _remarks(tokens: Tokens) -> Tokens:
    """The tokens with each remark in brackets as one token; brackets without a partner are left out."""
    made: Tokens = []
    opened = -1
    for token in tokens:
        if token.sort is Sort.MARK and token.text == "(":
            made = [one for one in made if one.text != "(" or one.sort is not Sort.MARK]
            opened = len(made)
            made.append(token)
        elif token.sort is Sort.MARK and token.text == ")":
            if opened >= 0:
                inner = made[opened + 1 :]
                inner = [replace(one, first=True) if place == 0 else one for place, one in enumerate(inner)]
                made[opened:] = [Token(Sort.REMARK, "", inner=tuple(inner))]
            opened = -1
        else:
            made.append(token)
    return [one for one in made if one.text != "(" or one.sort is not Sort.MARK]


def written(tokens: Tokens) -> str:
    """The tokens as a text again, without quotation marks."""
    text = ""
    for token in tokens:
        if token.sort is not Sort.REMARK:
            glued = not text or (token.sort is Sort.MARK and token.text in ",;:.!?)…...")
            text += token.text if glued else f" {token.text}"
    return text
