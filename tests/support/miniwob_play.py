"""Helpers for scripts of MiniWoB++ tasks: find an element as an agent sees it, act, look again."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from app.engine.browser.executor import Executor
from app.engine.core.action_result import ActionResult
from app.engine.core.actions.types import Action, Click, Press, Select, SetChecked, SetSlider, TypeText, Wait
from app.engine.core.page_state import Element, PageCapture
from tests.support.miniwob import Episode

Script = Callable[["Play"], Awaitable[None]]
SCRIPTS: dict[str, Script] = {}
"""By the name of their task."""


def plays(*tasks: str) -> Callable[[Script], Script]:
    """Say which tasks a script does."""

    def keep(script: Script) -> Script:
        SCRIPTS.update(dict.fromkeys(tasks, script))
        return script

    return keep


@dataclass
class Play:
    """One episode as an agent plays it: it sees captures and acts by commands, nothing else."""

    executor: Executor
    episode: Episode
    results: list[tuple[Action, ActionResult]] = field(default_factory=list[tuple[Action, ActionResult]])

    @property
    def page(self) -> PageCapture:
        return self.executor.page

    @property
    def goal(self) -> str:
        return self.episode.utterance

    @property
    def quoted(self) -> list[str]:
        """Return the quoted texts of the goal."""
        return re.findall(r'"([^"]*)"', self.goal)

    async def look(self) -> PageCapture:
        return await self.executor.look(picture=False)

    async def do(self, *commands: Action) -> ActionResult:
        """Do commands on the page as it was looked at last, then look again; a refusal ends the play."""
        result = None
        for command in commands:
            result = await self.executor.do(command)
            self.results.append((command, result))
            assert result.effect != "refused", f"{command}: {result.why} {result.alternatives}"
        assert result is not None
        await self.look()
        return result

    async def attempt(self, action: Action) -> bool:
        """Do a command that may be refused; whether it was done."""
        result = await self.executor.do(action)
        self.results.append((action, result))
        await self.look()
        return result.success

    def all(self, role: str = "", name: str | None = None, **attributes: str) -> list[Element]:
        """Visible elements of a role, name and attributes; a name is matched as a whole."""
        return [
            element
            for element in self.page.elements
            if element.visible
            and (not role or element.role in role.split())
            and (name is None or name in (element.name, element.text))
            and all(value in dict(element.attributes).get(key, "") for key, value in attributes.items())
        ]

    def one(self, role: str = "", name: str | None = None, nth: int = 0, **attributes: str) -> int:
        """Number of the element so described."""
        found = self.all(role, name, **attributes)
        assert len(found) > nth, f"no {role} {name!r} {attributes} on\n{self.page.tree}"
        return found[nth].index

    def has(self, role: str = "", name: str | None = None, **attributes: str) -> bool:
        return bool(self.all(role, name, **attributes))

    async def click(
        self, name: str | None = None, role: str = "", nth: int = 0, **attributes: str
    ) -> ActionResult:
        return await self.do(Click(self.one(role, name, nth, **attributes)))

    async def type(self, text: str, nth: int = 0, name: str | None = None, **attributes: str) -> ActionResult:
        return await self.do(
            TypeText(self.one("textbox searchbox spinbutton", name, nth, **attributes), text)
        )

    async def check(self, name: str, *, on: bool = True) -> ActionResult:
        return await self.do(SetChecked(self.one("checkbox radio", name), on))

    async def choose(self, *options: str, nth: int = 0) -> ActionResult:
        return await self.do(Select(self.one("combobox listbox", nth=nth), options))

    async def slide(self, value: float, nth: int = 0) -> ActionResult:
        return await self.do(
            SetSlider(self.one("slider generic", nth=nth, **{"class": "ui-slider-handle"}), value)
        )

    async def press(self, keys: str) -> ActionResult:
        return await self.do(Press(keys))

    async def wait(self, seconds: float) -> ActionResult:
        return await self.do(Wait(seconds))

    async def submit(self, name: str = "Submit") -> ActionResult:
        return await self.click(name, "button")


def middle(element: Element) -> tuple[float, float]:
    """Of an element's box."""
    assert element.rect is not None
    left, top, width, height = element.rect
    return left + width / 2, top + height / 2
