"""Vocabulary for reading tasks: verbs of change by sense, stop words, numbers.  Pure.

The lists are in ``resources/rules/task_changes.json``; verbs of other languages come from
``danger_words.json``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any, cast

from app.assets import resource
from app.engine.graph.rules.danger_words import verb_in_name
from kb.retrieval.terms import stems_of


def senses_of(words: Iterable[str]) -> frozenset[str]:
    """Return the groups of verbs that any of these words, or a pair of them, belongs to."""
    table = _senses()
    listed = [word.casefold() for word in words]
    texts = [*listed, *(f"{first} {second}" for first, second in pairwise(listed))]
    return frozenset(sense for text in texts for sense in _senses_of_verb(text, table))


@lru_cache(maxsize=64)
def word_set(name: str) -> frozenset[str]:
    """Return a list of words of the rule file (``commits``, ``searches`` …)."""
    return frozenset(cast("list[str]", _document()[name]))


@lru_cache(maxsize=8192)
def stem_of(word: str) -> str:
    """Return the stem of one word."""
    return next(iter(stems_of(word)), word.casefold())


@lru_cache(maxsize=1)
def _document() -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", json.loads(resource("rules", "task_changes.json").read_text("utf-8")))


@lru_cache(maxsize=1)
def _senses() -> Mapping[str, frozenset[str]]:
    """Return senses by verb, each verb also by its stem."""
    made: dict[str, set[str]] = {}
    for sense, verbs in cast("Mapping[str, list[str]]", _document()["senses"]).items():
        for verb in verbs:
            made.setdefault(verb, set()).add(sense)
            made.setdefault(" ".join(map(stem_of, verb.split())), set()).add(sense)
    return {verb: frozenset(senses) for verb, senses in made.items()}


def _senses_of_verb(text: str, table: Mapping[str, frozenset[str]]) -> frozenset[str]:
    return table.get(text) or table.get(" ".join(map(stem_of, text.split())), frozenset())


@lru_cache(maxsize=1)
def two_word_verbs() -> frozenset[str]:
    senses = cast("Mapping[str, list[str]]", _document()["senses"])
    return frozenset(verb for verbs in senses.values() for verb in verbs if " " in verb)


def is_known_verb(word: str) -> bool:
    """Whether a word is a verb of change in its plain form (``cancel``, not ``canceled``)."""
    return word in _plain_verbs() or (verb_in_name(word) is not None and not word.endswith(("ed", "s")))


@lru_cache(maxsize=1)
def _plain_verbs() -> frozenset[str]:
    senses = cast("Mapping[str, list[str]]", _document()["senses"])
    nouns = word_set("nouns")
    return frozenset(verb for verbs in senses.values() for verb in verbs if verb not in nouns)


_OF_KIND = {"destroys": "delete", "pays": "buy", "leaves": "logout", "sends": "send"}


def senses_of_kind(verb: str) -> frozenset[str]:
    """Return the sense of a verb that only the lists of dangerous words have, in any language."""
    if senses_of((verb,)):
        return frozenset()
    said = verb_in_name(verb)
    return frozenset({_OF_KIND[said.kind]}) if said is not None else frozenset()


def non_object_words() -> frozenset[str]:
    lists = ("stop", "where", "toward", "whose", "dates", "positions", "prepositions")
    return frozenset({"size", "page", "step"}).union(*map(word_set, lists))


def number_words() -> Mapping[str, int]:
    """Return numbers by their words."""
    return cast("Mapping[str, int]", _document()["numbers"])


OPEN, CLOSE = "\ue000", "\ue001"
_QUOTED = re.compile(
    r"\"([^\"\n]{1,400})\"|“([^”\n]{1,400})”|«([^»\n]{1,400})»|`([^`\n]{1,400})`|(?<![\w])['‘]([^'‘’\n]{1,200})['’](?![\w])"
)
_SENTENCE = re.compile(rf"(?<=[.!?;])\s+|(?<=:)(?!\s{{0,9}}{OPEN})\s+|\n[\s*-]*|•")
"""Ends of sentences; a quoted text after a colon belongs to what is before it."""
_TOKEN = re.compile(
    rf"{OPEN}\d+{CLOSE}|#\d+|https?://[^\s,()]{{1,400}}|[$€£]?\d(?:[\d.,:/-]*\d)?%?|[^\W\d_][\w.@/+-]*(?:['’][a-z]+)?|[,()]",
    re.UNICODE,
)
_SECRET = re.compile(r"\{secret:\w+\}")
_SHAPE = re.compile(r"[\[{(<][^\[\]{}()<>\n\ue000]{0,200}[\]})>]")
"""Brackets: the format of an answer, or an aside."""
_MAYBE_PLURAL = re.compile(r"(?<=\w)\((?:s|es)\)")
_DIGITS = re.compile(r"\d")


@dataclass(frozen=True, slots=True)
class TaskToken:
    """A word, a sign, or a name; ``quoted`` where it was in quotes."""

    text: str
    name: bool = False
    quoted: bool = False

    @property
    def low(self) -> str:
        """The text in lower case."""
        return self.text.casefold()


def replace_quotes(text: str, quotes: list[str]) -> str:
    """Return the text with a mark in place of each quoted name, so that no quoted word is read as a verb."""

    def keep(match: re.Match[str]) -> str:
        quotes.append(next(part for part in match.groups() if part is not None).strip())
        return f" {OPEN}{len(quotes) - 1}{CLOSE} "

    plain = _SECRET.sub(" ", text.replace(OPEN, " ").replace(CLOSE, " "))
    plain = _MAYBE_PLURAL.sub("s", plain)
    return _SHAPE.sub(" , ", _QUOTED.sub(keep, plain))


def clauses(text: str) -> Iterator[str]:
    """Yield sentences, and lines of a list."""
    for sentence in _SENTENCE.split(text):
        if sentence.strip():
            yield sentence.strip()


def tokens_of(clause: str, quotes: list[str]) -> list[TaskToken]:
    """Return the words of a clause; adjacent capitalised words are one name, quoted texts come back from
    ``quotes``.
    """
    tokens: list[TaskToken] = []
    for match in _TOKEN.finditer(clause):
        word = match[0]
        if word[0] == OPEN:
            tokens.append(TaskToken(quotes[int(word[1:-1])], name=True, quoted=True))
            continue
        if word.endswith(("'s", "’s")) and len(word) > 3:
            tokens.extend(
                (TaskToken(word[:-2].rstrip("."), name=_is_name(word[:-2], bool(tokens))), TaskToken("'s"))
            )
            continue
        bare = word if word in (",", "(", ")") else word.strip(".,:;!?")
        if bare:
            tokens.append(TaskToken(bare, name=_is_name(bare, bool(tokens))))
    return _joined(tokens)


def _is_name(word: str, later: bool) -> bool:
    """Whether a word looks like a name: ``#12``, ``sci_fi``, ``a/b``, ``jo.day``, ``iPad``, a capital in a sentence."""
    if word.casefold() in word_set("dates"):
        return False
    if word.startswith("#") or "@" in word or "_" in word or "/" in word[1:]:
        return True
    if word[0].isdigit() or word[0] in "$€£":
        return False
    if "." in word and any(len(piece) > 1 for piece in word.split(".")):
        return True  # a user name, a host, a file; not ``e.g``
    inner = any(letter.isupper() for letter in word[1:])
    return bool(
        inner or _DIGITS.search(word) or ("-" in word[1:-1] and later and not _is_compound(word))
    ) or (later and word[0].isupper())


def _is_compound(word: str) -> bool:
    """Whether a word with a hyphen is an English word and no name: ``sign-up``, ``e-mail``, ``in-depth``."""
    first, _, last = word.casefold().partition("-")
    return last in word_set("particles") or first in word_set("prefixes") | word_set("prepositions")


def _joined(tokens: list[TaskToken]) -> list[TaskToken]:
    """Join adjacent capitalised words, and a number after them, into one name; quoted names stay by themselves."""
    made: list[TaskToken] = []
    for at, token in enumerate(tokens):
        last = made[-1] if made else None
        if at == 0 and _is_subject(tokens):
            made.append(TaskToken(token.text, name=True))
        elif last is not None and _bare(last) and (_bare(token) or _ends_name(tokens, at)):
            made[-1] = TaskToken(f"{last.text} {token.text}", name=True)
        else:
            made.append(token)
    return made


def _is_subject(tokens: list[TaskToken]) -> bool:
    """Whether a sentence begins with a name: a capital, perhaps more of it, then a finite verb (``Ann Lee has …``)."""
    first = tokens[0]
    if first.name or not first.text[:1].isupper() or len(tokens) < 2:
        return False
    if first.low in word_set("stop") | word_set("statements") | word_set("questions") | word_set("dates"):
        return False
    at = 1
    while at < min(len(tokens), 4) and _bare(tokens[at]):
        at += 1
    return at < len(tokens) and tokens[at].low in word_set("finite") - {"do", "contain", "means"}


def _ends_name(tokens: list[TaskToken], at: int) -> bool:
    """Whether a number belongs to the name before it: ``the Summer Fair 2027``, not ``give Ann 5 points``."""
    if not tokens[at].text.isdecimal():
        return False
    after = tokens[at + 1] if at + 1 < len(tokens) else None
    ends = (
        word_set("stop")
        | word_set("prepositions")
        | word_set("toward")
        | word_set("finite")
        | {"and", "or", "'s"}
    )
    return after is None or after.name or after.low in ends or not after.low[:1].isalnum()


def _bare(token: TaskToken) -> bool:
    return token.name and not token.quoted and token.text[:1].isupper()
