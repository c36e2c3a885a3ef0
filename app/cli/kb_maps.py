"""Maps of the workspace as ``sitelore kb serve`` offers them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from app.errors import SiteloreError
from kb.errors import KbError
from kb.invisible import visible
from kb.site_map import FoundState, MapMove, MapPath

if TYPE_CHECKING:
    from app.engine.engine import Engine

METHOD = "late"
"""Late interaction; without an encoder the engine takes the best method it has."""


class WorkspaceMaps:
    """The graphs of a workspace: searched by words and meaning, paths by their evidence."""

    def __init__(self, engine: Engine, sites: Sequence[str]) -> None:
        self._engine, self.sites = engine, sites

    async def search(self, goal: str, site: str, k: int) -> list[FoundState]:
        """Search the states of one site's map, or of all that are served."""
        found: list[FoundState] = []
        for name in [site] if site else self.sites:
            try:
                hits = await self._engine.graph_search(name, goal, METHOD, k)
            except SiteloreError as error:
                raise KbError(str(error)) from error
            found += [
                FoundState(
                    site=name,
                    state=hit.node,
                    title=visible(hit.title),
                    url=hit.url,
                    score=round(hit.score, 4),
                    matched=hit.matched,
                )
                for hit in hits
            ]
        return sorted(found, key=lambda hit: -hit.score)[:k]

    async def path(self, state: str, start: str) -> MapPath:
        """Find the path on the first of the maps that has the state."""
        reason = SiteloreError(f"there is no state {state!r}; search_states gives ids")
        for site in self.sites:
            try:
                plan = await self._engine.graph_path(site, state, start)
            except SiteloreError as error:
                reason = error
                continue
            urls = [(await self._engine.graph_node(site, node)).row.url for node in plan.nodes[1:]]
            moves = tuple(
                MapMove(
                    operation=step.operation.value,
                    element=visible(step.locator.words) if step.locator is not None else "",
                    value=step.value,
                    css=step.locator.css if step.locator is not None else "",
                    state=node,
                    title=visible(title),
                    url=url,
                )
                for step, node, title, url in zip(
                    plan.transitions, plan.nodes[1:], plan.titles[1:], urls, strict=True
                )
            )
            return MapPath(
                site=site, state=plan.nodes[-1], moves=moves, seconds=round(plan.cost, 1), risk=plan.risk
            )
        raise KbError(str(reason))
