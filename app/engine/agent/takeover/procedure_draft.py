"""The steps of a tip from what a person did during a takeover.  Pure.

Rules, in order:
1. Scrolling, moving between fields, tabs and reloading are noise; so is an action that had no effect, and a click
   beside every control of which no effect was seen.
2. A page that was left by going back, and a menu that was opened and closed again, were not needed.
3. A click into a field before typing there belongs to the typing; of several texts typed into one field before anything
   was pressed the last counts.
4. A typed text becomes a placeholder named by its field.  A chosen option stays, unless the task names it.
5. A control carries its recorded locator, a key is pressed by its name, an address of the same host is a path.
6. What has no step (a drag, a click beside every control) is kept as unread, in words and without coordinates.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from urllib.parse import urlsplit

from app.engine.core.action_result import Effect
from app.engine.core.actions.recorded import ActionTarget
from app.engine.core.redaction import MARK
from app.engine.core.text import one_line
from app.engine.core.trajectory import Step
from kb.procedure import NEVER_LIMIT, STEP_LIMIT, Procedure, ProcedureOrigin, ProcedureStep, StepKind

MAX_NAME = 120
"""Characters of a control's name in a step."""

POINTED = {
    "mouse_click": "click where no control is",
    "mouse_dblclick": "double-click where no control is",
    "drag_and_drop": "drag something",
}
"""Actions that have nothing but coordinates, and their words."""
_NOISE = frozenset({"scroll", "new_tab", "tab_focus", "tab_close", "reload", "noop", "hover"})
_KEYS = {"Enter": "Enter", "NumpadEnter": "Enter", "Escape": "Escape"}
_MOVES = frozenset({"Tab", "Shift+Tab"})
_FIELDS = frozenset({"textbox", "searchbox", "spinbutton", "textarea"})
_ROLES = {
    "textbox": "field",
    "searchbox": "field",
    "spinbutton": "field",
    "combobox": "select",
    "listbox": "select",
    "checkbox": "checkbox",
    "radio": "checkbox",
    "switch": "checkbox",
    "button": "button",
    "link": "link",
    "tab": "tab",
    "menuitem": "menuitem",
}


def draft_procedure(steps: Sequence[Step], task: str) -> Procedure | None:
    """Return the steps that do again what a person did; ``None`` where nothing is left of it."""
    needed = _without_repeats(_without_detours(_without_noise(steps)))
    drafting = _Drafting(task, urlsplit(steps[0].url).netloc if steps else "")
    for step in needed:
        drafting.add(step)
    if not drafting.entries or len(drafting.entries) > STEP_LIMIT:
        return None
    return Procedure(
        entries=tuple(drafting.entries),
        unread=tuple(dict.fromkeys(drafting.unread))[:NEVER_LIMIT],
        origin=ProcedureOrigin.TAKEOVER,
    )


# noise


def _without_noise(steps: Sequence[Step]) -> list[Step]:
    return [step for step in steps if step.action is not None and not _is_noise(step)]


def _is_noise(step: Step) -> bool:
    beside = _kind(step) in ("mouse_click", "mouse_dblclick") and step.effect not in (
        Effect.CHANGED,
        Effect.NAVIGATED,
    )
    return _kind(step) in _NOISE or _key(step) in _MOVES or step.effect == Effect.NOTHING or beside


def _without_detours(steps: list[Step]) -> list[Step]:
    """Leave out pages that were left by going back, and menus that were closed again."""
    kept: list[Step] = []
    for at, step in enumerate(steps):
        last = kept[-1] if kept else None
        after = steps[at + 1] if at + 1 < len(steps) else None
        if last is not None and (
            (_kind(step) == "go_back" and last.effect == Effect.NAVIGATED) or _closes(last, step, after)
        ):
            kept.pop()
            continue
        kept.append(step)
    return kept


def _closes(opened: Step, step: Step, after: Step | None) -> bool:
    """Whether a step closed what the one before it opened: the page is as it was."""
    closing = _key(step) == "Escape" or (_kind(step) == "click" and _same_target(opened, step))
    if _kind(opened) != "click" or not closing or after is None:
        return False
    return bool(opened.page_state) and opened.page_state == after.page_state != step.page_state


def _without_repeats(steps: list[Step]) -> list[Step]:
    kept: list[Step] = []
    for at, step in enumerate(steps):
        if _kind(step) == "click" and _is_field(step) and _filled_next(steps[at + 1 :], step):
            continue
        if _kind(step) == "fill":
            start = max((n for n, one in enumerate(kept) if _kind(one) != "fill"), default=-1) + 1
            kept[start:] = [one for one in kept[start:] if not _same_target(one, step)]
        kept.append(step)
    return kept


def _filled_next(following: Sequence[Step], click: Step) -> bool:
    return bool(following) and _kind(following[0]) == "fill" and _same_target(following[0], click)


def _same_target(one: Step, other: Step) -> bool:
    a, b = one.target, other.target
    if a is None or b is None:
        return False
    return (a.locator == b.locator) if a.locator and b.locator else (a.role, a.name) == (b.role, b.name)


# steps


class _Drafting:
    """The steps so far, and the placeholders of their fields."""

    def __init__(self, task: str, host: str) -> None:
        self.entries: list[ProcedureStep] = []
        self.unread: list[str] = []
        self._task, self._host = task.casefold(), host
        self._names: dict[str, str] = {}

    def add(self, step: Step) -> None:
        """Add the steps of one action, or what can't be one as unread."""
        made = self._steps(step)
        self.entries += made
        if not made:
            self.unread.append(POINTED.get(_kind(step)) or one_line(step.words, MAX_NAME))

    def _steps(self, step: Step) -> list[ProcedureStep]:
        target, args = step.target, step.action.args if step.action is not None else {}
        match _kind(step):
            case "click" | "dblclick" if target is not None and args.get("button", "left") == "left":
                return [_on(StepKind.PRESS, target)]
            case "fill" if target is not None:
                return [_on(StepKind.FILL, target, f"{{{self._placeholder(target)}}}")]
            case "select_option" if target is not None:
                given = args.get("options")
                options = [str(one) for one in given] if isinstance(given, list) else [str(given or "")]
                return [_on(StepKind.CHOOSE, target, self._option(target, one)) for one in options if one]
            case "press" | "keyboard_press" if _key(step) in _KEYS:
                return [ProcedureStep(kind=StepKind.PRESS, target=_KEYS[_key(step)])]
            case "goto":
                return self._opened(str(args.get("url", "")))
            case _:
                return []

    def _option(self, target: ActionTarget, option: str) -> str:
        named = re.search(rf"(?<!\w){re.escape(option.casefold())}(?!\w)", self._task) is not None
        return f"{{{self._placeholder(target)}}}" if named or MARK in option else option[:MAX_NAME]

    def _opened(self, url: str) -> list[ProcedureStep]:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or MARK in url:
            return []
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        return [ProcedureStep(kind=StepKind.OPEN, target=path if parts.netloc == self._host else url)]

    def _placeholder(self, target: ActionTarget) -> str:
        """Return the placeholder of a field; two fields of one name get two."""
        field = target.locator or f"{target.role} {target.name}"
        if field not in self._names:
            name, number = placeholder_name(target.name), 1
            while (unique := name if number == 1 else f"{name}_{number}") in self._names.values():
                number += 1
            self._names[field] = unique
        return self._names[field]


def placeholder_name(field: str) -> str:
    """Return a field's name as a placeholder is written: ``order_number``."""
    plain = unicodedata.normalize("NFKD", field).encode("ascii", "ignore").decode().casefold()
    words = re.findall(r"[a-z0-9]+", plain.replace(MARK.casefold(), " "))
    name = "_".join(words)[:50].strip("_")
    return name if name[:1].isalpha() else f"value_{name}".rstrip("_")


def _on(kind: StepKind, target: ActionTarget, value: str = "") -> ProcedureStep:
    name = one_line(target.name, MAX_NAME)
    role = _ROLES.get(target.role, "")
    if not name or MARK in name:
        name, role = target.role or "control", ""
    name = name.replace("{", "(").replace("}", ")")
    return ProcedureStep(kind=kind, target=name, role=role, value=value, locator=target.locator)


def _is_field(step: Step) -> bool:
    return step.target is not None and step.target.role in _FIELDS


def _kind(step: Step) -> str:
    return step.action.kind if step.action is not None else ""


def _key(step: Step) -> str:
    args = step.action.args if step.action is not None else {}
    keyed = _kind(step) in ("press", "keyboard_press")
    return str(args.get("key_comb", args.get("key", ""))) if keyed else ""
