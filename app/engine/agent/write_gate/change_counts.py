"""How often a change is asked for, and whether its thing is one of several.  Pure."""

from __future__ import annotations

from app.engine.agent.write_gate.name_roles import SPLITTERS
from app.engine.agent.write_gate.vocabulary import TaskToken, number_words, word_set


def count_of(rest: list[TaskToken], objects: tuple[str, ...]) -> int:
    """Return how often a change is asked for: once, as often as names or a number say, 0 for all."""
    words = [token.low for token in rest if not token.name]
    if any(word in word_set("all") - {"any", "both"} for word in words):
        return 0
    head = words[:4]
    numbers = number_words()
    given = [numbers[word] for word in head if word in numbers and word != "one"]
    given += [int(word) for word in head[:3] if word.isdecimal() and 0 < int(word) <= 100 and not objects]
    if given:
        return max(*given, len(objects), 1)
    if len(objects) > 1:
        return len(objects)
    return 0 if not objects and (_is_plural(words) or _is_plural(_owned(words))) else 1


def _owned(words: list[str]) -> list[str]:
    """Return the words after ``of``: ``the price of … leggings``."""
    return words[words.index("of") + 1 :] if "of" in words else []


def _is_plural(words: list[str]) -> bool:
    """Whether the head noun, before any preposition, is a plural: ``the positive reviews``."""
    head: list[str] = []
    for word in words:
        if word in word_set("where") | word_set("whose") | word_set("toward") or word in SPLITTERS:
            break
        head.append(word)
    last = next((word for word in reversed(head) if word.isalpha() and word not in word_set("stop")), "")
    return (
        len(last) > 3
        and last.endswith("s")
        and not last.endswith(("ss", "us", "is", "news", "settings", "status"))
    )


def picks_one(rest: list[TaskToken]) -> bool:
    words = [token.low for token in rest[:8] if not token.name]
    superlative = any(
        len(word) > 5 and word.endswith("est") and word not in ("request", "latest") for word in words
    )
    return superlative or any(word in word_set("positions") | word_set("one") | {"latest"} for word in words)
