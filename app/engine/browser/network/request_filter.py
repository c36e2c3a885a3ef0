"""Block documents from hosts that the run's navigation policy excludes before they are requested.

Only documents of the tab itself are intercepted, for one round trip each; frames, images and scripts
pass, and so does everything while a person controls the page. What slips past (a window's first page)
is found when it is captured.
"""

from __future__ import annotations

from typing import Any

from playwright.async_api import CDPSession, Error

from app.engine.browser.network.navigation_policy import NavigationPolicy
from app.engine.browser.session import BrowserSession
from app.engine.core.action_result import ActionResult


class RequestFilter:
    """Refuses documents from other hosts, for each tab that has been in front."""

    def __init__(self, session: BrowserSession, policy: NavigationPolicy) -> None:
        self._session = session
        self._policy = policy
        self._kept: dict[CDPSession, str] = {}
        self._refused: list[ActionResult] = []

    async def keep(self) -> None:
        """Watch the tab in front; does nothing for a run without limits.

        Raises ``playwright.async_api.Error`` when the tab is gone.
        """
        if not self._policy.domains:
            return
        wire = await self._session.wire()
        if wire in self._kept:
            return
        tree = await self._session.send("Page.getFrameTree")
        self._kept[wire] = str(tree["frameTree"]["frame"]["id"])

        async def paused(event: dict[str, Any]) -> None:
            await self._paused(wire, event)

        wire.on("Fetch.requestPaused", paused)
        pattern = {"urlPattern": "*", "resourceType": "Document", "requestStage": "Request"}
        await wire.send("Fetch.enable", {"patterns": [pattern]})

    def refused(self) -> ActionResult | None:
        """Return why the last document was refused since the previous call, or ``None``."""
        told, self._refused = self._refused, []
        return told[-1] if told else None

    async def _paused(self, wire: CDPSession, event: dict[str, Any]) -> None:
        why = None
        if event.get("frameId") == self._kept.get(wire) and not self._session.in_hand:
            why = self._policy.outside(str(event["request"]["url"]))
        try:
            if why is None:
                await wire.send("Fetch.continueRequest", {"requestId": event["requestId"]})
            else:
                self._refused.append(why)
                # Aborting keeps the current page in place.
                await wire.send(
                    "Fetch.failRequest", {"requestId": event["requestId"], "errorReason": "Aborted"}
                )
        except Error:
            return  # the tab or the request is gone
