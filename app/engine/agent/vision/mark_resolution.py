"""Resolve a mark into an action: find it again on a changed page, and the element to click or type into."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from app.engine.agent.vision.freshness import page_drift
from app.engine.agent.vision.label_match import label_fit, words_of
from app.engine.agent.vision.snapper import Phase, Snap, middle, sample_points, snap
from app.engine.agent.vision.vision_frame import VisionFrame, VisionMark
from app.engine.browser.locators import locator_of, resolve
from app.engine.core.action_result import ActionResult, Cause, refused
from app.engine.core.actions.types import Action, Click, ClickAt, ClickMark, Point, TypeMark, TypeText
from app.engine.core.fingerprint import Fingerprints
from app.engine.core.page_state import Element, PageCapture, Rect
from app.engine.core.rectangles import overlap_ratio

FIELDS = frozenset({"textbox", "searchbox", "combobox", "spinbutton"})
MIN_LABEL = 3
SURFACE_RATIO = 6.0
"""Size ratio to the box from which an element is a surface to point into, not one to click in the middle."""
_SURFACES = frozenset({"canvas", "svg", "img", "map", "area"})


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkTarget:
    """A mark's action, or a refusal; with notes for the result."""

    action: Action | None = None
    refusal: ActionResult | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MarkLocation:
    """Where a mark is on the current page: its box, and its element's number if it has one."""

    box: Rect
    element: int | None = None


def locate_mark(
    mark: VisionMark, shown: VisionFrame, page: PageCapture, prints: Fingerprints, newest: VisionFrame | None
) -> MarkLocation | None:
    """Return where a mark is on the current page; ``None`` where that is unknown.

    On the very page that was seen it is where it was. Else its element is located; then, if the newest frame is of this
    page, the only mark with its label, or the one among several at the same position. A drawing on a surface may have
    changed with it, so only frames count there.
    """
    if page_drift(page, prints, shown.page, shown.prints).within():
        return MarkLocation(mark.box, mark.element)
    if mark.element is not None and not _is_surface(shown.page.elements[mark.element], mark.box):
        element = resolve(locator_of(shown.page.elements[mark.element], shown.page), page).element
        if element is not None and element.rect is not None and element.visible:
            return MarkLocation(element.rect, element.index)
    if newest is None or not page_drift(page, prints, newest.page, newest.prints).within():
        return None
    same = [other for other in newest.marks if words_of(other.label) == words_of(mark.label)]
    if len(same) > 1:
        same = [other for other in same if overlap_ratio(other.box, mark.box) > 0]
    return MarkLocation(same[0].box, same[0].element) if len(same) == 1 else None


async def resolve_mark(
    action: ClickMark | TypeMark,
    mark: VisionMark,
    place: MarkLocation,
    label: str,
    page: PageCapture,
    under: Callable[[PageCapture, Sequence[Point]], Awaitable[Mapping[Point, Sequence[int]]]] | None,
) -> MarkTarget:
    """Return the action for the element at a mark's position.

    Where another element with another name is there, the mark's own element is named all the same: the executor then
    reports what covers it, and does not click the cover.
    """
    box = place.box

    async def snapped(at: Rect) -> Snap | None:
        stacks = await under(page, sample_points(at, page)) if under is not None else None
        return snap(at, page, label, stacks)

    found = await snapped(box)
    if found is None and mark.row is not None and box == mark.box:
        found = await snapped(mark.row)  # a label that does nothing means its row, and so the chevron
    if place.element is not None and (
        found is None or (found.element != place.element and not found.matched)
    ):
        found = Snap(element=place.element, at=middle(box), phase=Phase.PINPOINT)
    if found is None:
        why = f"nothing that can be acted on lies at [V{mark.number}] '{mark.label}'"
        return MarkTarget(refusal=refused(Cause.MISSING, why))
    if isinstance(action, TypeMark):
        return _typed(action, mark, found, page)
    if found.element is None:
        return MarkTarget(action=ClickAt(found.at), notes=("the frame there can't be inspected",))
    element = page.elements[found.element]
    if _is_surface(element, box):
        return MarkTarget(action=ClickAt(found.at))
    return MarkTarget(action=Click(found.element, label=label))


def with_label_note(found: MarkTarget, mark: VisionMark, label: str, page: PageCapture) -> MarkTarget:
    """Add a note where the clicked element is named neither as expected nor as the mark."""
    action = found.action
    if not isinstance(action, Click) or len(label) < MIN_LABEL:
        return found
    element = page.elements[action.element]
    if not words_of(element.name) or label_fit(element, label) or label_fit(element, mark.label):
        return found
    return replace(
        found, notes=(*found.notes, f"'{label}' was expected, the page calls it '{element.name[:80]}'")
    )


def matches_label(mark: VisionMark, label: str) -> bool:
    """Whether a mark goes by this label, in the model's words or in the page's."""
    wanted = words_of(label)
    if not wanted:
        return True
    return any(
        set(wanted) <= set(words_of(name))
        or (set(words_of(name)) <= set(wanted) and sum(map(len, words_of(name))) >= MIN_LABEL)
        for name in (mark.label, mark.name)
        if name
    )


def click_by_name(label: str, page: PageCapture) -> Click | None:
    """Return a click on the only visible element of exactly this name; ``None`` where there is none, or several."""
    wanted = words_of(label)
    named = [
        element
        for element in page.elements
        if element.visible and wanted and wanted in (words_of(element.name), words_of(element.text))
    ]
    return Click(named[0].index, label=label) if len(named) == 1 else None


def _typed(action: TypeMark, mark: VisionMark, found: Snap, page: PageCapture) -> MarkTarget:
    """Type into the field that was snapped to; else into the best field that the box touches."""
    largest_first = sorted(found.candidates, key=lambda candidate: -candidate.area)
    numbers = [found.element, *(candidate.element for candidate in largest_first)]
    field = next((n for n in numbers if n is not None and _takes_text(page.elements[n])), None)
    if field is not None:
        return MarkTarget(action=TypeText(field, action.text, action.enter))
    if found.element is None:
        why = f"[V{mark.number}] lies in a frame that can't be inspected"
        return MarkTarget(refusal=refused(Cause.WRONG_KIND, why, "click the mark, then type at the cursor"))
    element = page.elements[found.element]
    if element.tag == "select":
        why = f"[V{mark.number}] is a list to choose from and takes no text"
        return MarkTarget(
            refusal=refused(Cause.WRONG_KIND, why, f"choose an option of element {found.element}")
        )
    why = f"[V{mark.number}] is a {element.role} and takes no text"
    return MarkTarget(refusal=refused(Cause.WRONG_KIND, why, "click it, if a field opens then"))


def _takes_text(element: Element) -> bool:
    return element.role in FIELDS and "readonly" not in element.states and element.tag != "select"


def _is_surface(element: Element, box: Rect) -> bool:
    """Whether an element is a drawing, or so much larger than the box that its middle is not what was meant."""
    if element.rect is None:
        return False
    larger = element.rect[2] * element.rect[3] > SURFACE_RATIO * box[2] * box[3]
    return larger and (element.tag in _SURFACES or element.listens)
