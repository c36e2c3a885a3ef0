"""The clauses of one sentence read one after the other."""

from __future__ import annotations

from kb.compiler import phrases, warned
from kb.compiler.clauses import TipClause, clauses
from kb.compiler.lexicon import PRONOUNS, words
from kb.compiler.names import PREVIOUS, run_at
from kb.compiler.openings import ClauseKind, finite_at, open_finite
from kb.compiler.statements import stated
from kb.compiler.times import TimedSteps
from kb.compiler.tokens import Sort, Token, Tokens, written
from kb.compiler.verbs import Imperative, verb_at
from kb.procedure import Choice, Entry, ProcedureStep, StepKind

_BARE = words("save submit send publish search post")
"""Verbs that are the names of their buttons ("... and save")."""

_ALL = words("all everything anything any every")

_SILENT = frozenset(["void", "vague", "check", "give", "answer", "read", "means_title"])


_NO_SUCH = frozenset(["no", "nothing", "none", "nowhere", "nobody"])
"""Words that begin a statement about what is not there."""


class SentenceSteps(TimedSteps):
    """Reads the clauses of a sentence; ``earlier`` are the entries of the sentences before."""

    def read(self, parts: list[TipClause]) -> SentenceSteps:
        """Read the clauses in order."""
        handle = {
            ClauseKind.ACT: self._act,
            ClauseKind.MORE: self._more,
            ClauseKind.WARN: self._warn,
            ClauseKind.INSTEAD: self._instead,
            ClauseKind.COND: self._cond,
            ClauseKind.TIME: self._time,
            ClauseKind.STATE: self._state,
            ClauseKind.UNKNOWN: self._unknown,
            ClauseKind.FRONT: self._set_front,
            ClauseKind.PURPOSE: self._purpose,
            ClauseKind.REST: self._rest,
            ClauseKind.REASON: self._reason,
            ClauseKind.REL: self._reason,
        }
        for place, clause in enumerate(parts):
            self._following = parts[place + 1] if place + 1 < len(parts) else None
            for token in clause.tokens:
                if token.sort is Sort.REMARK:
                    self._remark(token)
            if ("either",) in clause.leads or ("a", ")") in clause.leads:
                self._either = len(self.entries)
            if clause.kind in handle:
                handle[clause.kind](clause)
            acts = clause.kind in (ClauseKind.ACT, ClauseKind.UNKNOWN) and clause.word not in (
                "leave",
                "keep",
                "ignore",
            )
            self._excepting = acts and bool({one.low for one in clause.tokens[-1:]} & _ALL)
            self._runs = warned.named_runs(clause.tokens) or self._runs
            self._mentions = warned.mentioned(clause.tokens) or self._mentions
        self._close()
        return self

    def _act(self, clause: TipClause) -> None:
        verb = clause.verb
        if verb is None or verb.frame == "check":
            return
        if clause.tokens and clause.tokens[0].low in ("neither", "none"):
            self.forbidden += warned.forbidden(clause.tokens[1:]) or self._runs
            return
        if verb.verb in ("leave", "ignore") and self._left_alone(clause.tokens):
            return
        made = self._frames.steps(verb, clause.tokens, self._front)
        case = self._is_case(made)
        self._front = []
        if case and self._in_case(made):
            return
        if not made:
            self._count, self._voided = 0, verb.frame == "void"
            self._without_steps(verb, clause)
            return
        self.spoken.frame = verb.frame
        if verb.verb in ("get", "reach", "come") and ("you",) in clause.leads and self.earlier:
            self.earlier = [*self._resolved(made), *self.earlier]
            return
        self._add(made, clause)
        if verb.frame == "vague" and ("you",) in clause.leads and len(made) == 1:
            self.spoken.placed = made[0].target

    def _is_case(self, made: list[ProcedureStep]) -> bool:
        """Whether the steps are those of one case ("for a car choose X")."""
        front = self._front
        case = bool(front) and front[0].low == "for" and not any(one.is_named for one in front)
        return case and bool(made) and made[0].kind in (StepKind.PRESS, StepKind.CHOOSE)

    def _in_case(self, made: list[ProcedureStep]) -> bool:
        """Begin another way if the case is not the first one."""
        again, self.spoken.case = self.spoken.case, True
        if again and self._case_at >= 0 and (self.entries or self._ways):
            self._start_way(self._resolved(made), self.entries, self._case_at)
            return True
        self.other = again
        self._case_at = len(self.entries)
        return False

    def _left_alone(self, tokens: Tokens) -> bool:
        lows = [one.low for one in tokens if one.is_word]
        if (
            lows[:1]
            and lows[0] in ("it", "them", "that", "this", "those")
            and lows[1:2] in ([], ["alone"], ["untouched"], ["as"])
        ):
            self._forbid_before(self.spoken.names)
            return True
        if "alone" in lows or "untouched" in lows:
            cut = next(place for place, one in enumerate(tokens) if one.low in ("alone", "untouched"))
            self.forbidden += warned.things(tokens[:cut])
            return True
        return False

    def _without_steps(self, verb: Imperative, clause: TipClause) -> None:
        named = [one for one in clause.tokens if one.sort is Sort.NAME]
        if (
            verb.verb in ("search", "find", "look", "locate")
            and (sought := phrases.control(clause.tokens)).name
        ):
            self.spoken.last = ProcedureStep(kind=StepKind.PRESS, target=sought.name, role=sought.role)
        elif named:
            one = phrases.control([named[-1]])
            self.spoken.last = ProcedureStep(kind=StepKind.PRESS, target=one.name)
            self.spoken.names = warned.mentioned(named)
        if verb.verb in _BARE and not clause.tokens and (self.entries or self._ways or self.earlier):
            self._add([ProcedureStep(kind=StepKind.PRESS, target=verb.verb.capitalize())], clause)
            return
        titled = self._following is not None and ":" in self._following.joint
        nothing = any(one.low in ("nothing", "anything") for one in clause.tokens[:2])
        if verb.frame not in _SILENT and not titled and not nothing:
            self.unread.append(f"{verb.verb} {written(clause.tokens)}".strip()[:200])

    def _unknown(self, clause: TipClause) -> None:
        if made := self._frames.unknown(clause.tokens):
            self._add(made, clause)
        elif self._following is None or ":" not in self._following.joint:
            self.unread.append(f"{clause.word} {written(clause.tokens)}"[:200])

    def _more(self, clause: TipClause) -> None:
        last = self.spoken.last
        fields = last is not None and last.kind is StepKind.FILL and not last.value
        made = self._frames.more(self.spoken.frame, clause.tokens, fields=fields)
        if made:
            self._add(made, clause)

    def _rest(self, clause: TipClause) -> None:
        """A clause without a verb: a menu path or an address is the way there."""
        if clause.word == "no":
            self._retract()
        elif set(clause.joint) == {"but"} and self._excepting:
            self.forbidden += warned.things(clause.tokens)
        elif any(one.low == "into" for one in clause.tokens):
            self._add(self._frames.steps(Imperative("fill", "put", 0), clause.tokens, []), clause)
        elif _is_way_there(clause.tokens) or self._is_name(clause):
            self._more(clause)
        else:
            self._all = bool(clause.tokens) and clause.tokens[0].low in ("all", "everything")
            self.spoken.names = warned.mentioned(clause.tokens) or self.spoken.names

    def _is_name(self, clause: TipClause) -> bool:
        """A name by itself, as a whole sentence or after a title ("Project page: Fork.", "Search;")."""
        tokens = [one for one in clause.tokens if one.sort is not Sort.REMARK]
        length = 1 if tokens[:1] and tokens[0].sort is Sort.NAME else run_at(tokens, 0)
        following = self._following
        listed = following is not None and following.kind is ClauseKind.MORE and "then" in following.joint
        if (
            length
            and listed
            and tokens[0].sort is Sort.NAME
            and (len(tokens) == 1 or tokens[1].low in ("in", "at", "on"))
        ):
            return True  # a list of names that begins the tip
        alone = (
            length == len(tokens) and self._following is None and any(one.text[0].isalpha() for one in tokens)
        )
        known = bool(self.earlier or self.entries) or ":" in clause.joint or bool(clause.leads)
        follows = self._following is not None and self._following.kind in (ClauseKind.ACT, ClauseKind.MORE)
        ordered = ("then",) in clause.leads or "then" in clause.joint
        return (
            bool(length)
            and known
            and (alone or (ordered and length == len(tokens)) or (length == len(tokens) and follows))
        )

    def _retract(self) -> None:
        last = self.entries[-1] if self.entries else None
        if isinstance(last, ProcedureStep):
            self.entries.pop()
            self.forbidden.append(last.target)

    def _warn(self, clause: TipClause) -> None:
        following = self._following
        limited = (
            following is not None
            and following.kind is ClauseKind.TIME
            and following.word in ("before", "until", "till")
            and not following.joint
        )
        if limited:
            return
        left = next((place for place, one in enumerate(clause.tokens) if one.low == "except"), 0)
        if left and not (warned.mentioned(clause.tokens[:left]) or warned.things(clause.tokens[:left])):
            return  # "nothing except X" forbids no name
        clause.tokens = clause.tokens[: left or len(clause.tokens)]
        found = warned.forbidden(clause.tokens, verbal=clause.word not in ("not", "avoid", "without"))
        if clause.word in ("not", "never") and not self._is_contrast(clause):
            found = warned.mentioned(clause.tokens)
        points = not clause.tokens or any(one.low in PRONOUNS | {"there", "so"} for one in clause.tokens)
        if not found and clause.word != "without" and (points or len(clause.tokens) == 1):
            self._forbid_before(list(self.spoken.names))
        self.forbidden += found
        verb = verb_at(clause.tokens, 0)
        self.spoken.frame = verb.frame if verb else self.spoken.frame
        if found:
            self.spoken.names = found

    def _forbid_before(self, names: list[str]) -> None:
        """Forbid what was spoken of before; a thing that the tip says to act on ("do it only once") is left."""
        acted = {step.target for entry in [*self.earlier, *self.entries] for step in steps_of(entry)}
        acted |= {step.target for way in self._ways for step in way}
        self.never += [name for name in names if name in acted]
        self.forbidden += [name for name in names if name not in acted]

    def _is_contrast(self, clause: TipClause) -> bool:
        """Whether "not ..." says what else must not be acted on, or just how an answer looks."""
        return (
            bool(self.entries or self.earlier or clause.fronted)
            and clause.tokens[:1] != []
            and (clause.tokens[0].low not in ("with", "as", "in", "by", "to", "for", "a", "so"))
        )

    def _instead(self, clause: TipClause) -> None:
        if not clause.tokens:
            return
        found = warned.forbidden(clause.tokens)
        if (
            not any(one.is_word and one.low.endswith("ing") for one in clause.tokens[:1])
            or warned.mentioned(clause.tokens)
            or len(clause.tokens) > 1
        ):
            self.forbidden += found

    def _reason(self, clause: TipClause) -> None:
        lows = [one.low for one in clause.tokens[:5]]
        if (
            clause.kind is ClauseKind.REL
            and {"not", "never", "mustn't"} & set(lows)
            and {"must", "should", "you", "never"} & set(lows)
        ):
            self.forbidden += self._mentions[-1:]
            return
        finite = finite_at(clause.tokens, 0)
        if finite > 0 and (
            warned.is_denied(clause.tokens, finite) or warned.is_harmful(clause.tokens, finite)
        ):
            self.never += warned.things(clause.tokens[:finite])

    def _remark(self, token: Token) -> None:
        inner = list(token.inner)
        for part in clauses(inner) if inner else []:
            if part.kind is ClauseKind.WARN and (found := warned.forbidden(part.tokens)):
                self.forbidden += found
            elif part.kind is ClauseKind.INSTEAD:
                self.forbidden += warned.forbidden(part.tokens)
            elif part.kind is ClauseKind.STATE:
                self._reason(part)

    def _cond(self, clause: TipClause) -> None:
        text = written(clause.tokens).strip(" ,.:")
        self._or = "or" in clause.joint
        says = [place for place, one in enumerate(clause.tokens) if one.low in ("says", "reads", "shows")]
        if says:
            self.spoken.names = warned.things(clause.tokens[says[0] + 1 :]) or self.spoken.names
        quoted = [one for one in clause.tokens if one.sort is Sort.NAME]
        if (quoted and not says and self.spoken.last is None) or (quoted and clause.fronted):
            one = phrases.control(clause.tokens)
            self.spoken.last = ProcedureStep(kind=StepKind.PRESS, target=one.name, role=one.role)
        if clause.word in ("while", "whereas"):
            self._reason(clause)
            return
        if clause.word in ("if", "unless", "should", "when"):
            self.condition = (
                [one.low for one in clause.tokens if one.is_word] if clause.word != "unless" else ["not"]
            )
        if not clause.fronted and not clause.joint:
            self._mark(self._count, text if clause.word != "unless" else f"not: {text}")
        elif clause.word in ("if", "unless", "should"):
            self._when = text if clause.word != "unless" else f"not: {text}"
            self._condition_at = len(self.entries)
        else:
            self._next_when = text

    def _purpose(self, clause: TipClause) -> None:
        """An aim makes no step; "it" after it is its object."""
        if clause.fronted and self.spoken.last is None and len(clause.tokens) > 1:
            one = phrases.control(clause.tokens[1:])
            self.spoken.last = ProcedureStep(kind=StepKind.PRESS, target=one.name) if one.name else None

    def _set_front(self, clause: TipClause) -> None:
        self._front = clause.tokens
        following = self._following
        finite = finite_at(clause.tokens, 1)
        if finite > 0 and clause.tokens[finite].low in ("is", "are", "stands", "sits", "appears"):
            one = phrases.control(clause.tokens[finite + 1 :])
            near, where = phrases.place(clause.tokens[:finite], frozenset())
            step = ProcedureStep(kind=StepKind.PRESS, target=one.name, role=one.role, near=near, where=where)
            self.spoken.last = step if one.name else self.spoken.last
            self._front = []
        acts = following is not None and following.kind is ClauseKind.ACT
        opened = next((one for one in clause.tokens if one.sort is Sort.ADDRESS), None)
        if opened is not None and clause.word in ("on", "at", "in", "from", "under") and finite < 0 and acts:
            self._front = []
            self._open_there(opened, clause)
        if clause.word == "with" and len(clause.tokens) > 1 and following and ("you",) in following.leads:
            self._add(self._frames.more("press", clause.tokens[1:]), clause)
            following.kind = ClauseKind.REST
            following.tokens = []
        if any(one.sort is Sort.ARROW for one in clause.tokens):
            self._front = []
            self._add(self._frames.more("press", clause.tokens[1:]), clause)

    def _open_there(self, address: Token, clause: TipClause) -> None:
        """``On /x press Y``: the way is the address, unless the tip led there before."""
        steps = self._frames.steps(Imperative("open", "open", 0), [address], [])
        targets = [step.target for entry in [*self.earlier, *self.entries] for step in steps_of(entry)]
        if not self._ways and steps and steps[0].target not in targets:
            self._add(steps, clause)

    def _state(self, clause: TipClause) -> None:
        tokens = clause.tokens
        finite = finite_at(tokens, 0)
        finite = finite if finite > 0 else open_finite(tokens)
        if finite <= 0 or (tokens[0].is_word and tokens[0].low in _NO_SUCH):
            return
        subject = tokens[:finite]
        found = warned.things(subject)
        pronoun = subject[0].low in ("it", "they", "this", "that", "these", "those", "you")
        last = [one.low for one in tokens[finite : finite + 4]]
        if (
            "last" in last
            and last[0] in ("comes", "is", "goes", "come")
            and any(one.is_named for one in subject)
        ):
            self.final += self._resolved(self._frames.more("press", subject))
        elif warned.is_denied(tokens, finite):
            active = subject[0].low in ("you", "one", "we")
            self.forbidden += warned.forbidden(tokens[finite + 2 :]) if active else found
            if not found and not active:
                self._forbid_before(self.spoken.names)
        elif warned.is_harmful(tokens, finite) and (not pronoun or not self.entries):
            self.never += [one for one in found if any(x.is_named or x.is_capital for x in subject)]
        else:
            self._way_of(tokens, finite, clause)
        names = [*([] if pronoun else found), *warned.mentioned(subject)] or warned.mentioned(tokens)
        self.spoken.names = list(dict.fromkeys(names)) or self.spoken.names

    def _way_of(self, tokens: Tokens, finite: int, clause: TipClause) -> None:
        """Read what the statement says about the way to something."""
        found = stated(tokens, finite, self._frames)
        if found.ways:
            self._put([])
            self.entries.append(Choice(ways=tuple(tuple(way) for way in found.ways)))
        elif found.steps:
            self.other = found.other
            if found.placed:
                self.spoken.placed = found.steps[-1].target
            if found.placed or not found.other:
                self.stated |= {step.target for step in found.steps}
            if found.other and self.entries:
                self._start_way(found.steps, self.entries, 0)
            else:
                self._add(found.steps, clause)
        else:
            self._speak_of(tokens, finite, clause)

    def _speak_of(self, tokens: Tokens, finite: int, clause: TipClause) -> None:
        """Keep what a statement is about for "it"; what opens a menu is pressed if its entry follows."""
        has = tokens[finite].low in ("has", "have", "contains", "holds", "shows", "is", "are")
        object_named = any(one.sort is Sort.NAME for one in tokens[finite:])
        there = tokens[0].low == "there" and has
        one = phrases.control(tokens[finite + 1 :] if has and (object_named or there) else tokens[:finite])
        if (
            not one.name
            or one.name == PREVIOUS
            or (not phrases.is_control(tokens[:finite]) and not object_named and not there)
        ):
            return
        step = ProcedureStep(
            kind=StepKind.PRESS, target=one.name, role=one.role, near=one.near, where=one.where
        )
        opens = tokens[finite].low in ("opens", "unfolds", "expands", "leads", "brings")
        follows = (
            self._following is not None
            and ":" in self._following.joint
            and self._following.kind is ClauseKind.ACT
        )
        if opens and (
            follows
            or (
                object_named is False
                and clause.fronted
                and not self.earlier
                and not self.entries
                and any(x.sort is Sort.NAME for x in tokens[:finite])
            )
        ):
            self._add([step], clause)
        elif object_named or one.role or there:
            self.spoken.last = step


def steps_of(entry: Entry) -> list[ProcedureStep]:
    """The steps of an entry, those of all its ways."""
    return [entry] if isinstance(entry, ProcedureStep) else [step for way in entry.ways for step in way]


def _is_way_there(tokens: Tokens) -> bool:
    """Whether a clause without a verb is a menu path, or ends with an address ("orders: /orders")."""
    if any(one.sort is Sort.ARROW for one in tokens):
        return True
    at = next((place for place, one in enumerate(tokens) if one.sort is Sort.ADDRESS), -1)
    return (
        at == 0
        or (0 < at == len(tokens) - 1 < 3)
        or (at > 0 and tokens[at - 1].low in ("at", "under", "via", "through", "is", "are", "in", ":", "on"))
    )
