"""Checks of a run request: its task, its hosts, what it may do, its time zone and locale."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from app.engine.agent.llm.prompting import visible
from app.engine.agent.memory.ledger_store import LONGEST_GOAL
from app.engine.api.run_api import RunRequest
from app.engine.core.addresses import browser_host
from app.engine.core.local_time import (
    BROWSER_LOCALE,
    BROWSER_TIMEZONE,
    checked_locale,
    checked_timezone,
    machine_timezone,
)
from app.engine.core.public_suffixes import is_open_suffix
from app.engine.core.risk_class import RiskClass, risk_classes
from app.errors import UsageError

ANY_HOST = "*"
MAX_MODEL_NAME = 200


def visible_intent(intent: str) -> str:
    """Return the task without invisible characters.

    Raises:
        UsageError: it is empty, or longer than the ledger and a model's prompt take.
    """
    text = visible(intent.encode("utf-8", "replace").decode()).strip()
    if not text:
        raise UsageError("there is no task", remedy="say in words what is to be done")
    if len(text) > LONGEST_GOAL:
        raise UsageError(
            f"the task has {len(text):,} characters, at most {LONGEST_GOAL:,} are allowed",
            remedy="say what is to be done in fewer words",
        )
    return text


def allowed_hosts(request: RunRequest) -> frozenset[str]:
    """Return the hosts the agent may session; empty means any.  Raises ``UsageError`` for an invalid host."""
    if ANY_HOST in request.domains:
        return frozenset()
    return frozenset({browser_host(request.start_url), *map(_host, request.domains)})


def allowed_classes(request: RunRequest) -> frozenset[RiskClass]:
    """Return the risk classes allowed beyond the task.  Raises ``UsageError`` for an unknown name."""
    try:
        return risk_classes(request.allow)
    except ValueError as error:
        known = ", ".join(risk.value.replace(" ", "-") for risk in RiskClass if risk.level)
        raise UsageError(f"{str(error)!r} is not a risk class", remedy=f"--allow takes: {known}") from error


def _host(domain: str) -> str:
    """Return the host of a name with or without port, an address, or a pattern such as ``*.shop.example``."""
    text = domain.strip().removeprefix("*.")
    usual = "https" if text.endswith(":443") else "http"
    host = browser_host(text if "://" in text else f"{usual}://{text}")
    if not host:
        raise UsageError(
            f"{domain!r} is not a host", remedy="give one such as shop.example or shop.example:8080"
        )
    if ("*." in domain or "." in host) and is_open_suffix(host):
        raise UsageError(
            f"anybody may register a name under {host}, so it is no host of this run",
            remedy="name the site's own",
        )
    return host


def kb_name(kb: str) -> str:
    """Return the name of a knowledge base for the run file: a file's name without its folder."""
    return kb if kb in ("live", "none") else Path(kb).name


def with_checked_llm(request: RunRequest) -> RunRequest:
    """Return the request with time zone, locale and the model's name in their usual spelling.

    Raises:
        UsageError: there is no such time zone, the locale is no language tag, or the name is too long.
    """
    llm, model = request.llm, visible(request.model).strip()
    if len(model) > MAX_MODEL_NAME:
        raise UsageError(f"the name of the model has more than {MAX_MODEL_NAME} characters")
    checked = replace(llm, timezone=checked_timezone(llm.timezone), locale=checked_locale(llm.locale))
    return replace(request, llm=checked, model=model)


def run_timezone(request: RunRequest) -> str:
    """Return the time zone of a run, for its prompts and its browser.

    A model's is this machine's where none is given: "today" is the person's. The scout's stays the same everywhere.
    """
    usual = machine_timezone() if request.policy == "llm" else BROWSER_TIMEZONE
    return checked_timezone(request.llm.timezone) or usual


def run_locale(request: RunRequest) -> str:
    """Return the locale of a run, for its prompts and its browser."""
    return checked_locale(request.llm.locale) or BROWSER_LOCALE
