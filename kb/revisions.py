"""Stored revisions as tips, and the comparison of their content."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from sqlite3 import Connection, Row

from kb.errors import NoSuchTip
from kb.gate import waiver_from_json
from kb.procedure import ProcedureOrigin
from kb.record import from_row, to_row
from kb.tip import LastTest, Revision, Tip, TipDraft, TipRecord

CURRENT = "SELECT r.*, t.created_at FROM tip t JOIN revision r ON r.tip = t.id AND r.revision = t.revision"
"""Current revisions; a condition follows."""


def stored_tip(row: Row) -> Tip:
    """The tip of a row of ``CURRENT``, without its record."""
    tip = from_row(
        row, id=row["tip"], revision=row["revision"], created_at=row["created_at"], changed_at=row["at"]
    )
    waiver = waiver_from_json(row["waiver"]) if row["waiver"] else None
    return replace(tip, waiver=waiver, tags=tuple(json.loads(row["tags"])))


def stored_revision(row: Row) -> Revision:
    """The revision of a row of the table of revisions."""
    return Revision(tip=stored_tip(row), deed=row["deed"], author=row["author"], at=row["at"])


def revision_at(connection: Connection, id: str, revision: int) -> Tip:
    """The tip as it was in a revision; raises ``NoSuchTip``."""
    row = connection.execute(
        "SELECT r.*, t.created_at FROM revision r JOIN tip t ON t.id = r.tip"
        " WHERE r.tip = ? AND r.revision = ?",
        (id, revision),
    ).fetchone()
    if row is None:
        raise NoSuchTip(f"tip {id!r} has no revision {revision}")
    return stored_tip(row)


def same_now(connection: Connection, key: str) -> Tip | None:
    """A listed tip whose current content has this key, the first by id."""
    row = connection.execute(
        f"{CURRENT} WHERE r.content = ? AND NOT t.gone ORDER BY t.id LIMIT 1", (key,)
    ).fetchone()
    return stored_tip(row) if row is not None else None


def ever_seen(connection: Connection, key: str) -> bool:
    """Whether a listed tip has, or had, this content."""
    found = connection.execute(
        "SELECT 1 FROM revision r JOIN tip t ON t.id = r.tip WHERE r.content = ? AND NOT t.gone", (key,)
    )
    return found.fetchone() is not None


def with_record(tip: Tip, known: Mapping[str, TipRecord], tests: Mapping[str, LastTest]) -> Tip:
    """The tip with its record and its last test, if it has them."""
    return replace(tip, record=known[tip.id], last_test=tests.get(tip.id)) if tip.id in known else tip


def with_author(draft: TipDraft, author: str) -> TipDraft:
    """The draft with its author, unless it has one or came from a file."""
    if draft.provenance.author or draft.provenance.source or not author:
        return draft
    return replace(draft, provenance=replace(draft.provenance, author=author))


def counted(ids: Sequence[str]) -> str:
    """One id, or the number of them, for a label."""
    return ids[0] if len(ids) == 1 else f"{len(ids)} tips"


def same_content(a: TipDraft, b: TipDraft) -> bool:
    """Whether two drafts are stored alike; compiled steps follow from the text and are not compared."""
    return a.tags == b.tags and to_row(_without_compiled(a)) == to_row(_without_compiled(b))


def _without_compiled(draft: TipDraft) -> TipDraft:
    made = draft.procedure
    return (
        replace(draft, procedure=None)
        if made is not None and made.origin is ProcedureOrigin.COMPILER
        else draft
    )
