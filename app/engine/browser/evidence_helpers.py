"""The published helpers of suites (``core.evaluation.helper_calls``), carried out in the browser of a run; they read.

A helper that needs a shop's REST interface logs in there as its administrator, whose name and password a person has
put into the environment (``SHOP_ADMIN``); nothing else that it sends is a change.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast
from urllib.parse import quote, urlsplit

import orjson
from playwright.async_api import APIRequestContext, APIResponse, Error, Page

from app.engine.core.evaluation.helper_calls import (
    LAST_URL,
    LATEST_ORDER_URL,
    LATEST_REVIEW_AUTHOR,
    LATEST_REVIEW_RATING,
    MEMBER_ROLE,
    MINIWOB_REWARD,
    POST_URL,
    HelperCall,
)
from app.errors import SiteloreError

SHOP = "__SHOPPING__"
SHOP_ADMIN = "SITELORE_SECRET_SHOPPING_ADMIN"
"""Variable that holds ``USER:PASSWORD`` of the shop's administrator."""
REQUEST_TIMEOUT = 8_000
"""Milliseconds that one request of a helper may take."""

_ROLE = """name => {
  const accounts = [...document.querySelectorAll("td[data-label='Account'] span.gl-avatar-labeled-sublabel")];
  const at = accounts.findIndex((account) => account.outerText === "@" + name);
  return document.querySelectorAll("td.col-max-role span")[at].outerText;
}"""
_REWARD = """() => {
  if (typeof WOB_DONE_GLOBAL === "undefined") return 0;
  const first = globalThis.sitelore_first_reward;
  return first ?? (WOB_DONE_GLOBAL ? WOB_RAW_REWARD_GLOBAL : 0);
}"""


class UnreadableTarget(SiteloreError):
    """A place that the evidence should hold can't be read; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HelperScope:
    """The surroundings of a helper.

    Attributes:
        last_url: address of the page in front.
        request: sends requests with the cookies of the run's browser.
        bases: addresses of sites by names such as ``__SHOPPING__``.
        shop_admin: ``USER:PASSWORD`` of the shop's administrator, "" where it is not known.
        page: the page that a locator is evaluated in; ``None`` for the helper of an address.
    """

    last_url: str
    request: APIRequestContext
    bases: Mapping[str, str] = field(default_factory=dict[str, str])
    shop_admin: str = field(default="", repr=False)
    page: Page | None = None


async def call_helper(call: HelperCall, scope: HelperScope) -> str:
    """Return the text that a helper finds.

    Raises:
        UnreadableTarget: it can't be read.  playwright.async_api.Error: the browser, or a site, does not answer.
    """
    texts = tuple(text.replace(LAST_URL, scope.last_url) for text in call.args)
    try:
        return await HELPERS[call.name](scope, *texts)
    except (LookupError, TypeError, ValueError) as error:
        raise UnreadableTarget(f"the site's answer to {call.name} has another form than expected") from error


async def _latest_order_url(scope: HelperScope) -> str:
    query = (
        "searchCriteria[sortOrders][0][field]=created_at&searchCriteria[sortOrders][0][direction]=DESC"
        "&searchCriteria[pageSize]=1"
    )
    told = await _ask_shop(scope, f"/rest/V1/orders?{query}")
    # The published helper takes the number of the order for its id.
    return f"{_shop(scope)}/sales/order/view/order_id/{int(told['items'][0]['increment_id'])}/"


async def _latest_review_author(scope: HelperScope, sku: str) -> str:
    reviews = await _reviews(scope, sku)
    return str(reviews[-1]["nickname"]) if reviews else ""


async def _latest_review_rating(scope: HelperScope, sku: str) -> str:
    reviews = await _reviews(scope, sku)
    return str(reviews[-1]["ratings"][0]["percent"]) if reviews else ""


async def _post_url(scope: HelperScope, url: str) -> str:
    """Return the address of the post that a forum's page belongs to; any other address as it is."""
    parts = urlsplit(url)
    segments = parts.path.split("/")
    if len(segments) < 4 or segments[1] != "f":
        return url
    return f"{parts.scheme}://{parts.netloc}/f/{segments[2]}/{segments[3]}/"


async def _member_role(scope: HelperScope, account: str) -> str:
    """Return the role of a project's member; "" on any other page, as published."""
    if scope.page is None:
        raise UnreadableTarget("this helper needs a page")
    try:
        return str(await scope.page.evaluate(_ROLE, account))
    except Error:
        if scope.page.is_closed():
            raise
        return ""


async def _miniwob_reward(scope: HelperScope) -> str:
    """Return ``1`` where the page's own evaluator gave its first episode a reward above 0, else ``0``."""
    if scope.page is None:
        raise UnreadableTarget("this helper needs a page")
    return "1" if float(await scope.page.evaluate(_REWARD)) > 0 else "0"


HELPERS: dict[str, Callable[..., Awaitable[str]]] = {
    LATEST_ORDER_URL: _latest_order_url,
    LATEST_REVIEW_AUTHOR: _latest_review_author,
    LATEST_REVIEW_RATING: _latest_review_rating,
    POST_URL: _post_url,
    MEMBER_ROLE: _member_role,
    MINIWOB_REWARD: _miniwob_reward,
}
"""By name; the texts of the call are the further arguments."""


async def _reviews(scope: HelperScope, sku: str) -> list[dict[str, Any]]:
    told = await _ask_shop(scope, f"/rest/V1/products/{quote(sku, safe='')}/reviews")
    if not isinstance(told, list):
        raise UnreadableTarget("the shop's answer holds no reviews")
    return cast("list[dict[str, Any]]", told)


async def _ask_shop(scope: HelperScope, path: str) -> Any:
    if not scope.shop_admin:
        raise UnreadableTarget(
            f"the shop tells this its administrator only: set {SHOP_ADMIN} to USER:PASSWORD"
        )
    base = _shop(scope)
    name, _, password = scope.shop_admin.partition(":")
    token = await _answer(
        await scope.request.post(
            f"{base}/rest/default/V1/integration/admin/token",
            data={"username": name, "password": password},
            timeout=REQUEST_TIMEOUT,
        )
    )
    headers = {"Authorization": f"Bearer {token}"}
    return await _answer(await scope.request.get(f"{base}{path}", headers=headers, timeout=REQUEST_TIMEOUT))


async def _answer(response: APIResponse) -> Any:
    if response.status != 200:
        raise UnreadableTarget(f"the shop's REST interface answered {response.status}")
    try:
        return orjson.loads(await response.body())
    except orjson.JSONDecodeError as error:
        raise UnreadableTarget("the shop's REST interface did not answer in JSON") from error


def _shop(scope: HelperScope) -> str:
    base = scope.bases.get(SHOP, "").rstrip("/")
    if not base:
        raise UnreadableTarget(
            f"the table of sites has no address for {SHOP}: sitelore sites edit SITE --base {SHOP}=URL"
        )
    return base
