"""Usage of one decision: its calls, their tokens and their time."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

from app.engine.core.chat_messages import ChatMessage
from app.engine.core.model_api import AgentRole, LanguageModel, ModelReply


@dataclass(slots=True)
class UsageTracker:
    """Asks a model and adds up the usage of one decision."""

    model: LanguageModel
    calls: list[str] = field(default_factory=list[str])
    tokens_in: int = 0
    tokens_out: int = 0
    seconds: float = 0.0
    blind: set[AgentRole] = field(default_factory=set[AgentRole])
    """Roles whose model was not shown the pictures of a request: it takes none."""

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
        """See ``LanguageModel.ask``."""
        reply = await self.model.ask(
            role, messages, schema=schema, pictures=pictures, most=most, actions=actions
        )
        self.tokens_in += reply.tokens[0]
        self.tokens_out += reply.tokens[1]
        self.seconds += reply.seconds
        if reply.pictures_dropped:
            self.blind.add(role)
        if reply.digest:
            self.calls.append(reply.digest)
        return reply
