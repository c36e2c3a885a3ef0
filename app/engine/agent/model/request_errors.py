"""Why a request failed, in our words: whether a retry can help, and what the user can do."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from app.engine.agent.model.retry_policy import retry_after
from app.engine.core.model_api import ModelError, ModelErrorKind
from app.engine.core.redaction import MARK, redact_text

if TYPE_CHECKING:
    import openai

MAX_MESSAGE_CHARACTERS = 240
"""Characters of an endpoint's own message that are passed on."""

_QUOTA_WORDS = ("insufficient_quota", "billing", "exceeded your current quota", "credit balance")
_ADDRESS_REMEDY = "check SITELORE_MODEL_URL (it usually ends in /v1) and the model's name"


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestFailure:
    """Why one attempt failed.

    Attributes:
        passing: another attempt may succeed. wait: seconds the endpoint asked to wait before it.
        status: of the response, 0 without one. said: the endpoint's own words.
    """

    trouble: ModelErrorKind
    what: str
    remedy: str = ""
    passing: bool = False
    wait: float | None = None
    status: int = 0
    said: str = ""

    def error(self, attempts: int = 1) -> ModelError:
        """Return the error for the user."""
        tried = f", {attempts} attempts" if attempts > 1 else ""
        return ModelError(self.what + tried, self.trouble, self.remedy)


class RequestFailed(Exception):
    """One attempt failed; carries the reason."""

    def __init__(self, fault: RequestFailure) -> None:
        super().__init__(fault.what)
        self.fault = fault


def failure_of_status(error: openai.APIStatusError, where: str, key: str) -> RequestFailure:
    """Explain an HTTP status."""
    status = error.status_code
    said = clean_message(_message(error), key)
    code = str(error.code or "")
    what = f"the model endpoint {where} answers {status}" + (f": {said}" if said else "")
    headers = {name.lower(): value for name, value in error.response.headers.items()}
    if status in (401, 403):
        remedy = "check the key: OPENAI_API_KEY, or the one in the settings"
        return RequestFailure(
            trouble=ModelErrorKind.UNAUTHORISED, what=what, remedy=remedy, status=status, said=said
        )
    if status == 429:
        used_up = any(word in f"{code} {said}".lower() for word in _QUOTA_WORDS)
        remedy = "the account has no quota left" if used_up else "wait, or use a model with a higher limit"
        return RequestFailure(
            trouble=ModelErrorKind.RATE_LIMITED, what=what, remedy=remedy, passing=not used_up,
            wait=retry_after(headers), status=status, said=said,
        )  # fmt: skip
    if status >= 500 or status in (408, 409, 425):
        return RequestFailure(
            trouble=ModelErrorKind.SERVER, what=what, remedy="it is on its own side; try again later", passing=True,
            wait=retry_after(headers), status=status, said=said,
        )  # fmt: skip
    remedy = _ADDRESS_REMEDY if status == 404 else "see what it minds; the request is in the run's recording"
    return RequestFailure(trouble=ModelErrorKind.REFUSED, what=what, remedy=remedy, status=status, said=said)


def unreachable(where: str, reason: str) -> RequestFailure:
    """No connection, or one that broke."""
    return RequestFailure(
        trouble=ModelErrorKind.UNREACHABLE, what=f"the model endpoint {where} can't be reached: {reason}",
        remedy="see that it runs: sitelore doctor", passing=True,
    )  # fmt: skip


def broken_off(where: str, reason: str) -> RequestFailure:
    """An answer that ended in the middle."""
    return RequestFailure(
        trouble=ModelErrorKind.UNREACHABLE, what=f"the answer of the model endpoint {where} broke off: {reason}",
        remedy="see that it runs: sitelore doctor", passing=True,
    )  # fmt: skip


def too_slow(where: str, what: str, seconds: float) -> RequestFailure:
    """Nothing came in time."""
    return RequestFailure(
        trouble=ModelErrorKind.TIMEOUT, what=f"the model endpoint {where} {what} within {seconds:g} s",
        remedy="see whether it is overloaded", passing=True,
    )  # fmt: skip


def unreadable(where: str, what: str) -> RequestFailure:
    """A response that is no answer."""
    return RequestFailure(
        trouble=ModelErrorKind.UNREADABLE, what=f"what the model endpoint {where} sends is no answer: {what}",
        remedy=_ADDRESS_REMEDY, passing=True,
    )  # fmt: skip


def clean_message(text: str, key: str) -> str:
    """Return an endpoint's words on one line, short, without the key or other secrets."""
    line = " ".join(text.split())
    if key:
        line = line.replace(key, MARK)
    return redact_text(line)[:MAX_MESSAGE_CHARACTERS]


def _message(error: openai.APIStatusError) -> str:
    body: Any = error.body
    if isinstance(body, dict):
        fields = cast("dict[str, Any]", body)
        inner = fields.get("error", fields)
        message: Any = cast("dict[str, Any]", inner).get("message") if isinstance(inner, dict) else inner
        return message if isinstance(message, str) else json.dumps(fields)[:MAX_MESSAGE_CHARACTERS]
    if isinstance(body, str):
        return "" if "<html" in body[:500].lower() else body
    return ""
