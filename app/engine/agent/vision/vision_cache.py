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

from app.engine.agent.vision.answers import UnreadableAnswer
from app.engine.agent.vision.freshness import (
    HARD_WAIT,
    SOFT_WAIT,
    Freshness,
    GroundingMode,
    PageDrift,
    check_freshness,
    page_drift,
)
from app.engine.agent.vision.mark_resolution import (
    MarkLocation,
    MarkTarget,
    click_by_name,
    locate_mark,
    matches_label,
    resolve_mark,
    with_label_note,
)
from app.engine.agent.vision.prefetch import Prefetch, Spawn
from app.engine.agent.vision.vision_client import VisionClient, VisionFocus
from app.engine.agent.vision.vision_frame import VisionFrame
from app.engine.core.action_result import ActionResult, Cause, Effect, refused
from app.engine.core.actions.types import Action, ClickMark, Point, TypeMark, elements_of
from app.engine.core.fingerprint import Fingerprints, fingerprints_of
from app.engine.core.model_api import ModelError, ModelErrorKind
from app.engine.core.page_state import PageCapture

LAG_NOTE = "[vision_lag]"
"""Note on an action that relied on a frame older than the page."""
MAX_FRAMES = 20
"""Frames kept for pages that are revisited."""
MAX_FRAME_AGE = 60.0
"""Seconds after which a frame is not used, however similar the page is: pixels may have changed alone."""
PERMANENT_TROUBLES = frozenset({ModelErrorKind.UNAUTHORISED, ModelErrorKind.NO_MODEL, ModelErrorKind.BUDGET})
"""Troubles that a retry does not solve."""

ElementsUnder = Callable[[PageCapture, Sequence[Point]], Awaitable[Mapping[Point, Sequence[int]]]]
"""Returns the elements under points of the front page (``app.engine.browser.capture.hit_testing.elements_at``)."""


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

    action: Action | None
    refusal: ActionResult | None = None
    notes: tuple[str, ...] = ()
    perceptions: int = 0
    gate: Freshness = field(default_factory=lambda: Freshness(mode=GroundingMode.PROCEDURAL))


class VisionCache:
    """Vision of one session.

    Attributes:
        frame: the newest frame; ``None`` before the first.
        shown: the frame whose marks the policy knows.
        last: the last resolved action.
        trouble: why there is no newer frame, "" if there is.
    """

    def __init__(
        self,
        client: VisionClient,
        *,
        spawn: Spawn,
        under: ElementsUnder | None = None,
        clock: Callable[[], float] = time.monotonic,
        soft: float = SOFT_WAIT,
        hard: float = HARD_WAIT,
    ) -> None:
        self._client = client
        self._under = under
        self._clock = clock
        self._soft, self._hard = soft, hard
        self._focus = VisionFocus()
        self._kept: OrderedDict[tuple[str, ...], VisionFrame] = OrderedDict()
        self._acted: set[str] = set()
        self._prefetch = Prefetch(self._look, self._arrived, spawn)
        self._printed: tuple[PageCapture, Fingerprints] | None = None
        self.frame: VisionFrame | None = None
        self.shown: VisionFrame | None = None
        self.last: ResolvedMark | None = None

    @property
    def perceptions(self) -> int:
        """Passes of the vision model so far."""
        return self._client.count

    @property
    def trouble(self) -> str:
        """Why the last pass brought nothing."""
        return self._prefetch.trouble

    def set_focus(self, task: str = "", subgoal: str = "", labels: Sequence[str] = ()) -> None:
        """Set task, subgoal and expected labels for the next passes."""
        self._focus = VisionFocus(task=task, subgoal=subgoal, labels=tuple(labels))

    def start_look(self, page: PageCapture) -> None:
        """Look at the page after an action in the background, if it has drifted from the newest frame."""
        if not page.picture or self._holds(page) or self._coming(page) or self._recall(page):
            return
        if self._prefetch.error is None or self._prefetch.error.kind not in PERMANENT_TROUBLES:
            self._prefetch.start(page)

    async def frame_for_policy(self, page: PageCapture) -> VisionFrame | None:
        """Return the frame to show to the policy; its marks will be resolved against it.

        On a page that was never seen the pass is waited for; on one that has changed only for a moment, and the
        previous frame is shown. ``None`` where nothing could be seen of this address (``trouble`` says why).

        Raises:
            ModelError: the run's budget is used up.
        """
        self.start_look(page)
        known = self.frame is not None and self.frame.page.url == page.url
        if self._prefetch.pending:
            await self._prefetch.wait(self._soft if known else self._hard)
        self._raise_if_spent()
        newest = self.frame
        if newest is None or newest.page.url != page.url:
            self.shown = None
        else:
            lag = "" if self._holds(page) else f"{LAG_NOTE} the page has changed since it was looked at"
            self.shown = replace(newest, lag=lag)
        return self.shown

    def drift_since_look(self, page: PageCapture) -> PageDrift | None:
        """Return the changes since the newest frame; ``None`` where there is none young enough."""
        frame = self.frame
        if frame is None or self._clock() - frame.at > MAX_FRAME_AGE:
            return None
        return page_drift(page, self._prints_of(page), frame.page, frame.prints)

    async def resolve(self, action: Action, page: PageCapture) -> tuple[Action | None, ActionResult | None]:
        """Return the action as the executor can do it on this page and notes for its result; or a refusal.

        An action that names an element passes unchanged, after the wait that the gate asks for.

        Raises:
            ModelError: the run's budget is used up.
        """
        self.last = last = await self.resolved(action, page)
        self._acted.add(page.url)
        if last.refusal is not None:
            return None, replace(last.refusal, perceptions=last.perceptions)
        if not last.notes and not last.perceptions:
            return last.action, None
        said = ActionResult(
            success=True, effect=Effect.NOTHING, notes=last.notes, perceptions=last.perceptions
        )
        return last.action, said

    async def resolved(self, action: Action, page: PageCapture) -> ResolvedMark:
        """Resolve an action, with its notes and its cost."""
        passes = self.perceptions
        critical = self._matters(action, page)
        way = check_freshness(
            action, self.drift_since_look(page), pending=self._prefetch.pending, critical=critical
        )
        notes: tuple[str, ...] = ()
        if way.mode is GroundingMode.WAIT:
            fresh = await self._prefetch.wait(self._hard if critical else self._soft)
            self._raise_if_spent()
            notes = () if fresh else (f"{LAG_NOTE} the page has changed since it was looked at ({way.why})",)
        if not isinstance(action, ClickMark | TypeMark):
            return ResolvedMark(action=action, notes=notes, gate=way, perceptions=self.perceptions - passes)
        found = await self._point(action, page)
        if isinstance(found, ActionResult):
            return ResolvedMark(action=None, refusal=found, gate=way, perceptions=self.perceptions - passes)
        return ResolvedMark(
            action=found.action,
            refusal=found.refusal,
            notes=(*notes, *found.notes),
            perceptions=self.perceptions - passes,
            gate=way,
        )

    async def aclose(self) -> None:
        """Cancel what is in progress."""
        await self._prefetch.aclose()

    async def _point(self, action: ClickMark | TypeMark, page: PageCapture) -> MarkTarget | ActionResult:
        """Resolve a mark on the current page."""
        shown = self.shown or self.frame
        if shown is None:
            return refused(
                Cause.MISSING,
                f"nothing was seen yet, so there is no mark {action.mark}{self._because()}",
                "name an element by its number instead",
            )
        mark = shown.mark(action.mark)
        if mark is None:
            numbers = f"1 to {len(shown.marks)}" if shown.marks else "none"
            return refused(Cause.MISSING, f"there is no mark {action.mark}; there are {numbers}")
        label = action.label if isinstance(action, ClickMark) and action.label else mark.label
        prints = self._prints_of(page)
        place = locate_mark(mark, shown, page, prints, self.frame)
        if place is None:
            fresh = await self._fresh(page)
            place = locate_mark(mark, shown, page, prints, fresh) if fresh is not None else None
        if place is None:
            return refused(
                Cause.STALE,
                f"[V{mark.number}] '{mark.label}' is not where it was seen, the page has changed"
                + self._because(),
                "look at the new marks",
            )
        if label != mark.label and not matches_label(mark, label):
            other = await self._by_label(label, mark.number, shown, page)
            if other is not None:
                return other
            place = MarkLocation(place.box)
        found = await resolve_mark(action, mark, place, label, page, self._under)
        return with_label_note(found, mark, label, page)

    async def _by_label(
        self, label: str, number: int, shown: VisionFrame, page: PageCapture
    ) -> MarkTarget | ActionResult | None:
        """Handle a label that fits another thing than the mark: resolve that, or refuse and name it."""
        others = [mark for mark in shown.marks if mark.number != number and matches_label(mark, label)]
        if len(others) == 1:
            return refused(
                Cause.AMBIGUOUS,
                f"[V{number}] is not '{label}'",
                f"'{label}' is [V{others[0].number}]",
            )
        named = click_by_name(label, page)
        if named is not None:
            return MarkTarget(action=named, notes=(f"'{label}' was taken by its name, not by [V{number}]",))
        if others or not page.picture or label.casefold() not in page.text.casefold():
            return None
        covered = await self._cover(label, shown, page)
        fits = [mark for mark in covered.marks if matches_label(mark, label)] if covered is not None else []
        if covered is None or len(fits) != 1:
            return None
        found = await resolve_mark(
            ClickMark(fits[0].number, label),
            fits[0],
            MarkLocation(fits[0].box, fits[0].element),
            label,
            page,
            self._under,
        )
        return with_label_note(found, fits[0], label, page)

    async def _cover(self, label: str, frame: VisionFrame, page: PageCapture) -> VisionFrame | None:
        """Run the coverage pass; its result becomes the newest frame."""
        try:
            covered = await self._client.look_for_missing(
                page, VisionFocus(task=self._focus.task, subgoal=self._focus.subgoal, labels=(label,)), frame
            )
        except (ModelError, UnreadableAnswer) as error:
            if isinstance(error, ModelError) and error.kind is ModelErrorKind.BUDGET:
                raise
            return None
        self._arrived(covered)
        return covered

    async def _fresh(self, page: PageCapture) -> VisionFrame | None:
        """Look at the current page and wait for it."""
        if not self._holds(page) and page.picture:
            self.start_look(page)
            await self._prefetch.wait(self._hard)
            self._raise_if_spent()
        return self.frame if self._holds(page) else None

    async def _look(self, page: PageCapture) -> VisionFrame:
        return await self._client.look(page, self._focus, self.frame)

    def _arrived(self, frame: VisionFrame) -> None:
        if self.frame is not None and self.frame.number > frame.number:
            return
        self.frame = frame
        self._kept[_frame_key(frame)] = frame
        while len(self._kept) > MAX_FRAMES:
            self._kept.popitem(last=False)

    def _holds(self, page: PageCapture) -> bool:
        changed = self.drift_since_look(page)
        return changed is not None and changed.within()

    def _coming(self, page: PageCapture) -> bool:
        """Whether a pass over this very page is in progress."""
        looked_at = self._prefetch.page
        if looked_at is None or looked_at is page:
            return looked_at is page
        return page_drift(page, self._prints_of(page), looked_at, fingerprints_of(looked_at)).within()

    def _recall(self, page: PageCapture) -> bool:
        """Reuse a recent frame of this very page; return whether there is one."""
        prints = self._prints_of(page)
        for frame in reversed(self._kept.values()):
            young = self._clock() - frame.at <= MAX_FRAME_AGE
            if young and page_drift(page, prints, frame.page, frame.prints).within():
                self._prefetch.cancel()
                self.frame = frame
                return True
        return False

    def _matters(self, action: Action, page: PageCapture) -> bool:
        """Whether an action submits a form on a page that was never acted on."""
        if page.url in self._acted:
            return False
        numbers = elements_of(action)
        if isinstance(action, ClickMark | TypeMark):
            shown = self.shown or self.frame
            mark = shown.mark(action.mark) if shown is not None else None
            return (
                mark is not None
                and mark.element is not None
                and shown is not None
                and (shown.page.elements[mark.element].submits)
            )
        return any(0 <= number < len(page.elements) and page.elements[number].submits for number in numbers)

    def _prints_of(self, page: PageCapture) -> Fingerprints:
        """Return the page's fingerprints; cached, they are needed several times before the next capture."""
        if self._printed is None or self._printed[0] is not page:
            self._printed = (page, fingerprints_of(page))
        return self._printed[1]

    def _because(self) -> str:
        return f" ({self.trouble})" if self.trouble else ""

    def _raise_if_spent(self) -> None:
        error = self._prefetch.error
        if error is not None and error.kind is ModelErrorKind.BUDGET:
            raise error


def _frame_key(frame: VisionFrame) -> tuple[str, ...]:
    prints = frame.prints
    return (
        frame.page.url,
        prints.elements.digest,
        prints.text.digest,
        prints.frames.digest,
        prints.scroll.digest,
    )
