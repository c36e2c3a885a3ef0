"""Which fields take a secret: one row a clause of the rule of ``secret_inputs``, and of that for addresses."""

from __future__ import annotations

import pytest

from app.engine.core.actions.recorded import ActionTarget, RecordedAction
from app.engine.core.redaction import MAYBE_SECRET, SURELY_SECRET, redact_text, redact_url, typed_secret
from app.engine.core.secret_inputs import (
    SECRET_AUTOCOMPLETE,
    SecretFocus,
    is_key,
    is_secret_input,
    names_a_secret,
    names_secret_selector,
)

SECRET_NAMES = (
    "Password", "Repeat your passphrase", "Passcode", "API key", "Card number", "Kennwort", "Passwort", "Mot de passe",
    "Contraseña", "Senha", "Palavra-passe", "Wachtwoord", "Lösenord", "Adgangskode", "Passord", "Salasana", "Hasło",
    "Jelszó", "Parolă", "Şifre", "Пароль", "密码", "密碼", "パスワード", "비밀번호", "كلمة المرور", "סיסמה",
    "Mật khẩu", "PIN", "Your PIN", "PIN code", "Enter the 4-digit PIN", "PIN (4 digits)", "One-time code", "OTP",
    "Verification code", "Enter the verification code we sent to your phone", "Security code", "SMS code", "CVV",
    "CVC", "CVV/CVC", "Bestätigungscode", "Code de vérification", "验证码",
)  # fmt: skip
PLAIN_NAMES = (
    "PIN code of the parcel shop", "Pin this tab", "Pinterest", "Search", "User name", "E-mail", "Postal code",
    "Coupon code", "Error code", "Code", "Country code", "Shopping list", "Security", "Opinion", "Hotpants",
    "Search for verification code examples", "Passenger name", "Compass", "Spinner", "",
)  # fmt: skip


@pytest.mark.parametrize("name", SECRET_NAMES)
def test_a_field_of_this_name_takes_a_secret(name: str):
    action = RecordedAction(kind="fill", args={"bid": "4", "value": "geheim-1"})
    assert names_a_secret(name)
    assert typed_secret(action, ActionTarget(role="textbox", name=name)) == "geheim-1"


@pytest.mark.parametrize("name", PLAIN_NAMES)
def test_a_field_of_this_name_takes_none(name: str):
    action = RecordedAction(kind="fill", args={"bid": "4", "value": "apron"})
    assert not names_a_secret(name)
    assert typed_secret(action, ActionTarget(role="searchbox", name=name)) == ""


@pytest.mark.parametrize(
    ("selector", "secret"),
    [
        ("input[type=password]", True),
        ("input[type='password']", True),
        ('internal:attr=[type="password"]', True),
        ("#password", True),
        ("[name=user_pass]", True),
        ("#pwd", True),
        ("input[autocomplete=one-time-code]", True),
        ("#otp", True),
        ("#login-pin", True),
        ("//input[@type='password']", True),
        ("#username", False),
        ("#spinner", False),
        ("input[type=text]", False),
        ("#passenger", False),
        ("#shipping", False),
    ],
)
def test_a_selector_names_a_password_field_or_not(selector: str, secret: bool):
    assert names_secret_selector(selector) is secret
    typed = typed_secret(RecordedAction(kind="fill", args={"selector": selector, "value": "geheim-1"}), None)
    assert typed == ("geheim-1" if secret else "")


@pytest.mark.parametrize("value", sorted(SECRET_AUTOCOMPLETE))
def test_each_autocomplete_of_the_table_declares_a_secret(value: str):
    assert is_secret_input({"autocomplete": f"section-a {value}"})
    assert not is_secret_input({"autocomplete": "username", "type": "text"})


def test_type_password_and_the_names_of_an_input_declare_a_secret():
    assert is_secret_input({"type": "PASSWORD", "aria-label": "x"})
    assert is_secret_input({"type": "text", "name": "user_password"})
    assert not is_secret_input({"type": "text", "name": "q"})


FILL = RecordedAction(kind="fill", args={"bid": "4", "value": "geheim-1"})
TYPE = RecordedAction(kind="keyboard_type", args={"text": "geheim-1"})
PRESS = RecordedAction(kind="keyboard_press", args={"key": "Tab"})
CLICK = RecordedAction(kind="click", args={"bid": "4"})
OTHER = RecordedAction(kind="click", args={"bid": "5"})
PAGE = "RootWebArea 'S'\n\t[4] textbox 'x'\n\t[5] textbox 'Search'"


@pytest.mark.parametrize(
    ("html", "secret"),
    [
        ('<input bid="4" type="password"><input bid="5">', True),
        ("<input bid=4 type=password>", True),
        ("<input type='password' bid='4'>", True),
        ('<input autocomplete="one-time-code" bid="4">', True),
        ('<input bid="5" type="password"><input bid="4" type="text">', False),
        ('<a href="?x=4">4</a><input bid="44" type="password">', False),
    ],
)
def test_the_html_of_a_page_says_what_an_element_takes(html: str, secret: bool):
    assert SecretFocus().is_typed(FILL, "x", PAGE, html) is secret


@pytest.mark.parametrize(
    ("before", "tree", "secret"),
    [
        ([CLICK], "", True),
        ([CLICK, RecordedAction(kind="noop")], "", True),
        ([FILL], "", True),
        ([CLICK, OTHER], "", False),
        ([CLICK, RecordedAction(kind="goto", args={"url": "http://a.example/"})], "", False),
        ([CLICK, PRESS], "", True),  # anywhere: the page has a password field
        ([CLICK, PRESS], "RootWebArea 'S'\n\t[5] textbox 'Search', focused", False),
        ([], "RootWebArea 'S'\n\t[6] textbox 'Password', focused", True),
        ([], "RootWebArea 'S'\n\t[4] textbox 'x', focused", True),
        ([], "RootWebArea 'S'\n\t[5] textbox 'Search', focused", False),
        ([], "", False),
    ],
)
def test_keys_go_where_the_focus_is(before: list[RecordedAction], tree: str, secret: bool):
    focus = SecretFocus()
    html = '<input bid="4" type="password"><input bid="5">'
    for action in before:
        focus.is_typed(action, "", PAGE, html)
    assert focus.is_typed(TYPE, "", tree or PAGE, html) is secret


@pytest.mark.parametrize("keys", ["Enter", "Tab", "Control+a", "Shift+Tab", "ArrowDown", "F5", "PageDown"])
def test_a_key_is_no_text(keys: str):
    assert is_key(keys)
    assert not is_key(f"{keys}secret1")


TOKEN = "a1B2c3D4e5F6g7H8i9"


@pytest.mark.parametrize("name", sorted(SURELY_SECRET))
def test_a_surely_secret_parameter_is_masked_whatever_it_holds(name: str):
    assert redact_url(f"/cb?a=1&{name.upper()}=12&b=2") == f"/cb?a=1&{name.upper()}=REDACTED&b=2"
    assert "=REDACTED" in redact_text(f"went to https://a.example/cb?{name}=12")


@pytest.mark.parametrize("name", sorted(MAYBE_SECRET))
@pytest.mark.parametrize(
    ("value", "secret"),
    [
        (TOKEN, True),
        ("4/0AeaYSHBnZq8x-Xr7vK3pLw", True),
        ("ST-1856339-aA5Yuvrxzpv8Tau1cYQ7", True),
        ("1f0c9b7e-3f21-4c55-9d0e-8a7b6c5d4e3f", True),
        ("404", False),
        ("SUMMER2024", False),
        ("blue-chair-with-arms-2", False),
        ("averylongplainwordwithoutdigits", False),
        ("20241128", False),
    ],
)
def test_a_maybe_secret_parameter_is_masked_where_its_value_is_like_a_token(
    name: str, value: str, secret: bool
):
    assert redact_url(f"https://a.example/cb?{name}={value}#top") == (
        f"https://a.example/cb?{name}={'REDACTED' if secret else value}#top"
    )


def test_any_other_parameter_stays():
    url = f"https://a.example/search?q={TOKEN}&pinned=1&passenger=2&codes=3&page=4"
    assert redact_url(url) == url


@pytest.mark.parametrize(
    "text",
    [
        "curl -u ann:s3cret-x https://a.example",
        "curl -s --user 'ann:s3cret-x' https://a.example",
        'curl -X POST -uann:s3cret-x "https://a.example"',
        'curl -H "Authorization: Digest s3cret-x" https://a.example',
        '{"command": "curl -H \\"Authorization: Bearer s3cret-x\\" https://a.example"}',
    ],
)
def test_a_shell_command_is_without_its_login(text: str):
    clean = redact_text(text)
    assert "s3cret" not in clean
    assert "REDACTED" in clean
