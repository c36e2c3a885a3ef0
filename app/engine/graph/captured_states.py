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
from app.engine.core.trajectory import Step
from app.engine.core.transition import Attempt, Operation, ReplayVerdictKind, Transition
from app.engine.graph.explore.exploration_graph import ExplorationGraph
from app.engine.graph.explore.exploration_store import PageContents
from app.engine.graph.rules.block_list import BlockList

_OPERATIONS = {
    "click": Operation.CLICK,
    "dblclick": Operation.CLICK,
    "check": Operation.CLICK,
    "uncheck": Operation.CLICK,
    "hover": Operation.HOVER,
    "fill": Operation.TYPE,
    "press": Operation.PRESS,
    "select_option": Operation.SELECT,
    "goto": Operation.OPEN,
}
"""Operations by a step's action; moves in the history or between tabs are no transitions of the site."""
_VALUES = {"fill": "value", "press": "key_comb", "goto": "url", "select_option": "options"}
MIN_BLOCKED_RISK = 0.1
"""Risk of an action that the block list would keep from an exploration."""
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


def transition_of(
    step: Step, element: Element | None, page: PageCapture, source: str, target: str, rules: BlockList
) -> Transition | None:
    """Return the transition that a run's step made between two states; ``None`` where it made none."""
    action = step.action
    operation = _OPERATIONS.get(action.kind) if action is not None else None
    if action is None or operation is None or source == target:
        return None
    locator, risk = None, 0.0
    if element is not None:
        locator = locator_of(element, page)
        ruling = rules.verdict(element, step.url)
        risk = 0.0 if ruling.allows else max(ruling.risk, MIN_BLOCKED_RISK)
    elif operation is not Operation.OPEN:
        return None
    given = action.args.get(_VALUES.get(action.kind, ""), "")
    value = ", ".join(map(str, given)) if isinstance(given, list) else str(given if given is not None else "")
    value = redact_url(value) if operation is Operation.OPEN else value
    return Transition(
        id=identity.transition_id(source, operation, value, locator, target),
        source=source,
        target=target,
        operation=operation,
        value=value,
        locator=locator,
        risk=risk,
        found_by=Source.RUN,
    )


def attempt_of(transition: Transition, step: Step, seconds: float) -> Attempt:
    """Return a run's attempt of a transition."""
    return Attempt(
        transition=transition.id,
        at=step.started_at,
        arrival=ReplayVerdictKind.EXACT,
        seconds=seconds,
        by=Source.RUN,
    )
