"""Detect the effect of an action from page changes and typed fingerprints of two captures. Pure.

SuperBrowser counts mutations; so does a clock on the page. Here what changes by itself is known
before the action, and what only a capture can show (a menu that a style sheet opens) is compared kind
by kind (``app.engine.core.fingerprint``).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import urldefrag, urlsplit

from app.engine.browser.capture.page_monitor import PageChanges
from app.engine.core.action_result import Cause, Effect
from app.engine.core.actions.types import Action, Click, Goto, NewTab
from app.engine.core.addresses import url_key
from app.engine.core.fingerprint import FingerprintKind, Fingerprints
from app.engine.core.page_state import Challenge, PageCapture
from app.engine.core.redaction import redact_url

_LOGIN = re.compile(
    r"log.?in|log.?on|sign.?in|sign.?on|authenticat|anmeld|einlog|connexion|iniciar|accedi|inloggen|zalog|вход|войти|ログイン|登录",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class OutsideChanges:
    """Changes outside the document: another tab in front, dialogs that opened, files offered."""

    tab: bool = False
    dialogs: int = 0


def effect_from_changes(changes: PageChanges, around: OutsideChanges) -> Effect | None:
    """Return the effect as far as the page's document tells; ``None`` if only another capture can tell."""
    if changes.replaced or around.tab or _left_document(changes.was, changes.url):
        return Effect.NAVIGATED
    if changes.any or around.dialogs:
        return Effect.CHANGED
    return None


def effect_from_captures(changes: PageChanges, before: Fingerprints, after: Fingerprints) -> Effect:
    """Return the effect on an unchanged document, from the captures before and after."""
    differing = after.changed(before) - {FingerprintKind.SCROLL}
    if changes.noisy:  # its texts and names change by themselves; an added or removed box does not
        differing &= {FingerprintKind.VALUES, FingerprintKind.FRAMES} | (
            {FingerprintKind.ELEMENTS} if FingerprintKind.SHAPE in differing else frozenset()
        )
        return Effect.CHANGED if differing else Effect.UNRELATED
    return Effect.CHANGED if differing else Effect.NOTHING


def _left_document(was: str, now: str) -> bool:
    """Whether the address changed within the same document, other than by a jump within the page."""
    if was == now:
        return False
    (old, _), (new, fragment) = urldefrag(was), urldefrag(now)
    return old != new or fragment.startswith(("/", "!"))


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
