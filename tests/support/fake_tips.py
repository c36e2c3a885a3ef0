"""Tests of tips and their standing, for the engine without a browser."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from app.engine.api.model_test_api import ModelCheck, ModelReport, ModelTestRequest
from app.engine.api.tip_api import DraftedSteps, PageElements, TestedStep, TipStanding, TipTest, TipTests
from app.engine.core.events import EventBus, JobChanged, KnowledgeChanged
from app.engine.core.regions import RegionElement
from kb.compiler import procedure_of
from kb.procedure import Procedure
from kb.tip import Tip, TipDraft
from tests.support.made_up import NOW


class FakeTips:
    """Every test holds, unless ``tip_tests`` has another answer; the events are those of the real engine."""

    bus: EventBus
    calls: list[tuple[str, tuple[Any, ...]]]
    tips: dict[str, Tip]
    tip_tests: dict[str, TipTest]
    own_votes: dict[str, str]
    model_tests: list[ModelTestRequest]
    model_reports: dict[tuple[str, str], ModelReport]
    no_model = "No model endpoint is set. Set its address in the settings."
    """The answer to whether a model is missing; "" where one is set."""
    model_steps: DraftedSteps | Exception = DraftedSteps(procedure=Procedure())
    model_waits: asyncio.Event | None = None
    """A model that answers only when this is set."""
    model_checks: tuple[ModelCheck, ...] = ()
    """The lines of every test of a model."""
    page_screenshot: str = ""
    """Content hash of the picture of every page; "" for pages without one."""

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

    async def model_missing(self) -> str:
        return self.no_model

    async def test_model(self, request: ModelTestRequest) -> ModelReport:
        self.model_tests.append(request)
        for done, check in enumerate(self.model_checks, 1):
            self.bus.publish(JobChanged(
                id="model-test", title="Test of the model", state="running", done=done,
                detail=f"{check.name}: {check.found}",
            ))  # fmt: skip
        if self.model_waits is not None:
            await self.model_waits.wait()
        return ModelReport(
            url=request.url, model=request.model, at=1_750_000_000.0, checks=self.model_checks,
            tokens=(210, 30), models=("large", "small"),
        )  # fmt: skip

    async def model_report(self, url: str, model: str = "") -> ModelReport | None:
        return self.model_reports.get((url, model))

    async def draft_steps(self, draft: TipDraft) -> DraftedSteps:
        self.calls.append(("draft_steps", (draft,)))
        if self.model_waits is not None:
            await self.model_waits.wait()
        if isinstance(self.model_steps, Exception):
            raise self.model_steps
        return self.model_steps

    async def tip_standing(self, tip: str, run: str = "") -> TipStanding:
        stored, test = self.tips[tip], self.tip_tests.get(tip)
        vote = self.own_votes.get(f"{run}/{tip}" if run else tip, "")
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

    async def page_elements(self, run: str, step: int) -> PageElements:
        """A page with a toolbar over a list; without a picture nothing has a place."""
        self.calls.append(("page_elements", (run, step)))
        seen = [
            ("heading", "Milestones", (40.0, 20.0, 200.0, 30.0)),
            ("button", "Filters", (40.0, 70.0, 80.0, 28.0)),
            ("link", "Clear all", (130.0, 70.0, 70.0, 28.0)),
            ("combobox", "Sort by", (600.0, 70.0, 120.0, 28.0)),
            ("link", "Release 1", (40.0, 140.0, 300.0, 24.0)),
            ("button", "", (760.0, 70.0, 28.0, 28.0)),
        ]
        pictured = bool(self.page_screenshot)
        elements = [
            RegionElement(number=n, role=role, name=name, box=box if pictured else None)
            for n, (role, name, box) in enumerate(row for row in seen if pictured or row[1])
        ]
        return PageElements(
            screenshot=self.page_screenshot, page="/{project}/-/milestones", elements=tuple(elements)
        )
