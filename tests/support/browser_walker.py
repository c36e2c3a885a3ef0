"""Walks a site as an agent does: looks, finds an element by role and name, acts on its id."""

from __future__ import annotations

from app.engine.browser.graph_operations import graph_executor
from app.engine.browser.page_loading import open_page
from app.engine.browser.session import BrowserSession
from app.engine.core.action_result import Effect
from app.engine.core.actions.recorded import ArgValue, RecordedAction, from_recorded
from app.engine.core.ax_tree import AxNode, content_key, parse_tree
from app.engine.core.page_state import PageCapture


class Walker:
    """``do`` returns the error, empty when the action was done."""

    def __init__(self, tab: BrowserSession) -> None:
        self.tab = tab
        self.executor = graph_executor(tab)

    @property
    def path(self) -> str:
        return "/" + self.tab.page.url.split("/", 3)[3]

    async def go(self, url: str) -> None:
        done = await open_page(self.tab, url)
        assert done.error == ""

    async def look(self) -> PageCapture:
        return await self.executor.capture(picture=False)

    async def state(self) -> str:
        return content_key((await self.look()).tree)

    async def nodes(self) -> list[AxNode]:
        return parse_tree((await self.look()).tree)

    async def names(self, role: str) -> list[str]:
        return [node.name for node in await self.nodes() if node.role == role]

    async def bid(self, role: str, name: str) -> str:
        found = [node.bid for node in await self.nodes() if (node.role, node.name) == (role, name)]
        assert found, f"no {role} {name!r} on {self.tab.page.url}"
        return found[0]

    async def do(self, kind: str, role: str = "", name: str = "", /, **args: ArgValue) -> str:
        target = {"bid": await self.bid(role, name)} if role else {}
        action = from_recorded(RecordedAction(kind=kind, args={**target, **args}))
        assert action is not None
        result = await self.executor.do(action)
        return result.why if result.effect is Effect.REFUSED else ""
