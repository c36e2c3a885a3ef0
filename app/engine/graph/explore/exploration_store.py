"""The storage an exploration needs: what it writes, and how that is read back after a crash."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from app.engine.api.graph_api import DepthRow
from app.engine.core.page_state import Element, PageState
from app.engine.core.transition import Attempt, FrontierItem, Transition


@dataclass(frozen=True, slots=True, kw_only=True)
class PageContents:
    """The contents of a page, stored once by content hash, without secrets."""

    elements: tuple[Element, ...] = ()
    text: str = ""
    picture: bytes = b""
    thumbnail: bytes = b""


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphTransaction:
    """One transaction, stored as a whole or not at all.

    Attributes:
        states: new states with their contents; ``None`` if only the state's own fields changed.
        seen: ids of states that were seen again.
        transitions: with the attempt that was made, ``None`` for links that were only seen.
        items: frontier items, new or changed.
        spent: seconds of work by depth, and other data for resuming.
    """

    at: float
    exploration: int = 0
    states: tuple[tuple[PageState, PageContents | None], ...] = ()
    seen: tuple[str, ...] = ()
    transitions: tuple[tuple[Transition, Attempt | None], ...] = ()
    items: tuple[FrontierItem, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredExploration:
    """Everything stored about a site.

    ``exploration`` is the number of the last one, ``ended`` how it ended ("" if it was interrupted), ``options`` its
    options, ``depths`` its rows so far.
    """

    states: tuple[PageState, ...] = ()
    transitions: tuple[Transition, ...] = ()
    items: tuple[FrontierItem, ...] = ()
    exploration: int = 0
    home: str = ""
    ended: str = ""
    options: dict[str, object] | None = None
    depths: tuple[DepthRow, ...] = ()


class ExplorationStore(Protocol):
    """A site's graph on disk, as an exploration needs it (``services.graph_recording``)."""

    async def memory(self) -> StoredExploration: ...
    async def begin(self, home: str, options: dict[str, object], at: float) -> int: ...
    async def resume(self, exploration: int) -> None: ...
    async def end(self, exploration: int, ended: str, at: float, depths: Sequence[DepthRow]) -> None: ...
    async def elements(self, page: str) -> tuple[Element, ...]: ...
    async def save(self, entry: GraphTransaction) -> None: ...
