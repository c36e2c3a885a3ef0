"""Each hint of the redaction is there for a secret that nothing else would find: one row an entry of each table."""

from __future__ import annotations

import pytest

from app.engine.core import redaction
from app.engine.core.redaction import MARK, redact_html, redact_text, redact_tree

VALUE = "s3cr3tvalue77"
LINES = {
    "token=": f"/feed?token={VALUE}",
    "token]=": f"/feed?user[token]={VALUE}",
    "secret=": f"/feed?secret={VALUE}",
    "passw": f"password: {VALUE}",
    "passphrase": f"passphrase: {VALUE}",
    "pwd=": f"/feed?pwd={VALUE}",
    "key=": f"/feed?api_key={VALUE}",
    "sid=": f"/feed?sid={VALUE}",
    "sessid=": f"/feed?PHPSESSID={VALUE}",
    "sessionid=": f"/feed;jsessionid={VALUE}",
    "session_id=": f"/feed?session_id={VALUE}",
    "session-id=": f"/feed?session-id={VALUE}",
    "auth=": f"/feed?auth={VALUE}",
    "authorization": f"Authorization: Basic {VALUE}",
    "api-key": f"X-Api-Key: {VALUE}",
    "private-token": f"Private-Token: {VALUE}",
    "cookie": f"Set-Cookie: a={VALUE}",
    "bearer ": f"it sent bearer {VALUE}123456",
    'token"': f'{{"token": "{VALUE}"}}',
    "token'": f"{{'token': '{VALUE}'}}",
    'secret"': f'{{"secret": "{VALUE}"}}',
    "secret'": f"{{'secret': '{VALUE}'}}",
    'key"': f'{{"api_key": "{VALUE}"}}',
    "key'": f"{{'form_key': '{VALUE}'}}",
    'id"': f'{{"session_id": "{VALUE}"}}',
    "id'": f"{{'session-id': '{VALUE}'}}",
    "curl ": f"curl -s -u ann:{VALUE} https://shop.example/",
}
"""What each entry of ``_HINTS`` is there for; each text holds ``VALUE`` beside that entry."""

KEYS = {
    "eyJ": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N",
    "PRIVATE KEY": "-----BEGIN RSA PRIVATE KEY-----MIIEpAIBAAKCAQEA7-----END RSA PRIVATE KEY-----",
    "glpat-": "glpat-abcdefghij1234567890",
    "ghp_": "ghp_abcdefghijABCDEFGHIJabcdefghij12",
    "gho_": "gho_abcdefghijABCDEFGHIJabcdefghij12",
    "ghu_": "ghu_abcdefghijABCDEFGHIJabcdefghij12",
    "ghs_": "ghs_abcdefghijABCDEFGHIJabcdefghij12",
    "ghr_": "ghr_abcdefghijABCDEFGHIJabcdefghij12",
    "github_pat_": "github_pat_abcdefghijABCDEFGHIJabcdefghij12",
    "sk-": "sk-abcdefghijklmnopqrstuvwx",
    "AKIA": "AKIAABCDEFGHIJKLMNOP",
    "xox": "xoxb-1234567890-abc",
}
"""Keys that are known by how they begin."""

TREE = {
    "pass": LINES["passw"],
    "token": LINES["token="],
    "secret": LINES["secret="],
    "pwd=": LINES["pwd="],
    "key=": LINES["key="],
    "id=": LINES["sid="],
    "uthorization": LINES["authorization"],
    "private": KEYS["PRIVATE KEY"],
    "cookie:": LINES["cookie"],
    'cookie"': f'{{"cookie": a={VALUE}}}',
    "cookie'": f"{{'cookie': a={VALUE}}}",
    "bearer ": LINES["bearer "],
    "eyj": KEYS["eyJ"],
    "glpat-": KEYS["glpat-"],
    "akia": KEYS["AKIA"],
    "sk-": KEYS["sk-"],
    "ghp_": KEYS["ghp_"],
    "gho_": KEYS["gho_"],
    "ghu_": KEYS["ghu_"],
    "ghs_": KEYS["ghs_"],
    "ghr_": KEYS["ghr_"],
    "github_pat_": KEYS["github_pat_"],
    "xox": KEYS["xox"],
    "auth=": LINES["auth="],
    "value=": f"[3] textbox 'Kennwort', value='{VALUE}'",
    'key"': LINES['key"'],
    "key'": LINES["key'"],
    'id"': LINES['id"'],
    "id'": LINES["id'"],
    "api-key": LINES["api-key"],
}
"""What each entry of ``_TREE_HINTS`` is there for."""

HTML = {
    b"token": f'<a href="/feed?token={VALUE}">',
    b'type="password"': f'<input type="password" value="{VALUE}">',
    b"secret=": f'<a href="/feed?secret={VALUE}">',
    b"auth=": f'<a href="/feed?auth={VALUE}">',
    b"pwd=": f'<a href="/feed?pwd={VALUE}">',
    b"sid=": f'<a href="/feed?sid={VALUE}">',
    b"sessid=": f'<a href="/feed?phpsessid={VALUE}">',
    b"SESSID=": f'<a href="/feed?PHPSESSID={VALUE}">',
    b"sessionid=": f'<a href="/feed;jsessionid={VALUE}">',
    b"session_id=": f'<a href="/feed?session_id={VALUE}">',
    b"session-id=": f'<a href="/feed?session-id={VALUE}">',
    b"form_key": f'<input name="form_key" value="{VALUE}">',
    b"api_key": f'<a href="/feed?api_key={VALUE}">',
}
"""What each entry of ``_HTML_HINTS`` is there for."""

THOROUGH = {
    **{hint: page for hint, page in HTML.items() if hint not in (b"secret=", b"api_key")},
    b"secret=": HTML[b"secret="],
    b"api_key": f'<pre>{{"api_key": "{VALUE}"}}</pre>',
    b"passw": f'<input name="passwd" value="{VALUE}">',
    b"Passw": f"<p>Password: {VALUE}</p>",
    b"secret": f'<input name="client_secret" value="{VALUE}">',
    b"://": f'<a href="https://ann:{VALUE}@shop.example/">',
    b"earer ": f"<p>it sent bearer {VALUE}123456</p>",
    b"uthorization": f"<p>Authorization: Basic {VALUE}</p>",
    b"ookie:": f"<p>Cookie: a={VALUE}</p>",
    b"key=": f'<a href="/feed?access-key={VALUE}">',
    b"one-time-code": f'<input autocomplete="one-time-code" value="{VALUE}">',
    b"cc-csc": f"<input autocomplete='cc-csc' value='{VALUE}'>",
    b"csrf": f"<input type=hidden name=_csrf value={VALUE}>",
    b"Token": f'<input name="__RequestVerificationToken" value="{VALUE}">',
}
"""What each entry of ``_THOROUGH_HINTS`` is there for."""

TABLES = {
    "_HINTS": LINES,
    "_KEY_HINTS": KEYS,
    "_TREE_HINTS": TREE,
    "_HTML_HINTS": HTML,
    "_THOROUGH_HINTS": THOROUGH,
}


@pytest.mark.parametrize("name", TABLES)
def test_every_hint_of_a_table_has_its_row_and_every_row_its_hint(name):
    assert set(getattr(redaction, name)) == set(TABLES[name])


@pytest.mark.parametrize("name", TABLES)
def test_a_row_is_found_by_its_own_hint_alone(name):
    for hint, text in TABLES[name].items():
        searched = (
            text.encode() if isinstance(hint, bytes) else text.lower() if name != "_KEY_HINTS" else text
        )
        others = [one for one in TABLES[name] if one != hint and one in searched and one not in hint]
        assert hint in searched
        assert not others, f"{hint!r} is found by {others} as well"


@pytest.mark.parametrize("hint", LINES)
def test_a_line_is_redacted_by_each_hint(hint):
    clean = redact_text(LINES[hint])
    assert VALUE not in clean
    assert MARK in clean


@pytest.mark.parametrize("hint", KEYS)
def test_a_key_is_redacted_by_how_it_begins(hint):
    clean = redact_text(f"before {KEYS[hint]} behind")
    assert clean.startswith("before ")
    assert clean.endswith(" behind")
    assert KEYS[hint][-12:] not in clean


@pytest.mark.parametrize("hint", TREE)
def test_a_tree_is_redacted_by_each_hint(hint):
    lines = ["[1] RootWebArea 'Shop'", f"\t{TREE[hint]}", "\t[9] button 'Send'"]
    clean = redact_tree("\n".join(lines)).decode()
    assert VALUE not in clean
    assert TREE[hint][-12:] not in clean
    assert clean.split("\n")[0] == lines[0]
    assert clean.split("\n")[2] == lines[2]


@pytest.mark.parametrize("hint", HTML, ids=bytes.decode)
def test_a_page_is_redacted_by_each_hint_even_where_it_need_not_be_thorough(hint):
    for thorough in (True, False):
        clean = redact_html(f"<body>{HTML[hint]}<p>more</p></body>", thorough=thorough).decode()
        assert VALUE not in clean
        assert clean.endswith("<p>more</p></body>")


@pytest.mark.parametrize("hint", THOROUGH, ids=bytes.decode)
def test_a_page_is_redacted_by_each_thorough_hint(hint):
    clean = redact_html(f"<body>{THOROUGH[hint]}</body>").decode()
    assert VALUE not in clean
    assert clean.startswith("<body><")
    assert clean.endswith("></body>")
