"""Colours are readable, follow the mode, and reach every style; small widgets behave as documented."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QLabel, QWidget

from app.models.common.commands import CommandCenter
from app.views.frame.color_roles import ROLES, SCHEMES, TINTED, contrast, derived
from app.views.frame.theme import Theme
from app.views.widgets import Badge, ElidedLabel, EmptyState, Splitter, Toast

TEXTS = ("text", "muted", "accent", "ok", "warn", "fail", "live")


@pytest.mark.parametrize("scheme", list(SCHEMES))
def test_every_text_role_can_be_read_on_every_ground(scheme: str) -> None:
    roles = derived(scheme)
    assert set(SCHEMES[scheme]) == set(ROLES)
    grounds = ["surface", "raised", "hover", "selected"]
    for text in TEXTS:
        own_tint = [f"tint_{text}"] if text in TINTED else [f"tint_{name}" for name in TINTED]
        for ground in [*grounds, *own_tint]:
            assert contrast(roles[text], roles[ground]) >= 4.5, f"{text} on {ground}"
    assert contrast(roles["on_accent"], roles["accent"]) >= 4.5


@pytest.mark.parametrize("scheme", list(SCHEMES))
def test_the_edge_of_a_control_can_be_seen(scheme: str) -> None:
    roles = derived(scheme)
    assert contrast(roles["edge"], roles["raised"]) >= 3


@pytest.mark.parametrize("scheme", ["contrast_light", "contrast_dark"])
def test_high_contrast_holds_seven_to_one(scheme: str) -> None:
    roles = derived(scheme)
    for text in TEXTS:
        assert contrast(roles[text], roles["raised"]) >= 7


def test_the_mode_changes_colours_at_run_time_and_tells(theme: Theme, qapp: QApplication) -> None:
    told: list[str] = []
    theme.changed.connect(lambda: told.append(theme.scheme))
    theme.set_mode("dark")
    assert told[-1] == "dark"
    assert theme.is_dark
    assert qapp.palette().window().color().name().upper() == SCHEMES["dark"]["surface"]
    theme.set_mode("contrast")
    assert theme.scheme.startswith("contrast_")
    theme.set_mode("light")
    assert qapp.palette().window().color().name().upper() == SCHEMES["light"]["surface"]


def test_it_follows_the_system_while_it_runs(theme: Theme, settle, monkeypatch) -> None:
    hints = QGuiApplication.styleHints()
    theme.set_mode("system")
    for wish, scheme in (((True, False), "dark"), ((True, True), "contrast_dark"), ((False, False), "light")):
        monkeypatch.setattr(theme, "_system", lambda wish=wish: wish)
        hints.colorSchemeChanged.emit(Qt.ColorScheme.Dark if wish[0] else Qt.ColorScheme.Light)
        settle()
        assert theme.scheme == scheme


def test_a_person_can_ask_for_no_motion(theme: Theme) -> None:
    theme.set_reduced_motion(True)
    assert not theme.motion


def test_the_style_sheet_has_no_unfilled_place_and_no_colour_of_its_own(theme: Theme) -> None:
    from app.assets import resource

    assert "$" not in theme.style_sheet()
    for file in resource("styles").glob("*.qss"):
        for line in file.read_text("utf-8").splitlines():
            value = line.partition("{")[2]
            assert "#" not in value, f"{file.name}: {line}"


def test_text_grows_from_80_to_200_per_cent(theme: Theme) -> None:
    theme.set_zoom(9)
    assert theme.zoom == 2.0
    assert theme.font().pixelSize() == 26
    theme.set_zoom(0.1)
    assert theme.zoom == 0.8
    theme.step_zoom(1)
    assert theme.zoom == 0.9


def test_an_icon_follows_the_theme(theme: Theme) -> None:
    icon = theme.icon("magnify", "accent")

    def strongest() -> str:
        image = icon.pixmap(QSize(32, 32)).toImage()
        pixels = [image.pixelColor(x, y) for x in range(32) for y in range(32)]
        return max(pixels, key=lambda color: color.alpha()).name().upper()

    assert strongest() == SCHEMES["light"]["accent"]
    theme.set_mode("dark")
    assert strongest() == SCHEMES["dark"]["accent"]


def test_every_icon_of_the_command_table_exists(theme: Theme, center: CommandCenter) -> None:
    for command in center.commands:
        if command.icon:
            assert not theme.icon(command.icon).pixmap(QSize(16, 16)).isNull(), command.id


def test_a_long_address_is_cut_in_the_middle_and_whole_in_the_tooltip(qapp: QApplication) -> None:
    label = ElidedLabel(Qt.TextElideMode.ElideMiddle)
    label.setText("http://gitlab.example:8023/byteblaze/dotfiles/-/milestones/new?sort=created_date")
    label.resize(160, 20)
    label.show()
    assert "…" in label.shown()
    assert label.shown().startswith("http")
    assert label.toolTip() == label.text()
    assert label.minimumSizeHint().width() < 40
    label.resize(2000, 20)
    assert label.shown() == label.text()
    assert label.toolTip() == ""


def test_an_empty_state_names_the_key_and_does_it(theme: Theme, center: CommandCenter) -> None:
    done: list[bool] = []
    center.bind("runs.import", lambda: done.append(True))
    state = EmptyState("No runs yet", "Import a folder of runs.", "runs.import", center)
    assert "Ctrl+O" in state.button.text()
    state.button.click()
    assert done == [True]
    center.remap("runs.import", ["Ctrl+Shift+I"])
    assert "Ctrl+Shift+I" in state.button.text()


def test_a_toast_offers_undo_once(theme: Theme) -> None:
    host = QWidget()
    host.resize(800, 600)
    host.show()
    toast, undone = Toast(host), []
    toast.say("Retired tip gitlab-013", "Undo", lambda: undone.append(True))
    assert toast.isVisible()
    assert toast.geometry().bottom() < 600
    toast._button.click()
    assert undone == [True]
    assert not toast.isVisible()


def test_columns_fold_and_come_back_as_wide_as_they_were(theme: Theme) -> None:
    columns = Splitter(defaults=(240, 0, 280))
    for name in "abc":
        columns.addWidget(QLabel(name))
    columns.resize(1200, 600)
    columns.show()
    columns.reset()
    before = columns.sizes()
    columns.toggle(0)
    assert columns.is_folded(0)
    saved = columns.save()
    columns.toggle(0)
    assert abs(columns.sizes()[0] - before[0]) <= 2
    columns.restore(saved)
    assert columns.is_folded(0)
    columns.toggle(0)
    assert abs(columns.sizes()[0] - before[0]) <= 2


def test_the_last_open_column_stays(theme: Theme) -> None:
    columns = Splitter(defaults=(100, 0))
    for name in "ab":
        columns.addWidget(QLabel(name))
    columns.resize(400, 100)
    columns.show()
    columns.toggle(0)
    columns.toggle(1)
    assert not columns.is_folded(1)


def test_a_badge_says_its_word_to_a_screen_reader(theme: Theme) -> None:
    badge = Badge("active", "ok", theme)
    assert badge.accessibleName() == "active"
    badge.set("retired", "muted")
    assert badge.accessibleName() == "retired"
