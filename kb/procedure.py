"""A tip's steps: the actions it tells an agent to take, in order, with placeholders.  Pure data and its JSON form.

A procedure is compiled from the tip's text (``kb.compiler``), corrected by a person or recorded in a takeover. An
entry is a step, or a choice between several ways of which one is enough. ``{name}`` in a target or a value is a
placeholder that a task's value fills. ``never`` lists controls and addresses that the tip names in a warning, a
reason or an example: they are never acted on.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, cast

from kb.errors import BadTip

PLACEHOLDER = re.compile(r"\{([a-z][a-z0-9_]{0,59})\}")
"""A placeholder in a step's target or value; group 1 is its name."""

STEP_LIMIT = 60
"""Maximum steps of a procedure, those of all ways together."""

NEVER_LIMIT = 60
"""Maximum entries of ``never`` and of ``unread``."""

VALUE_LIMIT = 2_000
"""Maximum characters of one value of a step."""


class StepKind(StrEnum):
    """The action of a step; ``read`` and ``wait`` never touch the page."""

    OPEN = "open"
    PRESS = "press"
    HOVER = "hover"
    FILL = "fill"
    CHOOSE = "choose"
    READ = "read"
    WAIT = "wait"


class ProcedureOrigin(StrEnum):
    """The author of a procedure's steps."""

    COMPILER = "compiler"
    PERSON = "person"
    TAKEOVER = "takeover"
    MODEL = "model"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcedureStep:
    """One action.

    Attributes:
        target: the control's own name; of ``open`` an address or a path of the site; of ``wait`` the awaited text.
        role: the control's role, "" if the tip names none.
        near: a landmark: a thing beside which the target is; never itself the target.
        where: the position relative to the landmark ("right of", "below", "in").
        value: the text to fill in, or the option to choose.
        when: the condition under which the step is needed, "" for always.
        locator: the recorded ways to find the control (JSON of the browser's locator), "" if there are none.
    """

    kind: StepKind
    target: str = ""
    role: str = ""
    near: str = ""
    where: str = ""
    value: str = ""
    when: str = ""
    locator: str = ""

    @property
    def placeholders(self) -> tuple[str, ...]:
        """Names of the placeholders, in order of appearance."""
        return tuple(dict.fromkeys(PLACEHOLDER.findall(f"{self.target} {self.near} {self.value}")))

    def filled(self, values: Mapping[str, str]) -> ProcedureStep:
        """Return the step with the placeholders that have a value filled in."""

        def fill(text: str) -> str:
            return PLACEHOLDER.sub(lambda found: values.get(found[1], found[0]), text)

        return replace(self, target=fill(self.target), near=fill(self.near), value=fill(self.value))

    def __str__(self) -> str:
        place = f" {self.where or 'next to'} {quoted(self.near)}" if self.near else ""
        role = f" {self.role}" if self.role else ""
        name = self.target if self.kind is StepKind.OPEN else quoted(self.target) if self.target else ""
        match self.kind:
            case StepKind.FILL:
                text = (
                    f"fill {name}{role}{place} with {quoted(self.value)}"
                    if self.value
                    else f"fill {name}{role}{place}"
                )
            case StepKind.CHOOSE:
                text = (
                    f"choose {quoted(self.value)} in {name}{role}{place}"
                    if name
                    else f"choose {quoted(self.value)}{place}"
                )
            case StepKind.WAIT:
                text = f"wait for {name}"
            case _:
                text = f"{self.kind.value} {name}{role}{place}"
        return f"if {self.when}: {text}" if self.when else text


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Several ways to the same end; each is a list of steps in order, and one of them is enough."""

    ways: tuple[tuple[ProcedureStep, ...], ...]

    def __str__(self) -> str:
        return "either " + ", or ".join(", then ".join(map(str, way)) for way in self.ways)


Entry = ProcedureStep | Choice


@dataclass(frozen=True, slots=True, kw_only=True)
class Procedure:
    """The steps of a tip.

    Attributes:
        entries: steps and choices, in order.
        never: controls and addresses of warnings, reasons and examples.
        unread: clauses that sound like an instruction and could not be compiled.
        origin: who made the steps; only the compiler's are compiled again.
        compiler: the compiler's version, 0 for steps of another origin.
    """

    entries: tuple[Entry, ...] = ()
    never: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    origin: ProcedureOrigin = ProcedureOrigin.COMPILER
    compiler: int = 0

    def __bool__(self) -> bool:
        return bool(self.entries)

    @property
    def steps(self) -> tuple[ProcedureStep, ...]:
        """Every step, those of all ways of a choice too, in order."""
        return tuple(step for entry in self.entries for step in _steps_of(entry))

    @property
    def placeholders(self) -> tuple[str, ...]:
        """Names of all placeholders, in order of appearance."""
        return tuple(dict.fromkeys(name for step in self.steps for name in step.placeholders))

    @property
    def lines(self) -> tuple[str, ...]:
        """One line for each entry, for people and prompts."""
        return tuple(map(str, self.entries))


def _steps_of(entry: Entry) -> Iterator[ProcedureStep]:
    if isinstance(entry, ProcedureStep):
        yield entry
    else:
        for way in entry.ways:
            yield from way


def quoted(text: str) -> str:
    """The text in double quotes."""
    return f'"{text}"'


# JSON


def procedure_to_json(procedure: Procedure) -> dict[str, Any]:
    """Serialise a procedure; empty fields are left out."""
    fields: dict[str, Any] = {
        "steps": [_entry_to_json(entry) for entry in procedure.entries],
        "never": list(procedure.never),
        "unread": list(procedure.unread),
        "origin": procedure.origin.value,
        "compiler": procedure.compiler,
    }
    return {name: value for name, value in fields.items() if value}


def _entry_to_json(entry: Entry) -> dict[str, Any]:
    if isinstance(entry, Choice):
        return {"any": [[_entry_to_json(step) for step in way] for way in entry.ways]}
    named = {name: getattr(entry, name) for name in _TEXTS}
    return {"kind": entry.kind.value} | {name: value for name, value in named.items() if value}


_TEXTS = ("target", "role", "near", "where", "value", "when", "locator")


def procedure_from_json(given: object) -> Procedure:
    """Read the output of ``procedure_to_json``; unknown fields are ignored.

    Raises ``BadTip`` for anything of another shape, of an unknown kind, or beyond the limits.
    """
    fields = _object(given, "steps")
    entries = tuple(_entry_from_json(one) for one in _items(fields, "steps"))
    procedure = Procedure(
        entries=entries,
        never=_texts(fields, "never"),
        unread=_texts(fields, "unread"),
        origin=_origin(fields.get("origin", ProcedureOrigin.COMPILER.value)),
        compiler=_number(fields.get("compiler", 0)),
    )
    if len(procedure.steps) > STEP_LIMIT:
        raise BadTip(f"{len(procedure.steps)} steps are too many, at most {STEP_LIMIT} can be stored")
    return procedure


def _entry_from_json(given: object) -> Entry:
    fields = _object(given, "a step")
    if "any" not in fields:
        return _step_from_json(fields)
    ways = tuple(
        tuple(_step_from_json(_object(step, "a step")) for step in _list(way, "a way"))
        for way in _items(fields, "any")
    )
    if not ways or not all(ways):
        raise BadTip("a choice needs ways with at least one step each")
    return Choice(ways=ways)


def _step_from_json(fields: Mapping[str, Any]) -> ProcedureStep:
    kind = fields.get("kind")
    if not isinstance(kind, str) or kind not in set(StepKind):
        raise BadTip(f"{str(kind)[:40]!r} is no kind of step; use one of {', '.join(StepKind)}")
    step = ProcedureStep(kind=StepKind(kind), **{name: _text(fields.get(name, ""), name) for name in _TEXTS})
    if not (step.target or step.near or step.value):
        raise BadTip(f"the step {kind!r} has no target")
    return step


def _origin(given: object) -> ProcedureOrigin:
    known = isinstance(given, str) and given in set(ProcedureOrigin)
    return ProcedureOrigin(given) if known else ProcedureOrigin.PERSON


def _number(given: object) -> int:
    return given if isinstance(given, int) and not isinstance(given, bool) and given >= 0 else 0


def _object(given: object, name: str) -> Mapping[str, Any]:
    if not isinstance(given, Mapping):
        raise BadTip(f"{name} must be a JSON object")
    return cast("Mapping[str, Any]", given)


def _list(given: object, name: str) -> Sequence[object]:
    if not isinstance(given, list):
        raise BadTip(f"{name} must be a list")
    return cast("list[object]", given)


def _items(fields: Mapping[str, Any], name: str) -> Sequence[object]:
    return _list(fields.get(name, []), repr(name))


def _texts(fields: Mapping[str, Any], name: str) -> tuple[str, ...]:
    items = _items(fields, name)
    if len(items) > NEVER_LIMIT:
        raise BadTip(f"{len(items)} entries of {name!r} are too many, at most {NEVER_LIMIT} can be stored")
    return tuple(_text(item, name) for item in items)


def _text(given: object, name: str) -> str:
    if not isinstance(given, str):
        raise BadTip(f"{name!r} of a step must be a text")
    if len(given) > VALUE_LIMIT:
        raise BadTip(
            f"{name!r} of a step is {len(given):,} characters long, at most {VALUE_LIMIT:,} can be stored"
        )
    return given
