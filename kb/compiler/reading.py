"""A tip's sentences read into entries, warnings, and clauses that could not be read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from kb.compiler import warned
from kb.compiler.clauses import TipClause, clauses
from kb.compiler.frames import Frames
from kb.compiler.lexicon import BASE, ELSE, words
from kb.compiler.openings import ClauseKind, finite_at
from kb.compiler.ordering import Spoken
from kb.compiler.sentence import SentenceSteps
from kb.compiler.tokens import Sentence, Sort, Tokens, sentences, written
from kb.procedure import Choice, Entry, ProcedureStep

_LONGEST_SENTENCE = 300
"""Tokens of a sentence that is read; a longer one is no instruction."""

_NEGATIVE = words(
    "not no isn't aren't doesn't don't none missing else other nothing cannot can't absent without "
    "hasn't haven't only just gone lacks lacking neither otherwise different new"
)
_POINTS = words("it there that they this none nothing")
_SHOWN = words("there shown visible present listed missing offered available seen displayed found exist")


def flat(entry: Entry) -> Iterable[ProcedureStep]:
    """The steps of an entry, those of all its ways."""
    return (entry,) if isinstance(entry, ProcedureStep) else (step for way in entry.ways for step in way)


@dataclass(slots=True)
class TipReading:
    """The steps and warnings found so far."""

    known: frozenset[str]
    topic: str = ""
    entries: list[Entry] = field(default_factory=list[Entry])
    never: list[str] = field(default_factory=list[str])
    unread: list[str] = field(default_factory=list[str])
    stated: set[str] = field(default_factory=set[str])
    """Targets of steps that come from a statement of a place and not from an instruction."""

    forbidden: set[str] = field(default_factory=set[str])
    final: list[ProcedureStep] = field(default_factory=list[ProcedureStep])
    """Steps that come last wherever the tip tells of them."""

    _before: int = 0
    """How many entries stood before the last sentence that gave steps."""

    _condition: list[str] = field(default_factory=list[str])
    _spoken: Spoken = field(default_factory=Spoken)
    _asked: list[str] = field(default_factory=list[str])

    def takes_back(self, entry: Entry) -> bool:
        """Whether the tip forbids what the step acts on."""
        if not isinstance(entry, ProcedureStep) or entry.near:
            return False
        return entry.target.casefold() in self.forbidden or (
            entry.target in self.stated and entry.target.casefold() in {one.casefold() for one in self.never}
        )

    def read(self, text: str) -> None:
        """Read a text that says what to do."""
        frames = Frames(self.known)
        for sentence in sentences(text):
            if len(sentence.tokens) > _LONGEST_SENTENCE:
                self.unread.append(written(sentence.tokens[:40])[:200])
                continue
            self._sentence(sentence, frames)
        self.entries += self.final

    def _sentence(self, sentence: Sentence, frames: Frames) -> None:
        tokens = sentence.tokens
        if tokens[0].low == "no" and self._asked:
            self._forbid(self._asked)
            self._asked = []
            tokens = tokens[1:]
            if not tokens:
                return
        if tokens[0].low in ("example", "examples", "eg") and self.entries:
            return
        parts = _without_title(clauses(_without_examples(tokens)))
        if sentence.end == "?":
            self._asked = warned.mentioned(parts[-1].tokens)
            parts = (
                parts[:-1]
                if parts[0].kind is ClauseKind.ACT and parts[0].verb and parts[0].verb.frame != "void"
                else []
            )
        if parts:
            made = SentenceSteps(frames, self._spoken, self.topic, self.entries).read(parts)
            self._add(made, parts)

    def _add(self, made: SentenceSteps, parts: list[TipClause]) -> None:
        self._spoken = made.spoken
        self.never += made.never
        self.forbidden |= {one.casefold() for one in made.forbidden}
        self.never += made.forbidden
        self.unread += made.unread
        self.stated |= made.stated
        self.final += made.final
        self.entries = made.earlier
        condition = made.condition
        if not made.entries:
            self._condition = condition or self._condition
            return
        if len(self.entries) > self._before and (made.other or self._is_other(parts, condition)):
            self._other_way(made.entries)
        else:
            self._before = len(self.entries)
            self.entries += made.entries
        self._condition = condition

    def _is_other(self, parts: list[TipClause], condition: list[str]) -> bool:
        """Whether a sentence is another way to the steps before: "otherwise", "you can also", "if it is not there"."""
        leads = parts[0].leads
        also = ("also",) in leads and any(lead[0] in ("you", "one", "we", "it") for lead in leads)
        if leads & ELSE or also:
            return True
        if any(lead[-1] == ")" and lead[0] != "a" for lead in leads):
            return True
        if parts[0].kind is not ClauseKind.COND or not condition:
            return False
        negative = bool(set(condition) & _NEGATIVE)
        if not self._condition:
            return negative and condition[0] in _POINTS and bool(set(condition) & _SHOWN)
        same = self._condition[0] == condition[0] or condition[0] in _POINTS
        return same and negative != bool(set(self._condition) & (_NEGATIVE - {"new"}))

    def _other_way(self, entries: list[Entry]) -> None:
        way = tuple(replace(step, when="") for entry in entries for step in flat(entry))
        before = self.entries[self._before :]
        if len(before) == 1 and isinstance(before[0], Choice):
            choice = Choice(ways=(*before[0].ways, way))
        else:
            choice = Choice(ways=(tuple(step for entry in before for step in flat(entry)), way))
        if len(entries) == 1 and isinstance(entries[0], Choice):
            choice = Choice(ways=(*choice.ways[:-1], *entries[0].ways))
        self.entries[self._before :] = [choice]

    def _forbid(self, names: list[str]) -> None:
        self.never += names
        self.forbidden |= {one.casefold() for one in names}

    def warn(self, text: str, *, only_forbidden: bool) -> None:
        """Read a text that makes no steps; of a reason every name counts that it does not call right."""
        spoken = Spoken()
        for sentence in sentences(text):
            tokens = sentence.tokens[:_LONGEST_SENTENCE]
            made = SentenceSteps(Frames(frozenset()), spoken, "", []).read(clauses(tokens))
            self._forbid(made.forbidden)
            spoken = made.spoken
            if not only_forbidden:
                self.never += made.never
                finite = finite_at(tokens, 0)
                self.never += warned.of_reason(tokens, finite)


def _without_examples(tokens: Tokens) -> Tokens:
    """The tokens without "e.g. ..." up to a comma; an address stays, for it is a template."""
    kept: Tokens = []
    skipping = False
    for place, token in enumerate(tokens):
        following = tokens[place + 1] if place + 1 < len(tokens) else None
        two = (token.low, following.low if following else "")
        like = token.low == "like" and following is not None and following.sort is Sort.NAME
        if like or token.low in ("eg", "ie") or two in (("for", "example"), ("such", "as")):
            skipping = not any(one.sort is Sort.ADDRESS for one in tokens[place + 1 : place + 4])
            if skipping:
                while kept and kept[-1].sort is Sort.MARK:
                    kept.pop()
            elif kept and kept[-1].sort is Sort.MARK:
                kept.pop()
        elif skipping and token.sort is Sort.MARK and token.text in ",:-":
            skipping = following is not None and (following.sort is Sort.NAME or following.low == "etc")
        if not skipping:
            kept.append(token)
    return kept


def _without_title(parts: list[TipClause]) -> list[TipClause]:
    """The clauses without a title before a colon ("Write a review: press ...") that names nothing."""
    if (
        len(parts) < 2
        or ":" not in parts[1].joint
        or parts[1].kind
        not in (
            ClauseKind.ACT,
            ClauseKind.REST,
            ClauseKind.FRONT,
            ClauseKind.MORE,
            ClauseKind.COND,
            ClauseKind.WARN,
            ClauseKind.TIME,
        )
    ):
        return parts
    title = parts[0]
    if title.kind not in (
        ClauseKind.ACT,
        ClauseKind.REST,
        ClauseKind.UNKNOWN,
        ClauseKind.PURPOSE,
        ClauseKind.FRONT,
    ):
        return parts
    named = any(one.is_named or one.sort in (Sort.ARROW, Sort.ADDRESS) for one in title.tokens)
    if title.kind is ClauseKind.ACT and parts[1].kind in (ClauseKind.REST, ClauseKind.MORE):
        return _goes_on(title, parts, named)
    if parts[1].kind is ClauseKind.REST:
        return parts
    if title.kind is ClauseKind.ACT and title.verb is not None and title.verb.verb in BASE and named:
        return parts
    if (
        named
        and title.kind in (ClauseKind.REST, ClauseKind.PURPOSE)
        and any(one.sort is Sort.ARROW for one in title.tokens)
    ):
        return parts
    return parts[1:]


def _goes_on(title: TipClause, parts: list[TipClause], named: bool) -> list[TipClause]:
    """``Fill out the form: "Name" with ...`` goes on with the verb; ``go to the search: /s`` is the address."""
    following = parts[1].tokens[:1]
    if (
        following
        and following[0].sort is Sort.ADDRESS
        and not any(one.sort is Sort.NAME for one in title.tokens)
    ):
        return parts[1:]
    if not named and following and following[0].is_named and title.verb is not None:
        return [replace(parts[1], kind=ClauseKind.ACT, verb=title.verb, joint=frozenset()), *parts[2:]]
    return parts
