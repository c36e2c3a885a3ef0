"""A rule of a block list: the pages it applies to, its condition, its verdict."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fnmatch import translate
from typing import Literal
from urllib.parse import urlsplit

from app.engine.graph.rules.conditions import Condition, Subject

VerdictWord = Literal["allow", "ask", "block"]
VERDICTS: tuple[VerdictWord, ...] = ("allow", "ask", "block")
RISK = {"low": 0.1, "medium": 0.4, "high": 0.8}
"""Risk in [0, 1] by severity."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleScope:
    """The pages a rule applies to: globs for ``host:port`` and path, "" for any.

    ``exact`` compares the host's text unchanged, including port and upper case.
    """

    host: str = ""
    path: str = ""
    exact: bool = False

    def covers(self, page_url: str) -> bool:
        """Whether a page is in the scope; a host without a port matches every port."""
        if not self.host and not self.path:
            return True
        try:
            parts = urlsplit(page_url)
        except ValueError:
            return False
        if self.exact:
            return parts.netloc == self.host
        hosts = (parts.netloc.rpartition("@")[2].lower(), (parts.hostname or ""))
        fits = not self.host or any(re.match(translate(self.host.lower()), host) for host in hosts)
        return fits and (not self.path or re.match(translate(self.path), parts.path or "/") is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockRule:
    """One rule of a file, compiled."""

    name: str
    when: Condition
    scope: RuleScope = RuleScope()
    verdict: VerdictWord = "block"
    severity: str = "medium"
    reason: str = ""
    lifts_danger: bool = False

    def holds(self, subject: Subject) -> bool:
        """Whether the rule decides about this element."""
        return self.scope.covers(subject.page_url) and self.when.holds(subject)
