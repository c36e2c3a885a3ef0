"""Small sites of HTML pages without a browser, and the scout's walk over them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from urllib.parse import quote_plus, urlsplit

from app.engine.agent.scout.policy import ScoutPolicy
from app.engine.core.action_result import ActionResult, Effect
from app.engine.core.actions.types import Action, Click, Goto, ReportInfeasible, Stop, TypeText
from app.engine.core.observation import (
    AgentDecision,
    HistoryEntry,
    NavigableSite,
    Observation,
    ProcedureState,
    RetrievedTip,
)
from app.engine.core.page_state import PageCapture
from tests.support.html_page import html_page

HOST = "http://site.test"
MOST = 14
CAME = ActionResult(success=True, effect=Effect.NAVIGATED, status=200)
NOTHING = ActionResult(success=True, effect=Effect.NOTHING)


@dataclass(slots=True)
class Walk:
    """Addresses in their order without the host, the decisions, and the last action."""

    paths: list[str] = field(default_factory=list[str])
    decisions: list[AgentDecision] = field(default_factory=list[AgentDecision])

    @property
    def actions(self) -> list[Action | None]:
        return [one.action for one in self.decisions]

    @property
    def end(self) -> Action | None:
        return self.decisions[-1].action


def document(title: str, body: str, menu: str = "") -> str:
    """A page with a menu, its title as heading, and a body."""
    return f"<title>{title}</title><nav>{menu}</nav><main><h1>{title}</h1>{body}</main>"


def capture(pages: Mapping[str, str], path: str) -> PageCapture:
    """The page of a path; a path without a page says so."""
    text = pages.get(path)
    if text is None:
        return replace(html_page(document("Not found", ""), url=f"{HOST}{path}"), status=404)
    return html_page(text, url=f"{HOST}{path}")


def reached(page: PageCapture, action: Action) -> str:
    """The path that an action leads to, "" where the page stays."""
    if isinstance(action, Goto):
        address = urlsplit(action.url)
    elif isinstance(action, Click):
        address = urlsplit(next(one.href for one in page.elements if one.index == action.element))
    elif isinstance(action, TypeText) and action.enter:
        return f"/search?q={quote_plus(action.text)}"
    else:
        return ""
    return f"{address.path or '/'}{'?' + address.query if address.query else ''}" if address.netloc else ""


def walk(
    intent: str,
    pages: Mapping[str, str],
    start: str = "/",
    *,
    domains: Sequence[NavigableSite] = (),
    tips: Sequence[RetrievedTip] = (),
    procedures: Callable[[PageCapture], tuple[ProcedureState, ...]] | None = None,
    most: int = MOST,
) -> Walk:
    """Let the scout walk until it ends, at most so many steps."""

    async def run() -> Walk:
        policy, made, turns, path = ScoutPolicy(), Walk(), list[HistoryEntry](), start
        for step in range(most):
            page = capture(pages, path)
            made.paths.append(path)
            seen = Observation(
                step=step,
                steps_left=most - step,
                intent=intent,
                start_url=f"{HOST}{start}",
                page=page,
                tips=tuple(tips),
                procedures=procedures(page) if procedures else (),
                history=tuple(turns),
                domains=tuple(domains),
            )
            decision = await policy.decide(seen)
            made.decisions.append(decision)
            action = decision.action
            assert action is not None
            if isinstance(action, Stop | ReportInfeasible):
                break
            to = reached(page, action)
            result = CAME if to else NOTHING
            turns.append(
                HistoryEntry(
                    step=step,
                    url=page.url,
                    title=page.title,
                    state="",
                    action=action,
                    result=result,
                    words="",
                )
            )
            path = to or path
        return made

    return asyncio.run(run())
