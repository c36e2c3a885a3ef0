"""The files of suites in a workspace: the bytes that were added; broken, too new, put aside, brought back."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

import pytest

from app.engine.store.suite_store import SuiteHead, SuiteStore, suite_name
from app.engine.store.workspace import Workspace
from app.errors import Conflict, NotFound, StoreError, UsageError

DATA = b'[{"intent":\r\n "caf\xc3\xa9"}]\n\n'


def head_of(data: bytes, name: str = "mine", **more) -> SuiteHead:
    return SuiteHead(
        name=name, file="a b.json", sha256=hashlib.sha256(data).hexdigest(), added_at=7.5, **more
    )


@pytest.fixture
def store(tmp_path: Path) -> SuiteStore:
    return SuiteStore(tmp_path / "suites")


@pytest.mark.parametrize("data", [DATA, b"\xff\xfe not UTF-8", b"", b"\xef\xbb\xbf[]"])
def test_the_bytes_stay_as_they_are_and_are_their_owners_alone(store: SuiteStore, data: bytes):
    head = head_of(data, blind=True, subsets=(("small", ("1", "2")),))
    store.add(head, data)
    assert store.read("mine") == (head, data)
    assert SuiteStore(store.folder).heads() == [head]
    if os.name == "posix":
        assert (store.folder / "mine.json").stat().st_mode & 0o077 == 0
        assert store.folder.stat().st_mode & 0o077 == 0
    assert [path.name for path in store.folder.iterdir()] == ["mine.json"]


def test_another_process_is_seen_at_once(store: SuiteStore):
    other = SuiteStore(store.folder)
    store.add(head_of(DATA), DATA)
    assert not other.head("mine").blind
    store.put_blind("mine", True)
    assert other.head("mine").blind
    assert other.read("mine")[1] == DATA


def test_what_is_not_there_or_there_already_is_said(store: SuiteStore):
    assert store.names() == []
    for name in ("mine", "../mine", "a/b", ""):
        with pytest.raises(NotFound, match="there is no suite"):
            store.read(name)
    store.add(head_of(DATA), DATA)
    with pytest.raises(Conflict, match="there is a suite 'mine' already"):
        store.add(head_of(b"[]"), b"[]")


@pytest.mark.parametrize("text", ["", "a/b", "..", "Ä", "x" * 64, "-x", "a b", "a:b"])
def test_a_name_is_that_of_a_file(text: str):
    with pytest.raises(UsageError, match="can't be a suite's name"):
        suite_name(text)


DAMAGED = (
    ("cut off", lambda text: text[:-9], "is damaged"),
    ("another kind of file", lambda text: text.replace("sitelore-stored-suite", "x"), "is damaged"),
    ("changed content", lambda text: text.replace("intent", "Intent"), "is damaged"),
    ("a newer version", lambda text: text.replace('"version":1', '"version":2'), "use a newer Sitelore"),
    ("a list", lambda _text: "[]", "is damaged"),
)


@pytest.mark.parametrize(("change", "words"), [row[1:] for row in DAMAGED], ids=[row[0] for row in DAMAGED])
def test_a_file_that_can_not_be_read_is_said_and_left_out(store: SuiteStore, change, words: str):
    store.add(head_of(DATA), DATA)
    store.add(head_of(b"[]", "other"), b"[]")
    file = store.folder / "mine.json"
    file.write_text(change(file.read_text("utf-8")), "utf-8")
    with pytest.raises(StoreError, match=words):
        store.read("mine")
    assert [head.name for head in store.heads()] == ["other"]


def test_each_change_is_undone_and_done_again(tmp_path: Path):
    with Workspace.open(tmp_path / "w") as workspace:
        edits, suites = workspace.suite_edits, workspace.suites
        edits.add(head_of(DATA), DATA)
        edits.put_blind("mine", True)
        edits.put_blind("mine", True)
        edits.remove("mine")
        assert suites.names() == []
        assert workspace.undo().label == "remove suite 'mine'"
        assert suites.head("mine").blind
        assert workspace.undo().label == "hide the answers of suite 'mine'"
        assert not suites.head("mine").blind
        assert workspace.undo().label == "add suite 'mine'"
        assert suites.names() == []
        assert [workspace.redo().label for _ in range(2)] == [
            "add suite 'mine'", "hide the answers of suite 'mine'",
        ]  # fmt: skip
        assert suites.read("mine") == (head_of(DATA, blind=True), DATA)
        workspace.redo()
        assert suites.names() == []
        suites.add(head_of(b"[]"), b"[]")
        with pytest.raises(Conflict, match="there is another suite 'mine' by now"):
            workspace.undo()
    document = json.loads((tmp_path / "w" / "suites" / "mine.json").read_text())
    assert (document["format"], document["version"]) == ("sitelore-stored-suite", 1)
