"""A vision model that answers by a script, without looking at the picture."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from typing import Any

from app.engine.core.chat_messages import ChatMessage, PartKind
from app.engine.core.model_api import AgentRole, ModelReply, ModelUsage
from app.engine.core.page_state import Element, PageCapture, Rect


@dataclass
class Asked:
    """One question the model got."""

    system: str
    question: str
    pictures: dict[str, bytes]
    most: int


@dataclass
class ScriptedVision:
    """Answers each question by ``brain``, after ``seconds``; waits for ``hold`` first where it is set."""

    brain: Callable[[Asked], str | Exception]
    seconds: float = 0.0
    hold: asyncio.Event | None = None
    asked: list[Asked] = field(default_factory=list)
    cancelled: int = 0
    blind: bool = False

    async def ask(
        self,
        role: AgentRole,
        messages: Sequence[ChatMessage],
        *,
        schema: dict[str, Any] | None = None,
        pictures: dict[str, bytes] | None = None,
        most: int = 1024,
        actions: object = None,
    ) -> ModelReply:
        assert role is AgentRole.VISION
        assert schema is not None
        texts = [part.text for m in messages for part in m.parts if part.kind is PartKind.TEXT]
        named = {part.digest for m in messages for part in m.parts if part.kind is PartKind.IMAGE}
        assert named == set(pictures or {})
        asked = Asked(texts[0], "\n".join(texts[1:]), pictures or {}, most)
        self.asked.append(asked)
        try:
            if self.hold is not None:
                await self.hold.wait()
            await asyncio.sleep(self.seconds)
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        answer = self.brain(asked)
        if isinstance(answer, Exception):
            raise answer
        return ModelReply(
            text=answer, tokens=(800, 60), digest=f"call-{len(self.asked)}", pictures_dropped=self.blind
        )

    def usage(self) -> dict[AgentRole, ModelUsage]:
        return {AgentRole.VISION: ModelUsage(calls=len(self.asked))}

    async def aclose(self) -> None:
        """Nothing is held."""


def seen(label: str, box: Rect, page: PageCapture, **more: object) -> dict[str, object]:
    """Return a box as the model would draw it around these pixels."""
    width, height = page.viewport
    left, top, right, bottom = box[0], box[1], box[0] + box[2], box[1] + box[3]
    thousandths = [top * 1000 / height, left * 1000 / width, bottom * 1000 / height, right * 1000 / width]
    return {"label": label, "box_2d": [round(side) for side in thousandths], "confidence": 0.9, **more}


def answer(*boxes: dict[str, object], page_type: str = "form", summary: str = "A form") -> str:
    """Return a complete answer."""
    return json.dumps({"page_type": page_type, "summary": summary, "boxes": list(boxes)})


def everything_on(page: PageCapture) -> str:
    """Return what a faultless model would see: every visible element, by its name."""
    return answer(
        *(
            seen(named(element), element.rect, page, role=element.role)
            for element in page.elements
            if element.visible and element.rect and within(element.rect, page)
        )
    )


def named(element: Element) -> str:
    """Return the label on an element."""
    return element.name or element.label or element.text or element.tag


def within(rect: Rect, page: PageCapture) -> bool:
    """Whether a part of it is inside the viewport."""
    return (
        rect[0] < page.viewport[0]
        and rect[1] < page.viewport[1]
        and rect[0] + rect[2] > 0
        and rect[1] + rect[3] > 0
    )


class Background:
    """Keeps background tasks."""

    def __init__(self) -> None:
        self.tasks: list[asyncio.Task[None]] = []

    def spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work)
        self.tasks.append(task)
        return task
