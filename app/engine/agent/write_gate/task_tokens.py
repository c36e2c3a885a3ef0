"""Tokens of a task: clauses and words; a quoted text is one name.  Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from app.engine.agent.write_gate.vocabulary import word_set

OPEN, CLOSE = "\ue000", "\ue001"
_QUOTED = re.compile(
    r"\"([^\"\n]{1,400})\"|“([^”\n]{1,400})”|«([^»\n]{1,400})»|`([^`\n]{1,400})`|(?<![\w])['‘]([^'‘’\n]{1,200})['’](?![\w])"
)
_SENTENCE = re.compile(r"(?<=[.!?;:])\s+|\n[\s*-]*|•")
_TOKEN = re.compile(
    rf"{OPEN}\d+{CLOSE}|#\d+|[$€£]?\d(?:[\d.,:/-]*\d)?%?|[^\W\d_][\w.@/+-]*(?:['’][a-z]+)?|[,()]",
    re.UNICODE,
)
_SECRET = re.compile(r"\{secret:\w+\}")
_SHAPE = re.compile(r"[\[{(<][^\[\]{}()<>\n\ue000]{0,200}[\]})>]")
"""Brackets: the format of an answer, or an aside."""
_DIGITS = re.compile(r"\d")


@dataclass(frozen=True, slots=True)
class TaskToken:
    """A word, a sign, or a name; ``quoted`` where it was in quotes."""

    text: str
    name: bool = False
    quoted: bool = False

    @property
    def low(self) -> str:
        """The text in lower case."""
        return self.text.casefold()


def replace_quotes(text: str, quotes: list[str]) -> str:
    """Return the text with a mark in place of each quoted name, so that no quoted word is read as a verb."""

    def keep(match: re.Match[str]) -> str:
        quotes.append(next(part for part in match.groups() if part is not None).strip())
        return f" {OPEN}{len(quotes) - 1}{CLOSE} "

    plain = _SECRET.sub(" ", text.replace(OPEN, " ").replace(CLOSE, " "))
    return _SHAPE.sub(" , ", _QUOTED.sub(keep, plain))


def clauses(text: str) -> Iterator[str]:
    """Yield sentences, and lines of a list."""
    for sentence in _SENTENCE.split(text):
        if sentence.strip():
            yield sentence.strip()


def tokens_of(clause: str, quotes: list[str]) -> list[TaskToken]:
    """Return the words of a clause; adjacent capitalised words are one name, quoted texts come back from
    ``quotes``.
    """
    tokens: list[TaskToken] = []
    for match in _TOKEN.finditer(clause):
        word = match[0]
        if word[0] == OPEN:
            tokens.append(TaskToken(quotes[int(word[1:-1])], name=True, quoted=True))
            continue
        if word.endswith(("'s", "’s")) and len(word) > 3:
            tokens.extend(
                (TaskToken(word[:-2].rstrip("."), name=_is_name(word[:-2], bool(tokens))), TaskToken("'s"))
            )
            continue
        bare = word if word in (",", "(", ")") else word.strip(".,")
        if bare:
            tokens.append(TaskToken(bare, name=_is_name(bare, bool(tokens))))
    return _joined(tokens)


def _is_name(word: str, later: bool) -> bool:
    """Whether a word looks like a name: ``#12``, ``sci_fi``, ``a/b``, ``iPad``, or a capital within a sentence."""
    if word.casefold() in word_set("dates"):
        return False
    if word.startswith("#") or "@" in word or "_" in word or "/" in word[1:]:
        return True
    if word[0].isdigit() or word[0] in "$€£":
        return False
    inner = any(letter.isupper() for letter in word[1:])
    return bool(inner or _DIGITS.search(word) or ("-" in word[1:-1] and later)) or (
        later and word[0].isupper()
    )


def _joined(tokens: list[TaskToken]) -> list[TaskToken]:
    """Join adjacent capitalised words into one name; quoted names stay by themselves."""
    made: list[TaskToken] = []
    for token in tokens:
        last = made[-1] if made else None
        if last is not None and _bare(token) and _bare(last):
            made[-1] = TaskToken(f"{last.text} {token.text}", name=True)
        else:
            made.append(token)
    return made


def _bare(token: TaskToken) -> bool:
    return token.name and not token.quoted and token.text[:1].isupper()
