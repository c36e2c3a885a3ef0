"""Every exchange format of tips has its line in each table, and every choice of the settings form a setting."""

from __future__ import annotations

from dataclasses import fields
from typing import get_args

from app import settings
from app.cli.kb import ExchangeFormatName
from app.models.common.settings_form import AMOUNTS, NUMBERS, SHOWN
from app.models.knowledge.freeze_form import EXPORT_FORMATS, IMPORT_FORMATS
from app.views.knowledge.freeze_pane import FORMAT_NAMES
from kb.exchange import FORMATS


def test_the_command_line_and_the_window_offer_every_exchange_format() -> None:
    assert set(get_args(ExchangeFormatName)) == {*FORMATS, "auto"}
    assert set(IMPORT_FORMATS) == set(FORMATS)
    assert set(FORMAT_NAMES) == set(FORMATS)
    writable = {name: form.suffix for name, form in FORMATS.items() if form.serialise is not None}
    assert writable == EXPORT_FORMATS


def test_every_line_of_the_settings_form_is_a_setting_with_the_widget_of_its_type() -> None:
    types = {field.name: str(field.type) for field in fields(settings.Settings)}
    assert set(SHOWN) <= set(types)
    assert {name for name in SHOWN if types[name] == "int"} == set(NUMBERS)
    assert {name for name in SHOWN if types[name] == "float"} == set(AMOUNTS)
    assert {name for name in types if types[name].startswith(("Literal", "Effort"))} == set(settings.CHOICES)
