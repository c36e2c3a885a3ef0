"""Risk classes of actions, and the names a person may give them.  Pure data."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum


class RiskClass(StrEnum):
    """Risk classes of actions, the harmless first."""

    READS = "reads"
    EDITS = "edits"  # fills in a form that is not sent yet
    SIGNS_IN = "signs in"
    SIGNS_OUT = "signs out"
    SENDS = "sends"  # changes something on the site, or writes to somebody
    UPLOADS = "uploads"
    BUYS = "buys"
    PAYS = "pays"
    DELETES = "deletes"

    @property
    def level(self) -> int:
        """Level from 0 for what only reads to 3 for what can't be undone."""
        return _LEVELS[self]

    @property
    def changes(self) -> bool:
        """Whether it leaves something behind on the site."""
        return self.level >= 2


RISK_CLASS_ALIASES = {
    "buy": RiskClass.BUYS,
    "order": RiskClass.BUYS,
    "pay": RiskClass.PAYS,
    "delete": RiskClass.DELETES,
    "send": RiskClass.SENDS,
    "publish": RiskClass.SENDS,
    "publishes": RiskClass.SENDS,
    "change": RiskClass.SENDS,
    "changes": RiskClass.SENDS,
    "upload": RiskClass.UPLOADS,
    "sign-in": RiskClass.SIGNS_IN,
    "sign-out": RiskClass.SIGNS_OUT,
}
"""Aliases of classes that leave something behind, as a person types them (``--allow buy,publish``)."""


def risk_classes(names: Iterable[str]) -> frozenset[RiskClass]:
    """Return the risk classes that a person names.

    Raises ``ValueError`` with the first unknown name.
    """
    known = {risk.value.replace(" ", "-"): risk for risk in RiskClass} | RISK_CLASS_ALIASES
    found: set[RiskClass] = set()
    for name in names:
        key = name.strip().casefold().replace(" ", "-").replace("_", "-")
        if key not in known:
            raise ValueError(name.strip())
        found.add(known[key])
    return frozenset(found)


_LEVELS = {
    RiskClass.READS: 0,
    RiskClass.EDITS: 1,
    RiskClass.SIGNS_IN: 1,
    RiskClass.SIGNS_OUT: 1,
    RiskClass.SENDS: 2,
    RiskClass.UPLOADS: 2,
    RiskClass.BUYS: 3,
    RiskClass.PAYS: 3,
    RiskClass.DELETES: 3,
}
