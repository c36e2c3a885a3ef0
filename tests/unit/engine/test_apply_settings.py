"""Saved settings are used without a restart."""

from __future__ import annotations

import pytest

from app import settings
from app.engine.engine import Engine
from kb.tip import TipDraft


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """Settings in a file of their own; returns a function that changes them."""
    path = tmp_path / "settings.json"
    monkeypatch.setattr(settings, "settings_path", lambda: path)
    return lambda **values: settings.save(settings.changed(settings.Settings(), **values), path)


async def test_name_parallel_runs_and_tip_budget_change_in_an_open_engine(tmp_path, kept):
    kept(author="ana", at_once=2, token_budget=900)
    engine = await Engine.open(tmp_path / "workspace")
    try:
        kept(author="ben", at_once=7, token_budget=300)
        await engine.apply_settings()
        saved = await engine.save_tip(TipDraft(site="shop", text="Sort the orders by date first."))
        assert (await engine.tip_history(saved.id))[0].author == "ben"
        assert (await engine.info()).author == "ben"
        assert engine._fleet._at_once == 7
        assert engine._retrieval._settings.token_budget == 300
    finally:
        await engine.aclose()


async def test_a_setting_of_the_wrong_kind_changes_nothing(tmp_path, kept):
    kept(author="ana")
    engine = await Engine.open(tmp_path / "workspace")
    try:
        settings.settings_path().write_text('{"at_once": "many"}', encoding="utf-8")
        with pytest.raises(Exception, match="at_once"):
            await engine.apply_settings()
        assert (await engine.info()).author == "ana"
    finally:
        await engine.aclose()
