"""Compiles a tip's text into steps, without a model.

Only ``do`` (or the whole text of a tip that has no ``do``) makes steps; ``when``, ``before`` and ``why`` never do.  A
text is cut into sentences and clauses (``clauses``), each of one kind:

=============  ================================================  ==================================================
clause         sign                                              result
=============  ================================================  ==================================================
instruction    begins with an imperative                         its steps (``verbs``)
continuation   no verb, "then" or "and" and a name               steps of the verb before
place          a menu path, or "... at /address"                 a press for each part, or an opening
warning        a negation, "instead of", "X deletes", "avoid"    names for ``never``; "or" carries it on
condition      "if", "when", "once"                              ``when`` of the next step
reason         "because", "which", after a colon                 names of ``why`` go to ``never``
example        "e.g.", "such as", "Example:"                     nothing; an address is a template if there is no other
alternative    "or", "either", "(a)", "you can also", "if not"   another way to the steps before
question       ends with "?"                                     nothing
title          before a colon, without a name                    nothing
check          "check that", "make sure that"                    nothing
=============  ================================================  ==================================================

Order: "but first A", "before B, A" and "after A, B" are put in the order of acting.  A landmark is kept apart from the
control (``phrases``); "beside it" is the thing named just before.  What the task supplies becomes ``{placeholder}``.
The same text gives the same steps on every machine.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from kb.compiler import phrases
from kb.compiler.clauses import ELSE, TipClause, clauses, is_named
from kb.compiler.text import MARK, ClauseKind, MarkedText, marked, sentences, without_brackets
from kb.compiler.verbs import PATH, ClauseSteps, imperative, stripped
from kb.procedure import STEP_LIMIT, Choice, Entry, Procedure, ProcedureOrigin, ProcedureStep, StepKind
from kb.tip import TipDraft

VERSION = 1
"""Counts changes of the rules; a procedure of an older version is compiled again, a frozen one never."""

_LONGEST = 6_000
"""Characters that are compiled; a tip is a sentence or a few."""

_LONGEST_SENTENCE = 900
"""Characters of a sentence that is read; a longer one is no instruction, and slow to cut."""

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
_LETTERED = re.compile(r"(?:\bor\s+)?(?<![\w\ue001])\(?([a-c])\)\s+")
_POINTS_BACK = re.compile(r"\b(?:it|this|that|them|these|those)\b", re.IGNORECASE)
_AT_ADDRESS = re.compile(
    r"(?:^|\b(?:at|under|via|through|is|are)\s+|:\s+)\ue000a\d+\ue001\s*$", re.IGNORECASE
)
"""A clause that only says where something is."""

_OBJECT = re.compile(
    r"(?:(?:over|on)\s+)?(?:(?:the|an?|your)\s+"
    r"|(?:link|button|tab|menu|icon|entry|option|field|box|column|row|heading)\s+(?=\ue000)|(?=\ue000))",
    re.IGNORECASE,
)
"""The object of a clause without a verb, which goes on with the verb before."""

_DANGER = re.compile(
    r"(?:the\s+)?(?:\w+\s+)?\ue000q\d+\ue001[^,;\ue000]{0,40}?\s(?:deletes?|removes?|empties|erases?|discards?|cancels?|"
    r"destroys?|hides?|closes?|resets?|overwrites?|acts?\s+without)\b",
    re.IGNORECASE,
)
"""A statement that what it names does harm."""

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
        lettered = _LETTERED.sub(lambda found: "either " if found[1] == "a" else "or ", source.text)
        asked: list[str] = []
        """Names of the question before: "... Delete? No!"."""
        for sentence in sentences(lettered):
            if len(sentence) > _LONGEST_SENTENCE:
                self.unread.append(source.restore(sentence)[:200])
                continue
            if _CHECK.match(stripped(sentence)):
                continue
            if sentence.endswith("?"):
                asked = named(sentence, source)
                continue
            if re.match(r"no\b", sentence, re.IGNORECASE):
                self.never += asked
            asked = []
            made = _Sentence(self, source, reader).read(sentence)
            if not made:
                continue
            if (_ALSO.match(sentence) or _SAME.match(sentence)) and self.entries:
                self._add_way(made, self.group)
            elif ELSE.match(sentence) and self.entries:
                conditional = any(step.when for entry in self.entries[self.group :] for step in _flat(entry))
                other = [replace(step, when="") for entry in made for step in _flat(entry)]
                self._add_way(other, self._condition_start() if conditional else len(self.entries) - 1)
            else:
                self.group = len(self.entries)
                self.entries += made

    def _condition_start(self) -> int:
        """The first step of the last sentence that is under a condition."""
        places = range(self.group, len(self.entries))
        return next(place for place in places if any(step.when for step in _flat(self.entries[place])))

    def _add_way(self, made: Sequence[Entry], start: int) -> None:
        """Make the steps another way to what the steps from ``start`` on do."""
        way = tuple(step for entry in made for step in _flat(entry))
        last = self.entries[-1]
        if isinstance(last, Choice) and start >= len(self.entries) - 1:
            self.entries[-1] = Choice(ways=(*last.ways, way))
        else:
            first = tuple(step for entry in self.entries[start:] for step in _flat(entry))
            self.entries[start:] = [Choice(ways=(first, way))]

    group: int = 0
    """The place of the first step of the last sentence that had any."""

    def warn(self, text: str, *, only_forbidden: bool) -> None:
        """Note the things a part names that must not be acted on."""
        source = marked(text)
        reader = ClauseSteps(source, self.known)
        for sentence in sentences(source.text):
            if len(sentence) > _LONGEST_SENTENCE:
                self.never += named(sentence, source)
                continue
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
        self._verb = ""
        self._spoken: list[str] = []
        """Names of statements, which a warning may point back to ("so avoid it")."""

    def read(self, sentence: str) -> list[Entry]:
        sentence = self._take_remarks(sentence)
        for clause in clauses(sentence):
            self._clause(clause)
        self._close()
        return [*self._entries, *self._later]

    def _take_remarks(self, sentence: str) -> str:
        """The sentence with remarks in brackets taken out: warnings noted, an address that belongs to the verb kept."""
        bare, remarks = without_brackets(sentence)
        for remark in remarks:
            self._spoken += named(remark, self._source)
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
            things = forbidden(clause.text, self._source, self._reader)
            if not things and _POINTS_BACK.search(clause.text):
                things = self._spoken[-1:]
            self._all.never += things
            return
        if clause.kind is not ClauseKind.ACTION:
            if clause.kind is ClauseKind.REASON and not clause.text.lower().startswith(
                ("if", "when", "once", "unless")
            ):
                self._all.never += named(clause.text, self._source)
            return
        if clause.either and self._either < 0:
            self._either = len(self._entries)
        read = self._steps(clause)
        steps = self._placed(read)
        if read and not steps:  # "press it", and nothing was named before
            self._all.unread.append(self._source.restore(clause.text))
        if not steps:
            self._spoken += named(clause.text, self._source)
            if (subject := _DANGER.match(clause.text)) is not None:
                self._all.never += named(subject[0], self._source)
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
            self._verb = found.kind
            made = self._reader.steps(found)
            if not made and found.rest and not found.vague:
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
            self._verb = "press"
            return self._reader.path(bare)
        if _AT_ADDRESS.search(bare) and len(MARK.findall(bare)) == 1:
            return [
                ProcedureStep(kind=StepKind.OPEN, target=phrases.address(one))
                for one in named(bare, self._source)
            ]
        if bare != text.strip() and _OBJECT.match(bare) and self._verb:
            return self._reader.continued(self._verb, bare, then="then" in text[: len(text) - len(bare)])
        return []

    def _placed(self, steps: list[ProcedureStep]) -> list[ProcedureStep]:
        """The steps with "beside it" resolved: it is the thing named just before."""
        before = self._entries[-1] if self._entries else self._all.entries[-1] if self._all.entries else None
        placed: list[ProcedureStep] = []
        for step in steps:
            last = placed[-1] if placed else list(_flat(before))[-1] if before is not None else None
            if step.target == phrases.PREVIOUS:
                if last is None or last.kind not in (StepKind.WAIT, StepKind.HOVER):
                    continue
                step = replace(step, target=last.target)
            if step.near == phrases.PREVIOUS:
                step = replace(step, near=last.target if last else "", where=step.where if last else "")
            placed.append(step)
        return placed


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
    subject = _SUBJECT.match(text)
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
