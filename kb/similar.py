"""Finds tips that say nearly the same as a draft, or the opposite.

Similarity of words (rapidfuzz over sorted stems) and of meaning (cosine, if an encoder is available) finds a tip's
*topic*; it cannot tell "use the search bar" from "do not use the search bar", which are more similar than many
paraphrases.  So a contradiction requires a cue as well: two clauses about the same things of which one is negated,
which contain an antonym each (before and after, ascending and descending), or which give different numbers.

Limits: a contradiction in quite different words, one that follows only from several tips together, or one in a
language other than English is not found; a negation that belongs to another part of a long clause can raise a false
alarm.  It is a question to a person, never a verdict.  Only tips whose scope can overlap the draft's are compared; on
other sites only an equal text is mentioned, as alike.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from rapidfuzz import fuzz

from kb.encoder import Encoder
from kb.retrieval.embedding import cached_vectors, cosines, encode_cached, whole_numbers
from kb.retrieval.terms import STOP_WORDS, stems_of, tip_text, words_of
from kb.tip import Scope, Similar, Status, Tip, TipDraft
from kb.vectors import VectorCache

DUPLICATE, ALIKE, CONTRADICTION = "duplicate", "alike", "contradiction"

_DUPLICATE_FROM = 0.9
_ALIKE_FROM = 0.62
_SAME_MATTER = 0.6
_SAME_BUT_NUMBERS = 0.75

_NEGATORS = frozenset(
    (
        "not",
        "never",
        "no",
        "cannot",
        "avoid",
        "without",
        "neither",
        "nor",
        "dont",
        "doesnt",
        "isnt",
        "cant",
        "wont",
    )
)
_ANTONYMS = (
    ("before", "after"), ("enable", "disable"), ("enabled", "disabled"), ("on", "off"), ("first", "last"),
    ("ascending", "descending"), ("oldest", "newest"), ("left", "right"), ("top", "bottom"), ("above", "below"),
    ("always", "never"), ("include", "exclude"), ("required", "optional"), ("open", "close"), ("opened", "closed"),
    ("show", "hide"), ("expand", "collapse"), ("add", "remove"), ("with", "without"), ("all", "none"),
    ("working", "broken"), ("increase", "decrease"), ("minimum", "maximum"), ("singular", "plural"),
    ("allowed", "forbidden"), ("public", "private"), ("manually", "automatically"), ("check", "uncheck"),
)  # fmt: skip
_OPPOSITE = {word: other for pair in _ANTONYMS for word, other in (pair, pair[::-1])}
_CLAUSE = re.compile(
    r"[.;:!?\n]+(?:\s|$)|,\s|\s(?:but|otherwise)\s|\s(?=instead of\s|rather than\s)", re.IGNORECASE
)
_INSTEAD = re.compile(r"instead of\s|rather than\s", re.IGNORECASE)
"""Begins a clause that only names what something is not; it says nothing that another tip could contradict."""
_NUMBER = re.compile(r"(?<![\w.])\d+(?:[.,]\d+)*")


@dataclass(frozen=True, slots=True)
class _Clause:
    matter: frozenset[str]
    negated: bool
    words: frozenset[str]
    numbers: frozenset[str]


@lru_cache(maxsize=32_768)
def _sorted_stems(text: str) -> str:
    return " ".join(sorted(stems_of(text)))


@lru_cache(maxsize=4_096)
def _clauses(text: str) -> tuple[_Clause, ...]:
    plain = text.replace("n't", " not").replace("n’t", " not")
    return tuple(clause for part in _CLAUSE.split(plain) if (clause := _clause(part)) is not None)


def _clause(text: str) -> _Clause | None:
    if _INSTEAD.match(text):
        return None
    words = frozenset(words_of(text))
    polar = _NEGATORS | _OPPOSITE.keys() | STOP_WORDS
    matter = frozenset(
        stems_of(" ".join(sorted(word for word in words if word not in polar and not word.isdigit())))
    )
    if not matter:
        return None
    return _Clause(matter, bool(words & _NEGATORS), words, frozenset(_NUMBER.findall(text)))


def contradicts(one: str, other: str) -> bool:
    """Whether two texts contain clauses about the same things that say opposite things; symmetric."""
    return any(_opposed(a, b) for a in _clauses(one) for b in _clauses(other))


def _opposed(a: _Clause, b: _Clause) -> bool:
    shared = len(a.matter & b.matter)
    overlap = shared / max(len(a.matter), len(b.matter))
    if overlap < _SAME_MATTER or (shared < 2 and overlap < 1):
        return False
    if a.negated != b.negated:
        return True
    swapped = any(_OPPOSITE.get(word) in b.words - a.words for word in a.words - b.words)
    if swapped and not a.negated:
        return True
    different_numbers = bool(a.numbers and b.numbers) and a.numbers.isdisjoint(b.numbers)
    return different_numbers and overlap >= _SAME_BUT_NUMBERS


def find_similar(
    draft: TipDraft,
    tips: Iterable[Tip],
    encoder: Encoder | None = None,
    vectors: VectorCache | None = None,
    exclude: str = "",
    limit: int = 5,
) -> list[Similar]:
    """Tips similar to a draft: contradictions first, then duplicates, then those alike, the most similar first.

    Args:
        tips: tips to compare with; retired ones are skipped.
        encoder, vectors: add similarity of meaning.  With a cache only tips with cached vectors are compared by it,
            and only the draft is encoded; without one it blocks while all are.
        exclude: id of the stored tip the draft is a new version of.
        limit: maximum number of results.
    """
    mine = tip_text(draft)
    if not mine.strip():
        return []
    others = [tip for tip in tips if tip.id != exclude and tip.status is not Status.RETIRED]
    near = [tip for tip in others if _can_meet(draft, tip)]
    found = [
        similar
        for tip, score in zip(near, _likeness(mine, near, encoder, vectors), strict=True)
        if (similar := _judge(mine, tip, score)) is not None
    ]
    elsewhere = {tip.id for tip in near}
    found += [
        Similar(tip=tip, score=1.0, relation=ALIKE)
        for tip in others
        if tip.text == draft.text and tip.id not in elsewhere
    ]
    order = {CONTRADICTION: 0, DUPLICATE: 1, ALIKE: 2}
    return sorted(found, key=lambda one: (order[one.relation], -one.score, one.tip.id))[:limit]


def _likeness(
    mine: str, tips: list[Tip], encoder: Encoder | None, vectors: VectorCache | None
) -> list[float]:
    stems = _sorted_stems(mine)
    by_words = [fuzz.ratio(stems, _sorted_stems(tip_text(tip))) / 100 for tip in tips]
    if encoder is None or not tips:
        return [round(score, 4) for score in by_words]
    texts = [tip_text(tip) for tip in tips]
    matrix = cached_vectors(encoder, texts, vectors)[0] if vectors else encode_cached(encoder, texts)
    matrix = whole_numbers(matrix)
    vector = whole_numbers(encoder.encode([mine])[0])
    return [round(max(pair), 4) for pair in zip(by_words, cosines(matrix @ vector).tolist(), strict=True)]


def _judge(mine: str, tip: Tip, score: float) -> Similar | None:
    other = tip_text(tip)
    if mine != other and contradicts(mine, other):
        return Similar(tip=tip, score=score, relation=CONTRADICTION)
    if score >= _ALIKE_FROM:
        return Similar(tip=tip, score=score, relation=DUPLICATE if score >= _DUPLICATE_FROM else ALIKE)
    return None


def _can_meet(draft: TipDraft, tip: Tip) -> bool:
    """Whether some address could match both scopes; when in doubt, yes."""
    hosts_meet = (
        _globs_meet(draft.scope.host, tip.scope.host)
        if draft.scope.host and tip.scope.host
        else draft.site == tip.site
    )
    return hosts_meet and _paths_meet(draft.scope, tip.scope)


def _globs_meet(one: str, other: str) -> bool:
    """Two wildcard patterns can only exclude each other by the text before the first or after the last star."""
    if "*" not in one and "*" not in other:
        return one.lower() == other.lower()
    (head_one, tail_one), (head_other, tail_other) = _ends(one), _ends(other)
    heads = head_one.startswith(head_other) or head_other.startswith(head_one)
    tails = tail_one.endswith(tail_other) or tail_other.endswith(tail_one)
    return heads and tails


def _ends(glob: str) -> tuple[str, str]:
    head, _, _ = glob.lower().partition("*")
    _, _, tail = glob.lower().rpartition("*")
    return head, tail if "*" in glob else glob.lower()


def _paths_meet(one: Scope, other: Scope) -> bool:
    return not one.path or not other.path or _globs_meet(one.path.rstrip("/"), other.path.rstrip("/"))
