"""Turn a person's mouse and keyboard input into actions: clicks, filled fields, keys, scrolling."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass, replace

from app.engine.agent.secret_masking import field_key
from app.engine.agent.secrets import Secrets
from app.engine.agent.takeover.page_tracker import PageTracker
from app.engine.agent.takeover.recorded_steps import ActionDraft, TrackedPage
from app.engine.agent.takeover.secret_input import is_secret, looks_secret
from app.engine.browser.manual_input.input_target import FieldContent, FocusedField
from app.engine.browser.manual_input.key_events import ALT, CTRL, META, SHIFT, inserted_text
from app.engine.browser.manual_input.press_notes import ExpectedPress
from app.engine.core.actions.recorded import ArgValue
from app.engine.core.page_input import InputKind, MouseButton, PageInput
from app.engine.core.page_state import Element

LETTERS_SECONDS = 5.0
"""Seconds within which a letter continues a text that missed its field."""
HIDDEN_TEXT = "[hidden text]"
"""Stands for a text typed where no field has the cursor."""
DRAG_DISTANCE = 6.0
"""CSS pixels between press and release beyond which it was a drag."""
DOUBLE_CLICK_SECONDS = 0.6
"""Seconds within which two clicks are a double click."""
IDLE_SECONDS = 0.6
"""Seconds without input after which an action is finished."""
PATIENT_QUESTIONS = 4
"""Times a busy page is asked for its cursor before text goes where it must belong."""
MAX_VALUE = 2_000

_MODIFIER_KEYS = frozenset(
    [
        "Shift",
        "Control",
        "Alt",
        "Meta",
        "AltGraph",
        "CapsLock",
        "NumLock",
        "ScrollLock",
        "Dead",
        "Process",
        "Unidentified",
    ]
)
_FIELDS = frozenset({"textbox", "searchbox", "spinbutton"})
_OPENING = frozenset({"ArrowDown", "ArrowUp", " ", "Enter", "F4"})
_ROWS = {"ArrowDown": 1, "ArrowUp": -1, "PageDown": 10, "PageUp": -10, "Home": -100_000, "End": 100_000}
_EDITING = frozenset("acvxzy")
_BITS = ((CTRL, "Control"), (ALT, "Alt"), (META, "Meta"), (SHIFT, "Shift"))


@dataclass(frozen=True, slots=True)
class PressedButton:
    """A press on its way to the page; ``at`` is Unix seconds, ``began`` by ``time.monotonic()``."""

    one: PageInput
    expected: ExpectedPress
    at: float
    began: float


class InputRecorder:
    """The actions of one takeover, in order.

    Attributes:
        done: finished actions that are not recorded yet.
        masked: fields whose contents are kept out of everything.
        choosing: a list of choices is open.
    """

    def __init__(self, tracker: PageTracker, secrets: Secrets) -> None:
        self._tracker, self._secrets = tracker, secrets
        self._open: ActionDraft | None = None
        self._field: ActionDraft | None = None
        self._typed = ""
        self._held = False
        self.done: deque[ActionDraft] = deque()
        self.masked = 0
        self._letter, self._letter_at = "", float("-inf")
        """The last letter typed where no field has the cursor, and when; ``HIDDEN_TEXT`` within a text."""
        self.choosing = False

    @property
    def pending(self) -> bool:
        """Whether the last action may continue."""
        return self._open is not None and not _is_field_click(self._open)

    def close_idle(self) -> None:
        """Finish an action that had no input for a while; a field is left only by going elsewhere."""
        if self._open is None or _is_field_click(
            self._open
        ):  # typing there becomes one action with the click
            return
        if time.monotonic() - self._open.ended > IDLE_SECONDS:
            self._close()

    async def finish(self) -> None:
        """Finish everything."""
        if self.choosing:
            self.choosing, _ = await self._tracker.choose("shut")
        await self.leave_field()
        self._close()

    # ------------------------------------------------------------ mouse

    def press(self, one: PageInput) -> PressedButton:
        """Begin to note a press that is about to be sent; nothing is asked of the page."""
        return PressedButton(
            one, self._tracker.expect_press(one.x, one.y), at=time.time(), began=time.monotonic()
        )

    async def pressed(self, press: PressedButton) -> None:
        """Note a press after it was sent, by what the page reported."""
        one, target = press.one, await self._tracker.pressed(press.expected)
        await self.leave_field(target.held, look_again=False)
        last = self._open
        if one.clicks >= 2 and last is not None and last.kind in ("click", "mouse_click"):
            if press.began - last.ended < DOUBLE_CLICK_SECONDS:
                last.kind = "dblclick" if last.kind == "click" else "mouse_dblclick"
                last.ended = press.began
            return
        self._close()
        if target.lists:
            await self._opened(self._draft("select_option", target.element, target.look))
            return
        kind = "click" if target.element is not None else "mouse_click"
        draft = self._open = self._draft(kind, target.element, target.look)
        draft.captured, draft.point = target.captured, (one.x, one.y)
        draft.at, draft.began, draft.ended = press.at, press.began, press.began
        if target.element is None:
            draft.args = {"x": round(one.x, 1), "y": round(one.y, 1)}
        if one.button not in (MouseButton.LEFT, MouseButton.NONE):
            draft.args["button"] = one.button.value

    async def chooses(self, one: PageInput) -> None:
        """Handle input while a list of choices is open; the page gets nothing of it."""
        match one.kind, one.key:
            case InputKind.PRESS, _:
                operation, y = "press", one.y
            case InputKind.WHEEL, _:
                operation, y = "scroll", one.dy
            case InputKind.KEY_DOWN, "ArrowDown" | "ArrowUp" | "PageDown" | "PageUp" | "Home" | "End":
                operation, y = "step", _ROWS[one.key]
            case InputKind.KEY_DOWN, "Enter" | " " | "Tab":
                operation, y = "take", 0.0
            case InputKind.KEY_DOWN, "Escape":
                operation, y = "shut", 0.0
            case _:
                return
        self.choosing, chosen = await self._tracker.choose(operation, one.x, y)
        if not self.choosing:
            draft, self._field = self._field, None
            if draft is not None and chosen is not None:
                self._filled(draft, FieldContent(chosen=(chosen,)))

    def released(self, at: float) -> None:
        """Note that the button was released near its press, at ``at`` by ``time.monotonic()``."""
        draft = self._open
        if draft is not None and draft.kind in ("click", "mouse_click"):
            draft.ended = max(draft.ended, at)

    async def dragged(self, one: PageInput) -> None:
        """Handle a release far from its press."""
        draft = self._open
        if draft is None or draft.point is None or draft.kind not in ("click", "mouse_click"):
            return
        draft.ended = time.monotonic()
        x, y = draft.point
        look, target = await self._tracker.element_at(one.x, one.y)
        draft.kind, draft.args = "drag_and_drop", {}
        if draft.element is not None and target not in (None, draft.element) and look is draft.before:
            draft.args = {"from_bid": str(draft.element.index), "to_bid": str(target.index)}
        else:
            draft.args = {"from_x": round(x, 1), "from_y": round(y, 1)}
            draft.args |= {"to_x": round(one.x, 1), "to_y": round(one.y, 1)}
        self._close()

    def wheeled(self, one: PageInput) -> None:
        """Handle a turn of the wheel."""
        draft = self._folded(ActionDraft(kind="scroll", before=self._tracker.before))
        for name, more in (("delta_x", one.dx), ("delta_y", one.dy)):
            known = draft.args.get(name, 0.0)
            draft.args[name] = round((known if isinstance(known, int | float) else 0) + more)

    # ------------------------------------------------------------ keyboard

    async def key(self, one: PageInput) -> bool:
        """Handle a key press; return whether the page is to get it (not a key that opens a list of choices)."""
        if one.key in _MODIFIER_KEYS:
            return True
        cursor, look, element = await self._cursor(one)
        if cursor.typable and not self._is_command(one):
            return await self._key_in_field(one, cursor, look, element)
        await self.leave_field()
        if one.key == "Tab":
            return True
        presses = cursor.presses and one.key in ("Enter", " ") and not one.modifiers & ~SHIFT
        if presses and element is not None:
            self._once("click", element, look, {})
        elif inserted_text(one).strip():
            self._letter_without_field(one)
        else:
            args: dict[str, ArgValue] = {"key": _combination(one)}
            self._folded(ActionDraft(kind="keyboard_press", before=self._tracker.before, args=args))
        return True

    def _letter_without_field(self, one: PageInput) -> None:
        """Note a letter typed where no field has the cursor.

        One letter, or the same again, is a shortcut of the page. Different ones in a row are a text that missed its
        field, which may be a password: together they are one step that does not hold it.
        """
        now, key = time.monotonic(), _combination(one)
        is_text = now - self._letter_at < LETTERS_SECONDS and key != self._letter
        self._letter_at, self._letter = now, HIDDEN_TEXT if is_text else key
        last = self._open
        if is_text and last is not None and last.kind == "keyboard_press" and last.element is None:
            if last.args != {"key": HIDDEN_TEXT}:
                self.masked += 1
            last.args, last.ended, last.times = {"key": HIDDEN_TEXT}, now, 1
            return
        args: dict[str, ArgValue] = {"key": self._letter}
        self._folded(ActionDraft(kind="keyboard_press", before=self._tracker.before, args=args))

    async def _cursor(self, one: PageInput) -> tuple[FocusedField, TrackedPage, Element | None]:
        """Return what has the cursor; of a busy page what must have it.

        Text is gathered by field, not by the clock: it goes into the field that is being filled in or was clicked.
        Where neither is known it may be a password, so it is kept secret.
        """
        writes = one.kind is InputKind.TEXT or (inserted_text(one) and one.key not in ("Enter", "Tab", " "))
        cursor, look, element = await self._tracker.cursor()
        for _ in range(PATIENT_QUESTIONS - 1):
            if cursor.known or self._field is not None or not writes:
                break
            cursor, look, element = await self._tracker.cursor()
        if cursor.known:
            return cursor, look, element
        if self._field is not None:
            return replace(cursor, typable=True, held=True), look, self._field.element
        if self._open is not None and _is_field_click(self._open):
            return replace(cursor, typable=True), self._open.before, self._open.element
        return replace(cursor, typable=bool(writes)), look, element

    async def _key_in_field(
        self, one: PageInput, cursor: FocusedField, look: TrackedPage, element: Element | None
    ) -> bool:
        is_list = element is not None and element.tag == "select"
        if is_list and one.key in _OPENING and not one.modifiers & ~ALT:
            await self.leave_field()
            self._close()
            if await self._opens(look, element):
                return False
        if one.key in ("Tab", "Escape") or (one.key == "Enter" and not cursor.many and not is_list):
            if await self.leave_field():
                _, look, element = await self._tracker.cursor()
            if one.key == "Enter" and element is not None:
                self._once("press", element, look, {"key_comb": _combination(one)})
            elif one.key != "Tab":
                self._once("keyboard_press", None, None, {"key": _combination(one)})
        else:
            text = "" if one.key in ("Enter", "Tab") else inserted_text(one)
            await self._types(cursor, look, element, text)
        return True

    async def text(self, one: PageInput) -> None:
        """Handle text that is pasted or composed by an input method."""
        cursor, look, element = await self._cursor(one)
        if cursor.typable:
            await self._types(cursor, look, element, one.text)

    async def leave_field(self, held: FieldContent | None = None, *, look_again: bool = True) -> bool:
        """Finish the field being filled in with its content, ``held`` where that is known; return whether it changed.

        The page is looked at once more then, for what comes next, unless that has happened already.
        """
        draft, self._field = self._field, None
        if draft is None or not self._filled(draft, held or await self._tracker.held()):
            return False
        if look_again:
            await self._tracker.refresh()
        return True

    async def shortcut(self, kind: str, args: dict[str, object]) -> None:
        """Handle a command to the browser itself, such as going back."""
        await self.leave_field()
        self._close()
        draft = self._draft(kind)
        draft.args = {name: value for name, value in args.items() if isinstance(value, str | int)}
        self.done.append(draft)

    # ------------------------------------------------------------ internals

    async def _opens(self, look: TrackedPage, element: Element | None) -> bool:
        """Open the list of choices with the cursor; return whether that worked."""
        chosen = await self._tracker.open_list()
        if chosen is None:
            return False
        await self._opened(self._draft("select_option", element, look), chosen)
        return True

    async def _opened(self, draft: ActionDraft, chosen: FieldContent | None = None) -> None:
        draft.was = _held_text(chosen or await self._tracker.held())
        self._field, self._typed, self._held = draft, "", True
        self.choosing = True

    async def _types(
        self, cursor: FocusedField, look: TrackedPage, element: Element | None, text: str
    ) -> None:
        if self._field is not None and (cursor.held or self._continues(element)):
            if not self._held:  # the page was too busy to be asked before
                self._held = await self._tracker.hold() is not None
            self._typed += text
            self._field.ended = time.monotonic()
            return
        await self.leave_field()
        if (
            self._open is not None
            and _is_field_click(self._open)
            and _same_field(self._open.element, element)
        ):
            self._open = None
        self._close()
        before = await self._tracker.hold()
        self._held = before is not None
        draft = self._draft("fill", element, look)
        draft.was = _held_text(before) if before is not None or element is None else element.value
        draft.secret = is_secret(element, cursor.facts) or (element is None and not cursor.known)
        if draft.secret and element is not None:
            self._secrets.hide("", field_key(element))
        self._field, self._typed = draft, text

    def _continues(self, element: Element | None) -> bool:
        """Whether a field that could not be held is still the one being filled in."""
        return not self._held and self._field is not None and _same_field(self._field.element, element)

    def _filled(self, draft: ActionDraft, held: FieldContent | None) -> bool:
        """Finish a filled field; return whether its content changed."""
        value = _held_text(held) if held is not None else draft.was + self._typed
        if value == draft.was:
            return False
        if held is not None and held.chosen is not None:
            draft.kind, draft.args = "select_option", {"options": list(held.chosen)}
        else:
            draft.secret = draft.secret or looks_secret(value)
            draft.args = {"value": value[:MAX_VALUE]}
        if draft.secret:
            self.masked += 1
            self._secrets.hide(value.strip(), field_key(draft.element) if draft.element is not None else None)
        self.done.append(draft)
        return True

    def _draft(
        self, kind: str, element: Element | None = None, look: TrackedPage | None = None
    ) -> ActionDraft:
        now = time.monotonic()
        return ActionDraft(
            kind=kind,
            before=look or self._tracker.before,
            element=element,
            at=time.time(),
            began=now,
            ended=now,
        )

    def _once(
        self, kind: str, element: Element | None, look: TrackedPage | None, args: dict[str, str]
    ) -> None:
        self._close()
        draft = self._draft(kind, element, look)
        draft.args = dict(args)
        self.done.append(draft)

    def _folded(self, new: ActionDraft) -> ActionDraft:
        """Return the open action where this continues it, else a new one."""
        now = time.monotonic()
        last = self._open
        if last is not None and new.same_as(last) and now - last.ended < IDLE_SECONDS * 2:
            last.ended, last.times = now, last.times + 1
            return last
        self._close()
        new.at, new.began, new.ended = time.time(), now, now
        self._open = new
        return new

    def _close(self) -> None:
        draft, self._open = self._open, None
        if draft is not None:
            self.done.append(draft)

    def _is_command(self, one: PageInput) -> bool:
        """Whether a shortcut is the page's own rather than one that edits text."""
        held = one.modifiers & (CTRL | META)
        return bool(held) and not inserted_text(one) and len(one.key) == 1 and one.key.lower() not in _EDITING


def _is_field_click(draft: ActionDraft) -> bool:
    element = draft.element
    return draft.kind == "click" and element is not None and element.role in _FIELDS


def _same_field(one: Element | None, other: Element | None) -> bool:
    return one is not None and other is not None and field_key(one) == field_key(other)


def _held_text(held: FieldContent | None) -> str:
    if held is None:
        return ""
    return "\n".join(held.chosen) if held.chosen is not None else held.value


def _combination(one: PageInput) -> str:
    """Return a key with its modifiers as actions write it (``Control+Enter``)."""
    held = [name for bit, name in _BITS if one.modifiers & bit]
    if len(one.key) == 1 and held == ["Shift"]:
        held = []
    return "+".join([*held, one.key or one.code])
