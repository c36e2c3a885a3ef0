"""Convert a page capture into what is stored of it, without secrets."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from urllib.parse import urlsplit

from app.engine.browser.locators import locator_of
from app.engine.core import identity
from app.engine.core.page_index import PageIndex
from app.engine.core.page_state import Element, PageCapture, PageKeys, PageState, Source
from app.engine.core.redaction import redact_text, redact_url
from app.engine.core.transition import Operation, Transition
from app.engine.graph.explore.exploration_graph import ExplorationGraph
from app.engine.graph.explore.exploration_store import PageContents

CONTROLS = 400
"""Control names stored per page for search."""
LONGEST_NAME = 120


def state_of(
    page: PageCapture,
    keys: PageKeys,
    *,
    home: str,
    depth: int,
    exploration: int,
    at: float,
    direct: bool | None,
) -> PageState:
    """Return the page state of a capture; ``at`` in Unix seconds."""
    counted = [element for element in page.elements if identity.is_interactive(element)]
    names = (f"{e.role} {' '.join(e.name.split())[:LONGEST_NAME]}" for e in counted if e.name)
    return PageState(
        id=identity.page_id(keys),
        keys=keys,
        url=redact_url(page.url),
        title=redact_text(page.title),
        depth=depth,
        headings=tuple(redact_text(heading) for heading in page.headings),
        controls=tuple(redact_text(name) for name in list(dict.fromkeys(names))[:CONTROLS]),
        element_keys=tuple(sorted({identity.element_key(element, home) for element in counted})),
        direct=direct,
        challenge=page.challenge,
        status=page.status,
        exploration=exploration,
        first_seen=at,
        last_seen=at,
        notes=page.notes,
        served=page.served,
    )


def contents_of(page: PageCapture) -> PageContents:
    """Return the stored contents of a capture besides the state itself."""
    return PageContents(
        elements=tuple(_clean(element) for element in page.elements),
        text=redact_text(page.text),
        picture=page.picture,
    )


def _clean(element: Element) -> Element:
    """Return the element without typed text, and without secrets in addresses and texts."""
    href, text, name = redact_url(element.href), redact_text(element.text), redact_text(element.name)
    value = "" if element.role in ("textbox", "searchbox") else element.value
    if (href, text, name, value) == (element.href, element.text, element.name, element.value):
        return element
    return replace(element, href=href, text=text, name=name, value=value)


def seen_links(
    state: PageState,
    elements: Sequence[Element],
    inherited: Iterable[str],
    graph: ExplorationGraph,
    exploration: int,
) -> list[Transition]:
    """Links of a state to known pages that were not followed again; one for each target.

    Links that every page inherits from the one before are stored where they appeared first.
    """
    old = set(inherited)
    host = urlsplit(graph.home).netloc
    page = PageIndex(PageCapture(url=state.url, elements=tuple(elements)))
    found: dict[str, Transition] = {}
    for element in elements:
        if not element.visible or element.in_live or element.in_advert or not element.href.startswith("http"):
            continue
        if urlsplit(element.href).netloc != host:
            continue
        target = graph.landing.get(identity.url_key(element.href, graph.home), "")
        if not target or target == state.id or target in found:
            continue
        if identity.element_key(element, graph.home) in old or graph.leads(state.id, target):
            continue
        locator = locator_of(element, page)
        found[target] = Transition(
            id=identity.transition_id(state.id, Operation.CLICK, "", locator, target),
            source=state.id,
            target=target,
            locator=locator,
            found_by=Source.SEEN,
            exploration=exploration,
        )
    return list(found.values())
