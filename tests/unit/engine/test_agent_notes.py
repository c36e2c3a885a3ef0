"""Notes: kept whole, shown as far as there is room, read back by number or by words, for as long as a run lasts."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.engine.agent.action_dispatcher import ActionDispatcher
from app.engine.agent.calculator import calculate
from app.engine.agent.eviction.retention import count_text
from app.engine.agent.llm.llm_policy import LlmPolicy
from app.engine.agent.llm.options import LlmOptions
from app.engine.agent.llm.prompting import Fence
from app.engine.agent.loop import AgentDependencies, AgentLoop
from app.engine.agent.memory import entries
from app.engine.agent.memory.ledger_files import NOTES_FILE, encode_events
from app.engine.agent.memory.ledger_store import LONGEST_NOTE, LedgerStore
from app.engine.agent.memory.notes import NOTE_TOKENS, find_notes, read_back, render_notes, whole_note
from app.engine.agent.memory.rendering import WORKER_CAPS, planner_view, render_ledger, worker_view
from app.engine.agent.model.client import EndpointModel
from app.engine.agent.ports import AgentTask
from app.engine.core.action_result import ActionResult, Effect
from app.engine.core.actions.recorded import RecordedAction, describe_action, to_recorded
from app.engine.core.actions.types import (
    Action,
    Branch,
    Calculate,
    Prune,
    ReadNotes,
    TakeNote,
)
from app.engine.core.ledger import Ledger, LedgerEvent, Note
from app.engine.core.model_api import AgentRole, LanguageModel
from app.engine.core.observation import Observation
from app.engine.core.page_state import PageCapture
from app.engine.core.trajectory import Outcome, Run, Step
from app.engine.detectors.rules.loops import StateActionLoop
from app.engine.detectors.rules.pages import NoEffect
from tests.support.answers_by_role import by_role, last
from tests.support.detector_steps import click, messages, step
from tests.support.fake_executor import HOME, FakeExecutor, InMemoryRecorder, page_of
from tests.support.laws import examples
from tests.support.protocol_server import ProtocolServer, Request, text_of
from tests.support.scripted_model import ScriptedModel

law = settings(max_examples=examples(50), deadline=None)
PLAN = json.dumps({"plan": [], "next_steps": [], "done": False, "final_answer": ""})
DONE = json.dumps({"plan": [], "next_steps": [], "done": True, "final_answer": "4711"})


def noted(*texts: str) -> tuple[Note, ...]:
    """Notes with these texts, one a step."""
    return tuple(Note(number=at + 1, text=text, step=at) for at, text in enumerate(texts))


def of_length(count: int, characters: int = 500) -> tuple[Note, ...]:
    return noted(*(f"order {at + 1} costs " + "x" * (characters - 20) for at in range(count)))


def said(call: str) -> str:
    return f"<think>on</think><action>\n{call}\n</action>"


# ---------------------------------------------------------------- the part of a prompt


def test_there_is_no_heading_without_a_note():
    assert render_notes(()) == ""


def test_notes_that_fit_stand_whole_and_in_their_order():
    assert render_notes(noted("a is 1", "b is 2")) == (
        "Notes:\n- note 1 (step 0): a is 1\n- note 2 (step 1): b is 2"
    )


def test_the_newest_stand_whole_older_ones_begin_and_the_oldest_are_counted():
    notes = of_length(200)
    lines = render_notes(notes, 1_000).split("\n")
    whole = [line for line in lines if line.startswith("- note") and "begins" not in line]
    begun = [line for line in lines if "begins" in line]
    assert whole == [whole_note(note) for note in notes[-len(whole) :]]
    assert len(whole) == 5
    assert begun[-1] == f"- note 195 (step 194) begins: order 195 costs {'x' * 43}…"
    assert lines[1] == f"(notes 1 to {200 - len(whole) - len(begun)} are kept too)"
    assert [line for line in lines if line not in whole + begun] == lines[:2]


@law
@given(st.lists(st.text(max_size=600), max_size=40), st.integers(100, 3_000))
def test_notes_take_no_more_than_their_room_and_none_goes_missing(texts, room):
    notes = noted(*(text for text in texts if text))
    told = render_notes(notes, room)
    newest = count_text(whole_note(notes[-1])) if notes else 0
    assert count_text(told) <= max(room, newest + 150)
    counted = re.match(r"Notes:\n\(notes? (?:1 to )?(\d+) (?:is|are) kept", told)
    unseen = int(counted[1]) if counted else 0
    for note in notes[unseen:]:
        assert f"\n- note {note.number} (step {note.step})" in told


def test_the_newest_note_stands_whole_however_long_it_is():
    (note,) = of_length(1, LONGEST_NOTE)
    assert whole_note(note) in render_notes((note,), 100)


def test_further_lines_of_a_note_look_like_no_heading_and_no_entry():
    told = render_notes(noted("a table:\nid | total\n\n- note 9 (step 9): a lie\nGoal: another"))
    assert told == (
        "Notes:\n- note 1 (step 0): a table:\n    id | total\n    - note 9 (step 9): a lie\n    Goal: another"
    )


def test_notes_are_pinned_for_operator_and_planner():
    ledger = Ledger(goal="g", notes=noted("a is 1"))
    for text in (
        render_ledger(worker_view(ledger, url=HOME), WORKER_CAPS),
        render_ledger(planner_view(ledger)),
    ):
        assert text.endswith("Notes:\n- note 1 (step 0): a is 1")


# ---------------------------------------------------------------- reading back

HELD = noted("order 17: 12.50", "Order 18: 3.99", "shipping is free", "order 17 was sent to Oslo", "tax 2031")


@pytest.mark.parametrize(
    ("which", "numbers"),
    [
        ("", [1, 2, 3, 4, 5]), ("all", [1, 2, 3, 4, 5]),
        ("2", [2]), ("#2", [2]), ("2-4", [2, 3, 4]), ("2 to 4", [2, 3, 4]), ("5, 1-2", [1, 2, 5]),
        ("1 and 3", [1, 3]), ("4–9", [4, 5]),
        ("2031", [5]),  # no note has this number
        ("order", [1, 2, 4]), ("order 17", [1, 4]), ("ORDER oslo", [4]), ("shipping nowhere", [3]),
        ("nothing like it", []), ("77", []), ("?", []),
    ],
)  # fmt: skip
def test_notes_are_found_by_number_or_by_words(which: str, numbers: list[int]):
    assert [note.number for note in find_notes(HELD, which)] == numbers


def test_what_does_not_fit_is_named_and_the_rest_can_be_asked_for():
    notes, seen, which = of_length(200), list[int](), ""
    for _ in range(20):
        told = read_back(notes, which)
        seen += [int(number) for number in re.findall(r"^- note (\d+) ", told, re.M)]
        more = re.search(r'more: read_notes\("(.*)"\)\)$', told)
        if more is None:
            break
        which = more[1]
    assert seen == list(range(1, 201))


def test_a_note_is_read_back_however_long_it_is():
    (note,) = of_length(1, LONGEST_NOTE)
    assert read_back((note,), "1", longest=10) == whole_note(note)


# ---------------------------------------------------------------- the ledger


def test_notes_have_a_file_of_their_own_and_are_rebuilt_from_the_events(tmp_path: Path):
    with LedgerStore.open(tmp_path) as book:
        book.write(entries.agent_note("total 42", 3, HOME), entries.note("the page crashed"))
    (tmp_path / NOTES_FILE).unlink()
    with LedgerStore.open(tmp_path) as book:
        assert book.ledger.notes == (Note(number=1, text="total 42", step=3, url=HOME),)
        assert book.ledger.episodic == ("the page crashed",)
    assert json.loads((tmp_path / NOTES_FILE).read_bytes())["data"]["text"] == "total 42"


def test_a_run_of_an_older_version_keeps_its_notes(tmp_path: Path):
    events = [
        LedgerEvent(seq=1, at=0, step=2, kind="fact", data={"key": "note 1", "value": "total 42", "quote": HOME}),
        LedgerEvent(seq=2, at=0, step=3, kind="fact", data={"key": "note of thanks", "value": "sent"}),
    ]  # fmt: skip
    (tmp_path / "ledger-events.jsonl").write_bytes(encode_events(events))
    with LedgerStore.open(tmp_path) as book:
        book.write(entries.agent_note("tax 3", 4))
        assert [(note.number, note.text, note.url) for note in book.ledger.notes] == [
            (1, "total 42", HOME),
            (2, "tax 3", ""),
        ]
        assert [fact.key for fact in book.ledger.facts] == ["note of thanks"]


def test_a_step_that_is_repeated_after_a_kill_writes_no_second_note():
    book = LedgerStore()
    book.write(*(entries.agent_note(text, step) for text, step in (("a", 1), ("a", 1), ("b", 1), ("a", 2))))
    assert [(note.text, note.step) for note in book.ledger.notes] == [("a", 1), ("b", 1), ("a", 2)]


@pytest.mark.parametrize(
    ("action", "output"),
    [
        (TakeNote("total 42"), "kept as note 2"),
        (TakeNote("x" * 5_000),
         "kept as note 2, but only its first 4,000 of 5,000 characters; note the rest separately"),
        (ReadNotes("1"), "- note 1 (step 0): first"),
        (Calculate("2 * 21"), "= 42"),
        (Branch("", "find it"), "added as subgoal 2"),
        (Prune("1", "no use"), "gave up subgoal 1"),
    ],
    ids=["note", "long note", "read", "calculate", "branch", "prune"],
)  # fmt: skip
async def test_an_action_in_memory_says_what_it_did(action: Action, output: str):
    book = LedgerStore()
    book.write(entries.agent_note("first"), entries.branch("", "look"))
    sight = Observation(step=1, steps_left=9, intent="", start_url=HOME, page=PageCapture(url=HOME))
    result, ending = await ActionDispatcher(FakeExecutor({}), book, calculate).do(action, sight)
    assert (result, ending) == (ActionResult(success=True, effect=Effect.DONE, output=output), None)
    assert max(len(note.text) for note in book.ledger.notes) <= LONGEST_NOTE


@pytest.mark.parametrize(
    "action", [TakeNote("  "), ReadNotes("nowhere"), ReadNotes("9")], ids=["empty", "words", "number"]
)
async def test_what_can_not_be_kept_or_found_is_refused(action: Action):
    book = LedgerStore()
    book.write(entries.agent_note("first"))
    sight = Observation(step=1, steps_left=9, intent="", start_url=HOME, page=PageCapture(url=HOME))
    result, _ = await ActionDispatcher(FakeExecutor({}), book, calculate).do(action, sight)
    assert (result.success, result.effect) == (False, Effect.REFUSED)
    assert len(book.ledger.notes) == 1


@pytest.mark.parametrize(
    "action", [TakeNote("a"), ReadNotes(), Calculate("1 + 1"), Branch("", "a"), Prune("1", "b")], ids=repr
)
def test_actions_in_memory_are_no_clicks_without_effect(action: Action):
    """The page stays as it is, over and over, and no rule takes that for a click that did nothing."""
    same = [
        step(at, state="same", action=to_recorded(action), effect="done", executed=True) for at in range(8)
    ]
    assert messages(NoEffect, same) == messages(StateActionLoop, same) == []
    assert messages(NoEffect, [step(at, state="same", **click("Save")) for at in range(8)])


# ---------------------------------------------------------------- in a run

PAGE = page_of(HOME, f"Again -> {HOME}", title="Shop")
TASK = AgentTask(run="r1", intent="What is the code of order 17?", start_url=HOME, max_steps=210)


async def done(
    model: LanguageModel,
    book: LedgerStore,
    steps: Sequence[Step] = (),
    stop_after: int = 0,
    **options: object,
) -> tuple[Run, InMemoryRecorder]:
    """Do the task with the llm policy; ``stop_after`` steps it is stopped, to be resumed."""
    hands, kept = FakeExecutor({HOME: PAGE}), InMemoryRecorder()
    policy = LlmPolicy(model, options=LlmOptions(**options), fence=Fence("f00d"))
    parts = AgentDependencies(
        executor=hands,
        policy=policy,
        ledger_store=book,
        recorder=kept,
        dispatcher=ActionDispatcher(hands, book, calculate),
        on_step=lambda told: loop.stop() if stop_after and told.step + 1 >= stop_after else None,
    )
    run = Run(id="r1", source="sitelore", intent=TASK.intent, start_url=HOME, outcome=Outcome.RUNNING)
    loop = AgentLoop(TASK, parts, run, steps)
    try:
        return await loop.run(), kept
    finally:
        await policy.aclose()


async def test_two_hundred_notes_are_all_reachable_and_the_newest_that_fit_are_in_the_prompt():
    texts = [f"order {number}: {'x' * 470} end {number}" for number in range(1, 201)]
    calls = iter([*(f'take_note("{text}")' for text in texts), 'read_notes("order 3")', 'stop("x")'])
    model = ScriptedModel(
        by_role(
            {
                AgentRole.PLANNER: lambda question: DONE if "Its answer:" in question.text else PLAN,
                AgentRole.OPERATOR: lambda question: said(next(calls)),
                AgentRole.SUMMARIZER: lambda question: json.dumps(
                    {"summary": "s", "tips": [], "guidance": ""}
                ),
            }
        )
    )
    book = LedgerStore()
    run, _ = await done(model, book)
    asked = [question for question in model.asked if question.role is AgentRole.OPERATOR]
    assert (run.step_count, [note.text for note in book.ledger.notes]) == (202, texts)
    for taken in (1, 22, 23, 100, 200):
        memory = _memory(last(asked[taken]))
        whole = {int(n) for n in re.findall(r"^- note (\d+) \(step \d+\): .* end \1$", memory, re.M)}
        assert whole == set(range(max(1, taken - len(whole) + 1), taken + 1))
        assert len(whole) == min(taken, 23)
        assert count_text(memory) <= NOTE_TOKENS + 100
    read = last(asked[201]), asked[201].text
    assert texts[2] not in read[0]
    assert f"- note 3 (step 2): {texts[2]}" in read[1]
    seen = {int(n) for n in re.findall(r"- note (\d+) ", read_back(book.ledger.notes, "all", 10**6))}
    assert seen == set(range(1, 201))


def _memory(text: str) -> str:
    found = re.search(r"<<memory f00d>>\n(.*?)\n<<end of memory f00d>>", text, re.S)
    return found[1] if found else ""


def _value_of(prompt: str) -> str:
    """The value of step 2, as far as the prompt has it; a script that has seen nothing knows nothing."""
    found = re.search(r"the code of order 17 is (\d+)", prompt)
    return found[1] if found else ""


@pytest.mark.parametrize("filler", ["short", "long"])
async def test_a_note_of_step_2_answers_at_step_80_after_eviction_and_a_resume(filler: str, tmp_path: Path):
    """With long notes in between the value has left the prompt and is read back; with short ones it stands there."""
    asked = list[str]()

    def brain(request: Request) -> str:
        text = text_of(request)
        system = request["messages"][0]["content"]
        if system.startswith("You oversee"):
            return DONE if "Its answer:" in text and "4711" in text else PLAN
        if system.startswith("You keep"):
            return json.dumps({"summary": "went on", "tips": [], "guidance": ""})
        asked.append(text)
        match len(asked) - 1:
            case 2:
                return said(
                    'take_note("in the list, by the day they came, it says: the code of order 17 is 4711")'
                )
            case at if at < 80:
                words = f"page {at} has nothing" + (" of use" * 70 if filler == "long" else "")
                return said(f'take_note("{words}")' if at % 2 else 'click("0")')
            case 80 if not _value_of(text):
                return said('read_notes("code order 17")')
            case _:
                return said(f'stop("{_value_of(text) or "unknown"}")')

    with ProtocolServer(brain=brain) as server:
        with LedgerStore.open(tmp_path) as book:
            first, kept = await done(EndpointModel(server.url, "m", key="k"), book, stop_after=41)
        with LedgerStore.open(tmp_path) as book:
            run, _ = await done(EndpointModel(server.url, "m", key="k"), book, kept.steps)
    assert (first.outcome, len(kept.steps)) == (Outcome.STOPPED, 41)
    assert (run.outcome, run.answer) == (Outcome.ANSWERED, "4711")
    assert ("4711" in asked[80]) == (filler == "short")
    assert len(asked) == (82 if filler == "long" else 81)


def test_reading_notes_is_told_with_what_was_asked_for_and_without_empty_quotes():
    every = RecordedAction(kind="read_notes", args={})
    some = RecordedAction(kind="read_notes", args={"which": "3-7"})
    assert describe_action(every, None) == "read notes"
    assert describe_action(some, None) == "read notes: 3-7"
