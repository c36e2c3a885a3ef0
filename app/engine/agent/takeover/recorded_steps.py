"""A person's action while it is being done, and the step it becomes."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from app.engine.agent.procedures.recorded_locators import recorded_locator
from app.engine.agent.secret_masking import mask_secrets, mask_tabs
from app.engine.agent.secrets import Secrets
from app.engine.agent.step_record import action_target, observed_step, redact_arguments, visible_part
from app.engine.core.action_result import Effect
from app.engine.core.actions.recorded import ActionTarget, ArgValue, RecordedAction
from app.engine.core.fingerprint import fingerprints_of
from app.engine.core.identity import keys_of, page_id
from app.engine.core.page_state import Element, PageCapture
from app.engine.core.redaction import MARK
from app.engine.core.trajectory import BY_PERSON, Step, Tab

REASON = "done by hand"
FILLS = frozenset({"fill", "select_option"})
FOLDED = frozenset({"scroll", "keyboard_press"})
"""Actions that become one step when repeated in a row."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackedPage:
    """The page during a takeover, secrets still in it; never stored.

    ``at`` is when the look began, by ``time.monotonic()``.
    """

    page: PageCapture
    tabs: tuple[Tab, ...] = ()
    active: int = 0
    at: float = 0.0


@dataclass(slots=True, kw_only=True)
class ActionDraft:
    """One action of a person, not recorded yet.

    Attributes:
        kind, args: as in a step's action, without the element's number.
        before: the page before it. captured: that look is of the page as it was.
        element: its target in that look.
        at: Unix seconds. began, ended: ``time.monotonic()``.
        point: where the pointer was pressed.
        was: a field's value before.
        secret: the typed value is kept out of everything.
        times: how often it was repeated in a row.
    """

    kind: str
    before: TrackedPage
    element: Element | None = None
    args: dict[str, ArgValue] = field(default_factory=dict[str, ArgValue])
    at: float = 0.0
    began: float = 0.0
    ended: float = 0.0
    point: tuple[float, float] | None = None
    was: str = ""
    secret: bool = False
    times: int = 1
    captured: bool = True

    def same_as(self, other: ActionDraft) -> bool:
        """Whether it continues another draft."""
        if self.kind != other.kind or self.kind not in FOLDED or self.element != other.element:
            return False
        return self.kind == "scroll" or self.args == other.args

    def action(self, secrets: Secrets) -> RecordedAction:
        """Return the action as a step keeps it."""
        args: dict[str, ArgValue] = {}
        if self.element is not None and self.kind != "drag_and_drop":
            args["bid"] = str(self.element.index)
        args |= self.args
        if self.secret and "value" in args:
            args["value"] = MARK
        return redact_arguments(RecordedAction(kind=self.kind, args=args), secrets)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedStep:
    """A recorded action with the page before it, without secrets; ``index`` is its step's number.

    ``captured`` is whether that page was captured as it was.
    """

    index: int
    step: Step
    page: PageCapture
    element: Element | None = None
    captured: bool = True


def record_step(
    draft: ActionDraft, after: TrackedPage | None, secrets: Secrets, home: str
) -> tuple[RecordedStep, dict[str, bytes]]:
    """Return an action's step (numbered 0) and the contents it names; the look after it shows its effect."""
    page = mask_secrets(draft.before.page, secrets)
    tabs = mask_tabs(draft.before.tabs, secrets)
    seen, blobs = observed_step(0, page, tabs, draft.before.active, secrets, draft.at)
    element = _element_of(page, draft.element)
    step = replace(
        seen,
        reason=REASON,
        action=draft.action(secrets),
        target=_target(element, page) if element is not None else None,
        target_box=visible_part(element.rect, page.viewport) if element is not None else None,
        effect=_effect(draft, after).value if after is not None or draft.kind in FILLS else "",
        output=f"{draft.times} times" if draft.times > 1 and draft.kind != "scroll" else "",
        env_seconds=round(max(0.0, draft.ended - draft.began), 3),
        page_state=page_id(keys_of(page, home)) if page.elements and draft.captured else "",
        by=BY_PERSON,
    )
    return RecordedStep(index=0, step=step, page=page, element=element, captured=draft.captured), blobs


def _target(element: Element, page: PageCapture) -> ActionTarget:
    return replace(action_target(element), locator=recorded_locator(element, page))


def _element_of(page: PageCapture, element: Element | None) -> Element | None:
    if element is None or not 0 <= element.index < len(page.elements):
        return None
    return page.elements[element.index]


def _effect(draft: ActionDraft, after: TrackedPage | None) -> Effect:
    if after is None or draft.kind in FILLS:  # a field's new value is a change
        return Effect.CHANGED
    before = draft.before.page
    if before.url != after.page.url:
        return Effect.NAVIGATED
    changed = fingerprints_of(after.page).changed(fingerprints_of(before))
    return Effect.CHANGED if changed else Effect.NOTHING
