"""A click goes to the page first; notes on it are taken beside and after, whole, in order, and without secrets."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any, cast

import pytest

from app.engine.agent.secrets import Secrets
from app.engine.agent.takeover import page_tracker
from app.engine.agent.takeover import takeover as takeover_module
from app.engine.agent.takeover.page_tracker import PageTracker
from app.engine.agent.takeover.recorded_steps import TrackedPage
from app.engine.agent.takeover.takeover import Takeover
from app.engine.browser.capture import snapshot
from app.engine.browser.capture.frames import IGNORE_PRESSES, FrameTree, IsolatedWorld
from app.engine.browser.manual_input import press_notes
from app.engine.browser.manual_input.input_target import FocusedField, InputTarget, PageUnreadable
from app.engine.browser.session import BrowserSession
from app.engine.core.events import EventBus
from app.engine.core.page_input import InputKind, MouseButton, PageInput
from app.engine.core.page_state import Element, PageCapture
from app.engine.core.redaction import MARK
from app.engine.core.trajectory import Step
from app.engine.jobs import JobRegistry

HOME = "http://shop.test/"
BUTTON = Element(index=0, role="button", name="Save", tag="button", css="#save", rect=(0.0, 0.0, 100.0, 40.0))
FIELD = Element(
    index=1, role="textbox", name="Name", tag="input", type="text", css="#name", rect=(0.0, 50.0, 100.0, 40.0)
)
SHOP = PageCapture(
    url=HOME, title="Shop", elements=(BUTTON, FIELD), tree="RootWebArea 'Shop'", viewport=(800, 600)
)
DESCRIBED = json.dumps({
    "origin": HOME, "strings": ["link", "Checkout", "a", "", "http://shop.test/checkout", "html", "body"],
    "landmarks": [[]], "paths": [[-1, 5, 1, 1, 3, 0], [0, 6, 1, 1, 3, 0], [1, 2, 1, 1, 3, 0]],
    "elements": [[0, 1, 2, 0, [5, 5, 90, 20], 0, 16, 4, 3, 3, 3, 3, [], 3, [], 3, 3, 2, 3, 0, 3]], "frames": [],
})  # fmt: skip


class Wire:
    """A DevTools connection that logs what is sent; presses are told by the page when the test says so."""

    def __init__(self) -> None:
        self.sent: list[str] = []
        self.tells: list[Callable[[dict[str, Any]], None]] = []
        self.answers: Callable[[], None] = lambda: None

    def on(self, event: str, heard: Callable[[dict[str, Any]], None]) -> None:
        if event == "Runtime.bindingCalled":
            self.tells.append(heard)

    def remove_listener(self, event: str, heard: Callable[[dict[str, Any]], None]) -> None:
        if event == "Runtime.bindingCalled":
            self.tells.remove(heard)

    async def send(self, method: str, parameters: Mapping[str, Any] | None = None) -> dict[str, Any]:
        kind = str((parameters or {}).get("type", ""))
        self.sent.append(f"{method} {kind}".strip())
        if kind == "mousePressed":
            self.answers()
        return {"identifier": "1", "result": {}, "executionContextId": 1, "frameTree": {"frame": {"id": "F"}}}

    def tell(self, **more: object) -> None:
        """The page tells of a press."""
        usual = {
            "generation": 0, "number": -1, "lists": False, "x": 10, "y": 10, "top": True, "url": HOME, "title": "Shop",
            "held": None, "described": None,
        }  # fmt: skip
        event = {"name": press_notes.BINDING, "executionContextId": 7, "payload": json.dumps(usual | more)}
        for heard in self.tells:
            heard(event)


class Page:
    """A tab behind one connection."""

    def __init__(self, wire: Wire) -> None:
        async def connect(_page: object) -> Wire:
            return wire

        self.url = HOME
        self.context = SimpleNamespace(new_cdp_session=connect)

    def is_closed(self) -> bool:
        return False


class Hands:
    """A takeover of such a page, its looks given by the test."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.wire = Wire()
        self.written: list[Step] = []
        self.registry = JobRegistry(EventBus())
        page = Page(self.wire)

        async def wire() -> Wire:
            return self.wire

        async def nothing(*_: object, **__: object) -> None:
            return None

        async def busy(*_: object) -> None:
            raise PageUnreadable("the page is busy", busy=True)

        patch.setattr(InputTarget, "at", busy)
        patch.setattr(takeover_module, "wait_for_tab_idle", nothing)
        patch.setattr(PageTracker, "look", nothing)
        patch.setattr(page_tracker, "NOTE_TIMEOUT", 0.2)
        session = SimpleNamespace(page=page, pages=[page], wire=wire, asked=None, in_hand=False)
        self.takeover = Takeover(
            cast("BrowserSession", session),
            secrets=Secrets(),
            home=HOME,
            write=self._write,
            spawn=self.registry.hold,
        )
        self.tracker = self.takeover._tracker
        self.tracker.latest = self.tracker.first = TrackedPage(page=SHOP, at=0.1)

    async def _write(self, step: Step, _blobs: Mapping[str, bytes]) -> int:
        self.written.append(step)
        return len(self.written) - 1

    async def end(self) -> list[str]:
        await self.takeover.end()
        await self.registry.aclose()
        return [step.words for step in self.written]


@pytest.fixture
def hands(monkeypatch: pytest.MonkeyPatch) -> Hands:
    return Hands(monkeypatch)


def click(x: float = 10, y: float = 10) -> list[PageInput]:
    return [
        PageInput(kind=kind, x=x, y=y, button=MouseButton.LEFT)
        for kind in (InputKind.MOVE, InputKind.PRESS, InputKind.RELEASE)
    ]


def key(letter: str) -> PageInput:
    return PageInput(kind=InputKind.KEY_DOWN, key=letter, code=f"Key{letter.upper()}", text=letter)


async def test_a_click_is_sent_before_anything_is_asked_of_the_page(hands: Hands) -> None:
    await hands.takeover.begin()
    hands.wire.sent.clear()
    await hands.takeover.input(click())
    assert hands.wire.sent[:3] == [
        "Input.dispatchMouseEvent mouseMoved",
        "Input.dispatchMouseEvent mousePressed",
        "Input.dispatchMouseEvent mouseReleased",
    ]
    hands.wire.tell(described=DESCRIBED)
    await hands.takeover._noted()
    assert [one for one in hands.wire.sent if not one.startswith("Input.")] == [], "nor afterwards"
    assert await hands.end() == ["click link 'Checkout'"]


async def test_a_click_does_not_wait_for_its_note(hands: Hands) -> None:
    await hands.takeover.begin()
    async with asyncio.timeout(10):
        await hands.takeover.input(click())
    assert hands.takeover._noting is not None
    assert not hands.takeover._noting.done()
    hands.wire.tell(described=DESCRIBED)
    assert await hands.end() == ["click link 'Checkout'"]


async def test_a_page_that_tells_late_loses_no_click_and_changes_no_order(hands: Hands) -> None:
    await hands.takeover.begin()
    for number in range(4):
        if number % 2:
            hands.wire.answers = lambda: hands.wire.tell(described=DESCRIBED)
        else:
            hands.wire.answers = lambda: None  # where it stood in the latest look is known
        await hands.takeover.input(click())
    assert await hands.end() == [
        "click button 'Save'",
        "click link 'Checkout'",
        "click button 'Save'",
        "click link 'Checkout'",
    ]


async def test_a_note_that_comes_after_its_time_is_not_taken_for_the_next_click(hands: Hands) -> None:
    await hands.takeover.begin()
    await hands.takeover.input(click(10, 10))
    await hands.takeover._noted()
    await hands.takeover.input(click(10, 60))
    hands.wire.tell(x=10, y=10, described=DESCRIBED)
    await hands.takeover._noted()
    assert await hands.end() == ["click button 'Save'", "click textbox 'Name'"]


async def test_a_click_that_leaves_the_page_keeps_the_name_and_the_address_of_what_it_hit(
    hands: Hands,
) -> None:
    await hands.takeover.begin()
    hands.wire.answers = lambda: hands.wire.tell(described=DESCRIBED, url=HOME + "basket", title="Basket")
    await hands.takeover.input(click())
    assert await hands.end() == ["click link 'Checkout'"]
    (step,) = hands.written
    assert (step.url, step.title, step.page_state) == (HOME + "basket", "Basket", "")
    assert step.target is not None
    assert step.target.locator


async def test_an_element_that_was_drawn_anew_is_the_one_of_the_look(hands: Hands) -> None:
    looked = Element(
        index=0, role="link", name="Checkout", tag="a", css="html > body > a", rect=(5.0, 5.0, 90.0, 20.0)
    )
    hands.tracker.latest = TrackedPage(
        page=PageCapture(url=HOME, title="Shop", elements=(looked,), tree="RootWebArea")
    )
    await hands.takeover.begin()
    hands.wire.answers = lambda: hands.wire.tell(described=DESCRIBED)
    await hands.takeover.input(click())
    assert await hands.end() == ["click link 'Checkout'"]
    assert hands.written[0].page_state, "the page was captured as it was"
    assert hands.takeover.path.steps[0].captured


async def test_a_page_of_which_only_the_element_was_told_is_no_state_of_the_map(hands: Hands) -> None:
    await hands.takeover.begin()
    hands.wire.answers = lambda: hands.wire.tell(described=DESCRIBED)
    await hands.takeover.input(click())
    await hands.end()
    assert not hands.takeover.path.steps[0].captured


@pytest.mark.parametrize("told", ["", "[]", "{}", '"x"', '{"number": "x"}', "\\ud800", "x" * 200_000])
async def test_a_note_that_makes_no_sense_is_none(hands: Hands, told: str) -> None:
    await hands.takeover.begin()
    await hands.takeover.input(click())
    for heard in hands.wire.tells:
        heard({"name": press_notes.BINDING, "executionContextId": 7, "payload": told})
    assert await hands.end() == ["click button 'Save'"]


class Cursor:
    """Answers to "what has the cursor", one after the other; the last for ever."""

    def __init__(self, hands: Hands, patch: pytest.MonkeyPatch, *answers: FocusedField) -> None:
        self._answers, self._hands = list(answers), hands

        async def held(*_: object) -> None:
            return None

        patch.setattr(hands.tracker, "cursor", self._cursor)
        patch.setattr(hands.tracker, "hold", held)
        patch.setattr(hands.tracker, "held", held)
        patch.setattr(hands.tracker, "refresh", held)

    async def _cursor(self) -> tuple[FocusedField, TrackedPage, Element | None]:
        found = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        return found, self._hands.tracker.before, FIELD if found.number == 1 else None


IN_FIELD = FocusedField(generation=1, number=1, typable=True, known=True)
BUSY = FocusedField()


@pytest.mark.parametrize(
    "answers",
    [
        pytest.param([IN_FIELD], id="the field can not be held"),
        pytest.param([IN_FIELD, BUSY], id="the page is busy from the second letter on"),
        pytest.param([BUSY, BUSY, IN_FIELD], id="the page is busy at the beginning"),
        pytest.param([IN_FIELD, BUSY, IN_FIELD, BUSY, IN_FIELD], id="now and then"),
    ],
)
async def test_text_is_gathered_by_field_and_not_by_the_clock(
    hands: Hands, monkeypatch: pytest.MonkeyPatch, answers: list[FocusedField]
) -> None:
    await hands.takeover.begin()
    Cursor(hands, monkeypatch, *answers)
    for letter in "7ac2":
        await hands.takeover.input([key(letter)])
        hands.takeover._recorder.close_idle()
    assert await hands.end() == ["type '7ac2' into textbox 'Name'"]


async def test_text_after_a_click_into_a_field_of_a_busy_page_is_one_step(
    hands: Hands, monkeypatch: pytest.MonkeyPatch
) -> None:
    await hands.takeover.begin()
    Cursor(hands, monkeypatch, BUSY)
    await hands.takeover.input(click(10, 60))
    await hands.takeover.input([key(letter) for letter in "7ac2"])
    assert await hands.end() == ["type '7ac2' into textbox 'Name'"]


async def test_text_into_a_field_that_nobody_knows_is_kept_secret(
    hands: Hands, monkeypatch: pytest.MonkeyPatch
) -> None:
    await hands.takeover.begin()
    Cursor(hands, monkeypatch, BUSY)
    await hands.takeover.input([key(letter) for letter in "swordfish"])
    words = await hands.end()
    assert len(words) == 1
    assert MARK in words[0]
    assert "swordfish" not in repr(hands.written)
    assert not any(f"'{letter}'" in repr(hands.written) for letter in "swordfish")


class LatePage:
    """A frame of its own process that answers nothing for a while."""

    def __init__(self) -> None:
        self.armed, self.busy = True, True

    async def call(self, expression: str, *, by_value: bool = True) -> str:
        if self.busy:
            await asyncio.Event().wait()
        if IGNORE_PRESSES in expression:
            self.armed = False
        return DESCRIBED


@pytest.mark.parametrize("by_hand", [False, True])
async def test_a_page_too_busy_to_be_left_is_left_by_the_agents_next_look(
    monkeypatch: pytest.MonkeyPatch, by_hand: bool
) -> None:
    monkeypatch.setattr(press_notes, "STOP_TIMEOUT", 0.05)
    page = LatePage()
    world = cast("IsolatedWorld", page)
    listener = press_notes.PressListener(cast("BrowserSession", SimpleNamespace(pages=[])), lambda: [world])
    await listener.stop()
    assert page.armed
    page.busy = False
    await snapshot._look(snapshot._CaptureRun(10, cast("FrameTree", None), by_hand=by_hand), world, "true")
    assert page.armed is by_hand, "a person's own look leaves their presses as they are"


NOWHERE = FocusedField(generation=1, typable=False, known=True)


async def test_a_text_that_missed_its_field_is_one_step_that_does_not_hold_it(
    hands: Hands, monkeypatch: pytest.MonkeyPatch
) -> None:
    await hands.takeover.begin()
    Cursor(hands, monkeypatch, NOWHERE)
    await hands.takeover.input([key(letter) for letter in "tidal-27"])
    assert await hands.end() == ["press [hidden text]"]
    written = repr(hands.written)
    assert not any(f"press {letter}" in written for letter in "tidal-27")


async def test_a_slowly_typed_text_that_missed_its_field_tells_one_letter_at_most(
    hands: Hands, monkeypatch: pytest.MonkeyPatch
) -> None:
    await hands.takeover.begin()
    Cursor(hands, monkeypatch, NOWHERE)
    for letter in "word":
        await hands.takeover.input([key(letter)])
        hands.takeover._recorder._close()
    words = await hands.end()
    assert words[0] == "press w"
    assert set(words[1:]) == {"press [hidden text]"}


async def test_one_letter_and_its_repeats_are_a_shortcut_of_the_page(
    hands: Hands, monkeypatch: pytest.MonkeyPatch
) -> None:
    await hands.takeover.begin()
    Cursor(hands, monkeypatch, NOWHERE)
    await hands.takeover.input([key("j"), key("j")])
    assert all("press j" in one for one in await hands.end())
