"""Secrets don't reach the disk; names, addresses and the shape of pages do."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.engine.core.ax_tree import parse_tree
from app.engine.core.redaction import MARK, redact_html, redact_text, redact_tree, redact_url
from app.engine.imports.importer import import_paths
from app.engine.store.workspace import Workspace
from tests.support.laws import examples
from tests.support.runs import record, write_run

CARD = "4111 1111 1111 1111"
JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N"
KEY = "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA7\n-----END RSA PRIVATE KEY-----"

SECRETS = [
    ("http://h/a?token=s3cr3tvalue&page=2", "s3cr3tvalue"),
    ("http://h/a?page=2&private_token=s3cr3tvalue", "s3cr3tvalue"),
    ("http://h/a;jsessionid=s3cr3tvalue?x=1", "s3cr3tvalue"),
    ("/feed?feed_token=s3cr3tvalue", "s3cr3tvalue"),
    ("http://h/?PHPSESSID=s3cr3tvalue", "s3cr3tvalue"),
    ("http://h/?api_key=s3cr3tvalue#top", "s3cr3tvalue"),
    ("https://ann:s3cr3tvalue@host/x", "s3cr3tvalue"),
    ("Authorization: Bearer s3cr3tvalue123456", "s3cr3tvalue123456"),
    ("authorization: Basic czNjcjN0dmFsdWU=", "czNjcjN0dmFsdWU="),
    ("Cookie: sid=s3cr3tvalue; other=1", "s3cr3tvalue"),
    ("curl -H 'Private-Token: s3cr3tvalue'", "s3cr3tvalue"),
    ("The password: hunter2x works", "hunter2x"),
    ('{"password": "hunter2x"}', "hunter2x"),
    (f"it said {JWT} there", JWT),
    (f"key {KEY} end", "MIIEpAIBAAKCAQEA7"),
    ("glpat-abcdefghij1234567890", "abcdefghij1234567890"),
    ("sk-abcdefghijklmnopqrstuvwx", "abcdefghijklmnopqrstuvwx"),
    (f"pay with {CARD} now", CARD),
    ("pay with 4111-1111-1111-1111 now", "4111-1111"),
    ("pay with 378282246310005 now", "378282246310005"),
    ('{"api_key":"hunter2xyz"}', "hunter2xyz"),
    ("{'access_token': 'hunter2xyz', 'a': 1}", "hunter2xyz"),
    ('I use the password "hunter2x" here', "hunter2x"),
]


@pytest.mark.parametrize(("text", "secret"), SECRETS)
def test_secrets_are_masked(text, secret):
    clean = redact_text(text)
    assert secret not in clean
    assert MARK in clean
    assert redact_text(clean) == clean


def test_secrets_behind_the_hash_of_an_address_are_masked():
    there = "http://h/done#access_token=ghijkl0123456789&state=list"
    assert redact_text(there) == f"http://h/done#access_token={MARK}&state=list"


@pytest.mark.parametrize(("text", "secret"), SECRETS)
def test_secrets_are_masked_in_pages_of_any_length(text, secret):
    line = " ".join(text.split())
    tree = (
        "RootWebArea 'x'\n" + "\t[1] link 'other'\n" * 200 + f"\t[2] StaticText '{line}'\n\t[3] button 'Go'"
    )
    clean = redact_tree(tree).decode()
    assert " ".join(secret.split()) not in clean
    assert [(n.depth, n.role, n.bid) for n in parse_tree(clean)] == [
        (n.depth, n.role, n.bid) for n in parse_tree(tree)
    ]


@pytest.mark.parametrize(
    ("text", "secret"),
    [SECRETS[0], SECRETS[3], SECRETS[11], SECRETS[14], SECRETS[17], SECRETS[19], SECRETS[-3], SECRETS[-2]],
)
def test_secrets_are_masked_in_html(text, secret):
    html = "<li><a href='x'>other</a></li>" * 200 + f"<p>{text}</p>"
    assert secret not in redact_html(html).decode()


@pytest.mark.parametrize(
    "text",
    [
        "ann@example.com wrote to byteblaze",
        "Reset your password on the password page",
        "http://10.1.1.1:4399/password.html lists all accounts",
        "[1234] textbox 'Password', required",
        "order 000000299 of 2022-11-03 12:30:45",
        "1234567890123456 is no card",
        "1766030535139141 microseconds",
        "the tokens of a sentence = words",
        '{"token": "required", "id": "element-1234567"}',
        "the password 'Step' field",
        "cookie: chocolate chip",
        "a monkey=banana",
        "click('744')",
        "",
    ],
)
def test_ordinary_text_is_not_masked(text):
    assert redact_text(text) == text
    assert redact_tree(text).decode() == text
    assert redact_html(text).decode() == text


@pytest.mark.parametrize(
    ("html", "kept"),
    [
        ('<input bid="7" name="password" type="password" value="hunter2"/>', 'bid="7" name="password"'),
        ('<input bid="8" name="authenticity_token" type="hidden" value="hunter2"/>', 'bid="8"'),
        ('<input bid="9" name="form_key" type="hidden" value="hunter2"/>', 'bid="9"'),
        ('<meta bid="3" content="hunter2" name="csrf-token"/>', 'name="csrf-token"'),
        ('<a bid="4" href="/f?feed_token=hunter2&amp;page=2">x</a>', 'page=2">x</a>'),
    ],
)
def test_values_of_secret_fields_are_masked_and_the_tags_stay(html, kept):
    clean = redact_html(f"<div>{html}</div>").decode()
    assert "hunter2" not in clean
    assert kept in clean


def test_an_empty_password_field_stays_empty():
    html = '<input bid="7" type="password" value=""/>'
    assert redact_html(html).decode() == html


@pytest.mark.parametrize("name", ["'Password'", "'Your passphrase *'", '"Ann\'s password"', "'Card number'"])
@pytest.mark.parametrize("value", ["'hunter2'", '"hunt\'er2"', r"'hunt\'e\"r2'"])
def test_the_value_of_a_password_field_in_a_tree_is_masked(name, value):
    tree = f"RootWebArea 'x'\n\t[12] textbox {name}, required, value={value}, focused\n\t[13] button 'Go'"
    clean = redact_tree(tree).decode()
    assert "hunt" not in clean
    assert clean.count("\n") == 2
    assert clean.endswith(", focused\n\t[13] button 'Go'")
    assert redact_tree(clean).decode() == clean


@pytest.mark.parametrize(
    "line",
    ["[12] textbox 'Password', value='••••••'", "[12] textbox 'Search', value='password'", "[1] textbox ''"],
)
def test_other_fields_of_a_tree_keep_their_value(line):
    assert redact_tree(f"RootWebArea 'x'\n\t{line}").decode().endswith(line)


@pytest.mark.parametrize(
    "key", ["ghp_" + "a1B2" * 10, "xoxb-1234567890-abcdefghij", "github_pat_" + "a1" * 20]
)
def test_keys_of_any_maker_are_masked_in_a_tree(key):
    assert key not in redact_tree(f"RootWebArea 'x'\n\t[2] StaticText 'use {key} now'").decode()


@settings(max_examples=examples(300), deadline=None)
@given(st.text(alphabet=st.sampled_from("[]\t\n'token=&?1234 -pasword:eyJ.") | st.characters(codec="utf-8")))
def test_redaction_keeps_the_lines_of_a_tree(tree):
    assert redact_tree(tree).decode().count("\n") == tree.count("\n")
    assert redact_text(redact_text(tree)) == redact_text(tree)


def test_addresses_keep_what_names_the_page():
    assert redact_url("http://h:1/a/b?token=abc&q=shoes") == f"http://h:1/a/b?token={MARK}&q=shoes"


def test_no_secret_of_a_run_is_anywhere_in_the_workspace(tmp_path):
    secret = "c0rrecthorse"
    tree = "RootWebArea 'Log in'\n\t[12] textbox 'Password', required\n\t[13] button 'Log in'"
    first = record(
        0,
        action=f"<think>I type {secret} now.</think><action>```fill('12', '{secret}')```</action>",
        obs={
            "axtree_txt": tree,
            "pruned_html": f'<input bid="12" type="password" value="{secret}"/>',
            "open_pages_urls": [f"http://h:7770/login?token={secret}"],
        },
    )
    second = record(
        1,
        action=f"<think>Typing {secret} failed.</think><action>```noop()```</action>",
        obs={
            "last_action_error": f'Error at http://u:{secret}@h/\nCall log:\n  - fill("{secret}")',
            "axtree_txt": f"RootWebArea 'Log in'\n\t[12] textbox 'Password', required, value='{secret}'",
            "open_pages_titles": [f"Log in; token={secret}"],
        },
    )
    write_run(tmp_path / "root" / "task_1", {0: first, 1: second, 2: record(2)})
    with Workspace.open(tmp_path / "w") as workspace:
        (run,) = import_paths(workspace, [tmp_path / "root"]).runs
        steps = workspace.runs.load(run)[1]
        assert steps[0].words == f"type '{MARK}' into textbox 'Password'"
        assert secret not in workspace.runs.read_blob(steps[0].html).decode()
        assert secret not in workspace.runs.read_blob(steps[1].tree).decode()
        assert workspace.index.search(secret, 5) == []
    stored = b"".join(path.read_bytes() for path in (tmp_path / "w").rglob("*") if path.is_file())
    assert secret.encode() not in stored
