"""Hostile input to an agent, without a browser: secrets in every spelling, foreign pages, tasks that are none."""

from __future__ import annotations

import html
import io
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from app.engine.agent.action_dispatcher import ActionDispatcher
from app.engine.agent.calculator import calculate
from app.engine.agent.loop import MAX_OFF_SITE_LOOKS, AgentDependencies, AgentLoop
from app.engine.agent.memory.ledger_store import LONGEST_GOAL, LedgerStore
from app.engine.agent.ports import AgentTask
from app.engine.agent.secret_masking import NO_PICTURE, is_secret_field, mask_secrets, picture_without_secrets
from app.engine.agent.secrets import Secrets, resolve_secrets
from app.engine.api.run_api import RunRequest
from app.engine.core.action_result import ActionResult, Cause, refused
from app.engine.core.actions.types import Action, Click, Stop, TypeText
from app.engine.core.page_state import Element, PageCapture
from app.engine.core.redaction import MARK, redact_text
from app.engine.core.trajectory import Outcome, Run
from app.engine.core.write_permit import WritePermit
from app.engine.engine import Engine
from app.engine.services import agent_runs
from app.engine.services.policy_factory import PolicyBundle
from app.errors import UsageError
from tests.support.fake_executor import HOME, FakeExecutor, InMemoryRecorder, ScriptedPolicy, page_of

WORD = "Zq7/secret & 'x'"
AWAY = "http://elsewhere.example/"
RUN = Run(id="r1", source="sitelore", intent="Look", start_url=HOME, outcome=Outcome.RUNNING)
TASK = AgentTask(run="r1", intent="Look", start_url=HOME, domains=frozenset({"shop.example"}), max_steps=6)


# secrets


@pytest.mark.parametrize(
    "spelt",
    [
        WORD,
        WORD.upper(),
        quote(WORD),
        quote(WORD, safe=""),
        quote(WORD, safe="").lower(),
        quote_plus(WORD),
        html.escape(WORD),
        html.escape(WORD, quote=False),
        json.dumps(WORD),
        repr(WORD + '"'),
        "Zq7/secret%20&%20'x'",
        "Zq7/secret \n & 'x'",
    ],
)
def test_a_secret_is_found_however_a_page_writes_it(spelt: str):
    secrets = Secrets({"A": WORD})
    assert secrets.occurs_in(f"before {spelt} behind")
    assert "q7" not in secrets.mask(f"before {spelt} behind").lower()


@given(st.text(min_size=4, max_size=30).filter(lambda value: value.strip() == value and len(value) >= 4))
def test_no_spelling_of_any_value_is_left(value: str):
    secrets = Secrets({"A": value})
    for text in (
        value,
        quote(value, safe=""),
        quote_plus(value),
        html.escape(value),
        json.dumps(value)[1:-1],
    ):
        assert secrets.mask(f"<{text}>") == f"<{MARK}>"


def test_a_word_of_letters_alone_leaves_its_capitals_to_the_page():
    secrets = Secrets({"A": "admin"})
    assert secrets.mask("Admin area of admin") == f"Admin area of {MARK}"


@pytest.mark.parametrize(
    ("task", "left"),
    [
        ("Log in with the password hunter2!x.", "Log in with the password {secret:WRITTEN_1}."),
        ("Log in with password Passw0rd! and go", "Log in with password {secret:WRITTEN_1} and go"),
        ("Log in, password: abc123 and go", "Log in, password: {secret:WRITTEN_1} and go"),
        (
            'The password is "hunter2-x". Type hunter2-x.',
            'The password is "{secret:WRITTEN_1}". Type {secret:WRITTEN_1}.',
        ),
        ("Change the password field", "Change the password field"),
        ("Say that the password is wrong", "Say that the password is wrong"),
        ("Which pages mention password 2024", "Which pages mention password 2024"),
    ],
)
def test_a_password_in_a_task_is_lifted_with_and_without_quotes(task: str, left: str):
    assert resolve_secrets(task, {})[0] == left


def look(**more: object) -> PageCapture:
    """A page with a picture."""
    out = io.BytesIO()
    Image.new("RGB", (200, 100), (255, 255, 255)).save(out, "JPEG")
    page = PageCapture(url=HOME, title="Shop", picture=out.getvalue(), viewport=(200, 100))
    return replace(page, **more)  # type: ignore[arg-type]


def colour(picture: bytes, at: tuple[int, int]) -> int:
    with Image.open(io.BytesIO(picture)) as image:
        return int(image.convert("L").getpixel(at))  # type: ignore[arg-type]


BOX = (10.0, 10.0, 80.0, 30.0)
FIELD = Element(index=0, role="textbox", name="Word", tag="input", type="text", rect=BOX)


@pytest.mark.parametrize(
    "element",
    [
        replace(FIELD, type="password"),
        replace(FIELD, name="Password", value="something"),
        replace(FIELD, value="my card", attributes=(("autocomplete", "cc-number"),)),
        replace(FIELD, value=WORD),
        replace(FIELD, role="button", name=f"Use {WORD}"),
    ],
)
def test_what_shows_a_secret_is_painted_over_and_the_rest_is_not(element: Element):
    seen = mask_secrets(look(elements=(element,)), Secrets({"A": WORD}))
    assert 110 < colour(seen.picture, (40, 20)) < 146
    assert colour(seen.picture, (150, 80)) > 240


def test_a_page_without_secrets_keeps_its_picture_byte_for_byte():
    page = look(elements=(replace(FIELD, value="shoes"),), text="shoes")
    assert mask_secrets(page, Secrets()) is page
    assert mask_secrets(page, Secrets({"A": WORD})).picture == page.picture
    assert picture_without_secrets(page) == page.picture
    assert not is_secret_field(FIELD)


def test_a_secret_in_the_running_text_leaves_no_picture_and_no_word_of_it():
    words = f"say {WORD}"
    field = replace(
        FIELD,
        name=words,
        value=WORD,
        label=words,
        text=words,
        href=f"{HOME}?q={quote(WORD)}",
        options=(WORD,),
    )
    page = look(
        url=f"{HOME}?q={quote_plus(WORD)}", title=words, text=words, tree=words, elements=(field,),
        headings=(words,), alerts=(words,), popups=(words,), downloads=(words,), notes=(words,),
    )  # fmt: skip
    seen = mask_secrets(page, Secrets({"A": WORD}))
    assert seen.picture == b""
    assert seen.notes[-1] == NO_PICTURE
    assert "q7" not in repr(seen).lower()


def test_half_letters_become_letters_that_can_be_kept():
    assert redact_text("half \ud800 of it") == "half ? of it"


# pages elsewhere


class Restless(FakeExecutor):
    """A page of another site comes up by itself at these looks (from 0)."""

    away: frozenset[int] = frozenset()

    async def look(self, *, picture: bool = True) -> PageCapture:
        page = await super().look(picture=picture)
        return replace(page, url=AWAY) if self.looks - 1 in self.away else page

    async def do(self, action: Action, permit: WritePermit | None = None) -> ActionResult:
        if self.done and action == Click(7):
            return refused(Cause.MISSING, f"there is no {WORD} here")
        return await super().do(action, permit)


def loop_with(hands: FakeExecutor, moves: list[Action], book: LedgerStore, secrets: Secrets) -> AgentLoop:
    deeds = ActionDispatcher(hands, book, calculate, secrets=secrets)
    policy = ScriptedPolicy(moves)
    parts = AgentDependencies(
        executor=hands, policy=policy, ledger_store=book, recorder=InMemoryRecorder(), dispatcher=deeds, secrets=secrets
    )  # fmt: skip
    return AgentLoop(TASK, parts, RUN)


async def test_a_page_of_another_site_is_left_and_told_and_one_that_always_is_ends_the_run():
    hands, book = Restless({HOME: page_of(HOME, "Orders")}), LedgerStore()
    hands.away = frozenset({1})
    run = await loop_with(hands, [Click(0), Stop("done")], book, Secrets()).run()
    assert run.outcome is Outcome.ANSWERED
    assert any("another site" in note for note in book.ledger.episodic)
    hands.away = frozenset(range(50))
    lost = await loop_with(hands, [Stop("done")], LedgerStore(), Secrets()).run()
    assert (lost.outcome, lost.step_count) == (Outcome.CRASHED, 0)
    assert "another site" in lost.error
    assert hands.looks < 3 * MAX_OFF_SITE_LOOKS + 3


async def test_what_the_hands_say_of_any_command_holds_no_secret():
    hands, book, secrets = Restless({HOME: page_of(HOME, "secret:Word")}), LedgerStore(), Secrets({"A": WORD})
    loop = loop_with(hands, [TypeText(0, "{secret:A}"), Click(7), Stop("done")], book, secrets)
    run = await loop.run()
    assert run.outcome is Outcome.ANSWERED
    assert hands.typed[0] == WORD
    assert "Zq7" not in repr(book.events) + repr(run)


# tasks


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[Engine]:
    opened = await Engine.open(tmp_path)
    yield opened
    await opened.aclose()


@pytest.mark.parametrize(
    ("intent", "url", "error"),
    [
        ("", HOME, "there is no task"),
        (" \x00\u202e\x1b ", HOME, "there is no task"),
        ("x" * 100_000, HOME, "the task has 100,000 characters"),
        ("Look", "http://ana:hunter2@shop.example/", "contain a password"),
        ("Look", "http://shop.example/?token=abcdef123456", "a secret"),
        ("Look", "ftp://shop.example/", "not the address"),
        ("Look", "chrome://crash", "not the address"),
        ("Log in, password {secret:NOT_SET}", HOME, "SITELORE_SECRET_NOT_SET"),
    ],
)
async def test_a_task_that_makes_no_sense_is_refused_before_anything_is_kept(
    engine: Engine, intent: str, url: str, error: str
):
    with pytest.raises(UsageError, match=error) as told:
        await engine.run_task(RunRequest(intent=intent, start_url=url))
    assert "hunter2" not in str(told.value)
    assert len(str(told.value)) < 300
    assert engine._core.workspace.runs.ids() == set()


@pytest.mark.parametrize(
    ("intent", "kept"),
    [
        ("Öffne \x07die\x00 Bestellungen\r\n\tbitte", "Öffne die Bestellungen\r\n\tbitte"),
        ("افتح صفحة الطلبات", "افتح صفحة الطلبات"),
        ("\u202eerohs eht nepO", "erohs eht nepO"),
        ("half \ud800 a letter", "half ? a letter"),
        ("a" * LONGEST_GOAL, "a" * LONGEST_GOAL),
    ],
)
async def test_a_task_is_kept_in_the_words_that_can_be_seen(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, intent: str, kept: str
):
    async def no_browser(*_: object) -> None:
        raise UsageError("there is no browser here")

    monkeypatch.setattr(agent_runs.AgentRunService, "_browser", no_browser)
    monkeypatch.setattr(
        agent_runs, "make_policy_bundle", lambda *_: PolicyBundle(ScriptedPolicy([Stop("done")]))
    )
    with pytest.raises(UsageError, match="no browser"):
        await engine.run_task(RunRequest(intent=intent, start_url=HOME, kb="none"))
    (run,) = engine._core.workspace.runs.ids()
    head, _ = engine._core.workspace.runs.load(run)
    assert head.intent == kept
    assert (head.outcome, head.error) == (Outcome.INTERRUPTED, "there is no browser here")


@pytest.mark.parametrize(
    ("task", "left"),
    [
        ("Log in as ada with password swordfish", "Log in as ada with password {secret:WRITTEN_1}"),
        ("password: swordfish", "password: {secret:WRITTEN_1}"),
        ("Log in, PIN: 4711, then go on", "Log in, PIN: {secret:WRITTEN_1}, then go on"),
        ("Use token: ghp_abcdef", "Use token: {secret:WRITTEN_1}"),
        ("The api key = sk-123456 and go on", "The api key = {secret:WRITTEN_1} and go on"),
        ("Passwort: geheim", "Passwort: {secret:WRITTEN_1}"),
        ("Change password: click Save", "Change password: click Save"),
        ("Say how a password is chosen", "Say how a password is chosen"),
        ("The token is invalid. Why?", "The token is invalid. Why?"),
    ],
)
def test_a_secret_that_is_plainly_given_is_lifted_and_a_sentence_about_one_is_not(task: str, left: str):
    assert resolve_secrets(task, {})[0] == left
