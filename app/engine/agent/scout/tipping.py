"""What tips name that can be gone by: menu paths, addresses, controls, each with what it is for.  Pure.

A tip is an expert's knowledge of a site.  Only what it names is used (a path such as "REPORTS > Orders", a control in
quotes, an address), and only where the words around it meet the words of the task.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from app.engine.agent.scout.wording import meaning, overlap
from app.engine.core.observation import RetrievedTip

_PATH = re.compile(
    r"([A-Z][\w&'-]*(?:\s+[\w&'-]+){0,3}?(?:\s*>\s*\"?[A-Z][\w&'-]*(?:\s+(?!for\b|and\b|by\b|with\b|to\b|at\b|,)[\w&'-]+){0,3}\"?)+)"
)
_ADDRESS = re.compile(r"(?<![\w.])(/[a-z0-9][\w-]*(?:/[\w-]+)*/?)(?=[\s,.;)]|$)")
_QUOTED = re.compile(r"[\"“]([^\"”]{2,60})[\"”]")
_PIECE = re.compile(r"(?<=[.;:])\s+|,\s+(?:and\s+)?|\s+and\s+(?=/)")
_NOT = re.compile(
    r"(?:\b(?:not|never|avoid|without|except|unless|instead of|rather than|wrong)\b|\b\w{2,7}n['’]t\b)"
    r".{0,400}?(?=[.;!?,](?:\s|$)|\bbut\b|\n|$)",
    re.IGNORECASE,
)
"""What is not to be done is not named."""
_WHY = re.compile(r"\b(?:because|otherwise|or else)\b.{0,400}?(?=[.;!?](?:\s|$)|\n|$)", re.IGNORECASE)
"""Why a thing is so names nothing to be done either."""
LEAST = 0.9
"""How many words of the task a tip must meet, at least, to be gone by."""
FAINT = 0.3
"""Below this it has nothing to do with the task."""
BESIDE = 0.6
"""What is worth less than this share of the best is left alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lead:
    """One thing a tip names.

    Attributes:
        path: parts of a menu path; ``address`` a path of the site; ``control`` what is to be pressed or used.
        around: the words it stands among: what it is for.
        whole: the tip's text and when it applies.
    """

    tip: str
    path: tuple[str, ...] = ()
    address: str = ""
    control: str = ""
    around: str = ""
    whole: str = ""

    def worth(self, goal: frozenset[str]) -> float:
        """How well it meets the words of a task: those right around it count full, the rest of its tip a third."""
        said = f"{' '.join(self.path)} {self.address.replace('/', ' ')} {self.control} {self.around}"
        near = overlap(goal, said)
        exact = near / max(1, len(meaning(said)))
        return near * (0.6 + 0.8 * exact) + overlap(goal, self.whole) / 3


def blank(one: re.Match[str]) -> str:
    """Spaces in the place of what was matched, so that everything else stays where it was."""
    return " " * len(one[0])


def without_warnings(text: str) -> str:
    """Words without those that say what is not to be done."""
    return _NOT.sub(blank, text)


def advice(text: str) -> str:
    """A tip's words without its warnings and its reasons: what is left is what it says to do."""
    return _WHY.sub(blank, without_warnings(text))


@lru_cache(maxsize=256)
def _leads(tip: str, text: str, when: str, do: str) -> tuple[Lead, ...]:
    made: dict[tuple[object, ...], Lead] = {}
    whole = f"{text} {when}"
    for part in (text, do):
        for piece in _PIECE.split(advice(part)):
            around = _PATH.sub(" ", piece)
            found: list[Lead] = [
                Lead(
                    tip=tip,
                    path=tuple(step.strip(" \"'.") for step in one[1].split(">")),
                    around=around,
                    whole=whole,
                )
                for one in _PATH.finditer(piece)
            ]
            found += [
                Lead(tip=tip, address=one[1], around=around, whole=whole) for one in _ADDRESS.finditer(piece)
            ]
            found += [
                Lead(tip=tip, control=one[1], around=around, whole=whole) for one in _QUOTED.finditer(piece)
            ]
            for lead in found:
                made.setdefault((lead.path, lead.address, lead.control), lead)
    return tuple(made.values())


def leads_of(tips: Sequence[RetrievedTip]) -> list[Lead]:
    """Everything the tips name, in their order; a person's words to the run are gone by at once, not weighed."""
    return [
        lead for tip in tips if tip.kind != "person" for lead in _leads(tip.tip, tip.text, tip.when, tip.do)
    ]


def ranked(tips: Sequence[RetrievedTip], goal: frozenset[str]) -> list[tuple[float, Lead]]:
    """What the tips name and the task is about, best first."""
    rated = [(lead.worth(goal), lead) for lead in leads_of(tips)]
    return sorted((one for one in rated if one[0] >= FAINT), key=lambda one: -one[0])
