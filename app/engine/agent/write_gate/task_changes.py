"""Changes that a task asks for, read from its words: which verb, on which object, by whom, how often.

The write gate (``app.engine.agent.write_gate.gate``) compares them with the control to be used.  Reading a page is
never a change; an imperative that is no verb of reading is one.  A quoted text is a name and never a verb.  Words are
in
``resources/rules/task_changes.json``; verbs of other languages in ``danger_words.json``.  Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

from app.engine.agent.write_gate.vocabulary import (
    CLOSE,
    OPEN,
    TaskToken,
    clauses,
    is_known_verb,
    non_object_words,
    number_words,
    replace_quotes,
    senses_of,
    senses_of_kind,
    stem_of,
    tokens_of,
    two_word_verbs,
    word_set,
)
from kb.retrieval.terms import stems_of

Region = Literal["object", "whose", "where", "toward"]

MAX_TASK_LENGTH = 8_000
"""Characters of a task that are read."""

_NEGATIONS = frozenset({"do", "not", "don't", "never", "without"})
_SPLITTERS = frozenset({"and", "then", "or", "but", ","})


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
        asks: the sentence is a question.
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
        asks = _is_question(clause)
        for part in _parts(tokens) if tokens else ():
            verb, rest, refused = _imperative(part)
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
    if not words:
        return False
    asked = " ".join(words)
    polite = any(asked.startswith(one) for one in word_set("polite") if " " in one)
    refuses = any(f"{asked} ".startswith(f"{one} ") for one in word_set("not"))
    return not polite and not refuses and words[0] in word_set("questions")


def _parts(tokens: list[TaskToken]) -> Iterator[list[TaskToken]]:
    """Split a sentence before each verb that follows ``and``, ``then`` or a comma."""
    part: list[TaskToken] = []
    for at, token in enumerate(tokens):
        following = tokens[at + 1] if at + 1 < len(tokens) else None
        splits = token.low in _SPLITTERS and following is not None
        if (
            splits
            and part
            and (_begins_clause(tokens[at + 1 :], after_comma=token.low == ",") or token.low == "then")
        ):
            yield part
            part = []
        elif token.low in ("to", "for") and part and following is not None and _purpose(part, following):
            yield part  # ``Click "Buy now" to buy it``: the purpose counts too
            part = []
        else:
            part.append(token)
    if part:
        yield part


def _begins_clause(tokens: list[TaskToken], *, after_comma: bool) -> bool:
    """Whether the tokens begin with a verb that starts a part of its own."""
    words = [token.low for token in tokens[:4] if not token.name]
    if not words or tokens[0].name:
        return False
    while words and (words[0] in word_set("polite") or words[0] in _NEGATIONS):
        words = words[1:]
    if not words:
        return False
    if after_comma and not _has_object(tokens[1:]):
        return False  # ``a new, empty repository``
    return is_known_verb(words[0]) or words[0] in word_set("reading") or words[0] in word_set("questions")


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
    if following.name or not senses:
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
        elif tokens[0].low in _SPLITTERS or tokens[0].low in ("(", ")"):
            tokens = tokens[1:]
        else:
            break
    if not tokens or (tokens[0].name and not tokens[0].text[:1].isupper()):
        return "", [], forbidden
    low = tokens[0].low
    pair = f"{low} {tokens[1].low}" if len(tokens) > 1 else low
    if pair in two_word_verbs():
        return pair, tokens[2:], forbidden
    if not is_known_verb(low) and _is_statement(tokens):
        return "", [], forbidden
    return (low if low[:1].isalpha() else ""), tokens[1:], forbidden


def _is_statement(tokens: list[TaskToken]) -> bool:
    """Whether a part is a statement: it begins with no verb, or a finite verb follows its first words."""
    if len(tokens) == 1:
        return True
    first = tokens[0].low
    if first in word_set("stop") | word_set("questions") | word_set("statements"):
        return True
    return any(token.low in word_set("finite") for token in tokens[1:5] if not token.name)


def _without_condition(part: list[TaskToken]) -> list[TaskToken]:
    """Drop the condition before the comma: ``If the price is below 10, buy it``."""
    if part[0].low not in word_set("conditions"):
        return part
    commas = [at for at, token in enumerate(part) if token.text == ","]
    return part[commas[0] + 1 :] if commas else []


def _change(verb: str, rest: list[TaskToken], clause: str) -> list[RequestedChange]:
    pressing = verb in word_set("pressing")
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
                nouns=_nouns(rest), count=_count(rest, named[:1]),
            )
        ]  # fmt: skip
    senses = senses_of((verb,))
    if not senses and verb not in word_set("reading"):
        senses = senses_of_kind(verb)
    makes = verb in ("open", "file") and _makes(rest)
    if verb in word_set("reading") and not senses and not makes:
        return []
    regions = _regions(rest)
    objects = tuple(regions["object"])
    values = tuple(regions["toward"])
    if "cart" in senses_of(token.low for token in rest if not token.name):
        senses |= {"cart"}
    if makes or "send" in senses or _names_something_new(rest):
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
            count=_count(rest, objects),
            picks=_picks(rest),
            certain=bool(senses),
        )
    ]


def _makes(rest: list[TaskToken]) -> bool:
    """Whether the object is made: ``Open an issue`` makes one; ``open the issue`` only looks."""
    return bool(rest) and rest[0].low in ("a", "an", "new", "another")


def _names_something_new(rest: list[TaskToken]) -> bool:
    """Whether a new thing is named: ``to readme.md in a new repository named …``."""
    words = [token.low for token in rest]
    return any(
        first == "new" and {"named", "called", "titled"} & set(words[at : at + 5])
        for at, first in enumerate(words)
    )


def _regions(rest: list[TaskToken]) -> dict[Region, list[str]]:
    """Return names by their role, which the preposition before a name decides."""
    found: dict[Region, list[str]] = {"object": [], "whose": [], "where": [], "toward": []}
    region: Region = "object"
    for at, token in enumerate(rest):
        if token.low in word_set("whose"):
            region = "whose"
        elif token.low in word_set("toward"):
            region = "toward"
        elif token.low in word_set("where"):
            region = "where"
        elif at + 1 < len(rest) and rest[at + 1].text == "'s":
            if token.name or (at == 0 or rest[at - 1].low not in word_set("stop")):
                found["whose"].append(token.text)
        elif token.name:
            found[region].append(token.text)
        elif region == "whose" and rest[at - 1].low == "by" and _may_be_a_person(token, rest[at + 1 :]):
            found["whose"].append(token.text)
        elif token.low.lstrip("#").isdecimal() and numbers_a_thing(rest, at):
            found[region].append(token.text)
    return found


def _may_be_a_person(token: TaskToken, after: list[TaskToken]) -> bool:
    """Whether a word after ``by`` is a user name in small letters; ``by the …``, ``by clicking``, ``by card``
    name nobody.
    """
    if (
        not token.low.isalpha()
        or token.low in word_set("stop") | word_set("means")
        or token.low.endswith("ing")
    ):
        return False
    return not after or after[0].low in _SPLITTERS | word_set("where") | word_set("toward") | word_set(
        "whose"
    )


def numbers_a_thing(rest: Sequence[TaskToken], at: int) -> bool:
    """Whether a number is a name: ``order 302`` and ``issue 12`` are; ``5 shirts`` is a quantity."""
    before = rest[at - 1] if at else None
    return (
        before is not None
        and not before.name
        and before.low.isalpha()
        and before.low not in non_object_words()
    )


def _count(rest: list[TaskToken], objects: tuple[str, ...]) -> int:
    """Return how often a change is asked for: once, as often as names or a number say, 0 for all."""
    words = [token.low for token in rest if not token.name]
    if any(word in word_set("all") - {"any", "both"} for word in words):
        return 0
    head = words[:4]
    numbers = number_words()
    given = [numbers[word] for word in head if word in numbers and word != "one"]
    given += [int(word) for word in head[:3] if word.isdecimal() and 0 < int(word) <= 100 and not objects]
    if given:
        return max(*given, len(objects), 1)
    if len(objects) > 1:
        return len(objects)
    return 0 if not objects and (_is_plural(words) or _is_plural(_owned(words))) else 1


def _owned(words: list[str]) -> list[str]:
    """Return the words after ``of``: ``the price of … leggings``."""
    return words[words.index("of") + 1 :] if "of" in words else []


def _is_plural(words: list[str]) -> bool:
    """Whether the head noun, before any preposition, is a plural: ``the positive reviews``."""
    head: list[str] = []
    for word in words:
        if word in word_set("where") | word_set("whose") | word_set("toward") or word in _SPLITTERS:
            break
        head.append(word)
    last = next((word for word in reversed(head) if word.isalpha() and word not in word_set("stop")), "")
    return (
        len(last) > 3
        and last.endswith("s")
        and not last.endswith(("ss", "us", "is", "news", "settings", "status"))
    )


def _picks(rest: list[TaskToken]) -> bool:
    words = [token.low for token in rest[:8] if not token.name]
    superlative = any(
        len(word) > 5 and word.endswith("est") and word not in ("request", "latest") for word in words
    )
    return superlative or any(word in word_set("positions") | word_set("one") | {"latest"} for word in words)


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
