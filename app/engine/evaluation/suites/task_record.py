"""One task of a suite file as its author wrote it, read field by field; what is wrong is named with its number."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from app.errors import InputError

LONGEST_ID = 300
MOST_ITEMS = 1_000
"""Items of one list of a task at most."""


@dataclass(frozen=True, slots=True)
class TaskRecord:
    """An object of a suite file, or an object inside one.

    Attributes:
        fields: the object.
        number: of the task in its file, from 1.
        path: of the file; "" where the bytes were in hand.
        within: the fields that lead to it, with a dot behind; "" for the task itself.
    """

    fields: Mapping[str, Any]
    number: int
    path: str = ""
    within: str = ""

    @classmethod
    def of(cls, value: object, number: int, path: str) -> TaskRecord:
        """Return a record of a task.  Raises ``InputError`` if it is no object."""
        if not isinstance(value, dict):
            raise InputError(
                f"task {number}: it is not an object",
                path=path,
                remedy='write {"intent": "…", "start_url": "…"}',
            )
        return cls(cast("dict[str, Any]", value), number, path)

    def wrong(self, what: str, remedy: str = "") -> InputError:
        """Return the error that names this task."""
        return InputError(f"task {self.number}: {what}", path=self.path, remedy=remedy)

    def text(self, name: str, default: str = "") -> str:
        """Return a text; ``null`` is none.  Raises ``InputError``."""
        value = self.fields.get(name)
        if value is None:
            return default
        if not isinstance(value, str):
            raise self.wrong(f"its {self.within}{name} is not a text", 'write it in quotes: "…"')
        return value

    def word(self, name: str) -> str:
        """Return a text, or a number as text: ids are written both ways."""
        value = self.fields.get(name)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return str(value)
        return self.text(name).strip()

    def texts(self, name: str, *, numbers: bool = False) -> tuple[str, ...]:
        """Return a list of texts; one text counts as a list of one, and numbers as texts if asked for.

        Raises ``InputError``.
        """
        value = self.fields.get(name)
        if value is None:
            return ()
        given = cast("list[Any]", value if isinstance(value, list) else [value])
        if len(given) > MOST_ITEMS:
            raise self.wrong(f"its {self.within}{name} has more than {MOST_ITEMS:,} items", "leave some out")
        good = (str, int, float) if numbers else (str,)
        if any(isinstance(one, bool) or not isinstance(one, good) for one in given):
            raise self.wrong(f"its {self.within}{name} are not texts", 'write a list such as ["…", "…"]')
        return tuple(str(one) for one in given)

    def flag(self, name: str) -> bool | None:
        """Return yes or no, ``None`` where it is not said.  Raises ``InputError``."""
        value = self.fields.get(name)
        if value is not None and not isinstance(value, bool):
            raise self.wrong(f"its {self.within}{name} is neither true nor false", "write true or false")
        return value

    def count(self, name: str) -> int:
        """Return a positive whole number, 0 where there is none.  Raises ``InputError``."""
        value = self.fields.get(name)
        if value is None:
            return 0
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 1_000_000:
            raise self.wrong(
                f"its {self.within}{name} is not a positive whole number", "write one such as 30"
            )
        return value

    def inner(self, name: str) -> TaskRecord:
        """Return an object inside this one, empty where there is none.  Raises ``InputError``."""
        value = self.fields.get(name)
        if value is None:
            return TaskRecord({}, self.number, self.path, f"{self.within}{name}.")
        return self._object(value, name)

    def inners(self, name: str) -> tuple[TaskRecord, ...]:
        """Return a list of objects inside this one.  Raises ``InputError``."""
        value = self.fields.get(name)
        if value is None:
            return ()
        if not isinstance(value, list):
            raise self.wrong(f"its {self.within}{name} is not a list", "write a list of objects: [{…}]")
        given = cast("list[Any]", value)
        if len(given) > MOST_ITEMS:
            raise self.wrong(f"its {self.within}{name} has more than {MOST_ITEMS:,} items", "leave some out")
        return tuple(self._object(one, f"{name}.{at}") for at, one in enumerate(given))

    def id(self, *names: str) -> str:
        """Return the task's id by the first of these fields that is there; "" for none.  Raises ``InputError``."""
        found = next((word for name in names if (word := self.word(name))), "")
        if len(found) > LONGEST_ID or not found.isprintable():
            raise self.wrong(
                f"its id {found[:40]!r}… can't be an id"
                if len(found) > 40
                else f"its id {found!r} can't be an id",
                f"use one line of at most {LONGEST_ID} printable characters",
            )
        return found

    def intent(self, *, may_be_empty: bool = False) -> str:
        """Return what is to be done.  Raises ``InputError`` where it is not said."""
        value = self.fields.get("intent")
        text = value.strip() if isinstance(value, str) else ""
        if not text and not may_be_empty:
            raise self.wrong("it has no intent", "say in words what is to be done")
        return text

    def _object(self, value: object, name: str) -> TaskRecord:
        if not isinstance(value, dict):
            raise self.wrong(f"its {self.within}{name} is not an object", "write it as {…}")
        return TaskRecord(cast("dict[str, Any]", value), self.number, self.path, f"{self.within}{name}.")
