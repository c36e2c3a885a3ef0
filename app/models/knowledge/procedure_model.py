"""A tip's steps as they are shown and corrected: compiled while the text is typed, or a person's own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from PySide6.QtCore import QCoreApplication, QObject, Signal

from app.models.common.object_list import ObjectList
from kb.compiler import compiled
from kb.procedure import (
    PLACEHOLDER,
    STEP_LIMIT,
    Choice,
    Entry,
    Procedure,
    ProcedureOrigin,
    ProcedureStep,
    StepKind,
)
from kb.tip import TipDraft

STEP_KINDS = tuple(kind.value for kind in StepKind)
STEP_FIELDS = ("target", "value", "near", "where", "when")
"""Fields of a step that a person edits as text."""

_Place = tuple[int, int, int]
"""Entry, way of a choice (-1 for a step of its own), step of the way."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcedureRow:
    """One step.

    Attributes:
        number: counted from 1 among all steps, those of every way too: the number that tests and runs name.
        way: ``either`` or ``or`` at the first step of a choice's way.
        result: the step's outcome in the last test, "" for none.
    """

    number: int
    step: ProcedureStep
    way: str = ""
    result: str = ""


class ProcedureStepList(ObjectList[ProcedureRow]):
    """The steps, in order."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(lambda row: row.number, parent)

    def words(self, value: ProcedureRow) -> str:
        """``step 2: press "Orders" beside "Sales", done``."""
        head = _tr("step {0}: {1}").format(value.number, step_words(value.step))
        return ", ".join(part for part in (value.way, head, result_words(value.result)) if part)


class ProcedureModel(QObject):
    """The steps of one draft.

    Signals:
        changed: the steps, the selection, or whether they can be edited.
        edited(procedure): a person corrected the steps; ``None`` asks for the compiled ones.
        step_added: an empty step waits to be filled in.
    """

    changed = Signal()
    edited = Signal(object)
    step_added = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.steps = ProcedureStepList(self)
        self.origin = ProcedureOrigin.COMPILER
        self.never: tuple[str, ...] = ()
        self.unread: tuple[str, ...] = ()
        self.current = 0
        """Number of the selected step, 0 for none."""
        self.can_edit = False
        self._entries: list[Entry] = []
        self._given: Procedure | None = None
        self._results: Mapping[int, str] = {}

    # what is shown

    def show(self, draft: TipDraft) -> None:
        """Show a draft's steps: compiled from its text, unless a person or a takeover made them."""
        if self._given is not None and draft.procedure == self._given:
            return  # the same steps; one that is being written may have no target yet
        procedure = steps_of(draft)
        made = procedure.origin is not ProcedureOrigin.COMPILER
        self._given = procedure if made else None
        self._entries = list(procedure.entries)
        self.origin, self.never, self.unread = procedure.origin, procedure.never, procedure.unread
        self._fill()

    def forget(self) -> None:
        """Show nothing: another tip is being opened."""
        self._given, self._entries, self._results, self.current = None, [], {}, 0
        self.origin, self.never, self.unread = ProcedureOrigin.COMPILER, (), ()
        self._fill()

    def show_results(self, results: Mapping[int, str]) -> None:
        """Mark the steps with the outcomes of the last test, by number."""
        if dict(results) != dict(self._results):
            self._results = dict(results)
            self._fill()

    def set_editable(self, editable: bool) -> None:
        if editable != self.can_edit:
            self.can_edit = editable
            self.changed.emit()

    @property
    def origin_text(self) -> str:
        """Who made the steps."""
        match self.origin:
            case ProcedureOrigin.COMPILER:
                return self.tr("read from the text")
            case ProcedureOrigin.TAKEOVER:
                return self.tr("recorded in a takeover")
            case ProcedureOrigin.PERSON:
                return self.tr("corrected by a person")
            case ProcedureOrigin.MODEL:
                return self.tr("drafted by the model")

    @property
    def is_corrected(self) -> bool:
        """Whether the steps are not the compiler's."""
        return self.origin is not ProcedureOrigin.COMPILER

    # the selected step

    @property
    def takes_value(self) -> bool:
        return self.step is not None and self.step.kind in (StepKind.FILL, StepKind.CHOOSE)

    @property
    def step(self) -> ProcedureStep | None:
        row = self.steps.at(self.current - 1)
        return row.step if row is not None else None

    def select(self, row: int) -> None:
        if row + 1 != self.current and self.steps.at(row) is not None:
            self.current = row + 1
            self.changed.emit()

    def field(self, name: str) -> str:
        return str(getattr(self.step, name)) if self.step is not None else ""

    # corrections

    def set_field(self, name: str, value: str) -> None:
        """Change the kind, target, value, landmark or condition of the selected step."""
        step = self.step
        if not self.can_edit or step is None or value == str(getattr(step, name)):
            return
        changed = replace(step, **{name: StepKind(value) if name == "kind" else value})
        if name in ("kind", "target"):
            changed = replace(changed, locator="")  # recorded for another control
        self._put(self.current, [changed])

    def add(self) -> None:
        """Insert an empty step after the selected one, or at the end."""
        if self.can_edit and len(self.steps.rows) < STEP_LIMIT:
            empty = ProcedureStep(kind=StepKind.PRESS)
            if self.step is None:
                self._entries.append(empty)
                number = len(self.steps.rows) + 1
                self._announce(number)
            else:
                self._put(self.current, [self.step, empty], self.current + 1)
            self.step_added.emit()

    def remove(self) -> None:
        if self.can_edit and self.step is not None:
            self._put(self.current, [], min(self.current, len(self.steps.rows) - 1))

    def move(self, by: int) -> None:
        """Move the selected step up (-1) or down (1); a step of a choice stays in its way."""
        if not self.can_move(by):
            return
        entry, way, inner = self._place(self.current)
        if way < 0:
            here, there = self._entries[entry], self._entries[entry + by]
            self._entries[entry], self._entries[entry + by] = there, here
            passed = sum(len(one) for one in there.ways) if isinstance(there, Choice) else 1
        else:
            steps, passed = list(self._ways(entry)[way]), 1
            steps[inner], steps[inner + by] = steps[inner + by], steps[inner]
            self._set_way(entry, way, steps)
        self._announce(self.current + by * passed)

    def can_move(self, by: int) -> bool:
        if not self.can_edit or self.step is None:
            return False
        entry, way, inner = self._place(self.current)
        count = len(self._entries) if way < 0 else len(self._ways(entry)[way])
        return 0 <= (entry if way < 0 else inner) + by < count

    def take(self, procedure: Procedure | None) -> None:
        """Take other steps as they are; ``None`` takes the compiler's."""
        if not self.can_edit:
            return
        self._given, self._results = procedure, {}
        if procedure is not None:
            self._entries = list(procedure.entries)
            self.origin, self.never, self.unread = procedure.origin, procedure.never, procedure.unread
            self._fill()
        self.edited.emit(procedure)

    @property
    def given(self) -> Procedure | None:
        """The steps of another origin than the compiler's; ``None`` for compiled ones."""
        return self._given

    def compile_again(self) -> None:
        """Take the compiler's steps again."""
        if self.can_edit and self.is_corrected:
            self._given = None
            self.edited.emit(None)

    # inside

    def _put(self, number: int, steps: list[ProcedureStep], select: int = 0) -> None:
        """Put steps in the place of one; a choice that is left with one way becomes its steps."""
        entry, way, inner = self._place(number)
        if way < 0:
            self._entries[entry : entry + 1] = steps
        else:
            self._set_way(
                entry, way, [*self._ways(entry)[way][:inner], *steps, *self._ways(entry)[way][inner + 1 :]]
            )
        self._announce(select or number)

    def _set_way(self, entry: int, way: int, steps: list[ProcedureStep]) -> None:
        ways = [tuple(steps) if number == way else one for number, one in enumerate(self._ways(entry))]
        kept = tuple(one for one in ways if one)
        self._entries[entry : entry + 1] = (
            [Choice(ways=kept)] if len(kept) > 1 else [step for one in kept for step in one]
        )

    def _ways(self, entry: int) -> tuple[tuple[ProcedureStep, ...], ...]:
        found = self._entries[entry]
        return found.ways if isinstance(found, Choice) else ()

    def _place(self, number: int) -> _Place:
        return list(self._places())[number - 1]

    def _places(self) -> Iterator[_Place]:
        for at, entry in enumerate(self._entries):
            if isinstance(entry, Choice):
                for way, steps in enumerate(entry.ways):
                    yield from ((at, way, inner) for inner in range(len(steps)))
            else:
                yield at, -1, 0

    def _announce(self, select: int) -> None:
        """Announce the corrected steps, without those that are still empty: these can't be stored."""
        self.origin, self.unread, self._results = ProcedureOrigin.PERSON, (), {}
        self._given = Procedure(
            entries=tuple(_complete(self._entries)), never=self.never, origin=ProcedureOrigin.PERSON
        )
        self.current = select
        self._fill()
        self.edited.emit(self._given)

    def _fill(self) -> None:
        rows: list[ProcedureRow] = []
        for number, (entry, way, inner) in enumerate(self._places(), start=1):
            found = self._entries[entry]
            step = found.ways[way][inner] if isinstance(found, Choice) else found
            lead = "" if way < 0 or inner else self.tr("or") if way else self.tr("either")
            rows.append(
                ProcedureRow(number=number, step=step, way=lead, result=self._results.get(number, ""))
            )
        self.steps.merge(rows)
        self.current = min(self.current, len(rows))
        self.changed.emit()


def steps_of(draft: TipDraft) -> Procedure:
    """Return the steps of a draft; compiled ones follow its text as it is now."""
    made = draft.procedure
    return compiled(draft) if made is None or made.origin is ProcedureOrigin.COMPILER else made


def _complete(entries: list[Entry]) -> Iterator[Entry]:
    for entry in entries:
        if isinstance(entry, Choice):
            ways = (tuple(step for step in way if _is_complete(step)) for way in entry.ways)
            kept = tuple(way for way in ways if way)
            yield from (Choice(ways=kept),) if len(kept) > 1 else (step for way in kept for step in way)
        elif _is_complete(entry):
            yield entry


def _is_complete(step: ProcedureStep) -> bool:
    return any(text.strip() for text in (step.target, step.near, step.value))


# words


def kind_words(kind: StepKind) -> str:
    match kind:
        case StepKind.OPEN:
            return _tr("open")
        case StepKind.PRESS:
            return _tr("press")
        case StepKind.HOVER:
            return _tr("hover over")
        case StepKind.FILL:
            return _tr("fill")
        case StepKind.CHOOSE:
            return _tr("choose")
        case StepKind.READ:
            return _tr("read")
        case StepKind.WAIT:
            return _tr("wait for")


def landmark_words(step: ProcedureStep) -> str:
    """``right of “Sort”``, "" for a step without a landmark."""
    return f"{step.where or _tr('beside')} “{step.near}”" if step.near else ""


def step_words(step: ProcedureStep) -> str:
    """Return a step in one line."""
    parts = [kind_words(step.kind), step.target, step.role, landmark_words(step)]
    parts += [f"= {step.value}" if step.value else "", _tr("if {0}").format(step.when) if step.when else ""]
    return " ".join(part for part in parts if part)


def result_words(result: str) -> str:
    """Return the outcome of a step in a test."""
    known = {
        "done": _tr("done"),
        "passed over": _tr("passed over"),
        "left out": _tr("left out"),
        "not done": _tr("not done"),
        "would write": _tr("would write"),
    }
    return known.get(result, result)


def marked_parts(text: str) -> list[tuple[str, bool]]:
    """Return a text in stretches, and whether each is a placeholder."""
    parts: list[tuple[str, bool]] = []
    at = 0
    for found in PLACEHOLDER.finditer(text):
        parts += [(text[at : found.start()], False), (found[0], True)]
        at = found.end()
    return [part for part in (*parts, (text[at:], False)) if part[0]]


def _tr(text: str) -> str:
    return QCoreApplication.translate("Procedure", text)
