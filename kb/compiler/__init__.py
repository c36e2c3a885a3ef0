"""Compiles a tip's text into steps, without a model.

Only ``do`` (or the whole text of a tip that has no ``do``) makes steps; ``when``, ``before`` and ``why`` never do.  A
text is cut into sentences and clauses (``clauses``), each of one kind:

=============  ================================================  ==================================================
clause         sign                                              result
=============  ================================================  ==================================================
instruction    begins with an imperative                         its steps (``verbs``)
continuation   no verb, "then" or "and" and a name               steps of the verb before
list           "A, B and C" after a verb                         the verb's step for each
place          a menu path, "... at /address", "X is at the top" a press for each part, or an opening
warning        a negation, "instead of", "X deletes", "avoid"    names for ``never``; "or" carries it on
condition      "if", "unless"                                    ``when`` of every step of its sentence
time           "when", "once", "until"                           ``when`` of the next step
done before    "after you ...", "once you have ..."              its steps
reason         "because", "which", after a colon                 names of ``why`` go to ``never``
example        "e.g.", "such as", "Example:"                     nothing; an address is a template if there is no other
alternative    "or", "either", "(a)", "you can also", "if not"   another way to the steps before
question       ends with "?"                                     nothing
title          before a colon, without a name                    nothing
check          "check that", "make sure that"                    nothing
=============  ================================================  ==================================================

Order: "but first A", "before B, A" and "after A, B" are put in the order of acting.  A landmark is kept apart from the
control (``phrases``); "beside it" is the thing named just before, as is "press it" and "type it there".  A clause that
"and" joins to an "or" with a verb of its own goes on with that way.  "Set" and "change" type into a text field, choose
elsewhere; "replace X in Y" types into Y.  What the task supplies becomes ``{placeholder}``.
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
from kb.compiler.warned import DANGER, HARM, SUBJECT_NAME, forbidden, named, things_of
from kb.compiler.words import VERB, plain
from kb.procedure import STEP_LIMIT, Choice, Entry, Procedure, ProcedureOrigin, ProcedureStep, StepKind
from kb.tip import TipDraft

VERSION = 2
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
    r"(?:^|\b(?:at|under|via|through|is|are|in|stands?\s+at)\s+|:\s+)\ue000a\d+\ue001\s*$", re.IGNORECASE
)
"""A clause that only says where something is."""

_OBJECT = re.compile(
    r"(?:(?:over|on)\s+)?(?:(?:the|an?|your)\s+|(?-i:[A-Z])"
    r"|(?:link|button|tab|menu|icon|entry|option|field|box|column|row|heading)\s+(?=\ue000)|(?=\ue000))",
    re.IGNORECASE,
)
"""The object of a clause without a verb, which goes on with the verb before."""

_FINITE = re.compile(r"\s(?:is|are|was|were|will|would|has|have|means|leads)(?:n['’]t)?\s")
"""A verb of a statement, which does not go on with an instruction."""

_TOPIC = re.compile(r"(?:an?|the)\s+((?:new\s+)?[a-z]+)\s+(?:is|are|has|must|should|needs?)\s")
"""What a condition is about ("a message must be added")."""

_SAYS = re.compile(r"\b(?:says|reads|shows|is called)\s+([A-Z][\w-]*(?:\s+[A-Z][\w-]*)*)$")
"""A control named by what it says ("when it says Unsubscribe")."""

_CORNER_ONLY = re.compile(
    r"(?:the\s+)?(?:\w+\s+)?(?P<name>\ue000q\d+\ue001)(?:\s+\w+)?\s+(?:is|are|stands?|sits?|hides?)\s+(?:found\s+)?"
    r"(?:at|in|on)\s+the\s+(?:very\s+)?(?:top|bottom|upper|lower|left|right|head(?:er)?|foot(?:er)?|menu|"
    r"side ?bar|tool ?bar)\b[\w\s-]*\W*$",
    re.IGNORECASE,
)
"""A statement of the place of a control."""

_ADDRESS_LIST = re.compile(
    r"[^,\ue000]+\s(?:is|are|stands?|lives?|sits?)\s+(?:at|under)\s+\ue000a\d+\ue001(?:\s*,?\s*(?:and\s+)?[^,\ue000]+\s+(?:at|under)\s+\ue000a\d+\ue001)+\W*$",
    re.IGNORECASE,
)
"""``A is at /a, B at /b``: one way each."""

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
    words = re.findall(r"[a-z]{3,}", when.lower())
    known = frozenset([*words, *(word[:-1] for word in words if word.endswith("s"))])
    topic = _TOPIC.match(when)
    reading = _Reading(known, topic[1] if topic else "")
    reading.read(do[:_LONGEST])
    reading.warn(before[:_LONGEST], only_forbidden=True)
    reading.warn(why[:_LONGEST], only_forbidden=False)
    entries = _limited([entry for entry in reading.entries if not reading.takes_back(entry)])
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
    topic: str = ""
    entries: list[Entry] = field(default_factory=list[Entry])
    never: list[str] = field(default_factory=list[str])
    unread: list[str] = field(default_factory=list[str])
    stated: set[str] = field(default_factory=set[str])
    """Targets of steps that come from a statement of a place and not from an instruction."""

    forbidden: set[str] = field(default_factory=set[str])

    def takes_back(self, entry: Entry) -> bool:
        """Whether the step only says where a thing is that the tip forbids."""
        return isinstance(entry, ProcedureStep) and entry.target in self.stated & self.forbidden

    def read(self, text: str) -> None:
        source = marked(text)
        reader = ClauseSteps(source, self.known, self.topic)
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
            reading = _Sentence(self, source, reader)
            made = reading.read(sentence)
            self.spoken = reading.spoken if not made else []
            subject = SUBJECT_NAME.match(sentence) if not made else None
            self.about = subject["name"] if subject else ""
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

    spoken: list[str] = field(default_factory=list[str])
    """Names of the sentence before, if it had no steps."""

    about: str = ""
    """The subject of the statement before."""

    group: int = 0
    """The place of the first step of the last sentence that had any."""

    def warn(self, text: str, *, only_forbidden: bool) -> None:
        """Note the things a part names that must not be acted on."""
        source = marked(text)
        reader = ClauseSteps(source, self.known)
        about = ""
        """The subject of the last sentence, which a warning may point back to."""
        for sentence in sentences(source.text):
            if len(sentence) > _LONGEST_SENTENCE:
                self.never += named(sentence, source)
                continue
            bare, remarks = without_brackets(sentence)
            if (subject := SUBJECT_NAME.match(bare)) is not None:
                about = subject["name"]
                if not only_forbidden and HARM.search(bare, subject.end()):
                    self.never += things_of(about, source)
            for clause in clauses(bare):
                if clause.kind is ClauseKind.WARNING:
                    things = forbidden(clause.text, source, reader)
                    back = not things and _POINTS_BACK.search(clause.text)
                    things = things_of(about, source) if back else things
                    self.never += things
                    self.forbidden |= set(things)
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
        self._said = 0
        """The place of the first step of the last clause."""
        self._way_open = False
        """Whether a clause joined by "and" goes on with the last way."""
        self.spoken: list[str] = []
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
            self.spoken += named(remark, self._source)
            if re.match(r"(?:eg|ie|for example|such as)\b", remark, re.IGNORECASE) or not is_named(remark):
                if re.match(r"(?:but\s+|and\s+)?(?:not|never|don)", remark, re.IGNORECASE):
                    self._all.never += forbidden(remark, self._source, self._reader)
                continue
            if re.match(r"(?:but\s+|and\s+)?(?:not|never|don)", remark, re.IGNORECASE):
                self._all.never += forbidden(remark, self._source, self._reader)
            elif re.match(rf"(?:or\s+)?(?:{VERB})\s", remark):
                return sentence.replace(f" ({remark})", f", {remark}")
            elif re.fullmatch(r"\s*\ue000a\d+\ue001\s*", remark) and not re.search("\ue000a", bare):
                return sentence.replace(f"({remark})", remark)
        return bare

    def _clause(self, clause: TipClause) -> None:
        if clause.kind is ClauseKind.WARNING:
            things = forbidden(clause.text, self._source, self._reader)
            if not things and (_POINTS_BACK.search(clause.text) or "hands off" in clause.text.lower()):
                many = re.search(r"\b(?:them|these|those|both)\b", clause.text)
                things = self.spoken[-2 if many else -1 :] or things_of(self._all.about, self._source)
            self._all.never += things
            self._all.forbidden |= set(things)
            return
        if clause.kind is not ClauseKind.ACTION:
            self.spoken += _SAYS.findall(clause.text)
            if clause.kind is ClauseKind.REASON and not clause.text.lower().startswith(
                ("if", "when", "once", "unless")
            ):
                self._all.never += named(clause.text, self._source)
            return
        if clause.either and self._either < 0:
            self._either = len(self._entries)
        if _ADDRESS_LIST.match(clause.text) and not self._entries:
            steps = [
                ProcedureStep(kind=StepKind.OPEN, target=one) for one in named(clause.text, self._source)
            ]
            self._entries.append(Choice(ways=tuple((step,) for step in steps)))
            return
        read = self._steps(clause)
        steps = self._placed(read)
        if imperative(clause.text) is None:
            self._all.stated |= {step.target for step in steps}
        if read and not steps:  # "press it", and nothing was named before
            self._all.unread.append(self._source.restore(clause.text))
        if not steps:
            about = SUBJECT_NAME.match(clause.text)
            self.spoken += (
                things_of(about["name"], self._source) if about else named(clause.text, self._source)
            )
            if (subject := DANGER.match(clause.text)) is not None:
                self._all.never += named(subject[0], self._source)
            return
        if clause.when:
            steps = [
                replace(step, when=self._source.restore(clause.when).strip(" .")[:200]) for step in steps
            ]
        if clause.later:
            self._later += steps
        elif clause.earlier and self._entries:
            self._entries[-1:-1] = steps
        elif clause.other and self._entries:
            self._other(clause, steps)
        elif self._way_open and clause.joined and isinstance(last := self._entries[-1], Choice):
            self._entries[-1] = Choice(ways=(*last.ways[:-1], (*last.ways[-1], *steps)))
        elif steps:
            self._way_open = False
            self._said = len(self._entries)
            self._entries += steps

    def _other(self, clause: TipClause, steps: list[ProcedureStep]) -> None:
        if self._either >= 0:
            way = tuple(step for entry in self._entries[self._either :] for step in _flat(entry))
            self._ways.append(way)
            self._entries[self._either :] = steps
            return
        last = self._entries[-1]
        way = tuple(steps)
        self._way_open = imperative(clause.text) is not None
        if isinstance(last, Choice):
            self._entries[-1] = Choice(ways=(*last.ways, way))
            return
        opened = steps[0].kind is StepKind.OPEN and next(iter(_flat(last))).kind is not StepKind.OPEN
        start = 0 if opened else min(self._said, len(self._entries) - 1)
        first = tuple(step for entry in self._entries[start:] for step in _flat(entry))
        self._entries[start:] = [Choice(ways=(first, way))]

    def _close(self) -> None:
        if self._either >= 0 and self._ways:
            way = tuple(step for entry in self._entries[self._either :] for step in _flat(entry))
            self._entries[self._either :] = [Choice(ways=(*self._ways, way))] if way else []

    def _steps(self, clause: TipClause) -> list[ProcedureStep]:
        text = clause.text
        if (tells := _TELLS.match(text)) is not None:
            return [ProcedureStep(kind=StepKind.READ, target=self._source.restore(tells["name"]))]
        text = plain(text)
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
        if (corner := _CORNER_ONLY.match(bare)) is not None:
            return [ProcedureStep(kind=StepKind.PRESS, target=self._source.restore(corner["name"]))]
        if _AT_ADDRESS.search(bare) and len(MARK.findall(bare)) == 1:
            return [
                ProcedureStep(kind=StepKind.OPEN, target=phrases.address(one))
                for one in named(bare, self._source)
            ]
        if bare != text.strip(" ,.:;") and _OBJECT.match(bare) and self._verb and not _FINITE.search(bare):
            return self._reader.continued(self._verb, bare, then="then" in text[: len(text) - len(bare)])
        return []

    def _placed(self, steps: list[ProcedureStep]) -> list[ProcedureStep]:
        """The steps with "beside it" resolved: it is the thing named just before."""
        before = self._entries[-1] if self._entries else self._all.entries[-1] if self._all.entries else None
        placed: list[ProcedureStep] = []
        for step in steps:
            last = placed[-1] if placed else list(_flat(before))[-1] if before is not None else None
            if step.target == phrases.PREVIOUS:
                spoken = self.spoken or self._all.spoken
                if step.role == "checkbox" and last is not None:
                    step = replace(step, target=last.target, near=last.near, where=last.where)
                elif spoken and step.kind is StepKind.PRESS:
                    step = replace(step, target=spoken[-1])
                elif last is not None and (
                    step.kind is StepKind.FILL or last.kind not in (StepKind.PRESS, StepKind.OPEN)
                ):
                    step = replace(step, target=last.target, role=last.role, near=last.near, where=last.where)
                else:
                    continue
            if step.near == phrases.PREVIOUS and step.where == "in" and self._all.topic:
                step = replace(step, near=phrases.placeholder(self._all.topic))  # "in its row"
            elif step.near == phrases.PREVIOUS:
                step = replace(step, near=last.target if last else "", where=step.where if last else "")
            placed.append(step)
        return placed
