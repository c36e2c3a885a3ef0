"""What the agent asks of a language model.  ``app.engine.agent.model`` talks to an endpoint; a replay need not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

from app.engine.agent.messages import Message
from app.engine.errors import SiteloreError


class AgentRole(StrEnum):
    """For whom a model is asked; tokens, money and time are counted for each."""

    ORCHESTRATOR = "orchestrator"
    PLANNER = "planner"
    OPERATOR = "operator"
    SUMMARIZER = "summarizer"
    SELECTOR = "selector"
    VISION = "vision"
    JUDGE = "judge"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A model's answer.

    Attributes:
        text: the whole answer.  thinking: reasoning it came with, where the endpoint tells.
        data: the answer as JSON where a schema was asked for and it could be read, else ``None``.
        tokens: in, out; cached: of those in, how many the endpoint says it had in its cache.
        seconds: until the last token; first: until the first one.
        digest: content hash of the recorded exchange, "" where none is kept.
        cut: it ended because of its length.
        unseen: there were pictures, and the endpoint takes none: the model was told of them in words only.
    """

    text: str
    thinking: str = ""
    data: dict[str, Any] | None = None
    tokens: tuple[int, int] = (0, 0)
    cached: int = 0
    seconds: float = 0.0
    first: float = 0.0
    digest: str = ""
    cut: bool = False
    model: str = ""
    unseen: bool = False


class ModelTrouble(StrEnum):
    """Why there is no answer."""

    UNREACHABLE = "unreachable"
    UNAUTHORISED = "unauthorised"  # 401, 403: no retry
    RATE_LIMITED = "rate limited"  # 429 until the budget of time ran out
    SERVER = "server"  # 5xx until the budget ran out
    TIMEOUT = "timeout"
    REFUSED = "refused"  # 4xx: the request itself
    BUDGET = "budget"  # tokens, money or time of the run are used up
    UNREADABLE = "unreadable"  # what came is no answer
    NO_MODEL = "no model"  # no endpoint is set


class ModelError(SiteloreError):
    """No answer came; ``trouble`` says why, the message says what to do."""

    def __init__(self, message: str, trouble: ModelTrouble, remedy: str = "") -> None:
        super().__init__(f"{message} ({remedy})" if remedy else message)
        self.trouble = trouble


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What one role has used: calls, tokens in and out, of those in cached, seconds, retries, money in US dollars."""

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cached: int = 0
    seconds: float = 0.0
    retries: int = 0
    money: float = 0.0


class Model(Protocol):
    """A model behind an endpoint, or a recording of one."""

    async def ask(
        self,
        role: AgentRole,
        messages: Sequence[Message],
        *,
        schema: dict[str, Any] | None = None,
        pictures: dict[str, bytes] | None = None,
        most: int = 1024,
    ) -> Reply:
        """One answer of at most ``most`` tokens; ``pictures`` by the digest that image parts name.

        ``schema`` is a JSON schema (with a ``title``) the answer is to follow: asked for as structured output where the
        endpoint offers it, read tolerantly where not.

        Raises:
            ModelError: no answer came.
        """
        ...

    def usage(self) -> dict[AgentRole, Usage]:
        """What was used so far."""
        ...

    async def aclose(self) -> None:
        """Close the connection."""
        ...
