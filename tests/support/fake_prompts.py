"""The prompts and sets of actions of an engine without disk."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from app.engine.agent.llm.prompting import bundled_prompts
from app.engine.api.prompt_api import ActionSetRow, ActionSets, PromptDetail, PromptRow, PromptSaved
from app.engine.core.actions.action_sets import BUILT_IN, make_set
from app.engine.core.events import EventBus, PromptsChanged
from app.engine.core.prompt_rules import checked_prompt
from app.engine.core.prompt_set import placeholders, prompt_digest, text_tokens
from app.engine.services.prompts import action_rows, operator_tokens

SAVED_AT = 1_750_000_000.0


class FakePrompts:
    """Keeps own texts in ``own_prompts`` and sets in ``own_sets`` by the real rules."""

    bus: EventBus
    own_prompts: dict[str, str]
    own_sets: dict[str, tuple[str, ...]]
    saved_prompts: list[tuple[str, str]]

    def start_prompts(self) -> None:
        self.own_prompts, self.own_sets, self.saved_prompts = {}, {}, []

    async def list_prompts(self) -> list[PromptRow]:
        return [self._prompt_row(name) for name in bundled_prompts().texts]

    async def open_prompt(self, name: str, version: str = "") -> PromptDetail:
        texts = {prompt_digest(text): text for _, text in self.saved_prompts if text}
        bundled = bundled_prompts().texts[name]
        return PromptDetail(
            row=self._prompt_row(name),
            text=texts[version] if version else self.own_prompts.get(name, bundled),
            bundled=bundled,
            history=tuple(
                PromptSaved(digest=prompt_digest(text) if text else "", at=SAVED_AT + at, author="ana")
                for at, (one, text) in enumerate(self.saved_prompts)
                if one == name
            )[::-1],
        )

    async def save_prompt(self, name: str, text: str, dropped: Sequence[str] = ()) -> PromptDetail:
        self._call("save_prompt", name, text, tuple(dropped))
        self.own_prompts[name] = checked_prompt(name, text, bundled_prompts().texts[name], dropped)
        return await self._prompt_saved(name, self.own_prompts[name])

    async def reset_prompt(self, name: str) -> PromptDetail:
        self._call("reset_prompt", name)
        self.own_prompts.pop(name, None)
        return await self._prompt_saved(name, "")

    async def action_sets(self) -> ActionSets:
        sets = [
            *BUILT_IN.values(),
            *(make_set(name, calls, own=True) for name, calls in self.own_sets.items()),
        ]
        return ActionSets(
            sets=tuple(
                ActionSetRow(
                    name=one.name, calls=one.calls, digest=one.digest, why=one.why, own=one.own,
                    tokens=operator_tokens(bundled_prompts(), one.calls),
                )
                for one in sets
            ),
            actions=tuple(action_rows()),
        )  # fmt: skip

    async def save_action_set(self, name: str, calls: Sequence[str]) -> ActionSets:
        self._call("save_action_set", name, tuple(calls))
        self.own_sets[name] = make_set(name, calls, own=True).calls
        self.bus.publish(PromptsChanged())
        return await self.action_sets()

    async def remove_action_set(self, name: str) -> ActionSets:
        self._call("remove_action_set", name)
        del self.own_sets[name]
        self.bus.publish(PromptsChanged())
        return await self.action_sets()

    async def _prompt_saved(self, name: str, text: str) -> PromptDetail:
        self.saved_prompts.append((name, text))
        self.bus.publish(PromptsChanged())
        return await self.open_prompt(name)

    def _prompt_row(self, name: str) -> PromptRow:
        bundled = bundled_prompts().texts[name]
        text = self.own_prompts.get(name, bundled)
        return PromptRow(
            name=name, title=name.replace("_", " ").capitalize(), about=bundled.partition(".")[0] + ".",
            own=name in self.own_prompts, digest=prompt_digest(text), tokens=text_tokens(text),
            placeholders=placeholders(bundled),
        )  # fmt: skip

    def _call(self, name: str, *args: Any) -> None:
        raise NotImplementedError
