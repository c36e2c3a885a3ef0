"""Dialogs of a page during a takeover: they wait for the person's answer.

Such a dialog is in no screenshot, so its text is shown instead; Enter accepts it, Escape dismisses it, and typed text
is the answer to a prompt.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress

from app.engine.agent.secrets import Secrets
from app.engine.browser.manual_input.key_events import inserted_text
from app.engine.core.page_input import InputKind, PageInput
from app.engine.core.redaction import redact_text
from app.engine.core.text import one_line

ANSWER_TIMEOUT = 120.0
"""Seconds after which an unanswered dialog is dismissed; it blocks the page as long."""
MAX_MESSAGE = 300
MAX_ANSWER = 2_000


class DialogPrompts:
    """The dialogs of one takeover, one at a time.

    Attributes:
        answered: messages of answered dialogs. outcomes: how they were answered, in words.

    Args:
        tell: shows the dialog's text to the person, "" when none is open.
    """

    def __init__(self, tell: Callable[[str], None], secrets: Secrets) -> None:
        self._tell, self._secrets = tell, secrets
        self._turn = asyncio.Lock()
        self._answer: asyncio.Future[bool] | None = None
        self._kind, self._message, self._text = "", "", ""
        self._closed = False
        self.answered: set[str] = set()
        self.outcomes: list[str] = []

    @property
    def open(self) -> bool:
        """Whether a dialog waits for its answer."""
        return self._answer is not None

    async def ask(self, kind: str, message: str, text: str) -> tuple[bool, str]:
        """Return whether a dialog is accepted, and with which text; ``kind`` is ``confirm`` or ``prompt``."""
        async with self._turn:
            if self._closed:
                return False, ""
            self._kind, self._message, self._text = kind, message, text
            self._answer = asyncio.get_running_loop().create_future()
            self._say()
            accepted = False
            try:
                with suppress(TimeoutError):
                    accepted = await asyncio.wait_for(self._answer, ANSWER_TIMEOUT)
            finally:
                self._answer = None
                self._tell("")
            self.answered.add(message)
            said = self._shown(message)
            self.outcomes.append(f"a dialog asked {said!r} and was {'accepted' if accepted else 'dismissed'}")
            return accepted, self._text

    def takes(self, one: PageInput) -> bool:
        """Whether an input answers the open dialog; the page then gets nothing of it."""
        if self._answer is None:
            return False
        if one.kind is InputKind.TEXT:
            self._write(self._text + one.text)
        elif one.kind is InputKind.KEY_DOWN:
            self._key(one)
        return True

    def close(self) -> None:
        """Dismiss the open dialog and every later one."""
        self._closed = True
        self._decide(accepted=False)

    def _key(self, one: PageInput) -> None:
        if one.key in ("Enter", "Escape"):
            self._decide(accepted=one.key == "Enter")
        elif one.key == "Backspace":
            self._write(self._text[:-1])
        elif text := inserted_text(one).strip("\r\t"):
            self._write(self._text + text)

    def _write(self, text: str) -> None:
        if self._kind == "prompt":
            self._text = text[:MAX_ANSWER]
            self._say()

    def _decide(self, *, accepted: bool) -> None:
        if self._answer is not None and not self._answer.done():
            self._answer.set_result(accepted)

    def _say(self) -> None:
        said = self._shown(self._message)
        field = f" [{self._shown(self._text)}]" if self._kind == "prompt" else ""
        self._tell(f"The page asks: {said!r}{field} Enter accepts, Escape dismisses.")

    def _shown(self, text: str) -> str:
        return one_line(redact_text(self._secrets.mask(text)), MAX_MESSAGE)
