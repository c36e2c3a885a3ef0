"""Values of tips: what is filled in or chosen, literal or supplied by the task."""

from __future__ import annotations

from kb.compiler.lexicon import (
    ARTICLES,
    ROLES,
    words,
)
from kb.compiler.names import address, name_in, placeholder, shouted, slot
from kb.compiler.phrases import bare as plain_phrase
from kb.compiler.tokens import Sort, Token, Tokens, written

_FROM_TASK = words("task question user request")


def value(tokens: Tokens) -> str:
    """A value to fill in or choose: literal if quoted, a number or a name; else a placeholder."""
    tokens = value_tokens(plain_phrase(tokens))
    for token in tokens:
        if token.sort is Sort.NAME:
            return slot(token.text)
        if token.sort is Sort.ADDRESS:
            return address(token.text)
        if token.sort is Sort.SLOT:
            return placeholder(token.text)
    if not tokens:
        return ""
    text = written(tokens)
    bare = [one for one in tokens if one.low not in ARTICLES or one.is_capital]
    if not bare or tokens[0].text[0].isdigit():
        return text if bare else ""
    place, length = name_in(bare)
    if length and not any("'s" in one.low for one in bare):
        name = written(bare[place : place + length])
        if shouted(name) or (len(bare) < len(tokens) and name.isupper() and len(name) > 1):
            return placeholder(name)
        if place == 0 or all(
            one.low in ROLES or one.low in ("value", "text", "entry") for one in bare[:place]
        ):
            return name
    return placeholder(text)


def value_tokens(tokens: Tokens) -> Tokens:
    """The value without where it comes from ("... from the task", "that the task names")."""
    for place in range(1, len(tokens)):
        token = tokens[place]
        if token.is_capital:
            continue
        following = [one.low for one in tokens[place + 1 : place + 3]]
        if token.low in (
            "that",
            "which",
            "so",
            "because",
            "if",
            "when",
            "unless",
            "before",
            "after",
            "below",
            "above",
        ):
            return tokens[:place]
        if token.low in ("from", "in", "of", "for", "at", "on", "by") and not _inner(
            token, tokens[:place], following
        ):
            return tokens[:place]
        if token.low in ("the", "given") and (_FROM_TASK & set(following[:2])) and place > 1:
            return tokens[:place]
        if token.low in ("you", "given", "asked", "mentioned"):
            return tokens[:place]
        if token.sort is Sort.MARK and token.text in ",:":
            return tokens[:place]
    return tokens


def _inner(preposition: Token, before: Tokens, following: list[str]) -> bool:
    """Whether a preposition belongs to the value ("the name of the page")."""
    if _FROM_TASK & set(following[:2]):
        return False
    return preposition.low == "of" or (preposition.low == "for" and before[-1].low in ("reason",))
