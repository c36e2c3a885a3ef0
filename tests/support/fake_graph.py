"""The graph use cases of an engine without disk or browser: one fake shop, answered at once."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from app.engine.api.graph_api import (
    DepthRow,
    ExploreOptions,
    ExploreReport,
    GraphDiff,
    GraphPicture,
    GraphRow,
    GraphStats,
    HostMap,
    Journey,
    LabHit,
    LabReport,
    MethodScore,
    NodeDetail,
    NodeHit,
    NodeRow,
    PathPlan,
    ScopeCoverage,
    SearchComparison,
    StateChoices,
    UpdateReport,
    VerifyGraphReport,
)
from app.engine.core.events import EventBus, ExplorationChanged, GraphChanged
from app.engine.core.page_state import Mode
from app.engine.core.transition import (
    FrontierItem,
    FrontierStatus,
    Operation,
    ReplayVerdict,
    ReplayVerdictKind,
    SkipReason,
    Tier,
)
from app.errors import NotFound
from kb.tip import Scope
from tests.support.generated_site import (
    HOME,
    SITE,
    make_elements,
    make_keys,
    make_picture,
    make_rows,
    make_transition,
    page_png,
)
from tests.support.made_up import NOW

DEPTHS = tuple(
    DepthRow(depth=depth, states=states, new=new, seconds=seconds, velocity=60 * new / seconds)
    for depth, states, new, seconds in (
        (0, 1, 1, 2.0),
        (1, 11, 10, 14.0),
        (2, 25, 14, 31.0),
        (3, 40, 15, 52.0),
    )
)


class FakeGraphs:
    """``GraphApi`` over lists in memory.

    ``shown`` is the number of known states: ``reveal`` lets the map grow.
    ``arrive_at`` lists the verdicts of the steps of the next navigation, the last one repeated.
    """

    bus: EventBus
    calls: list[tuple[str, tuple[Any, ...]]]

    def start_graphs(self, *, empty: bool = False) -> None:
        """Create the site, or leave the workspace without a graph."""
        self.node_rows, self.edges = make_rows()
        self.shown = 0 if empty else len(self.node_rows)
        self.diff: GraphDiff | None = None
        self.other_sites: list[GraphRow] = []
        self.maps_of_host: list[HostMap] = []
        self.drawn: GraphPicture | None = None
        self.arrive_at: list[ReplayVerdictKind] = [ReplayVerdictKind.EXACT]
        self.exploration: ExplorationChanged | None = None
        self.rules = "# one rule\n"
        self.live_at = ""

    # ------------------------------------------------------------ the graph
    async def scope_coverage(self, site: str, scope: Scope) -> ScopeCoverage:
        pages = 120 if self.shown else 0
        return ScopeCoverage(holds=12 if pages else 0, pages=pages)

    async def graphs(self) -> list[GraphRow]:
        if not self.shown:
            return list(self.other_sites)
        return [self._graph_row(), *self.other_sites]

    async def graph_stats(self, site: str) -> GraphStats:
        row = self._graph_row(site)
        return GraphStats(
            row=row,
            templates=21,
            interaction_only=5,
            direct=33,
            tried=44,
            seen_only=len(self.edges) - 44,
            success_rate=0.93,
            skipped={"on the page before": 310, "blocked by a rule": 12, "could destroy something": 7},
            depths=DEPTHS,
            challenges={"login": 1},
        )

    async def graph_picture(self, site: str, tidy: bool = False) -> GraphPicture:
        self._call("graph_picture", site, tidy)
        self._graph_row(site)
        if site != SITE:
            return GraphPicture(
                site=site, version=1, nodes=(), x=(), y=(), sources=(), targets=(), weights=(), tried=()
            )
        rows = self.node_rows[: self.shown]
        edges = [edge for edge in self.edges if edge[0] < self.shown and edge[1] < self.shown]
        self.drawn = make_picture(rows, edges, self.drawn, tidy=tidy)
        return self.drawn

    async def graph_node(self, site: str, node: str) -> NodeDetail:
        number = self._number(node)
        row = self.node_rows[number]
        elements = make_elements(row)
        outgoing = [(s, t, tried) for s, t, tried in self.edges if s == number]
        incoming = [(s, t, tried) for s, t, tried in self.edges if t == number]
        ends = {end for s, t, _ in (*outgoing, *incoming) for end in (s, t)}
        keys = tuple(f"{row.id[:8]}{element.index:08d}" for element in elements)
        standing = (
            (FrontierStatus.TRIED, None), (FrontierStatus.SKIPPED, SkipReason.INHERITED),
            (FrontierStatus.SKIPPED, SkipReason.DANGER), (FrontierStatus.WAITING, None), (FrontierStatus.FAILED, None),
        )  # fmt: skip
        return NodeDetail(
            row=row,
            keys=make_keys(row),
            picture=f"picture-{number}",
            text=f"{row.title}\nWelcome to the shop.",
            elements=elements,
            frontier=tuple(
                FrontierItem(
                    page=row.id,
                    element=key,
                    operation=Operation.CLICK,
                    status=standing[n % 5][0],
                    reason=standing[n % 5][1],
                )
                for n, key in enumerate(keys)
            ),
            element_keys=keys,
            outgoing=tuple(make_transition(self.node_rows, s, t, tried=tried) for s, t, tried in outgoing),
            incoming=tuple(make_transition(self.node_rows, s, t, tried=tried) for s, t, tried in incoming),
            titles={self.node_rows[end].id: self.node_rows[end].title for end in ends},
            pages=(row.id,) if row.pages == 1 else (row.id, row.id[::-1], row.id[1:] + "0"),
            runs=tuple((f"cba-shopping-{101 + 5 * n}", n) for n in range(row.runs)),
            tips=("shopping-002", "gitlab-001")[: row.tips],
            notes=(),
        )

    async def graph_search(self, site: str, query: str, method: str = "late", k: int = 10) -> list[NodeHit]:
        self._call("graph_search", query, method, k)
        words = query.lower().split()
        found: list[NodeHit] = []
        for row in self.node_rows[: self.shown]:
            text = f"{row.title} {row.url}".lower()
            hit = tuple(word for word in words if word in text)
            if hit:
                score = len(hit) / len(words)
                found.append(
                    NodeHit(
                        node=row.id,
                        title=row.title,
                        url=row.url,
                        score=score,
                        matched=hit,
                        thumbnail=row.thumbnail,
                    )
                )
        return sorted(found, key=lambda hit: -hit.score)[:k]

    async def graph_choices(self, site: str, query: str) -> StateChoices:
        self._call("graph_choices", query)
        hits = (await self.graph_search(site, query, k=5)) or [
            NodeHit(node=row.id, title=row.title, url=row.url, score=0.31, missing=tuple(query.split()))
            for row in self.node_rows[: min(2, self.shown)]
        ]
        return StateChoices(like=bool(hits) and hits[0].score > 0.4, hits=tuple(hits))

    async def graph_compare_search(self, site: str, queries: str) -> SearchComparison:
        figures = (
            ("late", 0.7, 0.95, 0.8, 12),
            ("dense", 0.6, 0.9, 0.72, 1),
            ("keyword", 0.5, 0.7, 0.6, 0.2),
        )
        scores = tuple(
            MethodScore(
                method=name, recall_at_1=one, recall_at_10=ten, mrr=mrr, p50_ms=4, p95_ms=9, megabytes=size
            )
            for name, one, ten, mrr, size in figures
        )
        return SearchComparison(site=site, states=self.shown, queries=20, methods=scores)

    # ------------------------------------------------------------ ways
    async def graph_path(self, site: str, to: str, start: str = "") -> PathPlan:
        self._call("graph_path", to, start)
        way = self._way(self._number(start) if start else 0, self._number(to))
        rows = self.node_rows
        steps = [make_transition(rows, a, b, tried=True) for a, b in pairwise(way)]
        return PathPlan(
            nodes=tuple(rows[number].id for number in way),
            titles=tuple(rows[number].title for number in way),
            transitions=tuple(steps),
            cost=sum(step.seconds for step in steps),
            risk=max((step.risk for step in steps), default=0.0),
        )

    async def graph_navigate(self, site: str, to: str, headed: bool = False, fresh: bool = False) -> Journey:
        self._call("graph_go", to, headed, fresh)
        plan = await self.graph_path(site, to, self.live_at)
        arrivals: list[ReplayVerdict] = []
        for at, step in enumerate(plan.transitions):
            kind = self.arrive_at[min(at, len(self.arrive_at) - 1)]
            row = self.node_rows[self._number(step.target)]
            arrivals.append(
                ReplayVerdict(
                    kind=kind,
                    expected=step.target,
                    reached=step.target if kind.ok else "",
                    similarity=1.0 if kind is ReplayVerdictKind.EXACT else 0.83,
                    url=row.url,
                    why="" if kind is ReplayVerdictKind.EXACT else "two links of the menu are new",
                    tier=Tier.ROLE_NAME,
                    seconds=0.4,
                )
            )
            if kind.ends_path:
                break
        arrived = not any(arrival.kind.ends_path for arrival in arrivals)
        self.live_at = to if arrived else ""
        why = "" if arrived else f"step {len(arrivals)} led somewhere else: {arrivals[-1].why}"
        url = arrivals[-1].url if arrivals else self.node_rows[self._number(to)].url
        return Journey(
            plan=plan,
            arrivals=tuple(arrivals),
            arrived=arrived,
            url=url,
            picture=f"picture-{self._number(to)}",
            why=why,
            seconds=0.4 * len(arrivals),
        )

    async def close_browser(self, site: str) -> None:
        self._call("close_browser", site)
        self.live_at = ""

    # ------------------------------------------------------------ exploring
    async def host_maps(self, url: str, site: str = "") -> list[HostMap]:
        return self.maps_of_host

    async def explore(
        self, url: str, site: str = "", options: ExploreOptions | None = None, second_map: bool = False
    ) -> ExploreReport:
        self._call("explore", url, site, options, *((True,) if second_map else ()))
        self.reveal(len(self.node_rows))
        self.tell_exploration(state="done")
        return self._report()

    async def pause_exploration(self, site: str) -> None:
        self._call("pause_exploration", site)
        self.tell_exploration(state="paused")

    async def resume_exploration(self, site: str) -> None:
        self._call("resume_exploration", site)
        self.tell_exploration(state="running")

    async def stop_exploration(self, site: str) -> None:
        self._call("stop_exploration", site)
        self.tell_exploration(state="stopped")

    def reveal(self, count: int) -> None:
        """Set the number of known states."""
        self.shown = min(count, len(self.node_rows))
        self.bus.publish(GraphChanged(site=SITE))

    def tell_exploration(self, **facts: Any) -> None:
        """Publish progress like a real exploration."""
        before = self.exploration or ExplorationChanged(
            site=SITE, state="running", frontier=31, tried=52, depth=2, states_per_minute=38.5, seconds=64.0,
            trying="click link 'Orders' on Profile", skipped=(("on the page before", 310), ("blocked by a rule", 12)),
        )  # fmt: skip
        self.exploration = replace(before, **{"states": self.shown, **facts})
        self.bus.publish(self.exploration)

    async def log_in_by_hand(self, site: str, url: str) -> str:
        self._call("log_in_by_hand", site, url)
        return "login-1"

    async def logged_in(self, site: str) -> str:
        self._call("logged_in", site)
        return "/home/ana/sitelore/webarena/logins/shop.json"

    async def graph_from_runs(self, site: str) -> GraphRow:
        self._call("graph_from_runs", site)
        return self._graph_row()

    async def graph_verify(
        self, site: str, storage_state: str = "", thorough: bool = False
    ) -> VerifyGraphReport:
        self._call("graph_verify", site)
        return VerifyGraphReport(
            site=site,
            states=self.shown,
            transitions=44,
            arrivals={"exact": 40, "drifted": 3, "wrong": 1},
            loads=52,
        )

    async def graph_update(self, site: str, options: ExploreOptions | None = None) -> UpdateReport:
        self._call("graph_update", site, options)
        verify = await self.graph_verify(site)
        return UpdateReport(verify=verify, explore=self._report(), diff=GraphDiff(same=self.shown), loads=61)

    async def graph_diff(self, site: str, other: str = "") -> GraphDiff:
        self._call("graph_diff", site)
        return self.diff if self.diff is not None else GraphDiff(same=self.shown)

    async def graph_export(self, site: str, out: str, format: str = "json") -> int:
        self._call("graph_export", site, out, format)
        return self.shown

    # ------------------------------------------------------------ decisions and rules
    async def merge_nodes(self, site: str, nodes: Sequence[str]) -> str:
        self._call("merge_nodes", tuple(nodes))
        numbers = sorted(self._number(node) for node in nodes)
        kept, gone = numbers[0], numbers[1:]
        self.node_rows[kept] = replace(
            self.node_rows[kept], pages=sum(self.node_rows[number].pages for number in numbers)
        )
        self._without(gone, kept)
        self._did(f"merge {len(numbers)} states of {site}")
        self.bus.publish(GraphChanged(site=site))
        return self.node_rows[kept].id

    async def split_node(self, site: str, node: str) -> list[str]:
        self._call("split_node", node)
        number = self._number(node)
        row = self.node_rows[number]
        parts = [replace(row, pages=1, id=row.id[::-1], title=f"{row.title} (2)")] if row.pages > 1 else []
        self.node_rows[number] = replace(row, pages=1)
        for part in parts:
            self.node_rows.append(part)
            self.edges.append((number, len(self.node_rows) - 1, True))
        self.shown += len(parts)
        self._did(f"split a state of {site}")
        self.bus.publish(GraphChanged(site=site))
        return [row.id, *(part.id for part in parts)]

    async def try_rules(self, site: str, node: str, rules: str) -> LabReport:
        self._call("try_rules", node, rules)
        if "???" in rules:
            return LabReport(hits=(), error="rule 1: '(' is never closed (position 4)")
        hits = tuple(
            LabHit(element=one.index, verdict="block", rule="delete", why="its name says 'Delete'")
            if "delete" in one.name.lower()
            else LabHit(element=one.index, verdict="allow")
            for one in make_elements(self.node_rows[self._number(node)])
        )
        stopped = sum(hit.verdict == "block" for hit in hits)
        return LabReport(hits=hits, stopped_here=stopped, stopped_everywhere=29, elements_everywhere=812)

    async def block_rules(self, site: str) -> str:
        return self.rules

    async def save_block_rules(self, site: str, rules: str) -> None:
        self._call("save_block_rules", rules)
        self.rules = rules

    # ------------------------------------------------------------ inside
    def graph_blob(self, digest: str) -> bytes:
        """Return a thumbnail or a large picture of the site; ``NotFound`` for any other digest."""
        kind, _, number = digest.partition("-")
        if kind == "thumb":
            return page_png(int(number))
        if kind == "picture":
            return page_png(int(number), 1280, 800)
        raise NotFound(f"no blob {digest}")

    def _call(self, name: str, *args: Any) -> None:
        raise NotImplementedError

    def _did(self, label: str) -> None:
        raise NotImplementedError

    def _graph_row(self, site: str = SITE) -> GraphRow:
        for row in self.other_sites:
            if row.site == site:
                return row
        if site != SITE or not self.shown:
            raise NotFound(f"there is no graph of {site!r}")
        rows = self.node_rows[: self.shown]
        return GraphRow(
            site=SITE,
            home=HOME,
            mode=Mode.FULL,
            states=len(rows),
            transitions=len(self.edges),
            frontier=12,
            explored_at=NOW,
            state="done",
            gone=sum(row.gone for row in rows),
        )

    def _number(self, node: str) -> int:
        found = [number for number, row in enumerate(self.node_rows) if row.id == node]
        if not found:
            raise NotFound(f"no state {node}")
        return found[0]

    def _way(self, start: int, to: int) -> list[int]:
        before: dict[int, int] = {start: start}
        queue = deque([start])
        while queue and to not in before:
            here = queue.popleft()
            for source, target, _ in self.edges:
                if source == here and target not in before:
                    before[target] = here
                    queue.append(target)
        if to not in before:
            raise NotFound("no path leads there")
        way = [to]
        while way[-1] != start:
            way.append(before[way[-1]])
        return way[::-1]

    def _without(self, gone: list[int], kept: int) -> None:
        rows: list[NodeRow] = [row for number, row in enumerate(self.node_rows) if number not in gone]
        new = {row.id: number for number, row in enumerate(rows)}
        ids = [self.node_rows[kept if number in gone else number].id for number in range(len(self.node_rows))]
        edges = {(new[ids[s]], new[ids[t]]): tried for s, t, tried in self.edges}
        self.node_rows, self.edges = rows, [(s, t, tried) for (s, t), tried in edges.items() if s != t]
        self.shown -= len(gone)

    def _report(self) -> ExploreReport:
        return ExploreReport(
            site=SITE, exploration=1, states=self.shown, new=self.shown, transitions=len(self.edges), templates=21,
            interaction_only=5, tried=52, skipped={"on the page before": 310}, frontier=0, seconds=99.0, ended="done",
            depths=DEPTHS,
        )  # fmt: skip
