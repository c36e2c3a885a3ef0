"""Why a request failed, in our words: whether a retry can help, and what the user can do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from app.engine.agent.model.capabilities import is_overflow
from app.engine.agent.model.limits import retry_after
from app.engine.core.model_api import ModelError, ModelErrorKind
from app.engine.core.redaction import MARK, redact_text

if TYPE_CHECKING:
    import openai

MAX_MESSAGE_CHARACTERS = 240
"""Characters of an endpoint's own message that are passed on."""

_QUOTA_WORDS = ("insufficient_quota", "billing", "exceeded your current quota", "credit balance")
_ADDRESS_REMEDY = "check SITELORE_MODEL_URL (it usually ends in /v1) and the model's name"
_REMEDIES = {
    ModelErrorKind.UNREACHABLE: "check that it is running: sitelore doctor",
    ModelErrorKind.TIMEOUT: "check whether it is overloaded",
    ModelErrorKind.UNREADABLE: _ADDRESS_REMEDY,
}


class RequestFailed(Exception):
    """One attempt failed.

    Attributes:
        transient: another attempt may succeed. wait: seconds the endpoint asked to wait before it.
        status: of the response, 0 without one. said: the endpoint's own words.
    """

    def __init__(
        self,
        kind: ModelErrorKind,
        what: str,
        remedy: str = "",
        *,
        transient: bool = True,
        wait: float | None = None,
        status: int = 0,
        endpoint_message: str = "",
    ) -> None:
        super().__init__(what)
        self.kind, self.what, self.remedy = kind, what, remedy or _REMEDIES[kind]
        self.transient, self.wait = transient, wait
        self.status, self.endpoint_message = status, endpoint_message

    def error(self, attempts: int = 1) -> ModelError:
        """Return the error for the user."""
        tried = f", {attempts} attempts" if attempts > 1 else ""
        return ModelError(self.what + tried, self.kind, self.remedy)


def failure_of_status(error: openai.APIStatusError, where: str, secrets: Sequence[str]) -> RequestFailed:
    """Explain an HTTP status."""
    status, endpoint_message = error.status_code, clean_message(_message(error), secrets)
    wait = retry_after({name.lower(): value for name, value in error.response.headers.items()})
    kind, remedy, transient = _explained(status, f"{error.code or ''} {endpoint_message}".lower())
    what = f"the model endpoint {where} answers {status}{f': {endpoint_message}' if endpoint_message else ''}"
    return RequestFailed(
        kind, what, remedy, transient=transient, wait=wait, status=status, endpoint_message=endpoint_message
    )


def _explained(status: int, words: str) -> tuple[ModelErrorKind, str, bool]:
    """Return kind, remedy and whether a retry can help."""
    if status in (401, 403):
        return ModelErrorKind.UNAUTHORISED, "check the key: OPENAI_API_KEY, or the one in the settings", False
    if status == 429:
        if any(word in words for word in _QUOTA_WORDS):
            return ModelErrorKind.RATE_LIMITED, "the account has no quota left", False
        return ModelErrorKind.RATE_LIMITED, "wait, or use a model with a higher limit", True
    if status >= 500 or status in (408, 409, 425):
        return ModelErrorKind.SERVER, "the endpoint has a problem of its own; try again later", True
    if status == 404:
        return ModelErrorKind.REFUSED, _ADDRESS_REMEDY, False
    if is_overflow(words):
        return ModelErrorKind.TOO_LONG, "use a model with a longer context", False
    return ModelErrorKind.REFUSED, "see what it objects to; the request is in the run's recording", False


def clean_message(text: str, secrets: Sequence[str]) -> str:
    """Return an endpoint's words on one line, short, without the key, values of headers or other secrets."""
    line = " ".join(text.split())
    for secret in secrets:
        line = line.replace(secret, MARK)
    return redact_text(line)[:MAX_MESSAGE_CHARACTERS]


def _message(error: openai.APIStatusError) -> str:
    body: Any = error.body
    if isinstance(body, dict):
        return str(cast("dict[str, Any]", body).get("message") or cast("dict[str, Any]", body))
    return body if isinstance(body, str) and "<html" not in body[:500].lower() else ""
