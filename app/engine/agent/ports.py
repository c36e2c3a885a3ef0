"""What the loop needs of the world: hands, a knowledge base, graphs to navigate by, a person, a place to write to."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from app.engine.agent.sight import Domain, Hint
from app.engine.command import Command, Navigate
from app.engine.effect import Result
from app.engine.hand_back import Said
from app.engine.intervention_policy import Answer, Reaction, RiskClass
from app.engine.judgement import Flag
from app.engine.page_state import PageCapture
from app.engine.supervision import Deed, PersonDecision, PersonHint, PersonRequest
from app.engine.trajectory import Run, Step, Tab
from app.engine.write_permit import WritePermit


class Hands(Protocol):
    """One visit of a browser, looked at and operated (``app.engine.browser.executor``)."""

    async def look(self, *, picture: bool = True) -> PageCapture:
        """The page in front as it is now.  Raises ``SiteloreError`` where there is none."""
        ...

    async def do(self, command: Command, permit: WritePermit | None = None) -> Result:
        """Do one action on the page looked at last; what a site does comes back as a result.

        ``permit`` says what may be written meanwhile; without one only reading leaves a guarded browser.
        """
        ...

    async def tabs(self) -> tuple[tuple[Tab, ...], int]:
        """Every open tab, and which is in front."""
        ...


class Marks(Protocol):
    """Turns what a vision model pointed at into an element or a point (``app.engine.agent.vision``)."""

    async def resolve(self, command: Command, page: PageCapture) -> tuple[Command | None, Result | None]:
        """A command that names an element or a point; or why there is none."""
        ...


class Knowledge(Protocol):
    """The AKB as an agent may ask it."""

    async def tips(self, url: str, goal: str) -> tuple[Hint, ...]:
        """Tips for a page and a goal, best first, within the budget of tokens."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Travelled:
    """What came of a ``Navigate``: the result for the agent, and how the target was chosen, for a person."""

    result: Result
    node: str = ""
    candidates: tuple[str, ...] = ()
    legs: tuple[str, ...] = ()
    arrival: str = ""


class Navigator(Protocol):
    """Retrieve-Reason-Teleport over the interaction graphs."""

    def domains(self) -> tuple[Domain, ...]:
        """Sites that can be navigated by."""
        ...

    async def navigate(
        self, command: Navigate, intent: str, gate: Callable[[], Awaitable[None]] | None = None
    ) -> Travelled:
        """Be taken to the state that fits the query; the arrival is verified and told as it is.

        ``gate`` is passed once the state is chosen, right before the page is touched.
        """
        ...


class Person(Protocol):
    """Whoever supervises the run."""

    async def ask(self, question: str, step: int) -> str | None:
        """The answer, or ``None`` when nobody is there."""
        ...


class DeskPort(Protocol):
    """What a supervised run asks and is told, as rows that survive it; the same for every process of a workspace.

    Every method may raise ``StoreError``: the rows can't be read or written.
    """

    async def open(self, request: PersonRequest) -> PersonRequest:
        """A request to a person, written down when this returns; whoever watches is told of it."""
        ...

    async def pending(self) -> tuple[PersonRequest, ...]:
        """Requests of this run that are open, or decided and not closed: left by a process that died."""
        ...

    async def decision(self, request_id: str) -> PersonDecision:
        """Wait until a person has decided, in whichever process."""
        ...

    async def word(self) -> Said:
        """What a person has said of the run as a whole, before it broke off too."""
        ...

    async def void(self, request_id: str, why: str) -> None:
        """A request (open or decided) has become pointless: it is closed without a step that goes by it."""
        ...

    async def begun(self, step: int) -> None:
        """The step that goes by them begins: decided requests are closed, hints not taken yet are marked taken."""
        ...

    async def hints(self) -> tuple[PersonHint, ...]:
        """All hints of this run, the oldest first, those that were taken already too."""
        ...

    async def note(self, deed: Deed, step: int, words: str, about: str = "", author: str = "") -> None:
        """Something for the time line: what the policy, the watchdog or the agent did.

        A person's own deeds are written down where they are asked for.
        """
        ...

    async def answer(self, risk: RiskClass) -> Answer:
        """Whether an action of this class may be done, by the approvals that stand and by the policy."""
        ...

    async def widened(self, risk: RiskClass) -> bool:
        """Whether a person allowed every action of this class for the run or its site, asked for by the task or not."""
        ...

    async def reaction(self, flag: Flag) -> Reaction:
        """What the policy says to a flag."""
        ...


class Recorder(Protocol):
    """Where the run is written."""

    async def append(self, step: Step, blobs: Mapping[str, bytes]) -> None:
        """One step with the contents it names; it is on the disk when this returns."""
        ...

    async def finish(self, run: Run, blobs: Mapping[str, bytes]) -> None:
        """The run is over."""
        ...


class Watching(Protocol):
    """The rule detectors over the run as it goes."""

    def see(self, step: Step) -> list[Flag]:
        """Flags that this step raised."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What the loop tells whoever watches, after each step."""

    run: str
    step: int
    words: str
    effect: str
    why: str = ""
    url: str = ""
    plan: str = ""
    flags: tuple[Flag, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """What is to be done.  ``domains`` are hosts (``host:port``) that the agent may be on; none means any.

    ``home`` is the address that page states are named against: the graph's home, else where the run starts.
    """

    run: str
    intent: str
    start_url: str
    home: str = ""
    site: str = ""
    suite: str = ""
    task_id: str = ""
    domains: frozenset[str] = field(default_factory=frozenset[str])
    max_steps: int = 30
    policy: str = ""
    model: str = ""
    knowledge: str = ""
    graph: str = ""
