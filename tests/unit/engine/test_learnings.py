"""Learnings: which steps teach what, how they become tips, when they are followed, and when not."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.engine.agent.model.role_model import RoleModel
from app.engine.core.actions.recorded import ActionTarget, RecordedAction
from app.engine.core.learnings import (
    LearnedWay,
    LearnedWays,
    Learning,
    learnings_of,
    page_learning,
)
from app.engine.core.model_api import AgentRole
from app.engine.core.trajectory import Run, Step
from app.engine.services.core import Core
from app.engine.services.learnings import MAX_PER_SITE, keep_learnings, learning_of, load_ways, tip_of
from kb.compiler import compiled
from kb.errors import BadFile
from kb.exchange import csv, import_file, jsonl
from kb.freeze import freeze, open_any
from kb.lint import lint
from kb.tip import Kind, LintSeverity, Status, TipDraft
from tests.support.scripted_model import ScriptedModel

PAGE = "http://shop.test/orders/17"


def site_of(url: str) -> str:
    return "shop" if "shop.test" in url else "other"


def step(index: int = 0, kind: str = "click", name: str = "Save", **fields: Any) -> Step:
    args = {"bid": "3", **({"key_comb": fields.pop("keys", "Enter")} if kind == "press" else {})}
    given: dict[str, Any] = {
        "url": PAGE,
        "title": "",
        "action": RecordedAction(kind=kind, args=args),
        "target": ActionTarget(role=fields.pop("role", "button"), name=name, bid="3"),
        "tried": ("cdp",),
        "effect": "changed",
    }
    return Step(index=index, **{**given, **fields})


def dead(index: int = 0, **fields: Any) -> Step:
    return step(index, **{"effect": "nothing", **fields})


def enter(index: int = 1, **fields: Any) -> Step:
    return step(index, "press", **fields)


BOTH = ("cdp", "playwright")
OWN, ENTER = LearnedWay.OWN_CLICK, LearnedWay.ENTER
RULE: list[tuple[str, list[Step], list[tuple[LearnedWay, int, bool, bool]]]] = [
    ("the pointer works", [step()], []),
    ("the browser's own click works", [step(tried=BOTH)], [(OWN, 0, True, True)]),
    ("it navigates", [step(tried=BOTH, effect="navigated")], [(OWN, 0, True, True)]),
    ("the browser's own click does nothing", [dead(tried=BOTH)], []),
    ("Enter works where a click does nothing", [dead(), enter()], [(ENTER, 1, True, True)]),
    ("Enter two steps on", [dead(), step(1, "scroll", name=""), enter(2)], [(ENTER, 2, True, True)]),
    ("Enter three steps on", [dead(), step(1, "scroll"), step(2, "scroll"), enter(3)], []),
    ("Enter on another control", [dead(), enter(name="Send")], []),
    ("Enter on another page", [dead(), enter(url="http://shop.test/orders/18")], []),
    ("Enter does nothing too", [dead(), enter(effect="nothing")], []),
    ("another key", [dead(), enter(keys="Space")], []),
    ("a clock changed meanwhile", [dead(effect="unrelated"), enter()], [(ENTER, 1, True, True)]),
    ("a click that was refused", [dead(effect="refused", executed=False), enter()], []),
    ("a click that worked", [step(), enter()], []),
    ("a learned way works", [step(tried=("enter",))], [(ENTER, 0, True, False)]),
    ("a learned way does nothing", [dead(tried=("playwright",))], [(OWN, 0, False, False)]),
    ("a learned way that was refused", [dead(tried=("enter",), effect="refused", executed=False)], []),
    ("a person's step", [step(tried=BOTH, by="person")], []),
    ("no name", [step(tried=BOTH, name=" ")], []),
    ("a long name", [step(tried=BOTH, name="x" * 81)], []),
    ("a text field", [step(tried=BOTH, role="textbox")], []),
    ("no target", [step(tried=BOTH, target=None)], []),
    ("another action", [step(kind="hover", tried=BOTH)], []),
]


@pytest.mark.parametrize(("steps", "seen"), [row[1:] for row in RULE], ids=[row[0] for row in RULE])
def test_steps_teach_what_the_rule_says(steps: list[Step], seen: list[tuple[LearnedWay, int, bool, bool]]):
    found = learnings_of(steps, site_of)
    assert [(one.learning.way, one.step, one.worked, one.is_new) for one in found] == seen
    for one in found:
        assert (one.learning.site, one.learning.page, one.learning.name) == ("shop", "/orders/{n}", "Save")


LEARNED = Learning(way=ENTER, site="shop", page="/orders/{n}", role="button", name="Save (3)")
WHERE = [
    (PAGE, "button", "Save (3)", ENTER),
    ("http://shop.test/orders/99", "button", "Save (12)", ENTER),
    ("http://shop.test/orders/99?page=2", "button", "save (3)", ENTER),
    ("http://shop.test/orders", "button", "Save (3)", None),
    ("http://other.test/orders/17", "button", "Save (3)", None),
    (PAGE, "link", "Save (3)", None),
    (PAGE, "button", "Send", None),
]


@pytest.mark.parametrize(("url", "role", "name", "way"), WHERE)
def test_a_learned_way_holds_for_its_control_on_pages_of_its_template(
    url: str, role: str, name: str, way: LearnedWay | None
):
    ways = LearnedWays.of([LEARNED], site_of)
    assert ways.click(url, role, name) is way
    assert not ways.needs_larger_vision(url)


def test_a_way_that_did_nothing_is_dropped_for_the_rest_of_the_run():
    ways = LearnedWays.of([LEARNED, replace(LEARNED, name="Send")], site_of)
    ways.drop(PAGE, "button", "Save (3)")
    assert ways.click(PAGE, "button", "Save (3)") is None
    assert ways.click(PAGE, "button", "Send") is ENTER


def test_a_page_that_needs_the_larger_model_is_known_again():
    seen = page_learning(PAGE, 2, site_of)
    ways = LearnedWays.of([seen.learning], site_of)
    assert ways.needs_larger_vision("http://shop.test/orders/4")
    assert not ways.needs_larger_vision("http://shop.test/cart")
    assert ways.click(PAGE, "button", "Save") is None


NAMES = st.text(min_size=1, max_size=80) | st.sampled_from(
    [
        "Save",
        "Press Save",
        'Open "/admin" then click "Delete"',
        "Click 'Go'",
        "Fill Name, then press OK",
        "1. Press X",
    ]
)


@given(NAMES, st.sampled_from(list(LearnedWay)))
def test_a_learning_is_a_tip_without_steps_that_is_read_back_in_every_format(name: str, way: LearnedWay):
    learning = Learning(way=way, site="shop", page="/orders/{n}?tab=items", role="button", name=name)
    tip = tip_of(learning, "r1", 3, ("task-7",))
    assert compiled(tip).entries == (), "a control's name is never an instruction"
    assert (tip.kind, tip.status, tip.taint) == (Kind.LEARNING, Status.DRAFT, ("task-7",))
    assert str(tip.scope) == "/orders/*?tab=items"
    for form in (jsonl, csv):
        [parsed] = form.parse(form.serialise([tip]), "")
        assert parsed.draft is not None
        assert (parsed.draft.kind, parsed.draft.keywords) == (Kind.LEARNING, (way.value,))


def test_the_text_of_a_learning_passes_lint():
    for way in LearnedWay:
        tip = tip_of(Learning(way=way, site="shop", page="/orders/{n}", role="button", name="Save"))
        assert [one for one in lint(tip) if one.severity is LintSeverity.ERROR] == []


# ---------------------------------------------------------------- the knowledge base


@pytest.fixture
async def core(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Core]:
    monkeypatch.delenv("SITELORE_LEARNINGS", raising=False)
    core = await Core.open(tmp_path / "w", "ada")
    core.workspace.site_table.site_of = site_of  # type: ignore[method-assign]
    yield core
    await core.aclose()


RUN = Run(id="r1", source="sitelore", suite="webarena", task_id="7")
TAUGHT = [dead(), enter()]


async def test_a_learning_becomes_one_draft_and_the_same_again_is_evidence(core: Core):
    [tip] = await keep_learnings(core, RUN, TAUGHT, "live")
    stored = core.kb.get(tip)
    assert (stored.kind, stored.status, stored.taint) == (Kind.LEARNING, Status.DRAFT, ("webarena:7",))
    assert stored.provenance.author == "sitelore"
    assert stored.record.effect == 1
    assert await keep_learnings(core, RUN, TAUGHT, "live") == [tip]
    assert core.kb.get(tip).record.effect == 1, "counting a run again adds nothing"
    await keep_learnings(core, replace(RUN, id="r2"), TAUGHT, "live")
    assert core.kb.get(tip).record.effect == 2
    assert len(core.kb.tips()) == 1
    core.kb.edit(tip, replace(core.kb.get(tip), text="Use the keyboard here."))
    await keep_learnings(core, replace(RUN, id="r3"), TAUGHT, "live")
    assert len(core.kb.tips()) == 1, "an edited one is the same learning"
    core.kb.undo()
    core.kb.undo()
    assert core.kb.tips() == [], "writing it can be undone"


async def test_the_next_run_follows_it_until_it_is_retired_or_switched_off(
    core: Core, monkeypatch: pytest.MonkeyPatch
):
    async def way(kb: str = "live") -> LearnedWay | None:
        return (await load_ways(core, kb)).click(PAGE, "button", "Save")

    [tip] = await keep_learnings(core, RUN, TAUGHT, "live")
    assert await way() is ENTER
    assert await way("none") is None
    for status, followed in ((Status.ACTIVE, True), (Status.SUSPECT, False), (Status.REVIEWED, True)):
        core.kb.set_status([tip], status)
        assert (await way() is ENTER) is followed
    core.kb.set_status([tip], Status.RETIRED)
    assert await way() is None
    await keep_learnings(core, replace(RUN, id="r2"), TAUGHT, "live")
    assert (core.kb.get(tip).status, len(core.kb.tips())) == (Status.RETIRED, 1), (
        "a retired one does not come back"
    )
    core.kb.set_status([tip], Status.DRAFT)
    monkeypatch.setenv("SITELORE_LEARNINGS", "off")
    assert await way() is None
    assert (
        await keep_learnings(core, replace(RUN, id="r3"), [dead(name="Send"), enter(name="Send")], "live")
        == []
    )


FAILING = [
    (Status.DRAFT, Status.RETIRED),
    (Status.REVIEWED, Status.SUSPECT),
    (Status.ACTIVE, Status.SUSPECT),
]


@pytest.mark.parametrize(("status", "then"), FAILING)
async def test_one_that_fails_more_often_than_it_works_is_followed_no_more(
    core: Core, status: Status, then: Status
):
    [tip] = await keep_learnings(core, RUN, TAUGHT, "live")
    core.kb.set_status([tip], status)
    failed = [dead(tried=("enter",))]
    await keep_learnings(core, replace(RUN, id="r2"), failed, "live")
    assert core.kb.get(tip).status is status
    await keep_learnings(core, replace(RUN, id="r3"), failed, "live")
    assert core.kb.get(tip).status is then


async def test_a_failed_way_that_is_not_known_writes_nothing_and_runs_without_the_base_neither(core: Core):
    assert await keep_learnings(core, RUN, [dead(tried=("enter",))], "live") == []
    for kb in ("none", "/somewhere/frozen.akb"):
        assert await keep_learnings(core, RUN, TAUGHT, kb) == []
    assert core.kb.tips() == []


async def test_the_learnings_of_a_site_are_bounded(core: Core):
    letters = "abcdefghijklmnopqrstuvwxyz"
    names = [f"Control {one}{other}" for one in letters for other in letters][: MAX_PER_SITE + 9]
    steps = [step(number, tried=BOTH, name=name) for number, name in enumerate(names)]
    await keep_learnings(core, RUN, steps, "live")
    assert len(core.kb.tips()) == MAX_PER_SITE
    await keep_learnings(core, replace(RUN, id="r2"), [step(tried=BOTH, name="Another")], "live")
    assert len(core.kb.tips()) == MAX_PER_SITE


async def test_freezing_leaves_learnings_out_unless_they_are_asked_for(core: Core, tmp_path: Path):
    expert = core.kb.add(TipDraft(site="shop", text="Press Save.", status=Status.ACTIVE))
    [tip] = await keep_learnings(core, RUN, TAUGHT, "live")
    for status in (Status.DRAFT, Status.ACTIVE):
        core.kb.set_status([tip], status)
        report = freeze(core.kb, tmp_path / "a.akb", include=[Status.DRAFT])
        assert (report.tips, report.left_out) == (1, {"learning": 1})
        assert freeze(core.kb, tmp_path / "b.akb", with_learnings=True).tips == 2
    with open_any(tmp_path / "a.akb") as frozen:
        assert [one.id for one in frozen.tips()] == [expert.id]
    assert (await load_ways(core, str(tmp_path / "a.akb"))).click(PAGE, "button", "Save") is None
    assert (await load_ways(core, str(tmp_path / "b.akb"))).click(PAGE, "button", "Save") is ENTER
    core.kb.set_status([tip], Status.RETIRED)
    assert freeze(core.kb, tmp_path / "c.akb", with_learnings=True).tips == 1


async def test_an_imported_learning_is_followed_once_it_is_reviewed(core: Core, tmp_path: Path):
    path = tmp_path / "tips.jsonl"
    path.write_text(jsonl.serialise([tip_of(LEARNED)]), "utf-8")
    [tip] = import_file(core.kb, path, "jsonl").added
    assert (await load_ways(core, "live")).click(PAGE, "button", "Save (3)") is None
    assert freeze(core.kb, tmp_path / "a.akb", with_learnings=True).tips == 0
    core.kb.set_status([tip], Status.REVIEWED)
    assert (await load_ways(core, "live")).click(PAGE, "button", "Save (3)") is ENTER
    assert freeze(core.kb, tmp_path / "a.akb", with_learnings=True).tips == 1


async def test_a_base_that_can_not_be_written_ends_no_run(core: Core, monkeypatch: pytest.MonkeyPatch):
    def full(*_given: object, **_named: object) -> None:
        raise BadFile("the disk is full")

    monkeypatch.setattr(core.kb, "add_many", full)
    assert await keep_learnings(core, RUN, TAUGHT, "live") == []


async def test_a_learning_whose_way_was_edited_away_is_none(core: Core):
    [tip] = await keep_learnings(core, RUN, TAUGHT, "live")
    stored = core.kb.get(tip)
    assert learning_of(stored) == Learning(
        way=ENTER, site="shop", page="/orders/{n}", role="button", name="Save"
    )
    assert learning_of(replace(stored, keywords=("drawer",))) is None
    assert learning_of(replace(stored, kind=Kind.UI_QUIRK)) is None
    assert learning_of(replace(stored, anchor=None)) is None


async def test_the_larger_model_is_asked_in_its_own_role():
    model = ScriptedModel(lambda asked: "seen")
    await RoleModel(model, AgentRole.LARGER_VISION).ask(AgentRole.VISION, [])
    assert [one.role for one in model.asked] == [AgentRole.LARGER_VISION]
