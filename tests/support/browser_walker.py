"""Walks a site as an agent does: looks, finds an element by role and name, acts on its id."""

from __future__ import annotations

from app.engine.browser.capture.snapshot import capture
from app.engine.browser.scripted_actions import perform
from app.engine.browser.session import BrowserSession
from app.engine.core.actions.recorded import ArgValue, RecordedAction
from app.engine.core.ax_tree import AxNode, content_key, parse_tree
from app.engine.core.page_state import PageCapture


class Walker:
    """``do`` returns the error, empty when the action was done."""

    def __init__(self, tab: BrowserSession) -> None:
        self.tab = tab

    @property
    def path(self) -> str:
        return "/" + self.tab.page.url.split("/", 3)[3]

    async def go(self, url: str) -> None:
        done = await perform(self.tab, RecordedAction(kind="goto", args={"url": url}), settle=0.05)
        assert done.error == ""

    async def look(self) -> PageCapture:
        return await capture(self.tab, picture=False)

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

    async def do(
        self, kind: str, role: str = "", name: str = "", /, settle: float = 0.1, **args: ArgValue
    ) -> str:
        target = {"bid": await self.bid(role, name)} if role else {}
        done = await perform(
            self.tab, RecordedAction(kind=kind, args={**target, **args}), timeout=0.5, settle=settle
        )
        return done.error
