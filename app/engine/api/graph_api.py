"""Use cases on interaction graphs, and their values on the channel (part of ``EngineApi``)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from app.engine.core.page_state import Challenge, Element, Mode, PageKeys
from app.engine.core.transition import FrontierItem, ReplayVerdict, Transition
from kb.tip import Scope

ROLES = (
    "link", "button", "tab", "menuitem", "menuitemcheckbox", "menuitemradio", "combobox", "listbox", "option",
    "checkbox", "radio", "switch", "treeitem", "summary", "searchbox", "textbox", "slider", "spinbutton",
)  # fmt: skip
"""Roles of elements a person can act on."""

TRIED_ROLES = (
    "link", "button", "tab", "menuitem", "menuitemcheckbox", "menuitemradio", "combobox", "checkbox", "radio",
    "switch", "treeitem", "summary",
)  # fmt: skip
"""Roles the exploration tries by default."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExploreOptions:
    """Options of an exploration.  Times in seconds.

    Attributes:
        block_list: path of a rule file, besides the built-in rules; "" for none.
        workers: concurrent pages.
        rate: page loads a second at most; 0 means 2 on a public host and no limit on this machine's own.
        storage_state: path of a recorded log-in (Playwright's storage state); "" for an anonymous visitor.
        resume: continue an exploration that did not end.
        naive: try every element of every page (for comparison only).
    """

    depth: int = 3
    max_states: int = 1000
    max_seconds: float = 1800.0
    mode: Mode = Mode.FULL
    block_list: str = ""
    roles: tuple[str, ...] = TRIED_ROLES
    workers: int = 2
    rate: float = 0.0
    storage_state: str = ""
    obey_robots: bool = True
    headed: bool = False
    pictures: bool = True
    resume: bool = True
    naive: bool = False
    viewport: tuple[int, int] = (1280, 800)


@dataclass(frozen=True, slots=True, kw_only=True)
class DepthRow:
    """One bar and one point of the paper's figure 3: states known at a depth, and states a minute there."""

    depth: int
    states: int
    new: int
    seconds: float
    velocity: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ExploreReport:
    """The result of an exploration.

    ``ended`` is ``done``, ``states``, ``seconds``, ``stopped``, ``paused`` or ``failed``; ``skipped`` counts
    elements by reason; ``interaction_only`` are states without an address of their own.
    """

    site: str
    exploration: int
    states: int
    new: int
    transitions: int
    templates: int
    interaction_only: int
    tried: int
    skipped: dict[str, int]
    frontier: int
    seconds: float
    ended: str
    depths: tuple[DepthRow, ...] = ()
    notes: tuple[str, ...] = ()
    robots: str = ""
    barred: tuple[str, ...] = ()
    """Addresses on the pages found that robots.txt asked not to open."""
    tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphRow:
    """One graph of the workspace."""

    site: str
    home: str
    mode: Mode
    states: int
    transitions: int
    frontier: int
    explored_at: float
    state: str
    """Of its last exploration: ``running``, ``paused``, ``done``, ``interrupted``, ``failed``; "" for runs only."""
    gone: int = 0
    error: str = ""
    """Why its file can't be read; then the rest is empty."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeRow:
    """One state of the graph as a row of its table.

    ``pages`` counts the page states it stands for; ``failures`` counts failed runs whose suspect step was here,
    ``runs`` all runs that passed, ``tips`` those in force for its address.
    """

    id: str
    title: str
    url: str
    template: str
    depth: int
    pages: int = 1
    elements: int = 0
    outgoing: int = 0
    incoming: int = 0
    waiting: int = 0
    runs: int = 0
    failures: int = 0
    tips: int = 0
    suspect_tips: int = 0
    direct: bool | None = None
    gone: bool = False
    thumbnail: str = ""
    challenge: Challenge = Challenge.NONE
    last_seen: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphPicture:
    """The map: rows in drawing order, positions, edges as pairs of row numbers.

    Positions are in units of one node: columns are depths, rows are one apart.  A placed node keeps its position
    when the graph grows.  ``weights`` counts the transitions of an edge; ``tried`` tells whether any of them was
    ever followed.
    """

    site: str
    version: int
    nodes: tuple[NodeRow, ...]
    x: tuple[float, ...]
    y: tuple[float, ...]
    sources: tuple[int, ...]
    targets: tuple[int, ...]
    weights: tuple[int, ...]
    tried: tuple[bool, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeDetail:
    """The contents of a state's panel.

    ``elements`` are those of the latest capture, ``frontier`` holds the status of each, ``runs`` are (run, step)
    that passed, ``tips`` ids of those in force.
    """

    row: NodeRow
    keys: PageKeys
    picture: str
    text: str
    elements: tuple[Element, ...]
    frontier: tuple[FrontierItem, ...]
    element_keys: tuple[str, ...]
    """Key of each element, in the elements' order: joins them with ``frontier``."""
    outgoing: tuple[Transition, ...]
    incoming: tuple[Transition, ...]
    titles: dict[str, str] = field(default_factory=dict[str, str])
    """Titles of the nodes the transitions name, by id."""
    pages: tuple[str, ...] = ()
    runs: tuple[tuple[str, int], ...] = ()
    tips: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeHit:
    """A matching state; ``matched`` are its words that answered the query's, best first.

    Where it is one of ``StateChoices``, ``missing`` are the query's words that stand nowhere on it.
    """

    node: str
    title: str
    url: str
    score: float
    matched: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    thumbnail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class StateChoices:
    """The first states for a description, the best first, and whether it may mean one of them."""

    like: bool
    hits: tuple[NodeHit, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PathPlan:
    """A path between two nodes: transitions in order, nodes passed (one more), expected cost in seconds."""

    nodes: tuple[str, ...]
    titles: tuple[str, ...]
    transitions: tuple[Transition, ...]
    cost: float
    risk: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Journey:
    """A followed path: the plan, a replay verdict for each transition, and the final address.  ``picture`` is a
    blob.  ``choices`` are the states among which a description's was chosen.
    """

    plan: PathPlan
    arrivals: tuple[ReplayVerdict, ...]
    arrived: bool
    url: str
    picture: str = ""
    why: str = ""
    seconds: float = 0.0
    choices: tuple[NodeHit, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyGraphReport:
    """The result of a verification: counts of nodes and transitions, counts by verdict, ids of what is gone."""

    site: str
    states: int
    transitions: int
    arrivals: dict[str, int]
    gone_states: tuple[str, ...] = ()
    gone_transitions: tuple[str, ...] = ()
    changed_states: tuple[str, ...] = ()
    suspect_tips: tuple[str, ...] = ()
    seconds: float = 0.0
    loads: int = 0
    """Pages opened or operations made: the cost, comparable with an exploration's ``tried``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateReport:
    """A verification, then an exploration of what is new."""

    verify: VerifyGraphReport
    explore: ExploreReport
    diff: GraphDiff
    loads: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedState:
    """A state in two graphs: its elements that disappeared and appeared, in words."""

    id: str
    title: str
    url: str
    gone: tuple[str, ...]
    come: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphDiff:
    """A comparison of two graphs: (id, title, address) of states added and removed, changed states, transitions
    in words.
    """

    added: tuple[tuple[str, str, str], ...] = ()
    removed: tuple[tuple[str, str, str], ...] = ()
    changed: tuple[ChangedState, ...] = ()
    added_transitions: tuple[str, ...] = ()
    removed_transitions: tuple[str, ...] = ()
    same: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class LabHit:
    """The block rules' result for one element: verdict (``allow``, ``ask``, ``block``), rule, reason."""

    element: int
    verdict: str
    rule: str = ""
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabReport:
    """A rule file tried on a stored page: one hit an element, and the number it would stop on all stored pages."""

    hits: tuple[LabHit, ...]
    error: str = ""
    stopped_here: int = 0
    stopped_everywhere: int = 0
    elements_everywhere: int = 0
    notes: tuple[str, ...] = ()
    """Parts of the rules that mean something else than they seem to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodScore:
    """A search method's score on labelled queries."""

    method: str
    recall_at_1: float
    recall_at_10: float
    mrr: float
    p50_ms: float
    p95_ms: float
    megabytes: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchComparison:
    """Search methods on the same labelled queries and states.

    ``missed`` are queries that no method found at 10, ``absent`` those whose state is not in the graph: they are
    left out.
    """

    site: str
    states: int
    queries: int
    methods: tuple[MethodScore, ...]
    missed: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphStats:
    """The figures of a graph."""

    row: GraphRow
    templates: int
    interaction_only: int
    direct: int
    tried: int
    seen_only: int
    success_rate: float
    skipped: dict[str, int]
    depths: tuple[DepthRow, ...]
    challenges: dict[str, int]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeCoverage:
    """The number of pages of a site's map on which a scope holds; no pages where the site has no map."""

    holds: int
    pages: int


@dataclass(frozen=True, slots=True, kw_only=True)
class HostMap:
    """A map that begins on a host, and its number of states."""

    site: str
    states: int


class GraphApi(Protocol):
    """Use cases on interaction graphs; a unique prefix of a node id is enough."""

    async def scope_coverage(self, site: str, scope: Scope) -> ScopeCoverage: ...
    async def graphs(self) -> list[GraphRow]: ...
    async def host_maps(self, url: str, site: str = "") -> list[HostMap]: ...
    async def explore(
        self, url: str, site: str = "", options: ExploreOptions | None = None, second_map: bool = False
    ) -> ExploreReport: ...
    async def pause_exploration(self, site: str) -> None: ...
    async def resume_exploration(self, site: str) -> None: ...
    async def stop_exploration(self, site: str) -> None: ...
    async def log_in_by_hand(self, site: str, url: str) -> str: ...
    async def logged_in(self, site: str) -> str: ...
    async def graph_stats(self, site: str) -> GraphStats: ...
    async def graph_picture(self, site: str, tidy: bool = False) -> GraphPicture: ...
    async def graph_node(self, site: str, node: str) -> NodeDetail: ...
    async def graph_search(
        self, site: str, query: str, method: str = "late", k: int = 10
    ) -> list[NodeHit]: ...
    async def graph_choices(self, site: str, query: str) -> StateChoices: ...
    async def graph_compare_search(self, site: str, queries: str) -> SearchComparison: ...
    async def graph_path(self, site: str, to: str, start: str = "") -> PathPlan: ...
    async def graph_navigate(
        self, site: str, to: str, headed: bool = False, fresh: bool = False, storage_state: str = ""
    ) -> Journey: ...
    async def close_browser(self, site: str) -> None: ...
    async def graph_from_runs(self, site: str) -> GraphRow: ...
    async def graph_verify(
        self, site: str, storage_state: str = "", thorough: bool = False
    ) -> VerifyGraphReport: ...
    async def graph_update(self, site: str, options: ExploreOptions | None = None) -> UpdateReport: ...
    async def graph_diff(self, site: str, other: str = "") -> GraphDiff: ...
    async def graph_export(self, site: str, out: str, format: str = "json") -> int: ...
    async def merge_nodes(self, site: str, nodes: Sequence[str]) -> str: ...
    async def split_node(self, site: str, node: str) -> list[str]: ...
    async def try_rules(self, site: str, node: str, rules: str) -> LabReport: ...
    async def block_rules(self, site: str) -> str: ...
    async def save_block_rules(self, site: str, rules: str) -> None: ...
