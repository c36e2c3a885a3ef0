"""Input of a person that is secret: by the field it goes into, and by what it looks like."""

from __future__ import annotations

import re

from app.engine.agent.secret_masking import is_secret_field
from app.engine.browser.manual_input.input_target import FieldAttributes
from app.engine.core.page_state import Element
from app.engine.core.redaction import names_a_secret, redact_text

_SECRET_NAME = re.compile(
    r"\b(?:otp|totp|mfa|2fa|pin|cv[cv]2?|csc|iban|ssn|passcode|tan)\b|one[ _-]?time|two[ _-]?factor"
    r"|(?:verification|security|authenticat\w*|confirmation|access|sms|login)[ _-]?code|recovery|seed phrase"
    r"|(?:card|cc|account|credit)[ _-]?(?:number|num|no)\b|cardnumber|ccnum|kennwort|passwort|contraseñ|mot de passe"
    r"|kartennummer|prüfnummer|пароль|密码|暗証|パスワード",
    re.IGNORECASE,
)
_SECRET_KINDS = frozenset(
    [
        "current-password",
        "new-password",
        "one-time-code",
        "cc-number",
        "cc-csc",
        "cc-exp",
        "cc-exp-month",
        "cc-exp-year",
    ]
)
_NUMERIC = frozenset({"numeric", "decimal", "tel"})


def is_secret(element: Element | None, facts: FieldAttributes | None) -> bool:
    """Whether a person's input into this field is secret.

    Stricter than for an agent's own steps (``agent.secret_masking``): an agent types what its task says, a person
    types what they know.
    """
    if element is not None and (
        is_secret_field(element) or _has_secret_name(f"{element.name} {element.label}")
    ):
        return True
    if facts is None:
        return False
    if facts.type == "password" or facts.dotted or _SECRET_KINDS & set(facts.autocomplete.lower().split()):
        return True
    if facts.most == 1 and (facts.mode in _NUMERIC or facts.type in ("tel", "number")):
        return True  # one of several fields for the digits of a code
    return names_a_secret(facts.names) or _has_secret_name(facts.names)


def looks_secret(value: str) -> bool:
    """Whether a text looks like a secret wherever it is: a card number, a token."""
    return redact_text(value) != value


def _has_secret_name(text: str) -> bool:
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])|_", " ", text)
    return _SECRET_NAME.search(text) is not None or _SECRET_NAME.search(spaced) is not None
