"""Appends revisions within a transaction of the knowledge base that owns it."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from sqlite3 import Connection
from typing import Any

from kb import evidence
from kb.content import base_id, content_key
from kb.errors import NoSuchTip
from kb.evidence import Evidence
from kb.gate import waiver_to_json
from kb.journal import Journal
from kb.record import COLUMNS, QUOTED, to_json, to_row
from kb.revisions import CURRENT, counted, revision_at, stored_tip
from kb.tip import Status, Tip, TipDraft, Waiver

_HOSTS = "hosts"


class RevisionWriter:
    """Appends revisions and journals them; nothing is ever overwritten.

    Args:
        author: gives the name that signs a change now.
        unwaived: gives the lint errors of a tip that nobody has waived.
    """

    def __init__(
        self,
        connection: Connection,
        journal: Journal,
        author: Callable[[], str],
        clock: Callable[[], float],
        unwaived: Callable[[Tip], tuple[str, ...]],
    ) -> None:
        self._connection, self._journal = connection, journal
        self._author, self._clock, self._unwaived = author, clock, unwaived

    def insert(
        self, draft: TipDraft, deed: str, at: float, *, author: str | None = None, id: str = ""
    ) -> str:
        """Insert a tip of a cleaned draft, under ``id`` or the first free one; one whose creation was undone is
        restored.
        """
        first = id or base_id(draft)
        id, again = first, 1
        while (
            known := self._connection.execute("SELECT gone FROM tip WHERE id = ?", (id,)).fetchone()
        ) and not known["gone"]:
            again += 1
            id = f"{first}-{again}"
        if known is None:
            self._connection.execute("INSERT INTO tip (id, revision, created_at) VALUES (?, 0, ?)", (id, at))
        self.append(id, draft, deed, at, author=author)
        return id

    def append(
        self,
        id: str,
        draft: TipDraft,
        deed: str,
        at: float | None = None,
        *,
        gone: bool = False,
        waiver: Waiver | None = None,
        author: str | None = None,
    ) -> None:
        """Append a revision of a cleaned draft; ``author`` is who made it, if it is not who changes now."""
        number = self._connection.execute(
            "SELECT coalesce(max(revision), 0) + 1 FROM revision WHERE tip = ?", (id,)
        ).fetchone()[0]
        marks = ", ".join("?" * (9 + len(COLUMNS)))
        self._connection.execute(
            "INSERT INTO revision (tip, revision, gone, deed, author, at, content, waiver, tags,"
            f" {QUOTED}) VALUES ({marks})",
            (
                id,
                number,
                gone,
                deed,
                self._author() if author is None else author,
                self._clock() if at is None else at,
                content_key(draft),
                waiver_to_json(waiver),
                to_json(list(draft.tags)),
                *to_row(draft),
            ),
        )
        self._connection.execute("UPDATE tip SET revision = ?, gone = ? WHERE id = ?", (number, gone, id))

    def set_hosts(self, site: str, hosts: Sequence[str]) -> None:
        """Set the hosts of a site; none removes it."""
        if hosts:
            self._connection.execute(
                "INSERT OR REPLACE INTO site_host (site, hosts) VALUES (?, ?)", (site, to_json(list(hosts)))
            )
        else:
            self._connection.execute("DELETE FROM site_host WHERE site = ?", (site,))

    def add_evidence(self, pieces: Iterable[Evidence], without: Collection[int]) -> list[int]:
        """Store the pieces of evidence that are new and return the ids of their rows."""
        stamped = (one.stamped(self._author(), self._clock()) for one in pieces)
        return evidence.append(self._connection, stamped, without)

    def record(
        self,
        deed: str,
        before: Mapping[str, int],
        label: str = "",
        more: dict[str, Any] | None = None,
        hosts: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        """Journal a change of these tips: undo to these revisions (0: not present), redo to the current ones.

        ``hosts`` are those of sites that had none before: undo takes them away, unless somebody has changed them.
        ``more`` is kept with the change; undo and redo don't read it.
        """
        marks = {id: self._current(id).revision for id in before}
        forward: dict[str, Any] = {"tips": marks, **(more or {})}
        label = label or f"{deed} {counted(list(before))}"
        backward: dict[str, Any] = {"tips": dict(before)}
        if hosts:
            forward[_HOSTS] = {site: [[], list(globs)] for site, globs in hosts.items()}
            backward[_HOSTS] = {site: [list(globs), []] for site, globs in hosts.items()}
        self._journal.record(deed, label, forward, backward, self._author())

    def return_to(self, payload: dict[str, Any], deed: str) -> None:
        """Append the revisions that ``record`` noted as new ones; one of revision 0 goes. Return hosts as well."""
        here = self._hosts_now()
        for site, (found, wanted) in payload.get(_HOSTS, {}).items():
            if here.get(site, []) == found:
                self.set_hosts(site, wanted)
        for id, revision in payload["tips"].items():
            if not revision:
                self.append(id, self._current(id), deed, gone=True)
                continue
            tip = revision_at(self._connection, id, revision)
            if tip.status is Status.ACTIVE and (rules := self._unwaived(tip)):
                # It became active before the gate existed, or before the rule was added.
                self.append(id, replace(tip, status=Status.DRAFT), f"{deed}, as a draft ({', '.join(rules)})")
            else:
                self.append(id, tip, deed, waiver=tip.waiver)

    def _hosts_now(self) -> dict[str, list[str]]:
        rows = self._connection.execute("SELECT site, hosts FROM site_host").fetchall()
        return {row["site"]: json.loads(row["hosts"]) for row in rows}

    def _current(self, id: str) -> Tip:
        row = self._connection.execute(f"{CURRENT} WHERE t.id = ? AND NOT t.gone", (id,)).fetchone()
        if row is None:
            raise NoSuchTip(f"there is no tip {id!r}")
        return stored_tip(row)
