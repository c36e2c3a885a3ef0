"""How many tokens a message costs, about: what an endpoint counts depends on its model.  Pure functions.

Four ASCII characters to a token is what tokenisers of language models come to on English prose; lists of elements take
somewhat more.  The same rule on both sides of a comparison leaves the ratio as it is.
"""

from __future__ import annotations

from collections.abc import Iterable

from app.engine.agent.messages import Message, Part, PartKind

CHARACTERS = 4
FOREIGN = 1.5
"""Characters a token where they are not ASCII."""

PICTURE = 1_105
"""A picture of 1280 x 720 in OpenAI's tiles: 85, and 170 for each of six."""

FRAME = 4
"""What a message costs beside its parts: who speaks, where it begins and ends."""


def count_text(text: str) -> int:
    """Tokens of a text, at least 1 where there is any."""
    if text.isascii():
        return -(-len(text) // CHARACTERS)
    plain = len(text.encode("ascii", "ignore"))
    return int(plain / CHARACTERS + (len(text) - plain) / FOREIGN) + 1


def count_part(part: Part) -> int:
    """Tokens of one part; a picture counts by its tiles, not by its bytes."""
    return count_text(part.text) + (PICTURE if part.kind is PartKind.IMAGE else 0)


def count_message(message: Message) -> int:
    """Tokens of a message."""
    return FRAME + sum(map(count_part, message.parts))


def count(messages: Iterable[Message]) -> int:
    """Tokens of a list of messages."""
    return sum(map(count_message, messages))
