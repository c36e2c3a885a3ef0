"""Secrets the agent may type and nobody may read: a policy sees a name, the page gets the value.

A task names a secret as ``{secret:SHOP_PASSWORD}``; its value comes from the environment
(``SITELORE_SECRET_SHOP_PASSWORD``).  A password written in the task is extracted and gets a name of its own, so that
it is in no prompt, step, picture, log or tip.  A page may echo a secret (in its text, title, address, a dialog, a
field that shows its input): ``app.engine.agent.secret_masking`` masks it in every look.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Mapping
from dataclasses import replace

from app.engine.core.actions.types import Action, TypeKeys, TypeMark, TypeText
from app.engine.core.redaction import MARK
from app.engine.core.task_secrets import NAMED, SHORTEST, WRITTEN, extract_secrets
from app.errors import UsageError

PREFIX = "SITELORE_SECRET_"
_PARTS = re.compile(r"\s+|\S+")

FieldKey = tuple[tuple[str, ...], str]
"""A field of a page by its chain of frames and its CSS path."""


class Secrets:
    """Values by name; never shown, not even by ``repr``.

    ``hosts`` are those of the run, where the values may be typed at all; empty for the host where the run
    begins.
    """

    def __init__(self, values: Mapping[str, str] | None = None) -> None:
        self._values = dict(values or {})
        self._fields: set[FieldKey] = set()
        self._approved: set[object] = set()
        self.hosts: frozenset[str] = frozenset()
        self._forms: re.Pattern[str] | None = None
        self._compile()

    def __repr__(self) -> str:
        return f"Secrets({', '.join(self._values)})"

    def fill(self, action: Action) -> Action:
        """Return the action with values in place of names; ``secret_fields.use_of`` says whether it is allowed.

        Raises:
            UsageError: it names an unknown secret.
        """
        if isinstance(action, TypeText | TypeKeys | TypeMark) and "{secret:" in action.text:
            return replace(action, text=NAMED.sub(self._value, action.text))
        return action

    def knows(self, name: str) -> bool:
        """Whether there is a value of this name."""
        return name in self._values

    def approve(self, use: object) -> None:
        """Record that a person allows this use of a value (``secret_fields.Use.key``)."""
        self._approved.add(use)

    def is_approved(self, use: object) -> bool:
        """Whether a person allows this use."""
        return use in self._approved

    def hide(self, value: str, field: FieldKey | None = None) -> None:
        """Hide this value and the content of this field from now on: a person typed it."""
        if field is not None:
            self._fields.add(field)
        if value and value not in self._values.values():
            self._values[f"BY_HAND_{len(self._values) + 1}"] = value
            self._compile()

    def is_hidden(self, field: FieldKey) -> bool:
        """Whether a person typed a secret into this field."""
        return field in self._fields

    def mask(self, text: str) -> str:
        """Mask every value, in each of its spellings, in a text from a page or a browser."""
        return self._forms.sub(MARK, text) if self._forms is not None else text

    def occurs_in(self, text: str) -> bool:
        """Whether one of the values occurs in a text."""
        return self._forms is not None and self._forms.search(text) is not None

    def value(self, name: str) -> str:
        """Return the value of this name, "" where there is none."""
        return self._values.get(name, "")

    @property
    def has_values(self) -> bool:
        """Whether there is a value to look for."""
        return self._forms is not None

    def _compile(self) -> None:
        looked_for = sorted((v for v in self._values.values() if len(v) >= SHORTEST), key=len, reverse=True)
        self._forms = re.compile("|".join(map(_spelling_pattern, looked_for))) if looked_for else None

    def _value(self, match: re.Match[str]) -> str:
        if match[1] not in self._values:
            raise UsageError(f"there is no secret {match[1]}")
        return self._values[match[1]]


def _spelling_pattern(value: str) -> str:
    """Return a pattern for the spellings of a value in pages, addresses and files, character by character.

    A value of letters alone is matched with its case, one with a digit or a sign in upper and lower case.
    """
    signs = (
        _space_pattern(part) if part.isspace() else "".join(map(_character_pattern, part))
        for part in _PARTS.findall(value)
    )
    pattern = "".join(signs)
    return pattern if value.isalpha() else f"(?i:{pattern})"


def _space_pattern(gap: str) -> str:
    """Return a pattern for whitespace; pages collapse several spaces into one."""
    return rf"(?:\s|\+|%20|&nbsp;|{'|'.join(map(_character_pattern, gap))})+"


def _character_pattern(sign: str) -> str:
    if sign.isascii() and sign.isalnum():
        return sign
    octets = sign.encode("utf-8", "replace")
    ways = {
        sign,
        "\\" + sign,
        "".join(f"%{octet:02X}" for octet in octets),
        "".join(f"%{octet:02x}" for octet in octets),
        html.escape(sign),
        f"&#{ord(sign)};",
        json.dumps(sign)[1:-1],
    }
    return f"(?:{'|'.join(re.escape(way) for way in sorted(ways, key=lambda way: (-len(way), way)))})"


def resolve_secrets(
    intent: str, environ: Mapping[str, str], known: Secrets | None = None
) -> tuple[str, Secrets]:
    """Replace written secrets in a task by names; return the task and its secrets.

    ``known`` are those extracted from this task before; the environment has the others.

    Raises:
        UsageError: the task names a secret that neither has.
    """
    values: dict[str, str] = {}
    for name in dict.fromkeys(NAMED.findall(intent)):
        value = (known.value(name) if known is not None else "") or environ.get(PREFIX + name)
        if not value:
            gone = ", which was written in it and is stored nowhere" if name.startswith(WRITTEN) else ""
            raise UsageError(
                f"the task needs the secret {name}{gone}",
                remedy=f"set the variable {PREFIX}{name} and run it again",
            )
        values[name] = value
    intent = extract_secrets(intent, values)
    return intent, Secrets(values)
