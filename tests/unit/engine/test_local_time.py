"""Date, time, time zone and locale of a run: checked before it, and named in the prompts."""

from __future__ import annotations

import json

import pytest

from app.engine.agent.llm.llm_policy import LlmPolicy
from app.engine.agent.llm.prompting import Fence
from app.engine.api.run_api import LlmRunOptions, RunRequest
from app.engine.core.local_time import LocalTime, checked_locale, checked_timezone, machine_timezone
from app.engine.core.model_api import AgentRole
from app.engine.core.observation import Observation
from app.engine.core.page_state import PageCapture
from app.engine.services.run_requests import run_locale, run_timezone, with_checked_llm
from app.errors import UsageError
from tests.support.answers_by_role import by_role
from tests.support.scripted_model import ScriptedModel

NEW_YEAR = 1_798_758_000.0  # 31 December 2026, 23:00 UTC


@pytest.mark.parametrize(
    ("zone", "words"),
    [
        ("UTC", "It is Thursday, 31 December 2026, 23:00 (UTC, UTC+00:00)."),
        ("Europe/Oslo", "It is Friday, 1 January 2027, 00:00 (Europe/Oslo, UTC+01:00)."),
        ("America/New_York", "It is Thursday, 31 December 2026, 18:00 (America/New_York, UTC-05:00)."),
        ("Asia/Kolkata", "It is Friday, 1 January 2027, 04:30 (Asia/Kolkata, UTC+05:30)."),
    ],
)
def test_the_present_is_told_in_the_time_zone_of_the_run(zone: str, words: str):
    assert LocalTime(began=0, now=NEW_YEAR, timezone=zone).present == words


@pytest.mark.parametrize(
    ("given", "name"),
    [("", ""), (" ", ""), ("Europe/Oslo", "Europe/Oslo"), ("europe/oslo", "Europe/Oslo"), ("utc", "UTC"),
     ("America/new york", "America/New_York")],
)  # fmt: skip
def test_a_time_zone_is_written_as_usual(given: str, name: str):
    assert checked_timezone(given) == name


@pytest.mark.parametrize(
    ("given", "remedy"),
    [("Europe/Olso", "did you mean Europe/Oslo"), ("Mars/Olympus", "give an IANA name"), ("+02:00", "IANA"),
     ("../../etc/passwd", "IANA"), ("Factory", "IANA"), ("localtime", "IANA")],
)  # fmt: skip
def test_an_unknown_time_zone_is_refused_in_one_sentence(given: str, remedy: str):
    with pytest.raises(UsageError, match=remedy) as refused:
        checked_timezone(given)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("given", "tag"),
    [("", ""), ("en-GB", "en-GB"), ("NB-no", "nb-NO"), ("de", "de"), ("zh-hant-tw", "zh-Hant-TW"),
     ("es-419", "es-419")],
)  # fmt: skip
def test_a_locale_is_written_as_usual(given: str, tag: str):
    assert checked_locale(given) == tag


@pytest.mark.parametrize("given", ["english", "en_GB", "e", "en-", "en-GBR", "en GB", "nb-NO.UTF-8", "-"])
def test_a_malformed_locale_is_refused(given: str):
    with pytest.raises(UsageError, match="is not a locale"):
        checked_locale(given)


@pytest.mark.parametrize("policy", ["llm", "scout"])
def test_a_request_is_refused_before_its_run(policy: str):
    for wrong in (LlmRunOptions(timezone="Nowhere"), LlmRunOptions(locale="english")):
        with pytest.raises(UsageError):
            with_checked_llm(RunRequest(intent="x", start_url="y", policy=policy, llm=wrong))


def test_a_model_is_told_this_machines_time_zone_and_the_scout_sees_the_same_everywhere(monkeypatch):
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    model, scout = (RunRequest(intent="x", start_url="y", policy=policy) for policy in ("llm", "scout"))
    given = RunRequest(intent="x", start_url="y", llm=LlmRunOptions(timezone="europe/oslo", locale="nb-no"))
    assert [run_timezone(model), run_timezone(scout), run_timezone(given)] == [
        "Asia/Tokyo",
        "UTC",
        "Europe/Oslo",
    ]
    assert [run_locale(model), run_locale(given)] == ["en-GB", "nb-NO"]


@pytest.mark.parametrize(
    "zone", ["", "Europe/Oslo", ":Europe/Oslo", "/usr/share/zoneinfo/Europe/Oslo", "junk"]
)
def test_this_machines_time_zone_is_always_one_that_is_known(zone: str, monkeypatch):
    monkeypatch.setenv("TZ", zone)
    assert checked_timezone(machine_timezone()) == machine_timezone()
    if "Oslo" in zone:
        assert machine_timezone() == "Europe/Oslo"


async def test_operator_and_planner_know_the_date_and_only_the_end_of_a_prompt_changes_with_it():
    plan = json.dumps({"plan": [], "next_steps": [], "done": False})
    model = ScriptedModel(
        by_role({AgentRole.PLANNER: lambda _: plan, AgentRole.OPERATOR: lambda _: "<action>noop(1)</action>"})
    )
    policy = LlmPolicy(model, fence=Fence("f00d"))
    page = PageCapture(url="http://shop.test/", tree="[0] link 'x'")
    for step in range(2):
        clock = LocalTime(began=NEW_YEAR, now=NEW_YEAR + 60 * step, timezone="Europe/Oslo", locale="nb-NO")
        await policy.decide(
            Observation(step=step, steps_left=9, intent="Buy", start_url=page.url, page=page, clock=clock)
        )
    planner, first, second = model.asked
    for question in model.asked:
        assert (
            "The run began on Friday, 1 January 2027. Its time zone is Europe/Oslo; the browser's"
            in question.text
        )
    assert "It is Friday, 1 January 2027, 00:00" in planner.text
    assert first.messages[:2] == second.messages[:2]
    assert "00:00" in first.messages[-1].parts[-2].text
    assert "00:01" in second.messages[-1].parts[-2].text
