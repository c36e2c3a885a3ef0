"""A scripted policy that opens the orders of a ``LoginSite`` and answers with what stands there."""

from __future__ import annotations

from app.engine.core.actions.types import Click, Stop, TakeNote
from app.engine.core.observation import AgentDecision, Observation
from app.engine.services.policy_factory import PolicyBundle
from tests.support.login_site import ANSWER


class OrderReader:
    """Answers once the order is on the page, and else follows the link there."""

    name = "reader"

    async def decide(self, sight: Observation) -> AgentDecision:
        if ANSWER in sight.page.text:
            return AgentDecision(action=Stop(answer=ANSWER))
        links = [
            one.index for one in sight.page.elements if one.role == "link" and "orders" in one.name.lower()
        ]
        return AgentDecision(action=Click(links[0]) if links else TakeNote("a log-in"))

    async def aclose(self) -> None:
        return None


def reading(*_: object) -> PolicyBundle:
    """In the place of ``make_policy_bundle``."""
    return PolicyBundle(OrderReader())
