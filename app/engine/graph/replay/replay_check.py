"""Compare a replayed page with the expected one.  Pure functions.

exact          same address, same structure: the same page state
same template  another instance of the same kind of page with the same controls, or the same page with everything
               expected plus more (a list of recently viewed items, a greeting)
drifted        the same kind of page with part of what was expected missing
wrong          another page; or the same address in another of its known states (the menu did not open)
blocked        a login, a captcha or a refusal is in the way
error          no page, or a server error
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from app.engine.core import identity
from app.engine.core.page_state import Challenge, PageCapture, PageKeys, PageState
from app.engine.core.redaction import redact_text
from app.engine.core.transition import ReplayVerdict, ReplayVerdictKind

PRESENT = 0.95
"""Share of the expected elements that must be present for a page of the same address to be usable."""
DRIFT = 0.5
"""Minimum share of common elements for a page of the same template to count as changed rather than another page."""
NAMED_ELEMENTS = 3
"""Elements named in one sentence."""

_REFUSED = {
    401: "asks for a login",
    403: "is refused",
    407: "asks for a login",
    429: "no longer responds: too many requests",
}


def compare(
    expected: PageState,
    keys: PageKeys,
    page: PageCapture,
    *,
    home: str = "",
    rivals: Iterable[PageState] = (),
) -> ReplayVerdict:
    """Compare a page with the expected one.

    Args:
        keys: the keys of ``page``.
        home: the graph's home address, needed for element keys.
        rivals: known states at the expected state's address; the page must not be one of these instead.
    """
    present = {identity.element_key(e, home) for e in page.elements if identity.is_interactive(e)}
    alike = identity.similarity(present, expected.element_keys)
    reached = identity.page_id(keys)
    kind, why = _of_the_answer(expected, keys, page)
    if kind is None and keys.url == expected.keys.url:
        others = [state for state in rivals if state.id != expected.id and state.keys.url == keys.url]
        kind, why = _of_the_same_address(expected, keys, page, present, others)
    elif kind is None:
        kind, why = _of_another_instance(expected, keys, alike)
    return ReplayVerdict(
        kind=kind, expected=expected.id, reached=reached, similarity=round(alike, 3), url=page.url, why=why
    )


def _of_the_answer(
    expected: PageState, keys: PageKeys, page: PageCapture
) -> tuple[ReplayVerdictKind | None, str]:
    """Return the verdict that is possible before comparing the page's controls."""
    answer = page.status if page.status != expected.status else 0
    if page.url.startswith(("chrome-error:", "about:")):
        return ReplayVerdictKind.ERROR, "no page was loaded"
    if answer >= 500:
        return ReplayVerdictKind.ERROR, f"the server failed (status {answer})"
    if page.challenge is Challenge.CAPTCHA and expected.challenge is not Challenge.CAPTCHA:
        return ReplayVerdictKind.BLOCKED, "a captcha blocks the page"
    if page.challenge is Challenge.LOGIN and expected.challenge is not Challenge.LOGIN:
        return ReplayVerdictKind.BLOCKED, "the site asks for a login"
    if answer in _REFUSED:
        return ReplayVerdictKind.BLOCKED, f"{keys.url} {_REFUSED[answer]} (status {answer})"
    if (keys.url, keys.structure) == (expected.keys.url, expected.keys.structure):
        return ReplayVerdictKind.EXACT, ""
    if answer >= 400:
        return ReplayVerdictKind.WRONG, f"{keys.url} was not found (status {answer})"
    if keys.template != expected.keys.template:
        return ReplayVerdictKind.WRONG, f"reached {keys.url} instead of {expected.keys.url}"
    return None, ""


def _of_another_instance(expected: PageState, keys: PageKeys, alike: float) -> tuple[ReplayVerdictKind, str]:
    came = f"reached {keys.url}, another page like {expected.keys.url}"
    if keys.skeleton == expected.keys.skeleton:
        return ReplayVerdictKind.SAME_TEMPLATE, came
    if alike >= DRIFT:
        return ReplayVerdictKind.DRIFTED, f"{came}, with other controls"
    return (
        ReplayVerdictKind.WRONG,
        f"reached {keys.url}, whose controls differ from those of {expected.keys.url}",
    )


def _of_the_same_address(
    expected: PageState,
    keys: PageKeys,
    page: PageCapture,
    present: Collection[str],
    rivals: Sequence[PageState],
) -> tuple[ReplayVerdictKind, str]:
    """Return the verdict on a page with the right address and another structure.

    A menu that did not open leaves nearly all elements in common with the expected page.  So a page more similar to
    another known state of this address than to the expected one is that other state, however much they share.
    """
    differs = _difference(expected, page)
    if keys.skeleton == expected.keys.skeleton:
        return ReplayVerdictKind.SAME_TEMPLATE, f"the same controls with other data: {differs}"
    alike = identity.similarity(present, expected.element_keys)
    if any(
        keys.structure == rival.keys.structure or identity.similarity(present, rival.element_keys) > alike
        for rival in rivals
    ):
        return ReplayVerdictKind.WRONG, f"another state of {keys.url}: {differs}"
    there = len(set(expected.element_keys) & set(present))
    if there and there >= PRESENT * len(expected.element_keys):
        return ReplayVerdictKind.SAME_TEMPLATE, f"everything expected is present: {differs}"
    if alike >= DRIFT:
        return ReplayVerdictKind.DRIFTED, differs
    return ReplayVerdictKind.WRONG, f"{keys.url} shows another page now: {differs}"


def _difference(expected: PageState, page: PageCapture) -> str:
    now = {
        f"{e.role} {' '.join(e.name.split())}" for e in page.elements if identity.is_interactive(e) and e.name
    }
    before = set(expected.controls)
    parts = [
        f"{words} {_some(sorted(names))}"
        for words, names in (("without", before - now), ("with", now - before))
        if names
    ]
    return ", ".join(parts) or "states of controls or their order differ"


def _some(names: Sequence[str]) -> str:
    told = ", ".join(redact_text(name)[:60] for name in names[:NAMED_ELEMENTS])
    return f"{told} and {len(names) - NAMED_ELEMENTS} more" if len(names) > NAMED_ELEMENTS else told
