"""Settings: precedence, bad values, safe saving; folders of our own; no key in a file."""

from __future__ import annotations

import json
import os
import stat
import sys
from dataclasses import fields
from pathlib import Path

import keyring
import keyring.errors
import pytest

from app import model_keys, settings
from app.errors import InputError, StoreError
from app.settings import RoleSettings, Settings


def test_without_a_file_the_defaults_hold(tmp_path: Path) -> None:
    assert settings.load({}, tmp_path / "none.json") == Settings()


def test_the_environment_wins_over_the_file_and_is_not_saved(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "settings.json"
    settings.save(settings.changed(Settings(), theme="dark", author="Ana"), path)

    loaded = settings.load({"SITELORE_THEME": "LIGHT", "SITELORE_TOKEN_BUDGET": "50"}, path)

    assert (loaded.theme, loaded.author, loaded.token_budget) == ("light", "Ana", 50)
    assert settings.load_stored(path).theme == "dark"


@pytest.mark.parametrize("name", settings.CHOICES)
def test_a_choice_of_the_environment_may_be_in_capitals(name: str, tmp_path: Path) -> None:
    [variable, *_] = next(field.metadata["variables"] for field in fields(Settings) if field.name == name)
    for value in settings.CHOICES[name]:
        assert getattr(settings.load({variable: value.upper()}, tmp_path / "none.json"), name) == value


@pytest.mark.parametrize("text", ["{", "[1]", '{"theme": "pink"}', '{"token_budget": "many"}', "\udcff"])
def test_a_broken_file_is_named_with_a_remedy(tmp_path: Path, text: str) -> None:
    path = tmp_path / "settings.json"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))

    with pytest.raises(InputError, match=r"settings\.json"):
        settings.load({}, path)


def test_a_bad_variable_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="SITELORE_TOKEN_BUDGET"):
        settings.load({"SITELORE_TOKEN_BUDGET": "x"}, tmp_path / "none.json")


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ({"vision_model": "eye"}, {"vision": RoleSettings(model="eye")}),
        ({"larger_vision_model": "wide"}, {"larger vision": RoleSettings(model="wide")}),
        (
            {"vision_model": "eye", "roles": {"vision": {"model": "newer", "effort": "low"}}},
            {"vision": RoleSettings(model="newer", effort="low")},
        ),
        ({"roles": {"planner": {"price": "1.25/10"}}}, {"planner": RoleSettings(price="1.25/10")}),
        ({"roles": {"planner": {}}, "vision_model": ""}, {}),
    ],
)
def test_models_of_roles_are_read_from_older_and_newer_files(tmp_path: Path, written, read) -> None:
    path = tmp_path / "settings.json"
    path.write_text(json.dumps(written), "utf-8")
    assert settings.load({}, path).roles == read


def test_the_names_of_an_older_file_give_way_to_the_roles_when_it_is_saved(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_text('{"vision_model": "eye", "from_the_future": 1}', "utf-8")
    settings.save(settings.changed(settings.load_stored(path), author="Bo"), path)
    assert json.loads(path.read_text("utf-8")) == {
        "from_the_future": 1,
        "author": "Bo",
        "roles": {"vision": {"model": "eye"}},
    }


def test_variables_set_the_models_of_roles_over_the_file(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_text(
        '{"roles": {"vision": {"model": "eye", "effort": "low"}, "judge": {"model": "j"}}}', "utf-8"
    )
    assert settings.load({"SITELORE_VISION_MODEL": "other"}, path).roles == {
        "vision": RoleSettings(model="other", effort="low"),
        "judge": RoleSettings(model="j"),
    }
    given = {"SITELORE_ROLES": '{"planner": {"effort": "high"}}', "SITELORE_LARGER_VISION_MODEL": "wide"}
    assert settings.load(given, path).roles == {
        "planner": RoleSettings(effort="high"),
        "larger vision": RoleSettings(model="wide"),
    }


@pytest.mark.parametrize("text", ["{", '{"planner": {"effort": "much"}}', "[]"])
def test_roles_that_cannot_be_read_are_named(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError, match=r"SITELORE_ROLES"):
        settings.load({"SITELORE_ROLES": text}, tmp_path / "none.json")


def test_settings_of_a_newer_version_survive_a_save(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_text('{"from_the_future": 1, "author": "Ana"}', "utf-8")

    settings.save(settings.changed(settings.load({}, path), author="Bo"), path)

    assert json.loads(path.read_text("utf-8")) == {"from_the_future": 1, "author": "Bo"}


def test_a_save_that_fails_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "settings.json"
    settings.save(Settings(author="Ana"), path)

    def full(_handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StoreError, match="No space left"):
        settings.save(Settings(author="Bo"), path)

    assert settings.load({}, path).author == "Ana"
    assert [file.name for file in tmp_path.iterdir()] == ["settings.json"]


@pytest.mark.skipif(sys.platform == "win32", reason="a matter of access lists there")
def test_the_runtime_folder_is_the_owners_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "loose"))
    monkeypatch.setattr(settings.tempfile, "gettempdir", lambda: str(tmp_path))
    (tmp_path / f"sitelore-{os.getuid()}").mkdir(mode=0o755)

    folder = settings.runtime_dir()

    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


@pytest.mark.skipif(sys.platform == "win32", reason="a matter of access lists there")
def test_a_link_in_place_of_the_runtime_folder_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    monkeypatch.setattr(settings.sys, "platform", "linux")
    monkeypatch.setattr(settings.tempfile, "gettempdir", lambda: str(tmp_path))
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / f"sitelore-{os.getuid()}").symlink_to(tmp_path / "elsewhere")

    with pytest.raises(StoreError, match="private"):
        settings.runtime_dir()


def test_the_key_comes_from_the_environment_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keyring, "get_password", lambda *_: "from the keyring")

    assert model_keys.model_key({settings.KEY_VARIABLE: "from the environment"}) == "from the environment"
    assert model_keys.model_key({}) == "from the keyring"


def test_without_a_keyring_there_is_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(*_: str) -> None:
        raise keyring.errors.NoKeyringError

    monkeypatch.setattr(keyring, "get_password", none)

    assert model_keys.model_key({}) == ""
