"""Which words of a task are a password (``written_secrets``), a row for each word for one and each way to give it."""

from __future__ import annotations

import pytest

from app.engine.core.task_secrets import extract_secrets

VALUE = "s3cret-Fox"
WORDS = (
    "password", "passphrase", "passcode", "passwd", "Passwort", "Kennwort", "wachtwoord", "contraseña",
    "mot de passe", "senha", "пароль", "PIN", "pin code", "token", "API key", "api-key", "api_key",
)  # fmt: skip


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize(
    "way", ["{word}: {value}", "Log in. {word}={value}", "Log in with {word} {value} and look"]
)
def test_an_explicit_password_is_extracted_in_any_language(word: str, way: str) -> None:
    values: dict[str, str] = {}
    task = extract_secrets(way.format(word=word, value=VALUE), values)
    assert VALUE not in task
    assert list(values.values()) == [VALUE]
    assert task == way.format(word=word, value="{secret:WRITTEN_1}")


GIVEN = (
    ("in quotes", 'the password is "{value}"'),
    ("in single quotes", "the password '{value}' holds"),
    ("in curly quotes", "the password “{value}” holds"),
    ("without quotes", "sign in as ann, password {value}, and look"),
    ("with 'is'", "the password is {value}. Then look"),
    ("at the end", "sign in with the password {value}"),
)


@pytest.mark.parametrize("way", [way for _, way in GIVEN], ids=[name for name, _ in GIVEN])
def test_a_password_is_extracted_in_any_wording(way: str) -> None:
    values: dict[str, str] = {}
    assert VALUE not in extract_secrets(way.format(value=VALUE), values)
    assert values == {"WRITTEN_1": VALUE}


def test_all_occurrences_of_a_password_get_one_name() -> None:
    values: dict[str, str] = {}
    task = extract_secrets(f"The password is '{VALUE}'. Type {VALUE} twice: {VALUE}", values)
    assert task == 'The password is "{secret:WRITTEN_1}". Type {secret:WRITTEN_1} twice: {secret:WRITTEN_1}'
    assert values == {"WRITTEN_1": VALUE}


@pytest.mark.parametrize(
    "task",
    [
        "Change password: click Save",
        "Is the password required?",
        "The password is wrong, what does the page say",
        "Find out whether a token is missing",
        'Log in with the password "{secret:SHOP}"',
    ],
)
def test_a_task_without_passwords_is_unchanged(task: str) -> None:
    values: dict[str, str] = {}
    assert extract_secrets(task, values) == task
    assert values == {}
