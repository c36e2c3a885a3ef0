"""Judge the page an action led to: an error page, a captcha, a log-in. Pure."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from app.engine.core.action_result import Cause
from app.engine.core.actions.types import Action, Click, Goto, NewTab
from app.engine.core.addresses import url_key
from app.engine.core.page_state import Challenge, PageCapture
from app.engine.core.redaction import redact_url

_LOGIN = re.compile(
    r"log.?in|log.?on|sign.?in|sign.?on|authenticat|anmeld|einlog|connexion|iniciar|accedi|inloggen|zalog|вход|войти|ログイン|登录",
    re.IGNORECASE,
)


def landing_failure(
    action: Action, before: PageCapture, after: PageCapture, status: int
) -> tuple[Cause, str]:
    """Return why the page an action led to is not the intended one, in one sentence; no cause if it is."""
    where = redact_url(after.url)[:160]
    if after.url.startswith("chrome-error://"):
        return Cause.NETWORK, "the page can't be reached"
    if after.challenge is Challenge.CAPTCHA:
        return Cause.CHALLENGE, f"{where} shows a captcha; a person has to solve it"
    if status >= 400:
        return Cause.ERROR_PAGE, f"{where} answers with an error (status {status})"
    asked = after.challenge is Challenge.LOGIN and before.challenge is not Challenge.LOGIN
    if asked and not _meant(action, before):
        return Cause.LOGIN, f"{where} asks for a log-in first"
    return Cause.NONE, ""


def _meant(action: Action, before: PageCapture) -> bool:
    """Whether the action was meant to lead to a log-in, by its address or its words."""
    if isinstance(action, Goto | NewTab):
        return bool(_LOGIN.search(urlsplit(action.url).path + urlsplit(action.url).fragment))
    if isinstance(action, Click) and 0 <= action.element < len(before.elements):
        element = before.elements[action.element]
        return bool(_LOGIN.search(f"{element.name} {url_key(element.href) if element.href else ''}"))
    return False
