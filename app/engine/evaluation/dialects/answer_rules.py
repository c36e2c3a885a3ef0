"""Comparison of texts as WebArena publishes it, with its quirks."""

from __future__ import annotations

from app.engine.evaluation.dialects.word_tokens import word_tokens

_QUOTES = ("'", '"')
OR = " |or| "


def clean_answer(text: str) -> str:
    """Return a text without outer blanks and one outer pair of quotation marks, in lower case.

    The marks need not belong together: ``'a' and 'b'`` becomes ``a' and 'b``.
    """
    text = text.strip()
    for quote in _QUOTES:
        if text.startswith(quote) and text.endswith(quote):
            text = text[1:-1]
            break
    return text.lower()


def exact_match(reference: str, answer: str) -> float:
    """Whether both are the same once they are cleaned."""
    return float(clean_answer(answer) == clean_answer(reference))


def must_include(reference: str, answer: str, *, tokenise: bool = False) -> float:
    """Whether the reference is part of the answer.

    With ``tokenise`` a reference of one character has to be a word of it, so that ``0`` is not found in ``10``.
    """
    wanted, said = clean_answer(reference), clean_answer(answer)
    if tokenise and len(wanted) == 1 and len(word_tokens(wanted)) == 1:
        return float(wanted in word_tokens(said))
    return float(wanted in said)


def must_include_any(reference: str, answer: str, *, tokenise: bool = False) -> float:
    """Return ``must_include`` for alternatives joined by `` |or| `` in either case (WebChoreArena).

    Published with a fault that is kept: with ``tokenise`` an alternative of one character always holds, since it is
    searched for in itself.
    """
    wanted, said = clean_answer(reference), clean_answer(answer)
    if OR not in wanted:
        return must_include(reference, answer, tokenise=tokenise)
    for one in (part.strip() for part in wanted.split(OR)):
        if (tokenise and len(one) == 1 and word_tokens(one) == [one]) or one in said:
            return 1.0
    return 0.0
