"""The difference between two crawls: what came, what went, what changed, and nothing else."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.engine.api.graph_api import GraphDiff
from app.engine.core.page_state import GraphEdit, GraphEditKind, Mode, PageKeys, PageState, Source
from app.engine.core.transition import Locator, Transition
from app.engine.graph.diff import diff_explorations, diff_graphs
from app.engine.graph.graph import InteractionGraph
from app.errors import UsageError

HOME = "http://shop.example/"


def digest(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def page(url: str, *controls: str, template: str = "", **more) -> PageState:
    name = f"{url} {sorted(controls)}"
    digits = digest(name)
    keys = PageKeys(url=url, template=template or url, structure=digits, skeleton=digits)
    state = PageState(
        id=digits,
        keys=keys,
        url=f"http://shop.example{url}",
        title=url.strip("/") or "Home",
        controls=controls,
        element_keys=tuple(sorted(controls)),
        first_seen=1.0,
        last_seen=1.0,
        exploration=1,
    )
    return replace(state, **more)


def way(source: PageState, target: PageState, name: str = "Go", **more) -> Transition:
    found = Transition(
        id=digest(source.id + target.id + name),
        source=source.id,
        target=target.id,
        locator=Locator(role="link", name=name),
        exploration=1,
    )
    return replace(found, **more)


def graph(pages, ways=(), mode=Mode.FULL, decisions=()) -> InteractionGraph:
    return InteractionGraph("shop", HOME, mode, pages, ways, decisions)


CHROME = ("link Home", "link Cups", "link Help")


def test_a_graph_does_not_differ_from_itself():
    home, cups = page("/", *CHROME), page("/cups", *CHROME, "button Sort")
    same = graph([home, cups], [way(home, cups), way(cups, home)])
    assert diff_graphs(same, same) == GraphDiff(same=2)


def test_new_and_lost_states_are_named_with_title_and_address():
    home, old, new = page("/"), page("/old", "link A"), page("/new", "link B")
    found = diff_graphs(graph([home, old]), graph([home, new]))
    assert found.added == ((new.id, "new", "http://shop.example/new"),)
    assert found.removed == ((old.id, "old", "http://shop.example/old"),)
    assert (found.changed, found.same) == ((), 1)


def test_a_state_whose_controls_changed_is_one_changed_state():
    before, after = (
        page("/cups", *CHROME, "button Sort"),
        page("/cups", *CHROME, "button Filter", "link Sale"),
    )
    found = diff_graphs(graph([before]), graph([after]))
    (change,) = found.changed
    assert (change.id, change.gone, change.come) == (
        after.id,
        ("button Sort",),
        ("button Filter", "link Sale"),
    )
    assert (found.added, found.removed) == ((), ())


def test_an_open_menu_is_not_paired_with_the_page():
    closed, opened = (
        page("/", *CHROME, "button Menu"),
        page("/", *CHROME, "button Menu", "menuitem A", "menuitem B"),
    )
    new_closed = page("/", *CHROME, "button Menu", "link New")
    new_opened = page("/", *CHROME, "button Menu", "link New", "menuitem A", "menuitem B")
    found = diff_graphs(graph([closed, opened]), graph([new_opened, new_closed]))
    assert {(change.id, change.come) for change in found.changed} == {
        (new_closed.id, ("link New",)),
        (new_opened.id, ("link New",)),
    }


def test_pages_that_share_only_their_address_are_not_a_changed_state():
    login, shop = page("/", "textbox User", "button Log in"), page("/", *CHROME)
    found = diff_graphs(graph([login]), graph([shop]))
    assert len(found.added) == len(found.removed) == 1
    assert found.changed == ()


def test_transitions_of_kept_states_are_listed_and_those_of_new_states_are_not():
    home, cups = page("/"), page("/cups")
    sale = page("/sale", "link X")
    before = graph([home, cups], [way(home, cups, "Cups"), way(cups, home, "Back")])
    after = graph(
        [home, cups, sale], [way(home, cups, "Cups"), way(home, sale, "Sale"), way(sale, home, "Home")]
    )
    found = diff_graphs(before, after)
    assert found.added_transitions == ("Home: click link 'Sale' -> sale",)
    assert found.removed_transitions == ("cups: click link 'Back' -> Home",)


def test_transitions_follow_a_state_that_changed():
    home, old, new = page("/"), page("/cups", *CHROME), page("/cups", *CHROME, "link New")
    before = graph([home, old], [way(home, old, "Cups"), way(old, home, "Home")])
    after = graph([home, new], [way(home, new, "Cups"), way(new, home, "Home")])
    found = diff_graphs(before, after)
    assert (found.added_transitions, found.removed_transitions) == ((), ())


def test_removed_states_are_not_in_the_difference():
    home, cups = page("/"), page("/cups", "link A")
    found = diff_graphs(graph([home, cups]), graph([home, replace(cups, gone_at=9.0)]))
    assert [row[0] for row in found.removed] == [cups.id]


def test_the_later_graphs_mode_groups_the_states():
    def cup(number: int) -> PageState:
        return replace(
            page(f"/cup/{number}", "button Buy", template="/cup/{n}"),
            keys=PageKeys(
                url=f"/cup/{number}", template="/cup/{n}", structure=f"{number:016x}", skeleton="c" * 16
            ),
        )

    found = diff_graphs(graph([cup(1), cup(2)]), graph([cup(3), cup(4)], mode=Mode.SKELETON))
    assert found == GraphDiff(same=1)


def test_a_merge_made_in_between_is_no_difference():
    one, two = page("/a"), page("/b")
    merge = GraphEdit(id="d", kind=GraphEditKind.MERGE, members=(one.id, two.id))
    assert diff_graphs(graph([one, two]), graph([one, two], decisions=[merge])) == GraphDiff(same=1)


@dataclass(frozen=True)
class Crawl:
    number: int
    started_at: float
    ended_at: float
    ended: str = "done"
    options: dict[str, object] = field(default_factory=dict)


FIRST, SECOND = Crawl(1, 0.0, 10.0), Crawl(2, 20.0, 30.0)


def test_the_last_exploration_is_compared_with_the_one_before():
    home = page("/", last_seen=25.0)
    lost = page("/lost", "link A", last_seen=5.0)
    marked = page("/marked", "link B", last_seen=25.0, gone_at=28.0)
    new = page("/new", "link C", first_seen=26.0, last_seen=26.0, exploration=2)
    ways = [way(home, lost, "Lost"), way(home, new, "New", exploration=2)]
    found = diff_explorations(graph([home, lost, marked, new], ways), [FIRST, SECOND])
    assert [row[1] for row in found.added] == ["new"]
    assert {row[1] for row in found.removed} == {"lost", "marked"}
    assert found.added_transitions == ("Home: click link 'New' -> new",)
    assert found.same == 1


@pytest.mark.parametrize(
    "second",
    [replace(SECOND, ended="states"), replace(SECOND, options={"depth": 1}), replace(SECOND, ended="")],
)
def test_what_a_shorter_exploration_did_not_reach_is_not_gone(second: Crawl):
    states = [page("/", last_seen=25.0), page("/far", "link A", last_seen=5.0)]
    assert diff_explorations(graph(states), [FIRST, second]) == GraphDiff(same=2)


def test_states_known_from_runs_do_not_count_as_removed():
    run = page("/run", "link A", source=Source.RUN, exploration=0, first_seen=2.0, last_seen=2.0)
    found = diff_explorations(graph([page("/", last_seen=25.0), run]), [FIRST, SECOND])
    assert found == GraphDiff(same=2)


def test_one_exploration_alone_can_not_be_compared():
    with pytest.raises(UsageError, match="only once"):
        diff_explorations(graph([page("/")]), [FIRST])


NAMES = st.sets(st.sampled_from("abcdefgh"), max_size=6)


@given(left=st.lists(NAMES, max_size=6), right=st.lists(NAMES, max_size=6))
def test_the_difference_is_complete_and_symmetric(left, right):
    def made(sets) -> InteractionGraph:
        return graph([page(f"/{number % 3}", *sorted(names)) for number, names in enumerate(sets)])

    before, after = made(left), made(right)
    there, back = diff_graphs(before, after), diff_graphs(after, before)
    assert len(there.added) + len(there.changed) + there.same == len(after.nodes)
    assert len(there.removed) + len(there.changed) + there.same == len(before.nodes)
    assert {row[0] for row in there.added} == {row[0] for row in back.removed}
    assert {(change.gone, change.come) for change in there.changed} == {
        (change.come, change.gone) for change in back.changed
    }
