"""Warnings of tips: what a statement speaks of, what a negation or a danger is about."""

from __future__ import annotations

import re

from kb.compiler import phrases
from kb.compiler.clauses import is_named
from kb.compiler.text import MARK, MarkedText
from kb.compiler.verbs import PATH, ClauseSteps, imperative

DANGER = re.compile(
    r"(?:the\s+)?(?:\w+\s+)?\ue000q\d+\ue001[^,;\ue000]{0,40}?\s(?:deletes?|removes?|empties|erases?|discards?|cancels?|"
    r"destroys?|hides?|closes?|resets?|overwrites?|acts?\s+without)\b",
    re.IGNORECASE,
)
"""A statement that what it names does harm."""

SUBJECT_NAME = re.compile(
    r"(?:[Tt]he\s+)?(?:[a-z]+\s+)?(?P<name>\ue000[qa]\d+\ue001|(?!(?:The|An?|It|This|That|They|There|These|Those|You|If|When|In|On|At|All|One|"
    r"Some|Its?|So|But|And|Or|My|Your|Our|Do|Never|Not|Otherwise|Without|Only|Each|Every|What|Both|For|With)\b)[A-Z][\w-]*(?:\s+[A-Z][\w-]*){0,3}"
    r"(?:\s+and\s+[A-Z][\w-]*)?)(?=\s+(?:is|are|must|should|can|may|would|[a-z]+s|appear|stand|delete|remove|beside|next|in|at|on|under|below|itself)\b|,\s)"
)
"""What a statement is about."""

HARM = re.compile(
    r"\b(?:delet|remov|empt(?:y|ies)|eras|discard|destroy|overwrit|publish|send|subscrib|reset|cancel|clos)\w*|\b(?:opens?|changes?|acts?|looks?\s+alike|"
    r"is\s+never|are\s+never|without|wrong|not\s+(?:what|for|the))\b",
    re.IGNORECASE,
)
"""Words of a reason by which what it speaks of is not to be touched."""


def things_of(about: str, source: MarkedText) -> list[str]:
    """The names of a subject: one, or those joined by "and"."""
    return named(about, source) or [one for one in about.split(" and ") if one]


def named(text: str, source: MarkedText) -> list[str]:
    """Quoted names and addresses in a text."""
    found: list[str] = []
    for mark in MARK.finditer(text):
        thing = source.get(mark)
        found.append(phrases.address(thing) if mark[1] == "a" else thing)
    return found


_SUBJECT = re.compile(
    r"^(?!you\b|it\b|this\b|that\b|they\b)(.{1,80}?)\s+(?:must|should|may|can|is|are|does|do)(?:\s+not|n['’]t)\s",
    re.IGNORECASE,
)
_NEGATION = re.compile(
    r"^.{0,200}?\b(?:do not|don['’]?t|never|avoid|not|(?:stay|keep)\s+(?:away|off|clear)(?:\s+(?:from|of))?)\b\s*",
    re.IGNORECASE,
)


def forbidden(text: str, source: MarkedText, reader: ClauseSteps) -> list[str]:
    """The things a warning is about."""
    text = re.split(r",\s+(?:but|and|so)\s+(?=\ue000)", text)[-1]
    subject = _SUBJECT.match(text)
    if subject is not None and (about := SUBJECT_NAME.match(text)) is not None:
        return things_of(about["name"], source)
    negated = subject[1] if subject is not None else _NEGATION.sub("", text, count=1)
    found = imperative(negated)
    rest = (
        found.rest
        if found is not None
        else re.sub(r"^(?!the\b|an?\b)\w+\s+(?=(?:the|an?|\ue000))", "", negated)
    )
    if (path := PATH.search(rest)) is not None:
        return [source.restore(path[0])]
    rest = re.sub(r"^(?:on|to|through|the\s+use\s+of|with)\s+", "", rest)
    if re.match(r"(?:it|this|that|them|there)\b", rest, re.IGNORECASE):
        return named(text, source)
    one = (
        reader.control(
            re.split(r"\s+(?:for|because|since|as|which|that|until|in order|itself)\b|,|:\s", rest)[0]
        )
        if found or is_named(rest) or re.match(r"(?:the|a)\s", rest, re.IGNORECASE)
        else None
    )
    things = named(rest, source) if is_named(rest) else []
    if one is not None and one.name and not is_named(rest.split(one.near)[0] if one.near else rest):
        return [one.name]
    if one is not None and one.name:
        return [phrases.address(one.name) if one.name.startswith("/") else one.name]
    return things or named(text, source)
