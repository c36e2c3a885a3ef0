"""Use cases of the workspace's prompts and sets of actions.  Part of ``EngineApi``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptRow:
    """A prompt of the program.

    Attributes:
        about: its first sentence.
        own: the workspace's own text is in force.
        digest: version in force.  tokens: estimated of the template.
        placeholders: names of the bundled one's.
    """

    name: str
    title: str
    about: str
    own: bool
    digest: str
    tokens: int
    placeholders: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptSaved:
    """A saved version of a prompt; ``digest`` is "" for the bundled one.  ``at`` is in Unix seconds."""

    digest: str
    at: float
    author: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptDetail:
    """A prompt with its text, the bundled text and the history, latest first."""

    row: PromptRow
    text: str
    bundled: str
    history: tuple[PromptSaved, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionRow:
    """A call that an agent may be offered.

    Attributes:
        group: the group it belongs to.  ends: it ends a task.
        tokens: estimated of its line in the prompt.
    """

    name: str
    usage: str
    help: str
    group: str
    ends: bool
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionSetRow:
    """A set of actions; ``tokens`` are estimated of the operator's whole system prompt with it."""

    name: str
    calls: tuple[str, ...]
    digest: str
    tokens: int
    why: str = ""
    own: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionSets:
    """All sets and all actions, in the order in which a model is told about them."""

    sets: tuple[ActionSetRow, ...]
    actions: tuple[ActionRow, ...]


class PromptApi(Protocol):
    """Prompts and sets of actions of the workspace."""

    async def list_prompts(self) -> list[PromptRow]: ...
    async def open_prompt(self, name: str, version: str = "") -> PromptDetail: ...
    async def save_prompt(self, name: str, text: str, dropped: Sequence[str] = ()) -> PromptDetail: ...
    async def reset_prompt(self, name: str) -> PromptDetail: ...
    async def action_sets(self) -> ActionSets: ...
    async def save_action_set(self, name: str, calls: Sequence[str]) -> ActionSets: ...
    async def remove_action_set(self, name: str) -> ActionSets: ...
