"""The recorded ways to find a step's control, as JSON in ``ProcedureStep.locator``.  Pure."""

from __future__ import annotations

from dataclasses import replace
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from app.engine.browser.locators import locator_of, resolve
from app.engine.core.page_state import Element, PageCapture
from app.engine.core.redaction import redact_text
from app.engine.core.transition import Locator
from app.engine.store.graph.graph_rows import locator_text
from kb.procedure import VALUE_LIMIT

if TYPE_CHECKING:
    from pydantic import TypeAdapter


@cache
def _adapter() -> TypeAdapter[Locator]:
    from pydantic import TypeAdapter

    return TypeAdapter(Locator)


def recorded_locator(element: Element, page: PageCapture) -> str:
    """Return the locator of an element as JSON; "" where it would hold a secret or is too long to be stored."""
    whole = locator_of(element, page)
    for locator in (whole, replace(whole, text="", xpath=""), replace(whole, text="", xpath="", css="")):
        text = locator_text(locator) or ""
        if len(text) <= VALUE_LIMIT:
            return text if redact_text(text) == text else ""
    return ""


@lru_cache(maxsize=1_024)
def read_locator(text: str) -> Locator | None:
    """Read a recorded locator; ``None`` for text that is none, as a tip from elsewhere may have it."""
    try:
        return _adapter().validate_json(text)
    except ValueError:
        return None


def located(text: str, page: PageCapture) -> Element | None:
    """Return the one element that a recorded locator names on a page; ``None`` if there is none, or several."""
    locator = read_locator(text) if text else None
    return resolve(locator, page).element if locator is not None else None
