"""Where the steps of a sentence go: the order of acting, alternatives, and what pronouns stand for."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from kb.compiler.clauses import TipClause
from kb.compiler.frames import Frames
from kb.compiler.lexicon import ELSE, KEYS
from kb.compiler.names import PREVIOUS, placeholder
from kb.compiler.tokens import Tokens, written
from kb.procedure import Choice, Entry, ProcedureStep, StepKind


@dataclass(slots=True)
class Spoken:
    """The things spoken of before: the control of the last step, and the names of the last statement."""

    last: ProcedureStep | None = None
    names: list[str] = field(default_factory=list[str])
    frame: str = ""
    runs: list[str] = field(default_factory=list[str])
    """Every name of the last clause."""

    placed: str = ""
    """The target of a step that only a statement of its place gave."""

    case: bool = False
    """Whether the steps before were those of one case ("for a car choose X")."""


class OrderedSteps:
    """The steps of a sentence in the order of acting; ``earlier`` are the entries of the sentences before."""

    def __init__(self, frames: Frames, spoken: Spoken, topic: str, earlier: list[Entry]) -> None:
        self.spoken = Spoken(
            spoken.last, list(spoken.names), spoken.frame, list(spoken.runs), spoken.placed, spoken.case
        )
        self.earlier = list(earlier)
        self.entries: list[Entry] = []
        self.never: list[str] = []
        self.forbidden: list[str] = []
        self.unread: list[str] = []
        self.stated: set[str] = set()
        self.other = False
        self.final: list[ProcedureStep] = []
        self.condition: list[str] = []
        self._frames, self._topic = frames, topic
        self._front: Tokens = []
        self._later: list[ProcedureStep] = []
        self._when = ""
        self._next_when = ""
        self._ways: list[list[ProcedureStep]] = []
        self._either = -1
        self._condition_at = -1
        self._case_at = -1
        self._count = 0
        self._ahead = -1
        """Before which entry of the sentences before the steps go."""

        self._voided = False
        self._excepting = False
        self._all = False
        self._or = False
        self._group = 0
        self._mentions: list[str] = []
        self._runs: list[str] = list(spoken.runs)

    def _close(self) -> None:
        self.spoken.runs = self._runs
        self._end_ways()
        self._put(self._later)
        if self._ahead >= 0:
            self.earlier[self._ahead : self._ahead] = self.entries
            self.entries = []

    def _end_ways(self) -> None:
        ways = tuple(tuple(way) for way in self._ways if way)
        if len(ways) > 1:
            self.entries.append(Choice(ways=ways))
        elif ways:
            self.entries += ways[0]
        self._ways = []

    # kinds of clauses

    def _mark(self, count: int, text: str) -> None:
        """Put a condition to the last steps."""
        place = self._ways[-1] if self._ways else self.entries
        for at in range(max(0, len(place) - count), len(place)):
            step = place[at]
            if isinstance(step, ProcedureStep) and not step.when:
                place[at] = replace(step, when=text)

    def _add(self, made: list[ProcedureStep], clause: TipClause) -> None:
        if clause.leads & (ELSE - {("or",)}):
            self._when = ""  # "otherwise" is the contrary
        steps = self._resolved(made, clause.joint)
        if not steps:
            if ":" not in clause.joint and self.spoken.last is None:
                self.unread.append(written(clause.tokens)[:200])
            return
        first = (
            ("first",) in clause.leads
            or ("before", "that") in clause.leads
            or ("before", "this") in clause.leads
            or (bool(clause.tokens) and clause.tokens[-1].low == "first")
        )
        if first and (
            "but" in clause.joint or ("but",) in clause.leads or ("before", "that") in clause.leads
        ):
            self._insert(steps, self._back())
            return
        if "or" in clause.joint and self._voided and self._either < 0 and not self.entries and not self._ways:
            self.unread.append(written(clause.tokens)[:200])
        elif self._is_way(clause) and (self.entries or self._ways):
            self._start_way(steps, self.entries, self._way_at(steps, clause))
        else:
            self._put(steps)
        joined = set(clause.joint) == {"and"} and not clause.leads
        self._group = self._group + len(steps) if joined else len(steps)
        self._count = len(steps)

    def _back(self) -> int:
        """Before how many steps "but first ..." goes: the last one, or those of clauses joined by "and"."""
        return self._group if self._group > self._count else 1

    def _is_way(self, clause: TipClause) -> bool:
        if self._or:
            self._or = False
            return True
        lettered = any(lead[-1] == ")" and lead[0] != "a" for lead in clause.leads)
        return "or" in clause.joint or lettered or bool(clause.leads & (ELSE - {("or",)}))

    def _way_at(self, steps: list[ProcedureStep], clause: TipClause) -> int:
        """The place where the first way begins: "either", the condition, an address, else one clause back."""
        if self._either >= 0:
            return self._either
        if clause.leads & ELSE and self._condition_at >= 0:
            return self._condition_at
        absolute = steps[0].kind is StepKind.OPEN
        return 0 if absolute else max(0, len(self.entries) - max(1, self._count))

    def _start_way(self, steps: list[ProcedureStep], entries: list[Entry], start: int) -> None:
        if not self._ways:
            first = [one for one in entries[start:] if isinstance(one, ProcedureStep)]
            self.entries = entries[:start]
            self._ways = [first]
        self._ways.append(steps)

    def _put(self, steps: list[ProcedureStep]) -> None:
        if self._ways:
            self._ways[-1] += steps
        else:
            self.entries += steps
        self._count = len(steps) or self._count

    def _insert(self, steps: list[ProcedureStep], back: int) -> None:
        """Put steps before the last ones."""
        if not back:
            self._put(steps)
        elif self._ways:
            self._ways[-1][-back:-back] = steps
        elif self.entries:
            self.entries[-back:-back] = steps
        elif self.earlier:
            self.earlier[-back:-back] = steps
        else:
            self.entries += steps

    def _resolved(
        self, made: list[ProcedureStep], joint: frozenset[str] = frozenset()
    ) -> list[ProcedureStep]:
        """The steps with "it" replaced by what it stands for, and with the condition of their sentence."""
        done: list[ProcedureStep] = []
        for step in made:
            one = self._resolve(step)
            if (
                one is None
                or not one.target
                or (":" in joint and one == self.spoken.last and self._is_there(one))
            ):
                continue
            when = self._when or self._next_when
            done.append(replace(one, when=one.when or when))
            self._next_when = ""
            if one.kind is not StepKind.OPEN and not _is_key(one.target):
                self.spoken.last = one
                self.spoken.names = [one.target]
        return done

    def _resolve(self, step: ProcedureStep) -> ProcedureStep | None:
        last = self.spoken.last
        if step.near == PREVIOUS:
            row = (
                step.where == "in"
                and self._topic
                and (last is None or (last.kind is StepKind.PRESS and not last.near))
            )
            near = placeholder(self._topic) if row else last.target if last else ""
            step = replace(step, near=near, where=step.where if near else "")
        if step.value == PREVIOUS:
            step = replace(step, value=placeholder(self._topic) if self._topic else "")
        hint, step = step.locator, replace(step, locator="")
        if step.target != PREVIOUS:
            return step
        if step.kind is StepKind.FILL:
            return self._filled_before(step, hint)
        if last is None:
            return None
        if step.kind is StepKind.PRESS and not step.near and self._is_stated(last):
            return None
        near, where = (step.near, step.where) if step.near else (last.near, last.where)
        return replace(step, target=last.target, role=step.role or last.role, near=near, where=where)

    def _is_there(self, step: ProcedureStep) -> bool:
        """Whether the steps hold this one."""
        return any(step in self._flat(entry) for entry in [*self.earlier, *self.entries]) or any(
            step in way for way in [*self._ways, self.final]
        )

    @staticmethod
    def _flat(entry: Entry) -> tuple[ProcedureStep, ...]:
        return (
            (entry,) if isinstance(entry, ProcedureStep) else tuple(one for way in entry.ways for one in way)
        )

    def _is_stated(self, last: ProcedureStep) -> bool:
        """Whether the step is there already, because a statement told its place."""
        earlier = [*self.earlier, *self.entries][-1:]
        return (
            bool(earlier)
            and isinstance(earlier[0], ProcedureStep)
            and earlier[0].target == last.target == self.spoken.placed
        )

    def _filled_before(self, step: ProcedureStep, hint: str) -> ProcedureStep | None:
        last = self.spoken.last
        if last is not None and last.kind is StepKind.PRESS and last.near and hint:
            return replace(step, target=last.near)
        if last is not None and (not hint or last.role == "field" or last.kind is StepKind.FILL):
            return replace(step, target=last.target, role=last.role, near=last.near, where=last.where)
        return replace(step, target=hint) if hint else None


def _is_key(target: str) -> bool:
    """Whether a target is a key or keys pressed together ("Ctrl+K")."""
    return target.lower() in KEYS or target.split("+")[0] in ("Ctrl", "Alt", "Shift", "Cmd")
