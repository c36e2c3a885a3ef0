"""Keys in the keyring: one for each server, entered by ``sitelore model key`` without being shown."""

from __future__ import annotations

from pathlib import Path

import pytest
from keyring import core
from keyring.backends.fail import Keyring
from typer.testing import CliRunner

from app import model_keys, settings
from app.cli.model import app
from app.errors import StoreError
from tests.support.fake_keyring import FileKeyring, use_fake_keyring

KEY = "sk-a-key-that-must-not-be-shown"
ENTRY = f"{settings.APP}/{model_keys.OLDER_ENTRY}"


@pytest.fixture
def held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FileKeyring:
    monkeypatch.setattr(settings, "settings_path", lambda: tmp_path / "settings.json")
    for name in ("SITELORE_MODEL_URL", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    return use_fake_keyring(monkeypatch, tmp_path)


@pytest.mark.parametrize(
    ("url", "server"),
    [
        ("", "https://api.openai.com"),
        ("https://API.example/v1", "https://api.example"),
        ("http://ana:secret@localhost:8000/v1?x=1", "http://localhost:8000"),
        ("http://localhost:8001/v1", "http://localhost:8001"),
        ("http://api.example/v1", "http://api.example"),
    ],
)
def test_a_key_belongs_to_scheme_host_and_port(url: str, server: str) -> None:
    assert model_keys.server_of(url) == server


def test_a_key_is_asked_for_kept_and_cleared_and_never_said(held: FileKeyring) -> None:
    said = CliRunner().invoke(app, ["key"], input=f"{KEY}\n")
    assert said.exit_code == 0
    assert KEY not in said.output
    assert held.entries() == {f"{ENTRY} https://api.openai.com": KEY}
    assert model_keys.model_key({}) == KEY

    said = CliRunner().invoke(app, ["key", "--clear"])
    assert said.exit_code == 0
    assert held.entries() == {}


def test_the_key_of_another_address_is_kept_beside_it(held: FileKeyring) -> None:
    CliRunner().invoke(app, ["key", "--url", "http://localhost:8000/v1"], input=f"{KEY}\n")
    assert model_keys.model_key({}) == ""
    assert model_keys.model_key({}, "http://localhost:8000/other") == KEY
    assert model_keys.model_key({}, "http://localhost:9000/v1") == ""


def test_no_key_is_no_use_without_clear(held: FileKeyring) -> None:
    assert CliRunner().invoke(app, ["key"], input="\n").exit_code != 0
    assert held.entries() == {}


def test_the_key_of_an_earlier_version_is_that_of_the_saved_address_only(held: FileKeyring) -> None:
    settings.save(settings.Settings(model_url="https://one.example/v1"))
    held.set_password(settings.APP, model_keys.OLDER_ENTRY, KEY)
    assert model_keys.model_key({}) == KEY
    assert model_keys.model_key({}, "https://two.example/v1") == ""

    model_keys.bind_older_key("https://one.example/v1")
    settings.save(settings.Settings(model_url="https://two.example/v1"))
    assert held.entries() == {f"{ENTRY} https://one.example": KEY}
    assert model_keys.model_key({}) == ""


def test_a_new_key_takes_the_place_of_an_earlier_versions(held: FileKeyring) -> None:
    held.set_password(settings.APP, model_keys.OLDER_ENTRY, "older")
    model_keys.keep_model_key(KEY)
    assert held.entries() == {f"{ENTRY} https://api.openai.com": KEY}


def test_where_no_keyring_works_the_variable_is_named_and_not_the_key(
    held: FileKeyring, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(core, "_keyring_backend", Keyring())
    assert model_keys.key_place("") == "no keyring"
    with pytest.raises(StoreError, match="OPENAI_API_KEY") as refused:
        model_keys.keep_model_key(KEY)
    assert KEY not in str(refused.value)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    assert model_keys.key_place("") == "environment"
