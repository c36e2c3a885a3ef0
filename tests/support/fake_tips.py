"""Tests of tips and their standing, for the engine without a browser."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from app.engine.api.tip_api import TestedStep, TipStanding, TipTest, TipTests
from app.engine.core.events import EventBus, KnowledgeChanged
from kb.compiler import procedure_of
from kb.tip import Tip
from tests.support.made_up import NOW


class FakeTips:
    """Every test holds, unless ``tip_tests`` has another answer; the events are those of the real engine."""

    bus: EventBus
    calls: list[tuple[str, tuple[Any, ...]]]
    tips: dict[str, Tip]
    tip_tests: dict[str, TipTest]
    own_votes: dict[str, str]

    async def test_tip(
        self, tip: str, start_url: str = "", values: Mapping[str, str] | None = None, headed: bool = False
    ) -> TipTest:
        self.calls.append(("test_tip", (tip, start_url, dict(values or {}), headed)))
        lines = procedure_of(self.tips[tip]).lines
        self.bus.publish(KnowledgeChanged(tips=(tip,)))
        steps = tuple(
            TestedStep(number=n, line=line, outcome="done") for n, line in enumerate(lines, start=1)
        )
        held = TipTest(
            tip=tip,
            outcome="holds",
            step=len(steps),
            message="it holds",
            url=start_url,
            steps=steps,
            seconds=0.1,
        )
        return self.tip_tests.setdefault(tip, held)

    async def test_tips(self, site: str, drafts: bool = False) -> TipTests:
        self.calls.append(("test_tips", (site, drafts)))
        chosen = [tip.id for tip in self.tips.values() if tip.site == site]
        return TipTests(site=site, tests=tuple([await self.test_tip(tip) for tip in chosen]))

    async def tip_standing(self, tip: str) -> TipStanding:
        stored, test, vote = self.tips[tip], self.tip_tests.get(tip), self.own_votes.get(tip, "")
        known = test is not None and any(called == "test_tip" for called, _ in self.calls)
        return TipStanding(
            tip=tip,
            steps=procedure_of(stored).lines,
            outcome=test.outcome if known and test is not None else "",
            step=test.step if known and test is not None else 0,
            message=test.message if known and test is not None else "",
            tested_by="ana" if known else "",
            tested_at=NOW if known else 0.0,
            record=replace(stored.record, up=int(vote == "up"), down=int(vote == "down")),
            votes={"ana": vote} if vote else {},
            own_vote=vote,
        )
