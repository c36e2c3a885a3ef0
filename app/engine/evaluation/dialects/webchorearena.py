"""The dialect ``webchorearena``: AgentOccam's and WebChoreArena's variant of WebArena's evaluators.

Required texts give partial credit (their mean), may be alternatives (`` |or| ``), addresses are compared in lower
case, ``or`` names further addresses and targets, and a list of reference answers is one question to a judge.
"""

from __future__ import annotations

from collections.abc import Sequence

from app.engine.core.evaluation.suite import HtmlTarget
from app.engine.evaluation.dialects import address_rules, answer_rules
from app.engine.evaluation.dialects.score_range import ScoreRange, mean
from app.engine.evaluation.dialects.webarena import WebArenaDialect


class WebChoreArenaDialect(WebArenaDialect):
    """Comparisons of one task with the evidence of one run."""

    name = "webchorearena"

    def _combined(self, scores: Sequence[ScoreRange]) -> ScoreRange:
        return mean(scores)

    def _includes(self, reference: str, answer: str, *, tokenise: bool = False) -> float:
        return answer_rules.must_include_any(reference, answer, tokenise=tokenise)

    def _fuzzy_references(self) -> Sequence[str]:
        joined = "; ".join(self._oracle.fuzzy_match)
        return (joined,) if joined else ()

    def _address_matches(self, address: str) -> float:
        return max(
            address_rules.matches(self._bound(one), address, lower=True)
            for one in (self._oracle.url, *self._oracle.url_alternatives)
        )

    def _address_expected(self) -> str:
        return " or ".join((self._oracle.url, *self._oracle.url_alternatives))

    def _alternatives(self, target: HtmlTarget) -> Sequence[HtmlTarget]:
        return target.alternatives
