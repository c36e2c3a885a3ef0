"""Compiles a tip's text into steps, without a model.

Only ``do`` (or the whole text of a tip that has no ``do``) makes steps; ``when``, ``before`` and ``why`` never do.  A
clause is acted on if it begins with an imperative that is not negated.  A warning, a reason and an example name only
what must not be acted on.  A landmark is kept apart from the control, the order of acting is kept ("press B, but first
A"), and alternatives stay alternatives.  The same text gives the same steps on every machine.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import lru_cache

from kb.compiler import phrases
from kb.compiler.clauses import TipClause, clauses, is_named
from kb.compiler.text import MARK, ClauseKind, MarkedText, marked, sentences, without_brackets
from kb.compiler.verbs import PATH, ClauseSteps, imperative, stripped
from kb.procedure import STEP_LIMIT, Choice, Entry, Procedure, ProcedureOrigin, ProcedureStep, StepKind
from kb.tip import TipDraft

VERSION = 1
"""Counts changes of the rules; a procedure of an older version is compiled again, a frozen one never."""

_LONGEST = 6_000
"""Characters that are compiled; a tip is a sentence or a few."""

_SAME = re.compile(
    r"^(?:(?:and|or)\s+)?\ue000a\d+\ue001\s+(?:leads|goes|brings|does|gives|shows|opens|has|works)\b",
    re.IGNORECASE,
)
_ALSO = re.compile(r"^(?:alternatively|another way|you can also|it is also|the same|or)\b", re.IGNORECASE)
_PLACE = re.compile(r"\b(?:under|at|in|via|through|from|is|are)\s+$", re.IGNORECASE)
_TELLS = re.compile(
    r"^the\s+(?:column|field|line|row|tab|box)\s+(?P<name>\ue000q\d+\ue001|[A-Z][\w ]*?)\s+(?:tells|"
    r"shows|gives|has|holds|lists|says|counts)\b",
    re.IGNORECASE,
)
_LETTERED = re.compile(r"\((?=[ab]\))|(?<=\s)\(?[ab]\)\s+")
_CHECK = re.compile(r"^(?:check|make sure|ensure|verify|see)\s+(?:that|whether|if)\b", re.IGNORECASE)


def procedure_of(draft: TipDraft) -> Procedure:
    """The tip's steps: the stored ones, or compiled where there are none or an older compiler made them."""
    stored = draft.procedure
    if stored is not None and (stored.origin is not ProcedureOrigin.COMPILER or stored.compiler >= VERSION):
        return stored
    return compiled(draft)


def compiled(draft: TipDraft) -> Procedure:
    """Compile the tip's text."""
    return compile_text(draft.do or draft.text, draft.when, draft.before, draft.why)


@lru_cache(maxsize=4_096)
def compile_text(do: str, when: str = "", before: str = "", why: str = "") -> Procedure:
    """Compile the parts of a tip."""
    known = frozenset(re.findall(r"[a-z]{3,}", when.lower()))
    reading = _Reading(known)
    reading.read(do[:_LONGEST])
    reading.warn(before[:_LONGEST], only_forbidden=True)
    reading.warn(why[:_LONGEST], only_forbidden=False)
    entries = _limited(reading.entries)
    acted = {step.target.casefold() for entry in entries for step in _flat(entry)}
    never = tuple(one for one in dict.fromkeys(reading.never) if one and one.casefold() not in acted)
    return Procedure(
        entries=entries,
        never=never[:STEP_LIMIT],
        unread=tuple(dict.fromkeys(reading.unread))[:STEP_LIMIT],
        origin=ProcedureOrigin.COMPILER,
        compiler=VERSION,
    )


def _flat(entry: Entry) -> Iterable[ProcedureStep]:
    return (entry,) if isinstance(entry, ProcedureStep) else (step for way in entry.ways for step in way)


def _limited(entries: list[Entry]) -> tuple[Entry, ...]:
    kept: list[Entry] = []
    count = 0
    for entry in entries:
        count += len(list(_flat(entry)))
        if count > STEP_LIMIT:
            break
        kept.append(entry)
    return tuple(kept)


@dataclass(slots=True)
class _Reading:
    """The steps and warnings found so far."""

    known: frozenset[str]
    entries: list[Entry] = field(default_factory=list[Entry])
    never: list[str] = field(default_factory=list[str])
    unread: list[str] = field(default_factory=list[str])

    def read(self, text: str) -> None:
        source = marked(text)
        reader = ClauseSteps(source, self.known)
        for sentence in sentences(source.text):
            if _CHECK.match(stripped(sentence)):
                continue
            made = _Sentence(self, source, reader).read(sentence)
            if not made:
                continue
            if (_ALSO.match(sentence) or _SAME.match(sentence)) and self.entries:
                self._add_way(made)
            else:
                self.entries += made

    def _add_way(self, made: list[Entry]) -> None:
        way = tuple(step for entry in made for step in _flat(entry))
        last = self.entries[-1]
        if isinstance(last, Choice):
            self.entries[-1] = Choice(ways=(*last.ways, way))
        else:
            start = self.sentence_start
            first = tuple(step for entry in self.entries[start:] for step in _flat(entry))
            self.entries[start:] = [Choice(ways=(first, way))]

    sentence_start: int = 0

    def warn(self, text: str, *, only_forbidden: bool) -> None:
        """Note the things a part names that must not be acted on."""
        source = marked(text)
        reader = ClauseSteps(source, self.known)
        for sentence in sentences(source.text):
            bare, remarks = without_brackets(sentence)
            for clause in clauses(bare):
                if clause.kind is ClauseKind.WARNING:
                    self.never += forbidden(clause.text, source, reader)
                elif not only_forbidden:
                    self.never += named(clause.text, source)
            if not only_forbidden:
                for remark in remarks:
                    self.never += named(remark, source)
                    if is_named(remark) and (
                        subject := re.match(r"^([A-Z]\w*(?:\s+[A-Z]\w*)*)\s*\(", sentence)
                    ):
                        self.never.append(subject[1])


class _Sentence:
    """Reads one sentence."""

    def __init__(self, reading: _Reading, source: MarkedText, reader: ClauseSteps) -> None:
        self._all, self._source, self._reader = reading, source, reader
        self._entries: list[Entry] = []
        self._later: list[Entry] = []
        self._either = -1
        self._ways: list[tuple[ProcedureStep, ...]] = []

    def read(self, sentence: str) -> list[Entry]:
        self._all.sentence_start = len(self._all.entries)
        sentence = self._take_remarks(sentence)
        for clause in clauses(sentence):
            self._clause(clause)
        self._close()
        return [*self._entries, *self._later]

    def _take_remarks(self, sentence: str) -> str:
        """The sentence with remarks in brackets taken out: warnings noted, an address that belongs to the verb kept."""
        bare, remarks = without_brackets(sentence)
        for remark in remarks:
            if re.match(r"(?:eg|ie|for example|such as)\b", remark, re.IGNORECASE) or not is_named(remark):
                if re.match(r"(?:but\s+|and\s+)?(?:not|never|don)", remark, re.IGNORECASE):
                    self._all.never += forbidden(remark, self._source, self._reader)
                continue
            if re.match(r"(?:but\s+|and\s+)?(?:not|never|don)", remark, re.IGNORECASE):
                self._all.never += forbidden(remark, self._source, self._reader)
            elif re.fullmatch(r"\s*\ue000a\d+\ue001\s*", remark) and not re.search("\ue000a", bare):
                return sentence.replace(f"({remark})", remark)
        return bare

    def _clause(self, clause: TipClause) -> None:
        if clause.kind is ClauseKind.WARNING:
            self._all.never += forbidden(clause.text, self._source, self._reader)
            return
        if clause.kind is not ClauseKind.ACTION:
            if clause.kind is ClauseKind.REASON and not clause.text.lower().startswith(
                ("if", "when", "once", "unless")
            ):
                self._all.never += named(clause.text, self._source)
            return
        if clause.either and self._either < 0:
            self._either = len(self._entries)
        steps = self._steps(clause)
        if not steps:
            return
        if clause.when:
            steps = [replace(step, when=self._source.restore(clause.when)[:200]) for step in steps]
        if clause.later:
            self._later += steps
        elif clause.earlier and self._entries:
            self._entries[-1:-1] = steps
        elif clause.other and self._entries:
            self._other(clause, steps)
        else:
            self._entries += steps

    def _other(self, clause: TipClause, steps: list[ProcedureStep]) -> None:
        if self._either >= 0:
            way = tuple(step for entry in self._entries[self._either :] for step in _flat(entry))
            self._ways.append(way)
            self._entries[self._either :] = steps
            return
        last = self._entries[-1]
        first = last.ways if isinstance(last, Choice) else (tuple(_flat(last)),)
        near = steps[0]
        if re.search(r"\b(?:below|above|beside|next to)\s+(?:it|that)$", clause.text) and isinstance(
            last, ProcedureStep
        ):
            where = re.search(r"(below|above|beside|next to)\s+\w+$", clause.text)
            near = replace(near, near=last.target, where=where[1] if where else "")
            steps = [near, *steps[1:]]
        self._entries[-1] = Choice(ways=(*first, tuple(steps)))

    def _close(self) -> None:
        if self._either >= 0 and self._ways:
            way = tuple(step for entry in self._entries[self._either :] for step in _flat(entry))
            self._entries[self._either :] = [Choice(ways=(*self._ways, way))] if way else []

    def _steps(self, clause: TipClause) -> list[ProcedureStep]:
        text = clause.text
        if (tells := _TELLS.match(text)) is not None:
            return [ProcedureStep(kind=StepKind.READ, target=self._source.restore(tells["name"]))]
        if (found := imperative(text)) is not None:
            made = self._reader.steps(found)
            if not made and found.rest and is_named(found.rest):
                self._all.unread.append(self._source.restore(text))
            return made
        if _SAME.match(text):
            return [
                ProcedureStep(kind=StepKind.OPEN, target=phrases.address(one))
                for one in named(text, self._source)[:1]
            ]
        bare = stripped(text)
        if (path := PATH.search(bare)) is not None and (
            path.start() == 0 or _PLACE.search(bare[: path.start()])
        ):
            return self._reader.path(bare)
        if (
            bare != text.strip()
            and MARK.match(re.sub(r"^(?:the|a)\s+(?:\w+\s+)?", "", bare))
            and self._entries
        ):
            return self._reader.object(bare)
        if clause.either or clause.other:
            return []
        return []


def named(text: str, source: MarkedText) -> list[str]:
    """Quoted names and addresses in a text."""
    found: list[str] = []
    for mark in MARK.finditer(text):
        thing = source.get(mark)
        found.append(phrases.address(thing) if mark[1] == "a" else thing)
    return found


def forbidden(text: str, source: MarkedText, reader: ClauseSteps) -> list[str]:
    """The things a warning is about."""
    if (path := PATH.search(text)) is not None:
        return [source.restore(path[0])]
    negated = re.sub(
        r"^.*?\b(?:do not|don['’]?t|never|avoid|not)\b\s*", "", text, count=1, flags=re.IGNORECASE
    )
    found = imperative(negated)
    rest = found.rest if found is not None else negated
    rest = re.sub(r"^(?:on|to|through|the\s+use\s+of|with)\s+", "", rest)
    if re.match(r"(?:it|this|that|them|there)\b", rest, re.IGNORECASE):
        return named(text, source)
    one = (
        reader.control(re.split(r"\s+(?:for|because|since|as|which|that|until|in order)\b|,", rest)[0])
        if found or is_named(rest) or re.match(r"(?:the|a)\s", rest)
        else None
    )
    things = named(rest, source) if is_named(rest) else []
    if one is not None and one.name and not is_named(rest.split(one.near)[0] if one.near else rest):
        return [one.name]
    if one is not None and one.name:
        return [phrases.address(one.name) if one.name.startswith("/") else one.name]
    return things or named(text, source)
