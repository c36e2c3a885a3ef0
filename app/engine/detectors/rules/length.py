"""Length: far more steps than runs on the site usually take."""

from __future__ import annotations

from collections.abc import Iterable

from app.engine.core.trajectory import Step
from app.engine.core.verdicts import Flag, Severity
from app.engine.detectors.base import Detector, Prior

LEVELS = ((2.0, 0.55), (4.0, 0.75), (8.0, 0.85))
"""Multiples of the usual length, and the confidence beyond each."""
NEVER_LONG = 6
"""Up to this many steps a run is never called long, however short the others are."""


class TooLong(Detector):
    name = "far-longer"
    severity = Severity.HINT
    summary = "The run took more than twice the steps that are usual on its site."
    prior = Prior(0.2, often=0.3)
    explains = "nothing"
    _seen = 0
    _level = 0

    def see(self, step: Step) -> Iterable[Flag]:
        self._seen += 1
        usual = self.context.usual_steps
        if usual is None or usual <= 0 or self._seen <= NEVER_LONG or self._level == len(LEVELS):
            return
        factor, confidence = LEVELS[self._level]
        if self._seen > factor * usual:
            self._level += 1
            where = f"runs on {self.context.site}" if self.context.site else "runs here"
            yield self.flag(
                step.index,
                confidence,
                f"Took {self._seen} steps so far; {where} usually take {usual:g}",
                {"steps": self._seen, "usual": float(usual)},
            )
