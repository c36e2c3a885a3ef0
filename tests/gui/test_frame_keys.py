"""The command table is complete, its shortcuts do not collide, and they stay out of text fields."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit, QMainWindow, QMenuBar, QPushButton, QVBoxLayout, QWidget

from app.models.common.command import PERSPECTIVES
from app.models.common.commands import ACTIVE_PLACES, COMMANDS, MENUS, CommandCenter
from app.models.common.keymap import Keymap, is_plain, keys_overlap, normalized_key, readable_key, share_place
from app.models.common.palette import PaletteModel
from app.views.frame.main_window import build_menus
from app.views.frame.theme import Theme

UI_KEYS = {
    "review": {
        "J": "review.next",
        "K": "review.previous",
        "H": "review.step.previous",
        "L": "review.step.next",
        "Shift+H": "review.flag.previous",
        "Shift+L": "review.flag.next",
        **{str(number): f"review.verdict.{number}" for number in range(1, 10)},
        "T": "tip.compose",
        "U": "app.undo",
        "Shift+U": "app.redo",
        "G, R": "go.review",
        "G, K": "go.knowledge",
        "G, E": "go.evaluate",
        "/": "review.filter",
        "Ctrl+F": "app.search",
        "Ctrl+K": "app.palette",
        "?": "app.cheat_sheet",
        "Space": "review.preview",
        "Esc": "review.back",
        "Ctrl+1": "go.review",
        "Ctrl+4": "go.knowledge",
        "Ctrl+5": "go.evaluate",
    },
    "composer": {"Ctrl+Return": "composer.save", "Esc": "composer.close", "Ctrl+K": "app.palette"},
    "knowledge": {
        "J": "knowledge.next",
        "K": "knowledge.previous",
        "/": "knowledge.filter",
        "?": "app.cheat_sheet",
    },
}


@pytest.mark.parametrize(("place", "key"), [(place, key) for place, keys in UI_KEYS.items() for key in keys])
def test_every_key_of_the_design_does_its_thing(place: str, key: str) -> None:
    active = Keymap(COMMANDS).in_force(place)
    doing = [command for command, keys in active.items() if normalized_key(key) in keys]
    assert doing == [UI_KEYS[place][key]]


@pytest.mark.parametrize("place", list(ACTIVE_PLACES))
def test_no_two_commands_of_one_place_share_a_key(place: str) -> None:
    active = Keymap(COMMANDS).in_force(place)
    pairs = [(key, command) for command, keys in active.items() for key in keys]
    clashes = [
        (a, one, other)
        for number, (a, one) in enumerate(pairs)
        for b, other in pairs[number + 1 :]
        if one != other and keys_overlap(a, b)
    ]
    assert clashes == []


def test_the_defaults_collide_with_nothing_in_any_place() -> None:
    keymap = Keymap(COMMANDS)
    assert {c.id: found for c in COMMANDS if (found := keymap.conflicts(c.id, c.keys))} == {}


def test_ids_are_unique_and_keys_are_spelled_the_one_way() -> None:
    assert len({command.id for command in COMMANDS}) == len(COMMANDS)
    for command in COMMANDS:
        for key in command.keys:
            assert normalized_key(key) == key, f"{command.id}: {key!r}"


def test_every_command_is_in_the_palette_and_every_menu_name_is_known(center: CommandCenter) -> None:
    palette = PaletteModel(center)
    listed = {palette.command(row) for row in range(palette.rowCount())}
    assert listed == {command.id for command in COMMANDS}
    assert {command.menu.partition("/")[0] for command in COMMANDS if command.menu} <= set(MENUS)


def test_the_menus_hold_what_the_table_says(center: CommandCenter, theme: Theme) -> None:
    bar = QMenuBar()
    menus = build_menus(bar, center, theme)
    for command in COMMANDS:
        if command.menu:
            assert center.action(command.id) in menus[command.menu].actions(), command.id


def test_a_menu_of_another_perspective_is_not_shown(center: CommandCenter, theme: Theme) -> None:
    bar = QMenuBar()
    menus = build_menus(bar, center, theme)
    center.set_place("knowledge")
    assert not menus["Review"].menuAction().isVisible()
    center.set_place("review")
    assert menus["Review"].menuAction().isVisible()
    assert not menus["Knowledge"].menuAction().isVisible()


def window_with(center: CommandCenter, *widgets: QWidget) -> QMainWindow:
    window, middle = QMainWindow(), QWidget()
    layout = QVBoxLayout(middle)
    for widget in widgets:
        layout.addWidget(widget)
    window.setCentralWidget(middle)
    window.addActions(center.actions())
    window.show()
    window.activateWindow()
    QTest.qWaitForWindowActive(window)
    return window


def test_plain_keys_are_off_in_a_text_field_and_modified_ones_are_not(center: CommandCenter) -> None:
    done: list[str] = []
    for command in ("review.next", "app.undo", "go.review", "app.palette", "review.back", "app.cheat_sheet"):
        center.bind(command, lambda command=command: done.append(command))
    center.set_place("review")
    field, button = QLineEdit(), QPushButton("b")
    window = window_with(center, field, button)
    field.setFocus()
    QTest.keyClicks(field, "jug?r")
    assert field.text() == "jug?r"
    assert done == []
    QTest.keyClick(field, Qt.Key.Key_K, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClick(field, Qt.Key.Key_Escape)
    assert done == ["app.palette", "review.back"]
    done.clear()
    button.setFocus()
    QTest.keyClick(button, Qt.Key.Key_J)
    QTest.keyClick(button, Qt.Key.Key_G)
    QTest.keyClick(button, Qt.Key.Key_R)
    QTest.keyClick(button, Qt.Key.Key_U)
    assert done == ["review.next", "go.review", "app.undo"]
    window.close()


def test_a_command_works_only_in_its_place_and_only_when_it_can(center: CommandCenter) -> None:
    able = False
    center.bind("review.next", lambda: None, lambda: able)
    center.set_place("knowledge")
    assert not center.action("review.next").isEnabled()
    center.set_place("review")
    assert not center.action("review.next").isEnabled()
    able = True
    center.refresh()
    assert center.action("review.next").isEnabled()
    assert not center.action("review.previous").isEnabled()  # nobody bound it


def test_a_command_of_another_place_goes_there_first(center: CommandCenter) -> None:
    done: list[str] = []
    center.set_place("knowledge")
    center.bind("review.next", lambda: done.append("next"))
    center.place_wanted.connect(lambda place: (done.append(place), center.set_place(place)))
    assert center.trigger("review.next")
    assert done == ["review", "next"]


def test_binding_again_replaces(center: CommandCenter) -> None:
    done: list[int] = []
    center.bind("app.about", lambda: done.append(1))
    center.bind("app.about", lambda: done.append(2))
    center.trigger("app.about")
    assert done == [2]


def test_the_composers_escape_hides_the_reviews(center: CommandCenter) -> None:
    done: list[str] = []
    center.bind("review.back", lambda: done.append("review"))
    center.bind("composer.close", lambda: done.append("composer"))
    window = window_with(center, QPushButton("x"))
    for place in ("review", "composer"):
        center.set_place(place)
        QTest.keyClick(window, Qt.Key.Key_Escape)
    assert done == ["review", "composer"]
    window.close()


def test_a_taken_key_is_refused_and_named(center: CommandCenter) -> None:
    assert center.remap("review.next", ["K"]) == ["review.previous"]
    assert center.keys("review.next") == "J"
    assert center.remap("review.next", ["Ctrl+K"]) == ["app.palette"]
    chords = [f"go.{perspective.place}" for perspective in PERSPECTIVES]
    assert center.remap("review.next", ["G"]) == chords  # it begins each of them


def test_remapped_keys_are_saved_and_reset(center: CommandCenter) -> None:
    assert center.remap("review.next", ["Ctrl+Down", "F8"]) == []
    assert center.keys("review.next") == "Ctrl+Down"
    assert center.action("review.next").shortcut().toString() == "Ctrl+Down"
    saved = center.keymap.changes
    other = CommandCenter()
    other.load_keys({**saved, "gone.command": ["X"], "review.previous": "no list"})
    assert other.keymap.keys("review.next") == ("Ctrl+Down", "F8")
    assert other.keys("review.previous") == "K"
    other.reset_keys("review.next")
    assert other.keymap.changes == {}


def test_a_command_can_be_left_without_a_key(center: CommandCenter) -> None:
    assert center.remap("app.quit", []) == []
    assert center.keys("app.quit") == ""
    assert center.action("app.quit").toolTip() == "Quit"
    center.reset_keys()
    assert center.keys("app.quit") == "Ctrl+Q"


def test_undo_says_what_it_would_undo(center: CommandCenter) -> None:
    center.set_title("app.undo", "Undo retire tip gitlab-013")
    assert center.action("app.undo").text() == "Undo retire tip gitlab-013"
    center.set_title("app.undo", "")
    assert center.action("app.undo").text() == "Undo"


def test_keys_read_as_a_person_says_them() -> None:
    assert readable_key("G, R") == "G then R"
    assert readable_key("Ctrl+Return") == "Ctrl+Enter"
    assert readable_key("Shift+L") == "Shift+L"
    assert is_plain("G, R")
    assert not is_plain("Ctrl+K")
    assert not is_plain("F1")


@given(st.sampled_from(COMMANDS), st.sampled_from([key for command in COMMANDS for key in command.keys]))
def test_remapping_never_leaves_two_commands_of_a_place_on_one_key(command, key) -> None:
    keymap = Keymap(COMMANDS)
    keymap.remap(command.id, [key])
    for one in COMMANDS:
        for other in COMMANDS:
            if one.id < other.id and share_place(one.place, other.place):
                assert not set(keymap.keys(one.id)) & set(keymap.keys(other.id))
