"""Permission for the writes of one action on a site, and the record of sent writes.  Pure data.

The agent decides; the network guard enforces it (``app.engine.browser.network.write_guard``).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class WritePermit:
    """Permission for the writes of one action.

    Attributes:
        why: the reason in words, for the record.
        hosts: hosts (with a port or without) that may be written to; none: the run's own hosts, and for a run without
            limits the host of the page in front.
        form: ``post:/basket/add`` as ``Element.form`` has it: the only address that a form may be sent to; "" where
            the address is not limited.
        submissions: writes by a document (a form that is sent) that may leave.
    """

    why: str
    hosts: frozenset[str] = frozenset()
    form: str = ""
    submissions: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class SentWrite:
    """A write that left the browser.

    Attributes:
        path: without its query, secrets taken out.
        status: HTTP status of the answer, 0 where none is known.
    """

    method: str
    host: str
    path: str
    status: int = 0

    def __str__(self) -> str:
        return f"{self.method} {self.path} {self.status}" if self.status else f"{self.method} {self.path}"
