"""Interface to a language model.  ``app.engine.agent.model`` calls an endpoint; a replay need not."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from app.engine.core.chat_messages import ChatMessage
from app.errors import SiteloreError


class AgentRole(StrEnum):
    """Roles a model is asked for; tokens, money and time are counted for each."""

    ORCHESTRATOR = "orchestrator"
    PLANNER = "planner"
    OPERATOR = "operator"
    SUMMARIZER = "summarizer"
    ALIGNMENT = "alignment"
    SELECTOR = "selector"
    VISION = "vision"
    LARGER_VISION = "larger vision"
    JUDGE = "judge"
    DRAFTER = "drafter"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelReply:
    """A model's answer.

    Attributes:
        text: the whole answer.  thinking: its reasoning, where the endpoint reports it.
        data: the answer as JSON where a schema was asked for and it could be read, else ``None``.
        tokens: in, out; cached: input tokens that the endpoint had in its cache.
        seconds: until the last token; first: until the first one.
        digest: content hash of the recorded exchange, "" where none is stored.
        parameters: what was sent beside the messages (``recording_model.sent_parameters``).
        money: US dollars at the price of that time; ``None`` where no price is known.
        truncated: it ended at the token limit.
        pictures_dropped: pictures were replaced by words, because the endpoint takes none.
        context: tokens of prompt and answer that the endpoint takes, ``None`` where that is not known.
        reasoning: names the sealed reasoning, for the digest of a thinking part; "" where there is none.
    """

    text: str
    thinking: str = ""
    data: dict[str, Any] | None = None
    tokens: tuple[int, int] = (0, 0)
    cached: int = 0
    seconds: float = 0.0
    first: float = 0.0
    digest: str = ""
    truncated: bool = False
    model: str = ""
    pictures_dropped: bool = False
    parameters: dict[str, Any] = field(default_factory=dict[str, Any])
    money: float | None = None
    context: int | None = None
    reasoning: str = ""


class ModelErrorKind(StrEnum):
    """Kinds of failures to get an answer."""

    UNREACHABLE = "unreachable"
    UNAUTHORISED = "unauthorised"  # 401, 403: no retry
    RATE_LIMITED = "rate limited"  # 429 until the time budget ran out
    SERVER = "server"  # 5xx until the budget ran out
    TIMEOUT = "timeout"
    REFUSED = "refused"  # 4xx: the request itself
    TOO_LONG = "too long"  # the prompt does not fit into the context
    BUDGET = "budget"  # tokens, money or time of the run are used up
    UNREADABLE = "unreadable"  # the response is no answer
    NO_MODEL = "no model"  # no endpoint is set


class ModelError(SiteloreError):
    """No answer came; ``trouble`` says why, the message what to do.

    ``context`` is the tokens that would fit, where the prompt was too long.
    """

    def __init__(
        self, message: str, trouble: ModelErrorKind, remedy: str = "", *, context: int | None = None
    ) -> None:
        super().__init__(f"{message} ({remedy})" if remedy else message)
        self.kind, self.context = trouble, context


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelUsage:
    """Use of a model by one role: calls, tokens in and out, cached tokens, seconds, retries, money in US dollars.

    ``money`` is ``None`` where a call was made to a model whose price is not known; ``model`` is the last one asked.
    """

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cached: int = 0
    seconds: float = 0.0
    retries: int = 0
    money: float | None = 0.0
    model: str = ""


class LanguageModel(Protocol):
    """A model behind an endpoint, or a recording of one."""

    async def ask(
        self,
        role: AgentRole,
        messages: Sequence[ChatMessage],
        *,
        schema: dict[str, Any] | None = None,
        pictures: dict[str, bytes] | None = None,
        most: int = 1024,
        actions: Collection[str] | None = None,
    ) -> ModelReply:
        """Return one answer of at most ``most`` tokens; ``pictures`` by the digest that image parts name.

        ``schema`` is a JSON schema (with a ``title``) for the answer: requested as structured output where the
        endpoint offers
        it, read tolerantly where not. ``actions`` may be offered as tools; calls of them stand in the answer's text as
        if they had been written.

        Raises:
            ModelError: no answer came.
        """
        ...

    def usage(self) -> dict[AgentRole, ModelUsage]:
        """Return the use so far."""
        ...

    async def aclose(self) -> None:
        """Close the connection."""
        ...


TEXT: dict[str, Any] = {"type": "string"}
NUMBER: dict[str, Any] = {"type": "number"}
INTEGER: dict[str, Any] = {"type": "integer"}
TRUTH: dict[str, Any] = {"type": "boolean"}
"""JSON schemas of plain values."""


def choice_schema(values: Iterable[str]) -> dict[str, Any]:
    """Return the JSON schema of one of some words."""
    return {"type": "string", "enum": list(values)}


def list_schema(items: dict[str, Any]) -> dict[str, Any]:
    """Return the JSON schema of a list."""
    return {"type": "array", "items": items}


def object_schema(title: str = "", **properties: dict[str, Any]) -> dict[str, Any]:
    """Return the JSON schema of an object with exactly these properties, as strict mode wants it.

    A model writes them in this order, so what it is to think about comes before what follows from it.
    """
    return {
        **({"title": title} if title else {}),
        "type": "object",
        "additionalProperties": False,
        "required": list(properties),
        "properties": properties,
    }
