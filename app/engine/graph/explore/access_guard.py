"""Detects that a site no longer lets the explorer in: no response any more, a captcha, an expired login."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import urlsplit

from app.engine.browser.driver import DriverFailure
from app.engine.core import identity
from app.engine.core.page_state import Challenge, PageCapture, PageState
from app.engine.core.transition import FrontierItem
from app.engine.graph.explore.exploration_graph import ExplorationGraph
from app.engine.graph.explore.exploration_log import closed_item
from app.engine.graph.explore.visitor import Visitor, VisitOutcome

IN_A_ROW = 4
"""Consecutive addresses without a response, or with a captcha, after which access counts as lost."""
CAPTCHA = "a captcha blocks the page"


class AccessGuard:
    """Checks the results of all workers' attempts.

    Attributes:
        held: attempts without a response; failures if a later attempt gets one, else still to be made.
    """

    def __init__(self, graph: ExplorationGraph) -> None:
        self._graph = graph
        self.held: list[FrontierItem] = []

    def hold_back(self, item: FrontierItem, outcome: VisitOutcome) -> bool:
        """Whether there was no access; if so, hold the item back."""
        why = _nobody_there(outcome)
        if why:
            self.held.append(closed_item(item, replace(outcome, end="failed", why=why)))
        return bool(why)

    def release(self) -> list[FrontierItem]:
        """Return the held items as failures, because the site answers again."""
        held, self.held = self.held, []
        return held

    async def denied_reason(self, visitor: Visitor, source: PageState, outcome: VisitOutcome) -> str:
        """Why the exploration can't continue; "" if it can."""
        login = outcome.observed or outcome.strayed
        if (
            login is not None
            and login.page.challenge is Challenge.LOGIN
            and source.challenge is Challenge.NONE
            and (outcome.strayed is not None or await self._is_logged_out(visitor, source, login.page))
        ):
            return "the login has expired: log in again, then resume; all results are kept"
        why = _nobody_there(outcome)
        if why and len(self.held) + 1 >= IN_A_ROW:
            self.held.clear()
            return f"the site no longer allows access ({why}); all results are kept, resume later"
        return ""

    async def _is_logged_out(self, visitor: Visitor, source: PageState, login: PageCapture) -> bool:
        """Whether a page that was open before asks for a login now, or offers one where it did not."""
        expected = source if source.direct else self._graph.level(0)[0]
        check = await visitor.open_safely(expected.url)
        if check.observed is None or check.observed.id == expected.id:
            return False
        if check.observed.page.challenge is Challenge.LOGIN:
            return True
        path = urlsplit(login.url).path
        offers = [e for e in check.observed.page.elements if e.href and urlsplit(e.href).path == path]
        keys = {identity.element_key(element, self._graph.home) for element in offers}
        return bool(keys - set(expected.element_keys))


def _nobody_there(outcome: VisitOutcome) -> str:
    if outcome.observed is not None and outcome.observed.page.challenge is Challenge.CAPTCHA:
        return CAPTCHA
    return outcome.why or "no response" if outcome.result.trouble is DriverFailure.UNREACHABLE else ""
