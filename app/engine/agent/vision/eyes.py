"""Vision of a session: when to look again, which frame the policy is shown, and how its marks are resolved.

The marks that were shown last are fixed: ``[V3]`` is resolved against them, whatever was seen since. On a page that has
changed meanwhile a mark is found again by its element, or by its label among the newer marks, or refused; never by its
old position.
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
"""Note on an action that relied on a frame older than the page."""
REMEMBERED = 20
"""Frames kept for pages that are revisited."""
STALE = 60.0
"""Seconds after which a frame is not used, however similar the page is: pixels may have changed alone."""
HOPELESS = frozenset({ModelTrouble.UNAUTHORISED, ModelTrouble.NO_MODEL, ModelTrouble.BUDGET})
"""Troubles that a retry does not solve."""

Under = Callable[[PageCapture, Sequence[Point]], Awaitable[Mapping[Point, Sequence[int]]]]
"""Returns the elements under points of the front page (``app.engine.browser.points.under``)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedMark:
    """An action with its mark resolved.

    Attributes:
        command: one that names an element or a point; ``None`` where there is none.
        refusal: why there is none.
        notes: for the action's result: ``[vision_lag]``, another label than expected.
        perceptions: vision passes that this action waited for or caused.
        gate: the gate's decision.
    """

    command: Command | None
    refusal: Result | None = None
    notes: tuple[str, ...] = ()
    perceptions: int = 0
    gate: Gate = field(default_factory=lambda: Gate(way=Way.PROCEDURAL))


class Eyes:
    """Vision of one session.

    Attributes:
        epoch: the newest frame; ``None`` before the first.
        shown: the frame whose marks the policy knows.
        last: the last resolved action.
        trouble: why there is no newer frame, "" if there is.
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
        """Why the last pass brought nothing."""
        return self._prefetch.trouble

    def aim(self, task: str = "", subgoal: str = "", labels: Sequence[str] = ()) -> None:
        """Set task, subgoal and expected labels for the next passes."""
        self._aim = Aim(task=task, subgoal=subgoal, labels=tuple(labels))

    def after(self, page: PageCapture) -> None:
        """Look at the page after an action in the background, if it has drifted from the newest frame."""
        if not page.picture or self._holds(page) or self._coming(page) or self._recall(page):
            return
        if self._prefetch.error is None or self._prefetch.error.trouble not in HOPELESS:
            self._prefetch.start(page)

    async def show(self, page: PageCapture) -> Epoch | None:
        """Return the frame to show to the policy; its marks will be resolved against it.

        On a page that was never seen the pass is waited for; on one that has changed only for a moment, and the
        previous frame is shown. ``None`` where nothing could be seen of this address (``trouble`` says why).

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
        """Return the changes since the newest frame; ``None`` where there is none young enough."""
        epoch = self.epoch
        if epoch is None or self._clock() - epoch.at > STALE:
            return None
        return drift(page, self._prints_of(page), epoch.page, epoch.prints)

    async def resolve(self, command: Command, page: PageCapture) -> tuple[Command | None, Result | None]:
        """Return the action as the executor can do it on this page and notes for its result; or a refusal.

        An action that names an element passes unchanged, after the wait that the gate asks for.

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
        """Resolve an action, with its notes and its cost."""
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
        """Cancel what is in progress."""
        await self._prefetch.aclose()

    async def _point(self, command: ClickMark | TypeMark, page: PageCapture) -> Pointed | Result:
        """Resolve a mark on the current page."""
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
        """Handle a label that fits another thing than the mark: resolve that, or refuse and name it."""
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
        """Run the coverage pass; its result becomes the newest frame."""
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
        """Look at the current page and wait for it."""
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
        """Whether a pass over this very page is in progress."""
        looked_at = self._prefetch.page
        if looked_at is None or looked_at is page:
            return looked_at is page
        return drift(page, self._prints_of(page), looked_at, prints_of(looked_at)).within()

    def _recall(self, page: PageCapture) -> bool:
        """Reuse a recent frame of this very page; return whether there is one."""
        prints = self._prints_of(page)
        for epoch in reversed(self._kept.values()):
            young = self._clock() - epoch.at <= STALE
            if young and drift(page, prints, epoch.page, epoch.prints).within():
                self._prefetch.cancel()
                self.epoch = epoch
                return True
        return False

    def _matters(self, command: Command, page: PageCapture) -> bool:
        """Whether an action submits a form on a page that was never acted on."""
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
        """Return the page's fingerprints; cached, they are needed several times before the next capture."""
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
