"""What a person lets the agent type and nobody may read: a policy sees a name, the page gets the value.

A task names a secret as ``{secret:SHOP_PASSWORD}``; its value comes from the environment
(``SITELORE_SECRET_SHOP_PASSWORD``).  A password written out in the task is lifted out of it and gets a name of its own,
so that it is in no prompt, step, picture, log or tip.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from app.engine.command import Command, TypeKeys, TypeMark, TypeText
from app.engine.errors import UsageError
from app.engine.redaction import MARK

PREFIX = "SITELORE_SECRET_"
_NAMED = re.compile(r"\{secret:([A-Za-z_]\w{0,60})\}")
_WRITTEN = re.compile(
    r"\b(?P<word>pass(?:word|phrase|code)|pin|token|api[ _-]?key)\b"
    r"(?P<link>(?:\s+(?:is|of|field|with|to|as|:))*\s*[:=]?\s*)"
    r"(?:\"(?P<double>[^\"\n]{1,200})\"|'(?P<single>[^'\n]{1,200})'|“(?P<curly>[^”\n]{1,200})”)",
    re.IGNORECASE,
)
_SHORTEST = 4
"""Values shorter than this are not looked for in what the page says: they would be found everywhere."""


class Secrets:
    """Values by name; never shown, not even by ``repr``."""

    def __init__(self, values: Mapping[str, str] | None = None) -> None:
        self._values = dict(values or {})

    def __repr__(self) -> str:
        return f"Secrets({', '.join(self._values)})"

    def fill(self, command: Command) -> Command:
        """The command as the page is to get it."""
        if isinstance(command, TypeText | TypeKeys | TypeMark) and "{secret:" in command.text:
            return replace(command, text=_NAMED.sub(self._value, command.text))
        return command

    def holds(self, command: Command) -> bool:
        """Whether the command types one of them."""
        return isinstance(command, TypeText | TypeKeys | TypeMark) and bool(_NAMED.search(command.text))

    def mask(self, text: str) -> str:
        """A text that comes back from a page or a browser, without any of the values."""
        for value in self._values.values():
            if len(value) >= _SHORTEST and value in text:
                text = text.replace(value, MARK)
        return text

    def tell_to(self, hide: Callable[[str], None]) -> None:
        """Give each value to whoever keeps texts, so that it can be masked there."""
        for value in self._values.values():
            if len(value) >= _SHORTEST:
                hide(value)

    def _value(self, match: re.Match[str]) -> str:
        return self._values.get(match[1], match[0])


def lifted(intent: str, environ: Mapping[str, str]) -> tuple[str, Secrets]:
    """The task without secrets in it, and the secrets.

    Raises:
        UsageError: the task names one that the environment has not.
    """
    values: dict[str, str] = {}
    for name in dict.fromkeys(_NAMED.findall(intent)):
        value = environ.get(PREFIX + name)
        if not value:
            raise UsageError(
                f"the task needs the secret {name}",
                remedy=f"set the variable {PREFIX}{name} and run it again",
            )
        values[name] = value

    def lift(match: re.Match[str]) -> str:
        value = match["double"] or match["single"] or match["curly"] or ""
        if _NAMED.fullmatch(value):
            return match[0]
        name = next((name for name, known in values.items() if known == value), f"WRITTEN_{len(values) + 1}")
        values[name] = value
        return f'{match["word"]}{match["link"]}"{{secret:{name}}}"'

    return _WRITTEN.sub(lift, intent), Secrets(values)
