"""Turns a takeover into knowledge: a draft of a tip, and a path in the site's graph."""

from __future__ import annotations

import time
from dataclasses import replace

from app.engine.core.trajectory import BY_PERSON, Step
from app.engine.graph.explore.exploration_store import ExplorationStore
from app.engine.jobs import Job
from app.engine.services.core import Core
from app.engine.services.exploration import ExplorationService
from app.engine.services.graph_recording import StoredGraphRecorder
from app.engine.services.supervision.fleet import Fleet
from app.engine.services.tip_drafting import draft_tip
from app.errors import Conflict, NotFound
from kb.tip import TipDraft


class TakeoverResults:
    """Use cases after a page was handed back."""

    def __init__(self, core: Core, fleet: Fleet, exploring: ExplorationService) -> None:
        self._core, self._fleet, self._exploring = core, fleet, exploring

    async def draft_tip_from_takeover(self, run: str, step: int) -> TipDraft:
        """Draft a tip from the operator's steps from ``step`` on, in the names of controls, never in the page's
        words.

        Raises:
            NotFound: nothing was done by hand at this step.
        """
        from app.engine.agent.takeover.summary import tip_text

        def drafting() -> TipDraft:
            workspace = self._core.workspace
            loaded, steps = workspace.runs.load(run)
            by_hand = _leading_operator_steps(steps[step:])
            if not by_hand:
                raise NotFound(f"nothing was done by hand at step {step} of run {run}")
            site = loaded.site or workspace.site_of(by_hand[0].url)
            draft = draft_tip(loaded, by_hand[0], (), site, self._core.author, "")
            return replace(draft, text=tip_text(by_hand) or draft.text)

        return await self._core.on_store(drafting)

    async def takeover_to_graph(self, run: str, step: int) -> int:
        """Add the run's last takeover to its site's graph; return the number of transitions.

        Raises:
            Conflict: its pages are no longer in memory, or the run's site has no name.
        """
        from app.engine.agent.takeover.graph_path import add_to_graph

        found = self._fleet.find(run)
        path = found.page.path if found is not None else None
        if found is None or path is None or not path.steps:
            raise Conflict(
                "the pages of this takeover are no longer in memory; build the map from the run instead"
            )
        site = found.request.site
        if not site:
            raise Conflict("the site has no name; explore it once, or give the run a site")
        home = found.page.home

        async def work(job: Job) -> int:
            job.advance(0, len(path.steps), "the takeover")
            recorder = StoredGraphRecorder(self._core, site)
            await _ensure_home(recorder, home)
            return await add_to_graph(path, recorder, home)

        return await self._exploring.alone(site, f"Put a takeover into the map of {site}", work)


async def _ensure_home(recorder: ExplorationStore, home: str) -> None:
    """Give a graph without a home page one."""
    if not (await recorder.memory()).home:
        now = time.time()
        number = await recorder.begin(home, {"by": "takeover"}, now)
        await recorder.end(number, "done", now, ())


def _leading_operator_steps(steps: list[Step] | tuple[Step, ...]) -> list[Step]:
    """Return the leading steps that a person did."""
    found: list[Step] = []
    for step in steps:
        if step.by != BY_PERSON:
            break
        found.append(step)
    return found
