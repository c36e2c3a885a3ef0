"""The record of one step: what was observed, decided and done; secrets are removed before anything is stored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from app.engine.agent.secret_masking import is_secret_field
from app.engine.agent.secrets import Secrets
from app.engine.core.action_result import ActionResult, Effect
from app.engine.core.actions.recorded import ActionTarget, RecordedAction, to_recorded
from app.engine.core.actions.types import Action, ReportInfeasible, Stop, elements_of
from app.engine.core.ax_tree import content_key
from app.engine.core.observation import AgentDecision, Observation, RetrievedTip, TipCredit
from app.engine.core.page_state import Element, PageCapture, Rect
from app.engine.core.rectangles import overlap
from app.engine.core.redaction import MARK, redact_text, redact_tree, redact_url
from app.engine.core.regions import stored_boxes
from app.engine.core.trajectory import ErrorClass, Exposure, Step, Tab, add_blob
from app.engine.imports.notices import notices

_VISIBLE_EFFECTS = frozenset({Effect.NAVIGATED, Effect.CHANGED})
_ENDING_ACTIONS = (Stop, ReportInfeasible)
"""Actions that end the run count as their own effect."""
_FIRST_ERROR = 400
"""Lowest HTTP status of an error page."""


def target_element(page: PageCapture, action: Action | None, result: ActionResult) -> Element | None:
    """Return the first target element of an action, named or by a mark; ``None`` where there is none on the page."""
    numbers = elements_of(action) if action is not None else ()
    if not numbers and result.element is not None:
        numbers = (result.element,)
    return page.elements[numbers[0]] if numbers and 0 <= numbers[0] < len(page.elements) else None


def action_target(element: Element) -> ActionTarget:
    """Return an element in the form a step stores."""
    name = element.name or element.label or element.text
    return ActionTarget(
        role=element.role or element.tag, name=redact_text(name)[:200], bid=str(element.index)
    )


def observed_step(
    index: int, page: PageCapture, tabs: tuple[Tab, ...], active: int, secrets: Secrets, at: float
) -> tuple[Step, dict[str, bytes]]:
    """Return a step that holds only the observation (a look without secrets), and the blobs it names."""
    blobs: dict[str, bytes] = {}
    tree = redact_tree(secrets.mask(page.tree))
    clean = tree.decode("utf-8", "replace")
    step = Step(
        index=index,
        url=redact_url(secrets.mask(page.url)),
        title=redact_text(secrets.mask(page.title)),
        tabs=tuple(
            Tab(url=redact_url(secrets.mask(tab.url)), title=redact_text(secrets.mask(tab.title)))
            for tab in tabs
        ),
        active_tab=active,
        tree=add_blob(blobs, tree),
        screenshot=add_blob(blobs, page.picture) if page.picture else "",
        boxes=add_blob(blobs, stored_boxes(_boxes_in_view(page))) if page.picture else "",
        state=content_key(clean),
        notices=notices(clean),
        started_at=at,
    )
    return step, blobs


def _boxes_in_view(page: PageCapture) -> dict[str, Rect]:
    """Return the visible parts of the elements by their ids in the tree."""
    parts = (
        (str(element.index), visible_part(element.rect, page.viewport))
        for element in page.elements
        if element.visible
    )
    return {name: part for name, part in parts if part is not None}


def complete_step(
    seen: Step,
    observation: Observation,
    decision: AgentDecision,
    result: ActionResult,
    secrets: Secrets,
    *,
    page_state: str,
    credits: Mapping[str, TipCredit] | None = None,
) -> Step:
    """Return the step completed with decision, result, and the part that each tip had in it."""
    action = decision.action
    element = target_element(observation.page, action, result)

    def said(text: str) -> str:
        return redact_text(secrets.mask(text))

    return replace(
        seen,
        reason=said(decision.reason),
        raw_output=said(decision.raw),
        action=redacted_action(action, element, secrets) if action is not None else None,
        target=action_target(element) if element is not None else None,
        target_box=visible_part(element.rect, observation.page.viewport) if element is not None else None,
        executed=action is not None and result.effect is not Effect.REFUSED,
        error=said(result.why if action is not None else decision.why) if not result.success else "",
        error_class=_error_class(decision, result),
        # Hints of a person are exposures only: no knowledge base has them.
        tips=tuple(hint.tip for hint in observation.tips if hint.kind != "person"),
        summary=said(decision.intent),
        agent_seconds=0.0,
        env_seconds=result.seconds,
        effect=result.effect.value if action is not None else "",
        cause=result.cause.value,
        tried=result.tried,
        output=said(result.output),
        exposures=tuple(
            _exposure(tip, (credits or {}).get(tip.tip), decision, action, result) for tip in observation.tips
        ),
        calls=decision.calls,
        tokens=decision.tokens,
        model_seconds=round(decision.seconds, 3),
        page_state=page_state,
    )


def _exposure(
    tip: RetrievedTip,
    credit: TipCredit | None,
    decision: AgentDecision,
    action: Action | None,
    result: ActionResult,
) -> Exposure:
    """Return the exposure of a tip: of one with steps only a step that was done counts, whatever the policy says."""
    claim = decision.followed.get(tip.tip)
    if tip.procedure is not None and tip.procedure.entries and tip.kind != "person":
        followed = True if credit is not None and credit.effect else False if claim is False else None
    else:
        followed = tip_followed(claim, action, result)
    return Exposure(
        tip=tip.tip,
        routes=tip.routes,
        score=tip.score,
        followed=followed,
        applied=credit is not None,
        step=credit.step if credit is not None else 0,
        effect=credit is not None and credit.effect,
    )


def tip_followed(claim: bool | None, action: Action | None, result: ActionResult) -> bool | None:
    """Whether a tip without steps counts as followed: the policy says so, and the action had a visible effect.

    An action that was refused, did nothing or led to an error page followed no tip, whatever the control was
    called.
    """
    if not claim:
        return claim
    seen = isinstance(action, _ENDING_ACTIONS) or result.effect in _VISIBLE_EFFECTS
    return True if seen and result.success and result.status < _FIRST_ERROR else None


def redacted_action(action: Action, element: Element | None, secrets: Secrets) -> RecordedAction:
    """Return an action as it may be shown and stored: without secrets, and without input of a secret field."""
    recorded = to_recorded(action)
    if element is not None and is_secret_field(element):
        hidden = {name: MARK for name in recorded.args if name in ("value", "text")}
        recorded = replace(recorded, args={**recorded.args, **hidden})
    return redact_arguments(recorded, secrets)


def redact_arguments(recorded: RecordedAction, secrets: Secrets) -> RecordedAction:
    """Return an action without secrets in its texts."""
    args = {
        name: redact_text(secrets.mask(value)) if isinstance(value, str) else value
        for name, value in recorded.args.items()
    }
    return replace(recorded, args=args)


def _error_class(decision: AgentDecision, result: ActionResult) -> ErrorClass:
    if decision.action is None:
        return ErrorClass.HARNESS
    if result.success:
        return ErrorClass.NONE
    return ErrorClass.HARD if result.effect is Effect.REFUSED else ErrorClass.SOFT


def visible_part(rect: Rect | None, viewport: tuple[int, int]) -> Rect | None:
    """Return the part of a box that is inside the viewport."""
    if rect is None:
        return None
    part = overlap(rect, (0.0, 0.0, float(viewport[0]), float(viewport[1])))
    if part is None or min(part[2:]) < 1:
        return None
    left, top, width, height = part
    return (round(left, 1), round(top, 1), round(width, 1), round(height, 1))
