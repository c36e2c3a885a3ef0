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
    return (
        word_set("stop") | word_set("where") | word_set("toward") | word_set("whose") | word_set("dates")
        | word_set("positions") | {"top", "size", "page", "step", "least", "most", "about", "over", "under"}
    )  # fmt: skip


def number_words() -> Mapping[str, int]:
    """Return numbers by their words."""
    return cast("Mapping[str, int]", _document()["numbers"])


OPEN, CLOSE = "\ue000", "\ue001"
_QUOTED = re.compile(
    r"\"([^\"\n]{1,400})\"|“([^”\n]{1,400})”|«([^»\n]{1,400})»|`([^`\n]{1,400})`|(?<![\w])['‘]([^'‘’\n]{1,200})['’](?![\w])"
)
_SENTENCE = re.compile(r"(?<=[.!?;:])\s+|\n[\s*-]*|•")
_TOKEN = re.compile(
    rf"{OPEN}\d+{CLOSE}|#\d+|[$€£]?\d(?:[\d.,:/-]*\d)?%?|[^\W\d_][\w.@/+-]*(?:['’][a-z]+)?|[,()]",
    re.UNICODE,
)
_SECRET = re.compile(r"\{secret:\w+\}")
_SHAPE = re.compile(r"[\[{(<][^\[\]{}()<>\n\ue000]{0,200}[\]})>]")
"""Brackets: the format of an answer, or an aside."""
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
        bare = word if word in (",", "(", ")") else word.strip(".,")
        if bare:
            tokens.append(TaskToken(bare, name=_is_name(bare, bool(tokens))))
    return _joined(tokens)


def _is_name(word: str, later: bool) -> bool:
    """Whether a word looks like a name: ``#12``, ``sci_fi``, ``a/b``, ``iPad``, or a capital within a sentence."""
    if word.casefold() in word_set("dates"):
        return False
    if word.startswith("#") or "@" in word or "_" in word or "/" in word[1:]:
        return True
    if word[0].isdigit() or word[0] in "$€£":
        return False
    inner = any(letter.isupper() for letter in word[1:])
    return bool(inner or _DIGITS.search(word) or ("-" in word[1:-1] and later)) or (
        later and word[0].isupper()
    )


def _joined(tokens: list[TaskToken]) -> list[TaskToken]:
    """Join adjacent capitalised words into one name; quoted names stay by themselves."""
    made: list[TaskToken] = []
    for token in tokens:
        last = made[-1] if made else None
        if last is not None and _bare(token) and _bare(last):
            made[-1] = TaskToken(f"{last.text} {token.text}", name=True)
        else:
            made.append(token)
    return made


def _bare(token: TaskToken) -> bool:
    return token.name and not token.quoted and token.text[:1].isupper()
