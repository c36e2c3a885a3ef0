"""Changes that a task asks for, read from its words: which verb, on which object, by whom, how often.

The write gate (``app.engine.agent.write_gate.gate``) compares them with the control to be used.  Reading a page is
never a change; an imperative that is no verb of reading is one.  A quoted text is a name and never a verb.  Words
are in ``resources/rules/task_changes.json``; verbs of other languages in ``danger_words.json``.  Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

from app.engine.agent.write_gate.change_counts import count_of, picks_one
from app.engine.agent.write_gate.name_roles import SPLITTERS, names_by_role, numbers_a_thing
from app.engine.agent.write_gate.vocabulary import (
    CLOSE,
    OPEN,
    TaskToken,
    clauses,
    is_known_verb,
    replace_quotes,
    senses_of,
    senses_of_kind,
    stem_of,
    tokens_of,
    two_word_verbs,
    word_set,
)
from kb.retrieval.terms import stems_of

MAX_TASK_LENGTH = 8_000
"""Characters of a task that are read."""

_NEGATIONS = frozenset({"do", "not", "don't", "never", "without"})


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestedChange:
    """One change that a task asks for.

    Attributes:
        text: its clause, for messages.
        verb: the verb as written, in lower case.
        senses: groups of verbs that mean the same (``delete``, ``buy``, ``send`` …); empty for a verb of no
            group.
        objects: names of its objects, alternatives to one another; empty where none is named.
        whose: names that must be seen with the object: its author or the thing it is part of.
        places: names of where it is to happen.
        values: names and quoted texts to enter.
        nouns: stems of the other words of the clause.
        presses: names of controls that the task itself says to press.
        count: how often at most; 0 for as many as there are.
        picks: the object is given by its position or a superlative (``the latest``), or any one will do
            (``a``).
        inherited: the names come from an earlier clause (``Find the issue "Foo" and close it``).
        certain: its verb is known to change something; of others only the place in the sentence is evidence.
    """

    text: str
    verb: str
    senses: frozenset[str] = frozenset()
    objects: tuple[str, ...] = ()
    whose: tuple[str, ...] = ()
    places: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    nouns: frozenset[str] = frozenset()
    presses: tuple[str, ...] = ()
    count: int = 1
    picks: bool = False
    inherited: bool = False
    certain: bool = True

    @property
    def names(self) -> tuple[str, ...]:
        """Every name of the clause."""
        return (*self.objects, *self.whose, *self.places, *self.values)


def requested_changes(task: str) -> tuple[RequestedChange, ...]:
    """Return the changes a task asks for, in its order; none for a task that only asks, shows or opens something."""
    return _task(task)[0]


def forbidden_verbs(task: str) -> frozenset[str]:
    """Return the verbs that a task forbids ("Don't submit it yet"), in lower case."""
    return _task(task)[1]


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskClause:
    """One part of a task: at most one imperative with its words.

    Attributes:
        text: the sentence around it, quotes replaced by marks.
        tokens: its words and names.
        verb: its imperative, "" where it has none; ``rest`` are the tokens after it.
        asks: the sentence is a question, or the part begins with a question word.
        refused: the part says what is not to be done.
        changes: what it asks to be changed.
    """

    text: str
    tokens: tuple[TaskToken, ...]
    verb: str
    rest: tuple[TaskToken, ...]
    asks: bool
    refused: bool
    changes: tuple[RequestedChange, ...]


@lru_cache(maxsize=256)
def task_clauses(task: str) -> tuple[TaskClause, ...]:
    """Return the parts of a task in its order."""
    quotes: list[str] = []
    found: list[TaskClause] = []
    known: tuple[str, ...] = ()
    for clause in clauses(replace_quotes(task[:MAX_TASK_LENGTH], quotes)):
        tokens = tokens_of(clause, quotes)
        sentence_asks = _is_question(clause)
        for part in _parts(tokens, asks=sentence_asks) if tokens else ():
            verb, rest, refused = _imperative(part)
            asks = sentence_asks or _asks(part)
            changes = _change(verb, rest, clause) if verb and not refused and not asks else []
            found.append(
                TaskClause(
                    text=clause,
                    tokens=tuple(part),
                    verb=verb,
                    rest=tuple(rest),
                    asks=asks,
                    refused=refused,
                    changes=tuple(
                        one if one.objects or "use" in one.senses else _inheriting(one, known)
                        for one in changes
                    ),
                )
            )
            known = _names_in(part) or known
    return tuple(found)


@lru_cache(maxsize=256)
def _task(task: str) -> tuple[tuple[RequestedChange, ...], frozenset[str]]:
    parts = task_clauses(task)
    return (
        tuple(change for part in parts for change in part.changes),
        frozenset(stem_of(part.verb) for part in parts if part.verb and part.refused),
    )


def _names_in(part: Sequence[TaskToken]) -> tuple[str, ...]:
    return tuple(
        token.text
        for at, token in enumerate(part)
        if token.name or (token.low.lstrip("#").isdecimal() and numbers_a_thing(part, at))
    )


def _is_question(clause: str) -> bool:
    words = [word.casefold() for word in re.findall(r"[^\W\d_][\w'’]*", clause)[:3]]
    if not words or clause.startswith(OPEN):
        return False
    asked = " ".join(words)
    polite = any(asked.startswith(one) for one in word_set("polite") if " " in one)
    refuses = any(f"{asked} ".startswith(f"{one} ") for one in word_set("not"))
    return not polite and not refuses and words[0] in word_set("questions")


def _asks(part: Sequence[TaskToken]) -> bool:
    """Whether a part begins with a question word, behind a preposition or not: ``on what day``."""
    words = [token.low for token in part[:4] if not token.name and token.low not in SPLITTERS]
    if words and words[0] in word_set("prepositions"):
        words = words[1:]
    return bool(words) and words[0] in word_set("question words")


def _parts(tokens: list[TaskToken], *, asks: bool) -> Iterator[list[TaskToken]]:
    """Split a sentence before each verb that follows ``and``, ``then`` or a comma; a question before question words."""
    part: list[TaskToken] = []
    for at, token in enumerate(tokens):
        following = tokens[at + 1] if at + 1 < len(tokens) else None
        splits = token.low in SPLITTERS and following is not None
        if splits and part and _is_split(part, token, tokens[at + 1 : at + 13], asks=asks):
            yield part
            part = []
        elif token.low in ("to", "for") and part and following is not None and _purpose(part, following):
            yield part  # ``Click "Buy now" to buy it``: the purpose counts too
            part = []
        else:
            part.append(token)
    if part:
        yield part


def _is_split(part: list[TaskToken], splitter: TaskToken, after: list[TaskToken], *, asks: bool) -> bool:
    if splitter.low == "then" or (_asks(after[:4]) and _may_be_asked(part, splitter, after[0])):
        return True
    return not asks and _begins_clause(after, after_comma=splitter.low == ",")


def _may_be_asked(part: list[TaskToken], splitter: TaskToken, first: TaskToken) -> bool:
    """Whether a question word after a part asks: after ``and``, or where the part has no verb of its own; else it may
    be a relative clause (``Bob, who left``).
    """
    return splitter.low == "and" or first.low in ("how", "what", "why") or not _imperative(part)[0]


def _begins_clause(tokens: list[TaskToken], *, after_comma: bool) -> bool:
    """Whether the tokens begin with a verb that starts a part of its own."""
    if not tokens or tokens[0].name:
        return False
    at = 0
    while at < min(len(tokens), 4) and (tokens[at].low in word_set("polite") or tokens[at].low in _NEGATIONS):
        at += 1
    if at == len(tokens) or tokens[at].name:
        return False
    word, after = tokens[at].low, tokens[at + 1 : at + 13]
    if word in word_set("nouns") and senses_of((word,)) and after and after[0].low in word_set("stop"):
        return True  # ``please mark it as read``
    if (after_comma or word in word_set("nouns too")) and not _has_object(after):
        return False  # ``a new, empty repository``; ``the name and post title``
    if after_comma and word in word_set("question words"):
        return False
    return is_known_verb(word) or word in word_set("reading") or word in word_set("questions")


def _has_object(after: list[TaskToken]) -> bool:
    """Whether the tokens after a word make it a verb: a determiner, a pronoun, a name, a preposition, or nothing."""
    if not after or after[0].name:
        return True
    around = word_set("stop") | word_set("where") | word_set("whose") | word_set("toward") | word_set("all")
    return after[0].low in around | word_set("one") or not after[0].low.isalpha()


def _purpose(part: list[TaskToken], following: TaskToken) -> bool:
    """Whether a purpose follows: ``to buy`` after a verb of pressing or going.  Irreversible changes must be
    asked for outright.
    """
    first = next((token.low for token in part if not token.name and token.low not in word_set("polite")), "")
    senses = senses_of((following.low,))
    wished = (
        len(part) > 2 and part[-1].low in ("want", "need", "wish", "able") and part[-2].low in ("i", "we")
    )
    if following.name or not senses or wished:
        return False
    if first in word_set("pressing"):
        return True
    return first in ("go", "navigate", "open", "use", "visit", "log") and not senses & {
        "delete",
        "cancel",
        "buy",
    }


def _imperative(part: list[TaskToken]) -> tuple[str, list[TaskToken], bool]:
    """Return the verb a part begins with, the rest, and whether the part forbids it ("" where there is none)."""
    tokens = _without_condition(part)
    forbidden = False
    while tokens:
        words = [token.low for token in tokens[:6]]
        text = " ".join(words)
        refusal = next((one for one in word_set("not") if text == one or text.startswith(f"{one} ")), "")
        polite = next(
            (
                one
                for one in sorted(word_set("polite"), key=len, reverse=True)
                if f"{text} ".startswith(f"{one} ")
            ),
            "",
        )
        if refusal:
            forbidden = True
            tokens = tokens[len(refusal.split()) :]
        elif polite:
            tokens = tokens[len(polite.split()) :]
        elif tokens[0].low in SPLITTERS or tokens[0].low in ("(", ")"):
            tokens = tokens[1:]
        else:
            break
    if not tokens or (tokens[0].name and (tokens[0].quoted or not tokens[0].text[:1].isupper())):
        return "", [], forbidden
    low = tokens[0].low
    pair = f"{low} {tokens[1].low}" if len(tokens) > 1 else low
    if pair in two_word_verbs():
        return pair, tokens[2:], forbidden
    if tokens[1:] and tokens[1].low == "nothing":
        forbidden = True
    looks = low in word_set("reading") and bool(tokens[1:]) and tokens[1].low in word_set("determiners")
    if not (is_known_verb(low) or looks) and (
        _is_statement(tokens) or (_is_participle(low) and not forbidden)
    ):
        return "", [], forbidden
    return (low if low[:1].isalpha() else ""), tokens[1:], forbidden


def _is_participle(word: str) -> bool:
    """Whether an unknown word is no imperative by its form: ``Counting all of them``, ``sorted by date``."""
    return len(word) > 5 and word.endswith(("ing", "ed")) and word not in word_set("reading")


def _is_statement(tokens: list[TaskToken]) -> bool:
    """Whether a part is a statement: it begins with no verb, or a finite verb follows its first words."""
    if len(tokens) == 1:
        return True
    first = tokens[0].low
    if first in word_set("stop") | word_set("questions") | word_set("statements") | word_set("prepositions"):
        return True
    told = (
        not tokens[1].name and len(tokens[1].low) > 4 and tokens[1].low.endswith("ed")
    )  # ``Management asked …``
    return told or any(
        token.low in word_set("finite") and token.text != "May" for token in tokens[1:5] if not token.name
    )


def _without_condition(part: list[TaskToken]) -> list[TaskToken]:
    """Drop the condition before the comma: ``If the price is below 10, buy it``."""
    if part[0].low not in word_set("conditions"):
        return part
    commas = [at for at, token in enumerate(part) if token.text == ","]
    return part[commas[0] + 1 :] if commas else []


def _change(verb: str, rest: list[TaskToken], clause: str) -> list[RequestedChange]:
    asks = bool(rest) and rest[0].low in word_set("question words") | {"if", "whether"}  # ``Check whether …``
    pressing = verb in word_set("pressing") and not asks
    named = tuple(token.text for token in rest if token.name)
    if verb in word_set("giving") and named and not senses_of((verb,)):
        # ``Use the code "SPRING"``: a change only if the form that is sent holds that very value.
        return [
            RequestedChange(
                text=_shown(clause), verb=verb, senses=frozenset({"use"}), values=named,
                presses=named[:1] if pressing else (), nouns=_nouns(rest), count=1,
                certain=False,
            )
        ]  # fmt: skip
    if pressing and named and not senses_of((verb,)):
        # The task names the control, and so asks for what the control does.
        senses = senses_of(re.findall(r"\w+", named[0]))
        return [
            RequestedChange(
                text=_shown(clause), verb=verb, presses=named[:1], places=named[1:], senses=senses,
                nouns=_nouns(rest), count=count_of(rest, named[:1]),
            )
        ]  # fmt: skip
    senses = senses_of((verb,))
    if not senses and verb not in word_set("reading"):
        senses = senses_of_kind(verb)
    if (verb == "give" and _gives_to_another(rest)) or (verb == "switch" and _switches(rest)):
        senses |= {"edit"}
    makes = (verb in ("open", "file") and _makes(rest)) or _names_something_new(rest)
    if verb in word_set("reading") and not senses and not makes:
        return []
    if verb == "follow" and word_set("instructions") & {token.low for token in rest[:3]}:
        return []
    regions = names_by_role(rest)
    objects = tuple(regions["object"])
    values = tuple(regions["toward"])
    if "cart" in senses_of(token.low for token in rest if not token.name):
        senses |= {"cart"}
    if makes or "send" in senses:
        senses |= {"create"}
    return [
        RequestedChange(
            text=_shown(clause),
            verb=verb,
            senses=frozenset(senses),
            objects=objects,
            whose=tuple(regions["whose"]),
            places=tuple(regions["where"]),
            values=values,
            nouns=_nouns(rest),
            count=count_of(rest, objects),
            picks=picks_one(rest),
            certain=bool(senses),
        )
    ]


def _gives_to_another(rest: list[TaskToken]) -> bool:
    """Whether something is given to somebody named: ``Give the user Ann the right to …``, not ``Give me``."""
    for token, after in pairwise(rest):
        if token.low in word_set("prepositions") | {"me", "us", ","}:
            return False
        if token.name and (after.low in ("the", "a", "an") or after.low.isdecimal()):
            return True
    return False


def _switches(rest: list[TaskToken]) -> bool:
    """Whether something is set: ``Switch on the digest``, ``Switch the mode to dark``, not ``Switch to the tab``."""
    lows = [token.low for token in rest[:8]]
    return bool(lows) and (
        lows[0] in ("on", "off") or (lows[0] not in word_set("prepositions") and "to" in lows)
    )


def _makes(rest: list[TaskToken]) -> bool:
    """Whether the object is made: ``Open an issue`` makes one; ``open the issue`` only looks."""
    return bool(rest) and rest[0].low in ("a", "an", "new", "another")


def _names_something_new(rest: list[TaskToken]) -> bool:
    """Whether a new thing is named: ``to readme.md in a new repository named …``."""
    words = [token.low for token in rest]
    return any(
        first in ("a", "another")
        and second == "new"
        and {"named", "called", "titled"} & set(words[at : at + 6])
        for at, (first, second) in enumerate(pairwise(words))
    )


def _inheriting(change: RequestedChange, known: tuple[str, ...]) -> RequestedChange:
    """Give a part without a name the names of the nearest part before it."""
    if change.presses or change.whose or not known:
        return change
    return replace(change, objects=known, inherited=True)


def _nouns(rest: list[TaskToken]) -> frozenset[str]:
    words = " ".join(token.text for token in rest if not token.name and token.low not in word_set("stop"))
    return frozenset(stem for stem in stems_of(words) if len(stem) > 2)


def _shown(clause: str) -> str:
    return " ".join(re.sub(rf"{OPEN}\d+{CLOSE}", "…", clause).split())[:160]
