"""A browser that is none: pages by address, links that lead on; for tests of the loop and of policies."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from app.engine.core.action_result import ActionResult, Cause, Effect, refused
from app.engine.core.actions.types import Action, Click, GoBack, Goto, TypeText
from app.engine.core.observation import AgentDecision, Observation
from app.engine.core.page_state import Challenge, Element, PageCapture
from app.engine.core.trajectory import Run, Step, Tab
from app.engine.core.write_permit import WritePermit
from app.errors import SiteloreError

HOME = "http://shop.example/"


def page_of(
    url: str, *names: str, title: str = "", text: str = "", challenge: Challenge = Challenge.NONE
) -> PageCapture:
    """A page of links (``name -> address`` in a name leads there) and text boxes (``box:name``)."""
    elements: list[Element] = []
    lines: list[str] = []
    for index, name in enumerate(names):
        kind = next((kind for kind in ("box", "secret") if name.startswith(f"{kind}:")), "")
        label = name.removeprefix(f"{kind}:")
        said, _, href = label.partition("->")
        role = "textbox" if kind else "link"
        secret = kind == "secret"
        elements.append(
            Element(
                index=index,
                role=role,
                name=said.strip(),
                tag="input" if kind else "a",
                type="password" if secret else "",
                href=href.strip(),
                rect=(10.0, 10.0 + 30 * index, 100.0, 20.0),
            )
        )
        lines.append(f"[{index}] {role} {said.strip()!r}")
    return PageCapture(
        url=url,
        title=title or url,
        elements=tuple(elements),
        tree="\n".join(
            [f"RootWebArea {title or url!r}", *(f"\t{line}" for line in lines), f"\tStaticText {text!r}"]
        ),
        text=text,
        viewport=(1280, 800),
        challenge=challenge,
    )


@dataclass
class FakeExecutor:
    """``Hands`` over pages by address; ``break_at`` are looks (from 0) that find no page."""

    pages: Mapping[str, PageCapture]
    break_at: frozenset[int] = frozenset()
    url: str = "about:blank"
    looks: int = 0
    done: list[Action] = field(default_factory=list[Action])
    typed: dict[int, str] = field(default_factory=dict[int, str])
    solve: Callable[[], None] | None = None
    permits: list[WritePermit | None] = field(default_factory=list["WritePermit | None"])

    async def look(self, *, picture: bool = True) -> PageCapture:
        self.looks += 1
        if self.looks - 1 in self.break_at:
            raise SiteloreError("the page's renderer crashed")
        if self.url not in self.pages:
            raise SiteloreError("there is no page")
        page = self.pages[self.url]
        if not self.typed:
            return page
        tree = page.tree
        for number, text in self.typed.items():
            tree = tree.replace(f"[{number}] textbox", f"[{number}] textbox value={text!r}")
        return replace(page, tree=tree)

    async def do(self, action: Action, permit: WritePermit | None = None) -> ActionResult:
        self.done.append(action)
        self.permits.append(permit)
        match action:
            case Goto(url):
                return self._go(url)
            case GoBack():
                return self._go(HOME)
            case TypeText(element, text):
                self.typed[element] = text
                return ActionResult(success=True, effect=Effect.CHANGED)
            case Click(element) if element < len(self.pages[self.url].elements):
                href = self.pages[self.url].elements[element].href
                if href:
                    return self._go(href)
                return ActionResult(
                    success=False, effect=Effect.NOTHING, cause=Cause.NO_EFFECT, why="nothing happened"
                )
            case _:
                return refused(Cause.MISSING, "there is no such element")

    async def tabs(self) -> tuple[tuple[Tab, ...], int]:
        return (Tab(url=self.url, title=self.url),), 0

    def _go(self, url: str) -> ActionResult:
        if url not in self.pages:
            return refused(Cause.NETWORK, f"{url} does not answer")
        self.url, self.typed = url, {}
        return ActionResult(success=True, effect=Effect.NAVIGATED, status=200)


class ScriptedPolicy:
    """Makes these decisions in order; a callable decides by what it sees."""

    name = "scripted"

    def __init__(
        self, moves: Sequence[Action | AgentDecision | Callable[[Observation], AgentDecision]]
    ) -> None:
        self.moves, self.seen = list(moves), list[Observation]()

    async def decide(self, sight: Observation) -> AgentDecision:
        self.seen.append(sight)
        move = self.moves[min(len(self.seen), len(self.moves)) - 1]
        if isinstance(move, AgentDecision):
            return move
        return move(sight) if callable(move) else AgentDecision(action=move, reason="because")

    async def aclose(self) -> None:
        return None


@dataclass
class InMemoryRecorder:
    """A ``Recorder`` in memory."""

    steps: list[Step] = field(default_factory=list[Step])
    blobs: dict[str, bytes] = field(default_factory=dict[str, bytes])
    ended: Run | None = None

    async def append(self, step: Step, blobs: Mapping[str, bytes]) -> None:
        self.steps.append(step)
        self.blobs.update(blobs)

    async def finish(self, run: Run, blobs: Mapping[str, bytes]) -> None:
        self.ended = run
        self.blobs.update(blobs)

    def everything(self) -> str:
        """All that was kept, as one text."""
        return repr(self.steps) + repr(self.ended) + "".join(map(repr, self.blobs.values()))
