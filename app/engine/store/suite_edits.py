"""Changes of the workspace's suites that the one undo history can take back: added, removed, hidden."""

from __future__ import annotations

from typing import Any

from app.engine.store.review_store import ReviewStore
from app.engine.store.suite_store import SuiteHead, SuiteStore

SUITE_EDIT = "suite"


class SuiteEdits:
    """Changes suites and records each change."""

    def __init__(self, store: SuiteStore, review: ReviewStore) -> None:
        self._store, self._review = store, review

    def add(self, head: SuiteHead, data: bytes, author: str = "") -> None:
        """Store a suite; undo takes it away."""
        self._store.add(head, data)
        self._record(f"add suite '{head.name}'", head.name, author, sha256=head.sha256, there=True)

    def remove(self, name: str, author: str = "") -> None:
        """Remove a suite; undo brings it back."""
        sha256 = self._store.remove(name)
        self._record(f"remove suite '{name}'", name, author, sha256=sha256, there=False)

    def put_blind(self, name: str, blind: bool, author: str = "") -> None:
        """Hide the answers of a suite, or show them; undo takes it back."""
        if self._store.head(name).blind == blind:
            return
        self._store.put_blind(name, blind)
        label = f"hide the answers of suite '{name}'" if blind else f"show the answers of suite '{name}'"
        self._record(label, name, author, blind=blind)

    def apply(self, change: dict[str, Any]) -> None:
        """Do a recorded change again, or its opposite."""
        name = str(change["suite"])
        if "blind" in change:
            self._store.put_blind(name, bool(change["blind"]))
        elif change["there"]:
            self._store.restore(name, str(change["sha256"]))
        else:
            self._store.remove(name)

    def _record(self, label: str, name: str, author: str, *, sha256: str = "", **what: bool) -> None:
        [(key, value)] = what.items()
        same = {"suite": name, "sha256": sha256}
        self._review.record(SUITE_EDIT, label, {**same, key: value}, {**same, key: not value}, author)
