"""Typed messages of a model's live context.  A part's meaning is its type and never read from its text.

SuperBrowser finds failures, states and element lists by patterns in the text, so that a page saying "HTTP 404"
becomes a dead end; here the page's words are only ever ``text``.  Pure data.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class ChatRole(StrEnum):
    """Author of a message."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


class PartKind(StrEnum):
    """Kinds of message parts."""

    TEXT = "text"
    LEDGER = "ledger"  # the rendered ledger
    TIPS = "tips"  # one tip in force (``tip`` is its id), or the line above them
    IMAGE = "image"  # ``digest`` names the picture
    CAPTION = "caption"  # a vision model's description
    STATE = "state"  # address, title, tabs
    ELEMENTS = "elements"  # the element list or tree
    THINKING = "thinking"
    TOOL_CALL = "tool call"
    TOOL_RESULT = "tool result"
    MARKER = "marker"  # placeholder of an evicted part


@dataclass(frozen=True, slots=True, kw_only=True)
class MessagePart:
    """One part.

    Attributes:
        text: what is sent; of an image its description without addresses.
        digest: content hash of a picture; of a whole element list, its name for lists that change it; of thinking, the
            name of its sealed form (``ModelReply.reasoning``).
        detail: of a picture: ``low``, ``high`` or ``auto`` for the endpoint, "" for its default.
        call: id that ties a tool call to its result.
        failed, cause, target: of a tool result, from its typed ``effect.Result``.
        url, title, state: of a state part and of a tool result: where it was.
        evicted: of a marker, the kind of the evicted part; of a tool result, that only a line of it is left.
        base: of an element list written as changes, the ``digest`` of the list it changes.
        tip: of a tip in force, its id.
    """

    kind: PartKind
    text: str = ""
    digest: str = ""
    detail: str = ""
    call: str = ""
    failed: bool = False
    cause: str = ""
    target: str = ""
    url: str = ""
    title: str = ""
    state: str = ""
    evicted: PartKind | None = None
    base: str = ""
    tip: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatMessage:
    """One message; ``turn`` is the step it belongs to, -1 for the system's."""

    role: ChatRole
    parts: tuple[MessagePart, ...]
    turn: int = -1
    archived: bool = False
