"""Rules for typing secrets: only into a field that asks for one, on the run's own sites; elsewhere a person must agree.

A page may hold any field with any name, and so may a frame in it; an agent that obeys a page would type a password
wherever it is told to.  So the field has to ask for a secret by what it is, or the task has to name it, and both its
document and the address its form sends to have to belong to the run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import urlsplit

from app.engine.agent.secret_masking import field_key, is_declared_secret
from app.engine.agent.secrets import Secrets
from app.engine.core.actions.recorded import to_recorded
from app.engine.core.actions.specs import Action, Component, spec_of
from app.engine.core.actions.types import TypeKeys, TypeMark, TypeText, elements_of
from app.engine.core.addresses import browser_host, is_on_any_host
from app.engine.core.observation import Observation
from app.engine.core.page_state import Element
from app.engine.core.task_secrets import NAMED

SECRET_ALTERNATIVES = ("type it into the field that asks for it", "go on without it")
"""Alternatives to a refused use."""

_SECRET_LABEL = re.compile(
    r"\b(?:pass(?:word|phrase|code|wort)|kennwort|wachtwoord|contraseña|mot de passe|senha|пароль|pin(?: code| number)?"
    r"|one[ -]time (?:code|password|pin)|(?:verification|security|authenticat(?:ion|or)|two[ -]factor|2fa|sms) code"
    r"|otp|2fa|cvc|cvv)\b",
    re.IGNORECASE,
)
_LINE_TYPES = ("text", "tel", "number", "")
_NAMING = ("placeholder", "aria-label", "title", "name", "id")
_GAPS = re.compile(r"[^\w\ue000\ue001:=,.;!?]+|_")
_INTO = (
    r"(?:in|into|in to|to|for|as|under)(?: (?:the|a|an|its|your))?(?: (?:field|box|input))?"
    r"(?: (?:called|named|labell?ed))?"
)
_LINK = r"(?: ?[:=]|,| (?:field|box|input|with|is|as|to|of|be|value|the))*"
_NO_NAMES = frozenset(["the", "field", "box", "input", "with", "into", "and", "value", "text"])


class SecretRuling(StrEnum):
    """Rulings about a use: ``ASK`` asks a person, and is a refusal where there is none."""

    ALLOW = "allow"
    ASK = "ask"
    REFUSE = "refuse"


@dataclass(frozen=True, slots=True)
class SecretUse:
    """Use of a secret by an action: the ruling and its reason; ``key`` identifies the use."""

    ruling: SecretRuling
    why: str = ""
    key: object = None


def secret_use(action: Action, observation: Observation, secrets: Secrets) -> SecretUse | None:
    """Judge whether the action may put a secret into its target; ``None`` where it names none."""
    names = list(dict.fromkeys(NAMED.findall("\n".join(_texts(action)))))
    if not names:
        return None
    if unknown := next((name for name in names if not secrets.knows(name)), None):
        return SecretUse(SecretRuling.REFUSE, f"there is no secret {unknown}; use the names in the task")
    if not isinstance(action, TypeText | TypeKeys | TypeMark):
        return SecretUse(SecretRuling.REFUSE, "a secret may only be typed into a field")
    if not _is_own(observation.page.url, observation, secrets):
        return SecretUse(
            SecretRuling.REFUSE,
            f"{_host(observation.page.url)} is not one of this run's sites; no secret is typed there",
        )
    if isinstance(action, TypeMark):
        return SecretUse(SecretRuling.ALLOW)  # the element is judged once the mark is resolved
    found = list(_target_fields(action, observation))
    key = (type(action).__name__, action.text, tuple((field_key(one), one.role, one.name) for one in found))
    if not found:
        return SecretUse(SecretRuling.ASK, "the field that would get the secret is unknown", key)
    uses = [_use_in_field(element, names, observation, secrets) for element in found]
    ruling, why = max(uses, key=lambda use: list(SecretRuling).index(use[0]))
    return SecretUse(ruling, why, key)


def _texts(action: Action) -> Iterator[str]:
    """Yield the texts of an action that reach the page."""
    spec = spec_of(action)
    if spec.component is not Component.PAGE or not spec.touches_page:
        return
    for name, value in to_recorded(action).args.items():
        if name != "label":  # the agent's belief
            yield from map(str, value if isinstance(value, list) else (value,))


def _target_fields(action: TypeText | TypeKeys, observation: Observation) -> Iterator[Element]:
    """Yield the target field; for keys every element that reports the focus, in any frame."""
    elements = observation.page.elements
    if isinstance(action, TypeKeys):
        yield from (element for element in elements if "focused" in element.states)
    else:
        yield from (elements[number] for number in elements_of(action) if 0 <= number < len(elements))


def _use_in_field(
    element: Element, names: list[str], observation: Observation, secrets: Secrets
) -> tuple[SecretRuling, str]:
    """Judge the use of these secrets in this field; return ruling and reason."""
    what = f"{element.role or element.tag} {(element.name or element.label)[:80]!r}"
    if element.origin and not _is_own(element.origin, observation, secrets):
        return SecretRuling.REFUSE, (
            f"{what} is in a frame of {_host(element.origin)}, which is not one of this run's sites;"
            " no secret is typed there"
        )
    method, _, target = element.form.partition(":")
    if "://" in target and not _is_own(target, observation, secrets):
        return SecretRuling.REFUSE, (
            f"the form around {what} sends to {_host(target)}, which is not one of this run's sites;"
            " no secret is typed there"
        )
    if element.type == "password" or is_declared_secret(element):
        return SecretRuling.ALLOW, ""
    if _is_search(element) or method == "get":
        return SecretRuling.REFUSE, (
            f"what is typed into {what} becomes part of an address, which others may read; no secret is typed there"
        )
    is_line = element.tag == "input" and element.type in _LINE_TYPES
    if is_line and _SECRET_LABEL.search(f"{element.name}\n{element.label}"):
        return SecretRuling.ALLOW, ""
    unnamed = [name for name in names if not _is_named(element, name, observation.intent)]
    if (is_line or element.tag == "textarea" or element.role == "textbox") and not unnamed:
        return SecretRuling.ALLOW, ""
    secret = (unnamed or names)[0]
    return SecretRuling.ASK, f"{what} does not ask for a secret, and the task does not name it for {secret}"


def _is_own(url: str, observation: Observation, secrets: Secrets) -> bool:
    """Whether an address is on one of the run's hosts, and at least as encrypted as the run's start."""
    hosts = secrets.hosts or {browser_host(observation.start_url)}
    began, scheme = urlsplit(observation.start_url).scheme, url.partition(":")[0].lower()
    if scheme not in ("http", "https") or (began == "https" and scheme == "http"):
        return False
    return is_on_any_host(url, hosts)


def _is_search(element: Element) -> bool:
    is_within = any(mark == "search" or mark.startswith("search:") for mark in element.landmarks)
    return element.role == "searchbox" or element.type == "search" or is_within


def _is_named(element: Element, secret: str, intent: str) -> bool:
    """Whether the task assigns the secret to this very field: "type {secret:X} into API key"."""
    marked = _plain(f"\ue000{secret}\ue001")
    told = _plain(NAMED.sub(lambda name: f" \ue000{name[1]}\ue001 ", intent))
    given = dict(element.attributes)
    for phrase in {_plain(name) for name in (element.name, element.label, *map(given.get, _NAMING)) if name}:
        if len(phrase) < 2 or phrase in _NO_NAMES:
            continue
        name = re.escape(phrase)
        if re.search(rf"{marked} {_INTO} {name}(?!\w)|(?<!\w){name}{_LINK} {marked}", told):
            return True
    return False


def _plain(text: str) -> str:
    """Return lower-case words with one space between them; punctuation that separates sentences stays."""
    return " ".join(_GAPS.sub(" ", text.casefold()).split()).strip(" :=,.;!?")


def _host(url: str) -> str:
    return browser_host(url) or url[:80]
