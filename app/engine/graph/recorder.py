"""What an exploration writes down, and how it is read back when one goes on after a crash."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from app.engine.graph_api import DepthRow
from app.engine.page_state import Element, PageState
from app.engine.transition import Attempt, FrontierItem, Transition


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """What a page showed; stored once by content, secrets taken out."""

    elements: tuple[Element, ...] = ()
    text: str = ""
    picture: bytes = b""
    thumbnail: bytes = b""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One transaction: all of it is stored, or nothing.

    Attributes:
        states: new states with their contents; ``None`` where only the state's own fields changed.
        seen: ids of states that were looked at again.
        transitions: with the attempt that was made, ``None`` for links that were only seen.
        items: frontier items, new or changed.
        spent: seconds of work by depth, and other things to go on with.
    """

    at: float
    exploration: int = 0
    states: tuple[tuple[PageState, Contents | None], ...] = ()
    seen: tuple[str, ...] = ()
    transitions: tuple[tuple[Transition, Attempt | None], ...] = ()
    items: tuple[FrontierItem, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """What is stored of a site.

    ``exploration`` is the number of the last one, ``ended`` how it ended ("" where it was interrupted), ``options``
    what it was asked, ``depths`` its rows so far.
    """

    states: tuple[PageState, ...] = ()
    transitions: tuple[Transition, ...] = ()
    items: tuple[FrontierItem, ...] = ()
    exploration: int = 0
    home: str = ""
    ended: str = ""
    options: dict[str, object] | None = None
    depths: tuple[DepthRow, ...] = ()


class GraphRecorder(Protocol):
    """A site's graph on disk, as an exploration needs it."""

    async def memory(self) -> Memory:
        """Everything that is stored."""
        ...

    async def begin(self, home: str, options: dict[str, object], at: float) -> int:
        """A new exploration; what waited for the one before is forgotten.  Gives its number."""
        ...

    async def resume(self, exploration: int) -> None:
        """The exploration of this number goes on."""
        ...

    async def end(self, exploration: int, ended: str, at: float, depths: Sequence[DepthRow]) -> None:
        """Say how it ended."""
        ...

    async def elements(self, page: str) -> tuple[Element, ...]:
        """Elements of a stored state."""
        ...

    async def save(self, entry: Entry) -> None:
        """Store one step whole."""
        ...
