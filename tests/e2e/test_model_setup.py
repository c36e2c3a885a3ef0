"""A model set up in the real window by keyboard only: the next run uses it without a restart."""

from __future__ import annotations

import json

import pytest

from tests.support.fake_keyring import use_fake_keyring
from tests.support.model_session import KEY, MODEL
from tests.support.played_session import played

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("browser")]


@pytest.fixture(scope="module")
def day(tmp_path_factory, browser):
    folder = tmp_path_factory.mktemp("model")
    with pytest.MonkeyPatch.context() as patch:
        held = use_fake_keyring(patch, folder)
        for name in ("SITELORE_MODEL_URL", "SITELORE_MODEL_NAME", "OPENAI_BASE_URL"):
            patch.delenv(name, raising=False)
        told = played("model_session", folder)
        told["held"] = held.entries()
    print({name: value for name, value in told.items() if name.startswith(("keys", "letters", "seconds"))})  # noqa: T201
    return told


def test_what_was_typed_is_tested_before_it_is_saved(day):
    assert day["usable"]
    assert day["asked by the test"] > 3


def test_the_key_is_in_the_keyring_and_not_in_the_file(day):
    assert list(day["held"].values()) == [KEY]
    assert KEY not in day["file"]
    assert json.loads(day["file"])["model_name"] == MODEL


def test_the_next_run_sends_the_key_and_names_the_model_without_a_restart(day):
    assert (day["key sent"], day["model sent"]) == (f"Bearer {KEY}", MODEL)


def test_a_model_is_set_up_and_tested_with_ten_keys_beside_what_is_typed(day):
    assert day["keys"] <= 10
