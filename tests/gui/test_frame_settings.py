"""The settings: shown, checked, saved on a worker thread, and never written over a file that was not read."""

from __future__ import annotations

import json

import pytest
from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QComboBox, QLineEdit, QWidget

from app import settings
from app.models.common.engine_client import LocalClient
from app.models.common.model_setup import ModelSetup
from app.models.common.settings_form import SettingsForm
from app.models.common.workspace import WorkspaceModel
from app.views.frame.settings_panel import SettingsPanel
from app.views.frame.theme import Theme
from tests.support.fake_engine import FakeEngine


@pytest.fixture
def form(tasks) -> SettingsForm:
    return SettingsForm(tasks)


@pytest.fixture
def engine() -> FakeEngine:
    return FakeEngine()


@pytest.fixture
def panel(form: SettingsForm, engine, tasks, theme: Theme, qtbot):
    host = QWidget()
    host.resize(1280, 800)
    qtbot.addWidget(host)
    host.show()
    return opened(form, LocalClient(engine, engine.bus), tasks, theme, host)


def opened(form, client, tasks, theme, host) -> SettingsPanel:
    return SettingsPanel(
        form, ModelSetup(form, client, tasks, host), WorkspaceModel(client, tasks), theme, host
    )


def wait(qtbot, ready) -> None:
    qtbot.waitUntil(ready)


def test_what_is_saved_is_read_again_and_defaults_stay_out_of_the_file(form, qtbot) -> None:
    form.load()
    wait(qtbot, lambda: form.is_ready)
    form.set("author", "  Ada ")
    form.set("token_budget", 900)
    assert form.is_changed
    form.save()
    wait(qtbot, lambda: not form.is_changed)
    assert json.loads(settings.settings_path().read_text("utf-8")) == {"author": "Ada", "token_budget": 900}
    assert settings.load_stored().author == "Ada"


def test_a_file_that_cannot_be_read_is_named_and_not_written_over(form, qtbot) -> None:
    path = settings.settings_path()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("{", encoding="utf-8")
    form.load()
    wait(qtbot, lambda: bool(form.error))
    assert str(path) in form.error
    form.set("author", "Ada")
    form.save()
    assert not form.is_saving
    assert path.read_text("utf-8") == "{"


def test_a_value_of_the_wrong_kind_is_refused_with_its_name(form, qtbot) -> None:
    form.load()
    wait(qtbot, lambda: form.is_ready)
    form.set("theme", "pink")
    form.save()
    wait(qtbot, lambda: bool(form.error))
    assert "theme" in form.error
    assert not settings.settings_path().exists()


def test_the_panel_is_filled_by_keys_and_saved_by_enter(panel: SettingsPanel, form, qtbot) -> None:
    saved: list[dict[str, object]] = []
    form.saved.connect(saved.append)
    panel.present()
    wait(qtbot, lambda: form.is_ready)
    author = panel.fields["author"]
    assert panel.first() is author
    QTest.keyClicks(author, "Ada Lovelace")
    assert panel.save.isEnabled()
    QTest.keyClick(author, Qt.Key.Key_Return)
    wait(qtbot, lambda: bool(saved))
    assert saved[0]["author"] == "Ada Lovelace"
    assert "Saved" in panel.said.text()
    assert not panel.save.isEnabled()


def test_a_setting_that_the_environment_holds_says_so_and_cannot_be_typed(
    tasks, theme, qtbot, monkeypatch
) -> None:
    monkeypatch.setenv("SITELORE_AUTHOR", "the shell")
    host = QWidget()
    qtbot.addWidget(host)
    engine = FakeEngine()
    panel = opened(SettingsForm(tasks), LocalClient(engine, engine.bus), tasks, theme, host)
    assert not panel.fields["author"].isEnabled()
    assert "SITELORE_AUTHOR" in panel.words["author"].text()


def test_every_control_has_a_name_and_the_panel_fits_the_smallest_window(panel: SettingsPanel) -> None:
    panel.present()
    controls = [*panel.findChildren(QLineEdit), *panel.findChildren(QComboBox)]
    inner = {box.lineEdit() for box in controls if isinstance(box, QComboBox)}
    assert all(one.accessibleName() for one in controls if one not in inner)
    assert all(button.accessibleName() for button in panel.findChildren(QAbstractButton))
    assert panel.fields["token_budget"].text() == "1200"  # type: ignore[union-attr]
    assert panel.panel.size().width() <= QSize(960, 600).width()


def test_the_budgets_of_a_run_are_typed_as_amounts_and_kept_as_such(
    panel: SettingsPanel, form, qtbot
) -> None:
    panel.present()
    wait(qtbot, lambda: form.is_ready)
    for name, keys in (
        ("model_price", "2.50/10"),
        ("run_tokens", "250000"),
        ("run_money", "0.75"),
        ("run_seconds", "90.5"),
    ):
        field = panel.fields[name]
        assert isinstance(field, QLineEdit)
        field.selectAll()
        QTest.keyClicks(field, keys)
        assert field.text() == keys
    panel.save.click()
    wait(qtbot, lambda: not form.is_changed)
    stored = settings.load_stored()
    assert stored.model_price == "2.50/10"
    assert (stored.run_tokens, stored.run_money, stored.run_seconds) == (250_000, 0.75, 90.5)


@pytest.mark.parametrize("keys", ["-5", "1e9", "abc", "1,5", "1.2.3"])
def test_an_amount_takes_no_letters_signs_or_commas(panel: SettingsPanel, form, qtbot, keys: str) -> None:
    panel.present()
    wait(qtbot, lambda: form.is_ready)
    field = panel.fields["run_money"]
    assert isinstance(field, QLineEdit)
    field.selectAll()
    QTest.keyClicks(field, keys)
    assert not set(field.text()) - set("0123456789.")
    assert form.value("run_money") >= 0


def test_no_line_of_the_form_lies_over_another(panel: SettingsPanel, form, qtbot) -> None:
    panel.present()
    wait(qtbot, lambda: form.is_ready)
    lines = [*panel.fields.values(), *panel.words.values()]
    for fold in panel.model.folds:
        fold.click()
    qtbot.waitUntil(lambda: all(line.isVisible() for line in lines))
    QApplication.processEvents()
    boxes = [QRect(line.mapTo(panel, QPoint()), line.size()) for line in lines]
    assert not [(a, b) for n, a in enumerate(boxes) for b in boxes[n + 1 :] if a.intersects(b)]
    assert all(line.height() >= line.sizeHint().height() for line in panel.fields.values())
