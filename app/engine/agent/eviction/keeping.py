"""How much is kept, and which turns count as new.  Pure data."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from app.engine.agent.memory.entries import Entry
from app.engine.agent.messages import Message, Part


@dataclass(frozen=True, slots=True, kw_only=True)
class Keep:
    """What of the newest is kept; the numbers are SuperBrowser's (section 5.3).

    Attributes:
        images, failures, states, lists: how many of each, the newest; thinking: of how many turns.
        turns: of how many turns anything is left at all, once there are more than ``messages`` messages.
        stride: the windows move on only at every ``stride``-th turn, all of them together.  Any change in the middle
            makes the whole rest of the prompt new to an endpoint's cache; with a stride that happens once in so many
            turns, for up to ``stride - 1`` more turns being kept.  1 is the paper's own way.
    """

    images: int = 2
    failures: int = 1
    states: int = 2
    thinking: int = 3
    lists: int = 1
    turns: int = 5
    messages: int = 30
    stride: int = 1

    def since(self, newest: int, turns: int) -> int:
        """The first turn that counts as new where ``turns`` are kept and ``newest`` is the last one."""
        return newest - newest % self.stride - (turns - 1)

    def settled(self, newest: int) -> int:
        """The first turn that a cut does not look at; with a stride what came after the last one waits for the next."""
        return newest + 1 if self.stride == 1 else newest - newest % self.stride


@dataclass(frozen=True, slots=True, kw_only=True)
class Now:
    """The page that the model is about to act on: states of the same page stay, as a sign of being stuck."""

    url: str = ""
    title: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Removal:
    """One part that was taken out or cut down: of which turn, by which phase, and what it was, whole."""

    phase: int
    turn: int
    part: Part


@dataclass(frozen=True, slots=True, kw_only=True)
class Evicted:
    """What is left, what the ledger is to remember of the rest, and what was taken out."""

    messages: tuple[Message, ...]
    entries: tuple[Entry, ...] = ()
    removed: tuple[Removal, ...] = ()


def newest_turn(messages: Iterable[Message]) -> int:
    """The last turn there is; -1 where there is none."""
    return max((message.turn for message in messages), default=-1)


Place = tuple[int, int, int]
"""Turn, message, part: places in the order of time."""


def places(messages: Sequence[Message]) -> list[tuple[Place, Part]]:
    """Every live part with its place, oldest first."""
    return sorted(
        (
            ((message.turn, at, number), part)
            for at, message in enumerate(messages)
            if not message.archived
            for number, part in enumerate(message.parts)
        ),
        key=lambda found: found[0],
    )
