"""The messages of a recorded exchange, to be sent again with other tips.  Pure functions.

The tips of a prompt are parts of their own (``prompt_parts.tip_parts``), so that they are exchanged without reading any
text: a part is left out, or takes other words; what is added stands at the end of the section.  The rest stays as it
was sent, with the fence's marker of that run.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from app.engine.agent.llm.prompt_parts import HINTS_HEAD, TIPS_HEAD, tip_parts
from app.engine.agent.llm.prompting import Fence
from app.engine.api.exchange_api import Exchange, ExchangePart
from app.engine.core.chat_messages import ChatMessage, ChatRole, MessagePart, PartKind
from app.engine.core.observation import RetrievedTip
from app.errors import UsageError

_MARKER = re.compile(r"<<end of [^<>\n]{1,60} ([0-9a-f]{12})>>")
_NUMBER = re.compile(r"^(\d+)\. ")


def messages_of(
    exchange: Exchange,
    *,
    without: Sequence[str] = (),
    edited: Mapping[str, str] | None = None,
    added: Sequence[RetrievedTip] = (),
) -> tuple[ChatMessage, ...]:
    """Return an exchange's messages with the tips changed; without changes as they were sent.

    Raises:
        UsageError: a tip is not among those of the prompt, or the record does not tell where they stand.
    """
    texts = dict(edited or {})
    parts = [part for message in exchange.messages for part in message.parts if part.kind == PartKind.TIPS]
    if without or texts or added:
        if not parts:
            raise UsageError(
                "the tips of this prompt can't be told apart: it was recorded by an earlier version, or its role is"
                " given none",
                remedy="ask it again with another model, or take a newer run",
            )
        known = {part.tip for part in parts if part.tip}
        if missing := [tip for tip in (*without, *texts) if tip not in known]:
            there = f"its tips are {', '.join(sorted(known))}" if known else "it has none"
            raise UsageError(f"tip {missing[0][:80]!r} is not in this prompt", remedy=there)
    section = _changed(parts, set(without), texts, added, fence_of(exchange))
    messages: list[ChatMessage] = []
    for message in exchange.messages:
        sent: list[MessagePart] = []
        for part in message.parts:
            if part.kind != PartKind.TIPS:
                sent.append(_part(part))
            elif section:
                sent += section
                section = []
        messages.append(ChatMessage(role=ChatRole(message.role), parts=tuple(sent)))
    return tuple(messages)


def fence_of(exchange: Exchange) -> Fence:
    """Return the fence of the run: its marker stands in our own rules, where no page can write."""
    rules = "\n".join(
        part.text for message in exchange.messages if message.role == "system" for part in message.parts
    )
    texts = (part.text for message in exchange.messages for part in message.parts)
    found = (marker for text in texts for marker in _MARKER.findall(text))
    marker = next((one for one in found if one in rules), "")
    return Fence(marker) if marker else Fence()


def _changed(
    parts: Sequence[ExchangePart],
    without: set[str],
    edited: Mapping[str, str],
    added: Sequence[RetrievedTip],
    fence: Fence,
) -> list[MessagePart]:
    """Return the section of tips; numbers follow each other again where one is left out."""
    if not (without or edited or added):
        return [_part(part) for part in parts]
    said: list[MessagePart] = []
    known: list[MessagePart] = []
    below = said if any(part.text == HINTS_HEAD and not part.tip for part in parts) else known
    for part in parts:
        if not part.tip:
            below = said if part.text == HINTS_HEAD else known
        elif part.tip not in without:
            text = (
                fence.line(edited[part.tip], 600)
                if part.tip in edited
                else _NUMBER.sub("", part.text, count=1)
            )
            number = _NUMBER.match(part.text)
            below.append(replace(_part(part), text=f"{number[1] if number else 0}. {text}"))
    last = max((_number(part) for part in (*said, *known)), default=0)
    for place, tip in enumerate(added, 1):
        part = tip_parts((tip,), fence)[-1]
        known.append(replace(part, text=_NUMBER.sub(f"{last + place}. ", part.text, count=1)))
    order = {id(part): place for place, part in enumerate(sorted((*said, *known), key=_number), 1)}

    def numbered(one: MessagePart) -> MessagePart:
        return replace(one, text=_NUMBER.sub(f"{order[id(one)]}. ", one.text, count=1))

    heads = [MessagePart(kind=PartKind.TIPS, text=HINTS_HEAD)] if said else []
    head = MessagePart(kind=PartKind.TIPS, text=TIPS_HEAD if known else "")
    return [*heads, *map(numbered, said), head, *map(numbered, known)]


def _number(part: MessagePart) -> int:
    found = _NUMBER.match(part.text)
    return int(found[1]) if found else 0


def _part(part: ExchangePart) -> MessagePart:
    return MessagePart(kind=PartKind(part.kind), text=part.text, digest=part.digest, tip=part.tip)
