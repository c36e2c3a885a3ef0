"""Vocabulary for reading tasks: verbs of change by sense, stop words, numbers.  Pure.

The lists are in ``resources/rules/task_changes.json``; verbs of other languages come from
``danger_words.json``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
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
