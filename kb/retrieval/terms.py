"""Words of a tip or a goal for the keyword route.

SQLite's own FTS5 tokenizer does the stemming (``porter unicode61``): words are put into an in-memory FTS5 table and
read back through ``fts5vocab``, so a live and a frozen knowledge base, and any other reader of the same SQLite, agree
on word boundaries and stems.  User text is never put into a MATCH expression.
"""

from __future__ import annotations

import re
import sqlite3
import threading
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from kb.tip import Query, TipDraft

_WORD = re.compile(r"[^\W_]+")
_QUOTED = re.compile(r"""["“”`]([^"“”`\n]{2,60})["“”`]|(?<!\w)['‘]([^'‘’\n]{2,60})['’](?!\w)""")
_LONGEST_TEXT = 20_000
_LONGEST_QUERY = 64
_LONGEST_LABEL = 6

_STOP_WORDS = """
    a about after all also an and any are as at be because been before being both but by can could did
    do does doing done down each either else for from get gets got had has have having he her here him
    his how i if in into is it its itself just let may me might more most much many must my need needs no nor not
    now of off on once one only onto or other our out over own per please quite s same shall she should
    so some still such t than that the their them then there these they this those through to too under
    until up upon us very via was we were what when where whether which while who whom whose why will
    with within without would yes you your yours
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())
"""Words without meaning of their own."""

_COMMON_WORDS = """
    access ask asked button change check choose click correct create current data different display
    element enter example existing field find following form give given go goal goto home info
    information input instead item link list look make mean menu mention multiple name navigate new
    number open option page press provide question related result return right say section see select
    set show site specific specify tab task tell text top type use used user using value view visit want
    way website
"""
COMMON_WORDS = frozenset(_COMMON_WORDS.split())
"""Words in nearly every goal or tip about a web site; they count a quarter."""

FULL_WEIGHT, COMMON_WEIGHT = 100, 25


class _Stemmer:
    """Stems words with FTS5's porter tokenizer; caches every word."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._stems: dict[str, str] = {}
        self._db = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
        self._db.execute("CREATE VIRTUAL TABLE word USING fts5(text, tokenize='porter unicode61')")
        self._db.execute("CREATE VIRTUAL TABLE stem USING fts5vocab(word, 'instance')")

    def stems(self, words: Iterable[str]) -> list[str]:
        """The stem of each word; a word without an FTS5 token is its own stem."""
        words = list(words)
        with self._lock:
            unknown = sorted({word for word in words if word not in self._stems})
            if unknown:
                self._learn(unknown)
            return [self._stems[word] for word in words]

    def _learn(self, words: list[str]) -> None:
        self._db.execute("BEGIN")
        self._db.executemany("INSERT INTO word(rowid, text) VALUES (?, ?)", enumerate(words))
        found: dict[int, str] = {}
        for row, term in self._db.execute("SELECT doc, term FROM stem ORDER BY doc, offset"):
            found.setdefault(row, term)
        self._db.execute("ROLLBACK")
        self._stems.update((word, found.get(row, word)) for row, word in enumerate(words))

    def close(self) -> None:
        """Close the database."""
        self._db.close()


@lru_cache(maxsize=1)
def _stemmer() -> _Stemmer:
    return _Stemmer()


def words_of(text: str) -> list[str]:
    """Words in lower case, without diacritics, in order."""
    plain = text[:_LONGEST_TEXT].casefold()
    if not plain.isascii():
        decomposed = unicodedata.normalize("NFKD", plain)
        plain = "".join(char for char in decomposed if not unicodedata.combining(char))
    return _WORD.findall(plain)


def word_weight(word: str) -> int:
    """Weight of a word in percent: 0 for a stop word, a quarter for a common one."""
    if word in STOP_WORDS or (len(word) == 1 and not word.isdigit()):
        return 0
    return COMMON_WEIGHT if word in COMMON_WORDS or word.removesuffix("s") in COMMON_WORDS else FULL_WEIGHT


def quoted(text: str) -> list[str]:
    """Phrases in quotes or back quotes: labels of the page, mostly."""
    return [(double or single).strip() for double, single in _QUOTED.findall(text[:_LONGEST_TEXT])]


@dataclass(frozen=True, slots=True)
class QueryTerms:
    """The terms of a goal.

    Attributes:
        weights: stem to weight in percent, in the order of first appearance.
        shown: stem to the word as written in the goal, for the why line.
        phrases: all runs of up to six stems, to find labels.
        quotes: phrases in quotes, in lower case.
    """

    weights: dict[str, int]
    shown: dict[str, str]
    phrases: frozenset[tuple[str, ...]]
    quotes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TipTerms:
    """The terms of a tip.

    Attributes:
        counts: how often each stem occurs.
        forms: the words as written, with their stems: near misses are searched among these.
        length: in words.
        labels: phrases in quotes, and the keywords: stems to text in lower case.
    """

    counts: dict[str, int]
    forms: dict[str, str]
    length: int
    labels: dict[tuple[str, ...], str]


@lru_cache(maxsize=8_192)
def query_terms(text: str) -> QueryTerms:
    """Extract the terms of a goal; only its first 64 different informative words count."""
    words = words_of(text)
    stems = _stemmer().stems(words)
    weights: dict[str, int] = {}
    shown: dict[str, str] = {}
    for word, stem in zip(words, stems, strict=True):
        weight = word_weight(word)
        if weight and len(weights) < _LONGEST_QUERY and stem not in weights:
            weights[stem], shown[stem] = weight, word
    head = stems[: 4 * _LONGEST_QUERY]
    phrases = frozenset(
        tuple(head[at : at + size])
        for size in range(1, _LONGEST_LABEL + 1)
        for at in range(len(head) - size + 1)
    )
    return QueryTerms(
        weights, shown, phrases, tuple(dict.fromkeys(quote.casefold() for quote in quoted(text)))
    )


def tip_text(tip: TipDraft) -> str:
    """All the words of a tip, its text first; the input of the keyword and the embedding route."""
    parts = (tip.text, tip.when, tip.do, tip.before, tip.why)
    return "\n".join(part for part in parts if part)


def task_texts(query: Query) -> tuple[str, ...]:
    """The texts of what is wanted, compared one by one: task, subgoal, element, last failure."""
    texts = (query.text, query.subgoal, query.element, query.failure)
    return tuple(dict.fromkeys(text for text in texts if text.strip()))


def page_words(query: Query) -> str:
    """The words of the page in front: title, headings and controls."""
    return " ".join((query.title, *query.headings, *query.controls))


def page_summary(query: Query) -> str:
    """Title and headings of the page in front."""
    return ". ".join(text for text in (query.title, *query.headings) if text)


def tip_terms(tip: TipDraft) -> TipTerms:
    """Extract the terms of a tip: text, when, do, before and why count once, each keyword twice."""
    text = tip_text(tip)
    words = words_of(text)
    keywords = [word for keyword in tip.keywords for word in words_of(keyword)]
    all_words = words + keywords * 2
    counts: dict[str, int] = {}
    forms: dict[str, str] = {}
    for word, stem in zip(all_words, _stemmer().stems(all_words), strict=True):
        if word_weight(word):
            counts[stem] = counts.get(stem, 0) + 1
            forms[word] = stem
    labels: dict[tuple[str, ...], str] = {}
    for label in (*quoted(text), *tip.keywords):
        label_words = words_of(label)
        if 0 < len(label_words) <= _LONGEST_LABEL and any(
            word_weight(word) == FULL_WEIGHT for word in label_words
        ):
            labels.setdefault(tuple(_stemmer().stems(label_words)), label.casefold())
    return TipTerms(counts, forms, len(words), labels)


def stems_of(text: str) -> list[str]:
    """The stems of all words of a text, including stop words, in order."""
    return _stemmer().stems(words_of(text))


def warm_up(texts: Iterable[str]) -> None:
    """Learn the stems of many texts in one go: a thousand times cheaper than one by one."""
    _stemmer().stems({word for text in texts for word in words_of(text)})
