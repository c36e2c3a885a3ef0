"""A graph file keeps what it is given, whole or not at all, and says in one sentence what is wrong with it."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from app.engine.api.graph_api import DepthRow
from app.engine.core.page_state import Challenge, GraphEdit, GraphEditKind, Mode, PageKeys, PageState, Source
from app.engine.core.transition import (
    Attempt,
    FrontierItem,
    FrontierStatus,
    Locator,
    Operation,
    ReplayVerdictKind,
    SkipReason,
    Transition,
)
from app.engine.core.verdicts import Label, Verdict
from app.engine.graph.graph import InteractionGraph
from app.engine.store.graph.graph_store import GraphStore
from app.engine.store.workspace import Workspace
from app.errors import InputError, StoreError

KEYS = PageKeys(url="/a?b=1", template="/a?b", structure="1" * 16, skeleton="2" * 16, content="3" * 16)
PAGE = PageState(
    id="a" * 16,
    keys=KEYS,
    url="http://shop.example/a?b=1",
    title="A",
    depth=2,
    headings=("One", "Zwei"),
    controls=("button Save", "link Ærø"),
    element_keys=("0" * 16, "f" * 16),
    elements="11",
    text="22",
    picture="33",
    thumbnail="44",
    direct=True,
    challenge=Challenge.LOGIN,
    status=200,
    exploration=1,
    first_seen=10.0,
    last_seen=11.0,
    notes=("cut",),
)
LOCATOR = Locator(
    role="button",
    name="Save",
    nth=1,
    of=3,
    landmarks=("main", "dialog:Cart"),
    attributes=(("id", "save"), ("type", "submit")),
    css="form >> button",
    frame=("pay",),
)
TRANSITION = Transition(id="t" * 16, source=PAGE.id, target="b" * 16, locator=LOCATOR, risk=0.25)


@pytest.fixture
def store(tmp_path):
    graph = GraphStore(tmp_path / "graphs" / "shop.sqlite", "shop")
    yield graph
    graph.close()


def _again(store: GraphStore) -> GraphStore:
    store.close()
    return GraphStore(store.path, "shop")


def _page(**changes: object) -> PageState:
    return PageState(**{name: getattr(PAGE, name) for name in PageState.__dataclass_fields__} | changes)  # pyright: ignore[reportArgumentType]


def test_everything_of_a_page_comes_back_from_the_file(store):
    store.put_page(PAGE)
    store.put_page(bare := PageState(id="b", keys=KEYS, url="http://x/", element_keys=("short",)))

    reopened = _again(store)

    assert reopened.pages() == [PAGE, bare]
    assert reopened.page(PAGE.id) == PAGE
    assert reopened.page("none") is None
    reopened.close()


def test_a_page_seen_again_keeps_its_first_sight_and_pictures_and_takes_the_smaller_depth(store):
    store.put_page(PAGE)
    store.mark_gone([PAGE.id], [], 12.0)
    store.put_page(
        _page(depth=1, picture="", thumbnail="55", direct=None, title="B", first_seen=20.0, last_seen=20.0)
    )

    kept = store.page(PAGE.id)

    assert kept == _page(depth=1, thumbnail="55", title="B", last_seen=20.0)
    store.touch(PAGE.id, 30.0)
    store.touch(PAGE.id, 25.0)
    assert store.page(PAGE.id) == _page(depth=1, thumbnail="55", title="B", last_seen=30.0)


def test_a_page_known_from_runs_becomes_an_explored_one_and_never_the_reverse(store):
    store.put_page(_page(source=Source.RUN, exploration=0))
    store.put_page(_page(source=Source.EXPLORED, exploration=3))
    store.put_page(_page(source=Source.RUN, exploration=0))

    kept = store.page(PAGE.id)

    assert kept is not None
    assert (kept.source, kept.exploration) == (Source.EXPLORED, 3)


def test_a_transition_gathers_its_attempts(store):
    store.record(TRANSITION)
    assert store.transitions() == [TRANSITION]
    for at, kind, seconds, why in [
        (1.0, ReplayVerdictKind.EXACT, 2.0, ""),
        (2.0, ReplayVerdictKind.WRONG, 9.0, "another page"),
        (3.0, ReplayVerdictKind.SAME_TEMPLATE, 4.0, ""),
    ]:
        store.record(
            TRANSITION,
            Attempt(
                transition=TRANSITION.id, at=at, arrival=kind, seconds=seconds, tier="css", divergence=why
            ),
        )

    [kept] = store.transitions()

    assert (kept.attempts, kept.successes, kept.seconds) == (3, 2, 3.0)
    assert (kept.last_at, kept.last_ok_at, kept.last_arrival) == (3.0, 3.0, "same template")
    assert (kept.last_divergence, kept.last_tier) == ("another page", "css")
    stored = store.connection.execute("SELECT arrival FROM attempt ORDER BY seq").fetchall()
    assert [row[0] for row in stored] == ["exact", "wrong", "same template"]


def test_an_attempt_counts_once_even_if_the_transition_was_given_with_counts(store):
    counted = Transition(
        id="t", source="a", target="b", attempts=1, successes=1, seconds=5.0, found_by=Source.SEEN
    )
    store.record(counted, Attempt(transition="t", at=1.0, arrival=ReplayVerdictKind.EXACT, seconds=3.0))

    [kept] = store.transitions()

    assert (kept.attempts, kept.successes, kept.seconds, kept.found_by) == (1, 1, 3.0, Source.EXPLORED)


def test_what_is_gone_is_marked_and_can_come_back(store):
    store.put_page(PAGE)
    store.record(TRANSITION)
    store.mark_gone([PAGE.id], [TRANSITION.id], 7.0)
    assert (store.pages()[0].gone_at, store.transitions()[0].gone_at) == (7.0, 7.0)
    store.mark_gone([PAGE.id], [TRANSITION.id], 0.0)
    assert (store.pages()[0].gone_at, store.transitions()[0].gone_at) == (0.0, 0.0)


def test_the_frontier_keeps_its_order_and_never_offers_an_element_twice(store):
    deep = FrontierItem(page="p", element="e1", operation=Operation.CLICK, locator=LOCATOR, depth=2)
    near = FrontierItem(page="q", element="e2", operation=Operation.SELECT, value="Red", depth=1)
    blue = FrontierItem(page="q", element="e2", operation=Operation.SELECT, value="Blue", depth=1)
    store.put_frontier([deep, near, blue])
    assert store.frontier(status=FrontierStatus.WAITING) == [near, blue, deep]

    tried = replace(deep, status=FrontierStatus.TRIED)
    store.put_frontier(
        [tried, replace(near, status=FrontierStatus.SKIPPED, reason=SkipReason.DANGER, detail="delete")]
    )

    assert store.frontier(status=FrontierStatus.WAITING) == [blue]
    assert store.frontier("p")[0].status is FrontierStatus.TRIED
    red = store.frontier("q", FrontierStatus.SKIPPED)[0]
    assert (red.value, red.reason, red.detail) == ("Red", SkipReason.DANGER, "delete")
    assert store.waiting() == {"q": 1}
    assert store.skipped() == {SkipReason.DANGER.value: 1}


def test_a_batch_is_kept_whole_or_not_at_all(store):
    def killed() -> None:
        with store.batch():
            store.put_page(PAGE)
            store.record(TRANSITION)
            raise KeyError("killed")

    with pytest.raises(KeyError):
        killed()
    assert (store.pages(), store.transitions()) == ([], [])
    with store.batch():
        store.put_page(PAGE)
        store.record(TRANSITION)
    assert (len(store.pages()), len(store.transitions())) == (1, 1)


def test_explorations_are_remembered_with_their_velocity(store):
    number = store.begin_exploration("http://shop.example/", {"depth": 3, "mode": "skeleton"}, 1.0)
    rows = (DepthRow(depth=0, states=1, new=1, seconds=2.0, velocity=30.0),)
    store.end_exploration(number, "states", 9.0, rows)
    second = store.begin_exploration("http://shop.example/", {}, 10.0)

    first, running = store.explorations()

    assert (first.number, first.ended, first.ended_at, first.depth_rows) == (number, "states", 9.0, rows)
    assert first.options == {"depth": 3, "mode": "skeleton"}
    assert (running.number, running.ended, running.ended_at) == (second, "", 0.0)
    assert (store.home, store.mode) == ("http://shop.example/", Mode.SKELETON)
    store.reopen_exploration(number)
    assert store.explorations()[0].ended == ""


def test_a_decision_that_is_removed_is_kept_and_comes_back_in_its_place(store):
    first = GraphEdit(id="1", kind=GraphEditKind.MERGE, members=("a", "b"), author="me", at=1.0)
    second = GraphEdit(id="2", kind=GraphEditKind.SPLIT, members=("c",), at=2.0)
    store.add_decision(first)
    store.add_decision(second)
    store.remove_decision("1")
    assert store.decisions() == [second]
    store.restore_decision("1")
    assert store.decisions() == [first, second]
    with sqlite3.connect(store.path) as other, pytest.raises(sqlite3.IntegrityError, match="kept for ever"):
        other.execute("DELETE FROM decision")
    other.close()


def test_runs_that_passed_are_found_by_page(store):
    store.add_run_visits([("p", "run-2", 0), ("p", "run-1", 4), ("q", "run-1", 5)])
    store.add_run_visits([("q", "run-1", 4)])
    assert store.passes() == {"p": [("run-2", 0)], "q": [("run-1", 4), ("run-1", 5)]}
    assert store.imported_runs() == {"run-1", "run-2"}


def test_positions_and_vectors_are_kept_and_are_no_change_of_the_graph(store):
    before = store.version
    store.put_positions({"a": (1.0, 2.5), "b": (0.0, 0.0)})
    store.put_positions({"b": (3.0, 4.0)})
    store.put_vectors("mini", {"x": b"1", "y": b"2"})
    store.put_vectors("mini", {"y": b"3"}, drop=["x"])
    assert store.positions() == {"a": (1.0, 2.5), "b": (3.0, 4.0)}
    assert (store.vectors("mini"), store.vectors("other")) == ({"y": b"3"}, {})
    assert store.version == before


def test_the_version_changes_with_a_change_of_this_process_and_of_another(store):
    before = store.version
    store.put_page(PAGE)
    mine = store.version
    other = GraphStore(store.path, "shop")
    other.touch(PAGE.id, 99.0)
    other.close()
    assert len({before, mine, store.version}) == 3


def test_a_graph_of_a_newer_version_is_refused_and_left_alone(store):
    store.put_page(PAGE)
    store.close()
    with sqlite3.connect(store.path) as file:
        file.execute("PRAGMA user_version=99")
    file.close()
    before = store.path.read_bytes()

    with pytest.raises(StoreError, match=r"version 99.*use a newer Sitelore") as caught:
        GraphStore(store.path, "shop")

    assert caught.value.exit_code == 3
    assert store.path.read_bytes() == before


@pytest.mark.parametrize("share", [0.02, 0.25, 0.5, 0.9])
def test_a_graph_file_that_was_cut_says_so_in_one_sentence(store, share):
    with store.batch():
        for number in range(300):
            store.put_page(_page(id=f"{number:016x}"))
    store.close()
    whole = store.path.read_bytes()
    store.path.write_bytes(whole[: int(len(whole) * share)])

    with pytest.raises(StoreError, match=r"the file is damaged .*move it away or take a backup") as caught:
        GraphStore(store.path, "shop")

    assert caught.value.exit_code == 3
    assert "\n" not in str(caught.value)


def test_a_file_that_is_no_database_is_refused(tmp_path):
    path = tmp_path / "shop.sqlite"
    path.write_bytes(b"not a database, whatever its name says" * 100)
    with pytest.raises(StoreError, match="damaged"):
        GraphStore(path, "shop")


def test_a_graph_put_in_the_place_of_another_site_is_refused(store):
    store.close()
    with pytest.raises(StoreError, match="graph of 'shop', not of 'forum'"):
        GraphStore(store.path, "forum")


# in a workspace


def _workspace(tmp_path: Path) -> Workspace:
    workspace = Workspace.open(tmp_path / "workspace")
    workspace.graph("shop").put_page(PAGE)
    workspace.graph("shop").put_page(_page(id="b" * 16))
    return workspace


def _nodes(workspace: Workspace) -> list[str]:
    return list(InteractionGraph.load(workspace.graph("shop")).nodes)


def test_a_workspace_keeps_one_graph_for_each_site_whatever_its_name(tmp_path):
    with Workspace.open(tmp_path / "w") as workspace:
        assert workspace.graph_sites() == []
        for site in ("127.0.0.1:8141", "../up", "Städte/Köln"):
            assert workspace.graph(site).site == site
            assert workspace.graph(site) is workspace.graph(site)
        assert workspace.graph_sites() == sorted(["127.0.0.1:8141", "../up", "Städte/Köln"])
        with pytest.raises(InputError, match="can't name"):
            workspace.graph("x" * 300)
        with pytest.raises(InputError, match="can't name"):
            workspace.graph("")
    assert {file.parent for file in (tmp_path / "w").rglob("*.sqlite")} == {
        tmp_path / "w",
        tmp_path / "w" / "graphs",
    }


def test_merging_and_splitting_are_undone_and_redone_with_verdicts_in_one_history(tmp_path):
    with _workspace(tmp_path) as workspace:
        merge = GraphEdit(
            id="m1", kind=GraphEditKind.MERGE, members=("a" * 16, "b" * 16), author="me", at=1.0
        )
        split = GraphEdit(id="s1", kind=GraphEditKind.SPLIT, members=("a" * 16,), author="me", at=2.0)
        workspace.decide("shop", merge, "merge 'A' and 'B'")
        assert _nodes(workspace) == ["a" * 16]
        workspace.review.add_verdict(Verdict(id="v", run="r", label=Label.LOOP, step=1, author="me", at=3.0))
        workspace.decide("shop", split, "split 'A'")
        assert _nodes(workspace) == ["a" * 16, "b" * 16]

        assert [entry.label for _ in range(3) if (entry := workspace.undo()) is not None] == [
            "split 'A'",
            "verdict 'loop' on r",
            "merge 'A' and 'B'",
        ]
        assert (_nodes(workspace), workspace.review.verdicts()) == (["a" * 16, "b" * 16], [])
        assert workspace.redo() is not None
        assert _nodes(workspace) == ["a" * 16]

    with Workspace.open(tmp_path / "workspace") as again:  # the history is on the disk
        assert _nodes(again) == ["a" * 16]
        assert again.undo() is not None
        assert _nodes(again) == ["a" * 16, "b" * 16]


def test_a_damaged_graph_harms_no_other_part_of_the_workspace(tmp_path):
    with _workspace(tmp_path) as workspace:
        path = workspace.graph("shop").path
    path.write_bytes(path.read_bytes()[:5000])
    with Workspace.open(tmp_path / "workspace") as workspace:
        assert workspace.graph_sites() == ["shop"]
        with pytest.raises(StoreError, match="damaged"):
            workspace.graph("shop")
        assert workspace.graph("other").pages() == []


_WRITER = """
import sys
from pathlib import Path
from app.engine.store.graph.graph_store import GraphStore
from app.engine.store.workspace import Workspace
from app.engine.core.page_state import PageKeys, PageState
from app.engine.core.transition import Transition
store = GraphStore(Path(sys.argv[1]), "shop")
keys = PageKeys(url="/", template="/", structure="s", skeleton="k")
number = 0
while True:
    with store.batch():
        for half in range(20):
            store.put_page(PageState(id=f"{number}-{half}", keys=keys, url="http://x/"))
        store.record(Transition(id=f"{number}", source=f"{number}-0", target=f"{number}-19"))
    print(number, flush=True)
    number += 1
"""


def test_a_process_that_is_killed_loses_the_step_in_flight_at_most(tmp_path):
    path = tmp_path / "shop.sqlite"
    with subprocess.Popen(
        [sys.executable, "-c", _WRITER, str(path)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[3],
    ) as writer:
        assert writer.stdout is not None
        told = [int(writer.stdout.readline()) for _ in range(25)]
        writer.kill()
    store = GraphStore(path, "shop")
    pages = {page.id for page in store.pages()}
    steps = [found.id for found in store.transitions()]
    store.close()
    assert len(steps) >= len(told)
    assert pages == {f"{step}-{half}" for step in steps for half in range(20)}


def test_what_is_read_is_what_is_on_the_disk_whatever_was_read_before(store):
    store.put_page(PAGE)
    store.record(TRANSITION)
    assert (store.pages(), store.transitions()) == ([PAGE], [TRANSITION])

    store.put_page(_page(id="b" * 16))
    store.touch(PAGE.id, 50.0)
    store.mark_gone([], [TRANSITION.id], 4.0)
    assert [page.last_seen for page in store.pages()] == [50.0, 11.0]
    assert [found.gone_at for found in store.transitions()] == [4.0]

    def taken_back() -> None:
        with store.batch():
            store.put_page(_page(id="c" * 16))
            store.add_attempt(
                Attempt(transition=TRANSITION.id, at=1.0, arrival=ReplayVerdictKind.EXACT, seconds=1.0)
            )
            assert len(store.pages()) == 3
            assert store.transitions()[0].attempts == 1
            raise KeyError("killed")

    with pytest.raises(KeyError):
        taken_back()
    assert [page.id for page in store.pages()] == [PAGE.id, "b" * 16]
    assert store.transitions()[0].attempts == 0

    other = GraphStore(store.path, "shop")
    other.put_page(_page(id="d" * 16))
    assert [page.id for page in store.pages()] == [PAGE.id, "b" * 16, "d" * 16]
    store.put_page(_page(id="e" * 16))
    assert store.pages() == other.pages()
    other.close()


def test_a_value_of_another_version_is_told_as_a_damaged_file(store):
    store.put_page(PAGE)
    with sqlite3.connect(store.path) as other:
        other.execute("UPDATE page SET source = 'dreamt'")
    other.close()
    with pytest.raises(StoreError, match="dreamt"):
        store.pages()
