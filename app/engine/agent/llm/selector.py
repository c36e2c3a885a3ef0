"""The selector, "Reason" of Retrieve-Reason-Teleport: picks the page state to work on (WebNavigator, 3.2).

Three questions in order: is enough known of a state, is it the right kind of page, and which of those left needs the
fewest actions. (The published code re-asks without end when it can't read the answer; this one twice.)
"""

from __future__ import annotations

import asyncio
import io
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from app.engine.agent.llm.page_pictures import picture_digest
from app.engine.agent.llm.prompting import Fence, system, user
from app.engine.agent.navigator import StateCandidate
from app.engine.core.chat_messages import ChatMessage, MessagePart, PartKind
from app.engine.core.model_api import (
    INTEGER,
    TEXT,
    AgentRole,
    LanguageModel,
    ModelError,
    ModelErrorKind,
    ModelReply,
    object_schema,
)

RE_ASKS = 2
"""Further requests after an unreadable answer."""
MOST_CANDIDATES = 30
"""States that the selector chooses from, each with its card and picture (WebNavigator, appendix G.4: k = 30)."""
PICTURE_SIDE = 512
"""Longest side of a page's picture in pixels: enough to tell pages apart."""
MAX_PICTURE_BYTES = 1_500_000
"""Bytes of all pictures of one question; candidates beyond have their cards alone."""
_SHOWN_CONTROLS = 24
_SHOWN_HEADINGS = 6
_ANSWER_TOKENS = 400

SCHEMA = object_schema("choice", reasoning=TEXT, page=INTEGER)

Pictures = Callable[[Sequence[str]], Awaitable[dict[str, bytes]]]
"""Reads screenshots by digest."""


class Selector:
    """Chooses among candidates with a model; ``choose`` is the function ``GlobalNavigator`` takes.

    Args:
        pictures: reads screenshots by digest; with it those of the candidates are shown too, made smaller, as long as
            the model takes pictures.
    """

    def __init__(
        self, model: LanguageModel, fence: Fence | None = None, pictures: Pictures | None = None
    ) -> None:
        self._model, self._fence, self._pictures = model, fence or Fence(), pictures
        self._blind = False

    async def choose(self, query: str, intent: str, candidates: Sequence[StateCandidate]) -> int | None:
        """Return the index of the best candidate, ``None`` when none fits.

        Raises:
            ModelError: no answer came, or three of them could not be read.
        """
        if not candidates:
            return None
        shown = await self._shown(candidates)
        messages = [
            system(self._fence.prompt("selector")),
            self._question(query, intent, candidates, shown),
        ]
        why = ""
        for _ in range(1 + RE_ASKS):
            reply = await self._model.ask(
                AgentRole.SELECTOR,
                messages,
                schema=SCHEMA,
                pictures={picture_digest(data): data for data in shown.values()} or None,
                most=_ANSWER_TOKENS,
            )
            self._blind = self._blind or reply.pictures_dropped
            chosen, why = _chosen(reply, len(candidates))
            if not why:
                return chosen
            messages = [*messages[:2], user(f"{why} Answer again.")]
        raise ModelError(f"the selector could not be understood: {why}", ModelErrorKind.UNREADABLE)

    async def _shown(self, candidates: Sequence[StateCandidate]) -> dict[str, bytes]:
        """Return the pictures to send by their candidates' digests, within the bound of bytes."""
        digests = list(dict.fromkeys(one.picture for one in candidates[:MOST_CANDIDATES] if one.picture))
        if self._pictures is None or self._blind or not digests:
            return {}
        found = await self._pictures(digests)
        room, shown = MAX_PICTURE_BYTES, dict[str, bytes]()
        for digest in digests:
            data = await asyncio.to_thread(_smaller, found[digest]) if digest in found else b""
            if data and len(data) <= room:
                room -= len(data)
                shown[digest] = data
        return shown

    def _question(
        self, query: str, intent: str, candidates: Sequence[StateCandidate], shown: dict[str, bytes]
    ) -> ChatMessage:
        cards = "\n".join(self._card(number, one) for number, one in enumerate(candidates, 1))
        pictures = [
            MessagePart(
                kind=PartKind.IMAGE,
                text=f"page {number}",
                digest=picture_digest(shown[one.picture]),
                detail="low",
            )
            for number, one in enumerate(candidates, 1)
            if one.picture in shown
        ]
        asked = f"Task: {intent}\nWhat is looked for: {query}"
        return user(asked, self._fence.around("known pages", cards), *pictures)

    def _card(self, number: int, one: StateCandidate) -> str:
        line = self._fence.line
        told = [f"{number}. {line(one.title) or '(no title)'} at {line(one.url)}"]
        if one.headings:
            told.append(
                f"   headings: {'; '.join(line(text, 80) for text in one.headings[:_SHOWN_HEADINGS])}"
            )
        if one.controls:
            told.append(
                f"   controls: {'; '.join(line(text, 60) for text in one.controls[:_SHOWN_CONTROLS])}"
            )
        if one.matched:
            told.append(
                f"   words that answer to the search: {', '.join(line(text, 40) for text in one.matched)}"
            )
        return "\n".join(told)


def _smaller(picture: bytes) -> bytes:
    """Return a screenshot as a JPEG of ``PICTURE_SIDE`` pixels at most; "" where it can't be read."""
    from PIL import Image

    try:
        with Image.open(io.BytesIO(picture)) as opened:
            image: Any = opened.convert("RGB")
    except OSError:
        return b""
    image.thumbnail((PICTURE_SIDE, PICTURE_SIDE))
    out = io.BytesIO()
    image.save(out, "JPEG", quality=70)
    return out.getvalue()


def _chosen(reply: ModelReply, count: int) -> tuple[int | None, str]:
    """Return the chosen index, or what is wrong with the answer."""
    if reply.data is None or "page" not in reply.data:
        return None, 'The answer has to be JSON with "reasoning" and "page".'
    page = reply.data["page"]
    if isinstance(page, str):
        page = page.strip().rstrip(".")
        page = 0 if page.lower() in ("none", "null", "") else page
    if page is None:
        return None, ""
    try:
        number = int(page)
    except (TypeError, ValueError):
        return None, f'"page" has to be a number from 1 to {count}, or 0 when none fits.'
    if isinstance(page, bool) or not 0 <= number <= count:
        return None, f'"page" has to be a number from 1 to {count}, or 0 when none fits.'
    return (number - 1 if number else None), ""
