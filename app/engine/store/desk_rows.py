"""Supervision's data as rows: JSON documents that are read strictly, and whose broken ones cost only themselves."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable
from enum import StrEnum
from functools import cache
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from app.engine.errors import UsageError
from app.engine.supervision import LONGEST_HINT

log = logging.getLogger(__name__)

T = TypeVar("T")
Word = TypeVar("Word", bound=StrEnum)


@cache
def _adapter(kind: type[Any]) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def written(value: object) -> str:
    """A dataclass as a JSON document.

    Half a surrogate pair, which a page's script can put into any text, becomes a question mark: SQLite takes none.
    """
    document = _adapter(type(value)).dump_python(value, mode="json")
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace").decode()


def read(kind: type[T], document: str, where: str) -> T | None:
    """The dataclass a document holds; ``None``, told in the log, where it holds none."""
    try:
        return _adapter(kind).validate_json(document)
    except ValidationError as error:
        log.warning("%s can't be read and is left out: %s", where, str(error).splitlines()[0])
        return None


def read_all(kind: type[T], rows: Iterable[Any], what: str) -> list[T]:
    """The readable ones of ``(seq, document)`` rows, in their order."""
    found = (read(kind, row["document"], f"{what} {row['seq']}") for row in rows)
    return [one for one in found if one is not None]


def known(kind: type[Word], word: str) -> Word | None:
    """The member of an enumeration a row names; ``None`` for one of a newer version's."""
    try:
        return kind(word)
    except ValueError:
        return None


def check_words(text: str, what: str) -> str:
    """A person's words, if they are short enough to be kept whole.

    Raises:
        UsageError: they are too long; ``what`` names them.
    """
    if len(text) > LONGEST_HINT:
        raise UsageError(
            f"{what} has {len(text):,} characters; {LONGEST_HINT:,} are taken at most",
            remedy="nothing was kept; say it shorter, or put it into the knowledge base as tips",
        )
    return text
