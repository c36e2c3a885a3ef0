"""The decision in an agent's reason: most reasons begin with the task in other words and decide at the end."""

from __future__ import annotations

import re

_END = re.compile(r"(?<=[.!?])[\"”’')\]]*\s+(?=[A-Z“\"‘'(\[])|\n+")
_DECIDES = re.compile(
    r"\b(?:i(?:'ll| will|’ll| should| am going to|'m going to)|let me|to proceed"
    r"|(?:next|best|first|correct|right|appropriate|immediate|necessary)\s(?:\w+\s){0,2}(?:step|action|move|path)"
    r"|therefore|thus|so i)\b",
    re.IGNORECASE,
)
_NEEDS = re.compile(r"\bi (?:need to|must|have to|can|want to)\b", re.IGNORECASE)
_LATER = re.compile(r"^(?:after|once|then|from there|later|when|this will|if)\b", re.IGNORECASE)


def decision(reason: str) -> str:
    """Return the sentence of a reason that decides what to do; "" where the reason is a single sentence.

    It is the last sentence that says what the agent will or should do, or what the next step is; else the last one
    that says what it needs to do; else the last sentence. One that begins with a later moment ("After that, ...")
    decides nothing yet.
    """
    sentences = [part.strip() for part in _END.split(reason) if part.strip()]
    if len(sentences) < 2:
        return ""
    for pattern in (_DECIDES, _NEEDS):
        for sentence in reversed(sentences):
            if pattern.search(sentence) and not _LATER.match(sentence):
                return sentence
    return sentences[-1]
