"""The words that a filter line knows: which of them are wrong, and what the last one may become.  Pure."""

from __future__ import annotations

import difflib
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

_WORD = re.compile(r"""(?:[^\s"']|"[^"]*"|'[^']*')+""")
_NAME = re.compile(r"[^\W\d][\w-]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownWord:
    """A word that looks like a filter and is none; ``nearest`` is the known word most like it, "" for none.

    ``word`` is the name with its colon (``"nonsense:"``) or, where only the value is wrong, both (``"order:foo"``).
    """

    word: str
    nearest: str = ""

    def __str__(self) -> str:
        hint = f"; did you mean {self.nearest}?" if self.nearest else ""
        return f'unknown filter word "{self.word}"{hint}'


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueForm:
    """The form that a value must have, and an example of it (``>0.1``)."""

    pattern: re.Pattern[str]
    example: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FilterVocabulary:
    """The words of one filter line.

    Attributes:
        switches: words that stand alone.
        fields: names that take a value after a colon.
        values: what is offered after a field's colon.
        checked: the only values that a field may have.
        forms: the form that a field's values must have.
        bare: values that are offered without their field, once begun.
    """

    switches: tuple[str, ...]
    fields: tuple[str, ...]
    values: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    checked: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    forms: Mapping[str, ValueForm] = field(default_factory=dict[str, ValueForm])
    bare: Sequence[str] = ()

    def unknown_words(self, text: str) -> tuple[UnknownWord, ...]:
        """Return the words of a filter line that look like filters and are none, and values that can't be.

        Quoted words and addresses are searched for, so they are not among them.
        """
        found: list[UnknownWord] = []
        for word in filter_words(text):
            name, colon, value = word.partition(":")
            if not colon or not _NAME.fullmatch(name) or value.startswith("//"):
                continue
            if name.lower() not in self.fields:
                found.append(UnknownWord(word=f"{name}:", nearest=_nearest(name.lower(), self.fields, ":")))
            elif wrong := self._wrong_value(word, name, value.strip("\"'")):
                found.append(wrong)
        return tuple(dict.fromkeys(found))

    def completions(self, text: str) -> tuple[str, ...]:
        """Return what the last word of a filter line may become, in a fixed order: ``lab`` -> ``label:``.

        A word with a colon is completed by the values of its field; values with spaces come in quotes.  After a space
        there is no word to complete, and all words are returned.
        """
        last = _last_word(text)
        name, colon, begun = last.partition(":")
        if colon:
            begun = begun.strip("\"'").lower()
            known = self.values.get(name.lower(), ())
            return tuple(
                f"{name.lower()}:{quoted(value)}" for value in known if value.lower().startswith(begun)
            )
        begun = last.lower()
        words = [*self.switches, *(f"{name}:" for name in self.fields)]
        if begun:  # without a beginning, the names of sites would hide the words
            words += [quoted(value) for value in self.bare]
        return tuple(word for word in words if word.lower().startswith(begun) and word != last)

    def _wrong_value(self, word: str, name: str, value: str) -> UnknownWord | None:
        known, form = self.checked.get(name.lower()), self.forms.get(name.lower())
        if value and known is not None and value not in known:
            near = _nearest(value.lower(), known)
            return UnknownWord(word=word, nearest=f"{name}:{quoted(near)}" if near else "")
        if value and form is not None and not form.pattern.fullmatch(value):
            return UnknownWord(word=word, nearest=f"{name}:{form.example}")
        return None


def filter_words(text: str) -> list[str]:
    """Return the words of a filter line, those in quotes as one."""
    return _WORD.findall(text)


def split_words(text: str) -> list[str]:
    """Return the words of a filter line without their quotes; no input is an error."""
    try:
        return shlex.split(text)
    except ValueError:  # a quote that is still open while typing
        return text.replace('"', " ").replace("'", " ").split()


def complete(text: str, completion: str) -> str:
    """Return the filter line with its last word replaced by a completion."""
    return text[: len(text) - len(_last_word(text))] + completion


def quoted(value: str) -> str:
    """Return a value as the filter line takes it: in quotes where it holds a space or a quote."""
    if not re.search(r"[\s\"'\\]", value):
        return value
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _last_word(text: str) -> str:
    """Return the word that is being typed at the end, with its quote if that is still open; "" after a space."""
    start, quote = 0, ""
    for at, letter in enumerate(text):
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "\"'":
            quote = letter
        elif letter.isspace():
            start = at + 1
    return text[start:]


def _nearest(word: str, known: Iterable[str], end: str = "") -> str:
    near = difflib.get_close_matches(word, list(known), n=1, cutoff=0.5)
    return near[0] + end if near else ""
