"""A run that a person ended by hand, as a terminal, the review and the wall tell of it."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from app.cli import main
from app.engine.core.actions.types import AskHuman, Click, Stop
from app.engine.core.hand_back import HandBack, HandBackKind
from app.engine.core.intervention_policy import DEFAULT_POLICY
from app.engine.core.supervision import LiveRow, RunState
from app.engine.core.trajectory import Outcome
from app.models.common.notification_rules import Urgency, new_reasons
from app.models.live.run_list import display_state, state_words
from tests.support.browserless import Browserless


@pytest.fixture(autouse=True)
def no_log_files(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("app.log.setup", lambda level="": None)


def left(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A run that broke off while a person had its page."""

    async def making() -> str:
        wall = await Browserless.at(workspace, monkeypatch)
        (run,) = await wall.start((Click(0), AskHuman("Which?"), Stop("7")))
        await wall.asked(run)
        await wall.engine.take_over(run)
        await wall.engine.aclose()
        return run

    return asyncio.run(making())


def sitelore(workspace: Path, *arguments: str) -> int:
    return main(["--workspace", str(workspace), *arguments])


def test_a_terminal_gives_the_answer_of_a_run_and_shows_whose_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    run = left(tmp_path, monkeypatch)
    assert sitelore(tmp_path, "live", "hand-back", run, "--answer", "41 pieces") == 0
    capsys.readouterr()
    assert sitelore(tmp_path, "runs", "show", run) == 0
    told = capsys.readouterr().out
    assert "ended by hand by" in told
    assert "answer: 41 pieces" in told
    assert sitelore(tmp_path, "runs", "show", run, "--json") == 0
    shown = json.loads(capsys.readouterr().out)
    assert (shown["outcome"], shown["answer"], bool(shown["ended_by"])) == ("answered", "41 pieces", True)
    assert shown["flags"] == []
    assert sitelore(tmp_path, "live", "time-line", run, "--json") == 0
    deeds = json.loads(capsys.readouterr().out)
    assert (deeds[-1]["action"], deeds[-1]["words"]) == ("gave the answer", "41 pieces")


def test_a_terminal_says_that_a_run_is_finished_and_lists_it_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    run = left(tmp_path, monkeypatch)
    assert sitelore(tmp_path, "live", "hand-back", run, "--finished") == 0
    capsys.readouterr()
    assert sitelore(tmp_path, "runs", "list", "--json") == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row["outcome"] == "done_by_hand"
    assert sitelore(tmp_path, "live", "hand-back", run, "--finished") == 1, "it is over"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("--finished", "--answer", "42"), 2),
        (("--finished", "--no-wall"), 2),
        (("--answer", " "), 2),
        (("--no-wall",), 1),
        ((), 1),
    ],
)
def test_what_makes_no_sense_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], code: int
):
    run = left(tmp_path, monkeypatch)
    assert sitelore(tmp_path, "live", "hand-back", run, *arguments) == code
    assert sitelore(tmp_path, "live", "hand-back", run, "--finished") == 0


def test_the_wall_and_its_calls_take_a_run_done_by_hand_for_one_that_went_well():
    row = LiveRow(run="r", intent="Find it", state=RunState.ENDED, outcome=Outcome.DONE_BY_HAND.value)
    assert (display_state(row), state_words(row)) == ("done", "done by hand")
    going = LiveRow(run="r", intent="Find it", state=RunState.RUNNING)
    ((reason,), _) = new_reasons(going, row, DEFAULT_POLICY, ())
    assert reason.weight is Urgency.DONE


def test_a_hand_back_travels_to_the_engine_as_it_is():
    from app.engine import channel

    use_case = channel.method("release")
    back = HandBack(how=HandBackKind.ANSWER, answer="42")
    sent = channel.encode(back, use_case.parameters["back"])
    assert channel.decode(sent, use_case.parameters["back"]) == back
