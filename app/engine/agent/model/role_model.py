"""A model that is asked in one role, whatever role the caller names: the larger vision model beside the small one."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from app.engine.core.chat_messages import ChatMessage
from app.engine.core.model_api import AgentRole, LanguageModel, ModelReply, ModelUsage


class RoleModel:
    """Another model of the same endpoint, with the same budget and record."""

    def __init__(self, model: LanguageModel, role: AgentRole) -> None:
        self._model, self._role = model, role

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
        """Ask in the role of this model.  Raises ``ModelError``."""
        return await self._model.ask(
            self._role, messages, schema=schema, pictures=pictures, most=most, actions=actions
        )

    def usage(self) -> dict[AgentRole, ModelUsage]:
        """Return the use of the model in all roles."""
        return self._model.usage()

    async def aclose(self) -> None:
        """Do nothing: the model belongs to another."""
