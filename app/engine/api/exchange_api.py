"""Use cases of exchanges: what each role of a model was sent at a step, and its answer.  Part of ``EngineApi``."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

EXCHANGE_FORMAT = 2
"""Format number of a recorded exchange.  1 has no parameters, no money, and no parts of their own for tips."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExchangeRow:
    """One exchange of a run in a list.

    Attributes:
        step: the step it belongs to; ``None`` for those of the whole run (a judge's, the last answers of a run that
            broke off).
        at: Unix seconds of the request.
        money: US dollars at the price of that time; ``None`` where no price was known or none was recorded.
        truncated: the answer ended at the token limit.
        error: why no answer came, or why the record can't be read; "" otherwise.
        size: bytes of the record.
    """

    digest: str
    step: int | None
    role: str = ""
    model: str = ""
    at: float = 0.0
    tokens_in: int = 0
    tokens_out: int = 0
    cached: int = 0
    seconds: float = 0.0
    money: float | None = None
    truncated: bool = False
    error: str = ""
    size: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ExchangePart:
    """One part of a message: its kind (``chat_messages.PartKind``), its text, the picture's digest or the tip's id.

    ``stored`` is False for a picture whose bytes were not kept.
    """

    kind: str
    text: str = ""
    digest: str = ""
    tip: str = ""
    stored: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class ExchangeMessage:
    """One message that was sent, by the role of its author."""

    role: str
    parts: tuple[ExchangePart, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """One request to a model and its answer, as recorded: without secrets.

    Attributes:
        row: its figures.
        format: of the record; 1 has no parameters, no money, and tips only within texts.
        parameters: what was sent beside the messages, by name: model, effort, limits.
        most: tokens that the role asked for at most.
        schema: title of the answer's schema, "" where free text was asked for.
        data: the answer as indented JSON where it could be read as such.
        pictures_dropped: the endpoint took no pictures, and words were sent in their place.
        previous: digest of the same role's request before it; "" for the first.
    """

    row: ExchangeRow
    format: int = 1
    messages: tuple[ExchangeMessage, ...] = ()
    parameters: dict[str, str] = field(default_factory=dict[str, str])
    most: int = 0
    schema: str = ""
    text: str = ""
    thinking: str = ""
    data: str = ""
    first: float = 0.0
    pictures_dropped: bool = False
    previous: str = ""


class ExchangeApi(Protocol):
    """Use cases of exchanges with a model."""

    async def exchanges(self, run: str, step: int | None = None) -> tuple[ExchangeRow, ...]: ...
    async def exchange(self, run: str, digest: str) -> Exchange: ...
