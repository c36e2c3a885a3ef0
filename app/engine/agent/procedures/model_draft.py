"""Steps of a tip drafted by a language model: the question, and the strict reading of its answer.

The answer is untrusted: the model may have been misled by the tip, which may quote a page.  The rules:

- an object of another shape, with an unknown field, of an unknown kind or beyond the limits is refused as a whole;
- a text has no line breaks and no invisible characters, and is at most 200 characters long;
- braces hold the name of a placeholder, or the step is left out;
- a step that acts on a thing the tip forbids, or names in a reason or a warning, is left out;
- an address is a path or an http(s) address that stands in the tip, or the step is left out;
- a control whose name does not stand in the tip is kept and marked, for the expert to look at.

Recorded locators, forbidden things and the origin are never taken from an answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, cast
from urllib.parse import urlsplit

from app.engine.agent.llm.prompting import Fence, system, user, visible
from app.engine.core.chat_messages import ChatMessage
from app.engine.core.model_api import TEXT, choice_schema, list_schema, object_schema
from kb.compiler import compile_text, compiled
from kb.compiler.phrases import ROLES
from kb.errors import BadTip
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

MAX_TIP = 6_000
"""Characters of a tip's part that are shown to the model."""
MAX_TEXT = 200
"""Maximum characters of one text of a step."""
MAX_WAYS = 6

_TEXTS = ("target", "role", "near", "where", "value", "when")
_STEP = object_schema(kind=choice_schema(kind.value for kind in StepKind), **dict.fromkeys(_TEXTS, TEXT))
SCHEMA = object_schema("tip_steps", steps=list_schema(object_schema(ways=list_schema(list_schema(_STEP)))))

_ACTS = frozenset({StepKind.OPEN, StepKind.PRESS, StepKind.HOVER, StepKind.FILL, StepKind.CHOOSE})
_WORDS = re.compile(r"[^\W_]+")
_ROLE_WORDS = frozenset({"a", "an", "the", *(word for word in ROLES if " " not in word)})
"""Words that say of which sort a control is, and not which one."""


@dataclass(frozen=True, slots=True)
class StepDraft:
    """A model's steps for a tip, as far as they may be followed.

    Attributes:
        left_out: a line for each step that was left out, with the reason.
        marked: a line for each kept step that names what the tip does not.
    """

    procedure: Procedure
    left_out: tuple[str, ...] = ()
    marked: tuple[str, ...] = ()


def question(draft: TipDraft, fence: Fence) -> list[ChatMessage]:
    """Ask for the steps of a tip; all its text is fenced."""
    parts = {"text": draft.text, "when": draft.when, "do": draft.do, "before": draft.before, "why": draft.why}
    told = "\n".join(f"{name}: {text[:MAX_TIP]}" for name, text in parts.items() if text.strip())
    return [system(fence.prompt("draft_steps")), user(fence.around("the tip", told))]


def read_answer(data: Mapping[str, Any] | None, draft: TipDraft) -> StepDraft:
    """Read a model's answer about a tip.

    Raises:
        BadTip: it is no list of steps; nothing of it is used.
    """
    if data is None:
        raise BadTip("the model's answer is not the JSON that was asked for")
    given = list(map(_ways_of, _items(_fields(data, {"steps"}), "steps")))
    if (count := sum(len(way) for ways in given for way in ways)) > STEP_LIMIT:
        raise BadTip(f"the model's answer has {count} steps, at most {STEP_LIMIT} can be stored")
    check = _StepCheck(draft)
    entries = tuple(check.kept(given))
    never = compiled(draft).never
    made = Procedure(entries=entries, never=never, origin=ProcedureOrigin.MODEL)
    return StepDraft(made, tuple(dict.fromkeys(check.left_out)), tuple(dict.fromkeys(check.marked)))


# the shape


def _ways_of(given: object) -> list[tuple[ProcedureStep, ...]]:
    ways = _items(_fields(given, {"ways"}), "ways")
    if not 0 < len(ways) <= MAX_WAYS:
        raise BadTip(f"a step of the model's answer has {len(ways)} ways; 1 to {MAX_WAYS} are possible")
    return [tuple(map(_step, _list(way, "a way"))) for way in ways]


def _step(given: object) -> ProcedureStep:
    fields = _fields(given, {"kind", *_TEXTS})
    kind = fields.get("kind")
    if not isinstance(kind, str) or kind not in set(StepKind):
        raise BadTip(f"the model's answer has a step of the unknown kind {str(kind)[:40]!r}")
    step = ProcedureStep(kind=StepKind(kind), **{name: _text(fields.get(name, ""), name) for name in _TEXTS})
    if not (step.target or step.near or step.value):
        raise BadTip(f"the model's answer has a step {kind!r} without a target")
    return step


def _fields(given: object, known: set[str]) -> Mapping[str, Any]:
    if not isinstance(given, Mapping):
        raise BadTip("the model's answer is not laid out as was asked for")
    fields = cast("Mapping[str, Any]", given)
    if unknown := sorted(set(fields) - known):
        raise BadTip(f"the model's answer has the unknown field {unknown[0][:40]!r}")
    return fields


def _items(fields: Mapping[str, Any], name: str) -> list[object]:
    return _list(fields.get(name), repr(name))


def _list(given: object, name: str) -> list[object]:
    if not isinstance(given, list):
        raise BadTip(f"{name} of the model's answer is not a list")
    items = cast("list[object]", given)
    if len(items) > STEP_LIMIT:
        raise BadTip(
            f"{name} of the model's answer has {len(items)} entries, at most {STEP_LIMIT} are possible"
        )
    return items


def _text(given: object, name: str) -> str:
    if not isinstance(given, str):
        raise BadTip(f"{name!r} of the model's answer is not a text")
    text = " ".join(given.split())
    if len(text) > MAX_TEXT:
        raise BadTip(
            f"{name!r} of the model's answer is {len(text):,} characters long, at most {MAX_TEXT} may be"
        )
    if visible(text) != text:
        raise BadTip(f"{name!r} of the model's answer has invisible characters")
    return text


# the content


@dataclass
class _StepCheck:
    """Which steps of an answer may be steps of a tip."""

    draft: TipDraft
    left_out: list[str] = field(default_factory=list[str])
    marked: list[str] = field(default_factory=list[str])

    def __post_init__(self) -> None:
        draft, own = self.draft, compiled(self.draft)
        warned = (compile_text("", before=part).never for part in (draft.before, draft.why) if part)
        forbidden = [*own.never, *(name for names in warned for name in names)]
        acted = {_key(step.target) for step in own.steps}
        self._forbidden = {key for name in forbidden if (key := _key(name)) and key not in acted}
        self._acted = acted
        said = (draft.text, draft.do, draft.when, draft.before, str(draft.scope))
        self._said = " ".join(said).casefold()
        self._words = f" {' '.join(_WORDS.findall(self._said))} "

    def kept(self, entries: Iterable[list[tuple[ProcedureStep, ...]]]) -> Iterator[Entry]:
        """Yield the entries without the steps that may be none."""
        for ways in entries:
            kept = [way for way in (tuple(filter(self._may_be, way)) for way in ways) if way]
            if len(kept) > 1:
                yield Choice(ways=tuple(kept))
            else:
                yield from (step for way in kept for step in way)

    def _may_be(self, step: ProcedureStep) -> bool:
        reason = self._refusal(step)
        if reason:
            self.left_out.append(f"{step}: {reason}")
        elif not self._is_named(step):
            self.marked.append(f"{step}: the tip does not name it")
        return not reason

    def _refusal(self, step: ProcedureStep) -> str:
        if any(mark in PLACEHOLDER.sub("", f"{step.target}{step.near}{step.value}") for mark in "{}"):
            return "its braces hold no placeholder"
        if step.kind not in _ACTS:
            return ""
        if any(map(self._is_forbidden, (step.target, step.value if step.kind is StepKind.CHOOSE else ""))):
            return "the tip warns of it"
        return self._address_refusal(step.target) if step.kind is StepKind.OPEN else ""

    def _is_forbidden(self, text: str) -> bool:
        """Whether a forbidden thing is named in a text that the tip itself does not act on."""
        key = _key(text)
        return (
            bool(key) and key not in self._acted and any(f" {one} " in f" {key} " for one in self._forbidden)
        )

    def _address_refusal(self, target: str) -> str:
        try:
            scheme = urlsplit(target).scheme
        except ValueError:
            return "it is no address"
        if not target.startswith(("/", "http://", "https://")) or target.startswith("//"):
            return f"{scheme}: is no address of a page" if scheme else "it is no address"
        plain = PLACEHOLDER.split(target)[0].casefold().rstrip("/")
        return "" if plain and plain in self._said else "the tip names no such address"

    def _is_named(self, step: ProcedureStep) -> bool:
        """Whether every control and landmark of a step stands in the tip; placeholders count as named."""
        if step.kind is StepKind.OPEN:
            return True
        parts = (PLACEHOLDER.sub(" ", text).casefold() for text in (step.target, step.near))
        return all(f" {word} " in self._words for part in parts for word in _WORDS.findall(part))


def _key(text: str) -> str:
    """Return a thing's words without its role; of an address all its words."""
    words = _WORDS.findall(text.casefold())
    return " ".join([word for word in words if word not in _ROLE_WORDS] or words)
