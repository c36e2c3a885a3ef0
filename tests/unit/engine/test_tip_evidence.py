"""Uses of tips and votes become evidence: counted once a tip, run and step, whoever counts them how often."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest
import pytest_asyncio

from app.engine.api.run_api import TipUse
from app.engine.core.events import Event, KnowledgeChanged
from app.engine.core.trajectory import Exposure, Outcome, Run, Step
from app.engine.engine import Engine
from app.engine.services.run_reader import RunReader
from app.engine.services.supervision.operator_actions import OperatorActions
from app.engine.services.tip_evidence import keep_uses, use_outcome
from app.errors import NotFound, UsageError
from kb.evidence import UseOutcome
from kb.tip import TipDraft, TipRecord


@pytest_asyncio.fixture
async def engine(tmp_path: Path) -> AsyncIterator[Engine]:
    opened = await Engine.open(tmp_path / "w", author="ada")
    yield opened
    await opened.aclose()


async def stored(engine: Engine, text: str = 'Press "Orders".') -> str:
    return (await engine.save_tip(TipDraft(site="shop", text=text))).id


def steps_with(*exposures: Exposure, refused: Sequence[int] = ()) -> list[Step]:
    return [
        Step(index=n, url="http://s/", title="", exposures=(one,), executed=n not in refused)
        for n, one in enumerate(exposures)
    ]


@pytest.mark.parametrize(
    ("exposure", "executed", "outcome"),
    [
        (Exposure(tip="t"), True, None),
        (Exposure(tip="t", followed=True), True, None),
        (Exposure(tip="t", applied=True), True, UseOutcome.APPLIED),
        (Exposure(tip="t", applied=True, step=2), True, UseOutcome.DONE),
        (Exposure(tip="t", applied=True, step=2), False, UseOutcome.FAILED),
        (Exposure(tip="t", applied=True, step=2, effect=True, followed=True), True, UseOutcome.EFFECT),
    ],
)
def test_only_a_step_that_was_done_counts_as_done(
    exposure: Exposure, executed: bool, outcome: UseOutcome | None
):
    assert use_outcome(exposure, Step(index=0, url="", title="", executed=executed)) is outcome


async def test_uses_are_counted_once_and_only_for_tips_that_are_here(engine: Engine):
    tip = await stored(engine)
    steps = steps_with(
        Exposure(tip=tip, applied=True, step=1, effect=True),
        Exposure(tip=tip, applied=True),
        Exposure(tip=tip, applied=True, step=2),
        Exposure(tip="elsewhere-1", applied=True, step=1, effect=True),
        Exposure(tip=tip),
        refused=[2],
    )
    heard: list[Event] = []
    engine.bus.subscribe(heard.append)
    assert await keep_uses(engine._core, "r1", steps) == 3
    assert KnowledgeChanged(tips=(tip,)) in heard
    heard.clear()
    assert await keep_uses(engine._core, "r1", steps) == 0
    assert not any(isinstance(event, KnowledgeChanged) for event in heard)
    assert (await engine.tip(tip)).record == TipRecord(applied=3, done=1, effect=1, failed=1)
    assert await keep_uses(engine._core, "r2", steps[:1]) == 1
    assert (await engine.tip(tip)).record.effect == 2


async def test_an_interrupted_run_that_is_closed_counts_too(engine: Engine):
    tip = await stored(engine)
    steps = steps_with(Exposure(tip=tip, applied=True, step=1, effect=True))
    workspace = engine._core.workspace
    run = Run(id="r1", source="sitelore", intent="x", outcome=Outcome.INTERRUPTED, site="shop")
    await engine._core.on_store(workspace.runs.add, run, steps, {})
    await RunReader(engine._core).end_interrupted("r1")
    assert (await engine.tip(tip)).record.effect == 1
    (use,) = (await engine.open_run("r1")).uses
    assert (use.applied, use.done, use.effect, use.failed, use.steps) == (1, 1, 1, 0, (1,))


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({}, "given at 5 steps by url, never applied"),
        ({"followed": 2}, "given at 5 steps by url, followed 2 times"),
        ({"applied": 2}, "given at 5 steps by url, applied at 2 steps, no step done"),
        (
            {"applied": 4, "done": 3, "effect": 3, "steps": (1, 2, 3)},
            "given at 5 steps by url, applied at 4 steps, steps 1-3 done, effect seen",
        ),
        (
            {"applied": 3, "done": 2, "failed": 1, "steps": (1, 3)},
            "given at 5 steps by url, applied at 3 steps, steps 1, 3 done, no effect seen, failed 1 times",
        ),
        (
            {"applied": 1, "done": 1, "effect": 1, "steps": (2,)},
            "given at 5 steps by url, applied at 1 steps, step 2 done, effect seen",
        ),
    ],
)
def test_a_use_in_words(fields: dict[str, int], words: str):
    usual: dict[str, object] = {
        "tip": "t", "text": "", "shown": 5, "routes": ("url",), "followed": 0, "ignored": 0,
    }  # fmt: skip
    assert TipUse(**{**usual, **fields}).words == words


async def test_of_a_persons_votes_in_a_run_the_last_counts_and_can_be_taken_back(engine: Engine):
    tip = await stored(engine)
    run = Run(id="r1", source="sitelore", intent="x", outcome=Outcome.ANSWERED)
    await engine._core.on_store(engine._core.workspace.runs.add, run, [], {})
    for where, vote, up, down in (
        ("", 1, 1, 0),
        ("", -1, 0, 1),
        ("r1", 1, 1, 1),
        ("", 0, 1, 0),
        ("r1", 0, 0, 0),
    ):
        await engine.vote_tip(where, tip, vote)
        record = (await engine.tip(tip)).record
        assert (record.up, record.down) == (up, down)
    await engine.vote_tip("", tip, 1)
    await engine.vote_tip("r1", tip, -1)
    standing = await engine.tip_standing(tip)
    assert (standing.votes, standing.own_vote) == ({"ada": "down"}, "up")
    assert (await engine.tip_standing(tip, "r1")).own_vote == "down"
    assert (await engine.tip_standing(tip, "r2")).own_vote == ""


async def test_a_vote_on_nothing_is_refused(engine: Engine):
    tip = await stored(engine)
    with pytest.raises(NotFound):
        await engine.vote_tip("", "nothing", 1)
    with pytest.raises(NotFound, match="no run"):
        await engine.vote_tip("r9", tip, 1)
    with pytest.raises(UsageError, match="1, -1 or 0"):
        await engine.vote_tip("", tip, 2)
    assert (await engine.tip(tip)).record == TipRecord()


class LiveRun:
    """A live run that is voted in."""

    def __init__(self) -> None:
        self.votes: dict[str, int] = {}
        self.row = SimpleNamespace(step=3)
        self.told = 0

    def republish_tips(self) -> None:
        self.told += 1


async def test_a_vote_in_a_live_run_is_kept_with_the_tip_and_one_on_a_frozen_tip_with_the_run(engine: Engine):
    tip, live, notes = await stored(engine), LiveRun(), list[str]()

    async def note(run: str, step: int, deed: object, words: str, about: str = "") -> None:
        notes.append(words)

    actions = OperatorActions(
        engine._core, SimpleNamespace(note=note), SimpleNamespace(find=lambda run: live)
    )  # type: ignore[arg-type]
    await actions.vote_tip("r1", tip, 1)
    await actions.vote_tip("r1", "only-in-the-frozen-file", -1)
    assert live.votes == {tip: 1, "only-in-the-frozen-file": -1}
    assert (await engine.tip(tip)).record == TipRecord(up=1)
    await actions.vote_tip("r1", tip, 0)
    assert (await engine.tip(tip)).record == TipRecord()
    assert (live.told, len(notes)) == (3, 3)
