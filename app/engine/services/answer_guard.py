"""Reference answers of the workspace's suites by site, for the check of tips.  Store thread only."""

from __future__ import annotations

from app.engine.core.sites import CROSS
from app.engine.evaluation.suites.reference_answers import reference_answers
from app.engine.services.stored_suites import StoredSuites
from app.engine.store.suite_store import FileState

Answers = tuple[tuple[str, str], ...]
"""Answers, each with the name of its task."""


class AnswerGuard:
    """Knows the answers that a tip must not hold."""

    def __init__(self, suites: StoredSuites) -> None:
        self._suites = suites
        self._known: tuple[tuple[tuple[str, FileState], ...], dict[str, Answers]] = ((), {})

    def of_site(self, site: str) -> Answers:
        """Return the answers of all tasks on a site, of every suite; of a tip for all sites those of all tasks."""
        states = self._suites.states()
        if states != self._known[0]:
            self._known = (states, {})
        by_site = self._known[1]
        if site not in by_site:
            wanted = "" if site == CROSS else site
            by_site[site] = tuple(
                found for _, suite in self._suites.all() for found in reference_answers(suite, wanted)
            )
        return by_site[site]
