"""The model in the settings: its key in the keyring, its test, its roles."""

from __future__ import annotations

import asyncio
import json

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from app import model_keys, settings
from app.engine.api.model_test_api import ModelCheck, ModelReport
from app.models.common.engine_client import LocalClient
from app.models.common.model_setup import ModelSetup
from app.models.common.settings_form import SettingsForm
from app.models.common.workspace import WorkspaceModel
from app.views.frame.settings_panel import SettingsPanel
from app.views.widgets.badge import Badge
from tests.support.fake_engine import FakeEngine
from tests.support.fake_keyring import use_fake_keyring

KEY = "sk-typed-and-never-shown"
CHECKS = (
    ModelCheck(name="key", ok=True, found="accepted"),
    ModelCheck(name="answer", ok=True, found="small answers"),
    ModelCheck(name="pictures", ok=False, found="not accepted", remedy="set a vision model for its role"),
    ModelCheck(name="price", ok=None, found="unknown"),
)


@pytest.fixture
def held(monkeypatch, tmp_path):
    """Everything in the keyring, by entry."""
    kept = use_fake_keyring(monkeypatch, tmp_path)
    return kept.entries


@pytest.fixture
def engine() -> FakeEngine:
    made = FakeEngine()
    made.model_checks = CHECKS
    return made


@pytest.fixture
def panel(held, engine, tasks, theme, qtbot, run):
    host = QWidget()
    host.resize(1280, 800)
    qtbot.addWidget(host)
    host.show()
    host.activateWindow()
    client = LocalClient(engine, engine.bus)
    form = SettingsForm(tasks)
    made = SettingsPanel(
        form, ModelSetup(form, client, tasks, host), WorkspaceModel(client, tasks), theme, host
    )
    yield made
    run(client.aclose())


def opened(panel: SettingsPanel, qtbot) -> SettingsPanel:
    panel.open_model()
    qtbot.waitUntil(lambda: panel._form.is_ready and bool(panel._setup.key_place))
    return panel


def type_into(field: QWidget, text: str) -> None:
    field.setFocus()
    field.selectAll() if hasattr(field, "selectAll") else field.lineEdit().selectAll()
    QTest.keyClicks(field, text)


def store(**values: object) -> None:
    settings.save(settings.changed(settings.Settings(), **values))


def test_a_typed_key_goes_to_the_keyring_for_its_server_and_nowhere_else(panel, held, qtbot) -> None:
    opened(panel, qtbot)
    type_into(panel.model.url, "localhost:8000/v1")
    type_into(panel.model.key, KEY)
    QTest.keyClick(panel.model.key, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: bool(held()) and not panel._form.is_changed)
    assert held() == {f"{settings.APP}/model endpoint http://localhost:8000": KEY}
    assert settings.load_stored().model_url == "http://localhost:8000/v1"
    assert KEY not in settings.settings_path().read_text("utf-8")
    qtbot.waitUntil(lambda: panel._setup.key_place == "keyring")
    assert panel.model.key.text() == ""
    assert panel.model.key.placeholderText() == "stored in the keyring"
    assert not panel.save.isEnabled()


def test_a_key_is_cleared_from_the_keyring(panel, held, qtbot) -> None:
    model_keys.keep_model_key(KEY)
    opened(panel, qtbot)
    qtbot.waitUntil(panel.model.clear.isEnabled)
    panel.model.clear.click()
    qtbot.waitUntil(lambda: panel.model.key.placeholderText() == "none")
    assert held() == {}
    assert not panel.model.clear.isEnabled()


def test_another_server_asks_for_its_own_key_and_the_former_key_stays_with_its_server(
    panel, held, qtbot
) -> None:
    store(model_url="https://one.example/v1")
    import keyring

    keyring.set_password(settings.APP, model_keys.OLDER_ENTRY, KEY)
    opened(panel, qtbot)
    qtbot.waitUntil(lambda: panel._setup.key_place == "keyring")
    type_into(panel.model.url, "https://two.example/v1")
    qtbot.waitUntil(lambda: panel._setup.key_place == "none")
    assert "enter its key" in panel.model.key_words.text()
    panel.save.click()
    qtbot.waitUntil(lambda: not panel._form.is_changed)
    assert held() == {f"{settings.APP}/model endpoint https://one.example": KEY}
    assert model_keys.model_key() == ""
    assert model_keys.model_key(url="https://one.example/other") == KEY


def test_where_no_keyring_works_the_variable_is_named(panel, qtbot, monkeypatch) -> None:
    import keyring
    from keyring.backends.fail import Keyring

    monkeypatch.setattr(keyring.core, "_keyring_backend", Keyring())
    opened(panel, qtbot)
    qtbot.waitUntil(lambda: panel._setup.key_place == "no keyring")
    assert "OPENAI_API_KEY" in panel.model.key_words.text()
    assert not panel.model.key.isEnabled()


def test_what_stands_in_the_fields_is_tested_and_the_report_completes_the_models(
    panel, engine, qtbot
) -> None:
    store(model_url="https://saved.example/v1", model_name="saved", model_effort="high")
    opened(panel, qtbot)
    type_into(panel.model.url, "typed.example/v1")
    type_into(panel.model.model, "small")
    type_into(panel.model.key, KEY)
    panel.model.test.click()
    qtbot.waitUntil(lambda: panel._setup.report is not None)
    [request] = engine.model_tests
    assert (request.url, request.model, request.key) == ("https://typed.example/v1", "small", KEY)
    assert request.as_given
    marks = [badge.text for badge in panel.model.checks.findChildren(Badge)]
    assert marks == ["works", "works", "no", "unknown"]
    assert "usable" in panel.model.tested.text()
    assert [panel.model.model.itemText(n) for n in range(panel.model.model.count())] == ["large", "small"]
    assert panel.model.model.currentText() == "small"
    assert settings.load_stored().model_name == "saved"


def test_a_test_tells_its_lines_and_can_be_cancelled(panel, engine, qtbot, monkeypatch) -> None:
    engine.model_waits = asyncio.Event()
    cancelled: list[str] = []

    async def cancel(job: str) -> None:
        cancelled.append(job)

    monkeypatch.setattr(engine, "cancel_job", cancel)
    opened(panel, qtbot)
    panel.model.test.click()
    qtbot.waitUntil(lambda: panel.model.progress.text() == "price: unknown")
    assert panel.model.cancel.isVisible()
    panel.model.cancel.click()
    qtbot.waitUntil(lambda: cancelled == ["model-test"])
    assert not panel.model.cancel.isVisible()
    assert panel.model.test.isEnabled()


def test_the_last_report_is_shown_with_its_date_when_the_panel_opens(panel, engine, qtbot) -> None:
    store(model_url="https://saved.example/v1", model_name="small")
    engine.model_reports[("https://saved.example/v1", "small")] = ModelReport(
        url="https://saved.example/v1", model="small", at=1_750_000_000.0, checks=CHECKS
    )
    opened(panel, qtbot)
    qtbot.waitUntil(lambda: "tested" in panel.model.tested.text())
    assert "25" in panel.model.tested.text()
    assert len(panel.model.checks.findChildren(Badge)) == len(CHECKS)


def test_roles_are_typed_in_a_table_and_an_empty_field_shows_what_holds(panel, qtbot) -> None:
    store(model_name="gpt-4o", model_price="2.5/10")
    opened(panel, qtbot)
    roles = panel.model.roles
    assert not roles.isVisible()
    panel.model.folds[0].click()
    assert roles.isVisible()
    type_into(roles.models["vision"], "eye")
    assert roles.models["judge"].placeholderText() == "eye"
    assert roles.models["planner"].placeholderText() == "gpt-4o"
    assert roles.prices["planner"].placeholderText() == "2.5/10"
    effort = roles.efforts["planner"]
    effort.setFocus()
    QTest.keyClicks(effort, "hi")
    assert effort.currentText() == "high"
    effort.activated.emit(effort.currentIndex())
    panel.save.click()
    qtbot.waitUntil(lambda: not panel._form.is_changed)
    stored = json.loads(settings.settings_path().read_text("utf-8"))["roles"]
    assert stored == {"vision": {"model": "eye"}, "planner": {"effort": "high"}}
    type_into(roles.models["vision"], " ")
    panel.save.click()
    qtbot.waitUntil(lambda: not panel._form.is_changed)
    assert set(settings.load_stored().roles) == {"planner"}


def test_the_tabulator_goes_through_the_section_in_order(panel, qtbot) -> None:
    opened(panel, qtbot)
    section, fields = panel.model, panel.fields
    expected = [section.url, section.key, fields["model_name"], fields["model_effort"], fields["model_price"]]
    seen = [panel.window().focusWidget()]
    for _ in expected[1:]:
        QTest.keyClick(panel.window().focusWidget(), Qt.Key.Key_Tab)
        seen.append(panel.window().focusWidget())
    assert seen == expected


def test_the_run_form_leads_to_the_model_where_none_is_set(bench, fake_engine, qtbot, held) -> None:
    window, form = bench._window, bench.live.form
    window.go("live")
    window.center.trigger("live.new")
    link = window.perspective("live").form.model_options.set_up
    form.choose("policy", "llm")
    qtbot.waitUntil(link.isVisible)
    link.click()
    panel = window.commands.settings
    assert panel.isVisible()
    assert panel.model.url.hasFocus()
    fake_engine.no_model = ""
    qtbot.waitUntil(lambda: panel._form.is_ready)
    panel._form.set("model_name", "large")
    panel.save.click()
    qtbot.waitUntil(lambda: form.has_model)
    assert link.isHidden()
    window.close_overlays()
