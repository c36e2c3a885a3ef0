"""Log-in and captcha walls before the page of a run: who passes them, and pages that only look like one."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from app.engine.agent.action_dispatcher import LoopEnding
from app.engine.agent.dependencies import AgentDependencies
from app.engine.agent.operator_prompts import ask_about_wall
from app.engine.agent.ports import AgentTask
from app.engine.agent.run_control import RunControl
from app.engine.agent.run_recording import RunRecording
from app.engine.agent.tip_query import step_query
from app.engine.browser.capture.challenge import is_named_login_page, other_text_fields, password_forms
from app.engine.core.identity import keys_of
from app.engine.core.page_state import Challenge, Element, PageCapture
from app.engine.core.request_groups import LOGIN_WALL
from app.engine.core.supervision import DecisionKind, Need, OperatorDecision
from app.engine.core.trajectory import Outcome
from app.errors import SiteloreError

MAX_LOGIN_LOOKS = 3
"""Looks in a row at a log-in page after which it counts as a wall; an agent may pass one by mistake."""

_LOGIN_WORDS = re.compile(
    r"\b(log|sign)(ging|ning)?[ -]?(in|on|up)\b|\bpassword\b|\bregister\b|\baccount\b", re.IGNORECASE
)
_WORD = re.compile(r"[^\W\d_]{4,}")
_DIGITS = re.compile(r"\d+")
_COMMON_WORDS = frozenset(
    ("about", "back", "click", "continue", "enter", "from", "into", "name", "next", "page", "send", "submit", "that",
     "then", "this", "what", "which", "with", "your")
)  # fmt: skip
"""Words that a form and a task may share though they are unrelated."""

RecordAnswer = Callable[[str, OperatorDecision], None]
"""Takes a question and a person's answer to it."""


class WallHandler:
    """Handles the walls of one run."""

    def __init__(
        self,
        task: AgentTask,
        parts: AgentDependencies,
        control: RunControl,
        recording: RunRecording,
        said: RecordAnswer,
    ) -> None:
        self._task, self._parts, self._control, self._recording = task, parts, control, recording
        self._said = said
        self._walled = 0
        self._passed = -1

    def without_false_wall(self, page: PageCapture) -> PageCapture:
        """Return the page without a challenge that is none, as a person or the task says."""
        if page.challenge is Challenge.NONE:
            return page
        none = wall_key(page) in self._control.no_walls or (
            page.challenge is Challenge.LOGIN and is_form_of_task(page, self._task.intent)
        )
        return replace(page, challenge=Challenge.NONE) if none else page

    async def handle(self, page: PageCapture) -> LoopEnding | None:
        """Handle a captcha, which only a person may solve, or a log-in page that stays and that the task does
        not mention.
        """
        log_in = page.challenge is Challenge.LOGIN and not _LOGIN_WORDS.search(self._task.intent)
        self._walled = self._walled + 1 if log_in else 0
        begun = bool(self._recording.history)
        if page.challenge is not Challenge.CAPTCHA and self._walled < (MAX_LOGIN_LOOKS if begun else 1):
            return None
        what = "a log-in" if log_in else "a captcha"
        if self._control.supervised:
            return await self._behind(what, page)
        question = f"{what} blocks {page.url}. Pass it in the browser, then answer."
        if await self._parts.dispatcher.ask(question, self._recording.number) is None:
            return LoopEnding(Outcome.NEEDS_PERSON, error=f"{what} blocks {page.url}")
        self._walled = 0
        try:
            page = await self._parts.executor.look(picture=False)
        except SiteloreError as gone:
            return LoopEnding(Outcome.NEEDS_PERSON, error=str(gone))
        still = page.challenge is not Challenge.NONE
        return LoopEnding(Outcome.NEEDS_PERSON, error=f"{what} is still there") if still else None

    async def _behind(self, what: str, page: PageCapture) -> LoopEnding | None:
        """Ask a person; the page is looked at again after any answer, and a wall that remains is asked about
        again.
        """
        if self._passed == self._recording.number:
            await self._control.void_decisions(Need.WALL)  # the person said it is passed, but it is not
        if self._parts.knowledge is not None:
            # For the person: a tip may know this wall.
            ledger = self._parts.ledger_store.ledger
            await self._parts.knowledge.tips(step_query(page, self._task.intent, ledger, ()), page)
        wall = wall_key(page)
        decision = await ask_about_wall(self._control, what, page.url, wall)
        self._passed = self._recording.number
        self._walled = MAX_LOGIN_LOOKS - 1 if what == "a log-in" else 0
        if decision is None:
            return None
        if decision.kind is DecisionKind.DENY:
            return LoopEnding(Outcome.STOPPED, error=decision.text or f"{what} blocks {page.url}")
        if decision.kind is DecisionKind.NO_WALL:
            self._control.no_walls.add(wall)
        if decision.text:
            self._said(f"{what} blocked {page.url}", decision)
        return None


def wall_key(page: PageCapture) -> str:
    """Return the key of a wall: log-in address without data and its form's fields, or captcha address and title.

    Another wall at the same address has another key.
    """
    template = keys_of(page, page.url).template
    host = page.url.partition("//")[2].partition("/")[0]
    if page.challenge is Challenge.LOGIN:
        fields = sorted(
            f"{field.type or field.tag}:{field.name or field.label}"
            for form in password_forms(page.elements)
            for field in form
            if field.role in ("textbox", "combobox", "searchbox", "spinbutton", "checkbox", "radio")
        )
        return f"{LOGIN_WALL}{host}{template} {'|'.join(fields)}"[:1000]
    return f"{page.challenge.value} {host}{template} {_DIGITS.sub('#', page.title)}"[:1000]


def is_form_of_task(page: PageCapture, intent: str) -> bool:
    """Whether the log-in form of a page is what the task is about, so that the run can act there.

    The page does not call itself a log-in, its form has a field besides name and password, and a word of the task is
    in the name of such a field or of the form's button.
    """
    if is_named_login_page(page.url, page.title, page.headings):
        return False
    wanted = _words(intent)
    for form in password_forms(page.elements):
        besides = other_text_fields(form)
        if besides and any(wanted & _words(f"{one.name} {one.label}") for one in (*besides, *_buttons(form))):
            return True
    return False


def _buttons(form: tuple[Element, ...]) -> list[Element]:
    return [one for one in form if one.role == "button" or one.submits]


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.casefold())) - _COMMON_WORDS
