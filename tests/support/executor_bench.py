"""An executor on the fixture pages that finds elements by name."""

from __future__ import annotations

from app.engine.browser.executor import Executor, ExecutorOptions
from app.engine.browser.session import BrowserSession
from app.engine.core.action_result import ActionResult
from app.engine.core.actions.types import Action
from app.engine.core.page_state import Element, PageCapture
from app.engine.core.write_permit import WritePermit

SWIFT = ExecutorOptions(quiet=0.08)
"""The fixture pages are idle at once."""


class Bench:
    """One executor on one site."""

    def __init__(self, executor: Executor, home: str, other: str) -> None:
        self.executor = executor
        self.home = home
        self.other = other

    @property
    def tab(self) -> BrowserSession:
        return self.executor.session

    async def at(self, path: str) -> PageCapture:
        """Open a page of the site without the executor, and capture it."""
        await self.tab.page.goto(self.home + path)
        return await self.look()

    async def look(self) -> PageCapture:
        return await self.executor.look(picture=False)

    def find(self, name: str, role: str = "", frame: tuple[str, ...] | None = None) -> Element:
        """Return the first element of this name on the last capture."""
        for element in self.executor.page.elements:
            if element.name == name and role in ("", element.role) and frame in (None, element.frame):
                return element
        raise AssertionError(f"no {name!r} in\n{self.executor.page.tree}")

    def number(self, name: str, role: str = "", frame: tuple[str, ...] | None = None) -> int:
        return self.find(name, role, frame).index

    async def do(self, action: Action, permit: WritePermit | None = None) -> ActionResult:
        """Perform an action, and capture again."""
        result = await self.executor.do(action, permit)
        await self.look()
        return result

    async def title(self) -> str:
        return await self.tab.page.title()

    async def text(self, selector: str) -> str:
        return await self.tab.page.locator(selector).inner_text()

    async def value(self, selector: str) -> str:
        return await self.tab.page.locator(selector).input_value()
