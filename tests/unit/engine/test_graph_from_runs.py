"""Runs that passed a site make a map of it, and every state knows which run was there at which step."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

import pytest

from app.engine.core.actions.recorded import ActionTarget, RecordedAction
from app.engine.core.identity import keys_of
from app.engine.core.page_state import Mode, Source
from app.engine.core.trajectory import ErrorClass, Run, Step
from app.engine.graph.graph import InteractionGraph
from app.engine.graph.recorded_pages import read_page
from app.engine.imports.importer import import_paths
from app.engine.services.graph_from_runs import add_runs
from app.engine.store.graph.graph_store import GraphStore
from app.engine.store.workspace import Workspace
from tests.support.runs import COLLECTION, make_run, make_step, needs_collection

HOME = "http://shop.example:7770/"


def tree(*controls: str, heading: str = "Shop") -> str:
    lines = [
        f"RootWebArea '{heading}'",
        f"\theading '{heading}'",
        *(f"\t[{n + 10}] {c}" for n, c in enumerate(controls)),
    ]
    return "\n".join(lines)


HOME_TREE = tree("link 'Products'", "button 'Menu', expanded=False", "searchbox 'Search'")
HOME_HTML = (
    '<a bid="10" href="/products/" data-testid="nav">Products</a>'
    '<form action="/find"><input bid="12" name="q"></form>'
)
MENU_TREE = tree("link 'Products'", "button 'Menu', expanded=True", "menuitem 'Sign out'")
LIST_TREE = tree("link 'Mug'", "button 'Delete all'", heading="Products")
MUG_TREE = tree("button 'Add to basket'", heading="Mug")

click = {n: RecordedAction(kind="click", args={"bid": str(n)}) for n in range(10, 14)}


class Recorded:
    """Puts made-up runs into a workspace."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.store: GraphStore = workspace.graph("shopping")

    def run(
        self,
        name: str,
        *moments: tuple[str, str, RecordedAction | None],
        host: str = "shop.example:7770",
        **more: object,
    ) -> Run:
        """A run of (path, tree, action); the last moment is where it ended."""
        blobs = {_digest(text): text.encode() for _, text, _ in moments} | {
            _digest(HOME_HTML): HOME_HTML.encode()
        }
        steps = [
            make_step(
                n,
                url=f"http://{host}{path}",
                title=f"Page {path}",
                tree=_digest(text),
                html=_digest(HOME_HTML) if text == HOME_TREE else "",
                action=action,
                target=ActionTarget(role="link", name="x", bid="10"),
                started_at=100.0 + n,
                **more,
            )
            for n, (path, text, action) in enumerate(moments)
        ]
        final = replace(steps.pop(), executed=False)
        run = make_run(name, final=final, step_count=len(steps))
        assert self.workspace.runs.add(run, steps, blobs)
        return run

    def graph(self, mode: Mode = Mode.FULL) -> InteractionGraph:
        return InteractionGraph.load(self.store, mode)

    def ways(self) -> list[tuple[str, str, str]]:
        names = {page.id: page.keys.url for page in self.store.pages()}
        return [
            (names[one.source], one.words, names[one.target])
            for one in self.store.transitions()
            if not one.gone_at
        ]


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


@pytest.fixture
def recorded(tmp_path: Path):
    with Workspace.open(tmp_path / "workspace") as workspace:
        yield Recorded(workspace)


def test_pages_become_states_and_actions_become_transitions(recorded):
    recorded.run(
        "r1",
        ("/", HOME_TREE, click[10]),
        ("/products/", LIST_TREE, click[10]),
        ("/products/mug_1/", MUG_TREE, None),
    )

    told = add_runs(recorded.workspace, recorded.store)

    assert (told.runs, told.steps, told.states, told.transitions) == (1, 3, 3, 2)
    assert recorded.ways() == [
        ("/", "click link 'Products'", "/products"),
        ("/products", "click link 'Mug'", "/products/mug_1"),
    ]
    pages = recorded.store.pages()
    assert [(page.source, page.depth, page.direct) for page in pages] == [
        (Source.RUN, n, None) for n in range(3)
    ]
    assert recorded.store.home == HOME
    assert [one.found_by for one in recorded.store.transitions()] == [Source.RUN] * 2


def test_every_state_names_the_runs_and_steps_that_were_there(recorded):
    recorded.run("r1", ("/", HOME_TREE, click[10]), ("/products/", LIST_TREE, None))
    recorded.run("r2", ("/", HOME_TREE, click[10]), ("/products/", LIST_TREE, None), host="10.0.0.7:7770")

    add_runs(recorded.workspace, recorded.store)

    graph, passes = recorded.graph(), recorded.store.passes()
    by_url = {page.keys.url: passes[page.id] for node in graph.nodes for page in graph.pages_of(node)}
    assert by_url == {"/": [("r1", 0), ("r2", 0)], "/products": [("r1", 1), ("r2", 1)]}
    assert [one.attempts for one in recorded.store.transitions()] == [2]


def test_a_menu_that_opened_is_a_state_of_its_own_at_the_same_address(recorded):
    recorded.run("r1", ("/", HOME_TREE, click[11]), ("/", MENU_TREE, None))
    add_runs(recorded.workspace, recorded.store)
    assert recorded.ways() == [("/", "click button 'Menu'", "/")]
    assert len(recorded.store.pages()) == 2


def test_adding_the_same_runs_again_counts_nothing_twice_and_new_ones_are_added(recorded):
    recorded.run("r1", ("/", HOME_TREE, click[10]), ("/products/", LIST_TREE, None))
    add_runs(recorded.workspace, recorded.store)
    before = (recorded.store.pages(), recorded.store.transitions(), recorded.store.passes())
    add_runs(recorded.workspace, recorded.store)
    assert (recorded.store.pages(), recorded.store.transitions(), recorded.store.passes()) == before
    recorded.run("r2", ("/", HOME_TREE, click[10]), ("/products/", LIST_TREE, None))
    add_runs(recorded.workspace, recorded.store)
    assert [one.attempts for one in recorded.store.transitions()] == [2]


def test_a_step_at_an_explored_address_was_on_the_explored_state(recorded):
    recorded.run("r1", ("/", HOME_TREE, click[10]), ("/products/", LIST_TREE, None))
    add_runs(recorded.workspace, recorded.store)
    listing = next(page for page in recorded.store.pages() if page.keys.url == "/products")
    explored = replace(
        listing,
        id="e" * 16,
        keys=replace(listing.keys, structure="other"),
        source=Source.EXPLORED,
        exploration=1,
        depth=4,
    )
    recorded.store.put_page(explored)

    add_runs(recorded.workspace, recorded.store)

    assert recorded.store.passes()["e" * 16] == [("r1", 1)]
    assert [page.gone_at > 0 for page in recorded.store.pages() if page.id == listing.id] == [True]
    assert recorded.ways() == [("/", "click link 'Products'", "/products")]
    kept = recorded.store.page("e" * 16)
    assert kept is not None
    assert (kept.depth, kept.source) == (4, Source.EXPLORED)


def test_destructive_transitions_have_a_risk_and_plain_links_none(recorded):
    recorded.run(
        "r1",
        ("/", HOME_TREE, click[10]),
        ("/products/", LIST_TREE, click[11]),
        ("/products/none/", MUG_TREE, None),
    )
    add_runs(recorded.workspace, recorded.store)
    risks = {one.words: one.risk for one in recorded.store.transitions()}
    assert risks["click link 'Products'"] == 0.0
    assert risks["click button 'Delete all'"] >= 0.5


def test_an_element_gets_its_attributes_from_the_html():
    page = read_page(make_step(url=HOME), HOME_TREE, HOME_HTML)
    products, search = page.elements["10"], page.elements["12"]
    assert (products.href, products.test_id) == (f"{HOME}products/", "nav")
    assert (search.form, dict(search.attributes)["name"]) == ("get:/find", "q")
    assert page.page.headings == ("Shop",)


@pytest.mark.parametrize(
    ("action", "words"),
    [
        (RecordedAction(kind="goto", args={"url": HOME + "products/"}), f"open {HOME}products/"),
        (RecordedAction(kind="fill", args={"bid": "12", "value": "mug"}), "type searchbox 'Search' = 'mug'"),
        (
            RecordedAction(kind="press", args={"bid": "12", "key_comb": "Enter"}),
            "press searchbox 'Search' = 'Enter'",
        ),
        (RecordedAction(kind="go_back"), ""),
        (RecordedAction(kind="click", args={"bid": "999"}), ""),
        (None, ""),
    ],
)
def test_only_page_actions_become_transitions(recorded, action, words):
    recorded.run("r1", ("/", HOME_TREE, action), ("/products/", LIST_TREE, None))
    add_runs(recorded.workspace, recorded.store)
    assert recorded.ways() == ([("/", words, "/products")] if words else [])
    assert {page.keys.url for page in recorded.store.pages()} == {"/", "/products"}


def test_an_action_that_failed_or_left_the_site_is_no_transition(recorded):
    recorded.run(
        "r1", ("/", HOME_TREE, click[10]), ("/products/", LIST_TREE, None), error_class=ErrorClass.HARD
    )
    recorded.run("r2", ("/", HOME_TREE, click[10]), ("/products/", LIST_TREE, None), host="elsewhere.example")
    told = add_runs(recorded.workspace, recorded.store)
    assert (told.runs, told.transitions) == (1, 0)


def test_a_page_whose_content_is_lost_is_left_out_with_a_note(recorded):
    run = make_run("r1", step_count=1)
    lost: Step = make_step(0, url=HOME, tree="0" * 64)
    recorded.workspace.runs.add(run, [lost], {})
    told = add_runs(recorded.workspace, recorded.store)
    assert told.states == 0
    assert "no stored page" in told.notes[0]


@pytest.mark.shared_data
@needs_collection
def test_the_published_runs_make_a_map_of_gitlab(tmp_path):
    with Workspace.open(tmp_path / "workspace") as workspace:
        import_paths(workspace, [COLLECTION])
        store = workspace.graph("gitlab")
        told = add_runs(workspace, store)
        graph = InteractionGraph.load(store)
        passes = store.passes()

        assert (told.runs, told.notes) == (13, ())
        assert len(graph.nodes) >= 60
        assert sum(len(graph.outgoing(node)) for node in graph.nodes) >= 55
        templates = {page.keys.template for page in graph.pages.values()}
        assert "/{project}/-/issues/{n}" in templates
        for node in graph.nodes:
            seen = [moment for page in graph.pages_of(node) for moment in passes[page.id]]
            assert seen
            for run, step in seen:
                head, steps = workspace.runs.load(run)
                there = head.final if step == len(steps) else steps[step]
                assert there is not None
                assert keys_of(read_page(there, "").page, there.url).url in {
                    p.keys.url for p in graph.pages_of(node)
                }
        issue = next(page for page in graph.pages.values() if page.keys.template == "/{project}/-/issues/{n}")
        assert graph.route("", issue.id, opening=False).transitions[0].words == "click link 'Issues'"
