"""Tolerant reader of a vision model's answer: an unreadable box is skipped, the others stay.

Boxes are ``[ymin, xmin, ymax, xmax]`` in thousandths of the picture (SuperBrowser, section 4.3). Models also send
fractions of one, texts, objects with named sides, swapped sides, and answers that end in the middle of a box.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError, model_validator

from app.engine.core.model_api import INTEGER, NUMBER, TEXT, TRUTH, choice_schema, list_schema, object_schema
from app.errors import SiteloreError

BOX_SCALE = 1000.0
MAX_NUMBER = 1e9
MAX_LABEL = 200
MAX_TEXT = 1000
MAX_BOXES = 200
"""Boxes read of one answer; the ranking keeps fewer."""
MAX_ANSWER = 400_000
"""Characters of an answer that are read; no sensible one is longer."""

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_SIDES = (("ymin", "y_min", "top", "y0", "y1"), ("xmin", "x_min", "left", "x0", "x1"),
          ("ymax", "y_max", "bottom", "y2"), ("xmax", "x_max", "right", "x2"))  # fmt: skip
_BOXES_BEGIN = re.compile(r'"(?:boxes|bboxes)"\s*:\s*\[')
_PAGE_TYPE = re.compile(r'"page_type"\s*:\s*"([^"]{1,60})"')
_SUMMARY = re.compile(r'"summary"\s*:\s*("(?:[^"\\]|\\.){0,2000}")')


class UnreadableAnswer(SiteloreError):
    """The vision model's answer holds no readable boxes."""


class PageType(StrEnum):
    """Kind of a page; decides which model looks at it next time."""

    SEARCH_RESULTS = "search_results"
    PRODUCT_LISTING = "product_listing"
    PRODUCT_DETAIL = "product_detail"
    CART = "cart"
    CHECKOUT_FORM = "checkout_form"
    MAP_OR_BOOKING = "map_or_booking"
    FORM = "form"
    TABLE = "table"
    DASHBOARD = "dashboard"
    ARTICLE = "article"
    LOGIN = "login"
    DIALOG = "dialog"
    ERROR = "error"
    OTHER = "other"


class SceneRole(StrEnum):
    """The part an element plays in the scene."""

    BLOCKER = "blocker"  # covers the page until it is closed
    TARGET = "target"
    CHROME = "chrome"
    CONTENT = "content"
    UNKNOWN = "unknown"


def _text(value: object) -> str:
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        return " ".join(str(value).split())[:MAX_TEXT]
    return ""


def _label(value: object) -> str:
    return _text(value)[:MAX_LABEL]


def _truth(value: object) -> bool:
    if isinstance(value, str):
        return value.strip().lower() in ("true", "yes", "1")
    return bool(value)


def _confidence(value: object) -> float:
    """Return a fraction from a fraction, a percentage or a word; a half where nothing can be read."""
    words = {"high": 0.9, "medium": 0.6, "low": 0.3}
    if isinstance(value, str):
        found = _NUMBER.search(value)
        if found is None:
            return words.get(value.strip().lower(), 0.5)
        value = float(found[0])
    if not _is_sensible(value):
        return 0.5
    value = cast("float", value)
    return min(1.0, max(0.0, value / 100 if value > 1 else float(value)))


def _word(value: object) -> str:
    return re.sub(r"[\s-]+", "_", _text(value).lower())


def _page_type(value: object) -> PageType:
    word = _word(value)
    return next((kind for kind in PageType if kind.value == word), PageType.OTHER)


def _scene_role(value: object) -> SceneRole:
    word = _word(value)
    return next((role for role in SceneRole if role.value == word), SceneRole.UNKNOWN)


def _box(value: object) -> tuple[float, float, float, float]:
    """Return top, left, bottom, right in thousandths."""
    sides = _numbers(value)
    if len(sides) != 4:
        raise ValueError("a box has four sides")
    if all(abs(side) <= 1 for side in sides):
        sides = [side * BOX_SCALE for side in sides]
    top, left, bottom, right = (min(BOX_SCALE, max(0.0, side)) for side in sides)
    top, bottom, left, right = min(top, bottom), max(top, bottom), min(left, right), max(left, right)
    if bottom - top < 1 or right - left < 1:
        raise ValueError("a box has a size")
    return top, left, bottom, right


def _numbers(value: object) -> list[float]:
    if isinstance(value, str):
        return [n for number in _NUMBER.findall(value[:200]) for n in _numbers(float(number))]
    if isinstance(value, Mapping):
        named = cast("Mapping[str, object]", value)
        return [
            number
            for names in _SIDES
            for number in _numbers(next((named[n] for n in names if n in named), None))
        ]
    if isinstance(value, list):
        flat: list[float] = []
        for item in cast("list[object]", value)[:8]:
            flat += _numbers(item)
        return flat
    return [float(cast("float", value))] if _is_sensible(value) else []


def _is_sensible(value: object) -> bool:
    """Whether a number can be a coordinate; nan, infinity and numbers of thousands of digits can't."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < MAX_NUMBER


class SeenBox(BaseModel):
    """One box of an answer; ``box`` is top, left, bottom, right in thousandths of the picture."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    box: Annotated[tuple[float, float, float, float], BeforeValidator(_box)]
    label: Annotated[str, BeforeValidator(_label)] = ""
    role: Annotated[str, BeforeValidator(_word)] = ""
    clickable: Annotated[bool, BeforeValidator(_truth)] = True
    confidence: Annotated[float, BeforeValidator(_confidence)] = 0.5
    relevant: Annotated[bool, BeforeValidator(_truth)] = False
    scene: Annotated[SceneRole, BeforeValidator(_scene_role)] = SceneRole.UNKNOWN

    @model_validator(mode="before")
    @classmethod
    def _other_names(cls, data: object) -> object:
        """Accept the field names of other formats."""
        if not isinstance(data, Mapping):
            return data
        told = dict(cast("Mapping[str, object]", data))
        for ours, theirs in _ALIASES.items():
            for name in theirs:
                if ours not in told and name in told:
                    told[ours] = told[name]
        return told


_ALIASES = {
    "box": ("box_2d", "bbox", "bounding_box", "rect"),
    "label": ("name", "text", "title"),
    "role": ("type", "kind"),
    "relevant": ("intent_relevant",),
    "scene": ("role_in_scene", "scene_role"),
}


class VisionAnswer(BaseModel):
    """An answer. ``dropped`` boxes could not be read; ``cut`` says that it ended too early."""

    model_config = ConfigDict(frozen=True)

    boxes: tuple[SeenBox, ...] = ()
    page_type: PageType = PageType.OTHER
    summary: str = ""
    dropped: int = 0
    cut: bool = False


def read_answer(text: str, data: Mapping[str, Any] | None = None) -> VisionAnswer:
    """Read a model's reply; ``data`` is its JSON where the client could read it already.

    Raises:
        UnreadableAnswer: it is no such answer, and no box of it could be salvaged.
    """
    told: object = data if data is not None else _json(text[:MAX_ANSWER])
    if isinstance(told, list):
        told = {"boxes": cast("list[object]", told)}
    if not isinstance(told, Mapping):
        return _salvaged(text[:MAX_ANSWER])
    named = cast("Mapping[str, object]", told)
    found = next((named[name] for name in ("boxes", "bboxes", "elements") if name in named), None)
    if not isinstance(found, list):
        raise UnreadableAnswer("the vision model's answer names no boxes")
    boxes, dropped = _boxes(cast("list[object]", found))
    return VisionAnswer(
        boxes=boxes,
        page_type=_page_type(named.get("page_type")),
        summary=_text(named.get("summary")),
        dropped=dropped,
    )


def _boxes(found: list[object]) -> tuple[tuple[SeenBox, ...], int]:
    read: list[SeenBox] = []
    for item in found[:MAX_BOXES]:
        try:
            read.append(SeenBox.model_validate(item))
        except ValidationError:
            continue
    return tuple(read), len(found) - len(read)


def _json(text: str) -> object:
    """Return the first JSON object or list in a text, also in a code fence or among words; ``None`` if there is
    none.
    """
    starts = [at for at in (text.find("{"), text.find("[")) if at >= 0]
    if not starts:
        return None
    try:
        return json.JSONDecoder().raw_decode(text, min(starts))[0]
    except (ValueError, RecursionError):  # ValueError also for a number of thousands of digits
        return None


def _salvaged(text: str) -> VisionAnswer:
    """Return the complete boxes of an answer that is cut off or broken in the middle."""
    begin = _BOXES_BEGIN.search(text)
    if begin is None:
        raise UnreadableAnswer("the vision model's answer is no JSON with boxes")
    decoder, at, items = json.JSONDecoder(), begin.end(), list[object]()
    while len(items) < MAX_BOXES:
        at = text.find("{", at)
        if at < 0:
            break
        try:
            item, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            break
        items.append(item)
    boxes, dropped = _boxes(items)
    if not boxes:
        raise UnreadableAnswer("the vision model's answer breaks off before its first box")
    kind, summary = _PAGE_TYPE.search(text), _SUMMARY.search(text)
    return VisionAnswer(
        boxes=boxes,
        page_type=_page_type(kind[1] if kind else ""),
        summary=_text(json.loads(summary[1], strict=False)) if summary else "",
        dropped=dropped,
        cut=True,
    )


SCHEMA = object_schema(
    "seen",
    page_type=choice_schema(PageType),
    summary=TEXT,
    boxes=list_schema(
        object_schema(
            label=TEXT,
            box_2d=list_schema(INTEGER),
            role=TEXT,
            clickable=TRUTH,
            confidence=NUMBER,
            relevant=TRUTH,
            scene=choice_schema(SceneRole),
        )
    ),
)
"""JSON schema of the answer."""
