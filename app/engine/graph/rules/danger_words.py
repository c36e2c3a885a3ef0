"""Danger verbs in many languages, and how to find one in a name, an address or an icon.

The words are in ``resources/rules/danger_words.json``.  Every page is checked against all languages, since templates
often declare the wrong one; words that mean something else in another language count only on pages of their own
language, and on pages that declare no language only if they are the whole name.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from typing import Literal, cast
from urllib.parse import SplitResult, parse_qsl, unquote

from app.assets import resource

DangerKind = Literal["destroys", "leaves", "pays", "sends"]
DANGER_KINDS: tuple[DangerKind, ...] = ("destroys", "leaves", "pays", "sends")
UNSPACED = frozenset({"zh", "ja", "th", "ko"})
"""Languages whose verbs may be part of longer words."""
GAP = 2
"""Other words allowed between two words of a phrase: ``cancel my last order``."""
_SAME = {"nb": "no", "nn": "no", "iw": "he", "in": "id"}
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_PLAIN = re.compile(r"[a-z0-9]+")
_LONG_ENOUGH = 5
"""Minimum length of a word to be recognised without its accents."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VerbMatch:
    """A verb that was found: its kind, the verb as listed, the index of its first word, the number of its words."""

    kind: DangerKind
    verb: str
    at: int = 0
    words: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Phrase:
    words: tuple[str, ...]
    kind: DangerKind
    verb: str
    language: str
    own: bool


@dataclass(slots=True)
class _Lexicon:
    by_first: dict[str, list[_Phrase]] = field(default_factory=dict[str, list[_Phrase]])
    parts: list[_Phrase] = field(default_factory=list[_Phrase])
    harmless: set[str] = field(default_factory=set[str])
    harmless_parts: list[str] = field(default_factory=list[str])


@lru_cache(maxsize=256)
def language_of(tag: str) -> str:
    """The language of a ``lang`` attribute (``de-AT`` is ``de``); "" if there are no words for it."""
    code = tag.replace("_", "-").partition("-")[0].strip().lower()
    code = _SAME.get(code, code)
    return code if code in _table("languages") else ""


@lru_cache(maxsize=8192)
def words_of(text: str) -> tuple[str, ...]:
    """The words of a name in lower case; signs and punctuation separate them."""
    if text.isascii():
        return tuple(_PLAIN.findall(text.lower()))
    plain = unicodedata.normalize("NFKC", text).casefold()
    return tuple(
        "".join(c if c.isalnum() or unicodedata.category(c)[0] == "M" else " " for c in plain).split()
    )


@lru_cache(maxsize=8192)
def verb_in_name(text: str, language: str = "") -> VerbMatch | None:
    """The worst verb in a name on a page of this language ("" if unknown)."""
    words = words_of(text)
    found = [
        VerbMatch(kind=phrase.kind, verb=phrase.verb, at=at, words=len(words))
        for phrase, at in _phrases_in(words)
        if not phrase.own or phrase.language == language or (not language and len(words) == len(phrase.words))
    ]
    return min(
        found, key=lambda said: (DANGER_KINDS.index(said.kind), -len(said.verb), said.at), default=None
    )


@lru_cache(maxsize=8192)
def changes_view_only(text: str, verb: str) -> bool:
    """Whether the verb's object is the view: ``Remove filter``, ``Clear selection``."""
    table = _table("views")
    words = cast("list[str]", table["words"])
    return verb not in cast("list[str]", table["but"]) and any(word in words for word in words_of(text))


@lru_cache(maxsize=8192)
def is_informational(text: str) -> bool:
    """Whether the name is about an action (help, history, terms) instead of performing it."""
    lexicon, words = _lexicon(), words_of(text)
    joined = "".join(words)
    return any(word in lexicon.harmless for word in words) or any(
        part in joined for part in lexicon.harmless_parts
    )


@lru_cache(maxsize=8192)
def verb_in_address(parts: SplitResult) -> VerbMatch | None:
    """An action that merely opening this address would perform: ``/account/logout``, ``?action=delete``,
    ``?add-to-cart=3``.

    In a path the verb comes last, or before its object (``/delete/12``); words that may also be nouns (``/trash``,
    ``/reviews/vote``) and verbs that only send need an object; some count only at the end, right after an id
    (``/issues/5/watch``, but not ``/watch`` or ``/archive/2023``).
    """
    table = _table("addresses")
    segments = [segment for segment in unquote(parts.path).split("/") if segment]
    ids = [segment for segment in segments if any(char.isdigit() for char in segment)]
    if len(segments) > 1 and segments[-2] in ids and segments[-1] in cast("list[str]", table["after_id"]):
        return VerbMatch(kind="sends", verb=segments[-1])
    while segments and segments[-1] in ids:
        segments.pop()
    if segments:
        verb = re.sub(r"\.\w{2,5}$", "", segments[-1])
        around = segments if ids else segments[-2:]
        said = _verb_in_identifier(identifier_words(verb), table) or _pair(
            identifier_words(" ".join(around)), table
        )
        needs = said is not None and (said.kind == "sends" or may_be_noun(said))
        if said is not None and (ids or parts.query or not needs):
            return said
    keys = cast("list[str]", table["keys"])
    for key, value in parse_qsl(parts.query, keep_blank_values=True) if parts.query else ():
        for text in [key, value] if key.lower() in keys else [key]:
            if (found := _verb_in_identifier(identifier_words(text), table)) is not None:
                return found
    return None


def may_be_noun(said: VerbMatch) -> bool:
    """Whether the verb may be a noun: a site's ``/trash`` is a list, only ``/trash/12`` an action."""
    return said.verb in cast("list[str]", _table("addresses")["things"])


@lru_cache(maxsize=8192)
def verb_in_attributes(tokens: tuple[str, ...]) -> VerbMatch | None:
    """A verb found in ids, classes and the like, for controls whose name contains none."""
    table = _table("marks")
    words = [word for token in tokens for word in identifier_words(token)]
    if any(word in cast("list[str]", table["closes"]) for word in words):
        return None
    for kind in DANGER_KINDS:
        for word in words:
            if word in cast("list[str]", table[kind]):
                return VerbMatch(kind=kind, verb=word)
    pairs = (_pair(identifier_words(token), table) for token in tokens)
    return next((pair for pair in pairs if pair is not None), None)


def verb_in_icon(text: str) -> VerbMatch | None:
    """A verb expressed by a pictogram in the name (a waste basket)."""
    if text.isascii():
        return None
    table = _table("signs")
    for kind in DANGER_KINDS:
        for sign in cast("list[str]", table[kind]):
            if sign in text:
                return VerbMatch(kind=kind, verb=sign)
    return None


def identifier_words(text: str) -> tuple[str, ...]:
    """The words of an identifier: ``btn-removeItem_2`` is ``btn remove item 2``."""
    return tuple(_PLAIN.findall(_CAMEL.sub(" ", text).lower()))


def _verb_in_identifier(words: tuple[str, ...], table: Mapping[str, object]) -> VerbMatch | None:
    """Check short identifiers only: in a long one the verb is part of a title (``how-to-delete-a-branch``)."""
    fillers = cast("list[str]", table.get("fillers", []))
    telling = [word for word in words if not word.isdecimal() and word not in fillers]
    if not 0 < len(telling) <= GAP:
        return None
    for kind in DANGER_KINDS:
        for word in telling:
            if word in cast("list[str]", table[kind]):
                return VerbMatch(kind=kind, verb=word)
    return _pair(telling, table)


def _pair(words: Sequence[str], table: Mapping[str, object]) -> VerbMatch | None:
    pairs = cast("list[list[str]]", table["pairs"])
    for first, second in pairwise(words):
        if [first, second] in pairs:
            kind: DangerKind = "sends"
            if second in ("out", "off"):
                kind = "leaves"
            elif {first, second} & {"place", "buy"}:
                kind = "pays"
            return VerbMatch(kind=kind, verb=f"{first} {second}")
    return None


def _phrases_in(words: tuple[str, ...]) -> Iterator[tuple[_Phrase, int]]:
    lexicon = _lexicon()
    for at, word in enumerate(words):
        for phrase in lexicon.by_first.get(word, ()):
            if _follows(phrase.words[1:], words[at + 1 :]):
                yield phrase, at
    joined = "".join(words)
    if not joined.isascii():
        for phrase in lexicon.parts:
            if (not phrase.own and phrase.words[0] in joined) or phrase.words[0] == joined:
                yield phrase, 0


def _follows(rest: tuple[str, ...], words: tuple[str, ...]) -> bool:
    """Whether the rest of a phrase comes next, with at most ``GAP`` other words before each of its words."""
    for wanted in rest:
        near = words[: GAP + 1]
        if wanted not in near:
            return False
        words = words[near.index(wanted) + 1 :]
    return True


@lru_cache(maxsize=1)
def _document() -> Mapping[str, Mapping[str, object]]:
    text = resource("rules", "danger_words.json").read_text(encoding="utf-8")
    return cast("Mapping[str, Mapping[str, object]]", json.loads(text))


def _table(name: str) -> Mapping[str, object]:
    return _document()[name]


@lru_cache(maxsize=1)
def _lexicon() -> _Lexicon:
    lexicon = _Lexicon()
    for language, lists in cast("Mapping[str, Mapping[str, list[str]]]", _table("languages")).items():
        own = {words_of(verb) for verb in lists.get("own", ())}
        for kind in DANGER_KINDS:
            for verb in lists.get(kind, ()):
                words = words_of(verb)
                phrase = _Phrase(words=words, kind=kind, verb=verb, language=language, own=words in own)
                _enter(lexicon, phrase)
        if language in UNSPACED:
            lexicon.harmless_parts.extend("".join(words_of(word)) for word in lists.get("harmless", ()))
        else:
            lexicon.harmless.update(word for text in lists.get("harmless", ()) for word in words_of(text))
    return lexicon


def _enter(lexicon: _Lexicon, phrase: _Phrase) -> None:
    if phrase.language in UNSPACED:
        joined = ("".join(phrase.words),)
        lexicon.parts.append(
            _Phrase(
                words=joined, kind=phrase.kind, verb=phrase.verb, language=phrase.language, own=phrase.own
            )
        )
        return
    lexicon.by_first.setdefault(phrase.words[0], []).append(phrase)
    bare = tuple(_without_accents(word) for word in phrase.words)
    if bare != phrase.words and sum(map(len, bare)) >= _LONG_ENOUGH:
        lexicon.by_first.setdefault(bare[0], []).append(
            _Phrase(words=bare, kind=phrase.kind, verb=phrase.verb, language=phrase.language, own=phrase.own)
        )


def _without_accents(word: str) -> str:
    parts = unicodedata.normalize("NFKD", word)
    return unicodedata.normalize("NFKC", "".join(c for c in parts if not "\u0300" <= c <= "\u036f"))
