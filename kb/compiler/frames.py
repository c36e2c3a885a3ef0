"""The steps of an imperative, by the frame of its verb: what is acted on, the value, the field and the landmark."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from kb.compiler import names, phrases
from kb.compiler.arguments import listed, place_of
from kb.compiler.fields import FieldFrames, step_of
from kb.compiler.lexicon import ADJECTIVES, DETERMINERS, GERUND, ROLES, words
from kb.compiler.openings import finite_at
from kb.compiler.tokens import Sort, Tokens
from kb.compiler.verbs import Imperative
from kb.procedure import ProcedureStep, StepKind

_ORDINALS = words("first second third last top topmost newest uppermost")

_NUMBERS = words("id number key code")

_FORMATS = words("format formatting form pattern notation word words function tool term calculate formula")

_MEANS = words("with using via through by")

_GENERIC = words("text value values content contents entry entries")


class Frames(FieldFrames):
    """Makes steps of imperatives of one tip."""

    def __init__(self, known: frozenset[str]) -> None:
        super().__init__(known)
        self._make: dict[str, Callable[[Imperative, Tokens, Tokens], list[ProcedureStep]]] = {
            "press": lambda verb, tokens, front: self._press(tokens),
            "open": lambda verb, tokens, front: self._open(tokens),
            "hover": lambda verb, tokens, front: self._each(StepKind.HOVER, tokens),
            "fill": self._fill,
            "replace": lambda verb, tokens, front: self._replace(tokens),
            "give": self._give,
            "choose": lambda verb, tokens, front: self._choose(tokens, front),
            "set": lambda verb, tokens, front: self._set(tokens),
            "tick": lambda verb, tokens, front: self._tick(tokens),
            "read": lambda verb, tokens, front: self._read(tokens),
            "wait": lambda verb, tokens, front: self._wait(tokens),
            "vague": lambda verb, tokens, front: self._vague(verb, tokens),
            "means": lambda verb, tokens, front: self._means(tokens),
        }

    def steps(self, verb: Imperative, tokens: Tokens, front: Tokens) -> list[ProcedureStep]:
        """The steps of an imperative; none if its object can't be told."""
        make = self._make.get(verb.frame)
        if make is None:
            return []
        tokens = [
            one
            for one in tokens
            if one.sort is not Sort.REMARK
            or any(x.sort in (Sort.ADDRESS, Sort.ARROW) for x in one.inner)
            or phrases.is_side(list(one.inner))
        ]
        while tokens and tokens[0].sort is Sort.MARK and tokens[0].text in (",", ":", "."):
            tokens = tokens[1:]
        if not tokens or _is_none(tokens):
            return []
        made = self._by_pressing(tokens) or make(verb, tokens, front)
        return self._in_front(made, front)

    def more(self, frame: str, tokens: Tokens, *, fields: bool = False) -> list[ProcedureStep]:
        """The steps of things without a verb, which go on with the verb before ("hover over A, then over B")."""
        into = any(one.low == "into" for one in tokens)
        frame = "fill" if into else frame if frame in ("hover", "read", "fill") else "press"
        if (
            frame == "fill"
            and not (fields and all(one.is_named or one.low in (",", "and") for one in tokens))
            and not any(one.low in ("into", "in", "with", "below", "under") for one in tokens)
        ):
            frame = "press"
        return self.steps(Imperative(frame, frame, 0), tokens, [])

    def unknown(self, tokens: Tokens) -> list[ProcedureStep]:
        """The control by which an unknown verb is done ("archive it with X")."""
        return self._means(tokens)

    def _in_front(self, made: list[ProcedureStep], front: Tokens) -> list[ProcedureStep]:
        """The steps, the first with the landmark that stood before the verb."""
        if not front or not made:
            return made
        core = phrases.control(front[1:], self._known) if front[0].low in ("on", "in") else None
        if core is not None and core.role in ("tab", "menu") and core.name and core.name != core.role:
            return [step_of(StepKind.PRESS, core), *made]
        if (
            made[0].kind is StepKind.READ
            and core is not None
            and core.role == "heading"
            and front[-1].is_named
        ):
            return [replace(made[0], target=core.name, near="", where=""), *made[1:]]
        if made[0].near or made[0].kind not in (StepKind.PRESS, StepKind.HOVER, StepKind.READ):
            return made
        near, where = phrases.place(front, self._known)
        return [replace(made[0], near=near, where=where), *made[1:]] if near else made

    # controls

    def _addresses(self, tokens: Tokens) -> list[ProcedureStep]:
        found = [(place, one) for place, one in enumerate(tokens) if one.sort is Sort.ADDRESS]
        if not found and any(two.sort is Sort.ARROW for one in tokens for two in one.inner):
            return self._path([two for one in tokens for two in one.inner])
        found = found or [(2, two) for one in tokens for two in one.inner if two.sort is Sort.ADDRESS]
        if not found:
            return []
        place, first = found[0]
        lows = lows_of(tokens)
        by = next((lows[at + 2] for at in range(len(lows) - 2) if lows[at] == "by"), "number")
        example = place > 0 and any(
            one.low in ("eg", "like", "example", "as") for one in tokens[max(0, place - 2) : place]
        )
        chosen = (
            found
            if len(found) > 1
            and found[1][0] - place <= 3
            and tokens[place + 1 : place + 2]
            and tokens[place + 1].low in ("and", ",")
            else found[:1]
        )
        return (
            [
                ProcedureStep(
                    kind=StepKind.OPEN,
                    target=names.address(
                        one.text, by if example and by in _NUMBERS else "number" if example else ""
                    ),
                )
                for _, one in chosen
            ]
            if first
            else []
        )

    def _open(self, tokens: Tokens) -> list[ProcedureStep]:
        made = self._addresses(tokens)
        at = next((place for place, one in enumerate(tokens) if one.sort is Sort.ADDRESS), len(tokens))
        if (
            made
            and lows_of(tokens[at + 1 : at + 2]) == [","]
            and all(part[0].is_named for part in listed(tokens[at + 2 :]))
        ):
            made += self._each(StepKind.PRESS, tokens[at + 2 :])
        return made or self._press(tokens)

    def _press(self, tokens: Tokens) -> list[ProcedureStep]:
        if any(one.sort is Sort.ARROW for one in tokens):
            return self._path(tokens)
        if any(one.sort is Sort.ADDRESS for one in tokens):
            return self._addresses(tokens)
        return self._each(StepKind.PRESS, tokens)

    def _tick(self, tokens: Tokens) -> list[ProcedureStep]:
        return self._each(StepKind.PRESS, tokens, role="checkbox")

    def _read(self, tokens: Tokens) -> list[ProcedureStep]:
        made: list[ProcedureStep] = []
        for part in listed(tokens):
            words = [one.low for one in part]
            if "column" in words[:2] and "of" in words[1:3] and not any(one.is_named for one in part[:4]):
                part = part[words.index("of") + 1 :]
            one = phrases.control(_column(part))
            made += [step_of(StepKind.READ, replace(one, role=""))] if one.name else []
        return made

    def _wait(self, tokens: Tokens) -> list[ProcedureStep]:
        end = finite_at(tokens, 0)
        part = tokens[:end] if end > 0 else tokens
        ends = [
            place
            for place, one in enumerate(part)
            if place and one.low in ("to", "is", "on", "in", "disappears")
        ]
        one = phrases.control(part[: ends[0]] if ends else part)
        return [ProcedureStep(kind=StepKind.WAIT, target=one.name)] if one.name else []

    # values

    def _vague(self, verb: Imperative, tokens: Tokens) -> list[ProcedureStep]:
        if any(one.sort is Sort.ARROW for one in tokens):
            return self._path(tokens)
        if made := self._addresses(tokens):
            return made
        if verb.verb in ("find", "search", "look", "locate") and (sought := self._sought(tokens)):
            return sought
        if verb.verb == "look":
            return self._read(tokens) if any(one.is_named for one in phrases.core_of(tokens)[0]) else []
        core, _ = phrases.core_of(tokens)
        lows = {one.low for one in core}
        if verb.verb == "take" and lows & _ORDINALS:
            return self._press(tokens)
        if lows & _FORMATS or (not any(one.is_named for one in core) and not self._is_role(core)):
            return []
        return self._press(tokens)

    @staticmethod
    def _is_role(core: Tokens) -> bool:
        words = [one.low for one in core if one.low not in DETERMINERS | ADJECTIVES]
        return bool(words) and bool(ROLES.get(words[-1]))

    def _sought(self, tokens: Tokens) -> list[ProcedureStep]:
        """``the order by its number in X``: something typed."""
        at = place_of(tokens, ("in", "with", "using", "under"))
        field = tokens[at + 1 :]
        sure = (
            any(one.sort is Sort.NAME for one in field)
            or self._control(field).role in ("field", "select")
            or "bar" in lows_of(field[:4])
        )
        if not at or not sure or any(one.text == "," for one in tokens[:at]):
            return []
        what = tokens[:at]
        by = place_of(what, ("by",))
        return self._filled([field], [what[by + 1 :] if by else what])

    def _by_pressing(self, tokens: Tokens) -> list[ProcedureStep]:
        """``... by pressing X``, ``it with X``."""
        for place, token in enumerate(tokens[:-1]):
            if token.low == "by" and GERUND.get(tokens[place + 1].low) in ("press", "click"):
                return self._press(tokens[place + 2 :])
        for place, token in enumerate(tokens[1:-1], 1):
            if (
                token.low in ("through", "via")
                and tokens[0].low not in ("through", "via")
                and not any(one.is_named for one in tokens[:place])
            ):
                return self._means(tokens[place:])
        pronoun = tokens[0].low in ("it", "this", "that", "them", "everything", "all")
        if pronoun and len(tokens) > 2 and tokens[1].low in ("with", "by", "using", "via"):
            return self._means(tokens[1:])
        return []

    def _means(self, tokens: Tokens) -> list[ProcedureStep]:
        """The control that an aim is reached by ("save it with X")."""
        for place, token in enumerate(tokens[:-1]):
            if token.low in _MEANS:
                rest = tokens[place + 1 :]
                if rest[0].low in GERUND:
                    rest = rest[1:]
                if phrases.is_control(rest) or rest[0].low == "the":
                    return self._press(rest)
        return []


def _is_none(tokens: Tokens) -> bool:
    """Whether the words say that there is no such thing ("no menu", "is no button")."""
    denied = (
        place for place, one in enumerate(tokens[:3]) if one.is_word and one.low in ("no", "nothing", "none")
    )
    return any(
        (tokens[place].first or not tokens[place].is_capital) and place + 1 < len(tokens) for place in denied
    )


def lows_of(tokens: Tokens) -> list[str]:
    """Small letters of tokens."""
    return [one.low for one in tokens]


def _column(tokens: Tokens) -> Tokens:
    """``the price in the column X`` as ``the column X``."""
    core, rest = phrases.core_of(tokens)
    if any(one.is_named for one in core) or not rest or rest[0].low not in ("in", "under", "from", "of"):
        return tokens
    if core[-1].low in _GENERIC and len(rest) > 1 and rest[1].sort is Sort.NAME:
        return rest[1:]
    inner = [one for one in rest[1:] if one.low not in DETERMINERS]
    return (
        inner
        if inner and inner[0].low in ("column", "line", "field") and len(inner) > 1 and inner[1].is_named
        else tokens
    )
