"""A piece of scheduled work: by the services that a person's command uses, with their limits, robots.txt and log-ins.

An exploration is done again with the options of the map's last one.
"""

from __future__ import annotations

import dataclasses
import time
from typing import Any

from pydantic import ValidationError

from app.engine.api.graph_api import ExploreOptions
from app.engine.core.schedule import Schedule, ScheduledTask, ScheduleResult
from app.engine.services.core import Core
from app.engine.services.exploration import ExplorationService
from app.engine.services.graph_cache import GraphCache
from app.engine.services.schedule_changes import (
    tip_test_changes,
    tip_test_failure,
    update_changes,
    verification_changes,
    verification_failure,
)
from app.engine.services.supervision.fleet import Fleet
from app.engine.services.tip_testing import TESTED, TipTestService
from app.engine.store.run_files import type_adapter
from app.errors import SiteloreError, UsageError
from kb.compiler import procedure_of
from kb.tip import Tip

CANCELLED = "cancelled"
_KEPT_OPTIONS = frozenset(field.name for field in dataclasses.fields(ExploreOptions)) - {
    "storage_state",  # the log-in is looked up by the site
    "headed",
    "resume",
    "naive",
}


class ScheduledWork:
    """Checks and does pieces of scheduled work."""

    def __init__(
        self,
        core: Core,
        graph_cache: GraphCache,
        exploration: ExplorationService,
        tip_tests: TipTestService,
        fleet: Fleet,
    ) -> None:
        self._core, self._graph_cache = core, graph_cache
        self._exploration, self._tip_tests, self._fleet = exploration, tip_tests, fleet

    def check(self, schedule: Schedule) -> None:
        """Raise ``UsageError`` where there is nothing to do.  Store thread only."""
        workspace, site = self._core.workspace, schedule.site
        mapped, tips = workspace.graph_sites(), self._core.kb.tips(site=site, statuses=TESTED) if site else []
        if not site:
            raise UsageError("scheduled work needs a site", remedy="name one of 'sitelore sites list'")
        if site not in mapped and site not in workspace.site_store.rows and not tips:
            known = ", ".join(sorted({*mapped, *workspace.site_store.rows})[:8])
            raise UsageError(
                f"there is no site '{site}' in this workspace",
                remedy=f"name one of: {known}" if known else "explore a site first",
            )
        if schedule.task is not ScheduledTask.TEST_TIPS:
            if site not in mapped or not workspace.graph(site).home:
                verb = "update" if schedule.task is ScheduledTask.EXPLORE else "verify"
                raise UsageError(f"{site} has no map to {verb}", remedy="explore the site first")
        elif not any(map(procedure_of, tips)):
            why = "no reviewed, active or suspect tips" if not tips else "no tips with steps"
            raise UsageError(f"{site} has {why} to test", remedy="write and review a tip first")

    async def use_of(self, site: str) -> str:
        """Return who uses a site now, "" for nobody.

        A site is in use while its map is being explored or verified, by whatever process, and while a run works on it:
        a run may change pages while they are compared, and shares the site's rate.  Runs that wait for a person, are
        paused or are in a person's hands do not count.
        """
        if await self._exploration.is_in_use(site):
            return f"{site} is being explored or verified"
        rows = await self._fleet.live_runs()
        active = [row.run for row in rows if row.site == site and row.state.counts_as_active]
        if not active:
            return ""
        return f"{len(active)} runs are active on {site}" if len(active) > 1 else f"a run is active on {site}"

    async def do(self, schedule: Schedule) -> ScheduleResult:
        """Do the work; a failure of the site or the browser is a result.

        Raises:
            asyncio.CancelledError: its job, or the caller, was cancelled.
        """
        begun = time.time()
        try:
            await self._core.on_store(self.check, schedule)
            match schedule.task:
                case ScheduledTask.EXPLORE:
                    done = await self._update(schedule.site)
                case ScheduledTask.VERIFY:
                    done = await self._verify(schedule.site)
                case ScheduledTask.TEST_TIPS:
                    done = await self._test(schedule.site)
        except SiteloreError as error:
            done = _Done(error=str(error))
        return result_of(schedule, begun, changes=done.changes, suspects=done.suspects, error=done.error)

    async def _update(self, site: str) -> _Done:
        options = await self._core.on_store(self._last_options, site)
        report = await self._exploration.graph_update(site, options)
        tips = await self._texts(site)
        ended = report.explore.ended
        error = verification_failure(report.verify)
        if ended in ("failed", "stopped"):
            error = "the exploration failed; see the log" if ended == "failed" else CANCELLED
        return _Done(update_changes(report, tips), report.verify.suspect_tips, error)

    async def _verify(self, site: str) -> _Done:
        before = await self._graph_cache.load(site)
        titles = {row.id: row.title or row.url for row in map(before.row, before.graph.nodes)}
        report = await self._exploration.graph_verify(site)
        changes = verification_changes(report, titles, await self._texts(site))
        return _Done(changes, report.suspect_tips, verification_failure(report))

    async def _test(self, site: str) -> _Done:
        stored = await self._core.on_store(self._core.kb.tips, site=site, statuses=TESTED)
        before = {tip.id: (await self._tip_tests.tip_standing(tip.id)).outcome for tip in stored}
        report = await self._tip_tests.test_tips(site)
        return _Done(
            tip_test_changes(report, before, {tip.id: tip.text for tip in stored}),
            tuple(one.tip for one in report.tests if one.became_suspect),
            CANCELLED if report.cancelled else tip_test_failure(report),
        )

    async def _texts(self, site: str) -> dict[str, str]:
        tips: list[Tip] = await self._core.on_store(self._core.kb.tips, site=site)
        return {tip.id: tip.text for tip in tips}

    def _last_options(self, site: str) -> ExploreOptions:
        """Return the options of the map's last exploration; those that can't be read are the usual ones."""
        records = self._core.workspace.graph(site).explorations()
        stored: dict[str, Any] = records[-1].options if records else {}
        try:
            return type_adapter(ExploreOptions).validate_python(
                {name: value for name, value in stored.items() if name in _KEPT_OPTIONS}
            )
        except ValidationError:
            return ExploreOptions()


@dataclasses.dataclass(frozen=True, slots=True)
class _Done:
    changes: tuple[str, ...] = ()
    suspects: tuple[str, ...] = ()
    error: str = ""


def result_of(
    schedule: Schedule,
    begun: float,
    *,
    changes: tuple[str, ...] = (),
    suspects: tuple[str, ...] = (),
    error: str = "",
) -> ScheduleResult:
    """Return a result that ends now."""
    return ScheduleResult(
        schedule=schedule.id,
        task=schedule.task,
        site=schedule.site,
        started_at=begun,
        ended_at=time.time(),
        changes=changes,
        suspects=suspects,
        error=error,
    )
