"""Page input: DOM key names, CSS pixels, order, and a slow engine."""

from __future__ import annotations

import asyncio

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent

from app.engine.core.page_input import InputKind, MouseButton, PageInput
from app.errors import Conflict
from app.models.live import input_events
from app.models.live.page_input_model import PageInputModel

K, M = Qt.Key, Qt.KeyboardModifier
NONE = M.NoModifier


def pressed(key, modifiers=NONE, text="", down=True):
    kind = QEvent.Type.KeyPress if down else QEvent.Type.KeyRelease
    return input_events.key(QKeyEvent(kind, int(key), modifiers, text), down=down)


@pytest.mark.parametrize(
    ("key", "modifiers", "typed", "expected"),
    [
        (K.Key_A, NONE, "a", ("a", "KeyA", "a", 0)),
        (K.Key_A, M.ShiftModifier, "A", ("A", "KeyA", "A", 8)),
        (K.Key_7, NONE, "7", ("7", "Digit7", "7", 0)),
        (K.Key_Question, M.ShiftModifier, "?", ("?", "Slash", "?", 8)),
        (K.Key_Return, NONE, "\r", ("Enter", "Enter", "\r", 0)),
        (K.Key_Enter, M.KeypadModifier, "\r", ("Enter", "NumpadEnter", "\r", 0)),
        (K.Key_Tab, NONE, "\t", ("Tab", "Tab", "", 0)),
        (K.Key_Backtab, M.ShiftModifier, "", ("Tab", "Tab", "", 8)),
        (K.Key_Escape, NONE, "\x1b", ("Escape", "Escape", "", 0)),
        (K.Key_Left, M.KeypadModifier, "", ("ArrowLeft", "ArrowLeft", "", 0)),
        (K.Key_F5, NONE, "", ("F5", "F5", "", 0)),
        (K.Key_Space, NONE, " ", (" ", "Space", " ", 0)),
        (K.Key_Shift, M.ShiftModifier, "", ("Shift", "ShiftLeft", "", 8)),
        (K.Key_Control, NONE, "", ("Control", "ControlLeft", "", 2)),
        (K.Key_C, M.ControlModifier, "\x03", ("c", "KeyC", "", 2)),
        (K.Key_Z, M.ControlModifier | M.ShiftModifier, "\x1a", ("Z", "KeyZ", "", 10)),
        (K.Key_E, M.MetaModifier, "e", ("e", "KeyE", "", 4)),
        (K.Key_Q, M.ControlModifier | M.AltModifier, "@", ("@", "Digit2", "@", 0)),
        (0x20AC, M.GroupSwitchModifier, "€", ("€", "", "€", 0)),
        (K.Key_Adiaeresis, NONE, "ä", ("ä", "", "ä", 0)),
        (K.Key_unknown, NONE, "漢", ("漢", "", "漢", 0)),
    ],
)
def test_a_key_is_named_as_a_page_names_it(key, modifiers, typed, expected):
    found = pressed(key, modifiers, typed)
    assert (found.key, found.code, found.text, found.modifiers) == expected
    assert found.kind is InputKind.KEY_DOWN
    assert found.at > 0


def test_a_key_that_comes_up_puts_nothing_in():
    found = pressed(K.Key_A, NONE, "a", down=False)
    assert (found.kind, found.key, found.text) == (InputKind.KEY_UP, "a", "")
    assert pressed(K.Key_Control, M.ControlModifier, down=False).modifiers == 0


@pytest.mark.parametrize("key", [K.Key_Dead_Acute, K.Key_MediaPlay, K.Key_unknown, K.Key_VolumeUp])
def test_keys_that_no_page_knows_stay_here(key):
    assert pressed(key) is None


def test_a_paste_of_a_megabyte_is_cut_to_what_a_page_is_given():
    assert len(input_events.text("x" * 1_000_000).text) == input_events.MAX_TEXT_LENGTH


# ------------------------------------------------------------------------------------------------ the queue


class SlowEngine:
    """Completes each call only when it is released."""

    def __init__(self):
        self.calls: list[tuple[str, tuple[PageInput, ...]]] = []
        self.gate = asyncio.Event()
        self.error: Exception | None = None

    async def send_input(self, run, inputs):
        self.calls.append((run, tuple(inputs)))
        await self.gate.wait()
        if self.error is not None:
            raise self.error


@pytest.fixture
def slow(client, tasks):
    client.api = engine = SlowEngine()
    made = PageInputModel(client, tasks)
    made.hold("live-1")
    return made, engine


def move(x, button=MouseButton.NONE):
    return PageInput(kind=InputKind.MOVE, x=x, button=button)


def press(x):
    return PageInput(kind=InputKind.PRESS, x=x, button=MouseButton.LEFT)


def up(x):
    return PageInput(kind=InputKind.RELEASE, x=x, button=MouseButton.LEFT)


def test_one_call_at_a_time_moves_run_together_and_nothing_changes_its_place(slow, settle):
    hands, engine = slow
    hands.put(move(1))
    settle()
    for x in range(2, 200):
        hands.put(move(x))
    hands.put(press(200))
    hands.put(move(201, MouseButton.LEFT), move(202, MouseButton.LEFT))
    hands.put(up(203), move(204))
    settle()
    assert len(engine.calls) == 1
    engine.gate.set()
    settle(0.1)
    kinds = [(one.kind, one.x) for _, batch in engine.calls for one in batch]
    assert kinds == [
        (InputKind.MOVE, 1), (InputKind.MOVE, 199), (InputKind.PRESS, 200), (InputKind.MOVE, 202),
        (InputKind.RELEASE, 203), (InputKind.MOVE, 204),
    ]  # fmt: skip
    assert hands.waiting == 0


def test_an_engine_that_does_not_answer_gets_no_endless_queue_but_what_is_down_comes_up(slow, settle):
    hands, engine = slow
    hands.put(press(0))
    settle()
    for number in range(5_000):
        hands.put(PageInput(kind=InputKind.KEY_DOWN, key=str(number)))
    hands.put(up(1))
    assert hands.waiting < 2_100
    engine.gate.set()
    settle(0.1)
    assert engine.calls[-1][1][-1] == up(1)


def test_what_was_done_to_one_page_goes_there_though_another_is_held_now(slow, settle):
    hands, engine = slow
    hands.put(press(1))
    settle()
    hands.put(up(2))
    hands.hold("live-2")
    hands.put(press(3))
    engine.gate.set()
    settle(0.1)
    assert engine.calls == [("live-1", (press(1),)), ("live-1", (up(2),)), ("live-2", (press(3),))]


def test_a_refusal_is_told_once_and_one_that_comes_after_the_page_was_handed_back_is_not(slow, settle):
    hands, engine = slow
    told: list[str] = []
    hands.refused.connect(told.append)
    engine.error = Conflict("you don't have control of the page")
    engine.gate.set()
    hands.put(press(1))
    hands.put(up(1))
    settle(0.1)
    assert told == ["you don't have control of the page"]
    assert hands.waiting == 0
    hands.put(press(2))
    hands.hold("")
    settle(0.1)
    assert len(told) == 1
    hands.put(press(3))
    assert hands.waiting == 0
