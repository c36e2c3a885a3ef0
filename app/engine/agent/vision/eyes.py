"""The agent's eyes: when to look again, what is shown to the policy, and what a mark it points at stands for.

The list of marks that was shown last is frozen: ``[V3]`` is resolved against it, whatever was seen since.  On a page
that has changed meanwhile a mark is found again by what its element is, or by its label among the newer marks, or
refused; never by its old place.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from app.engine.agent.gate import HARD, SOFT, Drift, Gate, Way, drift, gate
from app.engine.agent.model_api import ModelError, ModelTrouble
from app.engine.agent.vision.answers import UnreadableAnswer
from app.engine.agent.vision.epoch import Epoch
from app.engine.agent.vision.looking import Aim, Looker
from app.engine.agent.vision.pointing import Place, Pointed, by_name, found_again, is_called, pointed, unlike
from app.engine.agent.vision.prefetch import Prefetch, Spawn
from app.engine.command import ClickMark, Command, Point, TypeMark, elements_of
from app.engine.effect import Cause, Effect, Result, refused
from app.engine.fingerprint import Prints, prints_of
from app.engine.page_state import PageCapture

LAG = "[vision_lag]"
"""Said of an action that went by a look older than the page."""
REMEMBERED = 20
"""Epochs kept for pages that are come back to."""
STALE = 60.0
"""Seconds after which an epoch is not gone by, however much alike the page is: pixels may have changed alone."""
HOPELESS = frozenset({ModelTrouble.UNAUTHORISED, ModelTrouble.NO_MODEL, ModelTrouble.BUDGET})
"""Troubles that asking once more does not mend."""

Under = Callable[[PageCapture, Sequence[Point]], Awaitable[Mapping[Point, Sequence[int]]]]
"""What lies under points of the page in front (``app.engine.browser.points.under``)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedMark:
    """What a command came to.

    Attributes:
        command: one that names an element or a point; ``None`` where there is none.
        refusal: why there is none.
        notes: for the action's result: ``[vision_lag]``, another label than expected.
        perceptions: looks that this command had to wait for or ask for.
        gate: the way it went.
    """

    command: Command | None
    refusal: Result | None = None
    notes: tuple[str, ...] = ()
    perceptions: int = 0
    gate: Gate = field(default_factory=lambda: Gate(way=Way.PROCEDURAL))


class Eyes:
    """One session's vision.

    Attributes:
        epoch: the newest look; ``None`` before the first.
        shown: the look whose marks the policy knows.
        last: what the last command came to.
        trouble: why there is no newer look, "" if there is.
    """

    def __init__(
        self,
        looker: Looker,
        *,
        spawn: Spawn,
        under: Under | None = None,
        clock: Callable[[], float] = time.monotonic,
        soft: float = SOFT,
        hard: float = HARD,
    ) -> None:
        self._looker = looker
        self._under = under
        self._clock = clock
        self._soft, self._hard = soft, hard
        self._aim = Aim()
        self._kept: OrderedDict[tuple[str, ...], Epoch] = OrderedDict()
        self._acted: set[str] = set()
        self._prefetch = Prefetch(self._look, self._arrived, spawn)
        self._printed: tuple[PageCapture, Prints] | None = None
        self.epoch: Epoch | None = None
        self.shown: Epoch | None = None
        self.last: ResolvedMark | None = None

    @property
    def perceptions(self) -> int:
        """Passes of the vision model so far."""
        return self._looker.count

    @property
    def trouble(self) -> str:
        """Why the last look brought nothing."""
        return self._prefetch.trouble

    def aim(self, task: str = "", subgoal: str = "", labels: Sequence[str] = ()) -> None:
        """What the agent is after; the looks from now on go by it."""
        self._aim = Aim(task=task, subgoal=subgoal, labels=tuple(labels))

    def after(self, page: PageCapture) -> None:
        """The page as it is after an action: look at it in the background if it has drifted from the newest look."""
        if not page.picture or self._holds(page) or self._coming(page) or self._recall(page):
            return
        if self._prefetch.error is None or self._prefetch.error.trouble not in HOPELESS:
            self._prefetch.start(page)

    async def show(self, page: PageCapture) -> Epoch | None:
        """The look to show to the policy, which is what its marks will be resolved against.

        On a page that was never seen the look is waited for; on one that has changed for a moment only, and the look
        before is shown.  ``None`` where nothing could be seen of this address (``trouble`` says why).

        Raises:
            ModelError: the run's budget is used up.
        """
        self.after(page)
        known = self.epoch is not None and self.epoch.page.url == page.url
        if self._prefetch.pending:
            await self._prefetch.wait(self._soft if known else self._hard)
        self._raise_if_spent()
        newest = self.epoch
        if newest is None or newest.page.url != page.url:
            self.shown = None
        else:
            lag = "" if self._holds(page) else f"{LAG} the page has changed since it was looked at"
            self.shown = replace(newest, lag=lag)
        return self.shown

    def drifted(self, page: PageCapture) -> Drift | None:
        """What has changed since the newest look; ``None`` where there is none that can be gone by."""
        epoch = self.epoch
        if epoch is None or self._clock() - epoch.at > STALE:
            return None
        return drift(page, self._prints_of(page), epoch.page, epoch.prints)

    async def resolve(self, command: Command, page: PageCapture) -> tuple[Command | None, Result | None]:
        """The command as the hand can do it on this page, with what is to be said of it; or why it can't be done.

        A command that names an element goes through as it is, after the wait that the gate asks for.

        Raises:
            ModelError: the run's budget is used up.
        """
        self.last = last = await self.resolved(command, page)
        self._acted.add(page.url)
        if last.refusal is not None:
            return None, replace(last.refusal, perceptions=last.perceptions)
        if not last.notes and not last.perceptions:
            return last.command, None
        said = Result(success=True, effect=Effect.NOTHING, notes=last.notes, perceptions=last.perceptions)
        return last.command, said

    async def resolved(self, command: Command, page: PageCapture) -> ResolvedMark:
        """The same with its notes, and what it cost."""
        passes = self.perceptions
        critical = self._matters(command, page)
        way = gate(command, self.drifted(page), pending=self._prefetch.pending, critical=critical)
        notes: tuple[str, ...] = ()
        if way.way is Way.WAIT:
            fresh = await self._prefetch.wait(self._hard if critical else self._soft)
            self._raise_if_spent()
            notes = () if fresh else (f"{LAG} the page has changed since it was looked at ({way.why})",)
        if not isinstance(command, ClickMark | TypeMark):
            return ResolvedMark(command=command, notes=notes, gate=way, perceptions=self.perceptions - passes)
        found = await self._point(command, page)
        if isinstance(found, Result):
            return ResolvedMark(command=None, refusal=found, gate=way, perceptions=self.perceptions - passes)
        return ResolvedMark(
            command=found.command,
            refusal=found.refusal,
            notes=(*notes, *found.notes),
            perceptions=self.perceptions - passes,
            gate=way,
        )

    async def aclose(self) -> None:
        """Give up what is under way."""
        await self._prefetch.aclose()

    async def _point(self, command: ClickMark | TypeMark, page: PageCapture) -> Pointed | Result:
        """What the mark stands for on the page as it is."""
        shown = self.shown or self.epoch
        if shown is None:
            return refused(
                Cause.MISSING,
                f"nothing was seen yet, so there is no mark {command.mark}{self._because()}",
                "name an element by its number instead",
            )
        mark = shown.mark(command.mark)
        if mark is None:
            numbers = f"1 to {len(shown.marks)}" if shown.marks else "none"
            return refused(Cause.MISSING, f"there is no mark {command.mark}; there are {numbers}")
        label = command.label if isinstance(command, ClickMark) and command.label else mark.label
        prints = self._prints_of(page)
        place = found_again(mark, shown, page, prints, self.epoch)
        if place is None:
            fresh = await self._fresh(page)
            place = found_again(mark, shown, page, prints, fresh) if fresh is not None else None
        if place is None:
            return refused(
                Cause.STALE,
                f"[V{mark.number}] '{mark.label}' is not where it was seen, the page has changed"
                + self._because(),
                "look at the new marks",
            )
        if label != mark.label and not is_called(mark, label):
            other = await self._called(label, mark.number, shown, page)
            if other is not None:
                return other
            place = Place(place.box)
        found = await pointed(command, mark, place, label, page, self._under)
        return unlike(found, mark, label, page)

    async def _called(
        self, label: str, number: int, shown: Epoch, page: PageCapture
    ) -> Pointed | Result | None:
        """Where the label belongs to something else than the mark: that, or a refusal that names it."""
        others = [mark for mark in shown.marks if mark.number != number and is_called(mark, label)]
        if len(others) == 1:
            return refused(
                Cause.AMBIGUOUS,
                f"[V{number}] is not '{label}'",
                f"'{label}' is [V{others[0].number}]",
            )
        named = by_name(label, page)
        if named is not None:
            return Pointed(command=named, notes=(f"'{label}' was taken by its name, not by [V{number}]",))
        if others or not page.picture or label.casefold() not in page.text.casefold():
            return None
        covered = await self._cover(label, shown, page)
        fits = [mark for mark in covered.marks if is_called(mark, label)] if covered is not None else []
        if covered is None or len(fits) != 1:
            return None
        found = await pointed(
            ClickMark(fits[0].number, label),
            fits[0],
            Place(fits[0].box, fits[0].element),
            label,
            page,
            self._under,
        )
        return unlike(found, fits[0], label, page)

    async def _cover(self, label: str, epoch: Epoch, page: PageCapture) -> Epoch | None:
        """The coverage pass; what it finds is the newest look from then on."""
        try:
            covered = await self._looker.cover(
                page, Aim(task=self._aim.task, subgoal=self._aim.subgoal, labels=(label,)), epoch
            )
        except (ModelError, UnreadableAnswer) as error:
            if isinstance(error, ModelError) and error.trouble is ModelTrouble.BUDGET:
                raise
            return None
        self._arrived(covered)
        return covered

    async def _fresh(self, page: PageCapture) -> Epoch | None:
        """A look at the page as it is, waited for."""
        if not self._holds(page) and page.picture:
            self.after(page)
            await self._prefetch.wait(self._hard)
            self._raise_if_spent()
        return self.epoch if self._holds(page) else None

    async def _look(self, page: PageCapture) -> Epoch:
        return await self._looker.look(page, self._aim, self.epoch)

    def _arrived(self, epoch: Epoch) -> None:
        if self.epoch is not None and self.epoch.number > epoch.number:
            return
        self.epoch = epoch
        self._kept[_key(epoch)] = epoch
        while len(self._kept) > REMEMBERED:
            self._kept.popitem(last=False)

    def _holds(self, page: PageCapture) -> bool:
        changed = self.drifted(page)
        return changed is not None and changed.within()

    def _coming(self, page: PageCapture) -> bool:
        """Whether just this page is being looked at."""
        looked_at = self._prefetch.page
        if looked_at is None or looked_at is page:
            return looked_at is page
        return drift(page, self._prints_of(page), looked_at, prints_of(looked_at)).within()

    def _recall(self, page: PageCapture) -> bool:
        """Whether an earlier look was at just this page, a short while ago; it is the newest then."""
        prints = self._prints_of(page)
        for epoch in reversed(self._kept.values()):
            young = self._clock() - epoch.at <= STALE
            if young and drift(page, prints, epoch.page, epoch.prints).within():
                self._prefetch.cancel()
                self.epoch = epoch
                return True
        return False

    def _matters(self, command: Command, page: PageCapture) -> bool:
        """Whether it sends a form on a page that was never acted on."""
        if page.url in self._acted:
            return False
        numbers = elements_of(command)
        if isinstance(command, ClickMark | TypeMark):
            shown = self.shown or self.epoch
            mark = shown.mark(command.mark) if shown is not None else None
            return (
                mark is not None
                and mark.element is not None
                and shown is not None
                and (shown.page.elements[mark.element].submits)
            )
        return any(0 <= number < len(page.elements) and page.elements[number].submits for number in numbers)

    def _prints_of(self, page: PageCapture) -> Prints:
        """The page's fingerprints; it is asked about several times before the next look."""
        if self._printed is None or self._printed[0] is not page:
            self._printed = (page, prints_of(page))
        return self._printed[1]

    def _because(self) -> str:
        return f" ({self.trouble})" if self.trouble else ""

    def _raise_if_spent(self) -> None:
        error = self._prefetch.error
        if error is not None and error.trouble is ModelTrouble.BUDGET:
            raise error


def _key(epoch: Epoch) -> tuple[str, ...]:
    prints = epoch.prints
    return (
        epoch.page.url,
        prints.elements.digest,
        prints.text.digest,
        prints.frames.digest,
        prints.scroll.digest,
    )
