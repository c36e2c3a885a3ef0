"""The published helpers that suites name as ``func:…``: parsed and counted here, never called as code.

A text such as ``func:reddit_get_post_url('__last_url__')`` is split into a known name and literal arguments; whoever
captures the evidence does for that name what it is published to do.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from app.engine.core.evaluation.suite import HtmlTarget, Oracle
from app.errors import InputError

PREFIX = "func:"
LAST_URL = "__last_url__"
"""Stands in an argument for the address of the page in front."""
PAGE = "__page__"
"""As first argument: the page that the locator is evaluated in."""

LATEST_ORDER_URL = "shopping_get_latest_order_url"
LATEST_REVIEW_AUTHOR = "shopping_get_sku_latest_review_author"
LATEST_REVIEW_RATING = "shopping_get_sku_latest_review_rating"
POST_URL = "reddit_get_post_url"
MEMBER_ROLE = "gitlab_get_project_memeber_role"  # so spelled in the published suites
MINIWOB_REWARD = "miniwob_reward"
"""Ours, for suites of MiniWoB++: ``1`` where the page in front gave a reward above 0, else ``0``."""

TEXT_ARGUMENTS = {
    LATEST_ORDER_URL: 0,
    LATEST_REVIEW_AUTHOR: 1,
    LATEST_REVIEW_RATING: 1,
    POST_URL: 1,
    MEMBER_ROLE: 1,
    MINIWOB_REWARD: 0,
}
"""The helpers, with the number of texts that each takes beside the page."""
TAKES_PAGE = frozenset({MEMBER_ROLE})

MAX_CALL = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class HelperCall:
    """A call of a published helper; ``args`` are its texts, without the page that it may take first."""

    name: str
    args: tuple[str, ...] = ()
    takes_page: bool = False


def is_helper(text: str) -> bool:
    """Whether an address or a locator of a target names a helper."""
    return text.startswith("func")


def parse_helper(text: str) -> HelperCall:
    """Parse ``func:name('text', …)`` or ``name(…)``.

    Raises:
        InputError: it is no such call, or the name is not one of the published ones.
    """
    shown = text[:80]
    call = _call(text.removeprefix(PREFIX).strip(), shown)
    name = call.func.id if isinstance(call.func, ast.Name) else ""
    if name not in TEXT_ARGUMENTS:
        raise InputError(f"the suite names a helper that is not one of the published ones: {shown!r}")
    given = list(call.args)
    page = bool(given) and isinstance(given[0], ast.Name) and given[0].id == PAGE
    if page:
        del given[0]
    texts = [one.value for one in given if isinstance(one, ast.Constant) and isinstance(one.value, str)]
    if page != (name in TAKES_PAGE) or len(texts) != len(given) or len(texts) != TEXT_ARGUMENTS[name]:
        raise InputError(f"the suite calls a helper with other arguments than it takes: {shown!r}")
    return HelperCall(name=name, args=tuple(texts), takes_page=page)


def _call(text: str, shown: str) -> ast.Call:
    """Return the syntax of one call without named or unpacked arguments; nothing of it is ever run."""
    broken = InputError(f"the suite names a helper that can't be read: {shown!r}")
    if len(text) > MAX_CALL:
        raise broken
    try:
        call = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise broken from None
    if not isinstance(call, ast.Call) or call.keywords:
        raise broken
    return call


def evidence_targets(oracle: Oracle) -> list[tuple[str, HtmlTarget]]:
    """Return the places that the evidence of a run must hold, numbered as ``TargetEvidence.target`` says.

    The i-th target is ``i``, its j-th alternative ``i.j``, in the order of the suite.
    """
    return list(_numbered(oracle))


def place_of(target: HtmlTarget) -> str:
    """Return the address and locator of a target as its evidence names them."""
    return f"{target.url} {target.locator}".strip()


def _numbered(oracle: Oracle) -> Iterator[tuple[str, HtmlTarget]]:
    for number, target in enumerate(oracle.html):
        yield str(number), target
        for other, alternative in enumerate(target.alternatives):
            yield f"{number}.{other}", alternative
