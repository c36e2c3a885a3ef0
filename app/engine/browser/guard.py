"""Keeps a visit from changing anything on a site, whatever its scripts make of a click: nothing but reading is sent.

The block list judges elements by what can be seen of them.  This is the second line, at the network: forms that are
sent after all, and requests of scripts that store or delete.  A page that *loads* by POST (some search and GraphQL
pages do) may; an action may not cause one to an address that loading never asked.
"""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlsplit

from playwright.async_api import CDPSession, Error

from app.engine.browser.session import Visit
from app.engine.redaction import redact_url

READING = frozenset({"GET", "HEAD", "OPTIONS"})
CHANGING = frozenset({"PUT", "PATCH", "DELETE"})
_WATCHED = ("Document", "XHR", "Fetch")
_MUTATION = re.compile(r'"query"\s*:\s*"\s*mutation\b|^\s*mutation\b')


class Guard:
    """Refuses what is no reading, for the tab in front.

    Attributes:
        acting: an element is being operated, so what is sent comes from that.
    """

    def __init__(self) -> None:
        self.acting = False
        self._wire: CDPSession | None = None
        self._asked_when_loading: set[str] = set()
        self._refused: list[str] = []

    async def watch(self, visit: Visit) -> None:
        """Stand before the tab in front; it costs a round trip for each page and each request of a script.

        Raises ``playwright.async_api.Error`` when the tab is gone.
        """
        wire = await visit.wire()
        if wire is self._wire:
            return
        self._wire = wire
        wire.on("Fetch.requestPaused", self._paused)
        patterns = [{"urlPattern": "*", "resourceType": kind, "requestStage": "Request"} for kind in _WATCHED]
        await wire.send("Fetch.enable", {"patterns": patterns})

    def refused(self) -> tuple[str, ...]:
        """What was not sent since the last call, as ``POST /basket/add``."""
        told, self._refused = tuple(self._refused), []
        return told

    async def _paused(self, event: dict[str, Any]) -> None:
        wire = self._wire
        if wire is None:
            return
        request: dict[str, Any] = event["request"]
        try:
            if self._may_pass(request, str(event.get("resourceType", ""))):
                await wire.send("Fetch.continueRequest", {"requestId": event["requestId"]})
            else:
                address = redact_url(urlsplit(str(request["url"])).path)
                self._refused.append(f"{request['method']} {address}"[:160])
                # A page that was set out for and is "aborted" leaves the one that stands where it is.
                reason = "Aborted" if event.get("resourceType") == "Document" else "BlockedByClient"
                await wire.send("Fetch.failRequest", {"requestId": event["requestId"], "errorReason": reason})
        except Error:
            return  # the page or the request is gone

    def _may_pass(self, request: dict[str, Any], kind: str) -> bool:
        method = str(request["method"]).upper()
        if method in READING:
            return True
        if method in CHANGING or kind == "Document":
            return False
        if _MUTATION.search(str(request.get("postData", ""))):
            return False
        path = urlsplit(str(request["url"])).path
        if self.acting:
            return path in self._asked_when_loading
        self._asked_when_loading.add(path)
        return True
