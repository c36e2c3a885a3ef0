"""Roles of the names of a clause: object, owner, place or value, told by the preposition before each.  Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from app.engine.agent.write_gate.vocabulary import TaskToken, non_object_words, word_set

Region = Literal["object", "whose", "where", "toward"]
SPLITTERS = frozenset({"and", "then", "or", "but", ","})


def names_by_role(rest: Sequence[TaskToken]) -> dict[Region, list[str]]:
    """Return names by their role, which the preposition before a name decides."""
    found: dict[Region, list[str]] = {"object": [], "whose": [], "where": [], "toward": []}
    region: Region = "object"
    for at, token in enumerate(rest):
        if at == 0 and token.low == "to":
            continue  # ``Reply to "Budget"``
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


def _may_be_a_person(token: TaskToken, after: Sequence[TaskToken]) -> bool:
    """Whether a word after ``by`` is a user name in small letters; ``by the …``, ``by clicking``, ``by card``
    name nobody.
    """
    if (
        not token.low.isalpha()
        or token.low in word_set("stop") | word_set("means")
        or token.low.endswith("ing")
    ):
        return False
    return not after or after[0].low in SPLITTERS | word_set("where") | word_set("toward") | word_set("whose")


def numbers_a_thing(rest: Sequence[TaskToken], at: int) -> bool:
    """Whether a number is a name: ``order 302`` and ``issue 12`` are; ``5 shirts`` is a quantity."""
    before = rest[at - 1] if at else None
    after = rest[at + 1].low if at + 1 < len(rest) else ""
    quantity = (
        after in word_set("dates")
        or after == "percent"
        or (after.isalpha() and after.endswith("s") and after not in non_object_words())
    )
    return (
        before is not None
        and not quantity
        and not before.name
        and before.low.isalpha()
        and before.low not in non_object_words()
    )
