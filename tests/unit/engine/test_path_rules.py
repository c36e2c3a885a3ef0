"""Which ways are taken through a graph and which pages are opened (``graph/paths.py``), one row a clause."""

from __future__ import annotations

import pytest

from app.engine.core.page_state import PageKeys, PageState
from app.engine.core.transition import Operation, ReplayVerdictKind, Transition
from app.engine.graph.paths import OPEN, PRIOR, RECENT_FAILURE, RISK, STEP, UNSURE, UNTRIED, Router, cost
from app.errors import NotFound

HERE, THERE, END = "here", "there", "end"


def page(name: str, *, direct: bool | None = False, gone: bool = False) -> PageState:
    keys = PageKeys(url=f"/{name}", template=f"/{name}", structure="", skeleton="")
    return PageState(
        id=name, keys=keys, url=f"http://shop.test/{name}", direct=direct, gone_at=1.0 if gone else 0.0
    )


def step(source: str, target: str, **more: object) -> Transition:
    given: dict[str, object] = {
        "id": f"{source}>{target}",
        "attempts": 2,
        "successes": 2,
        "seconds": 1.0,
        **more,
    }
    return Transition(source=source, target=target, **given)  # type: ignore[arg-type]


TRIED = (1.0 + STEP) / ((2 + 2 * PRIOR) / 4)
COSTS: tuple[tuple[str, dict[str, object], float], ...] = (
    ("what always led there", {}, TRIED),
    ("one that takes longer", {"seconds": 5.0}, TRIED * (5.0 + STEP) / (1.0 + STEP)),
    ("half of its tries failed", {"successes": 1}, (1.0 + STEP) / ((1 + 2 * PRIOR) / 4)),
    ("it failed when last tried", {"last_arrival": ReplayVerdictKind.WRONG.value}, TRIED * RECENT_FAILURE),
    ("it led there when last tried", {"last_arrival": ReplayVerdictKind.SAME_TEMPLATE.value}, TRIED),
    ("it is risky", {"risk": 0.5}, TRIED + RISK * 0.5),
    ("nobody tried it", {"attempts": 0, "successes": 0}, (1.0 + STEP) / PRIOR + UNTRIED),
)


@pytest.mark.parametrize(("fields", "seconds"), [row[1:] for row in COSTS], ids=[row[0] for row in COSTS])
def test_transition_costs(fields: dict[str, object], seconds: float) -> None:
    assert cost(step(HERE, THERE, **fields)) == pytest.approx(seconds)


def test_each_risk_of_a_path_has_a_cost() -> None:
    assert min(RISK, UNTRIED, OPEN, UNSURE) > 0
    assert RECENT_FAILURE > 1


CLICKS, OPENS, BOTH = [Operation.CLICK], [Operation.OPEN], [Operation.OPEN, Operation.CLICK]
Pages = tuple[PageState, ...]
Ways = tuple[Transition, ...]

WAYS: tuple[tuple[str, Pages, Ways, list[Operation] | None], ...] = (
    ("a transition leads there", (page(END),), (step(HERE, END),), CLICKS),
    ("none leads there, and its address never did", (page(END),), (), None),
    ("its address is known to lead there", (page(END, direct=True),), (), OPENS),
    ("nobody tried its address: it may be tried", (page(END, direct=None),), (), OPENS),
    ("a click is preferred to its address", (page(END, direct=True),), (step(HERE, END),), CLICKS),
    ("a page that is gone is not opened", (page(END, direct=True, gone=True),), (), None),
    ("nor where nobody ever tried its address", (page(END, direct=None, gone=True),), (), None),
    ("nor clicked to", (page(END, gone=True),), (step(HERE, END),), None),
    ("a transition that is gone is no way", (page(END),), (step(HERE, END, gone_at=1.0),), None),
    (
        "an address known to lead half way may be opened",
        (page(THERE, direct=True), page(END)),
        (step(THERE, END),),
        BOTH,
    ),
    ("one nobody tried may not", (page(THERE, direct=None), page(END)), (step(THERE, END),), None),
    (
        "a page that is gone is not opened to go on from it",
        (page(THERE, direct=True, gone=True), page(END)),
        (step(THERE, END),),
        None,
    ),
    (
        "a page that is gone is not passed",
        (page(THERE, gone=True), page(END)),
        (step(HERE, THERE), step(THERE, END)),
        None,
    ),
    (
        "what leads nowhere known is no way",
        (page(END),),
        (step(HERE, "unknown"), step("unknown", END)),
        None,
    ),
)


@pytest.mark.parametrize(
    ("pages", "transitions", "operations"), [row[1:] for row in WAYS], ids=[row[0] for row in WAYS]
)
def test_path_choice(pages: Pages, transitions: Ways, operations: list[Operation] | None) -> None:
    known = {one.id: one for one in (page(HERE), *pages)}
    router = Router(known, transitions, {})
    if operations is None:
        with pytest.raises(NotFound):
            router.route([HERE], [END])
        return
    assert [one.operation for one in router.route([HERE], [END]).transitions] == operations
    if Operation.OPEN in operations:
        with pytest.raises(NotFound):
            router.route([HERE], [END], opening=False)


def test_a_safe_detour_is_preferred_to_a_risky_click() -> None:
    known = {name: page(name) for name in (HERE, THERE, END)}
    round_about = (step(HERE, THERE), step(THERE, END))
    risky = step(HERE, END, id="risky", risk=0.3)
    way = Router(known, (risky, *round_about), {}).route([HERE], [END])
    assert [one.id for one in way.transitions] == ["here>there", "there>end"]
